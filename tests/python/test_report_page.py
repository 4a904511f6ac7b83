"""The page of a comparison: its first screen, the order of its sections, texts that stand once, pictures inside it."""

from __future__ import annotations

import base64
import io
import json
import re
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from conftest import Command
from incast import Scenario
from incast.comparisons.comparison import load
from incast.pictures import heat_map, inline
from incast.pictures.fabric import fabric
from incast.pictures.interval_plot import Footnote, Points, draw_points, fit_a_log_axis, thinned
from incast.pictures.style import new_canvas
from incast.report import reproduce
from incast.report.comparison_page import print_table
from incast.report.document import contents, document, drawn
from incast.report.figures import ACTIVE, COMPLETION_FIGURES, FIGURES, ordered
from incast.report.merging import Case, merged, ranged
from incast.report.page_tables import even
from incast.runs.completions import Bins, Reading, Sizes, usual_of
from incast.runs.described import Tier, described, spoken

SPACE = "\N{NO-BREAK SPACE}"


def names(sized: bool, everything: bool = False) -> list[str]:
    return [figure.name for figure in ordered([*FIGURES, *COMPLETION_FIGURES], sized, everything)]


def test_the_order_of_figures_follows_the_kind_of_traffic() -> None:
    endless, sized = names(sized=False), names(sized=True)
    assert endless[-7:] == ["throughput", "delay-mean", "delay-p99", "loss", "queue", "fairness", "timeouts"]
    assert sized[:2] == ["fct-mean", "fct-p99"], "completion times come first"
    assert sized[-6:] == ["throughput", "loss", "queue", "delay-mean", "delay-p99", "timeouts"]
    assert "fairness" not in sized, "rates of flows of different sizes are not shares of one thing"
    assert names(sized=True, everything=True)[-1] == "fairness", "files have every figure"
    assert ordered([ACTIVE], True) == [ACTIVE]


def test_default_bins_mean_something_and_narrow_sizes_get_decades() -> None:
    def bins(*sizes: float) -> Bins:
        return usual_of([Sizes(("e",), min(sizes), max(sizes))])

    assert bins(10, 3e7).labels == ("below 10 kB", "10 to 100 kB", "100 kB to 1 MB", "1 to 10 MB", "from 10 MB")
    assert bins(2e4, 3e5) == bins(10, 3e7), "bins without flows are left out later"
    assert bins(100, 5e3).labels == ("below 1 kB", "from 1 kB")
    assert usual_of([]) == Bins(())


def test_texts_that_differ_in_numbers_stand_once_with_their_range() -> None:
    assert ranged(["8 of 8,691 flows finished", "10 of 8,691 flows finished"]) == "8 to 10 of 8,691 flows finished"
    assert ranged(["port leaf0>spine1 lost 3", "port leaf0>spine1 lost 2.5"]) == "port leaf0>spine1 lost 2.5 to 3"
    cases: dict[Case, list[str]] = {
        (f"K = {k}p", cc): [f"{n} flows lost"] for k, n in ((15, 3), (65, 5)) for cc in ("dctcp", "swift")
    }
    assert merged(cases) == ["in all 4 settings: 3 to 5 flows lost"]
    cases["K = 15p", "swift"] = cases["K = 65p", "swift"] = []
    assert merged(cases) == ["dctcp: 3 to 5 flows lost"], "the controller decides"
    assert merged({("", "dctcp"): ["3 flows lost", "4 flows lost"]}) == ["3 to 4 flows lost"], "no setting to name"
    many: dict[Case, list[str]] = {(f"{i}", c): ["x"] if i % 2 == (c == "b") else [] for i in range(8) for c in "ab"}
    assert merged(many) == ["0, a; 1, b; 2, a; and 5 more: x"]
    assert merged({("1", "a"): ["port s0 is busy"], ("2", "a"): ["port s1 is busy"]}) == [
        *("1: port s0 is busy", "2: port s1 is busy"),
    ]


@pytest.mark.parametrize(
    "name", ["leaf-spine", "websearch", "dumbbell", "wireless-cell", "linux-dumbbell", "pfc-incast"]
)
def test_every_scenario_is_described_without_a_key_or_an_empty_text(name: str) -> None:
    found = described(Scenario.load(name).resolved())
    assert (found.name, bool(found.description)) == (name, True)
    terms = [term for term, _ in found.rows]
    assert {"Fabric", "Queues", "Transport", "Controller", "Run"} <= set(terms)
    assert terms[-1] == "Run"
    assert all(text and "{" not in text and "None" not in text for _, text in found.rows)


