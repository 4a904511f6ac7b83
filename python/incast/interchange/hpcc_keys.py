"""One table of names: keys of HPCC's configurations, and what they are called in scenarios."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from typing import Any


class Form(Enum):
    """Notation in a scenario of a value of a configuration."""

    MICROSECONDS = "us"
    SHARE = "share of the line rate"
    OF_AI = "multiple of RATE_AI"
    FLOWS = "flows that share what HPCC's eta leaves of the line rate, RATE_AI each"
    NUMBER = "number"
    WHOLE = "whole number"
    FLAG = "flag"


@dataclass(frozen=True)
class Parameter:
    """A parameter of a controller."""

    key: str
    """Key of the configuration."""
    name: str
    """Key of the controller."""
    form: Form
    above_zero: bool = True
    """True if the controller takes values above 0 alone."""


@dataclass(frozen=True)
class Rules:
    """A controller here that has the rules of a controller there."""

    kind: str
    """Name of the controller."""
    form: str
    """Form that has the rules of its authors' simulator; empty if it has no other."""
    parameters: Sequence[Parameter]


_AI = Parameter("RATE_AI", "r_ai", Form.SHARE)
_LEAST_RATE = Parameter("MIN_RATE", "min_rate", Form.SHARE)
_LEAST_WINDOW = Parameter("MIN_RATE", "min_cwnd", Form.SHARE)

CONTROLLERS: Mapping[str, Rules] = {
    "dcqcn": Rules(
        "dcqcn",
        "authors",
        (
            Parameter("ALPHA_RESUME_INTERVAL", "t_alpha", Form.MICROSECONDS),
            Parameter("RATE_DECREASE_INTERVAL", "t_dec", Form.MICROSECONDS),
            Parameter("RP_TIMER", "t_inc", Form.MICROSECONDS),
            Parameter("EWMA_GAIN", "g", Form.NUMBER),
            Parameter("FAST_RECOVERY_TIMES", "f", Form.WHOLE, above_zero=False),
            _AI,
            Parameter("RATE_HAI", "r_hai", Form.SHARE),
            Parameter("CLAMP_TARGET_RATE", "clamp_target", Form.FLAG, above_zero=False),
            _LEAST_RATE,
        ),
    ),
    "timely": Rules(
        "timely",
        "authors",
        (
            Parameter("RATE_AI", "delta", Form.SHARE),
            Parameter("RATE_HAI", "hai", Form.OF_AI),
            _LEAST_RATE,
        ),
    ),
    "hpcc": Rules(
        "hpcc",
        "authors",
        (
            Parameter("U_TARGET", "eta", Form.NUMBER),
            Parameter("MI_THRESH", "max_stage", Form.WHOLE, above_zero=False),
            Parameter("RATE_AI", "flows", Form.FLOWS),
            _LEAST_WINDOW,
        ),
    ),
    "powertcp": Rules("powertcp", "authors-ns3", (Parameter("U_TARGET", "target", Form.NUMBER), _LEAST_WINDOW)),
    "theta-powertcp": Rules("theta-powertcp", "authors-ns3", (_LEAST_WINDOW,)),
    "dctcp": Rules(
        "dctcp-rate",
        "",
        (
            Parameter("EWMA_GAIN", "g", Form.NUMBER),
            Parameter("DCTCP_RATE_AI", "increase", Form.SHARE),
            _LEAST_RATE,
        ),
    ),
}
"""Controllers by the words of ``--cc``."""

READ_MARKS = ("dcqcn", "dctcp")
"""Controllers that act on marks."""

MODES = {1: "dcqcn", 3: "hpcc", 7: "timely", 8: "dctcp", 10: "hpcc"}
"""Controllers of ``CC_MODE``."""

CONTROL_KEYS = tuple(dict.fromkeys(one.key for rules in CONTROLLERS.values() for one in rules.parameters))
"""Keys that a controller reads, or does not."""

RUN: Mapping[str, tuple[str, str]] = {"tick": ("1ns", "ns-3's clock"), "ties": ("scheduled", "ns-3's list of events")}
"""Keys of ``[run]`` that follow ns-3: times in whole nanoseconds, and the order of events of one time."""

PAYLOAD, BASE_RTT, WINDOW, REPAIR, CHUNK = "mss", "base_rtt", "window", "repair", "chunk"
INT_MULTI, NACK_INTERVAL = "int_multi", "nack_interval"
"""Keys of ``[transport]`` (the first) and ``[transport.rdma]``."""

FIXED: Mapping[str, int] = {"header": 48, "ack_size": 60}
FIXED_RDMA: Mapping[str, Any] = {
    "ack_every": 1,
    NACK_INTERVAL: "500us",
    "timeout": "0s",
    "duplicate_acks": False,
    "cnp_packets": False,
}
HPCC_PFC: Mapping[str, int] = {"reserve": 4096, "resume_offset": 3072}
"""Keys of ``[transport]``, ``[transport.rdma]`` and, in bytes, ``[buffer.pfc]`` that are no keys of HPCC's simulator,
with its values."""

BUFFER: Mapping[str, Any] = {"count_in_service": False}
"""Keys of ``[buffer]`` for switches whose packets leave the buffer as their transmission begins."""
EGRESS = "egress"
DATACENTER_PFC: Mapping[str, Any] = {
    "alpha": 0.125,
    "reserve": "0B",
    "headroom": "hpcc",
    "resume_offset": "2496B",
    "rule": "ns3-datacenter",
    "on_top": True,
}
"""Key of ``[buffer]`` for the egress pool of ns3-datacenter, and its ``[buffer.pfc]``."""

METADATA = "metadata", {"timely": "8B", "theta-powertcp": "42B"}
"""Key for bytes in data and ACKs that a controller does not read here and has there, by controller."""

WINDOWS = {(False, False): "none", (False, True): "none", (True, False): "fixed", (True, True): "rate"}
"""Words of the window by ``HAS_WIN`` and ``VAR_WIN``."""

GO_BACK_N, GO_BACK_CHUNK, SELECTIVE = "go-back-n", "go-back-chunk", "selective"
RAMP = "ecn-ramp"


def share(rate: int, line: int) -> float:
    """Return a rate as a share of the line rate."""
    return float(Decimal(rate) / Decimal(line))


def rate_of(share_: float, line: int) -> int:
    """Return the rate of a share, whole: the opposite of ``share``."""
    return round(Decimal(repr(share_)) * line)
