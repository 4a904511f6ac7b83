"""The command line: ``incast``.

Exit status 0: done; 1: a run failed, was stopped, or its results could not be written; 2: bad
input. Messages go to the standard error, results to the standard output.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Annotated, NoReturn

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from incast import _core, kinds, progress
from incast.errors import FolderError, RunError, RunStopped, ScenarioError, StudyError
from incast.result import Result, new_folder
from incast.scenario import Scenario
from incast.study import Study

app = typer.Typer(
    name="incast",
    help="A laboratory for data-center congestion control.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"]},
)

INTERRUPTED = "interrupted; no half-written result was left behind"

out = Console()
err = Console(stderr=True)

ScenarioName = Annotated[
    str,
    typer.Argument(metavar="SCENARIO", help="A scenario file, or a built-in scenario (incast list scenarios)."),
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Change a key of the scenario, e.g. topology.k=8; repeats."),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no table.")]


def _settings(texts: list[str] | None) -> list[tuple[str, str]]:
    pairs = []
    for text in texts or []:
        key, equals, value = text.partition("=")
        if not (equals and key.strip()):
            raise ScenarioError(f'--set "{text}": expected KEY=VALUE, such as --set topology.k=8')
        pairs.append((key.strip(), value.strip()))
    return pairs


@app.command()
def run(
    scenario: ScenarioName,
    set_: Settings = None,
    seed: Annotated[int | None, typer.Option(min=0, max=2**63 - 1, help="Seed, instead of the scenario's.")] = None,
    out_: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="Folder for the results (default runs/SCENARIO-SEED-HASH)."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
    quiet: Quiet = False,
) -> None:
    """Simulate a scenario once and leave a run folder."""
    asked = Scenario.load(scenario).with_(dict(_settings(set_)))
    if seed is not None:
        asked = asked.with_seed(seed)
    asked.validate()
    folder = out_ or Path("runs") / f"{asked.name}-{asked.seed}-{asked.hash[:8]}"
    with new_folder(folder) as aside:
        with progress.of_run(err, asked.name, quiet) as show:
            result = asked.run(progress=show)
        result.write(aside)
    if json:
        sys.stdout.write(result.json())
    elif not quiet:
        _print_summary(result, folder)


def _print_summary(result: Result, folder: Path) -> None:
    summary, cost = result.summary, result.cost
    of_run, flows, fct, busiest = (
        summary["run"],
        summary["flows"],
        summary["fct"],
        summary["queues"]["busiest"],
    )
    table = Table(
        title=f"{of_run['scenario']}, seed {of_run['seed']}: {of_run['sim_s']:g} s simulated",
        title_justify="left",
        show_header=False,
    )
    table.add_column()
    table.add_column(justify="right")

    def row(name: str, value: float | None, form: str, scale: float = 1, unit: str = "") -> None:
        if value is not None:
            table.add_row(name, f"{value * scale:{form}} {unit}".strip())

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
    if busiest and busiest["port"]:
        table.add_row("busiest port", escape(busiest["port"]))
        row("  queue, mean", busiest["mean_packets"], ",.1f", 1, "packets")
        row("  queue, p99", busiest["p99_packets"], ",.0f", 1, "packets")
        row("  utilisation", busiest["utilisation"], ".1f", 100, "%")
    table.add_section()
    row("hops", of_run["hops"], ",d")
    row("wall time", cost["wall_s"], ".2f", 1, "s")
    row("speed", cost["hops_per_cpu_s"], ".1f", 1e-6, "M hops per CPU s")
    out.print(table)
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
    vary: Annotated[str, typer.Option("--vary", metavar="KEY=V1,V2,...", help="The key on the x axis and its values.")],
    seeds: Annotated[int, typer.Option(min=1, help="Seeds 1 to N at every point.")] = 3,
    workers: Annotated[int, typer.Option(min=0, help="Runs side by side; 0: one a core.")] = 0,
    out_: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="Folder for the results (default runs/compare-...)."),
    ] = None,
    set_: Settings = None,
    quiet: Quiet = False,
) -> None:
    """Compare controllers on the same placements, over one key and seeds; ends in a report.

    Called again with the same words it goes on where it was interrupted.
    """
    # Plotting libraries take a second to load; only the commands that draw wait for them.
    from incast import comparison, report

    study = Study.parse(scenarios, cc, vary, seeds, _settings(set_))
    folder = out_ or Path("runs") / study.folder_name()
    with progress.of_comparison(err, quiet) as show:
        done = comparison.carry_out(study, folder, workers or comparison.default_workers(), show)
    page = report.write(done)
    if not quiet:
        report.print_table(done, out)
    _print_page(page)


@app.command("report")
def report_(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder of a finished comparison.")],
    quiet: Quiet = False,
) -> None:
    """Write the report of a comparison again from its runs."""
    from incast import comparison, report

    done = comparison.load(folder)
    page = report.write(done)
    if not quiet:
        report.print_table(done, out)
    _print_page(page)


def _print_page(page: Path) -> None:
    pictures = " ".join(sorted(p.name for p in page.parent.glob("*.png")))
    out.print(f"report: {page}", highlight=False, soft_wrap=True)
    out.print(f"pictures beside it: {pictures}", highlight=False, soft_wrap=True)


@app.command("list")
def list_(
    kind: Annotated[str, typer.Argument(metavar="KIND", help=f"One of: {', '.join(kinds.KINDS)}.")],
) -> None:
    """List what there is of a kind."""
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True, style="bold")
    table.add_column()
    for name, words in kinds.listing(kind):
        table.add_row(escape(name), escape(words))
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
    err.print(f"[bold red]error:[/] {escape(words or str(error))}{escape(notes)}", highlight=False, soft_wrap=True)
    sys.exit(status)


def _terminate(_signal: int, _frame: object) -> NoReturn:
    raise KeyboardInterrupt


def main() -> None:
    """Run the command line and turn every error into a message and an exit status."""
    # A polite kill leaves as little behind as Ctrl-C.
    signal.signal(signal.SIGTERM, _terminate)
    try:
        app()
    except (ScenarioError, StudyError, FolderError) as error:
        _fail(2, error)
    except SystemExit as ended:
        # typer turns Ctrl-C into the status 130; here a stopped run is a run that failed.
        if ended.code == 130:
            _fail(1, ended, INTERRUPTED)
        raise
    except (KeyboardInterrupt, RunStopped) as error:
        _fail(1, error, INTERRUPTED)
    except RunError as error:
        _fail(1, error)
    except BrokenPipeError:
        # Whoever read our output has gone, e.g. `| head`; the rest of it has nowhere to go.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        _fail(
            1,
            error,
            f"cannot write the results: {where}{error.strerror or error}; no half-written result was left behind",
        )


if __name__ == "__main__":
    main()
