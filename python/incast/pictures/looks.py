"""Looks of pictures: for a screen, and for one or two columns of a paper.

A picture for a paper has no title, text of 8 points at its printed size, and lines that differ in colour, dash and
marker. Files embed their fonts: PDF as TrueType, SVG as outlines.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap

from incast.errors import StudyError
from incast.pictures.recorded import Numbers
from incast.pictures.style import GREY, GRID, INK, Canvas, line, time_unit
from incast.system.output import nearest

COLOURS = LinearSegmentedColormap.from_list(
    "incast-q", ["#ffffff", "#fdf1d8", "#f9d592", "#efa64c", "#da6f34", "#ae3a33", "#6d1736", "#2c0a26"]
)
"""Sequential colours: lightness falls steadily, also in grey."""
MARKS = 7
"""Markers of a long line, which only tell lines apart."""


@dataclass(frozen=True)
class Look:
    """Size and text of a picture."""

    name: str
    width: float
    """Inches."""
    height: float
    """Inches, of a picture with one row of panels."""
    font: str
    points: float
    """Size of labels; ticks and legends are a point smaller."""
    line: float
    """Width of lines, in points."""
    titled: bool
    abreast: int
    """Most panels in a row."""
    format: str
    """Default format of its files."""
    rc: Any = field(init=False, compare=False)
    """Matplotlib's settings of the look."""

    def __post_init__(self) -> None:
        small = self.points - 1
        rc = {
            "font.family": self.font,
            "font.size": self.points,
            "mathtext.fontset": "stix" if self.font.startswith("STIX") else "dejavusans",
            "axes.labelsize": self.points,
            "axes.titlesize": self.points,
            "xtick.labelsize": small,
            "ytick.labelsize": small,
            "legend.fontsize": small,
            "legend.title_fontsize": small,
            "axes.linewidth": 0.6 if self.line < 1.5 else 0.8,
            "xtick.major.width": 0.6,
            "ytick.major.width": 0.6,
            "pdf.fonttype": 42,
            "svg.fonttype": "path",
        }
        object.__setattr__(self, "rc", rc)

    def set(self) -> AbstractContextManager[None]:
        """Apply the settings in a block."""
        return rc_context(self.rc)


LOOKS = {
    look.name: look
    for look in (
        Look("screen", 7.2, 4.0, "DejaVu Sans", 9, 1.6, True, 2, "png"),
        Look("paper", 3.33, 2.1, "STIXGeneral", 8, 1.0, False, 1, "pdf"),
        Look("paper-wide", 7.0, 2.3, "STIXGeneral", 8, 1.0, False, 3, "pdf"),
    )
}
"""The looks by name: ``screen``, ``paper`` (a column of 3.33 inches) and ``paper-wide`` (two columns, 7 inches)."""


def look_of(name: str) -> Look:
    """Return a look by name; raises ``StudyError`` for an unknown one."""
    if not isinstance(name, str) or name not in LOOKS:
        near = nearest(name, list(LOOKS)) if isinstance(name, str) else ""
        raise StudyError(f"style = {name!r}: expected one of {', '.join(LOOKS)}{near}")
    return LOOKS[name]


def file_of(kind: str, choice: str, look: Look) -> str:
    """Return the name of the file of a picture of a kind, without extension."""
    return "-".join(filter(None, [kind, choice, look.name]))


def is_in_a_look(name: str) -> bool:
    """Return whether a name is one of ``file_of``, as names of pictures of reports are not."""
    return name.endswith(tuple(f"-{look}" for look in LOOKS))


class Picture(Canvas):
    """A figure that keeps the settings of its look when it is drawn and written."""

    def __init__(self, look: Look, height: float) -> None:
        self.look = look
        super().__init__(figsize=(look.width, height), dpi=160, layout="constrained", facecolor="white")

    def draw(self, renderer: Any) -> None:
        """Draw with the settings: ticks and their labels are made now."""
        with self.look.set():
            super().draw(renderer)

    def savefig(self, fname: Any, **options: Any) -> None:
        """Write with the settings: fonts are embedded."""
        with self.look.set():
            super().savefig(fname, **options)


