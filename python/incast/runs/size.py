"""Size of a run before it runs: hosts, ports, flows, and estimates of hops, memory and CPU time."""

from __future__ import annotations

import math
from dataclasses import dataclass

from incast.runs.scenario import Scenario

HOPS_PER_CPU_S = 8e6
"""Speed of the engine on a fabric that is larger than the caches, on the machine of PERFORMANCE.md."""


@dataclass(frozen=True)
class Size:
    """Size of a run. Estimates are right to a factor of about two."""

    hosts: int
    switches: int
    ports: int
    flows: int
    host_rate_bps: float
    """Most common rate of the hosts' links; infinite for links without a rate."""
    duration_s: float
    """Simulated time, at most."""
    hops: float | None
    """Estimate; ``None`` with radio cells."""
    memory: int
    """Estimate, bytes."""

    @property
    def cpu_s(self) -> float | None:
        """Estimated CPU seconds of a run."""
        return None if self.hops is None else self.hops / HOPS_PER_CPU_S


def of(scenario: Scenario, most: float = math.inf) -> Size:
    """Return the size of a scenario's run; raises ``ScenarioError`` if it needs more than ``most`` bytes of memory."""
    needed = scenario.refuse_above(most, scenario.name)
    with scenario.looked_at():
        return Size(**scenario.core.extent(), memory=needed)
