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
    """Mean iteration time of the run; ``None`` if no iteration ended."""
    alone_s: float | None
    """Mean iteration time without the other jobs."""

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
        own = run(alone(scenario, job)).summary["jobs"][job]
        found.append(Slowdown(job, figures["iteration_mean_s"], own["iteration_mean_s"]))
    values = [one.slowdown for one in found]
    known = [value for value in values if value is not None]
    return found, jain(known) if known and len(known) == len(values) else None


def sentences(found: list[Slowdown], fairness: float | None) -> Iterator[str]:
    """Yield a sentence for each job, and one on the fairness between several."""

    def time(seconds: float | None) -> str:
        return "no iteration" if seconds is None else said(duration(seconds))

    for one in found:
        factor = "" if one.slowdown is None else f": slowdown {said(scaled(one.slowdown))}"
        yield f"{one.job}: {time(one.together_s)} an iteration, {time(one.alone_s)} alone{factor}"
    if fairness is not None and len(found) > 1:
        yield f"Jain's index over the slowdowns: {said(scaled(fairness))}"


def as_json(found: list[Slowdown], fairness: float | None) -> dict[str, Any]:
    """Return the slowdowns as tables, for JSON."""
    rows = [
        {"job": one.job, "iteration_s": one.together_s, "alone_s": one.alone_s, "slowdown": one.slowdown}
        for one in found
    ]
    return {"jobs": rows, "jain": fairness}
