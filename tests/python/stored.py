"""Small studies, and what their stores hold."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from incast import Study

SHORT = {"run.duration": "1ms", "run.warmup": "0s"}


def small(**more: Any) -> Study:
    return Study("dumbbell", **({"settings": SHORT, "axes": {"controller.g": [0.1, 0.5]}, "seeds": 2} | more))


def contents(folder: Path) -> dict[str, bytes]:
    """Bytes of every file of a store that is a result."""
    found = {str(path.relative_to(folder)): path for path in folder.rglob("*") if path.is_file()}
    others = ("log/", "reports/", ".lock")
    return {name: path.read_bytes() for name, path in found.items() if not name.startswith(others)}
