"""Files of HPCC's simulator for a scenario: topology, flows, configuration, and what they cannot say."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any

from incast.interchange import hpcc_flows, hpcc_paths, hpcc_topology, units
from incast.interchange import hpcc_keys as keys
from incast.interchange.dialects import HPCC
from incast.interchange.hpcc_scenario import LINK_DOWN_FROM
from incast.interchange.scenario_network import Described, describe
from incast.interchange.translation import Notes, Translation
from incast.runs.groups import groups
from incast.runs.scenario import Scenario

CONFIG, TOPOLOGY, FLOWS, TRACE = "config.txt", "topology.txt", "flow.txt", "trace.txt"

USUAL: Mapping[str, str] = {
    "ENABLE_QCN": "1", "USE_DYNAMIC_PFC_THRESHOLD": "1", "PACKET_PAYLOAD_SIZE": "1000", "TOPOLOGY_FILE": TOPOLOGY,
    "FLOW_FILE": FLOWS, "TRACE_FILE": TRACE, "TRACE_OUTPUT_FILE": "mix.tr", "FCT_OUTPUT_FILE": "fct.txt",
    "PFC_OUTPUT_FILE": "pfc.txt", "QLEN_MON_FILE": "qlen.txt", "SIMULATOR_STOP_TIME": "4", "CC_MODE": "1",
    "ALPHA_RESUME_INTERVAL": "1", "RATE_DECREASE_INTERVAL": "4", "CLAMP_TARGET_RATE": "0", "RP_TIMER": "300",
    "EWMA_GAIN": "0.00390625", "FAST_RECOVERY_TIMES": "1", "RATE_AI": "40Mb/s", "RATE_HAI": "200Mb/s",
    "MIN_RATE": "1000Mb/s", "DCTCP_RATE_AI": "1000Mb/s", "ERROR_RATE_PER_LINK": "0", "L2_CHUNK_SIZE": "4000",
    "L2_ACK_INTERVAL": "1", "L2_BACK_TO_ZERO": "0", "HAS_WIN": "0", "GLOBAL_T": "1", "VAR_WIN": "0",
    "FAST_REACT": "1", "U_TARGET": "0.95", "MI_THRESH": "0", "INT_MULTI": "1", "MULTI_RATE": "0",
    "SAMPLE_FEEDBACK": "0", "RATE_BOUND": "1", "ACK_HIGH_PRIO": "0", "LINK_DOWN": "0 0 0", "ENABLE_TRACE": "0",
    "KMAX_MAP": "0", "KMIN_MAP": "0", "PMAX_MAP": "0", "BUFFER_SIZE": "32", "QLEN_MON_START": "2000000000",
    "QLEN_MON_END": "2000000000",
}  # fmt: skip
"""Keys in their order, with the values of HPCC's run script where a scenario says nothing."""


def translate(scenario: Scenario) -> Translation:
    """Translate a scenario into the files of HPCC's simulator."""
    notes = Notes()
    own = describe(scenario, notes)
    values = dict(USUAL)
    _run(own, values, notes)
    _control(own, values, notes)
    _transport(own, values, notes)
    _queues(own, values, notes)
    _buffer(own, values, notes)
    _failures(own, values, notes)
    _tell_rest(own, notes)
    if any(flow.size > HPCC.most_bytes for flow in own.flows):
        notes.differ("flows above 4.29 GB have 4294967295 B, the largest that a flow file holds")
    flows = sorted(map(_within, own.flows), key=lambda flow: flow.start)
    if flows != hpcc_paths.with_ways(flows, own.network, HPCC):
        notes.differ("paths: there switches choose by a hash of addresses and ports")
    files = {
        CONFIG: "".join(f"{key} {value}\n" for key, value in values.items()),
        TOPOLOGY: hpcc_topology.written(own.network),
        FLOWS: hpcc_flows.written(flows),
        TRACE: "0\n",
    }
    return Translation(files, notes, f"HPCC: {len(own.network.hosts)} hosts, flows: {len(flows)}")


def _within(flow: hpcc_flows.Flow) -> hpcc_flows.Flow:
    """Return a flow that a flow file can hold."""
    return replace(flow, size=min(flow.size, HPCC.most_bytes))


