"""Reports of a search and of a sensitivity analysis: one page each, with the verdict on held-out seeds first."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from html import escape

from incast import _core
from incast.answers.answer import percent_text
from incast.pictures import titles
from incast.report import reproduce
from incast.report.document import document, drawn
from incast.report.numbers import number, rounded
from incast.statistics import Estimate
from incast.study.definition import Definition
from incast.system.output import counted
from incast.tuning.outcome import Compared, Outcome
from incast.tuning.pictures import Scale
from incast.tuning.search import Tried
from incast.tuning.sensitivity import Found, Index, columns

MOST_SETS = 10
"""Most sets of the table of the best ones."""


def of_search(outcome: Outcome, inside: Mapping[str, str], formats: Sequence[str], again: str) -> str:
    """Make the page of a search; ``again`` is the command that makes it."""
    tuning = outcome.tuning
    study = tuning.target.study.name
    ways = ("maximise" if one.maximise else "minimise" for one in tuning.objectives)
    asked = " and ".join(f"{way} {titles.figure(key)}" for way, key in zip(ways, tuning.figures, strict=True))
    keys = [parameter.key for parameter in tuning.target.parameters]
    captions = {
        "parameters": "Every set tried: the objective against each parameter; star: chosen; dashes: the defaults.",
        "progress": "The search in its order: each set, and the best so far.",
        "front": "Sets that no other beats in all objectives, and their differences from the defaults.",
        "importance": "Share of the variance that each parameter alone explains (fANOVA).",
    }
    tried = f"{counted(len(outcome.tried), 'set')} of {counted(len(keys), 'parameter')}"
    seeds, held = counted(len(tuning.seeds), "tuning seed"), counted(len(tuning.held_out), "held-out seed")
    parts = [
        f"<header><h1>{escape(study)}: {escape(asked)}</h1>"
        f'<p class="lead">{tried} tried under {seeds}, '
        f"the chosen one compared with the defaults under {held}.</p></header>",
        f'<section id="answer"><h2>Answer</h2><ul>{_items(verdicts(outcome))}</ul>{_notes(outcome.notes)}</section>',
        f'<section id="held-out"><h2>Held-out seeds</h2>{_compared(outcome.best.compared)}</section>',
        f'<section id="best"><h2>Best sets</h2>{_sets(outcome, _best(outcome)[:MOST_SETS], True)}</section>',
        '<section id="pictures"><h2>Search</h2>',
        *(drawn(picture, name, escape(captions[name]), formats) for name, picture in inside.items()),
        "</section>",
        f'<section id="sets"><h2>All sets</h2><details><summary>{counted(len(outcome.tried), "set")}</summary>'
        f"{_sets(outcome, outcome.tried)}</details></section>",
        _again(
            again,
            outcome.tuning.target.study,
            f"The chosen scenarios are <code>tuned*.toml</code>, all sets {reproduce.beside('trials.csv')}.",
        ),
    ]
    return document(f"{study}: search", parts)


def verdicts(outcome: Outcome) -> list[str]:
    """Say what the held-out seeds show: the objectives first, then the figures that also change."""
    objectives = {one.figure: one for one in outcome.tuning.objectives}
    several = len({row.scenario for row in outcome.best.compared}) > 1
    rows = sorted(outcome.best.compared, key=lambda row: row.figure not in objectives)
    found = []
    for row in rows:
        where = f" in {row.scenario}" if several else ""
        apart = row.difference
        if row.figure not in objectives:
            if row.verdict in ("higher", "lower"):
                found.append(f"{titles.figure(row.figure)}{where} also changes: {_apart(row)}")
        elif apart is None or apart.half_width is None:
            found.append(f"{titles.figure(row.figure)}{where}: unknown, with fewer than two seeds to compare")
        elif row.verdict == "not seen":
            found.append(f"{titles.figure(row.figure)}{where}: no difference from the defaults is seen, {_apart(row)}")
        else:
            better = objectives[row.figure].better(apart.mean, 0.0)
            found.append(f"{titles.figure(row.figure)}{where}: {'better' if better else 'worse'}, {_apart(row)}")
    values = outcome.tuning.target.beside_defaults(outcome.best.tried.values)
    return [*found, f"chosen is set {outcome.best.tried.number + 1}: {values}"]


def _apart(row: Compared) -> str:
    """Say a difference from the defaults, in percent where all values are above zero."""
    assert row.difference is not None, "compared rows have it"
    found = row.relative
    if found is None:
        base = 0.0 if row.defaults is None else row.defaults.mean
        scale = Scale(row.unit, [row.difference.mean])
        shown = f"{number(row.difference, scale.factor)} {scale.unit}".strip()
        return f"{shown} from {rounded(base * scale.factor)} with the defaults"
    text = percent_text(found)
    return f"{text} {'as' if 'times' in text else 'than'} with the defaults"


def _compared(rows: Sequence[Compared]) -> str:
    several = len({row.scenario for row in rows}) > 1
    heads = [*(["scenario"] if several else []), "figure", "tuned", "defaults", "paired difference", "verdict"]
    cells = []
    for row in rows:
        scale = Scale(row.unit, [one.mean for one in (row.tuned, row.defaults) if one is not None])
        numbers = [number(one, scale.factor) for one in (row.tuned, row.defaults, row.difference)]
        name = f"{scale.label(titles.figure(row.figure))}: {row.figure}"
        cells.append([*([row.scenario] if several else []), name, *numbers, row.verdict])
    note = "Means ± half the 95&nbsp;% interval. A difference is taken seed by seed; the search never saw these seeds. "
    note += "<i>Not seen</i>: the interval includes zero, so these seeds show no difference."
    return f'<p class="note">{note}</p>{_table(heads, cells)}'


def _best(outcome: Outcome) -> list[Tried]:
    """Return the sets that ran under all seeds, the best first; those of the front before the others."""
    front = [one.tried for one in outcome.front]
    first = outcome.tuning.objectives[0]
    others = [one for one in outcome.tried if one.scores is not None and one not in front]
    return front + sorted(others, key=lambda one: (one.scores or (math.nan,))[0], reverse=first.maximise)


def _sets(outcome: Outcome, sets: Iterable[Tried], defaults: bool = False) -> str:
    """Return the table of some sets; with ``defaults`` below them."""
    tuning = outcome.tuning
    keys = [parameter.key for parameter in tuning.target.parameters]
    rows = []
    for one in sets:
        means = [math.fsum(own) / len(own) if own else math.nan for own in one.by_seed]
        scores = ["–" if math.isnan(mean) else rounded(mean) for mean in means] or ["–"] * len(tuning.figures)
        state = one.refused or one.unfinished or ("" if one.scores is not None else "stopped early")
        mark = " (chosen)" if one.number == outcome.best.tried.number else ""
        seeds = str(len(one.by_seed[0])) if one.by_seed else "0"
        rows.append([f"{one.number + 1}{mark}", *(str(one.values[key]) for key in keys), *scores, seeds, state])
    if defaults:
        values = [tuning.target.default_values[key] or "–" for key in keys]
        rows.append(["defaults", *values, *map(rounded, outcome.default_scores), str(len(tuning.seeds)), ""])
    return _table(["set", *keys, *(titles.figure(figure) for figure in tuning.figures), "seeds", "state"], rows)


def of_analysis(found: Found, inside: Mapping[str, str], formats: Sequence[str], again: str) -> str:
    """Make the page of a sensitivity analysis; ``again`` is the command that makes it."""
    analysis = found.analysis
    study = analysis.target.study.name
    figures = [figure for figure in analysis.figures if figure not in found.still]
    by_figure = {figure: [one for one in found.indices if one.figure == figure] for figure in figures}
    parts = [
        f"<header><h1>{escape(study)}: which parameters matter</h1>"
        f'<p class="lead">{analysis.method.capitalize()}, {counted(found.points, "point")}, '
        f"{counted(found.runs, 'run')}.</p></header>",
        f'<section id="answer"><h2>Answer</h2><ul>{_items(leading(by_figure))}</ul>{_notes(found.notes())}</section>',
        *(
            drawn(picture, name, "Effect of each parameter, with 95&nbsp;% intervals.", formats)
            for name, picture in inside.items()
        ),
        *(_indices(figure, rows, analysis.method) for figure, rows in by_figure.items()),
        _again(again, analysis.target.study, f"The numbers are in {reproduce.beside('sensitivity.csv')}."),
    ]
    return document(f"{study}: sensitivity", parts)


def leading(by_figure: Mapping[str, Sequence[Index]]) -> list[str]:
    """Say for each figure which parameter has the largest effect, if its interval is above those of the others."""
    found = []
    for figure, rows in by_figure.items():
        first, *others = sorted(rows, key=lambda one: -one.main)
        level = [one for one in others if one.main + one.main_half_width >= first.main - first.main_half_width]
        names = ", ".join(one.parameter for one in (first, *level))
        clear = f"{first.parameter} has the largest effect" if not level else f"{names} are not told apart"
        found.append(f"{titles.figure(figure)}: {clear}")
    return found


def _indices(figure: str, rows: Sequence[Index], method: str) -> str:
    scale = Scale(rows[0].unit, [one.main for one in rows])
    cells = []
    for one in rows:
        numbers = [number(Estimate(one.main, one.main_half_width, 2), scale.factor)]
        numbers.append(number(Estimate(one.other, one.other_half_width, 2), scale.factor))
        numbers += [] if one.mean is None else [rounded(one.mean * scale.factor)]
        cells.append([f"{titles.parameter(one.parameter)}: {one.parameter}", *numbers])
    title = escape(scale.label(titles.figure(figure)))
    return f"<section><h2>{title}</h2>{_table(['parameter', *columns(method)], cells)}</section>"


def _items(texts: Iterable[str]) -> str:
    return "".join(f"<li>{escape(_ended(text))}</li>" for text in texts)


def _ended(text: str) -> str:
    """Return a text as a sentence: with a capital, unless it begins with a symbol, and a full stop."""
    return f"{text[:1].upper() if text[:2].isalpha() else text[:1]}{text[1:]}."


def _notes(texts: Iterable[str]) -> str:
    return "".join(f'<p class="note">{escape(text)}.</p>' for text in texts)


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    head = "".join(f"<th>{escape(text)}</th>" for text in heads)
    body = "".join(
        f"<tr><th>{escape(row[0])}</th>{''.join(f'<td>{escape(text)}</td>' for text in row[1:])}</tr>" for row in rows
    )
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _again(command: str, study: Definition, files: str) -> str:
    note = "Before the settings, arms and values of the study; every default is written out."
    texts = [reproduce.text_of(f"Study {study.name}: its file", study.toml())]
    texts += [reproduce.text_of(f"Scenario {name}", base.toml(), note) for name, base in study.bases.items()]
    return reproduce.section(command, f"Incast {escape(_core.__version__)}. {files}") + "".join(texts)
