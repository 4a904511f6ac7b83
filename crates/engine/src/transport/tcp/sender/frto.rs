//! F-RTO (RFC 5682): detection of spurious timeouts.

use super::Sender;
use super::ack::AckInfo;
use crate::spec::{Recovery, Rules, TransportSpec};
use incast_cc::{Phase, Time};

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
    sent_beyond: bool,
    /// It acknowledges some, but not all, of the data of the timeout.
    advances: bool,
    /// It reports a gap: a duplicate, or one with new SACK blocks.
    has_gap: bool,
    /// New data is there, and the peer's window takes it.
    can_send: bool,
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
    fn on_ack(&mut self, ack: AckOfTimeout) -> bool {
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

impl Sender {
    /// Handles an ACK while the losses of a timeout are repaired. Returns true if a loss is found after all.
    pub(super) fn after_timeout(&mut self, now: Time, t: &TransportSpec, info: &AckInfo) -> bool {
        let original = self.board.original_arrived();
        let recovered = self.una >= self.recovery.point;
        if info.acked > 0 && self.undo.was_mistaken(info.echoed) || self.frto.is_on() && original {
            self.take_back_timeout();
        } else if self.frto.is_on() && self.check_by_new_data(info) {
            return false;
        }
        if recovered && self.phase == Phase::Loss {
            self.phase = Phase::Open;
            self.recovery.dupacks = 0;
            self.board.recovered();
        }
        if self.board.waits_for_late() {
            return self.update_late(now, t) && self.phase == Phase::Open;
        }
        if self.phase == Phase::Open {
            return t.sack && t.scoreboard != Rules::Ns3 && self.lost_again(t);
        }
        // Linux finds no new losses before these are repaired, unless by send times
        if t.sack && (t.recovery != Recovery::Linux || t.scoreboard == Rules::Rack) {
            self.update_lost(t);
        }
        // the loss of a second copy calls for a fast recovery
        self.board.resent_is_lost()
    }

    /// Handles an ACK that does not show the timeout to be spurious. Returns whether new data is to show it (step 2b).
    pub(super) fn check_by_new_data(&mut self, info: &AckInfo) -> bool {
        let moves = self.frto.on_ack(AckOfTimeout {
            sent_beyond: self.nxt > self.recovery.point,
            advances: info.acked > 0 && self.una < self.recovery.point,
            has_gap: info.newly_sacked > 0 || info.duplicate,
            can_send: self.app.written > self.nxt && self.peer.edge > self.nxt,
        });
        if moves {
            self.recovery.point = self.nxt;
            self.board.watch_below(self.recovery.point);
        }
        self.frto.new_data_first()
    }

    /// Undoes the reduction and the losses of a timeout.
    pub(super) fn take_back_timeout(&mut self) {
        self.undo.take_back(&mut self.cc);
        self.board.nothing_is_lost(self.una);
        self.timer.consecutive = 0;
        self.frto.end();
        self.phase = Phase::Open;
        self.recovery.dupacks = 0;
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