def _run(own: Described, values: dict[str, str], notes: Notes) -> None:
    run = own.resolved["run"]
    values["SIMULATOR_STOP_TIME"] = units.decimal_text(Decimal(units.time_ns(run["duration"])) / 10**9)
    if any(run.get(key) != value for key, (value, _) in keys.RUN.items()):
        notes.differ("times there are whole ns, and events of one time come in the order in which they were planned")
    first = units.time_ns(run["warmup"])
    values["QLEN_MON_START"] = values["QLEN_MON_END"] = str(first)


def _control(own: Described, values: dict[str, str], notes: Notes) -> None:
    """Write the controller of most flows, and its parameters in absolute numbers."""
    entries = {entry["name"]: entry for _, entry in groups(own.resolved)}
    usual = own.resolved.get("controller", {})
    found: Counter[str] = Counter()
    lines: dict[str, tuple[Mapping[str, Any], int]] = {}
    for flow, name in zip(own.flows, own.entry_of, strict=True):
        controller = entries.get(name, {}).get("controller", usual)
        kind = str(controller.get("kind", "none"))
        found[kind] += 1
        lines.setdefault(kind, (controller, own.network.rate(flow.source)))
    kind = found.most_common(1)[0][0] if found else str(usual.get("kind", "none"))
    controller, line = lines.get(kind, (usual, own.network.rates()[0]))
    if len(found) > 1:
        notes.differ(f"controllers {', '.join(sorted(found))}: all flows have {kind} there")
    modes = {keys.CONTROLLERS[word].kind: mode for mode, word in keys.MODES.items() if mode != 10}
    if kind in ("powertcp", "theta-powertcp"):
        delay = " --delayWien=true" if kind == "theta-powertcp" else ""
        notes.differ(
            f"{kind} runs in ns3-datacenter alone, with --algorithm=3 --wien=true{delay}; HPCC (CC_MODE 3) else"
        )
        values["CC_MODE"] = "3"
    elif kind in modes:
        values["CC_MODE"] = str(modes[kind])
    elif kind == "dctcp":
        notes.differ("dctcp keeps a window; there DCTCP (CC_MODE 8) keeps a rate, and starts at the line's")
        values["CC_MODE"], values["EWMA_GAIN"] = "8", units.decimal_text(Decimal(repr(controller["g"])))
        return
    else:
        notes.differ(f"controller {kind}: none there; DCQCN (CC_MODE 1) stands in its place")
        return
    rules = next(one for one in keys.CONTROLLERS.values() if one.kind == kind)
    if rules.form and controller.get("form") != rules.form:
        notes.differ(f"{kind} of form {controller.get('form')}: there it has the rules of its authors' simulator")
    for one in rules.parameters:
        if one.name in controller:
            values[one.key] = _written(one, controller[one.name], line, values)


def _written(one: keys.Parameter, value: Any, line: int, values: Mapping[str, str]) -> str:
    match one.form:
        case keys.Form.MICROSECONDS:
            return units.decimal_text(Decimal(units.time_ns(value)) / 1000)
        case keys.Form.SHARE:
            return _rate(keys.rate_of(value, line))
        case keys.Form.OF_AI:
            return _rate(round(_bps(values["RATE_AI"]) * Decimal(repr(value))))
        case keys.Form.FLOWS:
            return _rate(round((1 - Decimal(values["U_TARGET"])) * line / Decimal(repr(value))))
        case keys.Form.FLAG:
            return str(int(value))
        case keys.Form.NUMBER:
            return units.decimal_text(Decimal(repr(float(value))))
    return str(value)


def _bps(rate: str) -> Decimal:
    """Read a rate that ``_rate`` has written."""
    found = units.SPLIT.fullmatch(rate)
    return units.exact(found[1]) * units.RATES[found[2]] if found else Decimal(0)


def _rate(bps: int) -> str:
    """Write a rate as their run scripts do."""
    return f"{bps // 10**6}Mb/s" if bps % 10**6 == 0 else f"{bps}bps"


