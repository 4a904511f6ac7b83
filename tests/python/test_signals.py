"""Series over time in papers: how they settle, overshoot and oscillate, against signals whose answers are known."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from conftest import Command
from incast.errors import PaperError
from incast.papers import reading, signals
from incast.papers.definition import Measure
from incast.papers.measuring import reduced
from incast.papers.signals import Signal
from own_paper import PAPER

STEP_S = 1e-3
TIMES = np.arange(1000) * STEP_S


def test_a_sine_has_its_period_and_its_power() -> None:
    wave = Signal(STEP_S, 10 + 2 * np.sin(2 * np.pi * TIMES / 0.02))
    assert signals.period_s(wave) == pytest.approx(0.02, rel=0.05)
    assert signals.variation(wave) == pytest.approx(0.2 / math.sqrt(2), rel=1e-6)
    found = signals.spectrum(wave)
    assert found is not None
    # Parseval: what the spectrum holds is the variance relative to the mean squared
    power = float(found.power.sum()) * float(found.frequencies[0])
    assert power == pytest.approx(0.02, rel=0.02)


def test_of_two_oscillations_the_stronger_over_the_logarithm_of_frequency_is_named() -> None:
    fast, slow = np.sin(2 * np.pi * TIMES / 0.005), np.sin(2 * np.pi * TIMES / 0.05)
    assert signals.period_s(Signal(STEP_S, 10 + fast + 0.2 * slow)) == pytest.approx(0.005, rel=0.1)
    assert signals.period_s(Signal(STEP_S, 10 + 0.2 * fast + 2 * slow)) == pytest.approx(0.05, rel=0.1)


def test_a_step_response_settles_when_its_exponential_has_come_near() -> None:
    rise = Signal(STEP_S, 5 * (1 - np.exp(-TIMES / 0.05)))
    # 0.8 of the last value, to the step
    assert signals.settling_s(rise) == pytest.approx(0.05 * math.log(5), abs=1.01 * STEP_S)
    assert signals.overshoot(rise) == pytest.approx(0.0, abs=1e-6)
    fall = Signal(STEP_S, 5 + 5 * np.exp(-TIMES / 0.05))
    assert signals.settling_s(fall) == pytest.approx(0.05 * math.log(5), abs=1.01 * STEP_S)


def test_a_damped_response_overshoots_by_its_damping() -> None:
    """Second order with a damping of 0.3: exp(-pi zeta / sqrt(1 - zeta^2)) is 37 %."""
    zeta, natural = 0.3, 60.0
    root = math.sqrt(1 - zeta**2)
    damped = natural * root * TIMES
    answer = 1 - np.exp(-zeta * natural * TIMES) * (np.cos(damped) + zeta / root * np.sin(damped))
    assert signals.overshoot(Signal(STEP_S, 3 * answer)) == pytest.approx(math.exp(-math.pi * zeta / root), rel=0.01)


def test_what_goes_on_oscillating_has_settled_and_what_drifts_has_not() -> None:
    saw = 10 + (TIMES % 0.05) * 200
    joined = np.concatenate([np.full(100, 40.0), saw])
    assert signals.settling_s(Signal(STEP_S, joined)) == pytest.approx(0.1, abs=1.01 * STEP_S)
    drift = Signal(STEP_S, 1 + TIMES)
    # the last quarter begins at 1.75 and has a mean of 1.875: from 1.375 on
    assert signals.settling_s(drift) == pytest.approx(0.375, abs=2.01 * STEP_S)


def test_what_does_not_move_has_no_period() -> None:
    flat = Signal(STEP_S, np.full(1000, 7.0))
    assert (signals.period_s(flat), signals.variation(flat), signals.settling_s(flat)) == (None, 0.0, 0.0)
    assert signals.period_s(Signal(STEP_S, np.zeros(1000))) is None
    assert signals.spectrum(Signal(STEP_S, np.arange(20.0))) is None, "too short"


def test_changes_are_held_until_the_next_one() -> None:
    found = signals.even([0.0, 1.0, 3.0, 4.0], [1.0, 2.0, float("nan"), 5.0])
    assert found is not None
    assert (found.step_s, found.values.tolist()) == (2.0, [1.0, 2.0, 5.0])
    assert signals.even([1.0], [2.0]) is None


def test_series_of_a_table_are_reduced_one_by_one_or_summed() -> None:
    """Two windows in opposite phase: each oscillates, their sum does not."""
    wave = np.sin(2 * np.pi * TIMES / 0.02)
    table = pa.table(
        {
            "entity": pa.array(["flow 0"] * 1000 + ["flow 1"] * 1000).dictionary_encode(),
            "name": pa.array(["cwnd_bytes"] * 2000).dictionary_encode(),
            "time_s": np.concatenate([TIMES, TIMES]),
            "value": np.concatenate([10 + wave, 10 - wave]),
        }
    )

    def of(reduce: str, by: str | None = None) -> float | None:
        return reduced(table, Measure("m", "M", table="samples", column="value", reduce=reduce, by=by), (0.0, 1.0))

    assert of("variation") == pytest.approx(0.1 / math.sqrt(2), rel=1e-6)
    assert of("period") == pytest.approx(0.02, rel=0.05)
    assert of("variation", by="time_s") == pytest.approx(0.0, abs=1e-9)


OSCILLATING = (
    PAPER.partition("points =")[0].replace("seeds = 2", "seeds = 1")
    + """settings = { "measure.series.flows" = [0, 2], "measure.series.interval" = "100us" }
points = [{ x = "all", span_s = [0.005, 0.02] }]
series = [{ name = "Swift" }]

[figures.fig1.measures]
swing = { table = "samples", column = "value", where = { name = "cwnd_bytes" }, reduce = "variation", label = "V" }

[[figures.fig1.plots]]
name = "power"
kind = "spectrum"
where = { name = "cwnd_bytes" }
caption = "Power."

[[figures.fig1.claims]]
says = "Windows move"
where = "section 1"
holds = "swing('Swift', 'all') > 0"
"""
)


def test_a_paper_measures_and_draws_oscillations(incast: Command, paper: Path) -> None:
    (paper / "paper.toml").write_text(OSCILLATING)
    answer = incast("paper", "run", str(paper), "--out", "p", "--workers", "1")
    assert answer.out.startswith("fig1: holds - "), answer.out + answer.err
    assert (paper.parent / "p" / "fig1-power.png").read_bytes().startswith(b"\x89PNG")
    for text, wrong in [
        ('table = "samples"', 'table = "flows"'),
        ('reduce = "variation"', 'by = "entity", reduce = "variation"'),
    ]:
        assert text in OSCILLATING
        (paper / "paper.toml").write_text(OSCILLATING.replace(text, wrong))
        with pytest.raises(PaperError, match=r'measures.swing.reduce = .*expected table = "samples"'):
            reading.load(paper)
