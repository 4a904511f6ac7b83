"""Tables of a report as HTML: rows are values of the varied key and controllers, columns are a few figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from html import escape

from incast.comparisons.comparison import Comparison
from incast.comparisons.declaration import ComparisonStudy, Controller
from incast.pictures.inline import swatch
from incast.report import badges
from incast.report.figures import Figure
from incast.report.numbers import share_of, shown_reading
from incast.runs.completions import Reading
from incast.system.output import counted

MOST_COLUMNS = 6
"""Most columns of a table, beside the first."""

Cells = Callable[[str, Controller], str]
"""Function that makes the cells of a row from a value of the key and a controller."""


def meaning(comparison: Comparison) -> str:
    """Explain the marks of a table."""
    if badges.possible(comparison):
        return badges.meaning("Bold")
    return "Nothing is marked as best: marks need two controllers and two seeds."


def cell_of(reading: Reading | None, scale: float, best: bool, look: str = " class=best") -> str:
    """Make a cell of a table: the figure, and the share finished; ``look`` marks the best."""
    share = share_of(reading)
    beside = f" <small>{share}</small>" if share else ""
    return f"<td{look if best else ''}>{shown_reading(reading, scale)}{beside}</td>"


def even(figures: Sequence[Figure], most: int = MOST_COLUMNS) -> list[Sequence[Figure]]:
    """Split figures into as few tables as possible, of almost as many columns each, in order."""
    parts = -(-len(figures) // most)
    size = -(-len(figures) // max(parts, 1))
    return [figures[i : i + size] for i in range(0, len(figures), size)] if figures else []


def heading(figure: Figure) -> str:
    """Make the head of a column: title, and below it the unit."""
    unit = f"<small>{escape(figure.unit)}</small>" if figure.unit else ""
    return f"<th>{escape(figure.title)}{unit}</th>"


def table(
    study: ComparisonStudy, heads: str, cells: Cells, first: int = 0, marks: Mapping[str, badges.Marks] | None = None
) -> str:
    """Make a table with a row for each value and controller, from the controller of number ``first`` on.

    With one controller a row is a value. ``marks`` has the marks of the controllers by value.
    """
    shown = list(enumerate(study.controllers))[first:]
    several = len(study.values) > 1
    by_value = several and len(shown) == 1
    rows = []
    for value in study.values:
        at = (marks or {}).get(value)
        if several and not by_value:
            rows.append(f'<tr class="of"><th colspan="99">{escape(study.key)} = {escape(value)}</th></tr>')
        for number, c in shown:
            name = escape(value if by_value else c.label)
            mark = "" if at is None else at.sign(c.text)
            rows.append(f'<tr><th class="name">{swatch(number)}{name}{mark}</th>{cells(value, c)}</tr>')
    corner = escape(study.key if by_value else "controller")
    return (
        f'<div class="card wide"><table><thead><tr><th>{corner}</th>{heads}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def table_of(comparison: Comparison, shown: Sequence[Figure]) -> str:
    """Make the table for notebooks: one row per scenario, value and controller, with the marks of the report."""
    study = comparison.study
    heads = "".join(f"<th>{escape(text)}</th>" for text in ["scenario", study.key, "controller"])
    heads += "".join(f"<th>{escape(figure.label)}</th>" for figure in shown)
    rows = ""
    for scenario, name in zip(study.scenarios, study.scenario_names(), strict=True):
        for value in study.values:
            at = badges.of_point(comparison, scenario, value, shown)
            for c in study.controllers:
                texts = [name, value, f"{c.label}{at.sign(c.text)}"]
                cells = "".join(f"<th>{escape(text)}</th>" for text in texts)
                for f in shown:
                    reading = comparison.reading(scenario, c.text, value, f.key)
                    cells += cell_of(reading, f.scale, at.best[f.key] == c.text, ' style="font-weight:bold"')
                rows += f"<tr>{cells}</tr>"
    caption = f"{escape(study.title)}: means ± half the 95&nbsp;% interval over {counted(study.seeds, 'seed')}"
    return f"<table><caption>{caption}</caption><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"
