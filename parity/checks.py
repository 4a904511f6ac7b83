"""Comparisons of figures, traces, packets, flows one by one, and changes between two runs.

A check takes the result of a run and answers with rows: one a figure, with the reference, ours and
whether the tolerance holds. Sums are exact (``math.fsum``) and stored with ten digits, so that the
rows are the same on every machine.
"""

from __future__ import annotations

import bisect
import math
import statistics
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from incast import Result
from incast.runs.scenario import toml_value
from parity.tolerances import AtLeast, AtMost, Exact, Overlap, Relative, SameChange, Tolerance, difference, holds, over

Number = Callable[[Result], "float | None"]
"""Function that takes a figure from a result, in the unit of the check; ``None`` if it does not exist."""


@dataclass(frozen=True)
class Series:
    """Values over time: each holds from its time on until the next."""

    times_s: Sequence[float]
    values: Sequence[float]
    before: float = math.nan
    """Value before the first time, if any."""

    def at(self, time_s: float) -> float:
        """Return the value at a time."""
        place = bisect.bisect_right(self.times_s, time_s) - 1
        return self.values[place] if place >= 0 else self.before

    def between(self, from_s: float, to_s: float) -> Series:
        """Return the part from one time to another."""
        kept = [(t, v) for t, v in zip(self.times_s, self.values, strict=True) if from_s <= t < to_s]
        return Series([t for t, _ in kept], [v for _, v in kept])


@dataclass(frozen=True)
class Explanation:
    """Named cause of a difference, and the switch that removes it.

    The case is run again with ``settings`` changed; the difference counts as explained only if the
    check holds then.

    Where the rule is the order of events at equal times, which the seed decides here and the order
    of insertion there, ``seeds`` are run, with ``settings`` changed too: the difference counts as
    explained only if the check holds with one of them, or the reference lies between the least and
    the greatest of ours.
    """

    rule: str
    settings: Mapping[str, object] = field(default_factory=dict)
    seeds: tuple[int, ...] = ()

    @property
    def switch(self) -> str:
        """Settings in the notation of the command line."""
        first, last = (self.seeds[0], self.seeds[-1]) if self.seeds else (0, 0)
        through = self.seeds == tuple(range(first, last + 1)) and last > first
        numbers = f"{first}..{last}" if through else ",".join(map(str, self.seeds))
        seeds = f"run.seed={numbers}" if self.seeds else ""
        return " ".join(text for text in (as_set(self.settings), seeds) if text)


def as_set(settings: Mapping[str, object]) -> str:
    """Write settings in the notation of ``--set``."""
    return " ".join(f"{key}={v if isinstance(v, str) else toml_value(v)}" for key, v in settings.items())


HOLDS, EXPLAINED, MISS, SHOWN = "holds", "explained", "MISS", "shown"
"""Verdicts. Rows that are shown have no tolerance and count neither way."""


@dataclass(frozen=True)
class Row:
    """One line of the comparison."""

    case: str
    title: str
    figure: str
    unit: str
    reference: float | None
    ours: float | None
    difference: str
    tolerance: str
    verdict: str
    rule: str = ""
    switch: str = ""
    switched: float | None = None
    """Our figure with the switch toggled, if an explanation names one."""


@dataclass(frozen=True)
class Line:
    """The picture of a trace: the reference, ours already shifted, and the unit."""

    name: str
    theirs: Series
    ours: Series


@dataclass(frozen=True)
class Cloud:
    """The picture of a comparison flow by flow."""

    unit: str
    theirs: tuple[float, ...]
    ours: tuple[float, ...]


Drawing = Line | Cloud


@dataclass
class Checked:
    """Rows and pictures of a check."""

    rows: list[Row]
    drawings: list[Drawing] = field(default_factory=list)


class Check(Protocol):
    """A comparison of one result with the reference."""

    @property
    def explained(self) -> Explanation | None:
        """Known reason why the check does not hold, if any."""

    def of(self, result: Result) -> Checked:
        """Compare; the rows have no case yet."""

    def unrun(self) -> list[Row]:
        """Return the rows of a failed run."""


