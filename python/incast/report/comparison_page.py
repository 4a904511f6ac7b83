"""Report of a comparison: one self-contained HTML file, and its pictures as files."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from html import escape

from rich.console import Console

from incast import _core
from incast.answers.answering import answers_of
from incast.answers.showing import answers_html, print_answers
from incast.comparisons.comparison import Band, Comparison, Run, aggregate_json
from incast.comparisons.declaration import Controller, named
from incast.comparisons.scenario_pairs import paired_json
from incast.pictures import gallery, inline
from incast.report import (
    badges,
    first_screen,
    job_lanes,
    locality,
    reproduce,
    run_index,
    scenario_pairs,
    slowdowns,
    tables,
)
from incast.report.badges import Marks
from incast.report.document import PAGE, Page, contents, document, drawn
from incast.report.figures import JOB, OVER_TIME, PICTURES, ZERO, Figure, axis_name, draw_all, figures_of, stated
from incast.report.notes import notes_of, without_datagrams
from incast.report.numbers import is_clear_of_zero, share_of, shown_reading
from incast.report.page_tables import MOST_COLUMNS, Cells, cell_of, even, heading, meaning, table
from incast.report.run_index import RUNS
from incast.report.tables import Column
from incast.runs.completions import STATISTICS, Reading
from incast.system.output import counted
from incast.view import chosen
from incast.writing.numbers import duration


def write(comparison: Comparison, formats: Sequence[str] = ("png",)) -> Page:
    """Write ``report.html``, its pictures in these formats and ``comparison.json`` into the comparison's folder."""
    made, by_size = draw_all(comparison), slowdowns.draw(comparison)
    canvases, left_out = made.pictures | by_size.pictures, made.left_out | by_size.left_out
    pictures = gallery.draw(canvases, formats)
    shown = [figure.key for figure in figures_of(comparison, everything=True)]
    inside = inline.elements(canvases, gallery.pngs(pictures))
    words = first_screen.as_json(comparison) | {"answers": [answer.json() for answer in answers_of(comparison)]}
    files = {
        "comparison.json": aggregate_json(comparison, shown, words | paired_json(comparison, shown)),
        RUNS: (runs := run_index.of(comparison.study, comparison.home)),
        PAGE: html(comparison, inside, left_out, runs, formats),
    }
    gallery.write(comparison.folder, pictures, formats, files, is_picture)
    return Page(comparison.folder / PAGE, gallery.pngs(pictures))


def is_picture(name: str) -> bool:
    """Return whether a file of this name, without extension, is a picture of a report."""
    return name in PICTURES or name.startswith(JOB) or slowdowns.is_picture(name)


BEST = "*"
"""Mark of the best on a terminal."""


Point = tuple[str, Controller]
"""Row of a table: a value of the varied key, and a controller."""


def print_table(comparison: Comparison, console: Console, paired: bool = False) -> None:
    """Print the answers and one table of means per scenario; with ``paired`` differences from the first controller."""
    study = comparison.study
    if not paired:
        print_answers(answers_of(comparison), console, "comparison.json")
        console.print()
    first = study.controllers[0]
    shown = study.controllers[1:] if paired else study.controllers
    for scenario, name in zip(study.scenarios, study.scenario_names(), strict=True):
        figures = figures_of(comparison, scenario)
        seeds = f"{study.seeds} seed{'s' * (study.seeds > 1)}"
        paired_title = f"difference from {first.label} under the same seed, means and 95 % intervals over"
        what = paired_title if paired else "means over"
        points = [(value, controller) for value in study.values for controller in shown]
        at = {} if paired else {value: badges.of_point(comparison, scenario, value, figures) for value in study.values}
        columns = [] if paired else _finished_column(comparison, scenario, points)
        shown_figures = [f for f in figures if paired or _is_above_zero(comparison, scenario, f)]
        for figure in shown_figures:
            cells = [_cell(comparison, scenario, *point, figure, paired) for point in points]
            best = [bool(at) and at[value].best[figure.key] == c.text for value, c in points]
            columns.append(Column(figure.short, _marked(cells, best)))
        labels = [c.label + (at[value].sign(c.text) if at else "") for value, c in points]
        title = f"{name}: {what} {seeds}"
        begin, ends = _beginning(comparison, points, labels), _ends(points, shown)
        if not paired:
            _print_slowdowns(comparison, scenario, name, console)
        left = tables.show(console, title, begin, columns, ends, cut=True)
        zero = [f.title for f in figures if f not in shown_figures]
        notes = _not_printed(zero, columns[-left:] if left else [], _where_zero(comparison))
        notes += without_datagrams(comparison, scenario) if paired else notes_of(comparison, scenario)
        for text in notes:
            console.print(text, highlight=False, soft_wrap=True)
    if not paired:
        scenario_pairs.print_tables(comparison, console)
    if not paired and badges.possible(comparison):
        console.print(badges.meaning(BEST), highlight=False, soft_wrap=True)


