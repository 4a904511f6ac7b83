"""Report of a study: answer, heat maps or lines, tables; one HTML file, a table on a terminal, and readings as JSON."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from itertools import product
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure as Canvas
from rich.console import Console

from incast import _core
from incast.answers.answer import Answer, Kind
from incast.answers.showing import WIDTH, html_of, print_answers, wrapped
from incast.batch.store import Store
from incast.pictures import gallery, heat_map, inline
from incast.pictures.interval_plot import Footnote, Points, draw_points, fit_a_log_axis, y_axis
from incast.pictures.style import INK, abreast, dress, legend, new_canvas, places, x_axis
from incast.report import reproduce, simulated, study_answers, tables
from incast.report.arenas import Arenas, is_choice
from incast.report.cells import Cell, Cells, Group
from incast.report.document import PAGE, Page, contents, document, drawn
from incast.report.figures import Figure, axis_name, side_by_side
from incast.report.numbers import scaled, share_of, shown_reading
from incast.report.page_tables import cell_of
from incast.report.reproduce import Ran
from incast.report.study_figures import HEADLINE, KEYS, figures_of, in_their_units, silent
from incast.report.tables import Column
from incast.runs.completions import Reading
from incast.runs.described import Described, described
from incast.system.output import counted

CELLS = "cells.json"
"""File of the readings by cell."""
MOST_PANELS = 12
"""Most heat maps in a picture: more have a table alone."""
MOST_LISTED = 2000
"""Most rows of the table on the page."""
MOST_VALUES = 12
"""Most values of a key that are listed one by one."""
MOST_ROWS = 40
"""Most rows of the table on a terminal."""
BEST, UNTOLD = "*", "="
"""Marks on a terminal: the best of its arena, or those that are not told apart from the best mean."""


@dataclass
class Report:
    """A study to report on."""

    cells: Cells
    title: str
    again: str
    """Command that makes the runs and the report."""
    note: str = ""
    """Statement on unfinished runs."""
    names: dict[str, str] = field(default_factory=dict)
    """Labels of arms, if they are not their names."""
    remark: str = ""
    """Text below the title; empty without one."""

    @cached_property
    def arenas(self) -> Arenas:
        """Arenas in which cells compete."""
        return Arenas(self.cells)

    @cached_property
    def figures(self) -> list[Figure]:
        """Figures that some cell has."""
        return figures_of(self.cells)

    @cached_property
    def shown(self) -> list[Figure]:
        """The same figures in the units of sentences, tables and pictures."""
        return in_their_units(self.cells, self.figures)

    @cached_property
    def answers(self) -> list[Answer]:
        """Answers, with the statement on unfinished runs first."""
        noted = [Answer(Kind.WARNING, self.note, ".", ())] if self.note else []
        return [*noted, *study_answers.answers(self.arenas, self.shown)]

    @property
    def arm(self) -> str:
        """Word for an arm of the study."""
        return "controller" if self.names else "arm"

    def label(self, arm: str) -> str:
        """Name of an arm in the report."""
        return self.names.get(arm, arm)


def read(store: Store, study: str, again: str, note: str = "") -> Report:
    """Read the report of a finished study of a store."""
    cells = Cells.of(store, study, KEYS)
    scenarios = list(dict.fromkeys(group.scenario for group in cells.groups))
    arms = list(filter(None, dict.fromkeys(group.arm for group in cells.groups)))
    who = f"{', '.join(arms)} on {' and '.join(scenarios)}" if arms else " and ".join(scenarios)
    return Report(cells, f"{study}: {who}", again, note)


def write(report: Report, folder: Path, formats: Sequence[str] = ("png",)) -> Page:
    """Write ``report.html``, its pictures in these formats and ``cells.json`` into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    canvases = pictures(report)
    made = gallery.draw(canvases, formats)
    pngs = gallery.pngs(made)
    files = {CELLS: as_json(report), PAGE: html(report, inline.elements(canvases, pngs), formats)}
    gallery.write(folder, made, formats, files, lambda name: name.startswith("study-"))
    return Page(folder / PAGE, pngs)


# Pictures


