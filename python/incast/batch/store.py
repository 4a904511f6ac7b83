"""Store of studies: one folder with runs, each once, and the studies that they belong to.

``store.json``        format, program and build of the engine
``studies/NAME/``     ``study.toml`` with copies of its scenarios; ``points.parquet``, one row per point
``files/``            copies of files that scenarios name, each in a folder named by its content
``chunks/``           runs in the order of requests: figures, one row per run
``tables/TABLE/``     flows, ports, samples ... of the runs of a chunk
``runs.parquet``      one row per run of a study: every varied key, controller, seed and figure
``SHA256SUMS``        checksums of all of these (``sha256sum -c SHA256SUMS``)
``log/``              cost of the runs; not reproducible
``reports/NAME/``     report of a study, made from the rest
``pending/``, ``journal/``  pending runs, and the finished ones among them; removed when all are finished

Files are written atomically, so readers need no lock. Chunks never change. All content except ``log`` is a function of
the sequence of requests, however often they were interrupted.
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

from incast import _core
from incast.errors import FolderError
from incast.runs.named_files import FILES
from incast.runs.run_folder import engine_digest, refuse_odd_columns
from incast.system import files
from incast.system.files import STORE_FILE
from incast.system.folders import alone_in, name_written, put_first, refuse_odd_name, sync_folder, write_whole

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow as pa

STORE_FORMAT = 1
REPORTS = ("study.json", "coexistence.json", "grid.json")
"""Files in report folders (comparisons, pairs, grids) that name their store and their study in it."""
RUNS = "runs.parquet"
SUMS = "SHA256SUMS"
PENDING = "pending"
FIXED = ("chunks/", "tables/", "files/")
"""Folders of files that never change."""
REPORTS_FOLDER = "reports"
"""Folder of the reports of its studies, which can be written again from the runs."""
NO_RESULTS = ("log", PENDING, "journal", REPORTS_FOLDER, ".lock", SUMS)
"""Names in a store without a checksum."""
SUM = re.compile("[0-9a-f]{64}  .+")
"""A line of the checksums."""
NO_DIGEST = "0" * 64
"""Checksum of a file that is known to be damaged."""
Kind = tuple[Callable[[Any], bool], str]
"""Check of a type, and its name in messages."""
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
"""Required columns, by file or folder of files; every row has a value."""


@dataclass(frozen=True)
class Pending:
    """A pending study."""

    number: int
    study: str
    text: str
    """Study as the text of a file."""
    asked: Any
    """Points and seeds, if they are not the study's own."""
    keep: tuple[str, ...]
    closed: bool = False
    """True if the study was closed, so that only its finished runs are still to be stored."""
    engine: str = ""
    """Build of the engine in the identities of its runs."""


