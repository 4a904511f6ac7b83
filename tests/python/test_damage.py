"""Reports of comparisons whose stores are damaged: what is told, what still stands, and how it is repaired."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from conftest import QUICK, Command, command, environment
from incast import Store

STUDY = ["dumbbell", "--cc", "dctcp", "--cc", "swift", "--vary", "traffic.flows=2,4", "--seeds", "2", *QUICK]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a comparison once."""
    place = tmp_path_factory.mktemp("damage")
    words = command(["compare", *STUDY, "--out", "c", "--quiet"])
    subprocess.run(words, cwd=place, env=environment(), capture_output=True, check=True)
    return place / "c"


@pytest.mark.extended(part="python")
def test_a_damaged_series_leaves_the_report_whole(made: Path, incast: Command, tmp_path: Path) -> None:
    shutil.copytree(made, tmp_path / "c")
    (tmp_path / "c/runs/tables/samples/0002-0000.parquet").write_text("no table")
    answer = incast("report", "c", "--quiet")
    assert answer.status == 0, answer.err
    assert "samples/0002-0000.parquet is damaged" in (tmp_path / "c/report.html").read_text()


def _damage(path: Path) -> None:
    """Change one byte in the middle of a file."""
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def _results(store: Path) -> dict[str, bytes]:
    """Bytes of everything in a store but what the runs cost."""
    files = [path for path in store.rglob("*") if path.is_file() and path.parent.name != "log" and path.name != ".lock"]
    return {str(path.relative_to(store)): path.read_bytes() for path in files}


EXTENDED = pytest.mark.extended(part="python")


@pytest.mark.slow("a comparison is repaired and reported")
@pytest.mark.parametrize(
    "files",
    [
        pytest.param(["chunks/0001-0000.parquet"], marks=EXTENDED),
        pytest.param(["tables/flows/0001-0000.parquet", "tables/samples/0002-0000.parquet"], marks=EXTENDED),
        ["chunks/0001-0000.parquet", "log/0001-0000.parquet", "runs.parquet"],
        pytest.param(["studies/{name}/points.parquet", "log/0002-0000.parquet"], marks=EXTENDED),
    ],
)
def test_a_damaged_own_store_is_repaired_by_rebuild(
    made: Path, incast: Command, tmp_path: Path, files: list[str]
) -> None:
    shutil.copytree(made, tmp_path / "c")
    name = json.loads((made / "study.json").read_text())["study"]
    store = tmp_path / "c/runs"
    for file in files:
        _damage(store / file.format(name=name))
    again = incast("compare", *STUDY, "--out", "c")
    again.refused(f"c/runs/{files[0].format(name=name)} is damaged", "--rebuild")
    answer = incast("compare", *STUDY, "--out", "c", "--rebuild", "--quiet")
    assert answer.status == 0, answer.err
    assert "no picture over time" not in answer.err
    assert _results(store) == _results(made / "runs"), "the same runs in the same places"
    assert Store.at(store).damaged() == []
    assert incast("report", "c", "--quiet").status == 0


def test_a_damaged_chunk_of_other_runs_is_nothing_to_a_report(made: Path, incast: Command, tmp_path: Path) -> None:
    shutil.copytree(made, tmp_path / "c")
    _damage(tmp_path / "c/runs/chunks/0002-0000.parquet")
    answer = incast("report", "c", "--quiet")
    assert answer.status == 0, answer.err
    assert "no picture over time" in answer.err
    assert "chunks/0002-0000.parquet is damaged" in answer.err


def test_a_report_without_a_picture_says_so(incast: Command, tmp_path: Path) -> None:
    one = ["compare", "dumbbell", "--cc", "dctcp", "--seeds", "1", *QUICK, "--out", "c", "--quiet"]
    assert "pictures: over-time.png" in incast(*one).out
    _damage(tmp_path / "c/runs/tables/samples/0002-0000.parquet")
    answer = incast("report", "c", "--quiet")
    assert "no pictures: the report says why" in answer.out
    assert "samples/0002-0000.parquet is damaged" in answer.err


@pytest.mark.extended(part="python")
def test_a_damaged_copy_of_a_class_is_put_back_before_its_runs_are_made_again(incast: Command, tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(
        "class Own:\n    def init(self, env): self.cwnd = 14600\n    def on_ack(self, ack): pass\n"
        "    def on_loss(self, event): pass\n    def on_timeout(self, event): pass\n"
    )
    one = ["--seeds", "1", *QUICK, "--workers", "1", "--out", "c", "--quiet"]
    words = ["compare", "dumbbell", "--cc", "own.py:Own", *one]
    assert incast(*words).status == 0
    store = tmp_path / "c/runs"
    before = _results(store)
    (copy,) = store.glob("files/*/own.py")
    _damage(copy)
    _damage(store / "chunks/0001-0000.parquet")
    answer = incast(*words, "--rebuild")
    assert answer.status == 0, answer.err
    assert _results(store) == before
