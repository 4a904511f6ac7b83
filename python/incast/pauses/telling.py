"""Pauses in words: one sentence that says what follows, the tree as lines, and both as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from incast.system.output import counted, escaped
from incast.writing.numbers import duration, percent, quantity, rounded, said

if TYPE_CHECKING:
    from incast.pauses.explained import Explanation
    from incast.pauses.record import Flow, Record
    from incast.pauses.tree import Arrivals, Branch

LEAST = 0.01
"""Least part of a time that is told."""

NAMED = 4
"""Most roots that are named."""


def sentence(record: Record, found: Explanation) -> str:
    """Say what follows: who waited how long, and where it began."""
    who = f"The path of {_whole(record, found)}" if found.flow is not None else f"The port {_whole(record, found)}"
    if found.waited_s <= 0:
        return f"{who} was not paused."
    text = f"{who} was paused for {_s(found.waited_s)} of {_s(found.of_s)}"
    if found.rings:
        return f"{text}; {_ring(record, found.rings[0])}."
    if found.root is None:
        return f"{text}; its pauses wait for one another in a ring."
    passes = ""
    if found.flow is not None:
        passes = ", which it crosses itself" if found.crosses else ", which it does not cross"
    return f"{text}; the pauses began at {_name(record, found.root)}{passes}: {_arrivals(found.arrivals)}."


def lines(record: Record, found: Explanation) -> Iterator[str]:
    """Yield the sentence, the tree and the ports that began it, as lines."""
    yield sentence(record, found)
    if found.branches and found.waited_s > 0:
        yield ""
        yield f"{_whole(record, found)}: {_s(found.waited_s)} of {_s(found.of_s)}"
        for number, branch in enumerate(found.branches):
            more = "for the rest of that " if number and found.flow is not None else ""
            yield f"  {_named(record, branch)}: {more}{_paused(branch, branch.waited_s)}"
            yield from _below(record, branch, "    ")
    yield from _began(record, found)
    for ring in found.rings:
        yield ""
        yield from _told_ring(record, ring)
    if record.stuck and not found.rings:
        yield ""
        yield f"deadlock: {counted(len(record.stuck), 'port')} paused for good, after the last recorded pause"


def _began(record: Record, found: Explanation) -> Iterator[str]:
    """Yield the ports that began it, with their parts and what arrives there."""
    every = [branch for top in found.branches for branch in top.all()]
    ring_s = sum(branch.waited_s for branch in every if branch.is_ring)
    whole = sum(found.roots.values()) + ring_s
    large = {port: root_s / whole for port, root_s in found.roots.items() if root_s >= LEAST * whole}
    if whole <= 0:
        return
    yield ""
    yield "began at"
    if ring_s >= LEAST * whole:
        yield f"  a ring ({said(percent(ring_s / whole))}): ports that wait for one another"
    arrivals = {branch.port: branch.arrivals for branch in every if branch.arrivals}
    for port, share in list(large.items())[:NAMED]:
        yield f"  {_name(record, port)} ({said(percent(share))}): {_arrivals(arrivals.get(port))}"
    if len(large) > NAMED:
        yield f"  and {counted(len(large) - NAMED, 'port')} more"


def _below(record: Record, branch: Branch, indent: str) -> Iterator[str]:
    """Yield why a branch was paused."""
    allows = f"where it allows {size(branch.threshold)}"
    yield f"{indent}{escaped(branch.node)} held up to {size(branch.held)} from it, {allows}, for"
    for below in branch.branches:
        yield f"{indent}  {_named(record, below)} ({said(percent(below.share))}): {_why(below)}"
        if below.pauses and not below.is_ring:
            yield from _below(record, below, f"{indent}    ")
    if branch.left_out:
        yield f"{indent}  {counted(branch.left_out, 'port')} with less than 1 %"


def _why(branch: Branch) -> str:
    if branch.is_ring:
        return "a ring: it stands further up in this tree"
    exceeds = branch.arrivals is None or branch.arrivals.times is None or branch.arrivals.times > 1
    own = "congested by its own arrivals" if exceeds else "busy with its own arrivals"
    if not branch.pauses:
        return f"not paused itself, {own}"
    after_s = branch.passed_s - branch.paused_s
    parts = [
        _paused(branch, branch.paused_s) if branch.paused_s > 0 else "",
        f"sends what had waited for {_s(after_s)}" if after_s >= LEAST * branch.waited_s else "",
        f"{own} for {_s(branch.root_s)}" if branch.root_s >= LEAST * branch.waited_s else "",
    ]
    return "; ".join(part for part in parts if part)


def _paused(branch: Branch, paused_s: float) -> str:
    times = f"{branch.pauses:,} times between {_s(branch.first_s)} and {_s(branch.last_s)}"
    if branch.pauses == 1:
        times = f"once, from {_s(branch.first_s)} to {_s(branch.last_s)}"
    return f"paused by {escaped(branch.node)} for {_s(paused_s)}, {times}"


def _arrivals(arrivals: Arrivals | None) -> str:
    """Say what arrives at a port."""
    if arrivals is None or not arrivals.flows:
        return "no known flow passes it"
    who = f"{counted(arrivals.flows, 'flow')} from {counted(arrivals.hosts, 'host')}"
    if arrivals.times is None:
        return f"{who} {'meet' if arrivals.flows > 1 else 'goes'} there"
    return f"{who}, whose links bring up to {said(rounded(arrivals.times, 2))} times its rate"


def _told_ring(record: Record, ring: Sequence[int]) -> Iterator[str]:
    yield "deadlock, each port waits for the next:"
    for at, (port, beyond) in enumerate(zip(ring, [*ring[1:], ring[0]], strict=True)):
        held = f"{size(record.held_for(port, beyond))} from it wait for {_name(record, beyond)}"
        sign = "┌▸" if at == 0 else "└─" if at == len(ring) - 1 else "│ "
        yield f"  {sign} {_name(record, port)}, paused since {_s(record.stuck[port])}; {held}"


def since(record: Record, ring: Sequence[int]) -> str:
    """Say since when all ports of a ring stand still."""
    return _s(max(record.stuck[port] for port in ring))


def _ring(record: Record, ring: Sequence[int]) -> str:
    names = [_name(record, port) for port in ring]
    listed = f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]
    return f"since {since(record, ring)} {listed} wait for one another in a ring, a deadlock that never ends"


def _whole(record: Record, found: Explanation) -> str:
    """Name the subject of an explanation."""
    if found.flow is not None:
        where = f", {ends(record, found.flow)}" if found.flow.path else ""
        return f"flow {found.flow.number} ({escaped(found.flow.entry)}{where})"
    return _name(record, found.port) if found.port is not None else ""


def ends(record: Record, flow: Flow) -> str:
    """Name the hosts at the ends of a flow, or their ports where names are not told apart."""
    first, last = record.names[flow.path[0]], record.names[flow.path[-1]]
    if first.count(">") == last.count(">") == 1:
        return escaped(f"{first.split('>')[0]} to {last.split('>')[1]}")
    return escaped(f"from {first} to {last}")


def _named(record: Record, branch: Branch) -> str:
    several = len(record.classes.get(branch.port, ())) > 1
    return f"{_name(record, branch.port)}{f', class {branch.class_},' if several else ''}"


def _name(record: Record, port: int) -> str:
    return escaped(record.names[port])


def _s(seconds: float) -> str:
    return said(duration(seconds))


def size(number: float) -> str:
    """Say a number of bytes."""
    return said(quantity(number, "B"))


def as_json(record: Record, found: Explanation) -> str:
    """Return the explanation as JSON."""
    return json.dumps(document(record, found), indent=2) + "\n"


def document(record: Record, found: Explanation) -> dict[str, Any]:
    """Return the explanation as a document of names and numbers."""
    flow = found.flow
    return {
        "sentence": sentence(record, found),
        "flow": None if flow is None else flow.number,
        "port": None if found.port is None else record.names[found.port],
        "path": None if flow is None else [record.names[port] for port in flow.path],
        "paused_s": found.waited_s,
        "of_s": found.of_s,
        "tree": [_document(record, branch) for branch in found.branches],
        "roots": [{"port": record.names[port], "waited_s": root_s} for port, root_s in found.roots.items()],
        "arrivals": _arrivals_document(found.arrivals),
        "crosses_root": found.crosses,
        "deadlocks": [
            [{"port": record.names[port], "since_s": record.stuck[port]} for port in ring] for ring in found.rings
        ],
        "recorded_pauses": record.asked,
        "complete": not record.is_cut,
    }


def _document(record: Record, branch: Branch) -> dict[str, Any]:
    return {
        "port": record.names[branch.port],
        "class": branch.class_,
        "waited_s": branch.waited_s,
        "share": branch.share,
        "pauses": branch.pauses,
        "paused_s": branch.paused_s,
        "passed_s": branch.passed_s,
        "first_s": branch.first_s if branch.pauses else None,
        "last_s": branch.last_s if branch.pauses else None,
        "paused_by": branch.node or None,
        "held_bytes": branch.held if branch.pauses else None,
        "threshold_bytes": branch.threshold if branch.pauses else None,
        "root_s": branch.root_s,
        "ring": branch.is_ring,
        "arrivals": _arrivals_document(branch.arrivals),
        "causes": [_document(record, below) for below in branch.branches],
    }


def _arrivals_document(arrivals: Arrivals | None) -> dict[str, Any] | None:
    if arrivals is None:
        return None
    return {
        "flows": arrivals.flows,
        "hosts": arrivals.hosts,
        "bring_bps": arrivals.bring_bps,
        "times_the_rate": arrivals.times,
    }
