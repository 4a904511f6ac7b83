"""Effect of each switch: runs of the references with one of their switches toggled.

Shown, not judged: the reference was only measured with its own rules. Every parameter of a form of
ours is here or among htsim's rules, and every switch here moves a figure; tests check both. Where no
run of a reference meets a rule, a run of ours alone does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from parity.checks import Case, Figure, Number, Reference, Section
from parity.figures import flow, port, summary


@dataclass(frozen=True)
class Switch:
    """One toggled switch in a run of the reference."""

    name: str
    title: str
    """Rule with the toggled switch, and the rule of the reference."""
    change: str
    """Settings in the notation of ``--set``, separated by blanks."""

    @property
    def settings(self) -> dict[str, object]:
        """The settings."""
        found: dict[str, object] = {}
        for setting in self.change.split():
            key, _, value = setting.partition("=")
            found[key] = value
        return found


@dataclass(frozen=True)
class Table:
    """A table of the page: switches of one kind."""

    section: Section
    switches: Mapping[str, tuple[Switch, ...]]
    """Switches by case."""
    runs: tuple[Case, ...] = ()
    """Cases of ours alone, for switches whose rules no run of the reference meets."""


def added(reference: Reference) -> Reference:
    """Return the reference with the effects of its switches."""
    tables = TABLES.get(reference.name, ())
    return replace(
        reference,
        sections=(*reference.sections, *(table.section for table in tables)),
        cases=(
            *reference.cases,
            *(case for table in tables for case in (*table.runs, *switched(table, reference.cases))),
        ),
    )


def switched(table: Table, cases: Sequence[Case]) -> list[Case]:
    """Make the cases of a table: the figures of the runs that the switches change, without tolerances."""
    own = {case.id for case in table.runs}
    by_id = {case.id: case for case in (*cases, *table.runs)}
    made = []
    for base, switch in ((by_id[base], switch) for base, switches in table.switches.items() for switch in switches):
        figures = [check for check in base.checks if isinstance(check, Figure)]
        case = replace(
            base,
            id=f"{table.section.prefix}/{switch.name}",
            title=switch.title,
            settings={**base.settings, **switch.settings},
            checks=tuple(replace(check, tolerance=None, explained=None, rule="") for check in figures),
            quick=base.id in own,
            base=base.id,
        )
        made.append(case)
    return made


def shown(**figures: tuple[str, Number]) -> tuple[Figure, ...]:
    """Make figures of runs without a reference, by name: unit and where it is found."""
    return tuple(Figure(name.replace("_", " "), unit, None, None, ours) for name, (unit, ours) in figures.items())


OUTAGE = shown(
    completion_time=("s", flow(0, "fct_s")),
    timeouts=("", summary("flows.timeouts")),
    retransmissions=("packets", summary("flows.retransmissions")),
)


def outage(name: str, title: str, **settings: object) -> Case:
    """Make a run of a transfer under ns-3's transport whose link loses a stretch of packets."""
    changed = {key.replace("__", "."): value for key, value in settings.items()}
    return Case(name, title, "ns3-outage.toml", changed, OUTAGE, quick=True, cost_s=0.01)


