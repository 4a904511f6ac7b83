"""``incast study`` and ``incast query``: studies in stores."""

from __future__ import annotations

import json as json_
import shlex
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from incast.batch.store import Store, study_of
from incast.batch.workers import Processes, Threads
from incast.commands import compare as comparing
from incast.commands import progress, study_reports
from incast.commands.options import (
    AllowCode,
    Format,
    MemoryLimit,
    Quiet,
    Rebuild,
    Workers,
    allow,
    beside,
    err,
    next_steps,
    out,
    tell,
    tell_loss,
)
from incast.commands.options import folder as folder_of
from incast.comparisons.declaration import ComparisonStudy, split_values, value_of, varied
from incast.comparisons.grid import Grid
from incast.errors import StudyError
from incast.external import consent
from incast.report import tables
from incast.report.tables import Column
from incast.study import companions, reading, tabular
from incast.study import query as queries
from incast.study import status as statuses
from incast.system import memory, output
from incast.system.files import held
from incast.system.interrupts import loading

if TYPE_CHECKING:
    import pyarrow as pa

    from incast.batch.store import Store

StoreFolder = Annotated[Path, typer.Argument(metavar="STORE", help="Folder of a store.")]
StudyName = Annotated[str | None, typer.Option("--study", metavar="NAME", help="The study, if the store has several.")]
On = Annotated[
    str | None,
    typer.Option(
        "--on",
        metavar="WHERE",
        help="Where the runs are made: threads, processes, ray, ray:HOST:PORT, ray://HOST:PORT or slurm.",
    ),
]
SlurmOptions = Annotated[
    str,
    typer.Option("--slurm", metavar="OPTIONS", help='Options of sbatch, such as "--partition=short --time=1:00:00".'),
]


def run(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A study file.")],
    store: Annotated[
        str | None, typer.Option("--store", metavar="DIR", help="Folder of the store (default: runs/study-NAME).")
    ] = None,
    workers: Workers = 0,
    on: On = None,
    slurm: SlurmOptions = "",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Estimate the cost from a few trial runs; write nothing.")
    ] = False,
    memory_limit: MemoryLimit = None,
    rebuild: Rebuild = False,
    format_: Format = "png",
    allow_code: AllowCode = False,
    quiet: Quiet = False,
) -> None:
    """Make the missing runs of a study in its store; ends in a report.

    The same command resumes a stopped study. With more seeds, values or arms in the file it adds only the new runs.
    """
    allow(allow_code)
    with loading():
        from incast.study import api
    formats = study_reports.formats_of(format_)
    # an estimate runs no code, and asks nobody
    with consent.looking_away() if dry_run else nullcontext():
        study = api.load(file)
        folder = folder_of(store, f"study-{study.name}")
        if dry_run:
            from incast.study import estimate

            for line in estimate.of(study, folder, workers).lines():
                out.print(line, highlight=False, soft_wrap=True)
            return
    tell(study.drops())
    limit = memory.limit_of(memory_limit)
    where = _where(on, workers, slurm)
    with progress.of_batch(err, quiet) as show:
        where |= {"show": show, "rebuild": rebuild, "memory_limit": limit, "tell": tell_loss}
        made = study.run(folder, workers=workers, **where)
    _tell_made(made, study.name, quiet, formats)


def extend(
    store: StoreFolder,
    study: StudyName = None,
    seeds: Annotated[
        str | None,
        typer.Option(
            "--seeds", metavar="N", help="Seeds 1 to N, or a list such as 4,5,9, in addition to existing ones."
        ),
    ] = None,
    axis: Annotated[
        list[str] | None, typer.Option("--axis", metavar="KEY=V1,V2,...", help="Additional values of an axis; repeats.")
    ] = None,
    arm: Annotated[
        list[str] | None,
        typer.Option("--arm", metavar="NAME:KEY=VALUE,...", help="An additional arm with its settings; repeats."),
    ] = None,
    samples: Annotated[
        int | None, typer.Option("--samples", metavar="N", help="Total number of points of a random or lhs design.")
    ] = None,
    workers: Workers = 0,
    on: On = None,
    slurm: SlurmOptions = "",
    memory_limit: MemoryLimit = None,
    rebuild: Rebuild = False,
    format_: Format = "png",
    allow_code: AllowCode = False,
    quiet: Quiet = False,
) -> None:
    """Extend a study by seeds, values, arms or samples; only new runs are made. Ends in a report.

    For the folder of a comparison, --arm NAME:controller=TEXT adds a controller.
    """
    allow(allow_code)
    with loading():
        from incast.study import api
    formats = study_reports.formats_of(format_)
    if seeds is None and not axis and not arm and samples is None:
        raise StudyError("nothing to extend by: expected --seeds, --axis, --arm or --samples")
    if study is None and study_of(store) is not None:
        grown = _grown(store, seeds, axis or [], arm or [], samples, (on, slurm))
        make = {
            "workers": workers,
            "rebuild": rebuild,
            "memory_limit": memory.limit_of(memory_limit),
            "tell": tell_loss,
        }
        comparing.carry_out(grown, store, make, format_, quiet)
        return
    there = Store.at(store)
    name = companions.name_in(there, study)
    with progress.of_batch(err, quiet) as show:
        made = api.extend(
            there,
            name,
            seeds=None if seeds is None else _seeds(seeds),
            axes=dict(_axis(text) for text in axis or []),
            arms=dict(_arm(text) for text in arm or []),
            samples=samples,
            workers=workers,
            show=show,
            rebuild=rebuild,
            memory_limit=memory.limit_of(memory_limit),
            tell=tell_loss,
            **_where(on, workers, slurm),
        )
    _tell_made(made, name, quiet, formats)


