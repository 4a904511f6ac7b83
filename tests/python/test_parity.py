"""The comparisons with ns-3, htsim and Linux: the frame's own rules, and the quick cases."""

from __future__ import annotations

import csv
import math
import pickle
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from conftest import ROOT
from parity import page, pictures, run
from parity.checks import (
    EXPLAINED,
    HOLDS,
    MISS,
    SHOWN,
    Change,
    Checked,
    Cloud,
    Column,
    Explanation,
    Figure,
    Line,
    Packets,
    PerFlow,
    Reference,
    Row,
    Section,
    Sent,
    Series,
    Trace,
    row,
)
from parity.tolerances import (
    Absolute,
    AtLeast,
    AtMost,
    Digits,
    Exact,
    Factor,
    Overlap,
    Relative,
    SameChange,
    Tolerance,
    Widest,
    ZeroWhereZero,
    difference,
    holds,
)
from parity_case import QUICK, a_case

RESULT: Any = SimpleNamespace()  # for checks that take nothing from it
LOSS = ZeroWhereZero(Widest((Absolute(0.2), Relative(0.15))))


@pytest.mark.parametrize(
    ("tolerance", "reference", "inside", "outside"),
    [
        (Relative(0.03), 100.0, [97.0, 103.0], [96.9, 103.1]),
        (Relative(0.03), -100.0, [-97.0, -103.0], [-96.9, 97.0]),
        (Absolute(0.1), 0.3, [0.2, 0.4], [0.19, 0.41]),
        (LOSS, 10.0, [8.5, 11.5], [8.4, 11.6]),  # the relative part is the wider
        (LOSS, 0.5, [0.3, 0.7], [0.29, 0.71]),  # the absolute part is
        (LOSS, 0.0, [0.0], [0.001, -0.001]),  # neither counts at zero
        (Digits(6), 164.6464, [164.646, 164.64644], [164.645, 164.647]),
        (Exact(), 250.0, [250.0], [249.0, 250.0000001]),
        (AtMost(), 1.0, [1.0, 0.0], [1.01]),
        (AtLeast(), 95.0, [95.0, 100.0], [94.99]),
        (Factor(1.5), 3.0, [2.0, 4.5], [1.9, 4.6, -3.0, 0.0]),
        (Overlap(1.0, Relative(0.03)), 100.0, [97.0, 103.0], [96.9, 103.1]),
        (Overlap(1.0, ours=3.0), 100.0, [96.0, 104.0], [95.9, 104.1]),
        (SameChange(), 30.0, [20.0, 40.0], [19.9, 40.1, -30.0]),  # a third either way, same direction
        (SameChange(), -30.0, [-20.0, -40.0], [-19.9, 30.0]),
        (SameChange(), 0.9, [0.0, -0.9], [1.0, -1.5]),  # below 1 % the reference has not changed
    ],
)
def test_tolerances_hold_inside_and_only_there(
    tolerance: Tolerance, reference: float, inside: list[float], outside: list[float]
) -> None:
    assert [ours for ours in inside if not holds(tolerance, reference, ours)] == []
    assert [ours for ours in outside if holds(tolerance, reference, ours)] == []
    assert tolerance.text


@pytest.mark.parametrize("tolerance", [Relative(0.03), Absolute(9), LOSS, AtMost(), AtLeast(), SameChange(), Digits(3)])
def test_what_is_missing_or_no_number_never_holds(tolerance: Tolerance) -> None:
    assert not holds(tolerance, 1.0, None)
    assert not holds(tolerance, None, 1.0)
    assert not holds(tolerance, 1.0, math.nan)
    assert not holds(tolerance, 1.0, math.inf)
    assert not holds(tolerance, math.inf, math.inf)


def test_differences_are_worded_in_percent_where_that_says_more() -> None:
    assert difference(200.0, 210.0, relative=True) == "+5.00 %"
    assert difference(-200.0, -210.0, relative=True) == "-5.00 %"
    assert difference(0.0, 2.0, relative=True) == "+2"
    assert difference(0.93, 0.91, relative=False) == "-0.02"
    assert difference(5.0, 5.0, relative=True) == "0"


