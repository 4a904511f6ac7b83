"""Scenario against scenario, and the flows that crossed a failure: on a terminal and as a section of a report."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from html import escape
from itertools import product

from rich.console import Console

from incast.comparisons.comparison import Band, Comparison
from incast.comparisons.declaration import Controller
from incast.comparisons.ranking import MATTERS
from incast.comparisons.scenario_pairs import (
    Between,
    Crossing,
    between_scenarios,
    crossing,
    scenario_pairs,
    shares_between,
    slowdowns_between,
)
from incast.report import slowdowns, tables
from incast.report.figures import figures_of
from incast.report.numbers import is_clear_of_zero, shown_reading
from incast.report.tables import Column
from incast.runs.completions import MAXIMUM, Reading, name_of
from incast.runs.result import links_of
from incast.system.output import counted
from incast.writing.numbers import percent, rounded, said, with_interval


@dataclass(frozen=True)
class Compared:
    """A figure that two scenarios are compared in."""

    title: str
    """Title, with the unit of an absolute difference."""
    of: Callable[[str, str], Between | None]
    """Function from a controller's text and a value of the key."""
    scale: float = 100.0
    is_relative: bool = True

    def shown(self, controller: str, value: str) -> tuple[str, bool]:
        """Return the difference as a text, and whether its interval excludes zero."""
        between = self.of(controller, value)
        found = None if between is None else between.relative if self.is_relative else between.difference
        text = relative(between) if self.is_relative else signed(found, self.scale)
        is_clear = is_clear_of_zero(found, None if self.is_relative or between is None else between.other)
        return text, is_clear and (not self.is_relative or _is_a_percent(found))


def _is_a_percent(relative: Reading | None) -> bool:
    """Return whether a relative difference is at least 1 %."""
    ends = [] if relative is None else [abs(end.mean) for end in (relative.least, relative.most) if end is not None]
    return bool(ends) and min(ends) >= MATTERS


def compared(comparison: Comparison, one: str, other: str) -> Iterator[Compared]:
    """Yield what two scenarios are compared in: the share finished, slowdowns by size, and the report's figures."""
    both = (one, other)
    if any(run.sizes is not None for run in comparison.runs.values()):
        yield Compared("Share finished (% points)", partial(shares_between, comparison, both), is_relative=False)
    for band in comparison.bands(one):
        of = partial(_slowdown, comparison, both, band=band)
        name = slowdowns.name_of(comparison, [(one, band)], "p99")
        yield Compared(f"{name.capitalize() if name == MAXIMUM else name} slowdown, {band.label}", of)
    for figure in figures_of(comparison, one):
        between = partial(between_scenarios, comparison, one, other, key=figure.key)
        # losses, timeouts and indices may be 0, where there is no ratio
        title = figure.title if figure.log else figure.label
        yield Compared(title, between, figure.scale, figure.log)


def _slowdown(
    comparison: Comparison, scenarios: tuple[str, str], controller: str, value: str, band: Band
) -> Between | None:
    return slowdowns_between(comparison, scenarios, controller, value, band, "p99")


def crossing_line(found: Crossing, other: str | None) -> str:
    """Write the flows that crossed a failure: the unfinished ones first, then the p99 or maximum of their slowdowns."""
    text = f"flows over {links_of(found.links)}: {found.flows:,}"
    if found.count:
        part = f", {said(percent(found.unfinished / found.count))}" if found.unfinished else ""
        text += f", of which {found.unfinished:,} did not finish{part}"
    if found.slowdown is not None:
        text += f"; {name_of('p99', [found.slowdown, found.otherwise])} slowdown {shown_reading(found.slowdown)}"
    if other is not None and found.otherwise is not None:
        text += f"; the same flows in {other}: {shown_reading(found.otherwise)}"
    return text


def crossing_lines(comparison: Comparison, scenario: str) -> list[str]:
    """Return a line for each point of a scenario with failures."""
    study, lines = comparison.study, []
    other = dict(scenario_pairs(comparison)).get(scenario)
    names = dict(zip(study.scenarios, study.scenario_names(), strict=True))
    for value, c in product(study.values, study.controllers):
        found = crossing(comparison, scenario, c.text, value, other)
        if found is not None:
            where = _point(comparison, f"{study.key} = {value}", c, ", ")
            lines.append(f"{where}: {crossing_line(found, None if other is None else names[other])}")
    return lines


