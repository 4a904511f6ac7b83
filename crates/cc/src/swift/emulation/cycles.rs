//! Swift as in the code of CSE 322: NewReno's window, which a round trip may grow or empty (`tcp-swift.cc` of
//! github.com/Mushtari-Sadia/TCPSwift-A-Congestion-Control-Algorithm-For-Datacenters, commit 91178fc, over ns-3.35's
//! Vegas).
//!
//! ```text
//! each ACK:           base = min(base, smoothed rtt);  one more sample
//! a cycle ends with the ACK that reaches what was sent last when it began; within it: slow start below ssthresh
//! its end, at most 2 samples:  as NewReno
//!   below ssthresh:            cwnd += segment
//!   base < target:             cwnd += ai (bytes) for each segment acknowledged
//!   else:                      cwnd = max(1 - beta (base - target) / base, (1 - max_mdf) cwnd) BYTES
//!   then, with more than 2 samples:  ssthresh = max(ssthresh, 3/4 cwnd)
//! loss, timeout:      ssthresh = max(min(ssthresh, cwnd - segment), 2 segments);  a cwnd below a segment wraps round
//! ```
//!
//! With max_mdf = 1 the last branch empties the window, for any base above the target.

use crate::reno_window::{self, Arithmetic, Halve, RenoWindow, Repairs, Timeouts};
use crate::{Ack, Env, Phase, Time, Timeout};

/// Largest number of samples at which a cycle ends as NewReno's.
const FEW: u32 = 2;

/// Constants of the rule.
#[derive(Clone, Copy, Debug)]
pub(in crate::swift) struct Rule {
    pub(in crate::swift) target: Time,
    /// Additive increase, bytes per segment.
    pub(in crate::swift) ai: f64,
    pub(in crate::swift) beta: f64,
    pub(in crate::swift) max_mdf: f64,
}

/// A window and its current cycle.
#[derive(Clone, Debug)]
pub(in crate::swift) struct Cycles {
    pub(in crate::swift) window: RenoWindow,
    rule: Rule,
    /// Smallest smoothed RTT of the connection; [`Time::NEVER`] before the first.
    pub(in crate::swift) base: Time,
    /// Number of samples of the current cycle, and its end.
    samples: u32,
    end: u64,
    /// True while nothing is lost and nothing arrived out of order: cycles count.
    on: bool,
    /// True if a cycle ended more than a round trip after the beginning.
    may_empty: bool,
}

impl Cycles {
    pub(in crate::swift) fn new(rule: Rule, env: &Env) -> Cycles {
        let rules = reno_window::Params {
            arithmetic: Arithmetic::Whole,
            timeouts: Timeouts::Every,
            repairs: Repairs::Advance,
            ..reno_window::Params::default()
        };
        Cycles {
            window: RenoWindow::new(env, rules, Halve::Cwnd),
            rule,
            base: Time::NEVER,
            samples: 0,
            end: 0,
            on: true,
            may_empty: false,
        }
    }

    pub(in crate::swift) fn on_ack(&mut self, ack: &Ack) {
        let duplicate = ack.acked == 0;
        if duplicate && ack.round.acked == ack.round.sent {
            return;
        }
        self.window.forget_timeouts();
        if ack.srtt > Time::ZERO {
            self.base = self.base.min(ack.srtt);
            self.samples += 1;
        }
        let segments = self.window.whole_segments(ack);
        if ack.phase != Phase::Open || duplicate {
            self.on = false;
            return self.window.grow_whole(ack, segments);
        }
        if !self.on {
            (self.on, self.samples, self.end) = (true, 0, ack.tcp.sent_to);
        }
        if ack.round.has_reached(self.end) {
            self.may_empty = ack.now >= self.base;
            self.end = ack.tcp.sent_to;
            self.end_cycle(ack, segments);
            self.samples = 0;
        } else {
            self.start_slowly(segments);
        }
    }

    fn end_cycle(&mut self, ack: &Ack, segments: f64) {
        if self.samples <= FEW {
            return self.window.grow_whole(ack, segments);
        }
        let Rule { target, ai, beta, max_mdf } = self.rule;
        let mss = self.window.mss;
        if self.window.cwnd < self.window.ssthresh {
            self.start_slowly(segments);
        } else if self.base < target {
            // the code divides ai by the window in integers: zero for more segments than a segment has bytes
            let grows = self.window.cwnd < mss * mss;
            self.window.cwnd += if grows { ai * segments } else { 0.0 };
        } else if self.may_empty {
            let base = self.base.as_secs_f64();
            let left = 1.0 - beta * (base - target.as_secs_f64()) / base;
            let least = (1.0 - max_mdf) * mss * libm::floor(self.window.cwnd / mss);
            self.window.cwnd = libm::floor(left.max(least));
        }
        self.window.ssthresh = self.window.ssthresh.max(self.window.three_quarters());
    }

    /// Slow start of NewReno, below ssthresh.
    fn start_slowly(&mut self, segments: f64) {
        if self.window.cwnd < self.window.ssthresh && segments >= 1.0 {
            self.window.cwnd += self.window.mss;
        }
    }

    /// ssthresh after a loss, before its floor; the code subtracts without a sign
    fn threshold(&self) -> f64 {
        let (cwnd, mss) = (self.window.cwnd, self.window.mss);
        if cwnd < mss { self.window.ssthresh } else { self.window.ssthresh.min(cwnd - mss) }
    }

    pub(in crate::swift) fn lose(&mut self) {
        self.on = false;
        self.window.reduce(self.threshold());
    }

    pub(in crate::swift) fn recovered(&mut self) {
        self.window.recovered();
    }

    pub(in crate::swift) fn time_out(&mut self, event: &Timeout) {
        self.on = false;
        self.window.restart(event, self.threshold());
        if event.emptying > 0 && self.may_empty {
            self.window.cwnd = libm::floor((1.0 - self.rule.max_mdf) * self.window.cwnd);
        }
    }
}
