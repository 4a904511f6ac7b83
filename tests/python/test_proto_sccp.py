"""SCCP on real TCP: its arithmetic anywhere, and a network of it where there is root, BPF and a compiler."""

from __future__ import annotations

import csv
import re
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

import pytest

from conftest import ROOT, environment
from proto.sccp import build, kernel, share, simulation, units
from proto.sccp.experiment import Cell, Measured
from proto.sccp.network import Setup, tcp_counter
from proto.sccp.switch import PortEntry

LACKING = build.missing()
LACKED = pytest.mark.skipif(bool(LACKING), reason=f"SCCP on real TCP needs {'; '.join(LACKING)}")


def real(test: Callable[..., None]) -> Callable[..., None]:
    """Mark a test that needs a network of real TCP."""
    return pytest.mark.extended(part="sccp")(LACKED(test))


MBPS_100 = 100_000_000


# ---- The simulation ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("workers", "linux_ms", "window"), [(20, 83.687, 3750), (60, 262.3, 1448)])
def test_the_simulation_takes_as_long_as_linux_where_switches_set_windows(
    workers: int, linux_ms: float, window: int
) -> None:
    """Measured at 100 Mb/s, answers of 50 kB: `record/cells.csv`, and the table of README.md."""
    cell = Cell("sccp", workers, 50_000, queries=3, common_rtt_ns=6_000_000)
    setup = Setup(workers, MBPS_100, 178_000, "B")
    found = simulation.summary(Measured(setup, cell, 75_000, 0, [], [], 0, [], {}, 0, 0))
    assert found.query_median_ms == pytest.approx(linux_ms, rel=0.01)
    assert (found.drops, found.queries_with_timeout, found.unfinished) == (0, 0, 0)
    assert (found.smallest_window_bytes, found.flows_max, found.flows_final) == (window, workers, 0)


# ---- The arithmetic ---------------------------------------------------------------------------------------------


def test_the_share_is_capacity_times_common_rtt_over_flows_rounded_down() -> None:
    capacity = share.capacity_bytes(10**9, 300_000)
    assert capacity == 37_500
    assert [share.field(capacity, n) for n in (10, 25, 400)] == [3750, 1500, 93]


def test_the_share_of_figure_2_of_the_paper() -> None:
    assert [share.field(25_000, n) for n in (5, 10, 4)] == [5000, 2500, 6250]


def test_no_flow_counted_is_no_limit() -> None:
    assert share.field(37_500, 0, had=1234) == 1234


def test_a_window_is_lowered_and_never_raised() -> None:
    assert share.field(37_500, 10, had=1000) == 1000


def test_the_floor_holds_where_the_share_is_less() -> None:
    assert share.field(37_500, 25, floor=1448) == 1500
    assert share.field(37_500, 26, floor=1448) == 1448


def test_the_share_is_rounded_down_to_the_window_scale_and_the_floor_up() -> None:
    # 1875 bytes in steps of 128: 14 steps, 1792 bytes. A floor of 1448 rounded down would be 1408, less than a segment.
    assert share.field(37_500, 20, scale=7) << 7 == 1792
    assert share.field(37_500, 40, floor=1448, scale=7) << 7 == 1536
    assert share.field(37_500, 40, floor=1448, scale=11) << 11 == 2048


def test_a_share_below_a_step_of_the_scale_closes_the_window_without_a_floor() -> None:
    assert share.field(37_500, 19, scale=11) == 0


def test_a_capacity_above_the_field_leaves_the_largest_window() -> None:
    assert share.field(75_000, 1) == 65_535


# ---- Reading ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value", "read"),
    [
        ("100Mbps", MBPS_100, units.rate_bps),
        ("1Gbps", 10**9, units.rate_bps),
        ("2.5 Gbps", 2_500_000_000, units.rate_bps),
        ("50kB", 50_000, units.size_bytes),
        ("0B", 0, units.size_bytes),
        ("600us", 600_000, units.time_ns),
        ("0.2s", 200_000_000, units.time_ns),
    ],
)
def test_quantities_are_read_with_their_units(text: str, value: int, read: object) -> None:
    assert callable(read)
    assert read(text) == value


@pytest.mark.parametrize("text", ["100", "100mbit", "Mbps", "-1Mbps", "0bps", "1.5bps", "1e3Mbps"])
def test_a_rate_without_a_known_unit_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(ValueError, match=f'"{text}": expected a'):
        units.rate_bps(text)


def test_quantities_are_written_as_they_are_read() -> None:
    assert units.rate_text(MBPS_100) == "100Mbps"
    assert units.size_text(178_000) == "178kB"
    assert units.size_text(1448) == "1448B"
    assert units.time_text(600_000) == "600us"
    assert units.time_text(0) == "0ns"


