"""``incast paper``: figures of published papers, made again, and their claims."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from incast import memory, output, progress
from incast.commands.options import AllowCode, Format, MemoryLimit, Quiet, Workers, allow, err, out
from incast.commands.options import folder as folder_of
from incast.errors import FolderError, PaperError
from incast.executor import Executor
from incast.interrupts import loading

if TYPE_CHECKING:
    from incast.papers.definition import Figure, Paper

PaperName = Annotated[
    str, typer.Argument(metavar="NAME[/FIG]", help="A paper (incast paper list), or one of its figures.")
]
Scale = Annotated[str, typer.Option("--scale", metavar="small|paper", help="Sizes: quick ones, or the paper's own.")]
PaperSeeds = Annotated[
    int | None,
    typer.Option("--seeds", min=1, help="No more seeds a point than this (default: as many as the figure has)."),
]
PaperFolder = Annotated[
    str | None, typer.Option("--out", metavar="DIR", help="Folder of the results (default runs/paper-NAME-SCALE).")
]


def list_(
    name: Annotated[str, typer.Argument(metavar="[NAME]", help="One paper alone.", show_default=False)] = "",
    names: Annotated[bool, typer.Option("--names", help="The papers' names alone.")] = False,
) -> None:
    """List the papers and their figures."""
    from incast.papers import reading

    for one in [name] if name else reading.names():
        paper, figures = reading.find(one)
        if names:
            out.print(paper.called(), highlight=False)
            continue
        out.print(f"{paper.called()}: {paper.title}. {paper.source}", highlight=False, soft_wrap=True)
        table = Table(box=None, show_header=False, padding=(0, 2, 0, 2))
        table.add_column(no_wrap=True, style="bold")
        table.add_column()
        for figure in figures:
            table.add_row(paper.called(figure), f"{figure.title} ({figure.where})")
        out.print(table)


def run(
    name: PaperName,
    scale: Scale = "small",
    seeds: PaperSeeds = None,
    workers: Workers = 0,
    out_: PaperFolder = None,
    memory_limit: MemoryLimit = None,
    format_: Format = "png",
    allow_code: AllowCode = False,
    quiet: Quiet = False,
) -> None:
    """Run a paper's figures and write its report, with a verdict on every claim.

    Called again it goes on where it was interrupted; figures that were run before stay in the report.
    """
    allow(allow_code)
    with loading():
        from incast.look import formats_of
        from incast.papers import planning, reading

    _known_scale(scale)
    formats = formats_of(format_)
    paper, figures = reading.find(name, seeds)
    folder = folder_of(out_, f"paper-{paper.name}-{scale}")
    limit = memory.limit_of(memory_limit)
    with progress.of_batch(err, quiet) as show:
        planning.carry_out(paper, figures, scale, folder, Executor(workers, show, limit))
    _print_paper(paper, figures, scale, seeds, out_, folder, formats, quiet)


def report(
    name: PaperName,
    scale: Scale = "small",
    seeds: PaperSeeds = None,
    out_: PaperFolder = None,
    format_: Format = "png",
    quiet: Quiet = False,
) -> None:
    """Write a paper's report again from the runs that are there."""
    with loading():
        from incast.look import formats_of
        from incast.papers import planning, reading

    _known_scale(scale)
    formats = formats_of(format_)
    paper, figures = reading.find(name, seeds)
    folder = folder_of(out_, f"paper-{paper.name}-{scale}")
    if not (folder / planning.MARK).is_file():
        called = paper.called(figures[0] if len(figures) == 1 else None)
        begin = _run_again(called, scale, seeds, out_, formats)
        raise FolderError(f"{folder} holds no results of a paper: begin with {begin}")
    planning.mark_folder(paper, scale, folder)
    _print_paper(paper, figures, scale, seeds, out_, folder, formats, quiet)


def _run_again(called: str, scale: str, seeds: int | None, out_: str | None, formats: Sequence[str]) -> str:
    """Return the command that makes what is called so at that scale, with these options, in that folder."""
    options = [
        *(["--scale", scale] if scale != "small" else []),
        *(["--seeds", str(seeds)] if seeds else []),
        *(["--out", shlex.quote(out_)] if out_ is not None else []),
        *(["--format", ",".join(formats)] if tuple(formats) != ("png",) else []),
    ]
    return " ".join(["incast paper run", called, *options])


def _known_scale(scale: str) -> None:
    from incast.papers.definition import SCALES

    if scale not in SCALES:
        raise PaperError(f'--scale "{scale}": expected one of {", ".join(SCALES)}')


def _print_paper(
    paper: Paper,
    asked: list[Figure],
    scale: str,
    seeds: int | None,
    out_: str | None,
    folder: Path,
    formats: Sequence[str],
    quiet: bool,
) -> None:
    from incast.papers import evaluation, page

    def again(figure: Figure | None, out_: str | None = None) -> str:
        return _run_again(paper.called(figure), scale, seeds, out_, formats)

    found, missing = [], []
    for figure in paper.figures.values():
        done = evaluation.evaluate(paper, figure, scale, folder)
        if isinstance(done, evaluation.Missing):
            missing.append(done)
        else:
            found.append(done)
    if not found:
        told = "; ".join(page.told_missing(one) for one in missing if one.lacking < one.runs)
        raise FolderError(
            f"{folder} holds no figure of which all runs are there{f' ({told})' if told else ''}: "
            f"{again(asked[0] if len(asked) == 1 else None, out_)}"
        )
    # the page does not say where it was made
    report = page.write(paper, scale, found, missing, folder, again, formats)
    names = {figure.name for figure in asked}
    with output.about(folder):
        if not quiet:
            page.print_verdicts([done for done in found if done.figure.name in names], out)
            for one in missing:
                # Of a whole paper some figures may never have been begun.
                if one.figure.name in names and (one.lacking < one.runs or len(asked) == 1):
                    out.print(page.told_missing(one), highlight=False, soft_wrap=True)
        out.print(f"report: {report}", highlight=False, soft_wrap=True)
    if len(asked) == 1 and any(one.figure.name in names for one in missing):
        raise FolderError(f"{folder} lacks runs of {asked[0].name}: {again(asked[0], out_)}")
