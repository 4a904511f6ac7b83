"""ns-3.43: figures measured with its optimized build, and its own packet-exact test vectors."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from incast import Result
from parity.checks import Case, Change, Check, Explanation, Figure, Number, Packets, Reference, Section, Sent
from parity.figures import largest_mean, sampled_mean, summary, table
from parity.tolerances import Absolute, Relative, Tolerance, Widest, ZeroWhereZero


def reference() -> Reference:
    """Return ns-3's comparisons."""
    return Reference(
        "ns3",
        "ns-3",
        "ns-3 3.43 (release), built optimized (g++ 12.2). Rows of the study follow the code of "
        "omarghara/DCTCP-SWIFT-YASOMAM (commit 59813a3) run on it, with the same flow lists as ours.",
        (
            Section(
                "ns3/4.1",
                "The study, 0.1 s of ON time",
                "DCTCP, 16 hosts of a k = 4 fat tree, 1 Gb/s, on-off sources of 5 Gb/s that start together. "
                "Mode 0: all to the last host; 1: all to a random host; 2: random pairs. Throughput, delay and loss as "
                "the study computes them from FlowMonitor; the busiest queue sampled every 1 ms over the last 70 % of "
                "the ON time.",
                "ratios",
            ),
            Section("ns3/4.2", "The study, 1 s of ON time", "Slower sources; DCTCP and the study's Swift.", "ratios"),
            Section("ns3/4.6", "One lone flow", "Host 0 to host 15, six hops, 0.2 s of ON time.", "ratios"),
            Section("ns3/4.8", "What single changes move", "Rows of the study with one thing changed."),
            Section(
                "ns3/4.8-orders",
                "What the order at one instant moves",
                "Two of those rows again, ours only, with `run.ties=hash` and the seed as the number of the order.",
            ),
            Section(
                "ns3/vectors",
                "Packet by packet",
                "Response vectors of ns-3's system test ns3-tcp-loss: a transfer of 200,000 bytes that loses packets "
                "16, 17 ... of those that reach the receiver's device. Every packet sent, to 1 us.",
                "traces",
            ),
            Section(
                "ns3/dumbbell",
                "Two senders, one receiver, 10 Gb/s",
                "Links of 10 us, bulk senders, 1448-byte segments, an ACK per two segments, marking at 65 packets, "
                "1 s simulated (scenario `two-senders`).",
            ),
        ),
        (*study(), *sensitivity(), *orders(), *vectors(), *dumbbell()),
        changes(),
    )


STUDY = {"0": "ns3-hotspot", "1": "ns3-random-hotspot", "2": "ns3-random-pairs"}
"""Scenarios of the study's modes."""
CONTROLLERS = {
    "dctcp": "dctcp:form=ns3",
    "newreno": "newreno:form=ns3",
    "westwood-plus": "westwood-plus:form=ns3",
    "swift": "swift:form=yasomam",
}
SWIFT_TARGETS = {"0": "min-rtt", "1": "min-rtt,epsilon=1ms", "2": "static,static_target=25ms"}
TAIL_DROP = {"queue.kind": "drop-tail", "queue.limit": "2666p", "queue.device": 100}
"""The study's queue for all but DCTCP: RED whose thresholds lie at its limit."""
AROUND: Mapping[str, Mapping[str, object]] = {
    "dctcp": {},
    "newreno": TAIL_DROP,
    "westwood-plus": TAIL_DROP,
    "swift": {
        **TAIL_DROP,
        "transport.recovery": "newreno",
        "transport.pacing": {"slow_start": 2.0, "avoidance": 1.2, "max": "1Gbps", "restart_at_max": True},
    },
}
"""Settings of the study besides its controllers: Swift runs with classic recovery and ns-3's pacing of windows."""
THROUGHPUT, DELAY = summary("flowmonitor.throughput_kibps"), summary("flowmonitor.delay_s", 1e3)
LOSS = ZeroWhereZero(Widest((Absolute(0.2), Relative(0.15))))


