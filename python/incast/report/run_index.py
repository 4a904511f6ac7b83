"""Table of the runs of a report: parameters of each run, and its name in the store."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from incast.batch.record import run_id
from incast.comparisons.coexistence import Pairs
from incast.comparisons.comparison import Comparison
from incast.comparisons.report_folder import POINTS_FILE, Home
from incast.system import files

RUNS = "runs.csv"


def csv_of(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Write a table as CSV."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([head, *rows])
    return text.getvalue()


def of_comparison(comparison: Comparison) -> str:
    """Write one row per run: scenario, controller, value of the key, seed, and the run's name in the store."""
    study = comparison.study
    names = dict(zip(study.scenarios, study.scenario_names(), strict=True))
    rows = []
    for case, run in comparison.runs.items():
        made = run_id(run.manifest["hash"], case.seed, run.manifest["engine"])
        rows.append([names[case.scenario], case.controller.text, case.value, case.seed, made])
    return csv_of(["scenario", "controller", study.key, "seed", "run"], rows)


def of_pairs(pairs: Pairs, home: Home) -> str:
    """Write one row per run: both controllers, seed, and the run's name in the store."""
    points = files.read_table(home.folder / POINTS_FILE).select(["scenario", "arm", "values", "seeds", "runs"])
    there = {
        (row["scenario"], row["arm"], row["values"], seed): run
        for row in points.to_pylist()
        for seed, run in zip(row["seeds"], row["runs"], strict=True)
    }
    rows = [[*case.texts, case.seed, there[pairs.place(case)]] for case in pairs.cases()]
    return csv_of(["controller", "beside", "seed", "run"], rows)
