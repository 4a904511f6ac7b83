"""Verdicts on statements of a paper or study."""

from __future__ import annotations

from enum import StrEnum


class Verdict(StrEnum):
    """Verdict on a statement, from the available runs."""

    HOLDS = "holds"
    FAILS = "does not hold"
    OPEN = "undecided"
    UNTESTED = "not tested"


STYLE = {Verdict.HOLDS: "yes", Verdict.FAILS: "no", Verdict.OPEN: "open", Verdict.UNTESTED: "none"}
"""Classes in the style sheet of reports."""
