"""The paper `rivals`: what it declares, that every scheme does what it promises, and what its verdicts follow from."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping

import pytest

from conftest import ROOT
from incast import Result, Scenario
from incast.papers import reading
from incast.papers.definition import Figure, Series
from incast.papers.drawing import looks
from incast.papers.judging import judge
from incast.papers.measuring import Run
from incast.papers.verdict import Verdict
from incast.pictures.style import line

PAPER, FIGURES = reading.find("rivals")
MESSAGES = PAPER.figures["fat-tree-w4"]
TUNED = PAPER.figures["tuned"]
SCHEMES = {series.name: series for series in MESSAGES.series}
SWITCHES_TELL = ["HPCC", "PowerTCP", "Poseidon", "XCP", "Bolt"]
SOME = ("tuned", "tuned-steady", "acks", "deadlines", "answer", "microseconds", "core", "mixed-rates")
"""Figures of some schemes alone."""
SWITCHES_CUT = ["NDP", "EQDS", "NSCC", "RCCC"]


def small(base: str, series: Series, changes: Mapping[str, object]) -> Result:
    """Run a scheme in one of the paper's scenarios, on a fat tree of 16 hosts."""
    figure = next(one for one in FIGURES if one.scenario == base)
    scenario = PAPER.scenario(figure, series, figure.points[0])
    return scenario.with_({"topology.k": 4, **changes}).run(seed=1)


def drops(result: Result) -> int:
    """Packets dropped, but for credits, which ExpressPass' ports drop to shape them."""
    of_all = sum(result.ports["drops"].to_pylist())
    credit_shaping = tomllib.loads(result.toml)["queue"]["kind"] == "credit-shaping"
    of_classes = zip(result.classes["class"].to_pylist(), result.classes["drops"].to_pylist(), strict=True)
    return of_all - sum(drops for kind, drops in of_classes if kind == 0) if credit_shaping else of_all


def cuts(result: Result) -> int:
    return sum(result.ports["trimmed"].to_pylist())


def timeouts(result: Result) -> int:
    return sum(result.flows["timeouts"].to_pylist())


def test_every_figure_has_every_scheme_and_shows_it_beside_swift() -> None:
    names = [
        "Swift", "Swift, from 10 packets", "Swift, priorities", "theta-PowerTCP", "TIMELY", "DCTCP", "GCN", "DCQCN",
        "HULL", "PIAS", *SWITCHES_TELL[:-1], "RCP", "Bolt", *SWITCHES_CUT, "ExpressPass", "pHost", "Homa", "pFabric",
    ]  # fmt: skip
    assert list(SCHEMES) == names
    for figure in [one for one in FIGURES if one.name not in SOME]:
        assert list(SCHEMES) == [series.name for series in figure.series], figure.name
        for measure in {y for plot in figure.plots for y in plot.y}:
            pictures = [plot.series for plot in figure.plots if measure in plot.y]
            assert all("Swift" in shown for shown in pictures)
            assert {name for shown in pictures for name in shown} == set(SCHEMES), f"{figure.name}: {measure}"
        for plot in figure.plots:
            colours = [line(look)["color"] for look in looks([SCHEMES[name] for name in plot.series])]
            assert len(set(colours)) == len(colours), f"{figure.name}-{plot.name}: two series look alike"


def test_a_scheme_has_one_look_of_its_own_in_all_pictures() -> None:
    series = {(one.name, one.look) for figure in FIGURES for one in figure.series}
    names, looks_ = {name for name, _ in series}, {look for _, look in series}
    assert len(series) == len(names) == len(looks_)


@pytest.mark.parametrize("name", list(SCHEMES))
def test_a_scheme_brings_every_message_in_its_time(name: str) -> None:
    """A few messages on a tree of 16 hosts: all end, none needs a timeout or loses a packet."""
    changes = {"traffic.messages.arrivals.until": "20us", "run.duration": "4ms"}
    result = small("fat-tree.toml", SCHEMES[name], changes)
    slowdowns = result.flows["slowdown"].to_pylist()
    assert len(slowdowns) > 5
    assert all(one is not None and one >= 1 for one in slowdowns)
    assert (timeouts(result), drops(result)) == (0, 0)


@pytest.mark.parametrize("name", [*SWITCHES_CUT, "ExpressPass", "Homa"])
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
    # a receiver of ExpressPass asks at half of a link at first, and a little more in each round trip; one of pHost
    # hears of a message before it gives it tokens; RCP's switches begin at a twentieth of a link
    most = {"ExpressPass": 1.6, "pHost": 1.15, "RCP": 2.1}.get(name, 1.1)
    assert 1 <= slowdown < most, slowdown


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


