"""Ctrl-C and polite kills: the program ends cleanly from its first moment."""

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
