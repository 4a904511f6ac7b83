"""``incast list``, ``incast describe`` and ``incast schema``: what there is, and what it is."""

from __future__ import annotations

import sys
from typing import Annotated

import typer
from rich.table import Table

from incast import _core, kinds
from incast.commands.options import out


def list_(
    kind: Annotated[str, typer.Argument(metavar="KIND", help=f"One of: {', '.join(kinds.KINDS)}.")],
) -> None:
    """List what there is of a kind."""
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True, style="bold")
    table.add_column()
    for name, words in kinds.listing(kind):
        table.add_row(name, words)
    out.print(table)


def describe(
    kind: Annotated[str, typer.Argument(metavar="KIND", help=f"One of: {', '.join(kinds.KINDS)}.")],
    name: Annotated[str, typer.Argument(metavar="NAME", help="Its name (incast list KIND).")],
) -> None:
    """Say what something is: its parameters with units, defaults and sources."""
    sys.stdout.write(kinds.description(kind, name))


def schema() -> None:
    """Print the JSON schema of a scenario."""
    sys.stdout.write(_core.schema().rstrip("\n") + "\n")
