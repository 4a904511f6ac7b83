"""Identity of a figure: a digest of everything that its numbers and verdicts depend on."""

from __future__ import annotations

import ast
import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from incast.papers.definition import Figure, Paper, Series
from incast.runs.scenario import Scenario
from incast.system import files


def digest(paper: Paper, figure: Figure) -> str:
    """Return the digest of a figure's inputs at its scale, without the engine.

    Inputs of runs: scenarios, their files, settings, series, points and seeds. Inputs of verdicts: measures, published
    numbers, and claims without their reasons. Titles, pictures and comments are excluded.
    """
    about = {
        "seeds": figure.seeds,
        "settings": figure.settings,
        "points": [asdict(one) for one in figure.points],
        "series": [_series(one) for one in figure.series],
        "measures": [asdict(one) | {"place": ""} for one in figure.measures.values()],
        "published": [asdict(one) for one in figure.published],
        "claims": [
            [one.says, one.where, ast.unparse(one.holds), one.each_seed, one.paired, [*one.scales]]
            for one in figure.claims
        ],
        "changes": [asdict(one) for one in figure.changes],
        **({"best": figure.best} if figure.best else {}),
        "files": [_scenario(paper.folder / name) for name in _scenarios(figure)],
    }
    return _of(json.dumps(about, sort_keys=True, default=str).encode())


def _series(series: Series) -> Mapping[str, Any]:
    return {
        "name": series.name,
        "set": series.set,
        "values": {name: ast.unparse(node) for name, node in series.values.items()},
    }


def _scenarios(figure: Figure) -> list[str]:
    named = [figure.scenario, *(point.scenario or "" for point in figure.points)]
    return [name for name in dict.fromkeys(named) if name]


def _scenario(path: Path) -> Mapping[str, str]:
    """Return digests of a scenario and of the files that it names."""
    said = json.dumps(files.read_toml(path), sort_keys=True, default=str)
    return {"": _of(said.encode())} | {name: _of(place.read_bytes()) for name, place in Scenario.load(path).files()}


def _of(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]
