"""Scenario of a configuration of HPCC's simulator or a dialect: its text, its files, and what differs."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from incast.errors import ScenarioError
from incast.interchange import hpcc_flows, hpcc_paths, hpcc_topology, network, toml_text, units
from incast.interchange import hpcc_keys as keys
from incast.interchange.dialects import CONWEAVE, CONWEAVE_FLOW, DATACENTER, HPCC, SIMAI, Dialect, named, of
from incast.interchange.hpcc_config import Config
from incast.interchange.hpcc_flows import Flow
from incast.interchange.hpcc_ports import Marks, marks_of, port_tables
from incast.interchange.network import Longest, Network
from incast.interchange.toml_text import Table
from incast.interchange.translation import FABRIC, SCENARIO, Notes, Translation
from incast.interchange.words import Words, shown
from incast.system.output import counted

LINK_DOWN_FROM = 2 * 10**9
"""ns at which the clock of ``LINK_DOWN`` begins, but for ConWeave."""
ROUTING = {
    0: ("ecmp", ""),
    2: ("power-of-two", "DRILL"),
    3: ("ecmp", "CONGA"),
    6: ("flowlet", ""),
    9: ("ecmp", "ConWeave"),
}
"""Routing of ``LB_MODE``, and the scheme that it is not."""
RESERVE = 4096
"""Bytes that HPCC's switches reserve for a port."""
EXTRA_S = 10
"""Seconds that ConWeave simulates at most after the last flow."""

IDLE = (
    "PAUSE_TIME", "FAST_REACT", "SAMPLE_FEEDBACK", "MULTI_RATE", "PINT_LOG_BASE", "PINT_PROB", "INT_MULTI",
    "L2_CHUNK_SIZE", "ACK_HIGH_PRIO", "LINK_DOWN", "DATA_RATE", "LINK_DELAY",
)  # fmt: skip
"""Keys that change nothing there either, unless a translation has used them."""


@dataclass
class Source:
    """Content of the files of a simulation."""

    config: Config
    dialect: Dialect
    network: Network
    flows: list[Flow]
    controller: str
    notes: Notes


def translate(
    path: Path, topology: Path | None = None, flows: Path | None = None, dialect: str = "", controller: str = ""
) -> Translation:
    """Translate a configuration and the files that it names."""
    source = _read(path, topology, flows, dialect, controller)
    tables = [*_tables(source), *_traffic(source)]
    entries = hpcc_flows.entries(source.flows, source.network)
    files = {
        SCENARIO: toml_text.text_of(_head(path, source), tables),
        FABRIC: network.graph_file(source.network),
    }
    for name, _, own in entries:
        files[f"{name}.csv"] = hpcc_flows.flow_file(own, source.network)
    _tell_rest(source)
    return Translation(files, source.notes, _about(source))


def _read(path: Path, topology: Path | None, flows: Path | None, dialect: str, controller: str) -> Source:
    config, notes = Config.read(path), Notes()
    if controller and controller not in keys.CONTROLLERS:
        raise ScenarioError(f'--cc "{controller}": expected one of {", ".join(keys.CONTROLLERS)}')
    words = Words.read(topology or _file(config, path, "TOPOLOGY_FILE", "--topology"))
    kind = named(dialect) if dialect else of(words.line(0), config.given, words.name)
    fabric = hpcc_topology.read(words, kind, float(config["ERROR_RATE_PER_LINK"]), notes)
    own: list[Flow] = []
    if flows is not None or kind is not SIMAI:
        own_words = Words.read(flows or _file(config, path, "FLOW_FILE", "--flows"))
        if kind is HPCC and not dialect and len(own_words.line(1)) == len(CONWEAVE_FLOW):
            kind = CONWEAVE
        own = hpcc_flows.read(own_words, kind, fabric, notes)
    config.used |= {"TOPOLOGY_FILE", "FLOW_FILE"}
    _read_trace(config, path, kind)
    own = _with_ways(config, kind, fabric, own, notes)
    mode = config["CC_MODE"]
    chosen = controller or keys.MODES.get(mode, "")
    if kind is DATACENTER and not controller:
        chosen = "powertcp" if mode == 3 else chosen
        notes.differ(
            "arguments of ns3-datacenter's drivers (--algorithm, --windowCheck, --wien) win over CC_MODE, HAS_WIN and "
            f"VAR_WIN: taken are {chosen or 'no control'} and the window of the file; --cc says otherwise"
        )
    return Source(config, kind, fabric, own, chosen, notes)