def test_a_scenario_is_described_in_words_and_units() -> None:
    changes: dict[str, Any] = {"queue.mark": "15p", "run.warmup": "10ms", "topology.link.delay": "1.5us"}
    rows = dict(described(Scenario.load("leaf-spine").with_(changes).resolved()).rows)
    assert rows["Fabric"] == "Leaf-spine: 64 hosts, 4 leaf switches and 4 spine switches; oversubscription 2:1"
    links = "10 Gb/s, 1.5 µs (host to leaf); 20 Gb/s, 1.5 µs (leaf to spine)"
    assert rows["Links"].replace(SPACE, " ") == links
    assert rows["Queues"].replace(SPACE, " ") == "ECN threshold, marks from 15 packets on, at most 1 MB a port"
    assert rows["Traffic"].replace(SPACE, " ") == "128 flows between random pairs of hosts, 1 MB each"
    assert rows["Run"].replace(SPACE, " ") == "100 ms, measured from 10 ms on"
    assert [spoken(text) for text in ("1p", "2666p", "auto", "inf")] == [
        *(f"1{SPACE}packet", f"2,666{SPACE}packets", "auto", "inf"),
    ]


def test_rails_are_described_and_drawn_plane_by_plane() -> None:
    topology: dict[str, Any] = {
        "kind": "rail-optimised",
        "servers": 4,
        "gpus": 2,
        "servers_per_segment": 2,
        "spines": 3,
    }
    topology |= {"planes": 2, "link": {"rate": "400Gbps", "delay": "500ns"}}
    found = described({"topology": topology, "traffic": [], "run": {"duration": "1ms"}})
    rows = dict(found.rows)
    assert rows["Fabric"] == (
        "Rail-optimised: 4 servers of 2 GPUs, 16 NICs, 8 leaf switches and 6 spine switches, in 2 planes"
    )
    assert rows["Links"].replace(SPACE, " ") == "200 Gb/s, 500 ns"
    # a link of each NIC; in each plane 4 leaves with 3 spines
    assert fabric(found.tiers).count("<path") == 16 + 2 * 12
    alone = {"kind": "rail-only", "servers": 4, "gpus": 4, "link": topology["link"]}
    found = described({"topology": alone, "traffic": [], "run": {"duration": "1ms"}})
    assert dict(found.rows)["Fabric"] == "Rail-only: 4 servers of 4 GPUs, 16 NICs and 4 rail switches"
    assert fabric(found.tiers).count("<path") == 16


def test_a_fabric_is_drawn_with_every_link_of_a_small_one() -> None:
    tiers = described(Scenario.load("websearch").resolved()).tiers
    assert [(tier.name, tier.count) for tier in tiers] == [
        *(("hosts", 16), ("edge switches", 8), ("aggregation switches", 8), ("core switches", 4)),
    ]
    drawing = fabric(tiers)
    # 16 links of hosts, and 16 between each two of the tiers above
    assert drawing.count("<path") == 48
    assert drawing.count("<rect") == 36
    assert fabric(()) == ""
    large = fabric((Tier("hosts", 100_000, "<b>", 500), Tier("leaf switches", 500)))
    assert large.count("<rect") == 40, "a sample stands for many"
    assert "100,000 hosts" in large
    assert "<b>" not in large


def test_data_of_a_report_are_inside_or_said_to_be_outside() -> None:
    link, _, name = reproduce.beside("runs.csv", "a,b\n1,2\n").partition('" download="')
    assert (base64.b64decode(link.partition("base64,")[2]), name) == (b"a,b\n1,2\n", 'runs.csv">runs.csv</a>')
    for data in (None, "x" * (reproduce.SMALL + 1)):
        outside = reproduce.beside("runs.csv", data)
        assert outside == '<a href="runs.csv">runs.csv</a> (a file of its own, beside this page)'
    long = reproduce.section("incast run", "", [reproduce.Ran("<g>", "x" * (reproduce.LONGEST + 1), "seed 1")])
    assert "&lt;g&gt;: its text has" in long and "xx" not in long


def a_picture() -> str:
    canvas = new_canvas(4, 3)
    axes = canvas.subplots()
    readings = [Reading({1: 1.0, 2: 2.0}, {1: 1.0, 2: 2.0}), Reading({1: 3.0, 2: 3.5}, {1: 3.0, 2: 3.5})]
    lines = [Points(f"cc{i}", i, [1.0, 2.0], readings, [f"cc{i} <first>", f"cc{i} second"]) for i in range(2)]
    draw_points(axes, lines, 1.0, Footnote(), False)
    return inline.svg(canvas, "picture")


