"""Pages of papers: their tables are what records of results say, and so are the numbers beside them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conftest import ROOT, Command
from tools import paper_pages


@pytest.mark.parametrize("page", sorted((ROOT / "docs" / "papers").glob("*.md")), ids=lambda page: page.stem)
def test_pages_say_what_the_records_say(page: Path) -> None:
    """Of papers that have a record: each number of the page is in it or in the paper's own files."""
    assert paper_pages.faults(page) == []


@pytest.fixture
def pages(incast: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Record a figure of a paper, and make a page of it."""
    assert incast("paper", "run", "hull", "--seeds", "2", "--out", "h").status == 0
    monkeypatch.setattr(paper_pages, "RECORDS", tmp_path / "results")
    paper_pages.record(tmp_path / "h")
    page = tmp_path / "hull.md"
    blocks = "<!-- verdicts: hull -->\n<!-- end -->\n\n<!-- numbers: hull/drain small queue -->\n<!-- end -->\n"
    page.write_text(paper_pages.fill(f"# HULL\n\nA drain of 0.9.\n\n{blocks}"), encoding="utf-8")
    return page


def test_a_page_is_filled_from_records_and_its_numbers_are_held(pages: Path) -> None:
    text = pages.read_text(encoding="utf-8")
    (path,) = paper_pages.RECORDS.iterdir()
    record = json.loads(path.read_text(encoding="utf-8"))
    claims = record["figures"]["drain"]["claims"]
    assert text.count("\n| `drain` | ") == len(claims) == 4
    assert f"| {claims[0]['verdict']} |" in text
    mean = next(row["queue"][0] for row in record["figures"]["drain"]["points"] if row["series"] == "TCP")
    assert f"{mean:.3g} ± " in text
    assert paper_pages.faults(pages) == []
    pages.write_text(f"{text}\nThe queue of TCP has {mean:.3g} packets.\n", encoding="utf-8")
    assert paper_pages.faults(pages) == []
    pages.write_text(f"{text}\nThe queue of TCP has {mean + 17:.2f} packets, of 60 runs.\n", encoding="utf-8")
    (wrong,) = paper_pages.faults(pages)
    assert f"{mean + 17:.2f}: in no record of hull" in wrong
    pages.write_text(text.replace(f"{mean:.3g} ± ", "1 ± "), encoding="utf-8")
    assert "python tools/paper_pages.py write" in paper_pages.faults(pages)[0]


def test_records_of_other_claims_are_named(pages: Path) -> None:
    (path,) = paper_pages.RECORDS.iterdir()
    path.write_text(path.read_text(encoding="utf-8").replace("A tenth of", "A part of"), encoding="utf-8")
    assert any("hull/drain, scale small: recorded with other claims" in told for told in paper_pages.faults(pages))


def test_claims_of_records_are_counted(pages: Path) -> None:
    head, _, row = list(paper_pages.counts())
    assert head.startswith("| paper | scale | figures | claims | holds |")
    assert row.startswith("| `hull` | small | 1 | 4 | ")
