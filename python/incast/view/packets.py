"""Packets of traced flows: one row per packet, from the events of ``trace.parquet``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pyarrow as pa

MOST = 100_000
"""Most packets of a run in a view: the first ones."""
COLUMNS = (
    *("flow", "back", "sent_s", "end_s", "mark_s", "end", "hops", "place", "marked", "seq", "ack", "payload_bytes"),
    *("flags", "until_s"),
)
"""Columns of the table of packets; ``until_s`` is the time from which packets are left out, if any are."""
RECEIVED, DROPPED, LOST, UNDER_WAY = range(4)
"""End of a packet: received, dropped by a queue, lost on a link, or in flight at the end of the run."""


@dataclass
class Packet:
    """A packet from its transport to its end."""

    line: dict[str, Any]
    back: bool
    """True if the receiver of the flow sends it."""
    at: str
    """Current node or port."""
    hops: int = 0
    """Number of ports that have forwarded it."""
    end_s: float = float("nan")
    end: int = UNDER_WAY
    place: str = ""
    """Port that dropped or lost the packet."""
    mark_s: float = float("nan")
    marked: str = ""
    """First port that marked the packet."""


@dataclass
class Tracker:
    """Follows packets through the events of a trace, in order of time."""

    ends: dict[str, tuple[str, str]]
    """Names of the nodes at both ends of each port's link."""
    hosts: set[str]
    forwards: bool
    """True if hosts forward packets of others, like stations of a mesh."""
    senders: dict[int, str] = field(default_factory=dict)
    under_way: dict[tuple[int, int, int], list[Packet]] = field(default_factory=dict)

    def send(self, line: dict[str, Any]) -> Packet:
        """Start a packet."""
        flow, place = line["flow"], line["place"]
        # the first sender opens the flow
        packet = Packet(line, self.senders.setdefault(flow, place) != place, place)
        self.under_way.setdefault((flow, line["seq"], line["ack"]), []).append(packet)
        return packet

    def take(self, line: dict[str, Any]) -> None:
        """Apply an event to its packet."""
        event, place = line["event"], line["place"]
        key = (line["flow"], line["seq"], line["ack"])
        own = self.under_way.get(key)
        if not own or event not in ("enqueue", "mark", "drop", "loss", "arrive"):
            return
        # copies of one packet follow one another: take the first possible one
        packet = next((one for one in own if self._comes(one.at, event, place)), None)
        if packet is None:
            return
        if event == "arrive":
            packet.at, packet.hops = place, packet.hops + 1
            if place in self.hosts:
                packet.end, packet.end_s = RECEIVED, line["time_s"]
        else:
            packet.at = place
            packet.end, packet.end_s = UNDER_WAY, float("nan")
            if event == "mark" and not packet.marked:
                packet.marked, packet.mark_s = place, line["time_s"]
            if event in ("drop", "loss"):
                packet.end, packet.end_s, packet.place = (
                    DROPPED if event == "drop" else LOST, line["time_s"], place
                )  # fmt: skip
        if packet.end in (DROPPED, LOST) or (packet.end == RECEIVED and not self.forwards):
            own.remove(packet)

    def _comes(self, at: str, event: str, place: str) -> bool:
        """Return whether an event can apply to a packet at a node or port."""
        if event == "arrive":
            return at in self.ends and self.ends[at][1] == place
        if event == "loss":
            return at == place
        return at != place and place in self.ends and self.ends[place][0] == at


def packets(trace: pa.Table, timeline: dict[str, Any], ports: list[str]) -> tuple[pa.Table, float | None]:
    """Make a table of the packets of a trace, flow by flow in order of sending.

    ``ports`` are the names of the timeline's ports. Columns: ``flow``, ``back``, ``sent_s``, ``end_s`` and ``mark_s``
    (s, missing if there is none), ``end`` (``RECEIVED`` to ``UNDER_WAY``), ``hops``, ``seq``, ``ack``,
    ``payload_bytes`` (B), ``flags``, ``place`` and ``marked`` (names of ports). The second result is the time from
    which packets beyond ``MOST`` are left out; ``None`` if the table is complete.
    """
    import pyarrow as pa

    nodes = timeline["nodes"]
    ends = {
        name: (nodes[link["from"]]["name"], nodes[link["to"]]["name"])
        for name, link in zip(ports, timeline["ports"], strict=True)
    }
    hosts = {node["name"] for node in nodes if node["kind"] != "switch"}
    tracker = Tracker(ends, hosts, any(node.get("x") is not None for node in nodes))
    sent = np.flatnonzero(trace["event"].cast(pa.string()).to_numpy(zero_copy_only=False) == "send")
    until_s = trace["time_s"][int(sent[MOST])].as_py() if len(sent) > MOST else None
    found: list[Packet] = []
    for line in _lines(trace):
        if line["event"] != "send":
            tracker.take(line)
        elif until_s is None or line["time_s"] < until_s:
            found.append(tracker.send(line))
    found.sort(key=lambda packet: packet.line["flow"])
    columns: dict[str, pa.Array] = {
        "flow": pa.array([one.line["flow"] for one in found], pa.uint32()),
        "back": pa.array([int(one.back) for one in found], pa.uint8()),
        "sent_s": pa.array([one.line["time_s"] for one in found], pa.float64()),
        "end_s": pa.array([one.end_s for one in found], pa.float64()),
        "mark_s": pa.array([one.mark_s for one in found], pa.float64()),
        "end": pa.array([one.end for one in found], pa.uint8()),
        "hops": pa.array([one.hops for one in found], pa.uint16()),
        "place": pa.array([one.place for one in found], pa.string()),
        "marked": pa.array([one.marked for one in found], pa.string()),
    }
    for name, kind in (("seq", pa.uint64()), ("ack", pa.uint64()), ("payload_bytes", pa.uint32())):
        columns[name] = pa.array([one.line[name] for one in found], kind)
    columns["flags"] = pa.array([one.line["flags"] for one in found], pa.string())
    return pa.table(columns), until_s


def _lines(trace: pa.Table) -> Iterator[dict[str, Any]]:
    """Yield the lines of a trace, in batches."""
    for batch in trace.to_batches(max_chunksize=65536):
        yield from batch.to_pylist()
