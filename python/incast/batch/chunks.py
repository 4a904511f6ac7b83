"""Chunks of a store: figures, costs and tables of finished runs, from their journals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from incast.batch.journal import Journal
from incast.batch.store import Store, columns_of

if TYPE_CHECKING:
    import pyarrow as pa


def write_chunk(store: Store, name: str, runs: Sequence[str], made: Mapping[str, tuple[Journal, int]]) -> None:
    """Write a chunk: its tables first, so that an existing chunk is complete."""
    import pyarrow as pa

    figures: list[dict[str, Any]] = []
    costs: list[dict[str, Any]] = []
    tables: dict[str, list[tuple[str, pa.Table]]] = {}
    for run in runs:
        journal, place = made[run]
        record = journal.read(place)
        figures.append({"run": run, **record.figures})
        costs.append({"run": run, **record.cost})
        for table in record.tables:
            tables.setdefault(table, []).append((run, record.table(table)))
    for table, parts in sorted(tables.items()):
        store.put_table(f"tables/{table}/{name}.parquet", _stacked(parts))
    store.put_table(f"log/{name}.parquet", pa.table(columns_of(costs)))
    store.put_table(f"chunks/{name}.parquet", pa.table(columns_of(figures)))


def _stacked(parts: Sequence[tuple[str, pa.Table]]) -> pa.Table:
    """Concatenate a table of several runs, with the runs' identities as first column, and decoded texts."""
    import numpy as np
    import pyarrow as pa

    rows = pa.concat_tables([_decoded(table) for _, table in parts], promote_options="permissive")
    counts = [table.num_rows for _, table in parts]
    runs = pa.array([run for run, _ in parts], pa.string()).take(pa.array(np.repeat(np.arange(len(parts)), counts)))
    fields = [pa.field("run", pa.string(), metadata={"unit": "-", "definition": "Identity of the run."})]
    return pa.Table.from_arrays([runs, *rows.columns], schema=pa.schema([*fields, *rows.schema]))


def _decoded(table: pa.Table) -> pa.Table:
    """Write codes out as texts, which salvaged tables have."""
    import pyarrow as pa

    types = [one.value_type if pa.types.is_dictionary(one) else one for one in table.schema.types]
    return table.cast(pa.schema([field.with_type(kind) for field, kind in zip(table.schema, types, strict=True)]))
