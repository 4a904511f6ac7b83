"""Scenario of a topology and a connection matrix of htsim."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from incast.errors import ScenarioError
from incast.interchange import htsim_topology, toml_text, units
from incast.interchange.htsim_topology import Tree
from incast.interchange.toml_text import Table
from incast.interchange.translation import FABRIC, SCENARIO, Notes, Translation
from incast.interchange.words import Words, text_of
from incast.system.output import counted

UNITS = ("ps", "ns", "us")
QUEUE = "400kB"
MATRIX = "connections.cm"
"""Name of a matrix that cannot keep its own."""
NODES = re.compile(r"^[ \t]*Nodes[ \t]+([0-9]{1,9})[ \t\r]*$", re.MULTILINE)
START = re.compile(r"[ \t]start[ \t]+(?!0+(?:\.0*)?(?:[ \t\r\n]|$))[^ \t\r\n]")
"""A start other than 0."""


def translate(topology: Path | None, matrix: Path | None, start_unit: str) -> Translation:
    """Translate a topology, a connection matrix, or both."""
    notes, files = Notes(), {SCENARIO: ""}
    if start_unit and start_unit not in UNITS:
        raise ScenarioError(f'--start-unit "{start_unit}": expected one of {", ".join(UNITS)}')
    connections = "" if matrix is None else text_of(matrix)
    if topology is None:
        fabric, hosts = _plain(matrix, connections, notes)
    else:
        tree = htsim_topology.read(Words.read(topology))
        hosts = tree.hosts
        regular = _table(tree)
        if regular is None:
            regular = Table("[topology]").put("kind", "graph").put("file", FABRIC)
            files[FABRIC] = graph_file(tree)
        fabric = regular
    traffic = Table("[[traffic]]")
    if matrix is None:
        notes.differ("no connection matrix: a permutation of 2 MB stands in its place")
        traffic.put("name", "permutation").put("pattern", "permutation").put("app", {"kind": "bulk", "size": "2MB"})
    else:
        name = MATRIX if matrix.name in (SCENARIO, FABRIC) else matrix.name
        files[name] = connections
        traffic.put("name", "connections").put("pattern", "connection-matrix").put("file", name)
        traffic.put("start_unit", _unit(matrix, connections, start_unit))
    notes.differ(
        f"the files name no protocol: transport and Swift are those of htsim's htsim_swift, queues have {QUEUE}; "
        "change [transport], controller and [queue]"
    )
    names = [path.name for path in (topology, matrix) if path is not None and path.name.isprintable()]
    about = [f"{' and '.join(names) or 'Files'} of htsim as a scenario, by incast import htsim."]
    files[SCENARIO] = toml_text.text_of(about, [*_protocol(), fabric, traffic])
    return Translation(files, notes, f"htsim: {counted(hosts, 'host')}")


def _unit(matrix: Path, connections: str, given: str) -> str:
    """Return the unit of starts: it must be given, unless all starts are 0."""
    found = START.search(connections)
    if found and not given:
        line = connections.count("\n", 0, found.start()) + 1
        raise ScenarioError(
            f"{matrix}, line {line}: a start other than 0, and htsim's programs disagree about its unit; expected "
            "--start-unit ps (htsim_eqds), ns, or us (htsim_swift)"
        )
    return given or "ps"


def _plain(matrix: Path | None, connections: str, notes: Notes) -> tuple[Table, int]:
    """Return the fat tree that htsim builds for a number of hosts, and that number."""
    found = NODES.search(connections)
    if found is None:
        raise ScenarioError(f"{matrix}: no line Nodes; expected Nodes and a whole number")
    hosts = int(found[1])
    k = next((k for k in range(2, 162, 2) if k**3 // 4 >= hosts), 0)
    if k**3 // 4 != hosts:
        raise ScenarioError(f"{matrix}: Nodes {hosts}: no fat tree has so many hosts; expected --topo FILE")
    notes.differ("no topology: a fat tree of 100 Gb/s and 1 us a link, htsim's default, stands in its place")
    table = Table("[topology]").put("kind", "fat-tree").put("k", k)
    return table.put("link", {"rate": "100Gbps", "delay": "1us"}), hosts


def _protocol() -> list[Table]:
    return [
        Table("").put("controller", {"kind": "swift", "form": "htsim"}),
        Table("[run]").put("duration", "100ms").put("until", "finished"),
        Table("[queue]").put("kind", "drop-tail").put("limit", QUEUE).put("count_in_service", True)
        .put("host", {"kind": "fair-nic", "per_flow": 3}),
        Table("[transport]").put("preset", "htsim"),
    ]  # fmt: skip


def _link(tree: Tree, tier: int) -> dict[str, Any]:
    """Return the links below a tier."""
    own = tree.tiers[tier]
    return {"rate": units.rate_text(own.bps), "delay": units.time_text(own["downlink_latency_ns"])}


def _table(tree: Tree) -> Table | None:
    """Return the topology of a regular tree; ``None`` for one that needs a graph."""
    if not htsim_topology.is_regular(tree):
        return None
    lower, upper = _link(tree, 0), _link(tree, 1)
    if len(tree.tiers) == 2:
        table = Table("[topology]").put("kind", "leaf-spine").put("leaves", tree.tors).put("spines", tree.aggs)
        table.put("hosts_per_leaf", tree.tiers[0]["radix_down"]).put("link", lower)
        return table if upper == lower else table.put("spine_link", upper)
    table = Table("[topology]").put("kind", "fat-tree").put("k", tree.pods).put("link", lower)
    if upper != lower:
        table.put("edge_link", upper)
    core = _link(tree, 2)
    return table if core == lower else table.put("core_link", core)


def graph_file(tree: Tree) -> str:
    """Write the graph file of a tree; the latency of a switch is a part of the delay of its links away from it."""
    lines = ["kind,name,peer,rate,delay,back_delay"]
    lines += [f"host,h{host}" for host in range(tree.hosts)]
    wide = 1 if len(tree.tiers) == 2 else tree.pods
    for name, number in (("edge", tree.tors * tree.pods), ("agg", tree.aggs * wide), ("core", tree.cores)):
        lines += [f"switch,{name}{one}" for one in range(number)]
    lines += _links(tree)
    return "\n".join(lines) + "\n"


def _links(tree: Tree) -> Iterator[str]:
    below = tree.tiers[0]["radix_down"]
    inside = [tier["switch_latency_ns"] for tier in tree.tiers]

    def line(a: str, b: str, tier: int) -> str:
        own = tree.tiers[tier]
        delay = own["downlink_latency_ns"]
        up = units.time_text(delay + (inside[tier - 1] if tier else 0))
        return f"link,{a},{b},{units.rate_text(own.bps)},{up},{units.time_text(delay + inside[tier])}"

    for host in range(tree.hosts):
        yield line(f"h{host}", f"edge{host // below}", 0)
    for tor in range(tree.tors * tree.pods):
        first = (tor // tree.tors) * tree.aggs if len(tree.tiers) == 3 else 0
        for agg in range(first, first + tree.aggs):
            for _ in range(tree.tiers[1]["bundle"]):
                yield line(f"edge{tor}", f"agg{agg}", 1)
    if len(tree.tiers) < 3:
        return
    for agg in range(tree.aggs * tree.pods):
        for core in range(agg % tree.aggs, tree.cores, tree.aggs):
            for _ in range(tree.tiers[2]["bundle"]):
                yield line(f"agg{agg}", f"core{core}", 2)
