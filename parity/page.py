"""Pages ``docs/fidelity.md`` and ``docs/fidelity/``, made from the rows and the descriptions of the references."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from parity import published
from parity.checks import EXPLAINED, HOLDS, MISS, SHOWN, Case, Reference, Row, Section, as_set


def number(value: float | None) -> str:
    """Write a figure: six digits, large ones whole."""
    if value is None:
        return "-"
    return f"{value:,.0f}" if abs(value) >= 1e6 else f"{value:.6g}"


def home(case: str, reference: Reference) -> Section | None:
    """Return the section a case belongs to: the one with the longest prefix of its id."""
    fitting = [section for section in reference.sections if case.startswith(f"{section.prefix}/")]
    return max(fitting, key=lambda section: len(section.prefix), default=None)


def picture_name(section: Section) -> str:
    """Return the file of a section's picture."""
    return f"{section.prefix.replace('/', '-')}.png"


INDEX = "fidelity.md"
FOLDER = "fidelity"
CSV = "parity/results/fidelity.csv"
PUBLISHED = "ns3"
"""The reference whose page ends with the published table."""


def page_name(reference: Reference) -> str:
    """Return the page of a reference, as a path in ``docs``."""
    return f"{FOLDER}/{reference.name}.md"


def render(rows: Sequence[Row], references: Sequence[Reference]) -> dict[str, str]:
    """Write the index and a page a reference, by path in ``docs``."""
    shown = [reference for reference in references if reference.cases]
    made = {INDEX: index(rows, shown)}
    return made | {page_name(reference): of_reference(rows, reference) for reference in shown}


def index(rows: Sequence[Row], references: Sequence[Reference]) -> str:
    """Write the index: how to read the pages, and the verdicts of each reference."""
    missed = [row for row in rows if row.verdict == MISS]
    parts = [
        "# Fidelity",
        "Incast is compared with independent simulators, a real TCP stack and two published studies, on scenarios "
        "stated exactly. A row is one figure of one run. A row without a tolerance shows "
        "the effect of a switch or a seed.",
        totals(rows, references),
        "## How to read",
        grid(
            ["verdict", "meaning"],
            [
                ["**holds**", "our figure is within the tolerance"],
                [
                    "*explained*",
                    "our figure is not within the tolerance, and a named rule decides the difference: a second run "
                    "with the switch of that rule is within the tolerance",
                ],
                ["**MISS**", "our figure is not within the tolerance, and nothing explains the difference"],
                ["shown", "the row has no tolerance"],
            ],
        ),
        "A page has a table a section and a line a run. A cell has reference → ours and the difference, or one number "
        "if both are equal. The tolerance stands in the column's head or in the cell. Misses come first.",
        "`make parity` runs every comparison and writes these pages from its rows, which are in "
        f"[{CSV}](../{CSV}). `.venv/bin/python -m parity.run --only CASE` runs one. "
        "[parity/README.md](../parity/README.md) describes the comparisons and how to add one, "
        "[forms.md](forms.md) the forms and switches.",
        "## Rows that miss",
        "Each page lists its misses with what is known about them." if missed else "No row misses.",
        missed_by_page(missed, references) if missed else "",
    ]
    return joined(parts)


def missed_by_page(missed: Sequence[Row], references: Sequence[Reference]) -> str:
    """Name the cases that miss, a line a reference."""
    lines = []
    for reference in references:
        cases = list(dict.fromkeys(row.case for row in of(missed, reference)))
        if cases:
            named = ", ".join(_code(case.removeprefix(f"{reference.name}/")) for case in cases)
            lines.append([f"[{reference.title}]({page_name(reference)}#rows-that-miss)", named])
    return grid(["reference", "cases"], lines)


def of_reference(rows: Sequence[Row], reference: Reference) -> str:
    """Write the page of a reference: its totals, its exceptions, its sections."""
    own = of(rows, reference)
    parts = [
        f"# {reference.title}",
        reference.text,
        "[Fidelity](../fidelity.md) says how to read the tables.",
        sections(own, reference),
        exceptions(own),
    ]
    for section in reference.sections:
        inside = within(rows, reference, section)
        if inside:
            parts += about(section, inside, reference, rows)
    if reference.name == PUBLISHED:
        parts += [
            "## The table of the study that the ns-3 scenarios follow",
            "The report of omarghara/DCTCP-SWIFT-YASOMAM prints these figures of Swift with 650 connections to one "
            "host of a k = 4 fat tree. `make published` prints the table.",
            published.markdown(rows),
        ]
    return joined(parts)


def joined(parts: Iterable[str]) -> str:
    """Join the parts of a page."""
    return "\n\n".join(part for part in parts if part) + "\n"


def of(rows: Sequence[Row], reference: Reference) -> list[Row]:
    """Return the rows of a reference."""
    return [row for row in rows if row.case.startswith(f"{reference.name}/")]


