"""Declaration of controllers side by side: scenarios, controllers, varied key, seeds, and the resulting runs.

A comparison has one controller for all flows of a run, pairs (``coexistence``) have two in every run.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import math
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self

from incast.batch.plan import refuse_too_many, slug, unique_names
from incast.comparisons.noted import shared_notes
from incast.controllers import built_in
from incast.errors import ScenarioError, StudyError
from incast.external import consent
from incast.runs import dropped_parameters, own_controller
from incast.runs.scenario import Scenario, toml_value
from incast.study.definition import KEEPS, Definition
from incast.writing.names import NAME

DATAGRAMS = "udp"
"""Word for datagrams in what governs flows."""

_CLOSING = {"[": "]", "{": "}", "(": ")"}


def split_values(text: str) -> tuple[str, ...] | None:
    """Split at commas outside of quotes and brackets; ``None`` if one is not closed."""
    parts, begun, quote = [], 0, ""
    closing: list[str] = []
    for place, letter in enumerate(text):
        if quote:
            if letter == quote and not (quote == '"' and text[place - 1] == "\\"):
                quote = ""
        elif letter in "\"'":
            quote = letter
        elif letter in _CLOSING:
            closing.append(_CLOSING[letter])
        elif letter in _CLOSING.values():
            if not closing or closing.pop() != letter:
                return None
        elif letter == "," and not closing:
            parts.append(text[begun:place])
            begun = place + 1
    if quote or closing:
        return None
    parts.append(text[begun:])
    return tuple(part.strip() for part in parts if part.strip())


def _external_name(text: str) -> str | None:
    """Return the name of an external controller (module or file, and class) at the start of a text, if any."""
    found = re.match(r"([^:=,]+):[A-Za-z_][A-Za-z0-9_]*(?=:|$)", text)
    # swift:target lacks a value, and is not a class of a module swift
    return found[0] if found and found[1] not in built_in() else None


@dataclass(frozen=True)
class Controller:
    """A controller in the notation of ``--cc``: ``swift:target=min-rtt,epsilon=100us``."""

    text: str
    others: tuple[str, ...] = field(default=(), compare=False)
    """Other controls of flows in its runs, such as a transport's own control, if known."""
    is_idle: bool = field(default=False, compare=False)
    """True if the controller governs no flow."""

    def __post_init__(self) -> None:
        external = _external_name(self.text)
        named = re.escape(external) if external else r"[A-Za-z0-9_-]+|\."
        if not re.fullmatch(rf"(?:{named})(:[^=,]+=[^,]+(,[^=,]+=[^,]+)*)?", self.text):
            raise StudyError(
                f'--cc "{self.text}": expected a controller and its parameters, '
                'such as "dctcp" or "swift:target=min-rtt,epsilon=100us"; "." is the scenario\'s own'
            )

    @property
    def kind(self) -> str:
        """Name of the algorithm; for an external controller with its file or module."""
        return _external_name(self.text) or self.text.partition(":")[0]

    @cached_property
    def parameters(self) -> dict[str, str]:
        """Parameters as written."""
        pairs = self.text[len(self.kind) + 1 :]
        return dict(pair.split("=", 1) for pair in pairs.split(",")) if pairs else {}

    def beside(self, governing: Iterable[str]) -> Controller:
        """Return the controller with what governs the flows of its runs, from the column ``controller`` of a store."""
        every = dict.fromkeys(one for names in governing for one in names.split("+") if one)
        found = [one for one in every if one != DATAGRAMS]
        if own_controller.is_own(self.text):
            own = [one for one in found if one in built_in() or ":" in one]
            return Controller(self.text, tuple(found), bool(every) and not own)
        own = [one for one in found if one.rpartition(":")[2] == self.kind.rpartition(":")[2]]
        return Controller(self.text, tuple(one for one in found if one not in own), bool(every) and not own)

    @property
    def label(self) -> str:
        """Label in legends and tables: its name, and other controls of its flows."""
        if not self.others:
            return f"{self.name} (governs no flow)" if self.is_idle else self.name
        if own_controller.is_own(self.text):
            return f"{self.name} ({' and '.join(self.others)})"
        verb = "governs" if len(self.others) == 1 else "govern"
        return f"{self.name} ({' and '.join(self.others)} {verb}{'' if self.is_idle else ' in part'})"

    @property
    def name(self) -> str:
        """Short name: a parameter whose value is a word is shown by that word.

        A word that begins the name of a later parameter (static, static_target) is omitted.
        """
        words = []
        for key, value in self.parameters.items():
            if any(other.startswith(f"{value}_") for other in self.parameters):
                continue
            is_word = re.fullmatch(r"(?!auto$|true$|false$)[a-z][a-z-]*", value)
            words.append(value if is_word else f"{key}={value}")
        kind = "own" if own_controller.is_own(self.text) else self.kind.rpartition(":")[2]
        return " ".join([kind, *words])


