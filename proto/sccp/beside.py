"""The table of a run: what was measured, and beside it what the simulator gives for the same cells."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

from rich.console import Console

from incast.report.tables import Column, show
from proto.sccp.experiment import Measured
from proto.sccp.results import Key, Summary, key, summary
from proto.sccp.units import rate_text, size_text


def counted(number: int | None) -> str:
    """Write what may not have been looked at."""
    return "-" if number is None else str(number)


FIGURES: dict[str, Callable[[Summary], str]] = {
    "query\nmedian ms": lambda one: f"{one.query_median_ms:.1f}",
    "query\nmax ms": lambda one: f"{'> ' if one.unfinished else ''}{one.query_max_ms:.1f}",
    "\ndrops": lambda one: str(one.drops),
    "queries\nwith RTO": lambda one: str(one.queries_with_timeout),
    "smallest\nwindow B": lambda one: counted(one.smallest_window_bytes),
    "N\nmax": lambda one: counted(one.flows_max),
    "N\nend": lambda one: counted(one.flows_final),
    "FINs\nat N = 0": lambda one: counted(one.fins_at_zero),
}
"""Figures of the table, by their heads."""


def beside(results: Sequence[Measured], simulated: Mapping[Key, Summary] | None = None) -> list[Column]:
    """Columns of the figures, a cell each row: measured, and ``measured | simulated`` where there is a simulation."""
    given = simulated or {}
    columns = []
    for head, shown in FIGURES.items():
        cells = []
        for one in results:
            other = given.get(key(one))
            cells.append(shown(summary(one)) + (f" | {shown(other)}" if other else ""))
        columns.append(Column(head, cells))
    return columns


def print_table(results: Sequence[Measured], console: Console, simulated: Mapping[Key, Summary] | None = None) -> None:
    """Print the table of a run, a section a rate and response."""
    first = [
        Column("\nrate", [rate_text(one.setup.rate_bps) for one in results]),
        Column("\nresponse", [size_text(one.cell.response_bytes) for one in results]),
        Column("\nscheme", [one.cell.scheme for one in results], "left"),
        Column("\nworkers", [str(one.cell.workers) for one in results]),
        Column("\nqueries", [str(len(one.queries)) for one in results]),
    ]
    kinds = [key(one)[:3] for one in results]
    ends = [i for i, (this, then) in enumerate(pairwise(kinds)) if this != then]
    title = "measured on real TCP | simulated" if simulated else "measured on real TCP"
    show(console, title, first, beside(results, simulated), ends)
