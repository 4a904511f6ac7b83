"""Measurements as rows of CSV files: README.md describes their columns."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from statistics import median

from proto.sccp import share
from proto.sccp.experiment import Measured


@dataclass(frozen=True)
class Summary:
    """Figures of a cell, measured or simulated."""

    unfinished: int
    query_median_ms: float
    query_max_ms: float
    response_median_ms: float
    drops: int
    timeouts: int
    queries_with_timeout: int
    smallest_window_bytes: int | None
    """Smallest window that passed to the workers while flows were counted; ``None``, as below, where nobody looked."""
    flows_max: int | None
    flows_final: int | None
    fins_at_zero: int | None


Key = tuple[int, str, int, int]
"""Rate, scheme, response, workers: what tells cells of a run apart."""


def key(one: Measured) -> Key:
    """Name a cell."""
    return one.setup.rate_bps, one.cell.scheme, one.cell.response_bytes, one.cell.workers


def summary(one: Measured) -> Summary:
    """Summarise a cell."""
    times = [query.query_ms for query in one.queries]
    return Summary(
        unfinished=sum(not query.times.finished for query in one.queries),
        query_median_ms=median(times),
        query_max_ms=max(times),
        response_median_ms=median(query.response_ms for query in one.queries),
        drops=sum(query.drops for query in one.queries),
        timeouts=sum(query.timeouts for query in one.queries),
        queries_with_timeout=sum(query.timeouts > 0 for query in one.queries),
        smallest_window_bytes=min((window.smallest for window in one.windows if window.flows), default=0),
        flows_max=max((event.flows for event in one.events), default=0),
        flows_final=one.final_flows,
        fins_at_zero=one.counters["fin_at_zero"],
    )


def share_bytes(one: Measured) -> int:
    """Return the window that the program should write while all workers are counted, from 0 for plain TCP."""
    if one.cell.scheme == "plain":
        return 0
    return share.field(one.capacity_bytes, one.cell.workers, one.cell.floor_bytes)


def cell_rows(results: Sequence[Measured]) -> list[dict[str, object]]:
    """One row a cell: its settings and its figures."""
    rows = []
    for number, one in enumerate(results):
        setup, cell, found = one.setup, one.cell, summary(one)
        row: dict[str, object] = {
            "cell": number,
            "rate_bps": setup.rate_bps,
            "scheme": cell.scheme,
            "workers": cell.workers,
            "response_bytes": cell.response_bytes,
            "connections": "fresh" if cell.fresh else "persistent",
            "common_rtt_us": cell.common_rtt_ns / 1000,
            "capacity_bytes": one.capacity_bytes,
            "floor_bytes": cell.floor_bytes,
            "share_bytes": share_bytes(one),
            "buffer": setup.buffer,
            "buffer_unit": setup.buffer_unit,
            "burst_bytes": setup.burst_bytes,
            "rto_min_ms": setup.rto_min_ns / 10**6,
            "ack_per_packet": int(setup.ack_per_packet),
            "handshake_ack": "at-once" if cell.ack_at_once or not cell.fresh else "with-request",
            "window_scaling": int(setup.window_scaling),
            "tlp_and_rack": int(setup.tlp_and_rack),
            "queries": len(one.queries),
        }
        for one_of in fields(found):
            value = getattr(found, one_of.name)
            row[one_of.name] = f"{value:.3f}" if isinstance(value, float) else value
        row["packets_lowered"] = sum(window.lowered for window in one.windows)
        row |= {f"{name}_leaving" if name in ("packets", "bytes") else name: n for name, n in one.counters.items()}
        row |= {"bad_checksums": one.bad_checksums, "events_lost": one.lost_events}
        del row["fin_at_zero"]
        rows.append(row)
    return rows


def query_rows(results: Sequence[Measured]) -> list[dict[str, object]]:
    """One row a query."""
    return [
        {
            "cell": number,
            "query": i,
            "start_ms": f"{(query.times.start_ns - one.start_ns) / 1e6:.3f}",
            "query_ms": f"{query.query_ms:.3f}",
            "response_ms": f"{query.response_ms:.3f}",
            "finished": int(query.times.finished),
            "drops": query.drops,
            "timeouts": query.timeouts,
        }
        for number, one in enumerate(results)
        for i, query in enumerate(one.queries)
    ]


def flow_rows(results: Sequence[Measured]) -> list[dict[str, object]]:
    """One row a change of N."""
    return [
        {
            "cell": number,
            "time_ms": f"{(event.time_ns - one.start_ns) / 1e6:.4f}",
            "flows": event.flows,
            "packet": event.kind,
        }
        for number, one in enumerate(results)
        for event in one.events
    ]


def window_rows(results: Sequence[Measured]) -> list[dict[str, object]]:
    """One row a value of N: the windows that passed meanwhile."""
    return [
        {
            "cell": number,
            "flows": window.flows,
            "packets": window.packets,
            "lowered": window.lowered,
            "smallest_bytes": window.smallest,
            "largest_bytes": window.largest,
        }
        for number, one in enumerate(results)
        for window in one.windows
    ]


def text(rows: Iterable[dict[str, object]]) -> str:
    """Write rows as CSV."""
    held = list(rows)
    out = io.StringIO()
    if held:
        writer = csv.DictWriter(out, list(held[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(held)
    return out.getvalue()


def files(results: Sequence[Measured]) -> dict[str, str]:
    """All tables, by the names of their files."""
    rows = {
        "cells.csv": cell_rows(results),
        "queries.csv": query_rows(results),
        "flows.csv": flow_rows(results),
        "windows.csv": window_rows(results),
    }
    return {name: text(table) for name, table in rows.items()}
