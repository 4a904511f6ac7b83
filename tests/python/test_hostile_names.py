"""Names from files that look like HTML: pages and notebooks show them as text, and nothing of them is an element."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from html.parser import HTMLParser
from pathlib import Path

import pytest

import incast
from conftest import Command
from incast import Scenario, Study
from incast.view import page

HOSTILE = "</td></script><hostile onload=alert(1) x='\"><b>&"
"""Ends elements and attributes of either quote, and begins an element that no page has."""
IN_FOLDER = "<hostile onload>'\"<b>&"
SHELL = "<!doctype html><body><!--incast-runs--></body>"
NO_CLASS = "    def {name}(self, event): pass\n"


class Elements(HTMLParser):
    """Finds what elements and attributes a page has, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: set[str] = set()
        self.attributes: set[str] = set()
        self.shown: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.add(tag)
        self.attributes |= {name for name, _ in attrs}
        for name, value in attrs:
            if name == "srcdoc":
                inner = Elements(value or "")
                self.elements |= inner.elements
                self.attributes |= inner.attributes
            assert not (name in ("href", "src") and re.match(r"\s*(?:javascript|vbscript|data:text)", value or ""))

    def handle_data(self, data: str) -> None:
        self.shown.append(data)


def check(text: str, shown: Sequence[str] = ("<hostile onload",), scripts: bool = False) -> None:
    """Check that a page has no element or handler from a name, and shows the name as text."""
    found = Elements(text)
    assert "hostile" not in found.elements
    assert scripts or "script" not in found.elements
    assert not {name for name in found.attributes if name.startswith("on")}
    for word in shown:
        assert word in "".join(found.shown)


