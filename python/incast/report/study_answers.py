"""Sentences that answer a study: the best choice under each condition, from readings by cell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby, product

from incast.answers.answer import difference_text, superlative
from incast.answers.ends import beyond
from incast.answers.limits import ONE_SEED, unfinished
from incast.answers.measures import Measure
from incast.answers.paired import MOST_SEEDS, Apart, Verdict, apart
from incast.report.arenas import Arenas
from incast.report.best_cells import Standing
from incast.report.cells import Cell, Cells
from incast.report.figures import Figure
from incast.report.numbers import rounded, shown_reading
from incast.report.study_figures import HEADLINE
from incast.runs.completions import Reading, difference
from incast.runs.result import COMPLETIONS
from incast.system.output import counted

NAMED = 4
"""Most choices that a sentence names."""
PLACES = 6
"""Most conditions that a sentence goes through one by one."""


def sentences(arenas: Arenas, figures: Sequence[Figure]) -> list[str]:
    """Return the answer, at most one sentence a scenario and figure, after what the runs cannot show."""
    cells = arenas.cells
    found = warnings(arenas)
    if _has_one_seed(cells):
        return found
    scenarios = list(dict.fromkeys(arena.scenario for arena in arenas.all))
    for scenario in scenarios:
        own = [arena for arena in arenas.all if arena.scenario == scenario]
        if all(not arenas.chosen(cell) for arena in own for cell in arena.cells):
            continue
        where = f"{scenario}: " if len(scenarios) > 1 else ""
        for figure in figures[:HEADLINE]:
            results = [(arenas.label(arena), arenas.standing(arena.cells, figure)) for arena in own]
            inside = [cell for arena in own for cell in arena.cells]
            readings = {cell: one for cell in inside if (one := cells.reading(cell, figure.key)) is not None}
            words = {cell: arenas.chosen(cell) for cell in inside}
            if readings:
                found.append(f"{where}{sentence(figure, results, readings, words)}")
    return [*found, *_beyond(arenas, figures)]


def _beyond(arenas: Arenas, figures: Sequence[Figure]) -> list[str]:
    """Return a sentence for each value that leads somewhere, and is at an end of those tried."""
    found = []
    for figure, arena in product(figures[:HEADLINE], arenas.all):
        one = arenas.standing(arena.cells, figure)
        if one.undecided:
            continue
        best = arenas.cells.reading(one.level[0], figure.key)
        assert best is not None, "the leading cell has the figure"
        for key, (tried, level) in arenas.tried(one.first).items():
            name = f"{arenas.short[key]} = {level[0]}"
            found.append(beyond(_measure(figure), best, key, tried, level, name))
    return [text for text in dict.fromkeys(found) if text]


def warnings(arenas: Arenas) -> list[str]:
    """Return what the runs cannot show: missing runs, unfinished flows, a single seed."""
    cells, found = arenas.cells, []
    made, asked = cells.count
    if made < asked:
        found.append(f"{made:,} of {asked:,} runs have figures; the others are unsound, and left out")
    late = [
        (part, arenas.place(cell), finished, count)
        for cell in dict.fromkeys(map(cells.same, cells.cells))
        for part in COMPLETIONS
        for finished, count in [cells.began(cell, part)]
        if finished < count
    ]
    if late:
        found.append("".join(unfinished(late)))
    if _has_one_seed(cells):
        found.append("".join(ONE_SEED))
    return found


def _has_one_seed(cells: Cells) -> bool:
    return max(len(seeds) for seeds in cells.seeds.values()) == 1


def sentence(
    figure: Figure,
    results: Sequence[tuple[str, Standing[Cell]]],
    readings: Mapping[Cell, Reading],
    words: Mapping[Cell, str],
) -> str:
    """Say who is best at a figure; ``results`` are the standings by condition, ``words`` name the choices."""
    if len(results) == 1:
        return f"{figure.title}: {_one(figure, results[0][1], readings, words)}."
    named = [(label, ", ".join(_first(figure, one, readings, words))) for label, one in results]
    parts = []
    for names, run in groupby(named, key=lambda pair: pair[1]):
        labels = [label for label, _ in run]
        parts.append((labels, names))
    if len(parts) == 1:
        return f"{figure.title}: {parts[0][1]}, under each of {counted(len(named), 'condition')}."
    ahead = [{words[cell] for cell in one.first if _is_ahead(cell, one, readings, figure)} for _, one in results]
    common = [words[cell] for cell in results[0][1].first if all(words[cell] in found for found in ahead)]
    shown = "; ".join(f"{_spanned(labels)}: {names}" for labels, names in parts[:PLACES])
    more = f"; and {len(parts) - PLACES} more" if len(parts) > PLACES else ""
    decided = any(not one.undecided for _, one in results)
    last = f". {common[0]} is best, or less than 1 % from the best, under every condition" if common and decided else ""
    return f"{figure.title}: {shown}{more}{last}."


def _one(figure: Figure, one: Standing[Cell], readings: Mapping[Cell, Reading], words: Mapping[Cell, str]) -> str:
    first, *untold = _first(figure, one, readings, words)
    if not one.others:
        return first
    value = f"{shown_reading(readings[one.level[0]], figure.scale)} {figure.unit.split(' ')[0]}".strip()
    found = _apart(one.others[0], one.level[0], readings, figure)
    assert found is not None, "cells told apart have a difference"
    rest = f"{words[one.others[0]]} is {difference_text(found, _measure(figure))}"
    return "; ".join([f"{first}, {value}", *untold, rest])


def _first(
    figure: Figure, one: Standing[Cell], readings: Mapping[Cell, Reading], words: Mapping[Cell, str]
) -> list[str]:
    """Name the best choice, or those that are level; then those that more seeds could tell apart from it."""
    if not one.level:
        return ["no choice finished 99 % of its transfers with 90 % of the highest throughput"]
    if one.best is not None:
        return [f"best is {words[one.best]}"]
    if one.undecided:
        return ["no choice is told apart from another"]
    names = [words[cell] for cell in one.level]
    if len(names) == 1:
        found = [f"{names[0]} has the {superlative(_measure(figure))} mean"]
    else:
        found = [f"{', '.join(names[:NAMED])}{_more(len(names))} are level"]
    if one.untold:
        texts = [f"{words[cell]} ({_untold(figure, one, readings, cell)})" for cell in one.untold[:NAMED]]
        found.append(f"not told apart: {', '.join(texts)}{_more(len(one.untold))}")
    return found


def _more(count: int) -> str:
    return f" and {count - NAMED} more" if count > NAMED else ""


def _untold(figure: Figure, one: Standing[Cell], readings: Mapping[Cell, Reading], cell: Cell) -> str:
    """Write the difference of a cell from the leading one, and the seeds that would decide it."""
    found = _apart(cell, one.level[0], readings, figure)
    if found is None:
        return "no seed in common"
    text = difference_text(found, _measure(figure))
    text = text if text == "open" else f"differs by {text}"
    if found.verdict is Verdict.OPEN:
        return f"{text}, as transfers did not finish"
    seeds = f"more than {MOST_SEEDS} seeds" if found.seeds is None else f"about {counted(found.seeds, 'more seed')}"
    return f"{text}, {seeds} would tell"


def _is_ahead(cell: Cell, one: Standing[Cell], readings: Mapping[Cell, Reading], figure: Figure) -> bool:
    """Return whether a cell is better than every other candidate, or as good."""
    pairs = [_apart(cell, other, readings, figure) for other in one.candidates if other != cell]
    return all(found is not None and found.verdict in (Verdict.BETTER, Verdict.ALIKE) for found in pairs)


def _apart(cell: Cell, other: Cell, readings: Mapping[Cell, Reading], figure: Figure) -> Apart | None:
    """Compare two cells; ``None`` without a seed under which both have the figure."""
    pair = {"one": readings[cell], "other": readings[other]}
    if difference(pair["one"], pair["other"]) is None:
        return None
    return apart("one", "other", pair, figure.better, _measure(figure).unit == "%")


def _measure(figure: Figure) -> Measure:
    """Return a figure of reports as one of answers, in the summary's unit."""
    unit = figure.unit.partition(" ")[0] if figure.scale == 1.0 else figure.unit[1:]  # without its prefix
    return Measure(figure.key, figure.title, "" if unit == "per" else unit, figure.better)


