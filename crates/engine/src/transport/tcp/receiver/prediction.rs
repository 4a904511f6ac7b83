//! Header prediction (V. Jacobson, "4BSD TCP Header Prediction", 1990): fast path of the next segment while nothing is
//! missing. Does what `Receiver::data` does, without the rules that cannot apply.

use super::{NEVER, Receiver};
use crate::event::packet::{Kind, Packet, flag};
use crate::fast_paths::{FastPath, Feature, Features};
use crate::host::messages::NO_TCB;
use crate::node::context::{Effects, NodeCtx};
use crate::spec::{AckRules, TransportSpec};
use incast_cc::{Ecn, Time};

impl Receiver {
    /// Returns whether the rules of `t` allow [prediction](FastPath::SegmentPrediction).
    pub(super) fn is_predictable(acks: &AckRules) -> bool {
        FastPath::SegmentPrediction.fits(Features::of([
            (Feature::QuickAck, acks.classic_quickack),
            (Feature::WindowGrowth, acks.window_growth),
            (Feature::PushAck, acks.push_ack),
            (Feature::ReadAck, acks.read_ack),
            (Feature::CwrAck, acks.cwr_ack),
        ]))
    }

    /// Turns off prediction.
    pub fn disable_fast_paths(&mut self) {
        (self.predictable, self.in_order) = (false, false);
    }

    /// Returns whether nothing is missing, and nothing waits to be reported or done with the next segment.
    /// [`Receiver::in_order`] keeps the result, so that a predicted segment reads one flag and not the state of each
    /// rule.
    pub(super) fn is_in_order(&self) -> bool {
        self.predictable
            && self.tcb == NO_TCB
            && self.ooo.is_empty()
            && self.fin_at.is_none()
            && self.sink.stop_planned
            && !self.sink.closed
            && (self.syn_acked_at == NEVER || self.handshake_rtt > Time::ZERO)
            && self.metadata.is_none()
            && !self.sack.has_duplicate()
            && (self.compression.waiting, self.acks.pushed) == (0, 0)
            && self.window.is_read_at_once()
            && self.cnp.interval == Time::ZERO
    }

    /// Returns whether a packet is the next data segment, complete, and nothing else.
    #[inline(always)]
    pub(super) fn predicts(&self, p: &Packet) -> bool {
        p.is(Kind::Data)
            && p.seq() == self.next
            && p.len > 0
            && p.len <= p.size
            && p.part().1 == 0
            && !p.has(flag::FIN)
            && !p.has(flag::SLOW_PATH)
    }

    /// Handles a predicted segment.
    #[inline(always)]
    pub(super) fn on_predicted(&mut self, ctx: &mut NodeCtx<impl Effects>, t: &TransportSpec, p: &Packet) {
        let (marked, mut now_ack) = self.take_ecn(ctx, t, p);
        if self.acks.echo.is_none() || p.seq() <= self.acks.acked {
            self.acks.echo = Some((p.sent_at(), p.hop, ctx.now - ctx.held));
        }
        now_ack |= self.acks.marked_at_once && marked;
        let (before, end) = (self.next, self.next + p.len as u64);
        self.next = end;
        self.window.read(ctx.now, p.len as u64);
        self.taken.fresh_at = ctx.now;
        if end >= self.taken.size && self.sink.complete.is_none() {
            self.complete(ctx);
        }
        if ctx.measured() {
            let size = self.taken.app_size;
            self.taken.delivered_m += end.min(size) - before.min(size);
        }
        self.acks.pending += 1;
        if self.acks.quick > 0 {
            self.acks.quick -= 1;
            now_ack = true;
        }
        if now_ack || self.acks.pending >= self.acks.every {
            match self.in_order {
                true => self.acknowledge_in_order(ctx, t),
                false => self.acknowledge(ctx, Kind::Ack, 0, t.sizes.ack_size),
            }
        } else {
            self.delay_ack(ctx, t);
        }
    }
    /// Does what [`Receiver::acknowledge`] does for data, while all is in order.
    #[inline(always)]
    fn acknowledge_in_order(&mut self, ctx: &mut NodeCtx<impl Effects>, t: &TransportSpec) {
        let wnd = self.window.offer(self.next, t);
        let (ts, hops, arrived_at) = self.acks.echo.take().unwrap_or((ctx.now, 0, ctx.now));
        let ece = if self.ecn.ce { flag::ECE } else { 0 };
        let ect = if t.marks.ect_control && self.ecn.mode == Ecn::Dctcp { flag::ECT } else { 0 };
        let host = if ctx.net.hosts_cost { ctx.now - arrived_at } else { Time::ZERO };
        let mut packet = self.answer(ctx, Kind::Ack, self.next, self.base_flags | ece | ect, t.sizes.ack_size);
        packet.wnd = wnd;
        packet.set_echo(ts, hops, host);
        self.acks.pending = 0;
        self.acks.acked = self.next;
        self.acks.deadline = NEVER;
        ctx.send(self.ip.host, &packet, None);
    }
}
