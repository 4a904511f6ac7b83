"""Result of a run: its figures, tables and notes."""

from __future__ import annotations

import json
import math
import os
import platform
import resource
import sys
import time
import tomllib
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property, partial
from html import escape
from importlib import import_module
from inspect import Parameter, Signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar

from incast import _core
from incast.errors import IncastError, UnsoundError, needs
from incast.runs import named_files, run_folder, soundness, sql, views
from incast.runs.groups import groups
from incast.runs.named_files import Copies
from incast.runs.table import Table
from incast.system import files, memory
from incast.system.folders import new_folder
from incast.system.output import counted
from incast.writing.numbers import duration, percent, quantity, said

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow as pa

MESSAGES = ("queries", "writes")
"""Parts of the summary about application messages."""
COMPLETIONS = {"fct": "flows", **{what: what for what in MESSAGES}}
"""Parts of the summary about completions, with the nouns for their counts."""
ENDING = {**COMPLETIONS, "jobs": "iterations"}
"""Kinds of what finishes: the same, and iterations of training jobs."""


def unfinished(what: str, finished: int, count: int) -> str:
    """Return the number of finished queries or writes, of all."""
    over = "; figures that the others could still change are bounds" if finished else ""
    return f"{finished:,d} of {count:,d} {what} finished{over}"


Made = TypeVar("Made", bound=Callable[..., None])

LINKS = 3
"""Most links that a text names."""


def links_of(links: Sequence[str]) -> str:
    """Name the links of failures, such as ``leaf0>spine0``."""
    more = f" and {counted(len(links) - LINKS, 'more link')}" if len(links) > LINKS else ""
    return f"{', '.join(links[:LINKS])}{more}"


class Cost(TypedDict):
    """Cost of a run: wall and CPU time in seconds, speed, and memory of the whole process.

    ``threads_cpu_s`` is the CPU time of each of its threads between the first and the last event.
    """

    wall_s: float
    cpu_s: float
    hops_per_cpu_s: float | None
    peak_rss_bytes: int
    threads: int
    threads_cpu_s: list[float]


COPIES = 6
"""Peak memory of a run's records, as a multiple of their size: they grow by doubling, and become tables."""
LARGEST = 1e18
"""A number of bytes larger than any memory."""
ENOUGH = 100
"""Number of values below which the 99th percentile by nearest rank is the largest."""

SHOWN = [
    ("flows.count", "flows", ""),
    ("flows.finished", "finished", ""),
    ("flows.throughput_mean_bps", "throughput per flow", "b/s"),
    ("flows.goodput_total_bps", "goodput, total", "b/s"),
    ("flows.delay_mean_s", "one-way delay, mean", "s"),
    ("flows.delay_p99_s", "one-way delay, p99", "s"),
    ("flows.loss_total_pct", "loss", "%"),
    ("flows.jain", "Jain's index", ""),
    ("flows.timeouts", "timeouts", ""),
    ("fct.mean_s", "FCT, mean", "s"),
    ("fct.p99_s", "FCT, p99", "s"),
]
"""Figures of a run in notebooks: key, name and unit."""

RATES = ["group", "role", "throughput_bps", "throughput_active_bps"]
"""Columns of flows that ``rates_of`` reads."""


MOST_PAUSES = 100_000
"""Most recorded pauses with ``measure.pauses = "auto"``."""


def high_of(part: Mapping[str, Any]) -> str:
    """Return the name of the p99 of a part of a summary, such as ``fct``: of few values it is the largest."""
    return "p99" if part["count"] >= ENOUGH else "max"


def rates_of(flows: pa.Table, datagrams: Collection[str], column: str = "throughput_bps") -> tuple[float, ...]:
    """Return the throughput, in bit/s, of the flows in the summary's fairness figures, without datagrams.

    These flows opened and carry no requests; flows of the entries ``datagrams`` are excluded. ``column`` may also be
    ``throughput_active_bps``, which is over each flow's own time.
    """
    rows = flows.select(["group", "role", column]).to_pylist()
    shares = [row[column] for row in rows if row["group"] not in datagrams and row["role"] != "request"]
    return tuple(rate for rate in shares if rate is not None)


def _without_arguments(made: Made) -> Made:
    """Hide the arguments of a function that only this package calls from ``help``."""
    made.__signature__ = Signature([Parameter("self", Parameter.POSITIONAL_ONLY)])  # type: ignore[attr-defined]
    return made


