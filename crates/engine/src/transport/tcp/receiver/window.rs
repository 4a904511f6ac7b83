//! Offered window: free buffer space, scaled (RFC 7323), moved by whole segments (RFC 1122 4.2.3.3), and growing if
//! configured.

use crate::spec::TransportSpec;
use incast_cc::{Rate, Time};

/// Largest window without scaling, in bytes. A growing window begins with this, in whole segments.
pub const UNSCALED: u64 = 65_535;

/// Receive window.
#[derive(Clone, Debug)]
pub struct Window {
    /// Upper bound of a growing window.
    limit: u64,
    /// Right edge of the offered window.
    pub edge: u64,
    /// Application that does not read at once.
    reader: Option<Box<Reader>>,
    /// Window scale: power of two of the unit.
    scale: u8,
}

/// Application that reads at a rate.
#[derive(Clone, Debug)]
struct Reader {
    rate: Rate,
    /// Unread bytes at `read_at`.
    unread: u64,
    read_at: Time,
    /// Time of the planned update; [`Time::NEVER`] if none is planned.
    update_at: Time,
}

impl Reader {
    /// Reads what is due since the last call, then adds `fresh` in-order bytes.
    fn read(&mut self, now: Time, fresh: u64) {
        let bits = (now - self.read_at).0 as u128 * self.rate.0 as u128 / 1_000_000_000_000;
        let bytes = (bits / 8) as u64;
        if bytes >= self.unread {
            (self.unread, self.read_at) = (0, now);
        } else {
            self.unread -= bytes;
            // keep the remainder of a byte for the next look
            self.read_at += self.rate.serialize(bytes);
        }
        self.unread += fresh;
    }
}

impl Window {
    /// Window of an empty buffer, whose application reads at `read_rate`. A growing window begins with 65,160 bytes for
    /// segments of 1448; the scale is the smallest that can offer the whole buffer.
    pub fn new(t: &TransportSpec, read_rate: Rate) -> Window {
        let mss = t.sizes.mss as u64;
        let first = (UNSCALED / mss * mss).max(mss).min(t.windows.receive_buffer / 2);
        let scale =
            (0..14).find(|s| !t.windows.window_scaling || t.windows.receive_buffer >> s <= UNSCALED).unwrap_or(14);
        let limit = if t.acks.window_growth { first } else { u64::MAX };
        let reader = Reader { rate: read_rate, unread: 0, read_at: Time::ZERO, update_at: Time::NEVER };
        Window { limit, edge: 0, reader: (read_rate != Rate::INFINITE).then(|| Box::new(reader)), scale }
    }

    /// Returns whether the window can still grow.
    #[inline(always)]
    pub fn is_growing(&self, t: &TransportSpec) -> bool {
        t.acks.window_growth && self.limit < t.windows.receive_buffer / 2
    }

    /// Grows the window by two segments.
    pub fn grow(&mut self, t: &TransportSpec) {
        self.limit = (self.limit + 2 * t.sizes.mss as u64).min(t.windows.receive_buffer / 2);
    }

    /// Returns whether the application reads arrived data at once.
    pub fn is_read_at_once(&self) -> bool {
        self.reader.is_none()
    }

    /// Reads what is due since the last call, then adds `fresh` in-order bytes.
    #[inline]
    pub fn read(&mut self, now: Time, fresh: u64) {
        if let Some(reader) = &mut self.reader {
            reader.read(now, fresh);
        }
    }

    /// Window offered now, in bytes: the buffer less unread data (bytes beyond a hole lie inside the window), in units
    /// of the scale, never below an earlier offer.
    #[inline]
    pub fn offer(&mut self, next: u64, t: &TransportSpec) -> u32 {
        let unread = self.reader.as_ref().map_or(0, |reader| reader.unread);
        let free = t.windows.receive_buffer.saturating_sub(unread).min(self.limit);
        let wnd = (free >> self.scale).min(UNSCALED) << self.scale;
        let right = next + wnd;
        let step = self.step(t);
        if right < self.edge || (wnd < t.windows.receive_buffer / 2 && right < self.edge + step) {
            return self.edge.saturating_sub(next) as u32;
        }
        self.edge = right;
        wnd as u32
    }

    /// Bytes by which the edge moves at least (silly-window avoidance): a segment, half the buffer, or what a window
    /// that still grows can offer.
    #[inline(always)]
    fn step(&self, t: &TransportSpec) -> u64 {
        (t.sizes.mss as u64).min(t.windows.receive_buffer / 2).min(self.limit >> self.scale << self.scale)
    }

    /// Plans the update that reopens a closed window of a slow reader.
    #[inline]
    pub fn plan_update(&mut self, next: u64, now: Time, t: &TransportSpec) -> Option<Time> {
        let step = self.step(t);
        let reader = self.reader.as_mut()?;
        let shut = self.edge.saturating_sub(next) < step && reader.unread > 0;
        if reader.update_at != Time::NEVER || !shut {
            return None;
        }
        reader.update_at = (reader.read_at + reader.rate.serialize(step.min(reader.unread))).max(now + Time::ps(1));
        Some(reader.update_at)
    }

    /// Returns whether the planned update is due now, and clears it then.
    pub fn is_update_due(&mut self, now: Time) -> bool {
        let due = |reader: &&mut Box<Reader>| reader.update_at == now;
        self.reader.as_mut().filter(due).map(|reader| reader.update_at = Time::NEVER).is_some()
    }
}
