//! Two-way connections: acknowledgements ride on data of the other direction (piggyback).

use super::*;

impl Receiver {
    /// Takes over the acknowledgements that data of the other flow has carried.
    pub(super) fn collect(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        if let Some(side) = ctx.sides.get_mut(self.side as usize) {
            if side.without_ecn {
                self.ecn.mode = Ecn::Off;
            }
            let (owed, carried) = (side.owed, std::mem::take(&mut side.carried));
            if !owed {
                (self.acks.pending, self.acks.pushed) = (0, 0);
                self.acks.acked = self.next;
                self.acks.deadline = NEVER;
                self.acks.echo = None;
                self.uncompress(ctx);
            }
            for _ in 0..carried {
                self.spend_quick(ctx);
            }
        }
    }

    /// Publishes the acknowledgement for data of the other flow.
    pub(super) fn publish(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        let t = ctx.net.transport(self.transport);
        let wnd = self.window.offer(self.next, t);
        let blocks =
            if t.sack && !self.ooo.is_empty() { self.sack.report(&self.ooo, self.next) } else { Ext::default() };
        let side = &mut ctx.sides[self.side as usize];
        let (ts, hops, came) = self.acks.echo.unwrap_or((side.ext.ts, side.ext.hops, side.came));
        side.ext = Ext { ts, hops, aside: side.ext.aside.take(), ..blocks };
        side.came = came;
        side.ack = self.next;
        side.wnd = wnd;
        side.ece = self.ecn.ce;
        side.owed = self.acks.pending > 0 || self.acks.deadline != NEVER;
        side.open = true;
    }
}
