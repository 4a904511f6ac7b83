"""htsim (Broadcom/csg-htsim): single flows, and drop-free permutations flow by flow."""

from __future__ import annotations

from collections.abc import Hashable, Mapping

from incast import Result
from parity.checks import Case, Figure, PerFlow, Section, World
from parity.figures import flow, table
from parity.tolerances import Digits


def world() -> World:
    """Return htsim's comparisons."""
    return World(
        "htsim",
        "htsim",
        "Broadcom/csg-htsim, commit 841d9e7: k = 10 fat tree, 4000-byte packets, 40-byte ACKs, 100 Gb/s, 1 us a link, "
        "a fair NIC that takes 3 packets of a flow at a time, initial window 15.",
        (
            Section(
                "htsim/single",
                "One flow on an empty fabric",
                "Completion time of 2 MB: 501 packets, since htsim sends one more than the size needs.",
            ),
            Section(
                "htsim/permutation",
                "A permutation of 250 flows of 2 MB, with its paths",
                "Queues of 100 packets, nothing is dropped. The order of events at equal times alone moves single "
                "flows of Swift by 1 % (median; at most 6.6 %), of DCTCP by 2 % (10 %).",
                "clouds",
            ),
        ),
        (*single(), *permutations()),
    )


PLACES = {"same-rack": "same rack", "same-pod": "same pod", "inter-pod": "other pod"}
SINGLE = {
    "swift": {"same-rack": 164.646, "same-pod": 207.578, "inter-pod": 302.003},
    "dctcp": {"same-rack": 168.653, "same-pod": 215.271, "inter-pod": 313.703},
}
NAMES = {"swift": "Swift", "dctcp": "DCTCP"}
DCTCP: Mapping[str, object] = {
    "controller": "dctcp",
    "queue.kind": "ecn-threshold",
    "queue.mark": "60000B",
}
CONTROLLERS: Mapping[str, Mapping[str, object]] = {"swift": {"controller": "swift"}, "dctcp": DCTCP}


def single() -> tuple[Case, ...]:
    """Single flows, the first of which has a closed form."""
    closed = Case(
        "htsim/single/closed-form",
        "NewReno from 15 packets, same rack: line rate throughout",
        "htsim-fabric.toml",
        {},
        (Figure("completion time", "us", 164.6464, Digits(6), flow(0, "fct_s", 1e6)),),
        quick=True,
        cost_s=0.1,
    )
    cases = [closed]
    for controller, places in SINGLE.items():
        for place, time in places.items():
            cases.append(
                Case(
                    f"htsim/single/{controller}-{place}",
                    f"{NAMES[controller]}, {PLACES[place]}",
                    "htsim-fabric.toml",
                    {**CONTROLLERS[controller], "traffic.file": f"../data/htsim/one-flow-{place}.csv"},
                    (Figure("completion time", "us", time, Digits(6), flow(0, "fct_s", 1e6)),),
                    quick=True,
                    cost_s=0.1,
                )
            )
    return tuple(cases)


def permutations() -> tuple[Case, ...]:
    """Permutations, flow by flow."""
    return tuple(permutation(controller) for controller in CONTROLLERS)


def permutation(controller: str) -> Case:
    """Make the case of a controller's permutation."""
    reference: dict[Hashable, float] = {
        (row["source"], row["destination"]): float(row["fct_us"])
        for row in table(f"htsim/permutation_k10_{controller}_fct.csv")
    }
    return Case(
        f"htsim/permutation/{controller}",
        NAMES[controller],
        "htsim-fabric.toml",
        {
            **CONTROLLERS[controller],
            "traffic.file": f"../data/htsim/permutation_k10_{controller}.csv",
            "run.duration": "10ms",
        },
        (PerFlow("completion time", "us", reference, completion_times, 0.003, 0.01, (0.9, 0.04)),),
        quick=True,
        cost_s=1.0,
    )


def completion_times(result: Result) -> dict[Hashable, float | None]:
    """Take every flow's completion time in microseconds by its ends."""
    columns = (result.flows[name].to_pylist() for name in ("src", "dst", "fct_s"))
    return {(f"h{src}", f"h{dst}"): None if fct is None else 1e6 * fct for src, dst, fct in zip(*columns, strict=True)}
