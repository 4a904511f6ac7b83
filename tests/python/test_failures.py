"""Link failures: flows that crossed one, and scenarios with and without it, seed by seed."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from conftest import Command
from incast import Scenario
from incast.comparisons import comparison
from incast.comparisons.comparison import Comparison
from incast.comparisons.declaration import ComparisonStudy
from incast.comparisons.scenario_pairs import (
    between_scenarios,
    crossing,
    paired_json,
    same_traffic,
    scenario_pairs,
    shares_between,
)
from incast.report import scenario_pairs as shown
from incast.writing.numbers import duration, said

LEAVES = """
controller = "dctcp"
run = { duration = "5ms" }
queue = { kind = "ecn-threshold", limit = "1000p", mark = "65p" }
transport = { preset = "linux" }

[topology]
kind = "leaf-spine"
leaves = 2
spines = 2
hosts_per_leaf = 4
link = { rate = "100Gbps", delay = "500ns" }
spine_link = { rate = "400Gbps", delay = "500ns" }

[[traffic]]
name = "websearch"
pattern = "poisson"
arrivals = { load = 0.5, sizes = "builtin:websearch", until = "2ms" }
"""

DEAD = """
[[failures]]
link = "leaf0>spine0"
at = "300us"
detection = "1ms"
"""


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Comparison:
    """Return a fabric of 8 hosts with and without a dead spine link, under two seeds."""
    folder = tmp_path_factory.mktemp("failures")
    (folder / "ls.toml").write_text(LEAVES)
    (folder / "ls-fail.toml").write_text(LEAVES + DEAD)
    names = [str(folder / name) for name in ("ls.toml", "ls-fail.toml")]
    study = ComparisonStudy.parse(names, ["dctcp"], None, 2, [])
    return comparison.carry_out(study, folder / "out")


def test_a_dead_link_without_detection_is_refused_with_typical_values(incast: Command, tmp_path: Path) -> None:
    (tmp_path / "ls.toml").write_text(LEAVES + DEAD.replace('detection = "1ms"', ""))
    incast("run", "ls.toml").refused(
        "failures.0.detection: missing", '"1ms" (fast local repair)', "BFD", '"0s" (ideal)'
    )


def test_a_short_run_under_long_timers_is_warned_about_before_all_else(incast: Command, tmp_path: Path) -> None:
    (tmp_path / "ls.toml").write_text(LEAVES + DEAD)
    done = incast("run", "ls.toml", "--out", "run")
    assert done.status == 0, done.err
    first, *_ = done.err.splitlines()
    assert first.startswith("warning: the run ends 4.7ms after the first failure: ")
    assert "transport.rto_min = 200ms" in first
    assert "transport.syn_timeout = 1s" in first
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    crossed, fct = summary["crossed_failure"], summary["fct"]
    assert crossed["links"] == "leaf0>spine0"
    assert crossed["fct"]["finished"] < crossed["fct"]["count"] < fct["count"]
    lines = [line.split("│")[1:3] for line in done.out.splitlines() if "│" in line]
    table = [(name.rstrip()[1:], value.strip()) for name, value in lines]
    at = table.index(("flows over leaf0>spine0", str(crossed["flows"]["count"])))
    assert table[at + 1] == ("  did not finish", str(crossed["fct"]["count"] - crossed["fct"]["finished"]))
    # percentiles over all that began
    rows = dict(table[:at])
    assert rows["slowdown, max"] == f"≥ {fct['slowdown_p99_at_least']:,.3g}"
    assert rows["FCT, max"] == f"≥ {said(duration(fct['p99_at_least_s']))}"


def test_a_percentile_does_not_fall_because_flows_starve(pair: Comparison) -> None:
    whole, failing = pair.study.scenarios
    p99 = {
        name: [run.summary["fct"]["p99_at_least_s"] for run in pair.point(name, "dctcp", "5ms")]
        for name in pair.study.scenarios
    }
    assert all(low < high for low, high in zip(p99[whole], p99[failing], strict=True)), p99
    for run in pair.runs.values():
        fct = run.summary["fct"]
        assert fct["p99_at_least_s"] >= fct["p99_s"]
        assert fct["finished_pct"] == pytest.approx(100 * fct["finished"] / fct["count"])


def test_flows_that_crossed_a_failure_stand_beside_the_same_flows_without_it(pair: Comparison) -> None:
    whole, failing = pair.study.scenarios
    found = crossing(pair, failing, "dctcp", "5ms", whole)
    assert found is not None
    assert found.links == ("leaf0>spine0",)
    assert found.unfinished > 0
    assert found.slowdown is not None and found.otherwise is not None
    assert found.otherwise.count == found.slowdown.count == found.count
    least, without = found.slowdown.least, found.otherwise.least
    assert least is not None and without is not None and least.mean > 2 * without.mean
    assert crossing(pair, whole, "dctcp", "5ms") is None
    (line,) = shown.crossing_lines(pair, failing)
    assert line.startswith(
        f"dctcp: flows over leaf0>spine0: {found.flows}, of which {found.unfinished} did not finish, "
    )
    assert "; maximum slowdown ≥" in line and "; the same flows in ls: " in line
    assert shown.crossing_lines(pair, whole) == []


def test_scenarios_with_the_same_flows_are_compared_seed_by_seed(pair: Comparison) -> None:
    whole, failing = pair.study.scenarios
    assert list(scenario_pairs(pair)) == [(failing, whole)]
    key = "flows.throughput_active_mean_bps"
    between = between_scenarios(pair, failing, whole, "dctcp", "5ms", key)
    assert between is not None
    by_hand = {
        seed: pair.values(failing, "dctcp", "5ms", key)[seed] - pair.values(whole, "dctcp", "5ms", key)[seed]
        for seed in (1, 2)
    }
    assert between.difference.low == between.difference.high == by_hand
    assert all(apart < 0 for apart in by_hand.values())
    finished = shares_between(pair, (failing, whole), "dctcp", "5ms")
    assert finished is not None and finished.difference.least is not None and finished.difference.least.mean < 0
    written = paired_json(pair, [key])
    (row,) = written["between_scenarios"]
    assert (row["scenario"], row["less"]) == (failing, whole)
    assert row[key]["difference"]["mean"] == pytest.approx(sum(by_hand.values()) / 2)
    (crossed,) = written["crossed_failure"]
    assert crossed["slowdown_p99"]["at_least"]["mean"] > crossed["slowdown_p99_without"]["mean"]
    text = shown.section(pair)
    assert "ls-fail less ls" in text and "flows over leaf0&gt;spine0" in text


def test_a_ratio_has_the_bounds_of_both_figures(pair: Comparison) -> None:
    whole, failing = pair.study.scenarios
    key = "flows.throughput_active_mean_bps"
    between = between_scenarios(pair, failing, whole, "dctcp", "5ms", key)
    assert between is not None and between.relative is not None
    for seed in (1, 2):
        ratio = pair.values(failing, "dctcp", "5ms", key)[seed] / pair.values(whole, "dctcp", "5ms", key)[seed]
        assert between.relative.low[seed] == pytest.approx(ratio - 1)
    open_ = between_scenarios(pair, failing, whole, "dctcp", "5ms", "fct.mean_s")
    assert open_ is not None and open_.relative is not None
    assert all(math.isinf(high) for high in open_.relative.high.values())


def test_scenarios_with_other_flows_are_not_paired(tmp_path: Path, pair: Comparison) -> None:
    (tmp_path / "more.toml").write_text(LEAVES.replace("load = 0.5", "load = 0.4"))
    names = [pair.study.scenarios[0], str(tmp_path / "more.toml")]
    other = comparison.carry_out(ComparisonStudy.parse(names, ["dctcp"], None, 1, []), tmp_path / "out")
    assert not same_traffic(other, *other.study.scenarios)
    assert shown.section(other) == ""


def test_runs_without_failures_have_no_column_about_them() -> None:
    short = {"run.duration": "100us", "traffic.websearch.arrivals.until": "50us"}
    result = Scenario.from_toml(LEAVES).with_(short).run()
    assert "crossed_failure" not in result.flows.column_names
    assert "crossed_failure" not in result.summary
    assert "crossed_failure.*" not in result.summary["definitions"]
