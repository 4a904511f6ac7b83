"""Figures of papers that the lab offers: ``python tools/lab_figures.py`` writes them into a file that the page carries.

A figure becomes an experiment of the page: the file of its scenario, the keys that its set-up changes, and controllers
where series differ by them alone. The documentation's links are the same experiments.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from incast.errors import IncastError
from incast.papers import reading
from incast.papers.definition import Figure, Paper, Point, Series
from incast.runs.scenario import Scenario, in_order, text_of
from incast.view import lab

FILE = Path(__file__).resolve().parent.parent / "viewer" / "src" / "lab" / "figures.json"
MOST_CONTROLLERS, MOST_KEYS, MOST_WORD = 6, 64, 400
"""Most that an address may hold: those of ``viewer/src/lab/experiment.ts``."""
MOST_BYTES = 500e6
"""Memory of a run with curves, of which a page runs eight at once (``viewer/src/lab/runs.ts``)."""
RECORDED = ("measure.timeline", "auto")
"""Setting under which a page runs the first seed."""
MOST_SEEDS = 5
"""Seeds of a comparison, as the page has them at first."""
MOST_HOPS = 1e8
"""Hops of all runs, above which seeds are fewer: some half a minute of a core in a browser."""
FEWEST_SEEDS = 3
"""Seeds that an answer decides differences with: run in twice the hops."""
MOST_HOST_SECONDS = 20_000
"""The same where hops are unknown, as the page has it: simulated seconds, times hosts."""

Keys = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Experiment:
    """Scenario, changes, controllers and seeds that a page runs of a figure."""

    figure: Figure
    name: str
    series: tuple[str, ...]
    """Names of series: one a controller, or the only one."""
    text: str
    files: Keys
    """Names and contents of the files that the scenario names."""
    set: Keys
    controllers: tuple[str, ...]
    seeds: int

    @property
    def words(self) -> str:
        """Text of a link."""
        return f"{self.figure.title}: {'; '.join(self.series)}"

    @property
    def address(self) -> str:
        """The part after ``#``."""
        return lab.address(self.name, self.set, self.controllers, self.seeds, self.text, self.files)


def experiments(paper: Paper) -> Iterator[Experiment]:
    """Yield the experiments of a paper's figures."""
    for figure in paper.figures.values():
        found = experiment(paper, figure)
        if found is not None:
            yield found


