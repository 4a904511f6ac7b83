"""Best series of a figure: by paired differences, in reports, records and pages."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from conftest import Command
from incast.errors import PaperError
from incast.papers import identity, reading
from incast.papers.definition import Figure, Point, Series, X
from incast.papers.leading import Leader, leaders
from tools import paper_pages


def figure_of(values: dict[str, list[float | None]]) -> Figure:
    """Make a figure of one point, whose series have these numbers, one a seed."""
    figure = reading.find("jobs/large")[1][0]
    series = [Series(name) for name in values]
    return replace(figure, seeds=len(next(iter(values.values()))), points=[Point("x")], series=series, best="time")


def leader(values: dict[str, list[float | None]]) -> Leader:
    """Give the best of series with these numbers."""

    def number(measure: str, series: str, x: X, seed: int | None) -> float | None:
        assert (measure, x) == ("time", "x") and seed is not None
        return values[series][seed - 1]

    (found,) = leaders(figure_of(values), number)
    return found


def test_the_best_has_the_least_mean_and_beside_it_what_differences_leave_open() -> None:
    """Means 2, 3 and 4: b is 1 more in every seed, and c differs by 0 to 4, mean 2, interval 2 +- 4.97."""
    found = leader({"c": [1, 4, 7], "a": [1, 2, 3], "b": [2, 3, 4]})
    assert (found.series, found.value.mean, found.next, found.undecided) == ("a", 2, "b", ["c"])
    assert found.behind is not None
    assert (found.behind.mean, found.behind.half_width) == (50, 0)


def test_differences_below_one_percent_tell_nothing_apart() -> None:
    assert leader({"a": [100, 200], "b": [100.9, 201.8]}).undecided == ["b"]
    assert leader({"a": [100, 200], "b": [103, 203]}).next == "b"


def test_a_single_seed_tells_nothing_apart_and_a_missing_number_leaves_a_series_out() -> None:
    assert leader({"a": [1], "b": [9]}).undecided == ["b"]
    found = leader({"a": [1, None], "b": [9, 9]})
    assert (found.series, found.undecided, found.next, found.behind) == ("b", [], "", None)


def test_a_figure_without_the_key_has_no_best_and_keeps_its_digest() -> None:
    paper, (figure,) = reading.find("jobs/large")
    plain = replace(figure, best="")
    assert leaders(plain, lambda *_: 1.0) == []
    assert identity.digest(paper, plain) != identity.digest(paper, figure)


def test_best_is_a_measure_of_the_figure(tmp_path: Path) -> None:
    text = (reading.home() / "jobs/paper.toml").read_text()
    for file in (reading.home() / "jobs").glob("*.toml"):
        (tmp_path / file.name).write_text(file.read_text())
    (tmp_path / "paper.toml").write_text(text.replace('best = "time"', 'best = "times"', 1))
    with pytest.raises(PaperError, match=r'best = \'times\': expected one of time, .*did you mean "time"'):
        reading.load(tmp_path)


def test_a_page_has_a_row_for_each_point() -> None:
    kept = json.loads((paper_pages.RECORDS / "jobs-small.json").read_text(encoding="utf-8"))["figures"]
    lines = paper_pages._best("jobs", "small", "rails", "fat-tree").splitlines()
    rows = [line.split(" | ") for line in lines[2:-2]]
    assert [row[1] for row in rows] == [one["x"] for name in ("rails", "fat-tree") for one in kept[name]["best"]]
    for row, one in zip(rows, [*kept["rails"]["best"], *kept["fat-tree"]["best"]], strict=True):
        assert row[2] == f"**{one['series']}**"
        assert row[5].startswith(f"{one['next']} +")


@pytest.mark.slow("two runs of a job")
def test_a_report_tells_the_best_and_reads_tables_of_jobs(incast: Command, tmp_path: Path) -> None:
    paper = tmp_path / "own"
    paper.mkdir()
    small = (reading.home() / "jobs/one-job.toml").read_text().replace('size = "4MB"', 'size = "400kB"')
    (paper / "one.toml").write_text(small)
    (paper / "paper.toml").write_text(
        """
title = "Own"
source = "own"
about = "None."
[figures.fig]
title = "Times"
where = "own"
shows = "Times."
scenario = "one.toml"
seeds = 2
best = "time"
x = "Collective"
assumptions = []
points = [{ x = "ring" }]
series = [{ name = "Swift" }, { name = "DCTCP", set = { controller = "dctcp" } }]
plots = []
claims = []
[figures.fig.measures]
time = { table = "jobs", column = "time_s", reduce = "mean", scale = 1e6, label = "Time", unit = "us" }
ranks = { table = "ranks", column = "exposed_s", reduce = "mean", scale = 1e6, label = "Exposed", unit = "us" }
bytes = { table = "messages", column = "bytes", reduce = "sum", label = "Bytes", unit = "B" }
"""
    )
    done = incast("paper", "run", str(paper), "--out", "out")
    assert done.status == 0, done.err
    results = json.loads((tmp_path / "out/results.json").read_text())["figures"]["fig"]
    (best,) = results["best"]
    means = {row["series"]: row["time"]["mean"] for row in results["points"]}
    assert best["value"][0] == min(means.values())
    assert [*best["undecided"], best["next"]].count(max(means, key=lambda name: means[name])) == 1
    # 14 steps of 50 kB, of 8 ranks
    assert {row["bytes"]["mean"] for row in results["points"]} == {14 * 8 * 50_000}
    assert "not told apart" in (tmp_path / "out/report.html").read_text()
