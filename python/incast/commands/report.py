"""``incast report``: what finished runs say, again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from incast import output, run_table
from incast.commands.compare import print_comparison
from incast.commands.options import Paired, Quiet, out, tell
from incast.errors import FolderError
from incast.interrupts import loading
from incast.result import Result
from incast.run_folder import MANIFEST
from incast.study.comparing import STUDY_FILE


def report(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder of a finished comparison, or of one run.")],
    paired: Paired = False,
    quiet: Quiet = False,
) -> None:
    """Write the report of a comparison again from its runs; of a single run, print its table again."""
    if not folder.exists():
        raise FolderError(f"{folder} does not exist: expected the folder of a run or of a comparison")
    if (folder / MANIFEST).is_file() and not (folder / STUDY_FILE).exists():
        result = Result.load(folder)
        tell(result.notes())
        if not quiet:
            with output.about(folder):
                run_table.show(result, folder, out)
        return
    if not (folder / STUDY_FILE).exists():
        raise FolderError(
            f"{folder} has no {MANIFEST} and no {STUDY_FILE}: expected the folder of a run or a comparison"
        )
    with loading():
        from incast import comparison
    from incast import report as page

    done = comparison.load(folder)
    print_comparison(done, page.write(done), quiet, paired)