def test_a_picture_inside_a_page_takes_its_colours_and_tells_its_points() -> None:
    svg = a_picture()
    assert svg == a_picture(), "the same bytes"
    assert "var(--c1)" in svg and "var(--c2)" in svg and "var(--ground)" in svg
    assert not re.search(r"#[0-9a-f]{6}", svg), "no colour of its own"
    assert "font-family" not in svg and "DejaVu" not in svg
    assert re.findall(r"<title>(.*?)</title>", svg) == [
        *("cc0 &lt;first&gt;", "cc0 second", "cc1 &lt;first&gt;", "cc1 second"),
    ]
    assert svg.count('data-line="0"') == svg.count('data-line="1"') >= 2, "line and band are switched together"
    used = set(re.findall(r'(?:url\(|href=")#([\w.-]+)', svg))
    assert used and used == set(re.findall(r'id="([\w.-]+)"', svg)), "identifiers resolve, and are needed"
    assert all(one.startswith("picture-") for one in used)
    assert len(svg) < 20_000


def test_a_picture_of_very_many_points_is_a_png(monkeypatch: pytest.MonkeyPatch) -> None:
    canvas = new_canvas(4, 3)
    canvas.subplots().plot([1, 2], [1, 2])
    made = inline.elements({"p": canvas}, {"p": b"png"})
    assert made["p"].startswith("<svg ")
    monkeypatch.setattr(inline, "LONGEST", 10)
    picture = drawn(inline.elements({"p": canvas}, {"p": b"png"})["p"], "p", "Many", ("pdf",))
    assert '<img alt="Many" src="data:image/png;base64,cG5n">' in picture and "p.pdf" in picture


def test_text_of_a_heat_map_keeps_its_colour_in_a_dark_page() -> None:
    """Cells have the same colours in both themes: their text is no variable of the theme."""
    cells = {("a", "x"): 1.0, ("b", "x"): 9.0}
    panel = heat_map.Panel("t", ("a", "b"), ("x",), cells, {place: f"cell {place[0]}" for place in cells})
    made = inline.svg(heat_map.draw([panel], "k", "l", "f"), "map")
    texts = re.findall(r'<text style="[^"]*fill: ([^;"]+)[^>]*>cell', made) or re.findall(r"<text[^>]*>cell [ab]", made)
    assert len(texts) == 2 and all("var(" not in text for text in texts)


def test_figures_of_one_value_have_a_log_axis_only_if_they_span_one() -> None:
    def lines(*values: float) -> list[Points]:
        return [Points("a", 0, [float(i)], [Reading({1: v}, {1: v})]) for i, v in enumerate(values)]

    assert fit_a_log_axis(lines(4.6, 6.4))
    assert not fit_a_log_axis(lines(4.6, 6.4), alone=True)
    assert fit_a_log_axis(lines(1.0, 64.0), alone=True)


def test_a_thinned_series_keeps_its_extremes() -> None:
    times, values = [float(i) for i in range(10_000)], [float(i == 777) for i in range(10_000)]
    kept_times, kept = thinned(times, values, 100)
    assert len(kept) <= 200
    assert max(kept) == 1.0
    assert kept_times == sorted(kept_times)
    assert thinned([1.0, 2.0], [3.0, 4.0], 100) == ([1.0, 2.0], [3.0, 4.0])


def test_tables_are_as_few_and_as_even_as_possible() -> None:
    assert [len(some) for some in even(FIGURES, 6)] == [4, 3]
    assert [len(some) for some in even(FIGURES[:6], 6)] == [6]
    assert even([], 6) == []


def test_contents_name_the_sections_and_pictures_their_files() -> None:
    parts = [
        '<section id="a-b" class="x"><h2>First</h2></section>',
        "<p>",
        '<section id="c">\n<h2>Second</h2></section>',
    ]
    assert re.findall(r'<a href="#([\w-]+)">(\w+)</a>', contents(parts)) == [("a-b", "First"), ("c", "Second")]
    big = drawn('<svg width="900" height="2"></svg>', "loss", "Loss", ("png", "svg"))
    assert "<figure class=big>" in big and "loss.png loss.svg" in big and 'aria-label="Loss"' in big


