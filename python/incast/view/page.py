"""The page that shows runs: the viewer, which ``make viewer`` builds, with the runs' columns in it or by a server."""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from incast.errors import FolderError
from incast.folders import write_named, write_whole
from incast.view import reading
from incast.view.packing import FAST, Pack, base64_of
from incast.view.sources import Folder, Source

VIEWER = "viewer.html"
PLACE = "<!--incast-runs-->"
DAMAGED = "the viewer is damaged: make viewer builds it again"
POLICY = "default-src 'none'; "
"""How the policy of the built viewer begins, which forbids it the network."""


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


def _named(runs: Sequence[Path]) -> list[tuple[str, Source]]:
    return [(label, Folder(run)) for label, run in zip(labels(runs), runs, strict=True)]


def page(runs: Sequence[Path]) -> str:
    """Make the text of a file that holds all that it shows of run folders."""
    return of(_named(runs))


def of(runs: Sequence[tuple[str, Source]]) -> str:
    """Make the text of a file that holds all that it shows of runs, each with its name."""
    shell = viewer()
    pack = Pack()
    described = _described(runs, pack)
    parts = (f'<script type="text/plain" id="incast-{at}">{base64_of(part)}</script>' for at, part in enumerate(pack))
    return _filled(shell, [_told(described, served=False), *parts])


def served(runs: Sequence[Path]) -> tuple[str, Pack]:
    """Make the text of a page that asks its own server for parts, and no other server; and these, not made yet."""
    shell = viewer()
    if shell.count(POLICY) != 1:
        raise FolderError(DAMAGED)
    pack = Pack(FAST)
    described = _described(_named(runs), pack)
    shell = shell.replace(POLICY, f"{POLICY}connect-src 'self'; ")
    return _filled(shell, [_told(described, served=True)]), pack


def _described(runs: Sequence[tuple[str, Source]], pack: Pack) -> list[dict[str, Any]]:
    return [reading.described(run, label, pack) for label, run in runs]


def _told(described: list[dict[str, Any]], served: bool) -> str:
    # names of columns come from files: none may end the element
    told = json.dumps({"version": 2, "served": served, "runs": described}).replace("<", "\\u003c")
    return f'<script type="application/json" id="incast-runs">{told}</script>'


def _filled(shell: str, tags: Sequence[str]) -> str:
    before, place, after = shell.partition(PLACE)
    if not place:
        raise FolderError(DAMAGED)
    return "".join([before, "\n".join(tags), after])


def write(runs: Sequence[Path], path: Path, named: bool = False) -> int:
    """Write the file of run folders whole; its size in bytes. ``named``: a user gave the path."""
    return put(page(runs), path, named)


def put(text: str, path: Path, named: bool = False) -> int:
    """Write a page whole; its size in bytes. One that a user named goes through a link, or to a pipe or device."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        (write_named if named else write_whole)(path, text)
    except OSError as error:
        raise FolderError(f"cannot write the view to {path}: {error.strerror}") from None
    return len(text.encode())
