"""A policy of four numbers learns to set windows, and is compared with Swift on seeds that it has not seen.

``make learn`` runs it: 75 s of CPU time. Sixteen hosts of a fat tree send 2 MB each, over paths that
collide (scenario ``permutation``, k = 4). Every 10 us each flow observes its round-trip time and its window, and
multiplies its window by 2^a, where

    a = w0 + w1 log2(rtt) + w2 rtt_change + w3 log2(window),    clipped to -1 to 1.

All flows share the weights w, which the cross-entropy method looks for: it draws weights from a normal distribution,
runs each on the same training seeds, and fits the distribution to the best quarter. The cost of a run is its mean
slowdown of completion times plus a tenth of the 99th percentile of its RTTs, in RTTs of the empty path.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

import incast
from incast.learn import FlowsEnv
from incast.statistics import estimate

SCENARIO = "permutation"
CHANGES = {"topology.k": 4, "run.until": "finished"}
TRAIN = range(1, 7)
HELD_OUT = range(1001, 1021)
WEIGHTS = 4
KEYS = {
    "cost": "cost",
    "fct.slowdown_mean": "mean slowdown",
    "fct.slowdown_p99": "p99 slowdown",
    "flows.rtt_p99_s": "p99 RTT, us",
    "queues.drops": "drops",
}
EMPTY_RTT_S = 13.9e-6
"""Round-trip time of a full packet and its ACK on the empty path across the fabric, to the microsecond."""

Weights = npt.NDArray[np.float64]


def cost(figures: dict[str, float]) -> float:
    """Work out what a run costs, the less the better; one that leaves flows unfinished costs more than any other."""
    if figures["fct.finished"] < figures["fct.count"]:
        return 100.0
    return figures["fct.slowdown_mean"] + 0.1 * figures["flows.rtt_p99_s"] / EMPTY_RTT_S


def run(env: FlowsEnv, weights: Weights, seed: int) -> dict[str, float]:
    """Run an episode under the policy; return the figures of the run."""
    observations, infos = env.reset(options={"seed": seed})
    while env.agents:
        seen = np.array(list(observations.values()), dtype=np.float64)
        rtt, change, window = seen.T
        features = np.stack([np.ones_like(rtt), np.log2(rtt), change, np.log2(window)])
        actions = np.clip(weights @ features, -1, 1)
        observations, _, _, _, infos = env.step({name: [a] for name, a in zip(observations, actions, strict=True)})
    figures: dict[str, float] = next(iter(infos.values()))["figures"]
    return figures | {"cost": cost(figures)}


def learn(env: FlowsEnv, iterations: int, draws: int, seed: int) -> Weights:
    """Look for the weights by the cross-entropy method."""
    random = np.random.default_rng(seed)
    mean, spread = np.array([0.0, 0.0, 0.0, 0.0]), np.array([0.3, 0.5, 0.3, 0.3])
    for iteration in range(iterations):
        tried = random.normal(mean, spread, (draws, WEIGHTS))
        costs = [np.mean([run(env, weights, s)["cost"] for s in TRAIN]) for weights in tried]
        best = tried[np.argsort(costs)[: draws // 4]]
        mean, spread = best.mean(axis=0), best.std(axis=0) + 0.02
        quarter = np.sort(costs)[: draws // 4].mean()
        print(f"iteration {iteration + 1}: median cost {np.median(costs):.3f}, best quarter {quarter:.3f}", flush=True)
    return mean


def swift(seeds: Sequence[int], changes: dict[str, object]) -> list[dict[str, float]]:
    """Run Swift on the seeds; return the figures of each run."""
    figures = incast.evaluate(incast.Scenario.load(SCENARIO).with_(CHANGES | changes), seeds)
    rows = [{key: float(figures[key][place]) for key in figures} for place in range(len(seeds))]
    return [row | {"cost": cost(row)} for row in rows]


def tuned_swift() -> dict[str, object]:
    """Choose Swift's base target and increase for the same cost, on the same training seeds."""
    grid: list[dict[str, object]] = [
        {"controller.base_target": f"{target}us", "controller.ai": ai}
        for target in (2, 4, 6, 8, 10, 12, 15, 20, 30)
        for ai in (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
    ]
    return min(grid, key=lambda changes: float(np.mean([row["cost"] for row in swift(TRAIN, changes)])))


def shown(values: Sequence[float], scale: float) -> str:
    """Write a mean with its 95 % interval."""
    found = estimate([value * scale for value in values])
    assert found is not None
    return f"{found.mean:.3g} ± {found.half_width or 0:.2g}"


def main() -> None:
    """Learn, and compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--iterations", type=int, default=12)
    parser.add_argument("--draws", type=int, default=32, help="weights tried an iteration")
    parser.add_argument("--seed", type=int, default=0, help="seed of the search")
    words = parser.parse_args()
    began, cpu = time.perf_counter(), time.process_time()
    env = FlowsEnv(SCENARIO, CHANGES, step="10us", observe=("rtt", "rtt_change", "window"))
    weights = learn(env, words.iterations, words.draws, words.seed)
    print(f"learned {np.round(weights, 3).tolist()} in {time.process_time() - cpu:.0f} s of CPU time, ", end="")
    print(f"{time.perf_counter() - began:.0f} s by the clock")
    before = np.zeros(WEIGHTS)
    changes = tuned_swift()
    rows = {
        "windows never moved": [run(env, before, seed) for seed in HELD_OUT],
        "learned": [run(env, weights, seed) for seed in HELD_OUT],
        "swift": swift(HELD_OUT, {}),
        f"swift, {', '.join(f'{key[11:]}={value}' for key, value in changes.items())}": swift(HELD_OUT, changes),
    }
    env.close()
    print(f"\n{len(HELD_OUT)} held-out seeds, mean and 95 % interval:")
    print(" " * 34 + "".join(f"{word:16}" for word in KEYS.values()).rstrip())
    for name, runs in rows.items():
        cells = [shown([row[key] for row in runs], 1e6 if key.endswith("_s") else 1) for key in KEYS]
        print(f"{name:34}" + "".join(f"{cell:16}" for cell in cells).rstrip())
    print("\ncost of learned less that of another, seed by seed; below 0 learned is better:")
    for name, runs in rows.items():
        if name != "learned":
            less = [ours["cost"] - theirs["cost"] for ours, theirs in zip(rows["learned"], runs, strict=True)]
            print(f"  {name}: {shown(less, 1)}")


if __name__ == "__main__":
    main()
