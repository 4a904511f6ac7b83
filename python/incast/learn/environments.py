"""The environments: ``FlowEnv`` of one flow or of all flows alike, ``FlowsEnv`` with an agent per flow."""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any

import numpy as np
import numpy.typing as npt

from incast import _core
from incast.batch.evaluation import numbers_of
from incast.errors import RunError, StudyError, needs
from incast.learn.episode import ACTIONS, FEATURES, Agent, Episode, weighted
from incast.runs.groups import keys_of
from incast.runs.scenario import Scenario
from incast.system.output import nearest

try:
    import gymnasium
    from gymnasium import spaces
    from gymnasium.utils import seeding
    from pettingzoo import ParallelEnv
except ModuleNotFoundError as error:
    raise needs("learn", error) from None

Observation = npt.NDArray[np.float32]
Reward = Mapping[str, float] | Callable[[Mapping[str, float]], float]
"""Weights of features, or a function of the features of a flow's step by name."""

OBSERVE = ("rtt", "rtt_change", "throughput", "loss", "marks", "window")
REWARD = {"throughput": 1.0, "rtt": -0.1, "loss": -1.0}
SEEDS = 2**31
"""Seeds of episodes are below this number."""


class _Flows:
    """State of both environments: the scenario, the current episode, and the features of its flows."""

    def __init__(
        self,
        scenario: Scenario | str | PathLike[str],
        changes: Mapping[str, object] | None,
        step: str | float,
        observe: Sequence[str],
        action: str,
        reward: Reward,
        entries: Sequence[str],
    ) -> None:
        self.scenario = _governed(scenario, changes or {}, entries)
        duration_s = _core.model_quantity("time", str(self.scenario.resolved()["run"]["duration"]))
        self.step_s, self.acks = _step(step, duration_s)
        for name in [*observe, *(reward if isinstance(reward, Mapping) else [])]:
            if name not in FEATURES:
                raise StudyError(f"no feature {name}{nearest(name, list(FEATURES))}: expected {', '.join(FEATURES)}")
        if not observe:
            raise StudyError("observe: expected at least one feature")
        if action not in ACTIONS:
            raise StudyError(f'action = "{action}": expected {", ".join(ACTIONS)}')
        self.observe, self.action = tuple(observe), ACTIONS[action]
        self.reward = weighted(reward) if isinstance(reward, Mapping) else reward
        self.episode: Episode | None = None
        self.latest: dict[int, dict[str, float]] = {}
        """Features of each flow in its latest active step; before that, those of its initial window."""
        self._closing: weakref.finalize[Any, Any] | None = None

    def observation_space(self) -> spaces.Space[Any]:
        low, high = ([getattr(FEATURES[name], side) for name in self.observe] for side in ("low", "high"))
        return spaces.Box(np.array(low, np.float32), np.array(high, np.float32), dtype=np.float32)

    def action_space(self) -> spaces.Space[Any]:
        if self.action.choices:
            return spaces.Discrete(self.action.choices)
        return spaces.Box(-1.0, 1.0, (1,), np.float32)

    def begin(self, seed: int, owner: object) -> None:
        """Begin an episode, and simulate its first step with the initial windows."""
        self.close()
        self.latest = {}
        episode = self.episode = Episode(self.scenario.with_seed(seed), self.step_s, self.acks)
        self._closing = weakref.finalize(owner, episode.close)
        self.advance()
        if episode.over:
            self.close()
            raise RunError(f"{self.scenario.name}, seed {seed}: the run ended before the end of the first step")
        for flow, agent in episode.agents.items():
            if flow not in self.latest:
                self.latest[flow] = agent.features(self.step_s)

    def act(self, flow: int, action: Any) -> None:
        """Apply an action to a flow."""
        episode = self.current()
        given = np.asarray(action, dtype=np.float64).reshape(-1)
        number = float(given[0]) if len(given) == 1 else math.nan
        high = self.action.choices - 1 if self.action.choices else 1
        if not -1 <= number <= high or (self.action.choices and (number < 0 or not number.is_integer())):
            expected = f"a whole number from 0 to {high}" if self.action.choices else "a number from -1 to 1"
            raise StudyError(f"action {action!r}: expected {expected}")
        self.action.apply(episode.agents[flow], number)

    def current(self) -> Episode:
        """Return the current episode."""
        if self.episode is None:
            raise RunError("no current episode: reset the environment first")
        return self.episode

    def advance(self) -> dict[int, dict[str, float]]:
        """Simulate a step; return the features of the flows that were active in it."""
        episode = self.current()
        before = episode.now_s
        episode.advance()
        duration_s = episode.now_s - before
        # flows before their start or after their end are inactive
        active = [flow for flow, agent in sorted(episode.agents.items()) if agent.is_active]
        now = {flow: episode.agents[flow].features(duration_s) for flow in active}
        self.latest |= now
        return now

    def observed(self, features: Mapping[str, float]) -> Observation:
        return np.array([features[name] for name in self.observe], np.float32)

    def ended(self) -> tuple[bool, bool]:
        """Return whether all flows have finished, and whether the run's duration is over."""
        episode = self.current()
        finished = episode.over and episode.now_s < episode.end_s * (1 - 1e-12)
        return finished, episode.over and not finished

    def info(self) -> dict[str, Any]:
        """Return the simulated time, and at the end the figures of the run."""
        episode = self.current()
        info: dict[str, Any] = {"time_s": episode.now_s}
        if episode.over and episode.summary is not None:
            info["figures"] = dict(numbers_of(episode.summary))
        return info

    def close(self) -> None:
        if self._closing is not None:
            self._closing()  # at most once
        self.episode = self._closing = None


