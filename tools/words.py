"""Hold comments, docstrings and pages to sentences that a reader reads once.

``python tools/words.py`` fails on a doc comment, a docstring or a sentence of a page that opens with a pronoun or a
question word, on a sentence of a page with more than 35 words, and on a private word (``words.toml``) in a Rust source.
Known places stand in ``tools/words.txt``; a place that is no longer there fails too, so the list only shrinks.
``--report`` prints counts by folder and never fails; ``--write`` drops known places that are gone.

Exit status 1: a place is new, or a known one is gone.
"""

from __future__ import annotations

import argparse
import ast
import re
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TABLE = "tools/words.toml"
KNOWN = "tools/words.txt"
SHOWN = 60
"""Characters of a sentence that name its place in the list."""


@dataclass(frozen=True)
class Sentence:
    """A sentence or the first line of a comment, and the place where it stands."""

    path: str
    line: int
    text: str
    in_page: bool

    @property
    def key(self) -> str:
        """Name of the place in the list of known ones: without its line, which moves."""
        return f"{self.path}: {self.text[:SHOWN].strip()}"


@dataclass(frozen=True)
class Fault:
    """A place that breaks a rule."""

    sentence: Sentence
    rule: str


class Rules:
    """The rules of a tree: openings, lengths and private words."""

    def __init__(self, root: Path) -> None:
        table = tomllib.loads((root / TABLE).read_text(encoding="utf-8"))
        openings = "|".join(re.escape(one) for one in table["openings"])
        self.opening = re.compile(rf"(?:{openings})\b|\.\.\.|…")
        self.length: int = table["length"]
        self.private: dict[str, str] = table["private"]
        self.skipped: list[str] = table["skipped"]
        words = "|".join(re.escape(one) for one in self.private)
        self.word = re.compile(rf"(?<![A-Za-z])(?:{words})(?![a-z])", re.IGNORECASE) if words else None

    def faults(self, sentence: Sentence) -> Iterator[Fault]:
        """Judge one sentence."""
        if self.opening.match(sentence.text.strip("*_ ")):
            yield Fault(sentence, "opens with a pronoun or a question word; begin with the noun or the verb")
        if sentence.in_page and (count := len(sentence.text.split())) > self.length:
            yield Fault(sentence, f"has {count} words; at most {self.length}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Check the tree; 1 where a place is new or a known one is gone."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path, default=ROOT, help="the tree (default: this one)")
    parser.add_argument("--report", action="store_true", help="print counts by folder; never fails")
    parser.add_argument("--write", action="store_true", help="drop known places that are gone")
    asked = parser.parse_args(arguments)
    rules = Rules(asked.root)
    found = list(sentences(asked.root, rules))
    faults = [fault for one in found for fault in rules.faults(one)] + list(private(asked.root, rules))
    if asked.report:
        print("\n".join(report(found, faults)))
        return 0
    listing = asked.root / KNOWN
    known = [line for line in listing.read_text(encoding="utf-8").splitlines() if line] if listing.is_file() else []
    there = {fault.sentence.key for fault in faults}
    gone = [key for key in known if key not in there]
    if asked.write:
        listing.write_text("".join(f"{key}\n" for key in known if key in there), encoding="utf-8")
        gone = []
    new = [fault for fault in faults if fault.sentence.key not in set(known)]
    for fault in new:
        print(f"{fault.sentence.path}:{fault.sentence.line}: {fault.rule}: {fault.sentence.text[:SHOWN]}")
    for key in gone:
        print(f"{KNOWN}: no longer there: {key}: python tools/words.py --write")
    return 1 if new or gone else 0


def tracked(root: Path, skipped: Sequence[str]) -> Iterator[Path]:
    """List the files of a tree that git knows; all of them where it is no work tree."""
    git = subprocess.run(["git", "ls-files", "-z"], cwd=root, capture_output=True, text=True)
    names = git.stdout.split("\0") if git.returncode == 0 else [str(p.relative_to(root)) for p in root.rglob("*")]
    for name in sorted(names):
        if (root / name).is_file() and not any(name.startswith(one) for one in skipped):
            yield root / name


def sentences(root: Path, rules: Rules) -> Iterator[Sentence]:
    """Find the openings of comments and docstrings, and all sentences of pages."""
    readers = {".rs": rust, ".py": python, ".md": page}
    for path in tracked(root, rules.skipped):
        if read := readers.get(path.suffix):
            text = path.read_text(encoding="utf-8")
            for line, sentence in read(text):
                yield Sentence(path.relative_to(root).as_posix(), line, sentence, path.suffix == ".md")


def rust(text: str) -> Iterator[tuple[int, str]]:
    """Give the first line of every doc comment."""
    before = False
    for number, line in enumerate(text.splitlines(), 1):
        comment = re.match(r"\s*//[/!] ?(.*)", line)
        if comment and not before:
            yield number, comment[1]
        before = comment is not None


def python(text: str) -> Iterator[tuple[int, str]]:
    """Give the first line of every docstring, those of attributes too."""
    for node in ast.walk(ast.parse(text)):
        body = getattr(node, "body", None)
        for one in body if isinstance(body, list) else []:
            match one:
                case ast.Expr(value=ast.Constant(value=str(docstring))):
                    yield one.lineno, docstring.strip().split("\n")[0]


def page(text: str) -> Iterator[tuple[int, str]]:
    """Give the sentences of a page's prose: no code, tables, headings, quotes or pictures."""
    fenced, block, start = False, list[str](), 1
    for number, line in enumerate([*text.splitlines(), ""], 1):
        fence = re.match(r"\s*(```|~~~)", line) is not None
        fenced ^= fence
        prose = not fenced and not fence and line.strip() and not re.match(r"\s*([|#>!<]|:?---)", line)
        item = re.match(r"\s*([-*]|\d+\.) ", line)
        if block and (not prose or item):
            whole = " ".join(block)
            yield from ((start, one) for one in re.split(r"(?<=[.!?])\s+(?=[A-Z`*\[])", whole))
            block = []
        if prose:
            start = start if block else number
            block.append(re.sub(r"^\s*([-*]|\d+\.) ", "", line).strip())


def private(root: Path, rules: Rules) -> Iterator[Fault]:
    """Find private words in Rust sources: in names, comments and messages."""
    if rules.word is None:
        return
    for path in tracked(root, rules.skipped):
        if path.suffix != ".rs":
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            for word in rules.word.finditer(line):
                place = Sentence(path.relative_to(root).as_posix(), number, line.strip(), in_page=False)
                yield Fault(place, f"{word[0]}: {rules.private[word[0].lower()]}")


def report(found: Sequence[Sentence], faults: Sequence[Fault]) -> Iterator[str]:
    """Count sentences and faults by folder and kind of file."""

    def folder(one: Sentence) -> str:
        parts = one.path.split("/")
        kind = Path(one.path).suffix
        return f"{kind} {'/'.join(parts[:2]) if parts[0] == 'crates' else parts[0] if len(parts) > 1 else 'root'}"

    every = Counter(folder(one) for one in found)
    opened = Counter(folder(one.sentence) for one in faults if "opens" in one.rule)
    longer = Counter(folder(one.sentence) for one in faults if "words; at most" in one.rule)
    for name in sorted(every):
        share = 100 * opened[name] / every[name]
        tail = f", {longer[name]} too long" if name.startswith(".md") else ""
        yield f"{name}: {opened[name]} of {every[name]} open badly ({share:.1f} %){tail}"
    yield f"private words in Rust: {sum(':' in one.rule for one in faults)}"


if __name__ == "__main__":
    sys.exit(main())
