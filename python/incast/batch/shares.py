"""Shares of cores and memory of runs that go in parallel."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from incast.runs.scenario import Scenario
from incast.system.memory import free_memory


def default_workers() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True)
class Needs:
    """Needs of a run: threads, if their number is given, and bytes."""

    threads: int | None
    memory: int


def share(workers: int, runs: Sequence[Needs], free: float) -> tuple[int, int]:
    """Return the number of parallel runs, and the number of cores for a run without a given number of threads.

    All threads together are at most ``workers``, and all memory is at most ``free`` bytes, unless one run alone exceeds
    that.
    """
    threads = max((run.threads or 1 for run in runs), default=1)
    memory = max((run.memory for run in runs), default=0)
    by_memory = free // memory if memory else workers
    at_once = int(max(1, min(workers // threads, by_memory, len(runs))))
    return at_once, max(1, workers // at_once)


@dataclass(frozen=True)
class Each:
    """Resources of each parallel run."""

    cores: int = 1
    memory: float = math.inf
    """Bytes of memory; records take a share of them."""

    @classmethod
    def of(cls, at_once: int, cores: int, limit: float, free: float) -> Each:
        """Divide the free memory, or ``limit`` bytes if less, among parallel runs."""
        return cls(cores, min(limit, free) / at_once)


ALONE = Each()
"""Resources of a run without parallel ones."""


def shared(workers: int, runs: Sequence[Needs], memory_limit: float) -> tuple[int, Each]:
    """Return the number of parallel runs (``workers``: at most; 0: one per core), and the resources of each."""
    free = free_memory()
    at_once, cores = share(workers or default_workers(), runs, free)
    return at_once, Each.of(at_once, cores, memory_limit, free)


def needs_of(scenarios: Iterable[Scenario], memory_limit: float) -> list[Needs]:
    """Return the needs of runs; runs that differ only in the seed need the same.

    Raises ``ScenarioError`` for a run that needs more than ``memory_limit`` bytes.
    """
    known: dict[tuple[str, int | None], Needs] = {}
    found = []
    for scenario in scenarios:
        key = scenario.hash, scenario.threads  # the hash does not cover threads
        if key not in known:
            known[key] = Needs(scenario.threads, scenario.refuse_above(memory_limit, f"a run of {scenario.name}"))
        found.append(known[key])
    return found
