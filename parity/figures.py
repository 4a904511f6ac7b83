"""Accessors of figures of a run, for the checks of all references."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from incast import Result
from parity.checks import Number, Series

DATA = Path(__file__).resolve().parent / "data"
SCENARIOS = Path(__file__).resolve().parent / "scenarios"


def summary(key: str, scale: float = 1.0) -> Number:
    """Take a figure of the summary by its dotted name, times a scale."""

    def figure(result: Result) -> float | None:
        value: Any = result.summary
        for part in key.split("."):
            value = value[part]
        return None if value is None else scale * float(value)

    return figure


def flow(number: int, column: str, scale: float = 1.0) -> Number:
    """Take a column of one flow."""
    return lambda result: _scaled(result.flows[column][number].as_py(), scale)


def flows_total(column: str, scale: float = 1.0) -> Number:
    """Take the sum of a column over all flows that have it."""
    return lambda result: scale * math.fsum(v for v in result.flows[column].to_pylist() if v is not None)


def port(name: str, column: str, scale: float = 1.0) -> Number:
    """Take a column of one port by its name, such as ``"edge7>h15"``."""

    def figure(result: Result) -> float | None:
        names = result.ports["port"].to_pylist()
        if name not in names:
            raise LookupError(f'no port "{name}"; there are {", ".join(names[:4])} ...')
        place = names.index(name)
        return _scaled(result.ports[column][place].as_py(), scale)

    return figure


def series(
    entity: str, name: str, scale: float = 1.0, *, origin_s: float = 0.0, before: float = math.nan
) -> Callable[[Result], Series]:
    """Take a time series; times count from ``origin_s``. Sampled at changes, a series has no row before the first."""

    def of(result: Result) -> Series:
        import pyarrow.compute as pc

        samples = result.samples
        own = samples.filter(pc.and_(pc.equal(samples["entity"], entity), pc.equal(samples["name"], name)))
        found = [
            (time - origin_s, scale * value)
            for time, value in zip(own["time_s"].to_pylist(), own["value"].to_pylist(), strict=True)
            if value is not None
        ]
        if not found:
            raise LookupError(f'no series "{name}" of "{entity}": is it in measure.series?')
        return Series([time for time, _ in found], [value for _, value in found], before)

    return of


def sampled_mean(entity: str, name: str, from_s: float, to_s: float, every_s: float) -> Number:
    """Take the mean of a series at equally spaced instants, the first at ``from_s``."""
    take = series(entity, name)

    def figure(result: Result) -> float | None:
        found = take(result)
        count = math.ceil((to_s - from_s) / every_s - 1e-9)
        values = [found.at(from_s + i * every_s) for i in range(count)]
        values = [value for value in values if not math.isnan(value)]
        return math.fsum(values) / len(values) if values else None

    return figure


def largest_mean(name: str, from_s: float, to_s: float) -> Number:
    """Take the largest mean, over entities, of equally spaced samples of a time interval."""

    def figure(result: Result) -> float | None:
        values: dict[str, list[float]] = {}
        samples = result.samples
        columns = (samples[column].to_pylist() for column in ("entity", "name", "time_s", "value"))
        for entity, named, time, value in zip(*columns, strict=True):
            if named == name and from_s <= time < to_s and value is not None:
                values.setdefault(entity, []).append(value)
        return max((math.fsum(of) / len(of) for of in values.values()), default=None)

    return figure


def samples_mean(name: str, from_s: float, to_s: float, scale: float = 1.0) -> Number:
    """Take the mean of a state variable over flows and equally spaced samples of a time interval."""

    def figure(result: Result) -> float | None:
        import pyarrow.compute as pc

        samples = result.samples
        inside = pc.and_(
            pc.equal(samples["name"], name),
            pc.and_(pc.greater_equal(samples["time_s"], from_s), pc.less(samples["time_s"], to_s)),
        )
        values = [value for value in samples["value"].filter(inside).to_pylist() if value is not None]
        return scale * math.fsum(values) / len(values) if values else None

    return figure


def table(path: str) -> Iterator[dict[str, str]]:
    """Read a CSV file of ``parity/data``; lines that begin with ``#`` tell its source."""
    with (DATA / path).open(encoding="utf-8", newline="") as file:
        yield from csv.DictReader(line for line in file if not line.startswith("#"))


def _scaled(value: float | None, scale: float) -> float | None:
    return None if value is None else scale * value
