"""Figures that a reader changes: other keys, other values, copies, a run over time; and what a figure is made of."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from conftest import Command, left_in
from incast.errors import PaperError
from incast.papers import changing, copying, definition, planning, reading
from incast.runs.run_folder import engine_digest, read_manifest
from incast.system import files

TARGET = "controller.base_target"


def figures(folder: Path) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = json.loads((folder / "results.json").read_text())["figures"]
    return found


@pytest.mark.extended(part="python")
def test_a_key_is_changed_and_the_published_results_stay_apart(incast: Command, paper: Path, tmp_path: Path) -> None:
    published = incast("paper", "run", "./small", "--seeds", "1")
    assert published.status == 0, published.err
    before = (tmp_path / "runs/paper-small-small/results.json").read_bytes()
    words = ("./small/fig1", "--seeds", "1", "--set", f"{TARGET}=40us")
    answer = incast("paper", "run", *words)
    assert answer.status == 0, answer.err
    assert "controller.base_target: DCTCP has no such key, and stays as published" in answer.err
    head, changed, told, *claims = answer.out.splitlines()
    assert head.partition(" - ")[0].endswith(" (changed set-up)")
    assert changed == f"  changed: {TARGET} = 40us, was auto, in Swift"
    assert told == "  title, text, captions and claims are worded for the published set-up"
    own = [line for line in claims if line.startswith("  ") and "note" not in line]
    assert all(line.partition(":")[0].endswith(" (changed set-up)") for line in own)
    folder = tmp_path / "runs/paper-small-small-fig1-controller.base-target-40us"
    (done,) = figures(folder).values()
    assert done["changes"] == [{"key": TARGET, "value": "40us", "series": ["Swift"]}]
    assert all(claim["verdict"].endswith(" (changed set-up)") for claim in done["claims"])
    delay = {(row["series"], row["x"]): row["delay"]["mean"] for row in done["points"]}
    was = {
        (row["series"], row["x"]): row["delay"]["mean"]
        for row in figures(tmp_path / "runs/paper-small-small")["fig1"]["points"]
    }
    assert delay["DCTCP", 40] == was["DCTCP", 40] and delay["Swift", 40] > 1.05 * was["Swift", 40]
    page = (folder / "report.html").read_text()
    (section,) = page.split('<section id="fig1">')[1:]
    assert section.index("Changed set-up:") < section.index("<p class="), "before the words of the published one"
    assert "Changed set-up; caption of the published one: Delay over flows." in section
    assert f"--set {TARGET}=40us" in page
    assert "It never was." not in page, "the reason was found in the published set-up"
    # neither goes into the folder of the other
    assert (tmp_path / "runs/paper-small-small/results.json").read_bytes() == before
    incast("paper", "run", *words, "--out", "runs/paper-small-small").refused("another paper, scale or set-up")
    incast("paper", "run", "./small", "--out", f"{folder}").refused("another paper, scale or set-up")
    again = incast("paper", "report", *words)
    assert again.status == 0 and again.out == answer.out, again.err


@pytest.mark.slow("a figure of a paper, three times")
def test_values_of_a_key_have_a_figure_each_and_one_together(incast: Command, paper: Path, tmp_path: Path) -> None:
    answer = incast("paper", "run", "./small/fig1", "--seeds", "1", "--vary", f"{TARGET}=30us,60us", "--out", "v")
    assert answer.status == 0, answer.err
    found = figures(tmp_path / "v")
    assert list(found) == ["fig1", "fig1-30us", "fig1-60us"]
    assert found["fig1"]["claims"] == [] and len(found["fig1-60us"]["claims"]) == 3
    names = [row["series"] for row in found["fig1"]["points"]]
    assert list(dict.fromkeys(names)) == ["Swift, base_target = 30us", "Swift, base_target = 60us", "DCTCP"]
    # two points of two Swifts and of one DCTCP: what is the same is run once
    runs = {path for path in (tmp_path / "v/runs").glob("*/*") if path.is_dir()}
    assert len(runs) == 6
    alike = {(row["x"], row["delay"]["mean"]) for row in found["fig1"]["points"] if row["series"].endswith("60us")}
    assert alike == {
        (row["x"], row["delay"]["mean"]) for row in found["fig1-60us"]["points"] if row["series"] == "Swift"
    }


@pytest.mark.extended(part="python")
def test_changes_that_say_nothing_are_refused_with_what_to_do(incast: Command, paper: Path, tmp_path: Path) -> None:
    def refused(*words: str, told: str) -> None:
        incast("paper", "run", "./small/fig1", *words).refused(told)

    refused("--set", "controller.base_targt=1us", told='did you mean "base_target"?')
    refused("--set", f"{TARGET}=soon", told=f'{TARGET} = "soon": expected')
    refused("--set", "traffic.flows=7", told="the points of fig1 set it themselves (at 4: traffic.flows = 4)")
    refused("--vary", "traffic.flows=7,8", told="incast paper copy ./small/fig1 DIR")
    refused(
        "--set",
        "controller=newreno",
        told="some series of ./small/fig1 set it themselves (DCTCP), and some do not (Swift)",
    )
    both = ("--series", "Swift", "--series", "DCTCP")
    refused("--set", "controller=newreno", *both, told="Swift and DCTCP are then the same; give --series NAME")
    refused("--set", "queue.mark=65p", told="queue.mark=65p has no effect on ./small/fig1")
    refused("--set", "controller=newreno", "--series", "swift", told='did you mean "Swift"?')
    refused("--set", "run.seed=3", told="use --seeds")
    refused("--series", "Swift", told="needs --set or --vary too")
    refused("--vary", f"{TARGET}=30us,30000ns", told="30us and 30000ns are the same")
    refused("--vary", f"{TARGET}=30us", "--set", f"{TARGET}=40us", told="also given by --set")
    incast("paper", "run", "mswift/fig2", "--set", "run.duration=1ms").refused("every series is computed by a formula")
    incast("paper", "run", "swift", "--set", "run.duration=1ms").refused("change one figure: expected one of swift")
    assert left_in(tmp_path) == ["small"], "nothing is made of what is refused"
    # one series alone may become what another one is not
    answer = incast("paper", "run", "./small/fig1", "--seeds", "1", "--set", "controller=newreno", "--series", "DCTCP")
    assert answer.status == 0 and "changed: controller = newreno, in DCTCP" in answer.out, answer.err


@pytest.mark.parametrize("name", reading.names())
def test_every_figure_is_copied_as_it_is(name: str) -> None:
    """The text of a copy with one figure says what the paper does, whatever the figure is like."""
    data = files.read_toml(definition.home() / name / definition.PAPER_FILE)
    for figure in data["figures"]:
        text = copying.of_figure(data, figure)  # which holds them against each other
        assert max(len(line) for line in text.splitlines()) < 700, figure


def test_a_copy_has_the_same_runs_elsewhere(incast: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hashes are of all that a run depends on, the content of files too: to simulate both would say no more."""
    answer = incast("paper", "copy", "sdn-incast/fig2", "mine")
    assert answer.status == 0, answer.err
    assert (
        answer.out.splitlines()[0] == "copied: paper.toml, fig2.toml, fig2-flow.csv, fig2-network.toml, fig2-others.csv"
    )
    assert "edit: mine/paper.toml" in answer.out and "then: incast paper run ./mine" in answer.out
    incast("paper", "copy", "sccp/fig2", "mine").refused("mine exists and is not empty")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "mine").rename(tmp_path / "elsewhere/other")
    monkeypatch.chdir(tmp_path / "elsewhere")

    def runs(name: str) -> dict[tuple[str, definition.X, int], str]:
        whole, (figure,) = reading.find(name)
        made = planning.jobs(whole, figure.at("small"), tmp_path / "o")
        return {key: job.scenario.hash for key, job in made.items()}

    assert runs("./other") == runs("sccp/fig2")
    # what its points set is changed by hand
    page = tmp_path / "elsewhere/other/paper.toml"
    page.write_text(page.read_text().replace("[figures.fig2]\n", "[figures.fig2]\nseeds = 0\n"))
    incast("paper", "run", "./other", cwd=tmp_path / "elsewhere").refused("paper.toml")


