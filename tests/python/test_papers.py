"""``incast paper``: folders that say what is run, verdicts from numbers, and what is wrong with a folder."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pyarrow as pa
import pytest

from conftest import ROOT, Command, command, environment, left_in
from incast.claims import Verdict
from incast.errors import PaperError
from incast.figures import COLOURS
from incast.papers import definition, expression, judging, page
from incast.papers.definition import Measure, Series
from incast.papers.drawing import looks
from incast.papers.evaluation import reduced
from incast.papers.expression import ExpressionError, MeaninglessError
from incast.papers.judging import judge

SCENARIO = """
controller = "swift"
[run]
duration = "20ms"
warmup = "5ms"
[topology]
kind = "star"
sources = 4
source_link = { rate = "10Gbps", delay = "2us" }
sink_link = { rate = "10Gbps", delay = "2us" }
[queue]
kind = "ecn-threshold"
limit = "1MB"
mark = "65p"
[transport]
preset = "swift"
[[traffic]]
name = "load"
pattern = "pairs"
flows = 4
jitter = "100us"
app = { kind = "closed-loop", write = "64kB" }
"""

PAPER = """
title = "A small study"
source = "Nobody et al., 2026"
about = "Nothing is assumed."

[figures.fig1]
title = "Delay over flows"
where = "figure 1"
shows = "Delay."
scenario = "fig1.toml"
seeds = 2
x = "Number of flows"
points = [{ x = 4, set = { "traffic.flows" = 4 } }, { x = 40, set = { "traffic.flows" = 40 } }]
series = [{ name = "Swift" }, { name = "DCTCP", set = { controller = "dctcp" } }]
published = [{ series = "DCTCP", x = 40, measure = "delay", value = 500.0 }]

[figures.fig1.scale.paper]
seeds = 3
points = [{ x = 4 }, { x = 40 }, { x = 1000, set = { "traffic.flows" = 1000 } }]

[figures.fig1.measures]
delay = { of = "flows.delay_mean_s", scale = 1e6, label = "Mean delay", unit = "us" }

[[figures.fig1.plots]]
name = "delay"
kind = "line"
y = ["delay"]
caption = "Delay over flows."

[[figures.fig1.plots]]
name = "rates"
kind = "cdf"
column = "throughput_bps"
table = "flows"
x_label = "Rate"
caption = "Rates."

[[figures.fig1.claims]]
says = "Delay grows with the flows"
where = "section 1"
each_seed = true
holds = "rising(delay('DCTCP')) and delay('Swift', 4) > 0"

[[figures.fig1.claims]]
says = "DCTCP's delay is a second"
where = "section 2"
holds = "delay('DCTCP', 40) >= 1e6"
found = "It never was."

