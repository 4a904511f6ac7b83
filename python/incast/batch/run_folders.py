"""Runs in folders: each is written when it is done, and none is made twice."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Collection

from incast.batch import runner
from incast.batch.plan import Job
from incast.batch.runner import Status
from incast.batch.shares import needs_of, shared
from incast.system.folders import new_folder
from incast.system.memory import machine_memory


def make(
    jobs: Collection[Job],
    workers: int = 0,
    show: Callable[[Status], None] = lambda _: None,
    memory_limit: float | None = None,
) -> None:
    """Make the missing runs of the jobs in parallel threads (``workers``: at most; 0: one per core).

    Runs by another build of the engine, and damaged ones, are repeated. ``KeyboardInterrupt`` stops the active runs and
    passes; finished runs stay. Runs that need more than ``memory_limit`` bytes (default: the machine's memory) are
    refused before the first starts.
    """
    limit = machine_memory() if memory_limit is None else memory_limit
    todo = [job for job in jobs if not job.is_usable()]
    for job in todo:
        if job.folder.exists():
            shutil.rmtree(job.folder)
    todo.sort(key=lambda job: job.weight, reverse=True)
    at_once, each = shared(workers, needs_of([job.scenario for job in todo], limit), limit)

    def made(job: Job) -> bytes:
        with new_folder(job.folder) as aside:
            with threads.run(str(job.folder)) as progress:
                result = job.scenario.run(progress=progress, cores=each.cores, memory_limit=each.memory)
            job.check(result)
            result.write(aside)  # finished: waited for, however long it takes
        return b""

    def named(error: BaseException, job: Job, _remark: str) -> BaseException:
        error.add_note(f"in the run {job.name}")
        return error

    threads = runner.ThreadWorkers(at_once, made)
    runner.carry_out(threads, todo, lambda *_: None, named, Status(len(jobs), len(jobs) - len(todo)), show)
