"""The page ``docs/fidelity.md``, made from the rows and from what the worlds say of themselves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set

from parity import published
from parity.checks import EXPLAINED, HOLDS, MISS, SHOWN, Row, Section, World


def number(value: float | None) -> str:
    """Write a figure: six digits, large ones whole."""
    if value is None:
        return "-"
    return f"{value:,.0f}" if abs(value) >= 1e6 else f"{value:.6g}"


def home(case: str, world: World) -> Section | None:
    """Return the section a case belongs to: the one with the longest prefix of its id."""
    fitting = [section for section in world.sections if case.startswith(f"{section.prefix}/")]
    return max(fitting, key=lambda section: len(section.prefix), default=None)


def picture_name(section: Section) -> str:
    """Return the file of a section's picture."""
    return f"{section.prefix.replace('/', '-')}.png"


def render(rows: Sequence[Row], worlds: Sequence[World]) -> str:
    """Write the page."""
    shown = [world for world in worlds if world.cases]
    parts = [
        "# Fidelity",
        "Incast held against simulators and a real stack that nobody here wrote, on scenarios stated exactly. "
        "`make parity` runs every comparison and writes this page from its rows, which are beside it as "
        "[CSV](fidelity.csv); `.venv/bin/python -m parity.run --only CASE` runs one. How the comparisons work, and "
        "how to add one, is said in [parity/README.md](../parity/README.md).",
        totals(rows, shown),
        "A row **holds** when ours is within the tolerance. It is **explained** when it is not, but a named rule "
        "decides the difference and the switch of that rule, toggled in a second run, brings it within the "
        "tolerance. Every other row is a **MISS**. Rows that are only *shown* have no tolerance: they say what a "
        "switch does.",
        exceptions(rows),
    ]
    for world in shown:
        parts += [f"## {world.title}", world.text]
        for section in world.sections:
            inside = [row for row in rows if row.case.startswith(f"{world.name}/") and home(row.case, world) is section]
            if inside:
                parts += about(section, inside, {change.id for change in world.changes})
    parts += [
        "## The table of the study that the ns-3 scenarios follow",
        "The report of omarghara/DCTCP-SWIFT-YASOMAM prints these figures of Swift with 650 connections to one host of "
        "a k = 4 fat tree. `make published` prints the table.",
        published.markdown(rows),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def totals(rows: Sequence[Row], worlds: Sequence[World]) -> str:
    """Count verdicts by world."""
    lines = ["| reference | runs | rows | hold | explained | miss | shown |", "|---|---|---|---|---|---|---|"]

    def line(name: str, inside: Sequence[Row]) -> str:
        judged = [sum(row.verdict == verdict for row in inside) for verdict in (HOLDS, EXPLAINED, MISS, SHOWN)]
        cells = [name, len({row.case for row in inside}), len(inside), *judged]
        return f"| {' | '.join(map(str, cells))} |"

    lines += [line(world.title, [row for row in rows if row.case.startswith(f"{world.name}/")]) for world in worlds]
    return "\n".join([*lines, line("**all**", rows)])


def exceptions(rows: Sequence[Row]) -> str:
    """List rows that miss, and rows that are explained with their rule and what the switch does."""
    parts = []
    missed = [row for row in rows if row.verdict == MISS]
    if missed:
        parts += ["## Rows that miss", table(missed, with_case=True)]
    told = [row for row in rows if row.verdict == EXPLAINED]
    if told:
        header = ["case", "figure", "reference", "ours", "tolerance", "rule", "switch", "ours with it"]
        lines = []
        for r in told:
            line = [_code(r.case), _with_unit(r), number(r.reference), number(r.ours), r.tolerance, r.rule]
            lines.append([*line, _code(r.switch), number(r.switched)])
        parts += ["## Rows that are explained", grid(header, lines)]
    return "\n\n".join(parts)


def about(section: Section, rows: Sequence[Row], changes: Set[str]) -> list[str]:
    """Write a section: its text, its picture, what changes move, each figure in one line, then every row."""
    parts = [f"### {section.title}", section.text]
    if section.picture:
        parts.append(f"![{section.title}: {ALT[section.picture]}](images/fidelity/{picture_name(section)})")
    moved = [row for row in rows if row.case in changes]
    if moved:
        parts.append(table(moved))
        rows = [row for row in rows if row.case not in changes]
    names = list(dict.fromkeys(row.figure for row in rows))
    if len(rows) > 12:
        parts += [
            grid(
                ["figure", "rows", "hold", "explained", "miss", "largest difference", "tolerance"],
                [_line(name, [row for row in rows if row.figure == name]) for name in names],
            ),
            f"<details><summary>All {len(rows)} rows</summary>",
            table(rows),
            "</details>",
        ]
    else:
        parts.append(table(rows))
    return parts


ALT = {
    "ratios": "ours divided by the reference, a dot a row",
    "values": "ours and the reference, a dot a row",
    "traces": "ours over the reference",
    "clouds": "ours against the reference, a dot a flow",
}


def _line(name: str, rows: Sequence[Row]) -> list[str]:
    judged = [str(sum(row.verdict == verdict for row in rows)) for verdict in (HOLDS, EXPLAINED, MISS)]
    pairs = [(abs(r.ours - r.reference), r) for r in rows if r.ours is not None and r.reference is not None]
    relative = all(row.difference.endswith("%") or row.difference in ("0", "") for row in rows)

    def size(pair: tuple[float, Row]) -> float:
        away, row = pair
        return away / abs(row.reference) if relative and row.reference else away

    largest = max(pairs, key=size)[1].difference if pairs else "-"
    tolerances = list(dict.fromkeys(row.tolerance for row in rows if row.tolerance))
    return [name, str(len(rows)), *judged, largest, "; ".join(tolerances)]


def table(rows: Sequence[Row], *, with_case: bool = False) -> str:
    """Write rows as a table, with the rule behind a difference where one is told."""
    rules = any(row.rule for row in rows)
    header = ["scenario", "figure", "reference", "ours", "difference", "tolerance", "verdict"] + ["rule"] * rules
    lines = []
    for row in rows:
        told = row.verdict if row.verdict != MISS else f"**{MISS}**"
        line = [_code(row.case) if with_case else row.title, _with_unit(row), number(row.reference), number(row.ours)]
        lines.append([*line, row.difference, row.tolerance, told] + [row.rule] * rules)
    return grid(header, lines)


def grid(header: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """Write a table."""
    made = [f"| {' | '.join(header)} |", "|---" * len(header) + "|"]
    made += [f"| {' | '.join(cell.replace('|', '/').replace(chr(10), ' ') for cell in line)} |" for line in lines]
    return "\n".join(made)


def _with_unit(row: Row) -> str:
    return f"{row.figure} ({row.unit})" if row.unit else row.figure


def _code(text: str) -> str:
    return f"`{text}`" if text else ""
