"""Cases of ``make bench``, their limits, and the slices for callgrind."""

from __future__ import annotations

from dataclasses import dataclass

SMALL = ("queue.limit=8p", "run.duration=20ms")
TCP = ("transport.mss=1448", "transport.header=52")
HTSIM = ("traffic.app.size=20MB", "run.duration=50ms")
HTSIM_DCTCP = (
    "controller=dctcp:form=htsim",
    "transport.lone_syn=true",
    "queue.kind=ecn-threshold",
    "queue.mark=60kB",
    "queue.mark_at=departure",
    "queue.host.per_flow=1000",
    "traffic.file=builtin:htsim-permutation-dctcp",
)
UET_TREE = "parity/scenarios/uet-tree.toml"
UET = ("topology.k=8", "traffic.file=../data/uet/perm_k8.cm")
"""128 flows of 2 MB, as csg-htsim's NDP (permuted paths) and EQDS have them: CPU seconds of whole programs there."""


@dataclass(frozen=True)
class Case:
    """One command; floors and ceilings that it must hold, and aims that it does not hold yet."""

    name: str
    scenario: str
    sets: tuple[str, ...] = ()
    floor_mhops: float | None = None
    ceiling_cpu_s: float | None = None
    ceiling_rss_mb: float | None = None
    slow: bool = False
    share_of: str = ""
    """A case before it, of whose hops per CPU second it is to reach 70 %."""
    k: int = 0
    """Ports of a switch of its fat tree, the bare loop of which runs in turn with it; 0: none does."""
    aim_of_bare: float | None = None
    """The share of the bare loop's hops per CPU second that it is to reach."""
    aim_cpu_s: float | None = None
    peer: tuple[str, float] | None = None
    """Another simulator, and its CPU seconds for the same run (on another machine)."""
    aim_threads: tuple[float, float] | None = None
    """Required speed-ups on 2 and 16 threads; such a case is in the table of threads."""


CASES = (
    Case(
        "k8-4kB",
        "permutation",
        ("traffic.app.size=20MB", "run.duration=50ms"),
        10,
        k=8,
        aim_of_bare=0.65,
        aim_threads=(1.5, 3),
    ),
    Case("k8-1500B", "permutation", ("traffic.app.size=8MB", "run.duration=50ms", *TCP), 10, k=8),
    Case(
        "k16-4kB",
        "permutation",
        ("topology.k=16", "traffic.app.size=4MB", "run.duration=50ms"),
        8,
        k=16,
        aim_of_bare=0.55,
        aim_threads=(1.7, 6),
    ),
    Case("k16-1500B", "permutation", ("topology.k=16", "traffic.app.size=2MB", "run.duration=50ms", *TCP), 8, k=16),
    # as htsim's runs: 10.9 and 40.5 CPU s there, 4.6 GB at k = 32
    Case("k16-2MB", "permutation", ("topology.k=16", *SMALL), k=16),
    Case(
        "k16-2MB-spray",
        "permutation",
        ("topology.k=16", "routing.kind=spray", *SMALL),
        ceiling_cpu_s=1.2,
        share_of="k16-2MB",
        peer=("htsim", 10.9),
    ),
    Case("k16-2MB-adaptive", "permutation", ("topology.k=16", "routing.kind=adaptive", *SMALL), share_of="k16-2MB"),
    Case(
        "k32-500kB",
        "permutation",
        ("topology.k=32", "traffic.app.size=500kB", *SMALL),
        ceiling_cpu_s=4,
        ceiling_rss_mb=500,
        k=32,
        aim_of_bare=0.42,
        peer=("htsim", 40.5),
        aim_threads=(1.8, 10),
    ),
    Case(
        "k64-100kB",
        "permutation",
        ("topology.k=64", "traffic.app.size=100kB", *SMALL),
        k=64,
        aim_of_bare=0.36,
        slow=True,
        aim_threads=(1.9, 11),
    ),
    # Linux's stack as it comes, RACK and its timers included, with losses to repair
    Case(
        "k8-linux",
        "permutation",
        ("transport.preset=linux-default", "controller=cubic:form=linux", "traffic.app.size=1MB", "run.duration=50ms"),
        k=8,
    ),
    # what comes before the first event, and after the last
    Case("k32-set-up", "permutation", ("topology.k=32", "queue.limit=8p", "run.duration=1us"), None, 1, aim_cpu_s=0.1),
    Case(
        "k64-set-up",
        "permutation",
        ("topology.k=64", "queue.limit=8p", "run.duration=1us"),
        slow=True,
        aim_cpu_s=0.8,
    ),
    # other simulators' own runs: the same packets over the same ports
    Case("htsim-dctcp", "htsim-permutation", (*HTSIM, *HTSIM_DCTCP), k=10, aim_cpu_s=1.3, peer=("htsim", 3.6)),
    Case("htsim-swift", "htsim-permutation", HTSIM, k=10, aim_cpu_s=0.7, peer=("htsim", 5.0)),
    Case(
        "htsim-ndp",
        UET_TREE,
        (*UET, "routing.by=path", "transport.ndp.window=50"),
        aim_cpu_s=0.07,
        peer=("htsim", 0.55),
    ),
    Case(
        "htsim-eqds",
        UET_TREE,
        (*UET, "routing.by=entropy", "transport.preset=eqds", "queue.limit=145600B"),
        aim_cpu_s=0.096,
        peer=("htsim", 0.77),
    ),
    Case("two-senders", "two-senders", (), None, 0.4, peer=("ns-3", 10)),
    Case("days-e5", "parity/scenarios/days-e5.toml", k=32, slow=True, aim_cpu_s=5.5, peer=("Days", 126)),
    Case("demo-2000", "random-hotspot", ("traffic.flows=2000", "run.warmup=2s")),
    Case(
        "k12-hotspot-3000",
        "random-hotspot",
        ("topology.k=12", "traffic.flows=3000", "run.duration=7s"),
        ceiling_cpu_s=5,
        ceiling_rss_mb=300,
    ),
    Case(
        "k12-pairs-3000",
        "random-pairs",
        ("topology.k=12", "traffic.flows=3000", "run.duration=7s"),
        8,
        ceiling_rss_mb=300,
        slow=True,
    ),
    Case(
        "k12-pairs-3000-swift",
        "random-pairs",
        ("topology.k=12", "traffic.flows=3000", "run.duration=7s", "controller=swift"),
        8,
        ceiling_rss_mb=300,
        slow=True,
    ),
)
SHARE = 0.7
"""The least share of ECMP's hops per CPU second that a way of routing may have."""


@dataclass(frozen=True)
class Slice:
    """About a million hops, which callgrind counts; whatever else the machine does, the counts repeat."""

    k: int
    words: tuple[str, ...]
    aim_instructions: float
    """A hop after the set-up; so are the lines."""
    aim_cold_lines: float


SET_UP = "run.duration=1us"
"""Ends a slice where its first packets leave: what is counted until then is its set-up."""
SLICES = (
    Slice(8, ("permutation", "traffic.app.size=2800kB", "run.duration=5ms"), 560, 6),
    Slice(32, ("permutation", "topology.k=32", "traffic.app.size=40kB", "run.duration=5ms"), 650, 6),
)
CONTROLLER_SLICE = ("permutation", "traffic.app.size=500kB", "run.duration=2ms")
"""A fifth of the first, once under every controller."""
NEEDS = {kind: (f'program=[{{kind="{kind}"}}]',) for kind in ("rcp", "d3", "xcp", "bolt")}
"""Further settings that a controller needs there."""
