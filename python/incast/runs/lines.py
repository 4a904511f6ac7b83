"""Lines of keys in TOML files, for messages about them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

_HEADER = re.compile(r"\s*(\[\[?)\s*([^\[\]]+?)\s*\]\]?\s*(?:#.*)?$")
_KEY = re.compile(r"""\s*([\w"'-]+(?:\s*\.\s*[\w"'-]+)*)\s*=\s*(.*)$""")
_SUBJECT = re.compile(r"([\w>*#-]+(?:\.[\w>*#-]+)*)(?: = .*?)?: ")

Part = str | tuple[str, ...]
"""A part of a key path, or the words by which an entry of a list goes: its number, its name, its pattern."""


def numbered(text: str, message: str) -> list[tuple[int | None, str]]:
    """Return the lines of a message about a TOML text, each with the line of the text that it is about, if known."""
    found = []
    for one in message.split("\n"):
        subject = _SUBJECT.match(one)
        found.append((line_of(text, subject[1]) if subject else None, one))
    return found


def line_of(text: str, key: str) -> int | None:
    """Return the line, from 1, of a key such as ``traffic.load.flows``, or of the nearest table around it."""
    parts = key.split(".")
    best: tuple[int, int | None] = (0, None)
    for path, line in _places(text):
        known = _matched(path, parts)
        if known > best[0]:
            best = known, line
    return best[1]


def _matched(path: Sequence[Part], parts: Sequence[str]) -> int:
    """Return the number of parts that a path stands for; 0 unless the whole path is in them."""
    at = 0
    for part in path:
        if isinstance(part, tuple):
            if at < len(parts) and parts[at] in part:
                at += 1
            elif "" not in part:
                return 0
        elif at < len(parts) and parts[at] == part:
            at += 1
        else:
            return 0
    return at


def _places(text: str) -> Iterator[tuple[list[Part], int]]:
    """Yield the paths of all tables and keys, with their lines."""
    rows = text.splitlines()
    entries = [m for m in map(_HEADER.match, rows) if m and m[1] == "[["]
    counts = {name: sum(m[2] == name for m in entries) for name in {m[2] for m in entries}}
    seen = dict.fromkeys(counts, 0)
    base: list[Part] = []
    for number, row in enumerate(rows, 1):
        if header := _HEADER.match(row):
            base = list(_parts(header[2]))
            if header[1] == "[[":
                base.append(_words(rows[number:], seen[header[2]], counts[header[2]]))
                seen[header[2]] += 1
            yield base, number
        elif found := _KEY.match(row):
            yield [*base, *_parts(found[1])], number


def _words(rows: Sequence[str], index: int, count: int) -> tuple[str, ...]:
    """Return the words by which an entry goes: its number, its name or pattern, and no word if it is the only one."""
    words = [str(index), *([""] if count == 1 else [])]
    for row in rows:
        if _HEADER.match(row):
            break
        if (found := _KEY.match(row)) and found[1] in ("name", "pattern"):
            words.append(found[2].partition("#")[0].strip().strip("\"'"))
    return tuple(words)


def _parts(dotted: str) -> list[str]:
    return [part.strip().strip("\"'") for part in dotted.split(".")]
