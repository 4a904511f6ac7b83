"""Paired differences of readings: better, worse, alike or undecided, and the seeds that would decide.

A reading is *told apart* from another if the 95 % interval of the paired differences excludes zero for every value that
unfinished transfers allow, and the difference is at least ``MATTERS`` of the larger mean.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from scipy.special import stdtrit

from incast.comparisons.ranking import MATTERS, larger, told_apart
from incast.runs.completions import Reading, difference, ratio_less_one
from incast.statistics import CONFIDENCE, Estimate

NEAR = 0.1
"""Part of the larger mean by which two readings may differ, to be named together as the best where not told apart."""

MOST_SEEDS = 100
"""Seeds within reason: a difference that needs more of them is not worth their runs."""


class Verdict(StrEnum):
    """Judgement of one reading against another."""

    BETTER = "better"
    WORSE = "worse"
    ALIKE = "alike"
    """Differs by less than ``MATTERS``."""
    UNDECIDED = "undecided"
    """More seeds may decide."""
    OPEN = "open"
    """Unfinished transfers leave the difference open; a longer run may decide."""


@dataclass(frozen=True)
class Apart:
    """Difference of one reading from another, seed by seed."""

    one: str
    other: str
    verdict: Verdict
    by: Reading
    """Relative difference in percent of the other, or the difference itself."""
    relative: bool
    seeds: int | None = None
    """Further seeds that would decide an undecided difference of this size; ``None`` beyond ``MOST_SEEDS``."""

    @property
    def surely(self) -> Estimate | None:
        """The bound nearer to zero of a difference that is told apart."""
        low, high = self.by.least, self.by.most
        return low if low is not None and (low.mean > 0 or high is None) else high


def apart(one: str, other: str, readings: Mapping[str, Reading], better: str, absolute: bool = False) -> Apart:
    """Compare two readings that share a seed; ``absolute`` forbids a relative difference, as for percentages."""
    mine, their = readings[one], readings[other]
    verdict = _verdict(mine, their, better)
    found = difference(mine, their)
    assert found is not None, "runs of a comparison share their seeds"
    relative = None if absolute else in_percent(mine, their)
    shown = found if relative is None or not _agrees(relative, found, verdict) or _is_wild(relative) else relative
    seeds = None
    near = _near_bound(found)
    if verdict is Verdict.UNDECIDED and near is not None and abs(near.mean) >= MATTERS * larger(mine, their):
        seeds = further_seeds(near)
    return Apart(one, other, verdict, shown, shown is not found, seeds)


def matters(apart: Reading, of: Reading) -> bool:
    """Return whether a difference from a figure is at least ``MATTERS`` of it, at its bound nearer to zero."""
    ends = [abs(end.mean) for end in (apart.least, apart.most) if end is not None]
    return bool(ends) and of.least is not None and min(ends) >= MATTERS * abs(of.least.mean)


def further_seeds(found: Estimate) -> int | None:
    """Return the number of further seeds after which the interval of this difference would exclude zero.

    The mean and the standard deviation of the differences are taken as they are. ``None`` beyond ``MOST_SEEDS``.
    """
    if found.half_width is None or found.count < 2:
        return None
    deviation = found.half_width * math.sqrt(found.count) / _quantile(found.count)
    for count in range(found.count + 1, MOST_SEEDS + 1):
        if _quantile(count) * deviation / math.sqrt(count) < abs(found.mean):
            return count - found.count
    return None


@dataclass(frozen=True)
class Ranking:
    """Order of readings at a figure, as far as the runs show one."""

    first: str
    """The best mean."""
    level: tuple[str, ...]
    """The readings that no other is told apart from as better, with the first one."""
    behind: tuple[Apart, ...]
    """Every other reading, against the first, or against one that is told apart from it."""
    among: tuple[Apart, ...]
    """The other level readings against the first."""
    near: tuple[str, ...]
    """The level readings whose means are near the first one's, with the first one."""


