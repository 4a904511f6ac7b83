"""Episodes: runs that pause between events, so that a caller can set the windows of their flows.

The engine runs in its own thread. At the end of each step it wakes the caller of ``advance``, and waits.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from contextvars import copy_context
from dataclasses import dataclass
from typing import Any

from incast import _core
from incast.controllers import Ack, Congestion, Env
from incast.errors import RunError, RunStopped, ScenarioError
from incast.runs import soundness
from incast.runs.result import most_kept
from incast.runs.scenario import Scenario

PS = 1e12
LOWEST_WINDOW = 0.01
"""Smallest window in segments; below one segment the flow is paced."""
HIGHEST_WINDOW = 64.0
"""Largest window, in bandwidth-delay products."""

_here = threading.local()


class Agent:
    """Controller of a flow whose window an environment sets; it sums up its ACKs.

    The transport repairs losses without changing the window.
    """

    ecn = "dctcp"
    own_recovery = True
    ack_every_packet = True

    def __init__(self) -> None:
        episode = getattr(_here, "episode", None)
        if episode is None:
            raise ScenarioError(f"{__name__}:Agent only works in an environment of incast.learn")
        self._episode: Episode = episode
        self.cwnd = 0.0
        self.pacing_gap_ps: float | None = None
        self.pacing_rate_bps: float | None = None
        self.rtt = self.rtt_before = 1.0
        self.in_flight = 0
        self._clear()

    def _clear(self) -> None:
        self.acks = self.delivered = self.marked = self.lost = self.timeouts = 0
        self.rtt_sum = self.rtt_count = 0

    def init(self, env: Env) -> None:
        """Start with the initial window, and join the episode."""
        self.flow, self.mss = env.flow, env.mss
        self.cwnd = env.initial_window
        self.base_rtt_ps = env.base_rtt_ps
        self.line_rate_bps = env.line_rate_bps
        self.bdp = env.line_rate_bps * env.base_rtt_ps / PS / 8
        self._episode.agents[env.flow] = self

    def on_ack(self, ack: Ack) -> None:
        """Count."""
        delivered = ack.delivered
        self.acks += 1
        self.delivered += delivered
        self.lost += ack.lost_bytes
        self.in_flight = ack.in_flight
        if ack.ece:
            self.marked += delivered
        if ack.rtt_ps is not None:
            self.rtt_sum += ack.rtt_ps
            self.rtt_count += 1
        if self._episode.acks:
            self._episode.acknowledged(ack.now_ps)

    def on_loss(self, _event: Congestion) -> None:
        """Ignore the event: ``on_ack`` counts losses."""

    def on_timeout(self, _event: Congestion) -> None:
        """Count."""
        self.timeouts += 1

    @property
    def is_active(self) -> bool:
        """True if the flow had an ACK, loss or timeout in the step."""
        return bool(self.acks or self.timeouts)

    def set_window(self, size: float) -> None:
        """Set the window, in bytes; below one segment, single segments are paced."""
        size = min(max(size, LOWEST_WINDOW * self.mss), HIGHEST_WINDOW * max(self.bdp, self.mss))
        self.cwnd, self.pacing_rate_bps = size, None
        rtt_ps = self.rtt * self.base_rtt_ps
        self.pacing_gap_ps = rtt_ps * self.mss / size if size < self.mss else None

    def set_rate(self, bps: float) -> None:
        """Set the rate, in bit/s of payload, and a window that does not limit it."""
        self.cwnd, self.pacing_gap_ps = HIGHEST_WINDOW * max(self.bdp, self.mss), None
        self.pacing_rate_bps = bps

    def features(self, duration_s: float) -> dict[str, float]:
        """Return the features of a step of ``duration_s`` by the names of ``FEATURES``, and begin the next step."""
        self.rtt_before = self.rtt
        if self.rtt_count:
            self.rtt = self.rtt_sum / self.rtt_count / self.base_rtt_ps
        arrived_or_lost = self.delivered + self.lost
        features = {
            "rtt": self.rtt,
            "rtt_change": self.rtt - self.rtt_before,
            "throughput": self.delivered * 8 / (duration_s * self.line_rate_bps) if duration_s > 0 else 0.0,
            "loss": self.lost / arrived_or_lost if arrived_or_lost else 0.0,
            "marks": self.marked / self.delivered if self.delivered else 0.0,
            "window": self.cwnd / self.bdp,
            "in_flight": self.in_flight / self.bdp,
            "timeouts": float(self.timeouts),
        }
        self._clear()
        return {name: min(max(value, FEATURES[name].low), FEATURES[name].high) for name, value in features.items()}


@dataclass(frozen=True)
class Feature:
    """Feature of a flow's step for observations, with the bounds that clip it."""

    low: float
    high: float
    doc: str


