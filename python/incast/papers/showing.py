"""Descriptions of papers and figures: their parts, and the commands that run, change and copy them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from incast.papers import words
from incast.papers.copying import scenarios_of
from incast.papers.definition import SCALES, Claim, Figure, Measure, Paper, Point, Series
from incast.runs.scenario import Scenario, toml_value
from incast.system.output import counted


def of_paper(paper: Paper) -> Iterator[str]:
    """Yield the description of a paper, and its figures."""
    yield f"{paper.called()}: {paper.title}"
    yield paper.source
    if paper.aliases:
        yield f"also called {', '.join(paper.aliases)}"
    yield f"file: {paper.path}"
    yield ""
    yield paper.about
    yield ""
    yield "Figures"
    for figure in paper.figures.values():
        counts = f"{len(figure.series)} series, {counted(len(figure.claims), 'claim')}"
        yield f"  {paper.called(figure)}: {figure.title} ({figure.where}); {counts}"
    yield ""
    yield f"incast paper show {paper.called(next(iter(paper.figures.values())))} shows a figure."


def of_figure(paper: Paper, whole: Figure, scale: str) -> Iterator[str]:
    """Yield the parts of a figure at a scale, and the differences of other scales."""
    figure = whole.at(scale)
    yield f"{paper.called(figure)}: {figure.title}"
    yield figure.where
    yield ""
    yield figure.shows
    yield ""
    yield from _scenarios(paper, whole)
    yield f"Set in all runs: {_pairs(figure.settings) or 'nothing'}"
    yield f"Seeds: {figure.seeds}"
    yield ""
    yield "Series"
    yield from (_series(one) for one in figure.series)
    yield f"Points: {figure.x_label}"
    yield from (_point(one) for one in figure.points)
    yield "Measures"
    yield from (_measure(one) for one in figure.measures.values())
    yield from _claims(figure.claims)
    if figure.assumptions:
        yield "Assumptions (not stated in the paper)"
        yield from (f"  {text}" for text in figure.assumptions)
    yield from _published(figure)
    for other in (one for one in SCALES if one != scale):
        yield from _differences(figure, whole.at(other), scale, other)
    yield ""
    yield from _commands(paper, figure)


def _scenarios(paper: Paper, figure: Figure) -> Iterator[str]:
    names = scenarios_of(figure)
    if not names:
        yield "Scenario: none, every series is computed by a formula"
    for name in names:
        path = paper.folder / name
        beside = [one for one, _ in Scenario.load(path).files()]
        yield f"Scenario: {path}{f', which names {_listed(beside)}' if beside else ''}"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names)


def _pairs(table: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} = {toml_value(value)}" for key, value in table.items())


def _series(series: Series) -> str:
    if series.values:
        formulas = ", ".join(f"{name} = {ast.unparse(of)}" for name, of in series.values.items())
        return f"  {series.name}: computed, {formulas}"
    return f"  {series.name}{f': {_pairs(series.set)}' if series.set else ''}"


def _point(point: Point) -> str:
    parts = [_pairs(point.set)] if point.set else []
    parts += [f"scenario {point.scenario}"] if point.scenario else []
    parts += [f"rows with {_pairs(point.where)}"] if point.where else []
    parts += [f"from {point.span_s[0]:g} to {point.span_s[1]:g} s"] if point.span_s else []
    return f"  {point.x}: {'; '.join(parts)}" if parts else f"  {point.x}"


def _measure(measure: Measure) -> str:
    if measure.of is not None:
        return f"  {measure.name}: {measure.title}, {measure.of} of the summary"
    if measure.table is None:
        return f"  {measure.name}: {measure.title}, by formulas"
    over = f" over {measure.over}" if measure.over else ""
    by = f", summed by {measure.by}" if measure.by else ""
    where = f" where {_pairs(measure.where)}" if measure.where else ""
    return (
        f"  {measure.name}: {measure.title}, {measure.reduce} of {measure.column}{over}{by} of {measure.table}{where}"
    )


def _claims(claims: Sequence[Claim]) -> Iterator[str]:
    if claims:
        yield "Claims"
    for claim in claims:
        how = ", in each seed" if claim.each_seed else ", paired" if claim.paired else ""
        yield f"  {claim.says} ({claim.where}{how})"
        yield f"    {ast.unparse(claim.holds)}"
        yield from (f"    {note}" for note in words.notes(claim.unused))


def _published(figure: Figure) -> Iterator[str]:
    lines: dict[tuple[str, str], list[str]] = {}
    for one in figure.published:
        lines.setdefault((one.series, one.measure), []).append(f"{one.value:g} at {one.x}")
    if lines:
        yield "Published numbers"
    for (series, measure), values in lines.items():
        yield f"  {series}, {figure.measures[measure].title}: {', '.join(values)}"


def _differences(figure: Figure, other: Figure, scale: str, name: str) -> Iterator[str]:
    """Yield the differences of another scale from this one."""
    parts = []
    if figure.seeds != other.seeds:
        parts.append(f"{counted(other.seeds, 'seed')} instead of {figure.seeds}")
    if figure.points != other.points:
        parts.append(f"points {', '.join(str(point.x) for point in other.points)}")
        there = {point.x: point for point in figure.points}
        parts += [_point(one).strip() for one in other.points if one.x in there and there[one.x] != one]
    both = dict.fromkeys([*figure.settings, *other.settings])
    for key in (key for key in both if figure.settings.get(key) != other.settings.get(key)):
        value = other.settings.get(key)
        parts.append(f"{key} = {toml_value(value)}" if value is not None else f"{key} as in the scenario")
    yield f"Scale {name}: {'; '.join(parts) if parts else f'as scale {scale}'}"


def _commands(paper: Paper, figure: Figure) -> Iterator[str]:
    called = paper.called(figure)
    yield f"incast paper run {called}"
    if any(not one.values for one in figure.series):
        yield f"incast paper run {called} --set KEY=VALUE"
        yield f"incast paper show {called} --scenario first"
    yield f"incast paper copy {called} DIR"
