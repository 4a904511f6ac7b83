"""JSON schemas of scenario and study files, for editors."""

from __future__ import annotations

import json

from incast import _core
from incast.errors import ScenarioError
from incast.study import schema as studies

KINDS = ("scenario", "study")
"""Kinds of files with a schema."""


def file_of(kind: str) -> str:
    """Return the name of a schema beside a file of the kind."""
    return f"{kind}.schema.json"


def text_of(kind: str) -> str:
    """Return the schema of a kind of files; raises ``ScenarioError`` for another one."""
    match kind:
        case "scenario":
            return _core.schema().rstrip("\n") + "\n"
        case "study":
            return json.dumps(studies.schema(), indent=2) + "\n"
    raise ScenarioError(f"schema {kind}: expected {' or '.join(KINDS)}")


def named_in(kind: str, text: str) -> str:
    """Return the text of a file with the lines on top that name the schema beside it."""
    return f"#:schema ./{file_of(kind)}\n# The line above lets editors complete and check keys.\n#\n{text}"
