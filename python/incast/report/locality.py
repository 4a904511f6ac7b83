"""Flows by proximity to elephants, for the report of a comparison whose scenarios have some."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from html import escape

import numpy as np

from incast.comparisons.comparison import Comparison, Run
from incast.report.figures import axis_name
from incast.report.numbers import between
from incast.runs import completions

CLASSES = ("leaf", "pod", "none")
"""Distance of an elephant to an end of a flow, nearest first."""
LISTED = 1000
"""Most flows that the page lists."""


def section(comparison: Comparison) -> str:
    """Return the tables of flows by proximity to elephants; empty without elephants."""
    study = comparison.study
    value = study.values[-1]
    parts = []
    for scenario, name in zip(study.scenarios, study.scenario_names(), strict=True):
        found = {
            controller.label: [near_elephants(run) for run in comparison.point(scenario, controller.text, value)]
            for controller in study.controllers
        }
        if not any(flows for runs in found.values() for flows in runs):
            continue
        rows = []
        for place in sorted({flow.place for runs in found.values() for flows in runs for flow in flows}, key=_nearness):
            for i, (label, runs) in enumerate(found.items()):
                there = [flow for flows in runs for flow in flows if flow.place == place]
                times, done = np.array([flow.time_s for flow in there]), np.array([flow.finished for flow in there])
                bounds = [completions.figure(times, done.astype(bool), statistic) for statistic in ("mean", "p99")]
                start = "".join(f"<th rowspan={len(found)}>{escape(near)}</th>" for near in place) if i == 0 else ""
                cells = (
                    str(len(there)),
                    str(int(done.sum())),
                    *("–" if one is None else between(1e6 * one.low, 1e6 * one.high) for one in bounds),
                )
                rows.append(
                    f"<tr{' class=first' if i == 0 else ''}>{start}<th>{escape(label)}</th>"
                    + "".join(f"<td>{cell}</td>" for cell in cells)
                    + "</tr>"
                )
        flows = next(flows for runs in found.values() for flows in runs if flows)
        each = "".join(
            f"<tr>{_cells(flow.number, flow.source, flow.destination, *flow.place)}</tr>" for flow in flows[:LISTED]
        )
        listed = "Every flow" if len(flows) <= LISTED else f"The first {LISTED:,} of {len(flows):,} flows"
        seed = next(run.case.seed for run in comparison.point(scenario, study.controllers[0].text, value))
        parts.append(
            f"<h3>{escape(name)}, {escape(axis_name(study.key).lower())}: {escape(value)}</h3><div class=wide><table>"
            "<thead><tr><th>at the source</th><th>at the destination</th><th>controller</th><th>flows</th>"
            "<th>finished</th><th>mean FCT (µs)</th><th>p99 FCT (µs)</th></tr></thead>"
            f"<tbody>{''.join(rows)}</tbody></table></div>"
            f"<details><summary>{listed} under seed {seed} (all are in flows.parquet)</summary>"
            "<div class=wide><table><thead><tr><th>flow</th><th>source host</th><th>destination host</th>"
            "<th>at the source</th><th>at the destination</th></tr></thead>"
            f"<tbody>{each}</tbody></table></div></details>"
        )
    if not parts:
        return ""
    return (
        '<section id="sharing"><h2>Flows by proximity to elephants</h2><p class="note">Location of the nearest '
        "elephant source relative to a flow's source, and of the nearest elephant destination relative to its "
        "destination: same leaf, same pod, or neither; over all seeds, elephants excluded. Percentiles are nearest "
        "ranks over all flows that began; figures that unfinished flows could still change are bounds.</p>"
        + "".join(parts)
        + "</section>"
    )


@dataclass(frozen=True)
class Near:
    """A flow, and the proximity of elephants to its ends."""

    number: int
    source: int
    destination: int
    place: tuple[str, str]
    time_s: float
    """Completion time; of an unfinished flow the time until the run ended."""
    finished: bool


def _cells(*values: object) -> str:
    """Make cells of a table; values of a store are escaped, since its file may hold anything."""
    return "".join(f"<td>{escape(str(value))}</td>" for value in values)


def _nearness(place: tuple[str, str]) -> tuple[int, ...]:
    return tuple(CLASSES.index(near) for near in place)


def near_elephants(run: Run) -> list[Near]:
    """Return the flows of a run that are not elephants; empty without elephants."""
    entries = tomllib.loads(run.toml)["traffic"]
    elephants = [entry["name"] for entry in entries if entry["pattern"] == "elephants"]
    if not elephants:
        return []
    names = ["flow", "src", "dst", "shared_source", "shared_destination", "fct_s", "start_s", "group"]
    columns = (column.to_pylist() for column in run.rows("flows", names).columns)
    end_s = float(run.summary["run"]["sim_s"])
    return [
        Near(flow, src, dst, (source, destination), fct or max(end_s - start, 0.0), fct is not None)
        for flow, src, dst, source, destination, fct, start, group in zip(*columns, strict=True)
        if group not in elephants and start is not None
    ]
