"""A paper's runs, the numbers read off them, and whether its claims hold of the numbers."""

from __future__ import annotations

import ast
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from incast.batch import Job, Status, alone_in, finished, run_all, slug
from incast.errors import FolderError, PaperError, ScenarioError
from incast.papers import expression
from incast.papers.definition import Figure, Measure, Paper, Plot, Point, Series, X, nearest
from incast.papers.expression import ExpressionError
from incast.papers.judging import Finding, judge
from incast.result import Result, write_whole
from incast.scenario import Scenario
from incast.statistics import Estimate, estimate, nearest_rank

MARK = "paper.json"
"""File that says of a folder whose results it holds."""

SPAN_COLUMN = {"writes": "finish_s", "queries": "finish_s", "samples": "time_s"}
"""Column that decides whether a row lies in the span of a point."""


@dataclass(frozen=True)
class Missing:
    """A figure that lacks runs."""

    figure: Figure
    lacking: int
    """Runs that are not there, or were made by another build of the engine."""
    runs: int


@dataclass
class Evaluated:
    """A figure whose runs are all there."""

    paper: Paper
    figure: Figure
    folders: Mapping[tuple[str, X, int], Path]
    """Run folders by series, x and seed."""
    values: Mapping[str, Mapping[tuple[str, X, int], float]]
    """Measured numbers by measure, then by series, x and seed; those that do not exist are left out."""
    costs: Mapping[Path, tuple[int, float]]
    """Hops and CPU seconds by run folder: figures share runs."""
    unfinished: Mapping[tuple[str, X], tuple[int, int]]
    """Flows of a size that did not finish, and all of them, where not all did, by series and x: over all seeds."""
    findings: Sequence[Finding] = field(default_factory=list)

    @property
    def hops(self) -> int:
        """Hops of the figure's runs."""
        return sum(hops for hops, _ in self.costs.values())

    def number(self, measure: str, series: str, x: X, seed: int | None) -> float | None:
        """Return what was measured in a seed, or the mean over all."""
        if seed is not None:
            return self.values[measure].get((series, x, seed))
        found = self.estimate(measure, series, x)
        return None if found is None else found.mean

    def estimate(self, measure: str, series: str, x: X) -> Estimate | None:
        """Mean and interval of a measure over the seeds; a number that was worked out has no interval."""
        there = self.values[measure]
        if any(one.values for one in self.figure.series if one.name == series):
            return estimate([there[series, x, 1]] if (series, x, 1) in there else [])
        seeds = range(1, self.figure.seeds + 1)
        return estimate([there[series, x, seed] for seed in seeds if (series, x, seed) in there])


def _cases(figure: Figure) -> list[tuple[Series, Point, int]]:
    return [
        (series, point, seed)
        for series in figure.series
        if not series.values
        for point in figure.points
        for seed in range(1, figure.seeds + 1)
    ]


def _jobs(paper: Paper, figure: Figure, folder: Path) -> dict[tuple[str, X, int], Job]:
    """Make the runs of a figure; points that set the same share theirs, within a figure and across figures."""
    jobs = {}
    for series, point, seed in _cases(figure):
        where = f"{paper.name}/{figure.name}, {series.name}, {point.x}, seed {seed}"
        try:
            scenario = paper.scenario(figure, series, point).with_seed(seed)
            scenario.validate()
        except ScenarioError as error:
            error.add_note(f"in the run {where}, of {paper.path}")
            raise
        place = (
            folder / "runs" / slug(Path(point.scenario or figure.scenario).stem) / f"{scenario.hash[:12]}-seed{seed}"
        )
        jobs[series.name, point.x, seed] = Job(where, scenario, place, _weight(scenario))
    return jobs


def _weight(scenario: Scenario) -> float:
    traffic = scenario.resolved().get("traffic", [])
    return float(sum(entry.get("flows", 1) for entry in traffic))


