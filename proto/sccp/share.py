"""The arithmetic of SCCP, as ``switch.bpf.c`` does it (SCCP paper, section III): integers, divisions round down."""

from __future__ import annotations

MSS = 1448
"""Payload in bytes of a full segment: 1500 less IP, TCP and time stamps."""
LARGEST_FIELD = 65535


def capacity_bytes(rate_bps: int, common_rtt_ns: int) -> int:
    """Return what a link carries in one common RTT."""
    return rate_bps * common_rtt_ns // (8 * 10**9)


def fair_share(capacity: int, flows: int, floor: int = 0) -> int | None:
    """Return the window of one flow in bytes, or ``None`` where nothing is counted, which is no limit."""
    return max(capacity // flows, floor) if flows else None


def field(capacity: int, flows: int, floor: int = 0, scale: int = 0, had: int = LARGEST_FIELD) -> int:
    """Return what a switch writes into the window field: the share rounded down to the scale, the floor up."""
    if not flows:
        return had
    return min(had, max((capacity // flows) >> scale, -(-floor // (1 << scale))))
