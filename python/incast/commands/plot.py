"""``incast plot``: pictures of one run."""

from __future__ import annotations

import shlex
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from incast.batch.store import Store
from incast.commands import progress, study_reports
from incast.commands.options import Format, Quiet, err, next_steps, out
from incast.commands.options import folder as folder_of
from incast.errors import FolderError
from incast.runs.result import Result
from incast.study import companions
from incast.system import output
from incast.system.files import STORE_FILE
from incast.system.folders import refuse_odd_name
from incast.system.interrupts import loading


def plot(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a run, or a store.")],
    study: Annotated[
        str | None, typer.Option("--study", metavar="NAME", help="The study, if a store has several.")
    ] = None,
    out_: Annotated[
        str | None, typer.Option("--out", metavar="DIR", help="Folder for the pictures (default: the run's).")
    ] = None,
    format_: Format = "png",
    quiet: Quiet = False,
) -> None:
    """Draw pictures of a run: its flows, and its recorded time series; or those of a study in a store.

    A run without a timeline is simulated again with one: over-time shows throughput, windows and the busiest queue.
    Windows of single flows of many need a run with --set measure.series.flows=[0,1]; queues of all ports and their heat
    map need --set measure.series.ports=all.
    """
    with loading():
        from incast.pictures import run_pictures

    formats = study_reports.formats_of(format_)
    if (run / STORE_FILE).is_file():
        store = Store.at(run)
        name = companions.name_in(store, study)
        folder = study_reports.folder_of(store, name) if out_ is None else folder_of(out_, "")
        draw = partial(study_reports.page().draw, study_reports.of(store, name))
    else:
        if study is not None:
            raise FolderError(f"--study {study}: only for a store of studies, and {run} is none")
        folder = run if out_ is None else folder_of(out_, "")
        draw = partial(run_pictures.draw, Result.load(run))
    refuse_odd_name(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with progress.of_wait(err, "pictures", quiet):
            files, reasons = draw(folder, formats)
    except OSError as error:
        raise FolderError(f"cannot write pictures to {folder}: {error.strerror}") from None
    if not quiet:
        for reason in reasons:
            err.print(reason, highlight=False, soft_wrap=True)
    with output.about(folder):
        message = f"pictures: {' '.join(str(folder / name) for name in files)}" if files else "nothing to draw"
        out.print(message, highlight=False, soft_wrap=True)
        next_steps(quiet, f"incast view {shlex.quote(str(run))}")
