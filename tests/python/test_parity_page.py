"""The pages of fidelity: every case and switch is on them, and their verdicts follow from the rows."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache

import pytest

from incast import Scenario, ScenarioError
from incast.commands import kinds
from parity import page, published, run
from parity.checks import (
    EXPLAINED,
    HOLDS,
    MISS,
    SHOWN,
    Case,
    Check,
    Explanation,
    Figure,
    Mean,
    Packets,
    PerFlow,
    Reference,
    Row,
    Trace,
    row,
)
from parity.tolerances import (
    AtLeast,
    AtMost,
    Exact,
    Overlap,
    Relative,
    Tolerance,
    holds,
    over,
)
from parity_case import a_case

REFERENCES = run.references()
CASES = [case for reference in REFERENCES for case in reference.cases]
by_id = {case.id: case for case in CASES}


def test_every_case_has_its_own_id_and_a_section_of_its_reference() -> None:
    ids = [item.id for reference in REFERENCES for item in (*reference.cases, *reference.derived)]
    assert len(set(ids)) == len(ids)
    for reference in REFERENCES:
        for item in (*reference.cases, *reference.derived):
            assert page.home(item.id, reference) is not None, item.id
        named = {case.id: {f.name for f in case.checks if isinstance(f, Figure)} for case in reference.cases}
        for made in reference.derived:
            for name, needed in made.needed.items():
                assert set(needed) <= named[name], made.id
        figures = {case.id: {row.figure for check in case.checks for row in check.unrun()} for case in reference.cases}
        for item in reference.cases:
            assert not item.base or figures[item.id] & figures[item.base], item.id


def scenarios(case: Case) -> Iterator[Scenario]:
    """Give the scenario of a case, and those that explain a difference."""
    yield run.scenario_of(case)
    for check in case.checks:
        if check.explained is not None:
            yield run.scenario_of(replace(case, settings={**case.settings, **check.explained.settings}))


@pytest.mark.slow("every scenario of a reference")
@pytest.mark.parametrize("reference", REFERENCES, ids=lambda reference: reference.name)
def test_every_case_is_a_valid_scenario(reference: Reference) -> None:
    refused = []
    for case in reference.cases:
        try:
            for scenario in scenarios(case):
                scenario.validate()
        except ScenarioError as error:
            refused.append(f"{case.id}: {error}")
    assert not refused, "\n".join(refused)


def forms_of(controller: str) -> list[tuple[str, str, str]]:
    """Find the values of a controller's forms, as ``incast describe`` prints them."""
    text = " ".join(kinds.description("controller", controller).split())
    told = text[text.index("form = standard") :].split("Expected:")[0]
    parts = re.split(r'"([\w-]+)": ', told)
    return [
        (form, key, value)
        for form, meaning in zip(parts[1::2], parts[2::2], strict=True)
        for key, value in re.findall(r"`(\w+) = ([^`]+)`", meaning.rpartition("From ")[2])
    ]


TOO_SMALL = {("westwood", "ns3-35", "rates")}
"""Values of forms that move no printed digit of any run: a bit per second of the bandwidth's estimate."""


@cache
def switched() -> set[tuple[str, str, str]]:
    """Find the values of forms that a case has and its base has not."""
    found = set()
    for case in CASES:
        if case.base:
            was, now = (run.scenario_of(c).resolved()["controller"] for c in (by_id[case.base], case))
            keys = [key for key in now if key != "form" and now[key] != was.get(key)]
            found |= {(now["kind"], now["form"], key) for key in keys}
    return found


@pytest.mark.parametrize("controller", ["swift", "dctcp", "newreno", "cubic", "westwood", "westwood-plus"])
def test_every_value_of_a_form_is_switched_in_a_row_of_the_page(controller: str) -> None:
    forms = forms_of(controller)
    assert forms
    assert {(controller, form, key) for form, key, _ in forms} - TOO_SMALL <= switched()


def unmoved(cases: Sequence[Case], rows: Sequence[Row]) -> list[str]:
    """Find the switches that leave every figure of their run as it was."""
    ours: dict[str, dict[str, float | None]] = {}
    for line in rows:
        ours.setdefault(line.case, {})[line.figure] = line.ours
    return [
        case.id
        for case in cases
        if case.base
        and all(ours[case.base][figure] == now for figure, now in ours[case.id].items() if figure in ours[case.base])
    ]


def test_every_switch_moves_a_figure_of_its_run() -> None:
    assert unmoved(CASES, rows_on_the_page()) == []


