"""Network and flows of a scenario, with the numbers that other simulators give to nodes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from incast.errors import ScenarioError
from incast.interchange.hpcc_flows import BACKGROUND, INCAST, Flow
from incast.interchange.network import Link, Network
from incast.interchange.translation import Notes
from incast.runs.scenario import Scenario
from incast.system.output import counted

NUMBERED = re.compile(r"(h|s)([0-9]{1,7})")
"""Names that imported scenarios give to nodes: kind, number in the topology file."""
ENDLESS = 2**32 - 1
"""Bytes of an endless flow: the largest that HPCC's reader holds."""


@dataclass
class Described:
    """A scenario as data."""

    resolved: Mapping[str, Any]
    network: Network
    flows: list[Flow]
    names: Sequence[str]
    number: Mapping[str, int]
    """Numbers of nodes by their names."""
    entry_of: list[str]
    """Traffic entry of each flow."""


def describe(scenario: Scenario, notes: Notes) -> Described:
    """Return network and flows of a scenario; raises ``ScenarioError`` for what has no numbers elsewhere."""
    resolved = scenario.resolved()
    if (kind := resolved["topology"]["kind"]) == "cell":
        raise ScenarioError(f'topology.kind = "{kind}": expected a network of links; the other simulator has no radio')
    with scenario.looked_at():
        found, rows = scenario.core.network(), scenario.core.flows()
    names: list[str] = found["nodes"]
    hosts: int = found["hosts"]
    numbers = _numbers(names, hosts)
    links = _links(found["links"], names, numbers, notes)
    network = Network(sorted(numbers[:hosts]), sorted(numbers[hosts:]), links)
    ends = [(numbers[a], numbers[b]) for a, b, *_ in found["links"]]
    flows, entry_of = _flows(rows, numbers, ends, notes)
    return Described(resolved, network, flows, names, dict(zip(names, numbers, strict=True)), entry_of)


def _numbers(names: Sequence[str], hosts: int) -> list[int]:
    """Return the numbers in the names of imported nodes, or else hosts and switches in their order."""
    found = [NUMBERED.fullmatch(name) for name in names]
    wanted = ["h"] * hosts + ["s"] * (len(names) - hosts)
    if all(one and one[1] == kind for one, kind in zip(found, wanted, strict=True)):
        numbers = [int(one[2]) for one in found if one]
        if len(set(numbers)) == len(numbers) and max(numbers) < 4 * len(numbers):
            return numbers
    return list(range(len(names)))


def _links(
    rows: Sequence[tuple[int, int, int | None, int, int, float | None]],
    names: Sequence[str],
    numbers: Sequence[int],
    notes: Notes,
) -> list[Link]:
    """Join the two directions of each link, the first one forward."""
    waiting: dict[tuple[int, int], list[int]] = {}
    links: list[Link] = []
    for a, b, rate, delay, overhead, loss in rows:
        name = f"{names[a]}>{names[b]}"
        if rate is None:
            raise ScenarioError(f"{name} has an infinite rate; expected a finite one for another simulator")
        if overhead:
            notes.differ("links add bytes to packets (overhead): there packets have 48 B of headers and nothing else")
        if loss is None:
            notes.differ("losses by bytes or by numbers of packets: there links lose none of these")
        ns, rest = divmod(delay, 1000)
        if rest:
            notes.differ("delays are rounded to ns")
        link = Link(numbers[a], numbers[b], rate, ns + (rest >= 500), loss or 0.0)
        if back := waiting.get((b, a)):
            first = links[back.pop(0)]
            if (first.rate, first.delay, first.error) != (link.rate, link.delay, link.error):
                notes.differ("links with two rates, delays or losses have those of their first direction")
            continue
        waiting.setdefault((a, b), []).append(len(links))
        links.append(link)
    return links


def _flows(
    rows: Sequence[tuple[int, int, int, int | None, str, bool, list[int] | None, list[int] | None]],
    numbers: Sequence[int],
    ends: Sequence[tuple[int, int]],
    notes: Notes,
) -> tuple[list[Flow], list[str]]:
    flows, entries = [], []
    odd = 0
    for source, destination, start, size, entry, is_plain, *links in rows:
        odd += not is_plain
        ns, rest = divmod(start, 1000)
        if rest:
            notes.differ("starts are rounded to ns")
        port = INCAST if entry.startswith("incast") else BACKGROUND
        if size is None and is_plain:
            notes.differ("endless flows have 4.29 GB there, the largest that a flow file holds")
        ways = [tuple(ends[link][1] for link in way[:-1]) if way else () for way in links]
        flow = Flow(numbers[source], numbers[destination], size or ENDLESS, ns + (rest >= 500), port, *ways)
        flows.append(flow)
        entries.append(entry)
    if odd:
        notes.differ(
            f"{counted(odd, 'flow')} with another application than one transfer, or that waits or stops: each is one "
            "transfer there"
        )
    return flows, entries
