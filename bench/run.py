"""Speed of the engine on fixed cases: ``make bench``.

Prints hops, CPU seconds, hops per CPU second and peak memory of each case, one process a case
(the best of its repetitions), and instructions per hop of a slice of about a million hops under
callgrind. A hop is one packet passing one port. Raw figures go to ``bench/runs`` as JSON, named
by date, so that a change can be compared on the machine it was measured on.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
INCAST = Path(sys.executable).parent / "incast"
SMALL = ["queue.limit=8p", "run.duration=20ms"]
TCP = ["transport.mss=1448", "transport.header=52"]


@dataclass(frozen=True)
class Case:
    """One command, the floor its speed must reach, and the ceilings its cost must stay below."""

    name: str
    scenario: str
    sets: tuple[str, ...]
    floor_mhops: float | None = None
    ceiling_cpu_s: float | None = None
    ceiling_rss_mb: float | None = None
    slow: bool = False
    share_of: str = ""
    """A case before it, of whose hops per CPU second it is to reach 70 %."""


CASES = [
    Case("k8-4kB", "permutation", ("traffic.app.size=20MB", "run.duration=50ms"), 10),
    Case("k8-1500B", "permutation", ("traffic.app.size=8MB", "run.duration=50ms", *TCP), 10),
    Case("k16-4kB", "permutation", ("topology.k=16", "traffic.app.size=4MB", "run.duration=50ms"), 8),
    Case("k16-1500B", "permutation", ("topology.k=16", "traffic.app.size=2MB", "run.duration=50ms", *TCP), 8),
    # as htsim's runs: 10.9 and 40.5 CPU s there, 4.6 GB at k = 32
    Case("k16-2MB", "permutation", ("topology.k=16", *SMALL)),
    Case(
        "k16-2MB-spray", "permutation", ("topology.k=16", "routing.kind=spray", *SMALL), None, 1.2, share_of="k16-2MB"
    ),
    Case("k16-2MB-adaptive", "permutation", ("topology.k=16", "routing.kind=adaptive", *SMALL), share_of="k16-2MB"),
    Case("k32-500kB", "permutation", ("topology.k=32", "traffic.app.size=500kB", *SMALL), None, 4, 500),
    # Linux's stack as it comes, RACK and its timers included, with losses to repair
    Case(
        "k8-linux",
        "permutation",
        ("transport.preset=linux-default", "controller=cubic:form=linux", "traffic.app.size=1MB", "run.duration=50ms"),
    ),
    # what comes before the first event, and after the last
    Case("k32-set-up", "permutation", ("topology.k=32", "queue.limit=8p", "run.duration=1us"), None, 1),
    Case("two-senders", "two-senders", (), None, 0.4),
    Case("demo-2000", "random-hotspot", ("traffic.flows=2000", "run.warmup=2s")),
    Case(
        "k12-hotspot-3000",
        "random-hotspot",
        ("topology.k=12", "traffic.flows=3000", "run.duration=7s"),
        None,
        5,
        300,
    ),
    Case(
        "k12-pairs-3000",
        "random-pairs",
        ("topology.k=12", "traffic.flows=3000", "run.duration=7s"),
        8,
        None,
        300,
        slow=True,
    ),
    Case(
        "k12-pairs-3000-swift",
        "random-pairs",
        ("topology.k=12", "traffic.flows=3000", "run.duration=7s", "controller=swift"),
        8,
        None,
        300,
        slow=True,
    ),
]
SHARE = 0.7
"""The least share of ECMP's hops per CPU second that a way of routing may have."""
# About a million hops, for instruction counts that repeat whatever else the machine does.
SLICE = ("permutation", "traffic.app.size=2800kB", "run.duration=5ms")
# A fifth of it, once under every controller.
CONTROLLER_SLICE = ("permutation", "traffic.app.size=500kB", "run.duration=2ms")


@dataclass
class Figures:
    """The cost of one case."""

    case: str
    hops: int
    cpu_s: float
    wall_s: float
    hops_per_cpu_s: float
    peak_rss_mb: float
    ok: bool


def run(case: Case, repetitions: int) -> Figures:
    """Return the quickest of some runs of a case, each in a process of its own."""
    best: Figures | None = None
    for _ in range(repetitions):
        with tempfile.TemporaryDirectory() as folder:
            sets = [word for pair in case.sets for word in ("--set", pair)]
            command = [INCAST, "run", case.scenario, *sets, "--json", "--quiet", "--out", f"{folder}/out"]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                sys.exit(f"{case.name}: {done.stderr}")
        result = json.loads(done.stdout)
        cost, hops = result["cost"], result["run"]["hops"]
        rss = cost["peak_rss_bytes"] / 1e6
        ok = (
            (case.floor_mhops is None or cost["hops_per_cpu_s"] >= case.floor_mhops * 1e6)
            and (case.ceiling_cpu_s is None or cost["cpu_s"] <= case.ceiling_cpu_s)
            and (case.ceiling_rss_mb is None or rss <= case.ceiling_rss_mb)
        )
        figures = Figures(case.name, hops, cost["cpu_s"], cost["wall_s"], cost["hops_per_cpu_s"], rss, ok)
        if best is None or figures.cpu_s < best.cpu_s:
            best = figures
    assert best is not None
    return best


