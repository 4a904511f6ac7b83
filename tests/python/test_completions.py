"""Completion figures: bins of sizes, what unfinished flows leave open, and the notes that say why."""

from __future__ import annotations

import json
import math
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import Command
from incast import Scenario, StudyError
from incast.comparisons.comparison import load
from incast.runs import completions
from incast.runs.completions import Bins, Bound, Completions, Reading
from incast.statistics import rank


def made(times: list[float], finished: list[bool], sizes: list[float] | None = None, ideal: float = 1.0) -> Completions:
    """Make completions of one entry."""
    n = len(times)
    bytes_ = np.array(sizes if sizes is not None else [1000.0] * n)
    return Completions(("e",), np.zeros(n, int), bytes_, np.array(times), np.array(finished, bool), np.full(n, ideal))


def test_bins_hold_sizes_from_their_lower_end_on() -> None:
    bins = Bins.parse("10kB, 100kB,1MB")
    assert bins.labels == ("below 10 kB", "10 to 100 kB", "100 kB to 1 MB", "from 1 MB")
    assert bins.of(np.array([9999.0, 10_000.0, 99_999.0, 100_000.0, 1e6, 1e9])).tolist() == [0, 1, 1, 2, 3, 3]
    assert Bins.parse("1.5KiB").edges == (1536.0,)


def test_edges_that_differ_read_differently() -> None:
    for text in ("1000000B,1000001B", "1.000000001GB,1.000000002GB", "999999B,1MB,1MiB"):
        bins = Bins.parse(text)
        assert len(set(bins.labels)) == len(bins.edges) + 1
        assert Bins.parse(bins.text) == bins
    assert Bins.parse("1000000B,1000001B").labels == ("below 1 MB", "1 to 1.000001 MB", "from 1.000001 MB")
    assert Bins.decades(1, 1e18).text.startswith("10B,100B,1kB,10kB")


@pytest.mark.parametrize(
    "text", ["", "10", "10kb", "10kB,5kB", "10kB,10kB", "0B", "x,10kB", "1" * 400 + "B", "9" * 5000 + "TB"]
)
def test_bins_that_are_none_are_refused(text: str) -> None:
    with pytest.raises(StudyError, match="--bins"):
        Bins.parse(text)


def test_bins_are_decades_unless_given() -> None:
    assert Bins.decades(649, 26_097_761).edges == (1e3, 1e4, 1e5, 1e6, 1e7)
    assert Bins.decades(1000, 10_000).edges == (1e4,), "an edge that no size is below parts nothing"
    assert Bins.decades(5, 7).edges == ()
    assert Bins(()).labels == ("all sizes",)


def test_unfinished_flows_bound_a_percentile_from_both_sides() -> None:
    # ranks of 10 values: p50 is the 5th, p99 the 10th
    run = made([1.0, 2, 3, 4, 5, 6, 7, 8, 9, 2.5], [True] * 9 + [False])
    median = completions.figure(run.slowdowns, run.finished, "p50")
    assert median == Bound(4, 5), "the unfinished one is 2.5 or more: the 5th is 4, or 5 if it never ends"
    assert completions.figure(run.slowdowns, run.finished, "p99") == Bound(9, math.inf)
    assert completions.figure(run.slowdowns, run.finished, "mean") == Bound(4.75, math.inf)


def test_what_the_unfinished_cannot_change_is_exact() -> None:
    run = made([1.0, 2, 3, 90], [True, True, True, False])
    assert completions.figure(run.slowdowns, run.finished, "p50") == Bound(2, 2)
    found = completions.reading({1: run, 2: made([4.0], [True])}, "p50")
    assert found is not None
    assert found.exact
    assert (found.finished, found.count, found.share) == (4, 5, 0.8)


def test_an_unfinished_flow_will_have_a_slowdown_of_one_at_least() -> None:
    assert made([0.1, 5.0], [False, False], ideal=2.0).slowdowns.tolist() == [1.0, 2.5]


TIMES = st.lists(st.tuples(st.floats(1, 1e6), st.booleans(), st.floats(1, 1e3)), min_size=1, max_size=60)


@given(TIMES, st.sampled_from(sorted(completions.STATISTICS)))
@settings(max_examples=300, deadline=None)
def test_bounds_hold_whatever_the_unfinished_come_to(flows: list[tuple[float, bool, float]], statistic: str) -> None:
    """Let every unfinished flow end some factor later: the figure of all lies within the bounds."""
    times = np.array([time for time, _, _ in flows])
    finished = np.array([done for _, done, _ in flows])
    bound = completions.figure(times, finished, statistic)
    assert bound is not None
    ended = np.where(finished, times, times * np.array([later for _, _, later in flows]))
    truth = completions.figure(ended, np.ones(len(flows), bool), statistic)
    assert truth is not None
    assert truth.low == truth.high
    assert bound.low <= truth.low * (1 + 1e-12)
    assert truth.low <= bound.high * (1 + 1e-12)
    if finished.all():
        assert bound.low == bound.high


