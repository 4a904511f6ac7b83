"""Training jobs against themselves alone: the same seed, hosts, traffic and settings, without the other jobs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from incast.runs.job_alone import alone
from incast.runs.result import Result
from incast.runs.scenario import Scenario
from incast.statistics import jain
from incast.writing.numbers import duration, said, scaled


@dataclass(frozen=True)
class Slowdown:
    """A job beside others, and alone."""

    job: str
    together_s: float | None
    """Mean iteration time of the run, over the iterations that ended in both; ``None`` if there are none."""
    alone_s: float | None
    """The same without the other jobs."""
    iterations: int
    """Iterations that ended in both, without the warm-up."""
    asked: int
    """Iterations that the job is to have, without the warm-up."""

    @property
    def slowdown(self) -> float | None:
        """Iteration time over that of the job alone."""
        if self.together_s is None or not self.alone_s:
            return None
        return self.together_s / self.alone_s


def slowdowns(
    result: Result, scenario: Scenario, run: Callable[[Scenario], Result] = Scenario.run
) -> tuple[list[Slowdown], float | None]:
    """Run each job of a run alone; return the slowdowns, and Jain's index over them (``None`` with an unknown one).

    ``scenario`` is that of the run.
    """
    found = []
    for job, figures in result.summary.get("jobs", {}).items():
        if not figures["iterations"]:
            continue
        times = _times(result, job), _times(run(alone(scenario, job)), job)
        both = sorted(times[0].keys() & times[1].keys())
        together, own = ([of[i] for i in both] for of in times)
        asked = max(0, figures["iterations"] - _warmup(scenario, job))
        found.append(Slowdown(job, _mean(together), _mean(own), len(both), asked))
    values = [one.slowdown for one in found]
    known = [value for value in values if value is not None]
    return found, jain(known) if known and len(known) == len(values) else None


def _times(result: Result, job: str) -> dict[int, float]:
    """Return the times of the iterations of a job that ended after the warm-up, in seconds."""
    rows = result.jobs.select(["job", "iteration", "warmup", "time_s"]).to_pylist()
    return {
        row["iteration"]: row["time_s"]
        for row in rows
        if row["job"] == job and not row["warmup"] and row["time_s"] is not None
    }


def _warmup(scenario: Scenario, job: str) -> int:
    return next((one.get("warmup", 0) for one in scenario.resolved()["job"] if one["name"] == job), 0)


def _mean(values: list[float]) -> float | None:
    return sum(values) / len(values) if values else None


def sentences(found: list[Slowdown], fairness: float | None) -> Iterator[str]:
    """Yield a sentence for each job, and one on the fairness between several."""
    for one in found:
        if one.together_s is None or one.alone_s is None:
            yield f"{one.job}: no iteration ended both beside the others and alone"
            continue
        factor = "" if one.slowdown is None else f": slowdown {said(scaled(one.slowdown))}"
        part = "" if one.iterations == one.asked else f", over the {one.iterations} of {one.asked} that ended in both"
        times = [said(duration(seconds)) for seconds in (one.together_s, one.alone_s)]
        yield f"{one.job}: {times[0]} an iteration, {times[1]} alone{factor}{part}"
    if fairness is not None and len(found) > 1:
        yield f"Jain's index over the slowdowns: {said(scaled(fairness))}"


def as_json(found: list[Slowdown], fairness: float | None) -> dict[str, Any]:
    """Return the slowdowns as tables, for JSON."""
    rows = [
        {
            "job": one.job,
            "iteration_s": one.together_s,
            "alone_s": one.alone_s,
            "slowdown": one.slowdown,
            "iterations": one.iterations,
        }
        for one in found
    ]
    return {"jobs": rows, "jain": fairness}
