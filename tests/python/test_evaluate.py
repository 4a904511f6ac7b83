"""Evaluations: figures of runs in one process, without files."""

from __future__ import annotations

import math
import time
from pathlib import Path

import numpy as np
import pytest

import incast
from conftest import left_in
from incast import Scenario, ScenarioError, StudyError, evaluate
from incast.batch.evaluation import numbers_of

SMALL = {"run.duration": "5ms", "run.warmup": "1ms", "controller": "swift"}


@pytest.fixture
def small() -> Scenario:
    return Scenario.load("dumbbell").with_(SMALL)


def test_figures_are_those_of_the_summaries_of_the_same_seeds(small: Scenario) -> None:
    found = evaluate(small, [3, 2])
    assert found.seeds == (3, 2)
    for place, seed in enumerate(found.seeds):
        summary = small.run(seed=seed).summary
        assert found["flows.jain"][place] == summary["flows"]["jain"]
        assert found["queues.busiest.mean_packets"][place] == summary["queues"]["busiest"]["mean_packets"]
        assert found["groups.bulk.flows.delay_p99_s"][place] == summary["groups"]["bulk"]["flows"]["delay_p99_s"]
    assert found["flows.jain"][0] != found["flows.jain"][1]


def test_every_number_of_a_summary_is_a_figure_and_no_text_is(small: Scenario) -> None:
    summary = small.run().summary
    numbers = dict(numbers_of(summary))
    others = ("run.", "jobs.", "collectives.")
    named = {key for key, unit in summary["units"].items() if unit and not key.startswith(others)}
    assert {key for key in numbers if not key.startswith("groups.")} == named
    assert "queues.busiest.port" not in numbers


def test_a_figure_that_a_run_does_not_have_is_not_a_number(small: Scenario) -> None:
    found = evaluate(small, 1, ["fct.mean_s", "fct.count", "queries.with_timeout"])
    assert math.isnan(found["fct.mean_s"][0])
    assert found["fct.count"][0] == 0
    assert math.isnan(found["queries.with_timeout"][0])  # no query had a timeout where none finished: nothing is known
    assert found.estimate("fct.mean_s") is None


def test_runs_side_by_side_give_the_same_values(small: Scenario) -> None:
    one, four = (evaluate(small, range(1, 9), workers=workers) for workers in (1, 4))
    assert list(one) == list(four)
    for key in one:
        np.testing.assert_array_equal(one[key], four[key])


def test_an_estimate_has_the_interval_over_the_seeds(small: Scenario) -> None:
    found = evaluate(small, range(1, 6))
    told = found.estimate("flows.delay_mean_s")
    values = found["flows.delay_mean_s"]
    assert told is not None and told.half_width is not None
    assert told.mean == pytest.approx(values.mean(), rel=1e-12)
    # t of 4 degrees of freedom at 97.5 %
    assert told.half_width == pytest.approx(2.776445 * values.std(ddof=1) / math.sqrt(5), rel=1e-6)
    assert found.unit("flows.delay_mean_s") == found.unit("groups.bulk.flows.delay_mean_s") == "s"


def test_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    evaluate("dumbbell", 1, ["flows.jain"])
    assert left_in(tmp_path) == []


def test_mistakes_are_named(small: Scenario) -> None:
    with pytest.raises(
        StudyError, match=r'no figure flows.jian in the summary of dumbbell \(did you mean "flows.jain"'
    ):
        evaluate(small, 1, ["flows.jian"])
    with pytest.raises(ScenarioError, match="seeds: expected at least one"):
        evaluate(small, [])
    with pytest.raises(ScenarioError, match="seeds: 2 is given twice"):  # it is no second observation
        evaluate(small, [1, 2, 3, 2])
    with pytest.raises(ScenarioError, match="seed = -1"):
        evaluate(small, [1, -1])
    with pytest.raises(StudyError, match="workers = 0"):
        evaluate(small, 1, workers=0)
    with pytest.raises(ScenarioError, match="nosuch"):
        evaluate("nosuch")
    with pytest.raises(KeyError, match="no figure jain"):
        evaluate(small)["jain"]


def test_thousands_of_evaluations_take_a_minute_of_cpu(small: Scenario) -> None:
    """Some 30,000 where the page was written; thousands are left on a machine of a tenth of its speed."""
    before = time.process_time()
    evaluate(small, range(1, 41), ["flows.goodput_total_bps", "flows.delay_p99_s"])
    a_minute = 40 / (time.process_time() - before) * 60
    print(f"{a_minute:,.0f} evaluations a minute of CPU time")
    assert a_minute > 2000


def test_the_package_has_it() -> None:
    assert incast.evaluate is evaluate
