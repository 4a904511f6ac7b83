"""Runs that a command shows: found by the names of runs, comparisons, pairs, stores, scenarios and figures."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from incast import _core
from incast.batch.plan import slug
from incast.batch.store import REPORTS_FOLDER, Store
from incast.commands.options import folder as folder_of
from incast.commands.study_reports import folder_of as folder_of_report
from incast.commands.subjects import OF_COMPARISON, Asked
from incast.comparisons import picked
from incast.comparisons.coexistence import Pairs
from incast.comparisons.declaration import ComparisonStudy, value_of
from incast.comparisons.grid import Grid
from incast.comparisons.picked import Choice
from incast.comparisons.report_folder import governed, read
from incast.errors import FolderError, PaperError, StudyError
from incast.papers import planning, reading
from incast.papers.definition import PAPER_FILE
from incast.runs import repeated, run_folder
from incast.runs.result import Result
from incast.runs.scenario import Scenario
from incast.study.companions import name_in
from incast.study.reading import find
from incast.system.files import STORE_FILE
from incast.system.output import counted, nearest
from incast.view import chosen, timelines
from incast.view.page import labels
from incast.view.timelines import Wanted

PAPER_MARK = planning.MARK
SCALE = "small"
"""Scale of the figures of papers that are shown."""


def choice_of(asked: Asked) -> Choice:
    """Return the choice of runs of a comparison."""
    return Choice(asked.controllers, asked.value, asked.seed, asked.scenario)


@dataclass(frozen=True)
class Found:
    """Runs to show."""

    wanted: list[Wanted]
    page: Path
    """Default file of their viewer page."""
    told: str = ""
    """Sentence that says which runs were chosen, if there was a choice."""


def kind_of(text: str) -> str:
    """Return what a text names: ``run``, ``comparison``, ``grid``, ``pairs``, ``store``, ``figure`` or ``scenario``.

    Raises ``FolderError`` for another folder, and ``PaperError`` for a paper without a figure, with what to type.
    """
    path = Path(text)
    for kind, file in (
        ("comparison", ComparisonStudy.FILE),
        ("grid", Grid.FILE),
        ("pairs", Pairs.FILE),
        ("run", run_folder.MANIFEST),
        ("store", STORE_FILE),
    ):
        if (path / file).is_file():
            return kind
    if (path / PAPER_MARK).is_file() or ((path / PAPER_FILE).is_file() and not reading.is_known(text)):
        whose = "the results of a paper" if (path / PAPER_MARK).is_file() else "a paper"
        raise FolderError(f"{text} is the folder of {whose}: expected a figure, such as incast view PAPER/FIGURE")
    if path.is_dir():
        raise FolderError(
            f"{text} has no {run_folder.MANIFEST}: not a run folder, nor the folder of a comparison, of pairs or of a "
            "store"
        )
    return "scenario" if path.is_file() or not _is_figure(text) else "figure"


def _is_figure(text: str) -> bool:
    """Return whether a text names a figure; raises ``PaperError`` for a whole paper."""
    if any(text == name for name, _ in _core.list_kind("scenarios")):
        return False
    place = Path(text).parent
    if not (reading.is_known(text) or ("/" in text and (place / PAPER_FILE).is_file())):
        return False
    paper, figures = reading.find(text)
    if reading.is_whole(text):
        raise PaperError(
            f"{text} is a paper with {counted(len(figures), 'figure')}: expected one of them, such as "
            f"{paper.called(figures[0])}"
        )
    return True


def find_all(texts: Sequence[str], asked: Asked) -> Found:
    """Find the runs that the texts name; several texts must be runs or scenarios, one each.

    Raises ``FolderError``, ``StudyError``, ``ScenarioError`` or ``PaperError``, with what was expected.
    """
    kinds = [kind_of(text) for text in texts]
    if len(texts) == 1:
        return _FINDERS[kinds[0]](texts[0], asked)
    for text, kind in zip(texts, kinds, strict=True):
        if kind not in ("run", "scenario"):
            raise StudyError(f"{text} holds several runs: give it alone, and choose with --controller, --value, --seed")
    found = [_FINDERS[kind](text, asked) for text, kind in zip(texts, kinds, strict=True)]
    places: dict[Path, str] = {}
    for text, one in zip(texts, found, strict=True):
        if (place := one.wanted[0].place.resolve()) in places:
            same = "given twice" if places[place] == text else f"the same run as {places[place]}"
            raise StudyError(f"{text} is {same}: give it once, or another run or scenario beside it")
        places[place] = text
    names = labels([Path(text) for text in texts])
    wanted = [_labelled(one.wanted[0], name) for one, name in zip(found, names, strict=True)]
    return Found(wanted, found[0].page)


def _labelled(one: Wanted, label: str) -> Wanted:
    return Wanted(label, one.place, one.scenario, one.recorded)


def _of_run(text: str, asked: Asked) -> Found:
    asked.refuse(text, "one run")
    folder = Path(text)
    return Found([timelines.of_folder(folder, labels([folder])[0])], folder / "view.html")


def _of_scenario(text: str, asked: Asked) -> Found:
    asked.refuse(text, "one scenario", ["--seed"])
    scenario = Scenario.load(text)
    if asked.seed is not None:
        scenario = scenario.with_seed(asked.seed)
    scenario = repeated.with_timeline(scenario)
    scenario.validate()
    place = _aside(scenario)
    return Found([Wanted(scenario.name, place, scenario)], place / "view.html")


def _aside(scenario: Scenario) -> Path:
    """Return the folder of a run that has no folder of its own."""
    return folder_of(None, f"view-{_name_of(scenario)}")


def _name_of(scenario: Scenario) -> str:
    return f"{slug(scenario.name)[:100]}-seed{scenario.seed}-{scenario.hash[:8]}"


def _of_comparison(text: str, asked: Asked) -> Found:
    asked.refuse(text, "a comparison", OF_COMPARISON)
    folder = Path(text)
    kind = next(one for one in (ComparisonStudy, Grid, Pairs) if (folder / one.FILE).is_file())
    study, home = read(kind, folder)
    wanted, told = picked.wanted(governed(study, home), home, choice_of(asked))
    return Found(wanted, folder / picked.file_name(told), told)


def _of_figure(text: str, asked: Asked) -> Found:
    asked.refuse(text, "a figure", ["--controller", "--value", "--seed"])
    paper, (figure,) = reading.find(text)
    at = figure.at(SCALE)
    runs = [one.name for one in at.series if not one.values]
    if not runs:
        raise PaperError(f"{text}: every series is computed by a formula, so there are no runs")
    series = list(asked.controllers) or runs[: picked.MOST]
    middle = at.points[len(at.points) // 2].x
    x = str(middle if asked.value is None else asked.value)
    seed = 1 if asked.seed is None else asked.seed
    if not 1 <= seed <= figure.seeds:
        raise PaperError(f"--seed {seed}: expected a number from 1 to {figure.seeds}")
    folder = folder_of(None, f"paper-{paper.name}-{SCALE}")
    jobs = planning.jobs(paper, at, folder)
    wanted = []
    for name in series:
        one, point = reading.run_of(at, f"{name}@{x}")
        job = jobs[one.name, point.x, seed]
        if job.is_usable():
            wanted.append(timelines.of_run(Result.load(job.folder), one.name, planning.over_time(job.folder)))
        else:
            scenario = repeated.with_timeline(job.scenario)
            wanted.append(Wanted(one.name, _aside(scenario), scenario))
    told = f"{' and '.join(series)} at {x}, seed {seed}"
    return Found(wanted, folder_of(None, f"view-{paper.name}-{figure.name}") / picked.file_name(told), told)


def _of_store(text: str, asked: Asked) -> Found:
    store = Store.at(Path(text))
    if asked.run is not None:
        asked.refuse(text, "a store, of which --run chooses a run", ["--run", "--study"])
        wanted = _stored(store, find(store, asked.run), asked.run)
        return Found([wanted], wanted.place / "view.html", f"run {asked.run}")
    name = name_in(store, asked.study)
    points = store.points(name)
    assert points is not None, "a study of a store has points"
    rows, told = _picked(points.to_pylist(), asked, name)
    seed = rows[0]["seeds"][0] if asked.seed is None else asked.seed
    if lacking := next((row for row in rows if seed not in row["seeds"]), None):
        raise StudyError(f"--seed {seed}: {name} has {', '.join(map(str, lacking['seeds']))}")
    runs = [find(store, row["runs"][row["seeds"].index(seed)]) for row in rows]
    found = [_stored(store, run, row["arm"] or row["scenario"]) for run, row in zip(runs, rows, strict=True)]
    told = f"{told}, seed {seed}"
    return Found(found, folder_of_report(store, name) / picked.file_name(told), told)


def _stored(store: Store, run: Result, label: str) -> Wanted:
    """Return a run of a store, whose repetition is kept beside the store's reports."""
    one = timelines.of_run(run, label, Path())
    assert one.scenario is not None, "stores keep no timelines"
    place = store.folder / REPORTS_FOLDER / chosen.RUNS / _name_of(one.scenario)
    return Wanted(label, place, one.scenario, run)


