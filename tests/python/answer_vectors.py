"""Vectors of ``tests/answers.json``: inputs and texts that the answers of Python and those of the viewer share.

``python tests/python/answer_vectors.py`` writes the file anew. The texts are recomputed from the inputs in the file by
``answered``, which the test of this side compares; ``viewer/tests/answers.test.ts`` is the other side.
"""

from __future__ import annotations

import json
import math
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_UP
from functools import cache
from io import BytesIO
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
from pyarrow.json import read_json
from scipy.special import stdtrit

from incast import Scenario
from incast.answers.answer import Answer
from incast.answers.answering import answers_of, answers_to, shown_first
from incast.answers.facts import Facts, Point, Timers
from incast.answers.measures import Measure, measures_of
from incast.comparisons.comparison import Band, Comparison, Run
from incast.comparisons.declaration import Case, ComparisonStudy, Controller, named
from incast.report import badges, comparison_page
from incast.report.figures import figures_of
from incast.report.numbers import share_of, shown_reading
from incast.runs import completions
from incast.runs.completions import Reading
from incast.runs.groups import groups
from incast.runs.result import RATES, rates_of
from incast.statistics import Estimate
from incast.writing import numbers

FILE = Path(__file__).parents[1] / "answers.json"

Data = dict[str, Any]

# Numbers

ROUNDINGS = {"half up": ROUND_HALF_UP, "floor": ROUND_FLOOR, "ceiling": ROUND_CEILING}
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "rounded": lambda value, figures, rounding: numbers.rounded(value, figures, ROUNDINGS[rounding]),
    "quantity": numbers.quantity,
    "spread": numbers.spread,
    "tiny": lambda mean, half, scale: numbers.number(Estimate(mean, half, 3), scale, tiny=True),
    "measured": lambda mean, half, unit: numbers.measured(Estimate(mean, half, 3), unit),
    "interval": lambda *ends: list(numbers.with_interval(*ends)),
    "between": numbers.between,
    "percent": numbers.percent,
    "duration": numbers.duration,
}
"""Functions of numbers by their names in the file."""

HARD = (0.0, -0.0, 0.125, 2.5, 2.675, 29.5, 99.95, 999.5, 1e3, 1e23, 1e-300, 123456789012345678.0, 0.00999, 1e-5)
"""Ties, powers of ten and ends of the scale."""


def number_cases() -> list[list[Any]]:
    """Draw arguments of every function."""
    draw = Random(46)
    values = [*HARD, *(draw.choice([1, -1]) * 10 ** draw.uniform(-9, 14) for _ in range(26))]
    near = [(one, abs(one) * 10 ** draw.uniform(-5, 1)) for one in values if abs(one) < 1e15]
    cases: list[list[Any]] = [
        ["rounded", value, draw.choice([1, 3, 4]), rounding] for value in values for rounding in ROUNDINGS
    ]
    cases += [["quantity", abs(value), unit, 3] for value in values[:24] for unit in ("s", "B", "%")]
    cases += [["spread", mean, half] for mean, half in near]
    cases += [["tiny", mean, half, scale] for (mean, half), scale in zip(near, [1.0, 1e3, 1e-6] * 9, strict=False)]
    cases += [["measured", mean, half, unit] for mean, half in near[::2] for unit in ("s", "b/s", "%", "")]
    cases += [["interval", mean, mean - half, mean + half] for mean, half in near]
    ends = [(low, low + half) for low, half in near]
    cases += [["between", *end] for end in [*ends, (2.0, math.inf), (-math.inf, 2.5), (-math.inf, math.inf)]]
    cases += [["percent", share] for share in (0.0, 1e-6, 0.5, 0.9995, 0.99999, 1.0)]
    cases += [["duration", time_s] for time_s in (1e-9, 2e-4, 0.2, 59.0, 119.9, 120.0, 9e3, 2e5)]
    return cases


def number_texts(cases: Iterable[Sequence[Any]]) -> list[list[Any]]:
    """Return calls of functions with what they return; the file writes infinities as texts."""
    return [
        [name, [str(one) if one in (math.inf, -math.inf) else one for one in values], FUNCTIONS[name](*values)]
        for name, *values in cases
    ]


# Facts

