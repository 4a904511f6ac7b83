"""Build a release wheel with profile-guided optimisation: ``make release`` leaves it in ``dist``.

The package is built with counters, runs a few slices that together use what most runs use, and is built again with
what they counted: the compiler then knows which branches are taken, which functions are hot and what lies together.
No result changes. rustc's own ``llvm-profdata`` joins the counts (``rustup component add llvm-tools``); one of the
system serves if its LLVM is as new as rustc's. Where there is none, the wheel is built without a profile, and that is
said.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DIST = ROOT / "dist"
BUILD = ROOT / "target" / "profile"
"""Builds with counters lie apart from others, which they would replace."""

SLICES = (
    ("permutation", "traffic.app.size=2800kB", "run.duration=5ms"),
    ("permutation", "traffic.app.size=1MB", "run.duration=5ms", "transport.mss=1448", "transport.header=52"),
    ("permutation", "topology.k=32", "traffic.app.size=40kB", "run.duration=5ms"),
    ("permutation", "topology.k=16", "routing.kind=spray", "traffic.app.size=200kB", "run.duration=5ms"),
    (
        "permutation",
        *("transport.preset=linux-default", "controller=cubic:form=linux"),
        *("traffic.app.size=100kB", "run.duration=5ms"),
    ),
    ("random-pairs", "topology.k=4", "traffic.flows=60", "run.duration=300ms"),
)
"""Under a minute of work with counters."""


def told(command: Sequence[str]) -> str:
    """Return what a command prints; nothing where it fails or is not there."""
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return ""


def llvm(text: str) -> int:
    """Read the major version of LLVM from what a program says of itself; 0 where it says none."""
    found = re.search(r"LLVM version:? (\d+)", text)
    return int(found[1]) if found else 0


def profdata() -> Path | None:
    """Find an ``llvm-profdata`` that reads what this rustc's counters write."""
    about = told(["rustc", "-vV"])
    host = re.search(r"^host: (.*)$", about, re.M)
    own = Path(told(["rustc", "--print", "sysroot"]).strip(), "lib/rustlib", host[1] if host else "", "bin")
    for folder in (own, *map(Path, os.get_exec_path())):
        program = folder / "llvm-profdata"
        if os.access(program, os.X_OK) and (folder == own or llvm(told([str(program), "--version"])) >= llvm(about)):
            return program
    return None


def wheel(out: Path, flags: str, target: Path) -> Path:
    """Build a wheel with these flags of rustc; it is the only one in ``out``."""
    shutil.rmtree(out, ignore_errors=True)
    env = os.environ | {"RUSTFLAGS": f"{os.environ.get('RUSTFLAGS', '')} {flags}".strip()}
    maturin = [sys.executable, "-m", "maturin", "build", "--release", "--quiet"]
    subprocess.run([*maturin, "--out", str(out), "--target-dir", str(target)], cwd=ROOT, env=env, check=True)
    (built,) = out.glob("*.whl")
    return built


def profile(program: Path, place: Path) -> Path:
    """Run the slices on a build with counters; the file with what was counted."""
    counts, package = place / "counts", place / "package"
    counting = wheel(place / "wheel", f"-Cprofile-generate={counts}", BUILD)
    shutil.unpack_archive(counting, package, "zip")
    env = os.environ | {"PYTHONPATH": str(package)}
    for i, (scenario, *settings) in enumerate(SLICES):
        words = [scenario, *(word for setting in (*settings, "run.threads=1") for word in ("--set", setting))]
        run = [sys.executable, "-m", "incast", "run", *words, "--quiet", "--out", str(place / f"run{i}")]
        subprocess.run(run, cwd=place, env=env, check=True)
    counted = place / "slices.profdata"
    subprocess.run([str(program), "merge", "-o", str(counted), str(counts)], check=True)
    return counted


def main() -> None:
    """Build the wheel."""
    program = profdata()
    if program is None:
        print(
            "make release: no llvm-profdata of rustc's LLVM (rustup component add llvm-tools): "
            "the wheel is built without a profile, 5 to 10 % slower",
            file=sys.stderr,
        )
        print(wheel(DIST, "", ROOT / "target" / "wheel"))
        return
    with tempfile.TemporaryDirectory() as place:
        counted = profile(program, Path(place))
        # what is not in the slices has no counts: that is no mistake
        print(wheel(DIST, f"-Cprofile-use={counted} -Cllvm-args=-pgo-warn-missing-function=false", BUILD))


if __name__ == "__main__":
    main()
