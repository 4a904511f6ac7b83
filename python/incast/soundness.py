"""Soundness of runs: whether the figures of a run can be right.

One check for every way in which a run is made or read: a flow that is faster than on the empty network is a defect of
the engine, or of its ideal, and no figure of its run is to be used. Who makes one run refuses it
(``incast run``, ``Scenario.run``, ``evaluate``, environments). Who makes many marks it and goes on: a study keeps its
reason in place of its figures, a search refuses its set. What reads a marked run from a store refuses it again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from incast.errors import UnsoundError

ROUNDING = 1e-9
"""Part by which a ratio of times may differ from that of the engine's whole picoseconds."""

COLUMN = "run.unsound"
"""Column of a store: why a run is not sound, where it is not. It has no figures then."""

DEFINITION = "Why no figure of the run is to be used; missing where nothing is wrong with it."

FASTEST = ("fct.slowdown_min", "fct.delivery_slowdown_min")
"""Figures of a summary: the smallest completion time over the ideal one, by the sender and by the receiver."""


def unsound(summary: Mapping[str, Any]) -> str:
    """Say why no figure of a run is to be used, by its summary; nothing where it is sound."""
    figures = {COLUMN: summary.get("run", {}).get("unsound")}
    for name in FASTEST:
        part, _, figure = name.partition(".")
        figures[name] = summary.get(part, {}).get(figure)
    return unsound_figures(figures)


def unsound_figures(figures: Mapping[str, Any]) -> str:
    """Say the same by figures under their dotted names, such as a row of a store's runs."""
    if figures.get(COLUMN):
        return str(figures[COLUMN])
    # a version may lack one of them, and a run may have no such flow
    least = min((value for name in FASTEST if (value := figures.get(name)) is not None), default=1.0)
    if least >= 1 - ROUNDING:
        return ""
    return (
        f"a flow took {least:.6g} of the time that it takes on the empty network: this is a defect of the engine or of "
        "the ideal, and no figure of this run is to be used; please report it"
    )


def refuse(summary: Mapping[str, Any], run: str) -> None:
    """Raise ``UnsoundError`` where no figure of ``run`` is to be used."""
    if told := unsound(summary):
        raise UnsoundError(f"{run}: {told}")
