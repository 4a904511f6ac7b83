"""Ends of the values tried: where the best value is one of them, values beyond it may be better still."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from incast import _core
from incast.answers.measures import Measure
from incast.pictures.style import places
from incast.runs.completions import Reading


def beyond(
    measure: Measure, best: Reading, key: str, tried: Sequence[str], level: Collection[str], name: str = ""
) -> str:
    """Return the sentence on a best value at an end of those tried; empty if it is not there, or nothing is beyond.

    ``level`` are the values that no other one is told apart from as better: of several, the best one may be inside.
    ``best`` is the leading reading, and ``name`` the value's name if it is not the value.
    """
    if len(set(level)) != 1 or measure.is_ideal(best):
        return ""
    (value,) = set(level)
    end = ends_of(key, tried).get(value)
    return (
        f"{name or value} is the {end} value tried: {end.replace('est', 'er')} ones may be better still." if end else ""
    )


def ends_of(key: str, tried: Sequence[str]) -> dict[str, str]:
    """Return the lowest and the highest of a key's values, with that word, unless the key allows none beyond."""
    axis = places(list(dict.fromkeys(tried)))
    if not axis.numeric or len(axis.values) < 2:
        return {}
    low, *_, high = axis.order
    least, most = _bounds(key)
    share = [0.01 if value.strip().endswith("%") else 1.0 for value in axis.values]
    found = {}
    if axis.at[low] * share[low] not in least | {0.0}:
        found[axis.values[low]] = "lowest"
    if axis.at[high] * share[high] not in most and (share[high] == 1.0 or axis.at[high] != 100.0):
        found[axis.values[high]] = "highest"
    return found


@cache
def _bounds(key: str) -> tuple[frozenset[float], frozenset[float]]:
    """Return the minima and the maxima that the schema of scenarios declares for a key, by kind of its table."""
    schema = json.loads(_core.schema())
    found = list(_alternatives(schema, schema["$defs"]))
    for word in key.split("."):
        inner = [one for node in found for one in _inside(node, word)]
        found = [one for node in inner for one in _alternatives(node, schema["$defs"])]
    least, most = ({float(one[name]) for one in found if name in one} for name in ("minimum", "maximum"))
    return frozenset(least), frozenset(most)


def _alternatives(node: Mapping[str, Any], definitions: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield a node of the schema and all that it may be instead."""
    yield node
    for one in [*node.get("anyOf", []), *node.get("oneOf", [])]:
        yield from _alternatives(one, definitions)
    if "$ref" in node:
        yield from _alternatives(definitions[node["$ref"].rpartition("/")[2]], definitions)


def _inside(node: Mapping[str, Any], word: str) -> Iterator[Mapping[str, Any]]:
    """Yield what a word of a key leads to: a property, or an entry of a list by its name or number."""
    if word in node.get("properties", {}):
        yield node["properties"][word]
    if "items" in node:
        yield node["items"]