class Result:
    """One finished run, with its figures (``summary``), tables, notes, pictures and view.

    ``flows``, ``ports``, ``classes``, ``engines``, ``entries``, ``radios``, ``queries``, ``writes``, ``samples``,
    ``trace``, ``pauses``, ``timeline_ports``, ``timeline_flows``, ``timeline_events`` and ``timeline_paths`` are
    tables (``incast.runs.table.Table``, an Arrow table that prints a few rows); each column's field carries its
    ``unit`` and ``definition`` as metadata. ``polars.from_arrow(result.flows.arrow)`` makes a Polars frame without
    copying.

    Results are made by ``Scenario.run`` and ``Result.load``.
    """

    @_without_arguments
    def __init__(
        self,
        manifest: dict[str, Any],
        toml: str,
        summary_json: str,
        table: Callable[[str], pa.Table],
        timeline_json: str | None = None,
        *,
        parts: Callable[[str, int, Callable[[pa.Table], None]], bool] | None = None,
        copies: Callable[[], Copies] | None = None,
        folder: Path | None = None,
        source: Callable[[], Any] | None = None,
    ) -> None:
        """Make a result from its texts and tables.

        ``parts`` yields large tables part by part. ``copies`` returns the scenario with its files, as in a run folder.
        """
        self.manifest = manifest
        """Version, seed, scenario hash, host and cost: enough to reproduce the run."""
        self.toml = toml
        """Scenario with all defaults written out."""
        self.summary_json = summary_json
        """Content of ``summary.json``: the same for the same scenario and seed."""
        self.timeline_json = timeline_json
        """Content of ``timeline.json``: frames and network of the timeline, if the run has one."""
        self._table, self._parts, self._copies = table, parts, copies
        self._folder = folder
        self.source = source
        """Returns the scenario of a run in memory or in a store; ``None`` for a run folder, which has the file."""

    @cached_property
    def summary(self) -> dict[str, Any]:
        """Figures of the run; a missing one is ``None``."""
        summary: dict[str, Any] = json.loads(self.summary_json)
        return summary

    @cached_property
    def flows(self) -> Table:
        """One row per flow."""
        return Table(self._table("flows"))

    @cached_property
    def ports(self) -> Table:
        """One row per port (a directed link with its queue)."""
        return Table(self._table("ports"))

    @cached_property
    def classes(self) -> Table:
        """One row per traffic class of a port; empty if ports have a single queue."""
        return Table(self._table("classes"))

    @cached_property
    def engines(self) -> Table:
        """One row per host engine; empty if hosts have no processing time."""
        return Table(self._table("engines"))

    @cached_property
    def entries(self) -> Table:
        """One row per match-action table entry at a node; empty without tables."""
        return Table(self._table("entries"))

    @cached_property
    def radios(self) -> Table:
        """One row per station of a radio cell; empty without cells."""
        return Table(self._table("radios"))

    @cached_property
    def queries(self) -> Table:
        """One row per query that began."""
        return Table(self._table("queries"))

    @cached_property
    def writes(self) -> Table:
        """One row per closed-loop write that began."""
        return Table(self._table("writes"))

    @cached_property
    def jobs(self) -> Table:
        """One row per training job and iteration that began; empty without jobs."""
        return Table(self._table("jobs"))

    @cached_property
    def ranks(self) -> Table:
        """One row per job, iteration and rank; empty without jobs."""
        return Table(self._table("ranks"))

    @cached_property
    def collectives(self) -> Table:
        """One row per collective of an iteration of a job that a rank has started; empty without collectives."""
        return Table(self._table("collectives"))

    @cached_property
    def messages(self) -> Table:
        """One row per message of a job that has arrived; empty without jobs."""
        return Table(self._table("messages"))

    @cached_property
    def tasks(self) -> Table:
        """Tasks of the ranks that ``measure.tasks`` asks for: one row per iteration and task; empty without it."""
        return Table(self._table("tasks"))

    @cached_property
    def samples(self) -> Table:
        """Requested time series: one row per point."""
        return Table(self._table("samples"))

    @cached_property
    def trace(self) -> Table:
        """Packets of traced flows: one row per event."""
        return Table(self._table("trace"))

    @cached_property
    def pauses(self) -> Table:
        """Pauses of priority flow control with their causes; empty unless ``measure.pauses`` asks for them."""
        return Table(self._table("pauses"))

    @cached_property
    def timeline_ports(self) -> Table:
        """Counters of ports in each frame of the timeline; empty without a timeline."""
        return Table(self._table("timeline_ports"))

    @cached_property
    def timeline_flows(self) -> Table:
        """Counters of flows in each frame of the timeline; empty without a timeline."""
        return Table(self._table("timeline_flows"))

    @cached_property
    def timeline_events(self) -> Table:
        """Events of the timeline: flows, queries, timeouts, failures, pause storms."""
        return Table(self._table("timeline_events"))

    @cached_property
    def timeline_paths(self) -> Table:
        """Ports that the data of each flow passes; empty without a timeline and without a record of pauses."""
        return Table(self._table("timeline_paths"))

    @property
    def cost(self) -> Cost:
        """Cost of the run."""
        cost: Cost = self.manifest["cost"]
        return cost

    @cached_property
    def datagrams(self) -> tuple[str, ...]:
        """Traffic entries of UDP datagrams, in a run that also has flows under controllers."""
        entries = groups(tomllib.loads(self.toml))
        kinds = {entry["name"]: entry.get("app", {}).get("kind") for _, entry in entries}
        found = tuple(name for name, kind in kinds.items() if kind == "udp")
        return found if len(found) < len(kinds) else ()

    @property
    def folder(self) -> Path | None:
        """Folder that the run was loaded from; ``None`` of a run in memory."""
        return self._folder

    def reading(self) -> AbstractContextManager[None]:
        """Read the run in this block; contradictions between its files become a ``FolderError``."""
        return nullcontext() if self._folder is None else files.held(self._folder)

    def notes(self) -> list[str]:
        """Return the notes on the run, one sentence each.

        A run that cannot be right; totals that include datagrams; ports in a deadlock; reasons why flows did not
        finish; a single flow that dominates the measured interval.
        """
        with self.reading():
            return self._notes()

    def _notes(self) -> list[str]:
        notes = []
        if wrong := soundness.unsound(self.summary):
            notes.append(wrong)
        if self.datagrams:
            named = " and ".join(self.datagrams)
            notes.append(
                f"the totals include the datagrams of {named}, which have no RTT and no completion time; figures per "
                "entry: groups"
            )
        fct = self.summary["fct"]
        if fct["finished"] < fct["count"]:
            share = said(percent(fct["finished"] / fct["count"]))
            notes.append(
                f"{fct['finished']:,d} of {fct['count']:,d} finite flows finished ({share}): the summary's "
                "completion times cover these only, except those named at_least"
            )
        return [
            *notes,
            *self.unfinished_jobs(),
            *self.uneven_repeats(),
            *self._deadlocks(),
            *cut_pauses(self),
            *self.reasons(),
        ]

    def reasons(self) -> list[str]:
        """Return the reasons why finite flows did not finish, and a note if a single flow dominates the interval."""
        from incast.runs import run_notes  # loads NumPy

        with self.reading():
            return run_notes.reasons(self.summary, self.toml, self.flows) if self.summary["fct"]["count"] else []

    def unfinished_jobs(self) -> list[str]:
        """Return a sentence for every job that did not end, with the rank and the task that wait."""
        if not self.summary.get("jobs"):
            return []
        told = {}
        for row in self.jobs.select(["job", "iteration", "finish_s", "critical_rank", "waits_for"]).to_pylist():
            if row["finish_s"] is None and row["job"] not in told:
                waits = row["waits_for"] or f"rank {row['critical_rank']} has tasks left, and none waits for a message"
                told[row["job"]] = f"iteration {row['iteration']} has not ended: {waits}"
        for name, job in self.summary["jobs"].items():
            if job["finished"] < job["iterations"]:
                told.setdefault(name, f"iteration {job['finished']} has not begun")
        return [f"job {name}: {what}" for name, what in told.items()]

    def uneven_repeats(self) -> list[str]:
        """Return W09 for every collective whose iterations after the warm-up differ by more than 5 %."""
        if not self.summary.get("jobs"):
            return []
        times: dict[str, list[int]] = {}
        for row in self.jobs.select(["job", "warmup", "time_s", "algbw_Bps"]).to_pylist():
            if row["algbw_Bps"] is not None and not row["warmup"]:
                times.setdefault(row["job"], []).append(round(row["time_s"] * 1e12))
        found = ((job, finding) for job, own in times.items() for finding in _core.workload_repeats(job, own))
        return [f"job {job}: {code}: {what}: {why}; {remedy}" for job, (code, _, _, what, why, remedy) in found]

    def _deadlocks(self) -> list[str]:
        if not self.summary["queues"].get("deadlocked"):
            return []
        rows = self.ports.select(["port", "deadlocked_s"]).to_pylist()
        stuck = sorted((row["deadlocked_s"], row["port"]) for row in rows if row["deadlocked_s"] is not None)
        named = ", ".join(f"{port} (since {said(duration(since))})" for since, port in stuck[:4])
        more = f" and {len(stuck) - 4} more" if len(stuck) > 4 else ""
        return [f"priority flow control ended in a deadlock: these ports stay paused forever: {named}{more}"]

    def __repr__(self) -> str:
        run, flows = self.summary["run"], self.summary["flows"]
        rate = flows["throughput_mean_bps"]
        each = "" if rate is None else f", {said(quantity(rate, 'b/s'))} each"
        length = said(duration(run["sim_s"]))
        return f"<Result {run['scenario']} seed {run['seed']}: {length}, {flows['count']:,} flows{each}>"

    def _repr_html_(self) -> str:
        run = self.summary["run"]
        rows = []
        for key, name, unit in SHOWN:
            part, _, figure = key.partition(".")
            value, sign = self.summary[part].get(figure), ""
            if part == "fct" and self.summary["fct"]["finished"] < self.summary["fct"]["count"]:
                # over finished flows alone a percentile falls as flows starve
                value, sign = self.summary["fct"].get(figure.replace("_s", "_at_least_s")), "≥ "
            if value is not None:
                name = name.replace("p99", high_of(self.summary[part])) if part == "fct" else name
                definition = escape(self.summary["definitions"].get(key, ""), quote=True)
                rows.append(f'<tr><th title="{definition}">{name}</th><td>{sign}{quantity(value, unit)}</td></tr>')
        head = f"{escape(run['scenario'])}, seed {run['seed']}: {duration(run['sim_s'])} simulated"
        return f"<table><caption>{head}</caption><tbody>{''.join(rows)}</tbody></table>"

    @property
    def plot(self) -> views.Pictures:
        """Pictures of the run, each a matplotlib figure: ``plot.throughput()``."""
        return views.pictures_of(self)

    def view(self, *others: Result, allow_code: bool = False) -> views.View:
        """View the run over time, side by side with others, in a notebook; ``save(path)`` writes one HTML file.

        A run without a timeline is repeated with one (``incast.runs.repeated``). ``allow_code`` allows controller
        classes that the folder of a loaded run names. Raises ``IncastError`` if a run cannot be repeated.
        """
        return views.view_of([self, *others], allow_code)

    def to_pandas(self, table: str = "flows") -> pandas.DataFrame:
        """Return a table as a pandas frame (needs the package ``pandas``)."""
        needed("pandas", "pandas")
        return self._named(table).to_pandas()

    def to_polars(self, table: str = "flows") -> polars.DataFrame:
        """Return a table as a Polars frame, without copying (needs the package ``polars``)."""
        needed("polars", "polars")
        return self.polars(table)

    def sql(self, query: str, *, allow_files: bool = False) -> pa.Table:
        """Run an SQL query over the run's tables: ``select avg(throughput_bps) from flows`` (needs ``duckdb``).

        With ``allow_files`` the query may read and write files, and load DuckDB's extensions.

        Raises ``IncastError`` with DuckDB's message for a wrong query.
        """
        duckdb = needed("duckdb", "query")
        with duckdb.connect() as database:
            sql.lock(database, allow_files=allow_files)
            for name in run_folder.TABLES:
                rows = getattr(self, name)
                if rows.num_columns:
                    database.register(name, rows.arrow)
            try:
                rows = sql.answer(database, query)
            except (duckdb.Error, ValueError) as error:
                raise IncastError(f"the query cannot be answered: {error}") from None
        if rows is None:
            raise IncastError("the query returns no rows: expected a SELECT")
        return rows

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if not name.startswith("_") or name.startswith("__")]

    def _named(self, table: str) -> Table:
        if table not in run_folder.TABLES:
            raise IncastError(f'no table "{table}"; expected one of {", ".join(run_folder.TABLES)}')
        rows: Table = getattr(self, table)
        return rows

    def polars(self, table: str = "flows") -> polars.DataFrame:
        """Return a table as a Polars frame (needs the package ``polars``)."""
        import polars

        frame = polars.from_arrow(self._named(table).arrow)
        assert isinstance(frame, polars.DataFrame)
        return frame

    def json(self) -> str:
        """Return the summary with the run's cost, like ``incast run --json``."""
        run, *rest = self.summary.items()
        return json.dumps(dict([run, ("cost", self.cost), *rest]), indent=2) + "\n"

    def save(self, folder: str | Path) -> Path:
        """Write the run folder atomically.

        Raises ``FolderError`` if the folder is not empty or cannot be created, and ``OSError`` if writing fails,
        without leaving partial results.
        """
        with new_folder(Path(folder)) as aside:
            self.write(aside)
        return Path(folder)

    def write(self, folder: Path) -> None:
        """Write the files of a run folder into an existing one."""
        copies = self._copies() if self._copies is not None else Copies(self.toml)
        manifest = self.manifest | ({"files": named_files.checksums(copies.files)} if copies.files else {})
        texts = (manifest, copies.toml, self.summary_json)
        run_folder.write(
            folder, *texts, lambda name: getattr(self, name).arrow, self.timeline_json, self._parts, copies.files
        )

    @classmethod
    def load(cls, folder: str | Path, whole: bool = False) -> Result:
        """Read a run folder back; tables are read on first access.

        Raises ``FolderError`` for a missing or damaged file, for a table when it is read; with ``whole`` also at once
        for a missing or truncated table.
        """
        folder = Path(folder)
        summary = run_folder.read_summary(folder)
        manifest, scenario = run_folder.read_manifest(folder), run_folder.read_scenario(folder)
        timeline = run_folder.read_timeline(folder)

        def copies() -> Copies:
            return Copies(scenario, named_files.in_folder(folder, manifest))

        tables = partial(run_folder.read_table, folder)
        result = cls(manifest, scenario, summary, tables, timeline, copies=copies, folder=folder)
        if whole:
            run_folder.find_tables(folder, [what for what in MESSAGES if result.summary.get(what, {}).get("count")])
        return result


