"""Mutation testing of the controllers: ``make mutants``.

Changes one operator, value or branch of ``crates/cc`` at a time and runs the tests that should notice
(cargo-mutants does both). A change that no test notices survives; ``mutants/explained.toml`` says of
the survivors why they do no harm. Exit status 1 when one survives that is not explained there, or
when one that is explained is caught or gone; otherwise the counts go to ``docs/mutants.md``.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

VERSION = "27.1.0"
ROOT = Path(__file__).resolve().parent.parent
CRATE = Path("crates") / "cc"
EXPLAINED = ROOT / "mutants" / "explained.toml"
PAGE = ROOT / "docs" / "mutants.md"
TOOLS = ROOT / ".cache" / f"cargo-mutants-{VERSION}"
# The source that is mutated: a copy, so that an interruption leaves nothing behind, and always in the
# same place, so that what is not mutated is built once.
WORK = ROOT / "target" / "mutants"
TREE = WORK / "tree"
TIMEOUT_S = 30
"""Time limit of a test, since a mutant may loop forever; the slowest test takes a second."""

LEFT_OUT: Mapping[str, str] = {
    "registry": "declarations and their text: no arithmetic of a controller",
    "units": "parsing and printing of times, rates and sizes: no arithmetic of a controller",
    "lib": "the list of controllers",
    "dispatch": "one type of all controllers",
    "variants": "a list of files",
    "external": "names of controllers that are not of this crate",
}
"""Files that are not mutated, with reasons."""

ROW = re.compile(r"\| `(?P<path>[\w/]+\.rs)` \|")
COUNTS_BEGIN, COUNTS_END = "<!-- counts: made by make mutants -->", "<!-- end of counts -->"


@dataclass(frozen=True)
class Mutant:
    """A change of the source, identified independently of line numbers."""

    file: str
    change: str
    """Its name in cargo-mutants: ``replace < with <= in Window::settle``."""
    place: str
    """The line it changes, with the changed part in «»."""

    def __str__(self) -> str:
        return f"{self.file}: {self.change}: {self.place}"


@dataclass
class Outcome:
    """Results of the mutants of one file."""

    caught: list[Mutant] = field(default_factory=list)
    timeout: list[Mutant] = field(default_factory=list)
    survived: list[Mutant] = field(default_factory=list)
    unviable: list[Mutant] = field(default_factory=list)

    @property
    def viable(self) -> int:
        """Number of mutants that compile."""
        return len(self.caught) + len(self.timeout) + len(self.survived)


def files() -> dict[str, Path]:
    """Source files that are mutated, by name: a folder's ``mod.rs`` has the folder's, a second ``sender.rs`` both."""
    named: dict[str, Path] = {}
    for path in sorted((ROOT / CRATE / "src").rglob("*.rs"), key=lambda path: (len(path.parts), path)):
        name = path.parent.name if path.stem == "mod" else path.stem
        named[f"{path.parent.name}_{name}" if name in named else name] = path.relative_to(ROOT)
    return {name: named[name] for name in sorted(named) if name not in LEFT_OUT}


def tests_of(name: str) -> list[str]:
    """Test files that should notice a change of a source file.

    A controller's is its own. A part that controllers share has its own and those of all that use it, a part of a
    controller's folder also those that are named after the folder, and the interface has all.
    """
    tests = {path.stem for path in (ROOT / CRATE / "tests" / "all").glob("*.rs")} - {"main"}
    if name == "controller":
        return sorted(tests)
    wanted = {name}
    sources = {stem: (ROOT / path).read_text() for stem, path in files().items()}
    while "pub static KIND" not in sources[name] and (
        users := {
            user
            for user, text in sources.items()
            if user not in wanted and re.search(rf"(?m)^use [^;]*\b({'|'.join(wanted)})\b", text)
        }
    ):
        wanted |= users
    top = files()[name].relative_to(CRATE / "src").parts[0]
    if "pub static KIND" not in sources[name]:
        # a part of a controller's folder: swift, swift_endpoint, swift_emulation
        wanted |= {test for test in tests if test == top or test.startswith(f"{top}_")}
    return sorted(wanted & tests)


def chosen(name: str) -> list[str]:
    """Return filters with which the test binary runs the tests of a file: filters match parts of names."""
    wanted = tests_of(name)
    others = {path.stem for path in (ROOT / CRATE / "tests" / "all").glob("*.rs")} - set(wanted)
    skipped = sorted(other for other in others if any(other.endswith(test) for test in wanted))
    return [*(f"{test}::" for test in wanted), *(word for other in skipped for word in ("--skip", f"{other}::"))]


def install() -> Path:
    """Return cargo-mutants, built into the project's own folder at first use."""
    program = TOOLS / "bin" / "cargo-mutants"
    if not program.exists():
        command = ["cargo", "install", "cargo-mutants", "--version", VERSION, "--locked", "--debug", "--quiet"]
        subprocess.run([*command, "--root", str(TOOLS)], check=True)
    return program


def copy_tree() -> None:
    """Bring the copy of the source up to date; what differs gets a new time, so that cargo builds it again."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT, check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip
    names = {name for name in listed.split("\0") if name and (ROOT / name).is_file()}
    for path in [path for path in TREE.rglob("*") if path.is_file()]:
        if str(path.relative_to(TREE)) not in names:
            path.unlink()
    for name in names:
        source, copy = ROOT / name, TREE / name
        if not copy.is_file() or copy.read_bytes() != source.read_bytes():
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, copy)


def place(lines: Sequence[str], span: Mapping[str, Mapping[str, int]]) -> str:
    """Return the first line of a span with the span's part of it in «»."""
    start, end = span["start"], span["end"]
    line = lines[start["line"] - 1]
    last = end["column"] - 1 if end["line"] == start["line"] else len(line)
    first = start["column"] - 1
    return f"{line[:first].lstrip()}«{line[first:last]}»{line[last:].rstrip()}"