def _with_ways(config: Config, kind: Dialect, fabric: Network, flows: list[Flow], notes: Notes) -> list[Flow]:
    """Give flows the paths that their switches choose, unless these change or are chosen otherwise."""
    if kind is SIMAI or (kind is CONWEAVE and config.peek("LB_MODE")):
        return flows
    if config.peek("LINK_DOWN")[0] and kind is not DATACENTER:
        if hpcc_paths.Paths(fabric).differ:
            notes.differ("paths are chosen by ECMP's own hash, since routes change as a link goes")
        return flows
    return hpcc_paths.with_ways(flows, fabric, kind)


def _file(config: Config, path: Path, key: str, option: str) -> Path:
    """Find a file that a configuration names: their simulators look from where they are started."""
    if key not in config.given:
        raise ScenarioError(f"{path}: no {key}; expected one, or {option} FILE")
    name: str = config.given[key].value
    places = [folder / name for folder in (path.parent, *path.absolute().parent.parents)]
    for place in [*places, path.parent / Path(name).name]:
        with suppress(OSError, ValueError):  # a name that no file can have
            if place.is_file():
                return place
    raise config.refuse(key, f"a file below {path.parent or '.'} or a folder above it; {option} FILE names another")


def _read_trace(config: Config, path: Path, kind: Dialect) -> None:
    """Read the trace file, if there is one: an error in it is one."""
    if kind is DATACENTER or "TRACE_FILE" not in config.given or not config.peek("ENABLE_TRACE"):
        return
    try:
        place = _file(config, path, "TRACE_FILE", "")
    except ScenarioError:
        return
    hpcc_flows.read_trace(Words.read(place))


def _head(path: Path, source: Source) -> list[str]:
    name = path.name if path.name.isprintable() else "A configuration"
    return [
        f"{name} of {source.dialect.title} as a scenario, by incast import hpcc. Behind a key stands its origin.",
        "Nodes have the numbers of the topology file: h of hosts, s of switches.",
    ]


def _about(source: Source) -> str:
    own = source.network
    parts = [
        counted(len(own.hosts), "host"),
        f"{len(own.switches)} switch{'es' * (len(own.switches) != 1)}",
        counted(len(source.flows), "flow"),
        source.controller or "no control",
    ]
    return f"{source.dialect.title}: {', '.join(parts)}"


def _tables(source: Source) -> list[Table]:
    marks = _marks(source)
    controller = Table("[controller]")
    if len({rate for _, rate, _ in hpcc_flows.entries(source.flows, source.network)}) <= 1:
        origin = {one.name: one.key for one in keys.CONTROLLERS[source.controller or "dcqcn"].parameters}
        for key, value in _controller(source, _flow_rate(source)).items():
            controller.put(key, value, source.config.told(origin[key]) if key in origin else "")
    return [
        controller, _run(source), _topology(), *port_tables(source.network, marks), *_buffer(source),
        *_transport(source), *_routing(source), *_failures(source),
    ]  # fmt: skip


def _flow_rate(source: Source) -> int:
    """Return the rate of the sending hosts."""
    return source.network.rate(source.flows[0].source) if source.flows else source.network.rates()[0]


def _run(source: Source) -> Table:
    config = source.config
    if source.dialect is CONWEAVE:
        key, remark = "FLOWGEN_STOP_TIME", f"FLOWGEN_STOP_TIME and {EXTRA_S} s more"
        end = units.rounded((config[key] + EXTRA_S) * 10**9)
        config.used.add("FLOWGEN_START_TIME")
    else:
        key = remark = "SIMULATOR_STOP_TIME"
        end = units.rounded(config[key] * 10**9)
    if not 0 < end <= hpcc_flows.MOST_START_S * 10**9:
        raise config.refuse(key, f"seconds above 0, at most {hpcc_flows.MOST_START_S}")
    table = Table("[run]").put("duration", units.time_text(end), remark)
    first = min((flow.start for flow in source.flows), default=0)
    if 0 < first < end:
        table.put("warmup", units.time_text(first), "start of the first flow")
    table.put("until", "finished")
    if "RANDOM_SEED" in config.given:
        table.put("seed", config["RANDOM_SEED"], "RANDOM_SEED")
    for key, (value, remark) in keys.RUN.items():
        table.put(key, value, remark)
    return table


def _topology() -> Table:
    return Table("[topology]").put("kind", "graph").put("file", FABRIC)


