"""Sandboxed DuckDB queries.

DuckDB by default reads and writes any file of its user, and loads extensions, which are programs. It also spills to
disk what does not fit memory, and returns answers of any size.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incast.system.memory import free_memory, spoken

if TYPE_CHECKING:
    import pyarrow as pa

SHARE = 0.8
"""Fraction of the free memory that a query may take, and then its answer."""
ROWS = 10_000
"""Rows of an answer per batch."""


def lock(connection: Any, folder: Path | None = None, *, allow_files: bool = False) -> None:
    """Limit the memory of a connection; without ``allow_files`` it can only access files of ``folder``.

    Then it also loads no extensions, spills nothing to disk, and its settings are locked.
    """
    if (free := free_memory()) < math.inf:
        connection.execute(f"SET memory_limit = '{int(free * SHARE)}B'")
    if allow_files:
        return
    connection.execute("SET temp_directory = ''")
    if folder is not None:
        connection.execute(f"SET allowed_directories = [{text(f'{folder.resolve()}/')}]")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")


def answer(connection: Any, query: str) -> pa.Table | None:
    """Run a query; ``None`` if it returns no rows.

    Raises ``ValueError`` if the answer exceeds memory or breaks off, and ``duckdb.Error``.
    """
    import pyarrow as pa

    found = connection.sql(query)
    if found is None:
        return None
    most = SHARE * free_memory()
    # older name, until DuckDB 1.4
    reader = found.to_arrow_reader(ROWS) if hasattr(found, "to_arrow_reader") else found.fetch_arrow_reader(ROWS)
    batches, size = [], 0
    try:
        for batch in reader:
            size += batch.nbytes
            if size > most:
                raise ValueError(f"the answer exceeds {spoken(most)}, the memory available: select less")
            batches.append(batch)
    except (OSError, pa.ArrowException) as error:
        raise ValueError(str(error).strip()) from None
    return pa.Table.from_batches(batches, reader.schema)


def text(value: str) -> str:
    """Quote a text for SQL."""
    quoted = value.replace("'", "''")
    return f"'{quoted}'"
