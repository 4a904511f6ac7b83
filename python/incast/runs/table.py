"""Table of a run: an Arrow table that prints as a few rows."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

ROWS, COLUMNS = 5, 8
"""Most rows and columns that are printed."""


class Table:
    """Arrow table (``pyarrow.Table``) of a run. All its methods and attributes are here; ``arrow`` is the table itself.

    Printed are the shape and the first rows. Each column's field has its unit and definition:
    ``table.schema.field("fct_s").metadata``. ``pyarrow.table`` takes it as it is.
    """

    def __init__(self, arrow: pa.Table) -> None:
        self.arrow = arrow
        """The ``pyarrow.Table``."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "arrow":
            raise AttributeError(name)
        return getattr(self.arrow, name)

    def __dir__(self) -> list[str]:
        return sorted({"arrow", *(name for name in dir(self.arrow) if not name.startswith("_"))})

    def __getitem__(self, key: Any) -> Any:
        return self.arrow[key]

    def __len__(self) -> int:
        return len(self.arrow)

    def __eq__(self, other: object) -> bool:
        return self.equals(other)

    __hash__ = None  # type: ignore[assignment]

    def equals(self, other: object, **options: Any) -> bool:
        """Return whether another table, or an Arrow table, is equal."""
        rows = other.arrow if isinstance(other, Table) else other
        return isinstance(rows, type(self.arrow)) and bool(self.arrow.equals(rows, **options))

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.arrow.__arrow_c_stream__(requested_schema)

    def __reduce__(self) -> tuple[type[Table], tuple[Any]]:
        return Table, (self.arrow,)

    def _shape(self) -> str:
        return f"{self.arrow.num_rows:,} rows × {self.arrow.num_columns} columns"

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        """Return the names of the first columns, and their first rows as texts."""
        names = self.arrow.column_names[:COLUMNS]
        rows = self.arrow.slice(0, ROWS).select(names).to_pylist()
        return names, [[_text(row[name]) for name in names] for row in rows]

    def _left(self) -> str:
        """Return the names of the columns that are not printed."""
        others = self.arrow.column_names[COLUMNS:]
        if not others:
            return ""
        return f"and {', '.join(others[:6])}{f' and {len(others) - 6} more' if len(others) > 6 else ''}"

    def __repr__(self) -> str:
        names, rows = self._cells()
        widths = [max(map(len, column)) for column in zip(names, *rows, strict=True)]
        lines = [
            "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in (names, *rows)
        ]
        more = ["..."] if self.arrow.num_rows > ROWS else []
        return "\n".join([*lines, *more, f"[{' '.join(filter(None, [self._shape(), self._left()]))}]"])

    def _repr_html_(self) -> str:
        names, rows = self._cells()
        head = "".join(f"<th>{escape(name)}</th>" for name in names)
        body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
        foot = escape(" ".join(filter(None, [self._shape(), self._left()])))
        return f"<table><caption>{foot}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _text(value: object) -> str:
    if value is None:
        return "–"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
