"""``incast compare`` that is killed or interrupted: what is there, and how it goes on."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import time
from pathlib import Path

import pytest

from conftest import QUICK, Command, command, environment
from incast import Store


@pytest.mark.extended(part="python")
def test_a_comparison_that_is_killed_leaves_the_same_bytes(tmp_path: Path) -> None:
    words = [
        "compare",
        "random-pairs",
        "--cc",
        "dctcp",
        "--cc",
        "swift",
        "--vary",
        "traffic.flows=20,21",
        "--seeds",
        "2",
    ]
    words = command([*words, *QUICK, "--workers", "1", "--quiet", "--out"])
    draw, killed = random.Random(1), 0
    whole = time.monotonic()
    subprocess.run([*words, "whole"], cwd=tmp_path, env=environment(), check=True, capture_output=True)
    whole = time.monotonic() - whole
    for _ in range(6):
        process = subprocess.Popen(
            [*words, "c"], cwd=tmp_path, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            process.wait(draw.uniform(0.2, 1) * whole)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            killed += 1
    assert killed >= 2
    last = subprocess.run([*words, "c"], cwd=tmp_path, env=environment(), capture_output=True, text=True)
    assert last.returncode == 0, last.stderr
    for name in ("comparison.json", "runs/SHA256SUMS", "runs/store.json", "study.json", "points.parquet"):
        assert (tmp_path / "c" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes(), name
    assert not list((tmp_path / "c").rglob(".*.partial-*"))
    assert not Store.at(tmp_path / "c/runs").damaged()


@pytest.mark.slow("a process of its own, which loads the program")
def test_ctrl_c_keeps_finished_runs_and_counts_no_half_ones(incast: Command, tmp_path: Path) -> None:
    words = ["compare", "random-pairs", "--cc", "dctcp", "--cc", "newreno", "--vary", "traffic.flows=20,21", "--seeds"]
    words += ["1", "--set", "run.warmup=0s", "--set", "run.duration=1s", "--workers", "1", "--out", "c", "--quiet"]
    process = subprocess.Popen(
        command(words), cwd=tmp_path, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + 120
    while not any(path.stat().st_size for path in (tmp_path / "c/runs").glob("journal/*.bin")):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.005)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, (out, err)
    assert "interrupted" in err
    assert "Traceback" not in err
    assert not (tmp_path / "c/report.html").exists()
    assert not list((tmp_path / "c").rglob(".*.partial-*"))
    pending = json.loads(incast("study", "status", "c/runs", "--json").out)["pending"]
    assert 1 <= pending["made"] < pending["runs"] == 4
    incast("report", "c").refused("not finished", "incast compare random-pairs")
