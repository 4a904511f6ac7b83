"""Run folder: its files, and errors about missing or damaged ones."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import IO, TYPE_CHECKING, Any

from incast import _core
from incast.errors import FolderError, ModelError
from incast.runs.described import timeout_of
from incast.system import files
from incast.system.folders import write_through, writing

if TYPE_CHECKING:
    # Arrow is slow to load: load it only for tables
    import pyarrow as pa
    import pyarrow.parquet as pq

TABLES = (
    *("flows", "ports", "classes", "engines", "entries", "radios", "queries", "writes", "jobs", "ranks"),
    *("collectives", "messages", "tasks", "samples", "trace", "pauses"),
    *("timeline_ports", "timeline_flows", "timeline_events", "timeline_paths"),
)
OPTIONAL = tuple(name for name in TABLES if name not in ("flows", "ports", "samples"))
"""Tables that are written only if they have rows."""
FRAMES = ("timeline_ports", "timeline_flows")
"""Tables of frames."""
IN_PARTS = ("flows", "messages", *FRAMES)
"""Tables that may be too large for memory."""
GROUP = 1 << 20
"""Rows of a row group in a file, and of a part."""
RISING = ("port", "flow")
"""Columns that rise within each frame: delta encoding halves their size."""
MANIFEST = files.RUN_FILE
MANIFEST_FORMAT = 1
SUMMARY = "summary.json"
TIMELINE = "timeline.json"
SCENARIO = "scenario.toml"
OWN = frozenset([MANIFEST, SUMMARY, TIMELINE, SCENARIO, *(f"{name}.parquet" for name in TABLES)])
"""Files of the run itself; copies of the scenario's files are next to them."""
WHOLE = ("count", "finished", "retransmissions", "timeouts", "hops", "seed", "pauses", "with_timeout")
"""Last parts of the keys of integer figures."""
LARGE = 1e300
"""Upper limit of all figures, in their unit or a thousandth of it."""
WORDS = ("run.scenario", "run.version", "queues.busiest.port", "hosts.busiest.engine", "crossed_failure.links")
"""Text entries of these parts; all others are numbers."""
SUMMARY_PARTS = ("run", "flows", "fct", "queues", "hosts", "groups")
"""Parts that the summary of every run has."""
NEEDED = {
    "run": ("scenario", "seed", "sim_s", "measure_from_s", "measure_to_s", "hops"),
    "flows": (
        *("count", "finished", "throughput_mean_bps", "goodput_total_bps", "delay_mean_s", "delay_p99_s"),
        *("loss_total_pct", "jain", "retransmissions", "timeouts"),
    ),
    "fct": ("count", "finished", "mean_s", "p99_s", "slowdown_p99"),
    "queues": ("busiest", "pauses", "paused_s"),
    "hosts": ("busiest",),
}
"""Figures that every summary has, and that are read by name."""
NEEDED_WHERE_THERE = {
    "queues.busiest": ("port", "mean_packets", "p99_packets", "utilisation"),
    "hosts.busiest": ("engine", "mean_packets", "wait_mean_s", "utilisation"),
    "queries": ("count", "finished", "mean_s", "p99_s", "with_timeout"),
    "writes": ("count", "finished", "mean_s", "p99_s", "with_timeout"),
}
"""Figures that a summary may lack or have empty."""
KNOWN = ("run.seed", "run.sim_s", "run.measure_from_s", "run.measure_to_s")
"""Figures that are never null."""


def write(
    folder: Path,
    manifest: dict[str, Any],
    scenario: str,
    summary: str,
    table: Callable[[str], pa.Table],
    timeline: str | None = None,
    parts: Callable[[str, int, Callable[[pa.Table], None]], bool] | None = None,
    copies: Mapping[str, bytes] = MappingProxyType({}),
) -> None:
    """Write the files of a run into an existing folder; ``timeline`` is the text of ``timeline.json``, if any.

    ``parts`` yields large tables part by part, if possible, and returns whether it did. ``copies`` are the
    scenario's files by their names in the folder.
    """
    import pyarrow.parquet as pq

    write_through(folder / MANIFEST, json.dumps(manifest, indent=2) + "\n")
    write_through(folder / SCENARIO, scenario)
    write_through(folder / SUMMARY, summary)
    for name, data in copies.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        write_through(folder / name, data)
    if timeline is not None:
        write_through(folder / TIMELINE, timeline)
    for name in TABLES:
        if parts is not None and name in IN_PARTS and _write_parts(folder / f"{name}.parquet", name, parts):
            continue
        rows = table(name)
        if name in OPTIONAL and rows.num_rows == 0:
            continue
        path = folder / f"{name}.parquet"
        with writing(path), path.open("wb") as file:
            pq.write_table(rows, file, compression="zstd", row_group_size=GROUP)
            file.flush()
            os.fsync(file.fileno())


