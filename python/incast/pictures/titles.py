"""Titles in words for keys of figures and of parameters."""

from __future__ import annotations

import re

_FIRST = ("mean", "p50", "p99", "p999", "min", "max", "total")
"""Statistics, which come before their quantity."""
_UNITS = ("s", "bps", "pct", "packets", "bytes")
"""Units at the end of keys."""
_LARGE = {"rtt": "RTT", "fct": "FCT", "jain": "Jain's index", "cwnd": "congestion window", "p999": "p99.9"}
_PLACES = {
    "flows": "",
    "queues.busiest": "queue at the busiest port",
    "hosts.busiest": "queue at the busiest host stage",
    "queues": "of all queues",
    "hosts": "of all hosts",
    "fct": "flow completion time",
    "queries": "query completion time",
    "writes": "write completion time",
}
_COUNTED = {"flows": "of all flows", "fct": "of finite flows", "queries": "of queries", "writes": "of writes"}
"""Places of numbers that are not of a completion time."""


def figure(key: str) -> str:
    """Return the title of a figure of a summary: ``fct.slowdown_p99`` is ``p99 slowdown``."""
    *parts, name = key.split(".")
    group = f"of {'.'.join(parts[1:-1])}" if parts[:1] == ["groups"] else ""
    part = parts[-1] if group else ".".join(parts)
    words = name.split("_")
    words = words[:-1] if len(words) > 1 and words[-1] in _UNITS else words
    ordered = [word for word in words if word in _FIRST] + [word for word in words if word not in _FIRST]
    place = _PLACES.get(part, part)
    if name in ("count", "finished") or (part in ("queries", "writes") and ordered[-1] not in _FIRST):
        place = _COUNTED.get(part, place)
    elif part == "fct" and ordered[-1] not in _FIRST:
        place = ""
    return " ".join(filter(None, [*(_LARGE.get(word, word) for word in ordered), place, group]))


def parameter(key: str) -> str:
    """Return the title of a key of a scenario: ``controller.base_target`` is ``base target``."""
    parts = key.split(".")
    words = re.sub(r"_+", " ", parts[-1])
    owner = [part for part in parts[:-1] if part != "controller"]
    return f"{words} ({'.'.join(owner)})" if owner else words
