"""Titles in words for keys of figures and of parameters."""

from __future__ import annotations

import re

_FIRST = ("mean", "p50", "p99", "p999", "min", "max", "total")
"""Statistics, which come before their quantity."""
_UNITS = ("s", "bps", "pct", "packets", "bytes")
"""Units at the end of keys."""
_LARGE = {"rtt": "RTT", "fct": "FCT", "jain": "Jain's index", "cwnd": "congestion window", "p999": "p99.9"}
_PARTS = {
    "flows": "",
    "fct": "flow completion time",
    "queries": "query completion time",
    "writes": "write completion time",
    "busiest": "at the busiest port",
    "queues": "of all queues",
    "hosts": "of all hosts",
}


def figure(key: str) -> str:
    """Return the title of a figure of a summary: ``fct.slowdown_p99`` is ``p99 slowdown``."""
    *parts, name = key.split(".")
    words = name.split("_")
    words = words[:-1] if len(words) > 1 and words[-1] in _UNITS else words
    ordered = [word for word in words if word in _FIRST] + [word for word in words if word not in _FIRST]
    if parts[:1] == ["groups"]:
        return " ".join([*(_LARGE.get(word, word) for word in ordered), f"of {'.'.join(parts[1:-1])}"])
    place = _PARTS.get(parts[-1], parts[-1]) if parts else ""
    if parts and parts[-1] in ("fct", "queries", "writes") and any(word not in _FIRST for word in words):
        place = "" if parts[-1] == "fct" else f"of {parts[-1]}"
    return " ".join(filter(None, [*(_LARGE.get(word, word) for word in ordered), place]))


def parameter(key: str) -> str:
    """Return the title of a key of a scenario: ``controller.base_target`` is ``base target``."""
    parts = key.split(".")
    words = re.sub(r"_+", " ", parts[-1])
    owner = [part for part in parts[:-1] if part != "controller"]
    return f"{words} ({'.'.join(owner)})" if owner else words
