"""Filling of a store: the runs of its pending batch that are missing are made, and written in chunks.

Workers return records, which go into a journal first. A chunk is written when its last run is there.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from incast import controllers
from incast.batch import runner
from incast.batch.chunks import write_chunk
from incast.batch.journal import Journal
from incast.batch.record import Task, run_of
from incast.batch.runner import Status, WorkerDied, Workers
from incast.batch.shares import needs_of, shared
from incast.batch.store import PENDING, Store
from incast.batch.workers import Hire, Processes, Threads
from incast.errors import FolderError, RunError, RunStopped, users_traceback
from incast.runs.named_files import kinds_in

if TYPE_CHECKING:
    import pyarrow as pa

MANY = 50
"""Runs per worker from which processes replace threads: threads block each other in short runs, and a process takes
half a second to start."""
SAMPLED = 64
"""Number of scenarios whose memory is estimated before a batch."""


def sampled(texts: Sequence[tuple[str, str]]) -> Sequence[tuple[str, str]]:
    """Return some of many scenarios, evenly chosen."""
    return texts[:: max(1, len(texts) // SAMPLED)]


def listed(tasks: Sequence[Task], chunks: Sequence[int]) -> pa.Table:
    """Return the table of runs to make: each with the number of its chunk and its scenario."""
    import pyarrow as pa

    return pa.table(
        {
            "run": pa.array([task.run for task in tasks], pa.string()),
            "seed": pa.array([task.seed for task in tasks], pa.int64()),
            "chunk": pa.array(chunks, pa.int64()),
            "name": pa.array([task.name for task in tasks], pa.string()),
            "toml": pa.array([task.toml for task in tasks], pa.large_string()).dictionary_encode(),
        }
    )


def numbers(name: str) -> tuple[int, int]:
    """Read the name of a chunk: number of the batch, and place in it."""
    number, _, place = name.partition("-")
    return int(number), int(place)


def journalled(store: Store) -> dict[str, tuple[Journal, int]]:
    """Find the finished runs that are not yet in a chunk."""
    place = store.folder / "journal"
    journals = [Journal(path) for path in sorted(place.glob("*.bin"))] if place.exists() else []
    return {run: (journal, place) for journal in journals for run, place in journal.runs()}


def drop_journals(store: Store) -> None:
    """Remove the journals of a store: all of their runs are in chunks, or no longer wanted."""
    shutil.rmtree(store.folder / "journal", ignore_errors=True)


def progress_of(store: Store) -> tuple[str, int, int] | None:
    """Return the pending study with the numbers of finished and of all its new runs; ``None`` without one."""
    pending = store.pending()
    if pending is None:
        return None
    try:
        batch = Batch.of(store)
    except FolderError:
        if store.pending() is None:  # finished meanwhile by another program
            return None
        raise
    return pending.study, len(batch.done), len(batch.runs)


class Batch:
    """Runs to make: the missing ones, and complete chunks."""

    def __init__(
        self,
        store: Store,
        listed: pa.Table,
        made: dict[str, tuple[Journal, int]],
        number: int,
        keep: Sequence[str] = (),
        anew: bool = False,
    ) -> None:
        """Read the state; ``keep`` are tables to keep. With ``anew`` existing chunks are written again."""
        self.store, self.listed, self.made, self.number, self.keep = store, listed, made, number, keep
        self.runs = listed["run"].to_pylist()
        self._chunk_of = dict(zip(self.runs, listed["chunk"].to_pylist(), strict=True))
        there = {chunk for own, chunk in map(numbers, store.chunks()) if own == number and not anew}
        self.done = {run for run, chunk in self._chunk_of.items() if chunk in there or run in made}
        self.open: dict[int, int] = {}
        """Missing runs of unwritten chunks."""
        for run, chunk in self._chunk_of.items():
            if chunk not in there:
                self.open[chunk] = self.open.get(chunk, 0) + (run not in self.done)

    @classmethod
    def of(cls, store: Store, all_of: bool = False) -> Batch:
        """Read the pending batch of a store; with ``all_of`` journals are ignored."""
        pending = store.pending()
        assert pending is not None, "called with a pending study"
        made = {} if all_of else journalled(store)
        return cls(store, store.read(f"{PENDING}/batch.parquet"), made, pending.number, pending.keep)

    def tasks(self) -> list[Task]:
        """Return the runs to make."""
        names, seeds, tomls = (self.listed[name].to_pylist() for name in ("name", "seed", "toml"))
        rows = zip(self.runs, tomls, names, seeds, strict=True)
        return [Task(*row) for row in rows if row[0] not in self.done]

    def write_finished(self) -> None:
        """Write the complete chunks."""
        for chunk in [chunk for chunk, missing in self.open.items() if missing == 0]:
            names = [run for run, own in self._chunk_of.items() if own == chunk]
            write_chunk(self.store, f"{self.number:04d}-{chunk:04d}", names, self.made)
            del self.open[chunk]

    def fill(self, workers: int, hire: Hire | None, show: Callable[[Status], None], memory_limit: float) -> None:
        """Make the missing runs, and write their chunks."""
        journal = Journal(self.store.folder / "journal" / "main.bin")
        list(journal.runs())
        status = Status(len(self.runs), len(self.done))

        def took(task: Task, record: bytes) -> None:
            self.made[task.run] = journal, journal.append(record)
            self.done.add(task.run)
            chunk = self._chunk_of[task.run]
            self.open[chunk] -= 1
            if self.open[chunk] == 0:
                self.write_finished()

        if tasks := self.tasks():
            hired = self._hired(tasks, workers, hire, memory_limit)
            try:
                runner.carry_out(hired, tasks, took, self._named, status, show)
            finally:
                journal.close()
        else:
            show(status)
        self.write_finished()

    def _hired(self, tasks: list[Task], workers: int, hire: Hire | None, memory_limit: float) -> Workers[Task]:
        """Create as many workers as cores and memory allow: threads, or processes for many runs or Python controllers.

        If all scenarios were checked, ``tasks`` is sorted by memory, largest first, so that no core waits for the
        longest run at the end.
        """
        texts = list(dict.fromkeys((task.toml, task.name) for task in tasks))
        some = sampled(texts)
        needs = needs_of((run_of(toml, self.store.folder, name) for toml, name in some), memory_limit)
        if len(some) == len(texts):
            weight = {text: need.memory for text, need in zip(texts, needs, strict=True)}
            tasks.sort(key=lambda task: weight[task.toml, task.name], reverse=True)
        needs *= max(1, -(-len(tasks) // len(needs)))
        at_once, each = shared(workers, needs[: max(len(tasks), len(some))], memory_limit)
        if hire is None:
            names = {kind for toml, _ in texts for kind in kinds_in(toml) if ":" in kind}
            # a class typed in is only known to this process
            typed = any(controllers.registered(name) for name in names)
            many = at_once > 1 and len(tasks) >= MANY * at_once
            hire = Processes if (names or many) and not typed else Threads
        return hire(at_once, self.store.folder, self.keep, each)

    def _named(self, error: BaseException, task: Task, remark: str) -> BaseException:
        """Name the run of an error, with the user's file names instead of those of copies."""
        if isinstance(error, RunError) and not isinstance(error, (RunStopped, WorkerDied)):
            words = "\n".join(one for one in (str(error), users_traceback(error)) if one)
            message = self.store.in_words_of_user(words)
            error = error if message == words else type(error)(message)
        if not isinstance(error, RunStopped):
            error.add_note(f"in the run {task.run}: {task.name}, seed {task.seed}{remark}; finished runs are kept")
        return error
