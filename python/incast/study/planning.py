"""Planning of studies: new runs in a store, made by the runner, and the store's files after them."""

from __future__ import annotations

import hashlib
import json
import math
import warnings
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incast.batch import salvage
from incast.batch.filling import Batch, drop_journals, journalled, listed, numbers, sampled
from incast.batch.record import Task, run_id, run_of
from incast.batch.runner import Status
from incast.batch.store import PENDING, RUNS, SUMS, Pending, Store, column, parquet
from incast.batch.workers import Hire
from incast.errors import REFUSALS, FolderError, ScenarioError, StudyError
from incast.runs.run_folder import engine_digest
from incast.study import inputs
from incast.study.definition import Definition, Point
from incast.study.runs_table import POINTS, runs_table
from incast.system import files
from incast.system.files import STORE_FILE
from incast.system.folders import clear_away, write_through
from incast.system.memory import machine_memory

if TYPE_CHECKING:
    import pyarrow as pa

CHUNK_RUNS = 1000
"""Runs per chunk: small enough to append often, large enough to read few files."""
CHUNK_BYTES = 4 * 10**9
"""Most memory of the runs of a chunk together: their tables, a part of it, are written and read at once."""

Outside = Callable[[Store], None]
"""Function that makes the missing runs by other programs, which write journals into the store."""


def make(
    folder: str | Path,
    study: Definition,
    *,
    points: Sequence[Point] | None = None,
    seeds: Sequence[int] | None = None,
    workers: int = 0,
    hire: Hire | None = None,
    outside: Outside | None = None,
    show: Callable[[Status], None] = lambda _: None,
    rebuild: bool = False,
    any_build: bool = False,
    memory_limit: float | None = None,
    tell: Callable[[str], None] = warnings.warn,
) -> Store:
    """Make the runs of a study that a store lacks; create the store if needed.

    ``workers`` is the number of parallel runs (0: one per core); ``hire`` makes other workers, ``outside`` leaves the
    runs to other programs. Runs that need more than ``memory_limit`` bytes (default: the machine's memory) are refused.
    In a store of another build of the engine the runs are repeated with ``any_build``, or with ``rebuild``, which also
    repeats damaged runs; ``tell`` gets a line on each part of other runs that cannot be read.

    Without ``points`` the study's rows become those of its points and seeds. Otherwise these points under ``seeds``
    (default: the study's) are added to the existing rows. Raises ``StudyError``, ``ScenarioError``, ``FolderError``,
    and exceptions of runs; finished runs are kept and not repeated.
    """
    limit = machine_memory() if memory_limit is None else memory_limit
    there = Path(folder).is_dir()
    store = Store.make(folder, repair=rebuild)
    with store.alone(), study.reading():
        try:
            store.refuse_other_build(rebuild or any_build)
            if rebuild:
                store.repair_sums()
            if store.pending() is None:
                drop_journals(store)  # left by a killed program, or by late parts
            own = inputs.canonical(store, study)  # restores damaged copies of files
            if rebuild:
                _repair(store, lambda batch: batch.fill(workers, hire, show, limit), tell)
            # other programs run on machines with their own memory
            planned = limit if outside is None or memory_limit is not None else math.inf
            _plan(store, own, points, seeds, planned)
        except REFUSALS:
            if not any((store.folder / name).exists() for name in (PENDING, RUNS, SUMS)):
                clear_away(store.folder, keep=there)  # the store is new and empty
            raise
        if (store.folder / PENDING).exists():
            if outside is not None and Batch.of(store).tasks():
                outside(store)
            try:
                Batch.of(store).fill(workers, hire, show, limit)
                finish(store)
            except OSError as error:
                error.filename = error.filename or str(store.folder)  # the error of a full disk names no file
                raise
    return store


# Planning