[[figures.fig1.claims]]
says = "At 1,000 flows too"
where = "section 3"
holds = "delay('DCTCP', 1000) > 0"
"""


@pytest.fixture
def paper(tmp_path: Path) -> Path:
    """Write the folder of a paper."""
    folder = tmp_path / "small"
    folder.mkdir()
    (folder / "paper.toml").write_text(PAPER)
    (folder / "fig1.toml").write_text(SCENARIO)
    return folder


def test_a_figure_of_the_swift_paper_runs_and_holds(incast: Command, tmp_path: Path) -> None:
    answer = incast("paper", "run", "swift/fig20", "--out", "s")
    assert answer.status == 0, answer.err
    assert answer.out.startswith("fig20: holds - ")
    assert "report: s/report.html" in answer.out
    page = (tmp_path / "s" / "report.html").read_text()
    assert 'src="data:image/png;base64,' in page
    assert "Not in this report" in page, "figures that were not run are named"
    assert (tmp_path / "s" / "fig20-timeline.png").read_bytes().startswith(b"\x89PNG")
    claims = json.loads((tmp_path / "s" / "results.json").read_text())["figures"]["fig20"]["claims"]
    assert [one["verdict"] for one in claims] == ["holds"]


def test_models_are_a_figure_of_the_mswift_paper_and_one_flow_follows_them(incast: Command, tmp_path: Path) -> None:
    """Figure 2 has no runs; of figure 4 the numbers are those of the model and of its setting."""
    answer = incast("paper", "run", "mswift/fig2", "--out", "m")
    assert answer.status == 0, answer.err
    assert answer.out.startswith("fig2: all 3 claims hold - ")
    assert not (tmp_path / "m" / "runs").exists()
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


def test_the_mswift_paper_has_all_its_figures_and_numbers() -> None:
    """Figures 2 and 4 to 18 and table I; losses as section IV.B reports them, sizes as its shared settings."""
    paper, figures = definition.find("mswift")
    names = [figure.name for figure in figures]
    assert {"fig2", "table1", *(f"fig{i}" for i in range(4, 19))} <= set(names)
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


def test_every_figure_of_every_paper_can_be_run_at_both_scales() -> None:
    for name in definition.names():
        paper, figures = definition.find(name)
        for figure in figures:
            told = [*figure.assumptions, *(claim.says + claim.found for claim in figure.claims)]
            assert not [text for text in told if "@" in text], "a text that was to be filled in"
            for scale in definition.SCALES:
                at = figure.at(scale)
                for series in at.series:
                    for point in [] if series.values else at.points:
                        paper.scenario(at, series, point).validate()


def test_a_folder_is_a_paper_and_verdicts_follow_from_its_numbers(incast: Command, paper: Path) -> None:
    answer = incast("paper", "run", str(paper), "--out", "p")
    assert answer.status == 0, answer.err
    figure, first, second, third, _ = answer.out.splitlines()
    assert figure == "fig1: 1 of 3 claims hold, 1 not tested - Delay over flows"
    assert first.startswith("  holds: Delay grows with the flows (Mean delay, DCTCP at 4, 40: ")
    assert second.startswith("  does not hold: DCTCP's delay is a second (Mean delay, DCTCP at 40: ")
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
        ["report.html", "results.json", "paper.json", "runs", ".lock", "fig1-delay.png", "fig1-rates.png"]
    )


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
        "no figure of which all runs are there (fig1: incomplete, 1 of 8 runs not there or of another build)"
    )
    damaged = manifests[0].with_name("summary.json")
    damaged.write_bytes(damaged.read_bytes()[:100])
    assert incast("paper", "run", str(paper), "--out", "p").status == 0
    after = {path: path.stat().st_mtime_ns for path in sorted(out.rglob("manifest.json"))}
    assert before.keys() == after.keys()
    assert {path for path in before if before[path] != after[path]} == {gone / "manifest.json", manifests[0]}
    assert strip_cost((out / "report.html").read_text()) == strip_cost(report.decode())


def test_fewer_seeds_may_be_run_first_and_the_rest_later(incast: Command, paper: Path) -> None:
    out = paper.parent / "p"
    one = incast("paper", "run", str(paper), "--seeds", "1", "--scale", "paper", "--out", "p")
    assert one.status == 0, one.err
    first = {path: path.stat().st_mtime_ns for path in out.rglob("manifest.json")}
    # two of the three points set the same there
    assert len(first) == 2 * 2
    assert "--scale paper --seeds 1</code>" in (out / "report.html").read_text()
    incast("paper", "report", str(paper), "--scale", "paper", "--out", "p").refused(
        "no figure of which all runs are there (fig1: incomplete, 8 of 12 runs not there or of another build)",
        f"incast paper run {paper}/fig1 --scale paper --out p\n",
    )
    # more than there are is as many as there are
    assert incast("paper", "run", str(paper), "--seeds", "9", "--scale", "paper", "--out", "p").status == 0
    after = {path: path.stat().st_mtime_ns for path in out.rglob("manifest.json")}
    assert len(after) == 3 * 2 * 2
    assert all(after[path] == first[path] for path in first)
    results = json.loads((out / "results.json").read_text())
    assert {row["runs"] for row in results["figures"]["fig1"]["points"]} == {3}


def test_a_report_names_what_is_damaged_and_what_is_incomplete(incast: Command, paper: Path) -> None:
    (paper / "paper.toml").write_text(WORKED_OUT)
    (paper / "more.toml").write_text(SCENARIO)
    assert incast("paper", "run", str(paper), "--out", "p").status == 0
    summary = next((paper.parent / "p").rglob("summary.json"))
    summary.write_bytes(b"{")
    incast("paper", "report", str(paper), "--out", "p").refused(
        "summary.json is damaged", f"incast paper run {paper} makes it anew"
    )
    summary.with_name("manifest.json").write_text("{")
    incast("paper", "report", str(paper), "--out", "p").refused("manifest.json is not JSON")
    shutil.rmtree(summary.parent)
    answer = incast("paper", "report", str(paper), "--out", "p")
    assert answer.status == 0
    assert "fig1: incomplete, 1 of 4 runs not there or of another build\n" in answer.out
    answer = incast("paper", "report", f"{paper}/fig1", "--out", "p")
    assert answer.status == 2
    assert answer.out.splitlines() == [
        "fig1: incomplete, 1 of 4 runs not there or of another build",
        "report: p/report.html",
    ]
    assert f"p lacks runs of fig1: incast paper run {paper}/fig1 --out p\n" in answer.err
    assert "<code>fig1</code> (1 of 4)" in (paper.parent / "p" / "report.html").read_text()


def test_a_run_whose_summary_is_another_text_of_json_is_made_anew(incast: Command, paper: Path) -> None:
    assert incast("paper", "run", str(paper), "--out", "p").status == 0
    summary = next((paper.parent / "p").rglob("summary.json"))
    before = summary.read_bytes()
    for other in (b"[]", b'{"flows": {}}'):
        summary.write_bytes(other)
        incast("paper", "report", str(paper), "--out", "p").refused(
            f"{summary.relative_to(paper.parent)} is damaged: it lacks run, ", f"incast paper run {paper} makes it anew"
        )
        assert incast("paper", "run", str(paper), "--out", "p").status == 0
        assert summary.read_bytes() == before


def test_a_report_of_nothing_names_the_figure_that_was_asked_for(incast: Command, paper: Path) -> None:
    incast("paper", "report", f"{paper}/fig1", "--out", "p").refused(
        f"begin with incast paper run {paper}/fig1 --out p\n"
    )
    assert incast("paper", "run", str(paper), "--out", "p").status == 0
    shutil.rmtree(paper.parent / "p/runs")
    incast("paper", "report", f"{paper}/fig1", "--out", "p").refused(f": incast paper run {paper}/fig1 --out p\n")


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


def test_a_run_whose_tables_are_cut_short_or_gone_is_made_anew(incast: Command, paper: Path) -> None:
    (paper / "paper.toml").write_text(WORKED_OUT)
    (paper / "more.toml").write_text(SCENARIO)
    assert incast("paper", "run", str(paper), "--out", "p").status == 0
    folder = next((paper.parent / "p").rglob("summary.json")).parent
    for name in ("flows", "writes", "samples"):
        table = folder / f"{name}.parquet"
        table.write_bytes(table.read_bytes()[:100])
        again = f"incast paper run {paper} makes it anew"
        incast("paper", "report", str(paper), "--out", "p").refused(f"{name}.parquet cannot be read", again)
        table.unlink()
        incast("paper", "report", str(paper), "--out", "p").refused(f"has no {name}.parquet", again)
        assert incast("paper", "run", str(paper), "--out", "p").status == 0
        assert table.exists()


def test_flows_that_did_not_finish_are_told_beside_the_verdicts(incast: Command, paper: Path) -> None:
    """Their completion times are in no number: four flows of 10 MB at 10 Gb/s need 32 ms."""
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
    assert program.returncode == 1, err
    assert "interrupted" in err
    assert left_in(out) == [".lock", "paper.json", "runs"]
    assert not list(out.rglob("*.partial-*"))
    assert not list(out.rglob("manifest.json"))


WORKED_OUT = (
    PAPER.partition("points =")[0]
    + '''points = [{ x = 4 }, { x = 8, scenario = "more.toml" }]
series = [
    { name = "Swift" },
    { name = "the same", set = { controller = "swift" } },
    { name = "worked out", values = { delay = "2 * x" } },
]

[figures.fig1.measures]
delay = { of = "flows.delay_mean_s", scale = 1e6, label = "Mean delay", unit = "us" }
rate = { table = "writes", column = "bytes", over = "completion_s", reduce = "mean", label = "Rate of a write" }

[[figures.fig1.plots]]
name = "delay"
kind = "line"
y = ["delay"]
series = ["Swift", "worked out"]
caption = "Delay over flows."

[[figures.fig1.plots]]
name = "tail"
kind = "ccdf"
table = "writes"
column = "completion_s"
where = { group = "load" }
points = [8]
log = ["y"]
x_label = "Completion time"
caption = "Tail."

[[figures.fig1.claims]]
says = "Twice the flows"
where = "section 1"
each_seed = true
holds = """
delay('worked out', 4) == 8 and delay('worked out', 8) == 16 and max(ratios(rate('Swift'), rate('the same'))) == 1"""

[[figures.fig1.claims]]
says = "What is worked out has no rate of writes"
where = "section 1"
holds = "rate('worked out', 4) > 0"

[figures.fig2]
title = "A line"
where = "figure 2"
shows = "No runs."
seeds = 1
x = "x"
points = [{ x = 1 }, { x = 3 }]
series = [{ name = "line", values = { y = "3 * x" } }]
measures = { y = { label = "y" } }
plots = [{ name = "y", kind = "line", y = ["y"], log = ["x"], caption = "y" }]
claims = [{ says = "A line", where = "everywhere", holds = "slope(x(), y('line')) > 0.999" }]
'''
)


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


def test_unknown_names_are_told_what_is_near(incast: Command) -> None:
    incast("paper", "run", "swfit").refused('no paper "swfit"', 'did you mean "swift"')
    incast("paper", "run", "swift/").refused('"swift/": expected a figure behind the slash')
    incast("paper", "run", "swift/fig177").refused('swift has no figure "fig177"', 'did you mean "fig17"')
    listed = incast("paper", "list", "swift").out
    assert listed.startswith("swift: ")
    assert "swift/fig17" in listed
    assert "mswift" not in listed
    incast("paper", "list", "swfit").refused('no paper "swfit"', 'did you mean "swift"')
    incast("paper", "run", "./mine").refused('no paper "./mine": . holds no paper.toml')
    incast("paper", "run", "..").refused('no paper "..": .. holds no paper.toml')
    incast("paper", "report", "swift", "--scale", "huge").refused('--scale "huge"', "small, paper")
    incast("paper", "report", "swift", "--out", "none").refused("none holds no results of a paper")


def test_a_folder_of_something_else_is_left_alone(incast: Command, paper: Path) -> None:
    (paper.parent / "mine").mkdir()
    (paper.parent / "mine" / "notes.txt").write_text("mine")
    incast("paper", "run", str(paper), "--out", "mine").refused("mine is not empty")
    assert incast("paper", "run", str(paper), "--out", "p", "--quiet").status == 0
    incast("paper", "run", str(paper), "--out", "p", "--scale", "paper").refused("another paper or scale")
    (paper.parent / "p/paper.json").write_text("x")
    for asked in ("run", "report"):
        incast("paper", asked, str(paper), "--out", "p").refused(
            "p/paper.json is damaged: ", "give another --out, or remove p first"
        )


MISTAKES = [
    ('title = "A small study"', "titel = 1", "title: missing: expected a text"),
    ('scenario = "fig1.toml"', 'scenario = "fig9.toml"', "figures.fig1.scenario = 'fig9.toml': expected a file"),
    ("seeds = 2", "seeds = 0", "figures.fig1.seeds = 0: expected a whole number of at least 1"),
    ("seeds = 2", "seeds = 2\nsead = 3", 'figures.fig1.sead = 3: unknown key (did you mean "seeds"?)'),
    ('kind = "line"', 'kind = "lime"', "figures.fig1.plots[0].kind = 'lime': expected one of line, cdf"),
    ('y = ["delay"]', 'y = ["dealy"]', "figures.fig1.plots[0].y: expected measures of the figure: delay"),
    ("delay('DCTCP', 40) >= 1e6", "dealy('DCTCP', 40) >= 1e6", "figures.fig1.claims[1].holds = "),
    ("delay('DCTCP', 40) >= 1e6", "__import__('os')", "__import__() is not known"),
    ("delay('DCTCP', 40) >= 1e6", "delay('DCTCP', 40) >", "cannot be read"),
    (
        "[figures.fig1.scale.paper]",
        "[figures.fig1.scale.huge]",
        "figures.fig1.scale.huge: expected one of small, paper",
    ),
    ("x = 40, measure", "x = 41, measure", "figures.fig1.published[0].x = 41: expected a point of the figure: 4, 40"),
    (
        "{ x = 40, set",
        "{ x = 4, set",
        "figures.fig1.points: expected at least one, each of its own name, and 4 is there twice",
    ),
    ("[figures.fig1]\n", '[figures."a\\u001b[31m\\nb"]\n', r"figures.a\u{1b}[31m\nb: expected a name of letters"),
    ('scenario = "fig1.toml"', 'scenario = "../no.toml"', "'../no.toml': expected a file, its path from "),
    (
        "delay('DCTCP', 40) >= 1e6",
        "delay('DCTCP', '40') >= 1e6",
        "delay: no point '40': it is a number; expected 40 without quotes",
    ),
    ("[figures.fig1]\n", "[figures.fig1\n", "paper.toml: "),
    ("x = 4, set", "x = nan, set", "figures.fig1.points[0].x = nan: expected a finite number or a text"),
    ("scale = 1e6", "scale = 0", "figures.fig1.measures.delay.scale = 0: expected a number other than 0"),
    ("scale = 1e6", "scale = inf", "figures.fig1.measures.delay.scale = inf: expected a finite number"),
    ('name = "rates"', 'name = "../rates"', "figures.fig1.plots[1].name = '../rates': expected a name of letters"),
    (
        "delay('DCTCP', 40) >= 1e6",
        "delay('DCTCQ', 40) >= 1e6",
        'claims[1].holds = "delay(\'DCTCQ\', 40) >= 1e6": delay: no series "DCTCQ" '
        '(did you mean "DCTCP"?); expected one of Swift, DCTCP',
    ),
    ("delay('DCTCP', 40) >= 1e6", "delay('DCTCP', 44) >= 1e6", 'delay: no point "44" (did you mean "4"?)'),
    ("delay('DCTCP', 40) >= 1e6", "delay('DCTCP', 40)", "expected a comparison, not a number"),
    (
        "delay('DCTCP', 40) >= 1e6",
        "delay('DCTCP', 40) > 1 and ratio(delay('Swift', 4), 2)",
        "figures.fig1.claims[1].holds = ",
    ),
    ("delay('DCTCP', 40) >= 1e6", "delay('DCTCP', 40) > published('delay', 'DCTCP', 4)", "nothing is published of"),
    ("delay('DCTCP', 40) >= 1e6", "model('swfit', 'throughput_bps', 'q', 0.1) > 1", "model: "),
    (
        'says = "DCTCP\'s delay is a second"',
        'each = [{ n = "1" }]\nsays = "{m} seconds"',
        "figures.fig1.claims[1].each: has no m, which {m} asks for; expected one of n",
    ),
    (
        'says = "DCTCP\'s delay is a second"',
        'each = [{ n = 1 }]\nsays = "{n} seconds"',
        "figures.fig1.claims[1].each: expected tables of texts, all with the same names",
    ),
    (
        'says = "DCTCP\'s delay is a second"',
        'each = [{}]\nsays = "A second"',
        "figures.fig1.claims[1].each: expected tables of texts, not empty ones",
    ),
    ('{ name = "Swift" }', '{ name = "Swift", look = 9 }', "figures.fig1.series[0].look = 9: expected 1 to 8"),
    ('title = "Delay over flows"', 'like = "fig2"', "figures.fig1.like = 'fig2': expected a figure that"),
    (
        '{ name = "Swift" }',
        '{ name = "Swift", values = { dealy = "x" } }',
        "figures.fig1.series[0].values.dealy = 'x': expected measures of the figure: delay",
    ),
    ('{ name = "Swift" }', '{ name = "Swift", values = { delay = "y" } }', "figures.fig1.series[0].values.delay = 'y'"),
    (
        '{ name = "Swift" }',
        '{ name = "Swift", values = { delay = "x" }, set = { controller = "swift" } }',
        "figures.fig1.series[0].set: expected none beside values: such a series has no runs",
    ),
    (
        "{ x = 40, set",
        '{ x = 40, scenario = "no.toml", set',
        "figures.fig1.points[1].scenario = 'no.toml': expected a file",
    ),
    (
        'kind = "cdf"',
        'kind = "cdf"\nseries = ["Swfit"]',
        "figures.fig1.plots[1].series: expected series of the figure: Swift",
    ),
    (
        'kind = "cdf"',
        'kind = "cdf"\npoints = [5]',
        "figures.fig1.plots[1].points: expected points of the figure: 4, 40",
    ),
]


@pytest.mark.parametrize(("good", "bad", "told"), MISTAKES)
def test_a_broken_paper_names_file_and_key(paper: Path, good: str, bad: str, told: str) -> None:
    assert good in PAPER
    (paper / "paper.toml").write_text(PAPER.replace(good, bad, 1))
    with pytest.raises(PaperError, match=re.escape(told)) as raised:
        definition.load(paper)
    assert str(raised.value).startswith(str(paper / "paper.toml"))


def test_a_paper_that_is_no_text_or_names_files_elsewhere_is_refused(paper: Path) -> None:
    (paper / "paper.toml").write_bytes(PAPER.replace("Nobody", "N\xfcbody").encode("latin-1"))
    with pytest.raises(PaperError, match=r"paper.toml, line 3: expected UTF-8 text: byte 0xfc is none of it"):
        definition.load(paper)
    (paper / "paper.toml").write_text(PAPER.replace("[figures.fig1]", '[figures."../../fig1"]'))
    with pytest.raises(PaperError, match=r"figures.\.\./\.\./fig1: expected a name of letters"):
        definition.load(paper)


def test_a_figure_that_no_summary_has_and_a_wrong_setting_are_bad_input(incast: Command, paper: Path) -> None:
    (paper / "paper.toml").write_text(PAPER.replace("flows.delay_mean_s", "flows.delay_mean"))
    incast("paper", "run", str(paper), "--out", "p").refused(
        'paper.toml: figures.fig1.measures.delay.of = "flows.delay_mean": a run\'s summary has no flows.delay_mean '
        '(did you mean "delay_mean_s"?); expected one of count, ',
        " in flows",
    )
    assert len(list((paper.parent / "p").rglob("manifest.json"))) < 8, "the first run tells"
    (paper / "paper.toml").write_text(WORKED_OUT.replace('column = "bytes"', 'column = "byte"'))
    (paper / "more.toml").write_text(SCENARIO)
    incast("paper", "run", str(paper), "--out", "r").refused(
        'paper.toml: figures.fig1.measures.rate: table writes has no column "byte" (did you mean "bytes"?)'
    )
    (paper / "paper.toml").write_text(
        WORKED_OUT.replace('log = ["x"]', 'curves = [{ label = "c", of = "1 / (x - 1)" }]')
    )
    incast("paper", "run", str(paper), "--out", "s").refused('fig2, curve "c" at 1: 1 / (x - 1): division by zero')
    assert not (paper.parent / "s").exists()
    (paper / "paper.toml").write_text(PAPER.replace("traffic.flows", "traffic.flws"))
    incast("paper", "run", str(paper), "--out", "q").refused(
        'did you mean "flows"', "small/fig1, Swift, 4, seed 1", "small/paper.toml"
    )


def test_a_figure_may_be_like_another_and_entries_stand_for_several(paper: Path) -> None:
    """What a figure lacks is the other's, tables go key by key, and each row of ``each`` is an entry of its own."""
    (paper / "paper.toml").write_text(
        PAPER
        + """
[figures.fig2]
like = "fig1"
title = "Another"
seeds = 5
scale.paper.seeds = 7
series = [
    { each = [{ s = "Swift" }, { s = "DCTCP" }], name = "{s}" },
    { each = [{ s = "Swift" }, { s = "DCTCP" }], name = "{s} again" },
    { name = "{s}" },
]
measures.delay.unit = "ms"
measures.delay.scale = 1e3

[[figures.fig2.claims]]
each = [{ s = "Swift", n = "4" }, { s = "DCTCP", n = "40" }]
says = "{s} at {n}"
where = "section {n}"
holds = "all(delay('{s}', n) > {n} for n in x(4, 40)) and max(delay(['{s}', 'Swift'], 4)) < 9 and max(x(4, 40)) == 40"
"""
    )
    figures = definition.load(paper).figures
    one, two = figures["fig1"], figures["fig2"]
    assert (two.title, two.where, two.seeds, two.at("paper").seeds) == ("Another", "figure 1", 5, 7)
    assert two.at("paper").points == one.at("paper").points
    assert two.measures["delay"] == Measure("delay", "Mean delay", "ms", 1e3, "flows.delay_mean_s")
    assert (two.points, two.plots, two.published) == (one.points, one.plots, one.published)
    assert [series.name for series in two.series] == ["Swift", "Swift again", "DCTCP", "DCTCP again", "{s}"]
    assert [(claim.says, claim.where) for claim in two.claims] == [
        ("Swift at 4", "section 4"),
        ("DCTCP at 40", "section 40"),
    ]
    numbers = {("Swift", 4): 5.0, ("Swift", 40): 6.0, ("DCTCP", 4): 50.0, ("DCTCP", 40): 60.0}
    found = [judge(two, claim, lambda _, series, x, __: numbers[series, x]) for claim in two.claims]
    assert [one.verdict for one in found] == ["holds", "does not hold"]
    assert found[0].numbers == ["Mean delay, Swift at 4, 40: 5, 6 ms"]


