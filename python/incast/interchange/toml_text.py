"""Scenario files: tables, keys and remarks as TOML text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from incast.runs.scenario import toml_value

WIDE = 100
"""Column up to which a remark stands behind its key."""


@dataclass
class Table:
    """A table of a scenario, or an entry of a list of tables."""

    head: str
    """Name in brackets; empty for keys of the scenario itself."""
    lines: list[str] = field(default_factory=list)

    def put(self, key: str, value: Any, remark: str = "") -> Table:
        """Add a key, with a remark."""
        line = f"{key} = {toml_value(value)}"
        if remark and len(line) + len(remark) > WIDE:
            self.lines.append(f"# {remark}")
        elif remark:
            line = f"{line:<27} # {remark}"
        self.lines.append(line)
        return self


def text_of(about: Sequence[str], tables: Sequence[Table]) -> str:
    """Write a scenario: remarks at its head, then the tables."""
    parts = ["\n".join(f"# {line}" for line in about)] if about else []
    for table in tables:
        if table.lines:
            parts.append("\n".join(([table.head] if table.head else []) + table.lines))
    return "\n\n".join(parts) + "\n"
