"""Reading files that others made: whatever they are, it has a bound and comes to an end."""

from __future__ import annotations

import os
import random
import select
import threading
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from damages import BRACKETS, DAMAGES, unpacking
from incast import FolderError, Scenario, ScenarioError
from incast.system import files, footers, memory


def table() -> pa.Table:
    """Give a table with columns of every kind that tables of the program have."""
    return pa.table(
        {
            "number": pa.array([1.5, None] * 20),
            "whole": pa.array(range(40), pa.uint64()),
            "text": pa.array(["a", "b", None, "a"] * 10),
            "long": pa.array(["a text", "another"] * 20, pa.large_string()),
            "code": pa.array(["a", "b"] * 20).dictionary_encode(),
            "yes": pa.array([True, False] * 20),
            "numbers": pa.array([[1, 2], [], None, [3]] * 10, pa.list_(pa.int64())),
            "texts": pa.array([["a", "b"], ["c"], None, []] * 10),
        }
    ).replace_schema_metadata({"engine": "build"})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    pq.write_table(table(), tmp_path / "table.parquet", row_group_size=7)
    return tmp_path / "table.parquet"


def test_a_table_is_read_as_it_was_written(path: Path) -> None:
    for source in (path, path.read_bytes()):
        found = files.read_table(source)
        assert found.equals(table()) and found.schema.equals(pq.read_schema(path), check_metadata=True)
        assert files.read_schema(source).equals(pq.read_schema(path))
        assert files.read_footer(source).num_rows == 40
    some = files.read_table(path, ["texts", "number"], threads=False, checksums=True)
    assert some.equals(table().select(["texts", "number"]))
    with pytest.raises(ValueError, match="it has no column other"):
        files.read_table(path, ["number", "other"])


def test_what_a_footer_says_is_what_arrow_says_of_it(path: Path) -> None:
    metadata = pq.read_metadata(path)
    columns = [metadata.row_group(i).column(j) for i in range(metadata.num_row_groups) for j in range(8)]
    expected = [(one.path_in_schema, one.physical_type, one.num_values, one.total_uncompressed_size) for one in columns]
    data = path.read_bytes()
    found = list(footers.chunks(data[-footers.size_of(data[-8:], len(data)) :]))
    assert [(one.path, one.kind, one.values, one.bytes) for one in found] == expected


def test_a_table_with_any_byte_changed_is_read_or_refused(path: Path) -> None:
    """Arrow ends the process where some bytes of a footer change, if it is asked for the columns that it tells of."""
    whole, draw = path.read_bytes(), random.Random(1)
    read = refused = 0
    for _ in range(400):
        changed = bytearray(whole)
        for _ in range(draw.choice((1, 3))):
            changed[draw.randrange(len(whole))] = draw.randrange(256)
        try:
            files.read_table(bytes(changed))
            read += 1
        except (ValueError, OSError):
            refused += 1
    assert read and refused


def test_a_table_that_unpacks_to_more_than_memory_is_refused_before_it_is_read(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    unpacking(path)
    assert path.stat().st_size < 1_000_000
    monkeypatch.setattr(files, "free_memory", lambda: 10e9)
    with pytest.raises(ValueError, match=r"it unpacks to 200 GB, which needs about 400 GB of memory, and .* is free"):
        files.read_table(path, ["text"])
    # numbers, of which each group has one value
    rows = 50_000
    one = pa.table({"number": pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int32()), pa.array([1.5]))})
    with pq.ParquetWriter(path, one.schema, store_schema=False) as writer:
        for _ in range(20):
            writer.write_table(one)
    assert path.stat().st_size < 100_000
    assert files.read_table(path).num_rows == 20 * rows
    monkeypatch.setattr(files, "SMALL", 1000)
    monkeypatch.setattr(files, "free_memory", lambda: 10e6)
    with pytest.raises(ValueError, match=r"it unpacks to 8 MB, which needs about 16 MB of memory, and 10 MB is free"):
        files.read_table(path)


@pytest.mark.parametrize("damage", [name for name in DAMAGES if name not in ("texts", "nothing", "large")])
def test_every_damage_is_told_at_once(damage: str, path: Path, tmp_path: Path) -> None:
    text = tmp_path / "text.json"
    text.write_text('{"a": [1, 2, {"b": "c"}]}')
    DAMAGES[damage](path)
    DAMAGES[damage](text)
    with pytest.raises((ValueError, OSError)) as error:
        files.read_table(path, ["number"])
    assert "\n" not in files.message_of(error.value)
    for read in (files.read_json, files.read_toml):
        if damage == "no_entries" or (damage, read) == ("emptied", files.read_toml):
            continue
        with pytest.raises((ValueError, OSError)) as error:
            read(text)
        assert 0 < len(files.message_of(error.value)) < 400


