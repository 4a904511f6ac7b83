//! What two ACKs in turn tell of the links of a path, by the stamps that ports leave on packets (telemetry): HPCC
//! ([`crate::hpcc`]) and PowerTCP ([`crate::powertcp`]) compare them.

use crate::Hop;
use alloc::vec::Vec;
use core::mem::{swap, take};

/// Stamps of the ACK before, and of this one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stamps {
    before: Vec<Hop>,
    now: Vec<Hop>,
    fresh: bool,
}

impl Stamps {
    /// Takes in the stamps that come with an ACK.
    pub(crate) fn hear(&mut self, hops: &[Hop]) {
        self.now.clear();
        self.now.extend_from_slice(hops);
        self.fresh = true;
    }

    /// Whether the ACK at work brought any.
    pub(crate) fn are_fresh(&mut self) -> bool {
        take(&mut self.fresh)
    }

    /// The largest value that `of` gives a link, and the time between its two stamps, ps. It gets both stamps, that
    /// time, and the bytes that the link transmits in a picosecond. `None` where there is nothing to compare with.
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

    /// The ACK at work is the one before from now on.
    pub(crate) fn turn(&mut self) {
        swap(&mut self.before, &mut self.now);
    }
}