def test_a_switch_that_moves_nothing_is_found() -> None:
    def ours(name: str, *figures: float | None) -> list[Row]:
        return [replace(row(f"f{i}", "", None, v, None), case=name) for i, v in enumerate(figures)]

    base = a_case(Exact(), 2.0)
    cases = [base, *(replace(base, id=f"w/{name}", base="w/x") for name in ("same", "moved", "gone", "fewer"))]
    rows = [
        *ours("w/x", 2.0, 0.0),
        *ours("w/same", 2.0, 0.0),
        *ours("w/moved", 2.0, 1e-9),
        *ours("w/gone", None, 0.0),
        *ours("w/fewer", 2.0),
    ]
    assert unmoved(cases, rows) == ["w/same", "w/fewer"]


def rules_of(preset: str) -> dict[str, object]:
    """Read what a transport's preset decides by a word or a yes, as a scenario has it written out."""
    told = Scenario.load("dumbbell").with_({"transport": {"preset": preset}}).resolved()["transport"]
    # connections open and close in every run of a reference; of windows below a segment the preset has the RFCs' rules
    unmet = {"preset", "handshake", "sws_avoidance"}
    rules = {key: value for key, value in told.items() if key not in unmet}
    return {k: v for k, v in rules.items() if isinstance(v, bool) or re.fullmatch("[a-z][a-z0-9-]*", str(v))}


@pytest.mark.parametrize(("preset", "reference"), [("ns3", "ns3"), ("linux", "linux")])
def test_every_rule_of_a_references_transport_is_switched_in_a_row_of_the_page(preset: str, reference: str) -> None:
    own, papers = rules_of(preset), rules_of("swift")
    differ = {key for key in own if own[key] != papers[key]}
    assert len(differ) > 10
    switched = set()
    for case in CASES:
        if case.base and case.id.startswith(reference):
            was = by_id[case.base].settings
            switched |= {key.removeprefix("transport.") for key in case.settings if case.settings[key] != was.get(key)}
    assert differ <= switched, differ - switched


@pytest.mark.slow("writes every page")
def test_the_pages_are_made_from_their_rows() -> None:
    rows = rows_on_the_page()
    made = page.render(rows, REFERENCES)
    for name, text in made.items():
        assert (run.DOCS / name).read_text(encoding="utf-8") == text, "make parity writes the pages anew"
    assert {f"{page.FOLDER}/{path.name}" for path in (run.DOCS / page.FOLDER).iterdir()} == made.keys() - {page.INDEX}
    assert rows == run.in_order(rows, REFERENCES)
    assert {row.case for row in rows} >= {case.id for case in CASES}, "make parity runs the cases that are new"


def test_pictures_of_the_page_are_there() -> None:
    for reference in REFERENCES:
        for section in reference.sections:
            if section.picture:
                assert (run.PICTURES / page.picture_name(section)).exists(), section.prefix


@cache
def rows_on_the_page() -> list[Row]:
    return run.read_rows(run.ROWS)


@cache
def rows_by_case() -> dict[str, list[Row]]:
    cases: dict[str, list[Row]] = {}
    for line in rows_on_the_page():
        cases.setdefault(line.case, []).append(line)
    return cases


QUICK_CASES = [case for case in CASES if case.quick]


@pytest.mark.parametrize("case", QUICK_CASES, ids=lambda case: case.id)
def test_quick_cases_give_the_rows_of_the_page_and_miss_nothing(case: Case) -> None:
    rows = run.measured(case).rows
    missed = [row for row in rows if row.verdict == MISS]
    assert not missed, [run.show(row) for row in missed]
    assert rows == rows_by_case()[case.id]


@pytest.mark.extended(part="parity")
@pytest.mark.parametrize("reference", REFERENCES, ids=lambda reference: reference.name)
def test_every_case_gives_the_rows_of_the_page(reference: Reference) -> None:
    """The rest of what ``make parity`` runs: each row on the page is what a run gives, and so are its misses."""
    cases = [case for case in reference.cases if not case.quick]
    outcomes = run.run_all(cases, os.cpu_count() or 1, lambda *_: None)
    moved = [row for case in cases for row in outcomes[case.id].rows if row not in rows_by_case()[case.id]]
    assert not moved, "make parity writes the pages anew\n" + "\n".join(map(run.show, moved))


def test_every_kind_of_comparison_has_a_quick_case() -> None:
    """Cases that make test runs again: one of every judged section, but for long ones, and every kind of check."""
    kinds_there = {type(check).__name__ for case in CASES for check in case.checks}
    assert kinds_there == {"Figure", "Trace", "Packets", "PerFlow"}
    assert {type(check).__name__ for case in QUICK_CASES for check in case.checks} == kinds_there
    sections = {case.id.rpartition("/")[0] for case in QUICK_CASES}
    assert sections >= {
        "ns3/4.1",
        "ns3/4.6",
        "ns3/vectors",
        "ns3/dumbbell",
        "lrwpan/seeds",
        "htsim/single",
        "htsim/permutation",
        "linux/traces",
        "linux/R1",
        "linux/R2",
        "linux-incast/cla",
        "sccp-linux/free",
        "sccp-linux/first",
        "sccp-linux/stall",
        "sccp-linux/rto",
        "sccp-linux/fast",
        "sccp-linux/none",
    }


