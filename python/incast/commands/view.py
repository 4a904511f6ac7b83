"""``incast view``: a fabric over time, as one file for the browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from incast import output
from incast.commands.options import Quiet, out
from incast.errors import FolderError
from incast.interrupts import loading


def view(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Folders of runs with a timeline.")],
    out_: Annotated[
        str | None,
        typer.Option("--out", metavar="FILE", help="The file (default: view.html in the first run's folder)."),
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Show runs over time: fabric, queues, flows and windows, in one file for the browser.

    The file needs no network. Runs need a timeline: --set measure.timeline=auto.
    """
    with loading():
        from incast.view import page

    if out_ is not None and not out_.strip():
        raise FolderError(f'--out "{out_}": expected the name of a file')
    path = runs[0] / "view.html" if out_ is None else Path(out_)
    if path.is_dir():
        raise FolderError(f"--out {path}: expected a file, and this is a folder")
    size = page.write(runs, path)
    if not quiet:
        with output.about(path):
            out.print(f"view: {path} ({size / 1e6:.2f} MB); open it in a browser", highlight=False, soft_wrap=True)
