"""Result of ``incast.compare`` over two keys: the runs of a study with two axes, and its report with heat maps."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NoReturn

import pyarrow as pa

from incast.answers.showing import WIDTH, html_of, lines_of
from incast.batch.store import Store
from incast.commands import study_reports
from incast.commands.compared import Compared
from incast.comparisons import picked
from incast.comparisons.grid import Grid
from incast.comparisons.report_folder import Home
from incast.errors import StudyError
from incast.report import study_page
from incast.runs.result import COMPLETIONS
from incast.study import tabular


class NotOfGridError(StudyError, AttributeError):
    """Something that a comparison over two keys does not have: ``hasattr`` says so too."""


class ComparedGrid(Compared):
    """Results of a comparison over two keys: one row per run, answers, pictures as heat maps, and views."""

    def __init__(self, study: Grid, home: Home, formats: Sequence[str] = ("png",)) -> None:
        self.study, self.home = study, home
        self._report = study_reports.of_grid(study, home, formats)
        page = study_page.write(self._report, home.folder, formats)
        self.report = page.path
        self._pictures = page.pictures

    @cached_property
    def table(self) -> pa.Table:
        """One row a run: scenario, controller, values of both keys, seed, and the report's figures in SI units."""
        runs = tabular.rows(Store.at(self.home.store), "runs", self.home.name)
        texts = {arm: lineup[0] for lineup, arm in self.study.arms().items()}
        controllers = pa.array([texts[arm] for arm in runs["arm"].to_pylist()], pa.string())
        counts = [f"{part}.{name}" for part in COMPLETIONS for name in ("finished", "count")]
        keys = [key for key, _ in self.study.varied]
        names = [*keys, "seed", *(figure.key for figure in self._report.figures), *counts]
        kept = [name for name in names if name in runs.column_names]
        columns = [runs["scenario"], controllers, *(runs[name] for name in kept)]
        return pa.Table.from_arrays(columns, names=["scenario", "controller", *kept])

    @property
    def slowdowns(self) -> NoReturn:
        """Not of a comparison over two keys."""
        raise self._no("slowdowns")

    def answer(self) -> None:
        """Print the answers of the comparison, as ``incast compare`` does."""
        print("\n".join(lines_of(self._report.answers, WIDTH)))

    def best(self, *_: object, **__: object) -> NoReturn:
        """Refuse: the best values of one key depend on the other, and ``answer`` says how."""
        raise self._no("best")

    def figures(self, scenario: str | None = None) -> dict[str, str]:
        """Return the figures of the report, with their titles."""
        picked.scenario_of(self.study, scenario)
        return {figure.key: figure.title for figure in self._report.figures}

    @property
    def plot(self) -> NoReturn:
        """Not of a comparison over two keys, whose pictures are its heat maps."""
        raise self._no("plot")

    def _no(self, what: str) -> NotOfGridError:
        there = "answer() says what is best where, picture(name) has the heat maps, table the figures of each run"
        return NotOfGridError(f"{what}: not of a comparison over two keys ({self.study.keys}): {there}")

    def __repr__(self) -> str:
        return f"<Compared {self.study.title}: {self.table.num_rows} runs in {self.folder}>"

    def _repr_html_(self) -> str:
        return html_of(self._report.answers, "")