def draw(report: Report, folder: Path, formats: Sequence[str]) -> tuple[list[str], list[str]]:
    """Draw the pictures into a folder; return the names of the files, and reasons for missing ones."""
    made = gallery.draw(pictures(report), formats)
    gallery.write(folder, made, formats)
    left_out = [one for one in report.shown if file_of(one) not in made]
    missing = [f"no {file_of(one)}: more keys or panels than a picture can show" for one in left_out]
    return [f"{picture}.{kind}" for picture in made for kind in formats], missing


def pictures(report: Report) -> dict[str, Canvas]:
    """Draw the figures that a picture shows better than a table, by file name without extension."""
    drawn: dict[str, Canvas] = {}
    for figure in report.shown:
        canvas = _picture(report, figure)
        if canvas is not None:
            drawn[file_of(figure)] = canvas
    return drawn


def file_of(figure: Figure) -> str:
    """Return the name of a figure's picture."""
    return f"study-{figure.name}"


def _picture(report: Report, figure: Figure) -> Canvas | None:
    """Draw a figure as heat maps over two keys, as lines over one, or with all arms side by side."""
    groups = report.cells.groups
    keys = list(dict.fromkeys(key for group in groups for key in group.axes))
    if len(keys) >= 2 and all(group.is_grid and len(group.axes) >= 2 for group in groups):
        return _maps(report, figure)
    if len(keys) == 1 and all(group.axes for group in groups):
        return _lines(report, figure, keys[0])
    return _dots(report, figure) if not keys and len(groups) > 1 else None


def _sides(group: Group) -> tuple[str, str]:
    """Return the keys on the x and the y axis of a heat map: a condition on the x axis, a choice on the y axis."""
    keys = list(group.axes)
    conditions = [key for key in keys if not is_choice(key)]
    x = conditions[0] if conditions else keys[0]
    return x, next(key for key in [*(k for k in keys if is_choice(k)), *keys] if key != x)


def _maps(report: Report, figure: Figure) -> Canvas | None:
    """Draw heat maps: a panel for each scenario, arm and value of further keys."""
    panels, sides = [], []
    first, own = report.arenas.first(figure), report.arenas.own(figure)
    for group in report.cells.groups:
        x, y = _sides(group)
        rest = [key for key in group.axes if key not in (x, y)]
        at = [list(group.axes).index(key) for key in (x, y)]
        for fixed in product(*(group.axes[key] for key in rest)):
            wanted = dict(zip(rest, fixed, strict=True)).items()
            inside = [cell for cell in group.cells if wanted <= dict(zip(group.axes, cell.values, strict=True)).items()]
            found = {(cell.values[at[0]], cell.values[at[1]]): cell for cell in inside}
            readings = {place: report.cells.reading(cell, figure.key) for place, cell in found.items()}
            means = {place: one.least.mean * figure.scale for place, one in readings.items() if one and one.least}
            texts = {place: _text(readings[place], figure) for place in means}
            words = [*_place(report, group), *(f"{k} = {v}" for k, v in zip(rest, fixed, strict=True))]
            if means:
                panels.append(
                    heat_map.Panel(
                        ", ".join(words),
                        group.axes[x],
                        group.axes[y],
                        means,
                        texts,
                        [place for place in means if found[place] in first],
                        [place for place in means if found[place] in own],
                    )
                )
                sides.append((x, y))
    if not panels or len(panels) > MOST_PANELS or len(set(sides)) > 1:
        return None
    return heat_map.draw(panels, axis_name(sides[0][0]), axis_name(sides[0][1]), figure.label)


def _text(reading: Reading | None, figure: Figure) -> str:
    return shown_reading(reading, figure.scale, interval=False)


def _place(report: Report, group: Group) -> list[str]:
    """Return the words that tell a group from the others: scenario and arm, if there are several."""
    groups = report.cells.groups
    words = [group.scenario] if len({one.scenario for one in groups}) > 1 else []
    return words + ([report.label(group.arm)] if group.arm else [])


