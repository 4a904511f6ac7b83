"""``incast run``: simulate a scenario once."""

from __future__ import annotations

import shlex
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from incast.commands import progress
from incast.commands.options import (
    AllowCode,
    MemoryLimit,
    Pairs,
    Quiet,
    RanksTo,
    ScenarioName,
    Settings,
    WorkloadFile,
    allow,
    err,
    next_steps,
    of_workload,
    out,
    pairs_of,
    settings,
    tell,
    without_effect,
)
from incast.commands.options import folder as folder_of
from incast.errors import FolderError, ScenarioError, UnsoundError
from incast.external import consent
from incast.report import run_table
from incast.runs import size, soundness
from incast.runs.result import Result
from incast.runs.run_folder import MANIFEST, engine_digest, read_manifest
from incast.runs.scenario import Scenario
from incast.system import memory, output
from incast.system.folders import new_folder
from incast.system.interrupts import loading
from incast.writing.numbers import duration, said


def run(
    scenario: ScenarioName,
    extra: Annotated[list[str] | None, typer.Argument(hidden=True)] = None,
    set_: Settings = None,
    workload: WorkloadFile = None,
    ranks_to: RanksTo = None,
    seed: Annotated[int | None, typer.Option(min=0, max=2**63 - 1, help="Seed (default: the scenario's).")] = None,
    out_: Annotated[
        str | None,
        typer.Option("--out", metavar="DIR", help="Folder for the results (default: runs/SCENARIO-SEED-HASH)."),
    ] = None,
    threads: Annotated[
        int | None,
        typer.Option(min=1, max=255, help="Threads of the run (default: the scenario's); results do not depend on it."),
    ] = None,
    json: Annotated[
        bool, typer.Option("--json", help="Print the summary, or with --dry-run the size, as JSON.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the size of the run, estimates and notes; run nothing.")
    ] = False,
    memory_limit: MemoryLimit = None,
    allow_code: AllowCode = False,
    cc: Annotated[list[str] | None, typer.Option("--cc", hidden=True)] = None,
    quiet: Quiet = False,
) -> None:
    """Simulate a scenario once and write a run folder.

    Hints about the scenario are printed to standard error as notes; they are not errors. Exit status 1: a training job
    of the scenario did not end.
    """
    _refuse(scenario, extra, cc)
    job = of_workload(workload, ranks_to)
    if dry_run:
        _print_size(_asked(scenario, job, pairs_of(set_), seed, threads), memory_limit, json)
        return
    allow(allow_code)
    asked = _asked(scenario, job, settings(set_), seed, threads)
    with progress.of_wait(err, f"{asked.name}: reading", quiet):
        limit = memory.limit_of(memory_limit)
        needed = asked.refuse_above(limit, asked.name)
        disk, cpu_s = asked.timeline_cost()
        notes = asked.notes()
    tell(notes)
    if not quiet and (err.is_terminal or needed >= memory.WORTH_TELLING):
        err.print(f"memory: about {memory.spoken(needed)}", highlight=False)
    if not quiet and disk:
        cost = f"up to about {memory.spoken(disk)} on disk and {said(duration(cpu_s))} of CPU time"
        err.print(f"timeline: {cost}", highlight=False, soft_wrap=True)
    folder = folder_of(out_, f"{asked.name}-{asked.seed}-{asked.hash[:8]}")
    if _is_there(folder, asked):
        tell([f"this run is already in {folder}: nothing was simulated"])
        _show(Result.load(folder, whole=True), folder, json, quiet)
        return
    with loading():
        import pyarrow.parquet  # noqa: F401
    with new_folder(folder) as aside:
        with progress.of_run(err, asked.name, quiet) as (show, set_up):
            try:
                result = asked.run(progress=show, set_up=set_up, memory_limit=limit)
            except UnsoundError as error:
                # keep the folder, which shows the defect
                if error.result is None:
                    raise
                result = error.result
        result.write(aside)
    _show(result, folder, json, quiet)


