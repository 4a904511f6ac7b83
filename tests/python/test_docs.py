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
from incast.commands import kinds
from incast.papers import reading
from incast.report import glossary

PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])

LONG = {
    "console": (
        "docs/choosing.md", "docs/comparing.md", "docs/how-to/choose-k.md", "docs/how-to/cluster.md",
        "docs/how-to/extend-study.md", "docs/how-to/link-failure.md", "docs/how-to/my-fabric.md",
        "docs/how-to/reproduce-figure.md", "docs/how-to/write-controller.md", "docs/papers/changing.md",
        "docs/papers/index.md", "docs/plots.md", "docs/studies.md", "docs/tuning.md",
    ),
    "python": ("docs/plots.md", "docs/python.md"),
}  # fmt: skip
"""Pages whose examples run figures of papers, comparisons or sweeps: in ``make test-all``."""


def blocks(kind: str) -> list[object]:
    """Find every page with blocks of a kind, and their texts."""
    pages = []
    for page in PAGES:
        found = re.findall(rf"^```{kind}\n(.*?)^```$", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
        if found:
            name = page.relative_to(ROOT).as_posix()
            marks = [pytest.mark.extended(part="papers")] if name in LONG[kind] else []
            pages.append(pytest.param(page, found, id=name, marks=marks))
    return pages


def files(text: str) -> dict[str, str]:
    """Find the files that a page prints: blocks behind a paragraph that ends with a path of their own."""
    named = r"`([\w-]+/[\w-]+\.(?:toml|py|txt))`[,:]\n\n```(?:toml|python|text)\n(.*?)^```$"
    return dict(re.findall(named, text, re.DOTALL | re.MULTILINE))


def write_files(page: Path, folder: Path) -> None:
    """Write the files that a page prints."""
    for name, content in files(page.read_text(encoding="utf-8")).items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(content)


def matches(expected: str, printed: str) -> bool:
    """Compare with what the page shows, where ``...`` stands for anything, many lines too."""
    pattern = r"[\s\S]*?".join(re.escape(" ".join(part.split())) for part in expected.split("..."))
    return re.fullmatch(pattern.strip() or "", " ".join(printed.split())) is not None


@pytest.mark.slow("the runs and pictures that the page shows")
@pytest.mark.parametrize(("page", "found"), blocks("console"))
def test_console_examples_print_what_the_page_shows(
    page: Path, found: list[str], incast: Command, tmp_path: Path
) -> None:
    write_files(page, tmp_path)
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


@pytest.mark.slow("the runs and pictures that the page shows")
@pytest.mark.parametrize(("page", "found"), blocks("python"))
def test_python_examples_run(page: Path, found: list[str], tmp_path: Path) -> None:
    write_files(page, tmp_path)
    for block in found:
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", block],
            cwd=tmp_path,
            env=environment(),
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, f"{page}\n{block}\n{done.stderr}"


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


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub makes them."""
    titles = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {"".join(c for c in title.lower().replace(" ", "-") if c.isalnum() or c in "-_") for title in titles}


def test_links_between_pages_lead_somewhere() -> None:
    broken = []
    for page in [*PAGES, *ROOT.glob("*.md"), ROOT / "parity" / "README.md"]:
        for target, anchor in re.findall(r"\]\(([^)#]*)(?:#([^)]*))?\)", page.read_text(encoding="utf-8")):
            if "://" in target:
                continue
            other = page.parent / target if target else page
            if not other.exists() or (anchor and anchor not in anchors(other)):
                broken.append(f"{page.relative_to(ROOT)}: {target}#{anchor}")
    assert not broken


def test_files_that_the_pages_name_are_there() -> None:
    """A path in backticks is one from the root, or on pages about the code the end of one, such as `port/fifo.rs`."""
    tops = (
        "crates",
        "python",
        "tests",
        "tools",
        "bench",
        "parity",
        "mutants",
        "docs",
        "fuzz",
        "scenarios",
        ".ci",
        ".github",
    )
    # without the packages beside them
    viewer = [ROOT / "viewer" / name for name in ("src", "tests", "e2e", "lab-e2e", "wasm")]
    found = [path for top in (*(ROOT / top for top in tops), *viewer) for path in top.rglob("*")]
    found += [*viewer, *ROOT.iterdir()]
    there = {f"/{path.relative_to(ROOT).as_posix()}" for path in found if "__pycache__" not in path.parts}
    whole = r"`((?:crates|python/incast|tests/python|mutants|tools|bench|docs)/[\w./-]*)`"
    own = ("extending.md", "mutants.md", "controllers/adding.md", "explanation/ports.md", "explanation/windows.md")
    about_the_code = {ROOT / "docs" / name for name in own}
    missing = []
    for page in {*PAGES, *ROOT.glob("*.md")}:
        inside = page in about_the_code or (
            page.parent == ROOT and page.stem.isupper() and page.stem not in ("README", "CHANGELOG")
        )
        text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
        for name in re.findall(r"`([\w.-]+/[\w./-]*|[\w-]+\.(?:rs|py|toml))`" if inside else whole, text):
            made_up = "NAME" in name or name.startswith(("build/", "runs/"))
            if not made_up and not any(path.endswith(f"/{name.rstrip('/')}") for path in there):
                missing.append(f"{page.relative_to(ROOT)}: {name}")
    assert not sorted(missing)


FORMS = (ROOT / "docs" / "forms.md").read_text(encoding="utf-8")


def test_every_form_and_every_reference_scenario_is_on_the_page_of_forms() -> None:
    named = set(re.findall(r"`([\w-]+):form=([\w-]+)`", FORMS))
    for controller, _ in kinds.listing("controllers"):
        text = " ".join(kinds.description("controller", controller).split())
        found = re.search(r"form = standard .*?Expected: one of: (.*?)\.", text)
        forms = set(re.findall(r'"([\w-]+)"', found[1])) - {"standard"} if found else set()
        assert {form for name, form in named if name == controller} == forms, controller
    of_references = {name for name, _ in kinds.listing("scenarios") if name.split("-")[0] in ("ns3", "htsim", "linux")}
    assert of_references <= set(re.findall(r"`([\w-]+)`", FORMS))


ARTEFACTS = re.findall(r"^\| .*$", FORMS.partition("## Artefacts")[2].partition("```")[0], re.MULTILINE)[2:]


@pytest.mark.parametrize("line", ARTEFACTS)
def test_artefacts_are_switched_by_the_keys_named(line: str) -> None:
    """Every setting named is one that the scenario takes; those of the first column are what it has."""
    _, on, off = (cell.strip() for cell in line.strip("|").split(" | "))
    for cell, is_on in ((on, True), (off, False)):
        for setting in re.findall(r"`([\w.]+=[^`]+)`", cell):
            key, _, value = setting.partition("=")
            name = "ns3-hotspot" if key == "traffic.to_itself" else "ns3-random-hotspot"
            scenario = Scenario.load("ns3-star" if "whole_writes" in key else name)
            changed = scenario.with_({key: value})
            changed.validate()
            assert (changed.hash == scenario.hash) == is_on, setting


def test_the_packages_own_examples_run() -> None:
    import doctest

    import incast as package
    import incast.runs.scenario as scenario_module

    for module in (package, scenario_module):
        outcome = doctest.testmod(module)
        assert outcome.attempted > 0
        assert outcome.failed == 0


def test_the_glossary_of_reports_is_that_of_the_page() -> None:
    page = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8").replace("`", "")
    told = re.findall(r"^## (.+)\n\n((?:.+\n)+)", page, re.MULTILINE)
    found = {term: re.sub(r" \[More\]\(.*\)\.$", "", " ".join(meaning.split())) for term, meaning in told}
    assert {term: found.get(term) for term in glossary.TERMS} == glossary.TERMS
    assert list(glossary.TERMS) == sorted(glossary.TERMS, key=str.lower)


@pytest.mark.parametrize("name", ["README.md", "docs/index.md"])
def test_numbers_of_the_home_page_are_those_of_their_sources(name: str) -> None:
    page = (ROOT / name).read_text(encoding="utf-8")
    cells = re.search(
        r"^\| \*\*all\*\* \|(.*)\|$", (ROOT / "docs/fidelity.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert cells
    _, _, hold, explained, miss, _ = (int(cell.strip(" *")) for cell in cells[1].split("|"))
    assert f"{hold:,d} of {hold + explained + miss:,d}" in page
    assert re.search(rf"\b{explained}\b.*explained by a named rule, {miss}\s", page)
    figures = sum(len(reading.find(paper)[1]) for paper in reading.names())
    assert f"{figures} figures of" in page
    speeds = "8.1 to 19.7"
    assert speeds in page
    assert "19.7, 18.3, 8.1" in (ROOT / "PERFORMANCE.md").read_text(encoding="utf-8")
