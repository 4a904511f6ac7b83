"""Cache of a page's read or packed data: least recently used values are dropped."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from threading import Lock
from typing import Any, TypeVar

T = TypeVar("T")


class Kept:
    """LRU cache of at most ``most`` bytes in total; a larger value stays until another is requested.

    Thread-safe: a value that two threads request at once is made twice.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.bytes = 0
        """Bytes of the cached values."""
        self._turn = Lock()
        self._values: dict[Hashable, tuple[Any, int]] = {}

    def of(self, key: Hashable, make: Callable[[], T], size: Callable[[T], int]) -> T:
        """Return the value of a key, made if missing; ``size`` returns its bytes."""
        with self._turn:
            if key in self._values:
                # most recently used last
                value, took = self._values[key] = self._values.pop(key)
                found: T = value
                return found
        made = make()
        took = size(made)
        with self._turn:
            self.bytes -= self._values.pop(key, (None, 0))[1]
            while self._values and self.bytes + took > self.most:
                self.bytes -= self._values.pop(next(iter(self._values)))[1]
            self._values[key] = made, took
            self.bytes += took
        return made
