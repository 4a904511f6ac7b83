//! Packet reordering: reordered packets and their extent (RFC 4737), and the buffer that a receiver needs.
//!
//! A data packet that is no retransmission is late (RFC 4737, section 3.3: reordered) if bytes beyond its end arrived
//! before it. Its extent (section 4.2.1) is the number of arrivals from the first packet that overtook it up to it. To
//! find it, only packets that ended beyond all earlier ones are kept, and only while the receiver has a hole. So a late
//! packet below the in-order data, whose retransmission arrived first, has no extent. A late packet beyond a hole has
//! the standard's extent, even if its retransmission has arrived.

use std::collections::VecDeque;

/// Capacity, in runs, that a receiver without a hole keeps.
const KEPT: usize = 16;

/// Reordering statistics of a receiver.
#[derive(Clone, Debug, Default)]
pub struct Reordering {
    /// Late packets.
    pub late: u64,
    /// Late packets that ended beyond the in-order data, and so have an extent.
    pub extents: u64,
    /// Sum of the extents, in packets.
    pub extent_sum: u64,
    /// Largest extent, in packets.
    pub extent_max: u64,
    /// Largest number of bytes kept beyond a hole.
    pub buffer: u64,
    /// Packets that ended beyond all earlier ones, in order.
    ahead: VecDeque<Run>,
}

/// Consecutive arrivals with equal distances between their ends.
#[derive(Clone, Copy, Debug)]
struct Run {
    /// End of the first arrival, and its arrival number.
    end: u64,
    number: u64,
    /// Distance between ends; 0 for a single arrival.
    step: u32,
    /// Number of arrivals after the first.
    more: u32,
}

impl Run {
    /// End of the last arrival.
    fn last(&self) -> u64 {
        self.end + u64::from(self.step) * u64::from(self.more)
    }

    /// Number of arrivals that end at `end` or before.
    fn up_to(&self, end: u64) -> u64 {
        match end.checked_sub(self.end) {
            None => 0,
            Some(_) if self.more == 0 => 1,
            Some(beyond) => (beyond / u64::from(self.step)).min(u64::from(self.more)) + 1,
        }
    }

    /// Extends the run by arrival `number` that ends at `end`, if it fits. Returns whether it does.
    fn goes_on(&mut self, end: u64, number: u64) -> bool {
        let step = u32::try_from(end - self.last()).unwrap_or(0);
        let fits =
            step > 0 && (self.more == 0 || step == self.step) && number == self.number + u64::from(self.more) + 1;
        if fits && self.more < u32::MAX {
            (self.step, self.more) = (step, self.more + 1);
            return true;
        }
        false
    }
}

impl Reordering {
    /// Notes arrival `number`, which ends at `end` beyond a hole and beyond all else.
    pub fn overtake(&mut self, end: u64, number: u64) {
        if !self.ahead.back_mut().is_some_and(|run| run.goes_on(end, number)) {
            self.ahead.push_back(Run { end, number, step: 0, more: 0 });
        }
    }

    /// Number of runs kept.
    pub fn runs(&self) -> usize {
        self.ahead.len()
    }

    /// Notes late arrival `number`; in-order data ends at `next`.
    pub fn late(&mut self, end: u64, number: u64, next: u64) {
        self.late += 1;
        if end <= next {
            // the packet that overtook it first may be forgotten
            return;
        }
        let first = self.ahead.partition_point(|run| run.last() <= end);
        if let Some(run) = self.ahead.get(first) {
            let extent = number - run.number - run.up_to(end);
            self.extents += 1;
            self.extent_sum += extent;
            self.extent_max = self.extent_max.max(extent);
        }
    }

    /// Drops entries once all below `next` has arrived. `open`: a hole is left.
    pub fn reached(&mut self, next: u64, open: bool) {
        if !open {
            self.ahead.clear();
        }
        while self.ahead.front().is_some_and(|run| run.last() <= next) {
            self.ahead.pop_front();
        }
        if self.ahead.is_empty() && self.ahead.capacity() > KEPT {
            self.ahead = VecDeque::new();
        }
    }
}
