"""Workers: who makes the runs of a study. Every kind takes slices of tasks and answers with records.

A kind of workers is a class with ``count``, ``submit`` and ``close``: threads of this process, processes of this
machine, or those of another module. A worker stays for the whole study, so that a short run costs little beyond itself.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import struct
import subprocess
import sys
import threading
import traceback
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, BinaryIO, Protocol

from incast import consent, errors
from incast.errors import RunError, RunStopped
from incast.executor import ALONE, Each, Status
from incast.study.record import Task, make


class WorkerDied(RunError):
    """The process of a worker ended in the middle of a run."""


@dataclass
class Answer:
    """What became of a slice: the records of the first tasks, and why the next one has none."""

    records: list[bytes] = field(default_factory=list)
    error: BaseException | None = None


class Workers(Protocol):
    """Workers of one kind."""

    count: int
    """How many slices are worked on at once."""

    def submit(self, tasks: Sequence[Task]) -> Future[Answer]:
        """Hand a slice to a worker that is free, or will be."""

    def tell(self, status: Status) -> None:
        """Say of the runs under way how far they have come, where that is known."""

    def close(self) -> None:
        """Send the workers away; runs under way are given up."""


class Threads:
    """Threads of this process: the engine runs without the GIL."""

    def __init__(self, count: int, folder: Path, keep: Sequence[str], each: Each = ALONE) -> None:
        self.count = count
        self._place = folder, tuple(keep)
        self._each = each
        self._stop = threading.Event()
        self._pool = ThreadPoolExecutor(count, thread_name_prefix="incast-run")
        self._under_way: dict[str, tuple[float, int]] = {}
        """Part done and hops of the runs under way."""
        self._hops = 0

    def submit(self, tasks: Sequence[Task]) -> Future[Answer]:
        """Hand a slice to a thread."""
        return self._pool.submit(self._answer, list(tasks))

    def tell(self, status: Status) -> None:
        """Say how far the runs under way have come."""
        parts = list(self._under_way.items())
        status.under_way = {run: part for run, (part, _) in parts}
        status.hops = self._hops + sum(hops for _, (_, hops) in parts)

    def _made(self, task: Task) -> bytes:
        def progress(now_s: float, end_s: float, hops: int) -> bool:
            self._under_way[task.run] = now_s / end_s if end_s > 0 else 0.0, hops
            return not self._stop.is_set()

        try:
            return make(task, *self._place, progress=progress, each=self._each)
        finally:
            self._hops += self._under_way.pop(task.run, (0.0, 0))[1]

    def _answer(self, tasks: Sequence[Task]) -> Answer:
        answer = Answer()
        try:
            for task in tasks:
                if self._stop.is_set():
                    raise RunStopped("not begun")
                answer.records.append(self._made(task))
        except Exception as error:
            answer.error = error
        return answer

    def close(self) -> None:
        """Stop the runs under way."""
        self._stop.set()
        self._pool.shutdown(wait=True, cancel_futures=True)


class Processes:
    """Processes of this machine, for controllers in Python and for many short runs: these hold the GIL."""

    def __init__(self, count: int, folder: Path, keep: Sequence[str], each: Each = ALONE) -> None:
        self.count = count
        self._words = [str(folder), json.dumps(list(keep)), str(each.cores), repr(each.memory)]
        self._idle: list[subprocess.Popen[bytes]] = []
        self._all: set[subprocess.Popen[bytes]] = set()
        self._lock = threading.Lock()
        self._closed = False
        self._pool = ThreadPoolExecutor(count, thread_name_prefix="incast-worker")

    def submit(self, tasks: Sequence[Task]) -> Future[Answer]:
        """Hand a slice to a process."""
        return self._pool.submit(self._answer, list(tasks))

    def tell(self, status: Status) -> None:
        """Nothing is known before a run ends."""

    def pids(self) -> list[int]:
        """Give the processes' numbers."""
        with self._lock:
            return sorted(one.pid for one in self._all)

    def _answer(self, tasks: Sequence[Task]) -> Answer:
        answer = Answer()
        try:
            process = self._take()
        except (OSError, RunStopped) as error:
            answer.error = error
            return answer
        assert process.stdin is not None and process.stdout is not None
        try:
            words = json.dumps([asdict(task) for task in tasks]).encode()
            process.stdin.write(_SIZE.pack(b"T", len(words)) + words)
            process.stdin.flush()
            while True:
                kind, data = read_frame(process.stdout)
                if kind == b"R":
                    answer.records.append(data)
                    continue
                if kind == b"E":
                    answer.error = error_of(data)
                break
        except (OSError, EOFError):
            answer.error = self._lost(process)
            return answer
        with self._lock:
            self._idle.append(process)
        return answer

    def _take(self) -> subprocess.Popen[bytes]:
        with self._lock:
            if self._closed:
                raise RunStopped("not begun")
            if self._idle:
                return self._idle.pop()
            allowed = json.dumps(consent.granted())
            # -P: modules are not looked for in the working directory, whatever lies there
            process = subprocess.Popen(
                [sys.executable, "-P", "-m", "incast.study", str(os.getpid()), *self._words, allowed],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=os.environ | {"PYTHONPATH": os.pathsep.join(path or str(Path.cwd()) for path in sys.path)},
            )
            self._all.add(process)
            return process

    def _lost(self, process: subprocess.Popen[bytes]) -> BaseException:
        status = process.wait()
        _close_pipes(process)
        with self._lock:
            self._all.discard(process)
            if self._closed:
                return RunStopped("stopped")
        how = f"was killed by {signal.Signals(-status).name}" if status < 0 else f"ended with status {status}"
        hint = "; the system kills programs when memory is short" if status == -signal.SIGKILL else ""
        return WorkerDied(f"a worker {how}{hint}")

    def close(self) -> None:
        """End the processes; a controller that does not come back is no reason to wait."""
        with self._lock:
            self._closed = True
            for process in self._all:
                process.kill()
        self._pool.shutdown(wait=True, cancel_futures=True)
        for process in self._all:
            process.wait()
            _close_pipes(process)


def _close_pipes(process: subprocess.Popen[bytes]) -> None:
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            # what it still held goes nowhere
            with contextlib.suppress(OSError):
                pipe.close()


_SIZE = struct.Struct("<cQ")


def read_frame(file: IO[bytes]) -> tuple[bytes, bytes]:
    """Read a word of one letter and its data from a pipe; raises ``EOFError`` where the other side has gone."""
    head = file.read(_SIZE.size)
    if len(head) < _SIZE.size:
        raise EOFError
    kind, size = _SIZE.unpack(head)
    data = file.read(size)
    if len(data) < size:
        raise EOFError
    return kind, data


def write_frame(file: BinaryIO, kind: bytes, data: bytes) -> None:
    """Write a word of one letter and its data into a pipe."""
    file.write(_SIZE.pack(kind, len(data)))
    file.write(data)
    file.flush()


def error_text(error: BaseException) -> bytes:
    """Write an error so that another process can raise it."""
    told = [one for one in (str(error), errors.users_traceback(error)) if one]
    kind = type(error).__name__ if hasattr(errors, type(error).__name__) else ""
    if not kind:
        kind, told = "RunError", ["".join(traceback.format_exception(error)).rstrip()]
    return json.dumps({"kind": kind, "words": "\n".join(told)}).encode()


def error_of(data: bytes) -> BaseException:
    """Read what ``error_text`` wrote."""
    told = json.loads(data)
    error: BaseException = getattr(errors, told["kind"])(told["words"])
    return error