def cut_pauses(run: Result) -> list[str]:
    """Return a note if the record of pauses ends before the run, or may do so."""
    limit = tomllib.loads(run.toml).get("measure", {}).get("pauses")
    if limit is None or not len(run.pauses):
        return []
    kept = run.pauses["pause"][-1].as_py() + 1
    if kept < (limit if isinstance(limit, int) else MOST_PAUSES):
        return []
    last = said(duration(run.pauses["asked_s"][-1].as_py()))
    return [
        f"pauses.parquet has the first {counted(kept, 'pause')}, up to {last}: measure.pauses is their number, and "
        "later ones are left out"
    ]


def needed(package: str, extra: str) -> Any:
    """Import an optional package; raises ``ExtraError`` with the command that installs it."""
    try:
        return import_module(package)
    except ModuleNotFoundError as error:
        raise needs(extra, error) from None


def most_kept(memory_limit: float = math.inf) -> int:
    """Return the most bytes that a run may record point by point: a share of the free memory, and of a limit."""
    return int(min(memory_limit, memory.free_memory(), LARGEST) / COPIES)


def measured_run(
    scenario: _core.Scenario,
    progress: Callable[[float, float, int], bool | None] | None,
    cores: int | None,
    set_up: Callable[[float], bool | None] | None = None,
    memory_limit: float = math.inf,
    source: Callable[[], Any] | None = None,
) -> Result:
    """Run a scenario in this thread and its own threads, and measure the cost; ``source`` returns the scenario.

    Records point by point may take a share of ``memory_limit`` bytes, and of the free memory.
    """
    # read now, as the run does
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
    texts = (manifest, scenario.toml(), summary_json)

    def parts(name: str, most: int, take: Callable[[pa.Table], None]) -> bool:
        return core.parts(name, most, lambda columns: take(_arrow_of(columns)))

    result = Result(
        *texts,
        lambda name: _arrow_of(core.table(name)),
        core.timeline_json(),
        parts=parts,
        copies=lambda: copies,
        source=source,
    )
    if wrong := soundness.unsound(result.summary):
        error = UnsoundError(f"{scenario.name}, seed {scenario.seed}: {wrong}")
        error.result = result
        raise error
    return result


def _peak_rss_bytes() -> int:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def _arrow_of(columns: list[_core._Column]) -> pa.Table:
    """Pass a table's columns to Arrow; numbers that are never missing are not copied."""
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
