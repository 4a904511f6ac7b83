"""Pictures of a comparison by kind, for a screen or a paper: over all its seeds, or of chosen runs over time."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from incast.comparisons import picked
from incast.comparisons.coexistence import Meeting, Pairs, known
from incast.comparisons.comparison import Comparison
from incast.comparisons.picked import Choice
from incast.errors import StudyError
from incast.pictures import by_flow, kinds
from incast.pictures.by_flow import Groups, Share, Spot
from incast.pictures.by_name import ByName
from incast.pictures.looks import Look, Picture, look_of
from incast.pictures.recorded import NothingToDraw
from incast.runs.result import Result
from incast.statistics import Estimate
from incast.view import timelines

PANELS = ("windows", "rates", "heat-map", "lanes")
"""Kinds with a panel a run, of which two fit abreast."""
MOST = 8
"""Most lines of a picture over time."""
RATE, DELAY = "flows.throughput_mean_bps", "flows.delay_mean_s"
"""Figures of a picture of throughput against delay."""


class ComparedPictures(ByName):
    """Pictures of a comparison, each a matplotlib figure: ``compared.plot.slowdown(style="paper")``.

    ``style`` is ``"screen"``, ``"paper"`` (one column) or ``"paper-wide"`` (two). ``value`` is the value of the varied
    key (default: the middle one), ``controllers`` are some of the comparison's. Pictures over time are of the first
    seed, whose runs are repeated with a timeline.
    """

    def __init__(self, done: Comparison) -> None:
        self._done = done

    def fct(self, style: str = "screen", **choice: object) -> Picture:
        """Flow completion times by size, as CDFs: a panel a size, a line a controller; seeds are pooled."""
        return self._draw("fct", style, choice)

    def slowdown(self, style: str = "screen", **choice: object) -> Picture:
        """Median and 99th percentile of the slowdown by size, with 95 % intervals over the seeds."""
        return self._draw("slowdown", style, choice)

    def queue(self, style: str = "screen", **choice: object) -> Picture:
        """Queue of the first controller's busiest port over time: a line a controller."""
        return self._draw("queue", style, choice)

    def windows(self, style: str = "screen", **choice: object) -> Picture:
        """Congestion windows over time: a panel a controller, a line a flow."""
        return self._draw("windows", style, choice)

    def rates(self, style: str = "screen", **choice: object) -> Picture:
        """Throughput over time: a panel a controller, a line a flow."""
        return self._draw("rates", style, choice)

    def fairness(self, style: str = "screen", **choice: object) -> Picture:
        """Jain's index over time: a line a controller."""
        return self._draw("fairness", style, choice)

    def heat_map(self, style: str = "screen", **choice: object) -> Picture:
        """Queues of all ports over time: a panel a controller."""
        return self._draw("heat-map", style, choice)

    def lanes(self, style: str = "screen", **choice: object) -> Picture:
        """Lanes of ranks of jobs over time: a panel a controller."""
        return self._draw("lanes", style, choice)

    def queue_cdf(self, style: str = "screen", **choice: object) -> Picture:
        """Share of the time in which the busiest port's queue is at most so long: a line a controller."""
        return self._draw("queue-cdf", style, choice)

    def delay_cdf(self, style: str = "screen", **choice: object) -> Picture:
        """Mean delay of each flow, as a CDF: a line a controller; seeds are pooled."""
        return self._draw("delay-cdf", style, choice)

    def throughput_delay(self, style: str = "screen", **choice: object) -> Picture:
        """Throughput against delay, with 95 % intervals: a line a controller over the values of the varied key."""
        return self._draw("throughput-delay", style, choice)

    def size_map(self, style: str = "screen", **choice: object) -> Picture:
        """99th percentile of the slowdown by size and value of the varied key: a panel a controller."""
        return self._draw("size-map", style, choice)

    def _draw(self, kind: str, style: str, choice: dict[str, object]) -> Picture:
        text, given = picked.text(choice.pop("value", None)), picked.listed(choice.pop("controllers", None))
        if unknown := choice.keys() - {"seed", "scenario"}:
            raise StudyError(f"{kind}: no choice {min(unknown)}; expected controllers, value, seed or scenario")
        asked = Choice(given, text, **choice)  # type: ignore[arg-type]
        return draw(kind, self._done, asked, look_of(style), lambda _: None)

    def __repr__(self) -> str:
        return f"pictures of {self._done.study.title}:\n{self._listed()}"


def draw(kind: str, done: Comparison, choice: Choice, look: Look, tell: Callable[[str], None]) -> Picture:
    """Draw a kind of picture of a comparison; raises ``NothingToDraw`` and ``StudyError``."""
    if kind in kinds.OVER_TIME:
        return _over_time(kind, done, choice, look, tell)
    if kind == "shares":
        raise NothingToDraw(
            "shares: every run of a comparison has one controller: expected the folder of incast coexist"
        )
    with look.set():
        return _OF_SEEDS[kind](done, choice, look)


