"""Members of each kind: ``incast list`` and ``incast describe``."""

from __future__ import annotations

import textwrap

from incast import _core, controllers
from incast.errors import ScenarioError
from incast.external import consent
from incast.report import glossary
from incast.system.output import nearest

KINDS = (*_core.KINDS, "models")
"""Names of the kinds, in the plural; the singular works too."""

GLOSSARY = "glossary"
"""Kind of the terms and marks of reports, which have no parameters."""


def listing(kind: str) -> list[tuple[str, str]]:
    """Return names and summaries of a kind's members (``"controllers"``)."""
    if kind in ("model", "models"):
        from incast.models import closed_form

        return closed_form.listing()
    return _core.list_kind(kind)


def description(kind: str, name: str) -> str:
    """Describe one member (``"controller", "swift"``): parameters, units, defaults, sources."""
    if kind in ("model", "models"):
        from incast.models import closed_form

        return closed_form.description(name)
    if kind == GLOSSARY and (found := glossary.term(name)) is not None:
        meaning = textwrap.fill(found[1], 92, initial_indent="  ", subsequent_indent="  ")
        return f"{found[0]}\n{meaning}\n  More: page glossary\n"
    if ":" in name and kind in ("controller", "controllers"):
        consent.grant(name)  # the user has named the class
        return controllers.description(name)
    return _core.describe(kind, name).rstrip("\n") + "\n"


def kind_of(name: str) -> str:
    """Return the kind of a name; raises ``ScenarioError`` for an ambiguous or unknown name."""
    if ":" in name:
        return "controllers"
    members = {kind: [member for member, _ in listing(kind)] for kind in KINDS}
    found = [kind for kind, names in members.items() if name in names]
    if len(found) > 1:
        raise ScenarioError(
            f"{name}: several kinds have this name ({', '.join(found)}): expected KIND NAME, such as "
            f"incast describe {found[0]} {name}"
        )
    if found:
        return found[0]
    if _is_kind(name):
        raise ScenarioError(f"{name}: this is a kind; expected KIND NAME (incast list {name} shows the names)")
    if glossary.term(name) is not None:
        return GLOSSARY
    near = nearest(name, [member for names in [*members.values(), glossary.TERMS] for member in names])
    raise ScenarioError(f"{name}: unknown name{near}; incast list KIND shows the names of {', '.join(KINDS)}")


def _is_kind(word: str) -> bool:
    try:
        return bool(listing(word))
    except ScenarioError:
        return False
