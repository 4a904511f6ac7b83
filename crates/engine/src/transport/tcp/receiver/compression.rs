//! SACK compression of Linux.

use super::Receiver;
use crate::event::packet::Kind;
use crate::node::context::{Effects, NodeCtx};
use crate::spec::Sizes;
use incast_cc::Time;

/// Longest delay, timer slack (the delay of the timer if no other of its kind is due), and largest number of segments.
const COMPRESSION_DELAY: Time = Time::ms(1);
pub(super) const COMPRESSION_SLACK: Time = Time::us(100);
const COMPRESSED_AT_MOST: u32 = 44;

impl Receiver {
    /// Returns whether a segment beyond a hole is acknowledged at once despite compression: the first three after the
    /// edge has moved, and the one after 44 that waited.
    pub(super) fn is_not_compressed(&mut self, ctx: &mut NodeCtx<impl Effects>) -> bool {
        if self.compression.waiting >= COMPRESSED_AT_MOST {
            return true;
        }
        if self.compression.stuck_at != self.next {
            (self.compression.stuck_at, self.compression.duplicates) = (self.next, 0);
        }
        if self.compression.duplicates < 3 {
            self.compression.duplicates += 1;
            return true;
        }
        self.compression.waiting += 1;
        if self.compression.waiting == 1 {
            let rtt = ctx.tcbs.get(self.tcb as usize).map_or(self.handshake_rtt, |tcb| tcb.srtt);
            let at = ctx.now + (rtt / 20).min(COMPRESSION_DELAY);
            self.acknowledge_at(ctx, at + COMPRESSION_SLACK);
            ctx.hosts[self.ip.host].run_queue.compressed.push((at, self.flow));
        }
        false
    }

    /// Clears the waiting SACKs.
    #[inline]
    pub(super) fn uncompress(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        if self.compression.waiting > 0 {
            self.compression.waiting = 0;
            ctx.hosts[self.ip.host].run_queue.compressed.retain(|timer| timer.1 != self.flow);
        }
    }

    /// Sends waiting SACKs before a segment that begins a third block or extends a later one.
    pub(super) fn release(&mut self, ctx: &mut NodeCtx<impl Effects>, sizes: &Sizes, seq: u64, end: u64) {
        let blocks = self.sack.blocks(&self.ooo, self.next);
        let count = blocks.iter().take_while(|b| b.0 < b.1).count();
        let place = blocks[..count].iter().position(|b| b.0 <= end && seq <= b.1).unwrap_or(count);
        if place >= 2 {
            self.acknowledge(ctx, Kind::Ack, 0, sizes.ack_size);
        }
    }
}
