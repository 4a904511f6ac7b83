"""``incast export``: a run or a scenario in file formats of other programs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from incast.commands.options import Quiet, beside, out, tell
from incast.errors import FolderError
from incast.export import pcapng as captures
from incast.export import perfetto as traces
from incast.interchange import hpcc_export, htsim_export
from incast.interchange.translation import Translation
from incast.runs.result import Result
from incast.runs.scenario import Scenario
from incast.system import output
from incast.system.files import held
from incast.system.folders import new_folder, write_named
from incast.writing.numbers import quantity, said

SIMULATORS: dict[str, Callable[[Scenario], Translation]] = {
    "--hpcc": hpcc_export.translate,
    "--htsim": htsim_export.translate,
}
"""Options that write files of another simulator."""


def export(
    run: Annotated[
        str, typer.Argument(metavar="RUN|SCENARIO", help="Folder of a run; with --hpcc and --htsim a scenario.")
    ],
    pcapng: Annotated[
        str | None,
        typer.Option("--pcapng", metavar="FILE", help="Packets of traced flows for Wireshark (measure.trace)."),
    ] = None,
    perfetto: Annotated[
        str | None,
        typer.Option("--perfetto", metavar="FILE", help="Flows over time for ui.perfetto.dev, as JSON."),
    ] = None,
    hpcc: Annotated[
        str | None,
        typer.Option("--hpcc", metavar="DIR", help="Topology, flows and configuration for HPCC's simulator."),
    ] = None,
    htsim: Annotated[
        str | None, typer.Option("--htsim", metavar="DIR", help="Topology and connection matrix for htsim.")
    ] = None,
    flow: Annotated[
        list[int] | None, typer.Option("--flow", metavar="NUMBER", help="A flow (default: all); repeats.")
    ] = None,
    at: Annotated[str, typer.Option("--at", metavar="END", help="End of the capture: sender or receiver.")] = "sender",
    quiet: Quiet = False,
) -> None:
    """Export a run for Wireshark and Perfetto, or a scenario for HPCC's simulator and htsim."""
    if at not in captures.ENDS:
        raise FolderError(f'--at "{at}": expected {" or ".join(captures.ENDS)}')
    records = {"--pcapng": pcapng, "--perfetto": perfetto}
    simulators = {"--hpcc": hpcc, "--htsim": htsim}
    if not any(name is not None for name in (*records.values(), *simulators.values())):
        raise FolderError(
            "nothing to write: expected --pcapng FILE or --perfetto FILE of a run, or --hpcc DIR or --htsim DIR of a "
            "scenario"
        )
    for option, folder in simulators.items():
        if folder is not None:
            _export_scenario(run, option, folder, quiet)
    if any(name is not None for name in records.values()):
        _export_run(Path(run), records, flow or [], at, quiet)


def _export_scenario(named: str, option: str, folder: str, quiet: bool) -> None:
    """Write the files of another simulator, and say what they cannot."""
    if not folder.strip():
        raise FolderError(f'{option} "{folder}": expected the name of a folder')
    inside = Path(named) / "scenario.toml"
    made = SIMULATORS[option](Scenario.load(inside if inside.is_file() else named))
    with new_folder(Path(folder)) as aside:
        for name, text in made.files.items():
            (aside / name).write_text(text, encoding="utf-8")
    if not quiet:
        names = ", ".join(str(Path(folder) / name) for name in made.files)
        out.print(f"wrote: {names} ({made.about})", highlight=False, soft_wrap=True)
    tell(made.notes.lines())


def _export_run(run: Path, records: dict[str, str | None], flow: list[int], at: str, quiet: bool) -> None:
    """Write the records of a run."""
    result = Result.load(run)
    for option, name in records.items():
        if name is None:
            continue
        path = Path(name)
        if not name.strip() or path.is_dir():
            raise FolderError(f'{option} "{name}": expected the name of a file')
        with held(run):
            content: str | bytes = (
                captures.capture(result, flow, at) if option == "--pcapng" else traces.trace(result, flow)
            )
        with output.about(path):
            write_named(path, content)
            if not quiet:
                size = said(quantity(len(content), "B"))
                beside(path).print(f"export: {path} ({size})", highlight=False, soft_wrap=True)
