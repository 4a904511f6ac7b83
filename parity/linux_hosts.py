"""Record what two real Linux hosts send over a link of ours: ``sudo .venv/bin/python -m parity.linux_hosts``.

Needs Linux, root, ``ip`` and /dev/net/tun; writes ``parity/data/linux/acks.csv``. The hosts are two network namespaces
of one process, each with a TUN device; nothing outside is touched, and all of it is gone with the process. The process
is the link as well, and both applications: it takes a packet from one device, decides when it arrives, and writes it
to the other at that time. A write returns when the kernel has taken the packet in and queued its answer, so an answer
counts as sent at the time of its cause: how late the process runs changes nothing, unless a timer of the kernel fires.
"""

from __future__ import annotations

import argparse
import ctypes
import fcntl
import heapq
import os
import select
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from pathlib import Path

from parity.checks import Sent
from parity.figures import DATA
from parity.linux_acks import CHOSEN, RUNS, SEGMENT, Run, recorded, shown

NEW_NETWORK = 0x40000000
TUN_SET = 0x400454CA
TUN_BARE = 0x0001 | 0x1000
SEND_BUFFER_FORCE = 32
SENDER, RECEIVER = "192.0.2.1", "192.0.2.2"
PORT = 5001
BUFFER = {True: 400_000, False: 0}
"""Receive buffer in bytes of the run with a long queue; 0: the kernel's initial one, which stays."""
BITS = {"CWR": 0x80, "ECE": 0x40, "PSH": 0x08}
SYN, ACK = 0x02, 0x10
MOST_S = 60.0
"""Longest duration of a run."""
LATE_S, ATTEMPTS = 0.003, 30
"""Largest delay of the process before a recording is repeated, and most repetitions."""
HEAD = """\
# Real Linux 6.18, two network namespaces and a user-space forwarder, measured 2026-11-22, by parity/linux_hosts.py.
# Runs are described in parity/linux_acks.py. Reno, net.ipv4.tcp_ecn = 1, segments of 1448 bytes, no offloading, a
# receive buffer that stays (tcp_moderate_rcvbuf = 0; the run sawtooth: SO_RCVBUF = 400000).
# SYN: as the sender sends it; SYN-ACK and ack: as the receiver does; data: as it reaches the receiver. segment: its
# number from 0; of an ack: how many segments are acknowledged. Time 0 is the first SYN.
# The packets are the same in {count} recordings; times are those of the first.
run,ms,packet,segment,flags
"""


def host(own: str, peer: str, **settings: int | str) -> int:
    """Enter a new namespace with this address and these settings of TCP; return its device."""
    if ctypes.CDLL(None, use_errno=True).unshare(NEW_NETWORK):
        raise OSError(ctypes.get_errno(), "a network namespace needs root")
    device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(device, TUN_SET, struct.pack("16sH22x", b"tun0", TUN_BARE))
    for command in (
        "link set lo up",
        f"addr add {own} peer {peer} dev tun0",
        "link set dev tun0 gso_max_segs 1 mtu 1500 up",
    ):
        subprocess.run(["ip", *command.split()], check=True)
    common = {"tcp_ecn": 1, "tcp_congestion_control": "reno", "tcp_no_metrics_save": 1}
    for key, value in {**common, **settings}.items():
        Path(f"/proc/sys/net/ipv4/{key}").write_text(str(value), encoding="ascii")
    return device


def with_ecn(packet: bytes, field: int) -> bytes:
    """Return the packet with another ECN field."""
    head = bytearray(packet[:20])
    head[1] = head[1] & ~3 | field
    head[10:12] = b"\0\0"
    total = sum(struct.unpack("!10H", head))
    total = (total & 0xFFFF) + (total >> 16)
    head[10:12] = struct.pack("!H", ~(total + (total >> 16)) & 0xFFFF)
    return bytes(head) + packet[20:]


