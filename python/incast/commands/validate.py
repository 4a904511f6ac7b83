"""``incast validate``: files checked without a run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from incast.commands.options import Quiet, RanksTo, WorkloadFile, err, next_steps, of_workload, out, tell
from incast.errors import FolderError, PaperError, ScenarioError, StudyError
from incast.external import consent
from incast.runs import lines, size
from incast.runs.scenario import Scenario
from incast.system import files, output
from incast.system.interrupts import loading

PAPER, STUDY_KEYS = "paper.toml", ("scenario", "axes", "arms")
"""Name of a paper's file, repeated here to avoid a slow import; keys that only a study has."""


def validate(
    names: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...", help="Scenario files, study files, folders of papers, or built-in scenarios."
        ),
    ],
    workload: WorkloadFile = None,
    ranks_to: RanksTo = None,
    quiet: Quiet = False,
) -> None:
    """Check files without running them: scenarios, studies and papers; exit status 1 if any has an error.

    Every scenario of a study or paper is made and checked. No code that files name is run. Notes on a scenario are
    printed to standard error.
    """
    wrong, job = 0, dict(of_workload(workload, ranks_to))
    for name in names:
        try:
            with consent.looking_away():
                kind, words, notes = _checked(name, job)
        except (ScenarioError, StudyError, PaperError, FolderError) as error:
            wrong += 1
            _tell(name, error)
            continue
        tell(notes if len(names) == 1 else [f"{name}: {note}" for note in notes])
        if not quiet:
            out.print(f"{name}: ok ({kind}: {words})", highlight=False, soft_wrap=True)
        if len(names) == 1:
            run = {"scenario": "run", "study": "study run", "paper": "paper run"}[kind]
            next_steps(quiet or bool(job), f"incast {run} {name}")
    if wrong:
        raise typer.Exit(1)


def _checked(name: str, job: Mapping[str, str]) -> tuple[str, str, list[str]]:
    """Check a file; return its kind, what it has, and the notes on a scenario, which takes the settings of a job."""
    path = Path(name)
    if path.is_dir() and not (path / PAPER).exists():
        raise ScenarioError(f"{name}: a folder without {PAPER}; expected a scenario, a study, or the folder of a paper")
    if path.is_dir() or path.name == PAPER:
        return "paper", _paper(path if path.is_dir() else path.parent), []
    if any(key in _data(path) for key in STUDY_KEYS):
        return "study", _study(path), []
    if path.is_file() and path.suffix != ".toml" and not _data(path):
        raise ScenarioError(f"{name}: not a scenario, study or paper, which are TOML files")
    scenario = Scenario.load(name).changed(job)
    found = size.of(scenario)
    return "scenario", f"{found.hosts:,} hosts, flows: {found.flows:,}", scenario.notes()


def _data(path: Path) -> dict[str, object]:
    """Return the content of a TOML file; nothing if it cannot be read, which the reader of scenarios reports."""
    try:
        return files.read_toml(path)
    except (OSError, ValueError):
        return {}


def _paper(folder: Path) -> str:
    with loading():
        from incast.papers import planning, reading
    paper = reading.load(folder)
    runs = planning.plan(paper, list(paper.figures.values()), "small", folder / "runs-of-no-one")
    return f"{output.counted(len(paper.figures), 'figure')}, {output.counted(len(runs), 'run')}"


def _study(path: Path) -> str:
    with loading():
        from incast.study import api, estimate
    points, runs = estimate.counted(api.load(path))
    return f"{output.counted(points, 'point')}, {output.counted(runs, 'run')}"


def _tell(name: str, error: Exception) -> None:
    """Print an error, each of its lines with the line of the file that it is about."""
    path, notes = Path(name), "".join(f" ({note})" for note in getattr(error, "__notes__", []))
    try:
        text = files.read_text(path / PAPER if path.is_dir() else path)
    except (OSError, ValueError):
        text = ""
    for line, words in lines.numbered(text, f"{error}{notes}".removeprefix(f"{name}: ")):
        place = name if line is None else f"{name}:{line}"
        message = Text.assemble(("error:", "bold red"), f" {place}: ", output.escaped(words, keep="\t"))
        err.print(message, highlight=False, soft_wrap=True)
