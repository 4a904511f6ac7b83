"""Tree of pauses: from a port that stood still to the ports that began it.

A pause of a port is the fault of the egress ports of the switch that asked for it, each by its share of the bytes that
waited there. Such a port may have been paused itself at that time, or still send what had waited meanwhile: then the
fault passes on to the port beyond it. For the rest of the time it is a **root**: its own arrivals exceed its rate.
Times of all roots and rings add up to the time at the top.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from incast.pauses.record import Flow, Pause, Paused, Record

LEAST = 0.01
"""Least part of the time at the top that a branch of the tree has."""

Window = tuple[float, float, float]
"""Begin, end and weight of an interval."""


@dataclass(frozen=True)
class Arrivals:
    """Arrivals at a congested port: flows, their hosts, and the rate that these can send."""

    flows: int
    hosts: int
    bring_bps: float | None
    """Sum of the rates of the hosts' links, or of the links into the switch if less; ``None`` without a limit."""
    times: float | None
    """This rate in multiples of the port's own."""


@dataclass
class Branch:
    """A port for which another waited, and those for which it waited itself."""

    port: int
    class_: int
    waited_s: float
    """Time that the branch above waited for this port; at the top the time in which this port was paused."""
    share: float = 1.0
    """Part of the bytes above that waited for this port."""
    pauses: int = 0
    paused_s: float = 0.0
    """Part of ``waited_s`` in which this port was paused itself."""
    passed_s: float = 0.0
    """Part of ``waited_s`` for which ports beyond it are at fault: pauses, and the time to send what waited."""
    first_s: float = 0.0
    last_s: float = 0.0
    """Begin of its first pause and end of the last one within that time."""
    node: str = ""
    """Switch that paused it."""
    held: int = 0
    """Most bytes that the switch held of it as it asked, and the bytes from which it asked then."""
    threshold: int = 0
    root_s: float = 0.0
    """Time for which it is the root."""
    arrivals: Arrivals | None = None
    is_ring: bool = False
    """True if it is further up already: the ports wait for one another."""
    branches: list[Branch] = field(default_factory=list)
    left_out: int = 0
    """Branches with less than a part in a hundred of the whole time."""

    def all(self) -> Iterator[Branch]:
        """Yield the branch and those below it."""
        yield self
        for branch in self.branches:
            yield from branch.all()


def overlaps(pauses: list[Pause], windows: Iterable[Window]) -> Iterator[tuple[Pause, Window]]:
    """Yield pauses, in order of their begin, with the parts of windows that they cover."""
    begins = [pause.begin_s for pause in pauses]
    for window in windows:
        yield from _covering(pauses, begins, window)


def _covering(pauses: list[Pause], begins: list[float], window: Window) -> Iterator[tuple[Pause, Window]]:
    begin, end, weight = window
    at = max(bisect_right(begins, begin) - 1, 0)
    while at < len(pauses) and begins[at] < end:
        low, high = max(begins[at], begin), min(pauses[at].end_s, end)
        if low < high:
            yield pauses[at], (low, high, weight)
        at += 1


def without(windows: list[Window], pauses: list[Pause]) -> list[Window]:
    """Return the parts of windows in which no pause holds."""
    begins, left = [pause.begin_s for pause in pauses], []
    for window in windows:
        begin, end, weight = window
        for _, (low, high, _) in _covering(pauses, begins, window):
            if low > begin:
                left.append((begin, low, weight))
            begin = max(begin, high)
        if begin < end:
            left.append((begin, end, weight))
    return left


def length(windows: Iterable[Window]) -> float:
    """Return the weighted time of windows."""
    return sum((end - begin) * weight for begin, end, weight in windows)


def arrivals_at(record: Record, port: int, begin_s: float, end_s: float) -> Arrivals:
    """Return what the flows open in an interval can bring to a port."""
    flows = [flow for flow in record.through[port] if flow.start_s < end_s and flow.end_s > begin_s]
    hosts = {flow.path[0] for flow in flows if flow.path}
    before = {link for flow in flows for link in _before(record, flow, port)}
    sums = [_sum(record, links) for links in (hosts, before) if links]
    brings = min((rate for rate in sums if rate is not None), default=None)
    rate = record.rates[port]
    return Arrivals(len(flows), len(hosts), brings, brings / rate if brings is not None and rate else None)


def _before(record: Record, flow: Flow, port: int) -> list[int]:
    """Return the ports from which data of a flow comes to a port; none if they are not told apart."""
    if not flow.some:
        return [flow.path[flow.path.index(port) - 1]] if port in flow.path[1:] else []
    node, _, beyond = record.names[port].partition(">")
    ending = re.compile(rf"[^>]*>{re.escape(node)}(?:#\d+)?")
    return [] if ">" in beyond else [own for own in (*flow.path, *flow.some) if ending.fullmatch(record.names[own])]


