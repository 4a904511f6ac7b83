"""Status of a store: its studies, numbers of finished runs, and their cost."""

from __future__ import annotations

import contextlib
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from incast.batch.filling import progress_of
from incast.batch.store import RUNS, Store
from incast.errors import FolderError, UnsoundError
from incast.runs import soundness
from incast.study.companions import is_companion
from incast.system.output import counted
from incast.writing.numbers import duration, quantity, said

SHOWN = 5
"""Most unsound runs that are listed."""


class Damaged(FolderError):
    """A file of a store is damaged."""


@dataclass(frozen=True)
class StudyStanding:
    """A study of a store."""

    name: str
    points: int
    seeds: int
    """Largest number of seeds of a point."""
    runs: int


@dataclass(frozen=True)
class PendingStanding:
    """A pending study."""

    study: str
    made: int
    runs: int


@dataclass(frozen=True)
class Standing:
    """Content of a store."""

    store: str
    incast: str
    engine: str
    runs: int
    """Number of different runs without those of companions; studies may share some."""
    studies: list[StudyStanding]
    pending: PendingStanding | None
    cpu_s: float
    bytes: int
    tables: list[str]
    unsound: list[str]
    """Unsound runs of its studies, with the reasons."""
    damaged: list[str] | None
    """Damage of its files; ``None`` if not checked."""

    def data(self) -> dict[str, Any]:
        """Return the status as plain data."""
        return asdict(self)

    def lines(self) -> list[str]:
        """Return the status as lines of text."""
        lines = []
        for one in self.studies:
            lines.append(
                f"{one.name}: {counted(one.points, 'point')}, {counted(one.seeds, 'seed')}, {counted(one.runs, 'run')}"
            )
        if self.pending is not None:
            lines.append(
                f"{self.pending.study}: unfinished, {self.pending.made} of "
                f"{counted(self.pending.runs, 'new run')} made; the same command resumes it"
            )
        lines.append(
            f"store: {self.store}, {counted(self.runs, 'run')}, {said(quantity(self.bytes, 'B'))}, "
            f"{said(duration(self.cpu_s))} of CPU time"
        )
        lines += [f"unsound, without figures: {run}" for run in self.unsound[:SHOWN]]
        if len(self.unsound) > SHOWN:
            lines.append(f"unsound, without figures: {len(self.unsound) - SHOWN:,} more, see {soundness.COLUMN}")
        if self.damaged == []:
            lines.append("all files have their checksums")
        return lines


def _size(folder: Path) -> int:
    """Return the bytes of all files, except those removed meanwhile."""
    size = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(FileNotFoundError):
                size += Path(place, name).lstat().st_size
    return size


def of(store: Store, check: bool = False) -> Standing:
    """Read the status of a store; with ``check`` verify the checksum of every file."""
    import pyarrow.compute as pc

    head = store.head()
    studies, runs, cpu_s = [], 0, 0.0
    there = store.studies()
    hidden = [name for name in there if is_companion(store, name)]
    for name in (one for one in there if one not in hidden):
        seeds = pc.list_value_length(store.read(f"studies/{name}/points.parquet", ["seeds"])["seeds"])
        studies.append(StudyStanding(name, len(seeds), pc.max(seeds).as_py() or 0, pc.sum(seeds).as_py() or 0))
    if (store.folder / RUNS).exists():
        store.checked(RUNS)
    for name in store.chunks():
        cost = store.read(f"log/{name}.parquet", ["cpu_s"])
        runs += cost.num_rows
        cpu_s += pc.sum(cost["cpu_s"]).as_py() or 0.0
    runs -= _only_in(store, hidden)
    size = _size(store.folder)
    asked = progress_of(store)
    pending = None if asked is None else PendingStanding(*asked)
    damaged = store.damaged() if check else None
    parts = (runs, studies, pending, cpu_s, size, store.tables(), unsound_of(store), damaged)
    return Standing(str(store.folder), head["incast"], head["engine"], *parts)


def _only_in(store: Store, hidden: list[str]) -> int:
    """Return the number of different runs that only companions have."""
    if not hidden or not (store.folder / RUNS).exists():
        return 0
    rows = store.read(RUNS, ["study", "run"])
    own: dict[bool, set[str]] = {True: set(), False: set()}
    for study, run in zip(rows["study"].to_pylist(), rows["run"].to_pylist(), strict=True):
        own[study in hidden].add(run)
    return len(own[True] - own[False])


def unsound_of(store: Store, study: str | None = None) -> list[str]:
    """Return the unsound runs of a study, or of all studies, with reasons; each run once.

    Runs that belong to no study any more are ignored.
    """
    if not (store.folder / RUNS).exists() or soundness.COLUMN not in store.schema(RUNS).names:
        return []
    rows = store.read(RUNS, ["study", "run", soundness.COLUMN]).to_pylist()
    found = {row["run"]: row[soundness.COLUMN] for row in rows if study is None or row["study"] == study}
    return [f"run {run}: {why}" for run, why in found.items() if why]


def refuse_unsound(store: Store, study: str) -> None:
    """Raise ``UnsoundError`` if the study has unsound runs."""
    if found := unsound_of(store, study):
        raise UnsoundError(f"{store.folder}: {counted(len(found), 'run')} without figures; the first: {found[0]}")