def _lines(report: Report, figure: Figure, key: str) -> Canvas:
    """Draw lines over one key: a panel for each scenario, a line for each arm."""
    groups = report.cells.groups
    scenarios = list(dict.fromkeys(group.scenario for group in groups))
    arms = list(dict.fromkeys(group.arm for group in groups))
    columns = abreast(len(scenarios), 3)
    canvas = new_canvas(max(6.4, 4.9 * columns), 4.4 * -(-len(scenarios) // columns))
    panels = canvas.subplots(-(-len(scenarios) // columns), columns, squeeze=False).ravel().tolist()
    for unused in panels[len(scenarios) :]:
        unused.remove()
    panels, footnote, drawn = panels[: len(scenarios)], Footnote(), []
    for scenario in scenarios:
        own = [group for group in groups if group.scenario == scenario]
        x = places(list(dict.fromkeys(value for group in own for value in group.axes[key])))
        lines = []
        for group in own:
            by_value = {cell.values[0]: report.cells.reading(cell, figure.key) for cell in group.cells}
            kept = [(x.at[j], one) for j in x.order if (one := by_value.get(x.values[j])) is not None]
            name = report.label(group.arm) or scenario
            lines.append(Points(name, arms.index(group.arm), [at for at, _ in kept], [one for _, one in kept]))
        drawn.append((x, lines))
    log = figure.log and fit_a_log_axis([line for _, lines in drawn for line in lines])
    seen: list[float] = []
    for axes, scenario, (x, lines) in zip(panels, scenarios, drawn, strict=True):
        dress(axes)
        seen += draw_points(axes, lines, figure.scale, footnote, log)
        x_axis(axes, x)
        axes.set_xlabel(axis_name(key), fontsize=9, color=INK)
        axes.set_ylabel(figure.label, fontsize=9, color=INK)
        axes.set_title(scenario, fontsize=10, color=INK, loc="left", fontweight="bold")
    y_axis(panels, seen, log, figure.key == "flows.jain")
    legend(canvas, panels if len(arms) > 1 else [], footnote.note())
    return canvas


def _dots(report: Report, figure: Figure) -> Canvas:
    """Draw all groups side by side."""
    canvas, footnote = new_canvas(6.4, 4.0), Footnote()
    axes = canvas.subplots()
    dress(axes)
    found = [(group, report.cells.reading(group.cells[0], figure.key)) for group in report.cells.groups]
    lines = [Points("", i, [float(i)], [one]) for i, (_, one) in enumerate(found) if one is not None]
    log = figure.log and fit_a_log_axis(lines)
    seen = draw_points(axes, lines, figure.scale, footnote, log, join=False)
    side_by_side(axes, [", ".join(_place(report, group)) or group.scenario for group, _ in found])
    axes.set_ylabel(figure.label, fontsize=9, color=INK)
    y_axis([axes], seen, log, figure.key == "flows.jain")
    legend(canvas, [], footnote.note())
    return canvas


# Page


def html(report: Report, inside: Mapping[str, str], formats: Sequence[str] = ("png",)) -> str:
    """Make the page; ``inside`` has its pictures as elements."""
    cells, figures = report.cells, report.shown
    remark = f'<p class="lead">{escape(report.remark)}</p>' if report.remark else ""
    header = f"<header><h1>{escape(report.title)}</h1>{remark}{_lead(report)}</header>"
    top = simulated.screen(html_of(report.answers, _rules(report)), _cards(report), report.arenas.idle_notes())
    parts = []
    for figure in figures:
        parts.append(f'<section id="{escape(figure.name)}"><h2>{escape(figure.label)}</h2>')
        if file_of(figure) in inside:
            caption = f"{escape(figure.title)}; {figure.better} is better."
            parts.append(drawn(inside[file_of(figure)], file_of(figure), caption, formats))
        parts += [_matrix(report, group, figure) for group in cells.groups if len(group.axes) == 2 and group.is_grid]
        parts.append("</section>")
    if zero := silent(cells, figures):
        parts.append(f'<p class="note">0 in all cells: {escape(", ".join(zero))}.</p>')
    parts += [_numbers(report), _again(report)]
    return document(report.title, [header, *parts], contents([top, *parts]), top)


def _lead(report: Report) -> str:
    cells = report.cells
    made, asked = cells.count
    seeds = max(len(own) for own in cells.seeds.values())
    runs = counted(asked, "run") if made == asked else f"{made} of {counted(asked, 'run')} with figures"
    hops = scaled(cells.total("run.hops"))
    return f'<p class="lead">{counted(len(cells.cells), "point")}, {counted(seeds, "seed")}: {runs}, {hops} hops.</p>'


def _rules(report: Report) -> str:
    """Explain the marks of the answer and the pictures."""
    if not report.arenas.all:
        return ""
    return (
        '<p class="note">Cells compete under equal conditions: keys of traffic, topology and run are conditions, keys '
        "of controller, queue, transport and routing are choices, and so are arms. A cell is <b>best</b> if the "
        "95&nbsp;% interval of its paired difference to every other one, seed by seed, excludes zero and the means "
        "differ by 1&nbsp;% or more. Cells not told apart from the best mean are <b>level</b> if their means differ by "
        "at most 10&nbsp;%; of the others the runs do not show enough. In heat maps a thick outline marks the best "
        "cell of a condition, or all that are not told apart from the best mean, over all panels; a thin, dashed "
        "outline the same within the panel. No outline: nothing is told apart. By chance alone about 1 in 20 "
        "differences is told apart wrongly.</p>"
    )


def _cards(report: Report) -> str:
    """Return a card for each scenario: what its runs have in common, and what they do not."""
    cells = report.cells
    by_scenario: dict[str, list[Group]] = {}
    for group in cells.groups:
        by_scenario.setdefault(group.scenario, []).append(group)
    made: list[str] = []
    for scenario, groups in by_scenario.items():
        found = [one for group in groups for one in _described(report, group)]
        axes: dict[str, dict[str, None]] = {}
        for group in groups:
            for key, values in group.axes.items():
                axes.setdefault(key, {}).update(dict.fromkeys(values))
        rows = [("Varied", f"{key} = {_listed(list(values))}") for key, values in axes.items()]
        rows += simulated.together(found)
        seeds = dict.fromkeys(seed for group in groups for cell in group.cells for seed in cells.seeds[cell])
        rows = [
            (term, f"{text}, {simulated.seeds_text(list(seeds))}" if term == "Run" else text) for term, text in rows
        ]
        arms = [(report.label(group.arm), cells.governing[group.cells[0]]) for group in groups if group.arm]
        called = "Controllers" if report.names else "Arms"
        texts = (name if own in name else f"{name} (flows governed by {own})" for name, own in arms)
        rows += [(called, "; ".join(texts))] if arms else []
        fixed = {key: value for group in groups for key, value in group.fixed.items()}
        rows += [("Set", ", ".join(f"{key} = {value}" for key, value in fixed.items()))] if fixed else []
        whole = Described(found[0].name, found[0].description, tuple(rows), found[0].tiers)
        heading = f": {scenario}" if len(by_scenario) > 1 else ""
        made.append(simulated.card(whole, scenario, heading, bool(axes or fixed), first=not made))
    return "".join(made)


def _described(report: Report, group: Group) -> list[Described]:
    """Describe runs of a group, without keys of its queue that change nothing there."""
    idle = [name for root, _, name in (key.partition(".") for key in report.arenas.idle(group)) if root == "queue"]
    found = []
    for cell in _corners(group):
        resolved = tomllib.loads(report.cells.tomls[cell])
        queue = {name: value for name, value in resolved.get("queue", {}).items() if name not in idle}
        found.append(described(resolved | {"queue": queue}))
    return found


def _corners(group: Group) -> Sequence[Cell]:
    """Return cells that show every value of a group: of a grid those that differ from the first in one key at most."""
    first = group.cells[0].values
    if not group.is_grid:
        return group.cells
    return [cell for cell in group.cells if sum(a != b for a, b in zip(cell.values, first, strict=True)) <= 1]


def _listed(values: Sequence[str]) -> str:
    """Write the values of a key: all of a few, the ends of many."""
    if len(values) <= MOST_VALUES:
        return ", ".join(values)
    order = places(values).order
    return f"{values[order[0]]} to {values[order[-1]]}, {len(values)} values"


def _matrix(report: Report, group: Group, figure: Figure) -> str:
    """Return the table of a heat map, with intervals."""
    x, y = _sides(group)
    at = [list(group.axes).index(key) for key in (x, y)]
    found = {(cell.values[at[0]], cell.values[at[1]]): cell for cell in group.cells}
    first = report.arenas.first(figure)
    rows = ""
    columns, lines = ([group.axes[key][i] for i in places(group.axes[key]).order] for key in (x, y))
    for line in lines:
        own = "".join(
            cell_of(report.cells.reading(cell, figure.key), figure.scale, cell in first)
            for cell in (found[column, line] for column in columns)
        )
        rows += f"<tr><th>{escape(line)}</th>{own}</tr>"
    head = "".join(f"<th>{escape(value)}</th>" for value in columns)
    title = ", ".join(_place(report, group)) or group.scenario
    return (
        f'<h3>{escape(title)}</h3><div class="wide"><table><thead><tr><th>{escape(y)} by {escape(x)}</th>{head}</tr>'
        f"</thead><tbody>{rows}</tbody></table></div>"
    )


def _numbers(report: Report) -> str:
    """Return the table of all cells."""
    heads, rows = _heads(report), ""
    left = len(report.cells.cells) - MOST_LISTED
    more = f"{left:,} more points are not listed. " if left > 0 else ""
    marks = {figure.key: report.arenas.first(figure) for figure in report.shown}
    for cell in report.cells.cells[:MOST_LISTED]:
        begin = "".join(f"<th>{escape(text)}</th>" for text in _beginning(report, cell))
        own = "".join(cell_of(report.cells.reading(cell, f.key), f.scale, cell in marks[f.key]) for f in report.shown)
        rows += f"<tr>{begin}{own}<td>{len(report.cells.seeds[cell])}</td></tr>"
    head = "".join(f"<th>{escape(text)}</th>" for text in [*heads, *(f.label for f in report.shown), "runs"])
    return (
        '<section id="numbers"><h2>All numbers</h2><p class="note">Means ± half the 95&nbsp;% Student-t interval over '
        "the seeds. Bold: best of its condition, or not told apart from the best mean. A percentage in a cell is the "
        f"share that finished, if not all did. {more}The same as data: {reproduce.beside(CELLS, as_json(report))}.</p>"
        f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div></section>'
    )


def _heads(report: Report) -> list[str]:
    """Return the first columns: scenario and arm if there are several, and each key."""
    groups = report.cells.groups
    words = ["scenario"] if len({group.scenario for group in groups}) > 1 else []
    words += [report.arm] if any(group.arm for group in groups) else []
    return words + list(dict.fromkeys(key for group in groups for key in group.axes))


def _beginning(report: Report, cell: Cell) -> list[str]:
    known = {"scenario": cell.scenario, report.arm: report.label(cell.arm)} | _values(report, cell)
    return [known.get(head, "") for head in _heads(report)]


def _values(report: Report, cell: Cell) -> dict[str, str]:
    """Return the values of a cell by key."""
    group = next(one for one in report.cells.groups if (one.scenario, one.arm) == (cell.scenario, cell.arm))
    return dict(zip(group.axes, cell.values, strict=True)) | group.fixed


def _again(report: Report) -> str:
    cells = report.cells
    place = escape(str(cells.store.folder))
    body = (
        f"Incast {escape(_core.__version__)}. All runs are in the store <code>{place}</code>, study "
        f"<code>{escape(cells.study)}</code>."
    )
    return reproduce.section(report.again, body, _ran(report), _others(report)) + _file(report)


def _ran(report: Report) -> list[Ran]:
    """Return each scenario as its first run had it."""
    points = report.cells.store.points(report.cells.study)
    assert points is not None, "called with a study of the store"
    found: dict[str, Ran] = {}
    for row in points.select(["scenario", "arm", "values", "seeds", "toml"]).to_pylist():
        words = [f"{report.arm} {report.label(row['arm'])}"] if row["arm"] else []
        words += [f"{key} = {value}" for key, value in json.loads(row["values"]).items()]
        of = ", ".join([*words, f"seed {row['seeds'][0]}"])
        found.setdefault(row["scenario"], Ran(row["scenario"], row["toml"], of))
    return list(found.values())


def _others(report: Report) -> list[str]:
    """Return the words on what other runs have than the first one."""
    first, *others = report.cells.cells
    arms = list(dict.fromkeys(report.label(cell.arm) for cell in others if cell.arm != first.arm))
    found = [f"{report.arm} {' or '.join(arms)}"] if arms else []
    own, values = _values(report, first), [_values(report, cell) for cell in others]
    for key in dict.fromkeys(key for one in values for key in one):
        texts = dict.fromkeys(one[key] for one in values if key in one and one[key] != own.get(key))
        found += [f"{key} = {' or '.join(texts)}"] if texts else []
    seeds = list(dict.fromkeys(seed for own in report.cells.seeds.values() for seed in own))
    return found + ([f"seed {' or '.join(map(str, seeds[1:]))}"] if len(seeds) > 1 else [])


def _file(report: Report) -> str:
    """Return the file of the study, which the command names: one inside the store."""
    if report.names:  # a comparison, whose command says everything
        return ""
    cells = report.cells
    text = cells.store.checked(f"studies/{cells.study}/study.toml").decode()
    return reproduce.text_of(f"Study {cells.study}: its file", text)


# Terminal and data


def print_answer(report: Report, console: Console) -> None:
    """Print the answer, and a table of the first figures by cell."""
    print_answers(report.answers, console, CELLS)
    figures, cells = report.shown[:HEADLINE], report.cells.cells[:MOST_ROWS]
    begin = [_beginning(report, cell) for cell in cells]
    first = [
        Column(report.arenas.short.get(head, head), [row[i] for row in begin], "left")
        for i, head in enumerate(_heads(report))
    ]
    columns = []
    for figure in figures:
        marked = report.arenas.first(figure)
        alone = {cell for arena in report.arenas.all if (cell := report.arenas.standing(arena.cells, figure).best)}
        texts = []
        for cell in cells:
            reading = report.cells.reading(cell, figure.key)
            mark = BEST if cell in alone else UNTOLD if cell in marked else " "
            texts.append(f"{shown_reading(reading, figure.scale, interval=False)} {share_of(reading)}".strip() + mark)
        columns.append(Column(figure.short, texts))
    for text in report.arenas.idle_notes():
        _print_wrapped(console, f"{text}.")
    if columns and cells:
        seeds = max(len(own) for own in report.cells.seeds.values())
        tables.show(console, f"means over {counted(seeds, 'seed')}", first, columns)
        if len(report.cells.cells) > len(cells):
            console.print(f"{len(report.cells.cells) - len(cells)} more points: see the report", highlight=False)
        if any(mark in text for column in columns for text in column.cells for mark in (BEST, UNTOLD)):
            _print_wrapped(console, f"{BEST} best under its condition; {UNTOLD} not told apart from the best mean")


def _print_wrapped(console: Console, text: str) -> None:
    for line in wrapped(text, min(console.width, WIDTH)):
        console.print(line, highlight=False, markup=False, soft_wrap=True)


def as_json(report: Report) -> str:
    """Write every cell with its readings, and the marks, as JSON."""
    points = []
    for cell in report.cells.cells:
        row: dict[str, Any] = {"scenario": cell.scenario, "arm": cell.arm, "values": _values(report, cell)}
        row["seeds"] = list(report.cells.seeds[cell])
        for figure in report.shown:
            reading = report.cells.reading(cell, figure.key)
            row[figure.key] = None if reading is None else _reading_json(reading, cell in report.arenas.first(figure))
        points.append(row)
    data = {"study": report.cells.study, "answers": [one.json() for one in report.answers], "points": points}
    return json.dumps(data, indent=2) + "\n"


def _reading_json(reading: Reading, marked: bool) -> dict[str, Any]:
    found = {
        name: None if end is None else {"mean": end.mean, "half_width": end.half_width}
        for name, end in (("at_least", reading.least), ("at_most", reading.most))
    }
    return found | {"finished": reading.finished, "count": reading.count, "best_or_not_told_apart": marked}
