"""Memory: what the machine has, what runs take, and refusing what does not fit."""

from __future__ import annotations

import math
import re
from pathlib import Path

from incast.errors import ScenarioError

_UNITS = {"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
WORTH_TELLING = 10**9
"""Bytes from which on a run's memory is told also where nobody watches."""


def free_memory() -> float:
    """Bytes of memory that programs may still take; infinite where the system does not tell."""
    return min(_told("MemAvailable"), _group_limit())


def machine_memory() -> float:
    """Bytes of memory of the machine, or what this process's group of it may take; infinite where it does not tell."""
    return min(_told("MemTotal"), _group_limit())


def _told(name: str) -> float:
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return math.inf
    told = [line.split()[1] for line in lines if line.startswith(f"{name}:")]
    return int(told[0]) * 1024 if told else math.inf


def _group_limit() -> float:
    """Limit of the control group, as containers and Slurm have one."""
    for path in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            return float(Path(path).read_text(encoding="ascii"))
        except (OSError, ValueError):  # "max" is no number
            continue
    return math.inf


def limit_of(text: str | None) -> float:
    """Read ``--memory-limit``: a size, ``none``, or nothing, which is what the machine has."""
    if text is None:
        return machine_memory()
    if text == "none":
        return math.inf
    found = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]+)\s*", text)
    if found is None or found[2] not in _UNITS:
        raise ScenarioError(f'--memory-limit "{text}": expected a size such as "8GB", or none')
    return float(found[1]) * _UNITS[found[2]]


def spoken(size: float) -> str:
    """Write a number of bytes for a reader."""
    for unit in ("TB", "GB", "MB", "kB"):
        if size >= _UNITS[unit]:
            return f"{size / _UNITS[unit]:.3g} {unit}"
    return f"{size:.0f} B"


def refuse_above(needed: float, limit: float, what: str) -> None:
    """Raise ``ScenarioError`` where a run needs more memory than it may have."""
    if needed > limit:
        raise ScenarioError(
            f"{what} takes about {spoken(needed)} of memory, and {spoken(limit)} is there: make it smaller "
            "(fewer hosts, links or flows), or say --memory-limit none to run it anyway"
        )