class Segment:
    """Fields of a TCP packet."""

    def __init__(self, packet: bytes) -> None:
        start = 4 * (packet[0] & 15)
        self.seq, self.ack, offset, self.bits = struct.unpack("!4xIIBB", packet[start : start + 14])
        self.length = len(packet) - start - 4 * (offset >> 4)
        self.ecn = packet[1] & 3

    def flags(self) -> str:
        """Write its flags as the file does."""
        ecn = {0: "", 3: "CE"}.get(self.ecn, "ECT")
        return shown([ecn, *(name for name, bit in BITS.items() if self.bits & bit)])


class Hosts:
    """Two hosts, the link between them, and a log of its packets."""

    def __init__(self, run: Run) -> None:
        self.run, self.link = run, run.link
        self.a = host(SENDER, RECEIVER, tcp_ecn_fallback=int(run.fallback))
        self.sender = socket.socket()
        self.sender.setblocking(False)
        self.sender.setsockopt(socket.SOL_SOCKET, SEND_BUFFER_FORCE, 1 << 27)
        self.b = host(RECEIVER, SENDER, tcp_moderate_rcvbuf=0)
        self.listener = socket.socket()
        self.listener.setblocking(False)
        if buffer := BUFFER[run.marks_only]:
            self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        self.listener.bind((RECEIVER, PORT))
        self.listener.listen()
        self.receiver: socket.socket | None = None
        self.log: list[Sent] = []
        self.first = 0
        """Sequence number of the SYN."""
        self.begun = time.monotonic()
        self.cause: float | None = None
        """Arrival time of the packet being processed."""
        self.under_way: list[tuple[float, int, int, bytes]] = []
        self.starts: list[float] = []
        """Start times of the transmissions of queued packets."""
        self.free = 0.0
        self.ahead = self.back = self.count = self.received = 0
        self.written = False
        self.late = 0.0
        """Largest delay of the process."""

    def now(self) -> float:
        """Return the time of the cause, or of the clock."""
        return time.monotonic() - self.begun if self.cause is None else self.cause

    def note(self, number: int, kind: str, segment: Segment, time_s: float) -> None:
        """Log a packet."""
        self.log.append(Sent(time_s, (number, kind, segment.flags())))

    def carry(self, at: float, device: int, packet: bytes) -> None:
        """Deliver a packet later."""
        self.count += 1
        heapq.heappush(self.under_way, (at, self.count, device, packet))

    def collect(self) -> None:
        """Take the packets sent by both hosts."""
        for packet in packets(self.a):
            self.forward(packet)
        for packet in packets(self.b):
            self.backward(packet)

    def forward(self, packet: bytes) -> None:
        """Queue a packet of the sender."""
        now, link, segment = self.now(), self.link, Segment(packet)
        if segment.bits & SYN:
            self.first = segment.seq
            self.note(0, "SYN", segment, now)
        self.ahead += 1
        if self.ahead - 1 in link.lost:
            return
        self.starts = [start for start in self.starts if start > now + 1e-9]
        number = self.number(segment.seq) if segment.length else -1
        if segment.ecn and (number in link.marked or len(self.starts) >= link.mark):
            packet = with_ecn(packet, 3)
        elif number in link.bleached:
            packet = with_ecn(packet, 0)
        start = max(self.free, now)
        self.starts.append(start)
        self.free = start + 8 * len(packet) / link.rate_bps
        self.carry(self.free + link.delay_s, self.b, packet)
        if number in link.again:
            self.carry(self.free + link.delay_s + 1e-4, self.b, with_ecn(packet, link.again[number]))

    def backward(self, packet: bytes) -> None:
        """Send a packet of the receiver back."""
        segment = Segment(packet)
        if segment.bits & SYN:
            self.note(0, "SYN-ACK", segment, self.now())
        else:
            self.note(self.number(segment.ack), "ack", segment, self.now())
        self.back += 1
        if self.back - 1 not in self.link.back_lost:
            self.carry(self.now() + self.link.delay_s, self.a, packet)

    def number(self, seq: int) -> int:
        """Return the number of the segment that begins there."""
        return ((seq - self.first - 1) & 0xFFFFFFFF) // SEGMENT

    def deliver(self) -> None:
        """Give the next packet to its host, and let its application run."""
        at, _, device, packet = heapq.heappop(self.under_way)
        self.late = max(self.late, self.now() - at)
        self.cause = at
        segment = Segment(packet)
        if device == self.b and segment.length:
            self.note(self.number(segment.seq), "data", segment, at)
        os.write(device, packet)
        self.collect()
        if device == self.b:
            self.read()
        else:
            self.write()
        self.collect()
        self.cause = None

    def read(self) -> None:
        """Read the received data."""
        with suppress(BlockingIOError):
            if self.receiver is None:
                self.receiver = self.listener.accept()[0]
                self.receiver.setblocking(False)
            while data := self.receiver.recv(1 << 20):
                self.received += len(data)

    def write(self) -> None:
        """Write everything, once the connection is open."""
        if not self.written and self.sender.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0] == 1:
            self.written = True
            size = self.run.segments * SEGMENT
            if self.sender.send(bytes(size)) != size:
                raise RuntimeError("the send buffer does not hold the transfer")

    def transfer(self) -> list[Sent]:
        """Run until all has been acknowledged."""
        with suppress(BlockingIOError):
            self.sender.connect((RECEIVER, PORT))
        self.begun = time.monotonic()
        while self.under_way or self.received < self.run.segments * SEGMENT:
            if self.now() > MOST_S:
                raise RuntimeError(f"not over after {MOST_S:g} s")
            self.collect()
            wait = self.under_way[0][0] - self.now() if self.under_way else 0.05
            if wait <= 0:
                self.deliver()
            else:
                select.select([self.a, self.b], [], [], wait)
        return list(recorded(self.run, self.log))


