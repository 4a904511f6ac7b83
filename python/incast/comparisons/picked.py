"""Runs of a comparison or of pairs, chosen by controller, value and seed, with a timeline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement

from incast.batch.plan import slug
from incast.comparisons.declaration import Case, ComparisonStudy, Controller, named
from incast.comparisons.grid import APART
from incast.comparisons.report_folder import Home
from incast.errors import StudyError
from incast.runs import repeated
from incast.runs.scenario import text_of
from incast.system.output import nearest
from incast.view import chosen, timelines
from incast.view.timelines import Wanted

MOST = 2
"""Controllers that are chosen by default: two fit beside one another."""


@dataclass(frozen=True)
class Choice:
    """Choice of runs; what is not given has a default."""

    controllers: tuple[str, ...] = ()
    value: str | None = None
    seed: int | None = None
    scenario: str | None = None
    most: int = MOST
    """Most controllers by default; 0: all."""


def wanted(study: ComparisonStudy, home: Home, choice: Choice) -> tuple[list[Wanted], str]:
    """Return the chosen runs of a comparison, and a sentence that says which.

    Defaults: the first scenario, the first two controllers, the middle value, the first seed. Of pairs: the first
    controller beside the second. Raises ``StudyError`` for a choice that the comparison does not have.
    """
    scenario = scenario_of(study, choice.scenario)
    value, seed = _value(study, choice.value), _seed(study, choice.seed)
    cases = {label: Case(scenario, lineup, value, seed) for label, lineup in _lineups(study, choice).items()}
    results = home.results(study, cases.values())
    timeline = dict(study.settings).get(repeated.KEY, "auto")
    first = study.series_cases()[0]
    is_default = (scenario, value, seed) == (first.scenario, first.value, first.seed)
    names = {label: label if is_default else f"{label}-{scenario}-{value}-{seed}" for label in cases}
    places = chosen.places(home.folder, names.values())
    found = [timelines.of_run(results[case][0], label, places[names[label]], timeline) for label, case in cases.items()]
    at = [f"{study.keys} = {value}"] if len(study.stations) > 1 else []
    where = [f"in {scenario}"] if len(study.scenarios) > 1 else []
    return found, ", ".join([" and ".join(cases), *where, *at, f"seed {seed}"])


def point(study: ComparisonStudy, choice: Choice) -> tuple[str, str, dict[str, Controller]]:
    """Return the chosen scenario, value and controllers by name (default: all), over all seeds."""
    own = [_controller(study, name) for name in choice.controllers] or list(study.controllers)
    chosen_ = {name: one for name, one in named(study.controllers).items() if one in own}
    if choice.seed is not None:
        raise StudyError(f"seed {choice.seed}: this picture is over all seeds")
    return scenario_of(study, choice.scenario), _value(study, choice.value), chosen_


def file_name(found: str) -> str:
    """Return the name of the viewer page of some runs, by the sentence that names them."""
    return f"view-{slug(found)[:100]}.html"


def _lineups(study: ComparisonStudy, choice: Choice) -> dict[str, tuple[Controller, ...]]:
    """Return the chosen controllers, or the pair, by label."""
    own = [_controller(study, name) for name in choice.controllers]
    if all(len(one) == 1 for one in study.lineups):
        listed = own or list(study.controllers)[: choice.most or None]
        return {name: (one,) for name, one in named(study.controllers).items() if one in listed}
    if len(own) == 1:
        own *= 2
    if len(own) > 2:
        raise StudyError(f"controllers {', '.join(choice.controllers)}: expected two, which share the fabric")
    pair = set(own or study.controllers[:2])
    pairs = combinations_with_replacement(study.controllers, 2)
    return {f"{one.name} beside {other.name}": (one, other) for one, other in pairs if {one, other} == pair}


def _controller(study: ComparisonStudy, name: str) -> Controller:
    """Find a controller by its text, its short name, or its kind if only one has it."""
    if not isinstance(name, str):
        raise StudyError(f"controller {name!r}: expected a text, one of {_listed(study)}")
    for words in ("text", "name", "kind"):
        found = [one for one in study.controllers if getattr(one, words) == name]
        if len(found) == 1:
            return found[0]
    near = nearest(name, [one.name for one in study.controllers])
    raise StudyError(f"controller {name}: expected one of {_listed(study)}{near}")


def _listed(study: ComparisonStudy) -> str:
    return ", ".join(one.text for one in study.controllers)


def _value(study: ComparisonStudy, value: str | None) -> str:
    if value is None:
        return study.stations[len(study.stations) // 2]
    asked = APART.join(value.split(",")) if len(study.varied) > 1 else value
    if asked not in study.stations:
        near = nearest(asked, study.stations)
        raise StudyError(f"value {value}: {study.keys or 'the scenario'} has {', '.join(study.stations)}{near}")
    return asked


def _seed(study: ComparisonStudy, seed: int | None) -> int:
    if seed is None:
        return 1
    if not isinstance(seed, int) or isinstance(seed, bool) or not 1 <= seed <= study.seeds:
        raise StudyError(f"seed {seed}: expected a number from 1 to {study.seeds}")
    return seed


def scenario_of(study: ComparisonStudy, name: object) -> str:
    """Find a scenario by its argument or its name (default: the first); raises ``StudyError``."""
    if name is None:
        return study.scenarios[0]
    known = dict(zip(study.scenario_names(), study.scenarios, strict=True)) | {one: one for one in study.scenarios}
    if not isinstance(name, str) or name not in known:
        near = nearest(str(name), list(known))
        raise StudyError(f"scenario {name}: expected one of {', '.join(study.scenario_names())}{near}")
    return known[name]


def listed(given: object) -> tuple[str, ...]:
    """Return controllers given as one text, or as several; raises ``StudyError`` for anything else."""
    several = () if given is None else (given,) if isinstance(given, str) else given
    if not isinstance(several, Sequence) or not all(isinstance(one, str) for one in several):
        raise StudyError(f"controllers = {given!r}: expected the text of a controller, or a list of them")
    return tuple(several)


def text(value: object) -> str | None:
    """Return a value of the varied key as a text, if one is given; raises ``StudyError`` for what is no value."""
    try:
        return None if value is None else text_of(value)
    except TypeError:
        raise StudyError(f"value = {value!r}: expected one of the varied key's, such as 650 or '65p'") from None
