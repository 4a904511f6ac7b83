"""The pictures of the viewer that the documentation shows: ``make viewer-pictures`` runs, opens and keeps them.

Each is what headless Chromium shows of a view of real runs. ``python tools/viewer_pictures.py NAME...`` makes some.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from incast import Scenario
from incast.view import page

ROOT = Path(__file__).resolve().parent.parent
KEPT = ROOT / "docs" / "images" / "viewer"
WIDTH = 1280
"""Most pixels of a row of a kept picture."""
SEED = 1


@dataclass(frozen=True)
class Run:
    """A run that a view shows, under its name there."""

    name: str
    scenario: str
    settings: dict[str, object]


@dataclass(frozen=True)
class Picture:
    """A picture: the runs in its view, the moment after ``#``, its size in pixels."""

    name: str
    runs: tuple[Run, ...]
    moment: str
    height: int = 960
    theme: str = "light"
    apart: bool = False
    """True if each run has its own view, with visible curves; two stand in a row."""
    width: int = 1280


def incast(name: str, controller: str) -> Run:
    """Make a run of 40 answers to one client, one of which is traced."""
    settings: dict[str, object] = {"run.duration": "40ms", "measure.timeline": "25us", "measure.trace": [28]}
    return Run(name, "incast", settings | {"controller": controller})


def dumbbell(name: str, epsilon: str) -> Run:
    """Make a run of two flows whose target is the smallest RTT and so much more."""
    settings: dict[str, object] = {
        "run.duration": "3ms", "run.warmup": "0s", "measure.timeline": "20us", "measure.series.flows": [0, 1],
    }  # fmt: skip
    return Run(name, "dumbbell", settings | {"controller": f"swift:target=min-rtt,epsilon={epsilon}"})


def two_jobs() -> Run:
    """Make a run of two rings whose reductions take calculations."""
    reduce = {f"traffic.{job}.job.collective.reduce": "320Gbps" for job in ("train", "other")}
    return Run("Two jobs", "two-jobs", {"measure.timeline": "auto", "measure.tasks": "all", **reduce})


def hotspot(controller: str) -> Run:
    """Make a run of the demo, of 100 flows to one host."""
    settings: dict[str, object] = {"run.warmup": "2s", "measure.timeline": "auto", "controller": controller}
    return Run(controller, "random-hotspot", settings)


def dead_link(theme: str) -> Picture:
    """Make the picture of the home page: a dead core link, just after its repair."""
    run = Run("A link fails", "link-failure", TIMELINE | {"controller": "dctcp"})
    name = "home" if theme == "light" else f"home-{theme}"
    return Picture(name, (run,), "t=0.000167&port=0", height=800, theme=theme)


TIMELINE: dict[str, object] = {"measure.timeline": "auto"}
ROUTINGS = ("ecmp", "flowlet", "adaptive", "spray")
PICTURES = (
    Picture("incast", (incast("DCTCP", "dctcp"), incast("Swift", "swift")), "beside=1&flow=28&t=0.0015&tab=packets"),
    Picture(
        "min-rtt", (dumbbell("epsilon 0", "0us"), dumbbell("epsilon auto", "auto")), "beside=1&flow=0&t=0.002", 1000
    ),
    Picture("pfc", (Run("PFC", "pfc-incast", TIMELINE),), "flow=8&m=paused&t=0.0003"),
    Picture("pauses", (Run("PFC", "pfc-incast", TIMELINE | {"measure.pauses": "auto"}),), "tab=pauses&t=0.0003"),
    Picture(
        "link-failure",
        tuple(Run(kind, "link-failure", TIMELINE | {"routing.kind": kind}) for kind in ROUTINGS),
        "t=0.0001&port=0",  # the port of agg0 towards core0, whose link fails
        height=1060,
        apart=True,
    ),
    Picture("tour", (hotspot("dctcp"), hotspot("newreno")), "beside=1&t=2.5&port=65", 1100),
    dead_link("light"),
    dead_link("dark"),
    Picture("ranks", (two_jobs(),), "tab=ranks&t=0.0035"),
    Picture("elephants", (Run("MSwift", "permutation-elephants", TIMELINE),), "flow=9&t=0.0002"),
)


def make(pictures: tuple[Picture, ...], folder: Path) -> dict[str, Path]:
    """Make pictures in a folder; raises ``RuntimeError`` with what Chromium's driver says where it fails."""
    asked = []
    for picture in pictures:
        runs = []
        for run in picture.runs:
            runs.append(folder / picture.name / run.name)
            Scenario.load(run.scenario).with_(run.settings).run(seed=SEED).save(runs[-1])
        views = [[run] for run in runs] if picture.apart else [runs]
        for at, view in enumerate(views):
            name = f"{picture.name}-{at}" if picture.apart else picture.name
            page.write(view, folder / f"{name}.html")
            one = {"name": name, "file": f"{name}.html", "moment": picture.moment, "theme": picture.theme}
            one |= {"part": ".details"} if picture.apart else {}
            asked.append(one | {"width": picture.width, "height": picture.height})
    (folder / "pictures.json").write_text(json.dumps(asked))
    done = subprocess.run(
        ["npm", "run", "pictures"], cwd=ROOT / "viewer", capture_output=True, text=True,
        env=os.environ | {"INCAST_VIEW_FILES": str(folder), "INCAST_CHROMIUM": chromium() or "", "NO_COLOR": "1"},
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(done.stdout + done.stderr)
    for picture in pictures:
        if picture.apart:
            parts = [folder / f"{picture.name}-{at}.png" for at in range(len(picture.runs))]
            beside(parts, [run.name for run in picture.runs], folder / f"{picture.name}.png")
    return {picture.name: folder / f"{picture.name}.png" for picture in pictures}


def chromium() -> str | None:
    """Find the browser."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


def beside(parts: list[Path], names: list[str], whole: Path) -> None:
    """Put pictures of one size together, each below its name, two in a row."""
    images = [Image.open(part).convert("RGB") for part in parts]
    width, height = images[0].size
    above, font = 30, ImageFont.load_default(20)
    together = Image.new("RGB", (2 * width, (len(images) + 1) // 2 * (height + above)), "white")
    for at, (image, name) in enumerate(zip(images, names, strict=True)):
        left, top = at % 2 * width, at // 2 * (height + above)
        ImageDraw.Draw(together).text((left + 12, top + 3), name, "black", font)
        together.paste(image, (left, top + above))
    together.save(whole)


def difference(one: Path, other: Path) -> float:
    """Tell how much two pictures differ: the mean over all pixels of 160 x 100, of 0 to 255."""
    box = Image.Resampling.BOX
    small = [Image.open(path).convert("RGB").resize((160, 100), box).tobytes() for path in (one, other)]
    return sum(abs(a - b) for a, b in zip(*small, strict=True)) / len(small[0])


def main(names: list[str]) -> None:
    """Make the pictures of these names, or all, and keep them."""
    known = {picture.name: picture for picture in PICTURES}
    chosen = tuple(known[name] for name in names or known)
    KEPT.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        for name, path in make(chosen, Path(folder)).items():
            image = Image.open(path).convert("RGB")
            image.thumbnail((WIDTH, image.height), Image.Resampling.LANCZOS)
            image = image.quantize(256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
            image.save(KEPT / f"{name}.png", optimize=True)
            print(f"docs/images/viewer/{name}.png: {(KEPT / f'{name}.png').stat().st_size:,} bytes")


if __name__ == "__main__":
    main(sys.argv[1:])
