"""The command line as a user meets it: another process, its exit status and what it prints."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

import skips
from cpu_time import CpuTime
from incast import Store
from own_paper import PAPER, SCENARIO
from warm import Warm

ROOT = Path(__file__).parents[2]


@dataclass
class Answer:
    """The result of a command."""

    status: int
    out: str
    err: str

    def refused(self, *words: str) -> None:
        """Check that bad input got exit status 2 and a message with the words, and nothing else."""
        self.failed(2, *words)

    def failed(self, status: int, *words: str) -> None:
        assert self.status == status, (self.status, self.out, self.err)
        assert "Traceback" not in self.err + self.out
        assert self.out == ""
        for word in words:
            assert word in self.err, (word, self.err)


Command = Callable[..., Answer]
_warm: list[Warm] = []


def pytest_configure(config: pytest.Config) -> None:
    """Measure every test, and hold the list of skips in CI."""
    for plugin in (CpuTime(lambda: sum(process.cpu_s for process in _warm)), *skips.plugins()):
        config.pluginmanager.register(plugin)


def environment() -> dict[str, str]:
    """Wide, plain output whatever the terminal of the tests is."""
    return os.environ | {"COLUMNS": "200", "NO_COLOR": "1", "TERM": "dumb"}


@pytest.fixture(scope="session")
def warm() -> Iterator[Warm]:
    """Keep a process that has loaded the program."""
    process = Warm.start(environment())
    _warm.append(process)
    yield process
    process.end()


@pytest.fixture
def incast(tmp_path: Path, warm: Warm) -> Command:
    """Run ``incast`` in an empty folder."""

    def run(*words: str, cwd: Path = tmp_path, preexec: Callable[[], None] | None = None) -> Answer:
        if preexec is None:
            done = warm.run(words, cwd, environment(), 300)
        else:
            done = subprocess.run(
                command(words), cwd=cwd, env=environment(), capture_output=True, text=True, preexec_fn=preexec
            )
        return Answer(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture
def paper(tmp_path: Path) -> Path:
    """Write the folder of a paper."""
    folder = tmp_path / "small"
    folder.mkdir()
    (folder / "paper.toml").write_text(PAPER)
    (folder / "fig1.toml").write_text(SCENARIO)
    return folder


def command(words: Sequence[str]) -> list[str]:
    return [sys.executable, "-m", "incast", *words]


QUICK = ("--set", "run.duration=30ms", "--set", "run.warmup=10ms")
"""Settings that make any built-in scenario a run of a moment."""


def made_in(store: Path) -> dict[str, int]:
    """Give the number of runs of each chunk of a store: a chunk is what one command made."""
    opened = Store.at(store)
    return {name: opened.read(f"chunks/{name}.parquet", ["run"]).num_rows for name in opened.chunks()}


def left_in(folder: Path) -> list[str]:
    """Names of everything in a folder, hidden things too."""
    return sorted(path.name for path in folder.iterdir())
