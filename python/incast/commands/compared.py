"""Results of ``incast.compare``: tables, answers, pictures and views of a comparison."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from incast.answers.answering import answers_of, best_of
from incast.answers.measures import measures_of
from incast.answers.showing import WIDTH, answers_html, lines_of
from incast.commands import arguments
from incast.comparisons import picked
from incast.comparisons.comparison import Comparison, slowdowns_of
from incast.comparisons.picked import Choice
from incast.errors import IncastError
from incast.report import comparison_page
from incast.report.compared_plots import ComparedPictures
from incast.report.figures import figures_of
from incast.report.page_tables import table_of
from incast.runs.completions import STATISTICS
from incast.runs.result import COMPLETIONS, Result, needed
from incast.system.folders import write_named
from incast.view import timelines
from incast.view.notebook import View

if TYPE_CHECKING:
    import pandas
    import polars


class Picture:
    """A picture as PNG: notebooks show it, ``save`` writes it."""

    def __init__(self, png: bytes) -> None:
        self.png = png

    def _repr_png_(self) -> bytes:
        return self.png

    def __repr__(self) -> str:
        return f"<Picture of {len(self.png):,} bytes>"

    def save(self, path: str | Path) -> None:
        """Write the picture: whole, through a link, or to a pipe or device. Raises ``FolderError`` elsewhere."""
        write_named(Path(path), self.png)


class Compared:
    """Results of a comparison: one row per run, one mean and interval per point, and pictures."""

    def __init__(self, done: Comparison, formats: Sequence[str] = ("png",)) -> None:
        self.comparison = done
        self.study, self.home = done.study, done.home
        page = comparison_page.write(done, formats)
        self.report = page.path
        """The page with everything, ``report.html``."""
        self._pictures = page.pictures

    @property
    def folder(self) -> Path:
        """Folder with the report, the pictures and all runs."""
        return self.home.folder

    @cached_property
    def table(self) -> pa.Table:
        """One row a run: scenario, controller, value of the varied key, seed, and the report's figures in SI units.

        Completion times cover finished flows only: ``fct.finished`` of ``fct.count`` (likewise for queries and writes).
        """
        study, rows = self.comparison.study, []
        there = {part for run in self.comparison.runs.values() for part in COMPLETIONS if run.figure(f"{part}.count")}
        counts = [f"{part}.{name}" for part in COMPLETIONS if part in there for name in ("finished", "count")]
        for case, run in self.comparison.runs.items():
            row: dict[str, object] = {"scenario": case.scenario, "controller": case.controller.text}
            row |= {study.key: case.value, "seed": case.seed}
            row |= {figure.key: run.figure(figure.key) for figure in figures_of(self.comparison, everything=True)}
            rows.append(row | {key: run.figure(key) for key in counts})
        return pa.Table.from_pylist(rows)

    @cached_property
    def slowdowns(self) -> pa.Table:
        """Slowdowns by size, where flows have several: one row a scenario, controller, value, entry, bin and statistic.

        ``at_least`` and ``at_most`` are means over the seeds of the bounds that unfinished flows leave, equal where the
        statistic is known; ``at_most`` is missing where there is no upper bound. ``finished`` of ``count`` flows did.
        """
        study, rows = self.comparison.study, []
        for scenario, value, c in product(study.scenarios, study.values, study.controllers):
            place = {"scenario": scenario, "controller": c.text, study.key: value}
            for found in slowdowns_of(self.comparison, scenario, c.text, value):
                band = {name: found[name] for name in ("entry", "from_bytes", "below_bytes", "finished", "count")}
                for statistic in STATISTICS:
                    ends = {end: None if one is None else one["mean"] for end, one in found[statistic].items()}
                    rows.append(place | band | {"statistic": statistic} | ends)
        return pa.Table.from_pylist(rows)

    def to_pandas(self) -> pandas.DataFrame:
        """Return the table as a pandas frame (needs the package ``pandas``)."""
        needed("pandas", "pandas")
        return self.table.to_pandas()

    def to_polars(self) -> polars.DataFrame:
        """Return the table as a Polars frame (needs the package ``polars``)."""
        frame: polars.DataFrame = needed("polars", "polars").from_arrow(self.table)
        return frame

    def answer(self) -> None:
        """Print the answers of the comparison, as ``incast compare`` does: every sentence, the most important first."""
        print("\n".join(lines_of(answers_of(self.comparison), WIDTH)))

    def best(self, figure: str, scenario: str | None = None) -> tuple[str, str] | None:
        """Return the controller and the value of the varied key that are best at a figure; ``None`` if none is.

        The best point is told apart from every other one: the 95 % interval of the paired difference excludes zero, and
        the difference is at least 1 %. ``figure`` is a name of ``figures()``; ``scenario`` is needed where there are
        several. Raises ``IncastError`` for another figure or scenario.
        """
        if not isinstance(figure, str):
            raise arguments.refusal("figure", figure, f"one of {', '.join(self.figures(scenario))}")
        where = None if scenario is None else picked.scenario_of(self.study, scenario)
        return best_of(self.comparison, figure, where)

    def figures(self, scenario: str | None = None) -> dict[str, str]:
        """Return the figures that ``best`` knows, with their titles; those of the first scenario by default."""
        where = picked.scenario_of(self.study, scenario)
        return {measure.key: measure.title for measure in measures_of(self.comparison, where)}

    def pictures(self) -> list[str]:
        """Names of the pictures: ``throughput``, ``delay-p99`` and so on."""
        return sorted(self._pictures)

    def picture(self, name: str) -> Picture:
        """Return a picture of the report; raises ``IncastError`` where there is none of the name."""
        if name not in self.pictures():
            raise IncastError(f'no picture "{name}"; expected one of {", ".join(self.pictures())}')
        return Picture(self._pictures[name])

    def view(
        self,
        controllers: str | Sequence[str] | None = None,
        value: object = None,
        *,
        seed: int | None = None,
        scenario: str | None = None,
    ) -> View:
        """View runs over time: ``view("swift", 650)``, or ``view()``, the first two controllers beside one another.

        Defaults: the middle value, the first seed, the first scenario. Runs are repeated with a timeline, and kept in
        the folder. Raises ``StudyError`` for a choice that the comparison does not have.
        """
        choice = Choice(picked.listed(controllers), picked.text(value), seed, scenario)
        wanted, _ = picked.wanted(self.study, self.home, choice)
        with timelines.made(wanted, lambda _: None) as there:
            view = View([(name, Result.load(place)) for name, place in there])
            assert view.html, "read before the block ends"
            return view

    @property
    def plot(self) -> ComparedPictures:
        """Pictures by kind, each a matplotlib figure: ``plot.slowdown(style="paper")``."""
        return ComparedPictures(self.comparison)

    def __repr__(self) -> str:
        return f"<Compared {self.comparison.study.title}: {len(self.comparison.runs)} runs in {self.folder}>"

    def _repr_html_(self) -> str:
        return answers_html(self.comparison) + table_of(self.comparison, figures_of(self.comparison))
