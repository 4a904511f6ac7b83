"""Controllers two by two on one fabric: who gets what share, at which delay."""

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

from incast import consent, files
from incast.errors import FolderError, StudyError
from incast.executor import Status
from incast.folders import write_whole
from incast.plan import Mark, refuse_too_many, slug
from incast.result import Result, rates_of
from incast.scenario import Scenario
from incast.statistics import Estimate, estimate, jain
from incast.study.comparing import (
    ComparisonDefinition,
    Controller,
    asked_for,
    axis_value_of,
    named,
    plain_names,
    refuse_equal,
    shared_notes,
)
from incast.study.definition import KEEPS, Definition
from incast.study.report_folder import OWN_STORE, Home, Place, claimed
from incast.view import chosen

PAIRS_FILE = "coexistence.json"
PAIRS_FORMAT = 2
POINTS_FILE = "points.parquet"
"""Which runs of the store the pairs are of."""


@dataclass(frozen=True)
class Said:
    """What a folder of pairs says of their scenario, which may have changed or gone."""

    name: str
    entries: tuple[str, str]
    """The two traffic entries."""
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Pairs:
    """Which controllers meet, where, and over how many seeds."""

    scenario: str
    controllers: tuple[Controller, ...]
    seeds: int
    settings: tuple[tuple[str, str], ...] = ()
    said: Said | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        texts = [c.text for c in self.controllers]
        if len(texts) < 2:
            raise StudyError("controllers coexist with others: give at least two, as --cc dctcp --cc swift")
        twice = sorted({text for text in texts if texts.count(text) > 1})
        if twice:
            raise StudyError(f"--cc {twice[0]} is given twice: give it once (each meets itself anyway)")
        refuse_too_many(self.seeds, len(self.meetings), "pairs of controllers")

    @property
    def meetings(self) -> list[tuple[Controller, Controller]]:
        """Every pair once, each controller with itself too."""
        return list(itertools.combinations_with_replacement(self.controllers, 2))

    def saying(self) -> Said:
        """Give what is to be said of the scenario: what the folder says, or else what it is now."""
        if self.said is not None:
            return self.said
        base, names = self.base()
        return Said(base.name, names, tuple(dict.fromkeys(self.notes())))

    def base(self) -> tuple[Scenario, tuple[str, str]]:
        """Load the scenario, and the names of its two traffic entries; those of datagrams have no controller."""
        scenario = Scenario.load(self.scenario).changed(dict(self.settings))
        entries = scenario.resolved()["traffic"]
        names = tuple(entry["name"] for entry in entries if entry["app"]["kind"] != "udp")
        if len(names) != 2:
            whose = " that controllers govern" if len(names) < len(entries) else ""
            one = "entry" if len(names) == 1 else "entries"
            raise StudyError(
                f"{self.scenario} has {len(names)} traffic {one}{whose}: expected two, one for each of the controllers "
                "that meet, as the built-in scenario coexistence has them"
            )
        for entry in entries:
            if entry["name"] in names and entry.get("flows") == 0:
                raise StudyError(f"traffic.{entry['name']}.flows = 0: expected at least one flow for each controller")
        return scenario, (names[0], names[1])

    def refuse_equal_controllers(self) -> None:
        """Raise ``StudyError`` where two of the controllers are the same, one with a default written out."""
        base, _ = self.base()
        refuse_equal(self.controllers, lambda text: [base.governed(text).hash])

    def notes(self) -> list[str]:
        """Return what is worth knowing before the runs: where the entries differ, and notes on the scenarios."""
        scenario, names = self.base()
        entries = {entry["name"]: entry for entry in scenario.resolved()["traffic"]}
        own, other = (_flat(entries[name]) for name in names)
        apart = sorted(key for key in own.keys() | other.keys() if own.get(key) != other.get(key))
        told = []
        if apart:
            told.append(
                f"traffic.{names[0]} and traffic.{names[1]} differ in {', '.join(apart)}: of two controllers the one "
                f"given first drives {names[0]}, and a controller beside itself shows what the entries alone make of it"
            )
        if ends := [f"traffic.{name}.app.size" for name in names if "app.size" in _flat(entries[name])]:
            told.append(
                f"{' and '.join(ends)}: flows end, and where all do within the measured interval a share of the "
                "goodput tells of sizes alone"
            )
        meetings = {(f"{a.text} beside {b.text}",): (a, b) for a, b in self.meetings}
        return told + shared_notes(
            {case: self.meeting(scenario, names, a, b).notes() for case, (a, b) in meetings.items()}
        )

    @staticmethod
    def meeting(scenario: Scenario, names: tuple[str, str], a: Controller, b: Controller) -> Scenario:
        """Make the scenario in which two controllers meet."""
        return scenario.changed({f"traffic.{names[0]}.controller": a.text, f"traffic.{names[1]}.controller": b.text})

    def folder_name(self) -> str:
        """Name of the folder where results go by default; the same words, the same name."""
        digest = hashlib.sha256(json.dumps(self._asked()).encode()).hexdigest()[:8]
        return f"coexist-{slug(Path(self.scenario).stem)}-{digest}"

    def grows_from(self, other: Pairs) -> bool:
        """Whether these are the other pairs with further controllers or seeds, or with none."""
        same = (self.scenario, self.settings) == (other.scenario, other.settings)
        return same and set(self.controllers) >= set(other.controllers) and self.seeds >= other.seeds

    def arms(self) -> dict[tuple[str, str], str]:
        """Names of the meetings as arms of a study, by the controllers' texts."""
        names = plain_names((slug(f"{a.name}--{b.name}"), slug(f"{a.text}--{b.text}")) for a, b in self.meetings)
        return {(a.text, b.text): name for (a, b), name in zip(self.meetings, names, strict=True)}

    def called(self) -> str:
        """Name of the scenario in a study."""
        (name,) = plain_names([(Path(self.scenario).stem,)])
        return name

    def definition(self, name: str) -> Definition:
        """Give the pairs as a study: an arm a pair, all tables of the runs."""
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
        """Give the runs of a page over time, by their names: the first controller beside each, under seed 1."""
        scenario, names = self.base()
        first = self.controllers[0]
        return {
            f"{first.name} beside {name}": self.meeting(scenario, names, first, other).with_seed(1)
            for name, other in named(self.controllers).items()
        }

    def places(self) -> dict[tuple[str, str, int], Place]:
        """Say where the runs stand in the study, by the two controllers and the seed."""
        seeds = range(1, self.seeds + 1)
        arms = self.arms()
        return {(*pair, seed): Place(self.called(), arms[pair], "{}", seed) for pair in arms for seed in seeds}

    def command(self, out: str, formats: Sequence[str] = ("png",), store: str | None = None) -> str:
        """Return the command line that makes the runs, and their report with these files of pictures."""
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
        """Write what was asked for, and beside it what else a folder says of it."""
        said = {"said": asdict(self.saying())}
        return json.dumps({"format": PAIRS_FORMAT} | others | self._asked() | said, indent=2) + "\n"


