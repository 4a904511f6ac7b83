"""Paths of flows by the rule of HPCC's switches: a hash of addresses and ports, seeded by the switch's number.

Each of several next hops on shortest paths is chosen by the 32-bit MurmurHash3 of source address, destination address
and both ports, modulo their number. ACKs hash their own header, so that they may take another path back.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from incast.interchange.dialects import CONWEAVE, Dialect
from incast.interchange.hpcc_flows import Flow
from incast.interchange.network import Network

MASK = 2**32 - 1
SOURCE_PORT, DESTINATION_PORT = 10_000, 100
"""First port of a source; of a destination where flow files have none."""


def hashed(words: Sequence[int], seed: int) -> int:
    """Return the 32-bit MurmurHash3 of 32-bit words."""
    h = seed
    for word in words:
        k = word * 0xCC9E2D51 & MASK
        k = (k << 15 | k >> 17) & MASK
        h ^= k * 0x1B873593 & MASK
        h = (h << 13 | h >> 19) & MASK
        h = (h * 5 + 0xE6546B64) & MASK
    h ^= 4 * len(words)
    h = (h ^ h >> 16) * 0x85EBCA6B & MASK
    h = (h ^ h >> 13) * 0xC2B2AE35 & MASK
    return h ^ h >> 16


def address(node: int) -> int:
    """Return the IP address of a node, 11.x.y.1."""
    return 0x0B000001 + (node // 256) * 0x10000 + (node % 256) * 0x100


class Paths:
    """Paths through a network."""

    def __init__(self, network: Network) -> None:
        self.network = network
        self._near = network.neighbours()
        self._next: dict[int, Mapping[int, Sequence[int]]] = {}

    @property
    def differ(self) -> bool:
        """True if any two switches have several shortest paths."""
        return any(len(hops) > 1 for gate in self._gates() for hops in self._towards(gate).values())

    def _gates(self) -> Iterator[int]:
        return iter(dict.fromkeys(self.network.gate(host) for host in self.network.hosts))

    def _towards(self, gate: int) -> Mapping[int, Sequence[int]]:
        """Return the next hops of each switch towards a switch with hosts, in the order of a breadth-first search."""
        if gate not in self._next:
            far, queue = {gate: 0}, [gate]
            hops: dict[int, list[int]] = {}
            for now in queue:
                for other, _ in self._near[now]:
                    if other not in far:
                        far[other] = far[now] + 1
                        hops[other] = []
                        queue.append(other)
                    if far[other] == far[now] + 1:
                        hops[other].append(now)
            self._next[gate] = hops
        return self._next[gate]

    def of(self, source: int, destination: int, ports: tuple[int, int]) -> list[int]:
        """Return the switches that a packet passes, by its hosts and its ports, source and destination."""
        now, gate = self.network.gate(source), self.network.gate(destination)
        hops = self._towards(gate)
        words = address(source), address(destination), (ports[0] | ports[1] << 16) & MASK
        path = [now]
        while now != gate:
            options = hops[now]
            now = options[hashed(words, now) % len(options)] if len(options) > 1 else options[0]
            path.append(now)
        return path


def ports_of(flows: Sequence[Flow], dialect: Dialect) -> Iterator[tuple[int, int]]:
    """Yield source and destination port of each flow: sources count their flows to a destination, or all of them."""
    sources: dict[tuple[int, int], int] = {}
    destinations: dict[int, int] = {}
    for flow in flows:
        pair = flow.source, -1 if dialect is CONWEAVE else flow.destination
        source = SOURCE_PORT + sources.get(pair, 0)
        sources[pair] = sources.get(pair, 0) + 1
        port = flow.port
        if not dialect.has_port:
            port = DESTINATION_PORT + destinations.get(flow.destination, 0)
            destinations[flow.destination] = destinations.get(flow.destination, 0) + 1
        yield source & 0xFFFF, port & 0xFFFF


def with_ways(flows: Sequence[Flow], network: Network, dialect: Dialect) -> list[Flow]:
    """Return flows with the switches of their data and ACKs; as they are if no two hosts have several paths."""
    paths = Paths(network)
    if not paths.differ:
        return list(flows)
    made = []
    for flow, (source, port) in zip(flows, ports_of(flows, dialect), strict=True):
        way = paths.of(flow.source, flow.destination, (source, port))
        back = paths.of(flow.destination, flow.source, (port, source))
        made.append(replace(flow, way=tuple(way), way_back=tuple(back)))
    return made
