"""The table of the runs beside a report: which run is of what, and where it lies."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from incast.comparison import Comparison
from incast.study.record import run_id

RUNS = "runs.csv"


def csv_of(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Write a table as CSV."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([head, *rows])
    return text.getvalue()


def of_comparison(comparison: Comparison) -> str:
    """Write a row a run: scenario, controller, value of the key, seed, and the run's name in the store."""
    study = comparison.study
    names = dict(zip(study.scenarios, study.scenario_names(), strict=True))
    rows = []
    for case, run in comparison.runs.items():
        made = run_id(run.manifest["hash"], case.seed, run.manifest["engine"])
        rows.append([names[case.scenario], case.controller.text, case.value, case.seed, made])
    return csv_of(["scenario", "controller", study.key, "seed", "run"], rows)
