"""Means over seeds with Student-t confidence intervals, and percentiles by nearest rank."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from scipy.special import stdtrit

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Estimate:
    """Mean of a figure over runs that differ only in the seed."""

    mean: float
    half_width: float | None
    """Half width of the 95 % Student-t interval; ``None`` with fewer than two runs."""
    count: int

    @property
    def low(self) -> float:
        """Lower end of the interval (the mean without one)."""
        return self.mean - (self.half_width or 0.0)

    @property
    def high(self) -> float:
        """Upper end of the interval (the mean without one)."""
        return self.mean + (self.half_width or 0.0)


def jain(shares: Sequence[float]) -> float | None:
    """Jain's fairness index (sum x)^2 / (n sum x^2); ``None`` without shares or if all are 0."""
    squares = math.fsum(share**2 for share in shares)
    return math.fsum(shares) ** 2 / (len(shares) * squares) if squares > 0 else None


def rank(part: Fraction, count: int) -> int:
    """Return the rank of a percentile among ``count`` values, at least one: ceil(p n), counted from 1."""
    # in integers: 0.07 * 100 is above 7
    return max(math.ceil(part * count), 1)


def nearest_rank(ordered: Sequence[float], percent: int | Fraction) -> float:
    """Return the nearest-rank percentile of at least one value in ascending order: the value of rank ceil(p n)."""
    return ordered[rank(Fraction(percent, 100), len(ordered)) - 1]


def estimate(values: Sequence[float]) -> Estimate | None:
    """Estimate the mean of independent values; ``None`` without values."""
    n = len(values)
    if n == 0:
        return None
    mean = math.fsum(values) / n
    if n == 1:
        return Estimate(mean, None, 1)
    if min(values) == max(values):
        return Estimate(values[0], 0.0, n)  # rounding of the mean would make an interval
    variance = math.fsum((v - mean) ** 2 for v in values) / (n - 1)
    quantile = float(stdtrit(n - 1, 0.5 + CONFIDENCE / 2))
    return Estimate(mean, quantile * math.sqrt(variance / n), n)
