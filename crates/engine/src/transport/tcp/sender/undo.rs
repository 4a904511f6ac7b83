//! Taking back a reduction that new evidence shows to have been mistaken (Eifel and DSACK undo).

use super::*;

impl Sender {
    /// A reduction begins that may have to be undone.
    pub(super) fn begin_undo(&mut self, t: &TransportSpec, due: bool) {
        if t.undo {
            // a probe that sent old data again may be reported as a duplicate too
            let again = if self.probe_to > 0 && self.probed_again { 1 } else { -1 };
            self.undo = Undo { marker: self.una, again, first_at: NEVER, due };
        }
    }

    /// Whether all that was sent again had arrived before: all of it was reported twice, or the ACK of
    /// `echoed` answers something that was sent earlier. Linux' time stamps count milliseconds.
    pub(super) fn was_mistaken(&self, echoed: u64) -> bool {
        self.undo.marker != NEVER
            && (self.undo.again == 0 || self.undo.first_at != NEVER && echoed / STAMP < self.undo.first_at / STAMP)
    }

    /// Takes the latest reduction back.
    pub(super) fn take_back(&mut self) {
        self.undo.marker = NEVER;
        if !self.undo.due {
            self.cc.on_undo();
        }
    }

    /// ... and with it the losses that a timeout supposed.
    pub(super) fn take_back_timeout(&mut self) {
        self.take_back();
        self.board.nothing_is_lost(self.una);
        self.consecutive = 0;
        self.frto = false;
        self.phase = Phase::Open;
        self.dupacks = 0;
    }

    /// A first SACK block below the acknowledgement or inside the second one reports what came twice
    /// (RFC 2883). Returns its bytes: they have left the network too.
    pub(super) fn duplicate_sack(&mut self, ack: u64, ext: &Ext) -> u64 {
        let [(start, end), (low, high), ..] = ext.sack;
        if start >= end || start >= ack && (low >= high || start < low || end > high) {
            return 0;
        }
        if self.undo.marker != NEVER && self.undo.again > 0 && end > self.undo.marker {
            self.undo.again -= 1;
        }
        end - start
    }
}
