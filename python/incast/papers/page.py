"""Report of a paper: published and reproduced figures, and verdicts on claims."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from html import escape
from pathlib import Path

from rich.console import Console

from incast import _core
from incast.comparisons.ranking import MATTERS
from incast.errors import FolderError
from incast.papers import changing, identity, planning, words
from incast.papers.definition import PERCENTILES, Figure, Paper, X
from incast.papers.drawing import draw
from incast.papers.evaluation import Evaluated, Missing
from incast.papers.judging import Finding
from incast.papers.leading import leaders
from incast.papers.verdict import STYLE, Verdict
from incast.pictures import gallery, inline
from incast.report import reproduce
from incast.report.document import PAGE, document, drawn
from incast.report.numbers import duration, number, rounded, scaled
from incast.report.run_index import RUNS, csv_of
from incast.runs.run_folder import TIMELINE, engine_digest, read_manifest
from incast.system.folders import refuse_other
from incast.system.output import counted
from incast.view import chosen

PUBLISHED_WORDS = "title, text, captions and claims are worded for the published set-up"
"""Sentence on the words of a figure that a command has changed."""


def write(
    paper: Paper,
    scale: str,
    found: Sequence[Evaluated],
    missing: Sequence[Missing],
    folder: Path,
    again: Callable[[Figure | None], str],
    formats: Sequence[str] = ("png",),
) -> Path:
    """Write ``report.html``, the pictures in these formats and ``results.json`` of the complete figures.

    ``again`` returns the command that reproduces the paper, or one figure.
    """
    pictures: gallery.Drawn = {}
    inside: dict[str, str] = {}
    for done in found:
        _refuse_folder(folder / _page_of(done))
    for done in found:
        canvases = draw(done)
        pictures |= (made := gallery.draw(canvases, formats))
        inside |= inline.elements(canvases, gallery.pngs(made))
        view(done, folder)
    files = {
        "results.json": results_json(paper, scale, found, folder),
        RUNS: runs_csv(found, folder),
        PAGE: html(paper, scale, found, missing, inside, again, folder, formats),
    }
    gallery.write(folder, pictures, formats, files, lambda _: True)
    return folder / PAGE


def view(done: Evaluated, folder: Path) -> None:
    """Write the viewer page of a figure's runs, one per series: the middle point, the first seed.

    Only runs with a timeline are shown, including repeated ones. There is no page without any, or if the viewer is not
    built.
    """
    point, seed = _viewed(done)
    runs = {series.name: done.folders.get((series.name, point, seed)) for series in done.figure.series}
    timed = {name: run for name, run in runs.items() if run is not None and (run / TIMELINE).is_file()}
    timed |= {f"{series} at {x}": run for (series, x), run in _over_time(done).items()}
    path = folder / _page_of(done)
    _refuse_folder(path)
    path.unlink(missing_ok=True)
    if timed:
        with suppress(FolderError):
            chosen.write(timed, path)


def views(found: Sequence[Evaluated], folder: Path) -> list[Path]:
    """Return the viewer pages that ``write`` has written for some figures."""
    return [path for path in (folder / _page_of(done) for done in found) if path.is_file()]


def _refuse_folder(path: Path) -> None:
    """Raise ``FolderError`` if the name of a page is taken by anything but a plain file."""
    try:
        refuse_other(path)
    except IsADirectoryError:
        raise FolderError(f"{path} is a folder: expected a file, or nothing; nothing was written over it") from None


def _over_time(done: Evaluated) -> dict[tuple[str, X], Path]:
    """Find the runs of a figure that this build has repeated with a timeline, for the first seed."""
    again = {key[:2]: planning.over_time(run) for key, run in done.folders.items() if key[2] == 1}
    there = {key: run for key, run in again.items() if (run / TIMELINE).is_file()}
    return {key: run for key, run in there.items() if _engine_of(run) == engine_digest()}


def _engine_of(run: Path) -> str | None:
    """Return the build of the engine that made a run; ``None`` if its folder is damaged."""
    try:
        return str(read_manifest(run)["engine"])
    except FolderError:
        return None


def _viewed(done: Evaluated) -> tuple[X, int]:
    return done.figure.points[len(done.figure.points) // 2].x, 1


def _page_of(done: Evaluated) -> str:
    return f"view-{done.figure.name}.html"


def count_of(findings: Sequence[Finding]) -> str:
    """Count the claims that hold: "holds", "2 of 4 claims hold, 1 not tested"; "in part 2 of 3" for partial claims."""
    whole, parts = [one for one in findings if not one.part], [one for one in findings if one.part]
    if not parts:
        return _count(whole, counted(len(whole), "claim"), "")
    if all(one.verdict is Verdict.UNTESTED for one in whole):
        text = _count(parts, counted(len(parts), "claim"), "in part, ")
        return f"{text}; {len(whole)} not tested" if whole else text
    return f"{_count(whole, counted(len(whole), 'claim'), '')}; {_count(parts, f'{len(parts)}', 'in part, ')}"


def _count(findings: Sequence[Finding], claims: str, start: str) -> str:
    verdicts = [finding.verdict for finding in findings]
    held = verdicts.count(Verdict.HOLDS)
    if not findings:
        return "no claims"
    if held == len(findings) > 1:
        return f"{start}all {claims} hold"
    if len(set(verdicts)) == 1 and (len(findings) == 1 or verdicts[0] is Verdict.UNTESTED):
        return f"{start}{verdicts[0]}"
    rest = "".join(f", {n} {one}" for one in (Verdict.OPEN, Verdict.UNTESTED) if (n := verdicts.count(one)))
    return f"{start}{held} of {claims} hold{rest}"


def missing_text(one: Missing) -> str:
    """Return a message about the missing runs of a figure."""
    return (
        f"{one.figure.name}: incomplete, {one.lacking} of {counted(one.runs, 'run')} missing or made by another build"
    )


def _unfinished(done: Evaluated) -> list[str]:
    """Return notes about unfinished flows, whose completion times are in no number."""
    return [
        f"{series} at {x}: {late} of {counted(flows, 'flow')} did not finish"
        for (series, x), (late, flows) in done.unfinished.items()
    ]


def print_verdicts(found: Sequence[Evaluated], console: Console) -> None:
    """Print one line per figure, with one line per claim below it."""
    for done in found:
        console.print(
            f"{done.figure.name}: {count_of(done.findings)}{done.changed} - {done.figure.title}",
            highlight=False,
            soft_wrap=True,
        )
        for line in changing.described(done.figure):
            console.print(f"  changed: {line}", highlight=False, soft_wrap=True)
        if done.changed:
            console.print(f"  {PUBLISHED_WORDS}", highlight=False, soft_wrap=True)
        for one in done.findings:
            seen = "; ".join([*_notes(done, one), *one.numbers])
            console.print(
                f"  {one.verdict_text}{done.changed}: {one.claim.says} ({seen})", highlight=False, soft_wrap=True
            )
        for line in _unfinished(done):
            console.print(f"  note: {line}", highlight=False, soft_wrap=True)


def runs_csv(found: Sequence[Evaluated], folder: Path) -> str:
    """Write one row per run of each figure: figure, series, point, seed, and the folder relative to the report's."""
    rows = [
        [done.figure.name, series, x, seed, run.relative_to(folder).as_posix()]
        for done in found
        for (series, x, seed), run in done.folders.items()
    ]
    return csv_of(["figure", "series", "point", "seed", "run"], rows)