def prepare(paper: Paper, scale: str, folder: Path) -> None:
    """Make the folder of a paper's results, or find the paper's results there."""
    mark = {"paper": paper.name, "scale": scale}
    path = folder / MARK
    if path.exists():
        try:
            there = json.loads(path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise FolderError(f"{path} is damaged: {error}; give another --out, or remove {folder} first") from None
        except OSError as error:
            raise FolderError(f"cannot read {path}: {error.strerror}") from None
        if there != mark:
            raise FolderError(f"{folder} holds results of another paper or scale: give another --out")
        return
    if folder.exists() and any(folder.iterdir()):
        raise FolderError(f"{folder} is not empty and holds no results of a paper: give another --out")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(path, json.dumps(mark) + "\n")
    except OSError as error:
        raise FolderError(f"cannot write results to {folder}: {error.strerror}") from None


def carry_out(
    paper: Paper,
    figures: Sequence[Figure],
    scale: str,
    folder: Path,
    workers: int,
    show: Callable[[Status], None] = lambda _: None,
) -> None:
    """Make the runs of some figures that are not there yet; every scenario is checked before the first."""
    jobs: dict[Path, Job] = {}
    reading: dict[Path, list[tuple[Figure, Point]]] = {}
    for figure in (one.at(scale) for one in figures):
        _work_out(paper, figure)
        _try_curves(paper, figure)
        points = {point.x: point for point in figure.points}
        for (_, x, _), job in _jobs(paper, figure, folder).items():
            jobs[job.folder] = job
            reading.setdefault(job.folder, []).append((figure, points[x]))

    read: set[tuple[str, str | None]] = set()
    """Figures and scenarios of points of which a run was read; what another one lacks is found at the end."""

    def readable(readers: Sequence[tuple[Figure, Point]], result: Result) -> None:
        """Find out at a run's end that a measure asks for what runs do not have, not at the end of all."""
        run = _Run(result)
        for figure, point in readers:
            if (figure.name, point.scenario) in read:
                continue
            for measure in figure.measures.values():
                run.number(measure, point.span_s)
            for plot in figure.plots:
                run.find_columns(plot)
            read.add((figure.name, point.scenario))

    checked = [replace(job, check=partial(readable, reading[place])) for place, job in jobs.items()]
    prepare(paper, scale, folder)
    with alone_in(folder):
        status = Status(total=len(checked))
        run_all(checked, workers, status, show)
        show(status)


def evaluate(paper: Paper, figure: Figure, scale: str, folder: Path) -> Evaluated | Missing:
    """Read a figure's numbers off its runs and judge its claims."""
    figure = figure.at(scale)
    jobs = _jobs(paper, figure, folder)
    places = {job.folder: job for job in jobs.values()}
    lacking = sum(not finished(place, job.scenario) for place, job in places.items())
    if lacking:
        return Missing(figure, lacking, len(places))
    points = {point.x: point for point in figure.points}
    runs = {place: _load(paper, place) for place in places}
    values: dict[str, dict[tuple[str, X, int], float]] = {name: {} for name in figure.measures}
    for key, job in jobs.items():
        for name, measure in figure.measures.items():
            found = runs[job.folder].number(measure, points[key[1]].span_s)
            if found is not None:
                values[name][key] = found * measure.scale
    for (series, x, name), number in _work_out(paper, figure).items():
        values[name].update({(series, x, seed): number for seed in range(1, figure.seeds + 1)})
    done = Evaluated(
        paper,
        figure,
        {key: job.folder for key, job in jobs.items()},
        values,
        {place: (int(run.summary["run"]["hops"]), float(run.manifest["cost"]["cpu_s"])) for place, run in runs.items()},
        _unfinished(jobs, runs),
    )
    done.findings = [judge(figure, claim, done.number) for claim in figure.claims]
    return done


def _unfinished(
    jobs: Mapping[tuple[str, X, int], Job], runs: Mapping[Path, _Run]
) -> dict[tuple[str, X], tuple[int, int]]:
    counts: dict[tuple[str, X], tuple[int, int]] = {}
    for (series, x, _), job in jobs.items():
        flows = runs[job.folder].summary["fct"]
        late, all_ = counts.get((series, x), (0, 0))
        counts[series, x] = (late + flows["count"] - flows["finished"], all_ + flows["count"])
    return {place: (late, all_) for place, (late, all_) in counts.items() if late}


def _work_out(paper: Paper, figure: Figure) -> dict[tuple[str, X, str], float]:
    """Work the series out that have no runs: numbers by series, x and measure."""
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


def _try_curves(paper: Paper, figure: Figure) -> None:
    for plot in figure.plots:
        for label, of in plot.curves:
            for point in figure.points:
                try:
                    expression.number(of, {"x": point.x})
                except ExpressionError as error:
                    raise PaperError(f'{paper.path}: {figure.name}, curve "{label}" at {point.x}: {error}') from None


def _load(paper: Paper, folder: Path) -> _Run:
    try:
        return _Run(Result.load(folder, whole=True))
    except FolderError as error:
        error.add_note(f"incast paper run {paper.called()} makes it anew")
        raise


class _Run:
    """A run whose parts are read as they are asked for, once."""

    def __init__(self, result: Result) -> None:
        self.result = result
        self.summary: dict[str, Any] = result.summary
        self.manifest: dict[str, Any] = result.manifest
        self.tables: dict[str, pa.Table] = {}

    def number(self, measure: Measure, span_s: tuple[float, float] | None) -> float | None:
        if measure.of is not None:
            return self._summary(measure, measure.of)
        if measure.table is None:
            return None
        return reduced(self._table(measure.table), measure, span_s)

    def find_columns(self, plot: Plot) -> None:
        """Refuse the picture of a distribution whose columns the table has not, or not of numbers."""
        if plot.kind not in ("cdf", "ccdf"):
            return
        table = self._table(plot.table)
        if table.num_columns > 0:
            _find_columns(table, plot.table, plot.place, plot.where)
            _find_columns(table, plot.table, plot.place, [plot.column])
            _expect_numbers(table, plot.table, plot.place, column=plot.column)

    def _table(self, name: str) -> pa.Table:
        if name not in self.tables:
            self.tables[name] = getattr(self.result, name)
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
    """Refuse columns of texts; the keys of ``columns`` are those that name them."""
    for key, name in columns.items():
        if not _of_numbers(table[name].type):
            known = [column.name for column in table.schema if _of_numbers(column.type)]
            raise PaperError(
                f'{place}.{key} = "{name}": expected a column of numbers of table {called}, one of {", ".join(known)}'
            )


def _of_numbers(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind))


