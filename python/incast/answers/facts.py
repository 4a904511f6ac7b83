"""Facts about one scenario of a comparison: the readings from which answers are derived."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from incast import _core
from incast.answers.measures import ACTIVE, Measure, measures_of, throughput_of
from incast.comparisons.comparison import Comparison, Run, judged_by_jobs
from incast.comparisons.declaration import named
from incast.pictures.style import places
from incast.runs.completions import ENOUGH, Reading
from incast.runs.described import timeout_of
from incast.runs.groups import groups

CONDITIONS = ("traffic.", "job.", "run.")
"""Prefixes of keys that nobody chooses: controllers are compared at their values before the values are."""


def is_condition(key: str) -> bool:
    """Return whether nobody chooses the values of a key."""
    return key.startswith(CONDITIONS)


@dataclass(frozen=True)
class Point:
    """Runs of one controller at one value of the key."""

    controller: str
    value: str


@dataclass(frozen=True)
class Timers:
    """Timers of a run that are as long as the run, and the flows that may wait for them."""

    run_s: float
    rto_s: float
    """Least timeout of flows that only a timeout lets go on; infinite: they have none."""
    syn_s: float
    unopened: int
    """Flows that never opened, if a lost SYN is not sent again within the run."""
    lossy: int
    """Flows that lost packets and are silent until the end, if no timeout is within the run."""
    flows: int

    @property
    def waiting(self) -> float:
        """Share of the flows that may wait."""
        return (self.unopened + self.lossy) / self.flows


@dataclass(frozen=True)
class Facts:
    """Readings of one scenario."""

    scenario: str
    """Name of the scenario."""
    key: str
    """The varied key."""
    values: tuple[str, ...]
    """In the order of their size, where they have one."""
    controllers: tuple[str, ...]
    """Names."""
    seeds: int
    measures: tuple[Measure, ...]
    readings: Mapping[tuple[str, Point], Reading]
    """By the measure's key; a point without the figure is missing."""
    throughput: Mapping[Point, Reading] = field(default_factory=dict)
    """The throughput that says how much a controller carries."""
    began: Mapping[Point, Mapping[str, tuple[int, int]]] = field(default_factory=dict)
    """Finished and begun flows, queries and writes."""
    alike: tuple[tuple[str, ...], ...] = ()
    """Groups of controllers with the same figures in every run; if all are, ``controllers`` has the first."""
    without_effect: frozenset[str] = frozenset()
    """Controllers whose figures do not depend on the key."""
    timers: Timers | None = None
    """Timers of the run with the largest share of waiting flows; ``None`` if no flow waits for so long."""
    numeric: bool = False
    """True if the values have an order, so that neighbours make a range."""

    def of(self, measure: Measure, points: Mapping[str, Point]) -> dict[str, Reading]:
        """Return the readings of a measure at points, by their names, without those that lack it under a seed."""
        found = {name: self.readings.get((measure.key, point)) for name, point in points.items()}
        return {
            name: reading for name, reading in found.items() if reading is not None and len(reading.low) == self.seeds
        }

    def points(self) -> list[Point]:
        """Return all points."""
        return [Point(controller, value) for value in self.values for controller in self.controllers]


