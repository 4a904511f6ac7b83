"""The table that the study omarghara/DCTCP-SWIFT-YASOMAM publishes, beside ns-3's figures and ours.

Its report (section on fine-tuning Swift) prints mean throughput, delay and loss of 650 connections to
one host of a k = 4 fat tree for several target delays and minimum windows, and does not say for how
long it ran. The ns-3 column was measured with ns-3.43 on the same code with a stated run. Ours come
from the rows of the cases named here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from parity.checks import Row

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


SWEEPS = (
    Sweep(
        "Target delay",
        (
            Entry("0", "ns3/published/target-0", (931.568, 6.75792, 3.13449), NONE, ""),
            Entry("0.25 ms", "ns3/published/target-250us", (991.893, 8.1513, 3.61618), NONE, ""),
            Entry("2.5 ms", "ns3/published/target-2500us", (970.33, 6.81673, 3.66038), NONE, ""),
            Entry("25 ms", "ns3/published/target-25ms", (935.998, 20.8005, 9.88285), (912.88, 17.16, 9.852), ""),
            Entry("250 ms", "ns3/published/target-250ms", (895.223, 16.6009, 10.8708), NONE, ""),
            Entry("5 s", "ns3/published/target-5s", (895.223, 16.6009, 10.8708), NONE, ""),
            Entry(
                "smallest RTT seen",
                "ns3/published/target-min-rtt",
                (1027.01, 9.28047, 3.26633),
                (1027.07, 7.76, 3.325),
                "",
            ),
        ),
    ),
    Sweep(
        "Minimum congestion window, target the smallest RTT seen",
        (
            Entry("0", "ns3/published/min-cwnd-0", (753.614, 4.21358, 18.8132), NONE, ""),
            Entry("2000 B", "ns3/published/target-min-rtt", (1027.01, 9.28047, 3.26633), (1027.07, 7.76, 3.325), ""),
            Entry("5000 B", "ns3/published/min-cwnd-5000", (916.074, 15.6578, 9.08512), NONE, ""),
        ),
    ),
)


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
