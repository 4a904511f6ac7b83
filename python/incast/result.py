"""Results: what a run leaves, in memory and as a run folder."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import resource
import shutil
import sys
import time
import tomllib
import uuid
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from incast import _core
from incast.errors import FolderError

if TYPE_CHECKING:
    import polars

    # Arrow takes long to load: only what reads or writes tables waits for it.
    import pyarrow as pa

TABLES = ("flows", "ports", "classes", "engines", "queries", "writes", "samples", "trace")
# Written only where they have a row.
OPTIONAL = ("classes", "engines", "queries", "writes", "trace")
MESSAGES = ("queries", "writes")
"""Parts of the summary on what applications wait for, instead of flows."""
SUMMARY_PARTS = ("run", "flows", "fct", "queues", "hosts", "groups")
"""Parts that the summary of every run has."""
MANIFEST = "manifest.json"
MANIFEST_FORMAT = 1

COMPLETIONS = {"fct": "flows", **{what: what for what in MESSAGES}}
"""Parts of the summary that are over what finished, and what they count."""


def unfinished(what: str, finished: int, count: int) -> str:
    """Say how many queries or writes finished, where not all did."""
    over = "; their figures are over these" if finished else ""
    return f"{finished:,d} of {count:,d} {what} finished{over}"


class Cost(TypedDict):
    """What a run cost: seconds of wall and CPU time, speed, and memory of the whole process."""

    wall_s: float
    cpu_s: float
    hops_per_cpu_s: float | None
    peak_rss_bytes: int


RATES = ["group", "role", "throughput_bps"]
"""Columns of flows that ``rates_of`` reads."""


def rates_of(flows: pa.Table, datagrams: Collection[str]) -> tuple[float, ...]:
    """Give the bits per second of flows that share as the summary counts them, but for datagrams.

    These are flows that opened and that carry no requests. ``datagrams`` are the entries whose flows are left out too.
    """
    rows = flows.select(RATES).to_pylist()
    shares = [row["throughput_bps"] for row in rows if row["group"] not in datagrams and row["role"] != "request"]
    return tuple(rate for rate in shares if rate is not None)


@dataclass(frozen=True)
class Result:
    """One finished run.

    ``flows``, ``ports``, ``classes``, ``engines``, ``queries``, ``writes``, ``samples`` and ``trace`` are Arrow tables;
    each column's field carries its ``unit`` and ``definition`` as metadata. ``polars.from_arrow(result.flows)`` makes a
    Polars frame without copying.
    """

    manifest: dict[str, Any]
    """Version, seed, scenario hash, host and cost: enough to repeat the run."""
    toml: str
    """The scenario, every default written out."""
    summary_json: str
    """The bytes of ``summary.json``: the same for the same scenario and seed."""
    _table: Callable[[str], pa.Table]

    @cached_property
    def summary(self) -> dict[str, Any]:
        """The figures; one that does not exist is ``None``."""
        summary: dict[str, Any] = json.loads(self.summary_json)
        return summary

    @cached_property
    def flows(self) -> pa.Table:
        """One row a flow."""
        return self._table("flows")

    @cached_property
    def ports(self) -> pa.Table:
        """One row a port (a directed link with its queue)."""
        return self._table("ports")

    @cached_property
    def classes(self) -> pa.Table:
        """One row a traffic class of a port; none where one queue serves all."""
        return self._table("classes")

    @cached_property
    def engines(self) -> pa.Table:
        """One row an engine of a host; none where hosts cost nothing."""
        return self._table("engines")

    @cached_property
    def queries(self) -> pa.Table:
        """One row a query that began."""
        return self._table("queries")

    @cached_property
    def writes(self) -> pa.Table:
        """One row a closed-loop write that began."""
        return self._table("writes")

    @cached_property
    def samples(self) -> pa.Table:
        """Time series asked for: one row a point."""
        return self._table("samples")

    @cached_property
    def trace(self) -> pa.Table:
        """Packets of traced flows: one row an event."""
        return self._table("trace")

    @property
    def cost(self) -> Cost:
        """What the run cost."""
        cost: Cost = self.manifest["cost"]
        return cost

    @cached_property
    def datagrams(self) -> tuple[str, ...]:
        """Traffic entries that send datagrams at a rate of their own, beside others that a controller governs."""
        kinds = {entry["name"]: entry["app"]["kind"] for entry in tomllib.loads(self.toml)["traffic"]}
        found = tuple(name for name, kind in kinds.items() if kind == "udp")
        return found if len(found) < len(kinds) else ()

    def notes(self) -> list[str]:
        """Return what is worth knowing of the run, a sentence each.

        That figures of all flows count datagrams too; ports that wait for each other for ever.
        """
        told = []
        if self.datagrams:
            named = " and ".join(self.datagrams)
            told.append(
                f"figures of all flows count the datagrams of {named}; those of each entry are in groups, and RTTs and "
                "completion times are of the others, which alone have any"
            )
        return [*told, *self._deadlocks()]

    def _deadlocks(self) -> list[str]:
        if not self.summary["queues"].get("deadlocked"):
            return []
        rows = self.ports.select(["port", "deadlocked_s"]).to_pylist()
        stuck = sorted((row["deadlocked_s"], row["port"]) for row in rows if row["deadlocked_s"] is not None)
        named = ", ".join(f"{port} (since {since * 1e6:g} us)" for since, port in stuck[:4])
        more = f" and {len(stuck) - 4} more" if len(stuck) > 4 else ""
        return [f"priority flow control ended in a deadlock: these ports are paused for ever: {named}{more}"]

    def polars(self, table: str = "flows") -> polars.DataFrame:
        """Return a table as a Polars frame (needs the package ``polars``)."""
        import polars

        frame = polars.from_arrow(getattr(self, table))
        assert isinstance(frame, polars.DataFrame)
        return frame

    def json(self) -> str:
        """Return the summary with the run's cost, as ``incast run --json`` prints it."""
        run, *rest = self.summary.items()
        return json.dumps(dict([run, ("cost", self.cost), *rest]), indent=2) + "\n"

    def save(self, folder: str | Path) -> Path:
        """Write the run folder. It appears whole or not at all.

        Raises ``FolderError`` when the folder is not empty or cannot be made, and ``OSError``
        when writing fails on the way (nothing is left behind then).
        """
        with new_folder(Path(folder)) as aside:
            self.write(aside)
        return Path(folder)

    def write(self, folder: Path) -> None:
        """Write the files of a run folder into an existing one."""
        import pyarrow.parquet as pq

        _write(folder / MANIFEST, json.dumps(self.manifest, indent=2) + "\n")
        _write(folder / "scenario.toml", self.toml)
        _write(folder / "summary.json", self.summary_json)
        for name in TABLES:
            table = getattr(self, name)
            if name in OPTIONAL and table.num_rows == 0:
                continue
            with (folder / f"{name}.parquet").open("wb") as file:
                pq.write_table(table, file, compression="zstd")
                file.flush()
                os.fsync(file.fileno())

    @classmethod
    def load(cls, folder: str | Path, whole: bool = False) -> Result:
        """Read a run folder back; its tables are read when they are first asked for.

        Raises ``FolderError`` when a file is missing or damaged, for a table when it is read; with
        ``whole`` also at once for a table that is not there or was cut short.
        """
        folder = Path(folder)
        summary = _read(folder, "summary.json")
        try:
            read = json.loads(summary)
        except ValueError as error:
            raise FolderError(f"{folder / 'summary.json'} is damaged: {error}") from None
        lacking = [part for part in SUMMARY_PARTS if not (isinstance(read, dict) and isinstance(read.get(part), dict))]
        if lacking:
            told = f"it lacks {', '.join(lacking)}: run the scenario again"
            raise FolderError(f"{folder / 'summary.json'} is damaged: {told}")
        result = cls(
            read_manifest(folder), _read(folder, "scenario.toml"), summary, lambda name: read_table(folder, name)
        )
        if whole:
            began = [what for what in MESSAGES if result.summary.get(what, {}).get("count")]
            for name in TABLES:
                if name not in OPTIONAL or name in began or (folder / f"{name}.parquet").exists():
                    _find_footer(folder / f"{name}.parquet")
        return result


