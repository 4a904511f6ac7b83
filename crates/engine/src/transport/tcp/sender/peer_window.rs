//! The window that the peer offers (RFC 9293 3.10.7.4): which segments change it, and what goes beyond one that shrank
//! (3.8.6).
//!
//! RFC 9293 compares two numbers, those of SEQ (SND.WL1) and ACK (SND.WL2). The second needs no field: an ACK below
//! SND.UNA is not taken at all, and SND.WL2 is never above that.

use crate::event::packet::nearest;
use crate::spec::WindowUpdate;

/// The segment size of hosts that know no other (RFC 9293 3.7.1).
const DEFAULT_MSS: u64 = 536;
/// The smallest IP packet that every network takes whole (RFC 791), and an IP header.
const LEAST_PACKET: u32 = 68 + 20;

/// Window that the peer offers.
#[derive(Default, Debug)]
pub(super) struct PeerWindow {
    /// Its right edge, and the largest window that was ever offered.
    pub(super) edge: u64,
    pub(super) max: u64,
    /// Number of the segment at work, and of the one that changed the window last (SND.WL1). SYN has the number of
    /// nothing, the first byte is 1. Both stay 0 where the peer sends no data.
    pub(super) number: u64,
    last: u64,
    /// End of a segment that the persist timer has split: what is left of it goes as one (`whole_segments`).
    split: u64,
}

impl PeerWindow {
    /// The connection opens: segment `number` acknowledges up to `ack` and offers `wnd` bytes.
    pub(super) fn opened(ack: u64, wnd: u64, number: u64) -> PeerWindow {
        PeerWindow { edge: ack + wnd, max: wnd, number, last: number, split: 0 }
    }

    /// Takes in the window of the segment at work, if that may change it. `una`: what was acknowledged before.
    #[inline(always)]
    pub(super) fn take(&mut self, rule: WindowUpdate, una: u64, ack: u64, wnd: u32) {
        let edge = ack + wnd as u64;
        if rule == WindowUpdate::News || self.is_changed_by(rule, ack > una, edge) {
            self.edge = edge;
            self.max = self.max.max(wnd as u64);
            self.last = self.number;
        }
    }

    /// Whether the segment at work may change the window; `news`: it acknowledges something new.
    fn is_changed_by(&self, rule: WindowUpdate, news: bool, edge: u64) -> bool {
        match rule {
            WindowUpdate::News => news || edge > self.edge,
            WindowUpdate::Rfc9293 => self.number >= self.last,
            // 6.1: tcp_may_update_window
            WindowUpdate::Linux => news || self.number > self.last || self.number == self.last && edge > self.edge,
        }
    }

    /// Whether data segment `number` of a two-way connection, which acknowledges nothing new, changes the window.
    pub(super) fn is_moved(&mut self, rule: WindowUpdate, number: u64, edge: u64) -> bool {
        self.number = number;
        let taken = self.is_changed_by(rule, false, edge);
        if taken && edge == self.edge {
            self.last = number;
        }
        taken && edge != self.edge
    }

    /// A pure ACK of a two-way connection has the number whose low bits these are, the nearest.
    pub(super) fn numbered(&mut self, low: u32) {
        self.number = nearest(self.last, low);
    }

    /// Payload of a full segment under the largest window so far: half of the window, unless that is small anyway
    /// (tcp_bound_to_half_wnd). `mss`: without a window; `header`: bytes of a segment's header.
    pub(super) fn bound(&self, mss: u32, header: u32) -> u32 {
        let most = if self.max > DEFAULT_MSS { self.max / 2 } else { self.max };
        match most {
            0 => mss,
            most if most >= mss as u64 => mss,
            // Linux: 68 bytes less the TCP header
            most => (most as u32).max(LEAST_PACKET.saturating_sub(header)).clamp(1, mss),
        }
    }

    /// The persist timer sends a part of the segment at `nxt`, whose end it returns: `whole`, or that of one of which
    /// parts have gone before.
    pub(super) fn split(&mut self, nxt: u64, whole: u64) -> u64 {
        if !self.is_split(nxt) {
            self.split = whole;
        }
        self.split
    }

    /// Whether a part of a segment that was split is left from `nxt` on.
    #[inline]
    pub(super) fn is_split(&self, nxt: u64) -> bool {
        self.split > nxt
    }

    /// Bytes from `nxt` on that are left of a segment that was split, if the window has room for them; else 0.
    #[cold]
    pub(super) fn rest(&self, nxt: u64) -> u32 {
        let rest = self.split.saturating_sub(nxt);
        if nxt + rest <= self.edge { rest as u32 } else { 0 }
    }

    /// Whether data from `seq` on may be sent again, where nothing below `una` is outstanding. Linux does not send
    /// again what a window that shrank leaves outside, but for the first segment, which probes it
    /// (tcp_retransmit_skb); RFC 9293 allows it (MAY-7).
    #[inline]
    pub(super) fn lets_repair(&self, rule: WindowUpdate, una: u64, seq: u64) -> bool {
        rule != WindowUpdate::Linux || seq < self.edge || seq == una
    }
}
