"""A model over ranges of its parameters: tables, files, and pictures with measured points."""

from __future__ import annotations

import csv
import io
import itertools
import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from incast.errors import FolderError, ModelError
from incast.models import closed_form
from incast.system import files
from incast.system.folders import is_stream, write_named

TABLES = (".csv", ".json")
PICTURES = (".svg", ".png", ".pdf")
MOST_POINTS = 1_000_000

# Units that tables and pictures show instead of the SI unit.
_SHOWN = {"bit/s": ("Gb/s", 1e-9), "s": ("µs", 1e6)}


@dataclass(frozen=True)
class Grid:
    """A model evaluated for every combination of given values."""

    model: closed_form.Model
    varied: tuple[str, ...]
    """Parameters with more than one value."""
    values: Mapping[str, Any]
    """Given parameters, each an array over all points."""
    figures: Mapping[str, Any]

    @property
    def points(self) -> int:
        """Number of points."""
        return int(np.size(next(iter(self.figures.values()))))

    def columns(self) -> dict[str, list[float]]:
        """Given parameters and figures, in SI units."""
        both = {**self.values, **self.figures}
        return {name: [float(x) for x in np.ravel(column)] for name, column in both.items()}


def parse(words: Sequence[str], of: closed_form.Model) -> dict[str, str]:
    """Read ``--q 0.01 --short-rtt=14us``."""
    found: dict[str, str] = {}
    rest = list(words)
    while rest:
        word = rest.pop(0)
        name, equals, value = word.removeprefix("--").partition("=")
        if not word.startswith("--"):
            raise ModelError(
                f"{word}: expected a parameter of {of.name}, such as --{closed_form.option(of.parameters[0].name)}"
            )
        key = of.parameter(name.replace("-", "_")).name
        if not equals:
            if not rest or rest[0].startswith("--"):
                raise ModelError(f"{word}: expected a value, such as {word} {example(of.parameter(key))}")
            value = rest.pop(0)
        if key in found:
            raise ModelError(f"{word} is given twice: give it once, with all values (1,2,3 or 1:3:lin3)")
        found[key] = value
    return found


def example(parameter: closed_form.Parameter) -> str:
    """Return an example value of a parameter."""
    return parameter.default_text or "0.01"


def values_of(parameter: closed_form.Parameter, text: str) -> list[float]:
    """Read one value, some (``1,2,3``), or a range: ``0.001:0.1:log20``, ``10us:30us:lin5``."""
    if ":" not in text:
        return [parameter.read(part) for part in text.split(",")]
    match = re.fullmatch(r"([^:]+):([^:]+):(log|lin)([0-9]+)", text)
    expected = f"expected FROM:TO:logN or FROM:TO:linN with N from 2 to {MOST_POINTS:,d}, such as 0.001:0.1:log20"
    if match is None or not 2 <= int(match[4]) <= MOST_POINTS:
        raise ModelError(f'{parameter.name} = "{text}": {expected}')
    ends = parameter.read(match[1]), parameter.read(match[2])
    if match[3] == "log":
        if min(ends) <= 0:
            raise ModelError(f'{parameter.name} = "{text}": expected ends above 0 for a logarithmic range')
        made = np.geomspace(*ends, int(match[4]))
    else:
        made = np.linspace(*ends, int(match[4]))
    return [float(x) for x in made]


def work_out(of: closed_form.Model, given: Mapping[str, str]) -> Grid:
    """Evaluate a model for every combination of the given values."""
    values = {name: values_of(of.parameter(name), text) for name, text in given.items()}
    points = math.prod(len(some) for some in values.values())
    if points > MOST_POINTS:
        raise ModelError(f"{points:,d} points: expected at most {MOST_POINTS:,d}")
    combined = list(itertools.product(*values.values()))
    arrays = {name: np.array([row[i] for row in combined]) for i, name in enumerate(values)}
    varied = tuple(name for name, some in values.items() if len(some) > 1)
    return Grid(of, varied, arrays, closed_form.evaluate(of.name, **arrays))


