"""The statements of the study yasomam, beside what a comparison of its controllers sees.

The study is a student report that compares ns-3's DCTCP with its own Swift on fat trees
(k = 4 and k = 12, 1 Gb/s, 10 us): random hotspot and random pairs, three runs a point, figures
from FlowMonitor. Its statements are restated here in our words; the verdicts and all numbers
beside them are computed from the runs at hand. Throughput and delay are FlowMonitor's
(``flowmonitor.*`` of the summary). Loss is ``flows.loss_mean_pct``, the same unweighted mean over
flows: the study's meter ran on for 10 s after the traffic, so that packets in flight at the end,
which FlowMonitor takes for lost, had arrived; here runs end with the traffic.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from incast.comparison import Comparison
from incast.statistics import Estimate, estimate
from incast.study.comparing import Controller
from incast.verdict import Verdict

THROUGHPUT = "flowmonitor.throughput_kibps"
DELAY = "flowmonitor.delay_s"
LOSS = "flows.loss_mean_pct"

NEGLIGIBLE_LOSS_PCT = 0.1
"""The bound of "negligible" loss: the study gives no number, its plots show no height there."""


@dataclass(frozen=True)
class Finding:
    """A statement of the study and what is seen here."""

    where: str
    statement: str
    verdict: Verdict
    seen: list[tuple[str, list[str]]]
    """The points against it, the open ones, and those as stated: a heading, and the numbers."""


class Untested(Exception):
    """A statement needs data which this comparison does not have."""


ROLES = {
    "dctcp": "DCTCP",
    "min-rtt": "Swift (min RTT)",
    "epsilon": "Swift (min RTT + epsilon)",
    "static": "Swift (fixed target)",
}


def role(controller: Controller) -> str | None:
    """Which of the study's protocols a controller stands for."""
    if controller.kind == "dctcp" and not controller.parameters:
        return "dctcp"
    if controller.kind != "swift":
        return None
    names = set(controller.parameters)
    match controller.parameters.get("target"):
        case "min-rtt" if names == {"target"}:
            return "min-rtt"
        case "min-rtt" if names == {"target", "epsilon"}:
            return "epsilon"
        case "static":
            return "static"
    return None


@dataclass(frozen=True)
class Test:
    """One comparison of numbers inside a statement."""

    outcome: Verdict
    text: str


class Data:
    """The figures of one scenario, by role and number of flows."""

    def __init__(self, comparison: Comparison, scenario: str) -> None:
        study = comparison.study
        if study.key != "traffic.flows":
            raise Untested("the number of flows is not varied here")
        self.comparison = comparison
        self.scenario = scenario
        self.counts = sorted(int(value) for value in study.values)
        self.by_role = {r: c.text for c in study.controllers if (r := role(c)) is not None}

    def has(self, name: str) -> None:
        """Give up unless a role is there."""
        if name not in self.by_role:
            raise Untested(f"{ROLES[name]} is not part of this comparison")

    def at(self, count: int) -> int:
        """Give up unless a number of flows is there."""
        if count not in self.counts:
            raise Untested(f"{count} flows are not part of this comparison")
        return count

    def seeds(self, name: str, count: int, key: str) -> dict[int, float]:
        """Values of a figure by seed."""
        self.has(name)
        found = self.comparison.values(self.scenario, self.by_role[name], str(count), key)
        if not found:
            raise Untested(f"{key} does not exist at {count} flows")
        return found

    def mean(self, name: str, count: int, key: str) -> Estimate:
        """Mean of a figure over the seeds."""
        found = estimate(list(self.seeds(name, count, key).values()))
        assert found is not None
        return found

    def difference(self, a: str, b: str, count: int, key: str) -> Estimate:
        """Mean of the paired differences a - b over the seeds."""
        self.has(a)
        self.has(b)
        found = self.comparison.difference(self.scenario, self.by_role[a], self.by_role[b], str(count), key)
        if found is None:
            raise Untested("no common seeds")
        return found


def _sign(difference: Estimate) -> Verdict:
    """Whether a difference is above zero: clear of noise, by its 95 % interval, or open.

    Without a second seed there is no interval, and nothing is clear of noise.
    """
    if difference.half_width is None:
        return Verdict.OPEN
    if difference.low > 0:
        return Verdict.HOLDS
    return Verdict.FAILS if difference.high < 0 else Verdict.OPEN


