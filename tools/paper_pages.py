"""Numbers of the pages of papers: records of what ``incast paper run`` wrote, and what pages show of them.

``record DIR ...`` keeps verdicts and numbers of folders of results in ``docs/papers/results``: a file a paper and
scale. Folders of other claims or scenarios than the paper's are refused, and of fewer seeds at scale small. ``write``
fills the blocks of ``docs/papers/*.md`` from the records. ``check`` fails where a block is another one, where a number
of a page is in no record of its paper and not in the paper's own files, or where a record is of what the paper was
before. The paper of a page is the longest name that the page's begins with. ``counts`` prints how many claims hold.

A block stands between ``<!-- KIND: ... -->`` and ``<!-- end -->``:

- ``verdicts: PAPER`` or ``verdicts: PAPER FIGURE ...``: a table a figure with its claims, their verdicts and numbers;
- ``matrix: PAPER SCALE FIGURE ...``: marks of claims that several figures have, a row a claim, a column a figure;
- ``numbers: PAPER/FIGURE SCALE MEASURE ...``: means by point and series, and published numbers in parentheses.
  ``largest`` is scale paper where that is kept, else small;
- ``series: PAPER SCALE MEASURE ... @ FIGURE FIGURE@POINT FIGURE@POINT+SUFFIX ...``: means by series, a column a
  figure's point, the first unless given, of series whose names end with the suffix alone; ``_`` stands for a space.
  A single point has a column a measure;
- ``best: PAPER SCALE FIGURE ...``: the best series at each point of figures with the key ``best``, a row each;
- ``not kept: COMMAND``: text by hand whose numbers are not checked, which ``write`` says above it.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

from incast.papers import identity, reading, words
from incast.papers.definition import SCALES, Figure, Paper, home
from incast.report.numbers import number, rounded
from incast.statistics import Estimate
from incast.writing.numbers import said

ROOT = Path(__file__).resolve().parent.parent
PAGES = ROOT / "docs" / "papers"
RECORDS = PAGES / "results"
BLOCK = re.compile(r"(<!-- (verdicts|matrix|numbers|series|best): ([^>]*?) -->\n)(.*?)(<!-- end -->)", re.DOTALL)
NOT_KEPT = re.compile(
    r"(<!-- not kept: ([^>]*?) -->\n)(?:\*Not checked: [^*]*\*\n)?\n*(.*?)\n*(<!-- end -->)", re.DOTALL
)
UNCHECKED = r"Not checked: the results of `\2` are not kept, so no test holds these numbers."
DIGITS = 5
"""Significant digits that records keep."""

Record = Mapping[str, Any]


def main(words: Sequence[str] | None = None) -> int:
    """Do what the words say; 1 where pages are out of date."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["record", "write", "check", "counts"])
    parser.add_argument("folders", nargs="*", type=Path)
    asked = parser.parse_args(words)
    if asked.what == "record":
        for folder in asked.folders:
            print(record(folder))
    elif asked.what == "counts":
        print("\n".join(counts()))
    elif asked.what == "write":
        for page in sorted(PAGES.glob("*.md")):
            text = page.read_text(encoding="utf-8")
            if (filled := fill(text)) != text:
                page.write_text(filled, encoding="utf-8")
                print(f"written: {page}")
    else:
        wrong = [told for page in sorted(PAGES.glob("*.md")) for told in faults(page)]
        print("\n".join(wrong))
        return 1 if wrong else 0
    return 0