def _governed(
    scenario: Scenario | str | PathLike[str], changes: Mapping[str, object], entries: Sequence[str]
) -> Scenario:
    """Put the flows of these entries, or all flows, under agents."""
    found = scenario if isinstance(scenario, Scenario) else Scenario.load(scenario)
    found = found.with_(changes)
    paths = keys_of(found.resolved())
    names = list(paths)
    for entry in entries:
        if entry not in names:
            raise StudyError(f"no traffic entry or job {entry} in {found.name}: expected {', '.join(names)}")
    if not entries or set(entries) == set(names):
        found = found.with_controller(Agent)
    else:
        found = found.with_({f"{paths[entry]}.controller": Agent for entry in entries})
    found.validate()
    governing = found.governing()
    if not any(name.endswith(f":{Agent.__name__}") for name in governing):
        raise StudyError(
            f"{found.name}: {' and '.join(governing)} sends without a congestion window that an agent could set: "
            'expected flows of TCP, such as those of "dumbbell"'
        )
    return found


def _step(step: str | float, duration_s: float) -> tuple[float, int]:
    """Read the length of a step: seconds, or ACKs."""
    if isinstance(step, str):
        number, _, unit = step.strip().partition(" ")
        if unit.strip() in ("ack", "acks"):
            if not number.isdecimal() or int(number) < 1:
                raise StudyError(f'step = "{step}": expected a time such as "100us", or a number of ACKs: "10 acks"')
            return 0.0, int(number)
        try:
            seconds = _core.model_quantity("time", step)
        except _core.ModelError:
            raise StudyError(
                f'step = "{step}": expected a time such as "100us", or a number of ACKs: "10 acks"'
            ) from None
    else:
        seconds = float(step)
    if not (math.isfinite(seconds) and 1e-9 <= seconds < duration_s):
        raise StudyError(f"step = {step}: expected at least 1 ns, and less than the run's {duration_s:g} s")
    return seconds, 0


class FlowEnv(gymnasium.Env[Observation, Any]):
    """One agent that sets the windows of all its flows: a single flow, or several that share a policy.

    The observation is the mean over the flows that were active in the step, the action applies to all of them, and the
    reward is the mean of their rewards. An episode is a run: truncated at ``run.duration``, terminated if all flows
    finish earlier (``run.until = "finished"``); the last ``info`` has the run's ``figures``.

    ``scenario`` is a ``Scenario``, a name or a file; ``changes`` are keys for ``Scenario.with_``; ``entries`` are the
    traffic entries whose flows the agent governs (default: all); other flows keep their controller. ``step`` is a
    simulated time (``"100us"``, or seconds) or a number of ACKs (``"10 acks"``). ``reset(seed=...)`` seeds the next
    episodes; ``reset(options={"seed": n})`` starts an episode with simulation seed n, like ``Scenario.run(seed=n)``.
    """

    metadata = {"render_modes": []}  # noqa: RUF012 -- as Gymnasium declares it

    def __init__(
        self,
        scenario: Scenario | str | PathLike[str] = "dumbbell",
        changes: Mapping[str, object] | None = None,
        step: str | float = "100us",
        observe: Sequence[str] = OBSERVE,
        action: str = "scale",
        reward: Reward = REWARD,
        entries: Sequence[str] = (),
        render_mode: None = None,
    ) -> None:
        self._flows = _Flows(scenario, changes, step, observe, action, reward, entries)
        self.observation_space = self._flows.observation_space()
        self.action_space = self._flows.action_space()
        self.render_mode = render_mode
        self._latest = np.zeros(len(observe), np.float32)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin a run, simulate its first step with the initial windows, and return the observation."""
        super().reset(seed=seed)
        self._flows.begin(_seed(self.np_random, options), self)
        return self._observation(self._flows.latest), self._flows.info()

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Apply the action to every flow, and simulate a step."""
        for flow in self._flows.current().agents:
            self._flows.act(flow, action)
        features = self._flows.advance()
        rewards = [self._flows.reward(one) for one in features.values()]
        reward = math.fsum(rewards) / len(rewards) if rewards else 0.0
        return self._observation(features), reward, *self._flows.ended(), self._flows.info()

    def _observation(self, features: Mapping[int, Mapping[str, float]]) -> Observation:
        if features:
            self._latest = np.mean([self._flows.observed(one) for one in features.values()], axis=0, dtype=np.float32)
        return self._latest.copy()

    def close(self) -> None:
        """End the current run."""
        self._flows.close()