NS3_RUNS = (
    outage("ns3/switches/run-newreno", "NewReno, 500 kB, arrivals 30 to 55 at the last link lost"),
    outage(
        "ns3/switches/run-dctcp",
        "DCTCP, 500 kB, arrivals 30 to 69 at the last link lost",
        controller="dctcp:form=ns3",
        topology__sink_link__lose=list(range(30, 70)),
    ),
    outage(
        "ns3/switches/run-westwood-plus",
        "Westwood+, 500 kB, arrivals 100 and 200 at the last link lost",
        controller="westwood-plus:form=ns3",
        topology__sink_link__lose=[100, 200],
    ),
    outage(
        "ns3/switches/run-westwood",
        "Westwood as ns-3.37 had it, 500 kB, arrivals 100 and 200 at the last link lost",
        controller="westwood:form=ns3",
        topology__sink_link__lose=[100, 200],
    ),
    outage(
        "ns3/switches/run-westwood-35",
        "Westwood as ns-3.35 had it, 500 kB, arrivals 30 to 48, every other, 60 to 71 and 140 at the last link lost",
        controller="westwood:form=ns3-35",
        topology__sink_link__lose=[*range(30, 50, 2), *range(60, 72), 140],
    ),
)
SEED_000_RUNS = (
    outage(
        "ns3/yasomam/run-timeouts",
        "Swift, 25 ms, cuts of at most a half, 500 kB, arrivals 30 to 67 at the last link lost",
        controller="swift:form=yasomam,target=static,max_mdf=0.5",
        transport__recovery="newreno",
        transport__pacing={"slow_start": 2.0, "avoidance": 1.2, "max": "1Gbps", "restart_at_max": True},
        transport__initial_window=40,
        topology__sink_link__lose=list(range(30, 68)),
    ),
)
CSE322_RUNS = (
    outage(
        "ns3/cse322/run-code",
        "Swift from the code, 500 kB, arrival 30 lost",
        controller="swift:form=cse322",
        transport__recovery="newreno",
        topology__sink_link__lose=[30],
    ),
    outage(
        "ns3/cse322/run-code-high",
        "Swift from the code, 120 ms, 500 kB, arrival 13 lost",
        controller="swift:form=cse322,static_target=120ms",
        transport__recovery="newreno",
        topology__sink_link__lose=[13],
    ),
    outage(
        "ns3/cse322/run-cuts",
        "Swift, 41.5 ms, no slow start, cuts of at most a half, 500 kB, arrival 100 lost",
        controller="swift:form=cse322-text,static_target=41500us,slow_start=false,max_mdf=0.5",
        topology__sink_link__lose=[100],
    ),
    outage(
        "ns3/cse322/run-timeouts",
        "Swift, 60 ms, cuts of at most a half, 500 kB, arrivals 30 to 45 lost",
        controller="swift:form=cse322-text,static_target=60ms,max_mdf=0.5",
        topology__sink_link__lose=list(range(30, 46)),
    ),
    outage(
        "ns3/cse322/run-floor",
        "Swift, 100 ms, cuts of at most a half, 500 kB, arrivals 30 to 55 lost",
        controller="swift:form=cse322-text,static_target=100ms,max_mdf=0.5",
    ),
)
ROUGH: Mapping[str, object] = {
    "queue": {"kind": "drop-tail", "limit": "100p", "count_overhead": True},
    "transport.scoreboard": "rack",
    "topology.bottleneck_link.back_delay": "499968ns",
}
"""Linux' drop-tail set-up, for runs of ours."""
TRANSFERRED = shown(
    goodput=("Mb/s", summary("flows.goodput_total_bps", 1e-6)),
    timeouts=("", summary("flows.timeouts")),
    retransmissions=("packets", summary("flows.retransmissions")),
)
LINUX_RUNS = (
    Case(
        "linux/switches/run-cubic",
        "CUBIC, 1 sender, 500 us, arrivals 300 and 340 to 459 at the bottleneck lost: a timeout in a recovery",
        "linux-dumbbell",
        {
            **ROUGH,
            "controller": "cubic:form=linux",
            "run.warmup": "0s",
            "topology.bottleneck_link.lose": [300, *range(340, 460)],
        },
        TRANSFERRED,
        quick=True,
        cost_s=0.3,
    ),
    Case(
        "linux/switches/run-westwood",
        "Westwood, 1 sender, 500 us, every twentieth packet lost on the wire",
        "linux-dumbbell",
        {
            **ROUGH,
            "controller": "westwood:form=linux",
            "run.warmup": "0s",
            "topology.bottleneck_link.error_rate": 0.05,
        },
        TRANSFERRED,
        quick=True,
        cost_s=0.3,
    ),
    Case(
        "linux/switches/run-losses",
        "DCTCP, 1 sender, 500 us, every thousandth packet lost on the wire",
        "linux-dumbbell",
        {"topology.bottleneck_link.error_rate": 0.001, "topology.bottleneck_link.back_delay": "499968ns"},
        shown(
            goodput=("Mb/s", summary("flows.goodput_total_bps", 1e-6)),
            mean_queue=("packets", port("left>right", "queue_mean_packets")),
            retransmissions=("packets", summary("flows.retransmissions")),
        ),
        quick=True,
        cost_s=0.3,
    ),
    *(
        Case(
            f"linux/switches/run-{name}",
            f"Reno with classic ECN, 1 sender, 500 us, K = 65{what}",
            "linux-dumbbell",
            {
                "controller": "newreno:form=linux",
                "transport.ecn": "classic",
                "queue.mark": "97500B",
                "topology.bottleneck_link.back_delay": "499968ns",
                **more,
            },
            shown(
                goodput=("Mb/s", summary("flows.goodput_total_bps", 1e-6)),
                mean_queue=("packets", port("left>right", "queue_mean_packets")),
                marked=("packets", port("left>right", "marks")),
            ),
            quick=True,
            cost_s=0.3,
        )
        for name, what, more in (
            ("classic-ecn", "", {}),
            ("lost-syn", ", the first SYN lost", {"topology.bottleneck_link.lose": [0]}),
        )
    ),
)
COMPLETED = shown(
    mean_completion_time=("ms", summary("queries.mean_s", 1e3)),
    median_completion_time=("ms", summary("queries.p50_s", 1e3)),
)
INCAST_RUNS = (
    Case(
        "linux-incast/switches/run-pauses",
        "DCTCP, 1 worker, 500 kB, RTT 500 us, 300 ms of think time: longer than a timeout",
        "linux-incast",
        {
            "traffic.flows": 1,
            "traffic.app.total": "500kB",
            "traffic.app.think": "300ms",
            "topology.bottleneck_link.back_delay": "499968ns",
        },
        COMPLETED,
        quick=True,
        cost_s=0.05,
    ),
    *(
        Case(
            f"linux-incast/switches/run-pauses-{kind}",
            f"{name}, 1 worker, 500 kB through 100 packets, RTT 500 us, 300 ms of think time",
            "linux-incast",
            {
                **ROUGH,
                "controller": f"{kind}:form=linux",
                "traffic.flows": 1,
                "traffic.app.total": "500kB",
                "traffic.app.think": "300ms",
            },
            COMPLETED,
            quick=True,
            cost_s=0.05,
        )
        for kind, name in (("cubic", "CUBIC"), ("westwood", "Westwood"))
    ),
)
"""Runs of ours for rules that no run of a reference meets: losses one after another, losses of DCTCP, pauses."""