def record(folder: Path) -> Path:
    """Keep the verdicts and numbers of a folder of results; figures that it does not have stay as they were kept."""
    results = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    path = RECORDS / f"{results['paper']}-{results['scale']}.json"
    figures = json.loads(path.read_text(encoding="utf-8"))["figures"] if path.is_file() else {}
    known = _paper(results["paper"]).figures
    for name, figure in results["figures"].items():
        if figure.get("changes"):
            raise SystemExit(f"{folder}: {name} is of another set-up: a record is of the paper's")
        if name in figures and figures[name].get("seeds", 0) > figure["seeds"]:
            raise SystemExit(f"{folder}: {name} has {figure['seeds']} seeds, and the record {figures[name]['seeds']}")
        fewer = _fewer_at(results["scale"], figure["seeds"])
        if figure.get("digest") != _digest(results["paper"], name, results["scale"], fewer):
            told = f"{folder}: {name} has other seeds, claims or scenarios than {results['paper']} has now: "
            raise SystemExit(f"{told}incast paper report {results['paper']} writes it anew, without --seeds")
        claims = [
            {key: one[key] for key in ("says", "where", "own", "verdict", "part", "brief", "why", "unused")}
            for one in figure["claims"]
        ]
        about = {key: figure[key] for key in ("seeds", "digest")}
        if "best" in figure:
            about["best"] = [{**one, **_pairs(one)} for one in figure["best"]]
        figures[name] = {"version": results["version"], **about, "claims": claims, "points": _points(figure["points"])}
    kept = {name: figures[name] for name in known if name in figures}
    RECORDS.mkdir(exist_ok=True)
    about = {"paper": results["paper"], "scale": results["scale"]}
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(figure)}" for name, figure in kept.items())
    path.write_text(f'{json.dumps(about)[:-1]}, "figures": {{\n{lines}\n}}}}\n', encoding="utf-8")
    return path


@cache
def _paper(name: str) -> Paper:
    return reading.find(name)[0]


def _fewer_at(scale: str, seeds: int | None) -> int | None:
    """Give the number of seeds where a record may have fewer than the paper."""
    return seeds if scale == SCALES[-1] else None


def _digest(paper: str, name: str, scale: str, fewer: int | None = None) -> str | None:
    """Digest of a figure of a paper as it is now, with fewer seeds if so; ``None``: the paper has no such figure."""
    if (figure := _paper(paper).figures.get(name)) is None:
        return None
    figure = figure.with_seeds(fewer) if fewer else figure
    return identity.digest(_paper(paper), figure.at(scale))


