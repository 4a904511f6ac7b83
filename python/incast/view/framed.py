"""Rows of frames in blocks of ports or flows that lie side by side: what is shown of one needs its block alone."""

from __future__ import annotations

from functools import partial
from threading import RLock
from typing import Any

import numpy as np

from incast.errors import FolderError
from incast.run_folder import Shape
from incast.view import packing
from incast.view.packing import Pack
from incast.view.sources import Source

ROWS = 2**15
"""Rows of a block on average: those of one port and all that is read with them are some 0.2 MB."""
KEPT_BYTES = 2**28
"""Columns of a table that are kept from one block to the next, at most."""


class Framed:
    """A table whose rows belong to frames, in their order, and in a frame to entities: ports or flows.

    A block has the rows of ``size`` neighbouring entities, the last one of all beyond too. ``starts`` says where the
    rows of each frame begin in it. ``most`` is more than the number of every entity.
    """

    def __init__(
        self, run: Source, name: str, shape: Shape, key: str, *, frames: int, count: int, most: float = np.inf
    ) -> None:
        blocks = max(1, -(-shape.rows // ROWS))
        self.size = max(1, -(-count // blocks))
        self.blocks = max(1, -(-count // self.size))
        self._run, self._name, self._key, self._frames = run, name, key, frames
        self._most = most
        self._columns = [column for column in shape.columns if column not in ("frame", key)]
        self._turn = RLock()
        self._kept: dict[str, np.ndarray[Any, Any]] = {}
        self._order: tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]] | None = None

    def described(self, pack: Pack) -> dict[str, Any]:
        """Add the parts of all columns, block by block; where the first block of each is."""
        makers = {"starts": self._starts, self._key: self._entities} | {
            name: partial(self._values, name) for name in self._columns
        }
        columns = {}
        for name, make in makers.items():
            columns[name] = len(pack)
            for block in range(self.blocks):
                pack.add(partial(make, block))
        return {"size": self.size, "blocks": self.blocks, "columns": columns}

    def _starts(self, block: int) -> bytes:
        bounds = np.arange(self._frames + 1, dtype=np.uint32)
        return packing.whole(np.searchsorted(self._of(block, "frame"), bounds), differences=True)

    def _entities(self, block: int) -> bytes:
        return packing.whole(self._of(block, self._key), differences=True)

    def _values(self, name: str, block: int) -> bytes:
        return packing.numbers(self._of(block, name))

    def _of(self, block: int, name: str) -> np.ndarray[Any, Any]:
        """Give the rows of a block of a column."""
        with self._turn:
            order, bounds = self._placed()
            values = self._column(name)
        return values if self.blocks == 1 else values[order[bounds[block] : bounds[block + 1]]]

    def _placed(self) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """Say which rows each block has, in their order."""
        if self._order is None:
            frame, entity = self._column("frame"), self._column(self._key)
            if np.any(frame[1:] < frame[:-1]):
                raise self._damaged("its frames are not in order")
            if len(frame) and int(frame[-1]) >= self._frames:
                raise self._damaged(f"a frame of {self._frames} or more")
            largest = int(entity.max()) if len(entity) else 0
            if largest >= self._most and len(entity):
                raise self._damaged(f"a {self._key} of {self._most} or more")
            block_of = np.minimum(np.arange(largest + 1) // self.size, self.blocks - 1)
            blocks = block_of.astype(np.uint16 if self.blocks < 2**16 else np.uint32)[entity]
            order = np.argsort(blocks, kind="stable").astype(np.uint32 if len(frame) < 2**32 else "u8")
            self._order = order, np.append(0, np.cumsum(np.bincount(blocks, minlength=self.blocks)))
        return self._order

    def _column(self, name: str) -> np.ndarray[Any, Any]:
        """Read a column, unless it is kept."""
        if name not in self._kept:
            values = packing.array(self._run.table(self._name, [name])[name])
            if name in ("frame", self._key):
                values = self._whole(name, values)
            left = KEPT_BYTES - values.nbytes
            while self._kept and sum(one.nbytes for one in self._kept.values()) > left:
                del self._kept[next(iter(self._kept))]
            self._kept[name] = values
        return self._kept[name]

    def _whole(self, name: str, values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Give numbers of frames or entities as whole ones, of whatever type who wrote the table made them."""
        if values.dtype.kind == "u":
            return values
        if not np.all((values >= 0) & (values < packing.EXACT) & (values == np.floor(values))):
            raise self._damaged(f"a {name} that is no whole number from 0 on")
        return values.astype(np.uint64)

    def _damaged(self, why: str) -> FolderError:
        place = self._run.place(f"{self._name}.parquet")
        return FolderError(f"{place} is damaged: {why}: run the scenario again")
