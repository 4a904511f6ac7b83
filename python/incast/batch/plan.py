"""Plans: runs with folders, marks of folders, and names in them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from incast.errors import FolderError, StudyError
from incast.runs import run_folder, soundness
from incast.runs.result import Result
from incast.runs.scenario import Scenario
from incast.system.folders import NOT_EMPTY, put_first

MOST_RUNS = 100_000
"""Most runs of one plan: at a tenth of a second each they take hours, so more are a mistake."""


@dataclass(frozen=True)
class Job:
    """One run: its name in messages, its scenario with the seed, and its folder."""

    name: str
    scenario: Scenario
    folder: Path
    weight: float = 0.0
    """Weight of the run: heavy runs start first, so that no core idles at the end."""
    check: Callable[[Result], None] = lambda _: None
    """Check of a result before it is saved; an exception stops all runs."""

    def is_finished(self) -> bool:
        """Return whether the folder holds this run, made by this build of the engine."""
        return run_folder.holds(self.folder, self.scenario.hash, self.scenario.seed)

    def is_usable(self) -> bool:
        """Return whether the run can be reused: finished, sound and undamaged."""
        try:
            if not self.is_finished():
                return False
            return not soundness.unsound(Result.load(self.folder, whole=True).summary)
        except FolderError:
            return False


@dataclass(frozen=True)
class Mark:
    """File that marks a folder as that of a plan."""

    file: str
    text: str
    same: Callable[[Path], bool]
    """Check that an existing mark is of the same plan; raises ``FolderError`` if it is damaged."""
    other: str
    """Message about a folder of another plan, with the remedy."""
    strange: str = NOT_EMPTY
    """Message about a folder with other content."""

    def put(self, folder: Path) -> None:
        """Create and mark the folder, or accept an existing mark; raises ``FolderError`` for other content."""
        path = folder / self.file
        put_first(path, self.text, self.strange)
        if not self.same(path):
            raise FolderError(f"{folder} holds {self.other}")


def refuse_too_many(seeds: int, points: int, what: str) -> None:
    """Raise ``StudyError`` if seeds times points, called ``what``, are more than ``MOST_RUNS`` runs."""
    if seeds * points > MOST_RUNS:
        raise StudyError(
            f"{seeds:,} seeds of {points:,} {what} are {seeds * points:,} runs: expected at most {MOST_RUNS:,}"
        )


def slug(text: str) -> str:
    """Turn a name into one for a folder."""
    return re.sub(r"[^A-Za-z0-9.+-]+", "-", text).strip("-.") or "x"


def unique_names(wanted: Iterable[Sequence[str]]) -> list[str]:
    """Return a unique name for each: the first of its candidates that no other has, or the last one with a number."""
    found: list[str] = []
    for names in wanted:
        numbered = (f"{names[-1]}-{number}" for number in range(2, len(found) + 3))
        found.append(next(name for name in (*names, *numbered) if name not in found))
    return found
