"""Report of CSE 322: its wired programs on ns-3.35, which are the reference of its figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from parity.checks import Case, Explanation, Figure, Mean, Reference, Section
from parity.figures import summary, table
from parity.tolerances import Absolute, Exact, Factor, Relative, Tolerance

RUNS = tuple(table("cse322/runs.csv"))

SEEDS = range(1, 6)

CONTROLLERS = {
    "newreno": "newreno:form=ns3",
    "westwood": "westwood:form=ns3-35",
    "dctcp": "dctcp:form=ns3,repairs=advance",
    "swift": "swift:form=cse322",
}
TITLES = {"newreno": "NewReno", "westwood": "Westwood", "dctcp": "DCTCP", "swift": "Swift"}

WRITES = {"a1": 536 * 8, "b": 1024 * 8}
"""Bytes of a write for each packet a second."""

BUFFER = 2 * 2**20
"""Bytes of the send buffer: larger writes are refused."""

TASK_B: Mapping[str, object] = MappingProxyType({"topology.sink_link.error_rate": 0.001})

REPAIRS = (
    "an ACK that repairs a timeout counts by all that it advances in ns-3.35, what SACK had reported included; in "
    "ns-3.43, whose form this is, by what it newly reports"
)


MORE_LOST = (
    "a tenth to seven tenths of a point more are lost here, in each of five seeds with 20, 40 and 60 flows; with "
    "ns-3's own timeout 0.3 to 0.4 more with 10 to 30 flows, the same with 40: the rule is not found"
)


def reference() -> Reference:
    """Return the comparison with the report's programs."""
    compared = [comparison(row) for row in RUNS]
    cases = [case for own, _ in compared for case in own]
    return Reference(
        "cse322",
        "The report of CSE 322 on ns-3.35",
        "task-a-wired-2.cc and task-b.cc of "
        "github.com/Mushtari-Sadia/TCPSwift-A-Congestion-Control-Algorithm-For-Datacenters, commit 91178fc, run on "
        "ns-3.35 with one seed. Figures are over all entries of FlowMonitor. Tolerances are what other seeds of the "
        "same code are worth, rounded up: NewReno's runs hardly differ, Westwood's delivery by a point, DCTCP's "
        "throughput with the changed timeout by up to 14 %. Where it is more than a per cent, means over five seeds of "
        "ours are compared.",
        (
            Section(
                "cse322/a1",
                "Task A1: NewReno and Westwood",
                "40 sources with links of 45 ms, a bottleneck of 2 Mb/s with a queue of 56 packets, segments of 340 B.",
            ),
            Section("cse322/rules", "What the count of ns-3.35 is worth"),
            Section(
                "cse322/b",
                "Task B: DCTCP without marks, and the report's Swift",
                "20 sources, an error in a thousand packets. *Changed*: from the fourth timeout of a connection on its "
                "window is 0 (`transport.emptying_timeout = 4`).",
            ),
        ),
        (*cases, *rules()),
        means=tuple(mean for _, mean in compared if mean is not None),
    )


def comparison(row: Mapping[str, str]) -> tuple[list[Case], Mean | None]:
    """Make the cases of a run: one, or five and their mean where seeds decide."""
    name = f"cse322/{row['task']}/{row['controller']}-n{row['flows']}"
    name += f"-p{row['packets_per_second']}" if int(row["packets_per_second"]) in (300, 500) else ""
    name += "-changed" if row["retransmit_timeout"] == "changed" else ""
    title = f"{TITLES[row['controller']]}, {row['flows']} flows"
    if row["task"] == "b":
        title += f", {row['retransmit_timeout']} timeout"
    refused = int(row["packets_per_second"]) * WRITES[row["task"]] > BUFFER
    if refused:
        return [Case(name, f"{title}, writes refused", "cse322.toml", settings(row), handshakes(row), quick=True)], None
    figures = tolerances(row)
    if row["controller"] == "newreno" or (row["controller"] == "dctcp" and row["retransmit_timeout"] == "original"):
        checks = tuple(Figure(what, unit, value, within, NUMBERS[what]) for what, unit, value, within in figures)
        return [Case(name, title, "cse322.toml", settings(row), checks, cost_s=0.4)], None
    shown = tuple(Figure(what, unit, None, None, NUMBERS[what]) for what, unit, *_ in figures)
    own = [
        Case(f"{name}/seed{seed}", f"{title}, seed {seed}", "cse322.toml", settings(row), shown, seed=seed, cost_s=0.4)
        for seed in SEEDS
    ]
    known = {"delivery": MORE_LOST} if row["controller"] == "dctcp" else {}
    return own, Mean(name, title, tuple(case.id for case in own), tuple(figures), rules=known)


