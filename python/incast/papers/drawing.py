"""Pictures of a paper, with the paper's axes."""

from __future__ import annotations

import ast
import itertools
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.transforms import Bbox

from incast.errors import PaperError
from incast.papers import expression, signals
from incast.papers.definition import FLOWS_SHOWN, Figure, Plot, Series, X
from incast.papers.evaluation import Evaluated, reading
from incast.papers.measuring import rows, series_in, within
from incast.papers.panels import JOINED, bounded, draw_differences, draw_zoom, zoomed
from incast.pictures.interval_plot import Footnote, Known, Points, draw_points, in_sight, mark_below, y_axis
from incast.pictures.style import DARKEST, GREY, INK, area, dress, legend, line, new_canvas, numbered_log, time_unit
from incast.runs.run_folder import read_table
from incast.statistics import Estimate

Values = npt.NDArray[np.float64]

LETTERS_ABREAST = 90
"""Most characters of names side by side below an axis."""

COMPLETED = {"flows": ("fct_s", "slowdown"), "queries": ("completion_s",), "writes": ("completion_s",)}
"""Columns by table that are missing for unfinished rows."""

SPECTRUM_DEPTH = 1e5
"""Ratio of the largest to the smallest shown power of a spectrum."""


def draw(done: Evaluated) -> dict[str, Canvas]:
    """Draw a figure's pictures, by file name without extension."""
    kinds = {
        "line": _line,
        "scatter": _scatter,
        "cdf": _distribution,
        "ccdf": _distribution,
        "timeline": _timeline,
        "samples": _samples,
        "spectrum": _spectrum,
        "rows": _rows,
    }
    return {f"{done.figure.name}-{plot.name}": kinds[plot.kind](done, plot) for plot in done.figure.plots}


def _line(done: Evaluated, plot: Plot) -> Canvas:
    figure = done.figure
    numeric = all(not isinstance(point.x, str) for point in figure.points)
    zoom = zoomed(figure, plot) if numeric else []
    beside = bool(zoom) + bool(numeric and plot.differences_to)
    canvas = new_canvas(7.2 + 5.2 * beside, 4.4)
    axes, *others = canvas.subplots(1, 1 + beside, squeeze=False)[0]
    drawn = _drawn(figure, plot)
    lines = [(series, measure) for measure in plot.y for series in drawn]
    found = {
        (series.name, measure): [
            (_place(point.x, j, numeric), bounded(e, figure.measures[measure]))
            for j, point in enumerate(figure.points)
            if (e := done.estimate(measure, series.name, point.x)) is not None
        ]
        for series, measure in lines
    }
    log = "y" in plot.log and min((e.mean for kept in found.values() for _, e in kept), default=0.0) > 0
    footnote, seen = Footnote(), []
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
            seen += draw_points(axes, [of], 1.0, footnote, log, join=len(kept) >= JOINED)
        else:
            seen += _bars(axes, [(place + shift, e) for place, e in kept], width, look, label, footnote, log)
        seen += _published(axes, figure, series, measure, look, shift)
    if numeric:
        seen += _curves(done, plot, axes)
        if "x" in plot.log:
            axes.set_xscale("log")
            axes.set_xticks([float(p.x) for p in figure.points], [f"{p.x}" for p in figure.points])
            axes.minorticks_off()
    else:
        names = [str(point.x) for point in figure.points]
        # rotate names that do not fit side by side
        aslant = sum(len(name) + 2 for name in names) > LETTERS_ABREAST
        axes.set_xticks(range(len(names)), names, rotation=30 if aslant else 0, ha="right" if aslant else "center")
    dress(axes)
    y_axis([axes], seen, log, index=all(figure.measures[measure].range == (0.0, 1.0) for measure in plot.y))
    if not numeric:
        axes.grid(visible=False, axis="x")
    axes.set_xlabel(figure.x_label, fontsize=9, color=INK)
    axes.set_ylabel(plot.y_label or figure.measures[plot.y[0]].title, fontsize=9, color=INK)
    looks_of = _looks_in(figure, drawn)
    if zoom:
        draw_zoom(others[0], done, plot.y[0], drawn, looks_of, zoom)
    if numeric and plot.differences_to:
        draw_differences(others[-1], done, plot.y[0], drawn, looks_of, plot.differences_to, footnote)
    legend(canvas, [axes], footnote.note())
    return canvas


