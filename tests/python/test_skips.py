"""Checks of ``conftest.py`` on all tests: their CPU time, and in CI their skips."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import cpu_time
import skips
from conftest import ROOT

CONFTEST = f"""
import sys
sys.path.insert(0, {str(ROOT / "tests/python")!r})
import cpu_time, skips
cpu_time.FAILS_AT_S = cpu_time.LISTED_AT_S = 0.1
cpu_time.slowness = lambda: 1.0
def pytest_configure(config):
    for plugin in (cpu_time.CpuTime(lambda: 0.0), *skips.plugins()):
        config.pluginmanager.register(plugin)
"""

LONG = """
import time, pytest
def long():
    until = time.process_time() + 0.2
    while time.process_time() < until:
        pass
def test_a(): long()
@pytest.mark.slow("why")
def test_b(): long()
@pytest.mark.extended(part="python")
def test_c(): long()
def test_d(): time.sleep(0.2)
"""


def tried(folder: Path, text: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run tests of a text beside what this project holds of its own."""
    (folder / "conftest.py").write_text(CONFTEST)
    (folder / "pytest.ini").write_text("[pytest]\nmarkers =\n    slow\n    extended\n")
    (folder / "test_it.py").write_text(text)
    env = {key: value for key, value in os.environ.items() if key not in (skips.HELD, "PYTEST_ADDOPTS")}
    env |= {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"} | variables
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", "--rootdir", ".", "."]
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)


def test_a_test_that_takes_long_fails_unless_it_says_why(tmp_path: Path) -> None:
    done = tried(tmp_path, LONG)
    assert done.returncode == 1
    assert "1 failed, 3 passed" in done.stdout
    assert "test_it.py::test_a" in done.stdout.partition("no reason is given")[2]
    assert "s of CPU time, and a test takes less than 0.1: make it shorter, or say why it is not with" in done.stdout


def test_a_test_that_takes_long_passes_where_the_machine_is_slow_by_then(tmp_path: Path) -> None:
    later = "import cpu_time\ncpu_time.slowness = lambda: 10.0\n"
    done = tried(tmp_path, later + LONG)
    assert done.returncode == 0, done.stdout


def test_a_slow_machine_has_limits_as_much_higher(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpu_time, "LOOP_S", 1e-4)
    assert cpu_time.slowness() > 5


LISTED = """
import pytest
def test_a(): pytest.skip("tshark is not installed: apt-get install tshark")
@pytest.mark.xfail
def test_b(): assert False
"""
UNLISTED = """
import pytest
def test_c(): pytest.skip("not today")
@pytest.mark.skipif(True, reason="not here")
def test_d(): pass
"""


def test_a_skip_that_is_not_on_the_list_fails_in_ci(tmp_path: Path) -> None:
    done = tried(tmp_path, LISTED, **{skips.HELD: "1"})
    assert done.returncode == 0, done.stdout
    (tmp_path / "test_more.py").write_text("import pytest\npytest.importorskip('no_such_module', reason='not ever')\n")
    done = tried(tmp_path, LISTED + UNLISTED, **{skips.HELD: "1"})
    assert done.returncode == 1, done.stdout
    told = done.stdout.partition("not on the list of tests/skips.toml")[2].splitlines()
    assert told[1:4] == ["not ever", "not here", "not today"]


def test_the_list_of_skips_is_held_in_ci_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(skips.HELD, "1")
    assert skips.plugins()
    monkeypatch.delenv(skips.HELD)
    assert not skips.plugins()


def test_every_skip_on_the_list_is_one_of_a_test() -> None:
    others = [path for path in (ROOT / "tests/python").glob("*.py") if path != Path(__file__)]
    texts = "\n".join(path.read_text(encoding="utf-8") for path in others)
    assert [beginning for beginning in skips.allowed() if beginning not in texts] == []