def verdicts(checked: Checked) -> list[str]:
    return [made.verdict for made in checked.rows]


def test_a_figure_without_a_tolerance_is_shown() -> None:
    assert verdicts(Figure("x", "", 1.0, None, lambda _: 2.0).of(RESULT)) == [SHOWN]
    assert verdicts(Figure("x", "", 1.0, Relative(0.5), lambda _: 2.0).of(RESULT)) == [MISS]


# Windows that grow by one each 100 us, and ours late by 8 us.
STEPS = Series([i * 1e-4 for i in range(200)], [float(i) for i in range(200)])


def later(series: Series, by_s: float) -> Callable[[object], Series]:
    return lambda _: Series([t + by_s for t in series.times_s], series.values)


def trace(ours: Callable[[object], Series], shift_max_s: float = 12e-6, bound: float = 0.0) -> Trace:
    return Trace((Column("cwnd", "segments", STEPS, ours, bound),), shift_max_s)


def test_a_trace_finds_the_constant_shift() -> None:
    checked = trace(later(STEPS, 8e-6)).of(RESULT)
    assert verdicts(checked) == [HOLDS]
    assert trace(later(STEPS, 8e-6)).shift([later(STEPS, 8e-6)(None)]) == pytest.approx(8e-6)
    # An early one needs no shift: a step that has begun earlier still lasts.
    assert trace(later(STEPS, -8e-6)).shift([later(STEPS, -8e-6)(None)]) == 0


def test_a_shift_beyond_the_limit_is_not_found() -> None:
    checked = trace(later(STEPS, 13e-6)).of(RESULT)
    assert verdicts(checked) == [MISS]
    assert checked.rows[0].ours == 0


def test_one_shift_serves_all_columns() -> None:
    both = Trace(
        (
            Column("early", "segments", STEPS, later(STEPS, -99e-6), 0),
            Column("late", "segments", STEPS, later(STEPS, 8e-6), 0),
        ),
        12e-6,
    )
    # Each alone has a shift under which it holds; no shift suits both.
    assert MISS in verdicts(both.of(RESULT))
    for column in both.columns:
        assert verdicts(Trace((column,), 12e-6).of(RESULT)) == [HOLDS]


def test_a_trace_holds_when_enough_rows_are_within_bounds() -> None:
    def off(count: int) -> Callable[[object], Series]:
        return lambda _: Series(STEPS.times_s, [v + 2 * (i < count) for i, v in enumerate(STEPS.values)])

    assert verdicts(trace(off(10), 0.0, 1.0).of(RESULT)) == [HOLDS]  # 95 % of 200
    assert verdicts(trace(off(11), 0.0, 1.0).of(RESULT)) == [MISS]
    assert verdicts(trace(off(200), 0.0, 2.0).of(RESULT)) == [HOLDS]
    told = trace(off(11), 0.0, 1.0).of(RESULT).rows[0].rule
    assert "largest deviation 2 segments" in told
    assert "first at 0 ms" in told


def test_a_trace_of_ours_that_begins_too_late_is_outside() -> None:
    checked = trace(lambda _: STEPS.between(5e-3, 1.0), 0.0, 1.0).of(RESULT)
    assert verdicts(checked) == [MISS]
    assert checked.rows[0].ours == pytest.approx(75)


SENT = tuple(Sent(i * 0.1, (1000 * i, "ACK", 1000)) for i in range(20))


@pytest.mark.parametrize(
    ("ours", "expected"),
    [
        (SENT, [HOLDS, HOLDS, HOLDS]),
        ([replace(s, time_s=s.time_s + 0.9e-6) for s in SENT], [HOLDS, HOLDS, HOLDS]),
        ([replace(s, time_s=s.time_s + 1.1e-6) for s in SENT], [HOLDS, HOLDS, MISS]),
        (SENT[:-1], [MISS, MISS, HOLDS]),
        ((*SENT, SENT[-1]), [MISS, HOLDS, HOLDS]),
        ((*SENT[:5], replace(SENT[5], what=(1, "ACK", 1000)), *SENT[6:]), [HOLDS, MISS, HOLDS]),
        ((SENT[1], SENT[0], *SENT[2:]), [HOLDS, MISS, MISS]),
        ((), [MISS, MISS, MISS]),
    ],
)
def test_packets_are_the_same_in_order_and_on_time(ours: tuple[Sent, ...], expected: list[str]) -> None:
    assert verdicts(Packets(SENT, lambda _: ours).of(RESULT)) == expected


