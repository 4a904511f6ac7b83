"""Carrying a comparison out: runs side by side on the cores at hand, each saved when it is done."""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
import threading
import tomllib
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow.compute as pc

from incast.errors import FolderError, RunError, RunStopped, ScenarioError, StudyError
from incast.exposure import on_seconds
from incast.result import (
    MESSAGES,
    Result,
    engine_digest,
    new_folder,
    read_manifest,
    read_table,
    refuse_unless_empty,
    write_whole,
)
from incast.scenario import Scenario
from incast.statistics import Estimate, estimate
from incast.study import STUDY_FILE, Case, Study

SERIES_FLOWS = 3
"""Flows whose window is drawn over time, where there are as many."""

SERIES_POINTS = 1000
"""Points of a time series over a whole run: more than a picture's column has pixels."""


@dataclass(frozen=True)
class Run:
    """A finished run of a comparison: its figures, and what stands behind them."""

    case: Case
    folder: Path
    summary: dict[str, Any]
    manifest: dict[str, Any]
    on_s: float
    """Seconds of ON time inside the measured interval, mean over the flows."""

    def figure(self, key: str) -> float | None:
        """Look a figure up by its dotted key; ``None`` where it does not exist."""
        value: Any = self.summary
        part, _, name = key.partition(".")
        if part in MESSAGES and name not in ("count", "finished") and not self.figure(f"{part}.finished"):
            return None  # no query had a timeout where no query finished: nothing is known of any
        for part in key.split("."):
            value = value.get(part) if isinstance(value, dict) else None
        return None if value is None else float(value)


@dataclass(frozen=True)
class Series:
    """The run of one controller whose windows and queue were recorded over time."""

    case: Case
    folder: Path
    port: str
    measure_from_s: float


@dataclass
class Comparison:
    """A comparison that was carried out."""

    study: Study
    folder: Path
    runs: dict[Case, Run]
    series: list[Series] = field(default_factory=list)
    series_gap: str | None = None
    """Why nothing is drawn over time, where that is so."""

    def values(self, scenario: str, controller: str, value: str, key: str) -> dict[int, float]:
        """Values of a figure by seed."""
        found = {}
        for case, run in self.runs.items():
            if (case.scenario, case.controller.text, case.value) == (scenario, controller, value):
                figure = run.figure(key)
                if figure is not None:
                    found[case.seed] = figure
        return found

    def estimate(self, scenario: str, controller: str, value: str, key: str) -> Estimate | None:
        """Mean and confidence interval of a figure over the seeds."""
        return estimate(list(self.values(scenario, controller, value, key).values()))

    def point(self, scenario: str, controller: str, value: str) -> list[Run]:
        """Return the runs behind one point of the plots."""
        return [
            run
            for case, run in self.runs.items()
            if (case.scenario, case.controller.text, case.value) == (scenario, controller, value)
        ]

    def began(self, scenario: str, controller: str, value: str) -> dict[str, tuple[int, int]]:
        """Return how many queries and writes of a point's runs finished, of how many that began."""
        runs = self.point(scenario, controller, value)
        counts = {
            what: tuple(sum(int(run.figure(f"{what}.{name}") or 0) for run in runs) for name in ("finished", "count"))
            for what in MESSAGES
        }
        return {what: (finished, count) for what, (finished, count) in counts.items() if count}

    @property
    def hops(self) -> int:
        """Hops of all runs."""
        return sum(int(run.summary["run"]["hops"]) for run in self.runs.values())

    @property
    def cpu_s(self) -> float:
        """CPU seconds of all runs."""
        return sum(float(run.manifest["cost"]["cpu_s"]) for run in self.runs.values())


@dataclass
class Status:
    """How far a comparison has come; changed by the workers, read by whoever shows it."""

    total: int
    finished: int = 0
    resumed: int = 0
    hops: int = 0
    under_way: dict[str, float] = field(default_factory=dict)
    """Part done of the runs under way, 0 to 1."""

    @property
    def done(self) -> float:
        """Runs done, in parts of runs."""
        return self.finished + sum(list(self.under_way.values()))


def carry_out(study: Study, folder: Path, workers: int, show: Callable[[Status], None] = lambda _: None) -> Comparison:
    """Run what is not there yet, and load the rest.

    Every scenario is checked before the first run. ``KeyboardInterrupt`` stops the runs under way
    and passes; what is finished stays and is not repeated by the next call.
    """
    cases = {case: study.scenario(case) for case in study.cases()}
    for scenario in cases.values():
        scenario.validate()
    _prepare(study, folder)
    with _alone_in(folder):
        for stale in folder.rglob(".*.partial-*"):
            shutil.rmtree(stale, ignore_errors=True)
        status = Status(total=len(cases))
        jobs = {case: (scenario, _folder_of(folder / "runs", case, scenario)) for case, scenario in cases.items()}
        _run_all(jobs, workers, status, show)
        comparison = Comparison(study, folder, {case: _load(case, place) for case, (_, place) in jobs.items()})
        gap = _record_series(comparison, workers, status, show)
        show(status)
    comparison = load(folder)
    comparison.series_gap = gap or comparison.series_gap
    return comparison


