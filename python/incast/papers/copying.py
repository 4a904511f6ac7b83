"""Editable copies of papers: self-contained folders that run from anywhere."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

from incast.errors import PaperError, ScenarioError
from incast.external import own_code
from incast.papers import reading
from incast.papers.definition import PAPER_FILE, Figure, Paper, is_inside
from incast.runs.named_files import kinds_in
from incast.runs.scenario import Scenario
from incast.system import files
from incast.system.folders import new_folder, refuse_unless_empty, write_through

IN_THE_WAY = "exists and is not empty: expected a new folder for the copy, or an empty one (nothing is overwritten)"
WIDTH = 120
"""Most characters of a line in the copy."""
_PLAIN = re.compile(r"[A-Za-z0-9_-]+")


@dataclass(frozen=True)
class Copied:
    """A copy, and its files."""

    paper: Paper
    files: Sequence[str]
    scenarios: Sequence[str]
    """Scenario files among them."""
    classes: Sequence[str]
    """Files of classes that are not copied: their names are relative to the working directory."""


def copy(paper: Paper, figure: Figure | None, folder: Path, version: str) -> Copied:
    """Copy a paper, or a figure of it, into a new folder; raises ``FolderError`` and ``PaperError``."""
    refuse_unless_empty(folder, IN_THE_WAY)
    if folder.resolve() == Path.cwd():
        return _copy_here(paper, figure, folder, version)
    called = f"{paper.name}/{figure.name}" if figure else paper.name
    head = f"# Copied from {called} of Incast {version}; `incast paper run` with this folder runs it.\n"
    data = files.read_toml(paper.path)
    figures = [figure] if figure else list(paper.figures.values())
    names = dict.fromkeys(_inside(paper, name) for name in _named(paper, figures))
    with new_folder(folder) as aside:
        if figure is None:
            text = re.sub(r"(?m)^aliases = \[[^\]]*\]\n", "", files.read_text(paper.path))
        else:
            try:
                text = of_figure(data, figure.name)
            except PaperError as error:
                raise PaperError(f"{paper.path}: figures.{figure.name}: {error}") from None
        write_through(aside / PAPER_FILE, head + text)
        for name in names:
            (aside / name).parent.mkdir(parents=True, exist_ok=True)
            write_through(aside / name, _read(paper, name))
        # check that the copy can be read
        copied = replace(reading.load(aside), folder=folder)
    own = {name for one in figures for name in scenarios_of(one)}
    classes = dict.fromkeys(place for one in figures for place in _classes(paper, one, data["figures"]))
    return Copied(copied, [PAPER_FILE, *names], [name for name in names if name in own], list(classes))


def _copy_here(paper: Paper, figure: Figure | None, folder: Path, version: str) -> Copied:
    """Copy into the working directory, in place: a rename would take the directory away from its shell."""
    aside = folder / f".{PAPER_FILE}.partial"
    made = copy(paper, figure, aside, version)
    for path in sorted(aside.iterdir()):
        path.rename(folder / path.name)
    aside.rmdir()
    return replace(made, paper=replace(made.paper, folder=folder))


def _classes(paper: Paper, figure: Figure, data: Mapping[str, Any]) -> Iterator[str]:
    """Yield the files of classes that a figure's scenarios and settings name."""
    kinds = [kind for name in scenarios_of(figure) for kind in kinds_in(Scenario.load(paper.folder / name).toml())]
    kinds += [value for pairs in _sets(_whole(data, figure.name)) for value in pairs.values() if isinstance(value, str)]
    for kind in kinds:
        if (found := own_code.split(kind)) is not None and found[0].endswith(".py"):
            yield found[0]


def scenarios_of(figure: Figure) -> list[str]:
    """Return the scenario files of a figure's runs, at all scales."""
    listed = [figure.points, *(changed["points"] for changed in figure.scales.values() if "points" in changed)]
    own = [point.scenario for points in listed for point in points]
    return [name for name in dict.fromkeys([figure.scenario, *own]) if name]


def _named(paper: Paper, figures: Sequence[Figure]) -> Iterator[str]:
    """Yield the files of the paper's folder that some figures need."""
    data = files.read_toml(paper.path)["figures"]
    for figure in figures:
        table = _whole(data, figure.name)
        if isinstance(table.get("published"), str):
            yield table["published"]
        for name in scenarios_of(figure):
            yield name
            yield from _files_of(paper, name)
        sets = [*_sets(table)]
        for value in (value for pairs in sets for key, value in pairs.items() if key.endswith((".file", ".sizes"))):
            if isinstance(value, str) and not value.startswith("builtin:"):
                yield value


def _files_of(paper: Paper, name: str) -> Iterator[str]:
    """Yield the files that a scenario of the paper names, relative to the paper's folder."""
    try:
        scenario = Scenario.load(paper.folder / name)
    except ScenarioError as error:
        error.add_note(f"of {paper.path}")
        raise
    within = PurePosixPath(name).parent
    for one, _ in scenario.files():
        yield (within / one).as_posix()


def _inside(paper: Paper, name: str) -> str:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts:
        raise PaperError(f"{paper.path}: {name} is outside of the paper's folder; expected a file inside, to copy it")
    if not (paper.folder / path).is_file():
        raise PaperError(f"{paper.path}: {name}: no such file in the paper's folder")
    if not is_inside(paper.folder, name):
        raise PaperError(f"{paper.path}: {name} is a link, or behind one; expected a file in the paper's folder")
    return path.as_posix()


