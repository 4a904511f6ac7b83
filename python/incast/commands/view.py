"""``incast view``: runs over time, as one HTML file or by a local server."""

from __future__ import annotations

import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from incast.commands import progress
from incast.commands.options import Quiet, beside, err, out
from incast.errors import FolderError
from incast.system import interrupts, output
from incast.system.interrupts import loading

if TYPE_CHECKING:
    from incast.view.serving import Server


def view(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Folders of runs with a timeline.")],
    out_: Annotated[
        str | None,
        typer.Option("--out", metavar="FILE", help="Output file (default: view.html in the first run's folder)."),
    ] = None,
    serve: Annotated[
        bool, typer.Option("--serve", help="Serve the page until Ctrl-C, for runs too large for one file.")
    ] = False,
    port: Annotated[
        int | None, typer.Option(min=1, max=65535, help="Port of --serve at 127.0.0.1 (default: any free port).")
    ] = None,
    open_: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
    quiet: Quiet = False,
) -> None:
    """Show runs over time: fabric, queues, flows and windows, in one HTML file.

    The file works offline. Runs need a timeline: --set measure.timeline=auto.
    """
    with loading():
        from incast.view import chosen, page, serving

    chosen.refuse_reports(runs)
    if serve:
        if out_ is not None:
            raise FolderError(f'--out "{out_}": not allowed with --serve, which writes no file')
        with serving.Server(port or 0) as server:
            with progress.of_wait(err, "view: reading", quiet):
                server.show(runs)
            _serve(server, open_)
            return
    if port is not None:
        raise FolderError(f"--port {port}: needs --serve too")
    if out_ is not None and not out_.strip():
        raise FolderError(f'--out "{out_}": expected the name of a file')
    path = runs[0] / "view.html" if out_ is None else Path(out_)
    if path.is_dir():
        raise FolderError(f"--out {path}: expected a file, and this is a folder")
    size = page.write(runs, path, named=out_ is not None)
    if not quiet:
        with output.about(path):
            hint = "" if open_ else "; open it in a browser"
            beside(path).print(f"view: {path} ({size / 1e6:.2f} MB){hint}", highlight=False, soft_wrap=True)
    if open_:
        _open(path.resolve().as_uri())


def _serve(server: Server, open_: bool) -> None:
    """Serve until Ctrl-C, the normal end; SIGTERM has its own exit status."""
    out.print(f"view: {server.address} (Ctrl-C stops the server)", highlight=False, soft_wrap=True)
    sys.stdout.flush()
    if open_:
        _open(server.opening())
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        if interrupts.status() != 128 + signal.SIGINT or not interrupts.has_last_word():
            raise


def _open(address: str) -> None:
    import webbrowser

    if not webbrowser.open(address):
        err.print("note: no browser found", highlight=False, soft_wrap=True)
