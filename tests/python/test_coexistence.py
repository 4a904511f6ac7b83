"""Controllers two by two on one fabric."""

from __future__ import annotations

import csv
import itertools
import json
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from conftest import Command, made_in
from incast import FolderError, StudyError, _core
from incast.commands.calls import compare
from incast.comparisons import coexistence, report_folder
from incast.comparisons.comparison import load
from incast.comparisons.declaration import Controller
from incast.comparisons.noted import shared_notes
from incast.comparisons.report_folder import Home
from incast.report import coexistence_page
from incast.report.numbers import number
from incast.runs.result import rates_of
from incast.runs.scenario import Scenario
from incast.statistics import Estimate
from incast.writing.numbers import said
from stored import SHORT as SHORTEST

SHORT = ["--set", "run.duration=30ms", "--set", "run.warmup=10ms", "--seeds", "2"]


@pytest.mark.slow("all pairs of controllers, and pictures in three formats")
def test_every_pair_meets_and_shares_add_up(incast: Command, tmp_path: Path) -> None:
    words = ("coexist", "--cc", "dctcp", "--cc", "swift", "--cc", "newreno", *SHORT, "--out", "r")
    done = incast(*words)
    assert done.status == 0, done.err
    assert "Share of the goodput" in done.out
    with (tmp_path / "r/pairs.csv").open(newline="") as file:
        rows = {(row["controller"], row["other"]): row for row in csv.DictReader(file)}
    assert len(rows) == 9
    shares = {pair: float(row["share_pct"]) for pair, row in rows.items()}
    for (a, b), share in shares.items():
        assert share + shares[b, a] == pytest.approx(100 if a != b else 2 * share)
    assert shares["dctcp", "dctcp"] == pytest.approx(50, abs=2)
    # losses alone hold NewReno back: its queue is far above what Swift allows, and above DCTCP's threshold
    assert shares["newreno", "swift"] > 75
    assert shares["newreno", "dctcp"] > 60
    assert float(rows["swift", "swift"]["jain"]) > 0.9
    assert float(rows["swift", "newreno"]["delay_mean_s"]) > 2 * float(rows["swift", "swift"]["delay_mean_s"])
    assert json.loads((tmp_path / "r/pairs.json").read_text())["meetings"][0]["share_pct"]["count"] == 2
    assert (tmp_path / "r/shares.png").read_bytes().startswith(b"\x89PNG")
    assert "report: r/report.html" in done.out
    page = (tmp_path / "r/report.html").read_text()
    share = rows["newreno", "swift"]
    written = number(Estimate(float(share["share_pct"]), float(share["share_pct_half_width"]), 2))
    assert f"<td>{written}</td>" in page
    assert "±" in written
    assert said(written) in done.out
    assert "incast coexist coexistence --cc dctcp --cc swift --cc newreno --seeds 2" in page
    assert page.count("<svg ") == 1 and "<img" not in page
    # the same words go on from what is there, and give the same bytes
    before = (tmp_path / "r/pairs.csv").read_bytes()
    assert made_in(tmp_path / "r/runs") == {"0001-0000": 6 * 2}
    assert incast(*words).status == 0
    assert (tmp_path / "r/pairs.csv").read_bytes() == before
    assert made_in(tmp_path / "r/runs") == {"0001-0000": 6 * 2}
    # the report can be made again, with other files of pictures
    again = incast("report", "r", "--format", "svg,pdf")
    assert again.status == 0, again.err
    assert "Share of the goodput" in again.out
    shown, stated = "<span>shares.png</span>", "<span>shares.svg shares.pdf</span>"
    changed = page.replace(" --out r<", " --format svg,pdf --out r<").replace(shown, stated)
    assert (tmp_path / "r/report.html").read_text() == changed
    assert {path.name for path in (tmp_path / "r").glob("shares.*")} == {"shares.svg", "shares.pdf"}
    other = incast(*words[:-2], "--set", "queue.mark=20p", "--out", "r")
    other.refused("holds other controllers or settings")


def test_shares_on_the_map_have_their_intervals() -> None:
    pairs = coexistence.parse("coexistence", ["dctcp", "swift"], 3, [])
    share = Estimate(99.2, 0.34, 3)
    found = [
        coexistence.Meeting(a.text, b.text, share, share, None, None, share)
        for a, b in itertools.product(pairs.controllers, repeat=2)
    ]
    texts = [text.get_text() for text in coexistence_page.picture(pairs, found).axes[0].texts]
    assert texts == ["99.2\n± 0.3"] * 4
    wide = [replace(meeting, share_pct=Estimate(24.3, 103.2, 3)) for meeting in found]
    assert [text.get_text() for text in coexistence_page.picture(pairs, wide).axes[0].texts] == ["20\n± 100"] * 4


