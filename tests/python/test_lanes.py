"""Lanes of ranks of jobs: recorded tasks, pictures, traces for Perfetto, tables and parts of a view."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from incast import Scenario, ScenarioError
from incast.errors import FolderError
from incast.export import perfetto, rank_tracks
from incast.pictures import kinds, rank_lanes
from incast.pictures.looks import look_of
from incast.pictures.recorded import NothingToDraw
from incast.report import job_table, run_table
from incast.runs import lanes, repeated
from incast.runs.lanes import CALC, EXPOSED, OUTSIDE, WAITING
from incast.runs.result import Result
from incast.view import page, reading
from incast.view.packing import Pack
from incast.view.sources import Made

GOAL = """num_ranks 2
rank 0 {
a: calc 20000
s: send 100000b to 1 tag 1
r: recv 100000b from 1 tag 1
b: calc 5000
s requires a
b requires r
}
rank 1 {
a: calc 40000
s: send 100000b to 0 tag 1
r: recv 100000b from 0 tag 1
b: calc 5000 cpu 1
s requires a
b requires r
}
"""
SCENARIO = """
controller = "dctcp"
[run]
duration = "5ms"
until = "finished"
[topology]
kind = "leaf-spine"
leaves = 2
spines = 1
hosts_per_leaf = 2
link = { rate = "100Gbps", delay = "1us" }
[queue]
kind = "ecn-threshold"
limit = "2MB"
mark = "200kB"
[transport]
delayed_ack = 1
[[job]]
name = "train"
workload = "exchange.txt"
iterations = 3
placement = "by-rack"
"""


@pytest.fixture(scope="module")
def scenario(tmp_path_factory: pytest.TempPathFactory) -> Scenario:
    folder = tmp_path_factory.mktemp("job")
    (folder / "exchange.txt").write_text(GOAL)
    (folder / "exchange.toml").write_text(SCENARIO)
    return Scenario.load(folder / "exchange.toml")


@pytest.fixture(scope="module")
def run(scenario: Scenario) -> Result:
    return scenario.with_({"measure.tasks": "all"}).run()


def test_times_of_lanes_are_those_of_the_ranks(run: Result) -> None:
    found = list(lanes.lanes(run))
    assert [(one.job, one.rank, one.host) for one in found] == [("train", 0, 0), ("train", 1, 2)]
    for one in found:
        own = [row for row in run.ranks.to_pylist() if row["rank"] == one.rank]
        for state, key in ((CALC, "compute_s"), (EXPOSED, "exposed_s"), (WAITING, "idle_s")):
            assert one.total(state) == pytest.approx(sum(row[key] for row in own), abs=1e-12), key
        under_way = sum(row["communication_s"] for row in own)
        overlapped = float(np.diff(one.overlapped()).sum())
        assert one.total(EXPOSED) + overlapped == pytest.approx(under_way, abs=1e-12)
        # rank 0 sends while rank 1 still calculates
        assert (overlapped > 0) == (one.rank == 1) and len(one.iterations) == 3
        assert one.spans(CALC)[0].tolist() == pytest.approx([0, (20e-6, 40e-6)[one.rank]])


def test_intervals_are_joined_and_split_where_they_overlap() -> None:
    spans = lanes.union(np.array([0.0, 5.0, 1.0, 3.0, 7.0]), np.array([2.0, 6.0, 1.5, 5.0, 7.0]))
    assert spans.tolist() == [[0.0, 2.0], [3.0, 6.0]]
    one = lanes.lane("j", 0, 0, np.array([[0.0, 4.0], [6.0, 8.0]]), np.array([[1.0, 2.0]]), np.array([[1.5, 7.0]]))
    stretches = [(*ends, state) for state in (CALC, EXPOSED, WAITING, OUTSIDE) for ends in one.spans(state).tolist()]
    assert stretches == [
        *[(1.0, 2.0, CALC), (2.0, 4.0, EXPOSED), (6.0, 7.0, EXPOSED), (0.0, 1.0, WAITING), (7.0, 8.0, WAITING)],
        (4.0, 6.0, OUTSIDE),
    ]
    assert one.overlapped().tolist() == [[1.5, 2.0]]


def test_some_ranks_alone_are_recorded(scenario: Scenario) -> None:
    some = scenario.with_({"measure.tasks": ["1-1"]}).run()
    assert [one.rank for one in lanes.lanes(some)] == [1]
    (axes,) = kinds.draw("lanes", [("some", some)], look_of("screen")).axes
    assert [one.get_text() for one in axes.get_yticklabels()] == ["rank 1"]
    assert set(some.tasks["rank"].to_pylist()) == {1}
    for value, message in (
        ([2], "measure.tasks = 2: expected numbers of ranks, from 0 to 1"),
        (["1-0"], 'measure.tasks = "1-0": expected "all", or numbers of ranks and ranges such as "8-15"'),
        (["x"], 'measure.tasks = "x": expected "all", or numbers'),
    ):
        with pytest.raises(ScenarioError, match=message):
            scenario.with_({"measure.tasks": value}).run()


def test_runs_without_tasks_have_no_lanes_and_say_why(scenario: Scenario) -> None:
    plain = scenario.run()
    with pytest.raises(lanes.NoTasks, match="recorded no tasks: run it with --set measure.tasks=all"):
        list(lanes.lanes(plain))
    with pytest.raises(NothingToDraw, match="lanes: the run recorded no tasks"):
        kinds.draw("lanes", [("plain", plain)], look_of("screen"))
    other = Scenario.load("incast").with_({"run.duration": "1ms", "measure.tasks": "all"})
    assert "measure.tasks does nothing: the scenario has no job (docs/jobs.md)" in other.notes()
    with pytest.raises(lanes.NoTasks, match="it has no job"):
        list(lanes.lanes(other.run()))


def test_a_repeated_run_records_tasks(scenario: Scenario, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = scenario.run()
    assert repeated.in_memory(plain).tasks.num_rows == 24
    assert repeated.with_timeline(Scenario.load("incast")).resolved()["measure"]["tasks"] == []
    # of many tasks those of some ranks
    monkeypatch.setattr(lanes, "MOST_TASKS", 13)
    assert lanes.setting(plain) == [int(plain.jobs["critical_rank"][0].as_py())]
    asked = scenario.with_({"measure.tasks": [1]})
    assert repeated.with_timeline(asked, run=plain).resolved()["measure"]["tasks"] == [1]


def test_critical_and_slowest_ranks_are_chosen_first() -> None:
    import pyarrow as pa

    count = 100
    length = [1.0] * count
    length[37] = 9.0
    ranks = pa.table({"job": ["j"] * count, "rank": range(count), "start_s": [0.0] * count, "finish_s": length})
    jobs = pa.table({"job": ["j"] * 3, "critical_rank": [61, 83, 61]})
    chosen = lanes.chosen(ranks, jobs, 8)["j"]
    assert len(chosen) == 8 and {37, 61, 83, 0} <= set(chosen)
    assert lanes.chosen(ranks, jobs, 500)["j"] == list(range(count))


def test_a_picture_has_a_row_a_rank(run: Result) -> None:
    for name in ("screen", "paper"):
        picture = kinds.draw("lanes", [("run", run)], look_of(name))
        (axes,) = picture.axes
        assert [one.get_text() for one in axes.get_yticklabels()] == ["rank 0", "rank 1"]
        (words,) = picture.legends
        shown = [one.get_text() for one in words.get_texts()]
        assert shown[:2] == ["calculation", "exposed communication"]
        assert shown[-1] == "overlapped communication (strip)"
    two = kinds.draw("lanes", [("a", run), ("b", run)], look_of("screen"))
    assert len(two.axes) == 2
    assert len(run.plot.lanes().axes) == 1


def test_stretches_narrower_than_a_pixel_are_joined() -> None:
    spans = np.array([[0.0, 1.0], [1.001, 2.0], [3.0, 4.0]])
    assert rank_lanes._joined(spans, 0.01).tolist() == [[0.0, 2.0], [3.0, 4.0]]


Events = list[dict[str, Any]]


def trace_of(run: Result) -> Events:
    told: Events = json.loads(perfetto.trace(run, []))["traceEvents"]
    return told


def test_perfetto_has_tracks_of_ranks_grouped_under_their_job(run: Result) -> None:
    told = trace_of(run)
    assert {"ph": "M", "name": "process_name", "pid": rank_tracks.FIRST, "args": {"name": "job train"}} in told
    own = [event for event in told if event["pid"] == rank_tracks.FIRST]
    names = {event["tid"]: event["args"]["name"] for event in own if event["name"] == "thread_name"}
    assert set(names.values()) == {
        *(f"rank {rank} {what}" for rank in (0, 1) for what in ("iterations", "calc", "send", "recv")),
        "rank 1 calc stream 1",
    }
    slices = [event for event in own if event["ph"] == "X"]
    kinds_ = {kind: [one for one in slices if one["cat"] == kind] for kind in ("iteration", "calc", "send", "recv")}
    assert {kind: len(found) for kind, found in kinds_.items()} == {"iteration": 6, "calc": 12, "send": 6, "recv": 6}
    first = kinds_["calc"][0]
    assert (first["ts"], first["dur"], first["args"]["task"]) == (0.0, 20.0, 0)
    assert kinds_["send"][0]["name"] == "send to rank 1" and kinds_["recv"][0]["name"].startswith("recv from rank ")
    # slices of a track are apart
    for thread in names:
        ends = sorted((one["ts"], one["ts"] + one["dur"]) for one in slices if one["tid"] == thread)
        assert all(before[1] <= after[0] + 1e-6 for before, after in pairwise(ends))


def test_arrows_of_perfetto_lead_from_a_send_to_its_receive(run: Result) -> None:
    own = [event for event in trace_of(run) if event["pid"] == rank_tracks.FIRST]
    names = {event["tid"]: event["args"]["name"] for event in own if event["name"] == "thread_name"}
    begins = {event["id"]: event for event in own if event["ph"] == "s"}
    ends = {event["id"]: event for event in own if event["ph"] == "f"}
    assert len(begins) == 6 and begins.keys() == ends.keys()
    messages = run.messages.to_pylist()
    for number, begin in begins.items():
        end = ends[number]
        ways = names[begin["tid"]], names[end["tid"]]
        assert ways in (("rank 0 send", "rank 1 recv"), ("rank 1 send", "rank 0 recv"))
        inside = [one for one in own if one["ph"] == "X" and one["tid"] == end["tid"]]
        assert any(one["ts"] <= end["ts"] < one["ts"] + one["dur"] for one in inside)
        assert end["bp"] == "e" and end["ts"] > begin["ts"]
        sent = round(begin["ts"] / 1e6, 12)
        message = next(one for one in messages if abs(one["start_s"] - sent) < 1e-13)
        assert end["ts"] == pytest.approx(message["finish_s"] * 1e6, abs=2e-6)


def test_messages_at_once_have_tracks_of_their_own(scenario: Scenario) -> None:
    job = {"collective": {"kind": "all-to-all", "size": "40kB", "ranks": 4, "algorithm": "at-once"}}
    run = scenario.changed({"job": [{"name": "all", **job}], "measure.tasks": "all"}).run()
    names = {event["args"]["name"] for event in trace_of(run) if event["name"] == "thread_name"}
    assert {"rank 0 send", "rank 0 send 2", "rank 3 recv 3"} <= names


def test_a_trace_of_too_many_tasks_is_refused(run: Result, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rank_tracks, "MOST_TASKS", 23)
    with pytest.raises(FolderError, match="recorded 24 tasks, and a trace holds at most 23: record those of some"):
        perfetto.trace(run, [])
    monkeypatch.undo()
    # beside lanes of ranks connections may be left out
    monkeypatch.setattr(perfetto, "MOST_FLOWS", 1)
    assert not [event for event in trace_of(run) if event["name"] == "flow 0"]


def test_a_view_has_tasks_of_jobs_alone(run: Result, scenario: Scenario) -> None:
    def parts(of: Scenario, settings: Mapping[str, Any]) -> dict[str, Any]:
        return reading.described(Made(of.with_({"measure.timeline": "auto", **settings}).run()), "run", Pack())

    with_tasks = parts(scenario, {"measure.tasks": "all"})
    assert with_tasks["tasks"]["rows"] == 24 and set(with_tasks["tasks"]["columns"]) == set(reading.TASKS)
    assert with_tasks["ranks"]["rows"] == 6 and set(with_tasks["ranks"]["columns"]) == set(reading.RANKS)
    assert not {"tasks", "ranks"} & parts(scenario, {}).keys()
    assert not {"tasks", "ranks"} & parts(Scenario.load("incast"), {"run.duration": "1ms"}).keys()


def test_a_run_s_report_lists_iterations_and_the_rank_that_ends_last(run: Result, tmp_path: Path) -> None:
    text = io.StringIO()
    run_table.show(run, tmp_path, Console(file=text, width=100))
    said = text.getvalue()
    assert "Iterations of jobs, times as means over ranks" in said
    head = next(line for line in said.splitlines() if "last rank" in line)
    assert head.split() == ["job", "no.", "time", "compute", "exposed", "idle", "of", "bound", "last", "rank"]
    assert "job train: rank 0 ends last in 3 of 3 iterations" in said
    assert f"incast plot {tmp_path} --kind lanes draws what each rank does over time" in said.replace("\n", "")
    row = {"job": "j", "time_s": 1.0, "critical_rank": 4}
    assert job_table.lines([row, row | {"critical_rank": 5}, row], 1) == [
        "... and 2 iterations more (jobs.parquet)",
        "job j: rank 4 ends last in 2 of 3 iterations",
    ]


def test_a_view_has_collectives_also_where_no_tasks_are_recorded(scenario: Scenario) -> None:
    job = {"collective": {"kind": "all-to-all", "size": "40kB", "ranks": 4}}
    settings = {"measure.timeline": "auto"}
    made = scenario.changed({"job": [{"name": "all", **job}]}).with_(settings).run()
    parts = reading.described(Made(made), "run", Pack())
    assert parts["collectives"]["rows"] == made.collectives.num_rows > 0
    assert set(parts["collectives"]["columns"]) == set(reading.COLLECTIVES)
    assert set(parts["ranks"]["columns"]) == set(reading.RANKS) and "tasks" not in parts
    plain = Scenario.load("incast").with_({"run.duration": "1ms"} | settings).run()
    assert "collectives" not in reading.described(Made(plain), "run", Pack())


@pytest.mark.parametrize("name", ["tasks", "ranks", "collectives"])
def test_a_damaged_table_of_jobs_is_named(scenario: Scenario, tmp_path: Path, name: str) -> None:
    settings = {"measure.timeline": "auto", "measure.tasks": "all"}
    job = {"collective": {"kind": "all-to-all", "size": "40kB", "ranks": 4}}
    scenario.changed({"job": [{"name": "all", **job}]}).with_(settings).run().save(tmp_path / "run")
    path = tmp_path / "run" / f"{name}.parquet"
    whole = path.read_bytes()
    for damaged in (whole[: len(whole) // 2], whole[:4] + bytes(len(whole) // 2) + whole[4 + len(whole) // 2 :], b""):
        path.write_bytes(damaged)
        with pytest.raises(FolderError, match=rf"{name}\.parquet (cannot be read|is damaged)"):
            page.write([tmp_path / "run"], tmp_path / "view.html")
    assert not (tmp_path / "view.html").exists()
