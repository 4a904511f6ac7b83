"""``incast lab``: the lab in the browser, with an experiment."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated

import typer

from incast import _core
from incast.commands.options import Settings, beside, err, out, pairs_of
from incast.errors import FolderError, ScenarioError
from incast.system import output
from incast.system.interrupts import loading

MOST_CONTROLLERS, MOST_SEEDS = 6, 50
"""Limits of ``viewer/src/lab/experiment.ts``."""


def lab(
    scenario: Annotated[
        str | None, typer.Argument(metavar="[SCENARIO]", help="A built-in scenario, or a scenario file.")
    ] = None,
    cc: Annotated[
        list[str] | None, typer.Option("--cc", metavar="CONTROLLER", help="Controller to compare; repeats, at most 6.")
    ] = None,
    set_: Settings = None,
    seeds: Annotated[int, typer.Option(min=1, max=MOST_SEEDS, help="Seeds 1 to this number.")] = 5,
    out_: Annotated[
        str | None, typer.Option("--out", metavar="FILE", help="Copy the page to this file instead of opening it.")
    ] = None,
    print_: Annotated[bool, typer.Option("--print", help="Print the address instead of opening it.")] = False,
) -> None:
    """Open the lab: the engine in a browser tab, without a network.

    One page to choose a scenario, compare up to six controllers over seeds, write one's own, and follow lessons. Its
    address holds the whole experiment.
    """
    with loading():
        from incast.runs.scenario import Scenario
        from incast.view import lab as page
    if cc and len({*cc}) < len(cc):
        raise ScenarioError("--cc: a controller twice; the lab compares each once")
    if cc and len(cc) > MOST_CONTROLLERS:
        raise ScenarioError(f"--cc: {len(cc)} controllers; the lab compares at most {MOST_CONTROLLERS}")
    settings = pairs_of(set_)
    if out_ is not None and (scenario or cc or settings):
        raise FolderError(f"--out {out_}: copies the page, and takes no scenario: --print gives the address of one")
    place = page.place()
    if out_ is not None:
        _copy(place, Path(out_))
        return
    address = place.as_uri()
    if scenario is None and (cc or settings):
        raise ScenarioError("lab: --cc and --set need a scenario before them")
    if scenario is not None:
        known = Scenario.load(scenario).changed(dict(settings))
        path = Path(scenario)
        text = path.read_text(encoding="utf-8") if path.is_file() else None
        name = known.name if text is not None else scenario
        if text is not None and len(text.encode()) > page.MOST_TEXT:
            raise ScenarioError(f"{scenario}: {len(text.encode()):,} bytes; an address holds {page.MOST_TEXT:,}")
        texts, left_out = page.held(known.files(), path.parent if text is not None else Path())
        for table in left_out.keys() & {own for own, _ in _core.list_kind("sizes")}:
            raise ScenarioError(f"{table}: {left_out[table]}, and the page would take the program's table of this name")
        for why in dict.fromkeys(left_out.values()):
            names = [lacked for lacked, reason in left_out.items() if reason == why]
            more = f" and {len(names) - 1:,} more" if len(names) > 1 else ""
            err.print(f"note: the page lacks {names[0]}{more}: {why}", highlight=False, soft_wrap=True, markup=False)
        address += f"#{page.address(name, settings, cc or [], seeds, text, texts)}"
    if print_:
        out.print(address, highlight=False, soft_wrap=True)
        return
    out.print(f"lab: {address}", highlight=False, soft_wrap=True)
    import webbrowser

    # what opens a file cuts off what stands behind its name
    if not webbrowser.open(page.leading_to(address).as_uri()):
        err.print("note: no browser found; open the address above in one", highlight=False, soft_wrap=True)


def _copy(place: Path, target: Path) -> None:
    """Copy the page."""
    if target.is_dir():
        raise FolderError(f"--out {target}: expected a file, and this is a folder")
    try:
        with output.about(target):
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(place, target)
    except OSError as error:
        raise FolderError(f"cannot write the lab to {target}: {error.strerror}") from None
    beside(target).print(f"lab: {target}; open it in a browser", highlight=False, soft_wrap=True)
