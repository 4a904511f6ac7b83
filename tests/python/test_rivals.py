"""The paper `rivals`: what it declares, that every scheme does what it promises, and what its verdicts follow from."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from incast import Result
from incast.papers import reading
from incast.papers.definition import Figure, Series
from incast.papers.drawing import looks
from incast.papers.judging import judge
from incast.papers.measuring import Run
from incast.verdict import Verdict

PAPER, FIGURES = reading.find("rivals")
MESSAGES = PAPER.figures["fat-tree-w4"]
SCHEMES = {series.name: series for series in MESSAGES.series}
SWITCHES_TELL = ["HPCC", "PowerTCP", "Poseidon", "XCP"]
SWITCHES_CUT = ["NDP", "EQDS", "NSCC", "RCCC"]


def small(base: str, series: Series, changes: Mapping[str, object]) -> Result:
    """Run a scheme in one of the paper's scenarios, on a fat tree of 16 hosts."""
    figure = next(one for one in FIGURES if one.scenario == base)
    scenario = PAPER.scenario(figure, series, figure.points[0])
    return scenario.with_({"topology.k": 4, **changes}).run(seed=1)


def drops(result: Result) -> int:
    return sum(result.ports["drops"].to_pylist())


def cuts(result: Result) -> int:
    return sum(result.ports["trimmed"].to_pylist())


def timeouts(result: Result) -> int:
    return sum(result.flows["timeouts"].to_pylist())


def test_every_figure_has_every_scheme_and_shows_it_beside_swift() -> None:
    names = [
        "Swift", "Swift, from 10 packets", "theta-PowerTCP", "TIMELY", "DCTCP", "DCQCN", *SWITCHES_TELL,
        *SWITCHES_CUT, "Homa",
    ]  # fmt: skip
    assert list(SCHEMES) == names
    for figure in FIGURES:
        assert list(SCHEMES) == [series.name for series in figure.series], figure.name
        for measure in {y for plot in figure.plots for y in plot.y}:
            pictures = [plot.series for plot in figure.plots if measure in plot.y]
            assert all("Swift" in shown for shown in pictures)
            assert {name for shown in pictures for name in shown} == set(SCHEMES), f"{figure.name}: {measure}"
        for plot in figure.plots:
            drawn = looks([SCHEMES[name] for name in plot.series])
            assert len(set(drawn)) == len(drawn), f"{figure.name}-{plot.name}: two series look alike"


@pytest.mark.parametrize("name", list(SCHEMES))
def test_a_scheme_brings_every_message_in_its_time(name: str) -> None:
    """A few messages on a tree of 16 hosts: all end, none needs a timeout or loses a packet."""
    changes = {"traffic.messages.arrivals.until": "20us", "run.duration": "4ms"}
    result = small("fat-tree.toml", SCHEMES[name], changes)
    slowdowns = result.flows["slowdown"].to_pylist()
    assert len(slowdowns) > 5
    assert all(one is not None and one >= 1 for one in slowdowns)
    assert (timeouts(result), drops(result)) == (0, 0)


@pytest.mark.parametrize("name", [*SWITCHES_CUT, "Homa"])
def test_first_windows_of_an_incast_need_no_timeout_where_that_is_promised(name: str) -> None:
    """Six hosts send 150 kB at once, less than a port's megabyte: Homa waits, the others are cut and come again."""
    changes = {"traffic.flows": 6, "traffic.incast.app.size": "150kB", "run.duration": "3ms"}
    result = small("incast.toml", SCHEMES[name], changes)
    assert result.summary["fct"]["finished"] == 6
    assert (timeouts(result), drops(result)) == (0, 0)
    assert (cuts(result) > 0) is (name in SWITCHES_CUT)


@pytest.mark.parametrize("name", [name for name in SCHEMES if name != "Swift, from 10 packets"])
def test_a_message_alone_is_as_fast_as_the_network(name: str) -> None:
    """One message of a megabyte, some six bandwidth-delay products: no first window or rate of ours holds it back."""
    changes = {"traffic.flows": 1, "traffic.incast.app.size": "1MB", "run.duration": "3ms"}
    (slowdown,) = small("incast.toml", SCHEMES[name], changes).flows["slowdown"].to_pylist()
    assert 1 <= slowdown < 1.1, slowdown


