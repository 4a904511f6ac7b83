"""Pictures of one run: a few flows over time, many as distributions, windows, queues, queues as a heat map."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow.compute as pc
from matplotlib.figure import Figure

from incast.errors import IncastError
from incast.pauses import explained, record
from incast.pictures import deadlock, gallery, kinds
from incast.pictures.by_name import ByName
from incast.pictures.interval_plot import mark_end, until
from incast.pictures.looks import look_of
from incast.pictures.recorded import (
    Frames,
    NothingToDraw,
    NotRecorded,
    busiest_first,
    is_endless,
    refuse_zeros,
    series,
)
from incast.pictures.style import GREY, INK, dress, line, new_canvas, time_unit
from incast.runs import named_files, repeated
from incast.runs.result import Result
from incast.system.output import counted
from incast.writing.numbers import said, scaled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_LINES = 8
"""Most flows or ports in one picture over time, equal to the number of colours."""
MOST_FLOWS = 5000
"""Most flows of a picture over time, whose windows are kept in memory for each of its steps."""
MOST_ROWS = 40
"""Most ports in a heat map; the longest queues are chosen."""
COLUMNS = 400
"""Time steps of a heat map; a cell has the longest queue of its step."""
WINDOWS = ("cwnd_bytes", "measure.series.flows=[0,1]")
QUEUES = ("queue_packets", "measure.series.ports=all")
"""Series of samples, each with the key that records it."""
MOST_S = 20.0
"""Most CPU seconds of a run that is repeated for a picture."""
ALIKE = 0.01
"""Largest spread of values whose CDF is not drawn, as a share of the largest value."""


class Pictures(ByName):
    """The pictures of a result, each a matplotlib figure: ``result.plot.throughput()``.

    Notebooks show the figure at the end of a cell; ``.savefig("throughput.png")`` writes it. A picture of data that the
    run did not record raises ``FolderError`` with the key that records it; so does a picture of zeros or of a single
    number.
    """

    def __init__(self, result: Result) -> None:
        self._result = result

    def over_time(self) -> Figure:
        """Throughput and window of each flow and the queue of the busiest port, over simulated time.

        For more than eight flows: their total throughput, and the median and the middle 80 % of their windows. All is
        from the timeline of the run. A run without a timeline is simulated again with one: the same seed gives the same
        figures.
        """
        with self._result.reading():
            flows = self._result.flows.num_rows
            if not 0 < flows <= MOST_FLOWS:
                raise NothingToDraw(f"the run has {counted(flows, 'flow')}, expected 1 to {MOST_FLOWS:,}")
            frames = Frames(_with_timeline(self._result), until_last=True)
            refuse_zeros("delivered_bytes", [frames.delivered])
        return self._flows_over_time(frames)

    def throughput(self) -> Figure:
        """Throughput of the flows in the measured interval, as a CDF; one curve per traffic entry."""
        found = self._values("throughput_bps")
        rate, rates = _rate_unit(max(float(values.max(initial=0.0)) for values in found.values()))
        return self._distribution(found, rate, f"Throughput per flow ({rates})")

    def fct(self, style: str = "screen") -> Figure:
        """Completion times of finite flows by size, as CDFs over all flows that began."""
        return self._kind("fct", style)

    def slowdown(self, style: str = "screen") -> Figure:
        """Median and 99th percentile of the slowdown by size; an arrow marks a lower bound."""
        return self._kind("slowdown", style)

    def queue(self, style: str = "screen") -> Figure:
        """Queue of the busiest port over simulated time: means of steps, and the largest values as a shade."""
        return self._kind("queue", style)

    def rates(self, style: str = "screen") -> Figure:
        """Throughput of each flow over simulated time; of many flows those that delivered most."""
        return self._kind("rates", style)

    def fairness(self, style: str = "screen") -> Figure:
        """Jain's index over simulated time, of the flows that are open for the whole of a step."""
        return self._kind("fairness", style)

    def shares(self, style: str = "screen") -> Figure:
        """Share of the goodput by controller, beside the share of the flows."""
        return self._kind("shares", style)

    def queue_cdf(self, style: str = "screen") -> Figure:
        """Share of the measured time in which the busiest port's queue is at most so long, in bytes and as a delay."""
        return self._kind("queue-cdf", style)

    def delay_cdf(self, style: str = "screen") -> Figure:
        """Mean one-way delay of each flow's packets, as a CDF over the flows."""
        return self._kind("delay-cdf", style)

    def throughput_delay(self, style: str = "screen") -> Figure:
        """Throughput against mean delay: a dot a flow."""
        return self._kind("throughput-delay", style)

    def lanes(self, style: str = "screen") -> Figure:
        """Lanes of ranks of jobs over simulated time: calculations, exposed communication and waiting."""
        return self._kind("lanes", style)

    def windows(self, style: str = "screen") -> Figure:
        """Congestion windows over simulated time: the recorded series until each flow ends, else means of steps."""
        if style != "screen" or not self._has(WINDOWS):
            return self._kind("windows", style)
        return self.recorded_windows()

    def queues(self, style: str = "screen") -> Figure:
        """Queues of the recorded ports over simulated time; without a recorded series that of the busiest port."""
        return self.recorded_queues() if style == "screen" and self._has(QUEUES) else self._kind("queue", style)

    def heat_map(self, style: str = "screen") -> Figure:
        """Heat map of the queues over simulated time: one row per port, colour = longest queue of each step."""
        return self.recorded_heat_map() if style == "screen" and self._has(QUEUES) else self._kind("heat-map", style)

    def deadlock(self) -> Figure:
        """Ring of ports that wait for one another at the end of the run, from the record of pauses; the first ring."""
        known = record.of(self._result)
        rings = [] if known is None else explained.rings(known)
        if known is None or not rings:
            stuck = self._result.summary["queues"].get("deadlocked")
            why = "its ports recorded no pauses (measure.pauses)" if stuck else "no port is paused for good"
            raise NothingToDraw(f"the run has no ring of ports: {why}")
        return deadlock.draw(known, rings[0])

    def _kind(self, kind: str, style: str) -> Figure:
        """Draw a kind of picture; a run without the timeline that it needs is repeated with one."""
        look = look_of(style)
        is_there = kinds.is_recorded(kind, self._result)
        run = self._result if is_there else repeated.in_memory(self._result)
        with self._result.reading():
            return kinds.draw(kind, [(run.summary["run"]["scenario"], run)], look)

    def _has(self, wanted: tuple[str, str]) -> bool:
        """Return whether the run recorded a series."""
        try:
            series(self._result, *wanted)
        except NotRecorded:
            return False
        return True

    def __repr__(self) -> str:
        return f'pictures of {self._result!r}; style="paper" or "paper-wide" for a paper:\n{self._listed()}'

    def recorded_windows(self) -> Figure:
        """Congestion windows of the recorded flows over simulated time, kB, until each flow ends."""
        with self._result.reading():
            finished = self._result.flows.select(["flow", "finish_s"]).to_pylist()
            ends = {f"flow {row['flow']}": row["finish_s"] for row in finished if row["finish_s"] is not None}
        return self._over_time(*WINDOWS, 1e-3, "Congestion window (kB)", ends)

    def recorded_queues(self) -> Figure:
        """Queues of the recorded ports over simulated time, packets; the longest queues if there are many."""
        return self._over_time(*QUEUES, 1.0, "Queue (packets)")

    def recorded_heat_map(self) -> Figure:
        """Heat map of recorded queues over simulated time: one row per port, colour = longest queue of each step."""
        found = series(self._result, *QUEUES)
        refuse_zeros("queue_packets", [values for _, values in found.values()])
        begin, end = 0.0, float(self._result.summary["run"]["sim_s"])
        edges = np.linspace(begin, end, COLUMNS + 1)
        rows = {port: _longest(times, values, edges) for port, (times, values) in found.items()}
        ports = busiest_first({port: float(row.max()) for port, row in rows.items()})
        shown, unit_scale = ports[:MOST_ROWS], time_unit(end)
        canvas = new_canvas(7.2, max(2.2, 1.2 + 0.17 * len(shown)))
        axes = canvas.subplots()
        table = np.array([rows[port] for port in shown])
        unit, scale = unit_scale
        image = axes.imshow(
            table,
            aspect="auto",
            interpolation="nearest",
            cmap="viridis",
            vmin=0,
            vmax=max(1.0, float(table.max())),
            extent=(begin, end * scale, len(shown) - 0.5, -0.5),
        )
        axes.set_yticks(range(len(shown)), shown, fontsize=6)
        axes.tick_params(axis="x", labelsize=8, colors=INK)
        axes.set_xlabel(f"Simulated time ({unit})", fontsize=9, color=INK)
        others = len(ports) - len(shown)
        left_out = f"; {others} ports with shorter queues not shown" if others else ""
        axes.set_title(f"Longest queue in {_step(end)}{left_out}", fontsize=9, color=INK, loc="left")
        canvas.colorbar(image, ax=axes, label="packets")
        return canvas

    def _values(self, column: str) -> dict[str, np.ndarray]:
        """Return the values of a column of flows by traffic entry."""
        with self._result.reading():
            flows = self._result.flows
            everything = flows[column].drop_null().to_numpy()
            if len(everything) == 1:
                one = said(scaled(everything[0]))
                raise NothingToDraw(f"only one flow has a value of {column}, {one}: nothing to draw")
            refuse_zeros(column, [everything])
            groups = dict.fromkeys(flows["group"].to_pylist())
            parts = {str(one): flows.filter(pc.equal(flows["group"], one))[column] for one in groups}
            if not len(everything):
                raise NothingToDraw(f"no flow of the run has a value of {column}: nothing to draw")
            return {name: part.drop_null().to_numpy() for name, part in parts.items()}

    def _distribution(self, found: Mapping[str, np.ndarray], scale: float, label: str) -> Figure:
        canvas = new_canvas(6.4, 4.0)
        axes = canvas.subplots()
        for i, (group, values) in enumerate(found.items()):
            if not len(values):
                continue
            steps = np.sort(values * scale)
            shares = np.arange(1, len(steps) + 1) / len(steps)
            # start from 0 at the smallest value
            x, y = np.r_[steps[0], steps], np.r_[0.0, shares]
            axes.step(x, y, where="post", label=group, **line(i, marker=False))
        drawn, there = sum(map(len, found.values())), len(self._result.flows)
        dress(axes)
        axes.set_ylim(0, 1.02)
        axes.set_xlim(left=0)
        axes.set_xlabel(label, fontsize=9, color=INK)
        axes.set_ylabel("Share of flows", fontsize=9, color=INK)
        of_all = f"{drawn:,} flows" if drawn == there else f"{drawn:,} of {there:,} flows, those with a value"
        self._titled(axes, of_all)
        if len(found) > 1:
            axes.legend(frameon=False, fontsize=8)
        return canvas

    def _over_time(
        self, name: str, key: str, scale: float, label: str, ends: Mapping[str, float] | None = None
    ) -> Figure:
        found = series(self._result, name, key)
        if name == WINDOWS[0]:
            found = {one: points for one, points in found.items() if not is_endless(points[1])}
        if not found:
            raise NothingToDraw("no recorded flow has a congestion window: nothing to draw")
        refuse_zeros(name, [values for _, values in found.values()])
        names = sorted(found, key=lambda one: -float(found[one][1].max(initial=0.0)))[:MOST_LINES]
        end = float(self._result.summary["run"]["sim_s"])
        unit, per_s = time_unit(end)
        canvas = new_canvas(7.2, 4.0)
        axes = canvas.subplots()
        for i, one in enumerate(names):
            look = line(i, marker=False)
            # a value holds until the next one, the last until the end
            own_end = (ends or {}).get(one, max(end, found[one][0][-1]))
            times, values = until(found[one][0].tolist(), found[one][1].tolist(), own_end)
            axes.step(np.array(times) * per_s, np.array(values) * scale, where="post", label=one, **look)
            if own_end < end:
                mark_end(axes, times, values, (per_s, scale), look["color"])
        start = self._result.summary["run"]["measure_from_s"]
        if start > 0:
            axes.axvspan(0, start * per_s, color=GREY, alpha=0.13, linewidth=0)
        dress(axes)
        axes.set_xlim(0, end * per_s)
        axes.set_ylim(bottom=0)
        axes.set_xlabel(
            f"Simulated time ({unit})" + ("; grey: before the measured interval" if start > 0 else ""), fontsize=9
        )
        axes.set_ylabel(label, fontsize=9, color=INK)
        left_out = f" of {len(found)}, those with the largest" if len(found) > len(names) else ""
        self._titled(axes, f"{counted(len(names), 'port' if ends is None else 'flow')}{left_out}")
        axes.legend(frameon=False, fontsize=7, ncols=2)
        return canvas

    def _flows_over_time(self, frames: Frames) -> Figure:
        run = self._result.summary["run"]
        unit, per_s = time_unit(float(frames.edges[-1]))
        edges = frames.edges * per_s
        has_windows, queue = bool(np.nansum(frames.windows)), frames.queue()
        panels = 1 + has_windows + (queue is not None)
        canvas = new_canvas(7.2, 1.0 + 1.7 * panels)
        rows = list(canvas.subplots(panels, 1, sharex=True, squeeze=False)[:, 0])
        flows = len(frames.delivered)
        few = flows <= MOST_LINES
        rates = frames.throughput if few else frames.throughput.sum(axis=0, keepdims=True)
        rate, unit_of_rates = _rate_unit(float(rates.max()))
        names = [f"flow {i}" for i in range(flows)] if few else ["all flows together"]
        _lines(rows[0], rates * rate, edges, names)
        rows[0].set_ylabel(f"Delivered in\norder ({unit_of_rates})", fontsize=8, color=INK)
        if has_windows:
            (_lines if few else _spread)(rows[1], frames.windows * 1e-3, edges, names)
            rows[1].set_ylabel("Congestion\nwindow (kB)", fontsize=8, color=INK)
        if queue is not None:
            rows[-1].stairs(queue.largest * 1e-3, edges, baseline=None, label="largest", color=GREY, linewidth=0.8)
            rows[-1].stairs(queue.mean * 1e-3, edges, baseline=None, label="mean", color=INK, linewidth=1.4)
            rows[-1].set_ylabel("Queue (kB)", fontsize=8, color=INK)
            rows[-1].set_title(f"Port {queue.port}", fontsize=8, color=INK, loc="left")
            rows[-1].legend(frameon=False, fontsize=7, ncols=2)
        start = run["measure_from_s"]
        for axes in rows:
            dress(axes)
            axes.set_ylim(bottom=0)
            axes.set_xlim(0, edges[-1])
            if start > 0:
                axes.axvspan(0, min(start * per_s, edges[-1]), color=GREY, alpha=0.13, linewidth=0)
        warm = "; grey: before it is measured" if start > 0 else ""
        cut = f"; the run goes on until {run['sim_s'] * per_s:g} {unit}" if frames.is_cut else ""
        step, scale = time_unit(frames.step_s)
        step = f"; means of {frames.step_s * scale:.3g} {step}"
        rows[-1].set_xlabel(f"Simulated time ({unit}){warm}{step}{cut}", fontsize=9)
        self._titled(rows[0], counted(flows, "flow"))
        rows[0].legend(frameon=False, fontsize=7, ncols=4)
        return canvas

    def _titled(self, axes: Axes, words: str) -> None:
        run = self._result.summary["run"]
        axes.set_title(f"{run['scenario']}, seed {run['seed']}: {words}", fontsize=9, color=INK, loc="left")


