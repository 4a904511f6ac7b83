"""``incast list``, ``incast describe`` and ``incast schema``: names and descriptions."""

from __future__ import annotations

import json as json_
import sys
import textwrap
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from incast.commands import kinds, paper, scenarios, schemas
from incast.commands.options import out
from incast.errors import ScenarioError
from incast.system.interrupts import loading

PAPERS = "papers"
"""Kind of the papers of ``incast paper``."""


def list_(
    kind: Annotated[
        str | None, typer.Argument(metavar="[KIND]", help=f"One of: {', '.join([*kinds.KINDS, PAPERS])}.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """List all names of a kind; without a kind, the kinds."""
    if kind is None:
        counts = [(one, len(kinds.listing(one))) for one in kinds.KINDS] + [(PAPERS, len(_papers()))]
        _print([{"kind": one, "count": count} for one, count in counts], json)
        if not json:
            out.print("incast list KIND names all; incast describe NAME says what one is", highlight=False)
        return
    if kind in ("paper", PAPERS):
        if json:
            _print(_papers(), json)
        else:
            paper.list_()
        return
    if kind in ("scenario", "scenarios"):
        _list_scenarios(json)
        return
    _print([{"name": name, "what": words} for name, words in kinds.listing(kind)], json)


def _papers() -> list[dict[str, str]]:
    with loading():
        from incast.papers import reading

    return [{"name": name, "what": reading.find(name)[0].title} for name in reading.names()]


def _print(rows: Sequence[Mapping[str, object]], json: bool) -> None:
    """Print rows as a table without a header, or as JSON."""
    if json:
        sys.stdout.write(json_.dumps(rows, indent=2, ensure_ascii=False) + "\n")
        return
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True, style="bold")
    for row in rows:
        table.add_row(*(f"{value:,}" if isinstance(value, int) else str(value) for value in row.values()))
    out.print(table)


def _list_scenarios(json: bool) -> None:
    """List the built-in scenarios by topology, with their sizes."""
    from incast.report import run_size

    found = list(scenarios.all_of_them())
    if json:
        _print([one.data() for one in found], json)
        return
    heads = ("name", "hosts", "links", "flows", "CPU")
    rows = [
        (
            f"  {one.name}",
            f"{one.size.hosts:,}",
            run_size.rate(one.size.host_rate_bps),
            f"{one.size.flows:,}",
            run_size.cost(one.size),
        )
        for one in found
    ]
    indent = " " * 4
    first, *others = (max(map(len, column)) for column in zip(heads, *rows, strict=True))

    def line(cells: Sequence[str], style: str) -> Text:
        figures = "".join(f"  {cell:>{width}}" for cell, width in zip(cells[1:], others, strict=True))
        return Text.assemble((f"{cells[0]:<{first}}", style), figures)

    out.print(line(heads, ""), style="dim", highlight=False)
    for group, members in groupby(zip(found, rows, strict=True), lambda pair: pair[0].group):
        out.print(Text(group, "italic"))
        for one, cells in members:
            out.print(line(cells, "bold"), highlight=False)
            out.print(Text(textwrap.fill(one.what, out.width, initial_indent=indent, subsequent_indent=indent)))
    out.print("CPU: about, estimated; ?: not for radio cells. incast describe scenario NAME shows the file.")


def describe(
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="[KIND] NAME",
            help=f"A name (incast list KIND), after its kind if several kinds have it: {', '.join(kinds.KINDS)}.",
        ),
    ],
) -> None:
    """Describe a name: parameters with units, defaults and sources."""
    match words:
        case [("paper" | "papers"), name]:
            paper.show(name)
            return
        case [name]:
            kind = kinds.kind_of(name)
        case [kind, name]:
            pass
        case _:
            raise ScenarioError(f"{' '.join(words)}: expected a name, or a kind and a name (incast describe KIND NAME)")
    sys.stdout.write(kinds.description(kind, name))


def schema(
    kind: Annotated[str, typer.Argument(metavar="KIND", help="Kind of file: scenario or study.")] = "scenario",
) -> None:
    """Print the JSON schema of scenario files, or of study files, for editors."""
    sys.stdout.write(schemas.text_of(kind))
