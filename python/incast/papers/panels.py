"""Additional panels of a line picture: a zoom, and differences from one series."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes

from incast.papers.definition import Figure, Measure, Plot, Series, X
from incast.papers.evaluation import Evaluated
from incast.pictures.interval_plot import Footnote
from incast.pictures.style import INK, dress, line
from incast.statistics import Estimate, estimate

JOINED = 3
"""Fewest points that a line joins: two say nothing about the values between them."""


@dataclass(frozen=True)
class _Bounded(Estimate):
    """An estimate of a bounded quantity: its interval is cut at the bounds."""

    least: float
    most: float

    @property
    def low(self) -> float:
        """Lower end of the interval, within the range."""
        return max(super().low, self.least)

    @property
    def high(self) -> float:
        """Upper end of the interval, within the range."""
        return min(super().high, self.most)


def bounded(found: Estimate, measure: Measure) -> Estimate:
    """Cut an interval to the range of a measure, if it has one."""
    if measure.range is None:
        return found
    return _Bounded(found.mean, found.half_width, found.count, *measure.range)


def zoomed(figure: Figure, plot: Plot) -> list[X]:
    """Return the points of the zoomed panel; empty with fewer than two."""
    if plot.zoom is None:
        return []
    least, most = plot.zoom
    found = [point.x for point in figure.points if not isinstance(point.x, str) and least <= point.x <= most]
    return list(found) if 2 <= len(found) < len(figure.points) else []


def difference(done: Evaluated, measure: str, series: str, to: str, x: X) -> Estimate | None:
    """Return mean and interval of the paired differences of a series from another one."""
    there = done.values[measure]
    seeds = [seed for seed in range(1, done.figure.seeds + 1) if (series, x, seed) in there and (to, x, seed) in there]
    return estimate([there[series, x, seed] - there[to, x, seed] for seed in seeds])


def draw_zoom(
    axes: Axes, done: Evaluated, measure: str, drawn: Sequence[Series], looks: Sequence[int], points: Sequence[X]
) -> None:
    """Draw the zoomed panel, with an axis that begins near the smallest number."""
    of = done.figure.measures[measure]
    found = {
        one.name: [(float(x), bounded(e, of)) for x in points if (e := done.estimate(measure, one.name, x)) is not None]
        for one in drawn
    }
    _draw(axes, found, looks, None)
    _finish(axes, done.figure, points)
    axes.set_title(f"Zoom: {points[0]} to {points[-1]}", fontsize=10, color=INK, loc="left", fontweight="bold")
    axes.set_ylabel(done.figure.measures[measure].title, fontsize=9, color=INK)


def draw_differences(
    axes: Axes,
    done: Evaluated,
    measure: str,
    drawn: Sequence[Series],
    looks: Sequence[int],
    to: str,
    footnote: Footnote,
) -> None:
    """Draw the paired differences of series from one of them, with intervals."""
    points = [point.x for point in done.figure.points]
    found = {
        one.name: [(float(x), e) for x in points if (e := difference(done, measure, one.name, to, x)) is not None]
        for one in drawn
        if one.name != to
    }
    kept = [look for one, look in zip(drawn, looks, strict=True) if one.name != to]
    axes.axhline(0.0, color=INK, linewidth=0.8)
    _draw(axes, found, kept, footnote)
    _finish(axes, done.figure, points)
    unit = done.figure.measures[measure].unit
    axes.set_title(f"Paired differences from {to}", fontsize=10, color=INK, loc="left", fontweight="bold")
    axes.set_ylabel(f"Difference{f' ({unit})' if unit else ''}", fontsize=9, color=INK)


def _draw(
    axes: Axes, found: dict[str, list[tuple[float, Estimate]]], looks: Sequence[int], footnote: Footnote | None
) -> None:
    for look, (name, kept) in zip(looks, found.items(), strict=True):
        if not kept:
            continue
        style = line(look)
        if len(kept) < JOINED:
            style |= {"linestyle": "none"}
        axes.plot([x for x, _ in kept], [e.mean for _, e in kept], label=name, **style)
        for x, e in kept:
            if e.half_width is not None:
                axes.plot([x, x], [e.low, e.high], color=style["color"], linewidth=1.2, alpha=0.7, label="_whisker")
        if footnote is not None:
            footnote.note_intervals(e for _, e in kept)


def _finish(axes: Axes, figure: Figure, points: Sequence[X]) -> None:
    dress(axes)
    axes.margins(x=0.08, y=0.08)
    axes.set_xlabel(figure.x_label, fontsize=9, color=INK)
    if float(points[0]) > 0 and float(points[-1]) / float(points[0]) > 4:
        axes.set_xscale("log")
    axes.set_xticks([float(x) for x in points], [f"{x}" for x in points])
    axes.minorticks_off()
