//! The measured interval of a run.

use incast_cc::Time;

/// Measured interval and sampling, common to all ports.
#[derive(Clone, Copy, Debug)]
pub struct Interval {
    /// Start.
    pub from: Time,
    /// End.
    pub to: Time,
    /// Queue sampling interval (at least 1 ps).
    pub every: Time,
}

impl Interval {
    /// True if `t` lies in the interval.
    #[inline]
    pub fn holds(&self, t: Time) -> bool {
        t >= self.from && t < self.to
    }
    /// Number of queue samples in the interval, the first at its start.
    pub fn samples(&self) -> u64 {
        self.to.saturating_sub(self.from).div_ceil(self.every)
    }
    /// Length of the part of `[a, b)` inside it.
    #[inline]
    pub fn overlap(&self, a: Time, b: Time) -> Time {
        b.min(self.to).saturating_sub(a.max(self.from))
    }
}
