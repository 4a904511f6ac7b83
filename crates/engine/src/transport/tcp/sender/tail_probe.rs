//! Tail-loss probes at the sender, as in Linux 6.1 (net/ipv4/tcp_output.c, tcp_input.c). Probes share the
//! retransmission timer: its `waiting` field tells which it is.

use super::Sender;
use super::ack::AckInfo;
use super::retransmission_timer::Waiting;
use crate::node::context::{Effects, NodeCtx};
use crate::spec::{Rules, TransportSpec};
use incast_cc::{Controller, Ecn, Phase, Time};

impl Sender {
    /// Sets the timer to a probe, if one may go: after two smoothed round trips, more if the ACK of a single segment
    /// may be delayed, but no later than the retransmission timeout, which `restarts` now or continues. Returns false
    /// if none may: while losses are repaired or segments are SACKed.
    #[inline(never)]
    pub(super) fn arm_probe(&mut self, ctx: &mut NodeCtx<impl Effects>, t: &TransportSpec, restarts: bool) -> bool {
        let open = match self.recovery.phase {
            Phase::Open => !self.recovery.disorder,
            Phase::Cwr => true,
            Phase::Recovery | Phase::Loss => false,
        };
        if !t.loss.tail_loss_probe || !t.loss.sack || t.loss.scoreboard == Rules::Ns3 || !open || self.board.is_empty()
        {
            return false;
        }
        let mut wait = match self.rtt.min() {
            None => t.rto.rto_initial,
            Some(_) if self.board.len() == 1 => self.rtt.srtt * 2 + t.rto.rto_min,
            Some(_) => self.rtt.srtt * 2 + t.loss.timeout_min,
        };
        let left = if restarts { Some(self.rtt.rto(t)) } else { self.rto_left(t, t.clock(ctx.now)) };
        if let Some(left) = left {
            wait = wait.min(left);
        }
        self.timer.waiting = Waiting::Probe;
        self.arm_in(ctx, t, wait);
        true
    }

    /// Restarts the timer on an ACK that advances: for a probe, or else for the retransmission timeout.
    #[inline(never)]
    pub(super) fn restart_timer(&mut self, ctx: &mut NodeCtx<impl Effects>, t: &TransportSpec) {
        if !self.arm_probe(ctx, t, true) {
            self.resume_rto(ctx);
        }
    }

    /// Rest of the retransmission timeout, which runs from the latest transmission of the first segment.
    fn rto_left(&self, t: &TransportSpec, now: Time) -> Option<Time> {
        Some((self.board.first_sent()? + self.rtt.rto(t)).saturating_sub(now)).filter(|left| *left > Time::ZERO)
    }

    /// Restores the retransmission timer after a probe or RACK's timer; it continues where it was.
    #[inline(never)]
    pub(super) fn resume_rto(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        if matches!(self.timer.waiting, Waiting::Ack | Waiting::Window) {
            return self.arm_rto(ctx);
        }
        self.timer.waiting = Waiting::Ack;
        let t = ctx.net.transport(self.transport);
        let wait = self.rto_left(t, t.clock(ctx.now)).unwrap_or(Time::ps(1));
        self.arm_in(ctx, t, wait);
    }

    /// Handles the probe timer. A segment of new data goes whatever the congestion window; if there is none, or the
    /// receiver's window does not take it, the last segment is repeated. Neither PRR nor undo counts this as a
    /// retransmission; the flow's record does.
    pub(super) fn probe_tail(&mut self, ctx: &mut NodeCtx<impl Effects>, t: &TransportSpec) {
        self.catch_up(ctx);
        let before = self.snd.nxt;
        let new = (self.app.written.saturating_sub(self.snd.nxt)).min(self.mss as u64);
        let is_retransmission = new == 0 || new > self.peer.edge.saturating_sub(self.snd.nxt);
        // one probe at a time; none while the NIC is full, as if the segment still waited there; pacing holds new data,
        // but no retransmission
        let held = !ctx.has_room(self.ip.host, self.ip.flow) || !is_retransmission && self.paced_until() > ctx.now;
        let may_go = |seq| !is_retransmission || self.peer.lets_repair(t.windows.window_update, self.snd.una, seq);
        let Some(last) = self.board.last().filter(|last| !self.recovery.tlp.is_out() && !held && may_go(last.seq))
        else {
            return self.resume_rto(ctx);
        };
        if is_retransmission {
            self.board.probed(last.seq);
            let out = self.recovery.prr.out;
            self.send_segment(ctx, last.seq, last.len, true);
            self.recovery.prr.out = out;
        } else {
            self.send_new(ctx, new as u32);
            self.note_usage(t, before);
        }
        self.recovery.tlp.sent(self.snd.nxt, is_retransmission);
        self.arm_rto(ctx);
    }

    /// Updates the probe and the reordering state on an ACK, whose `first` block ends there. Returns whether the probe
    /// repaired a loss, and whether the state after the ACK must be checked.
    #[inline(never)]
    pub(super) fn on_ack_of_probe(&mut self, info: &AckInfo, first: u64) -> (bool, bool) {
        let AckInfo { newly_sacked, twice, .. } = *info;
        let of_probe = self.recovery.tlp.is_reported(twice, first, self.mss);
        if twice > 0 && !of_probe {
            self.board.reported_twice(self.snd.una, self.snd.nxt);
        }
        let quiet = self.recovery.phase == Phase::Open && !self.recovery.disorder;
        let dubious = info.idle || newly_sacked > 0 || twice > 0 || info.marked || !quiet;
        let repaired = self.recovery.tlp.on_ack(self.snd.una, of_probe, info.idle && newly_sacked == 0);
        (repaired, dubious)
    }

    /// Reduces the window for a loss that a probe repaired: as for ECN, and over at once. Controllers that sample
    /// delivery have `cong_control` in Linux, for which this state changes no window. Delay-based controllers react as
    /// to any other loss. Those that wait for late segments do not: only runs are losses to them, and this is one
    /// segment.
    pub(super) fn reduce_for_probe(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        let event = self.congestion(ctx);
        if self.profile.own_recovery {
            if !self.profile.delivery && self.profile.late.is_none() {
                self.cc.on_loss(&event);
            }
            return;
        }
        self.cc.on_ecn(&event);
        self.ecn.announce(ctx.net.transport(self.transport).loss.cwr_after_loss && self.output.ecn != Ecn::Off);
        self.recovery.phase = Phase::Open;
        self.cc.on_recovered(ctx.now, self.board.pipe());
    }
}
