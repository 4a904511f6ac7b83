//! RACK at the sender (RFC 8985 section 6.2): the reordering window and the reordering timer.

use super::Sender;
use super::retransmission_timer::Waiting;
use crate::node::context::{Effects, NodeCtx};
use crate::spec::TransportSpec;
use incast_cc::{Controller, Phase, Time};

impl Sender {
    /// Marks losses by send times. The reordering window is a quarter of the smallest round trip. Without reordering
    /// seen, it is zero once as many segments are SACKed as dupthresh requires, or while losses are being repaired.
    pub(super) fn update_lost_by_time(&mut self, t: &TransportSpec) -> bool {
        let window = self.reordering_window(t);
        self.board.update_lost_by_time(window)
    }

    /// Reordering window: the time for which a segment may arrive after a later one.
    pub(super) fn reordering_window(&self, t: &TransportSpec) -> Time {
        let sure = !matches!(self.recovery.phase, Phase::Open | Phase::Cwr)
            || if t.loss.reordering_timer {
                self.board.has_sacked_segments(t.loss.dupthresh)
            } else {
                self.board.sacked_bytes() >= t.loss.dupthresh as u64 * self.mss as u64
            };
        let steps = self.board.reordering_steps(sure);
        (t.clock(self.rtt.min().unwrap_or_default() / 4) * steps).min(self.rtt.srtt)
    }

    /// Sets the timer to the end of the reordering wait.
    pub(super) fn wait_for_reordering(&mut self, ctx: &mut NodeCtx<impl Effects>, t: &TransportSpec, wait: Time) {
        self.timer.waiting = Waiting::Reordering;
        let wait = (wait + t.loss.timeout_min).min(self.rtt.rto(t));
        self.arm_in(ctx, t, wait);
    }

    /// Handles the reordering timer: marks the overtaken segments lost and retransmits them, as far as the window
    /// allows.
    pub(super) fn reordering_is_over(&mut self, ctx: &mut NodeCtx<impl Effects>, t: &TransportSpec) {
        // repairs leave the timer alone: it resumes afterwards
        self.timer.hold(ctx.now);
        let window = self.reordering_window(t);
        if self.board.look_again(Some(t.clock(ctx.now)), window) {
            self.recovery.newly_lost = true;
            if !self.profile.own_recovery && self.recovery.phase != Phase::Recovery {
                self.enter_recovery(ctx, self.mss as u64, false);
                if self.prr_governs(&t.loss) {
                    self.reduce_rate(&t.loss, self.mss as u64, false);
                }
            }
            // new data waits for the next ACK
            self.output.repairs_only = true;
            self.send_allowed(ctx, t);
            self.output.repairs_only = false;
            // the controller learns of the loss afterwards: no ACK may come to make room in the reduced window (in
            // Linux BBR learns of it at the next ACK)
            if self.profile.own_recovery {
                self.cc.on_loss(&self.congestion(ctx));
            }
        }
        if self.timer.waiting == Waiting::Reordering {
            self.resume_rto(ctx);
        }
    }
}