def _points(rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Shorten numbers: mean and half width by measure."""
    return [
        {"series": row["series"], "x": row["x"]}
        | {name: [_short(one["mean"]), _short(one["half_width"])] for name, one in row.items() if isinstance(one, dict)}
        for row in rows
    ]


def _pairs(leader: Mapping[str, Any]) -> dict[str, list[float | None]]:
    """Shorten the numbers of the best series at a point."""
    return {key: [_short(one) for one in leader[key]] for key in ("value", "behind") if leader[key]}


def _short(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.{DIGITS}g}")


def read(paper: str, scale: str) -> Record | None:
    """Read what is kept of a paper at a scale."""
    path = RECORDS / f"{paper}-{scale}.json"
    if not path.is_file():
        return None
    found: Record = json.loads(path.read_text(encoding="utf-8"))
    return found


def _record(paper: str, scale: str) -> Record:
    if (found := read(paper, scale)) is None:
        raise SystemExit(f"{paper}, scale {scale}: no record; incast paper run {paper} --scale {scale}, then record it")
    return found


def fill(text: str) -> str:
    """Fill the blocks of a page."""
    kinds: dict[str, Callable[..., str]] = {
        "verdicts": _verdicts,
        "matrix": _matrix,
        "numbers": _numbers,
        "series": _series,
        "best": _best,
    }
    text = NOT_KEPT.sub(rf"\1*{UNCHECKED}*\n\n\3\n\n\4", text)
    return BLOCK.sub(lambda block: f"{block[1]}\n{kinds[block[2]](*block[3].split())}\n\n{block[5]}", text)


MARKS = {
    "holds": "✓ holds",
    "does not hold": "✗ does not hold",
    "undecided": "? undecided",
    "not tested": "– not tested",
}
"""Words of verdicts on pages, each with its mark."""
PART = "in part, "
LONGEST, SHORTER = 160, 110
"""Characters of numbers beside a claim, and of one that holds or has a reason beside it."""
LEAST, REASON = 50, 160
"""Characters of a reason: from these on it may end, beyond those no sentence follows."""


def _verdicts(paper: str, *names: str) -> str:
    """Make tables of a paper's claims, one a figure: verdict, claim, and numbers of the largest scale."""
    kept = {scale: found["figures"] for scale in SCALES if (found := read(paper, scale))}
    tables = []
    for name, figure in _paper(paper).figures.items():
        there = {scale: _claims(figures[name]) for scale, figures in kept.items() if name in figures}
        if (name in names or not names) and there:
            tables.append(_verdicts_of(figure, there) + _fewer(figure, kept))
    return "\n\n".join(tables)


Claims = Mapping[tuple[str, int], Mapping[str, Any]]


def _verdicts_of(figure: Figure, there: Mapping[str, Claims]) -> str:
    """Make the table of a figure, under its count of claims and what its verdicts are a part of."""
    *_, last = there.values()
    parts = Counter(one["part"] for claims in there.values() for one in claims.values() if one["part"])
    usual = parts.most_common(1)[0][0] if parts else ""
    rows = []
    for key, claim in last.items():
        cell = _verdict({scale: claims.get(key) for scale, claims in there.items()}, usual)
        brief = [_Line.of(text, figure) for text in claim["brief"]]
        rows.append(_Row(cell, claim["says"], claim["own"], brief, _unused(claim), _why(claim)))
    head = f"**`{figure.name}`: {_count(list(last.values()))}.** {figure.title}{'.' * (not figure.title.endswith('?'))}"
    head += f" In part: {usual}." * bool(usual)
    cells = [row.cells() for row in _joined(rows)]
    width = 3 if any(measured for *_, measured in cells) else 2
    table = [["verdict", "claim", "measured"], ["---"] * 3, *cells]
    lines = [f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row[:width])} |" for row in table]
    return "\n".join([head, "", *lines])


def _fewer(figure: Figure, kept: Mapping[str, Any]) -> str:
    """Name the scales that are kept with fewer seeds than the paper's."""
    told = []
    for scale, figures in kept.items():
        seeds, whole = figures.get(figure.name, {}).get("seeds"), figure.at(scale).seeds
        if seeds and seeds < whole:
            told.append(f"\n\n*Scale {scale} with {seeds} of {whole} seeds.*")
    return "".join(told)


def _matrix(paper: str, scale: str, *names: str) -> str:
    """Make a table of the marks of claims with the same words in several figures."""
    found = _record(paper, scale)["figures"]
    marks = [{one["says"]: _mark(one["verdict"]) for one in found[name]["claims"]} for name in names]
    lines = [f"| claim | {' | '.join(f'`{name}`' for name in names)} |", f"|{' --- |' * (len(names) + 1)}"]
    for says in dict.fromkeys(says for told in marks for says in told):
        lines.append(f"| {says} | {' | '.join(told.get(says, '') for told in marks)} |")
    return "\n".join(lines)


def _mark(verdict: str) -> str:
    return MARKS[verdict.removeprefix(PART)][0] + " in part" * verdict.startswith(PART)


def _unused(claim: Mapping[str, Any]) -> str:
    """Word what is not judged of a claim for no known reason."""
    unused = "; ".join(words.notes({word: "" for word, reason in claim.get("unused", {}).items() if not reason}))
    return f"<br>*{unused[:1].upper()}{unused[1:]}.*" * bool(unused)


def _why(claim: Mapping[str, Any]) -> str:
    """Give the first sentences of why a claim does not hold."""
    first, *more = re.split(r"(?<=\.)\s+(?=[A-Z])", claim["why"])
    for sentence in more:
        if len(first) > LEAST and len(f"{first} {sentence}") > REASON:
            break
        first = f"{first} {sentence}"
    return str(first)


