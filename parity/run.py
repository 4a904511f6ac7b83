"""Comparison of the simulator with ns-3, htsim and Linux: ``make parity``.

Runs every comparison and writes ``docs/fidelity.md``, a page a reference in ``docs/fidelity``, their pictures, and the
rows behind them, ``parity/results/fidelity.csv``. After an interruption it continues where it stopped. A part of the
comparisons (``--only``, ``--quick``) prints its rows; ``--write`` also replaces them on the pages. Exit status 1 when a
row misses its tolerance.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import io
import json
import os
import pickle
import sys
import time
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from fnmatch import fnmatchcase
from pathlib import Path

import incast
from incast import IncastError, RunError, Scenario, ScenarioError
from incast.batch import journal as batch
from incast.batch import runner
from incast.runs.scenario import Progress
from parity import (
    cse322,
    days,
    htsim,
    linux,
    linux_incast,
    lrwpan,
    ns3,
    page,
    pictures,
    published,
    rdma,
    sccp_linux,
    switches,
    training,
    uet,
)
from parity.checks import (
    EXPLAINED,
    HOLDS,
    MISS,
    SHOWN,
    Case,
    Check,
    Checked,
    Derived,
    Drawing,
    Reference,
    Row,
    kept,
)
from parity.figures import SCENARIOS

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
ROWS = ROOT / page.CSV
PICTURES = DOCS / "images" / "fidelity"


def references() -> list[Reference]:
    """Return every reference, in the order of the page."""
    found = (
        ns3.reference(),
        lrwpan.reference(),
        cse322.reference(),
        htsim.reference(),
        uet.reference(),
        rdma.reference(),
        days.reference(),
        training.reference(),
        linux.reference(),
        linux_incast.reference(),
        sccp_linux.reference(),
    )
    return [published.added(switches.added(reference)) for reference in found]


FAILURES = (IncastError, ScenarioError, RunError, LookupError)
"""Errors that make a case miss instead of ending the program: it cannot be run, or lacks a figure."""


@dataclass
class Outcome:
    """The outcome of a case."""

    rows: list[Row]
    drawings: list[Drawing] = field(default_factory=list)


def scenario_of(case: Case) -> Scenario:
    """Build the scenario of a case."""
    file = SCENARIOS / case.scenario
    scenario = Scenario.load(file if case.scenario.endswith(".toml") else case.scenario)
    return scenario.with_seed(case.seed).with_(case.settings)


Key = tuple[str, int]
"""The identity of a run: the resolved scenario with the contents of its files, and the seed."""


def key_of(scenario: Scenario) -> Key:
    """Return the key of a run."""
    return scenario.hash, scenario.seed


@dataclass
class Job:
    """One simulation with all checks that use it."""

    scenario: Scenario
    cost_s: float
    checks: list[tuple[str, int, Check]] = field(default_factory=list)
    """The case, the place of the check in it, and the check."""


Answer = Checked | str
"""Outcome of a check on a run, or the reason why it has none."""
Answers = dict[tuple[str, int], Answer]


@dataclass
class Plan:
    """The runs of a case: its own, and the runs of its explanations."""

    case: Case
    own: Key | str
    """Outcome of the run, or the reason why there is none."""
    again: list[tuple[Key | str, ...]] = field(default_factory=list)
    """Runs of the explanation of each check."""

    @property
    def keys(self) -> set[Key]:
        """All runs of the case."""
        return {key for key in (self.own, *(k for keys in self.again for k in keys)) if not isinstance(key, str)}


def planned(cases: Sequence[Case]) -> tuple[list[Plan], dict[Key, Job]]:
    """Find the runs that the cases need; shared runs appear once."""
    jobs: dict[Key, Job] = {}

    def ask(case: Case, checks: Sequence[tuple[int, Check]]) -> Key | str:
        try:
            scenario = scenario_of(case)
            key = key_of(scenario)
        except FAILURES as error:
            return str(error)
        job = jobs.setdefault(key, Job(scenario, case.cost_s))
        job.checks += [(case.id, place, check) for place, check in checks]
        return key

    plans = []
    for case in cases:
        plan = Plan(case, ask(case, list(enumerate(case.checks))))
        for place, check in enumerate(case.checks):
            explanation = check.explained
            runs: list[Case] = []
            if explanation is not None:
                toggled = replace(case, settings={**case.settings, **explanation.settings})
                runs = [replace(toggled, seed=seed) for seed in explanation.seeds] or [toggled]
            plan.again.append(tuple(ask(run, [(place, check)]) for run in runs))
        plans.append(plan)
    return plans, jobs


def answers(job: Job, progress: Progress | None = None) -> Answers:
    """Run a simulation and its checks."""
    try:
        result = job.scenario.run(progress=progress)
    except FAILURES as error:
        return {(case, place): f"not run: {error}" for case, place, _ in job.checks}
    found: Answers = {}
    for case, place, check in job.checks:
        try:
            found[case, place] = check.of(result)
        except FAILURES as error:
            found[case, place] = str(error)
    return found


def outcome_of(plan: Plan, done: Mapping[Key, Answers]) -> Outcome:
    """Combine the outcomes of a case's runs."""
    outcome = Outcome([])
    case = plan.case

    def said(key: Key | str, place: int) -> Answer:
        return f"not run: {key}" if isinstance(key, str) else done[key][case.id, place]

    for place, check in enumerate(case.checks):
        own = said(plan.own, place)
        if isinstance(own, str):
            rows = [replace(row, verdict=MISS, rule=own) for row in check.unrun()]  # shown or not
        else:
            outcome.drawings += own.drawings
            rows = explained(check, own, [said(key, place) for key in plan.again[place]])
        outcome.rows += [replace(row, case=case.id, title=case.title) for row in rows]
    return outcome


