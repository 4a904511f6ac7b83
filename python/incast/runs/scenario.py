"""Scenarios: the input of a simulation."""

from __future__ import annotations

import math
import stat
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import Any

from incast import _core
from incast.controllers import from_here, register
from incast.errors import ScenarioError
from incast.external import consent
from incast.runs import job_of_file, own_controller
from incast.runs.result import Result, measured_run
from incast.system import files, memory

Progress = Callable[[float, float, int], "bool | None"]
"""Callback with the simulated seconds reached, simulated seconds in total, and hops so far; returning ``False`` stops
the run."""


ROW_BYTES, ROW_S = 4, 2e-6
"""Bytes on disk and CPU seconds per row of a timeline."""


class Scenario:
    """Input of a run: topology, queues, transport, controllers, traffic, seed.

    Immutable; ``with_`` returns a changed one:

    >>> import incast
    >>> incast.Scenario.load("dumbbell").with_({"run.duration": "20ms"}).seed
    1
    """

    def __init__(self, core: _core.Scenario, origin: str = "", allow_code: bool = False) -> None:
        self._core = core
        self._origin = origin, allow_code

    @classmethod
    def load(cls, name_or_path: str | PathLike[str], *, allow_code: bool = False) -> Scenario:
        """Read a scenario file, or a built-in scenario by its name (``incast list scenarios``).

        A custom class that the file names as a controller is a program. Without ``allow_code`` it is refused.

        Raises ``ScenarioError`` with the key, its value and what was expected.
        """
        if not isinstance(name_or_path, (str, PathLike)):
            raise TypeError(
                f"Scenario.load takes the name of a scenario or the path of a file, not {type(name_or_path).__name__}"
            )
        if str(name_or_path) == "-":
            raise ScenarioError("-: only incast run reads a scenario from the standard input; write it to a file")
        named = str(name_or_path)
        with consent.reading(named, allow_code):
            text, path = _text_of_pipe(named), Path(named)
            if text is None:
                return cls(_core.Scenario.load(named), named, allow_code)
            return cls(_core.Scenario.from_toml(text, path.parent.absolute(), path.stem), named, allow_code)

    @classmethod
    def from_toml(
        cls, text: str, *, origin: str | Path = ".", name: str = "scenario", allow_code: bool = False
    ) -> Scenario:
        """Make a scenario from TOML text; paths in it are relative to ``origin``.

        A class that it names is refused unless already allowed, or with ``allow_code``.
        """
        with consent.reading("", allow_code):
            return cls(_core.Scenario.from_toml(text, Path(origin), name), "", allow_code)

    def looked_at(self) -> AbstractContextManager[None]:
        """Set, while the scenario is read, its origin for messages and the consent to run its classes."""
        return consent.looking_at(*self._origin)

    def _like(self, core: _core.Scenario) -> Scenario:
        return Scenario(core, *self._origin)

    def with_(self, changes: Mapping[str, object]) -> Scenario:
        """Return the scenario with changed keys, like ``--set``: ``{"topology.k": 8}``.

        Values are numbers, booleans, texts with units (``"10us"``), lists, mappings for whole tables
        (``{"traffic.controller": {"kind": "swift", "target": "min-rtt"}}``), or a custom class for a controller
        (``incast.controllers``). Their order does not matter: whole tables, kinds, presets and forms are set first,
        since they replace other keys.
        """
        consent.grant(changes)
        return self.changed(changes)

    def changed(self, changes: Mapping[str, object]) -> Scenario:
        """Like ``with_``, for changes from a file: they do not allow the classes that they name."""
        core = self._core
        with self.looked_at():
            for key in in_order(changes):
                value = changes[key]
                core = core.set(key, register(value) if isinstance(value, type) else text_of(from_here(value)))
        return self._like(core)

    def with_controller(self, controller: str | type) -> Scenario:
        """Return the scenario with one controller for all flows: ``"swift:target=min-rtt"``, or a custom class.

        A controller by name has the defaults of its kind; ``"."`` is the scenario's own with its parameters, and
        ``".:target=min-rtt"`` the own one with a change.
        """
        consent.grant(controller)
        return self.governed(controller)

    def governed(self, controller: str | type) -> Scenario:
        """Like ``with_controller``, for a name from a file: it does not allow the class that it names."""
        text = register(controller) if isinstance(controller, type) else controller
        if own_controller.is_own(text):
            return self.changed(own_controller.changes_of(text, self.name, self.resolved()))
        with self.looked_at():
            return self._like(self._core.with_controller(text_of(from_here(text))))

    def with_workload(self, workload: str | PathLike[str], ranks_to: str = job_of_file.PACKED) -> Scenario:
        """Return the scenario with one job, of this file, in place of its traffic and jobs.

        ``workload`` is GOAL text or binary, text of SimAI, or Chakra traces by their prefix or folder; ``ranks_to`` is
        a placement: packed, by-rack, strided or random. Further keys of the job are ``job.iterations`` and so on.
        """
        return self.changed(job_of_file.changes(workload, ranks_to))

    def job_hosts(self) -> dict[str, list[int]]:
        """Return the hosts of the ranks of every job; raises ``ScenarioError`` unless the scenario can be run."""
        with self.looked_at():
            return dict(self._core.job_hosts())

    def with_seed(self, seed: int) -> Scenario:
        """Return the scenario with another seed, from 0 to 2^63 - 1."""
        if not 0 <= seed < 2**63:
            raise ScenarioError(f"seed = {seed}: expected a whole number from 0 to {2**63 - 1}")
        with self.looked_at():
            return self._like(self._core.with_seed(seed))

    @property
    def core(self) -> _core.Scenario:
        """Scenario object of the engine."""
        return self._core

    @property
    def name(self) -> str:
        """Name of the built-in scenario, or of the file without extension."""
        return self._core.name

    @property
    def seed(self) -> int:
        """Seed of all random numbers."""
        with self.looked_at():
            return self._core.seed

    @property
    def hash(self) -> str:
        """Hash of the resolved scenario without seed and name, in hexadecimal digits."""
        with self.looked_at():
            return self._core.hash

    @property
    def threads(self) -> int | None:
        """Threads of a run, ``run.threads``; ``None`` for ``"auto"``."""
        with self.looked_at():
            return self._core.threads

    def timeline_cost(self) -> tuple[float, float]:
        """Return upper estimates of bytes on disk and CPU seconds for the timeline of a run; 0 and 0 without one.

        Measured: 3.2 to 3.9 bytes per row of ports and flows (10 in runs of a few hundred rows), and 1.4 to 2.1 us per
        row, mostly for writing. Raises ``ScenarioError`` unless the scenario can be run.
        """
        with self.looked_at():
            rows = self._core.timeline_rows() if "timeline" in self.resolved()["measure"] else 0
        return rows * ROW_BYTES, rows * ROW_S

    def without_timeline(self) -> Scenario:
        """Return the scenario without ``measure.timeline``, which does not affect other results."""
        measure = self.resolved()["measure"]
        return self if measure.pop("timeline", None) is None else self.changed({"measure": measure})

    def memory(self, most: float = math.inf) -> int:
        """Return an estimate of the memory of a run, in bytes; a lower bound if it exceeds ``most``.

        Ports are counted before the network is built, and flows before they are created. Raises ``ScenarioError`` like
        ``validate``.
        """
        with self.looked_at():
            return self._core.memory() if most == math.inf else self._core.memory(min(int(most), 2**64 - 1))

    def refuse_above(self, most: float, what: str) -> int:
        """Return the memory of a run in bytes; raises ``ScenarioError`` about ``what`` if it exceeds ``most``."""
        needed = self.memory(most)
        memory.refuse_above(needed, most, what)
        return needed

    def toml(self, names: Mapping[str, str] = MappingProxyType({})) -> str:
        """Return the scenario as TOML with all defaults written out; ``names`` renames files.

        Example: ``{"flows.csv": "/data/flows.csv"}``.
        """
        with self.looked_at():
            return self._core.toml(dict(names)) if names else self._core.toml()

    def files(self) -> list[tuple[str, Path]]:
        """Return the files that the scenario names, with their paths; built-in files are excluded."""
        with self.looked_at():
            return [(name, Path(path)) for name, path in self._core.files()]

    def resolved(self) -> dict[str, Any]:
        """Return the resolved scenario as nested dictionaries."""
        return tomllib.loads(self.toml())

    def validate(self) -> None:
        """Raise ``ScenarioError`` unless the scenario can be run."""
        with self.looked_at():
            self._core.validate()

    def governing(self) -> list[str]:
        """Return the names of what governs the flows, each once: controllers, the transport's own control, ``udp``.

        Names are kinds of controllers, or controls of transports: ``nscc``, ``rccc``, ``ndp``, ``eqds``, ``homa``,
        ``phost``, ``expresspass``, ``roce``, ``dcpim``. Raises ``ScenarioError`` like ``validate``.
        """
        with self.looked_at():
            return self._core.governing()

    def notes(self) -> list[str]:
        """Return hints about the scenario, in sentences; they are no errors.

        Raises ``ScenarioError`` like ``validate``.
        """
        with self.looked_at():
            return self._core.notes()

    def run(
        self,
        seed: int | None = None,
        progress: Progress | None = None,
        cores: int | None = None,
        set_up: Callable[[float], bool | None] | None = None,
        memory_limit: float = math.inf,
    ) -> Result:
        """Simulate the scenario. The GIL is released meanwhile, so threads run in parallel.

        With ``run.threads = "auto"`` the run takes at most ``cores`` threads (default: all cores of the machine). The
        result does not depend on their number.

        ``progress`` is called about ten times a second, with the simulated seconds reached, simulated seconds in total,
        and hops. During the set-up ``set_up`` is called instead, if given, with the fraction done, 0 to 1. Either stops
        the run by returning ``False``.

        Traces, series and other records may take a fraction of the free memory, or of ``memory_limit`` bytes if less: a
        run that exceeds it ends with a ``RunError``.

        Raises ``ScenarioError``, ``RunError`` (the run failed), ``UnsoundError`` (the run ended with figures that
        cannot be right; its ``result`` is the run), ``RunStopped`` (``progress`` or ``set_up`` returned ``False``) or
        ``KeyboardInterrupt``.
        """
        scenario = self if seed is None else self.with_seed(seed)
        with self.looked_at():
            return measured_run(scenario._core, progress, cores, set_up, memory_limit, lambda: scenario)

    def __eq__(self, other: object) -> bool:
        """Return whether both resolve to the same text, seed included; names do not matter."""
        return self.toml() == other.toml() if isinstance(other, Scenario) else NotImplemented

    def __hash__(self) -> int:
        return hash((self.hash, self.seed))

    def __repr__(self) -> str:
        return f"<Scenario {self.name} seed {self.seed} {self.hash[:8]}>"


