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
from incast.templates import fabric

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


def test_the_schema_beside_a_new_scenario_is_that_of_the_command(incast: Command, tmp_path: Path) -> None:
    incast("new", "scenario", "--dumbbell", "2")
    first, _, _ = (tmp_path / "scenario.toml").read_text().partition("\n")
    assert first == f"#:schema ./{fabric.SCHEMA}"
    assert (tmp_path / fabric.SCHEMA).read_text() == incast("schema").out
