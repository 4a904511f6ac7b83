"""``incast paper``: folders that say what is run, verdicts from numbers, and what is wrong with a folder."""

from __future__ import annotations

import itertools
import json
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from matplotlib.figure import Figure as Canvas

from conftest import Command, command, environment, left_in
from incast.errors import PaperError
from incast.papers import definition, drawing, evaluation, planning, reading
from incast.papers.definition import Figure, Measure, Paper, Plot, Series
from incast.papers.expression import parse
from incast.papers.measuring import reduced
from incast.papers.verdict import Verdict
from incast.runs.scenario import Scenario
from own_paper import BY_FLOW, PAPER, SCENARIO, WORKED_OUT


@pytest.mark.slow("a figure of a paper")
def test_a_figure_of_the_swift_paper_runs_and_holds(incast: Command, tmp_path: Path) -> None:
    answer = incast("paper", "run", "swift/fig19", "--seeds", "1", "--out", "s")
    assert answer.status == 0, answer.err
    assert answer.out.startswith("fig19: in part, all 2 claims hold - ")
    assert "report: s/report.html" in answer.out
    page = (tmp_path / "s" / "report.html").read_text()
    assert "<figure" in page and "<svg " in page and "<img" not in page, "pictures follow the theme of the page"
    assert "Not in this report" in page, "figures that were not run are named"
    assert (tmp_path / "s" / "fig19-windows.png").read_bytes().startswith(b"\x89PNG")
    claims = json.loads((tmp_path / "s" / "results.json").read_text())["figures"]["fig19"]["claims"]
    assert [one["verdict"] for one in claims] == ["in part, holds", "in part, holds"]


def test_swift_is_held_against_its_published_curves() -> None:
    """Figure 17 from targets of 10 us on; figure 20 with four flows, of which the oldest leaves first."""
    paper, _ = reading.find("swift")
    told = {(one.x, one.measure): one.value for one in paper.figures["fig17"].published}
    assert len(told) == 27
    assert (told[15, "throughput"], told[20, "throughput"], told[25, "rtt_p99"]) == (0.1, 23.9, 52.0)
    fig20 = paper.figures["fig20"]
    entries = paper.scenario(fig20, fig20.series[0], fig20.points[0]).resolved()["traffic"]
    assert [(one["start"], one["stop"]) for one in entries] == [("0s", "4s"), ("1s", "5s"), ("2s", "6s"), ("3s", "7s")]
    assert len(fig20.published) == 16, "a flow and phase each"
    assert [claim.says.split(",")[0] for claim in fig20.claims][:7] == [
        f"In the {nth} phase" for nth in ("first", "second", "third", "fourth", "fifth", "sixth", "seventh")
    ]


def test_a_target_below_the_unloaded_round_trip_leaves_the_link_empty() -> None:
    paper, _ = reading.find("swift", 1)
    figure = paper.figures["fig17"]
    at = {
        point.x: paper.scenario(figure, figure.series[0], point).run(seed=1).summary["flows"]
        for point in figure.points[:4]
    }
    idle = 16.55e-6
    assert at[10]["rtt_mean_s"] == pytest.approx(16.3e-6, rel=0.05), "as published"
    assert at[10]["rtt_mean_s"] == pytest.approx(idle, rel=0.02)
    assert max(at[10]["goodput_total_bps"], at[15]["goodput_total_bps"]) < 2.5e9
    assert at[25]["goodput_total_bps"] == pytest.approx(48e9, rel=0.03), "as published"


@pytest.mark.extended(part="python")
def test_models_are_a_figure_of_the_mswift_paper(incast: Command, tmp_path: Path) -> None:
    """Figure 2 has no runs."""
    answer = incast("paper", "run", "mswift/fig2", "--out", "m")
    assert answer.status == 0, answer.err
    assert answer.out.startswith("fig2: all 3 claims hold - ")
    assert not (tmp_path / "m" / "runs").exists()


@pytest.mark.extended(part="papers")
def test_one_flow_follows_the_models_of_the_mswift_paper(incast: Command, tmp_path: Path) -> None:
    """The numbers of figure 4 are those of the model and of its setting."""
    answer = incast("paper", "run", "mswift/fig4", "--out", "m")
    assert answer.status == 0, answer.err
    rows = {
        (row["series"], row["x"]): row
        for row in json.loads((tmp_path / "m" / "results.json").read_text())["figures"]["fig4"]["points"]
    }
    # theorem 3: sqrt(1.5 n) packets a round trip of 14 us
    model = rows["Swift model", 100]
    assert model["window"]["mean"] == pytest.approx(150**0.5)
    assert model["throughput"]["mean"] == pytest.approx(150**0.5 * 4000 * 8 / 14e-6 / 1e9)
    # what an event-driven sender of the model's rules reaches, packets a round trip
    for paths, window in [(36, 7.20), (49, 8.17), (64, 9.14), (81, 10.80), (100, 12.24), (121, 13.44)]:
        assert rows["Swift, round robin", paths]["window"]["mean"] == pytest.approx(window, rel=0.035)


