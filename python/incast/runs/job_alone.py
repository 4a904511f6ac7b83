"""A training job without the other jobs of its scenario."""

from __future__ import annotations

from incast.errors import ScenarioError
from incast.runs.scenario import Scenario


def alone(scenario: Scenario, job: str) -> Scenario:
    """Return a scenario in which one of its jobs runs and no other begins.

    Hosts, seed, other traffic and all settings stay, and the draws of every flow with them: the other jobs have a start
    at the end of the run. Raises ``ScenarioError`` if the scenario has no such job.
    """
    resolved = scenario.resolved()
    entries = resolved.get("job", [])
    if job not in [one["name"] for one in entries]:
        known = ", ".join(one["name"] for one in entries) or "none"
        raise ScenarioError(f"{job}: {scenario.name} has no such job; expected one of {known}")
    end = resolved["run"]["duration"]
    return scenario.changed({"job": [one if one["name"] == job else {**one, "start": end} for one in entries]})
