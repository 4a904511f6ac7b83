//! The window that is offered: what the buffer has room for, scaled (RFC 7323), moved by whole segments (RFC 1122
//! 4.2.3.3), and growing where it does.

use super::*;

/// The most that a window field without scaling can say; in whole segments, where a window that grows begins.
pub(super) const UNSCALED: u64 = 65_535;

/// What a window that grows begins with: 65,160 bytes with segments of 1448.
pub(super) fn first_window(t: &TransportSpec) -> u64 {
    let mss = t.mss as u64;
    (UNSCALED / mss * mss).max(mss).min(t.receive_buffer / 2)
}

/// The least window scale that lets the whole buffer be offered.
pub(super) fn scale(t: &TransportSpec) -> u8 {
    let enough = (0..14).find(|s| t.receive_buffer >> s <= UNSCALED).unwrap_or(14);
    if t.window_scaling { enough } else { 0 }
}

impl Receiver {
    /// A segment up to `end` lets the window grow, where it does. What comes again leaves it alone, and without SACK so
    /// does what arrives out of order: else its ACKs would be no duplicates.
    #[inline(always)]
    pub(super) fn grow_window(&mut self, t: &TransportSpec, p: &Packet, end: u64) {
        if !t.window_growth || p.len == 0 || self.window >= t.receive_buffer / 2 {
            return;
        }
        let fresh = end > self.next && self.ooo.find(p.seq).is_none_or(|held| end > held.1);
        if fresh && (t.sack || p.seq <= self.next) {
            self.window = (self.window + 2 * t.mss as u64).min(t.receive_buffer / 2);
            self.quick |= 1;
        }
    }

    /// The application has read since the last look.
    pub(super) fn read(&mut self, now: u64) {
        if self.unread > 0 {
            let bits = (now - self.read_at) as u128 * self.read_rate.0 as u128 / 1_000_000_000_000;
            let bytes = (bits / 8) as u64;
            if bytes >= self.unread {
                self.unread = 0;
                self.read_at = now;
            } else {
                self.unread -= bytes;
                // keep the remainder of a byte for the next look
                self.read_at += self.read_rate.serialize(bytes).0;
            }
        } else {
            self.read_at = now;
        }
    }

    /// The window offered now, bytes: the buffer less what the application has not read (bytes
    /// beyond a hole lie inside the window), in units of the scale, never below what was offered
    /// before.
    pub(super) fn offer(&mut self, t: &TransportSpec) -> u32 {
        let free = t.receive_buffer.saturating_sub(self.unread).min(self.window);
        let wnd = (free >> self.scale).min(UNSCALED) << self.scale;
        // receiver silly-window avoidance: move the edge by a segment or half the buffer at least
        let right = self.next + wnd;
        let step = (t.mss as u64).min(t.receive_buffer / 2);
        if right < self.edge || (wnd < t.receive_buffer / 2 && right < self.edge + step) {
            return self.edge.saturating_sub(self.next) as u32;
        }
        self.edge = right;
        wnd as u32
    }

    /// With a slow reader and a shut window, plans the update that opens it again.
    pub(super) fn watch_window(&mut self, ctx: &mut NodeCtx<impl Effects>, t: &TransportSpec) {
        if self.read_rate == Rate::INFINITE || self.update_at != NEVER {
            return;
        }
        let step = (t.mss as u64).min(t.receive_buffer / 2);
        if self.edge.saturating_sub(self.next) < step && self.unread > 0 {
            let need = step.min(self.unread);
            self.update_at = (self.read_at + self.read_rate.serialize(need).0).max(ctx.now + 1);
            ctx.timer(self.update_at, TimerKind::WindowUpdate, self.flow);
        }
    }
}
