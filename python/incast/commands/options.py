"""Options shared by commands, and consoles."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer

from incast.batch.plan import slug
from incast.commands import progress
from incast.errors import FolderError, ScenarioError, StudyError
from incast.external import consent
from incast.runs import job_of_file
from incast.runs.scenario import Scenario, toml_value
from incast.system import output
from incast.system.folders import is_standard_output
from incast.system.interrupts import loading

MOST_NAME = 120
"""Most characters of a default folder name."""
out = output.Screen()
err = output.Screen(stderr=True)


def beside(path: Path) -> output.Screen:
    """Return the console for messages about a written file: standard error if the file is standard output."""
    return err if is_standard_output(path) else out


ScenarioName = Annotated[
    str,
    typer.Argument(
        metavar="SCENARIO",
        help="A scenario file, a built-in scenario (incast list scenarios), or - for standard input.",
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Change a key of the scenario, e.g. topology.k=8; repeats."),
]
Paired = Annotated[
    bool, typer.Option("--paired", help="Also print differences from the first controller, seed by seed.")
]
WorkloadFile = Annotated[
    str | None,
    typer.Option(
        "--workload", metavar="FILE", help="One job, of this file, in place of the traffic: GOAL, SimAI or Chakra."
    ),
]
RanksTo = Annotated[
    str | None,
    typer.Option("--ranks-to", metavar="KIND", help="Its ranks: packed (default), by-rack, strided or random."),
]
Bins = Annotated[
    str | None,
    typer.Option(
        "--bins",
        metavar="SIZE,...",
        help="Edges of the size bins for slowdowns, such as 10kB,100kB,1MB (default: decades).",
    ),
]
Format = Annotated[
    str, typer.Option("--format", metavar="KIND,...", help="Image formats: png, svg, pdf, or several with commas.")
]
Workers = Annotated[int, typer.Option(min=0, help="Parallel runs; 0: one per core.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print no progress and no table; only notes and errors.")]
Rebuild = Annotated[
    bool, typer.Option("--rebuild", help="Repeat runs that are damaged or were made by another build of the engine.")
]
SharedStore = Annotated[
    Path | None,
    typer.Option("--store", metavar="DIR", help="Store of runs that studies share (default: one in the folder)."),
]
MemoryLimit = Annotated[
    str | None,
    typer.Option(
        "--memory-limit", metavar="SIZE", help="Refuse runs that need more memory, such as 8GB (none: no limit)."
    ),
]


def allow(code: bool) -> None:
    """Apply ``--allow-code``: allow all code that files name, or else ask at the terminal, if there is one."""
    is_seen = sys.stdin is not None and sys.stdin.isatty() and err.is_terminal
    consent.asks(_asked if is_seen else None, lambda note: tell([note]))
    if code:
        consent.allow_everything()


def _asked(what: str) -> bool:
    progress.clear()  # it would overwrite the question
    with loading():  # Ctrl-C exits, even while the question is printed: nothing is written yet
        err.print(
            f"{output.escaped(what)} is a program that runs with your rights. Run it? [y/N] ",
            highlight=False, markup=False, soft_wrap=True, end="",
        )  # fmt: skip
        return sys.stdin.readline().strip().lower() in ("y", "yes")


AllowCode = Annotated[
    bool,
    typer.Option(
        "--allow-code",
        help="Run the controller classes that files and stores name: programs with your rights. Classes on the command "
        "line always run.",
    ),
]


def settings(texts: list[str] | None) -> list[tuple[str, str]]:
    """Read the values of ``--set``, and allow the classes that they name."""
    consent.grant(texts and [text.partition("=")[2] for text in texts])
    return pairs_of(texts)


def pairs_of(texts: list[str] | None) -> list[tuple[str, str]]:
    """Read the values of ``--set``; classes that they name are not allowed to run."""
    pairs = []
    for text in texts or []:
        key, equals, value = text.partition("=")
        if not (equals and key.strip()):
            raise ScenarioError(f'--set "{text}": expected KEY=VALUE, such as --set topology.k=8')
        pairs.append((key.strip(), value.strip()))
    return pairs


Pairs = Sequence[tuple[str, str]]
"""Settings: keys and values."""


def of_workload(workload: str | None, ranks_to: str | None) -> list[tuple[str, str]]:
    """Return the settings that ``--workload`` and ``--ranks-to`` stand for."""
    if workload is None:
        if ranks_to is not None:
            raise ScenarioError(f"--ranks-to {ranks_to}: expected --workload FILE beside it")
        return []
    changes = job_of_file.changes(workload, ranks_to or job_of_file.PACKED)
    return [(key, toml_value(value)) for key, value in changes.items()]


def without_effect(
    given: Pairs, made: Callable[[Pairs], list[Scenario]], bases: Callable[[Pairs], list[Scenario]]
) -> Iterator[str]:
    """Yield a note for each setting without effect: a later setting or another option overrides it.

    Such a setting changes ``bases`` by itself, but not the scenarios ``made`` with all options. A default written out
    does not count. Of several equal settings one is kept.
    """
    kept = [(key, value) for at, (key, value) in enumerate(given) if key not in (later for later, _ in given[at + 1 :])]
    for key, value in given:
        if (key, value) not in kept:
            yield f"--set {key}={value} has no effect: a later --set of the key replaces it"
    whole, plain = made(kept), bases([])
    for pair in list(kept):
        others = [other for other in kept if other != pair]
        try:
            lost = made(others) == whole and bases([pair]) != plain
        except (ScenarioError, StudyError):  # settings that depend on each other
            continue
        if lost:
            kept = others
            yield f"--set {pair[0]}={pair[1]} has no effect: other options override it"


def folder(given: str | None, default: str) -> Path:
    """Return the folder of ``--out``, or a default one in runs/."""
    if given is None:
        # a scenario's name may be any text, and the folder must be in runs/
        if len(default) > MOST_NAME:
            digest = hashlib.sha256(default.encode("utf-8", "surrogatepass")).hexdigest()
            default = f"{default[: MOST_NAME - 13]}-{digest[:12]}"
        return Path("runs") / slug(default)
    if not given.strip():
        raise FolderError(f'--out "{given}": expected the name of a folder')
    return Path(given)


WARNING = "warning: "
"""Words in a note that make it a warning: the run is likely to mislead."""


def tell(notes: Iterable[str]) -> None:
    """Print notes to standard error, each once, warnings first."""
    for note in sorted(dict.fromkeys(notes), key=lambda note: WARNING not in note):
        kind = WARNING if WARNING in note else "note: "
        err.print(f"{kind}{note.replace(WARNING, '', 1)}", highlight=False, soft_wrap=True)


def tell_loss(text: str) -> None:
    """Print what a repair of a store could not keep."""
    tell([f"{WARNING}{text}"])


def next_steps(quiet: bool, *commands: str) -> None:
    """Print the commands to go on with, to standard error; only at a terminal, for a person."""
    if not quiet and err.is_terminal:
        err.print("next: " + "\n      ".join(commands), highlight=False, soft_wrap=True)
