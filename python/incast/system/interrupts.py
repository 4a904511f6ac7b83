"""Ctrl-C, SIGTERM and SIGHUP: the program ends cleanly within a second, at any moment.

Active work gets a ``KeyboardInterrupt`` and cleans up. If that takes too long, in compiled code that does not check
signals, a separate thread removes partial results and ends the process.
"""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NoReturn

INTERRUPTED = "interrupted; no half-written result was left behind"
STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
GRACE_S = 0.6
"""Time that active work may take to clean up."""
RESUMABLE = ("compare", "coexist", "paper", "sensitivity", "study", "tune")
"""Commands that keep finished runs and resume from them."""

half_written: set[Path] = set()
"""Temporary files and folders, to be removed."""

_stopped_by = signal.SIGINT
_last_word = threading.Lock()


def status() -> int:
    """Return the exit status after a signal: 130 Ctrl-C, 143 SIGTERM, 129 SIGHUP."""
    return 128 + _stopped_by


def again() -> str:
    """Return the command that resumes or restarts the interrupted one; empty for other commands."""
    words = sys.argv[1:]
    how = "resume" if words[:1] and words[0] in RESUMABLE else "restart" if words[:1] == ["run"] else ""
    return f"{how} with: {shlex.join(['incast', *words])}" if how else ""


def has_last_word() -> bool:
    """Return whether the caller is the first to report the interruption; others report nothing."""
    return _last_word.acquire(blocking=False)


def _say_and_leave() -> NoReturn:
    lines = [f"error: {INTERRUPTED}", again()]
    with suppress(OSError):  # the terminal may be closed
        os.write(2, "".join(f"{line}\n" for line in lines if line).encode(errors="backslashreplace"))
    os._exit(status())


def _leave_at_once(stop: int, _frame: object) -> NoReturn:
    # While modules load nothing is written yet, and compiled modules turn an early KeyboardInterrupt into other errors.
    global _stopped_by
    _stopped_by = signal.Signals(stop)
    _sweep()
    _say_and_leave()


def _interrupt(stop: int, _frame: object) -> NoReturn:
    global _stopped_by
    _stopped_by = signal.Signals(stop)
    raise KeyboardInterrupt


def _sweep() -> None:
    for path in tuple(half_written):
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def _watch(signals: socket.socket) -> None:
    """Wait for a signal, then for the active work to end; else end the process."""
    global _stopped_by
    while (stop := signals.recv(1)) and stop[0] not in STOPS:
        pass
    if not stop:
        return
    time.sleep(GRACE_S)
    if has_last_word():
        _stopped_by = signal.Signals(stop[0])
        _sweep()
        _say_and_leave()


@contextmanager
def watched() -> Iterator[None]:
    """End the process within a second of Ctrl-C anywhere in this block."""
    # The interpreter writes the signal number there at once, even while the main thread is in compiled code.
    sender, heard = socket.socketpair()
    sender.setblocking(False)
    before = signal.set_wakeup_fd(sender.fileno(), warn_on_full_buffer=False)
    threading.Thread(target=_watch, args=(heard,), name="incast-interrupts", daemon=True).start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        sender.close()


@contextmanager
def loading() -> Iterator[None]:
    """Exit at once on Ctrl-C, SIGTERM or SIGHUP while modules load, before anything is written.

    After the block these signals raise ``KeyboardInterrupt``, so that active work cleans up. SIGHUP is ignored under
    ``nohup``.
    """
    stops = [stop for stop in STOPS if stop != signal.SIGHUP or signal.getsignal(stop) != signal.SIG_IGN]
    for stop in stops:
        signal.signal(stop, _leave_at_once)
    try:
        yield
    finally:
        for stop in stops:
            signal.signal(stop, _interrupt)
