"""Commands of developers that pages name: targets, crates, test files, tests and modules that they name are there."""

from __future__ import annotations

import itertools
import re
import shlex
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from conftest import ROOT

PAGES = sorted(
    [
        *ROOT.glob("*.md"),
        *(ROOT / "docs").rglob("*.md"),
        *(page for top in ("parity", "proto", "bench", "mutants", "examples") for page in (ROOT / top).rglob("*.md")),
    ]
)
PROGRAMS = ("cargo", "make", "pytest", "python", "maturin")
MADE_UP = re.compile(r"[A-Z][A-Z_0-9]*(?:=.*)?")
"""A word that stands for others: NAME, CRATE."""


def commands(page: Path) -> Iterator[list[str]]:
    """Give the words of every command on a page: lines of blocks of a shell, and code in the text."""
    text = page.read_text(encoding="utf-8")
    blocks = r"^```(?:sh|console|bash)\n(.*?)^```$"
    lines = [line for block in re.findall(blocks, text, re.DOTALL | re.MULTILINE) for line in block.splitlines()]
    plain = re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)
    lines += [" ".join(code.split()) for code in re.findall(r"`([^`]+)`", plain)]
    for line in lines:
        try:
            words = shlex.split(line.removeprefix("$ "), comments=True)
        except ValueError:
            continue
        while words and re.fullmatch(r"[A-Za-z_]\w*=.*", words[0]):  # variables of the environment
            words.pop(0)
        if words and Path(words[0]).name in PROGRAMS:
            yield [Path(words[0]).name, *words[1:]]


@cache
def crates() -> dict[str, Path]:
    """Give the folders of the crates by their names."""
    found = {}
    for file in [*ROOT.glob("crates/*/Cargo.toml"), *ROOT.glob("bench/**/Cargo.toml")]:
        found[tomllib.loads(file.read_text(encoding="utf-8"))["package"]["name"]] = file.parent
    return found


@cache
def sources(folder: Path) -> str:
    """Give paths and texts of a crate's sources, in which the names of its tests stand."""
    files = [path for top in ("src", "tests") for path in sorted((folder / top).rglob("*.rs"))]
    return "\n".join(f"mod {path.stem}\n{path.read_text(encoding='utf-8')}" for path in files)


@cache
def targets() -> set[str]:
    """Give the targets of the Makefile."""
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    return {name for line in re.findall(r"^([\w. -]+):(?!=)", text, re.MULTILINE) for name in line.split()}


def cargo(words: list[str]) -> str:
    """Say what is not there of what a command of cargo names; nothing where all is."""
    names = {option: after for option, after in itertools.pairwise(words) if option in ("-p", "--test")}
    crate, binary = names.get("-p", ""), names.get("--test", "")
    example = next((after for one, after in itertools.pairwise(words) if one == "--example"), "")
    if not crate or MADE_UP.fullmatch(crate):
        return ""
    if crate not in crates():
        return f"no crate {crate}"
    folder = crates()[crate]
    if binary and not any((folder / "tests" / place).is_file() for place in (f"{binary}.rs", f"{binary}/main.rs")):
        return f"no tests {binary} of {crate}"
    if example and not (folder / "examples" / f"{example}.rs").is_file():
        return f"no example {example} of {crate}"
    if words[0] != "test":
        return ""
    own = words[1 : words.index("--")] if "--" in words else words[1:]
    taken = {"-p", "--test", *names.values()}
    for name in (word for word in own if word not in taken and not word.startswith("-")):
        parts = name.strip(":").split("::")
        if not MADE_UP.fullmatch(name) and not all(
            re.search(rf"\b(?:fn|mod) \w*{re.escape(part)}", sources(folder)) for part in parts
        ):
            return f"no test of {crate} has {name} in its name"
    return ""


def python(words: list[str]) -> str:
    """Say what is not there of what a command of Python names."""
    if words[:1] == ["-m"] and len(words) > 1:
        place = words[1].replace(".", "/")
        own = (ROOT / place.partition("/")[0]).is_dir()
        there = any((ROOT / end).is_file() for end in (f"{place}.py", f"{place}/__main__.py"))
        return f"no module {words[1]}" if own and not there else ""
    files = [word for word in words[:1] if word.endswith(".py") and "/" in word]
    return next((f"no file {file}" for file in files if not (ROOT / file).is_file()), "")


def pytests(words: list[str]) -> str:
    """Say what is not there of what a command of pytest names."""
    files = [ROOT / word.partition("::")[0] for word in words if word.startswith("tests/")]
    if lost := [path for path in files if not path.exists()]:
        return f"no file {lost[0].relative_to(ROOT)}"
    asked = [after for word, after in itertools.pairwise(words) if word == "-k"]
    for path in files if asked else []:
        texts = [one.read_text(encoding="utf-8") for one in ([path] if path.is_file() else path.rglob("*.py"))]
        for name in re.findall(r"\b(?!and\b|or\b|not\b)[a-z]\w*", asked[0]):
            if not any(re.search(rf"\bdef test_\w*{name}", text) for text in texts):
                return f"no test {name} in {path.relative_to(ROOT)}"
    return ""


def make(words: list[str]) -> str:
    """Say which target of the Makefile is not there."""
    named = [word for word in words if not word.startswith("-") and "=" not in word and not MADE_UP.fullmatch(word)]
    return next((f"no target {name}" for name in named if name not in targets()), "")


CHECKS = {"cargo": cargo, "make": make, "pytest": pytests, "python": python}


def missing(words: list[str]) -> str:
    check = CHECKS.get(words[0])
    return check(words[1:]) if check else ""


def test_what_commands_on_pages_name_is_there() -> None:
    found = [(page.relative_to(ROOT), words) for page in PAGES for words in commands(page)]
    assert len(found) > 100 and {words[0] for _, words in found} >= {"cargo", "make", "pytest", "python"}
    lost = [f"{page}: {shlex.join(words)}: {told}" for page, words in found if (told := missing(words))]
    assert not lost, "\n".join(lost)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("cargo test -p incast-engine --test published timely -- --nocapture", "no tests published of incast-engine"),
        ("cargo test -p incast-engine --test all no_such_word", "no test of incast-engine has no_such_word"),
        ("cargo test -p incast-motor NAME", "no crate incast-motor"),
        ("cargo run -p incast-scenario --example ran x", "no example ran"),
        ("make publish", "no target publish"),
        ("python -m bench.runs", "no module bench.runs"),
        ("python tools/none.py A B", "no file tools/none.py"),
        ("pytest -k none_such tests/python/test_docs.py", "no test none_such"),
        ("pytest tests/python/test_none.py", "no file tests/python/test_none.py"),
    ],
)
def test_a_name_that_is_gone_is_found(line: str, told: str) -> None:
    assert told in missing(shlex.split(line))
