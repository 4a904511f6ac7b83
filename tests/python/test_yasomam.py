"""Verdicts follow the data: each test moves the data and sees the verdict move."""

from __future__ import annotations

from pathlib import Path

import pytest

from incast import studies
from incast.comparison import Comparison, Run
from incast.studies.yasomam.claims import Finding, findings
from incast.study.comparing import Case, ComparisonStudy
from incast.verdict import Verdict

DCTCP, MIN_RTT, EPSILON, STATIC = (
    "dctcp",
    "swift:target=min-rtt",
    "swift:target=min-rtt,epsilon=auto",
    "swift:target=static,static_target=25ms",
)
ALL = [DCTCP, MIN_RTT, EPSILON, STATIC]


def comparison(
    throughput: dict[str, dict[int, list[float]]],
    *,
    scenario: str = "random-hotspot",
    key: str = "traffic.flows",
    settings: tuple[tuple[str, str], ...] = (),
    loss_pct: float = 0.01,
) -> Comparison:
    """Make up a comparison from throughputs in Mb/s, by controller, flows and seed."""
    counts = list(next(iter(throughput.values())))
    seeds = len(next(iter(throughput.values()))[counts[0]])
    study = ComparisonStudy.parse([scenario], list(throughput), f"{key}={','.join(map(str, counts))}", seeds, settings)
    runs: dict[Case, Run] = {}
    for case in study.cases():
        value = throughput[case.controller.text][int(case.value)][case.seed - 1]
        flowmonitor = {"throughput_kibps": value * 1e6 / 1024, "delay_s": 0.001}
        runs[case] = Run(case, Path(), {"flowmonitor": flowmonitor, "flows": {"loss_mean_pct": loss_pct}}, {}, 1.0)
    return Comparison(study, Path(), runs)


def find(made: Comparison, words: str, where: str = "k = 4, random hotspot") -> Finding:
    (found,) = [f for f in findings(made) if words in f.statement and f.where == where]
    return found


def near(*means: float) -> list[list[float]]:
    """Three seeds within one percent of each mean."""
    return [[mean * 0.995, mean, mean * 1.005] for mean in means]


def table(dctcp: float, min_rtt: float, epsilon: float, static: float) -> dict[str, dict[int, list[float]]]:
    """Throughputs at 100 flows, and a tenth of them at 2000."""
    return {
        name: dict(zip((100, 2000), near(value, value / 10), strict=True))
        for name, value in zip(ALL, (dctcp, min_rtt, epsilon, static), strict=True)
    }


ABOVE = "more throughput than DCTCP at every number of flows"


def test_statement_holds_when_every_point_is_clear() -> None:
    found = find(comparison(table(8, 9, 9.5, 7)), ABOVE)
    assert found.verdict is Verdict.HOLDS
    ((heading, texts),) = found.seen
    assert heading == "As stated"
    assert "Swift (min RTT) 9 Mb/s, DCTCP 8 Mb/s at 100 flows" in texts


def test_one_clear_contradiction_refutes() -> None:
    values = table(8, 9, 9.5, 7)
    values[MIN_RTT][2000] = [0.1, 0.101, 0.102]
    found = find(comparison(values), ABOVE)
    assert found.verdict is Verdict.FAILS
    assert found.seen[0][0] == "Against it"
    assert "0.101 Mb/s" in found.seen[0][1][0]


def test_a_difference_within_the_noise_is_undecided() -> None:
    values = table(8, 9, 9.5, 7)
    values[MIN_RTT][2000] = [0.5, 0.9, 1.1]  # DCTCP has 0.8 there
    assert find(comparison(values), ABOVE).verdict is Verdict.OPEN


def test_equal_figures_decide_nothing() -> None:
    found = find(comparison(table(8, 9, 9.5, 7)), "loses least of all")
    assert found.verdict is Verdict.OPEN  # all lose 0.01 %


def test_one_seed_decides_nothing() -> None:
    values = {name: {100: [9.0], 2000: [1.0]} for name in ALL} | {DCTCP: {100: [8.0], 2000: [0.5]}}
    assert find(comparison(values), ABOVE).verdict is Verdict.OPEN


def test_limits_are_compared_with_the_interval() -> None:
    words = "still gives more than 5 Mb/s"
    assert find(comparison(table(8, 9, 9.5, 7)), words).verdict is Verdict.HOLDS
    assert find(comparison(table(8, 9, 9.5, 4)), words).verdict is Verdict.FAILS


def test_loss_limits() -> None:
    words = "Up to 250 flows loss is negligible"
    assert find(comparison(table(8, 9, 9.5, 7), loss_pct=0.01), words).verdict is Verdict.HOLDS
    assert find(comparison(table(8, 9, 9.5, 7), loss_pct=0.2), words).verdict is Verdict.FAILS


def test_falling_throughput() -> None:
    words = "Throughput per flow falls"
    assert find(comparison(table(8, 9, 9.5, 7)), words).verdict is Verdict.HOLDS
    rising = {name: dict(zip((100, 2000), near(5, 6), strict=True)) for name in ALL}
    assert find(comparison(rising), words).verdict is Verdict.FAILS


@pytest.mark.parametrize(
    ("made", "reason"),
    [
        (comparison({DCTCP: {100: [1.0, 2.0]}, EPSILON: {100: [1.0, 2.0]}}), "Swift (min RTT) is not part"),
        (comparison(table(8, 9, 9.5, 7), settings=(("topology.k", "6"),)), "not the k = 4 fat tree"),
        (comparison(table(8, 9, 9.5, 7), scenario="random-pairs"), "random-hotspot is not part"),
        (
            comparison({n: {1000: [1.0, 2.0]} for n in ALL}, key="transport.mss"),
            "number of flows is not varied",
        ),
    ],
)
def test_what_the_data_does_not_bear_on_is_not_tested(made: Comparison, reason: str) -> None:
    found = find(made, ABOVE)
    assert found.verdict is Verdict.UNTESTED
    assert reason in found.seen[0][1][0]


def test_the_larger_tree_is_judged_on_the_larger_tree_only() -> None:
    words, where = "loses about 2 % at 100 flows", "k = 12, random hotspot"
    values = {name: dict(zip((100, 3000), near(8, 0.3), strict=True)) for name in ALL}
    assert find(comparison(values), words, where).verdict is Verdict.UNTESTED
    large = comparison(values, settings=(("topology.k", "12"),), loss_pct=40.0)
    assert find(large, words, where).verdict is Verdict.HOLDS


def test_a_report_has_the_claims_where_the_comparison_is_the_studys() -> None:
    (section,) = studies.sections(comparison(table(8, 9, 9.5, 7)))
    assert "claims in words of the study yasomam" in section
    assert section.count("<tr><td>k = ") == len(findings(comparison(table(8, 9, 9.5, 7))))


@pytest.mark.parametrize(
    "made",
    [
        # two of its controllers, of which some claims could be judged
        comparison({name: values for name, values in table(8, 9, 9.5, 7).items() if name in (DCTCP, MIN_RTT)}),
        comparison(table(8, 9, 9.5, 7), settings=(("topology.k", "6"),)),
        comparison({n: {1000: [1.0, 2.0]} for n in ALL}, key="transport.mss"),
    ],
)
def test_no_other_report_has_them(made: Comparison) -> None:
    assert studies.sections(made) == []
