"""A paper's folder: what it may say, and how mistakes in it are told."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pyarrow as pa
import pytest

from conftest import ROOT, Command
from incast.errors import PaperError
from incast.papers import definition, expression, judging, page, reading
from incast.papers.definition import Measure, Series
from incast.papers.drawing import looks
from incast.papers.judging import judge
from incast.papers.measuring import reduced
from incast.papers.verdict import Verdict
from incast.pictures.style import COLOURS, HATCHES
from own_paper import PAPER, SCENARIO, WORKED_OUT

MISTAKES = [
    ('title = "A small study"', "titel = 1", "title: missing: expected a text"),
    ('scenario = "fig1.toml"', 'scenario = "fig9.toml"', "figures.fig1.scenario = 'fig9.toml': expected a file"),
    ("seeds = 2", "seeds = 0", "figures.fig1.seeds = 0: expected a whole number of at least 1"),
    ("seeds = 2", "seeds = 2\nsead = 3", 'figures.fig1.sead = 3: unknown key (did you mean "seeds"?)'),
    ('kind = "line"', 'kind = "lime"', "figures.fig1.plots[0].kind = 'lime': expected one of line, scatter, cdf"),
    ('y = ["delay"]', 'y = ["dealy"]', "figures.fig1.plots[0].y: expected measures of the figure: delay"),
    ("delay('DCTCP', 40) >= 1e6", "dealy('DCTCP', 40) >= 1e6", "figures.fig1.claims[1].holds = "),
    ("delay('DCTCP', 40) >= 1e6", "__import__('os')", "__import__() is unknown"),
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
        "figures.fig1.points: expected at least one, with unique names, and 4 is given twice",
    ),
    ("[figures.fig1]\n", '[figures."a\\u001b[31m\\nb"]\n', r"figures.a\u{1b}[31m\nb: expected a name of letters"),
    ('scenario = "fig1.toml"', 'scenario = "../no.toml"', "'../no.toml': expected a file inside "),
    (
        "delay('DCTCP', 40) >= 1e6",
        "delay('DCTCP', '40') >= 1e6",
        "delay: no point '40': expected the number 40 without quotes",
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
    ("delay('DCTCP', 40) >= 1e6", "delay('DCTCP', 40) > published('delay', 'DCTCP', 4)", "no published number for"),
    ("delay('DCTCP', 40) >= 1e6", "model('swfit', 'throughput_bps', 'q', 0.1) > 1", "model: "),
    (
        'says = "DCTCP\'s delay is a second"',
        'each = [{ n = "1" }]\nsays = "{m} seconds"',
        "figures.fig1.claims[1].each: has no m, which {m} needs; expected one of n",
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
    ('{ name = "Swift" }', '{ name = "Swift", look = 65 }', "figures.fig1.series[0].look = 65: expected 1 to 64"),
    ('title = "Delay over flows"', 'like = "fig2"', "figures.fig1.like = 'fig2': expected an earlier figure"),
    ('title = "A small study"', 'title = "A"\nanswer = "fig2"', "answer = 'fig2': expected one of fig1"),
    (
        'kind = "line"\ny = ["delay"]',
        'kind = "scatter"\nx = "dealy"\ny = "delay"',
        "x = 'dealy': expected one of delay",
    ),
    (
        '{ name = "Swift" }',
        '{ name = "Swift", values = { dealy = "x" } }',
        "figures.fig1.series[0].values.dealy = 'x': expected measures of the figure: delay",
    ),
    ('{ name = "Swift" }', '{ name = "Swift", values = { delay = "y" } }', "figures.fig1.series[0].values.delay = 'y'"),
    (
        '{ name = "Swift" }',
        '{ name = "Swift", values = { delay = "x" }, set = { controller = "swift" } }',
        "figures.fig1.series[0].set: not allowed with values: such a series has no runs",
    ),
    (
        "{ x = 40, set",
        '{ x = 40, scenario = "no.toml", set',
        "figures.fig1.points[1].scenario = 'no.toml': expected a file",
    ),
    (
        "each_seed = true",
        "each_seed = true\npaired = true",
        "figures.fig1.claims[0].paired = True: expected false with each_seed: a difference of one seed has no interval",
    ),
    (
        "holds = \"delay('DCTCP', 40) >= 1e6\"",
        "paired = true\nholds = \"delay('DCTCP', 40) == 1\"",
        "paired: noisy numbers are never equal",
    ),
    (
        "holds = \"delay('DCTCP', 40) >= 1e6\"",
        "paired = true\nholds = \"any(delay('DCTCP', n) > 1 for n in x() if delay('Swift', n) > 1.5)\"",
        "paired: conditions may only use points",
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
        reading.load(paper)
    assert str(raised.value).startswith(str(paper / "paper.toml"))


def test_a_paper_that_is_no_text_or_names_files_elsewhere_is_refused(paper: Path) -> None:
    (paper / "paper.toml").write_bytes(PAPER.replace("Nobody", "N\xfcbody").encode("latin-1"))
    with pytest.raises(PaperError, match=r"paper.toml, line 3: expected UTF-8 text: byte 0xfc is invalid"):
        reading.load(paper)
    (paper / "paper.toml").write_text(PAPER.replace("[figures.fig1]", '[figures."../../fig1"]'))
    with pytest.raises(PaperError, match=r"figures.\.\./\.\./fig1: expected a name of letters"):
        reading.load(paper)


@pytest.mark.extended(part="python")
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
    """Keys that a figure lacks are the other's, tables go key by key, and each row of ``each`` is an entry."""
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
    figures = reading.load(paper).figures
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


