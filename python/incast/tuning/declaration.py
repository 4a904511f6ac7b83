"""Declaration of a search: the table ``[tune]`` of a study file, and the study's axes as parameters."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from incast.batch.evaluation import Figures, evaluate
from incast.errors import StudyError
from incast.runs.completions import ENOUGH
from incast.runs.scenario import Scenario, value_at
from incast.study.axes import Axis, Value
from incast.study.definition import MOST_RUNS, Definition, Point
from incast.system.output import nearest

SAMPLERS = ("tpe", "nsga2", "random")
_WORDS = (
    "minimise", "maximise", "watch", "budget", "sampler", "seeds", "held_out", "prune", "seed", "arm", "scenario",
    "allow_idle",
)  # fmt: skip
WATCH = (
    "flows.goodput_total_bps", "flows.delay_p99_s", "flows.jain", "fct.slowdown_mean", "fct.slowdown_p99",
    "queues.drops", "flows.timeouts",
)  # fmt: skip
"""Figures shown in addition to the objectives, if a run has them."""
BEGAN, ENDED = "fct.count", "fct.finished"
"""Figures: number of finite flows, and of finished ones."""


@dataclass(frozen=True)
class Objective:
    """A figure to minimise or maximise."""

    figure: str
    maximise: bool

    def __str__(self) -> str:
        return f"{'maximise' if self.maximise else 'minimise'} {self.figure}"

    def better(self, one: float, other: float) -> bool:
        """Return whether one value is better than the other."""
        return one > other if self.maximise else one < other


@dataclass(frozen=True)
class Parameter:
    """An axis of the study as a dimension of the search."""

    axis: Axis

    @property
    def key(self) -> str:
        """Key of the scenario."""
        return self.axis.key

    def at(self, number: float) -> Value:
        """Return the value of a range for a number between its ends."""
        span = self.axis.range
        assert span is not None
        if span.log:
            return span.at(math.log(number / span.low) / math.log(span.high / span.low))
        return span.at((number - span.low) / (span.high - span.low))

    @property
    def ends(self) -> tuple[Value, Value]:
        """Return the first value and the last."""
        return self.axis.pick(0.0), self.axis.pick(1.0)


Set = Mapping[str, Value]
"""A set of values: one per parameter, by key."""


@dataclass(frozen=True)
class Target:
    """Target of a search: the scenarios of a study under one of its arms, and the axes as parameters."""

    study: Definition
    arm: str
    scenarios: tuple[str, ...]
    parameters: tuple[Parameter, ...]

    @classmethod
    def of(cls, study: Definition, table: str, arm: Any, scenario: Any) -> Target:
        """Find the arm and the scenarios that the table of a study file names; raises ``StudyError``."""
        arms, scenarios = list(study.arms), list(study.bases)
        if arm is None and len(arms) > 1:
            raise StudyError(f"[{table}] arm is missing: the study has {', '.join(arms)}; expected one of them")
        if arm is not None and arm not in arms:
            expected = f"expected one of {', '.join(arms)}" if arms else "the study has no arms"
            raise StudyError(f"[{table}] arm = {arm!r}: {expected}{nearest(str(arm), arms)}")
        if scenario is not None and scenario not in scenarios:
            raise StudyError(f"[{table}] scenario = {scenario!r}: expected one of {', '.join(scenarios)}")
        arm = arm or (arms[0] if arms else "")
        axes = [*study.axes, *(study.arms[arm].axes if arm else ())]
        if not axes:
            raise StudyError('a search needs axes, such as "controller.ai" = { from = 0.5, to = 8, scale = "log" }')
        named = tuple(scenarios if scenario is None else [scenario])
        return cls(study, arm, named, tuple(Parameter(axis) for axis in axes))

    def made(self, scenario: str, values: Set) -> Scenario:
        """Make a scenario with a set of values; without values it has its defaults."""
        return self.study.scenario_of(Point(scenario, self.arm, dict(values)), keep_idle=True)

    @cached_property
    def default_values(self) -> dict[str, str]:
        """The values of the parameters without a search, as texts: of several scenarios all; empty where unknown."""
        resolved = [self.made(name, {}).resolved() for name in self.scenarios]
        keys = [parameter.key for parameter in self.parameters]
        found = {key: dict.fromkeys(filter(None, (value_at(one, key) for one in resolved))) for key in keys}
        return {key: " or ".join(values) for key, values in found.items()}

    def beside_defaults(self, values: Set) -> str:
        """Name values, each with the default."""
        return ", ".join(
            f"{key} = {value}" + (f" (default {default})" if (default := self.default_values.get(key)) else "")
            for key, value in values.items()
        )

    def evaluated(
        self, values: Set, seeds: Sequence[int], figures: Sequence[str] | None, workers: int
    ) -> dict[str, Figures]:
        """Run every scenario with a set of values under the seeds."""
        return {name: evaluate(self.made(name, values), seeds, figures, workers) for name in self.scenarios}

    def refuse_idle(self, seed: int, allow: bool) -> None:
        """Raise ``StudyError`` for a parameter without effect.

        Either all its values make the same scenario, or (unless ``allow``) both ends and the middle of its range give
        the same figures under one seed, with all other parameters at their defaults.
        """
        for parameter in self.parameters:
            values = list(dict.fromkeys(parameter.axis.pick(part) for part in (0.0, 0.5, 1.0)))
            axis = f"axis {parameter.key}: {' and '.join(str(value) for value in values)}"
            if len(values) < 2:
                raise StudyError(f"{axis} is its only value: expected more to search among")
            for name in self.scenarios:
                found = [self.made(name, {parameter.key: value}) for value in values]
                if len({scenario.hash for scenario in found}) < len(values):
                    raise StudyError(f"{axis} are the same in {name}: the parameter is unused")
            if allow:
                continue
            runs = [self.evaluated({parameter.key: value}, [seed], None, 1) for value in values]
            if all(_same(runs[0][name], run[name]) for run in runs[1:] for name in self.scenarios):
                raise StudyError(
                    f"{axis} gave the same figures under seed {seed}, all else at its defaults: expected values that "
                    "make a difference; give others, remove the axis, or set allow_idle = true"
                )


Flows = Mapping[str, tuple[float, float]]
"""Numbers of finished and of begun finite flows, by scenario."""


def flows_of(runs: Mapping[str, Figures], first: int | None = None) -> dict[str, tuple[float, float]]:
    """Count the flows of runs by scenario; with ``first`` only those of the first seeds."""
    return {name: (float(one[ENDED][:first].sum()), float(one[BEGAN][:first].sum())) for name, one in runs.items()}


def unfinished(ours: Flows, defaults: Flows, where: str = "") -> str:
    """Return a message if a set left flows unfinished that the defaults finish under the same seeds; else empty.

    Figures over finished flows are too small if few finished, so the scores of such a set are meaningless.
    """
    for name, (ended, began) in ours.items():
        their_ended, their_began = defaults[name]
        if not began or not their_began:
            continue
        share, other = ended / began, their_ended / their_began
        if share < min(ENOUGH, other):
            place = f" in {name}" if len(ours) > 1 else ""
            digits = 2 if f"{share:.2f}" != f"{other:.2f}" else 4
            message = f"finished {share:.{digits}f} of its flows{place}{where}; the defaults {other:.{digits}f}"
            return f"{message}: not counted"
    return ""


def _same(one: Figures, other: Figures) -> bool:
    """Return whether two runs have the same figures, bit for bit."""
    return list(one) == list(other) and all(one[key].tobytes() == other[key].tobytes() for key in one)


@dataclass(frozen=True)
class Tuning:
    """A search as declared by the table ``[tune]`` of a study file."""

    target: Target
    objectives: tuple[Objective, ...]
    watch: tuple[str, ...] | None
    budget: int
    """Number of sets to try."""
    sampler: str
    seeds: tuple[int, ...]
    """Seeds of every set, or of pruned sets the first few."""
    held_out: tuple[int, ...]
    prune: bool
    seed: int
    """Seed of the search itself."""
    allow_idle: bool

    @classmethod
    def of(cls, study: Definition, budget: int | None = None) -> Tuning:
        """Read the table of a study; raises ``StudyError`` with key, value and what was expected."""
        table = study.others.get("tune")
        if not isinstance(table, Mapping):
            raise StudyError(
                f'{study.name} has no table [tune]: expected one such as [tune] with minimise = "fct.slowdown_mean"'
            )
        for word in table:
            if word not in _WORDS:
                raise StudyError(f"[tune] {word}: unknown key{nearest(word, _WORDS)}")
        objectives = [
            Objective(figure, word == "maximise")
            for word in ("minimise", "maximise")
            for figure in names(word, table.get(word, []))
        ]
        figures = [objective.figure for objective in objectives]
        if not figures:
            raise StudyError('[tune] expected minimise or maximise, such as minimise = "fct.slowdown_mean"')
        if len(set(figures)) < len(figures):
            raise StudyError(f"[tune] a figure is given twice among {', '.join(figures)}: give it once")
        several = len(objectives) > 1
        sampler = table.get("sampler", "nsga2" if several else "tpe")
        if sampler not in SAMPLERS:
            raise StudyError(f"[tune] sampler = {sampler!r}: expected one of {', '.join(SAMPLERS)}")
        on = seeds("seeds", table.get("seeds", list(study.seeds)), first=1)
        held_out = seeds("held_out", table.get("held_out", 20), first=max(on) + 1)
        if both := sorted(set(on) & set(held_out)):
            raise StudyError(
                f"[tune] seed {both[0]} is among seeds and held_out: held-out seeds must not be used for tuning"
            )
        if len(held_out) < 2:
            raise StudyError(f"[tune] held_out = {list(held_out)}: expected at least two seeds, for intervals")
        prune = flag(table, "prune", not several)
        if prune and several:
            raise StudyError("[tune] prune = true: a search with several objectives cannot prune; remove it")
        watch = names("watch", table["watch"]) if "watch" in table else None
        return cls(
            Target.of(study, "tune", table.get("arm"), table.get("scenario")),
            tuple(objectives),
            watch,
            count("budget", table.get("budget", 60) if budget is None else budget),
            sampler,
            on,
            held_out,
            prune,
            whole("seed", table.get("seed", 0)),
            flag(table, "allow_idle", False),
        )

    @cached_property
    def figures(self) -> list[str]:
        """Return the figures of the objectives."""
        return [objective.figure for objective in self.objectives]

    @cached_property
    def rungs(self) -> list[int]:
        """Numbers of seeds after which a set is compared: a ninth, a third, all."""
        n = len(self.seeds)
        return sorted({math.ceil(n / part) for part in ((9, 3, 1) if self.prune else (1,))})

    @cached_property
    def defaults(self) -> dict[str, Figures]:
        """Return the figures of the unchanged scenarios, under the seeds of the search."""
        found = self.target.evaluated({}, self.seeds, None, 1)
        for name, figures in found.items():
            for figure in self.figures:
                if figure not in figures:
                    near = nearest(figure, list(figures))
                    raise StudyError(f"[tune] no figure {figure} in the summary of {name}{near}")
        return found

    def check(self) -> None:
        """Raise ``StudyError`` for an objective that no run has, or a parameter without effect."""
        several = len(self.target.scenarios) > 1
        for name, figures in self.defaults.items():
            for objective in self.objectives:
                values = figures[objective.figure]
                missing = [seed for seed, value in zip(self.seeds, values, strict=True) if math.isnan(value)]
                if missing:
                    raise StudyError(
                        f"[tune] {objective}: {name} does not have the figure under seed {missing[0]} with its defaults"
                    )
                if several and not values.mean() > 0:
                    raise StudyError(
                        f"[tune] {objective}: it is {values.mean():g} in {name} with the defaults; over several "
                        "scenarios an objective is the mean ratio to the defaults, which must be above 0"
                    )
        self.target.refuse_idle(self.seeds[0], self.allow_idle)

    def values(self, figures: Mapping[str, Figures]) -> list[list[float]]:
        """Return the values of each objective, one per seed.

        With several scenarios a value is the mean over them of the ratio to the defaults' mean over the tuning seeds.
        """
        if len(self.target.scenarios) == 1:
            (only,) = figures.values()
            return [[float(value) for value in only[figure]] for figure in self.figures]
        found = []
        for figure in self.figures:
            ratios = [figures[name][figure] / self.defaults[name][figure].mean() for name in self.target.scenarios]
            found.append([float(sum(one) / len(one)) for one in zip(*ratios, strict=True)])
        return found


def names(word: str, given: Any, table: str = "tune") -> tuple[str, ...]:
    """Read one figure or several."""
    listed = [given] if isinstance(given, str) else given
    if not isinstance(listed, list) or not all(isinstance(one, str) and one for one in listed):
        raise StudyError(
            f'[{table}] {word} = {given!r}: expected a figure such as "fct.slowdown_mean", or a list of them'
        )
    return tuple(listed)


def seeds(word: str, given: Any, first: int, table: str = "tune") -> tuple[int, ...]:
    """Read a number of seeds, starting at ``first``, or a list of seeds."""
    if isinstance(given, int) and not isinstance(given, bool):
        return tuple(range(first, first + count(word, given, table)))
    fine = isinstance(given, list) and given and all(type(one) is int and 0 <= one < 2**63 for one in given)
    if not fine or len(set(given)) < len(given):
        raise StudyError(f"[{table}] {word} = {given!r}: expected a number of seeds, or a list of different seeds")
    return tuple(given)


def count(word: str, given: Any, table: str = "tune") -> int:
    """Read a whole number from 1 to the most runs of a study."""
    if type(given) is not int or not 1 <= given <= MOST_RUNS:
        raise StudyError(f"[{table}] {word} = {given!r}: expected a whole number from 1 to {MOST_RUNS:,}")
    return given


def whole(word: str, given: Any, table: str = "tune") -> int:
    """Read a whole number of at least 0."""
    if type(given) is not int or not 0 <= given < 2**32:
        raise StudyError(f"[{table}] {word} = {given!r}: expected a whole number from 0 to {2**32 - 1}")
    return given


def flag(data: Mapping[str, Any], word: str, default: bool, table: str = "tune") -> bool:
    """Read a boolean."""
    given = data.get(word, default)
    if not isinstance(given, bool):
        raise StudyError(f"[{table}] {word} = {given!r}: expected true or false")
    return given