def test_a_median_of_marks_lifts_dctcp_where_one_path_of_25_marks() -> None:
    """The transport reduces for no mark that the controller does not heed."""
    one_flow = Scenario.load(Path(definition.__file__).parent / "mswift" / "one-flow.toml").with_(
        {
            "traffic.flow.app.size": "2MB",
            "transport.dupthresh": 1000,
            "links.0.queue": {"kind": "ecn-threshold", "limit": "128kB", "mark": "0p"},
        }
    )

    def rate(controller: str) -> float:
        flows = one_flow.with_({"controller": controller}).run().flows
        return float(flows["goodput_bps"][0].as_py()) / 1e9

    assert rate("dctcp") < 20
    assert rate("dctcp:feedback=median") > 60
    assert rate("dctcp:feedback=median,history=constant,history_size=1") == rate("dctcp")


@pytest.mark.extended(part="papers")
def test_switches_that_set_windows_keep_queries_without_loss(incast: Command, tmp_path: Path) -> None:
    """Figure 4 of SCCP's paper, at its least and its most workers."""
    answer = incast("paper", "run", "sccp/fig4", "--seeds", "2", "--out", "s")
    assert answer.status == 0, answer.err
    assert "holds: SCCP loses nothing" in answer.out
    assert "holds: SCCP stays within a few ms" in answer.out
    answer = incast("paper", "run", "sccp/fig5", "--seeds", "2", "--out", "s5")
    assert answer.status == 0, answer.err
    assert "\n  undecided: SCCP gives the background more than DCTCP" in answer.out, "two seeds are not clear of zero"


@pytest.mark.extended(part="python")
def test_a_students_windows_are_those_of_its_picture(incast: Command) -> None:
    """Figure 15 of the report of CSE 322, which calls NewReno's window Swift's, with one seed."""
    answer = incast("paper", "run", "cse322/fig15", "--seeds", "1", "--out", "c")
    assert answer.status == 0, answer.err
    assert "\n  in part, holds: DCTCP begins with a peak of 92,800 bytes" in answer.out, answer.out
    assert "\n  in part, holds: The curve called SWIFT is NewReno's" in answer.out, answer.out


def test_a_students_writes_are_refused_at_500_packets_a_second() -> None:
    """Figure 8 of the report of CSE 322: 480 packets of 80 handshakes, in its own code and here."""
    paper, (figure,) = reading.find("cse322/fig8")
    (point,) = [point for point in figure.points if point.x == 500]
    entries = paper.scenario(figure, figure.series[0], point).run(seed=1).summary["flowmonitor"]["entries"]
    assert (entries["sent"], entries["received"]) == (480, 480)
    assert entries["throughput_kibps"] == pytest.approx(6.75561, abs=1e-4)
    assert entries["delay_sum_s"] == pytest.approx(21.749568, rel=1e-4)


@pytest.mark.extended(part="papers")
def test_a_students_mesh_falls_silent_beyond_the_range_of_its_radios(incast: Command, tmp_path: Path) -> None:
    """Figure 12 of the report of CSE 322, and controllers in a cell, with one seed."""
    answer = incast("paper", "run", "cse322/fig12", "--seeds", "1", "--out", "c")
    assert answer.status == 0, answer.err
    assert "\n  in part, holds: Beyond 80 m all transmission ceases" in answer.out
    # without its page, which is of the program's making as the first's is
    verdicts = judged("cse322/controllers-cell", tmp_path / "controllers")
    (empty,) = [
        verdict for says, verdict in verdicts.items() if says.startswith("A target of 25 us leaves the cell empty")
    ]
    assert empty == Verdict.HOLDS, verdicts


def judged(name: str, folder: Path) -> dict[str, Verdict]:
    """Run a figure with one seed: the verdict on each of its claims."""
    paper, figures = reading.find(name, 1)
    planning.carry_out(paper, figures, "small", folder)
    (done,) = [evaluation.evaluate(paper, figure, "small", folder) for figure in figures]
    assert isinstance(done, evaluation.Evaluated), done
    return {finding.claim.says: finding.verdict for finding in done.findings}


def test_a_students_report_is_run_over_its_own_parameters() -> None:
    """Section 3 of the report of CSE 322: flows, nodes, packets a second and the coverage area."""
    _, figures = reading.find("cse322")
    points = {figure.name: [point.x for point in figure.points] for figure in figures}
    for name in ("fig6", "fig9"):
        assert points[name] == [10, 20, 30, 40, 60, 80]
    for name in ("fig7", "fig10", "fig12", "fig13-nodes"):
        assert points[name] == [20, 40, 60, 80, 100]
    for name in ("fig8", "fig11"):
        assert points[name] == [100, 200, 300, 400, 500, 600]


