"""Custom controllers: a class whose objects each govern the window of one flow.

A class has the methods ``on_ack(ack)``, ``on_loss(event)`` and ``on_timeout(event)``, and its objects
the attribute ``cwnd``: the congestion window in bytes after the latest call. See docs/controllers/python.md.
A scenario names a class as ``"file.py:Class"``, found from the working directory, or as
``"module:Class"`` of an installed package; in Python the class itself works too.

Only ``_imported`` imports code that a scenario names, and only after ``consent.permit`` allowed it.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import inspect
import sys
import tomllib
import traceback
from collections.abc import Mapping
from contextlib import suppress
from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader, FileFinder, ModuleSpec, SourceFileLoader
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any, Protocol

from incast import _core
from incast.errors import ScenarioError
from incast.external import consent, own_code
from incast.external.own_code import Code
from incast.system.files import RUN_FILE
from incast.system.listing import Listing

ECN = ("off", "classic", "dctcp")
HERE = "./"
"""Prefix of names that are looked up in the working directory only."""
REQUIRED = ("on_ack", "on_loss", "on_timeout")
OPTIONAL = ("init", "on_ecn", "on_recovered", "on_undo", "on_idle")


class Ack(Protocol):
    """The argument of ``on_ack``. Times in picoseconds, sizes in bytes."""

    now_ps: int
    """Simulated time."""
    acked: int
    """Bytes newly covered by the cumulative acknowledgement; 0 for a duplicate."""
    delivered: int
    """Bytes newly known to have arrived, SACK included."""
    rtt_ps: int | None
    """Round-trip time of the packet that caused this ACK; None where it gives no sample."""
    srtt_ps: int
    """Smoothed round-trip time, after this ACK; 0 before the first sample."""
    fabric_delay_ps: int | None
    """Part of the round-trip time in links and switch queues; all of it if hosts are not modelled."""
    endpoint_delay_ps: int | None
    """Remaining part of the round-trip time, in hosts."""
    hops: int
    """Number of links that the data packet crossed."""
    ece: bool
    """True if the receiver echoes a mark (ECN)."""
    in_flight: int
    """Bytes in flight before this acknowledgement."""
    lost_bytes: int
    """Bytes found lost since the previous ACK, other than by a timeout."""
    round_acked: int
    """Bytes of the flow acknowledged without a gap."""
    round_sent: int
    """Bytes of the flow sent, each counted once: a round trip ends when ``round_acked`` passes its old value."""
    una: int
    nxt: int
    """Older names of ``round_acked`` and ``round_sent``."""
    cwnd_limited: bool
    """True if the window limited the sending, not the application."""
    phase: str
    """``open``, ``cwr``, ``recovery`` or ``loss``."""


class Congestion(Protocol):
    """The argument of ``on_loss``, ``on_ecn`` and ``on_timeout``."""

    now_ps: int
    """Simulated time, picoseconds."""
    in_flight: int
    """Bytes in flight."""
    window: float
    """Congestion window in effect: the controller's, or the transport's during recovery."""
    rtt_ps: int
    """Latest round-trip time, picoseconds; 0 before the first."""
    srtt_ps: int | None
    """Smoothed round-trip time, picoseconds; None at a timeout."""
    consecutive: int
    """Number of consecutive timeouts; 0 for other events."""


class Env(Protocol):
    """The argument of ``init``: the flow and its path."""

    flow: int
    """Number of the flow, as in ``flows.parquet``."""
    mss: int
    """Payload of a full segment, bytes."""
    initial_window: float
    """Initial congestion window of the transport, bytes."""
    packet_time_ps: int
    """Serialisation time of a full packet at the slowest link of the path, picoseconds."""
    shortest_rtt_ps: int
    """Idle round-trip time of the shortest path between two hosts, picoseconds."""
    shortest_hops: int
    """Number of links of that path."""
    hop_rtt_ps: int
    """Idle round-trip time per additional link, picoseconds."""
    base_rtt_ps: int
    """Idle round-trip time of the flow's own path, picoseconds."""
    line_rate_bps: float
    """Rate of the sender's link, bits per second."""
    line_packet_time_ps: int
    """Serialisation time of one full packet on the sender's link, headers and link overhead included, picoseconds."""


