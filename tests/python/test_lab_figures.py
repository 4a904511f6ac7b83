"""Figures of papers that the lab's page offers."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from incast.papers import reading
from incast.runs.scenario import Scenario
from incast.view import lab as page
from tools import docs_lab, lab_figures


@pytest.fixture(scope="module")
def kept() -> dict[str, Any]:
    """Read the file that the page carries."""
    found: dict[str, Any] = json.loads(lab_figures.FILE.read_text(encoding="utf-8"))
    return found


def test_the_page_says_of_a_figure_what_its_paper_says(kept: dict[str, Any]) -> None:
    for one in kept["papers"]:
        paper = reading.load(reading.home() / one["name"])
        assert (one["title"], one["source"]) == (paper.title, paper.source)
        for figure in one["figures"]:
            assert figure.items() >= lab_figures.said(paper.figures[figure["name"]]).items(), figure["name"]


def test_a_figure_is_its_series_by_controller(kept: dict[str, Any]) -> None:
    paper = reading.load(reading.home() / "swift")
    figure = paper.figures["fig21"]
    found = lab_figures.experiment(paper, figure)
    assert found is not None
    assert found.series == ("with flow scaling", "without flow scaling")
    for text, series in zip(found.controllers, figure.series, strict=True):
        core = Scenario.from_toml(found.text, name="fig21").core
        for key, value in found.set:
            core = core.set(key, value)
        assert Scenario(core.with_controller(text)).hash == paper.scenario(figure, series, figure.points[0]).hash
    offered = next(one for one in kept["papers"] if one["name"] == "swift")["figures"]
    mine = next(one for one in offered if one["name"] == "fig21")
    assert kept["texts"][mine["text"]] == found.text
    assert (mine["controllers"], mine["seeds"]) == ([*found.controllers], found.seeds)


def test_links_of_the_documentation_are_those_experiments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INCAST_LAB", "1")
    paper = reading.load(reading.home() / "hull")
    found = lab_figures.experiment(paper, paper.figures["drain"])
    assert found is not None
    assert found.address.replace("&", "&amp;") in docs_lab.with_lab("", "papers/hull.md")


@pytest.mark.extended(part="python")
def test_the_page_offers_every_figure_that_it_can_run() -> None:
    """All of the file; it is out of date: ``python tools/lab_figures.py``."""
    assert lab_figures.FILE.read_text(encoding="utf-8") == lab_figures.offered()


@pytest.mark.extended(part="python")
def test_every_figure_can_run_under_each_of_its_controllers(kept: dict[str, Any]) -> None:
    for paper, one in ((each["name"], figure) for each in kept["papers"] for figure in each["figures"]):
        core = Scenario.from_toml(kept["texts"][one["text"]], origin=reading.home() / paper, name=one["name"]).core
        for key, value in one["set"]:
            core = core.set(key, value)
        assert {name for name, _ in one.get("files", [])} == {name for name, _ in Scenario(core).files()}
        for scenario in [core, *map(core.with_controller, one["controllers"])]:
            scenario.validate()


def test_limits_are_those_of_the_page(kept: dict[str, Any]) -> None:
    lab = lab_figures.FILE.parent
    text = "".join((lab / name).read_text(encoding="utf-8") for name in ("experiment.ts", "Lab.tsx", "runs.ts"))
    theirs = {name: float(number) for name, number in re.findall(r"\bconst (MOST_\w+) = ([\d_.e]+);", text)}
    for name in ("MOST_CONTROLLERS", "MOST_KEYS", "MOST_WORD", "MOST_HOST_SECONDS"):
        assert theirs[name] == getattr(lab_figures, name), name
    assert (theirs["MOST_FILES"], theirs["MOST_TEXT"]) == (page.MOST_FILES, page.MOST_TEXT)
    assert theirs["MOST_WORD"] == page.MOST_WORD
    assert theirs["MOST_TEXT"] > max(len(one.encode()) for one in kept["texts"])
    # three seeds run in twice the hops
    assert theirs["MOST_HOPS"] >= 2 * lab_figures.MOST_HOPS, "the page would ask before it runs a figure"
    memory = re.search(r"\[MOST_MEMORY, MOST_OF_RUN\] = \[([\de.]+), ([\de.]+)\]", text)
    assert memory is not None and min(float(memory[1]) / 8, float(memory[2])) >= lab_figures.MOST_BYTES
