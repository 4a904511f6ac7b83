"""Dialects of HPCC's simulator: what their files have in common, and where they differ."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from incast.errors import ScenarioError


@dataclass(frozen=True)
class Dialect:
    """A simulator of HPCC's family."""

    name: str
    """Word of ``--dialect``."""
    title: str
    header: Sequence[str]
    """Words of the first line of a topology file."""
    has_port: bool
    """True if a flow has a destination port."""
    most_bytes: int
    """Largest flow that its reader holds."""
    preset: str
    """Preset of the transport here."""
    int_rates: Sequence[int]
    """Rates that its telemetry knows, Gb/s."""


_HEADER = ("nodes", "switches", "links")
_INT = (25, 50, 100, 200, 400)
HPCC = Dialect("hpcc", "HPCC", _HEADER, True, 2**32 - 1, "rdma-hpcc", _INT)
DATACENTER = Dialect(
    "ns3-datacenter", "ns3-datacenter", ("nodes", "switches", "tors", "links"), True, 2**63 - 1,
    "rdma-ns3-datacenter", (*_INT, 40),
)  # fmt: skip
CONWEAVE = Dialect("conweave", "ConWeave", _HEADER, False, 2**32 - 1, "rdma", _INT)
SIMAI = Dialect(
    "simai", "SimAI", ("nodes", "gpus per server", "nvswitches", "switches", "links", "gpu type"), True, 2**63 - 1,
    "rdma", _INT,
)  # fmt: skip

DIALECTS = {one.name: one for one in (HPCC, DATACENTER, CONWEAVE, SIMAI)}

CONWEAVE_KEYS = ("FLOWGEN_START_TIME", "FLOWGEN_STOP_TIME", "LB_MODE", "ENABLE_PFC", "ENABLE_IRN", "FLOW_INPUT_FILE")
"""Keys by which a configuration of ConWeave is known: its topology has HPCC's header."""

CONWEAVE_FLOW = ("source", "destination", "priority group", "bytes", "start")
"""Words of a flow of ConWeave, by which its flow files are known too."""


def named(word: str) -> Dialect:
    """Return the dialect of ``--dialect``."""
    if word not in DIALECTS:
        raise ScenarioError(f'--dialect "{word}": expected one of {", ".join(DIALECTS)}')
    return DIALECTS[word]


def of(header: Sequence[str], keys: Collection[str], name: str) -> Dialect:
    """Return the dialect of a topology's first line, and of the keys of its configuration."""
    match len(header):
        case 3:
            return CONWEAVE if any(key in keys for key in CONWEAVE_KEYS) else HPCC
        case 4:
            return DATACENTER
        case 6 | 7:
            return SIMAI
    raise ScenarioError(
        f"{name}, line 1: {len(header)} words; expected 3 (HPCC, ConWeave: nodes, switches, links), 4 "
        "(ns3-datacenter: and ToR switches) or 6 (SimAI); --dialect NAME says which"
    )
