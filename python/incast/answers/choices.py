"""Best values of the varied key, per figure and controller."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from incast.answers.answer import (
    Answer,
    Claim,
    Kind,
    claim_of,
    difference_text,
    reading_claim,
    superlative,
    value_text,
)
from incast.answers.ends import beyond
from incast.answers.facts import Facts, Point, is_condition
from incast.answers.limits import qualified
from incast.answers.measures import Measure
from incast.answers.paired import MOST_SEEDS, Apart, Ranking, Verdict, joined
from incast.runs.completions import Reading
from incast.system.output import counted
from incast.writing.numbers import SPACE

LISTED = 3
"""Differences in a sentence, at most; the claims have all."""


@dataclass(frozen=True)
class Choice:
    """The best values of the key at one figure, for one controller."""

    controller: str
    measure: Measure
    ranking: Ranking
    readings: dict[str, Reading]
    """By value."""

    @property
    def decided(self) -> bool:
        """True if at least one value is worse."""
        return bool(self.ranking.behind)

    def point(self, value: str) -> Point:
        """Return the point at a value."""
        return Point(self.controller, value)

    def claims(self) -> list[Claim]:
        """Return the claims of the choice."""
        first = self.ranking.first
        return [
            reading_claim(self.readings[first], self.measure, self.point(first)),
            *(
                claim_of(one, self.measure, self.point(one.one), self.point(one.other))
                for one in (*self.ranking.behind, *self.ranking.among)
            ),
        ]


def choices_of(facts: Facts) -> list[Choice]:
    """Rank the values of the key for every controller that they affect, at every figure with several readings."""
    if len(facts.values) < 2 or facts.seeds < 2:
        return []
    found = []
    for measure in facts.measures:
        for controller in facts.controllers:
            readings = facts.of(measure, {value: Point(controller, value) for value in facts.values})
            if controller not in facts.without_effect and len(readings) > 1:
                found.append(Choice(controller, measure, measure.ranked(readings), readings))
    return found


def answers(facts: Facts, choices: Sequence[Choice]) -> Iterator[Answer]:
    """Yield one answer for every best set of values of a controller: its most important figure, then the others."""
    grouped: dict[tuple[str, tuple[str, ...]], list[Choice]] = {}
    for choice in choices:
        if choice.decided:
            grouped.setdefault((choice.controller, choice.ranking.near), []).append(choice)
    for (_, near), (choice, *others) in grouped.items():
        who = f" with {choice.controller}" if len(facts.controllers) > 1 else ""
        lead = f"{facts.key} = {named_values(near, facts)}"
        has = "has" if len(near) == 1 else "have"
        verb, also = (has, "") if is_condition(facts.key) else ("for", "for ")
        text = f" {verb} the {superlative(choice.measure)} {choice.measure.title}{who}: {_told(facts, choice)}."
        claims = choice.claims()
        if others:
            words = [f"the {superlative(one.measure)} {one.measure.title}" for one in others[:2]]
            rest = f" and {counted(len(others) - 2, 'more figure')}" if len(others) > 2 else ""
            text += f" Also {also}{joined(words) if not rest else ', '.join(words) + rest}."
            claims += [claim for one in others for claim in one.claims()]
        text += _beyond(facts, choice)
        yield Answer(Kind.CHOICE, lead, text, tuple(claims))


def _beyond(facts: Facts, choice: Choice) -> str:
    """Say that the best value is at an end of those tried, unless nobody chooses it."""
    ranking = choice.ranking
    best = choice.readings[ranking.first]
    text = "" if is_condition(facts.key) else beyond(choice.measure, best, facts.key, facts.values, ranking.level)
    return f" {text}" if text else ""


def _told(facts: Facts, choice: Choice) -> str:
    """Write the reading of the best value, and the others' differences, the smallest first."""
    ranking, measure = choice.ranking, choice.measure
    text = value_text(choice.readings[ranking.first], measure.unit)
    text += f" at {ranking.first}" if ranking.among else ""
    text += qualified(facts, measure, choice.point(ranking.first), {v: choice.point(v) for v in choice.readings})
    parts = [
        f"{one.one} is {f'within 1{SPACE}%' if one.verdict is Verdict.ALIKE else 'not told apart'} "
        f"({difference_text(one, measure)})"
        for one in ranking.among
    ]
    behind = sorted(ranking.behind, key=lambda one: abs(one.surely.mean) if one.surely else 0.0)
    for one in behind:
        against = "" if one.other == ranking.first else f" than {one.other}"
        parts.append(f"{one.one} is {difference_text(one, measure)}{against}")
    more = len(parts) - LISTED
    return "; ".join([text, *parts[:LISTED], *([f"{more} more in the table"] if more > 0 else [])])


def named_values(level: Sequence[str], facts: Facts) -> str:
    """Name values: neighbours of an ordered axis as a range, others as a list."""
    at = [facts.values.index(value) for value in level]
    if facts.numeric and len(at) > 2 and at == list(range(at[0], at[-1] + 1)):
        return f"{level[0]} to {level[-1]}"
    return " or ".join(level)


def undecided(facts: Facts, choices: Sequence[Choice]) -> Iterator[Answer]:
    """Yield one answer a controller on the figures at which no value of the key is told apart."""
    for controller in facts.controllers:
        found = [choice for choice in choices if choice.controller == controller and not choice.decided]
        found = [choice for choice in found if any(one.verdict is not Verdict.ALIKE for one in choice.ranking.among)]
        if not found:
            continue
        who = f" for {controller}" if len(facts.controllers) > 1 else ""
        names = [choice.measure.title for choice in found]
        shown = joined(names) if len(names) <= LISTED else f"{', '.join(names[:LISTED])} and {len(names) - LISTED} more"
        pairs = [(choice.measure.title, one) for choice in found for one in choice.ranking.among]
        left = [c.measure.title for c in found if any(one.verdict is Verdict.OPEN for one in c.ranking.among)]
        open_ = f" Unfinished transfers leave {joined(left[:LISTED])} open." if left else ""
        yield Answer(
            Kind.UNDECIDED,
            f"No value of {facts.key} is told apart{who}",
            f" in {shown}.{open_}{seeds_text(pairs, facts.key)}",
            tuple(claim for choice in found for claim in choice.claims()),
        )


def seeds_text(pairs: Sequence[tuple[str, Apart]], key: str = "") -> str:
    """Say about how many more seeds would decide the first of some differences, or that none within reason would.

    Each difference comes with the title of its figure. ``key`` names the varied key, if the differences are between its
    values.
    """
    of = f"{key} = " if key else ""
    there = [(title, one) for title, one in pairs if one.verdict is Verdict.UNDECIDED]
    soon = [(one.seeds, title, one) for title, one in there if one.seeds is not None]
    if soon:
        seeds, title, nearest = min(soon, key=lambda found: found[0])
        which = f" in {title}" if len({title for title, _ in there}) > 1 else ""
        return (
            f" About {counted(seeds, 'more seed')} would tell {of}{nearest.one} from {nearest.other}{which}, if the "
            "difference stays as it is."
        )
    if there:
        return f" Differences of this size would need more than {MOST_SEEDS} seeds, or are below 1{SPACE}%."
    return ""
