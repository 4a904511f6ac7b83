"""Studies on a Ray cluster of two nodes, one of which is killed in mid-study (`make test-ray`)."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import ray_study
from conftest import environment
from incast import Store
from incast.study.front import load
from test_studies import contents

pytestmark = pytest.mark.skipif(find_spec("ray") is None, reason="needs ray: make test-ray installs it")

KILLS = int(os.environ.get("INCAST_RAY_KILLS", "1"))

STUDY = f"""
scenario = "dumbbell"
seeds = {100 * KILLS}
[set]
run.duration = "60ms"
run.warmup = "0s"
[axes]
controller.g = [0.1, 0.2]
"""


def test_a_study_outlives_a_node_of_the_cluster(tmp_path: Path) -> None:
    """Nothing is lost, doubled or half-counted: the bytes are those of a study on this machine."""
    (tmp_path / "study.toml").write_text(STUDY)
    done = subprocess.run(
        [sys.executable, ray_study.__file__, "study.toml", "cluster", str(KILLS)],
        cwd=tmp_path,
        env=environment() | {"RAY_USAGE_STATS_ENABLED": "0", "RAY_DEDUP_LOGS": "0"},
        capture_output=True,
        text=True,
        timeout=300 + 60 * KILLS,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert f"killed {KILLS}" in done.stdout
    here = load(tmp_path / "study.toml").run(tmp_path / "here")
    assert contents(tmp_path / "cluster") == contents(tmp_path / "here")
    assert len(set(here.known())) == here.runs.num_rows == 200 * KILLS
    assert Store.at(tmp_path / "cluster").damaged() == []
