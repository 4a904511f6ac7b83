"""Pictures of flows, for a screen or a paper: completion times, slowdowns, delays, throughput, shares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes

from incast.pictures.interval_plot import Measured
from incast.pictures.looks import (
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
from incast.pictures.recorded import NothingToDraw, Numbers
from incast.pictures.style import INK, area, numbered_log, plain, spans
from incast.runs import completions
from incast.runs.completions import Bins, Completions
from incast.runs.result import Result
from incast.statistics import Estimate
from incast.writing.numbers import rounded

SIZES = Bins((1e4, 1e5, 1e6, 1e7))
"""Size bins of flows."""
SHORT = ("<10 kB", "10\u2013100 kB", "0.1\u20131 MB", "1\u201310 MB", "≥10 MB")
"""Names of the bins on an axis."""
Groups = Mapping[str, Mapping[int, Completions]]
"""Completions of finite flows by label and seed."""


def completions_of(run: Result) -> dict[int, Completions]:
    """Return the completions of a run's finite flows by seed."""
    flows = run.flows.select(["group", "size_bytes", "start_s", "fct_s", "ideal_fct_s", "stopped_s"])
    return {run.summary["run"]["seed"]: completions.of_table(flows, "fct", run.summary["run"]["sim_s"])}


def _bins(groups: Groups) -> list[int]:
    """Return the bins that have flows; raises ``NothingToDraw`` without any."""
    runs = [run for own in groups.values() for run in own.values()]
    found = [i for i in range(len(SIZES.labels)) if any((SIZES.of(run.sizes) == i).any() for run in runs)]
    if not found:
        raise NothingToDraw("no run has a finite flow: nothing to draw")
    return found


def fct(groups: Groups, look: Look, words: str) -> Picture:
    """Completion times by size, as CDFs over all flows that began: a line ends below 1 if some did not finish.

    One group has a line a size, several have a panel a size and a line each; seeds are pooled.
    """
    bins, single = _bins(groups), len(groups) == 1
    times = np.concatenate([run.times_s[run.finished] for own in groups.values() for run in own.values()])
    if not len(times):
        raise NothingToDraw("no finite flow finished: nothing to draw")
    few: dict[str, Any] = {"abreast": max(2, look.abreast), "height": 0.8}
    picture, drawn = panels(look, 1) if single else panels(look, len(bins), **few)
    unit, scale = time_word(float(np.median(times)))
    for place, number in enumerate(bins):
        axes = drawn[0 if single else place]
        for i, (label, own) in enumerate(groups.items()):
            parts = [run.where(SIZES.of(run.sizes) == number) for run in own.values()]
            values = np.sort(np.concatenate([part.times_s[part.finished] for part in parts])) * scale
            count = sum(map(len, parts))
            shares = np.arange(1, len(values) + 1) / max(1, count)
            ended = "" if len(values) == count else f": {len(values):,} of {count:,} finished"
            name = f"{SHORT[number]}{ended}" if single else label
            cdf(axes, look, place if single else i, values, shares, name)
            if not single and not len(values):
                words_ = f"{label}: 0 of {count:,} finished"
                axes.text(0.5, 0.6 - 0.15 * i, words_, transform=axes.transAxes, ha="center", color=INK)
        if not single:
            name_panel(axes, SIZES.labels[number])
    share_axes(drawn, "Share of flows")
    for axes in drawn:
        axes.set_xlabel(f"Flow completion time ({unit})", color=INK)
        if spans(times[times > 0]):
            axes.set_xlim(float(times.min()) * scale / 1.2, float(times.max()) * scale * 1.2)
            numbered_log(axes, "x")
        axes.label_outer()
    if single:
        title(look, drawn[0], f"{words}: flow completion times by size")
    legend(picture, drawn)
    return picture


def slowdown(groups: Groups, look: Look, words: str) -> Picture:
    """Slowdown by size: median (dashed, hollow) and 99th percentile of each group, with 95 % intervals over seeds.

    A point alone with an arrow is a lower bound: the flows that did not finish could raise it without limit.
    """
    bins = _bins(groups)
    picture, (axes,) = panels(look, 1)
    seen: list[float] = []
    for i, (label, own) in enumerate(groups.items()):
        offset = (i - (len(groups) - 1) / 2) * min(0.12, 0.6 / len(groups))
        for statistic, dashed in (("p99", False), ("p50", True)):
            readings = [_reading(own, number, statistic) for number in bins]
            known = [(at + offset, reading) for at, reading in enumerate(readings) if reading is not None]
            seen += _points(axes, look, i, known, label if not dashed else "", dashed)
    if not seen:
        raise NothingToDraw("no flow has an ideal completion time: nothing to draw")
    axes.set_xticks(range(len(bins)), [SHORT[number] for number in bins])
    axes.set_xlim(-0.5, len(bins) - 0.5)
    axes.set_xlabel("Flow size", color=INK)
    axes.set_ylabel("Slowdown", color=INK)
    axes.set_ylim(min(1.0, min(seen)), max(seen) * 1.25)
    if spans(seen):
        numbered_log(axes)
    title(look, axes, f"{words}: slowdown by size")
    axes.plot([], [], color=INK, linestyle="-", linewidth=look.line, label="p99")
    axes.plot([], [], color=INK, linestyle=":", linewidth=look.line, label="median")
    legend(picture, [axes])
    return picture


