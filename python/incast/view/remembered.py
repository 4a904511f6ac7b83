"""Files beside the tables of a run folder, with what was computed of these tables.

A file begins with a digest of the tables' sizes and ends, where Parquet has the places, sizes and ranges of all
columns. A file of other tables is as good as none, and is replaced. No file says that its tables are whole.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from incast.errors import FolderError
from incast.system import files
from incast.system.folders import write_whole

END = 1 << 16
"""Bytes at the end of a table that are part of the digest: its footer is smaller."""
MOST = 2**28
"""Most bytes of a file."""
DIGEST = 32


def _digest(folder: Path, tables: Sequence[str], bound: bytes) -> bytes:
    digest = hashlib.blake2b(bound, digest_size=DIGEST)
    for name in tables:
        path = folder / f"{name}.parquet"
        if not path.exists():
            digest.update(f"\n{name} -".encode())
            continue
        with files.opened(path) as file:
            size = os.fstat(file.fileno()).st_size
            file.seek(max(0, size - END))
            digest.update(f"\n{name} {size} ".encode() + file.read(END))
    return digest.digest()


def recall(folder: Path, name: str, tables: Sequence[str], bound: bytes) -> bytes | None:
    """Return what a folder's file has of these tables, and of what else it is bound to; ``None`` without."""
    with suppress(OSError, ValueError):
        kept = files.read_bytes(folder / name, MOST)
        if kept[:DIGEST] == _digest(folder, tables, bound):
            return kept[DIGEST:]
    return None


def remember(folder: Path, name: str, tables: Sequence[str], bound: bytes, data: bytes) -> None:
    """Write a folder's file, or leave it where that is not possible."""
    with suppress(OSError, ValueError, FolderError):
        write_whole(folder / name, _digest(folder, tables, bound) + data)