BESIDE = [(5, 4, "left", "bottom"), (-5, 4, "right", "bottom"), (5, -4, "left", "top"), (-5, -4, "right", "top")]
"""Offsets of a marker's name in points, best first, and text alignments; they avoid the intervals."""


def _scatter(done: Evaluated, plot: Plot) -> Canvas:
    """Draw one measure over another: one named marker per series and point, 95 % intervals in both directions."""
    figure, (y,) = done.figure, plot.y
    canvas = new_canvas(7.2, 5.2)
    axes = canvas.subplots()
    points = [point for point in figure.points if point.x in plot.points or not plot.points]
    drawn = _drawn(figure, plot)
    footnote, named = Footnote(), []
    for look, series in zip(_looks_in(figure, drawn), drawn, strict=True):
        for point in points:
            across, up = (done.estimate(measure, series.name, point.x) for measure in (plot.x, y))
            if across is None or up is None:
                continue
            footnote.note_intervals([across, up])
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
    legend(canvas, [axes], footnote.note())
    _name_markers(canvas, axes, named)
    return canvas


def _name_markers(canvas: Canvas, axes: Axes, named: Sequence[tuple[tuple[float, float], str, str]]) -> None:
    """Write names next to their markers, without covering other names or markers, or leaving the axes."""
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
            hidden += box.x0 < axes.bbox.x0 or box.x1 > axes.bbox.x1
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
    axes: Axes,
    kept: Sequence[tuple[float, Estimate]],
    width: float,
    look: int,
    label: str,
    footnote: Footnote,
    log: bool,
) -> list[float]:
    """Draw bars with their intervals; return the numbers that the axis must cover."""
    bars = area(look)
    # a single seed has no interval, not an interval of width zero
    missing = [math.nan if e.half_width is None else 0.0 for _, e in kept]
    errors = [
        [e.mean - e.low + gap for (_, e), gap in zip(kept, missing, strict=True)],
        [e.high - e.mean + gap for (_, e), gap in zip(kept, missing, strict=True)],
    ]
    # visible on a black bar too
    ink = GREY if bars["color"] == DARKEST else INK
    places, means = [place for place, _ in kept], [e.mean for _, e in kept]
    axes.bar(places, means, width * 0.92, yerr=errors, ecolor=ink, label=label, capsize=2, **bars)
    footnote.note_intervals(e for _, e in kept)
    for place, e in kept:
        mark_below(axes, place, e, ink, footnote, log)
    return in_sight(e for _, e in kept)


def _published(axes: Axes, figure: Figure, series: Series, measure: str, look: int, shift: float) -> list[float]:
    """Draw the published numbers of a series; return the numbers that the axis must cover."""
    places = [point.x for point in figure.points]
    numeric = all(not isinstance(x, str) for x in places)
    published = [
        (_place(one.x, places.index(one.x), numeric), one.value)
        for one in figure.published
        if (one.series, one.measure) == (series.name, measure) and one.x in places
    ]
    if published:
        axes.plot(
            [place + shift for place, _ in published],
            [value for _, value in published],
            # several published points form a curve next to ours
            linestyle=":" if numeric and len(published) >= JOINED else "none",
            color=line(look)["color"],
            marker="D",
            markersize=7,
            markerfacecolor="white",
            markeredgecolor=INK,
            clip_on=False,
            zorder=5,
            label="published",
        )
    return [value for _, value in published]


def _drawn(figure: Figure, plot: Plot) -> list[Series]:
    """Return the series of a plot; for pictures of tables only those with runs."""
    wanted = [one for one in figure.series if one.name in plot.series or not plot.series]
    return wanted if plot.kind in ("line", "scatter") else [one for one in wanted if not one.values]


def looks(series: Sequence[Series]) -> list[int]:
    """Return distinct style numbers: those that series request, and the remaining ones in order."""
    asked = [one.look - 1 for one in series if one.look is not None]
    free = (number for number in itertools.count() if number not in asked)
    return [next(free) if one.look is None else one.look - 1 for one in series]


def _looks_in(figure: Figure, series: Sequence[Series]) -> list[int]:
    """Return the style numbers of a picture's lines: a series has the same style in all pictures of its figure.

    Several lines of one series differ in style too.
    """
    if len({one.name for one in series}) < len(series):
        return looks(series)
    own = dict(zip((one.name for one in figure.series), looks(figure.series), strict=True))
    return [own[one.name] for one in series]


def _place(x: X, number: int, numeric: bool) -> float:
    return float(x) if numeric else float(number)


