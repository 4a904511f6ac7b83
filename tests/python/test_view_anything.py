"""``incast view`` of anything: runs without a timeline are repeated with one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import incast as api
from conftest import Command
from incast import FolderError, IncastError, Result, Scenario, StudyError
from incast.commands.compared import Compared
from incast.comparisons import picked
from incast.runs import repeated
from incast.view import timelines

SHORT = {"run.duration": "4ms", "run.warmup": "1ms"}
SETTINGS = [word for key, value in SHORT.items() for word in ("--set", f"{key}={value}")]
CLASS = """
class Mine:
    cwnd = 20000.0

    def on_ack(self, ack): ...
    def on_loss(self, event): ...
    def on_timeout(self, event): ...
"""


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Write the folder of a run without a timeline."""
    return Scenario.load("dumbbell").with_(SHORT).run().save(tmp_path / "r")


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Compared:
    """Make a comparison of two controllers at two values under two seeds."""
    out = tmp_path_factory.mktemp("compared") / "c"
    vary = {"traffic.flows": [2, 4]}
    return api.compare("dumbbell", ["dctcp", "swift"], vary=vary, seeds=2, settings=SHORT, out=out)


def test_a_run_without_a_timeline_is_repeated_once_and_kept_beside_it(incast: Command, run: Path) -> None:
    first = incast("view", str(run))
    assert first.status == 0, first.err
    assert "view: repeats 1 run with a timeline: less than 1 s of CPU time" in first.err
    assert (run / "view.html").is_file()
    again = Result.load(run / timelines.PLACE)
    assert again.timeline_json is not None
    assert again.summary == Result.load(run).summary
    second = incast("view", str(run))
    assert (second.status, second.err) == (0, "")


def test_a_run_of_another_build_is_told_and_a_changed_one_refused(incast: Command, run: Path) -> None:
    manifest = json.loads((run / "manifest.json").read_text())
    (run / "manifest.json").write_text(json.dumps(manifest | {"engine": "0123456789abcdef"}))
    told = incast("view", str(run))
    assert "the run r was made by another build of the engine: this build gives the same figures" in told.err
    one = Result.load(run)
    summary = json.loads(one.summary_json)
    summary["flows"]["timeouts"] += 1
    other = Result(manifest, one.toml, json.dumps(summary), lambda _: one.flows.arrow, folder=run)
    with pytest.raises(FolderError, match=r"repeating the run gives other figures \(flows.timeouts = 0, recorded 1\)"):
        repeated.in_memory(other)


def test_the_place_of_a_repeated_run_is_never_taken_from_something_else(incast: Command, run: Path) -> None:
    (run / timelines.PLACE).mkdir()
    (run / timelines.PLACE / "notes.txt").write_text("mine")
    incast("view", str(run)).refused("is no run folder", "move it away")
    assert (run / timelines.PLACE / "notes.txt").read_text() == "mine"


