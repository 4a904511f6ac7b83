//! A sender of Swift's family: algorithm 1 of the paper, put together from its sections.
//!
//! A controller of the family is a [`DelaySignal`], which judges the delay of an ACK. Everything else is
//! [`Family`]'s.

use super::emulation::cycles::{Cycles, Rule};
use super::emulation::{Arithmetic, Recovery};
use super::endpoint::{self, Endpoint};
use super::pacing;
use super::target_delay::TargetDelay;
use super::window::{self, Constants, Moment, Verdict, Window};
use crate::reno_window::AfterTimeout;
use crate::units::ps;
use crate::{Ack, Congestion, Controller, Env, Hop, Pacing, Time, Timeout};
use alloc::boxed::Box;

/// Delay signal of a controller of the family: a delay and its target.
pub trait DelaySignal {
    /// Judges an ACK: `delay` is its fabric delay in picoseconds, `fcwnd` the window in packets, `beta` the decrease
    /// constant. The deciding delay and target are traced.
    fn judge(&mut self, ack: &Ack, delay: f64, fcwnd: f64, beta: f64) -> Judgement;
    /// Passes the stamps of the ports crossed by the packet that caused the next ACK.
    fn hear(&mut self, _hops: &[Hop]) {}
    /// True if marks are part of the judgement; otherwise the first mark of a window counts as a loss.
    const USES_MARKS: bool = false;
    /// Window used for sending, in packets, from the window of the equations.
    #[inline]
    fn window(&self, w: f64) -> f64 {
        w
    }
    /// State worth tracing beyond the family's.
    fn state(&self, _visit: &mut dyn FnMut(&'static str, f64)) {}
}

/// A verdict with its delays, ps.
#[derive(Clone, Copy, Debug)]
pub struct Judgement {
    /// Change of the window.
    pub verdict: Verdict,
    /// Target that the delay was compared with.
    pub target: f64,
}

/// Swift's rule: the delay of the current ACK against the target.
#[derive(Clone, Debug)]
pub struct Latest {
    pub(super) target: TargetDelay,
}

impl DelaySignal for Latest {
    #[inline(always)]
    fn judge(&mut self, ack: &Ack, delay: f64, fcwnd: f64, beta: f64) -> Judgement {
        let target = self.target.at(ack, delay, fcwnd);
        Judgement { verdict: Verdict::of(delay, target, beta), target }
    }
}

/// State that only some hosts, emulations and events need.
#[derive(Clone, Debug)]
pub(super) struct Rare {
    pub(super) endpoint: Option<Endpoint>,
    /// Acknowledged bytes that do not fill a segment yet.
    pub(super) rest: f64,
    pub(super) after_timeout: AfterTimeout,
    pub(super) retransmit_cnt: u32,
    pub(super) retx_reset_threshold: u32,
    /// Bytes; infinite before the transport's first recovery.
    pub(super) ssthresh: f64,
    /// Smoothed RTT in htsim's arithmetic, ps; 0 before the first sample.
    pub(super) srtt: u64,
    /// Window that changes once a round trip, if any.
    pub(super) cycles: Option<Box<Cycles>>,
}

/// A sender of the family. Delays in picoseconds as real numbers (exact below two hours).
// the same order for every rule, so that the window of any controller is at one offset
#[repr(C)]
#[derive(Clone, Debug)]
pub struct Family<R> {
    pub(super) fcwnd: Window,
    /// Endpoint window, packets; infinite without one.
    pub(super) ecwnd: f64,
    /// Window used for sending, bytes; whole bytes in whole arithmetic.
    cwnd: f64,
    pub(super) gate_rtt: Time,
    pub(super) pace_rtt: Time,
    pub(super) fabric_delay: f64,
    target_delay: f64,
    pub(super) c: Constants,
    /// True if every parameter is the paper's.
    textbook: bool,
    /// True if the latest event was a timeout.
    pub(super) timed_out: bool,
    /// True if the current ACK ended the transport's recovery.
    pub(super) recovered: bool,
    pub(super) rare: Box<Rare>,
    rule: R,
}

impl<R: DelaySignal> Family<R> {
    /// A new flow.
    pub(super) fn start(rule: R, p: &window::Params, endpoint: Option<&endpoint::Params>, env: &Env) -> Family<R> {
        let c = p.constants(env);
        let w = (env.initial_window / c.mss).max(c.min_cwnd).min(c.max_cwnd);
        let mut family = Family {
            fcwnd: Window { w, t_last_decrease: Time::ZERO },
            ecwnd: f64::INFINITY,
            cwnd: 0.0,
            gate_rtt: Time::ZERO,
            pace_rtt: env.shortest_rtt,
            fabric_delay: f64::NAN,
            target_delay: f64::NAN,
            c,
            textbook: c.other.is_none(),
            timed_out: false,
            recovered: false,
            rule,
            rare: Box::new(Rare {
                endpoint: endpoint.map(Endpoint::new),
                rest: 0.0,
                after_timeout: AfterTimeout::default(),
                retransmit_cnt: 0,
                retx_reset_threshold: p.retx_reset_threshold,
                ssthresh: f64::INFINITY,
                srtt: 0,
                cycles: None,
            }),
        };
        family.publish();
        family
    }

    /// Changes the loss recovery.
    pub(super) fn recovering(mut self, recovery: Recovery, slow_start: bool) -> Family<R> {
        (self.c.other.recovery, self.c.other.slow_start) = (recovery, slow_start);
        self.textbook = self.c.other.is_none();
        self
    }

    /// Changes the window to one that moves once a round trip.
    pub(super) fn in_cycles_of(mut self, rule: Rule, env: &Env) -> Family<R> {
        self.target_delay = ps(rule.target);
        (self.c.other.cycles, self.textbook) = (true, false);
        self.rare.cycles = Some(Box::new(Cycles::new(rule, env)));
        self.hold(env.initial_window);
        self
    }

    /// Sets the window to `bytes`.
    pub(super) fn hold(&mut self, bytes: f64) {
        self.fcwnd.w = bytes / self.c.mss;
        self.cwnd = bytes;
    }

    /// Window used for sending, packets: the smaller of the two.
    #[inline]
    fn w(&self) -> f64 {
        self.rule.window(self.fcwnd.w.min(self.ecwnd))
    }

    /// Updates the window in bytes.
    #[inline]
    pub(super) fn publish(&mut self) {
        let bytes = self.w() * self.c.mss;
        self.cwnd = if self.c.other.arithmetic == Arithmetic::Real { bytes } else { libm::round(bytes) };
    }

    /// Restarts the count of consecutive timeouts, at an ACK.
    #[inline]
    pub(super) fn end_timeouts(&mut self) {
        if self.timed_out {
            self.timed_out = false;
            self.rare.retransmit_cnt = 0;
        }
    }

    /// Judges a fabric delay by the rule.
    #[inline(always)]
    pub(super) fn judge(&mut self, ack: &Ack, delay: f64) -> Verdict {
        self.fabric_delay = delay;
        let Judgement { verdict, target } = self.rule.judge(ack, delay, self.fcwnd.w, self.c.beta);
        self.target_delay = target;
        verdict
    }

    /// Handles the endpoint delay of an ACK, if any; `fcwnd` is the fabric window before it.
    #[inline(always)]
    pub(super) fn hear_endpoint(&mut self, ack: &Ack, n: f64, at: Moment, fcwnd: f64) {
        if let Some(sample) = ack.endpoint_delay
            && sample.0 > 0
        {
            self.move_endpoint(ps(sample), n, at, fcwnd);
        }
    }

    fn move_endpoint(&mut self, sample: f64, n: f64, at: Moment, fcwnd: f64) {
        if let Some(endpoint) = &mut self.rare.endpoint {
            endpoint.on_ack(&self.c, sample, n, at, fcwnd);
            self.ecwnd = endpoint.cap(&mut self.fcwnd.w);
        }
    }

    /// Algorithm 1 on an ACK, as in the paper.
    #[inline(always)]
    fn textbook_ack(&mut self, ack: &Ack) {
        self.end_timeouts();
        let (Some(rtt), Some(delay)) = (ack.rtt, ack.fabric_delay) else { return };
        (self.gate_rtt, self.pace_rtt) = (rtt, rtt);
        let fcwnd = self.fcwnd.w;
        let verdict = self.judge(ack, ps(delay));
        let n = ack.delivered as f64 / self.c.mss;
        let at = Moment { now: ack.now, rtt, restarts: true };
        self.fcwnd.on_ack::<true>(&self.c, verdict, n, at);
        self.hear_endpoint(ack, n, at, fcwnd);
        self.cwnd = self.w() * self.c.mss;
    }
}

impl<R: DelaySignal> Controller for Family<R> {
    #[inline]
    fn on_ack(&mut self, ack: &Ack) {
        if self.textbook {
            self.textbook_ack(ack);
        } else {
            self.emulate_ack(ack);
        }
    }

    fn on_telemetry(&mut self, hops: &[Hop]) {
        self.rule.hear(hops);
    }

    fn on_loss(&mut self, event: &Congestion) {
        self.lose(event);
    }

    fn on_ecn(&mut self, event: &Congestion) {
        if !R::USES_MARKS {
            self.lose(event);
        }
    }

    fn on_timeout(&mut self, event: &Timeout) {
        self.time_out(event);
    }

    fn on_recovered(&mut self, _now: Time, _in_flight: u64) {
        self.end_recovery();
    }

    #[inline]
    fn cwnd(&self) -> f64 {
        self.cwnd
    }

    #[inline]
    fn ssthresh(&self) -> f64 {
        if self.textbook { f64::INFINITY } else { self.rare.ssthresh }
    }

    fn in_slow_start(&self) -> bool {
        let slow_start = self.c.other.slow_start || self.c.other.cycles;
        !self.textbook && slow_start && self.cwnd() < self.rare.ssthresh
    }

    #[inline]
    fn pacing(&self) -> Pacing {
        let w = self.w();
        if w < 1.0 && !self.c.other.cycles { pacing::gap(self.pace_rtt, w) } else { Pacing::None }
    }

    fn state(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("target_delay_s", self.target_delay * 1e-12);
        visit("fabric_delay_s", self.fabric_delay * 1e-12);
        if let Some(endpoint) = &self.rare.endpoint {
            let begun = !endpoint.is_idle();
            visit("fcwnd_packets", self.fcwnd.w);
            visit("ecwnd_packets", if begun { endpoint.ecwnd.w } else { f64::NAN });
            visit("endpoint_delay_s", endpoint.delay * 1e-12);
        }
        self.rule.state(visit);
    }
}
