"""Parts of a run for a view: the timeline, flows and samples. Parts are made on access."""

from __future__ import annotations

import json
import math
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from incast.errors import FolderError
from incast.runs import run_folder
from incast.runs.run_folder import Shape
from incast.system import files
from incast.view import levels, packing
from incast.view.framed import Framed
from incast.view.packets import COLUMNS as PACKETS
from incast.view.packets import packets
from incast.view.packing import Pack
from incast.view.sources import HOW, Source, columns, damaged, naming, numbers

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

VERSION = 1
FLOWS = (
    *("flow", "group", "controller", "role", "src", "dst", "start_s", "finish_s", "fct_s", "slowdown"),
    *("throughput_active_bps", "retransmissions", "timeouts", "marked"),
)
"""Columns of flows in a view, if a run has them, as in ``viewer/src/data/need.ts``."""
PORTS = ("port", "rate_bps")
"""Columns of ports in a view; other figures come from the timeline."""
EVENTS = ("time_s", "kind", "what", "subject")
PATHS = ("flow", "position", "port")
TRACE = ("time_s", "flow", "place", "event", "seq", "ack", "payload_bytes", "flags")
SERIES = ("entity", "name", "starts", "time_s", "value")
PAUSES = (
    *("pause", "begin_s", "end_s", "port", "class", "account_bytes", "threshold_bytes", "moment", "through"),
    "through_bytes",
)
TASKS = (
    *("job", "rank", "iteration", "task", "kind", "stream", "peer", "tag", "bytes", "start_s", "finish_s"),
    *("message_start_s", "message_finish_s"),
)
RANKS = ("job", "rank", "host", "iteration", "start_s", "finish_s")
COLLECTIVES = (
    *("job", "iteration", "collective", "pattern", "algorithm", "members", "bytes", "first_start_s", "last_finish_s"),
    *("time_s", "skew_s", "busbw_Bps", "efficiency", "slowest_rank", "slowest_from", "slowest_to", "slowest_message_s"),
)
WITH_PAUSES = {"ports": ("deadlocked_s",), "flows": ("stopped_s",), "timeline_paths": ("sprayed",)}
"""Columns of other tables that only a run with recorded pauses has in a view."""
NAMED = (("flows", "flows"), ("by_flow", "flows over time"), ("events", "events"), ("paths", "paths of flows"))
"""Optional parts of a run, with their names in messages."""
METRICS = {
    "queue_max_bytes": "largest queues", "queue_mean_bytes": "mean queues", "busy": "utilisation", "marks": "marks",
    "drops": "drops", "pauses": "pauses", "paused": "shares paused",
}  # fmt: skip
"""Columns of port rows with their names in messages; a run has at least one."""
NEEDED = {
    "ports": ("port",), "timeline_ports": ("frame", "port"), "timeline_flows": ("frame", "flow"),
    "flows": ("flow", "src", "dst"), "timeline_events": EVENTS, "timeline_paths": PATHS,
    "samples": ("entity", "name", "time_s", "value"), "trace": TRACE, "pauses": PAUSES,
    "tasks": TASKS, "ranks": RANKS, "collectives": COLLECTIVES,
}  # fmt: skip
"""Required columns of tables."""
OF = {
    ("flows", "flow"): "flow", ("flows", "src"): "node", ("flows", "dst"): "node",
    ("timeline_paths", "flow"): "flow", ("timeline_paths", "port"): "port", ("pauses", "port"): "port",
    ("pauses", "through"): "port", ("pauses", "class"): "class", ("ranks", "host"): "node",
    ("ranks", "iteration"): "iteration",
}  # fmt: skip
"""Columns of indices, and what they index."""
MOST_FRAMES = 2**20
"""Most frames: more than a scenario can request, a million."""
MOST_CLASSES = 2**8
"""Upper limit of traffic classes."""
MOST_ITERATIONS = 2**20
"""Most iterations of a job: more than a scenario can request, a million."""
MOST_FLOWS = 2**32
"""Upper limit of flow numbers."""


