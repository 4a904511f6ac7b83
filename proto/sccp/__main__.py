"""Measure SCCP and plain TCP on real Linux: ``sudo .venv/bin/python -m proto.sccp``, or ``make proto-sccp``."""

from __future__ import annotations

import argparse
import itertools
import json
import os
import resource
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from rich.console import Console

from incast.errors import FolderError
from incast.system.folders import new_folder, refuse_unless_empty
from proto.sccp import build, share, units
from proto.sccp.beside import print_table
from proto.sccp.experiment import Cell, Measured, cells, measure
from proto.sccp.network import MOST_WORKERS, Setup
from proto.sccp.results import files, summary
from proto.sccp.simulation import simulated

T = TypeVar("T")

QUICK = {"workers": "20,60,110,130,150", "response": "50kB", "queries": "5"}
FULL = {"workers": "10,20,30,50,70,90,110,120,130,150", "response": "10kB,50kB,100kB", "queries": "10"}
RTT_NS, RTT_RATE_BPS = 600_000, 10**9
"""Common RTT of the paper's prototype, and the rate of its links."""


def listed(read: Callable[[str], T]) -> Callable[[str], list[T]]:
    """Read values with commas between them."""
    return lambda text: [said(read)(part) for part in text.split(",")]


def said(read: Callable[[str], T]) -> Callable[[str], T]:
    """Have argparse print the reason why a value is wrong."""

    def of(text: str) -> T:
        try:
            return read(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return of


def count(text: str) -> int:
    """Read a number of workers or queries."""
    if not text.isdecimal() or not 1 <= int(text) <= MOST_WORKERS:
        raise ValueError(f'"{text}": expected a whole number from 1 to {MOST_WORKERS}')
    return int(text)


def scheme(text: str) -> str:
    """Read the name of a scheme."""
    if text not in ("plain", "sccp"):
        raise ValueError(f'"{text}": expected plain or sccp')
    return text


def floor_bytes(text: str) -> int:
    """Read the floor of the share: a size, or a number of full segments."""
    segments = text.removesuffix("mss")
    return int(segments) * share.MSS if segments != text and segments.isdecimal() else units.size_bytes(text)


def buffer(text: str) -> tuple[int, str]:
    """Read the bottleneck's buffer: a size, or a number of packets."""
    packets = text.removesuffix("packets").strip()
    return (int(packets), "packets") if packets.isdecimal() and packets != text else (units.size_bytes(text), "B")


def parser() -> argparse.ArgumentParser:
    """Describe the command line."""
    made = argparse.ArgumentParser(
        "python -m proto.sccp",
        description="Measure query times of partition and aggregate on real Linux TCP, plain and with SCCP.",
        epilog="Values with commas between them give one cell each. proto/sccp/README.md says what is measured.",
    )
    add = made.add_argument
    add("--rate", type=listed(units.rate_bps), default="100Mbps", help="of the bottleneck: 100Mbps,1Gbps (%(default)s)")
    add("--workers", type=listed(count), help=f"numbers of workers ({QUICK['workers']})")
    add("--response", type=listed(units.size_bytes), help=f"bytes that each worker answers ({QUICK['response']})")
    add("--queries", type=said(count), help=f"queries of a cell ({QUICK['queries']})")
    add("--full", action="store_true", help=f"the whole of figure 9; its defaults are {'; '.join(FULL.values())}")
    add("--scheme", type=listed(scheme), default="plain,sccp", help="plain,sccp (both)")
    add(
        "--common-rtt",
        type=said(units.time_ns),
        help="of the share (600us at 1Gbps, more at less, so that rate x RTT stays)",
    )
    add("--floor", type=said(floor_bytes), default="1mss", help="of the share: 0B, 1mss (1448 B), 2mss (%(default)s)")
    add("--buffer", type=said(buffer), default="178kB", help="of the bottleneck: a size, or 117packets (%(default)s)")
    add("--rto-min", type=said(units.time_ns), default="200ms", help="least retransmission timeout (%(default)s)")
    add("--connections", choices=("fresh", "persistent"), default="fresh", help="opened for each query, or once")
    add("--handshake-ack", choices=("with-request", "at-once"), default="with-request", help="of the aggregator")
    add("--ack-per-packet", action="store_true", help="the aggregator delays no ACK (route with quickack 1)")
    add("--window-scaling", action="store_true", help="hosts scale windows; the switch learns the scale")
    add("--tlp-rack", action="store_true", help="the kernel's tail loss probes and RACK, which are off else")
    add("--burst", type=said(units.size_bytes), default="15kB", help="of tbf (%(default)s)")
    add("--limit", type=said(units.time_ns), default="10s", help="time after which a query is given up (%(default)s)")
    add(
        "--out",
        type=Path,
        help="new folder for the results (runs/proto-sccp, or the first free runs/proto-sccp-2, ...)",
    )
    add("--no-pictures", action="store_true", help="write the tables alone")
    return made


def points(options: argparse.Namespace, rate_bps: int) -> list[Cell]:
    """Return the cells of a rate."""
    chosen = FULL if options.full else QUICK
    like = Cell(
        scheme="",
        workers=0,
        response_bytes=0,
        queries=options.queries or count(chosen["queries"]),
        fresh=options.connections == "fresh",
        common_rtt_ns=options.common_rtt or RTT_NS * RTT_RATE_BPS // rate_bps,
        floor_bytes=options.floor,
        limit_s=options.limit / 1e9,
        ack_at_once=options.handshake_ack == "at-once",
    )
    responses = options.response or listed(units.size_bytes)(chosen["response"])
    return list(cells(like, options.scheme, responses, options.workers or listed(count)(chosen["workers"])))


def run(options: argparse.Namespace) -> list[Measured]:
    """Measure every cell at every rate; say each as it is done."""
    results = []
    for rate_bps in options.rate:
        planned = points(options, rate_bps)
        setup = Setup(
            workers=max(cell.workers for cell in planned),
            rate_bps=rate_bps,
            buffer=options.buffer[0],
            buffer_unit=options.buffer[1],
            burst_bytes=options.burst,
            rto_min_ns=options.rto_min,
            ack_per_packet=options.ack_per_packet,
            window_scaling=options.window_scaling,
            tlp_and_rack=options.tlp_rack,
        )
        for one in measure(setup, planned, lambda line: print(line, flush=True)):
            results.append(one)
            print(line(one), flush=True)
    return results


def line(one: Measured) -> str:
    """Say what a cell gave."""
    cell, found = one.cell, summary(one)
    what = f"{units.rate_text(one.setup.rate_bps)} {units.size_text(cell.response_bytes)} {cell.scheme}"
    times = f"{found.query_median_ms:.1f} ms, {found.drops} drops, {found.timeouts} timeouts"
    return f"{what} {cell.workers} workers: {times}"


def keep(folder: Path, results: Sequence[Measured], took_s: float, pictures: bool) -> None:
    """Write the folder of results."""
    kernel = os.uname()
    about = {
        "command": ["python", "-m", "proto.sccp", *sys.argv[1:]],
        "kernel": f"{kernel.sysname} {kernel.release} {kernel.machine}",
        "processors": os.cpu_count(),
        "date": time.strftime("%Y-%m-%d"),
        "took_s": round(took_s, 1),
        "load_at_end": os.getloadavg()[0],
    }
    with new_folder(folder) as aside:
        for name, text in files(results).items():
            (aside / name).write_text(text, encoding="utf-8")
        (aside / "run.json").write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")
        if pictures:
            from proto.sccp.pictures import draw

            for name, data in draw(results).items():
                (aside / name).write_bytes(data)


def free_folder() -> Path:
    """Return the first folder of results that does not exist yet."""
    names = ("runs/proto-sccp" + (f"-{n}" if n > 1 else "") for n in itertools.count(1))
    return next(folder for folder in map(Path, names) if not folder.exists())


def main() -> int:
    """Run the prototype; exit status 2 for what is asked wrongly or missing."""
    options = parser().parse_args()
    try:
        build.require()
        folder = options.out or free_folder()
        refuse_unless_empty(folder)
        # A worker takes some four descriptors.
        limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
        begun = time.monotonic()
        results = run(options)
        beside = simulated(results)
        # A file is as wide as the table.
        print_table(results, Console() if sys.stdout.isatty() else Console(width=180), beside)
        keep(folder, results, time.monotonic() - begun, not options.no_pictures)
    except (build.Missing, FolderError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("stopped: nothing is written", file=sys.stderr)
        return 130
    print(f"written to {folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