@pytest.mark.extended(part="python")
def test_a_students_printed_numbers_come_out_in_its_own_world(incast: Command, tmp_path: Path) -> None:
    """Swift's least windows in the study yasomam."""
    answer = incast("paper", "run", "yasomam/min-cwnd", "--out", "y")
    assert answer.status == 0, answer.err
    assert answer.out.startswith("min-cwnd: all 4 claims hold - "), answer.out
    rows = json.loads((tmp_path / "y" / "results.json").read_text())["figures"]["min-cwnd"]["points"]
    # as the report prints them, to the last packet: the first 650 of FlowMonitor's entries, of which 40 are ACKs
    losses = {row["x"]: row["loss"]["mean"] for row in rows}
    assert losses["0"] == pytest.approx(18.8132, abs=1e-4)
    assert losses["2000"] == pytest.approx(3.26633, abs=1e-4)


@pytest.mark.extended(part="papers")
def test_a_students_windows_over_time_come_out_in_its_own_world(incast: Command) -> None:
    """Figures of the study yasomam, with one seed."""
    answer = incast("paper", "run", "yasomam/cwnd", "--seeds", "1", "--out", "y")
    assert "  in part, holds: With 100 flows Swift at the base RTT stands still" in answer.out, answer.out + answer.err


def test_a_students_report_on_fat_trees_has_all_its_figures() -> None:
    """The study's points and protocols, and its wishes."""
    paper, figures = reading.find("yasomam")
    wished = {"larger", "larger-pairs", "wishes", "wishes-pairs", "cwnd", "threshold", "target", "min-cwnd"}
    wished |= {"threshold-starts", "falling-delay", "falling-delay-time", "k12-beside-k4", "k12-receiver"}
    wished |= {"steps", "gcn", "tuned-all"}
    assert wished <= {figure.name for figure in figures}
    at = {name: [point.x for point in figure.at("paper").points] for name, figure in paper.figures.items()}
    assert at["k4-mode1"] == at["k4-mode2"] == [100, 250, 500, 750, 1000, 1500, 2000]
    assert at["k12-mode1"] == at["k12-mode0"] == [100, 250, 500, 1000, 1500, 2000, 2500, 3000]
    assert [k for k in at["larger"] if k > 12] == [k for k in at["larger-pairs"] if k > 12] == [16, 24, 32]
    assert [series.name for series in paper.figures["k4-mode1"].series] == [
        "DCTCP",
        "Swift, base RTT",
        "Swift, base RTT + 1 ms",
        "Swift, 25 ms",
    ]
    printed = {(one.x, one.measure): one.value for one in paper.figures["target"].published}
    assert (len(printed), printed["min RTT", "throughput"]) == (21, 1027.01)


@pytest.mark.extended(part="python")
def test_phantom_queues_trade_bandwidth_for_latency(incast: Command, tmp_path: Path) -> None:
    """HULL's trade, with two seeds."""
    answer = incast("paper", "run", "hull", "--seeds", "2", "--out", "h")
    assert answer.status == 0, answer.err
    assert answer.out.startswith("drain: all 4 claims hold - ")


@pytest.mark.extended(part="python")
def test_a_sender_sees_what_the_narrowest_of_three_switches_grants(incast: Command, tmp_path: Path) -> None:
    """Figure 2 of SCCP's paper."""
    answer = incast("paper", "run", "sccp/fig2", "--out", "s")
    assert answer.status == 0, answer.err
    assert answer.out.startswith("fig2: all 3 claims hold - ")
    assert "holds: Their shares are 5,000, 2,500 and 6,250 bytes" in answer.out


@pytest.mark.extended(part="papers")
def test_shares_of_a_segment_overflow_a_buffer_from_so_many_workers_on(incast: Command, tmp_path: Path) -> None:
    """Figure 9(b) of SCCP's paper: plain TCP collapses early, SCCP beyond 120 workers."""
    answer = incast("paper", "run", "sccp/fig9b", "--seeds", "1", "--out", "s")
    assert answer.status == 0, answer.err
    assert answer.out.startswith("fig9b: in part, 0 of 3 claims hold, 3 undecided - "), "one seed has no interval"
    rows = json.loads((tmp_path / "s" / "results.json").read_text())["figures"]["fig9b"]["points"]
    numbers = {(row["series"], row["x"]): (row["time"]["mean"], row["drops"]["mean"]) for row in rows}
    for (series, workers), (time_ms, drops) in numbers.items():
        if series == "OVS" and workers > 30:
            assert time_ms > 150, workers
        if series == "SCCP-OVS":
            assert (drops > 0) == (workers > 120), workers