def paired(text: str, numbers: dict[tuple[str, int], list[float]], folder: Path) -> judging.Finding:
    """Judge a paired claim of the small paper's numbers, by series and point a list over its seeds."""
    (folder / "paper.toml").write_text(
        PAPER.replace('says = "DCTCP\'s delay is a second"', 'says = "paired"\npaired = true').replace(
            "delay('DCTCP', 40) >= 1e6", text
        )
    )
    figure = reading.load(folder).figures["fig1"].at("small")
    (claim,) = [one for one in figure.claims if one.says == "paired"]

    def number(_: str, series: str, x: definition.X, seed: int | None) -> float:
        values = numbers[series, int(x)]
        return sum(values) / len(values) if seed is None else values[seed - 1]

    return judge(figure, claim, number)


@pytest.mark.parametrize(
    ("dctcp", "expected"),
    [
        ([20.0, 30.0], Verdict.HOLDS),  # one above Swift in each seed, whatever the seeds themselves differ by
        ([18.0, 28.0], Verdict.FAILS),
        ([20.0, 28.0], Verdict.OPEN),
        ([19.0, 29.0], Verdict.FAILS),  # the very same is not above
    ],
)
def test_paired_claims_are_judged_by_differences_seed_by_seed(
    paper: Path, dctcp: list[float], expected: Verdict
) -> None:
    numbers = {("Swift", 4): [19.0, 29.0], ("DCTCP", 4): dctcp}
    found = paired("delay('DCTCP', 4) > delay('Swift', 4)", numbers, paper)
    assert found.verdict is expected
    assert found.numbers == [f"Mean delay, DCTCP at 4: {sum(dctcp) / 2:.4g} us", "Mean delay, Swift at 4: 24 us"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # Swift: 10 at 4, 12 at 40; DCTCP: 10.1 or 9.9 at 4, 20 at 40
        ("delay('Swift', 4) < 11 and delay('DCTCP', 4) < 10.5", Verdict.OPEN),
        ("delay('Swift', 4) > 11 and delay('DCTCP', 4) < 10.5", Verdict.FAILS),
        ("delay('Swift', 4) < 11 or delay('DCTCP', 4) < 10.5", Verdict.HOLDS),
        ("delay('Swift', 4) > 11 or delay('DCTCP', 4) < 10.5", Verdict.OPEN),
        ("not delay('DCTCP', 4) < 10.5", Verdict.OPEN),
        ("all(delay(s, 40) > delay(s, 4) for s in ['Swift', 'DCTCP'])", Verdict.HOLDS),
        ("all(delay(s, n) > 8.5 for s in ['Swift', 'DCTCP'] for n in x() if n > 4)", Verdict.HOLDS),
        ("any(delay('DCTCP', n) > 10.5 for n in x())", Verdict.HOLDS),
        ("rising(delay('Swift')) and rising(delay('DCTCP'))", Verdict.HOLDS),
        ("within(delay('DCTCP', 4), 10, 0.05)", Verdict.OPEN),
        ("within(delay('Swift', 4), 10, 0.05)", Verdict.HOLDS),
        ("within(delay('Swift', 40), 10, 0.05)", Verdict.FAILS),
        ("ratio(delay('DCTCP', 40), delay('Swift', 40)) >= 1.5", Verdict.HOLDS),
    ],
)
def test_what_is_undecided_passes_through_and_or_and_not(paper: Path, text: str, expected: Verdict) -> None:
    numbers = {
        ("Swift", 4): [10.0, 10.0],
        ("Swift", 40): [12.0, 12.0],
        ("DCTCP", 4): [10.1, 9.9],
        ("DCTCP", 40): [20.0, 20.0],
    }
    assert paired(text, numbers, paper).verdict is expected