def within(rows: Sequence[Row], reference: Reference, section: Section) -> list[Row]:
    """Return the rows of a section."""
    return [row for row in of(rows, reference) if home(row.case, reference) is section]


HEAD = ["runs", "rows", "hold", "explained", "miss", "shown"]


def counts(name: str, rows: Sequence[Row]) -> list[str]:
    """Count runs, rows and verdicts under a name."""
    judged = [sum(row.verdict == verdict for row in rows) for verdict in (HOLDS, EXPLAINED, MISS, SHOWN)]
    return [name, *map(str, (len({row.case for row in rows}), len(rows), *judged))]


def totals(rows: Sequence[Row], references: Sequence[Reference]) -> str:
    """Count verdicts by reference."""
    lines = [counts(f"[{reference.title}]({page_name(reference)})", of(rows, reference)) for reference in references]
    return grid(["reference", *HEAD], [*lines, [f"**{cell}**" for cell in counts("all", rows)]])


def sections(rows: Sequence[Row], reference: Reference) -> str:
    """Count verdicts by section."""
    lines = []
    for section in reference.sections:
        inside = within(rows, reference, section)
        if inside:
            lines.append(counts(f"[{section.title}](#{anchor(section.title)})", inside))
    return grid(["section", *HEAD], lines)


def anchor(title: str) -> str:
    """Return the anchor of a heading."""
    return "".join(c for c in title.lower().replace(" ", "-") if c.isalnum() or c in "-_")


def exceptions(rows: Sequence[Row]) -> str:
    """List rows that miss, and explained rows with their rule and the effect of the switch."""
    parts = []
    missed = [row for row in rows if row.verdict == MISS]
    if missed:
        by_case: dict[str, list[Row]] = {}
        for r in missed:
            by_case.setdefault(r.case, []).append(r)
        lines = [
            [_code(case), ", ".join(f"{_with_unit(r)} {_numbers(r)}" for r in own), _rules(own)]
            for case, own in by_case.items()
        ]
        parts += ["## Rows that miss", grid(["case", "figures", "what is known"], lines)]
    told = [row for row in rows if row.verdict == EXPLAINED]
    if told:
        header = ["case", "figure", "reference", "ours", "tolerance", "rule", "switch", "ours with it"]
        lines = []
        for r in told:
            line = [_code(r.case), _with_unit(r), number(r.reference), number(r.ours), r.tolerance, r.rule]
            lines.append([*line, _code(r.switch), number(r.switched)])
        parts += ["## Rows that are explained", grid(header, lines)]
    return "\n\n".join(parts)


def about(section: Section, rows: Sequence[Row], reference: Reference, everything: Sequence[Row]) -> list[str]:
    """Write a section: text, picture, effects of changes and of switches, then one line per run."""
    parts = [f"## {section.title}", section.text]
    if not section.listed:
        return [*parts, f"{len(rows)} rows, which are in the [CSV](../../{CSV})."]
    if section.picture:
        parts.append(f"![{section.title}: {ALT[section.picture]}](../images/fidelity/{picture_name(section)})")
    changes = {change.id for change in reference.changes}
    cases = {case.id: case for case in reference.cases}
    moved = [row for row in rows if row.case in changes]
    switched = [row for row in rows if row.case in cases and cases[row.case].base]
    if moved:
        parts.append(table(moved, "change"))
    if switched:
        parts.append(worth(switched, cases, everything))
    told = {cases[row.case].base for row in switched}
    rest = [row for row in rows if row not in moved and row not in switched and row.case not in told]
    if rest:
        parts.append(table(rest, "run"))
    return parts


ALT = {
    "ratios": "ours divided by the reference, a dot a row",
    "values": "ours and the reference, a dot a row",
    "traces": "ours over the reference",
    "clouds": "ours against the reference, a dot a flow",
}
LIMITS = {"at most": "≤", "at least": "≥"}


def table(rows: Sequence[Row], first: str) -> str:
    """Write one line per run with its figures, and the rules behind differences, if given."""
    figures = list(dict.fromkeys((row.figure, row.unit) for row in rows))
    by_case: dict[str, list[Row]] = {}
    for row in rows:
        by_case.setdefault(row.case, []).append(row)
    runs = sorted(by_case.values(), key=lambda inside: all(row.verdict != MISS for row in inside))
    common = {figure: _common([r for r in rows if (r.figure, r.unit) == figure]) for figure in figures}
    header = [first]
    for name, unit in figures:
        header.append(f"{name} ({unit})" if unit else name)
        header[-1] += f"; {common[name, unit]}" if common[name, unit] else ""
    rules = any(row.rule for row in rows)
    lines = []
    for inside in runs:
        own = {(row.figure, row.unit): row for row in inside}
        cells = [_cell(own[f], in_header=bool(common[f])) if f in own else "" for f in figures]
        lines.append([inside[0].title, *cells] + [_rules(inside)] * rules)
    return grid(header + ["rule"] * rules, lines)


