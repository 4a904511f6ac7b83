"""Size of a run in words."""

from __future__ import annotations

import math
from collections.abc import Iterator

from incast.runs.size import Size
from incast.system import memory
from incast.writing.numbers import duration, quantity, scaled


def rate(bps: float) -> str:
    """Format a rate: 100 Gb/s."""
    return "no rate" if bps == math.inf else quantity(bps, "b/s")


def cost(size: Size) -> str:
    """Format the estimated CPU time of a run, with one figure: about 3 s."""
    if size.cpu_s is None:
        return "?"
    return "< 0.1 s" if size.cpu_s < 0.1 else duration(float(f"{size.cpu_s:.1g}"))


def lines(size: Size) -> Iterator[str]:
    """Yield the lines of a run's size, with its estimates."""
    switches = size.switches
    yield (
        f"fabric: {size.hosts:,} hosts with links of {rate(size.host_rate_bps)}, "
        f"{switches:,} {'switch' if switches == 1 else 'switches'}, {size.ports:,} ports"
    )
    flows = f"{size.flows:,} flow{'s' * (size.flows != 1)}"
    yield f"traffic: {flows} in at most {duration(size.duration_s)} of simulated time"
    if size.hops is None:
        yield "hops: not estimated for radio cells"
    else:
        yield f"hops: about {scaled(size.hops, 2)}, {cost(size)} of CPU time"
    yield f"memory: about {memory.spoken(size.memory)}; free: {memory.spoken(memory.free_memory())}"
    yield "estimated: hops and time are right to a factor of about two, where losses are few"
