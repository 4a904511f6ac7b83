"""The folder of a report: a file that says what was asked for, the store of the runs, and which of its runs they are.

The store is the folder's own, ``runs/``, unless another one is given. Which runs they are stands in the folder, with
their whole scenarios: the report needs neither the originals, nor what the store is asked for later.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import pyarrow as pa

from incast import files
from incast.errors import REFUSALS, FolderError
from incast.executor import alone_in
from incast.folders import clear_away, write_whole
from incast.plan import Mark
from incast.result import Result
from incast.run_folder import engine_digest
from incast.study import inputs
from incast.study.definition import Definition
from incast.study.reading import Runs
from incast.study.runner import make
from incast.study.store import Store, parquet, refuse_odd_points

OWN_STORE = "runs"

Key = TypeVar("Key", bound=Hashable)

Rows = Callable[[str, Sequence[str]], pa.Table]
"""Gives columns of a table of a run, by its name."""


class Place(NamedTuple):
    """Where a run stands in its study; ``values`` as JSON."""

    scenario: str
    arm: str
    values: str
    seed: int


@dataclass(frozen=True)
class Home:
    """The folder of a report."""

    folder: Path
    store: Path
    name: str
    """Name of the study in the store."""

    @classmethod
    def of(cls, folder: Path, data: Mapping[str, Any]) -> Home:
        """Read what ``words`` gave."""
        return cls(folder, Path(os.path.normpath(folder / data["store"])), data["study"])

    @property
    def words(self) -> dict[str, str]:
        """The study and the store, as the folder's file has them: both may move together."""
        return {"study": self.name, "store": os.path.relpath(self.store, self.folder)}

    @property
    def given(self) -> str | None:
        """The store as ``--store`` names it; ``None`` where it is the folder's own."""
        own = os.path.normpath(self.folder / OWN_STORE)
        return None if os.path.normpath(self.store) == own else str(self.store)

    def make(self, part: Definition, points_file: str, rebuild: bool = False, **options: Any) -> None:
        """Make the runs of a study that the store lacks, and write down which they are.

        In the folder's own store runs of another build of the engine are made anew, in another one with ``rebuild``
        alone, which also makes anew what is damaged. Other options are those of ``making.make``.
        """
        filled = make(self.store, part, rebuild=rebuild, any_build=self.given is None, **options)
        points = _in_words_of_user(filled, part)
        write_whole(self.folder / points_file, parquet(points.replace_schema_metadata({"engine": engine_digest()})))

    def governing(self, points_file: str, places: Mapping[Key, Place]) -> dict[Key, str]:
        """Say what governs the flows of runs, by their places; what cannot be read is told by ``results``."""
        try:
            points = files.read_table(self.folder / points_file, ["scenario", "arm", "values", "controller"])
        except (OSError, ValueError):
            return {}
        there = {(row["scenario"], row["arm"], row["values"]): row["controller"] for row in points.to_pylist()}
        found = {key: there.get(place[:3]) for key, place in places.items()}
        return {key: told for key, told in found.items() if isinstance(told, str)}

    def results(
        self, points_file: str, places: Mapping[Key, Place], name_of: Callable[[Key], str], again: str
    ) -> dict[Key, tuple[Result, Rows]]:
        """Find runs by their places; raises ``FolderError``, with the command that goes on, where one is not there."""
        told = f"go on with: {again}"
        try:
            points = files.read_table(self.folder / points_file)
        except FileNotFoundError:
            raise FolderError(f"{self.folder} is not finished: it has no {points_file}; {told}") from None
        except (OSError, ValueError) as error:
            raise FolderError(f"{self.folder / points_file} cannot be read: {files.told(error)}; {told}") from None
        refuse_odd_points(self.folder / points_file, points, told)
        engine = (points.schema.metadata or {}).get(b"engine", b"").decode()
        there = {(row["scenario"], row["arm"], row["values"]): row for row in points.to_pylist()}
        named: dict[Key, tuple[str, dict[str, Any]]] = {}
        for key, place in places.items():
            row = there.get(place[:3], {"seeds": [], "runs": []})
            run = dict(zip(row["seeds"], row["runs"], strict=True)).get(place.seed)
            if run is None:
                raise FolderError(f"{self.folder} is not finished: the run {name_of(key)} is missing; {told}")
            named[key] = run, row
        if not self.store.exists():
            raise FolderError(
                f"{self.store} does not exist: it is the store of the runs of {self.folder}; where it has moved, give "
                f"its new place by --store in: {again}"
            )
        runs = Runs(Store.at(self.store), (run for run, _ in named.values()))
        found = {}
        for key, (run, row) in named.items():
            if run not in runs:
                raise FolderError(f"{self.store} lacks the run {name_of(key)}; {told}")
            result = runs.result(run, row["toml"], row["name"], places[key].seed, row["hash"], engine)
            found[key] = result, _rows_of(runs, run)
        return found


def _refuse_store(folder: Path, store: Path) -> None:
    """Raise ``FolderError`` where a report's folder would be its store, or lie in it."""
    own, other = folder.resolve(), store.resolve()
    if own == other or other in own.parents:
        how = "are one folder" if own == other else "are not apart: the report would lie in the store"
        raise FolderError(
            f"--out {folder} and --store {store} {how}; give each a folder of its own, or leave out --store: "
            f"then the runs lie in {folder / OWN_STORE}"
        )


def _before(path: Path) -> bytes | None:
    """Read a mark that is there, to put it back; one that cannot be read is refused later, by whoever reads it."""
    try:
        return files.read_bytes(path, files.MOST_JSON)
    except (OSError, ValueError):
        return None


@contextmanager
def claimed(home: Home, store: Path | None, mark: Mark, read: Callable[[Path], Home]) -> Iterator[Home]:
    """Mark the folder as this report's, or find an earlier one that it grows from: then its name stays.

    Its store stays too unless one is given. ``read`` reads the mark; raises
    ``FolderError`` where it is another's. Until the end of the block no other program works there. What is refused in
    it leaves the folder as it was.
    """
    if store is not None:
        _refuse_store(home.folder, store)
    folder, path = home.folder, home.folder / mark.file
    there = folder.is_dir()
    before = _before(path)
    mark.put(folder)
    earlier = read(folder)
    home = Home(folder, store or earlier.store, earlier.name)
    with alone_in(folder, deep=False):
        try:
            yield home
        except REFUSALS:
            if before is not None:
                write_whole(path, before)
            elif {one.name for one in folder.iterdir()} <= {mark.file, ".lock"}:
                clear_away(folder, keep=there)
            raise


def _in_words_of_user(store: Store, study: Definition) -> pa.Table:
    """Give the points of a study that is made, with the values that were asked for in the place of copies of files."""
    points = store.points(study.name)
    assert points is not None, "a study that is made has points"
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


def _rows_of(runs: Runs, run: str) -> Rows:
    return lambda table, columns: runs.rows(run, table, columns)
