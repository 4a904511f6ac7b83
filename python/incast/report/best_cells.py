"""Best cell of a study: readings by cell become the cells that no other beats.

A cell leads if its mean is the best of the candidates. Another cell is *told apart* from it by the rule of
``incast.comparisons.ranking``. The leading cell is the best if all others are told apart. Otherwise a cell with a mean
near its own is level with it; of a cell with another mean the runs do not show enough.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from incast.answers.paired import is_near
from incast.comparisons.ranking import CARRIES, told_apart
from incast.runs.completions import ENOUGH, Reading
from incast.statistics import Estimate

Cell = TypeVar("Cell", bound=Hashable)


@dataclass(frozen=True)
class Standing(Generic[Cell]):
    """Outcome at one figure among some cells."""

    level: tuple[Cell, ...]
    """Leading cell, then the cells near it that are not told apart from it; empty if no cell can lead."""
    others: tuple[Cell, ...] = ()
    """Candidates that are told apart from the leading one, the nearest first."""
    excluded: tuple[Cell, ...] = ()
    """Cells that are no candidates: too little finished, or too little was carried."""
    untold: tuple[Cell, ...] = ()
    """Cells not told apart from the leading one, though their means are not near its own; the nearest first."""

    @property
    def first(self) -> tuple[Cell, ...]:
        """Leading cell, and all that are not told apart from it."""
        return self.level + self.untold

    @property
    def candidates(self) -> tuple[Cell, ...]:
        """All cells but those excluded."""
        return self.first + self.others

    @property
    def best(self) -> Cell | None:
        """The leading cell, if all other candidates are told apart from it, and there is one."""
        return self.level[0] if len(self.first) == 1 and self.others else None

    @property
    def undecided(self) -> bool:
        """Return whether no candidate is told apart from another one."""
        return not self.others


def standing(readings: Mapping[Cell, Reading], better: str, allowed: Collection[Cell] | None = None) -> Standing[Cell]:
    """Rank cells at a figure; ``better`` is ``"higher"`` or ``"lower"``.

    Cells that are not ``allowed``, or whose figure is not bounded on the worse side, cannot lead and are excluded.
    """
    fitting = {cell for cell, one in readings.items() if _worst(one, better) is not None}
    candidates = [cell for cell in readings if cell in fitting and (allowed is None or cell in allowed)]
    excluded = tuple(cell for cell in readings if cell not in candidates)
    if not candidates:
        return Standing((), (), excluded)
    sign = 1.0 if better == "lower" else -1.0
    order = sorted(candidates, key=lambda cell: sign * _known(readings[cell], better).mean)
    lead = order[0]
    apart = [cell for cell in order[1:] if told_apart(readings[lead], readings[cell], better)]
    first = [cell for cell in order if cell not in apart]
    level = tuple(cell for cell in first if cell == lead or is_near(readings[cell], readings[lead]))
    return Standing(level, tuple(apart), excluded, tuple(cell for cell in first if cell not in level))


def eligible(shares: Mapping[Cell, float], throughput: Mapping[Cell, Reading], delivers: bool) -> frozenset[Cell]:
    """Return the cells that may lead at a figure: enough of their transfers finished, and they carry traffic.

    ``shares`` are the least shares finished under a seed, by cell; a cell without transfers has none. ``throughput``
    is not asked of figures that are bad for a cell that sends nothing, ``delivers``.
    """
    known = {cell: found.mean for cell, one in throughput.items() if (found := one.least) is not None}
    most = max(known.values(), default=0.0)
    finished = {cell for cell in throughput if shares.get(cell, 1.0) >= ENOUGH}
    return frozenset(cell for cell in finished if delivers or known.get(cell, 0.0) >= CARRIES * most)


def _worst(one: Reading, better: str) -> Estimate | None:
    """Return the bound of a figure on its worse side; ``None`` without one."""
    return one.most if better == "lower" else one.least


def _known(one: Reading, better: str) -> Estimate:
    found = _worst(one, better)
    assert found is not None, "candidates have it"
    return found
