"""A training job without the other traffic of its scenario."""

from __future__ import annotations

from incast.errors import ScenarioError
from incast.runs.scenario import Scenario


def alone(scenario: Scenario, job: str) -> Scenario:
    """Return a scenario with one of its jobs and no other traffic, its ranks on the hosts that they have beside others.

    Seed and all settings stay. Raises ``ScenarioError`` if the scenario has no such job.
    """
    hosts = scenario.job_hosts()
    if job not in hosts:
        known = ", ".join(hosts) or "none"
        raise ScenarioError(f"{job}: {scenario.name} has no such job; expected one of {known}")
    entry = next(one for one in scenario.resolved()["job"] if one["name"] == job)
    return scenario.changed({"traffic": [], "job": [{**entry, "hosts": hosts[job]}]})
