"""Pictures of a folder: files in the formats asked for, and none of an earlier report beside them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path

from matplotlib.figure import Figure

from incast.folders import write_together
from incast.style import FORMATS, picture_bytes

Drawn = dict[str, dict[str, bytes]]
"""Pictures as bytes, by their names and formats: those asked for, and PNG."""


def draw(pictures: Mapping[str, Figure], formats: Sequence[str]) -> Drawn:
    """Make pictures of figures, in these formats of ``FORMATS`` and as PNG, which pages hold; nothing is written."""
    kinds = dict.fromkeys(["png", *formats])
    return {name: {kind: picture_bytes(canvas, kind) for kind in kinds} for name, canvas in pictures.items()}


def pngs(drawn: Drawn) -> dict[str, bytes]:
    """Give the pictures as PNG."""
    return {name: kinds["png"] for name, kinds in drawn.items()}


def write(
    folder: Path,
    drawn: Drawn,
    formats: Sequence[str],
    beside: Mapping[str, str] | None = None,
    ours: Callable[[str], bool] = lambda _: False,
) -> None:
    """Write pictures in these formats and files that tell of them: all together, or, where one cannot be, none.

    Pictures of an earlier report, whose names without their endings are ``ours``, go when these are there.
    """
    files: dict[str, str | bytes] = {f"{name}.{kind}": kinds[kind] for name, kinds in drawn.items() for kind in formats}
    write_together(folder, files | dict(beside or {}))
    _clear(drawn, folder, formats, ours)


def _clear(names: Collection[str], folder: Path, formats: Sequence[str], ours: Callable[[str], bool]) -> None:
    """Remove files of pictures that are none of these, in these formats, and whose name without its ending is ours."""
    for path in sorted(folder.iterdir()):
        kind = path.suffix.removeprefix(".")
        if kind in FORMATS and ours(path.stem) and not (path.stem in names and kind in formats):
            path.unlink()
