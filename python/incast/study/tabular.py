"""Tables of a store for other programs: CSV, JSON, Parquet."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from incast.batch.store import Store, parquet
from incast.errors import FolderError, StudyError
from incast.study.companions import known as known_study
from incast.study.companions import shown
from incast.system.folders import is_stream, write_named
from incast.system.output import nearest

if TYPE_CHECKING:
    import pyarrow as pa

FORMATS = (".csv", ".json", ".parquet")


def rows(store: Store, table: str, study: str | None) -> pa.Table:
    """Return the rows of ``runs`` or of a table of runs: of one study, or of all without their companions."""
    import pyarrow as pa
    import pyarrow.compute as pc

    known = ["runs", *store.tables()]
    if table not in known:
        raise StudyError(f"table {table}: expected one of {', '.join(known)}{nearest(table, known)}")
    runs = store.runs
    wanted = shown(store) if study is None else [known_study(store, study)]
    if wanted != store.studies():
        runs = runs.filter(pc.is_in(runs["study"], value_set=pa.array(wanted, pa.string())))
    if table == "runs":
        return runs
    found = store.table(table)
    return found.filter(pc.is_in(found["run"], value_set=runs["run"].combine_chunks()))


def write(found: pa.Table, path: Path) -> None:
    """Write a table to a file, in the format of its extension; raises ``FolderError`` if the file exists.

    A pipe or a device, such as ``/dev/stdout``, takes CSV if it has no such extension.
    """
    kind = path.suffix if path.suffix in FORMATS or not is_stream(path) else ".csv"
    if kind not in FORMATS:
        raise StudyError(f"{path}: expected a file that ends in {', '.join(FORMATS)}")
    if path.exists() and not is_stream(path):
        raise FolderError(f"{path} exists: give another --out, or remove it first (results are never overwritten)")
    forms: dict[str, Callable[[pa.Table], str | bytes]] = {".csv": as_csv, ".json": as_json, ".parquet": parquet}
    data = forms[kind](found)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_named(path, data)
    except OSError as error:
        raise FolderError(f"cannot write {path}: {error.strerror}") from None


def as_csv(found: pa.Table) -> str:
    """Write a table as CSV with a header line."""
    import pyarrow.csv

    sink = io.BytesIO()
    pyarrow.csv.write_csv(found, sink)
    return sink.getvalue().decode()


def as_json(found: pa.Table) -> str:
    """Write a table as a JSON list with one object per row."""

    def plain(value: object) -> object:
        if isinstance(value, float) and not math.isfinite(value):
            return None
        return value if value is None or isinstance(value, (str, int, float, bool, list, dict)) else str(value)

    listed = [{key: plain(value) for key, value in row.items()} for row in found.to_pylist()]
    return json.dumps(listed, indent=1) + "\n"
