"""Records of a run over time: its series of samples, and its timeline in steps of a picture."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from incast.errors import FolderError
from incast.runs.result import Result

STEPS = 200
"""Most time steps of a picture of flows over time."""

Numbers = npt.NDArray[np.float64]
Series = dict[str, tuple[Numbers, Numbers]]
"""Times in seconds and values, by flow or port."""


ENDLESS = 1e8
"""Bytes of a window that limits nothing, as in ``viewer/src/data/states.ts``."""


def is_endless(windows: Numbers) -> bool:
    """Return whether windows stand for none: senders by rate have one and the same of this size all of the time."""
    return len(windows) > 0 and bool(windows[0] >= ENDLESS and np.all(windows == windows[0]))


class NothingToDraw(FolderError):
    """A run has no data for a picture."""


class NotRecorded(NothingToDraw):
    """A run did not record the series of a picture."""


def series(run: Result, name: str, key: str) -> Series:
    """Return the points of a recorded series by flow or port.

    Raises ``NotRecorded`` with the key that records it, and ``NothingToDraw`` if it was asked for and has no value.
    """
    with run.reading():
        found: Series = {}
        if run.samples.num_rows:
            part = run.samples.filter(pc.equal(run.samples["name"], name))
            entities = np.array(part["entity"].to_pylist(), dtype=object)
            times, values = part["time_s"].to_numpy(), part["value"].to_numpy()
            for entity in dict.fromkeys(entities):
                own = entities == entity
                found[str(entity)] = (times[own], values[own])
        if not found:
            *tables, what = key.partition("=")[0].split(".")
            asked = reduce(lambda part, table: part.get(table, {}), tables, tomllib.loads(run.toml))
            if asked.get(what):
                raise NothingToDraw(f"the run recorded no value of {name}: nothing to draw")
            raise NotRecorded(f"the run did not record {name}: run it with --set {key}")
        return found


def refuse_zeros(name: str, values: Sequence[np.ndarray]) -> None:
    """Raise ``NothingToDraw`` if there are values, and all of them are 0."""
    if any(len(one) for one in values) and not any(one.any() for one in values):
        raise NothingToDraw(f"{name} is always 0: nothing to draw")


@dataclass(frozen=True)
class Queue:
    """Queue of a port in each step, in bytes."""

    port: str
    rate_bps: float
    mean: Numbers
    largest: Numbers


def _endless(rows: npt.NDArray[np.uint64], windows: Numbers, flows: int) -> npt.NDArray[np.bool_]:
    """Return which flows have windows that stand for none."""
    least, most = np.full(flows, np.inf), np.zeros(flows)
    np.minimum.at(least, rows, windows)
    np.maximum.at(most, rows, windows)
    found: npt.NDArray[np.bool_] = (least == most) & (least >= ENDLESS)
    return found


def _busy(frames: npt.NDArray[np.int64], every: int) -> int:
    """Return the number of frames to draw: all, or those until the last flow ended, if it ended in the first half."""
    last = int(frames.max(initial=-1)) + 1
    until = last + max(1, last // 20)
    return until if 0 < until <= every // 2 else every


class Frames:
    """The timeline of a run in at most ``most`` steps: arrays with a row a flow or port and a column a step.

    With ``until_last`` it ends soon after the last flow, if that ended in the first half of the run.
    """

    def __init__(self, run: Result, most: int = STEPS, *, until_last: bool = False) -> None:
        if run.timeline_json is None:
            raise NotRecorded("the run has no timeline: run it with --set measure.timeline=auto")
        self._run = run
        timeline = json.loads(run.timeline_json)
        every, flows = int(timeline["frames"]), run.timeline_flows
        self._frames = _busy(flows["frame"].to_numpy().astype(int), every) if until_last else every
        self.is_cut = self._frames < every
        self._each = -(-self._frames // most)
        self.steps = -(-self._frames // self._each)
        begin, end = float(timeline["start_s"]), float(timeline["end_s"])
        if self.is_cut:
            end = begin + float(timeline["frame_s"]) * self._frames
        self.step_s = float(timeline["frame_s"]) * self._each
        self.edges = np.minimum(begin + self.step_s * np.arange(self.steps + 1), end)
        shape = (run.flows.num_rows, self.steps)
        rows, columns = flows["flow"].to_numpy(), flows["frame"].to_numpy() // self._each
        self.delivered = np.zeros(shape)
        np.add.at(self.delivered, (rows, columns), flows["delivered_bytes"].to_numpy().astype(float))
        self.throughput = self.delivered * 8 / np.diff(self.edges)
        windows, count = np.zeros(shape), np.zeros(shape)
        known = flows["cwnd_bytes"].is_valid().to_numpy()
        sizes = flows["cwnd_bytes"].fill_null(0).to_numpy().astype(float)
        np.add.at(windows, (rows, columns), sizes)
        np.add.at(count, (rows, columns), known.astype(float))
        self.windows = np.divide(windows, count, out=np.full(shape, np.nan), where=count > 0)
        self.windows[_endless(rows[known], sizes[known], run.flows.num_rows)] = np.nan

    def queue(self, port: str | None = None) -> Queue | None:
        """Return the queue of a port (default: the busiest) in each step; ``None`` without a queue."""
        run = self._run
        busiest = run.summary["queues"]["busiest"]
        port = port or (str(busiest["port"]) if busiest else "")
        ports = run.ports["port"].to_pylist()
        if port not in ports:
            return None
        number = ports.index(port)
        rows = run.timeline_ports.filter(pc.equal(run.timeline_ports["port"], number))
        rows = rows.filter(pc.less(rows["frame"], self._frames))
        columns = rows["frame"].to_numpy() // self._each
        mean, largest = np.zeros(self.steps), np.zeros(self.steps)
        np.add.at(mean, columns, rows["queue_mean_bytes"].to_numpy())
        np.maximum.at(largest, columns, rows["queue_max_bytes"].to_numpy().astype(float))
        mean /= np.minimum(self._each, self._frames - self._each * np.arange(self.steps))
        rate = run.ports["rate_bps"].to_pylist()[number]
        return Queue(port, float(rate or 0), mean, largest) if largest.any() else None

    def queues(self) -> dict[str, Numbers]:
        """Return the largest queue of each port in each step, in bytes; ports without a queue are left out."""
        rows = self._run.timeline_ports
        rows = rows.filter(pc.less(rows["frame"], self._frames))
        table = np.zeros((self._run.ports.num_rows, self.steps))
        places = rows["port"].to_numpy(), rows["frame"].to_numpy() // self._each
        np.maximum.at(table, places, rows["queue_max_bytes"].to_numpy().astype(float))
        names = self._run.ports["port"].to_pylist()
        return {names[i]: table[i] for i in np.flatnonzero(table.any(axis=1))}

    def active(self) -> npt.NDArray[np.bool_]:
        """Return whether each flow is open for the whole of each step."""
        starts = self._run.flows["start_s"].to_numpy(zero_copy_only=False).astype(float)
        ends = self._run.flows["finish_s"].to_numpy(zero_copy_only=False).astype(float)
        ends = np.where(np.isnan(ends), np.inf, ends)
        opened: npt.NDArray[np.bool_] = (starts[:, None] <= self.edges[:-1]) & (ends[:, None] >= self.edges[1:])
        return opened


def busiest_first(most: Mapping[str, float]) -> list[str]:
    """Order ports by their longest queues, the longest first; equal ones by name, numbers in names by value."""
    parts = {port: re.split(r"([0-9]+)", port) for port in most}
    names = {port: [int(one) if i % 2 else one for i, one in enumerate(own)] for port, own in parts.items()}
    return sorted(most, key=lambda port: (-most[port], names[port]))
