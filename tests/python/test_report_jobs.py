"""Section of a comparison about its jobs: the table of collectives."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from conftest import Command
from incast.report import collective_table


def rows_of(page: str) -> dict[str, list[list[str]]]:
    """Return the rows of the table of collectives by kind, without markup."""
    (table,) = re.findall(r'<table class="collectives">(.*?)</table>', page, re.DOTALL)
    found: dict[str, list[list[str]]] = {}
    own: list[list[str]] = []
    for row in re.findall(r"<tr[^>]*>(.*?)</tr>", table.split("<tbody>")[1], re.DOTALL):
        cells = re.findall(r"<t[hd].*?</t[hd]>", row, re.DOTALL)
        texts = [re.sub(r"<svg.*?</svg>|<[^>]*>", "", cell, flags=re.DOTALL).replace("\u00a0", " ") for cell in cells]
        if len(texts) == 1:
            own = found[texts[0]] = []
        else:
            own.append(texts)
    return found


@pytest.mark.slow("three runs and a report")
def test_a_comparison_has_the_collectives_of_its_jobs(incast: Command, tmp_path: Path) -> None:
    keys = [word for job in ("train", "other") for word in ("--set", f"job.{job}.collective.size=100kB")]
    done = incast("compare", "two-jobs", "--cc", "dctcp", "--cc", "newreno", "--seeds", "1", *keys, "--out", "c")
    assert done.status == 0, done.err
    page = (tmp_path / "c/report.html").read_text()
    found = rows_of(page)
    assert list(found) == ["train: all-reduce", "other: all-reduce"]
    assert "Starts last: the rank for which the others wait" in page
    assert incast("run", "two-jobs", "--set", "controller=dctcp", *keys, "--out", "r").status == 0
    table = pq.read_table(tmp_path / "r/collectives.parquet").to_pylist()
    for job in ("train", "other"):
        (name, finished, time, longest, *_, last), newreno = found[f"{job}: all-reduce"]
        rows = [row for row in table if row["job"] == job]
        assert (name, finished, newreno[0]) == ("dctcp", str(len(rows)), "newreno")
        times = [1e6 * row["time_s"] for row in rows]
        assert (time, longest) == (f"{sum(times) / len(times):.1f}", f"{max(times):.1f}")
        ranks = Counter(row["slowest_rank"] for row in rows if row["skew_s"])
        rank, most = min(ranks.items(), key=lambda one: (-one[1], one[0]))
        assert last == f"{rank} {100 * most / ranks.total():.0f} %"


def test_kinds_of_one_pattern_are_told_by_their_sizes() -> None:
    assert collective_table._words("all-reduce") == "all-reduce"
    assert collective_table._words("all-gather/8/2000000").replace("\u00a0", " ") == "all-gather of 2 MB, 8 ranks"
    waits = {
        ("train", ("all-gather", 8, 2_000_000)): Counter({3: 2, 1: 2, 0: 1}),
        ("train", ("all-gather", 2, 4)): Counter({7: 9}),
        ("other", ("all-gather", 8, 2_000_000)): Counter({5: 9}),
    }
    assert collective_table._said(waits, "train", "all-gather/8/2000000") == "1 <small>40 %</small>"
    assert collective_table._said(waits, "train", "all-gather") == "7 <small>64 %</small>"
    assert collective_table._said(waits, "third", "all-gather") == "–"
