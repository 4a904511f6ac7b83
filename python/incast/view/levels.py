"""Levels of a timeline: the figure with which a page opens, pooled over time and over ports.

Pooled over time is the largest value of each port; pooled over ports are the largest value, its port and the sum of
each frame. Rows are those of the frame at which a page opens, and of the ports that the heat map has first: with these
the first picture needs no other row of a large run. Values are exact. A folder keeps its levels in a file of its own
(``FILE``), bound to the tables that they were made of.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from incast.view import packing
from incast.view.sources import Source, columns, damaged, naming, numbers

FILE = "view.levels"
VERSION = b"1"
LEAST_ROWS = 2**18
"""Fewest rows of a run with levels: pages of smaller runs open as fast without."""
FIRST = 128
"""Ports with all their rows, the worst first: more than a heat map has names for."""
NAMES = ("worst", "most", "most_port", "sum", "opens", "busy", "first", "starts", "port", "value")
"""Columns: of ports, of frames (three), single numbers (three), of rows (first row of each frame, port, value)."""
TABLES = ("timeline_ports", "timeline_flows")
MOST_BYTES = 2**28
"""Most bytes of a file, packed or not."""


def of(run: Source, metric: str, frames: int, ports: int) -> dict[str, bytes]:
    """Return the packed columns: those that the run keeps, or new ones, which it keeps from now on."""
    bound = json.dumps([metric, frames, ports]).encode() + VERSION
    kept = _unpacked(run.recall(FILE, TABLES, bound))
    if kept is None:
        made = _made(run, metric, frames, ports)
        kept = {name: packing.numbers(values) for name, values in made.items()}
        run.remember(FILE, TABLES, bound, _packed(kept))
    return kept


def _made(run: Source, metric: str, frames: int, ports: int) -> dict[str, np.ndarray[Any, Any]]:
    frame = numbers(run, "timeline_ports", "frame", frames)
    port = numbers(run, "timeline_ports", "port", ports)
    column = columns(run, "timeline_ports", [metric])[metric]
    with naming(run, "timeline_ports", f"column {metric}:"):
        value = packing.array(column)
    if np.any(frame[1:] < frame[:-1]):
        raise damaged(run, "timeline_ports", "its frames are not in order")
    starts = np.searchsorted(frame, np.arange(frames + 1, dtype=frame.dtype))
    worst, most = np.zeros(ports, value.dtype), np.zeros(frames, value.dtype)
    np.maximum.at(worst, port, value)
    np.maximum.at(most, frame, value)
    sums = np.bincount(frame, value, frames)
    most_port = np.zeros(frames, np.uint32)
    # of equal ones the first: the last to be written
    largest = np.flatnonzero(value == most[frame])[::-1]
    most_port[frame[largest]] = port[largest]
    opens = int(np.lexsort((-np.arange(frames), sums, most))[-1])
    first = np.zeros(ports, bool)
    first[np.lexsort((np.arange(ports), -worst.astype(np.float64)))[:FIRST]] = True
    rows = np.flatnonzero((frame == opens) | first[port])
    return {
        "worst": worst, "most": most, "most_port": most_port, "sum": sums,
        "opens": np.array([opens], np.uint32), "busy": np.array([_busy(run, frame, frames)], np.uint32),
        "first": np.array([min(FIRST, ports)], np.uint32),
        "starts": np.searchsorted(rows, starts).astype(np.uint32), "port": port[rows].astype(np.uint32),
        "value": value[rows],
    }  # fmt: skip


def _busy(run: Source, frame: np.ndarray[Any, Any], frames: int) -> int:
    """Return the number of frames until the last one with a row of a port or a flow."""
    last = [int(frame[-1])] if len(frame) else []
    if run.shape("timeline_flows"):
        of_flows = numbers(run, "timeline_flows", "frame", frames)
        last += [int(of_flows.max())] if len(of_flows) else []
    return max(last, default=-1) + 1


def _packed(made: Mapping[str, bytes]) -> bytes:
    lengths = json.dumps({name: len(data) for name, data in made.items()}).encode()
    return zlib.compress(b"\n".join([lengths, b"".join(made.values())]), packing.FAST)


def _unpacked(data: bytes | None) -> dict[str, bytes] | None:
    """Return the columns of a file; ``None`` without, or if it is damaged."""
    if data is None:
        return None
    try:
        unpacker = zlib.decompressobj()
        head, _, rest = unpacker.decompress(data, MOST_BYTES).partition(b"\n")
        lengths = json.loads(head)
        if not unpacker.eof or tuple(lengths) != NAMES or sum(lengths.values()) != len(rest):
            return None
        ends = np.cumsum(list(lengths.values())).tolist()
        return {name: rest[end - lengths[name] : end] for name, end in zip(NAMES, ends, strict=True)}
    except (zlib.error, *packing.UNFORESEEN):
        return None
