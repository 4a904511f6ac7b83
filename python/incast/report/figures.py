"""Figures of a report, and their pictures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import product

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

from incast.comparisons.comparison import Comparison, Run, Series, jobs_of, samples_of
from incast.errors import FolderError
from incast.pictures.interval_plot import (
    Footnote,
    Points,
    draw_points,
    fit_a_log_axis,
    mark_end,
    thinned,
    until,
    y_axis,
)
from incast.pictures.style import (
    ABREAST,
    COLOURS,
    GREY,
    INK,
    OTHERS,
    Places,
    abreast,
    dress,
    legend,
    new_canvas,
    numbered_log,
    places,
    time_unit,
    x_axis,
)
from incast.report import job_lanes
from incast.report.numbers import share_of, shown_reading
from incast.runs.completions import MAXIMUM, NAMES, STATISTICS, Reading, name_of, one_size
from incast.runs.result import COMPLETIONS
from incast.statistics import Estimate
from incast.system.output import counted

PANELS_ABREAST = 4
"""Panels per row, if every controller has one."""

SCENARIOS_ABREAST = 3
"""Scenarios per row."""

SERIES_STEPS = 150
"""Steps of a panel over time, each with its least and largest value: about as many as it has pixels."""

PANEL, SMALL = 4.5, 8
"""Width of a panel in inches, two of which fit a page, and size of its texts in points."""


@dataclass(frozen=True)
class Figure:
    """A figure of the summary in reports."""

    key: str
    """Key in the summary."""
    name: str
    """Name of its picture file."""
    title: str
    short: str
    """Short title with unit, for a column on a terminal."""
    unit: str
    scale: float
    """Factor from the summary's unit to the one shown."""
    log: bool
    better: str
    """Better direction: ``"higher"`` or ``"lower"``."""

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
    "Throughput per active flow",
    "Mb/s per\nactive flow",
    "Mb/s",
    1e-6,
    True,
    "higher",
)
"""Throughput of finite flows: bytes over each flow's own time, not over an interval that the last flow sets."""

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
"""Figures of flows, queries and writes that complete, shown if a run has any."""


JOB = "job-"
"""Beginning of the names of pictures of a job."""


def job_figures(number: int, job: str) -> list[Figure]:
    """Return the figures of a training job, the ``number``th of a comparison."""
    kinds = (
        ("iteration_mean_s", "iteration", f"Mean iteration time of {job}", f"{job}\niteration ms"),
        ("exposed_mean_s", "exposed", f"Exposed communication of {job}, mean over ranks", f"{job}\nexposed ms"),
        ("idle_mean_s", "idle", f"Idle time of {job}, mean over ranks", f"{job}\nidle ms"),
    )
    return [
        Figure(f"jobs.{job}.{key}", f"{JOB}{number}-{name}", title, short, "ms", 1e3, True, "lower")
        for key, name, title, short in kinds
    ]


def stated(key: str) -> str:
    """Return the key under which the summary has the definition of a figure: jobs share theirs."""
    return f"jobs.*.{key.rpartition('.')[2]}" if key.startswith("jobs.") else key


PAUSE_FIGURES = [
    Figure("queues.pauses", "pauses", "Pauses by flow control", "pauses\nper run", "per run", 1.0, False, "lower"),
    Figure("queues.paused_s", "paused", "Time paused, all ports", "paused\nms", "ms", 1e3, False, "lower"),
]
"""Figures of priority flow control, shown if a run paused a port."""

OVER_TIME = "over-time"
"""Name of the picture of throughput, windows and the busiest queue over time."""
LANES = "lanes"
"""Name of the picture of what ranks of jobs do over time."""
PICTURES = {OVER_TIME, LANES, *(figure.name for figure in (*FIGURES, *COMPLETION_FIGURES, *PAUSE_FIGURES))}
"""Names of the pictures of a report, but for slowdowns by size."""


def figures_of(comparison: Comparison, scenario: str | None = None, everything: bool = False) -> list[Figure]:
    """Return the figures of a comparison, or of one of its scenarios, in the order of the report.

    ``everything`` includes figures that say nothing about the traffic, which files have too.
    """
    study = comparison.study
    runs = [run for case, run in comparison.runs.items() if scenario in (None, case.scenario)]
    there = [what for what in COMPLETIONS if any(run.figure(f"{what}.count") for run in runs)]
    sizes = [run.sizes for run in runs if run.sizes is not None]
    if not one_size(sizes):
        there.remove(
            "fct"
        )  # a completion time over all sizes mostly describes the largest flows: show slowdowns by size
    shown = [ACTIVE if figure.name == "throughput" and sizes and _known(runs) else figure for figure in FIGURES]
    shown = [*shown, *(figure for figure in COMPLETION_FIGURES if figure.key.partition(".")[0] in there)]
    shown = [*(figure for i, job in enumerate(jobs_of(runs)) for figure in job_figures(i, job)), *shown]
    if any(run.figure("queues.pauses") for run in runs):
        shown += PAUSE_FIGURES
    shown = ordered(shown, all(is_sized(run) for run in runs), everything)
    points = list(product([scenario] if scenario else study.scenarios, study.controllers, study.values))
    titled = [named(one, [comparison.reading(name, c.text, v, one.key) for name, c, v in points]) for one in shown]
    return [in_its_unit(figure, [run.figure(figure.key) for run in comparison.runs.values()]) for figure in titled]


