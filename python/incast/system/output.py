"""Standard output, which may be closed or full."""

from __future__ import annotations

import codecs
import difflib
import io
import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.text import Text

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class OutputError(Exception):
    """Standard output cannot be written."""


def counted(number: int, what: str) -> str:
    """Format a count: 1 run, 2 runs."""
    return f"{number} {what}{'s' * (number != 1)}"


def nearest(word: str, known: Sequence[str]) -> str:
    """Return a hint with the nearest known name; empty if none is near."""
    near = difflib.get_close_matches(word, known, n=1)
    return f' (did you mean "{near[0]}"?)' if near else ""


def escaped(text: str, keep: str = "") -> str:
    """Escape control characters, except those of ``keep``, as messages of the engine do: a terminal would obey them."""
    names = {"\t": r"\t", "\n": r"\n", "\r": r"\r"}

    def shown(found: re.Match[str]) -> str:
        one = found[0]
        return one if one in keep else names.get(one, f"\\u{{{ord(one):x}}}")

    return re.sub(r"[\x00-\x1f\x7f-\x9f]", shown, text)


is_program = False
"""True if this process is the program ``incast``, which ignores settings in the working directory."""


SIGNS = str.maketrans(
    {
        "≥": ">=",
        "≤": "<=",
        "±": "+-",
        "–": "-",
        "−": "-",
        "◆": "<>",
        "µ": "u",
        "·": "*",
        "×": "x",
        "√": "sqrt",
        "→": "->",
    }
)
"""Signs of messages and tables, with replacements for terminals that lack them."""


def _in_signs(error: UnicodeError) -> tuple[str, int]:
    """Replace characters that an encoding lacks: signs by those of ``SIGNS``, others by their code points."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = error.object[error.start : error.end].translate(SIGNS)
    return lacking.encode("ascii", "backslashreplace").decode("ascii"), error.end


codecs.register_error("incast.signs", _in_signs)


def shown(text: str, encoding: str) -> str:
    """Return a text with the characters of an encoding."""
    return text.encode(encoding, "incast.signs").decode(encoding)


class Screen(Console):
    """A console that ignores markup, emoji and control characters in texts of users."""

    def __init__(self, stderr: bool = False) -> None:
        super().__init__(markup=False, emoji=False, stderr=stderr)

    def render_str(self, text: str, **options: Any) -> Text:
        """Render a text, in tables too, so that widths of columns fit the escaped text."""
        return super().render_str(shown(escaped(text, keep="\n\t"), self.encoding), **options)


class _Pipe(io.FileIO):
    """Standard output that tolerates a reader that has closed the pipe, e.g. ``| head``."""

    def write(self, data: ReadableBuffer, /) -> int:
        try:
            return super().write(data)
        except BrokenPipeError:
            self._give_up()
            return memoryview(data).nbytes
        except OSError as error:
            # else the interpreter would write the rest at its end, and complain
            self._give_up()
            raise OutputError(f"cannot write to the standard output: {error.strerror}") from None

    def _give_up(self) -> None:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self.fileno())
        os.close(nowhere)


def guard() -> None:
    """Replace Python's standard output by the guarded one."""
    plain = sys.stdout
    if plain is None:  # closed by the shell, `>&-`
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123
    else:
        raw = _Pipe(plain.fileno(), "wb", closefd=False)
        sys.stdout = io.TextIOWrapper(
            io.BufferedWriter(raw),
            encoding=plain.encoding,
            errors=plain.errors if plain.errors != "strict" and plain.encoding == "utf-8" else "incast.signs",
            line_buffering=raw.isatty(),
        )
    if isinstance(sys.stderr, io.TextIOWrapper):
        sys.stderr.reconfigure(errors="incast.signs")


@contextmanager
def about(results: Path) -> Iterator[None]:
    """Print about results that are already saved: an error of the output names where they are."""
    try:
        yield
        sys.stdout.flush()
    except OutputError as error:
        raise OutputError(f"{error}; the results are complete in {results}") from None
