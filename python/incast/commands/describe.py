"""``incast list``, ``incast describe`` and ``incast schema``: names and descriptions."""

from __future__ import annotations

import sys
from typing import Annotated

import typer
from rich.table import Table

from incast import _core
from incast.commands import kinds, paper
from incast.commands.options import out
from incast.errors import ScenarioError

PAPERS = "papers"
"""Kind of the papers of ``incast paper``."""


def list_(
    kind: Annotated[str, typer.Argument(metavar="KIND", help=f"One of: {', '.join([*kinds.KINDS, PAPERS])}.")],
) -> None:
    """List all names of a kind."""
    if kind in ("paper", PAPERS):
        paper.list_()
        return
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True, style="bold")
    table.add_column()
    for name, words in kinds.listing(kind):
        table.add_row(name, words)
    out.print(table)


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
