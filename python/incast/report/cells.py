"""Figures of a study by cell: a scenario, an arm and a value of each axis, with one number a seed."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, NamedTuple

from incast.answers.measures import SIZES, SLOWDOWN
from incast.batch.store import RUNS, Store
from incast.comparisons.comparison import Run, run_of
from incast.comparisons.declaration import Case
from incast.runs import completions
from incast.runs.completions import Bins, Completions, Reading
from incast.runs.result import COMPLETIONS
from incast.runs.soundness import COLUMN as UNSOUND
from incast.study import inputs
from incast.study.reading import Runs

BINS = Bins((1e4, 1e6))
"""Bins of sizes: flows within a few round trips, those that share the fabric, and those that fill it."""
MOST_BINNED = 2000
"""Most runs of a study whose flows are read for slowdowns by size."""


class Cell(NamedTuple):
    """A point of a study: values as texts, in the order of its group's axes."""

    scenario: str
    arm: str
    values: tuple[str, ...]


@dataclass(frozen=True)
class Group:
    """Points of one scenario and arm."""

    scenario: str
    arm: str
    axes: dict[str, tuple[str, ...]]
    """Values of the keys with more than one, in their order."""
    fixed: dict[str, str]
    """Keys with a single value."""
    cells: tuple[Cell, ...]

    @property
    def is_grid(self) -> bool:
        """Return whether the group has every combination of its values."""
        return len(self.cells) == math.prod(len(values) for values in self.axes.values())


