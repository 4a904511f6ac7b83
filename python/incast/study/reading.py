"""Runs of a store as ``Result``, one by one: summary, scenario, cost and tables.

Tables are in chunks of many runs. Read columns are cached for following runs, up to ``KEPT_BYTES``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from incast import controllers
from incast.batch.record import run_id
from incast.batch.store import Store, read_copies
from incast.errors import FolderError, StudyError, UnsoundError
from incast.external import consent
from incast.runs import run_folder, soundness
from incast.runs.named_files import FILES, Copies
from incast.runs.result import Result
from incast.runs.scenario import Scenario
from incast.study import inputs
from incast.system import files

if TYPE_CHECKING:
    import pyarrow as pa

COUNTED = {"flows": "flows.count", "ports": "run.hops", "queries": "queries.count", "writes": "writes.count"}
"""Figures that are above 0 if a table has rows of a run."""
KEPT_BYTES = 1 << 30
"""Most bytes of cached columns."""


class _Part:
    """A table of a chunk: the row ranges of the runs, and cached columns."""

    def __init__(self, store: Store, name: str) -> None:
        import numpy as np

        self.store, self.name = store, name
        self.fields = {field.name: field for field in store.schema(name)}
        self.columns: dict[str, pa.ChunkedArray] = {}
        runs = store.read(name, ["run"])["run"].combine_chunks().dictionary_encode()
        codes = runs.indices.to_numpy()
        begins = np.flatnonzero(np.diff(codes, prepend=-1)).tolist()
        ends = [*begins[1:], len(codes)]
        names = runs.dictionary.to_pylist()
        self.places = {names[codes[begin]]: (begin, end - begin) for begin, end in zip(begins, ends, strict=True)}

    def rows(self, run: str, columns: Sequence[str] | None) -> pa.Table:
        """Return the rows of a run; ``None``: all columns."""
        import pyarrow as pa

        wanted = [name for name in self.fields if name != "run"] if columns is None else list(columns)
        lacking = [name for name in wanted if name not in self.columns]
        if lacking:
            read = self.store.read(self.name, lacking)
            self.columns |= {name: read[name] for name in lacking}
        begin, count = self.places.get(run, (0, 0))
        cut = [self.columns[name].slice(begin, count) for name in wanted]
        return pa.Table.from_arrays(cut, schema=pa.schema([self.fields[name] for name in wanted]))

    @property
    def size(self) -> int:
        return sum(int(column.nbytes) for column in self.columns.values())


class Runs:
    """Some runs of a store."""

    def __init__(self, store: Store, runs: Iterable[str]) -> None:
        """Read the figures of the runs; raises ``FolderError`` for a damaged file."""
        import pyarrow as pa
        import pyarrow.compute as pc

        self._store = store
        self._chunk_of: dict[str, str] = {}
        self._figures: dict[str, dict[str, Any]] = {}
        self._costs: dict[str, dict[str, Any]] = {}
        self._parts: dict[tuple[str, str], _Part] = {}
        wanted = pa.array(sorted(set(runs)), pa.string())
        damaged: FolderError | None = None
        for chunk in store.chunks():
            name = f"chunks/{chunk}.parquet"
            try:
                # skip chunks of other runs, which a large store has many of
                own = pc.is_in(store.read(name, ["run"])["run"], value_set=wanted)
            except FolderError as error:
                damaged = damaged or error  # it may hold none of the runs
                continue
            if not pc.any(own).as_py():
                continue
            found = store.read(name).filter(own)
            costs = store.read(f"log/{chunk}.parquet")
            with files.held(store.folder):
                for rows, into in ((found, self._figures), (costs, self._costs)):
                    into |= {row.pop("run"): row for row in rows.to_pylist()}
                lacking = [run for run in self._figures if not isinstance(self._costs[run]["cpu_s"], float)]
                if lacking:
                    raise ValueError(f"log/{chunk}.parquet lacks the cost of the run {lacking[0]}")
            self._chunk_of |= dict.fromkeys(found["run"].to_pylist(), chunk)
        if damaged is not None and not self._figures.keys() >= set(wanted.to_pylist()):
            raise damaged

    def __contains__(self, run: str) -> bool:
        return run in self._figures

    def keeps(self, run: str, table: str) -> bool:
        """Return whether the store has a run's rows of a table, or would have them if there were any."""
        there = (self._store.folder / "tables" / table / f"{self._chunk_of[run]}.parquet").exists()
        return there or not self._figures[run].get(COUNTED.get(table, ""))

    def rows(self, run: str, table: str, columns: Sequence[str] | None = None) -> pa.Table:
        """Return a run's rows of a table; raises ``FolderError`` if the study that made the run did not keep them."""
        import pyarrow as pa

        chunk = self._chunk_of[run]
        if not (self._store.folder / "tables" / table / f"{chunk}.parquet").exists():
            self._refuse_unkept(run, table)
            return pa.table({name: pa.nulls(0) for name in columns or ()})
        part = self._parts.pop((table, chunk), None) or _Part(self._store, f"tables/{table}/{chunk}.parquet")
        self._parts[table, chunk] = part  # most recently used last
        rows = part.rows(run, columns)
        if rows.num_rows == 0:
            self._refuse_unkept(run, table)
        while len(self._parts) > 1 and sum(one.size for one in self._parts.values()) > KEPT_BYTES:
            self._parts.pop(next(iter(self._parts)))
        return rows

    def _refuse_unkept(self, run: str, table: str) -> None:
        if self._figures[run].get(COUNTED.get(table, "")):
            raise FolderError(
                f"{self._store.folder}: the study that made the run {run} did not keep its table {table}: "
                "give another store"
            )

    def result(self, run: str, toml: str, name: str, seed: int, scenario_hash: str, engine: str) -> Result:
        """Return the run of a point's scenario under a seed.

        Raises ``UnsoundError`` for an unsound run.
        """
        place = self._store.folder / "studies"
        try:
            entries = run_folder.read_entries(toml)
        except ValueError as error:
            raise FolderError(f"{place}: the scenario of the run {run} is damaged: {files.message_of(error)}") from None
        if wrong := soundness.unsound_figures(self._figures[run]):
            raise UnsoundError(f"{name}, seed {seed}, run {run}: {wrong}")
        summary = summary_of(self._figures[run], name, seed, entries)
        chunk = self._store.folder / "chunks" / f"{self._chunk_of[run]}.parquet"
        run_folder.refuse_odd_summary(chunk, summary)
        cost = self._costs[run]
        cpu_s = cost["cpu_s"]
        manifest = {
            "format": run_folder.MANIFEST_FORMAT,
            "incast": summary["run"]["version"],
            "engine": engine,
            "scenario": name,
            "seed": seed,
            "hash": scenario_hash,
            "cost": {**cost, "hops_per_cpu_s": summary["run"]["hops"] / cpu_s if cpu_s > 0 else None},
        }
        kept = partial(_with_files, self._store, toml)
        text, source = json.dumps(summary, indent=2) + "\n", partial(_scenario_of, self._store, toml, name, seed)
        return Result(manifest, toml, text, lambda table: self.rows(run, table), copies=kept, source=source)


