//! Window that follows smoothed power, shared by PowerTCP ([`crate::powertcp`]) and theta-PowerTCP
//! ([`crate::theta_powertcp`]) (Addanki, Michel and Schmid, NSDI 2022, algorithms 1 and 2).
//!
//! ```text
//! Gs   = (Gs (tau - dt) + G dt) / tau                     dt at most tau
//! cwnd = gamma (cwnd_old / Gs + beta) + (1 - gamma) cwnd  cwnd_old: the window when the packet was sent
//! rate = cwnd / tau
//! ```
//!
//! Windows in bytes, times in picoseconds, rates in bytes a picosecond.

use crate::{Env, Pacing, Time};
use alloc::collections::VecDeque;

choice! {
    /// Window from which a step starts.
    From {
        /// The window at the sending of the acknowledged packet.
        Sent = "sent",
        /// The window at the beginning of the round trip.
        Round = "round",
        /// The window in force.
        Current = "current",
    }
}

choice! {
    /// Window that keeps the weight that a step leaves.
    Blend {
        /// The window in force.
        Current = "current",
        /// The window from which the step starts.
        Start = "start",
    }
}

params! {
    /// Weight of a step.
    gamma: f64 = "0.9", "", "section 4.1", "a number above 0, at most 1" => |x| *x > 0.0 && *x <= 1.0;
    /// Expected number of flows of a NIC: beta, which a step adds to the window, is what the line sends in a base
    /// round trip, divided by this number. N flows of one link keep a queue of N beta.
    flows: f64 = "10.0", "flows", "section 3.3: N; the authors' Linux port has 10", "a number above 0" => |x| *x > 0.0;
    /// Rate that replaces `flows`: beta is what this rate sends in a base round trip.
    beta: Option<f64> = "none", "Mb/s", "the authors' ns-3 code has 150",
        "\"none\" or a number above 0" => |x| x.is_none_or(|x| x > 0.0);
    /// Base round-trip time tau; auto is the idle round-trip time of the flow's path.
    base_rtt: Option<Time> = "auto", "", "own choice: section 4.1 takes the longest of the fabric for all";
    /// Smallest smoothed power by which a window is divided.
    min_power: f64 = "0.01", "", "the authors' Linux port; the paper names none",
        "a number above 0, at most 1" => |x| *x > 0.0 && *x <= 1.0;
    /// Power that a step aims for.
    target: f64 = "1.0", "", "algorithms 1 and 2", "a number above 0" => |x| *x > 0.0;
    /// Window from which a step starts: the one at which the acknowledged packet was "sent", the one at the beginning
    /// of the "round" trip, or the "current" one.
    from: From = "sent", "", "algorithm 1; the authors' Linux port and ns-3 code have round";
    /// Window that keeps the weight that a step leaves: the "current" one, or the "start" of the step.
    blend: Blend = "current", "", "algorithm 1; the authors' ns-3 code has start";
    /// Compares the first sample with zeros; otherwise it has nothing to be compared with.
    from_zero: bool = "false", "", "the authors' ns-3 code reads memory that nobody has set; zeros stand for it";
    /// Takes the first measured power as it is; otherwise the average begins at 1.
    first_raw: bool = "false", "", "own choice: the paper names no beginning; the authors' Linux port has true";
    /// Largest window, as a share of what the line sends in a base round trip.
    max_cwnd: Option<f64> = "1.0", "of rate times tau",
        "the authors' Linux port and ns-3 code; the paper names none, and a window doubles while a link is half used",
        "\"none\" or a number above 0" => |x| x.is_none_or(|x| x > 0.0);
    /// Smallest window, as a share of what the line sends in a base round trip.
    min_cwnd: f64 = "0.001", "of rate times tau", "own choice, as HPCC's; the paper names none",
        "a number above 0, below 1" => |x| *x > 0.0 && *x < 1.0;
    together {
        "base_rtt": "above 0" => |p| p.base_rtt != Some(Time::ZERO);
        "min_cwnd": "at most max_cwnd" => |p| p.max_cwnd.is_none_or(|most| p.min_cwnd <= most);
    }
}

/// The window, and the power behind it.
#[derive(Clone, Debug)]
pub(crate) struct PowerWindow {
    cwnd: f64,
    /// Window from which steps start.
    old: f64,
    /// Windows of the bytes in flight, each with the count of bytes sent at its beginning.
    sent: VecDeque<(u64, f64)>,
    power: f64,
    measured: bool,
    /// Base round-trip time.
    pub(crate) tau: f64,
    least: f64,
    most: f64,
    gamma: f64,
    beta: f64,
    min_power: f64,
    target: f64,
    from: From,
    blend: Blend,
}

