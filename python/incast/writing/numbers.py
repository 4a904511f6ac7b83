"""Numbers as texts: three figures, SI prefixes, spreads, bounds and intervals.

A figure has three significant digits; digits before the point are never rounded away, and zeros behind it are left out
where the value is exact. A number and its unit are joined by a no-break space. ``tests/numbers.txt`` has the cases that
this file and the viewer's ``format.ts`` share.
"""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_UP, Decimal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from incast.statistics import Estimate

SPACE = "\u00a0"
"""Space between a number and its unit."""

MINUS = "\u2212"
"""Sign of negative numbers."""

TINY = 0.01
"""Plain figures below this are told as ``< 0.01``."""

MOST_FIGURES = 5
"""Figures of a mean, at most: a spread below its last figure is left out."""

LONGEST = 15
"""Digits of a number before the point, at most; a longer one is told as a power of ten."""

_STEPS = {
    "s": ((1.0, ""), (1e-3, "m"), (1e-6, "µ"), (1e-9, "n")),
    "B": ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, "")),
    "b/s": ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, "")),
}
"""Prefixes by unit, the largest first; other units have none."""

_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def rounded(value: float, significant: int = 3, rounding: str = ROUND_HALF_UP) -> str:
    """Write a plain number with this many figures; all digits before the point stay: 0.481, 8.20, 8,691."""
    if not math.isfinite(value):
        return "–" if math.isnan(value) else signed("∞", value)
    if value == 0:
        return "0"
    exponent = _exponent(value, significant, rounding)
    if -5 < exponent < LONGEST:
        return _ended(value, max(significant - 1 - exponent, 0), rounding)
    mantissa = _ended(value / 10.0**exponent, significant - 1, rounding)
    return f"{mantissa}{SPACE}×{SPACE}10{str(exponent).translate(_RAISED)}"


def quantity(value: float, unit: str, significant: int = 3) -> str:
    """Write a number with its unit: seconds, bytes and bit/s take a prefix, others stay plain (104 kB, 97.7 %)."""
    step, shown = prefixed(value, unit, significant)
    number_ = rounded(value / step, significant) if unit in _STEPS else plain(value, significant)
    return f"{number_}{SPACE}{shown}" if shown else number_


def prefixed(value: float, unit: str, significant: int = 3) -> tuple[float, str]:
    """Return the factor and the unit with its prefix that leave a value one to three digits before the point."""
    if value == 0 or not math.isfinite(value) or unit not in _STEPS:
        return 1.0, unit
    steps = _STEPS[unit]
    shown = _to_figures(abs(value), significant)  # 999.96 kB is 1 MB
    step, prefix = next((one for one in steps if shown >= one[0]), steps[-1])
    return step, f"{prefix}{unit}"


def plain(value: float, significant: int = 3) -> str:
    """Write a figure without prefixes; one too small to matter is ``< 0.01``."""
    if 0 < abs(value) < TINY:
        return f"<{SPACE}{TINY}" if value > 0 else f">{SPACE}{MINUS}{TINY}"
    return rounded(value, significant)


def number(estimate: Estimate | None, scale: float = 1.0, tiny: bool = False) -> str:
    """Write a mean with half its interval: 1.44 ± 0.14; ``tiny`` shortens a mean too small to matter to ``< 0.01``."""
    if estimate is None:
        return "–"
    mean, half = estimate.mean * scale, abs((estimate.half_width or 0.0) * scale)
    if tiny and 0 < abs(mean) + half < TINY:
        return plain(mean) if mean else f"0{SPACE}±{SPACE}{plain(half)}"
    return spread(mean, half)


def spread(mean: float, half: float) -> str:
    """Write a mean ± a half width. The half width has one figure, two if it begins with 1 or 2; the mean ends there.

    A half width of 0, or one below the last figure, is left out.
    """
    if half <= 0 or not math.isfinite(half):
        return rounded(mean)
    exponent = math.floor(math.log10(max(abs(mean), half)))
    if exponent < -4:
        inner = spread(mean / 10.0**exponent, half / 10.0**exponent)
        if "±" not in inner:
            return rounded(mean, 4)
        return f"({inner}){SPACE}×{SPACE}10{str(exponent).translate(_RAISED)}"
    places = places_of(half)
    if places + 1 + exponent > MOST_FIGURES:
        return rounded(mean, 4)
    return f"{_fixed(mean, places)}{SPACE}±{SPACE}{_fixed(half, places)}"


