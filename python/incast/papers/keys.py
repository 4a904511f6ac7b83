"""Typed reading of a paper's file, key by key; unknown keys are refused."""

from __future__ import annotations

import ast
import itertools
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from incast.errors import PaperError
from incast.papers import expression
from incast.papers.definition import NAME, X, is_inside
from incast.papers.expression import ExpressionError
from incast.system.output import escaped, nearest


def _is_number(found: Any) -> bool:
    return isinstance(found, (int, float)) and not isinstance(found, bool) and math.isfinite(found)


class Table:
    """A table of the file; each method takes one key, and refuses a value of another type."""

    def __init__(self, path: Path, place: str, data: Any) -> None:
        self.path, self.place = path, place
        if not isinstance(data, dict):
            raise PaperError(f"{path}: {place} = {data!r}: expected a table")
        self.data = data
        self.taken: set[str] = set()

    def wrong(self, key: str, expected: str) -> PaperError:
        """Return the error about a key."""
        place = ".".join(part for part in (self.place, key) if part)
        value: Any = self.data
        for part in key.split(".") if key else []:
            value = value.get(part) if isinstance(value, dict) else None
        shown = f" = {value!r}" if isinstance(value, (str, int, float)) and key else ""
        return PaperError(f"{self.path}: {escaped(place)}{shown}: {expected}")

    def has(self, key: str) -> bool:
        """Return whether a key exists."""
        return key in self.data

    def _take(self, key: str, expected: str, default: Any = None) -> Any:
        self.taken.add(key)
        if key not in self.data:
            if default is not None:
                return default
            raise self.wrong(key, f"missing: expected {expected}")
        return self.data[key]

    def text(self, key: str, default: str | None = None) -> str:
        """Read a text, with white space collapsed."""
        found = self._take(key, "a text", default)
        if not isinstance(found, str):
            raise self.wrong(key, "expected a text")
        return " ".join(found.split())

    def file(self, key: str, folder: Path) -> str:
        """Read the name of a file of the folder."""
        found = self.text(key)
        if not is_inside(folder, found):
            raise self.wrong(key, f"expected a file inside {folder}, by its relative path, not a link")
        return found

    def word(self, key: str, known: Sequence[str]) -> str:
        """Read one of some words."""
        found = self.text(key)
        if found not in known:
            raise self.wrong(key, f"expected one of {', '.join(known)}{nearest(found, known)}")
        return found

    def texts(self, key: str) -> list[str]:
        """Read a list of texts."""
        found = self._take(key, "a list of texts", [])
        if not (isinstance(found, list) and all(isinstance(one, str) for one in found)):
            raise self.wrong(key, "expected a list of texts")
        return [" ".join(one.split()) for one in found]

    def number(self, key: str, default: float | None = None) -> float:
        """Read a finite number."""
        found = self._take(key, "a number", default)
        if isinstance(found, bool) or not isinstance(found, (int, float)):
            raise self.wrong(key, "expected a number")
        if not math.isfinite(found):
            raise self.wrong(key, "expected a finite number")
        return float(found)

    def factor(self, key: str) -> float:
        """Read a number other than 0; default: 1."""
        found = self.number(key, 1.0)
        if found == 0:
            raise self.wrong(key, "expected a number other than 0")
        return found

    def name(self, key: str) -> str:
        """Read a name that is fit for a picture file."""
        found = self.text(key)
        if not NAME.fullmatch(found):
            raise self.wrong(key, "expected a name of letters, digits, . _ and -: it names a picture")
        return found

    def numbers(self, key: str) -> list[float]:
        """Read a list of finite numbers."""
        found = self._take(key, "a list of numbers")
        if not (isinstance(found, list) and all(_is_number(one) for one in found)):
            raise self.wrong(key, "expected a list of finite numbers")
        return [float(one) for one in found]

    def whole(self, key: str) -> int:
        """Read a whole number of at least 1."""
        found = self._take(key, "a whole number of at least 1")
        if isinstance(found, bool) or not isinstance(found, int) or found < 1:
            raise self.wrong(key, "expected a whole number of at least 1")
        return found

    def flag(self, key: str) -> bool:
        """Read true or false; default: false."""
        found = self._take(key, "true or false", False)
        if not isinstance(found, bool):
            raise self.wrong(key, "expected true or false")
        return found

    def x(self, key: str) -> X:
        """Read a place on the x axis."""
        found = self._take(key, "a number or a text")
        if not isinstance(found, str) and not _is_number(found):
            raise self.wrong(key, "expected a finite number or a text")
        x: X = found
        return x

    def xs(self, key: str, known: Sequence[X]) -> list[X]:
        """Read a list of points of the figure."""
        found = self._take(key, "a list of points", [])
        if not (isinstance(found, list) and all(one in known for one in found)):
            raise self.wrong(key, f"expected points of the figure: {', '.join(f'{x}' for x in known)}")
        return found

    def mapping(self, key: str) -> dict[str, Any]:
        """Read a table unchanged."""
        found = self._take(key, "a table", {})
        if not isinstance(found, dict):
            raise self.wrong(key, "expected a table")
        return found

    def expression(self, key: str, functions: Sequence[str], names: Sequence[str] = ()) -> ast.expr:
        """Read an expression with these functions and names."""
        found = self.text(key)
        try:
            return expression.parse(found, functions, names)
        except ExpressionError as error:
            raise self.wrong(key, f"{error}") from None

    def tables(self, key: str, needed: bool = True) -> dict[str, Table]:
        """Read a table of tables by name."""
        found = self._take(key, "a table", None if needed else {})
        if not isinstance(found, dict):
            raise self.wrong(key, "expected a table")
        start = f"{self.place}.{key}" if self.place else key
        return {name: Table(self.path, f"{start}.{name}", one) for name, one in found.items()}

    def list(self, key: str, needed: bool = True, by_row: bool = False) -> Sequence[Table]:
        """Read a list of entries; ``by_row`` expands neighbours with the same ``each`` row by row together."""
        found = self._take(key, "a list of tables", None if needed else [])
        if not isinstance(found, list):
            raise self.wrong(key, "expected a list of tables")
        tables = [Table(self.path, f"{self.place}.{key}[{i}]", one) for i, one in enumerate(found)]
        groups = itertools.groupby(tables, key=lambda table: table.data.get("each") if by_row else id(table))
        made = [[table._each() for table in group] for _, group in groups]
        return [one for group in made for row in zip(*group, strict=True) for one in row]

    def _each(self) -> Sequence[Table]:
        """Expand the entry for each row of its ``each``, which replaces words in braces."""
        if not self.has("each"):
            return [self]
        rows = self._take("each", "a list of tables of texts")
        if not (isinstance(rows, list) and rows and all(isinstance(row, dict) for row in rows)):
            raise self.wrong("each", "expected a list of tables of texts")
        for row in rows:
            if not all(isinstance(word, str) for word in row.values()) or row.keys() != rows[0].keys():
                raise self.wrong("each", "expected tables of texts, all with the same names")
        if not rows[0]:
            raise self.wrong("each", "expected tables of texts, not empty ones")
        rest = {key: value for key, value in self.data.items() if key != "each"}
        return [Table(self.path, self.place, self._filled(rest, row)) for row in rows]

    def _filled(self, value: Any, row: Mapping[str, str]) -> Any:
        if isinstance(value, dict):
            return {key: self._filled(one, row) for key, one in value.items()}
        if isinstance(value, list):
            return [self._filled(one, row) for one in value]
        if not isinstance(value, str):
            return value
        for word in re.findall(r"\{(\w*)\}", value):
            if word not in row:
                raise self.wrong("each", f"has no {word}, which {{{word}}} needs; expected one of {', '.join(row)}")
        return re.sub(r"\{(\w*)\}", lambda found: row[found[1]], value)

    def done(self) -> None:
        """Refuse unknown keys."""
        for key in self.data:
            if key not in self.taken:
                raise self.wrong(key, f"unknown key{nearest(key, sorted(self.taken))}")
