"""Pictures of runs over time, for a screen or a paper: queues, windows, rates, fairness, all queues as a heat map.

Each takes runs by label, with a timeline (``incast.runs.repeated``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from incast.pictures.looks import (
    BYTES,
    COLOURS,
    RATES,
    Look,
    Picture,
    cdf,
    legend,
    name_panel,
    panels,
    share_axes,
    stroke,
    time_word,
    title,
    unit_of,
)
from incast.pictures.recorded import Frames, NothingToDraw, Numbers, Queue, busiest_first, refuse_zeros
from incast.pictures.style import GREY, INK, line
from incast.runs.result import Result
from incast.system.output import counted
from incast.writing.numbers import rounded

Shown = Sequence[tuple[str, Result]]
"""Runs by label."""

MOST_LINES = 8
"""Most flows in one panel, equal to the number of colours."""
MOST_ROWS = 40
"""Most ports in a heat map, half of it with several panels; the longest queues are chosen."""
CELLS = 300
"""Most time steps of a heat map."""
RATE_STEPS, FAIR_STEPS = 80, 60
"""Most time steps of rates and of Jain's index: in a short step a flow delivers a packet or none."""
FINE_STEPS = 20_000
"""Most steps of a distribution of queues."""


def rates(shown: Shown, look: Look) -> Picture:
    """Throughput of each flow over time; of many flows those that delivered most."""
    found = [(label, run, Frames(run, RATE_STEPS)) for label, run in shown]
    refuse_zeros("delivered_bytes", [frames.delivered for _, _, frames in found])
    unit, factor = unit_of(max(float(frames.throughput.max()) for *_, frames in found), RATES)
    # a short last step says nothing about a rate
    values = [np.where(np.diff(f.edges) > f.step_s / 2, f.throughput, np.nan) * factor for *_, f in found]
    return _flows_over_time(found, values, look, f"Throughput ({unit})")


def windows(shown: Shown, look: Look) -> Picture:
    """Congestion window of each flow over time, as means of steps; of many flows those that delivered most."""
    found = [(label, run, Frames(run)) for label, run in shown]
    if not any(np.nansum(frames.windows) for *_, frames in found):
        raise NothingToDraw("no flow has a congestion window: nothing to draw")
    unit, factor = unit_of(max(float(np.nanmax(frames.windows, initial=0)) for *_, frames in found), BYTES)
    return _flows_over_time(
        found, [frames.windows * factor for *_, frames in found], look, f"Congestion window ({unit})"
    )


def _flows_over_time(
    found: Sequence[tuple[str, Result, Frames]], values: Sequence[Numbers], look: Look, label: str
) -> Picture:
    picture, drawn = panels(look, len(found))
    end = max(float(frames.edges[-1]) for *_, frames in found)
    # the same flows of all runs: those that deliver most in the first
    flows = sorted(np.argsort(-found[0][2].delivered.sum(axis=1), kind="stable")[:MOST_LINES])
    for axes, (name, run, frames), rows in zip(drawn, found, values, strict=True):
        for i, flow in enumerate(one for one in flows if one < len(rows)):
            _steps(axes, look, i, frames.edges, rows[flow], f"flow {flow}", end)
        left = f" of {len(rows)}, those that delivered most" if len(rows) > MOST_LINES else ""
        _head(look, axes, len(found), name, run, f"{counted(len(flows), 'flow')}{left}")
    _time_axes(drawn, end, [run for _, run, _ in found])
    _y_label(drawn, look, label)
    names = dict.fromkeys(text for axes in drawn for text in axes.get_legend_handles_labels()[1])
    legend(picture, drawn, names if len(names) > 1 else ())
    return picture


