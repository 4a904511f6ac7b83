"""Sensitivity analysis: the effect of each parameter of a study on figures, over its whole range.

Morris' elementary effects (Technometrics 1991) or Sobol's indices, both by SALib. The runs are in a store of studies,
and are reused.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from incast.batch.runner import Status
from incast.errors import StudyError, UnsoundError, needs
from incast.runs import soundness
from incast.study.axes import Value
from incast.study.definition import MOST_RUNS, Definition, Point
from incast.study.planning import make
from incast.system import files
from incast.system.output import counted, nearest
from incast.tuning import declaration
from incast.tuning.declaration import Target

try:
    import SALib.analyze.morris
    import SALib.analyze.sobol
    import SALib.sample.morris
    import SALib.sample.sobol
except ModuleNotFoundError as error:
    raise needs("tune", error) from None

METHODS = ("morris", "sobol")
_WORDS = ("method", "samples", "figures", "seeds", "seed", "arm", "scenario", "allow_idle")
RESULT = "sensitivity.json"
LEVELS = 4
WIDE = 0.5
"""Half width of a Sobol total index above which a note is printed."""


@dataclass(frozen=True)
class Analysis:
    """An analysis as declared by the table ``[sensitivity]`` of a study file."""

    target: Target
    method: str
    samples: int
    """Morris: trajectories; Sobol: points of the sequence, a power of two."""
    figures: tuple[str, ...]
    seeds: tuple[int, ...]
    seed: int
    allow_idle: bool

    @classmethod
    def of(cls, study: Definition, method: str | None = None, samples: int | None = None) -> Analysis:
        """Read the table of a study; default figures, arm and scenario are those of ``[tune]``."""
        table, tune = (study.others.get(name, {}) for name in ("sensitivity", "tune"))
        if not isinstance(table, Mapping) or not isinstance(tune, Mapping):
            raise StudyError(f"{study.name}: [sensitivity] and [tune]: expected tables")
        for word in table:
            if word not in _WORDS:
                raise StudyError(f"[sensitivity] {word}: unknown key{nearest(word, _WORDS)}")
        method = method or table.get("method", "morris")
        if method not in METHODS:
            raise StudyError(f"[sensitivity] method = {method!r}: expected morris or sobol")
        figures = table.get("figures")
        if figures is None:
            of_tune = [tune.get(word, []) for word in ("minimise", "maximise")]
            figures = [one for part in of_tune for one in ([part] if isinstance(part, str) else part)]
        if not figures:
            raise StudyError(
                '[sensitivity] figures is missing: expected figures = ["fct.slowdown_mean"], or a table [tune]'
            )
        given = table.get("samples", 10 if method == "morris" else 32) if samples is None else samples
        count = declaration.count("samples", given, "sensitivity")
        if method == "sobol" and count & (count - 1):
            raise StudyError(f"[sensitivity] samples = {count}: expected a power of two, for Sobol's sequence")
        if method == "morris" and count < 2:
            raise StudyError("[sensitivity] samples = 1: expected at least two trajectories")
        target = Target.of(
            study,
            "sensitivity",
            table.get("arm", tune.get("arm")),
            table.get("scenario", tune.get("scenario")),
        )
        if len(target.scenarios) > 1:
            raise StudyError(f"[sensitivity] scenario is missing: expected one of {', '.join(target.scenarios)}")
        on = declaration.seeds("seeds", table.get("seeds", tune.get("seeds", list(study.seeds))), 1, "sensitivity")
        # each of Morris's trajectories moves every parameter once; Saltelli's scheme has two sets, and mixtures of them
        points = count * (len(target.parameters) + (1 if method == "morris" else 2))
        if points * len(on) > MOST_RUNS:
            raise StudyError(
                f"[sensitivity] samples = {count}: {points:,} points of {counted(len(on), 'seed')} are "
                f"{points * len(on):,} runs; expected at most {MOST_RUNS:,}"
            )
        for parameter in target.parameters:
            if parameter.axis.range is None:
                raise StudyError(
                    f"axis {parameter.key}: sensitivity needs distances between values: expected a range, "
                    "such as { from = 1, to = 10 }"
                )
        return cls(
            target,
            method,
            count,
            declaration.names("figures", figures, "sensitivity"),
            on,
            declaration.whole("seed", table.get("seed", 0), "sensitivity"),
            declaration.flag(table, "allow_idle", False, "sensitivity"),
        )

    @property
    def problem(self) -> dict[str, Any]:
        """Return the problem for SALib: each parameter from 0 to 1, on the scale of its range."""
        names = [parameter.key for parameter in self.target.parameters]
        return {"num_vars": len(names), "names": names, "bounds": [[0.0, 1.0]] * len(names)}

    def sample(self) -> npt.NDArray[np.float64]:
        """Draw the points, one row each, with every parameter from 0 to 1."""
        if self.method == "morris":
            drawn = SALib.sample.morris.sample(self.problem, self.samples, num_levels=LEVELS, seed=self.seed)
        else:
            drawn = SALib.sample.sobol.sample(self.problem, self.samples, calc_second_order=False, seed=self.seed)
        return np.asarray(drawn, dtype=np.float64)


@dataclass(frozen=True)
class Index:
    """Effect of a parameter on a figure, with half widths of the 95 % intervals over the sample."""

    figure: str
    unit: str
    parameter: str
    main: float
    """Morris: mean absolute elementary effect, in the figure's unit; Sobol: total index."""
    main_half_width: float
    other: float
    """Morris: standard deviation of the effects, large if non-linear or interacting; Sobol: first-order index."""
    other_half_width: float | None
    mean: float | None
    """Morris: mean signed effect."""


