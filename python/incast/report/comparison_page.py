"""Report of a comparison: one self-contained HTML file, and its pictures as files."""

from __future__ import annotations

import base64
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from html import escape
from importlib.resources import files
from itertools import product
from pathlib import Path

from rich.console import Console

from incast import _core
from incast.comparisons.comparison import Band, Comparison, Run, aggregate_json
from incast.comparisons.declaration import ComparisonStudy, Controller, named
from incast.comparisons.scenario_pairs import paired_json
from incast.pictures import gallery
from incast.report import badges, glossary, locality, run_index, scenario_pairs, slowdowns, tables
from incast.report.figures import Figure, axis_name, draw_all, figures_of
from incast.report.numbers import duration, is_clear_of_zero, scaled, share_of, shown_reading
from incast.report.run_index import RUNS
from incast.report.tables import Column
from incast.runs.completions import NAMES, STATISTICS, Reading
from incast.runs.result import COMPLETIONS
from incast.system.output import counted
from incast.view import chosen

PAGE = "report.html"

STEMS = (
    "throughput",
    "loss",
    "delay-",
    "timeouts",
    "queue",
    "fairness",
    "fct-",
    "queries-",
    "writes-",
    "paus",
    "slowdown-",
    "over-time",
)
"""Prefixes of the names of pictures."""


@dataclass(frozen=True)
class Page:
    """A report that was written."""

    path: Path
    pictures: dict[str, bytes]
    """Pictures as PNG, whatever formats they were written in."""


def write(comparison: Comparison, formats: Sequence[str] = ("png",)) -> Page:
    """Write ``report.html``, its pictures in these formats and ``comparison.json`` into the comparison's folder."""
    drawn, by_size = draw_all(comparison), slowdowns.draw(comparison)
    drawn.pictures |= by_size.pictures
    drawn.left_out |= by_size.left_out
    pictures = gallery.draw(drawn.pictures, formats)
    pngs = gallery.pngs(pictures)
    shown = [figure.key for figure in figures_of(comparison)]
    files = {
        "comparison.json": aggregate_json(comparison, shown, paired_json(comparison, shown)),
        RUNS: run_index.of(comparison.study, comparison.home),
        PAGE: html(comparison, pngs, drawn.left_out, formats),
    }
    gallery.write(comparison.folder, pictures, formats, files, lambda name: name.startswith(STEMS))
    return Page(comparison.folder / PAGE, pngs)


BEST, UNDOMINATED = "*", "◆"
"""Marks on a terminal."""


def print_table(comparison: Comparison, console: Console, paired: bool = False) -> None:
    """Print one table of means per scenario; with ``paired`` the differences from the first controller."""
    study = comparison.study
    first = study.controllers[0]
    shown = study.controllers[1:] if paired else study.controllers
    for scenario, name in zip(study.scenarios, study.scenario_names(), strict=True):
        figures = figures_of(comparison, scenario)
        seeds = f"{study.seeds} seed{'s' * (study.seeds > 1)}"
        paired_title = f"difference from {first.label} under the same seed, means and 95 % intervals over"
        what = paired_title if paired else "means over"
        points = [(value, controller) for value in study.values for controller in shown]
        at = {} if paired else {value: badges.of_point(comparison, scenario, value, figures) for value in study.values}
        columns = []
        for figure in figures:
            cells = [_cell(comparison, scenario, *point, figure, paired) for point in points]
            best = [bool(at) and at[value].best[figure.key] == c.text for value, c in points]
            columns.append(Column(figure.short, _marked(cells, best)))
        front = [bool(at) and c.text in at[value].front for value, c in points]
        labels = _marked([controller.label for _, controller in points], front, f" {UNDOMINATED}")
        title = f"{name}: {what} {seeds}"
        tables.show(console, title, _beginning(comparison, points, labels), columns, _ends(points, shown))
        notes = without_datagrams(comparison, scenario)
        if not paired:
            _print_slowdowns(comparison, scenario, name, console)
            crossed = scenario_pairs.crossing_lines(comparison, scenario)
            notes += [*crossed, *unfinished(comparison, scenario), *notes_of(comparison, scenario)]
        for text in notes:
            console.print(text, highlight=False, soft_wrap=True)
    if not paired:
        scenario_pairs.print_tables(comparison, console)
    if not paired and badges.possible(comparison):
        console.print(badges.meaning(BEST), highlight=False, soft_wrap=True)


