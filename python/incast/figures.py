"""The figures of a report: which they are, and how they are drawn."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.transforms import blended_transform_factory

from incast.comparison import Comparison, Run, samples_of
from incast.completions import Reading, one_size
from incast.errors import FolderError
from incast.look import (
    ABREAST,
    COLOURS,
    GREY,
    INK,
    Places,
    dress,
    legend,
    line,
    new_canvas,
    numbered_log,
    places,
    time_unit,
    x_axis,
)
from incast.result import COMPLETIONS
from incast.run_folder import read_table


@dataclass(frozen=True)
class Figure:
    """A figure of the summary as reports show it."""

    key: str
    """Where it stands in the summary."""
    name: str
    """Name of its file."""
    title: str
    short: str
    """Title and unit in the width of a column on a terminal."""
    unit: str
    scale: float
    """From the summary's unit to the one shown."""
    log: bool
    better: str
    """``"higher"`` or ``"lower"``: which end readers look for."""

    @property
    def label(self) -> str:
        """Title with its unit."""
        return f"{self.title} ({self.unit})" if self.unit else self.title


FIGURES = [
    Figure(
        "flows.throughput_mean_bps",
        "throughput",
        "Throughput per flow",
        "Mb/s\nper flow",
        "Mb/s",
        1e-6,
        True,
        "higher",
    ),
    Figure("flows.loss_total_pct", "loss", "Loss", "loss\n%", "% of segments sent", 1.0, False, "lower"),
    Figure("flows.delay_mean_s", "delay-mean", "Mean one-way delay", "delay\nmean ms", "ms", 1e3, True, "lower"),
    Figure("flows.delay_p99_s", "delay-p99", "p99 one-way delay", "delay\np99 ms", "ms", 1e3, True, "lower"),
    Figure("flows.timeouts", "timeouts", "Retransmission timeouts", "time-\nouts", "per run", 1.0, False, "lower"),
    Figure(
        "queues.busiest.mean_packets",
        "queue",
        "Mean queue at the busiest port",
        "queue\npackets",
        "packets",
        1.0,
        True,
        "lower",
    ),
    Figure("flows.jain", "fairness", "Jain's fairness index", "Jain", "", 1.0, False, "higher"),
]

ACTIVE = Figure(
    "flows.throughput_active_mean_bps",
    "throughput",
    "Throughput per flow while it is active",
    "Mb/s per\nactive flow",
    "Mb/s",
    1e-6,
    True,
    "higher",
)
"""Throughput where flows have an end: bytes over each flow's own time, not over an interval that the last one sets."""

COMPLETION_FIGURES = [
    Figure("fct.mean_s", "fct-mean", "Mean flow completion time", "FCT\nmean ms", "ms", 1e3, True, "lower"),
    Figure("fct.p99_s", "fct-p99", "p99 flow completion time", "FCT\np99 ms", "ms", 1e3, True, "lower"),
    *(
        figure
        for what, one in (("queries", "query"), ("writes", "write"))
        for figure in (
            Figure(
                f"{what}.mean_s",
                f"{what}-mean",
                f"Mean {one} completion time",
                f"{one}\nmean ms",
                "ms",
                1e3,
                True,
                "lower",
            ),
            Figure(
                f"{what}.p99_s", f"{what}-p99", f"p99 {one} completion time", f"{one}\np99 ms", "ms", 1e3, True, "lower"
            ),
            Figure(
                f"{what}.with_timeout",
                f"{what}-timeouts",
                f"{what.capitalize()} with a timeout",
                "with\ntimeout",
                "per run",
                1.0,
                False,
                "lower",
            ),
        )
    ),
]
"""Figures of what applications wait for, shown where a run has it."""

PAUSE_FIGURES = [
    Figure("queues.pauses", "pauses", "Pauses by flow control", "pauses\nper run", "per run", 1.0, False, "lower"),
    Figure("queues.paused_s", "paused", "Time paused, all ports", "paused\nms", "ms", 1e3, False, "lower"),
]
"""Figures of priority flow control, shown where a run paused a port."""