@dataclass(frozen=True)
class Found:
    """Result of an analysis."""

    analysis: Analysis
    points: int
    runs: int
    indices: list[Index]

    @property
    def still(self) -> list[str]:
        """Figures that are the same at all points, which no parameter affects."""
        moved = {index.figure for index in self.indices if index.main or index.other}
        return [figure for figure in self.analysis.figures if figure not in moved]

    def notes(self) -> list[str]:
        """Return the caveats about the indices."""
        notes = [f"{figure} is the same at all points: no parameter has an effect on it" for figure in self.still]
        if self.analysis.method == "sobol":
            wide = max((index for index in self.indices), key=lambda index: index.main_half_width)
            if wide.main_half_width > WIDE:
                notes.append(
                    f"{self.analysis.samples} samples are few: the total index of {wide.parameter} for {wide.figure} "
                    f"is only known to ± {wide.main_half_width:.2g}; --samples {4 * self.analysis.samples} halves that"
                )
        return notes


def carry_out(analysis: Analysis, folder: Path, workers: int, show: Callable[[Status], None]) -> Found:
    """Run the sample, and analyse the means over the seeds."""
    target = analysis.target
    (scenario,) = target.scenarios
    known = target.evaluated({}, analysis.seeds[:1], None, 1)[scenario]
    for figure in analysis.figures:
        if figure not in known:
            raise StudyError(
                f"[sensitivity] no figure {figure} in the summary of {scenario}{nearest(figure, list(known))}"
            )
    target.refuse_idle(analysis.seeds[0], analysis.allow_idle)
    drawn = analysis.sample()
    asked, points = _points(analysis, drawn)
    store = make(folder / "store", target.study, points=points, seeds=analysis.seeds, workers=workers, show=show)
    with files.held(store.folder):
        means = _means(analysis, points, store.runs.to_pylist())
    values = np.array([means[place] for place in asked])
    indices = [
        index
        for column, figure in enumerate(analysis.figures)
        for index in _indices(analysis, drawn, values[:, column], figure, known.unit(figure))
    ]
    return Found(analysis, len(points), len(points) * len(analysis.seeds), indices)


def _points(analysis: Analysis, drawn: npt.NDArray[np.float64]) -> tuple[list[int], list[Point]]:
    """Return the distinct points of a sample, and the index of the point of each row."""
    target = analysis.target
    (scenario,) = target.scenarios
    places: dict[str, int] = {}
    asked: list[int] = []
    points: list[Point] = []
    for row in drawn:
        values = {one.key: one.axis.pick(float(part)) for one, part in zip(target.parameters, row, strict=True)}
        name = target.made(scenario, values).hash
        if name not in places:
            places[name] = len(points)
            points.append(Point(scenario, target.arm, values))
        asked.append(places[name])
    return asked, points


def _means(analysis: Analysis, points: list[Point], rows: list[dict[str, Any]]) -> list[list[float]]:
    """Return the mean of every figure over the seeds, one row per point."""
    keys = [parameter.key for parameter in analysis.target.parameters]
    by_point: dict[tuple[Any, ...], dict[int, dict[str, Any]]] = {}
    for row in rows:
        if row["study"] == analysis.target.study.name and row["arm"] == analysis.target.arm:
            by_point.setdefault(tuple(_plain(row[key]) for key in keys), {})[row["seed"]] = row
    found = []
    for point in points:
        runs = by_point[tuple(_plain(point.values[key]) for key in keys)]
        means = []
        for seed in analysis.seeds:
            if wrong := soundness.unsound_figures(runs[seed]):
                raise UnsoundError(f"the run {point}, seed {seed}: {wrong}")
        for figure in analysis.figures:
            values: list[float] = []
            for seed in analysis.seeds:
                value = runs[seed].get(figure)
                if value is None:
                    raise StudyError(
                        f"the run {point}, seed {seed}, has no {figure}: sensitivity needs it in every run"
                    )
                values.append(value)
            means.append(math.fsum(values) / len(values))
        found.append(means)
    return found