def _over_time(kind: str, done: Comparison, choice: Choice, look: Look, tell: Callable[[str], None]) -> Picture:
    most = picked.MOST if kind in PANELS else MOST
    choice = Choice(choice.controllers, choice.value, choice.seed, choice.scenario, most)
    wanted, told = picked.wanted(done.study, done.home, choice)
    tell(f"draws {told}")
    with timelines.made(wanted, tell) as there:
        return kinds.draw(kind, [(name, Result.load(place)) for name, place in there], look)


def _groups(done: Comparison, choice: Choice) -> tuple[Groups, str]:
    """Return the completions of each controller at the chosen value by seed, and a title."""
    scenario, value, chosen = picked.point(done.study, choice)
    found = {
        name: {run.case.seed: run.completions("fct") for run in done.point(scenario, one.text, value)}
        for name, one in chosen.items()
    }
    return found, _title(done, value)


def _title(done: Comparison, value: str) -> str:
    at = f", {done.study.key} = {value}" if len(done.study.values) > 1 else ""
    return f"{done.study.title}{at}"


def _fct(done: Comparison, choice: Choice, look: Look) -> Picture:
    groups, words = _groups(done, choice)
    return by_flow.fct(groups, look, words)


def _slowdown(done: Comparison, choice: Choice, look: Look) -> Picture:
    groups, words = _groups(done, choice)
    return by_flow.slowdown(groups, look, words)


def _delay_cdf(done: Comparison, choice: Choice, look: Look) -> Picture:
    scenario, value, chosen = picked.point(done.study, choice)
    found = {}
    for name, one in chosen.items():
        rows = [run.rows("flows", ["delay_mean_s"])["delay_mean_s"] for run in done.point(scenario, one.text, value)]
        found[name] = np.concatenate([column.drop_null().to_numpy().astype(np.float64) for column in rows])
    return by_flow.delay_cdf(found, look, _title(done, value))


def _throughput_delay(done: Comparison, choice: Choice, look: Look) -> Picture:
    study = done.study
    scenario, _, chosen = picked.point(study, choice)
    values: Sequence[str] = study.values if choice.value is None else [choice.value]
    groups: dict[str, list[Spot]] = {}
    for name, one in chosen.items():
        for value in values:
            rate, delay = (done.reading(scenario, one.text, value, key) for key in (RATE, DELAY))
            if rate is not None and delay is not None and rate.least is not None and delay.least is not None:
                groups.setdefault(name, []).append(Spot(delay.least, rate.least, value if len(values) > 1 else ""))
    return by_flow.throughput_delay(groups, look, study.title, "Mean throughput", True)


def _size_map(done: Comparison, choice: Choice, look: Look) -> Picture:
    study = done.study
    scenario, _, chosen = picked.point(study, choice)
    found = {
        name: {
            value: {run.case.seed: run.completions("fct") for run in done.point(scenario, one.text, value)}
            for value in study.values
        }
        for name, one in chosen.items()
    }
    if len(study.values) == 1:  # nothing varies: controllers are beside one another
        (value,) = study.values
        return by_flow.size_map({study.title: {name: own[value] for name, own in found.items()}}, look, "")
    return by_flow.size_map(found, look, study.key)


_OF_SEEDS: dict[str, Callable[[Comparison, Choice, Look], Picture]] = {
    "fct": _fct,
    "slowdown": _slowdown,
    "delay-cdf": _delay_cdf,
    "throughput-delay": _throughput_delay,
    "size-map": _size_map,
}
KINDS = (*(kind for kind in kinds.KINDS if kind != "shares"), "size-map")
"""Kinds of pictures of a comparison."""


def draw_shares(pairs: Pairs, found: Sequence[Meeting], look: Look) -> Picture:
    """Draw the share of the goodput of each pair of controllers: a bar a pair."""
    names = {controller.text: controller.name for controller in pairs.controllers}
    order = list(names)
    rows = {}
    for one in found:
        if order.index(one.controller) <= order.index(one.other) and known(one.share_pct) is not None:
            own, other = names[one.controller], names[one.other]
            rest = Estimate(100 - one.share_pct.mean, one.share_pct.half_width, one.share_pct.count)
            rows[f"{own} beside {other}"] = [Share(own, one.share_pct, 50), Share(other, rest, 50)]
    if not rows:
        raise NothingToDraw("shares: no pair delivered anything: nothing to draw")
    with look.set():
        return by_flow.shares(rows, look, f"{pairs.title}: goodput by controller", "half")
