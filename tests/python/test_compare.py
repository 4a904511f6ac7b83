"""``incast compare`` and ``incast report``: pairing, resuming, and what the report holds."""

from __future__ import annotations

import html
import json
import re
import shlex
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from conftest import QUICK, Command, command, environment, left_in, made_in
from incast import Result, Scenario, Store
from incast.comparisons.comparison import SERIES_POINTS, Comparison, load, samples_of
from incast.comparisons.declaration import Controller
from incast.report import figures
from incast.report.figures import FIGURES
from incast.report.numbers import scaled
from incast.runs.run_folder import engine_digest

STUDY = [
    *("random-hotspot", "random-pairs"),
    *("--cc", "dctcp", "--cc", "swift:target=min-rtt,epsilon=auto"),
    *("--vary", "traffic.flows=4,20", "--seeds", "2"),
    *QUICK,
]
RUNS = 2 * 2 * 2 * 2


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a comparison once for the tests that only look at it."""
    place = tmp_path_factory.mktemp("compare")
    done = subprocess.run(
        command(["compare", *STUDY, "--out", "c"]), cwd=place, env=environment(), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "report: c/report.html" in done.stdout
    assert "swift min-rtt epsilon=auto" in done.stdout
    return place / "c"


def test_folder_holds_report_pictures_and_every_run(made: Path) -> None:
    # nothing is lost in these runs: a picture of zeros would say less than the sentence in its place
    pictures = {f"{figure.name}.png" for figure in FIGURES} - {"loss.png", "timeouts.png"} | {"over-time.png"}
    assert "Loss, Retransmission timeouts: 0 in all runs." in (made / "report.html").read_text()
    assert set(left_in(made)) == pictures | {
        *("report.html", "comparison.json", "study.json", "points.parquet", "series.parquet"),
        *("runs", "runs.csv", ".lock"),
    }
    assert made_in(made / "runs") == {"0001-0000": RUNS, "0002-0000": 2}, "and one more a controller over time"
    for picture in pictures:
        assert (made / picture).read_bytes().startswith(b"\x89PNG")


def test_controllers_meet_the_same_placements_under_one_seed(made: Path) -> None:
    placements: dict[tuple[str, str, int], set[str]] = {}
    for case, run in load(made).runs.items():
        flows = run.rows("flows", ["src", "dst", "start_s"])
        placements.setdefault((case.scenario, case.value, case.seed), set()).add(str(flows.to_pydict()))
    assert len(placements) == RUNS / 2
    assert all(len(found) == 1 for found in placements.values())
    # and seeds differ
    assert placements["random-pairs", "20", 1] != placements["random-pairs", "20", 2]


class Loads(HTMLParser):
    """Collects everything a page would fetch."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [value or "" for name, value in attrs if name in ("src", "href", "srcset", "data", "action")]
        assert tag not in ("link", "iframe", "object")


def test_report_fetches_nothing(made: Path) -> None:
    page = (made / "report.html").read_text()
    loads = Loads()
    loads.feed(page)
    assert page.count("<figure") == len(FIGURES) - 2 + 1
    assert all(found.startswith(("#", "data:application/octet-stream;base64,")) for found in loads.found)
    assert not re.search(r"url\((?!#)", page)
    assert "@import" not in page
    assert not re.search(r"https?://(?!www\.w3\.org/)", page), "names of XML, not addresses"


def test_report_gives_means_hops_and_on_seconds_of_the_runs(made: Path) -> None:
    comparison = load(made)
    points = {
        (p["scenario"], p["controller"], p["traffic.flows"]): p
        for p in json.loads((made / "comparison.json").read_text())["points"]
    }
    assert len(points) == RUNS / 2
    point = points["random-pairs", "dctcp", "20"]
    runs = comparison.point("random-pairs", "dctcp", "20")
    settings = dict(pair.split("=") for pair in QUICK[1::2]) | {"traffic.flows": "20"}
    scenario = Scenario.load("random-pairs").with_(settings).with_controller("dctcp")
    summaries = [scenario.run(seed).summary for seed in (1, 2)]
    assert [run.summary for run in runs] == summaries, "the store gives back what a run says"
    throughputs = [s["flows"]["throughput_mean_bps"] for s in summaries]
    assert point["runs"] == 2
    assert point["flows.throughput_mean_bps"]["mean"] == pytest.approx(sum(throughputs) / 2)
    # Two values: half width t(0.975, 1) * |a - b| / 2; 12.7062 from a printed t table.
    half = 12.7062 * abs(throughputs[0] - throughputs[1]) / 2
    assert point["flows.throughput_mean_bps"]["half_width"] == pytest.approx(half, rel=1e-5)
    assert point["hops"] == sum(s["run"]["hops"] for s in summaries)
    page = (made / "report.html").read_text()
    assert f"{scaled(comparison.hops)} hops" in page
    assert "definition" in page
    assert "yasomam" not in page, "a comparison judges no claims of a study"