def measured_run(scenario: _core.Scenario, progress: Callable[[float, float, int], bool | None] | None) -> Result:
    """Run a scenario in this thread and note what it cost."""
    wall, cpu = time.perf_counter(), time.thread_time()
    core = _core.run(scenario, progress)
    wall, cpu = time.perf_counter() - wall, time.thread_time() - cpu
    summary_json = core.summary_json()
    hops = json.loads(summary_json)["run"]["hops"]
    cost: Cost = {
        "wall_s": wall,
        "cpu_s": cpu,
        "hops_per_cpu_s": hops / cpu if cpu > 0 else None,
        "peak_rss_bytes": _peak_rss_bytes(),
    }
    manifest = {
        "format": MANIFEST_FORMAT,
        "incast": _core.__version__,
        "engine": engine_digest(),
        "scenario": scenario.name,
        "seed": scenario.seed,
        "hash": scenario.hash,
        "command": sys.argv,
        "host": {
            "system": platform.platform(),
            "machine": platform.machine(),
            "cpus": os.cpu_count(),
            "python": platform.python_version(),
        },
        "cost": cost,
    }
    return Result(manifest, scenario.toml(), summary_json, lambda name: _arrow(core, name))


@cache
def engine_digest() -> str:
    """Hash of the compiled engine: results of another build are not taken for this one's."""
    return hashlib.sha256(Path(_core.__file__).read_bytes()).hexdigest()[:16]


