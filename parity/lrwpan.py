"""ns-3.43's radios: IEEE 802.15.4, 6LoWPAN and TCP over them, means over seeds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType

from parity.checks import Case, Explanation, Figure, Mean, Reference, Section
from parity.figures import table
from parity.lrwpan_figures import (
    FLOWMONITOR,
    GRID,
    MAC,
    MESH,
    NO_MESH,
    SENT,
    TCP,
    UDP,
    UDP_FLOWMONITOR,
    UNACKNOWLEDGED,
    Compared,
    Row,
)


def reference() -> Reference:
    """Return the comparisons with ns-3's radios."""
    cases, means = list[Case](), list[Mean]()
    for own, mean in (*mac(), *udp(), *tcp(), *grid(), *mesh()):
        cases += own
        means.append(mean)
    return Reference(
        "lrwpan",
        "ns-3, IEEE 802.15.4",
        "The lr-wpan, 6LoWPAN and TCP models of ns-3 3.43, measured: one sink and stations around it on one channel of "
        "250 kb/s, in range of each other up to 80 m, with fixed neighbours. Seeds draw the backoffs, the starts in "
        "the first second and what collisions destroy, on both sides; so means over seeds are compared, as many here "
        "as there. Where the tolerance says *or overlap*, a figure also holds if the 95 % intervals of both means "
        "overlap: who starves is chance, and some figures of TCP with it. The fractions of frames are those of the "
        "senders' frames that ended in the measured interval.",
        (*(section for section in SECTIONS if section.prefix in {mean.id.rpartition("/")[0] for mean in means}), SEEDS),
        tuple(cases),
        means=tuple(means),
    )


SECTIONS = (
    Section(
        "lrwpan/mac-ack",
        "Saturated senders, with acknowledgements",
        "Frames of 100 bytes above the MAC, without adaptation, on a circle of 10 m. A sender always has a frame in "
        "its queue: datagrams at the rate of the channel into a queue of two. Service is the time from the head of the "
        "queue to the reception; an access is granted if it ends in a transmission; assessments are those of an "
        "access; repeated frames are those that the sink delivers again, as an acknowledgement was lost.",
        "ratios",
    ),
    Section("lrwpan/mac-noack", "Saturated senders, without acknowledgements", picture="ratios"),
    Section("lrwpan/mac-size", "Saturated senders, other sizes", picture="ratios"),
    Section(
        "lrwpan/mac-load",
        "Senders under a load",
        "Frames of 100 bytes above the MAC come at random (Poisson), so many a second to each sender.",
        "ratios",
    ),
    Section(
        "lrwpan/hidden",
        "Hidden senders",
        "Half the senders 60 m to the left of the sink and half to the right: each half is deaf to the other. "
        "Saturated, or under a load.",
        "ratios",
    ),
    Section(
        "lrwpan/udp",
        "Datagrams over 6LoWPAN",
        "Datagrams come at random (Poisson) on a circle of 10 m; one of 100 bytes is two frames, one of 536 bytes six. "
        "60 s after 10 s.",
        "ratios",
    ),
    Section(
        "lrwpan/udp-flowmonitor",
        "Datagrams over 6LoWPAN, by FlowMonitor",
        "The same runs from their beginning: what is still queued at the end counts as not delivered.",
        "ratios",
    ),
    Section(
        "lrwpan/tcp",
        "TCP, bulk senders",
        "A flow a sender on a circle of 10 m, its buffer always full; segments of 536 bytes are six frames. 100 s "
        "after 20 s. `receiving` are the flows of which anything arrives in these 100 s. Goodput is what the sink's "
        "applications read, so without what waits behind a hole. A timeout within the loss state of another does not "
        "count, as ns-3's trace of states has none; a half to five sixths of all are such.",
        "ratios",
    ),
    Section(
        "lrwpan/tcp-flowmonitor",
        "TCP, bulk senders, by FlowMonitor",
        "The same runs from their beginning; ACK directions are flows of their own.",
        "ratios",
    ),
    Section(
        "lrwpan/grid",
        "TCP at a constant rate on a grid",
        "Writes of 100 bytes, as many a second as it says, and segments of 100 bytes, on a square grid with the sink "
        "in a corner or the centre; 40 s. A write that does not fit is lost. A sender beyond 80 m never connects.",
        "ratios",
    ),
    Section(
        "lrwpan/discovery",
        "TCP, bulk senders, with neighbour discovery",
        "As above, but stations look for their neighbours' addresses, as ns-3 does unless told otherwise.",
    ),
    Section(
        "lrwpan/discovery-flowmonitor",
        "TCP, bulk senders, with neighbour discovery, by FlowMonitor",
    ),
    Section(
        "lrwpan/mesh",
        "TCP in a mesh that floods",
        "A grid of ten columns with the sink in a corner; frames are flooded. Writes of 100 bytes at a constant rate, "
        "buffers of 2 MiB, neighbour discovery; 100 s. Few flows ever connect, and rates of flows scatter.",
        "ratios",
    ),
    Section("lrwpan/no-mesh", "The same without flooding"),
)
SEEDS = Section(
    "lrwpan/seeds",
    "Radios, seed by seed",
    "The runs of the means above, a run a seed.",
    listed=False,
)


