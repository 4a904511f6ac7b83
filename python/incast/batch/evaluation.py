"""Evaluation of a scenario: its figures under some seeds, in this process, without files."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from os import PathLike
from typing import Any

import numpy as np
import numpy.typing as npt

from incast import _core
from incast.batch import runner
from incast.errors import ScenarioError, StudyError
from incast.runs import soundness
from incast.runs.result import COMPLETIONS, most_kept
from incast.runs.scenario import Progress, Scenario
from incast.statistics import Estimate, estimate
from incast.system.memory import free_memory
from incast.system.output import nearest

Values = npt.NDArray[np.float64]


class Figures(Mapping[str, Values]):
    """Figures by dotted key (``flows.jain``), each an array with one value per seed.

    A value is NaN if the run lacks the figure, such as a completion time without finished flows.
    """

    def __init__(self, seeds: tuple[int, ...], values: dict[str, Values], units: dict[str, str]) -> None:
        self.seeds = seeds
        self._values = values
        self._units = units

    def __getitem__(self, key: str) -> Values:
        found = self._values.get(key)
        if found is None:
            raise KeyError(f"no figure {key}{nearest(key, list(self._values))}")
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def unit(self, key: str) -> str:
        """Return the unit of a figure, as in ``summary.json``."""
        if key not in self:
            raise KeyError(f"no figure {key}{nearest(key, list(self._values))}")
        parts = key.split(".")
        return self._units.get(".".join(parts[2:]) if parts[0] == "groups" else key, "1")

    def estimate(self, key: str) -> Estimate | None:
        """Mean over the seeds that have the figure, with its 95 % interval; ``None`` if none has it."""
        values = self[key]
        return estimate([float(value) for value in values[~np.isnan(values)]])

    def __repr__(self) -> str:
        return f"<Figures {len(self)} of {len(self.seeds)} seeds>"


def evaluate(
    scenario: Scenario | str | PathLike[str],
    seeds: int | Sequence[int] = 1,
    figures: Sequence[str] | None = None,
    workers: int = 1,
) -> Figures:
    """Simulate a scenario under each of ``seeds``, and return the figures of its summary. Nothing is written.

    ``seeds`` is one seed or several different ones: a duplicate would make an interval too narrow. ``figures`` are
    dotted keys of ``summary.json`` (default: all numbers). ``workers`` is the number of parallel runs, in threads: the
    engine releases the GIL. The values do not depend on it.

    Raises ``ScenarioError`` for a wrong scenario or seed, ``StudyError`` for a figure that the scenario does not have,
    and the exceptions of ``Scenario.run``.
    """
    if not isinstance(scenario, Scenario):
        scenario = Scenario.load(scenario)
    numbers = (seeds,) if isinstance(seeds, int) else tuple(seeds)
    if not numbers:
        raise ScenarioError("seeds: expected at least one")
    twice = [seed for seed, count in Counter(numbers).items() if count > 1]
    if twice:
        raise ScenarioError(f"seeds: {twice[0]} is given twice; expected different seeds")
    if workers < 1:
        raise StudyError(f"workers = {workers}: expected 1 or more")
    cores = [scenario.with_seed(seed).core for seed in numbers]
    at_once = min(workers, len(cores))
    each = free_memory() / at_once
    if at_once == 1:
        with scenario.looked_at():
            texts = [summary_json(core, each) for core in cores]
    else:
        texts = _in_threads(scenario, cores, at_once, each)
    summaries = [json.loads(text) for text in texts]
    units: dict[str, str] = summaries[0]["units"]
    rows = [dict(numbers_of(summary)) for summary in summaries]
    known = list(dict.fromkeys(key for row in rows for key in row))
    wanted = known if figures is None else list(figures)
    for key in wanted:
        if key not in known:
            raise StudyError(f"no figure {key} in the summary of {scenario.name}{nearest(key, known)}")
    values = {key: np.array([row.get(key, np.nan) for row in rows], dtype=np.float64) for key in wanted}
    return Figures(numbers, values, units)


def _in_threads(scenario: Scenario, cores: Sequence[_core.Scenario], count: int, memory_limit: float) -> list[str]:
    texts = [""] * len(cores)

    def made(place: int) -> bytes:
        with scenario.looked_at(), threads.run(str(place)) as progress:
            return summary_json(cores[place], memory_limit, progress).encode()

    def took(place: int, text: bytes) -> None:
        texts[place] = text.decode()

    threads = runner.ThreadWorkers(count, made)
    status = runner.Status(len(cores))
    runner.carry_out(threads, range(len(cores)), took, lambda error, *_: error, status, lambda _: None)
    return texts


def summary_json(core: _core.Scenario, memory_limit: float, progress: Progress | None = None) -> str:
    """Run a scenario and return its summary; its records may take a share of ``memory_limit`` bytes.

    Raises ``UnsoundError`` for a run that cannot be right.
    """
    text = _core.run(core, progress, 1, most_kept=most_kept(memory_limit)).summary_json()
    soundness.refuse(json.loads(text), f"{core.name}, seed {core.seed}")
    return text


def numbers_of(summary: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """Yield the numbers of a summary with their dotted keys; NaN for a missing figure."""
    names = {key for key, unit in summary["units"].items() if not unit}  # texts, such as a port's name
    for part, value in summary.items():
        if part not in ("run", "units", "definitions"):
            yield from ((key, number) for key, number in _flat(part, value) if key not in names)


def _flat(key: str, value: Any) -> Iterator[tuple[str, float]]:
    if isinstance(value, Mapping):
        over = key.rpartition(".")[2]
        nothing = over in COMPLETIONS and not value.get("finished")
        for name, item in value.items():
            exists = not nothing or name in ("count", "finished")
            yield from _flat(f"{key}.{name}", item if exists or isinstance(item, Mapping) else None)
    elif value is None:
        yield key, np.nan
    elif isinstance(value, (int, float)):
        yield key, float(value)
