"""``incast workload``: jobs of AI clusters, looked through, counted, bounded and converted."""

from __future__ import annotations

import json as json_
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from incast.batch.plan import slug
from incast.commands.options import AllowCode, Quiet, allow, beside, out, settings, tell
from incast.commands.options import folder as folder_of
from incast.errors import FolderError, ScenarioError
from incast.runs.job_alone import alone
from incast.runs.scenario import Scenario
from incast.system.folders import new_folder, write_whole
from incast.workloads import job, training
from incast.workloads.job import Method, Workload
from incast.writing.numbers import quantity, said

MOST_RANKS = 1 << 20
"""Most ranks of a range."""
Files = Annotated[
    list[str],
    typer.Argument(metavar="FILE...", help="GOAL (text or binary), SimAI, MSCCL, or the prefix of Chakra traces."),
]
File = Annotated[
    str, typer.Argument(metavar="FILE", help="GOAL (text or binary), SimAI, MSCCL, or the prefix of Chakra traces.")
]
Format = Annotated[
    str, typer.Option("--format", metavar="KIND", help="goal, bin, simai, chakra or msccl (default: by the file).")
]
Gpus = Annotated[
    int | None, typer.Option("--gpus", metavar="N", min=1, help="GPUs: of a SimAI file without all_gpus, and for W04.")
]
Sizes = Annotated[
    str, typer.Option("--all-gather", metavar="KIND", help="Sizes of all-gathers in traces: shard or total.")
]
DataOnly = Annotated[bool, typer.Option("--data-only", help="Leave control dependencies of traces out.")]
AsSimai = Annotated[
    bool, typer.Option("--as-simai", help="Read SimAI's files as its run on ns-3: one stage, forward sizes from 4 KiB.")
]
Size = Annotated[
    str | None, typer.Option("--size", metavar="SIZE", help="Buffer of an algorithm of MSCCL, whose file has none.")
]
Latency = Annotated[str, typer.Option("--latency", metavar="TIME", help="Latency of a message between hosts.")]
Rate = Annotated[str, typer.Option("--rate", metavar="RATE", help="Rate of a host.")]
Json = Annotated[bool, typer.Option("--json", help="Print as JSON.")]
Out = Annotated[str, typer.Option("--out", metavar="FILE", help="A new file: .goal (text) or .bin (binary).")]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="COLLECTIVE.KEY=VALUE", help="Algorithm or a parameter of a collective; repeats."),
]