def named(controllers: Iterable[Controller]) -> dict[str, Controller]:
    """Return controllers by name; by text if two names are equal."""
    controllers = list(controllers)
    return dict(zip(unique_names((c.name, c.text) for c in controllers), controllers, strict=True))


def _duration(scenario: str, settings: Sequence[tuple[str, str]]) -> str:
    """Return the duration of a scenario, as written."""
    return str(Scenario.load(scenario).changed(dict(settings)).resolved()["run"]["duration"])


def value_of(text: str) -> str | int | float | bool:
    """Read a value of the command line like a value of a study file."""
    if text in ("true", "false"):
        return text == "true"
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            pass
    return text


def varied(text: str) -> tuple[str, tuple[str, ...]]:
    """Read the key of ``--vary`` and its values."""
    key, equals, values = text.partition("=")
    key = key.strip()
    listed = split_values(values)
    if listed is None:
        raise StudyError(f'--vary "{text}": a quote or bracket is not closed')
    if not (key and equals and listed):
        raise StudyError(f'--vary "{text}": expected a key and its values, such as "traffic.flows=100,250,650"')
    return key, listed


def axis_value_of(text: str) -> str | int | float | bool:
    """Read a value of an axis or a setting; a non-finite number stays a text, which the scenario refuses."""
    value = value_of(text)
    return value if not isinstance(value, float) or math.isfinite(value) else text


def plain_names(wanted: Iterable[Sequence[str]]) -> list[str]:
    """Return a name for each: the first of its candidates that is plain and unique."""
    return unique_names(
        [name if NAME.fullmatch(name) else slug(name).lstrip("+") or "x" for name in names] for names in wanted
    )


class ComparisonDefinition(Definition):
    """Controllers side by side as a study; equal arms and values were refused before."""

    strict = False


class Place(NamedTuple):
    """Place of a run in its study; ``values`` as JSON."""

    scenario: str
    arm: str
    values: str
    seed: int


@dataclass(frozen=True)
class Case:
    """One run: its scenario, the controllers of its flows, the value of the varied key, and the seed."""

    scenario: str
    controllers: tuple[Controller, ...]
    value: str
    seed: int

    @property
    def controller(self) -> Controller:
        """The controller, or the first one."""
        return self.controllers[0]

    @property
    def texts(self) -> tuple[str, ...]:
        """Controllers as texts: the key of the run's arm."""
        return tuple(one.text for one in self.controllers)

    def __str__(self) -> str:
        who = " beside ".join(one.label for one in self.controllers)
        return ", ".join(filter(None, [self.scenario, who, self.value, f"seed {self.seed}"]))


@dataclass(frozen=True)
class Held:
    """Everything that a folder was asked for: the present declaration may be a part of it."""

    controllers: tuple[str, ...]
    values: tuple[tuple[str, ...], ...]
    """Values of each varied key."""
    seeds: int