FACTOR = 9.0
"""Relative difference from which on a factor is written: ten times."""


def relative(between: Between | None) -> str:
    """Write a relative difference in per cent, or as a factor if it is large; no ratio is below -100 %."""
    reading = None if between is None else between.relative
    if between is None or reading is None:
        return shown_reading(None)
    least, ends = reading.least, [end.mean for end in (reading.least, reading.most) if end is not None]
    is_wild = reading.exact and least is not None and least.low < -1
    if max(ends, default=0.0) >= FACTOR:
        if is_wild:  # seed by seed the ratio is anything, as the other figure is near nothing under some seed
            means = [one.least.mean for one in (between.one, between.other) if one.least is not None]
            return f"some {rounded(means[0] / means[1], 2)} times"
        # the mean of one / other
        factor = Reading({s: x + 1 for s, x in reading.low.items()}, {s: x + 1 for s, x in reading.high.items()})
        return f"{shown_reading(factor)} times"
    if is_wild and least is not None:
        mean, interval = with_interval(100 * least.mean, -100, 100 * least.high)
        return f"{mean} % {interval}"
    text = signed(reading, 100.0)
    return f"{text} %" if text[-1:].isdigit() else text


def signed(reading: Reading | None, scale: float) -> str:
    """Write a difference with its sign."""
    text = shown_reading(reading, scale)
    is_above = reading is not None and reading.exact and reading.least is not None and reading.least.mean > 0
    return f"+{text}" if is_above else text


def print_tables(comparison: Comparison, console: Console) -> None:
    """Print the difference of each further scenario from the first one: a row a figure."""
    study = comparison.study
    names = dict(zip(study.scenarios, study.scenario_names(), strict=True))
    for one, other in scenario_pairs(comparison):
        figures = list(compared(comparison, one, other))
        columns = [
            Column(_point(comparison, value, c, "\n"), [figure.shown(c.text, value)[0] for figure in figures])
            for value, c in product(study.values, study.controllers)
        ]
        title = (
            f"{names[one]} less {names[other]}, under the same seed: means{_intervals(study.seeds)} over "
            f"{counted(study.seeds, 'seed')}"
        )
        tables.show(console, title, [Column("", [figure.title for figure in figures], "left")], columns)


def _point(comparison: Comparison, value: str, controller: Controller, between: str) -> str:
    """Name a point: its value of the key if there are several, and its controller."""
    return f"{value}{between}{controller.label}" if len(comparison.study.values) > 1 else controller.label


def _intervals(seeds: int) -> str:
    return " and 95 % intervals" if seeds > 1 else ""


def section(comparison: Comparison) -> str:
    """Return the section of a report; empty with a single scenario without failures."""
    study, parts = comparison.study, []
    names = dict(zip(study.scenarios, study.scenario_names(), strict=True))
    for one, other in scenario_pairs(comparison):
        points = list(product(study.values, study.controllers))
        heads = ["", *(_point(comparison, value, c, ", ") for value, c in points)]
        rows = []
        for figure in compared(comparison, one, other):
            cells = [figure.shown(c.text, value) for value, c in points]
            texts = [f"<b>{text}</b>" if is_clear else text for text, is_clear in cells]
            found = "".join(f"<td>{text}</td>" for text in texts)
            rows.append(f"<tr><th>{escape(figure.title)}</th>{found}</tr>")
        parts.append(
            f"<h3>{escape(names[one])} less {escape(names[other])}</h3><div class=wide><table><thead><tr>"
            f"{''.join(f'<th>{escape(head)}</th>' for head in heads)}</tr></thead>"
            f"<tbody>{''.join(rows)}</tbody></table></div>"
        )
    if parts:
        parts.insert(
            0,
            f'<p class="note">Both scenarios have the same flows under one seed: means{_intervals(study.seeds)} of the '
            "differences, seed by seed. Bold: the interval excludes zero. With unfinished flows a difference is given "
            "as bounds, or is open.</p>",
        )
    for scenario in study.scenarios:
        lines = crossing_lines(comparison, scenario)
        if lines:
            listed = "".join(f"<li>{escape(line)}</li>" for line in lines)
            parts.append(f"<h3>{escape(names[scenario])}: flows that crossed a failure</h3><ul>{listed}</ul>")
    if not parts:
        return ""
    return f'<section id="scenarios"><h2>Scenario against scenario</h2>{"".join(parts)}</section>'
