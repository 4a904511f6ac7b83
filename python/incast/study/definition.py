"""Definition of a study: axes over keys, arms and seeds on scenarios; its points and their scenarios."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from incast import controllers
from incast.errors import ScenarioError, StudyError
from incast.external import consent
from incast.runs import dropped_parameters, own_controller
from incast.runs.named_files import kinds_in
from incast.runs.scenario import Scenario, toml_value
from incast.study import idle
from incast.study.axes import DESIGNS, Axis, Value, is_axis_table, plain, points, points_in, read_axis
from incast.system import files
from incast.system.output import counted, nearest
from incast.writing.names import NAME, plain_name

MOST_RUNS = 1_000_000
"""Most runs of one study: more are a mistake."""
TABLES = ("flows", "ports", "samples")
"""Default tables of runs that a store keeps."""
KEEPS = (
    *(*TABLES, "classes", "engines", "entries", "radios", "queries", "writes", "trace"),
    *("jobs", "ranks", "collectives", "messages", "tasks"),
)
OTHERS = ("tune", "sensitivity")
"""Tables of a study file for other commands, ignored here."""


@dataclass(frozen=True)
class Arm:
    """A named set of keys, with axes of this arm only."""

    name: str
    settings: Mapping[str, Value]
    axes: tuple[Axis, ...] = ()


@dataclass(frozen=True)
class Point:
    """A run without its seed: scenario, arm (``""`` without arms), and the value of every varied key."""

    scenario: str
    arm: str
    values: Mapping[str, Value]

    @cached_property
    def key(self) -> str:
        """Point as text; equal points have equal texts."""
        return json.dumps([self.scenario, self.arm, dict(self.values)], sort_keys=True)

    def __eq__(self, other: object) -> bool:
        return self.key == other.key if isinstance(other, Point) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.key)

    def __str__(self) -> str:
        values = [f"{key} = {value}" for key, value in self.values.items()]
        return ", ".join([*filter(None, (self.scenario, self.arm)), *values])


@dataclass(frozen=True)
class Definition:
    """Axes, arms and seeds over scenarios.

    ``scenario`` is a name, a path or a ``Scenario``, or a list of these. ``axes`` gives a key's values as a list, or a
        range: ``{"from": 0.01, "to": 1, "steps": 5, "scale": "log"}``. ``arms`` gives settings by name. ``seeds`` is a
        number n (seeds 1 to n) or a list. Raises ``StudyError`` with what was expected.
    """

    scenario: Any
    axes: Any = ()
    arms: Any = ()
    settings: Any = ()
    seeds: Any = 1
    name: str = "study"
    design: str = "grid"
    samples: Any = ()
    design_seed: int = 1
    keep: Any = TABLES
    origin: Path = field(default_factory=Path)
    """Folder that relative paths of the study start from."""
    others: Mapping[str, Any] = field(default_factory=dict, compare=False)
    """Tables of the file for other commands."""
    called: tuple[str, ...] = field(default=(), compare=False)
    """Names of the scenarios, if they differ from those of their files."""
    file: str = field(default="", compare=False)
    """File of the study; empty for a study made by a call."""
    allow_code: bool = field(default=False, compare=False)
    """True if classes that the file or the scenarios name may run: they are programs."""

    strict: ClassVar[bool] = True
    """True if equal arms of a scenario, and equal values of an arm, are refused."""

    def __post_init__(self) -> None:
        with self.reading():
            self._check()

    def reading(self) -> AbstractContextManager[None]:
        """Set, while the study is read, its origin for messages and the consent to run its classes."""
        return consent.reading(self.file, self.allow_code)

    def _check(self) -> None:
        put = object.__setattr__
        if not (isinstance(self.name, str) and NAME.fullmatch(self.name)):
            raise StudyError(f"name = {self.name!r}: expected letters, digits, . _ + and -")
        scenarios = self.scenario if isinstance(self.scenario, (list, tuple)) else [self.scenario]
        if not scenarios or not all(isinstance(one, (str, Path, Scenario)) for one in scenarios):
            raise StudyError(
                f"scenario = {self.scenario!r}: expected the name or path of a scenario, or a list of them"
            )
        put(self, "scenario", tuple(one if isinstance(one, Scenario) else str(one) for one in scenarios))
        put(self, "settings", _settings("set", self.settings))
        put(self, "seeds", _seeds(self.seeds))
        if self.design not in DESIGNS:
            raise StudyError(
                f"design = {self.design!r}: expected one of {', '.join(DESIGNS)}{nearest(self.design, DESIGNS)}"
            )
        put(self, "samples", _samples(self.design, self.samples))
        if isinstance(self.design_seed, bool) or not isinstance(self.design_seed, int):
            raise StudyError(f"design_seed = {self.design_seed!r}: expected a whole number")
        put(self, "keep", _keep(self.keep))
        arms = _arms(self.arms)
        put(self, "arms", arms)
        put(self, "axes", _axes("axes", self.axes, self._kinds()))
        kinds_of = {name: self._kinds(arm.settings) for name, arm in arms.items()}
        put(
            self,
            "arms",
            {n: replace(arm, axes=_axes(f"arms.{n}.axes", arm.axes, kinds_of[n])) for n, arm in arms.items()},
        )
        self._refuse_overlaps()
        if self.design in ("random", "lhs") and not (self.axes or any(arm.axes for arm in self.arms.values())):
            raise StudyError(f'design = "{self.design}": expected at least one axis')

    def _kinds(self, settings: Mapping[str, Value] | None = None) -> list[str]:
        """Return the names of the built-in controllers that the study's flows may have."""
        layers = [arm.settings for arm in self.arms.values()] if settings is None else [settings]
        found: list[str] = []
        for layer in layers or [{}]:
            text = layer.get("controller", self.settings.get("controller"))
            kind = layer.get("controller.kind", self.settings.get("controller.kind"))
            if kind is None and (text is None or own_controller.is_own(str(text))):
                found += [k for base in self.bases.values() for k in kinds_in(base.toml())]
            else:
                found.append(str(kind or text).partition(":")[0])
        return [kind for kind in dict.fromkeys(found) if kind in controllers.built_in()]

    def drops(self) -> list[str]:
        """Return a note for each scenario whose own controller parameters arms do not use."""
        rest = {key: value for key, value in self.settings.items() if key != "controller"}
        given = []
        for arm in self.arms.values() or [Arm("", {})]:
            text = arm.settings.get("controller", self.settings.get("controller"))
            keys = [*arm.settings, *rest, *(axis.key for axis in (*self.axes, *arm.axes))]
            if text is not None:
                replaced = {key.removeprefix("controller.") for key in keys if key.startswith("controller.")}
                given.append(dropped_parameters.Given(str(text), arm.name, replaced))
        bases = {name: base.changed(self._located(rest)) for name, base in self.bases.items()} if given else {}
        with self.reading():
            return dropped_parameters.drop_notes(
                bases,
                given,
                lambda name, text: f'{f"arm {name}: " if name else ""}controller = "{text}"',
            )

    def _refuse_overlaps(self) -> None:
        for arm in [None, *self.arms.values()]:
            layers = [("set", list(self.settings)), ("axes", [axis.key for axis in self.axes])]
            if arm is not None:
                layers += [(f"arms.{arm.name}", list(arm.settings))]
                layers += [(f"arms.{arm.name}.axes", [axis.key for axis in arm.axes])]
            places: dict[str, str] = {}
            for place, keys in layers:
                for key in keys:
                    if key == "run.seed":
                        raise StudyError(f"{place}.{key}: a study runs every point under several seeds: use seeds")
                    if key in ("study", "arm", "scenario", "seed", "run"):
                        raise StudyError(f"{place}.{key}: not a key of a scenario")
                    if key in places and not (places[key] == "set" and place.startswith("arms.")):
                        raise StudyError(f"{place}.{key}: {places[key]} has it too: give it once")
                    places[key] = place

    @cached_property
    def bases(self) -> dict[str, Scenario]:
        """Scenarios without settings, by name: a built-in name, or the stem of a file as a plain name."""
        found: dict[str, Scenario] = {}
        for number, one in enumerate(self.scenario):
            if isinstance(one, Scenario):
                name, base = one.name, Scenario.from_toml(one.toml(), name=one.name)
            else:
                path = self.origin / one
                is_file = path.is_file() or one.endswith(".toml")
                base = Scenario.load(path if is_file else one, allow_code=self.allow_code)
                name = plain_name(path.stem) if is_file else one
            name = self.called[number] if self.called else name
            if name in found or not NAME.fullmatch(name):
                raise StudyError(
                    f"scenario {name}: "
                    + ("is given twice: give it once" if name in found else "expected a plain name")
                )
            found[name] = base
        return found

    @cached_property
    def _homes(self) -> dict[str, Path]:
        paths = [Path() if isinstance(one, Scenario) else self.origin / one for one in self.scenario]
        return {
            name: (path.parent if path.is_file() else Path()).resolve()
            for name, path in zip(self.bases, paths, strict=True)
        }

    def points(self) -> list[Point]:
        """Return every point, in the order of the store: by scenario, arm, and axes, the last axis fastest."""
        self._refuse_too_many()
        found: dict[Point, None] = {}
        for name in self.bases:
            for arm in self.arms.values() or [Arm("", {})]:
                axes = [*self.axes, *arm.axes]
                for values in points(axes, self.design, self.samples, self.design_seed):
                    found[Point(name, arm.name, values)] = None
        return list(found)

    def _refuse_too_many(self) -> None:
        """Raise ``StudyError`` for too many runs, before the points are made."""
        most = MOST_RUNS // max(1, len(self.bases) * len(self.seeds))
        points = 0
        for arm in self.arms.values() or [Arm("", {})]:
            points += points_in([*self.axes, *arm.axes], self.design, self.samples, self.design_seed, most - points)
            if points > most:
                limit = f"{points * len(self.bases):,} points or more, each under {counted(len(self.seeds), 'seed')}"
                raise StudyError(f"more than {MOST_RUNS:,} runs: expected fewer than {limit}")

    def __len__(self) -> int:
        """Return the number of runs: points times seeds."""
        return len(self.points()) * len(self.seeds)

    @cached_property
    def _layers(self) -> dict[tuple[str, str], Scenario]:
        return {}

    def _layer(self, scenario: str, arm: str) -> Scenario:
        """Return a scenario with the settings of the study and of an arm."""
        if (scenario, arm) not in self._layers:
            if scenario not in self.bases:
                raise StudyError(f"scenario {scenario}: expected one of {', '.join(self.bases)}")
            if arm and arm not in self.arms:
                raise StudyError(f"arm {arm}: expected one of {', '.join(self.arms)}{nearest(arm, list(self.arms))}")
            with self.reading():
                layer = _applied(self.bases[scenario], self._located(self.settings))
                self._layers[scenario, arm] = _applied(layer, self._located(self.arms[arm].settings)) if arm else layer
        return self._layers[scenario, arm]

    def _located(self, layer: Mapping[str, Value]) -> dict[str, Value]:
        """Make controller files in the study's folder relative to it."""

        def located(key: str, value: Value) -> Value:
            if key.rpartition(".")[2] not in ("controller", "kind") or not isinstance(value, str):
                return value
            place, colon, rest = value.partition(":")
            path = self.origin / place
            return f"{path.resolve()}{colon}{rest}" if place.endswith(".py") and path.is_file() else value

        return {key: located(key, value) for key, value in layer.items()}

    def scenario_of(self, point: Point, keep_idle: bool = False) -> Scenario:
        """Make the scenario of a point, with the scenario's own seed.

        Values that change nothing there are left out, so that points share runs, unless ``keep_idle``.

        Raises ``ScenarioError`` with the name of the point, for an unknown key or a wrong value.
        """
        try:
            layer = self._layer(point.scenario, point.arm)
            with self.reading():
                made = _applied(layer, self._located(point.values))
                dropped = [] if keep_idle else idle.keys_of(made, point.values)
                kept = {key: value for key, value in point.values.items() if key not in dropped}
                return self._without_idle(layer, kept, made) if dropped else made
        except ScenarioError as error:
            error.add_note(f"in the study {self.name}, point {point}{self._rounding(point, str(error))}")
            raise

    def idle_at(self, point: Point) -> list[str]:
        """Return the axes whose values change no byte of a point's runs."""
        with self.reading():
            made = _applied(self._layer(point.scenario, point.arm), self._located(point.values))
            return idle.keys_of(made, point.values)

    def _without_idle(self, layer: Scenario, kept: Mapping[str, Value], made: Scenario) -> Scenario:
        """Return the scenario with the layer's own value of idle keys if that fits: points share a run."""
        try:
            plain_ = _applied(layer, self._located(kept))
            plain_.validate()
        except ScenarioError:
            return made
        return plain_

    def _rounding(self, point: Point, message: str) -> str:
        """Return a hint about whole numbers of a range, if an error asks for one."""
        axes = [*self.axes, *(self.arms[point.arm].axes if point.arm else ())]
        asks = [axis.key for axis in axes if axis.range and not axis.range.whole and f"{axis.key} = " in message]
        if not asks or "whole number" not in message:
            return ""
        return f"; whole = true in the range of {asks[0]} rounds its values"

    def arm_settings(self, arm: str) -> Mapping[str, Value]:
        """Return the settings of an arm; empty for ``""``."""
        return self.arms[arm].settings if arm else {}

    def layer(self, point: Point) -> Scenario:
        """Return the scenario of a point without its values: with the settings of the study and the arm."""
        return self._layer(point.scenario, point.arm)

    def folder_of(self, scenario: str) -> Path:
        """Return the folder that relative paths of a scenario start from."""
        return self._homes[scenario]

    def texts(self) -> dict[str, str | None]:
        """Return the texts of the scenario files by name; ``None`` for built-in ones."""
        found: dict[str, str | None] = {}
        for one, name in zip(self.scenario, self.bases, strict=True):
            if isinstance(one, Scenario):
                found[name] = self.bases[name].toml()
            else:
                path = self.origin / one
                found[name] = files.read_text(path) if path.is_file() else None
        return found

    def refuse_idle_arms(self) -> None:
        """Raise ``StudyError`` if an arm changes nothing, or two arms are equal.

        A single arm with the scenario's own controller is allowed: more arms may be added.
        """
        if not self.strict:
            return
        for name in self.bases:
            plain_ = self._layer(name, "").hash
            known: dict[str, str] = {}
            for arm in self.arms.values():
                if arm.axes:
                    continue
                found = self._layer(name, arm.name).hash
                if found in known:
                    raise StudyError(
                        f"arms {known[found]} and {arm.name} are the same in {name}: "
                        "expected keys or values that differ"
                    )
                known[found] = arm.name
            lone = list(self.arms.values()) if len(self.arms) == 1 else []
            if any(set(arm.settings) != {"controller"} for arm in lone) and plain_ in known:
                raise StudyError(
                    f"arms.{known[plain_]} changes nothing in {name}: "
                    "expected a value other than the scenario's, or no arm"
                )

    def extended(
        self,
        *,
        seeds: Any = None,
        axes: Mapping[str, Any] | None = None,
        arms: Mapping[str, Any] | None = None,
        samples: int | None = None,
    ) -> Definition:
        """Return the study with additional seeds, values of axes (or axes of arms), arms, or samples of its design.

        Existing ones stay, so a second call with the same arguments changes nothing. ``samples`` is the total number.
        Raises ``StudyError`` for an unknown axis.
        """
        consent.grant(axes or {}, arms or {})
        changed: dict[str, Any] = {}
        if seeds is not None:
            changed["seeds"] = tuple(dict.fromkeys([*self.seeds, *_seeds(seeds)]))
        if axes:
            known = {axis.key: axis for axis in self.axes}
            for key, values in axes.items():
                if key not in known:
                    raise StudyError(
                        f"axis {key}: the study has no such axis; expected one of {', '.join(known) or 'none'}"
                    )
                more = read_axis(key, values, self._kinds())
                own = known[key].listed(self.design_seed), more.listed(self.design_seed)
                if self.design in ("random", "lhs"):
                    raise StudyError(f'axis {key}: a study with design = "{self.design}" is extended by samples')
                known[key] = Axis(key, tuple(dict.fromkeys([*own[0], *own[1]])))
            changed["axes"] = tuple(known.values())
        if arms:
            own_arms = dict(self.arms)
            for name, arm in _arms(arms).items():
                if own_arms.get(name, arm) != arm:
                    raise StudyError(f"arm {name} exists with other keys: give another name")
                own_arms[name] = arm
            changed["arms"] = own_arms
        if samples is not None:
            if self.design not in ("random", "lhs"):
                raise StudyError(
                    f'samples = {samples}: a study with design = "{self.design}" is extended by values of its axes'
                )
            there = sum(self.samples)
            if samples < there:
                raise StudyError(f"samples = {samples}: the study has {there} already; expected at least as many")
            if samples > there:
                changed["samples"] = (*self.samples, samples - there)
        return replace(self, **changed)

    def toml(self, scenarios: Sequence[str] | None = None) -> str:
        """Write the study as a file; ``scenarios`` replace the names of its scenarios."""
        lines = [f"name = {toml_value(self.name)}"]
        named = scenarios or [one.name if isinstance(one, Scenario) else one for one in self.scenario]
        lines.append(f"scenario = {toml_value(list(named))}")
        lines.append(f"seeds = {toml_value(list(self.seeds))}")
        lines.append(f"design = {toml_value(self.design)}")
        if self.samples:
            lines.append(f"samples = {toml_value(list(self.samples))}")
        lines += [f"design_seed = {self.design_seed}", f"keep = {toml_value(list(self.keep))}"]
        lines += _table("set", self.settings)
        lines += _table("axes", {axis.key: _axis_value(axis) for axis in self.axes})
        for arm in self.arms.values():
            lines += _table(f"arms.{toml_value(arm.name)}", arm.settings, always=True)
            lines += _table(f"arms.{toml_value(arm.name)}.axes", {axis.key: _axis_value(axis) for axis in arm.axes})
        return "\n".join(lines) + "\n"


