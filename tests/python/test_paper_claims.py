"""Claims of papers: what of them a scale judges, what of their words they use, and reasons with numbers of the runs."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from conftest import Command
from incast.papers import expression, judging, reading, reasons, scope, words
from incast.papers.definition import Claim, Figure, Paper
from incast.papers.judging import Finding
from incast.papers.page import count_of
from incast.papers.verdict import Verdict
from incast.statistics import Estimate
from own_paper import PAPER, SCENARIO

NUMBERS = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?")
FUNCTIONS = ["delay", "x", "published"]


@pytest.fixture(scope="module")
def papers() -> list[Paper]:
    """Read all papers once: 2 s of processor time for some 700 claims, each of which is tried."""
    return [reading.find(name)[0] for name in reading.names()]


@pytest.fixture
def own(tmp_path: Path) -> Paper:
    """Make a paper whose scale paper has another point, and longer runs."""
    longer = 'settings = { "run.duration" = "40ms", "run.warmup" = "5ms" }\nseeds = 3'
    text = PAPER.replace("seeds = 3", longer).replace("delay('DCTCP', [4, 40])", "delay('DCTCP')")
    (tmp_path / "fig1.toml").write_text(SCENARIO)
    (tmp_path / "paper.toml").write_text(text)
    return reading.load(tmp_path)


def of(holds: str, says: str = "", **more: object) -> Claim:
    return replace(Claim(says, "section 1", expression.parse(holds, FUNCTIONS)), **more)  # type: ignore[arg-type]


def left(paper: Paper, holds: str) -> str:
    figure = paper.figures["fig1"]
    return scope.left_of(paper, figure.at("paper"), figure.at("small"), of(holds))


def test_what_a_scale_leaves_of_a_claim_follows_from_its_expression(own: Paper) -> None:
    """The warmup is set at one scale and the scenario's at the other, to the same value."""
    assert left(own, "delay('DCTCP', 4) > 0") == "2 of 3 seeds; run.duration 20ms of 40ms"
    assert left(own, "rising(delay('DCTCP'))") == "4 and 40 of 3 points; 2 of 3 seeds; run.duration 20ms of 40ms"
    assert left(own, "max(delay('Swift', x(0, 10))) > 0") == "2 of 3 seeds; run.duration 20ms of 40ms"
    unclear = "sqrt(delay('DCTCP', 4) - 100) < delay('Swift', 4)"
    assert left(own, unclear).startswith("4 and 40 of 3 points; "), "where made-up numbers do not fit, all is asked for"


def test_fewer_seeds_make_a_part_of_all_but_paired_claims(own: Paper) -> None:
    """Intervals of paired differences tell of few seeds; a mean, and a claim of each seed, do not."""
    same = replace(own.figures["fig1"], scales={"paper": {"seeds": 30}})
    one = same.with_seeds(1)

    def told(figure: Figure, scale: str, **more: object) -> str:
        return scope.left_of(own, figure.at("paper"), figure.at(scale), of("rising(delay('DCTCP'))", **more))

    assert told(same, "small") == told(same, "small", each_seed=True) == "2 of 30 seeds"
    assert told(same, "small", paired=True) == told(same, "paper") == ""
    assert told(one, "paper") == told(one, "small") == "1 of 30 seeds"
    assert told(one.with_seeds(5), "paper") == "1 of 30 seeds"


def test_reads_meet_conditions_on_measured_numbers(own: Paper, papers: list[Paper]) -> None:
    """Made-up numbers are small: a list of those above 100 would be empty, and the rest of the expression unread."""
    figure = own.figures["fig1"].at("paper")
    few = of("mean([delay('DCTCP', n) for n in x() if delay('Swift', n) >= 100 if n > 4]) > delay('Swift', 4)")
    found = judging.reads(figure, few)
    assert set(found.places) == {("delay", "DCTCP", 40), ("delay", "DCTCP", 1000)} | {
        ("delay", "Swift", n) for n in (4, 40, 1000)
    }
    for one in papers:
        for whole in one.figures.values():
            for claim in whole.claims:
                at = whole.at(claim.scales[-1])
                assert judging.reads(at, claim).ended == "", f"{one.name}/{whole.name}: {claim.says}"


