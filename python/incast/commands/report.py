"""``incast report``: reports from finished runs."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from incast.commands.coexist import print_pairs
from incast.commands.compare import print_comparison
from incast.commands.options import Bins, Format, Paired, Quiet, out, tell
from incast.comparisons.declaration import ComparisonStudy
from incast.errors import FolderError, StudyError
from incast.report import run_table
from incast.runs.result import Result
from incast.runs.run_folder import MANIFEST
from incast.system import output
from incast.system.files import STORE_FILE, held
from incast.system.interrupts import loading

STUDY_FILE = ComparisonStudy.FILE
PAIRS_FILE, PAPER_MARK = "coexistence.json", "paper.json"
"""Files that mark folders of pairs and of papers, repeated here to avoid slow imports."""


def _of_pairs(folder: Path, format_: str, quiet: bool) -> None:
    with loading():
        from incast.comparisons import coexistence
        from incast.pictures.style import formats_of
        from incast.report import coexistence_page

    formats = formats_of(format_)
    with held(folder):
        pairs, found, home = coexistence.load(folder)
    print_pairs(pairs, found, folder, coexistence_page.write(pairs, found, home, formats), quiet)


def _refuse(folder: Path, what: str, options: Sequence[str]) -> None:
    """Raise ``StudyError`` for options that do not apply to a folder of this kind."""
    if options:
        raise StudyError(f"{' and '.join(options)}: only for the folder of a comparison, and {folder} has {what}")


def report(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="Folder of a finished comparison, of pairs, or of one run.")
    ],
    paired: Paired = False,
    bins: Bins = None,
    format_: Format = "png",
    quiet: Quiet = False,
) -> None:
    """Rewrite the report of a comparison or of pairs from its runs; for a single run, print its table."""
    of_comparisons = [option for option, given in (("--bins", bins), ("--paired", paired)) if given]
    if not folder.exists():
        raise FolderError(f"{folder} does not exist: expected the folder of a run or of a comparison")
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
    if not (folder / STUDY_FILE).exists() and (folder / STORE_FILE).exists():
        raise FolderError(
            f"{folder} is a store of runs: expected the folder of a comparison or of pairs, or that of one run: "
            f"incast study export {shlex.quote(str(folder))} --run RUN --out DIR writes it"
        )
    if (folder / PAPER_MARK).is_file() and not (folder / STUDY_FILE).exists():
        again = f"incast paper report NAME --out {shlex.quote(str(folder))}"
        raise FolderError(f"{folder} has the results of a paper: {again} writes its report")
    if not folder.is_dir():
        raise FolderError(f"{folder} is a file: expected the folder of a run or a comparison")
    if not (folder / STUDY_FILE).exists():
        raise FolderError(
            f"{folder} has no {MANIFEST} and no {STUDY_FILE}: expected the folder of a run or a comparison"
        )
    with loading():
        from incast.comparisons import comparison
    from incast.pictures.style import formats_of
    from incast.report import comparison_page as page
    from incast.runs import completions

    parted, formats = completions.Bins.parse(bins) if bins is not None else None, formats_of(format_)
    with held(folder):
        done = comparison.load(folder)
    done.bins = parted
    print_comparison(done, page.write(done, formats).path, quiet, paired)
