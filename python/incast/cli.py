"""The program ``incast``: what surrounds its commands, so that it ends cleanly from its first moment.

Exit status 0: done; 1: a run failed, was stopped, or its results could not be written; 2: bad
input. Messages go to the standard error, results to the standard output.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

INTERRUPTED = "interrupted; no half-written result was left behind"


def _leave_at_once(_signal: int, _frame: object) -> NoReturn:
    # While modules load nothing is written yet, and compiled modules turn a KeyboardInterrupt in
    # their first moments into errors of their own.
    os.write(2, f"error: {INTERRUPTED}\n".encode())
    os._exit(1)


def _interrupt(_signal: int, _frame: object) -> NoReturn:
    raise KeyboardInterrupt


@contextmanager
def loading() -> Iterator[None]:
    """Leave at once on Ctrl-C or a polite kill while modules load, before anything is written.

    From the end of the block on both raise ``KeyboardInterrupt``, so that work under way cleans up.
    """
    for stop in (signal.SIGINT, signal.SIGTERM):
        signal.signal(stop, _leave_at_once)
    try:
        yield
    finally:
        for stop in (signal.SIGINT, signal.SIGTERM):
            signal.signal(stop, _interrupt)


def main() -> None:
    """Run the command line."""
    with loading():
        from incast import commands
    commands.carry_out()


if __name__ == "__main__":
    main()
