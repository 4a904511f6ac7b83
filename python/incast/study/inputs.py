"""Copies of a study's input files in the store: scenarios, their files, and classes; a store is self-contained."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from incast import _core, controllers
from incast.batch.store import Store, read_copies
from incast.errors import FolderError, ScenarioError, StudyError
from incast.external import consent, own_code
from incast.runs.named_files import FILES, LargeError, kinds_in, package_files, together
from incast.runs.run_folder import engine_digest
from incast.runs.scenario import Scenario
from incast.study.axes import Axis, Value
from incast.study.definition import Definition, Kind
from incast.system import files
from incast.system.folders import write_through


def canonical(store: Store, study: Kind) -> Kind:
    """Return the study with classes and files of its keys replaced by copies in the store."""

    def at(key: str, value: Value) -> Value:
        last = key.rpartition(".")[2]
        if not isinstance(value, str):
            return value
        if last in ("controller", "kind"):
            return _controller_kept(store, value, study.origin)
        if last in ("file", "sizes") and not value.startswith("builtin:"):
            folder = study.folder_of(next(iter(study.bases)))
            if last == "sizes" and not (folder / value).exists() and value in dict(_core.list_kind("sizes")):
                return value  # a table that comes with the program
            return _file_kept(store, value, folder)
        return value

    def table(pairs: Mapping[str, Value]) -> dict[str, Value]:
        return {key: at(key, value) for key, value in pairs.items()}

    def axes(of: tuple[Axis, ...]) -> tuple[Axis, ...]:
        return tuple(Axis(axis.key, tuple(at(axis.key, value) for value in axis.values), axis.range) for axis in of)

    controllers.look_in(store.folder)
    arms = {name: replace(arm, settings=table(arm.settings), axes=axes(arm.axes)) for name, arm in study.arms.items()}
    return replace(study, settings=table(study.settings), axes=axes(study.axes), arms=arms)


def study_text(study: Definition) -> str:
    """Write the study's file for the store: scenarios are copies, built-in ones names."""
    return study.toml([name if text is None else f"scenarios/{name}.toml" for name, text in study.texts().items()])


def write_study(store: Store, folder: Path, study: Definition, text: str) -> None:
    """Write the study and copies of its scenarios into a temporary folder."""
    (folder / "scenarios").mkdir(parents=True)
    write_through(folder / "study.toml", text)
    for name, base in study.texts().items():
        if base is not None:
            kept_ = _text_kept(store, base, study.bases[name], study.folder_of(name))
            write_through(folder / "scenarios" / f"{name}.toml", kept_)


def is_there(store: Store, study: Definition, text: str) -> bool:
    """Return whether the store has the study with this text."""
    path = store.folder / "studies" / study.name / "study.toml"
    try:
        return files.read_text(path) == text
    except (FileNotFoundError, ValueError):  # a damaged text is written anew, from the study's own file
        return False
    except OSError as error:
        raise FolderError(f"cannot read {path}: {files.message_of(error)}") from None


def install_study(store: Store, folder: Path, name: str) -> None:
    """Replace the files of a study by new ones."""
    for inner, data in list(read_copies(folder)):
        store.put(f"studies/{name}/{inner}", data)


def kept(store: Store, scenario: Scenario, folder: Path) -> Scenario:
    """Return the scenario with its files and classes replaced by copies in the store."""
    names = {name: _file_kept(store, name, folder) for name, _ in scenario.files()}
    toml = scenario.toml()
    changed = scenario.toml(names) if names else toml
    for kind in kinds_in(toml):
        if ":" in kind:
            changed = changed.replace(f'kind = "{kind}"', f'kind = "{_controller_kept(store, kind, folder)}"')
    if changed == toml and not names:
        return scenario
    return Scenario.from_toml(changed, origin=store.folder, name=scenario.name)


def _text_kept(store: Store, text: str, scenario: Scenario, folder: Path) -> str:
    """Replace file names in a scenario's text by those of copies; the copied text is three folders below the store."""
    resolved = scenario.toml()
    for kind in kinds_in(resolved):
        if ":" in kind:
            text = text.replace(kind, _controller_kept(store, kind, folder))
    for name, _ in scenario.files():
        if (prefix := name.removesuffix(".0.et")) != name:  # execution traces go by what their names have in common
            kept_there = _file_kept(store, name, folder).removesuffix(".0.et")
            whole = re.compile(rf"""(\bworkload\s*=\s*)(["']){re.escape(prefix)}\2""")
            text = whole.sub(rf'\g<1>"../../../{kept_there}"', text)
        quoted = re.compile(rf"""(\b(?:file|sizes|workload)\s*=\s*)(["']){re.escape(name)}\2""")
        text = quoted.sub(rf'\g<1>"../../../{_file_kept(store, name, folder)}"', text)
    return text


