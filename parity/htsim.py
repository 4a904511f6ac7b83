"""htsim (Broadcom/csg-htsim): single flows, and drop-free permutations flow by flow."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import replace

from incast import Result
from incast.statistics import estimate
from parity.checks import Case, Figure, Mean, PerFlow, Reference, Section
from parity.figures import flow, port, summary, table
from parity.tolerances import Digits, Exact, Overlap, Relative, Tolerance


def reference() -> Reference:
    """Return htsim's comparisons."""
    return Reference(
        "htsim",
        "htsim",
        "Broadcom/csg-htsim, commit 841d9e7: k = 10 fat tree, 4000-byte packets, 40-byte ACKs, 100 Gb/s, 1 us a link, "
        "a fair NIC that takes 3 packets of a flow at a time, initial window 15.",
        (
            Section(
                "htsim/single",
                "One flow on an empty fabric",
                "Completion time of 2 MB: 501 packets, since htsim sends one more than the size needs.",
            ),
            Section(
                "htsim/permutation",
                "A permutation of 250 flows of 2 MB, with its paths",
                "Queues of 100 packets, nothing is dropped. The order of events at equal times alone moves single "
                "flows of Swift by 1 % (median; at most 6.6 %), of DCTCP by 2 % (10 %).",
                "clouds",
            ),
            Section(
                "htsim/fork",
                "Spraying and adaptive routing: the fork that the MSwift paper names",
                "smcclure20/csg-htsim, commit bb725a5: a permutation of 250 flows of 2 MB by its matrix, means over "
                "five runs there and five seeds here. Each side draws its own paths, drops and order of events, so "
                "single runs differ by some percent on either side. Queues of 8 packets drop at random when close to "
                "full. Retransmission timers are checked every 10 ns, spraying is by entropy. The last two rows are "
                "upstream's program with one change, a random route for each data packet; one run there.",
                "ratios",
            ),
            Section(
                "htsim/fork-incast",
                "Queues of 8 packets under an incast of 50 flows: the same fork",
                "Means over 30 runs there and 30 seeds here, with their 95 % intervals. The rules after losses decide. "
                "Four are switches of the transport: duplicates give RTT samples and end the back-off, the inflation "
                "of a fast recovery survives a timeout, the recovery point goes back with go-back-N, and go-back-N "
                "takes new path values. A fifth holds for every run of htsim's recovery: the NIC calls back only a "
                "flow that it refused, so that what a timeout sends alone stays alone.\n\n"
                "Under ECMP a sixth decides: packets that reach a full queue at one instant come there in the order "
                'in which their causes were entered (`ties = "scheduled"`). Flows keep their paths, so that the same '
                "ones are first time after time. In a random order a third more timeouts are met: the last row. "
                "Spraying draws the order anew with every path, and its packets have no room for the rank that this "
                "order asks for; adaptive routing has it. The time of the last flow is only shown: it ends 9 or 15 ms "
                "after the start, as its timeouts double.",
            ),
            Section(
                "htsim/fork-incast-seeds",
                "The same incast, seed by seed",
                "What the means are made of.",
                listed=False,
            ),
            Section(
                "htsim/fork-seeds",
                "The same, seed by seed",
                "The single runs of these means.",
            ),
            Section(
                "htsim/rules",
                "What each rule of htsim is worth",
                "The same runs with one rule changed. A permutation has no small windows, so rules of small windows "
                "are changed in runs of ours without a reference: many flows to one host, with the whole set-up named. "
                "Every rule moves a figure.",
            ),
        ),
        (*single(), *permutations(), *(case for cases, _ in forked() for case in cases), *rules(), *fork_rules()),
        means=tuple(mean for _, mean in forked()),
    )


PLACES = {"same-rack": "same rack", "same-pod": "same pod", "inter-pod": "other pod"}
NAMES = {"swift": "Swift", "dctcp": "DCTCP"}
SWIFT: Mapping[str, object] = {"controller": "swift:form=htsim"}
DCTCP: Mapping[str, object] = {
    "controller": "dctcp:form=htsim",
    "transport.lone_syn": True,
    "queue.kind": "ecn-threshold",
    "queue.mark": "60kB",
    "queue.mark_at": "departure",
    "queue.host.per_flow": 1000,  # the NIC holds back htsim's Swift only
}
CONTROLLERS: Mapping[str, Mapping[str, object]] = {"swift": SWIFT, "dctcp": DCTCP}


