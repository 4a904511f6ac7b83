"""Flow and trace files of HPCC's simulator and its dialects (``flow.txt``, ``trace.txt``)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from incast.interchange import units
from incast.interchange.dialects import CONWEAVE, HPCC, Dialect
from incast.interchange.network import Network, ascends
from incast.interchange.translation import Notes
from incast.interchange.words import Words
from incast.system.output import counted

MOST_FLOWS = 4_000_000
MOST_START_S = 1_000_000
GROUP = 3
"""Priority group of all flows in their files."""
BACKGROUND, INCAST = 100, 200
"""Destination ports by which HPCC's analysis tells flows apart."""


@dataclass(frozen=True)
class Flow:
    """A flow of a flow file."""

    source: int
    destination: int
    size: int
    """Bytes of payload."""
    start: int
    """ns."""
    port: int = BACKGROUND
    way: tuple[int, ...] = ()
    """Switches that its data passes; empty for those that the routing chooses."""
    way_back: tuple[int, ...] = ()
    """Switches that its ACKs pass."""


def read(words: Words, dialect: Dialect, network: Network, notes: Notes) -> list[Flow]:
    """Read the flows, each between two hosts with a path."""
    hosts, part = set(network.hosts), network.parts()
    number = words.whole("number of flows", MOST_FLOWS, 1)
    flows, groups = [], set()
    for _ in range(number):
        source = _host(words, "source", hosts)
        destination = _host(words, "destination", hosts)
        if source == destination:
            raise words.wrong("destination", "another host than the source")
        if part[network.gate(source)] != part[network.gate(destination)]:
            raise words.wrong("destination", f"a host with a path from {source}")
        groups.add(words.whole("priority group", 7))
        port = words.whole("destination port") if dialect.has_port else BACKGROUND
        size = words.whole("bytes", dialect.most_bytes, 0 if dialect is CONWEAVE else 1)
        start = units.rounded(words.number("start", MOST_START_S) * 10**9)
        flows.append(Flow(source, destination, max(size, 1), start, port))
    _tell(flows, groups, dialect, notes)
    return flows


def _host(words: Words, what: str, hosts: set[int]) -> int:
    node = words.whole(what)
    if node not in hosts:
        raise words.wrong(what, "the number of a host with a link")
    return node


def _tell(flows: Sequence[Flow], groups: set[int], dialect: Dialect, notes: Notes) -> None:
    """Say what of the flows has no counterpart."""
    if groups != {GROUP}:
        listed = ", ".join(map(str, sorted(groups)))
        notes.differ(f"priority groups {listed}: all flows have one class here, as group {GROUP}")
    if not ascends([flow.start for flow in flows]):
        what = "starts such a flow late" if dialect.name == "ns3-datacenter" else "never starts such a flow"
        notes.differ(
            f"flows are not in the order of their starts: their simulator {what}; here each starts at its time"
        )
    if stalled := sum(flow.size >= 2**32 for flow in flows):
        notes.differ(f"{counted(stalled, 'flow')} of 4.29 GB and more: their simulator stops them there")


def read_trace(words: Words) -> list[int]:
    """Read the numbers of the nodes that are traced."""
    return [words.whole("node") for _ in range(words.whole("number of nodes", 10_000_000))]


def entries(flows: Sequence[Flow], network: Network) -> list[tuple[str, int, list[Flow]]]:
    """Part flows into traffic entries: name, rate of the sources, flows.

    Rates are parted because parameters of controllers are shares of them, ports if they are HPCC's for background and
    incast alone.
    """
    ports = {flow.port for flow in flows}
    names = {BACKGROUND: "background", INCAST: "incast"} if ports == {BACKGROUND, INCAST} else {}
    parted: dict[tuple[str, int], list[Flow]] = {}
    for flow in flows:
        key = names.get(flow.port, "flows"), network.rate(flow.source)
        parted.setdefault(key, []).append(flow)
    rates = {rate for _, rate in parted}
    return [
        (name if len(rates) == 1 else f"{name}-{units.rate_text(rate)}", rate, own)
        for (name, rate), own in sorted(parted.items())
    ]


def flow_file(flows: Sequence[Flow], network: Network) -> str:
    """Write the flow file of a scenario."""
    has_ways = any(flow.way for flow in flows)
    lines = ["start,source,destination,size" + (",path,reverse_path" if has_ways else "")]
    for flow in flows:
        ends = f"{network.name(flow.source)},{network.name(flow.destination)}"
        ways = [" ".join(map(network.name, way)) for way in (flow.way, flow.way_back)] if has_ways else []
        lines.append(",".join([units.time_text(flow.start), ends, str(flow.size), *ways]))
    return "\n".join(lines) + "\n"


def written(flows: Sequence[Flow], dialect: Dialect = HPCC) -> str:
    """Write a flow file in the order of the starts, which their simulator needs."""
    lines = [str(len(flows))]
    for flow in sorted(flows, key=lambda one: one.start):
        port = f" {flow.port}" if dialect.has_port else ""
        start = units.seconds_text(flow.start)
        lines.append(f"{flow.source} {flow.destination} {GROUP}{port} {flow.size} {start}")
    return "\n".join(lines) + "\n"
