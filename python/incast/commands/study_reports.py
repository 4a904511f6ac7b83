"""Reports of studies in stores, for the commands that make or show them."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from incast.batch.filling import progress_of
from incast.batch.plan import slug
from incast.batch.store import REPORTS_FOLDER, Store
from incast.commands.options import out
from incast.errors import FolderError
from incast.system import output
from incast.system.interrupts import loading

if TYPE_CHECKING:
    from incast.comparisons.grid import Grid
    from incast.comparisons.report_folder import Home
    from incast.report.study_page import Report


def page() -> ModuleType:
    """Load the report of studies with its pictures, which takes a second; Ctrl-C ends the program meanwhile."""
    with loading():
        from incast.report import study_page
    return study_page


def formats_of(text: str) -> tuple[str, ...]:
    """Read image formats; raises ``StudyError``."""
    with loading():
        from incast.pictures import style
    return style.formats_of(text)


def of(store: Store, name: str) -> Report:
    """Read the report of a study; raises ``FolderError`` where no run of it is finished."""
    pending = progress_of(store)
    state = ""
    if pending is not None and pending[0] == name:
        state = f"{pending[1]:,} of {output.counted(pending[2], 'new run')} made; the same command resumes it"
    if name not in store.studies():
        raise FolderError(f"{store.folder}: {name} is not finished, with {state}")
    place = shlex.quote(str(store.folder / "studies" / name / "study.toml"))
    note = f"{name} is being extended, with {state}: the report is of the runs before" if state else ""
    made: Report = page().read(store, name, f"incast study run {place} --store OTHER", note)
    return made


def of_grid(study: Grid, home: Home, formats: Sequence[str]) -> Report:
    """Read the report of a comparison over two keys."""
    report = of(Store.at(home.store), home.name)
    report.title, report.names, report.remark = study.title, study.labels(), study.remark
    report.again = study.command(str(home.folder), None, formats, home.given)
    return report


def folder_of(store: Store, name: str) -> Path:
    """Return the folder of a study's report, in its store."""
    return store.folder / REPORTS_FOLDER / slug(name)


def show(report: Report, folder: Path, formats: Sequence[str], quiet: bool) -> None:
    """Write a report, and print its answer, its table and its path."""
    with output.about(folder):
        path = page().write(report, folder, formats).path
        if not quiet:
            page().print_answer(report, out)
        out.print(f"report: {path}", highlight=False, soft_wrap=True)