class Store:
    """A store of runs."""

    def __init__(self, folder: Path) -> None:
        refuse_odd_name(folder)
        self.folder = folder
        self._sums: dict[str, str] | None = None
        self.originals: dict[str, str] = {}
        """Original names of copied files, as far as known."""

    @classmethod
    def at(cls, folder: str | Path) -> Store:
        """Open a store, or that of a report's folder.

        Raises ``FolderError`` if there is none, or for another format.
        """
        store = cls(store_of(Path(folder)))
        store.head()
        return store

    @classmethod
    def make(cls, folder: str | Path, repair: bool = False) -> Store:
        """Open a store, or make an empty one; raises ``FolderError`` for a folder with other content.

        With ``repair`` a missing or damaged ``store.json`` is replaced by that of this build. The folder of a report
        stands for its store.
        """
        store = cls(store_of(Path(folder)))
        if repair:
            store._repair_head()
        strange = "is not empty and holds no store of studies: give another folder"
        if not store._is_marked():
            put_first(store.folder / STORE_FILE, _head_text(), strange)
        store.head()
        return store

    def head(self) -> dict[str, Any]:
        """Content of ``store.json``."""
        path = self.folder / STORE_FILE
        try:
            head = files.read_json(path)
        except FileNotFoundError:
            if self._is_marked():
                lost = f"{self.folder} has no {STORE_FILE}: not a whole store; {_way_out(path.name)}"
                raise FolderError(lost) from None
            there = "has no store.json: not a store of studies" if self.folder.exists() else "does not exist"
            raise FolderError(f"{self.folder} {there}: expected a folder made by incast study run") from None
        except NotADirectoryError:
            raise FolderError(f"{self.folder} is a file: expected a folder made by incast study run") from None
        except (OSError, ValueError) as error:
            raise FolderError(f"{path} is damaged: {files.message_of(error)}; {_way_out(path.name)}") from None
        lacking = [key for key in ("format", "incast", "engine") if not (isinstance(head, dict) and key in head)]
        if lacking:
            raise FolderError(f"{path} is damaged: it lacks {', '.join(lacking)}; {_way_out(path.name)}")
        if head["format"] != STORE_FORMAT:
            theirs, version = (files.brief(one, 40) for one in (repr(head["format"]), str(head["incast"])))
            raise FolderError(
                f"{self.folder} is a store of format {theirs}: expected {STORE_FORMAT}; "
                f"read it with the version of incast that made it ({version}), or make a new store"
            )
        assert isinstance(head, dict)
        return head

    def _is_marked(self) -> bool:
        """Return whether the folder has files of a store, even without ``store.json``."""
        return (self.folder / SUMS).is_file() and (self.folder / RUNS).is_file()

    def _repair_head(self) -> None:
        """Rewrite a missing or damaged ``store.json``; runs of another build have other names."""
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
        """Raise ``FolderError`` if another build of the engine made the store, unless ``rebuild``."""
        head = self.head()
        if head["engine"] == engine_digest():
            return
        if not rebuild:
            version, build = (files.brief(str(head[key]), 64) for key in ("incast", "engine"))
            raise FolderError(
                f"the runs in {self.folder} were made by another build of the engine (incast {version}, "
                f"build {build}; this is {_core.__version__}, build {engine_digest()}): "
                "runs of both do not mix; make a new store, or use --rebuild to repeat the study's runs in this one"
            )
        write_whole(self.folder / STORE_FILE, _head_text())

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Lock the store against other writers; raises ``FolderError`` if it is locked."""
        with alone_in(self.folder):
            yield

    def in_words_of_user(self, message: str) -> str:
        """Replace names of copies in a message by those of the original files."""
        # full paths first: they end with the other names
        for copy in sorted(self.originals, key=lambda one: (not one.startswith("/"), -len(one))):
            message = message.replace(copy, self.originals[copy])
        return re.sub(rf"""[^\s"']*\b{FILES}/[0-9a-f]{{16}}/""", "", message)

    # Reading

    def read(self, name: str, columns: Sequence[str] | None = None) -> pa.Table:
        """Read a Parquet file of the store, and verify its checksum."""
        wanted = None if columns is None else list(columns)
        data = self.checked(name)
        try:
            # one thread: columns are small, and Arrow's threads may still be starting when the program ends
            table = files.read_table(data, wanted, threads=False, checksums=True)
        except (OSError, ValueError) as error:
            raise FolderError(f"{self.folder / name} cannot be read: {files.message_of(error)}") from None
        self._refuse_odd_columns(name, table)
        return table

    def schema(self, name: str) -> pa.Schema:
        """Read the schema of a Parquet file of the store, with the metadata of its columns."""
        try:
            return files.read_schema(self.checked(name))
        except (OSError, ValueError) as error:
            raise FolderError(f"{self.folder / name} cannot be read: {files.message_of(error)}") from None

    def _refuse_odd_columns(self, name: str, table: pa.Table) -> None:
        """Raise ``FolderError`` if a required column has a wrong type."""
        kind, _, rest = name.partition("/")
        if kind == "tables":
            refuse_odd_columns(self.folder / name, rest.partition("/")[0], table)
        _refuse_odd(self.folder / name, table, COLUMNS.get(kind if rest else name, {}), _way_out(name))

    def checked(self, name: str) -> bytes:
        """Read a file of the store; raises ``FolderError`` if its checksum differs."""
        path = self.folder / name
        try:
            data = files.read_bytes(path)
        except FileNotFoundError:
            raise FolderError(f"{self.folder} has no {name}: not a whole store; {_way_out(name)}") from None
        except (OSError, ValueError) as error:
            raise FolderError(f"cannot read {path}: {files.message_of(error)}; {_way_out(name)}") from None
        sums = self.sums()
        if name in sums and hashlib.sha256(data).hexdigest() != sums[name]:
            # Another program may be replacing both: tables have checksums per page then.
            under_way = (self.folder / PENDING).exists() and not name.startswith(FIXED)
            self._sums = None
            data = files.read_bytes(path)
            if not under_way and hashlib.sha256(data).hexdigest() != self.sums().get(name):
                raise FolderError(f"{path} is damaged: its checksum is not the one in {SUMS}; {_way_out(name)}")
        return data

    def sums(self) -> dict[str, str]:
        """Return the checksums by file name."""
        if self._sums is None:
            try:
                lines = files.read_text(self.folder / SUMS, files.MOST_JSON).splitlines()
                if strange := [line for line in lines if not SUM.fullmatch(line)]:
                    raise ValueError(f"{strange[0][:80]!r}: expected a SHA-256, two spaces and the name of a file")
                self._sums = {line[66:]: line[:64] for line in lines}
            except FileNotFoundError:
                done = (self.folder / RUNS).exists() and not (self.folder / PENDING).exists()
                if done and not (self.folder / SUMS).exists():  # nor written meanwhile
                    raise FolderError(f"{self.folder} has no {SUMS}: not a whole store; {_way_out(SUMS)}") from None
                self._sums = {}
            except (OSError, ValueError) as error:
                raise FolderError(
                    f"{self.folder / SUMS} is damaged: {files.message_of(error)}; {_way_out(SUMS)}"
                ) from None
        return self._sums

    def repair_sums(self) -> None:
        """Add checksums of files that ``SHA256SUMS`` lacks.

        Their original bytes are unknown, but pages of tables have their own checksums: a table that fails these counts
        as damaged. Headers of pages have none: a table that reads well but is not what its rows encode to is rewritten.
        """
        try:
            known = self.sums()
        except FolderError:
            known = self._sums = {}
        for name in self.names():
            if name not in known and name.endswith(".parquet"):
                try:
                    encoded = parquet(self.read(name))
                except FolderError:
                    known[name] = NO_DIGEST
                else:
                    # tables of points have lists, whose fields get other names when they are read and written again
                    if not name.startswith("studies/") and (self.folder / name).read_bytes() != encoded:
                        self.put(name, encoded)
        if set(self.names()) - set(known):
            self.put_sums(())

    def damaged(self) -> list[str]:
        """Verify the checksum of every file; return one line per damaged file."""
        lines = [
            f"{name}: its checksum differs" if os.path.lexists(path) else f"{name}: missing"
            for name in self.broken()
            for path in [self.folder / name]
        ]
        strange = sorted(set(self.names()) - set(self.sums()))
        if not (self.folder / PENDING).exists():
            lines += [f"{name}: no checksum" for name in strange]
        return lines

    def broken(self) -> list[str]:
        """Return the names of missing and damaged files."""
        places = ((name, self.folder / name, digest) for name, digest in self.sums().items())
        return [name for name, path, digest in places if not _is_sound(path, digest)]

    def names(self) -> list[str]:
        """Return the names of the result files."""
        found = []
        for place, folders, names in os.walk(self.folder):
            inner = Path(place).relative_to(self.folder)
            if inner == Path():
                folders[:] = [one for one in folders if one not in NO_RESULTS]
                names = [one for one in names if one not in NO_RESULTS]
            found += [(inner / one).as_posix() for one in names if not one.startswith(".")]
        return sorted(found)

    def studies(self) -> list[str]:
        """Return the names of the studies."""
        place = self.folder / "studies"
        return (
            sorted(one.name for one in place.iterdir() if (one / "points.parquet").exists()) if place.exists() else []
        )

    @property
    def runs(self) -> pa.Table:
        """One row per run: study, scenario, arm, controller, varied keys, seed, identity, figures."""
        import pyarrow as pa

        # a link to nowhere is there
        if not os.path.lexists(self.folder / RUNS):
            return pa.table({})
        return self.read(RUNS)

    def __repr__(self) -> str:
        path = self.folder / RUNS
        count = files.read_footer(path).num_rows if path.exists() else 0
        return f"<Store {self.folder}: {count:,} runs of {', '.join(self.studies()) or 'no study'}>"

    def points(self, study: str) -> pa.Table | None:
        """Return one row per point of a study: varied keys, scenario, runs by seed; ``None`` for an unknown study."""
        name = f"studies/{study}/points.parquet"
        return self.read(name) if os.path.lexists(self.folder / name) else None

    def pending(self) -> Pending | None:
        """Return the pending study, if any."""
        path = self.folder / PENDING / "batch.json"
        try:
            head = files.read_json(path)
            return Pending(**head | {"keep": tuple(head["keep"])})
        except FileNotFoundError:
            return None
        except (OSError, ValueError, TypeError, KeyError) as error:
            message = f"{path} is damaged: {files.message_of(error)}"
            raise FolderError(f"{message}; remove {path.parent} to continue without it") from None

    def chunks(self) -> list[str]:
        """Return the names of the chunks, in order."""
        place = self.folder / "chunks"
        found = [path.stem for path in place.glob("*.parquet") if not path.name.startswith(".")]
        return sorted(found, key=lambda name: (len(name), name))

    def known(self) -> set[str]:
        """Return the identities of all runs in the chunks."""
        found: set[str] = set()
        for name in self.chunks():
            found.update(self.read(f"chunks/{name}.parquet", ["run"])["run"].to_pylist())
        return found

    def tables(self) -> list[str]:
        """Return the names of the tables with rows in the store."""
        place = self.folder / "tables"
        return sorted(one.name for one in place.iterdir() if any(one.glob("*.parquet"))) if place.exists() else []

    def table(self, name: str) -> pa.Table:
        """Read a table of all runs: its columns, and ``run``. ``tables`` has the names."""
        import pyarrow as pa

        place = self.folder / "tables" / name
        parts = [self.read(f"tables/{name}/{path.name}") for path in sorted(place.glob("*.parquet"))]
        return pa.concat_tables(parts, promote_options="permissive") if parts else pa.table({})

    def pandas(self) -> pandas.DataFrame:
        """Return the runs as a pandas frame (needs the package ``pandas``)."""
        return self.runs.to_pandas()

    def polars(self) -> polars.DataFrame:
        """Return the runs as a Polars frame (needs the package ``polars``)."""
        import polars

        frame = polars.from_arrow(self.runs)
        assert isinstance(frame, polars.DataFrame)
        return frame

    # Writing

    def put(self, name: str, content: str | bytes) -> None:
        """Write a file of the store atomically, and flush it to disk."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, content)
        sync_folder(path.parent)

    def put_table(self, name: str, rows: pa.Table) -> None:
        """Write a Parquet file of the store."""
        self.put(name, parquet(rows))

    def put_folder(self, name: str, fill: Callable[[Path], None]) -> None:
        """Create a folder of the store atomically."""
        aside = self.folder / f".{name}.partial-{uuid.uuid4().hex[:8]}"
        aside.mkdir()
        try:
            fill(aside)
            aside.rename(self.folder / name)
            sync_folder(self.folder)
        except BaseException as error:
            shutil.rmtree(aside, ignore_errors=True)
            name_written(error, aside, self.folder / name)
            raise

    def drop_folder(self, name: str) -> None:
        """Remove a folder of the store atomically."""
        path = self.folder / name
        if path.exists():
            aside = self.folder / f".{name}.partial-{uuid.uuid4().hex[:8]}"
            path.rename(aside)
            sync_folder(self.folder)
            shutil.rmtree(aside)

    def put_sums(self, changed: tuple[str, ...]) -> None:
        """Write the checksums; existing ones stay, except of names that begin with one of ``changed``.

        So damage in another file stays visible.
        """
        known = {name: digest for name, digest in self.sums().items() if not name.startswith(changed)}
        sums = {name: known.get(name) or _digest(self.folder / name) for name in self.names()}
        self.put(SUMS, "".join(f"{digest}  {name}\n" for name, digest in sums.items()))
        self._sums = sums


def read_copies(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Yield all files of a store's folder that are to be sent elsewhere: relative names, and bytes.

    Links are refused with ``FolderError``: in a store from somebody else they could lead to files of this machine.
    """
    for path in [folder, *sorted(folder.rglob("*"))]:
        try:
            if path.is_symlink():
                raise ValueError("is a link; expected a copy of a file")
            if path.is_dir() or path == folder:
                continue
            yield path.relative_to(folder).as_posix(), files.read_bytes(path)
        except (OSError, ValueError) as error:
            raise FolderError(f"{path} cannot be read: {files.message_of(error)}") from None


