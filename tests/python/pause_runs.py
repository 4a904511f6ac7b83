"""Small runs whose ports are paused, for tests: switches in a row, a ring, and two classes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from incast import Scenario

TEXT = """description = "pauses"
controller = "newreno"

[run]
duration = "400us"

[topology]
kind = "graph"
file = "graph.toml"

[queue]
kind = "drop-tail"
limit = "none"

[buffer]
size = "100kB"
pfc = {}

[measure]
pauses = "auto"

[[traffic]]
name = "flows"
pattern = "file"
file = "flows.csv"
app = { kind = "udp", rate = "30%" }
"""
Link = tuple[str, str] | tuple[str, str, str]


def scenario(folder: Path, hosts: Sequence[Link], fabric: Sequence[Link], flows: Sequence[tuple[str, str]]) -> Scenario:
    """Make a scenario with hosts at switches, links between switches, and flows of datagrams."""
    switches = dict.fromkeys(name for link in fabric for name in link[:2])
    lines = [f"hosts = {json.dumps([link[0] for link in hosts])}", f"switches = {json.dumps(list(switches))}"]
    for a, b, *rate in (*hosts, *fabric):
        ends = f"a = {json.dumps(a)}\nb = {json.dumps(b)}"
        lines.append(f'[[links]]\n{ends}\nrate = "{rate[0] if rate else "10Gbps"}"\ndelay = "1us"')
    (folder / "graph.toml").write_text("\n".join(lines))
    quoted = ["start,source,destination", *(f'0s,"{a}","{b}"'.replace('""', '"') for a, b in flows)]
    (folder / "flows.csv").write_text("\n".join(quoted) + "\n")
    (folder / "pauses.toml").write_text(TEXT)
    return Scenario.load(folder / "pauses.toml")


def two(folder: Path) -> Scenario:
    """Two switches: three hosts fill a slow host's link, a fourth sends to another host over the same trunk."""
    hosts = [("h0", "a"), ("h1", "a"), ("h2", "a"), ("h3", "b", "2Gbps"), ("h4", "b")]
    return scenario(folder, hosts, [("a", "b")], [("h0", "h3"), ("h1", "h3"), ("h2", "h4")])


def chain(folder: Path) -> Scenario:
    """Three switches in a row, and a victim that leaves at the second one."""
    hosts = [("h0", "a"), ("h1", "a"), ("h2", "b"), ("h3", "c", "2Gbps"), ("h4", "a"), ("h5", "b")]
    flows = [("h0", "h3"), ("h1", "h3"), ("h2", "h3"), ("h4", "h5")]
    return scenario(folder, hosts, [("a", "b"), ("b", "c")], flows)


def ring(folder: Path) -> Scenario:
    """Five switches in a ring, whose hosts send to the host two switches further."""
    hosts = [(f"h{i}", f"s{i}") for i in range(5)]
    fabric = [(f"s{i}", f"s{(i + 1) % 5}") for i in range(5)]
    made = scenario(folder, hosts, fabric, [(f"h{i}", f"h{(i + 2) % 5}") for i in range(5)])
    return made.changed({"traffic.flows.app.rate": "100%"})


CLASSES = """description = "classes"
controller = "newreno"

[run]
duration = "300us"

[topology]
kind = "dumbbell"
senders = 3
receivers = 3
access_link = { rate = "10Gbps", delay = "1us" }
bottleneck_link = { rate = "10Gbps", delay = "1us" }

[queue]
kind = "strict-priority"
classes = [{ kind = "drop-tail", limit = "none" }, { kind = "drop-tail", limit = "none" }]

[buffer]
size = "100kB"
pfc = {}

[measure]
pauses = "auto"

[[traffic]]
name = "low"
pattern = "hotspot"
receiver = "r0"
flows = 2
class = 1
app = { kind = "udp", rate = "90%" }

[[traffic]]
name = "high"
pattern = "pairs"
app = { kind = "udp", rate = "20%" }
"""
