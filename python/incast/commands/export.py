"""``incast export``: a run in file formats of other programs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from incast.commands.options import Quiet, beside
from incast.errors import FolderError
from incast.export import pcapng as captures
from incast.export import perfetto as traces
from incast.runs.result import Result
from incast.system import output
from incast.system.files import held
from incast.system.folders import write_named
from incast.writing.numbers import quantity, said


def export(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a run.")],
    pcapng: Annotated[
        str | None,
        typer.Option("--pcapng", metavar="FILE", help="Packets of traced flows for Wireshark (measure.trace)."),
    ] = None,
    perfetto: Annotated[
        str | None,
        typer.Option("--perfetto", metavar="FILE", help="Flows over time for ui.perfetto.dev, as JSON."),
    ] = None,
    flow: Annotated[
        list[int] | None, typer.Option("--flow", metavar="NUMBER", help="A flow (default: all); repeats.")
    ] = None,
    at: Annotated[str, typer.Option("--at", metavar="END", help="End of the capture: sender or receiver.")] = "sender",
    quiet: Quiet = False,
) -> None:
    """Export a run: a packet capture for Wireshark, a trace for Perfetto."""
    if at not in captures.ENDS:
        raise FolderError(f'--at "{at}": expected {" or ".join(captures.ENDS)}')
    if pcapng is None and perfetto is None:
        raise FolderError("nothing to write: expected --pcapng FILE or --perfetto FILE, or both")
    result = Result.load(run)
    for option, name in (("--pcapng", pcapng), ("--perfetto", perfetto)):
        if name is None:
            continue
        path = Path(name)
        if not name.strip() or path.is_dir():
            raise FolderError(f'{option} "{name}": expected the name of a file')
        with held(run):
            content: str | bytes = (
                captures.capture(result, flow or [], at) if option == "--pcapng" else traces.trace(result, flow or [])
            )
        with output.about(path):
            write_named(path, content)
            if not quiet:
                size = said(quantity(len(content), "B"))
                beside(path).print(f"export: {path} ({size})", highlight=False, soft_wrap=True)