WHOLE: Mapping[str, object] = MappingProxyType(
    {
        "run.warmup": "0s",
        "measure.acks": True,
        "measure.lost_after": "10s",
        "measure.undeliverable": "received",
    }
)
"""FlowMonitor's figures are over the whole run."""
CLOCK: Mapping[str, object] = MappingProxyType({"transport.timestamp_clock": "1ms"})
DISCOVERED: Mapping[str, object] = MappingProxyType({"topology.radio.discovery": {}})


def sending(app: Mapping[str, object], **more: object) -> list[dict[str, object]]:
    """Return traffic of every sender to the sink that starts in the second from 1 s on."""
    return [{"name": "upload", "pattern": "pairs", "start": "1s", "jitter": "1s", "app": app, **more}]


Measured = tuple[tuple[Case, ...], Mean]
"""The runs of a row of the reference, a seed each, and the comparison of their means."""


def measured(
    section: str, own: str, title: str, row: Row, settings: Mapping[str, object], figures: tuple[Compared, ...]
) -> Measured:
    """Make the cases of a row, a seed each, and the mean over them."""
    there = [figure for figure in figures if row.get(figure.column)]
    known, explanation = KNOWN.get((section, own), ((), None))

    def case(seed: int, switched: bool = False) -> Case:
        return Case(
            f"lrwpan/seeds/{section}-{own}-{seed}{'-switched' * switched}",
            f"{title}, seed {seed}{', switched' * switched}",
            "wireless-cell",
            {**settings, **(explanation.settings if explanation and switched else {})},
            tuple(Figure(figure.name, figure.unit, None, None, figure.ours) for figure in there),
            seed=seed,
            quick=seed == 1 and not switched and (section, own) in QUICK,
            cost_s=0.2,
        )

    cases = tuple(case(seed) for seed in range(1, int(row["seeds"]) + 1))
    again: tuple[Case, ...] = ()
    if explanation is not None:
        further = [seed for seed in explanation.seeds if seed > len(cases)]
        again = tuple(case(seed) for seed in further) or tuple(case(one.seed, switched=True) for one in cases)
    judged = tuple(
        (figure.name, figure.unit, float(row[figure.column]), figure.judge(row, figure.column)) for figure in there
    )
    mean = Mean(f"lrwpan/{section}/{own}", title, tuple(one.id for one in cases), judged)
    if explanation is not None:
        told = dict.fromkeys(known, explanation)
        mean = replace(mean, explained=told, again=tuple(one.id for one in again))
    return (*cases, *again), mean