def _count(claims: Sequence[Mapping[str, Any]]) -> str:
    """Count the claims that hold: the paper's, then our own checks."""
    texts = []
    for own, suffix in ((False, ""), (True, " of our own")):
        told = Counter(one["verdict"] for one in claims if one["own"] == own)
        held, part, of = told["holds"], told[f"{PART}holds"], f" of {told.total()}{suffix} hold"
        if not told:
            continue
        text = f"{part}{of} in part" if part and not held else f"{held}{of}" + f", {part} in part" * bool(part)
        left = {kind: told[kind] + told[f"{PART}{kind}"] for kind in ("undecided", "not tested")}
        texts.append(", ".join([text, *(f"{n} {kind}" for kind, n in left.items() if n)]))
    return "; ".join(texts)


def _verdict(by_scale: Mapping[str, Mapping[str, Any] | None], usual: str) -> str:
    """Word a claim's verdicts, the largest scale first: once where scales agree, without those that do not test it."""
    told: dict[str, list[str]] = {}
    for scale, claim in reversed([*by_scale.items()]):
        if claim is None:
            continue
        text = MARKS[claim["verdict"].removeprefix(PART)] + " in part" * claim["verdict"].startswith(PART)
        part = [one for one in claim["part"].split("; ") if one and one not in usual.split("; ")]
        text += f" ({'; '.join(part)})" * bool(part)
        told.setdefault(text, []).append(scale)
    if len(told) > 1:
        told.pop(MARKS["not tested"], None)
    if len(told) == 1 and len(*told.values()) == len(by_scale):
        return next(iter(told))
    return "<br>".join(f"{text}, scale {' and '.join(scales)}" for text, scales in told.items())


@dataclass(frozen=True)
class _Line:
    """Numbers of a measure and series."""

    measure: str
    series: str
    at: str
    values: str
    unit: str
    seeds: bool

    @classmethod
    def of(cls, text: str, figure: Figure) -> _Line:
        """Take a line apart that a record has."""
        where, _, values = text.rpartition(": ")
        seeds = values.endswith(EACH)
        numbers = re.match(rf"(?:(?:, | to |/)?{NUMBER})+", values := values.removesuffix(EACH))
        if numbers is None:
            return cls(where, "", "", values, "", seeds)
        unit = values[numbers.end() :]
        for measure in sorted({one.label for one in figure.measures.values()}, key=len, reverse=True):
            for series in [*sorted([one.name for one in figure.series], key=len, reverse=True), ""]:
                named = f"{measure}, {series}" if series else measure
                if where == named or where.startswith(f"{named} at "):
                    at = where[len(named) :].removeprefix(" at ")
                    return cls(measure, series, at, numbers[0], unit, seeds)
        return cls(where, "", "", numbers[0], unit, seeds)

    def plain(self) -> _Line:
        """Give what is alike once, and points by their ends where the record counts them."""
        values = self.values if len(set(re.split(r", |/", self.values))) > 1 else re.split(r", |/", self.values)[0]
        return replace(self, values=values, at=re.sub(r"^\d+ points, (?=[\d.]+ to [\d.]+$)", "", self.at))

    def ranged(self) -> _Line:
        """Give least and largest in place of more than two values, the largest first where they fall."""
        found = re.findall(NUMBER, self.values)
        if len(found) <= 2:
            return self
        ends = sorted([min(found, key=float), max(found, key=float)], key=float, reverse=_falls(found))
        values = " to ".join(ends)
        points = self.at.split(", ")
        numbers = all(re.fullmatch(NUMBER, one) for one in points)
        at = self.at
        if len(points) > 2 and " points, " not in at:
            at = f"{points[0]} to {points[-1]}" if numbers else f"{len(points)} points"
        return replace(self, values=values, at=at)


def _falls(values: Sequence[str]) -> bool:
    return all(float(a) > float(b) for a, b in pairwise(values))


