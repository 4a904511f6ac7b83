"""``incast model``: closed-form models, as tables and curves."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Annotated

import typer
from rich.console import Console

from incast.batch.store import Store
from incast.commands.options import Quiet, Settings, out, settings
from incast.errors import ModelError
from incast.runs.scenario import Scenario
from incast.system.interrupts import loading


def model(
    context: typer.Context,
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME [--PARAMETER VALUE]...", help="A model (incast model list) and its parameters."),
    ] = None,
    out_: Annotated[
        str | None,
        typer.Option("--out", metavar="FILE", help="Also write the table: a .csv or .json file, in SI units."),
    ] = None,
    plot: Annotated[
        str | None, typer.Option("--plot", metavar="FILE", help="Draw a picture: a .svg, .png or .pdf file.")
    ] = None,
    y: Annotated[str, typer.Option("--y", metavar="FIGURE", help="Figure on the y axis of --plot.")] = "",
    points: Annotated[
        str | None,
        typer.Option("--points", metavar="FILE", help="Measured points for --plot: a .csv with the axes' columns."),
    ] = None,
    set_: Settings = None,
    json: Annotated[bool, typer.Option("--json", help="Print the table as JSON.")] = False,
    quiet: Quiet = False,
    help_: Annotated[bool, typer.Option("--help", "-h", help="Show this message, or describe the model.")] = False,
) -> None:
    """Evaluate a closed-form model: tables and curves over its parameters.

    A parameter is a value (0.01, 14us, 100Gbps), a list (0.01,0.02), or a range (0.001:0.1:log20, 10us:30us:lin5).
    fair-share and ideal-fct take a scenario instead: incast model fair-share permutation. incast model beside STORE --y
    FIGURE compares a figure of a study's runs with its closed form.
    """
    name, *rest = words or [""]
    if not name or (help_ and name == "list"):
        sys.stdout.write(context.get_help() + "\n")
        return
    with loading():
        from incast.models import closed_form, curves, model_overlay
        from incast.study.api import of_store

    if help_:
        sys.stdout.write(closed_form.description(name))
        return
    if name == "list":
        for one, what in closed_form.listing():
            out.print(f"{one:12} {what}", highlight=False, soft_wrap=True)
        return
    table = None if out_ is None else curves.check_file(out_, curves.TABLES)
    drawing = None if plot is None else curves.check_file(plot, curves.PICTURES)
    if name == "beside":
        if len(rest) not in (1, 2) or rest[0].startswith("--") or not y or points is not None or set_:
            forms = ", ".join(form.figure for form in model_overlay.FORMS)
            expected = f"a store of studies and --y FIGURE ({forms}), optionally the axis to draw over"
            raise ModelError(f"beside expected {expected}")
        store = Store.at(rest[0])
        columns = model_overlay.of(store, of_store(store), y, *rest[1:]).drawn(drawing)
        show: Callable[[Console], None] = partial(curves.print_columns, columns, {}, y)
    elif drawing is None and (points is not None or y):
        raise ModelError(f"{'--points' if points is not None else '--y'} is for a picture: expected --plot FILE too")
    elif name in closed_form.SCENARIO_FIGURES:
        if len(rest) != 1 or rest[0].startswith("--") or drawing is not None:
            raise ModelError(f"{name} takes a scenario and draws no picture: incast model {name} permutation")
        columns = closed_form.bounds(name, Scenario.load(rest[0]).with_(dict(settings(set_))))
        show = partial(curves.print_bounds, name, columns)
    else:
        columns, show = curves.evaluated(name, rest, bool(set_), drawing, y, points)
    if table is not None:
        curves.write(table, curves.text_of(columns, table.suffix))
    if json:
        sys.stdout.write(curves.text_of(columns, ".json"))
    elif not quiet:
        show(out)
