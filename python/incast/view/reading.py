"""A run as columns of a view: the timeline, and of flows and samples what the run has."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from incast import run_folder
from incast.errors import FolderError, IncastError
from incast.result import Result
from incast.view.packets import packets
from incast.view.packing import Pack

if TYPE_CHECKING:
    import pyarrow as pa

VERSION = 1
HOW = "make one with incast run SCENARIO --set measure.timeline=auto --out DIR"
FLOWS = (
    *("flow", "group", "controller", "role", "src", "dst", "start_s", "finish_s", "fct_s", "slowdown"),
    *("throughput_active_bps", "retransmissions", "timeouts", "marked"),
)
"""Columns of flows that a view shows, where a run has them: those that ``viewer/src/data/need.ts`` names."""
PORTS = ("port",)
"""The same of ports, whose other figures it takes from the timeline."""
EVENTS = ("time_s", "kind", "what", "subject")
PATHS = ("flow", "position", "port")


class Source(Protocol):
    """A run that is viewed."""

    @property
    def lacks(self) -> IncastError:
        """What is raised of a run without a timeline: it says how one is made."""

    def timeline(self) -> str | None:
        """Give the text of ``timeline.json``; ``None`` without."""

    def table(self, name: str) -> pa.Table | None:
        """Give a table, if the run has it."""

    def place(self, file: str) -> str:
        """Name a file of the run in messages."""


@dataclass(frozen=True)
class Folder:
    """A run folder."""

    path: Path

    @property
    def lacks(self) -> IncastError:
        """Say what makes a timeline."""
        return FolderError(f"{self.path} has no {run_folder.TIMELINE}, and nothing to view over time: {HOW}")

    def timeline(self) -> str | None:
        """Read the text; raises ``FolderError`` of a folder of no run."""
        run_folder.read_manifest(self.path)
        return run_folder.read_timeline(self.path)

    def table(self, name: str) -> pa.Table | None:
        """Read a table, if there is a file."""
        return run_folder.read_table(self.path, name) if (self.path / f"{name}.parquet").exists() else None

    def place(self, file: str) -> str:
        """Give its path."""
        return str(self.path / file)


@dataclass(frozen=True)
class Made:
    """A run in memory, or one that was loaded."""

    result: Result

    @property
    def lacks(self) -> IncastError:
        """Say what makes a timeline."""
        how = 'run the scenario with a timeline: scenario.with_({"measure.timeline": "auto"}).run()'
        return IncastError(f"this run has no timeline, and nothing to view over time: {how}")

    def timeline(self) -> str | None:
        """Give the text."""
        return self.result.timeline_json

    def table(self, name: str) -> pa.Table | None:
        """Give a table, if it has columns: of one that a folder lacks there are none."""
        table: pa.Table = getattr(self.result, name)
        return table if table.num_columns else None

    def place(self, file: str) -> str:
        """Give the file's name."""
        return f"this run: {file}"


def packed(run: Source, label: str, pack: Pack) -> dict[str, Any]:
    """Pack what a view shows of a run; the description says where the columns lie and what is missing."""
    timeline = read_timeline(run)
    ports = run.table("ports")
    if ports is None or ports.num_rows != len(timeline["ports"]):
        told = f"{run.place(run_folder.TIMELINE)} is not of the same run as ports.parquet"
        raise FolderError(f"{told}: run the scenario again")
    frames = _frames(run, "timeline_ports", timeline)
    if frames is None:
        raise FolderError(f"{run.place('timeline_ports.parquet')} is not there: {HOW}")
    _within(run, "timeline_ports", frames, "port", len(timeline["ports"]))
    parts: dict[str, Any] = {
        "timeline": pack.text(timeline | {"label": label}),
        "ports": _columns(ports, PORTS, pack),
        "records": _sparse(frames, timeline["frames"], pack),
    }
    flows = run.table("flows")
    parts["flows"] = None if flows is None else _columns(flows, FLOWS, pack)
    by_flow = _frames(run, "timeline_flows", timeline)
    parts["by_flow"] = None if by_flow is None else _sparse(by_flow, timeline["frames"], pack)
    for name, columns in (("events", EVENTS), ("paths", PATHS)):
        table = run.table(f"timeline_{name}")
        parts[name] = None if table is None else _columns(table, columns, pack)
    samples = run.table("samples")
    parts["series"] = None if samples is None or samples.num_rows == 0 else _series(samples, pack)
    trace = run.table("trace")
    parts |= {"packets": None, "packets_until_s": None}
    if trace is not None and trace.num_rows:
        found, parts["packets_until_s"] = packets(trace, timeline, [str(name) for name in ports["port"].to_pylist()])
        parts["packets"] = _columns(found, found.column_names, pack)
    named = (("flows", "flows"), ("by_flow", "flows over time"), ("events", "events"), ("paths", "paths of flows"))
    missing = [words for part, words in named if parts[part] is None]
    return parts | {"missing": pack.text(missing)}