def _picked(rows: Sequence[Mapping[str, Any]], asked: Asked, study: str) -> tuple[list[Mapping[str, Any]], str]:
    """Choose points of a study: by scenario, arms, and values; the middle one of those that are left."""
    scenario = _one_of("--scenario", asked.scenario, [row["scenario"] for row in rows])
    rows = [row for row in rows if row["scenario"] == scenario]
    there = list(dict.fromkeys(row["arm"] for row in rows))
    arms = [_one_of("--controller", arm, there) for arm in asked.controllers] or there[: picked.MOST]
    found, told = [], []
    for arm in arms:
        own = [row for row in rows if row["arm"] == arm]
        if asked.value is not None:
            own = [row for row in own if _fits(json.loads(row["values"]), asked.value)]
            if not own:
                listed = "; ".join(_shown(row) for row in rows if row["arm"] == arm)
                raise StudyError(f"--value {asked.value}: {study} has {listed}")
        found.append(own[len(own) // 2])
        told.append(" ".join(filter(None, [arm or scenario, _shown(found[-1])])))
    return found, " and ".join(told)


def _one_of(option: str, given: str | None, there: Sequence[str]) -> str:
    known = list(dict.fromkeys(there))
    if given is None:
        return known[0]
    if given not in known:
        raise StudyError(f"{option} {given}: expected one of {', '.join(known)}{nearest(given, known)}")
    return given


def _fits(values: Mapping[str, Any], text: str) -> bool:
    """Return whether a point has a value, or the values ``KEY=VALUE,...``."""
    wanted = [one.partition("=") for one in text.split(",")]
    if all(equals for _, equals, _ in wanted):
        return all(key in values and values[key] == value_of(value) for key, _, value in wanted)
    return value_of(text) in values.values()


def _shown(row: Mapping[str, Any]) -> str:
    return ",".join(f"{key}={value}" for key, value in json.loads(row["values"]).items())


_FINDERS: dict[str, Callable[[str, Asked], Found]] = {
    "run": _of_run,
    "scenario": _of_scenario,
    "comparison": _of_comparison,
    "grid": _of_comparison,
    "pairs": _of_comparison,
    "figure": _of_figure,
    "store": _of_store,
}
