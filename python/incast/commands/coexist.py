"""``incast coexist``: pairs of controllers that share a fabric."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from incast.commands import progress
from incast.commands.options import (
    AllowCode,
    Format,
    MemoryLimit,
    Quiet,
    Rebuild,
    Settings,
    SharedStore,
    Workers,
    allow,
    err,
    next_steps,
    out,
    settings,
    tell,
    tell_loss,
    without_effect,
)
from incast.commands.options import folder as folder_of
from incast.system import memory, output
from incast.system.interrupts import loading

if TYPE_CHECKING:
    from incast.comparisons.coexistence import Meeting, Pairs


def coexist(
    cc: Annotated[
        list[str],
        typer.Option("--cc", metavar="NAME[:KEY=VALUE,...]", help="A controller, or .: the scenario's; two or more."),
    ],
    scenario: Annotated[
        str,
        typer.Argument(
            metavar="SCENARIO", help="A scenario with two traffic entries or jobs, one per controller of a pair."
        ),
    ] = "coexistence",
    seeds: Annotated[int, typer.Option(min=1, help="Seeds 1 to N for every pair.")] = 3,
    workers: Workers = 0,
    out_: Annotated[
        str | None,
        typer.Option("--out", metavar="DIR", help="Folder for the results (default: runs/coexist-...)."),
    ] = None,
    set_: Settings = None,
    format_: Format = "png",
    memory_limit: MemoryLimit = None,
    store: SharedStore = None,
    rebuild: Rebuild = False,
    allow_code: AllowCode = False,
    quiet: Quiet = False,
) -> None:
    """Let pairs of controllers share a fabric: shares of the goodput, delays, fairness.

    The same command resumes an interrupted comparison. With more controllers or seeds it adds only the new runs.
    """
    allow(allow_code)
    with loading():
        from incast.comparisons import coexistence
        from incast.pictures.style import formats_of
        from incast.report import coexistence_page
        from incast.view import chosen

    formats = formats_of(format_)
    pairs = coexistence.parse(scenario, cc, seeds, settings(set_))
    tell(without_effect(pairs.settings, *[lambda kept: list(replace(pairs, settings=tuple(kept)).bases.values())] * 2))
    tell(pairs.notes())
    folder = folder_of(out_, pairs.folder_name())
    limit = memory.limit_of(memory_limit)
    if not quiet and (again := chosen.cost(pairs.viewed(), folder)):
        err.print(f"view: {again}", highlight=False, soft_wrap=True)
    with progress.of_batch(err, quiet) as show:
        pairs, found, home, gap = coexistence.carry_out(
            pairs, folder, store=store, workers=workers, show=show, rebuild=rebuild, memory_limit=limit, tell=tell_loss
        )
    print_pairs(pairs, found, folder, coexistence_page.write(pairs, found, home, formats, gap), quiet)
    if gap:
        err.print(f"no viewer page: {gap}", highlight=False, soft_wrap=True)


def print_pairs(pairs: Pairs, found: Sequence[Meeting], folder: Path, page: Path, quiet: bool) -> None:
    """Print the results of the pairs, and the path of the report."""
    from incast.report import coexistence_page
    from incast.view import chosen

    with output.about(folder):
        if not quiet:
            coexistence_page.print_tables(pairs, found, out)
        files = " ".join(sorted(path.name for path in folder.glob("shares.*")))
        out.print(f"results: {folder} (pairs.csv pairs.json {files})", highlight=False, soft_wrap=True)
        out.print(f"report: {page}", highlight=False, soft_wrap=True)
        if (view := page.parent / chosen.PAGE).is_file():
            out.print(f"view: {view}", highlight=False, soft_wrap=True)
        next_steps(quiet, f"open {page} in a browser", "the same command with more controllers or seeds adds runs")
    tell(filter(None, [pairs.left_out()]))