Point = tuple[str, Controller]
"""Row of a table: a value of the varied key, and a controller."""


def _beginning(comparison: Comparison, points: Sequence[Point], labels: Sequence[str]) -> list[Column]:
    """Return the first columns of a table: the value of the key, without repetition, and the controller."""
    key = comparison.study.key
    begins = [value if i == 0 or points[i - 1][0] != value else "" for i, (value, _) in enumerate(points)]
    return [Column(".".join(key.split(".")[1:][-2:]) or key, begins), Column("controller", labels, "left")]


def _ends(points: Sequence[Point], shown: Sequence[Controller]) -> range:
    """Return the last row of each value of the key."""
    return range(len(shown) - 1, len(points), len(shown))


def _marked(cells: Sequence[str], which: Sequence[bool], mark: str = BEST) -> list[str]:
    """Append a mark to some cells of a column, and spaces to the others."""
    if not any(which):
        return list(cells)
    return [f"{cell}{mark if marked else ' ' * len(mark)}" for cell, marked in zip(cells, which, strict=True)]


def _print_slowdowns(comparison: Comparison, scenario: str, name: str, console: Console) -> None:
    """Print the p99 slowdown by size, one table per entry."""
    study = comparison.study
    points = [(value, controller) for value in study.values for controller in study.controllers]
    for entry in dict.fromkeys(band.entry for band in comparison.bands(scenario)):
        columns = []
        for band in (band for band in comparison.bands(scenario) if band.entry == entry):
            found = [comparison.slowdown(scenario, c.text, value, band, "p99") for value, c in points]
            cells = [f"{shown_reading(one, interval=False)} {share_of(one)}".strip() for one in found]
            best = {v: badges.best_slowdown(comparison, scenario, v, band, "p99") for v in study.values}
            marked = _marked(cells, [best[value] == c.text for value, c in points])
            columns.append(Column(band.label.replace(" to ", "\nto "), marked))
        tables.show(
            console,
            f"{name}, {entry}: p99 slowdown by size (FCT / ideal FCT); percentage: share finished",
            _beginning(comparison, points, [c.label for _, c in points]),
            columns,
            _ends(points, study.controllers),
        )


def _cell(
    comparison: Comparison, scenario: str, value: str, controller: Controller, figure: Figure, paired: bool
) -> str:
    """Format a mean, or the difference from the first controller with its interval."""
    if paired:
        first = comparison.study.controllers[0]
        found = comparison.difference(scenario, controller.text, first.text, value, figure.key)
        return shown_reading(found, figure.scale)
    reading = comparison.reading(scenario, controller.text, value, figure.key)
    return f"{shown_reading(reading, figure.scale, interval=False)} {share_of(reading)}".strip()


def notes_of(comparison: Comparison, scenario: str) -> list[str]:
    """Return the notes on the runs of a scenario, once for all runs of a point."""
    study = comparison.study
    notes = []
    for controller in study.controllers:
        for value in study.values:
            runs = comparison.point(scenario, controller.text, value)
            # notes differ between seeds: show those of the first seed that has any
            first = next((run for run in runs if run.notes), None)
            if first is not None:
                where = f"{study.key} = {value}, {controller.label}, seed {first.case.seed}"
                many = sum(bool(run.notes) for run in runs)
                others = f" (and {counted(many - 1, 'other seed')})" if many > 1 else ""
                notes += [f"{where}{others}: {note}" for note in first.notes]
    return [*notes, *comparison.without_effect(scenario)]


def unfinished(comparison: Comparison, scenario: str) -> list[str]:
    """Return a note for each point with unfinished flows, queries or writes."""
    notes = []
    study = comparison.study
    for value in study.values:
        for controller in study.controllers:
            for part, (finished, count) in comparison.began(scenario, controller.text, value).items():
                if finished < count:
                    where = f"{study.key} = {value}, {controller.label}"
                    what = f"{finished:,d} of {count:,d} {COMPLETIONS[part]} finished"
                    notes.append(
                        f"{where}: {what}; figures that unfinished {COMPLETIONS[part]} could still change are bounds"
                    )
    return notes


