"""Packets of traced flows, from a run folder."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from incast.errors import FolderError

if TYPE_CHECKING:
    from incast.runs.result import Result

HOW = "make one with incast run SCENARIO --set measure.trace=[0] --out DIR"


@dataclass(frozen=True)
class Traced:
    """A traced flow: its end hosts, and the lines of its packets in order of time."""

    flow: int
    src: int
    dst: int
    sender: str
    """Sending host, as in the column ``place``."""
    receiver: str | None
    """Receiving host; ``None`` if no packet of the flow arrived."""
    lines: list[dict[str, Any]]


def traced_flows(result: Result, flows: list[int]) -> list[Traced]:
    """Read the traced flows, those of ``flows`` or all; raises ``FolderError`` for a flow that is not traced."""
    ends = {row["flow"]: row for row in result.flows.select(["flow", "src", "dst"]).to_pylist()}
    lines: dict[int, list[dict[str, Any]]] = {}
    for line in result.trace.to_pylist():
        lines.setdefault(line["flow"], []).append(line)
    if not lines:
        raise FolderError(f"the run has no packet trace: {HOW}")
    for flow in flows:
        if flow not in lines:
            known = ", ".join(str(one) for one in sorted(lines)[:20])
            raise FolderError(f"flow {flow} is not traced: expected one of {known}")
    return [_traced(ends[flow], lines[flow]) for flow in (sorted(set(flows)) or sorted(lines))]


def _traced(ends: dict[str, Any], lines: list[dict[str, Any]]) -> Traced:
    # the first sender opens the flow, and only data has payload
    sender = next(line["place"] for line in lines if line["event"] == "send")
    receiver = next(
        (line["place"] for line in lines if line["event"] == "receive" and line["payload_bytes"] > 0),
        next((line["place"] for line in lines if line["event"] == "send" and line["place"] != sender), None),
    )
    return Traced(ends["flow"], ends["src"], ends["dst"], sender, receiver, lines)