def test_a_figure_whose_claims_have_no_numbers_is_not_tested(paper: Path) -> None:
    one = [judging.Finding(claim, Verdict.UNTESTED, []) for claim in definition.load(paper).figures["fig1"].claims]
    assert page.count_of(one[:1]) == "not tested"
    assert page.count_of(one) == "not tested"


def test_series_keep_the_look_that_they_ask_for() -> None:
    assert len(COLOURS) == definition.LOOKS
    series = [Series("a"), Series("b", look=1), Series("c"), Series("d", look=3)]
    assert looks(series) == [1, 0, 3, 2]
    assert looks([Series(f"{i}") for i in range(10)]) == [0, 1, 2, 3, 4, 5, 6, 7, 0, 1]
    assert looks([Series(f"{i}", look=1 + i % 8) for i in range(9)]) == [0, 1, 2, 3, 4, 5, 6, 7, 0]


def value(text: str) -> object:
    return expression.evaluate(expression.parse(text, ["f"]), {"f": {"a": [1.0, 2.0, 4.0]}.__getitem__})


def test_expressions_are_arithmetic_and_comparisons() -> None:
    assert value("1 + 2 * 3 - 8 / 4") == 5.0
    assert value("2 ** 3 == 8 and 1 < 2 <= 2") is True
    assert value("1 < 2 < 2") is False
    assert value("not 1 > 2 or 1 > 2") is True
    assert value("max(f('a')) - min(f('a'))") == 3.0
    assert value("mean(1, 2, 6)") == 3.0
    assert value("rising(f('a')) and not falling(f('a'))") is True
    assert value("rising(1, 1)") is False
    assert value("slope([1, 10, 100], [3, 30, 300])") == pytest.approx(1.0)
    assert value("slope([1, 4], [1, 2])") == pytest.approx(0.5)
    assert value("within(90, 100, 0.1)") is True
    assert value("within(89, 100, 0.1)") is False
    assert value("ratio(-3, abs(-6)) + sqrt(4)") == 1.5
    assert value("max(ratios(f('a'), [2, 1, 8]))") == 2.0
    assert value("[2 * n for n in f('a') if n != 2]") == [2.0, 8.0]
    assert value("[n - m for n in [1, 2] for m in [n, 5] if m > 1]") == [-4, 0, -3]
    assert value("all(n >= 1 for n in f('a')) and not all(n > 1 for n in f('a'))") is True
    assert value("any(n > 2 for n in f('a')) and not any(n > 4 for n in f('a'))") is True
    assert value("within(f('a'), [1.1, 2, 4], 0.1)") is True
    assert value("within(f('a'), [1.2, 2, 4], 0.1)") is False