def _finished_column(comparison: Comparison, scenario: str, points: Sequence[Point]) -> list[Column]:
    """Return the column of shares that finished; none if everything finished."""
    shares = _finished(comparison, scenario)
    cells = [shown_reading(shares[value, c.text], 100.0, interval=False) for value, c in points] if shares else []
    return [Column("finished\n%", cells)] if shares else []


def _where_zero(comparison: Comparison) -> str:
    """Say in which part of the runs a figure is zero; later timeouts, for one, are not counted."""
    runs = [run.summary["run"] for run in comparison.runs.values()]
    outlast = any(run["measure_to_s"] < run["sim_s"] for run in runs)
    return "0 in the measured interval of all runs, which go on after it" if outlast else ZERO


def _not_printed(zero: Sequence[str], left: Sequence[Column], where_zero: str = ZERO) -> list[str]:
    """Return notes on the figures that a table leaves out: zeros, and columns for which the terminal is too narrow."""
    heads = [" ".join(column.head.split()) for column in left]
    return [
        *([f"{where_zero}: {', '.join(zero)}"] if zero else []),
        *([f"in the report alone, for lack of space: {', '.join(heads)}"] if heads else []),
    ]


def _beginning(comparison: Comparison, points: Sequence[Point], labels: Sequence[str]) -> list[Column]:
    """Return the first columns of a table: the value of the key, without repetition, and the controller."""
    key = comparison.study.key
    controllers = Column("controller", labels, "left")
    if len(comparison.study.values) == 1:
        return [controllers]
    begins = [value if i == 0 or points[i - 1][0] != value else "" for i, (value, _) in enumerate(points)]
    return [Column(".".join(key.split(".")[1:][-2:]) or key, begins), controllers]


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
        own = [band for band in comparison.bands(scenario) if band.entry == entry]
        shared = slowdowns.name_of(comparison, [(scenario, band) for band in own], "p99")
        for band in own:
            found = [comparison.slowdown(scenario, c.text, value, band, "p99") for value, c in points]
            cells = [f"{shown_reading(one, interval=False)} {share_of(one)}".strip() for one in found]
            best = {v: badges.best_slowdown(comparison, scenario, v, band, "p99") for v in study.values}
            marked = _marked(cells, [best[value] == c.text for value, c in points])
            head = [band.label.replace("B to ", "B\nto ")]
            head += [one for one in [slowdowns.name_of(comparison, [(scenario, band)], "p99")] if one != shared]
            columns.append(Column("\n".join(head), marked))
        title = f"{name}, {entry}: {shared} slowdown by size (FCT / ideal FCT); percentage: share finished"
        begin = _beginning(comparison, points, [c.label for _, c in points])
        left = tables.show(console, title, begin, columns, _ends(points, study.controllers), cut=True)
        for text in _not_printed([], columns[-left:] if left else []):
            console.print(text, highlight=False, soft_wrap=True)


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