def kept(value: float | None) -> float | None:
    """Round to ten digits, to remove effects of summation order and math libraries."""
    return value if value is None or not math.isfinite(value) else float(f"{value:.10g}")


def row(figure: str, unit: str, reference: float | None, ours: float | None, tolerance: Tolerance | None) -> Row:
    """Judge one figure; a figure without a tolerance is only shown."""
    reference, ours = kept(reference), kept(ours)
    both = reference is not None and ours is not None
    return Row(
        case="",
        title="",
        figure=figure,
        unit=unit,
        reference=reference,
        ours=ours,
        difference=difference(reference, ours, relative=tolerance is None or tolerance.relative)
        if reference is not None and ours is not None and both
        else "",
        tolerance="" if tolerance is None else tolerance.text,
        verdict=SHOWN if tolerance is None else HOLDS if holds(tolerance, reference, ours) else MISS,
    )


@dataclass(frozen=True)
class Figure:
    """One number of a run against one number of the reference.

    Without a tolerance it is shown, not judged: for rows that exist to show what a switch does.
    """

    name: str
    unit: str
    reference: float | None
    tolerance: Tolerance | None
    ours: Number
    rule: str = ""
    """Cause of a remaining difference within the tolerance."""
    explained: Explanation | None = None

    def of(self, result: Result) -> Checked:
        """Compare."""
        made = row(self.name, self.unit, self.reference, self.ours(result), self.tolerance)
        return Checked([replace(made, rule=self.rule)])

    def unrun(self) -> list[Row]:
        """Return the row without our figure."""
        return [row(self.name, self.unit, self.reference, None, self.tolerance)]


@dataclass(frozen=True)
class Column:
    """One column of a trace: the reference's series, ours, and the tolerance of a row."""

    name: str
    unit: str
    reference: Series
    ours: Callable[[Result], Series]
    bound: float


@dataclass(frozen=True)
class Trace:
    """Traces row by row: a share of the rows within bounds after one shift common to all columns.

    The shift (at most ``shift_max_s`` either way) is the smallest of those under which the worst
    column is best.
    """

    columns: tuple[Column, ...]
    shift_max_s: float
    share: float = 0.95
    steps: int = 48
    rule: str = ""
    """The cause of the first deviation."""
    explained: Explanation | None = None

    def of(self, result: Result) -> Checked:
        """Compare."""
        ours = [column.ours(result) for column in self.columns]
        shift = self.shift(ours)
        rows, drawings = [], list[Drawing]()
        for column, series in zip(self.columns, ours, strict=True):
            share, worst, first = self._agreement(column, series, shift)
            made = row(self._name(column), "%", 100 * self.share, 100 * share, AtLeast())
            told = f"shift {1e6 * shift:+.3g} us; largest deviation {worst:.4g} {column.unit}"
            if first is not None:
                told += f", first at {1e3 * first:.4g} ms"
            rows.append(replace(made, rule=f"{told}. {self.rule}" if self.rule else told))
            drawings.append(
                Line(f"{column.name} ({column.unit})", column.reference, _moved(series, -shift, column.reference))
            )
        return Checked(rows, drawings)

    def unrun(self) -> list[Row]:
        """Return the rows without our figures."""
        return [row(self._name(column), "%", 100 * self.share, None, AtLeast()) for column in self.columns]

    def shift(self, ours: Sequence[Series]) -> float:
        """Find the shift: the reference at time t is compared with ours at t + shift."""
        candidates = sorted((i * self.shift_max_s / self.steps for i in range(-self.steps, self.steps + 1)), key=abs)
        return max(
            candidates,
            key=lambda s: min(self._agreement(c, o, s)[0] for c, o in zip(self.columns, ours, strict=True)),
        )

    def _name(self, column: Column) -> str:
        return f"{column.name}: rows within {column.bound:g} {column.unit}"

    @staticmethod
    def _agreement(column: Column, ours: Series, shift: float) -> tuple[float, float, float | None]:
        inside, worst, first = 0, 0.0, None
        for time, value in zip(column.reference.times_s, column.reference.values, strict=True):
            away = abs(ours.at(time + shift) - value)
            if away <= column.bound:
                inside += 1
            elif first is None:
                first = time
            worst = math.inf if math.isnan(away) else max(worst, away)
        count = len(column.reference.times_s)
        return (inside / count if count else 0.0), worst, first


