"""Commands without the start of an interpreter: forks of a process that has loaded what the program loads.

A command is a process of its own here too, with its folder, its exit status and what it prints. Only the time in which
Python, Arrow and Matplotlib are loaded is not taken each time: up to a second of CPU time, in hundreds of
commands.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import json
import os
import runpy
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import viewed
from incast.commands.program import program
from incast.pictures import style

LOADED = (
    "incast.commands.exits", "incast.report.comparison_page", "incast.pictures.run_pictures", "incast.study.api",
    "incast.papers.page", "incast.models.closed_form", "incast.view.page", "pyarrow.parquet", "pyarrow.dataset",
    "pyarrow.acero", "pyarrow.pandas_compat", "pandas", "matplotlib.backends.backend_agg", "PIL.BmpImagePlugin",
    "PIL.GifImagePlugin", "PIL.JpegImagePlugin", "PIL.PngImagePlugin", "typer._adapters", "typer.rich_utils",
    "encodings.ascii", "importlib.readers",
)  # fmt: skip
LATER = {
    "tune": ("incast.tuning.outcome",),
    "sensitivity": ("incast.tuning.sensitivity",),
    "query": ("duckdb",),
}
"""Modules that some commands load in addition: when the first of them comes."""
LOOKS_EVERY_S = 0.002


@dataclass
class Warm:
    """A process that carries out one command after another."""

    process: subprocess.Popen[str]
    cpu_s: float = 0.0
    """CPU time of all commands, and of what they started and awaited."""

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
            status, cpu_s = json.loads(self.process.stdout.readline())
            self.cpu_s += cpu_s
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
    program()  # loads every command
    viewed.stand_in()
    _draw()
    for line in sys.stdin:
        asked = json.loads(line)
        for name in LATER.get(next(iter(asked["words"]), ""), ()):
            with contextlib.suppress(ImportError):  # an extra, without which the command says so
                importlib.import_module(name)
        gc.freeze()  # or the fork's collector writes to, and so copies, all that was loaded
        child = os.fork()
        if child == 0:
            _become(asked)
            return
        print(json.dumps(_awaited(child, asked["timeout"])), flush=True)
    os._exit(0)


def _draw() -> None:
    """Draw a picture, so that fonts and what measures texts are loaded too."""
    canvas = style.new_canvas(6, 4)
    axes = canvas.subplots()
    axes.set_yscale("log")
    axes.plot([1, 2], [1, 1000], label="line")
    axes.legend()
    style.png_bytes(canvas)


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


def _awaited(child: int, timeout: float) -> tuple[int | None, float]:
    """Wait for a command: exit status, as ``subprocess`` has it (``None``: it had to be killed), and CPU time."""
    until = time.monotonic() + timeout
    while True:
        ended, status, used = os.wait4(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime
        if time.monotonic() > until:
            os.kill(child, signal.SIGKILL)
            _, _, used = os.wait4(child, 0)
            return None, used.ru_utime + used.ru_stime
        time.sleep(LOOKS_EVERY_S)


def _end(status: int) -> None:
    """End a command as the interpreter does, but for the modules: taking them down copies all that was loaded."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    serve()
    try:
        runpy.run_module("incast", run_name="__main__", alter_sys=True)
    except SystemExit as ended:
        if not isinstance(ended.code, int):
            raise
        _end(ended.code)
