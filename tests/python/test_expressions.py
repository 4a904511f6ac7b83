"""Expressions of claims: what they may say, and what can be judged at all."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from incast.errors import PaperError
from incast.papers import expression, reading
from incast.papers.expression import ExpressionError, MeaninglessError
from own_paper import PAPER


def value(text: str) -> object:
    return expression.evaluate(expression.parse(text, ["f"]), {"f": {"a": [1.0, 2.0, 4.0]}.__getitem__})


def test_expressions_are_arithmetic_and_comparisons() -> None:
    assert value("1 + 2 * 3 - 8 / 4") == 5.0
    assert value("2 ** 3 == 8 and 1 < 2 <= 2") is True
    assert value("7.5 % 2 == 1.5 and -1 % 4 == 3") is True
    assert value("1 < 2 < 2") is False
    assert value("not 1 > 2 or 1 > 2") is True
    assert value("max(f('a')) - min(f('a'))") == 3.0
    assert value("mean(1, 2, 6)") == 3.0
    assert value("rising(f('a')) and not falling(f('a'))") is True
    assert value("rising(1, 1)") is False
    assert value("slope([1, 10, 100], [3, 30, 300])") == pytest.approx(1.0)
    assert value("slope([1, 4], [1, 2])") == pytest.approx(0.5)
    assert value("within(90, 100, 0.1)") is True
    assert value("within(89, 100, 0.1)") is False
    assert value("ratio(-3, abs(-6)) + sqrt(4)") == 1.5
    assert value("max(ratios(f('a'), [2, 1, 8]))") == 2.0
    assert value("[2 * n for n in f('a') if n != 2]") == [2.0, 8.0]
    assert value("[n - m for n in [1, 2] for m in [n, 5] if m > 1]") == [-4, 0, -3]
    assert value("all(n >= 1 for n in f('a')) and not all(n > 1 for n in f('a'))") is True
    assert value("any(n > 2 for n in f('a')) and not any(n > 4 for n in f('a'))") is True
    assert value("within(f('a'), [1.1, 2, 4], 0.1)") is True
    assert value("within(f('a'), [1.2, 2, 4], 0.1)") is False


@pytest.mark.parametrize(
    "text",
    [
        "f.x",
        "f('a')[0]",
        "open('x')",
        "lambda: 1",
        "{x for x in f('a')}",
        "[x for x in f('a')] + [x]",
        "[f for f in f('a')]",
        "[a for a, b in [[1, 2]]]",
        "[x for x in f('a') if y > 1]",
        "f(name='a')",
        "True",
        "y",
        "1 if 2 else 3",
        "1; 2",
    ],
)
def test_expressions_reach_nothing_else(text: str) -> None:
    with pytest.raises(ExpressionError):
        value(text)


@pytest.mark.parametrize(
    "text",
    [
        "1 / 0",
        "sqrt(0 - 1)",
        "f('a') < 1",
        "slope([1], [1])",
        "mean([])",
        "ratios([1], [1, 2])",
        "9**9**9**9",
        "[1] * 999999999",
        "within([1, 2], [1], 0.1)",
        "within([1, 2], 1, 0.1)",
        "[x for x in 3]",
        "all(n > 8 for n in f('a') if n > 8)",
        "all(f('a'))",
        "1 < 2 and 3",
        "not 3",
        "any([0])",
    ],
)
def test_expressions_that_numbers_do_not_fit_are_errors(text: str) -> None:
    with pytest.raises(ExpressionError):
        value(text)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("f('a') < [6, 1, 0]", "f('a') < [6, 1, 0]: expected a number, not a list: of lists, compare each"),
        ("f('a') == 2", "expected a number, not a list"),
        ("f('a') != f('a')", "expected a number, not a list"),
        ("not 2 == [2]", "expected a number, not a list"),
        ("'10' < '9'", "expected a number, not a text"),
        ("'10' == 10", "expected a number, not a text"),
        ("(2 > 1) > 0", "expected a number, not a truth value"),
        ("2 < 1 < 'a'", "expected a number, not a text"),
        ("(1 > 0) + 1 > 1", "1 > 0) + 1: expected a number, not a truth value"),
        ("-(1 > 0) < 1", "expected a number, not a truth value"),
        ("mean(1 > 0, 2 > 3) < 1", "expected a number, not a truth value"),
        ("abs(1 > 0) < 1", "expected a number, not a truth value"),
        ("rising([[1, 9], [2, 3], [3, 0]])", "expected a number, not a list"),
        ("falling(['b', 'a'])", "expected a number, not a text"),
        ("max([1, 9], [2, 3]) < 4", "expected a number, not a list"),
        ("min('b', 'a') < 4", "expected a number, not a text"),
        ("ratio([1], 2) < 4", "expected a number, not a list"),
        ("ratio(1) < 4", "ratio() missing 1 required positional argument: 'b'"),
        ("max(ratios([1 > 0], [2])) < 4", "expected a number, not a truth value"),
        ("slope([1, 2], ['a', 'b']) < 4", "expected a number, not a text"),
        ("within(f('a'), 60, 0.1)", "within: expected two lists, not a list and a number"),
        ("within(1, 2, 'a')", "expected a number, not a text"),
        ("model('swift', 'throughput_bps', 'q') > 1", "names of parameters, each followed by its value"),
        ("all([1 > 0], [1 > 0])", "expected a comparison, not a list"),
        ("all('a')", "expected a comparison, not a text"),
        (
            "all(1 > 0" + "".join(f" for {name} in [1, 2, 3]" for name in "abcdeghijkl") + ")",
            "more than 100,000 iterations",
        ),
    ],
)
def test_expressions_of_other_kinds_have_no_value_whatever_is_measured(text: str, told: str) -> None:
    with pytest.raises(MeaninglessError, match=re.escape(told)):
        expression.truth(expression.parse(text, ["f"]), {"f": {"a": [1.0, 2.0, 4.0]}.__getitem__})


@pytest.mark.parametrize("text", ["-" * 5000 + "1 > 0", "-" * 900 + "1 > 0", "1" + " + 1" * 5000 + " > 0"])
def test_expressions_within_one_another_have_an_end(text: str) -> None:
    with pytest.raises(ExpressionError, match="nested too deeply: expected at most 64"):
        expression.parse(text, [])
    depth = expression.DEPTH - 2
    deepest = expression.parse("-" * depth + "1 > 0", [])
    assert expression.truth(deepest, {}) == (depth % 2 == 0)


@pytest.mark.parametrize(
    ("holds", "told"),
    [
        ("delay('DCTCP') >= 1.2", "delay('DCTCP') >= 1.2: expected a number, not a list"),
        ("ratio(delay('DCTCP', 4)) > 1", "ratio() missing 1 required positional argument"),
        ("within(delay('DCTCP', 4), 'a', 0.1)", "expected a number, not a text"),
        ("within(delay('Swift'), 60, 100)", "within: expected two lists, not a list and a number"),
        ("rising(delay(['Swift', 'DCTCP']))", "expected a number, not a list"),
        ("delay('Swift', 4, 40) > 1", "delay() takes from 1 to 2 positional arguments but 3 were given"),
        ("max(x('a')) > 1", "x('a'): expected a number, not a text"),
        ("all(delay('Swift', n) > 0 for n in x() if n > 1000)", "expected at least one number, not an empty list"),
        ("max(delay('Swift', x(2000))) > 0", "expected at least one number, not an empty list"),
        ("within(delay('Swift'), [1, 2, 3, 4], 0.1)", "two lists of the same length, not of 3 and 4"),
    ],
)
def test_claims_that_no_number_decides_are_refused_before_anything_runs(paper: Path, holds: str, told: str) -> None:
    (paper / "paper.toml").write_text(PAPER.replace("delay('DCTCP', 40) >= 1e6", holds))
    with pytest.raises(PaperError, match=re.escape(told)):
        reading.load(paper)


@pytest.mark.parametrize(
    "holds",
    [
        "within(delay('Swift'), [60, 100], 0.1)",  # of scale small
        "within(delay('Swift'), [60, 100, 2000], 0.1)",  # of scale paper
        "max(delay('Swift', x(1000))) > 0",
        "all(n > 0 for n in delay('Swift') if n > 100)",
        "max(x(delay('Swift', 4))) > 2000",
        "sqrt(delay('Swift', 4) - 50) > 1",
    ],
)
def test_claims_that_other_numbers_or_points_may_decide_are_taken(paper: Path, holds: str) -> None:
    (paper / "paper.toml").write_text(PAPER.replace("delay('DCTCP', 40) >= 1e6", holds))
    assert len(reading.load(paper).figures["fig1"].claims) == 3