def test_a_whole_paper_is_copied_with_all_its_files(incast: Command, tmp_path: Path) -> None:
    assert incast("paper", "copy", "sccp", "s").status == 0
    assert {path.name for path in (tmp_path / "s").iterdir()} == {
        path.name for path in (definition.home() / "sccp").iterdir() if path.suffix in (".toml", ".csv")
    }
    copied, figures_ = reading.find(str(tmp_path / "s"))
    assert len(figures_) == len(reading.find("sccp")[1]) and copied.aliases == []


@pytest.mark.extended(part="python")
def test_papers_go_by_names_that_readers_know(incast: Command) -> None:
    listed = [
        files.read_toml(definition.home() / name / definition.PAPER_FILE).get("aliases", []) for name in reading.names()
    ]
    assert all(listed), "each paper has one"
    known = [*reading.names(), *(alias for each in listed for alias in each)]
    assert len(known) == len(set(known)), "each name is of one paper"
    assert reading.find("dctcp-vs-swift/target")[0].name == "yasomam"
    assert reading.find("sdn-incast")[0].name == "sccp"
    told = incast("list", "papers")
    assert told.status == 0 and told.out.startswith("cse322 (also newreno-vs-westwood"), told.err
    assert "\nyasomam (also dctcp-vs-swift): " in told.out
    incast("paper", "show", "dctcp-vs-swiftt").refused('did you mean "dctcp-vs-swift"?')


