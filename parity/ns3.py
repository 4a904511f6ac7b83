"""ns-3.43: figures measured with its optimized build, and its own packet-exact test vectors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from incast import Result
from parity.checks import Case, Check, Figure, Number, Packets, Section, Sent, World
from parity.figures import sampled_mean, summary, table
from parity.tolerances import Absolute, Relative, Tolerance


def world() -> World:
    """Return ns-3's comparisons."""
    return World(
        "ns3",
        "ns-3",
        "ns-3 3.43 (release), built optimized (g++ 12.2). Rows of the study follow the code of "
        "omarghara/DCTCP-SWIFT-YASOMAM (commit 59813a3) run on it, with the same flow lists as ours.",
        (
            Section(
                "ns3/vectors",
                "Packet by packet",
                "Response vectors of ns-3's system test ns3-tcp-loss, NewReno: a transfer of 200,000 bytes that loses "
                "packets 16, 17 ... of those that reach the receiver's device. Every packet sent, to 1 us.",
                "traces",
            ),
            Section(
                "ns3/dumbbell",
                "Two senders, one receiver, 10 Gb/s",
                "Links of 10 us, bulk senders, 1448-byte segments, an ACK per two segments, marking at 65 packets, "
                "1 s simulated (scenario `two-senders`).",
            ),
        ),
        (*vectors(), *dumbbell()),
    )


LOSSES: tuple[tuple[int, ...], ...] = ((), (16,), (16, 17), (16, 17, 18), (16, 17, 18, 19))
"""Arrivals at the receiver's device that each of ns-3's loss cases loses, from 0."""


def vectors() -> tuple[Case, ...]:
    """ns-3's own response vectors, NewReno: every packet that the sender emits."""
    return tuple(
        Case(
            f"ns3/vectors/newreno{i}",
            f"{len(lost) or 'no'} loss{'es' * (len(lost) > 1)}",
            "ns3-tcp-loss.toml",
            {"topology.sink_link.lose": list(lost)} if lost else {},
            (Packets(tuple(vector(i)), sent_packets),),
            quick=True,
            cost_s=0.1,
        )
        for i, lost in enumerate(LOSSES)
    )


FIN = 1
"""The bit of FIN in TCP's flags."""


def vector(number: int) -> Iterator[Sent]:
    """Read a vector: sequence numbers count from SYN, as TCP's do."""
    for row in table(f"ns3/tcp-loss-newreno{number}.csv"):
        fin = bool(int(row["flags"], 16) & FIN)
        yield Sent(float(row["time_s"]), (int(row["seq"]), int(row["payload"]), fin))


def sent_packets(result: Result) -> list[Sent]:
    """Take what the sender's transport emitted; our sequence numbers count payload bytes from 0."""
    return [
        Sent(
            row["time_s"],
            (0 if "SYN" in row["flags"] else row["seq"] + 1, row["payload_bytes"], "FIN" in row["flags"]),
        )
        for row in result.trace.to_pylist()
        if row["event"] == "send" and row["place"] == "source0"
    ]


BUFFER = {"transport.send_buffer": "131072B", "transport.receive_buffer": "131072B"}
"""ns-3's default socket buffers; the scenario has 6 MiB."""
NEWRENO = {"controller": "newreno:form=ns3", "queue.kind": "drop-tail", "queue.limit": "2666p", "queue.device": 100}


def dumbbell() -> tuple[Case, ...]:
    """Two bulk senders through one switch, as measured on ns-3.43."""
    dctcp = {"controller": "dctcp:form=ns3"}
    marks = Figure("marks", "packets", 59322, Relative(0.05), summary("queues.marks"))
    drops = Figure("drops", "packets", 2516, LOSSES_WITHIN, summary("queues.drops"))
    return (
        two_senders("dctcp", "DCTCP, buffers of 6 MiB", dctcp, (4818.25, 4818.25), 56.9, Relative(0.1), marks),
        two_senders("newreno", "NewReno, buffers of 6 MiB", NEWRENO, (48.47, 9579.47), None, None, drops),
        two_senders(
            "dctcp-131072", "DCTCP, buffers of 131,072 B", dctcp | BUFFER, (4814.85, 4815.32), 0.4, Absolute(1)
        ),
        two_senders(
            "newreno-131072", "NewReno, buffers of 131,072 B", NEWRENO | BUFFER, (4815.03, 4815.04), 0.4, Absolute(1)
        ),
    )


LOSSES_WITHIN = Relative(0.15)
QUEUE = sampled_mean("gateway>sink", "queue_packets", 0.1, 1.0, 1e-3)
"""As ns-3's was measured: every 1 ms from 100 ms on."""


def two_senders(
    name: str,
    title: str,
    settings: Mapping[str, object],
    goodputs: tuple[float, float],
    queue: float | None,
    near: Tolerance | None,
    *more: Check,
) -> Case:
    """Make a case of two bulk senders: the slower flow, the quicker, the queue between them and the sink."""
    checks: list[Check] = [
        Figure("goodput of the slower flow", "Mb/s", goodputs[0], Relative(0.005), throughput(min)),
        Figure("goodput of the quicker flow", "Mb/s", goodputs[1], Relative(0.005), throughput(max)),
    ]
    if queue is not None:
        checks.append(Figure("mean queue", "packets", queue, near, QUEUE))
    observed = {"measure.series": {"ports": ["gateway>sink"], "interval": "1ms"}}
    return Case(
        f"ns3/dumbbell/{name}",
        title,
        "two-senders",
        {**settings, **observed},
        (*checks, *more),
        quick=name == "dctcp",
        cost_s=0.5,
    )


def throughput(of: Callable[[list[float]], float]) -> Number:
    """Take the throughput of the quickest or slowest flow in Mb/s."""
    return lambda result: of([1e-6 * value for value in result.flows["throughput_bps"].to_pylist()])
