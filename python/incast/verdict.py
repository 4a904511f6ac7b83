"""Verdicts of runs on a statement of a paper or study."""

from __future__ import annotations

from enum import StrEnum


class Verdict(StrEnum):
    """Whether a statement holds of the runs at hand."""

    HOLDS = "holds"
    FAILS = "does not hold"
    OPEN = "undecided"
    UNTESTED = "not tested"


STYLE = {Verdict.HOLDS: "yes", Verdict.FAILS: "no", Verdict.OPEN: "open", Verdict.UNTESTED: "none"}
"""Classes of the reports' style sheet."""
