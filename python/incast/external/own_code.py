"""Location of the code of a class that a scenario names, found without running any of it.

A class is named by a file, ``mine.py:Mine``, or by a module of an installed package, ``lab.mine:Mine``. Modules in the
working directory and modules of Python itself are excluded: an import runs a module, and a name in a file from somebody
else must not reach everything that Python finds.
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

from incast.errors import ScenarioError
from incast.system import files, memory

if TYPE_CHECKING:
    from importlib.metadata import Distribution

IMPORTED = (".py", ".pyc", *EXTENSION_SUFFIXES)
"""Extensions of the files that Python imports."""
MOST_CODE, MOST_MODULES = 16 << 20, 2000
"""Most bytes and modules of code that is read before the user has allowed it."""
_NAME = re.compile(r"\s*([^:]+\.py|[^\W\d]\w*(?:\.[^\W\d]\w*)*)\s*:\s*([^\W\d]\w*)\s*(?::.*)?", re.DOTALL)


@dataclass(frozen=True)
class Code:
    """Code of a class that an import would load."""

    place: str
    """File or module, as written."""
    file: Path | None
    """File of the module, if any."""
    package: Path | None
    """Topmost folder of the file's package; ``None`` for a single file."""
    digest: str
    """Identity of the code: digest of the file or of all modules of its package, or name of an installed package."""
    modules: Mapping[Path, str] = field(default_factory=dict, compare=False)
    """SHA-256 of each file of the code; empty for an installed package."""

    @property
    def is_installed(self) -> bool:
        """True for a module of an installed package."""
        return not self.place.endswith(".py")


def split(name: str) -> tuple[str, str] | None:
    """Read a text as place and class, ``mine.py:Mine:gain=2``; ``None`` for other texts."""
    found = _NAME.fullmatch(name)
    return None if found is None else (found[1].strip(), found[2])


def locate(place: str, folders: tuple[Path, ...] = ()) -> Code:
    """Find the code of a file or a module; a relative file is looked up in ``folders`` first.

    Raises ``ScenarioError`` if nothing is found.
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
    """Read a file of code; raises ``ScenarioError`` if it is not a plain file or too large."""
    try:
        return files.read_bytes(path, most)
    except (OSError, ValueError) as error:
        raise ScenarioError(f"{path} cannot be read: {files.message_of(error)}") from None


def _package_of(data: bytes, path: Path) -> Path | None:
    """Return the topmost folder of the package from which a module imports, relatively or by the package's name.

    ``None`` for a module without such imports, even in the folder of a package.
    """
    try:
        tree = ast.parse(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # the import will report it
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
    """Yield every file that belongs to a package, in order.

    Excludes files made by Python, hidden files, and results in a working folder.
    """
    for place, folders, names in os.walk(package):
        inner = (one for one in sorted(folders) if one != "__pycache__" and not one.startswith("."))
        folders[:] = [one for one in inner if not os.path.lexists(Path(place) / one / files.STORE_FILE)]
        yield from (Path(place) / name for name in sorted(names) if not name.startswith("."))


def modules_of(package: Path) -> Iterator[Path]:
    """Yield every file of a package that Python might import, in order."""
    return (path for path in files_of(package) if path.name.endswith(IMPORTED))


def _tree(package: Path) -> tuple[str, Mapping[Path, str]]:
    """Return the digests of a package and of each of its modules."""
    found: list[tuple[Path, int, int]] = []
    size = 0
    try:
        for path in modules_of(package):
            status = path.stat()
            size += status.st_size
            if size > MOST_CODE or len(found) == MOST_MODULES:
                raise ScenarioError(
                    f"the package {package} has more than {memory.spoken(MOST_CODE)} of code or {MOST_MODULES:,} "
                    "modules: put the class into a smaller package, or a file of its own"
                )
            found.append((path, status.st_mtime_ns, status.st_size))
        return _tree_of(package, tuple(found))
    except OSError as error:
        raise ScenarioError(f"{error.filename or package} cannot be read: {error.strerror}") from None


@lru_cache(maxsize=16)
def _tree_of(package: Path, modules: tuple[tuple[Path, int, int], ...]) -> tuple[str, Mapping[Path, str]]:
    """Return the digests; cached by modules with modification times and sizes, since every run asks again.

    A file that changes without these changing is refused at the import: its digest differs.
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
    """Find a module of an installed package without importing its parents."""
    top, *inner = place.split(".")
    try:
        spec = importlib.util.find_spec(top)
    except (ImportError, ValueError):  # a hand-made module
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
    """Return the file of a module, or the folder of a package without one."""
    if spec.has_location and spec.origin is not None:
        return Path(spec.origin).resolve()
    folders = list(spec.submodule_search_locations or ())
    return Path(folders[0]).resolve() if folders else None


@cache
def _homes() -> tuple[Path, ...]:
    """Return the folders of installed packages."""
    paths = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib"), *site.getsitepackages()}
    if site.ENABLE_USER_SITE:
        paths.add(site.getusersitepackages())
    return tuple(sorted(Path(path).resolve() for path in paths if Path(path).is_dir()))


_installed: set[tuple[str, Path]] = set()
"""Cache of installed modules with their places: the check is slow, and every run asks again."""


def _is_installed(top: str, place: Path) -> bool:
    """Return whether a module at a place belongs to an installed distribution."""
    if (top, place) in _installed:
        return True
    from importlib.metadata import distributions, packages_distributions  # slow

    homes = _homes()
    provided = top in packages_distributions()
    if provided and any(home in place.parents for home in homes):
        _installed.add((top, place))
        return True
    # editable install: the distribution is among the others and names the folder of the code
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
    """Return the folder of an editable install; ``None`` for other distributions."""
    try:
        origin = json.loads(distribution.read_text("direct_url.json") or "{}")
        url = urlparse(origin["url"]) if origin.get("dir_info", {}).get("editable") else None
    except (ValueError, KeyError, AttributeError):
        return None
    return Path(unquote(url.path)).resolve() if url is not None and url.scheme == "file" else None
