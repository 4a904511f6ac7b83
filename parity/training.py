"""Training jobs: htsim's runs of GOAL files, the formula of a ring, and an iteration of GPT-13B as SimAI runs it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import ceil

from incast import Result
from parity import tasks
from parity.checks import Case, Explanation, Figure, Reference, Section
from parity.tolerances import Absolute, Relative, Tolerance

RATES = (100, 200, 400)
"""Rates of all links, Gb/s."""

SIMAI = (
    "An iteration of GPT-13B with TP 8, PP 2 and a global batch of 8 on 16 servers of 8 GPUs, as AICB (commit 23eec3c) "
    "writes it without a GPU: `python -m parity.aicb`, byte for byte "
    "tests/fixtures/aicb/b4-gpt13b-w128-tp8-pp2-gbs8.txt of iQua/days. SimAI (commit f5efb5a, on ns-3) takes "
    "315,442,327 ns on its template Spectrum-X. The options are taken from SimAI's README for 128 GPUs, as the source "
    "of that time names none: 100 Gb/s and 500 ns to the leaf of a rail, NVLink of 2400 Gb/s (the template's default "
    "is 2880) and 25 ns a link, DCQCN, payloads of 9000 bytes, 3 us to start a message. Days takes 312,140,431 ns; its "
    "packets are the payloads alone.\n\n"
    "All of the time is communication: calculations take 10 us. Each server has 686 steps of rings, then gradients go "
    "15 steps of 242,862,080 B round each rail. SimAI runs one pipeline stage whatever the file says, sends nothing "
    "for a collective of no bytes, raises forward sizes of 4 B to 4096 B, and tells a receiver when its sender has the "
    "last ACK. The tables say what a rule is worth, by a rail and a server by themselves, whose times add up to that "
    "of the iteration."
)
STARTS = (
    "not modelled: 3 us to start each of 15 messages of a rail, and 1 us of their last ACK, together 0.02 %; 100 ns "
    "behind each of 91 collectives, 0.003 %"
)


def reference() -> Reference:
    """Return the comparisons of jobs."""
    return Reference(
        "jobs",
        "Jobs: htsim, SimAI, formulas",
        "Times of training jobs and of their collectives. LogGOPSim's times, to the nanosecond, are tests of "
        "`crates/workload`; those of ASTRA-sim's analytical networks are a model, `incast model astra`.",
        (
            Section(
                "jobs/goal",
                "GOAL files in htsim",
                "spcl/HTSIM, commit 8a33f33 (`htsim_uec -goal`): 16 hosts on a fat tree of k = 4, 1 us a link, senders "
                "alone control their rates, packets of 4160 bytes. There a receive ends when its sender has the last "
                "ACK, and a NIC takes its next message 0.04 ns a byte after the one before, which makes 200 Gb/s "
                "of a NIC of 400. So rows at 400 Gb/s are shown.\n\n"
                "A job ends here with its last task, and a send with its last ACK. At 100 Gb/s a message of 1 MiB has "
                "arrived after 92,860.8 ns, 6,030.7 before that; eight to and fro take 8 times as long, 7 x 5.12 for "
                "an ACK ahead of each reply, and 6,030.7: 748,953. htsim prints 14,022 ns for a job whose calculation "
                "lasts for 50,000 beside its messages: its end is that of the last message, ours that of the "
                "calculation. Inference is not built, so there are no bytes of caches of keys and values.",
            ),
            Section(
                "jobs/rules",
                "The same with htsim's two rules in the tasks",
                "A calculation of the ACK's way follows each receive, and sends of a NIC wait for each other "
                "(`parity/tasks.py`). In these runs no messages meet in the fabric.",
            ),
            Section(
                "jobs/ring",
                "A ring on one switch",
                "All-reduce of n = 16 hosts under htsim's transport with a window that never limits it: "
                "T = 2(n-1)(8c/R + k 32000/R + 2 d) + (2n-3) 320/R for parts of c bytes at R bit/s and d a link. k is "
                "2 with a flow a message, each with htsim's extra packet of 4000 bytes, and 1 on connections that stay "
                "open; 320 is an ACK ahead of a message.",
            ),
            Section("jobs/simai", "GPT-13B on 128 GPUs in SimAI", SIMAI),
        ),
        (*goal(), *ring(), *simai()),
    )


def iteration_ns(result: Result) -> float | None:
    """Take the time of the first iteration, ns."""
    time = result.jobs["time_s"][0].as_py()
    return None if time is None else 1e9 * time


def last_ns(result: Result) -> float | None:
    """Take the time at which the last message has arrived, ns; a flow is one where there are no jobs."""
    messages = result.messages["finish_s"] if result.messages.num_rows else result.flows["received_s"]
    ends = messages.to_pylist()
    return None if None in ends else 1e9 * max(ends)


@dataclass(frozen=True)
class Run:
    """A run of htsim: what it is, and its times by rate, ns."""

    title: str
    times: tuple[int, int, int]
    exact: bool = False
    rule: str = ""
    explained: tuple[int, ...] = ()
    """Rates, Gb/s, at which htsim's rules explain a difference of more than 10 %."""


