"""Levels of a timeline: what a page of a large run opens with is what all of its rows say."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import viewed
from incast.errors import FolderError
from incast.system import files
from incast.view import levels, page, reading, sources
from incast.view.packing import Pack

FRAMES, FIRST = 30, 5


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Give small runs levels, without a viewer."""
    monkeypatch.setattr(page, "viewer", lambda: viewed.SHELL)
    monkeypatch.setattr(levels, "LEAST_ROWS", 1)
    monkeypatch.setattr(levels, "FIRST", FIRST)
    yield


def opened(folder: Path) -> tuple[dict[str, Any], Pack]:
    """Describe a folder; its parts are made on access."""
    pack = Pack()
    return reading.described(sources.Folder(folder), "r", pack), pack


def read(folder: Path) -> dict[str, np.ndarray[Any, Any]]:
    """Read the levels of a folder as a page does."""
    described, pack = opened(folder)
    assert described["levels"]["metric"] == "queue_max_bytes"
    return {name: viewed.unpacked(pack[at]) for name, at in described["levels"]["columns"].items()}


def test_levels_are_what_all_rows_say(tmp_path: Path) -> None:
    folder = viewed.write(tmp_path / "r", frames=FRAMES)
    rows = pq.read_table(folder / "timeline_ports.parquet").to_pylist()
    ports = pq.read_metadata(folder / "ports.parquet").num_rows
    found = read(folder)
    worst = [max([row["queue_max_bytes"] for row in rows if row["port"] == port], default=0) for port in range(ports)]
    assert found["worst"].tolist() == worst
    by_frame = [[row for row in rows if row["frame"] == frame] for frame in range(FRAMES)]
    largest = [max(own, key=lambda row: (row["queue_max_bytes"], -row["port"])) for own in by_frame]
    assert found["most"].tolist() == [row["queue_max_bytes"] for row in largest]
    assert found["most_port"].tolist() == [row["port"] for row in largest]
    assert found["sum"].tolist() == [sum(row["queue_max_bytes"] for row in own) for own in by_frame]
    opens = int(np.argmax(found["most"]))
    first = sorted(range(ports), key=lambda port: (-worst[port], port))[:FIRST]
    kept = [row for row in rows if row["frame"] == opens or row["port"] in first]
    assert (found["opens"], found["busy"], found["first"]) == ([opens], [FRAMES], [FIRST])
    assert found["value"].tolist() == [row["queue_max_bytes"] for row in kept]
    assert found["port"].tolist() == [row["port"] for row in kept]
    assert np.repeat(np.arange(FRAMES), np.diff(found["starts"].astype(int))).tolist() == [
        row["frame"] for row in kept
    ]  # fmt: skip


def test_of_equal_frames_that_with_most_of_all_ports_opens_and_then_the_first(tmp_path: Path) -> None:
    folder = viewed.write(tmp_path / "r", frames=4)
    table = pq.read_table(folder / "timeline_ports.parquet").slice(0, 8)
    frame, port, value = [0, 0, 1, 1, 2, 2, 3, 3], [3, 5, 4, 6, 1, 2, 0, 1], [9, 1, 9, 2, 9, 2, 9, 1]
    for name, own in (("frame", frame), ("port", port), ("queue_max_bytes", value)):
        at = table.column_names.index(name)
        table = table.set_column(at, name, pa.array(own, table.schema.field(at).type))
    pq.write_table(table, folder / "timeline_ports.parquet")
    found = read(folder)
    assert (found["opens"], found["most_port"].tolist()) == ([1], [3, 4, 1, 0])


def test_levels_are_made_once_and_kept_beside_the_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = viewed.write(tmp_path / "r", frames=FRAMES)
    found = read(folder)
    with monkeypatch.context() as no_tables:
        no_tables.setattr(levels, "columns", None)
        again = read(folder)
    assert again.keys() == found.keys() == {*levels.NAMES}
    assert all(np.array_equal(again[name], found[name]) for name in found)


@pytest.mark.parametrize("damage", ["cut", "empty", "changed", "link", "folder", "bomb"])
def test_a_file_of_levels_that_is_damaged_is_as_good_as_none(tmp_path: Path, damage: str) -> None:
    folder = viewed.write(tmp_path / "r", frames=FRAMES)
    found = read(folder)
    path = folder / levels.FILE
    data = path.read_bytes()
    path.unlink()
    if damage == "link":
        (tmp_path / "elsewhere").write_bytes(data[:40])
        path.symlink_to(tmp_path / "elsewhere")
    elif damage == "folder":
        path.mkdir()
    elif damage == "bomb":
        path.write_bytes(data[:32] + zlib.compress(bytes(10**6)))
    else:
        changed = bytes([*data[:-9], data[-9] ^ 1, *data[-8:]])
        path.write_bytes({"cut": data[:-5], "empty": b"", "changed": changed}[damage])
    again = read(folder)
    assert all(np.array_equal(again[name], found[name]) for name in found)
    assert (damage == "folder") == path.is_dir()
    assert (damage == "link") == path.is_symlink()


