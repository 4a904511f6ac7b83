"""Papers as calls: ``incast.paper("swift/fig21").run()``."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from os import PathLike
from pathlib import Path
from typing import Any

import pyarrow as pa

from incast.batch.plan import slug
from incast.commands import arguments, lookup
from incast.external import consent
from incast.papers import planning, reading, reporting
from incast.papers.definition import SCALES
from incast.papers.definition import Figure as Declared
from incast.papers.definition import Paper as Declaration
from incast.papers.reporting import Reported
from incast.runs.scenario import Scenario
from incast.runs.table import Table
from incast.system.listing import Listing, Words


class Reproduction:
    """Results of a paper's figures: a verdict on every claim, and the report."""

    def __init__(self, done: Reported, figures: Sequence[str], folder: Path) -> None:
        self.folder = folder
        """Folder with the report, the pictures and all runs."""
        self.report = done.page
        """The page with everything, ``report.html``."""
        rows: list[dict[str, Any]] = []
        for one in done.found:
            if one.figure.name in figures:
                for finding in one.findings:
                    words = {"claim": finding.claim.says, "verdict": f"{finding.verdict_text}{one.changed}"}
                    rows.append({"figure": one.figure.name} | words | {"numbers": "; ".join(finding.numbers)})
        names = ("figure", "claim", "verdict", "numbers")
        self.claims = Table(pa.table({name: pa.array([row[name] for row in rows], pa.string()) for name in names}))
        """One row per claim: figure, claim, verdict, and the numbers that decide."""

    def __repr__(self) -> str:
        lines = [f"{row['figure']}: {row['verdict']}: {row['claim']}" for row in self.claims.to_pylist()]
        return "\n".join([*lines, f"report: {self.report}"])

    def _repr_html_(self) -> str:
        cells = (
            f"<tr><th>{escape(row['figure'])}</th><td>{escape(row['verdict'])}</td><td>{escape(row['claim'])}</td></tr>"
            for row in self.claims.to_pylist()
        )
        return f"<table><caption>{escape(str(self.report))}</caption><tbody>{''.join(cells)}</tbody></table>"


class Reproducible:
    """A paper or one of its figures: ``figures``, ``describe()``, ``scenario()``, ``run()``."""

    def __init__(self, name: str, paper: Declaration, figures: list[Declared]) -> None:
        self.name = name
        self._paper, self._figures = paper, figures

    @property
    def figures(self) -> Listing:
        """Names of the figures, such as ``swift/fig21``, with their titles."""
        rows = [(self._paper.called(one), f"{one.title} ({one.where})") for one in self._figures]
        return Listing(rows, f"{self._paper.title}. {self._paper.source}")

    def describe(self) -> Words:
        """Describe the scenario, series, points, claims, assumptions and published numbers (``incast paper show``)."""
        return lookup.describe(self.name, "paper")

    def scenario(self, run: str = "first", scale: str = "small") -> Scenario:
        """Return the scenario of a run of a figure, ``"SERIES@POINT"``, to change and run it.

        Raises ``PaperError`` for an unknown run, and for a paper without a chosen figure.
        """
        arguments.text("scale", scale, SCALES)
        figure = self._one().at(scale)
        return self._paper.scenario(figure, *reading.run_of(figure, arguments.text("run", run))).with_seed(1)

    def _one(self) -> Declared:
        if len(self._figures) > 1:
            raise arguments.refusal("paper", self.name, f"one of its figures, such as {self.figures[0]}")
        return self._figures[0]

    def run(
        self,
        *,
        scale: str = "small",
        seeds: int | None = None,
        workers: int = 0,
        out: str | PathLike[str] | None = None,
        memory_limit: float | None = None,
        allow_code: bool = False,
    ) -> Reproduction:
        """Make the runs that are missing, and write the report (``incast paper run``); the same call resumes.

        ``scale`` is ``"small"`` or ``"paper"``, ``seeds`` the most seeds per point (default: the figure's). Results go
        into the folder ``out`` (default: runs/paper-NAME-SCALE). Raises ``PaperError``, ``FolderError``, and the
        exceptions of runs.
        """
        arguments.text("scale", scale, SCALES)
        if seeds is not None and arguments.count("seeds", seeds) == 0:
            raise arguments.refusal("seeds", seeds, "1 or more")
        at_once, place = arguments.count("workers", workers), arguments.path("out", out)
        limit = arguments.number("memory_limit", memory_limit, "a number of bytes")
        with consent.reading("", allow_code):
            paper, figures = reading.find(self.name, seeds)
            folder = place or Path("runs") / slug(f"paper-{paper.name}-{scale}")
            planning.carry_out(paper, figures, scale, folder, workers=at_once, memory_limit=limit)
            done = reporting.write(paper, scale, folder, lambda one: _again(paper, one), _again(paper, None))
        return Reproduction(done, [one.name for one in figures], folder)

    def __repr__(self) -> str:
        return f"{self._paper.title}. {self._paper.source}\n{self.figures!r}"

    def _repr_html_(self) -> str:
        return self.figures._repr_html_()


def _again(paper: Declaration, figure: Declared | None) -> str:
    return f"incast paper run {paper.called(figure)}"


def paper(name: str) -> Reproducible:
    """Return a paper (``"swift"``), or one of its figures (``"swift/fig21"``); a folder's path works too.

    Raises ``PaperError`` for an unknown name, with the nearest one.
    """
    return Reproducible(arguments.text("name", name), *reading.find(name))
