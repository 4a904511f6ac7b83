"""Quantities of the command line: ``100Mbps``, ``50kB``, ``600us``."""

from __future__ import annotations

import re

RATES = {"bps": 1, "kbps": 10**3, "Mbps": 10**6, "Gbps": 10**9}
SIZES = {"B": 1, "kB": 10**3, "MB": 10**6}
TIMES = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9}


def read(text: str, units: dict[str, int], example: str) -> int:
    """Read a number with its unit, as a whole number of the smallest unit."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?) ?([A-Za-z]+)", text.strip())
    if found is None or found[2] not in units:
        raise ValueError(f'"{text}": expected a number with one of the units {", ".join(units)}, such as {example}')
    value = float(found[1]) * units[found[2]]
    if value != round(value):
        raise ValueError(f'"{text}": expected a whole number of {next(iter(units))}, such as {example}')
    return round(value)


def rate_bps(text: str) -> int:
    """Read a rate."""
    if not (found := read(text, RATES, "100Mbps")):
        raise ValueError(f'"{text}": expected a rate above 0')
    return found


def size_bytes(text: str) -> int:
    """Read a size."""
    return read(text, SIZES, "50kB")


def time_ns(text: str) -> int:
    """Read a time."""
    return read(text, TIMES, "600us")


def rate_text(value_bps: int) -> str:
    """Write a rate with the largest unit that keeps it whole."""
    return _text(value_bps, RATES)


def size_text(value_bytes: int) -> str:
    """Write a size with the largest unit that keeps it whole."""
    return _text(value_bytes, SIZES)


def time_text(value_ns: int) -> str:
    """Write a time with the largest unit that keeps it whole."""
    return _text(value_ns, TIMES)


def _text(value: int, units: dict[str, int]) -> str:
    name = max((name for name in units if value % units[name] == 0), key=lambda name: units[name]) if value else ""
    return f"{value // units[name]}{name}" if name else f"0{next(iter(units))}"
