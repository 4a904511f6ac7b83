//! Loss detection: losses shown by an ACK (RFC 5681, RFC 6675, RFC 8985), and the effect of an ACK on the current
//! recovery.

use super::Sender;
use super::ack::AckInfo;
use crate::event::order::Timer;
use crate::node::context::{Effects, NodeCtx};
use crate::spec::{LossRules, Recovery, Rules, TransportSpec};
use incast_cc::{Controller, Phase, Time};

impl Sender {
    /// Updates the loss state. Returns true if a loss was found that the controller has to react to.
    pub(super) fn recover_losses(
        &mut self,
        ctx: &mut NodeCtx<impl Effects>,
        t: &TransportSpec,
        info: &AckInfo,
    ) -> bool {
        if t.loss.recovery == Recovery::Linux && !t.loss.sack && !self.profile.own_recovery {
            return self.recover_as_reno_sack(ctx, info);
        }
        if info.duplicate {
            self.recovery.dupacks += 1;
        } else if info.acked > 0 {
            self.recovery.dupacks = 0;
            self.recovery.limited = 0;
        }
        if self.recovery.undo.retransmissions == 0
            && self.recovery.undo.marker.is_some()
            && matches!(self.recovery.phase, Phase::Open | Phase::Recovery)
        {
            if self.recovery.phase == Phase::Recovery {
                self.recovery.phase = Phase::Open;
                self.cc.on_recovered(ctx.now, self.board.pipe());
            }
            self.recovery.undo.take_back(&mut self.cc);
        }
        match self.recovery.phase {
            Phase::Open | Phase::Cwr => self.find_losses(ctx.now, t, info.duplicate),
            Phase::Recovery if self.snd.una >= self.recovery.point => self.leave_recovery(ctx.now, t, info),
            Phase::Recovery if t.loss.sack => {
                self.go_on_with_sack(ctx, t, info);
                false
            }
            Phase::Recovery => {
                self.go_on_without_sack(ctx, info);
                false
            }
            Phase::Loss => self.after_timeout(ctx.now, t, info),
        }
    }

    /// Returns whether segments are lost, outside of any repair.
    #[inline(always)]
    fn find_losses(&mut self, now: Time, t: &TransportSpec, duplicate: bool) -> bool {
        if self.board.waits_for_late() {
            return self.board.has_sacked() && self.update_late(now, &t.loss);
        }
        if self.recovery.phase == Phase::Cwr && t.loss.ecn_preempts {
            if t.loss.sack && duplicate {
                self.update_lost(t);
            }
            return false;
        }
        let enough = self.recovery.dupacks >= t.loss.dupthresh;
        let mut lost = false;
        if t.loss.sack && t.loss.scoreboard == Rules::Ns3 {
            if !duplicate {
                return false;
            }
            self.update_lost(t);
            if self.recovery.dupacks == t.loss.dupthresh && self.snd.una >= self.recovery.point {
                self.board.mark_first_lost();
            }
            return self.board.first_is_lost();
        } else if t.loss.sack && t.loss.scoreboard == Rules::Rack {
            lost = self.update_lost(t);
            self.recovery.newly_lost = lost;
        } else if t.loss.sack {
            if self.board.has_sacked() {
                lost = self.update_lost(t);
                if enough && self.board.next_hole().is_none() && duplicate {
                    self.board.mark_first_lost();
                    lost |= self.board.next_hole().is_some();
                }
                self.recovery.newly_lost = lost;
            }
        } else if self.recovery.dupacks == t.loss.dupthresh && self.recovery.is_past(self.snd.una) {
            lost = true;
            if self.profile.own_recovery {
                self.board.mark_first_lost();
            } else {
                self.board.first_is_taken_for_lost();
            }
        }
        lost
    }

    /// Marks losses by the scoreboard's rules. Returns whether there are new ones.
    pub(super) fn update_lost(&mut self, t: &TransportSpec) -> bool {
        match t.loss.scoreboard {
            Rules::Rfc6675 => self.board.update_lost(t.loss.dupthresh, self.mss),
            Rules::Rack => self.update_lost_by_time(t),
            Rules::Ns3 => self.board.update_lost_by_segments(t.loss.dupthresh),
        }
    }

    /// Updates the late segments at `now`: those whose wait is over are to be retransmitted. Returns whether a run of
    /// them is lost.
    pub(super) fn update_late(&mut self, now: Time, loss: &LossRules) -> bool {
        let wait = self.profile.late.and_then(|late| late.wait).unwrap_or(self.rtt.srtt);
        self.board.update_late(loss.dupthresh, now, wait)
    }

    /// Sets the timer for the next late segment.
    pub(super) fn watch_late(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        if let Some(until) = self.board.late_until()
            && self.timers.pace.advance(until)
        {
            ctx.timer(until, Timer::Pace(self.ip.flow));
        }
    }

    /// Returns, at the end of an episode, whether a segment sent during it is lost. That is a new congestion event (RFC
    /// 6675: the next duplicate after RecoveryPoint), with a reduction of its own.
    pub(super) fn lost_again(&mut self, t: &TransportSpec) -> bool {
        self.update_lost(t);
        self.board.first_is_lost()
    }
}
