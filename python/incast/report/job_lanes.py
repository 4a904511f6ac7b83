"""Section of a comparison about its jobs: tables of iterations and of collectives, and lanes of ranks over time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from html import escape

from matplotlib.figure import Figure as Canvas

from incast.comparisons.comparison import Comparison, Run, jobs_of
from incast.errors import FolderError
from incast.pictures import rank_lanes
from incast.pictures.inline import swatch
from incast.report import collective_table
from incast.report.document import drawn
from incast.report.numbers import shown_reading
from incast.runs import lanes
from incast.system.output import counted

NAME = "lanes"
"""Name of the picture."""
MOST_PANELS = 4
"""Most controllers of the picture, the first of the comparison."""
COLUMNS = (
    ("iteration_mean_s", "Iteration", "ms", 1e3),
    ("iteration_max_s", "Longest", "ms", 1e3),
    ("compute_mean_s", "Compute", "ms", 1e3),
    ("exposed_mean_s", "Exposed", "ms", 1e3),
    ("idle_mean_s", "Idle", "ms", 1e3),
    ("busbw_mean_Bps", "Bus", "GB/s", 1e-9),
    ("efficiency_mean", "Of the bound", "%", 100.0),
)
"""Figures of a job in the table: key, title, unit and factor."""


def pictures(comparison: Comparison) -> dict[str, Canvas]:
    """Draw lanes of the first controllers' ranks, if the comparison has jobs whose tasks are recorded."""
    found = {}
    for series in comparison.series[:MOST_PANELS]:
        try:
            tasks = series.rows("tasks", TASKS)
            ranks = series.rows("ranks", RANKS)
        except (FolderError, KeyError):
            return {}
        if not tasks.num_rows:
            return {}
        found[series.case.controller.label] = list(lanes.lanes_of(tasks, ranks, series.sim_s))
    if not any(found.values()):
        return {}
    return {NAME: rank_lanes.of_page(found)}


TASKS = ("job", "rank", "kind", "start_s", "finish_s", "message_start_s", "message_finish_s")
RANKS = ("job", "rank", "host", "start_s", "finish_s")
"""Columns from which lanes are drawn."""


def section(comparison: Comparison, pictures: Mapping[str, str], formats: Sequence[str]) -> str:
    """Return the section; empty without jobs."""
    jobs = jobs_of(comparison.runs.values())
    if not jobs:
        return ""
    study, parts, has_collectives = comparison.study, [], False
    for scenario, name in zip(study.scenarios, study.scenario_names(), strict=True):
        for value in study.values:
            at = [name] * (len(study.scenarios) > 1) + [f"{study.key} = {value}"] * (len(study.values) > 1)
            parts += [f"<h3>{escape(', '.join(at))}</h3>"] * bool(at)
            parts.append(_table(comparison, scenario, value, jobs))
            parts.append(collective_table.table(comparison, scenario, value, jobs))
            has_collectives = has_collectives or bool(parts[-1])
    parts.append(
        f'<p class="note">Means over {counted(study.seeds, "seed")} of means over iterations and ranks. Exposed: a '
        "message under way and no calculation; idle: neither. Bus: bus bandwidth of a collective. Of the bound: the "
        "lower bound of the iteration time over it. Last rank: the one that ends most iterations last, with their "
        "share."
        f"{' ' + collective_table.NOTE if has_collectives else ''}</p>"
    )
    if NAME in pictures:
        first = comparison.series[0].case
        more = len(comparison.series) - MOST_PANELS
        left = f"; {counted(more, 'controller')} more not shown" if more > 0 else ""
        caption = (
            f"What ranks do over time: {escape(first.scenario)}, seed {first.seed}, critical and slowest ranks and "
            f"others{left}. Lines are ends of iterations."
        )
        parts.append(drawn(pictures[NAME], NAME, caption, formats))
    return f'<section id="jobs"><h2>Jobs</h2>{"".join(parts)}</section>'


def _table(comparison: Comparison, scenario: str, value: str, jobs: Sequence[str]) -> str:
    """Return the table of a point: a row a job and controller."""
    study = comparison.study
    keys = [f"jobs.{job}.{key}" for job in jobs for key, *_ in COLUMNS]
    runs = [run for c in study.controllers for run in comparison.point(scenario, c.text, value)]
    known = {key for key in keys if any(run.figure(key) for run in runs)}
    shown = [one for one in COLUMNS if any(f"jobs.{job}.{one[0]}" in known for job in jobs)]
    heads = "".join(f"<th>{title}<small>{unit}</small></th>" for _, title, unit, _ in shown)
    rows = []
    for job in jobs:
        rows += [f'<tr class="of"><th colspan="99">{escape(job)}</th></tr>'] * (len(jobs) > 1)
        for number, c in enumerate(study.controllers):
            found = [
                (comparison.reading(scenario, c.text, value, f"jobs.{job}.{key}"), scale) for key, *_, scale in shown
            ]
            cells = "".join(f"<td>{shown_reading(one, scale)}</td>" for one, scale in found)
            last = _last(comparison.point(scenario, c.text, value), job)
            rows.append(f'<tr><th class="name">{swatch(number)}{escape(c.label)}</th>{cells}<td>{last}</td></tr>')
    return (
        f'<div class="card wide"><table><thead><tr><th>controller</th>{heads}<th>Last rank</th></tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def _last(runs: Sequence[Run], job: str) -> str:
    """Return the rank that ends most iterations of a job last, with their share; all seeds together."""
    ranks: Counter[int] = Counter()
    for run in runs:
        try:
            rows = run.rows("jobs", ["job", "time_s", "critical_rank"]).to_pylist()
        except (FolderError, KeyError):
            return "–"
        ranks.update(row["critical_rank"] for row in rows if row["job"] == job and row["time_s"] is not None)
    if not ranks:
        return "–"
    (rank, times), *_ = ranks.most_common(1)
    return f"{rank} <small>{100 * times / ranks.total():.0f} %</small>"
