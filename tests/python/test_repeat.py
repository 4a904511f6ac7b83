"""Run folders that repeat: with the files that a scenario names beside it, wherever the folder lies."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from conftest import Command
from incast import Result, Scenario, Store
from incast.errors import FolderError
from incast.runs import named_files

FLOWS = "start,source,destination,size\n0s,h0,h1,30000\n10us,h2,h1,30000\n"
LISTED = """
controller = "dctcp"
[run]
duration = "5ms"
[topology]
kind = "fat-tree"
k = 4
link = { rate = "1Gbps", delay = "1us" }
[queue]
kind = "ecn-threshold"
limit = "100p"
mark = "20p"
[[traffic]]
name = "listed"
pattern = "file"
file = "lists/flows.csv"
[[traffic]]
name = "other"
pattern = "file"
file = "OTHER"
[[traffic]]
name = "drawn"
pattern = "poisson"
arrivals = { load = 0.1, sizes = "sizes.csv", until = "1ms" }
"""
MINE = """
class Mine:
    ecn = "dctcp"
    def init(self, env):
        self.cwnd = 10 * env.mss
    def on_ack(self, ack):
        pass
    def on_loss(self, event):
        pass
    def on_timeout(self, event):
        pass
"""


def files_in(folder: Path) -> dict[str, bytes]:
    """Give what a run folder holds but for the manifest, which tells of the machine."""
    found = {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    del found["manifest.json"]
    return found


def repeated(incast: Command, run: Path, *words: str) -> dict[str, bytes]:
    """Run the scenario of a folder again from another place, where nothing else is, and give what that leaves."""
    place = run.parent / f"{run.name}-elsewhere"
    (place / "moved").mkdir(parents=True)
    run.rename(place / "moved/run")
    (place / "work").mkdir()
    answer = incast("run", "../moved/run/scenario.toml", "--out", "again", *words, cwd=place / "work")
    assert answer.status == 0, answer.err
    return files_in(place / "work/again")


def listed(tmp_path: Path) -> Path:
    """Write a scenario that names a file in a folder of its own, one by its whole path, and a table of sizes."""
    home = tmp_path / "home"
    (home / "lists").mkdir(parents=True)
    (home / "lists/flows.csv").write_text(FLOWS)
    (tmp_path / "flows.csv").write_text(FLOWS.replace("h1", "h3"))
    (home / "sizes.csv").write_text("size,cumulative\n1000,0.5\n20000,1\n")
    (home / "listed.toml").write_text(LISTED.replace("OTHER", str(tmp_path / "flows.csv")))
    return home / "listed.toml"


def test_a_run_whose_scenario_names_files_is_repeated_without_them(incast: Command, tmp_path: Path) -> None:
    scenario = listed(tmp_path)
    assert incast("run", str(scenario), "--out", "run").status == 0
    first = files_in(tmp_path / "run")
    assert first["lists/flows.csv"] == FLOWS.encode() and "sizes.csv" in first
    # a name that leads out of the folder is one that the content decides
    (other,) = [name for name in first if name.startswith("files/")]
    assert first[other] == FLOWS.replace("h1", "h3").encode() and f'"{other}"'.encode() in first["scenario.toml"]
    assert str(tmp_path).encode() not in first["scenario.toml"]
    manifest = json.loads((tmp_path / "run/manifest.json").read_text())
    assert sorted(manifest["files"]) == sorted([other, "lists/flows.csv", "sizes.csv"])
    # read and written by Python it has them too
    saved = Result.load(tmp_path / "run").save(tmp_path / "saved")
    assert files_in(saved) == first
    shutil.rmtree(scenario.parent)
    (tmp_path / "flows.csv").unlink()
    assert repeated(incast, tmp_path / "run") == first
    assert Scenario.load(saved / "scenario.toml").hash == manifest["hash"], "names do not count"
    # a copy that was changed is not passed on for what was run
    (saved / "sizes.csv").write_text("size,cumulative\n1000,0.4\n20000,1\n")
    assert Scenario.load(saved / "scenario.toml").hash != manifest["hash"]


@pytest.mark.extended(part="python")
def test_a_run_of_a_figure_whose_scenario_names_files_is_repeated(incast: Command, tmp_path: Path) -> None:
    answer = incast("paper", "run", "sccp/fig2", "--seeds", "1", "--out", "f")
    assert answer.status == 0, answer.err
    run = sorted(path for path in (tmp_path / "f/runs/fig2").iterdir() if path.is_dir())[0]
    first = files_in(run)
    assert {"fig2-network.toml", "fig2-flow.csv", "fig2-others.csv"} <= set(first)
    assert repeated(incast, run) == first


def test_a_run_of_a_study_is_repeated_from_its_folder(incast: Command, tmp_path: Path) -> None:
    scenario = listed(tmp_path)
    (tmp_path / "study.toml").write_text(
        f'scenario = "{scenario}"\nseeds = 1\nkeep = ["flows", "ports", "samples"]\n[axes]\n"run.duration" = ["4ms"]\n'
    )
    assert incast("study", "run", "study.toml", "--store", "s").status == 0
    shutil.rmtree(scenario.parent)
    (tmp_path / "flows.csv").unlink()
    (run,) = Store.at(tmp_path / "s").runs["run"].to_pylist()
    assert incast("study", "export", "s", "--run", run, "--out", "run").status == 0
    shutil.rmtree(tmp_path / "s")
    first = files_in(tmp_path / "run")
    again = repeated(incast, tmp_path / "run")
    assert set(again) == set(first)
    for name, data in again.items():
        if name.endswith(".parquet"):
            # a store keeps the words of texts, and a run beside them those that no row has
            rows, other = (pq.read_table(pa.BufferReader(one)) for one in (data, first[name]))
            assert rows.to_pylist() == other.to_pylist(), name
        else:
            assert data == first[name], name


def test_a_class_is_copied_and_asked_for_again(incast: Command, tmp_path: Path) -> None:
    (tmp_path / "lab").mkdir()
    (tmp_path / "lab/mine.py").write_text(MINE)
    quick = ("--set", "run.duration=5ms", "--set", "run.warmup=0s")
    answer = incast("run", "two-senders", *quick, "--set", "controller=lab/mine.py:Mine", "--out", "run")
    assert answer.status == 0, answer.err
    first = files_in(tmp_path / "run")
    assert first["lab/mine.py"] == MINE.encode()
    shutil.rmtree(tmp_path / "lab")
    incast("run", "run/scenario.toml", "--out", "x").refused("class Mine of", "run/lab/mine.py", "--allow-code")
    assert repeated(incast, tmp_path / "run", "--allow-code") == first


def test_copies_that_want_one_place_have_places_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are named from the scenario's folder on, and classes from the working directory."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "home").mkdir()
    (tmp_path / "home/q").write_text(FLOWS)
    (tmp_path / "home/sizes.csv").write_text("size,cumulative\n1000,0.5\n20000,1\n")
    (tmp_path / "home/listed.toml").write_text(LISTED.replace("OTHER", "q").replace("lists/flows.csv", "q"))
    for name in ("q/mine.py", "q/pack/own.py", "sizes.csv/mine.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"from .more import x\n{MINE}" if "pack" in name else MINE)
    (tmp_path / "q/pack/more.py").write_text("x = 1\n")
    for name in ("q/mine.py", "q/pack/own.py", "sizes.csv/mine.py"):
        scenario = Scenario.load("home/listed.toml").with_({"controller": f"{name}:Mine"})
        copies = named_files.of(scenario.core)
        places = {folder for one in copies.files for folder in Path(one).parents}
        assert not places & {Path(one) for one in copies.files}, name
        assert {"q", "sizes.csv"} <= set(copies.files) and f'"{name}:Mine"' not in copies.toml
    result = scenario.run()
    again = Scenario.load(result.save("run") / "scenario.toml", allow_code=True).run()
    assert again.summary_json == result.summary_json


def test_a_copy_behind_a_link_is_no_copy(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/secret").write_text("s")
    (tmp_path / "run").mkdir()
    (tmp_path / "run/lists").symlink_to(tmp_path / "elsewhere")
    manifest = {"files": {"lists/secret": hashlib.sha256(b"s").hexdigest()}}
    with pytest.raises(FolderError, match="is a link, or lies behind one"):
        named_files.in_folder(tmp_path / "run", manifest)
