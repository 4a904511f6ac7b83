"""Reports link the page of their runs over time, where the runs have timelines."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import incast
import test_coexistence
from conftest import Command
from incast import Result
from incast.comparisons import coexistence
from incast.comparisons.declaration import ComparisonStudy
from incast.papers import evaluation, planning, reading
from incast.papers import page as papers_page
from incast.report import coexistence_page
from incast.runs import run_folder
from incast.view import chosen, page

SHELL = "<!doctype html><body><!--incast-runs--></body>"
SHORT = {"run.duration": "4ms", "run.warmup": "1ms"}


@pytest.fixture(autouse=True)
def shell(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Stand in for the viewer, which is built where Node.js is there."""
    monkeypatch.setattr(page, "viewer", lambda: SHELL)
    yield


def compared(folder: Path, **settings: str) -> incast.commands.compared.Compared:
    return incast.compare("dumbbell", ["dctcp", "swift"], seeds=2, settings=SHORT | settings, out=folder, workers=1)


@pytest.mark.extended(part="python")
def test_a_comparison_with_timelines_links_a_run_of_each_controller(tmp_path: Path) -> None:
    done = compared(tmp_path / "c", **{"measure.timeline": "auto"})
    report = done.report.read_text(encoding="utf-8")
    (link,) = re.findall(r'<a href="([^"]*)">view.html</a>, the runs of ([^(]*) \(dumbbell, [^)]*seed 1\)', report)
    assert link == ("view.html", "dctcp, swift")
    text = (tmp_path / "c" / "view.html").read_text(encoding="utf-8")
    (told,) = re.findall(r'id="incast-runs">(.*?)</script>', text)
    assert len(json.loads(told)["runs"]) == 2
    view = done.view()
    assert repr(view) == "<View of 2 runs: dctcp; swift>"
    (shown,) = re.findall(r'id="incast-runs">(.*?)</script>', view.html)
    assert len(json.loads(shown)["runs"]) == 2
    for name, kind in (("dctcp", "dctcp"), ("swift", "swift")):
        run = incast.Result.load(chosen.places(tmp_path / "c", ["dctcp", "swift"])[name])
        assert (run.summary["run"]["seed"], set(run.flows["controller"].to_pylist())) == (1, {kind})


@pytest.mark.extended(part="python")
def test_runs_that_are_there_for_the_page_are_not_made_again(tmp_path: Path) -> None:
    compared(tmp_path / "c", **{"measure.timeline": "auto"})
    places = list(chosen.places(tmp_path / "c", ["dctcp", "swift"]).values())
    before = [place.stat().st_ino for place in places]
    compared(tmp_path / "c", **{"measure.timeline": "auto"})
    assert [place.stat().st_ino for place in places] == before
    (places[0] / run_folder.MANIFEST).write_text(
        json.dumps(run_folder.read_manifest(places[0]) | {"engine": "another"}), encoding="utf-8"
    )
    compared(tmp_path / "c", **{"measure.timeline": "auto"})
    assert run_folder.read_manifest(places[0])["engine"] == run_folder.engine_digest()
    assert places[1].stat().st_ino == before[1]


@pytest.mark.extended(part="python")
def test_a_comparison_without_timelines_links_nothing(tmp_path: Path) -> None:
    done = compared(tmp_path / "c")
    assert "view.html" not in done.report.read_text(encoding="utf-8")
    assert {"view.html", "timelines"}.isdisjoint(path.name for path in (tmp_path / "c").iterdir())
    assert repr(done.view()) == "<View of 2 runs: dctcp; swift>"


@pytest.mark.extended(part="python")
def test_a_report_stands_without_the_viewer_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> str:
        raise incast.FolderError("the viewer is not built: make viewer")

    monkeypatch.setattr(page, "viewer", missing)
    done = compared(tmp_path / "c", **{"measure.timeline": "auto"})
    assert "No viewer page: the viewer is not built" in done.report.read_text(encoding="utf-8")
    with pytest.raises(incast.IncastError, match="the viewer is not built"):
        done.view()


