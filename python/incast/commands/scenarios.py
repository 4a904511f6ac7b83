"""Built-in scenarios with their sizes, grouped by topology."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from incast import _core
from incast.runs import size
from incast.runs.scenario import Scenario
from incast.runs.size import Size

GROUPS = {
    "dumbbell": "dumbbell: one shared link",
    "star": "star: one switch",
    "leaf-spine": "leaf-spine",
    "fat-tree": "fat tree",
    "three-tier": "three tiers",
    "cell": "radio cell",
}
"""Kinds of topologies in the order of the list, and their headings."""
REFERENCES = ("ns3-", "htsim-", "linux-")
OF_REFERENCES = "set-ups of ns-3, htsim and Linux"


@dataclass(frozen=True)
class Listed:
    """A built-in scenario in a list."""

    name: str
    what: str
    group: str
    size: Size

    def data(self) -> dict[str, Any]:
        """Return it as data: name, sentence, group, and the fields of its size."""
        own = asdict(self.size)
        own["host_rate_bps"] = None if own["host_rate_bps"] == math.inf else own["host_rate_bps"]
        return {"name": self.name, "what": self.what, "group": self.group} | own


def all_of_them() -> Iterator[Listed]:
    """Yield all built-in scenarios, group by group."""
    found = []
    for name, what in _core.list_kind("scenarios"):
        scenario = Scenario.load(name)
        kind = scenario.resolved()["topology"]["kind"]
        group = OF_REFERENCES if name.startswith(REFERENCES) else GROUPS.get(kind, kind)
        found.append(Listed(name, what, group, size.of(scenario)))
    order = [*GROUPS.values(), *sorted({one.group for one in found} - {*GROUPS.values(), OF_REFERENCES}), OF_REFERENCES]
    yield from sorted(found, key=lambda one: order.index(one.group))