def results_json(paper: Paper, scale: str, found: Sequence[Evaluated], folder: Path) -> str:
    """Write the numbers and verdicts as JSON; ``folders`` are those of a point's runs, relative to ``folder``."""
    figures = {}
    for done in found:
        rows = []
        for series in done.figure.series:
            for point in done.figure.points:
                numbers = {
                    name: None if e is None else {"mean": e.mean, "half_width": e.half_width, "unit": measure.unit}
                    for name, measure in done.figure.measures.items()
                    for e in [done.estimate(name, series.name, point.x)]
                }
                places = [run for key, run in done.folders.items() if key[:2] == (series.name, point.x)]
                where = {"folders": [run.relative_to(folder).as_posix() for run in places]}
                rows.append({"series": series.name, "x": point.x, "runs": done.figure.seeds, **where, **numbers})
        claims = [
            {
                "says": one.claim.says,
                "where": one.claim.where,
                "own": one.claim.own,
                "verdict": f"{one.verdict_text}{done.changed}",
                "part": one.part,
                "numbers": one.numbers,
                "brief": one.brief,
                "why": done.reason(one),
                "unused": words.left(done.figure, one.claim),
            }
            for one in done.findings
        ]
        unfinished = [
            {"series": series, "x": x, "unfinished": late, "flows": flows}
            for (series, x), (late, flows) in done.unfinished.items()
        ]
        about_it = {"seeds": done.figure.seeds, "digest": identity.digest(paper, done.figure)}
        figures[done.figure.name] = {
            **about_it,
            "points": rows,
            "claims": claims,
            "unfinished": unfinished,
            "hops": done.hops,
        }
        if done.figure.best:
            figures[done.figure.name]["best"] = [one.as_data() for one in leaders(done.figure, done.number)]
        if done.figure.changes:
            figures[done.figure.name]["changes"] = planning.changes_of(done.figure)
    about = {"paper": paper.name, "scale": scale, "version": _core.__version__}
    return json.dumps({**about, "figures": figures}, indent=2) + "\n"