@pytest.mark.slow("comparisons and reports, each with six pictures")
def test_differences_are_taken_seed_by_seed(made: Path, incast: Command) -> None:
    done = incast("report", str(made), "--paired")
    assert done.status == 0, done.err
    assert "difference from dctcp under the same seed" in done.out
    assert "<h2>Difference from dctcp</h2>" in (made / "report.html").read_text()
    written = json.loads((made / "comparison.json").read_text())
    assert written["first"] == "dctcp"
    comparison = load(made)
    key = "flows.delay_p99_s"
    for point in written["points"]:
        if point["controller"] == "dctcp":
            assert "less_first" not in point[key]
            continue
        by_seed = [
            {run.summary["run"]["seed"]: run.figure(key) for run in comparison.point(*where)}
            for where in ((point["scenario"], name, point["traffic.flows"]) for name in (point["controller"], "dctcp"))
        ]
        assert [set(seeds) for seeds in by_seed] == [{1, 2}, {1, 2}]
        apart = [by_seed[0][seed] - by_seed[1][seed] for seed in (1, 2)]
        assert point[key]["less_first"]["mean"] == pytest.approx(sum(apart) / 2)
        half = 12.7062 * abs(apart[0] - apart[1]) / 2
        assert point[key]["less_first"]["half_width"] == pytest.approx(half, rel=1e-5)


@pytest.mark.extended(part="python")
def test_elephants_stand_in_no_figure_of_flows(incast: Command, tmp_path: Path) -> None:
    words = ("--set", "topology.k=4", "--set", "traffic.permutation.app.size=100kB", "--seeds", "1")
    vary = ("--vary", "traffic.elephants.flows=1,3")
    done = incast("compare", "permutation-elephants", "--cc", "dctcp", *vary, *words, "--out", "c")
    assert done.status == 0, done.err
    assert "figures of flows exclude elephants: datagrams, which no controller governs" in done.out
    assert "mean µs" in done.out, "all delays are below a millisecond"
    assert " elephants.flows  controller " in done.out
    points = json.loads((tmp_path / "c/comparison.json").read_text())["points"]
    comparison = load(tmp_path / "c")
    for point, run in zip(points, comparison.runs.values(), strict=True):
        group = run.summary["groups"]["permutation"]["flows"]
        for name in ("throughput_active_mean_bps", "jain", "loss_total_pct", "delay_mean_s", "delay_p99_s"):
            assert point[f"flows.{name}"]["mean"] == group[name], name
    series, run = comparison.series[0], list(comparison.runs.values())[-1]
    elephants = {row["flow"] for row in run.rows("flows", ["flow", "group"]).to_pylist() if row["group"] == "elephants"}
    assert len(elephants) == 3
    assert len(series.flows) == 3
    assert not elephants & set(series.flows)
    assert "figures of flows exclude elephants" in (tmp_path / "c/report.html").read_text()


BESIDE_DATAGRAMS = """
controller = "swift"
[run]
duration = "500us"
[topology]
kind = "star"
sources = 8
source_link = { rate = "10Gbps", delay = "2us" }
sink_link = { rate = "10Gbps", delay = "2us" }
[queue]
kind = "drop-tail"
limit = "1MB"
[transport]
preset = "swift"
[[traffic]]
name = "rpc"
pattern = "pairs"
flows = 4
app = { kind = "query", request = "100B", response = "20kB" }
[[traffic]]
name = "load"
pattern = "pairs"
flows = 2
app = { kind = "bulk" }
"""

NOISE = """
[[traffic]]
name = "noise"
pattern = "pairs"
flows = 1
start = "499us"
app = { kind = "udp", rate = "1kbps" }
"""

ELEPHANTS = """
[[traffic]]
name = "elephants"
pattern = "elephants"
of = "noise"
flows = 0
app = { kind = "bulk" }
"""


@pytest.mark.extended(part="python")
def test_a_datagram_beside_queries_changes_no_figure_of_flows(incast: Command, tmp_path: Path) -> None:
    """A datagram flow that begins at the end of the run affects no rate; small requests count in neither case."""
    for name, text in (("alone", BESIDE_DATAGRAMS), ("beside", BESIDE_DATAGRAMS + NOISE)):
        (tmp_path / f"{name}.toml").write_text(text)
        words = ("--cc", "swift", "--seeds", "1", "--vary", "traffic.load.flows=2", "--out", name, "--quiet")
        done = incast("compare", str(tmp_path / f"{name}.toml"), *words)
        assert done.status == 0, done.err
    alone, beside = (next(iter(load(tmp_path / name).runs.values())) for name in ("alone", "beside"))
    assert beside.datagrams == ("noise",)
    for key in ("flows.throughput_mean_bps", "flows.jain"):
        assert beside.figure(key) == pytest.approx(alone.figure(key)), key


