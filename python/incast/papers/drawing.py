"""A paper's pictures, in the paper's axes."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.transforms import Bbox

from incast.errors import PaperError
from incast.look import INK, area, dress, legend, line, new_canvas, numbered_log, time_unit
from incast.papers import expression
from incast.papers.definition import FLOWS_SHOWN, Figure, Plot, Series, X
from incast.papers.evaluation import Evaluated
from incast.papers.measuring import rows
from incast.points import Known, Points, Told, draw_points, in_sight, mark_below, y_axis
from incast.run_folder import read_table
from incast.statistics import Estimate

LETTERS_ABREAST = 90
"""Letters that names below an axis have together at most, side by side."""

COMPLETED = {"flows": ("fct_s", "slowdown"), "queries": ("completion_s",), "writes": ("completion_s",)}
"""Columns, by their table, that what did not finish lacks."""


def draw(done: Evaluated) -> dict[str, Canvas]:
    """Draw a figure's pictures, by the names of files without their endings."""
    kinds = {
        "line": _line,
        "scatter": _scatter,
        "cdf": _distribution,
        "ccdf": _distribution,
        "timeline": _timeline,
        "samples": _samples,
        "rows": _rows,
    }
    return {f"{done.figure.name}-{plot.name}": kinds[plot.kind](done, plot) for plot in done.figure.plots}


def _line(done: Evaluated, plot: Plot) -> Canvas:
    figure = done.figure
    numeric = all(not isinstance(point.x, str) for point in figure.points)
    canvas = new_canvas(7.2, 4.4)
    axes = canvas.subplots()
    drawn = _drawn(figure, plot)
    lines = [(series, measure) for measure in plot.y for series in drawn]
    found = {
        (series.name, measure): [
            (_place(point.x, j, numeric), e)
            for j, point in enumerate(figure.points)
            if (e := done.estimate(measure, series.name, point.x)) is not None
        ]
        for series, measure in lines
    }
    log = "y" in plot.log and min((e.mean for kept in found.values() for _, e in kept), default=0.0) > 0
    told, seen = Told(), []
    width = 0.8 / len(lines)
    for i, (look, (series, measure)) in enumerate(
        zip(_looks_in(figure, [series for series, _ in lines]), lines, strict=True)
    ):
        kept = found[series.name, measure]
        if not kept:
            continue
        label = _label(figure, series, measure, len(drawn), len(plot.y))
        shift = 0.0 if numeric else (i - (len(lines) - 1) / 2) * width
        if numeric and measure in series.values:
            seen += _curve(axes, figure, series.values[measure], series.name, line(look, False) | {"label": label})
        elif numeric:
            of = Points(label, look, [place for place, _ in kept], [Known(e) for _, e in kept])
            seen += draw_points(axes, [of], 1.0, told, log)
        else:
            seen += _bars(axes, [(place + shift, e) for place, e in kept], width, look, label, told, log)
        seen += _published(axes, figure, series, measure, look, shift)
    if numeric:
        seen += _curves(done, plot, axes)
        if "x" in plot.log:
            axes.set_xscale("log")
            axes.set_xticks([float(p.x) for p in figure.points], [f"{p.x}" for p in figure.points])
            axes.minorticks_off()
    else:
        names = [str(point.x) for point in figure.points]
        # More letters than fit side by side stand aslant.
        aslant = sum(len(name) + 2 for name in names) > LETTERS_ABREAST
        axes.set_xticks(range(len(names)), names, rotation=30 if aslant else 0, ha="right" if aslant else "center")
    dress(axes)
    y_axis([axes], seen, log)
    if not numeric:
        axes.grid(visible=False, axis="x")
    axes.set_xlabel(figure.x_label, fontsize=9, color=INK)
    axes.set_ylabel(plot.y_label or figure.measures[plot.y[0]].title, fontsize=9, color=INK)
    legend(canvas, [axes], told.note())
    return canvas


BESIDE = [(5, 4, "left", "bottom"), (-5, 4, "right", "bottom"), (5, -4, "left", "top"), (-5, -4, "right", "top")]
"""Where the name of a marker may stand, best first, off its intervals: points right and up, and how the text lies."""


