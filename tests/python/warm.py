"""Commands without the start of an interpreter: forks of a process that has loaded what the program loads.

A command is a process of its own here too, with its folder, its exit status and what it prints. Only the time in which
Python, Arrow and Matplotlib are loaded is not taken each time: up to a second of CPU time, in hundreds of
commands.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import runpy
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from incast import cli

LOADED = (
    "incast.commands.exits", "incast.report", "incast.pictures", "incast.study.api", "incast.papers.page",
    "pyarrow.parquet", "matplotlib.backends.backend_agg",
)  # fmt: skip
LATER = {"tune": ("incast.tuning.outcome",), "sensitivity": ("incast.tuning.sensitivity",)}
"""What some commands load beside: when the first of them comes."""
LOOKS_EVERY_S = 0.002


@dataclass
class Warm:
    """A process that carries out one command after another."""

    process: subprocess.Popen[str]

    @classmethod
    def start(cls, env: Mapping[str, str]) -> Warm:
        """Start it."""
        words = [sys.executable, __file__]
        # threads do not outlive a fork; the program draws as this before it loads Matplotlib
        env = {**env, "OPENBLAS_NUM_THREADS": "1", "MPLBACKEND": "agg"}
        return cls(subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env))

    def run(
        self, words: Sequence[str], cwd: Path, env: Mapping[str, str], timeout: float
    ) -> subprocess.CompletedProcess[str]:
        """Carry out ``incast`` with these words; raises ``TimeoutExpired``, as ``subprocess.run`` does."""
        assert self.process.stdin is not None and self.process.stdout is not None
        with tempfile.TemporaryDirectory() as place:
            out, err = Path(place) / "out", Path(place) / "err"
            places = {"cwd": str(cwd), "out": str(out), "err": str(err)}
            asked = {"words": list(words), "env": dict(env), "timeout": timeout, **places}
            self.process.stdin.write(json.dumps(asked) + "\n")
            self.process.stdin.flush()
            status = json.loads(self.process.stdout.readline())
            if status is None:
                raise subprocess.TimeoutExpired(["incast", *words], timeout)
            return subprocess.CompletedProcess(["incast", *words], status, out.read_text(), err.read_text())

    def end(self) -> None:
        """End the process."""
        self.process.communicate()


def serve() -> None:
    """Carry out the commands that come, a line each; a fork of this process returns, and is the command."""
    for name in LOADED:
        importlib.import_module(name)
    cli.program()  # loads every command
    for line in sys.stdin:
        asked = json.loads(line)
        for name in LATER.get(next(iter(asked["words"]), ""), ()):
            importlib.import_module(name)
        gc.freeze()  # or the fork's collector writes to, and so copies, all that was loaded
        child = os.fork()
        if child == 0:
            _become(asked)
            return
        print(json.dumps(_awaited(child, asked["timeout"])), flush=True)
    os._exit(0)


def _become(asked: Mapping[str, Any]) -> None:
    """Make this process the command's."""
    writing = os.O_WRONLY | os.O_CREAT
    for number, path, mode in ((0, os.devnull, os.O_RDONLY), (1, asked["out"], writing), (2, asked["err"], writing)):
        file = os.open(path, mode, 0o600)
        os.dup2(file, number)
        os.close(file)
    sys.stdin = open(0, closefd=False)  # noqa: SIM115 -- the lines that were read ahead are not the command's
    os.environ.clear()
    os.environ.update(asked["env"])
    os.chdir(asked["cwd"])
    sys.path[0] = asked["cwd"]  # as python -m has it
    sys.argv[1:] = asked["words"]


def _awaited(child: int, timeout: float) -> int | None:
    """Wait for a command: its exit status, as ``subprocess`` has it; ``None`` where it had to be killed."""
    until = time.monotonic() + timeout
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > until:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return None
        time.sleep(LOOKS_EVERY_S)


if __name__ == "__main__":
    serve()
    runpy.run_module("incast", run_name="__main__", alter_sys=True)
