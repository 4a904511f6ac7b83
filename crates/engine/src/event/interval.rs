//! The measured interval of a run.

/// Measured interval and sampling, common to all ports.
#[derive(Clone, Copy, Debug)]
pub struct Interval {
    /// Start, ps.
    pub from: u64,
    /// End, ps.
    pub to: u64,
    /// Queue sampling interval, ps (at least 1).
    pub every: u64,
}

impl Interval {
    /// Whether `t` belongs to it.
    #[inline]
    pub fn holds(&self, t: u64) -> bool {
        t >= self.from && t < self.to
    }
    /// Times that queues are sampled in it, from its start on.
    pub fn samples(&self) -> u64 {
        self.to.saturating_sub(self.from).div_ceil(self.every)
    }
    /// Length of the part of `[a, b)` inside it.
    #[inline]
    pub fn overlap(&self, a: u64, b: u64) -> u64 {
        b.min(self.to).saturating_sub(a.max(self.from))
    }
}
