"""``incast`` without a command, and ``incast --version``."""

from __future__ import annotations

from typing import Annotated

import typer

from incast import _core
from incast.commands.options import out

EXAMPLES = (
    ("a fabric of my own", "incast new scenario --leaf-spine 4x2 --hosts 32 --rate 25G --load 60%"),
    ("one run of it", "incast run scenario.toml"),
    ("two controllers on it", "incast compare scenario.toml --cc dctcp --cc swift"),
    ("a figure of a paper", "incast paper run swift/fig20"),
)

GROUPS = (
    (
        "Begin",
        (("new", "commented scenario, study, controller, paper"), ("list, describe", "names, and what they are")),
    ),
    ("Check", (("validate", "files, with lines of errors"), ("doctor", "this machine"), ("schema", "for editors"))),
    ("Run", (("run", "one scenario"), ("compare", "controllers, with a report"), ("coexist", "pairs on one fabric"))),
    ("Grow", (("study", "axes, arms and seeds in a store"), ("tune, sensitivity", "parameters"), ("query", "SQL"))),
    (
        "Look",
        (
            ("lab", "all in a browser tab"),
            ("plot, view", "one run"),
            ("report", "again from results"),
            ("explain", "who paused whom in a run"),
            ("import, export", "of HPCC, htsim; for Wireshark, Perfetto"),
        ),
    ),
    (
        "Know",
        (
            ("paper", "figures of papers, with verdicts"),
            ("model", "closed forms"),
            ("workload", "jobs of AI clusters: mistakes, counts, bounds"),
        ),
    ),
)


def _version(asked: bool) -> None:
    if asked:
        out.print(f"incast {_core.__version__}", highlight=False)
        raise typer.Exit


def incast(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", "-V", help="Print the version.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Handle options without a command; without both, print what the program does."""
    del version  # printed by its callback
    if context.invoked_subcommand is not None:
        return
    lines = ["Incast: a laboratory for data-center congestion control.", ""]
    for title, commands in GROUPS:
        for place, (name, what) in enumerate(commands):
            lines.append(f"  {title if place == 0 else '':<7}{name:<18} {what}")
    lines += ["", "Examples"]
    for what, command in EXAMPLES:
        lines += [f"  {what}:", f"    {command}"]
    lines += ["", "incast COMMAND --help says more; incast --help has all commands in one list."]
    for line in lines:
        out.print(line, highlight=False, soft_wrap=True)