def _moved(series: Series, by_s: float, like: Series) -> Series:
    """Return a series moved in time, no longer than another one."""
    end = like.times_s[-1] if like.times_s else 0.0
    moved = [(t + by_s, v) for t, v in zip(series.times_s, series.values, strict=True) if t + by_s <= end]
    return Series([t for t, _ in moved], [v for _, v in moved])


@dataclass(frozen=True)
class Sent:
    """A packet on the wire: its time, and its identity: the sequence number, then the rest."""

    time_s: float
    what: tuple[int, *tuple[Hashable, ...]]


@dataclass(frozen=True)
class Packets:
    """Comparison of all packets of a trace: identity, order, and times."""

    reference: tuple[Sent, ...]
    ours: Callable[[Result], Sequence[Sent]]
    within_s: float | None = 1e-6
    """Largest error of a time; ``None`` if only the order is compared."""
    rule: str = ""
    explained: Explanation | None = None

    def of(self, result: Result) -> Checked:
        """Compare."""
        ours = self.ours(result)
        same, worst = 0, 0.0
        for theirs, mine in zip(self.reference, ours, strict=False):
            if theirs.what != mine.what:
                break
            same += 1
            worst = max(worst, abs(mine.time_s - theirs.time_s))
        # Packets after the first wrong one are not compared in time: each would be compared with another packet.
        told = "" if same == len(self.reference) == len(ours) else f"first other packet: number {same}"
        rule = ". ".join(text for text in (told, self.rule) if text)
        return Checked(
            self._rows(len(ours), same, 1e6 * worst if same else None, rule),
            [Line("sequence number (kB)", _sequence(self.reference), _sequence(ours))],
        )

    def unrun(self) -> list[Row]:
        """Return the rows without our figures."""
        return self._rows(None, None, None)

    def _rows(self, sent: int | None, same: int | None, worst_us: float | None, rule: str = "") -> list[Row]:
        count = len(self.reference)
        rows = [
            replace(row("packets sent", "packets", count, sent, Exact()), rule=rule),
            replace(row("the same packets, in order", "packets", count, same, Exact()), rule=rule),
        ]
        if self.within_s is not None:
            rows.append(row("largest time error", "us", 1e6 * self.within_s, worst_us, AtMost()))
        return rows


def _sequence(packets: Sequence[Sent]) -> Series:
    return Series([packet.time_s for packet in packets], [1e-3 * packet.what[0] for packet in packets])


@dataclass(frozen=True)
class PerFlow:
    """A figure of every flow: the mean, the median error of a flow, and the share of flows near."""

    name: str
    unit: str
    reference: Mapping[Hashable, float]
    ours: Callable[[Result], Mapping[Hashable, float | None]]
    mean: float
    """Tolerance of the mean, as a part of it."""
    median: float
    """Limit of the median of the flows' relative errors."""
    near: tuple[float, float]
    """Least share of the flows whose relative error is at most the second number."""
    rule: str = ""
    explained: Explanation | None = None

    def of(self, result: Result) -> Checked:
        """Compare; a flow that ours does not have is infinitely wrong."""
        ours = self.ours(result)
        pairs = [(theirs, ours.get(key)) for key, theirs in self.reference.items()]
        errors = [math.inf if mine is None else abs(mine - theirs) / theirs for theirs, mine in pairs]
        found = [mine for _, mine in pairs if mine is not None]
        whole = len(found) == len(pairs)
        middle = statistics.median(errors)
        share = sum(error <= self.near[1] for error in errors) / len(errors)
        rows = self._rows(
            math.fsum(found) / len(found) if whole else None,
            100 * middle if math.isfinite(middle) else None,
            100 * share,
        )
        cloud = Cloud(
            self.unit,
            tuple(theirs for theirs, mine in pairs if mine is not None),
            tuple(mine for _, mine in pairs if mine is not None),
        )
        return Checked([replace(made, rule=self.rule) for made in rows], [cloud])

    def unrun(self) -> list[Row]:
        """Return the rows without our figures."""
        return self._rows(None, None, None)

    def _rows(self, mean: float | None, median: float | None, share: float | None) -> list[Row]:
        theirs = math.fsum(self.reference.values()) / len(self.reference)
        return [
            row(f"{self.name}: mean", self.unit, theirs, mean, Relative(self.mean)),
            row(f"{self.name}: median error of a flow", "%", 100 * self.median, median, AtMost()),
            row(f"{self.name}: flows within {100 * self.near[1]:g} %", "%", 100 * self.near[0], share, AtLeast()),
        ]