def read_timeline(run: Source) -> dict[str, Any]:
    """Read what a run says of its frames, nodes and ports; raises what it ``lacks`` of one without a timeline."""
    text = run.timeline()
    if text is None:
        raise run.lacks
    place = run.place(run_folder.TIMELINE)
    try:
        timeline = json.loads(text)
    except ValueError as error:
        raise FolderError(f"{place} is damaged: {error}") from None
    if not isinstance(timeline, dict) or timeline.get("version") != VERSION:
        raise FolderError(f"{place} is not of version {VERSION}: run the scenario again")
    lacking = [key for key in ("frame_s", "frames", "start_s", "nodes", "ports") if key not in timeline]
    if lacking:
        raise FolderError(f"{place} is damaged: it lacks {', '.join(lacking)}: run the scenario again")
    try:
        if not timeline["frame_s"] > 0 or not isinstance(timeline["frames"], int) or timeline["frames"] < 1:
            raise FolderError(f"{place} is damaged: it has no frames: run the scenario again")
        nodes = len(timeline["nodes"])
        if not all(0 <= port["from"] < nodes and 0 <= port["to"] < nodes for port in timeline["ports"]):
            raise FolderError(f"{place} is damaged: a port is between nodes that are not there: run the scenario again")
    except (TypeError, KeyError) as error:
        raise FolderError(f"{place} is damaged ({error}): run the scenario again") from None
    return timeline


def _frames(run: Source, name: str, timeline: dict[str, Any]) -> pa.Table | None:
    """Read a table whose rows belong to frames, in their order."""
    table = run.table(name)
    if table is not None:
        _within(run, name, table, "frame", timeline["frames"])
        frame = table["frame"].to_numpy()
        if np.any(frame[1:] < frame[:-1]):
            place = run.place(f"{name}.parquet")
            raise FolderError(f"{place} is damaged: its frames are not in order: run the scenario again")
    return table


def _within(run: Source, name: str, table: pa.Table, column: str, bound: int) -> None:
    if table.num_rows and int(table[column].to_numpy().max()) >= bound:
        place = run.place(f"{name}.parquet")
        raise FolderError(f"{place} is damaged: a {column} of {bound} or more: run the scenario again")


def _columns(table: pa.Table, names: tuple[str, ...] | list[str], pack: Pack) -> dict[str, Any]:
    return {name: pack.column(table[name]) for name in names if name in table.column_names}


def _sparse(table: pa.Table, frames: int, pack: Pack) -> dict[str, Any]:
    """Pack rows of frames: where each frame's rows begin, and the other columns."""
    starts = np.searchsorted(table["frame"].to_numpy(), np.arange(frames + 1, dtype=np.uint32))
    packed: dict[str, Any] = {"starts": pack.whole(starts, differences=True)}
    for name in table.column_names:
        if name in ("port", "flow"):
            packed[name] = pack.whole(table[name].to_numpy(), differences=True)
        elif name != "frame":
            packed[name] = pack.column(table[name])
    return packed


def _series(samples: pa.Table, pack: Pack) -> dict[str, Any]:
    """Pack samples series by series: whose, what, where its rows begin."""
    import pyarrow as pa

    samples = samples.filter(pa.compute.is_valid(samples["time_s"]))
    entities = samples["entity"].combine_chunks().cast(pa.string()).dictionary_encode()
    names = samples["name"].combine_chunks().cast(pa.string()).dictionary_encode()
    keys = entities.indices.to_numpy().astype(np.int64) * len(names.dictionary) + names.indices.to_numpy()
    order = np.argsort(keys, kind="stable")
    found, starts = np.unique(keys[order], return_index=True)
    whose, what = np.divmod(found, len(names.dictionary))
    return {
        "entity": pack.column(pa.chunked_array([entities.dictionary.take(pa.array(whose))])),
        "name": pack.column(pa.chunked_array([names.dictionary.take(pa.array(what))])),
        "starts": pack.whole(np.append(starts, len(keys)), differences=True),
        "time_s": pack.real(samples["time_s"].to_numpy()[order]),
        "value": pack.real(samples["value"].cast(pa.float64()).to_numpy()[order]),
    }
