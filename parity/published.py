"""Published table of the study omarghara/DCTCP-SWIFT-YASOMAM, with ns-3's figures and ours.

Its report (section on fine-tuning Swift) prints mean throughput, delay and loss of 650 connections to
one host of a k = 4 fat tree for several target delays and minimum windows, and says neither how long
it ran nor who sent, nor how fast. Its figures agree with mode 0, its default rate 5 Gb/s and sinks that
stop at 5 s (inferred: the report does not state it). The ns-3 column was measured with ns-3.43 on the
same code, in runs stated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from parity import ns3
from parity.checks import Case, Figure, Reference, Row, Section

FIGURES = (("throughput", "Kibit/s"), ("mean delay", "ms"), ("loss", "%"))
"""The three figures, by their names in the cases' checks."""

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


START = "the losses of the common start; then the least window: the window never grows for long"
SAMPLES = "samples of 1 us below the target let the window grow at the start; then the least window"
LIMIT = "the window grows to 60,000 B: the queue stays full and tail drop decides"

INFERRED = (
    "its figures agree with mode 0, its default rate 5 Gb/s and sinks that stop at 5 s "
    "(inferred: the report does not state it)"
)

SWEEPS = (
    Sweep(
        f"Target delay ({INFERRED})",
        (
            Entry("0", "ns3/published/target-0", (931.568, 6.75792, 3.13449), NONE, START),
            Entry("0.25 ms", "ns3/published/target-250us", (991.893, 8.1513, 3.61618), NONE, SAMPLES),
            Entry("2.5 ms", "ns3/published/target-2500us", (970.33, 6.81673, 3.66038), NONE, SAMPLES),
            Entry("25 ms", "ns3/published/target-25ms", (935.998, 20.8005, 9.88285), NONE, LIMIT),
            Entry("250 ms", "ns3/published/target-250ms", (895.223, 16.6009, 10.8708), NONE, LIMIT),
            Entry("5 s", "ns3/published/target-5s", (895.223, 16.6009, 10.8708), NONE, LIMIT),
            Entry("smallest RTT seen", "ns3/published/target-min-rtt", (1027.01, 9.28047, 3.26633), NONE, START),
        ),
    ),
    Sweep(
        "Minimum congestion window, target the smallest RTT seen (the same runs)",
        (
            Entry(
                "0",
                "ns3/published/min-cwnd-0",
                (753.614, 4.21358, 18.8132),
                NONE,
                "a window cut to nothing waits for timeouts",
            ),
            Entry("2000 B", "ns3/published/target-min-rtt", (1027.01, 9.28047, 3.26633), NONE, START),
            Entry(
                "5000 B",
                "ns3/published/min-cwnd-5000",
                (916.074, 15.6578, 9.08512),
                NONE,
                "the least window, 3 segments",
            ),
        ),
    ),
    Sweep(
        "The same settings in other runs",
        tuple(
            Entry(f"{target}, mode {mode}, {stop} s, 100 Mb/s", f"ns3/published/{name}", NONE, ns3, decided)
            for target, mode, stop, name, ns3, decided in (
                ("smallest RTT", 0, 5, "min-rtt-mode0-5s", (1028.26, 5.97, 3.366), START),
                ("smallest RTT", 1, 5, "min-rtt-mode1-5s", (1027.07, 7.76, 3.325), START),
                ("smallest RTT", 0, 15, "min-rtt-mode0-15s", (1172.66, 6.91, 0.330), START),
                ("25 ms", 1, 5, "25ms-mode1-5s", (912.88, 17.16, 9.852), LIMIT),
                ("25 ms", 0, 15, "25ms-mode0-15s", (1006.49, 17.45, 6.979), LIMIT),
            )
        ),
    ),
)


def added(reference: Reference) -> Reference:
    """Return ns-3 with the runs of the table; others as they are."""
    if reference.name != "ns3":
        return reference
    section = Section(
        "ns3/published",
        "What the study's report prints",
        "Entries of the table at the end of this page: the reference is the report, or "
        f"ns-3 where the report has no such run. Shown, not compared: of the report, {INFERRED}.",
    )
    return replace(reference, sections=(*reference.sections, section), cases=(*reference.cases, *cases()))


def cases() -> tuple[Case, ...]:
    """Return the runs of the table; their figures are shown."""
    static = {"0": "0s", "250us": "250us", "2500us": "2500us", "25ms": "25ms", "250ms": "250ms", "5s": "5s"}
    smallest = "target=min-rtt"
    swept = {f"target-{name}": f"target=static,static_target={value}" for name, value in static.items()}
    swept |= {
        "target-min-rtt": smallest,
        # a window of nothing: no packet ever goes but by a timeout
        "min-cwnd-0": f"{smallest},min_cwnd=0.000001",
        "min-cwnd-5000": f"{smallest},min_cwnd={5000 / 1500!r}",
    }
    still = "target=static,static_target=25ms"
    others = (
        ("min-rtt-mode0-5s", smallest, "0", 5),
        ("min-rtt-mode1-5s", smallest, "1", 5),
        ("min-rtt-mode0-15s", smallest, "0", 15),
        ("25ms-mode1-5s", still, "1", 5),
        ("25ms-mode0-15s", still, "0", 15),
    )
    return (
        *(case(name, parameters, "0", "5Gbps", 5) for name, parameters in swept.items()),
        *(case(name, parameters, mode, "100Mbps", stop) for name, parameters, mode, stop in others),
    )


def case(line: str, parameters: str, mode: str, rate: str, stop_s: float) -> Case:
    """Make the case of a line."""
    filled = 40 if mode == "0" else 0
    stated = next(entry for sweep in SWEEPS for entry in sweep.entries if entry.case == f"ns3/published/{line}")
    theirs = stated.document if stated.document != NONE else stated.ns3
    settings = ns3.study_settings("650", rate, stop_s, "edge7>host15:a2b")
    of = {"throughput": ns3.throughput_of(filled), "mean delay": ns3.delay_of(filled), "loss": ns3.loss_of(filled)}
    return Case(
        f"ns3/published/{line}",
        line,
        ns3.STUDY[mode],
        {**settings, "controller": f"swift:form=yasomam,{parameters}", **ns3.AROUND["swift"]},
        tuple(Figure(name, unit, value, None, of[name]) for (name, unit), value in zip(FIGURES, theirs, strict=True)),
        cost_s=1.0,
    )


def case_ids() -> set[str]:
    """Return the cases in the table."""
    return {entry.case for sweep in SWEEPS for entry in sweep.entries}


def cells(entry: Entry, rows: Sequence[Row]) -> list[str]:
    """Return a line's cells: the setting; document, ns-3 and ours of each figure; the explanation."""
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
    return "-" if value is None else f"{value:.6g}"
