"""Sources of viewed runs: folders, and results in memory. Columns of tables are read on demand."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from incast.errors import FolderError, IncastError
from incast.runs import run_folder
from incast.runs.result import Result
from incast.runs.run_folder import Shape
from incast.system import files
from incast.view import packing, remembered
from incast.view.about import about

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np
    import pyarrow as pa

HOW = "make one with incast run SCENARIO --set measure.timeline=auto --out DIR"


class Source(Protocol):
    """A viewed run."""

    @property
    def lacks(self) -> IncastError:
        """Return the error about a missing timeline, with the way to make one."""

    def timeline(self) -> str | None:
        """Return the text of ``timeline.json``, if any."""

    def about(self) -> dict[str, Any]:
        """Return what the run is, as far as it says so."""

    def shape(self, name: str) -> Shape | None:
        """Return columns and number of rows of a table, if the run has it."""

    def table(self, name: str, columns: Sequence[str]) -> pa.Table:
        """Read columns of an existing table."""

    def place(self, file: str) -> str:
        """Name a file of the run in messages."""

    def recall(self, name: str, tables: Sequence[str], bound: bytes) -> bytes | None:
        """Return what the run keeps under a name, if that was made of the same tables and is bound to the same."""

    def remember(self, name: str, tables: Sequence[str], bound: bytes, data: bytes) -> None:
        """Keep what was made of tables, where that is possible."""


def damaged(run: Source, name: str, why: str) -> FolderError:
    """Return the error about a damaged table of a run."""
    return FolderError(f"{run.place(f'{name}.parquet')} is damaged: {why}: run the scenario again")


@contextmanager
def naming(run: Source, name: str, what: str) -> Iterator[None]:
    """Turn exceptions about ``what`` into an error that names the run and the table; ``MemoryError`` passes."""
    try:
        yield
    except MemoryError:
        raise
    except packing.UNFORESEEN as error:
        raise damaged(run, name, f"{what} {error}") from None


def columns(run: Source, name: str, own: Sequence[str]) -> pa.Table:
    """Read columns of a table; raises ``FolderError`` for wrong columns."""
    return run.table(name, list(own))


def numbers(run: Source, name: str, column: str, most: int) -> np.ndarray[Any, Any]:
    """Read a column of indices of frames, ports, flows or nodes, below ``most``.

    Raises ``FolderError`` for other values.
    """
    with naming(run, name, f"a {column}"):
        return packing.places(columns(run, name, [column])[column], most)


@dataclass(frozen=True)
class Folder:
    """A run folder. Columns are read on demand, unless another run has replaced the folder's."""

    path: Path
    _files: dict[str, tuple[int, ...]] = field(default_factory=dict, compare=False, repr=False)
    """Identity of each table's file when first read."""

    @property
    def lacks(self) -> IncastError:
        """Return the error about a missing timeline."""
        return FolderError(f"{self.path} has no {run_folder.TIMELINE}, which the viewer needs: {HOW}")

    def timeline(self) -> str | None:
        """Read the text; raises ``FolderError`` if the folder is not a run folder."""
        run_folder.read_manifest(self.path)
        return run_folder.read_timeline(self.path)

    def about(self) -> dict[str, Any]:
        """Read scenario and summary, as far as they are there."""
        return about(*(self._text(name) for name in (run_folder.SCENARIO, run_folder.SUMMARY)))

    def _text(self, name: str) -> str | None:
        try:
            return files.read_text(self.path / name, files.MOST_JSON)
        except (OSError, ValueError):
            return None

    def shape(self, name: str) -> Shape | None:
        """Read the footer of a table, if the file exists."""
        if not (self.path / f"{name}.parquet").exists():
            return None
        self._files.setdefault(name, self._file(name))
        return run_folder.read_shape(self.path, name)

    def table(self, name: str, columns: Sequence[str]) -> pa.Table:
        """Read columns; raises ``FolderError`` if the file was replaced or removed, before or during the read."""
        self._same(name)
        table = run_folder.read_table(self.path, name, list(columns))
        self._same(name)
        return table

    def _same(self, name: str) -> None:
        found = self._file(name)
        if found != self._files.setdefault(name, found):
            place = self.place(f"{name}.parquet")
            raise FolderError(f"{place} has been replaced by that of another run: run incast view again")

    def _file(self, name: str) -> tuple[int, ...]:
        try:
            status = (self.path / f"{name}.parquet").stat()
        except OSError as error:
            place = self.place(f"{name}.parquet")
            raise FolderError(f"{place} can no longer be read: {error.strerror}") from None
        return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns

    def place(self, file: str) -> str:
        """Return the path of a file."""
        return str(self.path / file)

    def recall(self, name: str, tables: Sequence[str], bound: bytes) -> bytes | None:
        """Read a file of what was made of tables; raises ``FolderError`` if another run's have replaced them."""
        kept = remembered.recall(self.path, name, tables, bound)
        for table in tables:
            if table in self._files:
                self._same(table)
        return kept

    def remember(self, name: str, tables: Sequence[str], bound: bytes, data: bytes) -> None:
        """Write the file."""
        remembered.remember(self.path, name, tables, bound, data)


@dataclass(frozen=True)
class Made:
    """A run in memory, or a loaded one."""

    result: Result

    @property
    def lacks(self) -> IncastError:
        """Return the error about a missing timeline."""
        how = 'run the scenario with a timeline: scenario.with_({"measure.timeline": "auto"}).run()'
        return IncastError(f"this run has no timeline, which the viewer needs: {how}")

    def timeline(self) -> str | None:
        """Return the text."""
        return self.result.timeline_json

    def about(self) -> dict[str, Any]:
        """Return what scenario and summary say."""
        return about(self.result.toml, self.result.summary_json)

    def shape(self, name: str) -> Shape | None:
        """Return the shape of a table with columns; a table that a folder lacks has none."""
        table = getattr(self.result, name).arrow
        return Shape(table.num_rows, tuple(table.column_names)) if table.num_columns else None

    def table(self, name: str, columns: Sequence[str]) -> pa.Table:
        """Return columns."""
        rows: pa.Table = getattr(self.result, name).select(list(columns))
        return rows

    def place(self, file: str) -> str:
        """Return the name of a file."""
        return f"this run: {file}"

    def recall(self, name: str, tables: Sequence[str], bound: bytes) -> bytes | None:
        """Return nothing."""

    def remember(self, name: str, tables: Sequence[str], bound: bytes, data: bytes) -> None:
        """Keep nothing."""
