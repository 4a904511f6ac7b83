"""Cost estimate of a study: runs, hops, CPU time, memory and disk, from trial runs."""

from __future__ import annotations

import io
import shutil
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from incast import controllers
from incast.batch.journal import read_record
from incast.batch.record import Task, make, run_of
from incast.batch.shares import default_workers
from incast.batch.store import Store, parquet
from incast.errors import RunStopped, ScenarioError, UnsoundError
from incast.runs.named_files import kinds_in
from incast.runs.scenario import Scenario
from incast.study import inputs
from incast.study.definition import Definition
from incast.study.planning import fresh_tasks
from incast.system import memory
from incast.system.files import STORE_FILE
from incast.writing.numbers import duration, said, scaled

if TYPE_CHECKING:
    import pyarrow as pa

TRIED = 6
"""Number of trial runs, spread over the study."""
TRIED_S = 1.0
"""Longest duration of a trial run."""


@dataclass(frozen=True)
class Tried:
    """A trial run, and the extrapolated cost of the whole run."""

    hops: float
    cpu_s: float
    disk: float | None
    memory: int


@dataclass(frozen=True)
class Estimate:
    """Cost estimate of a study."""

    points: int
    runs: int
    there: int
    tried: Sequence[Tried]
    unseen: Sequence[str]
    """Classes that are not allowed: their runs are not tried."""
    workers: int
    free_disk: int

    def lines(self) -> list[str]:
        """Return the estimate as lines of text."""
        new = self.runs - self.there
        lines = [f"runs: {new:,} new, {self.there:,} existing ({self.points:,} points)"]
        if self.unseen:
            lines.append(
                f"not tried: runs of {', '.join(self.unseen)}, which are code; the estimate covers the other runs "
                "(--allow-code: all runs)"
            )
        if not self.tried:
            return lines
        n = len(self.tried)
        hops, cpu_s = (sum(getattr(one, name) for one in self.tried) / n for name in ("hops", "cpu_s"))
        largest = max(one.memory for one in self.tried)
        disks = [one.disk for one in self.tried if one.disk is not None]
        lines.append(f"hops: about {said(scaled(hops))} per run, {said(scaled(hops * new))} in total")
        speed = f"; {said(scaled(hops / cpu_s))} hops per CPU s" if cpu_s > 0 else ""
        lines.append(
            f"CPU time: about {said(duration(cpu_s))} per run, {said(duration(cpu_s * new))} in total{speed}; "
            f"{said(duration(cpu_s * new / self.workers))} with {self.workers} in parallel"
        )
        lines.append(
            f"memory: about {memory.spoken(largest)} per run, {memory.spoken(largest * self.workers)} for "
            f"{self.workers} in parallel; free: {memory.spoken(memory.free_memory())}"
        )
        if disks:
            each = sum(disks) / len(disks)
            lines.append(
                f"disk: about {memory.spoken(each)} per run, {memory.spoken(each * new)} in total; "
                f"free: {memory.spoken(self.free_disk)}"
            )
        lines.append(f"measured: {n} of the runs, each for at most a second; the others may take more or less")
        return lines


def of(study: Definition, folder: Path, workers: int = 0) -> Estimate:
    """Try some runs of a study that the store in ``folder`` lacks, without writing there.

    Classes that are not allowed yet are not run, and no question is asked.
    """
    there = Store.at(folder).known() if (folder / STORE_FILE).exists() else set()
    with tempfile.TemporaryDirectory(prefix="incast-") as place:
        aside = Store.make(place)
        with study.reading():
            points, runs, tasks = fresh_tasks(aside, inputs.canonical(aside, study), there)
            unseen = {task.toml: _unseen(task.toml) for task in tasks}
            own = [task for task in tasks if not unseen[task.toml]]
            step = max(1, len(own) // TRIED)
            tried = [_tried(task, aside.folder, study.keep) for task in own[step // 2 :: step][:TRIED]]
        names = dict.fromkeys(str(inputs.spoken(name)) for found in unseen.values() for name in found)
    home = next(place for place in (folder.absolute(), *folder.absolute().parents) if place.exists())
    at_once = max(1, min(workers or default_workers(), len(tasks)))
    return Estimate(points, runs, runs - len(tasks), tried, list(names), at_once, shutil.disk_usage(home).free)


def counted(study: Definition) -> tuple[int, int]:
    """Make and check every scenario of a study; return its numbers of points and runs."""
    with tempfile.TemporaryDirectory(prefix="incast-") as place:
        aside = Store.make(place)
        with study.reading():
            points, runs, _ = fresh_tasks(aside, inputs.canonical(aside, study), set())
    return points, runs


def _unseen(toml: str) -> list[str]:
    """Return the classes of a scenario that are not allowed."""
    return [kind for kind in kinds_in(toml) if ":" in kind and controllers.find(kind, [])[0] is controllers.NotLookedAt]


def _tried(task: Task, folder: Path, keep: Sequence[str]) -> Tried:
    controllers.look_in(folder)
    scenario = run_of(task.toml, folder, task.name).with_seed(task.seed)
    began = time.monotonic()
    last = (0.0, 1.0, 0)

    def progress(now_s: float, end_s: float, hops: int) -> bool:
        nonlocal last
        last = now_s, end_s, hops
        return time.monotonic() - began < TRIED_S

    cpu = time.thread_time()
    try:
        result = scenario.run(progress=progress, cores=1)
    except RunStopped:
        cpu = time.thread_time() - cpu
        part = max(last[0] / last[1], 1e-9)
        return Tried(last[2] / part, cpu / part, _cut_disk(task, scenario, folder, keep), scenario.memory())
    except UnsoundError as error:  # the study marks such a run and continues; its cost is normal
        if error.result is None:
            raise
        result = error.result
    hops = result.summary["run"]["hops"]
    return Tried(hops, result.cost["cpu_s"], _disk(task, folder, keep), scenario.memory())


def _cut_disk(task: Task, scenario: Scenario, folder: Path, keep: Sequence[str]) -> float | None:
    """Measure the disk space of a long run by a shortened one, which has the same flows and ports."""
    try:
        short = scenario.changed({"run.warmup": "0s", "run.duration": "1us"})
        return _disk(Task(task.run, short.toml(), task.name, task.seed), folder, keep)
    except ScenarioError:
        return None


def _disk(task: Task, folder: Path, keep: Sequence[str]) -> float:
    record = read_record(make(task, folder, keep))
    # a figure of 8 bytes is in its chunk and in runs.parquet; schemas and names are shared by many runs
    return sum(_pages(record.table(name)) for name in record.tables) + 16.0 * len(record.figures)


def _pages(rows: pa.Table) -> int:
    """Return the bytes of a table's rows in a Parquet file, without the footer."""
    import pyarrow.parquet as pq

    group = pq.read_metadata(io.BytesIO(parquet(rows))).row_group(0)
    return sum(group.column(i).total_compressed_size for i in range(group.num_columns))
