"""Limits of the data: what the runs of a comparison cannot show."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from incast.answers.answer import Answer, Claim, Kind, value_text
from incast.answers.facts import Facts, Point
from incast.answers.measures import Measure
from incast.answers.paired import joined
from incast.comparisons.ranking import CARRIES
from incast.runs.completions import ENOUGH, NAMES, STATISTICS, Reading
from incast.runs.result import ENDING
from incast.system.output import counted
from incast.writing.numbers import SPACE, duration, percent

IDLE = 0.1
"""Share of the highest throughput below which a controller's delay, loss and queue describe an idle network."""


ONE_SEED = "One seed has no interval", ": no difference is decided. Use at least three seeds."
"""Beginning and rest of the sentence on what one seed cannot show."""


def warnings(facts: Facts) -> Iterator[Answer]:
    """Yield the limits that could mislead, the worst first."""
    yield from (_alike(group) for group in facts.alike if facts.controllers[0] in group and len(facts.controllers) == 1)
    if (late := _unfinished(facts)) is not None and late.kind is Kind.WARNING:
        yield late
    yield from _short(facts, Kind.WARNING)
    if facts.seeds == 1:
        yield Answer(
            Kind.WARNING,
            *ONE_SEED,
            (Claim("seeds", "single", "", mean=1),),
        )
    yield from _idle(facts)


def bounds(facts: Facts) -> Iterator[Answer]:
    """Yield the limits that leave some figures open."""
    if (late := _unfinished(facts)) is not None and late.kind is Kind.BOUND:
        yield late
    yield from _short(facts, Kind.BOUND)
    yield from _open(facts)
    yield from _few(facts)


def same(facts: Facts) -> Iterator[Answer]:
    """Yield the groups of some controllers that have the same figures."""
    yield from (_alike(group, Kind.NO_EFFECT) for group in facts.alike if len(facts.controllers) > 1)


def _alike(group: Sequence[str], kind: Kind = Kind.WARNING) -> Answer:
    return Answer(
        kind,
        f"{joined(group)} have the same figures",
        " in every run: which of them is set changes nothing here.",
        tuple(Claim("summary", "alike", "", controller=name) for name in group),
    )


def carries(facts: Facts, point: Point, others: Mapping[str, Point]) -> float:
    """Return the throughput of a point as a share of the highest of some points; 1 if it is not known."""
    rates = {p: found for p in (point, *others.values()) if (found := _rate(facts, p)) is not None}
    most = max(rates.values(), default=0.0)
    return rates.get(point, most) / most if most > 0 else 1.0


def qualified(facts: Facts, measure: Measure, point: Point, others: Mapping[str, Point]) -> str:
    """Return what qualifies a good reading of a point that carries little; empty otherwise."""
    share = carries(facts, point, others)
    if measure.delivers or share >= CARRIES:
        return ""
    return f" with {percent(share)} of the highest throughput"


def _rate(facts: Facts, point: Point) -> float | None:
    reading = facts.throughput.get(point)
    found = None if reading is None else reading.least
    return None if found is None else found.mean


def at(facts: Facts, point: Point, beginning: str = "at") -> str:
    """Name a point in a sentence: with its controller and its value, where there are several."""
    words = [point.controller] if len(facts.controllers) > 1 else []
    if len(facts.values) > 1:
        words.append(f"{beginning} {facts.key} = {point.value}" if words else f"{facts.key} = {point.value}")
    return " ".join(words)


def _unfinished(facts: Facts) -> Answer | None:
    """Return the answer about transfers that did not finish; a warning if that is more than a few."""
    late = []
    for point, parts in facts.began.items():
        for part, (finished, count) in parts.items():
            if finished < count:
                late.append((finished / count, part, point, finished, count))
    if not late:
        return None
    lead, rest = unfinished([(part, at(facts, point), finished, count) for _, part, point, finished, count in late])
    claims = tuple(
        Claim(f"{part}.unfinished", "is", "%", controller=p.controller, value=p.value, mean=100 * (1 - one))
        for one, part, p, _, _ in late
    )
    return Answer(
        Kind.WARNING if min(one[0] for one in late) < ENOUGH else Kind.BOUND,
        lead,
        rest,
        claims,
    )


CHANGED = "Figures that they could still change are bounds (≥)."


def unfinished(late: Sequence[tuple[str, str, int, int]]) -> tuple[str, str]:
    """Return the beginning and the rest of sentences on the worst of some cases in which transfers did not finish.

    A case is the part of the summary, words for the place, and the numbers that finished and that began.
    """
    part, where, finished, count = min(late, key=lambda one: one[2] / one[3])
    several = (
        f", in the worst of {len(late)} cases ({where})" if len(late) > 1 and where else f" ({where})" if where else ""
    )
    return (
        f"{percent(1 - finished / count)} of {ENDING[part]} did not finish",
        f"{several}: {count - finished:,} of {count:,}. "
        + ("Iteration times are those of the others." if part == "jobs" else CHANGED),
    )


