"""Page ``docs/fidelity.md``, made from the rows and the descriptions of the references."""

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


def render(rows: Sequence[Row], references: Sequence[Reference]) -> str:
    """Write the page."""
    shown = [reference for reference in references if reference.cases]
    parts = [
        "# Fidelity",
        "Incast compared with independent simulators and a real stack, on scenarios stated exactly.",
        totals(rows, shown),
        "**How to read.** A row is one figure of one run.",
        grid(
            ["verdict", "meaning"],
            [
                ["**holds**", "ours is within the tolerance"],
                [
                    "*explained*",
                    "ours is not within it, but a named rule decides the difference: with the switch of that rule "
                    "toggled in a second run, ours is within the tolerance",
                ],
                ["**MISS**", "every other row with a tolerance"],
                ["shown", "the row has no tolerance"],
            ],
        ),
        "In the tables below a line is a run. A cell has reference → ours and the difference, or one number if both "
        "are equal. The tolerance is in the column's head or in the cell; a cell without a tolerance is only shown. "
        "Misses come first.",
        "`make parity` runs every comparison and writes this page from its rows, which are beside it as "
        "[CSV](fidelity.csv); `.venv/bin/python -m parity.run --only CASE` runs one. "
        "[parity/README.md](../parity/README.md) says how the comparisons work and how to add one, "
        "[forms.md](forms.md) what the forms and switches are.",
        exceptions(rows),
    ]
    for reference in shown:
        parts += [f"## {reference.title}", reference.text]
        for section in reference.sections:
            inside = within(rows, reference, section)
            if inside:
                parts += about(section, inside, reference, rows)
    parts += [
        "## The table of the study that the ns-3 scenarios follow",
        "The report of omarghara/DCTCP-SWIFT-YASOMAM prints these figures of Swift with 650 connections to one host of "
        "a k = 4 fat tree. `make published` prints the table.",
        published.markdown(rows),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def within(rows: Sequence[Row], reference: Reference, section: Section) -> list[Row]:
    """Return the rows of a section."""
    return [row for row in rows if row.case.startswith(f"{reference.name}/") and home(row.case, reference) is section]


def totals(rows: Sequence[Row], references: Sequence[Reference]) -> str:
    """Count verdicts by reference and section."""
    lines = ["| reference | runs | rows | hold | explained | miss | shown |", "|---|---|---|---|---|---|---|"]

    def line(name: str, inside: Sequence[Row], mark: str = "") -> str:
        judged = [sum(row.verdict == verdict for row in inside) for verdict in (HOLDS, EXPLAINED, MISS, SHOWN)]
        counts = [f"{mark}{count}{mark}" for count in (len({row.case for row in inside}), len(inside), *judged)]
        return f"| {' | '.join([name, *counts])} |"

    for reference in references:
        own = [row for row in rows if row.case.startswith(f"{reference.name}/")]
        lines.append(line(f"**[{reference.title}](#{anchor(reference.title)})**", own, "**"))
        for section in reference.sections:
            inside = within(rows, reference, section)
            if inside:
                lines.append(line(f"[{section.title}](#{anchor(section.title)})", inside))
    return "\n".join([*lines, line("**all**", rows, "**")])


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
    parts = [f"### {section.title}", section.text]
    if not section.listed:
        return [*parts, f"{len(rows)} rows, which are in the [CSV](fidelity.csv)."]
    if section.picture:
        parts.append(f"![{section.title}: {ALT[section.picture]}](images/fidelity/{picture_name(section)})")
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
    own = {figure: [part for part in parts if part not in common] for figure, parts in told.items()}
    each = [f"{figure.split(':')[0]}: {', '.join(parts)}" for figure, parts in own.items() if parts]
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