def explained(check: Check, checked: Checked, again: Sequence[Answer]) -> list[Row]:
    """Attach explanations to rows that miss, if the named switch really removes the difference."""
    explanation = check.explained
    if explanation is None:
        return checked.rows
    if all(row.verdict != MISS for row in checked.rows):
        told = "an explanation is given for a difference that is not there"
        return [replace(row, verdict=MISS, rule=told) for row in checked.rows]
    toggled: list[list[Row]] = []
    for answer in again:
        if isinstance(answer, str):
            return [replace(row, rule=f"the explanation's switch cannot be set: {answer}") for row in checked.rows]
        toggled.append(answer.rows)
    rows = []
    for row, *others in zip(checked.rows, *toggled, strict=True):
        if row.verdict == MISS:
            found = [other for other in others if other.verdict == HOLDS][:1]
            if explanation.seeds:
                found = found or spread(row, others)
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


def measured(case: Case) -> Outcome:
    """Run one case and compare."""
    return run_all([case], 1, lambda *_: None)[case.id]


Note = Callable[[Case, Outcome], None]


def run_all(cases: Sequence[Case], jobs: int, note: Note, journal: Journal | None = None) -> dict[str, Outcome]:
    """Run cases in parallel threads, the longest first; the engine releases the GIL.

    What the journal has from an earlier time is not run again.
    """
    plans, needed = planned(cases)
    done = {} if journal is None else journal.read(needed)
    outcomes: dict[str, Outcome] = {}
    waiting_for = {plan.case.id: plan.keys - done.keys() for plan in plans}

    def finish() -> None:
        for plan in plans:
            waiting_for[plan.case.id] -= done.keys()
            if not waiting_for[plan.case.id] and plan.case.id not in outcomes:
                outcomes[plan.case.id] = outcome_of(plan, done)
                note(plan.case, outcomes[plan.case.id])

    def made(key: Key) -> bytes:
        with threads.run(str(key)) as progress:
            return pickle.dumps(answers(needed[key], progress))

    def took(key: Key, said: bytes) -> None:
        done[key] = pickle.loads(said)
        if journal is not None:
            journal.add(key, said)
        finish()

    finish()
    left = sorted((key for key in needed if key not in done), key=lambda key: -needed[key].cost_s)
    threads = runner.ThreadWorkers(jobs, made)
    runner.carry_out(threads, left, took, lambda error, *_: error, runner.Status(len(left)), lambda _: None)
    return outcomes