def _grown(
    folder: Path,
    seeds: str | None,
    axes: Sequence[str],
    arms: Sequence[str],
    samples: int | None,
    elsewhere: tuple[str | None, str],
) -> ComparisonStudy:
    """Return the comparison of a folder with more seeds, values and controllers; raises ``StudyError``."""
    kind = next((one for one in (ComparisonStudy, Grid) if (folder / one.FILE).is_file()), None)
    if kind is None:
        raise StudyError(f"{folder} has pairs of controllers: repeat incast coexist with more controllers or seeds")
    if samples is not None or any(elsewhere):
        raise StudyError("--samples, --on and --slurm: not allowed for the folder of a comparison")
    with loading():
        from incast.comparisons.report_folder import read
    declared, _ = read(kind, folder)
    number = None if seeds is None else _seeds(seeds)
    if isinstance(number, list):
        raise StudyError(f"--seeds {seeds}: a comparison has seeds 1 to N; expected a number")
    values: dict[str, list[str]] = {}
    for text in axes:
        key, listed = varied(text)
        values.setdefault(key, []).extend(listed)
    controllers = []
    for text in arms:
        name, settings = _arm(text)
        if settings.keys() != {"controller"}:
            raise StudyError(f"--arm {text}: a comparison grows by controllers; expected {name}:controller=TEXT")
        controllers.append(str(settings["controller"]))
    consent.grant(controllers)
    return declared.grown(number, values, controllers)


def work(
    store: StoreFolder,
    part: Annotated[int, typer.Option("--part", help="Number of the part, from 0.")],
    of: Annotated[int, typer.Option("--of", min=1, help="Number of parts.")],
    allowed: Annotated[
        list[str] | None,
        typer.Option("--allowed", metavar="DIGEST", help="Code that the submitting program may run; repeats."),
    ] = None,
) -> None:
    """Make one part of the pending runs, as one job of an array."""
    consent.asks(None, lambda note: tell([note]))  # a worker never asks
    consent.inherit(allowed or [])
    from incast.batch import slurm

    out.print(output.counted(slurm.work(Store.at(store), part, of), "run"), highlight=False)


