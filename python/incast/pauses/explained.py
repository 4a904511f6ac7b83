"""Explanation of a run's pauses: its victim, the trees below it, the ports that began it, and deadlocks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from incast.errors import FolderError
from incast.pauses import tree
from incast.system.output import nearest

if TYPE_CHECKING:
    from incast.pauses.record import Flow, Record
    from incast.pauses.tree import Arrivals, Branch

MOST = 50
"""Most flows whose waits are added up in search of a victim."""


@dataclass
class Explanation:
    """Why a flow or a port waited."""

    flow: Flow | None
    """The flow, or ``None`` for a port."""
    waited_s: float
    """Time for which its path, or the port, was paused."""
    of_s: float
    """Time that this is a part of: the flow's life, or the run."""
    branches: list[Branch]
    roots: dict[int, float]
    """Ports that began it, the one with the longest time first."""
    arrivals: Arrivals | None = None
    """Arrivals at the first of them."""
    rings: list[list[int]] = field(default_factory=list)
    """Ports that wait for one another for good."""
    port: int | None = None
    """The port, or ``None`` for a flow."""

    @property
    def root(self) -> int | None:
        """The port that began most of it."""
        return next(iter(self.roots), None)

    @property
    def crosses(self) -> bool:
        """True if the flow passes the port that began most of it."""
        return self.flow is not None and _passes(self.flow, self.root)


def _passes(flow: Flow, port: int | None) -> bool:
    """Return whether data of a flow passes a port."""
    return port in flow.path or port in flow.some


def of_flow(record: Record, flow: Flow) -> Explanation:
    """Explain the pauses on the path of a flow."""
    waited_s, parts = tree.flow_waited(record, flow)
    grown = [tree.branch_of(record, *part) for part in parts]
    branches = [branch for branch in grown if branch.waited_s > tree.LEAST * waited_s]
    return _ended(record, Explanation(flow, waited_s, flow.end_s - flow.start_s, branches, tree.roots(branches)))


def of_port(record: Record, port: int) -> Explanation:
    """Explain the pauses of a port, of all its classes."""
    whole = [(0.0, record.end_s, 1.0)]
    classes = [(port, class_) for class_ in record.classes.get(port, ())]
    branches = [tree.branch_of(record, paused, whole) for paused in classes]
    waited_s = max((branch.waited_s for branch in branches), default=0.0)
    return _ended(record, Explanation(None, waited_s, record.end_s, branches, tree.roots(branches), port=port))


def _ended(record: Record, found: Explanation) -> Explanation:
    """Add what arrives at the root, and the rings."""
    held = [branch for top in found.branches for branch in top.all() if branch.port == found.root]
    found.arrivals = next((branch.arrivals for branch in held if branch.arrivals is not None), None)
    found.rings = rings(record)
    return found


def victim(record: Record) -> Explanation | None:
    """Explain the flow that waited longest for a port that it does not pass, or if there is none, the longest at all.

    Without paths the port that was paused longest takes its place; ``None`` if no pause took effect.
    """
    if not record.pauses:
        return None
    worst = next(iter(tree.blame(record)), None)
    longest = sorted(
        ((_at_most(record, flow), flow) for flow in record.flows), key=lambda one: (-one[0], one[1].number)
    )
    waited: list[tuple[float, Flow]] = []
    for most_s, flow in [one for one in longest if one[0] > 0 and not _passes(one[1], worst)][:MOST]:
        if waited and most_s <= max(waited_s for waited_s, _ in waited):
            break
        waited.append((tree.flow_waited(record, flow)[0], flow))
    for _, flow in sorted(waited, key=lambda one: (-one[0], one[1].number)):
        found = of_flow(record, flow)
        if found.roots and not found.crosses:
            return found
    if longest and longest[0][0] > 0:
        return of_flow(record, longest[0][1])
    paused = max(record.pauses, key=lambda own: (record.paused_s(own, 0, record.end_s), -own[0]))
    return of_port(record, paused[0])


def _at_most(record: Record, flow: Flow) -> float:
    """Return an upper bound of the time for which the path of a flow was paused: the sum over its ports."""
    return sum(record.paused_s(paused, flow.start_s, flow.end_s) for paused in record.of_flow(flow))


def rings(record: Record) -> list[list[int]]:
    """Return the rings of ports that wait for one another at the end of the run, each from its first paused port on."""
    found: list[list[int]] = []
    seen: set[int] = set()
    beyond = {
        port: [through for through in waits if through in record.stuck]
        for (port, _), waits in sorted(record.standing.items())
        if port in record.stuck
    }
    for start in sorted(beyond, key=lambda port: (record.stuck[port], port)):
        walk: list[int] = []
        port: int | None = start
        while port is not None and port not in walk and port not in seen:
            walk.append(port)
            port = min(beyond.get(port, []), default=None)
        if port in walk:
            ring = walk[walk.index(port) :]
            first = min(ring, key=lambda own: (record.stuck[own], own))
            at = ring.index(first)
            found.append(ring[at:] + ring[:at])
        seen.update(walk)
    return found


def flow_of(record: Record, number: int) -> Flow:
    """Return a flow by its number."""
    known = {flow.number: flow for flow in record.flows}
    if number not in known:
        least, most = min(known, default=0), max(known, default=0)
        raise FolderError(f"--flow {number}: no such flow opened; expected a number from {least} to {most}")
    return known[number]


def port_of(record: Record, name: str) -> int:
    """Return a port by its name."""
    if name not in record.names:
        raise FolderError(f'--port "{name}": no such port{nearest(name, record.names)}')
    return record.names.index(name)