def _read(paper: Paper, name: str) -> bytes:
    try:
        return files.read_bytes(paper.folder / name)
    except (OSError, ValueError) as error:
        raise PaperError(f"{paper.folder / name} cannot be read: {files.message_of(error)}") from None


def _sets(table: Any) -> Iterator[Mapping[str, Any]]:
    """Yield all tables of settings of a figure."""
    if isinstance(table, Mapping):
        for key, value in table.items():
            if key in ("set", "settings") and isinstance(value, Mapping):
                yield dict(_flat(value))
            else:
                yield from _sets(value)
    elif isinstance(table, list):
        for one in table:
            yield from _sets(one)


def _flat(table: Mapping[str, Any], place: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{place}{key}.")
        else:
            yield f"{place}{key}", value


def _whole(figures: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return a figure's table with the keys that it inherits by ``like``."""
    table = dict(figures[name])
    other = table.pop("like", None)
    return table if other is None else reading.over(table, _whole(figures, other))


def of_figure(data: Mapping[str, Any], name: str) -> str:
    """Write the paper's file with one figure, inherited keys included."""
    figure = _whole(data["figures"], name)
    top = {key: value for key, value in data.items() if key not in ("figures", "aliases")}
    lines = [f"{_key(key)} = {_value(value)}" for key, value in top.items()]
    lines += ["", *_table(f"figures.{_key(name)}", figure)]
    text = "\n".join(lines) + "\n"
    if tomllib.loads(text) != {**top, "figures": {name: figure}}:
        raise AssertionError("a copy equals the original")
    return text


def _table(place: str, table: Mapping[str, Any]) -> Iterator[str]:
    """Yield a table: plain keys first, then nested tables, and lists of large tables one by one."""
    own = {key: value for key, value in table.items() if not _is_large(value)}
    if own or not table:
        yield f"[{place}]"
        for key, value in own.items():
            yield f"{_key(key)} = {_value(value)}"
        yield ""
    for key, value in table.items():
        inner = f"{place}.{_key(key)}"
        if key in own:
            continue
        if isinstance(value, Mapping):
            yield from _table(inner, value)
            continue
        for one in value:
            yield f"[[{inner}]]"
            for name, each in one.items():
                yield from _entry(_key(name), each)
            yield ""


def _entry(key: str, value: Any) -> Iterator[str]:
    """Yield the lines of a key; a long table key by key."""
    if isinstance(value, Mapping) and len(_inline(value)) > WIDTH - 20:
        yield from (f"{key}.{_key(name)} = {_value(one)}" for name, one in value.items())
    else:
        yield f"{key} = {_value(value)}"


def _is_large(value: Any) -> bool:
    """Return whether a value gets its own heading."""
    if isinstance(value, Mapping):
        return len(_inline(value)) > WIDTH - 20
    tables = isinstance(value, list) and bool(value) and all(isinstance(one, Mapping) for one in value)
    return tables and any(len(_inline(one)) > WIDTH - 10 for one in value)


def _key(key: str) -> str:
    return key if _PLAIN.fullmatch(key) else _text(key)


def _text(text: str) -> str:
    escaped = "".join(_ESCAPES.get(one, one if one.isprintable() else _number(one)) for one in text)
    return f'"{escaped}"'


def _number(letter: str) -> str:
    code = ord(letter)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def _value(value: Any) -> str:
    """Write a value; long texts over several lines, and long lists with one entry per line."""
    if isinstance(value, str) and ("\n" in value or len(_text(value)) > WIDTH - 20):
        return _long(value)
    text = _inline(value)
    if isinstance(value, list) and value and len(text) > WIDTH - 20:
        return "[\n" + "".join(f"    {_value(one) if isinstance(one, str) else _inline(one)},\n" for one in value) + "]"
    return text


def _long(text: str) -> str:
    """Write a long text over several lines if it reads back unchanged."""
    if any(not one.isprintable() and one != "\n" for one in text):
        return _text(text)
    written = _over_lines(text)
    return written if tomllib.loads(f"it = {written}")["it"] == text else _text(text)


def _over_lines(text: str) -> str:
    """Write a text over its own lines, or broken at blanks by backslashes."""
    safe = text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    if safe.endswith('"'):
        safe = f'{safe[:-1]}\\"'
    if "\n" not in text:
        lines = [""]
        for word in re.findall(r"\S+\s*|\s+", safe):
            if lines[-1] and len(lines[-1]) + len(word) > WIDTH - 2:
                lines.append("")
            lines[-1] += word
        safe = "\\\n".join(lines)
        return f'"""\\\n{safe}"""'
    return f'"""\n{safe}"""'


def _inline(value: Any) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return _text(value)
        case int() | float():
            if math.isnan(value):
                raise PaperError("nan: expected a number to write into a copy")
            return repr(value)
        case Mapping():
            return (
                f"{{ {', '.join(f'{_key(key)} = {_inline(one)}' for key, one in value.items())} }}" if value else "{}"
            )
        case list():
            return f"[{', '.join(_inline(one) for one in value)}]"
    raise PaperError(f"{value!r}: expected a text, a number, true or false, a list or a table")
