"""Notes on the runs of a comparison, each once for all settings that have it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from incast.comparisons.comparison import Comparison
from incast.comparisons.declaration import Controller
from incast.report import scenario_pairs
from incast.report.merging import Case, merged
from incast.runs.result import ENDING


def notes_of(comparison: Comparison, scenario: str) -> list[str]:
    """Return all notes on a scenario: what figures leave out, what did not finish, and notes of its runs."""
    unfinished = _by_setting(comparison, lambda value, c: list(_unfinished(comparison, scenario, value, c)))
    of_runs = _by_setting(
        comparison,
        lambda value, c: [note for run in comparison.point(scenario, c.text, value) for note in run.notes],
    )
    unmoved = comparison.unmoved(scenario)
    key = f"{', '.join(unmoved)}: {comparison.study.key} has no effect: all its values give the same figures"
    return [
        *without_datagrams(comparison, scenario),
        *(comparison.study.drops() if scenario == comparison.study.scenarios[0] else ()),
        *scenario_pairs.crossing_lines(comparison, scenario),
        *merged(unfinished),
        *merged(of_runs),
        *([f"{key} under every seed"] if unmoved else []),
    ]


def _by_setting(comparison: Comparison, notes: Callable[[str, Controller], list[str]]) -> dict[Case, list[str]]:
    """Return notes by the words of their setting: the value of the key, if it has several, and the controller."""
    study = comparison.study
    several = len(study.values) > 1
    return {
        (f"{study.key} = {value}" if several else "", c.label): notes(value, c)
        for value in study.values
        for c in study.controllers
    }


ITERATIONS = "iteration times are those of the others"


def _unfinished(comparison: Comparison, scenario: str, value: str, controller: Controller) -> Iterator[str]:
    """Yield a note for flows, queries and writes of a point that did not finish."""
    for part, (finished, count) in comparison.began(scenario, controller.text, value).items():
        if finished < count:
            what = ENDING[part]
            rest = f"figures that unfinished {what} could still change are bounds"
            yield f"{finished:,d} of {count:,d} {what} finished; {ITERATIONS if part == 'jobs' else rest}"


def without_datagrams(comparison: Comparison, scenario: str) -> list[str]:
    """Return a note on the traffic that figures of flows exclude: datagrams, which no controller governs."""
    entries = comparison.datagrams(scenario)
    if not entries:
        return []
    return [f"figures of flows exclude {' and '.join(entries)}: datagrams, which no controller governs"]