impl PowerWindow {
    /// A new flow: the window is what the line sends in a base round trip.
    pub(crate) fn new(params: &Params, env: &Env) -> PowerWindow {
        let tau = params.base_rtt.unwrap_or(env.base_rtt).0.max(1) as f64;
        let bdp = env.line_rate.as_f64() * tau / 8e12;
        let initial = bdp.max(f64::from(env.mss));
        PowerWindow {
            cwnd: initial,
            old: initial,
            sent: VecDeque::new(),
            power: 1.0,
            measured: !params.first_raw,
            tau,
            least: params.min_cwnd * bdp,
            most: params.max_cwnd.map_or(f64::INFINITY, |share| share * initial),
            gamma: params.gamma,
            beta: params.beta.map_or(bdp / params.flows, |mbps| mbps * 1e6 * tau / 8e12),
            min_power: params.min_power,
            target: params.target,
            from: params.from,
            blend: params.blend,
        }
    }

    /// Adds a power measured over `dt` to the smoothed power.
    pub(crate) fn smooth(&mut self, power: f64, dt: f64) {
        self.smooth_over(power, dt, self.tau);
    }

    /// [`PowerWindow::smooth`] over another base round-trip time.
    pub(crate) fn smooth_over(&mut self, power: f64, dt: f64, tau: f64) {
        if self.measured {
            let share = dt.min(tau) / tau;
            self.power = (1.0 - share) * self.power + share * power;
        } else {
            (self.measured, self.power) = (true, power);
        }
        self.power = self.power.max(self.min_power);
    }

    /// Function updateWindow.
    pub(crate) fn step(&mut self) {
        let from = if self.from == From::Current { self.cwnd } else { self.old };
        let kept = if self.blend == Blend::Start { from } else { self.cwnd };
        let window = self.gamma * (from * self.target / self.power + self.beta) + (1.0 - self.gamma) * kept;
        self.cwnd = window.min(self.most).max(self.least);
    }

    /// Function getCwnd: sets the start of steps to the window of the packet that ends at `acked`.
    pub(crate) fn look_up(&mut self, acked: u64) {
        while self.sent.get(1).is_some_and(|(from, _)| *from < acked) {
            self.sent.pop_front();
        }
        if let Some((from, cwnd)) = self.sent.front()
            && *from < acked
        {
            self.old = *cwnd;
        }
    }

    /// Notes the current window for data sent after the first `sent` bytes.
    pub(crate) fn note(&mut self, sent: u64) {
        if self.sent.back().is_some_and(|(from, _)| *from == sent) {
            self.sent.pop_back();
        }
        self.sent.push_back((sent, self.cwnd));
    }

    /// Returns whether steps start from the window at sending, which needs `look_up` and `note`.
    pub(crate) fn steps_from_sent(&self) -> bool {
        self.from == From::Sent
    }

    /// Ends a round trip: the steps of the next one start from the current window.
    pub(crate) fn remember(&mut self) {
        self.old = self.cwnd;
    }

    #[inline]
    pub(crate) fn cwnd(&self) -> f64 {
        self.cwnd
    }

    #[inline]
    pub(crate) fn pacing(&self) -> Pacing {
        Pacing::Rate(self.cwnd * 8e12 / self.tau)
    }

    pub(crate) fn state(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("power", self.power);
        visit("old_bytes", self.old);
    }
}

/// State that both controllers expose for tracing.
pub(crate) const STATE: [(&str, &str); 2] = [
    ("power", "smoothed power, 1 is a full link without a queue"),
    ("old_bytes", "window that a step starts from, bytes"),
];

#[cfg(test)]
mod tests {
    use super::{Blend, From, PowerWindow};
    use alloc::collections::VecDeque;

    /// At 25 Gb/s with a base round trip of 30 us: beta is 9375 B.
    fn window(cwnd: f64, power: f64) -> PowerWindow {
        PowerWindow {
            cwnd,
            old: cwnd,
            sent: VecDeque::new(),
            power,
            measured: true,
            tau: 3e7,
            least: 93.75,
            most: f64::INFINITY,
            gamma: 0.9,
            beta: 9_375.0,
            min_power: 0.01,
            target: 1.0,
            from: From::Sent,
            blend: Blend::Current,
        }
    }

    #[test]
    fn steps_are_those_worked_out_by_hand() {
        for (power, wanted) in [(1.0, 58_437.5), (2.0, 35_937.5), (0.5, 103_437.5), (1.75, 39_151.785_714)] {
            let mut window = window(50_000.0, power);
            window.step();
            assert!((window.cwnd() - wanted).abs() < 1e-3, "{power}: {}", window.cwnd());
        }
    }

    #[test]
    fn power_is_averaged_by_time_up_to_a_round_trip() {
        for (dt, wanted) in [(3e6, 1.1), (3e7, 2.0), (9e9, 2.0)] {
            let mut window = window(50_000.0, 1.0);
            window.smooth(2.0, dt);
            assert!((window.power - wanted).abs() < 1e-12, "{dt}: {}", window.power);
        }
    }
}
