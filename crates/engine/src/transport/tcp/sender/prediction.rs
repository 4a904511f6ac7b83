//! Header prediction (V. Jacobson, "4BSD TCP Header Prediction", 1990): fast path of an ACK that only acknowledges the
//! next data, while nothing is lost or reduced. Does what [`Sender::on_ack`] does with such an ACK, without the rules
//! that cannot apply.

use super::ack::AckInfo;
use super::{Connection, Prediction, Sender};
use crate::event::packet::{Ext, Kind, Packet, flag};
use crate::fast_paths::{FastPath, Feature, Features};
use crate::node::context::{Effects, NodeCtx};
use crate::spec::{Recovery, Sizes, TransportSpec, Windows};
use incast_cc::{Ack, Controller, Ecn, Pacing, Phase, Round, TcpAck};

impl Sender {
    /// Takes the [fast paths](crate::fast_paths) that fit the rules of `t`, the controller and the application.
    pub(super) fn take_fast_paths(&mut self, t: &TransportSpec) {
        let counts = t.loss.recovery == Recovery::PrrNs3 || t.loss.recovery == Recovery::Linux && !t.loss.sack;
        let features = Features::of([
            (Feature::FinWithData, t.connection.fin_with_data),
            (Feature::EcnPreempts, t.loss.ecn_preempts),
            (Feature::TailLossProbe, t.loss.tail_loss_probe),
            (Feature::Reordering, t.loss.adaptive_reordering || t.loss.reordering_timer),
            (Feature::CountedRecovery, counts),
            (Feature::NoTimestamps, !t.timing.timestamps),
            (Feature::DeliveryRate, self.profile.delivery),
            (Feature::Messages, !self.app.is_bulk()),
            (Feature::Scoreboard, !self.board.is_plain()),
            (Feature::PushAck, t.acks.push_ack),
            (Feature::HalfWindow, t.acks.push_half_window),
            (Feature::UnsentLimit, t.windows.notsent_lowat > 0),
            (Feature::Fragments, t.sizes.mtu > 0),
            (Feature::OwnPacing, t.output.pacing.is_some()),
            (Feature::Telemetry, self.profile.telemetry),
            (Feature::Labels, self.output.labels),
        ]);
        self.prediction.acks = FastPath::AckPrediction.fits(features);
        self.prediction.output = FastPath::PlainOutput.fits(features);
    }

    /// Turns off prediction.
    pub fn disable_fast_paths(&mut self) {
        self.prediction = Prediction::default();
    }

    /// Returns whether nothing is lost, reduced, about to end or to be reported: an ACK of new data says only that, and
    /// new data goes next. [`Prediction::in_order`] keeps the result over events that do not change it (predicted ACKs,
    /// room at the NIC), so that these read one flag and not the state of each rule.
    pub(super) fn is_in_order(&self) -> bool {
        self.prediction.acks
            && self.recovery.is_in_order()
            && self.connection == Connection::Open
            && self.duplex.is_single()
            && self.board.is_in_order()
            && !self.output.repairs_only
            && !(self.ecn.is_active() || self.closing.fin)
            && (self.snd.una >= self.samples.not_below || self.profile.own_recovery)
    }

    /// Returns whether a packet acknowledges new data and does no more, while all is in order.
    #[inline(always)]
    pub(super) fn predicts(&self, ext: Option<&Ext>, ack: u64) -> bool {
        ext.is_none() && ack > self.snd.una && (self.prediction.was_in_order || self.is_in_order())
    }

