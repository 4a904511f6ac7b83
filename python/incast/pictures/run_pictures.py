"""Pictures of one run: a few flows over time, many as distributions, windows, queues, queues as a heat map."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow.compute as pc
from matplotlib.figure import Figure

from incast.errors import FolderError, IncastError, RunError, ScenarioError
from incast.pictures import gallery
from incast.pictures.interval_plot import mark_end, until
from incast.pictures.style import GREY, INK, dress, line, new_canvas, time_unit
from incast.runs import named_files
from incast.runs.result import Result
from incast.runs.scenario import Scenario
from incast.system.output import counted

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
STEPS = 200
"""Most time steps of a picture of flows over time."""
MOST_S = 20.0
"""Most CPU seconds of a run that is repeated for a picture."""
ALIKE = 0.01
"""Largest spread of values whose CDF is not drawn, as a share of the largest value."""


class NothingToDraw(FolderError):
    """A run has no data for a picture."""


class NotRecorded(NothingToDraw):
    """A run did not record the series of a picture."""


class Pictures:
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
            frames = _Frames(_with_timeline(self._result))
            _refuse_zeros("delivered_bytes", [frames.delivered])
        return self._flows_over_time(frames)

    def throughput(self) -> Figure:
        """Throughput of the flows in the measured interval, as a CDF; one curve per traffic entry."""
        found = self._values("throughput_bps")
        rate, rates = _rate_unit(max(float(values.max(initial=0.0)) for values in found.values()))
        return self._distribution(found, rate, f"Throughput per flow ({rates})")

    def fct(self) -> Figure:
        """Completion times of the finished flows, as a CDF; one curve per traffic entry."""
        found = self._values("fct_s")
        unit, scale = time_unit(max(float(values.max(initial=0.0)) for values in found.values()))
        return self._distribution(found, scale, f"Flow completion time ({unit})")

    def windows(self) -> Figure:
        """Congestion windows of the recorded flows over simulated time, kB, until each flow ends."""
        with self._result.reading():
            finished = self._result.flows.select(["flow", "finish_s"]).to_pylist()
            ends = {f"flow {row['flow']}": row["finish_s"] for row in finished if row["finish_s"] is not None}
        return self._over_time("cwnd_bytes", 1e-3, "Congestion window (kB)", "measure.series.flows=[0,1]", ends)

    def queues(self) -> Figure:
        """Queues of the recorded ports over simulated time, packets; the longest queues if there are many."""
        return self._over_time("queue_packets", 1.0, "Queue (packets)", "measure.series.ports=all")

    def heat_map(self) -> Figure:
        """Heat map of recorded queues over simulated time: one row per port, colour = longest queue of each step."""
        found = self._series("queue_packets", "measure.series.ports=all")
        _refuse_zeros("queue_packets", [values for _, values in found.values()])
        begin, end = 0.0, float(self._result.summary["run"]["sim_s"])
        edges = np.linspace(begin, end, COLUMNS + 1)
        rows = {port: _longest(times, values, edges) for port, (times, values) in found.items()}
        ports = sorted(rows, key=lambda port: (-rows[port].max(), port))
        shown, unit_scale = sorted(ports[:MOST_ROWS]), time_unit(end)
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
                raise NothingToDraw(f"only one flow has a value of {column}, {everything[0]:g}: nothing to draw")
            _refuse_zeros(column, [everything])
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

    def _series(self, name: str, key: str) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """Return the points of a time series by flow or port: times in seconds, and values."""
        with self._result.reading():
            samples = self._result.samples
            found: dict[str, tuple[np.ndarray, np.ndarray]] = {}
            if samples.num_rows:
                part = samples.filter(pc.equal(samples["name"], name))
                entities = np.array(part["entity"].to_pylist(), dtype=object)
                times, values = part["time_s"].to_numpy(), part["value"].to_numpy()
                for entity in dict.fromkeys(entities):
                    own = entities == entity
                    found[str(entity)] = (times[own], values[own])
            if not found:
                *tables, what = key.partition("=")[0].split(".")
                asked = reduce(lambda part, table: part.get(table, {}), tables, tomllib.loads(self._result.toml))
                if asked.get(what):
                    raise NothingToDraw(f"the run recorded no value of {name}: nothing to draw")
                raise NotRecorded(f"the run did not record {name}: run it with --set {key}")
            return found

    def _over_time(
        self, name: str, scale: float, label: str, key: str, ends: Mapping[str, float] | None = None
    ) -> Figure:
        found = self._series(name, key)
        _refuse_zeros(name, [values for _, values in found.values()])
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

    def _flows_over_time(self, frames: _Frames) -> Figure:
        run = self._result.summary["run"]
        unit, per_s = time_unit(float(frames.edges[-1]))
        edges = frames.edges * per_s
        has_windows, queue = bool(np.nansum(frames.windows)), frames.queue
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
            port, mean, largest = queue
            rows[-1].stairs(largest * 1e-3, edges, baseline=None, label="largest", color=GREY, linewidth=0.8)
            rows[-1].stairs(mean * 1e-3, edges, baseline=None, label="mean", color=INK, linewidth=1.4)
            rows[-1].set_ylabel("Queue (kB)", fontsize=8, color=INK)
            rows[-1].set_title(f"Port {port}", fontsize=8, color=INK, loc="left")
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


class _Frames:
    """The timeline of a run in at most ``STEPS`` steps: arrays with a row a flow and a column a step."""

    def __init__(self, run: Result) -> None:
        assert run.timeline_json is not None
        timeline, flows = json.loads(run.timeline_json), run.timeline_flows
        frame_s, every = float(timeline["frame_s"]), int(timeline["frames"])
        frames = _busy(flows["frame"].to_numpy().astype(int), every)
        each = -(-frames // STEPS)
        steps = -(-frames // each)
        begin, end = float(timeline["start_s"]), float(timeline["end_s"])
        if frames < every:
            end = begin + frame_s * frames
        self.edges = np.minimum(begin + frame_s * each * np.arange(steps + 1), end)
        self.is_cut = frames < every
        self.step_s = frame_s * each
        shape = (run.flows.num_rows, steps)
        rows, columns = flows["flow"].to_numpy(), flows["frame"].to_numpy() // each
        self.delivered = np.zeros(shape)
        np.add.at(self.delivered, (rows, columns), flows["delivered_bytes"].to_numpy().astype(float))
        self.throughput = self.delivered * 8 / np.diff(self.edges)
        windows, count = np.zeros(shape), np.zeros(shape)
        known = flows["cwnd_bytes"].is_valid().to_numpy()
        sizes = flows["cwnd_bytes"].fill_null(0).to_numpy().astype(float)
        np.add.at(windows, (rows, columns), sizes)
        np.add.at(count, (rows, columns), known.astype(float))
        self.windows = np.divide(windows, count, out=np.full(shape, np.nan), where=count > 0)
        self.queue = _queue(run, frames, each)


def _busy(frames: np.ndarray, every: int) -> int:
    """Return the number of frames to draw: all, or those until the last flow ended, if it ended in the first half."""
    last = int(frames.max(initial=-1)) + 1
    until = last + max(1, last // 20)
    return until if 0 < until <= every // 2 else every


def _queue(run: Result, frames: int, each: int) -> tuple[str, np.ndarray, np.ndarray] | None:
    """Return the busiest port, its mean and its largest queue in each step, in bytes; ``None`` without a queue."""
    busiest = run.summary["queues"]["busiest"]
    ports = run.ports["port"].to_pylist()
    if not busiest or busiest["port"] not in ports:
        return None
    steps = -(-frames // each)
    rows = run.timeline_ports.filter(pc.equal(run.timeline_ports["port"], ports.index(busiest["port"])))
    rows = rows.filter(pc.less(rows["frame"], frames))
    columns = rows["frame"].to_numpy() // each
    mean, largest = np.zeros(steps), np.zeros(steps)
    np.add.at(mean, columns, rows["queue_mean_bytes"].to_numpy())
    np.maximum.at(largest, columns, rows["queue_max_bytes"].to_numpy().astype(float))
    mean /= np.minimum(each, frames - each * np.arange(steps))
    return (busiest["port"], mean, largest) if largest.any() else None


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
        scenario = Scenario.from_toml(run.toml) if run.folder is None else Scenario.load(run.folder / "scenario.toml")
        again = scenario.changed({"measure.timeline": "auto"}).run()
    except (IncastError, RunError, ScenarioError) as error:
        raise NotRecorded(f"the run has no timeline and cannot be repeated ({error}): {ask}") from None
    if again.summary_json != run.summary_json:
        raise NotRecorded(f"the run has no timeline, and repeating it gives other figures: {ask}")
    return again


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
    known = ~np.isnan(values).all(axis=0)
    low, middle, high = (np.full(values.shape[1], np.nan) for _ in range(3))
    low[known], middle[known], high[known] = np.nanpercentile(values[:, known], [10, 50, 90], axis=0)
    look = _stairs(0)
    axes.stairs(high, edges, baseline=low, fill=True, color=look["color"], alpha=0.15, label="middle 80 % of the flows")
    axes.stairs(middle, edges, baseline=None, label="median", **look)
    axes.legend(frameon=False, fontsize=7, ncols=2)


def _refuse_zeros(name: str, series: Sequence[np.ndarray]) -> None:
    """Raise ``FolderError`` if there are values, and all of them are 0."""
    if any(len(values) for values in series) and not any(values.any() for values in series):
        raise NothingToDraw(f"{name} is always 0: nothing to draw")


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
    "windows": Pictures.windows,
    "queues": Pictures.queues,
    "heat-map": Pictures.heat_map,
}
"""Pictures by file name."""


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
    for name, picture in PICTURES.items():
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
