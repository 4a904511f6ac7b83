//! A buffer that the queues of a switch share, with dynamic thresholds.
//!
//! Source: Choudhury and Hahne, "Dynamic queue length thresholds for shared-memory packet switches" (IEEE/ACM
//! Transactions on Networking 6(2), 1998): with a buffer of B bytes a queue takes an arrival while it holds less than
//! T = alpha (B - sum of all queues). With S queues that always have more to take, each holds alpha B / (1 + alpha S),
//! and B / (1 + alpha S) stays free for those that come.
//!
//! A queue may have a reserve of its own, as switches have it: what it holds up to that is not counted, and the rest of
//! the buffer, less all reserves, is shared by the rule. A packet is in the buffer from its arrival to the end of its
//! transmission.

/// The shared part of a switch's buffer.
#[derive(Clone, PartialEq, Debug)]
pub struct Pool {
    free: u64,
    alpha: f64,
    reserve: u64,
}

impl Pool {
    /// A buffer of `size` bytes for `queues` queues, of which each has `reserve` bytes for itself; `None` if the reserves
    /// are more than all.
    pub fn new(size: u64, alpha: f64, reserve: u64, queues: u64) -> Option<Pool> {
        let free = size.checked_sub(reserve.checked_mul(queues)?)?;
        Some(Pool { free, alpha, reserve })
    }

    /// Bytes above which the shared part of a queue takes nothing now.
    pub fn threshold(&self) -> f64 {
        self.alpha * self.free as f64
    }

    /// Shared bytes that a queue takes when it grows from `held` by `size`.
    fn growth(&self, held: u64, size: u64) -> u64 {
        (held + size).saturating_sub(held.max(self.reserve))
    }

    /// Whether a queue that holds `held` bytes takes `size` more.
    pub fn takes(&self, held: u64, size: u64) -> bool {
        let growth = self.growth(held, size);
        growth == 0 || (growth <= self.free && (held.saturating_sub(self.reserve) as f64) < self.threshold())
    }

    /// A queue that held `held` bytes took `size` more.
    pub fn take(&mut self, held: u64, size: u64) {
        self.free -= self.growth(held, size);
    }

    /// `size` bytes left a queue that holds `held` without them.
    pub fn give_back(&mut self, held: u64, size: u64) {
        self.free += self.growth(held, size);
    }
}