ARTEFACTS = {
    "ns3/4.1/dctcp-mode1-n100": (
        Switch("fragments", "segments of 1448 B: no fragments", "transport.mss=1448"),
        Switch("device", "no device queue below RED", "queue.device=0"),
        Switch("write", "writes of 10 kB and a tick for each, not 1000 B", "traffic.app.write=10kB"),
        Switch("overhead", "no PPP header, not 2 B", "topology.link.overhead=0"),
        Switch("off-first", "ON at once, not after an OFF second", "traffic.app.off_first=false"),
        Switch("drain", "what is in buffers at the stop is lost", "traffic.at_stop=reset"),
        Switch("delayed-ack", "an ACK for two segments, not for one", "transport.delayed_ack=2"),
    ),
    "ns3/4.1/dctcp-mode1-n650": (
        Switch("fragments-many", "segments of 1448 B: no fragments", "transport.mss=1448"),
        Switch("rto-min-many", "an RTO of at least 200 ms, not 1 s", "transport.rto_min=200ms"),
        Switch("device-many", "no device queue below RED", "queue.device=0"),
        Switch("drain-many", "what is in buffers at the stop is lost", "traffic.at_stop=reset"),
        Switch("sink-stop-many", "sinks that close 10 s later", "traffic.sink_stop=14.1s"),
        Switch("ties-many", "a random order of what happens at one instant, not a fixed one", "run.ties=hash"),
    ),
    "ns3/4.1/dctcp-mode1-n2000": (
        Switch("count-dropped-marks", "no marks counted of what is dropped", "queue.count_dropped_marks=false"),
    ),
    "ns3/4.6/swift-0-mode0-n1": (
        Switch("clock", "an exact time-stamp clock, not 1 ms with a floor of 1 us", "transport.timestamp_clock=0s"),
    ),
    "ns3/4.2/swift-0-mode1-n650-100Mbps": (
        Switch(
            "clock-many", "an exact time-stamp clock, not 1 ms with a floor of 1 us", "transport.timestamp_clock=0s"
        ),
    ),
    "ns3/4.1/dctcp-mode2-n250": (Switch("first-path", "ECMP, not the first of equal routes", "routing.kind=ecmp"),),
}
"""The artefacts of the study's set-up on ns-3, each turned off."""

