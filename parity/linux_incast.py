"""The TCP of Linux 6.1.192, measured under User Mode Linux in virtual time: queries to many workers."""

from __future__ import annotations

from parity.checks import World


def world() -> World:
    """Return Linux's comparisons of incast queries."""
    return World(
        "linux-incast",
        "Linux, incast",
        "Same set-up as above: one root asks n workers for 1 MB in all, on persistent connections, through 128 KiB of "
        "buffer.",
        (),
        (),
    )