def named(figure: Figure, readings: Sequence[Reading | None]) -> Figure:
    """Return a figure under the name of its statistic: a p99 of few completions is their maximum."""
    statistic = figure.key.rpartition(".")[2].removeprefix("slowdown_").removesuffix("_s")
    if statistic not in STATISTICS or name_of(statistic, readings) != MAXIMUM:
        return figure
    name = NAMES[statistic]
    title = figure.title.replace(name, MAXIMUM.capitalize(), 1)
    return replace(figure, title=title, short=figure.short.replace(name, "max", 1))


ORDER = {
    True: ("job", "fct", "queries", "writes", "throughput", "loss", "queue", "delay", "timeouts", "paus"),
    False: ("job", "fct", "queries", "writes", "throughput", "delay", "loss", "queue", "fairness", "timeouts", "paus"),
}
"""Beginnings of the names of figures in the order of a report, by whether all flows have a size."""


def ordered(figures: Sequence[Figure], sized: bool, everything: bool = False) -> list[Figure]:
    """Put figures into the order of a report, by the kind of traffic.

    Fairness is left out where all flows have a size, since their rates differ by size; ``everything`` keeps it.
    """
    order = [*ORDER[sized], "fairness"]
    places = {
        figure.key: next(i for i, beginning in enumerate(order) if figure.name.startswith(beginning))
        for figure in figures
        if everything or not (sized and figure.name == "fairness")
    }
    return sorted((figure for figure in figures if figure.key in places), key=lambda figure: places[figure.key])


def is_sized(run: Run) -> bool:
    """Return whether every flow of a run has a size, so that it ends."""
    sized = run.figure("fct.count") or 0
    return sized > 0 and (run.figure("flows.count") or 0) <= sized


def _known(runs: Iterable[Run]) -> bool:
    """Return whether runs have the figure of finite flows; runs of earlier versions lack it."""
    return any(run.figure(ACTIVE.key) is not None for run in runs)


UNITS = {
    "ms": [(1e-3, "ms", 1e3), (0.0, "µs", 1e6)],
    "Mb/s": [(1e9, "Gb/s", 1e-9), (1e6, "Mb/s", 1e-6), (0.0, "kb/s", 1e-3)],
}
"""Units of a figure by its usual one, each with its smallest largest value in SI units, and the factor to it."""


def in_its_unit(figure: Figure, found: Iterable[float | None]) -> Figure:
    """Choose the unit of a time or a rate by its largest value."""
    most = max((value for value in found if value is not None), default=None)
    if most is None or figure.unit not in UNITS:
        return figure
    unit, scale = next((unit, scale) for least, unit, scale in UNITS[figure.unit] if most >= least)
    return replace(figure, unit=unit, scale=scale, short=figure.short.replace(figure.unit, unit))


def plot(comparison: Comparison, figure: Figure) -> Canvas:
    """Draw one figure against the varied key: one panel per scenario, one line per controller, bands as intervals.

    With one value of the key, controllers are side by side. With more than eight controllers each has a panel, with the
    others in grey.
    """
    study = comparison.study
    many = len(study.controllers) > ABREAST and len(study.values) > 1
    return _panel_each(comparison, figure) if many else _panel_a_scenario(comparison, figure)