def measured(estimate: Estimate, unit: str) -> str:
    """Write a mean with half its interval and its unit: 10.2 ± 0.5 ms."""
    step, shown = prefixed(estimate.mean, unit)
    half = (estimate.half_width or 0.0) / step
    tiny = unit not in _STEPS and 0 < abs(estimate.mean) + half < TINY
    text = plain(estimate.mean) if tiny else spread(estimate.mean / step, half)
    return f"{text}{SPACE}{shown}" if shown else text


def places_of(half: float) -> int:
    """Return the decimal places of a half width: those of one figure, or of two if it begins with 1 or 2."""
    two = _to_figures(half, 2)
    exponent = math.floor(math.log10(two) + 1e-9)
    return 1 - exponent if two / 10.0**exponent < 2.95 else -exponent


def with_interval(mean: float, low: float, high: float) -> tuple[str, str]:
    """Write a mean and its interval, 12.7 and [11.7, 13.6], with the places of half its width.

    A mean has three figures at most, or more places where a number that is not 0 would read 0. An interval that its
    mean says as well is empty.
    """
    half = (high - low) / 2
    if half <= 0:
        return rounded(mean), ""
    largest = max(abs(low), abs(high))
    places = min(places_of(half), 2 - math.floor(math.log10(largest)))
    while any(one and not round(one, places) for one in (mean, low, high)) and places < LONGEST:
        places += 1
    texts = [_fixed(one, places) for one in (mean, low, high)]
    return texts[0], f"[{texts[1]}, {texts[2]}]" if len(set(texts)) > 1 else ""


def between(low: float, high: float) -> str:
    """Write a figure by its bounds, which are equal if it is known; a bound is never rounded inwards."""
    if low == high:
        return rounded(low)
    if high == math.inf:
        return "open" if low == -math.inf else f"≥{SPACE}{rounded(low, rounding=ROUND_FLOOR)}"
    if low == -math.inf:
        return f"≤{SPACE}{rounded(high, rounding=ROUND_CEILING)}"
    return f"{rounded(low, rounding=ROUND_FLOOR)} to {rounded(high, rounding=ROUND_CEILING)}"


def percent(share: float) -> str:
    """Write a share of 1 in percent; a share below 1 never reads 100 %, one above 0 never 0 %."""
    text = quantity(100 * share, "%")
    if share < 1 and text == f"100{SPACE}%":
        return f">{SPACE}99.9{SPACE}%"
    return text


def said(text: str) -> str:
    """Return a text with common spaces, for messages and terminals."""
    return text.replace(SPACE, " ")


def scaled(value: float, digits: int = 3) -> str:
    """Write a count with a word: 950, 2.31 thousand, 4.1 million."""
    for size, word in [(1e9, "billion"), (1e6, "million"), (1e3, "thousand")]:
        if abs(value) >= size:
            return f"{rounded(value / size, digits)}{SPACE}{word}"
    return rounded(value, digits)


def duration(value_s: float) -> str:
    """Write a duration in seconds: 20 ms, 195 µs; from two minutes on in minutes, hours or days."""
    for size, unit in ((86400, "days"), (3600, "h"), (60, "min")):
        if value_s >= 2 * size:
            return f"{rounded(value_s / size)}{SPACE}{unit}"
    return quantity(value_s, "s")


def signed(text: str, value: float) -> str:
    """Put the sign of a negative value before the text of its amount."""
    return f"{MINUS}{text}" if value < 0 else text


def _to_figures(value: float, significant: int) -> float:
    return float(f"{value:.{significant - 1}e}")


def _exponent(value: float, significant: int, rounding: str) -> int:
    """Return the power of ten of the first figure, after rounding."""
    exact = Decimal(value)
    places = significant - 1 - exact.adjusted()
    return exact.quantize(Decimal((0, (1,), -places)), rounding=rounding).adjusted()


def _ended(value: float, places: int, rounding: str) -> str:
    """Write a number with these decimal places, without zeros at its end if nothing was rounded away."""
    exact = Decimal(value)
    shown = exact.quantize(Decimal((0, (1,), -places)), rounding=rounding)
    text = f"{abs(shown):,f}"
    if places and math.isclose(float(shown), value, rel_tol=1e-12):
        text = text.rstrip("0").rstrip(".")
    return signed(text, float(shown))


def _fixed(value: float, places: int) -> str:
    """Write a number that ends at this place, before or behind the point."""
    shown = round(value, places)
    return signed(f"{abs(shown):,.{max(places, 0)}f}", shown)