def without_datagrams(comparison: Comparison, scenario: str) -> list[str]:
    """Return a note on the traffic that figures of flows exclude: datagrams, which no controller governs."""
    entries = comparison.datagrams(scenario)
    if not entries:
        return []
    return [f"figures of flows exclude {' and '.join(entries)}: datagrams, which no controller governs"]


def html(
    comparison: Comparison, pictures: dict[str, bytes], left_out: dict[str, str], formats: Sequence[str] = ("png",)
) -> str:
    """Make the page; ``left_out`` has the reasons for missing pictures, ``formats`` those of the picture files."""
    study = comparison.study
    figures = figures_of(comparison)
    first = next(iter(comparison.runs.values()))
    parts = [
        f"<header><h1>{escape(study.title)}</h1>{_lead(comparison)}</header>",
        _headline(comparison),
        "<section><h2>Figures</h2>",
        '<p class="note">Lines: means over the seeds. Bands: 95&nbsp;% Student-t intervals. '
        "All controllers use the same placements under one seed, so a difference between two lines is "
        "more certain than the bands suggest.</p>",
    ]
    for figure in figures:
        if figure.name not in pictures:
            parts.append(f'<p class="note">{escape(figure.title)}: no picture, {escape(left_out[figure.title])}.</p>')
            continue
        against = escape(axis_name(study.key).lower()) if len(study.values) > 1 else "the controller"
        caption = f"{escape(figure.title)} against {against}; {figure.better} is better."
        parts.append(embedded(pictures[figure.name], figure.name, caption, formats))
    if "over-time" in pictures:
        case = comparison.series[0].case
        parts.append(
            embedded(
                pictures["over-time"],
                "over-time",
                f"Congestion windows of {_first_flows(comparison)} and the queue at the busiest port over time: "
                f"{escape(case.scenario)}, {escape(study.key)} = {escape(case.value)}, seed {case.seed}; "
                "the warm-up is grey.",
                formats,
            )
        )
    elif comparison.series_gap:
        parts.append(f'<p class="note">No picture over time: {escape(comparison.series_gap)}.</p>')
    parts += [
        _view(comparison),
        "</section>",
        _slowdowns(comparison, pictures, left_out, formats),
        scenario_pairs.section(comparison),
        _numbers(comparison),
        _differences(comparison),
        locality.section(comparison),
        _definitions(comparison, first),
        _again(comparison, first, formats),
    ]
    return document(study.title, parts)


def _view(comparison: Comparison) -> str:
    """Return the link to the viewer page, or the reason why runs with timelines have none."""
    case, *_ = comparison.study.series_cases()
    controllers = ", ".join(map(escape, named(comparison.study.controllers)))
    where = f"{escape(case.scenario)}, {escape(comparison.study.key)} = {escape(case.value)}, seed {case.seed}"
    return chosen.link(comparison.folder, chosen.PAGE, f"the runs of {controllers} ({where})", comparison.view_gap)


def document(title: str, parts: Sequence[str]) -> str:
    """Assemble the parts of a page into a self-contained document."""
    style = files("incast.report").joinpath("report.css").read_text(encoding="utf-8")
    body = "\n".join([glossary.linked(parts[0]), *parts[1:], glossary.section()])
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>Incast: {escape(title)}</title>\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<style>{style}</style></head>\n<body><main>\n{body}\n</main></body></html>\n"
    )


def _first_flows(comparison: Comparison) -> str:
    *first, last = comparison.series[0].flows
    return f"flows {', '.join(map(str, first))} and {last}" if first else f"flow {last}"


def _lead(comparison: Comparison) -> str:
    study = comparison.study
    return (
        f'<p class="lead">{counted(len(study.controllers), "controller")}, {counted(len(study.values), "value")} of '
        f"<code>{escape(study.key)}</code>, {counted(study.seeds, 'seed')}: {counted(len(comparison.runs), 'run')}, "
        f"{scaled(comparison.hops)} hops (packets passing ports) in {duration(comparison.cpu_s)} of CPU time.</p>"
    )