def queue(shown: Shown, look: Look) -> Picture:
    """Queue of the busiest port of the first run over time: means of steps, and the largest value as a shade."""
    found = _queues(shown, 200)
    picture, (axes,) = panels(look, 1)
    unit, factor = unit_of(max(float(one.largest.max()) for *_, one in found), BYTES)
    end = max(float(frames.edges[-1]) for _, _, frames, _ in found)
    for i, (label, _, frames, one) in enumerate(found):
        colour = line(i)["color"]
        _steps(axes, look, i, frames.edges, one.mean * factor, label, end)
        _, scale = time_word(end)
        axes.stairs(one.largest * factor, frames.edges * scale, fill=True, color=colour, alpha=0.14, linewidth=0)
    _time_axes([axes], end, [run for _, run, _, _ in found])
    axes.set_ylabel(f"Queue ({unit})", color=INK)
    title(look, axes, f"{names_of(shown)}: port {found[0][3].port}; line: mean, shade: largest")
    legend(picture, [axes])
    return picture


def _queues(shown: Shown, most: int) -> list[tuple[str, Result, Frames, Queue]]:
    """Return the queue of one port in all runs: that of the busiest port of the first."""
    found, port = [], None
    for label, run in shown:
        frames = Frames(run, most)
        one = frames.queue(port)
        if one is None and port is None:
            raise NothingToDraw(f"no port of {label} has a queue: nothing to draw")
        if one is None:
            empty = np.zeros(frames.steps)
            one = Queue(str(port), found[0][3].rate_bps, empty, empty)
        port = one.port
        found.append((label, run, frames, one))
    return found


def fairness(shown: Shown, look: Look) -> Picture:
    """Jain's index over time, of the flows that are open for the whole of a step; no line with fewer than two."""
    picture, (axes,) = panels(look, 1)
    end, drawn = 0.0, 0
    for i, (label, run) in enumerate(shown):
        frames = Frames(run, FAIR_STEPS)
        values = _jain(frames)
        end = max(end, float(frames.edges[-1]))
        drawn += int(np.isfinite(values).sum())
        _steps(axes, look, i, frames.edges, values, label, float(frames.edges[-1]))
    if not drawn:
        raise NothingToDraw("no two flows are open at once: nothing to draw")
    _time_axes([axes], end, [run for _, run in shown])
    axes.set_ylim(0, 1.03)
    axes.set_ylabel("Jain's index", color=INK)
    title(look, axes, f"{names_of(shown)}: fairness of the open flows")
    legend(picture, [axes])
    return picture


def _jain(frames: Frames) -> Numbers:
    """Return Jain's index of each step over its open flows; NaN with fewer than two, or without data."""
    opened = frames.active()
    rows = np.where(opened, frames.delivered, 0.0)
    count = opened.sum(axis=0)
    squares = (rows**2).sum(axis=0) * count
    known = (squares > 0) & (count > 1)
    index: Numbers = np.divide(rows.sum(axis=0) ** 2, squares, out=np.full(frames.steps, np.nan), where=known)
    return index


def heat_map(shown: Shown, look: Look) -> Picture:
    """Largest queue of each port in each step: a row a port, the longest queue first; a panel a run, one scale."""
    found = [(label, run, Frames(run, CELLS)) for label, run in shown]
    queues = [frames.queues() for *_, frames in found]
    most: dict[str, float] = {}
    for one in queues:
        for port, values in one.items():
            most[port] = max(most.get(port, 0.0), float(values.max()))
    if not most:
        raise NothingToDraw("no port has a queue: nothing to draw")
    rows_ = MOST_ROWS if len(found) == 1 else MOST_ROWS // 2
    ports = busiest_first(most)[:rows_]
    unit, factor = unit_of(max(most.values()), BYTES)
    rows = max(1.0, 0.12 * len(ports) / look.height + 0.35)
    picture, drawn = panels(look, len(found), height=rows, share="none")
    text, scale = time_word(max(float(frames.edges[-1]) for *_, frames in found))
    image = None
    for axes, (label, run, frames), one in zip(drawn, found, queues, strict=True):
        table = np.array([one.get(port, np.zeros(frames.steps)) for port in ports]) * factor
        axes.grid(visible=False)
        image = axes.imshow(
            np.sqrt(table),
            aspect="auto",
            interpolation="nearest",
            cmap=COLOURS,
            vmin=0,
            vmax=float(np.sqrt(max(most.values()) * factor)),
            extent=(frames.edges[0] * scale, frames.edges[-1] * scale, len(ports) - 0.5, -0.5),
        )
        axes.set_yticks(range(len(ports)), ports, fontsize=min(look.points - 1, 5.5 if len(ports) > 12 else 7))
        axes.set_xlabel(f"Time ({text})", color=INK)
        left = f"; {len(most) - len(ports)} ports with shorter queues not shown" if len(most) > len(ports) else ""
        _head(look, axes, len(found), label, run, f"largest queue of each step{left}")
    assert image is not None, "there is at least one run"
    bar = picture.colorbar(image, ax=drawn, label=f"Queue ({unit})", pad=0.01, aspect=30)
    top = max(most.values()) * factor
    marks = [0, top / 16, top / 4, top]  # colours go with the square root
    bar.set_ticks([float(np.sqrt(mark)) for mark in marks], labels=[rounded(mark) for mark in marks])
    return picture


