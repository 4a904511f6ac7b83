"""What a page keeps in memory of what it has read or packed: what was asked for last, up to so many bytes."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from threading import Lock
from typing import Any, TypeVar

T = TypeVar("T")


class Kept:
    """Values by their keys, of ``most`` bytes together; one that is larger is kept until another is asked for.

    Values that have not been asked for the longest are forgotten first. Threads may ask at once: a value that two of
    them lack is made twice.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.bytes = 0
        """What the values take that are kept."""
        self._turn = Lock()
        self._values: dict[Hashable, tuple[Any, int]] = {}

    def of(self, key: Hashable, make: Callable[[], T], size: Callable[[T], int]) -> T:
        """Give the value of a key, which is made where it is not kept; ``size`` says how many bytes it takes."""
        with self._turn:
            if key in self._values:
                # to the end of the order in which they go
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
