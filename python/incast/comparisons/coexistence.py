"""Pairs of controllers on one fabric: shares of the goodput, delays, losses."""

from __future__ import annotations

import csv
import hashlib
import io
import itertools
import json
import math
import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from incast.batch.executor import Status
from incast.batch.plan import Mark, refuse_too_many, slug
from incast.comparisons.declaration import (
    ComparisonDefinition,
    Controller,
    asked_for,
    axis_value_of,
    named,
    plain_names,
    refuse_equal,
    shared_notes,
)
from incast.comparisons.report_folder import OWN_STORE, Home, Place, claimed
from incast.errors import FolderError, StudyError
from incast.external import consent
from incast.runs.result import Result, rates_of
from incast.runs.scenario import Scenario
from incast.statistics import Estimate, estimate, jain
from incast.study.definition import KEEPS, Definition
from incast.system import files
from incast.system.folders import write_whole
from incast.view import chosen

PAIRS_FILE = "coexistence.json"
PAIRS_FORMAT = 2
POINTS_FILE = "points.parquet"
"""Table of the runs in the store that belong to the pairs."""


@dataclass(frozen=True)
class Said:
    """Description of the scenario as stored in the folder; the scenario itself may have changed since."""

    name: str
    entries: tuple[str, str]
    """The two traffic entries."""
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Pairs:
    """Controllers to pair, their scenario, and the number of seeds."""

    scenario: str
    controllers: tuple[Controller, ...]
    seeds: int
    settings: tuple[tuple[str, str], ...] = ()
    said: Said | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        texts = [c.text for c in self.controllers]
        if len(texts) < 2:
            raise StudyError("expected at least two controllers, such as --cc dctcp --cc swift")
        twice = sorted({text for text in texts if texts.count(text) > 1})
        if twice:
            raise StudyError(
                f"--cc {twice[0]} is given twice: give it once (each controller is also paired with itself)"
            )
        refuse_too_many(self.seeds, len(self.meetings), "pairs of controllers")

    @property
    def meetings(self) -> list[tuple[Controller, Controller]]:
        """Every pair once, including each controller with itself."""
        return list(itertools.combinations_with_replacement(self.controllers, 2))

    def saying(self) -> Said:
        """Return the description of the scenario: the stored one, or else that of the current scenario."""
        if self.said is not None:
            return self.said
        base, names = self.base()
        return Said(base.name, names, tuple(dict.fromkeys(self.notes())))

    def base(self) -> tuple[Scenario, tuple[str, str]]:
        """Load the scenario, and return it with the names of its two traffic entries that controllers govern."""
        scenario = Scenario.load(self.scenario).changed(dict(self.settings))
        entries = scenario.resolved()["traffic"]
        names = tuple(entry["name"] for entry in entries if entry["app"]["kind"] != "udp")
        if len(names) != 2:
            whose = " that controllers govern" if len(names) < len(entries) else ""
            one = "entry" if len(names) == 1 else "entries"
            raise StudyError(
                f"{self.scenario} has {len(names)} traffic {one}{whose}: expected two, one for each controller of a "
                "pair, as in the built-in scenario coexistence"
            )
        for entry in entries:
            if entry["name"] in names and entry.get("flows") == 0:
                raise StudyError(f"traffic.{entry['name']}.flows = 0: expected at least one flow for each controller")
        return scenario, (names[0], names[1])

    def refuse_equal_controllers(self) -> None:
        """Raise ``StudyError`` for two equal controllers, such as one with a default written out."""
        base, _ = self.base()
        refuse_equal(self.controllers, lambda text: [base.governed(text).hash])

    def notes(self) -> list[str]:
        """Return notes before the runs: differences between the two entries, and notes of the scenarios."""
        scenario, names = self.base()
        entries = {entry["name"]: entry for entry in scenario.resolved()["traffic"]}
        own, other = (_flat(entries[name]) for name in names)
        apart = sorted(key for key in own.keys() | other.keys() if own.get(key) != other.get(key))
        notes = []
        if apart:
            notes.append(
                f"traffic.{names[0]} and traffic.{names[1]} differ in {', '.join(apart)}: the first "
                f"controller of a pair drives {names[0]}; a controller paired with itself shows the entries' effect"
            )
        if ends := [f"traffic.{name}.app.size" for name in names if "app.size" in _flat(entries[name])]:
            notes.append(
                f"{' and '.join(ends)}: flows are finite; if all end within the measured interval, the shares of the "
                "goodput only reflect their sizes"
            )
        meetings = {(f"{a.text} beside {b.text}",): (a, b) for a, b in self.meetings}
        return notes + shared_notes(
            {case: self.meeting(scenario, names, a, b).notes() for case, (a, b) in meetings.items()}
        )

    @staticmethod
    def meeting(scenario: Scenario, names: tuple[str, str], a: Controller, b: Controller) -> Scenario:
        """Make the scenario of one pair."""
        return scenario.changed({f"traffic.{names[0]}.controller": a.text, f"traffic.{names[1]}.controller": b.text})

    def folder_name(self) -> str:
        """Default name of the results folder, a function of the arguments alone."""
        digest = hashlib.sha256(json.dumps(self._asked()).encode()).hexdigest()[:8]
        return f"coexist-{slug(Path(self.scenario).stem)}-{digest}"

    def grows_from(self, other: Pairs) -> bool:
        """Return whether these pairs equal the others, or extend them by controllers or seeds."""
        same = (self.scenario, self.settings) == (other.scenario, other.settings)
        return same and set(self.controllers) >= set(other.controllers) and self.seeds >= other.seeds

    def arms(self) -> dict[tuple[str, str], str]:
        """Names of the study's arms by the texts of the two controllers."""
        names = plain_names((slug(f"{a.name}--{b.name}"), slug(f"{a.text}--{b.text}")) for a, b in self.meetings)
        return {(a.text, b.text): name for (a, b), name in zip(self.meetings, names, strict=True)}

    def called(self) -> str:
        """Name of the scenario in a study."""
        (name,) = plain_names([(Path(self.scenario).stem,)])
        return name

    def definition(self, name: str) -> Definition:
        """Return the pairs as a study: one arm per pair, with all tables of the runs."""
        own, their = self.base()[1]
        return ComparisonDefinition(
            scenario=[self.scenario],
            called=(self.called(),),
            arms={
                arm: {f"traffic.{own}.controller": a, f"traffic.{their}.controller": b}
                for (a, b), arm in self.arms().items()
            },
            settings={key: axis_value_of(value) for key, value in self.settings},
            seeds=self.seeds,
            name=name,
            keep=KEEPS,
        )

    def viewed(self) -> dict[str, Scenario]:
        """Return the scenarios of the viewer page by name: the first controller with each other one, under seed 1."""
        scenario, names = self.base()
        first = self.controllers[0]
        return {
            f"{first.name} beside {name}": self.meeting(scenario, names, first, other).with_seed(1)
            for name, other in named(self.controllers).items()
        }

    def places(self) -> dict[tuple[str, str, int], Place]:
        """Return the places of the runs in the study, by the two controllers and the seed."""
        seeds = range(1, self.seeds + 1)
        arms = self.arms()
        return {(*pair, seed): Place(self.called(), arms[pair], "{}", seed) for pair in arms for seed in seeds}

    def command(self, out: str, formats: Sequence[str] = ("png",), store: str | None = None) -> str:
        """Return the command line that makes the runs and the report, with pictures in these formats."""
        words = ["incast", "coexist", self.scenario]
        for controller in self.controllers:
            words += ["--cc", controller.text]
        words += ["--seeds", str(self.seeds)]
        for key, value in self.settings:
            words += ["--set", f"{key}={value}"]
        if tuple(formats) != ("png",):
            words += ["--format", ",".join(formats)]
        if store is not None:
            words += ["--store", store]
        return shlex.join([*words, "--out", out])

    @classmethod
    def from_data(cls, data: Any) -> Pairs:
        """Read what ``json`` wrote; raises ``StudyError``."""
        if not isinstance(data, dict) or data.get("format") != PAIRS_FORMAT:
            raise StudyError(f"expected controllers side by side of format {PAIRS_FORMAT}")
        controllers = tuple(Controller(c["text"]) for c in data["controllers"])
        said = data["said"]
        own, their = said["entries"]
        kept = Said(said["name"], (own, their), tuple(said["notes"]))
        return cls(data["scenario"], controllers, data["seeds"], tuple((k, v) for k, v in data["settings"]), kept)

    def _asked(self) -> dict[str, Any]:
        return asked_for(self, "said")

    def json(self, **others: str) -> str:
        """Write the arguments as JSON, with the further entries of the folder's file."""
        said = {"said": asdict(self.saying())}
        return json.dumps({"format": PAIRS_FORMAT} | others | self._asked() | said, indent=2) + "\n"


