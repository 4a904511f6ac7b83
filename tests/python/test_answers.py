"""Answers of comparisons: no sentence says what its numbers do not carry."""

from __future__ import annotations

import html
import json
import math
import re
import statistics
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from conftest import QUICK
from incast import compare
from incast.answers.answer import Answer, Claim, Kind, difference_text
from incast.answers.answering import answers_of, answers_to, shown_first
from incast.answers.between_scenarios import answers as scenarios_apart
from incast.answers.choices import choices_of
from incast.answers.ends import ends_of
from incast.answers.facts import Facts, Point, Timers, facts_of, is_silent
from incast.answers.measures import Measure
from incast.answers.paired import MOST_SEEDS, further_seeds
from incast.answers.showing import html_of, lines_of, told_apart
from incast.commands.compared import Compared
from incast.comparisons.comparison import Band
from incast.comparisons.declaration import ComparisonStudy, Controller
from incast.comparisons.scenario_pairs import pair
from incast.errors import IncastError, StudyError
from incast.report import scenario_pairs
from incast.runs.completions import ENOUGH, Reading
from incast.statistics import estimate
from incast.writing.numbers import said

SLOW, RATE, DELAY = "slowdown.all.0.p99", "flows.throughput_mean_bps", "flows.delay_p99_s"

MEASURES = (
    Measure(SLOW, "p99 slowdown below 10 kB", "", "lower", Band("all", 0, "below 10 kB"), "p99"),
    Measure(RATE, "throughput per flow", "b/s", "higher"),
    Measure("share", "share of flows finished", "%", "higher"),
    Measure(DELAY, "p99 delay", "s", "lower"),
)
SCALE = {SLOW: 1.0, RATE: 1e9, "share": 10.0, DELAY: 1e-5}
KEY, VALUES, NAMES = "queue.mark", ("15p", "30p", "65p"), ("dctcp", "swift", "cubic")


def facts(seed: int) -> Facts:
    """Draw readings with few distinct numbers, so that ties, clear differences and open bounds all occur."""
    draw = Random(seed)
    seeds = draw.randint(1, 5)
    values, names = VALUES[: draw.randint(1, 3)], NAMES[: draw.randint(1, 3)]
    points = [Point(name, value) for value in values for name in names]

    def number() -> float:
        return draw.choice([float(draw.randint(0, 6)), draw.uniform(1, 1.2), draw.uniform(2, 9)])

    readings, began = {}, {}
    for point in points:
        count = draw.randint(1, 400)
        began[point] = {"fct": (draw.randint(max(count - 3, 0), count), count)}
        for measure in MEASURES:
            steady = draw.choice([None, number()])
            low = {seed: SCALE[measure.key] * (number() if steady is None else steady) for seed in range(seeds)}
            open_by = draw.choice([0.0, 0.0, 0.0, 0.3, math.inf]) if measure.statistic else 0.0
            high = {seed: one + open_by * draw.choice([1, 1, 20]) for seed, one in low.items()}
            finished = began[point]["fct"] if measure.statistic else (0, 0)
            readings[measure.key, point] = Reading(low, high, *finished)
    throughput = {point: readings[RATE, point] for point in points}
    timers = draw.choice([None, Timers(5e-3, 0.2, 1.0, 0, 30, 400), Timers(0.3, 0.2, 1.0, 1, 0, 400)])
    name = f"case {seed}"
    return Facts(name, KEY, values, names, seeds, MEASURES, readings, throughput, began, timers=timers, numeric=True)


Drawn = list[tuple[Facts, list[Answer]]]


@pytest.fixture(scope="module", params=[100, pytest.param(5000, marks=pytest.mark.extended(part="python"))])
def drawn(request: pytest.FixtureRequest) -> Drawn:
    """Draw cases, with their answers."""
    return [(one, answers_to(one)) for one in map(facts, range(request.param))]


@cache
def quantile(count: int) -> float:
    return float(stats.t.ppf(0.975, count - 1))