def _record_series(comparison: Comparison, workers: int, status: Status, show: Callable[[Status], None]) -> str | None:
    """Make the runs that are drawn over time; return why not, for a comparison stands without them."""
    try:
        jobs = _series_jobs(comparison)
        status.total += len(jobs)
        _run_all(jobs, workers, status, show)
    except RunStopped:
        raise
    except (ScenarioError, RunError, StudyError, FolderError, OSError) as error:
        return "; ".join([str(error), *getattr(error, "__notes__", [])])
    return None


def load(folder: Path) -> Comparison:
    """Read a comparison back from its folder; every run must be there."""
    study = _read_study(folder)
    runs = {}
    for case in study.cases():
        place = _folder_of(folder / "runs", case, study.scenario(case))
        if not place.exists():
            raise FolderError(
                f"{folder} is not finished: the run {case} is missing; go on with: {study.command(str(folder))}"
            )
        runs[case] = _load(case, place)
    comparison = Comparison(study, folder, runs)
    try:
        comparison.series = _load_series(comparison)
    except (ScenarioError, StudyError, FolderError) as error:
        comparison.series_gap = str(error)
    return comparison


def _load_series(comparison: Comparison) -> list[Series]:
    found = []
    for case, (_, place) in _series_jobs(comparison).items():
        start_s = Result.load(place).summary["run"]["measure_from_s"]
        found.append(Series(case, place, _busiest(comparison, case), start_s))
    return found


def default_workers() -> int:
    """One thread for every core this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _prepare(study: Study, folder: Path) -> None:
    """Make the folder, or find the same comparison begun there."""
    if (folder / STUDY_FILE).exists():
        if _read_study(folder) != study:
            raise FolderError(f"{folder} holds another comparison: give another --out, or remove it first")
        return
    refuse_unless_empty(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(folder / STUDY_FILE, study.json())
    except OSError as error:
        raise FolderError(f"cannot write results to {folder}: {error.strerror}") from None


def _read_study(folder: Path) -> Study:
    try:
        return Study.from_json((folder / STUDY_FILE).read_text(encoding="utf-8"))
    except FileNotFoundError:
        if not folder.exists():
            raise FolderError(f"{folder} does not exist: expected the folder of a comparison") from None
        raise FolderError(f"{folder} has no {STUDY_FILE}: not the folder of a comparison") from None
    except (ValueError, KeyError, TypeError) as error:
        raise FolderError(f"{folder / STUDY_FILE} cannot be read: {error}") from None
    except OSError as error:
        raise FolderError(f"cannot read {folder / STUDY_FILE}: {error.strerror}") from None


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """Keep a second program out of the folder while this one runs."""
    try:
        lock = (folder / ".lock").open("w")
    except OSError as error:
        raise FolderError(f"cannot write results to {folder}: {error.strerror}") from None
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise FolderError(f"{folder} is in use: another comparison is running there") from None
        yield


def _slug(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9.+-]+", "-", text).strip("-.") or "x"


def _folder_of(parent: Path, case: Case, scenario: Scenario) -> Path:
    """Name a run's folder; the hash makes it this scenario's alone."""
    leaf = f"{_slug(case.value)}-seed{case.seed}-{scenario.hash[:8]}"
    return parent / _slug(scenario.name) / _slug(case.controller.text) / leaf


def _finished(folder: Path, scenario: Scenario) -> bool:
    """Whether the folder holds this run, by this build of the engine; another build's is removed."""
    if not folder.exists():
        return False
    manifest = read_manifest(folder)
    wanted = (scenario.hash, scenario.seed, engine_digest())
    if (manifest["hash"], manifest["seed"], manifest["engine"]) == wanted:
        return True
    shutil.rmtree(folder)
    return False


