"""The definition of a paper: its figures, their runs, the published numbers, and its claims."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.resources import files
from pathlib import Path, PurePosixPath
from typing import Any

from incast.scenario import Scenario

PAPER_FILE = "paper.toml"
SCALES = ("small", "paper")
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
"""Names of figures and plots: files are named after them."""
LOOKS = 64
"""Colours that pictures tell series apart by."""
FLOWS_SHOWN = 12
"""Entities that a picture of series over time has at most, and flows of a timeline that does not say how many."""
X = str | float
"""A place on the x axis: a number, or a name."""


@dataclass(frozen=True)
class Point:
    """A place on the x axis, and what is set there."""

    x: X
    set: Mapping[str, Any] = field(default_factory=dict)
    span_s: tuple[float, float] | None = None
    """The part of the run that measures on tables look at; all of it where there is none."""
    where: Mapping[str, str] = field(default_factory=dict)
    """Values that columns must have in the rows that measures on tables look at, beside those that measures name."""
    scenario: str | None = None
    """File of its runs, where it is not the figure's."""


@dataclass(frozen=True)
class Series:
    """A line of the plot: what is set for its runs, or what it is worked out from without any."""

    name: str
    set: Mapping[str, Any] = field(default_factory=dict)
    values: Mapping[str, ast.expr] = field(default_factory=dict)
    """Expressions in x by measure; a series that has some has no runs."""
    look: int | None = None
    """Number of its colour, line and marker, from 1; without one that of its place among what a picture has."""


@dataclass(frozen=True)
class Measure:
    """A number read off a run: a key of its summary, or rows of one of its tables put together.

    With neither it is worked out, by series that have values.
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
    """Column that this one is divided by, row by row."""
    less: str | None = None
    """Column that is taken from this one, row by row."""
    where: Mapping[str, str] = field(default_factory=dict)
    """Values that columns must have."""
    by: str | None = None
    """Column whose equal values are added up first."""
    reduce: str = "mean"
    range: tuple[float, float] | None = None
    """What it may be at least and at most, where there are such bounds; of Jain's index 0 and 1."""
    place: str = field(default="", compare=False)
    """File and key where it stands, for messages."""

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
    """Measures, one line a series and measure."""
    x: str = ""
    """Measure of the x axis of a scatter."""
    y_label: str = ""
    log: Sequence[str] = ()
    """Axes that are logarithmic."""
    curves: Sequence[tuple[str, ast.expr]] = ()
    """Labels and expressions in x that are drawn beside; over time, x is seconds."""
    fill: bool = False
    """Whether the area under the first series over time is grey."""
    series: Sequence[str] = ()
    """Series that are drawn; all where it is empty."""
    points: Sequence[X] = ()
    """Points that a distribution, series over time or rows are drawn of; all where it is empty."""
    table: str = "flows"
    column: str = ""
    x_column: str = ""
    """Column of the x axis of rows; their number in the table, from 1, where it is empty."""
    x_scale: float = 1.0
    """Factor of ``x_column``."""
    mark: str = ""
    """What a row is drawn as."""
    where: Mapping[str, str] = field(default_factory=dict)
    """Values that columns must have."""
    scale: float = 1.0
    x_label: str = ""
    bin_s: float = 1e-3
    differences_to: str = ""
    """Series to which the others' differences are drawn beside the lines of the first measure."""
    zoom: tuple[float, float] | None = None
    """Points that are drawn once more beside them, from the first to the last."""
    flows: int = FLOWS_SHOWN
    """Flows that a timeline has at most, evenly drawn from all."""
    place: str = field(default="", compare=False)
    """File and key where it stands, for messages."""


@dataclass(frozen=True)
class Published:
    """A number the paper has."""

    series: str
    x: X
    measure: str
    value: float


