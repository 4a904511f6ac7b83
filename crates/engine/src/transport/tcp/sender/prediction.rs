//! Header prediction (V. Jacobson, "4BSD TCP Header Prediction", 1990): the way of an ACK that says nothing but that
//! the next data has arrived, while nothing is lost or reduced. It does what [`Sender::on_ack`] does with such an ACK,
//! and asks none of the rules that have no say in it.

use super::ack::News;
use super::*;

impl Sender {
    /// Whether the rules of `t` and of the controller let ACKs be predicted. Those do not that look at every ACK.
    pub(super) fn is_predictable(&self, t: &TransportSpec) -> bool {
        let looks =
            t.fin_with_data || t.ecn_preempts || t.tail_loss_probe || t.adaptive_reordering || t.reordering_timer;
        let counts = t.recovery == Recovery::PrrNs3 || t.recovery == Recovery::Linux && !t.sack;
        let plain = self.app.is_bulk() && self.board.is_plain();
        !looks && !counts && t.timestamps && !self.profile.delivery && plain
    }

    /// Whether the rules of `t` and of the controller let new data go without a look at each segment.
    pub(super) fn is_output_plain(&self, t: &TransportSpec) -> bool {
        let looks = t.fin_with_data
            || t.push_ack
            || t.push_half_window
            || t.notsent_lowat > 0
            || t.tail_loss_probe
            || t.mtu > 0;
        let paced = !matches!(t.pacing, PacingSpec::Controller);
        self.predictable && !looks && !paced && !self.profile.telemetry && !self.labels
    }

    /// No ACK is predicted from now on.
    pub(in crate::transport) fn spell_out(&mut self) {
        self.predictable = false;
        self.output_is_plain = false;
    }

    /// Whether `p`, which acknowledges up to `ack`, says only that the next data has arrived.
    #[inline(always)]
    pub(super) fn predicts(&self, p: &Packet, ext: Option<&Ext>, ack: u64) -> bool {
        let RecoveryState { dupacks, limited, .. } = self.recovery;
        self.predictable
            && self.phase == Phase::Open
            && ext.is_none()
            && ack > self.una
            && !p.is(Kind::Piggyback)
            && !self.closing.fin
            && dupacks == 0
            && limited == 0
            && self.undo.marker.is_none()
            && self.side == NO_SIDE
            && self.board.is_in_order()
    }

    /// Takes in an ACK up to `ack` that is as predicted.
    #[inline(always)]
    pub(super) fn on_predicted(&mut self, ctx: &mut NodeCtx<impl Effects>, p: &Packet, ack: u64) {
        let t = ctx.net.transport(self.transport);
        let in_flight = self.board.pipe();
        let acked = ack - self.una;
        let old_edge = self.peer.edge;
        self.peer.edge = ack + p.wnd as u64;
        self.peer.max = self.peer.max.max(p.wnd as u64);
        self.una = ack;
        self.sent_to = self.sent_to.max(ack);
        self.board.acked_in_order(ack);
        let marked = p.has(flag::ECE) && self.ecn.mode != Ecn::Off;

        let sampled = ack > self.samples.not_below || self.profile.own_recovery;
        let rtt = sampled.then(|| self.take_rtt(ctx, p.echo()));
        self.end_backoff(t, acked, sampled);
        self.recovery.newly_lost = false;
        self.undo.due |= marked;

        let host = p.host_delay() + ctx.held;
        self.cc.on_ack(&Ack {
            now: ctx.now,
            acked,
            delivered: acked,
            rtt,
            srtt: self.rtt.srtt,
            fabric_delay: rtt.map(|rtt| rtt.saturating_sub(host)),
            endpoint_delay: rtt.map(|rtt| rtt.min(host)),
            hops: p.echoed_hops() as u32,
            ece: marked,
            in_flight,
            lost_bytes: self.board.take_found_lost(),
            round: Round { acked: ack, sent: self.nxt },
            tcp: TcpAck { sent_to: self.sent_to },
            cwnd_limited: !t.cwnd_limited || self.usage.is_limited(self.cc.cwnd(), self.cc.ssthresh()),
            phase: Phase::Open,
        });
        let opens = self.peer.edge > old_edge;
        let news = News::predicted(acked, marked, opens, p.echo());
        if marked {
            self.reduce(ctx, t, &news, false, false);
        }
        self.restart_timers(ctx, t, &news, false);
        self.pump_predicted(ctx, t);
        if self.una >= self.app.written {
            self.check_finished(ctx);
        }
    }

    /// Does what [`Sender::pump`] does, after a predicted ACK. What is not new data within the peer's window is left to
    /// that.
    #[inline(always)]
    fn pump_predicted(&mut self, ctx: &mut NodeCtx<impl Effects>, t: &TransportSpec) {
        let before = self.nxt;
        let as_before = self.phase == Phase::Open && !self.frto.new_first && !self.repairs_only;
        let plain = self.output_is_plain && as_before && !self.ecn.send_cwr && !self.ecn.echo && !self.board.is_empty();
        if !plain || !matches!(self.cc.pacing(), Pacing::None) || self.pacing.from > ctx.now {
            return self.pump(ctx);
        }
        self.usage.blocked = false;
        let settled = loop {
            if !ctx.has_room(self.ip.host, self.ip.flow) {
                self.recovery.refused = true;
                break false;
            }
            let len = self.next_len(t);
            if len == 0 || self.peer.edge < self.nxt + len as u64 {
                return self.pump_on(ctx, t, before);
            }
            if !self.window_takes(t, len) {
                self.usage.blocked = true;
                self.shut(ctx, t);
                break true;
            }
            self.send_predicted(ctx, t, len);
        };
        self.note_usage(t, before);
        self.settled = settled && !self.recovery.refused && !self.board.is_empty();
    }

    /// Sends the next segment, which has `len` bytes.
    #[inline(always)]
    fn send_predicted(&mut self, ctx: &mut NodeCtx<impl Effects>, t: &TransportSpec, len: u32) {
        let seq = self.nxt;
        self.board.sent(seq, len);
        self.nxt += len as u64;
        let ect = if self.ecn.mode == Ecn::Off { 0 } else { flag::ECT };
        let packet = self.ip.packet(ctx, Kind::Data, seq, len, ect, t.header + len);
        self.settled = false;
        self.pacing.last_send = ctx.now;
        ctx.send(self.ip.host, &packet, None);
        self.sent_to = self.nxt;
        self.time_sent(ctx);
    }
}
