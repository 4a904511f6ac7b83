"""Comparisons: the plan of their runs, and the figures of these runs."""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow.compute as pc

from incast.batch.runner import phase
from incast.comparisons.declaration import Case, ComparisonStudy
from incast.comparisons.report_folder import Home, Rows, governed, made, read
from incast.errors import FolderError, RunError, RunStopped, ScenarioError, StudyError
from incast.runs import completions, lanes, run_notes
from incast.runs.completions import Bins, Completions, Reading, Sizes
from incast.runs.result import COMPLETIONS, RATES, Result, rates_of
from incast.statistics import Estimate, jain
from incast.study import companions
from incast.study.axes import in_base_unit
from incast.study.definition import Definition
from incast.view import chosen

SERIES_FLOWS = 3
"""Number of flows whose window is drawn over time, at most."""

SERIES_POINTS = 1000
"""Points of a time series over a whole run: more than a picture's column has pixels."""

MOST_STEPS = 1_000_000
"""Intervals of a run that the engine allows for the series of a picture, a few flows and a port."""


SERIES_FILE = "series.parquet"
"""Table of the runs with time series in the store."""


@dataclass(frozen=True)
class Run:
    """A finished run of a comparison: its figures, and the data behind them."""

    case: Case
    rows: Rows
    summary: dict[str, Any]
    manifest: dict[str, Any]
    toml: str
    """Scenario with all defaults written out."""
    datagrams: tuple[str, ...] = ()
    """Traffic entries of UDP datagrams in a run that also has flows under controllers."""
    rates: tuple[float, ...] = ()
    """Throughput of the opened flows that a controller governs and that are no requests, bit/s; only with datagrams."""
    rates_active: tuple[float, ...] = ()
    """Throughput of the same flows over each flow's own time, where it has any."""
    sizes: Sizes | None = None
    """Sizes of its finite flows, if any."""
    notes: tuple[str, ...] = ()
    """Notes of the run."""

    def completions(self, part: str) -> Completions:
        """Read completions: of finite flows (``fct``), ``queries`` or ``writes``."""
        if not self.figure(f"{part}.count"):
            return completions.NONE
        return completions.read(self.rows, part, self.summary["run"]["sim_s"])

    def figure(self, key: str) -> float | None:
        """Look a figure up by its dotted key; ``None`` where it does not exist."""
        value: Any = self.summary
        part, _, name = key.partition(".")
        if part in COMPLETIONS and name not in ("count", "finished") and not self.figure(f"{part}.finished"):
            return None  # timeouts are counted at finished queries: without any the number is unknown
        if part == "flows" and self.datagrams:
            return self._governed(name)
        for part in key.split("."):
            value = value.get(part) if isinstance(value, dict) else None
        return None if value is None else float(value)

    def late(self, part: str) -> float:
        """Return the number of finite flows, queries or writes that did not finish."""
        return (self.figure(f"{part}.count") or 0.0) - (self.figure(f"{part}.finished") or 0.0)

    def first_flows(self) -> tuple[int, ...]:
        """Return the first few flows that a controller governs; others have no window to draw."""
        if not self.datagrams:
            return tuple(range(min(SERIES_FLOWS, self.summary["flows"]["count"])))
        groups = self.rows("flows", ["flow", "group"]).to_pylist()
        return tuple(row["flow"] for row in groups if row["group"] not in self.datagrams)[:SERIES_FLOWS]

    def _governed(self, name: str) -> float | None:
        """Look up a figure of the flows that a controller governs; ``None`` if it cannot be combined over entries."""
        flows = [group["flows"] for entry, group in self.summary["groups"].items() if entry not in self.datagrams]
        parts = [part for part in flows if part["count"]]
        if not parts:
            return None
        if len(parts) == 1:
            return None if parts[0].get(name) is None else float(parts[0][name])
        if name == "throughput_mean_bps":
            return math.fsum(self.rates) / len(self.rates) if self.rates else None
        if name == "throughput_active_mean_bps":
            return math.fsum(self.rates_active) / len(self.rates_active) if self.rates_active else None
        if name == "jain":
            return jain(self.rates)
        return float(sum(part[name] for part in parts)) if name == "timeouts" else None


