"""What a paper is: its figures, what is run for them, what was published, and what it claims."""

from __future__ import annotations

import ast
import difflib
import itertools
import math
import re
import shlex
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from incast.errors import PaperError
from incast.output import escaped
from incast.papers import expression, judging
from incast.papers.expression import ExpressionError, MeaninglessError
from incast.scenario import Scenario

PAPER_FILE = "paper.toml"
SCALES = ("small", "paper")
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
"""What figures and plots may be called: files are named after them."""
LOOKS = 8
"""Colours that pictures tell series apart by."""
X = str | float
"""A place on the x axis: a number, or a name."""


@dataclass(frozen=True)
class Point:
    """A place on the x axis, and what is set there."""

    x: X
    set: Mapping[str, Any] = field(default_factory=dict)
    span_s: tuple[float, float] | None = None
    """The part of the run that measures on tables look at; all of it where there is none."""
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
    where: Mapping[str, str] = field(default_factory=dict)
    """Values that columns must have."""
    by: str | None = None
    """Column whose equal values are added up first."""
    reduce: str = "mean"
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
    y_label: str = ""
    log: Sequence[str] = ()
    """Axes that are logarithmic."""
    curves: Sequence[tuple[str, ast.expr]] = ()
    """Labels and expressions in x that are drawn beside."""
    series: Sequence[str] = ()
    """Series that are drawn; all where it is empty."""
    points: Sequence[X] = ()
    """Points that a distribution is drawn of; all where it is empty."""
    table: str = "flows"
    column: str = ""
    where: Mapping[str, str] = field(default_factory=dict)
    """Values that columns must have."""
    scale: float = 1.0
    x_label: str = ""
    bin_s: float = 1e-3
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
    found: str = ""
    """What was found out about why it does not hold here; shown where it does not."""


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
        return replace(self, seeds=min(self.seeds, most), scales=scales)

    def places(self) -> list[X]:
        """Points of all scales."""
        drawn = [self.points, *(changed["points"] for changed in self.scales.values() if "points" in changed)]
        return list(dict.fromkeys(point.x for some in drawn for point in some))


@dataclass(frozen=True)
class Paper:
    """A paper: its folder, and the figures in their order."""

    name: str
    folder: Path
    title: str
    source: str
    about: str
    figures: Mapping[str, Figure]

    @property
    def path(self) -> Path:
        """File that says all this."""
        return self.folder / PAPER_FILE

    def called(self, figure: Figure | None = None) -> str:
        """Return what the command line calls the paper or a figure: by name what comes with the package."""
        own = self.folder.parent != _home()
        whole = f"./{self.folder}" if own and len(self.folder.parts) == 1 else str(self.folder) if own else self.name
        return shlex.quote(f"{whole}/{figure.name}" if figure else whole)

    def with_seeds(self, most: int) -> Paper:
        """Return the paper with no more seeds a point than this."""
        return replace(self, figures={name: figure.with_seeds(most) for name, figure in self.figures.items()})

    def scenario(self, figure: Figure, series: Series, point: Point) -> Scenario:
        """Make the scenario behind a point; the seed is the scenario's."""
        base = Scenario.load(self.folder / (point.scenario or figure.scenario))
        # One after another: a series may change the kind of controller that the settings have parameters of.
        return base.with_(dict(figure.settings)).with_(dict(series.set)).with_(dict(point.set))


def names() -> list[str]:
    """Names of the papers that come with the package."""
    return sorted(place.name for place in _home().iterdir() if (place / PAPER_FILE).is_file())


