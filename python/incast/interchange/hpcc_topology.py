"""Topology files of HPCC's simulator and its dialects (``topology.txt``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from incast.errors import ScenarioError
from incast.interchange import units
from incast.interchange.dialects import SIMAI, Dialect
from incast.interchange.network import Link, Network, in_order
from incast.interchange.translation import Notes
from incast.interchange.words import Words
from incast.system.output import counted

MOST_LINKS = 10_000_000
MOST_NODES = 2_000_000


def read(words: Words, dialect: Dialect, usual_error: float, notes: Notes) -> Network:
    """Read a topology; ``usual_error`` is the loss of links that have none of their own."""
    header = _header(words, dialect)
    nodes = header["nodes"]
    switches = _ids(words, "switch", header["switches"] + header.get("nvswitches", 0), nodes)
    servers = switches[: header.get("nvswitches", 0)]
    links = _links(words, header["links"], nodes, usual_error)
    if servers:
        gone = set(servers)
        notes.differ(
            f"{counted(len(servers), 'NVSwitch')} left out with their links: GPUs of a server meet in the fabric"
        )
        links = [link for link in links if link.a not in gone and link.b not in gone]
    return _network(words, nodes - len(switches), set(switches) - set(servers), links, notes)


def _header(words: Words, dialect: Dialect) -> Mapping[str, int]:
    """Read the first line: counts by their names."""
    has = len(words.line(0))
    header = {}
    for what in dialect.header:
        if what == "gpu type":
            words.take(what, "the type of the GPUs, such as A100")
        else:
            header[what] = words.whole(what, MOST_LINKS if what == "links" else MOST_NODES)
    if dialect is SIMAI and has == len(dialect.header) + 1:
        words.whole("gpus per node")
    if header["switches"] + header.get("nvswitches", 0) >= header["nodes"]:
        raise words.error(0, f"{header['switches']} switches of {header['nodes']} nodes; expected hosts beside them")
    return header


def _ids(words: Words, what: str, number: int, nodes: int) -> list[int]:
    ids: dict[int, None] = {}
    for _ in range(number):
        one = words.whole(what, nodes - 1)
        if one in ids:
            raise words.wrong(what, f"another {what}: this one is listed twice")
        ids[one] = None
    return list(ids)


def _links(words: Words, number: int, nodes: int, usual_error: float) -> list[Link]:
    links = []
    for _ in range(number):
        a = words.whole("end of a link", nodes - 1)
        b = words.whole("end of a link", nodes - 1)
        if a == b:
            raise words.wrong("end of a link", "another node than the first end")
        rate, delay = words.rate("rate"), words.delay("delay")
        error = float(words.number("error rate", 1.0))
        links.append(Link(a, b, rate, delay, error or usual_error))
    return links


def _network(words: Words, hosts: int, switches: set[int], links: Sequence[Link], notes: Notes) -> Network:
    """Drop what scenarios do not have: idle parallel links, further links of a host, nodes without links."""
    last = {frozenset((link.a, link.b)): link for link in links}
    if len(last) < len(links):
        number = counted(len(links) - len(last), "parallel link")
        notes.differ(f"{number} left out: of links between the same two nodes their simulator uses the last alone")
    attached: dict[int, Link] = {}
    kept, further = [], set()
    for link in last.values():
        ends = [end for end in (link.a, link.b) if end not in switches]
        if len(ends) == 2:
            raise ScenarioError(
                f"{words.name}: link {link.a} {link.b} joins two hosts; expected a switch at one end at least"
            )
        if ends and ends[0] in attached:
            further.add(ends[0])
            continue
        attached.update(dict.fromkeys(ends, link))
        kept.append(link)
    if further:
        notes.differ(
            f"{counted(len(further), 'host')} with several links: each has its first one here, and their simulator "
            "chooses by a hash of the flow"
        )
    if lonely := hosts - len(attached):
        notes.differ(f"{counted(lonely, 'host')} without a link left out")
    if len(attached) < 2:
        raise ScenarioError(f"{words.name}: {counted(len(attached), 'host')} with a link; expected at least 2")
    joined = {end for link in kept for end in (link.a, link.b)}
    if alone := len(switches - joined):
        notes.differ(f"{alone} of the switches without a link left out")
    return Network(sorted(attached), sorted(switches & joined), in_order(kept))


def written(network: Network) -> str:
    """Write a topology in HPCC's dialect."""
    nodes = max([*network.hosts, *network.switches]) + 1
    lines = [f"{nodes} {len(network.switches)} {len(network.links)}", " ".join(map(str, network.switches))]
    for link in network.links:
        error = f"{link.error:.12f}".rstrip("0").rstrip(".")
        rate, delay = units.rate_text(link.rate), units.time_text(link.delay)
        lines.append(f"{link.a} {link.b} {rate.replace('kbps', 'Kbps')} {delay} {error}")
    return "\n".join(lines) + "\n"