@pytest.mark.parametrize(
    ("says", "ahead", "behind", "sizes"),
    [
        ("News within", "Bolt", "Swift", ("short", "medium")),
        ("Tokens to the shortest", "pHost", "Swift", ("short", "medium", "long")),
        ("Credit for each packet", "Swift", "ExpressPass", ("short", "medium", "long")),
    ],
)
def test_who_is_ahead_is_so_in_every_size_that_is_named(
    says: str, ahead: str, behind: str, sizes: tuple[str, ...]
) -> None:
    def leads(_: str, series: str, seed: int) -> float:
        return {ahead: 2.0, behind: 3.0}[series] + seed / 10

    assert verdict(MESSAGES, says, leads) is Verdict.HOLDS
    for lost in sizes:

        def but_for_one(measure: str, series: str, seed: int, lost: str = lost) -> float:
            return 9.0 if (measure, series) == (lost, ahead) else leads(measure, series, seed)

        assert verdict(MESSAGES, says, but_for_one) is Verdict.FAILS


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


@pytest.mark.parametrize("figure", ["tuned", "tuned-steady"])
def test_tuning_is_judged_seed_by_seed(figure: str) -> None:
    def carried(_: str, series: str, seed: int) -> float:
        return {"Swift": 12.0, "Swift, tuned": 7.6, "NDP, tuned": 7.0}[series] + seed

    def by_chance(measure: str, series: str, seed: int) -> float:
        return 12.0 + 3 * (-1) ** seed if series == "Swift, tuned" else carried(measure, series, seed)

    carries, within = "Tuning carries over", "Tuned Swift is within"
    assert verdict(PAPER.figures[figure], carries, carried) is Verdict.HOLDS
    assert verdict(PAPER.figures[figure], carries, by_chance) is Verdict.OPEN
    assert verdict(PAPER.figures[figure], within, carried) is Verdict.HOLDS
    assert verdict(PAPER.figures[figure], within, lambda _, series, seed: 9.0 * (series[0] == "S") + seed) is (
        Verdict.FAILS
    )


def test_a_loss_or_a_timeout_with_an_ack_a_packet_is_told() -> None:
    says = "Nothing is lost"
    assert verdict(PAPER.figures["acks"], says, lambda *_: 0.0) is Verdict.HOLDS
    assert verdict(PAPER.figures["acks"], says, lambda measure, *_: float(measure == "dropped")) is Verdict.FAILS
    assert verdict(PAPER.figures["acks"], says, lambda measure, *_: float(measure == "timeouts")) is Verdict.FAILS


def test_slowdowns_that_seeds_scatter_are_not_told_to_change_little() -> None:
    """Means over seeds within a fifth say nothing where one seed has more, and another less."""

    def judged(numbers: dict[str, list[float]]) -> Verdict:
        (claim,) = [one for one in PAPER.figures["acks"].claims if one.says.startswith("It changes little")]

        def of(measure: str, series: str, x: object, seed: int | None) -> float:
            found = numbers[str(x)]
            return sum(found) / len(found) if seed is None else found[seed - 1]

        return judge(PAPER.figures["acks"], claim, of).verdict

    assert judged({"16,384": [20.0, 21.0, 22.0], "1,500": [20.1, 21.0, 22.1]}) is Verdict.HOLDS
    assert judged({"16,384": [20.0, 21.0, 22.0], "1,500": [14.0, 21.0, 28.0]}) is Verdict.OPEN
    assert judged({"16,384": [20.0, 21.0, 22.0], "1,500": [40.0, 41.0, 42.0]}) is Verdict.FAILS


@pytest.mark.parametrize("control", ["nscc", "both"])
def test_windows_smaller_than_what_calls_for_an_ack_wait_for_timeouts(control: str) -> None:
    """Without a loss, on the tree of 16 hosts: ACKs for eleven packets make timeouts, ACKs for each make none."""
    changes = {"transport.uet.control": control, "traffic.messages.arrivals.until": "2ms", "run.duration": "6ms"}
    loaded = {**changes, "traffic.messages.arrivals.load": 0.8}
    late = small("fat-tree.toml", SCHEMES["NSCC"], loaded)
    prompt = small("fat-tree.toml", SCHEMES["NSCC"], {**loaded, "transport.uet.ack_bytes": "1500B"})
    assert timeouts(late) > 0 == timeouts(prompt)
    assert drops(late) == drops(prompt) == 0


def test_headers_of_ndp_that_go_back_make_an_incast_end_in_its_time_without_a_timer() -> None:
    figure = PAPER.figures["incast-1000"]
    scenario = PAPER.scenario(figure, SCHEMES["NDP"], figure.points[0]).with_({"traffic.flows": 200})
    back = scenario.run()
    dropped = scenario.with_({"queue.return_to_sender": False}).run()
    assert sum(back.ports["returned"].to_pylist()) > 10_000 > drops(back) == timeouts(back) == 0
    assert drops(dropped) > 10_000 and timeouts(dropped) > 200
    # a packet of 1538 bytes on the wire takes 123 ns: 313 of each host
    assert max(back.flows["fct_s"].to_pylist()) < 1.03 * 200 * 313 * 123.04e-9


TUNING = PAPER.folder / "tuning"
SEARCHED = [series.name for series in TUNED.series if not series.name.endswith(", tuned")]


def at_16_hosts(name: str) -> dict[str, object]:
    """Give what a series of `tuned` is on the tree of 16 hosts where it was searched, at a load of 0.8."""
    (series,) = [one for one in TUNED.series if one.name == name]
    (point,) = [one for one in TUNED.points if one.x == "load 0.8"]
    return settled(PAPER.scenario(TUNED, series, point).with_({"topology.k": 4}))