EACH = ", a seed each"
NUMBER = r"-?[\d.]+(?:e[+-]?\d+)?"


@dataclass(frozen=True)
class _Row:
    """A claim, or several with the same verdict whose words differ at one place."""

    verdict: str
    says: str
    own: bool
    lines: Sequence[_Line]
    unused: str
    why: str

    def cells(self) -> Sequence[str]:
        """Give the cells of a row, without numbers beside a reason that has some or a check of ours that holds."""
        holds = MARKS["holds"] in self.verdict
        plain = (holds and self.own) or re.search(r"\d", self.why)
        measured = "" if plain else _measured(self.lines, SHORTER if holds or self.why else LONGEST)
        why = f"*Why:* {self.why}" if self.why else ""
        return (
            self.verdict,
            f"{self.says}{' *(ours)*' * self.own}{self.unused}",
            "<br>".join(filter(None, [measured, why])),
        )


def _measured(lines: Sequence[_Line], most: int) -> str:
    """Write numbers a measure at a time: whole if they fit, else ranges, else the first of the ranges."""
    lines = [one.plain() for one in dict.fromkeys(lines)]
    ranges = [one.ranged() for one in lines]
    for some in (lines, ranges):
        if len(text := "<br>".join(_grouped(some))) <= most:
            return text
    groups = _grouped(ranges)
    for kept in range(len(groups) - 1, 0, -1):
        if len(text := "<br>".join([*groups[:kept], "…"])) <= most:
            return text
    first, *others = groups
    while len(first) > most and "; *" in first:
        first = re.sub(r"; \*[^;]*?((?: [^\d*;]*)?)$", r"; …\1", first.replace("; …", ""))
    return f"{first}<br>…" if others else first


def _grouped(lines: Sequence[_Line]) -> list[str]:
    """Write lines, those of the same measure and points as one."""
    groups: dict[tuple[str, str, str, bool], list[_Line]] = {}
    for one in lines:
        groups.setdefault((one.measure, one.at, one.unit, one.seeds), []).append(one)
    texts = []
    for first, *more in groups.values():
        series = [f"*{one.series}* {one.values}" if one.series else one.values for one in (first, *more)]
        at = f" at {first.at}" if first.at else ""
        texts.append(f"{first.measure}{at}: {'; '.join(series)}{first.unit}{EACH if first.seeds else ''}")
    return texts


def _joined(rows: Sequence[_Row]) -> Iterator[_Row]:
    """Join claims with the same verdict whose words differ at a few places."""
    left = list(rows)
    while left:
        first, *others = left
        same, left, says = [first], [], first.says
        for row in others:
            alike = replace(row, says="", lines=[]) == replace(first, says="", lines=[])
            joined = _one_of([one.says for one in [*same, row]]) if alike else None
            if joined is None:
                left.append(row)
            else:
                same.append(row)
                says = joined
        yield replace(first, says=says, lines=[line for row in same for line in row.lines])


def _one_of(texts: Sequence[str]) -> str | None:
    """Write texts that differ at a few places as one, with what differs between slashes; none if too much does."""
    taken = [text.split(" ") for text in texts]
    least = min(len(one) for one in taken)
    if least == max(len(one) for one in taken):
        alike = [len({*place}) == 1 for place in zip(*taken, strict=True)]
        spans = [[*span] for _, span in groupby(range(least), key=lambda i: alike[i])]
    else:
        front = next((i for i in range(least) if len({one[i] for one in taken}) > 1), least)
        back = next((i for i in range(least - front) if len({one[-1 - i] for one in taken}) > 1), least - front)
        alike = [True] * front + [False] + [True] * back
        taken = [[*one[:front], " ".join(one[front : len(one) - back]), *one[len(one) - back :]] for one in taken]
        spans = [[*range(front)], [front], [*range(front + 1, front + 1 + back)]]
    parts = [list(dict.fromkeys(" ".join(one[i] for i in span) for one in taken)) for span in spans]
    differ = [part for part in parts if len(part) > 1]
    same = sum(len(part[0].split()) for part in parts if len(part) == 1)
    if (
        len(differ) > 3
        or same < 4
        or 2 * same < least
        or any(len(text.split()) not in range(1, 8) for part in differ for text in part)
    ):
        return None
    return " ".join(_slashed(part) for part in parts if part[0])


