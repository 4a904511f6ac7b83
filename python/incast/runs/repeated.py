"""Runs repeated with a timeline: the same scenario and seed give the same figures.

A run records a timeline only if its scenario asks for one. Pictures over time and the viewer repeat the run where it
did not.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from weakref import WeakKeyDictionary

from incast.errors import FolderError
from incast.external import consent
from incast.runs import lanes
from incast.runs.result import Result
from incast.runs.run_folder import engine_digest
from incast.runs.scenario import Scenario
from incast.system.output import counted

KEY = "measure.timeline"
SAID_S = 2.0
"""CPU seconds from which a call says that it repeats a run."""
_repeated: WeakKeyDictionary[Result, Result] = WeakKeyDictionary()
"""Runs with their repetitions."""


def source_of(run: Result, *, allow_code: bool = False) -> Scenario:
    """Return the scenario that made a run, with its seed.

    Raises ``ScenarioError`` for a class that a folder or a store names, without consent to run it.
    """
    with consent.reading("", allow_code):
        if run.source is not None:
            scenario: Scenario = run.source()
            return scenario
        if run.folder is None:
            return Scenario.from_toml(run.toml, allow_code=allow_code)
        return Scenario.load(run.folder / "scenario.toml", allow_code=allow_code)


def with_timeline(scenario: Scenario, timeline: str = "auto", run: Result | None = None) -> Scenario:
    """Return the scenario with a timeline: its own, or else this one.

    Tasks of its jobs are recorded too: those that it asks for, or else those of all ranks; of a large ``run`` some.
    """
    resolved = scenario.resolved()
    measure = resolved["measure"]
    changes = {} if "timeline" in measure else {KEY: timeline}
    if changes and not measure.get("tasks") and lanes.has_jobs(resolved):
        changes[lanes.KEY] = lanes.setting(run)
    return scenario.changed(changes) if changes else scenario


def cost_of(run: Result, scenario: Scenario) -> tuple[float, float]:
    """Return estimates of the bytes on disk and the CPU seconds of repeating a run as this scenario with a timeline."""
    disk, cpu_s = scenario.timeline_cost()
    return disk, cpu_s + run.cost["cpu_s"]


def spoken(seconds: float) -> str:
    """Format an estimated time, such as ``about 3 s``."""
    if seconds < 1:
        return "less than 1 s"
    return f"about {seconds:.0f} s" if seconds < 120 else f"about {seconds / 60:.0f} minutes"


def message(runs: int, seconds: float) -> str:
    """Say how many runs are repeated with a timeline, and the CPU time that they take."""
    return f"repeats {counted(runs, 'run')} with a timeline: {spoken(seconds)} of CPU time"


def compare(run: Result, again: Result, what: str) -> str | None:
    """Compare a run with its repetition; return a note if another build of the engine made it, else ``None``.

    Raises ``FolderError`` if this build made both and their figures differ: a file of the scenario has changed.
    """
    own, new = dict(_figures(run.summary)), dict(_figures(again.summary))
    apart = next((key for key in own | new if own.get(key) != new.get(key)), None)
    told = "" if apart is None else f"{apart} = {new.get(apart)}, recorded {own.get(apart)}"
    if run.manifest.get("engine") != engine_digest():
        same = f"this build gives other figures ({told})" if told else "this build gives the same figures"
        return f"{what} was made by another build of the engine: {same}"
    if told:
        raise FolderError(f"repeating {what} gives other figures ({told}): a file of its scenario has changed")
    return None


def _figures(part: Mapping[str, Any], place: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the figures of a summary by dotted key; a missing one is left out, as stores do."""
    for key, value in part.items():
        full = f"{place}{key}"
        if full in ("units", "definitions", "run.version"):
            continue
        if isinstance(value, Mapping):
            yield from _figures(value, f"{full}.")
        elif value is not None:
            yield full, value


def in_memory(
    run: Result,
    *,
    allow_code: bool = False,
    tell: Callable[[str], None] | None = None,
) -> Result:
    """Return the run if it has a timeline, else its repetition with one, made once.

    ``tell`` takes messages (default: standard error, for a run that takes long). Raises ``ScenarioError`` or
    ``FolderError`` if the run cannot be repeated.
    """
    if run.timeline_json is not None:
        return run
    if run not in _repeated:
        scenario = with_timeline(source_of(run, allow_code=allow_code), run=run)
        _, seconds = cost_of(run, scenario)
        if tell is not None or seconds > SAID_S:
            (tell or _to_stderr)(message(1, seconds))
        again = scenario.run()
        if note := compare(run, again, "the run"):
            (tell or _to_stderr)(note)
        _repeated[run] = again
    return _repeated[run]


def _to_stderr(text: str) -> None:
    print(f"incast {text}" if text.startswith("repeats") else f"note: {text}", file=sys.stderr)