def show(key: str, value: float) -> str:
    """Write a figure with its unit."""
    if key == THROUGHPUT:
        return f"{value * 1024 / 1e6:.4g} Mb/s"
    if key == DELAY:
        return f"{value * 1e3:.4g} ms"
    return f"{value:.3g} %"


def greater(data: Data, key: str, a: str, b: str, count: int) -> Test:
    """Test that a's figure is above b's."""
    means = data.mean(a, count, key).mean, data.mean(b, count, key).mean
    outcome = _sign(data.difference(a, b, count, key))
    return Test(outcome, f"{ROLES[a]} {show(key, means[0])}, {ROLES[b]} {show(key, means[1])} at {count} flows")


def above(data: Data, key: str, a: str, limit: float, count: int) -> Test:
    """Test that a's figure is above a number."""
    found = data.mean(a, count, key)
    shifted = Estimate(found.mean - limit, found.half_width, found.count)
    return Test(_sign(shifted), f"{ROLES[a]} {show(key, found.mean)} at {count} flows")


def below(data: Data, key: str, a: str, limit: float, count: int) -> Test:
    """Test that a's figure is below a number."""
    found = data.mean(a, count, key)
    shifted = Estimate(limit - found.mean, found.half_width, found.count)
    return Test(_sign(shifted), f"{ROLES[a]} {show(key, found.mean)} at {count} flows")


def falling(data: Data, key: str, a: str) -> list[Test]:
    """Test that a's figure falls from each number of flows to the next."""
    tests = []
    for fewer, more in zip(data.counts, data.counts[1:], strict=False):
        left, right = data.mean(a, fewer, key), data.mean(a, more, key)
        # Runs at different numbers of flows are not pairs: the intervals must be apart.
        if left.half_width is None or right.half_width is None:
            outcome = Verdict.OPEN
        elif left.low > right.high:
            outcome = Verdict.HOLDS
        else:
            outcome = Verdict.FAILS if left.high < right.low else Verdict.OPEN
        tests.append(
            Test(
                outcome,
                f"{ROLES[a]} {show(key, left.mean)} at {fewer}, {show(key, right.mean)} at {more} flows",
            )
        )
    return tests


def judge(tests: list[Test]) -> tuple[Verdict, list[tuple[str, list[str]]]]:
    """Sum tests up: one clear contradiction refutes, one open test leaves the whole open."""
    if not tests:
        raise Untested("no point of this comparison bears on it")
    outcomes = [test.outcome for test in tests]
    if Verdict.FAILS in outcomes:
        verdict = Verdict.FAILS
    elif Verdict.OPEN in outcomes:
        verdict = Verdict.OPEN
    else:
        verdict = Verdict.HOLDS
    seen = []
    for outcome, words in [
        (Verdict.FAILS, "Against it"),
        (Verdict.OPEN, "Within the noise of the seeds"),
        (Verdict.HOLDS, "As stated"),
    ]:
        texts = [test.text for test in tests if test.outcome is outcome]
        if texts:
            seen.append((words, texts))
    return verdict, seen


SWIFT_ROLES = ("min-rtt", "epsilon", "static")
ADAPTIVE = ("min-rtt", "epsilon")


def _everyone(data: Data) -> list[str]:
    for name in ROLES:
        data.has(name)
    return list(ROLES)


Statement = tuple[str, Callable[[Data], list[Test]]]


def _best(data: Data, key: str, a: str, counts: list[int], *, lowest: bool = False) -> list[Test]:
    others = [name for name in _everyone(data) if name != a]
    return [
        greater(data, key, other, a, count) if lowest else greater(data, key, a, other, count)
        for count in counts
        for other in others
    ]