def judged_by_jobs(runs: Iterable[Run]) -> bool:
    """Return whether training jobs are all that ends in runs: their connections have rates that say little."""
    runs = list(runs)
    return bool(jobs_of(runs)) and not any(run.figure("fct.count") for run in runs)


def jobs_of(runs: Iterable[Run]) -> list[str]:
    """Return the names of the training jobs of runs, in order."""
    return list(dict.fromkeys(job for run in runs for job in run.summary.get("jobs", {})))


def iterations_of(run: Run) -> tuple[int, int]:
    """Return the numbers of iterations of training jobs that finished and that there are to be."""
    jobs = run.summary.get("jobs", {}).values()
    return sum(job["finished"] for job in jobs), sum(job["iterations"] for job in jobs)


@dataclass(frozen=True)
class Series:
    """Run of one controller with recorded windows and queue."""

    case: Case
    rows: Rows
    port: str
    flows: tuple[int, ...]
    """Flows whose windows are drawn."""
    measure_from_s: float
    sim_s: float


@dataclass(frozen=True)
class Band:
    """Flows of one traffic entry in one size bin."""

    entry: str
    number: int
    """Of the bin."""
    label: str
    """Of the bin."""


@dataclass
class Comparison:
    """Results of a comparison."""

    study: ComparisonStudy
    home: Home
    runs: dict[Case, Run]
    series: list[Series] = field(default_factory=list)
    series_gap: str | None = None
    """Reason why nothing is drawn over time, if so."""
    view_gap: str | None = None
    """Reason why runs with timelines have no viewer page, if so."""
    bins: Bins | None = None
    """Requested size bins; default: those of ``completions.usual_of``."""
    _completed: dict[tuple[str, str, str, str], dict[tuple[Band | None, str], Reading]] = field(default_factory=dict)
    """Cache of completion figures, by scenario, controller, value and part of the summary."""

    @property
    def folder(self) -> Path:
        """Folder of the report."""
        return self.home.folder

    @cached_property
    def _points(self) -> dict[tuple[str, str, str], list[Run]]:
        """Runs by scenario, controller and value."""
        found: dict[tuple[str, str, str], list[Run]] = {}
        for case, run in self.runs.items():
            found.setdefault((case.scenario, case.controller.text, case.value), []).append(run)
        return found

    def values(self, scenario: str, controller: str, value: str, key: str) -> dict[int, float]:
        """Values of a figure by seed."""
        found = {run.case.seed: run.figure(key) for run in self.point(scenario, controller, value)}
        return {seed: figure for seed, figure in found.items() if figure is not None}

    def difference(self, scenario: str, controller: str, other: str, value: str, key: str) -> Reading | None:
        """Return a figure of one controller minus that of another, seed by seed, with bounds where it is open."""
        mine, their = (self.reading(scenario, name, value, key) for name in (controller, other))
        return None if mine is None or their is None else completions.difference(mine, their)

    def bins_of(self, scenario: str) -> Bins:
        """Return the size bins for the flows of a scenario."""
        return self.bins or completions.usual_of(self._sizes(scenario))

    def bands(self, scenario: str) -> list[Band]:
        """Return the entries and bins whose slowdowns are shown; none if flows have fewer than two sizes.

        For flows of a single size the completion time says as much, without an ideal.
        """
        sizes = self._sizes(scenario)
        if completions.one_size(sizes):
            return []
        bins = self.bins_of(scenario)
        entries = dict.fromkeys(entry for run in sizes for entry in run.entries)
        shown = [Band(entry, i, label) for entry in entries for i, label in enumerate(bins.labels)]
        there = {
            band
            for controller in self.study.controllers
            for value in self.study.values
            for band, _ in self._completions(scenario, controller.text, value, "fct")
        }
        return [band for band in shown if band in there]

    def _sizes(self, scenario: str) -> list[Sizes]:
        return [run.sizes for case, run in self.runs.items() if case.scenario == scenario and run.sizes is not None]

    def slowdown(self, scenario: str, controller: str, value: str, band: Band, statistic: str) -> Reading | None:
        """Return a statistic (``mean``, ``p50``, ``p99``, ``p999``) of the slowdowns of a band's flows."""
        return self._completions(scenario, controller, value, "fct").get((band, statistic))

    def reading(self, scenario: str, controller: str, value: str, key: str) -> Reading | None:
        """Return a figure by seed; a completion figure has the bounds that unfinished transfers leave."""
        part, _, name = key.partition(".")
        statistic = name.removesuffix("_s")
        if part in COMPLETIONS and statistic in completions.STATISTICS:
            return self._completions(scenario, controller, value, part).get((None, statistic))
        values = self.values(scenario, controller, value, key)
        if not values:
            return None
        finished, count = self.began(scenario, controller, value).get(part, (0, 0))
        most = values
        if part in COMPLETIONS:  # a count among finished ones: each unfinished one may add one
            late = {run.case.seed: run.late(part) for run in self.point(scenario, controller, value)}
            most = {seed: number + late[seed] for seed, number in values.items()}
        return Reading(values, most, finished, count)

    def share(self, scenario: str, controller: str, value: str) -> Reading | None:
        """Return the share that finished of all finite flows, queries, writes and iterations, by seed.

        ``None`` without any.
        """
        shares = {}
        for run in self.point(scenario, controller, value):
            counts = [[run.figure(f"{part}.{name}") or 0.0 for name in ("finished", "count")] for part in COMPLETIONS]
            counts.append([*iterations_of(run)])
            if count := sum(began for _, began in counts):
                shares[run.case.seed] = sum(finished for finished, _ in counts) / count
        return Reading(shares, shares) if shares else None

    def _completions(
        self, scenario: str, controller: str, value: str, part: str
    ) -> dict[tuple[Band | None, str], Reading]:
        """Compute all completion figures of a point; figures over all sizes have no band."""
        place = (scenario, controller, value, part)
        if place not in self._completed:
            runs = {run.case.seed: run.completions(part) for run in self.point(scenario, controller, value)}
            found: dict[tuple[Band | None, str], Reading | None] = {
                (None, statistic): completions.reading(runs, statistic, "time") for statistic in completions.STATISTICS
            }
            sizes = self._sizes(scenario)
            if part == "fct" and not completions.one_size(sizes):
                bins = self.bins_of(scenario)
                for entry in dict.fromkeys(entry for run in sizes for entry in run.entries):
                    own = {seed: run.of(entry) for seed, run in runs.items()}
                    for i, label in enumerate(bins.labels):
                        binned = {seed: run.where(bins.of(run.sizes) == i) for seed, run in own.items()}
                        for statistic in completions.STATISTICS:
                            found[Band(entry, i, label), statistic] = completions.reading(binned, statistic)
            self._completed[place] = {key: reading for key, reading in found.items() if reading is not None}
        return self._completed[place]

    def point(self, scenario: str, controller: str, value: str) -> list[Run]:
        """Return the runs behind one point of the plots."""
        return self._points.get((scenario, controller, value), [])

    def began(self, scenario: str, controller: str, value: str) -> dict[str, tuple[int, int]]:
        """Return the numbers of finite flows, queries and writes that finished and that began, in a point's runs.

        So too the iterations of jobs, of all that there are to be. Keys are the parts of the summary; kinds without any
        are missing.
        """
        runs = self.point(scenario, controller, value)
        counts = {
            part: tuple(sum(int(run.figure(f"{part}.{name}") or 0) for run in runs) for name in ("finished", "count"))
            for part in COMPLETIONS
        }
        finished, count = zip(*map(iterations_of, runs), strict=True) if runs else ((), ())
        counts["jobs"] = (sum(finished), sum(count))
        return {part: (finished, count) for part, (finished, count) in counts.items() if count}

    def is_without_effect(self, scenario: str, controller: str) -> bool:
        """Return whether all values of the varied key give a controller the same figures under every seed."""
        by_seed: dict[int, list[str]] = {}
        for value in self.study.values:
            for run in self.point(scenario, controller, value):
                by_seed.setdefault(run.case.seed, []).append(json.dumps(run.summary, sort_keys=True))
        return len(self.study.values) > 1 and bool(by_seed) and all(len(set(found)) == 1 for found in by_seed.values())

    def alike(self, scenario: str) -> list[tuple[str, ...]]:
        """Return groups of controllers, as texts, that have the same figures in every run of a scenario."""
        groups: dict[tuple[str, ...], list[str]] = {}
        for controller in self.study.controllers:
            runs = [run for value in self.study.values for run in self.point(scenario, controller.text, value)]
            figures = tuple(json.dumps(run.summary, sort_keys=True) for run in runs)
            groups.setdefault(figures, []).append(controller.text)
        return [tuple(group) for group in groups.values() if len(group) > 1]

    def unmoved(self, scenario: str) -> list[str]:
        """Return the labels of the controllers whose figures do not depend on the varied key."""
        return [c.label for c in self.study.controllers if self.is_without_effect(scenario, c.text)]

    def datagrams(self, scenario: str) -> list[str]:
        """Return the traffic entries of a scenario that figures of flows exclude: datagrams."""
        found = [entry for case, run in self.runs.items() if case.scenario == scenario for entry in run.datagrams]
        return list(dict.fromkeys(found))

    @property
    def hops(self) -> int:
        """Hops of all runs."""
        return sum(int(run.summary["run"]["hops"]) for run in self.runs.values())

    @property
    def cpu_s(self) -> float:
        """CPU seconds of all runs."""
        return sum(float(run.manifest["cost"]["cpu_s"]) for run in self.runs.values())


