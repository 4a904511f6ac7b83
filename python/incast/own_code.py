"""Where the code of a class lies that a scenario names: found by looking at files, without running any of it.

A class is named by a file, ``mine.py:Mine``, or by a module of an installed package, ``lab.mine:Mine``. Modules that
only lie in the working directory, and those of Python itself, are none: to import a module runs it, and a name in a
file that somebody sent is not to reach all that Python finds.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.machinery
import importlib.util
import json
import os
import re
import site
import sysconfig
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib.machinery import EXTENSION_SUFFIXES, PathFinder
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlparse

from incast import files, memory
from incast.errors import ScenarioError

if TYPE_CHECKING:
    from importlib.metadata import Distribution

IMPORTED = (".py", ".pyc", *EXTENSION_SUFFIXES)
"""Endings of the files that Python imports."""
MOST_CODE, MOST_MODULES = 16 << 20, 2000
"""Bytes and modules of a file or a package that is looked at: nobody has allowed it yet."""
_NAME = re.compile(r"\s*([^:]+\.py|[^\W\d]\w*(?:\.[^\W\d]\w*)*)\s*:\s*([^\W\d]\w*)\s*(?::.*)?", re.DOTALL)


@dataclass(frozen=True)
class Code:
    """The code of a class, as it would be imported."""

    place: str
    """File or module, as it is written."""
    file: Path | None
    """File of the module; ``None`` where it has none."""
    package: Path | None
    """Topmost folder of the package that the file is a part of; ``None`` for a file by itself."""
    digest: str
    """Tells this code from other code: of the file, of all modules of its package, or the name of an installed one."""
    modules: Mapping[Path, str] = field(default_factory=dict, compare=False)
    """SHA-256 of each file of which it consists; none of an installed one."""

    @property
    def is_installed(self) -> bool:
        """Whether it is a module of an installed package."""
        return not self.place.endswith(".py")


def split(name: str) -> tuple[str, str] | None:
    """Read a text as place and class, ``mine.py:Mine:gain=2``; ``None`` where it is no name of a class."""
    found = _NAME.fullmatch(name)
    return None if found is None else (found[1].strip(), found[2])


def locate(place: str, folders: tuple[Path, ...] = ()) -> Code:
    """Find the code of a file or a module; a relative file is looked for in ``folders`` first.

    Raises ``ScenarioError`` where there is none.
    """
    return _file(place, folders) if place.endswith(".py") else _module(place)


def _file(place: str, folders: tuple[Path, ...]) -> Code:
    path = Path(place)
    kept = [folder / path for folder in folders if not path.is_absolute() and (folder / path).is_file()]
    path = (kept[0] if kept else path).resolve()
    if not path.is_file():
        raise ScenarioError(f"no file {path}")
    data = read(path)
    package = _package_of(data, path)
    if package is not None:
        return Code(place, path, package, *_tree(package))
    digest = hashlib.sha256(data).hexdigest()
    return Code(place, path, None, digest, {path: digest})


def read(path: Path, most: int = MOST_CODE) -> bytes:
    """Read a file of code; raises ``ScenarioError`` where it is no plain file, or is too large."""
    try:
        return files.read_bytes(path, most)
    except (OSError, ValueError) as error:
        raise ScenarioError(f"{path} cannot be read: {files.told(error)}") from None


def _package_of(data: bytes, path: Path) -> Path | None:
    """Give the topmost folder of the package from which a module imports others, by dots or by the package's name.

    ``None`` for a module that stands by itself, be it in the folder of a package.
    """
    try:
        tree = ast.parse(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # the import says what is wrong
        return None
    dots, names = 0, set()
    for node in ast.walk(tree):
        match node:
            case ast.ImportFrom(level=level) if level > 0:
                dots = max(dots, level)
            case ast.ImportFrom(module=module) if module:
                names.add(module.partition(".")[0])
            case ast.Import(names=aliases):
                names |= {one.name.partition(".")[0] for one in aliases}
    top = path.parents[min(max(dots, 1), len(path.parents)) - 1]
    while (top.parent / "__init__.py").is_file() and top != top.parent:
        top = top.parent
    is_named = top.name in names and (top / "__init__.py").is_file()
    return top if dots or is_named else None


def files_of(package: Path) -> Iterator[Path]:
    """Give every file in a package's folder that is a part of it, in order.

    Neither what Python makes, nor what is hidden, nor the results that lie in a folder of work.
    """
    for place, folders, names in os.walk(package):
        inner = (one for one in sorted(folders) if one != "__pycache__" and not one.startswith("."))
        folders[:] = [one for one in inner if not os.path.lexists(Path(place) / one / files.STORE_FILE)]
        yield from (Path(place) / name for name in sorted(names) if not name.startswith("."))


def modules_of(package: Path) -> Iterator[Path]:
    """Give every file of a package that Python might import, in order."""
    return (path for path in files_of(package) if path.name.endswith(IMPORTED))


def _tree(package: Path) -> tuple[str, Mapping[Path, str]]:
    """Give the digest of a package, and of each of its modules."""
    found: list[tuple[Path, int, int]] = []
    size = 0
    try:
        for path in modules_of(package):
            told = path.stat()
            size += told.st_size
            if size > MOST_CODE or len(found) == MOST_MODULES:
                raise ScenarioError(
                    f"the package {package} has more than {memory.spoken(MOST_CODE)} of code or {MOST_MODULES:,} "
                    "modules: put the class into a smaller package, or a file of its own"
                )
            found.append((path, told.st_mtime_ns, told.st_size))
        return _tree_of(package, tuple(found))
    except OSError as error:
        raise ScenarioError(f"{error.filename or package} cannot be read: {error.strerror}") from None


@lru_cache(maxsize=16)
def _tree_of(package: Path, modules: tuple[tuple[Path, int, int], ...]) -> tuple[str, Mapping[Path, str]]:
    """Do so; modules with the times of their last change and their sizes, since runs ask for it again.

    A file that has others by then is refused when it is imported: it has another digest.
    """
    digest = hashlib.sha256(package.name.encode())
    found: dict[Path, str] = {}
    left = MOST_CODE
    for path, _, _ in modules:
        data = read(path, left)
        left -= len(data)
        found[path] = hashlib.sha256(data).hexdigest()
        digest.update(f"\0{path.relative_to(package).as_posix()}\0{found[path]}".encode())
    return digest.hexdigest(), MappingProxyType(found)


def _module(place: str) -> Code:
    """Find a module of an installed package; its parents are not imported for that."""
    top, *inner = place.split(".")
    try:
        spec = importlib.util.find_spec(top)
    except (ImportError, ValueError):  # a module that was made by hand
        spec = None
    home = None if spec is None else _place_of(spec)
    if spec is None or home is None or not _is_installed(top, home):
        what = f"no module {top} of an installed package"
        hint = f"{'/'.join([top, *inner])}.py"
        raise ScenarioError(f"{what}; expected a file such as {hint}, or a module of a package that pip has installed")
    for count in range(len(inner)):
        name = ".".join([top, *inner[: count + 1]])
        spec = PathFinder.find_spec(name, spec.submodule_search_locations) if spec.submodule_search_locations else None
        if spec is None:
            raise ScenarioError(f"no module {name}; expected one of the package {top} in {home.parent}")
    file = _place_of(spec)
    package = home.parent if home.name == "__init__.py" else home if home.is_dir() else None
    return Code(place, None if file is None or file.is_dir() else file, package, f"module {place}")


def _place_of(spec: importlib.machinery.ModuleSpec) -> Path | None:
    """Give the file of a module, or the folder of a package without one."""
    if spec.has_location and spec.origin is not None:
        return Path(spec.origin).resolve()
    folders = list(spec.submodule_search_locations or ())
    return Path(folders[0]).resolve() if folders else None


@cache
def _homes() -> tuple[Path, ...]:
    """Give the folders into which packages are installed."""
    paths = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib"), *site.getsitepackages()}
    if site.ENABLE_USER_SITE:
        paths.add(site.getusersitepackages())
    return tuple(sorted(Path(path).resolve() for path in paths if Path(path).is_dir()))


_installed: set[tuple[str, Path]] = set()
"""Modules that were found to be installed, with their places: to find out takes a while, and runs ask again."""


def _is_installed(top: str, place: Path) -> bool:
    """Whether a module that was found at a place is one that an installed distribution brought."""
    if (top, place) in _installed:
        return True
    from importlib.metadata import distributions, packages_distributions  # takes a while

    homes = _homes()
    provided = top in packages_distributions()
    if provided and any(home in place.parents for home in homes):
        _installed.add((top, place))
        return True
    # installed for editing: the distribution lies with the others, and says where the code is
    for distribution in distributions(path=[str(home) for home in homes]):
        folder = _edited(distribution)
        if folder is not None and folder in place.parents:
            listed = (distribution.read_text("top_level.txt") or "").split()
            name = re.sub(r"[-.]+", "_", distribution.metadata["Name"]).lower()
            if top in listed or top.lower() == name:
                _installed.add((top, place))
                return True
    return False


def _edited(distribution: Distribution) -> Path | None:
    """Give the folder of a distribution that was installed for editing; ``None`` of others."""
    try:
        told = json.loads(distribution.read_text("direct_url.json") or "{}")
        url = urlparse(told["url"]) if told.get("dir_info", {}).get("editable") else None
    except (ValueError, KeyError, AttributeError):
        return None
    return Path(unquote(url.path)).resolve() if url is not None and url.scheme == "file" else None