_BIN = Band("all", 0, "below 10 kB")
MEASURES = (
    Measure("slowdown.all.0.p99", "p99 slowdown below\u00a010\u00a0kB", "", "lower", _BIN, "p99"),
    Measure("slowdown.all.0.mean", "mean slowdown below\u00a010\u00a0kB", "", "lower", _BIN, "mean"),
    Measure("fct.p99_s", "p99 completion time of a flow", "s", "lower", statistic="p99"),
    Measure("share", "share of flows finished", "%", "higher"),
    Measure("flows.throughput_mean_bps", "throughput per flow", "b/s", "higher"),
    Measure("flows.delay_p99_s", "p99 delay", "s", "lower"),
    Measure("flows.loss_total_pct", "loss", "%", "lower"),
    Measure("queues.busiest.mean_packets", "mean queue at the busiest port", "packets", "lower"),
    Measure("flows.jain", "Jain's index", "", "higher"),
)
SCALES = (1.0, 1.0, 1e-3, 10.0, 1e9, 1e-5, 0.1, 20.0, 0.1)
RATE = MEASURES[4].key
NAMES = ("dctcp", "swift", "cubic", "reno", "hpcc")
VALUE = "1s"
"""The only value of the key of a comparison without a varied one."""

SEEDS = (*range(78), 111, 131, 174, 312, 317, 328, 357, 386, 403, 449, 458, 1350)
"""Seeds of drawn facts; the rare sentences need the last ones."""


@dataclass
class Drawing:
    """Readings with few distinct numbers, so that ties, clear differences and open bounds all occur."""

    draw: Random
    seeds: int

    def number(self) -> float:
        draw = self.draw
        one = draw.choice([float(draw.randint(0, 6)), draw.uniform(1, 1.2), draw.uniform(2, 9), draw.uniform(20, 60)])
        return float(f"{one:.4g}")

    def reading(self, scale: float, may_be_open: bool, began: tuple[int, int]) -> Reading:
        draw = self.draw
        base, noise = self.number(), draw.choice([0.0, 0.002, 0.05, 0.6])
        low = {s: float(f"{scale * base * (1 + noise * draw.uniform(-1, 1)):.4g}") for s in range(1, self.seeds + 1)}
        if draw.random() < 0.04:
            del low[self.seeds]  # a figure that one run lacks
        open_by = draw.choice([0.0, 0.0, 0.0, 0.3, math.inf]) if may_be_open else 0.0
        high = {seed: float(f"{one * (1 + open_by):.5g}") if open_by and one else one for seed, one in low.items()}
        return Reading(low, high, *(began if may_be_open else (0, 0)))


