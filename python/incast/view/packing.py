"""Columns for a browser: typed arrays, deflated, base64 in a file. All values are exact.

Whole numbers take the narrowest unsigned type, ascending ones as differences. Columns with few distinct numbers, and
texts, are stored as indices into a list. Bytes of equal significance are grouped, which compresses better. A column is
self-describing: a JSON head precedes the data, and the length of the head as u32 precedes the head.
"""

from __future__ import annotations

import base64
import json
import struct
import zlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from incast.errors import FolderError
from incast.system import files
from incast.view.kept import Kept

if TYPE_CHECKING:
    import pyarrow as pa

WIDTHS = (("u8", 2**8), ("u16", 2**16), ("u32", 2**32))
FEW = 2**16
"""Most distinct values of a column that is stored as indices."""
EXACT = 2**53
"""Whole numbers from here on are not exact in a browser."""
KEPT_BYTES = 2**29
"""Cache size for columns of tables, or one larger column."""
ORDER_BYTES = 2**29
"""Cache size for row orders (4 bytes a row), or one larger order."""
SMALL, FAST = 6, 1
"""Compression levels: of a file to keep and mail (9 takes five times as long, for 1 % less), and of a local server."""


UNFORESEEN = (LookupError, MemoryError, NotImplementedError, TypeError, ValueError)
"""Exceptions of numpy and Arrow for untrusted tables, beyond what is checked."""


class OddError(ValueError):
    """A number is out of range; the message continues the name of its column."""


class Pack:
    """Numbered parts of a page. A part is made on access, and not cached.

    ``kept`` caches columns that several parts use. ``orders`` separately caches the row orders of their blocks, so that
    reading a column does not evict the order that all its blocks need.
    """

    def __init__(self, level: int = SMALL) -> None:
        self._level = level
        self.kept = Kept(KEPT_BYTES)
        self.orders = Kept(ORDER_BYTES)
        self.first = 0
        """Number of the parts that a page of one run opens with; they come first."""
        self.place = ""
        """Run whose parts are being added, as named in messages."""
        self._makers: list[tuple[Callable[[], bytes], str]] = []

    def add(self, make: Callable[[], bytes]) -> int:
        """Add a part by the function that makes its bytes; return its number."""
        self._makers.append((make, self.place))
        return len(self._makers) - 1

    def text(self, value: Callable[[], Any]) -> int:
        """Add JSON data: base64 in a file, so names in it cannot be markup."""
        return self.add(lambda: _json(value()))

    def __len__(self) -> int:
        """Return the number of parts."""
        return len(self._makers)

    def __iter__(self) -> Iterator[bytes]:
        """Make all parts, one by one."""
        return (self[at] for at in range(len(self)))

    def __getitem__(self, at: int) -> bytes:
        """Make a part.

        Raises ``IndexError`` beyond the last, exceptions of reading its run, and ``FolderError`` for a table that
        cannot be shown.
        """
        make, place = self._makers[at]
        try:
            return zlib.compress(make(), self._level)
        except UNFORESEEN as error:
            run = place or "the run"
            raise FolderError(f"a table of {run} cannot be shown: {error!r}") from error


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()


Encoded = tuple[dict[str, Any], bytes]
"""Head of a column, and the bytes of its values."""


def _array(values: np.ndarray[Any, Any], kind: str, *, differences: bool) -> Encoded:
    width = values.dtype.itemsize
    if differences:
        values = np.diff(values, prepend=values.dtype.type(0))
    planes = np.ascontiguousarray(values).view(np.uint8).reshape(-1, width).T
    head: dict[str, Any] = {"kind": kind, "length": len(values)}
    return head | ({"differences": True} if differences else {}), np.ascontiguousarray(planes).tobytes()


def _whole(values: np.ndarray[Any, Any], *, differences: bool = False) -> Encoded:
    largest = int(values.max()) if len(values) else 0
    if largest >= EXACT:
        raise OddError(f"has {largest}; expected less than 2^53, which a browser holds exactly")
    for kind, bound in WIDTHS:
        if largest < bound:
            return _array(values.astype(f"<{kind[0]}{int(kind[1:]) // 8}"), kind, differences=differences)
    return _real(values.astype("<f8"))