def _with_timeline(run: Result) -> Result:
    """Return the run, simulated again with a timeline unless it has one; raises ``NothingToDraw`` where that fails."""
    if run.timeline_json is not None:
        return run
    ask = "run it with --set measure.timeline=auto"
    if run.cost["cpu_s"] > MOST_S:
        raise NotRecorded(f"the run has no timeline and took {run.cost['cpu_s']:.0f} CPU s: {ask}")
    if run.folder is not None and (own := [kind for kind in named_files.kinds_in(run.toml) if ":" in kind]):
        # drawing a folder, which may come from anybody, runs no program of it
        raise NotRecorded(f"the run has no timeline, and repeating it would run the class {own[0]}: {ask}")
    try:
        return repeated.in_memory(run)
    except IncastError as error:
        raise NotRecorded(f"the run has no timeline and cannot be repeated ({error}): {ask}") from None


def _rate_unit(most: float) -> tuple[float, str]:
    """Return the factor from bits per second to the unit of an axis, and the unit."""
    units = ((1e9, "Gb/s"), (1e6, "Mb/s"), (1e3, "kb/s"), (1.0, "b/s"))
    size, unit = next((one for one in units if most >= one[0] / 10), units[-1])
    return 1 / size, unit


def _stairs(number: int) -> dict[str, Any]:
    """Look of a flow's steps."""
    own = line(number, marker=False)
    return {key: own[key] for key in ("color", "linestyle")} | {"linewidth": 1.2}