def tolerances_of(check: Check) -> list[Tolerance | None]:
    """Tell the tolerance of each row of a check, apart from how the check makes them."""
    match check:
        case Figure():
            return [check.tolerance]
        case Trace():
            return [AtLeast() for _ in check.columns]
        case Packets():
            return [Exact(), Exact()] + [AtMost()] * (check.within_s is not None)
        case PerFlow():
            return [Relative(check.mean), AtMost(), AtLeast()]
    raise AssertionError(check)


def wrongly_judged(line: Row, tolerance: Tolerance | None, explanation: Explanation | None = None) -> str:
    """Say why a row of the page does not follow from its own numbers; nothing where it does."""
    if tolerance is None:
        return "" if line.verdict == SHOWN or (line.verdict == MISS and line.ours is None) else "judged without"
    if line.tolerance != tolerance.text:
        return f"the tolerance is {tolerance.text}"
    held = holds(tolerance, line.reference, line.ours)
    if (line.verdict == HOLDS) != held:
        return "it holds" if held else "it does not hold"
    if line.verdict == EXPLAINED:
        if explanation is None or line.switch != explanation.switch:
            return "nothing explains it"
        if not explanation.seeds and not holds(tolerance, line.reference, line.switched):
            return "its switch does not remove the difference"
    return "" if line.verdict in (HOLDS, EXPLAINED, MISS) else "not judged"


def test_verdicts_on_the_page_follow_from_its_numbers() -> None:
    """A row cannot be said to hold by hand: its tolerance is applied again."""
    judged = 0
    for case in CASES:
        own = rows_by_case().get(case.id, [])
        expected = [
            (check, unrun, tolerance)
            for check in case.checks
            for unrun, tolerance in zip(check.unrun(), tolerances_of(check), strict=True)
        ]
        assert [line.figure for line in own] == [unrun.figure for _, unrun, _ in expected], case.id
        for line, (check, unrun, tolerance) in zip(own, expected, strict=True):
            if unrun.reference is None:
                assert line.reference is None, line
            else:
                assert line.reference == pytest.approx(unrun.reference, rel=1e-9), line
            assert wrongly_judged(line, tolerance, check.explained) == "", line
            judged += tolerance is not None
    assert judged


def test_changes_on_the_page_follow_from_the_rows_of_both_cases() -> None:
    lines = {(line.case, line.figure): line for line in rows_on_the_page()}
    changes = [change for reference in REFERENCES for change in reference.changes]
    assert changes
    for change in changes:
        for figure in change.figures:
            line = lines[change.id, f"{figure}: change"]
            base, after = lines[change.base, figure], lines[change.changed, figure]
            for moved, was, now in (
                (line.reference, base.reference, after.reference),
                (line.ours, base.ours, after.ours),
            ):
                if not was or now is None:
                    assert moved is None, line
                else:
                    assert moved == pytest.approx(100 * (now / was - 1), rel=1e-6, abs=1e-6), line
            assert wrongly_judged(line, change.tolerance, change.explained) == "", line
            if line.verdict == EXPLAINED:
                turned = [
                    100 * (lines[after, figure].ours / lines[base, figure].ours - 1) for base, after in change.again
                ]
                assert min(line.ours, *turned) <= line.reference <= max(line.ours, *turned), line


def test_means_on_the_page_follow_from_the_rows_of_their_seeds() -> None:
    lines = {(line.case, line.figure): line for line in rows_on_the_page()}
    means = [mean for reference in REFERENCES for mean in reference.means]
    assert means
    for mean in means:
        assert len(set(mean.cases)) > 1, mean.id
        for name, _, reference, tolerance in mean.figures:
            line = lines[mean.id, name]
            assert line.reference == pytest.approx(reference, rel=1e-9)
            ours = [lines[case, name].ours for case in mean.cases]
            assert line.ours == pytest.approx(sum(ours) / len(ours), rel=1e-9), line
            explanation = mean.explained.get(name)
            if explanation is None:
                assert wrongly_judged(line, over(tolerance, ours)) == "", line
                continue
            assert line.verdict in (EXPLAINED, MISS), line
            assert not holds(over(tolerance, ours), line.reference, line.ours), line
            if line.verdict == EXPLAINED:
                assert line.switch == explanation.switch
                again = [lines[case, name].ours for case in mean.again]
                if explanation.settings:
                    assert holds(over(tolerance, again), line.reference, sum(again) / len(again)), line
                else:
                    assert min(ours + again) <= line.reference <= max(ours + again), line


