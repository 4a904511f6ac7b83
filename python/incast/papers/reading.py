"""Lookup of papers, and reading of their folders."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from incast.errors import PaperError
from incast.papers import expression, judging, reasons, signals
from incast.papers.definition import (
    FLOWS_SHOWN,
    LOOKS,
    NAME,
    PAPER_FILE,
    PERCENTILES,
    SCALES,
    Claim,
    Figure,
    Measure,
    Paper,
    Plot,
    Point,
    Published,
    Series,
    X,
    home,
)
from incast.papers.expression import MeaninglessError
from incast.papers.keys import Table
from incast.papers.measuring import comparisons
from incast.system import files
from incast.system.output import nearest


def names() -> list[str]:
    """Return the names of the built-in papers."""
    return sorted(place.name for place in home().iterdir() if (place / PAPER_FILE).is_file())


@cache
def aliases() -> dict[str, str]:
    """Return the names of the papers by alias."""
    found: dict[str, str] = {}
    for name in names():
        try:
            listed = files.read_toml(home() / name / PAPER_FILE).get("aliases", [])
        except (OSError, ValueError):  # reported when the paper itself is read
            continue
        found |= {alias: name for alias in listed if isinstance(alias, str)}
    return found


def named(name: str) -> str:
    """Return the name of a paper by its name or alias."""
    return name if name in names() else aliases().get(name, name)


def is_known(text: str) -> bool:
    """Return whether a text begins with the name of a built-in paper, even if a folder has that name."""
    return named(text.partition("/")[0]) in names()


def is_whole(text: str) -> bool:
    """Return whether a text for ``find`` names a whole paper, not a figure."""
    return "/" not in text if is_known(text) else (Path(text) / PAPER_FILE).is_file()


def find(text: str, seeds: int | None = None) -> tuple[Paper, list[Figure]]:
    """Find ``NAME``, ``NAME/FIGURE``, or the same with the path of a folder; without a figure all of them.

    The name of a built-in paper takes precedence; ``./NAME`` is the folder of that name. ``seeds`` is the largest
    number of seeds per point.
    """
    whole = Path(text)
    if is_known(text):
        name, _, figure = text.partition("/")
        if text.endswith("/"):
            raise PaperError(f'"{text}": expected a figure after the slash, or {name} for all figures')
        paper = load(home() / named(name))
    elif (whole / PAPER_FILE).is_file():
        paper, figure = load(whole), ""
    elif (whole.parent / PAPER_FILE).is_file() and whole.name:
        paper, figure = load(whole.parent), whole.name
    else:
        if text.startswith((".", "/", "~")) or whole.is_dir():
            beside = whole if whole.is_dir() or not whole.parent.is_dir() else whole.parent
            raise PaperError(f'no paper "{text}": {beside} holds no {PAPER_FILE}')
        name = text.partition("/")[0]
        near = nearest(name, [*names(), *aliases()])
        raise PaperError(f'no paper "{name}"{near}: expected one of {", ".join(names())}')
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


FIRST = "first"
"""Name of the first run of a figure."""


def run_of(figure: Figure, text: str) -> tuple[Series, Point]:
    """Find a run of a figure at its scale by ``SERIES@POINT``, or ``first``; default point: the first."""
    runs = [one for one in figure.series if not one.values]
    if not runs:
        raise PaperError(f"{figure.name}: every series is computed by a formula, so there are no runs")
    if text == FIRST:
        return runs[0], figure.points[0]
    series = {one.name: one for one in runs}
    points = {f"{point.x}": point for point in figure.points}
    name, at, x = (text, "", "") if text in series else text.rpartition("@")
    where = f'"{text}" of {figure.name}'
    if name not in series or (text not in series and not at):
        near = nearest(name or text, list(series)) or _begins(name or text, series)
        listed = ", ".join(f'"{one}"' for one in series)
        raise PaperError(f"{where}: expected SERIES@POINT or {FIRST}, the series one of {listed}{near}")
    if at and x not in points:
        raise PaperError(f"{where}: no point {x}{nearest(x, list(points))}; expected one of {', '.join(points)}")
    return series[name], points[x] if at else figure.points[0]


def _begins(text: str, names: Iterable[str]) -> str:
    """Return a hint with the first name that begins with a text; empty if none does."""
    found = next((name for name in names if text and name.startswith(text)), None)
    return f' (did you mean "{found}"?)' if found else ""


def load(folder: Path) -> Paper:
    """Read a paper's folder; ``PaperError`` names the file, the key, its value and what was expected."""
    path = folder / PAPER_FILE
    try:
        data = files.read_toml(path)
    except OSError as error:
        raise PaperError(f"cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        detail = f"byte {error.object[error.start]:#04x} is invalid"
        raise PaperError(f"{path}, line {line}: expected UTF-8 text: {detail}") from None
    except ValueError as error:
        raise PaperError(f"{path}: {files.message_of(error)}") from None
    top = Table(path, "", data)
    title, source, about = top.text("title"), top.text("source"), top.text("about")
    aliases = top.texts("aliases")
    for alias in aliases:
        if not NAME.fullmatch(alias):
            raise top.wrong("aliases", "expected names of letters, digits, . _ and -")
    figures = {}
    tables: dict[str, Table] = {}
    for name, table in top.tables("figures").items():
        if not NAME.fullmatch(name):
            raise table.wrong("", "expected a name of letters, digits, . _ and -: it names pictures")
        tables[name] = _like(table, tables)
        figures[name] = _figure(folder, name, tables[name])
    answer = top.word("answer", list(figures)) if top.has("answer") else ""
    top.done()
    if not figures:
        raise top.wrong("figures", "expected at least one")
    name = (folder if folder.name not in ("", "..") else folder.resolve()).name
    return Paper(name, folder, title, source, about, figures, aliases, answer)


REDUCTIONS = ("count", "jain", "max", "mean", "min", *PERCENTILES, "sum", *signals.REDUCTIONS)
PLOTS = ("line", "scatter", "cdf", "ccdf", "timeline", "samples", "spectrum", "rows")
MARKS = ("bars", "dots")
TABLES = (
    "flows",
    "ports",
    "classes",
    "engines",
    "queries",
    "writes",
    "samples",
    "jobs",
    "ranks",
    "collectives",
    "messages",
)


def _like(table: Table, before: Mapping[str, Table]) -> Table:
    """Return a figure's table with keys inherited by ``like``."""
    if not table.has("like"):
        return table
    if not before:
        raise table.wrong("like", "expected an earlier figure, and there is none")
    other = before[table.word("like", list(before))]
    own = {key: value for key, value in table.data.items() if key != "like"}
    return Table(table.path, table.place, over(own, other.data))


def over(own: Any, other: Any) -> Any:
    """Merge tables key by key; other values are replaced."""
    if not (isinstance(own, dict) and isinstance(other, dict)):
        return own
    return {**other, **{key: over(value, other.get(key)) for key, value in own.items()}}


def _figure(folder: Path, name: str, table: Table) -> Figure:
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
            detail = f", and {twice[0]} is given twice" if twice else ""
            raise table.wrong(what, f"expected at least one, with unique names{detail}")
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
        best=table.word("best", list(measures)) if table.has("best") else "",
    )
    figure = replace(figure, published=_all_published(table, figure, folder))
    paired = table.flag("paired")
    figure = replace(figure, claims=[_claim(one, figure, paired) for one in table.list("claims")])
    table.done()
    return figure


def _series(table: Table, measures: Mapping[str, Measure]) -> Series:
    name, changed = table.text("name"), table.mapping("set")
    listed = Table(table.path, f"{table.place}.values", table.mapping("values"))
    for measure in listed.data:
        if measure not in measures:
            raise listed.wrong(measure, f"expected measures of the figure: {', '.join(measures)}")
    values = {measure: listed.expression(measure, (), ("x",)) for measure in listed.data}
    if values and changed:
        raise table.wrong("set", "not allowed with values: such a series has no runs")
    look = table.whole("look") if table.has("look") else None
    if look is not None and look > LOOKS:
        raise table.wrong("look", f"expected 1 to {LOOKS}")
    table.done()
    return Series(name, changed, values, look)


def _point(table: Table, folder: Path) -> Point:
    x = table.x("x")
    expected = "expected a beginning and a later end, in seconds"
    span = _ends(table, "span_s", expected) if table.has("span_s") else None
    scenario = table.file("scenario", folder) if table.has("scenario") else None
    point = Point(x, table.mapping("set"), span, _where(table), scenario)
    table.done()
    return point


def _measure(name: str, table: Table) -> Measure:
    if not name.isidentifier() or name in expression.FUNCTIONS or name in ("x", "published"):
        raise table.wrong("", "expected a name for claims, made of letters, digits and _, and not a function's")
    shared: dict[str, Any] = {
        "label": table.text("label"),
        "unit": table.text("unit", ""),
        "scale": table.factor("scale"),
        "range": _range(table),
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
            less=table.text("less", "") or None,
            where=_where(table),
            by=table.text("by", "") or None,
            reduce=table.word("reduce", REDUCTIONS),
            **shared,
        )
        if measure.reduce in signals.REDUCTIONS and (measure.table != "samples" or measure.by not in (None, "time_s")):
            raise table.wrong(
                "reduce", 'expected table = "samples", and by = "time_s" or none: it is of series over time'
            )
    table.done()
    return measure


def _range(table: Table) -> tuple[float, float] | None:
    """Read the range of a measure; Jain's index is recognised by its key or reduction."""
    if not table.has("range"):
        jain = "jain" in (str(table.data.get("of", "")).rpartition(".")[2], table.data.get("reduce"))
        return (0.0, 1.0) if jain else None
    return _ends(table, "range", "expected a lower and a larger upper limit")


def _ends(table: Table, key: str, expected: str) -> tuple[float, float]:
    found = table.numbers(key)
    if not (len(found) == 2 and found[0] < found[1]):
        raise table.wrong(key, expected)
    return found[0], found[1]


def _where(table: Table) -> dict[str, str]:
    """Read the filter of rows: a value, a comparison or a pattern per column."""
    found = table.mapping("where")
    for column, wanted in found.items():
        if not isinstance(wanted, str):
            raise table.wrong(f"where.{column}", 'expected a text: a value, a comparison such as "> 0", or a pattern')
        try:
            comparisons(wanted)
        except ValueError:
            expected = 'expected a number after each sign, such as "> 0" or "> 0 and <= 10"'
            raise table.wrong(f"where.{column}", expected) from None
    return found


def _plot(table: Table, measures: Mapping[str, Measure], series: Sequence[Series], points: Sequence[Point]) -> Plot:
    kind = table.word("kind", PLOTS)
    given: dict[str, Any] = {"name": table.name("name"), "kind": kind, "caption": table.text("caption")}
    given["series"], given["place"] = table.texts("series"), f"{table.path}: {table.place}"
    known = [one.name for one in series if one.values == {} or kind in ("line", "scatter")]
    for name in given["series"]:
        if name not in known:
            raise table.wrong("series", f"expected series of the figure: {', '.join(known)}")
    if kind in ("line", "samples"):
        curves = [(one.text("label"), one.expression("of", (), ("x",))) for one in table.list("curves", needed=False)]
        given["curves"] = curves
    if kind == "line":
        given |= _line(table, measures, known, given["series"])
    elif kind == "timeline":
        given |= {"bin_s": table.number("bin_s"), "flows": table.whole("flows") if table.has("flows") else FLOWS_SHOWN}
        if given["bin_s"] <= 0:
            raise table.wrong("bin_s", "expected a number above 0, in seconds")
    else:
        given["points"] = table.xs("points", [point.x for point in points])
        given |= _columns(table, kind, measures)
    table.done()
    return Plot(**given)


def _line(table: Table, measures: Mapping[str, Measure], known: Sequence[str], series: Sequence[str]) -> dict[str, Any]:
    """Read what a picture of lines over the points has beside what all pictures have."""
    y = table.texts("y")
    for name in y:
        if name not in measures:
            raise table.wrong("y", f"expected measures of the figure: {', '.join(measures)}")
    to = table.word("differences_to", known) if table.has("differences_to") else ""
    if to and series and to not in series:
        raise table.wrong("differences_to", f"expected a series of the picture: {', '.join(series)}")
    zoom = _ends(table, "zoom", "expected a first and a later point") if table.has("zoom") else None
    ends = {"differences_to": to, "zoom": zoom}
    return {"y": y, "y_label": table.text("y_label", ""), "log": table.texts("log"), **ends}


def _columns(table: Table, kind: str, measures: Mapping[str, Measure]) -> dict[str, Any]:
    """Read which columns of the runs at some points a picture shows."""
    if kind == "scatter":
        x, y = table.word("x", list(measures)), table.word("y", list(measures))
        return {"x": x, "y": [y], "log": table.texts("log")}
    found: dict[str, Any] = {"table": "samples", "column": "value"}
    if kind not in ("samples", "spectrum"):
        found = {"table": table.word("table", TABLES), "column": table.text("column")}
    found["where"] = _where(table)
    if kind == "spectrum":
        return found
    found |= {"scale": table.factor("scale"), "log": table.texts("log")}
    if kind == "samples":
        found["fill"] = table.flag("fill")
    if kind == "rows":
        found |= {"x_column": table.text("x_column", ""), "x_scale": table.factor("x_scale")}
        found["mark"] = table.word("as", MARKS)
    if kind != "samples":
        found["x_label"] = table.text("x_label")
    if kind in ("samples", "rows"):
        found["y_label"] = table.text("y_label")
    return found


def _claim(table: Table, figure: Figure, paired: bool) -> Claim:
    claim = Claim(
        says=table.text("says"),
        where=table.text("where"),
        holds=table.expression("holds", [*figure.measures, "x", "published"]),
        each_seed=table.flag("each_seed"),
        # a claim's own keys override those of the figure
        paired=table.flag("paired") if table.has("paired") or table.has("each_seed") else paired,
        found=table.text("found", ""),
        found_in_part=table.text("found_in_part", "") if table.has("found_in_part") else None,
        scales=_scales(table),
        unused=_unused(table),
    )
    if claim.each_seed and claim.paired:
        raise table.wrong("paired", "expected false with each_seed: a difference of one seed has no interval")
    try:
        judging.check([figure.at(scale) for scale in SCALES], claim)
    except MeaninglessError as error:
        raise table.wrong("holds", f"{error}") from None
    for key, text in (("found", claim.found), ("found_in_part", claim.found_in_part or "")):
        try:
            reasons.check([figure.at(scale) for scale in SCALES], text)
        except expression.ExpressionError as error:
            raise table.wrong(key, f"{error}") from None
    table.done()
    return claim


def _scales(table: Table) -> Sequence[str]:
    """Read the scales at which a claim is judged; default: all."""
    found = table.texts("scales")
    if unknown := [one for one in found if one not in SCALES]:
        raise table.wrong("scales", f'expected some of {", ".join(SCALES)}, not "{unknown[0]}"')
    return found or SCALES


def _unused(table: Table) -> dict[str, str]:
    """Read the words of a claim that its expression does not use, with reasons."""
    found = table.mapping("unused")
    for word, why in found.items():
        if not isinstance(why, str) or not why.strip():
            raise table.wrong(f"unused.{word}", "expected the reason, a text")
        if word not in table.text("says"):
            raise table.wrong("unused", f'expected words of says, which lacks "{word}"')
    return found


def _all_published(table: Table, figure: Figure, folder: Path) -> list[Published]:
    """Read the published numbers: entries of the file, or the name of a CSV file next to it."""
    if not isinstance(table.data.get("published"), str):
        return [_published(one, figure) for one in table.list("published", needed=False)]
    path = folder / table.file("published", folder)
    try:
        text = files.read_text(path)
    except (OSError, ValueError) as error:
        raise PaperError(f"{path}: {files.message_of(error)}") from None
    rows = csv.DictReader(line for line in text.splitlines() if line and not line.startswith("#"))
    columns = list(rows.fieldnames or [])
    measures = [name for name in columns if name not in ("series", "x")]
    for name in measures:
        if name not in figure.measures:
            known = ", ".join(figure.measures)
            raise PaperError(f"{path}: column {name}: expected series, x, and measures of the figure: {known}")
    if not measures or not {"series", "x"} <= set(columns):
        raise PaperError(f"{path}: expected the columns series, x, and at least one measure of the figure")
    found = []
    for i, row in enumerate(rows):
        if None in row or None in row.values():
            raise PaperError(f"{path}, row {i + 1}: expected {len(columns)} values, one per column of the header")
        x: X = _number(row["x"], row["x"])
        for name in measures:
            if row[name]:
                entry = {"series": row["series"], "x": x, "measure": name, "value": _number(row[name], row[name])}
                found.append(_published(Table(path, f"row {i + 1}", entry), figure))
    return found


def _number(text: str, otherwise: X) -> X:
    try:
        return float(text)
    except ValueError:
        return otherwise


def _published(table: Table, figure: Figure) -> Published:
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
