"""``incast tune`` and ``incast sensitivity``: search for parameter values, and sensitivity analysis."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from incast.batch.runner import Status
from incast.batch.shares import default_workers
from incast.commands import progress
from incast.commands.options import AllowCode, Format, Quiet, Workers, allow, err, next_steps, out, tell
from incast.commands.options import folder as folder_of
from incast.errors import UnsoundError
from incast.system import output
from incast.system.interrupts import loading
from incast.writing.numbers import number, rounded, said

if TYPE_CHECKING:
    from incast.statistics import Estimate
    from incast.tuning.outcome import Chosen, Compared, Outcome
    from incast.tuning.sensitivity import Found

PAGE = "report.html"
StudyFile = Annotated[Path, typer.Argument(metavar="STUDY", help="A study file whose axes are ranges.")]


def tune(
    file: StudyFile,
    budget: Annotated[
        int | None,
        typer.Option("--budget", min=1, metavar="N", help="Number of parameter sets to try (default: the file's)."),
    ] = None,
    workers: Workers = 0,
    out_: Annotated[
        str | None, typer.Option("--out", metavar="DIR", help="Folder for the results (default: runs/tune-NAME).")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
    format_: Format = "png",
    allow_code: AllowCode = False,
    quiet: Quiet = False,
) -> None:
    r"""Search for the best values of a study's parameters; writes the best scenario file.

    The study's table \[tune] declares the objective. The same command resumes a stopped search. Several processes, on
    machines that share the folder, can work on one search.
    """
    allow(allow_code)
    with loading():
        from incast.pictures.style import formats_of
        from incast.study.api import load
        from incast.tuning import outcome
        from incast.tuning.declaration import Tuning
        from incast.tuning.search import Search
    formats = formats_of(format_)
    study = load(file)
    tuning = Tuning.of(study, budget)
    tuning.check()
    tell(study.drops())
    folder = folder_of(out_, f"tune-{study.name}")
    search = Search(tuning, folder)
    cores = workers or default_workers()
    with progress.of_batch(err, quiet) as show:
        status = Status(total=tuning.budget)

        def finished(count: int) -> None:
            status.finished = count
            show(status)

        tried = search.carry_out(cores, finished)
    found = outcome.of(search, tried, cores)
    again = shlex.join(["incast", "tune", str(file), "--budget", str(tuning.budget), "--out", str(folder)])
    _write(found, folder, formats, json, quiet, again)
    unsound = [one.refused for one in found.tried if one.unsound]
    if unsound:
        raise UnsoundError(f"{output.counted(len(unsound), 'set')} refused; the first: {unsound[0]}")


def _write(found: Outcome, folder: Path, formats: Sequence[str], json: bool, quiet: bool, again: str) -> None:
    """Write the results of a search with their report, and show them."""
    from incast.report import tuning_page
    from incast.tuning import results

    def page(inside: Mapping[str, str]) -> dict[str, str]:
        return {PAGE: tuning_page.of_search(found, inside, formats, again)}

    with output.about(folder):
        scenarios = results.write(found, folder, formats, page)
        if json:
            sys.stdout.write((folder / results.RESULT).read_text(encoding="utf-8"))
            return
        if not quiet:
            _print(found)
        for path in scenarios:
            out.print(f"scenario: {path}", highlight=False, soft_wrap=True)
        out.print(f"report: {folder / PAGE}", highlight=False, soft_wrap=True)
        next_steps(quiet, *(f"incast run {shlex.quote(str(path))}" for path in scenarios[:1]))


def _print(found: Outcome) -> None:
    tuning = found.tuning
    given_up = sum(one.scores is None and not one.refused and not one.unfinished for one in found.tried)
    refused = [one for one in found.tried if one.refused]
    summary = f"{len(found.tried)} sets tried under {len(tuning.seeds)} seeds"
    summary += f", {given_up} of them stopped after fewer" if given_up else ""
    summary += f", {len(refused)} that could not be run (the first: {refused[0].refused})" if refused else ""
    out.print(f"{tuning.target.study.name}: {' and '.join(map(str, tuning.objectives))}; {summary}", highlight=False)
    for one in found.tried:
        if one.unfinished:
            out.print(f"set {one.number + 1} {one.unfinished}", highlight=False, soft_wrap=True)
    if len(found.front) > 1:
        _print_front(found)
    worse = [
        objective.figure
        for objective, ours, theirs in zip(
            tuning.objectives, found.best.tried.scores or (), found.default_scores, strict=True
        )
        if not objective.better(ours, theirs)
    ]
    if worse:
        out.print(
            f"no set that was tried beats the defaults on the tuning seeds in {' and '.join(worse)}", highlight=False
        )
    values = tuning.target.beside_defaults(found.best.tried.values)
    out.print(f"chosen: set {found.best.tried.number + 1}: {values}", highlight=False, soft_wrap=True)
    _print_compared(found.best, len(tuning.held_out))
    for note in found.notes:
        err.print(f"note: {note}", highlight=False, soft_wrap=True)
    for figure, shares in found.importances.items():
        ordered = sorted(shares, key=lambda key: -shares[key])
        named = ", ".join(f"{key} {said(rounded(shares[key]))}" for key in ordered)
        out.print(f"importance for {figure}: {named}", highlight=False, soft_wrap=True)


def _print_compared(chosen: Chosen, seeds: int) -> None:
    from incast.tuning.pictures import Scale

    several = len({row.scenario for row in chosen.compared}) > 1
    table = Table(title=f"held-out seeds ({seeds}), means and 95 % intervals", title_justify="left")
    for word in [*(["scenario"] if several else []), "figure", "tuned", "defaults", "paired difference", "verdict"]:
        named = word in ("scenario", "figure")
        table.add_column(
            word, justify="left" if named or word == "verdict" else "right", no_wrap=named, overflow="fold"
        )
    for row in chosen.compared:
        known = [one.mean for one in (row.tuned, row.defaults) if one is not None]
        scale = Scale(row.unit, known)
        cells = [*([row.scenario] if several else []), scale.label(row.figure), *_cells(row, scale.factor), row.verdict]
        table.add_row(*cells)
    out.print(table)
    for row in chosen.compared:
        if row.seeds < seeds:
            where = f" in {row.scenario}" if several else ""
            note = f"note: {row.figure}{where} is compared under {row.seeds} of {seeds} seeds, those where both have it"
            err.print(note, highlight=False, soft_wrap=True)


def _cells(row: Compared, factor: float) -> list[str]:
    return [said(number(one, factor)) for one in (row.tuned, row.defaults, row.difference)]


def _print_front(found: Outcome) -> None:
    from incast.tuning.pictures import Scale

    tuning = found.tuning
    table = Table(title=f"Pareto front of {len(found.front)} sets, tuning seeds", title_justify="left")
    keys = [parameter.key for parameter in tuning.target.parameters]
    units = {row.figure: row.unit for row in found.best.compared} if len(tuning.target.scenarios) == 1 else {}
    columns = [[one.tried.scores[i] for one in found.front if one.tried.scores] for i in range(len(tuning.figures))]
    scales = [Scale(units.get(figure, ""), column) for figure, column in zip(tuning.figures, columns, strict=True)]
    for word in ["", *keys, *(scale.label(figure) for scale, figure in zip(scales, tuning.figures, strict=True))]:
        table.add_column(word, justify="right", overflow="fold")
    for place, one in enumerate(found.front):
        mark = f"{place + 1}{' *' if place == found.chosen else ''}"
        scores = [
            said(rounded(score * scale.factor)) for score, scale in zip(one.tried.scores or (), scales, strict=True)
        ]
        table.add_row(mark, *(str(one.tried.values[key]) for key in keys), *scores)
    out.print(table)
    out.print("*: chosen: nearest to the best value of each objective, relative to the range of the front")


def sensitivity(
    file: StudyFile,
    method: Annotated[
        str | None, typer.Option("--method", metavar="NAME", help="morris or sobol (default: the file's).")
    ] = None,
    samples: Annotated[
        int | None,
        typer.Option("--samples", min=1, metavar="N", help="Trajectories, or points of Sobol's sequence."),
    ] = None,
    workers: Workers = 0,
    out_: Annotated[
        str | None, typer.Option("--out", metavar="DIR", help="Folder for the results (default: runs/sensitivity-...).")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
    format_: Format = "png",
    allow_code: AllowCode = False,
    quiet: Quiet = False,
) -> None:
    """Measure the effect of each parameter of a study on its figures, over its whole range.

    Morris' elementary effects take N (parameters + 1) points, Sobol's indices N (parameters + 2). The same command
    resumes a stopped analysis.
    """
    allow(allow_code)
    with loading():
        from incast.pictures.style import formats_of
        from incast.report import tuning_page
        from incast.study.api import load
        from incast.tuning import sensitivity as sensitivities
    formats = formats_of(format_)
    study = load(file)
    analysis = sensitivities.Analysis.of(study, method, samples)
    folder = folder_of(out_, f"sensitivity-{study.name}-{analysis.method}")
    with progress.of_batch(err, quiet) as show:
        found = sensitivities.carry_out(analysis, folder, workers, show)
    words = ["incast", "sensitivity", str(file), "--method", analysis.method, "--samples", str(analysis.samples)]

    def page(inside: Mapping[str, str]) -> dict[str, str]:
        return {PAGE: tuning_page.of_analysis(found, inside, formats, shlex.join([*words, "--out", str(folder)]))}

    with output.about(folder):
        sensitivities.write(found, folder, formats, page)
        if json:
            sys.stdout.write((folder / sensitivities.RESULT).read_text(encoding="utf-8"))
            return
        if not quiet:
            _print_indices(found)
        out.print(f"report: {folder / PAGE}", highlight=False, soft_wrap=True)


def _print_indices(found: Found) -> None:
    from incast.statistics import Estimate
    from incast.tuning import sensitivity as sensitivities
    from incast.tuning.pictures import Scale

    analysis = found.analysis
    summary = f"{found.points} points, {found.runs} runs, {analysis.method}"
    out.print(f"{analysis.target.study.name}: {summary}", highlight=False)
    for figure in analysis.figures:
        if figure in found.still:
            continue
        rows = [index for index in found.indices if index.figure == figure]
        scale = Scale(rows[0].unit, [index.main for index in rows])
        table = Table(title=scale.label(figure), title_justify="left")
        for word in ["parameter", *sensitivities.columns(analysis.method)]:
            table.add_column(word, justify="left" if word == "parameter" else "right")
        for index in rows:
            cells = [_number(Estimate(index.main, index.main_half_width, 2), scale.factor)]
            cells.append(_number(Estimate(index.other, index.other_half_width, 2), scale.factor))
            if index.mean is not None:
                cells.append(said(rounded(index.mean * scale.factor)))
            table.add_row(index.parameter, *cells)
        out.print(table)
    for note in found.notes():
        err.print(f"note: {note}", highlight=False, soft_wrap=True)


def _number(one: Estimate, factor: float) -> str:
    return said(number(one, factor))
