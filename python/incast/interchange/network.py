"""Networks of hosts and switches with numbers, as topology files describe them, and what drivers derive from them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from incast.interchange import units


@dataclass(frozen=True)
class Link:
    """A link with the same rate and delay in both directions."""

    a: int
    b: int
    rate: int
    """Bit/s."""
    delay: int
    """ns."""
    error: float = 0.0
    """Probability that a packet is lost, in either direction."""


@dataclass(frozen=True)
class Longest:
    """T and window of all flows, as drivers derive them."""

    rtt: int
    """ns, over all pairs of hosts."""
    bdp: int
    """Bytes, over all pairs of hosts."""


@dataclass
class Network:
    """Hosts with one link each, switches, links."""

    hosts: list[int]
    switches: list[int]
    links: list[Link]
    attached: dict[int, Link] = field(default_factory=dict)
    """Link of each host."""

    def __post_init__(self) -> None:
        hosts = set(self.hosts)
        for link in self.links:
            for end in (link.a, link.b):
                if end in hosts:
                    self.attached[end] = link

    def name(self, node: int) -> str:
        """Return the name of a node in scenarios: ``h5``, ``s32``."""
        return f"{'h' if node in self.attached else 's'}{node}"

    def rate(self, host: int) -> int:
        """Return the rate of a host's link, bit/s."""
        return self.attached[host].rate

    def gate(self, host: int) -> int:
        """Return the switch of a host."""
        link = self.attached[host]
        return link.b if link.a == host else link.a

    def rates(self) -> list[int]:
        """Return the rates of the hosts' links, the most frequent first."""
        return [rate for rate, _ in Counter(self.rate(host) for host in self.hosts).most_common()]

    def ports(self) -> Iterator[tuple[int, int, Link]]:
        """Yield the ports of switches: switch, neighbour, link."""
        for link in self.links:
            for end, other in ((link.a, link.b), (link.b, link.a)):
                if end not in self.attached:
                    yield end, other, link

    def without(self, a: int, b: int) -> Network:
        """Return the network without the link of two nodes."""
        links = [link for link in self.links if {link.a, link.b} != {a, b}]
        return Network(self.hosts, self.switches, links, dict(self.attached))

    def parts(self) -> dict[int, int]:
        """Return for each switch a number of the part of the network that it can reach."""
        near = self.neighbours()
        part: dict[int, int] = {}
        for first in self.switches:
            if first in part:
                continue
            part[first] = first
            stack = [first]
            while stack:
                for other, _ in near[stack.pop()]:
                    if other not in part:
                        part[other] = first
                        stack.append(other)
        return part

    def neighbours(self) -> dict[int, list[tuple[int, Link]]]:
        """Return the neighbouring switches of each switch, in the order of their numbers."""
        near: dict[int, list[tuple[int, Link]]] = {switch: [] for switch in self.switches}
        for end, other, link in self.ports():
            if other in near:
                near[end].append((other, link))
        return {switch: sorted(found, key=lambda one: one[0]) for switch, found in near.items()}

    def longest(self, payload: int) -> Longest:
        """Return the largest round trip and the largest BDP over all pairs of hosts, as the drivers derive them.

        The path of a pair is the first that a breadth-first search finds. Hosts with the same switch, rate and delay
        share a search.
        """
        near = self.neighbours()
        alike = Counter((self.gate(host), self.rate(host), self.attached[host].delay) for host in self.hosts)
        rtt = bdp = 0
        for source in alike:
            reached = _search(source, near, payload)
            for (gate, rate, delay), number in alike.items():
                if gate not in reached or ((gate, rate, delay) == source and number == 1):
                    continue
                there, sent, least = reached[gate]
                own_rtt = 2 * (there + delay) + sent + payload * 8 * 10**9 // rate
                rtt = max(rtt, own_rtt)
                bdp = max(bdp, own_rtt * min(least, rate) // (8 * 10**9))
        return Longest(rtt, bdp)


def _search(
    source: tuple[int, int, int], near: Mapping[int, list[tuple[int, Link]]], payload: int
) -> dict[int, tuple[int, int, int]]:
    """Return for each switch delay and transmission times of a packet in ns, and the smallest rate, from a host."""
    gate, rate, delay = source
    reached = {gate: (delay, payload * 8 * 10**9 // rate, rate)}
    queue = [gate]
    for now in queue:
        there, sent, least = reached[now]
        for other, link in near[now]:
            if other not in reached:
                one = payload * 8 * 10**9 // link.rate
                reached[other] = (there + link.delay, sent + one, min(least, link.rate))
                queue.append(other)
    return reached


def graph_file(network: Network) -> str:
    """Write the graph file of a scenario: hosts and switches in the order of their numbers, then the links."""
    lossy = any(link.error for link in network.links)
    lines = ["kind,name,peer,rate,delay" + (",error_rate" if lossy else "")]
    lines += [f"host,{network.name(host)}" for host in network.hosts]
    lines += [f"switch,{network.name(switch)}" for switch in network.switches]
    for link in network.links:
        ends = f"{network.name(link.a)},{network.name(link.b)}"
        error = f",{link.error!r}" if lossy and link.error else ""
        lines.append(f"link,{ends},{units.rate_text(link.rate)},{units.time_text(link.delay)}{error}")
    return "\n".join(lines) + "\n"


def in_order(links: list[Link]) -> list[Link]:
    """Order links so that each node has its neighbours in the order of their numbers, as next hops are listed."""
    return sorted(links, key=lambda link: (min(link.a, link.b), max(link.a, link.b)))


def ascends(values: list[int]) -> bool:
    """Return whether values never fall."""
    return all(one <= other for one, other in pairwise(values))
