"""``tools/words.py`` on small made-up trees: each breaks one rule, and the whole one breaks none."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import ROOT
from tools import words

TABLE = """
openings = ["It", "What", "There is"]
length = 8
skipped = ["generated/"]

[private]
outlet = "NIC queue"
"""


def tree(folder: Path, **files: str) -> Path:
    """Make a tree with the table and these files; ``__`` in a name stands for a folder, ``_`` for a dot."""
    (folder / "tools").mkdir()
    (folder / words.TABLE).write_text(TABLE)
    for name, text in files.items():
        path = folder / name.replace("__", "/").replace("_", ".")
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return folder


def rules(folder: Path) -> list[str]:
    """Name the rules that a tree breaks, with the lines."""
    table = words.Rules(folder)
    found = [fault for one in words.sentences(folder, table) for fault in table.faults(one)]
    return [f"{one.sentence.line}: {one.rule.split()[0]}" for one in [*found, *words.private(folder, table)]]


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a_rs", "/// Bytes in the queue.\n/// It is no opening here.\nfn a() {}\n", []),
        ("a_rs", "/// It is in it.\nfn a() {}\n", ["1: opens"]),
        ("a_rs", "fn a() {}\n//! ... of a port.\n", ["2: opens"]),
        ("a_rs", "struct Outlet;\nlet nic_outlet = 1;\nlet outlets = 1;\n", ["1: Outlet:", "2: outlet:"]),
        (
            "a_py",
            '"""Read it."""\n\nX = 1\n"""What is."""\n\ndef a():\n    """It."""\n',
            ["4: opens", "7: opens"],
        ),
        ("a_md", "# It is a heading\n\nA flow ends.\nIt has ended. There is\none.\n\n```\nIt\n```\n", ["3: opens"] * 2),
        (
            "a_md",
            "| It |\n\n- What is an item?\n- A\n  b c d e f g h i.\n",
            ["3: opens", "4: has"],
        ),
        ("generated__a_md", "It is made by a program.\n", []),
    ],
)
def test_a_place_that_breaks_a_rule_is_found(tmp_path: Path, name: str, text: str, expected: list[str]) -> None:
    assert rules(tree(tmp_path, **{name: text})) == expected


def test_known_places_only_shrink(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tree(tmp_path, a_md="It is old.\n")
    assert words.main(["--root", str(folder)]) == 1
    assert "a.md:1: opens" in capsys.readouterr().out
    (folder / words.KNOWN).write_text("a.md: It is old.\na.md: It is gone.\n")
    assert words.main(["--root", str(folder)]) == 1
    assert "no longer there: a.md: It is gone." in capsys.readouterr().out
    assert words.main(["--root", str(folder), "--write"]) == 0
    assert (folder / words.KNOWN).read_text() == "a.md: It is old.\n"
    assert words.main(["--root", str(folder)]) == 0
    (folder / "a.md").write_text("It is old.\n\nIt is new.\n")
    assert words.main(["--root", str(folder), "--report"]) == 0
    assert words.main(["--root", str(folder), "--write"]) == 1
    assert (folder / words.KNOWN).read_text() == "a.md: It is old.\n"


def test_the_table_of_this_tree_is_whole() -> None:
    table = words.Rules(ROOT)
    assert table.length == 35
    assert all(word == word.lower() and term for word, term in table.private.items())