@dataclass
class Cells:
    """Cells of a study, and their readings."""

    study: str
    store: Store
    groups: list[Group]
    seeds: dict[Cell, tuple[int, ...]]
    governing: dict[Cell, str]
    """Controls of the flows, by cell."""
    _runs: dict[Cell, dict[int, str]]
    """Identities of the runs by seed."""
    _columns: dict[str, dict[str, Any]]
    """Figures by key and run."""
    _mixed: dict[str, Run]
    """Runs with datagrams beside flows: figures of flows exclude the datagrams."""
    _tables: Runs | None
    """Runs whose flows are read: with unfinished transfers, or for slowdowns by size."""
    bins: Bins | None
    """Size bins; ``None`` without."""
    unsound: dict[str, str]
    """Reasons of runs without figures."""
    tomls: dict[Cell, str]
    """Resolved scenarios by cell."""
    _cache: dict[tuple[str, str], Completions] = field(default_factory=dict)
    _readings: dict[tuple[Cell, str], Reading | None] = field(default_factory=dict)

    @classmethod
    def of(cls, store: Store, study: str, keys: Iterable[str]) -> Cells:
        """Read the cells of a finished study with these figures; raises ``FolderError`` for damaged files."""
        points = store.points(study)
        assert points is not None, "called with a study of the store"
        rows = points.to_pylist()
        found = [(row, _plain(json.loads(row["values"]))) for row in rows]
        groups = _groups(found)
        runs: dict[Cell, dict[int, str]] = {}
        tomls: dict[Cell, str] = {}
        place: dict[str, tuple[dict[str, Any], int]] = {}
        for row, values in found:
            group = next(one for one in groups if (one.scenario, one.arm) == (row["scenario"], row["arm"]))
            cell = Cell(group.scenario, group.arm, tuple(values[key] for key in group.axes))
            runs[cell] = dict(zip(row["seeds"], row["runs"], strict=True))
            tomls[cell] = row["toml"]
            place |= {run: (row, seed) for seed, run in runs[cell].items()}
        columns = _columns(store, study, keys)
        unsound = {run: why for run, why in columns.get(UNSOUND, {}).items() if why}
        late = {run for run in place for part in COMPLETIONS if _late(columns, part, run)}
        mixed = {run for run, (row, _) in place.items() if _is_mixed(row["controller"])}
        sized = {run for run in place if columns.get("fct.count", {}).get(run)} if len(place) <= MOST_BINNED else set()
        wanted = (late | mixed | sized) - unsound.keys()
        tables = Runs(store, wanted) if wanted else None
        sized -= unsound.keys()
        binned = tables is not None and bool(sized) and all(tables.keeps(run, "flows") for run in sized)
        seeds = {cell: tuple(own) for cell, own in runs.items()}
        governing = {cell: _spoken(row["controller"]) for cell, (row, _) in zip(runs, found, strict=True)}
        engine = store.head()["engine"]
        whole = {}
        for run in sorted(mixed - unsound.keys()):
            assert tables is not None, "it has the run"
            row, seed = place[run]
            result = tables.result(run, row["toml"], row["name"], seed, row["hash"], engine)
            case = Case(row["scenario"], (), row["values"], seed)
            whole[run] = run_of(case, result, partial(tables.rows, run))
        made = cls(study, store, groups, seeds, governing, runs, columns, whole, tables, None, unsound, tomls)
        if binned and made._has_several_sizes(sized):
            made.bins = BINS
        return made

    @property
    def cells(self) -> list[Cell]:
        """All cells, by group."""
        return [cell for group in self.groups for cell in group.cells]

    @property
    def count(self) -> tuple[int, int]:
        """Return the numbers of different runs with figures, and of all."""
        runs = {run for own in self._runs.values() for run in own.values()}
        return len(runs - self.unsound.keys()), len(runs)

    @cached_property
    def _same(self) -> dict[Cell, list[Cell]]:
        """Return the cells with the same runs, by cell."""
        found: dict[tuple[tuple[int, str], ...], list[Cell]] = {}
        for cell, runs in self._runs.items():
            found.setdefault(tuple(runs.items()), []).append(cell)
        return {cell: own for own in found.values() for cell in own}

    def same(self, cell: Cell) -> Cell:
        """Return the first cell with the same runs: this one, unless an axis changes nothing."""
        return self._same[cell][0]

    def shared(self, cell: Cell) -> list[Cell]:
        """Return the other cells whose runs are the same ones: the axes between them change nothing."""
        return [one for one in self._same[cell] if one != cell]

    def reading(self, cell: Cell, key: str) -> Reading | None:
        """Return a figure by seed, with the bounds that unfinished transfers leave; ``None`` if no run has it."""
        if (cell, key) not in self._readings:
            self._readings[cell, key] = self._read(cell, key)
        return self._readings[cell, key]

    def _read(self, cell: Cell, key: str) -> Reading | None:
        runs = {seed: run for seed, run in self._runs[cell].items() if run not in self.unsound}
        part, _, name = key.partition(".")
        if key.startswith(SIZES):
            number, _, statistic = name.partition(".")
            own = {seed: self._completed(run, "fct") for seed, run in runs.items()}
            binned = {seed: one.where(BINS.of(one.sizes) == int(number)) for seed, one in own.items()}
            return completions.reading(binned, statistic)
        low: dict[int, float] = {}
        high: dict[int, float] = {}
        for seed, run in runs.items():
            ends = self._ends(run, part, name)
            if ends is not None:
                low[seed], high[seed] = ends
        if not low:
            return None
        if part not in COMPLETIONS:
            return Reading(low, high)
        counts = self._columns.get(f"{part}.count", {})
        return Reading(low, high, *self.began(cell, part), max(int(counts.get(run) or 0) for run in runs.values()))

    def _ends(self, run: str, part: str, name: str) -> tuple[float, float] | None:
        """Return the bounds of a figure of a run, equal if it is known; ``None`` if the run lacks it."""
        key = f"{part}.{name}"
        value = self._mixed[run].figure(key) if run in self._mixed else self._columns.get(key, {}).get(run)
        late = self._late(run, part)
        statistic = name.removeprefix("slowdown_").removesuffix("_s")
        if not late or name in ("count", "finished"):
            return None if value is None else (float(value), float(value))
        if statistic not in completions.STATISTICS:
            return None if value is None else (float(value), float(value) + late)  # a number among finished ones
        table = {"fct": "flows"}.get(part, part)
        if self._tables is None or not self._tables.keeps(run, table):
            return -math.inf, math.inf  # finished ones alone say nothing about all
        quantity = "slowdown" if f"{part}.{name}".startswith(SLOWDOWN) else "time"
        own = completions.reading({0: self._completed(run, part)}, statistic, quantity)
        return None if own is None else (own.low[0], own.high[0])

    def _late(self, run: str, part: str) -> int:
        counts = [self._columns.get(f"{part}.{name}", {}).get(run) or 0 for name in ("count", "finished")]
        return int(counts[0] - counts[1]) if part in COMPLETIONS else 0

    def _completed(self, run: str, part: str) -> Completions:
        if (run, part) not in self._cache:
            assert self._tables is not None, "called for runs whose tables are read"
            read = partial(self._tables.rows, run)
            self._cache[run, part] = completions.read(read, part, float(self._columns["run.sim_s"][run]))
        return self._cache[run, part]

    def _has_several_sizes(self, runs: Iterable[str]) -> bool:
        sizes = [completions.sizes_of(self._completed(run, "fct")) for run in runs]
        return not completions.one_size([one for one in sizes if one is not None])

    def began(self, cell: Cell, part: str) -> tuple[int, int]:
        """Return the numbers of finite flows, queries or writes that finished and that began, in a cell's runs."""
        totals = [
            sum(int(self._columns.get(f"{part}.{name}", {}).get(run) or 0) for run in self._runs[cell].values())
            for name in ("finished", "count")
        ]
        return totals[0], totals[1]

    def share(self, cell: Cell) -> float | None:
        """Return the least share under a seed of the transfers that finished; ``None`` without any."""
        shares = []
        for run in self._runs[cell].values():
            count = math.fsum(self._columns.get(f"{part}.count", {}).get(run) or 0 for part in COMPLETIONS)
            if count:
                shares.append(1 - sum(self._late(run, part) for part in COMPLETIONS) / count)
        return min(shares, default=None)

    def total(self, key: str) -> float:
        """Return the sum of a figure over all different runs."""
        own = {run for runs in self._runs.values() for run in runs.values()}
        return math.fsum(value for run, value in self._columns.get(key, {}).items() if run in own and value)


