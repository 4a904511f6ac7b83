"""Table of the runs of a report: parameters of each run, and its name in the store."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from incast.comparisons.declaration import ComparisonStudy
from incast.comparisons.report_folder import POINTS_FILE, Home
from incast.system import files

RUNS = "runs.csv"


def csv_of(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Write a table as CSV."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([head, *rows])
    return text.getvalue()


def of(study: ComparisonStudy, home: Home) -> str:
    """Write one row per run: what it is of, its seed, and its name in the store."""
    points = files.read_table(home.folder / POINTS_FILE).select(["scenario", "arm", "values", "seeds", "runs"])
    there = {
        (row["scenario"], row["arm"], row["values"], seed): run
        for row in points.to_pylist()
        for seed, run in zip(row["seeds"], row["runs"], strict=True)
    }
    cases = list(study.cases())
    head = [*study.columns(cases[0]), "seed", "run"]
    return csv_of(head, ([*study.columns(case).values(), case.seed, there[study.place(case)]] for case in cases))
