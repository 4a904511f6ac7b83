"""Runs that are viewed: folders, and results in memory. Tables are read column by column, when they are asked for."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from incast import run_folder
from incast.errors import FolderError, IncastError
from incast.result import Result
from incast.run_folder import Shape
from incast.view import packing

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np
    import pyarrow as pa

HOW = "make one with incast run SCENARIO --set measure.timeline=auto --out DIR"


class Source(Protocol):
    """A run that is viewed."""

    @property
    def lacks(self) -> IncastError:
        """What is raised of a run without a timeline: it says how one is made."""

    def timeline(self) -> str | None:
        """Give the text of ``timeline.json``; ``None`` without."""

    def shape(self, name: str) -> Shape | None:
        """Give names of columns and number of rows of a table, if the run has it."""

    def table(self, name: str, columns: Sequence[str]) -> pa.Table:
        """Read columns of a table that the run has."""

    def place(self, file: str) -> str:
        """Name a file of the run in messages."""


def damaged(run: Source, name: str, why: str) -> FolderError:
    """Say that a table of a run cannot be what a run wrote."""
    return FolderError(f"{run.place(f'{name}.parquet')} is damaged: {why}: run the scenario again")


@contextmanager
def told(run: Source, name: str, what: str) -> Iterator[None]:
    """Say the run and the table of what is wrong with ``what`` of it; a lack of memory is no damage."""
    try:
        yield
    except MemoryError:
        raise
    except packing.UNFORESEEN as error:
        raise damaged(run, name, f"{what} {error}") from None


def columns(run: Source, name: str, own: Sequence[str]) -> pa.Table:
    """Read columns of a table; raises ``FolderError`` of one whose columns are not those of a run."""
    return run.table(name, list(own))


def numbers(run: Source, name: str, column: str, most: int) -> np.ndarray[Any, Any]:
    """Read a column of numbers of frames, ports, flows or nodes: from 0 on, and less than ``most``.

    Raises ``FolderError`` of a table with others.
    """
    with told(run, name, f"a {column}"):
        return packing.places(columns(run, name, [column])[column], most)


@dataclass(frozen=True)
class Folder:
    """A run folder. Its columns are read when they are shown: those of another run that took its place are not."""

    path: Path
    _files: dict[str, tuple[int, ...]] = field(default_factory=dict, compare=False, repr=False)
    """What tells the file of a table from another one, when it was seen first."""

    @property
    def lacks(self) -> IncastError:
        """Say what makes a timeline."""
        return FolderError(f"{self.path} has no {run_folder.TIMELINE}, and nothing to view over time: {HOW}")

    def timeline(self) -> str | None:
        """Read the text; raises ``FolderError`` of a folder of no run."""
        run_folder.read_manifest(self.path)
        return run_folder.read_timeline(self.path)

    def shape(self, name: str) -> Shape | None:
        """Read the end of a table, if there is a file."""
        if not (self.path / f"{name}.parquet").exists():
            return None
        self._files.setdefault(name, self._file(name))
        return run_folder.read_shape(self.path, name)

    def table(self, name: str, columns: Sequence[str]) -> pa.Table:
        """Read columns; raises ``FolderError`` where the file is another than at first, or gone, or was while read."""
        self._same(name)
        table = run_folder.read_table(self.path, name, list(columns))
        self._same(name)
        return table

    def _same(self, name: str) -> None:
        found = self._file(name)
        if found != self._files.setdefault(name, found):
            place = self.place(f"{name}.parquet")
            raise FolderError(f"{place} is of another run by now: call incast view again")

    def _file(self, name: str) -> tuple[int, ...]:
        try:
            told = (self.path / f"{name}.parquet").stat()
        except OSError as error:
            place = self.place(f"{name}.parquet")
            raise FolderError(f"{place} cannot be read any more: {error.strerror}") from None
        return told.st_dev, told.st_ino, told.st_size, told.st_mtime_ns

    def place(self, file: str) -> str:
        """Give its path."""
        return str(self.path / file)


@dataclass(frozen=True)
class Made:
    """A run in memory, or one that was loaded."""

    result: Result

    @property
    def lacks(self) -> IncastError:
        """Say what makes a timeline."""
        how = 'run the scenario with a timeline: scenario.with_({"measure.timeline": "auto"}).run()'
        return IncastError(f"this run has no timeline, and nothing to view over time: {how}")

    def timeline(self) -> str | None:
        """Give the text."""
        return self.result.timeline_json

    def shape(self, name: str) -> Shape | None:
        """Give it of a table that has columns: of one that a folder lacks there are none."""
        table: pa.Table = getattr(self.result, name)
        return Shape(table.num_rows, tuple(table.column_names)) if table.num_columns else None

    def table(self, name: str, columns: Sequence[str]) -> pa.Table:
        """Give columns."""
        table: pa.Table = getattr(self.result, name)
        return table.select(list(columns))

    def place(self, file: str) -> str:
        """Give the file's name."""
        return f"this run: {file}"