def _slashed(texts: Sequence[str]) -> str:
    """Put slashes between texts, and punctuation that all end with behind the last."""
    (end,) = ends if len(ends := {text[-1] for text in texts}) == 1 and ends <= {":", ","} else ("",)
    return " / ".join(text.removesuffix(end) for text in texts) + end


def _claims(figure: Mapping[str, Any]) -> dict[tuple[str, int], Mapping[str, Any]]:
    """Give the claims of a figure by their words, and by which of the same words they are."""
    seen: Counter[str] = Counter()
    found = {}
    for one in figure["claims"]:
        found[one["says"], seen[one["says"]]] = one
        seen[one["says"]] += 1
    return found


def _numbers(place: str, scale: str, *measures: str) -> str:
    """Make a table of means: a row a point, a column a series, the measures behind one another."""
    paper, _, name = place.partition("/")
    asked = [*reversed(SCALES)] if scale == "largest" else [scale]
    kept = [found for one in asked if (found := read(paper, one)) and name in found["figures"]]
    if not kept:
        raise SystemExit(f"{place}, scale {scale}: no record; incast paper run {place} --scale {scale}, then record it")
    figure = _paper(paper).figures[name]
    rows = kept[0]["figures"][name]["points"]
    published = {(one.series, one.x, one.measure): one.value for one in figure.published}
    series = list(dict.fromkeys(row["series"] for row in rows))
    lines = [f"| {figure.x_label} | {' | '.join(series)} |", f"|{' --- |' * (len(series) + 1)}"]
    for x in dict.fromkeys(row["x"] for row in rows):
        there = {row["series"]: row for row in rows if row["x"] == x}
        cells = [
            "; ".join(_mean(there[one].get(m), len(measures), published.get((one, x, m))) for m in measures)
            if one in there
            else ""
            for one in series
        ]
        lines.append(f"| {x} | {' | '.join(cells)} |")
    return "\n".join([*lines, "", f"*Scale {kept[0]['scale']}.*"])


def _series(paper: str, scale: str, *asked: str) -> str:
    """Make a table of means: a row a series, a column a point of a figure, the measures behind one another."""
    measures, places = asked[: asked.index("@")], asked[asked.index("@") + 1 :]
    found = _record(paper, scale)
    heads: list[str] = []
    columns: list[Mapping[str, Any]] = []
    for place in places:
        where, _, suffix = place.replace("_", " ").partition("+")
        name, _, point = where.partition("@")
        rows = found["figures"][name]["points"]
        x = point or f"{rows[0]['x']}"
        at = x if len({row["x"] for row in rows}) > 1 else ""
        heads.append(at if any(f"`{name}`" in head for head in heads) else f"`{name}` {at}".strip())
        here = [row for row in rows if f"{row['x']}" == x and row["series"].endswith(suffix)]
        columns.append({row["series"].removesuffix(suffix): row for row in here})
    if len(places) == 1:
        heads = [_paper(paper).figures[name].measures[measure].label for measure in measures]
    lines = [f"| series | {' | '.join(heads)} |", f"|{' --- |' * (len(heads) + 1)}"]
    between = " | " if len(places) == 1 else "; "
    for series in dict.fromkeys(name for column in columns for name in column):
        there = [column.get(series) for column in columns]
        cells = [between.join(_mean(row.get(m), 2, None) for m in measures) if row else "" for row in there]
        lines.append(f"| {series} | {' | '.join(cells)} |")
    return "\n".join([*lines, "", f"*Scale {scale}.*"])


