"""The result of a run: its figures and tables, and what is worth knowing of them."""

from __future__ import annotations

import json
import math
import os
import platform
import resource
import sys
import time
import tomllib
from collections.abc import Callable, Collection
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cached_property, partial
from html import escape
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypedDict

from incast import _core, files, memory, named_files, run_folder, soundness, sql
from incast.errors import IncastError, UnsoundError, needs
from incast.folders import new_folder
from incast.named_files import Copies

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow as pa
    from matplotlib.figure import Figure

MESSAGES = ("queries", "writes")
"""Parts of the summary on what applications wait for, instead of flows."""
COMPLETIONS = {"fct": "flows", **{what: what for what in MESSAGES}}
"""Parts of the summary that are over what finished, and what they count."""


def unfinished(what: str, finished: int, count: int) -> str:
    """Say how many queries or writes finished, where not all did."""
    over = "; their figures are over these" if finished else ""
    return f"{finished:,d} of {count:,d} {what} finished{over}"


class Cost(TypedDict):
    """Cost of a run: seconds of wall and CPU time, speed, and memory of the whole process.

    ``threads_cpu_s`` is the CPU time of each of its threads between the first event and the last.
    """

    wall_s: float
    cpu_s: float
    hops_per_cpu_s: float | None
    peak_rss_bytes: int
    threads: int
    threads_cpu_s: list[float]


COPIES = 6
"""Memory that records of a run take at most, in sizes of them: they grow by doubling, and become tables."""
LARGEST = 1e18
"""More bytes than any memory has."""
SHOWN = [
    ("flows.count", "flows", "", 1),
    ("flows.finished", "finished", "", 1),
    ("flows.throughput_mean_bps", "throughput per flow", "Mb/s", 1e-6),
    ("flows.goodput_total_bps", "goodput, total", "Mb/s", 1e-6),
    ("flows.delay_mean_s", "one-way delay, mean", "us", 1e6),
    ("flows.delay_p99_s", "one-way delay, p99", "us", 1e6),
    ("flows.loss_total_pct", "loss", "%", 1),
    ("flows.jain", "Jain's index", "", 1),
    ("flows.timeouts", "timeouts", "", 1),
    ("fct.mean_s", "FCT, mean", "us", 1e6),
    ("fct.p99_s", "FCT, p99", "us", 1e6),
]
"""Figures that a notebook shows of a run: key, name, unit, and what the figure is multiplied by."""

RATES = ["group", "role", "throughput_bps", "throughput_active_bps"]
"""Columns of flows that ``rates_of`` reads."""


def rates_of(flows: pa.Table, datagrams: Collection[str], column: str = "throughput_bps") -> tuple[float, ...]:
    """Give the bits per second of flows that share as the summary counts them, but for datagrams.

    These are flows that opened and that carry no requests. ``datagrams`` are the entries whose flows are left out too.
    ``column`` may also be ``throughput_active_bps``, each flow's over its own time.
    """
    rows = flows.select(["group", "role", column]).to_pylist()
    shares = [row[column] for row in rows if row["group"] not in datagrams and row["role"] != "request"]
    return tuple(rate for rate in shares if rate is not None)


class View(Protocol):
    """Runs over time (``incast.view.notebook``)."""

    html: str
    """The text of the file."""
    height_px: int
    """Height in a notebook."""

    def save(self, path: str | Path) -> Path:
        """Write it as one HTML file."""


class Pictures(Protocol):
    """Pictures of a run, each a matplotlib figure (``incast.pictures``)."""

    def over_time(self) -> Figure:
        """Throughput and window of each of at most eight flows and the queue of the busiest port, over time."""

    def throughput(self) -> Figure:
        """Throughput of the flows, as a distribution."""

    def fct(self) -> Figure:
        """Completion times of the flows that finished, as a distribution."""

    def windows(self) -> Figure:
        """Congestion windows of the recorded flows over time."""

    def queues(self) -> Figure:
        """Queues of the recorded ports over time."""

    def heat_map(self) -> Figure:
        """Queues of the recorded ports over time: a row a port."""