def lint(
    files: Files,
    format_: Format = "",
    gpus: Gpus = None,
    all_gather: Sizes = "",
    data_only: DataOnly = False,
    as_simai: AsSimai = False,
    size: Size = None,
    latency: Latency = job.LATENCY,
    rate: Rate = job.RATE,
    packet: Annotated[
        str, typer.Option("--packet", metavar="SIZE", help="Messages below it are small (W06).")
    ] = job.PACKET,
    most: Annotated[
        str | None, typer.Option("--most", metavar="SIZE", help="Largest message of another program (E10).")
    ] = None,
    server: Annotated[
        int | None, typer.Option("--server", metavar="N", min=2, help="GPUs of a server on rails (W04).")
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Find mistakes in jobs that other simulators run without a word; exit status 1 if any stops a run.

    A finding has a code, a place (line and column, or rank:task), what is wrong, why it matters, and a remedy.
    """
    most_bytes = None if most is None else job.quantity("most", "size", most)
    reports = []
    for name in files:
        made, found, counts = job.read(name, format_, gpus, _totals(all_gather), data_only, as_simai, size)
        if made is not None:
            own, more = made.counted(latency, rate, packet, gpus, most_bytes, server)
            found, counts = [*found, *own], dict(Counter(counts) + Counter(more))
        reports.append((name, found, counts))
    if json:
        data = [
            {"file": name, "findings": [asdict(one) for one in found], "counts": counts}
            for name, found, counts in reports
        ]
        _print_json(data)
    elif not quiet:
        for name, found, counts in reports:
            for one in found:
                kind = "error" if one.error else "warning"
                _say(f"{name}, {one.place}: {kind} {one.code}: {one.what} ({one.why}): {one.remedy}")
            kept = Counter(one.code for one in found)
            for code, number in counts.items():
                if number > kept[code]:
                    _say(f"{name}: {number - kept[code]} more of {code}")
            errors = any(one.error for one in found)
            _say(f"{name}: {'not sound' if errors else 'ok'}, findings: {sum(counts.values()):,}")
    if any(one.error for _, found, _ in reports for one in found):
        raise typer.Exit(1)


def stats(
    files: Files,
    format_: Format = "",
    gpus: Gpus = None,
    all_gather: Sizes = "",
    data_only: DataOnly = False,
    as_simai: AsSimai = False,
    size: Size = None,
    latency: Latency = job.LATENCY,
    rate: Rate = job.RATE,
    json: Json = False,
) -> None:
    """Count tasks, bytes, pairs, dependencies, critical path and memory of jobs."""
    jobs = [(name, _load(name, format_, gpus, all_gather, data_only, as_simai, size)) for name in files]
    found = [(name, made.stats(latency, rate)) for name, made in jobs]
    if json:
        _print_json([{"file": name, **counts} for name, counts in found])
        return
    for name, counts in found:
        _table(name, _counted(counts))


def bound(
    files: Files,
    format_: Format = "",
    gpus: Gpus = None,
    all_gather: Sizes = "",
    data_only: DataOnly = False,
    as_simai: AsSimai = False,
    size: Size = None,
    latency: Latency = job.LATENCY,
    rate: Rate = job.RATE,
    json: Json = False,
) -> None:
    """Bound the time of jobs from below: no network of hosts with this latency and rate is faster."""
    jobs = [(name, _load(name, format_, gpus, all_gather, data_only, as_simai, size)) for name in files]
    found = [(name, made.bound(latency, rate)) for name, made in jobs]
    if json:
        _print_json([{"file": name, **figures} for name, figures in found])
        return
    for name, figures in found:
        _table(name, _bounded(figures))


def convert(
    file: File,
    out_: Out,
    format_: Format = "",
    gpus: Gpus = None,
    all_gather: Sizes = "",
    data_only: DataOnly = False,
    as_simai: AsSimai = False,
    size: Size = None,
    set_: Set = None,
    quiet: Quiet = False,
) -> None:
    """Convert a job to GOAL text or binary; its collectives become messages, as by expand."""
    made = _load(file, format_, gpus, all_gather, data_only, as_simai, size)
    _write(made.expanded(_methods(set_)), out_, quiet)


def expand(
    file: File,
    out_: Out,
    format_: Format = "",
    gpus: Gpus = None,
    all_gather: Sizes = "",
    data_only: DataOnly = False,
    as_simai: AsSimai = False,
    size: Size = None,
    set_: Set = None,
    quiet: Quiet = False,
) -> None:
    """Expand the collectives of a job into messages: --set all-reduce.algorithm=tree --set all-reduce.chunk=512KiB."""
    made = _load(file, format_, gpus, all_gather, data_only, as_simai, size)
    if not made.stats()["collectives"]:
        raise ScenarioError(f"{file}: no collectives; expected a workload of SimAI or Chakra traces with some")
    _write(made.expanded(_methods(set_)), out_, quiet)


def isolate(
    what: Annotated[
        str, typer.Argument(metavar="SCENARIO|FILE", help="A scenario with jobs, or the file of a job with --ranks.")
    ],
    out_: Annotated[
        str, typer.Option("--out", metavar="PATH", help="A new folder of scenarios; of a job a file, .goal or .bin.")
    ],
    jobs: Annotated[
        list[str] | None, typer.Option("--job", metavar="NAME", help="Only this job of the scenario; repeats.")
    ] = None,
    ranks: Annotated[
        str | None, typer.Option("--ranks", metavar="N,A-B", help="Ranks of the file, in their new order: 0-7,16.")
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Key of the scenario, or COLLECTIVE.KEY of the file; repeats."),
    ] = None,
    format_: Format = "",
    gpus: Gpus = None,
    all_gather: Sizes = "",
    data_only: DataOnly = False,
    as_simai: AsSimai = False,
    size: Size = None,
    allow_code: AllowCode = False,
    quiet: Quiet = False,
) -> None:
    """Write a job alone: each job of a scenario as a scenario of its own, or some ranks of a file as a file.

    A job keeps its hosts, the seed, other traffic and all settings; the other jobs begin at the end of the run, so
    never. incast explain jobs runs the same scenarios. Of ranks, messages and collectives with other ranks take no
    time.
    """
    if ranks is None:
        allow(allow_code)
        _isolate_jobs(what, out_, jobs or [], settings(set_), quiet)
        return
    if jobs:
        raise ScenarioError(f"--job {jobs[0]}: expected a scenario, and no --ranks")
    made = _load(what, format_, gpus, all_gather, data_only, as_simai, size).expanded(_methods(set_))
    part, left_out = made.isolated(_ranks(ranks))
    if left_out:
        tell([f"messages with other ranks, which take no time: {left_out:,}"])
    _write(part, out_, quiet)


def _isolate_jobs(name: str, folder: str, jobs: list[str], pairs: list[tuple[str, str]], quiet: bool) -> None:
    """Write the jobs of a scenario, or those of these names, as scenarios in a new folder."""
    scenario = Scenario.load(name).changed(dict(pairs))
    known = scenario.job_hosts()
    if not known:
        raise ScenarioError(f"{name}: no jobs; expected a scenario with [[job]], or the file of a job with --ranks")
    path = folder_of(folder, scenario.name)
    written: list[str] = []
    with new_folder(path) as aside:
        for job in jobs or known:
            own = alone(scenario, job)
            text = own.toml({file: str(place.resolve()) for file, place in own.files()})
            stem, n = slug(job), 1
            while (aside / (name := f"{stem}.toml" if n == 1 else f"{stem}-{n}.toml")).exists():
                n += 1
            write_whole(aside / name, text)
            written.append(str(path / name))
    if not quiet:
        for one in written:
            _say(f"wrote: {one}")


def _ranks(text: str) -> list[int]:
    """Read ranks: ``0-7,16``."""
    found: list[int] = []
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        begin = _whole("--ranks", first)
        end = _whole("--ranks", last) if dash else begin
        if end < begin or end - begin > MOST_RANKS:
            raise ScenarioError(f'--ranks "{part}": expected a range such as 0-7, of at most {MOST_RANKS:,} ranks')
        found += range(begin, end + 1)
    return found


def collective(
    pattern: Annotated[
        str,
        typer.Argument(
            metavar="PATTERN",
            help="all-reduce, reduce-scatter, all-gather, all-to-all, broadcast, reduce or barrier.",
        ),
    ],
    parameters: Annotated[
        list[str],
        typer.Argument(
            metavar="n=N size=SIZE [KEY=VALUE]...",
            help="Ranks, total bytes; algorithm, channels, chunk, credits, reduce, window, server, root.",
        ),
    ],
    out_: Annotated[
        str | None, typer.Option("--out", metavar="FILE", help="A new file: .goal (text) or .bin (binary).")
    ] = None,
    latency: Latency = job.LATENCY,
    rate: Rate = job.RATE,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Make the messages of one collective, with its ideal time: incast workload collective all-reduce n=16 size=16MiB.

    The ideal time has no packets, headers or contention; a bound is that of the messages.
    """
    given = dict(_pair("", text, "KEY=VALUE, such as n=16") for text in parameters)
    n, root = _whole("n", given.pop("n", "")), _whole("root", given.pop("root", "0"))
    size = given.pop("size", "0B" if pattern == "barrier" else "")
    method = _method(given)
    made = job.collective(pattern, n, size, method, root)
    time_ps, factor = job.ideal(pattern, n, size, method, latency, rate)
    figures = {"pattern": pattern, "n": n, "ideal_ps": time_ps, "bus_factor": factor} | made.bound(latency, rate)
    if json:
        _print_json(figures)
    elif not quiet:
        rows = [("ideal time", "no formula" if time_ps is None else _time(time_ps)), ("busbw / algbw", f"{factor:.4g}")]
        _table(f"{pattern} of {n} ranks, tasks: {made.tasks:,}", [*rows, *_bounded(figures)])
    if out_ is not None:
        _write(made, out_, quiet or json)


def llm(
    numbers: Annotated[
        list[str],
        typer.Argument(
            metavar="KEY=VALUE...",
            help="layers, hidden, seq, tp, pp, dp, flops and more: the keys of job.llm of a scenario.",
        ),
    ],
    out_: Annotated[
        str | None, typer.Option("--out", metavar="FILE", help="A new file: .goal (text) or .bin (binary).")
    ] = None,
    set_: Set = None,
    latency: Latency = job.LATENCY,
    rate: Rate = job.RATE,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Make a training job of a model's numbers: incast workload llm layers=4 hidden=1024 seq=2048 tp=2 flops=400Tflops.

    The file has its collectives as messages, by the algorithms of --set. The bubble is the time of an iteration without
    a network beyond the calculations of the busiest rank, over these.
    """
    pairs = [_pair("", text, "KEY=VALUE, such as layers=4") for text in numbers]
    made, facts = training.described(pairs)
    counts = made.stats(latency, rate)
    figures = made.bound(latency, rate)
    calc = counts["most_calc_ps"]
    bubble = facts["iteration_ps"] / calc - 1 if calc else None
    if json:
        _print_json({**facts, "bubble": bubble, "stats": counts, "bound": figures})
    elif not quiet:
        sides = " x ".join(f"{name} {facts[name]}" for name in ("tp", "pp", "dp"))
        passes = f"{_time(facts['forward_ps'])} forward, {_time(facts['backward_ps'])} backward"
        rows = [
            ("tasks", f"{made.tasks:,}"),
            ("a layer", passes),
            ("calculation", f"{_time(calc)} of the busiest rank"),
            ("bubble", "no calculation" if bubble is None else f"{bubble:.1%} of it, without a network"),
            ("gradients of a rank", _bytes(facts["gradient_bytes"])),
            *((f"exchange of {name}", _exchanged(*facts["exchange"][name])) for name in facts["exchange"]),
            *_bounded(figures),
        ]
        _table(f"ranks: {made.ranks:,}, {sides}", [row for row in rows if row[1]])
    if out_ is not None:
        _write(made.expanded(_methods(set_)), out_, quiet or json)


def _exchanged(tasks: int, number: int) -> str:
    """Say what the ranks exchange in one dimension; nothing for none."""
    return f"{_bytes(number)} in {tasks:,} tasks" if tasks else ""


def _load(
    name: str,
    format_: str,
    gpus: int | None,
    all_gather: str,
    data_only: bool,
    as_simai: bool,
    size: str | None,
) -> Workload:
    return Workload.load(name, format_, gpus, _totals(all_gather), data_only, as_simai, size)


def _totals(all_gather: str) -> bool | None:
    known = {"": None, "shard": False, "total": True}
    if all_gather not in known:
        raise ScenarioError(f'--all-gather "{all_gather}": expected shard or total')
    return known[all_gather]


def _pair(option: str, text: str, expected: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not (equals and key.strip()):
        raise ScenarioError(f'{option}"{text}": expected {expected}')
    return key.strip(), value.strip()


def _whole(name: str, text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 10):
        raise ScenarioError(f'{name} = "{text}": expected a whole number')
    return int(text)


def _method(given: Mapping[str, str]) -> Method:
    """Read parameters of a method as users write them."""
    whole = {"channels", "credits", "window", "server"}
    known = ("algorithm", "channels", "chunk", "credits", "reduce", "window", "server", "order")
    values: dict[str, Any] = {}
    for key, text in given.items():
        if key not in known:
            raise ScenarioError(f'key "{key}": expected n, size, root, {", ".join(known)}')
        if key == "order":
            values[key] = [_whole("order", position.strip()) for position in text.split(",")]
        else:
            values[key] = _whole(key, text) if key in whole else text
    return Method(**values)


def _methods(texts: list[str] | None) -> dict[str, Method]:
    """Read ``--set all-reduce.chunk=1MiB``."""
    given: dict[str, dict[str, str]] = {}
    for text in texts or []:
        expected = "COLLECTIVE.KEY=VALUE, such as all-reduce.algorithm=tree"
        key, value = _pair("--set ", text, expected)
        pattern, point, name = key.partition(".")
        if not point:
            raise ScenarioError(f'--set "{text}": expected {expected}')
        given.setdefault(pattern, {})[name] = value
    return {pattern: _method(parameters) for pattern, parameters in given.items()}


def _write(made: Workload, name: str, quiet: bool) -> None:
    if not name.strip():
        raise FolderError(f'--out "{name}": expected the name of a file')
    path = Path(name)
    rounded = made.write(path)
    if rounded:
        tell([f"GOAL counts nanoseconds: durations that were rounded: {rounded:,}"])
    if not quiet:
        beside(path).print(
            f"wrote: {path} (ranks: {made.ranks:,}, tasks: {made.tasks:,})", highlight=False, soft_wrap=True
        )


def _say(text: str) -> None:
    out.print(text, highlight=False, markup=False, soft_wrap=True)


def _print_json(data: object) -> None:
    sys.stdout.write(json_.dumps(data, indent=2) + "\n")


def _table(title: str, rows: list[tuple[str, str]]) -> None:
    _say(title)
    for name, text in rows:
        _say(f"  {name:22} {text}")


def _time(ps: int) -> str:
    return said(quantity(ps / 1e12, "s", 4))


def _bytes(number: int) -> str:
    return said(quantity(number, "B", 4))


def _counted(counts: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Name counts, those of nothing left out."""

    def rows() -> Iterator[tuple[str, str]]:
        yield "ranks", f"{counts['ranks']:,}"
        kinds = ", ".join(f"{number:,} {kind}" for kind, number in counts["tasks_by_kind"].items())
        yield "tasks", f"{counts['tasks']:,} ({kinds})" if kinds else "0"
        for kind, number in counts["bytes_by_kind"].items():
            if number:
                yield f"bytes of {kind}", _bytes(number)
        if counts["least_message_bytes"] is not None:
            least, most = counts["least_message_bytes"], counts["most_message_bytes"]
            yield "message", _bytes(least) if least == most else f"{_bytes(least)} to {_bytes(most)}"
        if counts["calc_ps"]:
            yield "calculation", f"{_time(counts['calc_ps'])}, of one rank at most {_time(counts['most_calc_ps'])}"
        if counts["collectives"]:
            yield "collectives", f"{counts['collectives']:,}"
        yield "connections", f"{counts['connections']:,}"
        yield "peers of a rank", f"to {counts['most_receivers']:,}, from {counts['most_senders']:,} at most"
        yield "dependencies", f"{counts['requires']:,} on ends, {counts['irequires']:,} on starts"
        yield "depth", f"{counts['depth']:,} tasks"
        yield "critical path", "none: tasks never end" if counts["path_ps"] is None else _path(counts)
        memory = f"{_bytes(counts['memory_bytes'])}, counters of a run {_bytes(counts['run_memory_bytes'])}"
        yield "memory", memory
        for pair in counts["pairs"][:3]:
            yield f"rank {pair['from']} to rank {pair['to']}", f"{_bytes(pair['bytes'])} in {pair['messages']:,}"

    return list(rows())


def _path(figures: Mapping[str, Any]) -> str:
    tasks = f"tasks {figures['path_tasks']:,}, of these messages and collectives {figures['path_messages']:,}"
    return f"{_time(figures['path_ps'])}: {tasks}; calculation {_time(figures['path_calc_ps'])}"


def _bounded(figures: Mapping[str, Any]) -> list[tuple[str, str]]:
    causes = {"path": "critical path", "host": "busiest host", "stream": "busiest stream"}
    return [
        ("bound", f"{_time(figures['bound_ps'])} ({causes[figures['cause']]})"),
        ("critical path", _path(figures) + ("" if figures["path_bounds"] else "; no bound: receives take any message")),
        ("busiest host", f"{_time(figures['host_ps'])}: rank {figures['host_rank']}, {_bytes(figures['host_bytes'])}"),
        ("busiest stream", f"{_time(figures['stream_ps'])}: rank {figures['stream_rank']}"),
    ]
