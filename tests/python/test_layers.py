"""``tools/layers.py`` on small made-up trees: each breaks one rule, and the whole one breaks none."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools import layers

TABLE = """
[limits]
function = 10
file = 40
core = 30
"function.py" = 8
[root]
"python/incast" = 5
[late]
"python/incast" = 0
[crates]
order = ["cc", "engine"]
[floors]
engine = ["spec", "event", "run"]
"python/incast" = ["text", "plan", "cli"]
[core]
files = ["event.rs", "run/*.rs"]
[python]
packages = ["python/incast"]
files = [["python", "incast/**/*.py"], ["tests/python", "**/*.py"], ["tools", "*.py"]]
run_by = ["Makefile", "pyproject.toml"]
"""

WHOLE = {
    "tools/layers.toml": TABLE,
    "tools/made.py": "",
    "Makefile": "made:\n\tpython tools/made.py\n",
    "pyproject.toml": '[project.scripts]\nincast = "incast.cli:main"\n',
    "crates/cc/Cargo.toml": "[dependencies]\n",
    "crates/cc/src/lib.rs": "pub mod reno;\ncontrollers! {\n    reno::Reno,\n}\n",
    "crates/cc/src/reno.rs": "pub struct Reno;\n",
    "crates/cc/tests/all/main.rs": "mod reno;\n",
    "crates/cc/tests/all/reno.rs": "#[test]\nfn a_statement() {}\n",
    "docs/controllers/reno.md": "# Reno\n",
    "crates/engine/Cargo.toml": "[dependencies]\nincast-cc.workspace = true\n",
    "crates/engine/src/lib.rs": "mod event;\nmod run;\npub mod spec;\npub use run::{open::opened, Run};\n",
    "crates/engine/src/spec.rs": "pub struct Spec;\n",
    "crates/engine/src/event.rs": "use crate::spec::Spec;\npub struct Event(Spec);\n",
    "crates/engine/src/run/mod.rs": "pub mod open;\nmod close;\npub use open::Run;\nuse close::closed;\n",
    "crates/engine/src/run/open.rs": "use crate::{event::{self, Event}, spec::*};\npub struct Run(Event, Spec);\n"
    "pub fn opened() -> event::Event { event::Event }\n",
    "crates/engine/src/run/close.rs": "use super::open;\npub fn closed() { open::opened(); }\n",
    "python/incast/__init__.py": "from incast.plan import Plan\n",
    "python/incast/text.py": "WORD = 1\n",
    "python/incast/plan.py": "from incast.text import WORD\nclass Plan: ...\n",
    "python/incast/cli.py": "import incast.plan\ndef main(): ...\n",
    "tests/python/test_plan.py": "import incast\n",
}


def keys(root: Path, **changed: str | None) -> list[str]:
    """Write the whole tree with some files changed, and give the faults of the tree."""
    for name, text in (WHOLE | changed).items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        if text is not None:
            file.write_text(text)
    return [fault.key for fault in layers.House(root).faults()]


ENGINE = "crates/engine/src"
BREAKS = {
    "an import upward": (
        {f"{ENGINE}/spec.rs": "use crate::event::Event;\npub struct Spec;\n", f"{ENGINE}/event.rs": "struct Event;\n"},
        [f"upward {ENGINE}/spec.rs {ENGINE}/event.rs"],
    ),
    "an import upward through the window of the crate": (
        {f"{ENGINE}/spec.rs": "pub struct Spec(crate::Run);\n", f"{ENGINE}/run/open.rs": "pub struct Run;\n"},
        [f"upward {ENGINE}/spec.rs {ENGINE}/run/open.rs"],
    ),
    "an import upward through a glob, an alias and super": (
        {
            f"{ENGINE}/spec.rs": "use super::event as words;\nuse words::*;\npub struct Spec(Event);\n",
            f"{ENGINE}/event.rs": "pub struct Event;\n",
        },
        [f"upward {ENGINE}/spec.rs {ENGINE}/event.rs"],
    ),
    "an item that a room takes from the root of the crate": (
        {
            f"{ENGINE}/lib.rs": f"{WHOLE[f'{ENGINE}/lib.rs']}pub struct Error;\n",
            f"{ENGINE}/spec.rs": "use crate::Error;\n",
        },
        [f"upward {ENGINE}/spec.rs {ENGINE}/lib.rs"],
    ),
    "a path in an attribute": (
        {
            f"{ENGINE}/spec.rs": '#[serde(default = "crate::event::zero")]\nstruct Spec;\n',
            f"{ENGINE}/event.rs": "fn zero() {}\n",
        },
        [f"upward {ENGINE}/spec.rs {ENGINE}/event.rs"],
    ),
    "a macro from above": (
        {f"{ENGINE}/spec.rs": "made!();\n", f"{ENGINE}/event.rs": "macro_rules! made { () => {} }\n"},
        [f"upward {ENGINE}/spec.rs {ENGINE}/event.rs"],
    ),
    "a circle between a folder and its file": (
        {f"{ENGINE}/run/close.rs": "use super::Closed;\npub fn closed() {}\n"}
        | {f"{ENGINE}/run/mod.rs": "pub mod open;\nmod close;\npub struct Closed;\nfn end() { close::closed() }\n"},
        [f"circle {ENGINE}/run/close.rs {ENGINE}/run/mod.rs"],
    ),
    "a room that the table does not have": (
        {f"{ENGINE}/lib.rs": f"{WHOLE[f'{ENGINE}/lib.rs']}mod misc;\n", f"{ENGINE}/misc.rs": ""},
        [f"room {ENGINE}/misc"],
    ),
    "a crate that needs a later one": (
        {"crates/cc/Cargo.toml": "[dependencies]\nincast-engine.workspace = true\n"},
        ["upward crates/cc crates/engine"],
    ),
    "a long function, its signature over several lines": (
        {f"{ENGINE}/spec.rs": "pub struct Spec;\nfn long(\n  a: [u8; 2],\n) {\n" + "    // {\n" * 8 + "}\n"},
        [f"function {ENGINE}/spec.rs long"],
    ),
    "a long test": (
        {"crates/cc/tests/all/reno.rs": "fn long() {\n" + "    let _ = '{';\n" * 9 + "}\n"},
        ["function crates/cc/tests/all/reno.rs long"],
    ),
    "a long function of Python": (
        {"python/incast/text.py": "def long():\n" + "    'text'\n" * 10 + "WORD = 1\n"},
        ["function python/incast/text.py long"],
    ),
    "a function of Python of a length that Rust's may have": (
        {"python/incast/text.py": "def long():\n" + "    'text'\n" * 8 + "WORD = 1\n"},
        ["function python/incast/text.py long"],
    ),
    "a module too many at the root of a package": (
        {"python/incast/more.py": "", "python/incast/most.py": "import incast.more\n"}
        | {"python/incast/cli.py": "import incast.most\nimport incast.plan\ndef main(): ...\n"},
        ["room python/incast/more", "room python/incast/most", "root python/incast"],
    ),
    "a long file": (
        {f"{ENGINE}/spec.rs": "pub struct Spec;\n" + "//! text\n" * 40},
        [f"file {ENGINE}/spec.rs"],
    ),
    "a core that grows": (
        {f"{ENGINE}/event.rs": "pub struct Event;\n" + "\n" * 30},
        ["core"],
    ),
    "a Rust file that no module declares": ({f"{ENGINE}/old.rs": ""}, [f"dead {ENGINE}/old.rs"]),
    "a Python file that nobody imports": (
        {"python/incast/old.py": ""},
        ["room python/incast/old", "dead python/incast/old.py"],
    ),
    "a tool that nobody runs": ({"tools/old.py": ""}, ["dead tools/old.py"]),
    "a controller without a page": (
        {"docs/controllers/reno.md": None},
        ["controller reno docs/controllers/reno.md"],
    ),
    "a controller without a test file": (
        {"crates/cc/tests/all/reno.rs": None, "crates/cc/tests/all/main.rs": ""},
        ["controller reno crates/cc/tests/all/reno.rs"],
    ),
    "an import upward in Python": (
        {"python/incast/text.py": "from incast import Plan\nWORD = 1\n", "python/incast/plan.py": "class Plan: ...\n"}
        | {"python/incast/cli.py": "import incast.text\ndef main(): ...\n"},
        ["upward python/incast/text.py python/incast/plan.py"],
    ),
    "a circle in Python through an import inside a function": (
        {"python/incast/text.py": "WORD = 1\ndef late():\n    from .plan import Plan\n"},
        [
            "upward python/incast/text.py python/incast/plan.py",
            "circle python/incast/plan.py python/incast/text.py",
            "late python/incast",
        ],
    ),
    "a circle in Python through a text for import_module": (
        {"python/incast/text.py": "WORD = 1\ndef late():\n    return import_module('incast.plan').Plan\n"},
        [
            "upward python/incast/text.py python/incast/plan.py",
            "circle python/incast/plan.py python/incast/text.py",
            "late python/incast",
        ],
    ),
}


def test_the_whole_tree_has_no_fault(tmp_path: Path) -> None:
    assert keys(tmp_path) == []


@pytest.mark.parametrize("name", BREAKS)
def test_each_rule_finds_what_breaks_it(name: str, tmp_path: Path) -> None:
    changed, expected = BREAKS[name]
    assert keys(tmp_path, **changed) == expected


def test_what_only_tests_import_is_no_import(tmp_path: Path) -> None:
    text = "pub struct Spec;\n#[cfg(test)]\nmod tests { use crate::event::Event; }\n// crate::event::Event\n"
    assert keys(tmp_path, **{f"{ENGINE}/spec.rs": text}) == []


def test_a_known_fault_passes_until_it_is_mended(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    known = f'\n[[known]]\nkey = "dead {ENGINE}/old.rs"\nwhy = "it goes with the next change"\n'
    keys(tmp_path, **{"tools/layers.toml": TABLE + known, f"{ENGINE}/old.rs": ""})
    assert layers.main(["--root", str(tmp_path)]) == 0
    (tmp_path / ENGINE / "old.rs").unlink()
    assert layers.main(["--root", str(tmp_path)]) == 1
    assert "no longer so: dead" in capsys.readouterr().out


def test_a_fault_is_told_with_its_place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    keys(tmp_path, **{f"{ENGINE}/spec.rs": "\nuse crate::event::Event;\n", f"{ENGINE}/event.rs": "struct Event;\n"})
    assert layers.main(["--root", str(tmp_path)]) == 1
    assert f"{ENGINE}/spec.rs:2 names crate::event::Event: spec lies below event" in capsys.readouterr().out
    assert layers.main(["--root", str(tmp_path), "--report"]) == 0


def test_a_picture_leaves_out_arrows_that_others_imply(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    keys(tmp_path)
    assert layers.main(["--root", str(tmp_path), "--picture", "engine"]) == 0
    assert capsys.readouterr().out == "graph BT\n  event --> spec\n  run --> event\n"
