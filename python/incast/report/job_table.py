"""Tables of the jobs of a run on a terminal: iterations, and the ranks that end them."""

from __future__ import annotations

from collections import Counter
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from incast.runs.result import Result
from incast.system import output
from incast.writing.numbers import duration, quantity, said

MOST = 12
"""Most iterations of all jobs that are listed, the first of each job."""


def show(result: Result, console: Console) -> None:
    """Print a table of the iterations of a run's jobs, and which ranks end last; nothing without jobs."""
    with result.reading():
        rows = result.jobs.to_pylist()
    if not rows:
        return
    shown = _first(rows)
    table = Table(title="Iterations of jobs, times as means over ranks", title_justify="left", box=box.SIMPLE_HEAD)
    columns = _columns(shown)
    for i, head in enumerate(columns):
        table.add_column(head, justify="left" if i == 0 else "right", no_wrap=i > 0)
    for cells in zip(*columns.values(), strict=True):
        table.add_row(*cells)
    console.print(table)
    for line in lines(rows, len(shown)):
        console.print(line, highlight=False, soft_wrap=True)


def _first(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the first iterations of each job, as many of each, at most ``MOST`` of all."""
    jobs = len({row["job"] for row in rows})
    return [row for row in rows if row["iteration"] < max(1, MOST // jobs)]


def _columns(rows: list[dict[str, Any]]) -> dict[str, list[str]]:
    """Return the columns by their heads; those without a value, and compute times of 0, are left out."""

    def times(key: str, missing: str = "–") -> list[str]:
        return [missing if row[key] is None else said(duration(row[key])) for row in rows]

    columns = {"job": [output.escaped(row["job"]) for row in rows], "no.": [str(row["iteration"]) for row in rows]}
    columns["time"] = times("time_s", "unfinished")
    if any(row["compute_s"] for row in rows):
        columns["compute"] = times("compute_s")
    columns |= {"exposed": times("exposed_s"), "idle": times("idle_s")}
    buses = [row["busbw_Bps"] for row in rows]
    if any(bus is not None for bus in buses):
        columns["bus"] = ["–" if bus is None else said(quantity(bus, "B")) + "/s" for bus in buses]
    parts = [row["efficiency"] for row in rows]
    if any(part is not None for part in parts):
        columns["of bound"] = ["–" if part is None else said(quantity(100 * part, "%")) for part in parts]
    columns["last rank"] = [str(row["critical_rank"]) for row in rows]
    return columns


def lines(rows: list[dict[str, Any]], shown: int) -> list[str]:
    """Say how many iterations are left out, and which rank ends most of a job's."""
    left = len(rows) - shown
    found = [f"... and {output.counted(left, 'iteration')} more (jobs.parquet)"] if left else []
    for job in dict.fromkeys(row["job"] for row in rows):
        own = [row["critical_rank"] for row in rows if row["job"] == job and row["time_s"] is not None]
        (rank, times), *_ = Counter(own).most_common(1) or [(None, 0)]
        if times > 1:
            name = output.escaped(job)
            found.append(f"job {name}: rank {rank} ends last in {times} of {output.counted(len(own), 'iteration')}")
    return found