@pytest.mark.extended(part="python")
def test_a_written_report_links_the_page_again(incast: Command, tmp_path: Path) -> None:
    compared(tmp_path / "c", **{"measure.timeline": "auto"})
    assert "view: shows dctcp and swift, seed 1" in incast("view", "c").err
    (tmp_path / "c" / "report.html").unlink()
    assert "view: c/view.html" in incast("report", "c", "--quiet").out
    assert 'href="view.html"' in (tmp_path / "c" / "report.html").read_text(encoding="utf-8")


@pytest.mark.extended(part="python")
def test_pairs_with_timelines_link_the_first_controller_beside_each(incast: Command, tmp_path: Path) -> None:
    words = ["coexist", "--cc", "dctcp", "--cc", "swift", "--seeds", "1", "--set", "run.duration=4ms"]
    spoken = [*words, "--set", "run.warmup=1ms", "--out"]
    words = [*spoken[:-1], "--quiet", "--out"]
    assert "view:" not in incast(*words, "plain").out
    assert "view.html" not in (tmp_path / "plain/report.html").read_text(encoding="utf-8")
    said = incast(*spoken, "r", "--set", "measure.timeline=auto")
    assert "view: r/view.html" in said.out
    report = tmp_path / "r" / "report.html"
    link = 'href="view.html">view.html</a>, the runs of dctcp with each of dctcp, swift (coexistence, seed 1)'
    assert link in report.read_text(encoding="utf-8")
    (told,) = re.findall(r'id="incast-runs">(.*?)</script>', (tmp_path / "r/view.html").read_text(encoding="utf-8"))
    assert len(json.loads(told)["runs"]) == 2
    places = chosen.places(tmp_path / "r", ["dctcp beside dctcp", "dctcp beside swift"])
    kinds = {name: set(Result.load(run).flows["controller"].to_pylist()) for name, run in places.items()}
    assert kinds == {"dctcp beside dctcp": {"dctcp"}, "dctcp beside swift": {"dctcp", "swift"}}
    assert "view: 2 runs are repeated for the viewer page, with up to about" in said.err
    assert "view:" not in incast(*spoken, "r", "--set", "measure.timeline=auto").err
    # what is stored is that of runs without timelines
    shares = [(tmp_path / name / "pairs.csv").read_bytes() for name in ("plain", "r")]
    assert shares[0] == shares[1]
    # the report is written again from what is there
    report.unlink()
    assert "view: r/view.html" in incast("report", "r", "--quiet").out
    assert link in report.read_text(encoding="utf-8")


@pytest.mark.parametrize("fits", [True, False])
def test_runs_of_the_page_keep_to_the_memory_limit_and_are_told_of(fits: bool, tmp_path: Path) -> None:
    settings = [*SHORT.items(), ("measure.timeline", "1us")]
    pairs = coexistence.parse("coexistence", ["dctcp", "swift"], 1, settings)
    # the runs of the report have no timeline
    timed, plain = (
        max(one.memory() for one in runs)
        for runs in (pairs.viewed().values(), [one.without_timeline() for one in pairs.viewed().values()])
    )
    assert timed > plain
    totals: list[int] = []
    *_, gap = coexistence.carry_out(
        pairs, tmp_path / "r", workers=1, show=lambda status: totals.append(status.total),
        memory_limit=timed if fits else (timed + plain) / 2,
    )  # fmt: skip
    made = [place.name for place in (tmp_path / "r").glob("timelines/*") if not place.name.startswith(".")]
    if fits:
        assert (gap, len(made), totals[-1]) == (None, 2, 2)
        assert chosen.cost(pairs.viewed(), tmp_path / "r") is None
    else:
        assert gap is not None
        assert "a run of coexistence needs about" in gap
        assert not made
        assert not (tmp_path / "r" / chosen.PAGE).exists()


