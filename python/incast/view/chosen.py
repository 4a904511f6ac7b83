"""A page of some runs beside a report, which links it: of runs with a timeline alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from html import escape
from pathlib import Path
from typing import Any

from incast import memory, run_folder
from incast.errors import FolderError, RunError, RunStopped, ScenarioError
from incast.executor import Executor, Status
from incast.plan import Job, slug, told_apart
from incast.scenario import Scenario
from incast.view import page
from incast.view.sources import Folder

PAGE = "view.html"
RUNS = "timelines"
"""Folder of runs that were made again for a page."""


def refuse_reports(folders: Iterable[Path]) -> None:
    """Raise ``FolderError`` of a folder that is a report's and no run's: it has the page already."""
    for folder in folders:
        ours = (folder / PAGE).is_file() and (folder / RUNS).is_dir()
        if ours and not (folder / run_folder.MANIFEST).exists():
            raise FolderError(
                f"{folder} is the folder of a report: expected that of a run. {folder / PAGE} shows its runs over time "
                f"already; their folders are in {folder / RUNS}"
            )


def has_timeline(scenario: Scenario) -> bool:
    """Whether a run of the scenario has a timeline."""
    return scenario.resolved()["measure"].get("timeline") is not None


def write(runs: Mapping[str, Path], path: Path) -> None:
    """Write the page of run folders by their names; raises ``FolderError`` where there can be none."""
    page.put(page.of([(name, Folder(run)) for name, run in runs.items()]), path)


def places(folder: Path, names: Iterable[str]) -> dict[str, Path]:
    """Give the folders of runs that were made again for the page in a report's folder, by the names of the runs."""
    names = list(names)
    folders = told_apart([slug(name)] for name in names)
    return {name: folder / RUNS / own for name, own in zip(names, folders, strict=True)}


def _jobs(scenarios: Mapping[str, Scenario], folder: Path) -> dict[str, Job]:
    """Give the runs of the page, of the scenarios that have a timeline, by their names."""
    timed = {name: scenario for name, scenario in scenarios.items() if has_timeline(scenario)}
    return {name: Job(name, timed[name], place) for name, place in places(folder, timed).items()}


def cost(scenarios: Mapping[str, Scenario], folder: Path) -> str | None:
    """Say what making the runs again takes beside those of the report; ``None`` where none is to be made."""
    todo = [job for job in _jobs(scenarios, folder).values() if not job.is_finished()]
    if not todo:
        return None
    disk, cpu_s = (sum(part) for part in zip(*(job.scenario.timeline_cost() for job in todo), strict=True))
    runs = "1 run is" if len(todo) == 1 else f"{len(todo)} runs are"
    told = f"{memory.spoken(disk)} on disk and {cpu_s:.2g} s of CPU time for their timelines"
    return f"{runs} made again for the page over time, with up to about {told}"


def make(
    scenarios: Mapping[str, Scenario],
    folder: Path,
    *,
    workers: int = 0,
    show: Callable[[Status], None] = lambda _: None,
    memory_limit: float | None = None,
) -> None:
    """Make runs whose scenarios have a timeline, and their page; nothing where none has.

    Stores of runs keep no timelines. A run that is there from before stays. Raises ``FolderError`` where there can be
    no page, ``ScenarioError`` before the first run where one takes more than ``memory_limit`` bytes (the machine's
    unless given), and what a run raises.
    """
    (folder / PAGE).unlink(missing_ok=True)  # whatever comes of it, no earlier page is taken for this one
    jobs = _jobs(scenarios, folder)
    if not jobs:
        return
    page.viewer()
    Executor(workers, show, memory_limit).run(jobs.values())
    write({name: job.folder for name, job in jobs.items()}, folder / PAGE)


def tried(scenarios: Mapping[str, Scenario], folder: Path, **options: Any) -> str | None:
    """Do as ``make`` does; a report stands without the page: why it is not there, if that is so."""
    try:
        make(scenarios, folder, **options)
    except RunStopped:
        raise
    except (ScenarioError, RunError, FolderError, OSError) as error:
        return str(error)
    return None


def link(folder: Path, name: str, what: str, gap: str | None = None) -> str:
    """Give the paragraph of a report that links a page beside it, or says why there is none (``gap``).

    ``what`` is text of HTML. Nothing where no page was to be made.
    """
    if gap:
        return f'<p class="note">No page of the runs over time: {escape(gap)}.</p>'
    if not (folder / name).is_file():
        return ""
    return f'<p class="note">Over time, with fabric, queues and flows: <a href="{name}">{name}</a>, {what}.</p>'
