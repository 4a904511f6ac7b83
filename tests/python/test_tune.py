"""Searches for the values of parameters, and their sensitivity, over the axes of a study."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import Command, command, environment, left_in
from incast import FolderError, Scenario, StudyError, UnsoundError, evaluate
from incast.batch.evaluation import Figures
from incast.report import tuning_page
from incast.runs import soundness
from incast.study.api import Study, load
from incast.tuning import outcome, results, search, sensitivity
from incast.tuning.declaration import Tuning
from incast.tuning.search import Search
from incast.tuning.sensitivity import Analysis, carry_out
from incast.writing.numbers import said

SET = {"run.duration": "2ms", "run.warmup": "500us", "topology.senders": 3, "topology.receivers": 3}
MARK = {"from": "5p", "to": "100p", "whole": True}
QUEUE = "queues.busiest.mean_packets"
TUNE: dict[str, Any] = {"minimise": QUEUE, "budget": 12, "seeds": 3, "held_out": 3}

FILE = f"""
name = "marks"
scenario = "dumbbell"
keep = []
[set]
"run.duration" = "2ms"
"run.warmup" = "500us"
[axes]
"queue.mark" = {{ from = "5p", to = "100p", whole = true }}
"controller.g" = {{ from = 0.01, to = 1, scale = "log" }}
[tune]
minimise = "{QUEUE}"
budget = 14
seeds = 3
held_out = 3
"""


def study(tune: dict[str, Any] | None = None, **words: Any) -> Study:
    axes = words.pop("axes", {"queue.mark": MARK, "controller.g": {"from": 0.01, "to": 1, "scale": "log"}})
    others = {"tune": TUNE | (tune or {})} | words.pop("others", {})
    return Study(words.pop("scenario", "dumbbell"), axes=axes, settings=SET, keep=(), others=others, **words)


def searched(folder: Path, tune: dict[str, Any] | None = None, **words: Any) -> outcome.Outcome:
    tuning = Tuning.of(study(tune, **words))
    tuning.check()
    found = Search(tuning, folder)
    return outcome.of(found, found.carry_out(1, lambda _: None), 1)


@pytest.mark.slow("a search of many runs")
def test_a_search_finds_the_least_queue_and_holds_it_against_the_defaults(tmp_path: Path, incast: Command) -> None:
    (tmp_path / "marks.toml").write_text(FILE)
    answer = incast("tune", "marks.toml", "--out", "found", "--workers", "1")
    assert answer.status == 0, answer.err
    result = json.loads((tmp_path / "found" / "result.json").read_text())
    assert int(str(result["best"]["values"]["queue.mark"]).removesuffix("p")) < 20  # a low mark is a short queue
    (queue, *_) = result["best"]["held_out"]
    assert queue["figure"] == QUEUE
    assert queue["verdict"] == "lower"
    # the scenario file is the set: the same figures under the held-out seeds, as incast run has them
    ran = incast("run", "found/tuned.toml", "--seed", str(result["held_out"][0]), "--out", "run", "--quiet")
    assert ran.status == 0, ran.err
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    tuned = evaluate(tmp_path / "found" / "tuned.toml", result["held_out"], [QUEUE])
    assert summary["queues"]["busiest"]["mean_packets"] == tuned[QUEUE][0]
    assert queue["tuned"]["mean"] == pytest.approx(tuned[QUEUE].mean(), rel=1e-12)
    base = Scenario.load("dumbbell").with_({"run.duration": "2ms", "run.warmup": "500us"})
    less = tuned[QUEUE] - evaluate(base, result["held_out"], [QUEUE])[QUEUE]
    assert queue["difference"]["mean"] == pytest.approx(less.mean(), rel=1e-9)
    for name in ("progress.png", "parameters.png"):
        assert (tmp_path / "found" / name).read_bytes().startswith(b"\x89PNG")
    assert "chosen: set" in answer.out and "(default 65p), controller.g = " in answer.out
    assert result["default_values"] == {"queue.mark": "65p", "controller.g": "0.0625"}
    assert "scenario: found/tuned.toml" in answer.out
    # one page: the verdict on the held-out seeds before the search, and every set
    page = (tmp_path / "found" / "report.html").read_text()
    places = [page.index(f'id="{name}"') for name in ("answer", "held-out", "best", "pictures", "sets")]
    assert places == sorted(places) and page.count("<figure") == page.count("<svg ") == 2
    assert "Mean queue at the busiest port" in page and "lower [" in page and "] than with the defaults" in page
    assert "<tr><th>defaults</th><td>65p</td><td>0.0625</td>" in page[places[2] : places[3]]
    all_sets = page[places[-1] :]
    assert all(f"<th>{number + 1}" in all_sets for number in range(result["tried"]))
    assert "incast tune marks.toml" in page and "http" not in re.sub(
        r"data:image[^\"]*|http://www.w3.org/[\w/]*", "", page
    )


def killed_in_the_middle(folder: Path, file: str, sets: int) -> None:
    """Kill a search, as hard as can be, once some sets are finished."""
    process = subprocess.Popen(
        command(["tune", file, "--out", "found", "--workers", "1", "--quiet"]),
        cwd=folder,
        env=environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    journal = folder / "found" / search.JOURNAL
    deadline = time.monotonic() + 100
    while time.monotonic() < deadline and process.poll() is None:
        if journal.exists() and journal.read_bytes().count(b'"by_seed"') >= sets:
            break
        time.sleep(0.002)
    process.send_signal(signal.SIGKILL)
    process.wait()


@pytest.mark.slow("a search is killed and made anew")
def test_a_killed_search_goes_on_and_ends_in_the_same_bytes(tmp_path: Path, incast: Command) -> None:
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    for folder in (whole, broken):
        folder.mkdir()
        (folder / "marks.toml").write_text(FILE)
    words = ("tune", "marks.toml", "--out", "found", "--workers", "1", "--quiet")
    assert incast(*words, cwd=whole).status == 0
    killed_in_the_middle(broken, "marks.toml", 4)
    assert not (broken / "found" / "result.json").exists()
    with (broken / "found" / search.JOURNAL).open("ab") as journal:
        journal.write(b'{"op_code":5,"worker_id":"half a li')  # as a kill in the middle of a write leaves it
    answer = incast(*words, cwd=broken)
    assert answer.status == 0, answer.err
    for name in ("result.json", "trials.csv", "tuned.toml", "progress.png"):
        assert (broken / "found" / name).read_bytes() == (whole / "found" / name).read_bytes(), name
    # finished, it is not searched again
    tried = (broken / "found" / search.JOURNAL).read_bytes().count(b'"by_seed"')
    again = incast(*words, "--format", "svg,pdf", cwd=broken)
    assert again.status == 0, again.err
    assert again.out == "scenario: found/tuned.toml\nreport: found/report.html\n"
    made = {path.name for path in (broken / "found").iterdir() if path.suffix in (".pdf", ".svg")}
    assert made == {"parameters.pdf", "parameters.svg", "progress.pdf", "progress.svg"}
    assert not list((broken / "found").glob("*.png")), "none of an earlier format beside them"
    assert (broken / "found" / "progress.svg").read_text().startswith("<?xml")
    assert (broken / "found" / search.JOURNAL).read_bytes().count(b'"by_seed"') == tried


def test_a_set_whose_process_was_killed_before_it_said_so_does_not_count(tmp_path: Path) -> None:
    few = {"budget": 5}
    whole = searched(tmp_path / "whole", few)
    begun = Search(Tuning.of(study(few)), tmp_path / "broken")
    begun.study.ask()  # and the process is no more
    broken = searched(tmp_path / "broken", few)
    assert broken.tried == whole.tried
    assert len(whole.tried) == 5


@pytest.mark.extended(part="python")
def test_two_programs_work_on_one_search_and_count_no_set_twice(tmp_path: Path) -> None:
    (tmp_path / "marks.toml").write_text(FILE)
    words = command(["tune", "marks.toml", "--out", "found", "--workers", "1", "--json", "--quiet"])
    both = [
        subprocess.Popen(
            words, cwd=tmp_path, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    told = [process.communicate(timeout=200) for process in both]
    assert [process.returncode for process in both] == [0, 0], told
    first, second = (json.loads(out) for out, _ in told)
    assert first == second
    assert first["tried"] == 14
    rows = (tmp_path / "found" / "trials.csv").read_text().splitlines()
    assert [row.split(",")[0] for row in rows] == ["set", *map(str, range(1, 15))]


@pytest.mark.extended(part="python")
def test_several_objectives_end_in_a_front_of_sets_that_no_other_beats(tmp_path: Path) -> None:
    # a low mark makes a short queue, and takes throughput
    found = searched(
        tmp_path / "found",
        {"minimise": QUEUE, "maximise": "flows.goodput_total_bps", "budget": 24},
        axes={"queue.mark": {"from": "1p", "to": "100p", "whole": True, "scale": "log"}},
    )
    whole = [one.scores for one in found.tried if one.scores is not None]
    assert len(whole) == 24
    front = [one.tried.scores for one in found.front]
    assert len(front) > 2
    for queue, goodput in front:
        assert not any(q <= queue and g >= goodput and (q, g) != (queue, goodput) for q, g in whole)
    for scores in whole:
        assert scores in front or any(q <= scores[0] and g >= scores[1] for q, g in front)
    results.write(found, tmp_path / "found")
    assert (tmp_path / "found" / "front.png").read_bytes().startswith(b"\x89PNG")
    for number in range(1, len(front) + 1):
        Scenario.load(tmp_path / "found" / "front" / f"{number:02}.toml").validate()


@pytest.mark.extended(part="python")
def test_sets_that_are_worse_under_few_seeds_are_given_up(tmp_path: Path) -> None:
    found = searched(tmp_path / "found", {"seeds": 9, "budget": 15})
    seeds = Counter(len(one.by_seed[0]) for one in found.tried)
    assert set(seeds) <= {1, 3, 9}
    assert seeds[9] < 15 and seeds[1] > 0
    assert all((one.scores is not None) == (len(one.by_seed[0]) == 9) for one in found.tried)
    whole = searched(tmp_path / "whole", {"seeds": 9, "budget": 15, "prune": False})
    assert {len(one.by_seed[0]) for one in whole.tried} == {9}


@pytest.mark.extended(part="python")
def test_importance_is_that_of_the_parameter_that_moves_the_figure(tmp_path: Path) -> None:
    found = searched(tmp_path / "found", {"budget": 30, "sampler": "random", "seeds": 2})
    shares = found.importances[QUEUE]
    assert shares["queue.mark"] > 0.7 > shares["controller.g"]


def test_a_set_that_cannot_be_run_is_counted_and_never_chosen(tmp_path: Path) -> None:
    axes = {"queue.mark": MARK, "queue.limit": {"from": "20p", "to": "200p", "whole": True}}
    found = searched(tmp_path / "found", {"budget": 20, "sampler": "random", "allow_idle": True}, axes=axes)
    refused = [one for one in found.tried if one.refused]
    assert 0 < len(refused) < 20
    assert "queue.mark" in refused[0].refused
    assert all(one.scores is None for one in refused)
    assert found.best.tried not in refused


def answers(folder: Path, rto_min: str, duration: str) -> Scenario:
    """Put 40 answers to one client into a file; what is lost waits for a timer, and the run does not wait for all."""
    made = Scenario.load("incast").with_({"transport.rto_min": rto_min, "run.duration": duration})
    (folder / "answers.toml").write_text(made.toml())
    return made


def timers(folder: Path, values: list[str]) -> Tuning:
    tune = {"minimise": "fct.slowdown_mean", "budget": 3, "seeds": 1, "held_out": 2}
    axes = {"transport.rto_min": values}
    return Tuning.of(Study(str(folder / "answers.toml"), axes=axes, keep=(), others={"tune": tune}))


STARVED = """
name = "timers"
scenario = "answers.toml"
keep = []
[axes]
"transport.rto_min" = ["200us", "1ms", "20ms"]
[tune]
minimise = "fct.slowdown_mean"
budget = 8
sampler = "random"
seeds = 3
held_out = 2
"""


def test_a_set_that_leaves_flows_unfinished_is_never_chosen(tmp_path: Path, incast: Command) -> None:
    base = answers(tmp_path, "200us", "12ms")
    (tmp_path / "timers.toml").write_text(STARVED)
    answer = incast("tune", "timers.toml", "--out", "found", "--workers", "1")
    assert answer.status == 0, answer.err
    # who waits 20 ms for a timer does not finish in 12 ms, and who finished never lost a packet: a small mean of few
    figures = ["fct.slowdown_mean", "fct.finished", "fct.count"]
    starved, whole = (evaluate(s, [1, 2, 3], figures) for s in (base.with_({"transport.rto_min": "20ms"}), base))
    assert starved["fct.slowdown_mean"].mean() < whole["fct.slowdown_mean"].mean()
    assert list(whole["fct.finished"]) == list(whole["fct.count"])
    result = json.loads((tmp_path / "found" / "result.json").read_text())
    assert result["best"]["values"]["transport.rto_min"] == "200us"
    share = starved["fct.finished"][0] / starved["fct.count"][0]  # of the first seed, after which it is not run again
    told = f"finished {share:.2f} of its flows; the defaults 1.00: not counted"
    rows = (tmp_path / "found" / "trials.csv").read_text().splitlines()
    of_starved = [row.split(",")[0] for row in rows if ",20ms," in row]
    assert of_starved == [row.split(",")[0] for row in rows if row.endswith(f",20ms,,0,{told}")]
    assert result["unfinished"] == [{"set": int(number), "told": told} for number in of_starved]
    assert of_starved and all(f"set {number} {told}" in answer.out for number in of_starved)


def test_where_every_set_leaves_flows_unfinished_none_is_chosen(tmp_path: Path) -> None:
    answers(tmp_path, "200us", "12ms")
    found = Search(timers(tmp_path, ["20ms", "30ms"]), tmp_path / "found")
    tried = found.carry_out(1, lambda _: None)
    with pytest.raises(StudyError, match=r"none of the 3 sets can be chosen \(the first: finished 0.35 of its flows"):
        outcome.of(found, tried, 1)


def test_a_set_that_finishes_no_less_than_the_defaults_counts(tmp_path: Path) -> None:
    answers(tmp_path, "20ms", "8ms")
    found = Search(timers(tmp_path, ["5ms", "20ms"]), tmp_path / "found")
    tried = found.carry_out(1, lambda _: None)
    assert tried and all(one.scores is not None and not one.unfinished for one in tried)


LOSSY = """
name = "lossy"
scenario = "answer.toml"
keep = []
[axes]
"transport.rto_min" = ["200us", "1ms"]
[tune]
minimise = "fct.slowdown_mean"
budget = 2
seeds = [1, 2, 5]
held_out = {held_out}
allow_idle = true
"""


WIRE = """
name = "wire"
scenario = "answer.toml"
keep = []
[axes]
"transport.rto_min" = ["10ms", "9ms", "200us"]
[tune]
minimise = "fct.slowdown_mean"
budget = 5
sampler = "random"
seed = 2
seeds = {seeds}
held_out = {held_out}
allow_idle = true
"""


def wire(folder: Path, seeds: list[int], held_out: list[int]) -> None:
    """Put one answer over a wire with errors into a file: seeds 4 and 7 need a timer, and one of 9 ms is too late."""
    settings = {"topology.sources": 1, "topology.source_link.error_rate": 0.1, "run.duration": "4ms"}
    base = Scenario.load("incast").with_({**settings, "transport.rto_min": "200us"})
    (folder / "answer.toml").write_text(base.toml().replace("flows = 40", "flows = 1"))
    (folder / "wire.toml").write_text(WIRE.format(seeds=seeds, held_out=held_out))


def test_a_set_that_leaves_flows_unfinished_under_held_out_seeds_is_not_chosen(tmp_path: Path, incast: Command) -> None:
    wire(tmp_path, [1, 2, 5], [4, 11, 14])
    answer = incast("tune", "wire.toml", "--out", "found", "--workers", "1")
    assert answer.status == 0, answer.err
    result = json.loads((tmp_path / "found" / "result.json").read_text())
    rows = (tmp_path / "found" / "trials.csv").read_text().splitlines()[1:]
    timers_ = [row.split(",")[1] for row in rows]
    first = next(number for number, timer in enumerate(timers_, 1) if timer != "200us")
    assert first < timers_.index("200us") + 1, "under the tuning seeds all are the same, and the first would be chosen"
    assert result["best"]["values"]["transport.rto_min"] == "200us"
    told = "finished 0.67 of its flows under the held-out seeds; the defaults 1.00: not counted"
    late = result["unfinished"]
    assert {"set": first, "told": told} in late and {one["told"] for one in late} == {told}
    assert all(timers_[one["set"] - 1] != "200us" for one in late)
    assert f"set {first} {told}" in answer.out
    assert rows[first - 1].endswith(told)


def test_scores_of_a_set_that_leaves_flows_unfinished_later_do_not_draw_the_sampler(tmp_path: Path) -> None:
    wire(tmp_path, [1, 4, 5], [11, 14])  # a third of the seeds is one: all finish there
    tuning = Tuning.of(load(tmp_path / "wire.toml"))
    assert tuning.rungs == [1, 3]
    found = Search(tuning, tmp_path / "found")
    tried = found.carry_out(1, lambda _: None)
    late = [one.number for one in tried if one.unfinished]
    assert late and len(late) < len(tried)
    for place, trial in enumerate(found.study.trials):
        assert (trial.intermediate_values == {}) == (place in late)
        assert trial.state.name == ("PRUNED" if place in late else "COMPLETE")


@pytest.mark.parametrize(("held_out", "compared"), [([4, 11, 14], [11, 14]), ([4, 11], [11]), ([4, 7], [])])
def test_a_figure_is_compared_under_the_seeds_where_both_have_it_and_their_number_is_said(
    held_out: list[int], compared: list[int], tmp_path: Path, incast: Command
) -> None:
    # one answer over a wire with errors: under the seeds 4 and 7 the defaults' timer of 10 ms is too late for 4 ms
    settings = {"topology.sources": 1, "topology.source_link.error_rate": 0.1, "run.duration": "4ms"}
    base = Scenario.load("incast").with_(settings)
    (tmp_path / "answer.toml").write_text(base.toml().replace("flows = 40", "flows = 1"))
    (tmp_path / "lossy.toml").write_text(LOSSY.format(held_out=held_out))
    answer = incast("tune", "lossy.toml", "--out", "found", "--workers", "1")
    assert answer.status == 0, answer.err
    told = f"fct.slowdown_mean is compared under {len(compared)} of {len(held_out)} seeds"
    assert f"note: {told}, those where both have it" in answer.err
    assert "flows.goodput_total_bps is compared" not in answer.err  # a figure that every run has
    unfinished = "with the defaults {} of {}: completion figures cover these only"
    assert unfinished.format(len(compared), len(held_out)) in answer.err or len(compared) == len(held_out)
    rows = json.loads((tmp_path / "found" / "result.json").read_text())["best"]["held_out"]
    assert {row["seeds"] for row in rows if row["figure"] == "flows.goodput_total_bps"} == {len(held_out)}
    (row,) = (row for row in rows if row["figure"] == "fct.slowdown_mean")
    assert row["seeds"] == len(compared)
    if compared:
        tuned, defaults = (
            evaluate(tmp_path / name, compared, ["fct.slowdown_mean"])["fct.slowdown_mean"]
            for name in ("found/tuned.toml", "answer.toml")
        )
        assert row["tuned"]["mean"] == pytest.approx(tuned.mean(), rel=1e-12)
        assert row["difference"]["mean"] == pytest.approx((tuned - defaults).mean(), rel=1e-9, abs=1e-12)
    else:
        assert row["tuned"] is row["defaults"] is row["difference"] is None
    if len(compared) < 2:  # no interval
        assert row["verdict"] == "unknown"


def test_several_scenarios_are_tuned_for_the_mean_ratio_to_their_defaults(tmp_path: Path) -> None:
    (tmp_path / "wide.toml").write_text(
        Scenario.load("dumbbell").with_({"topology.senders": 4, "topology.receivers": 4}).toml()
    )
    small = {"run.duration": "2ms", "run.warmup": "500us"}
    both = Study(
        ["dumbbell", str(tmp_path / "wide.toml")],
        axes={"queue.mark": MARK},
        settings=small,
        others={"tune": TUNE | {"budget": 6}},
    )
    tuning = Tuning.of(both)
    tuning.check()
    found = Search(tuning, tmp_path / "found")
    tried = found.carry_out(1, lambda _: None)
    one = next(one for one in tried if one.scores is not None)
    ratios = []
    for name in ("dumbbell", str(tmp_path / "wide.toml")):
        base = Scenario.load(name).with_(small)
        mean, default = (evaluate(s, [1, 2, 3], [QUEUE])[QUEUE].mean() for s in (base.with_(dict(one.values)), base))
        ratios.append(mean / default)
    assert one.scores is not None
    assert one.scores[0] == pytest.approx(sum(ratios) / 2, rel=1e-12)
    told = outcome.of(found, tried, 1)
    assert {path.name for path in results.write(told, tmp_path / "found")} == {"tuned-dumbbell.toml", "tuned-wide.toml"}


def test_a_folder_keeps_one_search_whose_budget_may_grow(tmp_path: Path) -> None:
    first = searched(tmp_path / "found", {"budget": 5})
    more = searched(tmp_path / "found", {"budget": 8})
    assert [one.values for one in more.tried[:5]] == [one.values for one in first.tried]
    assert len(more.tried) == 8
    with pytest.raises(FolderError, match="another search, with other objectives"):
        searched(tmp_path / "found", {"minimise": "flows.delay_p99_s"})
    with pytest.raises(FolderError, match="another search, with other parameters"):
        searched(tmp_path / "found", axes={"queue.mark": MARK})
    (tmp_path / "else").mkdir()
    (tmp_path / "else" / "notes.txt").write_text("mine")
    with pytest.raises(FolderError, match="exists and is not empty"):
        searched(tmp_path / "else")
    assert left_in(tmp_path / "else") == ["notes.txt"]


@pytest.mark.parametrize(
    ("tune", "axes", "words"),
    [
        (
            {"minimise": "queues.busiest.men_packets"},
            None,
            r'no figure .* \(did you mean "queues.busiest.mean_packets"',
        ),
        ({"minimise": "fct.mean_s"}, None, "dumbbell does not have the figure under seed 1 with its defaults"),
        ({"minimise": []}, None, "expected minimise or maximise"),
        ({"minimise": 3}, None, "expected a figure such as"),
        ({"maximise": QUEUE}, None, "given twice"),
        ({"minimize": QUEUE}, None, r'minimize: unknown key \(did you mean "minimise"'),
        ({"budget": 0}, None, "budget = 0: expected a whole number from 1 to 1,000,000"),
        ({"sampler": "magic"}, None, "sampler = 'magic': expected one of tpe, nsga2, random"),
        ({"held_out": [2, 9]}, None, "seed 2 is among seeds and held_out"),
        ({"held_out": 1}, None, "at least two seeds"),
        ({"prune": True, "maximise": "flows.jain"}, None, "several objectives cannot prune"),
        ({"arm": "swift"}, None, "the study has no arms"),
        ({"scenario": "star"}, None, "expected one of dumbbell"),
        ({}, {"queue.mark": {"from": "90p", "to": "5p"}}, "expected from below to"),
        ({}, {"queue.mark": {"from": "low", "to": "high"}}, "values of a range must have an order"),
        ({}, {}, "a search needs axes"),
        # no flow is so short of acknowledgements in this scenario that its timer matters
        (
            {},
            {"transport.rto_min": {"from": "20ms", "to": "90ms"}},
            "20ms and .* and 90ms gave the same figures under seed 1, .*: expected values that make a difference",
        ),
    ],
)
def test_mistakes_are_named(tune: dict[str, Any], axes: dict[str, Any] | None, words: str, tmp_path: Path) -> None:
    with pytest.raises(StudyError, match=words):
        searched(tmp_path / "found", tune, **({} if axes is None else {"axes": axes}))
    assert not (tmp_path / "found").exists()


def test_values_too_coarse_to_make_a_difference_are_not_said_to_be_read_by_nobody(tmp_path: Path) -> None:
    # the timer is read: 200us differs from 10ms in this scenario, and 40ms does not from 80ms, both behind its end
    answers(tmp_path, "200us", "12ms")
    timers(tmp_path, ["200us", "10ms"]).check()
    with pytest.raises(StudyError, match="axis transport.rto_min: 40ms and 80ms gave the same figures") as refused:
        timers(tmp_path, ["40ms", "80ms"]).check()
    assert "is unused" not in str(refused.value)


def test_mistakes_end_the_program_with_status_2(tmp_path: Path, incast: Command) -> None:
    (tmp_path / "marks.toml").write_text(FILE.partition("[tune]")[0])
    incast("tune", "marks.toml").refused("marks has no table [tune]")
    (tmp_path / "marks.toml").write_text(FILE.replace("controller.g", "controller.gg"))
    incast("tune", "marks.toml").refused("controller.gg", "no parameter gg")
    assert not (tmp_path / "runs").exists()


@pytest.mark.extended(part="python")
@pytest.mark.parametrize(("module", "word"), [("optuna", "tune"), ("SALib.analyze", "sensitivity")])
def test_without_the_extra_the_error_names_it(module: str, word: str, tmp_path: Path) -> None:
    (tmp_path / "marks.toml").write_text(FILE)
    text = f"import sys; sys.modules['{module}'] = None; sys.argv = ['incast', '{word}', 'marks.toml']"
    done = subprocess.run(
        [sys.executable, "-c", f"{text}\nfrom incast.cli import main; main()"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env=environment(),
    )
    assert done.returncode == 2, done.stderr
    assert 'pip install "incast[tune]"' in done.stderr
    assert "Traceback" not in done.stderr


# Sensitivity


@pytest.mark.parametrize(
    ("method", "samples", "points"),
    [("morris", 6, 18), pytest.param("sobol", 8, 32, marks=pytest.mark.extended(part="python"))],
)
def test_sensitivity_puts_the_parameter_that_moves_the_figure_first(
    method: str, samples: int, points: int, tmp_path: Path
) -> None:
    analysis = Analysis.of(study(), method, samples)
    assert len(analysis.sample()) == points
    found = carry_out(analysis, tmp_path / "found", 1, lambda _: None)
    first, second = found.indices
    assert first.parameter == "queue.mark"
    assert first.main > 2 * second.main
    if method == "morris":
        assert first.mean is not None and first.mean > 0  # a higher mark, a longer queue
        sensitivity.write(found, tmp_path / "found")
        told = json.loads((tmp_path / "found/sensitivity.json").read_text())
        rows = (tmp_path / "found/sensitivity.csv").read_text().splitlines()
        assert [row["parameter"] for row in told["indices"]] == ["queue.mark", "controller.g"]
        assert told["indices"][0]["mu_star"] == first.main == float(rows[1].split(",")[3])
        assert (tmp_path / "found/sensitivity.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.extended(part="python")
def test_sensitivity_says_which_figure_never_changes_and_what_few_samples_do_not_resolve(
    tmp_path: Path, incast: Command
) -> None:
    table = f'[sensitivity]\nmethod = "sobol"\nsamples = 2\nfigures = ["{QUEUE}", "flows.timeouts"]\n'
    (tmp_path / "marks.toml").write_text(FILE[: FILE.index("[tune]")] + table)
    answer = incast("sensitivity", "marks.toml", "--out", "found", "--quiet")
    assert answer.status == 0, answer.err
    told = json.loads((tmp_path / "found" / "sensitivity.json").read_text())
    assert told["notes"][0] == "flows.timeouts is the same at all points: no parameter has an effect on it"
    assert "2 samples are few" in told["notes"][1] and "--samples 8" in told["notes"][1]
    answer = incast("sensitivity", "marks.toml", "--out", "found")
    assert all(f"note: {note}" in answer.err for note in told["notes"])
    assert "flows.timeouts (events)" not in answer.out  # no table of zeros


@pytest.mark.extended(part="python")
def test_sensitivity_goes_on_from_its_store_and_gives_the_same(tmp_path: Path, incast: Command) -> None:
    (tmp_path / "marks.toml").write_text(FILE)
    words = ("sensitivity", "marks.toml", "--samples", "3", "--out", "found", "--json", "--quiet")
    once = incast(*words)
    assert once.status == 0, once.err
    journal = sorted((tmp_path / "found" / "store" / "chunks").rglob("*"))
    times = [path.stat().st_mtime_ns for path in journal]
    again = incast(*words)
    assert again.out == once.out
    assert [path.stat().st_mtime_ns for path in journal] == times  # nothing was run again
    told = json.loads(once.out)
    assert told["points"] <= 9 and told["runs"] == 3 * told["points"]
    assert {row["parameter"] for row in told["indices"]} == {"queue.mark", "controller.g"}
    assert (tmp_path / "found" / "sensitivity.png").read_bytes().startswith(b"\x89PNG")
    assert incast(*words, "--format", "pdf").status == 0
    assert (tmp_path / "found" / "sensitivity.pdf").read_bytes().startswith(b"%PDF")
    assert not (tmp_path / "found" / "sensitivity.png").exists()
    incast(*words, "--format", "gif").refused("gif", "png, svg, pdf")


@pytest.mark.parametrize(
    ("table", "axes", "words"),
    [
        ({"method": "guess"}, None, "expected morris or sobol"),
        ({"method": "sobol", "samples": 12}, None, "a power of two"),
        ({"samples": 1}, None, "at least two trajectories"),
        ({"figures": ["flows.jian"]}, None, r'did you mean "flows.jain"'),
        ({"sample": 3}, None, r'did you mean "samples"'),
        ({}, {"queue.mark": ["5p", "9p"]}, "sensitivity needs distances between values"),
    ],
)
def test_mistakes_of_a_sensitivity_are_named(
    table: dict[str, Any], axes: dict[str, Any] | None, words: str, tmp_path: Path
) -> None:
    given = study(others={"sensitivity": table}, **({} if axes is None else {"axes": axes}))
    with pytest.raises(StudyError, match=words):
        carry_out(Analysis.of(given), tmp_path / "found", 1, lambda _: None)
    assert not (tmp_path / "found").exists()


def test_a_set_whose_run_is_not_sound_is_refused_and_the_others_are_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The engine is made wrong for one run in the middle of a search."""
    tried: list[bool] = []

    def wrong(summary: dict[str, Any]) -> str:
        tried.append(len(tried) == 6)
        return "a flow was too fast" if tried[-1] else ""

    monkeypatch.setattr(soundness, "unsound", wrong)
    found = Search(Tuning.of(study({"budget": 6, "seeds": 2})), tmp_path / "found")
    sets = found.carry_out(1, lambda _: None)
    refused = [one for one in sets if one.unsound]
    assert len(sets) == 6
    assert len(refused) == 1
    assert "a flow was too fast" in refused[0].refused
    assert refused[0].scores is None
    assert sum(one.scores is not None for one in sets) >= 1


