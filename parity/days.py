"""Days (iQua/days): its case E5, 8,192 flows of NewReno across a fat tree of k = 32."""

from __future__ import annotations

import math

from incast import Result
from parity.checks import Case, Check, Explanation, Figure, Reference, Section
from parity.figures import flows_total, summary, table
from parity.tolerances import Relative

QUEUES = {row["queue"]: row for row in table("days/e5.csv")}

WHOLE_SEGMENTS = Explanation(
    "65,535 B are 44.9 segments: there a part of a segment fills the window, here only whole ones are sent, 44; with a "
    "threshold of 45 a flow without collisions has one more on its way",
    {"controller": "newreno:initial_ssthresh=45,slow_start_per=segments,avoidance=bytes"},
)


def reference() -> Reference:
    """Return the comparison with Days."""
    return Reference(
        "days",
        "Days",
        "iQua/days, commit 6b8e69e, its scalar run of case E5: k = 32, 100 Gb/s, 1 us a link, every host sends 1 MiB "
        "at once to the host half the fabric away. (By its host numbers these are in the neighbouring pod; in a fat "
        "tree all other pods are equally far.)",
        (
            Section(
                "days/e5",
                "8,192 flows of NewReno at once",
                "Completion times there are those of 449 flows in four parts of its list; the parts' means are 277, "
                "278, 287 and 303 us, since flows of a rack share their collisions. The first 141 flows alone, which "
                "have no loss, are not typical: mean 277.8, p99 411 us. Both sides draw their own paths, and losses "
                "are few, where six or more flows meet. A flow there has 720 packets, here 719: its sender fills the "
                "window with a part of a segment.",
            ),
        ),
        tuple(e5(queue) for queue in QUEUES),
    )


def e5(queue: str) -> Case:
    """Make the case of a queue of so many packets."""
    theirs = QUEUES[queue]

    def number(column: str) -> float | None:
        return float(theirs[column]) if theirs[column] else None

    # a flow and its ACKs pass six ports each way; what is dropped passes fewer
    hops = 6e-6 * (float(theirs["data_packets"]) + float(theirs["acks"])) if theirs["acks"] else None
    figures: list[Check] = [
        # one draw of paths each: five of ours have 571 to 900, so that two draws often differ by a third
        Figure("drops", "packets", number("drops"), Relative(0.5), summary("queues.drops")),
        Figure("data dropped", "packets", number("data_drops"), None, flows_total("dropped_total")),
        Figure("retransmissions", "packets", number("retransmissions"), None, summary("flows.retransmissions")),
        Figure("timeouts", "", number("timeouts"), None, summary("flows.timeouts")),
    ]
    if hops is not None:
        figures += [
            Figure("hops", "million", hops, Relative(0.005), summary("run.hops", 1e-6)),
            Figure("mean of flows without timeouts", "us", number("mean_us"), Relative(0.03), mean_without_timeouts),
            Figure("p50", "us", number("p50_us"), Relative(0.05), summary("fct.p50_s", 1e6)),
            Figure("p99", "us", number("p99_us"), Relative(0.05), summary("fct.p99_s", 1e6)),
            Figure("least", "us", number("least_us"), Relative(0.01), least, explained=WHOLE_SEGMENTS),
        ]
    return Case(
        f"days/e5/queue-{queue}",
        f"queues of {queue} packets",
        "days-e5.toml",
        {"queue.limit": f"{queue}p"},
        tuple(figures),
        cost_s=9.0,
    )


def mean_without_timeouts(result: Result) -> float | None:
    """Take the mean completion time of flows without a timeout, in microseconds."""
    columns = (result.flows[name].to_pylist() for name in ("fct_s", "timeouts"))
    times = [fct for fct, timeouts in zip(*columns, strict=True) if fct is not None and timeouts == 0]
    return 1e6 * math.fsum(times) / len(times) if times else None


def least(result: Result) -> float | None:
    """Take the least completion time in microseconds."""
    times = [fct for fct in result.flows["fct_s"].to_pylist() if fct is not None]
    return 1e6 * min(times) if times else None
