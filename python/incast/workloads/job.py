"""Jobs: the tasks of their ranks, read from files or made of a collective.

>>> import incast
>>> job = incast.collective("all-reduce", n=16, size="16MiB")
>>> job.stats()["tasks_by_kind"]
{'send': 480, 'recv': 480, 'nop': 32}
>>> round(job.bound(latency="1us", rate="100Gbps")["bound_ps"] / 1e6)  # us
2547

Sizes, times and rates are texts with units (``"16MiB"``, ``"1us"``, ``"100Gbps"``) or numbers in SI units.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from incast import _core
from incast.errors import FolderError, ModelError, ScenarioError
from incast.system.folders import is_stream, write_named

WRITTEN = {".goal": "goal", ".bin": "bin"}
"""Formats that are written, by suffix."""
LATENCY, RATE, PACKET = "1us", "100Gbps", "4096B"
"""Network that findings and bounds take if none is given."""
MOST = 2**63
"""Most picoseconds, bytes or bits per second."""


@dataclass(frozen=True)
class Finding:
    """One finding of a reader or of the linter."""

    code: str
    """Code, such as ``E05``: E stops a run, W does not, if not said otherwise."""
    error: bool
    """Severity: true if it stops a run."""
    place: str
    """Line and column, ``rank:task``, rank, group, or ``job``."""
    what: str
    why: str
    remedy: str


@dataclass(frozen=True)
class Method:
    """Algorithm of a collective and its parameters."""

    algorithm: str = ""
    """Name; empty for the usual one of the collective."""
    channels: int = 1
    chunk: str | int | None = None
    """Largest part of a step, or piece of a tree or chain (size)."""
    credits: int = 0
    """Messages of a connection under way; 0 for any number."""
    reduce: str | float | None = None
    """Rate at which received data is added up; ``None``: no time."""
    window: int = 1
    """Rounds under way of a windowed all-to-all."""
    server: int = 1
    """Members of a server, for ``hierarchical``."""
    order: Sequence[int] = field(default_factory=tuple)
    """Positions in the order of the ring; empty: as in the group."""

    def given(self) -> tuple[str, int, int | None, int, int | None, int, int, list[int]]:
        """Return it as the engine takes it; raises ``ScenarioError`` for a number that does not fit."""
        chunk = None if self.chunk is None else quantity("chunk", "size", self.chunk)
        reduce = None if self.reduce is None else quantity("reduce", "rate", self.reduce)
        counts = {name: count(name, getattr(self, name)) for name in ("channels", "credits", "window", "server")}
        order = [count("order", position) for position in self.order]
        return (
            self.algorithm,
            counts["channels"],
            chunk,
            counts["credits"],
            reduce,
            counts["window"],
            counts["server"],
            order,
        )


class Workload:
    """Tasks of the ranks of a job; immutable."""

    def __init__(self, core: _core.Workload, found: Sequence[Finding] = ()) -> None:
        self._core = core
        self._found = tuple(found)

    @classmethod
    def load(
        cls,
        path: str | Path,
        format: str = "",  # noqa: A002 - the option's name
        gpus: int | None = None,
        totals: bool | None = None,
        data_only: bool = False,
        as_simai: bool = False,
        size: str | float | None = None,
    ) -> Workload:
        """Read GOAL text or binary, a workload of SimAI or AICB, an algorithm of MSCCL, or Chakra traces by prefix.

        ``format`` is goal, bin, simai, chakra or msccl (default: by the file). ``gpus`` is for workloads of SimAI
        without ``all_gpus``, ``totals`` says that sizes of all-gathers in traces are totals (or shards, if false),
        and ``data_only`` leaves control dependencies of traces out. ``as_simai`` reads a workload of SimAI as its run
        on ns-3 does: one pipeline stage, forward collectives of 1 to 4,095 B with 4,096 B. ``size`` is the buffer that
        an algorithm of MSCCL works on. Raises ``ScenarioError`` with the place of the first error.
        """
        made, found, _ = read(path, format, gpus, totals, data_only, as_simai, size)
        if made is None:
            first = next(finding for finding in found if finding.error)
            raise ScenarioError(f"{path}, {first.place}: {first.what} ({first.code}: {first.why}): {first.remedy}")
        return made

    @property
    def ranks(self) -> int:
        """Number of ranks."""
        return self._core.ranks

    @property
    def tasks(self) -> int:
        """Number of tasks."""
        return self._core.tasks

    def stats(self, latency: str | float = LATENCY, rate: str | float = RATE) -> dict[str, Any]:
        """Count tasks, bytes, pairs, dependencies and memory; times are in ps.

        The critical path (``path_...``) is that of messages alone on a network of this latency and rate; ``None`` where
        tasks never end.
        """
        counts = self._core.stats()
        network = picoseconds("latency", latency), quantity("rate", "rate", rate)
        try:
            bound = self._core.bound(*network)
        except ScenarioError:
            bound = {}
        counts |= {name: bound.get(name) for name in ("path_ps", "path_calc_ps", "path_tasks", "path_messages")}
        names = ("from", "to", "messages", "bytes")
        counts["pairs"] = [dict(zip(names, pair, strict=True)) for pair in counts["pairs"]]
        return counts

    def bound(self, latency: str | float = LATENCY, rate: str | float = RATE) -> dict[str, Any]:
        """Bound the time of the job from below on any network of hosts with this latency and rate; times are in ps.

        ``bound_ps`` is the largest of ``path_ps`` (the critical path, each message alone), ``host_ps`` (bytes through
        the busiest host) and ``stream_ps`` (calculations of the busiest stream). The path is left out, and
        ``path_bounds`` false, where a receive takes the first message of any rank or tag. Raises ``ScenarioError`` for
        tasks that never end.
        """
        return self._core.bound(picoseconds("latency", latency), quantity("rate", "rate", rate))

    def lint(
        self,
        latency: str | float = LATENCY,
        rate: str | float = RATE,
        packet: str | float = PACKET,
        gpus: int | None = None,
        most_bytes: int | None = None,
        server: int | None = None,
    ) -> list[Finding]:
        """Find mistakes, those of the file first; at most 16 of a code.

        ``gpus`` is the number of a topology and ``server`` that of a server on rails (W04), ``most_bytes`` the largest
        message of another program (E10).
        """
        found, _ = self.counted(latency, rate, packet, gpus, most_bytes, server)
        return [*self._found, *found]

    def counted(
        self,
        latency: str | float = LATENCY,
        rate: str | float = RATE,
        packet: str | float = PACKET,
        gpus: int | None = None,
        most_bytes: int | None = None,
        server: int | None = None,
    ) -> tuple[list[Finding], dict[str, int]]:
        """Return findings of the linter alone, and how many there are of each code."""
        found, counts = self._core.lint(
            picoseconds("latency", latency),
            quantity("rate", "rate", rate),
            quantity("packet", "size", packet),
            None if gpus is None else count("gpus", gpus),
            None if most_bytes is None else count("most_bytes", most_bytes),
            None if server is None else count("server", server),
        )
        return [Finding(*one) for one in found], dict(counts)

    def loggops(
        self,
        latency: str | float = "2500ns",
        overhead: str | float = "1500ns",
        gap: str | float = "1000ns",
        gap_per_byte_ns: float = 6.0,
        overhead_per_byte: str | float = 0.0,
        eager: str | float = "65535B",
        rules: str = "loggopsim",
    ) -> int:
        """Return the time of the job in the LogGOPS model, in ps: parameters L, o, g, G, O, S.

        Defaults are those of LogGOPSim (spcl/LogGOPSim 76451de), whose rules hold; ``rules="htsim"`` has those of its
        copy in spcl/HTSIM 8a33f33. Both count whole nanoseconds and know no contention in the network. Raises
        ``ScenarioError`` for collectives and for tasks that never end.
        """
        if rules not in ("loggopsim", "htsim"):
            raise ScenarioError(f'rules = "{rules}": expected loggopsim or htsim')
        times = (
            picoseconds("latency", latency),
            picoseconds("overhead", overhead),
            picoseconds("gap", gap),
            picoseconds("overhead_per_byte", overhead_per_byte),
        )
        small = quantity("eager", "size", eager)
        end, ended = self._core.loggops(times, float(gap_per_byte_ns), small, rules == "htsim")
        if ended < self.tasks:
            raise ScenarioError(f"tasks that never end: {self.tasks - ended:,} of {self.tasks:,}; lint names them")
        return end

    def expanded(self, methods: Mapping[str, Method] | None = None) -> Workload:
        """Return the job with its collectives as messages; ``methods`` by collective, such as all-reduce."""
        given = [(name, method.given()) for name, method in (methods or {}).items()]
        return Workload(self._core.expand(given), self._found)

    def isolated(self, ranks: Sequence[int]) -> tuple[Workload, int]:
        """Return these ranks by themselves, in this order, and how many of their tasks take part no longer.

        Messages and collectives with other ranks take no time; what waited for them waits for what was before them.
        Raises ``ScenarioError`` for a rank that is unknown or given twice.
        """
        made, left_out = self._core.isolate([count("rank", rank) for rank in ranks])
        return Workload(made), left_out

    def write(self, path: str | Path) -> int:
        """Write GOAL text (``.goal``) or binary (``.bin``); return how many durations were rounded to nanoseconds.

        Raises ``FolderError`` for a file that is there or another suffix, ``ScenarioError`` for collectives, which
        ``expanded`` replaces.
        """
        path = Path(path)
        content, rounded = self._core.content(format_of(path))
        write_named(path, content)
        return rounded


def read(
    path: str | Path,
    format: str = "",  # noqa: A002 - the option's name
    gpus: int | None = None,
    totals: bool | None = None,
    data_only: bool = False,
    as_simai: bool = False,
    size: str | float | None = None,
) -> tuple[Workload | None, list[Finding], dict[str, int]]:
    """Read a file as ``Workload.load`` does; return the job unless it has an error, findings, and numbers by code."""
    gpus = None if gpus is None else count("gpus", gpus)
    size = None if size is None else quantity("size", "size", size)
    core, found, counts = _core.workload_load(path, format, (gpus, as_simai), totals, data_only, size)
    findings = [Finding(*one) for one in found]
    return (None if core is None else Workload(core, findings)), findings, dict(counts)


def collective(
    pattern: str,
    n: int,
    size: str | float = 0,
    method: Method | None = None,
    root: int = 0,
    sizes: Sequence[Sequence[int]] | None = None,
    **parameters: Any,
) -> Workload:
    """Return the messages of one collective of n ranks.

    ``pattern`` is all-reduce, reduce-scatter, all-gather, all-to-all, broadcast, reduce or barrier; ``size`` is the
    total S: of an all-gather the gathered data. ``sizes``, of an all-to-all, has n rows of the bytes that a rank sends
    to each. Fields of ``Method`` may be given by name: ``algorithm="tree"``. Raises ``ScenarioError`` for what does not
    fit together.
    """
    known = _known(parameters)
    if method is not None and known:
        raise ScenarioError(f"{next(iter(known))}: expected no parameters beside method")
    chosen = method or Method(**known)
    if sizes is not None and (len(sizes) != n or any(len(row) != n for row in sizes)):
        raise ScenarioError(f"sizes: expected {n} rows of {n} bytes each")
    pairs = None if sizes is None else [count("sizes", pair, MOST) for row in sizes for pair in row]
    total = quantity("size", "size", size)
    return Workload(
        _core.workload_collective(pattern, count("n", n), total, count("root", root), chosen.given(), pairs)
    )


def ideal(
    pattern: str, n: int, size: str | float, method: Method, latency: str | float, rate: str | float
) -> tuple[int | None, float]:
    """Return the ideal time of a collective in ps, if a formula is known, and the factor of its bus bandwidth."""
    network = picoseconds("latency", latency), quantity("rate", "rate", rate)
    return _core.workload_ideal(pattern, count("n", n), quantity("size", "size", size), *network, method.given())


def _known(parameters: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return parameters of a method; raises ``ScenarioError`` for another name."""
    known = list(Method.__dataclass_fields__)
    for name in parameters:
        if name not in known:
            raise ScenarioError(f'parameter "{name}": expected one of {", ".join(known)}')
    return parameters


