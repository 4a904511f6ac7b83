"""SQL over a store: DuckDB with a view for the runs and one for each table that the store has."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from incast.errors import FolderError, StudyError
from incast.study.store import RUNS, Store

if TYPE_CHECKING:
    import pyarrow as pa


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
    connection = duckdb.connect()
    connection.execute(f"CREATE VIEW runs AS SELECT * FROM read_parquet({_text(store.folder / RUNS)})")
    connection.execute(f"CREATE VIEW costs AS SELECT * FROM read_parquet({_text(store.folder / 'log' / '*.parquet')})")
    for name in store.tables():
        parts = _text(store.folder / "tables" / name / "*.parquet")
        connection.execute(f"CREATE VIEW {name} AS SELECT * FROM read_parquet({parts}, union_by_name = true)")
    return connection


def query(store: Store, sql: str) -> pa.Table:
    """Answer a query as an Arrow table. Raises ``StudyError`` with DuckDB's words where it cannot."""
    connection = connect(store)
    import duckdb

    try:
        answer = connection.sql(sql)
        rows: pa.Table | None = None if answer is None else answer.to_arrow_table()
    except duckdb.Error as error:
        raise StudyError(f"query: {error}") from None
    finally:
        connection.close()
    if rows is None:
        raise StudyError("query: gives no rows: expected a SELECT")
    return rows


def _text(path: Path) -> str:
    quoted = str(path.resolve()).replace("'", "''")
    return f"'{quoted}'"
