"""The runner: tasks go in slices to workers until all are done.

Studies, papers, tuning and comparisons with other simulators run here. A task and its record mean something to the
caller alone. The caller keeps what is done, and after a kill gives the tasks again that are missing.
"""

from __future__ import annotations

import ctypes
import threading
import time
from abc import ABC, abstractmethod
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Protocol, TypeVar

from incast.errors import RunError, RunStopped
from incast.runs.scenario import Progress

PATIENCE_S = 1.0
"""Time to wait for a run to stop before the user's code in it is interrupted."""
SLICE_S = 0.25
"""Duration of a slice of work, the most that a killed program loses unless one run is longer."""
TRIES = 3
"""Number of tries before a run is blamed for the death of its worker."""

Task = TypeVar("Task")
Given = TypeVar("Given", contravariant=True)


@dataclass
class Status:
    """Progress of the runs; the workers write it, the progress bar reads it."""

    total: int = 0
    finished: int = 0
    hops: int = 0
    under_way: dict[str, float] = field(default_factory=dict)
    """Progress of the active runs, 0 to 1."""
    what: str = "runs"
    """Name of the runs, for a batch with several phases."""

    @property
    def done(self) -> float:
        """Number of runs done, with the fractions of active ones."""
        return self.finished + sum(list(self.under_way.values()))


def phase(options: Mapping[str, Any], what: str) -> dict[str, Any]:
    """Return the options of a batch whose progress is shown under a name of its own."""
    show = options.get("show")
    return dict(options) | ({"show": lambda status: show(replace(status, what=what))} if show else {})


class WorkerDied(RunError):
    """A worker process ended in the middle of a run."""


@dataclass
class Answer:
    """Result of a slice: the records of the first tasks, and the error of the next one."""

    records: list[bytes] = field(default_factory=list)
    error: BaseException | None = None


class Workers(Protocol[Given]):
    """Workers of one kind: threads of this process, processes of this machine, or those of another module.

    A worker stays for the whole batch, so that a short run has little overhead.
    """

    count: int
    """Number of slices in parallel."""

    def submit(self, tasks: Sequence[Given]) -> Future[Answer]:
        """Assign a slice to the next free worker."""

    def tell(self, status: Status) -> None:
        """Update the progress of active runs, if known."""

    def close(self) -> None:
        """Stop the workers; active runs are aborted."""


class PoolWorkers(ABC, Generic[Task]):
    """Workers behind a pool of threads of this process, one per slice under way."""

    def __init__(self, count: int) -> None:
        self.count = count
        self._pool = ThreadPoolExecutor(count, thread_name_prefix="incast-run")

    def submit(self, tasks: Sequence[Task]) -> Future[Answer]:
        """Assign a slice to a thread."""
        return self._pool.submit(self._answer, list(tasks))

    def tell(self, status: Status) -> None:
        """Do nothing: progress within a run is unknown."""

    @abstractmethod
    def _answer(self, tasks: Sequence[Task]) -> Answer:
        """Carry out a slice."""


