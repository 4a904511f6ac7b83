"""ns-3.43's radios: IEEE 802.15.4, 6LoWPAN and TCP over them, means over seeds."""

from __future__ import annotations

import math
import tomllib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import pyarrow.compute as pc

from incast import Result
from parity.checks import Case, Explanation, Figure, Mean, Number, Reference, Section
from parity.figures import flows_total, summary, table
from parity.tolerances import Absolute, Factor, Overlap, Relative, Tolerance

Row = Mapping[str, str]
Judge = Callable[[Row, str], "Tolerance | None"]
"""Says how far a figure of a row may be off, by its column; ``None`` where it is only shown."""

DISCOVERY = False
"""Whether the engine has neighbour discovery and FlowMonitor's 10 s after which a packet is lost.

Without them the rows that need them are left out: those of the mesh, and all of lost packets."""


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


def half(row: Row, column: str) -> float:
    """Return half the interval of a mean."""
    return float(row[f"{column}_ci"] or 0)


def within(part: float) -> Judge:
    """Judge by a part of the reference."""
    return lambda _row, _column: Relative(part)


def around(amount: float) -> Judge:
    """Judge by an amount."""
    return lambda _row, _column: Absolute(amount)


def overlapping(otherwise: Tolerance) -> Judge:
    """Judge by a tolerance, or intervals that overlap."""
    return lambda row, column: Overlap(half(row, column), otherwise)


def chance(row: Row, column: str) -> Tolerance:
    """Judge a figure that follows from who starves: intervals of five seeds overlap, or the order of magnitude."""
    return Overlap(half(row, column)) if int(row["seeds"]) >= 5 else Factor(10)


def shown(_row: Row, _column: str) -> Tolerance | None:
    """Judge nothing."""
    return None


def rare(usual: Judge) -> Judge:
    """Judge a fraction of frames: what is rare scatters."""

    def judge(row: Row, column: str) -> Tolerance | None:
        return overlapping(Relative(0.25))(row, column) if float(row[column]) < 0.01 else usual(row, column)

    return judge


def saturated(row: Row, column: str) -> Tolerance | None:
    """Judge saturated senders: one alone hardly scatters, 50 are near the collapse."""
    if row["senders"] == "1" and column == "goodput_kbps":
        return Relative(0.005)
    return Overlap(half(row, column), Relative(0.06 if int(row["senders"]) >= 30 else 0.03))


def by_load(full: Judge, usual: Judge) -> Judge:
    """Judge saturated senders by one rule and those under a load by another."""
    return lambda row, column: (usual if row["pps"] else full)(row, column)


@dataclass(frozen=True)
class Compared:
    """A figure of a run: its name, its unit, the column of the reference, ours, and how far it may be off."""

    name: str
    unit: str
    column: str
    ours: Number
    judge: Judge


def of_senders(result: Result, *columns: str) -> float:
    """Add up columns of the stations that send."""
    radios = result.radios
    rows = zip(radios["station"].to_pylist(), *(radios[column].to_pylist() for column in columns), strict=True)
    return math.fsum(math.fsum(values) for station, *values in rows if station != "sink")


ENDED = ("frames_delivered", "access_failures", "no_acks")


def ratio(over: tuple[str, ...], under: tuple[str, ...]) -> Number:
    """Take a ratio of two counts of the senders; none where there is nothing below."""

    def figure(result: Result) -> float | None:
        below = of_senders(result, *under)
        return of_senders(result, *over) / below if below else None

    return figure


def sink_granted(result: Result) -> float | None:
    """Take the part of the sink's accesses that end in a transmission."""
    (sink,) = (row for row in result.radios.to_pylist() if row["station"] == "sink")
    return sink["tries"] / sink["accesses"] if sink["accesses"] else None


def service_ms(result: Result) -> float:
    """Take the mean service time of the senders' frames."""
    columns = (result.radios[name].to_pylist() for name in ("service_mean_s", "frames_delivered"))
    timed = [(mean, count) for mean, count in zip(*columns, strict=True) if mean is not None]
    return 1e3 * math.fsum(mean * count for mean, count in timed) / sum(count for _, count in timed)


def first_kbps(result: Result) -> float:
    """Take the rate of datagrams that arrive for the first time, kb/s: their flows count those that arrive again."""
    run, flows, radios = result.summary["run"], result.flows, result.radios
    arrived = math.fsum(flows["delivered_measured_bytes"].to_pylist())
    size = tomllib.loads(result.toml)["transport"]["mss"]
    again = size * math.fsum(radios["packets_again"].to_pylist())
    return float(8e-3 * (arrived - again) / (run["measure_to_s"] - run["measure_from_s"]))


