"""Verdicts on claims, and checks that claims can be judged."""

from __future__ import annotations

import ast
import itertools
import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from incast.papers import expression
from incast.papers.definition import Claim, Figure, X
from incast.papers.expression import (
    Compare,
    ExpressionError,
    LengthError,
    MeaninglessError,
    Truth,
    Undecided,
    as_number,
    compared,
)
from incast.papers.verdict import Verdict
from incast.statistics import estimate
from incast.system.output import nearest

Number = Callable[[str, str, X, int | None], float | None]
"""Function that returns a figure's number by measure, series and point, of a seed or the mean; ``None`` if missing."""


MOST_LISTED = 24
"""Most points of a measure and series that are listed with values; beyond that the range is shown."""

FEW_LISTED = 4
"""Most points in short lists."""


@dataclass(frozen=True)
class Finding:
    """A claim, its verdict, and the deciding numbers."""

    claim: Claim
    verdict: Verdict
    numbers: Sequence[str]
    part: str = ""
    """Judged part of the claim; empty for the whole claim."""
    brief: Sequence[str] = ()
    """Short list of the same numbers: ranges instead of many values."""

    @property
    def verdict_text(self) -> str:
        """Verdict in words; for a part of the claim "in part, holds"."""
        return f"in part, {self.verdict}" if self.part else str(self.verdict)


@dataclass(frozen=True)
class Reads:
    """Inputs of a claim's expression."""

    places: Collection[tuple[str, str, X]]
    """Numbers by measure, series and point."""
    published: Sequence[float]
    """Published numbers."""
    ended: str = ""
    """Reason why the evaluation ended early, so that inputs may be missing; empty if it did not."""


class MissingError(Exception):
    """A claim needs a number that does not exist."""


def reads(figure: Figure, claim: Claim) -> Reads:
    """Return the inputs of a claim at a figure's scale, found with made-up numbers that meet its conditions."""
    numbers = made_up()
    seen = Seen(figure, lambda *_: next(numbers))
    ended = ""
    try:
        seen.judge(claim, None, met=figure.measures)
    except (MissingError, ExpressionError) as error:
        ended = f"{error}"
    places = [(measure, series, x) for (measure, series), by_x in seen.points.items() for x in by_x]
    return Reads(places, seen.published, ended)


def made_up() -> Iterator[float]:
    """Yield distinct numbers, so that their differences can be divisors."""
    return (1 + i * 0.6180339887 % 1 for i in itertools.count(1))


def judge(figure: Figure, claim: Claim, number: Number) -> Finding:
    """Decide whether a claim holds: for the means, for each seed, or for paired differences."""
    seeds = range(1, figure.seeds + 1)
    seen = Seen(figure, number)
    try:
        if claim.paired:
            verdict: Truth = seen.judge(claim, None, _paired(figure, claim, number))
        else:
            verdicts = [seen.judge(claim, seed) for seed in (seeds if claim.each_seed else [None])]
            verdict = all(verdicts)
    except (MissingError, ExpressionError) as error:
        return Finding(claim, Verdict.UNTESTED, [str(error)])
    by_truth = {True: Verdict.HOLDS, False: Verdict.FAILS, Undecided.OPEN: Verdict.OPEN}
    return Finding(claim, by_truth[verdict], seen.numbers(), brief=seen.numbers(FEW_LISTED))


_CONDITIONS = "paired: conditions may only use points, not measured numbers"
_COUNT = "paired: expected all or any instead of count: an undecided statement cannot be counted"


