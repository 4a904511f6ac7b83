"""Rows of frames in blocks of neighbouring ports or flows: to show one, a page only needs its block."""

from __future__ import annotations

from functools import partial
from threading import RLock
from typing import Any

import numpy as np

from incast.runs.run_folder import Shape
from incast.view import packing
from incast.view.packing import Pack
from incast.view.sources import Source, columns, damaged, naming, numbers

ROWS = 2**15
"""Mean rows of a block: the data read for one port is some 0.2 MB."""


class Framed:
    """A table whose rows are ordered by frame, and belong to entities: ports or flows.

    A block has the rows of ``size`` neighbouring entities; the last block also those beyond. ``starts`` has the first
    row of each frame in it. Numbers of entities are below ``most``.
    """

    def __init__(
        self, run: Source, name: str, shape: Shape, key: str, pack: Pack, *, frames: int, count: int, most: int
    ) -> None:
        blocks = max(1, -(-shape.rows // ROWS))
        self.size = max(1, -(-count // blocks))
        self.blocks = max(1, -(-count // self.size))
        self._run, self._name, self._key, self._frames = run, name, key, frames
        self._most = {"frame": frames, key: most}
        self._pack = pack
        self._columns = [column for column in shape.columns if column not in ("frame", key)]
        self._turn = RLock()

    def described(self) -> dict[str, Any]:
        """Add the parts of all columns, block by block; return the first block of each."""
        makers = {"starts": self._starts, self._key: self._entities} | {
            name: partial(self._values, name) for name in self._columns
        }
        columns = {}
        for name, make in makers.items():
            columns[name] = len(self._pack)
            for block in range(self.blocks):
                self._pack.add(partial(make, block))
        return {"size": self.size, "blocks": self.blocks, "columns": columns}

    def _starts(self, block: int) -> bytes:
        bounds = np.arange(self._frames + 1, dtype=np.uint32)
        return packing.whole(np.searchsorted(self._of(block, "frame"), bounds), differences=True)

    def _entities(self, block: int) -> bytes:
        return packing.whole(self._of(block, self._key), differences=True)

    def _values(self, name: str, block: int) -> bytes:
        values = self._of(block, name)
        with naming(self._run, self._name, f"column {name}"):
            return packing.numbers(values)

    def _of(self, block: int, name: str) -> np.ndarray[Any, Any]:
        """Return the rows of a block of a column."""
        with self._turn:
            order, bounds = self._placed()
            values = self._column(name)
        return values if self.blocks == 1 else values[order[bounds[block] : bounds[block + 1]]]

    def _placed(self) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """Return the rows of each block, in order."""
        return self._pack.orders.of(self, self._place, lambda placed: sum(one.nbytes for one in placed))

    def _place(self) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        frame, entity = self._column("frame"), self._column(self._key)
        if np.any(frame[1:] < frame[:-1]):
            raise damaged(self._run, self._name, "its frames are not in order")
        blocks = np.minimum(entity // np.uint64(self.size), self.blocks - 1)
        blocks = blocks.astype(np.uint16 if self.blocks < 2**16 else np.uint32)
        order = np.argsort(blocks, kind="stable").astype(np.uint32 if len(frame) < 2**32 else "u8")
        return order, np.append(0, np.cumsum(np.bincount(blocks, minlength=self.blocks)))

    def _column(self, name: str) -> np.ndarray[Any, Any]:
        """Return a column, from the cache if possible."""
        return self._pack.kept.of((self, name), partial(self._read, name), lambda values: values.nbytes)

    def _read(self, name: str) -> np.ndarray[Any, Any]:
        if name in self._most:
            return numbers(self._run, self._name, name, self._most[name])
        column = columns(self._run, self._name, [name])[name]
        with naming(self._run, self._name, f"column {name}:"):
            return packing.array(column)
