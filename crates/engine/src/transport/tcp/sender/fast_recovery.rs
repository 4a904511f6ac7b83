//! Fast recovery: its start, and NewReno's course of it (RFC 5681, RFC 6582).

use super::Sender;
use super::ack::AckInfo;
use crate::node::context::{Effects, NodeCtx};
use crate::spec::{Emulation, LossFlight, LossRules, Recovery, Rules, TransportSpec};
use incast_cc::{Congestion, Controller, Ecn, Phase, Time};

impl Sender {
    /// Bytes in flight, as reported to the controller at a loss.
    pub(super) fn flight(&self, loss: &LossRules) -> u64 {
        match loss.loss_flight {
            // limited transmit's segments are not part of the flight (RFC 5681)
            LossFlight::Outstanding => self.snd.outstanding().saturating_sub(self.recovery.limited),
            LossFlight::Pipe if loss.sack => self.board.pipe(),
            // each duplicate stands for a segment that has arrived
            LossFlight::Pipe => self.snd.outstanding().saturating_sub(self.recovery.dupacks as u64 * self.mss as u64),
        }
    }

    pub(super) fn congestion(&self, ctx: &NodeCtx<impl Effects>) -> Congestion {
        let in_flight = self.flight(&ctx.net.transport(self.transport).loss);
        let window = self.window();
        Congestion { now: ctx.now, in_flight, window, rtt: self.rtt.latest, srtt: self.rtt.srtt }
    }

    pub(super) fn enter_recovery(&mut self, ctx: &mut NodeCtx<impl Effects>, delivered: u64, marked: bool) {
        let t = ctx.net.transport(self.transport);
        // with classic ECN one reduction per window, and a mark has already caused it (RFC 3168 6.1.2); DCTCP reacts to
        // a loss all the same (RFC 8257 3.5)
        let window = self.window();
        if !(self.recovery.phase == Phase::Cwr && self.output.ecn == Ecn::Classic) {
            self.cc.on_loss(&self.congestion(ctx));
        }
        self.recovery.begin_undo(&t.loss, self.snd.una, self.recovery.phase == Phase::Cwr || marked);
        let reducing = self.recovery.phase == Phase::Cwr && t.loss.recovery == Recovery::Linux && t.loss.ecn_by_prr;
        if !reducing {
            self.recovery.tlp.cancel();
            self.ecn.announce(t.loss.cwr_after_loss && self.output.ecn != Ecn::Off);
        }
        self.recovery.phase = Phase::Recovery;
        (self.recovery.partial_acks, self.recovery.rescued) = (0, false);
        if reducing {
            // Linux continues the current reduction
            self.recovery.point = self.ecn.end();
            self.recovery.prr.ssthresh = self.cc.cwnd();
        } else {
            self.recovery.point = self.recovery_end(&t.emulation);
            self.start_prr(&t.loss, window);
        }
        if t.loss.sack || t.loss.recovery == Recovery::Linux {
            // without PRR the window is the controller's
            let fixed = matches!(t.loss.recovery, Recovery::NewReno | Recovery::Htsim);
            self.recovery.window = if fixed { -1.0 } else { 0.0 };
            if t.loss.recovery == Recovery::PrrNs3 {
                self.reduce_rate_as_ns3(delivered, true, false);
            }
            // the first retransmission goes whatever is in flight (RFC 6675 step 4.3); PRR includes it in its budget
            let hole = match t.loss.recovery {
                _ if t.loss.scoreboard == Rules::Ns3 => self.board.first(),
                Recovery::Prr | Recovery::Linux => None,
                Recovery::NewReno | Recovery::Htsim | Recovery::PrrNs3 => self.board.next_hole(),
            };
            if let Some(hole) = hole {
                self.recovery.restarting = true;
                self.retransmit(ctx, hole);
                self.recovery.restarting = false;
            }
        } else {
            let window = self.cc.cwnd() + (self.recovery.dupacks * self.mss) as f64;
            self.recovery.window = match self.recovery.inflates {
                true if self.recovery.left_inflated => self.recovery.window,
                true => 0.0,
                false => window,
            };
            self.recovery.left_inflated = false;
            self.retransmit_first(ctx);
        }
    }

    /// End of a recovery that begins now: all below has been sent, or retransmitted by go-back-N.
    pub(super) fn recovery_end(&mut self, emulation: &Emulation) -> u64 {
        let hole = if emulation.go_back_n_point && self.recovery.inflates { self.board.next_hole() } else { None };
        hole.map_or(self.snd.nxt, |hole| hole.seq)
    }

    /// Ends the recovery. Returns whether a segment sent during it is lost.
    pub(super) fn leave_recovery(&mut self, now: Time, t: &TransportSpec, info: &AckInfo) -> bool {
        self.recovery.phase = Phase::Open;
        self.recovery.dupacks = 0;
        self.cc.on_recovered(now, self.board.pipe());
        if self.recovery.undo.was_mistaken(info.echoed) {
            self.recovery.undo.take_back(&mut self.cc);
        } else {
            self.board.recovered();
        }
        t.loss.sack && t.loss.scoreboard != Rules::Ns3 && self.lost_again(t)
    }

