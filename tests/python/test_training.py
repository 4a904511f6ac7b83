"""Training jobs of a model's numbers: from Python, from the command line, and in runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conftest import Command
from incast import Scenario, ScenarioError, llm

SMALL = {
    "topology.hosts_per_leaf": 1,
    **{f"job.{job}.llm.{key}": value for job in ("train", "other") for key, value in (("dp", 1), ("pp", 1))},
    **{f"job.{job}.llm.hidden": 128 for job in ("train", "other")},
    **{f"job.{job}.llm.heads": 8 for job in ("train", "other")},
}
"""Two jobs of one server each."""
NUMBERS = ["layers=4", "hidden=1024", "seq=1024", "micro_batches=8", "tp=2", "pp=4", "dp=2", "flops=100Tflops"]


def test_numbers_by_name_are_those_of_the_command_line(incast: Command, tmp_path: Path) -> None:
    """The same job; a file of it has collectives as messages, and no mistake."""
    made = llm(layers=4, hidden=1024, seq=1024, micro_batches=8, tp=2, pp=4, dp=2, flops="100Tflops")
    told = json.loads(incast("workload", "llm", *NUMBERS, "--json").out)
    assert told["stats"]["tasks"] == made.tasks
    assert told["bound"] == made.bound()
    # 4 b s h e bytes of two all-reduces, forward and backward, of 4 layers, 8 micro-batches and 4 ranks a layer
    assert told["exchange"]["tp"] == [4 * 4 * 8 * 4, 4 * 4 * 8 * 4 * 2 * 1024 * 1024]
    out = tmp_path / "job.goal"
    assert incast("workload", "llm", *NUMBERS, "--out", str(out), "-q").status == 0
    assert incast("workload", "lint", str(out)).status == 0


def test_the_bubble_of_a_pipeline_is_told(incast: Command) -> None:
    """(p-1)/m of the calculations: 3/8; with two virtual stages half."""
    alone = [word for word in NUMBERS if not word.startswith(("tp", "layers"))]
    told = json.loads(incast("workload", "llm", *alone, "layers=8", "--json").out)
    assert told["bubble"] == pytest.approx(3 / 8)
    more = ("layers=8", "schedule=interleaved", "virtual=2")
    assert json.loads(incast("workload", "llm", *alone, *more, "--json").out)["bubble"] == pytest.approx(3 / 16)
    assert "37.5% of it" in incast("workload", "llm", *alone, "layers=8").out


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("pp=3", "layers = 4: expected a multiple of pp x virtual = 3"),
        ("flop=1", "flop: no such key"),
        ("flops=1Tbps", "expected a rate of floating-point operations"),
        ("zero=4", "zero = 4: expected a whole number from 0 to 3"),
    ],
)
def test_what_does_not_fit_is_told_by_its_key(incast: Command, word: str, expected: str) -> None:
    """A mistake is told with its value, and what was expected."""
    answer = incast("workload", "llm", *NUMBERS, word)
    assert answer.status != 0
    assert expected in answer.err
    key, _, value = word.partition("=")
    with pytest.raises(ScenarioError, match=expected.split(":")[0]):
        llm(**{"layers": 4, "hidden": 1024, "seq": 1024, "flops": "1Tflops", key: value})


def test_a_resolved_scenario_with_times_gives_the_same_result(tmp_path: Path) -> None:
    """A rate becomes times; a run of these has the same bytes."""
    given = Scenario.load("llm-3d").with_(SMALL)
    (tmp_path / "again.toml").write_text(given.toml())
    again = Scenario.load(tmp_path / "again.toml")
    assert "flops" not in given.toml()
    assert again.hash == given.hash
    one, other = given.run(), again.run()
    assert one.jobs.to_pylist() == other.jobs.to_pylist()
    assert one.summary["jobs"] == other.summary["jobs"]


def test_an_iteration_takes_at_least_its_calculations() -> None:
    """Four micro-batches of forward and backward passes through four layers."""
    result = Scenario.load("llm-3d").with_(SMALL).run()
    times = [row["time_s"] for row in result.jobs.to_pylist()]
    told = llm(layers=4, hidden=128, heads=8, seq=1024, micro_batches=4, tp=8, sp=True, flops="400Tflops")
    assert len(times) == 2
    assert min(times) > told.bound(latency="500ns", rate="3.6Tbps")["stream_ps"] / 1e12
