//! Reno SACK emulation: recovery without SACK as Linux has it. Duplicate ACKs stand for segments that have arrived, and
//! are taken back as ACKs advance over these.

use super::ack::News;
use super::*;

/// Most that duplicates can make of `dupthresh` (net.ipv4.tcp_max_reordering).
const MAX_REORDERING: u32 = 300;

impl Sender {
    /// The bytes that have arrived by an ACK: an ACK of `segments` that advances fills a hole with one of
    /// them, and the others are those that duplicates stood for; a duplicate is one segment. Duplicates of what
    /// went again after a timeout count only if new data was sent since, which they may be of.
    pub(super) fn reno_sack_delivered(&mut self, t: &TransportSpec, acked: u64, segments: u32, duplicate: bool) -> u64 {
        let mss = self.mss as u64;
        if acked > 0 {
            let counted = self.recovery.dupacks;
            self.recovery.dupacks = counted.saturating_sub(segments.saturating_sub(1));
            self.limit_duplicates(t, segments);
            return (segments.saturating_sub(counted).max(1) as u64 * mss).min(acked);
        }
        let counts = match self.phase {
            Phase::Open | Phase::Cwr => true,
            Phase::Recovery => self.una < self.recovery.point,
            Phase::Loss => self.una < self.recovery.point && self.nxt > self.recovery.point,
        };
        if !duplicate || !counts {
            return 0;
        }
        let before = self.recovery.dupacks;
        self.recovery.dupacks += 1;
        self.limit_duplicates(t, 0);
        if self.recovery.dupacks > before { mss } else { 0 }
    }

    /// There are no more duplicates than segments beyond a hole. More of them are taken for reordering.
    fn limit_duplicates(&mut self, t: &TransportSpec, more: u32) {
        let out = self.board.len();
        if self.recovery.dupacks == 0 {
            return;
        }
        let holes = self.board.lost_at_front().max(1).min(out);
        if self.recovery.dupacks + holes > out {
            self.recovery.dupacks = out - holes;
            if t.reordering {
                self.recovery.dupthresh = (out + more).min(MAX_REORDERING);
            }
        }
    }

    /// Brings the state up to date; true when a loss was found that the controller has to react to.
    pub(super) fn recover_as_reno_sack(&mut self, ctx: &mut NodeCtx<impl Effects>, news: &News) -> bool {
        let advanced = news.acked > 0;
        if self.phase == Phase::Recovery && self.una >= self.recovery.point {
            self.recovery.dupacks = 0;
            if self.undo.was_mistaken(news.echoed) {
                self.undo.take_back(&mut self.cc);
            }
            // the state is held until something beyond the old data is acknowledged: duplicates of what was sent
            // twice start nothing (RFC 6582)
            if self.una == self.recovery.point {
                return false;
            }
            self.phase = Phase::Open;
            self.cc.on_recovered(ctx.now, self.board.pipe());
        }
        match self.phase {
            Phase::Recovery => {
                if advanced {
                    self.recovery.newly_lost = !self.board.first_is_lost();
                    self.board.mark_first_lost();
                }
                return false;
            }
            Phase::Loss => {
                self.repair_as_reno_sack(news, advanced);
                if self.phase == Phase::Loss {
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

    /// An ACK while what a timeout gave up is repaired.
    fn repair_as_reno_sack(&mut self, news: &News, advanced: bool) {
        // an ACK of something that went again does not tell which of its segments had arrived before
        let original = self.board.original_arrived() && !self.board.acked_again();
        if advanced && self.undo.was_mistaken(news.echoed) {
            self.undo.take_back(&mut self.cc);
            self.board.nothing_is_lost(self.una);
            return;
        }
        if self.frto.on && original {
            self.undo.take_back(&mut self.cc);
            self.board.nothing_is_lost(self.una);
            if self.una != self.recovery.point {
                self.phase = Phase::Open;
            }
        } else if self.frto.on && self.is_told_by_new_data(news) {
        } else if self.una > self.recovery.point {
            self.phase = Phase::Open;
        } else if advanced && self.una < self.recovery.point {
            self.recovery.dupacks = 0;
        }
    }
}