def find(text: str, seeds: int | None = None) -> tuple[Paper, list[Figure]]:
    """Find ``NAME``, ``NAME/FIGURE``, or the same with the path of a folder; without a figure all of them.

    Figures have no more ``seeds`` a point than asked for.
    """
    whole = Path(text)
    if (whole / PAPER_FILE).is_file():
        paper, figure = load(whole), ""
    elif (whole.parent / PAPER_FILE).is_file() and whole.name:
        paper, figure = load(whole.parent), whole.name
    else:
        name, _, figure = text.partition("/")
        own = text.startswith((".", "/", "~")) or (whole.is_dir() and name not in names())
        if own:
            beside = whole if whole.is_dir() or not whole.parent.is_dir() else whole.parent
            raise PaperError(f'no paper "{text}": {beside} holds no {PAPER_FILE}')
        if name not in names():
            raise PaperError(f'no paper "{name}"{nearest(name, names())}: expected one of {", ".join(names())}')
        if text.endswith("/"):
            raise PaperError(f'"{text}": expected a figure behind the slash, or {name} for all of them')
        paper = load(_home() / name)
    if seeds is not None:
        paper = paper.with_seeds(seeds)
    if not figure:
        return paper, list(paper.figures.values())
    if figure not in paper.figures:
        raise PaperError(
            f'{paper.name} has no figure "{figure}"{nearest(figure, list(paper.figures))}: '
            f"expected one of {', '.join(paper.figures)}"
        )
    return paper, [paper.figures[figure]]


def _home() -> Path:
    return Path(str(files("incast"))) / "papers"


def nearest(word: str, known: Sequence[str]) -> str:
    """Ask whether the known name next to a word was meant; nothing where none is near."""
    near = difflib.get_close_matches(word, known, n=1)
    return f' (did you mean "{near[0]}"?)' if near else ""