def test_the_sccp_paper_has_all_its_figures() -> None:
    paper, figures = reading.find("sccp")
    names = {figure.name for figure in figures}
    assert {"fig2", *(f"fig{i}" for i in range(4, 9)), "fig9a", "fig9b", "fig9c", "suspects", "idle"} <= names
    assert [point.x for point in paper.figures["fig7"].at("paper").points] == list(range(50, 201, 25))


def test_the_mswift_paper_has_all_its_figures_and_numbers() -> None:
    """Figures 2 to 18 and table I; losses as section IV.B reports them, sizes as its shared settings."""
    paper, figures = reading.find("mswift")
    names = [figure.name for figure in figures]
    assert {"table1", *(f"fig{i}" for i in range(2, 19))} <= set(names)
    told = {(one.series, one.x): one.value for one in paper.figures["drops"].published}
    assert told == {
        ("MSwift", "RPS, UDP"): 7.0,
        ("MSwift", "AR, UDP"): 7.0,
        ("MSwift", "RPS, Swift"): 0.0,
        ("MSwift", "AR, Swift"): 0.0,
    }
    for figure in figures:
        at = figure.at("paper")
        group = "incast" if figure.scenario == "incast.toml" else "permutation"
        if figure.scenario == "one-flow.toml":
            assert at.seeds == 100
        elif figure.scenario:
            assert at.seeds == 20
            resolved = paper.scenario(at, at.series[0], at.points[0]).resolved()
            assert resolved["topology"]["k"] == (6 if figure.name == "fig7" else 10)
            assert next(one for one in resolved["traffic"] if one["name"] == group)["app"]["size"] == "20MB"
    trees = [point.set["topology.k"] for point in paper.figures["fig4"].points]
    assert [k**3 // 4 for k in trees][:: len(trees) - 1] == [54, 2662]
    assert len(trees) == 9


@pytest.mark.parametrize("name", reading.names())
def test_no_text_of_a_paper_is_left_to_be_filled_in(name: str) -> None:
    for figure in reading.find(name)[1]:
        told = [*figure.assumptions, *(claim.says + claim.found for claim in figure.claims)]
        assert not [text for text in told if "@" in text], figure.name


def runs(name: str) -> Iterator[tuple[Paper, Figure, list[Series]]]:
    """Give the figures of a paper at both scales, each with the series that are run."""
    paper, figures = reading.find(name)
    for figure, scale in itertools.product(figures, definition.SCALES):
        at = figure.at(scale)
        yield paper, at, [series for series in at.series if not series.values]


MANY = ("homa", "mswift", "rivals", "yasomam")
"""Papers with many runs: all of them in ``make test-all``."""
WHOLE = pytest.mark.extended(part="papers")


@pytest.mark.slow("some hundred scenarios")
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=WHOLE) if name in MANY else name for name in reading.names()]
)
def test_every_run_of_every_figure_is_valid_at_both_scales(name: str) -> None:
    different = {
        scenario.hash: scenario
        for paper, figure, run in runs(name)
        for series, point in itertools.product(run, figure.points)
        for scenario in [paper.scenario(figure, series, point)]
    }
    for scenario in different.values():
        scenario.validate()


@pytest.mark.slow("some two hundred scenarios")
def test_every_scheme_and_every_point_of_the_rivals_is_valid_at_both_scales() -> None:
    """Each scheme at one point and each point with one scheme; all pairs of them are in ``make test-all``."""
    for paper, figure, run in runs("rivals"):
        pairs = zip(itertools.cycle(run), itertools.cycle(figure.points), strict=False)
        for series, point in itertools.islice(pairs, max(len(run), len(figure.points))):
            paper.scenario(figure, series, point).validate()


def test_a_folder_is_a_paper_and_verdicts_follow_from_its_numbers(incast: Command, paper: Path) -> None:
    answer = incast("paper", "run", str(paper), "--out", "p")
    assert answer.status == 0, answer.err
    figure, first, second, third, _ = answer.out.splitlines()
    assert figure == "fig1: in part, 1 of 2 claims hold; 1 not tested - Delay over flows"
    seeds = "of 2 of 3 seeds; Mean delay, DCTCP"
    assert first.startswith(f"  in part, holds: Delay grows with the flows ({seeds} at 4, 40: ")
    assert second.startswith(f"  in part, does not hold: DCTCP's delay is a second ({seeds} at 40: ")
    assert third.startswith("  not tested: At 1,000 flows too")
    out = paper.parent / "p"
    results = json.loads((out / "results.json").read_text())
    rows = {(row["series"], row["x"]): row["delay"]["mean"] for row in results["figures"]["fig1"]["points"]}
    summaries = [json.loads(path.read_text()) for path in sorted(out.rglob("summary.json"))]
    assert len(summaries) == 2 * 2 * 2
    for (_, flows), mean in rows.items():
        found = [one["flows"]["delay_mean_s"] * 1e6 for one in summaries if one["flows"]["count"] == flows]
        assert min(found) <= mean <= max(found)
    shown = re.findall(r"Mean delay, DCTCP at 4, 40: ([\d.]+)/([\d.]+), ([\d.]+)/([\d.]+) us, a seed each", first)
    four = [float(one) for one in shown[0]]
    assert rows["DCTCP", 4] == pytest.approx((four[0] + four[1]) / 2, rel=1e-3)
    assert rows["DCTCP", 40] == pytest.approx((four[2] + four[3]) / 2, rel=1e-3)
    page = (out / "report.html").read_text()
    assert "It never was." in page
    assert "(paper: 500)" in page
    assert left_in(out) == sorted(
        ["report.html", "results.json", "runs.csv", "paper.json", "runs", ".lock", "fig1-delay.png", "fig1-rates.png"]
    )