def panels(
    look: Look, count: int, *, height: float = 1.0, share: Literal["none", "all"] = "all", abreast: int = 0
) -> tuple[Picture, list[Axes]]:
    """Make a picture with equal panels, as many in a row as the look has room for, or ``abreast``.

    ``height`` is a factor of the look's height per row; ``share``: which axes share their scales.
    """
    columns = min(count, abreast or look.abreast)
    rows = -(-count // columns)
    picture = Picture(look, look.height * height * (rows if rows == 1 else 0.8 * rows))
    grid = picture.subplots(rows, columns, squeeze=False, sharex=share, sharey=share).ravel().tolist()
    for unused in grid[count:]:
        unused.remove()
    for axes in grid[:count]:
        dress(axes)
    return picture, grid[:count]


def dress(axes: Axes) -> None:
    """Apply the common style: two spines, a light grid below the lines."""
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(GREY)
    axes.tick_params(colors=INK)
    axes.grid(visible=True, which="major", color=GRID, linewidth=0.5)
    axes.set_axisbelow(True)


def stroke(look: Look, number: int, points: int = 0) -> dict[str, Any]:
    """Return the style of a line by number: colour, dash, and markers at some of its points (0: no markers)."""
    own = line(number)
    every = max(1, points // MARKS)
    marker = {"marker": own["marker"], "markevery": (number * every // 3 % every, every)} if points else {}
    size = 2.4 * look.line + 0.8
    return {"color": own["color"], "linestyle": own["linestyle"], "linewidth": look.line, "markersize": size, **marker}


def title(look: Look, axes: Axes, words: str) -> None:
    """Set the title of a panel, where the look has titles."""
    if look.titled and words:
        axes.set_title(words, loc="left", color=INK)


def name_panel(axes: Axes, words: str) -> None:
    """Name one of several panels, inside it: a caption cannot."""
    axes.annotate(
        words, (0, 1), (2, 3), xycoords="axes fraction", textcoords="offset points", ha="left", va="bottom", color=INK
    )


def legend(picture: Picture, drawn: Sequence[Axes], names: Iterable[str] = ()) -> None:
    """Draw one legend above all panels, if they have more than one line, or lines of these names."""
    there: dict[str, Any] = {}
    for axes in drawn:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            there.setdefault(label, handle)
    kept = {name: there[name] for name in names if name in there} or there
    if len(kept) < 2 and not names:
        return
    letters = max(map(len, kept)) + 6
    columns = max(1, min(len(kept), int(picture.look.width * 120 / picture.look.points) // letters))
    picture.legend(
        list(kept.values()),
        list(kept),
        loc="outside upper center",
        ncols=columns,
        frameon=False,
        labelcolor=INK,
        handlelength=2.6,
        columnspacing=1.2,
        borderaxespad=0.1,
    )


RATES = ((1e12, "Tb/s"), (1e9, "Gb/s"), (1e6, "Mb/s"), (1e3, "kb/s"), (1.0, "b/s"))
BYTES = ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B"))
"""Units of an axis, the largest first."""


def unit_of(most: float, units: Sequence[tuple[float, str]]) -> tuple[str, float]:
    """Return the unit of an axis whose largest value is ``most``, and the factor to it."""
    size, unit = next((one for one in units if most >= one[0]), units[-1])
    return unit, 1 / size


def time_word(most_s: float) -> tuple[str, float]:
    """Return the unit of a time axis as it is printed, and the factor from seconds."""
    unit, scale = time_unit(most_s)
    return unit.replace("us", "µs"), scale


def cdf(axes: Axes, look: Look, number: int, values: Numbers, shares: Numbers, label: str) -> None:
    """Draw a CDF, from 0 at the smallest value."""
    x, y = (np.r_[values[0], values], np.r_[0.0, shares]) if len(values) else (values, shares)
    axes.step(x, y, where="post", label=label, **stroke(look, number, len(x) or 1))


def share_axes(drawn: Sequence[Axes], label: str) -> None:
    """Set the axes of CDFs: x from zero, y to 1."""
    right = max(axes.get_xlim()[1] for axes in drawn)
    for axes in drawn:
        axes.set_ylim(0, 1.02)
        axes.set_xlim(0, 1.05 * right)
        axes.set_ylabel(label, color=INK)
