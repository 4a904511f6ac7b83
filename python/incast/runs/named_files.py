"""Copies of the files that a scenario names: with them the scenario of a run folder runs anywhere.

A copy keeps its name in the scenario, relative to the run folder. A name outside of the scenario's folder, or a name of
a run's own file, is replaced by one derived from the content. Files of classes are copied but not run:
``incast.external.consent`` permits that.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from incast import _core, controllers
from incast.errors import FolderError, ScenarioError
from incast.external import own_code
from incast.runs import run_folder
from incast.system import files

FILES = "files"
"""Folder of copies named by their content."""
PACKAGE_BYTES, PACKAGE_FILES = 16 * 10**6, 2000
"""Most bytes and files of a controller's package that is copied, always as a whole."""


class LargeError(ValueError):
    """A package is too large to copy."""


@dataclass(frozen=True)
class Copies:
    """A scenario, and the files that it names, by name."""

    toml: str
    files: Mapping[str, bytes] = field(default_factory=dict)


def kinds_in(toml: str) -> list[str]:
    """Return the names of the controllers in a resolved scenario, each once, in order."""
    tables = re.findall(r"(?m)^\[(?:(?:traffic|job)\.)?controller\]\n((?:(?!\[).*\n?)*)", toml)
    found = [re.search(r'(?m)^kind = "(.*)"$', table) for table in tables]
    return list(dict.fromkeys(one[1] for one in found if one))


def of(scenario: _core.Scenario) -> Copies:
    """Read the files of a scenario; unreadable files are skipped, since running the scenario reports them."""
    found: dict[str, bytes] = {}
    names: dict[str, str] = {}
    for name, path in scenario.files():
        try:
            data = files.read_bytes(Path(path))
        except (OSError, ValueError):
            continue
        own = _own_name(name, data, found)
        found[own] = data
        if own != name:
            names[name] = own
    toml = scenario.toml(names)
    for kind in kinds_in(toml):
        if ":" in kind:
            toml = toml.replace(f'kind = "{kind}"', f'kind = "{_class_kept(kind, found)}"')
    return Copies(toml, found)


def _own_name(name: str, data: bytes, found: Mapping[str, bytes]) -> str:
    """Name a copy: as in the scenario if that is a place in the run folder and no file of the run's own.

    Another copy may have the place, since classes are relative to the working directory, files to the scenario's
    folder.
    """
    path = PurePosixPath(name)
    if _is_inside(path) and path.as_posix() != FILES and not _are_taken({path.as_posix(): data}, found):
        return path.as_posix()
    return f"{FILES}/{hashlib.sha256(together(name) or data).hexdigest()[:16]}/{path.name}"


def together(name: str) -> bytes | None:
    """Return what files have in common that stay in one folder: execution traces of a job and their groups."""
    path = PurePosixPath(name)
    stay = path.name == "comm_group.json" or re.fullmatch(r".*\.[0-9]+\.et", path.name)
    return str(path.parent).encode() if stay else None


def _are_taken(wanted: Mapping[str, bytes], found: Mapping[str, bytes]) -> bool:
    """Return whether wanted places collide with other copies, as files or as folders."""
    if any(found.get(name, data) != data for name, data in wanted.items()):
        return True
    return any(f"{folder}" in there for some, there in ((wanted, found), (found, wanted)) for folder in _folders(some))


def _folders(names: Iterable[str]) -> set[PurePosixPath]:
    return {folder for name in names for folder in PurePosixPath(name).parents}


def _is_inside(path: PurePosixPath) -> bool:
    own = path.parts[:1]
    is_within = bool(own) and not path.is_absolute() and ".." not in path.parts
    return is_within and own[0].casefold() not in run_folder.OWN


def _class_kept(kind: str, found: dict[str, bytes]) -> str:
    """Copy the code of a class, and return its name.

    A class of an installed or too large package, or without a file, is not copied and keeps its name.
    """
    named = own_code.split(kind)
    if named is None or controllers.registered(kind):
        return kind
    place, rest = named[0], kind.partition(":")[2]
    try:
        code = controllers.locate(place)
        if code.is_installed or code.file is None:
            return kind
        if code.package is None:
            data = own_code.read(code.file)
            own = _own_name(place, data, found)
            found[own] = data
            return f"{own}:{rest}"
        within = package_files(code.package)
    except (ScenarioError, OSError, ValueError):
        return kind
    inner = PurePosixPath(code.file.relative_to(code.package).as_posix())
    path = PurePosixPath(place)
    top = PurePosixPath(*path.parts[: -len(inner.parts)])
    is_own = _is_inside(path) and top.name == code.package.name
    if not is_own or _are_taken({f"{top}/{name}": data for name, data in within.items()}, found):
        top = PurePosixPath(FILES, code.digest[:16], code.package.name)
    found |= {f"{top}/{name}": data for name, data in within.items()}
    return f"{top}/{inner}:{rest}"


def package_files(top: Path) -> dict[str, bytes]:
    """Read the files of a package by name; raises ``LargeError``, ``OSError`` and ``ValueError``."""
    found: dict[str, bytes] = {}
    size = 0
    for path in own_code.files_of(top):
        size += path.stat().st_size
        if size > PACKAGE_BYTES or len(found) == PACKAGE_FILES:
            raise LargeError(f"more than {PACKAGE_BYTES // 10**6} MB or {PACKAGE_FILES:,} files")
        found[path.relative_to(top).as_posix()] = files.read_bytes(path, PACKAGE_BYTES)
    return found


def in_folder(folder: Path, manifest: Mapping[str, Any]) -> dict[str, bytes]:
    """Read the copies listed in a run folder's manifest; raises ``FolderError`` if one has changed."""
    listed = manifest.get("files", {})
    if not isinstance(listed, dict):
        raise FolderError(f"{folder}: manifest.json is damaged: files: expected a table of checksums")
    found = {}
    for name, digest in listed.items():
        path = folder / name
        if not _is_inside(PurePosixPath(name)):
            raise FolderError(f"{folder}: manifest.json is damaged: files: {name!r} is not a place in the folder")
        try:
            if any((folder / place).is_symlink() for place in [PurePosixPath(name), *PurePosixPath(name).parents][:-1]):
                raise ValueError("is a link, or lies behind one; expected a copy of a file")
            found[name] = files.read_bytes(path)
        except (OSError, ValueError) as error:
            raise FolderError(f"{path} cannot be read: {files.message_of(error)}") from None
        if hashlib.sha256(found[name]).hexdigest() != digest:
            raise FolderError(f"{path} is not the file that was run: its checksum differs")
    return found


def checksums(found: Mapping[str, bytes]) -> dict[str, str]:
    """Return the SHA-256 of files by name."""
    return {name: hashlib.sha256(data).hexdigest() for name, data in sorted(found.items())}