def _scatter(done: Evaluated, plot: Plot) -> Canvas:
    """Draw one measure over another: a marker a series and point, its name beside it, 95 % intervals both ways."""
    figure, (y,) = done.figure, plot.y
    canvas = new_canvas(7.2, 5.2)
    axes = canvas.subplots()
    points = [point for point in figure.points if point.x in plot.points or not plot.points]
    drawn = _drawn(figure, plot)
    told, named = Told(), []
    for look, series in zip(_looks_in(figure, drawn), drawn, strict=True):
        for point in points:
            across, up = (done.estimate(measure, series.name, point.x) for measure in (plot.x, y))
            if across is None or up is None:
                continue
            told.tell_of([across, up])
            at, style = (across.mean, up.mean), line(look)
            axes.errorbar(
                *at,
                xerr=[[across.mean - across.low], [across.high - across.mean]],
                yerr=[[up.mean - up.low], [up.high - up.mean]],
                elinewidth=0.9,
                **{**style, "linestyle": "none", "markersize": 7},
            )
            named.append((at, f"{series.name}, {point.x}" if len(points) > 1 else series.name, style["color"]))
    dress(axes)
    axes.margins(0.12)
    for which in ("x", "y"):
        if which in plot.log:
            numbered_log(axes, which)
        elif (axes.get_xlim() if which == "x" else axes.get_ylim())[0] < 0:
            (axes.set_xlim if which == "x" else axes.set_ylim)(0)
    axes.set_xlabel(figure.measures[plot.x].title, fontsize=9, color=INK)
    axes.set_ylabel(figure.measures[y].title, fontsize=9, color=INK)
    legend(canvas, [axes], told.note())
    _name_markers(canvas, axes, named)
    return canvas


def _name_markers(canvas: Canvas, axes: Axes, named: Sequence[tuple[tuple[float, float], str, str]]) -> None:
    """Write names beside their markers, where there is room: over no other name and no other marker."""
    canvas.draw_without_rendering()
    pixels = axes.transData.transform([at for at, _, _ in named])
    taken = [Bbox.from_bounds(x - 8, y - 8, 16, 16) for x, y in pixels]
    for i, (at, name, colour) in enumerate(named):
        placed = []
        for right, up, ha, va in BESIDE:
            text = axes.annotate(
                name, at, (right, up), textcoords="offset points", ha=ha, va=va, fontsize=8, color=colour
            )
            box = text.get_window_extent()
            hidden = sum(box.overlaps(other) for j, other in enumerate(taken) if j != i)
            placed.append((hidden, text, box))
            if not hidden:
                break
        _, text, box = min(placed, key=lambda one: one[0])
        for _, other, _ in placed:
            if other is not text:
                other.remove()
        taken.append(box)


def _label(figure: Figure, series: Series, measure: str, drawn: int, measures: int) -> str:
    parts = (
        series.name if drawn > 1 else "",
        figure.measures[measure].label if measures > 1 or drawn == 1 else "",
    )
    return " ".join(part for part in parts if part)


def _bars(
    axes: Axes, kept: Sequence[tuple[float, Estimate]], width: float, look: int, label: str, told: Told, log: bool
) -> list[float]:
    """Draw bars with their intervals; give what must be in sight."""
    bars = area(look)
    errors = [[e.mean - e.low for _, e in kept], [e.high - e.mean for _, e in kept]]
    # Seen on a black bar too.
    ink = "#8b949e" if bars["color"] == "#000000" else INK
    places, means = [place for place, _ in kept], [e.mean for _, e in kept]
    axes.bar(places, means, width * 0.92, yerr=errors, ecolor=ink, label=label, capsize=2, **bars)
    told.tell_of(e for _, e in kept)
    for place, e in kept:
        mark_below(axes, place, e, ink, told, log)
    return in_sight(e for _, e in kept)