def carry_out(
    study: ComparisonStudy,
    folder: Path,
    *,
    store: Path | None = None,
    rebuild: bool = False,
    tell: Callable[[str], None] = warnings.warn,
    **options: Any,
) -> Comparison:
    """Make the runs that the store lacks, and load them all; options are those of ``planning.make``."""
    with made(study, folder, store, rebuild, tell=tell, **options) as home:
        gap = None
        try:
            part = _series_study(_without_series(study, home), f"{home.name}{companions.SUFFIX}")
            home.make(part, SERIES_FILE, rebuild, tell=tell, **phase(options, "time series, runs"))
        except RunStopped:
            raise
        except (ScenarioError, RunError, StudyError, FolderError, OSError) as error:
            gap = "; ".join([str(error), *getattr(error, "__notes__", [])])  # the comparison is complete without them
        view_gap = chosen.tried(study.viewed(), folder, **phase(options, "viewer page, runs"))
    comparison = load(folder)
    comparison.series_gap, comparison.view_gap = gap or comparison.series_gap, view_gap
    return comparison


def load(folder: Path) -> Comparison:
    """Read a comparison back from its folder and its store; every run must be there."""
    study, home = read(ComparisonStudy, folder)
    comparison = _without_series(governed(study, home), home)
    try:
        comparison.series = _load_series(comparison)
    except (ScenarioError, StudyError, FolderError) as error:
        comparison.series_gap = str(error)
    return comparison


