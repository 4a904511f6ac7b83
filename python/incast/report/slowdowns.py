"""Pictures of slowdowns by size: against the varied key, over the sizes, and as distributions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

from incast.batch.plan import slug
from incast.comparisons.comparison import Band, Comparison
from incast.pictures.inline import belongs
from incast.pictures.interval_plot import Footnote, Points, draw_points, fit_a_log_axis, y_axis
from incast.pictures.looks import is_in_a_look
from incast.pictures.style import INK, abreast, dress, legend, line, new_canvas, numbered_log, places, x_axis
from incast.report.figures import SMALL, Drawn, axis_name, tip
from incast.runs import completions
from incast.runs.completions import Reading
from incast.writing.numbers import percent

ABREAST = 3
"""Panels per row."""

CURVE_POINTS = 250
"""Most points of a curve: about as many as a panel has pixels."""


class Part(NamedTuple):
    """Flows of one traffic entry of a scenario."""

    scenario: str
    entry: str
    bands: list[Band]
    ending: str
    """End of the names of its pictures."""
    title: str


def is_picture(name: str) -> bool:
    """Return whether a picture of this name is one of slowdowns by size, and not of a kind that was asked for."""
    stems = [f"slowdown-{what}" for what in (*completions.STATISTICS, "cdf")]
    return any(name == stem or name.startswith(f"{stem}-") for stem in stems) and not is_in_a_look(name)


def draw(comparison: Comparison) -> Drawn:
    """Draw the slowdowns of every scenario and traffic entry with several flow sizes; keys are file names."""
    parts, drawn = _parts(comparison), Drawn()
    by_entry: dict[str, list[Part]] = {}
    for part in parts:
        by_entry.setdefault(part.entry, []).append(part)
    for statistic in completions.STATISTICS:
        for own in by_entry.values():
            _draw_alike(comparison, own, statistic, drawn)
    for scenario, _, bands, ending, title in parts:
        finish = [band for band in bands if _any_finished(comparison, scenario, band)]
        if any(most_flows(comparison, scenario, band) > 1 for band in finish):
            drawn.pictures[f"slowdown-cdf{ending}"] = _distributions(comparison, scenario, finish, title)
        else:
            drawn.left_out[f"slowdown-cdf{ending}"] = "a single flow"
    return drawn


def _parts(comparison: Comparison) -> list[Part]:
    study = comparison.study
    found = []
    for scenario, name in zip(study.scenarios, study.scenario_names(), strict=True):
        bands = comparison.bands(scenario)
        for entry in dict.fromkeys(band.entry for band in bands):
            own = [band for band in bands if band.entry == entry]
            found.append(Part(scenario, entry, own, f"-{slug(name)}-{slug(entry)}", f"{name}, {entry}"))
    if len(found) == 1:  # a single one needs no entry in its name
        name = dict(zip(study.scenarios, study.scenario_names(), strict=True))[found[0].scenario]
        found = [found[0]._replace(ending="", title=name)]
    return found


def _draw_alike(comparison: Comparison, parts: Sequence[Part], statistic: str, drawn: Drawn) -> None:
    """Draw a statistic of the same entry in every scenario: scenarios are compared, and have the same y axis."""
    one = len(comparison.study.values) == 1
    todo: list[tuple[Part, list[Band], list[list[Points]]]] = []
    for part in parts:
        name = f"slowdown-{statistic}{part.ending}"
        shown = _to_be_seen(comparison, part.scenario, part.bands, statistic, together=one)
        drawn.left_out |= {f"{name}, {band.label}": ALONE for band in part.bands if shown and band not in shown}
        if shown:
            lines = (_lines_over_sizes if one else _lines_against_key)(comparison, part.scenario, shown, statistic)
            todo.append((part, shown, lines))
        else:
            drawn.left_out[name] = ALONE
    log = all(fit_a_log_axis(own, alone=one) for _, _, lines in todo for own in lines)
    panels: list[Axes] = []
    seen: list[float] = []
    for part, shown, lines in todo:
        footnote = Footnote()
        canvas, own = _grid(len(lines), part.title)
        for axes, points in zip(own, lines, strict=True):
            dress(axes)
            seen += draw_points(axes, points, 1.0, footnote, log)
        _label(comparison, part, shown, statistic, own)
        panels += own
        legend(canvas, own, footnote.note())
        drawn.pictures[f"slowdown-{statistic}{part.ending}"] = canvas
    y_axis(panels, _possible(seen), log)


ALONE = "a single number, which is in the table"


def _to_be_seen(
    comparison: Comparison, scenario: str, bands: Sequence[Band], statistic: str, together: bool = False
) -> list[Band]:
    """Return the bands with at least two numbers; ``together``: all bands, if they have two numbers in total."""
    numbers = {band: len(_readings(comparison, scenario, band, statistic)) for band in bands}
    if together:
        return list(bands) if sum(numbers.values()) > 1 else []
    return [band for band in bands if numbers[band] > 1]


def _readings(comparison: Comparison, scenario: str, band: Band, statistic: str) -> list[Reading]:
    """Return a statistic of a band for every value of the key and every controller."""
    return [
        reading
        for controller in comparison.study.controllers
        for value in comparison.study.values
        if (reading := comparison.slowdown(scenario, controller.text, value, band, statistic)) is not None
    ]


def name_of(comparison: Comparison, bands: Iterable[tuple[str, Band]], statistic: str) -> str:
    """Return the name of a statistic of some scenarios' bands, which is the maximum where all have few flows."""
    found = [one for scenario, band in bands for one in _readings(comparison, scenario, band, statistic)]
    return completions.name_of(statistic, found)


