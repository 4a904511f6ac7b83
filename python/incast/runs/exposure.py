"""Measured ON time of the applications of a run."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

_UNITS = {"ps": 1e-12, "ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}


def seconds(text: str) -> float:
    """Read a time of a scenario, ``"10us"``."""
    match = re.fullmatch(r"([0-9._]+)\s*(ps|ns|us|ms|s)", text.strip())
    if match is None:
        if text.strip() == "0":
            return 0.0
        raise ValueError(f'"{text}" is not a time such as "10us"')
    return float(match[1].replace("_", "")) * _UNITS[match[2]]


def on_seconds(scenario: dict[str, Any], flows: pa.Table, start_s: float, end_s: float) -> float:
    """Return the mean ON time per flow inside the measured interval, in seconds.

    The application's clock starts with its flow; a handshake before it (well under a millisecond
    on a fabric) is not counted. Applications without an OFF time are ON from the flow's start.
    """
    entries = {entry["name"]: entry for entry in scenario["traffic"]}
    total = 0.0
    groups, starts = flows["group"].to_pylist(), flows["start_s"].to_pylist()
    for group, opened in zip(groups, starts, strict=True):
        entry = entries[group]
        app = entry["app"]
        end = min(end_s, seconds(entry["stop"])) if "stop" in entry else end_s
        if app.get("kind") == "on-off" and seconds(app["off"]) > 0:
            on, off = seconds(app["on"]), seconds(app["off"])
            first = opened + (off if app.get("off_first") else 0.0)
            total += max(0.0, _on_until(end - first, on, off) - _on_until(start_s - first, on, off))
        else:
            total += max(0.0, end - max(opened, start_s))
    return total / flows.num_rows if flows.num_rows else 0.0


def _on_until(elapsed: float, on: float, off: float) -> float:
    """Return the ON time in the first ``elapsed`` seconds of an application."""
    if elapsed <= 0:
        return 0.0
    cycles, rest = divmod(elapsed, on + off)
    return cycles * on + min(rest, on)