class Journal:
    """Journal of finished runs, from which an interrupted comparison resumes.

    Its name has a digest of the engine, the package, the comparisons and their data: it serves only the same program.
    """

    def __init__(self, folder: Path = ROOT / ".cache" / "parity") -> None:
        """Keep the journal in a folder of its own."""
        self.folder = folder

    @property
    def path(self) -> Path:
        """File of this program's journal."""
        return self.folder / f"{self.stamp()[:16]}.journal"

    def read(self, wanted: Container[Key]) -> dict[Key, Answers]:
        """Read the wanted entries; drop the journals of other builds, and all from the first damaged entry."""
        self._journal = batch.Journal(self.path)
        for path in self.folder.glob("*.journal"):
            if path != self._journal.path:
                path.unlink()
        found = {}
        for run, place in self._journal.runs():
            hashed, seed = run.split()
            if (hashed, int(seed)) in wanted:
                found[hashed, int(seed)] = pickle.loads(self._journal.read(place).tables["answers"])
        return found

    def add(self, key: Key, said: bytes) -> None:
        """Append a finished run."""
        self._journal.append(batch.packed(f"{key[0]} {key[1]}", {}, {}, {"answers": said}))
        self._journal.close()

    def close(self) -> None:
        """Delete the journal, after the page is written."""
        self._journal.path.unlink(missing_ok=True)

    @staticmethod
    def stamp() -> str:
        """Return the digest of all inputs of a row."""
        digest = hashlib.sha256()
        package = Path(incast.__file__).parent
        here = Path(__file__).parent
        for folder in (package, here):
            for path in sorted(folder.rglob("*")):
                if path.is_file() and path != ROWS and path.suffix in (".py", ".so", ".toml", ".csv", ".cm"):
                    digest.update(f"{path.relative_to(folder)}\0".encode() + path.read_bytes())
        return digest.hexdigest()


def derived(items: Sequence[Derived], rows: Sequence[Row]) -> list[Row]:
    """Judge the checks on several cases, if all their rows exist."""
    by_figure = {(row.case, row.figure): row for row in rows}
    made = []
    for item in items:
        if all((case, figure) in by_figure for case, figures in item.needed.items() for figure in figures):
            made += item.of(by_figure)
    return made


