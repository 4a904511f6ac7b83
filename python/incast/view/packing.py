"""Columns that a browser unpacks: typed arrays, deflated, in a file as base64. Every value is exact.

Whole numbers take the narrowest unsigned type that holds the largest, ascending ones as differences. Numbers of few
values are stored as places in a list of these, texts too. Bytes of one significance stand together, which deflates
better. The bytes of a column say themselves what they are: a head as JSON stands before them, and its length as u32
before the head.
"""

from __future__ import annotations

import base64
import json
import struct
import zlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from incast import files
from incast.errors import FolderError
from incast.view.kept import Kept

if TYPE_CHECKING:
    import pyarrow as pa

WIDTHS = (("u8", 2**8), ("u16", 2**16), ("u32", 2**32))
FEW = 2**16
"""Most values of a column that is stored as places in a list."""
EXACT = 2**53
"""Whole numbers from here on are not all numbers of a browser."""
KEPT_BYTES = 2**29
"""What a page keeps in memory of columns of tables, at most, or one column that is larger."""
ORDER_BYTES = 2**29
"""What it keeps beside them of orders of rows by blocks, 4 B a row, at most, or one order that is larger."""
SMALL, FAST = 9, 1
"""Levels of deflation: of a file that is kept and mailed, and of what a server of the same machine hands out."""


UNFORESEEN = (LookupError, MemoryError, NotImplementedError, TypeError, ValueError)
"""What numpy and Arrow raise of tables that others have written, beyond what is checked."""


class OddError(ValueError):
    """A number is not what it can be; in words after what it is of."""


class Pack:
    """Parts of a page, each under a number. A part is made when it is taken, and not kept.

    ``kept`` has columns of tables that several parts are made of, ``orders`` where the rows of their blocks are: a
    column that is read makes no order go, which all its blocks need.
    """

    def __init__(self, level: int = SMALL) -> None:
        self._level = level
        self.kept = Kept(KEPT_BYTES)
        self.orders = Kept(ORDER_BYTES)
        self.place = ""
        """The run whose parts are added, as messages name it."""
        self._makers: list[tuple[Callable[[], bytes], str]] = []

    def add(self, make: Callable[[], bytes]) -> int:
        """Add a part by what makes its bytes; its number."""
        self._makers.append((make, self.place))
        return len(self._makers) - 1

    def text(self, value: Callable[[], Any]) -> int:
        """Add what JSON can hold, names among it: it stands in a file as base64, and cannot be markup."""
        return self.add(lambda: _json(value()))

    def __len__(self) -> int:
        """How many there are."""
        return len(self._makers)

    def __iter__(self) -> Iterator[bytes]:
        """Make all of them, one by one."""
        return (self[at] for at in range(len(self)))

    def __getitem__(self, at: int) -> bytes:
        """Make a part.

        Raises ``IndexError`` beyond the last, what reading its run raises, and ``FolderError`` of a table that others
        have written so that it cannot be shown.
        """
        make, place = self._makers[at]
        try:
            return zlib.compress(make(), self._level)
        except UNFORESEEN as error:
            run = place or "the run"
            raise FolderError(f"a table of {run} cannot be shown: {error!r}") from error


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()


Told = tuple[dict[str, Any], bytes]
"""What the head says of values, and their bytes."""


def _array(values: np.ndarray[Any, Any], kind: str, *, differences: bool) -> Told:
    width = values.dtype.itemsize
    if differences:
        values = np.diff(values, prepend=values.dtype.type(0))
    planes = np.ascontiguousarray(values).view(np.uint8).reshape(-1, width).T
    told: dict[str, Any] = {"kind": kind, "length": len(values)}
    return told | ({"differences": True} if differences else {}), np.ascontiguousarray(planes).tobytes()