@dataclass
class Slowly:
    """An independent computation of what a claim says, from the values under each seed."""

    facts: Facts

    def values(self, figure: str, controller: str, value: str) -> Reading:
        return self.facts.readings[figure, Point(controller, value)]

    def interval(self, differences: list[float]) -> tuple[float, float, float]:
        """Mean and ends of the 95 % interval; without ends with a single seed."""
        mean = statistics.fmean(differences)
        if len(differences) == 1:
            return mean, -math.inf, math.inf
        half = quantile(len(differences)) * statistics.stdev(differences) / math.sqrt(len(differences))
        return mean, mean - half, mean + half

    def told_apart(self, one: Reading, other: Reading, better: str) -> bool | None:
        """Return whether one is better for sure; ``None`` if it is too close to call in floating point."""
        sign = 1 if better == "higher" else -1
        mine, their = (one.low, other.high) if better == "higher" else (one.high, other.low)
        gains = [sign * (mine[seed] - their[seed]) for seed in mine]
        if not all(map(math.isfinite, gains)):
            return False
        mean, low, _ = self.interval(gains)
        larger = max(abs(statistics.fmean(one.low.values())), abs(statistics.fmean(other.low.values())))
        near = 1e-9 * max(larger, 1e-300)
        if abs(low) < near or abs(mean - 0.01 * larger) < near:
            return None
        return low > 0 and mean > 0.01 * larger

    def of(self, claim: Claim) -> tuple[Reading, Reading, Measure]:
        measure = next(measure for measure in MEASURES if measure.key == claim.figure)
        one = self.values(claim.figure, claim.controller, claim.value)
        return one, self.values(claim.figure, claim.other_controller, claim.other_value), measure

    def check(self, claim: Claim) -> None:
        """Derive a claim about a difference again."""
        one, other, measure = self.of(claim)
        better = self.told_apart(one, other, measure.better)
        worse = self.told_apart(other, one, measure.better)
        exact = one.low == one.high and other.low == other.high
        if claim.says in ("lower", "higher"):
            decided = better if claim.says == measure.better else worse
            assert decided in (True, None), claim
        elif claim.says == "undecided":
            assert exact or self.bounds_have_one_sign(one, other)
            assert better in (False, None), claim
            assert worse in (False, None), claim
        elif claim.says == "open":
            assert not exact
            assert not self.bounds_have_one_sign(one, other)
        else:
            assert claim.says == "alike"
            assert exact
        self.check_numbers(claim, one, other)

    def bounds_have_one_sign(self, one: Reading, other: Reading) -> bool:
        least = statistics.fmean(one.low[seed] - other.high[seed] for seed in one.low)
        most = statistics.fmean(one.high[seed] - other.low[seed] for seed in one.low)
        return least > 0 or most < 0

    def check_numbers(self, claim: Claim, one: Reading, other: Reading) -> None:
        seeds = sorted(one.low)
        if claim.relative:
            assert claim.unit == "%"
            lows = [100 * (one.low[seed] / other.high[seed] - 1) for seed in seeds]
            highs = [100 * (one.high[seed] / other.low[seed] - 1) for seed in seeds]
        else:
            lows = [one.low[seed] - other.high[seed] for seed in seeds]
            highs = [one.high[seed] - other.low[seed] for seed in seeds]
        scale = max(1e-9, *(abs(x) for x in (*one.low.values(), *other.low.values()))) * 1e-7

        def same(one: float, other: float) -> bool:
            return math.isclose(one, other, rel_tol=1e-7, abs_tol=1e-7 if claim.relative else scale)

        if claim.low is not None:
            assert same(claim.low, max(self.interval(lows)[1], -100 if claim.unit == "%" else -math.inf))
        if claim.high is not None:
            most = 100 if claim.unit == "%" and not claim.relative else math.inf
            assert same(claim.high, min(self.interval(highs)[2], most))
        ends = [statistics.fmean(found) for found in (lows, highs) if all(map(math.isfinite, found))]
        if claim.mean is None:
            assert not ends
        else:
            assert any(same(claim.mean, end) for end in ends)
        if claim.says in ("lower", "higher") and claim.mean is not None:
            assert (claim.mean > 0) == (claim.says == "higher")
            assert same(claim.mean, min(ends, key=abs)), "the bound nearer to zero"


AMOUNT = re.compile(
    r"(at least )?([−\d.,]+) (%|points|times as|[GMkµmn]?(?:b/s|s|B)|)( ?(?:lower|higher|high))? ?(\[[^]]*\])?"
)


def numbers_of(text: str) -> list[tuple[float, str, str]]:
    """Read the differences of a sentence: amounts with a direction."""
    found = []
    for match in AMOUNT.finditer(text.replace("\u00a0", " ")):
        if match[4]:
            amount = float(match[2].replace("−", "-").replace(",", "").rstrip("."))
            found.append((amount, match[3], match[4].strip()))
    return found


