"""Completions of flows, queries and writes: slowdown by size bin, and bounds for unfinished ones.

A transfer still running when the run ends, or stopped before, is censored: it takes longer than the time it has run so
far. Percentiles (nearest rank) and means are over all that began. If unfinished ones could change such a figure, it has
two bounds: the lower bound counts them as finished at the end of the run, the upper bound as never finished.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from incast.errors import StudyError
from incast.statistics import Estimate, estimate, rank

ENOUGH = 0.99
"""Share finished that a controller needs to be called best."""

STATISTICS = {
    "mean": None,
    "p50": Fraction(50, 100),
    "p99": Fraction(99, 100),
    "p999": Fraction(999, 1000),
}
"""Statistics of completions: the mean, and percentiles with their fractions."""

NAMES = {"mean": "mean", "p50": "p50", "p99": "p99", "p999": "p99.9"}
"""Names of the statistics in texts."""

MAXIMUM = "maximum"
"""Name of a high percentile of few values."""

Numbers = npt.NDArray[np.float64]

_LARGEST = 10.0**18
_DIGITS = 60
"""Largest edge of a bin in bytes, and most digits of a size."""

_UNITS = {"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}


@dataclass(frozen=True)
class Bins:
    """Size bins of flows by ascending edges in bytes: n edges make n + 1 bins, each including its lower edge."""

    edges: tuple[float, ...]

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the bins."""
        if not self.edges:
            return ("all sizes",)
        between = (_between(low, high) for low, high in zip(self.edges, self.edges[1:], strict=False))
        return (f"below {size(self.edges[0])}", *between, f"from {size(self.edges[-1])}")

    def of(self, sizes: Numbers) -> npt.NDArray[np.int64]:
        """Return the bin number of each size."""
        return np.searchsorted(np.array(self.edges), sizes, side="right").astype(np.int64)

    @classmethod
    def parse(cls, text: str) -> Bins:
        """Read ``10kB,100kB,1MB``; raises ``StudyError``."""
        edges = []
        shown = text if len(text) <= 60 else f"{text[:60]}..."
        for word in text.split(","):
            match = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]+)\s*", word)
            if match is None or match[2] not in _UNITS:
                raise StudyError(
                    f'--bins "{shown}": "{word.strip()[:60]}" is not a size: expected sizes with a unit '
                    f"({', '.join(_UNITS)}), such as 10kB,100kB,1MB"
                )
            # Python refuses numbers of thousands of digits
            bytes_ = Fraction(match[1]) * _UNITS[match[2]] if len(match[1]) <= _DIGITS else math.inf
            if bytes_ > _LARGEST:
                raise StudyError(f'--bins "{shown}": too large: expected at most {size(_LARGEST)}')
            edges.append(float(bytes_))
        if edges != sorted(set(edges)) or edges[0] <= 0:
            raise StudyError(f'--bins "{shown}": expected sizes above 0, each larger than the one before')
        return cls(tuple(edges))

    @property
    def text(self) -> str:
        """The bins as ``parse`` reads them."""
        return ",".join(size(edge).replace(" ", "") for edge in self.edges)

    @classmethod
    def decades(cls, smallest: float, largest: float) -> Bins:
        """Make bins with edges at the powers of ten inside a range of sizes."""
        exponents = range(math.ceil(math.log10(max(smallest, 1.0))), math.floor(math.log10(max(largest, 1.0))) + 1)
        return cls(tuple(10.0**exponent for exponent in exponents if smallest < 10.0**exponent <= largest))


def _between(low: float, high: float) -> str:
    """Name a bin by its edges; a common unit is written once."""
    (least, unit), (most, other) = size(low).split(), size(high).split()
    return f"{least} to {most} {unit}" if unit == other else f"{least} {unit} to {most} {other}"


def size(number: float) -> str:
    """Write bytes with the decimal prefix that fits, exactly: two sizes never read the same."""
    unit, exponent = next(((unit, e) for unit, e in (("GB", 9), ("MB", 6), ("kB", 3)) if number >= 10**e), ("B", 0))
    return f"{Decimal(repr(float(number))).scaleb(-exponent).normalize():f} {unit}"


