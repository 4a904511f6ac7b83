"""``incast study`` and ``incast query``: studies in stores."""

from __future__ import annotations

import json as json_
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from incast.batch.store import Store
from incast.batch.workers import Processes, Threads
from incast.commands import progress
from incast.commands.options import AllowCode, MemoryLimit, Quiet, Rebuild, Workers, allow, beside, err, out, tell
from incast.commands.options import folder as folder_of
from incast.comparisons.declaration import split_values, value_of
from incast.errors import StudyError
from incast.external import consent
from incast.report import tables
from incast.report.tables import Column
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
    allow_code: AllowCode = False,
    quiet: Quiet = False,
) -> None:
    """Make the missing runs of a study in its store.

    The same command resumes a stopped study. With more seeds, values or arms in the file it adds only the new runs.
    """
    allow(allow_code)
    with loading():
        from incast.study import api
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
        made = study.run(folder, workers=workers, show=show, rebuild=rebuild, memory_limit=limit, **where)
    _tell_made(made, study.name, quiet)


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
    allow_code: AllowCode = False,
    quiet: Quiet = False,
) -> None:
    """Extend a study by seeds, values, arms or samples; only new runs are made."""
    allow(allow_code)
    with loading():
        from incast.study import api
    if seeds is None and not axis and not arm and samples is None:
        raise StudyError("nothing to extend by: expected --seeds, --axis, --arm or --samples")
    there = Store.at(store)
    name = api.name_in(there, study)
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
            **_where(on, workers, slurm),
        )
    _tell_made(made, name, quiet)


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
    from incast.study import status

    with held(store):
        found = status.of(Store.at(store), check)
    if json:
        sys.stdout.write(json_.dumps(found.data(), indent=2) + "\n")
    else:
        for line in found.lines():
            out.print(line, highlight=False, soft_wrap=True)
    if found.damaged:
        raise status.Damaged(f"{store} is damaged: {'; '.join(found.damaged)}")


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
    from incast.study import reading, tabular

    if run is not None:
        if table is not None or study is not None:
            raise StudyError("--run: not allowed with --table or --study: a run's folder has all its tables")
        with held(store):
            folder = reading.find(Store.at(store), run).save(to)
        out.print(f"run: {folder}", highlight=False, soft_wrap=True)
        return
    with held(store):
        rows = tabular.rows(Store.at(store), table or "runs", study)
    tabular.write(rows, to)
    beside(to).print(f"{output.counted(rows.num_rows, 'row')}: {to}", highlight=False, soft_wrap=True)


def query(
    store: StoreFolder,
    sql: Annotated[str, typer.Argument(metavar="SQL", help="A query over the views runs, costs, flows, ports, ...")],
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
    """Run an SQL query over a store (needs the extra "query").

    Without --allow-files a query only reads the store, and writes nothing.
    """
    from incast.study import query as queries
    from incast.study import tabular

    rows = queries.query(Store.at(store), sql, allow_files=allow_files)
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


def _tell_made(store: Store, study: str, quiet: bool) -> None:
    from incast.study import status

    if not quiet:
        with output.about(store.folder):
            for line in status.of(store).lines():
                out.print(line, highlight=False, soft_wrap=True)
    status.refuse_unsound(store, study)


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