class Controller(Protocol):
    """Protocol of a controller, for type checkers.

    ``init(env)``, ``on_ecn(event)``, ``on_recovered(now_ps)``, ``on_undo(now_ps)`` and ``on_idle(now_ps)`` are optional
    methods; ``ssthresh`` (bytes), ``pacing_gap_ps``, ``pacing_rate_bps`` and ``state`` optional attributes.
    """

    cwnd: float
    """Congestion window after the latest call, bytes: above 0 and at most 1e15."""

    def on_ack(self, ack: Ack) -> None:
        """React to an acknowledgement."""

    def on_loss(self, event: Congestion) -> None:
        """React to a loss that was not found by a timeout."""

    def on_timeout(self, event: Congestion) -> None:
        """React to a retransmission timeout."""


_registered: dict[str, type] = {}
_folders: list[Path] = []
_modules: dict[tuple[Path, str], ModuleType] = {}


def register(controller: type) -> str:
    """Register a class, and return its name for scenarios.

    A later class of the same module and name replaces it. Raises ``ScenarioError`` if the class cannot be a controller.
    """
    if not isinstance(controller, type):
        raise ScenarioError(f"{controller!r}: expected a class, such as MyController, not an object of it")
    name = f"{controller.__module__}:{controller.__name__}"
    _checked(controller)
    _registered[name] = controller
    return name


def look_in(folder: Path) -> None:
    """Also look for classes in ``files/`` of this folder: a store has copies there under unique names."""
    folder = folder.resolve()
    if folder not in _folders:
        _folders.append(folder)


def registered(name: str) -> bool:
    """Return whether a class of this name is registered in this process."""
    return name in _registered


def locate(place: str) -> Code:
    """Find the code of a file or a module without running it, including copies in the folders of ``look_in``.

    For the scenario of a run folder the copies in the folder come first, unless the name begins with ``./``.
    Raises ``ScenarioError`` if nothing is found.
    """
    own = None if place.startswith(HERE) else _run_folder()
    beside = () if own is None else (own,)
    return own_code.locate(place, (*beside, *(_folders if place.startswith("files/") else ())))


def _run_folder() -> Path | None:
    """Return the run folder whose scenario is being read; ``None`` for other scenarios."""
    own = Path(consent.origin()).parent
    return own if consent.origin() and (own / RUN_FILE).is_file() else None


def from_here(value: object) -> object:
    """Prefix file names in a value with ``./`` if the scenario is that of a run folder.

    Files that a user gives are relative to the working directory, and a copy in the folder may have the same name.
    """
    if _run_folder() is None:
        return value
    match value:
        case str():
            found = own_code.split(bare := value.strip().strip("\"'"))
            if found is not None:
                is_named = found[0].endswith(".py") and not found[0].startswith((HERE, "files/", "/"))
                return f"{HERE}{bare}" if is_named else value
            if value.lstrip()[:1] in ("{", "["):  # an inline table or list
                with suppress(tomllib.TOMLDecodeError, RecursionError):
                    inner = tomllib.loads(f"given = {value}")["given"]
                    return value if (changed := from_here(inner)) == inner else changed
            return value
        case Mapping():
            return {key: from_here(one) for key, one in value.items()}
        case list() | tuple():
            return [from_here(one) for one in value]
    return value


def value(text: str) -> bool | int | float | str:
    """Read the value of a parameter as a scenario writes it."""
    if text in ("true", "false"):
        return text == "true"
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            pass
    return text


Found = tuple[type, str, str, bool, bool, list[str], list[str]]


class NotLookedAt:
    """Stand-in for a class while no code is run (``consent.looking_away``)."""

    def __init__(self, **_: Any) -> None:
        raise ScenarioError("the class of a file was not imported and cannot run")

    on_ack = on_loss = on_timeout = None


def find(name: str, params: list[tuple[str, str]], key: str = "controller") -> Found:
    """Find the class that a key names: class, fingerprint of its code, and its declarations.

    Raises ``ScenarioError`` with what was expected, or if the user has not allowed its code.
    """
    place, _, word = name.rpartition(":")
    controller = _registered.get(name)
    if controller is None:
        code = locate(place)
        if not consent.permit(code, name, key):
            return NotLookedAt, _file_fingerprint(code.file), "off", False, False, [], []
        controller = _imported(code, word)
    _checked(controller)
    if params:
        try:
            inspect.signature(controller).bind(**{key: value(text) for key, text in params})
        except TypeError as error:
            raise ScenarioError(f"{error}; the parameters are arguments of {word}.__init__") from None
        except ValueError:  # no signature available
            pass
    state = getattr(controller, "state", ())
    return (
        controller,
        _fingerprint(controller),
        getattr(controller, "ecn", "off"),
        bool(getattr(controller, "own_recovery", False)),
        bool(getattr(controller, "ack_every_packet", False)),
        list(state),
        [method for method in OPTIONAL if callable(getattr(controller, method, None))],
    )