@pytest.mark.extended(part="python")
def test_pictures_of_papers_are_written_in_the_formats_asked_for(incast: Command, paper: Path) -> None:
    words = (str(paper), "--seeds", "1", "--out", "p", "--quiet", "--format")
    for word, formats in (("run", "svg,pdf"), ("report", "pdf")):
        answer = incast("paper", word, *words, formats)
        assert answer.status == 0, answer.err
        pictures = {name for name in left_in(paper.parent / "p") if name.startswith("fig1")}
        assert pictures == {f"fig1-{name}.{kind}" for name in ("delay", "rates") for kind in formats.split(",")}
        page = (paper.parent / "p/report.html").read_text()
        assert f"--format {formats}" in page
        assert page.count("<figure") == page.count("<svg ") == 2, "the page shows them all the same"
    incast("paper", "run", *words, "gif").refused("gif", "png, svg, pdf")


@pytest.mark.slow("a paper is run or reported several times")
def test_finished_runs_are_kept_and_only_missing_ones_are_made(incast: Command, paper: Path) -> None:
    assert incast("paper", "run", str(paper), "--out", "p").status == 0
    out = paper.parent / "p"
    manifests = sorted(out.rglob("manifest.json"))
    before = {path: path.stat().st_mtime_ns for path in manifests}
    report = (out / "report.html").read_bytes()
    gone = manifests[3].parent
    for file in gone.iterdir():
        file.unlink()
    gone.rmdir()
    incast("paper", "report", str(paper), "--out", "p").refused(
        "no complete figure (fig1: incomplete, 1 of 8 runs missing or made by another build)"
    )
    damaged = manifests[0].with_name("summary.json")
    damaged.write_bytes(damaged.read_bytes()[:100])
    assert incast("paper", "run", str(paper), "--out", "p").status == 0
    after = {path: path.stat().st_mtime_ns for path in sorted(out.rglob("manifest.json"))}
    assert before.keys() == after.keys()
    assert {path for path in before if before[path] != after[path]} == {gone / "manifest.json", manifests[0]}
    assert strip_cost((out / "report.html").read_text()) == strip_cost(report.decode())


@pytest.mark.extended(part="python")
def test_fewer_seeds_may_be_run_first_and_the_rest_later(incast: Command, paper: Path) -> None:
    out = paper.parent / "p"
    one = incast("paper", "run", str(paper), "--seeds", "1", "--scale", "paper", "--out", "p")
    assert one.status == 0, one.err
    first = {path: path.stat().st_mtime_ns for path in out.rglob("manifest.json")}
    assert len(first) == 3 * 2
    assert "--scale paper --seeds 1</code>" in (out / "report.html").read_text()
    incast("paper", "report", str(paper), "--scale", "paper", "--out", "p").refused(
        "no complete figure (fig1: incomplete, 12 of 18 runs missing or made by another build)",
        f"incast paper run {paper}/fig1 --scale paper --out p\n",
    )
    # more than there are is as many as there are
    assert incast("paper", "run", str(paper), "--seeds", "9", "--scale", "paper", "--out", "p").status == 0
    after = {path: path.stat().st_mtime_ns for path in out.rglob("manifest.json")}
    assert len(after) == 3 * 2 * 3
    assert all(after[path] == first[path] for path in first)
    results = json.loads((out / "results.json").read_text())
    assert {row["runs"] for row in results["figures"]["fig1"]["points"]} == {3}