@dataclass(frozen=True, repr=False)
class Result:
    """One finished run.

    ``flows``, ``ports``, ``classes``, ``engines``, ``entries``, ``radios``, ``queries``, ``writes``, ``samples``,
    ``trace``, ``timeline_ports``, ``timeline_flows``, ``timeline_events`` and ``timeline_paths`` are Arrow tables; each
    column's field carries its ``unit`` and ``definition`` as metadata.
    ``polars.from_arrow(result.flows)`` makes a Polars frame without copying.
    """

    manifest: dict[str, Any]
    """Version, seed, scenario hash, host and cost: enough to repeat the run."""
    toml: str
    """The scenario, every default written out."""
    summary_json: str
    """The bytes of ``summary.json``: the same for the same scenario and seed."""
    _table: Callable[[str], pa.Table]
    timeline_json: str | None = None
    """The bytes of ``timeline.json``: frames and network of the timeline, if the run has one."""
    _parts: Callable[[str, int, Callable[[pa.Table], None]], bool] | None = None
    _copies: Callable[[], Copies] | None = None
    """Gives the scenario with the files that it names, as a run folder has them."""
    _folder: Path | None = None

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
    def entries(self) -> pa.Table:
        """One row an entry of a match-action table at a node; none where no node runs tables."""
        return self._table("entries")

    @cached_property
    def radios(self) -> pa.Table:
        """One row a station of a radio cell; none where there is no cell."""
        return self._table("radios")

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

    @cached_property
    def timeline_ports(self) -> pa.Table:
        """What ports did in each frame of the timeline; none where the run has no timeline."""
        return self._table("timeline_ports")

    @cached_property
    def timeline_flows(self) -> pa.Table:
        """What flows did in each frame of the timeline; none where the run has no timeline."""
        return self._table("timeline_flows")

    @cached_property
    def timeline_events(self) -> pa.Table:
        """Events of the timeline: flows, queries, timeouts, failures, pause storms."""
        return self._table("timeline_events")

    @cached_property
    def timeline_paths(self) -> pa.Table:
        """Ports that the data of each flow passes; none where the run has no timeline."""
        return self._table("timeline_paths")

    @property
    def cost(self) -> Cost:
        """The cost of the run."""
        cost: Cost = self.manifest["cost"]
        return cost

    @cached_property
    def datagrams(self) -> tuple[str, ...]:
        """Traffic entries that send datagrams at a rate of their own, beside others that a controller governs."""
        kinds = {entry["name"]: entry["app"]["kind"] for entry in tomllib.loads(self.toml)["traffic"]}
        found = tuple(name for name, kind in kinds.items() if kind == "udp")
        return found if len(found) < len(kinds) else ()

    @property
    def folder(self) -> Path | None:
        """Folder that the run was loaded from; ``None`` of a run in memory."""
        return self._folder

    def reading(self) -> AbstractContextManager[None]:
        """Read the run in this block: where files of its folder contradict each other, ``FolderError`` says so."""
        return nullcontext() if self._folder is None else files.held(self._folder)

    def notes(self) -> list[str]:
        """Return what is worth knowing of the run, a sentence each.

        That no figure of it is to be used; that figures of all flows count datagrams too; ports that wait for each
        other for ever; why flows did not finish; that one flow alone stretches the measured interval.
        """
        with self.reading():
            return self._notes()

    def _notes(self) -> list[str]:
        told = []
        if wrong := soundness.unsound(self.summary):
            told.append(wrong)
        if self.datagrams:
            named = " and ".join(self.datagrams)
            told.append(
                f"figures of all flows count the datagrams of {named}; those of each entry are in groups, and RTTs and "
                "completion times are of the others, which alone have any"
            )
        fct = self.summary["fct"]
        if fct["finished"] < fct["count"]:
            share = 100 * fct["finished"] / fct["count"]
            told.append(
                f"{fct['finished']:,d} of {fct['count']:,d} flows of a size finished ({share:.3g} %): the summary's "
                "completion times are over these"
            )
        return [*told, *self._deadlocks(), *self.reasons()]

    def reasons(self) -> list[str]:
        """Return why flows of a size did not finish, and whether one flow alone stretches the measured interval."""
        from incast import run_notes

        with self.reading():
            return run_notes.reasons(self.summary, self.toml, self.flows) if self.summary["fct"]["count"] else []

    def _deadlocks(self) -> list[str]:
        if not self.summary["queues"].get("deadlocked"):
            return []
        rows = self.ports.select(["port", "deadlocked_s"]).to_pylist()
        stuck = sorted((row["deadlocked_s"], row["port"]) for row in rows if row["deadlocked_s"] is not None)
        named = ", ".join(f"{port} (since {since * 1e6:g} us)" for since, port in stuck[:4])
        more = f" and {len(stuck) - 4} more" if len(stuck) > 4 else ""
        return [f"priority flow control ended in a deadlock: these ports are paused for ever: {named}{more}"]

    def __repr__(self) -> str:
        run, flows = self.summary["run"], self.summary["flows"]
        rate = flows["throughput_mean_bps"]
        each = "" if rate is None else f", {rate * 1e-6:,.4g} Mb/s each"
        return f"<Result {run['scenario']} seed {run['seed']}: {run['sim_s']:g} s, {flows['count']:,} flows{each}>"

    def _repr_html_(self) -> str:
        run = self.summary["run"]
        rows = []
        for key, name, unit, scale in SHOWN:
            part, _, figure = key.partition(".")
            value = self.summary[part].get(figure)
            if value is not None:
                shown = f"{value * scale:,.4g}" if isinstance(value, float) else f"{value:,}"
                told = escape(self.summary["definitions"].get(key, ""), quote=True)
                rows.append(f'<tr><th title="{told}">{name}</th><td>{shown} {unit}</td></tr>')
        head = f"{escape(run['scenario'])}, seed {run['seed']}: {run['sim_s']:g} s simulated"
        return f"<table><caption>{head}</caption><tbody>{''.join(rows)}</tbody></table>"

    @property
    def plot(self) -> Pictures:
        """Pictures of the run, each a matplotlib figure: ``plot.throughput()``."""
        # pictures stand above results, and load matplotlib
        pictures: Pictures = import_module("incast.pictures").Pictures(self)
        return pictures

    def view(self, *others: Result) -> View:
        """View the run over time, with others beside it: notebooks show it, ``save(path)`` writes it as one HTML file.

        Raises ``IncastError`` of a run without a timeline (``measure.timeline``).
        """
        # the viewer stands above results
        view: View = import_module("incast.view.notebook").of_results([self, *others])
        return view

    def to_pandas(self, table: str = "flows") -> pandas.DataFrame:
        """Return a table as a pandas frame (needs the package ``pandas``)."""
        needed("pandas", "pandas")
        return self._named(table).to_pandas()

    def to_polars(self, table: str = "flows") -> polars.DataFrame:
        """Return a table as a Polars frame, without copying (needs the package ``polars``)."""
        needed("polars", "polars")
        return self.polars(table)

    def sql(self, query: str, *, allow_files: bool = False) -> pa.Table:
        """Answer a query in SQL over the run's tables: ``select avg(throughput_bps) from flows`` (needs ``duckdb``).

        With ``allow_files`` the query may read and write files, and load DuckDB's extensions.

        Raises ``IncastError`` with DuckDB's words where the query is wrong.
        """
        duckdb = needed("duckdb", "query")
        with duckdb.connect() as database:
            sql.lock(database, allow_files=allow_files)
            for name in run_folder.TABLES:
                rows = getattr(self, name)
                if rows.num_columns:
                    database.register(name, rows)
            try:
                rows = sql.answer(database, query)
            except (duckdb.Error, ValueError) as error:
                raise IncastError(f"the query cannot be answered: {error}") from None
        if rows is None:
            raise IncastError("the query gives no rows: expected a SELECT")
        return rows

    def _named(self, table: str) -> pa.Table:
        if table not in run_folder.TABLES:
            raise IncastError(f'no table "{table}"; expected one of {", ".join(run_folder.TABLES)}')
        return getattr(self, table)

    def polars(self, table: str = "flows") -> polars.DataFrame:
        """Return a table as a Polars frame (needs the package ``polars``)."""
        import polars

        frame = polars.from_arrow(self._named(table))
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
        copies = self._copies() if self._copies is not None else Copies(self.toml)
        manifest = self.manifest | ({"files": named_files.checksums(copies.files)} if copies.files else {})
        told = (manifest, copies.toml, self.summary_json)
        run_folder.write(folder, *told, lambda name: getattr(self, name), self.timeline_json, self._parts, copies.files)

    @classmethod
    def load(cls, folder: str | Path, whole: bool = False) -> Result:
        """Read a run folder back; its tables are read when they are first asked for.

        Raises ``FolderError`` when a file is missing or damaged, for a table when it is read; with
        ``whole`` also at once for a table that is not there or was cut short.
        """
        folder = Path(folder)
        summary = run_folder.read_summary(folder)
        manifest, scenario = run_folder.read_manifest(folder), run_folder.read_scenario(folder)
        timeline = run_folder.read_timeline(folder)

        def copies() -> Copies:
            return Copies(scenario, named_files.in_folder(folder, manifest))

        tables = partial(run_folder.read_table, folder)
        result = cls(manifest, scenario, summary, tables, timeline, _copies=copies, _folder=folder)
        if whole:
            run_folder.find_tables(folder, [what for what in MESSAGES if result.summary.get(what, {}).get("count")])
        return result