def _marks(source: Source) -> Marks:
    """Return the thresholds of the switches' ports by rate."""
    config = source.config
    maps = config["KMIN_MAP"], config["KMAX_MAP"], config["PMAX_MAP"]
    reads_marks = source.controller in keys.READ_MARKS
    if not config["ENABLE_QCN"] or not source.controller or not (reads_marks or any(maps)):
        return {}
    marks, missing = marks_of(source.network, *maps)
    for rate in missing:
        source.notes.differ(
            f"no thresholds of {units.rate_text(rate)} in KMIN_MAP, KMAX_MAP or PMAX_MAP: 0 as in their optimised "
            "build, so that every packet with another behind it is marked"
        )
    return marks


def _buffer(source: Source) -> list[Table]:
    config, notes = source.config, source.notes
    size = config["BUFFER_SIZE"]
    if not 0 < size <= 10**6:
        raise config.refuse("BUFFER_SIZE", "MiB above 0, at most 1000000")
    buffer = Table("[buffer]").put("size", f"{size}MiB", "BUFFER_SIZE of each switch")
    for key, value in keys.BUFFER.items():
        buffer.put(key, value)
    if not config["USE_DYNAMIC_PFC_THRESHOLD"] and source.dialect is CONWEAVE:
        notes.differ("USE_DYNAMIC_PFC_THRESHOLD 0: thresholds of pauses follow the free buffer here")
    if source.dialect is CONWEAVE and not config["ENABLE_PFC"]:
        return [buffer]
    pfc = Table("[buffer.pfc]")
    headroom = 0
    match source.dialect.name:
        case DATACENTER.name:
            buffer.put(keys.EGRESS, f"{size}MiB")
            for key, value in keys.DATACENTER_PFC.items():
                pfc.put(key, value)
            notes.differ(
                "buffers are those of ns3-datacenter's drivers for bursts and fairness; its driver for workloads takes "
                "headrooms out of BUFFER_SIZE"
            )
            return [buffer, pfc]
        case CONWEAVE.name:
            headroom = _conweave_headroom(source)
            pfc.put("headroom", units.size_text(headroom))
        case _:
            pfc.put("headroom", "hpcc")
            _tell_shift(source)
    _refuse_small(source, headroom)
    return [buffer, pfc]


def _refuse_small(source: Source, headroom: int) -> None:
    """Raise ``ScenarioError`` if what the ports of a switch set apart leaves nothing of its buffer."""
    taken: dict[int, int] = {}
    for switch, _, link in source.network.ports():
        own = headroom or 3 * link.rate * link.delay // (8 * 10**9) + 1
        taken[switch] = taken.get(switch, 0) + RESERVE + own
    switch, most = max(taken.items(), key=lambda one: one[1])
    if source.config.peek("BUFFER_SIZE") * 2**20 <= most:
        expected = f"more than {most // 2**20} MiB: headrooms of the ports of switch {switch} take {most} B"
        raise source.config.refuse("BUFFER_SIZE", expected)


