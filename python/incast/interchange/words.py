"""Words of a file between white space, with their places and types.

HPCC's simulator and its dialects read their files word by word (C++ ``>>``). A word that does not fit its type ends
their reading without a message; here it is an error with file, line and column.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from decimal import Decimal
from io import StringIO
from itertools import islice
from pathlib import Path

from incast.errors import ScenarioError
from incast.interchange import units
from incast.system import files

MOST_BYTES = 1 << 30
"""Most bytes of a file: ten million flows."""
WORD = re.compile(r"[^ \t\n\v\f\r]+")
WHOLE = re.compile(r"[0-9]{1,20}")
NUMBER = re.compile(r"[+-]?(?:[0-9]{1,25}(?:\.[0-9]{0,25})?|\.[0-9]{1,25})(?:[eE][+-]?[0-9]{1,3})?")
SHOWN = 40
"""Most characters of a word that an error quotes."""
UINT = 2**32 - 1


def text_of(path: Path) -> str:
    """Read a file; bytes that are no text stay as signs that fit no type."""
    try:
        return files.read_bytes(path, MOST_BYTES).decode("utf-8-sig", "replace")
    except (OSError, ValueError) as error:
        raise ScenarioError(f"{path}: {files.message_of(error)}") from None


class Words:
    """Words of a file, one after the other."""

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.text = text
        self.at = 0
        """Place of the latest word."""
        self._word = ""
        self._rest = WORD.finditer(text)
        self._again = False

    @classmethod
    def read(cls, path: Path) -> Words:
        """Read the words of a file."""
        return cls(str(path), text_of(path))

    @property
    def end(self) -> int:
        """Place behind the latest word."""
        return self.at + len(self._word)

    def next(self) -> str | None:
        """Return the next word; ``None`` at the end."""
        if self._again:
            self._again = False
            return self._word
        found = next(self._rest, None)
        if found is None:
            return None
        self.at, self._word = found.start(), found[0]
        return self._word

    def back(self) -> None:
        """Give the latest word again, as the next one."""
        self._again = True

    def take(self, what: str, expected: str) -> str:
        """Return the next word; raises ``ScenarioError`` at the end of the file."""
        word = self.next()
        if word is None:
            line = self.text.count("\n", 0, len(self.text.rstrip())) + 1
            raise ScenarioError(f"{self.name}, line {line}: the file ends here; expected {what}: {expected}")
        return word

    def whole(self, what: str, most: int = UINT, least: int = 0) -> int:
        """Return the next word as a whole number."""
        expected = f"a whole number from {least} to {most}"
        word = self.take(what, expected)
        if WHOLE.fullmatch(word) is None or not least <= int(word) <= most:
            raise self.wrong(what, expected)
        return int(word)

    def number(self, what: str, most: float = 1e15, least: float = 0.0) -> Decimal:
        """Return the next word as a number, exact."""
        expected = f"a number from {plain(least)} to {plain(most)}"
        return self._number(self.take(what, expected), what, expected, (least, most))

    def _number(self, word: str, what: str, expected: str, bounds: tuple[float, float]) -> Decimal:
        value = float(word) if NUMBER.fullmatch(word) else math.nan
        if not bounds[0] <= value <= bounds[1]:
            raise self.wrong(what, expected)
        # a value that underflows has an exponent for which exact arithmetic would be long
        return Decimal(word) if value else Decimal(0)

    def rate(self, what: str) -> int:
        """Return the next word, an ns-3 data rate, in bit/s."""
        expected = "a rate such as 100Gbps, or bit/s without a unit"
        word = self.take(what, expected)
        return self._scaled(word, units.RATES, what, expected, (1, units.MOST_BPS))

    def delay(self, what: str) -> int:
        """Return the next word, an ns-3 time, in ns; seconds without a unit."""
        expected = "a time such as 1us, or seconds without a unit"
        word = self.take(what, expected)
        return self._scaled(word, units.TIMES, what, expected, (0, units.MOST_NS))

    def _scaled(
        self, word: str, scale: Mapping[str, Decimal], what: str, expected: str, bounds: tuple[int, int]
    ) -> int:
        found = units.SPLIT.fullmatch(word)
        factor = scale.get(found[2]) if found else None
        if found is None or factor is None:
            raise self.wrong(what, expected)
        number = self._number(found[1], what, expected, (0.0, 1e25))
        value = units.rounded(number * factor)
        if not bounds[0] <= value <= bounds[1]:
            raise self.wrong(what, f"{expected}; at least {bounds[0]}, at most {bounds[1]} {scale_name(scale)}")
        return value

    def wrong(self, what: str, expected: str) -> ScenarioError:
        """Return the error about the latest word."""
        return self.error(self.at, f'{what} = "{shown(self._word)}": expected {expected}')

    def error(self, at: int, message: str) -> ScenarioError:
        """Return an error about a place."""
        return ScenarioError(f"{self.place(at)}: {message}")

    def place(self, at: int) -> str:
        """Return the name of a place: file, line and column."""
        line = self.text.count("\n", 0, at) + 1
        column = at - self.text.rfind("\n", 0, at)
        return f"{self.name}, line {line}, column {column}"

    def line(self, number: int) -> list[str]:
        """Return the words of a line, counted from 0 over those that have any."""
        lines = (words for line in StringIO(self.text) if (words := WORD.findall(line)))
        return next(islice(lines, number, None), [])


def shown(word: str) -> str:
    """Return a word of a file as an error quotes it."""
    return word if len(word) <= SHOWN else f"{word[:SHOWN]}..."


def plain(value: float) -> str:
    """Write a bound without a fraction of zero."""
    return str(int(value)) if value == int(value) else str(value)


def scale_name(scale: Mapping[str, Decimal]) -> str:
    """Return the unit in which a scale counts."""
    return "bit/s" if scale is units.RATES else "ns"