LATER = "a receive ends there when its sender has the last ACK"
SLOWER = "a NIC takes its next message 0.04 ns a byte after the one before"
CONTENTION = (
    "not explained: messages of several hosts meet in the fabric; htsim's rules, pairs by exclusive or and other ways "
    "of spreading change it by 8 % at most, and if all hosts begin with rank 0 it takes 33 % longer than there"
)
RUNS: Mapping[str, Run] = {
    "one": Run("1 MiB over six links", (98_892, 55_446, 33_723), exact=True),
    "calculations": Run("a calculation, 4 KiB, a calculation", (15_522, 14_511, 14_005), rule=LATER),
    "ping-pong": Run("1 MiB eight times to and fro", (791_141, 443_570, 269_785), rule=LATER),
    "two": Run("10 MiB twice from one NIC", (1_717_698, 864_997, 651_573), rule=SLOWER),
    "ring-8": Run("ring of 8, 8 MiB", (1_312_093, 748_432, 589_729), rule=LATER, explained=(200,)),
    "ring-16": Run("ring of 16, 16 MiB", (2_948_754, 1_558_676, 1_273_953), rule=LATER),
    "at-once": Run(
        "all-to-all of 16, 1 MiB a pair, at once", (1_457_280, 965_540, 712_245), rule=CONTENTION, explained=(100,)
    ),
    "rounds": Run("all-to-all of 16, 1 MiB a pair, in rounds", (1_859_067, 1_216_241, 632_493), rule=CONTENTION),
    "incast": Run("15 of 1 MiB to one host", (1_327_276, 656_574, 343_016)),
}
NEAR = Relative(0.1)
ALONE: Mapping[str, tuple[int, ...]] = {
    **dict.fromkeys(("calculations", "ping-pong", "two"), RATES),
    **dict.fromkeys(("ring-8", "ring-16", "rounds"), (400,)),
}
"""Runs in which no messages meet in the fabric, and their rates."""


def network(rate: int) -> dict[str, object]:
    """Return the settings of a rate in Gb/s: queues of a round trip, marks from a fifth to four fifths of it."""
    rtt_ps = 12_000_000 + 6 * (tasks.PACKET + 64) * 8000 // rate
    packets = rtt_ps * rate / 8000 / tasks.PACKET
    least, most = (f"{ceil(part * ceil(packets)) * tasks.PACKET}B" for part in (0.2, 0.8))
    return {
        "topology.link.rate": f"{rate}Gbps",
        "transport.uet.rtt": f"{rtt_ps}ps",
        "queue.limit": f"{ceil(packets) * tasks.PACKET}B",
        "queue.ecn": {"min": least, "max": most, "to_hosts": True},
    }


def goal() -> Iterator[Case]:
    """Make the cases of htsim's runs."""
    for name, run in RUNS.items():
        for rate, theirs in zip(RATES, run.times, strict=True):
            near: Tolerance | None = Absolute(0.5) if run.exact else None if rate == RATES[-1] else NEAR
            again = Explanation(f"{LATER}, and {SLOWER}", {"job.train.workload": tasks.htsim(name, rules=True)})
            explained = again if rate in run.explained else None
            told = "" if explained else run.rule
            title, settings = f"{run.title}, {rate} Gb/s", network(rate)
            yield Case(
                f"jobs/goal/{name}-{rate}g",
                title,
                "jobs-tree.toml",
                {**settings, "job.train.workload": tasks.htsim(name)},
                (Figure("time", "ns", theirs, near, iteration_ns, told, explained),),
                quick=name == "one",
                cost_s=0.2,
            )
            if rate not in ALONE.get(name, ()):
                continue
            yield Case(
                f"jobs/rules/{name}-{rate}g",
                title,
                "jobs-tree.toml",
                {**settings, "job.train.workload": tasks.htsim(name, rules=True)},
                (Figure("time", "ns", theirs, Relative(0.001), iteration_ns),),
                quick=name == "calculations",
                cost_s=0.2,
            )