@pytest.mark.extended(part="python")
def test_a_report_names_what_is_damaged_and_what_is_incomplete(incast: Command, paper: Path) -> None:
    (paper / "paper.toml").write_text(WORKED_OUT)
    (paper / "more.toml").write_text(SCENARIO)
    assert incast("paper", "run", str(paper), "--out", "p").status == 0
    summary = next((paper.parent / "p").rglob("summary.json"))
    summary.write_bytes(b"{")
    incast("paper", "report", str(paper), "--out", "p").refused(
        "summary.json is damaged", f"incast paper run {paper} repeats it after"
    )
    summary.with_name("manifest.json").write_text("{")
    incast("paper", "report", str(paper), "--out", "p").refused("manifest.json is not JSON")
    shutil.rmtree(summary.parent)
    answer = incast("paper", "report", str(paper), "--out", "p")
    assert answer.status == 0
    assert "fig1: incomplete, 1 of 2 runs missing or made by another build\n" in answer.out
    answer = incast("paper", "report", f"{paper}/fig1", "--out", "p")
    assert answer.status == 2
    assert answer.out.splitlines() == [
        "fig1: incomplete, 1 of 2 runs missing or made by another build",
        "report: p/report.html",
    ]
    assert f"p lacks runs of fig1: incast paper run {paper}/fig1 --out p\n" in answer.err
    assert "<code>fig1</code> (1 of 2)" in (paper.parent / "p" / "report.html").read_text()


@pytest.mark.extended(part="python")
def test_a_run_whose_summary_is_another_text_of_json_is_made_anew(incast: Command, paper: Path) -> None:
    assert incast("paper", "run", str(paper), "--out", "p").status == 0
    summary = next((paper.parent / "p").rglob("summary.json"))
    before = summary.read_bytes()
    for other in (b"[]", b'{"flows": {}}'):
        summary.write_bytes(other)
        incast("paper", "report", str(paper), "--out", "p").refused(
            f"{summary.relative_to(paper.parent)} is damaged: it lacks run, ",
            f"incast paper run {paper} repeats it after",
        )
        assert incast("paper", "run", str(paper), "--out", "p").status == 0
        assert summary.read_bytes() == before


@pytest.mark.slow("a paper is run or reported several times")
def test_a_report_of_nothing_names_the_figure_that_was_asked_for(incast: Command, paper: Path) -> None:
    incast("paper", "report", f"{paper}/fig1", "--out", "p").refused(
        f"start with incast paper run {paper}/fig1 --out p\n"
    )
    assert incast("paper", "run", str(paper), "--out", "p").status == 0
    shutil.rmtree(paper.parent / "p/runs")
    incast("paper", "report", f"{paper}/fig1", "--out", "p").refused(f": incast paper run {paper}/fig1 --out p\n")


def test_percentiles_of_a_measure_are_nearest_ranks() -> None:
    table = pa.table({"bytes": list(range(1, 2001))})

    def of(reduce: str) -> float | None:
        return reduced(table, Measure("m", "M", table="flows", column="bytes", reduce=reduce), None)

    found = {name: of(name) for name in definition.PERCENTILES}
    assert found == {"median": 1000, "p1": 20, "p95": 1900, "p99": 1980, "p999": 1998}


def test_texts_are_counted_and_nothing_else(incast: Command, paper: Path) -> None:
    table = pa.table({"group": pa.array(["a", "a", None]).dictionary_encode(), "bytes": [1, 2, 3]})

    def of(column: str, reduce: str, **more: object) -> float | None:
        measure = Measure("m", "M", table="flows", column=column, reduce=reduce, place="p: m", **more)  # type: ignore[arg-type]
        return reduced(table, measure, None)

    assert of("group", "count") == 2
    assert of("bytes", "max", by="group") == 3
    for wrong in (("group", "max", {}), ("group", "count", {"by": "bytes"})):
        with pytest.raises(
            PaperError, match=r'p: m.column = "group": expected a column of numbers of table flows, one of'
        ):
            of(wrong[0], wrong[1], **wrong[2])
    with pytest.raises(
        PaperError, match=r'p: m.over = "group": expected a column of numbers of table flows, one of bytes'
    ):
        of("bytes", "count", over="group")
    for column, told in [
        ("group", '.column = "group": expected a column of numbers of table '),
        ("grup", 'has no column "grup" (did you mean "group"?)'),
    ]:
        text = re.sub(r'column = "\w+"', f'column = "{column}"', PAPER)
        assert text != PAPER
        (paper / "paper.toml").write_text(text)
        answer = incast("paper", "run", str(paper), "--out", column, "--workers", "1")
        answer.refused("paper.toml: figures.fig1.plots[1]", told)
        assert not list((paper.parent / column).rglob("manifest.json")), "the first run tells"