def test_the_default_scale_of_the_study_on_fat_trees_judges_parts(papers: list[Paper]) -> None:
    """Two of eight points and one of two ON seconds are no whole; a load of 0.8 among three of eight is."""
    for name, says, expected in [
        ("yasomam/k12-mode1", "Throughput falls", "100 and 3000 of 8 points; traffic.stop 4s of 6s; "),
        ("yasomam/k12-mode1", "Swift at 25 ms loses more than 35 %", "traffic.stop 4s of 6s; "),
        ("rivals/fat-tree-w4", "Up to a packet", ""),
    ]:
        paper = next(one for one in papers if one.name == name.partition("/")[0])
        figure = paper.figures[name.partition("/")[2]]
        claim = next(one for one in figure.claims if one.says.startswith(says))
        told = scope.left_of(paper, figure.at("paper"), figure.at("small"), claim)
        assert told.startswith(expected), name
        assert bool(told) == bool(expected), name


@pytest.mark.extended(part="python")
def test_a_part_is_told_wherever_a_verdict_is(incast: Command, own: Paper) -> None:
    answer = incast("paper", "run", str(own.folder), "--out", "p")
    assert answer.status == 0, answer.err
    figure, first, second, third, _ = answer.out.splitlines()
    assert figure == "fig1: in part, 1 of 2 claims hold; 1 not tested - Delay over flows"
    assert first.startswith("  in part, holds: Delay grows with the flows (of 4 and 40 of 3 points; 2 of 3 seeds; run")
    assert second.startswith("  in part, does not hold: DCTCP's delay is a second (of 2 of 3 seeds; run.duration")
    out = own.folder / "p"
    claims = json.loads((out / "results.json").read_text())["figures"]["fig1"]["claims"]
    assert [one["verdict"] for one in claims] == ["in part, holds", "in part, does not hold", "not tested"]
    page = (out / "report.html").read_text()
    assert "verdict yes part" in page
    assert "It never was." in page


def test_findings_in_part_are_counted_apart() -> None:
    def found(*told: tuple[Verdict, str]) -> str:
        return count_of([Finding(of("1 < 2"), verdict, [], part) for verdict, part in told])

    holds, fails, undecided = Verdict.HOLDS, Verdict.FAILS, Verdict.OPEN
    assert found((holds, ""), (holds, "")) == "all 2 claims hold"
    assert found((holds, "4 of 8 points")) == "in part, holds"
    assert found((holds, ""), (fails, ""), (holds, "x"), (undecided, "x")) == (
        "1 of 2 claims hold; in part, 1 of 2 hold, 1 undecided"
    )
    assert found((holds, "x"), (holds, "x")) == "in part, all 2 claims hold"


