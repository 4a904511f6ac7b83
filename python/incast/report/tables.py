"""Tables on a terminal, split if they are wider than it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from rich import box
from rich.console import Console, JustifyMethod
from rich.table import Table

from incast.writing.numbers import said

GAP = 2
"""Characters between two columns."""


@dataclass(frozen=True)
class Column:
    """A column of a table: its head, possibly of several lines, and its cells."""

    head: str
    cells: Sequence[str]
    justify: JustifyMethod = "right"

    @property
    def width(self) -> int:
        """Width in characters."""
        return max(len(line) for text in (self.head, *self.cells) for line in text.split("\n")) + GAP


def show(
    console: Console,
    title: str,
    first: Sequence[Column],
    others: Sequence[Column],
    ends: Collection[int] = (),
    cut: bool = False,
) -> int:
    """Print the columns as one table, or as several, each with the first columns, if one does not fit.

    ``ends`` are the last rows of sections. With ``cut`` the first table is the only one. Returns the number of columns
    that it leaves out.
    """
    room = console.width - sum(column.width for column in first)
    parts = that_fit([column.width for column in others], room)
    shown = parts[:1] if cut else parts
    for part in shown:
        table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
        columns = [*first, *(others[i] for i in part)]
        for column in columns:
            table.add_column(column.head, justify=column.justify, no_wrap=True)
        for row, cells in enumerate(zip(*(column.cells for column in columns), strict=True)):
            table.add_row(*map(said, cells), end_section=row in ends)
        console.print(table)
    return len(others) - sum(map(len, shown))


def that_fit(widths: Sequence[int], width: int) -> list[list[int]]:
    """Split columns into groups of at most ``width`` characters, each with at least one column."""
    groups: list[list[int]] = []
    left = 0
    for column, needed in enumerate(widths):
        if not groups or needed > left:
            groups.append([])
            left = width
        groups[-1].append(column)
        left -= needed
    return groups
