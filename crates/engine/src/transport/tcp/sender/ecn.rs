//! Explicit congestion notification at the sender (RFC 3168, RFC 8257): one reduction a window.

/// Explicit congestion notification: the current reduction, its announcement, and ns-3's echo.
#[derive(Default, Debug)]
pub(super) struct EcnState {
    /// End of the reduction: it ends when something beyond is acknowledged.
    cwr_end: u64,
    /// Set if the next new segment carries CWR.
    send_cwr: bool,
    /// ns-3's state of ECN-Echo: received and not yet answered with CWR; number of the last one received, and of the
    /// segment that last carried CWR.
    echo: bool,
    echo_at: u64,
    cwr_at: u64,
}

impl EcnState {
    /// Begins a reduction of a window that ends at `end`. The next new segment announces it.
    pub fn reduce(&mut self, end: u64) {
        (self.cwr_end, self.send_cwr) = (end, true);
    }

    /// Lets the next new segment carry CWR, if so.
    pub fn announce(&mut self, carries: bool) {
        self.send_cwr |= carries;
    }

    /// Returns whether this segment carries CWR: the next one does not.
    #[inline(always)]
    pub fn takes_cwr(&mut self) -> bool {
        std::mem::take(&mut self.send_cwr)
    }

    /// End of the latest reduction.
    pub fn end(&self) -> u64 {
        self.cwr_end
    }

    /// True if an acknowledgement up to `una` lies beyond the latest reduction: another may begin.
    pub fn is_past(&self, una: u64) -> bool {
        una > self.cwr_end
    }

    /// True if a segment is to carry CWR, or an echo is unanswered.
    pub fn is_active(&self) -> bool {
        self.send_cwr || self.echo
    }

    /// Notes an ACK up to `una` (ns-3). `marked`: it echoes a mark; `news`: of new data.
    pub fn on_echo(&mut self, marked: bool, news: bool, una: u64) {
        if marked && news {
            (self.echo, self.echo_at) = (true, una);
        }
        self.echo &= marked;
    }

    /// True while an echo is unanswered (ns-3).
    pub fn echo_pending(&self) -> bool {
        self.echo
    }

    /// Notes that a new segment `seq` answers an echo with CWR, once (ns-3).
    #[inline(always)]
    pub fn answered_by(&mut self, seq: u64) {
        if self.echo && self.echo_at > self.cwr_at {
            (self.echo, self.cwr_at) = (false, seq);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::EcnState;

    #[test]
    fn a_window_is_reduced_once_and_announced_once() {
        let mut ecn = EcnState::default();
        assert!(ecn.is_past(1000), "no reduction yet");
        ecn.reduce(9000);
        assert!(ecn.is_active() && ecn.takes_cwr() && !ecn.takes_cwr(), "RFC 3168 6.1.2: one segment carries CWR");
        assert!(!ecn.is_past(5000) && !ecn.is_past(9000), "marks of the reduced window change nothing");
        assert!(ecn.is_past(9001) && ecn.end() == 9000);
    }

    #[test]
    fn a_loss_may_announce_a_reduction_too() {
        let mut ecn = EcnState::default();
        ecn.announce(false);
        assert!(!ecn.takes_cwr());
        ecn.announce(true);
        ecn.announce(false);
        assert!(ecn.takes_cwr());
    }

    #[test]
    fn an_echo_is_answered_by_the_next_new_segment_alone() {
        let mut ecn = EcnState::default();
        ecn.on_echo(true, false, 1000);
        assert!(!ecn.is_active(), "an echo on a duplicate is not heard");
        ecn.on_echo(true, true, 2000);
        assert!(ecn.is_active());
        ecn.answered_by(7000);
        assert!(!ecn.is_active());
        // a later echo of data below the answer is the same one
        ecn.on_echo(true, true, 6000);
        ecn.answered_by(8000);
        assert!(ecn.is_active());
        ecn.on_echo(false, true, 6500);
        assert!(!ecn.is_active(), "the receiver has seen CWR");
    }
}
