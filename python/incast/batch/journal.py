"""Journal of finished runs: records with checksums, appended one after the other.

Records go from workers into a journal, from which a batch goes on after a kill, and from there into chunks of a store.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from incast.errors import FolderError
from incast.system import files
from incast.system.folders import refuse_other, writing

if TYPE_CHECKING:
    import pyarrow as pa

_MAGIC = b"INC2"
_HEAD = struct.Struct("<4sQ32sI")
"""Magic, size of the body, SHA-256 of the next number and the body, size of its JSON part."""

Figure = str | int | float | None


@dataclass(frozen=True)
class Record:
    """A finished run."""

    run: str
    figures: dict[str, Figure]
    cost: dict[str, float]
    tables: Mapping[str, bytes]
    """Arrow streams, or other data, by name."""

    def table(self, name: str) -> pa.Table:
        """Return one of the kept tables."""
        import pyarrow as pa

        return pa.ipc.open_stream(self.tables[name]).read_all()


def packed(run: str, figures: dict[str, Figure], cost: dict[str, float], tables: Mapping[str, bytes]) -> bytes:
    """Assemble a record: ``tables`` are Arrow streams by name."""
    sizes = {name: len(data) for name, data in tables.items()}
    head = json.dumps({"run": run, "figures": figures, "cost": cost, "tables": sizes}, separators=(",", ":")).encode()
    body = b"".join([head, *tables.values()])
    return _HEAD.pack(_MAGIC, len(body), _digest(len(head), body), len(head)) + body


def _digest(head_size: int, body: bytes) -> bytes:
    digest = hashlib.sha256(head_size.to_bytes(4, "little"))
    digest.update(body)
    return digest.digest()


def _unpacked(body: bytes, head_size: int) -> Record:
    head = files.json_of(body[:head_size])
    tables, at = {}, head_size
    for name, size in head["tables"].items():
        tables[name] = body[at : at + size]
        at += size
    return Record(head["run"], head["figures"], head["cost"], tables)


def read_record(data: bytes) -> Record:
    """Read a record; raises ``FolderError`` if it is damaged."""
    found = _read_body(io.BytesIO(data))
    if found is None:
        raise FolderError("a record of a run is damaged")
    return _unpacked(*found)


def _read_body(file: BinaryIO) -> tuple[bytes, int] | None:
    """Read the body of the next record and the size of its JSON part; ``None`` if no complete one follows."""
    head = file.read(_HEAD.size)
    if len(head) < _HEAD.size:
        return None
    magic, size, digest, head_size = _HEAD.unpack(head)
    if magic != _MAGIC:
        return None
    place = file.tell()
    there = file.seek(0, io.SEEK_END) - place
    file.seek(place)
    if size > there:  # also if a changed byte makes it larger than memory
        return None
    body = file.read(size)
    if len(body) < size or _digest(head_size, body) != digest:
        return None
    return body, head_size


class Journal:
    """Append-only file of records; an incomplete record of a killed program at its end is cut off."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: BinaryIO | None = None
        self.size = 0

    def runs(self) -> Iterator[tuple[str, int]]:
        """Yield the complete runs in the file with their places, and find the end."""
        if not self.path.exists():
            return
        with self._whole(), files.opened(self.path) as file:
            while True:
                place = file.tell()
                found = _read_body(file)
                if found is None:
                    break
                self.size = file.tell()
                yield str(files.json_of(found[0][: found[1]])["run"]), place

    def read(self, place: int) -> Record:
        """Read the record at a place."""
        with self._whole(), files.opened(self.path) as file:
            file.seek(place)
            found = _read_body(file)
            if found is None:
                raise ValueError("a record is not whole")
            return _unpacked(*found)

    @contextlib.contextmanager
    def _whole(self) -> Iterator[None]:
        """Turn damage of records into a ``FolderError`` that names the journal."""
        try:
            yield
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            message = f"{self.path} is damaged: {files.message_of(error)}"
            raise FolderError(f"{message}; remove it and run the study again") from None

    def append(self, data: bytes) -> int:
        """Append a record after the last complete one; return its place."""
        if self._file is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            refuse_other(self.path)
            self._file = self.path.open("r+b" if self.path.exists() else "w+b")
        place = self.size
        try:
            with writing(self.path):
                self._file.seek(place)
                self._file.write(data)
                self._file.truncate()
                self._file.flush()
        except OSError:
            # the buffer is lost anyway
            with contextlib.suppress(OSError):
                self._file.close()
            self._file = None
            raise
        self.size = place + len(data)
        return place

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
            self._file = None