def packets(device: int) -> Iterator[bytes]:
    """Read the packets of TCP that wait at a device."""
    with suppress(BlockingIOError):
        while packet := os.read(device, 1 << 16):
            if packet[0] >> 4 == 4 and packet[9] == socket.IPPROTO_TCP:
                yield packet


def transfer(run: Run) -> tuple[list[Sent], float]:
    """Record one run, in a process of its own; and how much that was late."""
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    hosts = Hosts(run)
    return hosts.transfer(), hosts.late


def record(run: Run) -> list[Sent]:
    """Record one run; again, if the process was so late that a timer of the kernel may have come first."""
    for _ in range(ATTEMPTS):
        with ProcessPoolExecutor(1, max_tasks_per_child=1) as pool:
            found, late = pool.submit(transfer, run).result()
        if late < LATE_S:
            return found
    raise RuntimeError(f"late by {LATE_S:g} s or more in {ATTEMPTS} recordings: something else keeps the machine busy")


def main() -> int:
    """Record every run several times, and write the file if all recordings of a run are the same."""
    parser = argparse.ArgumentParser("python -m parity.linux_hosts", description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=5, help="recordings of each run (default %(default)s)")
    parser.add_argument("--out", type=Path, default=DATA / "linux/acks.csv", help="the file (default %(default)s)")
    options = parser.parse_args()
    lines, differ = [HEAD.format(count=options.count)], 0
    for name, run in {**RUNS, **CHOSEN}.items():
        found = [record(run) for _ in range(options.count)]
        same = all([sent.what for sent in one] == [sent.what for sent in found[0]] for one in found)
        print(f"{name}: {len(found[0])} packets, {'the same' if same else 'NOT the same'} in all", flush=True)
        differ += not same
        for sent in found[0]:
            number, kind, flags = tuple(sent.what)
            lines.append(f"{name},{1e3 * sent.time_s:.2f},{kind},{number},{flags}\n")
    if not differ:
        options.out.write_text("".join(lines), encoding="ascii")
    return int(differ > 0)


if __name__ == "__main__":
    sys.exit(main())
