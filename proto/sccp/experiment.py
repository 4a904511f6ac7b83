"""The experiment of figure 9: query times of partition and aggregate against workers, plain TCP and SCCP."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace

from proto.sccp import share
from proto.sccp.aggregator import Aggregator, Times
from proto.sccp.build import compiled
from proto.sccp.network import Network, Setup
from proto.sccp.switch import Event, Switch, Windows
from proto.sccp.workers import Workers

SETTLE_S, THINK_S, GAP_S = 0.25, 0.001, 0.001
"""Pauses: behind a cell, between queries, between the connects of persistent connections."""


@dataclass(frozen=True)
class Cell:
    """One point: queries of one kind, repeated."""

    scheme: str
    """``"plain"`` or ``"sccp"``."""
    workers: int
    response_bytes: int
    queries: int
    fresh: bool = True
    """A query has connections of its own; else they stay open."""
    common_rtt_ns: int = 600_000
    floor_bytes: int = share.MSS
    limit_s: float = 10.0
    ack_at_once: bool = False


@dataclass(frozen=True)
class Query:
    """One query."""

    times: Times
    drops: int
    timeouts: int
    """Retransmission timeouts of all workers."""

    @property
    def query_ms(self) -> float:
        """Time from the first connect (persistent: request) to the last byte."""
        return (self.times.end_ns - self.times.start_ns) / 1e6

    @property
    def response_ms(self) -> float:
        """Time from the first request to the last byte."""
        return (self.times.end_ns - self.times.request_ns) / 1e6


@dataclass(frozen=True)
class Measured:
    """Results of a cell."""

    setup: Setup
    cell: Cell
    capacity_bytes: int
    start_ns: int
    queries: list[Query]
    events: list[Event]
    lost_events: int
    windows: list[Windows]
    counters: dict[str, int]
    final_flows: int
    """N when all connections are closed."""
    bad_checksums: int


class Experiment:
    """A network with its workers, and cells run in it one behind another."""

    def __init__(self, setup: Setup) -> None:
        begun = time.monotonic()
        # Before other tasks of the machine; the workers' process inherits it.
        with suppress(OSError):
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
        self.network = Network(setup, compiled())
        self.workers = Workers(self.network.workers, self.network.home)
        self.switch = Switch(self.network.map)
        self.setup_s = time.monotonic() - begun

    def close(self) -> None:
        """End the workers and let go of the network."""
        self.workers.close()
        self.network.close()

    def run(self, cell: Cell) -> Measured:
        """Measure a cell."""
        network, switch = self.network, self.switch
        capacity = share.capacity_bytes(network.setup.rate_bps, cell.common_rtt_ns)
        switch.start(capacity, cell.floor_bytes, cell.scheme == "sccp")
        start, wrong = time.monotonic_ns(), network.bad_checksums()
        # Persistent connections are open, one behind another, before the first request.
        aggregator = Aggregator(network, cell.limit_s, cell.ack_at_once or not cell.fresh)
        if not cell.fresh:
            aggregator.connect(cell.workers, GAP_S)
        queries = []
        for _ in range(cell.queries):
            queries.append(self.query(aggregator, cell))
            if not queries[-1].times.finished:
                break
            time.sleep(THINK_S)
        aggregator.close()
        time.sleep(SETTLE_S)
        return Measured(
            setup=network.setup,
            cell=cell,
            capacity_bytes=capacity,
            start_ns=start,
            queries=queries,
            events=switch.events(),
            lost_events=max(0, switch.port.logged - len(switch.events())),
            windows=switch.windows(),
            counters=switch.counters(),
            final_flows=switch.flows,
            bad_checksums=network.bad_checksums() - wrong,
        )

    def query(self, aggregator: Aggregator, cell: Cell) -> Query:
        """Run one query between two readings of the counters."""
        drops, timeouts = self.network.drops(), self.network.timeouts()
        times = aggregator.query(cell.workers, cell.response_bytes, cell.fresh)
        return Query(times, self.network.drops() - drops, self.network.timeouts() - timeouts)


def cells(like: Cell, schemes: Iterable[str], responses: Iterable[int], workers: Iterable[int]) -> Iterator[Cell]:
    """All combinations, in the order of a figure's curves."""
    many = list(workers)
    for response in responses:
        for scheme in schemes:
            for count in many:
                yield replace(like, scheme=scheme, response_bytes=response, workers=count)


def measure(setup: Setup, points: Iterable[Cell], told: Callable[[str], None] = print) -> Iterator[Measured]:
    """Set a network up, run cells in it, and take it down."""
    experiment = Experiment(setup)
    numbers = " and ".join(map(str, experiment.network.programs()))
    told(f"network of {setup.workers} workers set up in {experiment.setup_s:.1f} s; programs {numbers} of BPF")
    try:
        for point in points:
            yield experiment.run(point)
    finally:
        experiment.close()