def _reading(own: Mapping[int, Completions], number: int, statistic: str) -> completions.Reading | None:
    return completions.reading({s: run.where(SIZES.of(run.sizes) == number) for s, run in own.items()}, statistic)


def _points(
    axes: Axes, look: Look, number: int, known: Sequence[tuple[float, Measured]], label: str, dashed: bool
) -> list[float]:
    """Draw points with whiskers; return the numbers that the axis must cover."""
    own = [(x, reading, found) for x, reading in known if (found := reading.least) is not None]
    if not own:
        return []
    style = stroke(look, number, 1) | {"markevery": 1}
    if dashed:
        style |= {"linestyle": ":", "markerfacecolor": "white"}
    bounds = [not reading.exact and reading.most is None for _, reading, _ in own]
    xs, means = [x for x, _, _ in own], [found.mean for _, _, found in own]
    line_ = [float("nan") if bound else mean for mean, bound in zip(means, bounds, strict=True)]
    axes.plot(xs, line_, label=label or "_", **style)
    alone = [(x, mean) for x, mean, bound in zip(xs, means, bounds, strict=True) if bound]
    axes.plot([x for x, _ in alone], [y for _, y in alone], label="_", **style | {"linestyle": "none"})
    for x, reading, found in own:
        axes.plot([x, x], [max(found.low, 1e-9), found.high], color=style["color"], linewidth=look.line * 0.8)
        if not reading.exact and reading.most is None:
            arrow = {"arrowstyle": "<-", "color": style["color"], "linewidth": look.line}
            axes.annotate("", (x, found.mean), (0, 14), textcoords="offset points", arrowprops=arrow)
    return [end for _, _, found in own for end in (found.mean, found.high)]


def delay_cdf(found: Mapping[str, Numbers], look: Look, words: str) -> Picture:
    """Mean one-way delay of each flow's packets, as a CDF over the flows of each group."""
    if not any(len(values) for values in found.values()):
        raise NothingToDraw("no flow has a delay: nothing to draw")
    picture, (axes,) = panels(look, 1)
    unit, scale = time_word(max(float(values.max(initial=0.0)) for values in found.values()))
    for i, (label, values) in enumerate(found.items()):
        ordered = np.sort(values) * scale
        cdf(axes, look, i, ordered, np.arange(1, len(ordered) + 1) / max(1, len(ordered)), label)
    axes.set_xlabel(f"Mean delay of a flow ({unit})", color=INK)
    share_axes([axes], "Share of flows")
    title(look, axes, f"{words}: {', '.join(f'{len(values):,}' for values in found.values())} flows")
    legend(picture, [axes])
    return picture


@dataclass(frozen=True)
class Spot:
    """Throughput and delay, as means with intervals."""

    delay_s: Estimate
    rate_bps: Estimate
    name: str = ""


def throughput_delay(groups: Mapping[str, Sequence[Spot]], look: Look, words: str, rate: str, joined: bool) -> Picture:
    """Throughput against delay: a colour a group, with 95 % intervals where there are any; better is up and left."""
    points = [spot for own in groups.values() for spot in own]
    if not points:
        raise NothingToDraw("no flow has a throughput and a delay: nothing to draw")
    picture, (axes,) = panels(look, 1)
    word, scale = time_word(max(spot.delay_s.mean for spot in points))
    unit, factor = unit_of(max(spot.rate_bps.mean for spot in points), RATES)
    named: list[tuple[float, float]] = []
    for i, (label, own) in enumerate(groups.items()):
        style = stroke(look, i, 1) | {"markevery": 1}
        if not joined:
            style |= {"linestyle": "none", "alpha": 0.75}
        xs, ys = [spot.delay_s.mean * scale for spot in own], [spot.rate_bps.mean * factor for spot in own]
        axes.plot(xs, ys, label=label, **style)
        whisker = {"color": style["color"], "linewidth": look.line * 0.8}
        for x, y, spot in zip(xs, ys, own, strict=True):
            axes.plot([spot.delay_s.low * scale, spot.delay_s.high * scale], [y, y], **whisker)
            axes.plot([x, x], [spot.rate_bps.low * factor, spot.rate_bps.high * factor], **whisker)
            near = [abs(x / x_ - 1) < 0.1 and abs(y / y_ - 1) < 0.1 for x_, y_ in named]
            if spot.name and not any(near):
                named.append((x, y))
                axes.annotate(
                    spot.name, (x, y), (3, 3), textcoords="offset points", fontsize=look.points - 2, color=INK
                )
    axes.set_xlim(0, max(spot.delay_s.high for spot in points) * scale * 1.12)
    axes.set_ylim(0, max(spot.rate_bps.high for spot in points) * factor * 1.12)
    axes.set_xlabel(f"Mean delay ({word})", color=INK)
    axes.set_ylabel(f"{rate} ({unit})", color=INK)
    title(look, axes, f"{words}; better is up and left")
    legend(picture, [axes])
    return picture