@pytest.mark.parametrize(
    "text",
    [
        "f.x",
        "f('a')[0]",
        "open('x')",
        "lambda: 1",
        "{x for x in f('a')}",
        "[x for x in f('a')] + [x]",
        "[f for f in f('a')]",
        "[a for a, b in [[1, 2]]]",
        "[x for x in f('a') if y > 1]",
        "f(name='a')",
        "True",
        "y",
        "1 if 2 else 3",
        "1; 2",
    ],
)
def test_expressions_reach_nothing_else(text: str) -> None:
    with pytest.raises(ExpressionError):
        value(text)


@pytest.mark.parametrize(
    "text",
    [
        "1 / 0",
        "sqrt(0 - 1)",
        "f('a') < 1",
        "slope([1], [1])",
        "mean([])",
        "ratios([1], [1, 2])",
        "9**9**9**9",
        "[1] * 999999999",
        "within([1, 2], [1], 0.1)",
        "within([1, 2], 1, 0.1)",
        "[x for x in 3]",
        "all(n > 8 for n in f('a') if n > 8)",
        "all(f('a'))",
        "1 < 2 and 3",
        "not 3",
        "any([0])",
    ],
)
def test_expressions_that_numbers_do_not_fit_are_errors(text: str) -> None:
    with pytest.raises(ExpressionError):
        value(text)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("f('a') < [6, 1, 0]", "f('a') < [6, 1, 0]: expected a number, not a list: of lists, compare each"),
        ("f('a') == 2", "expected a number, not a list"),
        ("f('a') != f('a')", "expected a number, not a list"),
        ("not 2 == [2]", "expected a number, not a list"),
        ("'10' < '9'", "expected a number, not a text"),
        ("'10' == 10", "expected a number, not a text"),
        ("(2 > 1) > 0", "expected a number, not a truth value"),
        ("2 < 1 < 'a'", "expected a number, not a text"),
        ("(1 > 0) + 1 > 1", "1 > 0) + 1: expected a number, not a truth value"),
        ("-(1 > 0) < 1", "expected a number, not a truth value"),
        ("mean(1 > 0, 2 > 3) < 1", "expected a number, not a truth value"),
        ("abs(1 > 0) < 1", "expected a number, not a truth value"),
        ("rising([[1, 9], [2, 3], [3, 0]])", "expected a number, not a list"),
        ("falling(['b', 'a'])", "expected a number, not a text"),
        ("max([1, 9], [2, 3]) < 4", "expected a number, not a list"),
        ("min('b', 'a') < 4", "expected a number, not a text"),
        ("ratio([1], 2) < 4", "expected a number, not a list"),
        ("ratio(1) < 4", "ratio() missing 1 required positional argument: 'b'"),
        ("max(ratios([1 > 0], [2])) < 4", "expected a number, not a truth value"),
        ("slope([1, 2], ['a', 'b']) < 4", "expected a number, not a text"),
        ("within(f('a'), 60, 0.1)", "within: expected two lists, not a list and a number"),
        ("within(1, 2, 'a')", "expected a number, not a text"),
        ("model('swift', 'throughput_bps', 'q') > 1", "names of parameters, each before its value"),
        ("all([1 > 0], [1 > 0])", "expected a comparison, not a list"),
        ("all('a')", "expected a comparison, not a text"),
        ("all(1 > 0" + "".join(f" for {name} in [1, 2, 3]" for name in "abcdeghijkl") + ")", "more than 100,000 turns"),
    ],
)
def test_expressions_of_other_kinds_have_no_value_whatever_is_measured(text: str, told: str) -> None:
    with pytest.raises(MeaninglessError, match=re.escape(told)):
        expression.truth(expression.parse(text, ["f"]), {"f": {"a": [1.0, 2.0, 4.0]}.__getitem__})


