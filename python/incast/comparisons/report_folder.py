"""Folder of a report: a file with the arguments, the store of the runs, and the list of its runs.

The default store is the folder's own, ``runs/``. The folder lists its runs with their resolved scenarios: the report
needs neither the original files, nor the current studies of the store.
"""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa

from incast.batch.plan import Mark, slug
from incast.batch.store import Store, parquet, refuse_odd_points, store_of
from incast.comparisons.declaration import Case, ComparisonStudy
from incast.errors import REFUSALS, FolderError, StudyError
from incast.runs.result import Result
from incast.runs.run_folder import engine_digest
from incast.study import inputs
from incast.study.definition import Definition
from incast.study.planning import make
from incast.study.reading import Runs
from incast.system import files
from incast.system.folders import alone_in, clear_away, refuse_odd_name, refuse_other, write_whole

OWN_STORE = "runs"

POINTS_FILE = "points.parquet"
"""Table of the runs in the store that belong to the folder."""

RESULTS = ("comparison.json", "report.html", POINTS_FILE)
"""Files of a report that are written over."""

Kind = TypeVar("Kind", bound=ComparisonStudy)

Rows = Callable[[str, Sequence[str]], pa.Table]
"""Function that returns columns of a run's table by name."""


@dataclass(frozen=True)
class Home:
    """Folder of a report."""

    folder: Path
    store: Path
    name: str
    """Name of the study in the store."""

    @classmethod
    def of(cls, folder: Path, data: Mapping[str, Any]) -> Home:
        """Read the entries of ``words``."""
        return cls(folder, Path(os.path.normpath(folder / data["store"])), data["study"])

    @property
    def words(self) -> dict[str, str]:
        """Entries of the folder's file: the study and the store's relative path, so that both can move together."""
        return {"study": self.name, "store": os.path.relpath(self.store, self.folder)}

    @property
    def given(self) -> str | None:
        """Store as in ``--store``; ``None`` for the folder's own."""
        own = os.path.normpath(self.folder / OWN_STORE)
        return None if os.path.normpath(self.store) == own else str(self.store)

    def make(self, part: Definition, points_file: str, rebuild: bool = False, **options: Any) -> None:
        """Make the runs of a study that the store lacks, and write the list of its runs.

        Runs by another build of the engine are repeated in the folder's own store; in another store only with
        ``rebuild``, which also repeats damaged runs. Other options are those of ``planning.make``.
        """
        filled = make(self.store, part, rebuild=rebuild, any_build=self.given is None, **options)
        points = _in_words_of_user(filled, part)
        write_whole(self.folder / points_file, parquet(points.replace_schema_metadata({"engine": engine_digest()})))

    def governing(self, study: ComparisonStudy) -> dict[Case, str]:
        """Return what governs the flows of runs; unreadable runs are left to ``results``."""
        try:
            points = files.read_table(self.folder / POINTS_FILE, ["scenario", "arm", "values", "controller"])
        except (OSError, ValueError):
            return {}
        there = {(row["scenario"], row["arm"], row["values"]): row["controller"] for row in points.to_pylist()}
        found = {case: there.get(study.place(case)[:3]) for case in study.cases()}
        return {key: value for key, value in found.items() if isinstance(value, str)}

    def results(
        self, study: ComparisonStudy, cases: Iterable[Case], points_file: str = POINTS_FILE
    ) -> dict[Case, tuple[Result, Rows]]:
        """Find runs in the store; raises ``FolderError`` with the command that resumes if one is missing."""
        again = study.command(str(self.folder), store=self.given)
        advice = f"resume with: {again}"
        try:
            points = files.read_table(self.folder / points_file)
        except FileNotFoundError:
            raise FolderError(f"{self.folder} is not finished: it has no {points_file}; {advice}") from None
        except (OSError, ValueError) as error:
            raise FolderError(
                f"{self.folder / points_file} cannot be read: {files.message_of(error)}; {advice}"
            ) from None
        refuse_odd_points(self.folder / points_file, points, advice)
        engine = (points.schema.metadata or {}).get(b"engine", b"").decode()
        there = {(row["scenario"], row["arm"], row["values"]): row for row in points.to_pylist()}
        named: dict[Case, tuple[str, dict[str, Any]]] = {}
        for case in cases:
            row = there.get(study.place(case)[:3], {"seeds": [], "runs": []})
            run = dict(zip(row["seeds"], row["runs"], strict=True)).get(case.seed)
            if run is None:
                raise FolderError(f"{self.folder} is not finished: the run {case} is missing; {advice}")
            named[case] = run, row
        if not self.store.exists():
            raise FolderError(
                f"{self.store}, the store of the runs of {self.folder}, does not exist; if it has moved, give its new "
                f"place by --store in: {again}"
            )
        runs = Runs(Store.at(self.store), (run for run, _ in named.values()))
        found: dict[Case, tuple[Result, Rows]] = {}
        for case, (run, row) in named.items():
            if run not in runs:
                raise FolderError(f"{self.store} lacks the run {case}; {advice}")
            result = runs.result(run, row["toml"], row["name"], case.seed, row["hash"], engine)
            found[case] = result, partial(runs.rows, run)
        return found


