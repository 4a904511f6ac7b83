"""Runner of studies: plans new runs in a store, makes them by workers, and updates the store's files."""

from __future__ import annotations

import hashlib
import json
import math
import shutil
import time
from collections import deque
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incast import controllers
from incast.batch.executor import Each, Needs, Status, default_workers, share
from incast.batch.record import Journal, Task, run_id, run_of
from incast.batch.store import PENDING, RUNS, SUMS, Pending, Store, column, parquet
from incast.batch.workers import Answer, Processes, Threads, WorkerDied, Workers
from incast.errors import REFUSALS, FolderError, RunError, RunStopped, ScenarioError, StudyError, users_traceback
from incast.runs.named_files import kinds_in
from incast.runs.run_folder import engine_digest
from incast.study import inputs
from incast.study.definition import Definition, Point
from incast.study.writing import POINTS, runs_table, write_chunk
from incast.system import files
from incast.system.files import STORE_FILE
from incast.system.folders import clear_away
from incast.system.memory import free_memory, machine_memory

if TYPE_CHECKING:
    import pyarrow as pa

CHUNK_RUNS = 1000
"""Runs per chunk: small enough to append often, large enough to read few files."""
CHUNK_BYTES = 4 * 10**9
"""Most memory of the runs of a chunk together: their tables, a part of it, are written and read at once."""
SLICE_S = 0.25
"""Duration of a slice of work, the most that a killed program loses unless one run is longer."""
TRIES = 3
"""Number of tries before a run is blamed for the death of its worker."""
MANY = 50
"""Runs per worker from which processes replace threads: threads block each other in short runs, and a process takes
half a second to start."""
SAMPLED = 64
"""Number of points whose memory is estimated before a study."""

