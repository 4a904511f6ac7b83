"""Options that several commands take, what they mean, and where commands print."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer

from incast import consent, output, progress
from incast.errors import FolderError, ScenarioError, StudyError
from incast.folders import is_standard_output
from incast.interrupts import loading
from incast.plan import slug
from incast.scenario import Scenario

MOST_NAME = 120
"""Letters of a folder's name that is not given."""
out = output.Screen()
err = output.Screen(stderr=True)


def beside(path: Path) -> output.Screen:
    """Say where to tell of a file that was written: not among its bytes, where these went to the standard output."""
    return err if is_standard_output(path) else out


ScenarioName = Annotated[
    str,
    typer.Argument(
        metavar="SCENARIO", help="A scenario file, a built-in scenario (incast list scenarios), or -: standard input."
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Change a key of the scenario, e.g. topology.k=8; repeats."),
]
Paired = Annotated[
    bool, typer.Option("--paired", help="Also how much each controller differs from the first, seed by seed.")
]
Bins = Annotated[
    str | None,
    typer.Option(
        "--bins",
        metavar="SIZE,...",
        help="Sizes that part flows for slowdowns, such as 10kB,100kB,1MB (default decades).",
    ),
]
Format = Annotated[
    str, typer.Option("--format", metavar="KIND,...", help="Files of pictures: png, svg, pdf, or several with commas.")
]
Workers = Annotated[int, typer.Option(min=0, help="Runs side by side; 0: one a core.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no table; notes and errors stay.")]
Rebuild = Annotated[
    bool, typer.Option("--rebuild", help="Make anew what another build of the engine made, or what is damaged.")
]
SharedStore = Annotated[
    Path | None,
    typer.Option("--store", metavar="DIR", help="Store of runs that studies share (default one in the folder)."),
]
MemoryLimit = Annotated[
    str | None,
    typer.Option(
        "--memory-limit", metavar="SIZE", help="Refuse what takes more memory, such as 8GB (none: run it anyway)."
    ),
]


def allow(code: bool) -> None:
    """Take ``--allow-code``: allow all code that files name, or else ask at the terminal, where there is one."""
    is_seen = sys.stdin is not None and sys.stdin.isatty() and err.is_terminal
    consent.asks(_asked if is_seen else None, lambda told: tell([told]))
    if code:
        consent.allow_everything()


def _asked(what: str) -> bool:
    progress.clear()  # it would be drawn over the question
    with loading():  # Ctrl-C leaves, also before the question is whole: nothing is written yet
        err.print(
            f"{output.escaped(what)} is a program that runs with your rights. Run it? [y/N] ",
            highlight=False, markup=False, soft_wrap=True, end="",
        )  # fmt: skip
        return sys.stdin.readline().strip().lower() in ("y", "yes")


AllowCode = Annotated[
    bool,
    typer.Option(
        "--allow-code",
        help="Run classes that files and stores name as controllers: programs with your rights. Those that stand on "
        "the command line run anyway.",
    ),
]


def settings(texts: list[str] | None) -> list[tuple[str, str]]:
    """Read the values of ``--set``; classes that they name may run."""
    consent.grant(texts and [text.partition("=")[2] for text in texts])
    pairs = []
    for text in texts or []:
        key, equals, value = text.partition("=")
        if not (equals and key.strip()):
            raise ScenarioError(f'--set "{text}": expected KEY=VALUE, such as --set topology.k=8')
        pairs.append((key.strip(), value.strip()))
    return pairs


Pairs = Sequence[tuple[str, str]]
"""Settings: keys and values."""


def without_effect(
    given: Pairs, made: Callable[[Pairs], list[Scenario]], bases: Callable[[Pairs], list[Scenario]]
) -> Iterator[str]:
    """Say which settings are lost: a later one replaces them, or what else is asked for does.

    Those that change ``bases`` by themselves, and nothing in the scenarios ``made`` with all that is asked for. A
    default that is written out is not lost. Of several that say the same one is kept.
    """
    kept = [(key, value) for at, (key, value) in enumerate(given) if key not in (later for later, _ in given[at + 1 :])]
    for key, value in given:
        if (key, value) not in kept:
            yield f"--set {key}={value} does nothing: it is set again, and the last one counts"
    whole, plain = made(kept), bases([])
    for pair in list(kept):
        others = [other for other in kept if other != pair]
        try:
            lost = made(others) == whole and bases([pair]) != plain
        except (ScenarioError, StudyError):  # others need it, or it needs others
            continue
        if lost:
            kept = others
            yield f"--set {pair[0]}={pair[1]} does nothing: all is the same without it"


def folder(given: str | None, default: str) -> Path:
    """Return the folder for results that ``--out`` gives, or one of runs."""
    if given is None:
        # a scenario's name may be any text, and the folder is to be one of runs
        if len(default) > MOST_NAME:
            digest = hashlib.sha256(default.encode("utf-8", "surrogatepass")).hexdigest()
            default = f"{default[: MOST_NAME - 13]}-{digest[:12]}"
        return Path("runs") / slug(default)
    if not given.strip():
        raise FolderError(f'--out "{given}": expected the name of a folder')
    return Path(given)


def tell(notes: Iterable[str]) -> None:
    """Say what is worth knowing before a run, once each."""
    for note in dict.fromkeys(notes):
        err.print(f"note: {note}", highlight=False, soft_wrap=True)
