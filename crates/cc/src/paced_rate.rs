//! A rate at which the sender paces, between a smallest one and the line's: what controllers have in common that
//! keep a rate instead of a window ([`crate::timely`], [`crate::dcqcn`]). What may be in flight is only loosely
//! bounded.

use crate::{Env, Pacing};

/// Rate that stands for a line without one, bits per second.
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

    /// The rate.
    #[inline]
    pub fn get(&self) -> f64 {
        self.rate
    }

    /// The rate becomes `rate`, or the nearest that is allowed.
    pub fn set(&mut self, rate: f64) {
        self.rate = rate.min(self.line).max(self.least);
    }

    /// Rate of the flow's line.
    pub fn line(&self) -> f64 {
        self.line
    }

    /// How the sender paces.
    #[inline]
    pub fn pacing(&self) -> Pacing {
        Pacing::Rate(self.rate)
    }

    /// Most that may be in flight, bytes.
    #[inline]
    pub fn cwnd(&self) -> f64 {
        self.cwnd
    }
}