Hire = Callable[[int, Path, Sequence[str], Each], Workers]
"""Factory of workers: number, folder of the store, tables to keep, cores of a run."""

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
) -> Store:
    """Make the runs of a study that a store lacks; create the store if needed.

    ``workers`` is the number of parallel runs (0: one per core); ``hire`` makes other workers, ``outside`` leaves the
    runs to other programs. Runs that need more than ``memory_limit`` bytes (default: the machine's memory) are refused.
    In a store of another build of the engine the runs are repeated with ``any_build``, or with ``rebuild``, which also
    repeats damaged runs.

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
                _drop_journals(store)  # left by a killed program, or by late parts
            own = inputs.canonical(store, study)  # restores damaged copies of files
            if rebuild:
                _repair(store, lambda left, keep: _make_all(left, keep, workers, hire, show, limit))
            # other programs run on machines with their own memory
            planned = limit if outside is None or memory_limit is not None else math.inf
            _plan(store, own, points, seeds, planned)
        except REFUSALS:
            if not any((store.folder / name).exists() for name in (PENDING, RUNS, SUMS)):
                clear_away(store.folder, keep=there)  # the store is new and empty
            raise
        if (store.folder / PENDING).exists():
            if outside is not None and missing(store):
                outside(store)
            try:
                fill(store, workers, hire, show, limit)
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
        (aside / "study" / "points.parquet").write_bytes(parquet(rows))
        (aside / "batch.parquet").write_bytes(parquet(_batch(fresh, chunk_runs)))
        (aside / "batch.json").write_text(_head_text(head), encoding="utf-8")

    store.put_folder(PENDING, written)


def _head_text(head: Mapping[str, Any]) -> str:
    return json.dumps(head, indent=2) + "\n"


def _next_number(store: Store) -> int:
    return max((number for number, _ in map(_numbers, store.chunks())), default=0) + 1


def _numbers(name: str) -> tuple[int, int]:
    """Read the name of a chunk: number of the batch, and place in it."""
    number, _, place = name.partition("-")
    return int(number), int(place)


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
        _refuse_equal(rows)
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


def _refuse_equal(rows: Iterable[_Row]) -> None:
    """Raise ``StudyError`` if two points of an arm are equal: their runs would count twice."""
    known: dict[tuple[str, str, str], Point] = {}
    for row in rows:
        place = row.point.scenario, row.point.arm, row.hash
        if place in known:
            one, other = known[place].values, row.point.values
            differing = [key for key in other if one.get(key) != other[key]] or list(other)
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
    some = (run_of(toml, store.folder, name) for toml, name in _sampled(texts))
    needs = (scenario.refuse_above(memory_limit, f"a run of {scenario.name}") for scenario in some)
    most = max(needs, default=1)
    return max(1, min(CHUNK_RUNS, CHUNK_BYTES // most))


def _sampled(texts: Sequence[tuple[str, str]]) -> Sequence[tuple[str, str]]:
    return texts[:: max(1, len(texts) // SAMPLED)]


def _batch(fresh: Sequence[tuple[_Row, int, str]], chunk_runs: int) -> pa.Table:
    """Return the table of runs to make: each with the number of its chunk and its scenario."""
    tasks = [Task(run, row.toml, row.name, seed) for row, seed, run in fresh]
    return _listed(tasks, [i // chunk_runs for i in range(len(fresh))])


def _listed(tasks: Sequence[Task], chunks: Sequence[int]) -> pa.Table:
    import pyarrow as pa

    return pa.table(
        {
            "run": pa.array([task.run for task in tasks], pa.string()),
            "seed": pa.array([task.seed for task in tasks], pa.int64()),
            "chunk": pa.array(chunks, pa.int64()),
            "name": pa.array([task.name for task in tasks], pa.string()),
            "toml": pa.array([task.toml for task in tasks], pa.large_string()).dictionary_encode(),
        }
    )


def _close_pending(store: Store, pending: Pending) -> None:
    """Keep the finished runs of an unfinished study, and drop the others; can be repeated after a kill at any point."""
    import pyarrow.compute as pc

    batch = _read_batch(store)
    made = set(journalled(store)) | store.known()
    kept = batch.filter(pc.is_in(batch["run"], value_set=column(sorted(made)).cast("string")))
    # the mark first: from now on the batch is not taken for the whole study
    store.put(f"{PENDING}/batch.json", _head_text(asdict(pending) | {"closed": True}))
    store.put_table(f"{PENDING}/batch.parquet", kept)
    _Left(store, kept, journalled(store), pending.number).write_finished()
    finish(store)


# Making


def _pending(store: Store) -> Pending:
    pending = store.pending()
    assert pending is not None, "called with a pending study"
    return pending


def _read_batch(store: Store) -> pa.Table:
    return store.read(f"{PENDING}/batch.parquet")


def _journals(store: Store) -> list[Journal]:
    place = store.folder / "journal"
    return [Journal(path) for path in sorted(place.glob("*.bin"))] if place.exists() else []


def journalled(store: Store) -> dict[str, tuple[Journal, int]]:
    """Find the finished runs that are not yet in a chunk."""
    return {run: (journal, place) for journal in _journals(store) for run, place in journal.runs()}


def progress_of(store: Store) -> tuple[str, int, int] | None:
    """Return the pending study with the numbers of finished and of all its new runs; ``None`` without one."""
    pending = store.pending()
    if pending is None:
        return None
    try:
        batch = _read_batch(store)
    except FolderError:
        if store.pending() is None:  # finished meanwhile by another program
            return None
        raise
    left = _Left(store, batch, journalled(store), pending.number)
    return pending.study, len(left.done), batch.num_rows


def missing(store: Store, all_of: bool = False) -> list[Task]:
    """Return the pending runs that are not made; with ``all_of`` also those that are in no chunk yet."""
    pending = _pending(store)
    return _Left(store, _read_batch(store), {} if all_of else journalled(store), pending.number).tasks()


def fill(store: Store, workers: int, hire: Hire | None, show: Callable[[Status], None], memory_limit: float) -> None:
    """Make the missing runs of the pending batch, and write its chunks."""
    pending = _pending(store)
    left = _Left(store, _read_batch(store), journalled(store), pending.number)
    _make_all(left, pending.keep, workers, hire, show, memory_limit)


def _make_all(
    left: _Left,
    keep: Sequence[str],
    workers: int,
    hire: Hire | None,
    show: Callable[[Status], None],
    memory_limit: float,
) -> None:
    """Make the missing runs of a batch, and write its chunks."""
    own = Journal(left.store.folder / "journal" / "main.bin")
    list(own.runs())
    status = Status(total=left.batch.num_rows, finished=len(left.done), resumed=len(left.done))
    tasks = left.tasks()
    if not tasks:
        left.write_finished()
        show(status)
        return
    crew = _hired(left.store, tasks, keep, workers, hire, memory_limit)
    try:
        _deal(crew, deque(tasks), own, left, status, show)
    finally:
        crew.close()
        own.close()
    left.write_finished()


def _hired(
    store: Store, tasks: list[Task], keep: Sequence[str], workers: int, hire: Hire | None, memory_limit: float
) -> Workers:
    """Create as many workers as cores and memory allow: threads, or processes for many runs or Python controllers.

    If all scenarios were checked, ``tasks`` is sorted by memory, largest first, so that no core waits for the longest
    run at the end.
    """
    texts = list(dict.fromkeys((task.toml, task.name) for task in tasks))
    some = _sampled(texts)
    needs = []
    for toml, name in some:
        scenario = run_of(toml, store.folder, name)
        needs.append(Needs(scenario.threads, scenario.refuse_above(memory_limit, f"a run of {name}")))
    if len(some) == len(texts):
        weight = {text: need.memory for text, need in zip(texts, needs, strict=True)}
        tasks.sort(key=lambda task: weight[task.toml, task.name], reverse=True)
    needs *= max(1, -(-len(tasks) // len(needs)))
    free = free_memory()
    at_once, cores = share(workers or default_workers(), needs[: max(len(tasks), len(some))], free)
    if hire is None:
        names = {kind for toml, _ in texts for kind in kinds_in(toml) if ":" in kind}
        # a class typed in is only known to this process
        typed = any(controllers.registered(name) for name in names)
        many = at_once > 1 and len(tasks) >= MANY * at_once
        hire = Processes if (names or many) and not typed else Threads
    return hire(at_once, store.folder, keep, Each.of(at_once, cores, memory_limit, free))


class _Left:
    """State of a batch: missing runs, and complete chunks."""

    def __init__(
        self,
        store: Store,
        batch: pa.Table,
        made: dict[str, tuple[Journal, int]],
        number: int,
        anew: bool = False,
    ) -> None:
        """Read the state; with ``anew`` existing chunks are written again."""
        self.store, self.batch, self.made, self.number = store, batch, made, number
        self.runs = batch["run"].to_pylist()
        self.chunks = batch["chunk"].to_pylist()
        there = {chunk for own, chunk in map(_numbers, store.chunks()) if own == number and not anew}
        self.done = {run for run, chunk in zip(self.runs, self.chunks, strict=True) if chunk in there or run in made}
        self.open: dict[int, int] = {}
        """Missing runs of unwritten chunks."""
        for run, chunk in zip(self.runs, self.chunks, strict=True):
            if chunk not in there:
                self.open[chunk] = self.open.get(chunk, 0) + (run not in self.done)
        self._chunk_of = dict(zip(self.runs, self.chunks, strict=True))

    def tasks(self) -> list[Task]:
        """Return the runs to make."""
        names, seeds, tomls = (self.batch[name].to_pylist() for name in ("name", "seed", "toml"))
        rows = zip(self.runs, tomls, names, seeds, strict=True)
        return [Task(*row) for row in rows if row[0] not in self.done]

    def took(self, run: str, journal: Journal, place: int) -> None:
        """Record a run of a journal; write its chunk if it is complete."""
        self.made[run] = journal, place
        self.done.add(run)
        chunk = self._chunk_of[run]
        self.open[chunk] -= 1
        if self.open[chunk] == 0:
            self.write_finished()

    def write_finished(self) -> None:
        """Write the complete chunks."""
        whole = [chunk for chunk, missing in self.open.items() if missing == 0]
        for chunk in whole:
            names = [run for run, own in zip(self.runs, self.chunks, strict=True) if own == chunk]
            write_chunk(self.store, f"{self.number:04d}-{chunk:04d}", names, self.made)
            del self.open[chunk]


def _deal(
    crew: Workers, tasks: deque[Task], journal: Journal, left: _Left, status: Status, show: Callable[[Status], None]
) -> None:
    """Assign slices to the workers until all runs are done; a slice whose worker died is assigned again."""
    pending: dict[Future[Answer], list[Task]] = {}
    tries: dict[str, int] = {}
    began, finished_before = time.monotonic(), status.finished
    alone: deque[Task] = deque()
    """Runs whose worker died: each becomes a separate slice."""
    while tasks or alone or pending:
        while (tasks or alone) and len(pending) < crew.count + 1:
            size = 1 if alone else _slice_size(status.finished - finished_before, began, crew.count, len(tasks))
            source = alone or tasks
            dealt = [source.popleft() for _ in range(min(size, len(source)))]
            pending[crew.submit(dealt)] = dealt
        # the timeout lets Ctrl-C through
        done, _ = wait(pending, timeout=0.2, return_when=FIRST_COMPLETED)
        failed: list[tuple[BaseException, Task]] = []
        for future in done:
            dealt = pending.pop(future)
            answer = future.result()
            for task, record in zip(dealt, answer.records, strict=False):
                if task.run not in left.done:
                    left.took(task.run, journal, journal.append(record))
                    status.finished += 1
            rest = dealt[len(answer.records) :]
            if answer.error is not None and rest:
                failed.append((answer.error, rest[0]))
                alone.append(rest[0])
                tasks.extendleft(reversed(rest[1:]))
        for error, task in failed:  # after the finished runs are in the journal
            _judge(_in_words_of_user(left.store, error), task, tries)
        crew.tell(status)
        show(status)


def _slice_size(finished: int, began: float, workers: int, left: int) -> int:
    """Return the size of a slice: a moment of work, and less at the end, so that no worker waits for another."""
    if finished == 0:
        return 1
    each = (time.monotonic() - began) * workers / finished
    return max(1, min(int(SLICE_S / max(each, 1e-6)), left // (2 * workers)))


def _in_words_of_user(store: Store, error: BaseException) -> BaseException:
    """Return the error of a run with the user's file names instead of those of copies."""
    if not isinstance(error, RunError) or isinstance(error, (RunStopped, WorkerDied)):
        return error
    words = "\n".join(one for one in (str(error), users_traceback(error)) if one)
    message = inputs.in_words_of_user(store, words)
    return error if message == words else type(error)(message)


