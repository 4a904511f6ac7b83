"""First screen of a comparison's report: its title, the answer, what was simulated, and what to know about the runs."""

from __future__ import annotations

import tomllib
from html import escape
from typing import Any

from incast.comparisons.comparison import Comparison
from incast.pictures.inline import swatch
from incast.report.notes import notes_of
from incast.report.numbers import duration, scaled
from incast.report.simulated import card, screen, seeds_text, together
from incast.runs.described import Described, described
from incast.system.output import counted


def header(comparison: Comparison) -> str:
    """Return the title, the remark of the user, and the size of the comparison."""
    study = comparison.study
    remark = f'<p class="lead">{escape(study.remark)}</p>' if study.remark else ""
    values = f" at {len(study.values)} values of <code>{escape(study.key)}</code>" if len(study.values) > 1 else ""
    size = (
        f"{counted(len(study.controllers), 'controller')}{values}, {counted(study.seeds, 'seed')}: "
        f"{counted(len(comparison.runs), 'run')}, {scaled(comparison.hops)} hops (packets passing ports) in "
        f"{duration(comparison.cpu_s)} of CPU time."
    )
    return f'<header><h1>{escape(study.title)}</h1>{remark}<p class="lead">{size}</p></header>'


def first_screen(comparison: Comparison, answer: str) -> str:
    """Return the parts below the header: the answer, beside it what was simulated, and the notes on the runs."""
    study = comparison.study
    cards = "".join(_card(comparison, scenario) for scenario in study.scenarios)
    told = []
    for scenario, name in zip(study.scenarios, study.scenario_names(), strict=True):
        of = f"{name}: " if len(study.scenarios) > 1 else ""
        told += [f"{of}{text}" for text in notes_of(comparison, scenario)]
    return screen(answer, cards, told)


def simulated(comparison: Comparison, scenario: str) -> Described:
    """Describe the runs of a scenario: values that the varied key changes are given as ranges."""
    study = comparison.study
    first = study.controllers[0].text
    runs = [comparison.point(scenario, first, value) for value in study.values]
    found = [described(tomllib.loads(of_value[0].toml)) for of_value in runs if of_value]
    rows = together(found)
    if len(study.values) > 1:
        rows.insert(0, ("Varied", f"{study.key} = {', '.join(study.values)}"))
    seeds = seeds_text(range(1, study.seeds + 1))
    seeds += "; the same flows for every controller" if len(study.controllers) > 1 else ""
    rows = [(term, f"{text}, {seeds}" if term == "Run" else text) for term, text in rows]
    rows += [("Controllers", "; ".join(_controller(c.text, c.label) for c in study.controllers))]
    rows += [("Set", ", ".join(f"{key} = {value}" for key, value in study.settings))] if study.settings else []
    return Described(found[0].name, found[0].description, tuple(rows), found[0].tiers)


def _controller(text: str, label: str) -> str:
    """Name a controller with its parameters."""
    name, _, parameters = text.partition(":")
    plain = label.startswith(name) and parameters
    return f"{name} ({parameters.replace(',', ', ')})" if plain else label


def as_json(comparison: Comparison) -> dict[str, Any]:
    """Return the first entries of ``comparison.json``: title, remark, and what was simulated by scenario."""
    study = comparison.study
    found = {scenario: simulated(comparison, scenario) for scenario in study.scenarios}
    return {
        "title": study.title,
        "note": study.remark,
        "simulated": {key: {"description": one.description, **dict(one.rows)} for key, one in found.items()},
    }


def _card(comparison: Comparison, scenario: str) -> str:
    """Return the card of a scenario: drawing, own description, and what was simulated."""
    study, found = comparison.study, simulated(comparison, scenario)
    name = dict(zip(study.scenarios, study.scenario_names(), strict=True))[scenario]
    heading = f": {name}" if len(study.scenarios) > 1 else ""
    changed = bool(study.settings) or len(study.values) > 1
    return card(found, name, heading, changed, first=scenario == study.scenarios[0])


def lines(comparison: Comparison) -> str:
    """Return the legend of all pictures: a button for each controller, which shows and hides its lines."""
    buttons = "".join(
        f'<button type="button" aria-pressed="true" data-number="{number}">{swatch(number)}{escape(c.label)}</button>'
        for number, c in enumerate(comparison.study.controllers)
    )
    return f'<p class="label">Lines in all pictures</p><div class="lines">{buttons}</div>'
