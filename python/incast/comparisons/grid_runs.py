"""Runs of a comparison over two keys, apart from its declaration, which loads without tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from incast.comparisons.grid import Grid
from incast.comparisons.report_folder import Home, made, read


def carry_out(
    grid: Grid, folder: Path, *, store: Path | None = None, rebuild: bool = False, **options: Any
) -> tuple[Grid, Home]:
    """Make the runs that the store lacks; options are those of ``planning.make``."""
    with made(grid, folder, store, rebuild, **options):
        return load(folder)


def load(folder: Path) -> tuple[Grid, Home]:
    """Read the declaration of a folder, and its place of runs; raises ``FolderError``."""
    return read(Grid, folder)
