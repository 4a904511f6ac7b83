"""Pictures and view of a result: their interfaces, and the makers that the package's ``__init__`` attaches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class View(Protocol):
    """Runs over time (``incast.view.notebook``)."""

    height_px: int
    """Height in a notebook, in pixels."""

    @property
    def html(self) -> str:
        """Text of the HTML file."""

    def save(self, path: str | Path) -> Path:
        """Write the view as one HTML file."""


class Pictures(Protocol):
    """Pictures of a run, each a matplotlib figure (``incast.pictures.run_pictures``)."""

    def over_time(self) -> Figure:
        """Throughput and window of each of at most eight flows and the queue of the busiest port, over time."""

    def throughput(self) -> Figure:
        """CDF of the throughput of the flows."""

    def fct(self) -> Figure:
        """CDF of the completion times of finished flows."""

    def windows(self) -> Figure:
        """Congestion windows of the recorded flows over time."""

    def queues(self) -> Figure:
        """Queues of the recorded ports over time."""

    def heat_map(self) -> Figure:
        """Heat map of the recorded queues over time: one row per port."""

    def deadlock(self) -> Figure:
        """Ring of ports that wait for one another at the end of the run."""


Run = Any
"""A ``Result``."""
pictures_of: Callable[[Run], Pictures]
view_of: Callable[[Sequence[Run], bool], View]
