"""Figures under a changed set-up: keys of their runs that a command sets or varies."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from incast.batch.plan import slug, unique_names
from incast.errors import PaperError, ScenarioError
from incast.papers.definition import Change, Claim, Figure, Paper, Point, Series, X
from incast.runs.scenario import Scenario, in_order, toml_value, value_at
from incast.system.output import nearest

Pairs = Sequence[tuple[str, str]]
"""Settings: keys and values."""
MOST_LINES = 24
"""Most series of a figure with the curves of all values; beyond that there are only the figures per value."""
LACKING = (": unknown key", " has no parameter ")
"""Parts of messages about keys unknown to a scenario, which another scenario may have."""
NEAR = "did you mean"
"""Part of messages with a hint at a similar key."""
Tell = Callable[[str], object]


def of(
    paper: Paper,
    figure: Figure,
    scale: str,
    given: Pairs,
    vary: tuple[str, Sequence[str]] | None,
    only: Sequence[str],
    tell: Tell,
) -> Paper:
    """Return a paper of the changed figure; with ``vary`` of one figure per value, and one with all curves.

    ``only`` are the series to change (default: all with the keys). ``tell`` receives notes about unchanged series.
    Raises ``PaperError`` if points set a key, if some series set one and others do not, if nothing changes, or if a
    figure has no runs, and ``ScenarioError`` for wrong keys and values.
    """
    at = figure.at(scale)
    runs = [one for one in at.series if not one.values]
    _refuse(paper, at, runs, given, vary, only)
    chosen = [one for one in runs if not only or one.name in only]
    notes: dict[str, None] = {}

    def changed(pairs: Pairs) -> Figure:
        return _changed(paper, figure, at, chosen, pairs, bool(only), notes.setdefault)

    if vary is None:
        found = [changed(given)]
    else:
        key, values = vary
        names = unique_names([f"{figure.name}-{slug(value)[:40]}"] for value in values)
        each = [replace(changed([*given, (key, value)]), name=name) for name, value in zip(names, values, strict=True)]
        _refuse_equal_values(paper, each, scale, key, values)
        beside = _all_curves(figure, each, key, values)
        found = [beside, *each] if len(beside.series) <= MOST_LINES else each
    for note in notes:
        tell(note)
    return replace(paper, figures={one.name: one for one in found})


def _refuse(
    paper: Paper,
    figure: Figure,
    runs: Sequence[Series],
    given: Pairs,
    vary: tuple[str, Sequence[str]] | None,
    only: Sequence[str],
) -> None:
    called = paper.called(figure)
    if not runs:
        raise PaperError(
            f"{called}: every series is computed by a formula, so there are no runs to change; edit the "
            f"formulas of a copy: incast paper copy {called} DIR"
        )
    for name in only:
        if name not in (known := [one.name for one in runs]):
            raise PaperError(f'--series "{name}"{nearest(name, known)}: expected one of {", ".join(known)}')
    keys = [key for key, _ in given]
    for key in keys:
        if keys.count(key) > 1:
            raise PaperError(f"--set {key}: given more than once; expected one value")
    if vary is not None and vary[0] in keys:
        raise PaperError(f"--vary {vary[0]}: also given by --set; expected one of the two")
    for key in [*keys, *([vary[0]] if vary else [])]:
        if key == "run.seed":
            raise PaperError(f"{key}: a figure runs every point under its own seeds: use --seeds")


def _changed(
    paper: Paper,
    figure: Figure,
    at: Figure,
    chosen: Sequence[Series],
    given: Pairs,
    is_named: bool,
    tell: Tell,
) -> Figure:
    """Return the figure with settings applied to the series that have the keys and that they change.

    Series that set a key themselves take the new value; if only some set it, they must be named.
    """
    asked = dict(given)
    before = {
        (series.name, point.x): paper.scenario(replace(at, changes=()), series, point)
        for series in chosen
        for point in at.points
    }
    takers = _takers(paper, at, chosen, asked, before, tell)
    for series in chosen:
        _refuse_own(paper, at, series, {key: asked[key] for key in takers if series.name in takers[key]}, before)
    for key in () if is_named else asked:
        own = [one.name for one in chosen if one.name in takers[key] and _sets(paper, at, one, key, asked[key], before)]
        others = [name for name in takers[key] if name not in own]
        if own and others:
            raise PaperError(
                f"{key}: some series of {paper.called(at)} set it themselves ({'; '.join(own)}), and some do not "
                f"({'; '.join(others)}): give --series NAME for each that is to change"
            )
    changes = [_change(key, asked, takers, before) for key in asked]
    idle = [one.text for one in changes if not one.series]
    if len(idle) == len(changes):
        raise PaperError(f"{', '.join(idle)} has no effect on {paper.called(at)}: all its runs are the same without it")
    for text in idle:
        tell(f"{text} has no effect: all runs are the same without it")
    found = replace(figure, changes=[one for one in changes if one.series])
    _refuse_equal(paper, replace(at, changes=found.changes), chosen, before)
    return replace(found, claims=[_without_reason(one) for one in figure.claims])


Runs = Mapping[tuple[str, X], Scenario]
"""Scenarios by series and point."""


def _takers(
    paper: Paper, at: Figure, chosen: Sequence[Series], asked: Mapping[str, str], before: Runs, tell: Tell
) -> dict[str, list[str]]:
    """Find the series that have each key; raises ``ScenarioError`` if none has it, or for a wrong value."""
    takers: dict[str, list[str]] = {key: [] for key in asked}
    lacking: dict[str, ScenarioError] = {}
    for series in chosen:
        taken: dict[str, str] = {}
        for key in in_order(asked):
            try:
                for point in at.points:
                    before[series.name, point.x].changed(taken | {key: asked[key]})
            except ScenarioError as error:
                if not any(part in str(error) for part in LACKING):
                    error.add_note(f"in the series {series.name} of {paper.called(at)}")
                    raise
                if key not in lacking or NEAR in str(error):
                    lacking[key] = error
                continue
            taken[key] = asked[key]
            takers[key].append(series.name)
    for key, names in takers.items():
        if not names:
            raise lacking[key]
        if left := [one.name for one in chosen if one.name not in names]:
            have = "have" if len(left) > 1 else "has"
            tell(f"{key}: {'; '.join(left)} {have} no such key, and stay{'s' * (len(left) == 1)} as published")
    return takers


def _change(key: str, asked: Mapping[str, str], takers: Mapping[str, Sequence[str]], before: Runs) -> Change:
    """Find the series in which a key changes something, with the old values."""
    names: dict[str, None] = {}
    was: dict[str, None] = {}
    for (name, _), scenario in before.items():
        if name not in takers[key]:
            continue
        others = {one: asked[one] for one in asked if one != key and name in takers[one]}
        if scenario.changed(others) == scenario.changed({**others, key: asked[key]}):
            continue
        names[name] = None
        if (old := value_at(scenario.resolved(), key)) is not None:
            was[old] = None
    return Change(key, asked[key], tuple(names), tuple(was))


def _refuse_own(paper: Paper, at: Figure, series: Series, own: Mapping[str, str], before: Runs) -> None:
    """Refuse a change of keys that the points of a figure set."""
    known: dict[Scenario, X] = {}
    for point in at.points if own else []:
        whole = before[series.name, point.x]
        last = whole.changed(own)
        other = known.setdefault(last, point.x)
        bare = replace(point, set={})
        is_set = any(_names(point.set, key) for key in own) or _is_put_back(
            paper, at, series, bare, own, point.set, last
        )
        if is_set or before[series.name, other] != whole:
            settings = ", ".join(f"{key} = {toml_value(value)}" for key, value in point.set.items())
            raise PaperError(
                f"{', '.join(own)}: the points of {at.name} set it themselves (at {point.x}: {settings}); edit the "
                f"points of a copy: incast paper copy {paper.called(at)} DIR"
            )


def _sets(paper: Paper, at: Figure, series: Series, key: str, value: str, before: Runs) -> bool:
    """Return whether a series sets a key itself."""
    if _names(series.set, key):
        return True
    own, bare = {key: value}, replace(series, set={})
    for point in at.points[:1]:
        last = before[series.name, point.x].changed(own)
        later = {**series.set, **point.set}
        return _is_put_back(paper, at, bare, replace(point, set={}), own, later, last)
    return False


def _names(table: Mapping[str, Any], key: str, place: str = "") -> bool:
    """Return whether a table of settings has a key, or keys below it; also in controllers written as one text."""
    for name, value in table.items():
        whole = f"{place}{name}"
        if whole == key or whole.startswith(f"{key}."):
            return True
        if isinstance(value, Mapping) and _names(value, key, f"{whole}."):
            return True
        if isinstance(value, str) and whole.rpartition(".")[2] == "controller" and ":" in value:
            words = (word.partition("=")[0].strip() for word in value.partition(":")[2].split(","))
            if key in [f"{whole}.{word}" for word in words]:
                return True
    return False


def _is_put_back(
    paper: Paper,
    at: Figure,
    series: Series,
    point: Point,
    own: Mapping[str, str],
    later: Mapping[str, Any],
    last: Scenario,
) -> bool:
    """Return whether later settings undo a change."""
    if not later:
        return False
    try:
        bare = paper.scenario(replace(at, changes=()), series, point)
        return bare.changed(own).changed(dict(later)) != last
    except ScenarioError:
        # the key comes with the later settings
        return False


def _refuse_equal(paper: Paper, after: Figure, chosen: Sequence[Series], before: Runs) -> None:
    """Refuse a change that makes two different series equal at a point."""
    for point in after.points:
        known: dict[Scenario, str] = {}
        for series in chosen:
            other = known.setdefault(paper.scenario(after, series, point), series.name)
            if before[other, point.x] != before[series.name, point.x]:
                settings = ", ".join(f"--set {one.text}" for one in after.changes)
                raise PaperError(
                    f"{settings}: {other} and {series.name} are then the same; give --series NAME for one of them"
                )


def _without_reason(claim: Claim) -> Claim:
    """Return a claim without reasons that hold for the published set-up only."""
    reasons: dict[str, Any] = {one.name: "" for one in fields(claim) if one.name.startswith("found")}
    return replace(claim, **reasons)


def _refuse_equal_values(paper: Paper, found: Sequence[Figure], scale: str, key: str, values: Sequence[str]) -> None:
    known: dict[str, str] = {}
    for figure, value in zip(found, values, strict=True):
        at = figure.at(scale)
        runs = [one for one in at.series if not one.values]
        text = "\n".join(paper.scenario(at, series, at.points[0]).toml() for series in runs)
        if text in known:
            raise PaperError(f"--vary {key}: {known[text]} and {value} are the same: give one of them")
        known[text] = value


def _all_curves(figure: Figure, found: Sequence[Figure], key: str, values: Sequence[str]) -> Figure:
    """Return a figure with the curves of all values, without claims."""
    short = key.rpartition(".")[2]
    series: list[Series] = []
    changes: list[Change] = []
    named: dict[str, list[str]] = {}
    for one in figure.series:
        own = [(each, value) for each, value in zip(found, values, strict=True) if _takes(each, key, one)]
        for each, value in own:
            name = f"{one.name}, {short} = {value}"
            series.append(replace(one, name=name, look=None))
            changes += [replace(change, series=(name,)) for change in each.changes if one.name in change.series]
        if not own:
            changes += [replace(change, series=(one.name,)) for change in found[0].changes if one.name in change.series]
            series.append(replace(one, look=None))
        named[one.name] = [f"{one.name}, {short} = {value}" for _, value in own] or [one.name]

    def drawn(names: Sequence[str]) -> list[str]:
        return [new for name in names for new in named[name]]

    return replace(
        figure,
        series=series,
        plots=[replace(plot, series=drawn(plot.series)) for plot in figure.plots if plot.kind == "line"],
        published=[],
        claims=[],
        changes=changes,
    )


def _takes(figure: Figure, key: str, series: Series) -> bool:
    return any(one.key == key and series.name in one.series for one in figure.changes)


def described(figure: Figure) -> Iterator[str]:
    """Yield the changes of a figure, each once: key, value, and the series unless all."""
    runs = {one.name for one in figure.series if not one.values}
    changed: dict[tuple[str, str], list[Change]] = {}
    for change in figure.changes:
        changed.setdefault((change.key, change.value), []).append(change)
    for (key, value), each in changed.items():
        was = dict.fromkeys(old for one in each for old in one.was)
        names = dict.fromkeys(name for one in each for name in one.series)
        before = f", was {' and '.join(was)}" if was else ""
        where = "" if runs <= set(names) else f", in {'; '.join(names)}"
        yield f"{key} = {value}{before}{where}"


def folder_name(paper: Paper, figure: Figure, scale: str, given: Pairs, vary: str | None, only: Sequence[str]) -> str:
    """Return the name of the results folder, unique for each change."""
    words = [f"{key}={value}" for key, value in given] + ([vary] if vary else []) + list(only)
    return f"paper-{paper.name}-{scale}-{figure.name}-{slug('-'.join(words))}"
