"""Size of a run in words."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator

from incast.runs.scenario import Scenario
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


def as_json(scenario: Scenario, size: Size) -> str:
    """Return a run's size, its estimates and its notes as JSON."""
    run = {"scenario": scenario.name, "seed": scenario.seed, "hash": scenario.hash}
    own = {
        "hosts": size.hosts,
        "host_rate_bps": None if size.host_rate_bps == math.inf else size.host_rate_bps,
        "switches": size.switches,
        "ports": size.ports,
        "flows": size.flows,
        "duration_s": size.duration_s,
    }
    about = {"hops": size.hops, "cpu_s": size.cpu_s, "memory_bytes": size.memory}
    found = run | own | {"estimates": about, "free_memory_bytes": memory.free_memory(), "notes": scenario.notes()}
    return json.dumps(found, indent=2) + "\n"


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