def _conweave_headroom(source: Source) -> int:
    """Return ConWeave's headroom of a port, the largest."""
    mtu: int = source.config.peek("PACKET_PAYLOAD_SIZE") + 48
    sizes = {link.rate * link.delay // (8 * 10**9) * 2 + 2 * mtu for link in source.network.links}
    if len(sizes) > 1:
        source.notes.differ("ports have the headroom of the one with the largest")
    return max(sizes)


def _tell_shift(source: Source) -> None:
    rates = sorted(source.network.rate(host) for host in source.network.hosts)
    first, median = source.network.rate(source.network.hosts[0]), rates[(len(rates) - 1) // 2]
    if first != median:
        source.notes.differ(
            f"thresholds of pauses are by the median host's rate, {units.rate_text(median)}; their simulator takes the "
            f"first host's, {units.rate_text(first)}"
        )


def _transport(source: Source) -> list[Table]:
    config, notes = source.config, source.notes
    payload = config["PACKET_PAYLOAD_SIZE"]
    if not 1 <= payload <= 60_000:
        raise config.refuse("PACKET_PAYLOAD_SIZE", "bytes from 1 to 60000")
    table = Table("[transport]").put("preset", source.dialect.preset)
    table.put(keys.PAYLOAD, payload, "PACKET_PAYLOAD_SIZE")
    rdma = Table("[transport.rdma]")
    if config["GLOBAL_T"]:
        longest = source.network.longest(payload)
        rdma.put(keys.BASE_RTT, f"{longest.rtt}ns", "GLOBAL_T 1: the longest round trip, without headers")
        _tell_windows(source, longest)
    else:
        rdma.put(keys.BASE_RTT, "auto", "GLOBAL_T 0")
    has, varies = bool(config["HAS_WIN"]), config["VAR_WIN"]
    rdma.put(keys.WINDOW, keys.WINDOWS[has, varies], f"HAS_WIN {int(has)}, VAR_WIN {int(varies)}")
    _repair(source, rdma)
    if source.controller in ("hpcc", "powertcp"):
        multi = config["INT_MULTI"]
        if multi < 1:
            raise config.refuse("INT_MULTI", "at least 1")
        rdma.put(keys.INT_MULTI, multi, "INT_MULTI")
        _tell_rates(source)
    key, extra = keys.METADATA
    if source.controller in extra:
        rdma.put(key, extra[source.controller], "what their packets carry beside headers")
    if source.dialect is not CONWEAVE and config["ACK_HIGH_PRIO"]:
        notes.differ("ACK_HIGH_PRIO 1: a pause holds the ACKs of a host back too here")
    if config["L2_ACK_INTERVAL"] != 1:
        told = config.told("L2_ACK_INTERVAL")
        notes.differ(f"{told}: every packet is acknowledged here; there 0 never, more than 1 after as many bytes")
    return [table, rdma]


def _tell_windows(source: Source, longest: Longest) -> None:
    """Say where windows of all flows there are not T times the rate of the sender's link."""
    windows = {longest.rtt * rate // (8 * 10**9) for rate in source.network.rates()}
    if source.config.peek("HAS_WIN") and source.dialect is not DATACENTER and windows != {longest.bdp}:
        source.notes.differ(
            f"windows begin at T times the rate of the sender's link; there all begin at {longest.bdp} B, the largest "
            "of all pairs"
        )


def _repair(source: Source, rdma: Table) -> None:
    config = source.config
    if source.dialect is CONWEAVE:
        rdma.put(keys.NACK_INTERVAL, "4us", "ConWeave's")
        if config["ENABLE_IRN"]:
            config.used.add("L2_BACK_TO_ZERO")
            rdma.put(keys.REPAIR, keys.SELECTIVE, "ENABLE_IRN 1")
            return
    if not config["L2_BACK_TO_ZERO"]:
        rdma.put(keys.REPAIR, keys.GO_BACK_N, "L2_BACK_TO_ZERO 0")
        return
    chunk = config["L2_CHUNK_SIZE"]
    if chunk < 1:
        raise config.refuse("L2_CHUNK_SIZE", "bytes above 0 beside L2_BACK_TO_ZERO 1")
    rdma.put(keys.REPAIR, keys.GO_BACK_CHUNK, "L2_BACK_TO_ZERO 1").put(keys.CHUNK, f"{chunk}B", "L2_CHUNK_SIZE")


def _tell_rates(source: Source) -> None:
    """Say which rates telemetry does not know there."""
    known = {gigabits * 10**9 for gigabits in source.dialect.int_rates}
    odd = sorted({link.rate for _, _, link in source.network.ports()} - known)
    if odd:
        rates = ", ".join(map(units.rate_text, odd))
        source.notes.differ(f"rates of {rates}: their telemetry takes ports of other rates than it knows as 25 Gb/s")


def _routing(source: Source) -> list[Table]:
    if source.dialect is not CONWEAVE:
        return []
    mode = source.config["LB_MODE"]
    kind, what = ROUTING.get(mode, ("ecmp", "an unknown mode"))
    if what:
        source.notes.differ(f"LB_MODE {mode} ({what}): routing.kind = {kind} here")
    return [Table("[routing]").put("kind", kind, f"LB_MODE {mode}")]


def _failures(source: Source) -> list[Table]:
    after, a, b = source.config.peek("LINK_DOWN")
    if after == 0 or source.dialect is not DATACENTER:  # which reads the key and does nothing
        source.config.used.add("LINK_DOWN")
    if after == 0 or source.dialect is DATACENTER:
        return []
    own = source.network
    if not any({a, b} == {link.a, link.b} for link in own.links):
        raise source.config.refuse("LINK_DOWN", "the ends of a link")
    part = own.without(a, b).parts()
    for flow in source.flows:
        ends = [own.gate(end) for end in (flow.source, flow.destination)]
        if {a, b} & {flow.source, flow.destination} or part[ends[0]] != part[ends[1]]:
            raise source.config.refuse(
                "LINK_DOWN", f"a link without which {flow.source} still reaches {flow.destination}"
            )
    start = LINK_DOWN_FROM
    if source.dialect is CONWEAVE:
        start = units.rounded(source.config["FLOWGEN_START_TIME"] * 10**9)
    at = units.time_text(start + after * 1000)
    table = Table("[[failures]]").put("link", f"{own.name(a)}>{own.name(b)}", "LINK_DOWN").put("at", at)
    return [table.put("detection", "0s", "routes are made anew at once")]


def _traffic(source: Source) -> list[Table]:
    """Return the traffic entries, each with its controller if hosts have several rates."""
    entries = hpcc_flows.entries(source.flows, source.network)
    rates = {rate for _, rate, _ in entries}
    tables = []
    for name, rate, _ in entries:
        table = Table("[[traffic]]").put("name", name).put("pattern", "file").put("file", f"{name}.csv")
        if len(rates) > 1:
            table.put("controller", _controller(source, rate))
        tables.append(table)
    if not tables:
        source.notes.differ(
            "SimAI takes flows from its workload: a ring all-reduce of 1 MB among all hosts stands in their place"
        )
        app = {"kind": "bulk", "size": "1MB"}
        tables.append(Table("[[traffic]]").put("name", "all-reduce").put("pattern", "ring-allreduce").put("app", app))
    return tables


def _controller(source: Source, line: int) -> dict[str, Any]:
    """Return the controller with parameters for a line rate."""
    rules = keys.CONTROLLERS[source.controller or "dcqcn"]
    controller: dict[str, Any] = {"kind": rules.kind}
    if rules.form:
        controller["form"] = rules.form
    for one in rules.parameters:
        value = source.config[one.key]
        if value is None:
            source.notes.differ(f"no {one.key}: their value would be unset; {one.name} has that of its form")
            continue
        if one.above_zero and not value:
            raise source.config.refuse(one.key, "a value above 0")
        controller[one.name] = _value(source.config, one, value, line)
    return controller


def _value(config: Config, one: keys.Parameter, value: Any, line: int) -> Any:
    match one.form:
        case keys.Form.MICROSECONDS:
            ns = units.rounded(value * 1000)
            if not 0 < ns <= units.MOST_NS:
                raise config.refuse(one.key, "microseconds, at least 0.001")
            return units.time_text(ns)
        case keys.Form.SHARE:
            if value > line or (value == line and one.name == "min_cwnd"):
                raise config.refuse(one.key, f"less than the rate of the sender's link, {units.rate_text(line)}")
            return keys.share(value, line)
        case keys.Form.OF_AI:
            ai = config["RATE_AI"] or value
            if value < ai:
                raise config.refuse(one.key, "at least RATE_AI")
            return float(Decimal(value) / Decimal(ai))
        case keys.Form.FLOWS:
            if config["U_TARGET"] >= 1:
                raise config.refuse("U_TARGET", "less than 1")
            return float((1 - config["U_TARGET"]) * line / value)
        case keys.Form.NUMBER:
            return float(value)
    return value


def _tell_rest(source: Source) -> None:
    """Name what has no counterpart, and what has no effect."""
    config, notes = source.config, source.notes
    for key, unlike, words in (
        ("RATE_BOUND", False, "packets are paced at the controller's rate here"),
        ("FAST_REACT", False, "each ACK changes the rate here"),
        ("SAMPLE_FEEDBACK", True, "telemetry is read from each ACK here"),
        ("MULTI_RATE", True, "one rate for all hops here"),
    ):
        matters = key == "RATE_BOUND" or source.controller == "hpcc"
        if matters and key in config.given and config[key] == unlike:
            notes.differ(f"{config.told(key)}: {words}")
    if config.peek("CC_MODE") == 10:
        notes.differ(f"{config.told('CC_MODE')} (PINT): HPCC with telemetry of every hop here")
    elif not source.controller:
        notes.differ(f"{config.told('CC_MODE')} has no control: DCQCN without marks, at line rate, in its place")
    idle = [key for key in (*keys.CONTROL_KEYS, *IDLE) if key in config.given and key not in config.used]
    notes.idle += [config.told(key) for key in idle]
    notes.idle_why = f" with {source.controller or 'no control'}"
    config.used |= set(idle)
    notes.absent += config.rest()
    if config.unknown:
        notes.absent += [f"{shown(word)} (no key{hint})" for word, hint in config.unknown.items()]
    if config.more:
        notes.absent.append(f"{counted(config.more, 'further word')} (no keys)")
