"""Texts that differ only in their numbers, written once with ranges: ``8 to 10 of 8,691 flows``."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

_NUMBER = re.compile(r"(?<![\w.,>-])\d+(?:,\d{3})*(?:\.\d+)?(?![\w>])")
"""Numbers in a sentence, without those in names such as ``leaf0>spine3``."""
MOST_HOLDERS = 3
"""Most cases that a note names."""

Case = tuple[str, ...]
"""Words that name a case, such as the value of the varied key and the controller."""


def ranged(texts: Sequence[str]) -> str:
    """Write texts that differ only in their numbers as one, with the smallest and largest number where these differ."""
    if len(set(texts)) == 1:
        return texts[0]
    between = _NUMBER.split(texts[0])
    columns = zip(*(_NUMBER.findall(text) for text in texts), strict=True)
    return "".join(part + number for part, number in zip(between, [*map(_range, columns), ""], strict=True))


def _range(numbers: Sequence[str]) -> str:
    least, most = (end(numbers, key=_value) for end in (min, max))
    return least if _value(least) == _value(most) else f"{least} to {most}"


def _value(number: str) -> float:
    return float(number.replace(",", ""))


def kind(text: str) -> str:
    """Return a text without its numbers: equal for texts that ``ranged`` can write as one."""
    return _NUMBER.sub("#", text)


def merged(notes: Mapping[Case, Sequence[str]]) -> list[str]:
    """Return each note once, with the cases that have it: ``in all 8 settings: 3 to 5 of 40 flows finished``.

    Notes that differ only in their numbers are one note. A single case needs no name.
    """
    found: dict[str, dict[Case, list[str]]] = {}
    for case, texts in notes.items():
        for text in texts:
            found.setdefault(kind(text), {}).setdefault(case, []).append(text)
    return [
        f"{_where(list(holders), list(notes))}{ranged([text for texts in holders.values() for text in texts])}"
        for holders in found.values()
    ]


def _where(holders: Sequence[Case], cases: Sequence[Case]) -> str:
    """Name the cases in a list, by one of their words if it decides; empty for a single case."""
    if len(cases) == 1:
        return ""
    if len(holders) == len(cases):
        return f"in all {len(cases)} settings: "
    words = [", ".join(filter(None, case)) for case in holders]
    for place in range(len(cases[0])):
        own = list(dict.fromkeys(case[place] for case in holders))
        if all(own) and [case for case in cases if case[place] in own] == list(holders):
            words = own
            break
    more = len(words) - MOST_HOLDERS
    return f"{'; '.join(words[:MOST_HOLDERS])}{f'; and {more} more' if more > 0 else ''}: "
