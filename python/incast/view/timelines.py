"""Runs with a timeline: recorded ones, and repeated ones, which are kept beside their runs."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from incast.batch import run_folders
from incast.batch.plan import Job, slug
from incast.errors import FolderError
from incast.runs import repeated, run_folder
from incast.runs.result import Result
from incast.runs.scenario import Scenario

PLACE = "timeline"
"""Folder of the repeated run in the folder of a run."""


@dataclass(frozen=True)
class Wanted:
    """A run that is needed with a timeline."""

    label: str
    place: Path
    """Folder of the run, or of its repetition."""
    scenario: Scenario | None = None
    """Scenario with a timeline; ``None`` if ``place`` has the run."""
    recorded: Result | None = None
    """The run without a timeline, if there is one."""

    @property
    def result(self) -> Result | None:
        """The run, with or without a timeline; ``None`` if it was never made."""
        if self.recorded is not None:
            return self.recorded
        return Result.load(self.place) if self.scenario is None or self.job is None else None

    @property
    def job(self) -> Job | None:
        """The run to make; ``None`` if it is there."""
        if self.scenario is None:
            return None
        job = Job(self.label, self.scenario, self.place)
        return None if job.is_usable() else job


def of_folder(folder: Path, label: str) -> Wanted:
    """Return the run of a folder, or its repetition; raises ``FolderError`` for anything else."""
    if os.path.lexists(folder / run_folder.TIMELINE):
        return Wanted(label, folder)
    run = Result.load(folder)
    return of_run(run, label, folder / PLACE)


def of_run(run: Result, label: str, place: Path, timeline: str = "auto") -> Wanted:
    """Return a run without a timeline, to be repeated into ``place``."""
    return Wanted(label, place, repeated.with_timeline(repeated.source_of(run), timeline, run), run)


def _message(todo: Sequence[tuple[Wanted, Job]]) -> str:
    """Say what is made, and how long it takes."""
    seconds = sum(repeated.cost_of(one.recorded, job.scenario)[1] for one, job in todo if one.recorded)
    again = sum(one.recorded is not None for one, _ in todo)
    new = [one.label for one, _ in todo if one.recorded is None]
    parts = [f"runs {' and '.join(new)} with a timeline"] if new else []
    return "; ".join([*parts, *([repeated.message(again, seconds)] if again else [])])


@contextmanager
def made(wanted: Sequence[Wanted], tell: Callable[[str], None], **options: Any) -> Iterator[list[tuple[str, Path]]]:
    """Make the runs that are missing, and yield the folders of all by label.

    ``tell`` takes messages: what is repeated and for how long, before it starts, and runs of another build of the
    engine. Runs are kept in their places; where nothing can be written, until the end of the block. Options are those
    of ``run_folders.make``. Raises ``FolderError`` if a repetition differs from its run, and exceptions of runs.
    """
    with ExitStack() as stack:
        found, todo = [], []
        for one in wanted:
            _refuse_strange(one)
            job = one.job
            if job is not None:
                if not _is_writable(one.place):
                    aside = stack.enter_context(tempfile.TemporaryDirectory(prefix="incast-"))
                    job = replace(job, folder=Path(aside) / slug(one.label))
                todo.append((one, replace(job, check=_checking(one, tell))))
            found.append((one.label, one.place if job is None else job.folder))
        if todo:
            tell(_message(todo))
            run_folders.make([job for _, job in todo], **options)
        yield found


def _checking(one: Wanted, tell: Callable[[str], None]) -> Callable[[Result], None]:
    def check(again: Result) -> None:
        if one.recorded is not None and (note := repeated.compare(one.recorded, again, f"the run {one.label}")):
            tell(note)

    return check


def _refuse_strange(one: Wanted) -> None:
    """Raise ``FolderError`` if the place of a repeated run holds something else, which would be removed."""
    if one.scenario is None or not os.path.lexists(one.place):
        return
    if one.place.is_symlink() or not (one.place / run_folder.MANIFEST).is_file():
        raise FolderError(f"{one.place} is no run folder, and the run with a timeline is kept there: move it away")


def _is_writable(place: Path) -> bool:
    folder = next(one for one in (place.absolute(), *place.absolute().parents) if one.exists())
    return folder.is_dir() and os.access(folder, os.W_OK)
