"""``incast plot``: pictures of one run."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from incast.commands import progress
from incast.commands.options import Format, Quiet, err, next_steps, out
from incast.commands.options import folder as folder_of
from incast.errors import FolderError
from incast.runs.result import Result
from incast.system import output
from incast.system.interrupts import loading


def plot(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a run.")],
    out_: Annotated[
        str | None, typer.Option("--out", metavar="DIR", help="Folder for the pictures (default: the run's).")
    ] = None,
    format_: Format = "png",
    quiet: Quiet = False,
) -> None:
    """Draw pictures of a run: its flows, and its recorded time series.

    A run of at most eight flows without a timeline is simulated again with one: over-time shows throughput, windows and
    the busiest queue. Windows of more flows need a run with --set measure.series.flows=[0,1]; queues and their heat map
    need --set measure.series.ports=all.
    """
    result = Result.load(run)
    with loading():
        from incast.pictures import run_pictures
        from incast.pictures.style import formats_of

    formats = formats_of(format_)
    folder = run if out_ is None else folder_of(out_, "")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with progress.of_wait(err, "pictures", quiet):
            files, reasons = run_pictures.draw(result, folder, formats)
    except OSError as error:
        raise FolderError(f"cannot write pictures to {folder}: {error.strerror}") from None
    if not quiet:
        for reason in reasons:
            err.print(reason, highlight=False, soft_wrap=True)
    with output.about(folder):
        message = f"pictures: {' '.join(str(folder / name) for name in files)}" if files else "nothing to draw"
        out.print(message, highlight=False, soft_wrap=True)
        next_steps(quiet, f"incast view {shlex.quote(str(run))}")