def load(folder: Path) -> Paper:
    """Read a paper's folder; ``PaperError`` names the file, the key, its value and what was expected."""
    path = folder / PAPER_FILE
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise PaperError(f"cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        told = f"byte {error.object[error.start]:#04x} is none of it"
        raise PaperError(f"{path}, line {line}: expected UTF-8 text: {told}") from None
    except ValueError as error:
        raise PaperError(f"{path}: {error}") from None
    top = _Table(path, "", data)
    title, source, about = top.text("title"), top.text("source"), top.text("about")
    figures = {}
    tables: dict[str, _Table] = {}
    for name, table in top.tables("figures").items():
        if not NAME.fullmatch(name):
            raise table.wrong("", "expected a name of letters, digits, . _ and -: pictures are called after it")
        tables[name] = _like(table, tables)
        figures[name] = _figure(folder, name, tables[name])
    top.done()
    if not figures:
        raise top.wrong("figures", "expected at least one")
    return Paper(folder.name, folder, title, source, about, figures)


REDUCTIONS = ("count", "jain", "max", "mean", "median", "min", "p1", "p99", "sum")
PLOTS = ("line", "cdf", "ccdf", "timeline")
TABLES = ("flows", "ports", "classes", "engines", "queries", "writes", "samples")


def _like(table: _Table, before: Mapping[str, _Table]) -> _Table:
    """Give a figure what it lacks and the one that it is like has."""
    if not table.has("like"):
        return table
    if not before:
        raise table.wrong("like", "expected a figure that stands before this one, and none does")
    other = before[table.word("like", list(before))]
    own = {key: value for key, value in table.data.items() if key != "like"}
    return _Table(table.path, table.place, _over(own, other.data))


def _over(own: Any, other: Any) -> Any:
    """Put tables over tables, key by key; anything else takes the place of what was there."""
    if not (isinstance(own, dict) and isinstance(other, dict)):
        return own
    return {**other, **{key: _over(value, other.get(key)) for key, value in own.items()}}


def _figure(folder: Path, name: str, table: _Table) -> Figure:
    measures = {key: _measure(key, one) for key, one in table.tables("measures").items()}
    series = [_series(one, measures) for one in table.list("series", by_row=True)]
    scenario = "" if all(one.values for one in series) else table.file("scenario", folder)
    points = [_point(one, folder) for one in table.list("points")]
    scales = {}
    for scale, one in table.tables("scale", needed=False).items():
        if scale not in SCALES:
            raise table.wrong(f"scale.{scale}", f"expected one of {', '.join(SCALES)}")
        changed: dict[str, Any] = {"settings": one.mapping("settings")}
        if one.has("seeds"):
            changed["seeds"] = one.whole("seeds")
        if one.has("points"):
            changed["points"] = [_point(each, folder) for each in one.list("points")]
        one.done()
        scales[scale] = changed
    named: list[tuple[str, list[X]]] = [("series", [one.name for one in series]), ("points", [one.x for one in points])]
    for what, words in named:
        twice = [word for i, word in enumerate(words) if word in words[:i]]
        if not words or twice:
            told = f", and {twice[0]} is there twice" if twice else ""
            raise table.wrong(what, f"expected at least one, each of its own name{told}")
    figure = Figure(
        name=name,
        title=table.text("title"),
        where=table.text("where"),
        shows=table.text("shows"),
        scenario=scenario,
        seeds=table.whole("seeds"),
        x_label=table.text("x"),
        assumptions=table.texts("assumptions"),
        settings=table.mapping("settings"),
        points=points,
        series=series,
        measures=measures,
        plots=[_plot(one, measures, series, points) for one in table.list("plots")],
        published=[],
        claims=[],
        scales=scales,
    )
    published = [_published(one, figure) for one in table.list("published", needed=False)]
    figure = replace(figure, published=published)
    figure = replace(figure, claims=[_claim(one, figure) for one in table.list("claims")])
    table.done()
    return figure


def _series(table: _Table, measures: Mapping[str, Measure]) -> Series:
    name, changed = table.text("name"), table.mapping("set")
    listed = _Table(table.path, f"{table.place}.values", table.mapping("values"))
    for measure in listed.data:
        if measure not in measures:
            raise listed.wrong(measure, f"expected measures of the figure: {', '.join(measures)}")
    values = {measure: listed.expression(measure, (), ("x",)) for measure in listed.data}
    if values and changed:
        raise table.wrong("set", "expected none beside values: such a series has no runs")
    look = table.whole("look") if table.has("look") else None
    if look is not None and look > LOOKS:
        raise table.wrong("look", f"expected 1 to {LOOKS}")
    table.done()
    return Series(name, changed, values, look)


def _point(table: _Table, folder: Path) -> Point:
    x = table.x("x")
    span = table.numbers("span_s") if table.has("span_s") else None
    if span is not None and not (len(span) == 2 and span[0] < span[1]):
        raise table.wrong("span_s", "expected a beginning and a later end, in seconds")
    scenario = table.file("scenario", folder) if table.has("scenario") else None
    point = Point(x, table.mapping("set"), None if span is None else (span[0], span[1]), scenario)
    table.done()
    return point


def _measure(name: str, table: _Table) -> Measure:
    if not name.isidentifier() or name in expression.FUNCTIONS or name in ("x", "published"):
        raise table.wrong("", "expected a name for claims, made of letters, digits and _, and not a function's")
    shared: dict[str, Any] = {
        "label": table.text("label"),
        "unit": table.text("unit", ""),
        "scale": table.factor("scale"),
        "place": f"{table.path}: {table.place}",
    }
    if table.has("of"):
        measure = Measure(name, of=table.text("of"), **shared)
    elif not table.has("table"):
        measure = Measure(name, **shared)
    else:
        measure = Measure(
            name,
            table=table.word("table", TABLES),
            column=table.text("column"),
            over=table.text("over", "") or None,
            where=table.mapping("where"),
            by=table.text("by", "") or None,
            reduce=table.word("reduce", REDUCTIONS),
            **shared,
        )
    table.done()
    return measure


def _plot(table: _Table, measures: Mapping[str, Measure], series: Sequence[Series], points: Sequence[Point]) -> Plot:
    kind = table.word("kind", PLOTS)
    shared: dict[str, Any] = {"name": table.name("name"), "kind": kind, "caption": table.text("caption")}
    shared["series"], shared["place"] = table.texts("series"), f"{table.path}: {table.place}"
    known = [one.name for one in series if one.values == {} or kind == "line"]
    for name in shared["series"]:
        if name not in known:
            raise table.wrong("series", f"expected series of the figure: {', '.join(known)}")
    if kind == "line":
        y = table.texts("y")
        for name in y:
            if name not in measures:
                raise table.wrong("y", f"expected measures of the figure: {', '.join(measures)}")
        curves = [(one.text("label"), one.expression("of", (), ("x",))) for one in table.list("curves", needed=False)]
        plot = Plot(y=y, y_label=table.text("y_label", ""), log=table.texts("log"), curves=curves, **shared)
    elif kind in ("cdf", "ccdf"):
        plot = Plot(
            points=table.xs("points", [point.x for point in points]),
            table=table.word("table", TABLES),
            column=table.text("column"),
            where=table.mapping("where"),
            scale=table.factor("scale"),
            x_label=table.text("x_label"),
            log=table.texts("log"),
            **shared,
        )
    else:
        plot = Plot(bin_s=table.number("bin_s"), **shared)
        if plot.bin_s <= 0:
            raise table.wrong("bin_s", "expected a number above 0, in seconds")
    table.done()
    return plot


def _claim(table: _Table, figure: Figure) -> Claim:
    claim = Claim(
        says=table.text("says"),
        where=table.text("where"),
        holds=table.expression("holds", [*figure.measures, "x", "published"]),
        each_seed=table.flag("each_seed"),
        found=table.text("found", ""),
    )
    try:
        judging.check([figure.at(scale) for scale in SCALES], claim)
    except MeaninglessError as error:
        raise table.wrong("holds", f"{error}") from None
    table.done()
    return claim


def _published(table: _Table, figure: Figure) -> Published:
    x, places = table.x("x"), figure.places()
    if x not in places:
        raise table.wrong("x", f"expected a point of the figure: {', '.join(f'{place}' for place in places)}")
    found = Published(
        series=table.word("series", [one.name for one in figure.series]),
        x=x,
        measure=table.word("measure", list(figure.measures)),
        value=table.number("value"),
    )
    table.done()
    return found


def _is_number(found: Any) -> bool:
    return isinstance(found, (int, float)) and not isinstance(found, bool) and math.isfinite(found)


class _Table:
    """A table of the file, whose keys are taken out one by one."""

    def __init__(self, path: Path, place: str, data: Any) -> None:
        self.path, self.place = path, place
        if not isinstance(data, dict):
            raise PaperError(f"{path}: {place} = {data!r}: expected a table")
        self.data = data
        self.taken: set[str] = set()

    def wrong(self, key: str, expected: str) -> PaperError:
        """Make the error about a key."""
        place = ".".join(part for part in (self.place, key) if part)
        value: Any = self.data
        for part in key.split(".") if key else []:
            value = value.get(part) if isinstance(value, dict) else None
        told = f" = {value!r}" if isinstance(value, (str, int, float)) and key else ""
        return PaperError(f"{self.path}: {escaped(place)}{told}: {expected}")

    def has(self, key: str) -> bool:
        """Whether a key is there."""
        return key in self.data

    def _take(self, key: str, expected: str, default: Any = None) -> Any:
        self.taken.add(key)
        if key not in self.data:
            if default is not None:
                return default
            raise self.wrong(key, f"missing: expected {expected}")
        return self.data[key]

    def text(self, key: str, default: str | None = None) -> str:
        found = self._take(key, "a text", default)
        if not isinstance(found, str):
            raise self.wrong(key, "expected a text")
        return " ".join(found.split())

    def file(self, key: str, folder: Path) -> str:
        found = self.text(key)
        if not (folder / found).is_file():
            raise self.wrong(key, f"expected a file, its path from {folder} on")
        return found

    def word(self, key: str, known: Sequence[str]) -> str:
        found = self.text(key)
        if found not in known:
            raise self.wrong(key, f"expected one of {', '.join(known)}{nearest(found, known)}")
        return found

    def texts(self, key: str) -> list[str]:
        found = self._take(key, "a list of texts", [])
        if not (isinstance(found, list) and all(isinstance(one, str) for one in found)):
            raise self.wrong(key, "expected a list of texts")
        return [" ".join(one.split()) for one in found]

    def number(self, key: str, default: float | None = None) -> float:
        found = self._take(key, "a number", default)
        if isinstance(found, bool) or not isinstance(found, (int, float)):
            raise self.wrong(key, "expected a number")
        if not math.isfinite(found):
            raise self.wrong(key, "expected a finite number")
        return float(found)

    def factor(self, key: str) -> float:
        found = self.number(key, 1.0)
        if found == 0:
            raise self.wrong(key, "expected a number other than 0")
        return found

    def name(self, key: str) -> str:
        found = self.text(key)
        if not NAME.fullmatch(found):
            raise self.wrong(key, "expected a name of letters, digits, . _ and -: a picture is called after it")
        return found

    def numbers(self, key: str) -> list[float]:
        found = self._take(key, "a list of numbers")
        if not (isinstance(found, list) and all(_is_number(one) for one in found)):
            raise self.wrong(key, "expected a list of finite numbers")
        return [float(one) for one in found]

    def whole(self, key: str) -> int:
        found = self._take(key, "a whole number of at least 1")
        if isinstance(found, bool) or not isinstance(found, int) or found < 1:
            raise self.wrong(key, "expected a whole number of at least 1")
        return found

    def flag(self, key: str) -> bool:
        found = self._take(key, "true or false", False)
        if not isinstance(found, bool):
            raise self.wrong(key, "expected true or false")
        return found

    def x(self, key: str) -> X:
        found = self._take(key, "a number or a text")
        if not isinstance(found, str) and not _is_number(found):
            raise self.wrong(key, "expected a finite number or a text")
        x: X = found
        return x

    def xs(self, key: str, known: Sequence[X]) -> list[X]:
        found = self._take(key, "a list of points", [])
        if not (isinstance(found, list) and all(one in known for one in found)):
            raise self.wrong(key, f"expected points of the figure: {', '.join(f'{x}' for x in known)}")
        return found

    def mapping(self, key: str) -> dict[str, Any]:
        found = self._take(key, "a table", {})
        if not isinstance(found, dict):
            raise self.wrong(key, "expected a table")
        return found

    def expression(self, key: str, functions: Sequence[str], names: Sequence[str] = ()) -> ast.expr:
        found = self.text(key)
        try:
            return expression.parse(found, functions, names)
        except ExpressionError as error:
            raise self.wrong(key, f"{error}") from None

    def tables(self, key: str, needed: bool = True) -> dict[str, _Table]:
        found = self._take(key, "a table", None if needed else {})
        if not isinstance(found, dict):
            raise self.wrong(key, "expected a table")
        start = f"{self.place}.{key}" if self.place else key
        return {name: _Table(self.path, f"{start}.{name}", one) for name, one in found.items()}

    def list(self, key: str, needed: bool = True, by_row: bool = False) -> Sequence[_Table]:
        """Read a list of entries; with ``by_row`` neighbours of the same ``each`` are made row by row, not in turn."""
        found = self._take(key, "a list of tables", None if needed else [])
        if not isinstance(found, list):
            raise self.wrong(key, "expected a list of tables")
        tables = [_Table(self.path, f"{self.place}.{key}[{i}]", one) for i, one in enumerate(found)]
        groups = itertools.groupby(tables, key=lambda table: table.data.get("each") if by_row else id(table))
        made = [[table._each() for table in group] for _, group in groups]
        return [one for group in made for row in zip(*group, strict=True) for one in row]

    def _each(self) -> Sequence[_Table]:
        """Make the entry once for each row of its ``each``, whose words stand in braces in its texts."""
        if not self.has("each"):
            return [self]
        rows = self._take("each", "a list of tables of texts")
        if not (isinstance(rows, list) and rows and all(isinstance(row, dict) for row in rows)):
            raise self.wrong("each", "expected a list of tables of texts")
        for row in rows:
            if not all(isinstance(word, str) for word in row.values()) or row.keys() != rows[0].keys():
                raise self.wrong("each", "expected tables of texts, all with the same names")
        if not rows[0]:
            raise self.wrong("each", "expected tables of texts, not empty ones")
        rest = {key: value for key, value in self.data.items() if key != "each"}
        return [_Table(self.path, self.place, self._filled(rest, row)) for row in rows]

    def _filled(self, value: Any, row: Mapping[str, str]) -> Any:
        if isinstance(value, dict):
            return {key: self._filled(one, row) for key, one in value.items()}
        if isinstance(value, list):
            return [self._filled(one, row) for one in value]
        if not isinstance(value, str):
            return value
        for word in re.findall(r"\{(\w*)\}", value):
            if word not in row:
                raise self.wrong("each", f"has no {word}, which {{{word}}} asks for; expected one of {', '.join(row)}")
        return re.sub(r"\{(\w*)\}", lambda found: row[found[1]], value)

    def done(self) -> None:
        """Refuse what nobody asked for."""
        for key in self.data:
            if key not in self.taken:
                raise self.wrong(key, f"unknown key{nearest(key, sorted(self.taken))}")
