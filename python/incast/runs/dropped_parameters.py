"""Parameters of a scenario's own controllers that a controller for all flows drops."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

from incast.controllers import built_in
from incast.runs.groups import groups
from incast.runs.own_controller import OWN, is_own, parameters_of
from incast.runs.scenario import Scenario


def of_entry(scenario: Scenario, entry: str, text: str) -> dict[str, Any]:
    """Return the own controller of a traffic entry or a job as a table, changed as ``text`` says."""
    resolved = scenario.resolved()
    place, own = next((path, one) for path, one in groups(resolved) if one["name"] == entry)
    key = f"{place}.controller"
    whole = scenario.changed({key: own.get("controller", resolved["controller"])})
    changed = whole.changed({f"{key}.{name}": value for name, value in parameters_of(text).items()})
    table: dict[str, Any] = next(one for path, one in groups(changed.resolved()) if path == place)["controller"]
    return table


class Given(NamedTuple):
    """A controller that a user gives for all flows."""

    text: str
    arm: str = ""
    """Arm of a study, if it has a name."""
    replaced: Collection[str] = ()
    """Parameters that the user sets by other keys."""


def dropped(scenario: Scenario, text: str, replaced: Collection[str] = ()) -> dict[str, Any]:
    """Return the parameters of the scenario's controllers that a controller of the same kind would drop, by key.

    Such a controller has the defaults of its kind. Parameters that ``text`` gives, or that are ``replaced`` otherwise,
    are not dropped.
    """
    if is_own(text):
        return {}
    kind, given = text.partition(":")[0], {*parameters_of(text), *replaced}
    resolved = scenario.resolved()
    tables = {"controller": resolved.get("controller", {})} | {
        f"{path}.controller": entry.get("controller", {}) for path, entry in groups(resolved)
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
    bases: Mapping[str, Scenario], controllers: Sequence[Given], notation: Callable[[str, str], str]
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
