"""One job of a file on the topology of a scenario, in place of its traffic and jobs."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

PACKED = "packed"
"""The usual placement of ranks."""


def changes(workload: str | PathLike[str], ranks_to: str = PACKED) -> dict[str, object]:
    """Return the keys that put the ranks of a file on hosts; a relative path starts in the working directory."""
    path = workload if str(workload).startswith("builtin:") else Path(workload).absolute()
    return {"traffic": [], "job": [{"workload": str(path), "placement": ranks_to}]}