def test_one_seed_leaves_a_paired_claim_undecided_and_the_line_says_so(paper: Path) -> None:
    text = PAPER.replace("seeds = 2", "seeds = 1").replace("each_seed = true", "paired = true")
    (paper / "paper.toml").write_text(text)
    figure = reading.load(paper).figures["fig1"].at("small")
    found = judge(figure, figure.claims[0], lambda _, __, x, ___: float(x))
    assert found.verdict is Verdict.OPEN
    assert page.count_of([found]) == "undecided"
    held = judging.Finding(figure.claims[0], Verdict.HOLDS, [])
    assert page.count_of([found, held, held]) == "2 of 3 claims hold, 1 undecided"


def test_a_figure_whose_claims_have_no_numbers_is_not_tested(paper: Path) -> None:
    one = [judging.Finding(claim, Verdict.UNTESTED, []) for claim in reading.load(paper).figures["fig1"].claims]
    assert page.count_of(one[:1]) == "not tested"
    assert page.count_of(one) == "not tested"


def test_series_keep_the_look_that_they_ask_for() -> None:
    assert len(COLOURS) * len(HATCHES) == definition.LOOKS
    series = [Series("a"), Series("b", look=1), Series("c"), Series("d", look=3)]
    assert looks(series) == [1, 0, 3, 2]
    assert looks([Series(f"{i}") for i in range(10)]) == list(range(10)), "more than eight differ too"
    assert looks([Series(f"{i}", look=1 + i % 8) for i in range(9)]) == [0, 1, 2, 3, 4, 5, 6, 7, 0]


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
    assert of("max", less="flow") == 2, "1 - 0, 2 - 0, 3 - 1 and 3 - 1"
    assert of("median") == 2, "nearest rank"
    assert of("p99") == 3
    assert of("min", (0.6, 0.7)) is None
    assert of("sum", where={"flow": "> 0"}) == of("sum", where={"flow": ">=1"}) == 6
    assert of("count", where={"flow": "< 1"}) == 2
    assert of("count", where={"flow": ">= 0 and < 1"}) == 2
    assert of("count", where={"flow": "> 0 and < 1"}) == 0
    assert of("count", where={"flow": "!= 0", "finish_s": "<= 0.3"}) == 1
    assert of("count", where={"bytes": "< 9"}) == 4, "a null fits no comparison"
    assert of("sum", where={"group": "a*"}) == of("sum", where={"group": "*a"}) == 3
    assert of("count", where={"group": "*.*"}) == 0, "a dot is a dot"
    assert of("count", where={"group": "not a*"}) == of("count", where={"group": "not a"}) == 2
    assert of("count", where={"group": "not *"}) == 0
    with pytest.raises(PaperError, match=r'where\.group = "group": expected a column of numbers'):
        of("sum", where={"group": "> 0"})
    with pytest.raises(PaperError, match='table writes has no column "size"'):
        reduced(table, Measure("m", "M", table="writes", column="size"), None)


