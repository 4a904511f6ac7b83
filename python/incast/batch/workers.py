"""Workers that make the runs of a store: threads of this process, and processes of this machine."""

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
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import IO, BinaryIO

from incast import errors
from incast.batch.record import Task, make
from incast.batch.runner import Answer, PoolWorkers, ThreadWorkers, WorkerDied, Workers
from incast.batch.shares import ALONE, Each
from incast.errors import RunStopped
from incast.external import consent

Hire = Callable[[int, Path, Sequence[str], Each], Workers[Task]]
"""Factory of workers: number, folder of the store, tables to keep, resources of a run."""


class Threads(ThreadWorkers[Task]):
    """Threads of this process that make runs of a store."""

    def __init__(self, count: int, folder: Path, keep: Sequence[str], each: Each = ALONE) -> None:
        def made(task: Task) -> bytes:
            with self.run(task.run) as progress:
                return make(task, folder, keep, progress, each)

        super().__init__(count, made)


class Processes(PoolWorkers[Task]):
    """Processes of this machine, for Python controllers and many short runs, which hold the GIL."""

    def __init__(self, count: int, folder: Path, keep: Sequence[str], each: Each = ALONE) -> None:
        super().__init__(count)
        self._words = [str(folder), json.dumps(list(keep)), str(each.cores), repr(each.memory)]
        self._idle: list[subprocess.Popen[bytes]] = []
        self._all: set[subprocess.Popen[bytes]] = set()
        self._lock = threading.Lock()
        self._closed = False

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
            # -P: do not import modules from the working directory
            process = subprocess.Popen(
                [sys.executable, "-P", "-m", "incast.batch", str(os.getpid()), *self._words, allowed],
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
        """End the processes, without waiting for a controller that hangs."""
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
            # buffered data is dropped
            with contextlib.suppress(OSError):
                pipe.close()


_SIZE = struct.Struct("<cQ")


def read_frame(file: IO[bytes]) -> tuple[bytes, bytes]:
    """Read a frame (one letter and data) from a pipe; raises ``EOFError`` if the other side is gone."""
    head = file.read(_SIZE.size)
    if len(head) < _SIZE.size:
        raise EOFError
    kind, size = _SIZE.unpack(head)
    data = file.read(size)
    if len(data) < size:
        raise EOFError
    return kind, data


def write_frame(file: BinaryIO, kind: bytes, data: bytes) -> None:
    """Write a frame (one letter and data) into a pipe."""
    file.write(_SIZE.pack(kind, len(data)))
    file.write(data)
    file.flush()


def error_text(error: BaseException) -> bytes:
    """Serialise an error for another process."""
    texts = [one for one in (str(error), errors.users_traceback(error)) if one]
    kind = type(error).__name__ if hasattr(errors, type(error).__name__) else ""
    if not kind:
        kind, texts = "RunError", ["".join(traceback.format_exception(error)).rstrip()]
    return json.dumps({"kind": kind, "words": "\n".join(texts)}).encode()


def error_of(data: bytes) -> BaseException:
    """Read the error of ``error_text``."""
    content = json.loads(data)
    error: BaseException = getattr(errors, content["kind"])(content["words"])
    return error
