"""The map of the switch program, as this process sees it. The structures are those of ``switch.bpf.c``."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from pathlib import Path

from proto.sccp import kernel

EVENTS, COUNTS = 65536, 1024
KINDS = ("SYN", "SYN-ACK", "FIN", "FIN at 0")
COUNTERS = ("packets", "bytes", "syn", "syn_ack", "fin", "fin_at_zero", "rst")


class EventEntry(ctypes.Structure):
    """``struct event``."""

    _fields_ = (("time_ns", ctypes.c_uint64), ("flows", ctypes.c_uint32), ("kind", ctypes.c_uint32))
    time_ns: int
    flows: int
    kind: int


class WindowEntry(ctypes.Structure):
    """``struct window``."""

    _fields_ = (
        ("packets", ctypes.c_uint64),
        ("lowered", ctypes.c_uint64),
        ("smallest", ctypes.c_uint32),
        ("largest", ctypes.c_uint32),
    )
    packets: int
    lowered: int
    smallest: int
    largest: int


class PortEntry(ctypes.Structure):
    """``struct port``."""

    _fields_ = (
        ("capacity", ctypes.c_uint64),
        ("floor", ctypes.c_uint32),
        ("active", ctypes.c_uint32),
        ("flows", ctypes.c_uint32),
        ("logged", ctypes.c_uint32),
        *((name, ctypes.c_uint64) for name in COUNTERS),
        ("windows", WindowEntry * COUNTS),
        ("events", EventEntry * EVENTS),
    )


@dataclass(frozen=True)
class Event:
    """N behind a packet that changed it."""

    time_ns: int
    flows: int
    kind: str


@dataclass(frozen=True)
class Windows:
    """Windows that passed to the workers while N had one value, in bytes."""

    flows: int
    packets: int
    lowered: int
    smallest: int
    largest: int


class Switch:
    """The port's state: set before a cell, read behind it."""

    def __init__(self, path: Path) -> None:
        self.memory = kernel.pinned_map(path, ctypes.sizeof(PortEntry))
        self.port = PortEntry.from_buffer(self.memory)

    def start(self, capacity: int, floor: int, active: bool) -> None:
        """Forget everything, and count from 0 with these settings."""
        ctypes.memset(ctypes.addressof(self.port), 0, ctypes.sizeof(self.port))
        self.port.capacity, self.port.floor, self.port.active = capacity, floor, int(active)

    @property
    def flows(self) -> int:
        """N."""
        return int(self.port.flows)

    def counters(self) -> dict[str, int]:
        """Return the counters of packets."""
        return {name: int(getattr(self.port, name)) for name in COUNTERS}

    def events(self) -> list[Event]:
        """Return every change of N, by time; the first ``EVENTS`` of them."""
        count = min(self.port.logged, EVENTS)
        found = [Event(one.time_ns, one.flows, KINDS[one.kind]) for one in self.port.events[:count]]
        return sorted(found, key=lambda one: one.time_ns)

    def windows(self) -> list[Windows]:
        """Return the windows that passed, by N."""
        return [
            Windows(flows, one.packets, one.lowered, one.smallest, one.largest)
            for flows, one in enumerate(self.port.windows)
            if one.packets
        ]
