"""``incast explain``: why something happened in a run."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from incast.commands.options import Quiet, out
from incast.errors import FolderError
from incast.runs.result import Result
from incast.system import output
from incast.system.files import held
from incast.system.interrupts import loading

if TYPE_CHECKING:
    from incast.pauses.explained import Explanation
    from incast.pauses.record import Record


def pauses(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a run with measure.pauses.")],
    flow: Annotated[
        int | None, typer.Option("--flow", metavar="NUMBER", help="A flow (default: the one that waited longest).")
    ] = None,
    port: Annotated[str | None, typer.Option("--port", metavar="NAME", help="A port instead of a flow.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the tree as JSON.")] = False,
    quiet: Quiet = False,
) -> None:
    """Explain the pauses of priority flow control: who paused whom and why, from a victim to the port that began it."""
    if flow is not None and port is not None:
        raise FolderError("--flow and --port: expected one of them")
    with loading():
        from incast.pauses import explained, record, telling
    result = Result.load(run)
    with held(run):
        known = record.of(result)
        found: Explanation | None = None
        if known is None:
            text = _without(result, run)
        else:
            found = _asked(known, flow, port) if (flow, port) != (None, None) else explained.victim(known)
            text = "" if found is not None else "No pause took effect before the run ended."
    with output.about(run):
        if json:
            sys.stdout.write('{"sentence": null}\n' if known is None or found is None else telling.as_json(known, found))
        elif not quiet:
            for line in [text] if known is None or found is None else telling.lines(known, found):
                out.print(line, highlight=False, markup=False, soft_wrap=True)


def _asked(known: Record, flow: int | None, port: str | None) -> Explanation:
    from incast.pauses import explained

    if flow is not None:
        return explained.of_flow(known, explained.flow_of(known, flow))
    return explained.of_port(known, explained.port_of(known, port or ""))


def _without(result: Result, run: Path) -> str:
    """Say why there is nothing to explain; raises ``FolderError`` if the run recorded no pauses but had some."""
    if not result.summary["queues"]["pauses"]:
        return "No port was paused in this run: there is nothing to explain."
    name, timed = shlex.quote(str(run / "scenario.toml")), shlex.quote(f"{run}-pauses")
    again = f"incast run {name} --set measure.pauses=auto --out {timed} && incast explain pauses {timed}"
    raise FolderError(
        f"{run} has no pauses.parquet: the run counted {result.summary['queues']['pauses']:,} pauses and did not record "
        f"their causes; this does: {again}"
    )
