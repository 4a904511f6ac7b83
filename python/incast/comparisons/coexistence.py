"""Pairs of controllers on one fabric: shares of the goodput, delays, losses."""

from __future__ import annotations

import csv
import io
import itertools
import json
import math
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from incast.batch.runner import phase
from incast.comparisons.declaration import Case, ComparisonStudy, Controller, named
from incast.comparisons.report_folder import Home, governed, made, read
from incast.errors import StudyError
from incast.external import consent
from incast.runs import dropped_parameters, own_controller
from incast.runs.groups import groups, keys_of
from incast.runs.result import Result, rates_of
from incast.runs.scenario import Scenario, toml_value
from incast.statistics import Estimate, estimate, jain
from incast.view import chosen


@dataclass(frozen=True)
class Said:
    """Description of the scenario as stored in the folder; the scenario itself may have changed since."""

    name: str
    entries: tuple[str, str]
    """The two traffic entries."""
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Pairs(ComparisonStudy):
    """Controllers two by two, each also with itself: the two govern one traffic entry each."""

    said: Said | None = field(default=None, compare=False)

    FILE = "coexistence.json"
    KIND = "controllers side by side"
    COMMAND = "coexist"
    OTHER = "other controllers or settings"
    ASKED = ("scenarios", "controllers", "seeds", "settings")
    ONCE = "give it once (each controller is also paired with itself)"
    POINTS = "pairs of controllers"

    def __post_init__(self) -> None:
        if len(self.controllers) < 2:
            raise StudyError("expected at least two controllers, such as --cc dctcp --cc swift")
        super().__post_init__()

    @property
    def lineups(self) -> list[tuple[Controller, ...]]:
        """Every pair once, including each controller with itself."""
        return list(itertools.combinations_with_replacement(self.controllers, 2))

    @cached_property
    def entries(self) -> tuple[str, str]:
        """Names of the two traffic entries or jobs that controllers govern; raises ``StudyError`` for others."""
        (name,) = self.scenarios
        entries = [entry for _, entry in groups(self.bases[name].resolved())]
        names = tuple(entry["name"] for entry in entries if entry.get("app", {}).get("kind") != "udp")
        if len(names) != 2:
            whose = " that controllers govern" if len(names) < len(entries) else ""
            one = "entry" if len(names) == 1 else "entries"
            raise StudyError(
                f"{name} has {len(names)} traffic {one}{whose}: expected two, one for each controller of a "
                "pair, as in the built-in scenario coexistence"
            )
        for entry in entries:
            if entry["name"] in names and entry.get("flows") == 0:
                raise StudyError(f"traffic.{entry['name']}.flows = 0: expected at least one flow for each controller")
        return names[0], names[1]

    def arm_settings(self, texts: Sequence[str]) -> dict[str, str]:
        """Keys that give each of the two controllers to the flows of its entry."""
        (base,) = self.bases.values()
        given, paths = zip(self.entries, texts, strict=True), keys_of(base.resolved())
        return {
            f"{paths[entry]}.controller": toml_value(dropped_parameters.of_entry(base, entry, text))
            if own_controller.is_own(text)
            else text
            for entry, text in given
        }

    def saying(self) -> Said:
        """Return the description of the scenario: the stored one, or else that of the current scenario."""
        if self.said is not None:
            return self.said
        return Said(self.scenario_names()[0], self.entries, tuple(dict.fromkeys(self.notes())))

    def described(self, case: Case) -> tuple[str, ...]:
        """Return the two controllers."""
        return (" beside ".join(case.texts),)

    def columns(self, case: Case) -> dict[str, str]:
        """Return the two controllers."""
        return dict(zip(("controller", "beside"), case.texts, strict=True))

    def notes(self) -> list[str]:
        """Return notes before the runs: differences between the two entries, and notes of the scenarios."""
        (base,), names = self.bases.values(), self.entries
        resolved = base.resolved()
        entries, paths = {entry["name"]: _flat(entry) for _, entry in groups(resolved)}, keys_of(resolved)
        own, other = (entries[name] for name in names)
        apart = sorted(key for key in own.keys() | other.keys() if own.get(key) != other.get(key))
        notes = []
        if apart:
            notes.append(
                f"{paths[names[0]]} and {paths[names[1]]} differ in {', '.join(apart)}: the first "
                f"controller of a pair drives {names[0]}; a controller paired with itself shows the entries' effect"
            )
        if ends := [f"traffic.{name}.app.size" for name in names if "app.size" in entries[name]]:
            notes.append(
                f"{' and '.join(ends)}: flows are finite; if all end within the measured interval, the shares of the "
                "goodput only reflect their sizes"
            )
        return notes + super().notes()

    def viewed(self) -> dict[str, Scenario]:
        """Return the scenarios of the viewer page by name: the first controller with each other one, under seed 1."""
        found = zip(named(self.controllers), self.lineups, strict=False)  # the first lineups are those of the first one
        first, (name,) = self.controllers[0], self.scenarios
        return {f"{first.name} beside {other}": self.scenario(Case(name, lineup, "", 1)) for other, lineup in found}

    def _asked(self) -> dict[str, Any]:
        found = super()._asked()
        return {"scenario": found.pop("scenarios")[0]} | found

    def stored(self) -> dict[str, Any]:
        """Return the description of the scenario."""
        return {"said": asdict(self.saying())}

    @classmethod
    def of_data(cls, data: Mapping[str, Any], **others: Any) -> Self:
        """Read the entries of pairs; the others are what all kinds have."""
        own, their = data["said"]["entries"]
        said = Said(data["said"]["name"], (own, their), tuple(data["said"]["notes"]))
        return cls(scenarios=(data["scenario"],), key="", values=("",), said=said, **others)


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


def carry_out(
    pairs: Pairs,
    folder: Path,
    *,
    store: Path | None = None,
    rebuild: bool = False,
    tell: Callable[[str], None] = warnings.warn,
    **options: Any,
) -> tuple[Pairs, list[Meeting], Home, str | None]:
    """Make the runs that the store lacks, for every pair and seed, and the viewer page of some of them.

    Options are those of ``planning.make``. The last result is the reason why runs with timelines have no viewer page.
    """
    with made(pairs, folder, store, rebuild, tell=tell, **options):
        gap = chosen.tried(pairs.viewed(), folder, **phase(options, "viewer page, runs"))
        return *load(folder), gap


def load(folder: Path) -> tuple[Pairs, list[Meeting], Home]:
    """Read the pairs of a folder back, and compute their results; every run must be there."""
    pairs, home = read(Pairs, folder)
    pairs = governed(pairs, home)
    runs = {(*case.texts, case.seed): result for case, (result, _) in home.results(pairs, pairs.cases()).items()}
    return pairs, meetings(pairs, runs, pairs.saying().entries), home


def meetings(pairs: Pairs, results: Mapping[tuple[object, ...], Result], entries: tuple[str, str]) -> list[Meeting]:
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
        if re.fullmatch(r"run\.seed|controller(\..*)?|(traffic|job)\.[^.]+\.controller(\..*)?", key):
            raise StudyError(f"--set {key}: not allowed, since --cc and --seeds set it")
    consent.grant(list(controllers), dict(settings))
    return Pairs((scenario,), tuple(Controller(text) for text in controllers), "", ("",), seeds, tuple(settings))