def html(
    paper: Paper,
    scale: str,
    found: Sequence[Evaluated],
    missing: Sequence[Missing],
    pictures: Mapping[str, str],
    again: Callable[[Figure | None], str],
    folder: Path,
    formats: Sequence[str] = ("png",),
) -> str:
    """Make the page; ``again``, ``folder`` and ``formats`` as in :func:`write`."""
    costs = {place: cost for done in found for place, cost in done.costs.items()}
    hops, cpu_s = sum(hops for hops, _ in costs.values()), sum(cpu_s for _, cpu_s in costs.values())
    findings = [finding for done in found for finding in done.findings]
    first = [done for done in found if done.figure.name == paper.answer]
    parts = [
        f"<header><h1>{escape(paper.title)}</h1><p class=lead>{escape(paper.source)}. Reproduced at scale "
        f"<code>{scale}</code>: {counted(len(found), 'figure')}, {count_of(findings)}, "
        f"{scaled(hops)} hops in {duration(cpu_s)} of CPU time.</p></header>",
        *[_section(done, pictures, again(done.figure), formats, _link(done, folder)) for done in first],
        f"<p>{escape(paper.about)}</p>",
        "<section><h2>At a glance</h2>",
        '<div class=wide><table class="claims"><thead><tr><th>figure</th><th>the paper says</th><th>here</th>'
        "<th>numbers</th></tr></thead><tbody>",
        *[_row(done, one) for done in found for one in done.findings],
        "</tbody></table></div>",
        '<p class="note">Claims are restated in our words; verdicts are computed from the runs of this report, by '
        "default from means over seeds. Paired claims compare differences seed by seed: a comparison is "
        "<b>undecided</b> if their 95&nbsp;% Student-t interval includes zero. <b>In part</b>: judged at some of the "
        "claim's points only, with fewer seeds, or with other settings than at scale <code>paper</code>; such a "
        "verdict need not hold for the whole claim. Claims marked as our own are not statements of the paper.</p>",
    ]
    if missing:
        names = ", ".join(f"<code>{escape(one.figure.name)}</code> ({one.lacking} of {one.runs})" for one in missing)
        parts.append(
            '<p class="note">Not in this report, since runs are missing or were made by another build of the engine: '
            f"{names}.</p>"
        )
    parts.append("</section>")
    parts += [
        _section(done, pictures, again(done.figure), formats, _link(done, folder))
        for done in found
        if done.figure.name != paper.answer
    ]
    parts.append(
        reproduce.section(
            again(None),
            f"Incast {escape(_core.__version__)}. {reproduce.beside(RUNS, runs_csv(found, folder))} lists the folder "
            "of every run by figure, series, point and seed. Each folder has the resolved scenario and its files: "
            "<code>incast run FOLDER/scenario.toml</code> repeats the run byte for byte, from anywhere. The numbers "
            "are in <code>results.json</code>, beside this page.",
        )
    )
    return document(paper.title, parts)


def _link(done: Evaluated, folder: Path) -> str:
    """Return the link to a figure's viewer page, if it exists."""
    point, seed = _viewed(done)
    titles = [f"{series} at {x}" for series, x in _over_time(done)]
    what = f"{', '.join(titles)}" if titles else f"a run of each series at {point}"
    return chosen.link(folder, _page_of(done), f"{escape(what)}, seed {seed}")


def _notes(done: Evaluated, one: Finding) -> list[str]:
    """Return the judged part of a claim, and words of the claim that are not judged."""
    return [*([f"of {one.part}"] if one.part else []), *words.notes(words.left(done.figure, one.claim))]


def _row(done: Evaluated, one: Finding) -> str:
    name = escape(done.figure.name)
    reason = done.reason(one)
    why = f"<p><b>Why:</b> {escape(reason)}</p>" if reason else ""
    style = f"{STYLE[one.verdict]}{' part' if one.part else ''}"
    part = "".join(f"<p>{escape(text)}</p>" for text in _notes(done, one))
    return (
        f'<tr><td><a href="#{name}">{name}</a></td><td>{escape(one.claim.says)} <i>({escape(one.claim.where)})</i></td>'
        f'<td><b class="verdict {style}">{one.verdict_text}{done.changed}</b>{part}</td>'
        f"<td><p>{'<br>'.join(escape(text) for text in one.numbers)}</p>{why}</td></tr>"
    )


