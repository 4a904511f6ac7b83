"""Evaluation of a paper's figures: numbers, and verdicts on claims."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from incast.batch.plan import Job
from incast.errors import FolderError, UnsoundError
from incast.papers import reasons
from incast.papers.definition import Claim, Figure, Paper, X
from incast.papers.judging import Finding, judge
from incast.papers.measuring import Run, work_out
from incast.papers.planning import jobs
from incast.papers.scope import WHOLE, left_of
from incast.papers.verdict import Verdict
from incast.runs import soundness
from incast.runs.result import Result
from incast.statistics import Estimate, estimate
from incast.system.files import held


@dataclass(frozen=True)
class Missing:
    """A figure with missing runs."""

    figure: Figure
    lacking: int
    """Number of runs that are missing, or made by another build of the engine."""
    runs: int


@dataclass
class Evaluated:
    """A figure with all runs."""

    paper: Paper
    figure: Figure
    folders: Mapping[tuple[str, X, int], Path]
    """Run folders by series, x and seed."""
    values: Mapping[str, Mapping[tuple[str, X, int], float]]
    """Measured numbers by measure, then by series, x and seed; missing ones are left out."""
    costs: Mapping[Path, tuple[int, float]]
    """Hops and CPU seconds by run folder, since figures share runs."""
    unfinished: Mapping[tuple[str, X], tuple[int, int]]
    """Numbers of unfinished and of all finite flows over all seeds, by series and x with unfinished ones."""
    findings: Sequence[Finding] = field(default_factory=list)

    @property
    def hops(self) -> int:
        """Hops of the figure's runs."""
        return sum(hops for hops, _ in self.costs.values())

    @property
    def changed(self) -> str:
        """End of a verdict whose runs have a changed set-up: its claim is about the published one."""
        return " (changed set-up)" if self.figure.changes else ""

    def number(self, measure: str, series: str, x: X, seed: int | None) -> float | None:
        """Return the measured number of a seed, or the mean over all."""
        if seed is not None:
            return self.values[measure].get((series, x, seed))
        found = self.estimate(measure, series, x)
        return None if found is None else found.mean

    def estimate(self, measure: str, series: str, x: X) -> Estimate | None:
        """Return mean and interval of a measure over the seeds; a computed number has no interval."""
        there = self.values[measure]
        if any(one.values for one in self.figure.series if one.name == series):
            return estimate([there[series, x, 1]] if (series, x, 1) in there else [])
        seeds = range(1, self.figure.seeds + 1)
        return estimate([there[series, x, seed] for seed in seeds if (series, x, seed) in there])

    def reason(self, finding: Finding) -> str:
        """Return the known reason why a claim does not hold here, with the numbers of these runs."""
        if finding.verdict not in (Verdict.FAILS, Verdict.OPEN):
            return ""
        claim = finding.claim
        text = claim.found if claim.found_in_part is None or not finding.part else claim.found_in_part
        return reasons.filled(self.figure, text, self.number, self.estimate)


def evaluate(paper: Paper, figure: Figure, scale: str, folder: Path) -> Evaluated | Missing:
    """Read a figure's numbers from its runs and judge its claims."""
    whole, figure = figure.at(WHOLE), figure.at(scale)
    of_figure = jobs(paper, figure, folder)
    places = {job.folder: job for job in of_figure.values()}
    lacking = sum(not job.is_finished() for job in places.values())
    if lacking:
        return Missing(figure, lacking, len(places))
    points = {point.x: point for point in figure.points}
    runs = {place: _load(paper, place) for place in places}
    values: dict[str, dict[tuple[str, X, int], float]] = {name: {} for name in figure.measures}
    for key, job in of_figure.items():
        with reading(paper, job.folder):
            for name, measure in figure.measures.items():
                found = runs[job.folder].number(measure, points[key[1]])
                if found is not None:
                    values[name][key] = found * measure.scale
    for (series, x, name), number in work_out(paper, figure).items():
        values[name].update({(series, x, seed): number for seed in range(1, figure.seeds + 1)})
    done = Evaluated(
        paper,
        figure,
        {key: job.folder for key, job in of_figure.items()},
        values,
        {place: (int(run.summary["run"]["hops"]), float(run.manifest["cost"]["cpu_s"])) for place, run in runs.items()},
        _unfinished(of_figure, runs),
    )
    done.findings = [_judged(paper, whole, done, claim, scale) for claim in figure.claims]
    return done


def _judged(paper: Paper, whole: Figure, done: Evaluated, claim: Claim, scale: str) -> Finding:
    """Judge a claim, with the part of it that this scale covers."""
    if scale not in claim.scales:
        return Finding(claim, Verdict.UNTESTED, [f"judged at scale {' and '.join(claim.scales)} alone"])
    finding = judge(done.figure, claim, done.number)
    if finding.verdict is Verdict.UNTESTED:
        return finding
    return replace(finding, part=left_of(paper, whole, done.figure, claim))


def _unfinished(
    jobs: Mapping[tuple[str, X, int], Job], runs: Mapping[Path, Run]
) -> dict[tuple[str, X], tuple[int, int]]:
    counts: dict[tuple[str, X], tuple[int, int]] = {}
    for (series, x, _), job in jobs.items():
        flows = runs[job.folder].summary["fct"]
        late, all_ = counts.get((series, x), (0, 0))
        counts[series, x] = (late + flows["count"] - flows["finished"], all_ + flows["count"])
    return {place: (late, all_) for place, (late, all_) in counts.items() if late}


def _load(paper: Paper, folder: Path) -> Run:
    with reading(paper, folder):
        result = Result.load(folder, whole=True)
        soundness.refuse(result.summary, str(folder))
        return Run(result)


@contextmanager
def reading(paper: Paper, folder: Path) -> Iterator[None]:
    """Read a run in this block; errors of its files have a note about how to repeat it."""
    try:
        with held(folder):
            yield
    except (FolderError, UnsoundError) as error:
        error.add_note(f"incast paper run {paper.called()} repeats it after {folder} is removed")
        raise
