"""ACKs and ECN of real hosts, packet by packet: the runs that ``parity.linux_hosts`` recorded, and ours."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from incast import Result
from parity.checks import Case, Packets, Section, Sent
from parity.figures import table

SEGMENT = 1448
ROOM, GROWN = 498_560, 34
"""Window of the run sawtooth, and number of segments per increase."""
FLAGS = ("ECT", "CE", "CWR", "ECE", "PSH")
"""Compared fields of a packet, in the order of the file."""


@dataclass(frozen=True)
class Link:
    """Link of a run, in front of the receiver: a queue that marks like ours, and its manipulation of packets."""

    rate_bps: int = 2_400_000
    delay_s: float = 0.02
    """One way, in both directions."""
    mark: int = 1000
    """Queue length in packets from which ECN-capable packets are marked."""
    lost: tuple[int, ...] = ()
    """Numbers of lost packets; 0 is the SYN."""
    back_lost: tuple[int, ...] = ()
    """Numbers of lost packets on the reverse path; 0 is the SYN-ACK."""
    marked: tuple[int, ...] = ()
    """Segments marked regardless of the queue."""
    bleached: tuple[int, ...] = ()
    """Segments whose ECN field is cleared."""
    again: Mapping[int, int] = field(default_factory=dict)
    """Duplicated segments, with the ECN field of the copy."""


@dataclass(frozen=True)
class Run:
    """A transfer over it."""

    title: str
    segments: int
    link: Link = field(default_factory=Link)
    fallback: bool = True
    """net.ipv4.tcp_ecn_fallback."""
    marks_only: bool = False
    """Only segments that are marked, or say CWR, are recorded."""
    exact: bool = True
    """True if no kernel timer decides a time: its tick is 4 ms here."""
    handshake: bool = True
    """True if SYNs are recorded."""


RUNS: Mapping[str, Run] = {
    "unmarked": Run("no marks: ACKs at once, then by two", 60),
    "k12": Run("K = 12", 150, Link(mark=12)),
    "k4": Run("K = 4: small windows", 200, Link(mark=4)),
    "timers": Run("K = 1, 100 ms: an ACK waits for its timer", 50, Link(delay_s=0.1, mark=1), exact=False),
    "sawtooth": Run(
        "24 Mb/s, 10.4 ms, K = 65: marked segments and those with CWR",
        10_000,
        Link(24_000_000, 0.0104, 65),
        marks_only=True,
    ),
    "syn-lost": Run("K = 4, the first SYN lost", 60, Link(mark=4, lost=(0,)), exact=False),
    # both hosts send again after a second; what comes first differs
    "syn-ack-lost": Run("the first SYN-ACK lost: ECN stays", 40, Link(back_lost=(0,)), exact=False, handshake=False),
    # without fallback ours has ECN without asking for it
    "no-fallback": Run(
        "K = 4, the first SYN lost, tcp_ecn_fallback = 0",
        60,
        Link(mark=4, lost=(0,)),
        fallback=False,
        exact=False,
        handshake=False,
    ),
}
"""Runs that ours repeats."""
CHOSEN: Mapping[str, Run] = {
    "one": Run("a mark while nothing waits", 100, Link(marked=(41,))),
    "one-waiting": Run("a mark while a segment waits", 100, Link(marked=(40,))),
    "two": Run("two marks before CWR", 100, Link(marked=(40, 45))),
    "cwr": Run("a mark on the segment with CWR, and one after", 130, Link(marked=(40, 88, 101))),
    "bleached": Run("segments without ECT, alone and together", 70, Link(bleached=(30, 41, 50, 51))),
    "copy-bleached": Run("a copy without ECT", 80, Link(again={35: 0})),
    "copy-marked": Run("a copy with a mark, then a mark", 100, Link(again={35: 3}, marked=(60,))),
}
"""Runs whose arrivals a test of the engine gives to a receiver (``crates/engine/tests/all/tcp/linux.rs``)."""

SECTION = Section(
    "linux/acks",
    "Classic ECN, packet by packet",
    "Real Linux 6.18, two network namespaces and a user-space forwarder, measured 2026-11-22: Reno, 2.4 Mb/s and 20 ms "
    "each way unless named, one transfer. Compared are the SYNs, every segment as it reaches the receiver, with its "
    "ECN field, CWR and PSH, and every ACK with ECE, in their order; times where no timer of the kernel decides them. "
    "Five recordings are the same in all of it. Marks of chosen segments, segments without ECT and copies are compared "
    "at the receiver alone, by a test of the engine. Where segments come 20 to 40 ms apart, Linux waits longer with an "
    "ACK (`adaptive_ack`), ours only on two-way connections: no run is like that. The run at 24 Mb/s shows what the "
    "quick ACKs cost below (`classic-quickack`), and that the kernel pays it: told of the first mark one segment "
    "sooner, the sender puts CWR on a segment that still finds 65 waiting and is marked too, and a round trip later it "
    "reduces its window again.",
)


def cases() -> Iterator[Case]:
    """Make the runs of ours over the same link."""
    recorded = {name: list(rows) for name, rows in recordings()}
    for name, run in RUNS.items():
        link = run.link
        # its receiver has more room from the start, in which the window grows for GROWN segments
        roomy = {"window_growth": False, "receive_buffer": f"{ROOM}B", "quickack": 16 + GROWN}
        yield Case(
            f"linux/acks/{name}",
            run.title,
            "linux-acks.toml",
            {
                "traffic.app.size": f"{run.segments * SEGMENT}B",
                "queue.mark": f"{link.mark}p",
                "topology.bottleneck_link": {
                    "rate": f"{link.rate_bps}bps",
                    "delay": f"{1e6 * link.delay_s:g}us",
                    "back_rate": "inf",
                    **({"lose": list(link.lost)} if link.lost else {}),
                },
                **({} if run.fallback else {"transport.ecn_fallback": False}),
                **({"links": [{"link": "right>left", "lose": list(link.back_lost)}]} if link.back_lost else {}),
                **({f"transport.{key}": value for key, value in roomy.items()} if run.marks_only else {}),
            },
            (Packets(tuple(recorded[name]), taker(run), 1e-3 if run.exact else None),),
            quick=not run.marks_only,
            cost_s=4.0 if run.marks_only else 0.2,
        )


def recordings() -> Iterator[tuple[str, Iterator[Sent]]]:
    """Read the recordings, by run."""
    rows: dict[str, list[Sent]] = {}
    for row in table("linux/acks.csv"):
        what = (int(row["segment"]), row["packet"], row["flags"])
        rows.setdefault(row["run"], []).append(Sent(1e-3 * float(row["ms"]), what))
    for name, found in rows.items():
        yield name, iter(found)


def shown(flags: Iterable[str]) -> str:
    """Write the compared flags; a mark implies that the packet is ECN-capable."""
    there = set(flags)
    return " ".join(flag for flag in FLAGS if flag in there and not (flag == "ECT" and "CE" in there))


def taker(run: Run) -> Any:
    """Take the recorded packets from our run."""

    def take(result: Result) -> list[Sent]:
        import pyarrow.compute as pc

        trace = result.trace
        here = pc.or_(
            pc.and_(pc.equal(trace["place"], "s0"), pc.equal(trace["event"], "send")), pc.equal(trace["place"], "r0")
        )
        return list(recorded(run, filter(None, map(packet, trace.filter(here).to_pylist()))))

    return take


def packet(row: Mapping[str, Any]) -> Sent | None:
    """Return the file's name of one of our events; ``None`` if the file does not have it."""
    flags = row["flags"].split("|")
    syn = "SYN" in flags
    if row["place"] == "s0":
        return Sent(row["time_s"], (0, "SYN", shown(flags))) if syn else None
    if row["event"] == "receive":
        data = row["payload_bytes"] > 0
        return Sent(row["time_s"], (row["seq"] // SEGMENT, "data", shown(flags))) if data else None
    if row["event"] == "send":
        return Sent(row["time_s"], (row["ack"] // SEGMENT, "SYN-ACK" if syn else "ack", shown(flags)))
    return None


def recorded(run: Run, packets: Iterable[Sent]) -> Iterator[Sent]:
    """Keep the recorded packets: up to the ACK of everything, or only marked segments and those with CWR."""
    for sent in packets:
        number, kind, flags = tuple(sent.what)
        if not run.handshake and str(kind).startswith("SYN"):
            continue
        if not run.marks_only or (kind == "data" and ("CE" in str(flags) or "CWR" in str(flags))):
            yield sent
        if kind == "ack" and number == run.segments:
            return
