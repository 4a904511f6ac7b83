"""Controllers against each other at one value of the key."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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
from incast.answers.choices import LISTED, seeds_text
from incast.answers.facts import Facts, Point
from incast.answers.limits import carries, qualified
from incast.answers.measures import Measure
from incast.answers.paired import Apart, Ranking, Verdict, joined
from incast.runs.completions import Reading
from incast.system.output import counted
from incast.writing.numbers import SPACE

LITTLE = 0.5
"""Share of the highest throughput below which a low delay, loss or queue is no lead: it costs most of the traffic."""


@dataclass(frozen=True)
class Standing:
    """Order of the controllers at one figure and value."""

    measure: Measure
    points: Mapping[str, Point]
    """By controller."""
    readings: dict[str, Reading]
    ranking: Ranking

    @property
    def lead(self) -> Apart | None:
        """The best controller against the next, if it is told apart from all others."""
        first = self.ranking.first
        if len(self.ranking.level) > 1 or any(one.other != first for one in self.ranking.behind):
            return None
        others = {name: reading for name, reading in self.readings.items() if name != first}
        return self.measure.apart(first, self.measure.ranked(others).first, self.readings)

    @property
    def is_alike(self) -> bool:
        """Return whether no controller differs by a difference that matters, unless all have the best possible."""
        same = not self.ranking.behind and all(one.verdict is Verdict.ALIKE for one in self.ranking.among)
        return same and not all(map(self.measure.is_ideal, self.readings.values()))

    def among(self, order: Sequence[str]) -> list[Apart]:
        """Return the differences among the level controllers, the later one against the earlier."""
        pairs = [sorted((one.one, one.other), key=order.index) for one in self.ranking.among]
        return [self.measure.apart(later, earlier, self.readings) for earlier, later in pairs]

    def claim(self, one: Apart) -> Claim:
        """Return a difference as a claim."""
        return claim_of(one, self.measure, self.points[one.one], self.points[one.other])


def standings_of(facts: Facts, value: str) -> list[Standing]:
    """Rank the controllers at a value, at every figure with several readings."""
    if len(facts.controllers) < 2 or facts.seeds < 2:
        return []
    points = {name: Point(name, value) for name in facts.controllers}
    found = []
    for measure in facts.measures:
        readings = facts.of(measure, points)
        if len(readings) > 1:
            found.append(Standing(measure, points, readings, measure.ranked(readings)))
    return found


def answers(facts: Facts, value: str) -> Iterator[Answer]:
    """Yield who leads at which figures, figures that several controllers share, and what is undecided."""
    standings = standings_of(facts, value)
    where = f" at {facts.key} = {value}" if len(facts.values) > 1 else ""
    leads: dict[str, list[tuple[Standing, Apart]]] = {}
    starved: dict[str, list[tuple[Standing, Apart]]] = {}
    for standing in standings:
        if (lead := standing.lead) is not None:
            share = carries(facts, standing.points[lead.one], standing.points)
            little = share < LITTLE and not standing.measure.delivers
            (starved if little else leads).setdefault(lead.one, []).append((standing, lead))
    if leads:
        yield _leads(facts, leads, where, standings)
    for standing in standings:
        if standing.lead is None and standing.ranking.behind:
            yield _shared(facts, standing, where)
    for controller, found in starved.items():
        yield _starved(facts, controller, found, where)
    yield from _undecided(facts, standings, where)


def _leads(
    facts: Facts, leads: Mapping[str, list[tuple[Standing, Apart]]], where: str, standings: Sequence[Standing]
) -> Answer:
    """Say which controller is best at which of some figures."""
    pair, figures = len(facts.controllers) == 2, len(standings)
    parts, claims = [], []
    alike = [one for one in standings if one.is_alike]
    rest = f" Within 1{SPACE}%: {joined([one.measure.title for one in alike])}." if alike else ""
    for controller, found in leads.items():
        shown = []
        for standing, lead in found:
            against = "" if pair else f" than {lead.other}"
            shown.append(f"{standing.measure.title} {difference_text(lead, standing.measure)}{against}")
            claims += [standing.claim(lead), *(standing.claim(one) for one in standing.ranking.behind)]
        more = f", and {counted(len(shown) - LISTED, 'more figure')}" if len(shown) > LISTED else ""
        points = found[0][0].points
        little = dict.fromkeys(qualified(facts, standing.measure, points[controller], points) for standing, _ in found)
        parts.append((f"{controller}{''.join(little)}", f"{', '.join(shown[:LISTED])}{more}"))
    if len(leads) > 1:
        lead_text = f"{joined(list(leads))}{where}: a trade-off"
        return Answer(Kind.TRADE_OFF, lead_text, f". {'; '.join(map(': '.join, parts))}.{rest}", tuple(claims))
    (winner,) = leads
    others = [name for name in facts.controllers if name != winner]
    whom = others[0] if pair else "all others"
    count = "the only figure" if figures == 1 else f"{len(leads[winner])} of {figures} figures"
    ((name, text),) = parts
    but = f",{name.removeprefix(winner)}" if name != winner else ""
    return Answer(Kind.TRADE_OFF, f"{winner} leads {whom} in {count}{where}", f"{but}: {text}.{rest}", tuple(claims))


def _starved(facts: Facts, controller: str, found: Sequence[tuple[Standing, Apart]], where: str) -> Answer:
    """Say which figures of a controller are low because it carries little."""
    standing, _ = found[0]
    little = qualified(facts, standing.measure, standing.points[controller], standing.points)
    shown = [f"{one.measure.title} {difference_text(lead, one.measure)} than {lead.other}" for one, lead in found]
    more = f", and {counted(len(shown) - LISTED, 'more figure')}" if len(shown) > LISTED else ""
    claims = [one.claim(each) for one, lead in found for each in (lead, *one.ranking.behind)]
    text = f"{little}: {', '.join(shown[:LISTED])}{more}. That is no lead."
    return Answer(Kind.TRADE_OFF, f"{controller} carries little{where},", text, tuple(claims))


def _shared(facts: Facts, standing: Standing, where: str) -> Answer:
    """Say which controllers lead together, and how far behind the others are."""
    ranking, measure = standing.ranking, standing.measure
    text = value_text(standing.readings[ranking.first], measure.unit)
    but = qualified(facts, measure, standing.points[ranking.first], standing.points)
    apart = [one for one in ranking.among if one.verdict is not Verdict.ALIKE]
    parts = [f"{one.one} is not told apart ({difference_text(one, measure)})" for one in apart]
    parts += [
        f"{one.one} is {difference_text(one, measure)}" + ("" if one.other == ranking.first else f" than {one.other}")
        for one in ranking.behind
    ]
    more = [f"{len(parts) - LISTED} more in the table"] if len(parts) > LISTED else []
    level = joined(ranking.level)
    of = f" with {ranking.first}" if len(ranking.level) > 1 else ""
    return Answer(
        Kind.TRADE_OFF,
        level,
        f" for the {superlative(measure)} {measure.title}{where}: {text}{of}{but}; {'; '.join(parts[:LISTED] + more)}.",
        (
            reading_claim(standing.readings[ranking.first], measure, standing.points[ranking.first]),
            *(standing.claim(one) for one in (*ranking.behind, *ranking.among)),
        ),
    )


def _undecided(facts: Facts, standings: list[Standing], where: str) -> Iterator[Answer]:
    """Yield the differences among the level controllers that the runs do not decide."""
    open_, seeds = [], []
    for standing in standings:
        for one in standing.among(facts.controllers):
            if one.verdict is Verdict.UNDECIDED:
                seeds.append((standing, one))
            elif one.verdict is Verdict.OPEN:
                open_.append((standing, one))
    pair = len(facts.controllers) == 2
    if seeds:
        seeds.sort(key=lambda found: found[1].seeds or 10**9)
        shown = [
            f"{standing.measure.title} ({'' if pair else one.one + ' against ' + one.other + ': '}"
            f"{difference_text(one, standing.measure)})"
            for standing, one in seeds
        ]
        more = f", and {len(shown) - LISTED} more" if len(shown) > LISTED else ""
        further = seeds_text([(standing.measure.title, one) for standing, one in seeds])
        who = f", {facts.controllers[1]} against {facts.controllers[0]}" if pair else ""
        yield Answer(
            Kind.UNDECIDED,
            f"Undecided{where}",
            f"{who}: {', '.join(shown[:LISTED])}{more}.{further}",
            tuple(standing.claim(one) for standing, one in seeds),
        )
    if open_:
        titles = list(dict.fromkeys(standing.measure.title for standing, _ in open_))
        more = f" and {counted(len(titles) - LISTED, 'more figure')}" if len(titles) > LISTED else ""
        yield Answer(
            Kind.BOUND,
            f"Unfinished transfers leave open{where}",
            f" who is better in {', '.join(titles[:LISTED])}{more}. A longer run may decide, more seeds will not.",
            tuple(standing.claim(one) for standing, one in open_),
        )
