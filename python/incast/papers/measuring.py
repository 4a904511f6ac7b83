"""Numbers of measures: read from a run's summary and tables, or computed for series without runs."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import reduce
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from incast.errors import PaperError
from incast.papers import expression, signals
from incast.papers.definition import PERCENTILES, Figure, Measure, Paper, Plot, Point, Series, X
from incast.papers.expression import ExpressionError
from incast.papers.signals import Numbers
from incast.runs.result import Result
from incast.statistics import nearest_rank
from incast.system.output import nearest

SPAN_COLUMN = {"writes": "finish_s", "queries": "finish_s", "samples": "time_s"}
"""Column that decides whether a row is in the span of a point."""


def work_out(paper: Paper, figure: Figure) -> dict[tuple[str, X, str], float]:
    """Compute the series without runs: numbers by series, x and measure."""
    found = {}
    for series in figure.series:
        for point in figure.points:
            for measure, of in series.values.items():
                found[series.name, point.x, measure] = _worked_out(paper, figure, series, point, measure, of)
    return found


def _worked_out(paper: Paper, figure: Figure, series: Series, point: Point, measure: str, of: ast.expr) -> float:
    try:
        return expression.number(of, {"x": point.x})
    except ExpressionError as error:
        raise PaperError(f"{paper.path}: {figure.name}, {series.name} at {point.x}, {measure}: {error}") from None


def try_curves(paper: Paper, figure: Figure) -> None:
    """Refuse curves without a value at a point, or over time at its beginning."""
    for plot in figure.plots:
        places: list[X] = [0.0] if plot.kind == "samples" else [point.x for point in figure.points]
        for label, of in plot.curves:
            for x in places:
                try:
                    expression.number(of, {"x": x})
                except ExpressionError as error:
                    raise PaperError(f'{paper.path}: {figure.name}, curve "{label}" at {x}: {error}') from None


class Run:
    """A run whose parts are read on demand, once."""

    def __init__(self, result: Result) -> None:
        self.result = result
        self.summary: dict[str, Any] = result.summary
        self.manifest: dict[str, Any] = result.manifest
        self.tables: dict[str, pa.Table] = {}

    def number(self, measure: Measure, point: Point) -> float | None:
        """Read a measure at a point; ``None`` if it does not exist, or is computed."""
        if measure.of is not None:
            return self._summary(measure, measure.of)
        if measure.table is None:
            return None
        narrowed = replace(measure, where={**measure.where, **point.where})
        return reduced(self._table(measure.table), narrowed, point.span_s)

    def find_columns(self, plot: Plot) -> None:
        """Refuse a picture with missing or non-numeric columns."""
        if plot.kind not in ("cdf", "ccdf", "samples", "spectrum", "rows"):
            return
        table = self._table(plot.table)
        if table.num_columns > 0:
            _find_columns(table, plot.table, plot.place, plot.where)
            _expect_comparable(table, plot.table, plot.place, plot.where)
            _find_columns(table, plot.table, plot.place, [plot.column])
            _expect_numbers(table, plot.table, plot.place, column=plot.column)
            if plot.x_column:
                _find_columns(table, plot.table, plot.place, [plot.x_column])
                _expect_numbers(table, plot.table, plot.place, x_column=plot.x_column)

    def _table(self, name: str) -> pa.Table:
        if name not in self.tables:
            self.tables[name] = getattr(self.result, name).arrow
        return self.tables[name]

    def _summary(self, measure: Measure, key: str) -> float | None:
        value: Any = self.summary
        for i, part in enumerate(key.split(".")):
            if not isinstance(value, dict) or part not in value:
                known = sorted(value) if isinstance(value, dict) else []
                at = ".".join(key.split(".")[:i])
                raise PaperError(
                    f'{measure.place}.of = "{key}": a run\'s summary has no {key}{nearest(part, known)}; '
                    f"expected one of {', '.join(known) or 'its numbers'}{f' in {at}' if at else ''}"
                )
            value = value[part]
        if isinstance(value, (dict, str)):
            raise PaperError(f'{measure.place}.of = "{key}": expected the key of a number')
        return None if value is None else float(value)


def _find_columns(table: pa.Table, called: str, place: str, needed: Iterable[str]) -> None:
    for name in needed:
        if name not in table.column_names:
            raise PaperError(
                f'{place}: table {called} has no column "{name}"{nearest(name, table.column_names)}; '
                f"expected one of {', '.join(table.column_names)}"
            )


def _expect_numbers(table: pa.Table, called: str, place: str, **columns: str) -> None:
    """Refuse text columns; the keys of ``columns`` are the keys of the file that name them."""
    for key, name in columns.items():
        if not _of_numbers(table[name].type):
            known = [column.name for column in table.schema if _of_numbers(column.type)]
            raise PaperError(
                f'{place}.{key} = "{name}": expected a column of numbers of table {called}, one of {", ".join(known)}'
            )


def _expect_comparable(table: pa.Table, called: str, place: str, where: Mapping[str, str]) -> None:
    """Refuse comparisons of text columns."""
    for column in (column for column, wanted in where.items() if comparisons(wanted)):
        _expect_numbers(table, called, place, **{f"where.{column}": column})


def _of_numbers(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind))


_COMPARED: Mapping[str, Callable[[pa.ChunkedArray, float], pa.ChunkedArray]] = {
    "<=": pc.less_equal,
    ">=": pc.greater_equal,
    "!=": pc.not_equal,
    "<": pc.less,
    ">": pc.greater,
}


def comparisons(wanted: str) -> list[tuple[str, float]]:
    """Read ``"> 0"``, or ``"> 0 and <= 10"``, as signs and numbers; empty if the text does not begin with a sign.

    Raises ``ValueError`` for a wrong sign or number.
    """
    if _sign(wanted) is None:
        return []
    found = []
    for part in wanted.split(" and "):
        sign = _sign(part.strip())
        if sign is None:
            raise ValueError(part)
        found.append((sign, float(part.strip().removeprefix(sign))))
    return found


def _sign(text: str) -> str | None:
    return next((sign for sign in _COMPARED if text.startswith(sign)), None)


def reduced(table: pa.Table, measure: Measure, span_s: tuple[float, float] | None) -> float | None:
    """Reduce rows of a table to one number; ``None`` without rows."""
    column = measure.column or ""
    others = {"over": measure.over, "less": measure.less}
    beside = {key: name for key, name in others.items() if name}
    needed = [column, *beside.values(), *measure.where, *([measure.by] if measure.by else [])]
    if table.num_columns == 0:
        return None
    _find_columns(table, measure.table or "", measure.place, needed)
    _expect_comparable(table, measure.table or "", measure.place, measure.where)
    counted = measure.reduce == "count" and not beside and not measure.by
    if not counted:
        _expect_numbers(table, measure.table or "", measure.place, column=column)
    _expect_numbers(table, measure.table or "", measure.place, **beside)
    table = within(rows(table, measure.where), measure.table or "", span_s)
    for key, name in beside.items():
        change = pc.divide if key == "over" else pc.subtract
        parts = change(table[column].cast(pa.float64()), table[name].cast(pa.float64()))
        table = table.set_column(table.column_names.index(column), column, parts)
    if measure.by:
        table = table.group_by(measure.by).aggregate([(column, "sum")])
        column = f"{column}_sum"
    if measure.reduce in signals.REDUCTIONS:
        if measure.by:
            table = table.sort_by(measure.by)
        return signals.REDUCTIONS[measure.reduce](signals.even(*one) for one in series_in(table, column))
    if counted and not _of_numbers(table[column].type):
        return float(len(table) - table[column].null_count)
    numbers = table[column].drop_null().to_numpy().astype(float)
    numbers = numbers[np.isfinite(numbers)]
    if measure.reduce == "count":
        return float(len(numbers))
    if len(numbers) == 0:
        return None
    match measure.reduce:
        case "jain":
            squares = float(np.sum(numbers**2))
            return float(np.sum(numbers)) ** 2 / (len(numbers) * squares) if squares > 0 else None
        case "sum":
            return math.fsum(numbers)
        case "mean":
            return math.fsum(numbers) / len(numbers)
        case "min":
            return float(numbers.min())
        case "max":
            return float(numbers.max())
    return float(nearest_rank(sorted(numbers), PERCENTILES[measure.reduce]))


def within(table: pa.Table, called: str, span_s: tuple[float, float] | None) -> pa.Table:
    """Keep the rows of a table in the span of a point; all without a span, or if the table has no times."""
    column = SPAN_COLUMN.get(called)
    if span_s is None or column is None:
        return table
    return table.filter(pc.and_(pc.greater_equal(table[column], span_s[0]), pc.less(table[column], span_s[1])))


def series_in(table: pa.Table, column: str = "value") -> Iterator[tuple[Numbers, Numbers]]:
    """Split the rows of ``samples`` into series by entity and name, if any: times in s, and values.

    Rows of a series must be in order of time.
    """
    parts = [table]
    for key in ("entity", "name"):
        if key in table.column_names:
            parts = [
                part.filter(pc.equal(part[key].cast(pa.string()), value))
                for part in parts
                for value in part[key].cast(pa.string()).unique().to_pylist()
            ]
    for part in parts:
        times, values = (part[name].cast(pa.float64()).to_numpy() for name in ("time_s", column))
        yield times, values


def rows(table: pa.Table, where: Mapping[str, str]) -> pa.Table:
    """Keep the rows whose columns match these values, comparisons and patterns; null matches none."""
    for column, wanted in where.items():
        values = table[column]
        if compared := comparisons(wanted):
            numbers = values.cast(pa.float64())
            kept = [_COMPARED[sign](numbers, bound) for sign, bound in compared]
            table = table.filter(reduce(pc.and_, kept))
        else:
            fits = _fits(values.cast(pa.string()), wanted.removeprefix(NOT))
            table = table.filter(pc.invert(fits) if wanted.startswith(NOT) else fits)
    return table


NOT = "not "
"""Prefix of a value or pattern that excludes matching rows."""


def _fits(texts: pa.ChunkedArray, wanted: str) -> pa.ChunkedArray:
    """Match texts with a value, or a pattern with ``*``."""
    if "*" not in wanted:
        return pc.equal(texts, wanted)
    pattern = ".*".join(re.escape(part) for part in wanted.split("*"))
    return pc.match_substring_regex(texts, f"^{pattern}$")