NS3 = {
    "ns3/4.1/dctcp-mode1-n650": (
        Switch("dctcp-loss", "DCTCP: a loss halves; ns-3 takes alpha", "controller.loss=halve"),
        Switch("dctcp-floor", "DCTCP: at least two segments; ns-3 has no floor", "controller.floor=2"),
        Switch("dctcp-cut-of", "DCTCP: cuts of its own window, not of the recovery's", "controller.cut_of=cwnd"),
        Switch("dctcp-arithmetic", "DCTCP: real windows, not whole segments", "controller.arithmetic=real"),
        Switch("scoreboard", "losses found as RFC 6675 says", "transport.scoreboard=rfc6675"),
        Switch("recovery", "PRR as RFC 6937 has it", "transport.recovery=prr"),
        Switch("ecn-preempts", "a mark does not replace a recovery", "transport.ecn_preempts=false"),
        Switch("least-segment", "one segment goes whatever the window", "transport.least_segment=true"),
        Switch("sack-block", "every ACK of 52 B, SACK blocks or not", "transport.sack_block=0"),
    ),
    "ns3/4.1/dctcp-mode1-n2000": (
        Switch(
            "ce-must-advance",
            "every mark is echoed, not only what is beyond the last",
            "transport.ce_must_advance=false",
        ),
    ),
    "ns3/4.1/dctcp-mode1-n100": (
        Switch("ecn-by-prr", "marks cut at once, not spread by PRR", "transport.ecn_by_prr=false"),
        Switch("fin", "FIN is a segment of its own, answered once", "transport.fin_with_data=false"),
    ),
    "ns3/switches/run-dctcp": (
        Switch(
            "dctcp-timeouts",
            "DCTCP: the first timeout of the same data lowers ssthresh, not every",
            "controller.timeouts=first",
        ),
    ),
    "ns3/dumbbell/dctcp": (
        Switch("ecn-flush", "an ACK of what is pending at a change of the mark", "transport.ecn_flush=pending"),
    ),
    "ns3/4.1/dctcp-mode2-n50": (
        Switch("cwnd-limited", "windows grow only while they limit sending", "transport.cwnd_limited=true"),
    ),
    "ns3/switches/run-newreno": (
        Switch("newreno-arithmetic", "NewReno: real windows, not whole segments", "controller.arithmetic=real"),
        Switch(
            "newreno-timeouts",
            "NewReno: the first timeout of the same data lowers ssthresh, not every",
            "controller.timeouts=first",
        ),
        Switch("loss-flight", "a loss halves what is outstanding, not the pipe", "transport.loss_flight=outstanding"),
    ),
    "ns3/switches/run-westwood-plus": (
        Switch("westwood-plus-sampling", "Westwood+: samples end with an ACK", "controller.sampling=rtt"),
        Switch("westwood-plus-filter", "Westwood+: the paper's filter, not Tustin's", "controller.filter=first-order"),
        Switch(
            "westwood-plus-min-of", "Westwood+: the smallest RTT, not the smallest smoothed", "controller.min_of=rtt"
        ),
        Switch("westwood-plus-arithmetic", "Westwood+: real windows, not whole segments", "controller.arithmetic=real"),
    ),
    "ns3/switches/run-westwood": (
        Switch("westwood-filter", "Westwood: the paper's filter, not Tustin's", "controller.filter=interval"),
        Switch("westwood-at-loss", "Westwood: a loss bounds the window, not sets it", "controller.at_loss=bound"),
        Switch("westwood-min-of", "Westwood: the smallest RTT, not the smallest smoothed", "controller.min_of=rtt"),
        Switch("westwood-arithmetic", "Westwood: real windows, not whole segments", "controller.arithmetic=real"),
    ),
    "ns3/switches/run-westwood-35": (
        Switch("westwood-35-filter", "Westwood of ns-3.35: the paper's filter", "controller.filter=interval"),
        Switch("westwood-35-at-loss", "... a loss bounds the window", "controller.at_loss=bound"),
        Switch("westwood-35-min-of", "... the smallest RTT", "controller.min_of=rtt"),
        Switch("westwood-35-arithmetic", "... real windows", "controller.arithmetic=real"),
        Switch("westwood-35-repairs", "... what SACK reported counts once", "controller.repairs=delivered"),
    ),
    "ns3/dumbbell/newreno-131072": (
        Switch("whole-writes", "parts of a write as there is room", "transport.whole_writes=false"),
    ),
}
"""Rules of ns-3's transport and of its classic controllers."""