def facts_of(comparison: Comparison, scenario: str) -> Facts:
    """Gather the facts of a scenario of a comparison, by the name it was given there."""
    study = comparison.study
    names = dict(zip(study.scenarios, study.scenario_names(), strict=True))
    controllers = {controller.text: name for name, controller in named(study.controllers).items()}
    measures = measures_of(comparison, scenario)
    runs = [run for case, run in comparison.runs.items() if case.scenario == scenario]
    throughput, of_jobs = throughput_of(runs), judged_by_jobs(runs)
    readings, carried, began = {}, {}, {}
    for value in study.values:
        for text, name in controllers.items():
            point = Point(name, value)
            began[point] = comparison.began(scenario, text, value)
            if not of_jobs and (rate := comparison.reading(scenario, text, value, throughput)) is not None:
                carried[point] = rate
            for measure in measures:
                reading = measure.of(comparison, scenario, text, value)
                # rates of the flows that finished say little where others did not
                if reading is not None and (measure.key != ACTIVE or _all_but_few(began[point])):
                    readings[measure.key, point] = reading
    order = places(study.values)
    alike = tuple(tuple(controllers[text] for text in group) for group in comparison.alike(scenario))
    kept = tuple(controllers.values())
    if alike and len(alike[0]) == len(kept):
        kept = kept[:1]
    idle = {name for text, name in controllers.items() if comparison.is_without_effect(scenario, text)}
    return Facts(
        names[scenario],
        study.key,
        tuple(study.values[i] for i in order.order),
        kept,
        study.seeds,
        tuple(measures),
        readings,
        carried,
        {point: parts for point, parts in began.items() if point.controller in kept},
        alike,
        frozenset(idle),
        _timers(runs),
        order.numeric,
    )


def _all_but_few(began: Mapping[str, tuple[int, int]]) -> bool:
    """Return whether at least ``ENOUGH`` of every kind of transfer finished."""
    return all(finished >= ENOUGH * count for finished, count in began.values())


def _timers(runs: list[Run]) -> Timers | None:
    """Return the timers of the run in which the largest share of flows may wait for longer than the run lasts."""
    found = [_timers_of(run) for run in runs if run.figure("queues.drops") or run.figure("queues.losses")]
    return max((one for one in found if one.waiting), key=lambda one: one.waiting, default=None)


def _timers_of(run: Run) -> Timers:
    scenario = tomllib.loads(run.toml)
    run_s = _core.model_quantity("time", scenario["run"]["duration"])
    transports = [{**scenario["transport"], **entry.get("transport", {})} for _, entry in groups(scenario)]
    by_timer = [one for one in transports if "rto_min" in one and not one.get("tail_loss_probe")]
    rto_s = max((_timeout_s(one) for one in by_timer), default=0.0)
    shaken = [one for one in transports if one.get("handshake")]
    syn_s = max((_core.model_quantity("time", one["syn_timeout"]) for one in shaken), default=0.0)
    unopened = lossy = 0
    if max(rto_s, syn_s) >= run_s:
        for flow in run.rows("flows", _WAITS).to_pylist():
            opened = flow["throughput_bps"] is not None
            unopened += syn_s >= run_s and not opened and flow["start_s"] < run_s
            lossy += rto_s >= run_s and opened and flow["dropped_total"] > 0 and is_silent(flow, run_s)
    return Timers(run_s, rto_s, syn_s, unopened, lossy, max(1, int(run.figure("flows.count") or 0)))


def _timeout_s(transport: Mapping[str, Any]) -> float:
    """Return the least time after which a transport repeats its last packets by itself; infinite: never."""
    key, value = timeout_of(transport)
    found = _core.model_quantity("time", value)
    return math.inf if key == "rdma.timeout" and not found else found


_WAITS = [
    "start_s",
    "finish_s",
    "stopped_s",
    "throughput_bps",
    "dropped_total",
    "written_bytes",
    "delivered_bytes",
    "idle_rtt_s",
    "delay_max_s",
    "fm_last_rx_s",
]


def is_silent(flow: Mapping[str, Any], end_s: float) -> bool:
    """Return whether a flow misses data at the end of a run, but received nothing for longer than a round trip."""
    ended = flow["finish_s"] is not None or flow["stopped_s"] is not None
    if ended or flow["written_bytes"] <= flow["delivered_bytes"]:
        return False
    last_s = flow["start_s"] if flow["fm_last_rx_s"] is None else flow["fm_last_rx_s"]
    return bool(end_s - last_s > flow["idle_rtt_s"] + (flow["delay_max_s"] or 0.0))