@pytest.mark.parametrize("read", [files.json_of, files.toml_of])
@pytest.mark.parametrize("depth", [80, 900, BRACKETS])
def test_nesting_has_a_bound(read: Any, depth: int) -> None:
    start = "a = " if read is files.toml_of else ""
    with pytest.raises(ValueError, match="nested too deeply; expected at most 64 levels"):
        read(start + "[" * depth + "]" * depth)
    assert read(start + "[" * 60 + "]" * 60)


def test_a_file_that_a_user_names_may_be_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(ValueError, match="is a pipe; expected a plain file"):
        files.read_text(pipe)
    assert files.read_text(pipe, pipes=True) == "", "nobody writes to it"
    # somebody has it open, and writes while it is read
    held = os.open(pipe, os.O_RDWR)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(files.read_text(pipe, pipes=True)))
    reader.start()
    for part in (b"a ", b"study"):
        os.write(held, part)
    while select.select([held], [], [], 0)[0]:  # until all of it is read
        time.sleep(0.005)
    os.close(held)
    reader.join(10)
    assert read == ["a study"]


def test_a_scenario_may_come_from_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(ScenarioError, match="pipe: it is empty; expected a scenario"):
        Scenario.load(pipe)
    known = Scenario.load("dumbbell")
    # as in a shell: who writes waits for who reads
    writer = threading.Thread(target=pipe.write_text, args=[known.toml()])
    writer.start()
    assert Scenario.load(pipe) == known
    writer.join(10)


def test_what_is_read_has_a_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"x" * 1000)
    assert files.read_bytes(path, 1000) == b"x" * 1000
    with pytest.raises(ValueError, match="has 1 kB or more; expected at most 999 B"):
        files.read_bytes(path, 999)
    with pytest.raises(ValueError, match="or more; expected at most 64 B"):
        files.read_bytes(Path("/proc/self/status"), 64)  # of no size, as a pipe
    monkeypatch.setattr(files, "SMALL", 100)
    monkeypatch.setattr(files, "free_memory", lambda: 1800.0)
    with pytest.raises(ValueError, match="expected at most 900 B"):
        files.read_bytes(path)


def test_memory_that_is_free_is_what_every_limit_leaves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = tmp_path / "slurm" / "job"
    own.mkdir(parents=True)
    (tmp_path / "groups").write_text("0::/slurm/job\n")
    monkeypatch.setattr(memory, "GROUPS", tmp_path / "groups")
    monkeypatch.setattr(memory, "HIERARCHY", tmp_path)
    machine = memory.free_memory()
    (tmp_path / "slurm" / "memory.max").write_text("3000000\n")
    (tmp_path / "slurm" / "memory.current").write_text("1000000\n")
    (own / "memory.max").write_text("max\n")
    (own / "memory.current").write_text("900000\n")
    assert memory.free_memory() == 2e6 < machine
    assert memory.machine_memory() == 3e6
    (tmp_path / "slurm" / "memory.stat").write_text("anon 5\ninactive_file 600000\n")
    assert memory.free_memory() == 2.6e6, "what is kept of files is given back"
    (own / "memory.max").write_text("1000000\n")
    assert memory.free_memory() == 1e5
    # version 1, as older systems have it
    monkeypatch.setattr(memory, "HIERARCHY", tmp_path / "v1")
    old = tmp_path / "v1" / "memory" / "job"
    old.mkdir(parents=True)
    (tmp_path / "groups").write_text("5:memory:/job\n4:cpu:/\n")
    (old / "memory.limit_in_bytes").write_text("5000000")
    (old / "memory.usage_in_bytes").write_text("1000000")
    assert memory.free_memory() == 4e6 and memory.machine_memory() == 5e6


def test_what_contradicts_itself_is_told_and_a_mistake_of_ones_own_is_not_hidden(tmp_path: Path) -> None:
    with (
        pytest.raises(FolderError, match=r"cannot be read: KeyError: 'a'; if incast wrote it, please report") as told,
        files.held(tmp_path),
    ):
        {}["a"]
    assert isinstance(told.value.__cause__, KeyError)
    with pytest.raises(AssertionError), files.held(tmp_path):
        raise AssertionError("a rule of the program's own")
