"""Marks in the tables of a comparison: the best controller of each figure, and the undominated controllers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from incast.comparisons.comparison import Band, Comparison, jobs_of, judged_by_jobs
from incast.comparisons.ranking import CARRIES, MATTERS, Objective, best, carrying, delivers, undominated
from incast.report.figures import ACTIVE, FIGURES, Figure
from incast.runs.completions import ENOUGH, Reading
from incast.writing.numbers import percent

_MEANING = (
    " marks the best: the 95 % interval of its paired difference to every other controller excludes zero, that "
    f"difference is at least {100 * MATTERS:g} %, at least "
    f"{100 * ENOUGH:g} % of its transfers finished, no other controller dominates it, and its throughput is at least "
    f"{100 * CARRIES:g} % of the highest (not asked of rates and completion times). ◆: no other controller is at least "
    "as good in throughput, p99 delay and share finished, and clearly better in one of them. A percentage beside ◆ is "
    "the controller's share of the highest throughput, where it is less than that. Where only training jobs end, their "
    "iteration times alone decide."
)


def meaning(of_best: str) -> str:
    """Explain the marks; ``of_best`` names the mark of the best: bold, or a sign."""
    return f"{of_best}{_MEANING}"


UNDOMINATED = "◆"
"""Mark after the name of an undominated controller."""


@dataclass(frozen=True)
class Marks:
    """Marks at one point."""

    best: dict[str, str | None]
    """Controller that is best at a figure, by its key."""
    front: frozenset[str]
    """Undominated controllers; empty with a single controller or a single seed, which allow no comparison."""
    little: Mapping[str, float] = field(default_factory=dict)
    """Share of the highest throughput of controllers that do not carry traffic."""

    def sign(self, controller: str) -> str:
        """Return the mark after the name of an undominated controller, with its throughput where it carries little."""
        if controller not in self.front:
            return ""
        return f" {UNDOMINATED}" + (f" {percent(self.little[controller])}" if controller in self.little else "")


@dataclass(frozen=True)
class _Standing:
    front: frozenset[str]
    carries: frozenset[str]
    little: Mapping[str, float]
    finished: frozenset[str]


def of_point(comparison: Comparison, scenario: str, value: str, figures: Sequence[Figure]) -> Marks:
    """Mark the figures of one point."""
    standing = _standing(comparison, scenario, value)
    found = {}
    for figure in figures:
        allowed = standing.front & standing.finished
        if not delivers(figure.key):
            allowed &= standing.carries
        found[figure.key] = best(_readings(comparison, scenario, value, figure.key), figure.better, allowed)
    return Marks(found, standing.front if possible(comparison) else frozenset(), standing.little)


def possible(comparison: Comparison) -> bool:
    """Return whether marks are possible: they need two controllers, and two seeds for intervals."""
    return len(comparison.study.controllers) > 1 and comparison.study.seeds > 1


def best_slowdown(comparison: Comparison, scenario: str, value: str, band: Band, statistic: str) -> str | None:
    """Name the controller that is best at a statistic of a band's slowdowns."""
    standing = _standing(comparison, scenario, value)
    readings = {
        c.text: reading
        for c in comparison.study.controllers
        if (reading := comparison.slowdown(scenario, c.text, value, band, statistic)) is not None
    }
    return best(readings, "lower", standing.front & standing.finished)


def _readings(comparison: Comparison, scenario: str, value: str, key: str) -> dict[str, Reading]:
    return {
        c.text: reading
        for c in comparison.study.controllers
        if (reading := comparison.reading(scenario, c.text, value, key)) is not None
    }


def _standing(comparison: Comparison, scenario: str, value: str) -> _Standing:
    names = [c.text for c in comparison.study.controllers]
    throughput = _readings(comparison, scenario, value, ACTIVE.key)
    if not throughput:
        throughput = _readings(comparison, scenario, value, FIGURES[0].key)
    runs = [run for case, run in comparison.runs.items() if case.scenario == scenario]
    of_jobs = judged_by_jobs(runs)
    shares = {name: share for name in names if (share := comparison.share(scenario, name, value)) is not None}
    objectives = [
        Objective(throughput, "higher"),
        Objective(_readings(comparison, scenario, value, "flows.delay_p99_s"), "lower"),
        Objective(shares, "higher"),
    ]
    if of_jobs:
        keys = [f"jobs.{job}.iteration_mean_s" for job in jobs_of(runs)]
        objectives = [Objective(_readings(comparison, scenario, value, key), "lower") for key in keys]
        throughput = {}
    finished = frozenset(name for name in names if name not in shares or min(shares[name].low.values()) >= ENOUGH)
    carries = frozenset(names) if of_jobs else carrying(throughput)
    rates = {name: found.mean for name, reading in throughput.items() if (found := reading.least) is not None}
    most = max(rates.values(), default=0.0)
    little = {name: rate / most for name, rate in rates.items() if name not in carries and most > 0}
    return _Standing(undominated(names, objectives), carries, little, finished)
