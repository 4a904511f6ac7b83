"""``incast paper``: reproduction of figures of published papers, and checks of their claims."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from incast import _core
from incast.commands import progress
from incast.commands.options import (
    AllowCode,
    Format,
    MemoryLimit,
    Quiet,
    Workers,
    allow,
    err,
    next_steps,
    out,
    settings,
    tell,
)
from incast.commands.options import folder as folder_of
from incast.comparisons.declaration import varied
from incast.errors import FolderError, PaperError
from incast.external import consent
from incast.papers import changing
from incast.papers.definition import PAPER_FILE, SCALES
from incast.system import memory, output
from incast.system.interrupts import loading

if TYPE_CHECKING:
    from incast.papers.definition import Figure, Paper

PaperName = Annotated[
    str, typer.Argument(metavar="NAME[/FIG]", help="A paper (incast paper list), or one of its figures.")
]
Scale = Annotated[
    str, typer.Option("--scale", metavar="small|paper", help="Size of the runs: small (quick), or that of the paper.")
]
PaperSeeds = Annotated[
    int | None,
    typer.Option("--seeds", min=1, help="Most seeds per point (default: those of the figure)."),
]
PaperFolder = Annotated[
    str | None, typer.Option("--out", metavar="DIR", help="Folder for the results (default: runs/paper-NAME-SCALE).")
]
Changed = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Change a key in the runs of a figure; its verdicts then say (changed set-up); repeats.",
    ),
]
Varied = Annotated[
    str | None,
    typer.Option(
        "--vary", metavar="KEY=V1,V2,...", help="Give a key several values: one figure per value, and one of all."
    ),
]
OfSeries = Annotated[
    list[str] | None,
    typer.Option(
        "--series", metavar="NAME", help="A series that --set and --vary change (default: all with the key); repeats."
    ),
]


def _found(name: str, seeds: int | None = None) -> tuple[Paper, list[Figure]]:
    """Find a paper and its figures; print a note if a folder has the name of a built-in paper."""
    from incast.papers import reading

    first = name.partition("/")[0]
    if reading.is_known(name) and (Path(first) / PAPER_FILE).is_file():
        tell([f"{first} is the built-in paper; write ./{first} for the folder"])
    return reading.find(name, seeds)


def list_(
    name: Annotated[str, typer.Argument(metavar="[NAME]", help="A single paper.", show_default=False)] = "",
    names: Annotated[bool, typer.Option("--names", help="Print only the names of the papers.")] = False,
) -> None:
    """List the papers and their figures."""
    from incast.papers import reading

    broken: list[str] = []
    for one in [name] if name else reading.names():
        try:
            paper, figures = _found(one)
        except PaperError as error:
            if name:
                raise
            err.print(f"error: {error}", highlight=False, soft_wrap=True)
            broken.append(one)
            continue
        if names:
            out.print(paper.called(), highlight=False)
            continue
        others = f" (also {', '.join(paper.aliases)})" if paper.aliases else ""
        out.print(f"{paper.called()}{others}: {paper.title}. {paper.source}", highlight=False, soft_wrap=True)
        table = Table(box=None, show_header=False, padding=(0, 2, 0, 2))
        table.add_column(no_wrap=True, style="bold")
        table.add_column()
        for figure in figures:
            table.add_row(paper.called(figure), f"{figure.title} ({figure.where})")
        out.print(table)
    if broken:
        raise PaperError(f"cannot list {', '.join(broken)}: expected papers that can be read")


def run(
    name: PaperName,
    scale: Scale = "small",
    seeds: PaperSeeds = None,
    workers: Workers = 0,
    set_: Changed = None,
    vary: Varied = None,
    series: OfSeries = None,
    timeline: Annotated[
        str | None,
        typer.Option(
            "--timeline",
            metavar="SERIES@POINT",
            help="Repeat a run of a figure (or: first) with a timeline, and write its viewer page.",
        ),
    ] = None,
    out_: PaperFolder = None,
    memory_limit: MemoryLimit = None,
    format_: Format = "png",
    allow_code: AllowCode = False,
    quiet: Quiet = False,
) -> None:
    """Run a paper's figures and write its report, with a verdict on every claim.

    The same command resumes an interrupted run; earlier figures stay in the report. Figures changed by --set or --vary
    go to a separate folder.
    """
    allow(allow_code)
    with loading():
        from incast.papers import planning, reading
        from incast.pictures.style import formats_of

    _known_scale(scale)
    formats = formats_of(format_)
    paper, figures = _found(name, seeds)
    asked = Asked(paper, figures, scale, seeds, out_, formats, set_ or [], vary, series or [])
    limit = memory.limit_of(memory_limit)
    paper, figures, folder = asked.changed()
    timed = None
    if timeline is not None:
        if len(asked.figures) > 1:
            raise PaperError(
                f"--timeline {timeline}: expected one figure of {paper.name}, such as {paper.called(figures[0])}"
            )
        one, point = reading.run_of(figures[0].at(scale), timeline)
        timed = figures[0], one.name, point.x
    with progress.of_batch(err, quiet) as show:
        planning.carry_out(paper, figures, scale, folder, timed, workers=workers, show=show, memory_limit=limit)
    _print_paper(asked, paper, figures, folder, quiet)


def report(
    name: PaperName,
    scale: Scale = "small",
    seeds: PaperSeeds = None,
    set_: Changed = None,
    vary: Varied = None,
    series: OfSeries = None,
    out_: PaperFolder = None,
    format_: Format = "png",
    quiet: Quiet = False,
) -> None:
    """Write a paper's report again from its finished runs."""
    with loading():
        from incast.papers import planning
        from incast.pictures.style import formats_of

    _known_scale(scale)
    formats = formats_of(format_)
    paper, figures = _found(name, seeds)
    asked = Asked(paper, figures, scale, seeds, out_, formats, set_ or [], vary, series or [])
    paper, figures, folder = asked.changed()
    if not (folder / planning.MARK).is_file():
        begin = asked.again(figures[0] if len(figures) == 1 else None, out_)
        raise FolderError(f"{folder} holds no results of a paper: start with {begin}")
    planning.mark_folder(paper, scale, folder)
    _print_paper(asked, paper, figures, folder, quiet)