SEED_000 = {
    "ns3/4.2/swift-0-mode1-n650-100Mbps": (
        Switch("min-of", "the smallest RTT, not the smallest smoothed one", "controller.min_of=rtt"),
        Switch("arithmetic", "real windows, not whole bytes", "controller.arithmetic=real"),
        Switch("recovery", "cuts at every newly found loss, not ns-3's recovery", "controller.recovery=own"),
        Switch("decrease-clock", "decreases timed strictly, not as printed", "controller.decrease_clock=strict"),
        Switch("ai", "one packet a round trip, not two", "controller.ai=1"),
        Switch("beta", "a beta of 0.8, not 4", "controller.beta=0.8"),
        Switch("max-mdf", "cuts of at most a half", "controller.max_mdf=0.5"),
        Switch("min-cwnd", "windows down to a thousandth of a packet, not 2000 B", "controller.min_cwnd=0.001"),
        Switch("min-cwnd-half", "half of the least window", "controller.min_cwnd=0.6666666666666666"),
        Switch("fragments", "segments of 1448 B: no fragments", "transport.mss=1448"),
        Switch("rto-min", "an RTO of at least 200 ms, not 1 s", "transport.rto_min=200ms"),
        Switch("target", "the published target, not the smallest RTT", "controller.target=published"),
        Switch("pacing", "no pacing of windows above one packet", "transport.pacing=controller"),
        Switch(
            "restart-at-max",
            "a recovery paces what follows by its window, not at the highest rate",
            "transport.pacing.restart_at_max=false",
        ),
    ),
    "ns3/4.2/swift-2-mode1-n650-100Mbps": (
        Switch("static-fragments", "segments of 1448 B: no fragments", "transport.mss=1448"),
        Switch("static-min-cwnd", "half of the least window", "controller.min_cwnd=0.6666666666666666"),
        Switch("static-rto-min", "an RTO of at least 200 ms, not 1 s", "transport.rto_min=200ms"),
    ),
    "ns3/yasomam/run-timeouts": (
        Switch(
            "retx-reset",
            "the least window after five timeouts in a row, not three",
            "controller.retx_reset_threshold=5",
        ),
    ),
    "ns3/4.2/swift-0-mode1-n2000-50Mbps": (
        Switch("rtt-after-timeout", "ACKs of what timed out are samples", "transport.rtt_after_timeout=true"),
    ),
    "ns3/4.6/swift-2-mode0-n1": (
        Switch("max-cwnd", "windows up to 1000 packets, not 60000 B", "controller.max_cwnd=1000"),
    ),
}
"""Parameters of Swift's form yasomam."""

CSE322 = {
    "ns3/cse322/run-code": (
        Switch("code-cycles", "the rule at every ACK, not once a round trip", "controller.cycles=false"),
        Switch("code-static-target", "a target of 120 ms, above the round trip", "controller.static_target=120ms"),
        Switch("code-target", "... by the smallest RTT", "controller.cycles=false controller.target=min-rtt"),
        Switch("code-recovery", "... losses reduce by themselves", "controller.cycles=false controller.recovery=own"),
        Switch("code-max-mdf", "a quarter of the window stays", "controller.max_mdf=0.75"),
    ),
    "ns3/cse322/run-code-high": (Switch("code-ai", "an increase of 200 bytes a segment, not 2", "controller.ai=200"),),
    "ns3/cse322/run-cuts": (
        Switch("target", "a target from the smallest RTT, not a fixed one", "controller.target=min-rtt"),
        Switch("static-target", "a target of 60 ms, not 41.5", "controller.static_target=60ms"),
        Switch("beta", "cuts of ten times the share", "controller.beta=40"),
        Switch("recovery", "losses reduce by themselves, not NewReno's way", "controller.recovery=own"),
        Switch("decrease-clock", "one cut a round trip, not the printed rule", "controller.decrease_clock=strict"),
    ),
    "ns3/cse322/run-timeouts": (
        Switch("arithmetic", "real windows, not whole segments", "controller.arithmetic=real"),
        Switch("slow-start", "no slow start", "controller.slow_start=false"),
        Switch("bounds", "500 and 20,000 packets, not bytes", "controller.bounds=packets"),
        Switch("max-cwnd", "windows up to 60000 B, not 20000", "controller.max_cwnd=60000"),
        Switch("retx-reset", "the least window after one timeout, not four", "controller.retx_reset_threshold=1"),
        Switch("ai", "ten times the additive increase", "controller.ai=20"),
    ),
    "ns3/cse322/run-floor": (
        Switch("min-cwnd", "windows from 4000 B, not 500", "controller.min_cwnd=4000"),
        Switch("max-mdf", "cuts of at most a quarter, not a half", "controller.max_mdf=0.25"),
    ),
}
"""Parameters of Swift's form cse322-text."""

