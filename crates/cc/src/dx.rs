//! DX: a window that gives back what waits in queues, measured in time (Lee, Park, Jang, Moon and Han, USENIX ATC
//! 2015).
//!
//! Once a window the sender takes the average queuing delay Q of its packets. Without any it adds a packet, else it
//! keeps 1 - Q/V of its window. With V = R W / (W - 1) senders that each had a packet too many return to what fills
//! the link without a queue. The paper's text was not at hand: V is derived here, and the differences say from what.

use crate::registry::{Kind, ParamSet};
use crate::reno_window::{self, Halve, RenoWindow, by_window};
use crate::{Ack, Congestion, Controller, Env, Phase, Profile, Time, Timeout};

params! {
    /// Average queuing delay that counts as none.
    noise: Time = "0s", "", "own choice: measured delays are exact here";
    /// Delay of an empty path; auto: the shortest that was measured.
    base_rtt: Option<Time> = "auto", "", "paper: the shortest measured",
        "\"auto\" or a time above 0" => |x| x.is_none_or(|x| x > Time::ZERO);
    then ..window: reno_window::Params {
        !avoidance; !arithmetic;
        floor = "1.0", "Jiang et al., FGCS 2021: the window is 1 at least", "a number of at least 1" => |x| *x >= 1.0;
    };
}

/// Its description, as `describe` prints it.
pub static KIND: Kind = Kind {
    name: "dx",
    title: "DX",
    source: "Lee, Park, Jang, Moon, Han, Accurate latency-based congestion feedback for datacenters, USENIX ATC 2015",
    what: "Delay-based: adds a packet each round trip while none of its packets waits, else gives back the share of its \
           window that waits.",
    differences: &[
        "The paper's text was not at hand. V, the delay at which nothing of a window W is left, is derived from its aim: \
         of equal senders whose windows are a packet above what fills the link, each has Q = R / (W - 1), and W (1 - \
         Q/V) = W - 1 asks for V = R W / (W - 1), with R the delay without queues.",
        "The queuing delay is that of round trips, without hosts: the excess over the shortest. The paper measures the \
         way of the data alone, so that queues of ACKs do not count.",
        "Slow start is TCP's, and ends with the first window of which packets have waited.",
        "Losses halve the window as in TCP; the paper is about delays.",
    ],
    state: &[
        ("queuing_s", "average queuing delay of the latest window, seconds"),
        ("v_s", "V of the latest reduction, seconds"),
    ],
    profile: Profile::TCP,
    params: Params::PARAMS,
};

/// A DX sender.
#[derive(Clone, Debug)]
pub struct Dx {
    window: RenoWindow,
    params: Params,
    /// Delay of the empty path; [`Time::NEVER`] before the first sample.
    base: Time,
    /// Sum and number of the delays since the window began, picoseconds.
    sum: f64,
    count: u32,
    /// What had been sent when the window began; `None` while the transport repairs.
    round: Option<u64>,
    queuing: f64,
    v: f64,
}

impl Dx {
    /// A new flow.
    pub fn new(params: &Params, env: &Env) -> Dx {
        Dx {
            window: RenoWindow::new(env, params.window, Halve::Flight),
            params: *params,
            base: params.base_rtt.unwrap_or(Time::NEVER),
            sum: 0.0,
            count: 0,
            round: None,
            queuing: f64::NAN,
            v: f64::NAN,
        }
    }

    fn begin(&mut self, sent: u64) {
        (self.round, self.sum, self.count) = (Some(sent), 0.0, 0);
    }

    /// The end of a window.
    fn update(&mut self, ack: &Ack) {
        let mss = self.window.mss;
        let base = self.base.0 as f64;
        self.queuing = (self.sum / f64::from(self.count) - base).max(0.0);
        if self.queuing <= self.params.noise.0 as f64 {
            if self.window.cwnd < self.window.ssthresh {
                self.window.slow_start(ack);
            } else if ack.cwnd_limited {
                self.window.cwnd += mss;
            }
            return;
        }
        let packets = self.window.cwnd / mss;
        self.v = if packets > 1.0 { base * packets / (packets - 1.0) } else { f64::INFINITY };
        let left = self.window.cwnd * (1.0 - self.queuing / self.v);
        self.window.cwnd = left.max(self.params.window.floor * mss).min(self.window.cwnd);
        self.window.end_slow_start();
    }
}

impl Controller for Dx {
    fn on_ack(&mut self, ack: &Ack) {
        if let Some(delay) = ack.fabric_delay.or(ack.rtt) {
            if self.params.base_rtt.is_none() {
                self.base = self.base.min(delay);
            }
            self.sum += delay.0 as f64;
            self.count += 1;
        }
        if ack.phase != Phase::Open || ack.ece {
            self.round = None;
            self.window.slow_start(ack);
        } else if self.round.is_some_and(|began| ack.round.is_past(began)) {
            if self.count > 0 && self.base > Time::ZERO {
                self.update(ack);
            }
            self.begin(ack.round.sent);
        } else {
            if self.round.is_none() {
                self.begin(ack.round.sent);
            }
            self.window.slow_start(ack);
        }
    }

    fn on_loss(&mut self, event: &Congestion) {
        let half = self.window.half(event.in_flight, event.window);
        self.window.reduce(half);
    }

    fn on_timeout(&mut self, event: &Timeout) {
        let half = self.window.half(event.in_flight, event.window);
        self.window.restart(event, half);
    }

    fn on_undo(&mut self) {
        self.window.undo();
    }

    fn state(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("queuing_s", self.queuing * 1e-12);
        visit("v_s", if self.v.is_finite() { self.v * 1e-12 } else { f64::NAN });
    }

    by_window!();
}
