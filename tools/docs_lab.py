"""Links of the documentation's site that open the lab: scenarios, controllers, queues, figures of papers.

``make site`` puts the lab beside the documentation and sets ``INCAST_LAB``; without it pages have no such link.
"""

from __future__ import annotations

import os
import posixpath
from html import escape
from pathlib import PurePosixPath

from incast import Scenario, _core
from incast.errors import IncastError
from incast.papers import reading
from incast.view import lab
from tools import lab_figures

PAGE = "lab/index.html"
SHORT = (("run.duration", "40ms"), ("run.warmup", "10ms"))
"""Of the dumbbell: a run of a moment."""
QUEUES = {
    "random-drop": (("queue.kind", "random-drop"), ("queue.threshold", "100p")),
    "red": (("queue.kind", "red"), ("queue.min_th", "30p"), ("queue.max_th", "90p")),
    "fair-nic": (("queue.host.kind", "fair-nic"),),
    "ecn-ramp": (
        ("queue.kind", "ecn-ramp"),
        ("queue.limit", "none"),
        ("queue.min", "30kB"),
        ("queue.max", "120kB"),
        ("queue.probability", "0.2"),
    ),
}
"""Keys of queues that need more than their kind."""
CLASSES = {
    "strict-priority": (),
    "weighted": (
        (
            "queue",
            '{ kind = "weighted", weights = [3, 1], classes = [{ kind = "drop-tail", limit = "100p" }, '
            '{ kind = "ecn-threshold", limit = "250p", mark = "65p" }] }',
        ),
    ),
}
"""Keys of queues with classes, over the scenario whose traffic has two."""
PROGRAMS = ("rcp", "d3", "xcp", "bolt")
"""Controllers that heed a program of the same name in switches."""
BESIDE = "dctcp"
"""The controller that others are compared with."""


HERO = "[How-to](how-to/choose-k.md){ .btn }"
"""Last button of the home page."""


def with_lab(markdown: str, uri: str) -> str:
    """Return a page with its links to the lab."""
    if not os.environ.get("INCAST_LAB"):
        return markdown
    if uri == "index.md":
        return markdown.replace(HERO, f'{HERO} <a class="btn" href="{PAGE}">Run it in this tab</a>')
    return markdown + _section(uri)


def _section(uri: str) -> str:
    """Return what a page says of the lab, as Markdown; empty if nothing of it runs there."""
    path = PurePosixPath(uri)
    if uri == "lab.md":
        links = [_link(uri, name, lab.address(name)) for name, _ in _core.list_kind("scenarios")]
        return "\n".join(["", "## Every scenario", "", *(f"- {one}" for one in links), ""])
    if path.parts[0] == "controllers" and path.stem in {name for name, _ in _core.list_kind("controllers")}:
        compared = [path.stem] if path.stem == BESIDE else [path.stem, BESIDE]
        program = (("program", f'[{{ kind = "{path.stem}" }}]'),) if path.stem in PROGRAMS else ()
        return _button(uri, f"{path.stem} in the lab", _tried("dumbbell", (*SHORT, *program), compared))
    if path.parts[0] == "queues" and path.stem in {name for name, _ in _core.list_kind("queues")}:
        if path.stem in CLASSES:
            return _button(uri, f"{path.stem} in the lab", _tried("priority", CLASSES[path.stem], [BESIDE]))
        keys = QUEUES.get(path.stem, (("queue.kind", path.stem),))
        return _button(uri, f"{path.stem} in the lab", _tried("dumbbell", (*SHORT, *keys), [BESIDE]))
    if path.parts[0] == "papers" and path.stem in reading.names():
        paper = reading.load(reading.home() / path.stem)
        links = [_link(uri, one.words, one.address) for one in lab_figures.experiments(paper)]
        return "\n".join(["", "## In the lab", "", *(f"- {one}" for one in links), ""]) if links else ""
    return ""


def _tried(scenario: str, settings: tuple[tuple[str, str], ...], controllers: list[str]) -> str | None:
    """Return the address of an experiment; ``None`` if the program refuses it."""
    try:
        changed = Scenario.load(scenario).with_(dict(settings))
        for controller in controllers:
            changed.with_controller(controller).validate()
    except IncastError:
        return None
    return lab.address(scenario, settings, controllers)


def _link(uri: str, words: str, address: str, style: str = "") -> str:
    """Return a link to the lab from a page, as HTML: the page lies beside the documentation."""
    place = posixpath.relpath(PAGE, posixpath.dirname(uri) or ".")
    return f'<a{style} href="{escape(f"{place}#{address}")}">{escape(words)}</a>'


def _button(uri: str, words: str, address: str | None) -> str:
    if address is None:
        return ""
    link = _link(uri, words, address, ' class="md-button"')
    return f"\n\n{link}\n"
