"""Learning environments: an agent sets the windows of flows."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
import warnings
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import parallel_api_test, parallel_seed_test

import incast
from conftest import ROOT, environment
from incast import ControllerError, RunError, ScenarioError, StudyError
from incast.learn import FlowEnv, FlowsEnv
from incast.learn.episode import ACTIONS, FEATURES

SHORT: dict[str, Any] = {"run.duration": "3ms", "run.warmup": "500us"}
STAR = SHORT | {"topology.sources": 4}


def rolled_out(env: FlowEnv, action: Any, seed: int = 1) -> tuple[np.ndarray, list[float], dict[str, Any]]:
    """Observations and rewards of an episode whose every action is the same, and its last info."""
    observation, info = env.reset(options={"seed": seed})
    observations, rewards, over = [observation], [], False
    while not over:
        observation, reward, terminated, truncated, info = env.step(action)
        observations.append(observation)
        rewards.append(reward)
        over = terminated or truncated
    return np.array(observations), rewards, info


@pytest.mark.parametrize("action", list(ACTIONS))
@pytest.mark.parametrize("step", ["100us", "7 acks"])
def test_gymnasiums_checker_passes(action: str, step: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = gymnasium.make("incast/Flow-v0", changes=SHORT, step=step, action=action)
        check_env(env.unwrapped, skip_render_check=True)
        env.close()


def test_pettingzoos_checkers_pass() -> None:
    parallel_api_test(FlowsEnv("dumbbell", SHORT), num_cycles=60)
    parallel_seed_test(lambda: FlowsEnv("dumbbell", SHORT), num_cycles=20)


def test_an_episode_ends_with_the_figures_of_its_run() -> None:
    env = FlowEnv("dumbbell", SHORT)
    observations, _, info = rolled_out(env, [0.0])
    assert observations.shape == (30, 6)  # after each of 30 steps of 100 us, the first of them by reset
    assert info["time_s"] == 0.003
    assert info["figures"]["flows.count"] == 2
    assert info["figures"]["flows.goodput_total_bps"] > 1e9
    with pytest.raises(RunError, match="the episode is over"):
        env.step([0.0])


def test_the_flows_of_a_constant_window_have_the_throughput_of_window_over_rtt() -> None:
    """A fixed window of w bytes an RTT: observed throughput times observed RTT is the observed window."""
    env = FlowEnv("dumbbell", SHORT, observe=("throughput", "rtt", "window"), action="window")
    observations, _, _ = rolled_out(env, [-0.4])  # a quarter of a bandwidth-delay product each: no queue
    throughput, rtt, window = observations[10:].mean(axis=0)
    assert window == pytest.approx(0.25)
    assert rtt < 1.1
    bdp = 10e9 / 8 * 63.9072e-6
    segments = window * bdp // 1448  # of 1448 bytes, and no part of one is sent
    assert throughput * rtt * bdp == pytest.approx(segments * 1448, rel=0.01)


def test_larger_windows_make_longer_queues() -> None:
    env = FlowEnv("dumbbell", SHORT, observe=("rtt",), action="window")
    rtts = [rolled_out(env, [a])[0][15:].mean() for a in (-0.4, 0.2, 0.4)]
    # two flows of w BDPs each through one link: the RTT is 2 w empty round trips, and headers besides
    assert rtts == pytest.approx([1, 4.25, 8.5], rel=0.02)


def test_a_rate_is_what_arrives() -> None:
    env = FlowEnv("dumbbell", SHORT, observe=("throughput", "rtt"), action="rate")
    throughput, rtt = rolled_out(env, [0.6])[0][10:].mean(axis=0)
    assert throughput == pytest.approx(0.25, rel=0.02)
    assert rtt < 1.1


def test_actions_move_the_window_as_declared() -> None:
    for action, given, factor in [
        ("scale", [1.0], 2.0),
        ("scale", [-0.5], 2**-0.5),
        ("discrete", 3, 1.1),
        ("discrete", 2, 1),
    ]:
        env = FlowEnv("dumbbell", SHORT, observe=("window",), action=action)
        (before,), _ = env.reset(seed=1)
        (after,), *_ = env.step(given)
        assert after / before == pytest.approx(factor, rel=1e-6)
        env.close()


def test_the_same_seed_gives_the_same_episode_and_another_seed_another() -> None:
    env = FlowEnv("permutation", {"run.duration": "500us", "run.warmup": "0s", "topology.k": 4}, step="50us")
    once, again, other = (rolled_out(env, [0.1], seed)[0] for seed in (1, 1, 2))
    np.testing.assert_array_equal(once, again)
    assert not np.array_equal(once, other)


def test_resets_with_a_seed_begin_the_same_series_of_episodes() -> None:
    env = FlowEnv("dumbbell", SHORT)

    def series() -> list[list[float]]:
        found = []
        for seed in (5, None, None):
            env.reset(seed=seed)
            found.append(env.step([0.0])[0].tolist())
        return found

    assert series() == series()
    env.close()


def test_vectorised_environments_are_the_single_ones_side_by_side() -> None:
    single = FlowEnv("dumbbell", SHORT)
    single.reset(seed=3)
    alone = single.step(np.array([0.2], np.float32))[0]
    single.close()
    many = gymnasium.make_vec("incast/Flow-v0", num_envs=3, vectorization_mode="sync", changes=SHORT)
    many.reset(seed=[3, 4, 3])
    observations = many.step(np.full((3, 1), 0.2, np.float32))[0]
    many.close()
    np.testing.assert_array_equal(observations[0], alone)
    np.testing.assert_array_equal(observations[2], alone)


def test_steps_by_time_are_equally_long_where_nothing_happens_too() -> None:
    """The flow waits for 1 ms: steps go on, and observe nothing."""
    env = FlowEnv("dumbbell", SHORT | {"traffic.start": "1ms"}, step="50us")
    env.reset(seed=1)
    times = [env.step([0.0])[4]["time_s"] for _ in range(59)]
    assert np.diff(times) == pytest.approx(np.full(58, 50e-6), abs=12e-6)  # to the engine's window of 11 us
    env.close()


def test_a_step_of_one_ack_is_an_ack_of_the_flow() -> None:
    alone = SHORT | {"topology.senders": 1, "topology.receivers": 1}
    env = FlowEnv("dumbbell", alone, step="1 ack", observe=("window",), action="scale")
    (before,), info = env.reset(seed=1)
    (after,), _, _, _, later = env.step([0.25])
    assert later["time_s"] > info["time_s"]
    assert after / before == pytest.approx(2**0.25)
    env.close()


def test_many_agents_have_windows_of_their_own() -> None:
    env = FlowsEnv("dumbbell", SHORT, observe=("window", "throughput"), action="window")
    assert env.possible_agents == ["flow_0", "flow_1"]
    env.reset(seed=1)
    for _ in range(20):
        observations, rewards, *_ = env.step({"flow_0": [-0.6], "flow_1": [-0.2]})
    assert observations["flow_0"][0] == pytest.approx(1 / 8)
    assert observations["flow_1"][0] == pytest.approx(1 / 2)
    assert observations["flow_1"][1] > 3 * observations["flow_0"][1]
    assert rewards["flow_1"] > rewards["flow_0"]
    env.close()


def test_flows_of_other_entries_keep_their_controller() -> None:
    env = FlowEnv("priority", {"run.duration": "2ms", "run.warmup": "0s"}, entries=("elephants",))
    kinds = {
        entry["name"]: entry.get("controller", {}).get("kind") for entry in env._flows.scenario.resolved()["traffic"]
    }
    assert kinds["elephants"] == "incast.learn.episode:Agent"
    assert set(kinds.values()) != {"incast.learn.episode:Agent"}
    env.close()


def test_a_run_whose_flows_have_finished_is_terminated() -> None:
    finite = {"run.duration": "50ms", "run.warmup": "0s", "run.until": "finished", "traffic.app.size": "100kB"}
    env = FlowEnv("dumbbell", finite)
    env.reset(seed=1)
    for _ in range(500):
        *_, terminated, truncated, info = env.step([0.2])
        if terminated or truncated:
            break
    assert terminated and not truncated
    assert info["figures"]["fct.finished"] == 2


def test_a_reward_is_a_sum_of_weights_or_a_function() -> None:
    weights = FlowEnv("dumbbell", SHORT, reward={"throughput": 2.0, "rtt": -1.0})
    function = FlowEnv("dumbbell", SHORT, reward=lambda told: 2 * told["throughput"] - told["rtt"])
    assert rolled_out(weights, [0.0])[1] == rolled_out(function, [0.0])[1]


def test_closed_and_forgotten_environments_leave_no_thread() -> None:
    def episodes() -> int:
        return sum(thread.name == "incast-episode" for thread in threading.enumerate())

    before = episodes()
    for step in ("100us", "3 acks"):
        env = FlowEnv("dumbbell", SHORT, step=step)
        env.reset(seed=1)
        env.step([0.0])
        env.reset(seed=2)  # in the middle of an episode
        assert episodes() == before + 1
        env.close()
        assert episodes() == before
    env = FlowEnv("dumbbell", SHORT)
    env.reset(seed=1)
    del env
    assert episodes() == before


def test_a_program_that_forgets_to_close_ends() -> None:
    text = "from incast.learn import FlowEnv; env = FlowEnv(); env.reset(seed=1); env.step([0.5]); print('end')"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", text], capture_output=True, text=True, timeout=60, env=environment()
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "end\n", "")


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"scenario": "nosuch"}, ScenarioError, "nosuch"),
        ({"step": "10 furlongs"}, StudyError, 'step = "10 furlongs": expected a time such as "100us"'),
        ({"step": "0 acks"}, StudyError, "a number of ACKs"),
        ({"step": "1s"}, StudyError, "less than the run's 0.2 s"),
        ({"observe": ("rtt", "delya")}, StudyError, "no feature delya"),
        ({"observe": ()}, StudyError, "at least one feature"),
        ({"reward": {"thruput": 1.0}}, StudyError, r'no feature thruput \(did you mean "throughput"'),
        ({"action": "jump"}, StudyError, 'action = "jump": expected scale, window, rate, discrete'),
        ({"entries": ("bluk",)}, StudyError, "no traffic entry or job bluk in dumbbell: expected bulk"),
        ({"changes": {"topology.sender": 2}}, ScenarioError, "unknown key"),
    ],
)
def test_mistakes_are_named(given: dict[str, Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        FlowEnv(**given)


def test_mistakes_of_an_agent_are_named() -> None:
    env = FlowEnv("dumbbell", SHORT)
    with pytest.raises(RunError, match="reset the environment first"):
        env.step([0.0])
    env.reset(seed=1)
    with pytest.raises(StudyError, match="expected a number from -1 to 1"):
        env.step([1.5])
    with pytest.raises(StudyError, match="expected a number from -1 to 1"):
        env.step([float("nan")])
    for number_of in ([], [0.1, 0.2]):
        with pytest.raises(StudyError, match="expected a number from -1 to 1"):
            env.step(number_of)
    with pytest.raises(StudyError, match=r"seed.* = -3: expected a whole number"):
        env.reset(options={"seed": -3})
    env.close()
    with pytest.raises(ControllerError, match="only works in an environment of incast.learn"):
        incast.Scenario.load("dumbbell").with_controller("incast.learn.episode:Agent").run()
    chooses = FlowEnv("dumbbell", SHORT, action="discrete")
    chooses.reset(seed=1)
    with pytest.raises(StudyError, match="expected a whole number from 0 to 4"):
        chooses.step(1.7)
    chooses.close()


def test_without_the_extra_the_error_names_it() -> None:
    text = "import sys; sys.modules['gymnasium'] = None\nimport incast.learn"
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, env=environment())
    assert 'pip install "incast[learn]"' in done.stderr


def test_the_page_has_every_feature_and_action() -> None:
    page = (ROOT / "docs/learning.md").read_text(encoding="utf-8")
    for name, thing in [*FEATURES.items(), *ACTIONS.items()]:
        assert f"| `{name}` | {thing.doc}" in page, name


def test_a_step_costs_little_beside_its_simulation() -> None:
    """A thousand steps in which little happens; on the machine of the page each takes 26 us."""
    env = FlowEnv("dumbbell", {"run.duration": "40ms", "run.warmup": "1ms"}, step="20us", action="window")
    env.reset(seed=1)
    action = np.array([-1.0], np.float32)
    before = time.process_time()
    for _ in range(1000):
        env.step(action)
    step_s = (time.process_time() - before) / 1000
    print(f"{step_s * 1e6:.0f} us of CPU time a step")
    assert step_s < 1e-3
    env.close()


@pytest.mark.parametrize(
    ("name", "changes"),
    [("expresspass", {}), ("dumbbell", {"transport.preset": "homa"}), ("dumbbell", {"transport.preset": "roce"})],
)
def test_a_transport_without_a_window_is_refused_in_words(name: str, changes: dict[str, object]) -> None:
    with pytest.raises(StudyError, match="sends without a congestion window that an agent could set"):
        FlowEnv(name, changes)
