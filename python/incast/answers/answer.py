"""An answer: one sentence or a few, its kind, and the claims that it makes."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from decimal import ROUND_FLOOR
from enum import StrEnum
from typing import Any

from incast.answers.facts import Point
from incast.answers.measures import Measure
from incast.answers.paired import Apart, Verdict
from incast.runs.completions import Reading
from incast.statistics import Estimate
from incast.writing.numbers import SPACE, between, measured, prefixed, rounded, with_interval

DOUBLE, TENFOLD = 100.0, 900.0
"""Differences in percent from which on a ratio is told instead: of a known difference, and of bounds."""

FACTOR = "a factor of "
"""Beginning of a ratio without a direction."""


class Kind(StrEnum):
    """Kind of an answer."""

    WARNING = "lead-warning"
    """Limit of the data that could mislead."""
    CHOICE = "choice"
    """Best values of the varied key at a figure."""
    TRADE_OFF = "trade-off"
    """Controllers against each other."""
    SCENARIOS = "scenarios"
    """A scenario against another one."""
    RANGE = "range"
    """Smallest and largest mean of a figure over conditions, among which nobody chooses."""
    UNDECIDED = "undecided"
    """Differences that the runs do not show."""
    BOUND = "bound"
    """Figures that unfinished transfers leave open, and percentiles of too few transfers."""
    NO_EFFECT = "no-effect"
    """A controller whose figures do not depend on the varied key."""


@dataclass(frozen=True)
class Claim:
    """A statement about one point, or about its difference from another."""

    figure: str
    says: str
    """``is``, ``lower``, ``higher``, or a ``Verdict`` that decides nothing; the name of a warning."""
    unit: str
    """SI unit of the numbers; ``%`` for relative differences, and for shares."""
    relative: bool = False
    scenario: str = ""
    controller: str = ""
    value: str = ""
    other_scenario: str = ""
    other_controller: str = ""
    other_value: str = ""
    mean: float | None = None
    low: float | None = None
    """Lower end of the 95 % interval, at the lower bound; ``None`` without."""
    high: float | None = None
    """Upper end of the 95 % interval, at the upper bound; ``None`` without."""
    more_seeds: int | None = None


@dataclass(frozen=True)
class Answer:
    """Sentences with the numbers they stand on."""

    kind: Kind
    lead: str
    """Beginning of the text, shown in bold."""
    rest: str
    claims: tuple[Claim, ...]
    scenario: str = ""
    """Scenario, where the comparison has several."""

    @property
    def text(self) -> str:
        """All sentences."""
        return f"{self.lead}{self.rest}"

    @property
    def plain(self) -> str:
        """All sentences, with common spaces."""
        return self.text.replace(SPACE, " ")

    def json(self) -> dict[str, Any]:
        """Return the answer as an entry of ``comparison.json``; claims without empty fields."""
        claims = [{k: v for k, v in asdict(claim).items() if v not in ("", None)} for claim in self.claims]
        return {"kind": str(self.kind), "text": self.plain, "scenario": self.scenario, "numbers": claims}


def value_text(reading: Reading, unit: str) -> str:
    """Write a reading with its unit: 10.2 ± 0.5 ms, or bounds."""
    if reading.exact and reading.least is not None:
        return measured(reading.least, unit)
    low, high = reading.least, reading.most
    least, most = -math.inf if low is None else low.mean, math.inf if high is None else high.mean
    step, shown = prefixed(least if math.isfinite(least) else most, unit)
    return f"{between(least / step, most / step)}{SPACE}{shown}".rstrip()


def difference_text(apart: Apart, measure: Measure) -> str:
    """Write a difference: 29 % lower [24, 33], 3.4 times as high [2.9, 3.9], at least 12 % higher [≥ 9]."""
    found, decided = apart.surely, apart.verdict in (Verdict.BETTER, Verdict.WORSE)
    if found is None or apart.verdict is Verdict.OPEN or not (decided or apart.by.exact):
        return _open_text(apart, measure)
    way, sign = ("higher", 1) if found.mean >= 0 else ("lower", -1)
    if not decided:
        way, sign = "", 1
    unit, least, most = _of_difference(apart, measure)
    low, high = sorted((sign * max(found.low, least), sign * min(found.high, most)))
    if apart.relative and sign > 0 and found.mean >= DOUBLE:
        mean, low, high = (1 + one / 100 for one in (found.mean, low, high))
        return _told(mean, low, high, "times as high" if decided else "", apart.by.exact, "" if decided else FACTOR)
    step, unit = prefixed(found.mean or found.high, unit)
    return _told(sign * found.mean / step, low / step, high / step, f"{unit} {way}", apart.by.exact)


def percent_text(found: Estimate) -> str:
    """Write a difference in percent that has a sign: 29 % lower [24, 33], 3.4 times as high [2.9, 3.9]."""
    sign = 1 if found.mean >= 0 else -1
    if found.mean >= DOUBLE:
        return _told(1 + found.mean / 100, 1 + found.low / 100, 1 + found.high / 100, "times as high", True)
    low, high = sorted((sign * max(found.low, -100.0), sign * found.high))
    return _told(sign * found.mean, low, high, f"% {'higher' if sign > 0 else 'lower'}", True)


def _of_difference(apart: Apart, measure: Measure) -> tuple[str, float, float]:
    """Return the unit of a difference, and the least and the largest that is possible.

    The part of an interval beyond these holds no difference, so an interval without it holds as many.
    """
    if apart.relative:
        return "%", -100.0, math.inf
    return ("points", -100.0, 100.0) if measure.unit == "%" else (measure.unit, -math.inf, math.inf)


def _open_text(apart: Apart, measure: Measure) -> str:
    """Write the bounds of a difference that unfinished transfers leave open; a bound that nothing exceeds is none."""
    unit, least, most = _of_difference(apart, measure)
    low = -math.inf if apart.by.least is None or apart.by.least.mean <= least else apart.by.least.mean
    high = math.inf if apart.by.most is None or apart.by.most.mean >= most else apart.by.most.mean
    largest = max((abs(end) for end in (low, high) if math.isfinite(end)), default=0.0)
    if apart.relative and largest >= TENFOLD:
        return f"{FACTOR}{between(1 + low / 100, 1 + high / 100)}"
    step, shown = prefixed(largest, unit)
    text = between(low / step, high / step)
    return text if text == "open" else f"{text}{SPACE}{shown}".strip()


def _told(mean: float, low: float, high: float, ending: str, exact: bool, beginning: str = "") -> str:
    amount, interval = with_interval(mean, low, high)
    if not exact:  # a bound is never rounded inwards
        least, lowest = (rounded(one, rounding=ROUND_FLOOR) for one in (mean, low))
        amount, interval = f"at least {least}", f"[≥{SPACE}{lowest}]" if low < mean else ""
    return f"{beginning}{amount}{SPACE}{ending.strip()}".strip(SPACE) + (f" {interval}" if interval else "")


def claim_of(apart: Apart, measure: Measure, one: Point, other: Point, **more: str) -> Claim:
    """Write a difference as a claim."""
    found = apart.surely
    low, high = apart.by.least, apart.by.most
    _, least, most = _of_difference(apart, measure)
    says = str(apart.verdict)
    if apart.verdict in (Verdict.BETTER, Verdict.WORSE):
        says = measure.better if apart.verdict is Verdict.BETTER else _opposite(measure.better)
    return Claim(
        measure.key,
        says,
        "%" if apart.relative else measure.unit,
        apart.relative,
        more.get("scenario", ""),
        one.controller,
        one.value,
        more.get("other_scenario", ""),
        other.controller,
        other.value,
        None if found is None else found.mean,
        None if low is None or low.half_width is None else max(low.low, least),
        None if high is None or high.half_width is None else min(high.high, most),
        apart.seeds,
    )


def reading_claim(reading: Reading, measure: Measure, point: Point) -> Claim:
    """Write a reading as a claim."""
    low, high = reading.least, reading.most
    return Claim(
        measure.key,
        "is",
        measure.unit,
        controller=point.controller,
        value=point.value,
        mean=low.mean if low is not None and reading.exact else None,
        low=None if low is None else max(low.low, 0.0),
        high=None if high is None else min(high.high, 100.0 if measure.unit == "%" else math.inf),
    )


def _opposite(better: str) -> str:
    return "lower" if better == "higher" else "higher"


def superlative(measure: Measure) -> str:
    """Return the adjective of the best reading."""
    return "highest" if measure.better == "higher" else "lowest"