def instructions(words: tuple[str, ...] = SLICE) -> float | None:
    """Count instructions a hop on the slice, or another one; None where valgrind or cargo is missing."""
    if not (shutil.which("valgrind") and shutil.which("cargo")):
        return None
    build = ["cargo", "build", "--release", "--quiet", "-p", "incast-scenario", "--example", "run"]
    subprocess.run(build, cwd=ROOT, check=True)
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    command = [
        "valgrind",
        "--tool=callgrind",
        "--callgrind-out-file=/dev/null",
        target / "release/examples/run",
        *words,
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    refs = re.search(r"I\s+refs:\s+([\d,]+)", done.stderr)
    hops = re.match(r"(\d+) hops", done.stdout)
    if refs is None or hops is None:
        return None
    return int(refs[1].replace(",", "")) / int(hops[1])


def by_controller() -> dict[str, float]:
    """Count instructions a hop of every controller on one scenario; nothing where valgrind is missing."""
    done = subprocess.run([INCAST, "list", "controllers"], capture_output=True, text=True, check=True)
    names = re.findall(r"^([a-z][a-z0-9-]*)", done.stdout, re.MULTILINE)
    counts = {name: instructions((*CONTROLLER_SLICE, f"controller={name}")) for name in names}
    return {name: count for name, count in counts.items() if count is not None}


def python_call() -> float:
    """Return the microseconds of CPU that an ACK costs more with a controller in Python that does nothing.

    Two senders with the window fixed at 60 segments, against NewReno on the same scenario; the best of three.
    """

    def cost(controller: str) -> float:
        sets = ["--set", f"controller={controller}", "--set", "run.duration=300ms", "--set", "transport.delayed_ack=1"]
        with tempfile.TemporaryDirectory() as folder:
            command = [INCAST, "run", "two-senders", *sets, "--json", "--quiet", "--out", f"{folder}/out"]
            done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
            result = json.loads(done.stdout)
        # every data packet passes two ports, and so does its ACK
        return 1e6 * result["cost"]["cpu_s"] / (result["run"]["hops"] / 4)

    return min(cost("bench/own.py:Still") for _ in range(3)) - min(cost("newreno") for _ in range(3))


def main() -> None:
    """Run the cases, print the table, keep the raw figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", help="names of cases; default all")
    parser.add_argument("--quick", action="store_true", help="leave out the cases that take minutes")
    parser.add_argument("--repetitions", type=int, default=3)
    options = parser.parse_args()
    cases = [c for c in CASES if (not options.only or c.name in options.only) and not (options.quick and c.slow)]

    header = f"{'case':21} {'hops':>13} {'CPU s':>8} {'M hops/CPU s':>13} {'peak MB':>8}  floor"
    print(header)
    all_figures = []
    for case in cases:
        figures = run(case, 1 if case.slow else options.repetitions)
        whole = next((f.hops_per_cpu_s for f in all_figures if f.case == case.share_of), None)
        share = None if whole is None else figures.hops_per_cpu_s / whole
        figures.ok &= share is None or share >= SHARE
        all_figures.append(figures)
        floors = [
            f"{case.floor_mhops:g} M hops/CPU s" if case.floor_mhops else "",
            f"{case.ceiling_cpu_s:g} CPU s" if case.ceiling_cpu_s else "",
            f"{case.ceiling_rss_mb:g} MB" if case.ceiling_rss_mb else "",
            f"{SHARE:.0%} of {case.share_of} (here {share:.0%})" if share is not None else "",
        ]
        verdict = ", ".join(f for f in floors if f)
        verdict = f"{verdict}: {'reached' if figures.ok else 'MISSED'}" if verdict else "-"
        print(
            f"{case.name:21} {figures.hops:>13,} {figures.cpu_s:>8.3f} {figures.hops_per_cpu_s / 1e6:>13.2f} "
            f"{figures.peak_rss_mb:>8.0f}  {verdict}",
            flush=True,
        )
    per_hop = None if options.only else instructions()
    if options.only:
        pass
    elif per_hop is None:
        print("instructions per hop: skipped, valgrind is not installed")
    else:
        print(f"instructions per hop: {per_hop:.1f} (callgrind, {' '.join(SLICE)})")

    controllers = {} if options.only or options.quick else by_controller()
    for name, count in controllers.items():
        print(f"  {name:13} {count:7.0f} instructions a hop, {count / min(controllers.values()) - 1:+5.0%}")
    if controllers:
        print(f"({' '.join(CONTROLLER_SLICE)}; against the leanest)")
    per_call = None if options.only else python_call()
    if per_call is not None:
        print(f"a controller in Python: {per_call:.2f} us of CPU an ACK before it does anything (bench/own.py)")

    now = datetime.datetime.now(datetime.UTC)
    record = {
        "date": now.isoformat(timespec="seconds"),
        "machine": {"processor": processor(), "cores": os.cpu_count(), "load": os.getloadavg()[0]},
        "instructions_per_hop": per_hop,
        "instructions_per_hop_by_controller": controllers,
        "python_call_us": per_call,
        "cases": [asdict(f) for f in all_figures],
    }
    folder = ROOT / "bench" / "runs"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{now:%Y-%m-%dT%H%M%S}.json"
    path.write_text(json.dumps(record, indent=1) + "\n")
    print(f"kept in {path.relative_to(ROOT)}")
    if any(not f.ok for f in all_figures):
        sys.exit(1)


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
