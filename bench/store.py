"""A store of 100,000 runs: how long status, a query and an extension take (`make bench-store`).

The runs are made up: the record of one real run with its figures changed by a hash, under the identities that the
study's runs have. What is timed works on the store alone, and is a process of its own each.
"""

from __future__ import annotations

import hashlib
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import Future
from pathlib import Path

from incast.batch import journal, record
from incast.batch.runner import Answer, Status
from incast.batch.shares import Each
from incast.study.api import Study

RUNS = 100_000
ALLOWED_S = {"status": 2.0, "query": 2.0, "extend": 5.0}
QUERY = """SELECT round("controller.g", 1) AS g, avg("flows.delay_p99_s"), quantile_cont("flows.jain", 0.5), count(*)
           FROM runs GROUP BY g ORDER BY g"""


class Inventors:
    """Workers that make runs up."""

    def __init__(self, _count: int, folder: Path, _keep: Sequence[str], _each: Each) -> None:
        self.count = 1
        self._folder = folder
        self._base: journal.Record | None = None

    def submit(self, tasks: Sequence[record.Task]) -> Future[Answer]:
        """Make records up at once."""
        if self._base is None:
            self._base = journal.read_record(record.make(tasks[0], self._folder, ()))
        done: Future[Answer] = Future()
        done.set_result(Answer([made_up(task, self._base) for task in tasks]))
        return done

    def tell(self, status: Status) -> None:
        """Report nothing: no run is active."""

    def close(self) -> None:
        """Do nothing."""


def made_up(task: record.Task, base: journal.Record) -> bytes:
    """Make a synthetic record."""
    digest = hashlib.sha256(task.run.encode()).digest()
    figures = {
        name: value * (1 + digest[i % 32] / 997 + digest[(i + 7) % 32] / 99991) if isinstance(value, float) else value
        for i, (name, value) in enumerate(base.figures.items())
    }
    return journal.packed(task.run, figures, base.cost, {})


def main() -> None:
    """Make the store, time the operations on it, and exit with status 1 if one takes longer than allowed."""
    points = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    with tempfile.TemporaryDirectory() as place:
        store = str(Path(place) / "store")
        study = Study(
            "dumbbell",
            axes={"controller.g": {"from": 0.01, "to": 1.0, "steps": points}},
            seeds=RUNS // points,
            settings={"run.duration": "1ms", "run.warmup": "0s"},
            keep=[],
        )
        study.run(store, hire=Inventors)
        size = sum(path.stat().st_size for path in Path(store).rglob("*") if path.is_file())
        print(f"{RUNS:,} runs of {points:,} points: {size / 1e6:.1f} MB")
        commands = {
            "status": ["study", "status", store],
            "query": ["query", store, QUERY],
            "extend": ["study", "extend", store, "--axis", "controller.g=0.98765", "--quiet"],
        }
        slow = False
        for name, words in commands.items():
            cpu, wall = _timed(words)
            slow |= cpu > ALLOWED_S[name]
            print(f"{name}: {cpu:.2f} CPU s, {wall:.2f} s; allowed {ALLOWED_S[name]:g}")
    sys.exit(slow)


def _timed(words: Sequence[str]) -> tuple[float, float]:
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run([sys.executable, "-m", "incast", *words], check=True, stdout=subprocess.DEVNULL, env=os.environ)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return cpu, time.monotonic() - began


if __name__ == "__main__":
    main()
