"""``incast export``: captures that Wireshark reads, and traces for Perfetto, hold what the run folder says."""

from __future__ import annotations

import json
import shutil
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

import incast
from incast.errors import FolderError
from incast.export import pcapng, perfetto

TSHARK = shutil.which("tshark")


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> incast.Result:
    """Give a run with marks, losses and a timeline, as a folder."""
    asked = {
        "run.warmup": "0s",
        "run.duration": "2ms",
        "measure.trace": [0, 1],
        "measure.timeline": "auto",
        "measure.series": {"flows": [0]},
        "controller": "dctcp",
        "queue": {"kind": "ecn-threshold", "limit": "40p", "mark": "10p"},
    }
    return incast.Result.load(
        incast.Scenario.load("dumbbell").with_(asked).run().save(tmp_path_factory.mktemp("run") / "traced")
    )


def blocks(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Walk a pcapng file by its lengths, which stand before and after each block."""
    while data:
        kind, length = struct.unpack_from("<II", data)
        assert length % 4 == 0 and struct.unpack_from("<I", data, length - 4) == (length,)
        yield kind, data[8 : length - 4]
        data = data[length:]


def frames(data: bytes) -> list[tuple[int, int, bytes, int]]:
    """Interface, time (ps), captured bytes and length on the wire of each frame."""
    found = []
    for kind, body in blocks(data):
        if kind == 6:
            interface, high, low, captured, length = struct.unpack_from("<IIIII", body)
            found.append((interface, high << 32 | low, body[20 : 20 + captured], length))
    return found


def summed(data: bytes) -> int:
    """Ones' complement sum, 0xFFFF where a checksum within is right."""
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total


def lines(result: incast.Result, flow: int, event: str, place: str) -> list[dict[str, object]]:
    rows = result.trace.to_pylist()
    return [row for row in rows if (row["flow"], row["event"], row["place"]) == (flow, event, place)]


def test_a_capture_has_every_packet_of_its_end_with_its_numbers(result: incast.Result) -> None:
    data = pcapng.capture(result, [0])
    sent, came = lines(result, 0, "send", "s0"), lines(result, 0, "arrive", "s0")
    told = frames(data)
    assert len(told) == len(sent) + len(came) > 100
    assert [time for _, time, _, _ in told] == sorted(int(row["time_ps"]) for row in [*sent, *came])  # type: ignore[call-overload]
    own = [frame for frame in told if frame[2][26:30] == bytes([10, 0, 0, 1])]
    assert len(own) == len(sent)
    for (_, time, frame, length), row in zip(own, sent, strict=True):
        assert summed(frame[14:34]) == 0xFFFF, "checksum of IP"
        tcp = frame[34:]
        pseudo = frame[26:34] + struct.pack(">HH", 6, len(tcp) + int(str(row["payload_bytes"])))
        assert summed(pseudo + tcp) == 0xFFFF, "checksum of TCP"
        assert time == row["time_ps"]
        assert length == 14 + int(str(row["size_bytes"]))
        assert struct.unpack_from(">H", frame, 16) == (row["size_bytes"],)
        if row["payload_bytes"]:
            assert struct.unpack_from(">I", frame, 38) == (int(str(row["seq"])) + 1,)
    back = [frame for frame in told if frame[2][26:30] != bytes([10, 0, 0, 1])]
    acks = [struct.unpack_from(">I", frame[2], 42)[0] for frame in back]
    assert acks == [int(str(row["ack"])) + 1 for row in came]


def test_marks_are_in_the_bits_of_ecn_where_they_arrive(result: incast.Result) -> None:
    at_receiver = frames(pcapng.capture(result, [1], "receiver"))
    marked = [row for row in lines(result, 1, "arrive", "r1") if "CE" in str(row["flags"]).split("|")]
    assert sum(frame[15] & 3 == 3 for _, _, frame, _ in at_receiver) == len(marked) > 0
    at_sender = frames(pcapng.capture(result, [1]))
    assert {frame[15] & 3 for _, _, frame, _ in at_sender if frame[26:30] == bytes([10, 0, 0, 2])} >= {2}
    echoed = [row for row in lines(result, 1, "arrive", "s1") if "ECE" in str(row["flags"]).split("|")]
    back = [frame for _, _, frame, _ in at_sender if frame[26:30] != bytes([10, 0, 0, 2])]
    assert sum(frame[47] >> 6 & 1 for frame in back) == len(echoed)


@pytest.mark.skipif(TSHARK is None, reason="tshark is not installed: apt-get install tshark")
@pytest.mark.parametrize("at", pcapng.ENDS)
def test_wireshark_reads_a_capture(result: incast.Result, tmp_path: Path, at: str) -> None:
    (tmp_path / "flow.pcapng").write_bytes(pcapng.capture(result, [], at))
    names = ("frame.interface_name", "tcp.len", "ip.dsfield.ecn", "tcp.seq_raw", "tcp.flags.syn", "_ws.malformed")
    command = [str(TSHARK), "-r", str(tmp_path / "flow.pcapng"), "-T", "fields", "-E", "separator=,"]
    command += [word for name in names for word in ("-e", name)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    read = [line.split(",") for line in done.stdout.splitlines()]
    assert len(read) == len(frames((tmp_path / "flow.pcapng").read_bytes()))
    assert {row[0] for row in read} == ({"s0", "s1"} if at == "sender" else {"r0", "r1"})
    assert all(row[5] == "" for row in read), "nothing is malformed"
    place = ("s", "send") if at == "sender" else ("r", "arrive")
    payload = [row["payload_bytes"] for flow in (0, 1) for row in lines(result, flow, place[1], f"{place[0]}{flow}")]
    assert sum(int(row[1]) for row in read) == sum(int(str(one)) for one in payload) > 0
    assert sum(int(row[2]) == 3 for row in read) > 0 or at == "sender"


def test_a_trace_has_flows_counters_and_instants(result: incast.Result) -> None:
    told = json.loads(perfetto.trace(result, []))["traceEvents"]
    flows = result.flows.to_pylist()
    slices = {event["name"]: event for event in told if event["ph"] == "X"}
    assert set(slices) == {f"flow {row['flow']}" for row in flows}
    assert slices["flow 0"]["ts"] == pytest.approx(flows[0]["start_s"] * 1e6)
    counters = {event["name"] for event in told if event["ph"] == "C"}
    assert {"flow 0 cwnd_bytes", "flow 0 delivered_bps", "flow 1 window_bytes"} <= counters
    rates = [event for event in told if event["ph"] == "C" and event["name"] == "flow 1 delivered_bps"]
    frame_s = json.loads(result.timeline_json or "")["frame_s"]
    assert sum(event["args"]["value"] for event in rates) * frame_s / 8 == pytest.approx(flows[1]["delivered_bytes"])
    marks = [event for event in told if event["ph"] == "i" and event["name"] == "mark"]
    assert len(marks) == sum(row["event"] == "mark" for row in result.trace.to_pylist()) > 0
    one = json.loads(perfetto.trace(result, [1]))["traceEvents"]
    assert [event["name"] for event in one if event["ph"] == "X"] == ["flow 1"]


def test_what_is_not_there_is_said(result: incast.Result, tmp_path: Path) -> None:
    with pytest.raises(FolderError, match="flow 7 is not traced: expected one of 0, 1"):
        pcapng.capture(result, [7])
    with pytest.raises(FolderError, match=r"no flow 99: expected numbers from 0 to 1"):
        perfetto.trace(result, [99])
    plain = incast.Scenario.load("dumbbell").with_({"run.warmup": "0s", "run.duration": "1ms"}).run()
    with pytest.raises(FolderError, match="the run has no packet trace: make one with"):
        pcapng.capture(plain, [])
    assert json.loads(perfetto.trace(plain, []))["traceEvents"]