def _any_finished(comparison: Comparison, scenario: str, band: Band) -> bool:
    return any(reading.finished for reading in _readings(comparison, scenario, band, "mean"))


def most_flows(comparison: Comparison, scenario: str, band: Band) -> int:
    """Return the largest number of flows of a band at a point, all seeds together."""
    return max((reading.count for reading in _readings(comparison, scenario, band, "mean")), default=0)


def _grid(count: int, title: str) -> tuple[Canvas, list[Axes]]:
    columns = abreast(count, ABREAST)
    rows = -(-count // columns)
    canvas = new_canvas(max(6.4, 3.2 * columns), 2.5 * rows + 1.0)
    canvas.suptitle(title, fontsize=10, color=INK, x=0.01, ha="left", fontweight="bold")
    grid = canvas.subplots(rows, columns, squeeze=False).ravel()
    for axes in grid[count:]:
        axes.remove()
    return canvas, list(grid[:count])


def _share(comparison: Comparison, scenario: str, band: Band) -> str:
    """Return a title with the largest number of flows of a band at a point, and the smallest share finished."""
    least = min(_readings(comparison, scenario, band, "mean"), key=lambda reading: reading.share)
    most = most_flows(comparison, scenario, band)
    share = "all finished" if least.share == 1 else f"≥ {percent(least.share)} finished"
    return f"{band.label}: {most:,} flows, {share}"


def _lines_against_key(
    comparison: Comparison, scenario: str, bands: Sequence[Band], statistic: str
) -> list[list[Points]]:
    """Return the lines of each band over the values of the key, one per controller."""
    study, x = comparison.study, places(comparison.study.values)
    by_panel = []
    for band in bands:
        lines = []
        for i, controller in enumerate(study.controllers):
            kept = [
                (j, reading)
                for j in x.order
                if (reading := comparison.slowdown(scenario, controller.text, x.values[j], band, statistic)) is not None
            ]
            if kept:
                tips = [tip(f"{controller.label}, {band.label}", x.values[j], reading) for j, reading in kept]
                lines.append(Points(controller.label, i, [x.at[j] for j, _ in kept], [one for _, one in kept], tips))
        by_panel.append(lines)
    return by_panel


def _lines_over_sizes(
    comparison: Comparison, scenario: str, bands: Sequence[Band], statistic: str
) -> list[list[Points]]:
    """Return the lines of one panel over the bands, one per controller."""
    study, lines = comparison.study, []
    for i, controller in enumerate(study.controllers):
        kept = [
            # side by side: markers at the same place would hide each other
            (at + 0.3 * ((i + 0.5) / len(study.controllers) - 0.5), reading, tip(controller.label, band.label, reading))
            for at, band in enumerate(bands)
            if (reading := comparison.slowdown(scenario, controller.text, study.values[0], band, statistic)) is not None
        ]
        if kept:
            lines.append(Points(controller.label, i, *zip(*kept, strict=True)))
    return [lines]


def _label(comparison: Comparison, part: Part, bands: Sequence[Band], statistic: str, panels: Sequence[Axes]) -> None:
    """Label the panels: one per band over the key, or one over the bands."""
    study = comparison.study
    names = [name_of(comparison, [(part.scenario, band)], statistic) for band in bands]
    if len(study.values) == 1:
        names = [name_of(comparison, [(part.scenario, band) for band in bands], statistic)]
    for axes, name in zip(panels, names, strict=True):
        axes.set_ylabel(f"{name} slowdown", fontsize=SMALL, color=INK)
    if len(study.values) == 1:
        (axes,) = panels
        axes.set_xticks(range(len(bands)), [band.label for band in bands])
        axes.tick_params(axis="x", rotation=20 if len(bands) > 3 else 0)
        axes.set_xlabel("Flow size", fontsize=SMALL, color=INK)
        return
    for axes, band in zip(panels, bands, strict=True):
        x_axis(axes, places(study.values), 26)
        axes.set_title(_share(comparison, part.scenario, band), fontsize=SMALL, color=INK, loc="left")
        axes.set_xlabel(axis_name(study.key), fontsize=SMALL, color=INK)


def _possible(seen: Sequence[float]) -> list[float]:
    """Raise numbers that an axis must cover to 1, the smallest slowdown: an interval may reach below it."""
    return [max(value, 1.0) for value in seen]


def _distributions(comparison: Comparison, scenario: str, bands: Sequence[Band], title: str) -> Canvas:
    """Draw CDFs of the slowdown, all seeds together: one panel per bin, one row each for the first and last value."""
    study = comparison.study
    x = places(study.values)
    values = list(dict.fromkeys([x.values[x.order[0]], x.values[x.order[-1]]]))
    columns = abreast(len(bands), ABREAST)
    a_value = -(-len(bands) // columns)
    rows = a_value * len(values)
    canvas = new_canvas(max(6.4, 3.2 * columns), 2.2 * rows + 1.0)
    canvas.suptitle(title, fontsize=10, color=INK, x=0.01, ha="left", fontweight="bold")
    grid = canvas.subplots(rows, columns, squeeze=False).ravel()
    bins = comparison.bins_of(scenario)
    open_ = False
    for r, value in enumerate(values):
        runs = {
            controller.text: [run.completions("fct") for run in comparison.point(scenario, controller.text, value)]
            for controller in study.controllers
        }
        for axes, band in zip(grid[r * a_value * columns :], bands, strict=False):
            dress(axes)
            for i, controller in enumerate(study.controllers):
                own = [run.of(band.entry) for run in runs[controller.text]]
                ascending, least, most = completions.curve(
                    [run.where(bins.of(run.sizes) == band.number) for run in own]
                )
                if len(ascending) == 0:
                    continue
                kept = np.unique(np.linspace(0, len(ascending) - 1, CURVE_POINTS).astype(int))
                look = line(i, marker=False)
                steps = [ascending[0], *ascending[kept]], [0.0, *least[kept]]
                (curve,) = axes.plot(*steps, drawstyle="steps-post", label=controller.label, **look)
                belongs(curve, i)
                if least[-1] < 1:
                    open_ = True
                    rest = axes.fill_between(
                        ascending[kept],
                        least[kept],
                        most[kept],
                        step="post",
                        color=look["color"],
                        alpha=0.15,
                        linewidth=0,
                    )
                    belongs(rest, i)
            axes.set_ylim(0, 1.02)
            where = f", {study.key.split('.')[-1]} {value}" if len(values) > 1 else ""
            axes.set_title(f"{band.label}{where}", fontsize=SMALL, color=INK, loc="left")
            axes.set_xlabel("Slowdown", fontsize=SMALL, color=INK)
            axes.set_ylabel("Share of flows", fontsize=SMALL, color=INK)
    block = a_value * columns
    unused = [axes for r in range(len(values)) for axes in grid[r * block + len(bands) : (r + 1) * block]]
    for axes in unused:
        axes.remove()
    most = max(line.get_xdata()[-1] for axes in grid if axes not in unused for line in axes.lines)
    for axes in grid:
        if axes not in unused:
            axes.set_xlim(0.95, max(2.0, most * 1.05))
            numbered_log(axes, "x")
    note = "Shares of all flows that began: a curve ends at the share finished; the band shows where the others may be."
    legend(canvas, [axes for axes in grid if axes not in unused], note if open_ else "")
    return canvas
