"""Style of pictures: palette, lines, numbered axes, and file formats."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib import rc_context, rcdefaults
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullFormatter, NullLocator

from incast.errors import StudyError
from incast.system import output

if output.is_program:  # Matplotlib reads a matplotlibrc in the working directory, which may run TeX for each text
    rcdefaults()

FORMATS = ("png", "svg", "pdf")
"""Image formats."""

# distinguishable with every common kind of colour blindness; line style and marker repeat the distinction for print in
# grey. The same as --c1 to --c8 of report.css
COLOURS = ["#0064a6", "#bc4506", "#1c8d72", "#9f1b74", "#bc8205", "#20262e", "#0099cb", "#3f4b44"]
DARKEST = COLOURS[5]
"""Colour on which ink is not visible."""
MARKERS = ["o", "s", "^", "D", "v", "P", "X", "*"]
HATCHES = ["", "//", "\\\\", "xx", "..", "--", "||", "++"]
STYLES = ["-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (8, 2)), (0, (3, 1)), (0, (1, 1))]

INK, GRID, GREY = "#161b22", "#e8ebef", "#808995"
DARK_TEXT, LIGHT_TEXT = "#161b23", "#fefefe"
"""Text on coloured cells, which have the same colours in a dark page."""
OTHERS = "#c3c9d1"
"""Colour of the other lines in the panel of one."""

ABREAST = 8
"""Most series that are easy to tell apart in one panel; more of them have a panel each."""

MOST_ABREAST = 4
"""Most names in a row of a legend."""

LETTER, HANDLE = 0.065, 0.6
"""Width of a letter of a legend and of the line before a name, in inches."""

LOG_SPAN = 5.0
"""Ratio of the largest to the smallest value from which a numeric x axis is logarithmic."""

TIME_UNITS = [(1.0, "s"), (1e-3, "ms"), (0.0, "µs")]
"""Units of a time axis, with the smallest span of each in seconds."""


def time_unit(span_s: float) -> tuple[str, float]:
    """Return the unit of a time axis for a span, and the factor from seconds."""
    unit = next(unit for least, unit in TIME_UNITS if span_s >= least)
    return unit, {"s": 1.0, "ms": 1e3, "µs": 1e6}[unit]


def line(number: int, marker: bool = True) -> dict[str, Any]:
    """Return the style of a line by number: the first 64 differ in colour, line style or marker."""
    turn = number // len(COLOURS)
    return {
        "color": COLOURS[number % len(COLOURS)],
        "linestyle": STYLES[(number + turn) % len(STYLES)],
        "marker": MARKERS[(number + 2 * turn) % len(MARKERS)] if marker else None,
        "markersize": 4.5,
        "linewidth": 1.6,
    }


def area(number: int) -> dict[str, Any]:
    """Return the style of bars by number: the first 64 differ in colour or hatching."""
    return {
        "color": COLOURS[number % len(COLOURS)],
        "hatch": HATCHES[number // len(COLOURS) % len(HATCHES)],
        "edgecolor": "white",
        "linewidth": 0.0,
    }


class Canvas(Figure):
    """A figure that notebooks show, even without pyplot."""

    def _repr_png_(self) -> tuple[bytes, dict[str, int]]:
        return png_bytes(self), {"width": round(96 * self.get_figwidth())}


def new_canvas(width: float, height: float) -> Canvas:
    """Make a canvas, in inches."""
    # without pyplot, which keeps figures in global state and is not thread-safe
    return Canvas(figsize=(width, height), dpi=160, layout="constrained", facecolor="white")


def abreast(count: int, most: int) -> int:
    """Return the columns for ``count`` panels: fewest rows of at most ``most`` panels, as even as possible."""
    return -(-count // -(-count // most))


def dress(axes: Axes) -> None:
    """Apply the common style to axes."""
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(GREY)
    axes.tick_params(colors=INK, labelsize=8)
    axes.grid(visible=True, which="major", color=GRID, linewidth=0.7)
    axes.set_axisbelow(True)


def png_bytes(canvas: Figure) -> bytes:
    """Write a canvas as PNG."""
    return picture_bytes(canvas, "png")


def picture_bytes(canvas: Figure, kind: str) -> bytes:
    """Write a canvas as a file of one of ``FORMATS``."""
    buffer = io.BytesIO()
    # reproducible bytes: no dates, random names or program versions
    nothing = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {"Software": None}}
    with rc_context({"svg.hashsalt": "incast"}):
        canvas.savefig(buffer, format=kind, metadata=nothing[kind])
    return buffer.getvalue()


def arrange(canvas: Figure) -> None:
    """Fix the places of panels and labels, which Matplotlib else finds anew for every format: half of the work."""
    if canvas.get_layout_engine() is not None:
        canvas.draw_without_rendering()
        with rc_context({"figure.autolayout": False, "figure.constrained_layout.use": False}):
            canvas.set_layout_engine(None)


def formats_of(text: str) -> tuple[str, ...]:
    """Read ``png,svg,pdf``; raises ``StudyError``."""
    kinds = tuple(dict.fromkeys(word.strip() for word in text.split(",")))
    if unknown := [kind for kind in kinds if kind not in FORMATS]:
        raise StudyError(f'--format "{text}": unknown format "{unknown[0]}"; expected {", ".join(FORMATS)}')
    return kinds


def plain(value: float, _position: object = None) -> str:
    """Format a number on an axis."""
    return f"{value:.10g}" if 1e-4 <= abs(value) < 1e6 or value == 0 else f"{value:g}"


_BETWEEN: list[tuple[int, ...]] = [(1,), (1, 3), (1, 2, 5), (1, 2, 3, 5, 7), tuple(range(1, 10))]
"""Labelled numbers of a decade, sparsest first."""

FEWEST, MOST = 3, 9
"""Fewest and most labels of a logarithmic axis."""


def log_ticks(low: float, high: float) -> list[float]:
    """Return the labelled ticks of a logarithmic axis: at least three, however short the axis."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for step in range(1, len(decades) + 1):
        whole = [10.0**k for k in decades if k % step == 0 and low <= 10.0**k <= high * (1 + 1e-12)]
        if len(whole) <= MOST:
            break
    if len(whole) >= FEWEST:
        return whole
    for digits in _BETWEEN[1:]:
        ticks = [digit * 10.0**k for k in decades for digit in digits if low <= digit * 10.0**k <= high * (1 + 1e-12)]
        if len(ticks) >= FEWEST:
            return ticks
    even = MaxNLocator(nbins=6, steps=[1, 2, 2.5, 5, 10]).tick_values(low, high)
    return [float(tick) for tick in even if low <= tick <= high]


