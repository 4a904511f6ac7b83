"""Answers of a comparison, in their order: limits, choices, trade-offs, scenarios, then what the data leave open."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain

from incast.answers import between_scenarios, choices, controllers, limits
from incast.answers.answer import Answer, Claim, Kind
from incast.answers.choices import Choice
from incast.answers.facts import Facts, facts_of
from incast.comparisons.comparison import Comparison
from incast.comparisons.declaration import named
from incast.errors import IncastError
from incast.system.output import nearest

FIRST = 5
"""Answers that are shown; the others are folded."""

_SHARE = {
    Kind.WARNING: 2,
    Kind.CHOICE: 2,
    Kind.TRADE_OFF: 1,
    Kind.SCENARIOS: 1,
    Kind.UNDECIDED: 2,
}
"""Answers of a kind among the first, at most, before decided ones fill what is left."""

_DECIDED = (Kind.WARNING, Kind.CHOICE, Kind.TRADE_OFF, Kind.SCENARIOS)

CONDITIONS = ("traffic.", "run.")
"""Prefixes of keys that nobody chooses: controllers are compared at each value before the values are."""

_ORDER = list(Kind)


def answers_of(comparison: Comparison) -> list[Answer]:
    """Return the answers of a comparison; at least one."""
    scenarios = comparison.study.scenarios
    facts = {scenario: facts_of(comparison, scenario) for scenario in scenarios}
    found = list(chain.from_iterable(_named(answers_to(one), one, len(scenarios)) for one in facts.values()))
    first, *others = scenarios
    for other in others:
        if between_scenarios.have_same_traffic(comparison, first, other):
            value = _reference(facts[first], choices.choices_of(facts[first]))
            found += between_scenarios.answers(facts[other], facts[first], value)
    return _ordered(found)


def answers_to(facts: Facts) -> list[Answer]:
    """Return the answers that the readings of one scenario carry."""
    found = choices.choices_of(facts)
    reference = _reference(facts, found)
    parts: list[Iterable[Answer]] = [
        limits.warnings(facts),
        choices.answers(facts, found),
        controllers.answers(facts, reference),
        choices.undecided(facts, found),
        *(controllers.answers(facts, value) for value in facts.values if value != reference),
        limits.bounds(facts),
        (_no_effect(facts, one) for one in facts.controllers if one in facts.without_effect),
    ]
    answers = list(chain.from_iterable(parts))
    if not answers:
        answers = [Answer(Kind.UNDECIDED, "Nothing to compare", ": one controller at one value.", ())]
    return _ordered(answers)


def best_of(comparison: Comparison, figure: str, scenario: str | None = None) -> tuple[str, str] | None:
    """Return the controller and the value that are told apart from all others at a figure; ``None`` if none is.

    Raises ``IncastError`` for a figure or a scenario that the comparison does not have.
    """
    scenarios = comparison.study.scenarios
    if scenario is None and len(scenarios) > 1:
        raise IncastError(f"best: expected a scenario, one of {', '.join(scenarios)}")
    if scenario is not None and scenario not in scenarios:
        raise IncastError(f'best: no scenario "{scenario}"{nearest(scenario, scenarios)}; has {", ".join(scenarios)}')
    facts = facts_of(comparison, scenario or scenarios[0])
    measures = {measure.key: measure for measure in facts.measures} | {one.title: one for one in facts.measures}
    if figure not in measures:
        known = list(dict.fromkeys(one.key for one in facts.measures))
        raise IncastError(f'best: no figure "{figure}"{nearest(figure, known)}; expected one of {", ".join(known)}')
    points = {
        f"{point.controller}, {point.value}": point
        for point in facts.points()
        if point.controller not in facts.without_effect or point.value == facts.values[0]
    }
    readings = facts.of(measures[figure], points)
    if len(readings) < 2 or len(readings) < len(points):
        return None
    ranking = measures[figure].ranked(readings)
    if len(ranking.level) > 1 or any(one.other != ranking.first for one in ranking.behind):
        return None
    point = points[ranking.first]
    return named(comparison.study.controllers)[point.controller].text, point.value


def shown_first(answers: Sequence[Answer]) -> tuple[list[Answer], list[Answer]]:
    """Split answers into those shown and those folded, each in their order."""
    left, first = dict(_SHARE), list[Answer]()
    for answer in answers:
        if left.get(answer.kind, 0) and len(first) < FIRST:
            left[answer.kind] -= 1
            first.append(answer)
    for answer in answers:
        if (answer.kind in _DECIDED or not first) and len(first) < FIRST and all(answer is not one for one in first):
            first.append(answer)
    shown = [answer for answer in answers if any(answer is one for one in first)]
    return shown, [answer for answer in answers if all(answer is not one for one in first)]


def _reference(facts: Facts, found: Sequence[Choice]) -> str:
    """Return the value at which controllers are compared first: the best at the first figure that decides one."""
    return next((choice.ranking.first for choice in found if choice.decided), facts.values[0])


def _no_effect(facts: Facts, controller: str) -> Answer:
    return Answer(
        Kind.NO_EFFECT,
        f"{facts.key} has no effect on {controller}",
        ": all its values give the same figures under every seed.",
        (Claim("summary", "alike", "", controller=controller),),
    )


def _named(answers: Iterable[Answer], facts: Facts, scenarios: int) -> list[Answer]:
    """Name the scenario of answers, if the comparison has several."""
    if scenarios == 1:
        return list(answers)
    return [
        replace(
            answer,
            scenario=facts.scenario,
            claims=tuple(replace(claim, scenario=facts.scenario) for claim in answer.claims),
            lead=f"{facts.scenario}: {answer.lead}",
        )
        for answer in answers
    ]


def _ordered(answers: Iterable[Answer]) -> list[Answer]:
    """Sort by kind; answers of a kind keep their order."""
    return sorted(answers, key=lambda answer: _ORDER.index(answer.kind))