def per_flow(ours: dict[Any, float | None]) -> list[str]:
    reference = {i: 100.0 + i for i in range(100)}
    return verdicts(PerFlow("FCT", "us", reference, lambda _: ours, 0.003, 0.01, (0.9, 0.04)).of(RESULT))


def test_flows_are_compared_one_by_one() -> None:
    right: dict[Any, float | None] = {i: 100.0 + i for i in range(100)}
    assert per_flow(right) == [HOLDS, HOLDS, HOLDS]
    assert per_flow({i: 1.0 * (199 - i) for i in range(100)}) == [HOLDS, MISS, MISS]  # the mean alone is right
    assert per_flow({i: v * 1.005 for i, v in right.items() if v}) == [MISS, HOLDS, HOLDS]
    assert per_flow({i: v * (0.95 if i < 11 else 1) for i, v in right.items() if v})[2] == MISS
    assert per_flow({i: v for i, v in right.items() if i}) == [MISS, HOLDS, HOLDS]  # one flow never finished
    assert per_flow({**right, 0: None})[0] == MISS


def test_changes_are_compared_in_percent() -> None:
    def rows(case: str, reference: float, ours: float | None) -> dict[tuple[str, str], Row]:
        return {(case, "delay"): replace(row("delay", "ms", reference, ours, None), case=case)}

    change = Change("w/change", "app rate", "w/a", "w/b", ("delay",))
    base = rows("w/a", 10.0, 20.0)
    # 10 to 13 is +30 %: ours from 20 is to end between 24 (+20 %) and 28 (+40 %).
    for ours, verdict in [(26.0, HOLDS), (24.0, HOLDS), (23.9, MISS), (28.1, MISS), (14.0, MISS), (None, MISS)]:
        (made,) = change.of(base | rows("w/b", 13.0, ours))
        assert made.verdict == verdict, ours
        assert made.reference == pytest.approx(30)
    (none,) = change.of(base | rows("w/b", 10.05, 20.1))
    assert none.verdict == HOLDS


@pytest.mark.parametrize(("other", "verdict"), [(30.0, EXPLAINED), (25.0, MISS)])
def test_a_change_is_explained_by_runs_on_both_sides_of_it(other: float, verdict: str) -> None:
    told = Explanation("order", {"run.ties": "hash"}, (2, 3))
    change = Change("w/change", "app rate", "w/a", "w/b", ("delay",), explained=told, again=(("w/a", "w/c"),))
    ours = {"w/a": 20.0, "w/b": 22.0, "w/c": other}
    rows = {
        (name, "delay"): replace(row("delay", "ms", theirs, ours[name], None), case=name)
        for name, theirs in (("w/a", 10.0), ("w/b", 13.0), ("w/c", None))
    }
    (made,) = change.of(rows)
    assert (made.verdict, made.switch) == (verdict, "run.ties=hash run.seed=2..3")
    assert made.rule == f"order: from 10 to {5 * other - 100:g}"


def test_a_miss_is_explained_only_by_a_switch_that_removes_it() -> None:
    three = Explanation("three senders there", {"topology.senders": 3, "topology.receivers": 3})
    (made,) = run.measured(a_case(Exact(), 3.0, three)).rows
    assert (made.verdict, made.rule, made.switched) == (EXPLAINED, "three senders there", 3)
    assert made.ours == 2
    assert made.switch == "topology.senders=3 topology.receivers=3"

    without_effect = Explanation("the seed", {"run.seed": 7})
    (made,) = run.measured(a_case(Exact(), 3.0, without_effect)).rows
    assert made.verdict == MISS

    (made,) = run.measured(a_case(Exact(), 2.0, three)).rows
    assert made.verdict == MISS
    assert "not there" in made.rule

    impossible = Explanation("no such thing", {"topology.sender": 3})
    (made,) = run.measured(a_case(Exact(), 3.0, impossible)).rows
    assert made.verdict == MISS
    assert "topology.sender" in made.rule