FEATURES = {
    "rtt": Feature(0, 1000, "mean round-trip time, 1: that of the empty path; the step's before where no ACK came"),
    "rtt_change": Feature(-1000, 1000, "the same less the step's before"),
    "throughput": Feature(0, 100, "payload newly known to have arrived, 1: the line rate of the sender's link"),
    "loss": Feature(0, 1, "share of bytes found to be lost, of those and the arrived"),
    "marks": Feature(0, 1, "share of the arrived bytes whose ACK had an ECN-Echo"),
    "window": Feature(0, 1000, "congestion window, 1: the bandwidth-delay product of the empty path"),
    "in_flight": Feature(0, 1000, "bytes in flight before the latest ACK, in the same unit"),
    "timeouts": Feature(0, 100, "retransmission timeouts"),
}
"""Features of a flow, by name."""


@dataclass(frozen=True)
class Action:
    """Effect of an action: of a number from -1 to 1, or of one of ``choices`` whole numbers from 0."""

    choices: int
    """Number of choices; 0: a continuous number."""
    doc: str
    apply: Callable[[Agent, float], None]


FACTORS = (0.5, 1 / 1.1, 1.0, 1.1, 2.0)

ACTIONS = {
    "scale": Action(0, "the window times 2^a", lambda agent, a: agent.set_window(agent.cwnd * 2**a)),
    "window": Action(
        0, "a window of 2^(5 a) bandwidth-delay products", lambda agent, a: agent.set_window(agent.bdp * 2 ** (5 * a))
    ),
    "rate": Action(
        0,
        "pacing at 2^(5 (a - 1)) of the line rate, without a window",
        lambda agent, a: agent.set_rate(agent.line_rate_bps * 2 ** (5 * (a - 1))),
    ),
    "discrete": Action(
        len(FACTORS),
        "the window times 1/2, 1/1.1, 1, 1.1 or 2",
        lambda agent, a: agent.set_window(agent.cwnd * FACTORS[int(a)]),
    ),
}
"""Actions by name."""


class Episode:
    """One run that pauses at the end of every step, so that the windows of its ``Agent`` flows can be set.

    A step ends after ``step_s`` seconds of simulated time, or after ``acks`` ACKs of these flows together.
    """

    def __init__(self, scenario: Scenario, step_s: float = 0.0, acks: int = 0) -> None:
        self.agents: dict[int, Agent] = {}
        self.now_s = 0.0
        self.end_s = 0.0
        self.acks = acks
        self.over = False
        self.summary: dict[str, Any] | None = None
        """Summary of the run, once it is over."""
        self._scenario = scenario
        self._step_ps = round(step_s * PS)
        self._boundary_ps = self._step_ps
        self._counted = 0
        self._error: BaseException | None = None
        self._stopping = False
        # each lock is held except at the moment when one side wakes the other
        self._go, self._back = threading.Lock(), threading.Lock()
        self._go.acquire()
        self._back.acquire()
        self._thread: threading.Thread | None = None

    def advance(self) -> None:
        """Simulate until the end of the next step, or of the run; exceptions of the run pass."""
        if self.over:
            raise RunError("the episode is over: reset the environment")
        if self._thread is None:
            self._thread = threading.Thread(
                target=copy_context().run, args=(self._simulate,), name="incast-episode", daemon=True
            )
            self._thread.start()
        else:
            self._go.release()
        self._back.acquire()
        if self._error is not None:
            raise self._error

    def close(self) -> None:
        """End the run at once."""
        self._stopping = True
        thread = self._thread
        while thread is not None and thread.is_alive():
            if self._go.locked():
                self._go.release()
            thread.join(0.05)
        self.over = True

    def acknowledged(self, now_ps: int) -> None:
        """Count an ACK of an agent, and end the step after enough of them."""
        self._counted += 1
        if self._counted >= self.acks and not self._stopping:
            self._counted = 0
            self._hand_over(now_ps / PS)

    def _hand_over(self, now_s: float) -> None:
        self.now_s = now_s
        self._back.release()
        self._go.acquire()

    def _between(self, now_s: float, end_s: float, _hops: int) -> bool:
        """End a step whose time is over; called between two engine windows."""
        self.end_s = end_s
        if not self.acks and self._boundary_ps <= round(now_s * PS) and not self._stopping:
            self._boundary_ps += self._step_ps
            self._hand_over(now_s)
        return not self._stopping

    def _simulate(self) -> None:
        _here.episode = self
        try:
            # steps by ACKs: check now and then whether the run shall stop
            every_ps = self._step_ps or round(PS * 1e-4)
            with self._scenario.looked_at():
                done = _core.run(self._scenario.core, self._between, 1, every_ps, most_kept=most_kept())
            self.summary = json.loads(done.summary_json())
            soundness.refuse(self.summary, f"{self._scenario.name}, seed {self._scenario.seed}")
            self.now_s = self.summary["run"]["sim_s"]
        except RunStopped:
            pass
        except BaseException as error:
            self._error = error
        finally:
            self.over = True
            self._back.release()


def weighted(weights: Mapping[str, float]) -> Callable[[Mapping[str, float]], float]:
    """Return a reward function: the weighted sum of features."""
    pairs = tuple(weights.items())
    return lambda features: sum(weight * features[name] for name, weight in pairs)