def repeated(result: Result) -> float:
    """Take the packets that arrived again, by those that arrived."""
    again = math.fsum(result.radios["packets_again"].to_pylist())
    return float(again / (math.fsum(result.flows["arrived_packets"].to_pylist()) - again))


def tries_per_s(result: Result) -> float:
    """Take the senders' transmissions a second."""
    run = result.summary["run"]
    return float(of_senders(result, "tries") / (run["measure_to_s"] - run["measure_from_s"]))


def retransmitted(result: Result) -> float | None:
    """Take the part of the segments sent that were sent again."""
    sent = flows_total("sent_packets")(result)
    again = flows_total("retransmissions")(result)
    return None if not sent or again is None else again / sent


def packets(result: Result, event: str, *columns: str, data: bool) -> list[tuple[Any, ...]]:
    """Return columns of the data packets of all flows, or of those without data, that are at an event, by time."""
    trace = result.trace
    size = trace["payload_bytes"]
    own = trace.filter(pc.and_(pc.equal(trace["event"], event), pc.greater(size, 0) if data else pc.equal(size, 0)))
    return list(zip(*(own[column].to_pylist() for column in columns), strict=True))


def read_kbps(result: Result) -> float:
    """Take the rate of bytes that the sink's applications could read, kb/s: without what waits behind a hole."""
    run = result.summary["run"]
    upto, waiting = Counter[int](), defaultdict[int, dict[int, int]](dict)
    read = 0
    for time_s, flow, first, size in packets(result, "receive", "time_s", "flow", "seq", "payload_bytes", data=True):
        before = upto[flow]
        waiting[flow][first] = size
        while upto[flow] in waiting[flow]:
            upto[flow] += waiting[flow].pop(upto[flow])
        if time_s >= run["measure_from_s"]:
            read += upto[flow] - before
    return float(8e-3 * read / (run["measure_to_s"] - run["measure_from_s"]))


def entered(result: Result) -> float:
    """Count timeouts outside of the loss state of another, which lasts until what was sent by then is acknowledged.

    A segment that is sent again when no ACK has just come is sent by a timeout.
    """
    arrived = packets(result, "arrive", "time_ps", "flow", "ack", data=False)
    sent = packets(result, "send", "time_ps", "flow", "seq", "payload_bytes", "flags", data=True)
    from_ps = 1e12 * result.summary["run"]["measure_from_s"]
    latest, highest, until = dict[int, int](), Counter[int](), dict[int, int]()
    count = 0
    for time, flow, *what in sorted([*arrived, *sent], key=lambda packet: packet[0]):  # at one instant ACKs first
        if len(what) == 1:
            latest[flow] = time
            if what[0] >= until.get(flow, math.inf):
                del until[flow]
            continue
        first, size, flags = what
        if "RETX" in flags and latest.get(flow) != time:
            count += flow not in until and time >= from_ps
            until[flow] = highest[flow]
        highest[flow] = max(highest[flow], first + size)
    return float(count)


def receiving(result: Result) -> float:
    """Count flows of which anything arrived in the measured interval."""
    return float(sum(value > 0 for value in result.flows["delivered_measured_bytes"].to_pylist()))


def never(result: Result) -> float:
    """Count flows of which nothing ever arrived."""
    return float(sum(value == 0 for value in result.flows["delivered_bytes"].to_pylist()))


