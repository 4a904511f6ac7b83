"""Table of the collectives of jobs in a comparison: a row a kind and controller, and the rank that starts last."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from html import escape

from incast.comparisons.comparison import Comparison, Run
from incast.errors import FolderError
from incast.pictures.inline import swatch
from incast.report.numbers import shown_reading
from incast.report.run_table import MOST_SIZES
from incast.system.output import counted
from incast.writing.numbers import quantity, said

COLUMNS = (
    ("time_mean_s", "Time", "µs", 1e6),
    ("time_max_s", "Longest", "µs", 1e6),
    ("skew_mean_s", "Skew", "µs", 1e6),
    ("busbw_mean_Bps", "Bus", "GB/s", 1e-9),
    ("efficiency_mean", "Of the bound", "%", 100.0),
)
"""Figures of a kind of collective: key, title, unit and factor."""
NOTE = (
    "Skew: time from the start of the first member to that of the last. Starts last: the rank for which the others "
    "wait most often, with its share of the collectives in which any waits."
)
ROWS = ("job", "pattern", "members", "bytes", "last_finish_s", "skew_s", "slowest_rank")
Kind = tuple[str, int, int]
"""Pattern, members and bytes."""


def table(comparison: Comparison, scenario: str, value: str, jobs: Sequence[str]) -> str:
    """Return the table of a point; empty if no job has collectives."""
    study = comparison.study
    runs = {c.text: comparison.point(scenario, c.text, value) for c in study.controllers}
    every = [run for own in runs.values() for run in own]
    waits = {text: _last(own) for text, own in runs.items()}
    parts, left = [], 0
    for job in jobs:
        kinds = list(dict.fromkeys(kind for run in every for kind in run.summary.get("collectives", {}).get(job, {})))
        left += max(0, len(kinds) - MOST_SIZES)
        for kind in kinds[:MOST_SIZES]:
            head = f"{job}: {_words(kind)}" if len(jobs) > 1 else _words(kind)
            parts.append(f'<tr class="of"><th colspan="99">{escape(head)}</th></tr>')
            for number, c in enumerate(study.controllers):
                keys = [(f"collectives.{job}.{kind}.{key}", scale) for key, *_, scale in COLUMNS]
                found = [(comparison.reading(scenario, c.text, value, key), scale) for key, scale in keys]
                cells = "".join(f"<td>{shown_reading(one, scale)}</td>" for one, scale in found)
                done = _finished(runs[c.text], job, kind)
                last = _said(waits[c.text], job, kind)
                name = f'<th class="name">{swatch(number)}{escape(c.label)}</th>'
                parts.append(f"<tr>{name}<td>{done}</td>{cells}<td>{last}</td></tr>")
    if not parts:
        return ""
    heads = "".join(f"<th>{title}<small>{unit}</small></th>" for _, title, unit, _ in COLUMNS)
    more = f'<p class="note">{counted(left, "kind")} more in collectives.parquet.</p>' if left else ""
    return (
        f'<h4>Collectives</h4><div class="card wide"><table class="collectives"><thead><tr><th>controller</th>'
        f"<th>Finished</th>{heads}<th>Starts last</th></tr></thead><tbody>{''.join(parts)}</tbody></table></div>{more}"
    )


def _words(kind: str) -> str:
    """Return the words for a kind as the summary names it: all-reduce, or all-reduce/8/4000000."""
    pattern, *sizes = kind.split("/")
    if len(sizes) != 2:
        return pattern
    return f"{pattern} of {said(quantity(int(sizes[1]), 'B'))}, {counted(int(sizes[0]), 'rank')}"


def _finished(runs: Sequence[Run], job: str, kind: str) -> str:
    """Return how many collectives finished, of those that began; all seeds together."""
    counts = [run.figure(f"collectives.{job}.{kind}.count") or 0 for run in runs]
    finished = [run.figure(f"collectives.{job}.{kind}.finished") or 0 for run in runs]
    return f"{sum(finished):.0f}" if finished == counts else f"{sum(finished):.0f} of {sum(counts):.0f}"


def _last(runs: Sequence[Run]) -> dict[tuple[str, Kind], Counter[int]]:
    """Count the ranks that start after others, by job and kind; all seeds together."""
    found: dict[tuple[str, Kind], Counter[int]] = {}
    for run in runs:
        try:
            rows = run.rows("collectives", list(ROWS)).to_pylist()
        except (FolderError, KeyError):
            continue
        for row in rows:
            if row["last_finish_s"] is not None and row["skew_s"]:
                kind = (row["pattern"], row["members"], row["bytes"])
                found.setdefault((row["job"], kind), Counter())[row["slowest_rank"]] += 1
    return found


def _said(waits: dict[tuple[str, Kind], Counter[int]], job: str, name: str) -> str:
    """Return the rank of a kind that starts last most often, with its share."""
    pattern, *sizes = name.split("/")
    ranks: Counter[int] = Counter()
    for (own, kind), counts in waits.items():
        if own == job and kind[0] == pattern and (not sizes or [str(size) for size in kind[1:]] == sizes):
            ranks += counts
    if not ranks:
        return "–"
    rank, times = min(ranks.items(), key=lambda one: (-one[1], one[0]))
    return f"{rank} <small>{100 * times / ranks.total():.0f} %</small>"
