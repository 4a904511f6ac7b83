"""Scope of a claim at a scale: its points and seeds that are run, and settings that differ from the paper's."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from incast.papers import expression
from incast.papers.definition import Claim, Figure, Paper, Point, Series, X
from incast.papers.judging import reads
from incast.system.output import counted

WHOLE = "paper"
"""Scale of the whole claims: all points, and runs of the paper's length."""

NAMED = 8
"""Most points that are listed; beyond that only the first and the last."""


def left_of(paper: Paper, whole: Figure, figure: Figure, claim: Claim) -> str:
    """Return the part of a claim that a figure covers at its scale, compared with ``whole``; empty for all of it.

    Points are those that the claim's expression uses at both scales, settings those of their runs. Fewer seeds make a
    part unless the claim is paired, since intervals of paired differences reflect them.
    """
    here, there = _asked(figure, claim), _asked(whole, claim)
    asked, all_ = {x for _, _, x in here}, {x for _, _, x in there}
    mine = [point.x for point in figure.points if point.x in asked]
    parts = []
    if asked != all_:
        parts.append(_listed(mine, len(all_)))
    run = [series for series in figure.series if not series.values and series.name in {name for _, name, _ in here}]
    seeds = whole.fewer_than or whole.seeds
    if run and not claim.paired and figure.seeds < seeds:
        parts.append(f"{figure.seeds} of {counted(seeds, 'seed')}")
    changed: dict[str, tuple[Any, Any]] = {}
    points = {point.x: point for point in whole.points}
    for point in figure.points:
        if point.x in mine and point.x in points:
            for series in run:
                changed |= _changed(paper, series, (figure, point), (whole, points[point.x]))
    parts += [f"{key} {_text(ours)} of {_text(theirs)}" for key, (ours, theirs) in changed.items()]
    return "; ".join(parts)


def _asked(figure: Figure, claim: Claim) -> Collection[tuple[str, str, X]]:
    """Return the numbers that a claim uses, by measure, series and point; all if unknown."""
    found = reads(figure, claim)
    if not found.ended:
        return found.places
    names = [name for name in figure.measures if expression.calls(claim.holds, [name])]
    return [(name, series.name, point.x) for name in names for series in figure.series for point in figure.points]


def _listed(points: list[X], of: int) -> str:
    if len(points) > NAMED:
        return f"{len(points)} of {of} points, from {points[0]} to {points[-1]}"
    if not points:
        return f"none of {of} points"
    *most, last = points
    text = f"{', '.join(f'{x}' for x in most)} and {last}" if most else f"{last}"
    return f"{text} of {of} points"


def _changed(
    paper: Paper, series: Series, ours: tuple[Figure, Point], theirs: tuple[Figure, Point]
) -> dict[str, tuple[Any, Any]]:
    """Return the settings that differ between two scales in a series' runs at a point, with both values."""
    sets = [{**figure.settings, **series.set, **point.set, **_beside(point)} for figure, point in (ours, theirs)]
    keys = [key for key in {**sets[0], **sets[1]} if sets[0].get(key) != sets[1].get(key)]
    if not keys:
        return {}
    # a key set at one scale may be the scenario's at the other
    documents = [paper.scenario(figure, series, point).resolved() for figure, point in (ours, theirs)]
    values = {key: [_of(one, key, made.get(key)) for one, made in zip(documents, sets, strict=True)] for key in keys}
    return {key: (mine, its) for key, (mine, its) in values.items() if mine != its}


def _beside(point: Point) -> dict[str, Any]:
    """Return the further keys of a point as settings."""
    beside = {"scenario": point.scenario, "span_s": point.span_s, "where": dict(point.where) or None}
    return {key: value for key, value in beside.items() if value is not None}


def _of(document: Any, key: str, otherwise: Any) -> Any:
    """Read a setting of a resolved scenario; of a list of tables that with a name or number, or the first."""
    for part in key.split("."):
        if isinstance(document, list):
            named = {**{f"{i}": one for i, one in enumerate(document)}, **{one.get("name"): one for one in document}}
            document = named[part] if part in named else document[0].get(part)
        elif isinstance(document, Mapping) and part in document:
            document = document[part]
        else:
            return otherwise
    return document


def _text(value: Any) -> str:
    return "unset" if value is None else f"{value}"