@dataclass(frozen=True)
class Case:
    """One run with all its checks."""

    id: str
    """Reference, section and name: ``ns3/4.1/mode1/n100``."""
    title: str
    """Description of the run for a reader of the section."""
    scenario: str
    """Name of a built-in scenario, or of a file in ``parity/scenarios``."""
    settings: Mapping[str, object]
    checks: tuple[Check, ...]
    seed: int = 1
    quick: bool = False
    """True if the case runs in ``make test``: a second or less."""
    cost_s: float = 1.0
    """Rough CPU seconds: the longest start first."""
    base: str = ""
    """Case that differs from this one by a switch: the page shows the effect of the switch on the figures of both."""


A_THIRD = SameChange()


@dataclass(frozen=True)
class Change:
    """Changes between two cases, in percent: the same way and about as far as in the reference.

    The figures are those of both cases, by name.
    """

    id: str
    title: str
    base: str
    changed: str
    figures: tuple[str, ...]
    tolerance: SameChange = A_THIRD
    explained: Explanation | None = None
    again: tuple[tuple[str, str], ...] = ()
    """The same two runs with a switch turned: where ours misses, the reference has to lie between the least and
    the greatest change of all of them for the rule to explain it."""

    @property
    def needed(self) -> dict[str, tuple[str, ...]]:
        """Input cases, and their figures."""
        pairs = ((self.base, self.changed), *self.again)
        return {case: self.figures for pair in pairs for case in pair}

    def of(self, rows: Mapping[tuple[str, str], Row]) -> list[Row]:
        """Compare, from the rows of both cases by case and figure."""
        made = []
        for figure in self.figures:
            base, changed = rows[self.base, figure], rows[self.changed, figure]
            judged = row(
                f"{figure}: change",
                "%",
                _percent(base.reference, changed.reference),
                _percent(base.ours, changed.ours),
                self.tolerance,
            )
            judged = replace(judged, case=self.id, title=self.title)
            if self.explained is not None and judged.verdict == MISS:
                judged = self._explained(self.explained, judged, figure, rows)
            made.append(judged)
        return made

    def _explained(
        self, explanation: Explanation, judged: Row, figure: str, rows: Mapping[tuple[str, str], Row]
    ) -> Row:
        turned = [_percent(rows[base, figure].ours, rows[changed, figure].ours) for base, changed in self.again]
        ours = sorted(value for value in (judged.ours, *turned) if value is not None)
        inside = judged.reference is not None and len(ours) > 1 and ours[0] <= judged.reference <= ours[-1]
        nearest = min(
            (value for value in turned if value is not None),
            key=lambda value: abs(value - (judged.reference or 0.0)),
            default=None,
        )
        return replace(
            judged,
            verdict=EXPLAINED if inside else MISS,
            rule=f"{explanation.rule}: from {ours[0]:.4g} to {ours[-1]:.4g}" if ours else explanation.rule,
            switch=explanation.switch,
            switched=kept(nearest),
        )