def status(
    store: StoreFolder,
    check: Annotated[bool, typer.Option("--check", help="Verify the checksum of every file.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """Show the content of a store, and pending runs."""
    with held(store):
        found = statuses.of(Store.at(store), check)
    if json:
        sys.stdout.write(json_.dumps(found.data(), indent=2) + "\n")
    else:
        for line in found.lines():
            out.print(line, highlight=False, soft_wrap=True)
    if found.damaged:
        raise statuses.Damaged(f"{store} is damaged: {'; '.join(found.damaged)}")


def export(
    store: StoreFolder,
    to: Annotated[
        Path, typer.Option("--out", metavar="FILE", help="Output file: .csv, .json or .parquet; with --run a folder.")
    ],
    table: Annotated[
        str | None, typer.Option("--table", help="Table of the runs, such as flows (default: runs).")
    ] = None,
    study: StudyName = None,
    run: Annotated[
        str | None, typer.Option("--run", metavar="RUN", help="Write the folder of one run, named by the column run.")
    ] = None,
) -> None:
    """Export the runs of a store, or one of their tables, to a file; or one run to a folder."""
    if run is not None:
        if table is not None or study is not None:
            raise StudyError("--run: not allowed with --table or --study: a run's folder has all its tables")
        with held(store):
            folder = reading.find(Store.at(store), run).save(to)
        out.print(f"run: {folder}", highlight=False, soft_wrap=True)
        return
    with held(store):
        rows = tabular.rows(Store.at(store), table or "runs", study or study_of(store))
    tabular.write(rows, to)
    beside(to).print(f"{output.counted(rows.num_rows, 'row')}: {to}", highlight=False, soft_wrap=True)


def query(
    store: StoreFolder,
    sql: Annotated[str, typer.Argument(metavar="SQL", help="A query over the views runs, points, costs, flows, ...")],
    study: Annotated[
        str | None,
        typer.Option("--study", metavar="NAME", help="Only the runs of this study (default: all; a report's own)."),
    ] = None,
    to: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Output file: .csv, .json or .parquet.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print rows as JSON.")] = False,
    csv: Annotated[bool, typer.Option("--csv", help="Print rows as CSV.")] = False,
    allow_files: Annotated[
        bool,
        typer.Option("--allow-files", help="Let the query access all your files and load DuckDB extensions."),
    ] = False,
) -> None:
    """Run an SQL query over a study or a store (needs the extra "query").

    For the folder of a comparison the views have its runs alone, for a store those of all its studies or of --study.
    Without --allow-files a query only reads the store, and writes nothing.
    """
    opened = Store.at(store)
    study = study or study_of(store)
    if study is None and len(names := companions.shown(opened)) > 1:
        over = f"{store} has {len(names)} studies, and the query is over all: {', '.join(names)}"
        tell([f"{over}; --study NAME takes one"])
    rows = queries.query(opened, sql, study=study, allow_files=allow_files)
    if to is not None:
        tabular.write(rows, to)
        beside(to).print(f"{output.counted(rows.num_rows, 'row')}: {to}", highlight=False, soft_wrap=True)
    elif json:
        sys.stdout.write(tabular.as_json(rows))
    elif csv:
        sys.stdout.write(tabular.as_csv(rows))
    else:
        _print_rows(rows)


def _print_rows(rows: pa.Table) -> None:
    def text_of(value: Any) -> str:
        return "" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)

    columns = []
    for name, values in zip(rows.column_names, rows.columns, strict=True):
        listed = values.to_pylist()
        numbers = all(value is None or isinstance(value, (int, float)) for value in listed)
        columns.append(Column(name, [text_of(value) for value in listed], "right" if numbers else "left"))
    first = columns[: len(columns) > 1]
    tables.show(out, "", first, columns[len(first) :])


def _where(on: str | None, workers: int, options: str) -> dict[str, Any]:
    """Read ``--on``: the options of ``make`` about the workers."""
    if options and on != "slurm":
        raise StudyError("--slurm: needs --on slurm too")
    match on:
        case None:
            return {}
        case "threads":
            return {"hire": Threads}
        case "processes":
            return {"hire": Processes}
        case "slurm":
            from incast.batch import slurm

            return {"outside": slurm.outside(workers, options)}
        case _ if on == "ray" or on.startswith("ray:"):
            from incast.batch import rays

            return {"hire": rays.hire_at(on, workers)}
    raise StudyError(f"--on {on}: expected threads, processes, ray, ray:HOST:PORT, ray://HOST:PORT or slurm")


def _tell_made(store: Store, study: str, quiet: bool, formats: Sequence[str]) -> None:
    if not quiet:
        with output.about(store.folder):
            for line in statuses.of(store).lines():
                out.print(line, highlight=False, soft_wrap=True)
    study_reports.show(study_reports.of(store, study), study_reports.folder_of(store, study), formats, quiet)
    place = shlex.quote(str(store.folder))
    query = f'incast query {place} "SELECT * FROM runs"'
    next_steps(quiet, query, f"incast study export {place} --out runs.csv", f"incast study extend {place} --seeds N")
    statuses.refuse_unsound(store, study)


def _seeds(text: str) -> int | list[int]:
    try:
        numbers = [int(part) for part in text.split(",")]
    except ValueError:
        raise StudyError(f'--seeds "{text}": expected a number of seeds, or a list such as 4,5,9') from None
    return numbers if "," in text else numbers[0]


def _axis(text: str) -> tuple[str, list[Any]]:
    key, equals, values = text.partition("=")
    listed = split_values(values)
    if not (equals and key.strip() and listed):
        raise StudyError(f'--axis "{text}": expected a key and values, such as traffic.flows=100,250')
    return key.strip(), [_value(value) for value in listed]


def _arm(text: str) -> tuple[str, dict[str, Any]]:
    name, _, rest = text.partition(":")
    pairs = [pair.partition("=") for pair in split_values(rest) or ()]
    if not (name.strip() and pairs) or not all(equals and key.strip() for key, equals, _ in pairs):
        raise StudyError(f'--arm "{text}": expected a name and keys, such as red:controller=dctcp,queue.kind=red')
    return name.strip(), {key.strip(): _value(value.strip()) for key, _, value in pairs}


def _value(text: str) -> Any:
    """Read a value like a study file: a number, true or false, or else a text without quotes."""
    is_quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "\"'"
    return text[1:-1] if is_quoted else value_of(text)
