"""Lanes of ranks: a row a rank with calculations, exposed communication and waiting over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.patches import Patch

from incast.pictures.looks import LOOKS, Look, Picture, dress, name_panel, panels, time_word, title
from incast.pictures.over_time import Shown, names_of
from incast.pictures.recorded import NothingToDraw, Numbers
from incast.pictures.style import COLOURS, GREY, INK, OTHERS, Canvas, new_canvas
from incast.runs import lanes
from incast.runs.lanes import CALC, EXPOSED, WAITING, Lane

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_ROWS = 32
"""Most ranks of a picture, all jobs together; beyond, critical and slowest ranks, and others at equal distances."""
MOST_ITERATIONS = 4
"""Most iterations of a picture, the first of the run."""
FILL = {CALC: COLOURS[0], EXPOSED: COLOURS[4], WAITING: OTHERS}
"""Colours of the states; lightness tells them apart too."""
HEIGHT, STRIP = 0.56, 0.14
"""Height of a lane, and of the strip below it with overlapped communication; a row has 1."""
LEAST = 1 / 3000
"""Shortest stretch that is drawn, as a share of the time shown; shorter ones join their neighbours of the state."""


def draw(shown: Shown, look: Look) -> Picture:
    """Draw the lanes of runs: a panel a run."""
    found: dict[str, list[Lane]] = {}
    counts = []
    for label, run in shown:
        try:
            lanes.refuse_without(run)
        except lanes.NoTasks as error:
            raise NothingToDraw(f"lanes: {error}") from None
        most = max(1, MOST_ROWS // len(shown))
        chosen = lanes.chosen(run.ranks.arrow, run.jobs.arrow, most, run.tasks.arrow)
        found[label] = list(lanes.lanes(run, chosen))
        counts.append(len(set(zip(run.ranks["job"].to_pylist(), run.ranks["rank"].to_pylist(), strict=True))))
    own = next(iter(found.values()))
    words = f"{len(own)} of {counts[0]} ranks" if counts[0] > len(own) else "what each rank does"
    return panels_of(found, look, f"{names_of(shown)}: {words}")


def panels_of(found: Mapping[str, Sequence[Lane]], look: Look, words: str) -> Picture:
    """Draw lanes by the name of their run, a panel each on one clock; ``words`` are the title of a single one.

    Raises ``NothingToDraw`` without a lane.
    """
    if not any(found.values()):
        raise NothingToDraw("lanes: none of the chosen ranks recorded its tasks")
    picture, drawn = panels(look, len(found), height=_height(found, look), share="none", abreast=1)
    _fill(picture, drawn, found, look, words)
    return picture


def of_page(found: Mapping[str, Sequence[Lane]]) -> Canvas:
    """Draw lanes, at least one, as a picture of a page, which has colours and fonts of its own."""
    look = LOOKS["screen"]
    rows = len(found)
    canvas = new_canvas(look.width, look.height * _height(found, look) * (1 if rows == 1 else 0.8 * rows))
    drawn = canvas.subplots(rows, 1, squeeze=False)[:, 0].tolist()
    for axes in drawn:
        dress(axes)
    _fill(canvas, drawn, found, look, next(iter(found)))
    return canvas


def _height(found: Mapping[str, Sequence[Lane]], look: Look) -> float:
    """Return the height of a panel, as a factor of the look's."""
    rows = max(map(len, found.values()))
    return max(0.42, 0.135 * rows / look.height * (look.points / 8) + 0.3)


def _fill(canvas: Canvas, drawn: Sequence[Axes], found: Mapping[str, Sequence[Lane]], look: Look, words: str) -> None:
    """Draw lanes into panels, and the legend above them."""
    end = max(_end(own) for own in found.values())
    begin = min(float(one.edges[0]) for own in found.values() for one in own)
    unit, scale = time_word(end - begin)
    for axes, (label, own) in zip(drawn, found.items(), strict=True):
        _rows(axes, look, own, (begin, end), scale)
        axes.set_xlabel(f"Time ({unit})", color=INK)
        if len(found) > 1:
            name_panel(axes, label)
        else:
            title(look, axes, words)
    _legend(canvas, look, [one for own in found.values() for one in own])


def _legend(canvas: Canvas, look: Look, own: Sequence[Lane]) -> None:
    """Name the states that lanes have, above all panels."""
    there = [(FILL[state], lanes.NAMES[state]) for state in FILL if any((one.states == state).any() for one in own)]
    if any(len(one.overlapped()) for one in own):
        there.append((FILL[EXPOSED], "overlapped communication (strip)"))
    handles = [Patch(color=colour, label=name) for colour, name in there]
    columns = len(handles) if look.width > 5 else 2
    words = {"fontsize": look.points - 1, "labelcolor": INK, "handlelength": 1.4}
    canvas.legend(handles=handles, loc="outside upper center", ncols=columns, frameon=False, **words)


def _end(own: Sequence[Lane]) -> float:
    """Return the end of the iterations that are drawn."""
    return max((float(one.iterations[:MOST_ITERATIONS][-1, 1]) for one in own), default=0.0)


def _rows(axes: Axes, look: Look, own: Sequence[Lane], between: tuple[float, float], scale: float) -> None:
    """Draw lanes, the first above."""
    begin, end = between
    least = (end - begin) * LEAST
    axes.grid(visible=False)
    for row, one in enumerate(own):
        for state, colour in FILL.items():
            _bars(axes, _joined(one.spans(state), least), row - HEIGHT / 2, HEIGHT, colour, scale)
        strip = _joined(one.overlapped(), least)
        _bars(axes, strip, row + HEIGHT / 2 + 0.04, STRIP, FILL[EXPOSED], scale)
        ends = one.iterations[:MOST_ITERATIONS, 1] * scale
        axes.vlines(ends, row - 0.46, row + 0.46, colors=INK, linewidth=0.8)
    jobs = list(dict.fromkeys(one.job for one in own))
    for job in jobs[1:]:
        axes.axhline(next(i for i, one in enumerate(own) if one.job == job) - 0.5, color=GREY, linewidth=0.6)
    names = [f"{one.job} {one.rank}" if len(jobs) > 1 else f"rank {one.rank}" for one in own]
    size = min(look.points - 1, 5.5 if len(own) > 20 else 7)
    axes.set_yticks(range(len(own)), names, fontsize=size, parse_math=False)
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(len(own) - 0.4, -0.6)
    axes.set_xlim(begin * scale, end * scale)


def _bars(axes: Axes, spans: Numbers, low: float, height: float, colour: str, scale: float) -> None:
    ranges = np.stack([spans[:, 0], spans[:, 1] - spans[:, 0]], axis=1) * scale
    axes.broken_barh([(float(x), float(wide)) for x, wide in ranges], (low, height), color=colour, linewidth=0)


def _joined(spans: Numbers, least: float) -> Numbers:
    """Join stretches that are less than ``least`` apart: what is shorter than a pixel is not seen."""
    if len(spans) < 2:
        return spans
    first = np.concatenate([[True], spans[1:, 0] - spans[:-1, 1] >= least])
    places = np.flatnonzero(first)
    return np.stack([spans[places, 0], spans[np.append(places[1:], len(spans)) - 1, 1]], axis=1)
