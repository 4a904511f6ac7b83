"""Figures of a study's report, in the order of the traffic: slowdowns first where flows have sizes."""

from __future__ import annotations

from collections.abc import Sequence

from incast.answers.measures import SIZES
from incast.report.cells import BINS, Cells
from incast.report.figures import ACTIVE, COMPLETION_FIGURES, FIGURES, PAUSE_FIGURES, Figure, in_its_unit, named

_BY_KEY = {figure.key: figure for figure in FIGURES}


def _slowdown(key: str, name: str, title: str, short: str) -> Figure:
    return Figure(key, name, title, short, "", 1.0, True, "lower")


BINNED = [
    _slowdown(f"{SIZES}{i}.p99", f"slowdown-p99-{i}", f"p99 slowdown, flows {label}", f"slowdown\np99\n{label}")
    for i, label in enumerate(BINS.labels)
]
"""Slowdowns by size, if the store has the flows and they have several sizes."""

SIZED = [
    _slowdown("fct.slowdown_p99", "slowdown-p99", "p99 slowdown, all sizes", "slowdown\np99"),
    _slowdown("fct.slowdown_mean", "slowdown-mean", "Mean slowdown, all sizes", "slowdown\nmean"),
    ACTIVE,
    *(one for one in COMPLETION_FIGURES if not one.key.startswith("fct.")),
    *(_BY_KEY[key] for key in ("flows.delay_p99_s", "flows.loss_total_pct", "flows.timeouts")),
    _BY_KEY["queues.busiest.mean_packets"],
    *PAUSE_FIGURES,
]
"""Figures of traffic with sizes."""

ENDLESS = [
    FIGURES[0],
    *(one for one in COMPLETION_FIGURES if not one.key.startswith("fct.")),
    *(_BY_KEY[key] for key in ("flows.delay_p99_s", "flows.loss_total_pct", "flows.timeouts")),
    *(_BY_KEY[key] for key in ("queues.busiest.mean_packets", "flows.jain")),
    *PAUSE_FIGURES,
]
"""Figures of traffic without sizes."""

KEYS = tuple(dict.fromkeys(figure.key for figure in (*SIZED, *ENDLESS)))
"""Keys that the figures read from a store."""

HEADLINE = 4
"""Number of figures that the answer is about."""


def figures_of(cells: Cells) -> list[Figure]:
    """Return the figures that some cell has, other than zero everywhere, in their usual units."""
    sized = any(cells.began(cell, "fct")[1] for cell in cells.cells)
    # slowdowns by size, then what they cost: throughput
    by_size = [*BINNED, ACTIVE, *(one for one in SIZED if one is not ACTIVE)]
    wanted = by_size if cells.bins is not None else SIZED if sized else ENDLESS
    shown = [figure for figure in wanted if any(_means(cells, figure))]
    return [named(figure, [cells.reading(cell, figure.key) for cell in cells.cells]) for figure in shown]


def silent(cells: Cells, shown: Sequence[Figure]) -> list[str]:
    """Return the titles of figures that are zero in every cell."""
    keys = {figure.key for figure in shown}
    sized = any(cells.began(cell, "fct")[1] for cell in cells.cells)
    return [one.title for one in (SIZED if sized else ENDLESS) if one.key not in keys and _means(cells, one)]


def _means(cells: Cells, figure: Figure) -> list[float]:
    """Return the largest known absolute number of each cell that has the figure."""
    readings = (cells.reading(cell, figure.key) for cell in cells.cells)
    return [max(abs(value) for value in one.low.values()) for one in readings if one is not None]


def in_their_units(cells: Cells, figures: Sequence[Figure]) -> list[Figure]:
    """Return the figures with times and rates in the unit of their largest value."""
    return [in_its_unit(figure, _means(cells, figure)) for figure in figures]
