"""Parquet footers: the number of values in each column, read before the columns.

Arrow can read footers too, but aborts the process on some damaged ones. The format is Thrift's compact protocol
(https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md) with the field numbers of
parquet.thrift (https://github.com/apache/parquet-format).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

MAGIC = b"PAR1"
MOST = 16 << 20
"""Most bytes of a footer: a table of 50,000 groups and columns has as many."""
MOST_DEPTH = 16
"""Most nested structures: the format has six."""
TYPES = ("BOOLEAN", "INT32", "INT64", "INT96", "FLOAT", "DOUBLE", "BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY")
TRUE, FALSE, BYTE, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = 1, 2, 3, 7, 8, 9, 10, 11, 12
WHOLE = (4, 5, 6)


@dataclass(frozen=True)
class Chunk:
    """A column in a group of rows."""

    path: str
    kind: str
    """Type of the values, one of ``TYPES``."""
    values: int
    """Number of values, including missing ones."""
    bytes: int
    """Uncompressed size of its pages."""


def chunks(tail: bytes) -> Iterator[Chunk]:
    """Yield the columns of all groups; ``tail`` is a file from its footer on. Raises ``ValueError`` if damaged."""
    footer = _Reader(tail[:-8]).struct(MOST_DEPTH)
    try:
        for group in footer.get(4, []):
            for column in group[1]:
                metadata = column[3]
                path = b".".join(metadata[3]).decode()
                values, size = metadata[5], metadata[6]
                if values < 0 or size < 0:
                    raise ValueError("its end tells of sizes below 0")
                yield Chunk(path, TYPES[metadata[1]], values, size)
    except (AttributeError, IndexError, KeyError, TypeError) as error:
        raise ValueError("its end is damaged") from error


def size_of(end: bytes, there: int) -> int:
    """Return the start of the footer, counted from the end, of a file of ``there`` bytes that ends in ``end``."""
    size = int.from_bytes(end[:4], "little") + 8
    if len(end) < 8 or end[4:] != MAGIC or size + len(MAGIC) > there:
        raise ValueError("its end is missing or damaged: expected a whole Parquet file")
    if size > MOST:
        raise ValueError(f"its footer has {size:,} bytes; expected at most {MOST:,}")
    return size


class _Reader:
    """Reader of the compact protocol."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def byte(self) -> int:
        at = self.at
        if at >= len(self.data):
            raise ValueError("its end is cut short")
        self.at = at + 1
        return self.data[at]

    def number(self) -> int:
        """Read an unsigned integer, seven bits per byte."""
        value = self.byte()
        if value < 0x80:
            return value
        value, shift = value & 0x7F, 7
        while True:
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7
            if shift > 63:
                raise ValueError("its end has a number of more than 64 bits")

    def whole(self) -> int:
        """Read a signed integer, with the sign in the lowest bit."""
        value = self.number()
        return (value >> 1) ^ -(value & 1)

    def binary(self) -> bytes:
        size = self.number()
        at = self.at
        self.at = at + size
        if self.at > len(self.data):
            raise ValueError("its end is cut short")
        return self.data[at : self.at]

    def struct(self, depth: int) -> dict[int, Any]:
        """Read the fields of a structure by number."""
        if depth == 0:
            raise ValueError("its end is nested too deeply")
        fields: dict[int, Any] = {}
        number = 0
        while head := self.byte():
            number = number + (head >> 4) if head >> 4 else self.whole()
            kind = head & 0x0F
            fields[number] = kind == TRUE if kind in (TRUE, FALSE) else self.value(kind, depth)
        return fields

    def value(self, kind: int, depth: int) -> Any:
        """Read a value of a type."""
        if kind in WHOLE:
            return self.whole()
        if kind == BINARY:
            return self.binary()
        if kind == STRUCT:
            return self.struct(depth - 1)
        if kind in (LIST, SET):
            head = self.byte()
            count = head >> 4 if head >> 4 < 15 else self.number()
            self._refuse_beyond(count)
            inner = head & 0x0F
            return [self.value(inner, depth) for _ in range(count)]
        if kind == MAP:
            count = self.number()
            self._refuse_beyond(count)
            kinds = self.byte() if count else 0
            return [(self.value(kinds >> 4, depth), self.value(kinds & 0x0F, depth)) for _ in range(count)]
        if kind in (TRUE, FALSE, BYTE):
            return self.byte()
        if kind == DOUBLE:
            self.at += 8
            return None
        raise ValueError("its end has a value of no type")

    def _refuse_beyond(self, count: int) -> None:
        # each value has at least one byte
        if count > len(self.data) - self.at:
            raise ValueError("its end is cut short")