class Page(HTMLParser):
    """Reads a page: sections with headings in order, identifiers, links, buttons, and what it would fetch."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.identifiers: list[str] = []
        self.sections: list[str] = []
        self.links: list[str] = []
        self.fetched: list[str] = []
        self.pressed: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        own = {name: value or "" for name, value in attrs}
        self.identifiers += [own["id"]] if "id" in own else []
        self.sections += [own["id"]] if tag == "section" and "id" in own else []
        self.links += [own["href"]] if tag == "a" else []
        self.pressed += [own["data-number"]] if tag == "button" and own.get("aria-pressed") == "true" else []
        self.fetched += [own[name] for name in ("src", "srcset", "data", "action") if name in own]
        assert tag not in ("link", "iframe", "object")


HOSTILE = "</style><hostile>'\"&"


@pytest.mark.slow("a comparison with its report")
def test_a_page_has_title_scenario_and_sections_in_order(incast: Command, tmp_path: Path) -> None:
    words = ("compare", "websearch", "--cc", "dctcp", "--cc", "swift", "--seeds", "2", "--out", "w")
    short = ("--set", "run.duration=3ms", "--set", "traffic.websearch.arrivals.until=1ms", "--quiet")
    text = {"title": f"Which? {HOSTILE}", "note": f"Asked by {HOSTILE}"}
    answer = incast(*words, *short, "--title", text["title"], "--note", text["note"])
    assert answer.status == 0, answer.err
    page = (tmp_path / "w/report.html").read_text(encoding="utf-8")
    read = Page(page)
    order = ["slowdowns", "numbers", "over-time", "differences", "definitions", "reproduce"]
    assert [one for one in read.sections if one in order] == order
    texts = [unescape(one) for one in re.findall(r'<pre class="copy"><code>(.*?)</code></pre>', page, re.DOTALL)]
    assert texts[0].startswith("incast compare websearch --cc dctcp")
    run = next(iter(load(tmp_path / "w").runs.values()))
    assert Scenario.from_toml(texts[1]).with_seed(1).hash == run.manifest["hash"], "the text is that of the run"
    assert "Other runs have controller swift; seed 2." in page
    outside = [link for link in read.links if not link.startswith(("#", "data:application/octet-stream;base64,"))]
    assert outside == [], "a page that is sent has no dead links"
    assert {link[1:] for link in read.links if link.startswith("#")} <= set(read.identifiers)
    assert len(read.identifiers) == len(set(read.identifiers)), "no identifier twice"
    assert read.fetched == []
    assert read.pressed == ["0", "1"], "a button for each controller"
    assert "<hostile>" not in page
    for said in ("&lt;hostile&gt;", "Fat tree, k = 4: 16 hosts", "Poisson arrivals", "What was simulated"):
        assert said in page
    assert "run.duration = 3ms</h" not in page and "value of" not in page, "one point needs no value"
    assert "Jain" not in page.partition('id="definitions"')[0]
    written = json.loads((tmp_path / "w/comparison.json").read_text())
    assert {key: written[key] for key in text} == text
    assert "16 hosts" in written["simulated"]["websearch"]["Fabric"]
    assert "flows.jain" in written["points"][0]
    before = page
    # title and note are kept by a command without them, and by the report
    for again in ((*words, *short), ("report", "w", "--quiet")):
        assert incast(*again).status == 0
        assert (tmp_path / "w/report.html").read_text(encoding="utf-8") == before


@pytest.mark.extended(part="python")
def test_a_terminal_of_80_columns_gets_one_table_and_is_told_the_rest(incast: Command, tmp_path: Path) -> None:
    words = ("compare", "dumbbell", "--cc", "dctcp", "--cc", "swift:target=min-rtt,epsilon=auto", "--seeds", "1")
    short = ("--vary", "queue.mark=10p,65p", "--set", "run.duration=4ms", "--set", "run.warmup=1ms", "--out", "d")
    answer = incast(*words, *short, "--quiet")
    assert answer.status == 0, answer.err
    printed = io.StringIO()
    print_table(load(tmp_path / "d"), Console(file=printed, width=80))
    table, _, rest = printed.getvalue().partition("\n0 in all runs")
    assert max(map(len, table.splitlines())) <= 80
    assert table.count("dumbbell: means over 1 seed") == 1
    assert "lack of space" not in rest
    print_table(load(tmp_path / "d"), Console(file=(narrow := io.StringIO()), width=60))
    assert re.search(r"in the report alone, for lack of space: .*Jain\n", narrow.getvalue())
    assert (tmp_path / "d/report.html").stat().st_size < 300_000


def test_a_text_too_long_for_a_page_is_told_by_its_characters() -> None:
    long = reproduce.Ran("graph", "#" * (reproduce.LONGEST + 1), "")
    told = reproduce.section("incast compare graph", "", [long])
    assert "graph: its text has 262,145 characters, and is in the folder of a run alone." in told


def test_the_grid_of_the_first_screen_is_no_style_of_rows() -> None:
    """Rows of tables have the class too: as a grid their cells would leave their columns."""
    style = document("t", [""]).partition("<style>")[2].partition("</style>")[0]
    assert [one for one in re.findall(r"([\w.]*\.first)\{[^}]*grid", style) if one != "div.first"] == []


@pytest.mark.slow("a comparison with its report")
def test_runs_that_end_long_before_their_duration_have_a_picture_over_time(incast: Command, tmp_path: Path) -> None:
    bulk = 'traffic=[{name="t", pattern="hotspot", flows=2, app={kind="bulk", size="100kB"}}]'
    words = ("compare", "dumbbell", "--cc", "dctcp", "--seeds", "1", "--set", bulk, "--set", "run.warmup=0s")
    done = incast(*words, "--set", "run.duration=30s", "--set", "run.measure_until=100us", "--out", "c")
    assert (tmp_path / "c/over-time.png").is_file(), done.err
    assert "0 in the measured interval of all runs, which go on after it: " in done.out