Kind = TypeVar("Kind", bound=Definition)


def read(path: str | Path, made: type[Kind], allow_code: bool = False) -> Kind:
    """Read a study file (docs/studies.md) as a study of this class; ``allow_code`` allows classes that it names.

    Raises ``StudyError`` with file, key, value and what was expected.
    """
    path = Path(path)
    try:
        text = files.read_text(path, pipes=True)
    except FileNotFoundError:
        raise StudyError(f"no file {path}: expected a study file") from None
    except (OSError, ValueError) as error:
        raise StudyError(f"cannot read {path}: {files.message_of(error)}") from None
    try:
        data = files.toml_of(text)
    except ValueError as error:
        raise StudyError(f"{path}: {files.message_of(error)}") from None
    words = ("name", "scenario", "seeds", "design", "samples", "design_seed", "keep", "set", "axes", "arms")
    for key in data:
        if key not in (*words, *OTHERS):
            raise StudyError(f"{path}: {key}: unknown key{nearest(key, (*words, *OTHERS))}")
    if "scenario" not in data:
        raise StudyError(f"{path}: scenario is missing: expected the name or path of a scenario")
    given = {("settings" if key == "set" else key): value for key, value in data.items() if key in words}
    try:
        return made(
            **({"name": path.stem} | given),
            origin=path.parent,
            others={k: data[k] for k in OTHERS if k in data},
            file=str(path),
            allow_code=allow_code,
        )
    except StudyError as error:
        raise StudyError(f"{path}: {error}") from None
    except ScenarioError as error:
        error.add_note(f"in {path}")
        raise


