"""Speed of the engine on fixed cases: ``make bench``, or ``python -m bench.run``.

Prints hops, CPU seconds, hops per CPU second and peak memory of each case on one thread, one process a case (the best
of its repetitions). A hop is one packet passing one port. Before each repetition of a case on a fat tree the bare
forwarding loop (``bench/ceiling``) runs on a tree of that size, and the share is the median of the ratios of their hops
per CPU second. Then a table by threads, one of ``run.threads = "auto"`` beside them (``bench/auto.py``), and counts by
callgrind of slices of about a million hops. Raw figures go to
``bench/runs`` as JSON, named by date, so that a change can be compared on the machine it was measured on.

Floors and ceilings are held; aims are not reached yet. Exit status 1: a floor or a ceiling is missed. 2: only aims are.
What is missed is named at the end.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from bench import auto, bare, callgrind
from bench.bare import ROOT
from bench.cases import CASES, CONTROLLER_SLICE, NEEDS, SET_UP, SHARE, SLICES, Case
from bench.program import INCAST, result


@dataclass
class Limit:
    """One limit of a figure, and whether it held. An aim is a limit that is not reached yet."""

    text: str
    held: bool
    aim: bool = False

    def __str__(self) -> str:
        """Return the text of the limit with its verdict."""
        return f"{'aim ' if self.aim else ''}{self.text}: {'reached' if self.held else 'MISSED'}"


@dataclass
class Figures:
    """The cost of one case."""

    case: str
    hops: int
    cpu_s: float
    wall_s: float
    hops_per_cpu_s: float
    peak_rss_mb: float
    threads: int = 1
    slowest_s: float = 0.0
    """CPU seconds of the event loop on the thread that took most."""
    share_of_bare: float | None = None
    limits: list[Limit] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """True if all floors and ceilings hold."""
        return all(limit.held for limit in self.limits if not limit.aim)


def figures_of(case: Case, threads: int = 1) -> Figures:
    """Run a case once, in a process of its own, on so many threads."""
    try:
        said = result(case.scenario, (*case.sets, f"run.threads={threads}"))
    except RuntimeError as error:
        sys.exit(f"{case.name}: {error}")
    cost, hops = said["cost"], said["run"]["hops"]
    rss, slowest = cost["peak_rss_bytes"] / 1e6, max(cost["threads_cpu_s"])
    speed = cost["hops_per_cpu_s"]
    return Figures(case.name, hops, cost["cpu_s"], cost["wall_s"], speed, rss, cost["threads"], slowest)


def run(case: Case, repetitions: int, loop: Path | None) -> Figures:
    """Return the fastest of several runs of a case, with its share of the speed of the bare loop."""
    runs, pairs = [], []
    for _ in range(repetitions):
        beside = bare.speed(loop, case.k) if loop and case.k else None
        runs.append(figures_of(case))
        if beside is not None:
            pairs.append((runs[-1].hops_per_cpu_s, beside))
    best = min(runs, key=lambda figures: figures.cpu_s)
    best.share_of_bare = bare.share(pairs)
    return best


def limits(case: Case, figures: Figures, ecmp: Figures | None) -> list[Limit]:
    """Compare the figures of a case with its limits and aims."""
    found = []
    if case.floor_mhops is not None:
        held = figures.hops_per_cpu_s >= case.floor_mhops * 1e6
        found.append(Limit(f"{case.floor_mhops:g} M hops/CPU s", held))
    if case.ceiling_cpu_s is not None:
        found.append(Limit(f"{case.ceiling_cpu_s:g} CPU s", figures.cpu_s <= case.ceiling_cpu_s))
    if case.ceiling_rss_mb is not None:
        found.append(Limit(f"{case.ceiling_rss_mb:g} MB", figures.peak_rss_mb <= case.ceiling_rss_mb))
    if ecmp is not None:
        share = figures.hops_per_cpu_s / ecmp.hops_per_cpu_s
        found.append(Limit(f"{SHARE:.0%} of {ecmp.case} (here {share:.0%})", share >= SHARE))
    if case.aim_of_bare is not None and figures.share_of_bare is not None:
        held = figures.share_of_bare >= case.aim_of_bare
        found.append(Limit(f"{case.aim_of_bare:.2f} of bare loop", held, aim=True))
    if case.aim_cpu_s is not None:
        found.append(Limit(f"{case.aim_cpu_s:g} CPU s", figures.cpu_s <= case.aim_cpu_s, aim=True))
    return found


def all_cases(cases: Sequence[Case], repetitions: int) -> list[Figures]:
    """Run the cases and print their table."""
    loop = bare.build()
    if loop is None:
        print("shares of the bare loop: left out, there is no cargo to build it")
    print(f"{'case':21} {'hops':>13} {'CPU s':>8} {'M hops/CPU s':>13} {'of bare':>7} {'peak MB':>8}  limits")
    done: dict[str, Figures] = {}
    for case in cases:
        figures = run(case, 1 if case.slow else repetitions, loop)
        figures.limits = limits(case, figures, done.get(case.share_of))
        done[case.name] = figures
        share = "-" if figures.share_of_bare is None else f"{figures.share_of_bare:.2f}"
        words = [str(limit) for limit in figures.limits]
        if case.peer is not None:
            words.append(f"{case.peer[0]} {case.peer[1]:g} CPU s")
        print(
            f"{case.name:21} {figures.hops:>13,} {figures.cpu_s:>8.3f} {figures.hops_per_cpu_s / 1e6:>13.2f} "
            f"{share:>7} {figures.peak_rss_mb:>8.0f}  {', '.join(words) or '-'}",
            flush=True,
        )
    return list(done.values())


def slices() -> tuple[dict[str, callgrind.PerHop], list[Limit]]:
    """Count the slices and print their cost per hop."""
    counts, found = {}, []
    for part in SLICES:
        whole, set_up = (callgrind.count((*part.words, *more), caches=True) for more in ((), (SET_UP,)))
        if whole is None or set_up is None:
            continue
        cost = counts[f"k{part.k}"] = callgrind.per_hop(whole, set_up)
        instructions = Limit(f"{part.aim_instructions:g}", cost.instructions <= part.aim_instructions, aim=True)
        lines = Limit(f"{part.aim_cold_lines:g}", cost.cold_lines <= part.aim_cold_lines, aim=True)
        found.append(replace(instructions, text=f"{instructions.text} instructions a hop at k={part.k}"))
        found.append(replace(lines, text=f"{lines.text} cold lines a hop at k={part.k}"))
        print(
            f"k={part.k}: {cost.instructions:.1f} instructions a hop ({instructions}) and {cost.cold_lines:.2f} cold "
            f"lines ({lines}), set-up {cost.set_up_instructions:.1f} and {cost.set_up_cold_lines:.2f} "
            f"(callgrind, {whole.hops:,} hops, {' '.join(part.words)})",
            flush=True,
        )
    return counts, found


def by_controller() -> dict[str, float]:
    """Count instructions a hop of every controller on one scenario, and print them."""
    done = subprocess.run([INCAST, "list", "controllers"], capture_output=True, text=True, check=True)
    names = re.findall(r"^([a-z][a-z0-9-]*)", done.stdout, re.MULTILINE)
    words = {name: (*CONTROLLER_SLICE, *NEEDS.get(name, ()), f"controller={name}") for name in names}
    counts = {name: callgrind.count(slice_) for name, slice_ in words.items()}
    found = {name: counted.instructions / counted.hops for name, counted in counts.items() if counted is not None}
    for name, instructions in found.items():
        print(f"  {name:13} {instructions:7.0f} instructions a hop, {instructions / min(found.values()) - 1:+5.0%}")
    if found:
        print(f"({' '.join(CONTROLLER_SLICE)}; against the leanest)")
    return found


def by_threads(cases: Sequence[Case]) -> tuple[list[Figures], list[Limit]]:
    """Run cases on 1, 2, 4, ... threads and on 16, and print how many times as fast each is.

    By wall time, and by the CPU time of the slowest thread: where there are fewer cores than threads, only that says
    what they would reach. A run takes no more threads than it has work for.
    """
    rows: list[Figures] = []
    found = []
    cores = os.cpu_count() or 1
    counts = sorted({1, 2, 16, *(n for n in (4, 8) if n <= cores)})
    cases = [case for case in cases if case.aim_threads is not None]
    if cases:
        print(f"{'case':21} {'threads':>7} {'wall s':>8} {'slowest s':>9} {'CPU s':>8} {'by wall':>8} {'slowest':>8}")
    for case in cases:
        runs = [figures_of(case, threads) for threads in counts]
        aims = dict(zip((2, 16), case.aim_threads or (), strict=False))
        for asked, one in zip(counts, runs, strict=True):
            by_wall, by_slowest = runs[0].wall_s / one.wall_s, runs[0].slowest_s / one.slowest_s
            aim = ""
            if asked in aims:
                times = by_wall if asked <= cores else by_slowest
                limit = Limit(f"{aims[asked]:g} times as fast", times >= aims[asked], aim=True)
                found.append(replace(limit, text=f"{case.name}: {limit.text} on {asked} threads"))
                aim = f"  {limit}"
            print(
                f"{case.name:21} {one.threads:>7} {one.wall_s:>8.3f} {one.slowest_s:>9.3f} {one.cpu_s:>8.3f} "
                f"{by_wall:>8.2f} {by_slowest:>8.2f}{aim}",
                flush=True,
            )
        rows += runs
    return rows, found


def python_call() -> float:
    """Return the additional CPU microseconds per ACK with an empty controller in Python.

    Two senders with the window fixed at 60 segments, against NewReno on the same scenario; the best of three.
    """

    def cost(controller: str) -> float:
        sets = (f"controller={controller}", "run.duration=300ms", "transport.delayed_ack=1")
        figures = figures_of(Case(controller, "two-senders", sets))
        # every data packet passes two ports, and so does its ACK
        return 1e6 * figures.cpu_s / (figures.hops / 4)

    return min(cost("bench/own.py:Still") for _ in range(3)) - min(cost("newreno") for _ in range(3))


def status(missed: Sequence[Limit]) -> int:
    """Return the exit status: 1 when a floor or a ceiling is missed, 2 when only aims are."""
    if any(not limit.aim for limit in missed):
        return 1
    return 2 if missed else 0


def main() -> None:
    """Run the cases, print the tables, keep the raw figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", help="names of cases; default all, and the counts")
    parser.add_argument("--quick", action="store_true", help="leave out the cases that take long")
    parser.add_argument("--repetitions", type=int, default=3)
    options = parser.parse_args()
    cases = [c for c in CASES if (not options.only or c.name in options.only) and not (options.quick and c.slow)]

    record: dict[str, object] = {}
    try:
        every = measured(cases, options, record)
    finally:
        # a part that fails does not take what was measured before it along
        if record:
            keep(record)
    missed = [limit for limit in every if not limit.held]
    for limit in missed:
        print(f"missed: {'aim ' if limit.aim else ''}{limit.text}")
    sys.exit(status(missed))


