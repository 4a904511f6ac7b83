"""Packets of traced flows as a capture file, pcapng (draft-ietf-opsawg-pcapng), for Wireshark.

A capture is taken at one end of each flow: packets sent by its host, when the transport hands them to the NIC, and
packets that arrive there. Frames are Ethernet (RFC 894), IPv4 (RFC 791) with ECN bits (RFC 3168), and TCP (RFC 9293)
or, for datagrams and receiver-driven transports, UDP (RFC 768). Times are whole picoseconds.

Fields that a trace lacks have fixed values: addresses from host numbers, ports from the flow number, initial sequence
numbers of 0, a window field of 65,535. Headers longer than 20 bytes of IP and 20 of TCP are padded with TCP's "no
operation" option. Payload is not in the file: only headers are captured, as with a snapshot length.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from incast.export.traced import Traced, traced_flows

if TYPE_CHECKING:
    from incast.runs.result import Result

ENDS = ("sender", "receiver")
SERVER_PORT = 5001
"""Port number of the receiving end (iperf's)."""
ETHERNET = 14
IP = 20
TCP = 20
UDP = 8
MOST_OPTIONS = 40
PICOSECONDS = 12
ECT_0, CE = 2, 3
FIN, SYN, RST, PSH, ACK, ECE, CWR = 1, 2, 4, 8, 16, 64, 128
BITS = {"FIN": FIN, "SYN": SYN, "RST": RST, "PSH": PSH, "ACK": ACK, "ECE": ECE, "CWR": CWR}
IPPROTO_TCP, IPPROTO_UDP = 6, 17


def capture(result: Result, flows: list[int], at: str = "sender") -> bytes:
    """Return the bytes of a capture of traced ``flows`` (all if empty), ``at`` the "sender" or the "receiver".

    Raises ``FolderError`` if the run has no trace of them.
    """
    datagrams = _datagrams(result)
    chosen = traced_flows(result, flows)
    places = sorted({place for flow in chosen if (place := _place(flow, at)) is not None})
    packets = [packet for flow in chosen for packet in _packets(flow, at, flow.flow in datagrams)]
    packets.sort(key=lambda packet: (packet[0], packet[1]))
    blocks = [_section(), *(_interface(place) for place in places)]
    blocks += [_packet(places.index(place), time_ps, frame, length) for time_ps, _, place, frame, length in packets]
    return b"".join(blocks)


def _datagrams(result: Result) -> set[int]:
    """Return the flows that do not use TCP."""
    import tomllib

    scenario = tomllib.loads(result.toml)
    kinds = {entry["name"]: entry["app"]["kind"] for entry in scenario["traffic"]}
    rows = result.flows.select(["flow", "group"]).to_pylist()
    driven = scenario.get("transport", {}).get("protocol", "tcp") != "tcp"
    return {row["flow"] for row in rows if driven or kinds.get(row["group"]) == "udp"}


def _place(flow: Traced, at: str) -> str | None:
    return flow.sender if at == "sender" else flow.receiver


def _packets(flow: Traced, at: str, datagrams: bool) -> Iterator[tuple[int, int, str, bytes, int]]:
    place = _place(flow, at)
    for number, line in enumerate(flow.lines):
        if place is not None and line["place"] == place and line["event"] in ("send", "arrive"):
            back = (line["event"] == "send") == (at == "receiver")
            frame, length = _frame(flow, line, back, datagrams, number)
            yield line["time_ps"], flow.flow, place, frame, length


def _frame(flow: Traced, line: dict[str, Any], back: bool, datagrams: bool, number: int) -> tuple[bytes, int]:
    """Return the headers of a packet, and the length of its whole frame."""
    flags = set(line["flags"].split("|"))
    payload, ports = line["payload_bytes"], (1024 + flow.flow % 60_000, SERVER_PORT)
    ends = (flow.src, flow.dst)
    if back:
        ports, ends = ports[::-1], ends[::-1]
    udp = struct.pack(">HHHH", *ports, (UDP + payload) & 0xFFFF, 0)
    head = udp if datagrams else _tcp(line, flags, back, ports, ends)
    total = IP + len(head) + payload
    ecn = CE if "CE" in flags else ECT_0 if "ECT" in flags else 0
    protocol = IPPROTO_UDP if datagrams else IPPROTO_TCP
    ip = struct.pack(
        ">BBHHHBBH4s4s", 0x45, ecn, total & 0xFFFF, number & 0xFFFF, 0x4000, 64, protocol, 0, *map(_address, ends)
    )
    ip = ip[:10] + struct.pack(">H", _checksum(ip)) + ip[12:]
    ethernet = _mac(ends[1]) + _mac(ends[0]) + b"\x08\x00"
    return ethernet + ip + head, ETHERNET + total


def _tcp(line: dict[str, Any], flags: set[str], back: bool, ports: tuple[int, int], ends: tuple[int, int]) -> bytes:
    bits = sum(bit for name, bit in BITS.items() if name in flags)
    if back:
        # an answer: that of a SYN has ACK set too
        bits |= ACK if "SYN" in flags else 0
    syn = bits & SYN > 0
    seq = 0 if syn else 1 if back else line["seq"] + 1
    ack = line["ack"] + 1 if bits & ACK else 0
    if not back and not syn:
        # data acknowledges the handshake; more only in the trace of two-way connections
        bits |= ACK
        ack = max(ack, 1)
    options = min(max(line["size_bytes"] - IP - TCP - line["payload_bytes"], 0) // 4 * 4, MOST_OPTIONS)
    offset = (TCP + options) // 4 << 4
    wrapped = (seq & 0xFFFFFFFF, ack & 0xFFFFFFFF)
    head: bytes = struct.pack(">HHIIBBHHH", *ports, *wrapped, offset, bits, 65535, 0, 0) + b"\x01" * options
    pseudo = _address(ends[0]) + _address(ends[1])
    pseudo += struct.pack(">HH", IPPROTO_TCP, (len(head) + line["payload_bytes"]) & 0xFFFF)
    # payload bytes are 0, and do not change the sum
    checked = struct.pack(">H", _checksum(pseudo + head))
    return head[:16] + checked + head[18:]


def _address(host: int) -> bytes:
    return struct.pack(">I", (10 << 24) + (host + 1 & 0xFFFFFF))


def _mac(host: int) -> bytes:
    """Return a locally administered address."""
    return b"\x02\x00" + struct.pack(">I", host + 1)


def _checksum(data: bytes) -> int:
    """Return the checksum of RFC 1071."""
    data += b"\x00" * (len(data) % 2)
    total: int = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def _block(kind: int, body: bytes) -> bytes:
    body += b"\x00" * (-len(body) % 4)
    length = struct.pack("<I", len(body) + 12)
    return struct.pack("<I", kind) + length + body + length


def _option(code: int, value: bytes) -> bytes:
    return struct.pack("<HH", code, len(value)) + value + b"\x00" * (-len(value) % 4)


def _section() -> bytes:
    return _block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1) + _option(4, b"Incast") + _option(0, b""))


def _interface(name: str) -> bytes:
    options = _option(2, name.encode()) + _option(9, bytes([PICOSECONDS])) + _option(0, b"")
    return _block(1, struct.pack("<HHI", 1, 0, 0) + options)


def _packet(interface: int, time_ps: int, frame: bytes, length: int) -> bytes:
    head = struct.pack("<IIIII", interface, time_ps >> 32, time_ps & 0xFFFFFFFF, len(frame), length)
    return _block(6, head + frame)
