"""Report on the figures of a paper that have all runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from incast.errors import FolderError
from incast.papers import page
from incast.papers.definition import Figure, Paper
from incast.papers.evaluation import Evaluated, Missing, evaluate


@dataclass(frozen=True)
class Reported:
    """Figures of a paper that were evaluated, and the report on them."""

    found: Sequence[Evaluated]
    missing: Sequence[Missing]
    page: Path


def write(
    paper: Paper,
    scale: str,
    folder: Path,
    again: Callable[[Figure | None], str],
    begin: str,
    formats: Sequence[str] = ("png",),
) -> Reported:
    """Evaluate the figures that have runs, and write the report.

    ``again`` returns the command that runs a figure, or all, for the page, which does not name the folder. Raises
    ``FolderError`` with the command ``begin`` if no figure is complete.
    """
    done = [evaluate(paper, figure, scale, folder) for figure in paper.figures.values()]
    found = [one for one in done if isinstance(one, Evaluated)]
    missing = [one for one in done if isinstance(one, Missing)]
    if not found:
        reasons = "; ".join(page.missing_text(one) for one in missing if one.lacking < one.runs)
        raise FolderError(f"{folder} holds no complete figure{f' ({reasons})' if reasons else ''}: {begin}")
    return Reported(found, missing, page.write(paper, scale, found, missing, folder, again, formats))
