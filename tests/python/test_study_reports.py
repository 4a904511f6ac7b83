"""Reports of studies: heat maps over two keys, the best cell, tables; and comparisons over two keys."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Sequence
from functools import partial
from html import escape
from html.parser import HTMLParser
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from conftest import Command, left_in
from incast import FolderError, Store, Study
from incast.commands import study_reports
from incast.pictures import heat_map
from incast.report import study_answers, study_figures, study_page
from incast.report.arenas import is_choice
from incast.report.best_cells import Standing
from incast.report.cells import Cell, Cells
from incast.report.figures import FIGURES, Figure, in_its_unit
from incast.report.study_figures import HEADLINE, in_their_units
from incast.report.study_page import Report

GRID = {"queue.mark": ["5p", "60p"], "traffic.flows": [2, 6]}
SMALL = ("--set", "run.duration=3ms", "--set", "run.warmup=1ms", "--seeds", "2")


def study(**more: Any) -> Study:
    short = {"run.duration": "3ms", "run.warmup": "1ms"}
    own: dict[str, Any] = {"settings": short, "axes": GRID, "seeds": 3, "name": "k"}
    return Study("hotspot", **(own | {"arms": {"dctcp": "dctcp", "swift": "swift"}} | more))


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return study().run(tmp_path_factory.mktemp("report") / "s", workers=1)


@pytest.fixture(scope="module")
def report(store: Store) -> Report:
    return study_reports.of(store, "k")


def test_cells_are_the_runs_of_the_store(report: Report, store: Store) -> None:
    rows = store.runs.to_pylist()
    for cell, figure in itertools.product(report.cells.cells, report.figures):
        mark, flows = cell.values
        own = {
            row["seed"]: row[figure.key]
            for row in rows
            if (row["arm"], row["queue.mark"], str(row["traffic.flows"])) == (cell.arm, mark, flows)
        }
        reading = report.cells.reading(cell, figure.key)
        assert reading is not None and reading.low == own == reading.high, (cell, figure.key)


def test_tables_have_rates_and_times_in_the_unit_of_their_largest_value(report: Report) -> None:
    """As in comparisons: no 9,412 in a column of Mb/s, no 0.003 in one of ms."""
    labels = {figure.key: (figure.unit, figure.scale) for figure in report.shown}
    assert labels["flows.throughput_mean_bps"] == ("Mb/s", 1e-6)
    rate, delay = (next(one for one in FIGURES if one.key == key) for key in (FIGURES[0].key, "flows.delay_p99_s"))
    fast = in_its_unit(rate, [9.4e9, 2e6])
    assert (fast.unit, fast.label, fast.short) == ("Gb/s", "Throughput per flow (Gb/s)", "Gb/s\nper flow")
    assert in_its_unit(delay, [3e-6]).unit == "µs"
    page = study_page.html(report, {})
    shown = [figure.label for figure in report.shown]
    assert all(f"<h2>{escape(label)}</h2>" in page for label in shown)


def test_the_answer_has_the_units_of_the_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = study(seeds=1, arms={}, axes={"traffic.flows": [2, 6]}).run(tmp_path / "s", workers=1)
    report = study_reports.of(made, "k")
    assert report.figures
    monkeypatch.setattr(study_figures, "_means", lambda *_: [2.21e9])
    labels = [one.lead for one in report.answers if one.rest.startswith(": from ")]
    assert labels == [figure.label for figure in report.shown[:HEADLINE]]
    assert "Throughput per flow (Gb/s)" in labels


def test_a_study_of_fast_links_has_its_rates_in_gigabits(monkeypatch: pytest.MonkeyPatch, report: Report) -> None:
    monkeypatch.setattr(study_figures, "_means", lambda *_: [9.4e9])
    assert in_their_units(report.cells, [FIGURES[0]])[0].unit == "Gb/s"


def test_marked_cells_follow_from_the_runs(report: Report) -> None:
    """Under each number of flows the best cell, or those not told apart from it, are marked, over both arms."""
    points = json.loads(study_page.as_json(report))["points"]
    marked = 0
    for figure in report.figures:
        for flows in ("2", "6"):
            own = [point for point in points if point["values"]["traffic.flows"] == flows]
            best = [p for p in own if p[figure.key]["best_or_not_told_apart"]]
            means = [p[figure.key]["at_least"]["mean"] for p in own]
            marked += len(best)
            if best and not figure.key.startswith(("flows.delay", "queues", "flows.loss")):  # these ask for throughput
                lead = min(means) if figure.better == "lower" else max(means)
                assert lead in [p[figure.key]["at_least"]["mean"] for p in best], figure.key
            assert len(best) < len(own), "if nothing is told apart, nothing is marked"
    assert marked, "the study has something to say"


def test_keys_are_choices_or_conditions() -> None:
    choices = ["queue.mark", "controller.g", "traffic.bulk.controller", "transport.rto_min"]
    assert [key for key in [*choices, "traffic.flows", "topology.k", "run.duration"] if is_choice(key)] == choices


def test_an_arm_that_a_key_changes_nothing_for_says_so_once(report: Report) -> None:
    assert report.arenas.idle_notes() == ["swift does not depend on queue.mark: its runs are made once"]
    assert {report.arenas.chosen(cell) for cell in report.cells.cells} == {
        "dctcp (mark = 5p)",
        "dctcp (mark = 60p)",
        "swift",
    }
    assert report.cells.count == (18, 18)


class Parsed(HTMLParser):
    """Identities, addresses and texts of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.addresses: list[str] = []
        self.images, self.text = 0, ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        own = dict(attrs)
        self.ids += filter(None, [own.get("id")])
        self.addresses += filter(None, [own.get("href"), own.get("src")])
        self.images += tag == "figure"
        assert tag != "img", "pictures follow the theme of the page"

    def handle_data(self, data: str) -> None:
        self.text += data


