"""Pages of papers: their tables are what records of results say, and so are the numbers beside them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conftest import ROOT
from incast.papers import evaluation, reading
from incast.papers.page import results_json
from tools import paper_pages


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
    (tmp_path / "results.json").write_text(results_json(paper, "small", [done]), encoding="utf-8")
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
    assert text.count("\n| `fig2` | ") == len(figure["claims"]) == 3
    assert "less than a factor of 2 *(ours)* | holds |" in text
    mean = next(row["throughput"][0] for row in figure["points"] if (row["series"], row["x"]) == ("Swift", 0.03))
    assert f"| {mean:.3g} |" in text
    assert paper_pages.faults(pages) == []
    pages.write_text(f"{text}\nSwift has {mean:.4g} Gb/s there.\n", encoding="utf-8")
    assert paper_pages.faults(pages) == []
    pages.write_text(f"{text}\nSwift has {mean + 1717:.1f} Gb/s there, in 1,718 runs.\n", encoding="utf-8")
    (wrong,) = paper_pages.faults(pages)
    assert f"{mean + 1717:.1f}: in no record of mswift" in wrong
    pages.write_text(text.replace("*(ours)* | holds |", "| holds |"), encoding="utf-8")
    assert "python tools/paper_pages.py write" in paper_pages.faults(pages)[0]


def test_records_of_other_claims_are_named(pages: Path) -> None:
    (path,) = paper_pages.RECORDS.iterdir()
    path.write_text(path.read_text(encoding="utf-8").replace("All five collapse", "Four collapse"), encoding="utf-8")
    assert any("mswift/fig2, scale small: recorded with other claims" in told for told in paper_pages.faults(pages))


def test_claims_of_records_are_counted(pages: Path) -> None:
    head, _, row = list(paper_pages.counts())
    assert head.startswith("| paper | scale | figures | claims | holds |")
    assert row == "| `mswift` | small | 1 | 0 | 0 | 0 | 0 | 0 | 0, 0, 0 | 3 of 3 |"