def test_a_run_without_governed_flows_has_no_windows_to_draw(incast: Command, tmp_path: Path) -> None:
    network, *_ = BESIDE_DATAGRAMS.partition("[[traffic]]")
    (tmp_path / "s.toml").write_text(network + NOISE.replace("499us", "0s").replace("1kbps", "1Gbps") + ELEPHANTS)
    words = ("--cc", "swift", "--seeds", "1", "--vary", "traffic.elephants.flows=0", "--out", "c")
    done = incast("compare", str(tmp_path / "s.toml"), *words)
    assert done.status == 0, done.err
    assert "no picture over time: the run" in done.err
    assert "has no flow that a controller governs" in done.err
    assert "has no flow that a controller governs" in (tmp_path / "c/report.html").read_text()
    assert incast("report", "c").status == 0


@pytest.mark.extended(part="python")
def test_without_a_key_to_vary_there_is_one_point(incast: Command, tmp_path: Path) -> None:
    words = ("compare", "dumbbell", "--cc", "swift", "--cc", "dctcp", "--seeds", "2", "--paired")
    done = incast(*words, "--set", "run.duration=20ms", "--set", "run.warmup=10ms", "--out", "c")
    assert done.status == 0, done.err
    assert made_in(tmp_path / "c/runs") == {"0001-0000": 2 * 2, "0002-0000": 2}
    points = json.loads((tmp_path / "c/comparison.json").read_text())["points"]
    assert [(p["controller"], p["run.duration"]) for p in points] == [("swift", "20ms"), ("dctcp", "20ms")]
    page = (tmp_path / "c/report.html").read_text()
    assert "--vary" not in page[page.index("incast compare dumbbell") :].partition("</")[0], "as it was asked"
    incast("compare", "dumbbell", "two-senders", "--cc", "swift", "--out", "d").refused(
        "the scenarios differ in run.duration"
    )


@pytest.mark.slow("comparisons and reports, each with six pictures")
def test_report_can_be_made_again(made: Path, incast: Command) -> None:
    files = [p for p in made.iterdir() if p.suffix in (".html", ".png", ".json")]
    before = {p.name: p.read_bytes() for p in files}
    answer = incast("report", str(made), cwd=made.parent)
    assert answer.status == 0, answer.err
    after = {p.name: p.read_bytes() for p in files}
    assert before.keys() == after.keys()
    for name in before:
        if name != "report.html":  # its command names the folder as it was given
            assert before[name] == after[name], name


@pytest.mark.extended(part="python")
def test_the_command_in_the_report_makes_the_same_figures(made: Path, incast: Command, tmp_path: Path) -> None:
    page = (made / "report.html").read_text()
    found = re.search(r"<pre class=\"copy\"><code>(incast compare .*?)</code></pre>", page, re.DOTALL)
    assert found
    words = shlex.split(html.unescape(found[1]))
    assert words[0] == "incast"
    answer = incast(*words[1:], "--workers", "1", "--quiet")
    assert answer.status == 0, answer.err
    again = tmp_path / words[-1] / "comparison.json"
    assert again.read_bytes() == (made / "comparison.json").read_bytes()


