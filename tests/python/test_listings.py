"""Help, version, lists, descriptions, schema."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from rich.console import Console

import incast as package
from conftest import Command
from incast import Scenario
from incast.commands import describe, scenarios
from incast.commands.kinds import KINDS, listing
from incast.report.glossary import TERMS
from incast.runs import size

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


@pytest.mark.parametrize(("name", "term"), [("slowdown", "slowdown"), ("censored", "censored"), ("◆", "non-dominated")])
def test_terms_and_marks_of_reports_are_described(incast: Command, name: str, term: str) -> None:
    text = incast("describe", name).out
    assert text.startswith(f"{term}\n") and text.endswith("  More: page glossary\n")
    assert TERMS[term] in " ".join(text.split())
    incast("describe", "censord").refused('did you mean "censored"?')


def test_descriptions_of_scenarios_stand_below_their_names_at_full_width(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    sizes = size.of(Scenario.load("coexistence"))
    listed = [
        scenarios.Listed("coexistence", "Two controllers share one link, for a sentence. " * 3, "dumbbell", sizes)
    ]
    monkeypatch.setattr(scenarios, "all_of_them", lambda: iter(listed))
    monkeypatch.setattr(describe, "out", Console(width=80))
    describe.list_("scenarios")
    lines = capsys.readouterr().out.splitlines()
    assert lines[2].split()[:2] == ["coexistence", "8"]
    assert lines[3].startswith("    Two controllers share one link, for a sentence. Two")
    assert max(map(len, lines[:-2])) <= 80
    assert len(lines[3:-2]) == 2, "two lines of text and no narrow strip"


def test_a_file_that_is_no_toml_is_not_read_as_a_scenario(incast: Command, tmp_path: Path) -> None:
    (tmp_path / "foo.py").write_text("print(1)\n")
    incast("validate", "foo.py").failed(1, "error: foo.py: not a scenario, study or paper")


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