def _judge(error: BaseException, task: Task, tries: dict[str, int]) -> None:
    """Raise the error of a run, unless its worker died and it can be tried again."""
    tries[task.run] = tries.get(task.run, 0) + 1
    if isinstance(error, WorkerDied) and tries[task.run] < TRIES:
        return
    more = f"; it was tried {tries[task.run]} times" if isinstance(error, WorkerDied) else ""
    if not isinstance(error, RunStopped):
        error.add_note(f"in the run {task.run}: {task.name}, seed {task.seed}{more}; finished runs are kept")
    raise error


# Repairing


def _repair(store: Store, make_all: Callable[[_Left, Sequence[str]], None]) -> None:
    """Restore damaged files: chunks by repeating their runs, which gives the same bytes.

    Damaged files of a study are removed, and written again when the study is made. A killed repair starts again.
    """
    broken = store.broken()
    chunks = {Path(one).stem for one in broken if one.startswith(("chunks/", "tables/"))}
    # costs of runs have no checksum
    chunks |= {name for name in store.chunks() if _read_runs(store, f"log/{name}.parquet") is None}
    if not broken and not chunks:
        return
    for name in sorted(chunks):
        _remake_chunk(store, name, make_all)
    for one in broken:
        if one.startswith("studies/"):
            (store.folder / one).unlink(missing_ok=True)
    store.put_sums(tuple(broken))
    store.put_table(RUNS, runs_table(store))
    store.put_sums((RUNS,))
    if store.pending() is None:
        _drop_journals(store)