def html(
    comparison: Comparison, pictures: dict[str, str], left_out: dict[str, str], runs: str, formats: Sequence[str]
) -> str:
    """Make the page from its pictures as SVG elements, and the table of its runs.

    ``left_out`` has the reasons for missing pictures, ``formats`` those of the picture files.
    """
    first = next(iter(comparison.runs.values()))
    parts = [
        _slowdowns(comparison, pictures, left_out, formats),
        _figures(comparison, pictures, left_out, formats),
        scenario_pairs.section(comparison),
        job_lanes.section(comparison, pictures, formats),
        _over_time(comparison, pictures, formats),
        _differences(comparison),
        locality.section(comparison),
        _definitions(comparison, first),
        _again(comparison, first, formats, runs),
    ]
    top = first_screen.first_screen(comparison, answers_html(comparison))
    beside = contents([top, *parts]) + first_screen.lines(comparison)
    return document(comparison.study.title, [first_screen.header(comparison), *filter(None, parts)], beside, top)


def _figures(comparison: Comparison, pictures: dict[str, str], left_out: dict[str, str], formats: Sequence[str]) -> str:
    """Return the tables of means of all points, with the best of each figure marked, and their pictures."""
    study, parts = comparison.study, []
    for scenario, name in zip(study.scenarios, study.scenario_names(), strict=True):
        figures = figures_of(comparison, scenario)
        marks = {value: badges.of_point(comparison, scenario, value, figures) for value in study.values}
        parts += [f"<h3>{escape(name)}</h3>"] * (len(study.scenarios) > 1)
        there = [figure for figure in figures if _is_above_zero(comparison, scenario, figure)]
        head = "<th>Finished<small>%</small></th>" if _finished(comparison, scenario) else ""
        for some in even(there, MOST_COLUMNS - bool(head)):
            cells = _means(comparison, scenario, some, marks)
            parts.append(table(study, head + "".join(map(heading, some)), cells, marks=marks))
        zero = [figure.title for figure in figures if figure not in there]
        parts += [f'<p class="note">{escape(", ".join(zero))}: {_where_zero(comparison)}.</p>'] if zero else []
    parts.append(
        f'<p class="note">Means ± half the 95&nbsp;% interval over {counted(study.seeds, "seed")}. '
        f"{meaning(comparison)} A percentage in a cell is the share that finished, if not all did.</p>"
    )
    shown = []
    for figure in figures_of(comparison):
        if figure.name in pictures:
            caption = f"{escape(figure.title)}; {figure.better} is better."
            shown.append(drawn(pictures[figure.name], figure.name, caption, formats))
        elif left_out[figure.title] != ZERO:  # the table says so
            parts.append(f'<p class="note">{escape(figure.title)}: no picture, {escape(left_out[figure.title])}.</p>')
    several = len(study.values) > 1
    parts.append(
        '<p class="note">Pictures: means over the seeds, with 95&nbsp;% Student-t intervals'
        f"{', against ' + escape(axis_name(study.key).lower()) if several else ''}. All controllers use the same "
        "placements under one seed, so a difference between two of them is more certain than the intervals suggest."
        f'</p><div class="pictures">{"".join(shown)}</div>'
    )
    return f'<section id="numbers"><h2>Figures</h2>{"".join(parts)}</section>'


def _means(comparison: Comparison, scenario: str, figures: Sequence[Figure], marks: Mapping[str, Marks]) -> Cells:
    """Return the maker of cells with means, after the share finished if not all did."""
    shares = _finished(comparison, scenario)

    def cells(value: str, c: Controller) -> str:
        found = [(f, comparison.reading(scenario, c.text, value, f.key)) for f in figures]
        first = cell_of(shares[value, c.text], 100.0, False) if shares else ""
        return first + "".join(cell_of(one, f.scale, marks[value].best[f.key] == c.text) for f, one in found)

    return cells