def test_two_controllers_of_one_label_are_both_seen(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / f"{name}.py").write_text(test_coexistence.OWN)
    names = [f"{tmp_path}/{name}.py:Own" for name in ("one", "two")]
    settings = [*SHORT.items(), ("measure.timeline", "auto")]
    pairs = coexistence.parse("coexistence", names, 1, settings)
    assert list(pairs.viewed()) == ["Own beside Own", f"Own beside {names[1]}"]
    study = ComparisonStudy.parse(["dumbbell"], names, None, 1, settings)
    seen = study.viewed()
    assert list(seen) == ["Own", names[1]]
    assert len({scenario.hash for scenario in seen.values()}) == 2
    assert len(set(chosen.places(tmp_path, seen).values())) == 2


def test_a_folder_with_a_page_and_no_runs_is_no_report(incast: Command, tmp_path: Path) -> None:
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / chosen.PAGE).write_text("a page")
    told = incast("view", "c")
    assert told.status != 0
    assert "folder of a report" not in told.err


def test_pairs_without_the_viewer_say_why_there_is_no_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> str:
        raise incast.FolderError("the viewer is not built: make viewer")

    monkeypatch.setattr(page, "viewer", missing)
    settings = [*SHORT.items(), ("measure.timeline", "auto")]
    pairs = coexistence.parse("coexistence", ["dctcp", "swift"], 1, settings)
    pairs, found, home, gap = coexistence.carry_out(pairs, tmp_path / "r", workers=1)
    assert gap == "the viewer is not built: make viewer"
    text = coexistence_page.write(pairs, found, home, view_gap=gap).read_text(encoding="utf-8")
    assert "No viewer page: the viewer is not built: make viewer." in text


@pytest.mark.parametrize("timed", [True, False])
def test_a_papers_figure_links_a_run_of_each_series_where_they_have_timelines(paper: Path, timed: bool) -> None:
    if timed:
        with (paper / "fig1.toml").open("a", encoding="utf-8") as scenario:
            scenario.write('[measure]\ntimeline = "auto"\n')
    found, (figure,) = reading.find(str(paper), 1)
    folder = paper.parent / "p"
    planning.carry_out(found, [figure], "small", folder, workers=1)
    done = evaluation.evaluate(found, figure, "small", folder)
    assert isinstance(done, evaluation.Evaluated)
    report = papers_page.write(found, "small", [done], [], folder, lambda _: "again").read_text(encoding="utf-8")
    view = folder / "view-fig1.html"
    assert ('<a href="view-fig1.html">view-fig1.html</a>, a run of each series at 40, seed 1' in report) == timed
    assert view.is_file() == timed
    if timed:
        (told,) = re.findall(r'id="incast-runs">(.*?)</script>', view.read_text(encoding="utf-8"))
        assert len(json.loads(told)["runs"]) == 2


def test_names_that_look_alike_have_folders_of_their_own(tmp_path: Path) -> None:
    names = ["my_cc", "my-cc", "my cc", "swift:target=min-rtt"]
    assert len(set(chosen.places(tmp_path, names).values())) == len(names)


@pytest.mark.extended(part="python")
def test_no_earlier_page_is_taken_for_that_of_runs_that_fail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = compared(tmp_path / "c", **{"measure.timeline": "auto"})
    assert (tmp_path / "c" / chosen.PAGE).is_file()

    def broken() -> str:
        raise incast.FolderError("no viewer here")

    monkeypatch.setattr(page, "viewer", broken)
    done = compared(tmp_path / "c", **{"measure.timeline": "auto"})
    assert not (tmp_path / "c" / chosen.PAGE).exists()
    assert done.comparison.view_gap == "no viewer here"
    with pytest.raises(incast.IncastError, match="no viewer here"):
        done.view()
