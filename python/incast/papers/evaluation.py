"""A paper's runs, the numbers read off them, and whether its claims hold of the numbers."""

from __future__ import annotations

import ast
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from incast.batch import Job, Status, alone_in, finished, run_all, slug
from incast.errors import FolderError, PaperError, ScenarioError
from incast.papers import expression
from incast.papers.definition import Figure, Measure, Paper, Point, Series, X
from incast.papers.expression import ExpressionError
from incast.papers.judging import Finding, judge
from incast.result import Result, read_table, write_whole
from incast.scenario import Scenario
from incast.statistics import Estimate, estimate

MARK = "paper.json"
"""File that says of a folder whose results it holds."""

SPAN_COLUMN = {"writes": "finish_s", "queries": "finish_s", "samples": "time_s"}
"""Column that decides whether a row lies in the span of a point."""


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
            error.add_note(f"in the run {where}")
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
        if json.loads(path.read_text(encoding="utf-8")) != mark:
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
    jobs = {job.folder: job for figure in figures for job in _jobs(paper, figure.at(scale), folder).values()}
    prepare(paper, scale, folder)
    with alone_in(folder):
        status = Status(total=len(jobs))
        run_all(jobs.values(), workers, status, show)
        show(status)


def evaluate(paper: Paper, figure: Figure, scale: str, folder: Path) -> Evaluated | None:
    """Read a figure's numbers off its runs and judge its claims; ``None`` where a run is missing."""
    figure = figure.at(scale)
    jobs = _jobs(paper, figure, folder)
    if not all(finished(job.folder, job.scenario) for job in jobs.values()):
        return None
    points = {point.x: point for point in figure.points}
    runs = {place: _Run(place) for place in {job.folder for job in jobs.values()}}
    values: dict[str, dict[tuple[str, X, int], float]] = {name: {} for name in figure.measures}
    for key, job in jobs.items():
        for name, measure in figure.measures.items():
            found = runs[job.folder].number(measure, points[key[1]].span_s)
            if found is not None:
                values[name][key] = found * measure.scale
    for series in figure.series:
        for name, of in series.values.items():
            for point in figure.points:
                number = _worked_out(figure, series, point, name, of)
                values[name].update({(series.name, point.x, seed): number for seed in range(1, figure.seeds + 1)})
    done = Evaluated(
        paper,
        figure,
        {key: job.folder for key, job in jobs.items()},
        values,
        {place: (int(run.summary["run"]["hops"]), float(run.manifest["cost"]["cpu_s"])) for place, run in runs.items()},
    )
    done.findings = [judge(figure, claim, done.number) for claim in figure.claims]
    return done


def _worked_out(figure: Figure, series: Series, point: Point, measure: str, of: ast.expr) -> float:
    try:
        return float(expression.evaluate(of, {}, {"x": point.x}))
    except (ExpressionError, TypeError) as error:
        raise PaperError(f"{figure.name}, {series.name} at {point.x}, {measure}: {error}") from None


class _Run:
    """A run folder whose parts are read as they are asked for, once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        loaded = Result.load(folder)
        self.summary: dict[str, Any] = loaded.summary
        self.manifest: dict[str, Any] = loaded.manifest
        self.tables: dict[str, pa.Table] = {}

    def number(self, measure: Measure, span_s: tuple[float, float] | None) -> float | None:
        if measure.of is not None:
            return self._summary(measure, measure.of)
        if measure.table is None:
            return None
        if measure.table not in self.tables:
            self.tables[measure.table] = read_table(self.folder, measure.table)
        return reduced(self.tables[measure.table], measure, span_s)

    def _summary(self, measure: Measure, key: str) -> float | None:
        value: Any = self.summary
        for part in key.split("."):
            if not isinstance(value, dict) or part not in value:
                raise PaperError(f"measure {measure.name}: a run's summary has no {key}")
            value = value[part]
        return None if value is None else float(value)


def reduced(table: pa.Table, measure: Measure, span_s: tuple[float, float] | None) -> float | None:
    """Put rows of a table together to one number; ``None`` where there are none."""
    column = measure.column or ""
    needed = [column, *([measure.over] if measure.over else []), *measure.where, *([measure.by] if measure.by else [])]
    if table.num_columns == 0:
        return None
    for name in needed:
        if name not in table.column_names:
            raise PaperError(
                f'measure {measure.name}: table {measure.table} has no column "{name}", only '
                f"{', '.join(table.column_names)}"
            )
    table = rows(table, measure.where)
    if span_s is not None and (within := SPAN_COLUMN.get(measure.table or "")) is not None:
        table = table.filter(pc.and_(pc.greater_equal(table[within], span_s[0]), pc.less(table[within], span_s[1])))
    if measure.over:
        parts = pc.divide(table[column].cast(pa.float64()), table[measure.over].cast(pa.float64()))
        table = table.set_column(table.column_names.index(column), column, parts)
    if measure.by:
        table = table.group_by(measure.by).aggregate([(column, "sum")])
        column = f"{column}_sum"
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
    part = {"median": 50.0, "p1": 1.0, "p99": 99.0}[measure.reduce]
    # Nearest rank, as everywhere.
    return float(np.percentile(numbers, part, method="inverted_cdf"))


def rows(table: pa.Table, where: Mapping[str, str]) -> pa.Table:
    """Keep the rows whose columns have these values."""
    for column, wanted in where.items():
        table = table.filter(pc.equal(table[column].cast(pa.string()), wanted))
    return table
