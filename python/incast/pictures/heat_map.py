"""Heat maps of a figure over two keys: panels that share one colour scale, with outlined cells."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from matplotlib.cm import ScalarMappable
from matplotlib.colors import Colormap, LinearSegmentedColormap, LogNorm, Normalize
from matplotlib.figure import Figure as Canvas
from matplotlib.patches import Rectangle

from incast.pictures.style import DARK_TEXT, GREY, INK, LIGHT_TEXT, abreast, new_canvas, places, plain, spans

Place = tuple[str, str]
"""Values on the x axis and on the y axis."""

COLOURS: Colormap = LinearSegmentedColormap.from_list(
    "incast", ["#fff8e8", "#fdf1d8", "#f9d592", "#efa64c", "#da6f34", "#ae3a33", "#6d1736"]
)
"""Sequential colours, from near the ground to dark: lightness falls steadily, also in grey."""
DARK = 0.62
"""Position in the colours from which numbers are white."""
PANELS_ABREAST = 3
"""Panels per row."""


@dataclass(frozen=True)
class Panel:
    """One map: a mean and a text for each cell that has the figure."""

    title: str
    x: tuple[str, ...]
    y: tuple[str, ...]
    means: Mapping[Place, float]
    texts: Mapping[Place, str]
    first: Collection[Place] = ()
    """Cells with a thick outline."""
    own: Collection[Place] = ()
    """Cells with a thin, dashed outline."""


def draw(panels: Sequence[Panel], x_name: str, y_name: str, label: str, note: str = "") -> Canvas:
    """Draw panels with equal colours for equal numbers; ``label`` names figure and unit of the colour bar."""
    columns = abreast(len(panels), PANELS_ABREAST)
    rows = -(-len(panels) // columns)
    wide, high = max(len(one.x) for one in panels), max(len(one.y) for one in panels)
    canvas = new_canvas(max(6.4, 1.6 + columns * (0.9 + 0.82 * wide)), 0.9 + rows * (0.95 + 0.52 * high))
    grid = canvas.subplots(rows, columns, squeeze=False).ravel().tolist()
    for unused in grid[len(panels) :]:
        unused.remove()
    norm = _norm([mean for one in panels for mean in one.means.values()])
    for axes, one in zip(grid, panels, strict=False):
        xs, ys = ([values[i] for i in places(values).order] for values in (one.x, one.y))
        for (x, y), mean in one.means.items():
            at = xs.index(x), ys.index(y)
            shade = float(norm(mean))
            axes.add_patch(Rectangle((at[0] - 0.5, at[1] - 0.5), 1, 1, facecolor=COLOURS(shade), edgecolor="white"))
            ink = LIGHT_TEXT if shade > DARK else DARK_TEXT
            axes.text(*at, one.texts[x, y], ha="center", va="center", fontsize=7.5, color=ink)
        for marked, look in ((one.own, (1.2, True, 0.44)), (one.first, (2.4, False, 0.47))):
            for x, y in marked:
                width, dashed, half = look
                corner = xs.index(x) - half, ys.index(y) - half
                outline = Rectangle(corner, 2 * half, 2 * half, fill=False, edgecolor=DARK_TEXT, linewidth=width)
                outline.set_linestyle("--" if dashed else "-")
                axes.add_patch(outline)
        axes.set_xlim(-0.5, len(xs) - 0.5)
        axes.set_ylim(-0.5, len(ys) - 0.5)
        axes.set_xticks(range(len(xs)), xs, fontsize=8, color=INK)
        axes.set_yticks(range(len(ys)), ys, fontsize=8, color=INK)
        axes.set_xlabel(x_name, fontsize=9, color=INK)
        axes.set_ylabel(y_name, fontsize=9, color=INK)
        axes.set_title(one.title, fontsize=9, color=INK, loc="left", fontweight="bold")
        axes.tick_params(length=0)
        axes.spines[:].set_color(GREY)
    bar = canvas.colorbar(ScalarMappable(norm, COLOURS), ax=grid[: len(panels)], label=label)
    bar.ax.yaxis.set_major_formatter(plain)
    bar.ax.yaxis.set_minor_formatter("")
    bar.ax.tick_params(labelsize=8, colors=INK)
    if note:
        canvas.supxlabel(note, fontsize=7, color=INK, x=0.01, ha="left")
    return canvas


def _norm(means: Sequence[float]) -> Normalize:
    """Return the scale of the colours: logarithmic where an axis would be."""
    low, high = min(means), max(means)
    if low == high:
        return Normalize(low - 1, high)
    return LogNorm(low, high) if spans(means) else Normalize(low, high)
