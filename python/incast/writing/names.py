"""Names of studies, scenarios and arms, which are words in tables, folders and commands."""

from __future__ import annotations

import re
import shlex

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*")
"""A plain name."""


def plain_name(text: str) -> str:
    """Return a text as a plain name, without the characters that no name has."""
    return text if NAME.fullmatch(text) else re.sub(r"[^A-Za-z0-9._+-]+", "-", text).strip("-._+") or "x"


def as_word(file: str) -> str:
    """Return the name of a file as a word of a command: quoted for a shell, and never taken for an option."""
    return shlex.quote(f"./{file}" if file.startswith("-") else file)


def as_commented_word(file: str) -> str:
    """Return the same for a command in a comment or a docstring; ``FILE`` for a name that cannot stand there."""
    return as_word(file) if file.isprintable() and "\\" not in file and '"""' not in file else "FILE"
