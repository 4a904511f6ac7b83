"""Reasons why claims do not hold, filled with the numbers of the runs."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence

from incast.papers import expression
from incast.papers.definition import Figure, X
from incast.papers.expression import ExpressionError, as_number
from incast.papers.judging import MissingError, Number, Seen, made_up
from incast.report.numbers import number as worded
from incast.report.numbers import rounded
from incast.statistics import Estimate
from incast.writing.numbers import said

Estimated = Callable[[str, str, X], Estimate | None]
"""Function that returns mean and interval by measure, series and point."""

PLACE = re.compile(r"\{([^{}]*\([^{}]*)\}")
"""An expression in braces; words of ``each`` have no parentheses."""
_SENTENCE = re.compile(r"(?<=[.:;])\s+(?=[A-Z{])")


def check(figures: Sequence[Figure], text: str) -> None:
    """Evaluate the expressions of a text on made-up numbers, at a figure's scales; raises ``ExpressionError``.

    A point of a single scale, or numbers that do not fit, are no errors.
    """
    for place in PLACE.finditer(text):
        parsed = _parsed(figures[0], place[1])
        for figure in figures:
            numbers = made_up()
            seen = Seen(figure, lambda *_, numbers=numbers: next(numbers))
            try:
                expression.evaluate(parsed, seen.functions(None))
            except expression.MeaninglessError:
                raise
            except (MissingError, ExpressionError):
                continue


def filled(figure: Figure, text: str, number: Number, estimated: Estimated) -> str:
    """Fill numbers into a text: ``{delay('Swift', 20)}`` is a mean with its interval, other expressions are numbers.

    A sentence with a missing number is left out.
    """
    kept = []
    for sentence in _SENTENCE.split(text):
        try:
            kept.append(PLACE.sub(lambda place: _number(figure, place[1], number, estimated), sentence))
        except (MissingError, ExpressionError):
            continue
    return " ".join(kept)


def _number(figure: Figure, text: str, number: Number, estimated: Estimated) -> str:
    parsed = _parsed(figure, text)
    match parsed:
        case ast.Call(func=ast.Name(id=name), args=[ast.Constant(value=str(series)), ast.Constant(value=x)]) if (
            name in figure.measures and isinstance(x, str | int | float)
        ):
            Seen(figure, number).functions(None)[name](series, x)  # refuses unknown names
            return said(worded(estimated(name, series, x)))
    found = expression.evaluate(parsed, Seen(figure, number).functions(None))
    return ", ".join(rounded(as_number(one)) for one in (found if isinstance(found, list) else [found]))


def _parsed(figure: Figure, text: str) -> ast.expr:
    return expression.parse(text, [*figure.measures, "x", "published"])
