"""Figures that answers compare, by the kind of traffic.

Sized flows are judged by slowdown by size, then the share that finished, then throughput; flows of one size, queries
and writes by completion times; endless flows by throughput, delay, loss, queue and fairness.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product

from incast.answers.paired import Apart, Ranking, apart, ranked
from incast.comparisons.comparison import Band, Comparison, Run, jobs_of
from incast.comparisons.ranking import MATTERS, delivers
from incast.runs.completions import NAMES, Reading, name_of
from incast.runs.result import COMPLETIONS
from incast.writing.numbers import SPACE

SHARE = "share"
"""Key of the share that finished."""

ACTIVE = "flows.throughput_active_mean_bps"
THROUGHPUT = "flows.throughput_mean_bps"

JAIN = "flows.jain"
PAUSES = "queues.pauses"

SLOWDOWN = "fct.slowdown_"
"""Prefix of the slowdowns over all sizes."""
SIZES = "sizes."
"""Prefix of the slowdowns of a size bin: ``sizes.0.p99`` is the p99 slowdown of the first bin."""

_UNIT = re.compile(r"(?<=[0-9]) (?=[kMGT]?B)")
"""Space between a size and its unit."""

_ONE = {"fct": "flow", "queries": "query", "writes": "write"}


@dataclass(frozen=True)
class Measure:
    """A figure of answers."""

    key: str
    """Key of the summary, ``share``, or entry, bin and statistic of a slowdown."""
    title: str
    """Name in a sentence: ``p99 slowdown below 10 kB``."""
    unit: str
    """SI unit without a prefix; percent for shares."""
    better: str
    """``"higher"`` or ``"lower"``."""
    band: Band | None = None
    statistic: str = ""
    """Statistic of completions: ``mean`` or ``p99``."""

    @property
    def delivers(self) -> bool:
        """False for a figure that is good for a controller that sends nothing: delay, loss and queue."""
        return delivers(self.key)

    @property
    def ideal(self) -> float:
        """The best value that is possible."""
        if self.better == "higher":
            return 1.0 if self.key == JAIN else 100.0 if self.unit == "%" else math.inf
        return 1.0 if self.band is not None or self.key.startswith((SLOWDOWN, SIZES)) else 0.0

    def is_ideal(self, reading: Reading) -> bool:
        """Return whether nothing could be better than a reading by a difference that matters."""
        found = reading.least
        if found is None or math.isinf(self.ideal):
            return False
        return abs(found.mean - self.ideal) <= MATTERS * self.ideal

    def of(self, comparison: Comparison, scenario: str, controller: str, value: str) -> Reading | None:
        """Read the figure at one point."""
        if self.band is not None:
            return comparison.slowdown(scenario, controller, value, self.band, self.statistic)
        if self.key != SHARE:
            return comparison.reading(scenario, controller, value, self.key)
        share = comparison.share(scenario, controller, value)
        if share is None:
            return None
        percent = {seed: 100 * one for seed, one in share.low.items()}
        return Reading(percent, percent)

    def ranked(self, readings: Mapping[str, Reading]) -> Ranking:
        """Rank readings of the figure, by their names."""
        return ranked(readings, self.better, self.unit == "%")

    def apart(self, one: str, other: str, readings: Mapping[str, Reading]) -> Apart:
        """Compare two readings of the figure; percentages differ by points."""
        return apart(one, other, readings, self.better, self.unit == "%")


_THROUGHPUT = Measure(THROUGHPUT, "throughput per flow", "b/s", "higher")
_ACTIVE = Measure(ACTIVE, "throughput per active flow", "b/s", "higher")


def measures_of(comparison: Comparison, scenario: str) -> list[Measure]:
    """Return the figures of a scenario in the order of their importance; a p99 of few values is named the maximum."""
    return [_maximum(comparison, scenario, measure) for measure in _measures(comparison, scenario)]


def _maximum(comparison: Comparison, scenario: str, measure: Measure) -> Measure:
    """Return a p99 by nearest rank as what it is if no run has 100 values: the maximum."""
    if measure.statistic != "p99":
        return measure
    points = product(comparison.study.controllers, comparison.study.values)
    readings = (measure.of(comparison, scenario, controller.text, value) for controller, value in points)
    return replace(measure, title=measure.title.replace(NAMES["p99"], name_of("p99", readings), 1))


def _measures(comparison: Comparison, scenario: str) -> list[Measure]:
    runs = [run for case, run in comparison.runs.items() if case.scenario == scenario]
    parts = [part for part in COMPLETIONS if any(run.figure(f"{part}.count") for run in runs)]
    of_jobs = list(_of_jobs(runs))
    if not parts:
        return of_jobs or list(_endless())
    found = [*of_jobs, *_by_size(comparison, scenario)]
    for part in parts:
        if part != "fct" or not found:
            found += _completion(part)
    found.append(
        Measure(SHARE, f"share of {' and '.join(COMPLETIONS[part] for part in parts)} finished", "%", "higher")
    )
    if "fct" in parts:
        known = any(run.figure(ACTIVE) is not None for run in runs)
        found.append(_ACTIVE if known else _THROUGHPUT)
    if any(run.figure(PAUSES) for run in runs):
        found.append(Measure(PAUSES, "pauses by flow control", "", "lower"))
    return found


def _of_jobs(runs: list[Run]) -> Iterator[Measure]:
    """Yield the figures of training jobs: iteration time, then exposed communication."""
    for job in jobs_of(runs):
        yield Measure(f"jobs.{job}.iteration_mean_s", f"iteration time of {job}", "s", "lower")
    for job in jobs_of(runs):
        yield Measure(f"jobs.{job}.exposed_mean_s", f"exposed communication of {job}", "s", "lower")


def throughput_of(runs: list[Run]) -> str:
    """Return the key of the throughput that says how much controllers carry."""
    sized = any(run.sizes is not None for run in runs) and any(run.figure(ACTIVE) is not None for run in runs)
    return ACTIVE if sized else THROUGHPUT


def _endless() -> Iterator[Measure]:
    yield _THROUGHPUT
    yield Measure("flows.delay_p99_s", "p99 delay", "s", "lower")
    yield Measure("flows.loss_total_pct", "loss", "%", "lower")
    yield Measure("queues.busiest.mean_packets", "mean queue at the busiest port", "packets", "lower")
    yield Measure(JAIN, "Jain's index", "", "higher")


def _completion(part: str) -> Iterator[Measure]:
    for statistic in ("p99", "mean"):
        title = f"{NAMES[statistic]} completion time of a {_ONE[part]}"
        yield Measure(f"{part}.{statistic}_s", title, "s", "lower", statistic=statistic)


def _by_size(comparison: Comparison, scenario: str) -> Iterator[Measure]:
    bands = comparison.bands(scenario)
    several = len({band.entry for band in bands}) > 1
    for band in bands:
        for statistic in ("p99", "mean"):
            where = band.label if band.label.startswith(("below", "from", "above", "all")) else f"of {band.label}"
            entry = f" ({band.entry})" if several else ""
            title = f"{NAMES[statistic]} slowdown {_UNIT.sub(SPACE, where)}{entry}"
            key = f"slowdown.{band.entry}.{band.number}.{statistic}"
            yield Measure(key, title, "", "lower", band=band, statistic=statistic)
