"""The members of each kind: ``incast list`` and ``incast describe``."""

from __future__ import annotations

from incast import _core, controllers

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
        return controllers.description(name)
    return _core.describe(kind, name).rstrip("\n") + "\n"