def single() -> tuple[Case, ...]:
    """Single flows, the first of which has a closed form."""
    closed = Case(
        "htsim/single/closed-form",
        "NewReno from 15 packets, same rack: line rate throughout",
        "htsim-fabric.toml",
        {},
        (Figure("completion time", "us", 164.6464, Digits(6), flow(0, "fct_s", 1e6)),),
        quick=True,
        cost_s=0.1,
    )
    cases = [closed]
    for row in table("htsim/single.csv"):
        controller, place = row["controller"], row["place"]
        cases.append(
            Case(
                f"htsim/single/{controller}-{place}",
                f"{NAMES[controller]}, {PLACES[place]}",
                "htsim-fabric.toml",
                {**CONTROLLERS[controller], "traffic.file": f"../data/htsim/one-flow-{place}.csv"},
                (Figure("completion time", "us", float(row["fct_us"]), Digits(6), flow(0, "fct_s", 1e6)),),
                quick=True,
                cost_s=0.1,
            )
        )
    return tuple(cases)


def permutations() -> tuple[Case, ...]:
    """Permutations, flow by flow."""
    return tuple(permutation(controller) for controller in CONTROLLERS)


def permutation(controller: str) -> Case:
    """Make the case of a controller's permutation."""
    reference: dict[Hashable, float] = {
        (row["source"], row["destination"]): float(row["fct_us"])
        for row in table(f"htsim/permutation_k10_{controller}_fct.csv")
    }
    return Case(
        f"htsim/permutation/{controller}",
        NAMES[controller],
        "htsim-permutation",
        {**CONTROLLERS[controller], "traffic.file": f"builtin:htsim-permutation-{controller}"},
        (PerFlow("completion time", "us", reference, completion_times, 0.003, 0.01, (0.9, 0.04)),),
        quick=True,
        cost_s=1.0,
    )


FORK_QUEUES: Mapping[str, Mapping[str, object]] = {
    "q8": {"queue.kind": "random-drop", "queue.limit": "32kB", "queue.threshold": "20kB"},
    "q100": {},  # nothing comes near the limit
}
PATH_VALUES: Mapping[str, object] = {"routing.kind": "spray", "routing.by": "counter"}
UNIFORM: Mapping[str, object] = {
    "routing.kind": "spray",
    "routing.acks": "ecmp",
    "transport.timer_scan": "10ms",
    "run.duration": "30ms",
}
FORK: Mapping[str, tuple[str, Mapping[str, object]]] = {
    "ecmp-q8": ("ECMP, queues of 8 packets", {"routing.kind": "ecmp", **FORK_QUEUES["q8"]}),
    "spray-q8": ("spraying, queues of 8 packets", {**PATH_VALUES, **FORK_QUEUES["q8"]}),
    "adaptive-q8": ("adaptive routing, queues of 8 packets", {"routing.kind": "adaptive", **FORK_QUEUES["q8"]}),
    "ecmp-q100": ("ECMP, queues of 100 packets", {"routing.kind": "ecmp"}),
    "spray-q100": ("spraying, queues of 100 packets", PATH_VALUES),
    "adaptive-q100": ("adaptive routing, queues of 100 packets", {"routing.kind": "adaptive"}),
    "spray-q8-dup200": (
        "spraying, queues of 8 packets, 200 duplicates",
        {**PATH_VALUES, **FORK_QUEUES["q8"], "transport.dupthresh": 200},
    ),
    "spray-q100-dup200": (
        "spraying, queues of 100 packets, 200 duplicates",
        {**PATH_VALUES, "transport.dupthresh": 200},
    ),
    "uniform-q8": (
        "upstream, a random route a data packet, queues of 8 packets",
        {**UNIFORM, **FORK_QUEUES["q8"]},
    ),
    "uniform-q100": ("upstream, a random route a data packet, queues of 100 packets", UNIFORM),
}
"""Runs of the fork: description, and settings here."""
FORK_INCAST: Mapping[str, tuple[str, Mapping[str, object]]] = {
    "ecmp": ("ECMP", {"routing.kind": "ecmp"}),
    "spray": ("spraying", {**PATH_VALUES, "run.ties": "hash"}),
    "adaptive": ("adaptive routing", {"routing.kind": "adaptive"}),
    "ecmp-hash": ("ECMP, a random order at one instant", {"routing.kind": "ecmp", "run.ties": "hash"}),
}
"""The fork's incasts, likewise; the last is its ECMP without its order."""
FORK_SEEDS = range(1, 6)
FORK_INCAST_SEEDS = range(1, 31)
Bounds = Callable[[str, str], Tolerance | None]
"""Function that returns the tolerance of a figure, by run and column of the reference."""
TIGHT: Mapping[str, Tolerance] = {
    "mean_us": Relative(0.04),
    "p99_us": Relative(0.10),
    "retransmissions": Relative(0.15),
}