HOTSPOT: list[Statement] = [
    (
        "Throughput per flow falls as flows are added, under every protocol.",
        lambda d: [t for name in _everyone(d) for t in falling(d, THROUGHPUT, name)],
    ),
    (
        "At 100 flows every protocol still gives more than 5 Mb/s per flow.",
        lambda d: [above(d, THROUGHPUT, name, 5e6 / 1024, d.at(100)) for name in _everyone(d)],
    ),
    (
        "Swift with the smallest RTT seen as its target, alone or with an epsilon, gives more throughput than "
        "DCTCP at every number of flows.",
        lambda d: [greater(d, THROUGHPUT, name, "dctcp", count) for count in d.counts for name in ADAPTIVE],
    ),
    (
        "Swift with the fixed 25 ms target gives the least throughput, most of all with many flows.",
        lambda d: _best(d, THROUGHPUT, "static", d.counts, lowest=True),
    ),
    (
        "Up to 250 flows loss is negligible, except under the fixed target.",
        lambda d: [
            below(d, LOSS, name, NEGLIGIBLE_LOSS_PCT, count)
            for count in d.counts
            if count <= 250
            for name in ("dctcp", *ADAPTIVE)
        ],
    ),
    (
        "Under the fixed target loss is already significant at 250 flows (about 3.9 % there).",
        lambda d: [above(d, LOSS, "static", NEGLIGIBLE_LOSS_PCT, d.at(250))],
    ),
    (
        "Under the fixed target loss passes 10 % at 2000 flows.",
        lambda d: [above(d, LOSS, "static", 10.0, d.at(2000))],
    ),
    (
        "The fixed target has the highest loss of all from 250 flows on.",
        lambda d: _best(d, LOSS, "static", [c for c in d.counts if c >= 250]),
    ),
    (
        "Both min-RTT Swifts lose less than DCTCP at most numbers of flows (tested at the largest).",
        lambda d: [greater(d, LOSS, "dctcp", name, d.counts[-1]) for name in ADAPTIVE],
    ),
    (
        "With few flows DCTCP has the lowest mean delay.",
        lambda d: _best(d, DELAY, "dctcp", d.counts[:1], lowest=True),
    ),
    (
        "The fixed target has the highest delay, with few flows already.",
        lambda d: _best(d, DELAY, "static", d.counts),
    ),
]

PAIRS: list[Statement] = [
    (
        "Throughput per flow falls as flows are added, under every protocol.",
        lambda d: [t for name in _everyone(d) for t in falling(d, THROUGHPUT, name)],
    ),
    (
        "At 100 flows every protocol gives more than 43 Mb/s per flow.",
        lambda d: [above(d, THROUGHPUT, name, 43e6 / 1024, d.at(100)) for name in _everyone(d)],
    ),
    (
        "At 100 flows the fixed target gives the most throughput.",
        lambda d: _best(d, THROUGHPUT, "static", [d.at(100)]),
    ),
    (
        "From 250 flows on DCTCP gives the most throughput.",
        lambda d: _best(d, THROUGHPUT, "dctcp", [c for c in d.counts if c >= 250]),
    ),
    (
        "Up to 750 flows loss is negligible, except under the fixed target.",
        lambda d: [
            below(d, LOSS, name, NEGLIGIBLE_LOSS_PCT, count)
            for count in d.counts
            if count <= 750
            for name in ("dctcp", *ADAPTIVE)
        ],
    ),
    (
        "Under the fixed target loss passes 1.1 % at 2000 flows.",
        lambda d: [above(d, LOSS, "static", 1.1, d.at(2000))],
    ),
    (
        "With the most flows DCTCP loses least.",
        lambda d: _best(d, LOSS, "dctcp", d.counts[-1:], lowest=True),
    ),
    (
        "Swift with the smallest RTT seen as its target has the lowest delay at every number of flows.",
        lambda d: _best(d, DELAY, "min-rtt", d.counts, lowest=True),
    ),
    (
        "Both min-RTT Swifts have less delay than DCTCP at every number of flows.",
        lambda d: [greater(d, DELAY, "dctcp", name, count) for count in d.counts for name in ADAPTIVE],
    ),
    (
        "DCTCP's delay rises steadily with the load.",
        lambda d: [_rises(d, DELAY, "dctcp", fewer, more) for fewer, more in zip(d.counts, d.counts[1:], strict=False)],
    ),
    (
        "The fixed target has the highest delay, above 10 ms at 2000 flows.",
        lambda d: [above(d, DELAY, "static", 0.010, d.at(2000)), *_best(d, DELAY, "static", d.counts)],
    ),
    (
        "Where there is next to no loss, Swift with the smallest RTT seen as its target gives the least "
        "throughput (tested at the smallest number of flows).",
        lambda d: _best(d, THROUGHPUT, "min-rtt", d.counts[:1], lowest=True),
    ),
]

BOTH: list[Statement] = [
    (
        "Swift with the smallest RTT seen as its target loses least of all, at every number of flows.",
        lambda d: _best(d, LOSS, "min-rtt", d.counts, lowest=True),
    ),
    (
        "Swift with the smallest RTT seen as its target and DCTCP give nearly the same throughput under high "
        "load (read as: within 10 % of each other at the largest number of flows).",
        lambda d: [_close(d, "min-rtt", "dctcp", 0.10, d.counts[-1])],
    ),
]


