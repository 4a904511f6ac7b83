"""SQL over a store: DuckDB with a view for the runs and one for each table that the store has."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incast import files
from incast.errors import FolderError, StudyError
from incast.memory import free_memory
from incast.study.store import RUNS, Store

if TYPE_CHECKING:
    import pyarrow as pa

SHARE = 0.8
"""Part of the free memory that a query may take."""


def connect(store: Store) -> Any:
    """Open a DuckDB connection with the store's views: ``runs``, and ``flows``, ``ports`` ... with a column ``run``.

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


def query(store: Store, sql: str) -> pa.Table:
    """Answer a query as an Arrow table. Raises ``StudyError`` with DuckDB's words where it cannot."""
    connection = connect(store)
    import duckdb

    try:
        answer = connection.sql(sql)
        rows: pa.Table | None = None if answer is None else answer.to_arrow_table()
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


def _text(path: Path) -> str:
    quoted = str(path.resolve()).replace("'", "''")
    return f"'{quoted}'"