def store_of(folder: Path) -> Path:
    """Return the store named by a report's folder; other folders unchanged."""
    named = _named_in(folder, "store")
    return folder if named is None else Path(os.path.normpath(folder / named))


def study_of(folder: Path) -> str | None:
    """Return the study that a report's folder names in its store; ``None`` for another folder."""
    return _named_in(folder, "study")


def _named_in(folder: Path, entry: str) -> str | None:
    for file in () if (folder / STORE_FILE).exists() else REPORTS:
        try:
            named = files.read_json(folder / file)[entry]
        except (OSError, ValueError, KeyError, TypeError):
            continue
        if isinstance(named, str):
            return named
    return None


def refuse_odd_points(path: Path, points: pa.Table, way_out: str) -> None:
    """Raise ``FolderError`` if a required column of a study's points is missing or has a wrong type."""
    if lacking := sorted({*COLUMNS["studies"]} - {*points.column_names}):
        raise FolderError(f"{path} is damaged: it has no column {', '.join(lacking)}; {way_out}")
    _refuse_odd(path, points, COLUMNS["studies"], way_out)


def _refuse_odd(path: Path, table: pa.Table, known: Mapping[str, Kind], way_out: str) -> None:
    for column, (is_it, words) in known.items():
        values: Any = table[column] if column in table.column_names else ()
        if len(values) and (values.null_count or not is_it(values.type)):
            message = f"column {column} is of type {values.type}, with {values.null_count} missing values"
            raise FolderError(f"{path} is damaged: {message}; expected {words}; {way_out}")


