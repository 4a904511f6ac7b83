//! Taking back a reduction that new evidence shows to have been mistaken (Eifel and DSACK undo).

use super::*;

/// What tells whether the latest reduction was a mistake (RFC 3708, RFC 4015).
#[derive(Clone, Copy, Debug)]
pub(super) struct Undo {
    /// First unacknowledged byte at the reduction; [`NEVER`] where there is none to undo.
    pub(super) marker: u64,
    /// Segments sent again since, less those that duplicate SACKs report; below 0 before the first.
    pub(super) again: i32,
    /// When the first of them was sent, ps; [`NEVER`] before.
    pub(super) first_at: u64,
    /// A mark, or a reduction that was under way, called for it: the window stays as it is.
    pub(super) due: bool,
}

impl Default for Undo {
    fn default() -> Undo {
        Undo { marker: NEVER, again: -1, first_at: NEVER, due: false }
    }
}

impl Sender {
    /// A reduction begins that may have to be undone.
    pub(super) fn begin_undo(&mut self, t: &TransportSpec, due: bool) {
        if t.undo {
            // a probe that sent old data again may be reported as a duplicate too
            let again = if self.tlp.to > 0 && self.tlp.again { 1 } else { -1 };
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