def test_a_set_that_is_not_sound_under_the_held_out_seeds_is_refused_and_another_is_chosen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The engine is made wrong for the set that is to be held against the defaults, and for no run before."""
    own = Tuning.of(study({"budget": 6, "seeds": 2, "held_out": 2}))
    search_ = Search(own, tmp_path / "found")
    sets = search_.carry_out(1, lambda _: None)
    held: list[dict[str, Any]] = []
    evaluated = type(own.target).evaluated

    def wrong(target: Any, values: Any, *rest: Any) -> Any:
        held.append(dict(values))
        if len(held) == 2:  # after the defaults
            raise UnsoundError("dumbbell, seed 7: a flow was too fast")
        return evaluated(target, values, *rest)

    monkeypatch.setattr(type(own.target), "evaluated", wrong)
    found = outcome.of(search_, sets, 1)
    (refused,) = [one for one in found.tried if one.unsound]
    assert refused.values == held[1]
    assert (refused.scores, refused.refused) == (
        None,
        "dumbbell, seed 7: a flow was too fast (under the held-out seeds)",
    )
    assert found.best.tried.values != refused.values
    assert found.best.compared


def test_differences_from_the_defaults_are_means_of_the_ratios_by_seed() -> None:
    tuning = Tuning.of(study({"watch": []}))

    def of(*values: float) -> dict[str, Figures]:
        return {"dumbbell": Figures((1, 2, 3), {QUEUE: np.array(values)}, {QUEUE: "packets"})}

    (row,) = outcome._compared(tuning, of(3, 3.2, 4.2), of(2, 2, 3))
    assert row.relative is not None and row.relative.mean == pytest.approx(50)
    assert said(tuning_page._apart(row)) == "50 % higher [25, 75] than with the defaults"
    (row,) = outcome._compared(tuning, of(1, 3, 2), of(0, 0, 0))
    assert row.relative is None and tuning_page._apart(row).endswith("packets from 0 with the defaults")
