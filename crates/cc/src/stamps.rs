//! Comparison of two consecutive ACKs by the stamps that ports leave on packets (telemetry), for HPCC
//! ([`crate::hpcc`]) and PowerTCP ([`crate::powertcp`]).

use crate::{Bytes, Hop, Time};
use alloc::vec::Vec;
use core::mem::{swap, take};

/// Stamps of the previous ACK and of this one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stamps {
    before: Vec<Hop>,
    now: Vec<Hop>,
    fresh: bool,
    /// Set if the first stamps are compared with zeros.
    from_zero: bool,
}

impl Stamps {
    /// Stamps whose first are compared with zeros, if `from_zero`.
    pub(crate) fn new(from_zero: bool) -> Stamps {
        Stamps { from_zero, ..Stamps::default() }
    }

    /// Stores the stamps of an ACK.
    pub(crate) fn hear(&mut self, hops: &[Hop]) {
        self.now.clear();
        self.now.extend_from_slice(hops);
        if self.from_zero && self.before.is_empty() {
            let zero = |hop: &Hop| Hop { time: Time::ZERO, tx_bytes: Bytes(0), queue: Bytes(0), ..*hop };
            self.before.extend(hops.iter().map(zero));
        }
        self.fresh = true;
    }

    /// Returns whether the current ACK brought stamps.
    pub(crate) fn are_fresh(&mut self) -> bool {
        take(&mut self.fresh)
    }

    /// Largest value of `of` over the links, and the time between the two stamps of that link, ps. `of` gets both
    /// stamps, that time, and the bytes that the link transmits per picosecond. `None` if there is nothing to compare
    /// with.
    pub(crate) fn busiest(&self, of: impl Fn(&Hop, &Hop, f64, f64) -> f64) -> Option<(f64, f64)> {
        if self.before.len() != self.now.len() {
            return None;
        }
        let mut busiest: Option<(f64, f64)> = None;
        for (was, is) in self.before.iter().zip(&self.now) {
            let apart = is.time.saturating_sub(was.time).0 as f64;
            if apart <= 0.0 {
                continue;
            }
            let value = of(was, is, apart, is.rate.as_f64() / 8e12);
            if busiest.is_none_or(|(most, _)| value > most) {
                busiest = Some((value, apart));
            }
        }
        busiest
    }

    /// Makes the current ACK the previous one.
    pub(crate) fn turn(&mut self) {
        swap(&mut self.before, &mut self.now);
    }
}
