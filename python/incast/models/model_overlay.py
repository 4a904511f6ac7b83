"""Closed-form models drawn over the measured figures of a study.

The table ``FORMS`` lists the models. Each checks whether its assumptions hold for a scenario.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from incast.batch.store import Store
from incast.errors import ModelError, StudyError
from incast.models import closed_form, curves
from incast.runs.groups import groups
from incast.runs.scenario import Scenario
from incast.statistics import Estimate, estimate
from incast.study.definition import Definition, Point
from incast.system.output import nearest


@dataclass(frozen=True)
class Form:
    """A closed form of a figure."""

    name: str
    """Name of the model in ``incast model``."""
    figure: str
    """Figure of ``summary.json`` that it predicts."""
    what: str
    """Label in a legend."""
    of: Callable[[Scenario], float | None]
    """Value for a scenario; ``None`` if the assumptions do not hold."""


def _applications(resolved: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [entry.get("app", {"kind": "job"}) for _, entry in groups(resolved)]


def _fair_share(scenario: Scenario) -> float | None:
    """Return the mean share of flows that always have data."""
    if any(app["kind"] != "bulk" or "size" in app for app in _applications(scenario.resolved())):
        return None
    return float(np.mean(closed_form.fair_share(scenario)["fair_share_bps"]))


def _ideal_fct(scenario: Scenario) -> float | None:
    """Return the mean completion time of finite flows."""
    if any(app["kind"] != "bulk" or "size" not in app for app in _applications(scenario.resolved())):
        return None
    found = float(np.mean(closed_form.ideal_fct(scenario)["ideal_fct_s"]))
    return None if math.isnan(found) else found


def _dctcp_queue(scenario: Scenario) -> float | None:
    """Return the largest queue of DCTCP flows at the bottleneck of a dumbbell that marks above a packet threshold."""
    resolved = scenario.resolved()
    queue, topology = resolved["queue"], resolved["topology"]
    mark = re.fullmatch(r"(\d+)p", str(queue.get("mark", "")))
    kinds = {(entry.get("controller") or resolved.get("controller", {})).get("kind") for entry in resolved["traffic"]}
    if topology["kind"] != "dumbbell" or queue["kind"] != "ecn-threshold" or not mark or kinds != {"dctcp"}:
        return None
    if any(app["kind"] != "bulk" or "size" in app for app in _applications(resolved)):
        return None
    flows = closed_form.ideal_fct(scenario)["idle_rtt_s"]
    rate = topology["bottleneck_link"]["rate"]
    packet = resolved["transport"]["mss"] + resolved["transport"]["header"] + topology["bottleneck_link"]["overhead"]
    figures = closed_form.evaluate(
        "dctcp-queue", flows=len(flows), rate=rate, rtt=float(np.mean(flows)), threshold=int(mark[1]), packet=packet
    )
    return float(figures["queue_max_packets"])


FORMS = (
    Form("fair-share", "flows.throughput_mean_bps", "max-min fair share (goodput)", _fair_share),
    Form("ideal-fct", "fct.mean_s", "on the empty network", _ideal_fct),
    Form("dctcp-queue", "queues.busiest.max_packets", "DCTCP's sawtooth, largest queue", _dctcp_queue),
)


@dataclass(frozen=True)
class Line:
    """One line of the picture: the values of the axis, measured means, and the closed form if it exists."""

    label: str
    x: list[float]
    measured: list[Estimate]
    form: list[float | None]


@dataclass(frozen=True)
class Beside:
    """A figure of a study over one of its axes, with its closed form."""

    key: str
    axis_unit: str
    figure: str
    form: Form
    lines: list[Line]

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per point."""
        return [
            {"line": line.label, self.key: x, "measured": m.mean, "half_width": m.half_width, self.form.name: f}
            for line in self.lines
            for x, m, f in zip(line.x, line.measured, line.form, strict=True)
        ]

    def drawn(self, file: Path | None) -> dict[str, list[Any]]:
        """Return the columns of the rows, and draw the picture into a file if one is given."""
        if file is not None:
            if file.suffix != ".png":
                raise ModelError(f"--plot {file}: for a study, expected a .png file")
            curves.write(file, picture(self))
        rows = self.rows()
        return {word: [row[word] for row in rows] for word in rows[0]}


