"""Columns that a browser unpacks: typed arrays, deflated, in a file as base64. Every value is exact.

Whole numbers take the narrowest unsigned type that holds the largest, ascending ones as differences. Numbers of few
values are stored as places in a list of these. Bytes of one significance stand together, which deflates better.
"""

from __future__ import annotations

import base64
import json
import zlib
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from incast.errors import FolderError

if TYPE_CHECKING:
    import pyarrow as pa

WIDTHS = (("u8", 2**8), ("u16", 2**16), ("u32", 2**32))
FEW = 2**16
"""Most values of a column that is stored as places in a list."""
EXACT = 2**53
"""Whole numbers from here on are not all numbers of a browser."""
SMALL, FAST = 9, 1
"""Levels of deflation: of a file that is kept and mailed, and of what a server of the same machine hands out."""


class Parts(Protocol):
    """Where deflated columns are put, one after the other."""

    def append(self, part: bytes, /) -> None:
        """Add a column."""

    def __len__(self) -> int:
        """How many there are."""


class Pack:
    """Columns of one page, each under a number; ``parts`` take their deflated bytes."""

    def __init__(self, parts: Parts, level: int = SMALL) -> None:
        self.parts, self.level = parts, level

    def _put(self, data: bytes) -> int:
        self.parts.append(zlib.compress(data, self.level))
        return len(self.parts) - 1

    def text(self, value: Any) -> int:
        """Pack what JSON can hold, names among it: they stand in a file as base64, and cannot be markup."""
        return self._put(json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode())

    def _array(self, values: np.ndarray[Any, Any], kind: str, *, differences: bool) -> dict[str, Any]:
        width = values.dtype.itemsize
        if differences:
            values = np.diff(values, prepend=values.dtype.type(0))
        planes = np.ascontiguousarray(values).view(np.uint8).reshape(-1, width).T
        packed = self._put(np.ascontiguousarray(planes).tobytes())
        return {"at": packed, "kind": kind, "length": len(values), "differences": differences}

    def whole(self, values: np.ndarray[Any, Any], *, differences: bool = False) -> dict[str, Any]:
        """Pack whole numbers from 0 on."""
        largest = int(values.max()) if len(values) else 0
        if largest >= EXACT:
            raise FolderError(f"{largest}: expected less than 2^53, which a browser holds exactly")
        for kind, bound in WIDTHS:
            if largest < bound:
                return self._array(values.astype(f"<{kind[0]}{int(kind[1:]) // 8}"), kind, differences=differences)
        return self.real(values.astype("<f8"))

    def real(self, values: np.ndarray[Any, Any]) -> dict[str, Any]:
        """Pack numbers; one that is missing is NaN."""
        values = np.ascontiguousarray(values, dtype="<f8")
        few, places = np.unique(values.view("<u8"), return_inverse=True)
        if len(few) < min(FEW, len(values) // 4):
            chosen = self._array(few.view("<f8"), "f64", differences=False)
            return self.whole(places) | {"of": chosen}
        return self._array(values, "f64", differences=False)

    def column(self, column: pa.ChunkedArray) -> dict[str, Any]:
        """Pack a column of a table: text as places in a list, whole numbers, or numbers that may be missing."""
        import pyarrow as pa
        import pyarrow.compute as pc

        kind = column.type
        if pa.types.is_dictionary(kind) or pa.types.is_string(kind):
            coded = pc.fill_null(column.cast(pa.string()), "").combine_chunks().dictionary_encode()
            return self.whole(coded.indices.to_numpy()) | {"texts": self.text(coded.dictionary.to_pylist())}
        if pa.types.is_boolean(kind):
            column = column.cast(pa.uint8())
        if pa.types.is_unsigned_integer(column.type) and column.null_count == 0:
            return self.whole(column.to_numpy())
        return self.real(column.cast(pa.float64()).to_numpy())


def base64_of(part: bytes) -> str:
    """Write a deflated column as it stands in a file."""
    return base64.b64encode(part).decode()