    /// Handles a predicted ACK up to `ack`.
    #[inline(always)]
    pub(super) fn on_predicted(&mut self, ctx: &mut NodeCtx<impl Effects>, p: &Packet, ack: u64) {
        debug_assert!(self.is_in_order());
        let t = ctx.net.transport(self.transport);
        let in_flight = self.board.pipe();
        let acked = ack - self.snd.una;
        let old_edge = self.peer.edge;
        self.peer.edge = ack + p.wnd as u64;
        self.peer.max = self.peer.max.max(p.wnd as u64);
        self.snd.acknowledge(ack);
        self.board.acked_in_order(ack);
        let rtt = self.take_rtt(ctx, p.echo());
        self.timer.consecutive = 0;
        self.rtt.reset_backoff();
        let marked = p.has(flag::ECE) && self.output.ecn != Ecn::Off;

        let host = p.host_delay() + ctx.held;
        self.cc.on_ack(&Ack {
            now: ctx.now,
            acked,
            delivered: acked,
            rtt: Some(rtt),
            srtt: self.rtt.srtt,
            fabric_delay: Some(rtt.saturating_sub(host)),
            endpoint_delay: Some(rtt.min(host)),
            hops: p.echoed_hops() as u32,
            ece: marked,
            in_flight,
            lost_bytes: 0,
            round: Round { acked: ack, sent: self.snd.nxt },
            tcp: TcpAck { sent_to: self.snd.sent_to },
            cwnd_limited: !t.windows.cwnd_limited || self.usage.is_limited(self.cc.cwnd(), self.cc.ssthresh()),
            phase: Phase::Open,
        });
        let opens = self.peer.edge > old_edge;
        if marked {
            self.recovery.undo.due = true;
            self.reduce(ctx, t, &AckInfo::predicted(acked, opens, p.echo()), false, false);
        }
        self.restart_timer_in_order(ctx, &t.windows, opens);
        if !marked || self.is_in_order() {
            self.pump_in_order(ctx, t);
        } else {
            self.pump(ctx);
        }
        if self.snd.una >= self.app.written {
            self.check_finished(ctx);
        }
    }

    /// Does what [`Sender::restart_timers`] does, after a predicted ACK; `opens`: the peer's window reaches further.
    #[inline(always)]
    fn restart_timer_in_order(&mut self, ctx: &mut NodeCtx<impl Effects>, windows: &Windows, opens: bool) {
        if !self.board.is_empty() || !windows.least_segment && self.app.written > self.snd.nxt {
            self.arm_rto(ctx);
        } else {
            self.timer.rest(opens);
        }
    }

    /// Does what [`Sender::pump`] does while all is in order. Calls it for anything but new data within the peer's
    /// window.
    #[inline(always)]
    pub(super) fn pump_in_order(&mut self, ctx: &mut NodeCtx<impl Effects>, t: &TransportSpec) {
        let before = self.snd.nxt;
        if !self.prediction.output
            || self.board.pipe() == 0
            || !matches!(self.cc.pacing(), Pacing::None)
            || self.pacing.from > ctx.now
        {
            return self.pump_on(ctx, t, before);
        }
        let (mut blocked, window) = (false, self.cc.cwnd());
        let settled = loop {
            if !ctx.has_room(self.ip.host, self.ip.flow) {
                self.output.refused = true;
                break false;
            }
            let len = self.next_len(t);
            if len == 0 && !t.connection.handshake && self.app.end() == Some(self.app.written) {
                break true;
            }
            if len == 0 || self.peer.edge < self.snd.nxt + len as u64 {
                return self.pump_on(ctx, t, before);
            }
            let pipe = self.board.pipe();
            if (pipe + len as u64) as f64 > window {
                blocked = true;
                self.app.fill(self.space(&t.windows), t.windows.whole_writes);
                break true;
            }
            self.send_in_order(ctx, &t.sizes, len);
        };
        if t.windows.cwnd_limited {
            self.usage.blocked = blocked;
            self.note_usage(t, before);
        }
        self.output.settled = settled && !self.output.refused;
        self.prediction.in_order = true;
    }

    /// Sends the next segment of `len` bytes.
    #[inline(always)]
    fn send_in_order(&mut self, ctx: &mut NodeCtx<impl Effects>, sizes: &Sizes, len: u32) {
        let seq = self.snd.nxt;
        self.board.sent(seq, len);
        self.snd.nxt += len as u64;
        let ect = if self.output.ecn == Ecn::Off { 0 } else { flag::ECT };
        let packet = self.ip.packet(ctx, Kind::Data, seq, len, ect, sizes.header + len);
        self.output.settled = false;
        self.pacing.last_send = ctx.now;
        ctx.send(self.ip.host, &packet, None);
        self.snd.sent_to = self.snd.nxt;
        self.time_sent(ctx);
    }
}
