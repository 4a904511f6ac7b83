"""Documentation that runs: ``console`` and ``python`` blocks, and commands named in the text."""

from __future__ import annotations

import itertools
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT, Command, environment
from incast import Scenario

PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])


def blocks(kind: str) -> list[object]:
    """Find every page with blocks of a kind, and their texts."""
    pages = []
    for page in PAGES:
        found = re.findall(rf"^```{kind}\n(.*?)^```$", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
        if found:
            pages.append(pytest.param(found, id=str(page.relative_to(ROOT))))
    return pages


def matches(expected: str, printed: str) -> bool:
    """Compare with what the page shows, where ``...`` stands for anything, many lines too."""
    pattern = r"[\s\S]*?".join(re.escape(" ".join(part.split())) for part in expected.split("..."))
    return re.fullmatch(pattern.strip() or "", " ".join(printed.split())) is not None


@pytest.mark.parametrize("found", blocks("console"))
def test_console_examples_print_what_the_page_shows(found: list[str], incast: Command) -> None:
    commands = 0
    for block in found:
        for example in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            line, _, expected = example.partition("\n")
            words = shlex.split(line)
            assert words[0] == "incast", line
            answer = incast(*words[1:])
            printed = answer.out + answer.err
            assert matches(expected, printed), f"$ {line}\nexpected:\n{expected}\nprinted:\n{printed}"
            assert (answer.status == 0) == (not expected.startswith("error:")), answer.err
            commands += 1
    assert commands


@pytest.mark.parametrize("found", blocks("python"))
def test_python_examples_run(found: list[str], tmp_path: Path) -> None:
    for block in found:
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", block],
            cwd=tmp_path,
            env=environment(),
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, f"{block}\n{done.stderr}"


NAMED = sorted(
    {
        (page.relative_to(ROOT).as_posix(), command)
        for page in PAGES
        for command in re.findall(r"`(incast run [a-z][^`]*)`", page.read_text(encoding="utf-8"))
    }
)


@pytest.mark.parametrize(("page", "command"), NAMED)
def test_runs_named_in_the_text_are_valid(page: str, command: str) -> None:
    words = shlex.split(command)
    settings = [after for word, after in itertools.pairwise(words) if word == "--set"]
    scenario = Scenario.load(words[2]).with_(dict(setting.split("=", 1) for setting in settings))
    scenario.validate()


def test_links_between_pages_lead_somewhere() -> None:
    broken = []
    for page in [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]:
        for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            if "://" not in target and not (page.parent / target).exists():
                broken.append(f"{page.relative_to(ROOT)}: {target}")
    assert not broken


def test_the_packages_own_examples_run() -> None:
    import doctest

    import incast as package
    import incast.scenario as scenario_module

    for module in (package, scenario_module):
        outcome = doctest.testmod(module)
        assert outcome.attempted > 0
        assert outcome.failed == 0
