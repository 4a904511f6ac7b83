"""Papers that somebody sent, and copies beside the papers that come with the package: what each name means."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from conftest import Command, left_in
from incast import Scenario, controllers
from incast.commands import paper as commands
from incast.commands.options import folder
from incast.errors import FolderError, PaperError
from incast.papers import copying, definition, page, planning, reading
from incast.runs.run_folder import TIMELINE
from own_paper import PAPER, SCENARIO
from test_repeat import MINE

PUBLISHED = 'published = [{ series = "DCTCP", x = 40, measure = "delay", value = 500.0 }]'
POINT = "{ x = 4, set"


@pytest.mark.parametrize(
    "name", ["../outside.toml", "{outside}", "inner/../fig1.toml", "link.toml", "linked/fig1.toml"]
)
@pytest.mark.parametrize(
    ("good", "bad"),
    [
        ('scenario = "fig1.toml"', 'scenario = "{name}"'),
        (PUBLISHED, 'published = "{name}"'),
        (POINT, '{{ x = 4, scenario = "{name}", set'),
    ],
)
def test_a_sent_paper_names_files_of_its_folder_alone(paper: Path, name: str, good: str, bad: str) -> None:
    outside = paper.parent / "outside.toml"
    shutil.copy(paper / "fig1.toml", outside)
    (paper / "inner").mkdir()
    (paper / "link.toml").symlink_to(outside)
    (paper.parent / "elsewhere").mkdir()
    shutil.copy(outside, paper.parent / "elsewhere/fig1.toml")
    (paper / "linked").symlink_to(paper.parent / "elsewhere")
    assert good in PAPER
    (paper / "paper.toml").write_text(PAPER.replace(good, bad.format(name=name.format(outside=outside)), 1))
    with pytest.raises(PaperError, match=r"expected a file inside .*, by its relative path, not a link"):
        reading.load(paper)


def test_what_a_scenario_names_is_not_copied_from_behind_a_link(paper: Path, tmp_path: Path) -> None:
    traffic = 'name = "more"\npattern = "file"\nfile = "flows.csv"\n'
    (paper / "fig1.toml").write_text(f"{SCENARIO}[[traffic]]\n{traffic}")
    (tmp_path / "secret.csv").write_text("start,source,destination,size\n0s,h0,h1,30000\n")
    (paper / "flows.csv").symlink_to(tmp_path / "secret.csv")
    with pytest.raises(PaperError, match=r"flows\.csv is a link, or behind one"):
        copying.copy(reading.load(paper), None, tmp_path / "mine", "1")
    assert not (tmp_path / "mine").exists()


def test_a_bare_name_is_the_paper_of_the_package_beside_a_copy(incast: Command, tmp_path: Path) -> None:
    assert incast("paper", "copy", "hull", "hull").status == 0
    told = incast("paper", "show", "hull")
    assert f"file: {definition.home()}/hull/paper.toml" in told.out
    assert "Figures\n  hull/drain: " in told.out and " 3 series, " in told.out, "a paper of one figure is one"
    assert "note: hull is the built-in paper; write ./hull for the folder" in told.err
    own = incast("paper", "show", "./hull/drain")
    assert str(definition.home()) not in own.out and "incast paper run ./hull/drain" in own.out and own.err == ""


def test_results_of_a_copy_do_not_take_the_place_of_the_published_ones(tmp_path: Path) -> None:
    ours, _ = reading.find("hull")
    theirs = copying.copy(ours, None, tmp_path / "a/hull", "1").paper.folder
    shutil.copytree(theirs, tmp_path / "b/hull")
    results = tmp_path / "r"
    planning.mark_folder(reading.load(theirs), "small", results)
    planning.mark_folder(reading.load(theirs), "small", results)
    for other in (ours, reading.load(tmp_path / "b/hull")):
        with pytest.raises(FolderError, match="holds results of another paper"):
            planning.mark_folder(other, "small", results)
    assert str(tmp_path) not in (results / planning.MARK).read_text(), "results name no place of this machine"


@pytest.mark.parametrize("link", ["runs", "runs/fig1", "runs/fig1/Swift-4-0123456789ab-seed1"])
def test_nothing_is_run_behind_a_link_in_results(incast: Command, paper: Path, tmp_path: Path, link: str) -> None:
    whole, _ = reading.find(str(paper))
    planning.mark_folder(whole, "small", tmp_path / "o")
    (tmp_path / "outside").mkdir()
    (tmp_path / "o" / link).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / "o" / link).symlink_to(tmp_path / "outside")
    incast("paper", "run", str(paper), "--out", "o").refused(f"o/{link} is a link: expected a folder of runs")
    assert left_in(tmp_path / "outside") == []


def test_a_name_that_is_given_beside_a_run_is_found_from_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run folder has a copy under the same name, which is another class by now."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lab").mkdir()
    (tmp_path / "lab/mine.py").write_text(MINE)
    quick = {"run.duration": "1ms", "run.warmup": "0s"}
    Scenario.load("two-senders").with_({**quick, "controller": "lab/mine.py:Mine"}).run().save("run")
    kept = Scenario.load("run/scenario.toml", allow_code=True)
    (tmp_path / "lab/mine.py").write_text(MINE.replace("10 * env.mss", "20 * env.mss"))
    own = [
        kept.with_({"controller": "lab/mine.py:Mine"}),
        kept.with_({"controller": '{ kind = "lab/mine.py:Mine" }'}),
        kept.with_controller("lab/mine.py:Mine"),
    ]
    assert len({one.hash for one in own}) == 1 and own[0].hash != kept.hash
    assert own[0].run().save("again").joinpath("lab/mine.py").read_bytes() == (tmp_path / "lab/mine.py").read_bytes()
    shutil.rmtree(tmp_path / "lab")
    kept.validate()
    assert controllers.locate("run/lab/mine.py").file == tmp_path / "run/lab/mine.py"


def test_a_broken_paper_does_not_hide_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("hull", "related"):
        shutil.copytree(definition.home() / name, tmp_path / "papers" / name)
    (tmp_path / "papers/hull/paper.toml").write_text("titel = 1\n")
    monkeypatch.setattr(definition, "home", lambda: tmp_path / "papers")
    monkeypatch.setattr(reading, "home", lambda: tmp_path / "papers")
    with pytest.raises(PaperError, match="cannot list hull"):
        commands.list_()
    told = capsys.readouterr()
    assert "related (also related-work): " in told.out and "title: missing" in told.err
    with pytest.raises(PaperError, match="title: missing"):
        commands.list_("hull")


def test_a_copy_may_fill_the_working_directory_and_its_lines_stay_lines(incast: Command, tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    made = incast("paper", "copy", "hull", ".", cwd=tmp_path / "here")
    assert made.status == 0, made.err
    assert made.out.endswith("then: incast paper run .\n") and left_in(tmp_path / "here") == [
        "paper.toml",
        "static.toml",
    ]
    assert reading.load(tmp_path / "here/../here").name == "here"
    broken = incast("paper", "copy", "hull", "a\nb")
    assert broken.status == 0 and len(broken.out.splitlines()) == 4, broken.out + broken.err


def test_a_copy_of_a_figure_keeps_letters_and_refuses_what_is_no_number(paper: Path, tmp_path: Path) -> None:
    letters = "\U000e0001\u200b\x7f"
    text = PAPER.replace("Nothing is assumed.", f"Nothing{letters[:2]} is\\u007f assumed.")
    (paper / "paper.toml").write_text(text, encoding="utf-8")
    made = copying.copy(reading.load(paper), reading.load(paper).figures["fig1"], tmp_path / "mine", "1")
    assert made.paper.about == f"Nothing{letters[:2]} is{letters[2]} assumed."
    (paper / "paper.toml").write_text(PAPER.replace('"traffic.flows" = 40 }', '"traffic.flows" = nan }', 1))
    with pytest.raises(PaperError, match=r"paper\.toml: figures\.fig1: nan: expected a number"):
        copying.copy(reading.load(paper), reading.load(paper).figures["fig1"], tmp_path / "other", "1")


def test_a_key_that_is_set_twice_is_refused(incast: Command, paper: Path) -> None:
    twice = ("--set", "run.duration=1ms", "--set", "run.duration=2ms")
    incast("paper", "run", f"{paper}/fig1", *twice).refused("--set run.duration: given more than once")


def test_a_run_that_is_not_there_is_told_what_is_near(paper: Path) -> None:
    figure = reading.load(paper).figures["fig1"]
    named = replace(figure, series=[replace(one, name=f"{one.name}, duration = 20ms") for one in figure.series])
    with pytest.raises(PaperError, match='one of "Swift, duration = 20ms", "DCTCP, .*mean "DCTCP, duration = 20ms"'):
        reading.run_of(named, "DCTCP")


def test_a_run_over_time_is_that_of_the_first_seed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folders = {("Swift", 4.0, seed): tmp_path / f"run-seed{seed}" for seed in (1, 2)}
    timed = planning.over_time(folders["Swift", 4.0, 1])
    timed.mkdir()
    (timed / TIMELINE).write_text("{}")
    monkeypatch.setattr(page, "_engine_of", lambda _: page.engine_digest())
    done: Any = SimpleNamespace(folders=folders)
    assert page._over_time(done) == {("Swift", 4.0): timed}


def test_a_page_over_time_is_written_over_no_folder_and_named_where_it_was_written(paper: Path, tmp_path: Path) -> None:
    figure = reading.load(paper).figures["fig1"]
    done: Any = SimpleNamespace(figure=figure, folders={})
    (tmp_path / "view-fig2.html").write_text("of another figure")
    (tmp_path / "view-fig1.html").write_text("of an earlier report")
    page.view(done, tmp_path)
    assert page.views([done], tmp_path) == [] and not (tmp_path / "view-fig1.html").exists()
    (tmp_path / "view-fig1.html").mkdir()
    with pytest.raises(FolderError, match=r"view-fig1\.html is a folder: expected a file"):
        page.write(reading.load(paper), "small", [done], [], tmp_path, lambda _: "again")


def test_a_long_name_of_results_keeps_its_front_and_tells_others_apart() -> None:
    tails = [f"paper-swift-small-fig{number}-run.duration={'50ms-' * 40}" for number in (1, 2)]
    one, two = (folder(None, tail).name for tail in tails)
    assert one != two and one.startswith("paper-swift-small-fig1-run.duration") and len(one) <= 120
    assert folder(None, "hull-1").name == "hull-1"