NUMBERS = {
    "throughput": summary("flowmonitor.entries.throughput_kibps"),
    "delivery": summary("flowmonitor.entries.delivery_pct"),
    "sum of delays": summary("flowmonitor.entries.delay_sum_s"),
    "sent": summary("flowmonitor.entries.sent"),
    "received": summary("flowmonitor.entries.received"),
}


def settings(row: Mapping[str, str]) -> dict[str, object]:
    """Return the settings of a run that differ from 80 flows of task A1."""
    write = int(row["packets_per_second"]) * WRITES[row["task"]]
    found: dict[str, object] = {
        "controller": CONTROLLERS[row["controller"]],
        "traffic.flows": int(row["flows"]),
        "traffic.app.write": f"{write}B",
    }
    if write > BUFFER:
        found["traffic.app.refused"] = True
    if row["task"] == "b":
        found |= {**TASK_B, "topology.sources": int(row["nodes"])}
    if row["retransmit_timeout"] == "changed":
        found["transport.emptying_timeout"] = 4
    return found


def tolerances(row: Mapping[str, str]) -> list[tuple[str, str, float, Tolerance | None]]:
    """Return the tolerance of a run."""
    flows, original = int(row["flows"]), row["retransmit_timeout"] == "original"
    throughput: Tolerance
    delay: Tolerance
    match row["controller"]:
        case "newreno":
            throughput, points, delay = Relative(0.01), 0.15, Relative(0.05)
        case "westwood":
            throughput, points, delay = Relative(0.05 if flows == 80 else 0.02), 1.5, Relative(0.04)
        case "dctcp" if original:
            throughput, points, delay = Relative(0.02), 1.0, Relative(0.05)
        case "dctcp":
            throughput, points, delay = Relative(0.15), 0.5, Relative(0.2)
        case _:
            throughput, points, delay = Relative(0.25), 1.0, Factor(1.5)
    return [
        ("throughput", "Kibit/s", float(row["throughput_kibps"]), throughput),
        ("delivery", "%", float(row["delivery_pct"]), Absolute(points)),
        ("sum of delays", "s", float(row["delay_sum_s"]), delay),
    ]


def handshakes(row: Mapping[str, str]) -> tuple[Figure, ...]:
    """Compare runs in which every write is refused: connections open and close."""
    lost = Exact() if row["task"] == "a1" else Absolute(3.0)
    return (
        Figure("throughput", "Kibit/s", float(row["throughput_kibps"]), Relative(0.001), NUMBERS["throughput"])
        if row["task"] == "a1"
        else Figure("throughput", "Kibit/s", float(row["throughput_kibps"]), Relative(0.02), NUMBERS["throughput"]),
        Figure("sent", "packets", float(row["sent"]), lost, NUMBERS["sent"]),
        Figure("received", "packets", float(row["received"]), lost, NUMBERS["received"]),
    )


def rules() -> Iterator[Case]:
    """Show the figures that the counting of later versions changes, and that ns-3.35's counting fits."""
    for controller, flows, form, points in (
        ("westwood", "10", "westwood:form=ns3", 1.5),
        ("westwood", "40", "westwood:form=ns3", 1.5),
        ("dctcp", "60", "dctcp:form=ns3", 1.0),
    ):
        row = next(
            row
            for row in RUNS
            if (row["controller"], row["flows"], row["retransmit_timeout"]) == (controller, flows, "original")
        )
        explained = Explanation(REPAIRS, {"controller": CONTROLLERS[controller]}, tuple(SEEDS))
        yield Case(
            f"cse322/rules/{controller}-n{flows}",
            f"{TITLES[controller]}, {flows} flows, as later versions count",
            "cse322.toml",
            {**settings(row), "controller": form},
            (
                Figure(
                    "delivery",
                    "%",
                    float(row["delivery_pct"]),
                    Absolute(points),
                    NUMBERS["delivery"],
                    explained=explained,
                ),
            ),
            cost_s=0.4,
        )
