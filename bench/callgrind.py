"""Instructions and cold lines a hop, counted by callgrind: the same on a busy machine as on a quiet one."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import dataclass

from bench.bare import ROOT, target

CACHES = ("--cache-sim=yes", "--D1=49152,12,64", "--LL=2097152,16,64")
"""48 KiB near, 2 MiB last: what is not in these is a cold line. Prefetches are no accesses to callgrind."""


@dataclass(frozen=True)
class Counts:
    """Counts of a run."""

    hops: int
    instructions: int
    cold_lines: int = 0
    """Misses of the last level, by data; 0 where caches were not simulated."""


@dataclass(frozen=True)
class PerHop:
    """Counts a hop: of the run after its set-up, and of the set-up."""

    instructions: float
    cold_lines: float
    set_up_instructions: float
    set_up_cold_lines: float


def per_hop(whole: Counts, set_up: Counts) -> PerHop:
    """Take the set-up, a run that ends at once, from a run."""
    return PerHop(
        (whole.instructions - set_up.instructions) / whole.hops,
        (whole.cold_lines - set_up.cold_lines) / whole.hops,
        set_up.instructions / whole.hops,
        set_up.cold_lines / whole.hops,
    )


def build() -> bool:
    """Build the program without Python around it; false where valgrind or cargo is missing."""
    if not (shutil.which("valgrind") and shutil.which("cargo")):
        return False
    command = ["cargo", "build", "--release", "--quiet", "-p", "incast-scenario", "--example", "run"]
    subprocess.run(command, cwd=ROOT, check=True)
    return True


def count(words: tuple[str, ...], *, caches: bool = False) -> Counts | None:
    """Count a slice, with or without caches (several times as slow with)."""
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *(CACHES if caches else ())]
    command += [str(target() / "examples/run"), *words, "run.threads=1"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return parsed(done.stderr, done.stdout)


def parsed(said: str, printed: str) -> Counts | None:
    """Find the counts in what callgrind said and the program printed; ``None`` where they are missing."""
    refs, misses = number(r"I\s+refs:\s+([\d,]+)", said), number(r"LLd misses:\s+([\d,]+)", said)
    hops = number(r"(?m)^([\d,]+) hops", printed)
    return Counts(hops, refs, misses or 0) if refs and hops else None


def number(pattern: str, text: str) -> int | None:
    """Find a whole number with commas."""
    found = re.search(pattern, text)
    return int(found[1].replace(",", "")) if found else None
