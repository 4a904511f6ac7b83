"""Pictures of a folder: files in the formats asked for, and none of an earlier report beside them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path

from matplotlib.figure import Figure

from incast.folders import write_whole
from incast.look import FORMATS, picture_bytes, png_bytes


def save(
    pictures: Mapping[str, Figure],
    folder: Path,
    formats: Sequence[str],
    ours: Callable[[str], bool] = lambda _: False,
) -> dict[str, bytes]:
    """Write pictures by their names, in formats of ``FORMATS``; give them as PNG. Others are cleared away."""
    pngs = {name: png_bytes(canvas) for name, canvas in pictures.items()}
    for name, canvas in pictures.items():
        for kind in formats:
            write_whole(folder / f"{name}.{kind}", pngs[name] if kind == "png" else picture_bytes(canvas, kind))
    clear(pictures, folder, formats, ours)
    return pngs


def clear(names: Collection[str], folder: Path, formats: Sequence[str], ours: Callable[[str], bool]) -> None:
    """Remove files of pictures that are none of these, in these formats, and whose name without its ending is ours."""
    for path in sorted(folder.iterdir()):
        kind = path.suffix.removeprefix(".")
        if kind in FORMATS and ours(path.stem) and not (path.stem in names and kind in formats):
            path.unlink()