def carried(amount: float, unit: str, way: str, claims: list[Claim]) -> bool:
    """Return whether some claim has an amount, within a unit of its second figure, and its direction."""
    factors = {"T": 1e12, "G": 1e9, "M": 1e6, "k": 1e3, "m": 1e-3, "µ": 1e-6, "n": 1e-9}
    for claim in claims:
        if claim.mean is None or claim.says not in ("lower", "higher"):
            continue
        told = abs(claim.mean)
        if unit == "times as":
            if claim.relative and claim.says == "higher" and math.isclose(1 + told / 100, amount, rel_tol=0.5):
                return True
            continue
        if claim.says != way or claim.relative != (unit == "%"):
            continue
        amount_si = amount if unit in ("%", "points", "") else amount * factors.get(unit[0], 1.0)
        # a wide interval leaves a mean one figure: 8.7 reads 9, and 14 reads 10 under ± 30
        half = (claim.high or told) - (claim.low or told)
        if math.isclose(told, amount_si, rel_tol=0.06, abs_tol=0.51 * max(half, 0)):
            return True
    return False


def test_every_sentence_stands_on_its_numbers(drawn: Drawn) -> None:
    for found, answers in drawn:
        slowly = Slowly(found)
        for answer in answers:
            claims = [claim for claim in answer.claims if claim.other_controller]
            for claim in claims:
                slowly.check(claim)
            if answer.kind in (Kind.CHOICE, Kind.TRADE_OFF):
                for amount, unit, way in numbers_of(answer.text):
                    assert carried(amount, unit, way, claims), (amount, unit, way, answer)
                assert claims


def test_the_values_of_a_choice_are_level_and_every_other_one_is_beaten(drawn: Drawn) -> None:
    for found, _ in drawn:
        slowly = Slowly(found)
        for choice in choices_of(found):
            level, readings, better = choice.ranking.level, choice.readings, choice.measure.better

            def apart(one: str, other: str) -> bool | None:
                return slowly.told_apart(readings[one], readings[other], better)  # noqa: B023

            assert choice.ranking.first in level
            for value in readings:
                beaten = [apart(other, value) for other in readings if other != value]
                if value in level:
                    assert True not in beaten
                else:
                    assert any(one in (True, None) for one in beaten)


def test_what_the_runs_cannot_show_is_said(drawn: Drawn) -> None:
    for found, answers in drawn:
        kinds = [answer.kind for answer in answers]
        assert kinds == sorted(kinds, key=list(Kind).index), "limits come first"
        late = {
            point: 1 - done / all_
            for point, parts in found.began.items()
            for done, all_ in parts.values()
            if done < all_
        }
        unfinished = [answer for answer in answers if "did not finish" in answer.text]
        assert len(unfinished) == bool(late)
        if late:
            told = {Point(c.controller, c.value): c.mean for c in unfinished[0].claims}
            assert told == pytest.approx({point: 100 * share for point, share in late.items()})
            few = min(done / all_ for parts in found.began.values() for done, all_ in parts.values()) < ENOUGH
            assert (unfinished[0].kind is Kind.WARNING) == few
        decisions = {Kind.CHOICE, Kind.TRADE_OFF, Kind.SCENARIOS, Kind.UNDECIDED} & set(kinds)
        if found.seeds == 1:
            assert any("One seed has no interval" in answer.text for answer in answers)
            assert not decisions or answers[-1].lead == "Nothing to compare"
        short = [answer.kind for answer in answers if "too short for timeouts" in answer.text]
        assert short == ([] if found.timers is None else [Kind.WARNING if found.timers.lossy else Kind.BOUND])


def test_a_bound_is_never_told_as_a_number(drawn: Drawn) -> None:
    for found, answers in drawn:
        for answer in answers:
            if answer.kind not in (Kind.CHOICE, Kind.TRADE_OFF):
                continue
            for number, claim in enumerate(answer.claims):
                if claim.says == "is" and claim.figure == SLOW:
                    reading = found.readings[SLOW, Point(claim.controller, claim.value)]
                    assert (claim.mean is None) == (not reading.exact)
                    if not reading.exact and number == 0:
                        assert "≥" in answer.text or " to " in answer.text or "open" in answer.text


def test_no_number_is_one_that_cannot_be(drawn: Drawn) -> None:
    """Ratios end at -100 %, percentages at 0 and 100: intervals and bounds too."""
    for _, answers in drawn:
        for answer in answers:
            for claim in answer.claims:
                least = -100.0 if claim.unit == "%" and claim.says != "is" else 0.0 if claim.says == "is" else -math.inf
                most = 100.0 if claim.unit == "%" and not claim.relative else math.inf
                assert all(least <= one <= most for one in (claim.mean, claim.low, claim.high) if one is not None), (
                    claim
                )
            for found in re.findall(r"(−?[\d.,]+) (?:%|points)[ a-z]*(?:\[(−?[\d.,]+), )?", answer.plain):
                assert all(float(one.replace("−", "-").replace(",", "")) >= -100 for one in found if one), answer.plain
            assert "≥ −100 %" not in answer.plain, "nothing is said by it"


