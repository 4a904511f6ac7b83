"""Keys that provably change nothing in a scenario, so that one run serves all their values.

``queue.mark`` is read by one discipline alone, for packets that are ECN-capable. Whether the packets of a flow are
follows from its controller and from ``transport.ecn``, and stays so: a run of a millisecond that marks every such
packet shows it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from incast.controllers import built_in
from incast.errors import RunError, ScenarioError
from incast.runs.groups import groups
from incast.runs.run_folder import engine_digest
from incast.runs.scenario import Scenario

KEYS = ("queue.mark",)
"""Keys that can be idle."""
HOPS = 100
"""Fewest hops of a run that shows whether packets are ECN-capable."""


def keys_of(scenario: Scenario, keys: Iterable[str]) -> list[str]:
    """Return those of the keys whose values change no byte of a run of the scenario."""
    return [key for key in keys if key in KEYS and _marks_nothing(scenario.resolved())]


def _marks_nothing(resolved: Mapping[str, Any]) -> bool:
    """Return whether no packet is ECN-capable, and nothing but the threshold reads it."""
    queue, transport = resolved.get("queue", {}), resolved.get("transport", {})
    if queue.get("kind") != "ecn-threshold" or queue.get("non_ect") != "pass" or resolved.get("program"):
        return False
    entries = [entry for _, entry in groups(resolved)]
    # the table of a transport other than TCP, such as [transport.uet]; datagrams have marks of their own
    if any(isinstance(value, dict) for value in transport.values()):
        return False
    if any("transport" in entry or entry.get("app", {}).get("kind") == "udp" for entry in entries):
        return False
    if transport.get("ecn") == "off":
        return True
    tables = [entry.get("controller", resolved.get("controller")) for entry in entries]
    return transport.get("ecn") == "auto" and all(_is_plain(table) for table in tables)


def _is_plain(table: Any) -> bool:
    known = isinstance(table, dict) and table.get("kind") in built_in()
    return known and _sends_plain(json.dumps(table, sort_keys=True), engine_digest())


@cache
def _sends_plain(table: str, _engine: str) -> bool:
    """Return whether a controller's packets are not ECN-capable: a queue that marks all such packets marks none."""
    always = {"queue.mark": "0p", "run.duration": "1ms", "run.warmup": "0s", "transport.ecn": "auto"}
    try:
        summary = Scenario.load("dumbbell").changed({"controller": json.loads(table), **always}).run().summary
    except (ScenarioError, RunError):  # a controller that needs other surroundings: nothing is proved
        return False
    return bool(summary["run"]["hops"] >= HOPS and summary["queues"]["marks"] == 0)
