"""Viewer page: the viewer of ``make viewer`` with the runs' columns, embedded or from a server."""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from incast.errors import FolderError
from incast.system.folders import write_named, write_whole
from incast.view import reading
from incast.view.packing import FAST, Pack, base64_of
from incast.view.sources import Folder, Source

VIEWER = "viewer.html"
PLACE = "<!--incast-runs-->"
FIRST = '<i id="incast-first" hidden></i>'
"""End of what a page opens with: it need not wait for the rest of a large file."""
DAMAGED = "the viewer is damaged: make viewer builds it again"
POLICY = "default-src 'none'; "
"""Start of the content security policy of the built viewer, which forbids network access."""


def viewer() -> str:
    """Read the built viewer; raises ``FolderError`` if this package was built without Node."""
    try:
        return files("incast.view").joinpath(VIEWER).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise FolderError(
            "the viewer is not built: this package was built without Node.js; "
            "install Node.js 20.19 or later, then run make viewer"
        ) from None


def labels(runs: Sequence[Path]) -> list[str]:
    """Name runs by their folders, with as much of the path as makes them unique."""
    whole = [run.resolve().parts for run in runs]
    for depth in range(1, max(map(len, whole)) + 1):
        candidates = ["/".join(parts[-depth:]) for parts in whole]
        if len(set(candidates)) == len(candidates):
            return candidates
    return candidates


def _named(runs: Sequence[Path], names: Sequence[str] | None) -> list[tuple[str, Source]]:
    return [(label, Folder(run)) for label, run in zip(names or labels(runs), runs, strict=True)]


def page(runs: Sequence[Path], names: Sequence[str] | None = None) -> str:
    """Return a self-contained page of run folders; ``names`` replaces the names of the folders."""
    return of(_named(runs, names))


def of(runs: Sequence[tuple[str, Source]]) -> str:
    """Return a self-contained page of named runs."""
    shell = viewer()
    pack = Pack()
    described = _described(runs, pack)
    parts = [f'<script type="text/plain" id="incast-{at}">{base64_of(part)}</script>' for at, part in enumerate(pack)]
    first = pack.first if len(runs) == 1 else len(parts)
    return _filled(shell, [_runs_element(described, served=False), *parts[:first], FIRST, *parts[first:]])


def served(runs: Sequence[Path], names: Sequence[str] | None = None) -> tuple[str, Pack]:
    """Return a page that requests parts from its own server only, and the parts, not made yet."""
    shell = viewer()
    if shell.count(POLICY) != 1:
        raise FolderError(DAMAGED)
    pack = Pack(FAST)
    described = _described(_named(runs, names), pack)
    shell = shell.replace(POLICY, f"{POLICY}connect-src 'self'; ")
    return _filled(shell, [_runs_element(described, served=True), FIRST]), pack


def _described(runs: Sequence[tuple[str, Source]], pack: Pack) -> list[dict[str, Any]]:
    return [reading.described(run, label, pack) for label, run in runs]


def _runs_element(described: list[dict[str, Any]], served: bool) -> str:
    # names of columns come from files: they must not end the element
    description = json.dumps({"version": 2, "served": served, "runs": described}).replace("<", "\\u003c")
    return f'<script type="application/json" id="incast-runs">{description}</script>'


def _filled(shell: str, tags: Sequence[str]) -> str:
    before, place, after = shell.partition(PLACE)
    if not place:
        raise FolderError(DAMAGED)
    return "".join([before, "\n".join(tags), after])


def write(runs: Sequence[Path], path: Path, named: bool = False, names: Sequence[str] | None = None) -> int:
    """Write the page of run folders atomically; return its size in bytes. ``named``: a user gave the path."""
    return put(page(runs, names), path, named)


def put(text: str, path: Path, named: bool = False) -> int:
    """Write a page atomically; return its size in bytes. A path given by a user may be a link, pipe or device."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        (write_named if named else write_whole)(path, text)
    except OSError as error:
        raise FolderError(f"cannot write the view to {path}: {error.strerror}") from None
    return len(text.encode())