def test_a_controller_that_sends_little_is_not_praised_without_saying_so(drawn: Drawn) -> None:
    for found, answers in drawn:
        for answer in answers:
            for claim in answer.claims:
                if answer.kind is not Kind.TRADE_OFF or claim.figure != DELAY or claim.says != "lower":
                    continue
                rates = {
                    name: statistics.fmean(found.readings[RATE, Point(name, claim.value)].low.values())
                    for name in found.controllers
                }
                if rates[claim.controller] < 0.89 * max(rates.values()) and "p99 delay" in answer.text:
                    assert "of the highest throughput" in answer.text


@given(st.lists(st.floats(-5, 5), min_size=2, max_size=6))
@settings(deadline=None)
def test_further_seeds_are_the_fewest_that_would_decide(differences: list[float]) -> None:
    found = estimate(differences)
    assert found is not None
    mean, deviation = statistics.fmean(differences), statistics.stdev(differences)
    if abs(mean) < 1e-6 or deviation < 1e-6:
        return
    enough = [
        n
        for n in range(len(differences) + 1, MOST_SEEDS + 1)
        if quantile(n) * deviation / math.sqrt(n) < abs(mean) * (1 - 1e-9)
    ]
    assert further_seeds(found) == (enough[0] - len(differences) if enough else None)


def test_at_most_five_answers_come_first_and_none_is_lost(drawn: Drawn) -> None:
    for found, answers in drawn:
        first, others = shown_first(answers)
        assert 1 <= len(first) + len(others) == len(answers)
        assert len(first) <= 5
        lines = lines_of(first, 80)
        assert max(map(len, lines)) <= 80
        assert json.loads(json.dumps([answer.json() for answer in answers]))
        page = html_of(answers, told_apart(answers, found.seeds))
        assert page.count("<li") == len(answers)


def reading(*values: float) -> Reading:
    found = dict(enumerate(values, 1))
    return Reading(found, found)


def of_values(**slowdowns: Reading) -> Facts:
    values = tuple(slowdowns)
    readings = {(SLOW, Point("dctcp", value)): one for value, one in slowdowns.items()}
    return Facts("s", KEY, values, ("dctcp",), 3, MEASURES[:1], readings, numeric=True)


def text_of(answers: list[Answer], kind: Kind) -> str:
    return " ".join(answer.plain for answer in answers if answer.kind is kind)


def test_the_best_value_is_told_with_the_differences_of_the_others() -> None:
    found = of_values(**{"5p": reading(1, 1.1, 1.2), "6p": reading(1.5, 1.7, 1.8), "7p": reading(4, 4.2, 4.6)})
    assert text_of(answers_to(found), Kind.CHOICE) == (
        "queue.mark = 5p for the lowest p99 slowdown below 10 kB: 1.10 ± 0.25; 6p is 52 % higher [45, 58]; "
        "7p is 3.88 times as high [3.63, 4.13]. 5p is the lowest value tried: lower ones may be better still."
    )


def test_a_best_value_within_those_tried_or_at_the_end_of_what_is_possible_has_no_better_ones_beyond() -> None:
    def told(of: str = KEY, /, **values: Reading) -> str:
        return text_of(answers_to(replace(of_values(**values), key=of)), Kind.CHOICE)

    good, bad, worse = reading(1.5, 1.7, 1.8), reading(4, 4.2, 4.6), reading(9, 9.2, 9.6)
    text = told(KEY, **{"5p": worse, "6p": bad, "7p": good})
    assert "7p is the highest value tried: higher ones may be better still." in text
    assert "tried" not in told(KEY, **{"5p": bad, "6p": good, "7p": bad})
    assert "tried" not in told(KEY, **{"5p": good, "6p": bad, "7p": good}), "both ends are level"
    assert "tried" not in told(KEY, **{"5p": good, "6p": reading(1.6, 1.6, 1.9), "7p": bad}), "6p may be the best"
    ideal = reading(1, 1, 1)
    assert "tried" not in told(KEY, **{"5p": ideal, "6p": bad}), "no slowdown is below 1"
    assert "tried" not in told(KEY, **{"0p": good, "5p": bad}), "no threshold is below 0"
    assert "tried" in told(KEY, **{"0.5p": good, "5p": bad})
    assert "tried" not in told(KEY, **{"50%": bad, "100%": good})
    flows = told("traffic.flows", **{"5": good, "6": bad})
    assert flows.startswith("traffic.flows = 5 has the lowest p99 slowdown below 10 kB")
    assert "tried" not in flows, "nobody chooses the load"