def test_a_counter_of_tcp_is_read_by_its_name() -> None:
    text = b"TcpExt: SyncookiesSent TCPTimeouts\nTcpExt: 3 14\nIpExt: InNoRoutes\nIpExt: 0\n"
    assert tcp_counter(text, "TCPTimeouts") == 14


def test_the_fields_of_the_map_are_those_of_the_program_in_their_order() -> None:
    source = build.SOURCE.read_text(encoding="ascii")
    body = source.split("struct port {")[1].split("};")[0]
    lines = [line.split("//")[0].split() for line in body.splitlines()]
    named = [words[-1].rstrip(";").split("[")[0] for words in lines if words]
    assert named == [name for name, *_ in PortEntry._fields_]


# ---- The command ------------------------------------------------------------------------------------------------


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "proto.sccp", *words]


def answer(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(*words), cwd=ROOT, env=environment(), capture_output=True, text=True, timeout=300, check=False
    )


def test_the_page_describes_every_option_of_the_help() -> None:
    page = (ROOT / "proto/sccp/README.md").read_text(encoding="utf-8")
    rows = "".join(line.split("|")[1] for line in page.splitlines() if line.startswith("| `--"))
    assert set(re.findall(r"--[a-z-]+", rows)) == set(re.findall(r"--[a-z-]+", answer("--help").stdout)) - {"--help"}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--rate", "100"], '"100": expected a number with one of the units'),
        (["--scheme", "plain,dctcp"], '"dctcp": expected plain or sccp'),
        (["--workers", "0"], '"0": expected a whole number from 1'),
        (["--buffer", "117packet"], '"117packet": expected a number'),
    ],
)
def test_a_wrong_value_is_named(words: list[str], said: str) -> None:
    done = answer(*words)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr


# ---- The network ------------------------------------------------------------------------------------------------


Rows = list[dict[str, str]]