def _paired(figure: Figure, claim: Claim, number: Number) -> Compare:
    """Return the comparison of a claim by paired differences: true, false, or undecided if the interval includes zero.

    Every seed and the means make the same comparisons in the same order: they only depend on numbers through conditions
    on measured numbers, which are refused.
    """
    by_seed: list[list[float]] = []
    for seed in range(1, figure.seeds + 1):
        differences: list[float] = []

        def noted(op: type[ast.cmpop], a: Any, b: Any, differences: list[float] = differences) -> bool:
            if op in (ast.Eq, ast.NotEq) and not isinstance(a, str):
                raise MeaninglessError("paired: noisy numbers are never equal; expected <, <=, > or >=")
            differences.append(0.0 if isinstance(a, str) else as_number(b) - as_number(a))
            return compared(op, a, b)

        Seen(figure, number).judge(claim, seed, noted)
        by_seed.append(differences)
    if any(len(differences) != len(by_seed[0]) for differences in by_seed):
        raise MeaninglessError(_CONDITIONS)
    found = iter([estimate(differences) for differences in zip(*by_seed, strict=True)])

    def decided(op: type[ast.cmpop], a: Any, b: Any) -> Truth:
        difference = next(found, None)
        if isinstance(a, str):
            return compared(op, a, b)
        if difference is None or difference.half_width is None:
            return Undecided.OPEN
        if difference.half_width > 0 and difference.low <= 0 <= difference.high:
            return Undecided.OPEN
        return compared(op, 0.0, difference.mean)

    return decided


def check(figures: Sequence[Figure], claim: Claim) -> None:
    """Evaluate a claim on made-up numbers, at its scales.

    Raises ``MeaninglessError`` if it cannot be judged for any numbers.
    """
    measured = _lengths_are_measured(claim.holds, figures[0].measures)
    if claim.paired and measured:
        raise MeaninglessError(_CONDITIONS)
    if claim.paired and expression.calls(claim.holds, ["count"]):
        raise MeaninglessError(_COUNT)
    gap: LengthError | None = None
    for figure in figures:
        numbers = made_up()
        try:
            Seen(figure, lambda *_, numbers=numbers: next(numbers)).judge(claim, None)
            if claim.paired:
                _paired(figure, claim, lambda *_, numbers=numbers: next(numbers))
        except MeaninglessError:
            raise
        except LengthError as error:
            # other scales may have more points
            gap = error
        except MissingError:
            continue
        except ExpressionError:
            return  # other numbers may fit
        else:
            return
    if gap is not None and not measured:
        raise MeaninglessError(f"{gap}")


def _lengths_are_measured(node: ast.expr, measures: Collection[str]) -> bool:
    """Return whether the length of a list in an expression may depend on numbers: a condition, or the bounds of x()."""
    loops = [part for part in ast.walk(node) if isinstance(part, ast.comprehension)]
    bounds = [
        part for part in ast.walk(node) if isinstance(part, ast.Call) and expression.called(part) == "x" and part.args
    ]
    if not bounds and not any(loop.ifs for loop in loops):
        return False
    deciding: list[ast.AST] = [*loops, *bounds]
    return any(expression.calls(one, measures) for one in deciding)