def figures_of(comparison: Comparison, scenario: str | None = None) -> list[Figure]:
    """Return the figures that a comparison shows, or those which one of its scenarios has."""
    runs = [run for case, run in comparison.runs.items() if scenario in (None, case.scenario)]
    there = [what for what in COMPLETIONS if any(run.figure(f"{what}.count") for run in runs)]
    sizes = [run.sizes for run in runs if run.sizes is not None]
    if not one_size(sizes):
        there.remove("fct")  # a completion time over all sizes is one of the largest: slowdowns by size instead
    shown = [ACTIVE if figure.name == "throughput" and sizes and _known(runs) else figure for figure in FIGURES]
    shown = [*shown, *(figure for figure in COMPLETION_FIGURES if figure.key.partition(".")[0] in there)]
    if any(run.figure("queues.pauses") for run in runs):
        shown += PAUSE_FIGURES
    return [_in_its_unit(figure, [run.figure(figure.key) for run in comparison.runs.values()]) for figure in shown]


def _known(runs: Iterable[Run]) -> bool:
    """Whether runs have the figure of flows that end; those of earlier versions have not."""
    return any(run.figure(ACTIVE.key) is not None for run in runs)


def _in_its_unit(figure: Figure, found: Iterable[float | None]) -> Figure:
    """Show times all of which are below a millisecond in microseconds."""
    if figure.unit != "ms" or max((value for value in found if value is not None), default=1.0) >= 1e-3:
        return figure
    return replace(figure, unit="us", scale=1e6, short=f"{figure.short.removesuffix('ms')}us")


@dataclass(frozen=True)
class Points:
    """A line of a picture: a figure by the place of its value on the x axis."""

    label: str
    number: int
    """Of its look."""
    at: Sequence[float]
    readings: Sequence[Reading]


@dataclass
class Told:
    """What a picture shows that its footnote must explain."""

    unfinished: bool = False
    below: bool = False

    def note(self, log: bool) -> str:
        """Write the footnote."""
        parts = []
        if self.unfinished:
            parts.append(
                "Hollow, with a percentage: that share finished. Arrow: at least so much; thick bar: between its ends."
            )
        if self.below and log:
            parts.append("\u25bc at the axis: the 95 % interval reaches zero or below.")
        return "\n".join(parts)


def draw_points(axes: Axes, lines: Sequence[Points], scale: float, told: Told, join: bool = True) -> list[float]:
    """Draw lines with their intervals; give all numbers that must be in sight, without lower ends below zero.

    What reaches zero or below is marked where the axis begins: a logarithmic axis has no place for it.
    """
    seen: list[float] = []
    for points in lines:
        kept = [(x, r, e) for x, r in zip(points.at, points.readings, strict=True) if (e := r.least) is not None]
        if not kept:
            continue
        look = line(points.number)
        colour = look["color"]
        xs = [x for x, _, _ in kept]
        means = [e.mean * scale for _, _, e in kept]
        lows, highs = [e.low * scale for _, _, e in kept], [e.high * scale for _, _, e in kept]
        seen += [*means, *highs, *(low for low in lows if low > 0)]
        axes.fill_between(xs, lows, highs, color=colour, alpha=0.15, linewidth=0, label="_band")
        axes.plot(xs, means, label=points.label, **(look if join else {**look, "linestyle": "none"}))
        # a single place has no width that a band could fill
        for x, low, high in zip(xs, lows, highs, strict=True):
            if len(xs) == 1 or not join:
                axes.plot([x, x], [low, high], color=colour, linewidth=1.2, alpha=0.7)
        for (x, reading, _), mean, low in zip(kept, means, lows, strict=True):
            if low <= 0 < mean:
                told.below = True
                beside = blended_transform_factory(axes.transData, axes.transAxes)
                axes.plot([x], [0.012], marker="v", color=colour, markersize=5, transform=beside, clip_on=False)
            if reading.count and reading.share < 1:
                told.unfinished = True
                axes.plot([x], [mean], look["marker"], color=colour, markerfacecolor="white", markersize=6, zorder=5)
                share = f"{100 * reading.share:.3g} %"
                axes.annotate(
                    share,
                    (x, mean),
                    (5, 3 + 8 * (points.number % 3)),
                    textcoords="offset points",
                    fontsize=6.5,
                    color=colour,
                    annotation_clip=True,
                )
                if not reading.exact:
                    _open_above(axes, x, mean, reading, scale, colour)
    return seen


