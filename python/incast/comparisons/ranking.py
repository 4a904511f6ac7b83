"""Ranking of controllers at a figure: one is best only if the runs show it.

A controller is best at a figure of one point where all of these hold:

1. **Told apart from every other.** The 95 % interval of the paired difference, seed by seed, to every other
   controller excludes zero on the better side, and the difference is at least ``MATTERS`` of the larger mean. For a
   figure with bounds, its worse bound is compared with the other's better one. A single seed has no interval, so
   nothing is best.
2. **Finished.** At least ``completions.ENOUGH`` of its transfers finished.
3. **Not dominated.** No other is at least as good in throughput, delay and share finished, and clearly better in one.
4. **Carries traffic.** Its throughput is at least ``CARRIES`` of the highest, unless the figure is a throughput or a
   completion time: a controller that sends nothing has no delay, no loss and no queue.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from incast.runs.completions import ENOUGH, Reading, difference

CARRIES = 0.9
"""Fraction of the highest throughput that a controller needs to be best at delay, loss or queue."""


MATTERS = 0.01
"""Least difference that is marked or told, as a fraction of the larger mean."""

DELIVERS = ("flows.throughput", "fct.", "queries.", "writes.", "jobs.", "sizes.", "slowdown.", "share")
"""Beginnings of the keys of figures that are bad for a controller that sends nothing."""


def delivers(key: str) -> bool:
    """Return whether a figure is bad for a controller that sends nothing; delay, loss and queue are good for it."""
    return key.startswith(DELIVERS)


@dataclass(frozen=True)
class Objective:
    """A figure that decides dominance: readings by controller, and the better direction."""

    readings: Mapping[str, Reading]
    better: str
    """``"higher"`` or ``"lower"``."""


def clearly_better(one: Reading, other: Reading, better: str) -> bool:
    """Return whether the paired interval excludes zero for every value that the bounds allow."""
    apart = difference(other, one) if better == "lower" else difference(one, other)
    found = None if apart is None else apart.least
    return found is not None and found.half_width is not None and found.low > 0


def told_apart(one: Reading, other: Reading, better: str) -> bool:
    """Return whether a reading is clearly better than another, by a difference that matters."""
    if not clearly_better(one, other, better):
        return False
    found = difference(other, one) if better == "lower" else difference(one, other)
    assert found is not None
    assert found.least is not None
    return found.least.mean >= MATTERS * larger(one, other)


def larger(one: Reading, other: Reading) -> float:
    """Return the larger mean of two readings; of bounds the lower one."""
    return max(abs(found.mean) for found in (one.least, other.least) if found is not None)


def _mean(reading: Reading | None, better: str) -> float:
    """Return the mean with a sign so that higher is better; a missing figure is the worst."""
    found = None if reading is None else reading.least
    if found is None:
        return -math.inf
    return found.mean if better == "higher" else -found.mean


def dominates(one: str, other: str, objectives: Sequence[Objective]) -> bool:
    """Return whether a controller is at least as good as another in all objectives, and clearly better in one."""
    clear = False
    for objective in objectives:
        mine, theirs = objective.readings.get(one), objective.readings.get(other)
        ahead, behind = _mean(mine, objective.better), _mean(theirs, objective.better)
        if ahead < behind:
            return False
        if ahead > behind:
            clear = clear or theirs is None or (mine is not None and clearly_better(mine, theirs, objective.better))
    return clear


def undominated(names: Sequence[str], objectives: Sequence[Objective]) -> frozenset[str]:
    """Return the controllers that no other dominates: the Pareto front, which is never empty."""
    return frozenset(one for one in names if not any(dominates(other, one, objectives) for other in names))


def carrying(throughput: Mapping[str, Reading]) -> frozenset[str]:
    """Return the controllers whose throughput is near the highest."""
    means = {name: found.mean for name, reading in throughput.items() if (found := reading.least) is not None}
    most = max(means.values(), default=0.0)
    return frozenset(name for name, mean in means.items() if mean >= CARRIES * most and mean > 0)


def best(readings: Mapping[str, Reading], better: str, allowed: frozenset[str]) -> str | None:
    """Return the allowed controller that is told apart from every other at a figure, as better.

    ``None`` with fewer than two controllers, or if too little finished.
    """
    for name, mine in readings.items():
        others = [other for rival, other in readings.items() if rival != name]
        enough = name in allowed and mine.share >= ENOUGH and bool(others)
        if enough and all(told_apart(mine, other, better) for other in others):
            return name
    return None