def _sum(record: Record, ports: Iterable[int]) -> float | None:
    rates = [record.rates[port] for port in ports]
    return None if None in rates else sum(rate for rate in rates if rate is not None)


def branch_of(record: Record, paused: Paused, windows: list[Window]) -> Branch:
    """Return the tree of a port's pauses within windows."""
    found = list(overlaps(record.pauses.get(paused, []), windows))
    top = length(window for _, window in found)
    branch = Branch(*paused, top, paused_s=top)
    _grow(record, branch, found, (paused,), top * LEAST)
    return branch


def _grow(
    record: Record, branch: Branch, found: list[tuple[Pause, Window]], above: tuple[Paused, ...], least_s: float
) -> None:
    """Add to a branch its own pauses and what is below them."""
    if not found:
        return
    pauses = {id(pause): pause for pause, _ in found}
    most = max(pauses.values(), key=lambda pause: pause.held)
    branch.pauses, branch.passed_s = len(pauses), length(window for _, window in found)
    branch.first_s, branch.last_s = found[0][1][0], max(window[1] for _, window in found)
    branch.node, branch.held, branch.threshold = most.node, most.held, most.threshold
    for (port, class_), windows in _beyond(found, branch.class_).items():
        waited_s = length(windows)
        if waited_s < least_s:
            branch.left_out += 1
            continue
        below = Branch(port, class_, waited_s, waited_s / branch.passed_s)
        branch.branches.append(below)
        if (port, class_) in above:
            below.is_ring = True
            continue
        own = record.pauses.get((port, class_), [])
        below.paused_s = length(window for _, window in overlaps(own, windows))
        if found_below := list(overlaps(record.lengthened.get((port, class_), []), windows)):
            _grow(record, below, found_below, (*above, (port, class_)), least_s)
        below.root_s = _root_s(record, below, windows)
    branch.branches.sort(key=lambda below: (-below.waited_s, below.port))


def _beyond(found: list[tuple[Pause, Window]], class_: int) -> dict[Paused, list[Window]]:
    """Return the windows in which pauses are the fault of egress ports, weighted by their parts of the bytes."""
    beyond: dict[Paused, list[Window]] = defaultdict(list)
    for pause, (begin, end, weight) in found:
        whole = sum(pause.waits.values())
        for port, held in pause.waits.items():
            beyond[port, class_].append((begin, end, weight * held / whole))
    return beyond


def _root_s(record: Record, branch: Branch, windows: list[Window]) -> float:
    """Return the time for which a port is congested by its own arrivals."""
    rest_s = max(branch.waited_s - branch.passed_s, 0.0)
    branch.arrivals = arrivals_at(record, branch.port, windows[0][0], max(window[1] for window in windows))
    times = branch.arrivals.times
    # what waits at a port that its flows cannot fill is left from its pauses
    if branch.passed_s > 0 and times is not None and times <= 1:
        _scale(branch, branch.waited_s / branch.passed_s)
        branch.passed_s = branch.waited_s
        return 0.0
    return rest_s


def _scale(branch: Branch, scale: float) -> None:
    """Lengthen the times below a branch."""
    for below in branch.branches:
        below.waited_s *= scale
        below.passed_s *= scale
        below.root_s *= scale
        _scale(below, scale)


def roots(branches: Iterable[Branch]) -> dict[int, float]:
    """Return the ports that are roots in trees, and the times for which they are, the longest first."""
    found: dict[int, float] = defaultdict(float)
    for top in branches:
        for branch in top.all():
            if branch.root_s > 0:
                found[branch.port] += branch.root_s
    return dict(sorted(found.items(), key=lambda root: (-root[1], root[0])))


def flow_waited(record: Record, flow: Flow) -> tuple[float, list[tuple[Paused, list[Window]]]]:
    """Return how long the path of a flow was paused, and for each paused port the windows left by those before it."""
    windows, parts = [(flow.start_s, flow.end_s, 1.0)], []
    for paused in record.of_flow(flow):
        parts.append((paused, windows))
        windows = without(windows, record.pauses[paused])
    return (flow.end_s - flow.start_s) - length(windows), parts


def blame(record: Record) -> dict[int, float]:
    """Return, for egress ports, the time for which others waited that is their own fault."""
    found: dict[int, float] = defaultdict(float)
    for (_, class_), pauses in record.pauses.items():
        own = [(pause, (pause.begin_s, pause.end_s, 1.0)) for pause in pauses]
        for paused, windows in _beyond(own, class_).items():
            found[paused[0]] += length(without(windows, record.lengthened.get(paused, [])))
    return dict(sorted(found.items(), key=lambda root: (-root[1], root[0])))
