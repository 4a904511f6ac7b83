"""Which of several controllers is best at a figure: none unless the runs say so.

A controller is best at a figure of one point where all of these hold:

1. **Clear of every other.** The 95 % interval of the paired difference, seed by seed, to every other controller
   excludes zero on the better side. Of a figure that has bounds, its worse bound is compared with the other's better
   one. One seed has no interval, so nothing is best of one seed.
2. **Finished.** At least ``completions.ENOUGH`` of what it began to transfer finished.
3. **Not dominated.** No other is at least as good in throughput, delay and share finished, and clearly better in one.
4. **It carries.** Where the figure is no throughput and no completion time, its throughput is at least ``CARRIES`` of
   the highest: who sends nothing has no delay, no loss and no queue.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from incast.completions import ENOUGH, Reading, difference

CARRIES = 0.9
"""Part of the highest throughput that a controller must have to be best at a figure of cost: delay, loss, queue."""


@dataclass(frozen=True)
class Objective:
    """A figure that decides who dominates whom: by controller, and which end is better."""

    readings: Mapping[str, Reading]
    better: str
    """``"higher"`` or ``"lower"``."""


def clearly_better(one: Reading, other: Reading, better: str) -> bool:
    """Whether the paired interval says so of every value that the bounds allow."""
    apart = difference(other, one) if better == "lower" else difference(one, other)
    found = None if apart is None else apart.least
    return found is not None and found.half_width is not None and found.low > 0


def _mean(reading: Reading | None, better: str) -> float:
    """Mean as a number of which more is better; a figure that does not exist is the worst."""
    found = None if reading is None else reading.least
    if found is None:
        return -math.inf
    return found.mean if better == "higher" else -found.mean


def dominates(one: str, other: str, objectives: Sequence[Objective]) -> bool:
    """Whether a controller is at least as good as another in everything, and clearly better in something."""
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
    """Name the controllers that no other dominates: the Pareto front. It is never empty."""
    return frozenset(one for one in names if not any(dominates(other, one, objectives) for other in names))


def carrying(throughput: Mapping[str, Reading]) -> frozenset[str]:
    """Name the controllers whose throughput is near the highest."""
    means = {name: found.mean for name, reading in throughput.items() if (found := reading.least) is not None}
    most = max(means.values(), default=0.0)
    return frozenset(name for name, mean in means.items() if mean >= CARRIES * most and mean > 0)


def best(readings: Mapping[str, Reading], better: str, allowed: frozenset[str]) -> str | None:
    """Name the controller that is clear of every other at a figure, if it is one of those allowed.

    ``None`` with fewer than two controllers, and where those that are compared have finished too little.
    """
    for name, mine in readings.items():
        others = [other for rival, other in readings.items() if rival != name]
        enough = name in allowed and mine.share >= ENOUGH and bool(others)
        if enough and all(clearly_better(mine, other, better) for other in others):
            return name
    return None
