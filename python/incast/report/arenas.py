"""Arenas of a study: cells among which there is a choice, under equal conditions, and who is best in each.

A key of the controller, the queue, the transport or the routing is a choice; a key of the traffic, the topology or the
run is a condition. Arms are choices. Cells compete in one arena if they share scenario and conditions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from incast.comparisons.ranking import delivers
from incast.report.best_cells import Standing, eligible, standing
from incast.report.cells import Cell, Cells, Group
from incast.report.figures import ACTIVE, FIGURES, Figure
from incast.runs.completions import Reading

CHOICES = ("controller", "queue", "transport", "routing", "programs")
"""First words of keys that an operator chooses."""


def is_choice(key: str) -> bool:
    """Return whether the values of a key are to be chosen from, rather than conditions to choose under."""
    words = key.split(".")
    return words[0] in CHOICES or "controller" in words


@dataclass(frozen=True)
class Arena:
    """Cells of one scenario under equal conditions."""

    scenario: str
    condition: tuple[tuple[str, str], ...]
    """Keys and values of the conditions."""
    cells: tuple[Cell, ...]


@dataclass
class Arenas:
    """All arenas of a study, and the standings in them."""

    cells: Cells
    _first: dict[str, frozenset[Cell]] = field(default_factory=dict)

    @cached_property
    def all(self) -> list[Arena]:
        """Arenas with at least two cells, in the order of the study."""
        found: dict[tuple[str, tuple[tuple[str, str], ...]], list[Cell]] = {}
        for group in self.cells.groups:
            for cell in group.cells:
                found.setdefault((group.scenario, self._condition(group, cell)), []).append(cell)
        return [Arena(*place, tuple(own)) for place, own in found.items() if len(own) > 1]

    def _condition(self, group: Group, cell: Cell) -> tuple[tuple[str, str], ...]:
        pairs = zip(group.axes, cell.values, strict=True)
        return tuple((key, value) for key, value in pairs if not is_choice(key))

    def idle(self, group: Group) -> list[str]:
        """Return the keys that change nothing in a group: cells that differ in them alone share their runs."""
        found = []
        for i, key in enumerate(group.axes):
            lines: dict[tuple[str, ...], list[Cell]] = {}
            for cell in group.cells:
                lines.setdefault(cell.values[:i] + cell.values[i + 1 :], []).append(cell)
            if all(set(own[1:]) <= set(self.cells.shared(own[0])) for own in lines.values()):
                found.append(key)
        return found

    def idle_notes(self) -> list[str]:
        """Return a sentence for each group and key that changes nothing there."""
        pairs = [(group, key) for group in self.cells.groups for key in self.idle(group)]
        named = ((group.arm or group.scenario, key) for group, key in pairs)
        return [f"{name} does not depend on {key}: its runs are made once" for name, key in dict.fromkeys(named)]

    @cached_property
    def short(self) -> dict[str, str]:
        """Return the last word of each key, or the key itself if another one ends so too."""
        keys = list(dict.fromkeys(key for group in self.cells.groups for key in group.axes))
        ends = [key.rpartition(".")[2] for key in keys]
        return {key: end if ends.count(end) == 1 else key for key, end in zip(keys, ends, strict=True)}

    def label(self, arena: Arena) -> str:
        """Return the conditions of an arena, as in ``load = 0.4``."""
        return ", ".join(f"{self.short[key]} = {value}" for key, value in arena.condition)

    def place(self, cell: Cell) -> str:
        """Return the words that tell a cell from all others, as in ``dctcp, load = 0.4``."""
        groups = self.cells.groups
        group = next(one for one in groups if (one.scenario, one.arm) == (cell.scenario, cell.arm))
        words = [cell.scenario] if len({one.scenario for one in groups}) > 1 else []
        words += [cell.arm] if len({one.arm for one in groups}) > 1 else []
        pairs = zip(group.axes, cell.values, strict=True)
        return ", ".join([*words, *(f"{self.short[key]} = {value}" for key, value in pairs)])

    @cached_property
    def _chosen(self) -> dict[Cell, str]:
        found = {}
        for group in self.cells.groups:
            arms = dict.fromkeys(one.arm for one in self.cells.groups if one.scenario == group.scenario)
            own = [key for key in group.axes if is_choice(key) and key not in self.idle(group)]
            for cell in group.cells:
                values = dict(zip(group.axes, cell.values, strict=True))
                words = ", ".join(f"{self.short[key]} = {values[key]}" for key in own)
                name = group.arm if len(arms) > 1 else ""
                found[cell] = f"{name} ({words})" if name and words else name or words
        return found

    def chosen(self, cell: Cell) -> str:
        """Return the words of a cell's choices: its arm, if there are several, and the values of its chosen keys."""
        return self._chosen[cell]

    def tried(self, cells: Sequence[Cell]) -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
        """Return the values of the first cell's choices that were tried, and those of all its arm's cells, by key."""
        group = next(one for one in self.cells.groups if cells[0] in one.cells)
        own = [cell for cell in cells if cell in group.cells]
        return {
            key: (group.axes[key], tuple(dict.fromkeys(cell.values[i] for cell in own)))
            for i, key in enumerate(group.axes)
            if is_choice(key) and key not in self.idle(group)
        }

    def standing(self, cells: Sequence[Cell], figure: Figure) -> Standing[Cell]:
        """Rank cells at a figure; cells with the same runs count once, as the first of them."""
        kept = list({self.cells.same(cell): cell for cell in reversed(cells)}.values())[::-1]
        shares = {cell: share for cell in kept if (share := self.cells.share(cell)) is not None}
        carried = self._readings(kept, ACTIVE) or self._readings(kept, FIGURES[0])
        throughput = carried or self._readings(kept, figure)
        allowed = eligible(shares, throughput, delivers(figure.key) or not carried)
        return standing(self._readings(kept, figure), figure.better, allowed)

    def _readings(self, cells: Sequence[Cell], figure: Figure) -> dict[Cell, Reading]:
        found = {cell: self.cells.reading(cell, figure.key) for cell in cells}
        return {cell: one for cell, one in found.items() if one is not None}

    def first(self, figure: Figure) -> frozenset[Cell]:
        """Return the cells that lead, or are not told apart from those; none in arenas where nothing is told apart."""
        if figure.key not in self._first:
            self._first[figure.key] = self._marked(figure, [arena.cells for arena in self.all])
        return self._first[figure.key]

    def own(self, figure: Figure) -> frozenset[Cell]:
        """Return the cells that lead among those of their arm in their arena."""
        parts: list[tuple[Cell, ...]] = []
        for arena in self.all:
            arms = dict.fromkeys(cell.arm for cell in arena.cells)
            parts += [tuple(cell for cell in arena.cells if cell.arm == arm) for arm in arms] if len(arms) > 1 else []
        return self._marked(figure, [part for part in parts if len(part) > 1])

    def _marked(self, figure: Figure, parts: Sequence[tuple[Cell, ...]]) -> frozenset[Cell]:
        found: set[Cell] = set()
        for part in parts:
            one = self.standing(part, figure)
            if not one.undecided:
                found |= {other for cell in one.first for other in (cell, *self.cells.shared(cell)) if other in part}
        return frozenset(found)
