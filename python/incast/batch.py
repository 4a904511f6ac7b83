"""Many runs side by side on the cores at hand, each saved when it is done, none repeated."""

from __future__ import annotations

import ctypes
import fcntl
import os
import re
import shutil
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from incast.errors import FolderError, RunStopped, StudyError
from incast.result import Result, engine_digest, new_folder, read_manifest
from incast.scenario import Scenario

MOST_RUNS = 100_000
"""Runs of one batch; at a tenth of a second each these are hours, so that more are a slip."""

PATIENCE_S = 1.0
"""How long a run that is to stop is waited for before the user's code in it is interrupted."""


@dataclass(frozen=True)
class Job:
    """A run to make: what it is called in messages, and the folder of its own that it shall fill."""

    name: str
    scenario: Scenario
    folder: Path
    weight: float = 0.0
    """Heavy runs begin first, so that no core waits for the last one at the end."""
    check: Callable[[Result], None] = lambda _: None
    """Refuses what came out, before it is saved: then nothing more is run."""


@dataclass
class Status:
    """How far a batch has come; changed by the workers, read by whoever shows it."""

    total: int
    finished: int = 0
    resumed: int = 0
    hops: int = 0
    under_way: dict[str, float] = field(default_factory=dict)
    """Part done of the runs under way, 0 to 1."""

    @property
    def done(self) -> float:
        """Runs done, in parts of runs."""
        return self.finished + sum(list(self.under_way.values()))


def refuse_too_many(seeds: int, points: int, what: str) -> None:
    """Raise ``StudyError`` where so many seeds of so many points, called ``what``, are more runs than anybody means."""
    if seeds * points > MOST_RUNS:
        raise StudyError(
            f"{seeds:,} seeds of {points:,} {what} are {seeds * points:,} runs: expected at most {MOST_RUNS:,}"
        )


def default_workers() -> int:
    """One thread for every core this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Keep a second program out of the folder while this one runs, and clear what a killed one left."""
    try:
        lock = (folder / ".lock").open("w")
    except OSError as error:
        raise FolderError(f"cannot write results to {folder}: {error.strerror}") from None
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise FolderError(f"{folder} is in use: another program is running there") from None
        for stale in folder.rglob(".*.partial-*"):
            shutil.rmtree(stale, ignore_errors=True)
        yield


def slug(text: str) -> str:
    """Write a name so that it can be a folder's."""
    return re.sub(r"[^A-Za-z0-9.+-]+", "-", text).strip("-.") or "x"


def finished(folder: Path, scenario: Scenario) -> bool:
    """Whether the folder holds this run, made by this build of the engine."""
    if not folder.exists():
        return False
    manifest = read_manifest(folder)
    wanted = (scenario.hash, scenario.seed, engine_digest())
    return (manifest["hash"], manifest["seed"], manifest["engine"]) == wanted


def _usable(job: Job) -> bool:
    """Whether the run need not be made; one that is damaged is made anew."""
    try:
        if not finished(job.folder, job.scenario):
            return False
        Result.load(job.folder, whole=True)
    except FolderError:
        return False
    return True


def run_all(jobs: Iterable[Job], workers: int, status: Status, show: Callable[[Status], None]) -> None:
    """Make the runs that are not there yet; those of another build of the engine, and damaged ones, are made anew.

    ``KeyboardInterrupt`` stops the runs under way and passes; what is finished stays.
    """
    todo = []
    for job in jobs:
        if _usable(job):
            status.finished += 1
            status.resumed += 1
        else:
            if job.folder.exists():
                shutil.rmtree(job.folder)
            todo.append(job)
    todo.sort(key=lambda job: job.weight, reverse=True)
    stop = threading.Event()
    at_work: set[int] = set()

    def one(job: Job) -> None:
        name = str(job.folder)
        hops_before = 0

        def progress(now_s: float, end_s: float, hops: int) -> bool:
            nonlocal hops_before
            status.under_way[name] = now_s / end_s if end_s > 0 else 0.0
            status.hops += hops - hops_before
            hops_before = hops
            return not stop.is_set()

        with new_folder(job.folder) as aside:
            at_work.add(threading.get_ident())
            try:
                if stop.is_set():
                    raise RunStopped("not begun")
                result = job.scenario.run(progress=progress)
            finally:
                at_work.discard(threading.get_ident())
            job.check(result)
            # Finished: however long it takes to write, it is waited for.
            result.write(aside)
        status.hops += result.summary["run"]["hops"] - hops_before
        status.under_way.pop(name, None)
        status.finished += 1

    pool = ThreadPoolExecutor(max(1, workers), thread_name_prefix="incast-run")
    try:
        futures: dict[Future[None], Job] = {pool.submit(one, job): job for job in todo}
        pending = set(futures)
        while pending:
            # Waking up now and then lets Ctrl-C through.
            done, pending = wait(pending, timeout=0.2, return_when=FIRST_COMPLETED)
            show(status)
            for future in done:
                _raise_named(future, futures[future])
    finally:
        stop.set()
        pool.shutdown(wait=False, cancel_futures=True)
        _wait_for(at_work)
        pool.shutdown(wait=True)
        status.under_way.clear()


def _wait_for(at_work: set[int]) -> None:
    """Wait until no thread is in a run; one that does not stop is in a user's controller, and is interrupted there."""
    patience = time.monotonic() + PATIENCE_S
    while at_work:
        try:
            time.sleep(0.02)
            if time.monotonic() > patience:
                for thread in tuple(at_work):
                    ctypes.pythonapi.PyThreadState_SetAsyncExc(
                        ctypes.c_ulong(thread), ctypes.py_object(KeyboardInterrupt)
                    )
                patience = time.monotonic() + PATIENCE_S
        except KeyboardInterrupt:
            pass  # it is what we are about


def _raise_named(future: Future[None], job: Job) -> None:
    """Say which run failed."""
    error = future.exception()
    if error is not None:
        error.add_note(f"in the run {job.name}")
        raise error
