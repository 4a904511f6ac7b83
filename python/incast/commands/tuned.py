"""Search for parameter values as a call: ``incast.tune``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from html import escape
from os import PathLike
from pathlib import Path

from incast.batch.plan import slug
from incast.batch.shares import default_workers
from incast.commands import arguments
from incast.errors import UnsoundError
from incast.external import consent
from incast.pictures.style import formats_of
from incast.runs.scenario import Scenario
from incast.statistics import Estimate
from incast.study.api import Study, load
from incast.study.axes import Value
from incast.system.output import counted
from incast.tuning import outcome, results
from incast.tuning.declaration import Tuning
from incast.tuning.outcome import Outcome
from incast.tuning.search import Search


class Tuned:
    """Result of a search: the chosen values, and their comparison with the defaults on held-out seeds."""

    def __init__(self, found: Outcome, folder: Path, scenarios: Sequence[Path]) -> None:
        self.outcome = found
        self.folder = folder
        """Folder with the scenarios, the tables and the pictures."""
        self.scenarios = list(scenarios)
        """Scenario files with the chosen values."""

    @property
    def best(self) -> Mapping[str, Value]:
        """The chosen value of each key."""
        return self.outcome.best.tried.values

    def scenario(self) -> Scenario:
        """Return the scenario with the chosen values: the first, if the study has several."""
        return Scenario.load(self.scenarios[0])

    @property
    def defaults(self) -> Mapping[str, str]:
        """The value of each key without the search, as a text; empty where the scenario does not name it."""
        return self.outcome.tuning.target.default_values

    def _values(self) -> str:
        return self.outcome.tuning.target.beside_defaults(self.best)

    def _rows(self) -> list[tuple[str, str, str, str]]:
        return [
            (row.figure, _shown(row.tuned), _shown(row.defaults), row.verdict) for row in self.outcome.best.compared
        ]

    def __repr__(self) -> str:
        lines = [f"{figure}: {ours}, defaults {theirs} ({verdict})" for figure, ours, theirs, verdict in self._rows()]
        return "\n".join([f"chosen: {self._values()}", *lines, f"results: {self.folder}"])

    def _repr_html_(self) -> str:
        values = escape(self._values())
        head = "".join(f"<th>{word}</th>" for word in ("figure", "tuned", "defaults", "verdict"))
        body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in self._rows())
        return f"<table><caption>{values}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _shown(one: Estimate | None) -> str:
    return "–" if one is None else f"{one.mean:.4g}"


def tune(
    study: Study | str | PathLike[str],
    budget: int | None = None,
    *,
    minimise: str | Sequence[str] | None = None,
    maximise: str | Sequence[str] | None = None,
    workers: int = 0,
    out: str | PathLike[str] | None = None,
    formats: str | Sequence[str] = "png",
    allow_code: bool = False,
) -> Tuned:
    """Search for the best values of a study's parameters, like ``incast tune``; the same call resumes a search.

    ``study`` is a study file, or a ``Study`` whose axes are ranges. ``minimise`` and ``maximise`` name figures of the
    summary; with one of them they replace those of the file's table ``[tune]``. ``budget`` is the number of parameter
    sets to try (default: the file's). Results go into the folder ``out`` (default: runs/tune-NAME).

    Raises ``StudyError``, ``ScenarioError``, ``FolderError``, ``UnsoundError``, or ``ExtraError`` without the extra
    ``tune``.
    """
    if not isinstance(study, (Study, str, PathLike)):
        raise arguments.refusal("study", study, "a study file, or a Study")
    if budget is not None and arguments.count("budget", budget) == 0:
        raise arguments.refusal("budget", budget, "a number of parameter sets")
    cores, place = arguments.count("workers", workers) or default_workers(), arguments.path("out", out)
    kinds = formats_of(arguments.words("formats", formats, 'image formats such as "png,pdf"'))
    with consent.reading("", allow_code):
        own = study if isinstance(study, Study) else load(Path(study), allow_code=allow_code)
        own = _towards(own, {"minimise": minimise, "maximise": maximise})
        tuning = Tuning.of(own, budget)
        tuning.check()
        folder = place or Path("runs") / slug(f"tune-{own.name}")
        search = Search(tuning, folder)
        found = outcome.of(search, search.carry_out(cores, lambda _: None), cores)
    scenarios = results.write(found, folder, kinds)
    if unsound := [one.refused for one in found.tried if one.unsound]:
        raise UnsoundError(f"{counted(len(unsound), 'set')} refused; the first: {unsound[0]}")
    return Tuned(found, folder, scenarios)


def _towards(study: Study, objectives: Mapping[str, object]) -> Study:
    """Return the study with other objectives, if any are given."""
    expected = 'a figure of the summary, such as "fct.slowdown_mean", or a list of them'
    given = {key: arguments.several(key, one, (str,), expected) for key, one in objectives.items() if one is not None}
    if not given:
        return study
    table = dict(study.others.get("tune", {}))
    return replace(
        study, others={**study.others, "tune": {k: v for k, v in table.items() if k not in objectives} | given}
    )