def test_a_folder_of_pairs_that_is_not_finished_is_named(incast: Command, tmp_path: Path) -> None:
    words = ("coexist", "--cc", "dctcp", "--cc", "swift", *SHORT[:4], "--seeds", "1", "--out", "r")
    assert incast(*words).status == 0
    asked = json.loads((tmp_path / "r/coexistence.json").read_text())
    (tmp_path / "r/coexistence.json").write_text(json.dumps(asked | {"seeds": 2}))
    incast("report", "r").refused("is not finished", "dctcp beside dctcp, seed 2 is missing", "incast coexist")
    (tmp_path / "r/points.parquet").unlink()
    incast("report", "r").refused("is not finished", "resume with: incast coexist")
    (tmp_path / "r/coexistence.json").write_text("{")
    incast("report", "r").refused("coexistence.json is damaged")


@pytest.mark.extended(part="python")
def test_pairs_grow_in_a_store_and_need_no_original(incast: Command, tmp_path: Path) -> None:
    (tmp_path / "two.toml").write_text(Scenario.load("coexistence").toml())
    (tmp_path / "own.py").write_text(OWN)
    words = (
        "coexist",
        "two.toml",
        "--cc",
        "dctcp",
        "--cc",
        "own.py:Own",
        *SHORT[:4],
        "--out",
        "r",
        "--store",
        "lab",
        "--workers",
        "1",
    )
    done = incast(*words, "--seeds", "1")
    assert done.status == 0, done.err
    grown = incast(*words, "--seeds", "2", "--cc", "swift")
    assert grown.status == 0, grown.err
    # six pairs under two seeds, three of them there under one
    assert made_in(tmp_path / "lab") == {"0001-0000": 3, "0002-0000": 6 * 2 - 3}
    fewer = incast(*words, "--seeds", "2", "--quiet")
    assert fewer.status == 0 and "not shown, though the folder has runs: controller swift;" in fewer.err
    incast(*words, "--set", "queue.limit=300p").refused("holds other controllers or settings: --set there is")
    assert incast(*words, "--seeds", "2", "--cc", "swift", "--quiet").status == 0
    assert made_in(tmp_path / "lab") == {"0001-0000": 3, "0002-0000": 6 * 2 - 3}, "nothing was lost"
    assert "6 points, 2 seeds, 12 runs" in incast("study", "status", "r").out
    tables, page = (tmp_path / "r/pairs.csv").read_bytes(), (tmp_path / "r/report.html").read_text()
    assert "--store lab --out r" in page
    (tmp_path / "there").mkdir()
    for name in ("r", "lab"):
        (tmp_path / name).rename(tmp_path / "there" / name)
    for name in ("two.toml", "own.py"):
        (tmp_path / name).unlink()
    again = incast("report", "r", cwd=tmp_path / "there")
    assert again.status == 0, again.err
    assert (tmp_path / "there/r/pairs.csv").read_bytes() == tables
    assert (tmp_path / "there/r/report.html").read_text() == page


OWN = """
class Own:
    def init(self, env):
        self.cwnd = 30 * env.mss

    def on_ack(self, ack):
        pass

    def on_loss(self, event):
        pass

    def on_timeout(self, event):
        pass
"""


