"""Workers on a Ray cluster (needs ``incast[ray]``, and the same build of Incast on every machine).

A worker is a long-lived actor with copies of the store's files, so machines need no shared disk. Records return through
Ray, and only this program writes the store. If a machine is lost, its slice is assigned again, and a new actor starts
where the cluster has room.
"""

from __future__ import annotations

import json
import logging
import math
import os
import tempfile
import threading
import time
import warnings
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from incast.batch.record import Task, make
from incast.batch.runner import Answer, PoolWorkers, WorkerDied
from incast.batch.shares import Each
from incast.batch.store import read_copies
from incast.batch.workers import Hire, error_of, error_text
from incast.errors import RunError, RunStopped, StudyError
from incast.external import consent
from incast.runs.named_files import FILES
from incast.runs.run_folder import engine_digest
from incast.system.memory import free_memory

PATIENCE_S = 60.0
"""Longest time without room for a single worker."""
STARTS = 3
"""Attempts to begin a session by Ray Client."""
DIED = ("Starting Ray client server failed", "ZombieProcess")
"""Words of Ray Client where the process that its server forks for a session died at once (seen with Ray 2.60)."""


def hire_at(on: str, workers: int) -> Hire:
    """Make workers of the cluster in ``--on``: ``ray`` (this machine), ``ray:HOST:PORT``, ``ray://...``.

    Raises ``StudyError`` if Ray is not installed or the cluster does not answer.
    """
    ray = _ray()
    address = "auto" if on == "ray" else on if on.startswith("ray://") else on.removeprefix("ray:")
    for left in reversed(range(STARTS)):
        try:
            # Ray Client also warns about the error
            with warnings.catch_warnings(action="ignore"):
                ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR, ignore_reinit_error=True)
            break
        except (ConnectionError, ValueError, RuntimeError, OSError) as error:
            # Ray Client passes the traceback of its server: the last line has the reason
            why = (str(error).strip().splitlines() or [type(error).__name__])[-1]
            if not left or not any(words in why for words in DIED):
                raise StudyError(f"--on {on}: no Ray cluster answers: {why}") from None
    cpus = int(ray.cluster_resources().get("CPU", 1))

    def hired(_here: int, folder: Path, keep: Sequence[str], _each: Each) -> Rays:
        # cores and memory of this machine do not apply to the cluster: a worker there has one core
        return Rays(workers or max(cpus, 1), folder, keep)

    return hired


def _ray() -> Any:
    try:
        import ray
    except ImportError:
        raise StudyError('--on ray needs Ray: install it with pip install "incast[ray]"') from None
    return ray


class Worker:
    """Actor that makes runs."""

    def __init__(self, files: dict[str, bytes], keep: Sequence[str], allowed: Sequence[str]) -> None:
        consent.inherit(allowed)
        self._place = tempfile.TemporaryDirectory(prefix="incast-")
        self._folder = Path(self._place.name)
        for name, data in files.items():
            path = self._folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        self._keep = tuple(keep)
        # other workers of the cluster may be on this machine, at most one per core
        self._each = Each.of(os.cpu_count() or 1, 1, math.inf, free_memory())

    def build(self) -> str:
        """Return the build of the engine."""
        return engine_digest()

    def answer(self, words: str) -> tuple[list[bytes], bytes | None]:
        """Make a slice: the records, and the error of the next one."""
        records: list[bytes] = []
        try:
            for task in json.loads(words):
                records.append(make(Task(**task), self._folder, self._keep, each=self._each))
        except Exception as error:
            return records, error_text(error)
        return records, None


class Rays(PoolWorkers[Task]):
    """Actors of a Ray cluster."""

    def __init__(self, count: int, folder: Path, keep: Sequence[str]) -> None:
        super().__init__(count)
        ray = _ray()
        self._ray = ray
        files = {f"{FILES}/{name}": data for name, data in read_copies(folder / FILES)}
        self._files, self._keep = ray.put(files), tuple(keep)
        self._kind = ray.remote(num_cpus=1, max_restarts=0)(Worker)
        self._idle: list[Any] = []
        self._there = 0
        self._change = threading.Condition()
        self._closed = False

    def _answer(self, tasks: Sequence[Task]) -> Answer:
        try:
            actor = self._take()
        except (RunError, RunStopped, StudyError) as error:
            return Answer([], error)
        try:
            words = json.dumps([asdict(task) for task in tasks])
            records, failure = self._ray.get(actor.answer.remote(words))
        except self._ray.exceptions.RayError as lost:
            self._gone()
            reason = " ".join(str(lost).split())
            return Answer([], RunStopped("stopped") if self._closed else WorkerDied(f"a Ray worker was lost: {reason}"))
        with self._change:
            self._idle.append(actor)
            self._change.notify()
        return Answer(records, None if failure is None else error_of(failure))

    def _take(self) -> Any:
        """Take a free actor, or make one where the cluster has room."""
        since = time.monotonic()
        while True:
            with self._change:
                if self._closed:
                    raise RunStopped("not begun")
                if self._idle:
                    return self._idle.pop()
                room = self._there < self.count and self._ray.available_resources().get("CPU", 0) >= 1
                if not room:
                    if self._there == 0 and time.monotonic() - since > PATIENCE_S:
                        raise RunError(f"the Ray cluster has had no room for a worker for {PATIENCE_S:g} s")
                    if self._there > 0:
                        since = time.monotonic()
                    self._change.wait(0.2)
                    continue
                self._there += 1
            actor = self._made()
            if actor is not None:
                return actor

    def _made(self) -> Any:
        actor = self._kind.remote(self._files, self._keep, consent.granted())
        try:
            build = self._ray.get(actor.build.remote(), timeout=PATIENCE_S)
        except (self._ray.exceptions.RayError, self._ray.exceptions.GetTimeoutError):
            self._ray.kill(actor)
            self._gone()
            return None
        if build != engine_digest():
            self._gone()
            raise StudyError(
                f"a Ray worker has another build of the engine ({build}, here {engine_digest()}): "
                "install the same wheel of incast on every machine"
            )
        return actor

    def _gone(self) -> None:
        with self._change:
            self._there -= 1
            self._change.notify()

    def close(self) -> None:
        """Stop the actors and disconnect from the cluster."""
        with self._change:
            self._closed = True
            self._change.notify_all()
        self._ray.shutdown()
        self._pool.shutdown(wait=True, cancel_futures=True)
