"""The engine as WebAssembly beside the installed one: ``make bench-web``, or ``python -m bench.web``.

CPU time of the same runs on one core, in Node.js and natively, each the least of several in turns; the first second in
Node.js is its compiler's. Held: at least a third of the native speed, a module under 3 MB, under 1.2 MB packed. Exit
status 1: one is missed.
"""

from __future__ import annotations

import base64
import gzip
import json
import lzma
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from incast import _core
from incast.view import lab

ROOT = Path(__file__).resolve().parent.parent
MODULE = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "wasm32-unknown-unknown/web/incast_web.wasm"
SPEED, BYTES, PACKED = 1 / 3, 3_000_000, 1_200_000
TURNS = 3
CASES: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = (
    ("random-hotspot", (("run.warmup", "0s"), ("run.duration", "24s"))),
    ("random-pairs", (("run.warmup", "0s"), ("run.duration", "12s"))),
)


def native(name: str, settings: tuple[tuple[str, str], ...]) -> tuple[float, int]:
    """Run a case by the installed engine; return CPU seconds and hops."""
    scenario = _core.Scenario.load(name).set("run.threads", "1")
    for key, value in settings:
        scenario = scenario.set(key, value)
    before = time.process_time()
    result = _core.run(scenario)
    return time.process_time() - before, int(json.loads(result.summary_json())["run"]["hops"])


def in_node(name: str, settings: tuple[tuple[str, str], ...]) -> float:
    """Run a case in Node.js; return CPU seconds."""
    asked = json.dumps({"name": name, "set": settings})
    command = ["npx", "vitest", "run", "--dir", "wasm", "speed"]
    with tempfile.TemporaryDirectory() as place:
        out = Path(place) / "speed.json"
        environment = os.environ | {"INCAST_ENGINE": str(MODULE), "INCAST_SPEED": asked, "INCAST_SPEED_OUT": str(out)}
        subprocess.run(command, cwd=ROOT / "viewer", env=environment, check=True, capture_output=True)
        found: dict[str, Any] = json.loads(out.read_text(encoding="utf-8"))
    return float(found["cpu_s"])


def main() -> int:
    """Measure, print a table, and return the exit status."""
    missed = False
    print(f"{'case':<16} {'hops':>10} {'native':>10} {'browser':>10} {'ratio':>6}")
    for name, settings in CASES:
        turns = [(native(name, settings), in_node(name, settings)) for _ in range(TURNS)]
        (own, hops), theirs = min(turn[0] for turn in turns), min(turn[1] for turn in turns)
        missed |= own / theirs < SPEED
        print(f"{name:<16} {hops:>10,} {own:>8.2f} s {theirs:>8.2f} s {own / theirs:>6.2f}")
    page = lab.place().read_bytes()
    # as the page carries it: without the names of functions
    carried = re.search(rb'id="incast-engine">([^<]+)<', page)
    assert carried is not None, "make lab puts the module into the page"
    packed = base64.b64decode(carried[1])
    module = lzma.decompress(packed)
    missed |= len(module) > BYTES or len(packed) > PACKED
    print(f"module {len(module):,} bytes, {len(packed):,} packed")
    print(f"page   {len(page):,} bytes, {len(gzip.compress(page, 9)):,} packed")
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
