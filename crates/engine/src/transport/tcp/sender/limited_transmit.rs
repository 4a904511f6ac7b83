//! Limited transmit (RFC 3042): each of the first two duplicate ACKs allows one new segment beyond the window.

use super::Sender;
use crate::spec::{LossRules, Recovery};
use incast_cc::Phase;

impl Sender {
    /// Bytes that duplicates before a fast retransmit allow: those beyond the window, and those that SACK took out of
    /// the pipe without making room yet.
    #[cold]
    pub(super) fn limited_transmit(&self, loss: &LossRules) -> (u32, u64) {
        let counts = self.recovery.phase == Phase::Open && !self.profile.own_recovery;
        match (loss.limited_transmit, loss.sack) {
            (true, false) if counts && loss.recovery != Recovery::Linux => (self.recovery.dupacks.min(2) * self.mss, 0),
            (false, true) if counts => (0, self.board.sacked_bytes()),
            _ => (0, 0),
        }
    }
}
