//! ACKs caused by the reads of the application (Linux, tcp_measure_rcv_mss and tcp_cleanup_rbuf), for segments that
//! look like the end of a message. Here the application reads at once.

use super::{DEFAULT_MSS, Receiver};
use crate::event::packet::{Packet, flag};
use crate::node::context::{Effects, NodeCtx};
use crate::spec::Sizes;

/// Smallest segment size of a sender (TCP_MIN_MSS).
const MIN_MSS: u32 = 88;
/// Size of an IP header, which counts as a part of the segment's header.
const IP_HEADER: u32 = 20;

impl Receiver {
    /// Reads a segment in order. Returns whether that acknowledges it (tcp_cleanup_rbuf).
    #[cold]
    pub(super) fn is_read(&mut self, ctx: &NodeCtx<impl Effects>, sizes: &Sizes, p: &Packet) -> bool {
        self.measure(sizes, p);
        let interactive = ctx.tcbs.get(self.tcb as usize).is_some_and(|tcb| tcb.pingpong);
        self.acks.pushed > u8::from(interactive)
    }

    /// Estimates the sender's segment size, and notes segments that end a message (tcp_measure_rcv_mss).
    fn measure(&mut self, sizes: &Sizes, p: &Packet) {
        let (len, before) = (p.len as u32, std::mem::take(&mut self.lengths.shorter));
        let (acks, lengths) = (&mut self.acks, &mut self.lengths);
        if len >= lengths.segment {
            lengths.segment = len.min(sizes.mss);
            if p.has(flag::PSH) {
                acks.pushed = acks.pushed.max(1);
            }
            return;
        }
        let header = sizes.header.saturating_sub(IP_HEADER);
        // headers count here, options do not in the kernel (struct tcphdr)
        let min = if p.has(flag::PSH) || p.has(flag::FIN) { DEFAULT_MSS } else { MIN_MSS };
        if len + header >= min + 20 {
            lengths.shorter = len;
            if len == before {
                lengths.segment = len;
                return;
            }
        }
        acks.pushed = (acks.pushed + 1).min(2);
    }
}