@pytest.mark.parametrize("text", ["-" * 5000 + "1 > 0", "-" * 900 + "1 > 0", "1" + " + 1" * 5000 + " > 0"])
def test_expressions_within_one_another_have_an_end(text: str) -> None:
    with pytest.raises(ExpressionError, match="too many parts within one another: expected at most 64"):
        expression.parse(text, [])
    depth = expression.DEPTH - 2
    deepest = expression.parse("-" * depth + "1 > 0", [])
    assert expression.truth(deepest, {}) == (depth % 2 == 0)


@pytest.mark.parametrize(
    ("holds", "told"),
    [
        ("delay('DCTCP') >= 1.2", "delay('DCTCP') >= 1.2: expected a number, not a list"),
        ("ratio(delay('DCTCP', 4)) > 1", "ratio() missing 1 required positional argument"),
        ("within(delay('DCTCP', 4), 'a', 0.1)", "expected a number, not a text"),
        ("within(delay('Swift'), 60, 100)", "within: expected two lists, not a list and a number"),
        ("rising(delay(['Swift', 'DCTCP']))", "expected a number, not a list"),
        ("delay('Swift', 4, 40) > 1", "delay() takes from 1 to 2 positional arguments but 3 were given"),
        ("max(x('a')) > 1", "x('a'): expected a number, not a text"),
        ("all(delay('Swift', n) > 0 for n in x() if n > 1000)", "expected at least one number, not an empty list"),
        ("max(delay('Swift', x(2000))) > 0", "expected at least one number, not an empty list"),
        ("within(delay('Swift'), [1, 2, 3, 4], 0.1)", "two lists of the same length, not of 3 and 4"),
    ],
)
def test_claims_that_no_number_decides_are_refused_before_anything_runs(paper: Path, holds: str, told: str) -> None:
    (paper / "paper.toml").write_text(PAPER.replace("delay('DCTCP', 40) >= 1e6", holds))
    with pytest.raises(PaperError, match=re.escape(told)):
        definition.load(paper)