def _without_series(study: ComparisonStudy, home: Home) -> Comparison:
    found = home.results(study, study.cases())
    return Comparison(study, home, {case: run_of(case, result, rows) for case, (result, rows) in found.items()})


def _load_series(comparison: Comparison) -> list[Series]:
    study, home = comparison.study, comparison.home
    cases = study.series_cases()
    port = _busiest(comparison, cases[0])
    if not all(comparison.runs[case].first_flows() for case in cases):
        _series_study(comparison, home.name)  # raises with the reason
    found = []
    for case, (result, rows) in home.results(study, cases, SERIES_FILE).items():
        start_s, sim_s = (result.summary["run"][key] for key in ("measure_from_s", "sim_s"))
        found.append(Series(case, rows, port, comparison.runs[case].first_flows(), start_s, sim_s))
    return found


def run_of(case: Case, result: Result, rows: Rows) -> Run:
    """Make a run from its result and a function that returns columns of its tables; raises ``FolderError``."""
    run = result.summary["run"]
    rows("flows", ["flow"])  # damage is told now, not when a picture needs the table
    rates: tuple[tuple[float, ...], tuple[float, ...]] = ((), ())
    if result.datagrams:
        flows = rows("flows", RATES)
        rates = rates_of(flows, result.datagrams), rates_of(flows, result.datagrams, "throughput_active_bps")
    sized, notes = completions.NONE, []
    if result.summary["fct"]["count"]:
        sized = completions.read(rows, "fct", run["sim_s"])
        notes = run_notes.reasons(result.summary, result.toml, rows("flows", run_notes.COLUMNS))
    return Run(
        case,
        rows,
        result.summary,
        result.manifest,
        result.toml,
        result.datagrams,
        *rates,
        sizes=completions.sizes_of(sized),
        notes=tuple(notes),
    )


