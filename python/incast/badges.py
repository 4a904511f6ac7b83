"""Marks in the tables of a comparison: who is best at a figure, and who is dominated by nobody."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from incast.comparison import Band, Comparison
from incast.completions import ENOUGH, Reading
from incast.figures import ACTIVE, FIGURES, Figure
from incast.ranking import CARRIES, Objective, best, carrying, undominated

_MEANING = (
    " is best: the 95 % interval of the paired difference to every other controller is clear of zero, at least "
    f"{100 * ENOUGH:g} % finished, no other dominates it, and, where the figure is no rate and no completion time, "
    f"its throughput is at least {100 * CARRIES:g} % of the highest. ◆: no other is at least as good in throughput, "
    "p99 delay and share finished, and clearly better in one."
)


def meaning(of_best: str) -> str:
    """Say what the marks mean; ``of_best`` is how the best is told: bold, or a sign."""
    return f"{of_best}{_MEANING}"


DELIVERS = ("flows.throughput", "fct.", "queries.", "writes.")
"""How the keys of figures begin that nobody is good at who sends nothing."""


@dataclass(frozen=True)
class Marks:
    """Marks at one point."""

    best: dict[str, str | None]
    """Controller that is best at a figure, by its key."""
    front: frozenset[str]
    """Controllers that no other dominates; empty where nothing can be told apart: of one controller, or one seed."""


@dataclass(frozen=True)
class _Standing:
    front: frozenset[str]
    carries: frozenset[str]
    finished: frozenset[str]


def of_point(comparison: Comparison, scenario: str, value: str, figures: Sequence[Figure]) -> Marks:
    """Mark the figures of one point."""
    standing = _standing(comparison, scenario, value)
    found = {}
    for figure in figures:
        allowed = standing.front & standing.finished
        if not figure.key.startswith(DELIVERS):
            allowed &= standing.carries
        found[figure.key] = best(_readings(comparison, scenario, value, figure.key), figure.better, allowed)
    return Marks(found, standing.front if possible(comparison) else frozenset())


def possible(comparison: Comparison) -> bool:
    """Whether there may be marks: one controller is not better than others, and one seed has no intervals."""
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
    shares = {name: share for name in names if (share := comparison.share(scenario, name, value)) is not None}
    objectives = [
        Objective(throughput, "higher"),
        Objective(_readings(comparison, scenario, value, "flows.delay_p99_s"), "lower"),
        Objective(shares, "higher"),
    ]
    finished = frozenset(name for name in names if name not in shares or min(shares[name].low.values()) >= ENOUGH)
    return _Standing(undominated(names, objectives), carrying(throughput), finished)