def _way_out(name: str) -> str:
    """Return the remedy for a damaged file of a store."""
    if name.startswith("files/"):
        return "restore the file that it is a copy of"
    return "repeat the command that made it with --rebuild"


def parquet(rows: pa.Table) -> bytes:
    """Return a table as the bytes of a Parquet file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    sink = pa.BufferOutputStream()
    # figures rarely repeat: only texts are worth a dictionary
    words = [field.name for field in rows.schema if not pa.types.is_floating(field.type)]
    pq.write_table(rows, sink, compression="zstd", write_page_checksum=True, use_dictionary=words)
    data: bytes = sink.getvalue().to_pybytes()
    return data


def _head_text() -> str:
    head = {"format": STORE_FORMAT, "incast": _core.__version__, "engine": engine_digest()}
    return json.dumps(head, indent=2) + "\n"


def _is_sound(path: Path, digest: str) -> bool:
    try:
        return path.is_file() and files.digest_of(path) == digest
    except ValueError:
        return False
    except OSError as error:
        raise FolderError(f"cannot read {path}: {files.message_of(error)}") from None


def _digest(path: Path) -> str:
    try:
        return files.digest_of(path)
    except (OSError, ValueError) as error:
        raise FolderError(f"cannot read {path}: {files.message_of(error)}") from None


def column(values: Iterable[Any]) -> pa.Array:
    """Make a column of numbers, or of texts if a value is not a number; numeric without values."""
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
    """Make the columns of rows, in the order of first appearance."""
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: column([row.get(name) for row in rows]) for name in names}