def _short(facts: Facts, kind: Kind) -> Iterator[Answer]:
    """Yield the flows that wait for timers beyond the end of the runs: a warning if they are more than a few."""
    timers = facts.timers
    if timers is None or (timers.waiting > 1 - ENOUGH) != (kind is Kind.WARNING):
        return
    slow = []
    if timers.unopened:
        slow.append(f"{timers.unopened:,} never opened, and a lost SYN is sent again after {duration(timers.syn_s)}")
    if timers.lossy:
        lost = f"{timers.lossy:,} lost packets and were silent until the end"
        least = f"a timeout takes {duration(timers.rto_s)} at least"
        slow.append(f"{lost}, and {'no timeout repeats them' if timers.rto_s == math.inf else least}")
    yield Answer(
        kind,
        f"Runs of {duration(timers.run_s)} are too short for timeouts",
        f": of {counted(timers.flows, 'flow')} in the worst run, {'; '.join(slow)}.",
        tuple(
            Claim(f"timers.{name}", "is", "s", mean=found)
            for name, found in (("run", timers.run_s), ("rto_min", timers.rto_s), ("syn_timeout", timers.syn_s))
            if found < math.inf
        ),
    )


def _idle(facts: Facts) -> Iterator[Answer]:
    """Yield a warning for each controller that carries little at some value."""
    for controller in facts.controllers:
        found = []
        for value in facts.values:
            point = Point(controller, value)
            share = carries(facts, point, {name: Point(name, value) for name in facts.controllers})
            if share < IDLE:
                found.append((share, point))
        if found:
            share, point = min(found, key=lambda one: one[0])
            where = f" at {facts.key} = {point.value}" if len(facts.values) > 1 else ""
            yield Answer(
                Kind.WARNING,
                f"{controller} sends only {percent(share)} of the highest throughput{where}",
                ": its delay, loss and queue describe an almost idle network.",
                tuple(
                    Claim("throughput.share", "is", "%", controller=p.controller, value=p.value, mean=100 * one)
                    for one, p in found
                ),
            )


def _open(facts: Facts) -> Iterator[Answer]:
    """Yield one answer on the figures that unfinished transfers leave open everywhere."""
    found = []
    for measure in facts.measures:
        readings = facts.of(measure, {at(facts, p) or p.controller: p for p in facts.points()})
        if readings and all(not reading.exact for reading in readings.values()):
            found.append((measure, readings))
    if found:
        shown = [
            f"{measure.title}, {value_text(min(readings.values(), key=_least), measure.unit)}"
            for measure, readings in found[:2]
        ]
        more = f" and {counted(len(found) - 2, 'more figure')}" if len(found) > 2 else ""
        yield Answer(
            Kind.BOUND,
            "Bounds only",
            f" at every point: {'; '.join(shown)}{more}. A longer run would show more.",
            tuple(Claim(measure.key, "open", measure.unit) for measure, _ in found),
        )


def _least(reading: Reading) -> float:
    return min(reading.low.values())


def _from(few: float) -> str:
    return f"from{SPACE}{few:,.0f}" if few >= 1 else "less than one"


def _few(facts: Facts) -> Iterator[Answer]:
    """Yield one answer on percentiles of fewer transfers than they need: each is the slowest one."""
    found: dict[str, list[tuple[Measure, float]]] = {}
    for measure in facts.measures:
        counts = [r.count for p in facts.points() if (r := facts.readings.get((measure.key, p))) is not None]
        if measure.statistic != "p99" or NAMES["p99"] not in measure.title or not any(counts):
            continue
        few = min(count for count in counts if count) / facts.seeds
        for name in ("p99", "p999"):
            fraction = STATISTICS[name]
            if fraction is not None and few < 1 / (1 - fraction):
                found.setdefault(name, []).append((measure, few))
                break
    for name, measures in found.items():
        sizes = [f"{measure.title.removeprefix('p99 ')} ({_from(few)}{SPACE}a seed)" for measure, few in measures[:3]]
        more = f" and {len(measures) - 3} more" if len(measures) > 3 else ""
        least = "100" if name == "p99" else "1,000"
        yield Answer(
            Kind.BOUND,
            f"Too few transfers for {NAMES[name]}",
            f": {', '.join(sizes)}{more}. With fewer than {least} it is the slowest one.",
            tuple(Claim(measure.key, f"few for {name}", "", mean=few) for measure, few in measures),
        )
