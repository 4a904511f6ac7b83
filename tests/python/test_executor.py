"""The executor: how runs and their threads share cores and memory."""

from __future__ import annotations

from pathlib import Path

import pytest

import incast as package
from conftest import Command
from incast import Scenario, ScenarioError
from incast.batch.shares import Needs, share
from incast.system.memory import free_memory

GB = 10**9


@pytest.mark.parametrize(
    ("workers", "runs", "free", "shared"),
    [
        (8, [Needs(None, GB)] * 20, 100 * GB, (8, 1)),
        (8, [Needs(None, GB)] * 2, 100 * GB, (2, 4)),
        (8, [Needs(None, GB)] * 20, 4 * GB, (4, 2)),
        (8, [Needs(None, 9 * GB)] * 20, 4 * GB, (1, 8)),
        (8, [Needs(3, GB)] * 20, 100 * GB, (2, 4)),
        (8, [Needs(None, GB), *[Needs(16, GB)] * 20], 100 * GB, (1, 8)),
        (2, [], 100 * GB, (1, 2)),
    ],
    ids=["cores", "few-runs", "memory", "one-too-large", "threads-given", "more-threads-than-cores", "nothing"],
)
def test_runs_side_by_side_take_no_more_than_there_is(
    workers: int, runs: list[Needs], free: int, shared: tuple[int, int]
) -> None:
    """Cores, memory and given threads decide, and one run always goes."""
    assert share(workers, runs, free) == shared


def test_a_larger_network_takes_more() -> None:
    """The estimate is of the network and its flows; a run of k = 64 takes some gigabytes at most."""
    small, large = (Scenario.load("permutation").with_({"topology.k": k}).memory() for k in (8, 64))
    assert 100 * small < large < 4 * GB
    assert free_memory() > 0


@pytest.mark.parametrize(
    "words",
    [
        ["compare", "dumbbell", "--cc", "dctcp"],
        ["coexist", "--cc", "dctcp", "--cc", "cubic"],
        ["paper", "run", "swift/fig20"],
    ],
    ids=["compare", "coexist", "paper"],
)
def test_plans_refuse_runs_above_the_memory_limit(incast: Command, words: list[str]) -> None:
    """As a study does, before the first run."""
    words = [*words, "--out", "made", "--quiet"]
    incast(*words, "--memory-limit", "1kB").refused(
        "a run of ", "needs about", "1 kB is available", "--memory-limit none"
    )
    incast(*words, "--memory-limit", "lots").refused('--memory-limit "lots": expected a size such as "8GB"')
    assert "Refuse runs that need more" in incast(*words[: 2 if words[0] == "paper" else 1], "--help").out


def test_the_same_comparison_goes_on_without_a_memory_limit(incast: Command, tmp_path: Path) -> None:
    """A refused comparison leaves no files that block the next one."""
    words = ["compare", "dumbbell", "--cc", "dctcp", "--seeds", "1", "--set", "run.duration=10ms"]
    words += ["--set", "run.warmup=2ms", "--out", str(tmp_path / "made"), "--quiet", "--memory-limit"]
    incast(*words, "1kB").refused("a run of dumbbell needs about")
    assert incast(*words, "none").status == 0


def test_a_comparison_from_python_has_the_memory_limit(tmp_path: Path) -> None:
    """The error is that of the command."""
    with pytest.raises(ScenarioError, match="a run of dumbbell needs about .* 1 kB is available"):
        package.compare("dumbbell", ["dctcp"], out=tmp_path / "made", memory_limit=1000)


def test_a_thread_that_the_system_refuses_is_an_error(incast: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """No address space holds such a stack."""
    monkeypatch.setenv("RUST_MIN_STACK", str(1 << 46))
    answer = incast("run", "permutation", "--set", "run.duration=100us", "--threads", "2", "--quiet")
    assert answer.status != 0
    assert "run.threads = 2: the system refused a thread after 1 (" in answer.err
    assert incast("run", "permutation", "--set", "run.duration=100us", "--threads", "1", "--quiet").status == 0
    # nobody asked for a thread: the run goes on with the one that it has
    assert incast("run", "permutation", "--set", "run.duration=200us", "--quiet").status == 0


def test_threads_are_those_of_the_scenario() -> None:
    """``auto`` gives no number."""
    scenario = Scenario.load("permutation")
    assert scenario.threads is None
    assert scenario.with_({"run.threads": 3}).threads == 3