def _curves(done: Evaluated, plot: Plot, axes: Axes) -> list[float]:
    """Draw the curves of a plot; return the numbers that the axis must cover."""
    seen = []
    for (label, of), look in zip(plot.curves, _curve_looks(plot), strict=True):
        seen += _curve(axes, done.figure, of, label, look)
    return seen


def draw_over_time(plot: Plot, axes: Axes, times: Sequence[float], factor: float) -> None:
    """Draw the curves of a plot over times, in seconds multiplied by the factor."""
    if not times:
        return
    places = np.linspace(min(times), max(times), 2000)
    for (label, of), look in zip(plot.curves, _curve_looks(plot), strict=True):
        try:
            values = [expression.number(of, {"x": float(time) / factor}) for time in places]
        except expression.ExpressionError as error:
            raise PaperError(f'{plot.place}, curve "{label}": {error}') from None
        axes.plot(places, values, **look)


def _curve_looks(plot: Plot) -> list[dict[str, Any]]:
    return [
        {"color": "#7F7F7F", "linewidth": 1.1, "linestyle": ["--", ":", "-."][i % 3], "label": label}
        for i, (label, _) in enumerate(plot.curves)
    ]


def _curve(axes: Axes, figure: Figure, of: ast.expr, name: str, look: dict[str, Any]) -> list[float]:
    """Draw an expression in x over the range of the figure's points; return the numbers that the axis must cover."""
    xs = sorted(float(point.x) for point in figure.points)
    places = np.geomspace(xs[0], xs[-1], 100) if xs[0] > 0 else np.linspace(xs[0], xs[-1], 100)
    # the ends are points; rounding must not move them out of a model's range
    places[0], places[-1] = xs[0], xs[-1]
    try:
        values = [expression.evaluate(of, {}, {"x": float(x)}) for x in places]
    except expression.ExpressionError as error:
        raise PaperError(f'{figure.name}, curve "{name}": {error}') from None
    axes.plot(places, values, **look)
    return [float(value) for value in values]


def _distribution(done: Evaluated, plot: Plot) -> Canvas:
    """Draw the CDF or CCDF of a column over all seeds."""
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
        found = [_values(done, done.folders[series.name, point.x, seed], plot) for seed in seeds]
        numbers = np.sort(np.concatenate([values for values, _ in found]) * plot.scale)
        late = sum(count for _, count in found)
        unfinished = unfinished or late > 0
        label = f"{series.name}, {point.x}" if len(points) > 1 else series.name
        ranks = np.arange(len(numbers))
        # includes the value itself, so that the largest is above 0 on a logarithmic axis
        parts = (len(numbers) + late - ranks if above else ranks + 1) / max(1, len(numbers) + late)
        least = min(least, float(parts.min(initial=1.0)))
        # the share changes at each value
        axes.plot(numbers, parts, label=label, drawstyle="steps-pre" if above else "steps-post", **line(look, False))
    dress(axes)
    axes.set_ylim(least / 1.5 if "y" in plot.log else 0, 1.02)
    for which in plot.log:
        numbered_log(axes, which)
    axes.set_xlabel(plot.x_label, fontsize=9, color=INK)
    axes.set_ylabel("CCDF (including the value)" if above else "CDF", fontsize=9, color=INK)
    legend(canvas, [axes], UNFINISHED[above] if unfinished else "")
    return canvas


def _values(done: Evaluated, folder: Path, plot: Plot) -> tuple[Values, int]:
    """Read the values of a plot's column in a run, and the number of unfinished rows."""
    with reading(done.paper, folder):
        table = read_table(folder, plot.table)
        if table.num_columns == 0:  # a table that is written only if it has rows
            return np.empty(0), 0
        part = rows(table, plot.where)
        return part[plot.column].drop_null().to_numpy().astype(float), _unfinished(part, plot)


UNFINISHED = {
    False: "Shares of all that began: a curve below 1 ends at the share finished.",
    True: "Shares of all that began: unfinished ones count as larger than the largest value.",
}


def _unfinished(part: pa.Table, plot: Plot) -> int:
    """Return the number of unfinished rows; for flows only finite ones."""
    if plot.column not in COMPLETED.get(plot.table, ()):
        return 0
    pending = pc.is_null(part[plot.column])
    if plot.table == "flows":
        pending = pc.and_(pending, pc.is_valid(part["size_bytes"]))
    return int(pc.sum(pending).as_py() or 0)