@dataclass(frozen=True)
class Completions:
    """Completions of one run as columns: finite flows, queries or writes."""

    names: tuple[str, ...]
    """Traffic entries."""
    entries: npt.NDArray[np.int64]
    """Number of the traffic entry among ``names``."""
    sizes: Numbers
    """Bytes."""
    times_s: Numbers
    """Completion time; for unfinished ones the time until they were stopped, or the run ended."""
    finished: npt.NDArray[np.bool_]
    ideals_s: Numbers
    """Completion time of flows on the empty network; NaN without one."""

    def __len__(self) -> int:
        return len(self.sizes)

    @property
    def slowdowns(self) -> Numbers:
        """Completion times divided by ideal ones; at least 1 for unfinished flows."""
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = self.times_s / self.ideals_s
        return np.where(self.finished, ratio, np.maximum(ratio, 1.0))

    def where(self, mask: npt.NDArray[np.bool_]) -> Completions:
        """Keep the completions of a mask."""
        return Completions(
            self.names,
            self.entries[mask],
            self.sizes[mask],
            self.times_s[mask],
            self.finished[mask],
            self.ideals_s[mask],
        )

    def of(self, entry: str) -> Completions:
        """Keep the completions of a traffic entry."""
        return self.where(np.array([name == entry for name in self.names], bool)[self.entries])


NONE = Completions((), np.array([], int), np.array([]), np.array([]), np.array([], bool), np.array([]))
"""No completion."""


@dataclass(frozen=True)
class Sizes:
    """Traffic entries with finite flows in a run, and the smallest and largest size."""

    entries: tuple[str, ...]
    smallest: float
    largest: float


def sizes_of(run: Completions) -> Sizes | None:
    """Return the sizes of a run's flows; ``None`` without finite flows."""
    if len(run) == 0:
        return None
    codes, first = np.unique(run.entries, return_index=True)
    names = tuple(run.names[codes[i]] for i in np.argsort(first))
    return Sizes(names, float(run.sizes.min()), float(run.sizes.max()))


_TABLES = {
    "fct": ("flows", ["group", "size_bytes", "start_s", "fct_s", "ideal_fct_s", "stopped_s"]),
    "queries": ("queries", ["group", "bytes", "start_s", "completion_s"]),
    "writes": ("writes", ["group", "bytes", "start_s", "completion_s"]),
}
"""Tables and columns of completions, by the part of the summary."""


def read(
    rows: Callable[[str, Sequence[str]], pa.Table],
    part: str,
    end_s: float,
    chosen: npt.NDArray[np.bool_] | None = None,
) -> Completions:
    """Read the completions of finite flows (``fct``), ``queries`` or ``writes`` of a run that ended at ``end_s``.

    ``rows`` returns columns of its tables; its exceptions pass. ``chosen`` are the rows to keep (default: all).
    """
    table = rows(*_TABLES[part])
    return of_table(table if chosen is None else table.filter(pa.array(chosen)), part, end_s)


def of_table(table: pa.Table, part: str, end_s: float) -> Completions:
    """Read completions from a table of flows (``fct``), ``queries`` or ``writes`` of a run that ended at ``end_s``."""
    _, columns = _TABLES[part]
    if table.num_rows == 0:
        return NONE
    numbers = [table[column].to_numpy(zero_copy_only=False).astype(float) for column in columns[1:]]
    sizes, starts, times = numbers[:3]
    ideals = numbers[3] if len(numbers) > 3 else np.full(len(sizes), np.nan)
    finished = ~np.isnan(times)
    stops = numbers[4] if len(numbers) > 4 else np.full(len(sizes), np.nan)
    ends = np.where(np.isnan(stops), end_s, stops)
    group = table["group"].cast(pa.string()).combine_chunks().dictionary_encode()
    names, entries = tuple(group.dictionary.to_pylist()), group.indices.to_numpy()
    found = Completions(
        names,
        entries.astype(np.int64),
        sizes,
        np.where(finished, times, np.maximum(ends - starts, 0.0)),
        finished,
        ideals,
    )
    return found.where(~np.isnan(sizes))


@dataclass(frozen=True)
class Bound:
    """Lower and upper bound of a figure; equal if the figure is known."""

    low: float
    high: float


def figure(values: Numbers, finished: npt.NDArray[np.bool_], statistic: str) -> Bound | None:
    """Compute a statistic of values; unfinished ones are lower bounds. ``None`` without values."""
    n = len(values)
    if n == 0:
        return None
    part = STATISTICS[statistic]
    if part is None:
        mean = math.fsum(values) / n
        return Bound(mean, mean if finished.all() else math.inf)
    place = rank(part, n) - 1
    low = float(np.partition(values, place)[place])
    high = float(np.partition(np.where(finished, values, math.inf), place)[place])
    return Bound(low, high)