@pytest.mark.parametrize(
    "holds",
    [
        "within(delay('Swift'), [60, 100], 0.1)",  # of scale small
        "within(delay('Swift'), [60, 100, 2000], 0.1)",  # of scale paper
        "max(delay('Swift', x(1000))) > 0",
        "all(n > 0 for n in delay('Swift') if n > 100)",
        "max(x(delay('Swift', 4))) > 2000",
        "sqrt(delay('Swift', 4) - 50) > 1",
    ],
)
def test_claims_that_other_numbers_or_points_may_decide_are_taken(paper: Path, holds: str) -> None:
    (paper / "paper.toml").write_text(PAPER.replace("delay('DCTCP', 40) >= 1e6", holds))
    assert len(definition.load(paper).figures["fig1"].claims) == 3


def test_rows_of_tables_become_one_number() -> None:
    table = pa.table(
        {
            "flow": [0, 0, 1, 1, 2],
            "group": pa.array(["a", "a", "b", "b", "b"]).dictionary_encode(),
            "bytes": [1, 2, 3, 3, None],
            "finish_s": [0.1, 0.2, 0.3, 0.4, 0.5],
        }
    )

    def of(reduce: str, span: tuple[float, float] | None = None, **more: object) -> float | None:
        measure = Measure("m", "M", table="writes", column="bytes", reduce=reduce, **more)  # type: ignore[arg-type]
        return reduced(table, measure, span)

    assert of("sum") == 9
    assert of("count") == 4
    assert of("mean", where={"group": "b"}) == 3
    assert of("max", by="flow") == 6
    assert of("jain", by="flow") == pytest.approx(9**2 / (2 * (9 + 36)))
    assert of("sum", (0.2, 0.4)) == 5, "a span is open at its end"
    assert of("sum", over="flow", where={"group": "b"}) == 6, "3 / 1 and 3 / 1; the rest has no bytes"
    assert of("median") == 2, "nearest rank"
    assert of("p99") == 3
    assert of("min", (0.6, 0.7)) is None
    with pytest.raises(PaperError, match='table writes has no column "size"'):
        reduced(table, Measure("m", "M", table="writes", column="size"), None)


