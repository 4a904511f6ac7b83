//! Congestion window validation: windows grow only while they limit sending (RFC 7661 section 4.1, as in Linux).

/// Limitation of sending by the congestion window.
#[derive(Default, Debug)]
pub struct WindowUsage {
    /// Set if the window, not data or receiver, ended the latest burst.
    pub blocked: bool,
    /// Set if the window ended a burst of the round trip that ends at `end`.
    limited: bool,
    /// Bytes outstanding then, or the most outstanding if the window did not limit.
    max_out: u64,
    end: u64,
}

impl WindowUsage {
    /// Notes that data is outstanding from `una` to `nxt`, and whether the window `limited` its transmission.
    #[inline]
    pub fn note(&mut self, una: u64, nxt: u64, limited: bool) {
        if una >= self.end || limited || (!self.limited && nxt - una > self.max_out) {
            (self.limited, self.max_out, self.end) = (limited, nxt - una, nxt);
        }
    }

    /// Linux' test: the window limited sending in this round trip, or, in slow start, it is not yet twice the
    /// outstanding data.
    #[inline]
    pub fn is_limited(&self, cwnd: f64, ssthresh: f64) -> bool {
        self.limited || (cwnd < ssthresh && cwnd < 2.0 * self.max_out as f64)
    }
}
