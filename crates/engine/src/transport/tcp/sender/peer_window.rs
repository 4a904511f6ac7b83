//! Window offered by the peer (RFC 9293 3.10.7.4): segments that change it, and data beyond a window that shrank
//! (3.8.6).
//!
//! RFC 9293 compares two numbers, those of SEQ (SND.WL1) and ACK (SND.WL2). The second needs no field: an ACK below
//! SND.UNA is ignored, and SND.WL2 is never above that.

use crate::event::packet::nearest;
use crate::spec::WindowUpdate;

/// Default segment size (RFC 9293 3.7.1).
const DEFAULT_MSS: u64 = 536;
/// Smallest IP packet that every network takes unfragmented (RFC 791), plus an IP header.
const MIN_PACKET: u32 = 68 + 20;

/// Window offered by the peer.
#[derive(Default, Debug)]
pub(super) struct PeerWindow {
    /// Right edge, and the largest window ever offered.
    pub(super) edge: u64,
    pub(super) max: u64,
    /// Number of the current segment, and of the last one that changed the window (SND.WL1). SYN counts as 0, the first
    /// byte as 1. Both stay 0 if the peer sends no data.
    pub(super) number: u64,
    last: u64,
    /// End of a segment that the persist timer has split: its rest goes as one segment (`whole_segments`).
    split: u64,
}

impl PeerWindow {
    /// Window of a connection that opens: segment `number` acknowledges up to `ack` and offers `wnd` bytes.
    pub(super) fn opened(ack: u64, wnd: u64, number: u64) -> PeerWindow {
        PeerWindow { edge: ack + wnd, max: wnd, number, last: number, split: 0 }
    }

    /// Takes over the window of the current segment, if that may change it. `una`: acknowledged before.
    #[inline(always)]
    pub(super) fn take(&mut self, rule: WindowUpdate, una: u64, ack: u64, wnd: u32) {
        let edge = ack + wnd as u64;
        if rule == WindowUpdate::News || self.is_changed_by(rule, ack > una, edge) {
            self.edge = edge;
            self.max = self.max.max(wnd as u64);
            self.last = self.number;
        }
    }

    /// Returns whether the current segment may change the window; `is_new`: it acknowledges new data.
    fn is_changed_by(&self, rule: WindowUpdate, is_new: bool, edge: u64) -> bool {
        match rule {
            WindowUpdate::News => is_new || edge > self.edge,
            WindowUpdate::Rfc9293 => self.number >= self.last,
            // tcp_may_update_window of Linux 6.1
            WindowUpdate::Linux => is_new || self.number > self.last || self.number == self.last && edge > self.edge,
        }
    }

    /// Returns whether data segment `number` of a two-way connection, which acknowledges nothing new, changes the
    /// window.
    pub(super) fn is_moved(&mut self, rule: WindowUpdate, number: u64, edge: u64) -> bool {
        self.number = number;
        let taken = self.is_changed_by(rule, false, edge);
        if taken && edge == self.edge {
            self.last = number;
        }
        taken && edge != self.edge
    }

    /// Restores the number of a pure ACK on a two-way connection from its low bits: the nearest number.
    pub(super) fn numbered(&mut self, low: u32) {
        self.number = nearest(self.last, low);
    }

    /// Payload of a full segment under the largest window so far: at most half of the window, unless that is small
    /// anyway (tcp_bound_to_half_wnd). `mss`: payload without this bound; `header`: size of a segment's header in
    /// bytes.
    pub(super) fn bound(&self, mss: u32, header: u32) -> u32 {
        let bound = if self.max > DEFAULT_MSS { self.max / 2 } else { self.max };
        match bound {
            0 => mss,
            bound if bound >= mss as u64 => mss,
            // Linux: 68 bytes less the TCP header
            bound => (bound as u32).max(MIN_PACKET.saturating_sub(header)).clamp(1, mss),
        }
    }

    /// Splits the segment at `nxt`, of which the persist timer sends a part. Returns the segment's end: `whole`, or
    /// that of a segment already split.
    pub(super) fn split(&mut self, nxt: u64, whole: u64) -> u64 {
        if !self.is_split(nxt) {
            self.split = whole;
        }
        self.split
    }

    /// Returns whether a part of a split segment is left from `nxt` on.
    #[inline]
    pub(super) fn is_split(&self, nxt: u64) -> bool {
        self.split > nxt
    }

    /// Rest of a split segment from `nxt` on, in bytes, if the window has room for it; else 0.
    #[cold]
    pub(super) fn rest(&self, nxt: u64) -> u32 {
        let rest = self.split.saturating_sub(nxt);
        if nxt + rest <= self.edge { rest as u32 } else { 0 }
    }

    /// Returns whether data from `seq` on may be retransmitted, if nothing below `una` is outstanding. Linux
    /// retransmits nothing outside a window that shrank, except the first segment, which probes it
    /// (tcp_retransmit_skb); RFC 9293 allows it (MAY-7).
    #[inline]
    pub(super) fn lets_repair(&self, rule: WindowUpdate, una: u64, seq: u64) -> bool {
        rule != WindowUpdate::Linux || seq < self.edge || seq == una
    }
}
