//! Congestion window validation: windows grow only while they limit sending (RFC 7661 section 4.1, as Linux has it).

/// Whether the congestion window limits sending.
#[derive(Default, Debug)]
pub struct WindowUsage {
    /// The window, not data or receiver, ended the latest burst.
    pub blocked: bool,
    /// ... or one of the round trip that ends at `end`.
    limited: bool,
    /// Outstanding then, or the most outstanding if the window did not limit.
    max_out: u64,
    end: u64,
}

impl WindowUsage {
    /// Data is outstanding from `una` to `nxt`, and the window `limited` what was sent of it or did not.
    #[inline]
    pub fn note(&mut self, una: u64, nxt: u64, limited: bool) {
        if una >= self.end || limited || (!self.limited && nxt - una > self.max_out) {
            (self.limited, self.max_out, self.end) = (limited, nxt - una, nxt);
        }
    }

    /// Linux's test: the window limited sending in this round trip, or in slow start is not yet twice
    /// what was outstanding.
    #[inline]
    pub fn is_limited(&self, cwnd: f64, ssthresh: f64) -> bool {
        self.limited || (cwnd < ssthresh && cwnd < 2.0 * self.max_out as f64)
    }
}
