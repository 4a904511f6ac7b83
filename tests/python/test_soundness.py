"""Runs whose figures cannot be right: one check for all ways in which runs are made and read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import incast
from conftest import Command
from incast import Scenario, Store, Study, UnsoundError
from incast.batch import run_folders
from incast.batch.plan import Job
from incast.commands.program import program
from incast.learn import FlowEnv
from incast.runs import soundness
from incast.study import estimate, reading, status

STAR = """

controller = "swift"
[run]
duration = "5ms"
[topology]
kind = "star"
sources = 2
source_link = { rate = "10Gbps", delay = "1us" }
sink_link = { rate = "10Gbps", delay = "1us" }
[queue]
kind = "drop-tail"
limit = "1000p"
[transport]
preset = "swift"
[[traffic]]
name = "t"
pattern = "pairs"
app = { kind = "bulk", size = "64kB" }
"""

QUICK = {"run.duration": "20ms", "run.warmup": "0s", "traffic.app.size": "20kB", "traffic.flows": 1}
"""A run of a moment with a flow of a size."""

SMALL = Scenario.load("dumbbell").with_(QUICK)


@pytest.fixture
def defect(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the engine be wrong under seed 2: its flows beat their ideals."""
    own = soundness.unsound

    def wrong(summary: Mapping[str, Any]) -> str:
        if summary["run"]["seed"] != 2:
            return own(summary)
        fct = {**summary["fct"], "slowdown_min": 0.5}
        return own({**summary, "fct": fct})

    monkeypatch.setattr(soundness, "unsound", wrong)


def test_a_flow_that_beats_its_ideal_makes_a_run_unsound() -> None:
    assert soundness.unsound({"run": {}, "fct": {"slowdown_min": 1.0}}) == ""
    assert soundness.unsound({"run": {}, "fct": {"slowdown_min": None}}) == ""
    assert soundness.unsound({"run": {}, "fct": {"slowdown_min": 1 - 1e-10}}) == "", "rounding of a ratio"
    told = soundness.unsound({"run": {}, "fct": {"slowdown_min": 0.9}})
    assert told.startswith("a flow took 0.9 of its completion time"), told
    told = soundness.unsound({"run": {}, "fct": {"slowdown_min": 1.2, "delivery_slowdown_min": 0.8}})
    assert told.startswith("a flow took 0.8 of its completion time"), "the receiver had its last byte too early"
    assert soundness.unsound({"run": {}, "fct": {"slowdown_min": None, "delivery_slowdown_min": 1.0}}) == ""
    assert soundness.unsound_figures({"run.unsound": "why"}) == "why"
    with pytest.raises(UnsoundError, match=r"a run: a flow took 0\.9 .* defect"):
        soundness.refuse({"run": {}, "fct": {"slowdown_min": 0.9}}, "a run")


def test_the_smallest_slowdown_is_a_figure() -> None:
    result = SMALL.run()
    slowdowns = [value for value in result.flows["slowdown"].to_pylist() if value is not None]
    assert result.summary["fct"]["slowdown_min"] == min(slowdowns) >= 1


@pytest.mark.usefixtures("defect")
def test_python_refuses_a_run_and_keeps_it_for_whoever_looks() -> None:
    with pytest.raises(UnsoundError, match="dumbbell, seed 2: a flow took 0.5") as told:
        SMALL.run(seed=2)
    assert told.value.result.flows.num_rows == 1
    assert "defect" in told.value.result.notes()[0]
    with pytest.raises(UnsoundError, match="seed 2"):
        incast.evaluate(SMALL, [1, 2])


@pytest.mark.usefixtures("defect")
def test_a_study_marks_the_run_and_makes_the_others(tmp_path: Path) -> None:
    study = Study(SMALL, axes={"traffic.app.size": ["10kB", "20kB"]}, seeds=3)
    store = study.run(tmp_path / "store", workers=1)
    rows = store.runs.to_pylist()
    marked = [row for row in rows if row["run.unsound"]]
    assert {row["seed"] for row in marked} == {2}
    assert len(marked) == 2
    assert all(row["fct.mean_s"] is None and row["run.hops"] > 0 for row in marked), "no figure"
    assert all(row["fct.mean_s"] > 0 for row in rows if row["seed"] != 2), "the others have theirs"
    told = status.of(store)
    assert len(told.unsound) == 2
    assert any("unsound" in line for line in told.lines())
    with pytest.raises(UnsoundError, match="2 runs without figures"):
        status.refuse_unsound(store, study.name)
    with pytest.raises(UnsoundError, match="a flow took 0.5"):
        reading.find(store, marked[0]["run"])