def _busiest(comparison: Comparison, case: Case) -> str:
    """Port with the longest queue under the first controller: the same one is drawn for all."""
    first = Case(case.scenario, comparison.study.lineups[0], case.value, case.seed)
    busiest = comparison.runs[first].summary["queues"]["busiest"]
    if not busiest or not busiest["port"]:
        raise StudyError(f"no port carried a packet in the run {first}")
    port: str = busiest["port"]
    return port


def _series_study(comparison: Comparison, name: str) -> Definition:
    """Return the study of the runs that are drawn over time."""
    cases = comparison.study.series_cases()
    extra, of_jobs = {}, _ranks_of_jobs(comparison.runs[cases[0]])
    for case in cases:
        summary, flows = comparison.runs[case].summary, comparison.runs[case].first_flows()
        if not flows:
            raise StudyError(f"the run {case} has no flow that a controller governs")
        # Whole nanoseconds, at least 1 us: below that a series would have one point per packet. A long duration is
        # refused short intervals, whenever the run ends.
        _, longest_s = in_base_unit(comparison.study.scenario(case).resolved()["run"]["duration"]) or ("s", 0.0)
        shortest_s = max(summary["run"]["sim_s"] / SERIES_POINTS, longest_s / MOST_STEPS)
        interval_ns = max(1000, round(shortest_s * 1e9))
        extra[case.texts] = {
            "measure.series.flows": list(flows),
            "measure.series.ports": [_busiest(comparison, case)],
            "measure.series.interval": f"{interval_ns}ns",
        } | of_jobs
    scenarios, values = [cases[0].scenario], [cases[0].value]
    keep = ("flows", "samples", *(OF_JOBS if of_jobs else ()))
    return comparison.study.parts(name, scenarios, values, extra, seeds=1, keep=keep)


OF_JOBS = ("jobs", "ranks", "tasks")
"""Tables of a run over time from which lanes of its ranks are drawn."""
MOST_RANKS = 8
"""Most ranks of a run over time, of all jobs: critical and slowest ones, and others."""


def _ranks_of_jobs(run: Run) -> dict[str, object]:
    """Return the setting that records the tasks of some ranks of a run's jobs; nothing without jobs."""
    if not run.summary.get("jobs"):
        return {}
    ranks = run.rows("ranks", ["job", "rank", "start_s", "finish_s"])
    some = lanes.chosen(ranks, run.rows("jobs", ["job", "critical_rank"]), MOST_RANKS)
    return {lanes.KEY: sorted({rank for own in some.values() for rank in own})}