ACCESS_FAILURES, NO_ACKS = ratio(("access_failures",), ENDED), ratio(("no_acks",), ENDED)
TRIES = ratio(("tries",), ("frames_delivered",))
UNDER_LOAD = rare(within(0.15))
FRACTION = by_load(rare(saturated), UNDER_LOAD)
COUNT = by_load(saturated, within(0.03))
MAC = (
    Compared("goodput", "kb/s", "goodput_kbps", first_kbps, by_load(saturated, within(0.03))),
    Compared("service", "ms", "service_ms", service_ms, by_load(saturated, shown)),
    Compared("delay", "ms", "delay_ms", summary("flows.delay_mean_s", 1e3), within(0.06)),
    Compared("delivered", "%", "delivery_pct", summary("flows.delivery_pct"), around(2.0)),
    Compared("ok", "", "ok", ratio(("frames_delivered",), ENDED), COUNT),
    Compared("access failures", "", "access_failures", ACCESS_FAILURES, FRACTION),
    Compared("no ACK", "", "no_acks", NO_ACKS, FRACTION),
    Compared("tries per ok", "", "tries_per_ok", TRIES, COUNT),
    Compared("granted", "", "granted", ratio(("tries",), ("accesses",)), COUNT),
    Compared("assessments", "", "assessments", ratio(("assessments",), ("accesses",)), COUNT),
    Compared("repeated", "", "repeated", repeated, by_load(overlapping(Relative(0.25)), shown)),
    Compared("Jain's index", "", "jain", summary("flows.jain"), chance),
)
SENT = Compared("sent", "/s", "tries_per_s", tries_per_s, saturated)
UNACKNOWLEDGED = ("goodput", "access failures", "granted", "assessments", "Jain's index")
UDP = (
    Compared("goodput", "kb/s", "goodput_kbps", first_kbps, within(0.03)),
    Compared("access failures", "", "access_failures", ACCESS_FAILURES, UNDER_LOAD),
    Compared("tries per ok", "", "tries_per_ok", TRIES, within(0.03)),
)
LOST = (Compared("lost", "%", "fm_drop_pct", summary("flowmonitor.entries.drop_pct"), around(3.0)),) * DISCOVERY
UDP_FLOWMONITOR = (
    Compared("delivered", "%", "delivery_pct", summary("flowmonitor.delivery_pct"), around(2.0)),
    Compared("delay", "ms", "delay_ms", summary("flowmonitor.delay_s", 1e3), within(0.06)),
    *(Compared("lost", "%", "drop_pct", summary("flowmonitor.drop_pct"), around(2.0)),) * DISCOVERY,
)


def goodput(row: Row, column: str) -> Tolerance:
    """Judge the goodput of TCP: in segments of six frames it scatters more."""
    alone = row["flows"] == "1"
    if row.get("mss") == "536":
        return Relative(0.01) if alone else Overlap(half(row, column), Relative(0.06))
    return Overlap(half(row, column), None if alone else Relative(0.03))


def round_trips(row: Row, column: str) -> Tolerance | None:
    """Judge the round trips: one loss decides those of a lone flow of short segments."""
    if row["flows"] == "1" and "mss" in row:
        return Relative(0.01) if row["mss"] == "536" else None
    return Overlap(half(row, column), Relative(0.15))


SCATTERS = overlapping(Relative(0.15))
TCP_FRAMES = (
    Compared("access failures", "", "access_failures", ACCESS_FAILURES, UNDER_LOAD),
    Compared("no ACK", "", "no_acks", NO_ACKS, rare(SCATTERS)),
    Compared("tries per ok", "", "tries_per_ok", TRIES, within(0.03)),
)
TCP = (
    Compared("goodput", "kb/s", "goodput_kbps", read_kbps, goodput),
    Compared("round trip", "ms", "rtt_ms", summary("flows.rtt_mean_s", 1e3), round_trips),
    Compared("sent again", "", "retransmitted", retransmitted, SCATTERS),
    Compared("timeouts", "", "timeouts", entered, chance),
    Compared("Jain's index", "", "jain", summary("flows.jain"), chance),
    Compared("receiving", "flows", "receiving", receiving, chance),
    *TCP_FRAMES,
    Compared("sink granted", "", "sink_granted", sink_granted, shown),
)
ENTRIES = "flowmonitor.entries"
FLOWMONITOR = (
    Compared("throughput", "Kibit/s", "fm_throughput_kibps", summary(f"{ENTRIES}.throughput_kibps"), chance),
    Compared("delay", "ms", "fm_delay_ms", summary(f"{ENTRIES}.delay_s", 1e3), SCATTERS),
    Compared("delivered", "%", "fm_delivery_pct", summary(f"{ENTRIES}.delivery_pct"), around(3.0)),
    *LOST,
)
GRID = (
    *(figure for figure in TCP if figure.name not in ("receiving", "sink granted")),
    Compared("never", "flows", "never", never, chance),
    *FLOWMONITOR,
)


def flooded(times: float) -> Judge:
    """Judge what scatters in a mesh."""
    return overlapping(Factor(times))


def rates(row: Row, column: str) -> Tolerance:
    """Judge the mean rate of FlowMonitor's flows in a mesh; where nothing crosses it is exact."""
    return Relative(0.01) if half(row, column) == 0 else Factor(3)


