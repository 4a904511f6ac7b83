"""Hold the sources to the rooms of the house: who may import whom, and how long a thing may be.

``python tools/layers.py`` fails on an import upward (the floors are in ``layers.toml``), a circle between files, a
function or a file that is too long, a file that nothing reaches, a controller without a test file or a page, and a core
of the engine that is too large. ``--report`` prints what was found about every crate and package, and never fails;
``--picture NAME`` draws the rooms of one as a Mermaid graph.

An import counts where its name is defined: a path is followed through re-exports to the file that defines its item. A
module that only re-exports what lies in its own folder imports nothing. Of Python, imports inside functions count too,
and texts for ``import_module``. Tests inside a file (``#[cfg(test)]``) are not looked at.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TABLE = "tools/layers.toml"


@dataclass(frozen=True)
class Import:
    """One file names what another defines."""

    source: Path
    target: Path
    line: int
    name: str


@dataclass(frozen=True)
class Function:
    """A function, with its comments and blank lines counted."""

    file: Path
    name: str
    line: int
    lines: int


@dataclass
class Unit:
    """A crate or a package: its files and what they import of each other."""

    name: str
    folder: Path
    files: dict[Path, int] = field(default_factory=dict)
    imports: list[Import] = field(default_factory=list)
    functions: list[Function] = field(default_factory=list)

    def room(self, file: Path) -> str:
        """Name the folder or the file at the top that a file belongs to."""
        return file.relative_to(self.folder).parts[0].removesuffix(file.suffix)


# ---- Rust: words of a file ---------------------------------------------------------------------------------------

RUST_WORD = re.compile(
    r"""(?P<blank>\s+|//[^\n]*|/\*.*?\*/)
    |(?P<text>[bc]?r(?P<hash>\#*)".*?"(?P=hash)|[bc]?"(?:\\.|[^"\\])*")
    |(?P<char>b?'(?:\\[^']+|[^'\\]|\\')')
    |(?P<life>'[A-Za-z_]\w*)
    |(?P<name>(?:r\#)?\w+)
    |(?P<sign>::|->|=>|.)""",
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True)
class Word:
    """A name or a sign of a Rust file."""

    text: str
    line: int


def words(source: str) -> list[Word]:
    """Split a Rust file into names and signs; comments, texts and lifetimes go, except texts that are paths."""
    found, line = [], 1
    for match in RUST_WORD.finditer(source):
        text, kind = match[0], match.lastgroup if match.lastgroup != "hash" else "text"
        if kind == "text":
            path = text.strip('"')
            parts = re.split("(::)", path) if re.fullmatch(r"(crate|self|super)(::\w+)+", path) else ['"']
            found += [Word(part, line) for part in parts]
        elif kind in ("name", "sign"):
            found.append(Word(text.removeprefix("r#"), line))
        line += text.count("\n")
    return found


# ---- Rust: modules ------------------------------------------------------------------------------------------------


@dataclass
class Module:
    """A module of a crate, a file's or an inline one: what it declares, and which paths it names."""

    path: tuple[str, ...]
    file: Path
    children: set[str] = field(default_factory=set)
    items: set[str] = field(default_factory=set)
    uses: dict[str, tuple[str, ...]] = field(default_factory=dict)
    globs: list[tuple[str, ...]] = field(default_factory=list)
    exported: list[tuple[str, tuple[str, ...], int]] = field(default_factory=list)
    paths: list[tuple[tuple[str, ...], int]] = field(default_factory=list)
    names: dict[str, int] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    invoked: dict[str, int] = field(default_factory=dict)


ANYWHERE = {"struct", "enum", "trait", "union"}
AT_THE_TOP = {"type", "const", "static", "fn", "mod"}


class RustFile:
    """Reads one file into modules and functions; the files of its ``mod name;`` are the caller's to read."""

    def __init__(self, file: Path, module: tuple[str, ...]) -> None:
        self.file = file
        self.words = words(file.read_text(encoding="utf-8"))
        self.modules = {module: Module(module, file)}
        self.functions: list[Function] = []
        self.macros: set[str] = set()
        self.outside: list[tuple[str, ...]] = []
        self.scopes = [(self.modules[module], 0)]
        self.depth = 0
        self.tested = False
        self.read()

    def text(self, at: int) -> str:
        """Give the word at a place, or nothing behind the end."""
        return self.words[at].text if 0 <= at < len(self.words) else ""

    def behind(self, at: int) -> int:
        """Give the place behind the bracket that closes the one at ``at``."""
        depth = 0
        for i in range(at, len(self.words)):
            depth += (self.text(i) in "([{") - (self.text(i) in ")]}")
            if depth == 0:
                return i + 1
        return len(self.words)

    def read(self) -> None:
        """Walk through the words once."""
        at = 0
        while at < len(self.words):
            at = self.step(at)

    def step(self, at: int) -> int:
        """Take in what starts at a word; return where to go on."""
        word, module = self.text(at), self.scopes[-1][0]
        if word == "#" and self.text(at + 1) == "[":
            return self.attribute(at)
        if word == "mod" and re.fullmatch(r"\w+", self.text(at + 1)) and self.text(at + 2) in (";", "{"):
            return self.declared(at, module)
        if word == "use" and self.text(at - 1) in ("", ";", "{", "}", "]", ")", "pub"):
            return self.used(at, module)
        if word == "macro_rules" and self.text(at + 1) == "!":
            self.macros.add(self.text(at + 2))
            module.items.add(self.text(at + 2))
            return at + 3
        if word == "{":
            self.depth += 1
        elif word == "}":
            self.depth -= 1
            if len(self.scopes) > 1 and self.scopes[-1][1] > self.depth:
                self.scopes.pop()
        elif re.match(r"[A-Za-z_]", word):
            return self.named(at, module)
        return at + 1

    def attribute(self, at: int) -> int:
        """Look whether an attribute says that what follows is only there in tests; its paths count."""
        end = self.behind(at + 1)
        if [self.text(i) for i in range(at + 2, min(at + 6, end))] == ["cfg", "(", "test", ")"]:
            while end < len(self.words) and self.text(end) not in (";", "{"):
                end += 1
            return self.behind(end) if self.text(end) == "{" else end + 1
        return at + 2

    def declared(self, at: int, module: Module) -> int:
        """Take in ``mod name;`` or open ``mod name {``."""
        name = self.text(at + 1)
        path = (*module.path, name)
        module.children.add(name)
        if self.text(at + 2) == ";":
            self.outside.append(path)
        else:
            self.depth += 1
            self.modules[path] = Module(path, self.file)
            self.scopes.append((self.modules[path], self.depth))
        return at + 3

    def used(self, at: int, module: Module) -> int:
        """Take in a ``use`` with its braces."""
        end = next(i for i in range(at, len(self.words)) if self.text(i) == ";")
        public = self.text(at - 1) in ("pub", ")")
        for path, name in self.tree(at + 1, end, ()):
            if name == "*":
                module.globs.append(path)
            else:
                module.uses[name] = path
            if public:
                module.exported.append((name, path, self.words[at].line))
            elif name != "*":
                module.paths.append((path, self.words[at].line))
        return end + 1

    def tree(self, at: int, end: int, prefix: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
        """Unfold one tree of a ``use`` into paths and the names that they get here."""
        path = prefix
        while at < end:
            word = self.text(at)
            if word == "{":
                close = self.behind(at) - 1
                start = at + 1
                while start < close:
                    stop = start
                    while stop < close and self.text(stop) != ",":
                        stop = self.behind(stop) if self.text(stop) == "{" else stop + 1
                    yield from self.tree(start, stop, path)
                    start = stop + 1
                return
            if word == "*":
                yield path, "*"
                return
            if word == "as":
                yield path, self.text(at + 1)
                return
            if word != "::" and not (word == "self" and path):
                path = (*path, word)
            at += 1
        if path:
            yield path, path[-1]

    def named(self, at: int, module: Module) -> int:
        """Take in a name: a definition, a path, or a use of what was imported."""
        word, line = self.text(at), self.words[at].line
        following = self.text(at + 1)
        if word == "fn" and re.fullmatch(r"\w+", following):
            self.function(at)
        top = self.depth == self.scopes[-1][1]
        if (word in ANYWHERE or (word in AT_THE_TOP and top)) and re.fullmatch(r"\w+", following):
            module.items.add(self.text(at + 2) if following == "mut" else following)
            return at + 1
        if self.text(at - 1) in (".", "::"):
            return at + 1
        module.names.setdefault(word, line)
        module.counts[word] += 1
        if following == "!":
            module.invoked.setdefault(word, line)
        path = [word]
        while self.text(at + 1) == "::" and re.fullmatch(r"\w+", self.text(at + 2)):
            path.append(self.text(at + 2))
            at += 2
        if len(path) > 1:
            module.paths.append((tuple(path), line))
        return at + 1

    def function(self, at: int) -> None:
        """Measure a function that has a body."""
        i = at + 2
        while i < len(self.words) and self.text(i) not in (";", "{"):
            i = self.behind(i) if self.text(i) in "([" else i + 1
        if self.text(i) == "{":
            last = self.words[self.behind(i) - 1].line
            first = self.words[at].line
            self.functions.append(Function(self.file, self.text(at + 1), first, last - first + 1))


class Crate:
    """The modules that a root file reaches, and what they import of each other."""

    def __init__(self, root: Path) -> None:
        self.modules: dict[tuple[str, ...], Module] = {}
        self.macros: dict[str, Path] = {}
        self.files: list[RustFile] = []
        self.read(root, (), root.parent)

    def read(self, file: Path, module: tuple[str, ...], folder: Path) -> None:
        """Read a file, then those of its modules."""
        read = RustFile(file, module)
        self.files.append(read)
        self.modules |= read.modules
        self.macros |= dict.fromkeys(read.macros, file)
        for path in read.outside:
            inner = folder.joinpath(*path[len(module) :])
            flat, nested = inner.with_suffix(".rs"), inner / "mod.rs"
            if flat.exists() or nested.exists():
                self.read(flat if flat.exists() else nested, path, inner)

    def found(self, at: Module, path: Sequence[str], seen: frozenset[object] = frozenset()) -> Module | None:
        """Follow a path to the module that defines its item; None for what is outside the crate."""
        if (at.path, tuple(path)) in seen:
            return None
        seen |= {(at.path, tuple(path))}
        first, rest = path[0], path[1:]
        if first in ("crate", "self", "super"):
            steps = {"crate": (), "self": at.path, "super": at.path[:-1]}
            start = self.modules.get(steps[first])
            return start if not rest or start is None else self.found(start, rest, seen)
        child = self.modules.get((*at.path, first)) if first in at.children else None
        if child is not None and (rest or first not in at.items):
            return self.found(child, rest, seen) if rest else child
        if first in at.items:
            return at
        if first in at.uses:
            return self.found(at, (*at.uses[first], *rest), seen)
        for glob in at.globs:
            source = self.found(at, glob, seen)
            if source is not None and (target := self.found(source, path, seen)) is not None:
                return target
        return None

    def is_module(self, at: Module, path: Sequence[str]) -> bool:
        """Tell whether a path names a module and nothing in it."""
        target = self.found(at, path)
        return target is not None and path[-1] not in target.items and target.path[-1:] == (path[-1],)

    def imports(self) -> Iterator[Import]:
        """Give what the files of the crate import of each other."""
        for module in self.modules.values():
            for name, path, line in module.exported:
                target = self.found(module, path)
                outside = target is not None and target.path[: len(module.path)] != module.path
                if name != "*" and (outside or module.counts[name]) and not self.is_module(module, path):
                    yield from self.arrow(module, path, line)
            for path, line in module.paths:
                if not self.is_module(module, path):
                    yield from self.arrow(module, path, line)
            for name, line in module.names.items():
                if module.globs and name not in module.items | module.uses.keys() | {"crate", "self", "super"}:
                    yield from self.arrow(module, (name,), line)
            for name, line in module.invoked.items():
                if name in self.macros and self.macros[name] != module.file:
                    yield Import(module.file, self.macros[name], line, f"{name}!")

    def arrow(self, module: Module, path: Sequence[str], line: int) -> Iterator[Import]:
        """Give the import that a path is, unless it stays in its file."""
        target = self.found(module, path)
        if target is not None and target.file != module.file:
            yield Import(module.file, target.file, line, "::".join(path))


def rust_unit(crate: Path) -> tuple[Unit, set[Path]]:
    """Read a crate; also give every file of it that something reaches, tests and examples too."""
    unit = Unit(f"crates/{crate.name}", crate / "src")
    main = Crate(crate / "src" / "lib.rs")
    unit.files = {read.file: lines(read.file) for read in main.files}
    unit.imports = sorted(set(main.imports()), key=lambda i: (i.source, i.line, i.name))
    others = [*crate.glob("tests/*.rs"), *crate.glob("tests/*/main.rs"), *crate.glob("examples/*.rs")]
    others += [*crate.glob("src/bin/*.rs"), *crate.glob("src/main.rs"), *crate.glob("build.rs")]
    crates = [main, *(Crate(file) for file in others)]
    unit.functions = [function for one in crates for read in one.files for function in read.functions]
    return unit, {read.file for one in crates for read in one.files}


def lines(file: Path) -> int:
    """Count the lines of a file."""
    return file.read_text(encoding="utf-8").count("\n")


# ---- Python -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PythonFile:
    """A Python module: the nodes of its tree and the package that its relative imports start from."""

    file: Path
    module: str
    text: str
    nodes: list[ast.AST]

    @property
    def package(self) -> list[str]:
        """Name the package that the module lies in, or is."""
        parts = self.module.split(".")
        return parts if self.file.name == "__init__.py" else parts[:-1]


class Python:
    """Every Python file under some folders, and what they import of each other."""

    def __init__(self, tops: Iterable[tuple[Path, str]]) -> None:
        self.modules: dict[str, PythonFile] = {}
        for top, glob in tops:
            for file in sorted(top.glob(glob)):
                name = ".".join(file.relative_to(top).with_suffix("").parts).removesuffix(".__init__")
                text = file.read_text(encoding="utf-8")
                self.modules[name] = PythonFile(file, name, text, list(ast.walk(ast.parse(text))))
        self.names = {name: list(self.named(read)) for name, read in self.modules.items()}

    def named(self, read: PythonFile) -> Iterator[tuple[str, str, str, int]]:
        """Give what a file imports: a module, a name in it or nothing, the name here, the line."""
        for node in read.nodes:
            if isinstance(node, ast.Import):
                yield from ((alias.name, "", alias.asname or alias.name, node.lineno) for alias in node.names)
            elif isinstance(node, ast.Constant) and "import_module(" in read.text and str(node.value) in self.modules:
                if "." in node.value:  # a text that the file may give to import_module
                    yield node.value, "", node.value, node.lineno
            elif isinstance(node, ast.ImportFrom):
                start = read.package[: len(read.package) - node.level + 1] if node.level else []
                module = ".".join([*start, *([node.module] if node.module else [])])
                yield from ((module, alias.name, alias.asname or alias.name, node.lineno) for alias in node.names)

    def defining(self, module: str, name: str, seen: frozenset[tuple[str, str]] = frozenset()) -> PythonFile | None:
        """Follow a name through packages that re-export it to the file that defines it."""
        inner = self.modules.get(f"{module}.{name}" if name else module)
        read = self.modules.get(module)
        if inner is not None or read is None or (module, name) in seen:
            return inner
        if read.file.with_name(f"{name}.pyi").exists():  # an extension module
            return None
        window = self.names[module] if read.file.name == "__init__.py" else ()
        found = (self.defining(one[0], one[1], seen | {(module, name)}) for one in window if one[2] == name)
        return next(filter(None, found), read)

    def imports(self, loaded: bool = False) -> Iterator[Import]:
        """Give every import; of a package's window onto its own files only if it is ``loaded`` that is asked for."""
        for read in self.modules.values():
            own = read.file.name == "__init__.py" and not loaded
            text = [node.id for node in read.nodes if isinstance(node, ast.Name)] if own else []
            for module, name, here, line in self.names[read.module]:
                target = self.defining(module, name)
                if target is None or target.file == read.file:
                    continue
                if not (own and target.module.startswith(f"{read.module}.") and here not in text):
                    yield Import(read.file, target.file, line, f"{module}.{name}".rstrip("."))

    def functions(self) -> Iterator[Function]:
        """Measure every function."""
        for read in self.modules.values():
            for node in read.nodes:
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                    end = node.end_lineno or node.lineno
                    yield Function(read.file, node.name, node.lineno, end - node.lineno + 1)


def python_units(python: Python, folders: Iterable[Path]) -> Iterator[Unit]:
    """Part the Python files by the folders that packages lie in."""
    imports, functions = list(python.imports()), list(python.functions())
    for folder in folders:
        files = {read.file: lines(read.file) for read in python.modules.values() if read.file.is_relative_to(folder)}
        unit = Unit(folder.name if folder.parent == ROOT else str(folder), folder, files)
        unit.imports = [i for i in imports if i.source in files and i.target in files]
        unit.functions = [function for function in functions if function.file in files]
        yield unit


# ---- what must hold -----------------------------------------------------------------------------------------------


def circles(imports: Iterable[Import]) -> list[list[Path]]:
    """Find the sets of files that reach each other through imports (Tarjan's algorithm, without recursion)."""
    arrows: dict[Path, set[Path]] = defaultdict(set)
    for one in imports:
        arrows[one.source].add(one.target)
    index: dict[Path, int] = {}
    low: dict[Path, int] = {}
    stack: list[Path] = []
    found = []
    for start in sorted(arrows):
        work = [(start, iter(sorted(arrows[start])))] if start not in index else []
        if work:
            index[start] = low[start] = len(index)
            stack.append(start)
        while work:
            file, inner = work[-1]
            following = next(inner, None)
            if following is not None and following not in index:
                index[following] = low[following] = len(index)
                stack.append(following)
                work.append((following, iter(sorted(arrows.get(following, ())))))
            elif following is not None:
                low[file] = min(low[file], index[following]) if following in stack else low[file]
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[file])
                if low[file] == index[file]:
                    circle = stack[stack.index(file) :]
                    del stack[stack.index(file) :]
                    found += [sorted(circle)] if len(circle) > 1 else []
    return found


@dataclass(frozen=True)
class Fault:
    """Something that must not be: ``key`` names it in the list of what is known, ``told`` says where and why."""

    key: str
    told: str


class House:
    """Everything that the table names, read once."""

    def __init__(self, root: Path = ROOT) -> None:
        self.root = root
        self.table = tomllib.loads((root / TABLE).read_text(encoding="utf-8"))
        self.limits = self.table["limits"]
        crates = [rust_unit(root / "crates" / name) for name in self.table["crates"]["order"]]
        self.python = Python((root / at, glob) for at, glob in self.table["python"]["files"])
        packages = [root / name for name in self.table["python"]["packages"]]
        self.units = [*(unit for unit, _ in crates), *python_units(self.python, packages)]
        self.reached = {file for _, files in crates for file in files}
        self.sizes = {file: lines(file) for file in self.reached | {r.file for r in self.python.modules.values()}}

    def short(self, file: Path) -> str:
        """Name a file from the root."""
        return file.relative_to(self.root).as_posix()

    def faults(self) -> Iterator[Fault]:
        """Give everything that must not be."""
        for unit in self.units:
            yield from self.upward(unit)
            yield from self.circling(unit)
        yield from self.crates()
        yield from self.long()
        yield from self.flat()
        yield from self.dead()
        yield from self.controllers()
        yield from self.core()

    def order(self, unit: Unit) -> Sequence[str]:
        """Give the floors of a unit, the lowest first; none where the table has none."""
        name = self.short(unit.folder).removeprefix("crates/").removesuffix("/src")
        return list(self.table["floors"].get(name, []))

    def upward(self, unit: Unit) -> Iterator[Fault]:
        """Find imports of a room by a lower one, and rooms that the table does not have."""
        order = self.order(unit)
        if not order:
            return
        rooms = {unit.room(file) for file in unit.files} - {"lib", "__init__", "__main__"}
        for room in sorted(rooms - set(order)):
            yield Fault(f"room {self.short(unit.folder)}/{room}", f"the floors in {TABLE} do not have it")
        floor = {room: i for i, room in enumerate(order)} | dict.fromkeys(("lib", "__init__", "__main__"), len(order))
        for one in {(i.source, i.target): i for i in reversed(unit.imports)}.values():
            low, high = unit.room(one.source), unit.room(one.target)
            if floor.get(low, len(order)) < floor.get(high, -1):
                key = f"upward {self.short(one.source)} {self.short(one.target)}"
                yield Fault(key, f"{self.where(one)}: {low} lies below {high}")

    def where(self, one: Import) -> str:
        """Say where an import stands."""
        return f"{self.short(one.source)}:{one.line} names {one.name}"

    def circling(self, unit: Unit) -> Iterator[Fault]:
        """Find files that import each other in a circle."""
        for circle in circles(unit.imports):
            inside = {(i.source, i.target): i for i in reversed(unit.imports) if {i.source, i.target} <= set(circle)}
            told = [f"{self.where(i)} of {self.short(i.target)}" for i in reversed(inside.values())]
            yield Fault("circle " + " ".join(self.short(file) for file in circle), "\n    ".join(["", *told]))

    def crates(self) -> Iterator[Fault]:
        """Find dependencies of a crate on a later one."""
        order = self.table["crates"]["order"]
        for i, name in enumerate(order):
            manifest = tomllib.loads((self.root / "crates" / name / "Cargo.toml").read_text(encoding="utf-8"))
            for later in order[i + 1 :]:
                if f"incast-{later}" in manifest.get("dependencies", {}):
                    yield Fault(f"upward crates/{name} crates/{later}", "the order of crates is in " + TABLE)

    def long(self) -> Iterator[Fault]:
        """Find functions and files with too many lines."""
        functions = [function for unit in self.units for function in unit.functions]
        for function in dict.fromkeys([*functions, *self.python.functions()]):
            if function.lines > self.limits.get(f"function{function.file.suffix}", self.limits["function"]):
                key = f"function {self.short(function.file)} {function.name}"
                yield Fault(key, f"{function.lines} lines from line {function.line} on")
        for file, count in sorted(self.sizes.items()):
            if count > self.limits["file"]:
                yield Fault(f"file {self.short(file)}", f"{count} lines")

    def flat(self) -> Iterator[Fault]:
        """Find packages with too many modules beside their rooms, or too many of their imports inside functions."""
        for unit in self.units:
            inside = {(f.file, f.line + i) for f in unit.functions for i in range(f.lines)}
            late = sum((one.source, one.line) in inside for one in unit.imports)
            for what, count in (("root", sum(f.parent == unit.folder for f in unit.files)), ("late", late)):
                if count > (most := self.table.get(what, {}).get(self.short(unit.folder), count)):
                    yield Fault(f"{what} {self.short(unit.folder)}", f"{count}: at most {most}")

    def dead(self) -> Iterator[Fault]:
        """Find Rust files that no module declares and Python files that nobody imports or runs."""
        for file in sorted(self.root.glob("crates/*/**/*.rs")):
            if file not in self.reached:
                yield Fault(f"dead {self.short(file)}", "no module declares it")
        said = "".join((self.root / name).read_text(encoding="utf-8") for name in self.table["python"]["run_by"])
        arrows = defaultdict(set)
        for one in self.python.imports(loaded=True):
            arrows[one.source].add(one.target)
        todo = [read.file for read in self.python.modules.values() if self.is_run(read, said)]
        live: set[Path] = set()
        while todo:
            file = todo.pop()
            if file not in live:
                live.add(file)
                todo += [*arrows[file], *(init for init in [file.parent / "__init__.py"] if init in self.sizes)]
        for read in self.python.modules.values():
            if read.file not in live:
                yield Fault(f"dead {self.short(read.file)}", "nobody imports or runs it")

    def is_run(self, read: PythonFile, said: str) -> bool:
        """Tell whether a Python file is a test, or is run by a command that the files of the project name."""
        tests = read.file.name in ("conftest.py", "__main__.py") or read.file.name.startswith("test_")
        name = re.escape(read.module)
        return tests or self.short(read.file) in said or re.search(rf'-m {name}\b|"{name}:', said) is not None

    def controllers(self) -> Iterator[Fault]:
        """Find controllers of the list without a test file or a page."""
        cc = self.root / "crates" / "cc"
        found = re.search(r"^controllers! \{(.*?)^\}", (cc / "src" / "lib.rs").read_text("utf-8"), re.M | re.S)
        for name in re.findall(r"(\w+)::\w+,", found[1] if found else ""):
            page = self.root / "docs" / "controllers" / f"{name.replace('_', '-')}.md"
            for file in (cc / "tests" / "all" / f"{name}.rs", page):
                if not file.exists() and not file.with_suffix("").is_dir():
                    yield Fault(f"controller {name} {self.short(file)}", "there is no such file")

    def core(self) -> Iterator[Fault]:
        """Add up the core of the engine."""
        files = self.core_files()
        if (count := sum(files.values())) > self.limits["core"]:
            yield Fault("core", f"{count} lines: " + " ".join(f"{self.short(file)} {n}" for file, n in files.items()))

    def core_files(self) -> dict[Path, int]:
        """Give the files of the engine's core, with their lines."""
        files = {f for glob in self.table["core"]["files"] for f in self.root.glob(f"crates/engine/src/{glob}")}
        return {file: lines(file) for file in sorted(files)}

    def report(self) -> Iterator[str]:
        """Say what was found about every unit, then every fault."""
        for unit in self.units:
            rooms = {(unit.room(i.source), unit.room(i.target)) for i in unit.imports}
            told = f"{len(unit.files)} files, {sum(unit.files.values())} lines, "
            told += f"{len({(i.source, i.target) for i in unit.imports})} arrows between files"
            yield f"{self.short(unit.folder)}: {told}, {sum(a != b for a, b in rooms)} between rooms"
        yield f"core of the engine: {sum(self.core_files().values())} lines"
        for fault in self.faults():
            yield f"{fault.key}: {fault.told}"

    def picture(self, name: str) -> Iterator[str]:
        """Draw the rooms of a unit and the imports between them, without those that others imply."""
        unit = next(unit for unit in self.units if name in (unit.folder.name, unit.folder.parent.name))
        arrows: dict[str, set[str]] = defaultdict(set)
        for one in unit.imports:
            if unit.room(one.source) not in ("lib", unit.room(one.target)):
                arrows[unit.room(one.source)].add(unit.room(one.target))
        yield "graph BT"
        for room in sorted(arrows):
            for below in sorted(arrows[room]):
                if not any(below in reach(arrows, other) for other in arrows[room] - {below}):
                    yield f"  {room} --> {below}"


def reach(arrows: Mapping[str, set[str]], start: str) -> set[str]:
    """Give everything that arrows lead to from a start."""
    found, todo = set[str](), [start]
    while todo:
        todo += (new := arrows.get(todo.pop(), set()) - found)
        found |= new
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Check, report or draw; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--report", action="store_true", help="print what was found, and succeed")
    parser.add_argument("--picture", metavar="NAME", help="draw the rooms of a crate or package")
    parser.add_argument("--root", type=Path, default=ROOT, help="the clone to look at (default: this one)")
    options = parser.parse_args(arguments)
    house = House(options.root.resolve())
    if options.report or options.picture:
        print("\n".join(house.report() if options.report else house.picture(options.picture)))
        return 0
    faults = list(house.faults())
    known = {one["key"]: one["why"] for one in house.table.get("known", [])}
    new = [fault for fault in faults if fault.key not in known]
    gone = known.keys() - {fault.key for fault in faults}
    for fault in new:
        print(f"{fault.key}: {fault.told}")
    for key in sorted(gone):
        print(f"{TABLE}: known, but no longer so: {key}")
    print(f"layers: {len(house.sizes)} files, {len(new)} faults, {len(known)} known")
    return 1 if new or gone else 0


if __name__ == "__main__":
    sys.exit(main())