def _caption(done: Evaluated, caption: str) -> str:
    """Return the caption of a plot; that of a changed set-up says that its words are not about it."""
    return f"Changed set-up; caption of the published one: {caption}" if done.changed and caption else caption


def _section(done: Evaluated, pictures: Mapping[str, str], again: str, formats: Sequence[str], view: str) -> str:
    figure = done.figure
    parts = [f'<section id="{escape(figure.name)}"><h2>{escape(figure.title)}</h2>']
    if figure.changes:
        changed = "; ".join(f"<code>{escape(line)}</code>" for line in changing.described(figure))
        parts.append(
            f"<p><b>Changed set-up:</b> {changed}. Curves and verdicts are of this "
            f"set-up, published numbers are the paper's; {PUBLISHED_WORDS}.</p>"
        )
    parts.append(f'<p class="note">{escape(figure.where)}</p><p>{escape(figure.shows)}</p>')
    parts.append(_best(done))
    for plot in figure.plots:
        name = f"{figure.name}-{plot.name}"
        parts.append(drawn(pictures[name], name, escape(_caption(done, plot.caption)), formats))
    parts.append(view)
    assumed = "".join(f"<li>{escape(text)}</li>" for text in figure.assumptions)
    if assumed:
        parts.append(f"<h3>Assumptions (not stated in the paper)</h3><ul>{assumed}</ul>")
    parts.append(_numbers(done))
    if notes := _unfinished(done):
        parts.append(
            f'<p class="note">Unfinished flows have no completion time, and are excluded from these numbers: '
            f"{escape('; '.join(notes))}.</p>"
        )
    parts.append(f"<pre><code>{escape(again)}</code></pre></section>")
    return "\n".join(parts)


def _best(done: Evaluated) -> str:
    """Return the table of the best series at each point; empty if the figure asks for none."""
    figure = done.figure
    if not figure.best:
        return ""
    rows = [
        f"<tr><th>{escape(str(one.x))}</th><td><b>{escape(one.series)}</b></td><td>{number(one.value)}</td>"
        f"<td>{escape(', '.join(one.undecided))}</td>"
        f"<td>{escape(one.next)}{f' +{number(one.behind)} %' if one.behind else ''}</td></tr>"
        for one in leaders(figure, done.number)
    ]
    measure = escape(figure.measures[figure.best].title)
    return (
        f'<div class="wide"><table><thead><tr><th>{escape(figure.x_label)}</th><th>best</th><th>{measure}</th>'
        f"<th>not told apart</th><th>next</th></tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
        f'<p class="note">Best: the least mean. Not told apart from it: the 95&nbsp;% interval of the paired '
        f"difference includes zero, or the difference is below {MATTERS:.0%}. Next: the best of those told apart.</p>"
    )


def _numbers(done: Evaluated) -> str:
    figure = done.figure
    published = {(one.series, one.x, one.measure): one.value for one in figure.published}
    head = "".join(f"<th>{escape(measure.title)}</th>" for measure in figure.measures.values())
    rows = []
    for point in figure.points:
        for i, series in enumerate(figure.series):
            cells = []
            for name in figure.measures:
                text = number(done.estimate(name, series.name, point.x))
                value = published.get((series.name, point.x, name))
                cells.append(f"<td>{text}{'' if value is None else f' <i>(paper: {rounded(value, 4)})</i>'}</td>")
            start = f"<th rowspan={len(figure.series)}>{escape(str(point.x))}</th>" if i == 0 else ""
            rows.append(
                f"<tr{' class=first' if i == 0 else ''}>{start}<th>{escape(series.name)}</th>{''.join(cells)}</tr>"
            )
    # explain percentiles if a measure is one
    by_rank = any(one.reduce in PERCENTILES and one.table for one in figure.measures.values())
    ranks = " Percentiles are nearest ranks, rank ceil(p n), computed per run." if by_rank else ""
    means = (
        f"Means over {counted(figure.seeds, 'seed')} ± half the 95&nbsp;% Student-t interval of the mean, "
        f"t(0.975, n−1) · s/√n (n = {figure.seeds})."
        if figure.seeds > 1
        else "One seed: no intervals; verdicts are of this single run."
    )
    return (
        f'<div class="wide"><table><thead><tr><th>{escape(figure.x_label)}</th><th>series</th>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
        f'<p class="note">{means}{ranks}</p>'
    )
