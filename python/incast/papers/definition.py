"""Definition of a paper: its figures, their runs, published numbers, and claims."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from importlib.resources import files
from pathlib import Path, PurePosixPath
from typing import Any

from incast.runs.scenario import Scenario

PAPER_FILE = "paper.toml"
SCALES = ("small", "paper")
PERCENTILES: Mapping[str, int | Fraction] = {"median": 50, "p1": 1, "p95": 95, "p99": 99, "p999": Fraction(999, 10)}
"""Reductions to a percentile, in percent."""
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
"""Names of figures and plots, used as file names."""
LOOKS = 64
"""Number of distinct styles of series in pictures."""
FLOWS_SHOWN = 12
"""Most entities in a picture of series over time, and default number of flows of a timeline."""
X = str | float
"""A place on the x axis: a number, or a name."""


@dataclass(frozen=True)
class Point:
    """A place on the x axis, and its settings."""

    x: X
    set: Mapping[str, Any] = field(default_factory=dict)
    span_s: tuple[float, float] | None = None
    """Time span of the run for measures on tables; default: the whole run."""
    where: Mapping[str, str] = field(default_factory=dict)
    """Values that columns must have in rows for measures on tables, in addition to those of the measures."""
    scenario: str | None = None
    """File of its runs, if it differs from the figure's."""


@dataclass(frozen=True)
class Series:
    """A line of the plot: settings of its runs, or formulas without runs."""

    name: str
    set: Mapping[str, Any] = field(default_factory=dict)
    values: Mapping[str, ast.expr] = field(default_factory=dict)
    """Expressions in x by measure; a series with expressions has no runs."""
    look: int | None = None
    """Number of its colour, line and marker, from 1; default: its place among the series of a picture."""


@dataclass(frozen=True)
class Measure:
    """A number of a run: a key of its summary, or a reduction of one of its tables.

    With neither it is computed, by series with values.
    """

    name: str
    label: str
    unit: str = ""
    scale: float = 1.0
    of: str | None = None
    """Key of the summary."""
    table: str | None = None
    column: str | None = None
    over: str | None = None
    """Column of divisors, row by row."""
    less: str | None = None
    """Column to subtract, row by row."""
    where: Mapping[str, str] = field(default_factory=dict)
    """Values that columns must have."""
    by: str | None = None
    """Column to group by: rows with equal values are summed first."""
    reduce: str = "mean"
    range: tuple[float, float] | None = None
    """Lower and upper limit of the measure, if any; 0 and 1 for Jain's index."""
    place: str = field(default="", compare=False)
    """File and key, for messages."""

    @property
    def title(self) -> str:
        """Label with its unit."""
        return f"{self.label} ({self.unit})" if self.unit else self.label


@dataclass(frozen=True)
class Plot:
    """A picture."""

    name: str
    kind: str
    caption: str
    y: Sequence[str] = ()
    """Measures: one line per series and measure."""
    x: str = ""
    """Measure of the x axis of a scatter."""
    y_label: str = ""
    log: Sequence[str] = ()
    """Logarithmic axes."""
    curves: Sequence[tuple[str, ast.expr]] = ()
    """Labels and expressions in x of additional curves; over time, x is in seconds."""
    fill: bool = False
    """True if the area under the first series over time is grey."""
    series: Sequence[str] = ()
    """Series to draw; empty: all."""
    points: Sequence[X] = ()
    """Points of a distribution, series over time or rows; empty: all."""
    table: str = "flows"
    column: str = ""
    x_column: str = ""
    """Column of the x axis of rows; empty: row number, from 1."""
    x_scale: float = 1.0
    """Factor of ``x_column``."""
    mark: str = ""
    """Drawing style of a row."""
    where: Mapping[str, str] = field(default_factory=dict)
    """Values that columns must have."""
    scale: float = 1.0
    x_label: str = ""
    bin_s: float = 1e-3
    differences_to: str = ""
    """Reference series of an additional panel with differences, for the first measure."""
    zoom: tuple[float, float] | None = None
    """First and last point of an additional zoomed panel."""
    flows: int = FLOWS_SHOWN
    """Most flows of a timeline, evenly chosen from all."""
    place: str = field(default="", compare=False)
    """File and key, for messages."""


@dataclass(frozen=True)
class Published:
    """A published number."""

    series: str
    x: X
    measure: str
    value: float


@dataclass(frozen=True)
class Claim:
    """A statement of the paper in our words, and the condition on the numbers."""

    says: str
    where: str
    holds: ast.expr
    each_seed: bool = False
    """True if it must hold for every seed; otherwise for the means."""
    paired: bool = False
    """True if comparisons use paired differences, whose intervals must exclude zero."""
    found: str = ""
    """Known reason why the claim does not hold here, shown if it does not."""
    found_in_part: str | None = None
    """Reason shown instead if a scale covers only a part of the claim; empty: none."""
    scales: Sequence[str] = SCALES
    """Scales at which the claim is judged; at others it is not tested."""
    unused: Mapping[str, str] = field(default_factory=dict)
    """Numbers and words of ``says`` that the expression intentionally does not use, with reasons."""

    @property
    def own(self) -> bool:
        """True for a check of our own rather than a statement of the paper: its place begins with "own" or "our"."""
        return re.match(r"(own|ours?)\b", self.where) is not None