@dataclass(frozen=True)
class Claim:
    """A statement of the paper in our words, and what must hold of the numbers for it."""

    says: str
    where: str
    holds: ast.expr
    each_seed: bool = False
    """Whether it must hold in every seed by itself; otherwise of the means."""
    paired: bool = False
    """Whether comparisons are of differences seed by seed, and must be clear of their intervals."""
    found: str = ""
    """The reason why it does not hold here, as far as it was found; shown where it does not."""
    found_in_part: str | None = None
    """What is shown in its place where a scale has a part of the claim alone; nothing where it is empty."""
    scales: Sequence[str] = SCALES
    """Scales at which it is judged; at the others it is not tested."""
    unused: Mapping[str, str] = field(default_factory=dict)
    """Numbers and words of ``says`` that the expression rightly does not use, each with the reason."""

    @property
    def own(self) -> bool:
        """Whether it is a check of our own and no statement of the paper: its place begins with "own" or "our"."""
        return re.match(r"(own|ours?)\b", self.where) is not None


@dataclass(frozen=True)
class Change:
    """A key that a command sets in the runs of some series, whatever the paper sets there."""

    key: str
    value: str
    series: Sequence[str]
    """Names of the series."""
    was: Sequence[str] = ()
    """What stood there in them, each value once."""

    @property
    def text(self) -> str:
        """Key and value as the command line has them."""
        return f"{self.key}={self.value}"


@dataclass(frozen=True)
class Figure:
    """A figure or table of a paper."""

    name: str
    title: str
    where: str
    shows: str
    scenario: str
    """File of the runs; empty where every series is worked out without any."""
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
    """What a command changes: the figure is of another set-up then."""
    fewer_than: int = 0
    """Seeds of scale paper, where a command asks for fewer; 0 where none does."""

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
        """Return the figure with no more seeds than this, at any scale."""
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
    """Folder of the papers that come with the package."""
    return Path(str(files("incast"))) / "papers"


def is_inside(folder: Path, name: str) -> bool:
    """Whether a paper's name of a file is one of a file in its folder: no link, and no way out of it.

    Installers may link the files of papers that come with the package.
    """
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or not (folder / path).is_file():
        return False
    places = [path, *path.parents][:-1]
    return folder.parent == home() or not any((folder / place).is_symlink() for place in places)


@dataclass(frozen=True)
class Paper:
    """A paper: its folder, and the figures in their order."""

    name: str
    folder: Path
    title: str
    source: str
    about: str
    figures: Mapping[str, Figure]
    aliases: Sequence[str] = ()
    """Other names, which readers of the document know."""
    answer: str = ""
    """Figure that the report begins with, before the claims of all; none where it is empty."""

    @property
    def path(self) -> Path:
        """File that says all this."""
        return self.folder / PAPER_FILE

    def called(self, figure: Figure | None = None) -> str:
        """Return what the command line calls the paper or a figure: by name what comes with the package."""
        own = self.folder.parent != home()
        parts = self.folder.parts
        is_plain = own and (len(parts) == 1 or (home().joinpath(*parts[:1]) / PAPER_FILE).is_file())
        whole = f"./{self.folder}" if is_plain else str(self.folder) if own else self.name
        return shlex.quote(f"{whole}/{figure.name}" if figure else whole)

    def with_seeds(self, most: int) -> Paper:
        """Return the paper with no more seeds a point than this."""
        return replace(self, figures={name: figure.with_seeds(most) for name, figure in self.figures.items()})

    def scenario(self, figure: Figure, series: Series, point: Point) -> Scenario:
        """Make the scenario behind a point; the seed is the scenario's."""
        base = Scenario.load(self.folder / (point.scenario or figure.scenario))
        # One after another: a series may change the kind of controller that the settings have parameters of.
        whole = base.changed(dict(figure.settings)).changed(dict(series.set)).changed(dict(point.set))
        changes = {one.key: one.value for one in figure.changes if series.name in one.series}
        return whole.changed(changes) if changes else whole
