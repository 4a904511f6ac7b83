"""Executor of many runs in parallel: each is saved when it is done, and none is repeated."""

from __future__ import annotations

import ctypes
import fcntl
import math
import os
import shutil
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from incast.batch.plan import Job, Plan
from incast.errors import FolderError, RunStopped
from incast.system.folders import new_folder, open_lock
from incast.system.memory import free_memory, machine_memory

PATIENCE_S = 1.0
"""Time to wait for a run to stop before the user's code in it is interrupted."""


@dataclass
class Status:
    """Progress of the runs; the workers write it, the progress bar reads it."""

    total: int = 0
    finished: int = 0
    resumed: int = 0
    hops: int = 0
    under_way: dict[str, float] = field(default_factory=dict)
    """Progress of the active runs, 0 to 1."""

    @property
    def done(self) -> float:
        """Number of runs done, with the fractions of active ones."""
        return self.finished + sum(list(self.under_way.values()))


def default_workers() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True)
class Needs:
    """Needs of a run: threads, if their number is given, and bytes."""

    threads: int | None
    memory: int


def share(workers: int, runs: Sequence[Needs], free: float) -> tuple[int, int]:
    """Return the number of parallel runs, and the number of cores for a run without a given number of threads.

    All threads together are at most ``workers``, and all memory is at most ``free`` bytes, unless one run alone exceeds
    that.
    """
    threads = max((run.threads or 1 for run in runs), default=1)
    memory = max((run.memory for run in runs), default=0)
    by_memory = free // memory if memory else workers
    at_once = int(max(1, min(workers // threads, by_memory, len(runs))))
    return at_once, max(1, workers // at_once)


@dataclass(frozen=True)
class Each:
    """Resources of each parallel run."""

    cores: int = 1
    memory: float = math.inf
    """Bytes of memory; records take a share of them."""

    @classmethod
    def of(cls, at_once: int, cores: int, limit: float, free: float) -> Each:
        """Divide the free memory, or ``limit`` bytes if less, among parallel runs."""
        return cls(cores, min(limit, free) / at_once)


ALONE = Each()
"""Resources of a run without parallel ones."""


class Executor:
    """Makes missing runs in parallel, and reports progress.

    Runs by another build of the engine, and damaged ones, are repeated. ``KeyboardInterrupt`` stops the active runs and
    passes; finished runs stay, and the next call does not repeat them. Runs that need more than ``memory_limit`` bytes
    (default: the machine's memory) are refused before the first starts.
    """

    def __init__(
        self,
        workers: int = 0,
        show: Callable[[Status], None] = lambda _: None,
        memory_limit: float | None = None,
    ) -> None:
        self.workers = workers or default_workers()
        self.show = show
        self.memory_limit = machine_memory() if memory_limit is None else memory_limit
        self.status = Status()
        self._stop = threading.Event()
        self._at_work: set[int] = set()
        self._each = ALONE

    @contextmanager
    def carrying_out(self, plan: Plan[Any]) -> Iterator[None]:
        """Run a plan's jobs; no other program can run in its folder until the end of the block.

        Raises ``FolderError`` if the folder holds something else.
        """
        plan.mark.put(plan.folder)
        with alone_in(plan.folder):
            self.run(plan.jobs.values())
            yield

    def run(self, jobs: Collection[Job]) -> None:
        """Make the missing runs of the jobs."""
        self.status.total += len(jobs)
        todo = []
        for job in jobs:
            if job.is_usable():
                self.status.finished += 1
                self.status.resumed += 1
            else:
                if job.folder.exists():
                    shutil.rmtree(job.folder)
                todo.append(job)
        todo.sort(key=lambda job: job.weight, reverse=True)
        self._run_all(todo)
        self.show(self.status)

    def _run_all(self, todo: Collection[Job]) -> None:
        free = free_memory()
        at_once, cores = share(self.workers, _needs(todo, self.memory_limit), free)
        self._each = Each.of(at_once, cores, self.memory_limit, free)
        pool = ThreadPoolExecutor(at_once, thread_name_prefix="incast-run")
        try:
            futures: dict[Future[None], Job] = {pool.submit(self._run, job): job for job in todo}
            pending = set(futures)
            while pending:
                # the timeout lets Ctrl-C through
                done, pending = wait(pending, timeout=0.2, return_when=FIRST_COMPLETED)
                self.show(self.status)
                for future in done:
                    _raise_named(future, futures[future])
        finally:
            self._stop.set()
            pool.shutdown(wait=False, cancel_futures=True)
            self._wait_for_runs()
            pool.shutdown(wait=True)
            self.status.under_way.clear()
            self._stop.clear()

    def _run(self, job: Job) -> None:
        status, name = self.status, str(job.folder)
        hops_before = 0

        def progress(now_s: float, end_s: float, hops: int) -> bool:
            nonlocal hops_before
            status.under_way[name] = now_s / end_s if end_s > 0 else 0.0
            status.hops += hops - hops_before
            hops_before = hops
            return not self._stop.is_set()

        with new_folder(job.folder) as aside:
            self._at_work.add(threading.get_ident())
            try:
                if self._stop.is_set():
                    raise RunStopped("not begun")
                result = job.scenario.run(progress=progress, cores=self._each.cores, memory_limit=self._each.memory)
            finally:
                self._at_work.discard(threading.get_ident())
            job.check(result)
            # finished: wait for the writing, however long it takes
            result.write(aside)
        status.hops += result.summary["run"]["hops"] - hops_before
        status.under_way.pop(name, None)
        status.finished += 1

    def _wait_for_runs(self) -> None:
        """Wait until no thread is in a run; interrupt a thread that does not stop: it is in a user's controller."""
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


@contextmanager
def alone_in(folder: Path, deep: bool = True) -> Iterator[None]:
    """Lock the folder against other programs, and remove leftovers of killed ones.

    Without ``deep``, subfolders with their own locks are left alone.
    """
    try:
        lock = open_lock(folder / ".lock")
    except OSError as error:
        raise FolderError(f"cannot write results to {folder}: {error.strerror}") from None
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise FolderError(f"{folder} is in use: another program is running there") from None
        for stale in (folder.rglob if deep else folder.glob)(".*.partial-*"):
            if stale.is_dir():
                shutil.rmtree(stale, ignore_errors=True)
            else:
                stale.unlink(missing_ok=True)
        yield


def _needs(jobs: Collection[Job], memory_limit: float) -> list[Needs]:
    """Return the needs of the jobs; runs that differ only in the seed need the same.

    Raises ``ScenarioError`` for a run that needs more than ``memory_limit`` bytes.
    """
    known: dict[tuple[str, int | None], Needs] = {}
    needs = []
    for job in jobs:
        scenario = job.scenario
        # the hash does not cover threads
        key = (scenario.hash, scenario.threads)
        if key not in known:
            needed = scenario.refuse_above(memory_limit, f"a run of {scenario.name}")
            known[key] = Needs(scenario.threads, needed)
        needs.append(known[key])
    return needs


def _raise_named(future: Future[None], job: Job) -> None:
    """Raise a run's error with a note that names the run."""
    error = future.exception()
    if error is not None:
        error.add_note(f"in the run {job.name}")
        raise error
