"""``incast report``: reports from finished runs."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from incast.batch.store import Store
from incast.commands import study_reports
from incast.commands.coexist import print_pairs
from incast.commands.compare import print_comparison, print_grid
from incast.commands.options import Bins, Format, Paired, Quiet, out, tell
from incast.comparisons.declaration import ComparisonStudy
from incast.comparisons.grid import Grid
from incast.errors import FolderError, StudyError
from incast.report import run_table
from incast.runs.result import Result
from incast.runs.run_folder import MANIFEST
from incast.study import companions
from incast.system import output
from incast.system.files import STORE_FILE, held
from incast.system.interrupts import loading

STUDY_FILE = ComparisonStudy.FILE
PAIRS_FILE, PAPER_MARK, SEARCH_MARKS, PAGE = (
    "coexistence.json", "paper.json", ("tune.json", "sensitivity.json"), "report.html",
)  # fmt: skip
"""Files that mark folders of pairs, of papers, and of searches, and their report; here to avoid slow imports."""


def _of_pairs(folder: Path, format_: str, quiet: bool) -> None:
    with loading():
        from incast.comparisons import coexistence
        from incast.report import coexistence_page

    formats = study_reports.formats_of(format_)
    with held(folder):
        pairs, found, home = coexistence.load(folder)
    print_pairs(pairs, found, folder, coexistence_page.write(pairs, found, home, formats), quiet)


def _refuse(folder: Path, what: str, options: Sequence[str]) -> None:
    """Raise ``StudyError`` for options that do not apply to a folder of this kind."""
    if options:
        raise StudyError(f"{' and '.join(options)}: only for the folder of a comparison, and {folder} has {what}")


def report(
    folder: Annotated[
        Path,
        typer.Argument(metavar="DIR", help="Folder of a finished comparison, of pairs, or of one run; or a store."),
    ],
    study: Annotated[
        str | None, typer.Option("--study", metavar="NAME", help="The study, if a store has several.")
    ] = None,
    paired: Paired = False,
    bins: Bins = None,
    format_: Format = "png",
    quiet: Quiet = False,
) -> None:
    """Rewrite the report of a comparison, of pairs or of a study from its runs; for a single run, print its table."""
    of_comparisons = [option for option, given in (("--bins", bins), ("--paired", paired)) if given]
    if not folder.exists():
        raise FolderError(f"{folder} does not exist: expected the folder of a run or of a comparison")
    if study is not None and not (folder / STORE_FILE).exists():
        raise StudyError(f"--study {study}: only for a store of studies, and {folder} is none")
    if (folder / MANIFEST).is_file() and not (folder / STUDY_FILE).exists():
        _refuse(folder, "one run", [*of_comparisons, *(["--format"] if format_ != "png" else [])])
        result = Result.load(folder)
        tell(result.notes())
        if not quiet:
            with output.about(folder):
                run_table.show(result, folder, out)
        return
    if (folder / PAIRS_FILE).is_file() and not (folder / STUDY_FILE).exists():
        _refuse(folder, "pairs of controllers", of_comparisons)
        _of_pairs(folder, format_, quiet)
        return
    if (folder / Grid.FILE).is_file() and not (folder / STUDY_FILE).exists():
        _refuse(folder, "a comparison over two keys", of_comparisons)
        with held(folder):
            with loading():
                from incast.comparisons import grid_runs
            print_grid(*grid_runs.load(folder), study_reports.formats_of(format_), quiet)
        return
    if not (folder / STUDY_FILE).exists() and (folder / STORE_FILE).exists():
        _refuse(folder, "a store of studies", of_comparisons)
        store = Store.at(folder)
        name = companions.name_in(store, study)
        with held(folder):
            found = study_reports.of(store, name)
        formats = study_reports.formats_of(format_)
        study_reports.show(found, study_reports.folder_of(store, name), formats, quiet)
        return
    if (folder / PAPER_MARK).is_file() and not (folder / STUDY_FILE).exists():
        again = f"incast paper report NAME --out {shlex.quote(str(folder))}"
        raise FolderError(f"{folder} has the results of a paper: {again} writes its report")
    if any((folder / mark).is_file() for mark in SEARCH_MARKS):
        raise FolderError(f"{folder} has the results of a search or of an analysis: its report is {folder / PAGE}")
    if not folder.is_dir():
        raise FolderError(f"{folder} is a file: expected the folder of a run or a comparison")
    if not (folder / STUDY_FILE).exists():
        raise FolderError(
            f"{folder} has no {MANIFEST} and no {STUDY_FILE}: expected the folder of a run or a comparison"
        )
    with loading():
        from incast.comparisons import comparison
    from incast.report import comparison_page as page
    from incast.runs import completions

    parted, formats = completions.Bins.parse(bins) if bins is not None else None, study_reports.formats_of(format_)
    with held(folder):
        done = comparison.load(folder)
    done.bins = parted
    print_comparison(done, page.write(done, formats).path, quiet, paired)
