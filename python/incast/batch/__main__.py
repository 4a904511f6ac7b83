"""Worker process: reads slices of tasks from standard input and writes records to standard output.

    python -P -m incast.batch PARENT FOLDER KEEP CORES MEMORY ALLOWED

The process ends at the end of its input, and aborts a run if its parent is gone.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

from incast.batch.record import Task, make
from incast.batch.shares import Each
from incast.batch.workers import error_text, read_frame, write_frame
from incast.errors import RunStopped
from incast.external import consent

USAGE = "usage: python -P -m incast.batch PARENT FOLDER KEEP CORES MEMORY ALLOWED"


def main() -> None:
    """Work until the input ends."""
    if len(sys.argv) != 7:
        print(f"{USAGE}: started by incast, not by hand", file=sys.stderr)
        sys.exit(0 if sys.argv[1:] in (["--help"], ["-h"]) else 2)
    parent, folder, keep = int(sys.argv[1]), Path(sys.argv[2]), json.loads(sys.argv[3])
    each = Each(int(sys.argv[4]), float(sys.argv[5]))
    consent.inherit(json.loads(sys.argv[6]))
    # Ctrl-C at a terminal reaches all of its processes; the parent ends this one
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # keep prints of a controller out of the records
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    while True:
        try:
            _, words = read_frame(sys.stdin.buffer)
        except EOFError:
            return
        try:
            for task in json.loads(words):
                record = make(Task(**task), folder, keep, lambda *_: os.getppid() == parent, each)
                write_frame(answers, b"R", record)
        except RunStopped:
            return
        except BrokenPipeError:
            os._exit(0)
        except Exception as error:
            write_frame(answers, b"E", error_text(error))
        else:
            write_frame(answers, b"D", b"")


if __name__ == "__main__":
    main()
