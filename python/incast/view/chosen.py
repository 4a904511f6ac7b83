"""A page of some runs beside a report, which links it: of runs with a timeline alone."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping
from html import escape
from pathlib import Path

from incast import run_folder
from incast.errors import FolderError, RunError, RunStopped, ScenarioError
from incast.plan import slug, told_apart
from incast.scenario import Scenario
from incast.view import page
from incast.view.reading import Folder

PAGE = "view.html"
RUNS = "timelines"
"""Folder of runs that were made again for a page."""


def refuse_reports(folders: Iterable[Path]) -> None:
    """Raise ``FolderError`` of a folder that is a report's and no run's: it has the page already."""
    for folder in folders:
        if (folder / PAGE).is_file() and not (folder / run_folder.MANIFEST).exists():
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


def make(scenarios: Mapping[str, Scenario], folder: Path) -> None:
    """Make runs whose scenarios have a timeline, and their page; nothing where none has.

    Stores of runs keep no timelines. A run that is there from before stays. Raises ``FolderError`` where there can be
    no page, and what a run raises.
    """
    (folder / PAGE).unlink(missing_ok=True)  # whatever comes of it, no earlier page is taken for this one
    timed = {name: scenario for name, scenario in scenarios.items() if has_timeline(scenario)}
    if not timed:
        return
    page.viewer()
    there = places(folder, timed)
    for name, scenario in timed.items():
        own = there[name]
        if not (own.exists() and run_folder.holds(own, scenario.hash, scenario.seed)):
            shutil.rmtree(own, ignore_errors=True)
            scenario.run().save(own)
    write(there, folder / PAGE)


def tried(scenarios: Mapping[str, Scenario], folder: Path) -> str | None:
    """Do as ``make`` does; a report stands without the page: why it is not there, if that is so."""
    try:
        make(scenarios, folder)
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