def _finished(comparison: Comparison, scenario: str) -> dict[tuple[str, str], Reading | None]:
    """Return the shares that finished by value and controller; empty if everything finished, or nothing can."""
    study = comparison.study
    shares = {(v, c.text): comparison.share(scenario, c.text, v) for v in study.values for c in study.controllers}
    return shares if any(one is not None and min(one.low.values()) < 1 for one in shares.values()) else {}


def _apart(comparison: Comparison, scenario: str, figures: Sequence[Figure]) -> Cells:
    """Return the maker of cells with differences from the first controller."""
    first = comparison.study.controllers[0].text

    def cells(value: str, c: Controller) -> str:
        found = [
            (
                comparison.difference(scenario, c.text, first, value, f.key),
                comparison.reading(scenario, first, value, f.key),
                f.scale,
            )
            for f in figures
        ]
        texts = [(shown_reading(one, scale), is_clear_of_zero(one, of)) for one, of, scale in found]
        return "".join(f"<td>{f'<b>{text}</b>' if is_clear else text}</td>" for text, is_clear in texts)

    return cells


def _over_time(comparison: Comparison, pictures: dict[str, str], formats: Sequence[str]) -> str:
    """Return the picture of windows and a queue over time, and the link to the viewer page."""
    parts = [_view(comparison)]
    if OVER_TIME in pictures:
        case = comparison.series[0].case
        caption = (
            f"Congestion windows of {_first_flows(comparison)} and the queue at the busiest port: "
            f"{escape(case.scenario)}{_at(comparison, case.value)}, seed {case.seed}; the warm-up is grey."
        )
        parts.append(drawn(pictures[OVER_TIME], OVER_TIME, caption, formats))
    elif comparison.series_gap:
        parts.append(f'<p class="note">No picture over time: {escape(comparison.series_gap)}.</p>')
    return f'<section id="over-time"><h2>Over time</h2>{"".join(parts)}</section>' if any(parts) else ""


def _at(comparison: Comparison, value: str) -> str:
    """Return the words that name a value of the key, as HTML; empty if there is only one."""
    study = comparison.study
    return f", {escape(study.key)} = {escape(value)}" if len(study.values) > 1 else ""


def _view(comparison: Comparison) -> str:
    """Return the link to the viewer page, or the reason why runs with timelines have none."""
    study = comparison.study
    case, *_ = study.series_cases()
    controllers = ", ".join(map(escape, named(study.controllers)))
    where = f"{escape(case.scenario)}{_at(comparison, case.value)}, seed {case.seed}"
    return chosen.link(comparison.folder, chosen.PAGE, f"the runs of {controllers} ({where})", comparison.view_gap)


def _first_flows(comparison: Comparison) -> str:
    *first, last = comparison.series[0].flows
    return f"flows {', '.join(map(str, first))} and {last}" if first else f"flow {last}"


SHOWN_FIRST = ("p99", "p50")
"""Statistics of slowdowns that the page shows; the others are folded."""


def _slowdown_table(comparison: Comparison, scenario: str, own: Sequence[Band], statistic: str) -> str:
    """Return the table of a statistic of slowdowns of a traffic entry, by size."""

    def cells(value: str, c: Controller) -> str:
        found = [(comparison.slowdown(scenario, c.text, value, band, statistic), band) for band in own]
        best = [badges.best_slowdown(comparison, scenario, value, band, statistic) == c.text for band in own]
        return "".join(cell_of(one, 1.0, is_best) for (one, _), is_best in zip(found, best, strict=True))

    name = slowdowns.name_of(comparison, [(scenario, band) for band in own], statistic)
    names = [slowdowns.name_of(comparison, [(scenario, band)], statistic) for band in own]
    heads = "".join(
        f"<th>{escape(band.label)}<small>{'' if its == name else f'{its}, '}"
        f"{slowdowns.most_flows(comparison, scenario, band):,} flows</small></th>"
        for band, its in zip(own, names, strict=True)
    )
    return f"<h3>{name} slowdown</h3>{table(comparison.study, heads, cells)}"


