"""Numbers of the pages of papers: records of what ``incast paper run`` wrote, and what pages show of them.

``record DIR ...`` keeps verdicts and numbers of folders of results in ``docs/papers/results``: a file a paper and
scale. Folders of other seeds, claims or scenarios than the paper's are refused. ``write`` fills the blocks of
``docs/papers/*.md`` from the records. ``check`` fails where a block is another one, where a number of a page is in no
record of its paper and not in the paper's own files, or where a record is of what the paper was before. ``counts``
prints how many claims hold.

A block stands between ``<!-- KIND: ... -->`` and ``<!-- end -->``:

- ``verdicts: PAPER`` or ``verdicts: PAPER FIGURE ...``: claims, and what became of them at each scale;
- ``numbers: PAPER/FIGURE SCALE MEASURE ...``: means by point and series, and published numbers in parentheses.
  ``largest`` is scale paper where that is kept, else small.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from incast.papers import identity, reading, words
from incast.papers.definition import SCALES, Paper, home
from incast.report import number, rounded
from incast.statistics import Estimate

ROOT = Path(__file__).resolve().parent.parent
PAGES = ROOT / "docs" / "papers"
RECORDS = PAGES / "results"
BLOCK = re.compile(r"(<!-- (verdicts|numbers): ([^>]*?) -->\n)(.*?)(<!-- end -->)", re.DOTALL)
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
        if figure.get("digest") != _digest(results["paper"], name, results["scale"]):
            told = f"{folder}: {name} has other seeds, claims or scenarios than {results['paper']} has now: "
            raise SystemExit(f"{told}incast paper report {results['paper']} writes it anew, without --seeds")
        claims = [
            {key: one[key] for key in ("says", "where", "own", "verdict", "part", "brief", "why", "unused")}
            for one in figure["claims"]
        ]
        about = {key: figure[key] for key in ("seeds", "digest")}
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


def _digest(paper: str, name: str, scale: str) -> str | None:
    """Digest of a figure of a paper as it is now; ``None`` where the paper has no such figure."""
    figures = _paper(paper).figures
    return identity.digest(_paper(paper), figures[name].at(scale)) if name in figures else None


def _points(rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Shorten numbers: mean and half width by measure."""
    return [
        {"series": row["series"], "x": row["x"]}
        | {name: [_short(one["mean"]), _short(one["half_width"])] for name, one in row.items() if isinstance(one, dict)}
        for row in rows
    ]


def _short(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.{DIGITS}g}")


def read(paper: str, scale: str) -> Record | None:
    """Read what is kept of a paper at a scale."""
    path = RECORDS / f"{paper}-{scale}.json"
    if not path.is_file():
        return None
    found: Record = json.loads(path.read_text(encoding="utf-8"))
    return found


def fill(text: str) -> str:
    """Fill the blocks of a page."""
    kinds = {"verdicts": _verdicts, "numbers": _numbers}
    return BLOCK.sub(lambda block: f"{block[1]}\n{kinds[block[2]](*block[3].split())}\n\n{block[5]}", text)


def _verdicts(paper: str, *names: str) -> str:
    """Make the table of a paper's claims: their verdicts at each scale that is kept, and the numbers of the largest."""
    kept = {scale: found for scale in SCALES if (found := read(paper, scale))}
    figures = [name for name in _paper(paper).figures if name in names or not names]
    head = ["figure", "claim", *[f"scale {scale}" for scale in kept], "numbers"]
    rows = [head, ["---"] * len(head)]
    for name in figures:
        there = {scale: _claims(found["figures"][name]) for scale, found in kept.items() if name in found["figures"]}
        last = list(there.values())[-1] if there else {}
        for says, claim in last.items():
            own = " *(ours)*" if claim["own"] else ""
            cells = [_cell(there[scale][says]) if says in there.get(scale, {}) else "" for scale in kept]
            why = f" **Why:** {claim['why']}" if claim["why"] else ""
            seen = "; ".join([*words.notes(claim.get("unused", {})), *claim["brief"]])
            rows.append([f"`{name}`", f"{claim['says']}{own}", *cells, f"{seen}{why}"])
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in rows)


def _claims(figure: Mapping[str, Any]) -> dict[tuple[str, int], Mapping[str, Any]]:
    """Give the claims of a figure by their words, and by which of the same words they are."""
    seen: Counter[str] = Counter()
    found = {}
    for one in figure["claims"]:
        found[one["says"], seen[one["says"]]] = one
        seen[one["says"]] += 1
    return found


def _cell(claim: Mapping[str, Any]) -> str:
    return f"{claim['verdict']} ({claim['part']})" if claim["part"] else str(claim["verdict"])


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


def _mean(found: Sequence[float | None] | None, of: int, published: float | None) -> str:
    if found is None or found[0] is None:
        return "–"
    text = number(Estimate(found[0], found[1], 2)) if of == 1 else rounded(found[0], 4 if published else 3)
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
"""What behind a number says that a record may have it in thousands, or thousandths."""
_TOKEN = re.compile(r"(?<![\w.,])\d[\d,]*(?:\.\d+)?(?!\w)")
_COST = re.compile(r"\s*(?:[MG] |thousand |million )*(?:runs|hops|CPU|minutes|slow|cores|fast)\b")
"""What behind a number says that it is of the work, which differs from machine to machine."""
_SMALL = 12
"""Whole numbers up to this are words: counts of things, numbers of figures."""


def faults(page: Path) -> list[str]:
    """Name blocks of a page that are out of date, and numbers beside them that no record of its paper has."""
    text = page.read_text(encoding="utf-8")
    wrong = [f"{page}: a block is not what the records say: python tools/paper_pages.py write"] * (fill(text) != text)
    paper = page.stem
    kept = [found for scale in SCALES if (found := read(paper, scale))]
    if paper in reading.names() and kept:
        wrong += _stale(paper, kept)
        known = _defined(paper)
        for part in _parts(BLOCK.sub("", text)):
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
            elif "digest" in figure and figure["digest"] != _digest(paper, name, found["scale"]):
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
