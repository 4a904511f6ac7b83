"""Answers on a terminal and in a page."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from html import escape

from rich.console import Console

from incast.answers.answer import Answer, Kind
from incast.answers.answering import answers_of, shown_first
from incast.comparisons.comparison import Comparison
from incast.system.output import counted
from incast.writing.numbers import SPACE

SIGNS = {
    Kind.WARNING: "!",
    Kind.CHOICE: "▸",
    Kind.TRADE_OFF: "▸",
    Kind.SCENARIOS: "▸",
    Kind.RANGE: "▸",
    Kind.UNDECIDED: "?",
    Kind.BOUND: "≥",
    Kind.NO_EFFECT: "=",
}
"""Sign before an answer."""

WIDTH = 80
"""Columns of a terminal that answers fill, at most."""


def print_answers(answers: Sequence[Answer], console: Console, file: str) -> None:
    """Print the first answers, and the number of the others, which a file has beside the report."""
    first, others = shown_first(answers)
    for line in lines_of(first, min(console.width, WIDTH)):
        console.print(line, highlight=False, markup=False, soft_wrap=True)
    if others:
        rest = f"{counted(len(others), 'more answer')} in the report and in {file}"
        console.print(rest, highlight=False, markup=False, soft_wrap=True)


def lines_of(answers: Sequence[Answer], width: int) -> list[str]:
    """Break answers into lines of at most a width; a number stays with its unit."""
    return [line for answer in answers for line in wrapped(answer.text, width, f"{SIGNS[answer.kind]} ")]


def wrapped(text: str, width: int, sign: str = "") -> list[str]:
    """Break a text into lines of at most a width, behind a sign; a number stays with its unit."""
    lines = textwrap.wrap(
        text,
        width,
        initial_indent=sign,
        subsequent_indent=" " * len(sign),
        break_on_hyphens=False,
        break_long_words=False,
    )
    return [line.replace(SPACE, " ") for line in lines]


def answers_html(comparison: Comparison) -> str:
    """Return the section of a comparison that answers."""
    answers, seeds = answers_of(comparison), comparison.study.seeds
    return html_of(answers, told_apart(answers, seeds) if seeds > 1 else "")


def told_apart(answers: Sequence[Answer], seeds: int) -> str:
    """Explain the brackets of some answers, and when two readings are told apart, as HTML."""
    compared = sum(bool(claim.other_controller) for answer in answers for claim in answer.claims)
    return (
        '<p class="note">Brackets: 95&nbsp;% intervals of differences under the same seed, over '
        f"{counted(seeds, 'seed')}. Told apart: the interval excludes zero, and the difference is at least 1&nbsp;%. "
        f"Of {compared:,} differences about one in 20 without a cause is told apart by chance.</p>"
    )


def html_of(answers: Sequence[Answer], note: str) -> str:
    """Return the section of some answers: the first ones, the others folded, and a note as HTML."""
    first, others = shown_first(answers)
    folded = (
        f"<details><summary>{counted(len(others), 'more answer')}</summary><ul>{_items(others)}</ul></details>"
        if others
        else ""
    )
    return f'<section id="answer" class="answer"><h2>Answer</h2><ul>{_items(first)}</ul>{folded}{note}</section>'


def _items(answers: Sequence[Answer]) -> str:
    return "".join(
        f'<li class="{answer.kind}"><span aria-hidden="true">{SIGNS[answer.kind]}</span> '
        f"<b>{escape(answer.lead)}</b>{escape(answer.rest)}</li>"
        for answer in answers
    )
