"""``incast --version``."""

from __future__ import annotations

from typing import Annotated

import typer

from incast import _core
from incast.commands.options import out


def _version(asked: bool) -> None:
    if asked:
        out.print(f"incast {_core.__version__}", highlight=False)
        raise typer.Exit


def incast(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Handle options without a command."""
