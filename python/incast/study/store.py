"""The store of studies: one folder that holds runs, each once, and says which study each belongs to.

``store.json``        format, program and build of the engine
``studies/NAME/``     ``study.toml`` with copies of its scenarios; ``points.parquet``, a row a point
``files/``            copies of files that scenarios name, each in a folder called after its content
``chunks/``           runs in the order in which they were asked for: figures, a row a run
``tables/TABLE/``     flows, ports, samples ... of the runs of a chunk
``runs.parquet``      a row a run of a study: every varied key, controller, seed and figure
``SHA256SUMS``        checksums of all of these (``sha256sum -c SHA256SUMS``)
``log/``              what the runs cost; no result, and not the same bytes twice
``pending/``, ``journal/``  runs that are asked for, and those of them that are made: only until all are

Files appear whole and are replaced whole, so that readers need no lock. Chunks never change. Everything but ``log``
follows from what was asked for, in its order, however often that was interrupted.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incast import _core, files
from incast.errors import FolderError
from incast.executor import alone_in
from incast.files import STORE_FILE
from incast.folders import put_first, sync_folder, write_whole
from incast.run_folder import engine_digest, refuse_odd_columns

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow as pa

STORE_FORMAT = 1
REPORTS = ("study.json", "coexistence.json")
"""Files of folders of reports, of comparisons and of pairs, which name their store."""
RUNS = "runs.parquet"
SUMS = "SHA256SUMS"
PENDING = "pending"
FIXED = ("chunks/", "tables/", "files/")
"""Where files lie that never change."""
NO_RESULTS = ("log", PENDING, "journal", ".lock", SUMS)
"""Names in a store that have no checksum."""
SUM = re.compile("[0-9a-f]{64}  .+")
"""A line of the checksums."""
NO_DIGEST = "0" * 64
"""Checksum of a file whose bytes are known to be wrong."""
Kind = tuple[Callable[[Any], bool], str]
"""Whether a type is one, and its name in words."""
TEXTS = (files.is_text, "texts")
NUMBERS = (files.is_number, "numbers")
COLUMNS: Mapping[str, Mapping[str, Kind]] = {
    RUNS: {"study": TEXTS, "scenario": TEXTS, "arm": TEXTS, "run": TEXTS, "seed": NUMBERS},
    "chunks": {"run": TEXTS},
    "log": {"run": TEXTS, "cpu_s": NUMBERS},
    "studies": {
        **dict.fromkeys(("scenario", "arm", "values", "settings", "layer", "hash", "name", "toml"), TEXTS),
        "seeds": (files.is_list_of(files.is_number), "lists of numbers"),
        "runs": (files.is_list_of(files.is_text), "lists of texts"),
    },
    PENDING: {"run": TEXTS, "name": TEXTS, "toml": TEXTS, "seed": NUMBERS, "chunk": NUMBERS},
}
"""Columns that the program reads, by the file or the folder of files that has them; each row has a value of each."""


@dataclass(frozen=True)
class Pending:
    """A study that is asked for and not finished."""

    number: int
    study: str
    text: str
    """The study as a file."""
    asked: Any
    """Points and seeds, where these are not the study's own."""
    keep: tuple[str, ...]
    closed: bool = False
    """Whether it was given up, so that only what is made is still to be stored."""
    engine: str = ""
    """Build of the engine that its runs are named after."""