@dataclass(frozen=True)
class Reading:
    """A figure at one point: its bounds under every seed, and the share of its transfers that finished."""

    low: Mapping[int, float]
    high: Mapping[int, float]
    finished: int = 0
    count: int = 0
    """Number of flows, queries or writes in all runs; 0 if the figure is not about completions."""
    largest: int = 0
    """Largest number of them in one run."""

    @property
    def share(self) -> float:
        """Share finished; 1 if nothing began."""
        return self.finished / self.count if self.count else 1.0

    @property
    def exact(self) -> bool:
        """True if the bounds are equal under every seed."""
        return all(self.low[seed] == self.high[seed] for seed in self.low)

    @cached_property
    def least(self) -> Estimate | None:
        """Mean of the lower bounds over the seeds (the mean of an exact figure); ``None`` if a bound is missing.

        A figure always has a lower bound; a difference of two figures may lack one.
        """
        lows = [self.low[seed] for seed in sorted(self.low)]
        return estimate(lows) if all(math.isfinite(low) for low in lows) else None

    @cached_property
    def most(self) -> Estimate | None:
        """Mean of the upper bounds over the seeds; ``None`` if one is missing."""
        highs = [self.high[seed] for seed in sorted(self.high)]
        return estimate(highs) if all(math.isfinite(high) for high in highs) else None


def difference(one: Reading, other: Reading) -> Reading | None:
    """Return a figure minus another one, seed by seed; ``None`` if they share no seed.

    The bounds are those that both figures allow: minus infinity and infinity without any.
    """
    seeds = sorted(one.low.keys() & other.low.keys())
    if not seeds:
        return None
    return Reading(
        {seed: one.low[seed] - other.high[seed] for seed in seeds},
        {seed: one.high[seed] - other.low[seed] for seed in seeds},
    )


def ratio_less_one(one: Reading, other: Reading) -> Reading | None:
    """Return ``one / other - 1`` seed by seed; ``None`` if they share no seed, or a lower bound is not above 0.

    The bounds are those that both figures allow.
    """
    seeds = sorted(one.low.keys() & other.low.keys())
    if not seeds or not all(one.low[seed] > 0 and other.low[seed] > 0 for seed in seeds):
        return None
    return Reading(
        {seed: one.low[seed] / other.high[seed] - 1 for seed in seeds},
        {seed: one.high[seed] / other.low[seed] - 1 for seed in seeds},
    )


def reading(runs: Mapping[int, Completions], statistic: str, quantity: str = "slowdown") -> Reading | None:
    """Compute a statistic of ``"slowdown"`` or ``"time"`` by seed; ``None`` without completions."""
    bounds = {}
    for seed, run in runs.items():
        values = run.slowdowns if quantity == "slowdown" else run.times_s
        known = ~np.isnan(values)
        found = figure(values[known], run.finished[known], statistic)
        if found is not None:
            bounds[seed] = found
    if not bounds:
        return None
    return Reading(
        {seed: bound.low for seed, bound in bounds.items()},
        {seed: bound.high for seed, bound in bounds.items()},
        sum(int(run.finished.sum()) for run in runs.values()),
        sum(len(run) for run in runs.values()),
        max(len(run) for run in runs.values()),
    )


def name_of(statistic: str, readings: Iterable[Reading | None]) -> str:
    """Return the name of a statistic in some readings; a high percentile that is the largest value of every run is one.

    By nearest rank that is p99 of fewer than 100 values, and p99.9 of fewer than 1,000.
    """
    part = STATISTICS[statistic]
    most = max((one.largest for one in readings if one is not None), default=0)
    is_maximum = part is not None and part > Fraction(1, 2) and most > 0 and rank(part, most) == most
    return MAXIMUM if is_maximum else NAMES[statistic]


def one_size(runs: Iterable[Sizes]) -> bool:
    """Return whether every run has flows of a single size; only then a completion time over all flows is meaningful."""
    return all(run.smallest == run.largest for run in runs)


USUAL = (1e4, 1e5, 1e6, 1e7)
"""Edges of the default bins, in bytes: from mice that fit a few packets to elephants."""


def usual_of(runs: Collection[Sizes]) -> Bins:
    """Return the default bins for the sizes of all runs: ``USUAL``, or decades if all sizes are in one of its bins."""
    if not runs:
        return Bins(())
    smallest, largest = min(run.smallest for run in runs), max(run.largest for run in runs)
    usual = Bins(USUAL)
    first, last = usual.of(np.array([smallest, largest]))
    return usual if first != last else Bins.decades(smallest, largest)


def curve(runs: Sequence[Completions]) -> tuple[Numbers, Numbers, Numbers]:
    """Return the CDF of slowdowns of several runs together: values, and the least and largest share up to each.

    The least share counts finished flows only, the largest also unfinished flows whose time so far allows it.
    """
    values = np.concatenate([run.slowdowns for run in runs]) if runs else np.array([])
    finished = np.concatenate([run.finished for run in runs]) if runs else np.array([], bool)
    known = ~np.isnan(values)
    values, finished = values[known], finished[known]
    order = np.argsort(values, kind="stable")
    total = max(1, len(values))
    return values[order], np.cumsum(finished[order]) / total, np.arange(1, len(values) + 1) / total