@dataclass(frozen=True)
class Mean:
    """Means over cases that differ by their seed, against those over as many seeds of the reference.

    Where seeds draw what happens there and here, no run is held against a single other one.
    """

    id: str
    title: str
    cases: tuple[str, ...]
    figures: tuple[tuple[str, str, float, Tolerance | None], ...]
    """Figures of the cases: name, unit, the reference's mean, and how far ours may be."""
    rules: Mapping[str, str] = field(default_factory=dict)
    """Explanations of figures that do not hold."""
    explained: Mapping[str, Explanation] = field(default_factory=dict)
    """Figures that are known not to hold: with settings, the mean of ``again`` has to; with seeds alone, the reference
    has to lie between the least and the greatest of all single runs."""
    again: tuple[str, ...] = ()
    """The cases with the switch of the explanations turned, or further seeds."""

    @property
    def needed(self) -> dict[str, tuple[str, ...]]:
        """Input cases, and their figures."""
        return dict.fromkeys((*self.cases, *self.again), tuple(name for name, *_ in self.figures))

    def of(self, rows: Mapping[tuple[str, str], Row]) -> list[Row]:
        """Compare, from the rows of the cases by case and figure."""
        made = []
        for name, unit, reference, tolerance in self.figures:
            own = self._judged(name, unit, reference, tolerance, [rows[case, name].ours for case in self.cases])
            if name in self.explained:
                again = [rows[case, name].ours for case in self.again]
                switched = self._judged(name, unit, reference, tolerance, again)
                singles = [rows[case, name].ours for case in (*self.cases, *self.again)]
                own = self._explained(own, switched, [value for value in singles if value is not None])
            made.append(own)
        return made

    def _judged(
        self, name: str, unit: str, reference: float, tolerance: Tolerance | None, ours: Sequence[float | None]
    ) -> Row:
        found = [value for value in ours if value is not None]
        mean = math.fsum(found) / len(found) if found and len(found) == len(ours) else None
        bound = over(tolerance, found)
        judged = row(name, unit, reference, mean, bound)
        told = self.rules.get(name, "")
        if judged.verdict == HOLDS and isinstance(bound, Overlap) and not holds(bound.otherwise, reference, mean):
            told = told or f"±{bound.theirs:.2g} there and ±{bound.ours:.2g} here"
        return replace(judged, case=self.id, title=self.title, rule=told)

    def _explained(self, own: Row, switched: Row, singles: Sequence[float]) -> Row:
        explanation = self.explained[own.figure]
        if own.verdict != MISS:
            return replace(own, verdict=MISS, rule="an explanation is given for a difference that is not there")
        if explanation.settings or own.reference is None:
            found, rule, turned = switched.verdict == HOLDS, explanation.rule, switched.ours
        else:
            found = min(singles) <= own.reference <= max(singles)
            rule = f"{explanation.rule}: single runs from {min(singles):.4g} to {max(singles):.4g}"
            turned = kept(math.fsum(singles) / len(singles))
        verdict = EXPLAINED if found else MISS
        return replace(own, verdict=verdict, rule=rule, switch=explanation.switch, switched=turned)


Derived = Change | Mean
"""A check on the rows of several cases."""


def _percent(before: float | None, after: float | None) -> float | None:
    return None if before is None or after is None or before == 0 else 100 * (after - before) / before


@dataclass(frozen=True)
class Section:
    """A table of the page: the cases whose ids begin with ``prefix`` and a slash."""

    prefix: str
    title: str
    text: str = ""
    """Introduction for the reader: what was run, where the reference's numbers are from."""
    picture: str = ""
    """``"ratios"`` or ``"values"`` (a dot a row), ``"traces"`` or ``"clouds"`` (a dot a flow), or none."""
    listed: bool = True
    """True if the rows are on the page; otherwise only in the CSV file."""


@dataclass(frozen=True)
class Reference:
    """A reference: description, version, source, and its comparisons."""

    name: str
    """Prefix of ids."""
    title: str
    text: str
    sections: tuple[Section, ...]
    cases: tuple[Case, ...]
    changes: tuple[Change, ...] = ()
    means: tuple[Mean, ...] = ()

    @property
    def derived(self) -> tuple[Derived, ...]:
        """All checks on the rows of several cases."""
        return (*self.changes, *self.means)