def _refuse_store(folder: Path, store: Path) -> None:
    """Raise ``FolderError`` if a report's folder would be its store, or inside it."""
    own, other = folder.resolve(), store.resolve()
    if own == other or other in own.parents:
        how = "are the same folder" if own == other else "overlap: the report would be inside the store"
        raise FolderError(
            f"--out {folder} and --store {store} {how}; give separate folders, or omit --store: "
            f"then the runs are in {folder / OWN_STORE}"
        )


def _refuse_other_kind(study: ComparisonStudy, folder: Path) -> None:
    """Raise ``FolderError`` for the folder of another kind of comparison."""
    kinds = {"study.json": "a comparison over one key", "grid.json": "a comparison over two keys"}
    kinds["coexistence.json"] = "controllers side by side"
    if other := next((kind for file, kind in kinds.items() if file != study.FILE and (folder / file).is_file()), None):
        own = f"the command of {folder} is at the end of {folder / 'report.html'}"
        raise FolderError(f"{folder} holds {other}, and this is {kinds[study.FILE]}: give another --out; {own}")


def _before(path: Path) -> bytes | None:
    """Read an existing mark, to restore it; an unreadable one is refused later."""
    try:
        return files.read_bytes(path, files.MOST_JSON)
    except (OSError, ValueError):
        return None


@contextmanager
def made(
    study: ComparisonStudy, folder: Path, store: Path | None = None, rebuild: bool = False, **options: Any
) -> Iterator[Home]:
    """Make the runs that the store lacks (default: the folder's own); the folder is locked until the end of the block.

    A folder of an earlier declaration is kept, with what it was asked for, if controllers, values and seeds alone
    differ; its store stays unless one is given. Runs by another build of the engine are repeated in the folder's own
    store; in another store only with ``rebuild``. Raises ``FolderError`` for another content. An exception restores
    the earlier declaration.
    """
    refuse_odd_name(folder)
    study.check()
    store = None if store is None else store_of(store)
    home = Home(folder, store or folder / OWN_STORE, slug(study.folder_name()))
    path, kind = folder / study.FILE, type(study)

    def same(_: Path) -> bool:
        earlier, its_home = read(kind, folder)
        if apart := study.apart_from(earlier):
            share = f"; --store {shlex.quote(str(its_home.store))} with it shares its runs"
            own = f"the command of {folder} is: {earlier.command(str(folder), store=its_home.given)}"
            raise FolderError(f"{folder} holds {study.OTHER}: {'; '.join(apart)}; give another --out{share}; {own}")
        return True

    mark = Mark(study.FILE, study.json(**home.words), same, study.OTHER)
    if store is not None:
        _refuse_store(folder, store)
    there, before = folder.is_dir(), _before(path)
    _refuse_other_kind(study, folder)
    # before hours of runs, not after them
    for name in RESULTS if there else ():
        refuse_other(folder / name)
    mark.put(folder)
    declared, earlier = read(kind, folder)
    study = study.with_words_of(declared).holding(declared)
    home = Home(folder, store or earlier.store, earlier.name)
    with alone_in(folder, deep=False):
        try:
            write_whole(path, study.json(**home.words))
            home.make(study.definition(home.name), POINTS_FILE, rebuild, **options)
            yield home
        except REFUSALS:
            if before is not None:
                write_whole(path, before)
            elif {one.name for one in folder.iterdir()} <= {study.FILE, ".lock"}:
                clear_away(folder, keep=there)
            raise


def read(kind: type[Kind], folder: Path) -> tuple[Kind, Home]:
    """Read the declaration of a folder, and its place of runs; raises ``FolderError``."""
    refuse_odd_name(folder)
    path = folder / kind.FILE
    again = f"give another --out, or remove {folder} first"
    try:
        data = files.read_json(path)
        return kind.from_data(data), Home.of(folder, data)
    except FileNotFoundError:
        if not folder.exists():
            raise FolderError(f"{folder} does not exist: expected the folder of {kind.KIND}") from None
        raise FolderError(f"{folder} has no {kind.FILE}: not the folder of {kind.KIND}") from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise FolderError(f"{path} is damaged: {files.message_of(error)}; {again}") from None
    except StudyError as error:
        raise FolderError(f"{path}: {error}; {again}") from None
    except OSError as error:
        raise FolderError(f"cannot read {path}: {error.strerror}") from None


def governed(study: Kind, home: Home) -> Kind:
    """Set for each controller what governs its flows, from the runs that have it alone."""
    found = home.governing(study)
    alone = {c: [one for case, one in found.items() if set(case.controllers) == {c}] for c in study.controllers}
    return replace(study, controllers=tuple(c.beside(known) for c, known in alone.items()))


def _in_words_of_user(store: Store, study: Definition) -> pa.Table:
    """Return the points of a finished study, with original file names instead of copies."""
    points = store.points(study.name)
    assert points is not None, "a finished study has points"
    columns = (points[name].to_pylist() for name in ("scenario", "arm", "values"))
    there = {place: row for row, place in enumerate(zip(*columns, strict=True))}
    rows, values = [], []
    for asked, kept in zip(study.points(), inputs.canonical(store, study).points(), strict=True):
        row = there.get((kept.scenario, kept.arm, json.dumps(dict(kept.values))))
        if row is not None:
            rows.append(row)
            values.append(json.dumps(dict(asked.values)))
    found = points.take(rows)
    place = found.schema.get_field_index("values")
    return found.set_column(place, found.schema.field(place), pa.array(values, found.schema.field(place).type))
