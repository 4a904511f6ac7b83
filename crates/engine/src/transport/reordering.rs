//! How far packets arrive out of order: RFC 4737's reordered packets and their extent, and what a receiver has to keep.
//!
//! A data packet that is no retransmission is late (RFC 4737, section 3.3: reordered) when bytes beyond its end have
//! come before it. Its extent (section 4.2.1) is the number of arrivals from the first packet that overtook it to it.
//! Of that, only packets that ended beyond all before them need to be known, and only while the receiver has a hole. So
//! a late packet below what has come in order, whose retransmission was first, has no extent; one beyond a hole has the
//! standard's, whether its retransmission was there already or not.

use std::collections::VecDeque;

/// Room for so many runs stays with a receiver that has no hole.
const KEPT: usize = 16;

/// The reordering that a receiver has seen.
#[derive(Clone, Debug, Default)]
pub struct Reordering {
    /// Late packets.
    pub late: u64,
    /// Those of them that ended beyond what had come in order, and so have an extent.
    pub extents: u64,
    /// Sum of the extents, packets.
    pub extent_sum: u64,
    /// Largest, packets.
    pub extent_max: u64,
    /// Most bytes kept beyond a hole.
    pub buffer: u64,
    /// Packets that ended beyond all before them, in order.
    ahead: VecDeque<Run>,
}

/// Arrivals one after the other, each of which ends as far beyond the one before.
#[derive(Clone, Copy, Debug)]
struct Run {
    /// End of the first of them, and its number among arrivals.
    end: u64,
    number: u64,
    /// From one end to the next; 0 of a single one.
    step: u32,
    /// So many more than the first.
    more: u32,
}

impl Run {
    /// Where the last of them ends.
    fn last(&self) -> u64 {
        self.end + u64::from(self.step) * u64::from(self.more)
    }

    /// How many of them end at `end` or before.
    fn up_to(&self, end: u64) -> u64 {
        match end.checked_sub(self.end) {
            None => 0,
            Some(_) if self.more == 0 => 1,
            Some(beyond) => (beyond / u64::from(self.step)).min(u64::from(self.more)) + 1,
        }
    }

    /// Takes in the arrival `number` that ends at `end`, if it goes on.
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
    /// Arrival `number`, which ends at `end`, lies beyond a hole and all else.
    pub fn overtake(&mut self, end: u64, number: u64) {
        if !self.ahead.back_mut().is_some_and(|run| run.goes_on(end, number)) {
            self.ahead.push_back(Run { end, number, step: 0, more: 0 });
        }
    }

    /// Runs of arrivals kept.
    pub fn runs(&self) -> usize {
        self.ahead.len()
    }

    /// Arrival `number` is late. What has come in order ends at `next`.
    pub fn late(&mut self, end: u64, number: u64, next: u64) {
        self.late += 1;
        if end <= next {
            // what overtook it first may be forgotten
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

    /// Everything below `next` has come: nothing is kept beyond a hole now, or `open` there is.
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
