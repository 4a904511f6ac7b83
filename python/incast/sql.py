"""Queries by DuckDB that reach what they are given, and no more of the machine.

DuckDB by itself reads and writes any file that its user may, and loads extensions, which are programs. It also lays
aside on the disk what does not fit memory, and gives an answer of any size.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incast.memory import free_memory, spoken

if TYPE_CHECKING:
    import pyarrow as pa

SHARE = 0.8
"""Part of the free memory that a query may take, and then its answer."""
ROWS = 10_000
"""Rows of an answer that are read at once."""


def lock(connection: Any, folder: Path | None = None, *, allow_files: bool = False) -> None:
    """Bound the memory of a connection; unless ``allow_files`` it reaches no files but those of ``folder``.

    It loads no extensions then, lays nothing aside on the disk, and its settings stay.
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
    """Answer a query; nothing where it gives no rows.

    Raises ``ValueError`` where the answer has more bytes than there is memory for, or breaks off, and
    ``duckdb.Error``.
    """
    import pyarrow as pa

    found = connection.sql(query)
    if found is None:
        return None
    most = SHARE * free_memory()
    # the older name until DuckDB 1.4
    reader = found.to_arrow_reader(ROWS) if hasattr(found, "to_arrow_reader") else found.fetch_arrow_reader(ROWS)
    batches, size = [], 0
    try:
        for batch in reader:
            size += batch.nbytes
            if size > most:
                raise ValueError(f"the answer has more than {spoken(most)}, for which memory has room: ask for less")
            batches.append(batch)
    except (OSError, pa.ArrowException) as error:
        raise ValueError(str(error).strip()) from None
    return pa.Table.from_batches(batches, reader.schema)


def text(value: str) -> str:
    """Quote a text for SQL."""
    quoted = value.replace("'", "''")
    return f"'{quoted}'"