def forked() -> Iterator[tuple[tuple[Case, ...], Mean]]:
    """Make the fork's permutations and incasts: a case a seed, and their means."""
    permutations = list(table("htsim/fork.csv"))
    yield from sprayed("fork", FORK, "htsim-spraying.toml", permutations, FORK_SEEDS, 250, lambda _, of: TIGHT.get(of))
    incasts = [dict(row) for row in table("htsim/fork-incast.csv")]
    incasts += [{**row, "run": "ecmp-hash"} for row in incasts if row["run"] == "ecmp"]

    def overlapping(run: str, column: str) -> Tolerance | None:
        # the last flow ends 9 or 15 ms after the start
        if run == "ecmp-hash" or column == "p99_us":
            return None
        known = estimate([float(row[column]) for row in incasts if row["run"] == run])
        near = Relative(0.04) if run == "spray" and column == "mean_us" else None
        return Overlap((known.half_width if known else None) or 0.0, near)

    yield from sprayed(
        "fork-incast", FORK_INCAST, "htsim-fork-incast.toml", incasts, FORK_INCAST_SEEDS, 50, overlapping
    )


def sprayed(
    name: str,
    runs: Mapping[str, tuple[str, Mapping[str, object]]],
    scenario: str,
    reference: Sequence[Mapping[str, str]],
    seeds: Sequence[int],
    flows: int,
    bounds: Bounds,
) -> Iterator[tuple[tuple[Case, ...], Mean]]:
    """Make the cases of a file of the fork's runs, and their means."""

    def mean(run: str, column: str) -> float:
        theirs = [float(row[column]) for row in reference if row["run"] == run]
        return math.fsum(theirs) / len(theirs)

    for run, (title, settings) in runs.items():
        cases = tuple(
            Case(
                f"htsim/{name}-seeds/{run}-{seed}",
                f"{title}, seed {seed}",
                scenario,
                settings,
                (
                    Figure("completion time: mean", "us", None, None, mean_time),
                    Figure("completion time: p99", "us", None, None, summary("fct.p99_s", 1e6)),
                    Figure("retransmissions", "", None, None, summary("flows.retransmissions")),
                    Figure("timeouts", "", None, None, summary("flows.timeouts")),
                    Figure("flows finished", "", None, None, summary("flows.finished")),
                ),
                seed=seed,
                quick=run == "spray-q8-dup200",
                cost_s=0.5,
            )
            for seed in seeds
        )
        compared = {
            "completion time: mean": ("us", "mean_us"),
            "completion time: p99": ("us", "p99_us"),
            "retransmissions": ("", "retransmissions"),
            "timeouts": ("", "timeouts"),
        }
        figures = tuple(
            (figure, unit, mean(run, column), bounds(run, column)) for figure, (unit, column) in compared.items()
        )
        finished = ("flows finished", "", float(flows), Exact())
        yield cases, Mean(f"htsim/{name}/{run}", title, tuple(case.id for case in cases), (*figures, finished))


Rule = tuple[str, str, Mapping[str, object]]
"""Name, what holds with it changed, and the settings: the controller's own by their plain names."""
FORK_RULES: tuple[Rule, ...] = (
    ("duplicate-rtt", "duplicates give no RTT samples", {"transport.duplicate_rtt": False}),
    ("inflation", "a timeout ends the inflation of a recovery", {"transport.inflation_survives_timeout": False}),
    ("recovery-point", "the recovery point never goes back", {"transport.go_back_n_point": False}),
    ("new-path", "go-back-N takes the current path value", {"transport.go_back_n_new_path": False}),
)
"""Rules after losses of the fork, each taken away from its incast under spraying."""


def fork_rules() -> Iterator[Case]:
    """One run a rule of the fork, taken away; shown, not judged."""
    title, settings = FORK_INCAST["spray"]
    figures = (
        Figure("completion time: mean", "us", None, None, mean_time),
        Figure("retransmissions", "", None, None, summary("flows.retransmissions")),
        Figure("timeouts", "", None, None, summary("flows.timeouts")),
    )
    base = Case(
        "htsim/rules/run-fork-incast",
        f"Swift in the fork, 50 flows of 2 MB to one host, {title}, seed 1",
        "htsim-fork-incast.toml",
        settings,
        figures,
        seed=1,
        cost_s=0.5,
    )
    yield base
    for name, changes, off in FORK_RULES:
        yield replace(base, id=f"htsim/rules/fork-{name}", title=changes, settings={**settings, **off}, base=base.id)


