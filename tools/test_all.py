"""Everything that is tested beside ``make test``, part by part: ``make test-all``.

A part is a command. Those of pytest run the tests that are marked ``extended(part="NAME")``. The last lines say what
ran, for how long, and what was skipped and why. ``--minutes 30`` starts no part that would not be done by then and ends
one that is not: both are named, and are no failure unless a test of it failed. Exit status 1: a part failed.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import signal
import subprocess
import sys
import threading
import time
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TESTS = ROOT / "tests" / "python"
REPORTS = ROOT / "build" / "test-all"
PREPARING_S = 300
STOPPING_S = 10


@dataclass(frozen=True)
class Part:
    """A command, and the minutes it takes on two cores of which nobody else has much."""

    name: str
    about: str
    words: tuple[str, ...]
    minutes: float
    prepare: tuple[str, ...] = ()
    """Install commands of optional things that tests skip themselves without."""


def tests(name: str, about: str, minutes: float, *more: str, prepare: tuple[str, ...] = ()) -> Part:
    """Make a part of the tests in Python that are marked for it."""
    marker = f'extended(part="{name}")'
    files = [str(file) for file in sorted(TESTS.glob("test_*.py")) if marker in file.read_text(encoding="utf-8")]
    chosen = ("-m", marker, f"--junitxml={REPORTS / name}.xml", "--durations=10", *files)
    return Part(name, about, (sys.executable, "-m", "pytest", "-q", *more, *chosen), minutes, prepare)


BOTH = ("-n", "auto", "--dist", "worksteal")
PIP = (sys.executable, "-m", "pip", "install", "--quiet", "--retries", "1", "--timeout", "20")
RAY = (*PIP, "--constraint", "constraints.txt", "ray[client]>=2.40")
DAMAGES = (
    *("env", "INCAST_CASES=all", sys.executable, "-m", "pytest", "-q", f"--junitxml={REPORTS}/damages.xml", *BOTH),
    *("tests/python/test_damages.py", "tests/python/test_damages_of_results.py"),
)
PARTS = (
    tests("python", "tests of the package and the program that take long", 8, *BOTH),
    tests("papers", "figures of the papers, and every scheme of `rivals`", 6, *BOTH),
    tests("browser", "the page of `incast view` in Chromium", 2),
    tests("web", "the engine in a browser: its bytes, the lab, the lessons", 12),
    tests("notebooks", "the notebooks of the documentation", 2, *BOTH),
    Part("properties", "the Rust tests with all random cases", ("make", "properties"), 10),
    tests("ray", "studies on Ray clusters", 3, prepare=RAY),
    tests("sccp", "SCCP on real Linux TCP", 2),
    tests("parity", "every case of the comparisons with ns-3, htsim, Days and Linux", 6),
    Part("fuzz", "1,000 random scenarios by every engine", ("make", "fuzz"), 3),
    Part("loom", "the barrier of threads under all interleavings", ("make", "loom"), 2),
    Part("kills", "studies killed at 30 random moments", ("make", "kills", "KILLS=30"), 2),
    Part("damages", "every damage of every file, by every command that reads it", DAMAGES, 9),
    Part("wheel", "a wheel, installed and run outside the clone", ("make", "wheel"), 6),
)  # fmt: skip


@dataclass
class Done:
    """Outcome of a part."""

    part: Part
    outcome: str
    took_s: float = 0.0
    counts: str = ""
    skipped: Counter[str] = field(default_factory=Counter)


def left_out(part: Part, until: float | None) -> str:
    """Say why a part is not begun; nothing where it is."""
    if until is None or time.monotonic() + part.minutes * 60 <= until:
        return ""
    left = max(0.0, until - time.monotonic()) / 60
    return f"left out: takes some {part.minutes:g} minutes, and {left:.0f} were left"


def carried_out(part: Part, until: float | None) -> Done:
    """Run a part."""
    if why := left_out(part, until):
        return Done(part, why)
    print(f"\n==== {part.name}: {part.about}", flush=True)
    begun = time.monotonic()
    if part.prepare:
        prepared(part)
    report = REPORTS / f"{part.name}.xml"
    REPORTS.mkdir(parents=True, exist_ok=True)
    report.unlink(missing_ok=True)
    status, text, cut = streamed(part.words, until)
    counts, skipped = of_pytest(report) if is_whole(report) else (of_cargo(text), Counter())
    return Done(part, outcome_of(status, counts, cut=cut), time.monotonic() - begun, counts, skipped)


def outcome_of(status: int, counts: str, *, cut: bool) -> str:
    """Say in words how a part ended."""
    if cut and "failed" not in counts:
        return "ended: no time was left"
    if status:
        return f"FAILED (exit status {status})"
    return "passed" if "passed" in counts or not counts else "skipped"


def prepared(part: Part) -> None:
    """Install what a part needs; where that cannot be, its tests say what is missing."""
    try:
        done = subprocess.run(part.prepare, cwd=ROOT, timeout=PREPARING_S, capture_output=True, text=True, check=False)
        told = "" if done.returncode == 0 else (done.stderr.strip().splitlines() or ["no reason given"])[-1]
    except (OSError, subprocess.TimeoutExpired) as error:
        told = str(error)
    if told:
        print(f"{part.name}: could not be prepared: {told}", flush=True)


def streamed(words: Sequence[str], until: float | None) -> tuple[int, str, bool]:
    """Run a command and print what it prints: exit status, text, and whether it was ended as no time was left."""
    cut = threading.Event()

    def end() -> None:
        cut.set()
        process.send_signal(signal.SIGINT)  # pytest writes down what it has found
        for how in (signal.SIGTERM, signal.SIGKILL):
            if ended.wait(STOPPING_S):
                break
            stop(process, how)

    ended = threading.Event()
    lines = []
    timer = threading.Timer(max(1.0, (until or 0.0) - time.monotonic()), end)
    with subprocess.Popen(
        words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
        start_new_session=True,
    ) as process:  # fmt: skip
        if until is not None:
            timer.start()
        try:
            assert process.stdout is not None
            for line in process.stdout:
                print(line, end="", flush=True)
                lines.append(line)
        except BaseException:
            stop(process, signal.SIGTERM)
            raise
        finally:
            ended.set()
            timer.cancel()
    return process.returncode, "".join(lines), cut.is_set()


def stop(process: subprocess.Popen[str], how: signal.Signals) -> None:
    """Send a signal to a command and to all that it started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, how)


