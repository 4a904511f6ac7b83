"""Best cell of a study: what is said follows from the numbers, computed here a second time from the seeds."""

from __future__ import annotations

import math
from collections.abc import Mapping
from statistics import mean, stdev

from hypothesis import given, settings
from hypothesis import strategies as st

from incast.report.best_cells import eligible, standing
from incast.report.cells import Cell
from incast.report.figures import Figure
from incast.report.study_answers import OfFigure
from incast.runs.completions import Reading

T = {2: 12.706, 3: 4.303, 4: 3.182, 5: 2.776}
"""Two-sided 95 % quantiles of Student's t for n seeds, from a printed table."""


@st.composite
def grids(draw: st.DrawFn) -> dict[str, Reading]:
    """Draw readings of two to five cells over the same seeds; some have bounds, and some no upper one."""
    seeds = range(1, draw(st.integers(1, 5)) + 1)
    number = st.floats(1, 100).map(lambda value: round(value, 3))
    found = {}
    for name in "abcde"[: draw(st.integers(2, 5))]:
        base = draw(number)
        low = {seed: base + draw(st.floats(-1, 1).map(lambda value: round(value, 3))) for seed in seeds}
        gap = draw(st.sampled_from([0.0, 0.0, 0.5, math.inf]))
        found[name] = Reading(low, {seed: value + gap for seed, value in low.items()})
    return found


def worse(one: Reading, better: str) -> dict[int, float]:
    return dict(one.high if better == "lower" else one.low)


def ahead(one: Reading, other: Reading, better: str) -> bool:
    """Say from the seeds alone whether the first is better in every case that the bounds allow, and by a hundredth."""
    mine, theirs = worse(one, better), dict(other.low if better == "lower" else other.high)
    gaps = [theirs[s] - mine[s] if better == "lower" else mine[s] - theirs[s] for s in mine]
    if not all(map(math.isfinite, gaps)):
        return False
    if len(gaps) < 2 or mean(gaps) < 0.01 * abs(mean(theirs.values())) - 1e-12:
        return False
    return mean(gaps) - T[len(gaps)] * stdev(gaps) / math.sqrt(len(gaps)) > 0


@settings(max_examples=150, deadline=None)
@given(grids(), st.sampled_from(["lower", "higher"]))
def test_the_standing_is_what_the_seeds_say(readings: dict[str, Reading], better: str) -> None:
    found = standing(readings, better)
    assert sorted([*found.candidates, *found.excluded]) == sorted(readings), "every cell has one place"
    known = {name for name, one in readings.items() if all(map(math.isfinite, worse(one, better).values()))}
    assert set(found.excluded) == readings.keys() - known, "a cell without a bound on its worse side cannot lead"
    if not known:
        assert found.level == () and found.best is None
        return
    lead = found.level[0]
    means = {name: mean(worse(readings[name], better).values()) for name in known}
    first = min(means.values()) if better == "lower" else max(means.values())
    assert math.isclose(means[lead], first)
    for name in known - {lead}:
        is_ahead = ahead(readings[lead], readings[name], better)
        assert (name in found.others) == is_ahead, (name, readings[lead], readings[name])
    for name in found.first[1:]:
        both = readings[lead], readings[name]
        means_ = [mean(one.low.values()) for one in both]
        is_level = all(one.exact for one in both) and abs(means_[0] - means_[1]) <= 0.1 * max(means_) + 1e-12
        assert (name in found.level) == is_level, (name, *both)
    assert (found.best is not None) == (len(found.first) == 1 and len(known) > 1)
    if len(readings[lead].low) == 1:
        assert found.undecided, "one seed has no interval"


def test_a_difference_below_one_percent_is_no_difference() -> None:
    def of(*values: float) -> Reading:
        return Reading(dict(enumerate(values)), dict(enumerate(values)))

    near = standing({"a": of(100, 100, 100), "b": of(100.5, 100.5, 100.5)}, "lower")
    assert near.level == ("a", "b") and near.best is None
    far = standing({"a": of(100, 100, 100), "b": of(102, 102, 102)}, "lower")
    assert far.best == "a"


def test_who_starves_or_sends_little_cannot_lead() -> None:
    def of(value: float) -> Reading:
        return Reading({1: value, 2: value}, {1: value, 2: value})

    throughput = {"all": of(10), "little": of(5), "starves": of(10)}
    shares = {"all": 1.0, "little": 1.0, "starves": 0.5}
    assert eligible(shares, throughput, delivers=False) == {"all"}
    assert eligible(shares, throughput, delivers=True) == {"all", "little"}
    found = standing({"all": of(3), "little": of(1), "starves": of(1)}, "lower", eligible(shares, throughput, False))
    assert found.level == ("all",) and set(found.excluded) == {"little", "starves"}
    assert found.best is None, "alone, it is better than nobody"


FIGURE = Figure("fct.slowdown_mean", "slowdown", "Mean slowdown", "slowdown", "", 1.0, True, "lower")


def answer(*conditions: Mapping[str, tuple[float, ...]]) -> str:
    """Return the sentence on cells called like their choices, ``name@condition``."""
    readings: dict[Cell, Reading] = {}
    words: dict[Cell, str] = {}
    results = []
    for i, cells in enumerate(conditions):
        own = {Cell(f"{i}", name, ()): Reading(dict(enumerate(v)), dict(enumerate(v))) for name, v in cells.items()}
        results.append((f"load = {i}", standing(own, "lower")))
        readings |= own
        words |= {cell: cell.arm for cell in own}
    return f"{FIGURE.title}: {OfFigure(FIGURE, readings, words).sentence(results)}"


FAR: dict[str, tuple[float, ...]] = {"a": (5.0, 5.2, 5.4), "b": (5.0, 9.0, 13.0), "c": (20.0, 20.5, 21.0)}
"""The second is not told apart from the first, though its mean is 73 % higher."""


def test_cells_with_other_means_that_are_not_told_apart_are_neither_level_nor_best() -> None:
    text = answer(FAR)
    assert text.startswith("Mean slowdown: a has the lowest mean, 5.2"), text
    assert "not told apart: b (differs by" in text and "more seeds would tell" in text
    assert "level" not in text and "best" not in text
    near = answer(FAR | {"b": (5.0, 5.6, 5.2)})
    assert near.startswith("Mean slowdown: a, b are level, 5.2"), near


def test_a_choice_is_good_under_every_condition_only_if_better_or_alike_in_each() -> None:
    clear = {"a": (5.0, 5.2, 5.4), "b": (9.0, 9.2, 9.5), "c": (20.0, 20.5, 21.0)}
    assert "every condition" not in answer(FAR, clear), "undecided in one of them"
    alike = {"a": (5.001, 5.201, 5.401), "b": (5.0, 5.2, 5.4), "c": (20.0, 20.5, 21.0)}
    assert answer(alike, clear).endswith("a is best, or less than 1 % from the best, under every condition.")
    close = alike | {"a": (5.0, 5.4, 5.3)}
    assert "every condition" not in answer(close, clear), "level, but not shown to be alike"


def test_the_difference_of_the_nearest_is_the_mean_of_the_ratios_by_seed() -> None:
    text = answer({"a": (2.0, 2.0, 3.0), "b": (3.0, 3.2, 4.2)})
    share = 100 * mean((0.5, 0.6, 0.4))
    assert f"b is {share:.0f}\u00a0% higher" in text, text
