"""A wheel for users: ``make wheel`` builds one in ``dist`` and tries it where there is no clone.

It is what ``pip wheel .`` builds, for the system that it is built on. With ``--manylinux`` it is one for every Linux
with glibc 2.17 or later, of the architecture at hand: maturin links it by zig, whose package ``ziglang`` must be there.
``--only-try WHEEL`` builds nothing. One wheel serves every Python from 3.11 on. A wheel carries the page of
``incast view``, which ``make viewer`` builds by Node.js; ``--without-viewer`` builds one that has none.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import venv
import zipfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DIST = ROOT / "dist"
MANYLINUX = "manylinux2014"

VIEWER = "incast/view/viewer.html"
LAB = "incast/view/lab.html"
BUILT_BY = "make viewer builds it, and needs Node.js 20.19 or later with npm; --without-viewer makes do without it"

TRIED = (
    ("list", "scenarios"),
    ("run", "dumbbell", "--out", "first"),
    ("run", "ns3-random-pairs", "--set", "run.duration=2500ms", "--quiet", "--out", "listed"),
    ("paper", "run", "swift/fig20", "--quiet", "--out", "paper"),
    (
        *("compare", "dumbbell", "--cc", "dctcp", "--cc", "swift", "--seeds", "1", "--set", "run.duration=20ms"),
        *("--set", "run.warmup=5ms", "--quiet", "--out", "compared"),
    ),
)
"""Commands that need the engine, a list of flows, a paper's files, the pictures and the report."""
VIEWED = (
    (
        *("run", "dumbbell", "--set", "run.duration=5ms", "--set", "run.warmup=0s", "--set", "measure.timeline=auto"),
        *("--quiet", "--out", "timed"),
    ),
    ("view", "timed", "--quiet"),
)
"""Commands that need the viewer."""


def refuse_without_viewer(wheel: Path | None = None) -> None:
    """Raise ``SystemExit`` where the viewer is not built, or not in a wheel."""
    if wheel is None:
        if not (ROOT / "python" / VIEWER).is_file():
            sys.exit(f"python/{VIEWER} is not there, and the wheel would not have it: {BUILT_BY}")
        if not (ROOT / "python" / LAB).is_file():
            print(f"wheel: without incast lab, as python/{LAB} is not there: make lab builds it", flush=True)
        return
    try:
        with zipfile.ZipFile(wheel) as files:
            there = VIEWER in files.namelist() and b"<!--incast-runs-->" in files.read(VIEWER)
    except zipfile.BadZipFile:
        sys.exit(f"{wheel} is no wheel")
    if not there:
        sys.exit(f"{wheel} has no {VIEWER}, so its incast view would refuse: {BUILT_BY}")


def built(manylinux: bool, dist: Path) -> Path:
    """Build a wheel in ``dist``; raises ``SystemExit`` where zig is not there, ``CalledProcessError`` of the build."""
    for old in dist.glob("*.whl"):
        old.unlink()
    if manylinux:
        if importlib.util.find_spec("ziglang") is None:
            sys.exit(f"--manylinux links by zig: {sys.executable} -m pip install ziglang")
        words = ["maturin", "build", "--release", "--zig", "--compatibility", MANYLINUX, "--out", str(dist)]
    else:
        words = ["pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(dist), str(ROOT)]
    # maturin finds the zig of this Python's environment by the path
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    subprocess.run([sys.executable, "-m", *words], cwd=ROOT, env=os.environ | {"PATH": path}, check=True)
    (wheel,) = dist.glob("*.whl")
    return wheel


def tried(wheel: Path, commands: Sequence[Sequence[str]] = TRIED) -> str:
    """Install a wheel into a new environment outside the clone and run the commands there; its version.

    Raises ``SystemExit`` with a command's words and what it said where one fails, or where the installed package is
    not the one that ran.
    """
    with tempfile.TemporaryDirectory() as place:
        folder, home = Path(place, "work"), Path(place, "env")
        folder.mkdir()
        venv.create(home)
        clean = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "VIRTUAL_ENV")}

        def run(*words: str) -> str:
            done = subprocess.run(words, cwd=folder, env=clean, capture_output=True, text=True, check=False)
            if done.returncode:
                sys.exit(f"{' '.join(words)}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
            return done.stdout

        python = str(home / "bin" / "python")
        run(sys.executable, "-m", "pip", "--python", python, "install", "--quiet", str(wheel.resolve()))
        where = run(python, "-c", "import incast; print(incast.__file__, incast.__version__)")
        if not where.startswith(str(home)):
            sys.exit(f"the package that ran is not the installed one: {where}")
        for words in commands:
            run(str(home / "bin" / "incast"), *words)
        summary = json.loads((folder / "first" / "summary.json").read_text(encoding="utf-8"))
        if not summary["flows"]["goodput_total_bps"] > 0:
            sys.exit("dumbbell: no goodput")
        return where.split()[1]


def arguments() -> argparse.ArgumentParser:
    """Give the options."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--manylinux", action="store_true", help="for every Linux with glibc 2.17 or later")
    parser.add_argument("--without-viewer", action="store_true", help="it need not have the page of incast view")
    parser.add_argument("--only-try", type=Path, metavar="WHEEL", help="build nothing")
    return parser


def main() -> None:
    """Build and try."""
    words = arguments().parse_args()
    needs_viewer = not words.without_viewer
    if needs_viewer and words.only_try is None:
        refuse_without_viewer()
    wheel = words.only_try or built(words.manylinux, DIST)
    if needs_viewer:
        refuse_without_viewer(wheel)
    version = tried(wheel, (*TRIED, *VIEWED) if needs_viewer else TRIED)
    print(f"{wheel}: version {version}, {wheel.stat().st_size / 1e6:.1f} MB, installed and run")


if __name__ == "__main__":
    main()
