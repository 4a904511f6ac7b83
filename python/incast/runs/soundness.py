"""Soundness check of runs: a flow that is faster than on the empty network shows a defect.

The defect is in the engine or in the ideal completion time, and no figure of the run can be trusted. The engine itself
refuses a run whose jobs or collectives beat their bounds. All code that makes or reads runs uses this check. Commands
and calls for one run refuse it (``incast run``, ``Scenario.run``, ``evaluate``, environments). Batches mark it and
continue: a study stores the reason in place of the figures, a search rejects the parameter set. Reading a marked run
from a store refuses it again.
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

FASTEST = ("fct.slowdown_min", "fct.delivery_slowdown_min")
"""Figures of a summary: smallest ratio of completion time to ideal, at the sender and at the receiver."""


def unsound(summary: Mapping[str, Any]) -> str:
    """Return the reason why a run is unsound, from its summary; empty if it is sound."""
    figures = {COLUMN: summary.get("run", {}).get("unsound")}
    for name in FASTEST:
        part, _, figure = name.partition(".")
        figures[name] = summary.get(part, {}).get(figure)
    return unsound_figures(figures)


def unsound_figures(figures: Mapping[str, Any]) -> str:
    """Like ``unsound``, for figures under dotted names, such as a row of a store's runs."""
    if figures.get(COLUMN):
        return str(figures[COLUMN])
    # other versions may lack one of them, and a run may have no such flow
    least = min((value for name in FASTEST if (value := figures.get(name)) is not None), default=1.0)
    if least >= 1 - ROUNDING:
        return ""
    return (
        f"a flow took {least:.6g} of its completion time on the empty network: this is a defect of the engine or of "
        "the ideal; do not use any figure of this run, and please report it"
    )


def refuse(summary: Mapping[str, Any], run: str) -> None:
    """Raise ``UnsoundError`` if ``run`` is unsound."""
    if reason := unsound(summary):
        raise UnsoundError(f"{run}: {reason}")
