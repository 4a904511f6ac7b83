"""Figures of radio cells, and their tolerances from ns-3's mean."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow.compute as pc

from incast import Result
from parity.checks import Number
from parity.figures import flows_total, summary
from parity.tolerances import Absolute, Factor, Overlap, Relative, Tolerance

Row = Mapping[str, str]
Judge = Callable[[Row, str], "Tolerance | None"]
"""Function that returns the tolerance of a row's figure, by column; ``None`` if it is only shown."""


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
    """Judge a fraction of frames: rare events scatter."""

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
    """A figure of a run: name, unit, column of the reference, our function, and tolerance."""

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
    """Take a ratio of two counts of the senders; ``None`` if the denominator is 0."""

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
    return float(1e3 * math.fsum(mean * count for mean, count in timed) / sum(count for _, count in timed))


def first_kbps(result: Result) -> float:
    """Take the rate of datagrams that arrive for the first time, kb/s."""
    run, flows = result.summary["run"], result.flows
    arrived = math.fsum(flows["delivered_measured_bytes"].to_pylist())
    return float(8e-3 * arrived / (run["measure_to_s"] - run["measure_from_s"]))


def repeated(result: Result) -> float:
    """Take the ratio of duplicate to received packets."""
    again = math.fsum(result.radios["packets_again"].to_pylist())
    return float(again / math.fsum(result.flows["arrived_packets"].to_pylist()))


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
    """Take the rate of bytes readable by the sink's applications, kb/s: without out-of-order data."""
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
    """Count timeouts outside of the loss state of another one, which lasts until data sent before it is acknowledged.

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
UDP_FLOWMONITOR = (
    Compared("delivered", "%", "delivery_pct", summary("flowmonitor.delivery_pct"), around(2.0)),
    Compared("delay", "ms", "delay_ms", summary("flowmonitor.delay_s", 1e3), within(0.06)),
    Compared("lost", "%", "drop_pct", summary("flowmonitor.drop_pct"), around(2.0)),
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
    Compared("no ACK", "", "no_acks", NO_ACKS, UNDER_LOAD),
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


def points(row: Row, _column: str) -> Tolerance | None:
    """Judge shares of packets; those of a lone flow of short segments follow from one frame."""
    return None if row["flows"] == "1" and row.get("mss") == "100" else Absolute(3.0)


FLOWMONITOR = (
    Compared("throughput", "Kibit/s", "fm_throughput_kibps", summary(f"{ENTRIES}.throughput_kibps"), chance),
    Compared("delay", "ms", "fm_delay_ms", summary(f"{ENTRIES}.delay_s", 1e3), SCATTERS),
    Compared("delivered", "%", "fm_delivery_pct", summary(f"{ENTRIES}.delivery_pct"), points),
    Compared("lost", "%", "fm_drop_pct", summary(f"{ENTRIES}.drop_pct"), points),
)
GRID = (
    *(figure for figure in TCP if figure.name not in ("receiving", "sink granted")),
    Compared("never", "flows", "never", never, chance),
    *FLOWMONITOR,
)


def flooded(times: float) -> Judge:
    """Judge a scattering figure of a mesh."""
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
    *(figure for figure in MESH if figure.name in ("never", "access failures")),
    *FLOWMONITOR,
)