def show(
    name: PaperName,
    scale: Scale = "small",
    scenario: Annotated[
        str | None,
        typer.Option("--scenario", metavar="SERIES@POINT", help="Print the resolved scenario of a run (or: first)."),
    ] = None,
) -> None:
    """Show the parts of a figure: scenario, series, points, claims, assumptions, published numbers."""
    from incast.papers import reading, showing

    _known_scale(scale)
    paper, figures = _found(name)
    if scenario is not None:
        if len(figures) > 1:
            raise PaperError(
                f"--scenario {scenario}: expected one figure of {paper.name}, such as {paper.called(figures[0])}"
            )
        at = figures[0].at(scale)
        sys.stdout.write(paper.scenario(at, *reading.run_of(at, scenario)).with_seed(1).toml())
        return
    for line in showing.of_paper(paper) if reading.is_whole(name) else showing.of_figure(paper, figures[0], scale):
        out.print(line, highlight=False, soft_wrap=True)


def copy(
    name: PaperName,
    to: Annotated[Path, typer.Argument(metavar="DIR", help="Folder for the copy, new or empty.")],
) -> None:
    """Copy a paper or one of its figures into an editable folder."""
    from incast.papers import copying

    paper, figures = _found(name)
    one = figures[0] if len(figures) == 1 and len(paper.figures) > 1 else None
    made = copying.copy(paper, one, to, _core.__version__)
    lines = [f"copied: {', '.join(made.files)}", f"edit: {to / PAPER_FILE} for series, points and claims"]
    if made.scenarios:
        listed = ", ".join(str(to / one) for one in made.scenarios)
        lines.append(f"edit: {listed} for topology, queues, traffic and controllers")
    lines += [f"not copied: {place}, a class relative to the working directory" for place in made.classes]
    lines.append(f"then: incast paper run {made.paper.called()}")
    for line in lines:
        out.print(output.escaped(line), highlight=False, soft_wrap=True)


