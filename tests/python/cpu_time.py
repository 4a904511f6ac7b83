"""CPU time of each test, and the tests that take more than a second of it without a word why.

CPU time, and not time on the clock: a machine that others use too makes a test wait more than it makes it work.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator

import pytest

LISTED_AT_S = 1.0
FAILS_AT_S = 3.0
"""Far above what is listed: caches and hyperthreads that others use cost some half more, for moments twice as much."""
LOOP, LOOP_S, LOOPS = 200_000, 0.006, 10
"""Steps of a loop, its CPU time on the machine that the limits are of, and how often it is measured."""
KEY = "cpu_s"


class CpuTime:
    """Measures every test; ``more`` gives CPU time that is not this process's or its children's."""

    def __init__(self, more: Callable[[], float]) -> None:
        self.more = more
        self.slower = slowness()
        self.over: list[tuple[float, str]] = []

    def now(self) -> float:
        """CPU time of this process, of its children that have ended and of the commands of the tests."""
        times = os.times()
        return sum(times[:4]) + self.more()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        """Measure a test; one that passed and took far too long fails."""
        begun = self.now()
        try:
            yield
        finally:
            took = self.now() - begun
            item.user_properties.append((KEY, round(took, 2)))
        if took > FAILS_AT_S and not explained(item) and took > FAILS_AT_S * slowness():
            pytest.fail(
                f"took {took:.1f} s of CPU time, and a test takes less than {LISTED_AT_S:g}: make it shorter, or say "
                'why it is not with @pytest.mark.slow("reason") or @pytest.mark.extended(part="...")',
                pytrace=False,
            )

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Remember which took more than it may."""
        took = dict(report.user_properties).get(KEY)
        marked = {"slow", "extended"} & set(report.keywords)
        if report.when == "call" and isinstance(took, float) and took > LISTED_AT_S * self.slower and not marked:
            self.over.append((took, report.nodeid))

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """List them."""
        if self.over:
            terminalreporter.section(f"over {LISTED_AT_S:g} s of CPU time, and no reason is given")
            for took, name in sorted(self.over, reverse=True):
                terminalreporter.line(f"{took:5.1f} s {name}")


def explained(item: pytest.Item) -> bool:
    """Return whether a test has a reason for its CPU time."""
    return any(item.get_closest_marker(name) for name in ("slow", "extended"))


def slowness() -> float:
    """Return how many times as long as on the machine of the limits a loop takes on this one now, at least 1."""
    begun = time.process_time()
    for _ in range(LOOPS):
        sum(i * i for i in range(LOOP))
    return max(1.0, (time.process_time() - begun) / LOOPS / LOOP_S)
