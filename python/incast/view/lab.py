"""The lab page, and addresses that open it with an experiment: those of ``viewer/src/lab/experiment.ts``."""

from __future__ import annotations

import base64
import json
import re
import tempfile
import zlib
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from urllib.parse import urlencode

from incast.errors import FolderError
from incast.system import files as system

PAGE = "lab.html"
MOST_FILES, MOST_TEXT, MOST_WORD = 32, 200_000, 400
"""Files of an address, bytes of them together, and letters of a name: limits of ``viewer/src/lab/experiment.ts``."""
HIDDEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Characters that no name of a file may have there."""


def place() -> Path:
    """Return the path of the built page; raises ``FolderError`` if this package was built without it."""
    found = Path(str(files("incast.view").joinpath(PAGE)))
    if not found.is_file():
        raise FolderError(
            "the lab is not built: it needs Node.js 20.19 or later and rustup's wasm32-unknown-unknown; run make lab"
        )
    return found


def leading_to(address: str) -> Path:
    """Write a page that leads to an address, into the folder for temporary files; return its path."""
    folder = Path(tempfile.mkdtemp(prefix="incast-lab-"))
    page = folder / "open.html"
    page.write_text(f"<!doctype html><script>location.replace({json.dumps(address)})</script>", encoding="utf-8")
    return page


def packed(text: str) -> str:
    """Deflate a text into base64 with the letters of addresses."""
    made = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    whole = made.compress(text.encode()) + made.flush()
    return base64.urlsafe_b64encode(whole).decode().rstrip("=")


def held(named: Sequence[tuple[str, Path]], folder: Path) -> tuple[list[tuple[str, str]], dict[str, str]]:
    """Return names and contents of the files that an address holds, and why it does not hold the others.

    ``folder`` is the scenario's: files outside stay outside, as a scenario from somebody else may name any.
    """
    texts: list[tuple[str, str]] = []
    left_out: dict[str, str] = {}
    room = MOST_TEXT
    for name, path in named:
        if name.endswith(".et"):
            left_out[name] = "a page reads no execution traces"
            continue
        if len(name) > MOST_WORD or HIDDEN.search(name):
            left_out[name] = "no address holds a file of this name"
            continue
        if not path.resolve().is_relative_to(folder.resolve()):
            left_out[name] = "it is outside the scenario's folder"
            continue
        try:
            text = system.read_text(path, MOST_TEXT + 1)
        except UnicodeDecodeError:
            left_out[name] = "it is not a text file (UTF-8)"
            continue
        except (OSError, ValueError) as error:
            left_out[name] = system.message_of(error)
            continue
        size = len(text.encode())
        if size > room or len(texts) == MOST_FILES:
            left_out[name] = f"an address holds {MOST_FILES} files of {MOST_TEXT // 1000} kB together"
            continue
        texts.append((name, text))
        room -= size
    return texts, left_out


def address(
    scenario: str,
    settings: Sequence[tuple[str, str]] = (),
    controllers: Sequence[str] = (),
    seeds: int = 5,
    text: str | None = None,
    texts: Sequence[tuple[str, str]] = (),
) -> str:
    """Return the part after ``#`` of an experiment.

    ``text`` is the scenario's own, unless it is built in; ``texts`` are names and contents of the files that it names.
    """
    parts = [("s", scenario), *(("set", f"{key}={value}") for key, value in settings)]
    parts += [("cc", controller) for controller in controllers]
    parts.append(("seeds", str(seeds)))
    if text is not None:
        parts.append(("text", packed(text)))
    parts += [("file", f"{name} {packed(content)}") for name, content in texts]
    return urlencode(parts)
