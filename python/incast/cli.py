"""The program ``incast``: its start, and its exit statuses.

Exit status 0: done; 1: a run failed, or its results could not be written; 2: bad input; 130: interrupted by Ctrl-C;
143: by SIGTERM; 129: its terminal was closed. Messages go to standard error, results to standard output.
"""

from __future__ import annotations

import os

from incast.system.interrupts import loading


def main() -> None:
    """Run the command line."""
    # Pictures go to files: a window backend, or a missing one, must not matter.
    os.environ["MPLBACKEND"] = "agg"
    with loading():
        from incast.external import consent
        from incast.system import output

        output.is_program = True
        consent.look_away()
        from incast.commands import exits, program
    exits.carry_out(program.program())


if __name__ == "__main__":
    main()