class FlowsEnv(ParallelEnv[str, Observation, Any]):  # type: ignore[misc]  # PettingZoo has no types
    """One agent per flow, ``flow_0`` and so on, in PettingZoo's parallel interface.

    Arguments, steps and seeds are those of ``FlowEnv``. A flow that was inactive in a step has the observation of its
    latest active step, and reward 0. All agents stay until the end of the run. An agent without an action keeps its
    window.
    """

    metadata = {"name": "incast_flows_v0", "render_modes": []}  # noqa: RUF012

    def __init__(
        self,
        scenario: Scenario | str | PathLike[str] = "dumbbell",
        changes: Mapping[str, object] | None = None,
        step: str | float = "100us",
        observe: Sequence[str] = OBSERVE,
        action: str = "scale",
        reward: Reward = REWARD,
        entries: Sequence[str] = (),
        render_mode: None = None,
    ) -> None:
        self._flows = _Flows(scenario, changes, step, observe, action, reward, entries)
        self.render_mode = render_mode
        self._random: np.random.Generator | None = None
        self._flows.begin(self._flows.scenario.seed, self)
        self._ids = {f"flow_{flow}": flow for flow in sorted(self._flows.current().agents)}
        self._flows.close()
        self.possible_agents = list(self._ids)
        self.agents: list[str] = []
        self._spaces = {
            name: (self._flows.observation_space(), self._flows.action_space()) for name in self.possible_agents
        }

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """Return the space of an agent's observations: the same object every time."""
        return self._spaces[agent][0]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """Return the space of an agent's actions: the same object every time."""
        return self._spaces[agent][1]

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Observation], dict[str, dict[str, Any]]]:
        """Begin a run, simulate its first step with the initial windows, and return the observations."""
        if seed is not None or self._random is None:
            self._random, _ = seeding.np_random(seed)
        self._flows.begin(_seed(self._random, options), self)
        episode = self._flows.current()
        if sorted(episode.agents) != list(self._ids.values()):
            found = len(episode.agents)
            self._flows.close()
            raise RunError(
                f"{self._flows.scenario.name} has {found} flows under this seed and {len(self._ids)} under its own: "
                "expected traffic with the same flows under every seed, or FlowEnv"
            )
        self.agents = self.possible_agents[:]
        return self._observations(), {name: self._flows.info() for name in self.agents}

    def step(
        self, actions: Mapping[str, Any]
    ) -> tuple[dict[str, Observation], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]:
        """Apply the actions to the flows, and simulate a step."""
        for name, action in actions.items():
            if name not in self._ids:
                raise StudyError(f"no agent {name}: expected {self.possible_agents[0]} and so on")
            self._flows.act(self._ids[name], action)
        features = self._flows.advance()
        rewards = {
            name: float(self._flows.reward(features[flow])) if flow in features else 0.0
            for name, flow in self._ids.items()
        }
        finished, truncated = self._flows.ended()
        names, info = self.possible_agents, self._flows.info()
        if finished or truncated:
            self.agents = []
        return (
            self._observations(),
            rewards,
            dict.fromkeys(names, finished),
            dict.fromkeys(names, truncated),
            {name: dict(info) for name in names},
        )

    def _observations(self) -> dict[str, Observation]:
        return {name: self._flows.observed(self._flows.latest[flow]) for name, flow in self._ids.items()}

    def render(self) -> None:
        """Draw nothing: results are numbers."""

    def close(self) -> None:
        """End the current run."""
        self._flows.close()


def _seed(random: np.random.Generator, options: Mapping[str, Any] | None) -> int:
    """Choose the seed of the simulation: the requested one, or one of the environment's generator."""
    drawn = int(random.integers(SEEDS))
    if options is None or "seed" not in options:
        return drawn
    given = options["seed"]
    if not isinstance(given, int) or given < 0:
        raise StudyError(f'options["seed"] = {given!r}: expected a whole number of at least 0')
    return given


gymnasium.register("incast/Flow-v0", entry_point="incast.learn:FlowEnv")