def in_order(keys: Iterable[str]) -> list[str]:
    """Return keys in the order in which they are set."""
    return sorted(keys, key=_rank)


def _text_of_pipe(named: str) -> str | None:
    """Read a scenario from a pipe or a device (``<(...)``, /dev/stdin); ``None`` for anything else."""
    path = Path(named)
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):  # the engine reports it, or knows the name
        return None
    if not (stat.S_ISFIFO(mode) or stat.S_ISCHR(mode)):
        return None
    try:
        if text := files.read_text(path, pipes=True).removeprefix("\ufeff"):
            return text
        raise ValueError("it is empty; expected a scenario")
    except UnicodeDecodeError:
        raise ScenarioError(f"{named}: not a text file (UTF-8)") from None
    except (OSError, ValueError) as error:
        raise ScenarioError(f"{named}: {files.message_of(error)}") from None


def _rank(key: str) -> tuple[int, int]:
    """Return the rank of a key in the order of setting: before keys whose values it replaces."""
    *_, last = parts = key.split(".")
    return len(parts), {"kind": 0, "preset": 0, "form": 1}.get(last, 2)


def text_of(value: object) -> str:
    """Write a Python value in the notation of ``--set``."""
    if isinstance(value, str):
        return value
    return toml_value(value)


def value_at(resolved: Mapping[str, Any], key: str) -> str | None:
    """Return the value of a key in a resolved scenario as a text; ``None`` for a table or a missing key."""
    found = _value_at(resolved, key.split("."))
    return None if found is None or isinstance(found, (dict, list)) else text_of(found)


def _value_at(table: Any, parts: Sequence[str]) -> Any:
    for place, part in enumerate(parts):
        if isinstance(table, list):
            named = [one for one in table if isinstance(one, dict) and one.get("name") == part]
            if named or part.isdecimal():
                table = named[0] if named else table[int(part)] if int(part) < len(table) else None
                continue
            # the key of the only entry
            return _value_at(table[0], parts[place:]) if len(table) == 1 else None
        table = table.get(part) if isinstance(table, dict) else None
    return table


_ESCAPES = {number: f"\\u{number:04x}" for number in (*range(32), 127)} | {ord('"'): '\\"', ord("\\"): "\\\\"}
"""Letters that a TOML string has in another form."""


def toml_value(value: object) -> str:
    """Write a Python value as an inline TOML value."""
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float():
            return repr(value)
        case str():
            return f'"{value.translate(_ESCAPES)}"'
        case Mapping():
            inner = ", ".join(f"{key} = {toml_value(item)}" for key, item in value.items())
            return f"{{ {inner} }}"
        case list() | tuple():
            return f"[{', '.join(toml_value(item) for item in value)}]"
        case _:
            raise TypeError(
                f"{value!r} cannot be a scenario's value: expected a text, number, boolean, list or mapping"
            )
