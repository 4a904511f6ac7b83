"""Lists and texts that a notebook or a prompt shows as they are to be read."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape


class Listing(list[str]):
    """Names in order, with a summary each; printed as a small table."""

    def __init__(self, rows: Sequence[tuple[str, str]], title: str = "") -> None:
        super().__init__(name for name, _ in rows)
        self.summaries = dict(rows)
        """Summary of each name."""
        self.title = title

    def __repr__(self) -> str:
        width = max(map(len, self), default=0)
        return "\n".join(f"{name.ljust(width)}  {self.summaries[name]}".rstrip() for name in self)

    def _repr_html_(self) -> str:
        caption = f"<caption>{escape(self.title)}</caption>" if self.title else ""
        rows = "".join(f"<tr><th>{escape(name)}</th><td>{escape(self.summaries[name])}</td></tr>" for name in self)
        return f"<table>{caption}<tbody>{rows}</tbody></table>"


class Words(str):
    """A text that is printed as it is."""

    __slots__ = ()

    def __repr__(self) -> str:
        return self.rstrip("\n")

    def _repr_html_(self) -> str:
        return f"<pre>{escape(self)}</pre>"
