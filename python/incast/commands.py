"""The commands of ``incast``."""

from __future__ import annotations

import shlex
import sys
import traceback
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer
from rich.table import Table
from rich.text import Text

from incast import _core, kinds, output, progress
from incast.batch import default_workers, slug
from incast.cli import INTERRUPTED, loading
from incast.errors import (
    ControllerError,
    FolderError,
    ModelError,
    PaperError,
    RunError,
    RunStopped,
    ScenarioError,
    StudyError,
)
from incast.result import MANIFEST, MESSAGES, Result, engine_digest, new_folder, read_manifest, unfinished
from incast.scenario import Scenario
from incast.study import STUDY_FILE, Study

if TYPE_CHECKING:
    from incast.comparison import Comparison
    from incast.papers.definition import Figure as PaperFigure
    from incast.papers.definition import Paper

app = typer.Typer(
    name="incast",
    help="A laboratory for data-center congestion control.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"]},
)

out = output.Screen()
err = output.Screen(stderr=True)

ScenarioName = Annotated[
    str,
    typer.Argument(metavar="SCENARIO", help="A scenario file, or a built-in scenario (incast list scenarios)."),
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Change a key of the scenario, e.g. topology.k=8; repeats."),
]
Paired = Annotated[
    bool, typer.Option("--paired", help="Also how much each controller differs from the first, seed by seed.")
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no table; notes and errors stay.")]


def _settings(texts: list[str] | None) -> list[tuple[str, str]]:
    pairs = []
    for text in texts or []:
        key, equals, value = text.partition("=")
        if not (equals and key.strip()):
            raise ScenarioError(f'--set "{text}": expected KEY=VALUE, such as --set topology.k=8')
        pairs.append((key.strip(), value.strip()))
    return pairs


def _folder(given: str | None, default: str) -> Path:
    if given is None:
        # a scenario's name may be any text, and the folder is to be one of runs
        return Path("runs") / slug(default[-120:])
    if not given.strip():
        raise FolderError(f'--out "{given}": expected the name of a folder')
    return Path(given)


def _tell(notes: Iterable[str]) -> None:
    """Say what is worth knowing before a run, once each."""
    for note in dict.fromkeys(notes):
        err.print(f"note: {note}", highlight=False, soft_wrap=True)


def _refuse_twice(folder: Path, scenario: Scenario) -> None:
    """Say so when what is in the way is this very run."""
    if not (folder / MANIFEST).is_file():
        return
    there = read_manifest(folder)
    if (there.get("hash"), there.get("seed")) == (scenario.hash, scenario.seed):
        build = "" if there.get("engine") == engine_digest() else ", made by another build of the engine"
        raise FolderError(
            f"this run is already in {folder}{build}: incast report {shlex.quote(str(folder))} shows it; "
            "to run it again give another --out, or remove the folder first"
        )


@app.command()
def run(
    scenario: ScenarioName,
    extra: Annotated[list[str] | None, typer.Argument(hidden=True)] = None,
    set_: Settings = None,
    seed: Annotated[int | None, typer.Option(min=0, max=2**63 - 1, help="Seed, instead of the scenario's.")] = None,
    out_: Annotated[
        str | None,
        typer.Option("--out", metavar="DIR", help="Folder for the results (default runs/SCENARIO-SEED-HASH)."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
    quiet: Quiet = False,
) -> None:
    """Simulate a scenario once and leave a run folder.

    What is worth knowing before the run although nothing is wrong goes to the standard error as notes.
    """
    if extra:
        asked_for = f"--set {extra[0]}" if "=" in extra[0] else f"one scenario a run, and that is {scenario}"
        raise ScenarioError(f"{extra[0]}: expected {asked_for}")
    asked = Scenario.load(scenario).with_(dict(_settings(set_)))
    if seed is not None:
        asked = asked.with_seed(seed)
    _tell(asked.notes())
    folder = _folder(out_, f"{asked.name}-{asked.seed}-{asked.hash[:8]}")
    _refuse_twice(folder, asked)
    with loading():
        import pyarrow.parquet  # noqa: F401
    with new_folder(folder) as aside:
        with progress.of_run(err, asked.name, quiet) as show:
            result = asked.run(progress=show)
        result.write(aside)
    _tell(result.notes())
    with output.about(folder):
        if json:
            sys.stdout.write(result.json())
        elif not quiet:
            _print_summary(result, folder)


ENOUGH = 100
"""Samples with fewer of which the 99th percentile, by nearest rank, is the largest."""


def _print_summary(result: Result, folder: Path) -> None:
    summary, cost = result.summary, result.cost
    of_run, flows, fct, busiest = (
        summary["run"],
        summary["flows"],
        summary["fct"],
        summary["queues"]["busiest"],
    )
    table = Table(
        title=f"{output.escaped(of_run['scenario'])}, seed {of_run['seed']}: {of_run['sim_s']:g} s simulated",
        title_justify="left",
        show_header=False,
    )
    table.add_column()
    table.add_column(justify="right")

    def row(name: str, value: float | None, form: str, scale: float = 1, unit: str = "") -> None:
        if value is not None:
            shown = value * scale
            whole = form.endswith("g") and abs(shown) >= 1000
            table.add_row(name, f"{shown:{',.0f' if whole else form}} {unit}".strip())

    row("flows", flows["count"], ",d")
    row("finished", flows["finished"], ",d")
    row("throughput per flow", flows["throughput_mean_bps"], ",.4g", 1e-6, "Mb/s")
    row("goodput, total", flows["goodput_total_bps"], ",.4g", 1e-6, "Mb/s")
    row("one-way delay, mean", flows["delay_mean_s"], ",.4g", 1e6, "us")
    row("one-way delay, p99", flows["delay_p99_s"], ",.4g", 1e6, "us")
    row("loss", flows["loss_total_pct"], ".3g", 1, "%")
    row("Jain's index", flows["jain"], ".4f")
    row("retransmissions", flows["retransmissions"], ",d")
    row("timeouts", flows["timeouts"], ",d")
    row("FCT, mean", fct["mean_s"], ",.4g", 1e6, "us")
    row("FCT, p99", fct["p99_s"], ",.4g", 1e6, "us")
    row("slowdown, p99", fct["slowdown_p99"], ",.3g")
    began = {what: summary[what] for what in MESSAGES if summary.get(what, {}).get("count")}
    for what, figures in began.items():
        row(what, figures["count"], ",d")
        row("  finished", figures["finished"], ",d")
        row("  completion time, mean", figures["mean_s"], ",.4g", 1e3, "ms")
        row("  completion time, p99", figures["p99_s"], ",.4g", 1e3, "ms")
        row("  with a timeout", figures["with_timeout"] if figures["finished"] else None, ",d")
    if busiest and busiest["port"]:
        table.add_row("busiest port", busiest["port"])
        row("  queue, mean", busiest["mean_packets"], ",.1f", 1, "packets")
        # a run that ends early leaves few samples; runs of earlier versions do not say how many
        samples = summary["queues"].get("samples", ENOUGH)
        what = "p99" if samples >= ENOUGH else f"largest of {output.counted(samples, 'sample')}"
        row(f"  queue, {what}", busiest["p99_packets"], ",.0f", 1, "packets")
        row("  utilisation", busiest["utilisation"], ".1f", 100, "%")
    if summary["queues"]["pauses"]:
        row("pauses by flow control", summary["queues"]["pauses"], ",d")
        row("  time paused, all ports", summary["queues"]["paused_s"], ",.4g", 1e3, "ms")
    engine = summary["hosts"]["busiest"]
    if engine["engine"]:
        row("loss at hosts", flows["host_loss_total_pct"], ".3g", 1, "%")
        table.add_row("busiest host engine", engine["engine"])
        row("  queue, mean", engine["mean_packets"], ",.1f", 1, "packets")
        row("  wait, mean", engine["wait_mean_s"], ",.4g", 1e6, "us")
        row("  utilisation", engine["utilisation"], ".1f", 100, "%")
    table.add_section()
    row("hops", of_run["hops"], ",d")
    row("wall time", cost["wall_s"], ".2f", 1, "s")
    row("speed", cost["hops_per_cpu_s"], ".1f", 1e-6, "M hops per CPU s")
    out.print(table)
    for what, figures in began.items():
        if figures["finished"] < figures["count"]:
            out.print(unfinished(what, figures["finished"], figures["count"]), highlight=False, soft_wrap=True)
    out.print(f"results: {folder}", highlight=False, soft_wrap=True)


@app.command()
def compare(
    scenarios: Annotated[
        list[str], typer.Argument(metavar="SCENARIO...", help="Scenario files or built-in scenarios.")
    ],
    cc: Annotated[
        list[str],
        typer.Option("--cc", metavar="NAME[:KEY=VALUE,...]", help="A controller with its parameters; repeats."),
    ],
    vary: Annotated[
        list[str] | None,
        typer.Option(
            "--vary", metavar="KEY=V1,V2,...", help="The key on the x axis and its values, once; without it one point."
        ),
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Seeds 1 to N at every point.")] = 3,
    workers: Annotated[int, typer.Option(min=0, help="Runs side by side; 0: one a core.")] = 0,
    out_: Annotated[
        str | None,
        typer.Option("--out", metavar="DIR", help="Folder for the results (default runs/compare-...)."),
    ] = None,
    set_: Settings = None,
    paired: Paired = False,
    quiet: Quiet = False,
) -> None:
    """Compare controllers on the same placements, over one key and seeds; ends in a report.

    Called again with the same words it goes on where it was interrupted.
    """
    # Plotting libraries take a second to load; only the commands that draw wait for them.
    with loading():
        from incast import comparison, report

    if vary and len(vary) > 1:
        raise StudyError(f'--vary is given twice ("{vary[0]}" and "{vary[1]}"): a comparison varies one key')
    study = Study.parse(scenarios, cc, vary[0] if vary else None, seeds, _settings(set_))
    _tell(note for case in study.cases() if case.seed == 1 for note in study.scenario(case).notes())
    folder = _folder(out_, study.folder_name())
    with progress.of_batch(err, quiet) as show:
        done = comparison.carry_out(study, folder, workers or default_workers(), show)
    _print_comparison(done, report.write(done), quiet, paired)


@app.command()
def coexist(
    cc: Annotated[
        list[str],
        typer.Option("--cc", metavar="NAME[:KEY=VALUE,...]", help="A controller with its parameters; two or more."),
    ],
    scenario: Annotated[
        str,
        typer.Argument(metavar="SCENARIO", help="A scenario with two traffic entries, one for each of a pair."),
    ] = "coexistence",
    seeds: Annotated[int, typer.Option(min=1, help="Seeds 1 to N for every pair.")] = 3,
    workers: Annotated[int, typer.Option(min=0, help="Runs side by side; 0: one a core.")] = 0,
    out_: Annotated[
        str | None,
        typer.Option("--out", metavar="DIR", help="Folder for the results (default runs/coexist-...)."),
    ] = None,
    set_: Settings = None,
    quiet: Quiet = False,
) -> None:
    """Let controllers share a fabric two by two: shares of the goodput, delays, fairness.

    Called again with the same words it goes on where it was interrupted.
    """
    with loading():
        from incast import coexistence

    pairs = coexistence.parse(scenario, cc, seeds, _settings(set_))
    _tell(pairs.notes())
    folder = _folder(out_, pairs.folder_name())
    with progress.of_batch(err, quiet) as show:
        found = coexistence.carry_out(pairs, folder, workers or default_workers(), show)
    with output.about(folder):
        if not quiet:
            coexistence.print_tables(pairs, found, out)
        out.print(f"results: {folder} (pairs.csv pairs.json shares.png)", highlight=False, soft_wrap=True)


@app.command("report")
def report_(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder of a finished comparison, or of one run.")],
    paired: Paired = False,
    quiet: Quiet = False,
) -> None:
    """Write the report of a comparison again from its runs; of a single run, print its table again."""
    if not folder.exists():
        raise FolderError(f"{folder} does not exist: expected the folder of a run or of a comparison")
    if (folder / MANIFEST).is_file() and not (folder / STUDY_FILE).exists():
        result = Result.load(folder)
        _tell(result.notes())
        if not quiet:
            with output.about(folder):
                _print_summary(result, folder)
        return
    if not (folder / STUDY_FILE).exists():
        raise FolderError(
            f"{folder} has no {MANIFEST} and no {STUDY_FILE}: expected the folder of a run or a comparison"
        )
    with loading():
        from incast import comparison, report

    done = comparison.load(folder)
    _print_comparison(done, report.write(done), quiet, paired)


def _print_comparison(done: Comparison, page: Path, quiet: bool, paired: bool) -> None:
    from incast import report

    with output.about(done.folder):
        if not quiet:
            report.print_table(done, out)
            if paired and len(done.study.controllers) > 1:
                report.print_table(done, out, paired=True)
        pictures = " ".join(sorted(p.name for p in page.parent.glob("*.png")))
        out.print(f"report: {page}", highlight=False, soft_wrap=True)
        out.print(f"pictures beside it: {pictures}", highlight=False, soft_wrap=True)
    if done.series_gap:
        err.print(f"no picture over time: {done.series_gap}", highlight=False, soft_wrap=True)


paper_app = typer.Typer(help="Make the figures of published papers again, and hold their claims.", no_args_is_help=True)
app.add_typer(paper_app, name="paper")

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


@paper_app.command("list")
def paper_list(
    name: Annotated[str, typer.Argument(metavar="[NAME]", help="One paper alone.", show_default=False)] = "",
    names: Annotated[bool, typer.Option("--names", help="The papers' names alone.")] = False,
) -> None:
    """List the papers and their figures."""
    from incast.papers import definition

    for one in [name] if name else definition.names():
        paper, figures = definition.find(one)
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


@paper_app.command("run")
def paper_run(
    name: PaperName,
    scale: Scale = "small",
    seeds: PaperSeeds = None,
    workers: Annotated[int, typer.Option(min=0, help="Runs side by side; 0: one a core.")] = 0,
    out_: PaperFolder = None,
    quiet: Quiet = False,
) -> None:
    """Run a paper's figures and write its report, with a verdict on every claim.

    Called again it goes on where it was interrupted; figures that were run before stay in the report.
    """
    with loading():
        from incast.papers import definition, evaluation

    _known_scale(scale)
    paper, figures = definition.find(name, seeds)
    folder = _folder(out_, f"paper-{paper.name}-{scale}")
    with progress.of_batch(err, quiet) as show:
        evaluation.carry_out(paper, figures, scale, folder, workers or default_workers(), show)
    _print_paper(paper, figures, scale, seeds, out_, folder, quiet)


@paper_app.command("report")
def paper_report(
    name: PaperName, scale: Scale = "small", seeds: PaperSeeds = None, out_: PaperFolder = None, quiet: Quiet = False
) -> None:
    """Write a paper's report again from the runs that are there."""
    with loading():
        from incast.papers import definition, evaluation

    _known_scale(scale)
    paper, figures = definition.find(name, seeds)
    folder = _folder(out_, f"paper-{paper.name}-{scale}")
    if not (folder / evaluation.MARK).is_file():
        called = paper.called(figures[0] if len(figures) == 1 else None)
        raise FolderError(f"{folder} holds no results of a paper: begin with {_run_again(called, scale, seeds, out_)}")
    evaluation.prepare(paper, scale, folder)
    _print_paper(paper, figures, scale, seeds, out_, folder, quiet)


def _run_again(called: str, scale: str, seeds: int | None, out_: str | None) -> str:
    """Return the command that makes what is called so at that scale, with these options, in that folder."""
    options = [
        *(["--scale", scale] if scale != "small" else []),
        *(["--seeds", str(seeds)] if seeds else []),
        *(["--out", shlex.quote(out_)] if out_ is not None else []),
    ]
    return " ".join(["incast paper run", called, *options])


def _known_scale(scale: str) -> None:
    from incast.papers.definition import SCALES

    if scale not in SCALES:
        raise PaperError(f'--scale "{scale}": expected one of {", ".join(SCALES)}')


def _print_paper(
    paper: Paper, asked: list[PaperFigure], scale: str, seeds: int | None, out_: str | None, folder: Path, quiet: bool
) -> None:
    from incast.papers import evaluation, page

    def again(figure: PaperFigure | None, out_: str | None = None) -> str:
        return _run_again(paper.called(figure), scale, seeds, out_)

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
    report = page.write(paper, scale, found, missing, folder, again)
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


@app.command("model", add_help_option=False, context_settings={"ignore_unknown_options": True})
def model_(
    context: typer.Context,
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME [--PARAMETER VALUE]...", help="A model (incast model list) and its parameters."),
    ] = None,
    out_: Annotated[
        str | None,
        typer.Option("--out", metavar="FILE", help="Write the table too: a .csv or .json file, in SI units."),
    ] = None,
    plot: Annotated[
        str | None, typer.Option("--plot", metavar="FILE", help="Draw it: a .svg, .png or .pdf file.")
    ] = None,
    y: Annotated[str, typer.Option("--y", metavar="FIGURE", help="The figure on the y axis of --plot.")] = "",
    points: Annotated[
        str | None,
        typer.Option("--points", metavar="FILE", help="Measured points for --plot: a .csv with the axes' columns."),
    ] = None,
    set_: Settings = None,
    json: Annotated[bool, typer.Option("--json", help="Print the table as JSON.")] = False,
    quiet: Quiet = False,
    help_: Annotated[bool, typer.Option("--help", "-h", help="Show this message, or of a model what it is.")] = False,
) -> None:
    """Work out a closed-form model: tables and curves over its parameters.

    A parameter is a value (0.01, 14us, 100Gbps), some values (0.01,0.02), or a range (0.001:0.1:log20, 10us:30us:lin5).
    fair-share and ideal-fct take a scenario instead: incast model fair-share permutation.
    """
    name, *rest = words or [""]
    if not name or (help_ and name == "list"):
        sys.stdout.write(context.get_help() + "\n")
        return
    with loading():
        from incast import curves, model

    if help_:
        sys.stdout.write(model.description(name))
        return
    if name == "list":
        for one, what in model.listing():
            out.print(f"{one:12} {what}", highlight=False, soft_wrap=True)
        return
    table = None if out_ is None else curves.check_file(out_, curves.TABLES)
    drawing = None if plot is None else curves.check_file(plot, curves.PICTURES)
    if drawing is None and (points is not None or y):
        raise ModelError(f"{'--points' if points is not None else '--y'} is for a picture: give --plot FILE too")
    if name in model.SCENARIO_FIGURES:
        if len(rest) != 1 or rest[0].startswith("--") or drawing is not None:
            raise ModelError(f"{name} takes a scenario, and draws nothing: incast model {name} permutation")
        columns = model.bounds(name, Scenario.load(rest[0]).with_(dict(_settings(set_))))
        show = partial(curves.print_bounds, name, columns)
    else:
        found = model.find(name)
        if set_:
            expected = f"{name} takes parameters, such as --{model.option(found.parameters[0].name)}"
            raise ModelError(f"--set is for {' and '.join(model.SCENARIO_FIGURES)}: {expected}")
        grid = curves.work_out(found, curves.parse(rest, found))
        columns = grid.columns()
        show = partial(curves.print_grid, grid)
        if drawing is not None:
            figure = found.figure(y or found.figures[0].name).name
            measured = {} if points is None else curves.read_points(points, (*grid.varied, "")[0], figure)
            curves.write(drawing, curves.picture(grid, figure, measured, drawing.suffix))
    if table is not None:
        curves.write(table, curves.text_of(columns, table.suffix))
    if json:
        sys.stdout.write(curves.text_of(columns, ".json"))
    elif not quiet:
        show(out)


@app.command("list")
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


@app.command()
def describe(
    kind: Annotated[str, typer.Argument(metavar="KIND", help=f"One of: {', '.join(kinds.KINDS)}.")],
    name: Annotated[str, typer.Argument(metavar="NAME", help="Its name (incast list KIND).")],
) -> None:
    """Say what something is: its parameters with units, defaults and sources."""
    sys.stdout.write(kinds.description(kind, name))


@app.command()
def schema() -> None:
    """Print the JSON schema of a scenario."""
    sys.stdout.write(_core.schema().rstrip("\n") + "\n")


def _version(asked: bool) -> None:
    if asked:
        out.print(f"incast {_core.__version__}", highlight=False)
        raise typer.Exit


@app.callback()
def incast(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Take what belongs to no command."""


def _fail(status: int, error: BaseException, words: str = "") -> NoReturn:
    notes = "".join(f" ({note})" for note in getattr(error, "__notes__", []))
    told = Text.assemble(("error:", "bold red"), " ", output.escaped(f"{words or error}{notes}", keep="\n\t"))
    err.print(told, highlight=False, soft_wrap=True)
    sys.exit(status)


def carry_out() -> None:
    """Carry out the command line."""
    try:
        output.guard()
        try:
            app()
        finally:
            sys.stdout.flush()
    except (ScenarioError, StudyError, FolderError, PaperError, ModelError) as error:
        _fail(2, error)
    except SystemExit as ended:
        # typer turns Ctrl-C into the status 130; here a stopped run is a run that failed.
        if ended.code == 130:
            _fail(1, ended, INTERRUPTED)
        raise
    except (KeyboardInterrupt, RunStopped) as error:
        _fail(1, error, INTERRUPTED)
    except ControllerError as error:
        if error.__cause__ is not None:
            err.print("".join(traceback.format_exception(error.__cause__)).rstrip(), highlight=False, markup=False)
        _fail(1, error)
    except (RunError, output.OutputError) as error:
        _fail(1, error)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        _fail(
            1,
            error,
            f"cannot write the results: {where}{error.strerror or error}; no half-written result was left behind",
        )