@pytest.mark.parametrize(
    ("says", "holds", "expected"),
    [
        ("80 to 100 us more", "delay('DCTCP', 4) - delay('Swift', 4) >= 80", ["100"]),
        ("80 to 100 us more", "80 <= delay('DCTCP', 4) - delay('Swift', 4) <= 100", []),
        ("Within 2 % of DCTCP", "delay('Swift', 4) > 0.98 * delay('DCTCP', 4)", []),
        ("Within 3 % of DCTCP", "delay('Swift', 4) > 0.98 * delay('DCTCP', 4)", ["3"]),
        ("At 40 flows 0.5 ms", "delay('Swift', 40) > 500", []),
        ("Below 40 us", "max(delay('Swift')) < 39", ["40"]),
        ("1,000 flows", "delay('Swift', 1000) > 0", []),
        ("At most half", "delay('Swift', 4) < 0.5 * delay('DCTCP', 4)", []),
        ("DCTCP is slow", "delay('Swift', 4) > 0", ["DCTCP"]),
        ("At every number of flows", "delay('Swift', 4) > 0", ["every"]),
        ("At every number of flows", "min(delay('Swift')) > 0", []),
        ("At every number", "min(delay('Swift')) > delay('DCTCP', 4)", ["every"]),
        (
            "Every one",
            "delay('Swift', 4) > 0 and min(delay('Swift', [40, 1000])) > 0 and delay('DCTCP', 4) > 0",
            ["Every"],
        ),
        ("It always falls", "delay('Swift', 4) > 0", ["always"]),
        ("Less at each number of flows", "delay('Swift', 4) > 0", ["each"]),
        ("As much in each seed", "delay('Swift', 4) > 0", []),
        ("The same at all numbers", "delay('Swift', 4) > 0", ["at all"]),
        ("It does not change at all with the flows", "delay('Swift', 4) > 0", []),
        ("Both are slow", "delay('Swift', 4) > 0", ["Both"]),
        ("Both are slow", "delay('Swift', 4) > 0 and delay('DCTCP', 4) > 0", []),
        ("Tenfold, by an order of magnitude", "delay('Swift', 4) > 9", ["Tenfold", "an order of magnitude"]),
        ("At most two thirds", "delay('Swift', 4) < 0.667 * delay('DCTCP', 4)", []),
        ("The printed 500 us", "delay('DCTCP', 40) > published('delay', 'DCTCP', 40)", []),
    ],
)
def test_words_that_an_expression_does_not_use_are_named(
    own: Paper, says: str, holds: str, expected: list[str]
) -> None:
    assert words.unused(own.figures["fig1"], of(holds, says)) == expected


def test_every_claim_of_every_paper_uses_its_words(papers: list[Paper]) -> None:
    """A number, a series or an "every" that a claim has and does not judge is declared there, with the reason."""
    for paper in papers:
        for figure in paper.figures.values():
            for claim in figure.claims:
                where = f"{paper.name}/{figure.name}: {claim.says}"
                assert words.unused(figure, claim) == [], where
                assert words.needless(figure, claim) == [], where


def test_numbers_of_reasons_are_those_of_the_runs_or_of_the_set_up(papers: list[Paper]) -> None:
    """Measured numbers are in braces; other numbers are in the paper's files, outside its reasons."""
    strange = []
    for paper in papers:
        name, figures = paper.name, paper.figures.values()
        text = re.sub(r'\nfound\w* = ("""[\s\S]*?"""|".*")', "", paper.path.read_text(encoding="utf-8"))
        text += "\n".join(path.read_text(encoding="utf-8") for path in sorted(paper.folder.glob("*.csv")))
        known = {float(one.replace(",", "")) for one in NUMBERS.findall(text)}
        reasons_of = {(figure.name, told) for figure in figures for claim in figure.claims for told in told_of(claim)}
        for figure_name, told in sorted(reasons_of):
            numbers = [float(one.replace(",", "")) for one in NUMBERS.findall(reasons.PLACE.sub("", told))]
            strange += [f"{name}/{figure_name}: {one}: {told}" for one in numbers if one not in known]
    assert strange == [], strange


def told_of(claim: Claim) -> list[str]:
    return [claim.found, claim.found_in_part or ""]


def test_reasons_have_the_numbers_of_the_runs(own: Paper) -> None:
    figure = own.figures["fig1"].at("small")
    estimates = {4: Estimate(12.34, 0.5, 2), 40: Estimate(1234.0, None, 1)}

    def told(text: str, figure: Figure = figure) -> str:
        return reasons.filled(
            figure, text, lambda _, __, x, ___: estimates[int(x)].mean, lambda _, __, x: estimates[int(x)]
        )

    assert told("It has {delay('Swift', 4)} us, and {delay('Swift', 40) / delay('Swift', 4)} times.") == (
        "It has 12.3 ± 0.5 us, and 100 times."
    )
    assert told("They are {delay('Swift')}.") == "They are 12.3, 1,234."
    assert told("At most {max(delay('Swift'))}. At 1,000 {delay('Swift', 1000)}.") == "At most 1,234.", (
        "what this scale has not is left out"
    )


