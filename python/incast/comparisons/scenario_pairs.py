"""Scenario against scenario, seed by seed; and the flows that crossed a failure, with and without it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from incast.comparisons.comparison import Band, Comparison, Run, difference_json
from incast.runs import completions
from incast.runs.completions import Reading

CROSSED = "crossed_failure"
"""Column of flows, and part of the summary, about the flows that crossed a failure."""


@dataclass(frozen=True)
class Between:
    """A figure of one scenario against another one, under the same controller, value and seeds."""

    one: Reading
    other: Reading
    difference: Reading
    """``one`` minus ``other``, seed by seed."""
    relative: Reading | None
    """``one / other - 1``, seed by seed; ``None`` unless all values are above 0."""


def pair(one: Reading | None, other: Reading | None) -> Between | None:
    """Compare two figures seed by seed; ``None`` if one is missing, or if they share no seed."""
    apart = None if one is None or other is None else completions.difference(one, other)
    if one is None or other is None or apart is None:
        return None
    return Between(one, other, apart, completions.ratio_less_one(one, other))


def between_scenarios(
    comparison: Comparison, one: str, other: str, controller: str, value: str, key: str
) -> Between | None:
    """Compare a figure between two scenarios of a comparison; ``None`` where one of them lacks it.

    ``one`` and ``other`` are scenarios, ``controller`` a controller's text, ``value`` a value of the varied key and
    ``key`` a figure. One seed has the same flows in both only if ``same_traffic`` holds.
    """
    return pair(comparison.reading(one, controller, value, key), comparison.reading(other, controller, value, key))


def slowdowns_between(
    comparison: Comparison, scenarios: tuple[str, str], controller: str, value: str, band: Band, statistic: str
) -> Between | None:
    """Compare a statistic of the slowdowns of a size bin between two scenarios, like ``between_scenarios``."""
    one, other = (comparison.slowdown(name, controller, value, band, statistic) for name in scenarios)
    return pair(one, other)


def shares_between(comparison: Comparison, scenarios: tuple[str, str], controller: str, value: str) -> Between | None:
    """Compare the share that finished between two scenarios, like ``between_scenarios``."""
    one, other = (comparison.share(name, controller, value) for name in scenarios)
    return pair(one, other)


def same_traffic(comparison: Comparison, one: str, other: str) -> bool:
    """Return whether the flows of two scenarios have the same ends, sizes and entries under every seed."""
    study = comparison.study
    value, controller = study.values[0], study.controllers[0].text
    mine, their = ({run.case.seed: run for run in comparison.point(name, controller, value)} for name in (one, other))
    columns = ["group", "src", "dst", "size_bytes"]

    def flows(run: Run) -> list[list[Any]]:
        table = run.rows("flows", columns)
        return [table[column].to_pylist() for column in columns]

    return bool(mine) and all(seed in their and flows(run) == flows(their[seed]) for seed, run in mine.items())


def scenario_pairs(comparison: Comparison) -> Iterator[tuple[str, str]]:
    """Yield every further scenario with the first one, if one seed has the same flows in both."""
    first, *others = comparison.study.scenarios
    yield from ((other, first) for other in others if same_traffic(comparison, other, first))


@dataclass(frozen=True)
class Crossing:
    """Flows that crossed a failure at one point, all seeds together."""

    links: tuple[str, ...]
    """Links with failures, one direction of each."""
    flows: int
    """Number of these flows, endless ones included."""
    count: int
    """Number of those with a size."""
    finished: int
    slowdown: Reading | None
    """p99 of their slowdowns, by seed; ``None`` without flows of a size."""
    otherwise: Reading | None = None
    """The same of the same flows in another scenario, if one is asked for."""

    @property
    def unfinished(self) -> int:
        """Number of flows with a size that did not finish."""
        return self.count - self.finished


def crossing(
    comparison: Comparison, scenario: str, controller: str, value: str, other: str | None = None
) -> Crossing | None:
    """Return the flows that crossed a failure at a point; ``None`` without failures.

    ``other`` is a scenario with the same traffic, in which the slowdown of the same flows is looked up.
    """
    # a store with failures in other runs has the part in all, without figures
    runs = [
        run for run in comparison.point(scenario, controller, value) if run.figure(f"{CROSSED}.flows.count") is not None
    ]
    if not runs:
        return None
    chosen = {run.case.seed: _mask(run) for run in runs}
    parts = [run.summary[CROSSED] for run in runs]
    beside = [] if other is None else [r for r in comparison.point(other, controller, value) if r.case.seed in chosen]
    return Crossing(
        tuple(dict.fromkeys(link for part in parts for link in part["links"].split(", "))),
        sum(part["flows"]["count"] for part in parts),
        sum(part["fct"]["count"] for part in parts),
        sum(part["fct"]["finished"] for part in parts),
        _slowdown(runs, chosen),
        _slowdown(beside, chosen),
    )


def _mask(run: Run) -> npt.NDArray[np.bool_]:
    mask: npt.NDArray[np.bool_] = run.rows("flows", [CROSSED])[CROSSED].to_numpy() > 0
    return mask


def _slowdown(runs: list[Run], chosen: Mapping[int, npt.NDArray[np.bool_]]) -> Reading | None:
    """Return the p99 of the slowdowns of some flows of each run."""
    return completions.reading(
        {
            run.case.seed: completions.read(run.rows, "fct", run.summary["run"]["sim_s"], chosen[run.case.seed])
            for run in runs
            if chosen[run.case.seed].any()
        },
        "p99",
    )


def paired_json(comparison: Comparison, figures: list[str]) -> dict[str, Any]:
    """Return the entries of ``comparison.json`` about pairs of scenarios and about failures; empty without any."""
    study = comparison.study
    between, crossed = [], []
    pairs = dict(scenario_pairs(comparison))
    for scenario, value, c in product(study.scenarios, study.values, study.controllers):
        place = {"scenario": scenario, "controller": c.text, study.key: value}
        other = pairs.get(scenario)
        if other is not None:
            found = {key: between_scenarios(comparison, scenario, other, c.text, value, key) for key in figures}
            found["finished_share"] = shares_between(comparison, (scenario, other), c.text, value)
            between.append(place | {"less": other} | {key: _between_json(one) for key, one in found.items() if one})
        own = crossing(comparison, scenario, c.text, value, other)
        if own is not None:
            counts = {"links": own.links, "flows": own.flows, "count": own.count, "finished": own.finished}
            readings = {"slowdown_p99": own.slowdown, "slowdown_p99_without": own.otherwise}
            crossed.append(
                place | counts | {key: difference_json(one) for key, one in readings.items() if one is not None}
            )
    return {key: rows for key, rows in {"between_scenarios": between, CROSSED: crossed}.items() if rows}


def _between_json(between: Between) -> dict[str, Any]:
    relative = between.relative
    return {
        "difference": difference_json(between.difference),
        "relative": None if relative is None else difference_json(relative),
    }