def _slowdowns(
    comparison: Comparison, pictures: dict[str, str], left_out: dict[str, str], formats: Sequence[str]
) -> str:
    """Return the tables and pictures of slowdowns by size, if flows have several sizes."""
    study, parts = comparison.study, []
    for scenario, name in zip(study.scenarios, study.scenario_names(), strict=True):
        bands = comparison.bands(scenario)
        for entry in dict.fromkeys(band.entry for band in bands):
            own = [band for band in bands if band.entry == entry]
            tables_ = {one: _slowdown_table(comparison, scenario, own, one) for one in STATISTICS}
            rest = "".join(one for statistic, one in tables_.items() if statistic not in SHOWN_FIRST)
            several = len(study.scenarios) > 1 or len({band.entry for band in bands}) > 1
            parts.append(
                f"<h3>{escape(name)}, {escape(entry)}</h3>" * several
                + "".join(tables_[statistic] for statistic in SHOWN_FIRST)
                + f"<details><summary>Mean and p99.9 slowdown</summary>{rest}</details>"
            )
    if not parts:
        return ""
    everywhere = [(scenario, band) for scenario in study.scenarios for band in comparison.bands(scenario)]
    named_ = {statistic: slowdowns.name_of(comparison, everywhere, statistic) for statistic in STATISTICS}
    captions = {
        "cdf": "CDF of the slowdown by size, all seeds together",
        **{statistic: f"{name} slowdown by size; lower is better" for statistic, name in named_.items()},
    }
    shown: dict[bool, list[str]] = {True: [], False: []}
    for name in sorted((one for one in pictures if one.startswith("slowdown-")), key=_place_of_slowdown):
        what = name.split("-")[1]
        shown[what in (*SHOWN_FIRST, "cdf")].append(drawn(pictures[name], name, f"{captions[what]}.", formats))
    parts += shown[True]
    if shown[False]:
        parts.append(f"<details><summary>Pictures of mean and p99.9</summary>{''.join(shown[False])}</details>")
    for name, reason in left_out.items():
        if name.startswith("slowdown-"):
            parts.append(f'<p class="note">{escape(name)}: no picture, {escape(reason)}.</p>')
    return (
        '<section id="slowdowns"><h2>Slowdown by size</h2><p class="note">Slowdown: completion time of a flow over '
        "its ideal, the completion time on the empty network. One figure over all sizes would mostly describe the "
        "largest flows. Percentiles are nearest ranks over all flows that began in the whole run; with fewer than 100 "
        "(1,000) flows p99 (p99.9) is the maximum. A flow still running at the end has at least the slowdown of its "
        "time so far: figures that it could still change are given as bounds, with the share finished. "
        f"{meaning(comparison)}</p>" + "".join(parts) + "</section>"
    )


def _place_of_slowdown(name: str) -> int:
    """Return the place of a picture of slowdowns on the page: p99, median, distributions, then the others."""
    what = name.split("-")[1]
    order = (*SHOWN_FIRST, "cdf", *STATISTICS)
    return order.index(what)


def _is_above_zero(comparison: Comparison, scenario: str, figure: Figure) -> bool:
    """Return whether a figure is other than 0 at a point, or unknown."""
    study = comparison.study
    found = [comparison.reading(scenario, c.text, v, figure.key) for v in study.values for c in study.controllers]
    return any(one is None or not one.exact or any(one.low.values()) for one in found)