def read_table(folder: Path, name: str, columns: list[str] | None = None) -> pa.Table:
    """Read a table of a run folder; queries, writes and traces are written only where there are some."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = folder / f"{name}.parquet"
    if name in OPTIONAL and not path.exists():
        return pa.table({})
    try:
        return pq.read_table(path, columns=columns)
    except FileNotFoundError:
        raise FolderError(f"{folder} has no {path.name}: not a whole run folder") from None
    except (OSError, ValueError, KeyError, pa.ArrowException) as error:
        raise FolderError(f"{path} cannot be read: {error}") from None


def _find_footer(path: Path) -> None:
    """Read the end of a table, which a file that was cut short lacks, and none of its rows."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        pq.read_metadata(path)
    except FileNotFoundError:
        raise FolderError(f"{path.parent} has no {path.name}: not a whole run folder") from None
    except (OSError, ValueError, pa.ArrowException) as error:
        raise FolderError(f"{path} cannot be read: {error}") from None


def _peak_rss_bytes() -> int:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def _arrow(core: _core.RunResult, name: str) -> pa.Table:
    """Hand a table's columns to Arrow; numbers that cannot be missing are not copied."""
    import pyarrow as pa

    fields, arrays = [], []
    for column, unit, definition, values, valid, names in core.table(name):
        if names is not None:
            array = pa.DictionaryArray.from_arrays(pa.array(values).cast(pa.int32()), pa.array(names, pa.string()))
        elif isinstance(values, list):
            array = pa.array(values, pa.string())
        else:
            array = pa.array(values, mask=None if valid is None else ~valid)
        arrays.append(array)
        fields.append(pa.field(column, array.type, metadata={"unit": unit, "definition": definition}))
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields))


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
    return manifest


def _read(folder: Path, name: str) -> str:
    try:
        return (folder / name).read_text(encoding="utf-8")
    except FileNotFoundError:
        if not folder.exists():
            raise FolderError(f"{folder} does not exist: expected a run folder") from None
        raise FolderError(f"{folder} has no {name}: not a run folder") from None
    except OSError as error:
        raise FolderError(f"cannot read {folder / name}: {error.strerror}") from None


def _write(path: Path, text: str) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def write_whole(path: Path, content: str | bytes) -> None:
    """Replace a file so that it is seen either as before or with all of ``content``."""
    aside = path.with_name(f".{path.name}.partial-{uuid.uuid4().hex[:8]}")
    data = content.encode() if isinstance(content, str) else content
    try:
        with aside.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        aside.replace(path)
    except BaseException:
        aside.unlink(missing_ok=True)
        raise


@contextmanager
def new_folder(folder: Path) -> Iterator[Path]:
    """Give a folder to fill that becomes ``folder`` at the end of the block, and only then.

    Raises ``FolderError`` at once when that could not work, so that nobody simulates for an hour
    to find out. Whatever ends the block early removes what was written.
    """
    refuse_unless_empty(folder)
    given = folder
    if folder.is_symlink():
        # A rename would put the new folder in the place of the link.
        folder = folder.resolve()
    if folder.name in ("", ".."):
        raise FolderError(f'"{given}" cannot be a results folder: name a new folder')
    aside = folder.parent / f".{folder.name}.partial-{uuid.uuid4().hex[:8]}"
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        aside.mkdir()
    except OSError as error:
        raise FolderError(f"cannot write results to {given}: {error.strerror}") from None
    try:
        yield aside
        _sync_folder(aside)
        try:
            # A rename puts a folder in the place of an empty one, never of a full one.
            aside.rename(folder)
        except OSError:
            refuse_unless_empty(folder)
            raise
        _sync_folder(folder.parent)
    except BaseException:
        shutil.rmtree(aside, ignore_errors=True)
        raise


def refuse_unless_empty(folder: Path) -> None:
    """Raise ``FolderError`` if something is where a new folder shall be."""
    try:
        if next(folder.iterdir(), None) is not None:
            raise FolderError(
                f"{folder} exists and is not empty: give another --out, or remove it first "
                "(results are never overwritten)"
            )
    except FileNotFoundError:
        if folder.is_symlink():
            raise FolderError(
                f"{folder} cannot be a results folder: it is a link to {folder.readlink()}, which does not exist"
            ) from None
    except NotADirectoryError:
        raise FolderError(f"{folder} cannot be a results folder: a file is in the way") from None
    except OSError as error:
        raise FolderError(f"cannot use {folder} for results: {error.strerror}") from None


def _sync_folder(folder: Path) -> None:
    """Make names in a folder last through a crash of the machine."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