def _write_parts(path: Path, name: str, parts: Callable[[str, int, Callable[[pa.Table], None]], bool]) -> bool:
    """Write a large table part by part, unless it is empty; return whether it comes in parts."""
    import pyarrow.parquet as pq

    with writing(path), ExitStack() as stack:
        writers: list[pq.ParquetWriter] = []
        files: list[IO[bytes]] = []

        def take(rows: pa.Table) -> None:
            if not writers:
                files.append(stack.enter_context(path.open("wb")))
                rising = [column for column in rows.column_names if name in FRAMES and column in RISING]
                words = [column for column in rows.column_names if column not in rising]
                steps = dict.fromkeys(rising, "DELTA_BINARY_PACKED")
                encoded = {"use_dictionary": words, "column_encoding": steps} if rising else {}
                writers.append(pq.ParquetWriter(files[0], rows.schema, compression="zstd", **encoded))
            writers[0].write_table(rows, row_group_size=GROUP)

        known = parts(name, GROUP, take)
        if writers:
            writers[0].close()
            files[0].flush()
            os.fsync(files[0].fileno())
    return known


def read_scenario(folder: Path) -> str:
    """Read the resolved scenario of a run; raises ``FolderError`` if it is damaged."""
    text = _read(folder, SCENARIO)
    try:
        read_entries(text)
    except ValueError as error:
        raise FolderError(
            f"{folder / SCENARIO} is damaged: {files.message_of(error)}: run the scenario again"
        ) from None
    return text


def read_entries(toml: str) -> list[str]:
    """Return the names of the traffic entries and jobs of a resolved scenario; raises ``ValueError`` if damaged."""
    scenario = files.toml_of(toml)
    traffic, transport = scenario.get("traffic"), scenario.get("transport")
    if not isinstance(traffic, list) or not all(isinstance(entry, dict) for entry in traffic):
        raise ValueError("traffic: expected a list of tables")
    jobs = scenario.get("job", [])
    if not isinstance(jobs, list) or not all(isinstance(job, dict) for job in jobs):
        raise ValueError("job: expected a list of tables")
    if not isinstance(transport, dict):
        raise ValueError("transport: expected a table")
    for i, job in enumerate(jobs):
        if not isinstance(job.get("name"), str):
            raise ValueError(f"job.{i}.name: expected a text")
    for i, entry in enumerate(traffic):
        app = entry.get("app")
        if not isinstance(app, dict):
            raise ValueError(f"traffic.{i}.app: expected a table")
        for key, value in (
            ("name", entry.get("name")),
            ("pattern", entry.get("pattern")),
            ("app.kind", app.get("kind")),
        ):
            if not isinstance(value, str):
                raise ValueError(f"traffic.{i}.{key}: expected a text")
    refuse_odd_times("transport", {"syn_timeout": None, "rto_min": None, **transport})
    for i, entry in enumerate((*traffic, *jobs)):
        own = entry.get("transport", {})
        if not isinstance(own, dict):
            raise ValueError(f"traffic.{i}.transport: expected a table")
        refuse_odd_times(f"traffic.{i}.transport", {**transport, **own})
    for part in ("measure", "measure.series"):
        _, _, inner = part.partition(".")
        table = scenario.get("measure", {})
        if not isinstance(table.get(inner, {}) if inner and isinstance(table, dict) else table, dict):
            raise ValueError(f"{part}: expected a table")
    return [entry["name"] for entry in (*traffic, *jobs)]


def refuse_odd_times(table: str, transport: Mapping[str, Any]) -> None:
    """Raise ``ValueError`` unless the timers of a transport are times."""
    times = {"rto_min": str(transport["rto_min"]), "syn_timeout": str(transport["syn_timeout"])}
    times |= dict([timeout_of(transport)])
    for key, value in times.items():
        try:
            _core.model_quantity("time", value)
        except ModelError as error:
            raise ValueError(f"{table}.{key}: {error}") from None


def read_summary(folder: Path) -> str:
    """Read the summary's text; raises ``FolderError`` if a required part is missing."""
    text = _read(folder, SUMMARY)
    try:
        summary = files.json_of(text)
    except ValueError as error:
        raise FolderError(f"{folder / SUMMARY} is damaged: {files.message_of(error)}") from None
    refuse_odd_summary(folder / SUMMARY, summary)
    return text


