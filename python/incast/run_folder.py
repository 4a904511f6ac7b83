"""The folder of a run: its files, and what is said of those that are missing or damaged."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from incast import _core
from incast.errors import FolderError
from incast.folders import write_through

if TYPE_CHECKING:
    # Arrow takes long to load: only what reads or writes tables waits for it.
    import pyarrow as pa
    import pyarrow.parquet as pq

TABLES = (
    *("flows", "ports", "classes", "engines", "entries", "radios", "queries", "writes", "samples", "trace"),
    *("timeline_ports", "timeline_flows", "timeline_events", "timeline_paths"),
)
OPTIONAL = tuple(name for name in TABLES if name not in ("flows", "ports", "samples"))
"""Tables that are written only where they have a row."""
FRAMES = ("timeline_ports", "timeline_flows")
"""Tables that may be too large to be in memory at once."""
GROUP = 1 << 20
"""Rows of a group in a file, and of a part."""
RISING = ("port", "flow")
"""Columns of tables of frames that rise within each frame: as differences they take half the bytes."""
MANIFEST = "manifest.json"
MANIFEST_FORMAT = 1
SUMMARY = "summary.json"
TIMELINE = "timeline.json"
SCENARIO = "scenario.toml"
WORDS = ("run.scenario", "run.version", "queues.busiest.port", "hosts.busiest.engine")
"""Entries of these parts that are texts; every other is a number."""
SUMMARY_PARTS = ("run", "flows", "fct", "queues", "hosts", "groups")
"""Parts that the summary of every run has."""


def write(
    folder: Path,
    manifest: dict[str, Any],
    scenario: str,
    summary: str,
    table: Callable[[str], pa.Table],
    timeline: str | None = None,
    parts: Callable[[str, int, Callable[[pa.Table], None]], bool] | None = None,
) -> None:
    """Write the files of a run into an existing folder; ``timeline`` is the text of ``timeline.json``, if any.

    ``parts`` shows tables of frames part by part, where it can; whether it did.
    """
    import pyarrow.parquet as pq

    write_through(folder / MANIFEST, json.dumps(manifest, indent=2) + "\n")
    write_through(folder / SCENARIO, scenario)
    write_through(folder / SUMMARY, summary)
    if timeline is not None:
        write_through(folder / TIMELINE, timeline)
    for name in TABLES:
        if parts is not None and name in FRAMES and _write_parts(folder / f"{name}.parquet", name, parts):
            continue
        rows = table(name)
        if name in OPTIONAL and rows.num_rows == 0:
            continue
        with (folder / f"{name}.parquet").open("wb") as file:
            pq.write_table(rows, file, compression="zstd", row_group_size=GROUP)
            file.flush()
            os.fsync(file.fileno())


def _write_parts(path: Path, name: str, parts: Callable[[str, int, Callable[[pa.Table], None]], bool]) -> bool:
    """Write a table of frames part by part, unless it has no rows; whether it comes in parts."""
    import pyarrow.parquet as pq

    with ExitStack() as stack:
        writers: list[pq.ParquetWriter] = []
        files: list[IO[bytes]] = []

        def take(rows: pa.Table) -> None:
            if not writers:
                files.append(stack.enter_context(path.open("wb")))
                words = [column for column in rows.column_names if column not in RISING]
                steps = {column: "DELTA_BINARY_PACKED" for column in rows.column_names if column in RISING}
                encoded = {"compression": "zstd", "use_dictionary": words, "column_encoding": steps}
                writers.append(pq.ParquetWriter(files[0], rows.schema, **encoded))
            writers[0].write_table(rows, row_group_size=GROUP)

        known = parts(name, GROUP, take)
        if writers:
            writers[0].close()
            files[0].flush()
            os.fsync(files[0].fileno())
    return known


def read_scenario(folder: Path) -> str:
    """Read the scenario as it was run, every default written out."""
    return _read(folder, SCENARIO)


def read_summary(folder: Path) -> str:
    """Read the summary's text; raises ``FolderError`` unless it has the parts that every summary has."""
    text = _read(folder, SUMMARY)
    try:
        summary = json.loads(text)
    except ValueError as error:
        raise FolderError(f"{folder / SUMMARY} is damaged: {error}") from None
    known = summary if isinstance(summary, dict) else {}
    lacking = [part for part in SUMMARY_PARTS if not isinstance(known.get(part), dict)]
    if lacking:
        told = f"it lacks {', '.join(lacking)}: run the scenario again"
        raise FolderError(f"{folder / SUMMARY} is damaged: {told}")
    _refuse_no_numbers(folder / SUMMARY, {part: known[part] for part in SUMMARY_PARTS})
    return text