def _differences(comparison: Comparison) -> str:
    """Return the table of differences from the first controller, seed by seed."""
    study = comparison.study
    first = study.controllers[0]
    if len(study.controllers) < 2 or study.seeds < 2:
        return ""
    parts = []
    for scenario, name in zip(study.scenarios, study.scenario_names(), strict=True):
        parts += [f"<h3>{escape(name)}</h3>"] * (len(study.scenarios) > 1)
        figures = [f for f in figures_of(comparison, scenario) if _is_above_zero(comparison, scenario, f)]
        for some in even(figures):
            cells = _apart(comparison, scenario, some)
            parts.append(table(study, "".join(map(heading, some)), cells, first=1))
    return (
        f'<section id="differences"><h2>Difference from {escape(first.label)}</h2>\n'
        f'<p class="note">Each figure minus that of {escape(first.label)} with the same seed and placements: means and '
        "95&nbsp;% intervals of these differences. Bold: the 95&nbsp;% interval excludes zero, and the difference is "
        "at least 1&nbsp;%. By chance alone about 1 in 20 cells is bold. With unfinished flows a difference is given "
        "as bounds, or is open.</p>\n" + "".join(parts) + "</section>"
    )


def _definitions(comparison: Comparison, run: Run) -> str:
    """Return the table of definitions of the report's figures, from the summary."""
    definitions, units = run.summary["definitions"], run.summary["units"]
    keys = [f.key for f in figures_of(comparison)]
    keys += [key for key in definitions if key.startswith(("flows.loss_mean", "flowmonitor.", "queues.busiest."))]
    rows = "".join(
        f"<tr><td><code>{escape(key)}</code></td><td>{escape(units.get(stated(key), ''))}</td>"
        f"<td>{escape(definitions[stated(key)])}</td></tr>"
        for key in keys
    )
    return f"""<section id="definitions"><h2>Definitions</h2>
<details><summary>Definitions of all figures</summary><div class="card wide"><table class="claims defined">
<thead><tr><th>figure</th><th>unit in the files</th><th>definition</th></tr></thead>
<tbody>{rows}
<tr><td>band, ±</td><td></td><td>Half width of the two-sided 95&nbsp;% confidence interval of the mean over seeds:
t(0.975, n−1) · s/√n, with s the sample standard deviation and n = {comparison.study.seeds} seeds; for differences
between controllers, over the n paired differences.</td></tr>
<tr><td>percentile</td><td></td><td>Nearest rank: of n values in ascending order the one of rank ceil(p n). Computed
in every run, then averaged over the seeds.</td></tr>
<tr><td>hop</td><td>packets</td><td>One packet passing one port; data packets and ACKs both count.</td></tr>
</tbody></table></div></details></section>"""


def _again(comparison: Comparison, run: Run, formats: Sequence[str], runs: str) -> str:
    """Return the last section; ``runs`` is the table of the runs."""
    study = comparison.study
    bins = None if comparison.bins is None else comparison.bins.text
    place, given = shlex.quote(str(comparison.home.store)), comparison.home.given
    figures = run.summary["run"]
    body = f"""Incast {escape(_core.__version__)}, engine build <code>{escape(run.manifest["engine"])}</code>. A run
simulates {duration(figures["sim_s"])} and measures from {duration(figures["measure_from_s"])} to
{duration(figures["measure_to_s"])}. All runs are in the store <code>{escape(str(comparison.home.store))}</code>, with
their resolved scenarios: <code>incast query {escape(place)} "SELECT * FROM runs"</code> queries it.
{reproduce.beside(RUNS, runs)} lists the runs by scenario, controller, value and seed: <code>incast study
export {escape(place)} --run RUN --out DIR</code> writes the folder of one run with all files of its
scenario, and <code>incast run DIR/scenario.toml</code> repeats it with identical results. The means
above are in <code>comparison.json</code>, beside this page."""
    command = study.command(str(comparison.folder), bins, formats, given)
    return reproduce.section(
        command, body, reproduce.ran_in(study, comparison.home, study.scenario_names()), reproduce.others(study)
    )
