"""The figures of a report: which they are, and how they are drawn."""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import FuncFormatter, NullLocator

from incast.comparison import Comparison, samples_of
from incast.errors import FolderError
from incast.result import COMPLETIONS


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
    shown = [*FIGURES, *(figure for figure in COMPLETION_FIGURES if figure.key.partition(".")[0] in there)]
    if any(run.figure("queues.pauses") for run in runs):
        shown += PAUSE_FIGURES
    return [_in_its_unit(figure, [run.figure(figure.key) for run in comparison.runs.values()]) for figure in shown]


def _in_its_unit(figure: Figure, found: Iterable[float | None]) -> Figure:
    """Show times all of which are below a millisecond in microseconds."""
    if figure.unit != "ms" or max((value for value in found if value is not None), default=1.0) >= 1e-3:
        return figure
    return replace(figure, unit="us", scale=1e6, short=f"{figure.short.removesuffix('ms')}us")


TIME_UNITS = [(1.0, "s"), (1e-3, "ms"), (0.0, "us")]
"""Units of a time axis, by the least span that each is for, in seconds."""


def time_unit(span_s: float) -> tuple[str, float]:
    """Return the unit of an axis over this much time, and what seconds are multiplied by."""
    unit = next(unit for least, unit in TIME_UNITS if span_s >= least)
    return unit, {"s": 1.0, "ms": 1e3, "us": 1e6}[unit]


