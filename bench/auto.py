"""``run.threads = "auto"`` compared with one thread and one per core: ``make bench``, or ``python -m bench.auto``.

Every run is a process of its own. The three take turns, so that a change of the machine's load is one of all; the least
wall time of each counts. Short runs are repeated more. ``auto`` is held to 1.03 times the better of the others, and to
0.5 ms, which the clock and the start of a thread may take. Where the machine has one core nothing is compared.

Exit status 1: a row is missed.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bench.cases import CASES, Case
from bench.program import result
from incast.commands.kinds import listing

MOST = 1.03
"""Largest ratio of the time of ``auto`` to the better of the others."""
LEAST_S = 0.0005
SECONDS = 2.5
"""Measuring time of each mode of a case, in at least ``LEAST_RUNS`` and at most ``MOST_RUNS`` runs."""
LEAST_RUNS, MOST_RUNS = 3, 9

SPARSE = (
    Case("k12-hotspot-3000", "random-hotspot", ("topology.k=12", "traffic.flows=3000", "run.duration=7s")),
    Case("dumbbell-64", "dumbbell", ("topology.senders=64", "topology.receivers=64", "run.duration=1s")),
    Case("low-rate-cell", "wireless-cell", ("topology.sources=60", "run.duration=300s")),
    Case(
        "long-rtt",
        "permutation",
        ("topology.link.delay=1ms", "topology.link.rate=100Mbps", "traffic.app.size=1MB", "run.duration=20s"),
    ),
    Case(
        "k16-few-flows",
        "random-pairs",
        ("topology.k=16", "traffic.flows=8", "run.duration=4s"),
    ),
)
"""Runs whose windows have little work, where more threads are slower."""


@dataclass(frozen=True)
class Row:
    """Wall times of a case: on one thread, on as many as cores, and by ``auto``; and how many threads that had."""

    case: str
    one_s: float
    all_s: float
    auto_s: float
    threads: int

    @property
    def ratio(self) -> float:
        """Time of ``auto`` divided by the better of the others."""
        return self.auto_s / min(self.one_s, self.all_s)

    @property
    def held(self) -> bool:
        """True if the time of ``auto`` is within the bound."""
        return self.auto_s <= MOST * min(self.one_s, self.all_s) + LEAST_S

    def __str__(self) -> str:
        """Print as a line of the table."""
        verdict = "reached" if self.held else "MISSED"
        times = f"{self.one_s:>8.3f} {self.all_s:>8.3f} {self.auto_s:>8.3f}"
        return f"{self.case:27} {times} {self.threads:>7} {self.ratio:>6.2f}  {MOST:g}: {verdict}"


HEAD = f"{'case':27} {'1, s':>8} {'all, s':>8} {'auto, s':>8} {'threads':>7} {'ratio':>6}"


def cases(names: Sequence[str] = (), *, slow: bool = True) -> list[Case]:
    """Give the cases: sparse ones, those of the table of threads, and every built-in scenario; or some by name."""
    dense = [case for case in CASES if case.aim_threads is not None and (slow or not case.slow)]
    found = [*SPARSE, *dense, *(Case(name, name) for name, _ in listing("scenarios"))]
    unique = {case.name: case for case in reversed(found)}
    return [case for case in unique.values() if not names or case.name in names][::-1]


def measured(case: Case, cores: int) -> Row:
    """Run a case on one thread, on as many as cores and by ``auto`` in turn."""
    ways = ("1", str(cores), "auto")
    times: dict[str, list[float]] = {way: [] for way in ways}
    threads, runs = 1, LEAST_RUNS
    while len(times["auto"]) < runs:
        for way in ways:
            cost = result(case.scenario, (*case.sets, f"run.threads={way}"))["cost"]
            times[way].append(cost["wall_s"])
            threads = max(threads, cost["threads"]) if way == "auto" else threads
        runs = int(min(max(SECONDS / max(times["auto"][0], 1e-3), LEAST_RUNS), MOST_RUNS))
    one, every, auto = (min(times[way]) for way in ways)
    return Row(case.name, one, every, auto, threads)


def rows(chosen: Sequence[Case]) -> Iterator[Row]:
    """Measure cases and print their table."""
    cores = os.cpu_count() or 1
    if cores == 1:
        print("run.threads=auto: left out, there is one core")
        return
    print(HEAD)
    for case in chosen:
        row = measured(case, cores)
        print(row, flush=True)
        yield row


def main() -> None:
    """Print the table; exit status 1 where a row is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", default=(), help="names of cases; default all")
    missed = [row.case for row in rows(cases(parser.parse_args().only)) if not row.held]
    print(f"missed: {', '.join(missed)}" if missed else "all reached")
    sys.exit(bool(missed))


if __name__ == "__main__":
    main()