def drawn(seed: int) -> Facts:
    """Draw the facts of a case."""
    draw = Random(seed)
    seeds, names = draw.choice([1, 2, 3, 3, 5]), NAMES[: draw.choice([1, 2, 2, 3, 3, 5])]
    drawing = Drawing(draw, seeds)
    count = draw.choice([10, 400, 2000])
    few = 1 if draw.random() < 0.1 else len(MEASURES)
    kept = sorted(draw.sample(range(len(MEASURES)), min(few, draw.randint(1, 5))))
    points = [Point(name, VALUE) for name in names]
    readings, began, throughput = {}, {}, {}
    for point in points:
        finished = count * seeds - draw.choice([0, 0, 0, 1, 3, count // 2])
        began[point] = {"fct": (finished, count * seeds)} if draw.random() < 0.7 else {}
        throughput[point] = drawing.reading(1e9 * draw.choice([1, 1, 1, 1, 0.3, 0.02]), False, (0, 0))
        for place in kept:
            measure = MEASURES[place]
            one = drawing.reading(SCALES[place], bool(measure.statistic), (finished, count * seeds))
            readings[measure.key, point] = one
            if measure.key == RATE:
                throughput[point] = one
    if seed % 40 == 39:
        readings = {
            place: Reading(dict.fromkeys(one.low, 0.0), dict.fromkeys(one.low, 0.0)) for place, one in readings.items()
        }
    alike: tuple[tuple[str, ...], ...] = ()
    if len(names) > 1 and draw.random() < 0.15:
        alike = (names,) if draw.random() < 0.4 else (names[:2],)
        names = names[:1] if alike[0] == names else names
    timers = draw.choice([*[None] * 5, Timers(5e-3, 0.2, 1.0, 0, 30, 400), Timers(0.3, 0.2, 1.0, 1, 0, 400)])
    kept_points = {point: parts for point, parts in began.items() if point.controller in names}
    return Facts(
        "",
        "run.duration",
        (VALUE,),
        names,
        seeds,
        tuple(MEASURES[i] for i in kept),
        readings,
        throughput,
        kept_points,
        alike=alike,
        timers=timers,
    )


def reading_json(one: Reading) -> Data:
    """Write a reading by seed; upper bounds only where they are others, infinity as null."""
    high = [None if math.isinf(most) else most for most in one.high.values()]
    found: Data = {"low": list(one.low.values())}
    found |= {} if one.high == one.low else {"high": high}
    return found | ({"of": [one.finished, one.count, one.largest]} if one.count else {})


def reading_of(data: Data) -> Reading:
    """Read a reading, whose seeds are 1, 2 and so on."""
    low, high = (
        {seed: math.inf if one is None else one for seed, one in enumerate(data[end if end in data else "low"], 1)}
        for end in ("low", "high")
    )
    return Reading(low, high, *data.get("of", (0, 0, 0)))


def facts_json(facts: Facts) -> Data:
    """Write facts."""
    return {
        "controllers": list(facts.controllers),
        "seeds": facts.seeds,
        "measures": [measure.key for measure in facts.measures],
        "readings": {
            measure.key: {
                point.controller: reading_json(one)
                for (key, point), one in facts.readings.items()
                if key == measure.key
            }
            for measure in facts.measures
        },
        "throughput": {point.controller: reading_json(one) for point, one in facts.throughput.items()},
        "began": {point.controller: parts for point, parts in facts.began.items()},
        "alike": [list(group) for group in facts.alike],
        "timers": facts.timers and vars(facts.timers),
    }


def facts_of(data: Data) -> Facts:
    """Read facts."""
    measures = {measure.key: measure for measure in MEASURES}
    return Facts(
        "",
        "run.duration",
        (VALUE,),
        tuple(data["controllers"]),
        data["seeds"],
        tuple(measures[key] for key in data["measures"]),
        {
            (key, Point(name, VALUE)): reading_of(one)
            for key, of in data["readings"].items()
            for name, one in of.items()
        },
        {Point(name, VALUE): reading_of(one) for name, one in data["throughput"].items()},
        {
            Point(name, VALUE): {part: (finished, count) for part, (finished, count) in parts.items()}
            for name, parts in data["began"].items()
        },
        alike=tuple(tuple(group) for group in data["alike"]),
        timers=Timers(**data["timers"]) if data["timers"] else None,
    )


def answers_json(answers: Sequence[Answer]) -> Data:
    """Write answers, and the places of those that are shown."""
    first, _ = shown_first(answers)
    return {
        "answers": [[str(one.kind), one.lead, one.rest] for one in answers],
        "shown": [place for place, one in enumerate(answers) if any(one is shown for shown in first)],
    }


# Runs

LEAVES = (
    *("count", "finished", "throughput_mean_bps", "throughput_active_mean_bps", "delay_mean_s", "delay_p99_s"),
    *("loss_total_pct", "jain", "timeouts", "mean_s", "p99_s", "with_timeout", "drops", "losses", "pauses", "paused_s"),
    *("mean_packets", "sim_s", "iterations", "iteration_mean_s", "exposed_mean_s", "idle_mean_s"),
)
"""Figures of a summary that answers and tables read."""

MIXED = """
[run]
duration = "4ms"
warmup = "1ms"
[topology]
kind = "star"
sources = 6
source_link = { rate = "1Gbps", delay = "5us" }
sink_link = { rate = "1Gbps", delay = "5us" }
[queue]
kind = "ecn-threshold"
limit = "60p"
mark = "20p"
[[traffic]]
name = "queries"
pattern = "incast"
receiver = "sink"
flows = 3
app = { kind = "query", request = "100B", response = "40kB" }
[[traffic]]
name = "writes"
pattern = "incast"
receiver = "sink"
flows = 2
app = { kind = "closed-loop", write = "30kB", outstanding = 1 }
[[traffic]]
name = "noise"
pattern = "incast"
receiver = "sink"
flows = 1
app = { kind = "udp", rate = "5%" }
"""
"""Queries, writes and datagrams, whose figures of flows are combined of several entries."""

SMALL_JOBS = {f"job.{job}.collective.size": "400kB" for job in ("train", "other")}
JOB_AND_FLOWS = """
[run]
duration = "20ms"
[topology]
kind = "star"
sources = 6
source_link = { rate = "1Gbps", delay = "5us" }
sink_link = { rate = "1Gbps", delay = "5us" }
[queue]
kind = "ecn-threshold"
limit = "60p"
mark = "20p"
[[job]]
name = "train"
collective = { kind = "all-reduce", size = "100kB", ranks = 4 }
iterations = 3
[[traffic]]
name = "files"
pattern = "incast"
receiver = "sink"
flows = 3
app = { kind = "bulk", size = "40kB" }
"""
"""A job beside flows with a size."""

Made = tuple[str, Sequence[str], int, Mapping[str, object]]
"""Scenario, controllers, seeds and settings."""

SHORT = {"run.duration": "20ms", "transport.rto_min": "1s"}
RUNS: list[Made] = [
    ("dumbbell", ["dctcp", "swift:target=min-rtt", "cubic"], 3, {"run.duration": "20ms", "run.warmup": "5ms"}),
    ("dumbbell", ["dctcp", "dctcp:g=0.0625"], 2, {"run.duration": "20ms", "run.warmup": "5ms"}),
    ("incast", ["dctcp", "cubic"], 2, SHORT),
    ("incast", ["dctcp", "swift", "cubic", "newreno"], 3, {"run.duration": "1.5s", "traffic.answers.flows": "24"}),
    ("websearch", ["dctcp", "swift"], 3, {"run.duration": "6ms", "traffic.websearch.arrivals.until": "3ms"}),
    ("pfc-incast", ["dctcp", "swift"], 2, {}),
    ("three-tier-incast", ["dctcp", "cubic"], 3, {"run.duration": "1.5s"}),
    ("star", ["dctcp"], 1, {}),
    (MIXED, ["dctcp", "cubic", "swift"], 3, {}),
    ("two-jobs", ["dctcp", "swift", "newreno"], 3, SMALL_JOBS),
    ("two-jobs", ["dctcp", "cubic"], 2, SMALL_JOBS | {"run.duration": "600us"}),
    (JOB_AND_FLOWS, ["dctcp", "swift"], 3, {}),
]


def run_cases() -> list[Data]:
    """Make the runs anew."""
    return [_run_case(*one) for one in RUNS]


def _run_case(name: str, controllers: Sequence[str], seeds: int, settings: Mapping[str, object]) -> Data:
    runs, text = [], ""
    for controller in controllers:
        for seed in range(1, seeds + 1):
            scenario = Scenario.from_toml(name) if "\n" in name else Scenario.load(name)
            result = scenario.changed(dict(settings)).governed(controller).with_seed(seed).run()
            text = text or result.toml
            tables = {part: getattr(result, part).arrow.to_pydict() for part in ("flows", "queries", "writes")}
            summary = _shortened(result.summary | {} if result.datagrams else result.summary | {"groups": None})
            runs.append({"controller": controller, "seed": seed, "summary": summary, "tables": tables})
    case = {"controllers": list(controllers), "text": text, "runs": runs}
    asked: dict[str, set[str]] = {}
    comparison = comparison_of(case, asked)
    answers_of(comparison), table_json(comparison)
    for run in runs:
        tables = {
            part: {name: of for name, of in run["tables"][part].items() if name in asked.get(part, ())}
            for part in run["tables"]
        }
        run["tables"] = _shortened({part: table for part, table in tables.items() if any(table.values())})
    return case


def _shortened(one: Any) -> Any:
    """Leave out what is not read, and digits that say nothing; the texts are of what is left."""
    if isinstance(one, dict):
        inner = {key: _shortened(value) for key, value in one.items()}
        return {
            key: value
            for key, value in inner.items()
            if isinstance(value, list) or key in LEAVES or (isinstance(value, dict) and value)
        }
    if isinstance(one, list):
        return [_shortened(value) for value in one]
    return float(f"{one:.7g}") if isinstance(one, float) else one


def comparison_of(data: Data, asked: dict[str, set[str]] | None = None) -> Comparison:
    """Make a comparison from runs of the file; ``asked`` gets the columns that it reads."""
    controllers = {text: Controller(text) for text in data["controllers"]}
    seeds = max(run["seed"] for run in data["runs"])
    study = ComparisonStudy(
        ("scenario",), tuple(controllers.values()), "run.duration", (VALUE,), seeds, names=("scenario",)
    )
    runs = {}
    for one in data["runs"]:
        case = Case("scenario", (controllers[one["controller"]],), VALUE, one["seed"])
        runs[case] = _run(case, one["summary"], one["tables"], data["text"], {} if asked is None else asked)
    return Comparison(study, None, runs)  # type: ignore[arg-type] # the place of runs is for files


def _run(case: Case, summary: Data, tables: Data, text: str, asked: dict[str, set[str]]) -> Run:
    def rows(name: str, columns: Sequence[str]) -> pa.Table:
        asked.setdefault(name, set()).update(columns)
        lines = zip(*(tables[name][column] for column in columns), strict=True)
        text = "\n".join(json.dumps(dict(zip(columns, line, strict=True))) for line in lines)
        return read_json(BytesIO(text.encode())).select(columns)  # an array of a list would load pandas

    datagrams = _datagrams(text)
    flows = rows("flows", RATES) if datagrams else None
    rates = [() if flows is None else rates_of(flows, datagrams, column) for column in RATES[2:]]
    sized = completions.NONE
    if summary["fct"]["count"]:
        sized = completions.read(rows, "fct", summary["run"]["sim_s"])
    return Run(case, rows, summary, {}, text, datagrams, rates[0], rates[1], sizes=completions.sizes_of(sized))


@cache
def _datagrams(text: str) -> tuple[str, ...]:
    kinds = {entry["name"]: entry.get("app", {}).get("kind") for _, entry in groups(tomllib.loads(text))}
    found = tuple(name for name, kind in kinds.items() if kind == "udp")
    return found if len(found) < len(kinds) else ()


def table_json(comparison: Comparison) -> Data:
    """Write the table of a report: slowdowns, the share finished, and figures."""
    scenario, controllers = "scenario", [c.text for c in comparison.study.controllers]
    figures = figures_of(comparison, scenario)
    shown = [one for one in figures if comparison_page._is_above_zero(comparison, scenario, one)]
    marks = badges.of_point(comparison, scenario, VALUE, figures)
    columns: list[tuple[list[str], dict[str, Reading | None], float, str | None]] = []
    for measure in measures_of(comparison, scenario):
        if measure.band is not None and measure.statistic == "p99":
            slow = {c: measure.of(comparison, scenario, c, VALUE) for c in controllers}
            first = badges.best_slowdown(comparison, scenario, VALUE, measure.band, "p99")
            columns.append(([measure.title, "", "lower"], slow, 1.0, first))
    shares = {c: one for (_, c), one in comparison_page._finished(comparison, scenario).items()}
    if shares:
        columns.append((["Finished", "%", "higher"], shares, 100.0, None))
    for one in shown:
        found = {c: comparison.reading(scenario, c, VALUE, one.key) for c in controllers}
        columns.append(([one.title, one.unit, one.better], found, one.scale, marks.best[one.key]))
    return {
        "columns": [head for head, *_ in columns],
        "rows": [
            [name, marks.sign(c.text).strip()]
            + [[shown_reading(f[c.text], scale), share_of(f[c.text]), best == c.text] for _, f, scale, best in columns]
            for name, c in named(comparison.study.controllers).items()
        ],
        "zero": [one.title for one in figures if one not in shown],
    }


# The file


def answered(data: Data) -> Data:
    """Return the file's content with every text computed from its inputs."""
    return {part: computed(data, part) for part in ("quantiles", "numbers", "measures", "facts", "runs")}


def computed(data: Data, part: str) -> list[Any]:
    """Compute the texts of a part of the file from their inputs."""
    match part:
        case "quantiles":
            return [float(stdtrit(degrees, 0.975)) for degrees in range(1, 201)]
        case "numbers":
            return number_texts([[name, *map(_number, values)] for name, values, _ in data[part]])
        case "measures":
            return [_measure_json(measure) for measure in MEASURES]
        case "facts":
            return [one | answers_json(answers_to(facts_of(one))) for one in data[part]]
    found = [(one, comparison_of(one)) for one in data[part]]
    return [one | answers_json(answers_of(made)) | {"table": table_json(made)} for one, made in found]


def _number(one: Any) -> Any:
    return float(one) if one in ("inf", "-inf") else one


def _measure_json(measure: Measure) -> Data:
    return {
        "key": measure.key,
        "title": measure.title,
        "unit": measure.unit,
        "better": measure.better,
        "band": vars(measure.band) if measure.band else None,
        "statistic": measure.statistic,
    }


def written(data: Data) -> str:
    """Write the file: an entry a line."""
    plain: Data = json.loads(json.dumps(data))
    parts = []
    for name, entries in plain.items():
        lines = ",\n".join(json.dumps(one, ensure_ascii=False, separators=(",", ":")) for one in entries)
        parts.append(f"{json.dumps(name)}:[\n{lines}\n]")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def main() -> None:
    """Write the file anew."""
    inputs = {
        "numbers": number_texts(number_cases()),
        "facts": [facts_json(drawn(seed)) for seed in SEEDS],
        "runs": run_cases(),
    }
    FILE.write_text(written(answered(json.loads(json.dumps(inputs)))), encoding="utf-8")


if __name__ == "__main__":
    main()
