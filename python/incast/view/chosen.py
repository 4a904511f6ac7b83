"""Viewer page of some runs with a timeline, in a report's folder, linked by the report."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from html import escape
from pathlib import Path
from typing import Any

from incast.batch import run_folders
from incast.batch.plan import Job, slug, unique_names
from incast.batch.runner import Status
from incast.errors import FolderError, RunError, RunStopped, ScenarioError
from incast.runs.scenario import Scenario
from incast.system import memory
from incast.view import page
from incast.writing.numbers import duration, said

PAGE = "view.html"
RUNS = "timelines"
"""Folder of runs that were repeated for the viewer page."""


def has_timeline(scenario: Scenario) -> bool:
    """Return whether runs of the scenario have a timeline."""
    return scenario.resolved()["measure"].get("timeline") is not None


def write(runs: Mapping[str, Path], path: Path) -> None:
    """Write the page of named run folders; raises ``FolderError`` if it cannot be made."""
    page.write(list(runs.values()), path, names=list(runs))


def places(folder: Path, names: Iterable[str]) -> dict[str, Path]:
    """Return the folders of the repeated runs in a report's folder, by the names of the runs."""
    names = list(names)
    folders = unique_names([slug(name)] for name in names)
    return {name: folder / RUNS / own for name, own in zip(names, folders, strict=True)}


def _jobs(scenarios: Mapping[str, Scenario], folder: Path) -> dict[str, Job]:
    """Return the runs of the page by name: those of the scenarios with a timeline."""
    timed = {name: scenario for name, scenario in scenarios.items() if has_timeline(scenario)}
    return {name: Job(name, timed[name], place) for name, place in places(folder, timed).items()}


def cost(scenarios: Mapping[str, Scenario], folder: Path) -> str | None:
    """Return a message about the cost of repeating runs for the page; ``None`` if none is repeated."""
    todo = [job for job in _jobs(scenarios, folder).values() if not job.is_finished()]
    if not todo:
        return None
    disk, cpu_s = (sum(part) for part in zip(*(job.scenario.timeline_cost() for job in todo), strict=True))
    runs = "1 run is" if len(todo) == 1 else f"{len(todo)} runs are"
    cost_text = f"{memory.spoken(disk)} on disk and {said(duration(cpu_s))} of CPU time for their timelines"
    return f"{runs} repeated for the viewer page, with up to about {cost_text}"


def make(
    scenarios: Mapping[str, Scenario],
    folder: Path,
    *,
    workers: int = 0,
    show: Callable[[Status], None] = lambda _: None,
    memory_limit: float | None = None,
) -> None:
    """Repeat the runs with a timeline, and write their page; do nothing if none has one.

    Stores keep no timelines. Existing runs are reused. Raises ``FolderError`` if the page cannot be made,
    ``ScenarioError`` before the first run if one needs more than ``memory_limit`` bytes (default: the machine's
    memory), and exceptions of runs.
    """
    (folder / PAGE).unlink(missing_ok=True)  # an earlier page must not be taken for this one
    jobs = _jobs(scenarios, folder)
    if not jobs:
        return
    page.viewer()
    run_folders.make(jobs.values(), workers, show, memory_limit)
    write({name: job.folder for name, job in jobs.items()}, folder / PAGE)


def tried(scenarios: Mapping[str, Scenario], folder: Path, **options: Any) -> str | None:
    """Like ``make``, but return the reason if there is no page: a report is complete without it."""
    try:
        make(scenarios, folder, **options)
    except RunStopped:
        raise
    except (ScenarioError, RunError, FolderError, OSError) as error:
        return str(error)
    return None


def link(folder: Path, name: str, what: str, gap: str | None = None) -> str:
    """Return a report's paragraph with the link to its viewer page, or the reason why there is none (``gap``).

    ``what`` is HTML. Empty if no page was requested.
    """
    if gap:
        return f'<p class="note">No viewer page: {escape(gap)}.</p>'
    if not (folder / name).is_file():
        return ""
    return (
        f'<p class="note">Viewer page (fabric, queues and flows over time): <a href="{name}">{name}</a>, {what}. '
        "It is a file of its own, beside this page.</p>"
    )