def _best(paper: str, scale: str, *names: str) -> str:
    """Make a table of the best series, a row a figure and point: its mean, those not told apart, and the next."""
    found = _record(paper, scale)["figures"]
    figures = _paper(paper).figures
    measures = {figures[name].measures[figures[name].best].title for name in names}
    lines = [
        f"| figure | {figures[names[0]].x_label} | best | {' / '.join(sorted(measures))} | not told apart | next |"
    ]
    lines.append(f"|{' --- |' * 6}")
    for name in names:
        for one in found[name]["best"]:
            value, behind = (number(Estimate(*one[key], 2)) if one[key] else "" for key in ("value", "behind"))
            after = f"{one['next']} +{behind} %" if one["next"] else ""
            undecided = ", ".join(one["undecided"])
            lines.append(f"| `{name}` | {one['x']} | **{one['series']}** | {value} | {undecided} | {after} |")
    return "\n".join([*lines, "", f"*Scale {scale}.*"])


def _mean(found: Sequence[float | None] | None, of: int, published: float | None) -> str:
    if found is None or found[0] is None:
        return "–"
    text = said(number(Estimate(found[0], found[1], 2))) if of == 1 else rounded(found[0], 4 if published else 3)
    return text if published is None else f"{text} ({rounded(published, 4)})"


def counts() -> Iterator[str]:
    """Count the claims of papers that are kept: theirs, and what became of them; then those of our own."""
    kinds = ["holds", "does not hold", "undecided", "not tested"]
    yield f"| paper | scale | figures | claims | {' | '.join(kinds)} | in part: {', '.join(kinds[:3])} | ours, hold |"
    yield f"|{' --- |' * 10}"
    for paper in reading.names():
        for scale in SCALES:
            found = read(paper, scale)
            if found is None:
                continue
            claims = [one for figure in found["figures"].values() for one in figure["claims"]]
            theirs, ours = [one for one in claims if not one["own"]], [one for one in claims if one["own"]]
            told = Counter(one["verdict"] for one in theirs)
            part = ", ".join(f"{told[f'in part, {kind}']}" for kind in kinds[:3])
            held = sum(one["verdict"].endswith("holds") for one in ours)
            yield (
                f"| `{paper}` | {scale} | {len(found['figures'])} | {len(theirs)} | "
                f"{' | '.join(f'{told[kind]}' for kind in kinds)} | {part} | {held} of {len(ours)} |"
            )


_UNIT = re.compile(r"\s?(?:[kKMGT]i?|[mun])?(?:B|b/s|bit/s|bytes|s|W|Hz)\b|\s?(?:thousand|million)\b")
"""Units behind a number that a record may have in thousands, or thousandths."""
_TOKEN = re.compile(r"(?<![\w.,])\d[\d,]*(?:\.\d+)?(?!\w)")
_COST = re.compile(r"\s*(?:[MG] |thousand |million )*(?:runs|hops|CPU|minutes|slow|cores|fast)\b")
"""Words behind a number of the work, which differs from machine to machine."""
_SMALL = 12
"""Whole numbers up to this are words: counts of things, numbers of figures."""


def faults(page: Path) -> list[str]:
    """Name blocks of a page that are out of date, and numbers beside them that no record of its paper has."""
    text = page.read_text(encoding="utf-8")
    wrong = [f"{page}: a block is not what the records say: python tools/paper_pages.py write"] * (fill(text) != text)
    paper = max((name for name in reading.names() if page.stem.startswith(name)), key=len, default="")
    kept = [found for scale in SCALES if (found := read(paper, scale))]
    if kept:
        wrong += _stale(paper, kept)
        known = _defined(paper)
        for part in _parts(NOT_KEPT.sub("", BLOCK.sub("", text))):
            values = _values(kept, _figures_of(paper, part))
            for token, has_unit in _tokens(part):
                if not _is_known(token, has_unit, known, values):
                    wrong.append(f"{page}: {token}: in no record of {paper} and not in its files: {part.strip()[:90]}")
    return wrong


