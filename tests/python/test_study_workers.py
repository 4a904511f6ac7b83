"""Workers that make the runs of a study, and what ends them: signals, array jobs, full disks."""

from __future__ import annotations

import re
import resource
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT
from incast import Result, RunError, Scenario, Store, Study
from incast.batch import filling, journal, record, slurm
from incast.batch.filling import progress_of
from incast.batch.workers import Processes
from incast.study.definition import KEEPS
from stored import SHORT, contents, small

EXTENDED = pytest.mark.extended(part="python")


@pytest.mark.slow("processes that load the program")
@pytest.mark.parametrize(
    ("workers", "runs", "hired"),
    [pytest.param(2, 100, True, marks=EXTENDED), (2, 98, False), pytest.param(1, 100, False, marks=EXTENDED)],
)
def test_many_runs_for_each_worker_are_made_by_processes(
    workers: int, runs: int, hired: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Threads wait for Python's lock where runs are short; a process takes half a second to begin."""
    crews: list[Processes] = []

    class Seen(Processes):
        """Processes that are noted."""

        def __init__(self, count: int, folder: Path, keep: Sequence[str], cores: int = 1) -> None:
            """Note that it is hired."""
            super().__init__(count, folder, keep, cores)
            crews.append(self)

    monkeypatch.setattr(filling, "Processes", Seen)
    short = {"run.duration": "1ms", "run.warmup": "0s"}
    study = Study("dumbbell", settings=short, axes={"controller.g": [0.1, 0.5]}, seeds=runs // 2)
    store = study.run(tmp_path / "s", workers=workers)
    assert bool(crews) is hired
    assert store.runs.num_rows == runs


@pytest.mark.parametrize("scenario", ["dumbbell", "pfc-incast", "incast"])
def test_runs_of_a_store_record_no_timeline_and_their_stored_bytes_are_those_of_runs_with_one(
    scenario: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = Scenario.load(scenario).with_({"run.duration": "2ms", "run.warmup": "0s", "measure.trace": [0]})
    timed = asked.with_({"measure.timeline": "auto", "measure.series.flows": [0]})
    assert timed.run().timeline_ports.num_rows
    task = record.Task("0" * 16, timed.toml(), scenario, 3)
    recorded: list[int] = []
    run = Scenario.run

    def seen(self: Scenario, *args: Any, **named: Any) -> Result:
        result = run(self, *args, **named)
        recorded.append(result.timeline_ports.num_rows)
        return result

    monkeypatch.setattr(Scenario, "run", seen)
    without = journal.read_record(record.make(task, tmp_path, KEEPS))
    monkeypatch.setattr(Scenario, "without_timeline", lambda self: self)
    record.run_of.cache_clear()
    with_one = journal.read_record(record.make(task, tmp_path, KEEPS))
    record.run_of.cache_clear()
    assert recorded[0] == 0 < recorded[1]
    assert without.figures == with_one.figures
    assert dict(without.tables) == dict(with_one.tables)
    assert {"flows", "ports", "samples", "trace"} <= set(without.tables)


MEASURED = {
    "measure.queue_interval": "20us", "measure.trace": [0], "measure.acks": True, "measure.pauses": "auto",
    "measure.lost_after": "1s", "measure.tasks": "all", "measure.messages": False,
    "measure.undeliverable": "received", "measure.entries": 2, "measure.series.flows": [0, 1],
    "measure.series.ports": "all", "measure.series.cells": ["air"], "measure.series.interval": "10us",
}  # fmt: skip
"""Every key of ``measure`` but the timeline's, with a value that is not its default."""


def test_every_key_of_measure_is_tried_without_a_timeline() -> None:
    text = (ROOT / "docs/scenario.md").read_text(encoding="utf-8")
    keys = set()
    for table, prefix in (("measure", "measure."), ("measure.series", "measure.series.")):
        (rows,) = re.findall(rf"<!-- keys: document {table} -->(.*?)<!-- end -->", text, re.DOTALL)
        keys |= {prefix + key for key in re.findall(r"^\| `(\w+)` \|", rows, re.MULTILINE)}
    assert keys - {"measure.timeline", "measure.series"} == MEASURED.keys()


@pytest.mark.parametrize("file", sorted((ROOT / "scenarios").glob("*.toml")), ids=lambda file: file.stem)
def test_a_scenario_without_its_timeline_is_the_one_that_never_had_it(file: Path) -> None:
    plain = Scenario.load(str(file))
    assert "timeline" not in plain.resolved()["measure"]
    assert plain.without_timeline() is plain
    for settings in [{}, MEASURED, *({key: value} for key, value in MEASURED.items())]:
        own = plain.with_(settings)
        found = own.with_({"measure.timeline": "10us"}).without_timeline()
        assert (found.hash, found.toml()) == (own.hash, own.toml())


def _dying(folder: Path, controller: str, seeds: int) -> Study:
    """Write a class whose first object in all, or whose every object, kills its process; return a study of it."""
    (folder / "mine.py").write_text(
        "import os, pathlib\n"
        "class Mine:\n"
        "    def __init__(self, once=True):\n"
        "        self.cwnd = 14480.0\n"
        f"        mark = pathlib.Path({str(folder)!r}) / 'died'\n"
        "        if not once or not mark.exists():\n"
        "            mark.touch()\n"
        "            os.kill(os.getpid(), 9)\n"
        "    def on_ack(self, ack): pass\n"
        "    def on_loss(self, event): pass\n"
        "    def on_timeout(self, event): pass\n"
    )
    # the class is looked at in this process, its objects are made in workers
    return small(axes={}, settings=SHORT | {"controller": controller}, seeds=seeds, origin=folder)


@pytest.mark.slow("two processes, one after the other, that load the program")
def test_a_worker_that_dies_is_replaced(tmp_path: Path) -> None:
    assert _dying(tmp_path, "mine.py:Mine", seeds=1).run(tmp_path / "s", workers=1).runs.num_rows == 1
    assert (tmp_path / "died").exists()


@EXTENDED
def test_a_run_that_kills_its_worker_each_time_is_an_error(tmp_path: Path) -> None:
    again = _dying(tmp_path, "mine.py:Mine:once=false", seeds=2)
    with pytest.raises(RunError, match="killed by SIGKILL") as caught:
        again.run(tmp_path / "t")
    assert "tried 3 times" in caught.value.__notes__[0]


def test_an_array_job_goes_on_behind_a_torn_journal_of_a_killed_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Parts in this process instead of sbatch; the second one is killed while it writes its last run."""
    submitted: list[int] = []

    def sbatch(words: Sequence[str], **_: Any) -> subprocess.CompletedProcess[str]:
        last = re.search(r"^#SBATCH --array=0-(\d+)$", Path(words[-1]).read_text(), re.MULTILINE)
        assert last is not None
        parts = int(last[1]) + 1
        submitted.extend(slurm.work(Store.at(tmp_path / "s"), part, parts) for part in range(parts))
        if submitted == [2, 2]:
            (torn,) = (tmp_path / "s/journal").glob("part-1-*.bin")
            torn.write_bytes(torn.read_bytes()[:-1])
        return subprocess.CompletedProcess(words, 0, "", "")

    monkeypatch.setattr(slurm.subprocess, "run", sbatch)
    with pytest.raises(RunError, match="1 of 4 runs were not made by the array job .* submits the others"):
        small().run(tmp_path / "s", outside=slurm.outside(2))
    small().run(tmp_path / "s", outside=slurm.outside(2))
    assert submitted == [2, 2, 1]
    small().run(tmp_path / "here", workers=1)
    assert contents(tmp_path / "s") == contents(tmp_path / "here")


def test_a_journal_on_a_full_disk_keeps_the_runs_before(tmp_path: Path) -> None:
    """A file has at most 100 kB: three records of a journal, and any other file of this store."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
    try:
        with pytest.raises(OSError, match="too large"):
            small(seeds=3).run(tmp_path / "s", workers=1)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    there = progress_of(Store.at(tmp_path / "s"))
    assert there is not None and 0 < there[1] < there[2] == 6
    small(seeds=3).run(tmp_path / "s", workers=1)
    small(seeds=3).run(tmp_path / "here", workers=1)
    assert contents(tmp_path / "s") == contents(tmp_path / "here")
