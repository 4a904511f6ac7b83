"""Points of pictures: figures with intervals and with the bounds that unfinished flows leave.

An axis begins at zero or is logarithmic. An interval that reaches below the axis is drawn down to it, and marked there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from matplotlib.axes import Axes
from matplotlib.transforms import blended_transform_factory

from incast.pictures.inline import belongs
from incast.pictures.style import line, numbered_log, spans
from incast.statistics import Estimate
from incast.writing.numbers import percent


class Measured(Protocol):
    """A figure at one place, such as ``completions.Reading``."""

    @property
    def least(self) -> Estimate | None:
        """Mean and interval; of an open figure its lower bound."""

    @property
    def most(self) -> Estimate | None:
        """Upper bound; ``None`` without one."""

    @property
    def exact(self) -> bool:
        """True if the bounds are equal."""

    @property
    def share(self) -> float:
        """Share finished of the transfers in the figure."""


@dataclass(frozen=True)
class Known:
    """A known figure."""

    least: Estimate
    exact: bool = True
    share: float = 1.0

    @property
    def most(self) -> Estimate:
        """The figure itself."""
        return self.least


@dataclass(frozen=True)
class Points:
    """A line of a picture: figures by their places on the x axis."""

    label: str
    number: int
    """Number of its style."""
    at: Sequence[float]
    readings: Sequence[Measured]
    tips: Sequence[str] = ()
    """Texts that the points tell on a page; none by default."""


@dataclass
class Footnote:
    """Elements of a picture that its footnote must explain."""

    unfinished: bool = False
    below: bool = False
    bands: bool = False
    whiskers: bool = False

    def note_intervals(self, found: Iterable[Estimate], bands: bool = False) -> None:
        """Note that figures have intervals, drawn as bands or as whiskers."""
        if any(e.half_width is not None for e in found):
            self.bands, self.whiskers = self.bands or bands, self.whiskers or not bands

    def note(self) -> str:
        """Write the footnote."""
        parts = []
        if self.unfinished:
            parts.append(
                "Hollow, with a percentage: that share finished. Arrow: lower bound; thick bar: lower to upper bound."
            )
        if self.bands or self.whiskers:
            what = " and ".join([*["bands"] * self.bands, *["whiskers"] * self.whiskers]).capitalize()
            parts.append(f"{what}: 95 % intervals of the means over the seeds.")
        if self.below:
            parts.append("\u25bc at the axis: the 95 % interval reaches zero or below.")
        return "\n".join(parts)


def fit_a_log_axis(lines: Iterable[Points], alone: bool = False) -> bool:
    """Return whether the lines have figures, all of them above zero.

    ``alone``: the figures are of one value of the key; they must also span enough, as for any axis.
    """
    means = [e.mean for points in lines for reading in points.readings if (e := reading.least) is not None]
    return spans(means) if alone else bool(means) and min(means) > 0


def draw_points(
    axes: Axes, lines: Sequence[Points], scale: float, footnote: Footnote, log: bool, join: bool = True
) -> list[float]:
    """Draw lines with their intervals; return all numbers that the axis must cover, without lower ends below it.

    ``log``: the y axis will be logarithmic. ``join``: draw lines between the points.
    """
    seen: list[float] = []
    for points in lines:
        tips = points.tips or [""] * len(points.at)
        kept = [
            (x, r, e, tip)
            for x, r, tip in zip(points.at, points.readings, tips, strict=True)
            if (e := r.least) is not None
        ]
        if not kept:
            continue
        before = set(axes.get_children())
        look = line(points.number)
        colour = look["color"]
        xs, found = [x for x, _, _, _ in kept], [e for _, _, e, _ in kept]
        means = [e.mean * scale for e in found]
        lows, highs = [e.low * scale for e in found], [e.high * scale for e in found]
        seen += in_sight(found, scale)
        footnote.note_intervals(found, bands=join and len(xs) > 1)
        (drawn,) = axes.plot(xs, means, label=points.label, **(look if join else {**look, "linestyle": "none"}))
        if join and len(xs) > 1:
            axes.fill_between(xs, lows, highs, color=colour, alpha=0.15, linewidth=0, label="_band")
        else:
            # a single place has no width for a band
            for x, low, high in zip(xs, lows, highs, strict=True):
                axes.plot([x, x], [low, high], color=colour, linewidth=1.2, alpha=0.7)
        for (x, reading, estimate, _), mean in zip(kept, means, strict=True):
            mark_below(axes, x, estimate, colour, footnote, log)
            if reading.share < 1:
                footnote.unfinished = True
                seen += _unfinished(axes, points.number, x, mean, reading, scale)
        for artist in set(axes.get_children()) - before:
            belongs(artist, points.number)
        if points.tips:
            belongs(drawn, points.number, [tip for _, _, _, tip in kept])
    return seen


def _unfinished(axes: Axes, number: int, x: float, mean: float, reading: Measured, scale: float) -> list[float]:
    """Mark a figure of which not all finished, with the share; return the numbers that the axis must cover."""
    colour = line(number)["color"]
    axes.plot([x], [mean], line(number)["marker"], color=colour, markerfacecolor="white", markersize=6, zorder=5)
    axes.annotate(
        percent(reading.share),
        (x, mean),
        (5, 3 + 8 * (number % 3)),
        textcoords="offset points",
        fontsize=6.5,
        color=colour,
        annotation_clip=True,
    )
    return _open_above(axes, x, mean, reading, scale, colour)


def in_sight(found: Iterable[Estimate], scale: float = 1.0) -> list[float]:
    """Return the means and interval ends that an axis must cover; ends below zero are left out."""
    return [end * scale for e in found for end in (e.mean, e.high, e.low) if end > 0 or end == e.mean]


def mark_below(axes: Axes, x: float, found: Estimate, colour: str, footnote: Footnote, log: bool) -> None:
    """Mark an interval that reaches below the axis."""
    if found.low < 0 or (log and found.low == 0 < found.mean):
        footnote.below = True
        beside = blended_transform_factory(axes.transData, axes.transAxes)
        axes.plot([x], [0.012], marker="v", color=colour, markersize=5, transform=beside, clip_on=False)


def _open_above(axes: Axes, x: float, low: float, reading: Measured, scale: float, colour: str) -> list[float]:
    """Draw how far unfinished flows may raise a figure; return the numbers that the axis must cover."""
    if reading.exact:
        return []
    most = reading.most
    if most is None:
        arrow = {"arrowstyle": "<-", "color": colour, "linewidth": 1.1}
        axes.annotate("", (x, low), (0, 17), textcoords="offset points", arrowprops=arrow)
        return []
    axes.plot([x, x], [low, most.mean * scale], color=colour, linewidth=2.2, alpha=0.6)
    return [most.mean * scale]


def until(times: Sequence[float], values: Sequence[float], end: float) -> tuple[list[float], list[float]]:
    """Cut a step series at its end time: the last value holds until then."""
    kept = sum(time <= end for time in times)
    times, values = list(times[:kept]), list(values[:kept])
    return ([*times, end], [*values, values[-1]]) if times else ([], [])


def thinned(times: Sequence[float], values: Sequence[float], most: int) -> tuple[list[float], list[float]]:
    """Keep at most about twice ``most`` points of a step series: of each of so many steps the least and the largest."""
    if len(times) <= 2 * most:
        return list(times), list(values)
    size = -(-len(times) // most)
    kept = []
    for begin in range(0, len(times), size):
        part = range(begin, min(begin + size, len(times)))
        kept += sorted({min(part, key=values.__getitem__), max(part, key=values.__getitem__)})
    return [times[i] for i in kept], [values[i] for i in kept]


def mark_end(
    axes: Axes, times: Sequence[float], values: Sequence[float], scales: tuple[float, float], colour: str
) -> None:
    """Mark the end of a line that ends before the picture; ``scales`` convert its units to those of the axes."""
    if times:
        axes.plot([times[-1] * scales[0]], [values[-1] * scales[1]], marker="|", color=colour, markersize=7)


def y_axis(panels: Sequence[Axes], seen: Sequence[float], log: bool, index: bool = False) -> None:
    """Set the y axis of panels after drawing: from zero, or logarithmic; ``index`` ends at 1."""
    positive = [value for value in seen if value > 0]
    for axes in panels:
        if log:
            axes.set_yscale("log")
            axes.set_ylim(min(positive) / 1.15, max(positive) * 1.25)
            numbered_log(axes)
        elif index:
            axes.set_ylim(0, 1.03)
        else:
            axes.set_ylim(0, max(positive, default=0.0) * 1.12 or 1)
