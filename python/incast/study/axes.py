"""Axes of a study: values of a key, listed or drawn from a range, and designs over several axes.

Every draw is a function of (seed of the design, key, number of the draw), so an extended study keeps its points.
"""

from __future__ import annotations

import hashlib
import itertools
import math
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

from incast import _core
from incast.errors import StudyError
from incast.runs.scenario import toml_value
from incast.system.output import nearest

Value = str | int | float | bool
"""Value of a key in a study file; lists and tables as TOML text."""

DESIGNS = ("grid", "zip", "random", "lhs")
SCALES = ("linear", "log")
MOST_VALUES = 1_000_000
"""Most values of a range, equal to the most runs of a study."""
DIGITS = 6
"""Significant digits of a value from a range: equal on every machine, and short enough for a table."""

# units by dimension, ordered by size, as in `Schema` of crates/scenario
_UNITS: Sequence[Mapping[str, float]] = (
    {"ps": 1e-12, "ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0},
    {"bps": 1.0, "kbps": 1e3, "Mbps": 1e6, "Gbps": 1e9, "Tbps": 1e12},
    {"B": 1.0, "kB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30},
    {"p": 1.0},
)
_BASE = ("s", "bps", "bytes", "packets")
"""Base unit of each dimension in names of columns."""
SHOWN = {"s": "s", "bps": "bit/s", "bytes": "B", "packets": "packets"}
"""Base units in figures."""
_QUANTITY = re.compile(r"\s*([0-9._]+(?:[eE][+-]?[0-9]+)?)\s*([A-Za-z]*)\s*")


@dataclass(frozen=True)
class Range:
    """Values from ``low`` to ``high``, in units of ``unit`` (``""``: plain numbers)."""

    low: float
    high: float
    unit: str = ""
    log: bool = False
    whole: bool = False
    steps: int | None = None
    """Number of evenly spaced values, including both ends."""
    samples: int | None = None
    """Number of independently drawn values."""

    def at(self, part: float) -> Value:
        """Return the value at a fraction of the range, 0 to 1."""
        span = self.high - self.low
        number = self.low * (self.high / self.low) ** part if self.log else self.low + span * part
        number = float(f"{min(max(number, self.low), self.high):.{DIGITS}g}")
        if self.whole:
            return f"{round(number)}{self.unit}" if self.unit else round(number)
        return _quantum(number, self.unit) if self.unit else number


@dataclass(frozen=True)
class Axis:
    """A key with a list or a range of values."""

    key: str
    values: tuple[Value, ...] = ()
    range: Range | None = None

    def listed(self, seed: int) -> tuple[Value, ...]:
        """Return the values of the axis in a grid."""
        if self.range is None:
            return self.values
        if self.range.steps is not None:
            count = self.range.steps
            found = [self.range.at(i / (count - 1) if count > 1 else 0.0) for i in range(count)]
        elif self.range.samples is not None:
            found = [self.range.at(draw(seed, self.key, i)) for i in range(self.range.samples)]
        else:
            raise StudyError(
                f"axis {self.key}: expected steps = N (evenly spaced) or samples = N (drawn), "
                'or a design = "random" or "lhs" of the whole study'
            )
        return tuple(dict.fromkeys(found))

    def count(self, seed: int) -> int:
        """Return the number of values of the axis in a grid."""
        return len(self.listed(seed)) if self.range is not None else len(self.values)

    def pick(self, part: float) -> Value:
        """Return the value at a fraction of the list or the range, 0 to 1."""
        if self.range is not None:
            return self.range.at(part)
        return self.values[min(int(part * len(self.values)), len(self.values) - 1)]


def draw(seed: int, key: str, number: int, purpose: str = "value") -> float:
    """Draw from [0, 1): a hash of the arguments."""
    digest = hashlib.sha256(f"{seed}|{purpose}|{key}|{number}".encode()).digest()
    return (int.from_bytes(digest[:8], "big") >> 11) / 2.0**53


def points_in(axes: Sequence[Axis], design: str, samples: Sequence[int], seed: int, most: int) -> int:
    """Return the number of points of a design without making them; counting stops above ``most``."""
    if not axes:
        return 1
    if design in ("random", "lhs"):
        return sum(samples)
    if design == "zip":
        return axes[0].count(seed)
    found = 1
    for axis in axes:
        found *= axis.count(seed)
        if found > most:
            break
    return found


def points(axes: Sequence[Axis], design: str, samples: Sequence[int], seed: int) -> Iterator[dict[str, Value]]:
    """Yield the points of a design: one value per axis.

    ``samples`` are the sizes of the blocks added one after the other: each is an independent Latin hypercube; random
    points continue the count.
    """
    if not axes:
        yield {}
    elif design == "grid":
        for combination in itertools.product(*(axis.listed(seed) for axis in axes)):
            yield dict(zip((axis.key for axis in axes), combination, strict=True))
    elif design == "zip":
        lists = [axis.listed(seed) for axis in axes]
        if len({len(one) for one in lists}) > 1:
            lengths = ", ".join(f"{axis.key} has {len(one)}" for axis, one in zip(axes, lists, strict=True))
            raise StudyError(f'design = "zip": expected axes of the same length; {lengths}')
        for combination in zip(*lists, strict=True):
            yield dict(zip((axis.key for axis in axes), combination, strict=True))
    elif design == "random":
        for number in range(sum(samples)):
            yield {axis.key: axis.pick(draw(seed, axis.key, number)) for axis in axes}
    else:
        first = 0
        for size in samples:
            yield from _hypercube(axes, size, first, seed)
            first += size


def _hypercube(axes: Sequence[Axis], size: int, first: int, seed: int) -> Iterator[dict[str, Value]]:
    """Yield one Latin hypercube: each axis is divided into ``size`` parts with one point each."""
    columns = []
    for axis in axes:
        strata = list(range(size))
        random.Random(f"{seed}|strata|{axis.key}|{first}").shuffle(strata)
        columns.append([(s + draw(seed, axis.key, first + i, "within")) / size for i, s in enumerate(strata)])
    for number in range(size):
        yield {axis.key: axis.pick(column[number]) for axis, column in zip(axes, columns, strict=True)}


_RANGE_KEYS = ("from", "to", "steps", "samples", "scale", "whole", "range", "values")


def is_axis_table(data: Mapping[str, Any]) -> bool:
    """Return whether a table describes an axis, rather than nested keys."""
    return any(key in data and not isinstance(data[key], Mapping) for key in ("from", "to", "range", "values"))


def read_axis(key: str, data: Any, controllers: Sequence[str]) -> Axis:
    """Read an axis of a study file or a call; ``controllers`` are those that may declare its range."""
    where = f"axis {key}"
    if isinstance(data, Axis):
        return Axis(key, data.values, data.range)
    if isinstance(data, (list, tuple)):
        return Axis(key, _listed(where, data))
    if not isinstance(data, Mapping):
        raise StudyError(
            f"{where} = {data!r}: expected a list of values, or a range such as "
            '{ from = 0.01, to = 1, steps = 5, scale = "log" }'
        )
    for word in data:
        if word not in _RANGE_KEYS:
            raise StudyError(f"{where}.{word}: unknown key{nearest(word, _RANGE_KEYS)}")
    if "values" in data:
        return Axis(key, _listed(where, data["values"]))
    if "range" in data:
        if data["range"] != "declared":
            raise StudyError(f'{where}.range = {data["range"]!r}: expected "declared", or from and to')
        low, high, whole = declared(key, controllers)
        data = {"from": low, "to": high} | ({"whole": True} if whole else {}) | dict(data)
    return Axis(key, range=_read_range(where, data))


def _listed(where: str, values: Any) -> tuple[Value, ...]:
    if not isinstance(values, (list, tuple)) or not values:
        raise StudyError(f"{where} = {values!r}: expected a list of at least one value")
    found = tuple(plain(value) for value in values)
    known = set()
    for value in found:
        identity = (isinstance(value, bool), value)  # 1 and true differ
        if identity in known:
            raise StudyError(f"{where}: {value} is given twice: give it once")
        known.add(identity)
    return found


def plain(value: Any) -> Value:
    """Return a list or a table as TOML text, other values unchanged."""
    if isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise StudyError(f"{value}: expected a finite number")
        return value
    return toml_value(value)


def _read_range(where: str, data: Mapping[str, Any]) -> Range:
    for end in ("from", "to"):
        if end not in data:
            raise StudyError(f"{where}: {end} is missing: expected from and to, such as {{ from = 1, to = 10 }}")
    (low, unit), (high, other) = (_quantity(f"{where}.{end}", data[end]) for end in ("from", "to"))
    if unit != other:
        low, high, unit = _same_unit(where, (low, unit), (high, other))
    if not low < high:
        raise StudyError(f"{where}: from = {data['from']}, to = {data['to']}: expected from below to")
    scale = data.get("scale", "linear")
    if scale not in SCALES:
        raise StudyError(f'{where}.scale = {scale!r}: expected "linear" or "log"')
    if scale == "log" and low <= 0:
        raise StudyError(f'{where}: from = {data["from"]}: expected a number above 0 with scale = "log"')
    counts = {word: data[word] for word in ("steps", "samples") if word in data}
    if len(counts) > 1:
        raise StudyError(f"{where}: steps and samples: expected one of them")
    for word, count in counts.items():
        least = 2 if word == "steps" else 1
        if isinstance(count, bool) or not isinstance(count, int) or not least <= count <= MOST_VALUES:
            raise StudyError(f"{where}.{word} = {count!r}: expected a whole number from {least} to {MOST_VALUES:,}")
    whole = data.get("whole", False)
    if not isinstance(whole, bool):
        raise StudyError(f"{where}.whole = {whole!r}: expected true or false")
    return Range(low, high, unit, scale == "log", whole, counts.get("steps"), counts.get("samples"))


def _quantity(where: str, value: Any) -> tuple[float, str]:
    if isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value):
        return float(value), ""
    found = _QUANTITY.fullmatch(value) if isinstance(value, str) else None
    known = [unit for units in _UNITS for unit in units]
    if found is not None and (found[2] in known or not found[2]):
        try:
            return float(found[1].replace("_", "")), found[2]
        except ValueError:
            pass
    raise StudyError(
        f'{where} = {value!r}: expected a number, or a text of a number and a unit such as "10us": '
        "the values of a range must have an order"
    )


def in_base_unit(value: Any) -> tuple[str, float] | None:
    """Return base unit and number of a text such as ``"64kB"``: ``("bytes", 64000.0)``; ``None`` without a unit.

    Base units are ``s``, ``bps``, ``bytes`` and ``packets``.
    """
    found = _QUANTITY.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        return None
    for base, units in zip(_BASE, _UNITS, strict=True):
        if found[2] in units:
            try:
                return base, float(Decimal(found[1]) * Decimal(repr(units[found[2]])))
            except InvalidOperation:
                return None
    return None


def numbers(name: str, values: Sequence[Any]) -> dict[str, list[float | None]]:
    """Return numeric columns for a column of values with units: ``size_bytes`` for ``size``.

    Values without a unit of that kind are ``None``; a column without units has no numeric column.
    """
    found = [in_base_unit(value) for value in values]
    bases = dict.fromkeys(one[0] for one in found if one is not None)
    return {
        f"{name}_{base}": [one[1] if one is not None and one[0] == base else None for one in found] for base in bases
    }


def _quantum(number: float, unit: str) -> str:
    """Format a quantity, rounded to whole bytes, picoseconds or packets."""
    (units,) = (units for units in _UNITS if unit in units)
    smallest, size = min(units.items(), key=lambda one: one[1])
    factor = units[unit] / size
    text = f"{number:.{DIGITS}g}"
    # the engine takes 94.868kB, and neither 94.8683kB nor 0.3333KiB
    exact = Decimal(text) * Decimal(round(factor))
    if exact == (whole := exact.to_integral_value()):
        return f"{text}{unit}"
    again = f"{(whole / round(factor)).normalize():f}"
    return f"{again}{unit}" if len(again) <= len(text) else f"{whole}{smallest}"


def _same_unit(where: str, low: tuple[float, str], high: tuple[float, str]) -> tuple[float, float, str]:
    for units in _UNITS:
        if low[1] in units and high[1] in units:
            unit = low[1] if units[low[1]] < units[high[1]] else high[1]
            scaled = [float(f"{x * (units[u] / units[unit]):.15g}") for x, u in (low, high)]
            return scaled[0], scaled[1], unit
    raise StudyError(f'{where}: from is in "{low[1]}" and to in "{high[1]}": expected units of the same kind')


_BOUND = re.compile(
    r"a (?P<whole>whole )?number(?:"
    r" from (?P<from>\S+) to (?P<to>\S+)|"
    r" of at least (?P<least>\S+?)(?:,? at most (?P<most>\S+))?|"
    r" above (?P<above>\S+?)(?:, (?:at most (?P<upto>\S+)|below (?P<below>\S+)))?"
    r")"
)


def declared(key: str, controllers: Sequence[str]) -> tuple[float, float, bool]:
    """Return the declared range of a controller's parameter: its ends, and whether it has whole numbers.

    ``key`` ends in ``controller.NAME``. An open lower end (a number above 0) becomes one hundredth of the upper one; a
    declaration without an upper end has no range.
    """
    words = key.split(".")
    if len(words) < 2 or words[-2] != "controller":
        raise StudyError(
            f'axis {key}: range = "declared" is for a parameter of a controller, such as controller.g; '
            "expected from and to"
        )
    name = words[-1]
    if not controllers:
        raise StudyError(f'axis {key}: range = "declared" needs a known controller: give from and to')
    found = {_declared_by(kind, name, key) for kind in controllers}
    if len(found) > 1:
        raise StudyError(f"axis {key}: {' and '.join(controllers)} declare different ranges: give from and to")
    return found.pop()


def _declared_by(kind: str, name: str, key: str) -> tuple[float, float, bool]:
    text = _core.describe("controllers", kind)
    blocks = dict(re.findall(r"(?m)^  (\w+) = .*\n((?:      .*\n)+)", text))
    if name not in blocks:
        raise StudyError(f"axis {key}: {kind} has no parameter {name}{nearest(name, list(blocks))}")
    description = " ".join(blocks[name].split())
    found = re.search(r"Expected: (.*?)\.(?= Default from:|$)", description)
    expected = found[1] if found else ""
    bound = _BOUND.search(expected)
    ends = {
        word: float(text) for word, text in (bound.groupdict() if bound else {}).items() if text and word != "whole"
    }
    low = ends.get("from", ends.get("least"))
    high = ends.get("to", ends.get("most", ends.get("upto", ends.get("below"))))
    if low is None and "above" in ends and high is not None:
        low = ends["above"] + (high - ends["above"]) / 100
    if low is None or high is None:
        raise StudyError(
            f'axis {key}: {kind} declares "{expected}" of {name}, which has no two ends: expected from and to'
        )
    return low, high, bool(bound and bound["whole"])
