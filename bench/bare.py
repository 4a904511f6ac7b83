"""Bare forwarding loop (``bench/ceiling``): the speed of the machine at the time of a case."""

from __future__ import annotations

import os
import re
import shutil
import statistics
import subprocess
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def target() -> Path:
    """Return the folder of cargo's release builds."""
    return Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release"


def build() -> Path | None:
    """Build the loop; ``None`` where there is no cargo."""
    if not shutil.which("cargo"):
        return None
    subprocess.run(["cargo", "build", "--release", "--quiet", "-p", "incast-ceiling"], cwd=ROOT, check=True)
    return target() / "ceiling"


def speed(program: Path, k: int) -> float:
    """Run the loop on a fat tree of switches with ``k`` ports: its hops per CPU second."""
    done = subprocess.run([program, str(k)], capture_output=True, text=True, check=True)
    return parsed(done.stdout)


def parsed(text: str) -> float:
    """Find the hops per CPU second in what the loop prints."""
    found = re.search(r": ([\d.]+) million hops a CPU second", text)
    if found is None:
        raise ValueError(f"no speed in {text!r}")
    return float(found[1]) * 1e6


def share(pairs: Sequence[tuple[float, float]]) -> float | None:
    """Take the median of the ratios of pairs: hops per CPU second of the case, and of the loop just before it."""
    return statistics.median(case / bare for case, bare in pairs) if pairs else None
