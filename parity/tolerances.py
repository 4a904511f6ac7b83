"""Tolerances of figures against the reference, and their texts on the page."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from incast.statistics import estimate


class Tolerance(Protocol):
    """Decides whether a figure of ours holds against the reference."""

    def holds(self, reference: float, ours: float) -> bool:
        """Return whether ours is within the tolerance; both are finite."""

    @property
    def text(self) -> str:
        """Text of the tolerance on the page."""

    @property
    def relative(self) -> bool:
        """True if the difference is shown in percent of the reference."""


@dataclass(frozen=True)
class Relative:
    """Difference of at most a fraction of the reference: ``Relative(0.03)`` is 3 %."""

    part: float
    relative: bool = True

    def holds(self, reference: float, ours: float) -> bool:
        """Return whether the difference is at most the fraction of the reference."""
        return abs(ours - reference) <= self.part * abs(reference)

    @property
    def text(self) -> str:
        """Text of the tolerance on the page."""
        return f"{100 * self.part:g} %"


@dataclass(frozen=True)
class Absolute:
    """Difference of at most an amount, in the unit of the figure."""

    amount: float
    relative: bool = False

    def holds(self, reference: float, ours: float) -> bool:
        """Return whether the difference is at most the amount."""
        # decimal amounts have no exact binary form: 0.3 - 0.2 must be within 0.1
        return abs(ours - reference) <= self.amount * (1 + 1e-12)

    @property
    def text(self) -> str:
        """Text of the tolerance on the page."""
        return f"±{self.amount:g}"


@dataclass(frozen=True)
class Widest:
    """Widest of several tolerances."""

    parts: tuple[Tolerance, ...]
    relative: bool = False

    def holds(self, reference: float, ours: float) -> bool:
        """Return whether at least one holds."""
        return any(part.holds(reference, ours) for part in self.parts)

    @property
    def text(self) -> str:
        """Text of the tolerance on the page."""
        return f"max({', '.join(part.text for part in self.parts)})"


@dataclass(frozen=True)
class ZeroWhereZero:
    """Exactly zero if the reference is zero, otherwise another tolerance."""

    elsewhere: Tolerance

    @property
    def relative(self) -> bool:
        """Same as for the other tolerance."""
        return self.elsewhere.relative

    def holds(self, reference: float, ours: float) -> bool:
        """Return whether both are zero, or the other tolerance holds."""
        return ours == 0 if reference == 0 else self.elsewhere.holds(reference, ours)

    @property
    def text(self) -> str:
        """Text of the tolerance on the page."""
        return f"{self.elsewhere.text}, 0 at 0"


@dataclass(frozen=True)
class Digits:
    """Equal numbers after rounding to a number of significant digits."""

    count: int
    relative: bool = False

    def holds(self, reference: float, ours: float) -> bool:
        """Return whether both round to the same number."""
        return f"{reference:.{self.count - 1}e}" == f"{ours:.{self.count - 1}e}"

    @property
    def text(self) -> str:
        """Text of the tolerance on the page."""
        return f"{self.count} digits"


@dataclass(frozen=True)
class Exact:
    """Equal numbers."""

    relative: bool = False

    def holds(self, reference: float, ours: float) -> bool:
        """Return whether both are equal."""
        return ours == reference

    @property
    def text(self) -> str:
        """Text of the tolerance on the page."""
        return "exact"


@dataclass(frozen=True)
class AtMost:
    """At most the reference, which is a limit."""

    relative: bool = False

    def holds(self, reference: float, ours: float) -> bool:
        """Return whether ours is at most the limit."""
        return ours <= reference

    @property
    def text(self) -> str:
        """Text of the tolerance on the page."""
        return "at most"


@dataclass(frozen=True)
class AtLeast:
    """At least the reference, which is a limit."""

    relative: bool = False

    def holds(self, reference: float, ours: float) -> bool:
        """Return whether ours is at least the limit."""
        return ours >= reference

    @property
    def text(self) -> str:
        """Text of the tolerance on the page."""
        return "at least"


@dataclass(frozen=True)
class Factor:
    """Ratio of at most a factor in either direction; both above zero."""

    times: float
    relative: bool = True

    def holds(self, reference: float, ours: float) -> bool:
        """Return whether neither exceeds the other by more than the factor."""
        return min(reference, ours) > 0 and max(reference, ours) <= self.times * min(reference, ours)

    @property
    def text(self) -> str:
        """Text of the tolerance on the page."""
        return f"factor {self.times:g}"


@dataclass(frozen=True)
class Overlap:
    """Overlapping 95 % intervals of means over seeds, or another tolerance."""

    theirs: float
    """Half width of the reference's interval."""
    otherwise: Tolerance | None = None
    ours: float = 0.0
    """Half width of our interval, known after the runs: see ``over``."""
    relative: bool = True

    def holds(self, reference: float, ours: float) -> bool:
        """Return whether the other tolerance holds, or the intervals overlap."""
        near = self.otherwise is not None and self.otherwise.holds(reference, ours)
        return near or abs(ours - reference) <= self.theirs + self.ours

    @property
    def text(self) -> str:
        """Text of the tolerance on the page."""
        return "overlap" if self.otherwise is None else f"{self.otherwise.text} or overlap"


@dataclass(frozen=True)
class SameChange:
    """Changes in percent: same direction as the reference, and the amount within a fraction.

    Changes of the reference below ``none`` percent count as none; ours must then be none too.
    """

    part: float = 1 / 3
    none: float = 1.0
    relative: bool = False

    def holds(self, reference: float, ours: float) -> bool:
        """Return whether ours changes in the same direction by about the same amount."""
        if abs(reference) < self.none:
            return abs(ours) < self.none
        return reference * ours > 0 and abs(ours - reference) <= self.part * abs(reference)

    @property
    def text(self) -> str:
        """Text of the tolerance on the page."""
        return f"same way, within {self.part:.0%}; below {self.none:g} % is none"


def over(tolerance: Tolerance | None, values: Sequence[float]) -> Tolerance | None:
    """Return a tolerance for the mean over values."""
    if not isinstance(tolerance, Overlap):
        return tolerance
    known = estimate(values)
    return replace(tolerance, ours=(known.half_width if known else None) or 0.0)


def difference(reference: float, ours: float, *, relative: bool) -> str:
    """Format the difference of ours from the reference, in percent if suitable."""
    away = ours - reference
    if away == 0:
        return "0"
    if relative and reference != 0:
        return f"{100 * away / abs(reference):+.2f} %"
    return f"{away:+.4g}"


def holds(tolerance: Tolerance | None, reference: float | None, ours: float | None) -> bool:
    """Return whether a tolerance holds; ``None`` never does; a missing figure only equals a missing one."""
    if tolerance is None:
        return False
    if reference is None or ours is None:
        return reference is ours
    return math.isfinite(reference) and math.isfinite(ours) and tolerance.holds(reference, ours)