def verdict(figure: Figure, says: str, number: Callable[[str, str, int], float]) -> Verdict:
    """Judge the claim that begins so by the numbers of measure, series and seed, the same at every point."""
    (claim,) = [one for one in figure.claims if one.says.startswith(says)]

    def of(measure: str, series: str, _: object, seed: int | None) -> float:
        seeds = range(1, figure.seeds + 1) if seed is None else [seed]
        return sum(number(measure, series, one) for one in seeds) / len(seeds)

    return judge(figure, claim, of).verdict


def test_priorities_pay_only_where_homa_is_ahead_in_every_size_and_clear_of_noise() -> None:
    def ahead(_: str, series: str, seed: int) -> float:
        return {"Homa": 1.2, "Swift": 3.0, "NDP": 3.4}[series] + seed / 10

    def but_for_large(measure: str, series: str, seed: int) -> float:
        return 9.0 if (measure, series) == ("long", "Homa") else ahead(measure, series, seed)

    def by_chance(measure: str, series: str, seed: int) -> float:
        return 3.0 + (-1) ** seed if series == "Homa" else ahead(measure, series, seed)

    says = "Priorities pay"
    assert verdict(MESSAGES, says, ahead) is Verdict.HOLDS
    assert verdict(MESSAGES, says, but_for_large) is Verdict.FAILS
    assert verdict(MESSAGES, says, by_chance) is Verdict.OPEN


@pytest.mark.parametrize("best", SWITCHES_TELL)
def test_swift_is_held_against_the_best_of_those_that_switches_tell(best: str) -> None:
    def near(_: str, series: str, seed: int) -> float:
        return {"Swift": 3.0, best: 1.6}.get(series, 5.0) + seed / 100

    def far(measure: str, series: str, seed: int) -> float:
        return 1.4 + seed / 100 if series == best else near(measure, series, seed)

    assert verdict(MESSAGES, "Up to a packet", near) is Verdict.HOLDS
    assert verdict(MESSAGES, "Up to a packet", far) is Verdict.FAILS


def test_who_shares_two_bottlenecks_and_what_newcomers_have_is_judged_by_shares() -> None:
    lot, new = PAPER.figures["parking-lot"], PAPER.figures["newcomers"]
    equal = {"share": 0.95, "beside": 1.0}
    assert verdict(lot, "Poseidon keeps", lambda measure, *_: equal[measure]) is Verdict.HOLDS
    assert verdict(lot, "Poseidon keeps", lambda measure, *_: equal[measure] - 0.2 * (measure == "share")) is (
        Verdict.FAILS
    )
    assert verdict(lot, "Swift sees", lambda *_: 0.04) is Verdict.HOLDS
    assert verdict(lot, "Swift sees", lambda *_: 0.5) is Verdict.FAILS
    assert verdict(new, "Receivers share", lambda *_: 0.95) is Verdict.HOLDS
    assert verdict(new, "Receivers share", lambda _, series, __: 0.5 if series == "RCCC" else 1.0) is Verdict.FAILS
    assert verdict(new, "Homa shares", lambda measure, *_: 0.125 * (measure == "jain")) is Verdict.HOLDS
    assert verdict(new, "Homa shares", lambda measure, *_: 0.5 * (measure == "jain")) is Verdict.FAILS


def test_steady_loads_are_those_of_messages_that_begin_late_and_queues_are_of_switches() -> None:
    steady = PAPER.figures["steady"]
    for name in ("short", "short_median", "medium", "long", "long_median"):
        assert steady.measures[name].where == {**MESSAGES.measures[name].where, "start_s": ">= 0.003"}
    result = small(
        "fat-tree.toml", SCHEMES["Swift"], {"traffic.messages.arrivals.until": "20us", "run.duration": "1ms"}
    )
    point = MESSAGES.points[0]
    longest = {name: Run(result).number(MESSAGES.measures[name], point) for name in ("queue", "host_queue")}
    ports = zip(result.ports["port"].to_pylist(), result.ports["queue_max_bytes"].to_pylist(), strict=True)
    of = [(port.startswith("h"), size) for port, size in ports]
    assert longest["queue"] == max(size for at_host, size in of if not at_host)
    assert longest["host_queue"] == max(size for at_host, size in of if at_host) > 0