@pytest.mark.extended(part="python")
def test_points_may_be_flows_and_pictures_of_series_and_rows(incast: Command, paper: Path) -> None:
    (paper / "paper.toml").write_text(BY_FLOW)
    answer = incast("paper", "run", str(paper), "--out", "p")
    assert answer.out.startswith("fig1: holds - Delay over flows\n"), answer.out + answer.err
    runs = list((paper.parent / "p" / "runs").rglob("manifest.json"))
    assert len(runs) == 4, "points that set the same share their runs"
    for name in ("windows", "bars", "dots"):
        assert (paper.parent / "p" / f"fig1-{name}.png").read_bytes().startswith(b"\x89PNG")
    for text, wrong, told in [
        ('as = "bars"', 'as = "pies"', "figures.fig1.plots[1].as = 'pies': expected one of bars, dots"),
        ('x_column = "throughput_bps"', 'x_column = "group"', '.x_column = "group": expected a column of numbers'),
        ('x_column = "throughput_bps"', 'x_column = "rate"', 'plots[2]: table flows has no column "rate"'),
        ('where = { name = "cwnd_bytes"', 'where = { nam = "cwnd_bytes"', 'table samples has no column "nam"'),
        ("(x - 0.01) % 0.005", "1 / x", 'fig1, curve "tooth" at 0.0: 1 / x: float division by zero'),
        ("fill = true", "fill = 1", "plots[0].fill = 1: expected true or false"),
        ('where = { flow = "0" }', "where = { flow = 0 }", "points[1].where.flow = 0: expected a text"),
        ("count(0 <", "count(0 -", "expected a comparison, not a number"),
    ]:
        assert text in BY_FLOW
        (paper / "paper.toml").write_text(BY_FLOW.replace(text, wrong))
        incast("paper", "run", str(paper), "--out", "q", "--workers", "1").refused(told)
        shutil.rmtree(paper.parent / "q", ignore_errors=True)


def test_panels_over_time_show_all_of_every_series() -> None:
    """An axis that panels share has room for what is drawn last."""
    axes = Canvas().subplots(1, 2, sharey=True)
    shown: list[tuple[str, drawing.Lines]] = [
        ("low", {"a": ([0.0, 1.0], [1.0, 2.0])}),
        ("high", {"a": ([0.0, 1.0], [3.0, 9.0]), "b": ([0.0, 1.0], [0.5, 1.0])}),
    ]
    drawing.panel_lines(list(axes), shown, [])
    assert [one.get_ylim()[0] for one in axes] == [0.0, 0.0]
    assert all(one.get_ylim()[1] >= 9.0 for one in axes)


def test_a_curve_over_time_is_in_seconds_whatever_the_axis_shows() -> None:
    axes = Canvas().subplots(1, 1)
    of = parse("4 + x % 0.5", (), ("x",))
    plot = Plot("windows", "samples", "", curves=[("tooth", of)])
    drawing.draw_over_time(plot, axes, [2000.0, 3000.0], 1e3)
    times, values = axes.lines[0].get_data()
    assert (min(times), max(times)) == (2000.0, 3000.0)
    assert np.allclose(values, 4 + np.asarray(times) / 1e3 % 0.5)
    assert max(values) > 4.49


@pytest.mark.slow("a paper is run or reported several times")
def test_a_run_whose_tables_are_cut_short_or_gone_is_made_anew(incast: Command, paper: Path) -> None:
    (paper / "paper.toml").write_text(WORKED_OUT)
    (paper / "more.toml").write_text(SCENARIO)
    assert incast("paper", "run", str(paper), "--out", "p").status == 0
    folder = next((paper.parent / "p").rglob("summary.json")).parent
    for name in ("flows", "writes", "samples"):
        table = folder / f"{name}.parquet"
        table.write_bytes(table.read_bytes()[:100])
        again = f"incast paper run {paper} repeats it after"
        incast("paper", "report", str(paper), "--out", "p").refused(f"{name}.parquet cannot be read", again)
        table.unlink()
        incast("paper", "report", str(paper), "--out", "p").refused(f"has no {name}.parquet", again)
        assert incast("paper", "run", str(paper), "--out", "p").status == 0
        assert table.exists()


def test_flows_that_did_not_finish_are_told_beside_the_verdicts(incast: Command, paper: Path) -> None:
    """Unfinished flows are in no number: four flows of 10 MB at 10 Gb/s need 32 ms."""
    finite = SCENARIO.replace(
        'app = { kind = "closed-loop", write = "64kB" }', 'app = { kind = "bulk", size = "10MB" }'
    )
    (paper / "fig1.toml").write_text(finite)
    (paper / "paper.toml").write_text(PAPER.replace('"traffic.flows" = 40', '"traffic.flows" = 1'))
    answer = incast("paper", "run", str(paper), "--out", "p")
    assert answer.status == 0, answer.err
    assert "  note: Swift at 4: 8 of 8 flows did not finish\n" in answer.out
    assert "Swift at 40" not in "".join(line for line in answer.out.splitlines() if "note:" in line)
    results = json.loads((paper.parent / "p" / "results.json").read_text())
    assert results["figures"]["fig1"]["unfinished"] == [
        {"series": "Swift", "x": 4, "unfinished": 8, "flows": 8},
        {"series": "DCTCP", "x": 4, "unfinished": 8, "flows": 8},
    ]
    assert "Swift at 4: 8 of 8 flows did not finish" in (paper.parent / "p" / "report.html").read_text()