def refuse_odd_summary(path: Path, summary: Any) -> None:
    """Raise ``FolderError`` if a summary lacks a required part, or a figure is not a number."""
    known = summary if isinstance(summary, dict) else {}
    lacking = [part for part in SUMMARY_PARTS if not isinstance(known.get(part), dict)]
    if not lacking:
        lacking = [f"{part}.{key}" for part, keys in NEEDED.items() for key in keys if key not in known[part]]
    if not lacking:
        there = {part: _part(known, part) for part in NEEDED_WHERE_THERE}
        lacking = [
            f"{part}.{key}"
            for part, keys in NEEDED_WHERE_THERE.items()
            for key in keys
            if there[part] and key not in there[part]
        ]
    if lacking:
        message = f"it lacks {', '.join(lacking)}: run the scenario again"
        raise FolderError(f"{path} is damaged: {message}")
    # optional parts too: parts that are not tables come from other versions
    _refuse_no_numbers(path, {part: known[part] for part in known if part not in ("units", "definitions")})
    for part in ("queues", "hosts"):
        if not isinstance(known[part]["busiest"], dict):
            raise FolderError(f"{path} is damaged: {part}.busiest: expected a table")
    for part in ("units", "definitions"):
        texts = known.get(part, {})
        if not (isinstance(texts, dict) and all(isinstance(one, str) for one in texts.values())):
            raise FolderError(f"{path} is damaged: {part}: expected a table of texts")


def _part(summary: dict[str, Any], name: str) -> dict[str, Any]:
    """Return a part of a summary by its dotted name; empty if it is not a table."""
    found: Any = summary
    for key in name.split("."):
        found = found.get(key) if isinstance(found, dict) else None
    return found if isinstance(found, dict) else {}


def _refuse_no_numbers(path: Path, values: dict[str, Any], name: str = "") -> None:
    """Raise ``FolderError`` if a figure is neither a number nor null."""
    for key, value in values.items():
        full = f"{name}{key}"
        if isinstance(value, dict):
            _refuse_no_numbers(path, value, f"{full}.")
        elif full in WORDS:
            if value is not None and not isinstance(value, str):
                raise FolderError(f"{path} is damaged: {full} = {_shown(value)}: expected a text")
        elif not _is_number(value) and (value is not None or full in KNOWN):
            raise FolderError(f"{path} is damaged: {full} = {_shown(value)}: expected a number")
        elif isinstance(value, float) and key in WHOLE:
            raise FolderError(f"{path} is damaged: {full} = {_shown(value)}: expected a whole number")


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and abs(value) < LARGE


def _shown(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) < 40 else text[:40] + "..."


def read_timeline(folder: Path) -> str | None:
    """Read the run's ``timeline.json``, if any."""
    return _read(folder, TIMELINE) if os.path.lexists(folder / TIMELINE) else None


def read_manifest(folder: Path) -> dict[str, Any]:
    """Read the manifest of a run folder; raises ``FolderError`` for anything else."""
    try:
        manifest = files.json_of(_read(folder, MANIFEST))
    except ValueError as error:
        raise FolderError(
            f"{folder}: manifest.json is not JSON ({files.message_of(error)}): not a run folder"
        ) from None
    if not isinstance(manifest, dict) or manifest.get("format") != MANIFEST_FORMAT:
        raise FolderError(f"{folder}: manifest.json is not of format {MANIFEST_FORMAT}: run the scenario again")
    lacking = [key for key in ("hash", "seed", "engine", "cost") if key not in manifest]
    if lacking:
        raise FolderError(f"{folder}: manifest.json lacks {', '.join(lacking)}: run the scenario again")
    cost = manifest["cost"] if isinstance(manifest["cost"], dict) else {}
    for name in ("wall_s", "cpu_s", "hops_per_cpu_s"):
        value = cost.get(name)
        if isinstance(value, bool) or not _is_number(value):
            if value is None and name == "hops_per_cpu_s":
                continue
            shown = _shown(value)
            raise FolderError(f"{folder}: manifest.json is damaged: cost.{name} = {shown}: expected a number")
    return manifest


@cache
def engine_digest() -> str:
    """Return the hash of the compiled engine, which tells apart results of different builds."""
    return hashlib.sha256(Path(_core.__file__).read_bytes()).hexdigest()[:16]


def holds(folder: Path, hash_: str, seed: int) -> bool:
    """Return whether the folder holds the run of a scenario hash and seed, made by this build of the engine."""
    if not folder.exists():
        return False
    manifest = read_manifest(folder)
    return (manifest["hash"], manifest["seed"], manifest["engine"]) == (hash_, seed, engine_digest())