def _common(rows: Sequence[Row]) -> str:
    """Return the text of the tolerance that all rows of a figure share."""
    words = {_tolerance(row) for row in rows}
    return words.pop() if len(words) == 1 else ""


def _tolerance(row: Row) -> str:
    if row.tolerance in LIMITS:
        return f"{LIMITS[row.tolerance]} {number(row.reference)}"
    return row.tolerance


def _cell(row: Row, *, in_header: bool) -> str:
    """Write reference, ours, difference and verdict."""
    text = _numbers(row)
    if not in_header and row.tolerance:
        text += f"; {_tolerance(row)}"
    return {MISS: f"**{text} {MISS}**", EXPLAINED: f"{text} *{EXPLAINED}*"}.get(row.verdict, text)


def _numbers(row: Row) -> str:
    """Write reference, ours, and the difference; ours with one decimal more than the reference has."""
    if row.tolerance in LIMITS or row.ours is None or row.reference is None:
        return number(row.ours) if row.tolerance in LIMITS else f"{number(row.reference)} → {number(row.ours)}"
    theirs = number(row.reference)
    ours = number(row.ours)
    if "," not in theirs and "e" not in theirs:
        rounded = f"{row.ours:.{len(theirs.partition('.')[2]) + 1}f}".rstrip("0").rstrip(".")
        ours = rounded if float(rounded) else ours
    if theirs == ours or row.difference == "0":
        return theirs
    return f"{theirs} → {ours}" + (f" ({row.difference})" if row.difference else "")


def _rules(rows: Sequence[Row]) -> str:
    """Return the rules of a run: shared ones once, others with the figure's name."""
    told = {row.figure: row.rule.split("; ") for row in rows if row.rule}
    if not told:
        return ""
    first = next(iter(told.values()))
    common = [part for part in first if all(part in parts for parts in told.values())]
    alike: dict[tuple[str, ...], dict[str, None]] = {}
    for figure, parts in told.items():
        if own := tuple(part for part in parts if part not in common):
            alike.setdefault(own, {})[figure.split(":")[0]] = None
    each = [f"{', '.join(figures)}: {', '.join(parts)}" for parts, figures in alike.items()]
    return "; ".join([*common, *each])


def worth(rows: Sequence[Row], cases: Mapping[str, Case], everything: Sequence[Row]) -> str:
    """Write the effects of switches on the figures of their runs: one table per run.

    A run of ours alone is told with its set-up, since no table of above has it.
    """
    before = {(row.case, row.figure): row.ours for row in everything}
    by_base: dict[str, dict[str, list[Row]]] = {}
    for row in rows:
        by_base.setdefault(cases[row.case].base, {}).setdefault(row.case, []).append(row)
    parts = []
    for base, by_case in by_base.items():
        figures = [(row.figure, row.unit) for row in next(iter(by_case.values()))]
        header = ["switched", "by", *(f"{name} ({unit})" if unit else name for name, unit in figures)]
        lines = []
        for name, inside in by_case.items():
            settings = cases[name].settings.items()
            by = {key: value for key, value in settings if cases[base].settings.get(key) != value}
            line = [cases[name].title, _code(as_set(by))]
            for row in inside:
                line.append(_moved(before.get((base, row.figure)), row))
            lines.append(line)
        run = cases[base]
        alone = [row for row in everything if row.case == base and row.reference is None]
        file = f"parity/scenarios/{run.scenario}" if run.scenario.endswith(".toml") else run.scenario
        setting = f"; {_code(file)}{_with(run.settings)}" if alone else ""
        parts += [f"In {run.title} ({_code(base)}{setting}):", grid(header, lines)]
    return "\n\n".join(parts)


def _with(settings: Mapping[str, object]) -> str:
    """Write the settings of a run, each key as code; long lists by their ends."""

    def short(value: object) -> object:
        return f"[{value[0]}, ..., {value[-1]}]" if isinstance(value, list) and len(value) > 4 else value

    told = [_code(as_set({key: short(value)})) for key, value in settings.items()]
    return f" with {', '.join(told)}" if told else ""


def _moved(was: float | None, row: Row) -> str:
    """Write a figure before and after."""
    now = row.ours
    if was is None or now is None:
        return f"**- {MISS}**" if row.verdict == MISS else number(now)
    if now == was:
        return _short(now)
    return f"{_short(was)} → {_short(now)}" + (f" ({100 * (now - was) / abs(was):+.2f} %)" if was else "")


def _short(value: float) -> str:
    return f"{value:.5g}" if abs(value) < 1e5 else f"{value:.0f}"


def grid(header: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """Write a table."""
    made = [f"| {' | '.join(header)} |", "|---" * len(header) + "|"]
    made += [f"| {' | '.join(cell.replace('|', '/').replace(chr(10), ' ') for cell in line)} |" for line in lines]
    return "\n".join(made)


def _with_unit(row: Row) -> str:
    return f"{row.figure} ({row.unit})" if row.unit else row.figure


def _code(text: str) -> str:
    return f"`{text}`" if text else ""
