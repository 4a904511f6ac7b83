"""One HTML file that shows runs: the viewer, which ``make viewer`` builds, with the runs' columns in it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

from incast.errors import FolderError
from incast.folders import write_whole
from incast.view.packing import Pack
from incast.view.reading import packed

VIEWER = "viewer.html"
PLACE = "<!--incast-runs-->"


def viewer() -> str:
    """Read the built viewer; raises ``FolderError`` where this package was built without Node."""
    try:
        return files("incast.view").joinpath(VIEWER).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise FolderError(
            "the viewer is not built: this package was made where Node.js was not there; "
            "install Node.js 20.19 or later, then make viewer"
        ) from None


def labels(runs: Sequence[Path]) -> list[str]:
    """Name runs by their folders, with as much of the path as tells them apart."""
    whole = [run.resolve().parts for run in runs]
    for depth in range(1, max(map(len, whole)) + 1):
        told = ["/".join(parts[-depth:]) for parts in whole]
        if len(set(told)) == len(told):
            return told
    return told


def page(runs: Sequence[Path]) -> str:
    """Make the text of the file."""
    shell = viewer()
    pack = Pack()
    described = [packed(run, label, pack) for run, label in zip(runs, labels(runs), strict=True)]
    tags = [
        f'<script type="application/json" id="incast-runs">{json.dumps({"version": 1, "runs": described})}</script>',
        *(f'<script type="text/plain" id="incast-{at}">{text}</script>' for at, text in enumerate(pack.texts)),
    ]
    before, place, after = shell.partition(PLACE)
    if not place:
        raise FolderError("the viewer is damaged: make viewer builds it again")
    return "".join([before, "\n".join(tags), after])


def write(runs: Sequence[Path], path: Path) -> int:
    """Write the file whole; its size in bytes."""
    text = page(runs)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, text)
    except OSError as error:
        raise FolderError(f"cannot write the view to {path}: {error.strerror}") from None
    return len(text.encode())
