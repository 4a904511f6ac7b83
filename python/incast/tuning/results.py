"""Results of a search: scenario files, tables and pictures."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from incast.pictures import gallery, inline
from incast.statistics import Estimate
from incast.tuning import pictures
from incast.tuning.declaration import Tuning
from incast.tuning.outcome import Chosen, Outcome
from incast.tuning.search import Tried

RESULT = "result.json"
RESULT_FORMAT = 1


def write(
    outcome: Outcome,
    folder: Path,
    formats: Sequence[str] = ("png",),
    page: Callable[[Mapping[str, str]], Mapping[str, str]] = lambda _: {},
) -> list[Path]:
    """Write the chosen scenarios, ``trials.csv``, ``result.json`` and the pictures; return the scenarios.

    ``page`` makes further files from the pictures as PNG.
    """
    tuning = outcome.tuning
    scenarios: list[Path] = []
    files: dict[str, str] = {}

    def made(name: str, one: Tried) -> str:
        return _head(one, tuning) + tuning.target.made(name, one.values).toml()

    for name in tuning.target.scenarios:
        suffix = f"-{name}" if len(tuning.target.scenarios) > 1 else ""
        files[f"tuned{suffix}.toml"] = made(name, outcome.best.tried)
        scenarios.append(folder / f"tuned{suffix}.toml")
        if len(outcome.front) > 1:
            (folder / "front").mkdir(exist_ok=True)
            for number, one in enumerate(outcome.front, 1):
                files[f"front/{number:02}{suffix}.toml"] = made(name, one.tried)
    files["trials.csv"] = _trials(outcome)
    canvases = pictures.draw(outcome)
    drawn = gallery.draw(canvases, formats)
    files |= page(inline.elements(canvases, gallery.pngs(drawn)))
    files[RESULT] = json.dumps(data(outcome), indent=2) + "\n"  # last: all other files exist
    gallery.write(folder, drawn, formats, files, pictures.NAMES.__contains__)
    return scenarios


def _head(one: Tried, tuning: Tuning) -> str:
    """Return the comments at the top of a scenario file about its origin."""
    values = [f"#   {key} = {value}" for key, value in one.values.items()]
    objectives = ", ".join(map(str, tuning.objectives))
    first = (
        f"# Set {one.number + 1} of {tuning.budget} tried by incast tune ({tuning.target.study.name}: {objectives}):"
    )
    return "\n".join([first, *values, "", ""])


def _trials(outcome: Outcome) -> str:
    """Write one row per set, including stopped ones: with the mean over their seeds."""
    made = io.StringIO()
    table = csv.writer(made, lineterminator="\n")
    tuning = outcome.tuning
    keys = [parameter.key for parameter in tuning.target.parameters]
    table.writerow(["set", *keys, *tuning.figures, "seeds", "state"])
    for one in outcome.tried:
        scores = [math.fsum(values) / len(values) if values else "" for values in one.by_seed] or [""] * len(
            tuning.figures
        )
        refused = f"refused: {one.refused}" if one.refused else one.unfinished
        state = "whole" if one.scores is not None else refused or "given up"
        seeds = len(one.by_seed[0]) if one.by_seed else 0
        table.writerow([one.number + 1, *(one.values[key] for key in keys), *scores, seeds, state])
    return made.getvalue()


def data(outcome: Outcome) -> dict[str, Any]:
    """Return an outcome as data for JSON."""
    tuning = outcome.tuning

    def of_estimate(one: Estimate | None) -> dict[str, float | None] | None:
        return None if one is None else {"mean": one.mean, "half_width": one.half_width}

    def of_chosen(one: Chosen) -> dict[str, Any]:
        rows = [
            {
                "scenario": row.scenario,
                "figure": row.figure,
                "unit": row.unit,
                "tuned": of_estimate(row.tuned),
                "defaults": of_estimate(row.defaults),
                "difference": of_estimate(row.difference),
                "verdict": row.verdict,
                "seeds": row.seeds,
            }
            for row in one.compared
        ]
        scores = dict(zip(tuning.figures, one.tried.scores or (), strict=True))
        return {"set": one.tried.number + 1, "values": dict(one.tried.values), "scores": scores, "held_out": rows}

    return {
        "format": RESULT_FORMAT,
        "study": tuning.target.study.name,
        "arm": tuning.target.arm,
        "objectives": [str(objective) for objective in tuning.objectives],
        "sampler": tuning.sampler,
        "seeds": list(tuning.seeds),
        "held_out": list(tuning.held_out),
        "tried": len(outcome.tried),
        "whole": sum(one.scores is not None for one in outcome.tried),
        "refused": sum(bool(one.refused) for one in outcome.tried),
        "unfinished": [{"set": one.number + 1, "told": one.unfinished} for one in outcome.tried if one.unfinished],
        "default_values": tuning.target.default_values,
        "default_scores": dict(zip(tuning.figures, outcome.default_scores, strict=True)),
        "best": of_chosen(outcome.best),
        "front": [of_chosen(one) for one in outcome.front],
        "importances": outcome.importances,
        "notes": list(outcome.notes),
    }
