"""Names and descriptions as calls: ``incast.scenarios()``, ``incast.describe("swift")``."""

from __future__ import annotations

from incast.commands import arguments, kinds
from incast.controllers import built_in
from incast.papers import reading, showing
from incast.system.listing import Listing, Words


def scenarios() -> Listing:
    """Return the names of the built-in scenarios, with a summary each (``incast list scenarios``)."""
    return Listing(kinds.listing("scenarios"), "scenarios")


def describe(name: str, kind: str | None = None) -> Words:
    """Describe a controller, scenario, topology or another name: parameters, units, defaults, sources.

    Of a name of several kinds, such as ``swift``, the controller is described unless ``kind`` is given. Raises
    ``ScenarioError`` for an unknown name.
    """
    name = arguments.text("name", name)
    if kind in ("paper", "papers"):
        paper, figures = reading.find(name)
        lines = showing.of_paper(paper) if reading.is_whole(name) else showing.of_figure(paper, figures[0], "small")
        return Words("\n".join(lines) + "\n")
    if kind is None:
        own = "controllers" if name in built_in() else kinds.kind_of(name)
    else:
        own = arguments.text("kind", kind)
    return Words(kinds.description(own, name))