@pytest.mark.parametrize(("reference", "verdict"), [(4.0, EXPLAINED), (9.5, MISS), (0.5, MISS)])
def test_the_order_at_equal_times_explains_what_lies_between_seeds(reference: float, verdict: str) -> None:
    ties = Explanation("order at equal times", seeds=(3, 9))
    seed = Figure("x", "", reference, Exact(), lambda r: float(r.manifest["seed"]), explained=ties)
    (made,) = run.measured(replace(a_case(Exact(), 2.0), checks=(seed,))).rows
    assert made.verdict == verdict
    assert made.rule == "order at equal times: from 1 to 9"
    assert made.switch == "run.seed=3,9"
    assert verdict == MISS or made.switched == 3


def test_a_case_that_cannot_run_or_lacks_a_figure_misses_with_the_reason() -> None:
    (made,) = run.measured(a_case(Exact(), 2.0, **{"topology.sender": 3})).rows
    assert made.verdict == MISS
    assert "unknown key" in made.rule
    broken = Figure("x", "", 1.0, None, lambda r: r.summary["flows"]["nonsense"])
    (made,) = run.measured(replace(a_case(Exact(), 2.0), checks=(broken,))).rows
    assert made.verdict == MISS


class Engine:
    """Counts the simulations that a comparison makes."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.runs: list[run.Key] = []
        answers = run.answers

        def counted(job: run.Job, *more: Any) -> run.Answers:
            self.runs.append(run.key_of(job.scenario))
            return answers(job, *more)

        monkeypatch.setattr(run, "answers", counted)


THREE = {"topology.senders": 3, "topology.receivers": 3}


def test_a_run_that_several_cases_need_is_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Engine(monkeypatch)
    alike = [replace(a_case(Exact(), 2.0), id=f"w/{name}") for name in "abc"]
    three = replace(a_case(Exact(), 3.0, **THREE), id="w/three")
    told = replace(a_case(Exact(), 3.0, Explanation("three senders there", THREE)), id="w/told")
    outcomes = run.run_all([*alike, three, told], 2, lambda *_: None)
    assert len(engine.runs) == len(set(engine.runs)) == 2
    verdicts = {name: [row.verdict for row in outcome.rows] for name, outcome in outcomes.items()}
    assert verdicts == {"w/a": [HOLDS], "w/b": [HOLDS], "w/c": [HOLDS], "w/three": [HOLDS], "w/told": [EXPLAINED]}


def test_a_comparison_that_was_cut_off_goes_on(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    engine = Engine(monkeypatch)
    journal = run.Journal(tmp_path / "journal")
    cases = [replace(a_case(Exact(), 2.0), id="w/a"), replace(a_case(Exact(), 3.0, **THREE), id="w/b")]

    def cut_off(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run.run_all(cases[:1], 1, cut_off, journal)
    assert len(engine.runs) == 1
    whole = journal.path.read_bytes()
    journal.path.write_bytes(whole + whole[-200:-100])  # killed while it wrote
    outcomes = run.run_all(cases, 1, lambda *_: None, journal)
    assert len(engine.runs) == 2
    assert [row.ours for name in ("w/a", "w/b") for row in outcomes[name].rows] == [2, 3]

    monkeypatch.setattr(run.Journal, "stamp", staticmethod(lambda: "another engine"))
    run.run_all(cases[:1], 1, lambda *_: None, journal)
    assert len(engine.runs) == 3
    journal.close()
    assert not journal.path.exists()


@pytest.mark.parametrize(
    "content",
    [b"garbage text\n", b"", b"\x80", pickle.dumps("another program"), b"cno_such_module\nthing\n.", b"(0i\n"],
)
def test_a_journal_that_cannot_be_read_is_thrown_away(tmp_path: Path, content: bytes) -> None:
    journal = run.Journal(tmp_path / "journal")
    journal.folder.mkdir()
    journal.path.write_bytes(content)
    assert journal.read([("key", 1)]) == {}
    journal.add(("key", 1), pickle.dumps({("w/a", 0): "said"}))
    assert journal.read([("key", 1)]) == {("key", 1): {("w/a", 0): "said"}}
    journal.path.write_bytes(journal.path.read_bytes() + content)
    assert journal.read([("key", 1)]) == {("key", 1): {("w/a", 0): "said"}}


def test_the_page_shows_runs_in_lines_and_misses_first() -> None:
    def made(name: str, ours: float, tolerance: Tolerance) -> Row:
        return replace(row("delay", "ms", 10.0, ours, tolerance), case=f"w/{name}", title=name)

    text = page.table([made("near", 10.1, Relative(0.1)), made("far", 12.0, Relative(0.1))], "run").splitlines()
    assert text[0] == "| run | delay (ms); 10 % |"
    assert text[2:] == ["| far | **10 → 12 (+20.00 %) MISS** |", "| near | 10 → 10.1 (+1.00 %) |"]
    both = page.table([made("near", 10.1, Relative(0.1)), made("even", 10.0, Absolute(1))], "run").splitlines()
    assert both[2:] == ["| near | 10 → 10.1 (+1.00 %); 10 % |", "| even | 10; ±1 |"]
    limits = page.table([replace(row("share", "%", 95, 99, AtLeast()), title="t")], "run").splitlines()
    assert limits == ["| run | share (%); ≥ 95 |", "|---|---|", "| t | 99 |"]


def test_figures_with_one_rule_are_told_together() -> None:
    def made(figure: str, rule: str) -> Row:
        return replace(row(figure, "", 1.0, 2.0, Relative(0.1)), case="w/a", title="a", rule=rule)

    rows = [made("slowdown: mean", "chance"), made("slowdown: p50", "chance"), made("share", "chance")]
    assert page.table(rows, "run").splitlines()[2].endswith("| chance |")
    told = page.table([*rows, made("slowdown: p99", "marks")], "run").splitlines()[2]
    assert told.endswith("| slowdown, share: chance; slowdown: marks |")


def test_the_page_says_what_a_switch_is_worth() -> None:
    base = a_case(Exact(), 2.0)
    other = replace(base, id="w/y", title="three", settings={**base.settings, "topology.senders": 3}, base="w/x")
    rows = [
        replace(row("flows", "", 2.0, ours, None), case=name, title="t") for name, ours in [("w/x", 2.0), ("w/y", 3.0)]
    ]
    text = page.worth(rows[1:], {"w/x": base, "w/y": other}, rows)
    assert text.splitlines()[0] == "In a dumbbell (`w/x`):"
    assert text.splitlines()[-1] == "| three | `topology.senders=3` | 2 → 3 (+50.00 %) |"


def test_the_page_tells_the_set_up_of_a_run_that_no_reference_has_run() -> None:
    settings = {**QUICK, "topology.sink_link.lose": [3, 4, 5, 6, 7]}
    alone = replace(a_case(Exact(), 2.0), scenario="own.toml", settings=settings)
    other = replace(alone, id="w/y", title="three", settings={**settings, "topology.senders": 3}, base="w/x")
    made = [replace(row("flows", "", None, ours, None), case=name) for name, ours in [("w/x", 2.0), ("w/y", 3.0)]]
    cases = (alone, other)
    reference = Reference("w", "W", "", (Section("w", "S", "text"),), cases)
    text = page.about(reference.sections[0], made, reference, made)
    assert text[2].splitlines()[0] == (
        "In a dumbbell (`w/x`; `parity/scenarios/own.toml` with `run.duration=2ms`, `run.warmup=1ms`, "
        "`topology.sink_link.lose=[3, ..., 7]`):"
    )
    assert len(text) == 3, "it has no table of its own: nothing of it is compared"


def test_rows_survive_their_file(tmp_path: Path) -> None:
    rows = [
        Row("w/a", 'with "quotes", commas', "x", "us", 1 / 3, None, "", "3 %", MISS, "why | not"),
        Row("w/b", "t", "x", "", 0.1 + 0.2, 1e-12, "+5 %", "", EXPLAINED, "rule", "a=1", 2.5),
    ]
    (tmp_path / "rows.csv").write_text(run.csv_of(rows))
    assert run.read_rows(tmp_path / "rows.csv") == rows


@pytest.mark.slow("the references are read for each command")
def test_the_runner_lists_refuses_and_reports(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    quick = [case for reference in run.references() for case in reference.cases if case.quick]
    assert run.main(["--list", "--only", quick[0].id]) == 0
    assert quick[0].id in capsys.readouterr().out
    assert run.main(["--only", "no/such/case"]) == 2
    assert "no/such/case" in capsys.readouterr().err
    held = next(c for c in quick if all(r.verdict != MISS for r in run.measured(c).rows))
    assert run.main(["--only", held.id, "--json", str(tmp_path / "rows.json")]) == 0
    assert '"verdict": "holds"' in (tmp_path / "rows.json").read_text()


PATTERN = "expected part of an id, or a pattern with * and ?; --list prints them"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--jobs", "0"], "--jobs 0: expected 1 or more"),
        (["--jobs", "-3"], "--jobs -3: expected 1 or more"),
        (["--json", "nowhere/x.json"], "--json nowhere/x.json: cannot be written: No such file or directory"),
        (["--json", "."], "--json .: cannot be written: Is a directory"),
        (["--only", "nope"], f"no case matches nope: {PATTERN}"),
        (["--published", "--only", "nope"], f"no case matches nope --published: {PATTERN}"),
        (["--published", "--quick"], f"no case matches --quick --published: {PATTERN}"),
    ],
)
def test_the_runner_refuses_before_it_runs(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, words: list[str], told: str
) -> None:
    monkeypatch.chdir(tmp_path)
    engine = Engine(monkeypatch)
    assert run.main(words) == 2
    assert capsys.readouterr() == ("", f"{told}\n")
    assert engine.runs == []


def test_only_wants_a_pattern(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        run.main(["--quick", "--only"])
    assert ended.value.code == 2
    assert "--only: expected at least one argument" in capsys.readouterr().err


def test_a_file_for_the_rows_is_tried_and_left_as_it_was(tmp_path: Path) -> None:
    assert run.refusal(1, tmp_path / "new.json") == ""
    assert not (tmp_path / "new.json").exists()
    (tmp_path / "old.json").write_text("rows of before")
    assert run.refusal(1, tmp_path / "old.json") == ""
    assert (tmp_path / "old.json").read_text() == "rows of before"


TIMES = Series([0.0, 1e-3, 2e-3], [1.0, 2.0, 3.0])
DRAWN = [Line("cwnd (segments)", TIMES, TIMES), Cloud("us", (1.0, 2.0), (1.1, 2.0))]


@pytest.mark.parametrize("kind", ["ratios", "values", "traces", "clouds"])
def test_pictures_are_the_same_bytes_every_time(kind: str) -> None:
    flows = a_case(Relative(0.1), 2.0)
    made = [replace(row(name, "ms", 2.0, ours, Relative(0.1)), title="t") for name, ours in [("a", 2.1), ("b", 12.0)]]
    first = pictures.draw(kind, [flows], made, {flows.id: DRAWN})
    assert first.startswith(b"\x89PNG")
    assert first == pictures.draw(kind, [flows], made, {flows.id: DRAWN})
    assert first != pictures.draw(
        kind, [flows], made[:1], {flows.id: [Line("x", TIMES, TIMES), Cloud("s", (1.0,), (1.0,))]}
    )


def test_a_picture_of_no_kind_is_refused() -> None:
    with pytest.raises(ValueError, match="heat"):
        pictures.draw("heat", [], [], {})


def test_data_files_name_their_source() -> None:
    for path in sorted((ROOT / "parity" / "data").rglob("*.csv")):
        text = path.read_text(encoding="utf-8")
        listed = path.relative_to(ROOT / "parity").as_posix() in (ROOT / "parity/README.md").read_text(encoding="utf-8")
        assert text.startswith("#") or listed, f"{path}: say where it is from"
        lines = [line for line in text.splitlines() if not line.startswith("#")]
        assert len({len(row) for row in csv.reader(lines)}) == 1, path