CSE322_WORLD = {
    "cse322/a1/westwood-n40/seed1": (
        Switch("westwood-repairs", "Westwood: what SACK reported counts once", "controller.repairs=delivered"),
    ),
    "cse322/b/dctcp-n40": (
        Switch("dctcp-repairs", "DCTCP: what SACK reported counts once", "controller.repairs=delivered"),
        Switch("emptying", "the fourth timeout of a connection leaves no window", "transport.emptying_timeout=4"),
    ),
}
"""Rules of ns-3.35 and of the report's TCP, in its programs."""

LINUX = {
    "linux/R1/R1_rtt100_K20_n2": (
        Switch("dctcp-alpha", "DCTCP: a real average, not 1024ths", "controller.alpha=real"),
        Switch("dctcp-alpha-window", "DCTCP: a window of data ends beyond its end", "controller.alpha_window=beyond"),
        Switch("dctcp-arithmetic", "DCTCP: real windows, not whole segments", "controller.arithmetic=real"),
        Switch("burst", "an ordinary transmitter, not a token bucket", "topology.bottleneck_link.burst=0B"),
        Switch("ecn-by-prr", "marks cut at once, not spread by PRR", "transport.ecn_by_prr=false"),
        Switch("ecn-change-ack", "no ACK of its own at a change of the mark", "transport.ecn_change_ack=false"),
        Switch("push-ack", "no ACK at the end of a write", "transport.push_ack=false"),
        Switch("cwr-ack", "no ACK for CWR", "transport.cwr_ack=false"),
        Switch("window-growth", "the whole receiver's window from the start", "transport.window_growth=false"),
        Switch("notsent-lowat", "writes until the send buffer is full", "transport.notsent_lowat=0B"),
    ),
    "linux/R2/R2_pf100_n2": (
        Switch("newreno-avoidance", "NewReno: avoidance counts ACKs", "controller.avoidance=ack"),
        Switch("newreno-arithmetic", "NewReno: real windows, not whole segments", "controller.arithmetic=real"),
        Switch("newreno-halve", "NewReno: a loss halves the flight, not the window", "controller.halve=flight"),
        Switch("recovery", "PRR as RFC 6937 has it", "transport.recovery=prr"),
        Switch("limited-transmit", "no limited transmit", "transport.limited_transmit=false"),
        Switch("sack-compression", "an ACK for every duplicate", "transport.sack_compression=false"),
    ),
    "linux/R2/R2_cubic_pf100_n2": (
        Switch("cubic-curve", "CUBIC: RFC 9438's curve, not whole segments and ticks", "controller.curve=real"),
        Switch("cubic-cut-of", "CUBIC: a loss takes its share of the flight", "controller.cut_of=flight"),
        Switch("cubic-hystart", "CUBIC: slow start ends with a loss", "controller.hystart=false"),
        Switch("cubic-cushion", "CUBIC: no time for offloaded segments", "controller.hystart_cushion=0"),
    ),
    "linux/switches/run-cubic": (
        Switch("cubic-timeouts", "CUBIC: every first timeout lowers ssthresh", "controller.timeouts=first"),
    ),
    "linux/R2/R2_westwood_pf100_n2": (
        Switch("westwood-sampling", "Westwood: a sample a round trip, not 50 ms", "controller.sampling=rtt"),
        Switch("westwood-filter", "Westwood: Westwood+'s filter, not eighths twice", "controller.filter=first-order"),
        Switch("westwood-at-loss", "Westwood: the estimate counts at the loss", "controller.at_loss=set"),
        Switch("westwood-avoidance", "Westwood: avoidance counts ACKs", "controller.avoidance=ack"),
        Switch("westwood-arithmetic", "Westwood: real windows, not whole segments", "controller.arithmetic=real"),
    ),
    "linux/switches/run-westwood": (
        Switch("westwood-slow-start", "Westwood: slow start counts ACKs", "controller.slow_start_per=ack"),
        Switch("westwood-timeouts", "Westwood: every first timeout lowers ssthresh", "controller.timeouts=first"),
    ),
    "linux/switches/run-losses": (
        Switch("dctcp-halve", "DCTCP: a loss halves the flight, not the window", "controller.halve=flight"),
    ),
    "linux/switches/run-classic-ecn": (
        Switch("classic-quickack", "classic ECN: no quick ACKs at a mark", "transport.classic_quickack=false"),
    ),
    "linux/switches/run-lost-syn": (
        Switch("ecn-fallback", "a SYN sent again asks for ECN too", "transport.ecn_fallback=false"),
    ),
}
"""Rules of Linux which bulk flows meet."""

