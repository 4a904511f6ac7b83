"""Pictures of the page, in the style of the reports."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence

from matplotlib.lines import Line2D

from incast.pictures.style import COLOURS, GRID, INK, dress, new_canvas, png_bytes
from parity.checks import EXPLAINED, HOLDS, MISS, SHOWN, Case, Cloud, Drawing, Line, Row

OURS, THEIRS, WRONG = COLOURS[0], COLOURS[1], "#b3261e"
LIGHT = "#f2b58a"
"""Colour of the reference's line, drawn below ours and visible around it."""


def draw(kind: str, cases: Sequence[Case], rows: Sequence[Row], drawings: Mapping[str, Sequence[Drawing]]) -> bytes:
    """Draw a section's picture: ``"ratios"``, ``"values"``, ``"traces"`` or ``"clouds"``."""
    match kind:
        case "ratios":
            return ratios(rows)
        case "values":
            return values(rows)
        case "traces":
            return traces({case.title: [d for d in drawings[case.id] if isinstance(d, Line)] for case in cases})
        case "clouds":
            return clouds({case.title: d for case in cases for d in drawings[case.id] if isinstance(d, Cloud)})
        case _:
            raise ValueError(f'picture "{kind}": expected "ratios", "values", "traces" or "clouds"')


MARKS = {HOLDS: ("o", OURS), EXPLAINED: ("D", THEIRS), MISS: ("X", WRONG), SHOWN: (".", "#8b949e")}
"""Style of each verdict."""


def ratios(rows: Sequence[Row]) -> bytes:
    """Draw ours divided by the reference: one panel per figure, one dot per case."""
    usable = [row for row in rows if row.reference and row.ours is not None]
    figures = list(dict.fromkeys(row.figure for row in usable))
    titles = list(dict.fromkeys(row.title for row in usable))
    canvas = new_canvas(_margin(titles) + 1.35 * len(figures), 1.5 + 0.2 * len(titles))
    panels = canvas.subplots(1, len(figures), squeeze=False, sharey=True)[0]
    for axes, figure in zip(panels, figures, strict=True):
        farthest = 0.05
        for row in usable:
            if row.figure == figure:
                assert row.reference is not None and row.ours is not None
                ratio = row.ours / row.reference
                farthest = max(farthest, abs(ratio - 1))
                marker, colour = MARKS[row.verdict]
                axes.plot(ratio, titles.index(row.title), marker, color=colour, markersize=4)
        axes.axvline(1, color="#8b949e", linewidth=0.8, zorder=0)
        axes.set_xlim(max(-0.1, 1 - 1.15 * farthest), 1 + 1.15 * farthest)
        axes.locator_params(axis="x", nbins=3)
        axes.set_title(textwrap.fill(figure, 17), fontsize=8, color=INK, loc="left")
        dress(axes)
        axes.tick_params(axis="x", labelsize=7)
        axes.tick_params(axis="y", length=0)
    panels[0].set_yticks(range(len(titles)), titles, fontsize=7)
    panels[0].set_ylim(len(titles) - 0.5, -0.5)
    canvas.supxlabel("Ours / reference", fontsize=8, color=INK)
    found = [verdict for verdict in MARKS if any(row.verdict == verdict for row in usable)]
    handles = [Line2D([], [], marker=MARKS[v][0], color=MARKS[v][1], linestyle="", markersize=4) for v in found]
    labels = [verdict.lower() for verdict in found]
    canvas.legend(handles, labels, loc="outside upper right", ncols=4, frameon=False, fontsize=8, labelcolor=INK)
    return png_bytes(canvas)


def _margin(titles: Sequence[str]) -> float:
    """Return the width in inches that the titles of the cases take."""
    return 0.4 + 0.055 * max(map(len, titles), default=0)


