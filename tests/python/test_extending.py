"""The page about extensions against the source: methods of traits, and lists that the compiler holds whole."""

from __future__ import annotations

import re

import pytest

from conftest import ROOT

PAGE = (ROOT / "docs/extending.md").read_text(encoding="utf-8")


def section(title: str) -> str:
    """Give the text of a section of the page."""
    (found,) = re.findall(rf"^## {title}\n(.*?)(?=^## |\Z)", PAGE, re.DOTALL | re.MULTILINE)
    return str(found)


@pytest.mark.parametrize(
    ("title", "file", "trait"),
    [
        ("Queue discipline", "crates/engine/src/port/discipline/rule.rs", "QueueDiscipline"),
        ("Routing policy", "crates/engine/src/switch/rule.rs", "Rule"),
        ("Program of switches", "crates/engine/src/program/rule.rs", "SwitchProgram"),
        ("Application", "crates/engine/src/app/application.rs", "Application"),
        ("Transport", "crates/engine/src/transport/packet/mod.rs", "PacketSender"),
        ("Transport", "crates/engine/src/transport/packet/mod.rs", "PacketReceiver"),
        ("Transport", "crates/engine/src/transport/packet/check.rs", "Check"),
        ("Transport", "crates/scenario/src/document/transport/rule.rs", "PacketTransport"),
        ("Program of switches", "crates/scenario/src/document/program/kind.rs", "NodeProgram"),
        ("Queue discipline", "crates/scenario/src/document/queue.rs", "Discipline"),
    ],
)
def test_the_page_has_every_method_of_a_trait(title: str, file: str, trait: str) -> None:
    text = (ROOT / file).read_text(encoding="utf-8")
    (found,) = re.findall(rf"^(?:pub(?:\([a-z]+\))? )?trait {trait}\b.*?^}}", text, re.DOTALL | re.MULTILINE)
    methods = set(re.findall(r"^    (?:fn|const) (\w+)", found, re.MULTILINE))
    assert methods, trait
    named = set(re.findall(r"`(\w+)`", section(title)))
    assert methods <= named, f"{title}: {sorted(methods - named)}"


def test_the_page_has_the_places_where_a_discipline_and_a_program_are_listed_by_hand() -> None:
    """Matches without an arm for all others: the compiler stops at them."""
    listed = (ROOT / "crates/engine/src/port/discipline/mod.rs").read_text(encoding="utf-8")
    (match,) = re.findall(r"fn decides_at_arrivals.*?^    }$", listed, re.DOTALL | re.MULTILINE)
    assert "_ =>" not in match and "`ActiveDiscipline::decides_at_arrivals`" in section("Queue discipline")
    drawn = (ROOT / "crates/engine/tests/all/properties/programs.rs").read_text(encoding="utf-8")
    assert "fn keep_those_without_queues" in drawn
    assert "`crates/engine/tests/all/properties/programs.rs`" in section("Program of switches")