ORDER = (
    "Order of what happens at one instant. All flows open together and go on in step; whose packet is first where two "
    "meet is in ns-3 the order in which events were inserted, here that of what set the two going, one cause back, "
    "then that of links; with the order of links alone the figure is ns-3's within the tolerance"
)
LINKS: dict[str, object] = {"run.ties": "link"}
AT_ONE_INSTANT: Mapping[tuple[str, str], Explanation] = {
    (case, "busiest queue"): Explanation(ORDER, LINKS)
    for case in (
        "ns3/4.1/dctcp-mode2-n50",
        "ns3/4.2/dctcp-mode1-n1000-500Mbps",
        "ns3/4.2/dctcp-mode1-n2000-50Mbps",
    )
}
"""Rows that the order of simultaneous events moves beyond their tolerance."""
ANY_ORDER = (
    "Order of what happens at one instant. All flows open together and go on in step, and one order or another at the "
    "instants where they meet leads elsewhere: seeds of a hash give other orders than ns-3's or ours"
)
HASH: dict[str, object] = {"run.ties": "hash"}
ORDERS = tuple(range(1, 33))
FEW_ORDERS = ORDERS[:6]
MOVED = ("mean delay", "Jain's index", "busiest queue")
"""Figures of a case with flows apart that the order moves beyond their tolerance."""


def joined(words: Sequence[str]) -> str:
    """Join words with commas and "and"."""
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else words[0]


def apart(case: str) -> list[dict[str, str]]:
    """Read ns-3's results of a case whose flows open a little apart."""
    return [row for row in table("ns3/apart.csv") if row["case"] == case]


def unsteady(case: str) -> Explanation | None:
    """Return the explanation by ns-3's own results with flows that open a little apart; ``None`` if unknown."""
    runs = apart(case)
    if not runs:
        return None

    def told(column: str, digits: int) -> str:
        return joined([f"{float(run[column]):.{digits}f}" for run in runs])

    return Explanation(
        f"{ANY_ORDER}. With flows that open {told('apart_ns', 0)} ns apart ns-3 itself (3.43) has "
        f"{told('delay_ms', 1)} ms, an index of {told('jain', 3)} and {told('queue_mean', 0)} packets at its "
        f"busiest queue. Ours with the {len(ORDERS)} orders",
        HASH,
        ORDERS,
    )


def study() -> tuple[Case, ...]:
    """Sections 4.1, 4.2 and 4.6: the study's own runs."""
    return tuple(study_case(row) for row in table("ns3/study.csv") if row["controller"] in CONTROLLERS)


def study_case(row: dict[str, str]) -> Case:
    """Make the case of a row of the study."""
    section, mode, swift = row["section"], row["mode"], row["swift_mode"]
    lone = section == "4.6"
    controller = CONTROLLERS[row["controller"]]
    named = row["controller"]
    if swift:
        controller = f"{controller},target={SWIFT_TARGETS[swift]}"
        named = f"swift-{swift}"
    titles = {"dctcp": "DCTCP", "newreno": "NewReno", "westwood-plus": "Westwood+", "swift-0": "Swift, smallest RTT"}
    titles |= {"swift-1": "Swift, smallest RTT + 1 ms", "swift-2": "Swift, 25 ms"}
    stop = float(row["stop_s"])
    close = Relative(0.005)

    filled = int(row["flows"]) - int(row["connections"])

    def within(usual: Tolerance) -> Tolerance:
        return close if lone else usual

    checks: list[Figure] = [
        Figure("throughput", "Kibit/s", float(row["throughput_kibps"]), within(Relative(0.03)), throughput_of(filled)),
        Figure("mean delay", "ms", float(row["delay_ms"]), within(Relative(0.1)), delay_of(filled)),
        Figure("loss", "%", float(row["loss_pct"]), LOSS, loss_of(filled)),
    ]
    if not lone:
        queue = busiest(row["port"], stop)
        checks += [
            Figure("Jain's index", "", float(row["jain"]), Absolute(0.03), jain),
            Figure("busiest queue", "packets", float(row["queue_mean"]), Relative(0.1), queue),
        ]
        if row["controller"] == "dctcp":
            checks.append(Figure("marks", "packets", float(row["marks"]), Relative(0.05), summary("queues.marks")))
    case = f"ns3/{section}/{named}-mode{mode}-n{row['flows']}" + (f"-{row['app_rate']}" if section == "4.2" else "")
    return Case(
        case,
        f"{titles[named]}, mode {mode}, {row['flows']} flow{'s' * (row['flows'] != '1')}",
        STUDY[mode],
        {
            **study_settings(row["flows"], row["app_rate"], stop, row["port"]),
            "controller": controller,
            **AROUND[row["controller"]],
        },
        tuple(
            replace(check, explained=unsteady(case) if check.name in MOVED else None)
            if apart(case)
            else replace(check, explained=AT_ONE_INSTANT.get((case, check.name)))
            for check in checks
        ),
        quick=(section, row["flows"]) in {("4.1", "50"), ("4.6", "1")},
        cost_s=0.002 * float(row["flows"]) * (stop - 4),
    )