@dataclass(frozen=True)
class Meeting:
    """Results of one controller that shares the fabric with another: means over seeds."""

    controller: str
    other: str
    share_pct: Estimate
    """Share of the goodput of both, in percent."""
    goodput_bps: Estimate
    """Goodput of all its flows together."""
    delay_mean_s: Estimate | None
    """Mean delay of its data; ``None`` if none arrived."""
    loss_pct: Estimate | None
    jain: Estimate
    """Jain's index over the flows of both controllers."""


FIGURES = ("share_pct", "goodput_bps", "delay_mean_s", "loss_pct", "jain")
"""The figures of a meeting."""


def known(value: Estimate | None) -> Estimate | None:
    """Return a figure; ``None`` if a run lacks it, since a mean needs every seed."""
    return None if value is None or math.isnan(value.mean) else value


def check(pairs: Pairs) -> None:
    """Check the scenario of every pair, and that no two controllers are the same."""
    base, names = pairs.base()
    pairs.refuse_equal_controllers()
    for a, b in pairs.meetings:
        pairs.meeting(base, names, a, b).validate()


def carry_out(
    pairs: Pairs,
    folder: Path,
    *,
    store: Path | None = None,
    workers: int = 0,
    show: Callable[[Status], None] = lambda _: None,
    rebuild: bool = False,
    memory_limit: float | None = None,
) -> tuple[list[Meeting], Home, str | None]:
    """Make the runs that the store lacks, for every pair and seed, and the viewer page of some of them.

    Default store: the folder's own. A folder with fewer controllers or seeds is extended. The last result is the reason
    why runs with timelines have no viewer page, if so.
    """
    check(pairs)
    home = Home(folder, store or folder / OWN_STORE, slug(pairs.folder_name()))
    grows = "pairs can be extended by controllers and seeds"
    other = f"other controllers or settings: give another --out, or remove it first; {grows}"
    mark = Mark(PAIRS_FILE, pairs.json(**home.words), lambda path: pairs.grows_from(_read(path.parent)[0]), other)
    with claimed(home, store, mark, lambda place: _read(place)[1]) as home:
        write_whole(folder / PAIRS_FILE, pairs.json(**home.words))
        options: dict[str, Any] = {"workers": workers, "show": show, "memory_limit": memory_limit}
        home.make(pairs.definition(home.name), POINTS_FILE, rebuild, **options)
        gap = chosen.tried(pairs.viewed(), folder, **options)
        _, found, home = load(folder)
    return found, home, gap


