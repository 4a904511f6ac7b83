"""Notebooks of the documentation: every cell runs, and shows what is stored in the notebook."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from conftest import ROOT
from tools import notebooks

FILES = sorted(notebooks.NOTEBOOKS.glob("*.ipynb"))


def checked(path: Path) -> subprocess.CompletedProcess[str]:
    """Run a notebook as ``make notebooks`` does, and compare it with what is stored."""
    command = [sys.executable, ROOT / "tools" / "notebooks.py", "--check", path]
    return subprocess.run(command, capture_output=True, text=True, timeout=290, check=False)


@pytest.mark.extended(part="notebooks")
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_notebook_runs_and_shows_what_is_stored(path: Path) -> None:
    done = checked(path)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_stored_notebook_has_shown_something_and_names_no_machine(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert not re.findall(r"/(?:home|root|tmp|Users|var|opt)/|[A-Z]:\\\\|site-packages", text)
    code = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    assert all(cell.execution_count for cell in code), "make notebooks runs it"
    # what is not compared must be little
    assert sum("varies" in cell.metadata.get("tags", []) for cell in code) < len(code) / 2


def test_five_notebooks_are_there() -> None:
    assert {path.stem for path in FILES} >= {
        *("first-run", "own-controller", "choosing-k", "reading-a-paper", "learning"),
    }


def notebook(*cells: str) -> nbformat.NotebookNode:
    """Make a notebook of code."""
    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in cells])


@pytest.mark.extended(part="notebooks")
def test_a_cell_that_fails_is_told_with_its_text(tmp_path: Path) -> None:
    path = tmp_path / "broken.ipynb"
    nbformat.write(notebook("x = 1", "import incast\nincast.Scenario.load('no-such')"), path)
    done = checked(path)
    assert done.returncode == 1
    assert "incast.Scenario.load('no-such')" in done.stderr
    assert "ScenarioError" in done.stderr
    assert "\x1b" not in done.stderr


def showing(text: str, name: str = "stdout", tag: str | None = None) -> nbformat.NotebookNode:
    """Make a notebook of one cell that has shown a text."""
    made = notebook("print(x)")
    made.cells[0].outputs = [nbformat.v4.new_output("stream", name=name, text=text)]
    made.cells[0].metadata["tags"] = [tag] if tag else []
    return made


def test_another_text_than_the_stored_one_is_told_and_so_is_a_complaint() -> None:
    with pytest.raises(notebooks.CellError, match=r"print\(x\)[\s\S]*shows\n2\n[\s\S]*stored is\n1\n"):
        notebooks.compare(showing("2\n"), showing("1\n"))
    with pytest.raises(notebooks.CellError, match=r"standard error:\nprint\(x\)\n\nslow"):
        notebooks.compare(showing("slow", "stderr"), showing("slow", "stderr"))
    notebooks.compare(showing("2\n"), showing("2\n"))
    notebooks.compare(showing("2\n", tag="varies"), showing("1\n", tag="varies"))