def evaluated(
    name: str, words: Sequence[str], is_set: bool, drawing: Path | None, y: str, points: str | None
) -> tuple[dict[str, list[float]], Callable[[Console], None]]:
    """Evaluate a model for the words of a command, and draw ``y`` with measured points into a file if one is given.

    Returns the columns, and the function that prints them.
    """
    of = closed_form.find(name)
    if is_set:
        expected = f"{name} takes parameters, such as --{closed_form.option(of.parameters[0].name)}"
        raise ModelError(f"--set is for {' and '.join(closed_form.SCENARIO_FIGURES)}: {expected}")
    grid = work_out(of, parse(words, of))
    if drawing is not None:
        figure = of.figure(y or of.figures[0].name).name
        measured = {} if points is None else read_points(points, (*grid.varied, "")[0], figure)
        write(drawing, picture(grid, figure, measured, drawing.suffix))
    return grid.columns(), partial(print_grid, grid)


def check_file(path: str, kinds: Sequence[str]) -> Path:
    """Refuse a file of another kind, or an existing one; raises ``FolderError``.

    A pipe or a device, such as ``/dev/stdout``, has no extension: it takes CSV, if that is one of the kinds.
    """
    file = Path(path)
    if file.suffix not in kinds and not (".csv" in kinds and is_stream(file)):
        raise FolderError(f"{path}: expected a file that ends in {' or '.join(kinds)}")
    if file.exists() and not is_stream(file):
        raise FolderError(f"{path} exists: give another name, or remove it first (results are never overwritten)")
    if not file.parent.is_dir():
        raise FolderError(f"{path}: the folder {file.parent} does not exist")
    return file


def text_of(columns: Mapping[str, Sequence[Any]], kind: str) -> str:
    """Write columns as CSV, or as JSON with one list per column; missing values are empty, or null."""
    clean = {name: [_or_nothing(x) for x in column] for name, column in columns.items()}
    if kind == ".json":
        return json.dumps(clean, indent=1) + "\n"
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(clean)
    writer.writerows(zip(*clean.values(), strict=True))
    return text.getvalue()