def described(run: Source, label: str, pack: Pack) -> dict[str, Any]:
    """Add the parts of a run; return the description with their numbers. Only footers of tables are read."""
    text, timeline = read_timeline(run)
    pack.place = run.place("")
    ports = _shape(run, "ports")
    if ports is None or ports.rows != len(timeline["ports"]):
        message = f"{run.place(run_folder.TIMELINE)} does not belong to the same run as ports.parquet"
        raise FolderError(f"{message}: run the scenario again")
    frames = _shape(run, "timeline_ports")
    if frames is None:
        raise FolderError(f"{run.place('timeline_ports.parquet')} is missing: {HOW}")
    if not METRICS.keys() & {*frames.columns}:
        raise FolderError(f"{run.place('timeline_ports.parquet')} is damaged: it has none of {', '.join(METRICS)}")
    records = Framed(
        run, "timeline_ports", frames, "port", pack, frames=timeline["frames"], count=ports.rows, most=ports.rows
    )
    flows = _shape(run, "flows")
    most = {"port": ports.rows, "node": len(timeline["nodes"]), "flow": MOST_FLOWS if flows is None else flows.rows}
    most |= {"class": MOST_CLASSES, "iteration": MOST_ITERATIONS}
    pauses = _shape(run, "pauses")
    more = WITH_PAUSES if pauses and pauses.rows else {}
    parts: dict[str, Any] = {
        "timeline": pack.add(text.encode),
        "ports": _table(run, "ports", ports, (*PORTS, *more.get("ports", ())), most, pack),
        "levels": _levels(run, frames, timeline["frames"], ports.rows, pack),
    }
    for part, name, shown in (
        ("flows", "flows", FLOWS), ("events", "timeline_events", EVENTS), ("paths", "timeline_paths", PATHS)
    ):  # fmt: skip
        shape = _shape(run, name)
        parts[part] = None if shape is None else _table(run, name, shape, (*shown, *more.get(name, ())), most, pack)
    missing: list[str] = []
    parts["told"] = pack.text(lambda: {"label": label, "missing": missing, "about": run.about()})
    pack.first = len(pack)
    parts["records"] = records.described()
    parts["by_flow"] = _by_flow(run, flows, timeline["frames"], pack)
    samples, trace = _shape(run, "samples"), _shape(run, "trace")
    parts["series"] = _later(partial(_series, run), SERIES, pack) if samples and samples.rows else None
    parts["packets"] = _later(partial(_packets, run, timeline), PACKETS, pack) if trace and trace.rows else None
    if pauses and pauses.rows:
        parts["pauses"] = _table(run, "pauses", pauses, PAUSES, most, pack)
    _add_jobs(run, parts, most, pack)
    missing += [words for part, words in NAMED if parts[part] is None]
    missing += [words for name, words in METRICS.items() if name not in frames.columns]
    return parts


def _add_jobs(run: Source, parts: dict[str, Any], most: Mapping[str, int], pack: Pack) -> None:
    """Add the tasks of ranks, if they are recorded, the collectives of jobs, and with either the ranks' iterations."""
    shapes = {name: (_shape(run, name), own) for name, own in (("tasks", TASKS), ("collectives", COLLECTIVES))}
    ranks = _shape(run, "ranks")
    for name, (shape, own) in shapes.items():
        if shape and shape.rows and ranks:
            parts[name] = _table(run, name, shape, own, most, pack)
            parts["ranks"] = parts.get("ranks") or _table(run, "ranks", ranks, RANKS, most, pack)


def _levels(run: Source, shape: Shape, frames: int, ports: int, pack: Pack) -> dict[str, Any] | None:
    """Add the levels of the figure with which a page of a large run opens."""
    if shape.rows < levels.LEAST_ROWS:
        return None
    metric = next(name for name in METRICS if name in shape.columns)
    return {"metric": metric} | _later(partial(levels.of, run, metric, frames, ports), levels.NAMES, pack)


def _shape(run: Source, name: str) -> Shape | None:
    """Return columns and number of rows of a table, if the run has it; raises if a required column is missing."""
    shape = run.shape(name)
    lacking = [] if shape is None else [column for column in NEEDED[name] if column not in shape.columns]
    if lacking:
        place = run.place(f"{name}.parquet")
        raise FolderError(f"{place} is damaged: it lacks {', '.join(lacking)}: run the scenario again")
    return shape


def read_timeline(run: Source) -> tuple[str, dict[str, Any]]:
    """Read a run's frames, nodes and ports, as text and parsed.

    Raises the error of ``lacks`` if there is none, and ``FolderError`` if it is damaged.
    """
    text = run.timeline()
    if text is None:
        raise run.lacks
    place = run.place(run_folder.TIMELINE)
    try:
        timeline = files.json_of(text, parse_constant=_no_number)
    except ValueError as error:
        raise FolderError(f"{place} is damaged: {files.message_of(error)}") from None
    if not isinstance(timeline, dict) or timeline.get("version") != VERSION:
        raise FolderError(f"{place} is not of version {VERSION}: run the scenario again")
    lacking = [key for key in ("frame_s", "frames", "start_s", "nodes", "ports") if key not in timeline]
    if lacking:
        raise FolderError(f"{place} is damaged: it lacks {', '.join(lacking)}: run the scenario again")
    if why := _odd(timeline):
        raise FolderError(f"{place} is damaged: {why}: run the scenario again")
    return text, timeline


