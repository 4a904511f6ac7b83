//! Two-way connections: acknowledgements travel on data of the other direction (piggyback).

use super::*;

impl Receiver {
    /// Two-way connections: data of the other half has carried the acknowledgement that was owed.
    pub(super) fn collect(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        if let Some(half) = ctx.halves.get_mut(self.half as usize) {
            if half.without_ecn {
                self.ecn.mode = Ecn::Off;
            }
            let (owed, carried) = (half.owed, std::mem::take(&mut half.carried));
            if !owed {
                self.acks.pending = 0;
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

    /// Two-way connections: what data of the other half is to acknowledge.
    pub(super) fn publish(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        let t = ctx.net.transport(self.transport);
        let wnd = self.window.offer(self.next, t);
        let blocks =
            if t.sack && !self.ooo.is_empty() { self.sack.blocks(&self.ooo, self.next) } else { Ext::default() };
        let half = &mut ctx.halves[self.half as usize];
        let (ts, hops, came) = self.acks.echo.unwrap_or((half.ext.ts, half.ext.hops, half.came));
        half.ext = Ext { ts, hops, ..blocks };
        half.came = came;
        half.ack = self.next;
        half.wnd = wnd;
        half.ece = self.ecn.ce;
        half.owed = self.acks.pending > 0 || self.acks.deadline != NEVER;
        half.open = true;
    }
}