def _stale(paper: str, kept: Sequence[Record]) -> Iterator[str]:
    """Name figures that had other claims, seeds, settings or scenarios when they were recorded.

    Records without a digest are of before there was one: of them the words of claims are compared alone.
    """
    figures = _paper(paper).figures
    for found in kept:
        again = f"incast paper run {paper} --scale {found['scale']} --out DIR, then tools/paper_pages.py record DIR"
        for name, figure in found["figures"].items():
            where = f"{paper}/{name}, scale {found['scale']}"
            now = [claim.says for claim in figures[name].claims] if name in figures else []
            if [claim["says"] for claim in figure["claims"]] != now:
                yield f"{where}: recorded with other claims: {again}"
            elif "digest" in figure and figure["digest"] != _digest(
                paper, name, found["scale"], _fewer_at(found["scale"], figure["seeds"])
            ):
                yield f"{where}: recorded of another set-up or other expressions: {again}"


def _parts(text: str) -> list[str]:
    """Take a page apart: paragraphs, items of lists, rows of tables."""
    text = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    return [
        part for part in re.split(r"\n\s*\n|\n(?=- |\| |\d+\. |#)", text) if part.strip() and not part.startswith("#")
    ]


def _figures_of(paper: str, part: str) -> set[str]:
    """Figures that a part of a page names; none where it names none."""
    return set(re.findall(rf"`(?:incast paper run )?{re.escape(paper)}/([\w.-]+)", part))


def _tokens(part: str) -> Iterator[tuple[str, bool]]:
    """Take the numbers of a part of a page, and whether a unit stands behind each."""
    part = re.sub(r"`[^`]*`|\]\([^)]*\)", " ", part)
    for one in _TOKEN.finditer(part):
        if not _COST.match(part, one.end()):
            yield one[0].rstrip(","), _UNIT.match(part, one.end()) is not None


_REASON = re.compile(r'^found\w* = (?:"""[\s\S]*?"""|".*")|^#.*$', re.MULTILINE)


def _defined(paper: str) -> set[float]:
    """Numbers of a paper's files, but for reasons and comments: settings, points, words of claims, published ones."""
    texts = [path.read_text(encoding="utf-8") for path in sorted((home() / paper).glob("*.[tc][os][mv]*"))]
    texts = [_REASON.sub("", text) for text in texts]
    return {float(one.replace(",", "")) for text in texts for one in re.findall(r"\d+(?:,\d{3})*(?:\.\d+)?", text)}


def _values(kept: Sequence[Record], figures: set[str]) -> list[float]:
    found: list[float] = []
    for record_ in kept:
        for name, figure in record_["figures"].items():
            if figures and name not in figures:
                continue
            numbers = [n for row in figure["points"] for one in row.values() if isinstance(one, list) for n in one]
            found += [n for n in numbers if n is not None]
            told = " ".join(text for claim in figure["claims"] for text in [*claim["brief"], claim["why"]])
            found += [float(one.replace(",", "")) for one in re.findall(r"\d+(?:,\d{3})*(?:\.\d+)?", told)]
    return found


def _is_known(token: str, has_unit: bool, known: set[float], values: Sequence[float]) -> bool:
    """Return whether a number is in a paper's files, or equals one of these values to its digits, at least two."""
    value = float(token.replace(",", ""))
    whole, _, decimals = token.replace(",", "").partition(".")
    if value in known or (not decimals and value <= _SMALL):
        return True
    zeros = min(len(whole) - len(whole.rstrip("0")), max(len(whole) - 2, 0))
    scales = (1.0, 1e3, 1e-3) if has_unit else (1.0,)
    near = 0.5 * 10.0 ** (-len(decimals) if decimals else zeros)
    return any(abs(abs(one) * scale - value) <= near * 1.0001 for one in values for scale in scales)


if __name__ == "__main__":
    sys.exit(main())