def study_settings(flows: str, rate: str, stop_s: float, observed: str) -> dict[str, object]:
    """Set a run of the study: so many flows, and sinks that stop at a time."""
    return {
        "traffic.flows": int(flows),
        "traffic.app.rate": rate,
        "traffic.stop": f"{stop_s - 1:g}s",
        "traffic.sink_stop": f"{stop_s:g}s",
        "run.duration": f"{stop_s + 10:g}s",
        "measure.series": {"ports": [port_name(observed)], "interval": "1ms"},
    }


def port_name(theirs: str) -> str:
    """Name a port as ours: ns-3 names a link by its upper and lower end, and says which sends."""
    (upper, lower), direction = theirs.split(":")[0].replace("host", "h").split(">"), theirs.split(":")[1]
    return f"{upper}>{lower}" if direction == "a2b" else f"{lower}>{upper}"


def busiest(theirs: str, stop_s: float) -> Number:
    """Take the mean of a queue over the last 70 % of the ON time, which begins at 3 s."""
    return sampled_mean(port_name(theirs), "queue_packets", stop_s - 1 - 0.7 * (stop_s - 4), stop_s - 1, 1e-3)


@dataclass(frozen=True)
class Entry:
    """An entry of FlowMonitor: one direction of a connection."""

    sent: int
    received: int
    received_bytes: int
    delays_s: float
    lasts_s: float


ACK_BYTES, ACK_ON_WIRE_S = 52, 54 * 8e-9
SYN_ON_WIRE_S, LINK_S = 58 * 8e-9, 10e-6


def entries(result: Result, filled: int) -> list[Entry]:
    """Give the entries that the study averages: of all connections their data, and ``filled`` more.

    The study looks at as many entries as it has flows, in the order of their first packets. In mode 0
    the flows that would send to themselves have none, and the ACKs of the connections whose SYNs come
    first take their places: one ACK for each packet that came, on a way back that is empty.
    """
    names = ("src", "hops", "fm_tx_packets", "fm_rx_packets", "fm_rx_bytes", "fm_delay_sum_s")
    columns = [result.flows[name].to_pylist() for name in (*names, "fm_first_tx_s", "fm_last_rx_s")]
    data, acks, of_host = list[Entry](), list[tuple[float, Entry]](), dict[int, int]()
    for source, hops, sent, received, received_bytes, delays, first, last in zip(*columns, strict=True):
        data.append(Entry(sent, received, received_bytes, delays, last - first if received else -1.0))
        before = of_host.get(source, 0)
        of_host[source] = before + 1
        back = hops * (ACK_ON_WIRE_S + LINK_S)
        ack = Entry(received, received, ACK_BYTES * received, received * back, data[-1].lasts_s)
        acks.append((before * SYN_ON_WIRE_S + hops * (SYN_ON_WIRE_S + LINK_S), ack))
    acks.sort(key=lambda timed: timed[0])
    return [*data, *(entry for _, entry in acks[:filled])]


def throughput_of(filled: int) -> Number:
    """Take the mean throughput of the study's entries in Kibit/s."""

    def figure(result: Result) -> float:
        values = [entry.received_bytes * 8 / 1024 / entry.lasts_s for entry in entries(result, filled)]
        return math.fsum(values) / len(values)

    return figure


def delay_of(filled: int) -> Number:
    """Take the mean delay of the packets of the study's entries in ms."""

    def figure(result: Result) -> float:
        own = entries(result, filled)
        return 1e3 * math.fsum(entry.delays_s for entry in own) / sum(entry.received for entry in own)

    return figure