def _real(values: np.ndarray[Any, Any]) -> Encoded:
    values = np.ascontiguousarray(values, dtype="<f8")
    few, places = np.unique(values.view("<u8"), return_inverse=True)
    if len(few) < min(FEW, len(values) // 4):
        (of, listed), (head, own) = _array(few.view("<f8"), "f64", differences=False), _whole(places)
        return head | {"of": of}, own + listed
    return _array(values, "f64", differences=False)


def _put(head: dict[str, Any], data: bytes) -> bytes:
    head_json = _json(head)
    return struct.pack("<I", len(head_json)) + head_json + data


def whole(values: np.ndarray[Any, Any], *, differences: bool = False) -> bytes:
    """Write whole numbers of at least 0; raises ``OddError`` from 2^53 on."""
    return _put(*_whole(values, differences=differences))


def real(values: np.ndarray[Any, Any]) -> bytes:
    """Write numbers; missing ones are NaN."""
    return _put(*_real(values))


def numbers(values: np.ndarray[Any, Any]) -> bytes:
    """Write numbers of any type."""
    return whole(values) if values.dtype.kind == "u" else real(values)


def column(column: pa.ChunkedArray) -> bytes:
    """Write a column of a table: text as indices, whole numbers, or numbers that may be missing."""
    if files.is_text(column.type):
        places: dict[str, int] = {}
        head, data = _whole(np.concatenate([np.zeros(0, np.uint64), *(_places(one, places) for one in column.chunks)]))
        texts = _json(list(places))
        return _put(head | {"texts": len(texts)}, data + texts)
    return numbers(array(column))


def _places(texts: pa.Array, places: dict[str, int]) -> np.ndarray[Any, Any]:
    """Return the indices of texts in a list, to which new ones are added; Arrow's functions would be slow to load."""
    import pyarrow as pa

    def place(text: str | None) -> int:
        return places.setdefault(text or "", len(places))

    if pa.types.is_dictionary(texts.type) and texts.null_count == 0:
        own: np.ndarray[Any, Any] = np.array(list(map(place, texts.dictionary.to_pylist())), np.uint64)
        chosen: np.ndarray[Any, Any] = own[files.numbers_of(texts.indices)]
        return chosen
    return np.array(list(map(place, texts.to_pylist())), np.uint64)


def places(column: pa.ChunkedArray, most: int) -> np.ndarray[Any, Any]:
    """Return a column of indices of frames, ports or flows: whole numbers from 0, below ``most``, of any numeric type.

    Raises ``OddError`` for other values.
    """
    import pyarrow as pa

    signed = pa.types.is_signed_integer(column.type) and not column.null_count
    values = _numbers(column) if signed else array(column)
    if values.dtype.kind != "u":
        if not np.all((values >= 0) & (values < 2**63) & (values == np.floor(values))):
            raise OddError("that is not a whole number of at least 0")
        values = values.astype(np.uint64)
    if len(values) and int(values.max()) >= most:
        raise OddError(f"of {most} or more")
    return values


def array(column: pa.ChunkedArray) -> np.ndarray[Any, Any]:
    """Return a column of numbers: whole numbers of at least 0 as integers, others as floats."""
    import pyarrow as pa

    if pa.types.is_boolean(column.type):
        column = column.cast(pa.uint8())
    if not pa.types.is_float64(column.type) and (column.null_count or not pa.types.is_unsigned_integer(column.type)):
        column = column.cast(pa.float64())
    return _numbers(column)


def _numbers(column: pa.ChunkedArray) -> np.ndarray[Any, Any]:
    parts = [files.numbers_of(chunk) for chunk in column.chunks]
    return np.concatenate(parts) if parts else np.zeros(0, column.type.to_pandas_dtype())


def base64_of(part: bytes) -> str:
    """Return a deflated part as base64 for a file."""
    return base64.b64encode(part).decode()