def _shown(done: Evaluated, plot: Plot) -> list[tuple[str, Path]]:
    """Return titles and runs of a picture of single runs: each series at each of its points, seed 1."""
    points = [point for point in done.figure.points if point.x in plot.points or not plot.points]
    several = len(points) > 1
    return [
        (f"{series.name}, {point.x}" if several else series.name, done.folders[series.name, point.x, 1])
        for point in points
        for series in _drawn(done.figure, plot)
    ]


def _samples(done: Evaluated, plot: Plot) -> Canvas:
    """Draw time series: one panel per series and point, one line per entity."""
    found = [(name, _series(done, folder, plot)) for name, folder in _shown(done, plot)]
    unit, factor = time_unit(max((end for _, (_, end) in found), default=0.0))
    shown: list[tuple[str, Lines]] = [
        (name, {entity: (times * factor, values * plot.scale) for entity, (times, values) in lines.items()})
        for name, (lines, _) in found
    ]
    canvas = new_canvas(max(7.2, 4.6 * len(shown)), 4.4)
    panels = canvas.subplots(1, len(shown), squeeze=False, sharey=True)[0]
    for axes, (_, lines) in zip(panels, shown, strict=True):
        if plot.fill and lines:
            times, values = next(iter(lines.values()))
            axes.fill_between(times, values, step="post", color="#7F7F7F", alpha=0.2, linewidth=0)
        draw_over_time(plot, axes, [time for times, _ in lines.values() for time in times], factor)
    panel_lines(panels, shown, plot.log)
    for axes in panels:
        axes.set_xlabel(f"Simulated time ({unit})", fontsize=9, color=INK)
    panels[0].set_ylabel(plot.y_label, fontsize=9, color=INK)
    legend(canvas, panels)
    return canvas


def _spectrum(done: Evaluated, plot: Plot) -> Canvas:
    """Draw power spectra of series in the span of each point: means over entities and seeds.

    The y axis is power times frequency: the variance within a factor of e in frequency, relative to the mean squared.
    """
    figure = done.figure
    points = [point for point in figure.points if point.x in plot.points or not plot.points]
    lines = [(series, point) for point in points for series in _drawn(figure, plot)]
    canvas = new_canvas(7.2, 4.4)
    axes = canvas.subplots()
    most = 0.0
    for look, (series, point) in zip(_looks_in(figure, [series for series, _ in lines]), lines, strict=True):
        folders = [done.folders[series.name, point.x, seed] for seed in range(1, figure.seeds + 1)]
        tables = [
            within(rows(read_table(folder, "samples"), plot.where), "samples", point.span_s) for folder in folders
        ]
        found = signals.mean_spectrum(signals.even(*one) for table in tables for one in series_in(table))
        if found is not None:
            label = f"{series.name}, {point.x}" if len(points) > 1 else series.name
            part = found.frequencies * found.power
            most = max(most, float(part.max()))
            axes.plot(found.frequencies, part, label=label, **line(look, False))
    dress(axes)
    if most > 0:
        axes.set_ylim(most / SPECTRUM_DEPTH, most * 2)
        numbered_log(axes, "y")
        numbered_log(axes, "x")
    axes.set_xlabel("Frequency (Hz)", fontsize=9, color=INK)
    axes.set_ylabel("Frequency x power, relative to the mean squared", fontsize=9, color=INK)
    legend(canvas, [axes])
    return canvas


Lines = dict[str, tuple[Values, Values]]
"""Times and values of entities, by name."""


def _series(done: Evaluated, folder: Path, plot: Plot) -> tuple[Lines, float]:
    """Read the time series of a run, and the end time of the last one."""
    with reading(done.paper, folder):
        table = rows(read_table(folder, "samples"), plot.where)
        entities = table["entity"].cast(pa.string())
        lines: Lines = {}
        for entity in entities.unique().to_pylist()[:FLOWS_SHOWN]:
            mine = table.filter(pc.equal(entities, entity))
            lines[entity] = mine["time_s"].to_numpy(), mine["value"].to_numpy()
        return lines, pc.max(table["time_s"]).as_py() or 0.0


