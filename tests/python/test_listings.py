"""Help, version, lists, descriptions, schema."""

from __future__ import annotations

import json

import pytest

import incast as package
from conftest import Command
from incast import Scenario
from incast.commands.kinds import KINDS, listing

COMMANDS = ["run", "compare", "report", "model", "list", "describe", "schema"]
BUILT_IN = {"hotspot", "random-hotspot", "random-pairs", "dumbbell", "star", "incast", "permutation"}


def test_help_names_every_command_that_works(incast: Command) -> None:
    answer = incast("--help")
    assert answer.status == 0
    for name in COMMANDS:
        assert name in answer.out


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(incast: Command, name: str) -> None:
    answer = incast(name, "--help")
    assert answer.status == 0
    assert "Usage" in answer.out


def test_version(incast: Command) -> None:
    assert incast("--version").out == f"incast {package.__version__}\n"


@pytest.mark.parametrize("kind", KINDS)
def test_everything_listed_can_be_described(incast: Command, kind: str) -> None:
    found = listing(kind)
    assert found
    answer = incast("list", kind)
    for name, words in found:
        assert name in answer.out
        assert words.strip()
    first = incast("describe", kind, found[0][0])
    assert first.status == 0, first.err
    assert first.out.strip()


def test_kinds_are_understood_in_the_singular(incast: Command) -> None:
    assert incast("describe", "controller", "swift").out == incast("describe", "controllers", "swift").out


def test_a_name_that_one_kind_alone_has_needs_no_kind(incast: Command) -> None:
    assert incast("describe", "cubic").out == incast("describe", "controller", "cubic").out
    assert incast("describe", "fair-share").out == incast("describe", "model", "fair-share").out


def test_a_name_that_several_kinds_have_is_refused_with_the_kinds(incast: Command) -> None:
    incast("describe", "dctcp").refused(
        "error: dctcp: several kinds have this name (controllers, models):", "incast describe controllers dctcp"
    )


def test_swifts_description_has_its_parameters_units_and_sources(incast: Command) -> None:
    text = incast("describe", "controller", "swift").out
    for word in ["base_target", "epsilon", "min-rtt", "max_mdf", "auto", "packets", "SIGCOMM"]:
        assert word in text, word


def test_built_in_scenarios_load_and_validate() -> None:
    names = {name for name, _ in listing("scenarios")}
    assert names >= BUILT_IN
    for name in names:
        Scenario.load(name).validate()


def test_schema_is_a_json_schema(incast: Command) -> None:
    schema = json.loads(incast("schema").out)
    assert {"run", "topology", "traffic"} <= schema["properties"].keys()