def _headline(comparison: Comparison) -> str:
    """Return the tables of means, with the best of each figure marked."""
    study = comparison.study
    parts = ["<section><h2>At a glance</h2>"]
    for scenario, name in zip(study.scenarios, study.scenario_names(), strict=True):
        figures = figures_of(comparison, scenario)
        value = study.values[-1]
        head = "".join(f"<th>{escape(figure.label)}</th>" for figure in figures)
        at = badges.of_point(comparison, scenario, value, figures)
        rows = []
        for c in study.controllers:
            cells = [
                cell_of(comparison.reading(scenario, c.text, value, f.key), f.scale, at.best[f.key] == c.text)
                for f in figures
            ]
            front = f" {UNDOMINATED}" if c.text in at.front else ""
            rows.append(f"<tr><th>{escape(c.label)}{front}</th>{''.join(cells)}</tr>")
        parts.append(
            f"<h3>{escape(name)}, {escape(axis_name(study.key).lower())}: {escape(value)}</h3>"
            f'<div class="wide"><table><thead><tr><th>controller</th>{head}</tr></thead>'
            f"<tbody>{''.join(rows)}</tbody></table></div>"
        )
        notes = [
            *without_datagrams(comparison, scenario),
            *(study.drops() if scenario == study.scenarios[0] else ()),
            *scenario_pairs.crossing_lines(comparison, scenario),
            *unfinished(comparison, scenario),
            *notes_of(comparison, scenario),
        ]
        parts += [f'<p class="note">{escape(text)}.</p>' for text in notes]
    parts.append(
        f'<p class="note">Means ± half the 95&nbsp;% interval over {counted(study.seeds, "seed")}. '
        f"{_meaning(comparison)} A percentage in a cell is the share that finished, if not all did. "
        "All other points: <a href=#numbers>All numbers</a>.</p></section>"
    )
    return "\n".join(parts)


def _meaning(comparison: Comparison) -> str:
    if badges.possible(comparison):
        return badges.meaning("Bold")
    return "Nothing is marked as best: marks need two controllers and two seeds."


def table_of(comparison: Comparison) -> str:
    """Make the table for notebooks: one row per scenario, value and controller, with the marks of the report."""
    study, shown = comparison.study, figures_of(comparison)
    heads = "".join(f"<th>{escape(text)}</th>" for text in ["scenario", study.key, "controller"])
    heads += "".join(f"<th>{escape(figure.label)}</th>" for figure in shown)
    rows = ""
    for scenario, name in zip(study.scenarios, study.scenario_names(), strict=True):
        for value in study.values:
            at = badges.of_point(comparison, scenario, value, shown)
            for c in study.controllers:
                front = f" {UNDOMINATED}" if c.text in at.front else ""
                cells = "".join(f"<th>{escape(text)}</th>" for text in [name, value, f"{c.label}{front}"])
                for f in shown:
                    reading = comparison.reading(scenario, c.text, value, f.key)
                    cells += cell_of(reading, f.scale, at.best[f.key] == c.text, ' style="font-weight:bold"')
                rows += f"<tr>{cells}</tr>"
    caption = f"{escape(study.title)}: means ± half the 95&nbsp;% interval over {counted(study.seeds, 'seed')}"
    return f"<table><caption>{caption}</caption><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"


def cell_of(reading: Reading | None, scale: float, best: bool, look: str = " class=best") -> str:
    """Make a cell of a table: the figure, and the share finished; ``look`` marks the best."""
    share = share_of(reading)
    beside = f" <small>{share}</small>" if share else ""
    return f"<td{look if best else ''}>{shown_reading(reading, scale)}{beside}</td>"


def _slowdown_table(comparison: Comparison, scenario: str, title: str, own: Sequence[Band]) -> str:
    """Return the table of slowdowns of a traffic entry, by size."""
    study, places = comparison.study, list(product(own, STATISTICS))
    best = {
        (value, *place): badges.best_slowdown(comparison, scenario, value, *place)
        for value, place in product(study.values, places)
    }

    def cells(value: str, c: Controller) -> str:
        found = [(comparison.slowdown(scenario, c.text, value, *place), place) for place in places]
        return "".join(cell_of(one, 1.0, best[value, *place] == c.text) for one, place in found)

    head = "".join(f"<th colspan={len(STATISTICS)}>{escape(band.label)}</th>" for band in own)
    under = "".join(f"<th>{NAMES[statistic]}</th>" for _, statistic in places)
    return (
        f"<h3>{escape(title)}</h3><div class=wide><table><thead><tr><th rowspan=2>"
        f"{escape(axis_name(study.key))}</th><th rowspan=2>controller</th>{head}</tr><tr>{under}</tr></thead>"
        f"<tbody>{_by_value(study, cells)}</tbody></table></div>"
    )