def _panel_a_scenario(comparison: Comparison, figure: Figure) -> Canvas:
    study = comparison.study
    footnote, x, several = Footnote(), places(study.values), len(study.values) > 1
    columns = abreast(len(study.scenarios), SCENARIOS_ABREAST)
    rows = -(-len(study.scenarios) // columns)
    canvas = new_canvas(PANEL * columns, 3.7 * rows)
    panels = canvas.subplots(rows, columns, squeeze=False).ravel().tolist()
    for unused in panels[len(study.scenarios) :]:
        unused.remove()
    del panels[len(study.scenarios) :]
    by_panel = [lines_of(comparison, scenario, x, figure) for scenario in study.scenarios]
    # panels of one figure are compared: they have the same axis
    log = figure.log and all(fit_a_log_axis(lines, alone=not several) for lines in by_panel if lines)
    seen: list[float] = []
    for axes, lines, name in zip(panels, by_panel, study.scenario_names(), strict=True):
        dress(axes)
        seen += draw_points(axes, lines, figure.scale, footnote, log, join=several)
        if several:
            x_axis(axes, x)
            axes.set_xlabel(axis_name(study.key), fontsize=SMALL, color=INK)
        else:
            side_by_side(axes, [controller.label for controller in study.controllers])
        title = figure.title if len(panels) == 1 else f"{figure.title}: {name}"
        axes.set_title(title, fontsize=9, color=INK, loc="left", fontweight="bold")
        axes.set_ylabel(figure.unit, fontsize=SMALL, color=INK)
    y_axis(panels, seen, log, figure.key == "flows.jain")
    legend(canvas, panels if several else [], footnote.note())
    return canvas


def _panel_each(comparison: Comparison, figure: Figure) -> Canvas:
    """Draw one panel per controller, with the others in grey: rows of four, a new row and y axis per scenario."""
    study = comparison.study
    footnote, x = Footnote(), places(study.values)
    rows = -(-len(study.controllers) // PANELS_ABREAST)
    canvas = new_canvas(3.2 * PANELS_ABREAST, 2.6 * rows * len(study.scenarios) + 1)
    grid = canvas.subplots(rows * len(study.scenarios), PANELS_ABREAST, squeeze=False)
    for s, (scenario, name) in enumerate(zip(study.scenarios, study.scenario_names(), strict=True)):
        block = grid[s * rows : (s + 1) * rows].ravel()
        panels = block[: len(study.controllers)].tolist()
        for axes in block[len(study.controllers) :]:
            axes.remove()
        lines = lines_of(comparison, scenario, x, figure)
        log = figure.log and fit_a_log_axis(lines)
        seen: list[float] = []
        for number, axes in enumerate(panels):
            dress(axes)
            for other in lines:
                kept = [(at, e.mean * figure.scale) for at, e in zip(other.at, _means(other), strict=True) if e]
                axes.plot([at for at, _ in kept], [mean for _, mean in kept], color=OTHERS, linewidth=0.8, zorder=1)
            own = [one for one in lines if one.number == number]
            seen += draw_points(axes, own, figure.scale, footnote, log)
            x_axis(axes, x)
            label = study.controllers[number].label
            title = f"{name}: {label}" if len(study.scenarios) > 1 else label
            axes.set_title(title, fontsize=SMALL, color=INK, loc="left", fontweight="bold")
            axes.set_xlabel(axis_name(study.key), fontsize=SMALL, color=INK)
            axes.set_ylabel(figure.label, fontsize=SMALL, color=INK)
        y_axis(panels, seen, log, figure.key == "flows.jain")
    apart = "Each scenario has a y axis of its own." if len(study.scenarios) > 1 else ""
    legend(canvas, [], "\n".join(filter(None, [apart, footnote.note()])))
    return canvas


def _means(points: Points) -> list[Estimate | None]:
    return [reading.least for reading in points.readings]


def lines_of(comparison: Comparison, scenario: str, x: Places, figure: Figure) -> list[Points]:
    """Return the lines of a figure, one per controller: over the varied key, or side by side if it has one value."""
    found = []
    for i, controller in enumerate(comparison.study.controllers):
        kept = [
            (j, x.at[j] if len(x.at) > 1 else float(i), reading)
            for j in x.order
            if (reading := comparison.reading(scenario, controller.text, x.values[j], figure.key)) is not None
        ]
        values = ["" if len(x.values) == 1 else x.values[j] for j, _, _ in kept]
        tips = [tip(controller.label, v, one, figure) for v, (_, _, one) in zip(values, kept, strict=True)]
        if kept:
            found.append(Points(controller.label, i, [at for _, at, _ in kept], [one for _, _, one in kept], tips))
    return found


def tip(label: str, value: str, reading: Reading, figure: Figure | None = None) -> str:
    """Write what a point tells on a page: controller, value (empty if the key has one), figure, share finished."""
    scale, unit = (figure.scale, figure.unit) if figure else (1.0, "")
    share = share_of(reading)
    where = f"{label}, {value}" if value else label
    return f"{where}: {shown_reading(reading, scale)} {unit}".strip() + (f" ({share} finished)" * bool(share))


def side_by_side(axes: Axes, labels: Sequence[str]) -> None:
    """Label an x axis with names."""
    aslant = sum(len(label) + 2 for label in labels) > 40
    axes.set_xticks(range(len(labels)), labels, rotation=35 if aslant else 0, ha="right" if aslant else "center")
    axes.set_xlim(-0.5, len(labels) - 0.5)
    axes.grid(visible=False, axis="x")


def axis_name(key: str) -> str:
    """Return the name of the varied key on an axis."""
    return "Number of flows" if key == "traffic.flows" else key


ZERO = "0 in all runs"
"""Reason why a figure has no picture."""


def nothing_to_see(comparison: Comparison, figure: Figure) -> str | None:
    """Return the reason why a figure has no picture: zero everywhere, or a single number; ``None`` if it has one."""
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
        return "no run has this figure"
    if not any(means):
        return ZERO
    if len(means) == 1:
        return "a single number, which is in the table"
    return None


def _ends(series: Series) -> dict[str, float]:
    """Return the end times of flows in seconds, by their names in time series."""
    finish = series.rows("flows", ["finish_s"])["finish_s"].to_pylist()
    return {f"flow {flow}": finish[flow] for flow in series.flows if finish[flow] is not None}


def _series_panels(count: int) -> tuple[Canvas, list[Axes], list[Axes]]:
    """Make panels for windows and, below each, for a queue: at most four columns, one scale per kind."""
    columns = abreast(count, PANELS_ABREAST)
    blocks = -(-count // columns)
    canvas = new_canvas(max(6.4, 2.35 * columns), 4.0 * blocks)
    grid = canvas.subplots(2 * blocks, columns, squeeze=False, sharex=True)
    tops, bottoms = ([axes for row in grid[half::2] for axes in row] for half in (0, 1))
    for panels in (tops, bottoms):
        for unused in panels[count:]:
            unused.remove()
        del panels[count:]
        for i, axes in enumerate(panels[1:], 1):
            axes.sharey(panels[0])
            axes.tick_params(labelleft=i % columns == 0)
    for axes in bottoms:
        axes.tick_params(labelbottom=True)
    return canvas, tops, bottoms


def plot_series(comparison: Comparison) -> Canvas | None:
    """Draw windows of a few flows and the busiest queue over time: one column per controller, four per row."""
    series = comparison.series
    if not series:
        return None
    columns = [samples_of(one) for one in series]
    unit, scale = time_unit(max((times[-1] for data in columns for times, _ in data.values() if times), default=0.0))
    canvas, tops, bottoms = _series_panels(len(series))
    for number, (one, data, top, bottom) in enumerate(zip(series, columns, tops, bottoms, strict=True)):
        colour = COLOURS[number % len(COLOURS)]
        windows = sorted(key for key in data if key[1] == "cwnd_bytes")
        ends = _ends(one)
        for i, key in enumerate(windows):
            times, values = data[key]
            if key[0] in ends:
                times, values = until(times, values, ends[key[0]])
                mark_end(top, times, values, (scale, 1e-3), colour)
            times, values = thinned(times, values, SERIES_STEPS)
            top.step(
                [t * scale for t in times],
                [v / 1e3 for v in values],
                where="post",
                color=colour,
                alpha=1 - 0.3 * i,
                linewidth=0.9,
            )
        times, values = thinned(*data.get((one.port, "queue_packets"), ([], [])), SERIES_STEPS)
        bottom.step([t * scale for t in times], values, where="post", color=colour, linewidth=0.9)
        top.set_title(one.case.controller.label, fontsize=7.5, color=INK, loc="left", wrap=True)
        bottom.set_xlabel(f"Simulated time ({unit})", fontsize=8, color=INK)
        for axes in (top, bottom):
            dress(axes)
            axes.axvspan(0, one.measure_from_s * scale, color=GREY, alpha=0.13, linewidth=0)
    for axes in tops:
        numbered_log(axes)
    # shared by all, and fixed once it is set
    bottoms[0].set_ylim(bottom=0)
    for i in range(0, len(series), abreast(len(series), PANELS_ABREAST)):
        tops[i].set_ylabel(f"cwnd of {counted(len(windows), 'flow')} (kB)", fontsize=8, color=INK)
        bottoms[i].set_ylabel(f"Queue at {series[0].port}\n(packets)", fontsize=8, color=INK)
    return canvas


@dataclass
class Drawn:
    """Pictures of a comparison, by file name without extension."""

    pictures: dict[str, Canvas] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    """Titles of figures without a picture, and the reasons."""


def draw_all(comparison: Comparison, note: Callable[[str], None] = lambda _: None) -> Drawn:
    """Draw every figure of a comparison that has a picture."""
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
        drawn.pictures[OVER_TIME] = series
    drawn.pictures |= job_lanes.pictures(comparison)
    return drawn