def _lines(axes: Axes, values: np.ndarray, edges: np.ndarray, names: Sequence[str]) -> None:
    """Draw a line of steps for each row."""
    for i, (name, own) in enumerate(zip(names, values, strict=True)):
        axes.stairs(own, edges, baseline=None, label=name, **_stairs(i))


def _spread(axes: Axes, values: np.ndarray, edges: np.ndarray, _names: Sequence[str]) -> None:
    """Draw the median of the rows at each step, and the middle 80 % as a band; steps without a value are left out."""
    some = int((~np.isnan(values)).any(axis=1).sum())
    of = "the flows" if some == len(values) else f"the {counted(some, 'flow')} with a window"
    known = ~np.isnan(values).all(axis=0)
    low, middle, high = (np.full(values.shape[1], np.nan) for _ in range(3))
    low[known], middle[known], high[known] = np.nanpercentile(values[:, known], [10, 50, 90], axis=0)
    look = _stairs(0)
    axes.stairs(high, edges, baseline=low, fill=True, color=look["color"], alpha=0.15, label=f"middle 80 % of {of}")
    axes.stairs(middle, edges, baseline=None, label="median", **look)
    axes.legend(frameon=False, fontsize=7, ncols=2)


def _longest(times: np.ndarray, values: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Return the largest value of a step series in each interval between the edges."""
    # the value at the beginning of an interval, and the values within it
    at_start = np.searchsorted(times, edges[:-1], side="right") - 1
    most = np.where(at_start >= 0, values[np.maximum(at_start, 0)], 0.0).astype(float)
    step = np.clip(np.searchsorted(edges, times, side="right") - 1, 0, len(most) - 1)
    np.maximum.at(most, step, values)
    return most


def _step(end_s: float) -> str:
    unit, scale = time_unit(end_s / COLUMNS)
    return f"steps of {end_s / COLUMNS * scale:.3g} {unit}"


PICTURES: dict[str, Callable[[Pictures], Figure]] = {
    "over-time": Pictures.over_time,
    "throughput": Pictures.throughput,
    "fct": Pictures.fct,
    "windows": Pictures.recorded_windows,
    "queues": Pictures.recorded_queues,
    "heat-map": Pictures.recorded_heat_map,
}
"""Pictures of a run by file name; those over time only of what the run recorded."""
OF_TASKS: dict[str, Callable[[Pictures], Figure]] = {"lanes": Pictures.lanes}
"""Further pictures of a run that recorded tasks of jobs."""
OF_DEADLOCKS: dict[str, Callable[[Pictures], Figure]] = {"deadlock": Pictures.deadlock}
"""Further pictures of a run whose ports are paused for good."""


SPREAD = {"throughput": "throughput_bps", "fct": "fct_s"}
"""Pictures of distributions, and the column of flows that each is over."""


def _alike(result: Result, column: str) -> str:
    """Say that the values of a column are alike, and their distribution one vertical line; nothing where it is not."""
    with result.reading():
        values = result.flows[column].drop_null().to_numpy()
    if len(values) < 2 or np.ptp(values) > ALIKE * values.max():
        return ""
    return f"{column} of the {len(values)} flows differs by less than {100 * ALIKE:g} %"


def draw(result: Result, folder: Path, formats: Sequence[str] = ("png",)) -> tuple[list[str], list[str]]:
    """Write all pictures that the run has data for; return their files, and the reasons for missing ones."""
    canvases, reasons = {}, []
    further = OF_DEADLOCKS if result.summary["queues"].get("deadlocked") else {}
    further = further | (OF_TASKS if result.summary.get("jobs") and result.tasks.num_rows else {})
    for name, picture in {**PICTURES, **further}.items():
        try:
            if name in SPREAD and (alike := _alike(result, SPREAD[name])):
                raise NothingToDraw(alike)
            canvases[name] = picture(Pictures(result))
        except NothingToDraw as error:
            # the first picture has windows and a queue already
            if not (isinstance(error, NotRecorded) and "over-time" in canvases):
                reasons.append(f"no {name}: {error}")
    gallery.write(folder, gallery.draw(canvases, formats), formats)
    return [f"{name}.{kind}" for name in canvases for kind in formats], reasons