def _slowdowns(
    comparison: Comparison, pictures: dict[str, bytes], left_out: dict[str, str], formats: Sequence[str]
) -> str:
    """Return the tables and pictures of slowdowns by size, if flows have several sizes."""
    study = comparison.study
    parts = []
    for scenario, name in zip(study.scenarios, study.scenario_names(), strict=True):
        bands = comparison.bands(scenario)
        for entry in dict.fromkeys(band.entry for band in bands):
            own = [band for band in bands if band.entry == entry]
            parts.append(_slowdown_table(comparison, scenario, f"{name}, {entry}", own))
    if not parts:
        return ""
    captions = {
        "cdf": "CDF of the slowdown by size, all seeds together",
        **{statistic: f"{NAMES[statistic]} slowdown by size; lower is better" for statistic in STATISTICS},
    }
    for name, png in pictures.items():
        if name.startswith("slowdown-"):
            parts.append(embedded(png, name, f"{captions[name.split('-')[1]]}.", formats))
    for name, reason in left_out.items():
        if name.startswith("slowdown-"):
            parts.append(f'<p class="note">{escape(name)}: no picture, {escape(reason)}.</p>')
    return (
        '<section id="slowdowns"><h2>Slowdown by size</h2><p class="note">Slowdown: completion time of a flow over '
        "its ideal, the completion time on the empty network. One figure over all sizes would mostly describe the "
        "largest flows. Percentiles are nearest ranks over all flows that began in the whole run; with fewer than 100 "
        "(1,000) flows p99 (p99.9) is the maximum. A flow still running at the end has at least the slowdown of its "
        "time so far: figures that it could still change are given as bounds, with the share finished. "
        f"{_meaning(comparison)}</p>" + "".join(parts) + "</section>"
    )


def embedded(png: bytes, name: str, caption: str, formats: Sequence[str] = ("png",)) -> str:
    """Embed a picture, with the names of its files; the caption is HTML."""
    names = escape(" ".join(f"{name}.{kind}" for kind in formats))
    data = base64.b64encode(png).decode("ascii")
    return (
        f'<figure><img src="data:image/png;base64,{data}" alt="{caption}">'
        f"<figcaption>{caption} <span>{names}</span></figcaption></figure>"
    )


def _by_value(study: ComparisonStudy, cells: Callable[[str, Controller], str], first: int = 0) -> str:
    """Make the rows of a table: one per value and controller, from the one of this number on."""
    rows, shown = [], study.controllers[first:]
    for value, (i, c) in product(study.values, enumerate(shown)):
        start = f"<th rowspan={len(shown)}>{escape(value)}</th>" if i == 0 else ""
        rows.append(f"<tr{' class=first' if i == 0 else ''}>{start}<th>{escape(c.label)}</th>{cells(value, c)}</tr>")
    return "".join(rows)


def _tables(comparison: Comparison, cells: Callable[..., str], more: Sequence[str] = (), first: int = 0) -> str:
    """Make one table per scenario, of its figures and more columns; ``cells`` makes a row."""
    study, parts = comparison.study, []
    for scenario, name in zip(study.scenarios, study.scenario_names(), strict=True):
        figures = figures_of(comparison, scenario)
        heads = [axis_name(study.key), "controller", *(figure.label for figure in figures), *more]
        rows = _by_value(study, partial(cells, scenario, figures), first)
        parts.append(
            f"<h3>{escape(name)}</h3><div class=wide><table><thead><tr>"
            f"{''.join(f'<th>{escape(head)}</th>' for head in heads)}</tr></thead><tbody>{rows}</tbody></table></div>"
        )
    return "\n".join(parts) + "</section>"


