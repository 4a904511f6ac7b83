"""``incast explain``: why something happened in a run."""

from __future__ import annotations

import json
import shlex
import sys
import tomllib
from pathlib import Path
from typing import Annotated

import typer

from incast.commands import progress
from incast.commands.options import AllowCode, Quiet, allow, err, out, tell
from incast.errors import FolderError
from incast.pauses import explained, record, telling
from incast.runs.result import Result, cut_pauses
from incast.runs.scenario import Scenario
from incast.system import output
from incast.system.files import held


def pauses(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a run with measure.pauses.")],
    flow: Annotated[
        int | None, typer.Option("--flow", metavar="NUMBER", help="A flow (default: the one that waited longest).")
    ] = None,
    port: Annotated[str | None, typer.Option("--port", metavar="NAME", help="A port instead of a flow.")] = None,
    json_: Annotated[bool, typer.Option("--json", help="Print the tree as JSON.")] = False,
    quiet: Quiet = False,
) -> None:
    """Explain the pauses of priority flow control: who paused whom and why.

    The tree leads from a victim to the port that began it. The victim is the flow that waited longest for a port that
    it does not cross.
    """
    if flow is not None and port is not None:
        raise FolderError("--flow and --port: expected one of them")
    result = Result.load(run)
    with held(run):
        known = record.of(result)
        found = None if known is None else _asked(known, flow, port)
        if known is None or found is None:
            told = [_without(result, run)]
            text = json.dumps({"sentence": told[0]}, indent=2) + "\n"
        else:
            told, text = list(telling.lines(known, found)), telling.as_json(known, found)
        tell(cut_pauses(result))
    with output.about(run):
        if json_:
            sys.stdout.write(text)
        elif not quiet:
            for line in told:
                out.print(line, highlight=False, markup=False, soft_wrap=True)


def jobs(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a run with training jobs.")],
    json_: Annotated[bool, typer.Option("--json", help="Print the table as JSON.")] = False,
    allow_code: AllowCode = False,
    quiet: Quiet = False,
) -> None:
    """Explain how much training jobs delay each other: run each alone, on the same hosts with the same seed.

    The slowdown of a job is its mean iteration time over that of the job alone.
    """
    from incast.runs import jobs_alone  # loads SciPy

    allow(allow_code)
    result = Result.load(run)
    if not result.summary.get("jobs"):
        raise FolderError(f"{run} has no training jobs; expected a run of a scenario with [[job]]")
    scenario = Scenario.load(run / "scenario.toml")
    with held(run), progress.of_wait(err, "jobs alone", quiet):
        found, fairness = jobs_alone.slowdowns(result, scenario)
    with output.about(run):
        if json_:
            sys.stdout.write(json.dumps(jobs_alone.as_json(found, fairness), indent=2) + "\n")
        elif not quiet:
            for line in jobs_alone.sentences(found, fairness):
                out.print(line, highlight=False, markup=False, soft_wrap=True)


def _asked(known: record.Record, flow: int | None, port: str | None) -> explained.Explanation | None:
    if flow is not None:
        return explained.of_flow(known, explained.flow_of(known, flow))
    return explained.victim(known) if port is None else explained.of_port(known, explained.port_of(known, port))


def _without(result: Result, run: Path) -> str:
    """Say why there is nothing to explain; raises ``FolderError`` if the run had pauses and did not record them."""
    if "pfc" not in tomllib.loads(result.toml).get("buffer", {}):
        return "No port was paused: the scenario has no priority flow control (buffer.pfc)."
    if not result.summary["queues"]["pauses"] or len(result.pauses):
        return "No port was paused in this run."
    counted = output.counted(result.summary["queues"]["pauses"], "pause")
    name, again = shlex.quote(str(run / "scenario.toml")), shlex.quote(f"{run}-pauses")
    raise FolderError(
        f"{run} has no pauses.parquet: the run counted {counted} without their causes; expected a run with them: "
        f"incast run {name} --set measure.pauses=auto --out {again} && incast explain pauses {again}"
    )
