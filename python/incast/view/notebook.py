"""Viewer in a notebook: the page of ``incast view`` in an iframe."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from html import escape
from pathlib import Path

from incast.runs.result import Result
from incast.system.output import counted
from incast.view import page
from incast.view.sources import Made

MAY = "allow-scripts allow-downloads allow-modals"
"""Sandbox permissions of the page: scripts, downloads, dialogs. Without an origin it cannot read the notebook."""


class View:
    """Runs over time, shown in notebooks; ``save`` writes one HTML file."""

    def __init__(self, runs: Sequence[tuple[str, Result]], height_px: int = 720) -> None:
        """Make a view of named runs.

        Raises ``IncastError`` for a run without a timeline, and ``FolderError`` if the viewer is not built.
        """
        self._runs = [(label, Made(run)) for label, run in runs]
        self.height_px = height_px
        """Height in a notebook, in pixels."""
        page.viewer()
        for _, run in self._runs:
            if run.timeline() is None:
                raise run.lacks

    @cached_property
    def html(self) -> str:
        """Text of the HTML file."""
        return page.of(self._runs)

    def save(self, path: str | Path) -> Path:
        """Write the file atomically, and return its path; raises ``FolderError`` if that fails."""
        page.put(self.html, Path(path), named=True)
        return Path(path)

    def _repr_html_(self) -> str:
        style = f"width: 100%; height: {self.height_px}px; border: 0"
        title, text = escape(repr(self)), escape(self.html)
        return f'<iframe sandbox="{MAY}" style="{style}" title="{title}" srcdoc="{text}"></iframe>'

    def __repr__(self) -> str:
        return f"<View of {counted(len(self._runs), 'run')}: {'; '.join(label for label, _ in self._runs)}>"


def of_results(results: Sequence[Result]) -> View:
    """View runs, named by scenario, controllers and seed."""
    return View([(_label(result), result) for result in results])


def _label(result: Result) -> str:
    run = result.summary["run"]
    controllers = [name for name in result.flows["controller"].unique().to_pylist() if name]
    return ", ".join([run["scenario"], *controllers, f"seed {run['seed']}"])