def test_what_a_page_opens_with_is_read_without_pandas(tmp_path: Path) -> None:
    folder = viewed.write(tmp_path / "r", frames=FRAMES)
    code = (
        "import sys, viewed; from pathlib import Path; from incast.view import levels, packing, reading, sources\n"
        "levels.LEAST_ROWS = 1; pack = packing.Pack()\n"
        "reading.described(sources.Folder(Path(sys.argv[1])), 'r', pack)\n"
        "assert all(pack[at] for at in range(pack.first)) and 'pandas' not in sys.modules"
    )
    subprocess.run(
        [sys.executable, "-c", code, str(folder)], check=True, env=os.environ | {"PYTHONPATH": ":".join(sys.path)}
    )


def test_levels_of_other_tables_are_made_anew(tmp_path: Path) -> None:
    folder, other = viewed.write(tmp_path / "r", frames=FRAMES), viewed.write(tmp_path / "s", frames=FRAMES, seed=8)
    stale = read(folder)
    (folder / "timeline_ports.parquet").write_bytes((other / "timeline_ports.parquet").read_bytes())
    fresh = read(folder)
    assert not np.array_equal(stale["worst"], fresh["worst"])
    assert all(np.array_equal(own, fresh[name]) for name, own in read(other).items())


def test_a_damaged_run_is_refused_whatever_levels_it_has(tmp_path: Path) -> None:
    folder = viewed.write(tmp_path / "r", frames=FRAMES)
    read(folder)
    table = folder / "timeline_ports.parquet"
    whole = table.read_bytes()
    table.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(FolderError, match="timeline_ports.parquet cannot be read"):
        opened(folder)
    # its end is whole: what is damaged is told of where it is read
    table.write_bytes(whole[:8] + bytes(len(whole) // 2) + whole[8 + len(whole) // 2 :])
    described, pack = opened(folder)
    with pytest.raises(FolderError, match=r"timeline_ports.parquet (cannot be read|is damaged)"):
        for at in described["records"]["columns"].values():
            assert pack[at]
    table.unlink()
    with pytest.raises(FolderError, match="timeline_ports.parquet is missing"):
        opened(folder)


def test_a_run_that_another_replaces_is_told_of(tmp_path: Path) -> None:
    folder, other = viewed.write(tmp_path / "r", frames=FRAMES), viewed.write(tmp_path / "s", frames=FRAMES, seed=8)
    described, pack = opened(folder)
    (other / "timeline_ports.parquet").replace(folder / "timeline_ports.parquet")
    with pytest.raises(FolderError, match="has been replaced by that of another run"):
        assert pack[described["levels"]["columns"]["worst"]]


def test_a_folder_that_cannot_be_written_has_its_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = viewed.write(tmp_path / "r", frames=FRAMES)

    def refused(*_: Any) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(sources.remembered, "write_whole", refused)
    assert len(read(folder)["most"]) == FRAMES
    assert not (folder / levels.FILE).exists()


def test_a_page_begins_with_what_it_opens_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = viewed.write(tmp_path / "r", frames=FRAMES)
    text = page.page([folder])
    first, _, rest = text.partition(page.FIRST)
    described, pack = opened(folder)
    early, late = (set(map(int, re.findall(r'id="incast-(\d+)"', part))) for part in (first, rest))
    assert early | late == set(range(len(pack))) and not early & late
    levels_of, records = described["levels"]["columns"].values(), described["records"]["columns"].values()
    assert {described["timeline"], described["told"], *levels_of, *described["flows"]["columns"].values()} <= early
    assert {*records, *described["by_flow"]["columns"].values()} <= late
    # two runs are shown beside one another, of all rows; small ones have none
    assert not re.search(r'id="incast-\d', page.page([folder, folder]).partition(page.FIRST)[2])
    monkeypatch.setattr(levels, "LEAST_ROWS", 10**6)
    assert opened(folder)[0]["levels"] is None


@pytest.mark.parametrize("kind", [pa.uint8(), pa.uint32(), pa.int64(), pa.float16(), pa.float32(), pa.float64()])
def test_numbers_of_arrays_are_theirs_and_missing_ones_nan(kind: pa.DataType) -> None:
    values = [None if i % 3 == 1 else i for i in range(21)]
    for array in (pa.array(np.arange(21).astype(kind.to_pandas_dtype())), pa.array(values, pa.float64()).cast(kind)):
        for part in (array, array[2:19], array[9:9], array[7:]):
            expected = [np.nan if value is None else value for value in part.to_pylist()]
            assert np.array_equal(files.numbers_of(part), np.array(expected), equal_nan=True)