def test_a_figure_is_shown_with_what_it_is_made_of(incast: Command, paper: Path) -> None:
    told = incast("paper", "show", "./small/fig1").out
    for line in (
        '  DCTCP: controller = "dctcp"',
        "  40: traffic.flows = 40",
        "  delay: Mean delay (us), flows.delay_mean_s of the summary",
        "    rising(delay('DCTCP', [4, 40])) and delay('Swift', 4) > 0",
        "  DCTCP, Mean delay (us): 500 at 40",
        "Scale paper: 3 seeds instead of 2; points 4, 40, 1000",
        "incast paper run ./small/fig1 --set KEY=VALUE",
    ):
        assert line in told, (line, told)
    scenario = incast("paper", "show", "./small/fig1", "--scenario", "DCTCP@40")
    assert 'kind = "dctcp"' in scenario.out and "flows = 40" in scenario.out, scenario.err
    incast("paper", "show", "./small/fig1", "--scenario", "DCTCP@41").refused("no point 41", "expected one of 4, 40")
    assert "swift/fig20: Flows join and leave (" in incast("paper", "show", "swift").out


@pytest.mark.extended(part="python")
def test_runs_are_named_and_listed_and_one_is_seen_over_time(incast: Command, paper: Path, tmp_path: Path) -> None:
    words = ("paper", "run", "./small/fig1", "--seeds", "1", "--out", "o")
    answer = incast(*words)
    assert answer.status == 0, answer.err
    rows = list(csv.DictReader((tmp_path / "o/runs.csv").read_text().splitlines()))
    assert [(row["series"], row["point"]) for row in rows] == [
        ("Swift", "4"), ("Swift", "40"), ("DCTCP", "4"), ("DCTCP", "40"),
    ]  # fmt: skip
    for row in rows:
        assert (tmp_path / "o" / row["run"] / "summary.json").is_file()
        assert Path(row["run"]).name.startswith(f"{row['series']}-{row['point']}-")
    points = figures(tmp_path / "o")["fig1"]["points"]
    assert [row["folders"] for row in points] == [[row["run"]] for row in rows]
    # a run under a name of its own before is found, and not made again
    (old,) = [tmp_path / "o" / row["run"] for row in rows if (row["series"], row["point"]) == ("DCTCP", "40")]
    named = old.name.removeprefix("DCTCP-40-")
    (tmp_path / "o/runs/fig1-toml").mkdir()
    old.rename(tmp_path / "o/runs/fig1-toml" / named)
    stamp = (tmp_path / "o/runs/fig1-toml" / named / "manifest.json").stat().st_mtime_ns
    answer = incast(*words, "--timeline", "DCTCP@40")
    assert answer.status == 0, answer.err
    assert not old.exists() and (tmp_path / "o/runs/fig1-toml" / named / "manifest.json").stat().st_mtime_ns == stamp
    timed = tmp_path / "o/runs/fig1-toml" / f"{named}-timeline"
    assert read_manifest(timed)["engine"] == engine_digest() and (timed / "timeline.json").is_file()
    if (Path(definition.__file__).parents[1] / "view/viewer.html").is_file():
        assert "view: o/view-fig1.html" in answer.out
        assert "DCTCP at 40, seed 1" in (tmp_path / "o/report.html").read_text()
    incast(*words, "--timeline", "Dctcp@40").refused('"Dctcp@40" of fig1: expected SERIES@POINT or first')


def test_a_point_that_sets_a_whole_table_is_not_set_aside() -> None:
    """A key of what points bring themselves is refused, be it in the short form of a controller."""
    paper, (figure,) = reading.find("swift/table4")
    keys = {key for point in figure.at("small").points for key in point.set}
    assert keys, "its points set something"
    with pytest.raises(PaperError, match="the points of table4 set it themselves"):
        key = sorted(keys)[0]
        value = str(next(point.set[key] for point in figure.points if key in point.set))
        changing.of(paper, figure, "small", [(key, value)], None, [], lambda _: None)