@pytest.fixture(autouse=True)
def shell(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Stand in for the viewer, which is built where Node.js is there."""
    monkeypatch.setattr(page, "viewer", lambda: SHELL)
    yield


@pytest.fixture
def scenario(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write a graph and a scenario all of whose names are hostile, and a class in a file with such a name."""
    monkeypatch.chdir(tmp_path)
    nodes = [f"{kind}{HOSTILE}" for kind in ("a", "b", "c")]
    graph = {
        "hosts": nodes[:2],
        "switches": nodes[2:],
        "links": [{"ends": [host, nodes[2]], "rate": "1Gbps", "delay": "1us"} for host in nodes[:2]],
    }
    (tmp_path / "graph.json").write_text(json.dumps(graph))
    (tmp_path / f"{IN_FOLDER}.py").write_text(
        "class Mine:\n" + "".join(NO_CLASS.format(name=name) for name in ("on_ack", "on_loss", "on_timeout"))
    )
    quoted = json.dumps(HOSTILE)
    text = Scenario.load("coexistence").with_({"run.duration": "4ms", "run.warmup": "1ms"}).toml()
    entries = [entry["name"] for entry in Scenario.load("coexistence").resolved()["traffic"]]
    text = re.sub(r'(?m)^name = "coexistence"', f"name = {quoted}", text)
    text = re.sub(r"(?m)^description = .*", f"description = {quoted}", text)
    for number, name in enumerate(entries):
        text = text.replace(f'name = "{name}"', f"name = {json.dumps(f'{number}{HOSTILE}')}")
    path = tmp_path / f"{IN_FOLDER}.toml"
    path.write_text(text)
    return path


@pytest.mark.extended(part="python")
def test_reports_of_comparisons_show_names_as_text(scenario: Path, tmp_path: Path) -> None:
    mine = f"{tmp_path / IN_FOLDER}.py:Mine"
    given = {"measure.timeline": "auto"}
    done = incast.compare(str(scenario), ["dctcp", mine], seeds=2, settings=given, out="c", workers=1)
    check(done.report.read_text(encoding="utf-8"), scripts=True)
    check(done._repr_html_())
    check((done.folder / "view.html").read_text(encoding="utf-8"), (), scripts=True)
    check(done.view()._repr_html_(), (), scripts=True)


@pytest.mark.slow("reports of every kind")
def test_pages_of_pairs_and_of_a_run_show_names_as_text(scenario: Path, tmp_path: Path, incast: Command) -> None:
    words = ("--cc", "dctcp", "--cc", f"./{IN_FOLDER}.py:Mine", "--seeds", "1", "--workers", "1")
    answer = incast("coexist", scenario.name, *words, "--out", IN_FOLDER)
    assert answer.status == 0, answer.err
    check((tmp_path / IN_FOLDER / "report.html").read_text(encoding="utf-8"), scripts=True)
    result = Scenario.load(scenario).run()
    check(result._repr_html_())
    study = Study("dumbbell", settings={"description": HOSTILE}, arms={"a": {"run.duration": "5ms"}})
    check(study._repr_html_())


def test_pages_of_papers_show_names_as_text(incast: Command, paper: Path) -> None:
    quoted = json.dumps(HOSTILE)
    text = (paper / "paper.toml").read_text()
    for key in ("title", "source", "about", "where", "shows", "says", "found", "caption", "label", "unit"):
        text = re.sub(rf'\b{key} = "[^"]*"', lambda _, key=key: f"{key} = {quoted}", text)
    text = text.replace("\nx = ", f"\nassumptions = [{quoted}]\nx = ").replace('x = "Number of flows"', f"x = {quoted}")
    text = text.replace('"DCTCP"', quoted).replace("'DCTCP'", json.dumps(HOSTILE).replace("'", "\\'"))
    text = re.sub(r"(?ms)^\[\[figures.fig1.claims\]\].*", "", text)
    text += (
        f"[[figures.fig1.claims]]\nsays = {quoted}\nwhere = {quoted}\nfound = {quoted}\n"
        "holds = \"delay('Swift', 4) > 1e9\"\n"
    )
    (paper / "paper.toml").write_text(text)
    answer = incast("paper", "run", "./small/fig1", "--seeds", "1", "--out", "p")
    assert answer.status == 0, answer.err
    check((paper.parent / "p/report.html").read_text(encoding="utf-8"), scripts=True)


@pytest.mark.extended(part="python")
def test_a_name_that_is_no_text_is_refused_in_one_sentence(tmp_path: Path) -> None:
    """Names of folders may be any bytes; pages, JSON and SQL hold texts alone."""
    odd = os.fsdecode(b"a\xff")
    own = ("--cc", "dctcp", "--set", "run.duration=1ms", "--set", "run.warmup=0s", "--seeds", "1")
    commands = [
        ["compare", "dumbbell", *own, "--out", odd],
        ["compare", "dumbbell", *own, "--store", odd, "--out", "c"],
        ["compare", "dumbbell", *own, "--vary", "queue.mark=5p", "--vary", "traffic.flows=2", "--out", odd],
        ["coexist", "--cc", "dctcp", "--cc", "swift", "--out", odd],
        ["query", odd, "SELECT 1"],
        ["report", odd],
        ["study", "status", odd],
        ["run", "dumbbell", "--set", "run.duration=1ms", "--out", odd],
        ["view", odd],
    ]
    (tmp_path / odd).mkdir()
    (tmp_path / odd / "store.json").write_text("{}")
    for words in commands:
        done = subprocess.run([sys.executable, "-m", "incast", *words], cwd=tmp_path, capture_output=True)
        told = done.stderr.decode()
        assert done.returncode == 2 and "Traceback" not in told, (words, told)
        assert r"a\xff: the name is not UTF-8: rename the folder, or give another one" in told, (words, told)
    title = subprocess.run(
        [sys.executable, "-m", "incast", *commands[0][:-1], "c", "--title", odd + "b"],
        cwd=tmp_path,
        capture_output=True,
    )
    assert (title.returncode, title.stderr.decode().strip()) == (2, r"error: a\xffb: expected UTF-8 text")
