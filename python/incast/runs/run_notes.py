"""Notes on a run: reasons why flows did not finish, loads not reached, and figures that one flow dominates."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from incast import _core
from incast.runs.described import timeout_of
from incast.system.output import counted
from incast.writing.numbers import duration, rounded, said

if TYPE_CHECKING:
    import pyarrow as pa

LONE = 0.5
"""Fraction of the measured interval with a single flow that is worth a note."""

LOADED, DRAWN = 0.9, 0.8
"""Parts of an asked load below which what the network carries is worth a note: while it builds up, and after that."""

BUILT_UP = 2
"""Time after which a load has built up to within a few per cent, in mean times that a byte's flow lasts."""

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
        key, floor = timeout_of(transport)
        floor_s = _core.model_quantity("time", floor)
        lost = mine & (flows["dropped_total"] > 0)
        if floor_s == 0 and (kept := int(lost.sum())):
            notes.append(
                f"{counted(kept, 'unfinished flow')} of {entry['name']} lost packets, and no timeout repeats the last "
                f"ones (transport.{key} = {floor})"
            )
        elif kept := int((lost & (open_s <= floor_s)).sum()):
            notes.append(
                f"{counted(kept, 'unfinished flow')} of {entry['name']} lost packets and ran for less than the "
                f"minimum retransmission timeout (transport.{key} = {floor}; the run "
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


@dataclass(frozen=True)
class _Carried:
    """Load of a traffic entry in the measured part of its arrivals."""

    share: float
    """Rate of the bytes that were carried there, as a part of the rate of the arrivals."""
    from_s: float
    to_s: float
    until: str
    """Words on the end of the arrivals."""
    lasts_s: float
    """Mean time that a byte's flow lasts; of flows that did not finish, until the end of the run."""
    is_open: bool
    """True if some flow did not finish."""
    is_built_up: bool
    """True if arrivals went on for several times that before."""
    flows: int


def _unloaded(summary: dict[str, Any], scenario: dict[str, Any], groups: Any, flows: dict[str, Any]) -> list[str]:
    """Return a note for each load that the network did not carry in the measured part of its arrivals."""
    notes = []
    end_s = summary["run"]["sim_s"]
    for entry in scenario["traffic"]:
        arrivals = entry.get("arrivals", {})
        mine = (groups == entry["name"]) & (flows["size_bytes"] > 0) & ~np.isnan(flows["throughput_bps"])
        if "load" not in arrivals or not mine.any():
            continue
        start_s = _core.model_quantity("time", entry.get("start", "0s"))
        until_s = min(_core.model_quantity("time", arrivals["until"]) if "until" in arrivals else end_s, end_s)
        found = _carried(summary["run"], start_s, until_s, {name: column[mine] for name, column in flows.items()})
        if found.share < (DRAWN if found.is_built_up else LOADED):
            notes.append(f"{entry['name']}: {_lacking(found, arrivals['load'])}")
    return notes


def _carried(run: dict[str, Any], start_s: float, until_s: float, flows: dict[str, Any]) -> _Carried:
    """Return what was carried of flows that arrived in an interval; a flow's bytes arrive evenly while it lasts."""
    finish_s = np.where(np.isnan(flows["finish_s"]), run["sim_s"], flows["finish_s"])
    # at least a picosecond: a flow may open as the run ends
    lasts_s = np.maximum(finish_s - flows["start_s"], 1e-12)
    from_s, to_s = max(start_s, run["measure_from_s"]), min(until_s, run["measure_to_s"])
    if from_s >= to_s:  # nothing arrives while figures are measured
        from_s, to_s = start_s, until_s
    before, after = (np.clip((at_s - flows["start_s"]) / lasts_s, 0, 1) for at_s in (from_s, to_s))
    rate = float((flows["delivered_bytes"] * (after - before)).sum()) / (to_s - from_s)
    whole = float(flows["size_bytes"].sum())
    mean_s = float((flows["size_bytes"] * lasts_s).sum()) / whole
    is_built_up = from_s - start_s >= BUILT_UP * mean_s
    is_open = bool(np.isnan(flows["finish_s"]).any())
    until = "with the run" if until_s == run["sim_s"] else f"at {said(duration(until_s))}"
    return _Carried(rate * (until_s - start_s) / whole, from_s, to_s, until, mean_s, is_open, is_built_up, len(lasts_s))


def _lacking(found: _Carried, load: float) -> str:
    """Say what load was asked, what was carried, and why."""
    begin, end, lasts = (said(duration(one)) for one in (found.from_s, found.to_s, found.lasts_s))
    text = (
        f"from {begin} to {end} the network carried a load of about {rounded(load * found.share, 2)} and not {load:g}"
    )
    if found.is_built_up:
        few = f"the {counted(found.flows, 'flow')} that this seed draws bring less in that time than on average"
        return f"{text}: {few}. A longer run, or more seeds, are nearer to it"
    least = "at least " if found.is_open else ""
    return (
        f"{text}: a byte's flow lasts {least}{lasts} on average, and arrivals end {found.until}. A run.warmup of "
        "several times that, and arrivals for longer, give figures under load"
    )


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
