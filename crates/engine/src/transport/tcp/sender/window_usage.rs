//! Congestion window validation: windows grow only while they limit sending (RFC 7661 section 4.1, as Linux has it).

use super::*;

/// Whether the congestion window limits sending.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct WindowUsage {
    /// The window, not data or receiver, ended the latest burst.
    pub(super) blocked: bool,
    /// ... or one of the round trip that ends at `end`.
    pub(super) limited: bool,
    /// Outstanding then, or the most outstanding if the window did not limit.
    pub(super) max_out: u64,
    pub(super) end: u64,
}

impl Sender {
    /// Notes whether the window limits sending, after new data was sent from `before` on.
    #[inline]
    pub(super) fn note_usage(&mut self, t: &TransportSpec, before: u64) {
        if t.cwnd_limited {
            let full = self.pipe(t) + t.mss as u64;
            let limited = full as f64 > self.window() || self.usage.blocked;
            // what goes again says nothing: new data was to go, or went
            let new = self.nxt > before || self.app.written > before;
            if new
                && (self.nxt > before || limited)
                && (self.una >= self.usage.end
                    || limited
                    || (!self.usage.limited && self.nxt - self.una > self.usage.max_out))
            {
                self.usage.limited = limited;
                self.usage.max_out = self.nxt - self.una;
                self.usage.end = self.nxt;
            }
        }
    }

    /// Linux's test: the window limited sending in this round trip, or in slow start is not yet twice
    /// what was outstanding.
    #[inline]
    pub(super) fn is_cwnd_limited(&self) -> bool {
        let cwnd = self.cc.cwnd();
        self.usage.limited || (cwnd < self.cc.ssthresh() && cwnd < 2.0 * self.usage.max_out as f64)
    }
}
