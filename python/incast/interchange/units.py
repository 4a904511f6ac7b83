"""Quantities in the notations of ns-3 and of scenarios."""

from __future__ import annotations

import re
from decimal import ROUND_HALF_UP, Decimal

SPLIT = re.compile(r"([0-9.eE+-]*[0-9.])([A-Za-z/]*)")
"""A number and its unit."""

MOST_BPS = 10**15
MOST_NS = 10**15
"""Largest rate, and largest time: far beyond any network, and within the arithmetic of a run."""

_PREFIXES = {
    "": 1, "k": 10**3, "K": 10**3, "M": 10**6, "G": 10**9, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30,
}  # fmt: skip

RATES = {
    f"{prefix}{unit}": Decimal(factor * bits)
    for prefix, factor in _PREFIXES.items()
    for unit, bits in (("bps", 1), ("b/s", 1), ("Bps", 8), ("B/s", 8))
} | {"": Decimal(1)}
"""Units of ns-3's data rates, in bit/s."""

TIMES = {
    unit: Decimal(factor)
    for unit, factor in (
        ("", "1e9"), ("s", "1e9"), ("ms", "1e6"), ("us", "1e3"), ("ns", "1"), ("ps", "1e-3"), ("fs", "1e-6"),
        ("min", "6e10"), ("h", "3.6e12"),
    )
}  # fmt: skip
"""Units of ns-3's times, in ns."""


SIZES = {
    "": 1, "B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30,
}  # fmt: skip
"""Units of sizes in scenarios, in bytes."""


def exact(text: str) -> Decimal:
    """Return a number of a scenario, exact."""
    return Decimal(text.replace("_", ""))


def rounded(value: Decimal) -> int:
    """Round to a whole number, as ns-3 rounds times to ns."""
    return int(value.to_integral_value(ROUND_HALF_UP))


def rate_text(bps: int) -> str:
    """Write a rate for a scenario."""
    for factor, unit in ((10**9, "Gbps"), (10**6, "Mbps"), (10**3, "kbps")):
        if bps % factor == 0:
            return f"{bps // factor}{unit}"
    return f"{bps}bps"


def time_text(ns: int) -> str:
    """Write a time for a scenario."""
    for factor, unit in ((10**9, "s"), (10**6, "ms"), (10**3, "us")):
        if ns and ns % factor == 0:
            return f"{ns // factor}{unit}"
    return f"{ns}ns"


def size_text(size: int) -> str:
    """Write a size for a scenario."""
    for factor, unit in ((2**20, "MiB"), (10**6, "MB"), (10**3, "kB")):
        if size and size % factor == 0:
            return f"{size // factor}{unit}"
    return f"{size}B"


def time_ns(text: str) -> int:
    """Read a time of a resolved scenario in ns, rounded."""
    found = SPLIT.fullmatch(text)
    return rounded(exact(found[1]) * TIMES[found[2]]) if found else 0


def size_bytes(text: str, packet: int) -> int | None:
    """Read a size or a limit of a resolved scenario in bytes; ``None`` for none."""
    found = SPLIT.fullmatch(text)
    if found is None:
        return None
    return rounded(exact(found[1]) * (packet if found[2] == "p" else SIZES[found[2]]))


def seconds_text(ns: int) -> str:
    """Write a time in seconds with all its nanoseconds, as flow files have it."""
    return f"{ns // 10**9}.{ns % 10**9:09d}"


def decimal_text(value: Decimal) -> str:
    """Write an exact number without an exponent or zeros at its end."""
    text = f"{value:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
