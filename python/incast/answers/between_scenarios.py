"""Two scenarios of a comparison against each other, seed by seed, where they carry the same traffic."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from incast.answers.answer import Answer, Claim, Kind, claim_of, difference_text, value_text
from incast.answers.choices import LISTED
from incast.answers.facts import Facts, Point
from incast.answers.limits import at
from incast.answers.measures import SHARE, Measure
from incast.answers.paired import Apart, Verdict
from incast.comparisons.comparison import Comparison
from incast.comparisons.declaration import named
from incast.comparisons.scenario_pairs import crossing
from incast.runs.completions import name_of
from incast.runs.result import links_of
from incast.system.output import counted

CROSSED_SLOWDOWN = "crossed_failure.slowdown_p99"
"""Figure of claims about the flows that crossed a failure, and about the same flows without it."""


def answers(one: Facts, other: Facts, value: str) -> Iterator[Answer]:
    """Yield for every controller what differs between two scenarios at a value of the key, the share finished first."""
    measures = sorted(one.measures, key=lambda measure: measure.key != SHARE)
    for controller in one.controllers:
        point = Point(controller, value)
        readings = {
            measure: {
                name: reading
                for facts in (one, other)
                for name, reading in facts.of(measure, {facts.scenario: point}).items()
            }
            for measure in measures
        }
        found = [
            (measure, measure.apart(one.scenario, other.scenario, both))
            for measure, both in readings.items()
            if len(both) == 2
        ]
        decided = [(m, p) for m, p in found if p.verdict in (Verdict.BETTER, Verdict.WORSE)]
        rest = [(m, p) for m, p in found if p.verdict in (Verdict.UNDECIDED, Verdict.OPEN)]
        where = at(one, point, "at")
        lead = f"{one.scenario} against {other.scenario}{f', {where}' if where else ''}"
        if one.seeds > 1 and (decided or rest):
            yield Answer(Kind.SCENARIOS, lead, _text(decided, rest), _claims([*decided, *rest], point, one, other))


def crossed(
    comparison: Comparison, scenarios: tuple[str, str], one: Facts, other: Facts, value: str
) -> Iterator[Answer]:
    """Yield for every controller how the flows that crossed a failure fared in two scenarios, at a value of the key."""
    texts = {name: controller.text for name, controller in named(comparison.study.controllers).items()}
    for controller in one.controllers:
        found = crossing(comparison, scenarios[0], texts[controller], value, scenarios[1])
        if found is None or found.slowdown is None:
            continue
        where = at(one, Point(controller, value), "at")
        late = f" {found.unfinished:,} did not finish." if found.unfinished else ""
        beside = "" if found.otherwise is None else f"; {value_text(found.otherwise, '')} for them in {other.scenario}"
        name = name_of("p99", [found.slowdown, found.otherwise])
        text = f": {name} slowdown {value_text(found.slowdown, '')}{beside}.{late}"
        lead = f"{counted(found.flows, 'flow')} crossed {links_of(found.links)}{f', {where}' if where else ''}"
        claims = [
            Claim(CROSSED_SLOWDOWN, "is", "", False, name, controller, value, mean=reading.least.mean)
            for name, reading in ((one.scenario, found.slowdown), (other.scenario, found.otherwise))
            if reading is not None and reading.least is not None
        ]
        yield Answer(Kind.SCENARIOS, lead, text, tuple(claims))


def _text(decided: Sequence[tuple[Measure, Apart]], rest: Sequence[tuple[Measure, Apart]]) -> str:
    shown = [f"{measure.title} {difference_text(pair, measure)}" for measure, pair in decided[: LISTED + 1]]
    more = f", and {counted(len(decided) - LISTED - 1, 'more figure')}" if len(decided) > LISTED + 1 else ""
    text = f": {', '.join(shown)}{more}." if shown else ": no figure is told apart."
    if rest:
        names = [f"{measure.title} ({difference_text(pair, measure)})" for measure, pair in rest[:2]]
        further = f" and {len(rest) - 2} more" if len(rest) > 2 else ""
        text += f" Not decided: {', '.join(names)}{further}."
    return text


def _claims(pairs: Sequence[tuple[Measure, Apart]], point: Point, one: Facts, other: Facts) -> tuple[Claim, ...]:
    return tuple(
        claim_of(pair, measure, point, point, scenario=one.scenario, other_scenario=other.scenario)
        for measure, pair in pairs
    )
