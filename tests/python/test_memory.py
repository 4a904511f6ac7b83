"""The memory that is told at a run's start, beside what the run takes: the growth of a process of its own."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from conftest import command, environment, left_in
from incast import RunError, Scenario, Study, _core
from incast.batch import evaluation, run_folders, shares
from incast.batch.plan import Job
from incast.batch.workers import Processes, Threads
from incast.runs.result import COPIES
from incast.study import inputs
from incast.system import memory

RUN = """
import json, sys
from incast.runs.scenario import Scenario

def resident(name):
    lines = open("/proc/self/status").read().splitlines()
    return 1024 * int(next(line for line in lines if line.startswith(name + ":")).split()[1])

scenario = Scenario.load(sys.argv[1]).with_(json.loads(sys.argv[2]))
told = scenario.memory()
Scenario.load("star").with_({"run.warmup": "0s", "run.duration": "1ms"}).run()  # libraries are loaded
open("/proc/self/clear_refs", "w").write("5")
before = resident("VmRSS")
scenario.run()
print(json.dumps([told, resident("VmHWM") - before]))
"""
LOSSES = {"controller.kind": "newreno", "traffic.permutation.app.size": "8MB", "run.duration": "3ms"}
CASES: dict[str, tuple[str, dict[str, object]]] = {
    "shallow-k8": ("permutation", {"topology.k": 8}),
    "shallow-k16": ("permutation", {"topology.k": 16}),
    "deep-k8": ("permutation", {**LOSSES, "queue.limit": "1MB"}),
    "deep-k16": ("permutation", {**LOSSES, "topology.k": 16, "queue.limit": "1MB"}),
    "deep-k16-cubic": (
        "permutation",
        {**LOSSES, "topology.k": 16, "queue.limit": "1MB", "controller.kind": "cubic", "run.duration": "2ms"},
    ),
    "rivals": ("coexistence", {}),
    "timeline": ("permutation", {"measure.timeline": "auto"}),
    "cells": ("wireless-cell", {"run.duration": "30s"}),
    "many-flows": (
        "websearch",
        {"traffic.websearch.arrivals.until": "400ms", "run.duration": "450ms"},
    ),
}
EARLY = {"deep-k16-cubic": 3}
"""Told over taken at most, where a controller leaves slow start before the queue is full, by its delay."""
LONG = ("deep-k16", "deep-k16-cubic", "many-flows")
"""Cases that take seconds: in ``make test-all``."""
SMALL = 6_000_000
"""Bytes that threads and the allocator may take more or less than is told."""


@pytest.mark.slow("a process a run, of a large network")
@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="peaks are read from /proc")
@pytest.mark.parametrize(
    "case", [pytest.param(case, marks=pytest.mark.extended(part="python")) if case in LONG else case for case in CASES]
)
def test_memory_that_is_told_is_what_a_run_takes(case: str) -> None:
    """A run takes no more than 1.2 times what is told, and no less than two thirds of it."""
    name, keys = CASES[case]
    words = [sys.executable, "-c", RUN, name, json.dumps({"run.threads": 2, **keys})]
    told, grew = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
    assert grew <= 1.2 * told + SMALL, (told, grew)
    assert told <= EARLY.get(case, 1.5) * grew + SMALL, (told, grew)


def test_a_trace_without_bound_ends_with_a_line_under_a_limit_of_the_address_space(tmp_path: Path) -> None:
    """The libraries alone map half of the gigabyte; the run takes a second until its records are too many."""
    words = ["run", "dumbbell", "--set", "run.duration=200s", "--set", "measure.trace=[0,1]", "--out", "a", "--quiet"]
    done = subprocess.run(
        command(words), cwd=tmp_path, env=environment() | {"OPENBLAS_NUM_THREADS": "1"}, capture_output=True, text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (10**9, 10**9)),
    )  # fmt: skip
    assert done.returncode == 1, (done.returncode, done.stderr)
    assert done.stderr.startswith("error: records of the run take 0.") and "(measure.trace)" in done.stderr
    assert left_in(tmp_path) == []


def test_records_of_a_run_have_a_part_of_its_memory_limit() -> None:
    scenario = Scenario.load("dumbbell").with_({"run.duration": "20ms", "run.warmup": "0s", "measure.trace": [0]})
    with pytest.raises(RunError, match=r"records of the run take .* GB at .*, and may take 0.00 GB: .*measure.trace"):
        scenario.run(memory_limit=1e6)
    assert scenario.run(memory_limit=1e9).trace.num_rows > 10_000


def test_runs_side_by_side_part_the_memory_of_their_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each took the whole of what was free: eight runs could record eight times as much."""
    inputs.definitions()  # a run of its own, made once
    kept: list[int] = []
    own = _core.run

    def run(*words: Any, **more: Any) -> Any:
        kept.append(more.get("most_kept", words[-1]))
        return own(*words, **more)

    monkeypatch.setattr(_core, "run", run)
    monkeypatch.setattr(shares, "free_memory", lambda: 12e9)
    monkeypatch.setattr(evaluation, "free_memory", lambda: 12e9)
    monkeypatch.setattr(memory, "free_memory", lambda: 12e9)
    short = Scenario.load("dumbbell").with_({"run.duration": "1ms", "run.warmup": "0s"})
    jobs = [Job(str(seed), short.with_seed(seed), tmp_path / str(seed)) for seed in (1, 2)]
    run_folders.make(jobs, 2)
    Study(short, seeds=2).run(tmp_path / "st", workers=2, hire=Threads)
    evaluation.evaluate(short, [1, 2], workers=2)
    assert kept == [int(6e9 / COPIES)] * 6
    kept.clear()
    jobs = [Job("3", short, tmp_path / "3"), Job("4", short, tmp_path / "4")]
    run_folders.make(jobs, 2, memory_limit=4e9)
    Study(short, seeds=2).run(tmp_path / "limited", workers=2, hire=Threads, memory_limit=4e9)
    assert kept == [int(2e9 / COPIES)] * 4
    crew = Processes(2, tmp_path, (), shares.Each(1, 5.5))
    assert crew._words[-2:] == ["1", "5.5"]
    crew.close()
