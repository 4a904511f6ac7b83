//! Reno SACK emulation: recovery without SACK as in Linux. Duplicate ACKs stand for arrived segments, and are taken
//! back as ACKs advance over these.

use super::Sender;
use super::ack::AckInfo;
use crate::node::context::{Effects, NodeCtx};
use crate::spec::LossRules;
use incast_cc::{Controller, Phase};

/// Upper bound of `dupthresh` under reordering (net.ipv4.tcp_max_reordering).
const MAX_REORDERING: u32 = 300;

impl Sender {
    /// Bytes delivered according to an ACK. An ACK that advances by `segments` fills a hole with one of them;
    /// duplicates stood for the others. A duplicate is one segment. Duplicates of data repeated after a timeout count
    /// only if new data was sent since, to which they may belong.
    pub(super) fn reno_sack_delivered(&mut self, loss: &LossRules, acked: u64, segments: u32, duplicate: bool) -> u64 {
        let mss = self.mss as u64;
        if acked > 0 {
            let counted = self.recovery.dupacks;
            self.recovery.dupacks = counted.saturating_sub(segments.saturating_sub(1));
            self.limit_duplicates(loss, segments);
            return (segments.saturating_sub(counted).max(1) as u64 * mss).min(acked);
        }
        let counts = match self.recovery.phase {
            Phase::Open | Phase::Cwr => true,
            Phase::Recovery => self.snd.una < self.recovery.point,
            Phase::Loss => self.snd.una < self.recovery.point && self.snd.nxt > self.recovery.point,
        };
        if !duplicate || !counts {
            return 0;
        }
        let before = self.recovery.dupacks;
        self.recovery.dupacks += 1;
        self.limit_duplicates(loss, 0);
        if self.recovery.dupacks > before { mss } else { 0 }
    }

    /// Limits the duplicates to the number of segments beyond a hole; an excess counts as reordering.
    fn limit_duplicates(&mut self, loss: &LossRules, more: u32) {
        let out = self.board.len();
        if self.recovery.dupacks == 0 {
            return;
        }
        let holes = self.board.lost_at_front().max(1).min(out);
        if self.recovery.dupacks + holes > out {
            self.recovery.dupacks = out - holes;
            if loss.reordering {
                self.recovery.dupthresh = (out + more).min(MAX_REORDERING);
            }
        }
    }

    /// Updates the loss state. Returns true if a loss was found that the controller has to react to.
    pub(super) fn recover_as_reno_sack(&mut self, ctx: &mut NodeCtx<impl Effects>, info: &AckInfo) -> bool {
        let advanced = info.acked > 0;
        if self.recovery.phase == Phase::Recovery && self.snd.una >= self.recovery.point {
            self.recovery.dupacks = 0;
            if self.recovery.undo.was_mistaken(info.echoed) {
                self.recovery.undo.take_back(&mut self.cc);
            }
            // the state stays until data beyond the old is acknowledged: duplicates of data sent twice start nothing
            // (RFC 6582)
            if self.snd.una == self.recovery.point {
                return false;
            }
            self.recovery.phase = Phase::Open;
            self.cc.on_recovered(ctx.now, self.board.pipe());
        }
        match self.recovery.phase {
            Phase::Recovery => {
                if advanced {
                    self.recovery.newly_lost = !self.board.first_is_lost();
                    self.board.mark_first_lost();
                }
                return false;
            }
            Phase::Loss => {
                self.repair_as_reno_sack(info, advanced);
                if self.recovery.phase == Phase::Loss {
                    return false;
                }
            }
            Phase::Open | Phase::Cwr => {}
        }
        if advanced {
            self.recovery.dupacks = 0;
        }
        if self.recovery.dupacks < self.recovery.dupthresh {
            return false;
        }
        self.recovery.newly_lost = !self.board.first_is_lost();
        self.board.mark_first_lost();
        self.board.first_is_lost()
    }

    /// Handles an ACK while the losses of a timeout are repaired.
    fn repair_as_reno_sack(&mut self, info: &AckInfo, advanced: bool) {
        // an ACK that covers a retransmission does not tell which of its segments had arrived before
        let original = self.board.original_arrived() && !self.board.acked_retransmission();
        if advanced && self.recovery.undo.was_mistaken(info.echoed) {
            self.recovery.undo.take_back(&mut self.cc);
            self.board.nothing_is_lost(self.snd.una);
            return;
        }
        if self.recovery.frto.is_on() && original {
            self.recovery.undo.take_back(&mut self.cc);
            self.board.nothing_is_lost(self.snd.una);
            if self.snd.una != self.recovery.point {
                self.recovery.phase = Phase::Open;
            }
        } else if self.recovery.frto.is_on() && self.check_by_new_data(info) {
        } else if self.snd.una > self.recovery.point {
            self.recovery.phase = Phase::Open;
        } else if advanced && self.snd.una < self.recovery.point {
            self.recovery.dupacks = 0;
        }
    }
}