def _published(axes: Axes, figure: Figure, series: Series, measure: str, look: int, shift: float) -> list[float]:
    """Draw what the paper has of a series; give what must be in sight."""
    places = [point.x for point in figure.points]
    numeric = all(not isinstance(x, str) for x in places)
    told = [
        (_place(one.x, places.index(one.x), numeric), one.value)
        for one in figure.published
        if (one.series, one.measure) == (series.name, measure) and one.x in places
    ]
    if told:
        axes.plot(
            [place + shift for place, _ in told],
            [value for _, value in told],
            # What the paper has over several points is a curve beside ours.
            linestyle=":" if numeric and len(told) > 1 else "none",
            color=line(look)["color"],
            marker="D",
            markersize=7,
            markerfacecolor="white",
            markeredgecolor="#22272e",
            clip_on=False,
            zorder=5,
            label="published",
        )
    return [value for _, value in told]


def _drawn(figure: Figure, plot: Plot) -> list[Series]:
    """Series of a plot; of pictures of tables those that have runs."""
    wanted = [one for one in figure.series if one.name in plot.series or not plot.series]
    return wanted if plot.kind in ("line", "scatter") else [one for one in wanted if not one.values]


def looks(series: Sequence[Series]) -> list[int]:
    """Give lines the looks that their series ask for, and the others what is left, in order: none has another's."""
    asked = [one.look - 1 for one in series if one.look is not None]
    free = (number for number in itertools.count() if number not in asked)
    return [next(free) if one.look is None else one.look - 1 for one in series]


def _looks_in(figure: Figure, series: Sequence[Series]) -> list[int]:
    """Give the lines of a picture their looks: a series has one look in all pictures of its figure.

    Where a picture has several lines of a series they differ as lines of several do.
    """
    if len({one.name for one in series}) < len(series):
        return looks(series)
    own = dict(zip((one.name for one in figure.series), looks(figure.series), strict=True))
    return [own[one.name] for one in series]


def _place(x: X, number: int, numeric: bool) -> float:
    return float(x) if numeric else float(number)


def _curves(done: Evaluated, plot: Plot, axes: Axes) -> list[float]:
    """Draw the curves of a plot; give what must be in sight."""
    seen = []
    for i, (label, of) in enumerate(plot.curves):
        look = {"color": "#7F7F7F", "linewidth": 1.1, "linestyle": ["--", ":", "-."][i % 3], "label": label}
        seen += _curve(axes, done.figure, of, label, look)
    return seen


def _curve(axes: Axes, figure: Figure, of: ast.expr, name: str, look: dict[str, Any]) -> list[float]:
    """Draw an expression in x over the figure's points and between them; give what must be in sight."""
    xs = sorted(float(point.x) for point in figure.points)
    places = np.geomspace(xs[0], xs[-1], 100) if xs[0] > 0 else np.linspace(xs[0], xs[-1], 100)
    # The ends are points; a rounded last bit must not take them out of what a model is valid for.
    places[0], places[-1] = xs[0], xs[-1]
    try:
        values = [expression.evaluate(of, {}, {"x": float(x)}) for x in places]
    except expression.ExpressionError as error:
        raise PaperError(f'{figure.name}, curve "{name}": {error}') from None
    axes.plot(places, values, **look)
    return [float(value) for value in values]


