"""Scenario in words: the fabric, links, queues, transport, traffic and interval that it simulates."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Table = Mapping[str, Any]

_UNITS = {"us": "µs", "p": "packets", "bps": "b/s", "kbps": "kb/s", "Mbps": "Mb/s", "Gbps": "Gb/s", "Tbps": "Tb/s"}
"""Units of scenarios that are written otherwise for a reader."""
_BPS = {"bps": 1.0, "kbps": 1e3, "Mbps": 1e6, "Gbps": 1e9, "Tbps": 1e12}

MOST_ENTRIES = 4
"""Most traffic entries, and most failures, that are described one by one."""


@dataclass(frozen=True)
class Tier:
    """Nodes of one kind in a fabric, lowest tier first."""

    name: str
    count: int
    link: str = ""
    """Links to the tier above: rate and delay; empty without any."""
    groups: int = 1
    """Parts of this tier that are linked only to their own part of the tier above."""
    across: bool = False
    """True if node i belongs to part i modulo ``groups``; otherwise parts are neighbours."""


@dataclass(frozen=True)
class Described:
    """A scenario in words."""

    name: str
    description: str
    """The scenario's own; may be empty."""
    rows: tuple[tuple[str, str], ...]
    """Terms and texts, such as ``("Links", "10 Gb/s, 1 µs")``, in reading order."""
    tiers: tuple[Tier, ...] = ()
    """Tiers for a drawing; empty for a graph or a cell."""


def described(resolved: Table) -> Described:
    """Describe a resolved scenario (``Scenario.resolved()``, or the parsed TOML of a run); reads no file."""
    topology = resolved["topology"]
    fabric, tiers = _fabric(topology)
    rows = [
        ("Fabric", fabric),
        ("Links", _links(tiers) if tiers else ""),
        ("Queues", _queues(resolved)),
        ("Routing", _routing(resolved)),
        ("Transport", _transport(resolved.get("transport", {}))),
        ("Controller", _controller(resolved.get("controller", {}))),
        *_traffic(resolved.get("traffic", [])),
        *_jobs(resolved.get("job", [])),
        ("Failures", _failures(resolved.get("failures", []))),
        ("Run", _run(resolved["run"])),
    ]
    own = tuple((term, text) for term, text in rows if text)
    return Described(str(resolved.get("name", "")), str(resolved.get("description", "")), own, tiers)


def spoken(value: object) -> str:
    """Write a value of a scenario for a reader: ``10Gbps`` as 10 Gb/s, ``65p`` as 65 packets."""
    text = str(value)
    found = re.fullmatch(r"(-?[0-9.]+(?:e-?[0-9]+)?)\s*([A-Za-z%]+)", text)
    if found is None:
        return text
    unit = _UNITS.get(found[2], found[2])
    number = f"{int(found[1]):,}" if found[1].isdigit() else found[1]
    return f"{number}\N{NO-BREAK SPACE}{unit.removesuffix('s') if (unit, found[1]) == ('packets', '1') else unit}"


def _fabric(topology: Table) -> tuple[str, tuple[Tier, ...]]:
    """Return the fabric in one phrase, and its tiers."""
    kind = topology["kind"]
    make = _FABRICS.get(kind)
    if make is not None:
        return make(topology)
    if kind == "cell":
        cells, stations, servers = (int(topology.get(key, 0)) for key in ("cells", "sources", "servers"))
        beside = f" and {_many(servers, 'server')}" if servers else ""
        return f"{_many(cells, 'radio cell')} of IEEE 802.15.4 with {_many(stations, 'station')}{beside}", ()
    return f"Graph of {topology['file']}" if "file" in topology else "Graph", ()


