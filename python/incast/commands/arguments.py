"""Arguments of calls: what a user gives becomes the texts of the command line, or is refused in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from incast.controllers import register
from incast.errors import StudyError
from incast.runs.scenario import Scenario, text_of, toml_value
from incast.system.folders import write_whole

KEPT = "scenarios"
"""Folder beside the results, for scenarios that are given as objects."""


def refusal(name: str, given: object, expected: str) -> StudyError:
    """Return the error about an argument: its name, what was given, and what is expected."""
    text = repr(given)
    return StudyError(f"{name} = {text if len(text) <= 80 else text[:77] + '...'}: expected {expected}")


def several(name: str, given: object, one: tuple[type, ...], expected: str) -> list[Any]:
    """Return one or several values as a list; raises ``StudyError`` for other types and for none."""
    listed = [given] if isinstance(given, one) else given
    if isinstance(listed, Mapping) or not hasattr(listed, "__iter__"):
        raise refusal(name, given, expected)
    found = list(listed)
    if not found or not all(isinstance(value, one) for value in found):
        raise refusal(name, given, expected)
    return found


def scenarios(given: object, beside: Callable[[], Path]) -> list[str]:
    """Return the names of scenarios; a ``Scenario`` is written into a folder beside the results."""
    expected = "a scenario (its name, its path or a Scenario), or a list of them"
    found: list[str] = []
    names: dict[str, int] = {}
    for one in several("scenarios", given, (str, PathLike, Scenario), expected):
        if not isinstance(one, Scenario):
            found.append(str(one))
            continue
        names[one.name] = names.get(one.name, 0) + 1
        called = one.name if names[one.name] == 1 else f"{one.name}-{names[one.name]}"
        found.append(str(kept(one, called, beside())))
    return found


def kept(scenario: Scenario, called: str, folder: Path) -> Path:
    """Write a scenario as a file with this name, named by its content too, and return the path."""
    text = scenario.toml({name: str(path.resolve()) for name, path in scenario.files()})
    _, _, rest = text.partition("\n")  # the first line has the name
    text = f"name = {toml_value(called)}\n{rest}"
    path = folder / f"{called}-{scenario.hash[:8]}.toml"
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(path, text)
    return path


def controllers(given: object) -> list[str]:
    """Return controllers as texts; classes are registered."""
    expected = 'a controller (a text such as "swift:target=min-rtt", or a class), or a list of them'
    found = several("controllers", given, (str, type), expected)
    return [register(one) if isinstance(one, type) else one for one in found]


def seeds(given: object) -> int:
    """Return the number of seeds: a count, or a list of the seeds 1 to n."""
    expected = "a number of seeds such as 3 (seeds 1 to 3), or the list [1, 2, 3]"
    if isinstance(given, (int, np.integer)) and not isinstance(given, bool) and given >= 1:
        return int(given)
    if isinstance(given, (list, tuple, range)) and len(given):
        if list(given) == list(range(1, len(given) + 1)):
            return len(given)
        if all(isinstance(one, int) for one in given):
            expected += "; a comparison has the seeds 1 to n, incast.Study takes any seeds"
    raise refusal("seeds", given, expected)


def varied(given: object) -> list[str]:
    """Return the varied keys, each with its values as ``KEY=V1,V2,...``; a single value needs no list."""
    expected = 'a key with its values, such as {"traffic.flows": [100, 250]}'
    if given is None:
        return []
    if not isinstance(given, Mapping) or not given:
        raise refusal("vary", given, expected)
    if len(given) > 2:
        names = ", ".join(map(str, given))
        raise StudyError(
            f"vary has {len(given)} keys ({names}): a comparison varies one or two; make a study (incast.Study)"
        )
    found = []
    for key, values in given.items():
        listed = list(values) if isinstance(values, (list, tuple, range, np.ndarray)) else [values]
        if not isinstance(key, str) or not listed:
            raise refusal("vary", given, expected)
        found.append(f"{key}={','.join(value('vary', one, expected) for one in listed)}")
    return found


def settings(given: object) -> list[tuple[str, str]]:
    """Return settings as texts."""
    expected = 'keys with their values, such as {"run.duration": "10ms"}'
    if given is None:
        return []
    if not isinstance(given, Mapping) or not all(isinstance(key, str) for key in given):
        raise refusal("settings", given, expected)
    return [(key, value("settings", one, expected)) for key, one in given.items()]


def value(name: str, given: object, expected: str) -> str:
    """Return the value of a key as a text."""
    if isinstance(given, type):
        return register(given)
    try:
        return text_of(given.item() if isinstance(given, np.generic) else given)
    except TypeError:
        raise refusal(name, given, expected) from None


def count(name: str, given: object) -> int:
    """Return a number of parallel runs."""
    if isinstance(given, int) and not isinstance(given, bool) and given >= 0:
        return given
    raise refusal(name, given, "a number of parallel runs, or 0 for one per core")


def path(name: str, given: object) -> Path | None:
    """Return a path, if one is given."""
    if given is None:
        return None
    if not isinstance(given, (str, PathLike)) or not str(given).strip():
        raise refusal(name, given, "the path of a folder")
    return Path(given)


def words(name: str, given: object, expected: str) -> str:
    """Return words of a list as one text with commas; a text stays."""
    return ",".join(several(name, given, (str,), expected))


def number(name: str, given: object, expected: str) -> float | None:
    """Return a positive number, if one is given."""
    if given is None:
        return None
    if isinstance(given, bool) or not isinstance(given, (int, float)) or not given > 0:
        raise refusal(name, given, expected)
    return float(given)


def text(name: str, given: object, known: Sequence[str] = ()) -> str:
    """Return a text, one of the known ones if there are any."""
    if not isinstance(given, str) or (known and given not in known):
        raise refusal(name, given, f"one of {', '.join(known)}" if known else "a text")
    return given