def test_the_page_answers_first_and_fetches_nothing(report: Report, tmp_path: Path) -> None:
    page = Parsed(study_page.write(report, tmp_path).path.read_text(encoding="utf-8"))
    assert page.ids[:2] == ["answer", "simulated"] and "numbers" in page.ids
    assert page.images == len(report.figures)
    for address in page.addresses:
        inside = ("data:image/png", "data:application/octet-stream;base64,", "#")
        assert address.startswith(inside) or (tmp_path / address).is_file(), address
        assert not address.startswith("#") or address[1:] in page.ids
    for answer in report.answers:
        assert answer.text in page.text
    for told in ("Fat tree, k = ", "queue.mark = 5p, 60p", "marks from 5 to 60", "2 to 6 flows", "seeds 1 to 3"):
        assert told in page.text.replace("\u00a0", " "), told
    assert "As run with arm dctcp, queue.mark = 5p, traffic.flows = 2, seed 1;" in page.text
    assert "Other runs have arm swift; queue.mark = 60p; traffic.flows = 6; seed 2 or 3." in page.text
    assert 'kind = "dctcp"' in page.text and "Study k: its file" in page.text


def test_other_runs_have_every_value_that_the_first_run_has_not(tmp_path: Path) -> None:
    """A key of one arm alone, with several values or with one, is new to the first run."""
    own = {"axes": {"transport.initial_window": [2, 10], "queue.limit": ["400p"]}}
    arms: dict[str, Any] = {"plain": "dctcp", "own": {"controller": "swift", **own}}
    made = study(axes={"traffic.flows": [6, 2]}, arms=arms, seeds=1).run(tmp_path / "s", workers=1)
    page = Parsed(study_page.html(study_reports.of(made, "k"), {}))
    assert "As run with arm plain, traffic.flows = 6, seed 1;" in page.text
    others = "arm own; traffic.flows = 2; transport.initial_window = 2 or 10; queue.limit = 400p."
    assert f"Other runs have {others}" in page.text


