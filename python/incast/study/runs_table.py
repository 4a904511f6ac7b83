"""Table of all runs of a store: the points of its studies, joined with the figures of the runs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from incast.batch.store import Store, column, columns_of
from incast.runs import soundness
from incast.study import axes, inputs

if TYPE_CHECKING:
    import pyarrow as pa

POINTS = ("scenario", "arm", "values", "settings", "controller", "layer", "hash", "name", "toml", "seeds", "runs")
"""Columns of the points of a study."""


HEAD = ("study", "scenario", "arm", "controller")
"""Columns of the table of all runs that are not keys of a scenario."""


def _with_numbers(heads: Sequence[Mapping[str, Any]]) -> tuple[dict[str, pa.Array], dict[str, tuple[str, str]]]:
    """Make the columns of the points, each text with units followed by a numeric column; return units and definitions.

    A scenario key with the name of such a numeric column takes precedence.
    """
    columns: dict[str, pa.Array] = {}
    meanings: dict[str, tuple[str, str]] = {}
    given = columns_of(heads)
    for name, values in given.items():
        columns[name] = values
        found = {} if name in HEAD else axes.numbers(name, values.to_pylist())
        for beside, own in found.items():
            if beside not in given:
                columns[beside] = column(own)
                unit = beside.removeprefix(f"{name}_")
                meanings[beside] = axes.SHOWN[unit], f"{name} as a number."
    return columns, meanings


def runs_table(store: Store) -> pa.Table:
    """Join the rows of all studies with the figures of their runs."""
    import numpy as np
    import pyarrow as pa

    parts = [store.read(f"chunks/{name}.parquet") for name in store.chunks()]
    figures = (
        pa.concat_tables(parts, promote_options="permissive") if parts else pa.table({"run": pa.array([], "string")})
    )
    place = {run: i for i, run in enumerate(figures["run"].to_pylist())}
    heads: list[dict[str, Any]] = []
    counts: list[int] = []
    seeds: list[int] = []
    runs: list[str] = []
    for study in store.studies():
        table = store.read(f"studies/{study}/points.parquet", [name for name in POINTS if name != "toml"])
        columns = [table[name].to_pylist() for name in ("scenario", "arm", "controller", "settings", "values")]
        for scenario, arm, controller, settings, values in zip(*columns, strict=True):
            head = {"study": study, "scenario": scenario, "arm": arm, "controller": controller}
            keys = json.loads(settings) | json.loads(values)
            heads.append(head | {key: inputs.spoken(value) for key, value in keys.items() if key not in head})
        counts += [len(own) for own in table["seeds"].to_pylist()]
        seeds += [seed for own in table["seeds"].to_pylist() for seed in own]
        runs += [run for own in table["runs"].to_pylist() for run in own]
    each = np.repeat(np.arange(len(heads)), counts)
    if not place.keys() >= set(runs):  # runs of another build of the engine in a damaged chunk
        there = [i for i, run in enumerate(runs) if run in place]
        each, seeds, runs = each[there], [seeds[i] for i in there], [runs[i] for i in there]
    values_by_name, numbers = _with_numbers(heads)
    columns_: dict[str, Any] = {name: values.take(pa.array(each)) for name, values in values_by_name.items()}
    columns_["seed"] = pa.array(seeds, pa.int64())
    columns_["run"] = pa.array(runs, pa.string())
    rows = pa.array([place[run] for run in runs], pa.int64())
    units = {**inputs.definitions(), soundness.COLUMN: ("", soundness.DEFINITION)}
    meanings = {name: {"unit": unit, "definition": meaning} for name, (unit, meaning) in numbers.items()}
    fields = [pa.field(name, values.type, metadata=meanings.get(name)) for name, values in columns_.items()]
    for name in figures.column_names:
        if name in columns_:
            continue
        values = figures[name].combine_chunks().take(rows)
        if pa.types.is_null(values.type):
            values = values.cast(pa.float64())
        columns_[name] = values
        unit, definition = units.get(name) or units.get(".".join(name.split(".")[2:])) or ("", "")
        fields.append(pa.field(name, values.type, metadata={"unit": unit, "definition": definition}))
    return pa.Table.from_arrays(list(columns_.values()), schema=pa.schema(fields))
