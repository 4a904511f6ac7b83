"""Skips: in CI one that is not on the list of ``tests/skips.toml`` fails the tests."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterable
from pathlib import Path

import pytest

LIST = Path(__file__).parents[1] / "skips.toml"
HELD = "INCAST_SKIPS_LISTED"
"""The variable of the environment that CI sets."""


def allowed() -> list[str]:
    """Give the beginnings of the texts on the list, each of which has a reason."""
    entries = tomllib.loads(LIST.read_text(encoding="utf-8"))["skip"]
    assert all(entry["why"] for entry in entries)
    return [entry["says"] for entry in entries]


def unlisted(texts: Iterable[str]) -> list[str]:
    """Return the texts of skips that are not on the list."""
    beginnings = tuple(allowed())
    return sorted({text for text in texts if not text.startswith(beginnings)})


class Skips:
    """Gathers the texts of skips; pytest ends with status 1 where one is not on the list."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def add(self, report: pytest.TestReport | pytest.CollectReport) -> None:
        """Remember a skip: its report has file, line and text."""
        if report.skipped and isinstance(report.longrepr, tuple) and not hasattr(report, "wasxfail"):
            self.texts.append(report.longrepr[2].removeprefix("Skipped: "))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Remember the skip of a test."""
        self.add(report)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Remember the skip of a file."""
        self.add(report)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Fail."""
        if unlisted(self.texts) and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say which skips fail."""
        if found := unlisted(self.texts):
            terminalreporter.section("skipped, and not on the list of tests/skips.toml")
            terminalreporter.write_line("\n".join(found))


def plugins() -> list[Skips]:
    """Give what holds the list, where it is to be held."""
    return [Skips()] if os.environ.get(HELD) else []