def _open_above(axes: Axes, x: float, low: float, reading: Reading, scale: float, colour: str) -> None:
    """Draw how far the unfinished may move a figure up."""
    most = reading.most
    if most is None:
        arrow = {"arrowstyle": "->", "color": colour, "linewidth": 1.1}
        axes.annotate("", (x, low), (0, 17), textcoords="offset points", arrowprops={**arrow, "arrowstyle": "<-"})
    else:
        axes.plot([x, x], [low, most.mean * scale], color=colour, linewidth=2.2, alpha=0.6)


def y_axis(panels: Sequence[Axes], seen: Sequence[float], log: bool, index: bool = False) -> bool:
    """Give panels their y axis: numbers from zero on, or logarithmic; whether it is that."""
    positive = [value for value in seen if value > 0]
    log = log and bool(positive) and len(positive) == len(seen)
    for axes in panels:
        if log:
            axes.set_yscale("log")
            axes.set_ylim(min(positive) / 1.15, max(positive) * 1.25)
            numbered_log(axes)
        elif index:
            axes.set_ylim(0, 1.03)
        else:
            axes.set_ylim(0, max([*seen, 0.0]) * 1.12 or 1)
    return log


def plot(comparison: Comparison, figure: Figure) -> Canvas:
    """Draw one figure against the varied key: a panel a scenario, a line a controller, a band for its interval.

    With one value of the key controllers stand side by side; more than eight have a panel each, the others in grey.
    """
    study = comparison.study
    told = Told()
    x = places(study.values)
    many = len(study.controllers) > ABREAST and len(study.values) > 1
    panels_of = [None] if not many else list(range(len(study.controllers)))
    count = len(study.scenarios) * len(panels_of)
    columns = len(study.scenarios) if not many else 4
    rows = -(-count // columns)
    canvas = new_canvas(max(6.4, (3.2 if many else 4.9) * columns), 4.4 if rows == 1 else 2.6 * rows + 1)
    grid = canvas.subplots(rows, columns, squeeze=False, sharey=many).ravel().tolist()
    log = False
    for s, (scenario, name) in enumerate(zip(study.scenarios, study.scenario_names(), strict=True)):
        lines = lines_of(comparison, scenario, x, figure)
        own = grid[s * len(panels_of) : (s + 1) * len(panels_of)]
        seen: list[float] = []
        for axes, chosen in zip(own, panels_of, strict=True):
            dress(axes)
            if chosen is not None:
                for other in lines:
                    means = [e.mean * figure.scale for r in other.readings if (e := r.least) is not None]
                    axes.plot(other.at, means, color="#c3c9d1", linewidth=0.8, zorder=1)
                shown = [one for one in lines if one.number == chosen]
                seen += [e.mean * figure.scale for one in lines for r in one.readings if (e := r.least) is not None]
            else:
                shown = lines
            seen += draw_points(axes, shown, figure.scale, told, join=len(study.values) > 1)
            if len(study.values) > 1:
                x_axis(axes, x)
                axes.set_xlabel(axis_name(study.key), fontsize=9, color=INK)
            else:
                side_by_side(axes, [controller.label for controller in study.controllers])
            title = name if chosen is None else study.controllers[chosen].label
            axes.set_title(title, fontsize=10 if chosen is None else 8, color=INK, loc="left", fontweight="bold")
            axes.set_ylabel(figure.label, fontsize=9 if chosen is None else 7, color=INK)
        log = y_axis(own, seen, figure.log, figure.key == "flows.jain") or log
    for axes in grid[count:]:
        axes.remove()
    legend(canvas, [] if many or len(study.values) == 1 else grid[:count], told.note(log))
    return canvas


def lines_of(comparison: Comparison, scenario: str, x: Places, figure: Figure) -> list[Points]:
    """Give the lines of a figure, one a controller: over the varied key, or side by side where it has one value."""
    found = []
    for i, controller in enumerate(comparison.study.controllers):
        kept = [
            (x.at[j] if len(x.at) > 1 else float(i), reading)
            for j in x.order
            if (reading := comparison.reading(scenario, controller.text, x.values[j], figure.key)) is not None
        ]
        if kept:
            found.append(Points(controller.label, i, [at for at, _ in kept], [reading for _, reading in kept]))
    return found


def side_by_side(axes: Axes, labels: Sequence[str]) -> None:
    """Put names on an x axis."""
    aslant = sum(len(label) + 2 for label in labels) > 40
    axes.set_xticks(range(len(labels)), labels, rotation=35 if aslant else 0, ha="right" if aslant else "center")
    axes.set_xlim(-0.5, len(labels) - 0.5)
    axes.grid(visible=False, axis="x")


def axis_name(key: str) -> str:
    """Return the name of the varied key on an axis."""
    return "Number of flows" if key == "traffic.flows" else key


def nothing_to_see(comparison: Comparison, figure: Figure) -> str | None:
    """Say why a figure has no picture: it is zero everywhere, or one number alone; ``None`` where it has one."""
    study = comparison.study
    found = [
        reading.least
        for scenario in study.scenarios
        for value in study.values
        for controller in study.controllers
        if (reading := comparison.reading(scenario, controller.text, value, figure.key)) is not None
    ]
    means = [one.mean for one in found if one is not None]
    if not means:
        return "no run has it"
    if not any(means):
        return "0 in all runs"
    if len(means) == 1:
        return "one number alone, which stands in the table"
    return None


def _ends(folder: Path, flows: Sequence[int]) -> dict[str, float]:
    """Give when flows ended, in seconds, by the name that time series have for them."""
    finish = read_table(folder, "flows", ["finish_s"])["finish_s"].to_pylist()
    return {f"flow {flow}": finish[flow] for flow in flows if finish[flow] is not None}


def plot_series(comparison: Comparison) -> Canvas | None:
    """Draw windows of a few flows and the busiest queue over time, a column a controller."""
    series = comparison.series
    if not series:
        return None
    columns = [samples_of(one) for one in series]
    unit, scale = time_unit(max((times[-1] for data in columns for times, _ in data.values() if times), default=0.0))
    canvas = new_canvas(max(6.4, 2.35 * len(series)), 4.6)
    panels = canvas.subplots(2, len(series), squeeze=False, sharex=True, sharey="row")
    for column, (one, data) in enumerate(zip(series, columns, strict=True)):
        colour = COLOURS[column % len(COLOURS)]
        top, bottom = panels[0][column], panels[1][column]
        windows = sorted(key for key in data if key[1] == "cwnd_bytes")
        ends = _ends(one.folder, one.flows)
        for i, key in enumerate(windows):
            times, values = data[key]
            # the window of a flow that has ended is nobody's
            end = ends.get(key[0], math.inf)
            kept = sum(time <= end for time in times)
            times, values = times[:kept], values[:kept]
            if times and end < math.inf:
                times, values = [*times, end], [*values, values[-1]]
                top.plot([end * scale], [values[-1] / 1e3], marker="|", color=colour, markersize=7)
            top.step(
                [t * scale for t in times],
                [v / 1e3 for v in values],
                where="post",
                color=colour,
                alpha=1 - 0.3 * i,
                linewidth=0.9,
            )
        times, values = data.get((one.port, "queue_packets"), ([], []))
        bottom.step([t * scale for t in times], values, where="post", color=colour, linewidth=0.9)
        top.set_title(one.case.controller.label, fontsize=7.5, color=INK, loc="left", wrap=True)
        bottom.set_xlabel(f"Simulated time ({unit})", fontsize=8, color=INK)
        for axes in (top, bottom):
            dress(axes)
            axes.axvspan(0, one.measure_from_s * scale, color=GREY, alpha=0.13, linewidth=0)
    for axes in panels[0]:
        numbered_log(axes)
    # shared by all, and fixed once it is set
    panels[1][0].set_ylim(bottom=0)
    panels[0][0].set_ylabel(f"cwnd of {len(windows)} flows (kB)", fontsize=8, color=INK)
    panels[1][0].set_ylabel(f"Queue at {series[0].port}\n(packets)", fontsize=8, color=INK)
    return canvas


@dataclass
class Drawn:
    """Pictures of a comparison, by the name of their file without its ending."""

    pictures: dict[str, Canvas] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    """Titles of figures that have no picture, and why."""


def draw_all(comparison: Comparison, note: Callable[[str], None] = lambda _: None) -> Drawn:
    """Draw every figure of a comparison that there is something to see of."""
    drawn = Drawn()
    for figure in figures_of(comparison):
        note(figure.title)
        if reason := nothing_to_see(comparison, figure):
            drawn.left_out[figure.title] = reason
        else:
            drawn.pictures[figure.name] = plot(comparison, figure)
    try:
        series = plot_series(comparison)
    except (FolderError, ValueError, KeyError) as error:
        comparison.series_gap = f"its runs cannot be drawn: {error}"
        series = None
    if series is not None:
        drawn.pictures["over-time"] = series
    return drawn