def _transport(own: Described, values: dict[str, str], notes: Notes) -> None:
    transport = _usual_transport(own, notes)
    values["PACKET_PAYLOAD_SIZE"] = str(transport["mss"])
    rdma = transport.get("rdma")
    if rdma is None:
        notes.differ(
            f"transport {transport['preset']}: there packets have 48 B of headers and an ACK each, and lost ones are "
            "repaired by go-back-N without a timeout"
        )
        windowed = values["CC_MODE"] in ("3", "8")
        values["HAS_WIN"] = values["VAR_WIN"] = str(int(windowed))
        return
    if transport["preset"] != HPCC.preset:
        notes.differ(f"transport.preset is {transport['preset']}: there it is as {HPCC.preset}")
    words = {word: flags for flags, word in keys.WINDOWS.items() if flags != (False, True)}
    has, varies = words.get(rdma[keys.WINDOW], (True, True))
    if rdma[keys.WINDOW] not in words:
        notes.differ(f"transport.rdma.window is {rdma[keys.WINDOW]}: there it follows the rate")
    values["HAS_WIN"], values["VAR_WIN"] = str(int(has)), str(int(varies))
    longest = own.network.longest(transport["mss"])
    base = rdma[keys.BASE_RTT]
    values["GLOBAL_T"] = str(int(base != "auto"))
    if base != "auto" and units.time_ns(base) != longest.rtt:
        notes.differ(f"transport.rdma.base_rtt is {base}: there T is {longest.rtt}ns")
    repair = rdma[keys.REPAIR]
    values["L2_BACK_TO_ZERO"] = str(int(repair == keys.GO_BACK_CHUNK))
    if repair == keys.SELECTIVE:
        notes.differ("repair is selective: there it is go-back-n")
    if repair == keys.GO_BACK_CHUNK:
        values["L2_CHUNK_SIZE"] = str(units.size_bytes(rdma[keys.CHUNK], 0))
    values["INT_MULTI"] = str(max(rdma.get(keys.INT_MULTI, 1), 1))
    _tell_fixed(transport, rdma, notes)


def _usual_transport(own: Described, notes: Notes) -> Mapping[str, Any]:
    """Return the transport of most flows."""
    usual: Mapping[str, Any] = own.resolved["transport"]
    entries = {entry["name"]: entry.get("transport", usual) for _, entry in groups(own.resolved)}
    found = Counter(own.entry_of)
    presets = {entries.get(name, usual)["preset"] for name in found}
    chosen = entries.get(found.most_common(1)[0][0], usual) if found else usual
    if len(presets) > 1:
        notes.differ(f"transports {', '.join(sorted(presets))}: all flows have {chosen['preset']} there")
    return chosen


def _tell_fixed(transport: Mapping[str, Any], rdma: Mapping[str, Any], notes: Notes) -> None:
    """Say what has one value there, and another one here."""
    for key, value in keys.FIXED.items():
        if transport.get(key, value) != value:
            notes.differ(f"transport.{key} is {transport[key]}: there it is {value}")
    for key, value in keys.FIXED_RDMA.items():
        if rdma.get(key, value) != value:
            notes.differ(f"transport.rdma.{key} is {_plain(rdma[key])}: there it is {_plain(value)}")
    if rdma.get(keys.METADATA[0], "auto") not in ("auto", *keys.METADATA[1].values()):
        notes.differ(f"transport.rdma.metadata is {rdma[keys.METADATA[0]]}: there it is that of the controller")


