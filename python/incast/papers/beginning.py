"""A small paper to begin with, in a folder of its own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from incast.errors import FolderError
from incast.papers import reading
from incast.papers.copying import IN_THE_WAY
from incast.papers.definition import Paper
from incast.system.folders import new_folder, refuse_unless_empty, write_through
from incast.templates.paper import paper_files

FILES = ("paper.toml", "fig1.toml")
"""Files of the paper."""


def begin(folder: Path) -> Paper:
    """Write the paper, and return it; raises ``FolderError`` unless the folder is new or empty."""
    refuse_unless_empty(folder, IN_THE_WAY)
    if folder.resolve() == Path.cwd():
        raise FolderError(f"{folder} is the working directory: expected a folder in it")
    with new_folder(folder) as aside:
        for name, text in paper_files(str(folder)).items():
            write_through(aside / name, text)
        return replace(reading.load(aside), folder=folder)
