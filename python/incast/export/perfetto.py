"""A run over time as a trace for Perfetto (https://ui.perfetto.dev): the JSON of Chrome's trace viewer.

Flows are tracks with a slice from start to end. Their events (timeouts; marks, drops and losses of traced flows) are
instants. Time series of flows and ports are counters, and so are windows and rates of flows per frame of a timeline.
Ranks of jobs whose tasks are recorded have tracks with iterations, calculations and messages. Times are microseconds
with all digits.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from incast.errors import FolderError
from incast.export import rank_tracks
from incast.export.rank_tracks import us as _us

if TYPE_CHECKING:
    from incast.runs.result import Result

MOST_FLOWS = 500
"""Most flows of a trace if none is named: the viewer becomes slow with more."""
HAPPENINGS = ("mark", "drop", "loss")
FLOWS, NETWORK = 1, 2
"""Identifiers of the two processes."""


def trace(result: Result, flows: list[int]) -> str:
    """Return the text of a trace of ``flows``, or of all if empty, and of recorded ranks of jobs.

    Raises ``FolderError`` for an unknown flow, or if there are more than ``MOST_FLOWS``, none is named, and no rank is
    recorded.
    """
    rows = result.flows.to_pylist()
    if unknown := [flow for flow in flows if not 0 <= flow < len(rows)]:
        raise FolderError(f"no flow {unknown[0]}: expected numbers from 0 to {len(rows) - 1}")
    # where lanes of ranks tell what is sent, connections may be left out
    of_ranks = list(rank_tracks.events(result))
    many = not flows and len(rows) > MOST_FLOWS
    if many and not of_ranks:
        raise FolderError(
            f"the run has {len(rows):,} flows, and a trace holds at most {MOST_FLOWS}: select some with --flow"
        )
    chosen = [] if many else sorted(set(flows)) or list(range(len(rows)))
    events = [*_tracks(rows, chosen, result.summary["run"]["sim_s"]), *_series(result, set(chosen))]
    events += [*_frames(result, set(chosen)), *_events(result, set(chosen)), *_packets(result, set(chosen)), *of_ranks]
    metadata = {"scenario": result.summary["run"]["scenario"], "seed": result.summary["run"]["seed"]}
    whole = {"traceEvents": events, "displayTimeUnit": "ns", "otherData": metadata}
    return json.dumps(whole, allow_nan=False, separators=(",", ":")) + "\n"


def _named(kind: str, name: str, process: int, track: int | None = None) -> dict[str, Any]:
    event = {"ph": "M", "name": kind, "pid": process, "args": {"name": name}}
    return event if track is None else event | {"tid": track}


def _tracks(rows: list[dict[str, Any]], chosen: list[int], end_s: float) -> Iterator[dict[str, Any]]:
    yield _named("process_name", "flows", FLOWS)
    yield _named("process_name", "network", NETWORK)
    for flow in chosen:
        row = rows[flow]
        yield _named("thread_name", f"flow {flow}", FLOWS, flow + 1)
        until = row["finish_s"] if row["finish_s"] is not None else max(end_s, row["start_s"])
        shown = ("group", "controller", "src", "dst", "size_bytes", "fct_s", "slowdown", "retransmissions", "timeouts")
        yield {
            "ph": "X",
            "name": f"flow {flow}",
            "cat": "flow",
            "pid": FLOWS,
            "tid": flow + 1,
            "ts": _us(row["start_s"]),
            "dur": _us(until - row["start_s"]),
            "args": {name: row[name] for name in shown if name in row},
        }


def _counter(name: str, process: int, time_s: float, value: float) -> dict[str, Any]:
    return {"ph": "C", "name": name, "pid": process, "ts": _us(time_s), "args": {"value": value}}


def _series(result: Result, chosen: set[int]) -> Iterator[dict[str, Any]]:
    for row in result.samples.to_pylist():
        if row["value"] is None or not math.isfinite(row["value"]):
            continue
        entity = row["entity"]
        of_flow = entity.startswith("flow ")
        if not of_flow or int(entity.removeprefix("flow ")) in chosen:
            yield _counter(f"{entity} {row['name']}", FLOWS if of_flow else NETWORK, row["time_s"], row["value"])


def _frames(result: Result, chosen: set[int]) -> Iterator[dict[str, Any]]:
    """Yield windows and rates by frame: a rate over its frame, a window at the frame's end."""
    if result.timeline_json is None or result.timeline_flows.num_columns == 0:
        return
    frame_s = json.loads(result.timeline_json)["frame_s"]
    idle_from: dict[int, int] = {}
    for row in result.timeline_flows.to_pylist():
        flow, frame = row["flow"], row["frame"]
        if flow not in chosen:
            continue
        if idle_from.get(flow, frame) < frame:
            yield _counter(f"flow {flow} delivered_bps", FLOWS, idle_from[flow] * frame_s, 0)
        idle_from[flow] = frame + 1
        rate = row["delivered_bytes"] * 8 / frame_s
        yield _counter(f"flow {flow} delivered_bps", FLOWS, frame * frame_s, rate)
        if row["cwnd_bytes"] is not None:
            yield _counter(f"flow {flow} window_bytes", FLOWS, (frame + 1) * frame_s, row["cwnd_bytes"])


def _instant(name: str, time_s: float, flow: int | None, args: dict[str, Any]) -> dict[str, Any]:
    where = {"pid": NETWORK, "tid": 0, "s": "p"} if flow is None else {"pid": FLOWS, "tid": flow + 1, "s": "t"}
    return {"ph": "i", "name": name, "ts": _us(time_s), **where, "args": args}


def _events(result: Result, chosen: set[int]) -> Iterator[dict[str, Any]]:
    if result.timeline_events.num_columns == 0:
        return
    ports = result.ports["port"].to_pylist()
    for row in result.timeline_events.to_pylist():
        if row["what"] == "port":
            yield _instant(row["kind"], row["time_s"], None, {"port": ports[row["subject"]]})
        elif row["subject"] in chosen and row["kind"] not in ("flow-start", "flow-end"):
            yield _instant(row["kind"], row["time_s"], row["subject"], {})


def _packets(result: Result, chosen: set[int]) -> Iterator[dict[str, Any]]:
    if result.trace.num_columns == 0:
        return
    for line in result.trace.to_pylist():
        if line["flow"] in chosen and line["event"] in HAPPENINGS:
            args = {"place": line["place"], "seq": line["seq"], "payload_bytes": line["payload_bytes"]}
            yield _instant(line["event"], line["time_s"], line["flow"], args)