def loss_of(filled: int) -> Number:
    """Take the mean loss of the study's entries in percent."""

    def figure(result: Result) -> float:
        values = [100 * (entry.sent - entry.received) / entry.sent for entry in entries(result, filled)]
        return math.fsum(values) / len(values)

    return figure


def rates(result: Result) -> list[float]:
    """Take the flows' throughputs as FlowMonitor's users compute them."""
    columns = (result.flows[f"fm_{name}"].to_pylist() for name in ("rx_bytes", "first_tx_s", "last_rx_s"))
    return [received / (last - first) for received, first, last in zip(*columns, strict=True) if last is not None]


def jain(result: Result) -> float | None:
    """Take Jain's index of those throughputs."""
    values = rates(result)
    squares = math.fsum(value * value for value in values)
    return math.fsum(values) ** 2 / (len(values) * squares) if squares else None


ALL_PORTS = [
    port
    for i in range(8)
    for upper, lower in (
        *((f"core{i % 4}", f"agg{2 * pod + i % 4 // 2}") for pod in range(4) if i < 4),
        *((f"agg{i}", f"edge{i // 2 * 2 + j}") for j in range(2)),
        *((f"edge{i}", f"h{2 * i + j}") for j in range(2)),
    )
    for port in (f"{upper}>{lower}", f"{lower}>{upper}")
]
"""Every port of the k = 4 fat tree."""


def sensitivity() -> tuple[Case, ...]:
    """Rows of section 4.8: the study with one thing changed."""
    return tuple(sensitivity_case(row) for row in table("ns3/sensitivity.csv"))


def sensitivity_case(row: dict[str, str]) -> Case:
    """Make the case of a row; its figures are shown, the changes between rows are judged."""
    settings = study_settings(row["flows"], row["app_rate"], 4.1, "edge3>host6:a2b")
    settings["controller"] = CONTROLLERS["dctcp"]
    if row["mode"] == "2":
        settings["measure.series"] = {"ports": ALL_PORTS, "interval": "1ms"}
    if row["recovery"] == "classic":
        settings |= {"transport.recovery": "newreno", "transport.ecn_by_prr": False}  # at once, also for marks
    if row["segment_size"] != "1500":
        settings["transport.mss"] = int(row["segment_size"])
    if row["routing"] != "first-path":
        settings["routing.kind"] = row["routing"]
    queue = largest_mean("queue_packets", 3.03, 3.1)
    return Case(
        f"ns3/4.8/{row['name']}",
        row["name"],
        STUDY[row["mode"]],
        settings,
        (
            Figure("throughput", "Kibit/s", float(row["throughput_kibps"]), None, THROUGHPUT),
            Figure("mean delay", "ms", float(row["delay_ms"]), None, DELAY),
            Figure("busiest queue", "packets", float(row["queue_mean"]), None, queue),
            Figure("loss", "%", float(row["loss_pct"]), None, summary("flowmonitor.loss_pct")),
        ),
        cost_s=0.002 * float(row["flows"]),
    )


def orders() -> tuple[Case, ...]:
    """Make the runs of section 4.8 whose change depends on the order at one instant, in other orders."""
    named = {name for change in changes() if change.again for name in (change.base, change.changed)}
    cases = (case for case in sensitivity() if case.id in named)
    return tuple(
        replace(
            case,
            id=in_order(case.id, seed),
            title=f"{case.title}, order {seed}",
            settings={**case.settings, **HASH},
            checks=tuple(replace(check, reference=None) for check in case.checks if isinstance(check, Figure)),
            seed=seed,
        )
        for case in cases
        for seed in FEW_ORDERS
    )


def in_order(case: str, seed: int) -> str:
    """Name a case with another order of simultaneous events."""
    return f"ns3/4.8-orders/{case.removeprefix('ns3/4.8/')}-{seed}"


