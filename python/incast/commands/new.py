"""``incast new``: commented files to begin with."""

from __future__ import annotations

import keyword
import math
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from incast import _core
from incast.commands import schemas
from incast.commands.options import Quiet, beside, next_steps, tell
from incast.errors import FolderError, ModelError, ScenarioError
from incast.runs.scenario import Scenario, toml_value
from incast.system.folders import is_stream, write_named
from incast.system.interrupts import loading
from incast.templates import fabric
from incast.templates import study as studies
from incast.templates.controller import controller_file
from incast.templates.fabric import Fabric
from incast.writing.names import as_word

LEAST_BPS = 1e3
"""Least rate of a link: flows of the tables of sizes last for longer than the longest run below it."""

OutFile = Annotated[Path | None, typer.Option("--out", metavar="FILE", help="The file; nothing is overwritten.")]


def scenario(
    leaf_spine: Annotated[
        str | None, typer.Option("--leaf-spine", metavar="LxS", help="L leaf and S spine switches (default: 4x4).")
    ] = None,
    fat_tree: Annotated[
        int | None, typer.Option("--fat-tree", min=2, metavar="K", help="Fat tree of switches with K ports.")
    ] = None,
    dumbbell: Annotated[
        int | None, typer.Option("--dumbbell", min=1, metavar="N", help="N senders share one link with endless flows.")
    ] = None,
    incast: Annotated[
        int | None, typer.Option("--incast", min=1, metavar="N", help="N hosts answer one host at once.")
    ] = None,
    hosts: Annotated[int | None, typer.Option(min=1, help="Hosts of all leaves (default: 16 a leaf).")] = None,
    rate: Annotated[str, typer.Option(help="Rate of the links of hosts, such as 25G.")] = "100Gbps",
    traffic: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Flow sizes (incast list sizes), or permutation (default: websearch)."),
    ] = None,
    load: Annotated[
        str | None, typer.Option(help="Load of the hosts' links, such as 60% or 0.6 (default: 60%).")
    ] = None,
    out_: OutFile = None,
    quiet: Quiet = False,
) -> None:
    """Write a commented scenario of a fabric, which runs as it is; and its schema for editors beside it."""
    asked = _with_traffic(_fabric(leaf_spine, fat_tree, dumbbell, incast, hosts), rate, traffic, load)
    path = _free(out_, "scenario.toml")
    files = _write_with_schema(path, fabric.scenario_file(asked, path.name), "scenario")
    if load is not None and (_share(load) or 0) > 1:
        tell([f"--load {load}: more bytes arrive than the links of the hosts carry; 60 % of them is 60% or 0.6"])
    name = as_word(str(path))
    _tell(files, quiet, f"incast validate {name}", f"incast run {name} --dry-run", f"incast run {name}")


def _fabric(
    leaf_spine: str | None, fat_tree: int | None, dumbbell: int | None, incast: int | None, hosts: int | None
) -> Fabric:
    """Return the fabric that the options name; raises ``ScenarioError`` for several."""
    named = {"--leaf-spine": leaf_spine, "--fat-tree": fat_tree, "--dumbbell": dumbbell, "--incast": incast}
    chosen = [option for option, value in named.items() if value is not None]
    if len(chosen) > 1:
        raise ScenarioError(f"{' and '.join(chosen)}: expected one of {', '.join(named)}")
    if fat_tree is not None:
        return fabric.fat_tree(fat_tree, hosts)
    if dumbbell is None and incast is None:
        return fabric.leaf_spine(leaf_spine or "4x4", hosts)
    if hosts is not None:
        raise ScenarioError(f"--hosts {hosts}: {chosen[0]} has the number of its senders; expected no --hosts")
    return fabric.dumbbell(dumbbell) if dumbbell is not None else fabric.incast(incast or 1)


