//! Header prediction (V. Jacobson, "4BSD TCP Header Prediction", 1990): the way of the segment that comes next, while
//! nothing is missing. What `Receiver::data` does with it, without the rules that have no say in it.

use super::*;

impl Receiver {
    /// Whether the rules of `t` let segments be predicted. Those do not that look at every segment.
    pub(super) fn is_predictable(t: &TransportSpec) -> bool {
        !(t.classic_quickack || t.window_growth || t.push_ack || t.read_ack || t.cwr_ack)
    }

    /// No segment is predicted from now on.
    pub(in crate::transport) fn spell_out(&mut self) {
        self.predictable = false;
    }

    /// Whether a data segment is the next, and nothing is missing.
    #[inline(always)]
    pub(super) fn predicts(&self, p: &Packet) -> bool {
        self.predictable
            && p.seq() == self.next
            && p.len > 0
            && !p.has(flag::FIN)
            && self.ooo.is_empty()
            && self.fin_at.is_none()
            && self.side == NO_SIDE
    }

    /// Takes a segment in that is as predicted.
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
        self.sink.fresh_at = ctx.now;
        if self.sink.complete.is_none() && end >= self.sink.size {
            self.complete(ctx);
        }
        if ctx.measured() {
            let size = self.sink.app_size;
            self.sink.delivered_m += end.min(size) - before.min(size);
        }
        self.acks.pending += 1;
        if self.acks.quick > 0 {
            self.acks.quick -= 1;
            now_ack = true;
        }
        if now_ack || self.acks.pending >= self.acks.every {
            self.acknowledge(ctx, Kind::Ack, 0, t.ack_size);
        } else {
            self.delay_ack(ctx, t);
        }
    }
}
