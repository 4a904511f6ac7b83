"""Report of controllers that share a fabric: tables on a terminal, one HTML file, the picture of their shares."""

from __future__ import annotations

import itertools
import math
import shlex
from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from rich.console import Console

from incast import _core
from incast.comparisons.coexistence import Meeting, Pairs, known, tables_of
from incast.comparisons.declaration import named
from incast.comparisons.report_folder import Home
from incast.pictures import gallery, inline
from incast.pictures.style import DARK_TEXT, INK, LIGHT_TEXT, new_canvas
from incast.report import reproduce, run_index, tables
from incast.report.document import PAGE, document, drawn
from incast.report.numbers import number
from incast.report.run_index import RUNS
from incast.report.tables import Column
from incast.statistics import Estimate
from incast.system.output import counted
from incast.view import chosen
from incast.writing.numbers import said

MAPS: list[tuple[str, str, str, Callable[[Meeting], Estimate | None], float]] = [
    ("shares", "Share of the goodput", "%", lambda m: m.share_pct, 1.0),
    ("delays", "Mean one-way delay of the row's data", "µs", lambda m: m.delay_mean_s, 1e6),
    ("losses", "Loss of the row's data", "%", lambda m: m.loss_pct, 1.0),
    ("jain", "Jain's index of all flows", "", lambda m: m.jain, 1.0),
]
"""Maps of the report: name, title, unit, figure, and from its unit to the one shown."""


def write(
    pairs: Pairs,
    found: Sequence[Meeting],
    home: Home,
    formats: Sequence[str] = ("png",),
    view_gap: str | None = None,
) -> Path:
    """Write ``report.html``, the tables and the picture of the shares, in these formats, into the pairs' folder.

    ``view_gap`` is the reason why there is no viewer page, if so.
    """
    canvases = {"shares": picture(pairs, found)}
    made = gallery.draw(canvases, formats)
    runs = run_index.of(pairs, home)
    page = html(pairs, found, inline.elements(canvases, gallery.pngs(made))["shares"], home, runs, formats, view_gap)
    files = tables_of(found) | {RUNS: runs, PAGE: page}
    gallery.write(home.folder, made, formats, files, made.__contains__)
    return home.folder / PAGE


def html(
    pairs: Pairs,
    found: Sequence[Meeting],
    shares: str,
    home: Home,
    runs: str,
    formats: Sequence[str],
    view_gap: str | None,
) -> str:
    """Make the page; ``runs`` is the table of the runs."""
    said = pairs.saying()
    by_pair = {(m.controller, m.other): m for m in found}
    title = f"{', '.join(c.label for c in pairs.controllers)} side by side on {said.name}"
    count = len(pairs.lineups) * pairs.seeds
    interval = (
        "Means ± half the 95&nbsp;% Student-t interval over the seeds."
        if pairs.seeds > 1
        else "One seed: no intervals."
    )
    parts = [
        f"<header><h1>{escape(title)}</h1><p class=lead>{counted(len(pairs.controllers), 'controller')} two by two, "
        f"{counted(pairs.seeds, 'seed')}: {counted(count, 'run')}.</p></header>",
        f"<p class=\"note\">{interval} Cells: the row's controller when it shares the fabric with the column's. "
        "All pairs use the same placements and start times under one seed. A controller paired with itself shows the "
        "effect of the two traffic entries alone.</p>",
    ]
    parts += [f'<p class="note">{escape(note)}.</p>' for note in said.notes]
    caption = "Share of a pair's goodput that the row's controller gets; half widths of 95&nbsp;% intervals."
    parts.append(drawn(shares, "shares", caption, formats))
    labels = [escape(name) for name in named(pairs.controllers)]
    what = f"the runs of {labels[0]} with each of {', '.join(labels)} ({escape(said.name)}, seed 1)"
    parts.append(chosen.link(home.folder, chosen.PAGE, what, view_gap))
    for _, name, unit, figure, scale in MAPS:
        head = "".join(f"<th>{escape(c.label)}</th>" for c in pairs.controllers)
        rows = "".join(
            f"<tr><th>{escape(c.label)}</th>"
            + "".join(
                f"<td>{number(known(figure(by_pair[c.text, o.text])), scale, tiny=True)}</td>"
                for o in pairs.controllers
            )
            + "</tr>"
            for c in pairs.controllers
        )
        shown = f"{name} ({unit})" if unit else name
        parts.append(
            f"<section><h2>{escape(shown)}</h2><div class=wide><table><thead><tr><th>beside</th>{head}</tr></thead>"
            f"<tbody>{rows}</tbody></table></div></section>"
        )
    command = pairs.command(str(home.folder), None, formats, home.given)
    place = escape(shlex.quote(str(home.store)))
    body = (
        f"Incast {escape(_core.__version__)}. All runs are in the store <code>{escape(str(home.store))}</code>; "
        f"{reproduce.beside(RUNS, runs)} lists each with its controllers and seed, and <code>incast study export "
        f"{place} --run RUN --out DIR</code> writes its folder. The means are in <code>pairs.csv</code> and "
        "<code>pairs.json</code>, beside this page."
    )
    parts.append(reproduce.section(command, body, reproduce.ran_in(pairs, home, [said.name]), reproduce.others(pairs)))
    return document(title, parts)


