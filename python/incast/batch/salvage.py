"""Salvage of a damaged chunk: what can still be read of runs that no study can repeat."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from incast.batch.journal import Journal, packed
from incast.batch.record import stream
from incast.batch.store import Store, parquet
from incast.errors import FolderError
from incast.system import files
from incast.system.output import counted

if TYPE_CHECKING:
    import pyarrow as pa

NO_COST = {"cpu_s": 0.0, "wall_s": 0.0, "peak_rss_bytes": 0.0, "threads": 0.0}
"""Cost of a run whose log is lost."""
NAMED = 10
"""Most runs that a message names."""


def whole(store: Store, name: str) -> pa.Table | None:
    """Read a table of the store; ``None`` if it is missing or damaged.

    A file whose rows encode to its checksum is whole: the damage is beside them, in a header.
    """
    try:
        return store.read(name)
    except FolderError:
        pass
    try:
        rows = files.read_table(files.read_bytes(store.folder / name), None, threads=False, checksums=True)
    except (OSError, ValueError):
        return None
    return rows if hashlib.sha256(parquet(rows)).hexdigest() == store.sums().get(name) else None


def runs_in(store: Store, name: str) -> list[str]:
    """Return the runs of a chunk, from its figures or its log; empty if neither can be read."""
    tables = (whole(store, f"{folder}/{name}.parquet") for folder in ("chunks", "log"))
    rows = next((one for one in tables if one is not None), None)
    found: list[str] = [] if rows is None else rows["run"].to_pylist()
    return found


def unlisted(name: str) -> str:
    """Return the line on a chunk whose runs cannot be listed."""
    both = f"chunks/{name}.parquet and log/{name}.parquet"
    return f"neither of {both} can be read: runs there that no study can repeat are lost, and nothing lists them"


def salvaged(
    store: Store, name: str, runs: Sequence[str], tables: Sequence[str]
) -> tuple[dict[str, tuple[Journal, int]], list[str]]:
    """Write the readable ones of some runs of a chunk into a journal; return their places, and a line per loss.

    A run stays if its figures can be read; tables that cannot are lost.
    """
    if not runs:
        return {}, []
    who = f"{counted(len(runs), 'run')} that no study can repeat ({_listed(runs)})"
    figures = whole(store, f"chunks/{name}.parquet")
    if figures is None:
        return {}, [f"chunks/{name}.parquet cannot be read: it had {who}, now lost"]
    lost = []
    costs = whole(store, f"log/{name}.parquet")
    if costs is None:
        lost.append(f"log/{name}.parquet cannot be read: the cost of {who} is lost, and counts as 0")
    parts = {table: whole(store, f"tables/{table}/{name}.parquet") for table in tables}
    lost += [
        f"tables/{table}/{name}.parquet cannot be read: its rows of {who} are lost, their figures are kept"
        for table, rows in parts.items()
        if rows is None
    ]
    figures_of, cost_of = _by_run(figures), {} if costs is None else _by_run(costs)
    rows_of = {table: _rows_of(rows) for table, rows in parts.items() if rows is not None}
    journal = Journal(store.folder / "journal" / f"salvaged-{name}.bin")
    made = {}
    for run in runs:
        streams = {table: stream(rows[run]) for table, rows in rows_of.items() if run in rows}
        made[run] = journal, journal.append(packed(run, figures_of[run], cost_of.get(run, NO_COST), streams))
    journal.close()
    return made, lost


def _listed(runs: Sequence[str]) -> str:
    return ", ".join(runs[:NAMED]) + ", ..." * (len(runs) > NAMED)


def _by_run(rows: pa.Table) -> dict[str, dict[str, Any]]:
    return {row.pop("run"): row for row in rows.to_pylist()}


def _rows_of(rows: pa.Table) -> dict[str, pa.Table]:
    """Split a table by run; the rows of a run are consecutive."""
    import numpy as np

    runs = rows["run"].combine_chunks().dictionary_encode()
    codes = runs.indices.to_numpy()
    begins = np.flatnonzero(np.diff(codes, prepend=-1)).tolist()
    names, own = runs.dictionary.to_pylist(), rows.drop_columns("run").combine_chunks()
    ends = [*begins[1:], len(codes)]
    return {names[codes[begin]]: own.slice(begin, end - begin) for begin, end in zip(begins, ends, strict=True)}