@pytest.mark.extended(part="python")
def test_any_two_controllers_share_a_fabric(incast: Command, tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(OWN)
    names = [*(name for name, _ in _core.list_kind("controllers")), "own.py:Own"]
    every = [word for name in names for word in ("--cc", name)]
    times = ("--set", "run.duration=8ms", "--set", "run.warmup=4ms")
    # rcp and d3 send at what switches grant, xcp what they allow, bolt what they have room for
    program = ("--set", 'program=[{ kind = "rcp" }, { kind = "d3" }, { kind = "xcp" }, { kind = "bolt" }]')
    done = incast("coexist", *every, *times, *program, "--seeds", "1", "--out", "r")
    assert done.status == 0, done.err
    with (tmp_path / "r/pairs.csv").open(newline="") as file:
        rows = {(row["controller"], row["other"]): row for row in csv.DictReader(file)}
    assert len(names) == 30
    assert set(rows) == set(itertools.product(names, names))
    for (a, b), row in rows.items():
        both = float(row["goodput_bps"]) + float(rows[b, a]["goodput_bps"])
        # the link carries 10 Gb/s, and no two of them leave more than half of it idle
        assert 5e9 < (both if a != b else both / float(row["share_pct"]) * 50) < 10e9, (a, b, row)


def test_what_one_gets_is_taken_from_its_own_flows() -> None:
    pairs = coexistence.parse("coexistence", ["dctcp", "swift"], 1, [("run.duration", "20ms"), ("run.warmup", "5ms")])
    (base,), names = pairs.bases.values(), pairs.entries
    assert names == ("a", "b")
    results = {}
    for a, b in pairs.lineups:
        mixed = base.with_({"traffic.a.controller": a.text, "traffic.b.controller": b.text})
        results[a.text, b.text, 1] = mixed.run(seed=1)
    found = {(m.controller, m.other): m for m in coexistence.meetings(pairs, results, names)}
    flows = results["dctcp", "swift", 1].flows.to_pydict()
    swift = sum(
        rate for rate, name in zip(flows["throughput_bps"], flows["controller"], strict=True) if name == "swift"
    )
    assert found["swift", "dctcp"].goodput_bps.mean == pytest.approx(swift)
    assert found["dctcp", "swift"].goodput_bps.mean == pytest.approx(sum(flows["throughput_bps"]) - swift)


@pytest.mark.slow("all pairs of controllers, and pictures in three formats")
def test_what_sets_entries_apart_is_told_before_the_runs(incast: Command, tmp_path: Path) -> None:
    pair = ("coexist", "--cc", "dctcp", "--cc", "swift", "--seeds", "1", *SHORT[:4])
    assert "note" not in incast(*pair, "--out", "even").err
    one = ("--set", "traffic.b.flows=1", "--set", "traffic.b.app.size=1MB", "--set", "traffic.b.jitter=0s")
    told = incast(*pair, *one, "--out", "uneven").err
    assert (
        "note: traffic.a and traffic.b differ in app.size, flows, jitter: the first controller of a pair "
        "drives a; a controller paired with itself shows the entries' effect" in told
    )
    assert "note: traffic.b.app.size: flows are finite; if all end" in told
    # as incast run tells it of each
    form = incast(*pair[:1], "--cc", "dctcp:form=ns3", *pair[3:], "--out", "form").err
    assert 'traffic.a.controller.form = "ns3" belongs beside' in form


def test_a_note_names_the_pairs_that_have_it(incast: Command) -> None:
    """A switch program for xcp is idle only where no flow of the pair is xcp's."""
    words = ["coexist", "--cc", "dctcp", "--cc", "xcp", "--seeds", "1", *SHORT[:4]]
    told = incast(*words, "--set", 'program=[{kind="xcp"}]', "--out", "idle").err
    assert "note: dctcp beside dctcp: program.0 (xcp) does nothing" in told
    assert told.count("does nothing") == 1


def test_shared_notes_name_their_cases_by_the_word_that_decides() -> None:
    cases = {(name, cc): [] for name in "ab" for cc in ("x", "y", "z", "u")}
    assert shared_notes(cases) == []
    assert shared_notes({case: ["of all", "of all"] for case in cases}) == ["of all"]
    of_two = {case: ["n"] if case[1] in "xy" else [] for case in cases}
    assert shared_notes(of_two) == ["x; y: n"]
    of_one_scenario = {case: ["n"] if case[0] == "b" else [] for case in cases}
    assert shared_notes(of_one_scenario) == ["b: n"]
    apart = {("a", "x"), ("b", "y"), ("b", "z"), ("a", "u"), ("b", "u")}
    told = shared_notes({case: ["n"] if case in apart else [] for case in cases})
    assert told == ["a, x; a, u; b, y; and 2 more: n"]


def test_datagrams_beside_two_controllers_share_nothing_fairly() -> None:
    noise = """
        [[traffic]]
        name = "noise"
        pattern = "pairs"
        flows = 1
        app = { kind = "udp", rate = "1kbps" }
    """
    text = Scenario.load("coexistence").with_({"run.duration": "20ms", "run.warmup": "5ms"}).toml() + noise
    base = Scenario.from_toml(text).with_({"traffic.a.controller": "dctcp", "traffic.b.controller": "dctcp"})
    run = base.run()
    # of nine flows one has a millionth of the others' rates: a ninth of the index goes
    assert run.summary["flows"]["jain"] == pytest.approx(8 / 9 * coexistence._jain(run), rel=1e-4)
    goodputs = [run.summary["groups"][name]["flows"]["goodput_total_bps"] for name in "ab"]
    assert sum(rates_of(run.flows, run.datagrams)) == pytest.approx(sum(goodputs))


def test_what_does_not_exist_is_not_a_number(incast: Command, tmp_path: Path) -> None:
    late = ("--set", "run.duration=1ms", "--set", "run.warmup=0s", "--set", "traffic.a.start=10ms")
    done = incast("coexist", "--cc", "dctcp", "--cc", "swift", "--seeds", "1", *late, "--out", "r")
    assert done.status == 0, done.err
    assert "nan" not in done.out
    assert "NaN" not in (tmp_path / "r/pairs.json").read_text()
    assert "nan" not in (tmp_path / "r/pairs.csv").read_text()


ELEPHANTS = ("--cc", "dctcp", "--cc", "swift", "--set", "topology.k=4", "--set", 'traffic.elephants.app={kind="bulk"}')


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--cc", "dctcp"), "expected at least two controllers"),
        (("--cc", "dctcp", "--cc", "dctcp"), "is given twice"),
        (("two-senders", "--cc", "dctcp", "--cc", "swift"), "two-senders has 1 traffic entry: expected two"),
        (
            ("permutation-elephants", "--cc", "dctcp", "--cc", "swift"),
            "permutation-elephants has 1 traffic entry that controllers govern: expected two",
        ),
        (("--cc", "dctcp", "--cc", "swift", "--set", "run.seed=3"), "not allowed, since --cc and --seeds set it"),
        (
            ("--cc", "dctcp", "--cc", "swift", "--set", "traffic.a.controller=bbr"),
            "not allowed, since --cc and --seeds set it",
        ),
        (("--cc", "dctcp", "--cc", "swft"), "did you mean"),
        (
            ("--cc", "dctcp", "--cc", "swift", "--seeds", "1000000"),
            "1,000,000 seeds of 3 pairs of controllers are 3,000,000 runs: expected at most",
        ),
        (
            ("permutation-elephants", *ELEPHANTS, "--set", "traffic.elephants.flows=0"),
            "traffic.elephants.flows = 0: expected at least one flow for each controller",
        ),
    ],
)
def test_mistakes_name_what_was_expected(incast: Command, tmp_path: Path, words: tuple[str, ...], message: str) -> None:
    incast("coexist", *words, "--out", "r").refused(message)
    assert not (tmp_path / "r").exists()