@pytest.mark.parametrize(
    ("text", "wrong", "told"),
    [
        ('found = "It never was."', 'found = "{delay(1)}"', "figures.fig1.claims[1].found = '{delay(1)}': "),
        ('found = "It never was."', "found = \"{delay('DCTCQ')}\"", 'delay: no series "DCTCQ"'),
        ('found = "It never was."', 'scales = ["huge"]', 'claims[1].scales: expected some of small, paper, not "huge"'),
        ('found = "It never was."', 'unused = { "7" = "x" }', "claims[1].unused: expected words of says, which lacks"),
        ('found = "It never was."', 'unused = { "a" = "" }', "claims[1].unused.a = '': expected the reason, a text"),
    ],
)
def test_mistakes_in_what_claims_declare_are_told(
    incast: Command, paper: Path, text: str, wrong: str, told: str
) -> None:
    (paper / "paper.toml").write_text(PAPER.replace(text, wrong))
    answer = incast("paper", "run", str(paper), "--out", "p")
    assert answer.status == 2
    assert told in answer.err


def test_claims_of_a_figure_are_paired_unless_they_say_otherwise(paper: Path) -> None:
    (paper / "paper.toml").write_text(PAPER.replace("seeds = 2", "seeds = 2\npaired = true", 1))
    assert [claim.paired for claim in reading.load(paper).figures["fig1"].claims] == [False, True, True]


@pytest.mark.extended(part="python")
def test_words_not_judged_and_claims_of_one_scale_are_told(incast: Command, paper: Path) -> None:
    text = PAPER.replace("DCTCP's delay is a second", "DCTCP's delay is 2 to 3 s")
    grows = 'where = "section 1"\neach_seed = true'
    reason = 'where = "section 2"\nunused = { "2" = "read off a thick line" }'
    text = text.replace(grows, f'{grows}\nscales = ["paper"]').replace('where = "section 2"', reason)
    (paper / "paper.toml").write_text(text)
    told = "not judged literally: 2 (read off a thick line)"
    assert told in incast("paper", "show", f"{paper}/fig1").out
    answer = incast("paper", "run", str(paper), "--seeds", "1", "--out", "p")
    assert "  not tested: Delay grows with the flows (judged at scale paper alone)" in answer.out, answer.err
    words_ = f"of 1 of 3 seeds; words not judged: 3; {told}"
    assert f"  in part, does not hold: DCTCP's delay is 2 to 3 s ({words_}; Mean delay" in answer.out
    assert f"<p>words not judged: 3</p><p>{told}</p>" in (paper.parent / "p" / "report.html").read_text()
    claims = json.loads((paper.parent / "p" / "results.json").read_text())["figures"]["fig1"]["claims"]
    assert claims[1]["unused"] == {"3": "", "2": "read off a thick line"}


def test_paired_claims_count_nothing_that_may_be_undecided(incast: Command, paper: Path) -> None:
    """Differences of 10, 0.1 and 0.1 are not clear of zero: a count of such comparisons is no number."""
    values = {"Swift": [0.0, 0.0, 0.0], "DCTCP": [10.0, 0.1, 0.1]}
    figure = replace(reading.load(paper).figures["fig1"], seeds=3)
    less, count = (
        judging.judge(
            figure,
            of(holds, paired=True),
            lambda _, series, __, seed: sum(values[series]) / 3 if seed is None else values[series][seed - 1],
        )
        for holds in ("delay('Swift', 4) < delay('DCTCP', 4)", "count([delay('Swift', 4) < delay('DCTCP', 4)]) >= 1")
    )
    assert less.verdict is Verdict.OPEN
    assert count.verdict is Verdict.UNTESTED
    assert "count: expected decided statements" in count.numbers[0]
    changed = PAPER.replace("delay('DCTCP', 40) >= 1e6", "count([delay('DCTCP', 40) >= 1e6]) == 1")
    (paper / "paper.toml").write_text(changed.replace("seeds = 2", "seeds = 2\npaired = true", 1))
    answer = incast("paper", "run", str(paper), "--out", "p")
    assert answer.status == 2
    assert "holds = " in answer.err
    assert "paired: expected all or any instead of count" in answer.err
