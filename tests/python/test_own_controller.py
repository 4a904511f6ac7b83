"""The scenario's own controller beside others: what ``--cc NAME`` drops of it, and ``--cc .``, which keeps it."""

from __future__ import annotations

from collections import defaultdict
from html import escape
from pathlib import Path

import pytest

from conftest import Command
from incast import Scenario, ScenarioError, Study
from incast.comparisons import coexistence, comparison
from incast.comparisons.declaration import ComparisonStudy, Controller
from incast.report import comparison_page

OWN = """
controller = { kind = "swift", base_target = "25us", fs_min_cwnd = 0.01 }
run = { duration = "200us" }
queue = { kind = "drop-tail", limit = "100p" }

[topology]
kind = "leaf-spine"
leaves = 2
spines = 2
hosts_per_leaf = 4
link = { rate = "100Gbps", delay = "500ns" }
spine_link = { rate = "100Gbps", delay = "500ns" }

[[traffic]]
name = "incast"
pattern = "hotspot"
flows = 7
app = { kind = "bulk" }
"""

NOTE = (
    "--cc swift and --cc swift:flow_scaling=false take the defaults of swift: fig21.toml's own "
    "controller.base_target = 25us, fs_min_cwnd = 0.01 are not used; --cc . and --cc .:flow_scaling=false keep them"
)


@pytest.fixture
def scenario(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the name of a scenario whose controller has parameters, in the working directory."""
    (tmp_path / "fig21.toml").write_text(OWN)
    monkeypatch.chdir(tmp_path)
    return "fig21.toml"


def study(scenario: str, *controllers: str) -> ComparisonStudy:
    return ComparisonStudy.parse([scenario], controllers, None, 1, [])


def test_a_named_controller_says_which_parameters_of_the_scenario_it_drops(scenario: str) -> None:
    assert study(scenario, "swift", "swift:flow_scaling=false", "dctcp").drops() == [NOTE]
    # parameters that are given anyway are not dropped, and dctcp has none of swift's
    assert study(scenario, "swift:base_target=25us,fs_min_cwnd=0.01,h=1us", "dctcp").drops() == []
    assert study("dumbbell", "dctcp", "swift").drops() == []


def test_the_note_comes_before_the_runs(incast: Command, tmp_path: Path) -> None:
    (tmp_path / "fig21.toml").write_text(OWN)
    # refused after the notes: two equal controllers
    done = incast("compare", "fig21.toml", "--cc", "swift", "--cc", "swift:base_target=auto", "--out", "out")
    done.refused(
        "note: --cc swift takes the defaults of swift: fig21.toml's own controller.base_target = 25us, fs_min_cwnd"
    )


def test_the_note_stays_in_the_report_when_the_scenario_is_gone(scenario: str, tmp_path: Path) -> None:
    comparison.carry_out(study(scenario, "swift", "swift:flow_scaling=false", "."), tmp_path / "out")
    Path(scenario).unlink()
    done = comparison.load(tmp_path / "out")
    assert [one.label for one in done.study.controllers] == ["swift", "swift flow_scaling=false", "own (swift)"]
    assert escape(NOTE) in comparison_page.html(done, {}, defaultdict(str), "", ("png",))


def test_the_own_controller_keeps_its_parameters_and_takes_changes(scenario: str) -> None:
    base = Scenario.load(scenario)
    assert base.with_controller(".") == base
    changed = base.with_controller(".:flow_scaling=false")
    assert changed == base.with_({"controller.flow_scaling": False})
    assert changed.resolved()["controller"]["base_target"] == "25us"
    runs = {case.controllers[0].text: study(scenario, ".", ".:h=1us").scenario(case) for case in
            study(scenario, ".", ".:h=1us").cases()}  # fmt: skip
    assert runs["."].resolved()["controller"] == base.resolved()["controller"]
    assert runs[".:h=1us"].resolved()["controller"] == base.resolved()["controller"] | {"h": "1us"}


def test_labels_of_the_own_controller_show_what_differs() -> None:
    assert Controller(".").label == "own"
    assert Controller(".:flow_scaling=false").beside(["swift"]).label == "own flow_scaling=false (swift)"


def test_the_own_controller_equal_to_a_named_one_is_refused(incast: Command) -> None:
    done = incast("compare", "dumbbell", "--cc", "dctcp", "--cc", ".", "--out", "out")
    done.refused("--cc dctcp and --cc . are the same controller")


def test_changes_beside_controllers_of_entries_are_refused(scenario: str) -> None:
    base = Scenario.load(scenario).with_({"traffic.incast.controller": "dctcp:g=0.5"})
    assert base.with_controller(".") == base
    with pytest.raises(ScenarioError, match=r"traffic\.incast\.controller\.g"):
        base.with_controller(".:g=0.1")
    with pytest.raises(ScenarioError, match="expected parameters with values"):
        base.with_controller(".:g")


def test_arms_of_studies_keep_the_own_controller_or_say_what_they_drop(scenario: str) -> None:
    arms = {"kept": ".", "changed": ".:h=1us", "usual": "swift", "set": {"controller": "swift", "controller.h": "1us"}}
    made = Study(scenario, arms=arms)
    found = {point.arm: made.scenario_of(point).resolved()["controller"] for point in made.points()}
    assert (found["kept"]["base_target"], found["usual"]["base_target"]) == ("25us", "auto")
    assert found["changed"] == found["kept"] | {"h": "1us"}
    (note,) = made.drops()
    assert note.startswith('arm usual: controller = "swift" and arm set: controller = "swift" take the defaults')
    assert note.endswith('arm usual: controller = "." and arm set: controller = "." keep them')


def test_pairs_give_the_own_controller_to_an_entry() -> None:
    pairs = coexistence.parse("coexistence", [".", "swift"], 1, [("run.duration", "1ms")])
    base = Scenario.load("coexistence").resolved()["controller"]
    case = next(case for case in pairs.cases() if case.texts == (".", "swift"))
    own, other = (entry["controller"] for entry in pairs.scenario(case).resolved()["traffic"])
    assert own == base
    assert other["kind"] == "swift"


def test_a_run_has_no_controllers_to_compare(incast: Command) -> None:
    incast("run", "dumbbell", "--cc", "swift").refused("--cc swift", "--set controller=swift")