def panel_lines(panels: Sequence[Axes], shown: Sequence[tuple[str, Lines]], log: Sequence[str]) -> None:
    """Draw step series on panels with a common y axis, each with a title."""
    for axes, (name, lines) in zip(panels, shown, strict=True):
        for i, (entity, (times, values)) in enumerate(lines.items()):
            axes.plot(times, values, label=entity, drawstyle="steps-post", **line(i, marker=False))
        dress(axes)
        if len(shown) > 1:
            axes.set_title(name, fontsize=10, color=INK, loc="left", fontweight="bold")
    # after drawing: an earlier limit would cut off later lines
    if "y" in log:
        for axes in panels:
            numbered_log(axes)
    else:
        panels[0].set_ylim(bottom=0)


def _rows(done: Evaluated, plot: Plot) -> Canvas:
    """Draw a column of a table over another column or over the row number: bars or dots."""
    shown = _shown(done, plot)
    canvas = new_canvas(7.2, 4.4)
    axes = canvas.subplots()
    width = 0.8 / len(shown)
    drawn = _drawn(done.figure, plot)
    numbers = _looks_in(done.figure, drawn * (len(shown) // len(drawn)))
    for i, (name, folder) in enumerate(shown):
        columns = _columns(done, folder, plot)
        if columns is None:
            continue
        values = columns[0] * plot.scale
        places = columns[1] * plot.x_scale if plot.x_column else np.arange(1, len(values) + 1, dtype=float)
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


def _columns(done: Evaluated, folder: Path, plot: Plot) -> list[Values] | None:
    """Read a plot's columns of a run, the x axis last; ``None`` if the run has no such row."""
    with reading(done.paper, folder):
        table = read_table(folder, plot.table)
        if table.num_columns == 0:
            return None
        table = rows(table, plot.where)
        return [table[name].cast(pa.float64()).to_numpy() for name in (plot.column, plot.x_column) if name]


def _timeline(done: Evaluated, plot: Plot) -> Canvas:
    """Draw acknowledged bytes of flows over time, by the ends of their writes: one panel per series, seed 1."""
    figure = done.figure
    drawn = _drawn(figure, plot)
    canvas = new_canvas(max(7.2, 4.6 * len(drawn)), 4.4)
    panels = canvas.subplots(1, len(drawn), squeeze=False, sharey=True)[0]
    for axes, series in zip(panels, drawn, strict=True):
        lines = _acknowledged(done, done.folders[series.name, figure.points[0].x, 1], plot)
        crowd = {"linewidth": 0.5, "linestyle": "-"} if plot.flows > FLOWS_SHOWN else {}
        for i, (label, times, written) in enumerate(lines):
            look = {**line(i, marker=False), "label": "_flow" if crowd else label, **crowd}
            axes.plot(times * 1e3, written * 8 / plot.bin_s / 1e9, **look)
        dress(axes)
        if len(drawn) > 1:
            axes.set_title(series.name, fontsize=10, color=INK, loc="left", fontweight="bold")
        axes.set_xlabel("Simulated time (ms)", fontsize=9, color=INK)
    panels[0].set_ylim(bottom=0)
    panels[0].set_ylabel("Throughput per flow (Gb/s)", fontsize=9, color=INK)
    legend(canvas, panels)
    return canvas


MOST_BINS = 1_000_000
"""Most time bins of a picture: more are a mistake, and not visible."""


def _acknowledged(done: Evaluated, folder: Path, plot: Plot) -> list[tuple[str, Values, Values]]:
    """Read the acknowledged bytes of flows in time bins: name, centres of the bins, and bytes.

    The flows are evenly chosen from all.
    """
    bin_s = plot.bin_s
    with reading(done.paper, folder):
        table = read_table(folder, "writes", ["flow", "bytes", "finish_s"]).drop_null()
        names = read_table(folder, "flows", ["group"])["group"].to_pylist()
        flows, ends = table["flow"].to_numpy(), table["finish_s"].to_numpy()
        several = len(set(names)) > 1
        last = float(ends.max(initial=0.0))
        if last > MOST_BINS * bin_s:
            raise ValueError(f"a write ends at {last:g} s: expected at most {MOST_BINS:,} bins of {bin_s:g} s")
        edges = np.arange(0.0, last + bin_s, bin_s)
        found = []
        there = np.unique(flows)
        for flow in there[np.linspace(0, len(there) - 1, min(plot.flows, len(there))).astype(int)]:
            mine = flows == flow
            counts, _ = np.histogram(ends[mine], bins=edges, weights=table["bytes"].to_numpy()[mine])
            found.append((names[flow] if several else f"flow {flow}", edges[:-1] + bin_s / 2, counts))
        return found