def test_a_mean_lacks_no_run() -> None:
    mean = Mean("w/m", "two seeds", ("w/a", "w/b"), (("delay", "us", 10.0, Relative(0.1)),))
    a, b = row("delay", "us", None, 9.0, None), row("delay", "us", None, 10.0, None)
    (made,) = mean.of({("w/a", "delay"): a, ("w/b", "delay"): b})
    assert (made.case, made.title, made.ours, made.verdict) == ("w/m", "two seeds", 9.5, HOLDS)
    (made,) = mean.of({("w/a", "delay"): a, ("w/b", "delay"): replace(b, ours=None)})
    assert (made.ours, made.verdict) == (None, MISS)


def a_mean(tolerance: Tolerance, ours: Sequence[float], again: Sequence[float], how: Explanation | None) -> Row:
    cases = {f"w/{i}": value for i, value in enumerate([*ours, *again])}
    names = tuple(cases)
    explained = {} if how is None else {"delay": how}
    figures = (("delay", "us", 10.0, tolerance),)
    own, more = names[: len(ours)], names[len(ours) :]
    mean = Mean("w/m", "seeds", own, figures, explained=explained, again=more)
    (made,) = mean.of({(name, "delay"): row("delay", "us", None, value, None) for name, value in cases.items()})
    return made


def test_a_mean_holds_where_intervals_overlap() -> None:
    assert a_mean(Overlap(1.0, Relative(0.1)), [10.9, 10.9], [], None).verdict == HOLDS
    assert a_mean(Overlap(1.0, Relative(0.1)), [11.5, 11.5], [], None).verdict == MISS
    wide = a_mean(Overlap(1.0, Relative(0.1)), [11.0, 12.0], [], None)  # half of ours is 6.35
    assert (wide.verdict, wide.rule) == (HOLDS, "±1 there and ±6.4 here")
    assert a_mean(Overlap(1.0), [10.9, 10.9], [], None).verdict == HOLDS
    assert a_mean(Overlap(0.0), [10.9, 10.9], [], None).verdict == MISS


def test_a_mean_is_explained_by_its_switch_or_its_seeds() -> None:
    switch, seeds = Explanation("a rule", {"a": 1}), Explanation("chance", seeds=(1, 2, 3))
    made = a_mean(Relative(0.1), [12.0, 13.0], [10.2, 10.4], switch)
    assert (made.verdict, made.switch, made.switched) == (EXPLAINED, "a=1", pytest.approx(10.3))
    assert a_mean(Relative(0.1), [12.0, 13.0], [12.0, 13.0], switch).verdict == MISS
    assert a_mean(Relative(0.1), [12.0, 13.0], [9.0], switch).verdict == EXPLAINED
    assert a_mean(Relative(0.1), [12.0, 13.0], [9.0], seeds).verdict == EXPLAINED
    assert a_mean(Relative(0.1), [12.0, 13.0], [11.0], seeds).verdict == MISS
    needless = a_mean(Relative(0.1), [10.0, 10.0], [9.0], seeds)
    assert (needless.verdict, needless.rule) == (MISS, "an explanation is given for a difference that is not there")


def test_a_verdict_that_does_not_follow_is_found() -> None:
    close = Relative(0.1)
    good = row("x", "", 10.0, 10.5, close)
    assert wrongly_judged(good, close) == ""
    assert wrongly_judged(replace(good, ours=12.0), close) == "it does not hold"
    assert wrongly_judged(replace(good, verdict=MISS), close) == "it holds"
    assert wrongly_judged(replace(good, tolerance="20 %"), close) == "the tolerance is 10 %"
    assert wrongly_judged(good, None) == "judged without"
    assert wrongly_judged(replace(good, ours=12.0, verdict=SHOWN), close) == "not judged"
    switch = Explanation("a rule", {"a": 1})
    told = replace(good, ours=12.0, verdict=EXPLAINED, switch="a=1", switched=10.2)
    assert wrongly_judged(told, close, switch) == ""
    assert wrongly_judged(told, close) == "nothing explains it"
    assert wrongly_judged(replace(told, switched=12.0), close, switch) == "its switch does not remove the difference"


def test_the_published_table_shows_the_cases_it_names() -> None:
    entries = [entry for sweep in published.SWEEPS for entry in sweep.entries]
    entry = next(entry for entry in entries if entry.document[0] is not None)
    rows = [replace(row(name, "", None, 5.25, None), case=entry.case) for name, _ in published.FIGURES]
    document, theirs, ours = published.cells(entry, rows)[1:4]
    assert float(document) == pytest.approx(entry.document[0], rel=1e-4)
    assert (theirs == "-") == (entry.ns3[0] is None)
    assert ours == "5.25"
    assert published.cells(entry, [])[3] == "-"
    for text in (published.text(rows), published.markdown(rows)):
        assert document in text
        assert "5.25" in text