    /// Handles an ACK during a recovery with SACK: the scoreboard selects retransmissions, as the window allows.
    pub(super) fn go_on_with_sack(&mut self, ctx: &mut NodeCtx<impl Effects>, t: &TransportSpec, info: &AckInfo) {
        let AckInfo { acked, duplicate, delivered, was_retransmitted, .. } = *info;
        self.recovery.newly_lost = self.update_lost(t);
        if self.profile.own_recovery {
            return;
        }
        if duplicate && t.loss.recovery == Recovery::PrrNs3 {
            self.reduce_rate_as_ns3(delivered, true, false);
        }
        if acked > 0 && t.loss.scoreboard == Rules::Ns3 {
            self.partial_ack_ns3(ctx, t, delivered, was_retransmitted);
        } else if acked > 0 && t.loss.recovery == Recovery::PrrNs3 && self.recovery.prr.whole_segment {
            self.reduce_rate_as_ns3(delivered, false, was_retransmitted);
        }
    }

    /// Handles an ACK during a recovery without SACK (RFC 6582): a partial ACK deflates the window and retransmits the
    /// next hole, a duplicate inflates the window.
    pub(super) fn go_on_without_sack(&mut self, ctx: &mut NodeCtx<impl Effects>, info: &AckInfo) {
        let mss = self.mss as f64;
        if info.acked > 0 {
            self.recovery.partial_acks += 1;
            self.recovery.window -= info.acked as f64;
            if self.recovery.inflates {
                self.recovery.window = self.recovery.window.max(0.0);
            }
            if info.acked >= self.mss as u64 {
                self.recovery.window += mss;
            }
            self.recovery.window = self.recovery.window.max(mss);
            self.board.first_is_taken_for_lost();
            self.retransmit_first(ctx);
        } else if info.duplicate {
            self.recovery.window += mss;
            if self.recovery.inflates {
                self.recovery.window = self.recovery.window.min(self.cc.cwnd());
            }
        }
    }

    /// Handles an ACK that advances but does not end a recovery, as ns-3 does. Unless the first segment has been
    /// retransmitted already, one segment goes whatever the window: a lost one, a new one, or the first.
    pub(super) fn partial_ack_ns3(
        &mut self,
        ctx: &mut NodeCtx<impl Effects>,
        t: &TransportSpec,
        delivered: u64,
        was_retransmitted: bool,
    ) {
        self.recovery.partial_acks += 1;
        if t.loss.recovery == Recovery::PrrNs3 && self.recovery.prr.whole_segment {
            self.reduce_rate_as_ns3(delivered, false, was_retransmitted);
        }
        let Some(first) = self.board.first().filter(|_| !self.board.retransmitted_to(self.snd.una + self.mss as u64))
        else {
            return;
        };
        let unsent = self.app.written.saturating_sub(self.snd.nxt);
        let room = self.peer.edge.saturating_sub(self.snd.nxt);
        if let Some(hole) = self.next_repair(t) {
            self.retransmit(ctx, hole);
        } else if unsent > 0 && room > 0 {
            self.send_new(ctx, unsent.min(room).min(self.mss as u64) as u32);
        } else {
            self.retransmit(ctx, first);
        }
    }

    /// Begins a reduction from `window`.
    pub(super) fn start_prr(&mut self, loss: &LossRules, window: f64) {
        let recover_fs = if loss.recovery == Recovery::Linux { window as u64 } else { self.snd.outstanding() };
        self.recovery.prr.begin(recover_fs, self.cc.cwnd());
    }

    /// Returns whether PRR sets the window.
    pub(super) fn prr_governs(&self, loss: &LossRules) -> bool {
        !self.profile.own_recovery && self.recovery.prr_governs(loss)
    }

    /// Updates the window of PRR after an ACK of `delivered` bytes; `advanced`: its number advanced too.
    pub(super) fn reduce_rate(&mut self, loss: &LossRules, delivered: u64, advanced: bool) {
        if loss.recovery != Recovery::Linux {
            self.recovery.window = self.recovery.prr.window(self.board.pipe(), delivered, self.mss);
        } else if delivered > 0 {
            let (pipe, grows) = (self.pipe(loss), advanced && !self.recovery.newly_lost);
            self.recovery.window = self.recovery.prr.window_of_linux(pipe, delivered, self.mss as u64, grows);
        }
    }

    /// As [`Sender::reduce_rate`], with ns-3's rules; arguments as in
    /// [`Prr::window_of_ns3`](super::prr::Prr::window_of_ns3).
    pub(super) fn reduce_rate_as_ns3(&mut self, delivered: u64, duplicate: bool, safe: bool) {
        if let Some(window) =
            self.recovery.prr.window_of_ns3(self.board.pipe() as u32, delivered, self.mss, duplicate, safe)
        {
            self.recovery.window = window;
        }
    }

    /// Retransmits the first segment, in place of the copy that counts as lost.
    fn retransmit_first(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        if let Some(first) = self.board.first() {
            self.board.retransmitted(first.seq, true);
            self.send_segment(ctx, first.seq, first.len, true);
        }
    }
}
