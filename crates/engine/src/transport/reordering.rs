//! How far packets arrive out of order: RFC 4737's reordered packets and their extent, and what a receiver has to keep.
//!
//! A data packet that is no retransmission is late (RFC 4737, section 3.3: reordered) when bytes beyond its end have come
//! before it. Its extent (section 4.2.1) is the number of arrivals from the first packet that overtook it to it. Of that,
//! only packets that ended beyond all before them need to be known, and only while the receiver has a hole. So a late
//! packet below what has come in order, whose retransmission was first, has no extent; one beyond a hole has the
//! standard's, whether its retransmission was there already or not.

use std::collections::VecDeque;

/// What a receiver has seen of it.
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
    /// Packets that ended beyond all before them: their ends, and their numbers among arrivals.
    ahead: VecDeque<(u64, u64)>,
}

impl Reordering {
    /// Arrival `number`, which ends at `end`, lies beyond a hole and all else.
    pub fn overtake(&mut self, end: u64, number: u64) {
        self.ahead.push_back((end, number));
    }

    /// Arrival `number` is late. What has come in order ends at `next`.
    pub fn late(&mut self, end: u64, number: u64, next: u64) {
        self.late += 1;
        if end <= next {
            // what overtook it first may be forgotten
            return;
        }
        let first = self.ahead.partition_point(|(beyond, _)| *beyond <= end);
        if let Some((_, overtook)) = self.ahead.get(first) {
            let extent = number - overtook;
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
        while self.ahead.front().is_some_and(|(end, _)| *end <= next) {
            self.ahead.pop_front();
        }
    }
}
