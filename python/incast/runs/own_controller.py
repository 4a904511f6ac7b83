"""The scenario's own controller in the notation of ``--cc``.

``.`` is the scenario's own controller with its parameters, ``.:KEY=VALUE,...`` the same with changes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from incast.errors import ScenarioError
from incast.runs.groups import groups

OWN = "."
"""The scenario's own controller."""


def is_own(text: str) -> bool:
    """Return whether a text names the scenario's own controller, with or without changes."""
    return text.partition(":")[0].strip() == OWN


def parameters_of(text: str) -> dict[str, str]:
    """Return the parameters after a controller's name; raises ``ScenarioError`` unless each has a value."""
    _, colon, rest = text.partition(":")
    pairs = [pair.partition("=") for pair in rest.split(",")] if colon else []
    if not all(key.strip() and equals and value.strip() for key, equals, value in pairs):
        raise ScenarioError(f'"{text}": expected parameters with values, such as ".:flow_scaling=false"')
    return {key.strip(): value.strip() for key, _, value in pairs}


def changes_of(text: str, name: str, resolved: Mapping[str, Any]) -> dict[str, str]:
    """Return the settings that change the own controller of the resolved scenario ``name`` as a text says.

    Raises ``ScenarioError`` for a change where traffic entries or jobs have controllers of their own.
    """
    changes = parameters_of(text)
    beside = [path for path, entry in groups(resolved) if "controller" in entry] if changes else []
    if beside:
        keys = ", ".join(f"{path}.controller.{next(iter(changes))}" for path in beside)
        raise ScenarioError(
            f'"{text}": entries of {name} have controllers of their own: expected ".", and settings such as {keys}'
        )
    return {f"controller.{key}": value for key, value in changes.items()}