def test_ranks_are_whole_numbers_of_exact_parts() -> None:
    assert [rank(Fraction(999, 1000), n) for n in (1, 999, 1000, 1001, 2000)] == [1, 999, 999, 1000, 1998]


def test_a_distribution_ends_at_the_share_that_finished() -> None:
    values, least, most = completions.curve([made([1.0, 3.0], [True, True]), made([2.0, 4.0], [False, True])])
    assert values.tolist() == [1, 2, 3, 4]
    assert least.tolist() == [0.25, 0.25, 0.5, 0.75]
    assert most.tolist() == [0.25, 0.5, 0.75, 1.0]


def test_a_stopped_flow_is_censored_when_it_was_stopped() -> None:
    """A run of 2 s: one flow finished, one was stopped at 1.2 s, one was under way at the end."""
    nothing = None
    table = pa.table(
        {
            "group": ["load"] * 3,
            "size_bytes": [1000, 1000, 1000],
            "start_s": [0.0, 1.0, 1.5],
            "fct_s": pa.array([0.5, nothing, nothing], pa.float64()),
            "ideal_fct_s": [0.1, 0.1, 0.1],
            "stopped_s": pa.array([nothing, 1.2, nothing], pa.float64()),
        }
    )
    found = completions.of_table(table, "fct", 2.0)
    assert found.finished.tolist() == [True, False, False]
    np.testing.assert_allclose(found.times_s, [0.5, 0.2, 0.5])
    np.testing.assert_allclose(found.slowdowns, [5.0, 2.0, 5.0])


def test_bounds_over_seeds_are_means_of_bounds() -> None:
    found = Reading({1: 1.0, 2: 3.0}, {1: 2.0, 2: 4.0}, 9, 10)
    assert found.least is not None
    assert found.most is not None
    assert (found.least.mean, found.most.mean) == (2.0, 3.0)
    assert Reading({1: 1.0}, {1: math.inf}).most is None


WEBSEARCH = (
    *("compare", "websearch", "--cc", "dctcp", "--cc", "newreno", "--vary", "queue.mark=10p,65p", "--seeds", "2"),
    *("--set", "run.duration=6ms", "--set", "traffic.websearch.arrivals.until=3ms", "--out", "w"),
)


