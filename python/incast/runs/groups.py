"""Groups of flows in a resolved scenario: its traffic entries, then its jobs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


def groups(resolved: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the key path (``traffic.NAME`` or ``job.NAME``) and the table of each group."""
    for table in ("traffic", "job"):
        for entry in resolved.get(table, []):
            yield f"{table}.{entry['name']}", entry


def keys_of(resolved: Mapping[str, Any]) -> dict[str, str]:
    """Return the key path of each group by its name."""
    return {entry["name"]: path for path, entry in groups(resolved)}
