"""``make bench``: what it reads, how it states ratios, and when it fails."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from bench import auto, bare, callgrind, cells
from bench import run as bench_run
from bench.cases import CASES, CONTROLLER_SLICE, NEEDS, Case
from bench.run import Figures, Limit, limits, status
from conftest import ROOT
from incast import Scenario
from incast.commands import kinds

SAID = """==7== Events    : Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw
==7== I   refs:      960,000,000
==7== LLi misses:          9,999
==7== D   refs:      400,000,000  (300,000,000 rd   + 100,000,000 wr)
==7== LLd misses:      12,000,000  (  9,000,000 rd   +   3,000,000 wr)
"""
PRINTED = "1000000 hops in 3.2 s: 0.31 million a second\n{}\n"


def figures(speed: float = 9e6, cpu_s: float = 1.0, share: float | None = None) -> Figures:
    return Figures("x", 9_000_000, cpu_s, cpu_s, speed, 100, share_of_bare=share)


def test_the_speed_of_the_bare_loop_is_read_from_its_line() -> None:
    line = "k=8, 32 B: 30.27 million hops a CPU second (10000583 hops in 0.330 s, 0 dropped)\n"
    assert bare.parsed(line) == pytest.approx(30.27e6)
    with pytest.raises(ValueError, match="no speed"):
        bare.parsed("killed")


def test_a_share_is_the_median_of_ratios_of_pairs_so_that_one_disturbed_pair_does_not_count() -> None:
    assert bare.share([(12e6, 30e6), (1e6, 30e6), (6e6, 15e6)]) == pytest.approx(0.4)
    assert bare.share([]) is None


def test_counts_are_a_hop_and_the_set_up_is_apart() -> None:
    whole = callgrind.parsed(SAID, PRINTED)
    assert whole == callgrind.Counts(1_000_000, 960_000_000, 12_000_000)
    set_up = callgrind.Counts(512, 60_000_000, 2_000_000)
    assert callgrind.per_hop(whole, set_up) == callgrind.PerHop(900.0, 10.0, 60.0, 2.0)
    without = "\n".join(line for line in SAID.splitlines() if "LLd" not in line)
    assert callgrind.parsed(without, PRINTED) == callgrind.Counts(1_000_000, 960_000_000)
    assert callgrind.parsed(SAID, "error") is None


def test_a_floor_is_held_and_an_aim_is_only_stated() -> None:
    case = Case("x", "permutation", floor_mhops=10, aim_of_bare=0.65)
    assert limits(case, figures(share=0.7), None) == [
        Limit("10 M hops/CPU s", held=False),
        Limit("0.65 of bare loop", held=True, aim=True),
    ]
    assert [str(limit) for limit in limits(case, figures(11e6, share=0.4), None)] == [
        "10 M hops/CPU s: reached",
        "aim 0.65 of bare loop: MISSED",
    ]
    # no loop, no share: nothing is said of it
    assert len(limits(case, figures(), None)) == 1


def test_the_exit_status_tells_floors_from_aims() -> None:
    floor, aim = Limit("floor", held=False), Limit("aim", held=False, aim=True)
    assert [status([]), status([floor]), status([aim]), status([floor, aim])] == [0, 1, 2, 1]


def test_every_case_is_a_scenario_that_can_be_built() -> None:
    assert len({case.name for case in CASES}) == len(CASES)
    for case in CASES:
        pairs = (pair.split("=", 1) for pair in case.sets)
        scenario = Scenario.load(ROOT / case.scenario if case.scenario.endswith(".toml") else case.scenario)
        assert scenario.with_({key: value_of(text) for key, text in pairs}).hash


def test_every_controller_runs_on_the_slice_that_counts_its_instructions() -> None:
    scenario, *sets = CONTROLLER_SLICE
    for name, _ in kinds.listing("controllers"):
        words = (*sets, *NEEDS.get(name, ()), f"controller={name}", "run.duration=1us")
        pairs = (pair.split("=", 1) for pair in words)
        assert Scenario.load(scenario).with_({key: value_of(text) for key, text in pairs}).run().summary["run"]["hops"]


def test_a_part_that_fails_leaves_the_record_of_those_before_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def fails() -> bool:
        raise OSError("no room")

    monkeypatch.setattr("sys.argv", ["bench", "--quick"])
    monkeypatch.setattr(bench_run, "ROOT", tmp_path)
    monkeypatch.setattr(bench_run, "all_cases", lambda *_: [figures()])
    monkeypatch.setattr(bench_run, "by_threads", lambda _: ([], []))
    monkeypatch.setattr(auto, "rows", lambda _: iter([auto.Row("y", 1.0, 2.0, 1.2, 2)]))
    monkeypatch.setattr(callgrind, "build", fails)
    with pytest.raises(OSError, match="no room"):
        bench_run.main()
    (kept,) = (tmp_path / "bench" / "runs").glob("*.json")
    assert [case["case"] for case in json.loads(kept.read_text())["cases"]] == ["x"]
    assert [row["case"] for row in json.loads(kept.read_text())["auto_threads"]] == ["y"]


def test_auto_threads_are_held_to_the_better_of_one_and_all() -> None:
    rows = [auto.Row("x", *times, threads=2) for times in ((1.0, 2.0, 1.029), (2.0, 1.0, 1.04), (0.01, 0.02, 0.0107))]
    assert [row.held for row in rows] == [True, False, True]
    assert str(rows[1]).endswith("1.04  1.03: MISSED")


def test_auto_threads_take_turns_with_the_others_and_the_least_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    walls = {"1": iter([3.0, 2.0, 4.0]), "2": iter([6.0, 6.0, 5.0]), "auto": iter([9.0, 2.1, 2.2])}
    asked: list[str] = []

    def result(_: str, sets: tuple[str, ...]) -> dict[str, dict[str, float]]:
        asked.append(sets[-1].removeprefix("run.threads="))
        return {"cost": {"wall_s": next(walls[asked[-1]]), "threads": 1 + len(asked) // 9}}

    monkeypatch.setattr(auto, "result", result)
    assert auto.measured(CASES[0], cores=2) == auto.Row("k8-4kB", 2.0, 5.0, 2.1, 2)
    assert asked == ["1", "2", "auto"] * 3


def test_auto_threads_are_compared_on_every_built_in_scenario_and_sparse_runs() -> None:
    every = auto.cases()
    names = [case.name for case in every]
    assert len(set(names)) == len(names)
    assert {name for name, _ in kinds.listing("scenarios")} <= set(names)
    assert {"k8-4kB", "k64-100kB"} <= set(names) and "k64-100kB" not in {c.name for c in auto.cases(slow=False)}
    assert names[:5] == [case.name for case in auto.SPARSE]
    for case in auto.SPARSE:
        pairs = (pair.split("=", 1) for pair in case.sets)
        assert Scenario.load(case.scenario).with_({key: value_of(text) for key, text in pairs}).hash


def value_of(text: str) -> object:
    """Read a value as ``--set`` does."""
    try:
        return tomllib.loads(f"v = {text}")["v"]
    except tomllib.TOMLDecodeError:
        return text


@pytest.mark.parametrize(("case", "frames_a_second"), [(cells.CASES[0], 157.0), (cells.CASES[1], 178.5)])
def test_saturated_senders_of_the_bench_end_as_many_frames_as_those_of_ns3(
    case: cells.Case, frames_a_second: float
) -> None:
    times = {"run.duration": "62s", "run.warmup": "2s", "run.threads": 1}
    run = cells.scenario_of(case).with_(times).run(seed=1)
    # the 95 % interval of ns-3's five runs is 0.4 %
    assert run.summary["radios"]["frames"] / 60 == pytest.approx(frames_a_second, rel=0.01)


def test_cells_of_the_bench_are_the_rows_of_the_table_of_ns3() -> None:
    assert len({case.name for case in cells.CASES}) == len(cells.CASES) == 24
    for case in cells.CASES:
        cells.scenario_of(case).validate()
