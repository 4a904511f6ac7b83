"""Soundness check of runs: a flow or a job that is faster than on the empty network shows a defect.

The defect is in the engine, in the ideal completion time or in the bound, and no figure of the run can be trusted. All
code that makes or reads runs uses this check. Commands and calls for one run refuse it (``incast run``,
``Scenario.run``, ``evaluate``, environments). Batches mark it and continue: a study stores the reason in place of the
figures, a search rejects the parameter set. Reading a marked run from a store refuses it again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from incast.errors import UnsoundError

ROUNDING = 1e-9
"""Relative error of a ratio of times, since the engine counts whole picoseconds."""

COLUMN = "run.unsound"
"""Column of a store: reason why a run is unsound; such a run has no figures."""

DEFINITION = "Why no figure of the run is to be used; missing where nothing is wrong with it."

EFFICIENCY = ".efficiency_mean"
"""End of the names of figures of jobs: lower bound of the time over the time."""

FASTEST = ("fct.slowdown_min", "fct.delivery_slowdown_min")
"""Figures of a summary: smallest ratio of completion time to ideal, at the sender and at the receiver."""


def unsound(summary: Mapping[str, Any]) -> str:
    """Return the reason why a run is unsound, from its summary; empty if it is sound."""
    figures = {COLUMN: summary.get("run", {}).get("unsound")}
    for name in FASTEST:
        part, _, figure = name.partition(".")
        figures[name] = summary.get(part, {}).get(figure)
    for job, own in summary.get("jobs", {}).items():
        figures[f"jobs.{job}{EFFICIENCY}"] = own.get(EFFICIENCY[1:])
    return unsound_figures(figures)


def unsound_figures(figures: Mapping[str, Any]) -> str:
    """Like ``unsound``, for figures under dotted names, such as a row of a store's runs."""
    if figures.get(COLUMN):
        return str(figures[COLUMN])
    # other versions may lack one of them, and a run may have no such flow
    least = min((value for name in FASTEST if (value := figures.get(name)) is not None), default=1.0)
    if least >= 1 - ROUNDING:
        return _too_fast(figures)
    return (
        f"a flow took {least:.6g} of its completion time on the empty network: this is a defect of the engine or of "
        "the ideal; do not use any figure of this run, and please report it"
    )


def _too_fast(figures: Mapping[str, Any]) -> str:
    for name, value in figures.items():
        if name.startswith("jobs.") and name.endswith(EFFICIENCY) and value is not None and value > 1 + ROUNDING:
            return (
                f"{name[: -len(EFFICIENCY)]} took 1/{value:.6g} of the lower bound of its time: this is a defect of "
                "the engine or of the bound; do not use any figure of this run, and please report it"
            )
    return ""


def refuse(summary: Mapping[str, Any], run: str) -> None:
    """Raise ``UnsoundError`` if ``run`` is unsound."""
    if reason := unsound(summary):
        raise UnsoundError(f"{run}: {reason}")
