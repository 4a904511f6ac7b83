"""Speed of the viewer: ``make bench-view``.

Runs of fat trees and a made-up folder of 100,000 ports become files of ``incast view``; headless Chromium, which draws
in software, opens each and is timed (``viewer/bench``), and one of the runs as a server hands it out. First paint is
the least of three: from the address to the picture of fabric and heat map. From command is from the call of
``incast view --serve`` to the picture, once, of a run that was viewed before. Moved is what came over the network until
then, and for the first port that is pinned. Pictures a second are while every one of them differs: scrubbing (each step
waits for its frame), zooming and moving the heat map; the browser shows at most 60. Memory is what is resident of the
page's process. Exit status 1: an aim is missed.
"""

from __future__ import annotations

import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

from bench.bare import ROOT
from bench.run import keep
from incast import Scenario
from incast.view import page, serving
from tests.python import viewed

RUN: dict[str, object] = {
    "traffic.app.size": "500kB",
    "queue.limit": "8p",
    "run.duration": "20ms",
    "measure.timeline": "auto",
}
"""Settings of the built-in scenario ``permutation``: every host sends 500 kB to another."""
PERMUTATIONS = (4, 8, 16, 32)
"""Ports of a switch in the fat trees that are run."""
SERVED = "k32"
"""Tree that is also shown by a server."""
WIDE_K, WIDE_FRAMES, WIDE_SHARE = 42, 2000, 0.02
"""Size of the synthetic folder: 111,132 ports, a fiftieth of them busy in each frame."""
AIMS = {
    "k4": {"first_paint_s": 0.3},
    "k8": {"file_bytes": 3e6},
    "k32": {"first_paint_s": 0.6, "page_bytes": 1e9},
    "served k32": {"first_paint_s": 0.6, "pin_bytes": 1e6, "page_bytes": 1e9},
    "wide": {"page_bytes": 1e9},
}
"""Upper limits of a file's figures."""
LEAST_FPS = {"scrub_fps": 45.0, "zoom_fps": 45.0, "pan_fps": 45.0}
HEADS = {
    "file_bytes": ("file, MB", 1e6),
    "first_paint_s": ("first paint, s", 1),
    "command_s": ("from command, s", 1),
    "moved_bytes": ("moved, MB", 1e6),
    "pin_s": ("first pin, s", 1),
    "pin_bytes": ("its moved, MB", 1e6),
    "scrub_fps": ("scrub, 1/s", 1),
    "zoom_fps": ("zoom, 1/s", 1),
    "pan_fps": ("move, 1/s", 1),
    "page_bytes": ("page, MB", 1e6),
    "all_bytes": ("browser, MB", 1e6),
}


def make(folder: Path) -> dict[str, int]:
    """Make the files; their sizes by name, in bytes."""
    runs = {}
    for k in PERMUTATIONS:
        runs[f"k{k}"] = folder / f"run-k{k}"
        Scenario.load("permutation").with_({"topology.k": k} | RUN).run(seed=1).save(runs[f"k{k}"])
    wide = folder / "run-wide"
    runs["wide"] = viewed.write(wide, k=WIDE_K, frames=WIDE_FRAMES, share=WIDE_SHARE, least=True)
    return {name: page.write([run], folder / f"{name}.html") for name, run in runs.items()}


def measure(folder: Path, pages: dict[str, str]) -> list[dict[str, float]]:
    """Open pages at their addresses one by one."""
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if chromium is None:
        sys.exit("make bench-view: Chromium is not installed (apt-get install chromium)")
    told = {"INCAST_VIEW_FILES": str(folder), "INCAST_VIEW_PAGES": json.dumps(pages), "INCAST_CHROMIUM": chromium}
    command = [sys.executable, "-m", "incast", "view", str(folder / f"run-{SERVED}"), "--serve"]
    told["INCAST_VIEW_COMMAND"] = json.dumps(command)
    done = subprocess.run(
        ["npm", "run", "speed"], cwd=ROOT / "viewer", env=os.environ | told | {"NO_COLOR": "1"}, capture_output=True,
        text=True,
    )  # fmt: skip
    if done.returncode:
        sys.exit(done.stdout + done.stderr)
    read: list[dict[str, float]] = json.loads((folder / "speed.json").read_text())
    return read


def missed(name: str, figures: dict[str, float]) -> list[str]:
    """Name the aims that a file misses."""
    above = [key for key, most in AIMS.get(name, {}).items() if figures[key] > most]
    return above + [key for key, least in LEAST_FPS.items() if figures[key] < least]


def main() -> int:
    """Print the table, and keep it."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        sizes = make(folder)
        pages = {name: (folder / f"{name}.html").as_uri() for name in sizes}
        with serving.Server() as server:
            server.show([folder / f"run-{SERVED}"])
            thread = threading.Thread(target=server.serve_forever)
            thread.start()
            try:
                rows = measure(folder, pages | {f"served {SERVED}": server.address})
            finally:
                server.shutdown()
                thread.join()
            sizes[f"served {SERVED}"] = len(server.text) + sum(len(server.parts[at]) for at in range(len(server.parts)))
    print(f"{'file':12}" + "".join(f"{head:>16}" for head, _ in HEADS.values()))
    status = 0
    for row in rows:
        name = str(row["name"])
        row["file_bytes"] = sizes[name]
        lacking = missed(name, row)
        status |= bool(lacking)
        # of files there is nothing from the command
        told = "".join(f"{math.nan if row[key] is None else row[key] / unit:16.3g}" for key, (_, unit) in HEADS.items())
        print(f"{name:12}{told}" + (f"  missed: {', '.join(lacking)}" if lacking else ""))
    keep({"view": rows})
    return status


if __name__ == "__main__":
    sys.exit(main())