@dataclass(frozen=True)
class Meeting:
    """Results of one controller beside another: means over seeds."""

    controller: str
    other: str
    share_pct: Estimate
    """Of the goodput of both."""
    goodput_bps: Estimate
    """Of all its flows together."""
    delay_mean_s: Estimate | None
    """Of its data; nothing where none arrived."""
    loss_pct: Estimate | None
    jain: Estimate
    """Of all flows, both controllers'."""


FIGURES = ("share_pct", "goodput_bps", "delay_mean_s", "loss_pct", "jain")
"""The figures of a meeting."""


def known(value: Estimate | None) -> Estimate | None:
    """Give a figure, ``None`` where it does not exist: where a run of one seed has none there is no mean over them."""
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
    """Make the runs of every pair under every seed that the store lacks, and the page of some over time.

    The store is the folder's own unless given. A folder of fewer controllers or seeds becomes this one's. The last
    result says why there is no page although the runs have timelines, where that is so.
    """
    check(pairs)
    home = Home(folder, store or folder / OWN_STORE, slug(pairs.folder_name()))
    grows = "pairs grow by controllers and seeds"
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
    """Read the pairs of a folder back, and compute what each gets; every run must be there."""
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
    """Say of each controller what governs the flows of the runs in which it meets itself."""
    found = home.governing(POINTS_FILE, pairs.places())
    told = (c.beside([found.get((c.text, c.text, 1), "")]) for c in pairs.controllers)
    return replace(pairs, controllers=tuple(told))


def _read(folder: Path) -> tuple[Pairs, Home]:
    path = folder / PAIRS_FILE
    try:
        data = files.read_json(path)
        return Pairs.from_data(data), Home.of(folder, data)
    except OSError as error:
        raise FolderError(f"cannot read {path}: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, AttributeError, StudyError) as error:
        told = f"{path} is damaged: {files.told(error)}"
        raise FolderError(f"{told}; give another --out, or remove {folder} first") from None


def meetings(pairs: Pairs, results: dict[tuple[str, str, int], Result], entries: tuple[str, str]) -> list[Meeting]:
    """Compute what every controller gets beside every other, itself included."""
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
    """Jain's index of the flows of both controllers, without datagrams beside them."""
    fair: float | None = run.summary["flows"]["jain"]
    return jain(rates_of(run.flows, run.datagrams)) if run.datagrams else fair


def _flat(entry: dict[str, Any]) -> dict[str, Any]:
    """Give what a traffic entry says by dotted keys, but for its name and its controller."""
    flat: dict[str, Any] = {}
    for key, value in entry.items():
        if isinstance(value, dict) and key != "controller":
            flat |= {f"{key}.{part}": held for part, held in _flat(value).items()}
        elif key not in ("name", "controller"):
            flat[key] = value
    return flat


def _row(meeting: Meeting) -> dict[str, Any]:
    """Return a meeting as JSON has it: what is not a number is missing."""
    row = asdict(meeting)
    return row | {name: None for name in FIGURES if known(getattr(meeting, name)) is None}


def _mean(values: Sequence[float]) -> Estimate:
    found = estimate(values)
    assert found is not None
    return found


def tables_of(found: Sequence[Meeting]) -> dict[str, str]:
    """Give the files of the meetings by their names: as CSV and as JSON."""
    return {
        "pairs.csv": _table(found),
        "pairs.json": json.dumps({"meetings": [_row(meeting) for meeting in found]}, indent=2) + "\n",
    }


def _table(found: Sequence[Meeting]) -> str:
    """Write the meetings as CSV, a row each."""
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
    """Make pairs from the words of the command line."""
    for key, _ in settings:
        if re.fullmatch(r"run\.seed|controller(\..*)?|traffic\.[^.]+\.controller(\..*)?", key):
            raise StudyError(f"--set {key}: the command sets this itself, by --cc and --seeds")
    consent.grant(list(controllers), dict(settings))
    return Pairs(scenario, tuple(Controller(text) for text in controllers), seeds, tuple(settings))
