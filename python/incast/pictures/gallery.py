"""Picture files of a folder, in the requested formats; pictures of an earlier report are removed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path

from matplotlib.figure import Figure

from incast.pictures.style import FORMATS, arrange, picture_bytes
from incast.system.folders import write_together

Drawn = dict[str, dict[str, bytes]]
"""Pictures as bytes, by name and format: the requested formats, and PNG."""


def draw(pictures: Mapping[str, Figure], formats: Sequence[str]) -> Drawn:
    """Render figures in these formats and as PNG, which reports embed; nothing is written."""
    kinds = dict.fromkeys(["png", *formats])
    for canvas in pictures.values():
        arrange(canvas)
    return {name: {kind: picture_bytes(canvas, kind) for kind in kinds} for name, canvas in pictures.items()}


def pngs(drawn: Drawn) -> dict[str, bytes]:
    """Return the pictures as PNG."""
    return {name: kinds["png"] for name, kinds in drawn.items()}


def write(
    folder: Path,
    drawn: Drawn,
    formats: Sequence[str],
    beside: Mapping[str, str] | None = None,
    ours: Callable[[str], bool] = lambda _: False,
) -> None:
    """Write pictures in these formats together with further files: all or none.

    Then remove pictures of an earlier report: files whose names without extension are ``ours``.
    """
    files: dict[str, str | bytes] = {f"{name}.{kind}": kinds[kind] for name, kinds in drawn.items() for kind in formats}
    write_together(folder, files | dict(beside or {}))
    _clear(drawn, folder, formats, ours)


def _clear(names: Collection[str], folder: Path, formats: Sequence[str], ours: Callable[[str], bool]) -> None:
    """Remove picture files with names that are ``ours`` (without extension), except these names and formats."""
    for path in sorted(folder.iterdir()):
        kind = path.suffix.removeprefix(".")
        if kind in FORMATS and ours(path.stem) and not (path.stem in names and kind in formats):
            path.unlink()
