"""The cells of a run in the simulator: the same workers, rates, buffer and rules, without a processor to wait for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import median

import pyarrow.compute as pc

from incast.runs.scenario import Scenario
from proto.sccp.experiment import Measured
from proto.sccp.results import Key, Summary, key

SCENARIO = Path(__file__).with_name("queries.toml")
PORT = "gateway>sink"


def scenario(one: Measured) -> Scenario:
    """Return the scenario of a cell."""
    setup, cell = one.setup, one.cell
    buffer = f"{setup.buffer}B" if setup.buffer_unit == "B" else f"{setup.buffer}p"
    persistent = {} if cell.fresh else {"traffic.query.app.connections": "persistent", "traffic.query.stagger": "1ms"}
    preset = "linux-default" if setup.tlp_and_rack else "linux"
    program = {"kind": "sccp", "common_rtt": f"{cell.common_rtt_ns}ns", "floor": f"{max(cell.floor_bytes, 1)}B"}
    return Scenario.load(SCENARIO).with_(
        {
            "topology.sources": cell.workers,
            "topology.sink_link.rate": f"{setup.rate_bps}bps",
            "queue.limit": buffer,
            "transport.preset": preset,
            "transport.rto_min": f"{setup.rto_min_ns}ns",
            **({"transport.delayed_ack": 1} if setup.ack_per_packet else {}),
            "traffic.query.flows": cell.workers,
            "traffic.query.app.response": f"{cell.response_bytes}B",
            "traffic.query.app.count": cell.queries,
            **persistent,
            "program": [program] if cell.scheme == "sccp" else [],
        }
    )


def simulated(results: Sequence[Measured]) -> dict[Key, Summary]:
    """Run every cell in the simulator. Cells with scaled windows are left out: the prototype learns the scale."""
    return {key(one): summary(one) for one in results if not one.setup.window_scaling}


def summary(one: Measured) -> Summary:
    """Run a cell and summarise it."""
    run = scenario(one).run()
    queries = run.queries
    times = [1e3 * took for took in queries["completion_s"].to_pylist() if took is not None]
    at_port = run.samples.filter(pc.equal(run.samples["entity"], PORT))

    def series(name: str) -> list[float]:
        values = at_port.filter(pc.equal(at_port["name"], name))["value"].to_pylist()
        return [value for value in values if value is not None]

    # a switch without the program counts nothing
    flows, shares = [int(value) for value in series("flows")], series("share_bytes")
    return Summary(
        unfinished=queries.num_rows - len(times),
        query_median_ms=median(times) if times else 0.0,
        query_max_ms=max(times, default=0.0),
        response_median_ms=median(times) if times else 0.0,
        drops=int(pc.sum(run.ports["drops"]).as_py()),
        timeouts=int(pc.sum(queries["timeouts"]).as_py()),
        queries_with_timeout=int(pc.sum(pc.greater(queries["timeouts"], 0)).as_py()),
        smallest_window_bytes=int(min(shares)) if shares else None,
        flows_max=max(flows, default=None),
        flows_final=flows[-1] if flows else None,
        fins_at_zero=None,
    )