def format_of(path: Path) -> str:
    """Return the format of a file to be written; raises ``FolderError`` for another suffix or a file that is there."""
    if path.suffix not in WRITTEN:
        raise FolderError(f'--out "{path}": expected a name that ends with {" or ".join(WRITTEN)}')
    if path.exists() and not is_stream(path):
        raise FolderError(f"{path} exists: give another --out, or remove it first (nothing is overwritten)")
    return WRITTEN[path.suffix]


def count(name: str, value: int, most: int = 2**32) -> int:
    """Return a whole number of at least 0 and below ``most``; raises ``ScenarioError`` for another."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < most:
        raise ScenarioError(f"{name} = {value!r}: expected a whole number from 0 to {most - 1}")
    return value


def picoseconds(name: str, value: str | float) -> int:
    """Return a time in whole picoseconds; numbers are seconds."""
    return _scaled(name, "time", value, 1e12)


def quantity(name: str, kind: str, value: str | float) -> int:
    """Return a size in bytes or a rate in bit/s as a whole number."""
    return _scaled(name, kind, value, 1)


def _scaled(name: str, kind: str, value: str | float, scale: float) -> int:
    try:
        number = _core.model_quantity(kind, value) if isinstance(value, str) else float(value)
    except ModelError as error:
        raise ScenarioError(f"{name} = {error}") from None
    if kind == "rate" and number <= 0:
        raise ScenarioError(f"{name} = {value}: expected a rate above 0")
    if not 0 <= number * scale < MOST:
        raise ScenarioError(f"{name} = {value}: expected a {kind} of at least 0 and below 2^63 in the smallest unit")
    return round(number * scale)
