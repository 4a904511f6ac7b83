"""Numbers of tables: readings with their intervals, bounds and shares finished.

Texts of plain numbers are those of ``incast.writing.numbers``, which this file gives on.
"""

from __future__ import annotations

import math

from incast.answers.paired import matters
from incast.runs.completions import Reading
from incast.writing.numbers import between, duration, number, percent, plain, quantity, rounded, scaled

__all__ = [
    "between",
    "duration",
    "is_clear_of_zero",
    "number",
    "quantity",
    "rounded",
    "scaled",
    "share_of",
    "shown_reading",
]


def shown_reading(reading: Reading | None, scale: float = 1.0, interval: bool = True) -> str:
    """Format a figure with its interval, or the bounds of an open one."""
    if reading is None:
        return "–"
    least, most = reading.least, reading.most
    if reading.exact and least is not None:
        return number(least, scale, tiny=True) if interval else plain(least.mean * scale)
    low, high = (None if end is None else end.mean * scale for end in (least, most))
    return between(-math.inf if low is None else low, math.inf if high is None else high)


def is_clear_of_zero(apart: Reading | None, of: Reading | None = None) -> bool:
    """Return whether the interval of a difference excludes zero, for every value that its bounds allow.

    A difference from a figure ``of`` is clear only if it is at least 1 % of it.
    """
    if apart is None:
        return False
    ends = [(apart.least, 1.0), (apart.most, -1.0)]
    found = [sign * (e.mean) - e.half_width for e, sign in ends if e is not None and e.half_width is not None]
    return any(end > 0 for end in found) and (of is None or matters(apart, of))


def share_of(reading: Reading | None) -> str:
    """Format the share finished of a figure's transfers; empty if all finished."""
    return "" if reading is None or reading.share == 1 else percent(reading.share)
