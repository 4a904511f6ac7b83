"""Queues of switch ports by their rates: thresholds of marks, and the patterns that name ports."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from incast.interchange import hpcc_keys as keys
from incast.interchange import units
from incast.interchange.network import Network
from incast.interchange.toml_text import Table

Marks = Mapping[int, tuple[int, int, float]]
"""By rate: bytes up to which nothing is marked, bytes above which all is, and the probability just below these."""
Port = tuple[int, int]


def marks_of(
    network: Network, kmin: Mapping[int, int], kmax: Mapping[int, int], pmax: Mapping[int, Decimal]
) -> tuple[Marks, list[int]]:
    """Return the thresholds of all rates of switch ports, and the rates that a map lacks."""
    marks, missing = {}, []
    for rate in sorted({link.rate for _, _, link in network.ports()}):
        if all(rate in one for one in (kmin, kmax, pmax)):
            most = kmax[rate] * 1000
            marks[rate] = min(kmin[rate] * 1000, most), most, float(pmax[rate])
        else:
            missing.append(rate)
            marks[rate] = 0, 0, 1.0
    return marks, missing


def port_tables(network: Network, marks: Marks) -> list[Table]:
    """Return the queue of all ports, and entries for the ports with another one."""
    nic = {"kind": "drop-tail", "limit": "none"}
    if not marks:
        return [Table("[queue]").put("kind", "drop-tail").put("limit", "none")]
    ports = {(end, other): link.rate for end, other, link in network.ports()}
    usual = Counter(marks[rate] for rate in ports.values()).most_common(1)[0][0]
    queue = Table("[queue]")
    for key, value in _queue(usual).items():
        queue.put(key, value, "KMIN_MAP, KMAX_MAP, PMAX_MAP" if key == "min" else "")
    queue.put("host", nic)
    tables = [queue]
    for pattern, mark in _patterns(network, {port: marks[rate] for port, rate in ports.items()}, usual):
        tables.append(Table("[[links]]").put("link", pattern).put("queue", _queue(mark)))
    return tables


def _queue(mark: tuple[int, int, float]) -> dict[str, Any]:
    return {
        "kind": keys.RAMP, "limit": "none", "min": units.size_text(mark[0]), "max": units.size_text(mark[1]),
        "probability": mark[2],
    }  # fmt: skip


def _patterns(
    network: Network, marks: Mapping[Port, tuple[int, int, float]], usual: tuple[int, int, float]
) -> Iterator[tuple[str, tuple[int, int, float]]]:
    """Yield patterns of ports, disjoint, for all that have not the usual thresholds: as few as follow the tiers."""
    tiers: dict[str, list[Port]] = {"s*>h*": [], "s*>s*": []}
    for port in marks:
        tiers["s*>h*" if port[1] in network.attached else "s*>s*"].append(port)
    for tier, ports in tiers.items():
        found = {marks[port] for port in ports}
        if len(found) == 1:
            if found != {usual}:
                yield tier, found.pop()
            continue
        by_switch: dict[int, list[Port]] = {}
        for port in ports:
            by_switch.setdefault(port[0], []).append(port)
        for switch, own in by_switch.items():
            alike = {marks[port] for port in own}
            if len(alike) == 1:
                if alike != {usual}:
                    yield f"s{switch}>{tier.partition('>')[2]}", alike.pop()
                continue
            yield from ((f"s{switch}>{network.name(port[1])}", marks[port]) for port in own if marks[port] != usual)