def test_the_documentation_names_every_paper_and_every_function() -> None:
    page = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")
    for name in definition.names():
        assert f"| `{name}` |" in page
    known = set(re.findall(r"`(\w+)(?:\([\w, ]+\))?`", page.partition("**Claims.**")[2]))
    assert set(expression.FUNCTIONS) <= known
    for word in (*definition.PLOTS, *definition.REDUCTIONS, *definition.TABLES):
        assert re.search(rf"\b{word}\b", page)


def test_the_paper_of_the_documentation_is_a_folder_and_no_code(incast: Command, tmp_path: Path) -> None:
    """Its scenario, published number, derived series and claims are run as they are printed, with what they print."""
    page = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")
    scenario, whole, more = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    folder = tmp_path / "mypaper"
    folder.mkdir()
    (folder / "fig1.toml").write_text(scenario)
    (folder / "paper.toml").write_text(whole + more)
    asked, *printed, end = re.findall(r"```console\n(.*?)```", page, re.DOTALL)[-1].splitlines()
    answer = incast(*shlex.split(asked)[2:])
    assert answer.status == 0, answer.err
    *shown, last = answer.out.splitlines()
    assert last == end == "report: fig1/report.html"
    for line, told in zip(shown, printed, strict=True):
        assert line.startswith(told.removesuffix("...)"))
    report = (tmp_path / "fig1" / "report.html").read_text()
    assert "<i>(paper: 220)</i>" in report
    assert "<code>fig2</code> (12 of 12)" in report
    rows = json.loads((tmp_path / "fig1" / "results.json").read_text())["figures"]["fig1"]["points"]
    derived = {row["x"]: row["delay"]["mean"] for row in rows if row["series"] == "a packet a flow"}
    assert derived == {4: pytest.approx(18.5), 20: pytest.approx(71.3)}
    answer = incast("paper", "run", "mypaper/fig2", "--out", "fig1")
    assert answer.out.startswith("fig2: all 2 claims hold - Delay over load, with a buffer of 2 MB\n")