@pytest.fixture(scope="module")
def websearch(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Make a comparison over sizes once; some of its flows do not finish."""
    import subprocess

    from conftest import command, environment

    place = tmp_path_factory.mktemp("websearch")
    words = command([*WEBSEARCH, "--bins", "10kB,1MB", "--format", "svg,pdf"])
    done = subprocess.run(words, cwd=place, env=environment(), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return place / "w", done.stdout


@pytest.mark.parametrize(
    ("counts", "names"),
    [
        ((99, 20), ["mean", "p50", "maximum", "maximum"]),
        ((120, 60), ["mean", "p50", "p99", "maximum"]),
        ((1000, 1), ["mean", "p50", "p99", "p99.9"]),
    ],
)
def test_a_high_percentile_is_called_the_maximum_if_it_is_the_largest_value_of_every_run(
    counts: tuple[int, ...], names: list[str]
) -> None:
    def run(count: int) -> Completions:
        ones = np.ones(count)
        return Completions(("a",), np.zeros(count, int), ones, ones, ones.astype(bool), ones)

    runs = dict(enumerate(map(run, counts), 1))
    found = [completions.name_of(one, [None, completions.reading(runs, one)]) for one in completions.STATISTICS]
    assert found == names


@pytest.mark.slow("a comparison with its report")
def test_a_comparison_over_sizes_shows_slowdowns_and_no_pooled_time(websearch: tuple[Path, str]) -> None:
    folder, out = websearch
    assert "maximum slowdown by size" in out and "p99 slowdown" not in out, "no run has 100 flows"
    assert "FCT\n" not in out.partition("slowdown by size")[0]
    points = json.loads((folder / "comparison.json").read_text())["points"]
    assert all("fct.p99_s" not in point for point in points)
    comparison = load(folder)
    comparison.bins = Bins.parse("10kB,1MB")
    for point in points:
        runs = comparison.point("websearch", point["controller"], point["queue.mark"])
        rows = [row for run in runs for row in run.rows("flows", ["size_bytes", "slowdown"]).to_pylist()]
        assert sum(band["count"] for band in point["slowdowns"]) == len(rows)
        for band in point["slowdowns"]:
            mine = [
                row
                for row in rows
                if band["from_bytes"] <= row["size_bytes"] and row["size_bytes"] < (band["below_bytes"] or math.inf)
            ]
            assert band["count"] == len(mine)
            assert band["finished"] == sum(row["slowdown"] is not None for row in mine)
            if band["finished"] == band["count"]:
                assert band["p99"]["at_least"] == band["p99"]["at_most"]
            else:
                assert band["mean"]["at_most"] is None
    assert any(band["finished"] < band["count"] for point in points for band in point["slowdowns"])


def test_shares_finished_stand_beside_bounds(websearch: tuple[Path, str]) -> None:
    folder, out = websearch
    page = (folder / "report.html").read_text()
    assert 'id="slowdowns"' in page
    assert "≥ " in out
    assert " % finished" not in out.partition("slowdown by size")[0]
    assert "<h3>maximum slowdown</h3>" in page and "<h3>p99 slowdown</h3>" not in page
    assert "<small>" in page
    comparison = load(folder)
    finished, count = comparison.began("websearch", "newreno", "65p")["fct"]
    assert finished < count
    least = min(comparison.began("websearch", name, "65p")["fct"][0] for name in ("dctcp", "newreno"))
    assert least == finished
    assert re.search(rf"in all 4 settings: {finished} to \d+ of {count} flows finished", page)


@pytest.mark.extended(part="python")
def test_a_difference_of_what_is_open_is_no_mean(incast: Command, tmp_path: Path) -> None:
    """Completion times of flows of one size, of which many did not finish: no mean, and bounds of differences."""
    words = ("--vary", "queue.limit=20p,100p", "--seeds", "2", "--set", "run.duration=20ms", "--paired", "--out", "i")
    done = incast("compare", "incast", "--cc", "dctcp", "--cc", "swift", "--set", "queue.mark=20p", *words)
    assert done.status == 0, done.err
    points = json.loads((tmp_path / "i/comparison.json").read_text())["points"]
    open_ = [point for point in points if point["fct.mean_s"]["finished"] < point["fct.mean_s"]["count"]]
    assert open_
    for point in open_:
        figure = point["fct.mean_s"]
        assert (figure["mean"], figure["half_width"], figure["at_most"]) == (None, None, None)
        assert figure["at_least"]["mean"] > 0
        if "less_first" in figure:
            assert figure["less_first"]["mean"] is None
            assert {"at_least", "at_most"} <= figure["less_first"].keys()
    assert "open" in done.out.partition("difference from dctcp under the same seed")[2]


def test_the_line_that_makes_it_again_has_bins_and_formats(websearch: tuple[Path, str]) -> None:
    folder, _ = websearch
    page = (folder / "report.html").read_text()
    assert "--bins 10kB,1MB --format svg,pdf --out w</code>" in page
    assert "<span>slowdown-p99.svg slowdown-p99.pdf</span>" in page


def test_pictures_come_in_the_formats_asked_for(websearch: tuple[Path, str]) -> None:
    folder, _ = websearch
    names = {path.stem for path in folder.glob("*.svg")}
    assert {"slowdown-mean", "slowdown-p50", "slowdown-p99", "slowdown-p999", "slowdown-cdf", "throughput"} <= names
    assert {path.stem for path in folder.glob("*.pdf")} == names
    assert not list(folder.glob("*.png"))
    assert (folder / "throughput.pdf").read_bytes().startswith(b"%PDF")


def test_a_key_that_does_nothing_is_told(websearch: tuple[Path, str]) -> None:
    """NewReno's packets ask for no ECN: the marking threshold is nothing to them."""
    folder, out = websearch
    assert "newreno: queue.mark has no effect" in out
    assert "dctcp: queue.mark has no effect" not in out
    assert "newreno: queue.mark has no effect" in (folder / "report.html").read_text()


def test_unknown_bins_and_formats_are_refused_before_a_run(incast: Command, tmp_path: Path) -> None:
    words = WEBSEARCH[:-2]
    incast(*words, "--bins", "big", "--out", "w").refused('--bins "big"')
    incast(*words, "--format", "gif", "--out", "w").refused('--format "gif"', "png, svg, pdf")
    assert not (tmp_path / "w").exists()


def test_a_run_says_why_flows_did_not_finish() -> None:
    changes = {"run.duration": "20ms", "queue.limit": "20p", "queue.mark": "20p"}
    told = Scenario.load("incast").with_(changes).run(seed=1).notes()
    assert any("7 of 40 finite flows finished (17.5 %)" in note for note in told)
    assert any("19 flows of answers sent no data: the SYN was not answered" in note for note in told)
    assert any("transport.syn_timeout = 1s, and the run lasts 20 ms" in note for note in told)
    # the incast's floor is 10 ms; with that of Linux no timeout comes in time
    told = Scenario.load("incast").with_({**changes, "transport.rto_min": "200ms"}).run(seed=1).notes()
    assert any("transport.rto_min = 200ms; the run lasts 20 ms" in note for note in told)
    # RDMA has a timer of its own, or none
    lossy = {"controller": "swift", "run.duration": "3ms", "queue.limit": "20p"}
    for preset, timer in (("rdma", "= 4ms; the run lasts"), ("rdma-hpcc", "= 0s)")):
        told = Scenario.load("incast").with_({**lossy, "transport": {"preset": preset}}).run(seed=1).notes()
        assert any(f"(transport.rdma.timeout {timer}" in note for note in told), told
    none = Scenario.load("incast").with_({"queue.limit": "none", "queue.mark": "65p"}).run(seed=1)
    assert none.summary["fct"]["finished"] == none.summary["fct"]["count"]
    assert not [note for note in none.notes() if "finish" in note]


LONE = """
controller = "swift"
[run]
duration = "50ms"
[topology]
kind = "star"
sources = 4
source_link = { rate = "10Gbps", delay = "2us" }
sink_link = { rate = "10Gbps", delay = "2us" }
[queue]
kind = "drop-tail"
limit = "1MB"
[transport]
preset = "swift"
[[traffic]]
name = "short"
pattern = "pairs"
flows = 3
app = { kind = "bulk", size = "100kB" }
[[traffic]]
name = "long"
pattern = "pairs"
flows = 1
app = { kind = "bulk", size = "10MB" }
"""


def test_one_flow_that_stretches_the_interval_is_told_and_moves_no_active_throughput() -> None:
    result = Scenario.from_toml(LONE).run(seed=1)
    assert any("flow 3 runs alone for" in note for note in result.notes())
    short = result.summary["groups"]["short"]["flows"]
    rates = [row["throughput_active_bps"] for row in result.flows.to_pylist() if row["group"] == "short"]
    alone = Scenario.from_toml(LONE).with_({"traffic.long.app.size": "20MB"}).run(seed=1)
    longer = alone.summary["groups"]["short"]["flows"]
    assert short["throughput_active_mean_bps"] == pytest.approx(sum(rates) / 3)
    assert longer["throughput_active_mean_bps"] == short["throughput_active_mean_bps"]
    assert longer["throughput_mean_bps"] < 0.6 * short["throughput_mean_bps"]
    even = Scenario.from_toml(LONE).with_({"traffic.long.app.size": "100kB"}).run(seed=1)
    assert not any("runs alone for" in note for note in even.notes())


def test_flows_whose_packets_take_several_paths_do_not_beat_their_ideal(incast: Command, tmp_path: Path) -> None:
    """A short last packet may overtake on another path; a run in which a flow beats its ideal would be refused."""
    sets = (
        "routing.kind=spray",
        "run.duration=3ms",
        "traffic.arrivals.until=1ms",
        "traffic.arrivals.sizes=builtin:homa-w4",
    )
    words = [word for pair in sets for word in ("--set", pair)]
    done = incast("run", "websearch", *words, "--set", "transport.mss=1440", "--out", "s")
    assert done.status == 0, done.err


@pytest.mark.parametrize(("lost", "timeouts"), [(0, 0), (8, 1)])
def test_timeouts_are_those_of_data_and_not_of_a_syn(lost: int, timeouts: int) -> None:
    """A flow of 7 segments waits for its timer in both cases: for its SYN, or for its last segment."""
    changes = {"run.duration": "400ms", "run.warmup": "0s", "traffic.flows": 1, "traffic.app.size": "10kB"}
    one = Scenario.load("dumbbell").with_({**changes, "transport.syn_timeout": "1ms", "transport.rto_min": "1ms"})
    result = one.with_({"topology.bottleneck_link.lose": [lost]}).run()
    (flow,) = result.flows.to_pylist()
    assert flow["fct_s"] > 1e-3, "it waited"
    assert (flow["timeouts"], result.summary["flows"]["timeouts"]) == (timeouts, timeouts)
