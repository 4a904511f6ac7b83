"""Learning environments for Gymnasium and PettingZoo: an agent sets the windows of flows.

Needs the extra ``learn``: ``pip install "incast[learn]"``. See docs/learning.md for observations, actions and steps.

>>> import gymnasium, incast.learn
>>> env = gymnasium.make("incast/Flow-v0", scenario="dumbbell", changes={"run.duration": "5ms", "run.warmup": "1ms"})
>>> observation, info = env.reset(seed=1)
>>> observation, reward, terminated, truncated, info = env.step(env.action_space.sample())
>>> env.close()
"""

from incast.learn.environments import FlowEnv, FlowsEnv

__all__ = ["FlowEnv", "FlowsEnv"]
