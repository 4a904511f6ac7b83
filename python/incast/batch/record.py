"""Record of a run of a store: figures, cost and kept tables."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incast import controllers
from incast.batch.journal import Figure, packed
from incast.batch.shares import ALONE, Each
from incast.errors import UnsoundError
from incast.runs import soundness
from incast.runs.run_folder import engine_digest
from incast.runs.scenario import Progress, Scenario

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Task:
    """A run to make: its identity, the scenario's text and name, the seed."""

    run: str
    toml: str
    name: str
    seed: int


def run_id(scenario_hash: str, seed: int, engine: str | None = None) -> str:
    """Return the identity of a run (scenario, seed, build of the engine; default: this build) in hexadecimal digits."""
    return hashlib.sha256(f"{scenario_hash}|{seed}|{engine or engine_digest()}".encode()).hexdigest()[:16]


def make(task: Task, folder: Path, keep: Sequence[str], progress: Progress | None = None, each: Each = ALONE) -> bytes:
    """Make a run and return its record; files of the scenario are relative to ``folder``.

    Records have no timelines. An unsound run has its reason instead of figures and tables. Raises the exceptions of
    ``Scenario.run``.
    """
    controllers.look_in(folder)
    scenario = run_of(task.toml, folder, task.name).with_seed(task.seed)
    wrong = ""
    try:
        result = scenario.run(progress=progress, cores=each.cores, memory_limit=each.memory)
    except UnsoundError as error:
        if error.result is None:
            raise
        result, wrong = error.result, soundness.unsound(error.result.summary)
    figures, tables = figures_of(result.summary), {}
    if wrong:  # identity of the run without figures
        figures = {key: value for key, value in figures.items() if key.startswith("run.")} | {soundness.COLUMN: wrong}
    for name in () if wrong else keep:
        rows = getattr(result, name).arrow
        if rows.num_rows:
            tables[name] = stream(rows)
    cost = {key: float(result.cost[key] or 0.0) for key in ("cpu_s", "wall_s", "peak_rss_bytes", "threads")}
    return packed(task.run, figures, cost, tables)


@lru_cache(maxsize=16)
def run_of(toml: str, folder: Path, name: str) -> Scenario:
    """Return the scenario without its timeline; cached, since the seeds of a point follow one another."""
    return Scenario.from_toml(toml, origin=folder, name=name).without_timeline()


def figures_of(summary: Mapping[str, Any]) -> dict[str, Figure]:
    """Return a summary's figures by dotted name."""
    found: dict[str, Figure] = {}

    def add(place: str, value: Any) -> None:
        if isinstance(value, Mapping):
            for key, one in value.items():
                add(f"{place}.{key}" if place else key, one)
        elif value is None or isinstance(value, (str, int, float)):
            found[place] = int(value) if isinstance(value, bool) else value

    add("", {key: value for key, value in summary.items() if key not in ("units", "definitions")})
    for known in ("run.seed", "run.scenario"):  # separate columns
        found.pop(known, None)
    return found


def stream(rows: pa.Table) -> bytes:
    """Return a table as an Arrow stream."""
    import pyarrow as pa

    sink = io.BytesIO()
    options = pa.ipc.IpcWriteOptions(compression="lz4" if rows.nbytes > 1 << 16 else None)
    with pa.ipc.new_stream(sink, rows.schema, options=options) as writer:
        writer.write_table(rows)
    return sink.getvalue()
