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

    /// No ACK is predicted from now on.
    pub(in crate::transport) fn spell_out(&mut self) {
        self.predictable = false;
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
        self.pump(ctx);
        if self.una >= self.app.written {
            self.check_finished(ctx);
        }
    }
}