def _plain(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _queues(own: Described, values: dict[str, str], notes: Notes) -> None:
    """Write thresholds of marks by the rates of switch ports."""
    transport = _usual_transport(own, notes)
    packet = transport["mss"] + transport.get("header", 48)
    found: dict[int, Counter[tuple[int, int, float]]] = {}
    others = [(_matcher(one["link"]), one["queue"]) for one in own.resolved.get("links", []) if "queue" in one]
    names = {number: name for name, number in own.number.items()}
    for end, other, link in own.network.ports():
        port = f"{names[end]}>{names[other]}"
        queue = next((queue for matches, queue in others if matches.fullmatch(port)), own.resolved["queue"])
        marks = _marks(queue, packet, notes)
        if marks:
            found.setdefault(link.rate, Counter())[marks] += 1
    if not found:
        values["ENABLE_QCN"] = "0"
    for rate, counts in sorted(found.items()):
        if len(counts) > 1:
            notes.differ(f"ports of {units.rate_text(rate)} with several thresholds of marks have the most frequent")
        del rate
    chosen = {rate: counts.most_common(1)[0][0] for rate, counts in sorted(found.items())}
    if any(value % 1000 for mark in chosen.values() for value in mark[:2]):
        notes.differ("thresholds of marks are rounded to 1000 B")
    for key, place in (("KMIN_MAP", 0), ("KMAX_MAP", 1), ("PMAX_MAP", 2)):
        pairs = [
            f"{rate} {units.decimal_text(Decimal(repr(mark[2]))) if place == 2 else round(mark[place] / 1000)}"
            for rate, mark in chosen.items()
        ]
        values[key] = " ".join([str(len(pairs)), *pairs])


def _matcher(pattern: str) -> re.Pattern[str]:
    return re.compile("[^>]*".join(re.escape(part) for part in pattern.split("*")))


def _marks(queue: Mapping[str, Any], packet: int, notes: Notes) -> tuple[int, int, float] | None:
    """Return the thresholds of a queue, and the probability below the upper one."""
    match queue["kind"]:
        case keys.RAMP:
            least, most = (units.size_bytes(queue[key], packet) for key in ("min", "max"))
            return least or 0, most or 0, float(queue["probability"])
        case "ecn-threshold":
            mark = units.size_bytes(queue["mark"], packet)
            notes.differ("ecn-threshold marks arrivals; there packets are marked as they leave, by what stays behind")
            return None if mark is None else (mark, mark, 1.0)
        case "red":
            low, high = (units.size_bytes(queue[key], packet) for key in ("min_th", "max_th"))
            notes.differ("red marks arrivals; there packets are marked as they leave, by what stays behind")
            if low is None or high is None or not queue["use_ecn"]:
                return None
            return low, high, 1 / queue["l_interm"]
        case "drop-tail":
            return None
        case "weighted" | "strict-priority":
            notes.differ(f"queue {queue['kind']}: there is one class, with the marks of the first class that marks")
            return next(filter(None, (_marks(one, packet, notes) for one in queue["classes"])), None)
    notes.differ(f"queue {queue['kind']}: there each port is drop-tail with marks")
    return None


def _buffer(own: Described, values: dict[str, str], notes: Notes) -> None:
    buffer = own.resolved.get("buffer")
    if buffer is None:
        notes.differ(f"no shared buffer: there each switch has one of {values['BUFFER_SIZE']} MiB, with pauses")
        return
    size = units.size_bytes(buffer["size"], 0) or 0
    values["BUFFER_SIZE"] = str(max(round(size / 2**20), 1))
    if size % 2**20:
        notes.differ(f"buffer of {buffer['size']}: there it is {values['BUFFER_SIZE']} MiB")
    if any(buffer.get(key, value) != value for key, value in keys.BUFFER.items()) or keys.EGRESS in buffer:
        notes.differ("packets occupy the buffer there until their transmission begins, and egress has no bound")
    pfc = buffer.get("pfc")
    if pfc is None:
        notes.differ("no priority flow control: there switches pause their neighbours")
    elif pfc["headroom"] != "hpcc" or any(key in pfc for key in ("alpha", "threshold", "rule", "on_top")):
        notes.differ("thresholds and headroom of pauses are HPCC's there")
    for key, usual in keys.HPCC_PFC.items() if pfc else ():
        if units.size_bytes(pfc[key], 0) != usual:
            notes.differ(f"buffer.pfc.{key} is {pfc[key]}: there it is {usual}B")


def _failures(own: Described, values: dict[str, str], notes: Notes) -> None:
    failures = own.resolved.get("failures", [])
    for place, one in enumerate(failures):
        ends = one.get("link", "").partition("#")[0].split(">")
        after = units.time_ns(one["at"]) - LINK_DOWN_FROM
        plain = one["kind"] == "down" and "until" not in one and len(ends) == 2
        if place == 0 and plain and after >= 1000 and all(end in own.number for end in ends):
            values["LINK_DOWN"] = f"{after // 1000} {own.number[ends[0]]} {own.number[ends[1]]}"
        else:
            notes.differ("failures: there one link goes for good, 1 us after 2 s or later")


def _tell_rest(own: Described, notes: Notes) -> None:
    resolved = own.resolved
    if resolved["routing"]["kind"] != "ecmp":
        notes.differ(f"routing.kind is {resolved['routing']['kind']}: there it is ecmp")
    for key, words in (("hosts", "processing times of hosts"), ("program", "programs of switches and hosts")):
        if resolved.get(key):
            notes.differ(f"{words}: none there")
