"""Run the notebooks of ``docs/notebooks``: ``make notebooks`` stores in them what their cells show.

``python tools/notebooks.py --check FILE`` stores nothing. It fails where a cell does, where a cell writes to standard
error, and where one prints another text than the one stored. Results are the same bytes everywhere, so a stored text is
out of date or a run has changed. Cells with the tag ``varies`` are not compared: what they print depends on the
machine's arithmetic. Pictures are not compared.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = ROOT / "docs" / "notebooks"
CELL_TIMEOUT_S = 240
"""Ten times what the slowest cell takes: a kernel that hangs is not waited for."""

COLOUR = re.compile(r"\x1b\[[0-9;]*m")

KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}


class CellError(Exception):
    """A cell that does not do what its notebook shows: the cell, and what happened."""


def executed(path: Path) -> NotebookNode:
    """Run a notebook in an empty folder; raises ``CellError`` with the text of the cell that failed.

    The kernel is the Python that runs this, without the user's configuration of Jupyter and without a display.
    """
    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as place:
        folders = {name: str(Path(place, name)) for name in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR")}
        plain = {"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"}
        os.environ |= folders | plain
        os.environ.pop("MPLBACKEND", None)
        work = Path(place, "work")
        work.mkdir()
        client = NotebookClient(
            notebook,
            timeout=CELL_TIMEOUT_S,
            record_timing=False,
            coalesce_streams=True,
            resources={"metadata": {"path": str(work)}},
        )
        try:
            client.execute()
        except CellExecutionError as error:
            raise CellError(f"{path.name}: {COLOUR.sub('', str(error))}") from None
    return cleaned(notebook)


def cleaned(notebook: NotebookNode) -> NotebookNode:
    """Drop what is of the machine, and put the kernel's name as it is everywhere."""
    notebook.metadata = NotebookNode(kernelspec=KERNEL, language_info={"name": "python"})
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
    return notebook


def compare(fresh: NotebookNode, stored: NotebookNode) -> None:
    """Raise ``CellError`` for the first cell that complains, or that shows another text than the stored one."""
    for new, old in zip(fresh.cells, stored.cells, strict=True):
        if new.cell_type != "code":
            continue
        complaints = [out.text for out in new.outputs if out.get("name") == "stderr"]
        if complaints:
            raise CellError(f"a cell writes to standard error:\n{new.source}\n\n{''.join(complaints)}")
        if "varies" not in new.metadata.get("tags", []) and texts(new) != texts(old):
            told = f"shows\n{''.join(texts(new))}\nand stored is\n{''.join(texts(old))}"
            raise CellError(f"a cell\n{new.source}\n\n{told}\nmake notebooks stores it anew")


def texts(cell: NotebookNode) -> list[str]:
    """Give the texts that a cell shows, one an output; a picture is its kind."""
    found = []
    for out in cell.outputs:
        data = out.get("data", {})
        kinds = [kind for kind in ("text/html", "text/plain") if kind in data]
        found.append("image/png" if "image/png" in data else data[kinds[0]] if kinds else out.get("text", ""))
    return found


def main() -> int:
    """Run the notebooks that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--check", action="store_true", help="store nothing, compare with what is stored")
    parser.add_argument("notebooks", nargs="*", type=Path, metavar="FILE")
    words = parser.parse_args()
    for path in words.notebooks or sorted(NOTEBOOKS.glob("*.ipynb")):
        try:
            fresh = executed(path)
            compare(fresh, nbformat.read(path, as_version=4) if words.check else fresh)
        except CellError as error:
            print(error, file=sys.stderr)
            return 1
        if not words.check:
            nbformat.write(fresh, path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