def _spanned(labels: Sequence[str]) -> str:
    """Join the labels of conditions that follow each other; the key is said once."""
    heads = {label.partition(" = ")[0] for label in labels}
    if len(heads) == 1 and all(label.count(" = ") == 1 for label in labels):
        return f"{heads.pop()} = {', '.join(label.partition(' = ')[2] for label in labels)}"
    return "; ".join(labels)


def ended(text: str) -> str:
    """Return a text as a sentence: with a capital, unless it begins with a name, a key or a symbol, and a full stop."""
    first, _, rest = text.partition(" ")
    is_word = text[:2].isalpha() and not first.endswith(":") and not rest.startswith("= ")
    return f"{text[:1].upper() if is_word else text[:1]}{text[1:].removesuffix('.')}."


def range_of(arenas: Arenas, figure: Figure) -> str | None:
    """Say the smallest and largest mean of a figure over all cells; ``None`` with fewer than two."""
    found = [
        (one.mean, cell)
        for cell in arenas.cells.cells
        if (reading := arenas.cells.reading(cell, figure.key)) is not None and (one := reading.least) is not None
    ]
    if len(found) < 2:
        return None
    low, high = min(found), max(found)
    return f"{figure.label}: from {_at(low, figure)} to {_at(high, figure)}"


def _at(place: tuple[float, Cell], figure: Figure) -> str:
    """Write a mean with the values of its cell."""
    return f"{rounded(place[0] * figure.scale)} ({', '.join(filter(None, (place[1].arm, *place[1].values)))})"
