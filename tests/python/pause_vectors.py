"""Vectors of ``tests/pauses.json``: recorded pauses of small runs, and their explanations, which the viewer shares.

``python tests/python/pause_vectors.py`` writes the file anew. ``viewer/tests/pauses.test.ts`` explains the same tables.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pause_runs
from incast import Result, Scenario
from incast.pauses import explained, record, telling
from incast.view import about

FILE = Path(__file__).parents[1] / "pauses.json"
RUNS: dict[str, tuple[Callable[[Path], Scenario], str]] = {
    "three switches": (pause_runs.chain, "120us"),
    "ring": (pause_runs.ring, "60us"),
    "two classes": (lambda _: Scenario.from_toml(pause_runs.CLASSES, name="classes"), "60us"),
}
"""Runs by name: what makes the scenario, and its duration."""
TABLES = {
    "ports": ("port", "rate_bps", "deadlocked_s"),
    "flows": ("flow", "group", "start_s", "finish_s", "stopped_s"),
    "timeline_paths": ("flow", "port", "position", "sprayed"),
    "pauses": (
        *("pause", "begin_s", "end_s", "port", "class", "account_bytes", "threshold_bytes", "moment", "through"),
        "through_bytes",
    ),
}
"""Columns that the viewer reads."""


def case_of(name: str, folder: Path) -> dict[str, Any]:
    """Run a case, and return what the viewer has of it with what Python says of it."""
    make, duration = RUNS[name]
    result = make(folder).changed({"run.duration": duration, "run.warmup": "0s"}).run()
    return {"name": name, **_tables(result), "expected": _explained(result)}


def _tables(result: Result) -> dict[str, Any]:
    ends = [name.split(">") for name in result.ports["port"].to_pylist()]
    nodes = list(dict.fromkeys(end for both in ends for end in both))
    return {
        "end_s": result.summary["run"]["sim_s"],
        "nodes": nodes,
        "links": [[nodes.index(one), nodes.index(other)] for one, other in ends],
        "about": {key: about.about(result.toml, None)[key] for key in ("classes", "most_pauses")},
        "tables": {
            table: getattr(result, table).select(list(columns)).to_pydict() for table, columns in TABLES.items()
        },
    }


def _explained(result: Result) -> dict[str, Any]:
    known = record.of(result)
    assert known is not None

    def told(found: explained.Explanation | None) -> dict[str, Any]:
        assert found is not None
        return {key: value for key, value in telling.document(known, found).items() if key not in ("sentence", "path")}

    return {
        "victim": told(explained.victim(known)),
        "flows": [told(explained.of_flow(known, flow)) for flow in known.flows],
        "ports": [told(explained.of_port(known, port)) for port in range(len(known.names))],
    }


def cases() -> list[dict[str, Any]]:
    """Run all cases."""
    with tempfile.TemporaryDirectory() as folder:
        return [case_of(name, Path(folder)) for name in RUNS]


if __name__ == "__main__":
    FILE.write_text(json.dumps(cases(), separators=(",", ":")) + "\n", encoding="utf-8")
