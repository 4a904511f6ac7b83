"""Runs of a study by Slurm: an array job whose parts each write a journal into the store.

A part takes every n-th run that is missing at its start. After a killed part or a timeout the same command submits the
missing runs. Nodes and the submitting machine share the disk.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import uuid
from collections.abc import Callable
from pathlib import Path

from incast.batch.filling import Batch, journalled
from incast.batch.journal import Journal
from incast.batch.record import make
from incast.batch.store import PENDING, Store
from incast.errors import RunError, StudyError
from incast.external import consent
from incast.system.folders import write_whole

PARTS = 200
"""Default number of parts of an array: few enough for a queue, many enough to spread."""
LEAST_RUNS = 20
"""Fewest runs of a part, unless there are fewer in total."""


def outside(parts: int = 0, options: str = "") -> Callable[[Store], None]:
    """Return a function that makes the missing runs by an array job of ``parts``, with extra options of ``sbatch``."""

    def submit(store: Store) -> None:
        runs = len(Batch.of(store).tasks())
        count = min(parts or min(PARTS, -(-runs // LEAST_RUNS)), runs)
        path = store.folder / PENDING / "slurm.sh"
        write_whole(path, script(store.folder, count, options))
        (store.folder / "log").mkdir(exist_ok=True)
        try:
            done = subprocess.run(["sbatch", "--wait", str(path)], capture_output=True, text=True, check=False)
        except FileNotFoundError:
            raise StudyError(
                f"--on slurm: sbatch not found; the script is {path}: submit it on a machine with Slurm, "
                "and run the same command again when it is done"
            ) from None
        left = len(Batch.of(store).tasks())
        if left:
            said = f"; sbatch said: {done.stderr.strip()}" if done.stderr.strip() else ""
            raise RunError(
                f"{left} of {runs} runs were not made by the array job (output: {store.folder / 'log'}/slurm-*.out)"
                f"{said}; finished runs are kept, and the same command submits the others"
            )

    return submit


def script(folder: Path, parts: int, options: str = "") -> str:
    """Write the script of the array job."""
    words = [sys.executable, "-P", "-m", "incast", "study", "work", str(folder.resolve()), "--of", str(parts)]
    words += [word for allowed in consent.granted() for word in ("--allowed", allowed)]
    given = "".join(f"#SBATCH {one}\n" for one in shlex.split(options))
    return (
        "#!/bin/bash\n"
        "#SBATCH --job-name=incast\n"
        f"#SBATCH --array=0-{parts - 1}\n"
        f"#SBATCH --output={shlex.quote(str(folder.resolve() / 'log' / 'slurm-%A-%a.out'))}\n"
        f"{given}"
        f'exec {shlex.join(words)} --part "$SLURM_ARRAY_TASK_ID"\n'
    )


def work(store: Store, part: int, parts: int) -> int:
    """Make one part of the pending runs, and return their number. Raises the exceptions of runs."""
    pending = store.pending()
    if pending is None:
        return 0
    if not 0 <= part < parts:
        raise StudyError(f"--part {part}: expected 0 to {parts - 1}")
    own = Journal(store.folder / "journal" / f"part-{part}-{os.getpid()}-{uuid.uuid4().hex[:8]}.bin")
    made = 0
    try:
        # the assignment does not depend on finished runs
        there = journalled(store)
        for task in Batch.of(store, all_of=True).tasks()[part::parts]:
            if task.run in there:
                continue
            if not (store.folder / PENDING).exists():
                break  # closed, or finished by others
            own.append(make(task, store.folder, pending.keep))
            made += 1
    finally:
        own.close()
    return made