def _plan(
    store: Store,
    study: Definition,
    points: Sequence[Point] | None,
    seeds: Sequence[int] | None,
    memory_limit: float,
) -> None:
    """Write the list of missing runs as pending; another unfinished study is closed first.

    Raises ``ScenarioError``, without any change, if a run needs more than ``memory_limit`` bytes.
    """
    text = inputs.study_text(study)
    asked = None if points is None else [[point.key for point in points], list(seeds or study.seeds)]
    before = store.pending()
    if before is not None:
        same = (before.study, before.text, before.asked, before.closed) == (study.name, text, asked, False)
        if same and before.engine == engine_digest():
            return
        _close_pending(store, before)
    rows, fresh = _rows(store, study, points, seeds)
    there = store.points(study.name)
    same = there is not None and there.equals(rows) and inputs.is_there(store, study, text)
    if not fresh and same:
        return
    chunk_runs = _chunk_runs(store, fresh, memory_limit)
    head = {
        "number": _next_number(store),
        "study": study.name,
        "text": text,
        "asked": asked,
        "keep": list(study.keep),
        "engine": engine_digest(),
    }

    def written(aside: Path) -> None:
        inputs.write_study(store, aside / "study", study, text)
        write_through(aside / "study" / "points.parquet", parquet(rows))
        write_through(aside / "batch.parquet", parquet(_batch(fresh, chunk_runs)))
        write_through(aside / "batch.json", _head_text(head))

    store.put_folder(PENDING, written)


def _head_text(head: Mapping[str, Any]) -> str:
    return json.dumps(head, indent=2) + "\n"


def _next_number(store: Store) -> int:
    return max((number for number, _ in map(numbers, store.chunks())), default=0) + 1


@dataclass(frozen=True)
class _Row:
    """A point of a study in the store."""

    point: Point
    settings: dict[str, Any]
    controller: str
    layer: str
    hash: str
    name: str
    toml: str
    runs: dict[int, str]
    """Identities of the runs by seed."""


def fresh_tasks(store: Store, study: Definition, there: Container[str]) -> tuple[int, int, list[Task]]:
    """Return the numbers of a study's points and runs, and its missing runs, without planning them."""
    table, fresh = _rows(store, study, None, None)
    tasks = [Task(run, row.toml, row.name, seed) for row, seed, run in fresh if run not in there]
    return table.num_rows, len(fresh), tasks


def _rows(
    store: Store, study: Definition, points: Sequence[Point] | None, seeds: Sequence[int] | None
) -> tuple[pa.Table, list[tuple[_Row, int, str]]]:
    """Return the study's points as rows of the store, and the missing runs: point, seed, identity."""
    study.refuse_idle_arms()
    with files.held(store.folder):
        old = {row.point: row for row in _old_rows(store.points(study.name))}
    wanted: dict[Point, list[int]] = {}
    if points is not None:
        wanted = {point: list(row.runs) for point, row in old.items()}
    for point in study.points() if points is None else points:
        own = wanted.setdefault(point, [])
        own += [seed for seed in (seeds or study.seeds) if seed not in own]
    layers: dict[tuple[str, str], str] = {}
    rows = []
    for point, its_seeds in wanted.items():
        layer = layers.get((point.scenario, point.arm))
        if layer is None:
            layer = layers[point.scenario, point.arm] = _layer_digest(store, study, point)
        before = old.get(point)
        if before is None or before.layer != layer:
            before = _row(store, study, point, layer)
        rows.append(_seeded(before, its_seeds))
    if study.strict:
        _refuse_equal(study, rows)
    known = store.known()
    fresh: dict[str, tuple[_Row, int, str]] = {}
    for row in rows:
        for seed, run in row.runs.items():
            if run not in known:
                fresh.setdefault(run, (row, seed, run))
    return _points_table(rows), list(fresh.values())


def _layer_digest(store: Store, study: Definition, point: Point) -> str:
    """Return the hash of the point's scenario without its values: if it changes, the point's runs are repeated."""
    layer = inputs.kept(store, study.layer(point), study.folder_of(point.scenario))
    return hashlib.sha256(f"{layer.hash}|{engine_digest()}".encode()).hexdigest()[:16]