def test_a_place_that_cannot_be_written_is_replaced_by_a_temporary_one(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(timelines, "_is_writable", lambda _: False)
    with timelines.made([timelines.of_folder(run, "r")], lambda _: None) as there:
        ((label, place),) = there
        assert (label, (place / "timeline.json").is_file()) == ("r", True)
    assert not place.exists()
    assert not (run / timelines.PLACE).exists()


def test_the_class_of_a_folder_is_run_with_consent_alone(incast: Command, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(CLASS)
    done = incast("run", "dumbbell", "--set", "controller=mine.py:Mine", *SETTINGS, "--out", "r")
    assert done.status == 0, done.err
    (tmp_path / "mine.py").unlink()
    incast("view", "r").refused("class Mine", "--allow-code")
    assert incast("view", "r", "--allow-code").status == 0


@pytest.mark.extended(part="python")
def test_a_comparison_shows_two_controllers_at_the_middle_value_and_says_so(
    incast: Command, compared: Compared
) -> None:
    folder = compared.folder
    done = incast("view", str(folder))
    assert done.status == 0, done.err
    assert "view: shows dctcp and swift, traffic.flows = 4, seed 1" in done.err
    one = incast("view", str(folder), "--controller", "swift", "--value", "2", "--seed", "2")
    assert "view: shows swift, traffic.flows = 2, seed 2" in one.err
    assert one.out.split()[1].endswith("/view-swift-traffic.flows-2-seed-2.html")
    for words, told in (
        (["--controller", "swfit"], 'controller swfit: expected one of dctcp, swift (did you mean "swift"?)'),
        (["--value", "3"], "value 3: traffic.flows has 2, 4"),
        (["--seed", "3"], "seed 3: expected a number from 1 to 2"),
        (["--run", "x"], "--run: "),
    ):
        incast("view", str(folder), *words).refused(told)


def test_a_comparison_is_viewed_from_python_by_controller_and_value(compared: Compared) -> None:
    view = compared.view("swift", 4)
    assert repr(view) == "<View of 1 run: swift>"
    with pytest.raises(StudyError, match="value 650: traffic.flows has 2, 4"):
        compared.view("swift", 650)
    assert picked.listed("swift") == ("swift",)


def test_a_scenario_is_run_and_viewed(incast: Command, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(Scenario.load("dumbbell").with_(SHORT).toml())
    done = incast("view", "mine.toml", "--seed", "2")
    assert done.status == 0, done.err
    assert "view: runs dumbbell with a timeline" in done.err
    (place,) = (tmp_path / "runs").iterdir()
    assert Result.load(place).summary["run"]["seed"] == 2
    assert "runs" not in incast("view", "mine.toml", "--seed", "2").err


@pytest.mark.slow("a study, and pages of two of its runs")
def test_a_store_shows_runs_by_arm_and_value_or_by_identity(incast: Command, tmp_path: Path) -> None:
    arms = {"low": {"queue.mark": "5p"}, "high": {"queue.mark": "9p"}}
    study = api.Study("dumbbell", axes={"traffic.flows": [2, 3]}, arms=arms, settings=SHORT)
    store = study.run(tmp_path / "s")
    done = incast("view", "s", "--controller", "high", "--value", "2")
    assert done.status == 0, done.err
    assert "view: shows high traffic.flows=2, seed 1" in done.err
    assert done.out.startswith("view: s/reports/study/view-high-traffic.flows-2-seed-1.html")
    run = store.runs["run"].to_pylist()[0]
    assert f"view: shows run {run}" in incast("view", "s", "--run", run).err
    assert not (tmp_path / "runs").exists(), "what is made of a store stays in it"
    assert incast("study", "status", "s", "--check").status == 0
    incast("view", "s", "--value", "7").refused("--value 7: study has traffic.flows=2; traffic.flows=3")
    incast("view", "s", "--seed", "4").refused("--seed 4: study has 1")


@pytest.mark.extended(part="python")
def test_what_cannot_be_viewed_is_refused_with_what_to_type(incast: Command, tmp_path: Path, run: Path) -> None:
    (tmp_path / "empty").mkdir()
    for words, told in (
        (["empty"], "empty has no manifest.json: not a run folder, nor the folder of a comparison"),
        (["swift"], "expected one of them, such as swift/fig4"),
        (["swift/fig99"], 'swift has no figure "fig99"'),
        (["nothing"], "nothing: no file and no built-in scenario of this name"),
        ([str(run), "--seed", "2"], "--seed: "),
        (["dumbbell", "dumbbell"], "dumbbell is given twice: give it once, or another run or scenario beside it"),
        ([str(run), f"{run}/"], f"{run}/ is the same run as {run}: give it once"),
        ([str(run), "swift/fig4"], "swift/fig4 holds several runs: give it alone"),
    ):
        incast("view", *words).refused(told)


def test_a_result_is_viewed_and_repeated_once(monkeypatch: pytest.MonkeyPatch) -> None:
    one = Scenario.load("dumbbell").with_(SHORT).run()
    assert "swift" not in repr(one.view())
    monkeypatch.setattr(Scenario, "run", lambda *_, **__: pytest.fail("repeated again"))
    assert one.view().html
    with pytest.raises(IncastError, match="2 is no result: expected runs"):
        one.view(2)  # type: ignore[arg-type]


@pytest.mark.extended(part="python")
def test_a_comparison_over_two_keys_shows_a_pair_of_values(incast: Command) -> None:
    keys = ["--vary", "traffic.flows=2,4", "--vary", "queue.mark=15p,30p"]
    made = incast("compare", "dumbbell", "--cc", "dctcp", *keys, "--seeds", "1", *SETTINGS, "--out", "g", "-q")
    assert made.status == 0, made.err
    done = incast("view", "g", "--value", "2,30p")
    assert done.status == 0, done.err
    assert "view: shows dctcp, traffic.flows × queue.mark = 2 × 30p, seed 1" in done.err
    incast("view", "g", "--value", "3").refused("traffic.flows × queue.mark has 2 × 15p, 2 × 30p")
