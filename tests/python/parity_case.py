"""A quick run of ours, as a case of the comparisons with references."""

from __future__ import annotations

from parity.checks import (
    Case,
    Explanation,
    Figure,
)
from parity.tolerances import (
    Tolerance,
)

QUICK = {"run.duration": "2ms", "run.warmup": "1ms"}


def a_case(tolerance: Tolerance, reference: float, explained: Explanation | None = None, **settings: object) -> Case:
    flows = Figure("flows", "", reference, tolerance, lambda r: r.summary["flows"]["count"], explained=explained)
    return Case("w/x", "a dumbbell", "dumbbell", {**QUICK, **settings}, (flows,))