class Store:
    """A store of runs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._sums: dict[str, str] | None = None
        self.originals: dict[str, str] = {}
        """What copies of files are copies of, in the words of whoever named them, as far as it was said here."""

    @classmethod
    def at(cls, folder: str | Path) -> Store:
        """Open a store, or that of a report's folder.

        Raises ``FolderError`` where there is none, or one of another format.
        """
        store = cls(_store_of(Path(folder)))
        store.head()
        return store

    @classmethod
    def make(cls, folder: str | Path, repair: bool = False) -> Store:
        """Open a store, or make an empty one; raises ``FolderError`` where anything else is.

        With ``repair`` a store whose ``store.json`` is missing or damaged gets that of this build.
        """
        store = cls(Path(folder))
        if repair:
            store._repair_head()
        strange = "is not empty and holds no store of studies: give another folder"
        named = _store_of(store.folder)
        if named != store.folder:
            strange = f"is the folder of a report, whose store is {named}: give that one, or another folder"
        if not store._is_marked():
            put_first(store.folder / STORE_FILE, _head_text(), strange)
        store.head()
        return store

    def head(self) -> dict[str, Any]:
        """Read what the store says of itself."""
        path = self.folder / STORE_FILE
        try:
            head = files.read_json(path)
        except FileNotFoundError:
            if self._is_marked():
                lost = f"{self.folder} has no {STORE_FILE}: not a whole store; {_way_out(path.name)}"
                raise FolderError(lost) from None
            there = "has no store.json: not a store of studies" if self.folder.exists() else "does not exist"
            raise FolderError(f"{self.folder} {there}: expected a folder that incast study run made") from None
        except NotADirectoryError:
            raise FolderError(f"{self.folder} is a file: expected a folder that incast study run made") from None
        except (OSError, ValueError) as error:
            raise FolderError(f"{path} is damaged: {files.told(error)}; {_way_out(path.name)}") from None
        lacking = [key for key in ("format", "incast", "engine") if not (isinstance(head, dict) and key in head)]
        if lacking:
            raise FolderError(f"{path} is damaged: it lacks {', '.join(lacking)}; {_way_out(path.name)}")
        if head["format"] != STORE_FORMAT:
            raise FolderError(
                f"{self.folder} is a store of format {head['format']!r}: expected {STORE_FORMAT}; "
                f"read it with the version of incast that made it ({head['incast']}), or make a new store"
            )
        assert isinstance(head, dict)
        return head

    def _is_marked(self) -> bool:
        """Whether the folder holds what only a store does, whatever has become of ``store.json``."""
        return (self.folder / SUMS).is_file() and (self.folder / RUNS).is_file()

    def _repair_head(self) -> None:
        """Write ``store.json`` anew where it is missing or damaged; runs of another build have names of their own."""
        path = self.folder / STORE_FILE
        if not self._is_marked():
            return
        try:
            head = files.read_json(path)
            if isinstance(head, dict) and {"format", "incast", "engine"} <= head.keys():
                return
        except (FileNotFoundError, ValueError):
            pass
        except OSError as error:
            raise FolderError(f"cannot read {path}: {error.strerror}") from None
        write_whole(path, _head_text())

    def refuse_other_build(self, rebuild: bool = False) -> None:
        """Raise ``FolderError`` where another build of the engine made the store, unless it is to be made anew."""
        head = self.head()
        if head["engine"] == engine_digest():
            return
        if not rebuild:
            raise FolderError(
                f"the runs in {self.folder} were made by another build of the engine (incast {head['incast']}, "
                f"build {head['engine']}; this is {_core.__version__}, build {engine_digest()}): "
                "runs of both do not mix; make a new store, or give --rebuild to make the study's runs anew in this one"
            )
        write_whole(self.folder / STORE_FILE, _head_text())

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep other programs from writing into the store; raises ``FolderError`` where one is at it."""
        with alone_in(self.folder):
            yield

    # Reading

    def read(self, name: str, columns: Sequence[str] | None = None) -> pa.Table:
        """Read a Parquet file of the store, held against its checksum."""
        wanted = None if columns is None else list(columns)
        data = self.checked(name)
        try:
            # one thread: a column is small, and Arrow's own threads may still be starting when the program ends
            table = files.read_table(data, wanted, threads=False, checksums=True)
        except (OSError, ValueError) as error:
            raise FolderError(f"{self.folder / name} cannot be read: {files.told(error)}") from None
        self._refuse_odd_columns(name, table)
        return table

    def schema(self, name: str) -> pa.Schema:
        """Read which columns a Parquet file of the store has, with what is said of each."""
        try:
            return files.read_schema(self.checked(name))
        except (OSError, ValueError) as error:
            raise FolderError(f"{self.folder / name} cannot be read: {files.told(error)}") from None

    def _refuse_odd_columns(self, name: str, table: pa.Table) -> None:
        """Raise ``FolderError`` where a column that the program reads has another type than it writes."""
        kind, _, rest = name.partition("/")
        if kind == "tables":
            refuse_odd_columns(self.folder / name, rest.partition("/")[0], table)
        _refuse_odd(self.folder / name, table, COLUMNS.get(kind if rest else name, {}), _way_out(name))

    def checked(self, name: str) -> bytes:
        """Read a file of the store; raises ``FolderError`` where its bytes are not those that were written."""
        path = self.folder / name
        try:
            data = files.read_bytes(path)
        except FileNotFoundError:
            raise FolderError(f"{self.folder} has no {name}: not a whole store") from None
        except (OSError, ValueError) as error:
            raise FolderError(f"cannot read {path}: {files.told(error)}") from None
        sums = self.sums()
        if name in sums and hashlib.sha256(data).hexdigest() != sums[name]:
            # Another program may have replaced both, or be about to: then pages of tables have checksums of their own.
            under_way = (self.folder / PENDING).exists() and not name.startswith(FIXED)
            self._sums = None
            data = files.read_bytes(path)
            if not under_way and hashlib.sha256(data).hexdigest() != self.sums().get(name):
                raise FolderError(f"{path} is damaged: its checksum is not the one in {SUMS}; {_way_out(name)}")
        return data

    def sums(self) -> dict[str, str]:
        """Checksums by the names of files."""
        if self._sums is None:
            try:
                lines = files.read_text(self.folder / SUMS, files.MOST_JSON).splitlines()
                if strange := [line for line in lines if not SUM.fullmatch(line)]:
                    raise ValueError(f"{strange[0][:80]!r}: expected a SHA-256, two spaces and the name of a file")
                self._sums = {line[66:]: line[:64] for line in lines}
            except FileNotFoundError:
                done = (self.folder / RUNS).exists() and not (self.folder / PENDING).exists()
                if done and not (self.folder / SUMS).exists():  # not written meanwhile, either
                    raise FolderError(f"{self.folder} has no {SUMS}: not a whole store; {_way_out(SUMS)}") from None
                self._sums = {}
            except (OSError, ValueError) as error:
                raise FolderError(f"{self.folder / SUMS} is damaged: {files.told(error)}; {_way_out(SUMS)}") from None
        return self._sums

    def repair_sums(self) -> None:
        """Give the files that ``SHA256SUMS`` no longer names a checksum.

        Nothing says what their bytes were, but that pages of tables have checksums of their own: a table that these do
        not hold for counts as damaged, whatever its bytes are now.
        """
        try:
            known = self.sums()
        except FolderError:
            known = self._sums = {}
        for name in self.names():
            if name not in known and name.endswith(".parquet"):
                try:
                    self.read(name)
                except FolderError:
                    known[name] = NO_DIGEST
        if set(self.names()) - set(known):
            self.put_sums(())

    def damaged(self) -> list[str]:
        """Hold every file against its checksum; say what is wrong, a line a file."""
        told = [
            f"{name}: its bytes are not those that were written" if os.path.lexists(path) else f"{name}: is missing"
            for name in self.broken()
            for path in [self.folder / name]
        ]
        strange = sorted(set(self.names()) - set(self.sums()))
        if not (self.folder / PENDING).exists():
            told += [f"{name}: has no checksum" for name in strange]
        return told

    def broken(self) -> list[str]:
        """Name the files that are missing or have other bytes than those that were written."""
        places = ((name, self.folder / name, digest) for name, digest in self.sums().items())
        return [name for name, path, digest in places if not path.is_file() or _digest(path) != digest]

    def names(self) -> list[str]:
        """Names of the files that are results."""
        found = []
        for place, folders, names in os.walk(self.folder):
            inner = Path(place).relative_to(self.folder)
            if inner == Path():
                folders[:] = [one for one in folders if one not in NO_RESULTS]
                names = [one for one in names if one not in NO_RESULTS]
            found += [(inner / one).as_posix() for one in names if not one.startswith(".")]
        return sorted(found)

    def studies(self) -> list[str]:
        """Names of the studies."""
        place = self.folder / "studies"
        return (
            sorted(one.name for one in place.iterdir() if (one / "points.parquet").exists()) if place.exists() else []
        )

    @property
    def runs(self) -> pa.Table:
        """A row a run: study, scenario, arm, controller, varied keys, seed, identity, figures."""
        import pyarrow as pa

        if not (self.folder / RUNS).exists():
            return pa.table({})
        return self.read(RUNS)

    def __repr__(self) -> str:
        path = self.folder / RUNS
        count = files.read_footer(path).num_rows if path.exists() else 0
        return f"<Store {self.folder}: {count:,} runs of {', '.join(self.studies()) or 'no study'}>"

    def points(self, study: str) -> pa.Table | None:
        """Give a row a point of a study: what varies, scenario, runs by seed; ``None`` where there is none."""
        name = f"studies/{study}/points.parquet"
        return self.read(name) if (self.folder / name).exists() else None

    def pending(self) -> Pending | None:
        """Say what is asked for and not finished."""
        path = self.folder / PENDING / "batch.json"
        try:
            head = files.read_json(path)
            return Pending(**head | {"keep": tuple(head["keep"])})
        except FileNotFoundError:
            return None
        except (OSError, ValueError, TypeError, KeyError) as error:
            told = f"{path} is damaged: {files.told(error)}"
            raise FolderError(f"{told}; remove {path.parent} to go on without it") from None

    def chunks(self) -> list[str]:
        """Names of the chunks, in their order."""
        place = self.folder / "chunks"
        found = [path.stem for path in place.glob("*.parquet") if not path.name.startswith(".")]
        return sorted(found, key=lambda name: (len(name), name))

    def known(self) -> set[str]:
        """Identities of all runs in the chunks."""
        found: set[str] = set()
        for name in self.chunks():
            found.update(self.read(f"chunks/{name}.parquet", ["run"])["run"].to_pylist())
        return found

    def tables(self) -> list[str]:
        """Names of the tables of which runs in the store have rows."""
        place = self.folder / "tables"
        return sorted(one.name for one in place.iterdir() if any(one.glob("*.parquet"))) if place.exists() else []

    def table(self, name: str) -> pa.Table:
        """Read a table of all runs: its columns, and ``run``. ``tables`` says which there are."""
        import pyarrow as pa

        place = self.folder / "tables" / name
        parts = [self.read(f"tables/{name}/{path.name}") for path in sorted(place.glob("*.parquet"))]
        return pa.concat_tables(parts, promote_options="permissive") if parts else pa.table({})

    def pandas(self) -> pandas.DataFrame:
        """Give the runs as a pandas frame (needs the package ``pandas``)."""
        return self.runs.to_pandas()

    def polars(self) -> polars.DataFrame:
        """Give the runs as a Polars frame (needs the package ``polars``)."""
        import polars

        frame = polars.from_arrow(self.runs)
        assert isinstance(frame, polars.DataFrame)
        return frame

    # Writing

    def put(self, name: str, content: str | bytes) -> None:
        """Write a file of the store whole and through to the disk."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, content)
        sync_folder(path.parent)

    def put_table(self, name: str, rows: pa.Table) -> None:
        """Write a Parquet file of the store."""
        self.put(name, parquet(rows))

    def put_folder(self, name: str, fill: Callable[[Path], None]) -> None:
        """Make a folder of the store that appears whole."""
        aside = self.folder / f".{name}.partial-{uuid.uuid4().hex[:8]}"
        aside.mkdir()
        try:
            fill(aside)
            aside.rename(self.folder / name)
            sync_folder(self.folder)
        except BaseException:
            shutil.rmtree(aside, ignore_errors=True)
            raise

    def drop_folder(self, name: str) -> None:
        """Remove a folder of the store so that it goes at once."""
        path = self.folder / name
        if path.exists():
            aside = self.folder / f".{name}.partial-{uuid.uuid4().hex[:8]}"
            path.rename(aside)
            sync_folder(self.folder)
            shutil.rmtree(aside)

    def put_sums(self, changed: tuple[str, ...]) -> None:
        """Write the checksums; those that are there stay, but for names that begin with one of ``changed``.

        So a byte that changed in another file is not taken for what was written.
        """
        known = {name: digest for name, digest in self.sums().items() if not name.startswith(changed)}
        sums = {name: known.get(name) or _digest(self.folder / name) for name in self.names()}
        self.put(SUMS, "".join(f"{digest}  {name}\n" for name, digest in sums.items()))
        self._sums = sums


def _store_of(folder: Path) -> Path:
    """Give the store of a report's folder, which a file of that names; any other folder as it is."""
    for file in () if (folder / STORE_FILE).exists() else REPORTS:
        try:
            named = files.read_json(folder / file)["store"]
            return Path(os.path.normpath(folder / named))
        except (OSError, ValueError, KeyError, TypeError):
            pass
    return folder


