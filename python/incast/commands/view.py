"""``incast view``: runs over time, as one HTML file or by a local server."""

from __future__ import annotations

import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from incast.commands import progress, subjects
from incast.commands.options import AllowCode, Quiet, Workers, allow, beside, err, out
from incast.errors import FolderError
from incast.system import interrupts, output
from incast.system.interrupts import loading
from incast.writing.numbers import quantity, said

if TYPE_CHECKING:
    from incast.view.serving import Server


def view(
    runs: subjects.Subject,
    out_: Annotated[
        str | None,
        typer.Option("--out", metavar="FILE", help="Output file (default: view.html or view-CHOICE.html)."),
    ] = None,
    controller: subjects.ChosenControllers = None,
    value: subjects.ChosenValue = None,
    seed: subjects.ChosenSeed = None,
    scenario: subjects.ChosenScenario = None,
    study: subjects.ChosenStudy = None,
    run: subjects.ChosenRun = None,
    serve: Annotated[
        bool, typer.Option("--serve", help="Serve the page until Ctrl-C, for runs too large for one file.")
    ] = False,
    port: Annotated[
        int | None, typer.Option(min=1, max=65535, help="Port of --serve at 127.0.0.1 (default: any free port).")
    ] = None,
    open_: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
    workers: Workers = 0,
    allow_code: AllowCode = False,
    quiet: Quiet = False,
) -> None:
    """Show runs over time: fabric, queues, flows and windows, in one HTML file that works offline.

    A run without a timeline is repeated with one: the same seed gives the same figures. The repetition is kept beside
    the run. A scenario is run first.
    """
    allow(allow_code)
    with loading():
        from incast.commands import finding
        from incast.view import page, serving, timelines

    path = None if out_ is None else Path(out_)
    _check(out_, serve, port)
    found = finding.find_all(runs, subjects.Asked.of(controller, value, seed, scenario, study, run))
    tell = subjects.teller("view", quiet)
    if found.told:
        tell(f"shows {found.told}")
    page.viewer()
    with progress.of_batch(err, quiet) as show:
        made = timelines.made(found.wanted, tell, workers=workers, show=show)
        with made as there:
            names, folders = [name for name, _ in there], [folder for _, folder in there]
            if not serve:
                target = found.page if path is None else path
                size = page.write(folders, target, path is not None, names)
                _say(target, size, open_, quiet)
                return
            with serving.Server(port or 0) as server:
                with progress.of_wait(err, "view: reading", quiet):
                    server.show(folders, names)
                _serve(server, open_)


def _check(out_: str | None, serve: bool, port: int | None) -> None:
    """Refuse options that contradict each other."""
    if serve and out_ is not None:
        raise FolderError(f'--out "{out_}": not allowed with --serve, which writes no file')
    if port is not None and not serve:
        raise FolderError(f"--port {port}: needs --serve too")
    if out_ is not None and not out_.strip():
        raise FolderError(f'--out "{out_}": expected the name of a file')
    if out_ is not None and Path(out_).is_dir():
        raise FolderError(f"--out {out_}: expected a file, and this is a folder")


def _say(path: Path, size: int, open_: bool, quiet: bool) -> None:
    """Print where the page is, and open it."""
    if not quiet:
        with output.about(path):
            hint = "" if open_ else "; open it in a browser"
            beside(path).print(f"view: {path} ({said(quantity(size, 'B'))}){hint}", highlight=False, soft_wrap=True)
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