def values(rows: Sequence[Row]) -> bytes:
    """Draw ours and the reference on one scale: one panel per figure, one line per case."""
    figures = list(dict.fromkeys(row.figure for row in rows))
    titles = list(dict.fromkeys(row.title for row in rows))
    canvas = new_canvas(_margin(titles) + 2.0 * len(figures), 1.3 + 0.2 * len(titles))
    panels = canvas.subplots(1, len(figures), squeeze=False, sharey=True)[0]
    for axes, figure in zip(panels, figures, strict=True):
        inside = [row for row in rows if row.figure == figure]
        for whose, marker, size, colour in (("reference", "o", 7, THEIRS), ("ours", "D", 3, OURS)):
            found = [(row.reference if whose == "reference" else row.ours, row) for row in inside]
            kept = [(value, titles.index(row.title)) for value, row in found if value is not None]
            face = "none" if whose == "reference" else colour
            x, y = [value for value, _ in kept], [place for _, place in kept]
            axes.plot(x, y, marker, color=colour, markersize=size, markerfacecolor=face, label=whose)
        everything = [v for row in inside for v in (row.reference, row.ours) if v is not None]
        if everything and min(everything) > 0 and max(everything) / min(everything) >= 5:
            axes.set_xscale("log")
        axes.set_title(f"{figure} ({inside[0].unit})", fontsize=8, color=INK, loc="left")
        dress(axes)
        axes.tick_params(axis="y", length=0)
    panels[0].set_yticks(range(len(titles)), titles, fontsize=7)
    panels[0].set_ylim(len(titles) - 0.5, -0.5)
    handles, labels = panels[0].get_legend_handles_labels()
    canvas.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False, fontsize=8, labelcolor=INK)
    return png_bytes(canvas)


ABREAST = 3
"""Panels per row."""


def traces(lines: Mapping[str, Sequence[Line]]) -> bytes:
    """Draw traces, ours over the reference: three panels per row; a case with several panels begins a row."""
    single = all(len(of_case) == 1 for of_case in lines.values())
    places: list[tuple[int, int, str, Line, bool]] = []
    row = 0
    for i, (title, of_case) in enumerate(lines.items()):
        if single:
            last = i + ABREAST >= len(lines)
            places.append((i // ABREAST, i % ABREAST, title, of_case[0], last))
            row = i // ABREAST + 1
        else:
            for j, line in enumerate(of_case):
                last = j + ABREAST >= len(of_case)
                places.append((row + j // ABREAST, j % ABREAST, "" if j else title, line, last))
            row += math.ceil(len(of_case) / ABREAST)
    across = 1 + max(column for _, column, *_ in places)
    canvas = new_canvas(max(6.4, 3.4 * across), 0.6 + 1.7 * row)
    panels = canvas.subplots(row, across, squeeze=False)
    for axes in panels.flat:
        axes.set_visible(False)
    for above, column, title, line, last in places:
        axes = panels[above][column]
        axes.set_visible(True)
        for series, colour, width, label in (
            (line.theirs, LIGHT, 2.6, "reference"),
            (line.ours, OURS, 0.8, "ours"),
        ):
            times = [1e3 * t for t in series.times_s]
            axes.step(times, series.values, where="post", color=colour, linewidth=width, label=label)
        dress(axes)
        axes.set_ylabel(textwrap.fill(line.name, 20), fontsize=7, color=INK)
        axes.set_ylim(bottom=0)
        axes.set_title(title, fontsize=8, color=INK, loc="left")
        if last:
            axes.set_xlabel("Time (ms)", fontsize=8, color=INK)
    handles, labels = panels[0][0].get_legend_handles_labels()
    canvas.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False, fontsize=8, labelcolor=INK)
    return png_bytes(canvas)


def clouds(of_cases: Mapping[str, Cloud]) -> bytes:
    """Draw ours against the reference, one dot per flow, and the distribution of the error."""
    canvas = new_canvas(7.2, 0.4 + 3.0 * len(of_cases))
    panels = canvas.subplots(len(of_cases), 2, squeeze=False)
    for (title, cloud), (left, right) in zip(of_cases.items(), panels, strict=True):
        low, high = min(cloud.theirs + cloud.ours), max(cloud.theirs + cloud.ours)
        left.plot([low, high], [low, high], color="#8b949e", linewidth=0.8)
        left.plot(cloud.theirs, cloud.ours, "o", color=OURS, markersize=2.5, alpha=0.7)
        left.set_xlabel(f"Reference ({cloud.unit})", fontsize=8, color=INK)
        left.set_ylabel(f"Ours ({cloud.unit})", fontsize=8, color=INK)
        left.set_title(title, fontsize=8, color=INK, loc="left")
        errors = sorted(100 * (m - t) / t for t, m in zip(cloud.theirs, cloud.ours, strict=True))
        right.step(errors, [100 * (i + 1) / len(errors) for i in range(len(errors))], where="post", color=OURS)
        right.axvline(0, color=GRID, linewidth=0.8)
        reach = math.ceil(max(1.0, max(map(abs, errors), default=1.0)))
        right.set_xlim(-reach, reach)
        right.set_ylim(0, 100)
        right.set_xlabel("Error of a flow (%)", fontsize=8, color=INK)
        right.set_ylabel("Flows (%)", fontsize=8, color=INK)
        for axes in (left, right):
            dress(axes)
    return png_bytes(canvas)
