"""Viewer in a notebook: the page of ``incast view`` in an iframe."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from html import escape
from pathlib import Path

from incast.errors import IncastError
from incast.runs import repeated
from incast.runs.result import Result
from incast.system.output import counted
from incast.view import page
from incast.view.sources import Made

MAY = "allow-scripts allow-downloads allow-modals"
"""Sandbox permissions of the page: scripts, downloads, dialogs. Without an origin it cannot read the notebook."""


class View:
    """Runs over time, shown in notebooks; ``save`` writes one HTML file."""

    def __init__(self, runs: Sequence[tuple[str, Result]], height_px: int = 720, *, allow_code: bool = False) -> None:
        """Make a view of named runs.

        A run without a timeline is repeated with one. Raises ``IncastError`` if it cannot be repeated, and
        ``FolderError`` if the viewer is not built.
        """
        page.viewer()
        self._runs = [(label, Made(repeated.in_memory(run, allow_code=allow_code))) for label, run in runs]
        self.height_px = height_px
        """Height in a notebook, in pixels."""

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


def of_results(results: Sequence[Result], allow_code: bool = False) -> View:
    """View runs, named by scenario, controllers and seed."""
    for one in results:
        if not isinstance(one, Result):
            raise IncastError(f"view: {one!r} is no result: expected runs, such as result.view(other)")
    return View([(_label(result), result) for result in results], allow_code=allow_code)


def _label(result: Result) -> str:
    run = result.summary["run"]
    controllers = [name for name in result.flows["controller"].unique().to_pylist() if name]
    return ", ".join([run["scenario"], *controllers, f"seed {run['seed']}"])
