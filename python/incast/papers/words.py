"""Check that a claim's expression uses what its text names: numbers, series, and "every"."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from incast.papers.definition import Claim, Figure, Measure, X
from incast.papers.judging import Reads, reads
from incast.papers.scope import WHOLE

_NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?(?!\w)")
_UNIT = re.compile(r"\s?(%|(?:[kKMG]i?)?(?:B|b/s|bit/s|bytes)\b|[mun]?s\b)")
_RANGE = re.compile(r",?\s(?:to|and|or)\s[\d.,]*\d")
"""Text between an end of a range and its unit: "15 to 35 %", "1 and 5 ms"."""
_FRACTIONS = {
    "half": 1 / 2,
    "a third": 1 / 3,
    "two thirds": 2 / 3,
    "a quarter": 1 / 4,
    "a fifth": 1 / 5,
    "a tenth": 1 / 10,
    "twice": 2.0,
    "one and a half": 3 / 2,
    "three quarters": 3 / 4,
    "three times": 3.0,
    "four times": 4.0,
    "five times": 5.0,
    "ten times": 10.0,
    "tenfold": 10.0,
    "an order of magnitude": 10.0,
    "a hundred times": 100.0,
}
_FRACTION = re.compile(rf"\b(?:{'|'.join(sorted(_FRACTIONS, key=len, reverse=True))})\b", re.IGNORECASE)
_EVERY = re.compile(
    r"\b(?:every(?! seed\b)|(?:(?<=at )|(?<=in )|(?<=under ))each(?! (?:seed|other)\b)|everywhere|always"
    r"|at all(?= (?!(?:with|when|where|while|if|in|on|by|for|of|as|to|than|and|or|but)\b)\w)"
    r"|in all(?= (?:cases|phases|points)))\b",
    re.IGNORECASE,
)
"""Phrases that mean all points: "at all loads", not "does not change at all with the load"."""
_BOTH = re.compile(r"\bboth\b", re.IGNORECASE)
_SCALES = (1e3, 1e6, 1e9, 1e-3, 1e-6, 1e-9)
"""Factors between units."""


@dataclass(frozen=True)
class Word:
    """A number in a claim's text, and the numbers in an expression that match it."""

    text: str
    values: Sequence[float]
    unit: str = ""
    near: float = 1e-9
    """Relative tolerance of the match."""


def unused(figure: Figure, claim: Claim) -> list[str]:
    """Return words of a claim that its expression does not use, except those declared in ``claim.unused``.

    A number matches numbers of the expression, of its measures' labels and filters, and published ones: unchanged,
    scaled by a thousand if it has a unit, or as a fraction if it is a percentage. A number without a unit, or with that
    of the axis, also matches the points read at the paper's scale. Series are those of the figure; a longer name that
    begins with a series' name counts as that series. "Every" is unused if a measure of a series is read at some of the
    figure's points only, "both" if a single number is read.
    """
    return [word for word in _unused(figure.at(WHOLE), claim) if word not in claim.unused]


def left(figure: Figure, claim: Claim) -> Mapping[str, str]:
    """Return words of a claim that its expression does not use, with declared reasons."""
    return {**dict.fromkeys(unused(figure, claim), ""), **claim.unused}


def notes(left: Mapping[str, str]) -> list[str]:
    """Return notes about words that are not judged, those without a reason first."""
    bare = ", ".join(word for word, reason in left.items() if not reason)
    reasons = "; ".join(f"{word} ({reason})" for word, reason in left.items() if reason)
    return [
        *([f"words not judged: {bare}"] if bare else []),
        *([f"not judged literally: {reasons}"] if reasons else []),
    ]


def needless(figure: Figure, claim: Claim) -> list[str]:
    """Return entries of ``claim.unused`` that the expression uses, or that the text lacks."""
    left = _unused(figure.at(WHOLE), claim)
    return [word for word in claim.unused if word not in left]


def _unused(figure: Figure, claim: Claim) -> list[str]:
    found = reads(figure, claim)
    known = [*found.published, *(n for part in ast.walk(claim.holds) for n in _numbers_of(part))]
    known += [n for name in {name for name, _, _ in found.places} for n in _numbers_of(_about(figure.measures[name]))]
    points = [n for _, _, x in found.places for n in _numbers_of(ast.Constant(x))]
    words, rest = [], claim.says
    read = {name for _, name, _ in found.places}
    for name in sorted((series.name for series in figure.series), key=len, reverse=True):
        named = rf"(?<!\w){re.escape(name)}(?!\w)"
        if re.search(named, rest):
            # ignore shorter names inside it
            rest = re.sub(named, lambda one: "_" * len(one[0]), rest)
            words += [name] if not any(one.startswith(name) for one in read) else []
    for word in _words(rest):
        there = [*known, *points] if not word.unit or word.unit in figure.x_label else known
        if not any(_fits(word, number) for number in there):
            words.append(word.text)
    if (every := _EVERY.search(rest)) and _of_some(figure, found):
        words.append(every[0])
    if (both := _BOTH.search(rest)) and len(found.places) < 2:
        words.append(both[0])
    return list(dict.fromkeys(words))


def _about(measure: Measure) -> ast.Constant:
    """Return the text of a measure: its label, and its filter of rows."""
    return ast.Constant(" ".join([measure.label, *measure.where.values()]))


def _of_some(figure: Figure, found: Reads) -> bool:
    """Return whether a measure of a series is read at some of a figure's points only."""
    read: dict[tuple[str, str], set[X]] = {}
    for measure, series, x in found.places:
        read.setdefault((measure, series), set()).add(x)
    return any(there != {point.x for point in figure.points} for there in read.values())


def _numbers_of(node: ast.AST) -> list[float]:
    match node:
        case ast.Constant(value=str(text)):
            return [float(one[0].replace(",", "")) for one in re.finditer(r"\d+(?:,\d{3})*(?:\.\d+)?", text)]
        case ast.Constant(value=int(number) | float(number)):
            return [float(number)]
    return []


def _words(says: str) -> Iterator[Word]:
    for one in _NUMBER.finditer(says):
        text = one[0].rstrip(",")
        value = float(text.replace(",", ""))
        behind = one.start() + len(text)
        unit = _UNIT.match(says, behind) or ((to := _RANGE.match(says, behind)) and _UNIT.match(says, to.end()))
        part = value / 100
        if unit is None:
            yield Word(text, [value])
        elif unit[1] == "%":
            yield Word(text, [value, part, 1 - part, 1 + part], "%")
        else:
            yield Word(text, [value, *(value * scale for scale in _SCALES)], unit[1])
    for one in _FRACTION.finditer(says):
        value = _FRACTIONS[one[0].lower()]
        yield Word(one[0], [value, 1 / value, 1 - value, 1 + value, 100 * value], near=0.02)


def _fits(word: Word, number: float) -> bool:
    return any(abs(number - value) <= word.near * abs(value) + 1e-12 for value in word.values)