@pytest.mark.extended(part="python")
def test_a_comparison_grows_by_seeds_controllers_and_values(made: Path, incast: Command, tmp_path: Path) -> None:
    shutil.copytree(made, tmp_path / "c")
    before = json.loads((made / "comparison.json").read_text())
    assert incast("compare", *STUDY, "--out", "c", "--quiet").status == 0
    chunks = {"0001-0000": RUNS, "0002-0000": 2}
    assert made_in(tmp_path / "c/runs") == chunks, "nothing is made twice"
    assert (tmp_path / "c/comparison.json").read_bytes() == (made / "comparison.json").read_bytes()

    grown = [word.replace("4,20", "4,20,6") for word in STUDY]
    grown[grown.index("--seeds") + 1] = "3"
    answer = incast("compare", *grown, "--cc", "newreno", "--out", "c", "--quiet")
    assert answer.status == 0, answer.err
    # 2 scenarios, 3 values, 3 controllers, 3 seeds, without those there; over time newreno is new
    assert made_in(tmp_path / "c/runs") == chunks | {"0003-0000": 2 * 3 * 3 * 3 - RUNS, "0004-0000": 1}
    after = json.loads((tmp_path / "c/comparison.json").read_text())
    assert len(after["points"]) == 2 * 3 * 3

    status = incast("study", "status", "c/runs", "--check")
    assert status.status == 0, status.err
    assert re.search(r"^compare-random-hotspot-random-pairs-\w+: 18 points, 3 seeds, 54 runs$", status.out, re.M)
    assert "54 runs" in incast("study", "status", "c").out, "the folder stands for its store"
    rows = Store.at(tmp_path / "c").runs.to_pylist()
    keyed = {(row["scenario"], row["arm"], row["traffic.flows"], row["seed"]): row for row in rows}
    arms = {"dctcp": "dctcp", "swift:target=min-rtt,epsilon=auto": "swift-min-rtt-epsilon-auto"}
    for point in before["points"]:
        place = point["scenario"], arms[point["controller"]], int(point["traffic.flows"])
        hops = [keyed[*place, seed]["run.hops"] for seed in (1, 2)]
        assert sum(hops) == point["hops"]

    chunks = made_in(tmp_path / "c/runs")
    smaller = [word.replace("4,20", "4") for word in STUDY]
    answer = incast("compare", *smaller, "--out", "c")
    assert answer.status == 0, answer.err
    told = "not shown, though the folder has runs: controller newreno, traffic.flows = 20, traffic.flows = 6, seeds up"
    assert told in answer.err
    assert "newreno" not in (tmp_path / "c/comparison.json").read_text()
    assert told in incast("report", "c").err
    assert incast("compare", *grown, "--cc", "newreno", "--out", "c", "--quiet").status == 0
    assert len(json.loads((tmp_path / "c/comparison.json").read_text())["points"]) == 2 * 3 * 3
    added = {name: runs for name, runs in made_in(tmp_path / "c/runs").items() if name not in chunks}
    assert set(added.values()) <= {2}, "runs over time at another value are all that is new"


@pytest.mark.extended(part="python")
def test_files_can_be_what_is_varied(incast: Command, tmp_path: Path) -> None:
    for place, rate in (("a", "1Gbps"), ("b", "2Gbps")):
        (tmp_path / place).mkdir()
        (tmp_path / place / "net.csv").write_text(
            f"kind,name,peer,rate\nhost,h0\nhost,h1\nswitch,s\nlink,h0,s,{rate}\nlink,h1,s,{rate}\n"
        )
    (tmp_path / "own.toml").write_text(
        '[run]\nduration = "2ms"\nwarmup = "0s"\n[topology]\nkind = "graph"\nfile = "a/net.csv"\n'
        'link = { rate = "1Gbps", delay = "1us" }\n[queue]\nkind = "drop-tail"\nlimit = "1MB"\n'
        '[[traffic]]\nname = "load"\npattern = "permutation"\napp = { kind = "bulk" }\n'
    )
    words = ["own.toml", "--cc", "dctcp", "--vary", "topology.file=a/net.csv,b/net.csv", "--seeds", "1", "--out", "c"]
    answer = incast("compare", *words, "--quiet")
    assert answer.status == 0, answer.err
    points = [load(tmp_path / "c").point("own.toml", "dctcp", f"{place}/net.csv")[0].summary for place in "ab"]
    slow, fast = (summary["flows"]["throughput_mean_bps"] for summary in points)
    assert fast > 1.5 * slow
    assert incast("report", "c", "--quiet").status == 0


@pytest.mark.extended(part="python")
def test_a_store_that_has_moved_is_named_with_the_way_out(incast: Command, tmp_path: Path) -> None:
    words = ["compare", "dumbbell", "--cc", "dctcp", "--seeds", "1", *QUICK, "--quiet", "--out", "c"]
    assert incast(*words, "--store", "s").status == 0
    (tmp_path / "s").rename(tmp_path / "t")
    incast("report", "c").refused("s, the store of the runs of c, does not exist", "by --store in:")
    assert incast(*words, "--store", "t").status == 0
    assert made_in(tmp_path / "t") == {"0001-0000": 1, "0002-0000": 1}
    assert incast("report", "c", "--quiet").status == 0