def samples_of(series: Series) -> dict[tuple[str, str], tuple[list[float], list[float]]]:
    """Return the time series of a run by (entity, name): times in seconds, and values."""
    table = series.rows("samples", ["entity", "name", "time_s", "value"])
    found = {}
    pairs = table.group_by(["entity", "name"]).aggregate([]).to_pylist()
    for pair in pairs:
        mask = pc.and_(pc.equal(table["entity"], pair["entity"]), pc.equal(table["name"], pair["name"]))
        part = table.filter(mask)
        found[pair["entity"], pair["name"]] = (part["time_s"].to_pylist(), part["value"].to_pylist())
    return found


def aggregate_json(comparison: Comparison, figures: list[str], words: Mapping[str, Any]) -> str:
    """Write every point of the plots as JSON: mean, half width of the interval, runs, hops.

    Each figure also has its difference from the first controller's under the same seeds. ``words`` are entries about
    the whole comparison, which come first.
    """
    points = []
    study = comparison.study
    first = study.controllers[0].text
    for scenario in study.scenarios:
        for value in study.values:
            for controller in study.controllers:
                runs = comparison.point(scenario, controller.text, value)
                row: dict[str, Any] = {
                    "scenario": scenario,
                    "controller": controller.text,
                    study.key: value,
                    "runs": len(runs),
                    "hops": sum(int(run.summary["run"]["hops"]) for run in runs),
                }
                for key in figures:
                    reading = comparison.reading(scenario, controller.text, value, key)
                    row[key] = None if reading is None else _figure_json(reading)
                    apart = comparison.difference(scenario, controller.text, first, value, key)
                    if row[key] is not None and apart is not None and controller.text != first:
                        row[key]["less_first"] = difference_json(apart)
                row["slowdowns"] = slowdowns_of(comparison, scenario, controller.text, value)
                points.append(row)
    return json.dumps({**words, "key": study.key, "first": first, "points": points}, indent=2) + "\n"


def _figure_json(reading: Reading) -> dict[str, Any]:
    """Write a figure; completion figures also have finished and total counts, and bounds."""
    if not reading.count:
        return _mean_json(reading)
    return _mean_json(reading) | {"finished": reading.finished, "count": reading.count} | _bounds_json(reading)


def difference_json(reading: Reading) -> dict[str, Any]:
    """Write a difference: mean and half width, and the bounds if it is open."""
    return _mean_json(reading) | ({} if reading.exact else _bounds_json(reading))


def _mean_json(reading: Reading) -> dict[str, Any]:
    """Write a mean and the half width of its interval; both are null for an open figure."""
    return _estimate_json(reading.least if reading.exact else None) or {"mean": None, "half_width": None}


def _bounds_json(reading: Reading) -> dict[str, Any]:
    """Write the bounds of a figure; a missing bound is null."""
    return {"at_least": _estimate_json(reading.least), "at_most": _estimate_json(reading.most)}


def _estimate_json(found: Estimate | None) -> dict[str, Any] | None:
    return None if found is None else {"mean": found.mean, "half_width": found.half_width}


def slowdowns_of(comparison: Comparison, scenario: str, controller: str, value: str) -> list[dict[str, Any]]:
    """Write the slowdowns of a point by entry and bin; a missing upper bound is null."""
    edges = (0.0, *comparison.bins_of(scenario).edges, None)
    rows = []
    for band in comparison.bands(scenario):
        found = {name: comparison.slowdown(scenario, controller, value, band, name) for name in completions.STATISTICS}
        first = found["mean"]
        if first is None:
            continue
        row: dict[str, Any] = {
            "entry": band.entry,
            "from_bytes": edges[band.number],
            "below_bytes": edges[band.number + 1],
            "finished": first.finished,
            "count": first.count,
        }
        for name, reading in found.items():
            row[name] = {"at_least": None, "at_most": None} if reading is None else _bounds_json(reading)
        rows.append(row)
    return rows