@pytest.mark.parametrize(
    ("key", "tried", "ends"),
    [
        ("transport.expresspass.alpha", ["0.5", "1"], ["0.5"]),
        ("transport.expresspass.alpha", ["50%", "100%"], ["50%"]),
        ("transport.homa.levels", ["8", "1"], []),
        ("transport.phost.levels", ["2", "3"], []),
        ("traffic.bulk.controller.g", ["0.1", "0.5"], ["0.1", "0.5"]),
        ("queue.mark", ["0p", "100p"], ["100p"]),
        ("queue.mark", ["5p", "none"], []),
    ],
)
def test_values_at_a_bound_of_their_key_have_none_beyond(key: str, tried: list[str], ends: list[str]) -> None:
    assert list(ends_of(key, tried)) == ends


def test_values_that_are_not_told_apart_are_a_range() -> None:
    level = {"a": reading(1, 1.1, 1.2), "b": reading(1.1, 1, 1.2), "c": reading(1.2, 1.1, 1)}
    found = of_values(**level, d=reading(3, 3.2, 3.3))
    (choice,) = (answer for answer in answers_to(found) if answer.kind is Kind.CHOICE)
    assert choice.lead == "queue.mark = a to c"
    assert "d is 2.9 times as high [2.6, 3.2]" in choice.plain


def test_a_value_that_one_seed_spoils_is_not_among_the_best() -> None:
    found = of_values(a=reading(2, 2.1, 2.2), b=reading(2.1, 2.2, 2.1), c=reading(3.3, 53, 3.4), d=reading(4, 4.1, 4.3))
    (choice,) = (answer for answer in answers_to(found) if answer.kind is Kind.CHOICE)
    assert choice.lead == "queue.mark = a or b"
    assert "c is not told apart" in choice.plain


def test_thousands_of_per_cent_are_a_ratio() -> None:
    def told(one: Reading, other: Reading) -> str:
        return said(scenario_pairs.relative(pair(one, other)))

    assert told(reading(5, 6, 7), reading(2, 2, 2)) == "+200 ± 120 %"
    assert told(reading(50, 60, 70), reading(2, 2, 2)) == "30 ± 12 times"
    assert told(reading(5, 6, 7), reading(1e-3, 2, 1e-3)) == "some 9.0 times", "the other figure is near nothing"
    assert told(reading(1, 4, 2), reading(2, 1, 2)) == "100 % [−100, 600]"
    open_ = Reading({1: 5.0, 2: 6.0}, {1: 500.0, 2: 600.0})
    assert told(open_, Reading({1: 1.0, 2: 1.0}, {1: 1.0, 2: 1.0})) == "5.5 to 550 times"
    apart = MEASURES[0].apart("one", "other", {"one": reading(3.2, 5, 6.8), "other": reading(2, 2, 2)})
    assert said(difference_text(apart, MEASURES[0])) == "a factor of 2.5 [0.3, 4.7]"


def test_an_interval_of_ratios_never_goes_below_minus_100_percent() -> None:
    text = text_of(answers_to(of_values(a=reading(5, 6, 7), b=reading(9, 400, 8))), Kind.UNDECIDED)
    assert "%" not in text


def test_a_controller_that_carries_little_does_not_lead() -> None:
    delay = Measure(DELAY, "p99 delay", "s", "lower")
    points = {name: Point(name, "1") for name in ("dctcp", "idle")}
    readings = {(DELAY, points["dctcp"]): reading(5, 6, 7), (DELAY, points["idle"]): reading(1, 1.1, 1.2)}
    carried = {points["dctcp"]: reading(10, 10, 10), points["idle"]: reading(1, 1, 1)}
    found = Facts("s", KEY, ("1",), tuple(points), 3, (delay,), readings, throughput=carried)
    text = text_of(answers_to(found), Kind.TRADE_OFF)
    assert text.startswith("idle carries little, with 10 % of the highest throughput: p99 delay")
    assert "leads" not in text


