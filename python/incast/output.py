"""The standard output, as a place that can go away or be full."""

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
    """The standard output cannot be written."""


def counted(number: int, what: str) -> str:
    """Write a number of things: 1 run, 2 runs."""
    return f"{number} {what}{'s' * (number != 1)}"


def nearest(word: str, known: Sequence[str]) -> str:
    """Ask whether the known name next to a word was meant; nothing where none is near."""
    near = difflib.get_close_matches(word, known, n=1)
    return f' (did you mean "{near[0]}"?)' if near else ""


def escaped(text: str, keep: str = "") -> str:
    """Write control characters as the engine's messages do, those of ``keep`` excepted: a terminal obeys them."""
    names = {"\t": r"\t", "\n": r"\n", "\r": r"\r"}

    def shown(found: re.Match[str]) -> str:
        one = found[0]
        return one if one in keep else names.get(one, f"\\u{{{ord(one):x}}}")

    return re.sub(r"[\x00-\x1f\x7f-\x9f]", shown, text)


is_program = False
"""Whether this process is the program ``incast``, for which no settings of the working directory count."""


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
"""Signs of messages and tables, and how a terminal shows them that does not have them."""


def _in_signs(error: UnicodeError) -> tuple[str, int]:
    """Write letters that an encoding lacks: signs as ``SIGNS`` has them, others by their numbers."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = error.object[error.start : error.end].translate(SIGNS)
    return lacking.encode("ascii", "backslashreplace").decode("ascii"), error.end


codecs.register_error("incast.signs", _in_signs)


def shown(text: str, encoding: str) -> str:
    """Write a text with the letters that an encoding has."""
    return text.encode(encoding, "incast.signs").decode(encoding)


class Screen(Console):
    """A console that obeys nothing in what users wrote: no markup, no emoji, no control characters."""

    def __init__(self, stderr: bool = False) -> None:
        super().__init__(markup=False, emoji=False, stderr=stderr)

    def render_str(self, text: str, **options: Any) -> Text:
        """Make what is printed of a text, in tables too: the widths of columns are those of what is shown."""
        return super().render_str(shown(escaped(text, keep="\n\t"), self.encoding), **options)


class _Pipe(io.FileIO):
    """Standard output that is quiet about a reader who has gone, e.g. ``| head``."""

    def write(self, data: ReadableBuffer, /) -> int:
        try:
            return super().write(data)
        except BrokenPipeError:
            self._give_up()
            return memoryview(data).nbytes
        except OSError as error:
            # Else the interpreter would try what is left again at its end, and complain.
            self._give_up()
            raise OutputError(f"cannot write to the standard output: {error.strerror}") from None

    def _give_up(self) -> None:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self.fileno())
        os.close(nowhere)


def guard() -> None:
    """Put the guarded standard output in the place of Python's own."""
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
    """Print about results that are already saved: trouble with printing leaves them whole."""
    try:
        yield
        sys.stdout.flush()
    except OutputError as error:
        raise OutputError(f"{error}; the results are whole in {results}") from None
