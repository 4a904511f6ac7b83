"""How far ours may be from the reference: every kind of tolerance, and how it is worded."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from incast.statistics import estimate


class Tolerance(Protocol):
    """Says whether a figure of ours holds against the reference."""

    def holds(self, reference: float, ours: float) -> bool:
        """Whether ours is near enough; both are finite."""

    @property
    def text(self) -> str:
        """The tolerance as the page words it."""

    @property
    def relative(self) -> bool:
        """Whether the difference is best shown in percent of the reference."""


@dataclass(frozen=True)
class Relative:
    """At most a part of the reference away: ``Relative(0.03)`` is 3 %."""

    part: float
    relative: bool = True

    def holds(self, reference: float, ours: float) -> bool:
        """Whether the difference is at most the part of the reference."""
        return abs(ours - reference) <= self.part * abs(reference)

    @property
    def text(self) -> str:
        """The tolerance as the page words it."""
        return f"{100 * self.part:g} %"


@dataclass(frozen=True)
class Absolute:
    """At most an amount away, in the unit of the figure."""

    amount: float
    relative: bool = False

    def holds(self, reference: float, ours: float) -> bool:
        """Whether the difference is at most the amount."""
        # Decimal amounts have no exact binary form: 0.3 - 0.2 is to be within 0.1.
        return abs(ours - reference) <= self.amount * (1 + 1e-12)

    @property
    def text(self) -> str:
        """The tolerance as the page words it."""
        return f"±{self.amount:g}"


@dataclass(frozen=True)
class Widest:
    """As far as the widest of several tolerances allows."""

    parts: tuple[Tolerance, ...]
    relative: bool = False

    def holds(self, reference: float, ours: float) -> bool:
        """Whether one of them holds."""
        return any(part.holds(reference, ours) for part in self.parts)

    @property
    def text(self) -> str:
        """The tolerance as the page words it."""
        return f"max({', '.join(part.text for part in self.parts)})"


@dataclass(frozen=True)
class ZeroWhereZero:
    """Exactly zero where the reference is zero, another tolerance elsewhere."""

    elsewhere: Tolerance

    @property
    def relative(self) -> bool:
        """As the tolerance elsewhere."""
        return self.elsewhere.relative

    def holds(self, reference: float, ours: float) -> bool:
        """Whether both are zero, or the other tolerance holds."""
        return ours == 0 if reference == 0 else self.elsewhere.holds(reference, ours)

    @property
    def text(self) -> str:
        """The tolerance as the page words it."""
        return f"{self.elsewhere.text}, 0 at 0"


@dataclass(frozen=True)
class Digits:
    """The same number when both are written with so many significant digits."""

    count: int
    relative: bool = False

    def holds(self, reference: float, ours: float) -> bool:
        """Whether both are written alike."""
        return f"{reference:.{self.count - 1}e}" == f"{ours:.{self.count - 1}e}"

    @property
    def text(self) -> str:
        """The tolerance as the page words it."""
        return f"{self.count} digits"


@dataclass(frozen=True)
class Exact:
    """The same number."""

    relative: bool = False

    def holds(self, reference: float, ours: float) -> bool:
        """Whether they are equal."""
        return ours == reference

    @property
    def text(self) -> str:
        """The tolerance as the page words it."""
        return "exact"


@dataclass(frozen=True)
class AtMost:
    """No more than the reference, which is the limit itself."""

    relative: bool = False

    def holds(self, reference: float, ours: float) -> bool:
        """Whether ours is at most the limit."""
        return ours <= reference

    @property
    def text(self) -> str:
        """The tolerance as the page words it."""
        return "at most"


@dataclass(frozen=True)
class AtLeast:
    """No less than the reference, which is the limit itself."""

    relative: bool = False

    def holds(self, reference: float, ours: float) -> bool:
        """Whether ours is at least the limit."""
        return ours >= reference

    @property
    def text(self) -> str:
        """The tolerance as the page words it."""
        return "at least"


@dataclass(frozen=True)
class Factor:
    """At most so many times as much, or as little; both above zero."""

    times: float
    relative: bool = True

    def holds(self, reference: float, ours: float) -> bool:
        """Whether neither is more than so many times the other."""
        return min(reference, ours) > 0 and max(reference, ours) <= self.times * min(reference, ours)

    @property
    def text(self) -> str:
        """The tolerance as the page words it."""
        return f"factor {self.times:g}"


@dataclass(frozen=True)
class Overlap:
    """For means over seeds: 95 % intervals that overlap, or another tolerance."""

    theirs: float
    """Half the reference's interval."""
    otherwise: Tolerance | None = None
    ours: float = 0.0
    """Half of ours, which is known once the runs are: see ``over``."""
    relative: bool = True

    def holds(self, reference: float, ours: float) -> bool:
        """Whether the other tolerance holds, or the intervals overlap."""
        near = self.otherwise is not None and self.otherwise.holds(reference, ours)
        return near or abs(ours - reference) <= self.theirs + self.ours

    @property
    def text(self) -> str:
        """The tolerance as the page words it."""
        return "overlap" if self.otherwise is None else f"{self.otherwise.text} or overlap"


@dataclass(frozen=True)
class SameChange:
    """For changes in percent: the reference's direction, and its amount within a part.

    Changes of the reference below ``none`` percent count as none; ours must then be none too.
    """

    part: float = 1 / 3
    none: float = 1.0
    relative: bool = False

    def holds(self, reference: float, ours: float) -> bool:
        """Whether ours goes the same way about as far."""
        if abs(reference) < self.none:
            return abs(ours) < self.none
        return reference * ours > 0 and abs(ours - reference) <= self.part * abs(reference)

    @property
    def text(self) -> str:
        """The tolerance as the page words it."""
        return f"same way, within {self.part:.0%}; below {self.none:g} % is none"


def over(tolerance: Tolerance | None, values: Sequence[float]) -> Tolerance | None:
    """Return a tolerance as it is for a mean over values."""
    if not isinstance(tolerance, Overlap):
        return tolerance
    known = estimate(values)
    return replace(tolerance, ours=(known.half_width if known else None) or 0.0)


def difference(reference: float, ours: float, *, relative: bool) -> str:
    """Word the difference of ours from the reference: in percent where that says more."""
    away = ours - reference
    if away == 0:
        return "0"
    if relative and reference != 0:
        return f"{100 * away / abs(reference):+.2f} %"
    return f"{away:+.4g}"


def holds(tolerance: Tolerance | None, reference: float | None, ours: float | None) -> bool:
    """Whether a tolerance holds, none never; a figure that does not exist equals only another such."""
    if tolerance is None:
        return False
    if reference is None or ours is None:
        return reference is ours
    return math.isfinite(reference) and math.isfinite(ours) and tolerance.holds(reference, ours)