def test_the_documentation_names_every_paper_and_every_function() -> None:
    index = (ROOT / "docs/papers/index.md").read_text(encoding="utf-8")
    for name in reading.names():
        assert f"| `{name}` |" in index
        assert (ROOT / f"docs/papers/{name}.md").is_file()
    page = (ROOT / "docs/papers/adding.md").read_text(encoding="utf-8")
    known = set(re.findall(r"`(\w+)(?:\([\w, ]+\))?`", page.partition("**Claims.**")[2]))
    assert set(expression.FUNCTIONS) <= known
    for word in (*reading.PLOTS, *reading.REDUCTIONS, *reading.TABLES):
        assert re.search(rf"\b{word}\b", page)


@pytest.mark.extended(part="python")
def test_the_paper_of_the_documentation_is_a_folder_and_no_code(incast: Command, tmp_path: Path) -> None:
    """The documented scenario, published number, derived series and claims run and print as documented."""
    page = (ROOT / "docs/papers/adding.md").read_text(encoding="utf-8")
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
    assert answer.out.startswith("fig2: in part, all 2 claims hold - Delay over load, with a buffer of 2 MB\n")


PUBLISHED = 'published = [{ series = "DCTCP", x = 40, measure = "delay", value = 500.0 }]'


def test_published_numbers_stand_in_a_file(tmp_path: Path) -> None:
    """A row a series and point, a column a measure; comments and empty cells are no numbers."""
    assert PUBLISHED in PAPER
    (tmp_path / "paper.toml").write_text(PAPER.replace(PUBLISHED, 'published = "numbers.csv"'), encoding="utf-8")
    (tmp_path / "fig1.toml").write_text(SCENARIO, encoding="utf-8")
    (tmp_path / "numbers.csv").write_text("# theirs\nseries,x,delay\nSwift,4,\nDCTCP,40,500\n", encoding="utf-8")
    (one,) = reading.load(tmp_path).figures["fig1"].published
    assert (one.series, one.x, one.measure, one.value) == ("DCTCP", 40, "delay", 500.0)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("series,x,dealy\nDCTCP,40,5\n", "column dealy: expected series, x, and measures of the figure: delay"),
        ("series,delay\nDCTCP,5\n", "expected the columns series, x, and at least one measure of the figure"),
        ("series,x,delay\nDCTCQ,40,5\n", "row 1.series = 'DCTCQ': expected one of Swift, DCTCP"),
        ("series,x,delay\nDCTCP,40,5\nDCTCP,41,5\n", "row 2.x = 41.0: expected a point of the figure: 4, 40"),
        ("series,x,delay\nDCTCP,40,five\n", "row 1.value = 'five': expected a number"),
        ("series,x,delay\nDCTCP,40\n", "row 1: expected 3 values, one per column of the header"),
        ("", "expected the columns series, x, and at least one measure of the figure"),
    ],
)
def test_mistakes_in_a_file_of_published_numbers_are_named(text: str, told: str, tmp_path: Path) -> None:
    (tmp_path / "paper.toml").write_text(PAPER.replace(PUBLISHED, 'published = "numbers.csv"'), encoding="utf-8")
    (tmp_path / "fig1.toml").write_text(SCENARIO, encoding="utf-8")
    (tmp_path / "numbers.csv").write_text(text, encoding="utf-8")
    with pytest.raises(PaperError) as error:
        reading.load(tmp_path)
    assert "numbers.csv" in str(error.value)
    assert told in str(error.value)


def test_many_numbers_behind_a_verdict_are_told_as_a_range(paper: Path) -> None:
    """Up to 24 points are listed one by one."""
    two = 'points = [{ x = 4, set = { "traffic.flows" = 4 } }, { x = 40, set = { "traffic.flows" = 40 } }]'
    assert two in PAPER
    many = ", ".join(f"{{ x = {n} }}" for n in range(4, 41))
    text = PAPER.replace("delay('DCTCP', [4, 40])", "delay('DCTCP')")
    (paper / "paper.toml").write_text(text.replace(two, f"points = [{many}]", 1))
    figure = reading.load(paper).figures["fig1"]
    found = judge(figure, figure.claims[0], lambda _, __, x, seed: float(x) + (seed or 0) / 10)
    assert found.verdict == "holds"
    assert found.numbers == [
        "Mean delay, DCTCP at 37 points, 4 to 40: 4.1 to 40.2 us",
        "Mean delay, Swift at 4: 4.1/4.2 us, a seed each",
    ]
