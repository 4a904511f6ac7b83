"""Closed-form models: figures as functions of parameters, and bounds of a scenario's flows.

>>> import incast
>>> found = incast.model.swift(q=0.01)
>>> round(found["mean_window_packets"], 3)
12.247
>>> [round(gbps / 1e9, 1) for gbps in incast.model.lswift(q=[0.01, 0.04])["throughput_bps"]]
[43.4, 25.6]

Parameters are numbers in SI units, texts with units (``"14us"``, ``"100Gbps"``, ``"4kB"``), or sequences and arrays of
numbers, which are broadcast. ``incast describe model swift`` lists them with the figures.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from incast import _core
from incast.errors import ModelError

if TYPE_CHECKING:
    from incast.runs.scenario import Scenario

Value = float | str | Sequence[float] | npt.NDArray[Any]
"""A number, a quantity with its unit, or numbers."""

Figures = dict[str, Any]
"""Figures by name: ``float`` if all parameters are scalars, otherwise an array of the broadcast shape."""


@dataclass(frozen=True)
class Parameter:
    """Declaration of a model's parameter."""

    name: str
    quantity: str
    """``number``, ``time`` (seconds), ``rate`` (bits per second) or ``size`` (bytes)."""
    unit: str
    """Unit of a plain number."""
    default: float | None
    """Default as text; ``None`` if the parameter must be given."""
    default_text: str | None
    expected: str
    source: str
    doc: str

    def read(self, text: str) -> float:
        """Read a value in the user's notation; raises ``ModelError``."""
        try:
            return _core.model_quantity(self.quantity, text)
        except ModelError as error:
            raise ModelError(f"{self.name} = {error}") from None


@dataclass(frozen=True)
class FigureOf:
    """Declaration of a model's figure."""

    name: str
    unit: str
    doc: str


@dataclass(frozen=True)
class Model:
    """Declaration of a model."""

    name: str
    title: str
    source: str
    what: str
    assumptions: tuple[str, ...]
    fails: tuple[str, ...]
    parameters: tuple[Parameter, ...]
    figures: tuple[FigureOf, ...]

    def parameter(self, name: str) -> Parameter:
        """Find a parameter; raises ``ModelError``."""
        for parameter in self.parameters:
            if parameter.name == name:
                return parameter
        known = ", ".join(p.name for p in self.parameters)
        raise ModelError(f"{self.name} has no parameter {name}: expected one of {known}")

    def figure(self, name: str) -> FigureOf:
        """Find a figure; raises ``ModelError``."""
        for figure in self.figures:
            if figure.name == name:
                return figure
        known = ", ".join(f.name for f in self.figures)
        raise ModelError(f"{self.name} has no figure {name}: expected one of {known}")


def names() -> list[str]:
    """Names of the models that are functions of parameters."""
    return _core.model_names()


@cache
def find(name: str) -> Model:
    """Find a model by name; raises ``ModelError``."""
    declaration = _core.model_declaration(name, list(SCENARIO_FIGURES))
    parameters = tuple(Parameter(**p) for p in declaration.pop("parameters"))
    figures = tuple(FigureOf(**f) for f in declaration.pop("figures"))
    assumptions, fails = tuple(declaration.pop("assumptions")), tuple(declaration.pop("fails"))
    return Model(**declaration, assumptions=assumptions, fails=fails, parameters=parameters, figures=figures)


def evaluate(name: str, /, **parameters: Value) -> Figures:
    """Compute the figures of a model.

    Raises ``ModelError`` for an unknown, missing or invalid parameter.
    """
    model = find(name)
    for given in parameters:
        model.parameter(given)
    columns = []
    for parameter in model.parameters:
        value = parameters.get(parameter.name, parameter.default)
        if value is None:
            raise ModelError(f"{name}: {parameter.name} must be given: expected {parameter.expected}")
        try:
            columns.append(np.asarray(parameter.read(value) if isinstance(value, str) else value, dtype=np.float64))
        except (TypeError, ValueError):
            raise ModelError(f"{name}: {parameter.name} = {value!r}: expected {parameter.expected}") from None
    try:
        shaped = np.broadcast_arrays(*columns)
    except ValueError:
        shapes = ", ".join(f"{p.name} {c.shape}" for p, c in zip(model.parameters, columns, strict=True) if c.shape)
        raise ModelError(f"{name}: expected arrays of one shape, or that broadcast to one: {shapes}") from None
    shape = shaped[0].shape
    try:
        arrays = _core.model_evaluate(name, [np.ascontiguousarray(column).ravel() for column in shaped])
    except ModelError as error:
        raise ModelError(f"{name}: {error}") from None
    pairs = zip(model.figures, arrays, strict=True)
    return {figure.name: array.reshape(shape) if shape else float(array[0]) for figure, array in pairs}