def scatter(base: str, changed: str) -> Explanation | None:
    """Explain how far ns-3's own queue moves between two cases as their flows open apart; nothing if unknown."""
    before, after = apart(base), apart(changed)
    if not before:
        return None
    alone = not after  # as the reference has it, flows opening together
    after = after or [row for row in table("ns3/sensitivity.csv") if changed.endswith(f"/{row['name']}")] * len(before)
    moved = [
        100 * (float(now["queue_mean"]) / float(was["queue_mean"]) - 1) for was, now in zip(before, after, strict=True)
    ]
    opened = joined([was["apart_ns"] for was in before])
    return Explanation(
        f"{ANY_ORDER}. With flows that open {opened} ns apart{' before it' * alone} ns-3's own queue (3.43) changes "
        f"by {min(moved):+.1f} to {max(moved):+.1f} %. Ours with {len(FEW_ORDERS)} orders and its own",
        HASH,
        FEW_ORDERS,
    )


def changes() -> tuple[Change, ...]:
    """Single changes of the study's runs."""
    pairs = (
        ("mode 1, sources of 5 Gb/s to 500 Mb/s", "mode1-5Gbps", "mode1-500Mbps"),
        ("mode 1, sources of 5 Gb/s to 100 Mb/s", "mode1-5Gbps", "mode1-100Mbps"),
        ("mode 1, 650 flows, sources of 5 Gb/s to 100 Mb/s", "mode1-n650-5Gbps", "mode1-n650-100Mbps"),
        ("mode 1, 100 flows to 650", "mode1-5Gbps", "mode1-n650-5Gbps"),
        ("mode 1, PRR to classic recovery", "mode1-500Mbps", "mode1-500Mbps-classic"),
        ("mode 1, segments of 1500 B to 1448 B: no fragments", "mode1-500Mbps", "mode1-500Mbps-1448"),
        ("mode 2, sources of 5 Gb/s to 500 Mb/s", "mode2-5Gbps", "mode2-500Mbps"),
        (
            "mode 2, first of equal routes to one drawn for each packet",
            "mode2-500Mbps",
            "mode2-500Mbps-per-packet",
        ),
    )
    return tuple(
        Change(
            f"ns3/4.8/{base}-to-{changed}",
            title,
            f"ns3/4.8/{base}",
            f"ns3/4.8/{changed}",
            ("throughput", "mean delay", "busiest queue"),
            explained=scatter(f"ns3/4.8/{base}", f"ns3/4.8/{changed}"),
            again=tuple((in_order(base, seed), in_order(changed, seed)) for seed in FEW_ORDERS)
            if apart(f"ns3/4.8/{base}")
            else (),
        )
        for title, base, changed in pairs
    )


LOSSES: tuple[tuple[int, ...], ...] = ((), (16,), (16, 17), (16, 17, 18), (16, 17, 18, 19))
"""Arrivals at the receiver's device that each of ns-3's loss cases loses, from 0."""


VECTORS = {"newreno": ("NewReno", LOSSES), "westwood-plus": ("Westwood+", LOSSES[:4])}


def vectors() -> tuple[Case, ...]:
    """ns-3's own response vectors: every packet that the sender emits."""
    return tuple(
        Case(
            f"ns3/vectors/{kind}{i}",
            f"{name}, {len(lost) or 'no'} loss{'es' * (len(lost) > 1)}",
            "ns3-tcp-loss.toml",
            {"controller": f"{kind}:form=ns3", **({"topology.sink_link.lose": list(lost)} if lost else {})},
            (
                Packets(tuple(vector(kind, i)), sent_packets),
                Figure(
                    "last data sent",
                    "s",
                    last_data(vector(kind, i)),
                    Absolute(1e-6),
                    lambda run: last_data(sent_packets(run)),
                ),
            ),
            quick=True,
            cost_s=0.1,
        )
        for kind, (name, cases) in VECTORS.items()
        for i, lost in enumerate(cases)
    )


FIN = 1
"""The bit of FIN in TCP's flags."""


def vector(kind: str, number: int) -> Iterator[Sent]:
    """Read a vector: sequence numbers count from SYN, as TCP's do."""
    for row in table(f"ns3/tcp-loss-{kind}{number}.csv"):
        fin = bool(int(row["flags"], 16) & FIN)
        yield Sent(float(row["time_s"]), (int(row["seq"]), int(row["payload"]), fin))


def last_data(sent: Iterable[Sent]) -> float:
    """Find when the last packet with data went."""
    return max(packet.time_s for packet in sent if list(packet.what)[1])


