"""Hold the simulator against ns-3, htsim and Linux: ``make parity``.

Runs every comparison and writes ``docs/fidelity.md``, its pictures, and ``docs/fidelity.csv``, the
rows it is made from. A part of the comparisons (``--only``, ``--quick``) prints its rows; with
``--write`` it also replaces them in the page. Exit status 1 when a row misses its tolerance.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass, field, fields, replace
from fnmatch import fnmatchcase
from pathlib import Path

from incast import IncastError, RunError, Scenario, ScenarioError
from parity import htsim, linux, linux_incast, ns3, page, pictures, published
from parity.checks import (
    EXPLAINED,
    HOLDS,
    MISS,
    SHOWN,
    Case,
    Change,
    Check,
    Checked,
    Drawing,
    Row,
    World,
    kept,
)
from parity.figures import SCENARIOS

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "fidelity.md"
ROWS = ROOT / "docs" / "fidelity.csv"
PICTURES = ROOT / "docs" / "images" / "fidelity"


def worlds() -> list[World]:
    """Return every world, in the order of the page."""
    return [ns3.world(), htsim.world(), linux.world(), linux_incast.world()]


FAILURES = (IncastError, ScenarioError, RunError, LookupError)
"""What makes a case miss instead of ending the whole: it cannot be run, or has no such figure."""


@dataclass
class Outcome:
    """What came of a case."""

    rows: list[Row]
    drawings: list[Drawing] = field(default_factory=list)


def scenario_of(case: Case) -> Scenario:
    """Build the scenario of a case."""
    file = SCENARIOS / case.scenario
    scenario = Scenario.load(file if case.scenario.endswith(".toml") else case.scenario)
    return scenario.with_seed(case.seed).with_(case.settings)


def measured(case: Case) -> Outcome:
    """Run a case and compare; where an explanation is given, run it again with the switch toggled."""
    outcome = Outcome([])
    try:
        result = scenario_of(case).run()
    except FAILURES as error:
        return Outcome([named(r, case) for check in case.checks for r in unrun(check, f"not run: {error}")])
    for check in case.checks:
        try:
            checked = check.of(result)
        except FAILURES as error:
            outcome.rows += [named(r, case) for r in unrun(check, str(error))]
            continue
        outcome.drawings += checked.drawings
        outcome.rows += [named(r, case) for r in explained(case, check, checked)]
    return outcome


def unrun(check: Check, why: str) -> list[Row]:
    """Give the rows of a check that could not be made: all miss, shown or not."""
    return [replace(row, verdict=MISS, rule=why) for row in check.unrun()]


def named(row: Row, case: Case) -> Row:
    """Return the row with its case."""
    return replace(row, case=case.id, title=case.title)


def explained(case: Case, check: Check, checked: Checked) -> list[Row]:
    """Give rows that miss their explanation, if the switch it names really removes the difference."""
    explanation = check.explained
    if explanation is None:
        return checked.rows
    if all(row.verdict != MISS for row in checked.rows):
        told = "an explanation is given for a difference that is not there"
        return [replace(row, verdict=MISS, rule=told) for row in checked.rows]
    toggled = replace(case, settings={**case.settings, **explanation.settings})
    runs = [replace(toggled, seed=seed) for seed in explanation.seeds] or [toggled]
    try:
        again = [check.of(scenario_of(run).run()).rows for run in runs]
    except FAILURES as error:
        return [replace(row, rule=f"the explanation's switch cannot be set: {error}") for row in checked.rows]
    rows = []
    for row, *others in zip(checked.rows, *again, strict=True):
        if row.verdict == MISS:
            found = spread(row, others) if explanation.seeds else [others[0]] if others[0].verdict == HOLDS else []
            rule = explanation.rule
            if explanation.seeds:
                ours = sorted(other.ours for other in (row, *others) if other.ours is not None)
                rule += f": from {page.number(ours[0])} to {page.number(ours[-1])}" if ours else ""
            row = replace(
                row,
                verdict=EXPLAINED if found else MISS,
                rule=rule,
                switch=explanation.switch,
                switched=kept((found or others)[0].ours),
            )
        rows.append(row)
    return rows


def spread(row: Row, others: Sequence[Row]) -> list[Row]:
    """Return the row nearest to the reference, if ours lie on both sides of it."""
    runs = [(other.ours, other) for other in (row, *others) if other.ours is not None]
    if row.reference is None or not runs:
        return []
    reference, values = row.reference, [ours for ours, _ in runs]
    if not min(values) <= reference <= max(values):
        return []
    return [min(runs, key=lambda run: abs(run[0] - reference))[1]]


def run_all(cases: Sequence[Case], jobs: int, note: Callable[[Case, Outcome], None]) -> dict[str, Outcome]:
    """Run cases, the longest first; the engine leaves the GIL, so threads run side by side."""
    outcomes = {}
    with ThreadPoolExecutor(jobs) as pool:
        waiting = {pool.submit(measured, case): case for case in sorted(cases, key=lambda c: -c.cost_s)}
        for future in as_completed(waiting):
            case = waiting[future]
            outcomes[case.id] = future.result()
            note(case, outcomes[case.id])
    return outcomes


def changed(changes: Sequence[Change], rows: Sequence[Row]) -> list[Row]:
    """Judge the changes between cases whose rows are all there."""
    by_figure = {(row.case, row.figure): row for row in rows}
    made = []
    for change in changes:
        if all((case, figure) in by_figure for case in (change.base, change.changed) for figure in change.figures):
            made += change.of(by_figure)
    return made


def write_rows(rows: Sequence[Row], path: Path) -> None:
    """Write rows as CSV: numbers with ten digits, nothing of the machine."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([column.name for column in fields(Row)])
        for row in rows:
            writer.writerow(["" if value is None else value for value in asdict(row).values()])


