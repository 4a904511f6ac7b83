"""Numbers of tables as texts: figures with intervals or bounds, counts and times."""

from __future__ import annotations

import math

from incast.runs.completions import Reading
from incast.statistics import Estimate


def shown_reading(reading: Reading | None, scale: float = 1.0, interval: bool = True) -> str:
    """Format a figure with its interval, or the bounds of an open one."""
    if reading is None:
        return "–"
    least, most = reading.least, reading.most
    if reading.exact:
        return number(least, scale) if interval or least is None else rounded(least.mean * scale)
    low, high = (None if end is None else end.mean * scale for end in (least, most))
    return between(-math.inf if low is None else low, math.inf if high is None else high)


def between(low: float, high: float) -> str:
    """Format a figure by its bounds, which are equal if it is known."""
    if low == high:
        return rounded(low)
    if high == math.inf:
        return "open" if low == -math.inf else f"≥ {rounded(low)}"
    return f"≤ {rounded(high)}" if low == -math.inf else f"{rounded(low)} to {rounded(high)}"


def is_clear_of_zero(apart: Reading | None) -> bool:
    """Return whether the interval of a difference excludes zero, for every value that its bounds allow."""
    if apart is None:
        return False
    ends = [(apart.least, 1.0), (apart.most, -1.0)]
    found = [sign * (e.mean) - e.half_width for e, sign in ends if e is not None and e.half_width is not None]
    return any(end > 0 for end in found)


def share_of(reading: Reading | None) -> str:
    """Format the share finished of a figure's transfers; empty if all finished."""
    if reading is None or reading.share == 1:
        return ""
    return f"{100 * reading.share:.3g} %"


def number(estimate: Estimate | None, scale: float = 1.0) -> str:
    """Format a mean with its interval, with suitable precision."""
    if estimate is None:
        return "–"
    text = rounded(estimate.mean * scale)
    if estimate.half_width is not None:
        text += f" ± {rounded(estimate.half_width * scale, 2)}"
    return text


def rounded(value: float, significant: int = 3) -> str:
    """Format a number with suitable digits: integers are not rounded, only tiny numbers have exponents."""
    if value == 0:
        return "0"
    text = f"{value:.{significant}g}"
    if abs(value) >= 1000 or (abs(value) >= 1 and "e" in text):
        return f"{value:,.0f}"
    return text if "e" not in text else f"{value:.1e}"


def scaled(value: float, digits: int = 3) -> str:
    """Format a count with a readable unit: 950, 2.31 thousand, 4.1 million."""
    for size, word in [(1e9, " billion"), (1e6, " million"), (1e3, " thousand")]:
        if abs(value) >= size:
            return f"{rounded(value / size, digits)}{word}"
    return f"{value:.{digits}g}"


def duration(value: float) -> str:
    """Format a duration in a suitable unit."""
    for size, unit in [(1.0, "s"), (1e-3, "ms"), (1e-6, "µs")]:
        if value >= size:
            return f"{rounded(value / size)} {unit}"
    return f"{value * 1e9:.3g} ns" if value else "0 s"