def queue_cdf(shown: Shown, look: Look) -> Picture:
    """Share of the measured time in which the queue of the busiest port is at most so long; above: as a delay."""
    found = _queues(shown, FINE_STEPS)
    picture, (axes,) = panels(look, 1)
    unit, factor = unit_of(max(float(one.mean.max()) for *_, one in found), BYTES)
    for i, (label, run, frames, one) in enumerate(found):
        begin, end = run.summary["run"]["measure_from_s"], run.summary["run"]["measure_to_s"]
        parts = np.clip(np.minimum(frames.edges[1:], end) - np.maximum(frames.edges[:-1], begin), 0, None)
        order = np.argsort(one.mean, kind="stable")
        shares = np.cumsum(parts[order]) / max(float(parts.sum()), 1e-30)
        cdf(axes, look, i, one.mean[order] * factor, shares, label)
    axes.set_xlabel(f"Queue ({unit})", color=INK)
    share_axes([axes], "Share of time")
    rate = found[0][3].rate_bps
    if rate:
        _, most = axes.get_xlim()
        word, scale = time_word(most / factor * 8 / rate)
        per_unit = 8 / (factor * rate) * scale

        def delay(x: Any) -> Any:
            return np.asarray(x) * per_unit

        def length(y: Any) -> Any:
            return np.asarray(y) / per_unit

        above = axes.secondary_xaxis("top", functions=(delay, length))
        above.set_xlabel(f"Queueing delay ({word})", color=INK)
        above.tick_params(colors=INK)
        above.spines["top"].set_visible(False)
    title(look, axes, f"{names_of(shown)}: port {found[0][3].port}")
    legend(picture, [axes])
    return picture


def names_of(shown: Shown) -> str:
    """Return scenario and seed of the first run, for titles."""
    run = shown[0][1].summary["run"]
    return f"{run['scenario']}, seed {run['seed']}"


def _head(look: Look, axes: Axes, count: int, label: str, run: Result, words: str) -> None:
    """Name a panel: by its run if there are several, else by a title."""
    if count > 1:
        name_panel(axes, label)
    else:
        title(look, axes, f"{names_of([(label, run)])}: {words}")


def _steps(axes: Axes, look: Look, number: int, edges: Numbers, values: Numbers, label: str, end: float) -> None:
    """Draw the values of steps as a line through the middles of the steps."""
    _, scale = time_word(end)
    middles = (edges[:-1] + edges[1:]) / 2 * scale
    axes.plot(middles, values, label=label, **stroke(look, number, len(values)))


def _time_axes(drawn: Sequence[Axes], end: float, runs: Sequence[Result]) -> None:
    """Label axes over time, and shade what is before the measured interval."""
    unit, scale = time_word(end)
    start = max(run.summary["run"]["measure_from_s"] for run in runs)
    for axes in drawn:
        axes.set_xlim(0, end * scale)
        axes.set_ylim(bottom=0)
        if start > 0:
            axes.axvspan(0, start * scale, color=GREY, alpha=0.12, linewidth=0)
        axes.set_xlabel(f"Time ({unit})", color=INK)
        axes.label_outer()


def _y_label(drawn: Sequence[Axes], look: Look, label: str) -> None:
    for i, axes in enumerate(drawn):
        if i % look.abreast == 0:
            axes.set_ylabel(label, color=INK)