def _odd(timeline: dict[str, Any]) -> str:
    """Return what is wrong with a timeline; empty if nothing is."""
    frame_s, frames = timeline["frame_s"], timeline["frames"]
    if not _real(frame_s) or frame_s <= 0:
        return f"frame_s = {_shown(frame_s)}; expected a number above 0"
    if not _whole(frames, 1, MOST_FRAMES):
        return f"frames = {_shown(frames)}; expected a whole number from 1 to {MOST_FRAMES}"
    if not _real(timeline["start_s"]):
        return f"start_s = {_shown(timeline['start_s'])}; expected a number"
    for key in ("nodes", "ports"):
        if not isinstance(timeline[key], list) or not all(isinstance(one, dict) for one in timeline[key]):
            return f"{key} = {_shown(timeline[key])}; expected a list of tables"
    count = len(timeline["nodes"])
    for i, node in enumerate(timeline["nodes"]):
        # a node that no host reaches is one tier above all others
        if not _whole(node.get("tier"), 0, count):
            return f"nodes.{i}.tier = {_shown(node.get('tier'))}; expected a whole number from 0 to {count}"
        for key in ("name", "kind"):
            if not isinstance(node.get(key), str):
                return f"nodes.{i}.{key} = {_shown(node.get(key))}; expected a text"
    for i, port in enumerate(timeline["ports"]):
        for key in ("from", "to"):
            if not _whole(port.get(key), 0, count - 1):
                expected = f"expected a whole number from 0 to {count - 1}" if count else "there are no nodes"
                return f"ports.{i}.{key} = {_shown(port.get(key))}; {expected}"
    return ""


def _real(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _whole(value: Any, least: int, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def _shown(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) < 40 else text[:40] + "..."


def _no_number(text: str) -> float:
    raise ValueError(f"{text} is not a number in JSON")


def _table(
    run: Source, name: str, shape: Shape, shown: Sequence[str], most: Mapping[str, int], pack: Pack
) -> dict[str, Any]:
    """Add columns of a table, each read separately; indices of ports, nodes and flows are below ``most``."""
    own = [column for column in shown if column in shape.columns]
    makers = {column: partial(_column, run, name, column, most) for column in own}
    return {"rows": shape.rows, "columns": {column: pack.add(make) for column, make in makers.items()}}


def _column(run: Source, name: str, column: str, most: Mapping[str, int]) -> bytes:
    if of := OF.get((name, column)):
        return packing.whole(numbers(run, name, column, most[of]))
    if (name, column) == ("timeline_events", "subject"):
        return packing.whole(_subjects(run, most))
    own = columns(run, name, [column])[column]
    with naming(run, name, f"column {column}"):
        return packing.column(own)


def _subjects(run: Source, most: Mapping[str, int]) -> np.ndarray[Any, Any]:
    """Read the flow and port numbers of events."""
    subjects = numbers(run, "timeline_events", "subject", packing.EXACT)
    what = np.array(columns(run, "timeline_events", ["what"])["what"].to_pylist(), dtype=object)
    for of in ("flow", "port"):
        if np.any(subjects[what == of] >= most[of]):
            raise damaged(run, "timeline_events", f"a {of} of {most[of]} or more")
    return subjects


def _later(make: Callable[[], dict[str, bytes]], names: Sequence[str], pack: Pack) -> dict[str, Any]:
    """Add columns that are made together, on the first access to one of them."""
    key = object()

    def size(made: dict[str, bytes]) -> int:
        return sum(map(len, made.values()))

    def column(own: str) -> bytes:
        return pack.kept.of(key, make, size)[own]

    return {"rows": None, "columns": {name: pack.add(partial(column, name)) for name in names}}


def _by_flow(run: Source, flows: Shape | None, frames: int, pack: Pack) -> dict[str, Any] | None:
    shape = _shape(run, "timeline_flows")
    if shape is None:
        return None
    if flows is not None:
        count = flows.rows
    else:
        own = numbers(run, "timeline_flows", "flow", MOST_FLOWS)
        count = int(own.max()) + 1 if len(own) else 0
    framed = Framed(run, "timeline_flows", shape, "flow", pack, frames=frames, count=count, most=count)
    return framed.described()


def _packets(run: Source, timeline: dict[str, Any]) -> dict[str, bytes]:
    ports = [str(name) for name in columns(run, "ports", PORTS)["port"].to_pylist()]
    trace = columns(run, "trace", TRACE)
    with naming(run, "trace", "an event:"):
        table, until_s = packets(trace, timeline, ports)
    left = np.array([] if until_s is None else [until_s])
    return {name: packing.column(table[name]) for name in table.column_names} | {"until_s": packing.real(left)}


def _series(run: Source) -> dict[str, bytes]:
    """Pack samples by series: entity, name, first row."""
    import pyarrow as pa

    samples = columns(run, "samples", NEEDED["samples"])
    samples = samples.filter(samples["time_s"].is_valid())
    entities = samples["entity"].combine_chunks().cast(pa.string()).dictionary_encode()
    names = samples["name"].combine_chunks().cast(pa.string()).dictionary_encode()
    keys = entities.indices.to_numpy().astype(np.int64) * len(names.dictionary) + names.indices.to_numpy()
    order = np.argsort(keys, kind="stable")
    found, starts = np.unique(keys[order], return_index=True)
    whose, what = np.divmod(found, max(1, len(names.dictionary)))
    return {
        "entity": packing.column(pa.chunked_array([entities.dictionary.take(pa.array(whose))])),
        "name": packing.column(pa.chunked_array([names.dictionary.take(pa.array(what))])),
        "starts": packing.whole(np.append(starts, len(keys)), differences=True),
        "time_s": packing.real(samples["time_s"].to_numpy()[order]),
        "value": packing.real(samples["value"].cast(pa.float64()).to_numpy()[order]),
    }