def test(program: Path, name: str) -> Outcome:
    """Test every mutant of one file."""
    out = WORK / "out" / name
    out.mkdir(parents=True, exist_ok=True)
    environment = os.environ | {
        "CARGO_TARGET_DIR": str(WORK / "target"),
        "CARGO_INCREMENTAL": "1",
        # the same cases at every run, none kept from the mutant before, and the first failure is enough
        "PROPTEST_RNG_SEED": "1",
        "PROPTEST_DISABLE_FAILURE_PERSISTENCE": "1",
        "PROPTEST_MAX_SHRINK_ITERS": "0",
    }
    command = [
        str(program), "mutants", "--in-place", "--no-config", "--package", "incast-cc", "--profile", "mutants",
        "--file", str(files()[name]), "--output", str(out), "--timeout", str(TIMEOUT_S),
        "--cargo-arg=--test=all", "--", "--", *chosen(name),
    ]  # fmt: skip
    status = subprocess.run(command, cwd=TREE, env=environment, check=False).returncode
    # 0: all caught, 2: some survived, 3: some timed out
    if status not in (0, 2, 3):
        sys.exit(f"{name}: cargo-mutants ended with status {status}; its logs are in {out}")
    outcomes = out / "mutants.out" / "outcomes.json"
    # none where the file has nothing to mutate
    return read(name, json.loads(outcomes.read_text())["outcomes"]) if outcomes.exists() else Outcome()


def read(name: str, outcomes: Iterable[Mapping[str, Any]]) -> Outcome:
    """Name the mutants of a file and sort them by outcome."""
    lines = (TREE / files()[name]).read_text().splitlines()
    result = Outcome()
    kinds = {
        "CaughtMutant": result.caught,
        "MissedMutant": result.survived,
        "Timeout": result.timeout,
        "Unviable": result.unviable,
    }
    for outcome in outcomes:
        if outcome["summary"] in kinds:
            mutant = outcome["scenario"]["Mutant"]
            change = re.sub(r"^[^:]+:\d+:\d+: ", "", mutant["name"])
            kinds[outcome["summary"]].append(Mutant(name, change, place(lines, mutant["span"])))
    return result


def explained() -> Counter[str]:
    """Read the survivors that are explained; a mutant listed twice stands for two equal lines."""
    entries = tomllib.loads(EXPLAINED.read_text())["equivalent"]
    return Counter(mutant for entry in entries for mutant in entry["mutants"])


def judge(outcomes: Mapping[str, Outcome], known: Counter[str]) -> list[str]:
    """Return what is wrong: survivors without an explanation, explanations without a survivor."""
    survived = Counter(str(mutant) for outcome in outcomes.values() for mutant in outcome.survived)
    wanted = Counter({name: count for name, count in known.items() if name.split(":")[0] in outcomes})
    gone = set(known) - {name for name in known if name.split(":")[0] in files()}
    return [
        *(f"survived and is not explained: {name}" for name in sorted((survived - wanted).elements())),
        *(f"explained and did not survive: {name}" for name in sorted((wanted - survived).elements())),
        *(f"explained and in no file that is mutated: {name}" for name in sorted(gone)),
    ]


def row(name: str, outcome: Outcome) -> str:
    """Return the counts of a file, as a row of the page's table."""
    counts = (outcome.viable, len(outcome.caught), len(outcome.timeout), len(outcome.survived))
    return f"| `{shown(name)}` | " + " | ".join(map(str, counts)) + " |"


def shown(name: str) -> str:
    """Path of a file in the crate's source, as the page names it."""
    return files()[name].relative_to(CRATE / "src").as_posix()


def table(outcomes: Mapping[str, Outcome], kept: Iterable[str] = ()) -> str:
    """Return the counts of each file, as Markdown; ``kept`` are rows of files that were not run now."""
    rows = {shown(name): row(name, outcome) for name, outcome in outcomes.items()}
    there = {shown(name) for name in files()}
    for line in kept:
        if (found := ROW.match(line)) and found["path"] in there:
            rows.setdefault(found["path"], line)
    counts = [[int(count) for count in re.findall(r" (\d+) ", line)] for line in rows.values()]
    total = " | ".join(str(sum(column)) for column in zip(*counts, strict=True))
    head = "| file | mutants | caught | caught by looping for ever | explained |"
    return "\n".join([head, "|---|---|---|---|---|", *(rows[path] for path in sorted(rows)), f"| all | {total} |"])


def write_page(outcomes: Mapping[str, Outcome]) -> None:
    """Write the counts into the page, beside those of files that were not run now."""
    page = PAGE.read_text()
    head, rest = page.split(COUNTS_BEGIN)
    old, tail = rest.split(COUNTS_END)
    PAGE.write_text(f"{head}{COUNTS_BEGIN}\n\n{table(outcomes, old.splitlines())}\n\n{COUNTS_END}{tail}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("names", nargs="*", help="controllers or shared parts (default: all)")
    names = [name.replace("-", "_") for name in parser.parse_args(arguments).names]
    if unknown := [name for name in names if name not in files()]:
        parser.error(f"{', '.join(unknown)}: not one of {', '.join(files())}")
    program = install()
    known = explained()
    copy_tree()
    outcomes = {name: test(program, name) for name in names or files()}
    wrong = judge(outcomes, known)
    print(table(outcomes))
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"\n{(used.ru_utime + used.ru_stime) / 60:.0f} CPU minutes")
    print("\n".join(wrong or ["every survivor is explained"]))
    if not wrong:
        write_page(outcomes)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