@pytest.mark.extended(part="python")
def test_the_own_store_is_so_however_the_folder_is_written(incast: Command, tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    words = ["compare", "dumbbell", "--cc", "dctcp", "--seeds", "1", *QUICK, "--quiet", "--out"]
    for out in ("c", "d/../c"):
        assert incast(*words, out).status == 0
        assert "--store" not in (tmp_path / "c/report.html").read_text()


@pytest.mark.extended(part="python")
def test_comparisons_share_a_store(incast: Command, tmp_path: Path) -> None:
    words = ("compare", "dumbbell", "--vary", "traffic.start=0ms,1ms", "--store", "lab", *SMALL[:-3], "--quiet")
    assert incast(*words, "--cc", "dctcp", "--cc", "swift", "--out", "a").status == 0
    assert made_in(tmp_path / "lab") == {"0001-0000": 4, "0002-0000": 2}
    assert not (tmp_path / "a/runs").exists()
    assert incast(*words, "--cc", "swift", "--cc", "newreno", "--out", "deeper/b").status == 0
    # two runs and a series of newreno
    assert made_in(tmp_path / "lab") == {"0001-0000": 4, "0002-0000": 2, "0003-0000": 2, "0004-0000": 1}
    (tmp_path / "lab.toml").write_text(
        'scenario = "dumbbell"\nseeds = 1\nset.run.duration = "5ms"\nset.run.warmup = "1ms"\n'
        'axes.traffic.start = ["0ms", "1ms"]\narms.new = "newreno"\narms.old = "dctcp"\n'
    )
    done = incast("study", "run", "lab.toml", "--store", "lab")
    assert done.status == 0, done.err
    assert "lab: 4 points, 1 seed, 4 runs" in done.out
    assert "store: lab, 6 runs" in done.out, "a study finds the runs of comparisons; those over time do not count"
    page = (tmp_path / "deeper/b/report.html").read_text()
    assert "--store lab --out deeper/b" in page

    # a report works from anywhere, and where both have moved
    (tmp_path / "there").mkdir()
    for name in ("lab", "a", "deeper"):
        (tmp_path / name).rename(tmp_path / "there" / name)
    for name in ("a", "deeper/b"):
        kept = (tmp_path / "there" / name / "comparison.json").read_bytes()
        (tmp_path / "there" / name / "comparison.json").unlink()
        answer = incast("report", f"{tmp_path}/there/{name}", "--quiet", cwd=Path("/"))
        assert answer.status == 0, answer.err
        assert (tmp_path / "there" / name / "comparison.json").read_bytes() == kept
    shutil.rmtree(tmp_path / "there/lab")
    incast("report", "there/a").refused("there/lab, the store of the runs of there/a, does not exist")


@pytest.mark.extended(part="python")
def test_a_report_needs_neither_the_scenario_nor_the_class(incast: Command, tmp_path: Path) -> None:
    (tmp_path / "own").write_text(BESIDE_DATAGRAMS)
    words = ("compare", "./own", "--cc", "swift", "--cc", "mine.py:Mine", "--seeds", "1", "--workers", "1", "--quiet")
    (tmp_path / "mine.py").write_text(MINE.format(window=4))
    assert incast(*words, "--out", "a").status == 0
    before = (tmp_path / "a/comparison.json").read_bytes()
    (tmp_path / "mine.py").write_text(MINE.format(window=1))
    assert incast(*words, "--out", "b").status == 0, "the same words, another class"
    assert (tmp_path / "b/comparison.json").read_bytes() != before
    for name in ("mine.py", "own"):
        (tmp_path / name).unlink()
    assert incast("report", "a", "--quiet").status == 0
    assert (tmp_path / "a/comparison.json").read_bytes() == before
    grown = incast(
        "study",
        "extend",
        "a/runs",
        "--study",
        study_of(tmp_path / "a"),
        "--seeds",
        "2",
        "--workers",
        "1",
        "--allow-code",
    )
    assert grown.status == 0, grown.err
    assert "2 points, 2 seeds, 4 runs" in grown.out


MINE = """
from incast.controllers import Controller


class Mine(Controller):
    def init(self, env):
        self.cwnd = {window} * env.mss

    def on_ack(self, ack):
        pass
"""


def study_of(folder: Path) -> str:
    name: str = json.loads((folder / "study.json").read_text())["study"]
    return name


@pytest.mark.extended(part="python")
def test_a_run_of_a_comparison_becomes_a_folder(made: Path, incast: Command, tmp_path: Path) -> None:
    row = Store.at(made / "runs").runs.to_pylist()[0]
    done = incast("study", "export", str(made / "runs"), "--run", row["run"], "--out", "one")
    assert done.status == 0, done.err
    found = Result.load(tmp_path / "one", whole=True)
    again = Scenario.load(tmp_path / "one/scenario.toml").run(row["seed"])
    assert found.summary == again.summary | {"run": again.summary["run"] | {"scenario": row["scenario"]}}
    assert found.flows.to_pylist() == again.flows.to_pylist()
    assert found.manifest["engine"] == engine_digest()
    assert incast("plot", "one").status == 0
    assert "reports/compare-random-hotspot-random-pairs-" in incast("report", str(made / "runs"), "--quiet").out
    incast("study", "export", str(made / "runs"), "--run", "0123", "--out", "two").refused("no run 0123", "column run")
    incast("study", "export", str(made / "runs"), "--run", row["run"], "--out", "two", "--table", "flows").refused(
        "not allowed with --table or --study"
    )


@pytest.mark.extended(part="python")
def test_runs_whose_tables_were_not_kept_are_told(incast: Command, tmp_path: Path) -> None:
    text = 'scenario = "dumbbell"\nseeds = 1\nkeep = []\nset.run.duration = "5ms"\nset.run.warmup = "1ms"\n'
    (tmp_path / "bare.toml").write_text(text + 'axes.traffic.flows = [1, 2]\narms.a = "dctcp"\narms.b = "swift"\n')
    assert incast("study", "run", "bare.toml", "--store", "lab").status == 0
    told = ("the study that made the run", "did not keep its table flows", "give another store")
    words = ("compare", "dumbbell", "--cc", "dctcp", "--vary", "traffic.flows=1,2", *SMALL)
    incast(*words, "--store", "lab").refused(*told)
    run = Store.at(tmp_path / "lab").runs["run"].to_pylist()[0]
    incast("study", "export", "lab", "--run", run, "--out", "one").refused(*told)
    assert not (tmp_path / "one").exists()
    assert incast(*words, "--store", "other").status == 0, "its folder takes another store"


def test_a_comparison_that_is_not_finished_says_how_to_go_on(made: Path, incast: Command, tmp_path: Path) -> None:
    shutil.copytree(made, tmp_path / "c")
    (tmp_path / "c/points.parquet").unlink()
    incast("report", "c").refused("not finished", "resume with: incast compare random-hotspot")
    asked = json.loads((made / "study.json").read_text())
    shutil.copy(made / "points.parquet", tmp_path / "c")
    (tmp_path / "c/study.json").write_text(json.dumps(asked | {"seeds": 3}))
    incast("report", "c").refused("not finished", "seed 3 is missing", "--seeds 3")


@pytest.mark.extended(part="python")
def test_runs_of_another_build_of_the_engine_are_repeated(made: Path, incast: Command, tmp_path: Path) -> None:
    shutil.copytree(made, tmp_path / "c")
    head = json.loads((tmp_path / "c/runs/store.json").read_text())
    other = json.dumps(head | {"engine": "0123456789abcdef"}, indent=2) + "\n"
    (tmp_path / "c/runs/store.json").write_text(other)
    shutil.copytree(tmp_path / "c/runs", tmp_path / "lab")
    assert incast("compare", *STUDY, "--out", "c", "--quiet").status == 0
    assert json.loads((tmp_path / "c/runs/store.json").read_text()) == head
    shared = ("compare", *STUDY, "--out", "d", "--store", "lab", "--quiet")
    incast(*shared).refused("another build of the engine", "--rebuild")
    assert incast(*shared, "--rebuild").status == 0


def test_another_study_is_refused_in_the_same_folder(made: Path, incast: Command) -> None:
    apart = [word.replace("4,20", "5,21") for word in STUDY]
    share = (
        f"give another --out; --store {made}/runs with it shares its runs; the command of {made} is: incast compare "
    )
    place = STUDY.index("--vary")
    unvaried = [*STUDY[:place], *STUDY[place + 2 :]]
    incast("compare", *apart, "--out", str(made)).refused(
        "holds another comparison: values of traffic.flows there are 4 20, and none of them is asked for", share
    )
    for words, told in (
        ([*STUDY, "--set", "queue.limit=300p"], "--set there is run.duration=30ms run.warmup=10ms, here run.duration="),
        (["dumbbell", *STUDY[1:]], "the scenario there is random-hotspot random-pairs, here dumbbell random-pairs"),
        (unvaried, "--vary there is traffic.flows, here not given"),
        ([*STUDY, "--vary", "queue.mark=5p"], f"{made} holds a comparison over one key, and this is a comparison over"),
    ):
        incast("compare", *words, "--out", str(made)).refused(told, "the command of", "give another --out")


def test_a_run_that_fails_is_named(incast: Command, tmp_path: Path) -> None:
    words = ["--cc", "dctcp", "--cc", "swift:min_cwnd=5,max_cwnd=2", "--vary", "traffic.flows=4", "--seeds", "1"]
    incast("compare", "random-hotspot", *words, *QUICK, "--out", "c").refused("max_cwnd")
    assert left_in(tmp_path) == []


SMALL = ["--seeds", "1", "--set", "run.duration=5ms", "--set", "run.warmup=1ms", "--out", "c", "--quiet"]


@pytest.mark.slow("comparisons and reports, each with six pictures")
def test_fewer_flows_than_are_drawn_over_time(incast: Command, tmp_path: Path) -> None:
    answer = incast("compare", "dumbbell", "--cc", "dctcp", "--vary", "traffic.flows=2,1", *SMALL)
    assert answer.status == 0, answer.err
    page = (tmp_path / "c/report.html").read_text()
    assert "Congestion windows of flow 0 and the queue" in page
    assert "claims in words" not in page
    (series,) = load(tmp_path / "c").series
    times = samples_of(series)[series.port, "queue_packets"][0]
    assert len(times) == pytest.approx(SERIES_POINTS, abs=1)  # 5 ms in steps of 5 us, either end in or out


@pytest.mark.extended(part="python")
def test_flow_control_has_figures_and_queues_over_time_are_whole(incast: Command, tmp_path: Path) -> None:
    # the first controller has the shortest queue
    small = ["--set", "traffic.incast.app.size=100kB", "--set", "run.duration=200us", "--seeds", "1", "--out", "c"]
    answer = incast("compare", "pfc-incast", "--cc", "swift", "--cc", "dcqcn", *small, "--quiet")
    assert answer.status == 0, answer.err
    assert "Pauses by flow control" in (tmp_path / "c/report.html").read_text()
    comparison = load(tmp_path / "c")
    assert [figure.key for figure in figures.figures_of(comparison)][-2:] == ["queues.pauses", "queues.paused_s"]
    drawn: Any = figures.plot_series(comparison)
    highest = [max(line.get_ydata().max() for line in axes.lines) for axes in drawn.axes[2:]]
    assert highest[0] < highest[1]
    assert all(axes.get_ylim()[0] == 0 and axes.get_ylim()[1] >= max(highest) for axes in drawn.axes[2:])


def test_windows_end_with_their_flow(incast: Command, tmp_path: Path) -> None:
    short = '[[traffic]]\nname = "short"\npattern = "pairs"\nflows = 1\napp = { kind = "bulk", size = "50kB" }\n'
    network, _, rest = BESIDE_DATAGRAMS.partition("[[traffic]]")
    (tmp_path / "s.toml").write_text(network + short + "[[traffic]]" + rest.partition("[[traffic]]")[2])
    done = incast("compare", str(tmp_path / "s.toml"), "--cc", "swift", "--seeds", "1", "--out", "c", "--quiet")
    assert done.status == 0, done.err
    comparison = load(tmp_path / "c")
    (series,) = comparison.series
    end_s = series.rows("flows", ["finish_s"])["finish_s"].to_pylist()[0]
    drawn: Any = figures.plot_series(comparison)
    ends = [max(line.get_xdata()) for line in drawn.axes[0].lines]
    assert min(ends) == pytest.approx(end_s * 1e6), "in microseconds, as the run lasts 500 us"
    assert max(ends) == pytest.approx(500, rel=0.01), "flows without an end go on"


def test_a_series_that_cannot_be_made_leaves_the_comparison_whole(incast: Command, tmp_path: Path) -> None:
    words = ["compare", "dumbbell", "--cc", "dctcp", "--vary", "traffic.start=0ms,9ms", *SMALL]
    for command_line in (words, ["report", "c", "--quiet"]):
        answer = incast(*command_line)
        assert answer.status == 0, answer.err
        assert "no picture over time: no port carried a packet" in answer.err
        assert "No picture over time: no port carried a packet" in (tmp_path / "c/report.html").read_text()
        assert not (tmp_path / "c/over-time.png").exists()


@pytest.mark.extended(part="python")
def test_queries_have_columns_pictures_and_definitions(incast: Command, tmp_path: Path) -> None:
    controllers = ["--cc", "dctcp:form=linux", "--cc", "newreno:form=linux"]
    words = ["compare", "dumbbell", "linux-incast", *controllers, "--vary", "run.duration=310ms,600ms"]
    answer = incast(*words, "--seeds", "1", "--set", "run.warmup=0s", "--out", "c")
    assert answer.status == 0, answer.err
    comparison = load(tmp_path / "c")
    (run,) = comparison.point("linux-incast", "dctcp:form=linux", "600ms")
    queries = run.summary["queries"]
    finished, count = queries["finished"], queries["count"]
    assert 1 < finished < count

    _, _, tables = answer.out.partition("dumbbell: means")
    without, _, table = tables.partition("linux-incast: means")
    assert "query" not in without
    assert header_of(table)[2:6] == ["finished %", "query mean ms", "query max ms", "with timeout"]
    bounds = "queries finished; figures that unfinished queries could still change are bounds"
    found = [comparison.began("linux-incast", c.text, value)["queries"] for c, value in points_of(comparison)]
    (least, most), counts = ([f(one[0] for one in found) for f in (min, max)], {one[1] for one in found})
    told = f"in all 4 settings: {least} to {most} of {min(counts)} to {max(counts)} {bounds}"
    page = (tmp_path / "c/report.html").read_text()
    assert f"{told}\n" in table
    assert html.escape(f"{told}.") in page
    for key in ("queries.mean_s", "queries.p99_s", "queries.with_timeout"):
        assert f"<code>{key}</code>" in page
    points = json.loads((tmp_path / "c/comparison.json").read_text())["points"]
    by = {(p["scenario"], p["controller"], p["run.duration"]): p for p in points}
    point = by["linux-incast", "dctcp:form=linux", "600ms"]
    # what did not finish leaves a figure open: no mean, but bounds
    mean, timeouts = point["queries.mean_s"], point["queries.with_timeout"]
    assert mean["mean"] is timeouts["mean"] is None
    assert mean["at_least"]["mean"] > 0 and mean["at_most"] is None
    late = count - finished
    assert timeouts["at_least"]["mean"] == queries["with_timeout"] == timeouts["at_most"]["mean"] - late
    # Where there are no queries there are no figures; of one that did not finish there is its age, and no count of 0.
    names = ("mean_s", "p99_s", "with_timeout")
    assert [by["dumbbell", "dctcp:form=linux", "600ms"][f"queries.{name}"] for name in names] == [None] * 3
    mean, p99, timeouts = (by["linux-incast", "newreno:form=linux", "310ms"][f"queries.{name}"] for name in names)
    assert mean["mean"] is p99["mean"] is timeouts is None
    assert (mean["finished"], mean["count"], mean["at_most"]) == (0, 1, None)
    assert 0 < mean["at_least"]["mean"] <= 0.31
    # of one point alone queries finished: a sentence stands in the place of a picture of one dot
    assert "Queries with a timeout: no picture, a single number, which is in the table." in page
    pictures = ["queries-mean.png", "queries-p99.png"]
    assert [name for name in left_in(tmp_path / "c") if name.startswith(("queries", "writes"))] == pictures


def points_of(comparison: Comparison) -> list[tuple[Controller, str]]:
    """List the points of a comparison: controllers and values."""
    return [(c, value) for c in comparison.study.controllers for value in comparison.study.values]


def header_of(table: str) -> list[str]:
    """Read the head of a table whose titles are broken into lines of their own, column by column."""
    lines = table.splitlines()[1:]
    rule = next(i for i, line in enumerate(lines) if "───" in line)
    head = [line.ljust(200) for line in lines[:rule]]
    blank = [all(line[i] == " " for line in head) for i in range(200)]
    columns, begun = [], None
    for i, empty in enumerate([*blank, True]):
        if not empty and begun is None:
            begun = i
        elif empty and begun is not None:
            columns.append(" ".join(" ".join(line[begun:i] for line in head).split()))
            begun = None
    return columns


def test_writes_have_columns(incast: Command, tmp_path: Path) -> None:
    app = 'traffic.app={kind="closed-loop",write="20kB",count=5}'
    words = ["compare", "dumbbell", "--cc", "dctcp", "--vary", "traffic.flows=1,2", *SMALL[:-1], "--set", app]
    answer = incast(*words)
    assert answer.status == 0, answer.err
    assert "write" in answer.out
    assert "quer" not in answer.out
    (run,) = load(tmp_path / "c").point("dumbbell", "dctcp", "2")
    # Below a millisecond, in microseconds.
    assert f" {1e6 * run.summary['writes']['p99_s']:.3g} " in answer.out


def test_large_and_small_counts_get_a_fitting_prefix() -> None:
    assert [scaled(n) for n in (0, 950, 17_980, 4_100_000, 2.5e9)] == [
        *("0", "950", "18.0\xa0thousand", "4.1\xa0million", "2.5\xa0billion"),
    ]


@pytest.mark.extended(part="python")
def test_the_report_tells_flows_apart_by_what_they_share_with_elephants(
    incast: Command, made: Path, tmp_path: Path
) -> None:
    done = incast(
        *("compare", "permutation-elephants", "--cc", "lswift", "--cc", "mswift", "--seeds", "2", "--out", "e"),
        *("--set", "topology.k=4", "--set", "traffic.elephants.flows=2", "--set", "traffic.elephants.placement=random"),
        *("--set", "traffic.permutation.app.size=100kB", "--set", "run.duration=1ms", "--quiet"),
    )
    assert done.status == 0, done.err
    page = (tmp_path / "e" / "report.html").read_text(encoding="utf-8")
    section = page[page.index('id="sharing"') : page.index("<h2>Definitions")]
    told = re.findall(r"<th>(?:lswift|mswift)</th><td>(\d+)</td><td>(\d+)</td>", section)
    # two controllers, two seeds, sixteen flows of which two are elephants
    assert sum(int(count) for count, _ in told) == 2 * 2 * 14
    flows = next(iter(load(tmp_path / "e").runs.values())).rows(
        "flows", ["flow", "shared_source", "shared_destination"]
    )
    listed = re.findall(r"<tr><td>(\d+)</td><td>\d+</td><td>\d+</td><td>(\w+)</td><td>(\w+)</td></tr>", section)
    assert len(listed) == 14
    near = {str(row["flow"]): (row["shared_source"], row["shared_destination"]) for row in flows.to_pylist()}
    assert all(near[flow] == (source, destination) for flow, source, destination in listed)
    assert page.count('id="differences"') == 1
    assert 'id="sharing"' not in (made / "report.html").read_text(encoding="utf-8")
