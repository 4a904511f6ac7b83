"""``incast import``: input files of other simulators become a scenario, or a table of sizes."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from incast.commands.options import Quiet, beside, next_steps, out, tell
from incast.errors import FolderError, ScenarioError
from incast.interchange import hpcc_scenario, htsim_scenario, sizes
from incast.interchange.translation import SCENARIO, Translation
from incast.interchange.words import Words
from incast.runs.scenario import Scenario
from incast.system.folders import is_stream, new_folder, write_named
from incast.writing.names import as_word

Out = Annotated[
    str | None,
    typer.Option("--out", metavar="DIR", help="Folder of the scenario, new or empty (default: the file's name)."),
]
Check = Annotated[bool, typer.Option("--check", help="Write nothing; only say what would differ.")]


def hpcc(
    config: Annotated[Path, typer.Argument(metavar="CONFIG", help="A config.txt.")],
    topology: Annotated[
        Path | None, typer.Option("--topology", metavar="FILE", help="Topology (default: TOPOLOGY_FILE).")
    ] = None,
    flows: Annotated[Path | None, typer.Option("--flows", metavar="FILE", help="Flows (default: FLOW_FILE).")] = None,
    dialect: Annotated[
        str,
        typer.Option(
            "--dialect",
            metavar="NAME",
            help="hpcc, ns3-datacenter, conweave or simai (default: by the topology's first line).",
        ),
    ] = "",
    controller: Annotated[
        str,
        typer.Option("--cc", metavar="NAME", help="Controller in place of CC_MODE: powertcp, theta-powertcp, ..."),
    ] = "",
    out_: Out = None,
    check: Check = False,
    quiet: Quiet = False,
) -> None:
    """Import a simulation of HPCC's simulator, ns3-datacenter, ConWeave or SimAI as a scenario that runs.

    A key without a counterpart is named once, with its value.
    """
    made = hpcc_scenario.translate(config, topology, flows, dialect, controller)
    _hand_over(made, _folder(out_, config), check, quiet)


def htsim(
    topology: Annotated[
        Path | None, typer.Option("--topo", metavar="FILE", help="A .topo file (default: a fat tree of the hosts).")
    ] = None,
    matrix: Annotated[
        Path | None, typer.Option("--cm", metavar="FILE", help="A .cm file, a connection matrix.")
    ] = None,
    start_unit: Annotated[
        str, typer.Option("--start-unit", metavar="UNIT", help="Unit of starts in the .cm file: ps, ns or us.")
    ] = "",
    out_: Out = None,
    check: Check = False,
    quiet: Quiet = False,
) -> None:
    """Import a topology and a connection matrix of htsim as a scenario that runs."""
    named = matrix or topology
    if named is None:
        raise ScenarioError("nothing to import: expected --topo FILE or --cm FILE, or both")
    made = htsim_scenario.translate(topology, matrix, start_unit)
    _hand_over(made, _folder(out_, named), check, quiet)


def cdf(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Lines of bytes and cumulative percent.")],
    out_: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="The table (default: FILE with .csv; - prints it).")
    ] = None,
    check: Check = False,
    quiet: Quiet = False,
) -> None:
    """Import a distribution of flow sizes as a table for ``arrivals.sizes``."""
    text = sizes.table(Words.read(file))
    if check:
        return
    path = Path("/dev/stdout") if out_ == Path("-") else out_ or Path(f"{file.stem}.csv")
    if path.exists() and not is_stream(path):
        raise FolderError(f"{path} exists: give another --out, or remove it first (nothing is overwritten)")
    write_named(path, text)
    if not quiet:
        beside(path).print(f"wrote: {path}", highlight=False, soft_wrap=True)


def _folder(given: str | None, named: Path) -> Path:
    """Return the folder of ``--out``, or one with the name of a file."""
    if given is None:
        return Path(named.name.split(".")[0] or "imported")
    if not given.strip():
        raise FolderError(f'--out "{given}": expected the name of a folder')
    return Path(given)


def _hand_over(made: Translation, folder: Path, check: bool, quiet: bool) -> None:
    """Write a scenario that can be run, and say what it is not."""
    if check:
        with tempfile.TemporaryDirectory() as aside:
            _write(made.files, Path(aside))
    else:
        with new_folder(folder) as aside_:
            _write(made.files, aside_)
    if not quiet:
        wrote = "would write" if check else "wrote"
        names = ", ".join(str(folder / name) for name in made.files)
        out.print(f"{wrote}: {names} ({made.about})", highlight=False, soft_wrap=True)
    tell(made.notes.lines())
    if not check:
        name = as_word(str(folder / SCENARIO))
        next_steps(quiet, f"incast validate {name}", f"incast run {name}")


def _write(files: Mapping[str, str], folder: Path) -> None:
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    Scenario.load(folder / SCENARIO).validate()