def refuse_odd_points(path: Path, points: pa.Table, way_out: str) -> None:
    """Raise ``FolderError`` where the points of a study have columns of other types than these have, or lack one."""
    if lacking := sorted({*COLUMNS["studies"]} - {*points.column_names}):
        raise FolderError(f"{path} is damaged: it has no column {', '.join(lacking)}; {way_out}")
    _refuse_odd(path, points, COLUMNS["studies"], way_out)


def _refuse_odd(path: Path, table: pa.Table, known: Mapping[str, Kind], way_out: str) -> None:
    for column, (is_it, words) in known.items():
        values: Any = table[column] if column in table.column_names else ()
        if len(values) and (values.null_count or not is_it(values.type)):
            told = f"column {column} is of type {values.type}, with {values.null_count} missing values"
            raise FolderError(f"{path} is damaged: {told}; expected {words}; {way_out}")


def _way_out(name: str) -> str:
    """Say what to do about a damaged file of a store."""
    if name.startswith("files/"):
        return "put back the file that it is a copy of"
    return "the command that made it makes it anew with --rebuild"


def parquet(rows: pa.Table) -> bytes:
    """Write a table as the bytes of a Parquet file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    sink = pa.BufferOutputStream()
    # figures seldom repeat: only words are worth a dictionary
    words = [field.name for field in rows.schema if not pa.types.is_floating(field.type)]
    pq.write_table(rows, sink, compression="zstd", write_page_checksum=True, use_dictionary=words)
    data: bytes = sink.getvalue().to_pybytes()
    return data


def _head_text() -> str:
    head = {"format": STORE_FORMAT, "incast": _core.__version__, "engine": engine_digest()}
    return json.dumps(head, indent=2) + "\n"


def _digest(path: Path) -> str:
    try:
        return files.digest_of(path)
    except (OSError, ValueError) as error:
        raise FolderError(f"cannot read {path}: {files.told(error)}") from None


def column(values: Iterable[Any]) -> pa.Array:
    """Make a column of numbers, or of texts where one is no number; without a value it is of numbers."""
    import pyarrow as pa

    values = list(values)
    kinds = {type(value) for value in values} - {type(None)}
    if not kinds:
        return pa.nulls(len(values), pa.float64())
    if kinds == {int}:
        return pa.array(values, pa.int64())
    if kinds <= {int, float}:
        return pa.array([None if value is None else float(value) for value in values], pa.float64())
    return pa.array([None if value is None else _text(value) for value in values], pa.string())


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def columns_of(rows: Sequence[Mapping[str, Any]]) -> dict[str, pa.Array]:
    """Make the columns of rows, in the order in which their names first come."""
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: column([row.get(name) for row in rows]) for name in names}
