"""The table that the study omarghara/DCTCP-SWIFT-YASOMAM publishes, beside ns-3's figures and ours.

Its report (section on fine-tuning Swift) prints mean throughput, delay and loss of 650 connections to
one host of a k = 4 fat tree for several target delays and minimum windows, and does not say for how
long it ran. The ns-3 column was measured with ns-3.43 on the same code with a stated run. Ours come
from the rows of the cases named here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from parity.checks import Figure, Row, Section, World

FIGURES = (("throughput", "Kibit/s"), ("mean delay", "ms"), ("loss", "%"))
"""The three figures, by the names which the cases' checks give them."""

Three = tuple[float | None, float | None, float | None]
NONE: Three = (None, None, None)


@dataclass(frozen=True)
class Entry:
    """One line of the table."""

    setting: str
    case: str
    """Case of ours whose rows are shown."""
    document: Three
    ns3: Three
    decided_by: str


@dataclass(frozen=True)
class Sweep:
    """One of the document's sweeps."""

    title: str
    entries: tuple[Entry, ...]


MIN_RTT, STATIC = "ns3/4.2/swift-0-mode1-n650-100Mbps", "ns3/4.2/swift-2-mode1-n650-100Mbps"
"""Cases of the study whose settings are entries of the table."""
DOCUMENT_MIN_RTT: Three = (1027.01, 9.28047, 3.26633)
NS3_MIN_RTT: Three = (1027.07, 7.76, 3.325)
LEAST = "the least window (with half of it a fifth is lost), then the minimum RTO of 1 s"
FRAGMENTS = "fragments (without them less than half is lost), then the least window"
SWEEPS = (
    Sweep(
        "Target delay",
        (
            Entry("0", "ns3/published/target-0", (931.568, 6.75792, 3.13449), NONE, LEAST),
            Entry("0.25 ms", "ns3/published/target-250us", (991.893, 8.1513, 3.61618), NONE, LEAST),
            Entry("2.5 ms", "ns3/published/target-2500us", (970.33, 6.81673, 3.66038), NONE, LEAST),
            Entry("25 ms", STATIC, (935.998, 20.8005, 9.88285), (912.88, 17.16, 9.852), FRAGMENTS),
            Entry("250 ms", "ns3/published/target-250ms", (895.223, 16.6009, 10.8708), NONE, FRAGMENTS),
            Entry("5 s", "ns3/published/target-5s", (895.223, 16.6009, 10.8708), NONE, FRAGMENTS),
            Entry("smallest RTT seen", MIN_RTT, DOCUMENT_MIN_RTT, NS3_MIN_RTT, LEAST),
        ),
    ),
    Sweep(
        "Minimum congestion window, target the smallest RTT seen",
        (
            Entry("0", "ns3/published/min-cwnd-0", (753.614, 4.21358, 18.8132), NONE, "the least window, ours 1 B"),
            Entry("2000 B", MIN_RTT, DOCUMENT_MIN_RTT, NS3_MIN_RTT, LEAST),
            Entry("5000 B", "ns3/published/min-cwnd-5000", (916.074, 15.6578, 9.08512), NONE, "the least window"),
        ),
    ),
)
SETTINGS: Mapping[str, Mapping[str, object]] = {
    "ns3/published/target-0": {"controller.target": "static", "controller.static_target": "0s"},
    "ns3/published/target-250us": {"controller.target": "static", "controller.static_target": "250us"},
    "ns3/published/target-2500us": {"controller.target": "static", "controller.static_target": "2500us"},
    "ns3/published/target-250ms": {"controller.target": "static", "controller.static_target": "250ms"},
    "ns3/published/target-5s": {"controller.target": "static", "controller.static_target": "5s"},
    "ns3/published/min-cwnd-0": {"controller.min_cwnd": 1 / 1500},
    "ns3/published/min-cwnd-5000": {"controller.min_cwnd": 5000 / 1500},
}
"""What the entries change of the case with the smallest RTT as target; windows are in segments of 1500 B."""


def added(world: World) -> World:
    """Return the world of ns-3 with the entries that are no rows of the study: the document's figures, not judged."""
    if world.name != "ns3":
        return world
    base = next(case for case in world.cases if case.id == MIN_RTT)
    ours = {check.name: check for check in base.checks if isinstance(check, Figure)}
    cases = {}
    for sweep in SWEEPS:
        for entry in sweep.entries:
            if entry.case in SETTINGS:
                figures = zip(FIGURES, entry.document, strict=True)
                cases[entry.case] = replace(
                    base,
                    id=entry.case,
                    title=f"{sweep.title.split(',')[0]}: {entry.setting}",
                    settings={**base.settings, **SETTINGS[entry.case]},
                    checks=tuple(
                        Figure(name, unit, reference, None, ours[name].ours) for (name, unit), reference in figures
                    ),
                    quick=False,
                )
    section = Section(
        "ns3/published",
        "What the study's report prints",
        "Entries of the table at the end of this page that were not run on ns-3: the reference is the report, which "
        "does not say for how long it ran, so these are shown and not judged. Ours: 650 flows to one host, 1 s of ON "
        "time, sources of 100 Mb/s.",
    )
    return replace(world, sections=(*world.sections, section), cases=(*world.cases, *cases.values()))


def case_ids() -> set[str]:
    """Return the cases which the table shows."""
    return {entry.case for sweep in SWEEPS for entry in sweep.entries}


def cells(entry: Entry, rows: Sequence[Row]) -> list[str]:
    """Return a line's cells: the setting, document, ns-3 and ours of each figure, what decides them."""
    own = {row.figure: row.ours for row in rows if row.case == entry.case}
    made = [entry.setting]
    for i, (figure, _) in enumerate(FIGURES):
        made += [_number(entry.document[i]), _number(entry.ns3[i]), _number(own.get(figure))]
    return [*made, entry.decided_by]


HEADER = [
    "",
    *(f"{name} ({unit}): {whose}" for name, unit in FIGURES for whose in ("document", "ns-3", "ours")),
    "decided by",
]


def markdown(rows: Sequence[Row]) -> str:
    """Write the table for the page."""
    parts = []
    for sweep in SWEEPS:
        lines = [f"**{sweep.title}**", "", f"| {' | '.join(HEADER)} |", "|---" * len(HEADER) + "|"]
        lines += [f"| {' | '.join(cells(entry, rows))} |" for entry in sweep.entries]
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def text(rows: Sequence[Row]) -> str:
    """Write the table for a terminal."""
    lines = []
    for sweep in SWEEPS:
        lines += [sweep.title, f"  {'':18}" + "".join(f" | {f'{name} ({unit})':^28}" for name, unit in FIGURES)]
        lines.append(f"  {'':18}" + f" | {'document':>9}{'ns-3':>10}{'ours':>9}" * len(FIGURES))
        for entry in sweep.entries:
            setting, *numbers, decided = cells(entry, rows)
            line = f"  {setting:18}"
            for i in range(0, len(numbers), 3):
                line += f" | {numbers[i]:>9}{numbers[i + 1]:>10}{numbers[i + 2]:>9}"
            lines.append(f"{line} | {decided}" if decided else line)
    return "\n".join(lines)


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.5g}"
