"""The TCP of Linux 6.1.192, measured under User Mode Linux in virtual time: bulk flows."""

from __future__ import annotations

from parity.checks import World


def world() -> World:
    """Return Linux's comparisons of bulk flows."""
    return World(
        "linux",
        "Linux",
        "The TCP stack, queues and netem of Linux 6.1.192 under User Mode Linux, whose clock only moves when nothing "
        "is left to do: computing costs no simulated time, links and timers do.",
        (),
        (),
    )