def description(name: str) -> str:
    """Describe a class: docstring, parameters, requirements on the transport."""
    controller, source, ecn, own_recovery, every, state, methods = find(name, [])
    lines = [f"{name}: a custom controller", "", inspect.getdoc(controller) or "It has no docstring.", ""]
    arguments = [a for a in inspect.signature(controller).parameters.values() if a.kind is not a.VAR_KEYWORD]
    lines += ["Parameters", *(f"  {a}" for a in arguments)] if arguments else ["No parameters."]
    lines += ["", f"ECN: {ecn}", f"Reacts to losses by itself: {'yes' if own_recovery else 'no'}"]
    lines += [f"Every packet is acknowledged: {'yes' if every else 'no'}"]
    lines += [f"Methods: {_listed([*REQUIRED, *methods])}"]
    lines += [f"Traced: {_listed(state)}"] * bool(state)
    return "\n".join([*lines, f"Fingerprint of its code: {source}"]) + "\n"


def _imported(code: Code, word: str) -> type:
    """Import allowed code, and return its class."""
    place = code.place
    try:
        module = importlib.import_module(place) if code.is_installed else _of_file(code)
    except ScenarioError:
        raise
    except (Exception, SystemExit) as error:
        raise ScenarioError(f"{place} cannot be imported\n{_traceback(error)}") from None
    controller = getattr(module, word, None)
    if controller is None:
        raise ScenarioError(f"{place} has no {word}; expected a class of that name")
    if not isinstance(controller, type):
        raise ScenarioError(f"{word} of {place} is not a class; expected one with {_listed(REQUIRED)}")
    return controller


def _traceback(error: BaseException) -> str:
    """Write the traceback from the user's code on, without the import system's part."""
    frames = error.__traceback__
    while frames is not None and (
        frames.tb_frame.f_code.co_filename == __file__ or "importlib" in frames.tb_frame.f_code.co_filename
    ):
        frames = frames.tb_next
    return "".join(traceback.format_exception(type(error), error, frames)).rstrip()


_allowed: dict[Path, str] = {}
"""SHA-256 of the files to import, as they were when the user allowed them."""


def _refuse_other(path: str, data: bytes) -> None:
    """Raise ``ScenarioError`` if a file differs from what the user allowed."""
    asked = _allowed.get(Path(path))
    if asked is None:
        raise ScenarioError(
            f"{path} does not belong to the package that was allowed: expected a module that existed then, outside of "
            "stores and not behind a link"
        )
    if hashlib.sha256(data).hexdigest() != asked:
        raise ScenarioError(f"{path} has changed since it was allowed: run the command again")


class _Source(SourceFileLoader):
    """Loads a module from its source alone: compiled files next to it were not allowed."""

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        data = own_code.read(Path(path))
        _refuse_other(path, data)
        code: CodeType = self.source_to_code(data, path)
        return code


class _Compiled(ExtensionFileLoader):
    """Loads a compiled module."""

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        path = self.get_filename(spec.name)
        _refuse_other(path, own_code.read(Path(path)))
        return super().create_module(spec)


def _of_file(code: Code) -> ModuleType:
    assert code.file is not None, "code of a file"
    key = (code.file, code.digest)
    if key not in _modules:
        _allowed.update(code.modules)
        _modules[key] = _of_package(code, code.package) if code.package is not None else _by_itself(code, code.file)
    return _modules[key]


def _by_itself(code: Code, path: Path) -> ModuleType:
    name = f"incast_own_{path.stem}_{code.digest[:8]}"
    spec = importlib.util.spec_from_file_location(name, path, loader=_Source(name, str(path)))
    if spec is None or spec.loader is None:
        raise ScenarioError(f"{path} cannot be read as Python")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _of_package(code: Code, folder: Path) -> ModuleType:
    """Import a module of a package.

    The package gets a unique name, so that several versions can coexist. Modules that name it by its folder find this
    one while they are imported, and later unless something else has the name.
    """
    assert code.file is not None, "a module of a package is a file"
    top, own = folder.name, f"incast_own_{folder.name}_{code.digest[:16]}"
    inner = code.file.relative_to(folder).with_suffix("").parts
    name = ".".join([own, *(inner[:-1] if inner[-1] == "__init__" else inner)])
    if name in sys.modules:
        return sys.modules[name]
    _read_from_source(folder)
    others = {key: module for key, module in sys.modules.items() if key == top or key.startswith(f"{top}.")}
    for key in others:
        del sys.modules[key]
    try:
        if own not in sys.modules:
            init, inside = folder / "__init__.py", [str(folder)]
            loader = _Source(own, str(init))
            spec = importlib.util.spec_from_file_location(own, init, loader=loader, submodule_search_locations=inside)
            if spec is None or not init.is_file():
                spec = ModuleSpec(own, None, is_package=True)
                spec.submodule_search_locations = inside
            package = importlib.util.module_from_spec(spec)
            sys.modules[own] = sys.modules[top] = package
            if spec.loader is not None:
                spec.loader.exec_module(package)
        else:
            sys.modules[top] = sys.modules[own]
        return importlib.import_module(name)
    except BaseException:
        for key in [key for key in sys.modules if f"{key}.".startswith(f"{own}.")]:
            del sys.modules[key]
        raise
    finally:
        if others:
            for key in [key for key in sys.modules if f"{key}.".startswith(f"{top}.")]:
                del sys.modules[key]
            sys.modules.update(others)