def _distribution(done: Evaluated, plot: Plot) -> Canvas:
    """Draw how a column is distributed over all seeds: the share up to a value, or from it on."""
    figure = done.figure
    canvas = new_canvas(7.2, 4.4)
    axes = canvas.subplots()
    above = plot.kind == "ccdf"
    drawn = _drawn(figure, plot)
    points = [point for point in figure.points if point.x in plot.points or not plot.points]
    least, unfinished = 1.0, False
    lines = [(series, point) for point in points for series in drawn]
    for look, (series, point) in zip(_looks_in(figure, [series for series, _ in lines]), lines, strict=True):
        seeds = range(1, figure.seeds + 1)
        tables = [read_table(done.folders[series.name, point.x, seed], plot.table) for seed in seeds]
        # A table that is written only where it has a row has no columns without one.
        there = [rows(table, plot.where) for table in tables if table.num_columns > 0]
        columns = [part[plot.column].drop_null().to_numpy().astype(float) for part in there]
        numbers = np.sort(np.concatenate([np.empty(0), *columns]) * plot.scale)
        late = sum(_unfinished(part, plot) for part in there)
        unfinished = unfinished or late > 0
        label = f"{series.name}, {point.x}" if len(points) > 1 else series.name
        ranks = np.arange(len(numbers))
        # Counted with the value itself, so that the largest has a place on a logarithmic axis too.
        parts = (len(numbers) + late - ranks if above else ranks + 1) / max(1, len(numbers) + late)
        least = min(least, float(parts.min(initial=1.0)))
        # Up to a value the share is what it was; it changes there.
        axes.plot(numbers, parts, label=label, drawstyle="steps-pre" if above else "steps-post", **line(look, False))
    dress(axes)
    axes.set_ylim(least / 1.5 if "y" in plot.log else 0, 1.02)
    for which in plot.log:
        numbered_log(axes, which)
    axes.set_xlabel(plot.x_label, fontsize=9, color=INK)
    axes.set_ylabel("Share of at least as much (CCDF)" if above else "CDF", fontsize=9, color=INK)
    legend(canvas, [axes], UNFINISHED[above] if unfinished else "")
    return canvas


UNFINISHED = {
    False: "Of all that began: a curve below 1 ends at the share finished.",
    True: "Of all that began: what did not finish counts as more than the largest value.",
}


def _unfinished(part: pa.Table, plot: Plot) -> int:
    """Count what has no value since it did not finish; of flows those of a size."""
    if plot.column not in COMPLETED.get(plot.table, ()):
        return 0
    pending = pc.is_null(part[plot.column])
    if plot.table == "flows":
        pending = pc.and_(pending, pc.is_valid(part["size_bytes"]))
    return int(pc.sum(pending).as_py() or 0)


def _shown(done: Evaluated, plot: Plot) -> list[tuple[str, Path]]:
    """Name what a picture of tables of single runs shows, and where: each series at each of its points, seed 1."""
    points = [point for point in done.figure.points if point.x in plot.points or not plot.points]
    several = len(points) > 1
    return [
        (f"{series.name}, {point.x}" if several else series.name, done.folders[series.name, point.x, 1])
        for point in points
        for series in _drawn(done.figure, plot)
    ]


def _samples(done: Evaluated, plot: Plot) -> Canvas:
    """Draw time series: a panel a series and point, a line what was observed."""
    found = [(name, rows(read_table(folder, "samples"), plot.where)) for name, folder in _shown(done, plot)]
    ends = [pc.max(table["time_s"]).as_py() or 0.0 for _, table in found if table.num_columns > 0]
    unit, factor = time_unit(max(ends, default=0.0))
    shown: list[tuple[str, Lines]] = []
    for name, table in found:
        lines: Lines = {}
        if table.num_columns > 0:
            entities = table["entity"].cast(pa.string())
            for entity in entities.unique().to_pylist()[:FLOWS_SHOWN]:
                mine = table.filter(pc.equal(entities, entity))
                lines[entity] = mine["time_s"].to_numpy() * factor, mine["value"].to_numpy() * plot.scale
        shown.append((name, lines))
    canvas = new_canvas(max(7.2, 4.6 * len(shown)), 4.4)
    panels = canvas.subplots(1, len(shown), squeeze=False, sharey=True)[0]
    panel_lines(panels, shown, plot.log)
    for axes in panels:
        axes.set_xlabel(f"Simulated time ({unit})", fontsize=9, color=INK)
    panels[0].set_ylabel(plot.y_label, fontsize=9, color=INK)
    legend(canvas, panels)
    return canvas


Lines = dict[str, tuple[Sequence[float], Sequence[float]]]
"""Times and values of what was observed, by its name."""


def panel_lines(panels: Sequence[Axes], shown: Sequence[tuple[str, Lines]], log: Sequence[str]) -> None:
    """Draw a panel each, by its title, on panels that share the y axis: a value holds until the next one."""
    for axes, (name, lines) in zip(panels, shown, strict=True):
        for i, (entity, (times, values)) in enumerate(lines.items()):
            axes.plot(times, values, label=entity, drawstyle="steps-post", **line(i, marker=False))
        dress(axes)
        if len(shown) > 1:
            axes.set_title(name, fontsize=10, color=INK, loc="left", fontweight="bold")
    # Once all is drawn: a limit that is set earlier would leave out what comes later.
    if "y" in log:
        for axes in panels:
            numbered_log(axes)
    else:
        panels[0].set_ylim(bottom=0)


