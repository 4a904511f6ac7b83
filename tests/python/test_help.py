"""Help texts say all that is written in them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from incast.commands.program import program


def commands(command: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Give every command and group with the words that call it."""
    yield words, command
    for name, own in getattr(command, "commands", {}).items():
        yield from commands(own, (*words, name))


ALL = dict(commands(get_command(program())))


@pytest.mark.parametrize("words", ALL, ids=lambda words: " ".join(words) or "incast")
def test_no_word_in_brackets_is_taken_for_markup(words: tuple[str, ...]) -> None:
    """A word in brackets, as of a table of a file, is a style to what prints help, unless it is escaped."""
    texts = [ALL[words].help, *(getattr(parameter, "help", None) for parameter in ALL[words].params)]
    bracketed = {one for text in texts for one in re.findall(r"\[[^\]]+\]", text or "")}
    shown = CliRunner().invoke(program(), [*words, "--help"], env={"COLUMNS": "200", "TERMINAL_WIDTH": "200"}).stdout
    assert "Usage" in shown
    for one in bracketed:
        assert one in shown
