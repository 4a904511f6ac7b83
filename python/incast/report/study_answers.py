"""Answers of a study: the best choice under each condition, from readings by cell."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from incast.answers.answer import Answer, Claim, Kind, claim_of, difference_text, superlative, value_text
from incast.answers.ends import beyond
from incast.answers.facts import Point
from incast.answers.limits import ONE_SEED, unfinished
from incast.answers.measures import Measure
from incast.answers.paired import MOST_SEEDS, Apart, Verdict
from incast.report.arenas import Arena, Arenas
from incast.report.best_cells import Standing
from incast.report.cells import Cell, Cells
from incast.report.figures import Figure
from incast.report.numbers import rounded
from incast.report.study_figures import HEADLINE
from incast.runs.completions import ENOUGH, Reading, difference
from incast.runs.result import COMPLETIONS
from incast.system.output import counted

NAMED = 4
"""Most choices that a sentence names."""
PLACES = 6
"""Most conditions that a sentence goes through one by one."""


def answers(arenas: Arenas, figures: Sequence[Figure]) -> list[Answer]:
    """Return the answers, at most one a scenario and figure, after what the runs cannot show."""
    found = warnings(arenas)
    if not _has_one_seed(arenas.cells):
        scenarios = list(dict.fromkeys(arena.scenario for arena in arenas.all))
        for scenario in scenarios:
            own = [arena for arena in arenas.all if arena.scenario == scenario]
            if any(arenas.chosen(cell) for arena in own for cell in arena.cells):
                named = scenario if len(scenarios) > 1 else ""
                found += filter(None, (_of_figure(arenas, figure, own, named) for figure in figures[:HEADLINE]))
    if not any(arenas.chosen(cell) for arena in arenas.all for cell in arena.cells):
        found += ranges(arenas, figures)
    return found


def warnings(arenas: Arenas) -> list[Answer]:
    """Return what the runs cannot show: missing runs, unfinished flows, a single seed."""
    cells, found = arenas.cells, []
    made, asked = cells.count
    if made < asked:
        lead = f"{made:,} of {asked:,} runs have figures"
        found.append(Answer(Kind.WARNING, lead, ": the others are unsound, and left out.", ()))
    late = [
        (part, arenas.place(cell), finished, count)
        for cell in dict.fromkeys(map(cells.same, cells.cells))
        for part in COMPLETIONS
        for finished, count in [cells.began(cell, part)]
        if finished < count
    ]
    if late:
        few = min(finished / count for _, _, finished, count in late) >= ENOUGH
        found.append(Answer(Kind.BOUND if few else Kind.WARNING, *unfinished(late), ()))
    if _has_one_seed(cells):
        found.append(Answer(Kind.WARNING, *ONE_SEED, ()))
    return found


def _has_one_seed(cells: Cells) -> bool:
    return max(len(seeds) for seeds in cells.seeds.values()) == 1


def _of_figure(arenas: Arenas, figure: Figure, own: Sequence[Arena], scenario: str) -> Answer | None:
    """Say who is best at a figure in some arenas; ``None`` where no cell has it."""
    inside = [cell for arena in own for cell in arena.cells]
    readings = {cell: one for cell in inside if (one := arenas.cells.reading(cell, figure.key)) is not None}
    if not readings:
        return None
    of = OfFigure(figure, readings, {cell: arenas.chosen(cell) for cell in inside})
    results = [(arenas.label(arena), arenas.standing(arena.cells, figure)) for arena in own]
    is_decided = any(not one.undecided for _, one in results)
    lead = f"{scenario}: {figure.title}" if scenario else figure.title
    text = " ".join([f": {of.sentence(results)}", *dict.fromkeys(_beyond(arenas, of, results))])
    claims = tuple(claim for _, one in results for claim in of.claims(one))
    return Answer(Kind.CHOICE if is_decided else Kind.UNDECIDED, lead, text, claims, scenario)


def _beyond(arenas: Arenas, of: OfFigure, results: Sequence[tuple[str, Standing[Cell]]]) -> Iterator[str]:
    """Yield a sentence for each value that leads somewhere, and is at an end of those tried."""
    for _, one in results:
        if one.undecided:
            continue
        for key, (tried, level) in arenas.tried(one.first).items():
            name = f"{arenas.short[key]} = {level[0]}"
            if text := beyond(of.measure, of.readings[one.level[0]], key, tried, level, name):
                yield text


class OfFigure:
    """Sentences on one figure, from the readings of cells and words for their choices."""

    def __init__(self, figure: Figure, readings: Mapping[Cell, Reading], words: Mapping[Cell, str]) -> None:
        # in the summary's unit, without a prefix
        unit = figure.unit.partition(" ")[0] if figure.scale == 1.0 else figure.unit[1:]
        self.measure = Measure(figure.key, figure.title, "" if unit == "per" else unit, figure.better)
        self.readings, self.words = readings, words

    def sentence(self, results: Sequence[tuple[str, Standing[Cell]]]) -> str:
        """Say who is best; ``results`` are the standings by condition."""
        if len(results) == 1:
            return f"{self._one(results[0][1])}."
        named = [(label, ", ".join(self._first(one))) for label, one in results]
        parts = []
        for names, run in groupby(named, key=lambda pair: pair[1]):
            labels = [label for label, _ in run]
            parts.append((labels, names))
        if len(parts) == 1:
            return f"{parts[0][1]}, under each of {counted(len(named), 'condition')}."
        ahead = [{self.words[cell] for cell in one.first if self._is_ahead(cell, one)} for _, one in results]
        common = [self.words[c] for c in results[0][1].first if all(self.words[c] in found for found in ahead)]
        shown = "; ".join(f"{_spanned(labels)}: {names}" for labels, names in parts[:PLACES])
        more = f"; and {len(parts) - PLACES} more" if len(parts) > PLACES else ""
        decided = any(not one.undecided for _, one in results)
        best = f"{common[0]} is best, or less than 1 % from the best, under every condition" if common else ""
        return f"{shown}{more}.{f' {best}.' if best and decided else ''}"

    def claims(self, one: Standing[Cell]) -> list[Claim]:
        """Return the differences that sentences tell: those of the nearest other cell, and of cells not told apart."""
        found = []
        for cell in (*one.others[:1], *one.untold[:NAMED]):
            if (pair := self._apart(cell, one.level[0])) is not None:
                found.append(claim_of(pair, self.measure, _point(cell), _point(one.level[0])))
        return found

    def _one(self, one: Standing[Cell]) -> str:
        first, *untold = self._first(one)
        if not one.others:
            return first
        value = value_text(self.readings[one.level[0]], self.measure.unit)
        found = self._apart(one.others[0], one.level[0])
        assert found is not None, "cells told apart have a difference"
        rest = f"{self.words[one.others[0]]} is {difference_text(found, self.measure)}"
        return "; ".join([f"{first}, {value}", *untold, rest])

    def _first(self, one: Standing[Cell]) -> list[str]:
        """Name the best choice, or those that are level; then those that more seeds could tell apart from it."""
        if not one.level:
            return ["no choice finished 99 % of its transfers with 90 % of the highest throughput"]
        if one.best is not None:
            return [f"best is {self.words[one.best]}"]
        if one.undecided:
            return ["no choice is told apart from another"]
        names = [self.words[cell] for cell in one.level]
        if len(names) == 1:
            found = [f"{names[0]} has the {superlative(self.measure)} mean"]
        else:
            found = [f"{', '.join(names[:NAMED])}{_more(len(names))} are level"]
        if one.untold:
            texts = [f"{self.words[cell]} ({self._untold(one, cell)})" for cell in one.untold[:NAMED]]
            found.append(f"not told apart: {', '.join(texts)}{_more(len(one.untold))}")
        return found

    def _untold(self, one: Standing[Cell], cell: Cell) -> str:
        """Write the difference of a cell from the leading one, and the seeds that would decide it."""
        found = self._apart(cell, one.level[0])
        if found is None:
            return "no seed in common"
        text = difference_text(found, self.measure)
        text = text if text == "open" else f"differs by {text}"
        if found.verdict is Verdict.OPEN:
            return f"{text}, as transfers did not finish"
        seeds = f"more than {MOST_SEEDS} seeds" if found.seeds is None else f"about {counted(found.seeds, 'more seed')}"
        return f"{text}, {seeds} would tell"

    def _is_ahead(self, cell: Cell, one: Standing[Cell]) -> bool:
        """Return whether a cell is better than every other candidate, or as good."""
        pairs = [self._apart(cell, other) for other in one.candidates if other != cell]
        return all(found is not None and found.verdict in (Verdict.BETTER, Verdict.ALIKE) for found in pairs)

    def _apart(self, cell: Cell, other: Cell) -> Apart | None:
        """Compare two cells; ``None`` without a seed under which both have the figure."""
        pair = {"one": self.readings[cell], "other": self.readings[other]}
        return None if difference(*pair.values()) is None else self.measure.apart("one", "other", pair)


def _point(cell: Cell) -> Point:
    return Point(cell.arm, ", ".join(cell.values))


def _more(count: int) -> str:
    return f" and {count - NAMED} more" if count > NAMED else ""


def _spanned(labels: Sequence[str]) -> str:
    """Join the labels of conditions that follow each other; the key is said once."""
    heads = {label.partition(" = ")[0] for label in labels}
    if len(heads) == 1 and all(label.count(" = ") == 1 for label in labels):
        return f"{heads.pop()} = {', '.join(label.partition(' = ')[2] for label in labels)}"
    return "; ".join(labels)


def ranges(arenas: Arenas, figures: Sequence[Figure]) -> list[Answer]:
    """Say the smallest and largest mean of figures over all cells, if there are several."""
    found = []
    for figure in figures[:HEADLINE]:
        means = [
            (one.mean, cell)
            for cell in arenas.cells.cells
            if (reading := arenas.cells.reading(cell, figure.key)) is not None and (one := reading.least) is not None
        ]
        if len(means) > 1:
            text = f": from {_at(min(means), figure)} to {_at(max(means), figure)}."
            found.append(Answer(Kind.RANGE, figure.label, text, ()))
    return found


def _at(place: tuple[float, Cell], figure: Figure) -> str:
    """Write a mean with the values of its cell."""
    return f"{rounded(place[0] * figure.scale)} ({', '.join(filter(None, (place[1].arm, *place[1].values)))})"
