"""Size distributions of traffic generators (``<bytes> <cumulative percent>`` a line) as tables of sizes."""

from __future__ import annotations

from decimal import Decimal

from incast.interchange import units
from incast.interchange.words import Words

MOST_BYTES = 2**62
EXPECTED = "lines of bytes and cumulative percent, from 0 to 100, or shares from 0 to 1"


def table(words: Words) -> str:
    """Return the table of a distribution as CSV with the columns ``size`` and ``cumulative``."""
    rows: list[tuple[int, Decimal]] = []
    last, places = "", []
    while words.next() is not None:
        words.back()
        size = words.whole("bytes", MOST_BYTES)
        if rows and size < rows[-1][0]:
            raise words.wrong("bytes", f"at least {rows[-1][0]}, the size before")
        share = words.number("cumulative percent", 100.0)
        if rows and share < rows[-1][1]:
            raise words.wrong("cumulative percent", f"at least {last}, the one before")
        last = units.decimal_text(share)
        rows.append((size, share))
        places.append(words.at)
    if not rows:
        raise words.error(0, f"no sizes; expected {EXPECTED}")
    whole = rows[-1][1]
    if whole not in (1, 100):
        raise words.wrong("cumulative percent", "100 at the end, or 1 for shares")
    if rows[-1][0] == 0:
        raise words.error(places[-1], "all sizes are 0; expected the last above 0")
    lines = ["size,cumulative"]
    lines += [f"{size},{units.decimal_text(share / whole)}" for size, share in rows]
    return "\n".join(lines) + "\n"