def table(folder: Path, name: str) -> Rows:
    with (folder / f"{name}.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Measure at 100 Mb/s, where the processor does not pace the senders: some workers, plain and with SCCP."""
    folder = tmp_path_factory.mktemp("proto") / "fresh"
    done = answer("--workers", "20,40,90", "--queries", "3", "--no-pictures", "--out", str(folder))
    assert done.returncode == 0, done.stderr
    return folder


def of(rows: Rows, **wanted: object) -> Rows:
    return [row for row in rows if all(row[name] == str(value) for name, value in wanted.items())]


@real
def test_plain_tcp_overflows_the_buffer_and_waits_for_timeouts(measured: Path) -> None:
    for row in of(table(measured, "cells"), scheme="plain"):
        assert int(row["drops"]) > 0, row
        # With fewer workers a busy machine interleaves the bursts so that duplicates repair most losses.
        if int(row["workers"]) >= 90:
            assert int(row["queries_with_timeout"]) == 3, row
            # The least timeout is 200 ms, and every query has one.
            assert float(row["query_median_ms"]) > 200, row


@real
def test_sccp_drops_nothing_and_is_as_fast_as_the_link(measured: Path) -> None:
    for row in of(table(measured, "cells"), scheme="sccp"):
        assert (row["drops"], row["timeouts"], row["unfinished"]) == ("0", "0", "0"), row
        # Segments are as short as half a window (724 bytes in 790). The rest is for a busy machine.
        link_ms = 8e3 * int(row["workers"]) * 50_000 * 790 / 724 / MBPS_100
        assert float(row["query_median_ms"]) < 2 * link_ms, row


@real
def test_sccp_writes_the_share_of_every_count(measured: Path) -> None:
    cells, windows = table(measured, "cells"), table(measured, "windows")
    checked = 0
    for cell in of(cells, scheme="sccp"):
        for row in of(windows, cell=cell["cell"]):
            if int(row["lowered"]) == int(row["packets"]):
                expected = share.field(75_000, int(row["flows"]), 1448)
                assert (int(row["smallest_bytes"]), int(row["largest_bytes"])) == (expected, expected), row
                checked += 1
        at_most = of(windows, cell=cell["cell"], flows=cell["workers"])
        assert int(at_most[0]["lowered"]) > 0
    assert checked > 20
    assert all(row["lowered"] == "0" for cell in of(cells, scheme="plain") for row in of(windows, cell=cell["cell"]))


@real
def test_every_syn_ack_counts_a_flow_and_its_fin_takes_it_off(measured: Path) -> None:
    cells, flows = table(measured, "cells"), table(measured, "flows")
    for cell in of(cells, scheme="sccp"):
        workers = int(cell["workers"])
        assert (cell["syn"], cell["syn_ack"], cell["fin"]) == ("0", str(3 * workers), str(3 * workers)), cell
        assert (cell["flows_max"], cell["flows_final"], cell["fins_at_zero"]) == (str(workers), "0", "0"), cell
        rows = of(flows, cell=cell["cell"])
        assert len(rows) == 6 * workers
        # Two processors may count at once, and write what they counted in either order.
        steps = [int(b["flows"]) - int(a["flows"]) for a, b in pairwise(rows)]
        assert sum(abs(step) == 1 for step in steps) > 0.9 * len(steps)


@real
def test_every_packet_has_a_right_checksum_when_its_window_is_rewritten(measured: Path) -> None:
    cells = table(measured, "cells")
    assert all(row["bad_checksums"] == "0" for row in cells)
    assert all(int(row["packets_lowered"]) > 100 for row in of(cells, scheme="sccp"))


@real
@pytest.mark.parametrize("name", ["cells", "queries"])
def test_the_record_has_the_columns_of_a_run(measured: Path, name: str) -> None:
    assert list(table(ROOT / "proto/sccp/record", name)[0]) == list(table(measured, name)[0])


@real
def test_persistent_connections_stay_counted_between_queries(tmp_path: Path) -> None:
    words = ["--workers", "10", "--queries", "3", "--connections", "persistent", "--scheme", "sccp", "--no-pictures"]
    done = answer(*words, "--ack-per-packet", "--out", str(tmp_path / "kept"))
    assert done.returncode == 0, done.stderr
    (cell,) = table(tmp_path / "kept", "cells")
    assert (cell["syn_ack"], cell["flows_max"], cell["flows_final"]) == ("10", "10", "0")
    assert [row["flows"] for row in table(tmp_path / "kept", "flows")] == [
        *map(str, range(1, 11)),
        *map(str, range(9, -1, -1)),
    ]


@real
def test_a_switch_learns_the_window_scale_and_rounds_the_floor_up(tmp_path: Path) -> None:
    words = ["--workers", "60", "--queries", "2", "--scheme", "sccp", "--window-scaling", "--no-pictures"]
    done = answer(*words, "--out", str(tmp_path / "scaled"))
    assert done.returncode == 0, done.stderr
    (cell,) = table(tmp_path / "scaled", "cells")
    (row,) = of(table(tmp_path / "scaled", "windows"), flows=60)
    # A floor of 1448 bytes in steps of 128 is 1536; the SYN alone is not scaled.
    assert int(row["smallest_bytes"]) == 1536
    assert (cell["drops"], cell["unfinished"], cell["bad_checksums"]) == ("0", "0", "0")


def namespaces(process: str = "[0-9]*") -> set[str]:
    """Network namespaces that a process is in or holds open; those of all without one."""
    found = set()
    for place in (*Path("/proc").glob(f"{process}/ns/net"), *Path("/proc").glob(f"{process}/fd/*")):
        with suppress(OSError):
            found.add(str(place.readlink()))
    return {name for name in found if name.startswith("net:")}


def remains(processes: list[int], spaces: set[str], programs: set[int]) -> list[object]:
    """Find what is still there of these; a process that has ended and waits for its parent is gone."""
    alive = []
    for process in processes:
        with suppress(OSError):
            if ") Z " not in Path(f"/proc/{process}/stat").read_text():
                alive.append(process)
    return [*alive, *(spaces & namespaces()), *(programs & kernel.loaded_programs())]


@real
def test_nothing_is_left_when_the_process_is_killed(tmp_path: Path) -> None:
    home = namespaces("self")
    words = command("--workers", "30", "--queries", "1000", "--no-pictures", "--out", str(tmp_path / "never"))
    with subprocess.Popen(words, cwd=ROOT, env=environment(), stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        said = process.stdout.readline()
        programs = {int(word) for word in said.replace(";", " ").split("programs")[1].split() if word.isdecimal()}
        assert len(programs) == 2, said
        assert programs <= kernel.loaded_programs()
        own = namespaces(str(process.pid)) - home
        assert len(own) >= 32
        children = [int(n) for n in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()]
        assert children
        process.kill()
    end = time.monotonic() + 60
    # The kernel takes a namespace down with its links, queues and programs behind the last process.
    while time.monotonic() < end and (left := remains(children, own, programs)):
        time.sleep(0.05)
    assert not left
    assert not list(tmp_path.iterdir())
    assert not list(Path("/sys/fs/bpf").glob("**/sccp_*"))
