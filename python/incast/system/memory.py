"""Memory of the machine and of runs; runs that do not fit are refused."""

from __future__ import annotations

import math
import re
import resource
from collections.abc import Iterator
from pathlib import Path

from incast.errors import ScenarioError
from incast.writing.numbers import quantity, said

_UNITS = {"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
WORTH_TELLING = 10**9
"""Bytes from which the memory of a run is printed even without a terminal."""

GROUPS, HIERARCHY = Path("/proc/self/cgroup"), Path("/sys/fs/cgroup")
"""Paths of the control groups of a process, and of their limits."""


def free_memory() -> float:
    """Return the bytes of memory that this process may still take; infinite if the system does not tell.

    The minimum of the machine's free memory, of what the control groups of the process allow (containers, Slurm), and
    of its own limits (``ulimit -v``, ``ulimit -d``).
    """
    groups = (limit - used for limit, used in _groups())
    own = (limit - _own(at) for limit, at in _limits())
    return max(0.0, min(_entry("MemAvailable"), *groups, *own, math.inf))


def machine_memory() -> float:
    """Return the most bytes of memory that this process may have; infinite if the system does not tell.

    The minimum of the machine's memory and of the limits of the process.
    """
    return min(_entry("MemTotal"), *(limit for limit, _ in _groups()), *(limit for limit, _ in _limits()), math.inf)


def _entry(name: str) -> float:
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return math.inf
    values = [line.split()[1] for line in lines if line.startswith(f"{name}:")]
    return int(values[0]) * 1024 if values else math.inf


def _limits() -> list[tuple[float, int]]:
    """Limits set for the process, each with the column of ``/proc/self/statm`` that it applies to."""
    found = ((resource.getrlimit(which)[0], at) for which, at in ((resource.RLIMIT_AS, 0), (resource.RLIMIT_DATA, 5)))
    return [(float(limit), at) for limit, at in found if limit != resource.RLIM_INFINITY]


def _own(column: int) -> float:
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[column])
    except (OSError, ValueError, IndexError):
        return 0.0
    return float(pages * resource.getpagesize())


def _groups() -> list[tuple[float, float]]:
    """Limits of the control groups of the process, from its own to the topmost, each with its usage."""
    found = []
    for place, most, now in _group_files():
        try:
            limit = float((place / most).read_text(encoding="ascii"))
            used = float((place / now).read_text(encoding="ascii")) - _cached(place)
        except (OSError, ValueError):  # "max" is not a number
            continue
        found.append((limit, max(used, 0.0)))
    return found


def _cached(group: Path) -> float:
    """Bytes of reclaimable file cache of a group."""
    try:
        lines = (group / "memory.stat").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0.0
    values = [line.split()[1] for line in lines if line.startswith(("inactive_file ", "total_inactive_file "))]
    return float(values[-1]) if values else 0.0


def _group_files() -> Iterator[tuple[Path, str, str]]:
    """Yield the folders of the process's groups with the files of their limits, of cgroup versions 2 and 1."""
    try:
        lines = GROUPS.read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    places: dict[str, list[str]] = {"": [""], "memory": [""]}
    for _, controllers, path in (line.split(":", 2) for line in lines if line.count(":") >= 2):
        if controllers == "" or "memory" in controllers.split(","):
            parts = path.strip("/").split("/")
            # a container sees its own group as the topmost one
            kind = "memory" if controllers else ""
            places[kind] = ["/".join(parts[:end]) for end in range(len(parts), -1, -1)]
    for path in dict.fromkeys(places[""]):
        yield HIERARCHY / path, "memory.max", "memory.current"
    for path in dict.fromkeys(places["memory"]):
        yield HIERARCHY / "memory" / path, "memory.limit_in_bytes", "memory.usage_in_bytes"


def limit_of(text: str | None) -> float:
    """Read ``--memory-limit``: a size, ``none``, or the default, which is the machine's memory."""
    if text is None:
        return machine_memory()
    if text == "none":
        return math.inf
    found = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]+)\s*", text)
    if found is None or found[2] not in _UNITS:
        raise ScenarioError(f'--memory-limit "{text}": expected a size such as "8GB", or none')
    return float(found[1]) * _UNITS[found[2]]


def spoken(size: float) -> str:
    """Format a number of bytes for readers."""
    return said(quantity(size, "B"))


def refuse_above(needed: float, limit: float, what: str) -> None:
    """Raise ``ScenarioError`` if a run needs more memory than its limit."""
    if needed > limit:
        raise ScenarioError(
            f"{what} needs about {spoken(needed)} of memory, and {spoken(limit)} is available: make it smaller "
            "(fewer hosts, links or flows), or use --memory-limit none to run it anyway"
        )
