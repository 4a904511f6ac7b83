"""SQL over a store or one of its studies: DuckDB with one view for the runs and one per table.

A query only reads the store unless the user allows more: it may be copied from a page or a mail.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from incast.batch.store import RUNS, Store
from incast.errors import FolderError, StudyError
from incast.runs import sql as sql_
from incast.runs.run_folder import TABLES
from incast.study.companions import known, shown
from incast.study.runs_table import HEAD
from incast.system import files

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa


def connect(store: Store, *, study: str | None = None, allow_files: bool = False) -> Any:
    """Open a DuckDB connection with the store's views: ``runs``, ``points``, and ``flows``, ``ports`` ... by ``run``.

    ``points`` has a row for each point and seed; ``runs`` has each run of an arm once. The views have the rows of one
    study, or of all studies without their companions. Without ``allow_files`` the connection only accesses files of the
    store, and loads no extensions. It could write within the store's folder; ``query`` refuses that.

    Raises ``StudyError`` if DuckDB is not installed or for an unknown study, ``FolderError`` if the store holds no
    runs.
    """
    try:
        import duckdb
    except ImportError:
        raise StudyError('queries need DuckDB: install it with pip install "incast[query]"') from None
    if not (store.folder / RUNS).exists():
        raise FolderError(f"{store.folder} holds no runs yet: expected a store with a finished study")
    store.checked(RUNS)
    of = [known(store, study)] if study is not None else shown(store)
    views = {"points": [store.folder / RUNS], "costs": sorted((store.folder / "log").glob("*.parquet"))}
    # a store from somebody else may have tables of any name, such as runs
    views |= {name: sorted((store.folder / "tables" / name).glob("*.parquet")) for name in TABLES}
    connection, path = duckdb.connect(), store.folder
    own = f"study IN ({', '.join(map(sql_.text, of))})" if of else "false"
    try:
        sql_.lock(connection, store.folder, allow_files=allow_files)
        for name, paths in views.items():
            for path in paths:
                files.read_footer(path)  # DuckDB would wait for the writer of a pipe
                store.checked(path.relative_to(store.folder).as_posix())
            parts = ", ".join(sql_.text(str(one.resolve())) for one in paths)
            rows = own if name == "points" else "run IN (SELECT run FROM points)"
            if paths:
                read = f"read_parquet([{parts}], union_by_name = true)"
                connection.execute(f"CREATE VIEW {name} AS SELECT * FROM {read} WHERE {rows}")
        connection.execute(f"CREATE VIEW runs AS SELECT {_each_once(store)}")
    except (OSError, ValueError, duckdb.Error) as error:
        connection.close()
        message = files.message_of(error)
        raise FolderError(
            f"{path} cannot be read: {message}; incast study status --check lists damaged files"
        ) from None
    return connection


def _each_once(store: Store) -> str:
    """Return what the view of runs selects: points of an arm that share a run are one row.

    A key that differs among them has no effect on the run, and is null.
    """
    columns = store.schema(RUNS).names
    keys = [name for name in columns[: columns.index("seed")] if name not in HEAD]
    places = store.read(RUNS, ["study", "scenario", "arm", "run"])
    if places.group_by(places.column_names).aggregate([]).num_rows == places.num_rows:
        return "* FROM points"
    own = "OVER (PARTITION BY study, scenario, arm, run)"
    names = ['"' + key.replace('"', '""') + '"' for key in keys]
    alike = [f"CASE WHEN min({key}) {own} = max({key}) {own} THEN {key} END AS {key}" for key in names]
    return f"* REPLACE ({', '.join(alike)}) FROM points QUALIFY row_number() {own} = 1"


def query(store: Store, sql: str, *, study: str | None = None, allow_files: bool = False) -> pa.Table:
    """Run a query over a study, or all studies, and return an Arrow table. Raises ``StudyError`` with DuckDB's message.

    Only the store is read. With ``allow_files`` the query may do all that DuckDB can: read and write files, load
    extensions, change settings.
    """
    connection = connect(store, study=study, allow_files=allow_files)
    import duckdb

    try:
        if not allow_files:
            _refuse_writes(connection.extract_statements(sql))
        rows = sql_.answer(connection, sql)
    except duckdb.PermissionException as error:
        raise StudyError(f"query: {error}; {BEYOND}") from None
    except (duckdb.Error, ValueError) as error:
        raise StudyError(f"query: {str(error).strip()}") from None
    finally:
        connection.close()
    if rows is None:
        raise StudyError("query: returns no rows: expected a SELECT")
    return rows


COMMENTS = re.compile(r"\A(?:\s|--[^\n]*(?:\n|\Z)|/\*(?:(?!/\*).)*?\*/)+", re.DOTALL)
"""Comments before a statement; nested comments are not recognised."""
BEYOND = "a query only reads the store; --allow-files (in Python allow_files=True) lifts this limit"


def _refuse_writes(statements: Sequence[Any]) -> None:
    """Raise ``StudyError`` for statements other than queries: they could write into the store's folder."""
    for statement in statements:
        kind, asked = statement.type.name, COMMENTS.sub("", statement.query).strip()
        # DuckDB splits a PIVOT into several statements, which may be part of a COPY; EXPLAIN ANALYZE executes
        is_question = (
            kind == "SELECT"
            or (kind == "MULTI" and re.match(r"(?:WITH|PIVOT|FROM|SELECT)\b", asked, re.IGNORECASE))
            or (kind == "EXPLAIN" and not re.search(r"\bCOPY\b|\bEXPORT\b", asked, re.IGNORECASE))
        )
        if not is_question:
            raise StudyError(f"query: {(asked or kind).split(maxsplit=1)[0].upper()}: expected a SELECT; {BEYOND}")
