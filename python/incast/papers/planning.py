"""Runs of a paper's figures, and their folders."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from incast.batch import run_folders
from incast.batch.plan import Job, Mark, slug
from incast.errors import FolderError, ScenarioError
from incast.papers.definition import Figure, Paper, Point, Series, X, home
from incast.papers.measuring import Run, try_curves, work_out
from incast.runs.result import Result
from incast.system import files
from incast.system.folders import alone_in

MARK = "paper.json"
"""File that marks a folder with a paper's results."""
RUNS = "runs"
OVER_TIME = "-timeline"
"""Suffix of the name of a run that is repeated with a timeline."""
_RUN = re.compile(r"(?:^|-)([0-9a-f]{12}-seed\d+)$")
"""Identity at the end of a run folder's name: scenario and seed. The prefix is the run's first use."""


def runs_in(folder: Path) -> dict[str, Path]:
    """Find existing run folders by identity; raises ``FolderError`` for links among them.

    A link in a folder from somebody else could lead writes out of the folder.
    """
    found = ((_RUN.search(place.name), place) for one in _own(folder / RUNS) for place in _own(one))
    return {run[1]: place for run, place in found if run}


def _own(folder: Path) -> list[Path]:
    """List a folder; it must not be or contain a link."""
    there = [] if folder.is_symlink() else sorted(folder.glob("*"))
    for place in (folder, *there):
        if place.is_symlink():
            raise FolderError(f"{place} is a link: expected a folder of runs; give another --out, or remove the link")
    return there


def jobs(
    paper: Paper, figure: Figure, folder: Path, places: dict[str, Path] | None = None
) -> dict[tuple[str, X, int], Job]:
    """Return the runs of a figure; points with equal settings share runs, within a figure and across figures.

    New folders are named by figure, series and point, and added to ``places``, which has the existing ones.
    """
    found = {}
    places = runs_in(folder) if places is None else places
    for series, point, seed in _cases(figure):
        where = f"{paper.name}/{figure.name}, {series.name}, {point.x}, seed {seed}"
        try:
            scenario = paper.scenario(figure, series, point).with_seed(seed)
            own = f"{scenario.hash[:12]}-seed{seed}"
        except ScenarioError as error:
            error.add_note(f"in the run {where}, of {paper.path}")
            raise
        name = f"{slug(series.name)[:40]}-{slug(str(point.x))[:24]}-{own}"
        place = places.setdefault(own, folder / RUNS / slug(figure.name)[:60] / name)
        found[series.name, point.x, seed] = Job(where, scenario, place)
    return found


def _cases(figure: Figure) -> list[tuple[Series, Point, int]]:
    return [
        (series, point, seed)
        for series in figure.series
        if not series.values
        for point in figure.points
        for seed in range(1, figure.seeds + 1)
    ]


def _checked(job: Job, paper: Paper) -> Job:
    """Check a scenario, and estimate its weight: more flows are more work."""
    try:
        job.scenario.validate()
    except ScenarioError as error:
        error.add_note(f"in the run {job.name}, of {paper.path}")
        raise
    flows = sum(entry.get("flows", 1) for entry in job.scenario.resolved().get("traffic", []))
    return replace(job, weight=float(flows))


def mark_folder(paper: Paper, scale: str, folder: Path) -> None:
    """Create and mark the folder of a paper's results, or accept an existing one."""
    _mark(paper, scale, folder).put(folder)


def _mark(paper: Paper, scale: str, folder: Path) -> Mark:
    mark: dict[str, Any] = {"paper": paper.name, "scale": scale}
    if paper.folder.parent != home():
        # another paper may have the same name; the relative path allows moving both folders together
        mark["folder"] = Path(os.path.relpath(paper.folder.resolve(), folder.resolve())).as_posix()
    if changed := {name: changes_of(figure) for name, figure in paper.figures.items() if figure.changes}:
        mark["changed"] = changed

    def same(path: Path) -> bool:
        try:
            return bool(files.read_json(path) == mark)
        except ValueError as error:
            message = f"{path} is damaged: {files.message_of(error)}"
            raise FolderError(f"{message}; give another --out, or remove {folder} first") from None
        except OSError as error:
            raise FolderError(f"cannot read {path}: {error.strerror}") from None

    other = "results of another paper, scale or set-up: give another --out"
    strange = "is not empty and holds no results of a paper: give another --out"
    return Mark(MARK, json.dumps(mark) + "\n", same, other, strange)


def changes_of(figure: Figure) -> list[dict[str, Any]]:
    """Return the changes of a figure by a command, as data."""
    return [{"key": one.key, "value": one.value, "series": list(one.series)} for one in figure.changes]


def plan(paper: Paper, figures: Sequence[Figure], scale: str, folder: Path) -> list[Job]:
    """Plan the runs of some figures; every scenario is checked."""
    planned: dict[Path, Job] = {}
    readers: dict[Path, list[tuple[Figure, Point]]] = {}
    places = runs_in(folder)
    for figure in (one.at(scale) for one in figures):
        work_out(paper, figure)
        try_curves(paper, figure)
        points = {point.x: point for point in figure.points}
        for (_, x, _), job in jobs(paper, figure, folder, places).items():
            there = planned.get(job.folder)
            planned[job.folder] = replace(job, weight=there.weight) if there else _checked(job, paper)
            readers.setdefault(job.folder, []).append((figure, points[x]))

    read: set[tuple[str, str | None]] = set()
    """Figures and points' scenarios with a run that was read; others are checked at the end."""

    def readable(readers: Sequence[tuple[Figure, Point]], result: Result) -> None:
        """Check at the end of the first run, rather than of all, that measures exist in runs."""
        run = Run(result)
        for figure, point in readers:
            if (figure.name, point.scenario) in read:
                continue
            for measure in figure.measures.values():
                run.number(measure, point)
            for plot in figure.plots:
                run.find_columns(plot)
            read.add((figure.name, point.scenario))

    return [replace(job, check=partial(readable, readers[place])) for place, job in planned.items()]


def carry_out(
    paper: Paper,
    figures: Sequence[Figure],
    scale: str,
    folder: Path,
    timed: tuple[Figure, str, X] | None = None,
    **options: Any,
) -> None:
    """Make the missing runs of some figures; repeat that of one series and point with a timeline.

    Other options are those of ``run_folders.make``. No other program can run in the folder meanwhile. Raises
    ``FolderError`` if the folder holds something else.
    """
    planned = plan(paper, figures, scale, folder)
    mark_folder(paper, scale, folder)
    with alone_in(folder):
        if timed is not None:
            figure, series, x = timed
            planned.append(_over_time(jobs(paper, figure.at(scale), folder)[series, x, 1]))
        run_folders.make(planned, **options)


def _over_time(job: Job) -> Job:
    """Return the job that repeats a run with a timeline, next to the one without."""
    scenario = job.scenario
    if "timeline" not in scenario.resolved()["measure"]:
        scenario = scenario.changed({"measure.timeline": "auto"})
    return Job(f"{job.name}, with a timeline", scenario, over_time(job.folder))


def over_time(run: Path) -> Path:
    """Return the folder of a run that is repeated with a timeline."""
    return run.with_name(f"{run.name}{OVER_TIME}")