def _refuse_no_numbers(path: Path, values: dict[str, Any], name: str = "") -> None:
    """Raise ``FolderError`` where a figure is no number; one that does not exist is null."""
    for key, value in values.items():
        full = f"{name}{key}"
        if isinstance(value, dict):
            _refuse_no_numbers(path, value, f"{full}.")
        elif full in WORDS:
            if value is not None and not isinstance(value, str):
                raise FolderError(f"{path} is damaged: {full} = {json.dumps(value)}: expected a text")
        elif value is not None and not isinstance(value, (int, float)):
            raise FolderError(f"{path} is damaged: {full} = {json.dumps(value)}: expected a number")


def read_timeline(folder: Path) -> str | None:
    """Read what the run says of its timeline, if it has one."""
    return _read(folder, TIMELINE) if (folder / TIMELINE).exists() else None


def read_manifest(folder: Path) -> dict[str, Any]:
    """Read the manifest of a run folder, or say why it is none."""
    try:
        manifest = json.loads(_read(folder, MANIFEST))
    except ValueError as error:
        raise FolderError(f"{folder}: manifest.json is not JSON ({error}): not a run folder") from None
    if not isinstance(manifest, dict) or manifest.get("format") != MANIFEST_FORMAT:
        raise FolderError(f"{folder}: manifest.json is not of format {MANIFEST_FORMAT}: run the scenario again")
    lacking = [key for key in ("hash", "seed", "engine", "cost") if key not in manifest]
    if lacking:
        raise FolderError(f"{folder}: manifest.json lacks {', '.join(lacking)}: run the scenario again")
    cost = manifest["cost"] if isinstance(manifest["cost"], dict) else {}
    for name in ("wall_s", "cpu_s", "hops_per_cpu_s"):
        value = cost.get(name)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            if value is None and name == "hops_per_cpu_s":
                continue
            shown = json.dumps(value)
            raise FolderError(f"{folder}: manifest.json is damaged: cost.{name} = {shown}: expected a number")
    return manifest


@cache
def engine_digest() -> str:
    """Hash of the compiled engine: results of another build are not taken for this one's."""
    return hashlib.sha256(Path(_core.__file__).read_bytes()).hexdigest()[:16]


def holds(folder: Path, hash_: str, seed: int) -> bool:
    """Whether the folder holds the run of a scenario, by its hash and seed, made by this build of the engine."""
    if not folder.exists():
        return False
    manifest = read_manifest(folder)
    return (manifest["hash"], manifest["seed"], manifest["engine"]) == (hash_, seed, engine_digest())


def read_table(folder: Path, name: str, columns: list[str] | None = None) -> pa.Table:
    """Read a table of a run folder; queries, writes and traces are written only where there are some."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = folder / f"{name}.parquet"
    if name in OPTIONAL and not path.exists():
        return pa.table({})
    try:
        # pq.read_table loads Arrow's data sets, which takes as long as a large column
        with pq.ParquetFile(path) as file:
            lacking = sorted({*(columns or ())} - {*file.schema_arrow.names})
            if lacking:
                raise FolderError(f"{path} cannot be read: it has no column {', '.join(lacking)}")
            return file.read(columns)
    except FileNotFoundError:
        raise FolderError(f"{folder} has no {path.name}: not a whole run folder") from None
    except (OSError, ValueError, KeyError, pa.ArrowException) as error:
        raise FolderError(f"{path} cannot be read: {error}") from None


@dataclass(frozen=True)
class Shape:
    """What a table has, without its rows."""

    rows: int
    columns: tuple[str, ...]


def read_shape(folder: Path, name: str) -> Shape:
    """Read the end of a table of a run folder, and none of its rows; raises ``FolderError`` where it is cut short."""
    metadata = _find_footer(folder / f"{name}.parquet")
    return Shape(metadata.num_rows, tuple(metadata.schema.to_arrow_schema().names))


def find_tables(folder: Path, needed: Iterable[str]) -> None:
    """Raise ``FolderError`` where a table is cut short, or not there although every run or this one has it."""
    wanted = {*needed, *(name for name in TABLES if name not in OPTIONAL)}
    for name in TABLES:
        if name in wanted or (folder / f"{name}.parquet").exists():
            _find_footer(folder / f"{name}.parquet")


def _find_footer(path: Path) -> pq.FileMetaData:
    """Read the end of a table, which a file that was cut short lacks, and none of its rows."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return pq.read_metadata(path)
    except FileNotFoundError:
        raise FolderError(f"{path.parent} has no {path.name}: not a whole run folder") from None
    except (OSError, ValueError, pa.ArrowException) as error:
        raise FolderError(f"{path} cannot be read: {error}") from None


def _read(folder: Path, name: str) -> str:
    try:
        return (folder / name).read_text(encoding="utf-8")
    except FileNotFoundError:
        if not folder.exists():
            raise FolderError(f"{folder} does not exist: expected a run folder") from None
        raise FolderError(f"{folder} has no {name}: not a run folder") from None
    except NotADirectoryError:
        raise FolderError(f"{folder} is a file: expected a run folder, which incast run makes") from None
    except OSError as error:
        raise FolderError(f"cannot read {folder / name}: {error.strerror}") from None