def _scenario_of(store: Store, toml: str, name: str, seed: int) -> Scenario:
    """Return the scenario of a run in a store, which has copies of its files."""
    controllers.look_in(store.folder)
    with consent.reading(str(store.folder)):
        return Scenario.from_toml(toml, origin=store.folder, name=name).with_seed(seed)


def _with_files(store: Store, toml: str) -> Copies:
    """Return a scenario of a store with its copied files."""
    found: dict[str, bytes] = {}
    for place in dict.fromkeys(re.findall(rf"\b{FILES}/[0-9a-f]{{16}}/", toml)):
        found |= {f"{place}{name}": data for name, data in read_copies(store.folder / place)}
    return Copies(toml, found)


def find(store: Store, run: str) -> Result:
    """Return a run of a store; raises ``StudyError`` if no study has it."""
    for study in store.studies():
        points = store.points(study)
        assert points is not None, "a study of a store has points"
        for row in points.to_pylist():
            if run in row["runs"]:
                seed = row["seeds"][row["runs"].index(run)]
                engine = store.head()["engine"]
                known = engine if run_id(row["hash"], seed, engine) == run else "another build"
                return Runs(store, [run]).result(run, row["toml"], row["name"], seed, row["hash"], known)
    raise StudyError(f"{store.folder} has no run {run}: expected one of the column run of its runs")


def summary_of(figures: Mapping[str, Any], name: str, seed: int, entries: Sequence[str]) -> dict[str, Any]:
    """Make a summary from figures by dotted name; ``entries`` are the scenario's traffic entries and jobs.

    Figures of other groups belong to other scenarios in the same chunk.
    """
    summary: dict[str, Any] = {"run": {"scenario": name, "seed": seed}, "groups": {}}
    for key, value in figures.items():
        part, _, rest = key.partition(".")
        path = [part, *rest.split(".")]
        if part in ("groups", "jobs"):
            # the longest match: one entry's name may be a prefix of another's
            own = max((entry for entry in entries if rest.startswith(f"{entry}.")), key=len, default=None)
            if own is None:
                continue
            path = [part, own, *rest[len(own) + 1 :].split(".")]
        place = summary
        for word in path[:-1]:
            place = place.setdefault(word, {})
        place[path[-1]] = value
    # in the order of runs; every run has a table of groups
    summary = (
        {"run": summary.pop("run")} | {part: summary.pop(part) for part in inputs.parts() if part in summary} | summary
    )
    definitions = inputs.definitions()
    summary["units"] = {key: unit for key, (unit, _) in definitions.items()}
    summary["definitions"] = {key: definition for key, (_, definition) in definitions.items()}
    return summary