INCAST = {
    "linux-incast/cla/reno-n20-rto10-think1000": (
        Switch("rto-rule", "RTO as RFC 6298 has it", "transport.rto_rule=rfc6298"),
        Switch("timer-tick", "exact timers, not jiffies and the timer wheel", "transport.timer_tick=0s"),
        Switch("quickack", "no quick ACKs", "transport.quickack=0"),
        Switch("pingpong", "no interactive mode", "transport.pingpong=false"),
        Switch("recovery", "PRR as RFC 6937 has it", "transport.recovery=prr"),
        Switch("wakeup", "workers answer each request as it comes", "transport.wakeup=false"),
        Switch("frto", "no F-RTO: what is lost goes again, not new data", "transport.frto=false"),
        Switch("undo", "no timeout is undone", "transport.undo=false"),
        Switch("dsack", "duplicates are not reported", "transport.dsack=false"),
        Switch("forward-retransmit", "repairs on suspicion (RFC 6675)", "transport.forward_retransmit=true"),
        Switch("count-overhead", "a buffer without the 14 B of Ethernet", "queue.count_overhead=false"),
        Switch("newreno-slow-start", "NewReno: slow start counts ACKs", "controller.slow_start_per=ack"),
    ),
    "linux-incast/cla/reno-n5-rto200-think1000": (
        Switch("newreno-idle", "NewReno: an idle time restarts, not decays", "controller.idle=restart"),
        Switch("idle-restart", "windows survive idle times", "transport.idle_restart=false"),
    ),
    "linux-incast/nosack/reno-n5-rto10-think1000": (
        Switch("newreno-timeouts", "NewReno: every first timeout lowers ssthresh", "controller.timeouts=first"),
    ),
    "linux-incast/cla/reno-n80-rto10-think1000": (
        Switch("segment-rtt", "RTT samples of time stamps, not of segments", "transport.segment_rtt=false"),
    ),
    "linux-incast/cla/dctcp-n40-rto200-think1313": (
        Switch("last-set-first", "timers of a tick fire in the order of flows", "transport.last_set_first=false"),
    ),
    "linux-incast/nosack/reno-n80-rto10-think1000": (
        Switch("adaptive-ack", "delayed ACKs wait 40 ms, whatever came before", "transport.adaptive_ack=false"),
        Switch("reordering", "three duplicates signal a loss, however many came", "transport.reordering=false"),
    ),
    "linux-incast/cla/dctcp-n80-rto10-think1000": (
        Switch("dctcp-timeouts", "DCTCP: every first timeout lowers ssthresh", "controller.timeouts=first"),
    ),
    "linux-incast/def/reno-n80-rto10-think1000": (
        Switch("tail-loss-probe", "no tail-loss probes", "transport.tail_loss_probe=false"),
        Switch("reordering-timer", "RACK without its timer", "transport.reordering_timer=false"),
        Switch("timestamp-clock", "segments are timed exactly, not in microseconds", "transport.timestamp_clock=0s"),
        Switch("timeout-min", "nothing is added to the waits of probes and RACK", "transport.timeout_min=0s"),
    ),
    "linux-incast/def/dctcp-n80-rto200-think1000": (
        Switch("cwr-after-loss", "CWR says nothing of losses", "transport.cwr_after_loss=false"),
        Switch("mark-quickack", "marks bring two quick ACKs", "transport.mark_quickack=true"),
    ),
    "linux-incast/switches/run-pauses-cubic": (
        Switch("cubic-slow-start", "CUBIC: slow start counts ACKs", "controller.slow_start_per=ack"),
        Switch("cubic-idle", "CUBIC: an idle time restarts, not decays", "controller.idle=restart"),
    ),
    "linux-incast/switches/run-pauses-westwood": (
        Switch("westwood-idle", "Westwood: an idle time restarts, not decays", "controller.idle=restart"),
    ),
    "linux-incast/switches/run-pauses": (
        Switch("dctcp-idle", "DCTCP: an idle time restarts, not decays", "controller.idle=restart"),
    ),
}
"""Rules of Linux which queries meet."""

