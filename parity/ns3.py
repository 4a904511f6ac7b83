"""ns-3.43: figures measured with its optimized build, and its own packet-exact test vectors."""

from __future__ import annotations

from parity.checks import Case, Figure, Section, World
from parity.figures import flow, port, summary
from parity.tolerances import Relative


def world() -> World:
    """Return ns-3's comparisons."""
    return World(
        "ns3",
        "ns-3",
        "ns-3 3.43 (release), built optimized (g++ 12.2). Rows of the study follow the code of "
        "omarghara/DCTCP-SWIFT-YASOMAM (commit 59813a3) run on it, with the same flow lists as ours.",
        (
            Section(
                "ns3/dumbbell",
                "Two senders, one receiver, 10 Gb/s",
                "Links of 10 us, bulk senders, 1448-byte segments, an ACK per two segments, marking at 65 packets, "
                "1 s simulated (scenario `two-senders`).",
            ),
        ),
        dumbbell(),
    )


def dumbbell() -> tuple[Case, ...]:
    """Two bulk senders through one switch, as measured on ns-3.43."""
    return (
        Case(
            "ns3/dumbbell/dctcp",
            "DCTCP, buffers of 6 MiB",
            "two-senders",
            {},
            (
                Figure("goodput of flow 0", "Mb/s", 4818.25, Relative(0.005), flow(0, "throughput_bps", 1e-6)),
                Figure("goodput of flow 1", "Mb/s", 4818.25, Relative(0.005), flow(1, "throughput_bps", 1e-6)),
                Figure("mean queue", "packets", 56.9, Relative(0.1), port("gateway>sink", "queue_mean_packets")),
                Figure("marks", "packets", 59322, Relative(0.05), summary("queues.marks")),
            ),
            quick=True,
            cost_s=0.5,
        ),
    )