def read_table(folder: Path, name: str, columns: list[str] | None = None) -> pa.Table:
    """Read a table of a run folder; an optional table without a file is empty."""
    import pyarrow as pa

    path = folder / f"{name}.parquet"
    if name in OPTIONAL and not os.path.lexists(path):
        return pa.table({})
    try:
        table = files.read_table(path, columns)
    except FileNotFoundError:
        raise FolderError(f"{folder} has no {path.name}: not a whole run folder") from None
    except (OSError, ValueError) as error:
        raise FolderError(f"{path} cannot be read: {files.message_of(error)}") from None
    # a stored run without samples has a sample table without columns
    if columns is None and not table.num_columns and name != "samples":
        raise FolderError(f"{path} is damaged: it has no columns: run the scenario again")
    refuse_odd_columns(path, name, table)
    return table


def refuse_odd_columns(path: Path, name: str, table: pa.Table) -> None:
    """Raise ``FolderError`` if a column of a run's table has a wrong type, or lacks a required value.

    Unknown columns are ignored.
    """
    import pyarrow as pa

    for field in table.schema:
        known = _columns(name).get(field.name)
        if known is None:
            continue
        is_text, is_full = known
        column = table[field.name]
        if pa.types.is_null(field.type) or (is_full and column.null_count):
            if is_full and len(column):
                message = f"column {field.name} has no value in row {_first_null(column)}; expected one in each"
                raise FolderError(f"{path} is damaged: {message}: run the scenario again")
        elif not (files.is_text(field.type) if is_text else files.is_number(field.type)):
            first = repr(column.drop_null().slice(0, 1).to_pylist())[1:-1]
            such = f", such as {first if len(first) < 40 else first[:40] + '...'}" if first else ""
            message = f"column {field.name} is of type {field.type}{such}; expected {'texts' if is_text else 'numbers'}"
            raise FolderError(f"{path} is damaged: {message}: run the scenario again")
        elif pa.types.is_floating(field.type) and (odd := _odd(column)) is not None:
            message = f"column {field.name} has the value {odd}; expected numbers below {LARGE:g}"
            raise FolderError(f"{path} is damaged: {message}: run the scenario again")


def _odd(column: pa.ChunkedArray) -> float | None:
    """Return an impossible number of a column: not finite, or above the limit of figures; else ``None``."""
    import numpy as np

    for chunk in column.chunks:
        values = files.numbers_of(chunk.drop_null())
        # NaN is neither below nor above
        if len(values) and not (float(values.min()) > -LARGE and float(values.max()) < LARGE):
            return float(values[~(np.abs(values) < LARGE)][0])
    return None


def _first_null(column: pa.ChunkedArray) -> int:
    return int(column.is_null().to_numpy().argmax())


@cache
def _columns(table: str) -> dict[str, tuple[bool, bool]]:
    """Return, for each column of a table, whether it is text and whether every row has a value."""
    return {name: (is_text, is_full) for name, is_text, is_full in _core.columns(table)}


@dataclass(frozen=True)
class Shape:
    """Shape of a table: columns and number of rows."""

    rows: int
    columns: tuple[str, ...]


def read_shape(folder: Path, name: str) -> Shape:
    """Read the footer of a table in a run folder, without its rows; raises ``FolderError`` if it is truncated."""
    metadata = _find_footer(folder / f"{name}.parquet")
    return Shape(metadata.num_rows, tuple(metadata.schema.to_arrow_schema().names))


def find_tables(folder: Path, needed: Iterable[str]) -> None:
    """Raise ``FolderError`` if a table is truncated, or missing although every run or this run has it."""
    wanted = {*needed, *(name for name in TABLES if name not in OPTIONAL)}
    for name in TABLES:
        if name in wanted or os.path.lexists(folder / f"{name}.parquet"):
            _find_footer(folder / f"{name}.parquet")


def _find_footer(path: Path) -> pq.FileMetaData:
    try:
        return files.read_footer(path)
    except FileNotFoundError:
        raise FolderError(f"{path.parent} has no {path.name}: not a whole run folder") from None
    except (OSError, ValueError) as error:
        raise FolderError(f"{path} cannot be read: {files.message_of(error)}") from None


def _read(folder: Path, name: str) -> str:
    try:
        return files.read_text(folder / name, files.MOST_JSON)
    except FileNotFoundError:
        if not folder.exists():
            raise FolderError(f"{folder} does not exist: expected a run folder") from None
        raise FolderError(f"{folder} has no {name}: not a run folder") from None
    except NotADirectoryError:
        raise FolderError(f"{folder} is a file: expected a run folder, which incast run makes") from None
    except (OSError, ValueError) as error:
        raise FolderError(f"cannot read {folder / name}: {files.message_of(error)}") from None
