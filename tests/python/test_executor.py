"""The executor: how runs and their threads share cores and memory."""

from __future__ import annotations

import pytest

from conftest import Command
from incast import Scenario
from incast.executor import Needs, share
from incast.memory import free_memory

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


def test_a_thread_that_the_system_refuses_is_an_error(incast: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """No address space holds such a stack."""
    monkeypatch.setenv("RUST_MIN_STACK", str(1 << 46))
    answer = incast("run", "permutation", "--set", "run.duration=100us", "--threads", "2", "--quiet")
    assert answer.status != 0
    assert "run.threads = 2: the system refused a thread after 1 (" in answer.err
    assert incast("run", "permutation", "--set", "run.duration=100us", "--threads", "1", "--quiet").status == 0


def test_threads_are_those_of_the_scenario() -> None:
    """``auto`` gives no number."""
    scenario = Scenario.load("permutation")
    assert scenario.threads is None
    assert scenario.with_({"run.threads": 3}).threads == 3
