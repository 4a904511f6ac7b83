"""Progress bars on a terminal, for work of more than a second; silent elsewhere."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from incast.system.output import escaped

if TYPE_CHECKING:
    from incast.batch.runner import Status

PATIENCE_S = 1.0
"""Time before a bar appears."""


class _Bar:
    """A progress bar that appears after a while and vanishes when the work ends."""

    def __init__(self, console: Console) -> None:
        self.started = time.monotonic()
        self.progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=None),
            TextColumn("{task.percentage:>3.0f} %"),
            TextColumn("{task.fields[words]}"),
            TimeRemainingColumn(),
            TextColumn("left"),
            console=console,
            transient=True,
        )
        self.task: TaskID | None = None
        self.timer: threading.Timer | None = None
        self.lock = threading.Lock()
        self.closed = False

    def wait(self, description: str, words: str) -> None:
        """Show a bar without a percentage, once the work takes long."""

        def show() -> None:
            with self.lock:
                if self.task is None and not self.closed:
                    self.progress.start()
                    self.task = self.progress.add_task(description, total=None, words=words)

        self.timer = threading.Timer(PATIENCE_S, show)
        self.timer.daemon = True
        self.timer.start()

    def update(self, description: str, part: float, words: str) -> None:
        with self.lock:
            if self.task is None:
                if time.monotonic() - self.started < PATIENCE_S:
                    return
                self.progress.start()
                self.task = self.progress.add_task(description, total=1.0, words=words)
            self.progress.update(self.task, description=description, total=1.0, completed=part, words=words)

    def close(self) -> None:
        with self.lock:
            self.closed = True
        if self.timer is not None:
            self.timer.cancel()
        if self.task is not None:
            self.progress.stop()


@contextmanager
def of_wait(console: Console, description: str, quiet: bool) -> Iterator[None]:
    """Show a bar without a percentage, on a terminal only."""
    if quiet or not console.is_terminal:
        yield
        return
    bar = _Bar(console)
    bar.wait(escaped(description), "")
    _waiting.append(bar)
    try:
        yield
    finally:
        _waiting.remove(bar)
        bar.close()


_waiting: list[_Bar] = []


def clear() -> None:
    """Remove the bar for good, before a question that it would overwrite."""
    for bar in _waiting:
        bar.close()


@contextmanager
def of_run(
    console: Console, name: str, quiet: bool
) -> Iterator[tuple[Callable[[float, float, int], bool] | None, Callable[[float], bool] | None]]:
    """Yield the callbacks of one run, for its events and its set-up; none without a terminal."""
    if quiet or not console.is_terminal:
        yield None, None
        return
    bar = _Bar(console)
    bar.wait(escaped(name), "setting up")

    def show(now_s: float, end_s: float, hops: int) -> bool:
        speed = hops / max(time.monotonic() - bar.started, 1e-9)
        bar.update(
            escaped(name),
            now_s / end_s if end_s > 0 else 1.0,
            f"{now_s:.3g} of {end_s:g} s, {speed / 1e6:.1f} M hops/s",
        )
        return True

    def set_up(part: float) -> bool:
        bar.update(escaped(name), part, "of set-up")
        return True

    try:
        yield show, set_up
    finally:
        bar.close()


@contextmanager
def of_batch(console: Console, quiet: bool) -> Iterator[Callable[[Status], None]]:
    """Yield the callback that shows the progress of a batch of runs."""
    if quiet or not console.is_terminal:
        yield lambda _: None
        return
    bar = _Bar(console)

    def show(status: Status) -> None:
        speed = status.hops / max(time.monotonic() - bar.started, 1e-9)
        bar.update(
            status.what,
            status.done / status.total if status.total else 1.0,
            f"{status.finished} of {status.total}, {speed / 1e6:.1f} M hops/s",
        )

    try:
        yield show
    finally:
        bar.close()
