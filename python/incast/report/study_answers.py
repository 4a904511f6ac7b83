"""Sentences that answer a study: the best choice under each condition, from readings by cell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby

from incast.report.arenas import Arenas
from incast.report.best_cells import Standing, relative
from incast.report.cells import Cell
from incast.report.figures import Figure
from incast.report.numbers import rounded, shown_reading
from incast.report.study_figures import HEADLINE
from incast.runs.completions import Reading
from incast.system.output import counted

NAMED = 4
"""Most choices that a sentence names."""
PLACES = 6
"""Most conditions that a sentence goes through one by one."""


def sentences(arenas: Arenas, figures: Sequence[Figure]) -> list[str]:
    """Return the answer, at most one sentence a scenario and figure, after what the runs cannot show."""
    cells = arenas.cells
    found = warnings(arenas)
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
    return found


def warnings(arenas: Arenas) -> list[str]:
    """Return what the runs cannot show: missing runs, unfinished flows, a single seed."""
    cells, found = arenas.cells, []
    made, asked = cells.count
    if made < asked:
        found.append(f"{made:,} of {asked:,} runs have figures; the others are unsound, and left out")
    begun = [cells.began(cell, "fct") for cell in cells.cells]
    finished, count = (sum(part) for part in zip(*begun, strict=True))
    if finished < count:
        share = 100 * (1 - finished / count)
        text = rounded(share, 2) if share >= 0.01 else "less than 0.01"
        found.append(f"{text} % of the flows did not finish: figures that they could change are given as bounds")
    if max(len(seeds) for seeds in cells.seeds.values()) == 1:
        found.append("there is one seed: no difference has an interval, so no cell is called best")
    return found


def sentence(
    figure: Figure,
    results: Sequence[tuple[str, Standing[Cell]]],
    readings: Mapping[Cell, Reading],
    words: Mapping[Cell, str],
) -> str:
    """Say who is best at a figure; ``results`` are the standings by condition, ``words`` name the choices."""
    if len(results) == 1:
        return f"{figure.title}: {_one(figure, results[0][1], readings, words)}."
    named = [(label, _names(one, words)) for label, one in results]
    parts = []
    for names, run in groupby(named, key=lambda pair: pair[1]):
        labels = [label for label, _ in run]
        parts.append((labels, names))
    if len(parts) == 1:
        return f"{figure.title}: {parts[0][1]}, under each of {counted(len(named), 'condition')}."
    common = [words[cell] for cell in results[0][1].level]
    for _, one in results[1:]:
        common = [word for word in common if word in {words[cell] for cell in one.level}]
    shown = "; ".join(f"{_spanned(labels)}: {names}" for labels, names in parts[:PLACES])
    more = f"; and {len(parts) - PLACES} more" if len(parts) > PLACES else ""
    decided = any(not one.undecided for _, one in results)
    last = f". {common[0]} is best or level with the best under every condition" if common and decided else ""
    return f"{figure.title}: {shown}{more}{last}."


def _one(figure: Figure, one: Standing[Cell], readings: Mapping[Cell, Reading], words: Mapping[Cell, str]) -> str:
    if not one.level:
        return _names(one, words)
    value = f"{shown_reading(readings[one.level[0]], figure.scale)} {figure.unit.split(' ')[0]}".strip()
    if not one.others:
        return _names(one, words)
    nearest = one.others[0]
    apart = relative(readings[one.level[0]], readings[nearest])
    if apart is None:
        rest = f"{words[nearest]} is clearly worse"
    else:
        way = "higher" if apart.mean > 0 else "lower"
        low, high = (rounded(end, 2) for end in sorted(abs(end) for end in (apart.low, apart.high)))
        rest = f"{words[nearest]} is {rounded(abs(apart.mean), 2)} % {way} [{low}, {high}]"
    return f"{_names(one, words)}, {value}; {rest}"


def _names(one: Standing[Cell], words: Mapping[Cell, str]) -> str:
    """Name the best choice, or those that are level."""
    if not one.level:
        return "no choice finished 99 % of its transfers with 90 % of the highest throughput"
    if one.best is not None:
        return f"best is {words[one.best]}"
    if one.undecided:
        return "no choice is told apart from another"
    names = [words[cell] for cell in one.level]
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return f"{', '.join(names[:NAMED])}{more} are level"


def _spanned(labels: Sequence[str]) -> str:
    """Join the labels of conditions that follow each other; the key is said once."""
    heads = {label.partition(" = ")[0] for label in labels}
    if len(heads) == 1 and all(label.count(" = ") == 1 for label in labels):
        return f"{heads.pop()} = {', '.join(label.partition(' = ')[2] for label in labels)}"
    return "; ".join(labels)


def ended(text: str) -> str:
    """Return a text as a sentence: with a capital, unless it begins with a name or a symbol, and a full stop."""
    is_word = text[:2].isalpha() and not text.partition(" ")[0].endswith(":")
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