def settled(scenario: Scenario) -> dict[str, object]:
    return {key: value for key, value in scenario.resolved().items() if key not in ("name", "description")}


def test_every_scheme_is_tuned_and_shown_beside_its_authors_constants() -> None:
    assert set(SEARCHED) == set(SCHEMES) - {"Swift, from 10 packets", "Swift, priorities", "GCN", "RCP"}
    assert [series.name for series in TUNED.series] == [name + end for name in SEARCHED for end in ("", ", tuned")]
    for plot in TUNED.plots:
        assert [name.removesuffix(", tuned") for name in plot.series[1::2]] == list(plot.series[::2])
    for measure in ("short", "medium", "long"):
        assert {name for plot in TUNED.plots if measure in plot.y for name in plot.series[::2]} == set(SEARCHED)


@pytest.mark.parametrize("name", SEARCHED)
def test_tuned_values_are_those_that_tune_wrote_and_nothing_else_differs(name: str) -> None:
    written = TUNING / f"{name.lower()}-tuned.toml"
    assert at_16_hosts(f"{name}, tuned") == settled(Scenario.load(written))
    study = tomllib.loads((TUNING / f"{name.lower()}.toml").read_text())
    head = written.read_text().splitlines()
    assert f"tried by incast tune ({name.lower()}: " in head[0]
    assert [line.removeprefix("#   ").split(" = ")[0] for line in head[1:] if line.startswith("#   ")] == [
        *study["axes"]
    ]


@pytest.mark.parametrize("name", SEARCHED)
def test_every_search_has_one_budget_and_begins_at_the_authors_constants(name: str) -> None:
    study = tomllib.loads((TUNING / f"{name.lower()}.toml").read_text())
    aims = {"minimise": ["fct.slowdown_mean", "fct.slowdown_p99"], "budget": 48, "held_out": 8}
    assert {key: value for key, value in study["tune"].items() if key != "watch"} == aims
    assert study["seeds"] == 4
    assert len(study["axes"]) in (2, 3)
    begun = Scenario.load((TUNING / study["scenario"]).resolve()).with_(study.get("set", {}))
    assert settled(begun) == at_16_hosts(name)


def test_the_answer_is_that_of_the_figure_of_all_schemes() -> None:
    """The first figure of the report: schemes set as in fat-tree-w4, whose runs it shares, and dcPIM."""
    answer = PAPER.figures[PAPER.answer]
    shared = [series for series in answer.series if series.name in SCHEMES]
    assert len(shared) == 10 and {series.name for series in answer.series} - {*SCHEMES} == {"dcPIM"}
    assert all(series.set == SCHEMES[series.name].set and series.look == SCHEMES[series.name].look for series in shared)
    assert {point.x for point in answer.points} <= {point.x for point in MESSAGES.points}
    assert all(answer.measures[name].where == MESSAGES.measures[name].where for name in ("short", "medium", "long"))
    timed = [series.name for series in PAPER.figures["microseconds"].series if "open" not in series.name]
    assert timed == [one.name for one in answer.series]


@pytest.mark.parametrize("size", ["short", "medium", "long"])
def test_swift_is_competitive_only_where_it_is_so_in_every_size(size: str) -> None:
    answer = PAPER.figures["answer"]

    def near(_: str, series: str, seed: int) -> float:
        return {"Swift": 3.0}.get(series, 2.8) + seed / 100

    def behind(measure: str, series: str, seed: int) -> float:
        return 4.0 + seed / 100 if (measure, series) == (size, "Swift") else near(measure, series, seed)

    says = "Swift is competitive with Bolt"
    assert verdict(answer, says, near) is Verdict.HOLDS
    assert verdict(answer, says, behind) is Verdict.FAILS


def test_hosts_of_two_rates_are_every_second_one() -> None:
    figure = PAPER.figures["mixed-rates"]
    changes = {"traffic.messages.arrivals.until": "2us", "run.duration": "1ms"}
    series = {one.name: one for one in figure.series}
    result = PAPER.scenario(figure, series["DCTCP, by rate"], figure.points[0]).with_(changes).run(seed=1)
    rates = dict(zip(result.ports["port"].to_pylist(), result.ports["rate_bps"].to_pylist(), strict=True))
    for host in range(144):
        expected = 25e9 if host % 2 else 100e9
        leaf = f"leaf{host // 16}"
        assert rates[f"h{host}>{leaf}"] == rates[f"{leaf}>h{host}"] == expected
    assert {rate for port, rate in rates.items() if port.startswith("spine")} == {400e9}


def test_the_page_names_the_figures_that_dcpim_is_in() -> None:
    page = " ".join((ROOT / "docs/papers/rivals.md").read_text(encoding="utf-8").split())
    there = [figure.name for figure in FIGURES if any(series.name == "dcPIM" for series in figure.series)]
    named = " and ".join(f"`{name}`" for name in there)
    assert f"[dcPIM](../receiver-driven.md#dcpim) has results in {named} alone." in page
