//! F-RTO (RFC 5682): detection of spurious timeouts.

/// F-RTO after a timeout. Off once the timeout is known to be spurious or not.
#[derive(Default, Debug)]
pub(super) struct Frto {
    /// Set while the timeout may have been spurious.
    on: bool,
    /// Set if new data goes before any retransmission (step 2b).
    new_first: bool,
}

/// Facts of an ACK after a timeout.
#[derive(Clone, Copy, Debug)]
pub(super) struct AckOfTimeout {
    /// Data beyond that of the timeout has been sent.
    pub sent_beyond: bool,
    /// Part of the data of the timeout is newly acknowledged.
    pub advances: bool,
    /// A gap is reported, by a duplicate or by new SACK blocks.
    pub has_gap: bool,
    /// New data is there, and the peer's window takes it.
    pub can_send: bool,
}

impl Frto {
    /// Begins at a timeout, where it applies.
    pub fn on_timeout(&mut self, applies: bool) {
        *self = Frto { on: applies, new_first: false };
    }

    /// True while the timeout may have been spurious.
    pub fn is_on(&self) -> bool {
        self.on
    }

    /// True if it decides about anything.
    pub fn is_active(&self) -> bool {
        self.on || self.new_first
    }

    /// True if new data goes before any retransmission.
    pub fn new_data_first(&self) -> bool {
        self.new_first
    }

    /// Ends it.
    pub fn end(&mut self) {
        self.on = false;
    }

    /// Handles an ACK that does not show the timeout to be spurious by itself. Returns whether the data of the timeout
    /// now ends at the last byte sent (step 2b): new data, if any may go, is to show it.
    pub fn on_ack(&mut self, ack: AckOfTimeout) -> bool {
        if ack.sent_beyond {
            self.on &= !ack.has_gap;
        } else if ack.advances {
            (self.on, self.new_first) = (ack.can_send, ack.can_send);
            return true;
        }
        false
    }

    /// Notes that new data was to go. Without any, retransmissions follow after all: returns true.
    pub fn tried_new_data(&mut self, went: bool) -> bool {
        self.new_first = false;
        self.on &= went;
        !went
    }
}

#[cfg(test)]
mod tests {
    use super::{AckOfTimeout, Frto};

    const ADVANCES: AckOfTimeout = AckOfTimeout { sent_beyond: false, advances: true, has_gap: false, can_send: true };
    const LATER: AckOfTimeout = AckOfTimeout { sent_beyond: true, advances: false, has_gap: false, can_send: true };

    fn after_timeout() -> Frto {
        let mut frto = Frto::default();
        frto.on_timeout(true);
        frto
    }

    #[test]
    fn two_advancing_acks_leave_the_timeout_spurious() {
        let mut frto = after_timeout();
        assert!(frto.on_ack(ADVANCES) && frto.new_data_first(), "step 2b: new data goes");
        assert!(!frto.tried_new_data(true), "it went: nothing is retransmitted");
        assert!(!frto.on_ack(LATER) && frto.is_on(), "step 3b: spurious");
    }

    #[test]
    fn a_duplicate_after_new_data_makes_the_timeout_genuine() {
        let mut frto = after_timeout();
        frto.on_ack(ADVANCES);
        frto.tried_new_data(true);
        frto.on_ack(AckOfTimeout { has_gap: true, ..LATER });
        assert!(!frto.is_on(), "step 3a: retransmissions go on");
    }

    #[test]
    fn without_new_data_retransmissions_follow() {
        let mut frto = after_timeout();
        frto.on_ack(AckOfTimeout { can_send: false, ..ADVANCES });
        assert!(!frto.is_active(), "no data to send");
        let mut frto = after_timeout();
        frto.on_ack(ADVANCES);
        assert!(frto.tried_new_data(false) && !frto.is_active(), "the window held it back");
    }

    #[test]
    fn it_ends_where_it_does_not_apply() {
        let mut frto = after_timeout();
        frto.on_ack(ADVANCES);
        frto.on_timeout(false);
        assert!(!frto.is_active());
    }
}
