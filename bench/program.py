"""A run of the program ``incast`` in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.bare import ROOT

INCAST = Path(sys.executable).parent / "incast"


def result(scenario: str, sets: Sequence[str]) -> dict[str, Any]:
    """Run a scenario with settings ``KEY=VALUE`` and return what the program prints as JSON.

    Raises ``RuntimeError`` with the program's words where the run fails.
    """
    with tempfile.TemporaryDirectory() as folder:
        words = [word for pair in sets for word in ("--set", pair)]
        command = [str(INCAST), "run", scenario, *words, "--json", "--quiet", "--out", f"{folder}/out"]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    found: dict[str, Any] = json.loads(done.stdout)
    return found