def _plain(value: Value | None) -> Any:
    """Return a value so that 1 and 1.0 are equal."""
    return float(value) if isinstance(value, (int, float)) else value


def _indices(
    analysis: Analysis, drawn: npt.NDArray[np.float64], values: npt.NDArray[np.float64], figure: str, unit: str
) -> list[Index]:
    names = [parameter.key for parameter in analysis.target.parameters]
    morris = analysis.method == "morris"
    if np.ptp(values) == 0:
        more = (None, 0.0) if morris else (0.0, None)
        return [Index(figure, unit if morris else "1", name, 0.0, 0.0, 0.0, *more) for name in names]
    if morris:
        indices = SALib.analyze.morris.analyze(analysis.problem, drawn, values, num_levels=LEVELS, seed=analysis.seed)
        rows = zip(names, indices["mu_star"], indices["mu_star_conf"], indices["sigma"], indices["mu"], strict=True)
        found = [Index(figure, unit, n, float(m), float(c), float(s), None, float(mu)) for n, m, c, s, mu in rows]
    else:
        indices = SALib.analyze.sobol.analyze(analysis.problem, values, calc_second_order=False, seed=analysis.seed)
        rows = zip(names, indices["ST"], indices["ST_conf"], indices["S1"], indices["S1_conf"], strict=True)
        found = [Index(figure, "1", n, float(t), float(tc), float(s), float(sc), None) for n, t, tc, s, sc in rows]
    return sorted(found, key=lambda index: -index.main)


def columns(method: str) -> list[str]:
    """Return the column names of an index, in the order of ``Index``."""
    if method == "morris":
        return ["mean absolute effect (mu*)", "standard deviation (sigma)", "mean effect (mu)"]
    return ["total index (ST)", "first-order index (S1)"]


def write(
    found: Found,
    folder: Path,
    formats: Sequence[str] = ("png",),
    page: Callable[[Mapping[str, str]], Mapping[str, str]] = lambda _: {},
) -> None:
    """Write the picture ``sensitivity``, ``sensitivity.csv`` and ``sensitivity.json``.

    ``page`` makes further files from the picture as PNG.
    """
    from incast.pictures import gallery, inline, titles
    from incast.tuning import pictures

    analysis = found.analysis
    units = {index.figure: index.unit for index in found.indices}
    scales = {
        figure: pictures.Scale(unit, [i.main for i in found.indices if i.figure == figure])
        for figure, unit in units.items()
    }
    shown: dict[str, dict[str, float]] = {}
    widths: dict[str, dict[str, float]] = {}
    for index in found.indices:
        if index.figure in found.still:
            continue
        scale = scales[index.figure]
        name = scale.label(titles.figure(index.figure))
        shown.setdefault(name, {})[titles.parameter(index.parameter)] = index.main * scale.factor
        widths.setdefault(name, {})[titles.parameter(index.parameter)] = index.main_half_width * scale.factor
    title = {"morris": "Elementary effects over the whole range (Morris)", "sobol": "Sobol's total indices"}[
        analysis.method
    ]
    drawn = {"sensitivity": pictures.bars(shown, title, columns(analysis.method)[0], widths)} if shown else {}
    made = io.StringIO()
    table = csv.writer(made, lineterminator="\n")
    words = ["main", "main_half_width", "other", "other_half_width", "mean"]
    table.writerow(["figure", "unit", "parameter", *words])
    for index in found.indices:
        table.writerow([index.figure, index.unit, index.parameter, *(getattr(index, word) for word in words)])
    rendered = gallery.draw(drawn, formats)
    files = {"sensitivity.csv": made.getvalue(), **page(inline.elements(drawn, gallery.pngs(rendered)))}
    files[RESULT] = json.dumps(data(found), indent=2) + "\n"
    gallery.write(folder, rendered, formats, files, drawn.__contains__)


def data(found: Found) -> dict[str, Any]:
    """Return the result as data for JSON."""
    analysis = found.analysis
    names = {"morris": ("mu_star", "sigma"), "sobol": ("total", "first_order")}[analysis.method]
    rows = []
    for index in found.indices:
        row: dict[str, Any] = {"figure": index.figure, "unit": index.unit, "parameter": index.parameter}
        row |= {names[0]: index.main, f"{names[0]}_half_width": index.main_half_width, names[1]: index.other}
        row |= {"mu": index.mean} if analysis.method == "morris" else {f"{names[1]}_half_width": index.other_half_width}
        rows.append(row)
    return {
        "study": analysis.target.study.name,
        "method": analysis.method,
        "samples": analysis.samples,
        "points": found.points,
        "runs": found.runs,
        "seeds": list(analysis.seeds),
        "indices": rows,
        "notes": found.notes(),
    }
