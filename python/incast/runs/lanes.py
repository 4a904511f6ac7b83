"""States of the ranks of jobs over time: calculations, messages under way, waiting; from the recorded tasks of a run.

Times add up to those of ``ranks.parquet``: with a calculation under way (``compute_s``), with a message under way and
no calculation (``exposed_s``), with neither (``idle_s``).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from incast.errors import FolderError

if TYPE_CHECKING:
    import pyarrow as pa

    from incast.runs.result import Result

Numbers = npt.NDArray[np.float64]
KEY = "measure.tasks"
CALC, EXPOSED, WAITING, OUTSIDE = range(4)
"""States of a rank: a calculation; a message under way and no calculation; neither; no iteration."""
NAMES = ("calculation", "exposed communication", "waiting")
"""Names of the states inside iterations."""
MOST_TASKS = 400_000
"""Most tasks that are recorded of a run that is repeated: beyond, those of some ranks."""


class NoTasks(FolderError):
    """A run recorded no tasks."""


@dataclass(frozen=True)
class Lane:
    """States of a rank: ``states[i]`` and ``communicates[i]`` from ``edges[i]`` to ``edges[i + 1]``, in seconds."""

    job: str
    rank: int
    host: int
    edges: Numbers
    states: npt.NDArray[np.uint8]
    communicates: npt.NDArray[np.bool_]
    """True with a message from or to the rank under way, beside a calculation or not."""
    iterations: Numbers
    """Starts and ends of the iterations, a row each; an unfinished one ends with the run."""

    def spans(self, state: int) -> Numbers:
        """Return starts and ends of a state, a row each."""
        return _runs(self.edges, self.states == state)

    def overlapped(self) -> Numbers:
        """Return starts and ends of overlapped communication: a message under way beside a calculation."""
        return _runs(self.edges, self.communicates & (self.states == CALC))

    def total(self, state: int) -> float:
        """Return the time in a state."""
        return float(np.diff(self.edges)[self.states == state].sum())


def _runs(edges: Numbers, inside: npt.NDArray[np.bool_]) -> Numbers:
    """Return starts and ends of the longest stretches of segments that are inside."""
    steps = np.diff(np.concatenate([[0], inside.astype(np.int8), [0]]))
    return np.stack([edges[np.flatnonzero(steps == 1)], edges[np.flatnonzero(steps == -1)]], axis=1)


def union(starts: Numbers, ends: Numbers) -> Numbers:
    """Return the times that intervals cover, as starts and ends of a row each, in order and apart."""
    order = np.argsort(starts, kind="stable")
    starts, ends = starts[order], np.maximum.accumulate(ends[order]) if len(ends) else ends
    first = np.concatenate([[True], starts[1:] > ends[:-1]]) if len(starts) else np.zeros(0, bool)
    places = np.flatnonzero(first)
    found = np.stack([starts[places], ends[np.append(places[1:], len(starts)) - 1]], axis=1) if len(places) else _none()
    lasting: Numbers = found[found[:, 1] > found[:, 0]]
    return lasting


def _none() -> Numbers:
    return np.zeros((0, 2))


def _covers(spans: Numbers, at: Numbers) -> npt.NDArray[np.bool_]:
    """Return whether spans, in order and apart, cover each of these times."""
    found: npt.NDArray[np.bool_] = np.searchsorted(spans[:, 0], at, "right") > np.searchsorted(spans[:, 1], at, "right")
    return found


def lane(job: str, rank: int, host: int, iterations: Numbers, calc: Numbers, communication: Numbers) -> Lane:
    """Return the lane of a rank from the times of its iterations, calculations and messages."""
    edges = np.unique(np.concatenate([iterations.ravel(), calc.ravel(), communication.ravel()]))
    edges = edges[(edges >= iterations[0, 0]) & (edges <= iterations[-1, 1])] if len(iterations) else np.zeros(1)
    middles = (edges[:-1] + edges[1:]) / 2
    active = _covers(union(iterations[:, 0], iterations[:, 1]), middles)
    communicates = _covers(communication, middles)
    states = np.where(_covers(calc, middles), CALC, np.where(communicates, EXPOSED, WAITING))
    states = np.where(active, states, OUTSIDE).astype(np.uint8)
    return Lane(job, rank, host, edges, states, communicates, iterations)


def _numbers(table: pa.Table, name: str) -> Numbers:
    values: Numbers = table[name].to_numpy(zero_copy_only=False).astype(np.float64)
    return values


def lanes(run: Result, ranks: Mapping[str, Collection[int]] | None = None) -> Iterator[Lane]:
    """Yield the lanes of all recorded ranks of a run, or of these by job, by job and rank.

    Raises ``NoTasks`` if the run recorded none.
    """
    with run.reading():
        refuse_without(run)
        yield from lanes_of(run.tasks.arrow, run.ranks.arrow, float(run.summary["run"]["sim_s"]), ranks)


def refuse_without(run: Result) -> None:
    """Raise ``NoTasks`` if the run recorded no tasks."""
    if not run.tasks.num_rows:
        why = f"run it with --set {KEY}=all" if run.ranks.num_rows else "it has no job"
        raise NoTasks(f"the run recorded no tasks: {why}")


def lanes_of(
    tasks: pa.Table, ranks: pa.Table, end_s: float, chosen: Mapping[str, Collection[int]] | None = None
) -> Iterator[Lane]:
    """Yield the lanes of tables ``tasks`` and ``ranks`` of a run that ends at ``end_s``."""
    import pyarrow.compute as pc

    for job in dict.fromkeys(ranks["job"].to_pylist()):
        own = tasks.filter(pc.equal(tasks["job"], job))
        times = ranks.filter(pc.equal(ranks["job"], job))
        numbers = own["rank"].to_numpy()
        places = np.searchsorted(numbers, np.arange(int(numbers.max(initial=0)) + 2))
        of_rank = times["rank"].to_numpy()
        for rank in np.unique(numbers).tolist():
            if chosen is None or rank in chosen.get(str(job), ()):
                part = own.slice(places[rank], places[rank + 1] - places[rank])
                yield _lane(str(job), rank, times.take(np.flatnonzero(of_rank == rank)), part, end_s)


def _lane(job: str, rank: int, times: pa.Table, tasks: pa.Table, end_s: float) -> Lane:
    """Return the lane of a rank from its rows of ``ranks`` and ``tasks``."""
    finish = _numbers(times, "finish_s")
    iterations = np.stack([_numbers(times, "start_s"), np.where(np.isnan(finish), end_s, finish)], axis=1)
    kinds = np.array(tasks["kind"].to_pylist(), dtype=object)
    start, finish = _numbers(tasks, "start_s"), _numbers(tasks, "finish_s")
    calc = _union((kinds == "calc") & ~np.isnan(start), start, finish, end_s)
    start, finish = _numbers(tasks, "message_start_s"), _numbers(tasks, "message_finish_s")
    communication = _union(~np.isnan(start), start, finish, end_s)
    return lane(job, rank, int(times["host"][0].as_py()), iterations, calc, communication)


def _union(these: npt.NDArray[np.bool_], start: Numbers, finish: Numbers, end_s: float) -> Numbers:
    return union(start[these], np.where(np.isnan(finish[these]), end_s, finish[these]))


def chosen(ranks: pa.Table, jobs: pa.Table, most: int, tasks: pa.Table | None = None) -> dict[str, list[int]]:
    """Return at most about ``most`` ranks by job: the critical ranks, the slowest, and others at equal distances.

    All jobs get equal shares, each at least one rank. With ``tasks`` only ranks with a task are chosen.
    """
    import pyarrow.compute as pc

    names = list(dict.fromkeys(ranks["job"].to_pylist()))
    found: dict[str, list[int]] = {}
    for job in names:
        times = ranks.filter(pc.equal(ranks["job"], job))
        if tasks is not None:
            recorded = pc.unique(tasks.filter(pc.equal(tasks["job"], job))["rank"])
            times = times.filter(pc.is_in(times["rank"], value_set=recorded))
        critical = jobs.filter(pc.equal(jobs["job"], job))["critical_rank"].to_pylist()
        found[str(job)] = _some(times, critical, max(1, most // len(names)))
    return found


def _some(times: pa.Table, critical: list[int], most: int) -> list[int]:
    """Return at most ``most`` ranks of rows of a job."""
    ranks, places = np.unique(times["rank"].to_numpy(), return_inverse=True)
    known: list[int] = ranks.tolist()
    if len(known) <= most:
        return known
    length = _numbers(times, "finish_s") - _numbers(times, "start_s")
    sums = np.zeros(len(known))
    np.add.at(sums, places, np.where(np.isnan(length), np.inf, length))
    often = sorted(set(critical) & set(known), key=lambda own: (-critical.count(own), own))
    order = [*often[: max(1, most // 4)], known[int(np.argmax(sums))]]
    order += [known[place] for place in np.unique(np.linspace(0, len(known) - 1, most).round().astype(int))]
    return sorted(list(dict.fromkeys(order))[:most])


def has_jobs(resolved: Mapping[str, Any]) -> bool:
    """Return whether a resolved scenario has a job."""
    return bool(resolved.get("job")) or any(one.get("pattern") == "job" for one in resolved.get("traffic", ()))


def setting(run: Result | None) -> Any:
    """Return the value of ``measure.tasks`` for a repetition of a run: all ranks, or some of many."""
    if run is None or not run.ranks.num_rows:
        return "all"
    tasks = int(run.ranks["tasks"].to_numpy().sum())
    ranks = len(set(zip(run.ranks["job"].to_pylist(), run.ranks["rank"].to_pylist(), strict=True)))
    if tasks <= MOST_TASKS:
        return "all"
    some = chosen(run.ranks.arrow, run.jobs.arrow, max(1, MOST_TASKS * ranks // tasks))
    return sorted({rank for own in some.values() for rank in own})