def _close(data: Data, a: str, b: str, part: float, count: int) -> Test:
    """Test that two throughputs differ by less than a part of b's."""
    left, right = (data.mean(name, count, THROUGHPUT).mean for name in (a, b))
    gap = data.difference(a, b, count, THROUGHPUT)
    limit = part * right
    if gap.half_width is None:
        outcome = Verdict.OPEN
    elif gap.low >= -limit and gap.high <= limit:
        outcome = Verdict.HOLDS
    else:
        outcome = Verdict.FAILS if gap.low > limit or gap.high < -limit else Verdict.OPEN
    return Test(
        outcome,
        f"{ROLES[a]} {show(THROUGHPUT, left)}, {ROLES[b]} {show(THROUGHPUT, right)} at {count} flows",
    )


def _gap_below(data: Data, a: str, b: str, limit: float, count: int) -> Test:
    """Test that a's throughput is ahead of b's by less than a number of Kibit/s."""
    gap = data.difference(a, b, count, THROUGHPUT)
    shifted = Estimate(limit - gap.mean, gap.half_width, gap.count)
    return Test(_sign(shifted), f"{ROLES[a]} ahead of {ROLES[b]} by {show(THROUGHPUT, gap.mean)} at {count} flows")


def _rises(data: Data, key: str, a: str, fewer: int, more: int) -> Test:
    """Test that a's figure is lower at fewer flows than at more."""
    left, right = data.mean(a, data.at(fewer), key), data.mean(a, data.at(more), key)
    text = f"{ROLES[a]} {show(key, left.mean)} at {fewer}, {show(key, right.mean)} at {more} flows"
    if left.half_width is None or right.half_width is None:
        return Test(Verdict.OPEN, text)
    if left.high < right.low:
        return Test(Verdict.HOLDS, text)
    return Test(Verdict.FAILS if left.low > right.high else Verdict.OPEN, text)


def _opposite(test: Test) -> Test:
    flipped = {Verdict.HOLDS: Verdict.FAILS, Verdict.FAILS: Verdict.HOLDS}
    return Test(flipped.get(test.outcome, test.outcome), test.text)


LARGE: list[Statement] = [
    (
        "The fixed target loses about 2 % at 100 flows (read as: more than 1 %) and more than 35 % at 3000.",
        lambda d: [above(d, LOSS, "static", 1.0, d.at(100)), above(d, LOSS, "static", 35.0, d.at(3000))],
    ),
    ("DCTCP's loss passes 14 % at 3000 flows.", lambda d: [above(d, LOSS, "dctcp", 14.0, d.at(3000))]),
    (
        "DCTCP's throughput is ahead of Swift (min RTT)'s from 2000 to 3000 flows, by 13 Kb/s at most.",
        lambda d: [
            test
            for count in d.counts
            if 2000 <= count <= 3000
            for test in (
                greater(d, THROUGHPUT, "dctcp", "min-rtt", count),
                _gap_below(d, "dctcp", "min-rtt", 13, count),
            )
        ],
    ),
    (
        "DCTCP's delay is lower at 3000 flows than at 2000.",
        lambda d: [_opposite(_rises(d, DELAY, "dctcp", 2000, 3000))],
    ),
]


def findings(comparison: Comparison) -> list[Finding]:
    """Judge every statement by the comparison's data."""
    found = []
    names = dict(zip(comparison.study.scenario_names(), comparison.study.scenarios, strict=True))
    for name, title, k, statements in [
        ("random-hotspot", "k = 4, random hotspot", 4, HOTSPOT + BOTH),
        ("random-pairs", "k = 4, random pairs", 4, PAIRS + BOTH),
        ("random-hotspot", "k = 12, random hotspot", 12, LARGE),
    ]:
        for statement, test in statements:
            try:
                if name not in names:
                    raise Untested(f"{name} is not part of this comparison")
                _must_be_fat_tree(comparison, names[name], k)
                verdict, seen = judge(test(Data(comparison, names[name])))
            except Untested as gap:
                verdict, seen = Verdict.UNTESTED, [("Not tested", [str(gap)])]
            found.append(Finding(title, statement, verdict, seen))
    return found


def _must_be_fat_tree(comparison: Comparison, scenario: str, k: int) -> None:
    """Give up on another fabric than the one the statement is about."""
    case = next(case for case in comparison.study.cases() if case.scenario == scenario)
    topology = comparison.study.scenario(case).resolved()["topology"]
    if topology.get("kind") != "fat-tree" or topology.get("k") != k:
        raise Untested(f"the fabric here is not the k = {k} fat tree")