def of_pair(*figures: tuple[Measure, Reading, Reading], rates: tuple[float, float] = (10, 10)) -> Facts:
    """Two controllers at one value: dctcp's reading of each figure, then swift's, and how much both carry."""
    points = {name: Point(name, "1") for name in ("dctcp", "swift")}
    pairs = [(measure, dict(zip(points, found, strict=True))) for measure, *found in figures]
    readings = {(measure.key, points[name]): one for measure, both in pairs for name, one in both.items()}
    carried = {point: reading(rate, rate, rate) for point, rate in zip(points.values(), rates, strict=True)}
    return Facts("s", KEY, ("1",), tuple(points), 3, tuple(m for m, _ in pairs), readings, throughput=carried)


RATES, DELAYS = MEASURES[1], MEASURES[3]


def test_less_delay_for_some_throughput_is_a_trade_off() -> None:
    found = of_pair(
        (RATES, reading(10, 10.1, 10.2), reading(8, 8.1, 8.2)),
        (DELAYS, reading(5, 6, 7), reading(1, 1.1, 1.2)),
        rates=(10, 8),
    )
    assert text_of(answers_to(found), Kind.TRADE_OFF) == (
        "dctcp and swift: a trade-off. dctcp: throughput per flow 24.7 % higher [23.9, 25.5]; swift with 80 % of the "
        "highest throughput: p99 delay 82 % lower [78, 85]."
    )


def test_figures_in_which_controllers_do_not_differ_are_told_beside_those_in_which_one_leads() -> None:
    faster = (DELAYS, reading(5, 6, 7), reading(1, 1.1, 1.2))
    found = of_pair((RATES, reading(9, 10, 11), reading(9.01, 10.01, 11.01)), faster)
    assert text_of(answers_to(found), Kind.TRADE_OFF).endswith(" Within 1 %: throughput per flow.")
    whole = reading(100, 100, 100)
    found = of_pair((MEASURES[2], whole, whole), faster)
    assert "Within" not in text_of(answers_to(found), Kind.TRADE_OFF), "both are as good as can be"


def test_values_within_1_percent_of_one_another_are_not_undecided() -> None:
    near = {"a": reading(1, 1.001, 1.002), "b": reading(1.001, 1.002, 1.001)}
    assert (
        text_of(answers_to(of_values(**near)), Kind.UNDECIDED)
        == "No difference of 1 % in p99 slowdown below 10 kB, as far as these seeds show."
    )


def test_controllers_without_any_difference_are_told_so() -> None:
    same = reading(9, 10, 11)
    found = of_pair((RATES, same, same), (DELAYS, same, same))
    words = "No difference of 1 % in throughput per flow and p99 delay, as far as these seeds show."
    assert [answer.plain for answer in answers_to(found)] == [words]
    alike = replace(found, controllers=("dctcp",), alike=(("dctcp", "swift"),))
    assert [answer.plain for answer in answers_to(alike)] == [
        "dctcp and swift have the same figures in every run: which of them is set changes nothing here."
    ]
    nothing = reading(0, 0, 0)
    assert [answer.plain for answer in answers_to(of_pair((MEASURES[3], nothing, nothing)))] == [
        "Nothing was delivered in the measured interval of any run."
    ]


def test_an_undecided_difference_says_how_many_seeds_would_decide_it() -> None:
    text = text_of(answers_to(of_values(a=reading(1, 1.2, 1.1), b=reading(1.1, 1.15, 1.3))), Kind.UNDECIDED)
    assert text.startswith("No value of queue.mark is told apart in p99 slowdown below 10 kB.")
    assert re.search(
        r"About \d+ more seeds? would tell queue.mark = b from a, if the difference stays as it is\.", text
    )
    never = text_of(answers_to(of_values(a=reading(1, 3, 2), b=reading(3.01, 1, 2))), Kind.UNDECIDED)
    assert "would need more than 100 seeds" in never


def test_scenarios_are_told_apart_with_the_share_finished_first() -> None:
    def of(name: str, slow: Reading, share: Reading) -> Facts:
        point = Point("dctcp", "15p")
        readings = {(SLOW, point): slow, ("share", point): share}
        return Facts(name, KEY, ("15p",), ("dctcp",), 3, (MEASURES[0], MEASURES[2]), readings)

    whole = of("whole", reading(2, 2.1, 2.2), reading(100, 100, 100))
    low = {1: 1.5, 2: 1.6, 3: 1.7}
    failed = of("failed", Reading(low, dict.fromkeys(low, math.inf), 63, 100), reading(63, 62, 64))
    (answer,) = scenarios_apart(failed, whole, "15p")
    assert answer.plain == (
        "failed against whole: share of flows finished 37.0 points lower [34.5, 39.5]. "
        "Not decided: p99 slowdown below 10 kB (≥ −23.9 %)."
    )


