"""Best series at each point of a figure, by paired differences over the seeds."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from incast.comparisons.ranking import MATTERS
from incast.papers.definition import Figure, X
from incast.statistics import Estimate, estimate

Number = Callable[[str, str, X, int | None], float | None]
"""Function that returns a figure's number by measure, series, point and seed; ``None`` if missing."""


@dataclass(frozen=True)
class Leader:
    """Series with the least mean of a measure at a point, and what the seeds tell of the others."""

    x: X
    series: str
    value: Estimate
    undecided: Sequence[str]
    """Series that are not told apart from it, the least mean first."""
    next: str
    """Series with the least mean among those told apart; empty: none."""
    behind: Estimate | None
    """Paired difference of ``next`` to the leader, in percent of the leader's mean."""

    def as_data(self) -> Mapping[str, Any]:
        """Return the leader as data for JSON."""
        behind = None if self.behind is None else [self.behind.mean, self.behind.half_width]
        value = [self.value.mean, self.value.half_width]
        return {
            "x": self.x,
            "series": self.series,
            "value": value,
            "undecided": [*self.undecided],
            "next": self.next,
            "behind": behind,
        }


def leaders(figure: Figure, number: Number) -> list[Leader]:
    """Return the leader at each point in the figure's measure ``best``; none without that measure.

    Two series are told apart if the 95 % interval of their paired difference excludes zero, and the difference is at
    least ``MATTERS`` of the larger mean. A series without a number of every seed does not compete.
    """
    found = []
    for point in figure.points if figure.best else []:
        values = {}
        for series in figure.series:
            numbers = [number(figure.best, series.name, point.x, seed) for seed in range(1, figure.seeds + 1)]
            there = [one for one in numbers if one is not None]
            if there and len(there) == len(numbers):
                values[series.name] = there
        if values:
            found.append(_leader(point.x, values))
    return found


def _leader(x: X, values: Mapping[str, Sequence[float]]) -> Leader:
    first, *others = sorted(values, key=lambda name: math.fsum(values[name]))
    undecided = [name for name in others if not _told_apart(values[first], values[name])]
    behind = [name for name in others if name not in undecided]
    value = _estimate(values[first])
    part = None
    if behind:
        pairs = zip(values[first], values[behind[0]], strict=True)
        part = estimate([100 * (other - own) / value.mean for own, other in pairs]) if value.mean else None
    return Leader(x, first, value, undecided, behind[0] if behind else "", part)


def _told_apart(less: Sequence[float], more: Sequence[float]) -> bool:
    difference = _estimate([b - a for a, b in zip(less, more, strict=True)])
    if difference.half_width is None or difference.low <= 0:
        return False
    return difference.mean >= MATTERS * abs(_estimate(more).mean)


def _estimate(values: Sequence[float]) -> Estimate:
    found = estimate(values)
    assert found is not None
    return found
