"""Exit statuses, and the messages that go with them."""

from __future__ import annotations

import sys
import traceback
from typing import NoReturn

from rich.text import Text
from typer import Typer

from incast import output
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
)
from incast.interrupts import INTERRUPTED


def _fail(status: int, error: BaseException, words: str = "") -> NoReturn:
    notes = "".join(f" ({note})" for note in getattr(error, "__notes__", []))
    told = Text.assemble(("error:", "bold red"), " ", output.escaped(f"{words or error}{notes}", keep="\n\t"))
    err.print(told, highlight=False, soft_wrap=True)
    sys.exit(status)


def carry_out(app: Typer) -> None:
    """Carry out the command line: turn what goes wrong into a message and an exit status."""
    try:
        output.guard()
        try:
            app()
        finally:
            sys.stdout.flush()
    except (ScenarioError, StudyError, FolderError, PaperError, ModelError, ExtraError) as error:
        _fail(2, error)
    except SystemExit as ended:
        # typer turns Ctrl-C into the status 130; here a stopped run is a run that failed.
        if ended.code == 130:
            _fail(1, ended, INTERRUPTED)
        raise
    except (KeyboardInterrupt, RunStopped) as error:
        _fail(1, error, INTERRUPTED)
    except ControllerError as error:
        if error.__cause__ is not None:
            err.print("".join(traceback.format_exception(error.__cause__)).rstrip(), highlight=False, markup=False)
        _fail(1, error)
    except (RunError, output.OutputError) as error:
        _fail(1, error)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        _fail(
            1,
            error,
            f"cannot write the results: {where}{error.strerror or error}; no half-written result was left behind",
        )