def read_rows(path: Path) -> list[Row]:
    """Read rows back."""
    numbers = {"reference", "ours", "switched"}
    with path.open(encoding="utf-8", newline="") as file:
        return [
            Row(**{k: (float(v) if v else None) if k in numbers else v for k, v in line.items()})  # type: ignore[arg-type]
            for line in csv.DictReader(file)
        ]


def in_order(rows: Sequence[Row], all_worlds: Sequence[World]) -> list[Row]:
    """Put rows into the order of the page; rows of cases that are no more go."""
    places: dict[str, int] = {}
    for world in all_worlds:
        for name in [*(case.id for case in world.cases), *(change.id for change in world.changes)]:
            places[name] = len(places)
    return sorted((row for row in rows if row.case in places), key=lambda row: places[row.case])


def selected(all_worlds: Sequence[World], only: Sequence[str], *, quick: bool) -> tuple[list[Case], list[Change]]:
    """Choose cases by pattern; a change that is chosen brings the two cases it compares."""

    def chosen(name: str) -> bool:
        return not only or any(fnmatchcase(name, pattern) or pattern in name for pattern in only)

    cases = [case for world in all_worlds for case in world.cases]
    changes = [change for world in all_worlds for change in world.changes]
    wanted = {case.id for case in cases if chosen(case.id) and (case.quick or not quick)}
    if not quick:
        wanted |= {name for change in changes if chosen(change.id) for name in (change.base, change.changed)}
    return (
        [case for case in cases if case.id in wanted],
        [change for change in changes if {change.base, change.changed} <= wanted],
    )


def show(row: Row) -> str:
    """Write a row on the terminal."""
    numbers = f"{page.number(row.reference):>12} {page.number(row.ours):>12} {row.difference:>10}"
    told = f"  {row.rule}" if row.rule and row.verdict in (MISS, EXPLAINED) else ""
    return f"  {row.figure:48} {row.unit:10} {numbers}  {row.tolerance:24} {row.verdict}{told}"


def update(rows: Sequence[Row], outcomes: dict[str, Outcome], all_worlds: Sequence[World], *, whole: bool) -> list[Row]:
    """Write rows, page and pictures; a part replaces its own rows and leaves the others."""
    ran = {row.case for row in rows}
    before = [] if whole or not ROWS.exists() else [row for row in read_rows(ROWS) if row.case not in ran]
    merged = in_order([*before, *rows], all_worlds)
    write_rows(merged, ROWS)
    PAGE.write_text(page.render(merged, all_worlds), encoding="utf-8")
    PICTURES.mkdir(parents=True, exist_ok=True)
    for world in all_worlds:
        for section in world.sections:
            inside = [case for case in world.cases if page.home(case.id, world) is section]
            if section.picture and inside and all(case.id in outcomes for case in inside):
                drawings = {case.id: outcomes[case.id].drawings for case in inside}
                own = [row for row in merged if row.case in drawings]
                (PICTURES / page.picture_name(section)).write_bytes(
                    pictures.draw(section.picture, inside, own, drawings)
                )
    return merged


def main(words: Sequence[str] | None = None) -> int:
    """Run the comparisons asked for; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", default=[], metavar="PATTERN", help="cases whose id has or matches it")
    parser.add_argument("--quick", action="store_true", help="only the set that runs in make test")
    parser.add_argument("--published", action="store_true", help="print the published table, and run only its cases")
    parser.add_argument("--list", action="store_true", help="print the cases and run nothing")
    parser.add_argument(
        "--write", action="store_true", help="put the rows of a part into the page; all of them always are"
    )
    parser.add_argument("--jobs", type=int, default=min(4, os.cpu_count() or 1), help="runs at a time")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the rows as JSON")
    options = parser.parse_args(words)

    all_worlds = worlds()
    cases, changes = selected(all_worlds, options.only, quick=options.quick)
    if options.published:
        cases, changes = [case for case in cases if case.id in published.case_ids()], []
    if not cases and not options.published:
        print(f"no case matches {' '.join(options.only)}; --list prints them", file=sys.stderr)
        return 2
    if options.list:
        for case in cases:
            print(f"{case.id:44} {'quick' if case.quick else '':6} {case.cost_s:>6g} s  {case.title}")
        return 0

    def note(case: Case, outcome: Outcome) -> None:
        if not options.published:
            print("\n".join([case.id, *map(show, outcome.rows)]), flush=True)

    began = time.monotonic()
    outcomes = run_all(cases, options.jobs, note)
    rows = [row for outcome in outcomes.values() for row in outcome.rows]
    rows += changed(changes, rows)
    rows = in_order(rows, all_worlds)
    if not options.published:
        for change in changes:
            print("\n".join([change.id, *(show(row) for row in rows if row.case == change.id)]))
    if options.json:
        options.json.write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n", encoding="utf-8")
    whole = not (options.only or options.quick or options.published)
    if whole or options.write:
        update(rows, outcomes, all_worlds, whole=whole)
        print(f"written: {PAGE.relative_to(ROOT)}, {ROWS.relative_to(ROOT)}")
    if options.published:
        print(published.text(rows))
    counts = {verdict: sum(row.verdict == verdict for row in rows) for verdict in (HOLDS, EXPLAINED, MISS, SHOWN)}
    told = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
    print(f"{len(cases)} cases, {len(rows)} rows: {told} ({time.monotonic() - began:.0f} s)")
    return 1 if counts[MISS] else 0


if __name__ == "__main__":
    sys.exit(main())