def _rows(done: Evaluated, plot: Plot) -> Canvas:
    """Draw a column of a table row by row, over another column or over the rows: bars or dots."""
    shown = _shown(done, plot)
    canvas = new_canvas(7.2, 4.4)
    axes = canvas.subplots()
    width = 0.8 / len(shown)
    drawn = _drawn(done.figure, plot)
    numbers = _looks_in(done.figure, drawn * (len(shown) // len(drawn)))
    for i, (name, folder) in enumerate(shown):
        table = rows(read_table(folder, plot.table), plot.where)
        if table.num_columns == 0:
            continue
        values = table[plot.column].cast(pa.float64()).to_numpy() * plot.scale
        if plot.x_column:
            places = table[plot.x_column].cast(pa.float64()).to_numpy() * plot.x_scale
        else:
            places = np.arange(1, len(values) + 1, dtype=float)
        if plot.mark == "bars":
            shift = (i - (len(shown) - 1) / 2) * width
            axes.bar(places + shift, values, width * 0.92, label=name, **area(numbers[i]))
        else:
            axes.plot(places, values, label=name, **{**line(numbers[i]), "linestyle": "none"})
    dress(axes)
    if "y" not in plot.log:
        axes.set_ylim(bottom=0)
    for which in plot.log:
        numbered_log(axes, which)
    if plot.mark == "bars":
        axes.grid(visible=False, axis="x")
    axes.set_xlabel(plot.x_label, fontsize=9, color=INK)
    axes.set_ylabel(plot.y_label, fontsize=9, color=INK)
    legend(canvas, [axes])
    return canvas


def _timeline(done: Evaluated, plot: Plot) -> Canvas:
    """Draw what flows had acknowledged over time, by the ends of their writes: a panel a series, seed 1."""
    figure = done.figure
    drawn = _drawn(figure, plot)
    canvas = new_canvas(max(7.2, 4.6 * len(drawn)), 4.4)
    panels = canvas.subplots(1, len(drawn), squeeze=False, sharey=True)[0]
    for axes, series in zip(panels, drawn, strict=True):
        folder = done.folders[series.name, figure.points[0].x, 1]
        table = read_table(folder, "writes", ["flow", "bytes", "finish_s"]).drop_null()
        names = read_table(folder, "flows", ["group"])["group"].to_pylist()
        flows, ends = table["flow"].to_numpy(), table["finish_s"].to_numpy()
        several = len(set(names)) > 1
        edges = np.arange(0.0, float(ends.max()) + plot.bin_s, plot.bin_s)
        there = np.unique(flows)
        sampled = there[np.linspace(0, len(there) - 1, min(plot.flows, len(there))).astype(int)]
        crowd = {"linewidth": 0.5, "linestyle": "-", "label": "_flow"} if plot.flows > FLOWS_SHOWN else {}
        for i, flow in enumerate(sampled):
            mine = flows == flow
            counts, _ = np.histogram(ends[mine], bins=edges, weights=table["bytes"].to_numpy()[mine])
            rates = counts * 8 / plot.bin_s / 1e9
            label = names[flow] if several else f"flow {flow}"
            look = {**line(i, marker=False), "label": label, **crowd}
            axes.plot((edges[:-1] + plot.bin_s / 2) * 1e3, rates, **look)
        dress(axes)
        if len(drawn) > 1:
            axes.set_title(series.name, fontsize=10, color=INK, loc="left", fontweight="bold")
        axes.set_xlabel("Simulated time (ms)", fontsize=9, color=INK)
    panels[0].set_ylim(bottom=0)
    panels[0].set_ylabel("Throughput of a flow (Gb/s)", fontsize=9, color=INK)
    legend(canvas, panels)
    return canvas