@pytest.mark.usefixtures("defect")
def test_an_unsound_run_of_one_study_is_no_matter_of_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both are in one store: the sound one ends well, and says nothing of a run that is not its own."""
    monkeypatch.chdir(tmp_path)
    for name, seeds in (("wrong", "[1, 2]"), ("right", "[1, 3]")):
        pairs = "".join(f"{json.dumps(key)} = {json.dumps(value)}\n" for key, value in QUICK.items())
        (tmp_path / f"{name}.toml").write_text(
            f'name = "{name}"\nscenario = "dumbbell"\nseeds = {seeds}\n[set]\n{pairs}'
        )
    words = ["--store", "st", "--workers", "1", "--quiet"]
    answer = CliRunner().invoke(program(), ["study", "run", "wrong.toml", *words])
    assert isinstance(answer.exception, UnsoundError), answer.output
    assert CliRunner().invoke(program(), ["study", "run", "right.toml", *words]).exit_code == 0
    assert CliRunner().invoke(program(), ["study", "run", "right.toml", *words, "--rebuild"]).exit_code == 0
    words = ["study", "extend", "st", "--study", "right", "--seeds", "4", "--workers", "1", "--quiet"]
    answer = CliRunner().invoke(program(), words)
    assert isinstance(answer.exception, UnsoundError), "it has seed 2 now"
    store = Store.at(tmp_path / "st")
    assert len(status.unsound_of(store)) == 1, "a run that both have, once"


@pytest.mark.usefixtures("defect")
def test_a_comparison_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnsoundError, match="seed 2"):
        incast.compare("dumbbell", ["dctcp", "swift"], seeds=2, settings=QUICK, out=tmp_path / "c", workers=1)


@pytest.mark.usefixtures("defect")
def test_jobs_of_papers_are_refused(tmp_path: Path) -> None:
    jobs = [Job("one", SMALL.with_seed(2), tmp_path / "one")]
    with pytest.raises(UnsoundError, match="seed 2"):
        run_folders.make(jobs, 1)
    assert not (tmp_path / "one").exists()


@pytest.mark.usefixtures("defect")
def test_pairs_of_controllers_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    quick = ["--set", "run.duration=20ms", "--set", "run.warmup=5ms"]
    words = ["coexist", "coexistence", *quick, "--cc", "dctcp", "--cc", "swift", "--seeds", "2", "--out", "p", "-q"]
    answer = CliRunner().invoke(program(), words)
    assert isinstance(answer.exception, UnsoundError), (answer.output, answer.exception)


@pytest.mark.usefixtures("defect")
def test_an_estimate_goes_on_as_the_study_does(tmp_path: Path) -> None:
    """A dry run ended with the error of a run that the study marks."""
    study = Study(SMALL, seeds=[2])
    assert any("1 of the runs" in line for line in estimate.of(study, tmp_path / "st", 1).lines())


@pytest.mark.usefixtures("defect")
def test_a_sensitivity_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("SALib")
    from incast.tuning.sensitivity import Analysis, carry_out

    axes = {"controller.g": {"from": 0.1, "to": 0.9}, "queue.mark": {"from": "5p", "to": "50p", "whole": True}}
    table = {"figures": ["flows.jain"], "seeds": 2, "allow_idle": True}
    study = Study(SMALL, axes=axes, keep=(), others={"sensitivity": table})
    with pytest.raises(UnsoundError, match="seed 2: a flow took 0.5"):
        carry_out(Analysis.of(study, "morris", 2), tmp_path / "found", 1, lambda _: None)


@pytest.mark.slow("a paper is run, changed and reported")
def test_the_report_of_a_paper_refuses_a_run_that_is_there(
    incast: Command, paper: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder that an older version left: it is not judged, and it is made anew."""
    (paper / "fig1.toml").write_text((paper / "fig1.toml").read_text().replace('"20ms"', '"7ms"'))
    words = ("./small", "--seeds", "1", "--out", "p")
    assert incast("paper", "run", *words).status == 0
    (summary, *_) = sorted((paper.parent / "p").rglob("summary.json"))
    text = json.loads(summary.read_text())
    text["fct"]["slowdown_min"] = 0.5
    summary.write_text(json.dumps(text))
    incast("paper", "report", *words).failed(1, "a flow took 0.5", str(summary.parent.name), "repeats it after")
    again = incast("paper", "run", *words)
    assert again.status == 0, again.err
    assert json.loads(summary.read_text())["fct"]["slowdown_min"] != 0.5


@pytest.mark.usefixtures("defect")
def test_an_environment_refuses_the_figures_of_its_episode() -> None:
    env = FlowEnv("dumbbell", {"run.duration": "1ms", "run.warmup": "500us"})
    env.reset(options={"seed": 2})
    with pytest.raises(UnsoundError, match="seed 2: a flow took 0.5"):
        for _ in range(100):
            env.step([0.0])


