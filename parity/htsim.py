"""htsim (Broadcom/csg-htsim): single flows, and drop-free permutations flow by flow."""

from __future__ import annotations

from parity.checks import Case, Figure, Section, World
from parity.figures import flow
from parity.tolerances import Digits


def world() -> World:
    """Return htsim's comparisons."""
    return World(
        "htsim",
        "htsim",
        "Broadcom/csg-htsim, commit 841d9e7: 4000-byte packets, 40-byte ACKs, 100 Gb/s, 1 us a link, a fair NIC "
        "that takes 3 packets of a flow at a time.",
        (
            Section(
                "htsim/single",
                "One flow on an empty fabric",
                "Completion time of 2 MB: 501 packets, since htsim sends one more than the size needs.",
            ),
        ),
        single(),
    )


def single() -> tuple[Case, ...]:
    """Single flows, whose times have a closed form on the empty path."""
    return (
        Case(
            "htsim/single/closed-form",
            "NewReno from 15 packets, same rack: line rate throughout",
            "one-flow-same-rack.toml",
            {},
            (Figure("completion time", "us", 164.6464, Digits(6), flow(0, "fct_s", 1e6)),),
            quick=True,
            cost_s=0.1,
        ),
    )