@dataclass(frozen=True)
class Share:
    """Share of the goodput that a controller has, and of the flows."""

    name: str
    percent: Estimate
    flows: float


def shares(rows: Mapping[str, Sequence[Share]], look: Look, words: str, dotted: str = "share of the flows") -> Picture:
    """Share of the goodput by controller: a bar a row, with 95 % intervals; dotted lines: the shares of the flows."""
    picture, (axes,) = panels(look, 1, height=max(0.7, 0.35 + 0.16 * len(rows)))
    numbers: dict[str, int] = {}
    for row, own in enumerate(rows.values()):
        begin = fair = 0.0
        for part in own:
            number = numbers.setdefault(part.name, len(numbers))
            width = part.percent.mean
            axes.barh(row, width, left=begin, height=0.6, label=part.name, **area(number) | {"linewidth": 0.8})
            if width >= 8:
                axes.text(
                    begin + width / 2,
                    row,
                    f"{width:.0f} %",
                    fontsize=look.points - 1,
                    color="white",
                    ha="center",
                    va="center",
                )
            begin, fair = begin + width, fair + part.flows
            if fair < 100 - 1e-9:
                axes.plot([fair, fair], [row - 0.38, row + 0.38], color=INK, linewidth=look.line, linestyle=":")
        if len(own) == 2 and (half := own[0].percent.half_width):
            middle = own[0].percent.mean
            axes.plot([middle - half, middle + half], [row, row], color=INK, linewidth=look.line * 1.2)
    axes.set_yticks(range(len(rows)), list(rows))
    axes.invert_yaxis()
    axes.set_xlim(0, 100)
    axes.grid(visible=False, axis="y")
    axes.set_xlabel(f"Share of the goodput (%); dotted: {dotted}", color=INK)
    title(look, axes, words)
    legend(picture, [axes], numbers)
    return picture


def size_map(panels_: Mapping[str, Groups], look: Look, x_label: str) -> Picture:
    """99th percentile of the slowdown by size and value of a key: a panel a controller, one colour scale."""
    bins = _bins({f"{name} {value}": own for name, groups in panels_.items() for value, own in groups.items()})
    tables: dict[str, Numbers] = {}
    bounds: dict[str, npt.NDArray[np.bool_]] = {}
    for name, groups in panels_.items():
        cells = [[_reading(own, number, "p99") for own in groups.values()] for number in bins]
        tables[name] = np.array([[_mean(cell) for cell in row] for row in cells])
        bounds[name] = np.array([[cell is not None and not cell.exact for cell in row] for row in cells])
    known = np.concatenate([table[~np.isnan(table)] for table in tables.values()])
    if not len(known):
        raise NothingToDraw("no flow has an ideal completion time: nothing to draw")
    picture, drawn = panels(look, len(tables), share="none")
    low, high = float(np.log(known.min())), float(np.log(max(known.max(), known.min() * 1.01)))
    image = None
    for axes, (name, table) in zip(drawn, tables.items(), strict=True):
        values = list(panels_[name])
        axes.grid(visible=False)
        image = axes.imshow(np.log(table), aspect="auto", origin="lower", cmap=COLOURS, vmin=low, vmax=high)
        for (y, x), value in np.ndenumerate(table):
            shade = (np.log(value) - low) / (high - low) if value == value else 0
            words_ = "–" if value != value else f"{'≥' * int(bounds[name][y, x])}{rounded(value)}"
            colour = "white" if shade > 0.55 else INK
            axes.text(x, y, words_, ha="center", va="center", fontsize=look.points - 1.5, color=colour)
        axes.set_xticks(range(len(values)), values)
        axes.set_yticks(range(len(bins)), [SHORT[number] for number in bins])
        axes.set_xlabel(x_label, color=INK)
        name_panel(axes, name)
        axes.label_outer()
    assert image is not None, "there is a panel"
    bar = picture.colorbar(image, ax=drawn, label="p99 slowdown", pad=0.01, aspect=25)
    marks = np.linspace(low, high, 4)
    bar.set_ticks(marks.tolist(), labels=[plain(float(f"{np.exp(mark):.2g}")) for mark in marks])
    return picture


def _mean(reading: completions.Reading | None) -> float:
    found = None if reading is None else reading.least
    return float("nan") if found is None else found.mean
