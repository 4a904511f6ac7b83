"""Outcome of a search: best set against the defaults on held-out seeds, Pareto front, importance of parameters."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from incast.answers.paired import clear_in_percent
from incast.batch.evaluation import Figures
from incast.errors import StudyError, UnsoundError
from incast.runs.completions import Reading
from incast.statistics import Estimate, estimate
from incast.tuning.declaration import WATCH, Tuning, flows_of, unfinished
from incast.tuning.search import Search, Tried


@dataclass(frozen=True)
class Compared:
    """A figure of a set and of the defaults on the held-out seeds of a scenario, and their paired difference.

    All three cover the seeds under which both have the figure; ``None`` without such seeds.
    """

    scenario: str
    figure: str
    unit: str
    tuned: Estimate | None
    defaults: Estimate | None
    difference: Estimate | None
    """Figure of the set minus that of the defaults."""
    relative: Estimate | None
    """Difference in percent of the defaults, seed by seed; ``None`` if a value is 0 or this shows another sign."""
    seeds: int
    """Number of compared seeds: those under which both have the figure."""

    @property
    def verdict(self) -> str:
        """Verdict from the interval of the difference: better or worse if it excludes zero."""
        if self.difference is None or self.difference.half_width is None:
            return "unknown"
        if self.difference.low > 0:
            return "higher"
        return "lower" if self.difference.high < 0 else "not seen"


@dataclass(frozen=True)
class Chosen:
    """A chosen set, and its results on the held-out seeds."""

    tried: Tried
    compared: tuple[Compared, ...]


@dataclass(frozen=True)
class Outcome:
    """Result of a search."""

    tuning: Tuning
    tried: list[Tried]
    default_scores: tuple[float, ...]
    """Objectives of the defaults on the tuning seeds."""
    front: list[Chosen]
    """The best set; with several objectives the Pareto front, ordered by the first objective."""
    chosen: int
    """Index of the set to use: with several objectives the nearest to the best value of each."""
    importances: dict[str, dict[str, float]]
    """Importance by objective and parameter, from 0 to 1; empty if too few sets were tried."""
    notes: tuple[str, ...]
    """Caveats about the figures."""

    @property
    def best(self) -> Chosen:
        """Return the set to use."""
        return self.front[self.chosen]


def of(search: Search, tried: list[Tried], workers: int) -> Outcome:
    """Evaluate a finished search: runs the front and the defaults on the held-out seeds.

    A set that leaves flows unfinished there, or has an unsound run, is dropped, and sets that it dominated enter the
    front. Raises ``UnsoundError`` if the defaults have an unsound run, since then there is no baseline.
    """
    tuning = search.tuning
    defaults = tuning.target.evaluated({}, tuning.held_out, None, workers)
    runs: dict[int, dict[str, Figures]] = {}
    while True:
        whole = [one for one in tried if one.scores is not None]
        if not whole:
            first = next((reason for one in tried if (reason := one.refused or one.unfinished)), "")
            raise StudyError(
                f"none of the {len(tried)} sets can be chosen (the first: {first}): expected ranges of values that the "
                "scenario accepts and under which flows finish"
            )
        front = _front(tuning, whole)
        out: dict[int, Tried] = {}
        for one in front:
            try:
                if one.number not in runs:
                    runs[one.number] = tuning.target.evaluated(one.values, tuning.held_out, None, workers)
            except UnsoundError as error:
                refused = f"{error} (under the held-out seeds)"
                out[one.number] = replace(one, scores=None, refused=refused, unsound=True)
                continue
            if late := _late(runs[one.number], defaults):
                out[one.number] = replace(one, scores=None, unfinished=late)
        if not out:
            break
        tried = [out.get(one.number, one) for one in tried]
    scores = tuple(math.fsum(values) / len(values) for values in tuning.values(tuning.defaults))
    chosen = [Chosen(one, _compared(tuning, runs[one.number], defaults)) for one in front]
    best = _nearest(tuning, front)
    notes = _censored(runs[front[best].number], defaults)
    return Outcome(tuning, tried, scores, chosen, best, search.importances(), notes)


def _censored(runs: dict[str, Figures], defaults: dict[str, Figures]) -> tuple[str, ...]:
    """Return notes on completion figures that exclude unfinished flows on the held-out seeds."""
    notes = []
    others = flows_of(defaults)
    for name, (ended, began) in flows_of(runs).items():
        their_ended, their_began = others[name]
        if (ended, their_ended) != (began, their_began):
            where = f" in {name}" if len(runs) > 1 else ""
            notes.append(
                f"{ended:.0f} of {began:.0f} flows finished on the held-out seeds{where}, with the defaults "
                f"{their_ended:.0f} of {their_began:.0f}: completion figures cover these only, and high percentiles "
                "may be too low; a longer run.duration lets more flows finish"
            )
    return tuple(notes)


def _late(runs: dict[str, Figures], defaults: dict[str, Figures]) -> str:
    return unfinished(flows_of(runs), flows_of(defaults), " under the held-out seeds")


def _front(tuning: Tuning, whole: Sequence[Tried]) -> list[Tried]:
    """Return the undominated sets; of sets with equal scores the first."""
    found: list[Tried] = []
    signs = np.array([-1.0 if one.maximise else 1.0 for one in tuning.objectives])
    scores = np.array([one.scores for one in whole]) * signs
    for one, score in zip(whole, scores, strict=True):
        beaten = np.any(np.all(scores <= score, axis=1) & np.any(scores < score, axis=1))
        if not beaten and all(one.scores != other.scores for other in found):
            found.append(one)
    return sorted(found, key=lambda one: one.scores[0] * signs[0] if one.scores else 0.0)


def _nearest(tuning: Tuning, front: Sequence[Tried]) -> int:
    """Return the index of the set nearest to the best value of each objective, relative to the range of the front."""
    scores = np.array([one.scores for one in front])
    best = np.where([one.maximise for one in tuning.objectives], scores.max(axis=0), scores.min(axis=0))
    span = np.ptp(scores, axis=0)
    span[span == 0] = 1.0
    return int(np.argmin(np.linalg.norm((scores - best) / span, axis=1)))


def _compared(tuning: Tuning, own: dict[str, Figures], defaults: dict[str, Figures]) -> tuple[Compared, ...]:
    found = []
    for name, runs in own.items():
        others = defaults[name]
        watch = WATCH if tuning.watch is None else tuning.watch
        for figure in dict.fromkeys([*tuning.figures, *watch]):
            ours, theirs = runs.get(figure), others.get(figure)
            if ours is None or theirs is None or (np.isnan(ours).all() and np.isnan(theirs).all()):
                continue
            both = ~np.isnan(ours - theirs)
            tuned, other, less = (estimate([float(v) for v in part[both]]) for part in (ours, theirs, ours - theirs))
            pair = [dict(enumerate(map(float, part[both]))) for part in (ours, theirs)]
            percent = clear_in_percent(*(Reading(own, own) for own in pair))
            relative = None if percent is None else percent.least
            found.append(Compared(name, figure, runs.unit(figure), tuned, other, less, relative, int(both.sum())))
    return tuple(found)
