"""Studies on Ray clusters: of two nodes, one of which is killed in mid-study; by Ray Client (`make test-ray`)."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

import ray_study
from conftest import Command, environment
from incast import Store, StudyError
from incast.batch import rays
from incast.study.api import load
from test_studies import contents

pytestmark = [
    pytest.mark.extended(part="ray"),
    pytest.mark.skipif(find_spec("ray") is None, reason="needs ray: make test-ray installs it"),
]

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


def _free_ports(many: int) -> list[int]:
    with contextlib.ExitStack() as kept:
        sockets = [kept.enter_context(socket.socket()) for _ in range(many)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


@pytest.fixture
def head() -> Iterator[str]:
    """Start a cluster of one node in processes of its own, and give its address for Ray Client."""
    port, agent, client = _free_ports(3)
    words = [str(Path(sys.executable).with_name("ray")), "start", "--head", "--block", "--num-cpus=1"]
    words += [f"--port={port}", f"--runtime-env-agent-port={agent}", f"--ray-client-server-port={client}"]
    words += ["--disable-usage-stats", "--include-dashboard=false", f"--object-store-memory={100 * 2**20}"]
    begun = subprocess.Popen(words, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(600):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", client), 1):
                break
            assert begun.poll() is None
            time.sleep(0.1)
        yield f"ray://127.0.0.1:{client}"
    finally:
        begun.terminate()
        begun.wait(60)


def test_a_study_runs_by_ray_client(incast: Command, tmp_path: Path, head: str) -> None:
    (tmp_path / "study.toml").write_text(STUDY.replace(f"seeds = {100 * KILLS}", "seeds = 4"))
    made = incast("study", "run", "study.toml", "--on", head, "--store", "there")
    assert made.status == 0, made.err
    load(tmp_path / "study.toml").run(tmp_path / "here")
    assert contents(tmp_path / "there") == contents(tmp_path / "here")


def test_a_cluster_that_does_not_answer_is_told_in_a_line() -> None:
    (port,) = _free_ports(1)
    with pytest.raises(StudyError, match=f"--on ray://127.0.0.1:{port}: no Ray cluster answers: ") as told:
        rays.hire_at(f"ray://127.0.0.1:{port}", 0)
    assert "\n" not in str(told.value)
