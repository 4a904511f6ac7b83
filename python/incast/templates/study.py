"""Study file over a scenario: marking threshold and load as axes."""

from __future__ import annotations

import re
from typing import Any

from incast.errors import ScenarioError, StudyError
from incast.runs.scenario import Scenario, toml_value
from incast.writing.names import as_commented_word, plain_name

LOADS = [0.4, 0.6, 0.8]


def study_file(scenario: Scenario, named: str, name: str, file: str) -> str:
    """Return the text of a study file over a scenario, which the file calls ``named``; ``file`` is its own name.

    Raises ``StudyError`` if the scenario has neither a marking threshold nor a load.
    """
    resolved = scenario.resolved()
    marks = [mark for mark in _around(resolved["queue"].get("mark", "")) if _takes(scenario, mark)]
    axes = {"queue.mark": marks} | _load(resolved["traffic"])
    lines = [f"{key} = {toml_value(values)}" for key, values in axes.items() if values]
    if not lines:
        raise StudyError(f"{named}: neither a threshold (queue.mark) nor a load (traffic.arrivals.load) to vary")
    word = as_commented_word(file)
    return _STUDY.format(name=plain_name(name), scenario=toml_value(named), axes="\n".join(lines), file=word)


def _around(mark: Any) -> list[str]:
    """Return a quarter of a threshold, the threshold, and four times as much, as texts with its unit."""
    found = re.fullmatch(r"(\d+)(\D+)", str(mark))
    if found is None:
        return []
    number = int(found[1])
    return [f"{value}{found[2]}" for value in dict.fromkeys([max(1, number // 4), number, 4 * number])]


def _takes(scenario: Scenario, mark: str) -> bool:
    """Return whether the scenario can be run with a threshold: its queue may be shorter."""
    try:
        scenario.changed({"queue.mark": mark}).validate()
    except ScenarioError:
        return False
    return True


def _load(traffic: list[dict[str, Any]]) -> dict[str, list[float]]:
    """Return the axis of the first entry with a load."""
    for entry in traffic:
        if "arrivals" in entry:
            at = "traffic" if len(traffic) == 1 else f"traffic.{entry['name']}"
            return {f"{at}.arrivals.load": LOADS}
    return {}


_STUDY = """\
# A study: every combination of the axes, under several seeds, in a store that grows. Page studies.
#
# Cost first: incast study run {file} --dry-run. Then: incast study run {file}. More values or seeds add runs.

name = "{name}"
scenario = {scenario}
seeds = 3                   # seeds 1 to 3: intervals need several

[axes]                      # keys as for --set; a list, or {{ from = 0.1, to = 0.9, steps = 5 }}
{axes}

# An arm is a named set of keys, made at every point. Without arms the scenario's own controller runs.
# [arms.dctcp]
# controller = "dctcp"
# [arms.swift]
# controller = "swift"
"""
