"""Exit statuses and error messages."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import NoReturn

from rich.text import Text
from typer import Typer

from incast.commands.options import err
from incast.errors import (
    ControllerError,
    ExtraError,
    FolderError,
    ModelError,
    PaperError,
    RunError,
    RunStopped,
    ScenarioError,
    StudyError,
    users_traceback,
)
from incast.system import interrupts, output


def _fail(status: int, error: BaseException, words: str = "") -> NoReturn:
    notes = "".join(f" ({note})" for note in getattr(error, "__notes__", []))
    message = Text.assemble(("error:", "bold red"), " ", output.escaped(f"{words or error}{notes}", keep="\n\t"))
    with suppress(OSError):  # the terminal may be closed
        err.print(message, highlight=False, soft_wrap=True)
    sys.exit(status)


def _interrupted(error: BaseException) -> NoReturn:
    if not interrupts.has_last_word():  # another thread has reported it and ends the process
        threading.Event().wait()
    again = interrupts.again()
    _fail(interrupts.status(), error, f"{interrupts.INTERRUPTED}\n{again}" if again else interrupts.INTERRUPTED)


def _refuse_odd_words(words: Sequence[str]) -> None:
    """Raise ``StudyError`` for a word of the command line that is no text: pages, JSON and SQL could not hold it."""
    for word in words:
        shown = os.fsencode(word).decode("utf-8", "backslashreplace")
        if shown != word:
            there = os.path.lexists(word)
            what = "the name is not UTF-8: rename the folder, or give another one" if there else "expected UTF-8 text"
            raise StudyError(f"{shown}: {what}")


def carry_out(app: Typer) -> None:
    """Run the command line: turn exceptions into messages and exit statuses."""
    try:
        output.guard()
        _refuse_odd_words(sys.argv[1:])
        with interrupts.watched():
            try:
                app()
            finally:
                sys.stdout.flush()
    except (ScenarioError, StudyError, FolderError, PaperError, ModelError, ExtraError) as error:
        _fail(2, error)
    except SystemExit as ended:
        # typer turns Ctrl-C into exit status 130
        if ended.code == 130:
            _interrupted(ended)
        raise
    except (KeyboardInterrupt, RunStopped) as error:
        _interrupted(error)
    except ControllerError as error:
        if message := users_traceback(error):
            err.print(message, highlight=False, markup=False)
        _fail(1, error)
    except (RunError, output.OutputError) as error:
        _fail(1, error)
    except MemoryError as error:
        _fail(1, error, "out of memory; no half-written result was left behind: make the run smaller")
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        again = interrupts.again()
        message = f"cannot write the results: {where}{error.strerror or error}; no half-written result was left behind"
        _fail(1, error, f"{message}\n{again}" if again else message)
