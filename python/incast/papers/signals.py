"""Series over time as numbers: how soon they come to rest and how far they go beyond, and how they oscillate."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from incast.statistics import nearest_rank

Numbers = npt.NDArray[np.floating[Any]]

MOST = 1 << 14
"""Most instants that a series is looked at."""

LEAST = 16
"""Fewest values of a series that says how it oscillates."""

REST = 0.25
"""Part of a series, its end, that says where it comes to rest."""

BAND = 0.2
"""Slack beside the range in which it rests, as a part of the mean there."""

SMOOTHED = 0.005
"""Part of a series over which the moving mean is taken that says when it has settled."""

SEGMENTS = 4
"""Lengths of a segment that a series has; segments overlap by half (Welch 1967)."""


@dataclass(frozen=True)
class Signal:
    """Values at instants a step apart."""

    step_s: float
    values: Numbers

    @property
    def last(self) -> Numbers:
        """Its last quarter."""
        return self.values[-max(1, round(len(self.values) * REST)) :]

    @property
    def rest(self) -> float:
        """Value that it comes to: the mean of its last quarter."""
        return float(self.last.mean())


@dataclass(frozen=True)
class Spectrum:
    """Power over frequency, relative to the square of the mean: its sum times the spacing is the relative variance."""

    frequencies: Numbers
    """Hz, evenly spaced, without zero."""
    power: Numbers
    """1/Hz."""


def even(times: Sequence[float] | Numbers, values: Sequence[float] | Numbers) -> Signal | None:
    """Look at a series at even instants: a value holds until the next. ``None`` of fewer than two instants.

    ``times`` in s, in their order. The step is the median of theirs, or longer where there would be too many.
    """
    at, there = np.asarray(times, dtype=float), np.asarray(values, dtype=float)
    known = np.isfinite(there)
    at, there = at[known], there[known]
    if len(at) < 2 or at[-1] <= at[0]:
        return None
    span = float(at[-1] - at[0])
    steps = np.diff(at)
    count = min(MOST, max(2, round(span / float(np.median(steps[steps > 0]))) + 1))
    grid = np.linspace(at[0], at[-1], count)
    # Half a step's thousandth: a grid point beside a sample by rounding is that sample's.
    held = np.searchsorted(at, grid + span / count * 1e-3, side="right") - 1
    return Signal(span / (count - 1), there[held])


def settling_s(signal: Signal) -> float:
    """Time from its beginning until its moving mean stays where it comes to rest; all of it where it does not.

    The mean is over a two-hundredth of the series, so that a sawtooth may go on. Rest is the range of its last quarter,
    and 20 % of the mean there to either side.
    """
    width = max(1, round(len(signal.values) * SMOOTHED))
    smooth = Signal(signal.step_s, np.convolve(signal.values, np.full(width, 1 / width), mode="valid"))
    low, high = _range(smooth)
    slack = BAND * abs(smooth.rest)
    outside = np.flatnonzero((smooth.values < low - slack) | (smooth.values > high + slack))
    return 0.0 if len(outside) == 0 else (float(outside[-1]) + 1 + (width - 1) / 2) * signal.step_s


def overshoot(signal: Signal) -> float | None:
    """How far it goes beyond the range of its last quarter, away from its first value, as a part of the mean there."""
    if signal.rest == 0:
        return None
    low, high = _range(signal)
    beyond = signal.values.max() - high if signal.values[0] <= signal.rest else low - signal.values.min()
    return max(0.0, float(beyond)) / abs(signal.rest)


def _range(signal: Signal) -> tuple[float, float]:
    return float(signal.last.min()), float(signal.last.max())


def variation(signal: Signal) -> float | None:
    """Coefficient of variation: standard deviation over mean."""
    mean = float(signal.values.mean())
    return float(signal.values.std()) / abs(mean) if mean != 0 else None


def spectrum(signal: Signal) -> Spectrum | None:
    """Estimate the power spectrum by Welch's method (1967): Hann windows on segments of a quarter, overlapping by half.

    ``None`` of a series that is too short, or whose mean is zero.
    """
    mean = float(signal.values.mean())
    if len(signal.values) < LEAST * SEGMENTS or mean == 0:
        return None
    length = len(signal.values) // SEGMENTS
    window = np.hanning(length + 1)[:-1]
    starts = range(0, len(signal.values) - length + 1, length // 2)
    relative = signal.values / mean - 1
    parts = np.stack([relative[start : start + length] for start in starts])
    lines = np.abs(np.fft.rfft((parts - parts.mean(axis=1, keepdims=True)) * window, axis=1)) ** 2
    power = 2 * signal.step_s / float(np.sum(window**2)) * lines.mean(axis=0)
    if length % 2 == 0:
        power[-1] /= 2
    return Spectrum(np.fft.rfftfreq(length, signal.step_s)[1:], power[1:])


def mean_spectrum(signals: Iterable[Signal | None]) -> Spectrum | None:
    """Mean of the spectra of series, at the frequencies of the first; ``None`` where there is none."""
    found = [one for signal in signals if signal is not None and (one := spectrum(signal)) is not None]
    if not found:
        return None
    at = found[0].frequencies
    return Spectrum(at, np.mean([np.interp(at, one.frequencies, one.power) for one in found], axis=0))


def period_s(signal: Signal) -> float | None:
    """Period at which the power over the logarithm of frequency is largest; ``None`` of a series that does not move."""
    found = spectrum(signal)
    if found is None or float(found.power.max()) <= 0:
        return None
    # Beyond its longest period a segment does not tell an oscillation from a drift.
    weights = (found.frequencies * found.power)[1:]
    return 1 / float(found.frequencies[1:][int(np.argmax(weights))])


def median(numbers: Sequence[float]) -> float:
    """Return the middle one by nearest rank."""
    return nearest_rank(sorted(numbers), 50)


def mean(numbers: Sequence[float]) -> float:
    """Return the mean."""
    return math.fsum(numbers) / len(numbers)


@dataclass(frozen=True)
class Reduction:
    """What series are reduced to: a number of each, and these to one."""

    of: Callable[[Signal], float | None]
    over: Callable[[Sequence[float]], float] = mean

    def __call__(self, signals: Iterable[Signal | None]) -> float | None:
        """Reduce series; ``None`` where none of them has a number."""
        found = [number for one in signals if one is not None and (number := self.of(one)) is not None]
        return self.over(found) if found else None


REDUCTIONS: Mapping[str, Reduction] = {
    "settling": Reduction(settling_s),
    "overshoot": Reduction(overshoot),
    "variation": Reduction(variation),
    "period": Reduction(period_s, median),
}
"""By the word of a measure."""
