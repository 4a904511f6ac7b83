"""Definition of comparisons: scenarios, controllers, varied key, seeds, and the resulting runs."""

from __future__ import annotations

import hashlib
import json
import math
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from incast.batch.plan import refuse_too_many, slug, unique_names
from incast.controllers import built_in
from incast.errors import StudyError
from incast.external import consent
from incast.runs.scenario import Scenario, toml_value
from incast.study.definition import KEEPS, NAME, Definition

STUDY_FILE = "study.json"
STUDY_FORMAT = 2


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
        named = re.escape(external) if external else "[A-Za-z0-9_-]+"
        if not re.fullmatch(rf"{named}(:[^=,]+=[^,]+(,[^=,]+=[^,]+)*)?", self.text):
            raise StudyError(
                f'--cc "{self.text}": expected a controller and its parameters, '
                'such as "dctcp" or "swift:target=min-rtt,epsilon=100us"'
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
        found = dict.fromkeys(one for names in governing for one in names.split("+") if one not in ("", "udp"))
        own = [one for one in found if one.rpartition(":")[2] == self.kind.rpartition(":")[2]]
        return Controller(self.text, tuple(one for one in found if one not in own), bool(found) and not own)

    @property
    def label(self) -> str:
        """Label in legends and tables: its name, and other controls of its flows."""
        if not self.others:
            return self.name
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
        return " ".join([self.kind.rpartition(":")[2], *words])


def named(controllers: Iterable[Controller]) -> dict[str, Controller]:
    """Return controllers by name; by text if two names are equal."""
    controllers = list(controllers)
    return dict(zip(unique_names((c.name, c.text) for c in controllers), controllers, strict=True))


def asked_for(study: Any, *but: str) -> dict[str, Any]:
    """Return the fields of a study, except some, with controllers as texts: the mark of a folder."""
    found = {name: value for name, value in asdict(study).items() if name not in but}
    return found | {"controllers": [{"text": controller.text} for controller in study.controllers]}


def refuse_equal(controllers: Sequence[Controller], resolved: Callable[[str], list[str]]) -> None:
    """Raise ``StudyError`` if two controllers resolve to the same one."""
    known: dict[tuple[str, ...], str] = {}
    for controller in controllers:
        found = tuple(resolved(controller.text))
        if found in known:
            raise StudyError(
                f"--cc {known[found]} and --cc {controller.text} are the same controller with the same parameters: "
                "give one of them"
            )
        known[found] = controller.text


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


def shared_notes(notes: Mapping[tuple[str, ...], Sequence[str]], most: int = 3) -> list[str]:
    """Return each note once, prefixed by the cases that have it unless all do.

    A case is a tuple of words, such as scenario, controller and value. If a note depends on one of them, only that word
    is shown; at most the first ``most`` cases are shown.
    """
    holders: dict[str, list[tuple[str, ...]]] = {}
    for case, texts in notes.items():
        for note in dict.fromkeys(texts):
            holders.setdefault(note, []).append(case)
    return [
        note if len(cases) == len(notes) else f"{_owners(cases, list(notes), most)}: {note}"
        for note, cases in holders.items()
    ]


def _owners(holders: Sequence[tuple[str, ...]], cases: Sequence[tuple[str, ...]], most: int) -> str:
    """Name the cases in a list, by one of their words if it decides."""
    words = [", ".join(case) for case in holders]
    for place in range(len(cases[0])):
        own = list(dict.fromkeys(case[place] for case in holders))
        if [case for case in cases if case[place] in own] == list(holders):
            words = own
            break
    return "; ".join(words[:most]) + (f"; and {len(words) - most} more" if len(words) > most else "")


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
    """A comparison or pairs as a study; equal arms and values were refused before."""

    strict = False


@dataclass(frozen=True)
class Case:
    """One run of a comparison."""

    scenario: str
    controller: Controller
    value: str
    seed: int

    def __str__(self) -> str:
        return f"{self.scenario}, {self.controller.label}, {self.value}, seed {self.seed}"


@dataclass(frozen=True)
class ComparisonStudy:
    """Controllers on the same scenarios, over the values of one key and over seeds.

    All controllers use the same placements and start times under one seed, so differences between them are paired.
    """

    scenarios: tuple[str, ...]
    controllers: tuple[Controller, ...]
    key: str
    values: tuple[str, ...]
    seeds: int
    settings: tuple[tuple[str, str], ...] = ()
    names: tuple[str, ...] = field(default=(), compare=False)
    """Names of the scenarios as stored in a folder; the scenarios may have changed since."""

    def __post_init__(self) -> None:
        for what, items in [
            ("scenario", self.scenarios),
            ("--cc", tuple(c.text for c in self.controllers)),
            ("--vary value", self.values),
        ]:
            if not items:
                raise StudyError(f"a comparison needs at least one {what}")
            twice = sorted({item for item in items if items.count(item) > 1})
            if twice:
                raise StudyError(f"{what} {twice[0]} is given twice: give it once")
        if self.seeds < 1:
            raise StudyError(f"--seeds {self.seeds}: expected 1 or more")
        points = len(self.scenarios) * len(self.values) * len(self.controllers)
        refuse_too_many(self.seeds, points, "points (scenarios, values and controllers)")
        for option, key in [("--vary", self.key), *(("--set", key) for key, _ in self.settings)]:
            # a comparison sets these for every run: a value given here would be lost
            if key == "run.seed":
                raise StudyError(f"{option} {key}: a comparison runs every point under several seeds: use --seeds")
            if "controller" in key.split("."):
                raise StudyError(f"{option} {key}: a comparison sets the controller of every flow: use --cc")

    def cases(self) -> Iterator[Case]:
        """Yield every run, in the order of the report."""
        for scenario in self.scenarios:
            for value in self.values:
                for controller in self.controllers:
                    for seed in range(1, self.seeds + 1):
                        yield Case(scenario, controller, value, seed)

    def scenario(self, case: Case, extra: Mapping[str, object] | None = None) -> Scenario:
        """Make the scenario of one run."""
        base = self._bases[case.scenario].changed({self.key: case.value} | dict(extra or {}))
        return base.governed(case.controller.text).with_seed(case.seed)

    def notes(self) -> list[str]:
        """Return notes on the scenarios before the runs, with the cases that they apply to."""
        first = [case for case in self.cases() if case.seed == 1]
        return shared_notes(
            {
                (case.scenario, case.controller.text, f"{self.key} = {case.value}"): self.scenario(case).notes()
                for case in first
            }
        )

    def bases(self) -> list[Scenario]:
        """Return the scenarios with the settings, without a value of the key."""
        return list(self._bases.values())

    def points(self) -> list[Scenario]:
        """Make the scenarios at every value of the key, with the first controller and seed."""
        return [
            self.scenario(Case(name, self.controllers[0], value, 1)) for name in self.scenarios for value in self.values
        ]

    def refuse_equal_values(self) -> None:
        """Raise ``StudyError`` if two values of the key are equal: their runs would count twice."""
        for name in self.scenarios:
            known: dict[Scenario, str] = {}
            for value in self.values:
                scenario = self.scenario(Case(name, self.controllers[0], value, 1))
                if scenario in known:
                    raise StudyError(
                        f"--vary {self.key}: {known[scenario]} and {value} are the same in {name}: give one of them"
                    )
                known[scenario] = value

    def refuse_equal_controllers(self) -> None:
        """Raise ``StudyError`` if two controllers are equal in all scenarios, such as with a default written out."""
        refuse_equal(self.controllers, lambda text: [base.governed(text).hash for base in self._bases.values()])

    def refuse_equal_scenarios(self) -> None:
        """Raise ``StudyError`` if two scenarios are equal: their runs would count twice."""
        known: dict[str, str] = {}
        for name, scenario in self._bases.items():
            # names do not matter, and the seed is the comparison's
            if scenario.hash in known:
                raise StudyError(f"{known[scenario.hash]} and {name} are the same scenario: give one of them")
            known[scenario.hash] = name

    @cached_property
    def _bases(self) -> dict[str, Scenario]:
        return {name: Scenario.load(name).changed(dict(self.settings)) for name in self.scenarios}

    @property
    def title(self) -> str:
        """Title of the comparison, in one line."""
        kinds = list(dict.fromkeys(c.kind for c in self.controllers))
        return f"{', '.join(kinds)} on {' and '.join(self.scenario_names())}"

    def scenario_names(self) -> list[str]:
        """Names of the scenarios."""
        return list(self.names) or [self._bases[name].name for name in self.scenarios]

    def folder_name(self) -> str:
        """Default name of the results folder, a function of the study alone."""
        digest = hashlib.sha256(json.dumps(self._asked()).encode()).hexdigest()[:8]
        return f"compare-{'-'.join(self.scenario_names())}-{digest}"

    def grows_from(self, other: ComparisonStudy) -> bool:
        """Return whether this comparison equals the other, or extends it by controllers, values or seeds."""
        same = (self.scenarios, self.key, self.settings) == (other.scenarios, other.key, other.settings)
        more = set(self.controllers) >= set(other.controllers) and set(self.values) >= set(other.values)
        return same and more and self.seeds >= other.seeds

    def arms(self) -> dict[str, str]:
        """Names of the study's arms by the texts of the controllers; additional controllers do not change them."""
        names = plain_names((slug(c.name), slug(c.text)) for c in self.controllers)
        return {c.text: name for c, name in zip(self.controllers, names, strict=True)}

    def called(self) -> dict[str, str]:
        """Names of the scenarios in the study, by their names here."""
        stems = [(Path(name).stem,) for name in self.scenarios]  # the stem of a built-in name is the name
        return dict(zip(self.scenarios, plain_names(stems), strict=True))

    def set_in_all(self) -> dict[str, str | int | float | bool]:
        """Return the settings of all runs: the last value of each key, without the varied key."""
        return {key: axis_value_of(value) for key, value in self.settings if key != self.key}

    def definition(self, name: str) -> Definition:
        """Return the comparison as a study: one arm per controller, one axis, all tables of the runs."""
        return self._definition(name, {text: {"controller": text} for text in self.arms()}, self.scenarios, self.values)

    def parts(self, name: str, scenario: str, value: str, extra: Mapping[str, Mapping[str, object]]) -> Definition:
        """Return a study of one scenario, value and seed, with extra keys by the controllers' texts."""
        arms = {text: {"controller": text, **extra[text]} for text in self.arms()}
        return self._definition(name, arms, (scenario,), (value,), seeds=1, keep=("flows", "samples"))

    def _definition(
        self,
        name: str,
        arms: Mapping[str, Mapping[str, object]],
        scenarios: Sequence[str],
        values: Sequence[str],
        **others: Any,
    ) -> Definition:
        names, called = self.arms(), self.called()
        given: dict[str, Any] = {"seeds": self.seeds, "keep": KEEPS} | others
        return ComparisonDefinition(
            scenario=list(scenarios),
            called=tuple(called[one] for one in scenarios),
            axes={self.key: [axis_value_of(value) for value in values]},
            arms={names[text]: settings for text, settings in arms.items()},
            settings=self.set_in_all(),
            name=name,
            **given,
        )

    def place(self, case: Case) -> tuple[str, str, str]:
        """Return the place of a case in the study: its scenario, its arm, and the value of the key as JSON."""
        return (*self._places[case.scenario, case.controller.text], json.dumps({self.key: axis_value_of(case.value)}))

    @cached_property
    def _places(self) -> dict[tuple[str, str], tuple[str, str]]:
        return {
            (scenario, text): (called, arm)
            for scenario, called in self.called().items()
            for text, arm in self.arms().items()
        }

    def command(
        self, out: str, bins: str | None = None, formats: Sequence[str] = ("png",), store: str | None = None
    ) -> str:
        """Return the command line that makes the comparison, and its report with these bins and image formats."""
        words = ["incast", "compare", *self.scenarios]
        for controller in self.controllers:
            words += ["--cc", controller.text]
        words += ["--vary", f"{self.key}={','.join(self.values)}", "--seeds", str(self.seeds)]
        for key, value in self.settings:
            words += ["--set", f"{key}={value}"]
        if bins is not None:
            words += ["--bins", bins]
        if tuple(formats) != ("png",):
            words += ["--format", ",".join(formats)]
        if store is not None:
            words += ["--store", store]
        return shlex.join([*words, "--out", out])

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
            f"{toml_value(self.key)} = {toml_value([axis_value_of(value) for value in self.values])}",
            "",
            "[arms]",
            *(f"{toml_value(name)} = {toml_value(text)}" for text, name in self.arms().items()),
        ]
        return "\n".join(lines) + "\n"

    def _asked(self) -> dict[str, Any]:
        return asked_for(self, "names")

    def json(self, **others: str) -> str:
        """Write the study as JSON, with the further entries of the folder's file."""
        names = {"names": self.scenario_names()}
        return json.dumps({"format": STUDY_FORMAT} | others | self._asked() | names, indent=2) + "\n"

    @classmethod
    def from_data(cls, data: Any) -> ComparisonStudy:
        """Read what ``json`` wrote."""
        if not isinstance(data, dict) or data.get("format") != STUDY_FORMAT:
            raise StudyError(f"expected a comparison of format {STUDY_FORMAT}")
        return cls(
            tuple(data["scenarios"]),
            tuple(Controller(c["text"]) for c in data["controllers"]),
            data["key"],
            tuple(data["values"]),
            data["seeds"],
            tuple((k, v) for k, v in data["settings"]),
            tuple(data["names"]),
        )

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