def _row(store: Store, study: Definition, point: Point, layer: str) -> _Row:
    scenario = inputs.kept(store, study.scenario_of(point), study.folder_of(point.scenario))
    try:
        scenario.validate()
    except ScenarioError as error:
        error.add_note(f"in the study {study.name}, point {point}")
        raise
    toml = scenario.toml()
    settings = {key: value for key, value in study.arm_settings(point.arm).items() if key != "controller"}
    governing = "+".join(str(inputs.spoken(kind)) for kind in scenario.governing())
    return _Row(point, settings, governing, layer, scenario.hash, scenario.name, toml, {})


def _seeded(row: _Row, seeds: Iterable[int]) -> _Row:
    runs = {seed: row.runs.get(seed) or run_id(row.hash, seed) for seed in seeds}
    return _Row(row.point, row.settings, row.controller, row.layer, row.hash, row.name, row.toml, runs)


def _refuse_equal(study: Definition, rows: Iterable[_Row]) -> None:
    """Raise ``StudyError`` if two points of an arm are equal: their runs would count twice.

    Points that differ in keys without effect under their arm are equal too, and share their runs.
    """
    known: dict[tuple[str, str, str], Point] = {}
    for row in rows:
        place = row.point.scenario, row.point.arm, row.hash
        if place in known:
            one, other = known[place].values, row.point.values
            differing = [key for key in other if one.get(key) != other[key]] or list(other)
            if set(differing) <= set(study.idle_at(row.point)):
                continue
            differences = ", ".join(f"{key}: {one.get(key)} and {other[key]}" for key in differing)
            where = " in arm " + row.point.arm if row.point.arm else ""
            raise StudyError(
                f"{differences} are equivalent{where}: expected values that make different scenarios "
                "(an axis that no flow or port uses changes nothing)"
            )
        known[place] = row.point


def _points_table(rows: Sequence[_Row]) -> pa.Table:
    import pyarrow as pa

    text = [
        [row.point.scenario for row in rows],
        [row.point.arm for row in rows],
        [json.dumps(dict(row.point.values)) for row in rows],
        [json.dumps(row.settings) for row in rows],
        [row.controller for row in rows],
        [row.layer for row in rows],
        [row.hash for row in rows],
        [row.name for row in rows],
        [row.toml for row in rows],
    ]
    columns: list[Any] = [pa.array(one, pa.large_string()) for one in text]
    columns.append(pa.array([list(row.runs) for row in rows], pa.list_(pa.int64())))
    columns.append(pa.array([list(row.runs.values()) for row in rows], pa.list_(pa.string())))
    return pa.table(columns, names=list(POINTS))


def _old_rows(table: pa.Table | None) -> list[_Row]:
    if table is None:
        return []
    columns = [table[name].to_pylist() for name in POINTS]
    found = []
    for scenario, arm, values, settings, controller, layer, hash_, name, toml, seeds, runs in zip(
        *columns, strict=True
    ):
        point = Point(scenario, arm, json.loads(values))
        own = dict(zip(seeds, runs, strict=True))
        found.append(_Row(point, json.loads(settings), controller, layer, hash_, name, toml, own))
    return found