def test_a_folder_of_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "note").write_text("mine")
    pairs = coexistence.parse("coexistence", ["dctcp", "swift"], 1, [])
    with pytest.raises(FolderError, match="not empty"):
        coexistence.carry_out(pairs, tmp_path)
    with pytest.raises(StudyError, match="at least two"):
        coexistence.parse("coexistence", [], 1, [])
    assert Scenario.load("coexistence").notes() == []


def test_labels_say_what_governs(tmp_path: Path) -> None:
    """Of flows that another control than the one of ``--cc`` governs nothing else is said to be of ``--cc``."""
    asked = Controller("swift:target=min-rtt")
    for governing, label in {
        ("swift",): "swift min-rtt",
        ("swift+udp",): "swift min-rtt",
        (): "swift min-rtt",
        ("nscc+udp",): "swift min-rtt (nscc governs)",
        ("nscc+rccc",): "swift min-rtt (nscc and rccc govern)",
        ("swift", "homa"): "swift min-rtt (homa governs in part)",
    }.items():
        told = asked.beside(governing)
        assert (told.label, told.name, told) == (label, "swift min-rtt", asked)
    assert Controller("own.py:Mine").beside(["own.py:Mine"]).label == "Mine"
    done = compare("dumbbell", ["dctcp"], seeds=1, settings=SHORTEST, out=tmp_path / "c", workers=1).comparison
    assert [one.label for one in done.study.controllers] == ["dctcp"]
    points = pq.read_table(tmp_path / "c/points.parquet")
    place = points.column_names.index("controller")
    pq.write_table(points.set_column(place, "controller", pa.array(["nscc"])), tmp_path / "c/points.parquet")
    done = load(tmp_path / "c")
    assert [one.label for one in done.study.controllers] == ["dctcp (nscc governs)"]
    assert {case.controller.label for case in done.runs} == {"dctcp (nscc governs)"}
    assert json.loads(done.study.json())["controllers"] == [{"text": "dctcp"}]


def test_labels_of_pairs_say_what_governs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A controller is governed as it is beside itself."""
    pairs = coexistence.parse("coexistence", ["dctcp", "swift"], 1, [])
    known = dict(zip(pairs.cases(), ("dctcp", "dctcp+swift", "nscc"), strict=True))
    monkeypatch.setattr(Home, "governing", lambda *_: known)
    told = report_folder.governed(pairs, Home(tmp_path, tmp_path, "pairs"))
    assert [one.label for one in told.controllers] == ["dctcp", "swift (nscc governs)"]
    assert (told, told.arms(), told.folder_name()) == (pairs, pairs.arms(), pairs.folder_name())
