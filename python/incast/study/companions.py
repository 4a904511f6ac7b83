"""Companions of comparisons: studies that only hold the runs drawn over time, which no list and no query shows."""

from __future__ import annotations

import json

from incast.batch.store import Store
from incast.errors import StudyError
from incast.system.output import nearest

SUFFIX = "-series"
"""End of the name of a companion, after the name of its comparison."""
MARK = "measure.series.interval"
"""Key that every point of a companion sets."""


def is_companion(store: Store, name: str) -> bool:
    """Return whether a study of the store is the companion of another one."""
    if not name.endswith(SUFFIX) or name.removesuffix(SUFFIX) not in store.studies():
        return False
    if name not in store.studies():
        pending = store.pending()
        return pending is not None and pending.study == name and MARK in pending.text
    settings = store.read(f"studies/{name}/points.parquet", ["settings"])["settings"].to_pylist()
    return bool(settings) and all(MARK in json.loads(one) for one in settings)


def shown(store: Store) -> list[str]:
    """Return the names of the studies that a user asked for: all but companions."""
    return [name for name in store.studies() if not is_companion(store, name)]


def known(store: Store, name: str) -> str:
    """Return the name of a study with runs; raises ``StudyError`` if the store has none of this name."""
    if name not in store.studies():
        names = shown(store)
        raise StudyError(
            f"{store.folder} has no study {name}: expected one of {', '.join(names) or 'none'}{nearest(name, names)}"
        )
    return name


def name_in(store: Store, name: str | None = None) -> str:
    """Return the name of a store's study, finished or pending (default: its only one).

    Raises ``StudyError`` if the store has no such study, or several without a name.
    """
    there, pending = shown(store), store.pending()
    if pending is not None and not is_companion(store, pending.study):
        there = sorted({*there, pending.study})
    if name is None and len(there) != 1:
        several = f"has {len(there)} studies, {', '.join(there)}: name one with --study"
        raise StudyError(f"{store.folder} {several if there else 'has no study yet'}")
    name = name or there[0]
    return name if name in there else known(store, name)
