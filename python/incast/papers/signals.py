"""Measures of time series: settling time, overshoot, and oscillation."""

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
"""Most sampling instants of a series."""

LEAST = 16
"""Fewest values of a series for a spectrum."""

REST = 0.25
"""Fraction of a series, at its end, that defines the final value."""

BAND = 0.2
"""Margin around the final range, as a fraction of the mean there."""

SMOOTHED = 0.005
"""Window of the moving mean for the settling time, as a fraction of the series."""

SEGMENTS = 4
"""Length of a series in segments; segments overlap by half (Welch 1967)."""


@dataclass(frozen=True)
class Signal:
    """Values at evenly spaced instants."""

    step_s: float
    values: Numbers

    @property
    def last(self) -> Numbers:
        """Last quarter of the values."""
        return self.values[-max(1, round(len(self.values) * REST)) :]

    @property
    def rest(self) -> float:
        """Final value: the mean of the last quarter."""
        return float(self.last.mean())


@dataclass(frozen=True)
class Spectrum:
    """Power over frequency, relative to the square of the mean: its sum times the spacing is the relative variance."""

    frequencies: Numbers
    """Frequencies in Hz, evenly spaced, without zero."""
    power: Numbers
    """Power in 1/Hz."""


def even(times: Sequence[float] | Numbers, values: Sequence[float] | Numbers) -> Signal | None:
    """Resample a step series at even instants; ``None`` for fewer than two instants.

    ``times`` are in s, ascending. The step is the median of theirs, or longer if there would be too many instants.
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
    # half a thousandth of a step: rounding must not separate a grid point from its sample
    held = np.searchsorted(at, grid + span / count * 1e-3, side="right") - 1
    return Signal(span / (count - 1), there[held])


def settling_s(signal: Signal) -> float:
    """Return the settling time: until the moving mean stays in the final range; the whole length if it never does.

    The moving mean covers a two-hundredth of the series, so that a sawtooth counts as settled. The final range is that
    of the last quarter, plus 20 % of the mean there on either side.
    """
    width = max(1, round(len(signal.values) * SMOOTHED))
    smooth = Signal(signal.step_s, np.convolve(signal.values, np.full(width, 1 / width), mode="valid"))
    low, high = _range(smooth)
    slack = BAND * abs(smooth.rest)
    outside = np.flatnonzero((smooth.values < low - slack) | (smooth.values > high + slack))
    return 0.0 if len(outside) == 0 else (float(outside[-1]) + 1 + (width - 1) / 2) * signal.step_s


def overshoot(signal: Signal) -> float | None:
    """Return the overshoot beyond the range of the last quarter, away from the first value, over the mean there."""
    if signal.rest == 0:
        return None
    low, high = _range(signal)
    beyond = signal.values.max() - high if signal.values[0] <= signal.rest else low - signal.values.min()
    return max(0.0, float(beyond)) / abs(signal.rest)


def _range(signal: Signal) -> tuple[float, float]:
    return float(signal.last.min()), float(signal.last.max())


def variation(signal: Signal) -> float | None:
    """Return the coefficient of variation: standard deviation over mean."""
    mean = float(signal.values.mean())
    return float(signal.values.std()) / abs(mean) if mean != 0 else None


def spectrum(signal: Signal) -> Spectrum | None:
    """Estimate the power spectrum by Welch's method (1967): Hann windows on segments of a quarter, overlapping by half.

    ``None`` for a series that is too short, or with mean zero.
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
    """Return the mean spectrum of series, at the frequencies of the first; ``None`` without any."""
    found = [one for signal in signals if signal is not None and (one := spectrum(signal)) is not None]
    if not found:
        return None
    at = found[0].frequencies
    return Spectrum(at, np.mean([np.interp(at, one.frequencies, one.power) for one in found], axis=0))


def period_s(signal: Signal) -> float | None:
    """Return the period with the largest power per logarithm of frequency; ``None`` for a constant series."""
    found = spectrum(signal)
    if found is None or float(found.power.max()) <= 0:
        return None
    # beyond its longest period a segment cannot tell oscillation from drift
    weights = (found.frequencies * found.power)[1:]
    return 1 / float(found.frequencies[1:][int(np.argmax(weights))])


def median(numbers: Sequence[float]) -> float:
    """Return the median by nearest rank."""
    return nearest_rank(sorted(numbers), 50)


def mean(numbers: Sequence[float]) -> float:
    """Return the mean."""
    return math.fsum(numbers) / len(numbers)


@dataclass(frozen=True)
class Reduction:
    """Reduction of series: one number per series, then one number of all."""

    of: Callable[[Signal], float | None]
    over: Callable[[Sequence[float]], float] = mean

    def __call__(self, signals: Iterable[Signal | None]) -> float | None:
        """Reduce series; ``None`` if none has a number."""
        found = [number for one in signals if one is not None and (number := self.of(one)) is not None]
        return self.over(found) if found else None


REDUCTIONS: Mapping[str, Reduction] = {
    "settling": Reduction(settling_s),
    "overshoot": Reduction(overshoot),
    "variation": Reduction(variation),
    "period": Reduction(period_s, median),
}
"""Reductions by name."""