def _applied(scenario: Scenario, layer: Mapping[str, Value]) -> Scenario:
    """Set a layer's keys; ``controller`` is that of all flows, like ``incast compare --cc``."""
    rest = dict(layer)
    controller = rest.pop("controller", None)
    if controller is not None:
        scenario = scenario.governed(str(controller))
    return scenario.changed(rest)


def flat(place: str, data: Any, axes: bool = False) -> Iterator[tuple[str, Any]]:
    """Yield dotted keys of nested tables; with ``axes`` a table that describes an axis is a value."""
    if not isinstance(data, Mapping):
        raise StudyError(f"{place} = {data!r}: expected a table of keys and values")
    for key, value in data.items():
        if not isinstance(key, str) or not key:
            raise StudyError(f"{place}.{key}: expected a key such as traffic.flows")
        if isinstance(value, Mapping) and value and not (axes and is_axis_table(value)):
            yield from ((f"{key}.{inner}", one) for inner, one in flat(f"{place}.{key}", value, axes))
        else:
            yield key, value


def _once(place: str, pairs: Iterator[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise StudyError(f"{place}.{key} is given twice: give it once")
        found[key] = value
    return found


def _settings(place: str, data: Any) -> dict[str, Value]:
    data = dict(data) if isinstance(data, (tuple, list)) else data
    found = _once(place, flat(place, data))
    return {
        key: controllers.register(value) if isinstance(value, type) else plain(value) for key, value in found.items()
    }


def _axes(place: str, data: Any, kinds_: Sequence[str]) -> tuple[Axis, ...]:
    if isinstance(data, tuple) and all(isinstance(one, Axis) for one in data):
        return data
    found = _once(place, flat(place, data, axes=True))
    return tuple(read_axis(key, _named(value), kinds_) for key, value in found.items())


def _named(values: Any) -> Any:
    """Replace classes by their names."""
    if not isinstance(values, (list, tuple)):
        return values
    return [controllers.register(value) if isinstance(value, type) else value for value in values]


def _arms(data: Any) -> dict[str, Arm]:
    if isinstance(data, tuple) and not data:
        return {}
    if not isinstance(data, Mapping):
        raise StudyError(f"arms = {data!r}: expected a table of keys and values for each arm's name")
    found = {}
    for name, one in data.items():
        if isinstance(one, Arm):
            found[name] = one
            continue
        if not isinstance(name, str) or not NAME.fullmatch(name):
            raise StudyError(f"arms.{name}: expected a name of letters, digits, . _ + and -")
        if isinstance(one, (str, type)):
            one = {"controller": one}
        if not isinstance(one, Mapping):
            raise StudyError(f"arms.{name} = {one!r}: expected a table of keys and values, or a controller")
        axes = one.get("axes", {})
        settings = _settings(f"arms.{name}", {key: value for key, value in one.items() if key != "axes"})
        if not settings and not axes:
            raise StudyError(
                f"arms.{name} changes nothing: expected keys to set; "
                "for the unchanged scenario, set a key to its own value"
            )
        found[name] = Arm(name, settings, axes)
    return found


def _seeds(given: Any) -> tuple[int, ...]:
    if isinstance(given, int) and not isinstance(given, bool):
        if not 1 <= given <= MOST_RUNS:
            raise StudyError(f"seeds = {given}: expected a whole number from 1 to {MOST_RUNS:,}, or a list of seeds")
        return tuple(range(1, given + 1))
    listed = isinstance(given, (list, tuple, range)) and len(given) > 0
    if not listed or not all(isinstance(s, int) and not isinstance(s, bool) and 0 <= s < 2**63 for s in given):
        raise StudyError(f"seeds = {given!r}: expected a number of seeds, or a list of seeds from 0 to 2^63 - 1")
    if len(set(given)) < len(given):
        raise StudyError(f"seeds = {list(given)}: a seed is given twice: give it once")
    return tuple(given)


def _samples(design: str, given: Any) -> tuple[int, ...]:
    blocks = (given,) if isinstance(given, int) and not isinstance(given, bool) else given
    if design not in ("random", "lhs"):
        if blocks != ():
            raise StudyError(f'samples = {given!r}: needs design = "random" or "lhs"; an axis can have samples too')
        return ()
    fine = isinstance(blocks, (list, tuple)) and blocks and all(isinstance(n, int) and n >= 1 for n in blocks)
    if not fine or sum(blocks) > MOST_RUNS:
        expected = f'expected a whole number from 1 to {MOST_RUNS:,} with design = "{design}"'
        raise StudyError(f"samples = {given!r}: {expected}")
    return tuple(blocks)


def _keep(given: Any) -> tuple[str, ...]:
    if not isinstance(given, (list, tuple)):
        raise StudyError(f"keep = {given!r}: expected a list of tables: {', '.join(KEEPS)}")
    for one in given:
        if one not in KEEPS:
            raise StudyError(f"keep: {one!r}: expected one of {', '.join(KEEPS)}{nearest(str(one), KEEPS)}")
    return tuple(dict.fromkeys(given))


def _axis_value(axis: Axis) -> Any:
    if axis.range is None:
        return list(axis.values)
    r = axis.range
    ends: list[Any] = [f"{end!r}{r.unit}" if r.unit else end for end in (r.low, r.high)]
    table: dict[str, Any] = {"from": ends[0], "to": ends[1], "scale": "log" if r.log else "linear"}
    table |= {"whole": True} if r.whole else {}
    table |= {word: count for word, count in (("steps", r.steps), ("samples", r.samples)) if count is not None}
    return table


def _table(name: str, pairs: Mapping[str, Any], always: bool = False) -> list[str]:
    if not pairs and not always:
        return []
    return ["", f"[{name}]", *(f"{toml_value(key)} = {toml_value(value)}" for key, value in pairs.items())]
