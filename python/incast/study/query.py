"""SQL over a store: DuckDB with a view for the runs and one for each table that the store has.

DuckDB by itself reads and writes any file that its user may, and loads extensions, which are programs. Here it reads
the store alone unless the user asks for more: a query may come from a page or a mail.
"""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incast import files
from incast.errors import FolderError, StudyError
from incast.memory import free_memory
from incast.study.store import RUNS, Store

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

SHARE = 0.8
"""Part of the free memory that a query may take."""


def connect(store: Store, *, allow_files: bool = False) -> Any:
    """Open a DuckDB connection with the store's views: ``runs``, and ``flows``, ``ports`` ... with a column ``run``.

    It reaches no files but the store's, and loads no extensions, unless ``allow_files``. Within the store's folder it
    may write too, if it is told to: ``query`` refuses that.

    Raises ``StudyError`` where DuckDB is not installed, ``FolderError`` where the store holds no runs.
    """
    try:
        import duckdb
    except ImportError:
        raise StudyError('queries need DuckDB: install it with pip install "incast[query]"') from None
    if not (store.folder / RUNS).exists():
        raise FolderError(f"{store.folder} holds no runs yet: expected a store with a finished study")
    store.checked(RUNS)
    views = {"runs": [store.folder / RUNS], "costs": sorted((store.folder / "log").glob("*.parquet"))}
    views |= {name: sorted((store.folder / "tables" / name).glob("*.parquet")) for name in store.tables()}
    connection = duckdb.connect()
    try:
        if (free := free_memory()) < math.inf:
            connection.execute(f"SET memory_limit = '{int(free * SHARE)}B'")
        if not allow_files:
            connection.execute(f"SET allowed_directories = [{_text(store.folder, '/')}]")
            connection.execute("SET enable_external_access = false")
            connection.execute("SET lock_configuration = true")
        for name, paths in views.items():
            for path in paths:
                files.read_footer(path)  # of a pipe DuckDB would wait for who writes to it
            parts = ", ".join(map(_text, paths))
            connection.execute(
                f"CREATE VIEW {_quoted(name)} AS SELECT * FROM read_parquet([{parts}], union_by_name = true)"
            )
    except (OSError, ValueError, duckdb.Error) as error:
        connection.close()
        told = files.told(error)
        raise FolderError(f"{path} cannot be read: {told}; incast study status --check says what is damaged") from None
    return connection


def query(store: Store, sql: str, *, allow_files: bool = False) -> pa.Table:
    """Answer a query as an Arrow table. Raises ``StudyError`` with DuckDB's words where it cannot.

    It only reads, and only the store. With ``allow_files`` it may do what DuckDB can: read and write files, load
    extensions, change settings.
    """
    connection = connect(store, allow_files=allow_files)
    import duckdb

    try:
        if not allow_files:
            _refuse_writes(connection.extract_statements(sql))
        answer = connection.sql(sql)
        rows: pa.Table | None = None if answer is None else answer.to_arrow_table()
    except duckdb.PermissionException as error:
        raise StudyError(f"query: {error}; {BEYOND}") from None
    except duckdb.Error as error:
        raise StudyError(f"query: {str(error).strip()}") from None
    finally:
        connection.close()
    if rows is None:
        raise StudyError("query: gives no rows: expected a SELECT")
    return rows


def _quoted(name: str) -> str:
    """Write the name of a view, which a folder of the store has."""
    inner = name.replace('"', '""')
    return f'"{inner}"'


COMMENTS = re.compile(r"\A(?:\s|--[^\n]*(?:\n|\Z)|/\*(?:(?!/\*).)*?\*/)+", re.DOTALL)
"""Comments before a statement; not one in another, of which it is not told here where it ends."""
BEYOND = "a query reads the store alone unless --allow-files (in Python allow_files=True) gives it other files too"


def _refuse_writes(statements: Sequence[Any]) -> None:
    """Raise ``StudyError`` for what is no question: of the store's folder too nothing is written."""
    for statement in statements:
        kind, sql = statement.type.name, COMMENTS.sub("", statement.query).strip()
        # what DuckDB takes apart into several, a PIVOT, may be the source of a COPY; EXPLAIN ANALYZE carries out
        is_question = (
            kind == "SELECT"
            or (kind == "MULTI" and re.match(r"(?:WITH|PIVOT|FROM|SELECT)\b", sql, re.IGNORECASE))
            or (kind == "EXPLAIN" and not re.search(r"\bCOPY\b|\bEXPORT\b", sql, re.IGNORECASE))
        )
        if not is_question:
            raise StudyError(f"query: {(sql or kind).split(maxsplit=1)[0].upper()}: expected a SELECT; {BEYOND}")


def _text(path: Path, end: str = "") -> str:
    quoted = f"{path.resolve()}{end}".replace("'", "''")
    return f"'{quoted}'"