def _or_nothing(value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value


def write(path: Path, content: str | bytes) -> None:
    """Write a file named by the user, atomically."""
    try:
        write_named(path, content)
    except OSError as error:
        raise FolderError(f"cannot write {path}: {error.strerror}") from None


def print_grid(grid: Grid, console: Console) -> None:
    """Print one point with the meanings of the figures, or one row per point."""
    columns = grid.columns()
    if grid.points == 1:
        table = Table(title=grid.model.title, title_justify="left", show_header=False)
        table.add_column(no_wrap=True)
        table.add_column(justify="right", no_wrap=True)
        table.add_column()
        for figure in grid.model.figures:
            table.add_row(figure.name, _cell(columns[figure.name][0], figure.unit), figure.doc)
        console.print(table)
        return
    units = {p.name: {"time": "s", "rate": "bit/s", "size": "B"}.get(p.quantity, p.unit) for p in grid.model.parameters}
    units |= {figure.name: figure.unit for figure in grid.model.figures}
    shown = [*grid.varied, *grid.figures]
    print_columns({name: columns[name] for name in shown}, units, grid.model.title, console)


def print_bounds(name: str, columns: Mapping[str, Sequence[Any]], console: Console) -> None:
    """Print the bounds of a scenario's flows, one row per flow."""
    what, figures = closed_form.SCENARIO_FIGURES[name]
    print_columns(columns, {figure.name: figure.unit for figure in figures}, what, console)


def print_columns(columns: Mapping[str, Sequence[Any]], units: Mapping[str, str], title: str, console: Console) -> None:
    """Print columns as a table, in readable units."""
    table = Table(title=title, title_justify="left")
    for name in columns:
        unit = _SHOWN.get(units.get(name, ""), (units.get(name, ""), 1.0))[0]
        plain = _plain(name)
        table.add_column(f"{plain}\n{unit}" if unit not in ("", plain) else plain, justify="right")
    for row in zip(*columns.values(), strict=True):
        cells = [_number(x, units.get(name, "")) for name, x in zip(columns, row, strict=True)]
        table.add_row(*cells)
    console.print(table)


def _plain(name: str) -> str:
    for unit in ("_bps", "_s", "_packets"):
        name = name.removesuffix(unit)
    return name.replace("_", " ")


def _number(value: Any, unit: str) -> str:
    if isinstance(value, str):
        return value
    return "-" if math.isnan(value) else f"{value * _SHOWN.get(unit, ('', 1.0))[1]:.6g}"


def _cell(value: float, unit: str) -> str:
    return f"{_number(value, unit)} {_SHOWN.get(unit, (unit, 1.0))[0]}".strip()


Points = dict[str, tuple[list[float], list[float]]]
"""Measured points, by label: x and y."""


def read_points(path: str, x: str, y: str) -> Points:
    """Read measured points: a CSV with columns ``x`` and ``y`` in SI units, and optionally ``label`` for the series."""
    try:
        text = files.read_text(Path(path), pipes=True)
        rows = list(csv.DictReader(io.StringIO(text, newline="")))
        header = rows[0].keys() if rows else []
    except (OSError, ValueError, csv.Error) as error:
        raise FolderError(f"cannot read {path}: {files.message_of(error)}") from None
    if missing := [name for name in (x, y) if name not in header]:
        raise FolderError(
            f"{path}: no column {' and no column '.join(missing)}; expected {x}, {y} and optionally label"
        )
    found: Points = {}
    for number, row in enumerate(rows, 2):
        try:
            place, value = float(row[x]), float(row[y])
        except (TypeError, ValueError):
            raise FolderError(f"{path}, line {number}: {row[x]}, {row[y]}: expected two numbers") from None
        xs, ys = found.setdefault(row.get("label") or "measured", ([], []))
        xs.append(place)
        ys.append(value)
    return found


def picture(grid: Grid, y: str, measured: Points, kind: str) -> bytes:
    """Draw a figure over the first varied parameter: one line per combination of the others, points on top."""
    from incast.pictures.style import (
        COLOURS,
        INK,
        MARKERS,
        dress,
        legend,
        line,
        new_canvas,
        numbered_log,
        picture_bytes,
        spans,
    )

    if not grid.varied:
        raise ModelError("a picture needs a range for its x axis, such as --q 0.001:0.1:log20")
    x, *others = grid.varied
    figure, parameter = grid.model.figure(y), grid.model.parameter(x)
    unit, scale = _SHOWN.get(figure.unit, (figure.unit, 1.0))
    columns = grid.columns()
    canvas = new_canvas(7.2, 4.4)
    axes = canvas.subplots()
    lines: dict[tuple[float, ...], list[tuple[float, float]]] = {}
    for row in range(grid.points):
        key = tuple(columns[name][row] for name in others)
        lines.setdefault(key, []).append((columns[x][row], columns[y][row] * scale))
    for i, (key, points) in enumerate(lines.items()):
        label = ", ".join([grid.model.name, *(f"{name} {value:g}" for name, value in zip(others, key, strict=True))])
        axes.plot([p[0] for p in points], [p[1] for p in points], label=label, **line(i, marker=False))
    for i, (label, (xs, ys)) in enumerate(measured.items()):
        shape = MARKERS[i % len(MARKERS)]
        axes.plot(xs, [v * scale for v in ys], shape, color=COLOURS[i % len(COLOURS)], markersize=5, label=label)
    drawn = [x for points in lines.values() for x, _ in points]
    heights = [y for points in lines.values() for _, y in points] + [
        v * scale for _, ys in measured.values() for v in ys
    ]
    dress(axes)
    if spans(drawn):
        numbered_log(axes, "x")
    if spans(heights):
        numbered_log(axes)
    plain = {"time": "s", "rate": "bit/s", "size": "B"}.get(parameter.quantity, parameter.unit)
    axes.set_xlabel(f"{x} ({plain})" if plain else x, fontsize=9, color=INK)
    axes.set_ylabel(f"{_plain(y)} ({unit})" if unit not in ("", _plain(y)) else _plain(y), fontsize=9, color=INK)
    axes.set_title(grid.model.title, fontsize=10, color=INK, loc="left", fontweight="bold")
    legend(canvas, [axes])
    return picture_bytes(canvas, kind.removeprefix("."))