def reduced(table: pa.Table, measure: Measure, span_s: tuple[float, float] | None) -> float | None:
    """Put rows of a table together to one number; ``None`` where there are none."""
    column = measure.column or ""
    needed = [column, *([measure.over] if measure.over else []), *measure.where, *([measure.by] if measure.by else [])]
    if table.num_columns == 0:
        return None
    _find_columns(table, measure.table or "", measure.place, needed)
    counted = measure.reduce == "count" and not measure.over and not measure.by
    if not counted:
        _expect_numbers(table, measure.table or "", measure.place, column=column)
    if measure.over:
        _expect_numbers(table, measure.table or "", measure.place, over=measure.over)
    table = rows(table, measure.where)
    if span_s is not None and (within := SPAN_COLUMN.get(measure.table or "")) is not None:
        table = table.filter(pc.and_(pc.greater_equal(table[within], span_s[0]), pc.less(table[within], span_s[1])))
    if measure.over:
        parts = pc.divide(table[column].cast(pa.float64()), table[measure.over].cast(pa.float64()))
        table = table.set_column(table.column_names.index(column), column, parts)
    if measure.by:
        table = table.group_by(measure.by).aggregate([(column, "sum")])
        column = f"{column}_sum"
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
    return float(nearest_rank(sorted(numbers), {"median": 50, "p1": 1, "p99": 99}[measure.reduce]))


def rows(table: pa.Table, where: Mapping[str, str]) -> pa.Table:
    """Keep the rows whose columns have these values."""
    for column, wanted in where.items():
        table = table.filter(pc.equal(table[column].cast(pa.string()), wanted))
    return table