def ring() -> Iterator[Case]:
    """Make the cases of the formula of a ring."""
    n, rate, delay_ns = 16, 100e9, 1000.0
    for mib in (1, 16):
        part = mib * tasks.MIB / n
        for packets, title in ((2, "a flow a message"), (1, "connections")):
            step = 8 * part / rate * 1e9 + packets * 32000 / rate * 1e9 + 2 * delay_ns
            theirs = 2 * (n - 1) * step + (2 * n - 3) * 320 / rate * 1e9
            yield Case(
                f"jobs/ring/{mib}-mib-{'flows' if packets == 2 else 'connections'}",
                f"{mib} MiB, {title}",
                "jobs-star-flows.toml" if packets == 2 else "jobs-star.toml",
                {"traffic.train.app.size" if packets == 2 else "job.train.collective.size": f"{mib}MiB"},
                (Figure("time", "ns", theirs, Absolute(0.001), last_ns),),
                quick=mib == 1,
                cost_s=0.2,
            )


ITERATION_NS = 315_442_327
"""Time of the iteration in SimAI."""
GRADIENTS: Mapping[str, object] = {"kind": "reduce-scatter", "size": "3885793280B", "algorithm": "ring"}
"""Gradients of a GPU, 4 bytes a parameter, which a rail reduces."""
SERVER_LINKS: Mapping[str, object] = {"gpus": 8, "rate": "2400Gbps", "delay": "3130ns"}
"""NVLink; a message starts after 3 us, crosses two links, and counts when its ACK has crossed them."""
SWITCHED: tuple[tuple[str, str, str, Mapping[str, object]], ...] = (
    ("rail", "no-headers", "no headers", {"transport.header": 0}),
    (
        "rail",
        "last-acks",
        "no window, and an ACK for the last packet of a message alone",
        {"transport.rdma.window": "none", "transport.rdma.ack_every": 1_000_000},
    ),
    ("rail", "exact-times", "times that are not whole nanoseconds", {"run.tick": "1ps"}),
    (
        "rail",
        "two-stages",
        "two pipeline stages, as the file says: 8 GPUs a group",
        {"job.train.collective": {**GRADIENTS, "ranks": 8}},
    ),
    (
        "server",
        "no-start",
        "messages that start at once",
        {"job.train.scale_up": {**SERVER_LINKS, "delay": "130ns"}},
    ),
    (
        "server",
        "faster",
        "NVLink of 2880 Gb/s, the template's default",
        {"job.train.scale_up": {**SERVER_LINKS, "rate": "2880Gbps"}},
    ),
)
"""Rules of SimAI's run: part, name, what it is without, and how."""


def simai() -> Iterator[Case]:
    """Make the cases of SimAI's iteration: the whole, a rail and a server, and these without a rule each."""
    parts: Mapping[str, tuple[str, Mapping[str, object], float]] = {
        "rail": (
            "the gradients of one rail, 16 GPUs",
            {"topology.leaves": 1, "topology.spines": 1, "job.train.collective": GRADIENTS},
            15.0,
        ),
        "server": (
            "the collectives of one server, 8 GPUs",
            {
                "topology.hosts_per_leaf": 1,
                "job.train.workload": tasks.gpt_13b(server=True),
                "job.train.scale_up": SERVER_LINKS,
            },
            0.3,
        ),
    }
    whole = {"job.train.workload": tasks.gpt_13b(), "job.train.scale_up": SERVER_LINKS}
    yield Case(
        "jobs/simai/whole",
        "the iteration",
        "jobs-rails.toml",
        whole,
        (Figure("time", "ns", ITERATION_NS, Relative(0.01), iteration_ns, STARTS),),
        cost_s=120.0,
    )

    def shown(name: str, title: str, settings: Mapping[str, object], cost_s: float, base: str = "") -> Case:
        time = Figure("time", "ns", None, None, iteration_ns)
        return Case(f"jobs/simai/{name}", title, "jobs-rails.toml", settings, (time,), cost_s=cost_s, base=base)

    for name, (title, settings, cost_s) in parts.items():
        yield shown(name, title, settings, cost_s)
    for part, name, title, settings in SWITCHED:
        _, own, cost_s = parts[part]
        yield shown(f"{part}-{name}", title, {**own, **settings}, cost_s, f"jobs/simai/{part}")