def needed(package: str, extra: str) -> Any:
    """Import a package that only some need; raises ``ExtraError`` that says how it is installed."""
    try:
        return import_module(package)
    except ModuleNotFoundError as error:
        raise needs(extra, error) from None


def most_kept(memory_limit: float = math.inf) -> int:
    """Say how many bytes a run may record point by point: a share of what is free, and of a limit."""
    return int(min(memory_limit, memory.free_memory(), LARGEST) / COPIES)


def measured_run(
    scenario: _core.Scenario,
    progress: Callable[[float, float, int], bool | None] | None,
    cores: int | None,
    set_up: Callable[[float], bool | None] | None = None,
    memory_limit: float = math.inf,
) -> Result:
    """Run a scenario in this thread, and others that it may have, and note what it cost.

    What it records point by point has its share of ``memory_limit`` bytes, and of what is free.
    """
    # as they are now: the run reads them too
    copies = named_files.of(scenario)
    wall, cpu = time.perf_counter(), time.thread_time()
    core = _core.run(scenario, progress, cores, None, set_up, most_kept(memory_limit))
    wall, cpu = time.perf_counter() - wall, time.thread_time() - cpu
    threads_s = core.threads_s()
    cpu += sum(threads_s[1:]) + core.helpers_s()
    summary_json = core.summary_json()
    hops = json.loads(summary_json)["run"]["hops"]
    cost: Cost = {
        "wall_s": wall,
        "cpu_s": cpu,
        "hops_per_cpu_s": hops / cpu if cpu > 0 else None,
        "peak_rss_bytes": _peak_rss_bytes(),
        "threads": len(threads_s),
        "threads_cpu_s": threads_s,
    }
    manifest = {
        "format": run_folder.MANIFEST_FORMAT,
        "incast": _core.__version__,
        "engine": run_folder.engine_digest(),
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
    told = (manifest, scenario.toml(), summary_json)

    def parts(name: str, most: int, take: Callable[[pa.Table], None]) -> bool:
        return core.parts(name, most, lambda columns: take(_arrow_of(columns)))

    result = Result(*told, lambda name: _arrow_of(core.table(name)), core.timeline_json(), parts, lambda: copies)
    if wrong := soundness.unsound(result.summary):
        error = UnsoundError(f"{scenario.name}, seed {scenario.seed}: {wrong}")
        error.result = result
        raise error
    return result


def _peak_rss_bytes() -> int:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def _arrow_of(columns: list[_core._Column]) -> pa.Table:
    """Hand a table's columns to Arrow; numbers that cannot be missing are not copied."""
    import pyarrow as pa

    fields, arrays = [], []
    for column, unit, definition, values, valid, names in columns:
        if names is not None:
            array = pa.DictionaryArray.from_arrays(pa.array(values).cast(pa.int32()), pa.array(names, pa.string()))
        elif isinstance(values, list):
            array = pa.array(values, pa.string())
        else:
            array = pa.array(values, mask=None if valid is None else ~valid)
        arrays.append(array)
        fields.append(pa.field(column, array.type, metadata={"unit": unit, "definition": definition}))
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields))
