"""The lab page, and addresses that open it with an experiment: those of ``viewer/src/lab/experiment.ts``."""

from __future__ import annotations

import base64
import json
import tempfile
import zlib
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from urllib.parse import urlencode

from incast.errors import FolderError

PAGE = "lab.html"


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


def address(
    scenario: str,
    settings: Sequence[tuple[str, str]] = (),
    controllers: Sequence[str] = (),
    seeds: int = 5,
    text: str | None = None,
) -> str:
    """Return the part after ``#`` of an experiment; ``text`` is the scenario's own, unless it is built in."""
    parts = [("s", scenario), *(("set", f"{key}={value}") for key, value in settings)]
    parts += [("cc", controller) for controller in controllers]
    parts.append(("seeds", str(seeds)))
    if text is not None:
        parts.append(("text", packed(text)))
    return urlencode(parts)
