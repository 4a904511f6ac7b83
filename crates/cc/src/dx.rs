//! DX: a window reduced by the queuing delay (Lee, Park, Jang, Moon and Han, USENIX ATC 2015).
//!
//! Once a window the sender computes the average queuing delay Q of its packets. If Q is zero it adds a packet, else
//! it keeps 1 - Q/V of its window. With V = R W / (W - 1), senders that each had a packet too many return to a window
//! that fills the link without a queue. The paper's text was not at hand: V is derived here, and the differences say
//! from what.
//!
//! A packet shorter than a segment takes less time on every link. Delays of short packets are compared with the
//! shortest delay of short packets, those of full ones with the shortest of full ones.

use crate::registry::{Kind, ParamSet};
use crate::reno_window::{self, Halve, RenoWindow, by_window};
use crate::{Ack, Congestion, Controller, Env, Phase, Profile, Time, Timeout};

params! {
    /// Average queuing delay treated as zero.
    noise: Time = "0s", "", "own choice: delays of packets of one size are exact here";
    /// Delay of an empty path; auto: the shortest measured delay, separately for short and full packets.
    base_rtt: Option<Time> = "auto", "", "paper: the shortest measured",
        "\"auto\" or a time above 0" => |x| x.is_none_or(|x| x > Time::ZERO);
    then ..window: reno_window::Params {
        !avoidance; !arithmetic; !repairs;
        floor = "1.0", "Jiang et al., FGCS 2021: the window is 1 at least", "a number of at least 1" => |x| *x >= 1.0;
    };
}

/// Description printed by `describe`.
pub static KIND: Kind = Kind {
    name: "dx",
    title: "DX",
    source: "Lee, Park, Jang, Moon, Han, Accurate latency-based congestion feedback for datacenters, USENIX ATC 2015",
    what: "Delay-based: adds a packet per round trip without queuing delay, else reduces the window by its queued \
           share.",
    differences: &[
        "The paper's text was not at hand. V, the delay at which a window W would become zero, is derived from its \
         aim. Equal senders a packet above what fills the link each have Q = R / (W - 1), with R the delay without \
         queues. The condition W (1 - Q/V) = W - 1 gives V = R W / (W - 1).",
        "The queuing delay is that of round trips, without hosts: the excess over the shortest. The paper measures \
         only the path of the data, so that queues of ACKs do not count.",
        "Every packet is acknowledged at once, so that no delay includes a wait at the receiver. Packets shorter than \
         a segment have a separate shortest delay, one for all lengths.",
        "Slow start is TCP's, and ends with the first window with queuing delay.",
        "Losses halve the window as in TCP; the paper is about delays.",
    ],
    state: &[
        ("queuing_s", "average queuing delay of the latest window, seconds"),
        ("v_s", "V of the latest reduction, seconds"),
    ],
    profile: Profile { ack_every_packet: true, ..Profile::TCP },
    params: Params::PARAMS,
};

/// Delays of packets of one size class.
#[derive(Clone, Copy, Debug)]
struct Delays {
    /// Delay of the empty path; [`Time::NEVER`] before the first sample.
    base: Time,
    /// Sum and number of the delays since the window began, picoseconds.
    sum: f64,
    count: u32,
}

impl Delays {
    fn begin(&mut self) {
        (self.sum, self.count) = (0.0, 0);
    }

    /// Sum of the queuing delays since the window began, picoseconds.
    fn queuing(&self) -> f64 {
        if self.count == 0 { 0.0 } else { (self.sum - f64::from(self.count) * self.base.0 as f64).max(0.0) }
    }
}

/// A DX sender.
#[derive(Clone, Debug)]
pub struct Dx {
    window: RenoWindow,
    params: Params,
    /// Delays of full packets and of shorter ones.
    full: Delays,
    short: Delays,
    /// Bytes sent when the window began; `None` while the transport recovers.
    round: Option<u64>,
    queuing: f64,
    v: f64,
}

impl Dx {
    /// A new flow.
    pub fn new(params: &Params, env: &Env) -> Dx {
        let none = Delays { base: params.base_rtt.unwrap_or(Time::NEVER), sum: 0.0, count: 0 };
        Dx {
            window: RenoWindow::new(env, params.window, Halve::Flight),
            params: *params,
            full: none,
            short: none,
            round: None,
            queuing: f64::NAN,
            v: f64::NAN,
        }
    }

    fn begin(&mut self, sent: u64) {
        self.round = Some(sent);
        self.full.begin();
        self.short.begin();
    }

    /// Ends a window.
    fn update(&mut self, ack: &Ack) {
        let mss = self.window.mss;
        let base = if self.full.base == Time::NEVER { self.short.base } else { self.full.base };
        let count = f64::from(self.full.count) + f64::from(self.short.count);
        self.queuing = (self.full.queuing() + self.short.queuing()) / count;
        if self.queuing <= self.params.noise.0 as f64 {
            if self.window.cwnd < self.window.ssthresh {
                self.window.slow_start(ack);
            } else if ack.cwnd_limited {
                self.window.cwnd += mss;
            }
            return;
        }
        let packets = self.window.cwnd / mss;
        self.v = if packets > 1.0 { base.0 as f64 * packets / (packets - 1.0) } else { f64::INFINITY };
        let left = self.window.cwnd * (1.0 - self.queuing / self.v);
        self.window.cwnd = left.max(self.params.window.floor * mss).min(self.window.cwnd);
        self.window.end_slow_start();
    }
}

impl Controller for Dx {
    fn on_ack(&mut self, ack: &Ack) {
        if let Some(delay) = ack.fabric_delay.or(ack.rtt) {
            let full = ack.delivered as f64 >= self.window.mss;
            let delays = if full { &mut self.full } else { &mut self.short };
            if self.params.base_rtt.is_none() {
                delays.base = delays.base.min(delay);
            }
            delays.sum += delay.0 as f64;
            delays.count += 1;
        }
        if ack.phase != Phase::Open || ack.ece {
            self.round = None;
            self.window.slow_start(ack);
        } else if self.round.is_some_and(|began| ack.round.is_past(began)) {
            if self.full.count + self.short.count > 0 && self.full.base.min(self.short.base) > Time::ZERO {
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