def test_controllers_that_govern_no_flow_are_not_compared(tmp_path: Path) -> None:
    for scenario, why in {"wireless-mesh": "datagrams have none", "phost": "phost governs"}.items():
        with pytest.raises(StudyError, match=f"controllers govern no flow of {scenario} .{why}.*give one --cc"):
            compare(scenario, ["dctcp", "swift"], out=tmp_path / scenario)
        assert not (tmp_path / scenario).exists()
    both = ComparisonStudy.parse(["phost", "dumbbell"], ["dctcp", "swift"], "queue.limit=90p", 1, [])
    both.refuse_idle_controllers()
    assert Controller("swift").beside(["udp"]).label == "swift (governs no flow)"
    assert Controller(".").beside(["phost+udp"]).is_idle and not Controller(".").beside(["newreno+udp"]).is_idle


@pytest.mark.slow("two runs and their report")
def test_controllers_with_the_same_figures_in_every_run_are_found(tmp_path: Path) -> None:
    set_ = {"run.duration": "100us", "run.warmup": "0s"}  # nothing is marked or late so early
    done = compare("dumbbell", ["dctcp", "dctcp:g=0.5"], seeds=1, settings=set_, out=tmp_path / "c", workers=1)
    found = facts_of(done.comparison, "dumbbell")
    assert (found.alike, found.controllers) == ((("dctcp", "dctcp g=0.5"),), ("dctcp",))
    text = "dctcp and dctcp g=0.5 have the same figures in every run: which of them is set changes nothing here."
    assert text_of(answers_to(found), Kind.WARNING).startswith(text)
    beside = replace(found, controllers=("dctcp", "dctcp g=0.5", "swift"))
    assert text_of(answers_to(beside), Kind.NO_EFFECT) == text


@pytest.mark.slow("runs and their report")
def test_no_controller_is_best_if_another_one_has_the_same_runs(tmp_path: Path) -> None:
    def best(*controllers: str) -> tuple[str, str] | None:
        set_ = {"run.duration": "3ms", "run.warmup": "1ms", "queue.mark": "100MB"}  # no mark: g changes nothing
        vary = {"traffic.flows": [2, 6]}
        out = tmp_path / str(len(controllers))
        done = compare("dumbbell", controllers, vary=vary, seeds=2, settings=set_, out=out, workers=1)
        return done.best("flows.throughput_mean_bps")

    assert best("dctcp") == ("dctcp", "2")
    assert best("dctcp", "dctcp:g=0.5") is None


@pytest.mark.slow("runs and their reports")
def test_runs_are_too_short_for_timers_only_where_flows_wait_for_them(tmp_path: Path) -> None:
    def facts(name: str, scenario: str = "incast", cc: str = "dctcp", **keys: str) -> Facts:
        set_ = {"run.duration": "20ms", "transport.rto_min": "1s", **keys}
        done = compare(scenario, [cc], seeds=1, settings=set_, out=tmp_path / name, workers=1)
        return facts_of(done.comparison, scenario)

    found = facts("lossy")
    assert found.timers is not None
    ((finished, count),) = [parts["fct"] for parts in found.began.values()]
    assert (found.timers.lossy, found.timers.flows) == (count - finished, count) and finished < count
    assert found.measures[0].title == "maximum completion time of a flow", "the p99 of 40"
    page = (tmp_path / "lossy" / "report.html").read_text(encoding="utf-8")
    assert "Maximum flow completion time" in page and "p99 flow completion time" not in page, "one name for one figure"
    assert text_of(answers_to(found), Kind.WARNING).endswith(
        f"of 40 flows in the worst run, {count - finished} lost packets and were silent until the end, and a timeout "
        "takes 1 s at least. One seed has no interval: no difference is decided. Use at least three seeds."
    )
    assert facts("quick", **{"transport.rto_min": "10ms"}).timers is None
    assert facts("whole", **{"traffic.answers.flows": "4"}).timers is None, "nothing is lost, though timers are as long"
    rdma = {"transport.preset": "rdma-hpcc", "queue.kind": "drop-tail", "queue.limit": "20p"}
    never, late = (
        facts("never", cc="dcqcn", **rdma),
        facts("late", cc="dcqcn", **rdma, **{"transport.rdma.timeout": "1s"}),
    )
    assert "and no timeout repeats them" in text_of(answers_to(never), Kind.WARNING)
    assert "and a timeout takes 1 s at least" in text_of(answers_to(late), Kind.WARNING)
    assert facts("soon", cc="dcqcn", **rdma, **{"transport.rdma.timeout": "1ms"}).timers is None
    lossy = facts("endless", "dumbbell", "newreno", **{"run.warmup": "5ms"})
    assert any(reading.least and reading.least.mean for (key, _), reading in lossy.readings.items() if "loss" in key)
    assert lossy.timers is None, "fast retransmissions repair all losses of endless flows"


