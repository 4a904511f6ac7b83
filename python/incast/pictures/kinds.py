"""Kinds of pictures of runs by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from incast.pictures import by_flow, over_time, rank_lanes
from incast.pictures.by_flow import Share, Spot
from incast.pictures.looks import Look, Picture
from incast.pictures.over_time import Shown, names_of
from incast.pictures.recorded import NothingToDraw, Numbers
from incast.runs.result import Result
from incast.statistics import Estimate


def fct(shown: Shown, look: Look) -> Picture:
    """Flow completion times by size, as CDFs."""
    return by_flow.fct({label: by_flow.completions_of(run) for label, run in shown}, look, names_of(shown))


def slowdown(shown: Shown, look: Look) -> Picture:
    """Median and 99th percentile of the slowdown by size."""
    return by_flow.slowdown({label: by_flow.completions_of(run) for label, run in shown}, look, names_of(shown))


def delay_cdf(shown: Shown, look: Look) -> Picture:
    """Mean one-way delay of the flows' packets, as a CDF over the flows."""
    return by_flow.delay_cdf({label: delays_of(run) for label, run in shown}, look, names_of(shown))


def delays_of(run: Result) -> Numbers:
    """Return the mean delay of each flow that has one, in seconds."""
    delays: Numbers = run.flows["delay_mean_s"].drop_null().to_numpy().astype(np.float64)
    return delays


def throughput_delay(shown: Shown, look: Look) -> Picture:
    """Throughput and mean delay of each flow: a colour a run, or a controller of one run."""
    groups: dict[str, list[Spot]] = {}
    for label, run in shown:
        for row in run.flows.select(["controller", "group", "throughput_bps", "delay_mean_s"]).to_pylist():
            rate, delay = row["throughput_bps"], row["delay_mean_s"]
            if rate is not None and delay is not None:
                name = label if len(shown) > 1 else row["controller"] or row["group"]
                groups.setdefault(name, []).append(Spot(_known(delay), _known(rate)))
    return by_flow.throughput_delay(groups, look, names_of(shown), "Throughput of a flow", False)


def _known(value: float) -> Estimate:
    return Estimate(value, None, 1)


def shares(shown: Shown, look: Look) -> Picture:
    """Share of the goodput by controller; by traffic entry if all have the same."""
    rows: dict[str, list[Share]] = {}
    for label, run in shown:
        parts = _goodputs(run)
        whole, flows = sum(rate for rate, _ in parts.values()), sum(count for _, count in parts.values())
        if len(parts) < 2 or not whole:
            raise NothingToDraw(
                "shares: the run has one controller and one traffic entry: expected several, or the folder of incast "
                "coexist"
            )
        rows[label] = [
            Share(name, _known(100 * rate / whole), 100 * count / flows) for name, (rate, count) in parts.items()
        ]
    return by_flow.shares(rows, look, f"{names_of(shown)}: goodput by controller")


def _goodputs(run: Result) -> Mapping[str, tuple[float, int]]:
    """Return throughput and number of flows by controller, or by traffic entry; datagrams are left out."""
    columns = ["controller", "group", "throughput_bps", "role"]
    rows = [row for row in run.flows.select(columns).to_pylist() if row["role"] != "request"]
    rows = [row for row in rows if row["group"] not in run.datagrams]
    key = "controller" if len({row["controller"] for row in rows}) > 1 else "group"
    found: dict[str, tuple[float, int]] = {}
    for row in rows:
        total, count = found.get(row[key], (0.0, 0))
        found[row[key]] = total + (row["throughput_bps"] or 0.0), count + 1
    return found


KINDS: dict[str, Callable[[Shown, Look], Picture]] = {
    "fct": fct,
    "slowdown": slowdown,
    "queue": over_time.queue,
    "windows": over_time.windows,
    "rates": over_time.rates,
    "fairness": over_time.fairness,
    "heat-map": over_time.heat_map,
    "shares": shares,
    "queue-cdf": over_time.queue_cdf,
    "delay-cdf": delay_cdf,
    "throughput-delay": throughput_delay,
    "lanes": rank_lanes.draw,
}
"""Kinds of pictures of runs by name."""
OVER_TIME = ("queue", "windows", "rates", "fairness", "heat-map", "queue-cdf", "lanes")
"""Kinds that need a timeline."""


def is_recorded(kind: str, run: Result) -> bool:
    """Return whether a run has the record that a kind needs; others are repeated with it."""
    return run.tasks.num_rows > 0 if kind == "lanes" else kind not in OVER_TIME or run.timeline_json is not None


def draw(kind: str, shown: Shown, look: Look) -> Picture:
    """Draw a kind; raises ``NothingToDraw`` if the runs have no data for it."""
    with look.set():
        return KINDS[kind](shown, look)