def _with_traffic(asked: Fabric, rate: str, traffic: str | None, load: str | None) -> Fabric:
    """Return the fabric with its rate and traffic; raises ``ScenarioError`` for what the fabric does not take."""
    given = {"--traffic": traffic, "--load": load}
    takes = asked.kind in ("leaf-spine", "fat-tree")
    if not takes and (options := [option for option, value in given.items() if value is not None]):
        raise ScenarioError(f"{' and '.join(options)}: only with --leaf-spine or --fat-tree")
    if traffic is not None:
        fabric.refuse_unknown(traffic)
    try:
        bits_per_s = _core.model_quantity("rate", rate)
    except ModelError as error:
        raise ScenarioError(f"--rate {error}") from None
    if bits_per_s == math.inf:
        raise ScenarioError(f"--rate {rate}: expected a finite rate, such as 10Gbps")
    if bits_per_s < LEAST_BPS:
        raise ScenarioError(f"--rate {rate}: expected at least 1kbps, such as 10Gbps")
    asked = replace(asked, rate=rate, traffic=traffic or "")
    if load is None:
        return asked
    if not asked.has_load:
        raise ScenarioError(f"--load {load}: {traffic} has no load; expected no --load")
    if (value := _share(load)) is not None and not value > 0:
        raise ScenarioError(f"--load {load}: expected more than 0, such as 60% or 0.6")
    return replace(asked, load=load if load.replace(".", "", 1).isdecimal() else toml_value(load))


def _share(text: str) -> float | None:
    """Return a load, such as ``60%`` or ``0.6``, as a number; nothing for another text, which the scenario refuses."""
    number, percent, _ = text.partition("%")
    try:
        return float(number) / (100 if percent else 1)
    except ValueError:
        return None


def study(
    over: Annotated[str, typer.Argument(metavar="SCENARIO", help="A scenario file or a built-in scenario.")] = (
        "scenario.toml"
    ),
    out_: OutFile = None,
    quiet: Quiet = False,
) -> None:
    """Write a commented study of a scenario: threshold and load as axes, three seeds; and its schema for editors."""
    path = _free(out_, "study.toml")
    is_file = Path(over).exists()
    if over == "scenario.toml" and not is_file:
        raise FolderError(f"{over}: no such file; expected a scenario: incast new scenario writes one")
    base, named = Scenario.load(over), over
    if is_file:  # a study finds files from its own folder
        named = str(Path(over).absolute()) if is_stream(path) else os.path.relpath(over, path.parent)
    files = _write_with_schema(path, studies.study_file(base, named, path.stem, path.name), "study")
    name = as_word(str(path))
    _tell(files, quiet, f"incast study run {name} --dry-run", f"incast study run {name}")


def controller(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the class.")] = "Mine",
    out_: OutFile = None,
    quiet: Quiet = False,
) -> None:
    """Write a commented congestion controller in Python, which runs as it is."""
    if not name.isidentifier() or keyword.iskeyword(name):
        raise ScenarioError(f'"{name}": expected a name of a Python class, such as Mine')
    path = _free(out_, f"{name.lower()}.py")
    _write(path, controller_file(name, path.name))
    called = f"{as_word(str(path))}:{name}"
    run = f"incast run dumbbell --set controller={called}"
    _tell([path], quiet, run, f"incast compare dumbbell --cc {called} --cc dctcp")


def paper(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder, new or empty.")] = Path("mypaper"),
    quiet: Quiet = False,
) -> None:
    """Write a small paper to edit: a figure, its scenario and a claim."""
    with loading():
        from incast.papers import beginning
    made = beginning.begin(folder)
    show, run = f"incast paper show {made.called(made.figures['fig1'])}", f"incast paper run {made.called()}"
    _tell([folder / one for one in beginning.FILES], quiet, show, run)


def _free(given: Path | None, default: str) -> Path:
    """Return the place of a new file; raises ``FolderError`` if it is taken."""
    path = Path(default) if given is None else given
    if path.is_dir():
        raise FolderError(f"--out {path}: expected a file, and this is a folder")
    if os.path.lexists(path) and not is_stream(path):
        raise FolderError(f"{path} exists: give another --out, or remove it first (nothing is overwritten)")
    return path


def _write_with_schema(path: Path, text: str, kind: str) -> list[Path]:
    """Write a file that names its schema, and the schema beside it if none is there; return the files written."""
    if is_stream(path):  # nothing lies beside a stream
        _write(path, text)
        return [path]
    made = [path]
    if not (schema := path.parent / schemas.file_of(kind)).exists():
        _write(schema, schemas.text_of(kind))
        made.append(schema)
    _write(path, schemas.named_in(kind, text))
    return made


def _write(path: Path, text: str) -> None:
    try:
        write_named(path, text)
    except OSError as error:
        raise FolderError(f"cannot write {path}: {error.strerror}") from None


def _tell(files: Sequence[Path], quiet: bool, *commands: str) -> None:
    """Print the files written, and the commands to go on with."""
    if not quiet:
        beside(files[0]).print(f"wrote: {', '.join(map(str, files))}", highlight=False, soft_wrap=True)
    next_steps(quiet, *commands)