def of(store: Store, study: Definition, figure: str, key: str = "") -> Beside:
    """Return a figure of a study with its closed form, over the axis ``key`` (default: the first numeric axis).

    Raises ``StudyError`` if the figure has no closed form, the axis is unknown, or the form holds in no run.
    """
    forms = {form.figure: form for form in FORMS}
    if figure not in forms:
        raise StudyError(f"no closed form of {figure}{nearest(figure, list(forms))}: expected {', '.join(forms)}")
    form = forms[figure]
    axes = [axis.key for axis in study.axes]
    ordered = [axis.key for axis in study.axes if all(_number(v) for v in axis.listed(study.design_seed))]
    key = key or (ordered[0] if ordered else "")
    if key not in ordered:
        where = f"axis {key}" if key else "the study"
        raise StudyError(f"{where}: expected a numeric axis to draw over; available: {', '.join(ordered) or 'none'}")
    by_point: dict[Point, list[float]] = {}
    for row in store.runs.to_pylist():
        if row["study"] == study.name and row.get(figure) is not None:
            values = {axis: row[axis] for axis in axes}
            by_point.setdefault(Point(row["scenario"], row["arm"], values), []).append(float(row[figure]))
    groups: dict[str, list[tuple[float, Estimate, float | None]]] = {}
    units: set[str] = set()
    for point, measured in by_point.items():
        settings = [f"{name} = {value}" for name, value in point.values.items() if name != key]
        place, unit = _number(point.values[key]) or (0.0, "")
        units.add(unit)
        found = estimate(measured)
        if found is not None:
            label = ", ".join([point.scenario, *filter(None, [point.arm]), *settings])
            groups.setdefault(label, []).append((place, found, form.of(study.scenario_of(point))))
    if not any(value is not None for group in groups.values() for _, _, value in group):
        raise StudyError(f"{form.name}: its assumptions hold in no run of {study.name} that has {figure}")
    if len(units) > 1:
        raise StudyError(f"axis {key}: its values have the units {', '.join(sorted(units))}: expected one to draw over")
    lines = []
    for label, group in groups.items():
        group.sort(key=lambda one: one[0])
        lines.append(Line(label, *(list(column) for column in zip(*group, strict=True))))
    return Beside(key, units.pop(), figure, form, lines)


def _number(value: Any) -> tuple[float, str] | None:
    """Read a number with its unit; ``None`` for other values."""
    found = re.fullmatch(r"([-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?)([A-Za-z]*)", str(value))
    return None if found is None or isinstance(value, bool) else (float(found[1]), found[2])


def picture(beside: Beside) -> bytes:
    """Draw measured means with 95 % intervals, and the closed form as a line of the same colour."""
    from incast.pictures.style import COLOURS, INK, MARKERS, dress, legend, new_canvas, png_bytes, time_unit

    unit, scale = {"bps": ("Gb/s", 1e-9)}.get(beside.figure.rpartition("_")[2], ("packets", 1.0))
    if beside.figure.endswith("_s"):
        unit, scale = time_unit(max(m.mean for line in beside.lines for m in line.measured))
    canvas = new_canvas(7.2, 4.2)
    axes = canvas.subplots()
    for number, line in enumerate(beside.lines):
        colour = COLOURS[number % len(COLOURS)]
        axes.errorbar(
            line.x,
            [m.mean * scale for m in line.measured],
            yerr=[(m.half_width or 0.0) * scale for m in line.measured],
            fmt=MARKERS[number % len(MARKERS)],
            color=colour,
            markersize=4.5,
            capsize=2,
            label=f"{line.label}: measured, 95 %",
        )
        known = [(x, value * scale) for x, value in zip(line.x, line.form, strict=True) if value is not None]
        if known:
            axes.plot(
                *zip(*known, strict=True), "--", color=colour, linewidth=1.4, label=f"{line.label}: {beside.form.what}"
            )
    dress(axes)
    axes.set_ylim(bottom=0)
    axes.set_xlabel(f"{beside.key} ({beside.axis_unit})" if beside.axis_unit else beside.key, fontsize=9, color=INK)
    axes.set_ylabel(f"{beside.figure} ({unit})", fontsize=9, color=INK)
    axes.set_title(
        f"Measured, with the model {beside.form.name}", fontsize=10, color=INK, loc="left", fontweight="bold"
    )
    legend(canvas, [axes])
    return png_bytes(canvas)
