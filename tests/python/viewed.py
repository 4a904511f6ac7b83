"""Made-up run folders with a timeline, for tests of the viewer: a fat tree, queues by a formula."""

from __future__ import annotations

import json
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from incast.view import page

SHELL = (
    "<!doctype html><meta content=\"default-src 'none'; script-src 'unsafe-inline'\"><body><!--incast-runs--></body>"
)


def stand_in() -> None:
    """Stand in for the viewer where it is not built, as on a machine without Node.js."""
    if not Path(page.__file__).with_name(page.VIEWER).is_file():
        page.viewer = lambda: SHELL


FRAME_S = 1e-5
TRACED = 2
"""Flow whose packets are in the trace, where there are flows."""
SEGMENT = 1000
DROPPED, LOST, MARKED, AGAIN = 7, 12, (4, 9, 14), 20
"""Of its 30 packets of data: which do not arrive, which are marked, and which is the first dropped sent again."""
MANIFEST = {"format": 1, "hash": "0", "seed": 1, "engine": "0", "cost": {"wall_s": 1, "cpu_s": 1, "hops_per_cpu_s": 1}}


def fat_tree(k: int) -> tuple[list[dict[str, Any]], list[tuple[int, int]]]:
    """Nodes and links of a fat tree of ``k`` pods."""
    half = k // 2
    nodes = [{"name": f"h{i}", "kind": "host", "tier": 0, "pod": i // (half * half)} for i in range(k * half * half)]
    edge = len(nodes)
    nodes += [{"name": f"e{i}", "kind": "switch", "tier": 1, "pod": i // half} for i in range(k * half)]
    above = len(nodes)
    nodes += [{"name": f"a{i}", "kind": "switch", "tier": 2, "pod": i // half} for i in range(k * half)]
    core = len(nodes)
    nodes += [{"name": f"c{i}", "kind": "switch", "tier": 3, "pod": None} for i in range(half * half)]
    links = [(host, edge + host // half) for host in range(edge)]
    links += [(edge + p * half + e, above + p * half + a) for p in range(k) for e in range(half) for a in range(half)]
    links += [(above + p * half + a, core + a * half + c) for p in range(k) for a in range(half) for c in range(half)]
    return nodes, [way for one, two in links for way in ((one, two), (two, one))]


def write(
    folder: Path,
    *,
    k: int = 4,
    frames: int = 200,
    flows: int = 40,
    share: float = 0.3,
    seed: int = 7,
    names: dict[int, str] | None = None,
    least: bool = False,
) -> Path:
    """Write a folder; ``names`` replaces names of nodes, ``least`` leaves out all that may be missing."""  # fmt: skip
    draw = np.random.default_rng(seed)
    nodes, links = fat_tree(k)
    for node, name in (names or {}).items():
        nodes[node]["name"] = name
    told = [f"{nodes[one]['name']}>{nodes[two]['name']}" for one, two in links]
    folder.mkdir(parents=True)
    (folder / "manifest.json").write_text(json.dumps(MANIFEST))
    timeline: dict[str, Any] = {"version": 1, "frame_s": FRAME_S, "frames": frames, "start_s": 0}
    timeline |= {"end_s": frames * FRAME_S}
    timeline |= {"nodes": nodes, "ports": [{"from": one, "to": two} for one, two in links]}
    (folder / "timeline.json").write_text(json.dumps(timeline))
    put(folder, "ports", {"port": told, "rate_bps": [1e10] * len(links)})
    busy = draw.random((frames, len(links))) < share
    frame, port = np.nonzero(busy)
    wave = 1 + np.sin(frame / 17 + port / 5)
    queue = (wave**4 * 9000 * draw.random(len(frame))).astype(np.uint64)
    put(
        folder,
        "timeline_ports",
        {
            "frame": frame.astype(np.uint32),
            "port": port.astype(np.uint32),
            "queue_max_bytes": queue,
            "queue_mean_bytes": queue * draw.random(len(frame)),
            "busy": np.minimum(1, wave / 2),
            "marks": (queue // 30000).astype(np.uint32),
            "drops": (queue > 120_000).astype(np.uint32),
            "pauses": np.zeros(len(frame), np.uint32),
            "paused": np.zeros(len(frame)),
        },
    )
    if not least:
        hosts = sum(node["kind"] == "host" for node in nodes)
        _flows(folder, draw, frames, flows, links, hosts)
        put(folder, "trace", trace([nodes[i]["name"] for i in (0, 1, hosts)]))
    return folder


def _flows(folder: Path, draw: Any, frames: int, flows: int, links: list[tuple[int, int]], hosts: int) -> None:
    src = draw.integers(0, hosts, flows)
    dst = (src + draw.integers(1, hosts, flows)) % hosts
    # the traced flow is between neighbours
    src[TRACED : TRACED + 1], dst[TRACED : TRACED + 1] = 0, 1
    fct = draw.exponential(3e-4, flows)
    own: dict[str, Any] = {"flow": np.arange(flows, dtype=np.uint32), "group": ["a", "b"] * (flows // 2)}
    own |= {"controller": ["dctcp"] * flows, "src": src.astype(np.uint32), "dst": dst.astype(np.uint32)}
    own |= {"start_s": draw.random(flows) * 1e-3, "fct_s": [None, *fct[1:].tolist()]}
    own |= {"slowdown": [None, *(fct[1:] / 1e-4).tolist()], "retransmissions": draw.integers(0, 9, flows, np.uint64)}
    put(folder, "flows", own)
    frame = np.repeat(np.arange(frames, dtype=np.uint32), flows)
    flow = np.tile(np.arange(flows, dtype=np.uint32), frames)
    over: dict[str, Any] = {"frame": frame, "flow": flow}
    over |= {"delivered_bytes": draw.integers(0, 12500, len(frame), np.uint64)}
    over |= {"cwnd_bytes": 1e4 + 5e3 * np.sin(frame / 9.0 + flow), "state": np.ones(len(frame), np.uint8)}
    put(folder, "timeline_flows", over)
    events = [
        (2.5e-4, "timeout", min(3, flows - 1), "flow"),
        (7.5e-4, "failure", 5, "port"),
        (0.0, "flow-start", 0, "flow"),
    ]
    put(
        folder,
        "timeline_events",
        dict(zip(("time_s", "kind", "subject", "what"), zip(*events, strict=True), strict=True)),
    )
    out = {one: port for port, (one, _) in enumerate(links) if one < hosts}
    down = {two: port for port, (_, two) in enumerate(links) if two < hosts}
    ports = [(flow, at, port) for flow in range(flows) for at, port in enumerate((out[src[flow]], down[dst[flow]]))]
    columns = dict(zip(("flow", "position", "port"), zip(*ports, strict=True), strict=True))
    whole = {name: pa.array(values, pa.uint32()) for name, values in columns.items()}
    put(folder, "timeline_paths", whole | {"sprayed": [False] * len(ports)})
    at = np.arange(0, frames * FRAME_S, 4e-6)
    samples: dict[str, Any] = {"entity": ["flow 1"] * len(at) * 2}
    samples |= {"name": ["cwnd_bytes"] * len(at) + ["rtt_s"] * len(at), "time_s": [*at, *at]}
    samples |= {"value": [*(2e4 + 1e4 * np.sin(at * 9e3)), *(5e-5 + 2e-5 * np.cos(at * 9e3))]}
    put(folder, "samples", samples)


def trace(names: list[str]) -> dict[str, list[Any]]:
    """Packets of a flow from the first node to the second over the switch that is named third, event by event."""
    one, two, switch = names
    lines: list[tuple[float, str, str, int, int, int, str]] = []
    for i in range(30):
        at = 1e-4 + i * 2e-5
        seq = (DROPPED if i == AGAIN else i) * SEGMENT
        data = (seq, 0, SEGMENT)
        lines += [(at, one, "send", *data, "ECT"), (at, f"{one}>{switch}", "enqueue", *data, "ECT")]
        if i == LOST:
            lines.append((at + 2e-6, f"{one}>{switch}", "loss", *data, "ECT"))
            continue
        lines.append((at + 3e-6, switch, "arrive", *data, "ECT"))
        if i == DROPPED:
            lines.append((at + 3e-6, f"{switch}>{two}", "drop", *data, "ECT"))
            continue
        flags = "ECT|CE" if i in MARKED else "ECT"
        lines.append((at + 3e-6, f"{switch}>{two}", "mark" if i in MARKED else "enqueue", *data, flags))
        lines += [(at + 6e-6, two, event, *data, flags) for event in ("arrive", "receive")]
        echo = "ACK|ECE" if i in MARKED else "ACK"
        # all up to the drop, and none beyond, is acknowledged until it is sent again
        own = (0, (min(i + 1, DROPPED) if i < AGAIN else i + 1) * SEGMENT, 0)
        lines += [(at + 6e-6, two, "send", *own, echo), (at + 6e-6, f"{two}>{switch}", "enqueue", *own, echo)]
        lines += [(at + 9e-6, switch, "arrive", *own, echo), (at + 9e-6, f"{switch}>{one}", "enqueue", *own, echo)]
        lines += [(at + 12e-6, one, event, *own, echo) for event in ("arrive", "receive")]
    lines.sort(key=lambda line: line[0])
    head = ("time_s", "place", "event", "seq", "ack", "payload_bytes", "flags")
    return {"flow": [TRACED] * len(lines)} | {name: [line[i] for line in lines] for i, name in enumerate(head)}


def unpacked(part: bytes) -> np.ndarray[Any, Any]:
    """Unpack a column as the browser does."""
    return _values(*_told(part))[0]


def texts(part: bytes) -> list[str]:
    """Unpack a column of texts."""
    head, data = _told(part)
    places, rest = _values(head, data)
    assert len(rest) == head["texts"]
    words = json.loads(rest)
    return [words[place] for place in places]


def _told(part: bytes) -> tuple[dict[str, Any], bytes]:
    raw = zlib.decompress(part)
    until = 4 + int.from_bytes(raw[:4], "little")
    return json.loads(raw[4:until]), raw[until:]


def _values(head: dict[str, Any], data: bytes) -> tuple[np.ndarray[Any, Any], bytes]:
    kind = np.dtype(f"<{head['kind'][0]}{int(head['kind'][1:]) // 8}")
    size = kind.itemsize * head["length"]
    planes = np.frombuffer(data[:size], np.uint8).reshape(kind.itemsize, head["length"])
    values, rest = np.ascontiguousarray(planes.T).view(kind).ravel(), data[size:]
    if head.get("differences"):
        values = np.cumsum(values, dtype=kind)
    if "of" in head:
        chosen, rest = _values(head["of"], rest)
        values = chosen[values]
    return values, rest


def put(folder: Path, name: str, columns: dict[str, Any]) -> None:
    """Write a table."""
    pq.write_table(pa.table(columns), folder / f"{name}.parquet")