def csv_of(rows: Sequence[Row]) -> str:
    """Write rows as CSV: numbers with ten digits, independent of the machine."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([column.name for column in fields(Row)])
    for row in rows:
        writer.writerow(["" if value is None else value for value in asdict(row).values()])
    return text.getvalue()


def read_rows(path: Path) -> list[Row]:
    """Read rows back."""
    numbers = {"reference", "ours", "switched"}
    with path.open(encoding="utf-8", newline="") as file:
        return [
            Row(**{k: (float(v) if v else None) if k in numbers else v for k, v in line.items()})  # type: ignore[arg-type]
            for line in csv.DictReader(file)
        ]


def in_order(rows: Sequence[Row], all_references: Sequence[Reference]) -> list[Row]:
    """Sort rows in the order of the page; drop rows of removed cases."""
    places: dict[str, int] = {}
    for reference in all_references:
        for name in [*(case.id for case in reference.cases), *(item.id for item in reference.derived)]:
            places[name] = len(places)
    return sorted((row for row in rows if row.case in places), key=lambda row: places[row.case])


def selected(
    all_references: Sequence[Reference], only: Sequence[str], *, quick: bool
) -> tuple[list[Case], list[Derived]]:
    """Choose cases by pattern; a chosen check on several cases includes them."""

    def chosen(name: str) -> bool:
        return not only or any(fnmatchcase(name, pattern) or pattern in name for pattern in only)

    cases = [case for reference in all_references for case in reference.cases]
    items = [item for reference in all_references for item in reference.derived]
    wanted = {case.id for case in cases if chosen(case.id) and (case.quick or not quick)}
    if not quick:
        wanted |= {name for item in items if chosen(item.id) for name in item.needed}
    return [case for case in cases if case.id in wanted], [item for item in items if item.needed.keys() <= wanted]


def show(row: Row) -> str:
    """Write a row on the terminal."""
    numbers = f"{page.number(row.reference):>12} {page.number(row.ours):>12} {row.difference:>10}"
    told = f"  {row.rule}" if row.rule and row.verdict in (MISS, EXPLAINED) else ""
    return f"  {row.figure:48} {row.unit:10} {numbers}  {row.tolerance:24} {row.verdict}{told}"


def update(
    rows: Sequence[Row], outcomes: dict[str, Outcome], all_references: Sequence[Reference], *, whole: bool
) -> list[Row]:
    """Write rows, pages and pictures; a partial run only replaces its own rows."""
    ran = {row.case for row in rows}
    before = [] if whole or not ROWS.exists() else [row for row in read_rows(ROWS) if row.case not in ran]
    merged = in_order([*before, *rows], all_references)
    files = {ROWS: csv_of(merged).encode()}
    files |= {DOCS / name: text.encode() for name, text in page.render(merged, all_references).items()}
    for reference in all_references:
        for section in reference.sections:
            inside = [case for case in reference.cases if page.home(case.id, reference) is section]
            made = [item for item in reference.derived if page.home(item.id, reference) is section]
            needed = {case.id for case in inside} | {case for item in made for case in item.needed}
            if section.picture and needed <= outcomes.keys():
                drawings = {case.id: outcomes[case.id].drawings for case in inside}
                named = drawings.keys() | {item.id for item in made}
                own = [row for row in merged if row.case in named]
                files[PICTURES / page.picture_name(section)] = pictures.draw(section.picture, inside, own, drawings)
    # Everything is made before anything is replaced: a page that cannot be drawn leaves the old one.
    for path, content in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        aside = path.with_name(f".{path.name}")
        aside.write_bytes(content)
        aside.replace(path)
    if whole:
        for path in (*PICTURES.glob("*.png"), *(DOCS / page.FOLDER).glob("*.md")):
            if path not in files:
                path.unlink()
    return merged


def refusal(jobs: int, rows: Path | None) -> str:
    """Return what is wrong with options that are only used after all runs; empty if nothing is."""
    if jobs < 1:
        return f"--jobs {jobs}: expected 1 or more"
    if rows is not None:
        there = rows.exists()
        try:
            rows.open("ab").close()
        except OSError as error:
            return f"--json {rows}: cannot be written: {error.strerror}"
        if not there:
            rows.unlink()
    return ""


def main(words: Sequence[str] | None = None) -> int:
    """Run the requested comparisons; return the exit status."""
    parser = argparse.ArgumentParser(
        "python -m parity.run", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--only", nargs="+", default=[], metavar="PATTERN", help="cases whose id it is part of, or matches with * and ?"
    )
    parser.add_argument("--quick", action="store_true", help="only the set that runs in make test")
    parser.add_argument("--published", action="store_true", help="print the published table, and run only its cases")
    parser.add_argument("--list", action="store_true", help="print the cases and run nothing")
    parser.add_argument(
        "--write", action="store_true", help="put the rows of a part into the pages; all rows always are"
    )
    parser.add_argument(
        "--jobs", type=int, default=min(4, os.cpu_count() or 1), help="runs at a time (default %(default)s)"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the rows as JSON")
    options = parser.parse_args(words)

    all_references = references()
    cases, items = selected(all_references, options.only, quick=options.quick)
    if options.published:
        cases, items = [case for case in cases if case.id in published.case_ids()], []
    if not cases:
        flags = [f"--{name}" for name in ("quick", "published") if getattr(options, name)]
        asked = " ".join([*options.only, *flags])
        expected = "expected part of an id, or a pattern with * and ?; --list prints them"
        print(f"no case matches {asked}: {expected}", file=sys.stderr)
        return 2
    if options.list:
        for case in cases:
            print(f"{case.id:44} {'quick' if case.quick else '':6} {case.cost_s:>6g} s  {case.title}")
        return 0
    if refused := refusal(options.jobs, options.json):
        print(refused, file=sys.stderr)
        return 2

    began = time.monotonic()
    finished = 0

    def note(case: Case, outcome: Outcome) -> None:
        nonlocal finished
        finished += 1
        if not options.published:
            head = f"{case.id}  [{finished} of {len(cases)}, {time.monotonic() - began:.0f} s]"
            print("\n".join([head, *map(show, outcome.rows)]), flush=True)

    whole = not (options.only or options.quick or options.published)
    journal = Journal() if whole else None
    outcomes = run_all(cases, options.jobs, note, journal)
    rows = [row for outcome in outcomes.values() for row in outcome.rows]
    rows += derived(items, rows)
    rows = in_order(rows, all_references)
    if not options.published:
        for item in items:
            print("\n".join([item.id, *(show(row) for row in rows if row.case == item.id)]))
    if options.json:
        options.json.write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n", encoding="utf-8")
    if whole or options.write:
        update(rows, outcomes, all_references, whole=whole)
        if journal is not None:
            journal.close()
        print(f"written: docs/{page.INDEX}, docs/{page.FOLDER}, {page.CSV}")
    if options.published:
        print(published.text(rows))
    counts = {verdict: sum(row.verdict == verdict for row in rows) for verdict in (HOLDS, EXPLAINED, MISS, SHOWN)}
    told = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
    print(f"{len(cases)} cases, {len(rows)} rows: {told} ({time.monotonic() - began:.0f} s)")
    return 1 if counts[MISS] else 0


if __name__ == "__main__":
    sys.exit(main())
