"""``incast plot``: pictures of a run, or a picture of a chosen kind of a run, a comparison, pairs or a scenario."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Annotated

import typer

from incast.commands import subjects
from incast.commands.options import AllowCode, Quiet, Workers, allow, err, next_steps, out
from incast.commands.options import folder as folder_of
from incast.commands.subjects import KINDS, Asked
from incast.errors import StudyError
from incast.system import output
from incast.system.interrupts import loading
from incast.system.output import nearest

STYLES = ("screen", "paper", "paper-wide")


def plot(
    runs: subjects.Subject,
    kind: Annotated[
        str | None,
        typer.Option("--kind", metavar="NAME", help=f"One picture: {', '.join(KINDS)} (default: all of a run)."),
    ] = None,
    style: Annotated[
        str,
        typer.Option("--style", metavar="NAME", help="screen; paper (one column) or paper-wide (two), as PDF."),
    ] = "screen",
    controller: subjects.ChosenControllers = None,
    value: subjects.ChosenValue = None,
    seed: subjects.ChosenSeed = None,
    scenario: subjects.ChosenScenario = None,
    study: subjects.ChosenStudy = None,
    run: subjects.ChosenRun = None,
    out_: Annotated[
        str | None, typer.Option("--out", metavar="DIR", help="Folder for the pictures (default: the run's).")
    ] = None,
    format_: Annotated[
        str | None,
        typer.Option("--format", metavar="KIND,...", help="Image formats: png, svg, pdf, or several with commas."),
    ] = None,
    workers: Workers = 0,
    allow_code: AllowCode = False,
    quiet: Quiet = False,
) -> None:
    """Draw pictures of a run: its flows, and its recorded time series; or one picture of a kind.

    A run without a timeline is simulated again with one: over-time shows throughput, windows and the busiest queue.
    Windows of single flows of many need a run with --set measure.series.flows=[0,1]; queues of all ports and their heat
    map need --set measure.series.ports=all. A store has the pictures of a study.

    With --kind also comparisons, pairs, stores, scenarios and figures of papers have pictures; runs without the
    timeline that a kind needs are repeated with one.
    """
    asked = Asked.of(controller, value, seed, scenario, study, run)
    _check(runs, kind, style, asked)
    if kind is not None:
        allow(allow_code)
    with loading():
        from incast.commands import drawing

    given = None if out_ is None else folder_of(out_, "")
    if kind is None:
        done = drawing.draw_all(runs[0], study, given, format_ or "png", quiet)
    else:
        done = drawing.draw(runs, kind, drawing.look_of(style), asked, given, format_, workers, quiet)
    if not quiet:
        for reason in done.reasons:
            err.print(reason, highlight=False, soft_wrap=True)
    with output.about(done.folder):
        named = " ".join(str(done.folder / name) for name in done.files)
        out.print(f"pictures: {named}" if named else "nothing to draw", highlight=False, soft_wrap=True)
        next_steps(quiet, f"incast view {shlex.quote(runs[0])}")


def _check(runs: Sequence[str], kind: str | None, style: str, asked: Asked) -> None:
    """Refuse unknown names, and a choice that needs a kind."""
    if kind is not None and kind not in KINDS:
        raise StudyError(f"--kind {kind}: expected one of {', '.join(KINDS)}{nearest(kind, KINDS)}")
    if style not in STYLES:
        raise StudyError(f"--style {style}: expected one of {', '.join(STYLES)}{nearest(style, STYLES)}")
    if kind is not None:
        return
    others = [one for one in asked.given() if one != "--study"]
    if len(runs) > 1 or style != "screen" or others:
        what = f"{len(runs)} runs" if len(runs) > 1 else "--style" if style != "screen" else others[0]
        raise StudyError(f"{what}: needs --kind too, one of {', '.join(KINDS)}")
