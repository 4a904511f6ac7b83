"""Keys without effect: one run serves all their values only where the bytes are the same."""

from __future__ import annotations

import json

import pytest

from incast import ScenarioError, Study
from incast.controllers import built_in
from incast.runs.scenario import Scenario
from incast.study import idle
from stored import small

MARK = "queue.mark"
SHORT = {"run.duration": "3ms", "run.warmup": "1ms", "traffic.flows": 4, "measure.series.ports": "all"}
TABLES = ("flows", "ports", "samples")


def of(controller: str, mark: str, **more: object) -> Scenario:
    return Scenario.load("hotspot").governed(controller).changed({MARK: mark} | SHORT | more)


def figures(scenario: Scenario) -> list[object]:
    """Return all that a store keeps of a run."""
    result = scenario.run()
    summary = json.loads(json.dumps(result.summary))
    return [summary, *(getattr(result, name).to_pylist() for name in TABLES)]


@pytest.mark.parametrize("controller", sorted(built_in()))
def test_where_a_mark_is_called_idle_the_bytes_are_the_same(controller: str) -> None:
    try:
        low, high = of(controller, "1p"), of(controller, "200p")
        low.validate()
    except ScenarioError:
        assert idle._sends_plain(json.dumps({"kind": controller}), "") is False, "nothing is proved of what cannot run"
        return
    called = idle.keys_of(low, [MARK])
    assert called == idle.keys_of(high, [MARK]), "the value itself decides nothing"
    assert (figures(low) == figures(high)) >= bool(called), "the same bytes wherever it is called idle"
    if controller in ("dctcp", "dcqcn", "swift-ecn", "gcn", "fastflow", "d2tcp"):
        assert called == []
    if controller in ("swift", "cubic", "newreno", "timely", "hpcc", "bbr"):
        assert called == [MARK]


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({}, [MARK]),
        ({"transport.ecn": "off"}, [MARK]),
        ({"transport.ecn": "classic"}, []),
        ({"transport.ecn": "dctcp"}, []),
        ({"queue.non_ect": "drop"}, []),
        ({"program": '[{kind="phantom", drain=0.9, mark="3kB"}]'}, []),
    ],
)
def test_a_mark_counts_where_packets_carry_ecn_or_something_else_reads_it(
    more: dict[str, object], expected: list[str]
) -> None:
    scenario = Scenario.load("dumbbell").governed("swift")
    try:
        scenario = scenario.changed(more)
    except ScenarioError:
        pytest.fail(f"{more} is refused")
    assert idle.keys_of(scenario, [MARK, "queue.limit"]) == expected


def test_off_silences_a_controller_that_reads_marks() -> None:
    assert idle.keys_of(Scenario.load("dumbbell").governed("dctcp"), [MARK]) == []
    assert idle.keys_of(Scenario.load("dumbbell").governed("dctcp").changed({"transport.ecn": "off"}), [MARK]) == [MARK]


def test_points_that_differ_in_idle_keys_share_their_runs(tmp_path) -> None:  # type: ignore[no-untyped-def]
    axes = {MARK: ["10p", "65p", "200p"]}
    store = small(axes=axes, arms={"dctcp": "dctcp", "swift": "swift"}).run(tmp_path / "s", workers=1)
    rows = store.runs.to_pylist()
    runs = {arm: {row["run"] for row in rows if row["arm"] == arm} for arm in ("dctcp", "swift")}
    assert len(rows) == 2 * 3 * 2 and len(runs["dctcp"]) == 6 and len(runs["swift"]) == 2
    assert {row[MARK] for row in rows if row["arm"] == "swift"} == set(axes[MARK]), "each value has its rows"


def test_a_value_that_the_scenario_alone_would_refuse_is_run_by_itself() -> None:
    study = Study("dumbbell", axes={MARK: ["5p", "9p"], "queue.limit": ["10p"]}, settings={"controller": "swift"})
    found = [study.scenario_of(point).resolved()["queue"]["mark"] for point in study.points()]
    assert found == ["5p", "9p"], "the scenario's own mark is above the limit"