def _chunk_runs(store: Store, fresh: Sequence[tuple[_Row, int, str]], memory_limit: float) -> int:
    """Return the number of runs per chunk, a function of the scenarios alone, like all bytes of a store.

    Raises ``ScenarioError`` if a run needs more than ``memory_limit`` bytes.
    """
    texts = list(dict.fromkeys((row.toml, row.name) for row, _, _ in fresh))
    some = (run_of(toml, store.folder, name) for toml, name in sampled(texts))
    needs = (scenario.refuse_above(memory_limit, f"a run of {scenario.name}") for scenario in some)
    most = max(needs, default=1)
    return max(1, min(CHUNK_RUNS, CHUNK_BYTES // most))


def _batch(fresh: Sequence[tuple[_Row, int, str]], chunk_runs: int) -> pa.Table:
    """Return the table of runs to make: each with the number of its chunk and its scenario."""
    tasks = [Task(run, row.toml, row.name, seed) for row, seed, run in fresh]
    return listed(tasks, [i // chunk_runs for i in range(len(fresh))])


def _close_pending(store: Store, pending: Pending) -> None:
    """Keep the finished runs of an unfinished study, and drop the others; can be repeated after a kill at any point."""
    import pyarrow.compute as pc

    batch = Batch.of(store).listed
    made = set(journalled(store)) | store.known()
    kept = batch.filter(pc.is_in(batch["run"], value_set=column(sorted(made)).cast("string")))
    # the mark first: from now on the batch is not taken for the whole study
    store.put(f"{PENDING}/batch.json", _head_text(asdict(pending) | {"closed": True}))
    store.put_table(f"{PENDING}/batch.parquet", kept)
    Batch(store, kept, journalled(store), pending.number).write_finished()
    finish(store)


# Repairing


def _repair(store: Store, make_all: Callable[[Batch], None], tell: Callable[[str], None]) -> None:
    """Restore damaged files: chunks by repeating their runs, which gives the same bytes.

    Runs of a chunk that cannot be repeated are kept as far as they can be read; ``tell`` gets a line per loss. Damaged
    files of a study are removed, and written again when the study is made. A killed repair starts again.
    """
    broken = store.broken()
    chunks = {Path(one).stem for one in broken if one.startswith(("chunks/", "tables/"))}
    # costs of runs have no checksum
    chunks |= {name for name in store.chunks() if salvage.whole(store, f"log/{name}.parquet") is None}
    if not broken and not chunks:
        return
    for name in sorted(chunks):
        _remake_chunk(store, name, make_all, tell)
    for one in broken:
        if one.startswith("studies/"):
            (store.folder / one).unlink(missing_ok=True)
    remade = [one for one in store.names() if one.startswith(("chunks/", "tables/")) and Path(one).stem in chunks]
    store.put_sums((*broken, *remade))
    store.put_table(RUNS, runs_table(store))
    store.put_sums((RUNS,))
    if store.pending() is None:
        drop_journals(store)


def _remake_chunk(store: Store, name: str, make_all: Callable[[Batch], None], tell: Callable[[str], None]) -> None:
    """Repeat the runs of a chunk, and keep the others that can be read; remove the chunk if nothing is left.

    Runs that no study names, or that another build of the engine made, cannot be repeated.
    """
    tasks: dict[str, Task] = {}
    for study in store.studies():
        try:
            rows = _old_rows(store.points(study))
        except FolderError:  # repeated too, with its runs
            continue
        for row in rows:
            own = ((seed, run) for seed, run in row.runs.items() if run == run_id(row.hash, seed))
            tasks |= {run: Task(run, row.toml, row.name, seed) for seed, run in own}
    runs = salvage.runs_in(store, name)
    if not runs:
        tell(f"{store.folder}: {salvage.unlisted(name)}")
        runs = _lost(store, name, tasks)
    tables = [
        place.name
        for place in (store.folder / "tables").glob("*")
        if f"tables/{place.name}/{name}.parquet" in store.sums()
    ]
    kept, losses = salvage.salvaged(store, name, [run for run in runs if run not in tasks], tables)
    for loss in losses:
        tell(f"{store.folder}: {loss}")
    again = [tasks.get(run) or Task(run, "", "", 0) for run in runs if run in tasks or run in kept]
    if again:
        number, chunk = numbers(name)
        make_all(Batch(store, listed(again, [chunk] * len(again)), kept, number, tables, anew=True))
        return
    for place in [*(f"tables/{table}" for table in tables), "log", "chunks"]:
        (store.folder / place / f"{name}.parquet").unlink(missing_ok=True)


def _lost(store: Store, name: str, tasks: Iterable[str]) -> list[str]:
    """Return the runs of studies that are in no other undamaged chunk."""
    there = {run for other in store.chunks() if other != name for run in salvage.runs_in(store, other)}
    return [run for run in tasks if run not in there]


def finish(store: Store) -> None:
    """Update the store's tables and remove temporary files; can be repeated after a kill at any point."""
    pending = store.pending()
    assert pending is not None, "called with a pending study"
    if not pending.closed:
        inputs.install_study(store, store.folder / PENDING / "study", pending.study)
    store.put_table(RUNS, runs_table(store))
    store.put_sums((RUNS, STORE_FILE, f"studies/{pending.study}/"))
    drop_journals(store)  # all runs are in chunks; the pending mark goes last
    store.drop_folder(PENDING)
