"""Facts of a viewed run: words of its scenario and figures of its summary, as far as there are any."""

from __future__ import annotations

import math
from typing import Any

from incast.pauses import record
from incast.system import files

FIGURES = (
    *("flows.goodput_total_bps", "flows.throughput_mean_bps", "flows.delay_p99_s", "flows.jain"),
    *("fct.count", "fct.finished", "fct.p99_at_least_s", "fct.slowdown_p99_at_least"),
    *("queues.pauses", "queues.drops", "queues.marks"),
)
"""Figures of a summary that the viewer may tell, as in ``viewer/src/data/summary.ts``."""
LONGEST = 300
"""Letters of a description that are kept."""


def about(toml: str | None, summary: str | None) -> dict[str, Any]:
    """Return what a resolved scenario and a summary say of a run; what is missing or damaged is left out."""
    scenario, told = _parsed(toml, files.toml_of), _parsed(summary, files.json_of)
    run = _table(told, "run")
    description, mss = scenario.get("description"), _number(_table(scenario, "transport"), "mss")
    figures = {name: _number(_table(told, part), key) for name in FIGURES for part, key in [name.split(".")]}
    parts = {
        "scenario": run.get("scenario") if isinstance(run.get("scenario"), str) else None,
        "description": description[:LONGEST] if isinstance(description, str) and description.strip() else None,
        "seed": _number(run, "seed"),
        "packet_bytes": mss if mss and mss > 0 else None,
        "from_s": _number(run, "measure_from_s"),
        "to_s": _number(run, "measure_to_s"),
        "figures": {name: value for name, value in figures.items() if value is not None} or None,
    }
    known = {name: value for name, value in parts.items() if value is not None}
    return known | (_of_pauses(scenario) if "pauses" in _table(scenario, "measure") else {})


def _of_pauses(scenario: dict[str, Any]) -> dict[str, Any]:
    """Return what explains recorded pauses: classes of traffic entries, and the most pauses of a record."""
    try:
        classes = record.classes_of(scenario)
        return {"classes": classes, "most_pauses": record.limit_of(scenario)} if classes else {}
    except (AttributeError, LookupError, TypeError, ValueError):
        return {}


def _parsed(text: str | None, parse: Any) -> dict[str, Any]:
    try:
        value = parse(text) if text else {}
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _table(of: dict[str, Any], name: str) -> dict[str, Any]:
    value = of.get(name)
    return value if isinstance(value, dict) else {}


def _number(of: dict[str, Any], name: str) -> float | None:
    value = of.get(name)
    return value if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) else None
