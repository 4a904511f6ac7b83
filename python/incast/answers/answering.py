"""Answers of a comparison, in their order: limits, choices, trade-offs, scenarios, then what the data leave open."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain

from incast.answers import between_scenarios, choices, controllers, limits
from incast.answers.answer import Answer, Claim, Kind
from incast.answers.choices import Choice
from incast.answers.facts import Facts, facts_of, is_condition
from incast.answers.paired import joined
from incast.comparisons.comparison import Comparison
from incast.comparisons.declaration import named
from incast.comparisons.scenario_pairs import scenario_pairs
from incast.errors import IncastError
from incast.runs.completions import ENOUGH
from incast.system.output import nearest
from incast.writing.numbers import SPACE

MOST_TITLES = 4
"""Figures that a sentence names."""

FIRST = 5
"""Answers that are shown; the others are folded."""

_ORDER = tuple(Kind)
_ORDER_OF_CONDITIONS = (
    Kind.WARNING,
    Kind.TRADE_OFF,
    Kind.SCENARIOS,
    Kind.CHOICE,
    *_ORDER[_ORDER.index(Kind.UNDECIDED) :],
)


def answers_of(comparison: Comparison) -> list[Answer]:
    """Return the answers of a comparison; at least one."""
    scenarios = comparison.study.scenarios
    facts = {scenario: facts_of(comparison, scenario) for scenario in scenarios}
    found = list(chain.from_iterable(_named(answers_to(one), one, len(scenarios)) for one in facts.values()))
    pairs = list(scenario_pairs(comparison))
    for one, other in pairs:
        value = _reference(facts[other], choices.choices_of(facts[other]))
        found += between_scenarios.crossed(comparison, (one, other), facts[one], facts[other], value)
        found += between_scenarios.answers(facts[one], facts[other], value)
    found = [answer for answer in found if answer.claims] or found[:1]
    return _ordered(found, comparison.study.key, paired=bool(pairs))


def answers_to(facts: Facts) -> list[Answer]:
    """Return the answers that the readings of one scenario carry."""
    if not any(any(reading.high.values()) for reading in facts.readings.values()):
        return [
            Answer(
                Kind.WARNING,
                "Nothing was delivered",
                " in the measured interval of any run.",
                (Claim("summary", "none", ""),),
            )
        ]
    found = choices.choices_of(facts)
    reference = _reference(facts, found)
    parts: list[Iterable[Answer]] = [
        limits.warnings(facts),
        choices.answers(facts, found),
        controllers.answers(facts, reference),
        choices.undecided(facts, found),
        *(controllers.answers(facts, value) for value in facts.values if value != reference),
        limits.bounds(facts),
        limits.same(facts),
        (_no_effect(facts, one) for one in facts.controllers if one in facts.without_effect),
    ]
    answers = list(chain.from_iterable(parts))
    if not answers and len(facts.points()) > 1:
        answers = [_no_difference(facts)]
    elif not answers:
        answers = [Answer(Kind.UNDECIDED, "Nothing to compare", ": one controller at one value.", ())]
    return _ordered(answers, facts.key)


def _no_difference(facts: Facts) -> Answer:
    """Say of which figures: the table has others."""
    points = {f"{point.controller} {point.value}": point for point in facts.points()}
    titles = [one.title for one in facts.measures if len(facts.of(one, points)) > 1]
    if len(titles) > MOST_TITLES:
        titles[MOST_TITLES - 1 :] = [f"{len(titles) - MOST_TITLES + 1} other figures"]
    rest = f" in {joined(titles)}, as far as these seeds show."
    return Answer(Kind.UNDECIDED, f"No difference of 1{SPACE}%", rest, (Claim("summary", "alike", ""),))


def best_of(comparison: Comparison, figure: str, scenario: str | None = None) -> tuple[str, str] | None:
    """Return the controller and the value that are told apart from all others at a figure.

    ``None`` if none is (as of controllers with the same runs), if too little finished, or if the point carries little.

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
    if any(point.controller in group for group in facts.alike):
        return None
    little = limits.qualified(facts, measures[figure], point, points)
    if little or readings[ranking.first].share < ENOUGH:
        return None
    return named(comparison.study.controllers)[point.controller].text, point.value


def shown_first(answers: Sequence[Answer]) -> tuple[list[Answer], list[Answer]]:
    """Split answers into those shown and those folded: the first of each kind, then the second, and so on.

    Undecided answers are two at most; bounds and keys without effect are shown if there are only warnings beside.
    """
    places: dict[Kind, list[int]] = {}
    for place, answer in enumerate(answers):
        places.setdefault(answer.kind, []).append(place)
    places[Kind.UNDECIDED] = places.get(Kind.UNDECIDED, [])[:2]
    turns = [places[kind][turn] for turn in range(FIRST) for kind in places if len(places[kind]) > turn]
    later = [place for place in turns if answers[place].kind in (Kind.BOUND, Kind.NO_EFFECT)]
    first = {place for place in turns if place not in later}
    if all(answers[place].kind is Kind.WARNING for place in first):
        first |= set(later)
    order = [place for place in turns if place in first][:FIRST]
    shown = [answer for place, answer in enumerate(answers) if place in order]
    return shown, [answer for place, answer in enumerate(answers) if place not in order]


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


def _ordered(answers: Iterable[Answer], key: str, paired: bool = False) -> list[Answer]:
    """Sort by kind, differences of ``paired`` scenarios before the choices; answers of a kind keep their order."""
    order = [*(_ORDER_OF_CONDITIONS if is_condition(key) else _ORDER)]
    if paired:
        order.remove(Kind.SCENARIOS)
        order.insert(order.index(Kind.WARNING) + 1, Kind.SCENARIOS)
    return sorted(answers, key=lambda answer: order.index(answer.kind))
