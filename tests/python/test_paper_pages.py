"""Pages of papers: their tables are what records of results say, and so are the numbers beside them."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from conftest import ROOT
from incast.papers import evaluation, expression, identity, reading
from incast.papers.definition import Figure
from incast.papers.page import results_json
from tools import paper_pages

OLD = {"yasomam-paper"}
"""Records of before there were digests: what changed since is known of the words of claims alone."""


def test_every_paper_has_a_record_and_those_without_digests_are_listed() -> None:
    kept = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in paper_pages.RECORDS.glob("*.json")}
    assert {record["paper"] for record in kept.values()} == set(reading.names())
    assert {n for n, record in kept.items() if any("digest" not in one for one in record["figures"].values())} == OLD


@pytest.mark.parametrize("page", sorted((ROOT / "docs" / "papers").glob("*.md")), ids=lambda page: page.stem)
def test_pages_say_what_the_records_say(page: Path) -> None:
    """Of papers that have a record: each number of the page is in it or in the paper's own files."""
    assert paper_pages.faults(page) == []


@pytest.fixture
def pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Record a figure without runs, and make a page of it."""
    paper, figures = reading.find("mswift/fig2")
    done = evaluation.evaluate(paper, figures[0], "small", tmp_path)
    assert isinstance(done, evaluation.Evaluated)
    (tmp_path / "results.json").write_text(results_json(paper, "small", [done], tmp_path), encoding="utf-8")
    monkeypatch.setattr(paper_pages, "RECORDS", tmp_path / "records")
    paper_pages.record(tmp_path)
    page = tmp_path / "mswift.md"
    verdicts = "<!-- verdicts: mswift fig2 -->\n<!-- end -->"
    numbers = "<!-- numbers: mswift/fig2 largest throughput -->\n<!-- end -->"
    page.write_text(paper_pages.fill(f"# MSwift\n\nPaths of 0.04.\n\n{verdicts}\n\n{numbers}\n"), encoding="utf-8")
    return page


def test_a_page_is_filled_from_records_and_its_numbers_are_held(pages: Path) -> None:
    text = pages.read_text(encoding="utf-8")
    (path,) = paper_pages.RECORDS.iterdir()
    figure = json.loads(path.read_text(encoding="utf-8"))["figures"]["fig2"]
    assert "\n**`fig2`: 3 of 3 of our own hold.** Throughput models" in text
    assert text.count("\n| ✓ holds | ") == len(figure["claims"]) == 3
    assert "less than a factor of 2 *(ours)* |" in text
    mean = next(row["throughput"][0] for row in figure["points"] if (row["series"], row["x"]) == ("Swift", 0.03))
    assert f"| {mean:.3g} |" in text
    assert paper_pages.faults(pages) == []
    pages.write_text(f"{text}\nSwift has {mean:.4g} Gb/s there.\n", encoding="utf-8")
    assert paper_pages.faults(pages) == []
    pages.write_text(f"{text}\nSwift has {mean + 1717:.1f} Gb/s there, in 1,718 runs.\n", encoding="utf-8")
    (wrong,) = paper_pages.faults(pages)
    assert f"{mean + 1717:.1f}: in no record of mswift" in wrong
    pages.write_text(text.replace("| ✓ holds |", "| ? undecided |"), encoding="utf-8")
    assert "python tools/paper_pages.py write" in paper_pages.faults(pages)[0]


def test_numbers_of_runs_that_are_not_kept_are_said_to_be_unchecked(pages: Path) -> None:
    text = pages.read_text(encoding="utf-8")
    more = "\n<!-- not kept: incast paper run mswift --scale paper -->\nIt has 98,765 packets.\n<!-- end -->\n"
    pages.write_text(text + more, encoding="utf-8")
    assert [told.split(": ")[1] for told in paper_pages.faults(pages)] == ["a block is not what the records say"]
    filled = paper_pages.fill(text + more)
    assert "\n*Not checked: the results of `incast paper run mswift --scale paper` are not kept, so no test" in filled
    assert "\n\nIt has 98,765 packets.\n\n<!-- end -->" in filled
    pages.write_text(paper_pages.fill(filled), encoding="utf-8")
    assert filled == pages.read_text(encoding="utf-8")
    assert paper_pages.faults(pages) == []


def test_records_of_other_claims_are_named(pages: Path) -> None:
    (path,) = paper_pages.RECORDS.iterdir()
    path.write_text(path.read_text(encoding="utf-8").replace("All five collapse", "Four collapse"), encoding="utf-8")
    assert any("mswift/fig2, scale small: recorded with other claims" in told for told in paper_pages.faults(pages))


def test_claims_of_records_are_counted(pages: Path) -> None:
    head, _, row = list(paper_pages.counts())
    assert head.startswith("| paper | scale | figures | claims | holds |")
    assert row == "| `mswift` | small | 1 | 0 | 0 | 0 | 0 | 0 | 0, 0, 0 | 3 of 3 |"


def test_a_record_is_of_the_papers_own_seeds_claims_and_scenarios(pages: Path) -> None:
    """A folder that was made with --seeds 1, or of a copy with other claims, is refused."""
    folder = pages.parent
    results = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    paper, (figure,) = reading.find("mswift/fig2")
    assert results["figures"]["fig2"]["seeds"] == figure.at("small").seeds
    for other in (figure.at("small").with_seeds(99), changed(figure).at("small")):
        same = identity.digest(paper, other) == identity.digest(paper, figure.at("small"))
        assert same == (other.claims == figure.claims)
    assert identity.digest(paper, replace(figure, seeds=figure.seeds + 1)) != identity.digest(paper, figure)
    few = reading.find("mswift/fig4")[1][0].with_seeds(2)
    assert paper_pages._digest("mswift", "fig4", "paper", 2) == identity.digest(paper, few.at("paper"))
    assert paper_pages._digest("mswift", "fig4", "paper", 2) != paper_pages._digest("mswift", "fig4", "paper")
    kept = {"small": {"fig4": {"seeds": 3}}, "paper": {"fig4": {"seeds": 2}}}
    assert paper_pages._fewer(paper.figures["fig4"], kept) == "\n\n*Scale paper with 2 of 100 seeds.*"
    assert paper_pages._fewer_at("small", 2) is None and paper_pages._fewer_at("paper", 2) == 2
    results["figures"]["fig2"]["digest"] = identity.digest(paper, changed(figure).at("small"))
    (folder / "results.json").write_text(json.dumps(results), encoding="utf-8")
    with pytest.raises(SystemExit, match="fig2 has other seeds, claims or scenarios than mswift has now"):
        paper_pages.record(folder)


def changed(figure: Figure) -> Figure:
    """Give the first claim another expression under the same words."""
    first, *rest = figure.claims
    return replace(figure, claims=[replace(first, holds=expression.parse("1 < 2", [])), *rest])


def test_digests_see_scenarios_and_not_their_comments(paper: Path) -> None:
    found = reading.load(paper)
    scenario = paper / "fig1.toml"
    whole = scenario.read_text()
    digests = []
    for text in (whole, f"# Said otherwise.\n{whole}", whole.replace('limit = "1MB"', 'limit = "2MB"')):
        scenario.write_text(text)
        digests.append(identity.digest(found, found.figures["fig1"]))
    assert digests[0] == digests[1] != digests[2]


def test_records_of_other_expressions_are_named(pages: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paper, (figure,) = reading.find("mswift/fig2")
    other = replace(paper, figures={**paper.figures, "fig2": changed(figure)})
    monkeypatch.setattr(paper_pages, "_paper", lambda _: other)
    (told,) = paper_pages.faults(pages)
    assert "mswift/fig2, scale small: recorded of another set-up or other expressions: incast paper run" in told


def test_scales_whose_records_have_other_claims_stand_beside_each_other(pages: Path) -> None:
    (path,) = paper_pages.RECORDS.iterdir()
    record = json.loads(path.read_text(encoding="utf-8"))
    record["scale"] = "paper"
    claims = record["figures"]["fig2"]["claims"]
    claims.reverse()
    claims[0]["says"], claims[1]["unused"] = "New", {"2": "rounded", "5": ""}
    claims[2]["verdict"], claims[2]["part"] = "in part, does not hold", "1 of 2 points"
    (path.parent / "mswift-paper.json").write_text(json.dumps(record), encoding="utf-8")
    text = paper_pages.fill(pages.read_text())
    assert (
        "**`fig2`: 2 of 3 of our own hold.** Throughput models: one congested path of n. In part: 1 of 2 points."
        in text
    )
    new, second, third = (row for row in text.splitlines() if re.match(r"\| [✓✗?–] ", row))
    assert new.startswith("| ✓ holds, scale paper | New *(ours)* |")
    assert second.startswith("| ✓ holds | ") and "<br>*Words not judged: 5.* |" in second
    assert third.startswith("| ✗ does not hold in part, scale paper<br>✓ holds, scale small | ")


def claim(says: str, verdict: str, *brief: str, part: str = "", why: str = "") -> dict[str, object]:
    return {
        "says": says,
        "where": "section 1",
        "own": False,
        "verdict": verdict,
        "part": part,
        "brief": brief,
        "why": why,
    }


def test_marks_of_claims_with_the_same_words_stand_in_one_row(pages: Path) -> None:
    (path,) = paper_pages.RECORDS.iterdir()
    record = json.loads(path.read_text(encoding="utf-8"))
    record["figures"]["other"] = {"claims": [claim("New", "in part, undecided"), *record["figures"]["fig2"]["claims"]]}
    path.write_text(json.dumps(record), encoding="utf-8")
    head, _, *rows, new = paper_pages._matrix("mswift", "small", "fig2", "other").splitlines()
    assert head == "| claim | `fig2` | `other` |"
    assert [row[-10:] for row in rows] == [" | ✓ | ✓ |"] * 3
    assert new == "| New |  | ? in part |"


def test_series_stand_below_each_other_with_a_column_a_point(pages: Path) -> None:
    (path,) = paper_pages.RECORDS.iterdir()
    points = json.loads(path.read_text(encoding="utf-8"))["figures"]["fig2"]["points"]
    values = {(row["series"], row["x"]): row["throughput"][0] for row in points}
    table = paper_pages._series("mswift", "small", "throughput", "@", "fig2", "fig2@0.1", "fig2@0.1+Flow")
    assert table.startswith("| series | `fig2` 0.005 | 0.1 | 0.1 |\n")
    assert f"\n| Swift | {values['Swift', 0.005]:.3g} | {values['Swift', 0.1]:.3g} |  |\n" in table
    assert f"\n| Fast |  |  | {values['FastFlow', 0.1]:.3g} |\n" in table
    alone = paper_pages._series("mswift", "small", "throughput", "throughput", "@", "fig2@0.1")
    assert alone.startswith("| series | Throughput | Throughput |\n")
    assert f"\n| Swift | {values['Swift', 0.1]:.3g} | {values['Swift', 0.1]:.3g} |\n" in alone


def test_claims_are_joined_and_numbers_cut() -> None:
    """Claims that differ in a few words are one row; long numbers are ranges, reasons end at a sentence."""
    (figure,) = reading.find("mswift/fig5")[1]
    label, series = next(iter(figure.measures.values())).label, figure.series[0].name
    numbers = (
        f"{label}, {series} at 9, 16, 25, 36, 64: "
        + ", ".join(f"{n}.123456789012345" for n in (1, 5, 3, 2, 4))
        + " Gb/s"
    )
    claims = [
        claim("With 9 paths, A: it is within 7 % of the model", "holds", "ratio: 1.01"),
        claim("With 25 paths, B: it is within 8 % of the model", "holds", "ratio: 1.02"),
        claim("It falls", "does not hold", numbers, numbers.replace(label, "Other"), why="Short. " + "Long. " * 60),
    ]
    claims[2]["part"], claims[2]["verdict"] = "2 of 3 points; run.duration 1s of 5s", "in part, does not hold"
    head, _, *rows = paper_pages._verdicts_of(figure, {"small": paper_pages._claims({"claims": claims})}).splitlines()
    assert head.startswith("**`fig5`: 2 of 3 hold.** ") and head.endswith(
        " In part: 2 of 3 points; run.duration 1s of 5s."
    )
    joined, cut = rows[2:]
    assert joined == "| ✓ holds | With 9 / 25 paths, A / B: it is within 7 / 8 % of the model | ratio: 1.01; 1.02 |"
    assert f"{label} at 9 to 64: *{series}* 1.123456789012345 to 5.123456789012345 Gb/s<br>…<br>" in cut
    falling = paper_pages._Line(label, series, "1, 2, 3", "9, 5, 4", " s", seeds=False).ranged()
    assert (falling.at, falling.values) == ("1 to 3", "9 to 4")
    assert cut.startswith("| ✗ does not hold in part | It falls | ") and "<br>*Why:* Short. Long. " in cut
    assert len(cut) < 600


def test_a_page_of_questions_is_held_by_its_paper(pages: Path) -> None:
    other = pages.with_name("mswift-questions.md")
    other.write_text("# Questions\n\nMSwift has 98,765 packets.\n", encoding="utf-8")
    assert [told.split(": ")[1] for told in paper_pages.faults(other)] == ["98,765"]


@pytest.mark.parametrize(
    ("token", "has_unit", "value", "known"),
    [
        ("100", False, 60.0, False),
        ("100", False, 104.0, True),
        ("1,700", False, 1717.0, True),
        ("1,700", False, 1760.0, False),
        ("1,720", False, 1726.0, False),
        ("0.1", False, 0.14, True),
        ("45", False, 0.045, False),
        ("45", True, 0.045, True),
    ],
)
def test_numbers_of_pages_are_held_to_their_digits(token: str, has_unit: bool, value: float, known: bool) -> None:
    assert paper_pages._is_known(token, has_unit, set(), [value]) == known


def test_units_make_thousands_and_reasons_are_no_source() -> None:
    told = "45 us, 3 times, 60 kB, 7 Gb/s and 12 % of 1.5 million"
    assert [one for one, unit in paper_pages._tokens(told) if unit] == ["45", "60", "7", "1.5"]
    reason = 'found = "It has 98765 us."\nsays = "12345"\n# 55555\nfound_in_part = """\n77777 or so"""\nseeds = 3'
    assert re.findall(r"\d+", paper_pages._REASON.sub("", reason)) == ["12345", "3"]