def sent_packets(result: Result) -> list[Sent]:
    """Take the packets emitted by the sender's transport; our sequence numbers count payload bytes from 0."""
    return [
        Sent(
            row["time_s"],
            (0 if "SYN" in row["flags"] else row["seq"] + 1, row["payload_bytes"], "FIN" in row["flags"]),
        )
        for row in result.trace.to_pylist()
        if row["event"] == "send" and row["place"] == "source0"
    ]


NEWRENO = {"controller": "newreno:form=ns3", "queue.kind": "drop-tail", "queue.limit": "2666p", "queue.device": 100}
TWO_SENDERS: Mapping[str, tuple[str, Mapping[str, object]]] = {
    "dctcp": ("DCTCP", {"controller": "dctcp:form=ns3"}),
    "newreno": ("NewReno", NEWRENO),
    # what the time-stamp clock makes of round trips, 1 us, decides its estimate
    "westwood-plus": (
        "Westwood+",
        {**NEWRENO, "controller": "westwood-plus:form=ns3", "transport.timestamp_clock": "1ms"},
    ),
}
"""Title and settings by controller."""
LARGE = 6291456
"""The scenario's buffers; the others are ns-3's default."""


def dumbbell() -> tuple[Case, ...]:
    """Two bulk senders through one switch, as measured on ns-3.43."""
    return tuple(two_senders(row) for row in table("ns3/two-senders.csv"))


LOSSES_WITHIN = Relative(0.15)
QUEUE = sampled_mean("gateway>sink", "queue_packets", 0.1, 1.0, 1e-3)
"""Sampling times of ns-3's queue: every 1 ms from 100 ms on."""


def two_senders(row: Mapping[str, str]) -> Case:
    """Make a case of two bulk senders: the slower flow, the quicker, the queue between them and the sink."""
    buffer, later = int(row["buffer_bytes"]), int(row["later_us"])
    controller = row["controller"]
    titled, settings = TWO_SENDERS[controller]
    name, title = controller, f"{titled}, buffers of {'6 MiB' if buffer == LARGE else f'{buffer:,} B'}"
    own: dict[str, object] = {}
    if buffer != LARGE:
        name += f"-{buffer}"
        own |= {"transport.send_buffer": f"{buffer}B", "transport.receive_buffer": f"{buffer}B"}
    if later:
        name += f"-{later}us"
        title += f", the second sender {later} us later"
        own["traffic.bulk.stagger"] = f"{later}us"
    slower, quicker = float(row["goodput_slower_mbps"]), float(row["goodput_quicker_mbps"])
    checks: list[Check] = [
        Figure("goodput of the slower flow", "Mb/s", slower, Relative(0.005), goodput(min)),
        Figure("goodput of the quicker flow", "Mb/s", quicker, Relative(0.005), goodput(max)),
    ]
    # one flow waits for its timeout from the start on where NewReno or Westwood+ has room: no queue to compare
    if row["queue_mean"] and (controller == "dctcp" or buffer != LARGE):
        near = Relative(0.1) if buffer == LARGE else Absolute(1)
        checks.append(Figure("mean queue", "packets", float(row["queue_mean"]), near, QUEUE))
    if buffer == LARGE and controller == "dctcp":
        checks.append(Figure("marks", "packets", float(row["marks"]), Relative(0.05), summary("queues.marks")))
    elif buffer == LARGE:
        checks.append(Figure("drops", "packets", float(row["drops"]), LOSSES_WITHIN, summary("queues.drops")))
    observed = {"measure.series": {"ports": ["gateway>sink"], "interval": "1ms"}}
    # The packets of two equal senders meet at the switch in the same instant, and ns-3 takes them in a fixed order.
    ties = {"run.ties": "scheduled"}
    return Case(
        f"ns3/dumbbell/{name}",
        title,
        "two-senders",
        {**settings, **own, **ties, **observed},
        tuple(checks),
        quick=name == "dctcp",
        cost_s=0.5,
    )


def goodput(of: Callable[[list[float]], float]) -> Number:
    """Take the goodput of the quickest or slowest flow in Mb/s: what applications have read in the second."""
    return lambda result: of([8e-6 * value for value in result.flows["delivered_bytes"].to_pylist()])
