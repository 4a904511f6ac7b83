"""The scenario's own controller in the notation of ``--cc``, and what another controller drops of it.

``.`` is the scenario's own controller with its parameters, ``.:KEY=VALUE,...`` the same with changes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, Self, TypeVar

from incast.controllers import built_in
from incast.errors import ScenarioError

OWN = "."
"""The scenario's own controller."""


class Governed(Protocol):
    """What is asked of a scenario here."""

    @property
    def name(self) -> str:
        """Its name."""

    def resolved(self) -> dict[str, Any]:
        """Return it with all defaults."""

    def changed(self, settings: Mapping[str, Any], /) -> Self:
        """Return it with other values of keys."""

    def governed(self, controller: str, /) -> Self:
        """Return it with another controller for all flows."""


Whole = TypeVar("Whole", bound=Governed)


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


def kept(scenario: Whole, text: str) -> Whole:
    """Return the scenario with its own controllers, changed as ``text`` says.

    Raises ``ScenarioError`` for a change where traffic entries have controllers of their own.
    """
    changes = parameters_of(text)
    if not changes:
        return scenario
    beside = [entry["name"] for entry in scenario.resolved()["traffic"] if "controller" in entry]
    if beside:
        keys = ", ".join(f"traffic.{name}.controller.{next(iter(changes))}" for name in beside)
        raise ScenarioError(
            f'"{text}": entries of {scenario.name} have controllers of their own: expected ".", and settings such as '
            f"{keys}"
        )
    return scenario.changed({f"controller.{key}": value for key, value in changes.items()})


def of_entry(scenario: Governed, entry: str, text: str) -> dict[str, Any]:
    """Return the own controller of a traffic entry as a table, changed as ``text`` says."""
    resolved = scenario.resolved()
    own = next(one for one in resolved["traffic"] if one["name"] == entry)
    key = f"traffic.{entry}.controller"
    whole = scenario.changed({key: own.get("controller", resolved["controller"])})
    changed = whole.changed({f"{key}.{name}": value for name, value in parameters_of(text).items()})
    table: dict[str, Any] = next(one for one in changed.resolved()["traffic"] if one["name"] == entry)["controller"]
    return table


class Given(NamedTuple):
    """A controller that a user gives for all flows."""

    text: str
    arm: str = ""
    """Arm of a study, if it has a name."""
    replaced: Collection[str] = ()
    """Parameters that the user sets by other keys."""


def dropped(scenario: Governed, text: str, replaced: Collection[str] = ()) -> dict[str, Any]:
    """Return the parameters of the scenario's controllers that a controller of the same kind would drop, by key.

    Such a controller has the defaults of its kind. Parameters that ``text`` gives, or that are ``replaced`` otherwise,
    are not dropped.
    """
    if is_own(text):
        return {}
    kind, given = text.partition(":")[0], {*parameters_of(text), *replaced}
    resolved = scenario.resolved()
    tables = {"controller": resolved.get("controller", {})} | {
        f"traffic.{entry['name']}.controller": entry.get("controller", {}) for entry in resolved["traffic"]
    }
    found: dict[str, Any] = {}
    for place, own in tables.items():
        if own.get("kind") != kind:
            continue
        form = own.get("form")
        named = kind if form is None or "form" in given else f"{kind}:form={form}"
        usual = scenario.governed(named).resolved()["controller"]
        plain = scenario.governed(kind).resolved()["controller"]
        found |= {
            f"{place}.{key}": value
            for key, value in own.items()
            if key not in given and (usual.get(key) != value or (key == "form" and plain[key] != value))
        }
    return found


def drop_notes(
    bases: Mapping[str, Governed], controllers: Sequence[Given], notation: Callable[[str, str], str]
) -> list[str]:
    """Return a note for each scenario whose own parameters some controllers do not use.

    ``notation(arm, text)`` writes how a user gives a controller.
    """
    notes = []
    for scenario, base in bases.items():
        by_drop: dict[tuple[str, str], list[Given]] = {}
        for one in controllers:
            if one.text.partition(":")[0] in built_in() and (found := dropped(base, one.text, one.replaced)):
                by_drop.setdefault((one.text.partition(":")[0], said(found)), []).append(one)
        for (kind, words), of in by_drop.items():
            given = " and ".join(notation(one.arm, one.text) for one in of)
            kept_by = " and ".join(notation(one.arm, f"{OWN}{one.text.removeprefix(kind)}") for one in of)
            takes, keeps = ("takes", "keeps") if len(of) == 1 else ("take", "keep")
            are = "are" if ", " in words else "is"
            notes.append(
                f"{given} {takes} the defaults of {kind}: {scenario}'s own {words} {are} not used; {kept_by} {keeps} "
                f"{'them' if are == 'are' else 'it'}"
            )
    return notes


def said(found: Mapping[str, Any]) -> str:
    """Write dropped parameters: ``controller.base_target = 25us, fs_min_cwnd = 0.01``."""
    words, before = [], ""
    for key, value in found.items():
        place, _, name = key.rpartition(".")
        shown = str(value).lower() if isinstance(value, bool) else str(value)
        words.append(f"{name if place == before else key} = {shown}")
        before = place
    return ", ".join(words)
