"""Who makes the runs of a study."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from incast import Study
from incast.study import making
from incast.study.workers import Processes


@pytest.mark.parametrize(("workers", "runs", "hired"), [(2, 100, True), (2, 98, False), (1, 100, False)])
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

    monkeypatch.setattr(making, "Processes", Seen)
    short = {"run.duration": "1ms", "run.warmup": "0s"}
    study = Study("dumbbell", settings=short, axes={"controller.g": [0.1, 0.5]}, seeds=runs // 2)
    store = study.run(tmp_path / "s", workers=workers)
    assert bool(crews) is hired
    assert store.runs.num_rows == runs