def ranked(readings: Mapping[str, Reading], better: str, absolute: bool = False) -> Ranking:
    """Rank readings, in their order; at least one. ``absolute`` is that of ``apart``."""
    names = list(readings)

    def beaten_by(name: str) -> list[str]:
        return [one for one in names if one != name and told_apart(readings[one], readings[name], better)]

    beaten = {name: beaten_by(name) for name in names}
    level = [name for name in names if not beaten[name]]
    first = min(level, key=lambda name: _worst(readings[name], better))
    behind = [
        apart(name, first if first in by else by[0], readings, better, absolute)
        for name, by in beaten.items()
        if name != first
        if by
    ]
    among = [apart(name, first, readings, better, absolute) for name in level if name != first]
    near = [name for name in level if name == first or is_near(readings[name], readings[first])]
    return Ranking(first, tuple(level), tuple(behind), tuple(among), tuple(near))


def is_near(one: Reading, other: Reading) -> bool:
    """Return whether the means of two readings differ by at most ``NEAR`` of the larger one; not with open bounds."""
    found = difference(one, other)
    if found is None or found.least is None or not (one.exact and other.exact):
        return False
    return abs(found.least.mean) <= NEAR * larger(one, other)


def _worst(reading: Reading, better: str) -> float:
    """Return the mean at the worse bound, so that lower is better; infinity without one."""
    found = reading.most if better == "lower" else reading.least
    if found is None:
        return math.inf
    return found.mean if better == "lower" else -found.mean


def _verdict(one: Reading, other: Reading, better: str) -> Verdict:
    if told_apart(one, other, better):
        return Verdict.BETTER
    if told_apart(other, one, better):
        return Verdict.WORSE
    found = difference(one, other)
    assert found is not None
    if not (one.exact and other.exact):
        return Verdict.OPEN if _near_bound(found) is None else Verdict.UNDECIDED
    assert found.least is not None
    most = MATTERS * larger(one, other)
    if abs(found.least.mean) < most and (found.least.low > 0 or found.least.high < 0):
        return Verdict.ALIKE
    if found.least.half_width is not None and abs(found.least.mean) + found.least.half_width <= most:
        return Verdict.ALIKE
    return Verdict.UNDECIDED


def _near_bound(found: Reading) -> Estimate | None:
    """Return the bound nearer to zero of a difference whose bounds have one sign; ``None`` if they allow both."""
    low, high = found.least, found.most
    if found.exact or (low is not None and low.mean > 0):
        return low
    return high if high is not None and high.mean < 0 else None


def in_percent(one: Reading, other: Reading) -> Reading | None:
    """Return the difference in percent of the other, seed by seed; ``None`` unless all values are above zero."""
    found = ratio_less_one(one, other)
    if found is None:
        return None
    low, high = ({seed: 100 * ratio for seed, ratio in end.items()} for end in (found.low, found.high))
    return Reading(low, high)


def clear_in_percent(one: Reading, other: Reading) -> Reading | None:
    """Return the difference in percent of the other; ``None`` where it has another sign than the difference."""
    relative, found = in_percent(one, other), difference(one, other)
    if relative is None or found is None or _is_wild(relative):
        return None
    return relative if _sign(relative) == _sign(found) else None


def _agrees(relative: Reading, found: Reading, verdict: Verdict) -> bool:
    """Return whether a relative difference shows what the difference itself shows.

    Ratios have another spread than differences: near zero one interval may include it, and the other not.
    """
    if verdict in (Verdict.BETTER, Verdict.WORSE):
        return _sign(relative) == _sign(found) != 0
    if verdict is Verdict.UNDECIDED:
        return _sign(relative) == 0
    return True


def _is_wild(relative: Reading) -> bool:
    """Return whether an interval of a relative difference goes below -100 %, where no ratio is."""
    ends = (relative.least, relative.most)
    return any(end is not None and end.half_width is not None and end.low < -100 for end in ends)


def _sign(found: Reading) -> int:
    """Return the sign of a difference whose interval excludes zero; 0 if it does not."""
    if found.least is not None and found.least.half_width is not None and found.least.low > 0:
        return 1
    return -1 if found.most is not None and found.most.half_width is not None and found.most.high < 0 else 0


def _quantile(count: int) -> float:
    return float(stdtrit(count - 1, 0.5 + CONFIDENCE / 2))


def joined(words: Sequence[str]) -> str:
    """Join words of a sentence: a, b and c."""
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)