def _asked(scenario: str, job: Pairs, pairs: Pairs, seed: int | None, threads: int | None) -> Scenario:
    """Read the scenario, and change it as the options say."""
    # paths in a scenario from standard input are relative to the working directory
    text = _standard_input() if scenario == "-" else None
    # a setting may replace a class of the file: do not ask for it before
    with consent.looking_away() if pairs else nullcontext():
        given = Scenario.load(scenario) if text is None else Scenario.from_toml(text, name="stdin")
        given = given.changed(dict(job))
        notes = [*without_effect(pairs, *[lambda some: [given.changed(dict(some))]] * 2)]
    asked = given.changed(dict(pairs))
    if seed is not None:
        asked = asked.with_seed(seed)
    tell(notes)
    return asked if threads is None else asked.changed({"run.threads": threads})


def _print_size(scenario: Scenario, memory_limit: str | None, json: bool) -> None:
    """Print the size of a run and its notes; classes that the scenario names are not imported."""
    from incast.report import run_size

    found = size.of(scenario, memory.limit_of(memory_limit))
    if json:
        sys.stdout.write(run_size.as_json(scenario, found))
        return
    out.print(f"{scenario.name}: seed {scenario.seed}, hash {scenario.hash[:8]}", highlight=False, soft_wrap=True)
    for line in run_size.lines(found):
        out.print(line, highlight=False, soft_wrap=True)
    tell(scenario.notes())


def _refuse(scenario: str, extra: list[str] | None, cc: list[str] | None) -> None:
    """Refuse arguments of other commands with what is meant here."""
    if cc:
        raise ScenarioError(
            f"--cc {cc[0]}: a run has one scenario and no controllers to compare; expected --set controller={cc[0]}, "
            "or --set controller.KEY=VALUE to keep the scenario's own"
        )
    if extra:
        asked_for = f"--set {extra[0]}" if "=" in extra[0] else f"a single scenario, already given as {scenario}"
        raise ScenarioError(f"{extra[0]}: expected {asked_for}")


MOST_MIB = 64
"""Most MiB of a scenario from standard input, which may be endless."""


def _standard_input() -> str:
    if sys.stdin is None:  # closed by the shell, `<&-`
        raise ScenarioError("-: the standard input is closed; expected a scenario")
    try:
        # bytes: Python's text mode would accept invalid UTF-8
        found = sys.stdin.buffer.read((MOST_MIB << 20) + 1)
    except OSError as error:
        raise ScenarioError(f"-: the standard input cannot be read: {error.strerror}") from None
    if len(found) > MOST_MIB << 20:
        raise ScenarioError(f"-: the standard input has more than {MOST_MIB} MiB; expected a scenario")
    try:
        return found.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ScenarioError("-: the standard input is not a text (UTF-8); expected a scenario") from None


def _show(result: Result, folder: Path, json: bool, quiet: bool) -> None:
    tell(result.notes())
    soundness.refuse(result.summary, f"{result.summary['run']['scenario']}, seed {result.summary['run']['seed']}")
    with output.about(folder):
        if json:
            sys.stdout.write(result.json())
        elif not quiet:
            run_table.show(result, folder, out)
            next_steps(quiet, *_next(result, folder))
    if result.unfinished_jobs():
        raise typer.Exit(1)


def _next(result: Result, folder: Path) -> list[str]:
    """Name the commands that show the run."""
    run, timed = shlex.quote(str(folder)), shlex.quote(f"{folder}-timed")
    view = f"incast view {run}"
    if result.timeline_json is None:
        scenario = shlex.quote(str(folder / "scenario.toml"))
        view = f"incast run {scenario} --set measure.timeline=auto --out {timed} && incast view {timed}"
    return [f"incast plot {run}", *([f"incast explain pauses {run}"] if len(result.pauses) else []), view]


def _is_there(folder: Path, scenario: Scenario) -> bool:
    """Return whether the folder has this run already; raises ``FolderError`` if another build of the engine made it."""
    if not (folder / MANIFEST).is_file():
        return False
    there = read_manifest(folder)
    if (there["hash"], there["seed"]) != (scenario.hash, scenario.seed):
        return False
    if there["engine"] != engine_digest():
        raise FolderError(
            f"this run is already in {folder}, made by another build of the engine: incast report "
            f"{shlex.quote(str(folder))} shows it; to repeat it, give another --out, or remove the folder first"
        )
    return True
