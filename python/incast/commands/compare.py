"""``incast compare``: controllers on the same placements, over one key and seeds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from incast.commands import progress
from incast.commands.options import (
    AllowCode,
    Bins,
    Format,
    MemoryLimit,
    Paired,
    Pairs,
    Quiet,
    Rebuild,
    Settings,
    SharedStore,
    Workers,
    allow,
    beside,
    err,
    out,
    settings,
    tell,
    without_effect,
)
from incast.commands.options import folder as folder_of
from incast.comparisons.declaration import ComparisonStudy
from incast.errors import FolderError, StudyError
from incast.system import memory, output
from incast.system.folders import is_stream, write_named
from incast.system.interrupts import loading

if TYPE_CHECKING:
    from incast.comparisons.comparison import Comparison


Vary = Annotated[
    list[str] | None,
    typer.Option(
        "--vary",
        metavar="KEY=V1,V2,...",
        help="Key on the x axis, and its values; at most once (default: a single point).",
    ),
]


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
    out_: Annotated[
        str | None,
        typer.Option("--out", metavar="DIR", help="Folder for the results (default: runs/compare-...)."),
    ] = None,
    store: SharedStore = None,
    set_: Settings = None,
    as_study: Annotated[
        Path | None,
        typer.Option("--as-study", metavar="FILE", help="Write the comparison as a study file instead of running it."),
    ] = None,
    paired: Paired = False,
    bins: Bins = None,
    format_: Format = "png",
    memory_limit: MemoryLimit = None,
    rebuild: Rebuild = False,
    allow_code: AllowCode = False,
    quiet: Quiet = False,
) -> None:
    """Compare controllers on the same placements, over one key and seeds; ends in a report.

    The same command resumes an interrupted comparison. With more controllers, values or seeds it adds only the new
    runs.
    """
    allow(allow_code)
    if vary and len(vary) > 1:
        raise StudyError(f'--vary is given twice ("{vary[0]}" and "{vary[1]}"): a comparison varies one key')

    def under(pairs: Pairs) -> ComparisonStudy:
        # without a key the single point is the scenarios' duration, which a setting may change
        return ComparisonStudy.parse(scenarios, cc, vary[0] if vary else None, seeds, pairs)

    study = under(settings(set_))
    if as_study is not None:
        _write_study(study, as_study)
        return
    _check(study, under)
    # plotting libraries take a second to load: refuse wrong arguments first
    with loading():
        from incast.comparisons import comparison
        from incast.pictures.style import formats_of
        from incast.report import comparison_page
        from incast.runs import completions
        from incast.view import chosen

    parted, formats = completions.Bins.parse(bins) if bins is not None else None, formats_of(format_)
    folder = folder_of(out_, study.folder_name())
    limit = memory.limit_of(memory_limit)
    if not quiet and (again := chosen.cost(study.viewed(), folder)):
        err.print(f"view: {again}", highlight=False, soft_wrap=True)
    with progress.of_batch(err, quiet) as show:
        done = comparison.carry_out(
            study, folder, store=store, workers=workers, show=show, rebuild=rebuild, memory_limit=limit
        )
    done.bins = parted
    print_comparison(done, comparison_page.write(done, formats).path, quiet, paired)


def _check(study: ComparisonStudy, under: Callable[[Pairs], ComparisonStudy]) -> None:
    """Print the notes before the runs, and refuse what would count twice; ``under`` makes the study from settings."""
    tell(study.notes())
    tell(
        without_effect(
            study.settings,
            lambda pairs: under(pairs).points(),
            lambda pairs: list(replace(study, settings=tuple(pairs)).bases.values()),
        )
    )
    study.refuse_equal_scenarios()
    study.refuse_equal_controllers()


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
    for what, gap in (("picture over time", done.series_gap), ("viewer page", done.view_gap)):
        if gap:
            err.print(f"no {what}: {gap}", highlight=False, soft_wrap=True)
