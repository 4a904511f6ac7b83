"""Picture of a deadlock: switches on a circle, and from each the paused port that leads to the next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import cos, radians, sin
from typing import TYPE_CHECKING

from matplotlib.patches import FancyArrowPatch

from incast.pauses import telling
from incast.pictures.style import INK, Canvas, new_canvas
from incast.system.output import counted, escaped

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from incast.pauses.record import Record

RED = "#a8322a"
"""Colour of what never goes on."""
CIRCLE, WORDS, APART = 1.0, 1.22, 19.0
"""Radius of the circle and of the words around it, and degrees around a switch without an arrow."""
NAMED = 12
"""Most ports of a ring with words at them."""


@dataclass(frozen=True)
class Arc:
    """An arrow from one switch of a ring to the next, in degrees clockwise from the top."""

    begin: float
    end: float

    @property
    def middle(self) -> float:
        """Middle of the arrow."""
        return (self.begin + self.end) / 2


def arcs(count: int) -> list[Arc]:
    """Return the arrows of a ring of so many ports."""
    step = 360 / count
    apart = min(APART, step / 4)
    return [Arc(i * step + apart, (i + 1) * step - apart) for i in range(count)]


def draw(known: Record, ring: Sequence[int]) -> Canvas:
    """Draw a ring of ports that wait for one another."""
    canvas = new_canvas(4.8, 4.4)
    axes = canvas.subplots()
    axes.set_axis_off()
    axes.set_aspect("equal")
    axes.set_xlim(-1.7, 1.7)
    axes.set_ylim(-1.45, 1.45)
    for i, (port, arc) in enumerate(zip(ring, arcs(len(ring)), strict=True)):
        _arrow(axes, arc)
        if len(ring) > NAMED:
            axes.plot(*_place(i * 360 / len(ring), CIRCLE), marker="o", color=INK, markersize=3)
            continue
        x, y = _place(i * 360 / len(ring), CIRCLE)
        name = escaped(known.names[port].partition(">")[0])
        axes.text(x, y, name, parse_math=False, ha="center", va="center", fontsize=9, color=INK)
        x, y = _place(arc.middle, WORDS)
        side = "center" if abs(x) < 0.15 else "left" if x > 0 else "right"
        axes.text(x, y, _words(known, ring, i), ha=side, va="center", fontsize=7, color=INK)
    since = telling.since(known, ring)
    canvas.suptitle(f"Deadlock since {since}: {counted(len(ring), 'port')} in a ring", fontsize=9, color=INK)
    canvas.supxlabel(
        "An arrow is a paused port; the switch at its tip holds so many bytes from it, which wait for the next arrow.",
        fontsize=6.5,
        color=INK,
    )
    return canvas


def _words(known: Record, ring: Sequence[int], at: int) -> str:
    """Return what stands at an arrow: bytes that wait, and since when."""
    port, beyond = ring[at], ring[(at + 1) % len(ring)]
    return f"{telling.size(known.held_for(port, beyond))}\nsince {telling.since(known, [port])}"


def _arrow(axes: Axes, arc: Arc) -> None:
    """Draw an arrow along the circle: the chord's bulge is that of its arc."""
    bulge = sin(radians(arc.end - arc.begin) / 4) / cos(radians(arc.end - arc.begin) / 4) / 2
    ends = _place(arc.begin, CIRCLE), _place(arc.end, CIRCLE)
    axes.add_patch(
        FancyArrowPatch(
            *ends,
            connectionstyle=f"arc3,rad={-2 * bulge:.4f}",
            arrowstyle="-|>",
            mutation_scale=11,
            linewidth=1.8,
            color=RED,
            shrinkA=0,
            shrinkB=0,
        )
    )


def _place(degrees: float, radius: float) -> tuple[float, float]:
    return radius * sin(radians(degrees)), radius * cos(radians(degrees))