def _fat_tree(t: Table) -> tuple[str, tuple[Tier, ...]]:
    k, base = int(t["k"]), t["link"]
    links = [_link(base | t.get(f"{part}_link", {})) for part in ("host", "edge", "core")]
    tiers = (
        Tier("hosts", k**3 // 4, links[0], k * k // 2),
        Tier("edge switches", k * k // 2, links[1], k),
        Tier("aggregation switches", k * k // 2, links[2], k // 2, across=True),
        Tier("core switches", k * k // 4),
    )
    return f"Fat tree, k = {k}: {_counts(tiers)}", tiers


def _leaf_spine(t: Table) -> tuple[str, tuple[Tier, ...]]:
    leaves, spines, each = (int(t[key]) for key in ("leaves", "spines", "hosts_per_leaf"))
    base, up = t["link"], t["link"] | t.get("spine_link", {})
    over = t.get("oversubscription")
    if over is not None and (rate := _bps(base["rate"])) is not None:
        up = up | {"rate": _rate(each * rate / (spines * float(over)))}
    tiers = (
        Tier("hosts", leaves * each, _link(base), leaves),
        Tier("leaf switches", leaves, _link(up)),
        Tier("spine switches", spines),
    )
    beside = "" if over in (None, 1, 1.0) else f"; oversubscription {float(over):g}:1"
    return f"Leaf-spine: {_counts(tiers)}{beside}", tiers


def _rail_optimised(t: Table) -> tuple[str, tuple[Tier, ...]]:
    servers, gpus, spines, planes = (int(t.get(key, 1)) for key in ("servers", "gpus", "spines", "planes"))
    leaves = -(-servers // int(t.get("servers_per_segment", servers))) * gpus
    base = _of_plane(t["link"], planes)
    tiers = (
        Tier("NICs", planes * servers * gpus, _link(base), planes * leaves),
        Tier("leaf switches", planes * leaves, _link(base | t.get("spine_link", {})), planes),
        Tier("spine switches", planes * spines),
    )
    return (
        f"Rail-optimised: {_many(servers, 'server')} of {_many(gpus, 'GPU')}, {_counts(tiers)}{_beside(planes)}",
        tiers,
    )


def _rail_only(t: Table) -> tuple[str, tuple[Tier, ...]]:
    servers, gpus, planes = (int(t.get(key, 1)) for key in ("servers", "gpus", "planes"))
    tiers = (
        Tier("NICs", planes * servers * gpus, _link(_of_plane(t["link"], planes)), planes * gpus),
        Tier("rail switches", planes * gpus),
    )
    return f"Rail-only: {_many(servers, 'server')} of {_many(gpus, 'GPU')}, {_counts(tiers)}{_beside(planes)}", tiers


def _of_plane(link: Table, planes: int) -> Table:
    """Return the link of a NIC in one plane: an equal part of its rate."""
    rate = _bps(link["rate"])
    return link if rate is None or planes == 1 else {**link, "rate": _rate(rate / planes)}


def _beside(planes: int) -> str:
    return f", in {planes} planes" if planes > 1 else ""


def _three_tier(t: Table) -> tuple[str, tuple[Tier, ...]]:
    base = {"rate": "10Gbps", "delay": "20us"} | t.get("link", {})
    server = base | {"rate": "1Gbps"} | t.get("server_link", {})
    racks, middle = int(t["racks"]), int(t["aggregations"])
    tiers = (
        Tier("servers", racks * int(t["servers_per_rack"]), _link(server), racks),
        Tier("rack switches", racks, _link(base | t.get("rack_link", {})), middle),
        Tier("aggregation switches", middle, _link(base | t.get("core_link", {}))),
        Tier("core switches", int(t["cores"])),
    )
    return f"Three-tier tree: {_counts(tiers)}", tiers


def _dumbbell(t: Table) -> tuple[str, tuple[Tier, ...]]:
    access = _link(t["access_link"])
    tiers = (
        Tier("senders", int(t["senders"]), access),
        Tier("switch", 1, _link(t["bottleneck_link"])),
        Tier("switch", 1, access),
        Tier("receivers", int(t["receivers"])),
    )
    return f"Dumbbell: {_counts((tiers[0], tiers[3]))} at the ends of one link", tiers


def _star(t: Table) -> tuple[str, tuple[Tier, ...]]:
    tiers = (
        Tier("sources", int(t["sources"]), _link(t["source_link"])),
        Tier("switch", 1, _link(t["sink_link"])),
        Tier("sink", 1),
    )
    return f"Star: {_counts(tiers[:1])} and one sink at a switch", tiers


_FABRICS = {
    "fat-tree": _fat_tree,
    "leaf-spine": _leaf_spine,
    "rail-optimised": _rail_optimised,
    "rail-only": _rail_only,
    "three-tier": _three_tier,
    "dumbbell": _dumbbell,
    "star": _star,
}


def _many(count: int, one: str) -> str:
    return f"{count:,} {one}" if count == 1 else f"{count:,} {one}s"


def _counts(tiers: Sequence[Tier]) -> str:
    words = [f"{tier.count:,} {_one(tier.name) if tier.count == 1 else tier.name}" for tier in tiers]
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else words[0]


def _one(name: str) -> str:
    return name.removesuffix("es") if name.endswith("switches") else name.removesuffix("s")


def _link(link: Table) -> str:
    rate = "no serialization time" if link["rate"] == "inf" else spoken(link["rate"])
    loss = f", loses {100 * float(link['error_rate']):g} % of {link['error_unit']}s" if link.get("error_rate") else ""
    back = f" and {spoken(link['back_delay'])} back" if "back_delay" in link else ""
    return f"{rate}, {spoken(link['delay'])}{back}{loss}"


def _links(tiers: Sequence[Tier]) -> str:
    """Describe the links of a fabric, those that are alike together."""
    parts: dict[str, list[str]] = {}
    for below, above in itertools.pairwise(tiers):
        if below.link:
            ends = " to ".join(_one(tier.name).removesuffix(" switch") for tier in (below, above))
            parts.setdefault(below.link, []).append(ends)
    if len(parts) == 1:
        return next(iter(parts))
    return "; ".join(f"{link} ({' and '.join(dict.fromkeys(ends))})" for link, ends in parts.items())


def _bps(rate: str) -> float | None:
    found = re.fullmatch(r"([0-9.]+(?:e-?[0-9]+)?)\s*([kMGT]?bps)", str(rate))
    return None if found is None else float(found[1]) * _BPS[found[2]]


def _rate(bps: float) -> str:
    unit = next((unit for unit, size in reversed(_BPS.items()) if bps >= size), "bps")
    return f"{bps / _BPS[unit]:g}{unit}"


_QUEUES = {
    "drop-tail": "Drop tail",
    "ecn-threshold": "ECN threshold",
    "red": "RED",
    "pfabric": "pFabric",
    "pias": "PIAS",
}


def _queues(resolved: Table) -> str:
    queue = resolved.get("queue", {})
    kind = str(queue.get("kind", ""))
    parts = [_QUEUES.get(kind, kind.replace("-", " ").capitalize())]
    if "mark" in queue:
        parts.append(f"marks from {spoken(queue['mark'])} on")
    if "limit" in queue:
        limit = queue["limit"]
        parts.append("no limit" if limit == "none" else f"at most {spoken(limit)} a port")
    if "buffer" in resolved:
        parts.append("buffer shared by the ports of a switch")
    return ", ".join(filter(None, parts))


def _routing(resolved: Table) -> str:
    kind = str(resolved.get("routing", {}).get("kind", ""))
    several = resolved["topology"]["kind"] in ("fat-tree", "leaf-spine", "rail-optimised", "three-tier", "graph")
    return {"ecmp": "ECMP", "spray": "Spraying"}.get(kind, kind.replace("-", " ").capitalize()) if several else ""


def timeout_of(transport: Table) -> tuple[str, str]:
    """Return key and value of the shortest time after which a transport repeats lost packets by itself."""
    rdma = transport.get("rdma") if str(transport.get("preset")).startswith("rdma") else None
    if isinstance(rdma, Mapping) and "timeout" in rdma:
        return "rdma.timeout", str(rdma["timeout"])
    return "rto_min", str(transport["rto_min"])


def _transport(transport: Table) -> str:
    parts = [str(transport.get("preset", ""))]
    if "mss" in transport:
        parts.append(f"segments of {transport['mss']}\N{NO-BREAK SPACE}B")
    if "rto_min" in transport:
        _, least = timeout_of(transport)
        some = f"retransmission timeout at least {spoken(least)}"
        parts.append("no retransmission timeout" if least == "0s" else some)
    return ", ".join(filter(None, parts))


def _controller(controller: Table) -> str:
    kind, form = str(controller.get("kind", "")), str(controller.get("form", ""))
    return f"{kind}, form {form}" if kind and form else kind


_PATTERNS = {
    "hotspot": "to one host",
    "random-hotspot": "to one random host",
    "random-pairs": "between random pairs of hosts",
    "permutation": "in a random permutation of the hosts",
    "incast": "to one host at once",
    "partition-aggregate": "from workers to their roots",
    "pairs": "between pairs of hosts",
    "file": "listed in a file",
    "poisson": "between random hosts",
    "all-to-all": "from all hosts to all",
    "ring-allreduce": "around a ring of hosts",
}


def _traffic(entries: Sequence[Table]) -> list[tuple[str, str]]:
    """Return a row for each traffic entry; its name is told if there are several."""
    if len(entries) == 1:
        return [("Traffic", _entry(entries[0]))]
    rows = [(f"Traffic {entry['name']}", _entry(entry)) for entry in entries[:MOST_ENTRIES]]
    more = len(entries) - MOST_ENTRIES
    return [*rows, ("Traffic", f"{more} more entries")] if more > 0 else rows


def _jobs(jobs: Sequence[Table]) -> list[tuple[str, str]]:
    """Return a row for each job; its name is told if there are several."""
    rows = [("Job" if len(jobs) == 1 else f"Job {job['name']}", _job(job)) for job in jobs[:MOST_ENTRIES]]
    more = len(jobs) - MOST_ENTRIES
    return [*rows, ("Jobs", f"{more} more")] if more > 0 else rows


def _job(job: Table) -> str:
    """Describe the tasks and the ranks of a job."""
    collective = job.get("collective")
    if collective is None:
        parts = [f"tasks of {job.get('workload', '')}"]
    else:
        ranks = f" of {_many(int(collective['ranks']), 'rank')}" if "ranks" in collective else ""
        parts = [f"{collective['kind']}{ranks}, {spoken(collective['size'])}", str(collective.get("algorithm", ""))]
    parts += [
        _many(int(job.get("iterations", 1)), "iteration"),
        "" if "hosts" in job else str(job.get("placement", "")),
    ]
    if job.get("start", "0s") not in ("0s", "0ms", "0us"):
        parts.append(f"from {spoken(job['start'])}")
    return ", ".join(filter(None, parts))


def _entry(entry: Table) -> str:
    """Describe the flows of a traffic entry."""
    app, arrivals = entry.get("app", {}), entry.get("arrivals", {})
    flows = f"{_many(int(entry['flows']), 'flow')}" if "flows" in entry else "Flows"
    pattern = str(entry["pattern"])
    parts = [f"{flows} {_PATTERNS.get(pattern, f'of pattern {pattern}')}", _app(app, bool(arrivals))]
    if "sizes" in arrivals:
        sizes = str(arrivals["sizes"]).removeprefix("builtin:")
        until = f" until {spoken(arrivals['until'])}" if "until" in arrivals else ""
        parts.append(f"Poisson arrivals{until}, sizes of {sizes}")
        parts += [f"load {arrivals['load']}"] if "load" in arrivals else []
    if "file" in entry:
        parts.append(str(entry["file"]))
    if entry.get("start", "0s") not in ("0s", "0ms", "0us"):
        parts.append(f"from {spoken(entry['start'])}")
    return ", ".join(filter(None, parts))


def _app(app: Table, arrives: bool) -> str:
    """Describe an application: what a flow sends."""
    kind = app.get("kind", "bulk")
    if kind == "bulk":
        return f"{spoken(app['size'])} each" if "size" in app else "" if arrives else "without end"
    if kind == "on-off":
        return f"on-off at {spoken(app['rate'])}: {spoken(app['on'])} on, {spoken(app['off'])} off"
    if kind == "query":
        whole = f"{spoken(app['total'])} together" if "total" in app else f"{spoken(app.get('response', ''))} each"
        return f"queries answered with {whole}"
    if kind == "closed-loop":
        return f"writes of {spoken(app.get('write', ''))}, one after the other"
    what = {"udp": "datagrams", "cbr": "constant rate"}.get(str(kind), str(kind))
    rate = str(app.get("rate", ""))
    return f"{what} at {f'{rate[:-1]} % of the link' if rate.endswith('%') else spoken(rate)}" if rate else what


def _failures(failures: Sequence[Table]) -> str:
    """Describe failures by their own values, or count them if there are many."""
    if len(failures) > MOST_ENTRIES:
        return f"{len(failures)} failures"
    return "; ".join(
        ", ".join(f"{key.replace('_', ' ')} {spoken(value)}" for key, value in failure.items()) for failure in failures
    )


def _run(run: Table) -> str:
    parts = [spoken(run["duration"])]
    if str(run.get("warmup", "0s")) not in ("0s", "0ms", "0us"):
        parts.append(f"measured from {spoken(run['warmup'])} on")
    if run.get("until") == "finished":
        parts.append("ends when all flows have finished")
    return ", ".join(parts)