def _numbers(comparison: Comparison) -> str:
    def cells(scenario: str, figures: Sequence[Figure], value: str, c: Controller) -> str:
        runs = comparison.point(scenario, c.text, value)
        readings = [(comparison.reading(scenario, c.text, value, f.key), f.scale) for f in figures]
        hops = sum(int(run.summary["run"]["hops"]) for run in runs)
        found = "".join(cell_of(reading, scale, False) for reading, scale in readings)
        return f"{found}<td>{len(runs)}</td><td>{scaled(hops)}</td>"

    note = '<p class="note">Data behind each point: runs, and simulated hops.</p>'
    tables_ = _tables(comparison, cells, ("runs", "hops"))
    return f'<section id="numbers"><h2>All numbers</h2>\n{note}\n{tables_}'


def _differences(comparison: Comparison) -> str:
    """Return the table of differences from the first controller, seed by seed."""
    study = comparison.study
    first = study.controllers[0]
    if len(study.controllers) < 2 or study.seeds < 2:
        return ""

    def cells(scenario: str, figures: Sequence[Figure], value: str, c: Controller) -> str:
        found = [(comparison.difference(scenario, c.text, first.text, value, f.key), f.scale) for f in figures]
        texts = [(shown_reading(one, scale), is_clear_of_zero(one)) for one, scale in found]
        return "".join(f"<td>{f'<b>{text}</b>' if is_clear else text}</td>" for text, is_clear in texts)

    return (
        f'<section id="differences"><h2>Difference from {escape(first.label)}</h2>\n'
        f'<p class="note">Each figure minus that of {escape(first.label)} with the same seed and placements: means and '
        "95&nbsp;% intervals of these differences. Bold: the 95&nbsp;% interval excludes zero. By chance alone about 1 "
        "in 20 cells is bold. With unfinished flows a difference is given as bounds, or is open.</p>\n"
        + _tables(comparison, cells, first=1)
    )


def _definitions(comparison: Comparison, run: Run) -> str:
    """Return the table of definitions of the report's figures, from the summary."""
    definitions, units = run.summary["definitions"], run.summary["units"]
    keys = [f.key for f in figures_of(comparison)]
    keys += [key for key in definitions if key.startswith(("flows.loss_mean", "flowmonitor.", "queues.busiest."))]
    rows = "".join(
        f"<tr><td><code>{escape(key)}</code></td><td>{escape(units.get(key, ''))}</td>"
        f"<td>{escape(definitions[key])}</td></tr>"
        for key in keys
    )
    return f"""<section><h2>Definitions</h2>
<div class="wide"><table class="claims">
<thead><tr><th>figure</th><th>unit in the files</th><th>definition</th></tr></thead>
<tbody>{rows}
<tr><td>band, ±</td><td></td><td>Half width of the two-sided 95&nbsp;% confidence interval of the mean over seeds:
t(0.975, n−1) · s/√n, with s the sample standard deviation and n = {comparison.study.seeds} seeds; for differences
between controllers, over the n paired differences.</td></tr>
<tr><td>percentile</td><td></td><td>Nearest rank: of n values in ascending order the one of rank ceil(p n). Computed
in every run, then averaged over the seeds.</td></tr>
<tr><td>hop</td><td>packets</td><td>One packet passing one port; data packets and ACKs both count.</td></tr>
</tbody></table></div></section>"""


def _again(comparison: Comparison, run: Run, formats: Sequence[str]) -> str:
    bins = None if comparison.bins is None else comparison.bins.text
    place = str(comparison.home.store)
    command = comparison.study.command(str(comparison.folder), bins, formats, comparison.home.given)
    figures = run.summary["run"]
    return f"""<section><h2>Reproduce</h2>
<pre><code>{escape(command)}</code></pre>
<p>Incast {escape(_core.__version__)}, engine build <code>{escape(run.manifest["engine"])}</code>. A run
simulates {figures["sim_s"]:g}&nbsp;s and measures from {figures["measure_from_s"]:g}&nbsp;s to
{figures["measure_to_s"]:g}&nbsp;s. All runs are in the store <code>{escape(place)}</code>, with their resolved
scenarios: <code>incast query {escape(shlex.quote(place))} "SELECT * FROM runs"</code> queries it.
<a href="{RUNS}">{RUNS}</a> lists the runs by scenario, controller, value and seed: <code>incast study
export {escape(shlex.quote(place))} --run RUN --out DIR</code> writes the folder of one run with all files of its
scenario, and <code>incast run DIR/scenario.toml</code> repeats it with identical results. The means
above are in <code>comparison.json</code>.</p></section>"""