_packages: set[Path] = set()
"""Folders of packages with imported modules."""


def _finder(place: str) -> FileFinder:
    """Find modules in a folder of such a package; raises ``ImportError`` for other folders, as Python expects."""
    if not any(Path(place).is_relative_to(folder) for folder in _packages):
        raise ImportError(f"{place} is not a folder of an allowed package")
    return FileFinder(place, (_Source, [".py"]), (_Compiled, EXTENSION_SUFFIXES))


def _read_from_source(folder: Path) -> None:
    """Let Python find the modules of a package by their sources alone."""
    _packages.add(folder)
    if _finder not in sys.path_hooks:
        sys.path_hooks.insert(0, _finder)
    for place in [place for place in sys.path_importer_cache if Path(place).is_relative_to(folder)]:
        del sys.path_importer_cache[place]


def _checked(controller: type) -> None:
    missing = [name for name in REQUIRED if not callable(getattr(controller, name, None))]
    if missing:
        raise ScenarioError(f"the class {controller.__name__} has no {_listed(missing)}; expected {_listed(REQUIRED)}")
    for name in (*REQUIRED, *OPTIONAL):
        method = getattr(controller, name, None)
        if inspect.iscoroutinefunction(method) or inspect.isgeneratorfunction(method):
            raise ScenarioError(f"{controller.__name__}.{name} does nothing when called: expected a plain method")
    for name in ("own_recovery", "ack_every_packet"):
        flag = getattr(controller, name, False)
        if not isinstance(flag, bool):
            raise ScenarioError(f"{controller.__name__}.{name} = {flag!r}: expected True or False")
    ecn = getattr(controller, "ecn", "off")
    if ecn not in ECN:
        raise ScenarioError(f"{controller.__name__}.ecn = {ecn!r}: expected {_listed(ECN, 'or')}")
    state = getattr(controller, "state", ())
    if isinstance(state, str) or not all(isinstance(name, str) for name in state):
        raise ScenarioError(
            f"{controller.__name__}.state = {state!r}: expected names of attributes, such as ('alpha',)"
        )


def built_in() -> frozenset[str]:
    """Return the names of the built-in controllers."""
    return frozenset(name for name, _ in _core.list_kind("controllers"))


def _listed(words: tuple[str, ...] | list[str], last: str = "and") -> str:
    return f" {last} ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)


def _file_fingerprint(file: Path | None) -> str:
    return hashlib.sha256(b"" if file is None else own_code.read(file)).hexdigest()[:16]


def _fingerprint(controller: type) -> str:
    """Return a fingerprint of a class's code: of its file, or of its compiled code."""
    digest = hashlib.sha256()
    try:
        file = inspect.getsourcefile(controller)
    except (TypeError, OSError):  # typed in at a prompt
        file = None
    if file is not None and Path(file).is_file():
        return _file_fingerprint(Path(file))
    for owner in reversed(controller.__mro__):
        for name, item in sorted(vars(owner).items()) if owner is not object else ():
            digest.update(name.encode())
            if isinstance(item, FunctionType):
                _add_code(digest, item.__code__)
            elif isinstance(item, (int, float, str, bool, tuple)):
                digest.update(repr(item).encode())
    return digest.hexdigest()[:16]


def _add_code(digest: Any, code: CodeType) -> None:
    digest.update(code.co_code)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            _add_code(digest, constant)
        else:
            digest.update(repr(constant).encode())
    digest.update(repr(code.co_names).encode())


class _Callable(ModuleType):
    """Module that can be called: ``incast.controllers()`` lists the built-in controllers."""

    def __call__(self) -> Listing:
        return Listing(_core.list_kind("controllers"), "controllers")


sys.modules[__name__].__class__ = _Callable
