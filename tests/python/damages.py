"""Damages of files: what a bad disk, a half copy or somebody who means harm leaves under the name of a file."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

BRACKETS = 200_000


def cut(path: Path) -> None:
    """Keep the first half."""
    os.truncate(path, path.stat().st_size // 2)


def _put(path: Path, content: bytes) -> None:
    path.unlink()
    path.write_bytes(content)


def emptied(path: Path) -> None:
    _put(path, b"")


def no_text(path: Path) -> None:
    """Put bytes that are no UTF-8, and no table."""
    _put(path, b"\xff\xfe\x00\x80" * 100)


def nested(path: Path) -> None:
    """Put brackets within brackets, as JSON or as TOML."""
    start = b"a = " if path.suffix == ".toml" else b""
    _put(path, start + b"[" * BRACKETS + b"]" * BRACKETS + b"\n")


def endless(path: Path) -> None:
    """Put a link to a device that never ends."""
    path.unlink()
    path.symlink_to("/dev/zero")


def piped(path: Path) -> None:
    """Put a pipe that nobody writes to."""
    path.unlink()
    os.mkfifo(path)


def looping(path: Path) -> None:
    """Put a link to itself."""
    path.unlink()
    path.symlink_to(path.name)


def folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def huge(path: Path) -> None:
    """Put a file of 10 TB, all of it a hole."""
    path.unlink()
    path.touch()
    os.truncate(path, 10**13)


def no_entries(path: Path) -> None:
    """Put a whole file of its kind that has nothing in it."""
    if path.suffix == ".parquet":
        path.unlink()
        pq.write_table(pa.table({}), path)
    else:
        _put(path, b"{}" if path.suffix == ".json" else b"")


def texts(path: Path) -> None:
    """Put texts in the place of numbers, and numbers in that of texts."""
    if path.suffix == ".parquet":
        _rewrite(path, _other_type)
    elif path.suffix == ".json":
        _put(path, json.dumps(_other(json.loads(path.read_text()))).encode())
    else:
        _put(path, path.read_bytes().replace(b'"', b"").replace(b"= ", b"= 0"))


def nothing(path: Path) -> None:
    """Put nothing in the place of every value."""
    if path.suffix == ".parquet":
        _rewrite(path, lambda column: pa.nulls(len(column), column.type))
    elif path.suffix == ".json":
        _put(path, json.dumps(_none(json.loads(path.read_text()))).encode())
    else:
        _put(path, b"a = 1\n")


def large(path: Path) -> None:
    """Put numbers that are larger than any, and a text of a megabyte."""
    if path.suffix == ".parquet":
        _rewrite(path, _largest)
    elif path.suffix == ".json":
        _put(path, json.dumps(_huge(json.loads(path.read_text()))).encode())
    else:
        _put(path, b"a = " + b"9" * 5000 + b"\n")


def unpacking(path: Path) -> None:
    """Put a small table whose every column takes 200 GB of memory: each row has the same text of a megabyte."""
    if path.suffix != ".parquet":
        return huge(path)
    names = pq.read_schema(path).names
    path.unlink()
    codes = pa.array([0] * 200_000, pa.int32())
    words = pa.DictionaryArray.from_arrays(codes, pa.array(["x" * 10**6]))
    with pq.ParquetWriter(path, pa.schema([(name, words.type) for name in names]), store_schema=False) as writer:
        writer.write_table(pa.table([words] * len(names), names=names))
    return None


DAMAGES: dict[str, Callable[[Path], None]] = {
    one.__name__: one
    for one in (
        cut, emptied, no_text, nested, endless, piped, looping, folder, huge, no_entries, texts, nothing, large,
        unpacking,
    )
}  # fmt: skip


def _rewrite(path: Path, change: Callable[[pa.ChunkedArray], Any]) -> None:
    table = pq.read_table(path)
    path.unlink()
    pq.write_table(pa.table([change(column) for column in table.columns], names=table.column_names), path)


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def _other_type(column: pa.ChunkedArray) -> pa.Array:
    return pa.array(["x"] * len(column)) if _is_number(column.type) else pa.array([1.5] * len(column))


def _largest(column: pa.ChunkedArray) -> pa.Array:
    if pa.types.is_floating(column.type):
        return pa.array([1e308] * len(column))
    if pa.types.is_integer(column.type):
        return pa.array([2**63 - 1] * len(column), pa.int64())
    # in one row: a table of thousands would take gigabytes
    return pa.array((["x" * 10**6] + ["x"] * len(column))[: len(column)])


def _changed(value: Any, leaf: Callable[[Any], Any]) -> Any:
    if isinstance(value, dict):
        return {key: _changed(one, leaf) for key, one in value.items()}
    return [_changed(one, leaf) for one in value] if isinstance(value, list) else leaf(value)


def _other(value: Any) -> Any:
    return _changed(value, lambda one: 1.5 if isinstance(one, str) else "x")


def _none(value: Any) -> Any:
    return _changed(value, lambda _: None)


def _huge(value: Any) -> Any:
    return _changed(value, lambda one: "x" * 10**6 if isinstance(one, str) else 10**400)