TWENTY = tuple(range(1, 21))
LONE = Explanation(
    "one frame in some 35,000 is lost, which ends slow start, and none is in its five runs", seeds=TWENTY
)
ARRIVALS = Explanation("when datagrams come: there are some 300 or 2400 in a run", seeds=TWENTY)
DRAWN = Explanation("when frames come: their numbers differ by sender, on either side", seeds=TWENTY)
STARVED = Explanation("which flows starve is chance, and so how many contend with the sink's ACKs", seeds=TWENTY)
KNOWN: Mapping[tuple[str, str], tuple[tuple[str, ...], Explanation]] = MappingProxyType(
    {
        ("mac-load", "n10-20"): (("Jain's index",), DRAWN),
        ("tcp", "westwood-536B-n40"): (("Jain's index", "receiving"), STARVED),
        ("tcp", "westwood-plus-536B-n5"): (("access failures",), STARVED),
        ("tcp", "westwood-plus-536B-n20"): (("Jain's index", "access failures"), STARVED),
        ("tcp", "newreno-536B-n1"): (("goodput", "round trip"), LONE),
        ("tcp", "westwood-plus-536B-n1"): (("goodput", "round trip"), LONE),
        ("tcp-flowmonitor", "newreno-536B-n1"): (("delivered",), LONE),
        ("tcp-flowmonitor", "westwood-plus-536B-n1"): (("delivered",), LONE),
        ("udp", "n5-536B-1"): (("goodput", "access failures"), ARRIVALS),
        ("udp", "n20-100B-2"): (("access failures",), ARRIVALS),
    }
)
"""Figures that do not hold by section and row, with explanations."""


QUICK = frozenset(
    {
        ("mac-ack", "n10"),
        ("mac-noack", "n5"),
        ("mac-load", "n10-10"),
        ("hidden", "n4-100B"),
        ("udp", "n20-100B-2"),
        ("tcp", "newreno-536B-n10"),
        ("grid", "41-60m-corner-40-400"),
    }
)
"""Rows of which a seed is in ``make test``."""


def lasting(row: Row, start_s: float = 1.0) -> dict[str, object]:
    """Return the times of a run: sources start in the second from ``start_s`` on, from which the warm-up counts."""
    warmup = start_s + float(row.get("warmup_s") or 0)
    return {"run.warmup": f"{warmup:g}s", "run.duration": f"{warmup + float(row['duration_s']):g}s"}


def mac() -> Iterator[Measured]:
    """Compare the MAC without higher layers."""
    for row in table("lrwpan/mac.csv"):
        n, payload, acknowledged = row["senders"], int(row["payload"]), row["acknowledged"] == "1"
        pps = float(row["pps"] or 0)
        app = {"kind": "udp", "rate": f"{8 * payload * pps:g}bps", "gaps": "poisson"}
        settings = {
            **lasting(row),
            "topology.sources": int(n),
            "topology.radio": {"adaptation": "none", "acknowledged": acknowledged},
            "transport.mss": payload,
            "transport.header": 0,
            "traffic": sending(app if pps else {"kind": "udp", "rate": "250kbps"}),
        }
        if not pps:
            settings["queue.limit"] = "2p"
        hidden = row["section"] == "hidden"
        if hidden:
            settings["topology.placement"] = {"kind": "hidden", "distance": 60.0}
        sized = hidden or row["section"] == "mac-size"
        own = [f"n{n}", f"{payload}B" * sized, f"{pps:g}" * (pps > 0), "noack" * (hidden and not acknowledged)]
        parts = [
            senders(n),
            f"{payload} bytes" * sized,
            f"{pps:g} frames a second" * (pps > 0),
            "without ACKs" * (hidden and not acknowledged),
        ]
        figures = MAC if acknowledged else (*(f for f in MAC if f.name in UNACKNOWLEDGED), SENT)
        yield measured(
            row["section"], "-".join(filter(None, own)), ", ".join(filter(None, parts)), row, settings, figures
        )


def senders(count: str) -> str:
    """Word a number of senders."""
    return f"{count} sender{'s' * (count != '1')}"


def udp() -> Iterator[Measured]:
    """Compare datagrams over 6LoWPAN."""
    for row in table("lrwpan/udp.csv"):
        n, payload, pps = row["senders"], int(row["payload"]), float(row["pps"])
        settings = {
            **lasting(row),
            "topology.sources": int(n),
            "transport.mss": payload,
            "transport.header": 48,
            "traffic": sending({"kind": "udp", "rate": f"{8 * (payload + 48) * pps:g}bps", "gaps": "poisson"}),
        }
        own = f"n{n}-{payload}B-{pps:g}"
        title = f"{senders(n)}, {payload} bytes, {pps:g} a second"
        yield measured("udp", own, title, row, settings, UDP)
        yield measured("udp-flowmonitor", own, title, row, {**settings, **WHOLE}, UDP_FLOWMONITOR)


