//! Pacing rate between a smallest one and the line's, shared by controllers that keep a rate instead of a window
//! ([`crate::timely`], [`crate::dcqcn`]), and the parameters of those whose rate is granted by switches
//! ([`crate::rcp`], [`crate::d3`]). Bytes in flight are only loosely bounded.

use crate::{Env, Pacing};

params! {
    /// Rate of a flow before a switch has granted one: without a handshake, on the accepting side of a two-way
    /// connection, and after a pause.
    initial_rate: f64 = "0.05", "of the line rate", "own choice: what a switch of RCP begins with",
        "a number above 0, at most 1" => |x| *x > 0.0 && *x <= 1.0;
    /// Smallest rate.
    min_rate: f64 = "1e-6", "of the line rate", "own choice: a switch has its own, a packet a round trip",
        "a number above 0, at most 1" => |x| *x > 0.0 && *x <= 1.0;
    /// Largest number of packets in flight.
    max_cwnd: f64 = "1000000.0", "packets", "own choice; no window is published",
        "a number of at least 1" => |x| *x >= 1.0;
    together {
        "min_rate": "at most initial_rate" => |p| p.min_rate <= p.initial_rate;
    }
}

/// Line rate that stands for an infinite one, bits per second.
const UNLIMITED: f64 = 1e15;

/// Rates in bits per second of payload.
#[derive(Clone, Debug)]
pub struct PacedRate {
    rate: f64,
    line: f64,
    least: f64,
    cwnd: f64,
}

impl PacedRate {
    /// `initial` and `least` are shares of the flow's line rate ([`Env::line_rate`]), `max_cwnd` is in packets.
    pub fn new(initial: f64, least: f64, max_cwnd: f64, env: &Env) -> PacedRate {
        let line = env.line_rate.as_f64().min(UNLIMITED);
        PacedRate { rate: initial * line, line, least: least * line, cwnd: max_cwnd * f64::from(env.mss) }
    }

    /// A rate granted by switches.
    pub fn granted(p: &Params, env: &Env) -> PacedRate {
        PacedRate::new(p.initial_rate, p.min_rate, p.max_cwnd, env)
    }

    /// The rate.
    #[inline]
    pub fn get(&self) -> f64 {
        self.rate
    }

    /// Sets the rate to `rate`, or to the nearest allowed one.
    pub fn set(&mut self, rate: f64) {
        self.rate = rate.min(self.line).max(self.least);
    }

    /// Rate of the flow's line.
    pub fn line(&self) -> f64 {
        self.line
    }

    /// Pacing of the sender.
    #[inline]
    pub fn pacing(&self) -> Pacing {
        Pacing::Rate(self.rate)
    }

    /// Largest number of bytes in flight.
    #[inline]
    pub fn cwnd(&self) -> f64 {
        self.cwnd
    }
}