def is_whole(report: Path) -> bool:
    """Return whether pytest has written a report to its end."""
    with contextlib.suppress(OSError, ET.ParseError):
        return ET.parse(report) is not None
    return False


def of_pytest(report: Path) -> tuple[str, Counter[str]]:
    """Read counts and reasons of skips from a report in JUnit's XML."""
    cases = list(ET.parse(report).getroot().iter("testcase"))
    skips = [skip.get("message", "") for case in cases for skip in case.findall("skipped")]
    bad = sum(case.find("failure") is not None or case.find("error") is not None for case in cases)
    counts = [(len(cases) - len(skips) - bad, "passed"), (bad, "failed"), (len(skips), "skipped")]
    return ", ".join(f"{count} {word}" for count, word in counts if count), Counter(skips)


def of_cargo(text: str) -> str:
    """Add up what cargo says of test binaries."""
    found = re.findall(r"^test result: .*?(\d+) passed; (\d+) failed; (\d+) ignored", text, re.MULTILINE)
    sums = [sum(map(int, column)) for column in zip(*found, strict=True)] or [0, 0, 0]
    # a binary that was ended has no such line
    sums[1] = max(sums[1], len(re.findall(r"^test .* \.\.\. FAILED$", text, re.MULTILINE)))
    words = ("passed", "failed", "ignored")
    return ", ".join(f"{count} {word}" for count, word in zip(sums, words, strict=False) if count)


def summary(done: Sequence[Done]) -> str:
    """Say what ran, for how long, and what was skipped and why."""
    wide = max(len(one.part.name) for one in done)
    lines = ["", "==== make test-all"]
    for one in done:
        took = f"{one.took_s / 60:5.1f} min" if one.took_s else " " * 9
        lines.append(f"{one.part.name:{wide}} {took}  {one.outcome}{f' ({one.counts})' if one.counts else ''}")
        lines += [f"{'':{wide}}            skipped {many}: {why}" for why, many in sorted(one.skipped.items())]
    ran = [one for one in done if one.took_s]
    failed = [one.part.name for one in done if one.outcome.startswith("FAILED")]
    lines.append(f"{len(ran)} of {len(done)} parts ran, {sum(one.took_s for one in ran) / 60:.1f} minutes in all")
    lines.append(f"failed: {', '.join(failed)}" if failed else "none failed")
    return "\n".join(lines)


def main(words: Sequence[str] | None = None) -> int:
    """Run the parts asked for; return the exit status."""
    parser = argparse.ArgumentParser("tools/test_all.py", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help="parts to run (default: all)")
    parser.add_argument("--minutes", type=float, metavar="N", help="be done after N minutes")
    parser.add_argument("--list", action="store_true", help="name the parts and run nothing")
    options = parser.parse_args(words)
    if unknown := sorted(set(options.parts) - {part.name for part in PARTS}):
        parser.error(f"no part {', '.join(unknown)}: expected {', '.join(part.name for part in PARTS)}")
    chosen = [part for part in PARTS if not options.parts or part.name in options.parts]
    if options.list:
        for part in chosen:
            print(f"{part.name:12} {part.minutes:4g} min  {part.about}")
        return 0
    until = None if options.minutes is None else time.monotonic() + options.minutes * 60
    done = [carried_out(part, until) for part in chosen]
    text = summary(done)
    print(text, flush=True)
    return 1 if any(one.outcome.startswith("FAILED") for one in done) else 0


if __name__ == "__main__":
    sys.exit(main())