def strip_cost(page: str) -> str:
    return re.sub(r"hops in [^<]*", "", page)


@pytest.mark.slow("a process of its own, which loads the program")
def test_ctrl_c_leaves_no_half_run_and_no_report(paper: Path) -> None:
    text = (paper / "fig1.toml").read_text().replace('duration = "20ms"', 'duration = "200s"')
    (paper / "fig1.toml").write_text(text)
    program = subprocess.Popen(
        command(["paper", "run", str(paper), "--out", "p"]),
        cwd=paper.parent,
        env=environment(),
        stderr=subprocess.PIPE,
        text=True,
    )
    out = paper.parent / "p"
    deadline = time.monotonic() + 60
    while not list((out / "runs").rglob(".*.partial-*")):
        assert program.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.05)
    program.send_signal(signal.SIGINT)
    _, err = program.communicate(timeout=60)
    assert program.returncode == 130, err
    assert "interrupted" in err
    assert left_in(out) == [".lock", "paper.json", "runs"]
    assert not list(out.rglob("*.partial-*"))
    assert not list(out.rglob("manifest.json"))


@pytest.mark.slow("a paper is run and reported")
def test_series_may_be_worked_out_and_figures_share_runs(incast: Command, paper: Path) -> None:
    (paper / "paper.toml").write_text(WORKED_OUT)
    (paper / "more.toml").write_text(SCENARIO.replace("flows = 4", "flows = 8"))
    answer = incast("paper", "run", str(paper), "--out", "p")
    assert answer.status == 0, answer.err
    figure, first, second, other, _, _ = answer.out.splitlines()
    assert figure.startswith("fig1: 1 of 2 claims hold, 1 not tested - ")
    assert first.startswith("  holds: Twice the flows")
    assert second.startswith("  not tested: What is worked out has no rate")
    assert other.startswith("fig2: holds")
    out = paper.parent / "p"
    assert len(list(out.rglob("summary.json"))) == 2 * 2, "two scenarios, two seeds; equal series share them"
    results = json.loads((out / "results.json").read_text())
    rows = [row for row in results["figures"]["fig1"]["points"] if row["series"] == "worked out"]
    assert [row["delay"]["mean"] for row in rows] == [8, 16]
    assert [row["rate"] for row in rows] == [None, None]
    assert (out / "fig1-tail.png").read_bytes().startswith(b"\x89PNG")
    total = sum(json.loads(path.read_text())["run"]["hops"] for path in out.rglob("summary.json"))
    assert results["figures"]["fig1"]["hops"] == total
    (paper / "paper.toml").write_text(WORKED_OUT.replace('"3 * x"', '"3 / (x - 1)"'))
    incast("paper", "report", str(paper), "--out", "p").refused("fig2, line at 1, y: 3 / (x - 1): division by zero")


@pytest.mark.slow("nine commands")
def test_unknown_names_are_told_what_is_near(incast: Command) -> None:
    incast("paper", "run", "swfit").refused('no paper "swfit"', 'did you mean "swift"')
    incast("paper", "run", "swift/").refused('"swift/": expected a figure after the slash')
    incast("paper", "run", "swift/fig177").refused('swift has no figure "fig177"', 'did you mean "fig17"')
    listed = incast("paper", "list", "swift").out
    assert listed.startswith("swift (also delay-is-simple): ")
    assert "swift/fig17" in listed
    assert "mswift" not in listed
    incast("paper", "list", "swfit").refused('no paper "swfit"', 'did you mean "swift"')
    incast("paper", "run", "./mine").refused('no paper "./mine": . holds no paper.toml')
    incast("paper", "run", "..").refused('no paper "..": .. holds no paper.toml')
    incast("paper", "report", "swift", "--scale", "huge").refused('--scale "huge"', "small, paper")
    incast("paper", "report", "swift", "--out", "none").refused("none holds no results of a paper")


@pytest.mark.extended(part="python")
def test_a_folder_of_something_else_is_left_alone(incast: Command, paper: Path) -> None:
    (paper.parent / "mine").mkdir()
    (paper.parent / "mine" / "notes.txt").write_text("mine")
    incast("paper", "run", str(paper), "--out", "mine").refused("mine is not empty")
    assert incast("paper", "run", str(paper), "--out", "p", "--quiet").status == 0
    incast("paper", "run", str(paper), "--out", "p", "--scale", "paper").refused("another paper, scale or set-up")
    (paper.parent / "p/paper.json").write_text("x")
    for asked in ("run", "report"):
        incast("paper", asked, str(paper), "--out", "p").refused(
            "p/paper.json is damaged: ", "give another --out, or remove p first"
        )
