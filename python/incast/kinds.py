"""The members of each kind: ``incast list`` and ``incast describe``."""

from __future__ import annotations

from incast import _core, consent, controllers
from incast.errors import ScenarioError
from incast.output import nearest

KINDS = (*_core.KINDS, "models")
"""Words for kinds, in the plural; the singular is understood too."""


def listing(kind: str) -> list[tuple[str, str]]:
    """Return names and summaries of everything of a kind (``"controllers"``)."""
    if kind in ("model", "models"):
        from incast import model

        return model.listing()
    return _core.list_kind(kind)


def description(kind: str, name: str) -> str:
    """Describe one thing (``"controller", "swift"``): parameters, units, defaults, sources."""
    if kind in ("model", "models"):
        from incast import model

        return model.description(name)
    if ":" in name and kind in ("controller", "controllers"):
        consent.grant(name)  # who asks for a description has named the class
        return controllers.description(name)
    return _core.describe(kind, name).rstrip("\n") + "\n"


def kind_of(name: str) -> str:
    """Say of which kind the only thing of a name is; raises ``ScenarioError`` where there are several, or none."""
    if ":" in name:
        return "controllers"
    members = {kind: [member for member, _ in listing(kind)] for kind in KINDS}
    found = [kind for kind, names in members.items() if name in names]
    if len(found) > 1:
        raise ScenarioError(
            f"{name}: several kinds have one, {', '.join(found)}: expected KIND NAME, such as "
            f"incast describe {found[0]} {name}"
        )
    if found:
        return found[0]
    if _is_kind(name):
        raise ScenarioError(f"{name}: a kind; expected a name of that kind beside it (incast list {name})")
    near = nearest(name, [member for names in members.values() for member in names])
    raise ScenarioError(f"{name}: no kind has one; incast list KIND names what there is of {', '.join(KINDS)}{near}")


def _is_kind(word: str) -> bool:
    try:
        return bool(listing(word))
    except ScenarioError:
        return False