def mathis(*, p: Value, **others: Value) -> Figures:
    """TCP under random losses (Mathis et al. 1997)."""
    return evaluate("mathis", p=p, **others)


def tcp(*, q: Value, **others: Value) -> Figures:
    """TCP over many paths, one in 1/q slow: theorem 1 of Gerstein et al."""
    return evaluate("tcp", q=q, **others)


def dctcp(*, q: Value, **others: Value) -> Figures:
    """DCTCP over many paths, one in 1/q slow: theorem 2."""
    return evaluate("dctcp", q=q, **others)


def swift(*, q: Value, **others: Value) -> Figures:
    """Swift over many paths, one in 1/q slow: theorem 3."""
    return evaluate("swift", q=q, **others)


def fastflow(*, q: Value, **others: Value) -> Figures:
    """FastFlow over many paths, one in 1/q slow: theorem 4."""
    return evaluate("fastflow", q=q, **others)


def lswift(*, q: Value, **others: Value) -> Figures:
    """LSwift, which ignores reordering, over many paths, one in 1/q slow: theorem 5."""
    return evaluate("lswift", q=q, **others)


def mswift(*, q: Value, **others: Value) -> Figures:
    """MSwift over many paths, one in 1/q slow: the window never falls."""
    return evaluate("mswift", q=q, **others)


def dctcp_queue(*, flows: Value, **others: Value) -> Figures:
    """DCTCP's queue in the steady state (Alizadeh et al. 2010)."""
    return evaluate("dctcp-queue", flows=flows, **others)


def astra(**parameters: Value) -> Figures:
    """Messages in ASTRA-sim's analytical networks."""
    return evaluate("astra", **parameters)


SCENARIO_FIGURES = {
    "ideal-fct": (
        "The empty network: every flow alone, without a window limit",
        (
            FigureOf("hops", "links", "Links of the flow's path."),
            FigureOf("idle_rtt_s", "s", "Round-trip time of a full packet and its ACK on the empty network."),
            FigureOf(
                "ideal_fct_s",
                "s",
                "Time from the start to the ACK of the last byte on the empty network; NaN without a size.",
            ),
        ),
    ),
    "fair-share": (
        "Max-min fair shares of the links, as goodput, with all flows active",
        (
            FigureOf("fair_share_bps", "bit/s", "Share over the flow's routed path."),
            FigureOf("edge_share_bps", "bit/s", "Share if only the links of hosts could be full."),
        ),
    ),
}
"""Models of a scenario's flows: titles and figures."""


def ideal_fct(scenario: Scenario) -> Figures:
    """Every flow on the empty network: end hosts, hops, idle RTT and ideal completion time, one item per flow."""
    return bounds("ideal-fct", scenario)


def fair_share(scenario: Scenario) -> Figures:
    """Max-min fair goodput of every flow, over its path and over host links alone, one item per flow."""
    return bounds("fair-share", scenario)


def bounds(name: str, scenario: Scenario) -> Figures:
    """Compute one of the models of ``SCENARIO_FIGURES``."""
    with scenario.looked_at():
        columns = _core.model_bounds(scenario.core)
    wanted = ["src", "dst", *(figure.name for figure in SCENARIO_FIGURES[name][1])]
    return {name: cast(Any, columns[name]) for name in wanted}


def listing() -> list[tuple[str, str]]:
    """Return names and titles of all models."""
    return [(name, find(name).title) for name in names()] + [(n, what) for n, (what, _) in SCENARIO_FIGURES.items()]


def description(name: str) -> str:
    """Describe a model: parameters, figures, source, assumptions, limits."""
    if name in SCENARIO_FIGURES:
        what, figures = SCENARIO_FIGURES[name]
        head = [f"{what} ({name})", "", f"For every flow of a scenario: incast model {name} SCENARIO", ""]
        return "\n".join([*head, *_figures(figures), ""])
    model = find(name)
    lines = [f"{model.title} ({name})", "", model.what, "", f"Source: {model.source}.", "", "Parameters:"]
    for p in model.parameters:
        value = f" = {p.default_text}" if p.default_text is not None else " (must be given)"
        lines.append(f"  --{option(p.name)}{value}{' ' + p.unit if p.unit else ''}")
        source = f" Default: {p.source}." if p.source else ""
        lines.append(f"      {p.doc} Expected: {p.expected}.{source}")
    lines += ["", *_figures(model.figures), "", "Assumptions:", *(f"  - {one}" for one in model.assumptions)]
    lines += ["", "Limits:", *(f"  - {one}" for one in model.fails), ""]
    return "\n".join(lines)


def _figures(figures: Sequence[FigureOf]) -> list[str]:
    return ["Figures:", *(f"  {f.name}{f' ({f.unit})' if f.unit else ''}\n      {f.doc}" for f in figures)]


def option(name: str) -> str:
    """Return a parameter's name as an option."""
    return name.replace("_", "-")
