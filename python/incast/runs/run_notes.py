"""Notes on a run: reasons why flows did not finish, loads not reached, and figures that one flow dominates."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Any

import numpy as np

from incast import _core
from incast.system.output import counted
from incast.writing.numbers import duration, percent, rounded, said

if TYPE_CHECKING:
    import pyarrow as pa

LONE = 0.5
"""Fraction of the measured interval with a single flow that is worth a note."""

LOADED = 0.6
"""Share of the bytes of arrivals that is delivered before arrivals end; a smaller one is worth a note."""

COLUMNS = [
    "group",
    "size_bytes",
    "start_s",
    "finish_s",
    "delivered_bytes",
    "sent_packets_total",
    "dropped_total",
    "throughput_bps",
]
"""Columns of flows that notes use."""


def reasons(summary: dict[str, Any], toml: str, flows: pa.Table) -> list[str]:
    """Return the reasons why finite flows did not finish, loads not reached, and a note if a flow dominates."""
    fct = summary["fct"]
    if not fct["count"]:
        return []
    columns = {name: flows[name] for name in COLUMNS}
    numbers = {name: column.to_numpy(zero_copy_only=False).astype(float) for name, column in list(columns.items())[1:]}
    groups = np.array(columns["group"].to_pylist(), dtype=object)
    scenario = tomllib.loads(toml)
    return [
        *_unfinished(summary, scenario, groups, numbers),
        *_unloaded(summary, scenario, groups, numbers),
        *_stretched(summary, numbers),
    ]


def _unfinished(summary: dict[str, Any], scenario: dict[str, Any], groups: Any, flows: dict[str, Any]) -> list[str]:
    finished, count = summary["fct"]["finished"], summary["fct"]["count"]
    if finished == count:
        return []
    notes = []
    end_s = summary["run"]["sim_s"]
    pending = ~np.isnan(flows["size_bytes"]) & np.isnan(flows["finish_s"]) & ~np.isnan(flows["throughput_bps"])
    for entry in scenario["traffic"]:
        mine = pending & (groups == entry["name"])
        transport = {**scenario["transport"], **entry.get("transport", {})}
        open_s = end_s - flows["start_s"]
        # a minimum RTO as long as the flow's time: no timeout can have fired
        floor_s = _core.model_quantity("time", transport["rto_min"])
        kept = int((mine & (flows["dropped_total"] > 0) & (open_s <= floor_s)).sum())
        if kept:
            notes.append(
                f"{counted(kept, 'unfinished flow')} of {entry['name']} lost packets and ran for less than the "
                f"minimum retransmission timeout (transport.rto_min = {transport['rto_min']}; the run "
                f"lasts {said(duration(end_s))}): losses that only a timeout can repair were not repaired before the "
                "run ended"
            )
        syn_s = _core.model_quantity("time", transport["syn_timeout"])
        unanswered = int((mine & (flows["sent_packets_total"] == 0) & (open_s > 0)).sum())
        if transport["handshake"] and unanswered:
            again = f"is retransmitted after transport.syn_timeout = {transport['syn_timeout']}"
            late = f", and the run lasts {said(duration(end_s))}" if syn_s >= end_s else ""
            notes.append(
                f"{counted(unanswered, 'flow')} of {entry['name']} sent no data: the SYN was not answered; a "
                f"lost SYN {again}{late}"
            )
    return notes


def _unloaded(summary: dict[str, Any], scenario: dict[str, Any], groups: Any, flows: dict[str, Any]) -> list[str]:
    """Return a note for each load that the network did not carry before its arrivals ended."""
    notes = []
    end_s = summary["run"]["sim_s"]
    for entry in scenario["traffic"]:
        arrivals = entry.get("arrivals", {})
        mine = (groups == entry["name"]) & (flows["size_bytes"] > 0) & ~np.isnan(flows["throughput_bps"])
        if "load" not in arrivals or not mine.any():
            continue
        until_s = min(_core.model_quantity("time", arrivals["until"]) if "until" in arrivals else end_s, end_s)
        start_s, size = flows["start_s"][mine], flows["size_bytes"][mine]
        finish_s = flows["finish_s"][mine]
        # at least a picosecond: a flow may open as the run ends
        lasts_s = np.maximum(np.where(np.isnan(finish_s), end_s, finish_s) - start_s, 1e-12)
        # evenly over its lifetime
        before = flows["delivered_bytes"][mine] * np.clip((until_s - start_s) / lasts_s, 0, 1)
        share = float(before.sum() / size.sum())
        if share < LOADED:
            weighted_s = float((size * lasts_s).sum() / size.sum())
            notes.append(
                f"{entry['name']}: the network carried a load of about {rounded(arrivals['load'] * share, 2)} and not "
                f"{arrivals['load']:g}: of the bytes of its flows, {said(percent(share))} arrived before arrivals "
                f"ended at {said(duration(until_s))}; a byte's flow lasts {said(duration(weighted_s))} on average. "
                "Several times that as arrivals.until, and a run.warmup, give figures under load"
            )
    return notes


def _stretched(summary: dict[str, Any], flows: dict[str, Any]) -> list[str]:
    run = summary["run"]
    length = run["measure_to_s"] - run["measure_from_s"]
    opened = ~np.isnan(flows["throughput_bps"])
    # endless flows are active to the end of the interval
    ends = np.where(np.isnan(flows["finish_s"]), np.inf, flows["finish_s"])[opened]
    if len(ends) < 3 or length <= 0:
        return []
    last, before = np.sort(ends)[::-1][:2]
    alone = min(last, run["measure_to_s"]) - max(before, run["measure_from_s"])
    if not np.isfinite(before) or alone < LONE * length:
        return []
    number = int(np.flatnonzero(opened)[int(np.argmax(ends))])
    return [
        f"flow {number} runs alone for {100 * alone / length:.0f} % of the measured interval, after all others ended: "
        "throughput over the interval, goodput and utilisation mostly describe this flow; "
        "throughput_active is over each flow's own time"
    ]
