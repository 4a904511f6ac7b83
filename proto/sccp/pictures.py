"""The pictures of a run: query times against workers as in figure 9, and N over time."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from matplotlib.axes import Axes

from incast.pictures.style import COLOURS, INK, dress, legend, line, new_canvas, numbered_log, png_bytes
from proto.sccp.experiment import Measured
from proto.sccp.share import MSS
from proto.sccp.units import rate_text, size_text

SCHEMES = {"plain": "Plain TCP", "sccp": "SCCP"}
FRAME = 1514
"""Bytes of a full segment in the queue."""


def draw(results: Sequence[Measured]) -> dict[str, bytes]:
    """Draw a run; names of files to their PNG."""
    return {"query-times.png": query_times(results), "flows.png": flows(results)}


def query_times(results: Sequence[Measured]) -> bytes:
    """Draw query times: a row a rate, a panel a response, a line a scheme with the range of its queries."""
    rates = list(dict.fromkeys(one.setup.rate_bps for one in results))
    responses = list(dict.fromkeys(one.cell.response_bytes for one in results))
    canvas = new_canvas(max(5.0, 3.4 * len(responses)), 0.6 + 2.9 * len(rates))
    panels = canvas.subplots(len(rates), len(responses), squeeze=False, sharex=True)
    for row, rate in zip(panels, rates, strict=True):
        for axes, response in zip(row, responses, strict=True):
            of = [one for one in results if (one.setup.rate_bps, one.cell.response_bytes) == (rate, response)]
            for i, scheme in enumerate(SCHEMES):
                curve(axes, i, [one for one in of if one.cell.scheme == scheme])
            least(axes, of)
            dress(axes)
            axes.set_yscale("log")
            numbered_log(axes)
            axes.set_title(f"{rate_text(rate)}, {size_text(response)} a worker", fontsize=9, color=INK, loc="left")
        row[0].set_ylabel("Query time (ms)", fontsize=9, color=INK)
    for axes in panels[-1]:
        axes.set_xlabel("Workers", fontsize=9, color=INK)
    legend(canvas, list(panels.flat))
    return png_bytes(canvas)


def curve(axes: Axes, number: int, points: Sequence[Measured]) -> None:
    """Draw a scheme's query times: medians, and the range from the smallest to the largest."""
    if not points:
        return
    workers = [one.cell.workers for one in points]
    times = [[query.query_ms for query in one.queries] for one in points]
    axes.fill_between(workers, list(map(min, times)), list(map(max, times)), color=COLOURS[number], alpha=0.15, lw=0)
    axes.plot(workers, list(map(median, times)), label=SCHEMES[points[0].cell.scheme], **line(number))


def least(axes: Axes, points: Sequence[Measured]) -> None:
    """Draw how long the link takes for all responses in full segments."""
    workers = sorted({one.cell.workers for one in points})
    times = [8e3 * n * points[0].cell.response_bytes * FRAME / MSS / points[0].setup.rate_bps for n in workers]
    axes.plot(workers, times, color="#8b949e", linewidth=0.9, label="Line rate", zorder=0)


def flows(results: Sequence[Measured]) -> bytes:
    """Draw N during the first query of the largest cell with SCCP, a panel a rate."""
    rates = list(dict.fromkeys(one.setup.rate_bps for one in results))
    canvas = new_canvas(7.2, 0.4 + 2.4 * len(rates))
    panels = canvas.subplots(len(rates), 1, squeeze=False)[:, 0]
    for axes, rate in zip(panels, rates, strict=True):
        of = [one for one in results if one.setup.rate_bps == rate]
        largest = max(one.cell.workers * one.cell.response_bytes for one in of)
        for i, scheme in enumerate(SCHEMES):
            for one in of:
                if one.cell.scheme == scheme and one.cell.workers * one.cell.response_bytes == largest:
                    first = one.queries[0].times
                    kept = [event for event in one.events if first.start_ns <= event.time_ns <= first.end_ns]
                    look = line(i, marker=False)
                    times = [(event.time_ns - first.start_ns) / 1e6 for event in kept]
                    axes.step(times, [e.flows for e in kept], where="post", label=SCHEMES[scheme], **look)
                    what = f"{one.cell.workers} workers of {size_text(one.cell.response_bytes)}"
                    axes.set_title(f"{rate_text(rate)}, {what}", fontsize=9, color=INK, loc="left")
        dress(axes)
        axes.set_ylim(bottom=0)
        axes.set_ylabel("Flows counted, N", fontsize=9, color=INK)
    panels[-1].set_xlabel("Time in the first query (ms)", fontsize=9, color=INK)
    legend(canvas, list(panels))
    return png_bytes(canvas)