class ThreadWorkers(PoolWorkers[Task]):
    """Threads of this process; the engine runs without the GIL."""

    def __init__(self, count: int, make: Callable[[Task], bytes]) -> None:
        """``make`` makes the record of a task, its runs in blocks of ``run``."""
        super().__init__(count)
        self._make = make
        self._stop = threading.Event()
        self._at_work: set[int] = set()
        self._under_way: dict[str, tuple[float, int]] = {}
        """Progress and hops of active runs."""
        self._hops = 0

    def tell(self, status: Status) -> None:
        """Update the progress of active runs."""
        parts = list(self._under_way.items())
        status.under_way = {run: part for run, (part, _) in parts}
        status.hops = self._hops + sum(hops for _, (_, hops) in parts)

    @contextmanager
    def run(self, name: str) -> Iterator[Progress]:
        """Yield the progress callback of a run. A thread that does not stop is interrupted in this block alone."""

        def progress(now_s: float, end_s: float, hops: int) -> bool:
            self._under_way[name] = now_s / end_s if end_s > 0 else 0.0, hops
            return not self._stop.is_set()

        self._at_work.add(threading.get_ident())
        try:
            if self._stop.is_set():
                raise RunStopped("not begun")
            yield progress
        finally:
            self._at_work.discard(threading.get_ident())
            self._hops += self._under_way.pop(name, (0.0, 0))[1]

    def _answer(self, tasks: Sequence[Task]) -> Answer:
        answer = Answer()
        try:
            for task in tasks:
                if self._stop.is_set():
                    raise RunStopped("not begun")
                answer.records.append(self._make(task))
        except Exception as error:
            answer.error = error
        return answer

    def close(self) -> None:
        """Stop the active runs; a thread that does not stop is in a user's controller, and is interrupted."""
        self._stop.set()
        self._pool.shutdown(wait=False, cancel_futures=True)
        patience = time.monotonic() + PATIENCE_S
        while self._at_work:
            try:
                time.sleep(0.02)
                if time.monotonic() > patience:
                    for thread in tuple(self._at_work):
                        ctypes.pythonapi.PyThreadState_SetAsyncExc(
                            ctypes.c_ulong(thread), ctypes.py_object(KeyboardInterrupt)
                        )
                    patience = time.monotonic() + PATIENCE_S
            except KeyboardInterrupt:
                pass  # already stopping
        self._pool.shutdown(wait=True)


def carry_out(
    workers: Workers[Task],
    tasks: Iterable[Task],
    took: Callable[[Task, bytes], None],
    named: Callable[[BaseException, Task, str], BaseException],
    status: Status,
    show: Callable[[Status], None],
) -> None:
    """Give the tasks to the workers until all are done, and close the workers.

    ``took`` keeps a record. ``named`` names the task of an error, with a remark. A slice whose worker died is given
    again, its first task alone.
    """
    pending: dict[Future[Answer], list[Task]] = {}
    todo = deque(tasks)
    tries: Counter[Task] = Counter()
    began, finished_before = time.monotonic(), status.finished
    alone: deque[Task] = deque()
    """Tasks whose worker died: each becomes a separate slice."""
    try:
        while todo or alone or pending:
            while (todo or alone) and len(pending) < workers.count + 1:
                size = 1 if alone else _slice_size(status.finished - finished_before, began, workers.count, len(todo))
                source = alone or todo
                dealt = [source.popleft() for _ in range(min(size, len(source)))]
                pending[workers.submit(dealt)] = dealt
            # the timeout lets Ctrl-C through
            done, _ = wait(pending, timeout=0.2, return_when=FIRST_COMPLETED)
            failed: list[tuple[BaseException, Task]] = []
            for future in done:
                dealt = pending.pop(future)
                answer = future.result()
                for task, record in zip(dealt, answer.records, strict=False):
                    took(task, record)
                    status.finished += 1
                rest = dealt[len(answer.records) :]
                if answer.error is not None and rest:
                    failed.append((answer.error, rest[0]))
                    alone.append(rest[0])
                    todo.extendleft(reversed(rest[1:]))
            for error, task in failed:  # after the records are kept
                tries[task] += 1
                died = isinstance(error, WorkerDied)
                if not died or tries[task] == TRIES:
                    raise named(error, task, f"; it was tried {TRIES} times" if died else "")
            workers.tell(status)
            show(status)
    finally:
        workers.close()
        status.under_way.clear()
    show(status)


def _slice_size(finished: int, began: float, workers: int, left: int) -> int:
    """Return the size of a slice: a moment of work, and less at the end, so that no worker waits for another."""
    if finished == 0:
        return 1
    each = (time.monotonic() - began) * workers / finished
    return max(1, min(int(SLICE_S / max(each, 1e-6)), left // (2 * workers)))