def experiment(paper: Paper, figure: Figure) -> Experiment | None:
    """Return the experiment of a figure at its middle point; ``None`` if no page can run it."""
    run = [series for series in figure.series if not series.values]
    if not run or not figure.points:
        return None
    at = _At(paper, figure, figure.points[len(figure.points) // 2])
    try:
        keys, controllers = at.compared(run)
        first = next(iter(controllers.values()), run[0])
        if not controllers or not _is_valid(at.made(keys)):
            keys = at.keys(first)
        whole, text = at.scenario(first), at.text
        if not controllers and at.made(keys).hash != whole.hash:
            raise ValueError(f"{at.name}: its keys do not make its scenario")
        if len(keys) > MOST_KEYS or any(len(word) > MOST_WORD for pair in keys for word in pair):
            text, keys = whole.toml(), ()
        if whole.changed(dict([RECORDED])).memory() > MOST_BYTES:
            return None
        seeds = _seeds(whole, figure.seeds, max(1, len(controllers)))
    except IncastError:
        return None
    names = tuple(series.name for series in controllers.values()) or (first.name,)
    texts, left_out = lab.held(whole.files(), paper.folder)
    if left_out:
        return None
    return Experiment(figure, at.name, names, text, tuple(texts), keys, tuple(controllers), seeds)


@dataclass(frozen=True)
class _At:
    """A figure at a point."""

    paper: Paper
    figure: Figure
    point: Point

    @property
    def name(self) -> str:
        return f"{self.paper.name}-{self.figure.name}"

    @property
    def text(self) -> str:
        """Content of the scenario's file."""
        return (self.paper.folder / (self.point.scenario or self.figure.scenario)).read_text(encoding="utf-8")

    def scenario(self, series: Series) -> Scenario:
        return self.paper.scenario(self.figure, series, self.point)

    def made(self, keys: Keys, controller: str | None = None) -> Scenario:
        """Make a scenario as the page does."""
        core = Scenario.from_toml(self.text, origin=self.paper.folder, name=self.name).core
        for key, value in keys:
            core = core.set(key, value)
        return Scenario(core if controller is None else core.with_controller(controller))

    def keys(self, series: Series, *, with_controller: bool = True) -> Keys:
        """Return what a series changes in the file, each key once, in the order in which they are set."""
        kept: dict[str, str] = {}
        for changes in (self.figure.settings, series.set, self.point.set):
            for key in in_order(changes):
                if with_controller or changes is not series.set or "controller" not in key.split("."):
                    kept.pop(key, None)
                    kept[key] = text_of(changes[key])
        return tuple(kept.items())

    def compared(self, run: Sequence[Series]) -> tuple[Keys, dict[str, Series]]:
        """Return the most series that differ by their controllers alone: their keys, and series by controller."""
        groups: dict[Keys, dict[str, Series]] = {}
        for series in run:
            keys = self.keys(series, with_controller=False)
            controller = self._controller(series, keys)
            if controller is not None:
                groups.setdefault(keys, {}).setdefault(controller, series)
        keys, found = max(groups.items(), key=lambda group: len(group[1]), default=((), {}))
        if len(found) < 2:
            return (), {}
        kept = dict([*found.items()][:MOST_CONTROLLERS])
        return keys, dict(zip(_told_apart([*kept]), kept.values(), strict=True))

    def _controller(self, series: Series, keys: Keys) -> str | None:
        """Return a series' controller for ``--cc``; ``None`` if keys and controller do not make its scenario."""
        try:
            whole = self.scenario(series)
            for controller in _controllers(self.made(keys), whole.resolved()):
                if self.made(keys, controller).hash == whole.hash:
                    return controller
        except IncastError:
            pass
        return None


def _is_valid(scenario: Scenario) -> bool:
    try:
        scenario.validate()
    except IncastError:
        return False
    return True


def _controllers(base: Scenario, resolved: Mapping[str, Any]) -> Iterator[str]:
    """Yield texts of controllers, of which one may be that of a resolved scenario."""
    found = resolved.get("controller")
    if isinstance(found, dict):
        form = {"form": found["form"]} if "form" in found else {}
        plain = base.governed(_written(found["kind"], form)).resolved()["controller"]
        changed = {key: value for key, value in found.items() if plain.get(key) != value}
        yield _written(found["kind"], changed)
        yield _written(found["kind"], form | changed)


def _told_apart(controllers: Sequence[str]) -> list[str]:
    """Return controllers with the parameters first that not all of their kind have: names are cut at their ends."""
    parted = [text.partition(":") for text in controllers]
    common: dict[str, set[str]] = {}
    for kind, _, given in parted:
        common[kind] = common.get(kind, set(given.split(","))) & set(given.split(","))
    return [
        f"{kind}{colon}{','.join(sorted(given.split(','), key=lambda one: one in common[kind]))}"
        for kind, colon, given in parted
    ]


def _written(kind: str, parameters: Mapping[str, Any]) -> str:
    """Write a controller as ``--cc`` takes it."""
    given = ",".join(f"{key}={text_of(value)}" for key, value in parameters.items())
    return f"{kind}:{given}" if given else kind


def _seeds(scenario: Scenario, of_figure: int, controllers: int) -> int:
    extent = scenario.core.extent()
    work, most = extent["hops"], MOST_HOPS
    if not work:
        work, most = extent["duration_s"] * extent["hosts"], MOST_HOST_SECONDS
    few, many = (int(share * most / (work * controllers)) for share in (1, 2))
    return min(of_figure, max(1, min(MOST_SEEDS, few), min(FEWEST_SEEDS, many)))


def offered() -> str:
    """Return the file of the page: texts of scenarios, each once, and figures by paper, a line each."""
    texts: dict[str, int] = {}
    papers = []
    for paper in sorted(map(reading.load, map(reading.home().joinpath, reading.names())), key=lambda one: one.title):
        figures = [
            {
                "name": one.figure.name,
                **said(one.figure),
                "text": texts.setdefault(one.text, len(texts)),
                **_kept([(name, texts.setdefault(text, len(texts))) for name, text in one.files]),
                "set": one.set,
                "controllers": one.controllers,
                "seeds": one.seeds,
                "series": one.series,
            }
            for one in experiments(paper)
        ]
        if figures:
            head = _json({"name": paper.name, "title": paper.title, "source": paper.source})
            papers.append(f'{head[:-1]},"figures":[\n{_lines(figures)}\n]}}')
    whole = ",\n".join(papers)
    return f'{{"texts":[\n{_lines(texts)}\n],"papers":[\n{whole}\n]}}\n'


def said(figure: Figure) -> dict[str, str]:
    """Return what the page says of a figure."""
    return {"title": figure.title, "where": figure.where, "shows": " ".join(figure.shows.split())}


def _kept(files: list[tuple[str, int]]) -> dict[str, list[tuple[str, int]]]:
    return {"files": files} if files else {}


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _lines(values: Iterable[object]) -> str:
    return ",\n".join(map(_json, values))


if __name__ == "__main__":
    FILE.write_text(offered(), encoding="utf-8")