def load(folder: Path) -> tuple[Pairs, list[Meeting], Home]:
    """Read the pairs of a folder back, and compute their results; every run must be there."""
    pairs, home = _read(folder)
    pairs = governed(pairs, home)
    by = {c.text: c.label for c in pairs.controllers}

    def name_of(key: tuple[str, str, int]) -> str:
        a, b, seed = key
        return f"{by[a]} beside {by[b]}, seed {seed}"

    again = pairs.command(str(folder), store=home.given)
    found = home.results(POINTS_FILE, pairs.places(), name_of, again)
    results = {key: result for key, (result, _) in found.items()}
    return pairs, meetings(pairs, results, pairs.saying().entries), home


def governed(pairs: Pairs, home: Home) -> Pairs:
    """Set for each controller what governs its flows, from the runs in which it is paired with itself."""
    found = home.governing(POINTS_FILE, pairs.places())
    governed = (c.beside([found.get((c.text, c.text, 1), "")]) for c in pairs.controllers)
    return replace(pairs, controllers=tuple(governed))


def _read(folder: Path) -> tuple[Pairs, Home]:
    path = folder / PAIRS_FILE
    try:
        data = files.read_json(path)
        return Pairs.from_data(data), Home.of(folder, data)
    except OSError as error:
        raise FolderError(f"cannot read {path}: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, AttributeError, StudyError) as error:
        message = f"{path} is damaged: {files.message_of(error)}"
        raise FolderError(f"{message}; give another --out, or remove {folder} first") from None


def meetings(pairs: Pairs, results: dict[tuple[str, str, int], Result], entries: tuple[str, str]) -> list[Meeting]:
    """Compute the results of every controller with every other one and with itself."""
    found = []
    for controller, other in itertools.product(pairs.controllers, repeat=2):
        own, their = entries
        if (controller.text, other.text, 1) not in results:
            own, their = their, own
        key = (controller.text, other.text) if own == entries[0] else (other.text, controller.text)
        runs = [results[(*key, seed)] for seed in range(1, pairs.seeds + 1)]
        summaries = [run.summary for run in runs]
        mine = [summary["groups"][own]["flows"] for summary in summaries]
        goodputs = [flows["goodput_total_bps"] for flows in mine]
        both = [
            flows + s["groups"][their]["flows"]["goodput_total_bps"]
            for flows, s in zip(goodputs, summaries, strict=True)
        ]
        shares = [100 * part / whole if whole else math.nan for part, whole in zip(goodputs, both, strict=True)]
        found.append(
            Meeting(
                controller.text,
                other.text,
                _mean(shares),
                _mean(goodputs),
                estimate([f["delay_mean_s"] for f in mine if f["delay_mean_s"] is not None]),
                estimate([f["loss_total_pct"] for f in mine if f["loss_total_pct"] is not None]),
                _mean([math.nan if fair is None else fair for fair in map(_jain, runs)]),
            )
        )
    return found


def _jain(run: Result) -> float | None:
    """Jain's index of the flows of both controllers, without datagrams."""
    fair: float | None = run.summary["flows"]["jain"]
    return jain(rates_of(run.flows, run.datagrams)) if run.datagrams else fair


def _flat(entry: dict[str, Any]) -> dict[str, Any]:
    """Return a traffic entry by dotted keys, without its name and its controller."""
    flat: dict[str, Any] = {}
    for key, value in entry.items():
        if isinstance(value, dict) and key != "controller":
            flat |= {f"{key}.{part}": held for part, held in _flat(value).items()}
        elif key not in ("name", "controller"):
            flat[key] = value
    return flat


def _row(meeting: Meeting) -> dict[str, Any]:
    """Return a meeting as a row of JSON; NaN becomes missing."""
    row = asdict(meeting)
    return row | {name: None for name in FIGURES if known(getattr(meeting, name)) is None}


def _mean(values: Sequence[float]) -> Estimate:
    found = estimate(values)
    assert found is not None
    return found


def tables_of(found: Sequence[Meeting]) -> dict[str, str]:
    """Return the files of the meetings by name: CSV and JSON."""
    return {
        "pairs.csv": _table(found),
        "pairs.json": json.dumps({"meetings": [_row(meeting) for meeting in found]}, indent=2) + "\n",
    }


def _table(found: Sequence[Meeting]) -> str:
    """Write the meetings as CSV, one row each."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["controller", "other", *itertools.chain(*((name, f"{name}_half_width") for name in FIGURES))])
    for meeting in found:
        cells: list[Any] = []
        for name in FIGURES:
            value = known(getattr(meeting, name))
            cells += ["", ""] if value is None else [value.mean, "" if value.half_width is None else value.half_width]
        writer.writerow([meeting.controller, meeting.other, *cells])
    return text.getvalue()


def parse(scenario: str, controllers: Sequence[str], seeds: int, settings: Sequence[tuple[str, str]]) -> Pairs:
    """Make pairs from the arguments of the command line."""
    for key, _ in settings:
        if re.fullmatch(r"run\.seed|controller(\..*)?|traffic\.[^.]+\.controller(\..*)?", key):
            raise StudyError(f"--set {key}: not allowed, since --cc and --seeds set it")
    consent.grant(list(controllers), dict(settings))
    return Pairs(scenario, tuple(Controller(text) for text in controllers), seeds, tuple(settings))
