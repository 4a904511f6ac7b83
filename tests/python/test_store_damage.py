"""Stores with damaged, lost, or incompatible files."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import Command
from incast import FolderError, Store
from incast.batch.journal import packed, read_record
from incast.study.api import extend
from stored import contents, small


def test_a_changed_byte_is_noticed(tmp_path: Path) -> None:
    store = small().run(tmp_path / "s")
    for name in (
        "chunks/0001-0000.parquet",
        "tables/flows/0001-0000.parquet",
        "runs.parquet",
        "studies/study/study.toml",
    ):
        path = tmp_path / "s" / name
        whole = path.read_bytes()
        path.write_bytes(whole[:100] + bytes([whole[100] ^ 1]) + whole[101:])
        assert store.damaged() == [f"{name}: its checksum differs"]
        with pytest.raises(FolderError, match="damaged"):
            if name.startswith("tables"):
                store.table("flows")
            elif name == "runs.parquet":
                _ = store.runs
            else:
                extend(Store.at(tmp_path / "s"), seeds=3)
        path.write_bytes(whole)
    assert store.damaged() == []


EXTENDED = pytest.mark.extended(part="python")


@pytest.mark.slow("studies that are made twice")
@pytest.mark.parametrize(
    "left", [None, pytest.param("{", marks=EXTENDED), pytest.param("[]", marks=EXTENDED), '{"format": 1}']
)
def test_a_store_without_its_head_says_what_repairs_it(left: str | None, tmp_path: Path, incast: Command) -> None:
    (tmp_path / "s.toml").write_text(small().toml())
    made = ("study", "run", "s.toml", "--store", "s", "--quiet")
    assert incast(*made).status == 0
    before = contents(tmp_path / "s")
    path = tmp_path / "s" / "store.json"
    path.unlink() if left is None else path.write_text(left)
    for words in (made, ("study", "status", "s"), ("query", "s", "select count(*) from runs")):
        incast(*words).refused("store.json", "repeat the command that made it with --rebuild")
    assert incast(*made, "--rebuild").status == 0
    assert contents(tmp_path / "s") == before


@pytest.mark.slow("studies that are made twice")
@pytest.mark.parametrize(
    ("left", "damaged"),
    [
        (None, False),
        ("a line short", True),
        *(
            pytest.param(left, damaged, marks=EXTENDED)
            for damaged in (False, True)
            for left in (None, "", "garbage", "a line short")
            if (left, damaged) not in {(None, False), ("a line short", True)}
        ),
    ],
)
def test_a_store_without_its_checksums_says_what_repairs_it(
    left: str | None, damaged: bool, tmp_path: Path, incast: Command
) -> None:
    (tmp_path / "s.toml").write_text(small().toml())
    made = ("study", "run", "s.toml", "--store", "s", "--quiet")
    assert incast(*made).status == 0
    before = contents(tmp_path / "s")
    path = tmp_path / "s" / "SHA256SUMS"
    lines = path.read_text().splitlines(keepends=True)
    if left is None:
        path.unlink()
    else:
        path.write_text("".join(lines[:-1]) if left == "a line short" else left)
    if damaged:
        chunk = tmp_path / "s" / "chunks" / "0001-0000.parquet"
        whole = chunk.read_bytes()
        chunk.write_bytes(whole[:100] + bytes([whole[100] ^ 1]) + whole[101:])
    if left in (None, "garbage"):
        for words in (made, ("study", "status", "s"), ("query", "s", "select count(*) from runs")):
            incast(*words).refused("SHA256SUMS", "repeat the command that made it with --rebuild")
    else:
        assert "no checksum" in incast("study", "status", "s", "--check").err
    assert incast(*made, "--rebuild").status == 0
    assert contents(tmp_path / "s") == before
    assert incast("study", "status", "s", "--check").status == 0


def test_a_query_refuses_a_changed_byte_of_a_table(tmp_path: Path, incast: Command) -> None:
    small().run(tmp_path / "s")
    path = tmp_path / "s" / "tables" / "flows" / "0001-0000.parquet"
    whole = path.read_bytes()
    path.write_bytes(whole[:222] + bytes([whole[222] ^ 1]) + whole[223:])
    incast("query", "s", "select count(*) from flows").refused("0001-0000.parquet", "its checksum is not the one in")


@pytest.mark.slow("a store is repaired 22 times")
def test_bytes_beside_the_checksums_of_pages_are_restored(tmp_path: Path) -> None:
    """Headers of pages have no checksum: without SHA256SUMS their damage is mended, not kept."""
    store = small().run(tmp_path / "s")
    chunk = tmp_path / "s" / "chunks" / "0001-0000.parquet"
    whole = chunk.read_bytes()
    for place in range(4, 180, 8):
        (tmp_path / "s" / "SHA256SUMS").unlink()
        chunk.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        again = Store(store.folder)
        again.repair_sums()
        assert again.broken() or chunk.read_bytes() == whole, place


@pytest.mark.slow("a study that is made twice")
def test_a_store_of_another_version_or_build_is_refused(tmp_path: Path, incast: Command) -> None:
    small().run(tmp_path / "s")
    head = json.loads((tmp_path / "s" / "store.json").read_text())
    (tmp_path / "s" / "store.json").write_text(json.dumps(head | {"format": 99}))
    incast("study", "status", "s").refused("a store of format 99: expected 1")
    (tmp_path / "s" / "store.json").write_text(json.dumps(head | {"engine": "0" * 16}))
    incast("study", "extend", "s", "--seeds", "3", "--quiet").refused("another build of the engine", "--rebuild")
    assert incast("study", "extend", "s", "--seeds", "3", "--quiet", "--rebuild").status == 0
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "file").touch()
    incast("study", "status", "other").refused("no store.json")
    with pytest.raises(FolderError, match="is not empty and holds no store"):
        small().run(tmp_path / "other")


def test_any_changed_byte_of_a_record_is_noticed_and_asks_for_no_memory() -> None:
    """Also of its head: the lengths that stand there decide how the rest is read."""
    whole = packed("a" * 16, {"fct.mean_s": 0.25}, {"cpu_s": 1.0}, {"flows": b"rows"})
    assert read_record(whole).figures == {"fct.mean_s": 0.25}
    for place in range(len(whole)):
        for bit in (1, 128):
            changed = bytearray(whole)
            changed[place] ^= bit
            with pytest.raises(FolderError, match="damaged"):
                read_record(bytes(changed))


@pytest.mark.slow("a study with its report, made and repaired")
def test_a_lost_log_says_what_restores_it(tmp_path: Path, incast: Command) -> None:
    (tmp_path / "s.toml").write_text(small(name="s").toml())
    made = ("study", "run", "s.toml", "--store", "s", "--quiet")
    assert incast(*made).status == 0
    shutil.rmtree(tmp_path / "s/log")
    incast("study", "status", "s").refused("s has no log/", "repeat the command that made it with --rebuild")
    assert incast(*made, "--rebuild").status == 0
    assert incast("study", "status", "s").status == 0


@pytest.mark.extended(part="python")
def test_a_damaged_study_file_has_a_way_out(tmp_path: Path, incast: Command) -> None:
    (tmp_path / "s.toml").write_text(small(name="s").toml())
    made = ("study", "run", "s.toml", "--store", "s", "--quiet")
    assert incast(*made).status == 0
    kept = tmp_path / "s/studies/s/study.toml"
    for text in (b"\xff\xfe", b"scenario = ", b"names = 3\n"):
        kept.write_bytes(text)
        incast("study", "extend", "s", "--seeds", "3").refused("study.toml", "--rebuild")
        # without its checksum the text itself is read
        sums = (tmp_path / "s/SHA256SUMS").read_text().splitlines(keepends=True)
        (tmp_path / "s/SHA256SUMS").write_text("".join(line for line in sums if "study.toml" not in line))
        incast("study", "extend", "s", "--seeds", "3").refused(
            "study.toml", "incast study run FILE --store s --rebuild"
        )
        assert incast(*made, "--rebuild").status == 0
        assert 'name = "s"' in kept.read_text()


def test_a_worker_started_by_hand_says_so() -> None:
    for words, status in ((["--help"], 0), ([], 2), (["a", "b"], 2)):
        done = subprocess.run([sys.executable, "-m", "incast.batch", *words], capture_output=True, text=True)
        assert done.returncode == status and "usage: " in done.stderr and "Traceback" not in done.stderr


def _of_no_study(folder: Path) -> tuple[Store, set[str]]:
    """Make a store with one chunk; return it, and the runs that its study no longer has."""
    small(keep=["flows", "ports"]).run(folder)
    store = small(keep=["flows", "ports"], axes={"controller.g": [0.5]}).run(folder)
    return store, store.known() - set(store.runs["run"].to_pylist())


def _changed(path: Path) -> None:
    whole = path.read_bytes()
    path.write_bytes(whole[:100] + bytes([whole[100] ^ 1]) + whole[101:])


@pytest.mark.slow("studies, repaired twice")
def test_a_repair_keeps_runs_that_no_study_has(tmp_path: Path) -> None:
    """Runs of values that a study no longer has cannot be repeated."""
    store, others = _of_no_study(tmp_path / "s")
    before, told = contents(tmp_path / "s"), list[str]()
    assert len(others) == 2
    (tmp_path / "s/log/0001-0000.parquet").unlink()
    small(keep=["flows", "ports"], axes={"controller.g": [0.5]}).run(tmp_path / "s", rebuild=True, tell=told.append)
    assert contents(tmp_path / "s") == before
    assert len(told) == 1 and "the cost of 2 runs that no study can repeat" in told[0]
    _changed(tmp_path / "s/tables/flows/0001-0000.parquet")
    told.clear()
    small(keep=["flows", "ports"], axes={"controller.g": [0.5]}).run(tmp_path / "s", rebuild=True, tell=told.append)
    store = Store(tmp_path / "s")
    assert store.known() >= others == set(store.table("ports")["run"].to_pylist()) & others
    assert not set(store.table("flows")["run"].to_pylist()) & others
    assert len(told) == 1 and "tables/flows/0001-0000.parquet cannot be read" in told[0] and min(others) in told[0]
    assert store.damaged() == []


def test_a_repair_says_which_runs_are_lost(tmp_path: Path) -> None:
    store, others = _of_no_study(tmp_path / "s")
    _changed(tmp_path / "s/chunks/0001-0000.parquet")
    with pytest.warns(UserWarning, match="it had 2 runs that no study can repeat .*, now lost") as told:
        small(keep=["flows", "ports"], axes={"controller.g": [0.5]}).run(tmp_path / "s", rebuild=True)
    assert all(run in str(told[0].message) for run in others)
    store = Store(tmp_path / "s")
    assert store.known() == set(store.runs["run"].to_pylist()) and store.damaged() == []


def test_a_repair_says_that_nothing_lists_runs_which_are_lost(tmp_path: Path) -> None:
    """The log has the identities of the runs too; without both, those of no study are unknown."""
    _of_no_study(tmp_path / "s")
    (tmp_path / "s/log/0001-0000.parquet").write_bytes(b"none")
    _changed(tmp_path / "s/chunks/0001-0000.parquet")
    with pytest.warns(UserWarning, match="neither of .* no study can repeat are lost, and nothing lists them"):
        small(keep=["flows", "ports"], axes={"controller.g": [0.5]}).run(tmp_path / "s", rebuild=True)
    store = Store(tmp_path / "s")
    assert store.known() == set(store.runs["run"].to_pylist()) and store.damaged() == []


def test_damage_beside_the_rows_of_a_chunk_loses_no_run(tmp_path: Path) -> None:
    """A header changes and the rows do not: they encode to the same checksum."""
    _of_no_study(tmp_path / "s")
    before = contents(tmp_path / "s")
    chunk = tmp_path / "s/chunks/0001-0000.parquet"
    chunk.write_bytes(b"XXXX" + chunk.read_bytes()[4:])
    small(keep=["flows", "ports"], axes={"controller.g": [0.5]}).run(tmp_path / "s", rebuild=True)
    assert contents(tmp_path / "s") == before