MESH_PART = overlapping(Relative(0.10))
MESH = (
    Compared("goodput", "kb/s", "goodput_kbps", read_kbps, flooded(1.5)),
    Compared("never", "flows", "never", never, chance),
    Compared("access failures", "", "access_failures", ACCESS_FAILURES, UNDER_LOAD),
    Compared("broadcasts", "/s", "broadcasts_per_s", tries_per_s, MESH_PART),
    Compared("throughput", "Kibit/s", "fm_throughput_kibps", summary(f"{ENTRIES}.throughput_kibps"), rates),
    Compared("delay", "ms", "fm_delay_ms", summary(f"{ENTRIES}.delay_s", 1e3), flooded(1.5)),
    Compared("delivered", "%", "fm_delivery_pct", summary(f"{ENTRIES}.delivery_pct"), MESH_PART),
    Compared("lost", "%", "fm_drop_pct", summary(f"{ENTRIES}.drop_pct"), MESH_PART),
)
NO_MESH = (
    Compared("goodput", "kb/s", "goodput_kbps", read_kbps, overlapping(Relative(0.03))),
    *(figure for figure in (*MESH, *TCP_FRAMES) if figure.name in ("never", "access failures")),
    *FLOWMONITOR,
)

WHOLE: Mapping[str, object] = MappingProxyType(
    {"run.warmup": "0s", "measure.acks": True} | ({"measure.lost_after": "10s"} if DISCOVERY else {})
)
"""FlowMonitor's figures are over the whole run."""
CLOCK: Mapping[str, object] = MappingProxyType({"transport.timestamp_clock": "1ms"})
DISCOVERED: Mapping[str, object] = MappingProxyType(
    {"topology.radio.discovery": {}, "measure.undeliverable": "received"}
)


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


def beside(pps: int) -> Explanation:
    """Explain grids of a low rate: what comes with the handshakes there comes after them here."""
    app = {"kind": "cbr", "rate": f"{800 * pps}bps", "write": "100B"}
    first = {**sending({"kind": "bulk", "size": "100B"}, flows=40)[0], "name": "first"}
    return Explanation(
        "its sources write from connect() on, ours once the connection is open. So its first segments, and those that "
        "gather while a SYN is lost, fall into the seconds in which all connect, and what is lost then is sent again "
        "and again. Ours with a flow of 100 bytes beside each, which starts in the same second",
        {"traffic": [*sending(app, flows=40), first]},
    )


TWENTY = tuple(range(1, 21))
LONE = Explanation("one frame in some 30,000 is lost, which ends slow start; none is in its five runs", seeds=TWENTY)
ARRIVALS = Explanation("when datagrams come: there are some 300 or 2400 in a run", seeds=TWENTY)
KNOWN: Mapping[tuple[str, str], tuple[tuple[str, ...], Explanation]] = MappingProxyType(
    {
        ("tcp", "newreno-536B-n1"): (("goodput", "round trip"), LONE),
        ("tcp", "westwood-plus-536B-n1"): (("goodput", "round trip"), LONE),
        ("udp", "n5-536B-1"): (("goodput", "access failures"), ARRIVALS),
        ("udp", "n20-100B-2"): (("access failures",), ARRIVALS),
        ("grid", "41-60m-corner-40-1"): (("access failures", "tries per ok", "delay", "delivered"), beside(1)),
        ("grid", "41-60m-corner-40-5"): (("delay",), beside(5)),
    }
)
"""Figures that do not hold by section and row, and what decides them."""


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
    """Compare the MAC without what is above it."""
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
        if discovery and not DISCOVERY:
            continue
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
        if flows == "1" and not DISCOVERY:
            continue  # packets that take more than 10 s
        yield measured(f"{section}-flowmonitor", own, title, row, {**settings, **WHOLE}, FLOWMONITOR)


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
            "traffic": sending({"kind": "cbr", "rate": f"{800 * pps}bps", "write": "100B"}, flows=int(row["flows"])),
        }
        own = f"{row['nodes']}-{row['side']}m-{row['sink']}-{row['flows']}-{pps}"
        title = f"{row['nodes']} stations on {row['side']} m, sink: {row['sink']}, {row['flows']} flows, {pps} writes/s"
        yield measured("grid", own, title, row, settings, GRID)


def mesh() -> Iterator[Measured]:
    """Compare a mesh that floods, and the same stations without flooding."""
    for row in table("lrwpan/mesh.csv") if DISCOVERY else ():
        flooding = row["section"] == "mesh"
        flows, step, controller = row["flows"], row["step"], row["controller"]
        app = {"kind": "cbr", "rate": f"{row['bps']}bps", "write": "100B"}
        settings = {
            **WHOLE,
            **DISCOVERED,
            **CLOCK,
            **lasting(row, 0.0),
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