def test_flows_wait_if_they_miss_data_and_receive_nothing_for_a_round_trip() -> None:
    flow = {"start_s": 0.0, "finish_s": None, "stopped_s": None, "written_bytes": 900, "delivered_bytes": 600}
    flow |= {"idle_rtt_s": 20e-6, "delay_max_s": 80e-6, "fm_last_rx_s": 0.9}
    assert is_silent(flow, 1.0) and not is_silent(flow | {"fm_last_rx_s": 0.99995}, 1.0)
    assert is_silent(flow | {"fm_last_rx_s": None, "delay_max_s": None}, 1.0), "nothing arrived at all"
    assert not is_silent(flow | {"delivered_bytes": 900}, 1.0), "nothing is left to send"
    assert not is_silent(flow | {"stopped_s": 0.95}, 1.0)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Compared:
    quick = dict(pair.split("=", 1) for pair in QUICK[1::2])
    return compare(
        ["random-hotspot", "random-pairs"],
        ["dctcp", "newreno"],
        vary={"traffic.flows": [4, 20]},
        seeds=3,
        settings=quick,
        out=tmp_path_factory.mktemp("answers") / "c",
    )


def by_seed(made: Compared, claim: dict[str, str], other: str = "") -> dict[int, float]:
    """Read the values of a figure at a point of a claim from the table of runs."""
    place = {name: claim.get(f"{other}{name}") or claim[name] for name in ("scenario", "controller", "value")}
    return {
        row["seed"]: row[claim["figure"]]
        for row in made.table.to_pylist()
        if (row["scenario"], row["controller"], row["traffic.flows"]) == tuple(place.values())
    }


@pytest.mark.slow("24 runs and their report")
def test_sentences_of_a_comparison_read_back_from_its_runs(made: Compared) -> None:
    answers = json.loads((made.folder / "comparison.json").read_text(encoding="utf-8"))["answers"]
    claims = [claim for answer in answers for claim in answer["numbers"] if claim["says"] in ("higher", "lower")]
    assert claims
    for claim in claims:
        one, other = by_seed(made, claim), by_seed(made, claim, "other_")
        apart = [100 * (one[s] / other[s] - 1) if claim["relative"] else one[s] - other[s] for s in one]
        assert len(apart) == 3
        half = 4.302653 * statistics.stdev(apart) / math.sqrt(3)  # t(0.975, 2), from a printed table
        mean = statistics.fmean(apart)
        assert (claim["mean"], claim["low"], claim["high"]) == pytest.approx((mean, mean - half, mean + half), rel=1e-5)
        assert (mean > 0) == (claim["says"] == "higher")
        assert abs(mean) > half
    page, shown = (made.folder / "report.html").read_text(encoding="utf-8"), made._repr_html_()
    for answer in answers_of(made.comparison):
        for text in (page, shown):
            assert html.escape(answer.lead) in text
            assert html.escape(answer.rest) in text


@pytest.mark.slow("24 runs and their report")
def test_the_best_point_is_better_than_all_others_in_the_table(
    made: Compared, capsys: pytest.CaptureFixture[str]
) -> None:
    figures = made.figures("random-hotspot")
    for figure in figures:
        found = made.best(figure, "random-hotspot")
        means: dict[tuple[str, str], list[float]] = {}
        for row in made.table.to_pylist():
            if row["scenario"] == "random-hotspot":
                means.setdefault((row["controller"], row["traffic.flows"]), []).append(row[figure])
        order = sorted(means, key=lambda place: statistics.fmean(means[place]), reverse="throughput" in figure)
        assert found in (None, order[0])
    assert any(made.best(figure, "random-hotspot") for figure in figures)
    with pytest.raises(IncastError, match=r'no figure "flows\.delay_p99" \(did you mean "flows\.delay_p99_s"\?\)'):
        made.best("flows.delay_p99", "random-hotspot")
    with pytest.raises(IncastError, match="expected a scenario, one of random-hotspot, random-pairs"):
        made.best("flows.delay_p99_s")
    made.answer()
    printed = capsys.readouterr().out
    assert all(answer.plain.split(":")[0] in " ".join(printed.split()) for answer in answers_of(made.comparison))