def _is_mixed(governing: str) -> bool:
    """Return whether a run has datagrams beside flows that a controller governs."""
    kinds = governing.split("+")
    return len(kinds) > 1 and "udp" in kinds


def _plain(values: dict[str, Any]) -> dict[str, str]:
    return {key: _spoken(value) for key, value in values.items()}


def _spoken(value: Any) -> str:
    found = inputs.spoken(value)
    return found if isinstance(found, str) else json.dumps(found)


def _groups(found: Sequence[tuple[dict[str, Any], dict[str, str]]]) -> list[Group]:
    by_place: dict[tuple[str, str], list[dict[str, str]]] = {}
    for row, values in found:
        by_place.setdefault((row["scenario"], row["arm"]), []).append(values)
    groups = []
    for (scenario, arm), points in by_place.items():
        own = {key: tuple(dict.fromkeys(one[key] for one in points)) for key in points[0]}
        axes = {key: values for key, values in own.items() if len(values) > 1}
        fixed = {key: values[0] for key, values in own.items() if len(values) == 1}
        cells = tuple(Cell(scenario, arm, tuple(one[key] for key in axes)) for one in points)
        groups.append(Group(scenario, arm, axes, fixed, cells))
    return groups


def _columns(store: Store, study: str, keys: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Read figures of a study's runs, by key and run."""
    import pyarrow.compute as pc

    there = store.schema(RUNS).names
    counts = [f"{part}.{name}" for part in COMPLETIONS for name in ("finished", "count")]
    wanted = [key for key in dict.fromkeys([*keys, *counts, UNSOUND, "run.hops", "run.sim_s"]) if key in there]
    table = store.read(RUNS, ["study", "run", *wanted])
    table = table.filter(pc.equal(table["study"], study))
    runs = table["run"].to_pylist()
    return {key: dict(zip(runs, table[key].to_pylist(), strict=True)) for key in wanted}


def _late(columns: dict[str, dict[str, Any]], part: str, run: str) -> bool:
    finished, count = (columns.get(f"{part}.{name}", {}).get(run) or 0 for name in ("finished", "count"))
    return bool(finished < count)
