"""Names of studies, scenarios and arms, which are words in tables, folders and commands."""

from __future__ import annotations

import re

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*")
"""A plain name."""


def plain_name(text: str) -> str:
    """Return a text as a plain name, without the letters that no name has."""
    return text if NAME.fullmatch(text) else re.sub(r"[^A-Za-z0-9._+-]+", "-", text).strip("-._+") or "x"
