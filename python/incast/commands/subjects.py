"""Options that choose what a command shows: a run, a comparison, pairs, a store, a scenario, or a figure of a paper."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated

import typer

from incast.commands.options import err
from incast.errors import StudyError

KINDS = (
    *("fct", "slowdown", "queue", "windows", "rates", "fairness", "heat-map", "shares", "queue-cdf", "delay-cdf"),
    *("throughput-delay", "lanes", "size-map"),
)
"""Kinds of pictures, repeated here because Matplotlib is slow to load."""
Subject = Annotated[
    list[str],
    typer.Argument(
        metavar="X...",
        help="A run, a comparison, pairs, a store (their folders), a scenario, or PAPER/FIGURE.",
    ),
]
ChosenControllers = Annotated[
    list[str] | None,
    typer.Option(
        "--controller",
        metavar="NAME",
        help="Of a comparison, a store or a figure: a controller, arm or series (default: the first two); repeats.",
    ),
]
ChosenValue = Annotated[
    str | None,
    typer.Option("--value", metavar="VALUE", help="The value of the varied key, or the point (default: the middle)."),
]
ChosenSeed = Annotated[int | None, typer.Option("--seed", min=0, help="The seed (default: the first).")]
ChosenScenario = Annotated[
    str | None,
    typer.Option("--scenario", metavar="NAME", help="The scenario, if there are several (default: first)."),
]
ChosenStudy = Annotated[str | None, typer.Option("--study", metavar="NAME", help="The study, if a store has several.")]
ChosenRun = Annotated[str | None, typer.Option("--run", metavar="RUN", help="Of a store: a run by its identity.")]


@dataclass(frozen=True)
class Asked:
    """Options that choose runs."""

    controllers: tuple[str, ...] = ()
    value: str | None = None
    seed: int | None = None
    scenario: str | None = None
    study: str | None = None
    run: str | None = None

    @classmethod
    def of(
        cls,
        controllers: Sequence[str] | None,
        value: str | None,
        seed: int | None,
        scenario: str | None,
        study: str | None,
        run: str | None,
    ) -> Asked:
        """Read the options of a command."""
        return cls(tuple(controllers or ()), value, seed, scenario, study, run)

    def given(self) -> list[str]:
        """Return the options that are given."""
        own = {
            "--controller": self.controllers,
            "--value": self.value,
            "--seed": self.seed,
            "--scenario": self.scenario,
            "--study": self.study,
            "--run": self.run,
        }
        return [name for name, value in own.items() if value not in (None, ())]

    def words(self) -> list[str]:
        """Return the choice as words of a file name."""
        seed = [] if self.seed is None else [f"seed-{self.seed}"]
        return [*self.controllers, *filter(None, [self.value, self.scenario, self.study, self.run]), *seed]

    def refuse(self, text: str, what: str, allowed: Sequence[str] = ()) -> None:
        """Raise ``StudyError`` for options that do not apply."""
        if others := [name for name in self.given() if name not in allowed]:
            raise StudyError(f"{' and '.join(others)}: {text} is {what}, which leaves no such choice")


OF_COMPARISON = ("--controller", "--value", "--seed", "--scenario")
"""Options that choose runs of a comparison."""


def teller(command: str, quiet: bool) -> Callable[[str], None]:
    """Return the function that prints messages of a command to standard error."""

    def tell(text: str) -> None:
        if not quiet:
            err.print(f"{command}: {text}", highlight=False, soft_wrap=True)

    return tell