def print_tables(pairs: Pairs, found: Sequence[Meeting], console: Console) -> None:
    """Print the tables: results of the row's controller when it shares the fabric with the column's."""
    by_pair = {(m.controller, m.other): m for m in found}

    def show(title: str, figure: Callable[[Meeting], Estimate | None], scale: float = 1.0) -> None:
        def cell(meeting: Meeting) -> str:
            return number(known(figure(meeting)), scale, tiny=True)

        beside = Column("beside", [c.label for c in pairs.controllers], "left")
        columns = [
            Column(other.label, [cell(by_pair[c.text, other.text]) for c in pairs.controllers])
            for other in pairs.controllers
        ]
        tables.show(console, title, [beside], columns)

    over = f"means ± half the 95 % interval over {pairs.seeds} seeds" if pairs.seeds > 1 else "one seed, no intervals"
    show(f"Share of the goodput, %, of the row's controller with the column's; {over}", lambda m: m.share_pct)
    show("Mean one-way delay of the row's data, µs", lambda m: m.delay_mean_s, 1e6)
    show("Loss of the row's data, %", lambda m: m.loss_pct)
    show("Jain's index of all flows", lambda m: m.jain)


def picture(pairs: Pairs, found: Sequence[Meeting]) -> Canvas:
    """Draw the shares as a map, each with the half width of its interval."""
    count = len(pairs.controllers)
    by_pair = {(m.controller, m.other): m.share_pct for m in found}
    shares = [[by_pair[a.text, b.text].mean for b in pairs.controllers] for a in pairs.controllers]
    canvas = new_canvas(2.8 + 0.85 * count, 2.0 + 0.68 * count)
    axes: Axes = canvas.subplots()
    shown = axes.imshow(shares, cmap="RdBu", vmin=0, vmax=100, aspect="auto")
    labels = [c.label for c in pairs.controllers]
    axes.set_xticks(range(count), labels, rotation=40, ha="right", fontsize=8, color=INK)
    axes.set_yticks(range(count), labels, fontsize=8, color=INK)
    axes.set_xlabel("beside", fontsize=9, color=INK)
    axes.set_title("Share of the goodput, ± half the 95 % interval", fontsize=9, color=INK, loc="left")
    for row, column in itertools.product(range(count), repeat=2):
        share = by_pair[pairs.controllers[row].text, pairs.controllers[column].text]
        ink = DARK_TEXT if 20 < share.mean < 80 else LIGHT_TEXT
        if math.isnan(share.mean):
            axes.text(column, row, "-", ha="center", va="center", color=DARK_TEXT)
            continue
        text = said(number(share)).replace(" ±", "\n±")
        axes.text(column, row, text, ha="center", va="center", color=ink, fontsize=7.5)
    canvas.colorbar(shown, ax=axes, label="Share of the goodput (%)")
    return canvas