def numbered_log(axes: Axes, which: str = "y") -> None:
    """Make an axis logarithmic with plain numbers; call it after drawing."""
    axis: Axis = axes.yaxis if which == "y" else axes.xaxis
    (axes.set_yscale if which == "y" else axes.set_xscale)("log")
    low, high = sorted(axes.get_ylim() if which == "y" else axes.get_xlim())
    if low <= 0:  # limits were set, or there are no values above zero
        low, high = (high / 1e3, high) if high > 0 else (0.1, 1.0)
    ticks = log_ticks(low, high)
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    axis.set_major_locator(FixedLocator(ticks))
    axis.set_major_formatter(FuncFormatter(plain))
    between = [digit * 10.0**k for k in decades for digit in range(2, 10)] if len(decades) <= 6 else []
    axis.set_minor_locator(FixedLocator(between) if between else NullLocator())
    axis.set_minor_formatter(NullFormatter())
    axes.grid(visible=True, which="minor", axis="y" if which == "y" else "x", color=GRID, linewidth=0.35)


_QUANTITIES = {
    "": ("number", 1.0),
    "%": ("share", 1.0),
    "p": ("packets", 1.0),
    **{unit: ("time", factor) for unit, factor in (("ps", 1e-12), ("ns", 1e-9), ("us", 1e-6), ("ms", 1e-3), ("s", 1))},
    **{unit: ("size", factor) for unit, factor in (("B", 1), ("kB", 1e3), ("MB", 1e6), ("GB", 1e9))},
    **{unit: ("size", factor) for unit, factor in (("KiB", 2**10), ("MiB", 2**20), ("GiB", 2**30))},
    **{
        unit: ("rate", factor)
        for unit, factor in (("bps", 1), ("kbps", 1e3), ("Mbps", 1e6), ("Gbps", 1e9), ("Tbps", 1e12))
    },
}
"""Units of scenario values: quantity, and factor to the base unit."""


@dataclass(frozen=True)
class Places:
    """Places of a key's values on an axis."""

    values: tuple[str, ...]
    at: tuple[float, ...]
    numeric: bool

    @property
    def log(self) -> bool:
        """True for a logarithmic axis: numbers above zero that span a factor of ``LOG_SPAN``."""
        return self.numeric and spans(self.at)

    @property
    def order(self) -> list[int]:
        """Indices of the values from left to right."""
        return sorted(range(len(self.at)), key=self.at.__getitem__)


def spans(numbers: Iterable[float]) -> bool:
    """Return whether numbers need a logarithmic axis; all pictures use this rule."""
    found = list(numbers)
    return bool(found) and min(found) > 0 and max(found) / min(found) >= LOG_SPAN


def places(values: Sequence[str]) -> Places:
    """Place values on an axis: by size if all are numbers of one quantity, with or without units; else evenly."""
    found = []
    for value in values:
        match = re.fullmatch(r"\s*(-?[0-9]+(?:\.[0-9]+)?(?:e-?[0-9]+)?)\s*([A-Za-z%]*)\s*", value)
        if match is None or match[2] not in _QUANTITIES:
            break
        quantity, factor = _QUANTITIES[match[2]]
        found.append((quantity, float(match[1]) * factor))
    if len(found) == len(values) and len({quantity for quantity, _ in found}) == 1:
        return Places(tuple(values), tuple(place for _, place in found), True)
    return Places(tuple(values), tuple(float(i) for i in range(len(values))), False)


def x_axis(axes: Axes, x: Places, most: int = 44) -> None:
    """Label an x axis with values as written; labels are rotated beyond ``most`` characters."""
    if x.log:
        axes.set_xscale("log")
        axes.xaxis.set_minor_locator(NullLocator())
    aslant = sum(len(value) + 2 for value in x.values) > most
    axes.set_xticks([x.at[j] for j in x.order], [x.values[j] for j in x.order])
    if aslant:
        axes.tick_params(axis="x", rotation=35)
    if not x.numeric:
        axes.set_xlim(-0.5, len(x.at) - 0.5)


def legend(canvas: Figure, panels: Iterable[Axes], note: str = "") -> None:
    """Draw one legend for all panels below them, with a footnote above it."""
    # a panel lacks controllers without the figure
    shown = {label: handle for axes in panels for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)}
    if not shown and note:
        canvas.supxlabel(note, fontsize=7, color=INK, x=0.01, ha="left")
    if shown:
        width = HANDLE + LETTER * max(map(len, shown))
        canvas.legend(
            list(shown.values()),
            list(shown),
            loc="outside lower center",
            ncols=min(len(shown), MOST_ABREAST, max(1, int(canvas.get_figwidth() / width))),
            frameon=False,
            fontsize=8,
            labelcolor=INK,
            handlelength=3.2,
            title=note or None,
            title_fontproperties={"size": 7},
        )