def _run_all(
    jobs: dict[Case, tuple[Scenario, Path]], workers: int, status: Status, show: Callable[[Status], None]
) -> None:
    todo = []
    for case, (scenario, folder) in jobs.items():
        if _finished(folder, scenario):
            status.finished += 1
            status.resumed += 1
        else:
            todo.append((case, scenario, folder))
    # The largest first, so that no core waits for the last one at the end.
    todo.sort(key=lambda job: _number(job[0].value) or 0.0, reverse=True)
    stop = threading.Event()

    def one(scenario: Scenario, folder: Path) -> None:
        name = str(folder)
        hops_before = 0

        def progress(now_s: float, end_s: float, hops: int) -> bool:
            nonlocal hops_before
            status.under_way[name] = now_s / end_s if end_s > 0 else 0.0
            status.hops += hops - hops_before
            hops_before = hops
            return not stop.is_set()

        if stop.is_set():
            raise RunStopped("not begun")
        with new_folder(folder) as aside:
            result = scenario.run(progress=progress)
            result.write(aside)
        status.hops += result.summary["run"]["hops"] - hops_before
        status.under_way.pop(name, None)
        status.finished += 1

    pool = ThreadPoolExecutor(max(1, workers), thread_name_prefix="incast-run")
    futures: dict[Future[None], Case] = {}
    try:
        futures = {pool.submit(one, scenario, folder): case for case, scenario, folder in todo}
        pending = set(futures)
        while pending:
            # Waking up now and then lets Ctrl-C through.
            done, pending = wait(pending, timeout=0.2, return_when=FIRST_COMPLETED)
            show(status)
            for future in done:
                _raise_named(future, futures[future])
    finally:
        stop.set()
        pool.shutdown(wait=True, cancel_futures=True)
        status.under_way.clear()


def _raise_named(future: Future[None], case: Case) -> None:
    """Say which run failed."""
    error = future.exception()
    if error is not None:
        error.add_note(f"in the run {case}")
        raise error


def _load(case: Case, folder: Path) -> Run:
    result = Result.load(folder)
    starts = read_table(folder, "flows", ["group", "start_s"])
    run = result.summary["run"]
    on_s = on_seconds(tomllib.loads(result.toml), starts, run["measure_from_s"], run["measure_to_s"])
    return Run(case, folder, result.summary, result.manifest, on_s)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def series_cases(study: Study) -> list[Case]:
    """Which runs are recorded over time: the first scenario, the value in the middle, seed 1."""
    value = study.values[len(study.values) // 2]
    return [Case(study.scenarios[0], controller, value, 1) for controller in study.controllers]


def _busiest(comparison: Comparison, case: Case) -> str:
    """Port with the longest queue under the first controller: the same one is drawn for all."""
    first = Case(case.scenario, comparison.study.controllers[0], case.value, case.seed)
    busiest = comparison.runs[first].summary["queues"]["busiest"]
    if not busiest or not busiest["port"]:
        raise StudyError(f"no port carried a packet in the run {first}")
    port: str = busiest["port"]
    return port


def _series_jobs(comparison: Comparison) -> dict[Case, tuple[Scenario, Path]]:
    jobs = {}
    for case in series_cases(comparison.study):
        summary = comparison.runs[case].summary
        # Whole nanoseconds, and not below 1 us: there a series would be one point a packet.
        interval_ns = max(1000, round(summary["run"]["sim_s"] * 1e9 / SERIES_POINTS))
        extra = {
            "measure.series.flows": list(range(min(SERIES_FLOWS, summary["flows"]["count"]))),
            "measure.series.ports": [_busiest(comparison, case)],
            "measure.series.interval": f"{interval_ns}ns",
        }
        scenario = comparison.study.scenario(case, extra)
        jobs[case] = (scenario, _folder_of(comparison.folder / "series", case, scenario))
    return jobs


def samples_of(series: Series) -> dict[tuple[str, str], tuple[list[float], list[float]]]:
    """Return the time series of a run by (entity, name): times in seconds, and values."""
    table = read_table(series.folder, "samples")
    found = {}
    pairs = table.group_by(["entity", "name"]).aggregate([]).to_pylist()
    for pair in pairs:
        mask = pc.and_(pc.equal(table["entity"], pair["entity"]), pc.equal(table["name"], pair["name"]))
        part = table.filter(mask)
        found[pair["entity"], pair["name"]] = (part["time_s"].to_pylist(), part["value"].to_pylist())
    return found


def aggregate_json(comparison: Comparison, figures: list[str]) -> str:
    """Write every point of the plots as JSON: mean, half width of the interval, runs, hops, ON time."""
    points = []
    study = comparison.study
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
                    # To the nanosecond: below it stand only the errors of adding binary fractions.
                    "on_s": round(sum(run.on_s for run in runs), 9),
                }
                for key in figures:
                    found = comparison.estimate(scenario, controller.text, value, key)
                    row[key] = None if found is None else {"mean": found.mean, "half_width": found.half_width}
                points.append(row)
    return json.dumps({"key": study.key, "points": points}, indent=2) + "\n"