SCCP = {
    "sccp-linux/free/sccp300q-per-n20-50000B": (
        Switch(
            "whole-segments",
            "segments are cut to the window, as short as it may be",
            "transport.whole_segments=false transport.sws_avoidance=false",
        ),
        Switch("half-window-mss", "segments of 1448 B, whatever the window", "transport.half_window_mss=false"),
        Switch("quickack-route", "ACKs wait for a second segment", "transport.quickack_route=false"),
        Switch("host-time", "workers answer at once", "hosts.send.packet_time=0s"),
    ),
    "sccp-linux/free/sccp300-per-n5-200000B": (
        Switch("push-half-window", "only the end of a response says PSH", "transport.push_half_window=false"),
        Switch("read-ack", "what is read is not acknowledged for it", "transport.read_ack=false"),
    ),
    "sccp-linux/stall/sccp300q-per-n40-25000B": (
        Switch("window-update", "a smaller window is taken from an ACK with news", "transport.window_update=news"),
        Switch("persist", "the persist timer waits a second", "transport.persist_timeout=1s"),
    ),
    "sccp-linux/first/sccp600f-per-n20-50000B": (
        Switch("window-update-rfc", "windows change as RFC 9293 says", "transport.window_update=rfc9293"),
    ),
    "sccp-linux/rto/reno-fresh-n60-10000B-b117-rto200-proto": (
        Switch("close-after-write", "FIN on the last data, sent at once as it is", "transport.close_after_write=false"),
    ),
    "sccp-linux/free/sccp300-fresh-n20-50000B-skipsyn": (
        Switch("fin-with-data", "FIN is a segment of its own", "transport.fin_with_data=false"),
    ),
    "sccp-linux/rto/reno-per-n80-12500B-scaled": (
        Switch("window-growth", "the receiver offers all of its buffer at once", "transport.window_growth=false"),
    ),
}
"""Rules of Linux which small windows meet."""

UET = {
    "uet/paths/eqds-k4": (
        Switch(
            "eqds-htsim",
            "EQDS: credit beyond the backlog asks for nothing, where a negative number of quanta lowers the target; "
            "credit at 99 % of the link, each on a path of its own",
            "transport.eqds.htsim=false",
        ),
    ),
}
"""Implementation accidents of htsim's receiver-driven transports."""

TURNED = "One switch toggled in one of the runs above, and the figures that this moves. "
ALONE = (
    "If a rule has no effect in any of them, its switch is toggled in a run of ours without a reference, with the "
    "whole set-up named. Every switch moves a figure."
)
TABLES: Mapping[str, tuple[Table, ...]] = {
    "ns3": (
        Table(
            Section(
                "ns3/artefacts",
                "What each artefact of the study's set-up is worth",
                f"{TURNED}These decide results on ns-3, and none of them belongs to a controller: "
                "[forms](../forms.md#artefacts) has them with their keys.",
            ),
            ARTEFACTS,
        ),
        Table(Section("ns3/switches", "What each rule of ns-3 is worth", f"{TURNED}{ALONE}"), NS3, NS3_RUNS),
        Table(
            Section(
                "ns3/yasomam",
                "What each rule of the study's Swift is worth",
                f"{TURNED}{ALONE} The form may reduce by the whole window, so the first timeout already leaves the "
                "smallest window, and the count of timeouts in a row has no effect. That switch is toggled where a "
                "reduction is at most a half.",
            ),
            SEED_000,
            SEED_000_RUNS,
        ),
        Table(
            Section(
                "ns3/cse322",
                "What each rule of the report's Swift is worth",
                "One switch toggled in a run, and the figures that this moves. Nothing of the report of CSE 322 was "
                "measured beside it: these are runs of ours alone, with "
                "targets beyond the round trip of 40 ms, at which its rules act. With its own 25 us the window is one "
                "segment after the first loss.",
            ),
            CSE322,
            CSE322_RUNS,
        ),
    ),
    "cse322": (
        Table(
            Section("cse322/switches", "What the rules of ns-3.35 and of the report's TCP are worth", f"{TURNED}"),
            CSE322_WORLD,
        ),
    ),
    "linux": (
        Table(Section("linux/switches", "What each rule of Linux is worth", f"{TURNED}{ALONE}"), LINUX, LINUX_RUNS),
    ),
    "linux-incast": (
        Table(
            Section("linux-incast/switches", "What each rule of Linux is worth to queries", f"{TURNED}{ALONE}"),
            INCAST,
            INCAST_RUNS,
        ),
    ),
    "sccp-linux": (
        Table(
            Section("sccp-linux/switches", "What each rule of Linux is worth to small windows", TURNED.strip()),
            SCCP,
        ),
    ),
    "uet": (Table(Section("uet/switches", "What the accidents of htsim's EQDS are worth", TURNED.strip()), UET),),
}