def _remake_chunk(store: Store, name: str, make_all: Callable[[_Left, Sequence[str]], None]) -> None:
    """Repeat the runs of a chunk; remove it if no study has them, or another build of the engine made them."""
    tasks: dict[str, Task] = {}
    for study in store.studies():
        try:
            rows = _old_rows(store.points(study))
        except FolderError:  # repeated too, with its runs
            continue
        for row in rows:
            own = ((seed, run) for seed, run in row.runs.items() if run == run_id(row.hash, seed))
            tasks |= {run: Task(run, row.toml, row.name, seed) for seed, run in own}
    again = [tasks[run] for run in _runs_in(store, name) or _lost(store, name, tasks) if run in tasks]
    tables = [
        place.name
        for place in (store.folder / "tables").glob("*")
        if f"tables/{place.name}/{name}.parquet" in store.sums()
    ]
    if again:
        number, chunk = _numbers(name)
        make_all(_Left(store, _listed(again, [chunk] * len(again)), {}, number, anew=True), tables)
        return
    for place in [*(f"tables/{table}" for table in tables), "log", "chunks"]:
        (store.folder / place / f"{name}.parquet").unlink(missing_ok=True)


def _runs_in(store: Store, name: str) -> list[str]:
    """Read the runs of a chunk from one of its undamaged files; empty without one."""
    files = (f"chunks/{name}.parquet", f"log/{name}.parquet")
    return next((found for file in files if (found := _read_runs(store, file)) is not None), [])


def _read_runs(store: Store, file: str) -> list[str] | None:
    """Read the runs with rows in a file; ``None`` if it is missing or damaged."""
    try:
        found: list[str] = store.read(file, ["run"])["run"].to_pylist()
    except FolderError:
        return None
    return found


def _lost(store: Store, name: str, tasks: Iterable[str]) -> list[str]:
    """Return the runs of studies that are in no other undamaged chunk."""
    there = {run for other in store.chunks() if other != name for run in _runs_in(store, other)}
    return [run for run in tasks if run not in there]


def finish(store: Store) -> None:
    """Update the store's tables and remove temporary files; can be repeated after a kill at any point."""
    pending = _pending(store)
    if not pending.closed:
        inputs.install_study(store, store.folder / PENDING / "study", pending.study)
    store.put_table(RUNS, runs_table(store))
    store.put_sums((RUNS, STORE_FILE, f"studies/{pending.study}/"))
    _drop_journals(store)  # all runs are in chunks; the pending mark goes last
    store.drop_folder(PENDING)


def _drop_journals(store: Store) -> None:
    shutil.rmtree(store.folder / "journal", ignore_errors=True)
