"""``incast compare``: controllers on the same placements, over one key and seeds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from incast.commands import progress, study_reports
from incast.commands.options import (
    AllowCode,
    Bins,
    Format,
    MemoryLimit,
    Paired,
    Pairs,
    Quiet,
    RanksTo,
    Rebuild,
    Settings,
    SharedStore,
    Workers,
    WorkloadFile,
    allow,
    beside,
    err,
    next_steps,
    of_workload,
    out,
    settings,
    tell,
    tell_loss,
    without_effect,
)
from incast.commands.options import folder as folder_of
from incast.comparisons.declaration import ComparisonStudy
from incast.comparisons.grid import Grid, declared
from incast.errors import FolderError, StudyError
from incast.system import memory, output
from incast.system.folders import is_stream, write_named
from incast.system.interrupts import loading

if TYPE_CHECKING:
    from incast.comparisons.comparison import Comparison
    from incast.comparisons.report_folder import Home


Vary = Annotated[
    list[str] | None,
    typer.Option(
        "--vary",
        metavar="KEY=V1,V2,...",
        help="Key on the x axis, and its values; twice: two keys, as heat maps (default: a single point).",
    ),
]

OutFolder = Annotated[
    str | None, typer.Option("--out", metavar="DIR", help="Folder for the results (default: runs/compare-...).")
]
AsStudy = Annotated[
    Path | None,
    typer.Option("--as-study", metavar="FILE", help="Write the comparison as a study file instead of running it."),
]
Title = Annotated[str, typer.Option("--title", metavar="TEXT", help="Title of the report, such as the question.")]
Note = Annotated[str, typer.Option("--note", metavar="TEXT", help="Remark below the title of the report.")]


def compare(
    scenarios: Annotated[
        list[str], typer.Argument(metavar="SCENARIO...", help="Scenario files or built-in scenarios.")
    ],
    cc: Annotated[
        list[str],
        typer.Option("--cc", metavar="NAME[:KEY=VALUE,...]", help="A controller, or .: the scenario's own; repeats."),
    ],
    vary: Vary = None,
    seeds: Annotated[int, typer.Option(min=1, help="Seeds 1 to N at every point.")] = 3,
    workers: Workers = 0,
    out_: OutFolder = None,
    store: SharedStore = None,
    set_: Settings = None,
    workload: WorkloadFile = None,
    ranks_to: RanksTo = None,
    as_study: AsStudy = None,
    title: Title = "",
    note: Note = "",
    paired: Paired = False,
    bins: Bins = None,
    format_: Format = "png",
    memory_limit: MemoryLimit = None,
    rebuild: Rebuild = False,
    allow_code: AllowCode = False,
    quiet: Quiet = False,
) -> None:
    """Compare controllers on the same placements, over one key or two, and seeds; ends in a report.

    The same command resumes an interrupted comparison. With more controllers, values or seeds it adds only the new
    runs.
    """
    allow(allow_code)

    job = of_workload(workload, ranks_to)

    def under(pairs: Pairs) -> ComparisonStudy:
        return declared(scenarios, cc, vary or [], seeds, [*job, *pairs])

    study = replace(under(settings(set_)), heading=title.strip(), remark=note.strip())
    if as_study is not None:
        _write_study(study, as_study)
        return
    _check(study, under, job)
    folder = folder_of(out_, study.folder_name())
    make: dict[str, Any] = {"store": store, "workers": workers, "rebuild": rebuild, "tell": tell_loss}
    make["memory_limit"] = memory.limit_of(memory_limit)
    carry_out(study, folder, make, format_, quiet, bins, paired)


def carry_out(
    study: ComparisonStudy,
    folder: Path,
    make: Mapping[str, Any],
    format_: str,
    quiet: bool,
    bins: str | None = None,
    paired: bool = False,
) -> None:
    """Make the runs and the report of a comparison, over one key or two; ``make`` has options of ``planning.make``."""
    if isinstance(study, Grid):
        _grid(study, folder, format_, quiet, [*["--bins"] * (bins is not None), *["--paired"] * paired], make)
        return
    # plotting libraries take a second to load: refuse wrong arguments first
    with loading():
        from incast.comparisons import comparison
        from incast.pictures.style import formats_of
        from incast.report import comparison_page
        from incast.runs import completions
        from incast.view import chosen

    parted, formats = completions.Bins.parse(bins) if bins is not None else None, formats_of(format_)
    if not quiet and (again := chosen.cost(study.viewed(), folder)):
        err.print(f"view: {again}", highlight=False, soft_wrap=True)
    with progress.of_batch(err, quiet) as show:
        done = comparison.carry_out(study, folder, show=show, **make)
    done.bins = parted
    print_comparison(done, comparison_page.write(done, formats).path, quiet, paired)


def _grid(study: Grid, folder: Path, format_: str, quiet: bool, others: Sequence[str], make: Mapping[str, Any]) -> None:
    """Make the runs and the report of a comparison over two keys; ``others`` are options that it has no use for."""
    if others:
        raise StudyError(f"{' and '.join(others)}: not allowed with two --vary, whose report has heat maps")
    with loading():
        from incast.comparisons import grid_runs
    formats = study_reports.formats_of(format_)
    if not quiet:
        axes = " and ".join(key for key, _ in study.varied)
        err.print(f"two keys, {axes}: a study with heat maps as its report", highlight=False, soft_wrap=True)
    with progress.of_batch(err, quiet) as show:
        study, home = grid_runs.carry_out(study, folder, show=show, **make)
    print_grid(study, home, formats, quiet)


def print_grid(study: Grid, home: Home, formats: Sequence[str], quiet: bool) -> None:
    """Write the report of a comparison over two keys, and print its answer."""
    study_reports.show(study_reports.of_grid(study, home, formats), home.folder, formats, quiet)
    tell(filter(None, [study.left_out()]))


def _check(study: ComparisonStudy, under: Callable[[Pairs], ComparisonStudy], job: Pairs) -> None:
    """Print the notes before the runs, and refuse what would count twice.

    ``under`` makes the study from settings, after those of its own job.
    """
    tell(study.notes())
    tell(
        without_effect(
            study.settings[len(job) :],
            lambda pairs: under(pairs).points(),
            lambda pairs: list(replace(study, settings=(*job, *pairs)).bases.values()),
        )
    )
    study.refuse_equal_scenarios()
    study.refuse_equal_controllers()
    study.refuse_idle_controllers()


def _write_study(study: ComparisonStudy, path: Path) -> None:
    """Write the comparison as a study file."""
    if path.exists() and not is_stream(path):
        raise FolderError(f"{path} exists: give another --as-study, or remove it first")
    try:
        write_named(path, study.study_file())
    except OSError as error:
        raise FolderError(f"cannot write {path}: {error.strerror}") from None
    beside(path).print(f"study: {path}; run it with: incast study run {path}", highlight=False, soft_wrap=True)


def print_comparison(done: Comparison, page: Path, quiet: bool, paired: bool) -> None:
    """Print the results of a comparison, and the paths of its report and pictures."""
    from incast.report import comparison_page
    from incast.view import chosen

    view = page.parent / chosen.PAGE
    with output.about(done.folder):
        if not quiet:
            comparison_page.print_table(done, out)
            if paired and len(done.study.controllers) > 1:
                comparison_page.print_table(done, out, paired=True)
        pictures = " ".join(sorted(p.name for p in page.parent.iterdir() if p.suffix in (".png", ".svg", ".pdf")))
        out.print(f"report: {page}", highlight=False, soft_wrap=True)
        message = f"pictures: {pictures}" if pictures else "no pictures: the report says why"
        out.print(message, highlight=False, soft_wrap=True)
        if view.is_file():
            out.print(f"view: {view}", highlight=False, soft_wrap=True)
        more = "the same command with more seeds, values or controllers adds only the new runs"
        next_steps(quiet, f"open {page} in a browser", more)
    tell(filter(None, [done.study.left_out()]))
    for what, gap in (("picture over time", done.series_gap), ("viewer page", done.view_gap)):
        if gap:
            err.print(f"no {what}: {gap}", highlight=False, soft_wrap=True)