class Seen:
    """Access of a claim's expression to its figure, with a record of used values."""

    def __init__(self, figure: Figure, number: Number) -> None:
        self.figure, self.number = figure, number
        self.places = [point.x for point in figure.points]
        self.points: dict[tuple[str, str], dict[X, list[float]]] = {}
        """Used values by measure and series, then by x; one per seed if seeds are judged one by one."""
        self.derived: dict[str, list[float]] = {}
        """Results of functions on them that say more than a verdict."""
        self.published: list[float] = []
        """Used published numbers."""

    def judge(self, claim: Claim, seed: int | None, compare: Compare = compared, met: Collection[str] = ()) -> Truth:
        """Decide whether a claim holds for a seed, or for the means; ``met`` as in :func:`expression.evaluate`."""
        return expression.truth(claim.holds, self.functions(seed), compare, met)

    def functions(self, seed: int | None) -> Mapping[str, Callable[..., Any]]:
        """Return the functions that give an expression numbers of a seed, or the means."""
        figure = self.figure
        looked_at: set[tuple[str, str, X]] = set()

        def number(measure: str, series: str, x: X) -> float:
            value = self._value(measure, series, x, seed)
            if (measure, series, x) not in looked_at:
                looked_at.add((measure, series, x))
                self.points.setdefault((measure, series), {}).setdefault(x, []).append(value)
            return value

        def read(measure: str) -> Callable[..., Any]:
            def of(series: str | list[str], x: X | list[X] | None = None) -> float | list[Any]:
                if isinstance(series, list):
                    return [of(one, x) for one in series]
                if x is None or isinstance(x, list):
                    return [number(measure, series, one) for one in (self.places if x is None else x)]
                return number(measure, series, x)

            return of

        def places(low: float | None = None, high: float | None = None) -> list[X]:
            if low is None:
                return self.places
            if any(isinstance(one, str) for one in self.places):
                raise MeaninglessError(f"x({low}): the points are names")
            least, most = as_number(low), math.inf if high is None else as_number(high)
            return [one for one in self.places if least <= one <= most]  # type: ignore[operator]

        def published(measure: str, series: str, x: X) -> float:
            for one in figure.published:
                if (one.measure, one.series, one.x) == (measure, series, x):
                    self.published.append(one.value)
                    return one.value
            raise MeaninglessError(f"no published number for {measure}, {series}, {x}")

        def recorded(name: str, function: str) -> Callable[..., Any]:
            def of(*arguments: Any) -> Any:
                result = expression.FUNCTIONS[function](*arguments)
                self.derived.setdefault(name, []).append(result)
                return result

            return of

        functions: dict[str, Callable[..., Any]] = {name: read(name) for name in figure.measures}
        functions |= {"published": published, "x": places}
        functions |= {"slope": recorded("exponent", "slope"), "ratio": recorded("ratio", "ratio")}
        for name, function in functions.items():
            function.__qualname__ = name  # its name in messages about a wrong number of arguments
        return functions

    def _value(self, measure: str, series: str, x: X, seed: int | None) -> float:
        figure = self.figure
        label = figure.measures[measure].label
        _known(f"{measure}: no series", series, [one.name for one in figure.series])
        if x not in self.places:
            _known(f"{measure}: no point", x, figure.places())
            raise MissingError(f"{label} at {x} is not part of this scale")
        value = self.number(measure, series, x, seed)
        if value is None:
            raise MissingError(f"{label} of {series} at {x} does not exist")
        return value

    def numbers(self, most: int = MOST_LISTED) -> list[str]:
        """Return the used values as text, one line per measure and series; ranges beyond ``most`` points."""
        figure = self.figure
        lines = [f"{name}: {', '.join(_listed([value]) for value in values)}" for name, values in self.derived.items()]
        for (name, series), by_x in self.points.items():
            measure = figure.measures[name]
            where = f"{measure.label}, {series}" if len(figure.series) > 1 else measure.label
            unit = f" {measure.unit}" if measure.unit else ""
            if len(by_x) > most:
                first, *_, last = [x for x in self.places if x in by_x]
                every = [value for values in by_x.values() for value in values]
                ends = list(dict.fromkeys(_listed([end]) for end in (min(every), max(every))))
                lines.append(f"{where} at {len(by_x)} points, {first} to {last}: {' to '.join(ends)}{unit}")
                continue
            at = f" at {', '.join(f'{x}' for x in by_x)}" if len(figure.points) > 1 else ""
            seeds = ", a seed each" if any(len(values) > 1 for values in by_x.values()) else ""
            lines.append(f"{where}{at}: {', '.join(_listed(values) for values in by_x.values())}{unit}{seeds}")
        return lines


def _known(what: str, name: X, known: Sequence[X]) -> None:
    if name in known:
        return
    if isinstance(name, str) and name in [f"{one}" for one in known]:
        raise MeaninglessError(f"{what} '{name}': expected the number {name} without quotes")
    hint = nearest(f"{name}", [f"{one}" for one in known])
    raise MeaninglessError(f'{what} "{name}"{hint}; expected one of {", ".join(f"{one}" for one in known)}')


def _listed(values: Sequence[float]) -> str:
    return "/".join(f"{value:.0f}" if 1e4 <= abs(value) < 1e9 else f"{value:.4g}" for value in values)