@dataclass(frozen=True)
class Change:
    """A key that a command overrides in the runs of some series."""

    key: str
    value: str
    series: Sequence[str]
    """Names of the series."""
    was: Sequence[str] = ()
    """Original values in these series, each once."""

    @property
    def text(self) -> str:
        """Key and value in the notation of the command line."""
        return f"{self.key}={self.value}"


@dataclass(frozen=True)
class Figure:
    """A figure or table of a paper."""

    name: str
    title: str
    where: str
    shows: str
    scenario: str
    """Scenario of the runs; empty if every series is a formula."""
    seeds: int
    x_label: str
    assumptions: Sequence[str]
    settings: Mapping[str, Any]
    points: Sequence[Point]
    series: Sequence[Series]
    measures: Mapping[str, Measure]
    plots: Sequence[Plot]
    published: Sequence[Published]
    claims: Sequence[Claim]
    scales: Mapping[str, Mapping[str, Any]]
    changes: Sequence[Change] = ()
    """Changes by a command; with any, the figure has a changed set-up."""
    fewer_than: int = 0
    """Seeds at scale paper if a command requests fewer; 0 otherwise."""
    best: str = ""
    """Measure by which the series with the least mean is told at each point; empty: none."""

    def at(self, scale: str) -> Figure:
        """Return the figure at a scale."""
        changed = self.scales.get(scale, {})
        return replace(
            self,
            seeds=changed.get("seeds", self.seeds),
            points=changed.get("points", self.points),
            settings={**self.settings, **changed.get("settings", {})},
        )

    def with_seeds(self, most: int) -> Figure:
        """Return the figure with at most this many seeds, at any scale."""
        scales = {
            scale: {**changed, "seeds": min(changed["seeds"], most)} if "seeds" in changed else changed
            for scale, changed in self.scales.items()
        }
        whole = self.at(SCALES[-1]).seeds
        return replace(
            self,
            seeds=min(self.seeds, most),
            scales=scales,
            fewer_than=self.fewer_than or (whole if whole > most else 0),
        )

    def places(self) -> list[X]:
        """Points of all scales."""
        drawn = [self.points, *(changed["points"] for changed in self.scales.values() if "points" in changed)]
        return list(dict.fromkeys(point.x for some in drawn for point in some))


def home() -> Path:
    """Return the folder of the built-in papers."""
    return Path(str(files("incast"))) / "papers"


def is_inside(folder: Path, name: str) -> bool:
    """Return whether a file name in a paper is inside its folder, without links.

    Links are allowed for built-in papers, since installers may link their files.
    """
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or not (folder / path).is_file():
        return False
    places = [path, *path.parents][:-1]
    return folder.parent == home() or not any((folder / place).is_symlink() for place in places)


@dataclass(frozen=True)
class Paper:
    """A paper: its folder, and its figures in order."""

    name: str
    folder: Path
    title: str
    source: str
    about: str
    figures: Mapping[str, Figure]
    aliases: Sequence[str] = ()
    """Other names known to readers of the document."""
    answer: str = ""
    """Figure at the beginning of the report, before all claims; empty: none."""

    @property
    def path(self) -> Path:
        """File of the definition."""
        return self.folder / PAPER_FILE

    def called(self, figure: Figure | None = None) -> str:
        """Return the name of the paper or a figure on the command line; built-in papers go by name."""
        own = self.folder.parent != home()
        parts = self.folder.parts
        is_plain = own and (len(parts) == 1 or (home().joinpath(*parts[:1]) / PAPER_FILE).is_file())
        whole = f"./{self.folder}" if is_plain else str(self.folder) if own else self.name
        return shlex.quote(f"{whole}/{figure.name}" if figure else whole)

    def with_seeds(self, most: int) -> Paper:
        """Return the paper with at most this many seeds per point."""
        return replace(self, figures={name: figure.with_seeds(most) for name, figure in self.figures.items()})

    def scenario(self, figure: Figure, series: Series, point: Point) -> Scenario:
        """Make the scenario of a point, with the scenario's own seed."""
        base = Scenario.load(self.folder / (point.scenario or figure.scenario))
        # in this order: a series may change the kind of controller, whose parameters the settings have
        whole = base.changed(dict(figure.settings)).changed(dict(series.set)).changed(dict(point.set))
        changes = {one.key: one.value for one in figure.changes if series.name in one.series}
        return whole.changed(changes) if changes else whole
