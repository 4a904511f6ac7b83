"""``incast list``, ``incast describe`` and ``incast schema``: names and descriptions."""

from __future__ import annotations

import json as json_
import sys
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from incast import _core
from incast.commands import kinds, paper, scenarios
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
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("name", no_wrap=True, style="bold")
    for word in ("hosts", "links", "flows", "CPU"):
        table.add_column(word, justify="right", no_wrap=True)
    table.add_column("")
    for group, members in groupby(found, lambda one: one.group):
        table.add_row(Text(group, "italic"))
        for one in members:
            size = one.size
            table.add_row(
                f"  {one.name}",
                f"{size.hosts:,}",
                run_size.rate(size.host_rate_bps),
                f"{size.flows:,}",
                run_size.cost(size),
                one.what,
            )
    out.print(table)
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


def schema() -> None:
    """Print the JSON schema of a scenario."""
    sys.stdout.write(_core.schema().rstrip("\n") + "\n")