MEANS = {"swift": 432.105, "dctcp": 479.305}
RULES: Mapping[str, tuple[Rule, ...]] = {
    "swift": (
        (
            "topology-scaling",
            "3.053 us of target a link, which its zero hop count takes away",
            {"topology_scaling": True, "h": "3.053us"},
        ),
        ("base-target", "a base target from the fabric, not 20 us", {"base_target": "auto"}),
        ("extra-packet", "500 packets, not 501", {"transport.extra_packets": 0}),
        (
            "fair-nic",
            "a plain queue at hosts, not 3 packets of a flow",
            {"queue.host.kind": "drop-tail", "queue.host.limit": "none"},
        ),
    ),
    "dctcp": (
        ("alpha", "alpha from 1, not 0", {"initial_alpha": 1}),
        ("round", "rounds of data, not of counted ACKs", {"round": "data"}),
        ("cut-at", "a cut at the first mark of a window, not at every update of alpha", {"cut_at": "mark"}),
        ("slow-start", "slow start, not avoidance from 15 packets on", {"slow_start": True}),
        ("avoidance", "a segment a window of bytes, not growth into its room", {"avoidance": "bytes"}),
        ("lone-syn", "data at once, not after a SYN", {"transport.lone_syn": False}),
        ("mark-at", "marks at arrival, not at departure", {"queue.mark_at": "arrival"}),
    ),
}


INCASTS: tuple[tuple[str, str, str, Mapping[str, object], tuple[Rule, ...]], ...] = (
    (
        "swift",
        "incast",
        "40 flows of 2 MB to one host",
        {},
        (
            ("fs-window", "flow scaling by the window itself, not its whole packets", {"fs_window": "real"}),
            ("gate", "decreases gated by the latest RTT, not the smoothed one before it", {"gate": "rtt"}),
        ),
    ),
    (
        "swift",
        "slow",
        "10 flows of 100 kB to one host over links of 1 Gb/s: round trips above the base target of 20 us",
        {"traffic.flows": 10, "traffic.app.size": "100kB", "topology.link.rate": "1Gbps"},
        (
            ("arithmetic", "real windows and targets, not whole bytes and picoseconds", {"arithmetic": "real"}),
            ("pace-by", "pacing below one packet by the latest RTT, not the smoothed one", {"pace_by": "rtt"}),
            ("min-cwnd", "at least a thousandth of a packet, not 10 bytes", {"min_cwnd": 0.001}),
        ),
    ),
    (
        "dctcp",
        "incast",
        "20 flows of 20 MB to one host, marked from two packets on",
        {"traffic.flows": 20, "traffic.app.size": "20MB", "queue.mark": "8kB"},
        (
            ("arithmetic", "real windows, not whole bytes", {"arithmetic": "real"}),
            ("floor", "at least two segments, not one", {"floor": 2}),
        ),
    ),
)
"""Runs of small windows: the controller, a name, what is run, and the rules that are changed in them."""


def rules() -> tuple[Case, ...]:
    """One run a rule, changed; shown, not judged."""
    cases = []
    for controller, changes in RULES.items():
        mean = (Figure("completion time: mean", "us", MEANS[controller], None, mean_time),)
        around = {**CONTROLLERS[controller], "traffic.file": f"builtin:htsim-permutation-{controller}"}
        base = Case(f"htsim/permutation/{controller}", "", "htsim-permutation", around, mean, cost_s=1.0)
        cases += [changed(controller, base, rule) for rule in changes]
    figures = (
        Figure("completion time: mean", "us", None, None, mean_time),
        Figure("mean queue", "packets", None, None, port("edge7>h15", "queue_mean_packets")),
    )
    for controller, name, title, settings, changes in INCASTS:
        around = {**CONTROLLERS[controller], **settings}
        titled = f"{NAMES[controller]}, {title}"
        base = Case(
            f"htsim/rules/run-{controller}-{name}", titled, "htsim-incast.toml", around, figures, quick=True, cost_s=0.2
        )
        cases += [base, *(changed(controller, base, rule) for rule in changes)]
    return tuple(cases)


def changed(controller: str, base: Case, rule: Rule) -> Case:
    """Make the case of a run with a rule of its controller changed."""
    name, title, settings = rule
    own = "".join(f",{key}={str(value).lower()}" for key, value in settings.items() if "." not in key)
    around = {key: value for key, value in settings.items() if "." in key}
    return replace(
        base,
        id=f"htsim/rules/{controller}-{name}",
        title=f"{NAMES[controller]}: {title}",
        settings={**base.settings, "controller": f"{controller}:form=htsim{own}", **around},
        base=base.id,
    )


def mean_time(result: Result) -> float | None:
    """Take the mean completion time in microseconds."""
    mean = result.summary["fct"]["mean_s"]
    return None if mean is None else 1e6 * mean


def completion_times(result: Result) -> dict[Hashable, float | None]:
    """Take every flow's completion time in microseconds by its ends."""
    columns = (result.flows[name].to_pylist() for name in ("src", "dst", "fct_s"))
    return {(f"h{src}", f"h{dst}"): None if fct is None else 1e6 * fct for src, dst, fct in zip(*columns, strict=True)}
