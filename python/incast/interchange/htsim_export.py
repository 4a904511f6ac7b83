"""Files of htsim for a scenario: topology, connection matrix, and what they cannot say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from incast.errors import ScenarioError
from incast.interchange import units
from incast.interchange.network import Network
from incast.interchange.scenario_network import ENDLESS, Described, describe
from incast.interchange.translation import Notes, Translation
from incast.runs.scenario import Scenario

TOPOLOGY, MATRIX = "topology.topo", "connections.cm"


def translate(scenario: Scenario) -> Translation:
    """Translate a scenario into htsim's files; starts are picoseconds, as htsim_eqds reads them."""
    notes = Notes()
    own = describe(scenario, notes)
    files = {}
    if topology := _topology(own.resolved["topology"], own, notes):
        files[TOPOLOGY] = topology
    files[MATRIX] = _matrix(own)
    if any(flow.start for flow in own.flows):
        notes.differ("starts are in ps, as htsim_eqds reads them; htsim_swift reads us")
    notes.differ("protocol, queues and seed are arguments of htsim's programs: none of them is in these files")
    return Translation(files, notes, f"htsim: {len(own.network.hosts)} hosts, flows: {len(own.flows)}")


def _matrix(own: Described) -> str:
    hosts = {host: number for number, host in enumerate(own.network.hosts)}
    lines = [f"Nodes {len(hosts)}", f"Connections {len(own.flows)}"]
    for number, flow in enumerate(own.flows, 1):
        size = 0 if flow.size == ENDLESS else flow.size
        ends = f"{hosts[flow.source]}->{hosts[flow.destination]}"
        lines.append(f"{ends} id {number} start {flow.start * 1000} size {size}")
    return "\n".join(lines) + "\n"


def _topology(topology: Mapping[str, Any], own: Described, notes: Notes) -> str:
    """Write the tree of a regular topology; empty for another."""
    kind = topology["kind"]
    if kind == "fat-tree":
        half = topology["k"] // 2
        tiers = [(half, half), (half, half), (topology["k"], 0)]
        pod = half * half
        firsts = ["h0>edge0", "edge0>agg0", "agg0>core0"]
    elif kind == "leaf-spine":
        tiers = [(topology["hosts_per_leaf"], topology["spines"]), (topology["leaves"], 0)]
        pod = topology["hosts_per_leaf"] * topology["leaves"]
        firsts = ["h0>leaf0", "leaf0>spine0"]
    else:
        notes.differ(f"topology {kind}: .topo files have fat trees and leaf-spines alone, so that none is written")
        return ""
    if own.resolved.get("links"):
        notes.differ("links with values of their own have those of their tier")
    lines = [f"Nodes {len(own.network.hosts)}", f"Tiers {len(tiers)}", f"Podsize {pod}"]
    links = [_link(own.network, own, name) for name in firsts]
    for tier, ((down, up), (rate, delay)) in enumerate(zip(tiers, links, strict=True)):
        lines += ["", f"Tier {tier}", f"Downlink_speed_Gbps {rate // 10**9}", f"Radix_Down {down}"]
        if up:
            lines += [f"Radix_Up {up}", f"Oversubscribed {_over(links, tier, down, up)}"]
        lines.append(f"Downlink_Latency_ns {delay}")
    return "\n".join(lines) + "\n"


def _link(network: Network, own: Described, name: str) -> tuple[int, int]:
    """Return rate and delay of a link; raises ``ScenarioError`` for what a file cannot hold."""
    ends = {own.number[end] for end in name.split(">")}
    link = next(link for link in network.links if {link.a, link.b} == ends)
    if link.rate % 10**9 or not link.delay:
        rate = units.rate_text(link.rate)
        raise ScenarioError(f"{name}: {rate}, {link.delay}ns; .topo files have whole Gb/s and delays above 0")
    return link.rate, link.delay


def _over(links: list[tuple[int, int]], tier: int, down: int, up: int) -> int:
    """Return the ratio of a tier's rates downwards and upwards."""
    below, above = links[tier][0] * down, links[tier + 1][0] * up
    if below % above:
        raise ScenarioError(
            f"rates of tier {tier}: {below // 10**9} Gb/s down, {above // 10**9} Gb/s up; .topo files have whole ratios"
        )
    return below // above
