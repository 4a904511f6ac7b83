"""The JSON schema of scenarios, as an editor uses it: what it accepts is what the program reads."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from conftest import ROOT, Command
from incast import Scenario, _core
from incast.commands import schemas
from incast.study import schema
from incast.templates.study import study_file

NAMES = [name for name, _ in _core.list_kind("scenarios")]
BASE: dict[str, Any] = tomllib.loads((ROOT / "scenarios" / "websearch.toml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def validator() -> Any:
    return jsonschema.Draft202012Validator(json.loads(_core.schema()))


def changed(key: str, value: object) -> dict[str, Any]:
    """Give the scenario with another value of a key."""
    document = json.loads(json.dumps(BASE))
    *way, last = key.split(".")
    place = document
    for part in way:
        place = place[part] if not isinstance(place[part], list) else place[part][0]
    place[last] = value
    return document


@pytest.mark.slow("half a megabyte against the schema of schemas")
def test_the_schema_is_one(validator: Any) -> None:
    validator.check_schema(validator.schema)


@pytest.mark.parametrize("name", NAMES)
def test_built_in_scenarios_fit_the_schema(validator: Any, name: str) -> None:
    assert not list(validator.iter_errors(tomllib.loads((ROOT / "scenarios" / f"{name}.toml").read_text())))


@pytest.mark.slow("every default of 36 scenarios, against a schema of half a megabyte")
def test_resolved_scenarios_fit_the_schema(validator: Any) -> None:
    for name in NAMES:
        assert not list(validator.iter_errors(Scenario.load(name).resolved())), name


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("topology.link.rate", "100G"), ("topology.link.rate", "400 Gbps"), ("traffic.arrivals.load", "60%"),
        ("traffic.arrivals.sizes", "websearch"), ("topology.link.error_rate", "0.1 %"), ("run.duration", "2ms"),
        ("controller", "swift:target=min-rtt"), ("queue.limit", "none"),
    ],
)  # fmt: skip
def test_the_schema_accepts_the_spellings_that_the_program_reads(validator: Any, key: str, value: object) -> None:
    assert not list(validator.iter_errors(changed(key, value)))
    Scenario.load("websearch").with_({key: value})


def wrong() -> Iterator[tuple[str, object]]:
    """Give keys and values that neither the schema nor the program accepts."""
    yield from [("run.duratoin", "1ms"), ("queue.mrk", "65p"), ("topology.link.rate", "100X"), ("topology.k", "four")]
    yield from [("queue.limit", "many"), ("traffic.arrivals.load", "60x%"), ("topology.link.error_rate", 1.5)]
    yield from [("traffic.patern", "incast"), ("routing", {"kind": "emcp"}), ("run.duration", "2 lightyears")]


@pytest.mark.parametrize(("key", "value"), list(wrong()))
def test_the_schema_refuses_what_the_program_refuses(validator: Any, key: str, value: object) -> None:
    document = changed(key, value)
    assert list(validator.iter_errors(document))
    with pytest.raises(Exception, match=key.rpartition(".")[2]):
        Scenario.load("websearch").with_({key: value})


@pytest.mark.parametrize("kind", schemas.KINDS)
def test_the_schema_beside_a_new_file_is_that_of_the_command(incast: Command, tmp_path: Path, kind: str) -> None:
    made = incast("new", kind, *(("websearch",) if kind == "study" else ("--dumbbell", "2")))
    assert made.out == f"wrote: {kind}.toml, {kind}.schema.json\n"
    first, _, _ = (tmp_path / f"{kind}.toml").read_text().partition("\n")
    assert first == f"#:schema ./{kind}.schema.json"
    assert (tmp_path / f"{kind}.schema.json").read_text() == incast("schema", kind).out
    assert incast("validate", f"{kind}.toml").status == 0


@pytest.fixture(scope="module")
def studies() -> Any:
    return jsonschema.Draft202012Validator(schema.schema())


STUDY = """
scenario = ["hotspot", "mine.toml"]
seeds = 3
keep = ["flows"]
[set]
run.duration = "5ms"
"run.warmup" = "1ms"
traffic.flows = 4
controller.g = 0.1
[axes]
queue.mark = ["5p", "60p"]
traffic.load.share = { from = 0.1, to = 0.9, steps = 3 }
"transport.rto_min" = ["1ms"]
[arms]
dctcp = "dctcp"
[arms.red]
controller = "newreno"
queue.kind = "red"
axes.queue.limit = { from = "10p", to = "100p", steps = 3, scale = "log" }
[tune]
minimise = "fct.slowdown_mean"
"""


def test_study_files_fit_their_schema(studies: Any) -> None:
    studies.check_schema({key: one for key, one in studies.schema.items() if key != "$defs"})
    new = study_file(Scenario.load("websearch"), "websearch", "s", "s.toml")
    for text in (STUDY, new, (ROOT / "docs" / "studies.md").read_text().split("```toml\n")[1].split("```")[0]):
        found = [(list(one.path), one.message[:200]) for one in studies.iter_errors(tomllib.loads(text))]
        assert not found, text


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("seeds = 3", "seeds = 0"),
        ("seeds = 3", 'design = "gird"'),
        ("seeds = 3", "sedes = 3"),
        ('keep = ["flows"]', 'keep = ["flow"]'),
        ('run.duration = "5ms"', "run.duration = 5"),
        ('run.duration = "5ms"', 'run.druation = "5ms"'),
        ('queue.mark = ["5p", "60p"]', 'queue.mark = "5p"'),
        ("steps = 3 }", "stpes = 3 }"),
        ('queue.kind = "red"', 'queue.kind = "rde"'),
        ('dctcp = "dctcp"', "dctcp = 3"),
        ('scenario = ["hotspot", "mine.toml"]', ""),
    ],
)
def test_a_mistake_in_a_study_does_not_fit(studies: Any, old: str, new: str) -> None:
    assert list(studies.iter_errors(tomllib.loads(STUDY.replace(old, new, 1)))), (old, new)


def test_the_command_prints_either_schema(incast: Command) -> None:
    assert json.loads(incast("schema", "study").out) == schema.schema()
    assert incast("schema", "scenario").out == incast("schema").out
    incast("schema", "paper").refused("schema paper: expected scenario or study")