@dataclass(frozen=True)
class ComparisonStudy:
    """Controllers on the same scenarios, over the values of one key and over seeds; each governs all flows of its runs.

    All runs under one seed have the same placements and start times, so differences between controllers are paired.
    """

    scenarios: tuple[str, ...]
    controllers: tuple[Controller, ...]
    key: str
    """The varied key; empty without one."""
    values: tuple[str, ...]
    seeds: int
    settings: tuple[tuple[str, str], ...] = ()
    names: tuple[str, ...] = field(default=(), compare=False)
    """Names of the scenarios as stored in a folder; the scenarios may have changed since."""
    heading: str = field(default="", compare=False)
    """Title of the report; empty: made from controllers and scenarios."""
    remark: str = field(default="", compare=False)
    """Text below the title of the report; empty without one."""
    held: Held | None = field(default=None, compare=False)
    """Earlier requests of the folder, together with this one."""
    dropped: tuple[str, ...] | None = field(default=None, compare=False)
    """Notes on parameters that are not used, as stored in a folder."""

    FILE: ClassVar[str] = "study.json"
    """File that marks a folder, with the declaration."""
    FORMAT: ClassVar[int] = 2
    KIND: ClassVar[str] = "a comparison"
    """Noun for messages."""
    COMMAND: ClassVar[str] = "compare"
    OTHER: ClassVar[str] = "another comparison"
    """Content of the folder of another declaration."""
    ASKED: ClassVar[tuple[str, ...]] = ("scenarios", "controllers", "key", "values", "seeds", "settings")
    """Fields that decide what is made: the mark of a folder."""
    ONCE: ClassVar[str] = "give it once"
    POINTS: ClassVar[str] = "points (scenarios, values and controllers)"

    def __post_init__(self) -> None:
        for what, items in [
            ("scenario", self.scenarios),
            ("--cc", tuple(c.text for c in self.controllers)),
            *(("--vary value", values) for _, values in self.varied),
        ]:
            if not items:
                raise StudyError(f"{self.KIND} needs at least one {what}")
            twice = sorted({item for item in items if items.count(item) > 1})
            if twice:
                raise StudyError(f"{what} {twice[0]} is given twice: {self.ONCE}")
        if self.seeds < 1:
            raise StudyError(f"--seeds {self.seeds}: expected 1 or more")
        points = len(self.scenarios) * len(self.stations) * len(self.lineups)
        refuse_too_many(self.seeds, points, self.POINTS)
        for option, key in [
            *(("--vary", key) for key, _ in self.varied),
            *(("--set", key) for key, _ in self.settings),
        ]:
            # a comparison sets these for every run: a value given here would be lost
            if key == "run.seed":
                raise StudyError(f"{option} {key}: a comparison runs every point under several seeds: use --seeds")
            if "controller" in key.split("."):
                raise StudyError(f"{option} {key}: a comparison sets the controller of every flow: use --cc")

    @property
    def varied(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Varied keys with their values."""
        return ((self.key, self.values),)

    @property
    def keys(self) -> str:
        """Varied keys as a text."""
        return " × ".join(key for key, _ in self.varied)

    @property
    def _asked_keys(self) -> str:
        """Varied keys as given; empty for the duration alone, which a comparison without ``--vary`` has."""
        return "" if (self.keys, len(self.values)) == ("run.duration", 1) else self.keys

    @property
    def stations(self) -> tuple[str, ...]:
        """Values of the cases, as texts: one for every combination of values of the varied keys."""
        return self.values

    def at(self, station: str) -> dict[str, str]:
        """Return the values of the varied keys at a station."""
        return {self.key: station} if self.key else {}

    @property
    def lineups(self) -> list[tuple[Controller, ...]]:
        """Controllers of the runs: each is an arm of the study."""
        return [(one,) for one in self.controllers]

    def arm_settings(self, texts: Sequence[str]) -> dict[str, str]:
        """Keys that give their controllers to the flows of a run."""
        return {"controller": texts[0]}

    def cases(self) -> Iterator[Case]:
        """Yield every run, in the order of the report."""
        for scenario, value, lineup in itertools.product(self.scenarios, self.stations, self.lineups):
            yield from (Case(scenario, lineup, value, seed) for seed in range(1, self.seeds + 1))

    def first_cases(self) -> list[Case]:
        """Return every run under the first seed."""
        return [case for case in self.cases() if case.seed == 1]

    def scenario(self, case: Case) -> Scenario:
        """Make the scenario of one run."""
        base = self.bases[case.scenario].changed(self.at(case.value))
        settings = self.arm_settings(case.texts)
        controller = settings.pop("controller", None)
        governed = base if controller is None else base.governed(controller)
        return governed.changed(settings).with_seed(case.seed)

    def described(self, case: Case) -> tuple[str, ...]:
        """Return the words that name the case of a note."""
        return case.scenario, case.controller.text, f"{self.keys} = {case.value}"

    def columns(self, case: Case) -> dict[str, str]:
        """Return the words that name a case in a table, by column."""
        names = dict(zip(self.scenarios, self.scenario_names(), strict=True))
        return {"scenario": names[case.scenario], "controller": case.controller.text, self.key: case.value}

    def drops(self) -> list[str]:
        """Return a note for each scenario whose own parameters controllers of the comparison do not use."""
        if self.dropped is not None:
            return list(self.dropped)
        given = [dropped_parameters.Given(one.text) for one in self.controllers]
        return dropped_parameters.drop_notes(self.bases, given, lambda _, text: f"--cc {text}")

    def _stored_drops(self) -> list[str]:
        """Return ``drops`` for a folder's file; empty where a scenario is refused, which ``check`` says."""
        try:
            return self.drops()
        except ScenarioError:
            return []

    def notes(self) -> list[str]:
        """Return notes on the scenarios before the runs, with the cases that they apply to."""
        return self.drops() + shared_notes(
            {self.described(case): self.scenario(case).notes() for case in self.first_cases()}
        )

    @cached_property
    def bases(self) -> dict[str, Scenario]:
        """Scenarios with the settings, without a value of the key."""
        return {name: Scenario.load(name).changed(dict(self.settings)) for name in self.scenarios}

    def check(self) -> None:
        """Check the scenario of every point, and that no two scenarios, controllers or values are the same."""
        for case in self.first_cases():
            self.scenario(case).validate()
        self.refuse_equal_scenarios()
        self.refuse_equal_controllers()
        self.refuse_idle_controllers()
        self.refuse_equal_values()

    def refuse_equal_values(self) -> None:
        """Raise ``StudyError`` if two values of the key are equal: their runs would count twice."""
        for name in self.scenarios:
            known: dict[Scenario, str] = {}
            for value in self.stations:
                scenario = self.scenario(Case(name, self.lineups[0], value, 1))
                if scenario in known:
                    raise StudyError(
                        f"--vary {self.keys}: {known[scenario]} and {value} are the same in {name}: give one of them"
                    )
                known[scenario] = value

    def refuse_equal_controllers(self) -> None:
        """Raise ``StudyError`` if two controllers are equal in all scenarios, such as with a default written out."""
        known: dict[tuple[str, ...], str] = {}
        for controller in self.controllers:
            found = tuple(base.governed(controller.text).hash for base in self.bases.values())
            if found in known:
                raise StudyError(
                    f"--cc {known[found]} and --cc {controller.text} are the same controller with the same parameters: "
                    "give one of them"
                )
            known[found] = controller.text

    def refuse_idle_controllers(self) -> None:
        """Raise ``StudyError`` if there are several controllers, and none governs a flow: their runs would be equal."""
        governing: dict[str, None] = {}
        for case in self.first_cases() if len(self.controllers) > 1 else ():
            found = self.scenario(case).governing()
            if not all(one.beside(found).is_idle for one in case.controllers):
                return
            governing |= dict.fromkeys(found)
        if governing:
            given = " and ".join(f"--cc {one.text}" for one in self.controllers)
            what = " and ".join("datagrams have none" if one == DATAGRAMS else f"{one} governs" for one in governing)
            raise StudyError(
                f"{given}: controllers govern no flow of {' and '.join(self.scenario_names())} ({what}), so all runs "
                "would be the same: give one --cc, and --vary with a key that matters here"
            )

    def refuse_equal_scenarios(self) -> None:
        """Raise ``StudyError`` if two scenarios are equal: their runs would count twice."""
        known: dict[str, str] = {}
        for name, scenario in self.bases.items():
            # names do not matter, and the seed is the comparison's
            if scenario.hash in known:
                raise StudyError(f"{known[scenario.hash]} and {name} are the same scenario: give one of them")
            known[scenario.hash] = name

    def points(self) -> list[Scenario]:
        """Make the scenarios at every value of the key, with the first controller and seed."""
        return [self.scenario(case) for case in self.first_cases() if case.controller == self.controllers[0]]

    @property
    def title(self) -> str:
        """Title of the comparison, in one line: the one given, or one made from its arguments."""
        if self.heading:
            return self.heading
        kinds = list(dict.fromkeys(c.kind for c in self.controllers))
        return f"{', '.join(kinds)} on {' and '.join(self.scenario_names())}"

    def scenario_names(self) -> list[str]:
        """Names of the scenarios."""
        return list(self.names) or [base.name for base in self.bases.values()]

    def series_cases(self) -> list[Case]:
        """Return the runs with time series: the first scenario, the middle value, seed 1."""
        value = self.values[len(self.values) // 2]
        return [Case(self.scenarios[0], lineup, value, 1) for lineup in self.lineups]

    def viewed(self) -> dict[str, Scenario]:
        """Return the scenarios of the viewer page, by the names of their controllers."""
        return dict(zip(named(self.controllers), map(self.scenario, self.series_cases()), strict=True))

    def folder_name(self) -> str:
        """Default name of the results folder, a function of the arguments alone."""
        digest = hashlib.sha256(json.dumps(self._asked()).encode()).hexdigest()[:8]
        return f"{self.COMMAND}-{'-'.join(self.scenario_names())}-{digest}"

    def apart_from(self, earlier: Self) -> list[str]:
        """Return what makes these another comparison than an earlier one of a folder: nothing if they may share it.

        Controllers, values and seeds may be added and left out, if one of each stays.
        """
        of_settings = [" ".join(f"{key}={value}" for key, value in one.settings) for one in (earlier, self)]
        pairs = [
            ("the scenario", " ".join(earlier.scenarios), " ".join(self.scenarios)),
            ("--vary", earlier._asked_keys, self._asked_keys),
            ("--set", *of_settings),
        ]
        apart = [(what, old or "not given", new or "not given") for what, old, new in pairs if old != new]
        if apart:
            return [f"{what} there is {old}, here {new}" for what, old, new in apart]
        texts = [tuple(c.text for c in one.controllers) for one in (earlier, self)]
        values = [
            (f"values of {key}", old, new) for (key, new), (_, old) in zip(self.varied, earlier.varied, strict=True)
        ]
        return [
            f"{what} there are {' '.join(old)}, and none of them is asked for"
            for what, old, new in [("controllers", *texts), *values]
            if not set(old) & set(new)
        ]

    def holding(self, earlier: Self) -> Self:
        """Return these with what a folder was asked for earlier."""
        old, new = earlier.held or earlier.request(), self.request()
        controllers = tuple(dict.fromkeys([*old.controllers, *new.controllers]))
        values = tuple(tuple(dict.fromkeys(pair)) for pair in map(itertools.chain, old.values, new.values))
        return replace(self, held=Held(controllers, values, max(old.seeds, new.seeds)))

    def grown(self, seeds: int | None, values: Mapping[str, Sequence[str]], controllers: Sequence[str]) -> Self:
        """Return these with more seeds, values of the varied keys, and controllers; raises ``StudyError``."""
        known = dict(self.varied)
        for key in values:
            if key not in known:
                raise StudyError(f"axis {key}: the comparison has no such key; expected {' or '.join(known)}")
        more = {key: tuple(dict.fromkeys([*own, *values.get(key, ())])) for key, own in known.items()}
        texts = dict.fromkeys([*(one.text for one in self.controllers), *controllers])
        given = tuple(map(Controller, texts))
        return replace(self, controllers=given, seeds=max(self.seeds, seeds or 1), **self._fields(more), names=())

    def _fields(self, values: Mapping[str, tuple[str, ...]]) -> dict[str, Any]:
        """Return the fields that have the values of the varied keys."""
        return {"values": values[self.key]}

    def request(self) -> Held:
        """Return what is asked for now."""
        return Held(tuple(c.text for c in self.controllers), tuple(values for _, values in self.varied), self.seeds)

    def left_out(self) -> str | None:
        """Return a sentence about the runs of earlier requests that the report leaves out; ``None`` without any."""
        if self.held is None:
            return None
        now = self.request()
        parts = [f"controller {c}" for c in self.held.controllers if c not in now.controllers]
        for (key, values), held in zip(self.varied, self.held.values, strict=True):
            parts += [f"{key} = {value}" for value in held if value not in values]
        parts += [f"seeds up to {self.held.seeds}"] if self.held.seeds > now.seeds else []
        if not parts:
            return None
        return f"not shown, though the folder has runs: {', '.join(parts)}; the command with them shows them again"

    def arms(self) -> dict[tuple[str, ...], str]:
        """Names of the study's arms by the texts of their controllers; additional controllers do not change them."""
        texts = [tuple(one.text for one in lineup) for lineup in self.lineups]
        names = (slug("--".join(one.name for one in lineup)) for lineup in self.lineups)
        wanted = zip(names, (slug("--".join(one)) for one in texts), strict=True)
        return dict(zip(texts, plain_names(wanted), strict=True))

    def called(self) -> dict[str, str]:
        """Names of the scenarios in the study, by their names here."""
        stems = [(Path(name).stem,) for name in self.scenarios]  # the stem of a built-in name is the name
        return dict(zip(self.scenarios, plain_names(stems), strict=True))

    def set_in_all(self) -> dict[str, str | int | float | bool]:
        """Return the settings of all runs: the last value of each key, without the varied key."""
        return {key: axis_value_of(value) for key, value in self.settings if key not in dict(self.varied)}

    def axes(self, values: Sequence[str]) -> dict[str, list[str | int | float | bool]]:
        """Return the axis of the study."""
        return {self.key: [axis_value_of(value) for value in values]} if self.key else {}

    def definition(self, name: str) -> Definition:
        """Return the study: one arm per lineup, one axis, all tables of the runs but those of messages of jobs."""
        keep = tuple(one for one in KEEPS if one not in ("messages", "tasks"))
        return self.parts(name, self.scenarios, self.values, {}, seeds=self.seeds, keep=keep)

    def parts(
        self,
        name: str,
        scenarios: Sequence[str],
        values: Sequence[str],
        extra: Mapping[tuple[str, ...], Mapping[str, object]],
        **others: Any,
    ) -> Definition:
        """Return a study of some scenarios and values, with extra keys by the controllers' texts."""
        called = self.called()
        return ComparisonDefinition(
            scenario=list(scenarios),
            called=tuple(called[one] for one in scenarios),
            axes=self.axes(values),
            arms={name: self.arm_settings(texts) | dict(extra.get(texts, {})) for texts, name in self.arms().items()},
            settings=self.set_in_all(),
            name=name,
            **others,
        )

    def place(self, case: Case) -> Place:
        """Return the place of a case in the study."""
        called, arms = self._names
        values = {key: axis_value_of(value) for key, value in self.at(case.value).items()}
        return Place(called[case.scenario], arms[case.texts], json.dumps(values), case.seed)

    @cached_property
    def _names(self) -> tuple[dict[str, str], dict[tuple[str, ...], str]]:
        return self.called(), self.arms()

    def _has_own_duration(self) -> bool:
        """Return whether the only value is the duration that the scenarios have, as without ``--vary``."""
        with contextlib.suppress(ScenarioError):  # a file that is gone
            return not self._asked_keys and {_duration(name, self.settings) for name in self.scenarios} == set(
                self.values
            )
        return False

    def command(
        self, out: str, bins: str | None = None, formats: Sequence[str] = ("png",), store: str | None = None
    ) -> str:
        """Return the command line that makes the runs, and the report with these bins and image formats."""
        words = ["incast", self.COMMAND, *self.scenarios]
        for controller in self.controllers:
            words += ["--cc", controller.text]
        for key, values in () if self._has_own_duration() else self.varied:
            words += ["--vary", f"{key}={','.join(values)}"] if key else []
        words += ["--seeds", str(self.seeds)]
        for key, value in self.settings:
            words += ["--set", f"{key}={value}"]
        for option, text in (("--title", self.heading), ("--note", self.remark)):
            words += [option, text] if text else []
        words += [] if bins is None else ["--bins", bins]
        words += [] if tuple(formats) == ("png",) else ["--format", ",".join(formats)]
        words += [] if store is None else ["--store", store]
        return shlex.join([*words, "--out", out])

    def _asked(self) -> dict[str, Any]:
        found = {name: getattr(self, name) for name in self.ASKED}
        return found | {"controllers": [{"text": controller.text} for controller in self.controllers]}

    def stored(self) -> dict[str, Any]:
        """Return what the folder's file has beside the arguments: descriptions of what may change later."""
        words = {"title": self.heading, "note": self.remark}
        told = {name: text for name, text in words.items() if text}
        return {"names": self.scenario_names(), "dropped": self._stored_drops()} | told

    def json(self, **others: str) -> str:
        """Write the declaration as JSON, with the further entries of the folder's file."""
        held = {} if self.held is None else {"held": asdict(self.held)}
        return json.dumps({"format": self.FORMAT} | others | self._asked() | self.stored() | held, indent=2) + "\n"

    @classmethod
    def from_data(cls, data: Any) -> Self:
        """Read what ``json`` wrote; raises ``StudyError`` for another format."""
        if not isinstance(data, dict) or data.get("format") != cls.FORMAT:
            raise StudyError(f"expected {cls.KIND} of format {cls.FORMAT}")
        settings = tuple((key, value) for key, value in data["settings"])
        controllers = tuple(Controller(one["text"]) for one in data["controllers"])
        held = data.get("held")
        if held is not None:
            held = Held(tuple(held["controllers"]), tuple(map(tuple, held["values"])), held["seeds"])
        return cls.of_data(data, controllers=controllers, seeds=data["seeds"], settings=settings, held=held)

    @classmethod
    def of_data(cls, data: Mapping[str, Any], **others: Any) -> Self:
        """Read the entries of this kind; the others are what all kinds have."""
        listed: dict[str, Any] = {name: tuple(data[name]) for name in ("scenarios", "values", "names")}
        words = {"heading": data.get("title", ""), "remark": data.get("note", "")}
        return cls(key=data["key"], dropped=tuple(data.get("dropped", ())), **words, **listed, **others)

    def with_words_of(self, earlier: ComparisonStudy) -> Self:
        """Return the declaration with the title and the note of an earlier one, where it has none of its own."""
        return replace(self, heading=self.heading or earlier.heading, remark=self.remark or earlier.remark)

    def study_file(self) -> str:
        """Write the comparison as a study file: one arm per controller, one axis, the same runs."""
        # the study file may be in another folder: write absolute paths
        scenarios = [str(Path(name).resolve()) if Path(name).is_file() else name for name in self.scenarios]
        lines = [
            f"scenario = {toml_value(scenarios)}",
            f"seeds = {self.seeds}",
            "",
            "[set]",
            *(f"{toml_value(key)} = {toml_value(value)}" for key, value in self.set_in_all().items()),
            "",
            "[axes]",
            *(f"{toml_value(key)} = {toml_value(values)}" for key, values in self.axes(self.values).items()),
            "",
            "[arms]",
            *(f"{toml_value(name)} = {toml_value(text)}" for (text,), name in self.arms().items()),
        ]
        return "\n".join(lines) + "\n"

    @classmethod
    def parse(
        cls,
        scenarios: Sequence[str],
        controllers: Sequence[str],
        vary: str | None,
        seeds: int,
        settings: Sequence[tuple[str, str]],
    ) -> ComparisonStudy:
        """Make a study from the arguments of the command line.

        Without a varied key there is one point, at the scenarios' own duration. Classes in the arguments are allowed.
        """
        consent.grant(list(controllers), dict(settings))
        if vary is None:
            durations = {_duration(name, settings) for name in scenarios}
            if len(durations) > 1:
                raise StudyError(
                    "the scenarios differ in run.duration: expected --vary KEY=V1,V2,..., or --set run.duration=TIME"
                )
            vary = f"run.duration={durations.pop()}" if durations else ""
        key, listed = varied(vary)
        return cls(tuple(scenarios), tuple(Controller(c) for c in controllers), key, listed, seeds, tuple(settings))
