"""Figures under another set-up: keys that a command sets in their runs, or gives one value after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, replace
from typing import Any

from incast.errors import PaperError, ScenarioError
from incast.output import nearest
from incast.papers.definition import Change, Claim, Figure, Paper, Point, Series
from incast.plan import slug, told_apart
from incast.scenario import Scenario, in_order

Pairs = Sequence[tuple[str, str]]
"""Settings: keys and values."""
MOST_LINES = 24
"""Series of a figure that has the curves of all values; of more every value has its own figure alone."""
LACKING = (": unknown key", " has no parameter ")
"""Parts of messages about keys that a scenario has not, where another one may have them."""
Tell = Callable[[str], None]


def of(
    paper: Paper,
    figure: Figure,
    scale: str,
    given: Pairs,
    vary: tuple[str, Sequence[str]] | None,
    only: Sequence[str],
    tell: Tell,
) -> Paper:
    """Give a paper of the figure as it is with these settings, or of one a value and one of all their curves.

    ``only`` are the series that are changed; all that have the keys unless given. Settings go before what the figure
    and its series set. ``tell`` is told whose values they replace, and who stays as published. Raises ``PaperError``
    where points set a key themselves, or where a figure has no runs, and ``ScenarioError`` of keys and values.
    """
    at = figure.at(scale)
    runs = [one for one in at.series if not one.values]
    _refuse(paper, at, runs, given, vary, only)
    chosen = [one for one in runs if not only or one.name in only]
    if vary is None:
        return _with(paper, [_changed(paper, figure, at, chosen, given, tell)])
    key, values = vary
    told: set[str] = set()

    def once(text: str) -> None:
        if text not in told:
            told.add(text)
            tell(text)

    names = told_apart([f"{figure.name}-{slug(value)[:40]}"] for value in values)
    found = []
    for name, value in zip(names, values, strict=True):
        one = _changed(paper, figure, at, chosen, [*given, (key, value)], once)
        found.append(replace(one, name=name))
    _refuse_equal_values(paper, found, scale, key, values)
    beside = _all_curves(figure, found, key, values)
    return _with(paper, [beside, *found] if len(beside.series) <= MOST_LINES else found)


def _with(paper: Paper, figures: Sequence[Figure]) -> Paper:
    return replace(paper, figures={one.name: one for one in figures})


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
            f"{called}: every series is worked out by a formula, so that there are no runs to change; edit the "
            f"formulas of a copy: incast paper copy {called} DIR"
        )
    for name in only:
        if name not in (known := [one.name for one in runs]):
            raise PaperError(f'--series "{name}"{nearest(name, known)}: expected one of {", ".join(known)}')
    keys = [key for key, _ in given]
    if vary is not None and vary[0] in keys:
        raise PaperError(f"--vary {vary[0]}: --set gives a value of it too; expected one of the two")
    for key in [*keys, *([vary[0]] if vary else [])]:
        if key == "run.seed":
            raise PaperError(f"{key}: a figure runs every point under seeds of its own: use --seeds")


def _changed(paper: Paper, figure: Figure, at: Figure, chosen: Sequence[Series], given: Pairs, tell: Tell) -> Figure:
    """Give the figure with some settings in the series that have their keys."""
    last = dict(given)
    takers: dict[str, list[str]] = {key: [] for key in last}
    lacking: dict[str, ScenarioError] = {}
    for series in chosen:
        taken: dict[str, str] = {}
        for key in in_order(last):
            try:
                for point in at.points:
                    _before(paper, at, series, point).changed(taken | {key: last[key]})
            except ScenarioError as error:
                if not any(part in str(error) for part in LACKING):
                    error.add_note(f"in the series {series.name} of {paper.called(figure)}")
                    raise
                lacking[key] = error
                continue
            taken[key] = last[key]
            takers[key].append(series.name)
    for key, names in takers.items():
        if not names:
            raise lacking[key]
        if left := [one.name for one in chosen if one.name not in names]:
            tell(f"{key}: {_listed(left)} has no such key, and stays as published")
    changes = [Change(key, value, tuple(takers[key])) for key, value in last.items()]
    found = replace(figure, changes=changes, claims=[_without_reason(one) for one in figure.claims])
    for change in changes:
        _look_at(paper, at, change, tell)
    _refuse_equal(paper, at, replace(at, changes=changes), chosen)
    return found


def _without_reason(claim: Claim) -> Claim:
    """Take what was found out about the published set-up off a claim."""
    return replace(claim, **{one.name: "" for one in fields(claim) if one.name.startswith("found")})


def _before(paper: Paper, figure: Figure, series: Series, point: Point) -> Scenario:
    return paper.scenario(replace(figure, changes=()), series, point)


def _look_at(paper: Paper, at: Figure, change: Change, tell: Tell) -> None:
    """Refuse a change of what points set; tell where it replaces what series set, and where it changes nothing."""
    replaced: list[str] = []
    is_idle = True
    own = {change.key: change.value}
    for series in (one for one in at.series if one.name in change.series):
        for point in at.points:
            whole = _before(paper, at, series, point)
            last = whole.changed(own)
            is_idle = is_idle and last == whole
            without = _before(paper, at, series, replace(point, set={}))
            if point.set and _put_back(without, own, point.set, last):
                raise PaperError(
                    f"--set {change.text}: the points of {at.name} set it themselves (at {point.x}: "
                    f"{_worded(point.set)}); edit the points of a copy: incast paper copy {paper.called(at)} DIR"
                )
            bare = _before(paper, at, replace(series, set={}), replace(point, set={}))
            if series.set and _put_back(bare, own, {**series.set, **point.set}, last):
                replaced.append(series.name)
                break
    if is_idle:
        tell(f"--set {change.text} does nothing: all is the same without it")
    elif replaced:
        tell(f"{change.text} goes before what the figure sets in {_listed(replaced)}")


def _put_back(below: Scenario, own: dict[str, str], later: Any, last: Scenario) -> bool:
    """Whether settings that come later take away what a change sets."""
    try:
        return below.changed(own).changed(dict(later)) != last
    except ScenarioError:
        # the key is one of what the later settings bring
        return False


def _refuse_equal(paper: Paper, before: Figure, after: Figure, chosen: Sequence[Series]) -> None:
    """Refuse a change that makes two series the same at a point where they were not."""
    for point in before.points:
        known: dict[str, Series] = {}
        for series in chosen:
            text = paper.scenario(after, series, point).toml()
            other = known.setdefault(text, series)
            if other is series:
                continue
            if paper.scenario(before, series, point) != paper.scenario(before, other, point):
                told = ", ".join(f"--set {one.text}" for one in after.changes)
                raise PaperError(
                    f"{told}: {other.name} and {series.name} are then the same; expected --series NAME for one of them"
                )


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
    """Give a figure of the curves of all values beside one another, without claims."""
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


def told(figure: Figure) -> Iterator[str]:
    """Say what is changed of a figure, each change once: key, value, and the series where these are not all."""
    runs = {one.name for one in figure.series if not one.values}
    changed: dict[tuple[str, str], list[str]] = {}
    for change in figure.changes:
        changed.setdefault((change.key, change.value), []).extend(change.series)
    for (key, value), names in changed.items():
        yield f"{key} = {value}{'' if runs <= set(names) else f' ({_listed(names)})'}"


def folder_name(paper: Paper, figure: Figure, scale: str, given: Pairs, vary: str | None, only: Sequence[str]) -> str:
    """Name the folder of the results: other changes, another name."""
    words = [f"{key}={value}" for key, value in given] + ([vary] if vary else []) + list(only)
    return f"paper-{paper.name}-{scale}-{figure.name}-{slug('-'.join(words))}"


def _listed(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _worded(pairs: Any) -> str:
    return ", ".join(f"{key} = {value}" for key, value in pairs.items())