def _controller_kept(store: Store, text: str, folder: Path) -> str:
    """Copy the file of a class into the store, and return the class's name there; other controllers are unchanged.

    For a module of a package the whole package is copied. A class typed in or passed as an object is unchanged too: it
    has no file, or may differ from the file.
    """
    found = own_code.split(text)
    if found is None or text.startswith(f"{FILES}/"):
        return text
    place, rest = found[0], text.partition(":")[2].strip()
    if controllers.registered(text) or place in controllers.built_in():
        return text
    beside = folder / place
    try:
        code = controllers.locate(str(beside.resolve()) if place.endswith(".py") and beside.is_file() else place)
    except ScenarioError:
        if place.endswith(".py"):  # raises with the file that cannot be read
            _file_kept(store, str(Path(place).resolve()), folder)
        return text  # the scenario reports it
    if code.file is None:
        return text
    # consent to the user's own file: its copy is the same code
    is_permitted = consent.permit(code, text)
    top = code.package
    if top is None:
        copy = _file_kept(store, str(code.file), folder)
    else:
        copy = f"{_package_kept(store, top)}/{code.file.relative_to(top).as_posix()}"
    copied = own_code.locate(copy, (store.folder,))
    if copied.digest != code.digest and not code.is_installed:  # an installed package goes by name
        raise StudyError(f"{code.file} changed while it was copied: run the command again")
    if is_permitted:
        consent.allow(copied)
    return f"{_known(store, copy, place)}:{rest}"


def _known(store: Store, copy: str, place: str) -> str:
    """Remember the user's name for the place of a class."""
    store.originals[copy] = place
    return copy


def _remember(store: Store, copy: str, original: Path) -> None:
    store.originals[str(store.folder.resolve() / copy)] = str(original)


def _package_kept(store: Store, top: Path) -> str:
    """Copy the folder of a package into the store, named by its content."""
    try:
        found = package_files(top)
    except LargeError as error:
        raise StudyError(
            f"the package {top} has {error}: a store copies the whole package of a controller; put the class into a "
            "smaller package, or a file of its own"
        ) from None
    except (OSError, ValueError) as error:
        raise StudyError(f"cannot read the package {top} of a controller: {files.message_of(error)}") from None
    digest = hashlib.sha256()
    for name, data in found.items():
        digest.update(f"{name}\0{len(data)}\0".encode())
        digest.update(data)
    own = f"{FILES}/{digest.hexdigest()[:16]}/{top.name}"
    _remember(store, own, top)
    for name, data in found.items():
        _put(store, f"{own}/{name}", data)
    for path in own_code.modules_of(store.folder / own):
        if path.relative_to(store.folder / own).as_posix() not in found:
            raise StudyError(f"{path} does not belong to the copy of the package {top} in the store: remove it first")
    return own


def _file_kept(store: Store, name: str, folder: Path) -> str:
    """Copy a file into the store, named by its content."""
    if name.startswith(f"{FILES}/") and (store.folder / name).is_file():
        return name
    path = folder / name
    try:
        data = files.read_bytes(path)
    except (OSError, ValueError) as error:
        raise StudyError(f"cannot read {path}, which a scenario names: {files.message_of(error)}") from None
    own = f"{FILES}/{hashlib.sha256(together(str(path)) or data).hexdigest()[:16]}/{path.name}"
    _put(store, own, data)
    _remember(store, own, path)
    return own


def _put(store: Store, name: str, data: bytes) -> None:
    """Copy a file unless an undamaged copy exists."""
    path = store.folder / name
    try:
        there = files.read_bytes(path)
    except (OSError, ValueError):
        there = None
    if there != data:
        store.put(name, data)


def spoken(value: Value) -> Value:
    """Return the name of a controller or a file without the folder of its copy."""
    return re.sub(rf"^{FILES}/[0-9a-f]{{16}}/", "", value) if isinstance(value, str) else value


@cache
def _shortest(_engine: str) -> Mapping[str, Any]:
    """Return the summary of the shortest run, which has the definitions of all figures."""
    return Scenario.load("dumbbell").changed({"run.duration": "1us", "run.warmup": "0s"}).run().summary


def parts() -> list[str]:
    """Return the parts of a summary in order."""
    return list(_shortest(engine_digest()))


def definitions() -> dict[str, tuple[str, str]]:
    """Return unit and definition of every figure, by name."""
    summary = _shortest(engine_digest())
    return {name: (unit, summary["definitions"][name]) for name, unit in summary["units"].items()}