def test_panels_share_one_colour_scale(report: Report, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[list[heat_map.Panel]] = []
    monkeypatch.setattr(heat_map, "draw", lambda panels, *_: seen.append(list(panels)))
    study_page.pictures(report)
    titles = [[panel.title for panel in panels] for panels in seen]
    assert titles == [["dctcp", "swift"]] * len(report.figures), "one picture a figure, a panel an arm"
    first = seen[0][0]
    assert (first.x, first.y) == (("2", "6"), ("5p", "60p")), "the condition is on the x axis"
    norm = heat_map._norm([mean for panel in seen[0] for mean in panel.means.values()])
    assert norm.vmin == min(min(panel.means.values()) for panel in seen[0])


def test_leading_values_at_an_end_of_those_tried_say_so(report: Report) -> None:
    arenas = report.arenas
    found = [arenas.standing(arena.cells, figure) for figure in report.figures[:HEADLINE] for arena in arenas.all]
    leading = {one.level[0] for one in found if not one.undecided}
    ends = {"5p": "lowest value tried: lower", "60p": "highest value tried: higher"}
    marks = {cell.values[0] for cell in leading if cell.arm == "dctcp"}  # swift has one threshold for all
    assert marks
    told = {f"mark = {mark} is the {ends[mark]} ones may be better still." for mark in marks}
    said_so = {
        end for one in report.answers for end in re.findall(r"mark = \w+ is the [^.]* tried: [^.]*\.", one.plain)
    }
    assert said_so == told, "flows are no choice"


def test_level_values_at_both_ends_of_those_tried_lead_to_none_beyond(
    report: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    def standing(cells: Sequence[Cell], _: Figure, level: int) -> Standing[Cell]:
        own = [cell for cell in cells if cell.arm == "dctcp"]
        return Standing(tuple(own[:level]), tuple(cell for cell in cells if cell.arm == "swift")[:1])

    for level, is_told in ((1, True), (2, False)):
        monkeypatch.setattr(report.arenas, "standing", partial(standing, level=level))
        found = study_answers.answers(report.arenas, report.figures)
        assert any("mark = 5p is the lowest value tried" in one.plain for one in found) == is_told
        assert any("are level" in one.plain for one in found) != is_told


@pytest.mark.parametrize(
    ("more", "pictures"),
    [
        ({"axes": {"traffic.flows": [2, 4]}}, True),
        ({"axes": {}}, True),
        ({"axes": {}, "arms": {}}, False),
        ({"axes": {"traffic.flows": {"from": 2, "to": 9, "whole": True}}, "design": "random", "samples": 3}, True),
        ({"axes": GRID | {"queue.limit": ["200p", "300p"]}, "arms": {}}, True),
    ],
)
def test_every_shape_of_a_study_has_a_report(tmp_path: Path, more: dict[str, Any], pictures: bool) -> None:
    made = study(seeds=1, **more).run(tmp_path / "s", workers=1)
    report = study_reports.of(made, "k")
    page = study_page.write(report, tmp_path / "r").path.read_text(encoding="utf-8")
    assert bool(list((tmp_path / "r").glob("*.png"))) == pictures
    assert 'id="numbers"' in page
    if len(report.cells.cells) > 1:
        told = [one.plain for one in report.answers if "seed" in one.text or "told apart" in one.text]
        assert told == ["One seed has no interval: no difference is decided. Use at least three seeds."], "said once"


@pytest.mark.parametrize("keep", [["flows"], []])
def test_unfinished_flows_are_bounds_and_told(tmp_path: Path, keep: list[str]) -> None:
    """Without its flows nothing is known of a completion time that unfinished flows could change."""
    short = {"topology.k": 4, "run.duration": "300us", "run.warmup": "0s"}
    made = Study("permutation", axes={"queue.limit": ["10p", "60p"]}, settings=short, keep=keep, seeds=2, name="k")
    report = study_reports.of(made.run(tmp_path / "s", workers=1), "k")
    assert "% of flows did not finish, in the worst of 2 cases (limit = " in report.answers[0].plain
    reading = report.cells.reading(report.cells.cells[0], "fct.slowdown_p99")
    assert reading is not None and not reading.exact and reading.share < 1
    assert (reading.least is None) == (keep == [])
    slowdown = next(figure for figure in report.figures if figure.key == "fct.slowdown_p99")
    assert not report.arenas.first(slowdown)
    assert study_page.write(report, tmp_path / "r").path.is_file()


def test_the_worst_cell_is_named_and_queries_count(report: Report, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of all transfers together 2 % are missing, of the worst cell's queries a quarter."""
    worst = report.cells.cells[1]
    late = {(worst, "queries"): (3, 4), (report.cells.cells[0], "fct"): (199, 200)}
    monkeypatch.setattr(Cells, "began", lambda _, cell, part: late.get((cell, part), (0, 0)))
    (told,) = study_answers.warnings(report.arenas)
    place = "{}, mark = {}, flows = {}".format(worst.arm, *worst.values)
    assert told.plain.startswith(f"25 % of queries did not finish, in the worst of 2 cases ({place}): 1 of 4.")


def test_answers_keep_to_the_width_of_a_terminal(report: Report) -> None:
    for width in (50, 200):
        out = StringIO()
        study_page.print_answer(report, Console(file=out, width=width))
        lines = out.getvalue().partition("means over")[0].splitlines()
        assert len(lines) > len(report.answers) and max(map(len, lines)) <= min(width, 80)


def test_a_study_that_is_not_finished_has_no_report(tmp_path: Path) -> None:
    made = study(axes={}, arms={}, seeds=1).run(tmp_path / "s", workers=1)
    (tmp_path / "s/pending").mkdir()
    head = {"number": 2, "study": "other", "text": "", "asked": None, "keep": []}
    (tmp_path / "s/pending/batch.json").write_text(json.dumps(head))
    with pytest.raises(FolderError):
        study_reports.of(made, "other")


@pytest.mark.extended(part="python")
def test_the_commands_end_in_a_report_and_find_it_again(incast: Command, tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / f"{name}.toml").write_text(
            f'scenario = "dumbbell"\nseeds = 2\nset.run.duration = "1ms"\nset.run.warmup = "0s"\n'
            f'axes.queue.mark = ["9p", "60p"]\nname = "{name}"\n'
        )
    made = incast("study", "run", "one.toml", "--store", "s")
    assert made.status == 0 and "report: s/reports/one/report.html" in made.out, made.err
    assert incast("report", "s").out.endswith("report: s/reports/one/report.html\n")
    assert incast("plot", "s", "--format", "svg", "--out", "p").status == 0
    assert all(name.endswith(".svg") for name in left_in(tmp_path / "p"))
    assert "all files have their checksums" in incast("study", "status", "s", "--check").out
    assert incast("study", "run", "two.toml", "--store", "s", "--quiet").out == "report: s/reports/two/report.html\n"
    for command in ("report", "plot"):
        incast(command, "s").refused("s has 2 studies, one, two: name one with --study")
        assert incast(command, "s", "--study", "two", "--quiet").status == 0
        incast(command, "s", "--study", "tow").refused('(did you mean "two"?)')
    incast("report", "s", "--study", "one", "--paired").refused("--paired")


@pytest.mark.slow("a comparison over two keys, grown and made smaller")
def test_a_comparison_over_two_keys_is_a_study_with_heat_maps(incast: Command, tmp_path: Path) -> None:
    keys = ("--vary", "queue.mark=5p,60p", "--vary", "traffic.flows=2,6")
    words = ("compare", "hotspot", *keys, *SMALL, "--out", "g")
    made = incast(*words, "--cc", "dctcp")
    assert made.status == 0, made.err
    assert "two keys, queue.mark and traffic.flows: a study with heat maps" in made.err
    assert "report: g/report.html" in made.out and (tmp_path / "g/study-throughput.png").is_file()
    assert incast("query", "g", "SELECT count(*) AS n FROM runs", "--csv").out.split() == ['"n"', "8"]
    grown = incast(*words, "--cc", "dctcp", "--cc", "newreno")
    assert grown.status == 0 and "newreno does not depend on queue.mark" in grown.out, grown.err
    assert "--vary queue.mark=5p,60p --vary traffic.flows=2,6" in (tmp_path / "g/report.html").read_text()
    fewer = incast(*words, "--cc", "dctcp", "--quiet")
    assert "not shown, though the folder has runs: controller newreno" in fewer.err
    assert incast("report", "g", "--quiet").out == "report: g/report.html\n"
    incast("compare", "hotspot", "--cc", "dctcp", "--vary", "queue.mark=5p,9p", *SMALL, "--out", "g").refused("g ")
    other = ("compare", "hotspot", "--cc", "dctcp", "--vary", "queue.mark=5p", "--vary", "traffic.flows=9", *SMALL)
    incast(*other, "--out", "g").refused("values of traffic.flows there are 2 6, and none of them is asked for")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (
            ["--vary", "a=1", "--vary", "b=1", "--vary", "c=1"],
            "--vary is given 3 times: a comparison varies one key or",
        ),
        (["--vary", "traffic.flows=1", "--vary", "traffic.flows=2"], "--vary traffic.flows is given twice"),
        (["--vary", "traffic.flows=1,1", "--vary", "queue.mark=5p"], "--vary value 1 is given twice"),
        (["--vary", "traffic.flows=1", "--vary", "run.seed=5"], "--vary run.seed: a comparison runs every point"),
        (["--vary", "traffic.flows=1", "--vary", "queue.mark=5p", "--paired"], "--paired: not allowed with two --vary"),
        (["--vary", "traffic.flows=1", "--vary", "queue.mark=1us"], "queue.mark"),
    ],
)
def test_wrong_pairs_of_keys_are_refused_before_any_run(incast: Command, words: list[str], told: str) -> None:
    incast("compare", "hotspot", "--cc", "dctcp", *words).refused(told)


@pytest.mark.extended(part="python")
def test_extending_the_folder_of_a_comparison_grows_the_comparison(incast: Command, tmp_path: Path) -> None:
    key = ("--vary", "queue.mark=5p,60p")
    assert incast("compare", "hotspot", "--cc", "dctcp", *key, *SMALL, "--out", "c", "--quiet").status == 0
    more = ("--seeds", "3", "--axis", "queue.mark=20p", "--arm", "n:controller=newreno")
    grown = incast("study", "extend", "c", *more, "--quiet")
    assert grown.status == 0, grown.err
    assert grown.out.startswith("report: c/report.html")
    points = json.loads((tmp_path / "c/comparison.json").read_text())["points"]
    assert [(point["controller"], point["queue.mark"], point["runs"]) for point in points] == [
        (controller, mark, 3) for mark in ("5p", "60p", "20p") for controller in ("dctcp", "newreno")
    ]
    for words, told in (
        (["--axis", "queue.limit=90p"], "axis queue.limit: the comparison has no such key; expected queue.mark"),
        (["--arm", "n:queue.limit=90p"], "a comparison grows by controllers; expected n:controller=TEXT"),
        (["--seeds", "4,7"], "a comparison has seeds 1 to N"),
        (["--samples", "4"], "not allowed for the folder of a comparison"),
    ):
        incast("study", "extend", "c", *words).refused(told)
    two = ("--vary", "queue.mark=5p,60p", "--vary", "traffic.flows=2,4")
    assert incast("compare", "hotspot", "--cc", "dctcp", *two, *SMALL, "--out", "g", "--quiet").status == 0
    assert incast("study", "extend", "g", "--axis", "traffic.flows=6", "--quiet").out == "report: g/report.html\n"
    assert incast("query", "g", "SELECT count(*) AS n FROM runs", "--csv").out.split() == ['"n"', "12"]