@dataclass(frozen=True)
class Asked:
    """Arguments of a command: figures of a paper, scale, changes, results folder."""

    paper: Paper
    figures: list[Figure]
    scale: str
    seeds: int | None
    out: str | None
    formats: Sequence[str]
    set: Sequence[str]
    vary: str | None
    series: Sequence[str]

    def changed(self) -> tuple[Paper, list[Figure], Path]:
        """Return the changed paper and figures, and the results folder."""
        if not (self.set or self.vary):
            if self.series:
                raise PaperError(f"--series {self.series[0]}: needs --set or --vary too")
            return self.paper, self.figures, folder_of(self.out, f"paper-{self.paper.name}-{self.scale}")
        if len(self.figures) > 1:
            one = self.paper.called(self.figures[0])
            raise PaperError(f"--set and --vary change one figure: expected one of {self.paper.name}, such as {one}")
        (figure,) = self.figures
        given = settings(list(self.set))
        vary = varied(self.vary) if self.vary else None
        if vary is not None:
            consent.grant(list(vary[1]))
        paper = changing.of(self.paper, figure, self.scale, given, vary, self.series, lambda note: tell([note]))
        name = changing.folder_name(self.paper, figure, self.scale, given, self.vary, self.series)
        return paper, list(paper.figures.values()), folder_of(self.out, name)

    def again(self, figure: Figure | None, out_: str | None) -> str:
        """Return the command that runs a figure, or all, with the same options, into that folder."""
        is_changed = bool(self.set or self.vary)
        options = [
            *(["--scale", self.scale] if self.scale != "small" else []),
            *(["--seeds", str(self.seeds)] if self.seeds else []),
            *(word for text in self.set for word in ("--set", shlex.quote(text))),
            *(["--vary", shlex.quote(self.vary)] if self.vary else []),
            *(word for text in self.series for word in ("--series", shlex.quote(text))),
            *(["--out", shlex.quote(out_)] if out_ is not None else []),
            *(["--format", ",".join(self.formats)] if tuple(self.formats) != ("png",) else []),
        ]
        return " ".join(["incast paper run", self.paper.called(self.figures[0] if is_changed else figure), *options])


def _known_scale(scale: str) -> None:
    if scale not in SCALES:
        raise PaperError(f'--scale "{scale}": expected one of {", ".join(SCALES)}')


def _print_paper(asked: Asked, paper: Paper, figures: list[Figure], folder: Path, quiet: bool) -> None:
    from incast.papers import page, reporting

    begin = asked.again(figures[0] if len(figures) == 1 else None, asked.out)
    done = reporting.write(paper, asked.scale, folder, lambda one: asked.again(one, None), begin, asked.formats)
    names = {figure.name for figure in figures}
    own = [one for one in done.found if one.figure.name in names]
    with output.about(folder):
        if not quiet:
            page.print_verdicts(own, out)
            for one in done.missing:
                # some figures of a paper may not have been started
                if one.figure.name in names and (one.lacking < one.runs or len(figures) == 1):
                    out.print(page.missing_text(one), highlight=False, soft_wrap=True)
        out.print(f"report: {done.page}", highlight=False, soft_wrap=True)
        for view in page.views(own, folder):
            out.print(f"view: {view}", highlight=False, soft_wrap=True)
        change = f"incast paper copy {paper.called(figures[0])} DIR"
        next_steps(quiet, f"open {done.page} in a browser", f"{change}: the parts of the figure, to change")
    if len(figures) == 1 and any(one.figure.name in names for one in done.missing):
        raise FolderError(f"{folder} lacks runs of {figures[0].name}: {asked.again(figures[0], asked.out)}")