def measured(cases: Sequence[Case], options: argparse.Namespace, record: dict[str, object]) -> list[Limit]:
    """Measure part by part, put the raw figures of each into ``record``, and return all limits."""
    figures = all_cases(cases, options.repetitions)
    record["cases"] = [asdict(f) | {"ok": f.ok} for f in figures]
    every = [replace(limit, text=f"{f.case}: {limit.text}") for f in figures for limit in f.limits]
    threads, found = by_threads(cases)
    record["threads"] = [asdict(f) for f in threads]
    every += found
    if options.only:
        return every
    rows = list(auto.rows(auto.cases(slow=not options.quick)))
    record["auto_threads"] = [asdict(row) for row in rows]
    every += [Limit(f"{row.case}: run.threads=auto in {auto.MOST:g} of the better", row.held) for row in rows]
    if callgrind.build():
        counts, found = slices()
        record["counts_per_hop"] = {name: asdict(counted) for name, counted in counts.items()}
        every += found
        if not options.quick:
            record["instructions_per_hop_by_controller"] = by_controller()
    else:
        print("instructions and cold lines: left out, valgrind or cargo is not installed")
    record["python_call_us"] = per_call = python_call()
    print(f"a controller in Python: {per_call:.2f} us of CPU an ACK before it does anything (bench/own.py)")
    return every


def keep(figures: dict[str, object]) -> None:
    """Write raw figures to ``bench/runs``, with the date and the machine."""
    now = datetime.datetime.now(datetime.UTC)
    machine = {"processor": processor(), "cores": os.cpu_count(), "load": os.getloadavg()[0]}
    folder = ROOT / "bench" / "runs"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{now:%Y-%m-%dT%H%M%S}.json"
    record = {"date": now.isoformat(timespec="seconds"), "machine": machine, **figures}
    path.write_text(json.dumps(record, indent=1) + "\n")
    print(f"kept in {path.relative_to(ROOT)}")


def processor() -> str:
    """Return the processor's model name."""
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return platform.processor()
    found = re.search(r"model name\s*:\s*(.+)", text)
    return found[1] if found else platform.processor()


if __name__ == "__main__":
    main()
