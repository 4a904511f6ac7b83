"""Speed of radio cells compared with ns-3: ``make bench-cells``.

CPU seconds of a simulated second, on one thread: the difference of a long and a short run, so that neither set-up nor
summary counts; the least of the repetitions. ns-3.43's are of its event loop, measured on a machine of two cores. Raw
figures go to ``bench/runs``, as those of ``make bench``.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from bench.run import keep
from incast import Scenario

REPETITIONS = 5
SHORT = 5
CIRCLE = {"kind": "circle", "radius": 10.0}


@dataclass(frozen=True)
class Case:
    """A cell, its simulated time, and ns-3's CPU time per simulated second."""

    name: str
    settings: dict[str, object]
    seconds: int
    ns3_s: float


def saturated(stations: int, ended_bps: float, ns3_s: float) -> Case:
    """Make a cell of senders that always have a frame, as ns-3's do, which write one as soon as one has ended.

    Datagrams come a tenth faster than ns-3's senders are done with them, acknowledged or not: ``ended_bps`` each.
    """
    settings: dict[str, object] = {
        "topology.sources": stations,
        "topology.radio.adaptation": "none",
        "transport": {"preset": "ns3-ipv6", "mss": 52, "header": 48},
        "queue": {"kind": "drop-tail", "limit": "10p"},
        "traffic": [{"pattern": "pairs", "jitter": "1s", "app": {"kind": "udp", "rate": f"{1.1 * ended_bps:.0f}bps"}}],
    }
    return Case(f"saturated MAC, {stations}", settings, 200 if stations < 10 else 60, ns3_s)


def bulk(flows: int, ns3_s: float) -> Case:
    """Make a cell of bulk senders."""
    traffic = [{"pattern": "pairs", "jitter": "1s", "app": {"kind": "bulk"}}]
    return Case(f"TCP bulk of 536 B, {flows}", {"topology.sources": flows, "traffic": traffic}, 300, ns3_s)


def constant(stations: int, side: float, ns3_s: float) -> Case:
    """Make a square grid, 40 flows of 400 writes a second over it, one hop to the sink in a corner."""
    app = {"kind": "cbr", "rate": "320kbps", "write": "100B", "from": "connect"}
    settings: dict[str, object] = {
        "topology.sources": stations - 1,
        "topology.placement": {"kind": "grid", "side": side},
        "transport": {"preset": "ns3-ipv6", "mss": 100},
        "traffic": [{"pattern": "pairs", "flows": 40, "jitter": "1s", "app": app}],
    }
    return Case(f"constant rate, {stations} on {side:g} m", settings, 120, ns3_s)


def mesh(stations: int, flows: int, step: float, ns3_s: float) -> Case:
    """Make a mesh that floods, flows of 40 kb/s over it, with neighbour discovery."""
    app = {"kind": "cbr", "rate": "40kbps", "write": "100B", "from": "connect"}
    settings: dict[str, object] = {
        "topology.sources": stations - 1,
        "topology.placement": {"kind": "grid", "step": step, "columns": 10},
        "topology.radio.mesh": {},
        "topology.radio.discovery": {},
        "transport": {"preset": "ns3-ipv6", "mss": 100, "send_buffer": "2MiB", "receive_buffer": "2MiB"},
        "traffic": [{"pattern": "pairs", "flows": flows, "app": app}],
    }
    return Case(f"mesh of {stations}, {flows} flows, {step:g} m", settings, 100, ns3_s)


CASES = (
    # what ns-3's sink receives, by the part of the frames that is acknowledged and the senders
    saturated(1, 125.6e3 / 1.000 / 1, 0.00181),
    saturated(2, 131.2e3 / 0.919 / 2, 0.00292),
    saturated(5, 132.5e3 / 0.611 / 5, 0.0067),
    saturated(10, 122.2e3 / 0.324 / 10, 0.0136),
    saturated(20, 99.84e3 / 0.129 / 20, 0.0284),
    saturated(50, 48.23e3 / 0.0182 / 50, 0.0955),
    *(bulk(n, s) for n, s in ((1, 0.0033), (5, 0.00645), (10, 0.0105), (20, 0.0176), (40, 0.0357))),
    *(constant(n, d, s) for n, d, s in ((21, 60, 0.0328), (41, 20, 0.0543), (41, 60, 0.054), (41, 100, 0.0496))),
    constant(101, 60, 0.127),
    *(mesh(41, n, 20, s) for n, s in ((10, 0.0148), (40, 0.0281), (80, 0.0383))),
    *(mesh(41, 80, d, s) for d, s in ((40, 0.116), (80, 0.086), (100, 0.00337))),
    *(mesh(n, 80, 20, s) for n, s in ((21, 0.0397), (101, 0.312))),
)
"""The rows of ns-3's table."""


def cpu_s(scenario: Scenario, seconds: int) -> float:
    """Time a run of so many simulated seconds."""
    run = scenario.with_({"run.duration": f"{seconds}s", "run.warmup": "0s", "run.threads": 1})
    before = time.process_time()
    run.run(seed=1)
    return time.process_time() - before


def scenario_of(case: Case) -> Scenario:
    """Make the scenario of a case."""
    return Scenario.load("wireless-cell").with_({"topology.placement": CIRCLE} | case.settings)


def of_a_second(case: Case) -> float:
    """Take the CPU seconds of a simulated second."""
    scenario = scenario_of(case)
    long = min(cpu_s(scenario, case.seconds) for _ in range(REPETITIONS))
    short = min(cpu_s(scenario, SHORT) for _ in range(REPETITIONS))
    return (long - short) / (case.seconds - SHORT)


def main() -> None:
    """Print the table, and keep it."""
    print(f"{'cell':28} {'ms a second':>11} {'ns-3':>8} {'ratio':>7}")
    cells = []
    for case in CASES:
        ours = of_a_second(case)
        print(f"{case.name:28} {1e3 * ours:11.3f} {1e3 * case.ns3_s:8.2f} {case.ns3_s / ours:7.1f}", flush=True)
        cells.append({"case": case.name, "cpu_s_a_second": ours, "ns3_cpu_s_a_second": case.ns3_s})
    keep({"cells": cells})


if __name__ == "__main__":
    main()