def _whole(values: np.ndarray[Any, Any], *, differences: bool = False) -> Told:
    largest = int(values.max()) if len(values) else 0
    if largest >= EXACT:
        raise OddError(f"has {largest}; expected less than 2^53, which a browser holds exactly")
    for kind, bound in WIDTHS:
        if largest < bound:
            return _array(values.astype(f"<{kind[0]}{int(kind[1:]) // 8}"), kind, differences=differences)
    return _real(values.astype("<f8"))


def _real(values: np.ndarray[Any, Any]) -> Told:
    values = np.ascontiguousarray(values, dtype="<f8")
    few, places = np.unique(values.view("<u8"), return_inverse=True)
    if len(few) < min(FEW, len(values) // 4):
        (of, listed), (told, own) = _array(few.view("<f8"), "f64", differences=False), _whole(places)
        return told | {"of": of}, own + listed
    return _array(values, "f64", differences=False)


def _put(told: dict[str, Any], data: bytes) -> bytes:
    head = _json(told)
    return struct.pack("<I", len(head)) + head + data


def whole(values: np.ndarray[Any, Any], *, differences: bool = False) -> bytes:
    """Write whole numbers from 0 on; raises ``OddError`` from 2^53 on."""
    return _put(*_whole(values, differences=differences))


def real(values: np.ndarray[Any, Any]) -> bytes:
    """Write numbers; one that is missing is NaN."""
    return _put(*_real(values))


def numbers(values: np.ndarray[Any, Any]) -> bytes:
    """Write numbers of any type."""
    return whole(values) if values.dtype.kind == "u" else real(values)


def column(column: pa.ChunkedArray) -> bytes:
    """Write a column of a table: text as places in a list, whole numbers, or numbers that may be missing."""
    if files.is_text(column.type):
        places: dict[str, int] = {}
        told, data = _whole(np.concatenate([np.zeros(0, np.uint64), *(_places(one, places) for one in column.chunks)]))
        texts = _json(list(places))
        return _put(told | {"texts": len(texts)}, data + texts)
    return numbers(array(column))


def _places(texts: pa.Array, places: dict[str, int]) -> np.ndarray[Any, Any]:
    """Say where texts are in a list, which grows by those that it lacks; Arrow's functions would take long to load."""
    import pyarrow as pa

    def place(text: str | None) -> int:
        return places.setdefault(text or "", len(places))

    if pa.types.is_dictionary(texts.type) and texts.null_count == 0:
        own: np.ndarray[Any, Any] = np.array(list(map(place, texts.dictionary.to_pylist())), np.uint64)
        chosen: np.ndarray[Any, Any] = own[texts.indices.to_numpy()]
        return chosen
    return np.array(list(map(place, texts.to_pylist())), np.uint64)


def places(column: pa.ChunkedArray, most: int) -> np.ndarray[Any, Any]:
    """Give a column of numbers of frames, ports or flows, which are whole, from 0 on and less than ``most``.

    Whatever type of numbers who wrote the table made them. Raises ``OddError``, which says what one is instead.
    """
    import pyarrow as pa

    signed = pa.types.is_signed_integer(column.type) and not column.null_count
    values = column.to_numpy() if signed else array(column)
    if values.dtype.kind != "u":
        if not np.all((values >= 0) & (values < 2**63) & (values == np.floor(values))):
            raise OddError("that is no whole number from 0 on")
        values = values.astype(np.uint64)
    if len(values) and int(values.max()) >= most:
        raise OddError(f"of {most} or more")
    return values


def array(column: pa.ChunkedArray) -> np.ndarray[Any, Any]:
    """Give a column of numbers: whole numbers from 0 on as such, all else as reals."""
    import pyarrow as pa

    if pa.types.is_boolean(column.type):
        column = column.cast(pa.uint8())
    if not pa.types.is_float64(column.type) and (column.null_count or not pa.types.is_unsigned_integer(column.type)):
        column = column.cast(pa.float64())
    values: np.ndarray[Any, Any] = column.to_numpy()
    return values


def base64_of(part: bytes) -> str:
    """Write a deflated part as it stands in a file."""
    return base64.b64encode(part).decode()
