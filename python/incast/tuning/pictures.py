"""Pictures of a search and of a sensitivity analysis."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from incast.pictures import titles
from incast.pictures.style import COLOURS, INK, dress, legend, new_canvas, time_unit

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

    from incast.tuning.declaration import Objective, Parameter
    from incast.tuning.outcome import Outcome
    from incast.tuning.search import Tried

FADED = "#9aa4af"


class Scale:
    """Unit of an axis, and the factor of its values."""

    def __init__(self, unit: str, values: Sequence[float]) -> None:
        known = [abs(value) for value in values if not math.isnan(value)]
        self.unit, self.factor = unit, 1.0
        if unit == "s" and known:
            self.unit, self.factor = time_unit(max(known))
        elif unit == "bit/s":
            self.unit, self.factor = "Gb/s", 1e-9

    def label(self, name: str) -> str:
        """Name an axis with the unit."""
        return name if self.unit in ("", "1") else f"{name} ({self.unit})"


NAMES = ("parameters", "progress", "front", "importance")
"""Names of the pictures of searches."""


def draw(outcome: Outcome) -> dict[str, Canvas]:
    """Draw the pictures of a search, by file name without extension."""
    found = {"parameters": _parameters(outcome)}
    if len(outcome.tuning.objectives) == 1:
        found["progress"] = _progress(outcome)
    else:
        found["front"] = _front(outcome)
    if outcome.importances:
        found["importance"] = bars(
            {f"importance for {titles.figure(one)}": _in_words(shares) for one, shares in outcome.importances.items()},
            "Importance of parameters (fANOVA)",
            "share of the variance",
        )
    return found


def _in_words(shares: Mapping[str, float]) -> dict[str, float]:
    """Return shares by the titles of their parameters."""
    return {titles.parameter(key): share for key, share in shares.items()}


def _unit(outcome: Outcome, figure: str) -> str:
    """Return the unit of an objective; over several scenarios it is a ratio."""
    if len(outcome.tuning.target.scenarios) > 1:
        return "of the defaults"
    return next(row.unit for row in outcome.best.compared if row.figure == figure)


def _scale(outcome: Outcome, number: int) -> Scale:
    values = [one.scores[number] for one in outcome.tried if one.scores is not None]
    return Scale(_unit(outcome, outcome.tuning.figures[number]), [*values, outcome.default_scores[number]])


def _titled(axes: Axes, title: str, x: str, y: str) -> None:
    dress(axes)
    axes.set_title(title, fontsize=10, color=INK, loc="left", fontweight="bold")
    axes.set_xlabel(x, fontsize=9, color=INK)
    axes.set_ylabel(y, fontsize=9, color=INK)


def _progress(outcome: Outcome) -> Canvas:
    """Draw the objective of each set in the order of the search, the best so far, and the defaults."""
    (objective,) = outcome.tuning.objectives
    scale = _scale(outcome, 0)
    canvas = new_canvas(7.2, 3.9)
    axes = canvas.subplots()
    seeds = len(outcome.tuning.seeds)
    whole = [(one.number + 1, one.scores[0] * scale.factor) for one in outcome.tried if one.scores is not None]
    part = [(one.number + 1, _mean(one, 0) * scale.factor) for one in _stopped(outcome)]
    if part:
        axes.plot(*zip(*part, strict=True), "x", color=FADED, markersize=4, label="stopped: mean over fewer seeds")
    axes.plot(*zip(*whole, strict=True), "o", color=COLOURS[0], markersize=4, label=f"mean over {seeds} tuning seeds")
    best: list[float] = []
    for _, value in whole:
        best.append(value if not best or objective.better(value, best[-1]) else best[-1])
    numbers = [number for number, _ in whole]
    axes.step(numbers, best, where="post", color=COLOURS[1], linewidth=1.4, label="best so far")
    axes.axhline(outcome.default_scores[0] * scale.factor, color=INK, linestyle="--", linewidth=1.1, label="defaults")
    _wide_in_logarithms(axes, [value for _, value in [*whole, *part]], outcome.default_scores[0] * scale.factor)
    name = titles.figure(objective.figure)
    way = "maximise" if objective.maximise else "minimise"
    _titled(axes, f"Search to {way} {name}", "set of values, in search order", scale.label(name))
    legend(canvas, [axes])
    return canvas


def _wide_in_logarithms(axes: Axes, values: Sequence[float], default: float) -> None:
    """Make the y axis logarithmic if the values span more than a decade."""
    known = [value for value in [*values, default] if not math.isnan(value)]
    if min(known) > 0 and max(known) / min(known) > 10:
        axes.set_yscale("log")


def _front(outcome: Outcome) -> Canvas:
    """Draw, for every two objectives, sets on the tuning seeds, and differences from the defaults on held-out seeds."""
    objectives = outcome.tuning.objectives
    pairs = list(itertools.combinations(range(len(objectives)), 2))
    held_out = len(outcome.tuning.target.scenarios) == 1
    canvas = new_canvas(5.4 * (1 + held_out), 4.3 * len(pairs))
    panels = canvas.subplots(len(pairs), 1 + held_out, squeeze=False)
    for row, pair in zip(panels, pairs, strict=True):
        _tuning_panel(row[0], outcome, *pair)
        if held_out:
            _held_out_panel(row[1], outcome, *pair)
    legend(canvas, panels.ravel())
    return canvas


def _tuning_panel(axes: Axes, outcome: Outcome, x: int, y: int) -> None:
    across, up = _scale(outcome, x), _scale(outcome, y)

    def put(scores: Sequence[Sequence[float]], marker: str, **look: Any) -> None:
        axes.plot([s[x] * across.factor for s in scores], [s[y] * up.factor for s in scores], marker, **look)

    whole = [one.scores for one in outcome.tried if one.scores is not None]
    put(whole, "o", color=FADED, markersize=3.5, label="sets tried")
    front = [one.tried.scores for one in outcome.front if one.tried.scores is not None]
    put(front, "o", color=COLOURS[0], markersize=5, label="front")
    put([outcome.default_scores], "D", color=INK, markersize=5, label="defaults")
    put([outcome.best.tried.scores or ()], "o", label="chosen (tuned.toml)", **_RING)
    pair = outcome.tuning.objectives[x], outcome.tuning.objectives[y]
    title = f"Tuning seeds; better: {_towards(*pair)}"
    names = [scale.label(titles.figure(one.figure)) for scale, one in zip((across, up), pair, strict=True)]
    _titled(axes, title, *names)


_RING: Mapping[str, Any] = {
    "color": "none",
    "markeredgecolor": COLOURS[2],
    "markersize": 11,
    "markeredgewidth": 1.6,
}


def _held_out_panel(axes: Axes, outcome: Outcome, x: int, y: int) -> None:
    """Draw paired differences from the defaults, which exclude effects common to all sets of a seed."""
    pair = outcome.tuning.objectives[x], outcome.tuning.objectives[y]
    across, up = _scale(outcome, x), _scale(outcome, y)
    axes.axhline(0, color=INK, linewidth=0.9, linestyle="--")
    axes.axvline(0, color=INK, linewidth=0.9, linestyle="--")
    axes.plot([0], [0], "D", color=INK, markersize=5, label="defaults")
    label: str | None = "front, 95 % intervals"
    for number, one in enumerate(outcome.front):
        rows = {row.figure: row.difference for row in one.compared}
        left, right = rows.get(pair[0].figure), rows.get(pair[1].figure)
        if left is None or right is None:
            continue
        place = [left.mean * across.factor], [right.mean * up.factor]
        axes.errorbar(
            *place,
            xerr=[(left.half_width or 0) * across.factor],
            yerr=[(right.half_width or 0) * up.factor],
            fmt="o",
            color=COLOURS[1],
            markersize=4,
            elinewidth=0.9,
            label=label,
        )
        label = None
        if number == outcome.chosen:
            axes.plot(*place, "o", **_RING)
    names = [
        scale.label(f"{titles.figure(one.figure)}, difference from the defaults")
        for scale, one in zip((across, up), pair, strict=True)
    ]
    _titled(axes, "Held-out seeds, paired differences", *names)


def _towards(one: Objective, other: Objective) -> str:
    place = f"{'upper' if other.maximise else 'lower'} {'right' if one.maximise else 'left'}"
    return f"towards the {place}"


def _number(value: Any) -> float | None:
    """Read the number of a value with a unit."""
    found = re.match(r"[-+0-9.eE]+", str(value)) if not isinstance(value, bool) else None
    try:
        return float(found[0]) if found else None
    except ValueError:
        return None


def _parameters(outcome: Outcome) -> Canvas:
    """Draw each objective over each parameter for all sets: stopped ones by their mean over fewer seeds."""
    tuning = outcome.tuning
    whole = [one for one in outcome.tried if one.scores is not None]
    stopped = _stopped(outcome)
    columns, rows = len(tuning.target.parameters), len(tuning.objectives)
    canvas = new_canvas(max(2.9 * columns, 4.2), 2.7 * rows + 0.5)
    panels = canvas.subplots(rows, columns, squeeze=False, sharey="row")
    for row, objective in enumerate(tuning.objectives):
        scale = _scale(outcome, row)
        for column, parameter in enumerate(tuning.target.parameters):
            axes: Axes = panels[row, column]
            span = parameter.axis.range
            early = [_mean(one, row) * scale.factor for one in stopped]
            axes.plot(_at(axes, parameter, stopped), early, "x", color=FADED, markersize=3)
            places = _at(axes, parameter, whole)
            means = [(one.scores or ())[row] * scale.factor for one in whole]
            axes.plot(places, means, "o", color=COLOURS[0], markersize=3)
            best = whole.index(outcome.best.tried)
            axes.plot(places[best], means[best], "*", color=COLOURS[1], markersize=11)
            axes.axhline(outcome.default_scores[row] * scale.factor, color=INK, linestyle="--", linewidth=1)
            dress(axes)
            unit = f" ({span.unit})" if span is not None and span.unit else ""
            axes.set_xlabel(f"{titles.parameter(parameter.key)}{unit}", fontsize=8, color=INK)
            if column == 0:
                axes.set_ylabel(scale.label(titles.figure(objective.figure)), fontsize=8, color=INK)
    title = f"All {len(whole) + len(stopped)} sets; cross: stopped early; star: chosen; dashes: defaults"
    canvas.suptitle(title, fontsize=9, color=INK)
    return canvas


def _stopped(outcome: Outcome) -> list[Tried]:
    """Return the sets that were stopped after fewer seeds than the others."""
    return [
        one for one in outcome.tried if one.scores is None and one.by_seed and not one.refused and not one.unfinished
    ]


def _mean(one: Tried, row: int) -> float:
    return math.fsum(one.by_seed[row]) / len(one.by_seed[row])


def _at(axes: Axes, parameter: Parameter, sets: Sequence[Tried]) -> list[float]:
    """Return the places of sets on the axis of a parameter, and label the axis."""
    span = parameter.axis.range
    values = [one.values[parameter.key] for one in sets]
    if span is None:
        names = [str(value) for value in parameter.axis.values]
        axes.set_xticks(range(len(names)), names, fontsize=7)
        return [float(names.index(str(value))) for value in values]
    if span.log:
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.xaxis.set_minor_formatter(NullFormatter())
    return [_number(value) or 0.0 for value in values]


def bars(
    panels: Mapping[str, Mapping[str, float]],
    title: str,
    x: str,
    intervals: Mapping[str, Mapping[str, float]] | None = None,
) -> Canvas:
    """Draw one bar per parameter, one panel per figure; with half widths of intervals if known."""
    height = sum(0.32 * len(shares) + 0.9 for shares in panels.values()) + 0.4
    canvas = new_canvas(6.8, height)
    found = canvas.subplots(
        len(panels), 1, squeeze=False, gridspec_kw={"height_ratios": [len(shares) + 1.5 for shares in panels.values()]}
    ).ravel()
    for axes, (name, shares) in zip(found, panels.items(), strict=True):
        ordered = sorted(shares, key=lambda key: shares[key])
        errors = None if intervals is None else [intervals[name][key] for key in ordered]
        axes.barh(
            ordered, [shares[key] for key in ordered], xerr=errors, color=COLOURS[0], height=0.6, ecolor=INK, capsize=2
        )
        axes.set_xlim(left=0)
        _titled(axes, name, x if axes is found[-1] else "", "")
    canvas.suptitle(title, fontsize=10, color=INK)
    return canvas
