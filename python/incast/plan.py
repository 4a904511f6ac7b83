"""Plans: which runs belong together, and the folder that they fill."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from incast import run_folder, soundness
from incast.errors import FolderError, StudyError
from incast.folders import NOT_EMPTY, put_first
from incast.result import Result
from incast.scenario import Scenario

MOST_RUNS = 100_000
"""Runs of one plan; at a tenth of a second each these are hours, so that more are a slip."""

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True)
class Job:
    """One run: what it is called in messages, its scenario with the seed, and the folder of its own."""

    name: str
    scenario: Scenario
    folder: Path
    weight: float = 0.0
    """Heavy runs begin first, so that no core waits for the last one at the end."""
    check: Callable[[Result], None] = lambda _: None
    """Refuses what came out, before it is saved: then nothing more is run."""

    def is_finished(self) -> bool:
        """Whether the folder holds this run, made by this build of the engine."""
        return run_folder.holds(self.folder, self.scenario.hash, self.scenario.seed)

    def is_usable(self) -> bool:
        """Whether the run need not be made: it is finished, sound, and no file of it is damaged."""
        try:
            if not self.is_finished():
                return False
            return not soundness.unsound(Result.load(self.folder, whole=True).summary)
        except FolderError:
            return False


@dataclass(frozen=True)
class Mark:
    """The file that says of a folder which plan's runs it holds."""

    file: str
    text: str
    same: Callable[[Path], bool]
    """Whether a mark that is there is of the same plan; raises ``FolderError`` where it is damaged."""
    other: str
    """Message about a folder of another plan, and what to do about it."""
    strange: str = NOT_EMPTY
    """Message about a folder with anything else in it."""

    def put(self, folder: Path) -> None:
        """Make the folder and mark it, or find the mark there; raises ``FolderError`` where anything else is."""
        path = folder / self.file
        put_first(path, self.text, self.strange)
        if not self.same(path):
            raise FolderError(f"{folder} holds {self.other}")


@dataclass(frozen=True)
class Plan(Generic[Key]):
    """Jobs by what each is of, in one folder."""

    folder: Path
    mark: Mark
    jobs: Mapping[Key, Job]


def refuse_too_many(seeds: int, points: int, what: str) -> None:
    """Raise ``StudyError`` where so many seeds of so many points, called ``what``, are more runs than anybody means."""
    if seeds * points > MOST_RUNS:
        raise StudyError(
            f"{seeds:,} seeds of {points:,} {what} are {seeds * points:,} runs: expected at most {MOST_RUNS:,}"
        )


def slug(text: str) -> str:
    """Write a name so that it can be a folder's."""
    return re.sub(r"[^A-Za-z0-9.+-]+", "-", text).strip("-.") or "x"


def told_apart(wanted: Iterable[Sequence[str]]) -> list[str]:
    """Give a name for each: the first of those it would have that no other one has, or its last with a number."""
    found: list[str] = []
    for names in wanted:
        numbered = (f"{names[-1]}-{number}" for number in range(2, len(found) + 3))
        found.append(next(name for name in (*names, *numbered) if name not in found))
    return found