@pytest.mark.usefixtures("defect")
def test_programs_end_with_status_1(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.toml").write_text(
        'scenario = "dumbbell"\nseeds = 2\n[set]\n'
        + "".join(f"{json.dumps(key)} = {json.dumps(value)}\n" for key, value in QUICK.items())
        + '[axes]\n"controller.g" = [0.1]\n'
    )
    words = [
        "--set",
        "run.duration=20ms",
        "--set",
        "run.warmup=0s",
        "--set",
        "traffic.app.size=20kB",
        "--seed",
        "2",
        "--out",
        "r",
        "--quiet",
    ]
    answer = CliRunner().invoke(program(), ["run", "dumbbell", *words])
    assert isinstance(answer.exception, UnsoundError)
    assert (tmp_path / "r" / "summary.json").exists(), "the folder has what shows the defect"
    answer = CliRunner().invoke(program(), ["study", "run", "s.toml", "--store", "st", "--workers", "1", "--quiet"])
    assert isinstance(answer.exception, UnsoundError), answer.output
    answer = CliRunner().invoke(program(), ["study", "status", "st"])
    assert "unsound" in answer.output


def test_unequal_paths_under_spraying_have_one_ideal(incast: Command, tmp_path: Path) -> None:
    """Two switches joined by a way of 1 Gb/s and one of 10: sound runs were refused as defects of the engine."""
    (tmp_path / "g.toml").write_text(
        'hosts = ["a", "b"]\nswitches = ["s", "t", "x", "y"]\n'
        'links = [\n  {a = "a", b = "s"}, {a = "b", b = "t"}, {a = "s", b = "x", rate = "1Gbps"}, {a = "x", b = "t"},\n'
        '  {a = "s", b = "y"}, {a = "y", b = "t"},\n]\n'
    )
    (tmp_path / "flows.csv").write_text(
        "source,destination,start,size\n" + "".join(f"a,b,{100 * i}us,20kB\n" for i in range(8)), encoding="utf-8"
    )
    for routing in ("reps", "power-of-two", "spray"):
        (tmp_path / "u.toml").write_text(
            'controller = "swift"\n[run]\nduration = "5ms"\n[topology]\nkind = "graph"\nfile = "g.toml"\n'
            'link = { rate = "10Gbps", delay = "1us" }\n[queue]\nkind = "drop-tail"\nlimit = "1000p"\n'
            f'[routing]\nkind = "{routing}"\n[transport]\npreset = "swift"\n'
            '[[traffic]]\nname = "t"\npattern = "file"\nfile = "flows.csv"\n'
        )
        done = incast("run", "u.toml", "--json", "--out", f"runs-{routing}")
        assert done.status == 0, (routing, done.err)
        flows = incast_flows(tmp_path / f"runs-{routing}")
        assert len(set(flows["ideal_fct_s"])) == 1, routing
        assert min(flows["slowdown"]) >= 1


def incast_flows(folder: Path) -> dict[str, list[float]]:
    """Read columns of a run's flows."""
    import pyarrow.parquet as pq

    table = pq.read_table(folder / "flows.parquet", columns=["ideal_fct_s", "slowdown"])
    return {name: table[name].to_pylist() for name in table.column_names}


def test_small_writes_and_buckets_are_no_defect() -> None:
    writes = {"traffic.app.size": "4kB", "traffic.app.write": "1448B"}
    bucket = {"topology.sink_link.burst": "100kB", "topology.sink_link.rate": "1Gbps", "routing.kind": "spray"}
    for changes in (writes, bucket):
        found = Scenario.from_toml(STAR).with_({"topology.sources": 1, **changes}).run().summary["fct"]
        assert found["finished"] == found["count"] > 0
        assert found["slowdown_min"] >= 1, changes


def test_a_transfer_that_stop_cuts_is_stopped() -> None:
    settings = {
        "topology.sink_link.rate": "1Gbps",
        "transport.send_buffer": "64kB",
        "traffic.stop": "100us",
        "traffic.app.size": "10MB",
    }
    result = Scenario.from_toml(STAR).with_(settings).run()
    fct, flows = result.summary["fct"], result.flows.to_pylist()
    assert (fct["finished"], fct["mean_s"], fct["slowdown_min"]) == (0, None, None)
    assert result.summary["flows"]["stopped"] == fct["count"] == 2
    for flow in flows:
        assert flow["finish_s"] is flow["fct_s"] is flow["slowdown"] is flow["received_s"] is None
        own = flow["delivered_bytes"] * 8 / (flow["stopped_s"] - flow["start_s"])
        np.testing.assert_allclose(flow["goodput_bps"], own)
        assert own < 1e9