CONTROLLERS = {"newreno": "NewReno", "westwood": "Westwood", "westwood-plus": "Westwood+"}


def tcp() -> Iterator[Measured]:
    """Compare TCP's bulk senders."""
    for row in table("lrwpan/tcp.csv"):
        discovery = row["section"] == "tcp-discovery"
        flows, mss, controller = row["flows"], row["mss"], row["controller"]
        settings: dict[str, object] = {
            **lasting(row),
            "controller": f"{controller}:form=ns3",
            "topology.sources": int(flows),
            "transport.mss": int(mss),
            **CLOCK,
            "traffic": sending({"kind": "bulk", "write": f"{mss}B"}),
            **(DISCOVERED if discovery else {}),
        }
        section = "discovery" if discovery else "tcp"
        own = f"{controller}-{mss}B-n{flows}"
        title = f"{CONTROLLERS[controller]}, {mss} bytes, {flows} flow{'s' * (flows != '1')}"
        traced = {"measure.trace": list(range(int(flows)))}
        yield measured(section, own, title, row, {**settings, **traced}, TCP)
        yield measured(f"{section}-flowmonitor", own, title, row, {**settings, **WHOLE}, FLOWMONITOR)


def from_connect(bps: int) -> dict[str, object]:
    """Return the application of the document's sources: writes of 100 bytes as soon as they have called connect()."""
    return {"kind": "cbr", "rate": f"{bps}bps", "write": "100B", "from": "connect"}


def grid() -> Iterator[Measured]:
    """Compare TCP at a constant rate on grids, one hop."""
    for row in table("lrwpan/grid.csv"):
        pps = int(row["pps"])
        placement: dict[str, object] = {"kind": "grid", "side": float(row["side"])}
        if row["sink"] == "centre":
            placement["centre"] = True
        settings = {
            **WHOLE,
            **CLOCK,
            **lasting(row),
            "measure.trace": list(range(int(row["flows"]))),
            "controller": "newreno:form=ns3",
            "topology.sources": int(row["nodes"]) - 1,
            "topology.placement": placement,
            "transport.mss": 100,
            "traffic": sending(from_connect(800 * pps), flows=int(row["flows"])),
        }
        own = f"{row['nodes']}-{row['side']}m-{row['sink']}-{row['flows']}-{pps}"
        title = f"{row['nodes']} stations on {row['side']} m, sink: {row['sink']}, {row['flows']} flows, {pps} writes/s"
        yield measured("grid", own, title, row, settings, GRID)


def mesh() -> Iterator[Measured]:
    """Compare a mesh that floods, and the same stations without flooding."""
    for row in table("lrwpan/mesh.csv"):
        flooding = row["section"] == "mesh"
        flows, step, controller = row["flows"], row["step"], row["controller"]
        app = from_connect(int(row["bps"]))
        settings = {
            **WHOLE,
            **DISCOVERED,
            **CLOCK,
            **lasting(row, 0.0),
            "run.warmup": "1ns",  # FlowMonitor starts behind the first SYNs
            "run.ties": "scheduled",
            "measure.trace": list(range(int(flows))),
            "controller": f"{controller}:form=ns3",
            "topology.sources": int(row["nodes"]) - 1,
            "topology.placement": {"kind": "grid", "step": float(step), "columns": 10},
            "transport.mss": 100,
            "transport.send_buffer": "2MiB",
            "transport.receive_buffer": "2MiB",
            "traffic": sending(app, flows=int(flows), start="0s", jitter="0s"),
        }
        if flooding:
            settings["topology.radio.mesh"] = {}
        log = row["propagation"] == "logdist"
        if log:
            settings["topology.propagation"] = {"kind": "log-distance"}
        own = f"{row['nodes']}-{step}m-{flows}-{row['bps']}-{controller}{'-log' * log}"
        title = (
            f"{CONTROLLERS[controller]}, {row['nodes']} stations {step} m apart, {flows} flows of "
            f"{int(row['bps']) / 1000:g} kb/s{', log-distance' * log}"
        )
        yield measured(row["section"], own, title, row, settings, MESH if flooding else NO_MESH)
