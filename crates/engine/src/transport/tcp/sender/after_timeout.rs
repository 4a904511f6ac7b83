//! ACKs after a timeout: a spurious one is taken back (RFC 5682, RFC 4015).

use super::Sender;
use super::ack::AckInfo;
use super::frto::AckOfTimeout;
use crate::spec::{Recovery, Rules, TransportSpec};
use incast_cc::{Phase, Time};

impl Sender {
    /// Handles an ACK while the losses of a timeout are repaired. Returns true if a loss is found after all.
    pub(super) fn after_timeout(&mut self, now: Time, t: &TransportSpec, info: &AckInfo) -> bool {
        let original = self.board.original_arrived();
        let recovered = self.snd.una >= self.recovery.point;
        if info.acked > 0 && self.recovery.undo.was_mistaken(info.echoed) || self.recovery.frto.is_on() && original {
            self.take_back_timeout();
        } else if self.recovery.frto.is_on() && self.check_by_new_data(info) {
            return false;
        }
        if recovered && self.recovery.phase == Phase::Loss {
            self.recovery.phase = Phase::Open;
            self.recovery.dupacks = 0;
            self.board.recovered();
        }
        if self.board.waits_for_late() {
            return self.update_late(now, &t.loss) && self.recovery.phase == Phase::Open;
        }
        if self.recovery.phase == Phase::Open {
            return t.loss.sack && t.loss.scoreboard != Rules::Ns3 && self.lost_again(t);
        }
        // Linux finds no new losses before these are repaired, unless by send times
        if t.loss.sack && (t.loss.recovery != Recovery::Linux || t.loss.scoreboard == Rules::Rack) {
            self.update_lost(t);
        }
        // the loss of a second copy calls for a fast recovery
        self.board.resent_is_lost()
    }

    /// Handles an ACK that does not show the timeout to be spurious. Returns whether new data is to show it (step 2b).
    pub(super) fn check_by_new_data(&mut self, info: &AckInfo) -> bool {
        let moves = self.recovery.frto.on_ack(AckOfTimeout {
            sent_beyond: self.snd.nxt > self.recovery.point,
            advances: info.acked > 0 && self.snd.una < self.recovery.point,
            has_gap: info.newly_sacked > 0 || info.duplicate,
            can_send: self.app.written > self.snd.nxt && self.peer.edge > self.snd.nxt,
        });
        if moves {
            self.recovery.point = self.snd.nxt;
            self.board.watch_below(self.recovery.point);
        }
        self.recovery.frto.new_data_first()
    }

    /// Undoes the reduction and the losses of a timeout.
    pub(super) fn take_back_timeout(&mut self) {
        self.recovery.undo.take_back(&mut self.cc);
        self.board.nothing_is_lost(self.snd.una);
        self.timer.consecutive = 0;
        self.recovery.frto.end();
        self.recovery.phase = Phase::Open;
        self.recovery.dupacks = 0;
    }
}
