"""Best and dominated controllers: properties that hold for any figures."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incast.comparisons.ranking import (
    CARRIES,
    Objective,
    best,
    carrying,
    clearly_better,
    dominates,
    told_apart,
    undominated,
)
from incast.report.numbers import is_clear_of_zero, shown_reading
from incast.runs.completions import Reading, difference


def reading(*values: float, finished: int = 0, count: int = 0, open_by: float = 0.0) -> Reading:
    low = dict(enumerate(values, 1))
    return Reading(low, {seed: value + open_by for seed, value in low.items()}, finished, count)


ALL = frozenset("abcd")


def test_best_needs_a_paired_interval_clear_of_every_other() -> None:
    # pairs differ by 1, 1.1, 0.9 although the values themselves spread over 20
    one, other = reading(10, 20, 30), reading(11, 21.1, 30.9)
    assert best({"a": one, "b": other}, "lower", ALL) == "a"
    assert best({"a": one, "b": other}, "higher", ALL) == "b"
    assert best({"a": one, "b": other, "c": reading(9, 21, 30)}, "lower", ALL) is None, "not clear of c"
    assert best({"a": one}, "lower", ALL) is None, "nobody to be better than"
    assert best({"a": reading(1), "b": reading(2)}, "lower", ALL) is None, "one seed has no interval"
    assert best({"a": one, "b": one}, "lower", ALL) is None


def test_who_finished_234_of_1120_flows_is_not_best() -> None:
    few, all_ = reading(1, 1.1, 0.9, finished=234, count=1120), reading(5, 5.1, 4.9, finished=1120, count=1120)
    assert best({"a": few, "b": all_}, "lower", ALL) is None
    enough = reading(1, 1.1, 0.9, finished=1120, count=1120)
    assert best({"a": enough, "b": all_}, "lower", ALL) == "a"


def test_bounds_are_compared_at_their_worse_ends() -> None:
    exact, open_ = reading(5, 5.1, 4.9), reading(1, 1.1, 0.9, open_by=5)
    assert not clearly_better(open_, exact, "lower")
    assert clearly_better(reading(1, 1.1, 0.9, open_by=1), exact, "lower")
    assert not clearly_better(reading(1, 1.1, 0.9, open_by=float("inf")), exact, "lower")
    assert clearly_better(exact, reading(9, 9.1, 8.9, open_by=float("inf")), "lower"), "at least 9 is worse than 5"


def test_who_sends_nothing_is_not_best_at_delay() -> None:
    throughput = {"a": reading(1e6, 1.1e6), "b": reading(9e9, 9.1e9)}
    assert carrying(throughput) == {"b"}
    assert carrying({"a": reading(CARRIES * 10, CARRIES * 10), "b": reading(10, 10)}) == {"a", "b"}
    assert carrying({"a": reading(0, 0)}) == frozenset()


def test_who_is_worse_in_everything_is_dominated() -> None:
    throughput = {"a": reading(9, 9.1, 8.9), "b": reading(5, 5.1, 4.9), "c": reading(2, 2.1, 1.9)}
    delay = {"a": reading(3, 3.1, 2.9), "b": reading(8, 8.1, 7.9), "c": reading(1, 1.1, 0.9)}
    objectives = [Objective(throughput, "higher"), Objective(delay, "lower")]
    assert undominated(list("abc"), objectives) == {"a", "c"}
    without = [Objective(throughput, "higher"), Objective({"a": delay["a"], "b": delay["b"]}, "lower")]
    assert undominated(list("abc"), without) == {"a"}, "no delay as nothing arrived is the worst delay"


VALUES = st.lists(st.floats(0, 100, width=16), min_size=3, max_size=3)
FIGURE = st.lists(VALUES, min_size=4, max_size=4)


def named(rows: list[list[float]]) -> dict[str, Reading]:
    return {name: reading(*row) for name, row in zip("abcd", rows, strict=True)}


@given(FIGURE, st.sampled_from(["higher", "lower"]))
@settings(max_examples=200, deadline=None)
def test_the_best_has_the_best_mean_and_no_rival(rows: list[list[float]], better: str) -> None:
    readings = named(rows)
    found = best(readings, better, ALL)
    winners = [
        one
        for one in readings
        if all(told_apart(readings[one], readings[other], better) for other in readings if other != one)
    ]
    assert winners == ([found] if found is not None else [])
    if found is not None:
        means = {name: sum(r.low.values()) for name, r in readings.items()}
        assert means[found] == (max if better == "higher" else min)(means.values())
        assert best(readings, better, ALL - {found}) is None, "nobody else comes up where it is not allowed"


@given(FIGURE, FIGURE, FIGURE)
@settings(max_examples=200, deadline=None)
def test_dominance_has_no_circle_and_leaves_somebody(
    first: list[list[float]], second: list[list[float]], third: list[list[float]]
) -> None:
    objectives = [
        Objective(named(first), "higher"),
        Objective(named(second), "lower"),
        Objective(named(third), "higher"),
    ]
    front = undominated("abcd", objectives)
    assert front
    for one in "abcd":
        assert not dominates(one, one, objectives)
        for other in "abcd":
            assert not (dominates(one, other, objectives) and dominates(other, one, objectives))
    # who has the best mean of the first figure alone is dominated only by one that has the same
    most = max(first, key=sum)
    for name, row in zip("abcd", first, strict=True):
        if sum(row) == sum(most) and name not in front:
            assert any(
                sum(r) == pytest.approx(sum(row)) and dominates(n, name, objectives)
                for n, r in zip("abcd", first, strict=True)
            )


def test_a_difference_has_the_bounds_that_both_allow() -> None:
    exact, open_ = reading(5, 6), reading(1, 2, open_by=3)
    apart = difference(open_, exact)
    assert apart is not None
    assert (apart.low, apart.high) == ({1: -4, 2: -4}, {1: -1, 2: -1})
    endless = difference(exact, reading(1, 2, open_by=float("inf")))
    assert endless is not None
    assert endless.least is None
    assert endless.most is not None
    assert endless.most.mean == 4
    assert difference(exact, Reading({7: 1.0}, {7: 1.0})) is None, "no seed in common"


def test_differences_are_told_with_their_bounds() -> None:
    cases = {
        "−4 to −1": (reading(1, 2, open_by=3), reading(5, 6)),
        "≤\u00a04": (reading(5, 6), reading(1, 2, open_by=math.inf)),
        "≥\u00a0−4": (reading(1, 2, open_by=math.inf), reading(5, 6)),
        "open": (reading(1, 2, open_by=math.inf), reading(1, 2, open_by=math.inf)),
        "1": (reading(2, 3), reading(1, 2)),
    }
    assert {shown_reading(difference(*pair)): told for told, pair in cases.items()} == {told: told for told in cases}
    clear = [is_clear_of_zero(difference(*pair)) for pair in cases.values()]
    assert clear == [True, False, False, False, True]
    assert not is_clear_of_zero(difference(reading(9), reading(1))), "one seed has no interval"