# Okabe and Ito's palette: told apart with every common kind of colour blindness. Line style and
# marker repeat the distinction for print in grey.
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#000000", "#56B4E9", "#7F7F7F"]
MARKERS = ["o", "s", "^", "D", "v", "P", "X", "*"]
STYLES = ["-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (8, 2)), (0, (3, 1)), (0, (1, 1))]

INK, GRID = "#22272e", "#d9dee5"

LEGEND_LETTERS = 60
"""Letters that the names of a legend have together at most, in one row."""


def line(number: int, marker: bool = True) -> dict[str, Any]:
    """Look of a plot's lines, by number."""
    return {
        "color": COLOURS[number % len(COLOURS)],
        "linestyle": STYLES[number % len(STYLES)],
        "marker": MARKERS[number % len(MARKERS)] if marker else None,
        "markersize": 4.5,
        "linewidth": 1.6,
    }


def new_canvas(width: float, height: float) -> Canvas:
    """Make a canvas, in inches."""
    # Not through pyplot: it keeps figures in global state and is not safe with threads.
    return Canvas(figsize=(width, height), dpi=160, layout="constrained", facecolor="white")


def dress(axes: Axes) -> None:
    """Give axes the look of all pictures."""
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color("#8b949e")
    axes.tick_params(colors=INK, labelsize=8)
    axes.grid(visible=True, which="major", color=GRID, linewidth=0.7)
    axes.set_axisbelow(True)


def png_bytes(canvas: Canvas) -> bytes:
    """Write a canvas as PNG."""
    buffer = io.BytesIO()
    # Without a date and a program's version in it the same data gives the same bytes.
    canvas.savefig(buffer, format="png", metadata={"Software": None})
    return buffer.getvalue()


def _plain(value: float, _position: object = None) -> str:
    return f"{value:g}"


def positions(values: tuple[str, ...]) -> tuple[list[float], bool]:
    """Where the values of the varied key lie on the x axis, and whether they are numbers."""
    try:
        return [float(value) for value in values], True
    except ValueError:
        return [float(i) for i in range(len(values))], False


def plot(comparison: Comparison, figure: Figure) -> bytes:
    """Draw one figure against the varied key: a panel a scenario, a line a controller, a band for
    the 95 % interval.
    """  # noqa: D205
    study = comparison.study
    count = len(study.scenarios)
    canvas = new_canvas(max(6.4, 4.9 * count), 4.4)
    panels = canvas.subplots(1, count, squeeze=False, sharey=False)[0]
    x, numeric = positions(study.values)
    order = sorted(range(len(x)), key=x.__getitem__)
    for axes, scenario, name in zip(panels, study.scenarios, study.scenario_names(), strict=True):
        positive = True
        for i, controller in enumerate(study.controllers):
            found = [comparison.estimate(scenario, controller.text, study.values[j], figure.key) for j in order]
            kept = [(x[j], e) for j, e in zip(order, found, strict=True) if e is not None]
            if not kept:
                continue
            places = [place for place, _ in kept]
            means = [e.mean * figure.scale for _, e in kept]
            lows = [e.low * figure.scale for _, e in kept]
            highs = [e.high * figure.scale for _, e in kept]
            positive = positive and min(means) > 0
            # An interval's lower end may lie below zero, where no figure of ours can be.
            floor = [max(low, mean * 0.05 if figure.log else 0.0) for low, mean in zip(lows, means, strict=True)]
            axes.fill_between(places, floor, highs, color=COLOURS[i % len(COLOURS)], alpha=0.15, linewidth=0)
            axes.plot(places, means, label=controller.label, **line(i))
        dress(axes)
        if numeric and min(x) > 0 and max(x) / min(x) >= 5:
            axes.set_xscale("log")
            axes.xaxis.set_minor_locator(NullLocator())
        axes.set_xticks([x[j] for j in order], [study.values[j] for j in order], rotation=0)
        if figure.log and positive:
            axes.set_yscale("log")
            plain_log_ticks(axes)
            axes.grid(visible=True, which="minor", axis="y", color=GRID, linewidth=0.35)
        elif figure.key == "flows.jain":
            axes.set_ylim(0, 1.03)
        else:
            axes.set_ylim(bottom=0)
        axes.set_title(name, fontsize=10, color=INK, loc="left", fontweight="bold")
        axes.set_xlabel(axis_name(study.key), fontsize=9, color=INK)
        axes.set_ylabel(figure.label, fontsize=9, color=INK)
    legend(canvas, panels)
    return png_bytes(canvas)


def plain_log_ticks(axes: Axes) -> None:
    """Label decades of y, and numbers between them, as plain numbers: the fewer decades there are, the more."""
    low, high = axes.get_ylim()
    decades = math.log10(high / low)
    between = range(2, 10) if decades < 0.7 else (2, 3, 5, 7) if decades < 1.3 else (2, 5)
    axes.yaxis.set_major_formatter(FuncFormatter(_plain))
    axes.yaxis.set_minor_formatter(FuncFormatter(lambda v, _: _plain(v) if _leading(v) in between else ""))
    axes.tick_params(axis="y", which="minor", labelsize=7, colors=INK)


def _leading(value: float) -> int:
    return int(f"{value:.0e}"[0])


def axis_name(key: str) -> str:
    """Return the name of the varied key on an axis."""
    return "Number of flows" if key == "traffic.flows" else key


def legend(canvas: Canvas, panels: Iterable[Axes]) -> None:
    """Put one legend for all panels below them."""
    # A panel lacks a controller that has no such figure there.
    shown = {label: handle for axes in panels for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)}
    # Four short names stand in one row; otherwise rows of three.
    one_row = len(shown) <= 4 and sum(len(label) for label in shown) <= LEGEND_LETTERS
    canvas.legend(
        list(shown.values()),
        list(shown),
        loc="outside lower center",
        ncols=4 if one_row else 3,
        frameon=False,
        fontsize=8,
        labelcolor=INK,
        handlelength=3.2,
    )


def plot_series(comparison: Comparison) -> bytes | None:
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
        for i, key in enumerate(windows):
            times, values = data[key]
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
            axes.axvspan(0, one.measure_from_s * scale, color="#8b949e", alpha=0.13, linewidth=0)
        top.set_yscale("log")
        plain_log_ticks(top)
    # shared by all, and fixed once it is set
    panels[1][0].set_ylim(bottom=0)
    panels[0][0].set_ylabel(f"cwnd of {len(windows)} flows (kB)", fontsize=8, color=INK)
    panels[1][0].set_ylabel(f"Queue at {series[0].port}\n(packets)", fontsize=8, color=INK)
    return png_bytes(canvas)


def draw_all(comparison: Comparison, note: Callable[[str], None] = lambda _: None) -> dict[str, bytes]:
    """Draw every figure of a comparison; names of files to their PNG."""
    drawn = {}
    for figure in figures_of(comparison):
        note(figure.title)
        drawn[figure.name] = plot(comparison, figure)
    try:
        series = plot_series(comparison)
    except (FolderError, ValueError, KeyError) as error:
        comparison.series_gap = f"its runs cannot be drawn: {error}"
        series = None
    if series is not None:
        drawn["over-time"] = series
    return drawn
