//! Two-way connections: acknowledgements ride on data of the other direction (piggyback).

use super::{NEVER, Receiver};
use crate::event::packet::Ext;
use crate::node::context::{Effects, NodeCtx};
use incast_cc::Ecn;

impl Receiver {
    /// Takes over the acknowledgements that data of the other flow has carried.
    pub(super) fn collect(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        if let Some(tcb) = ctx.tcbs.get_mut(self.tcb as usize) {
            if tcb.without_ecn {
                self.ecn.mode = Ecn::Off;
            }
            let (owed, carried) = (tcb.owed, std::mem::take(&mut tcb.carried));
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
            if t.loss.sack && !self.ooo.is_empty() { self.sack.report(&self.ooo, self.next) } else { Ext::default() };
        let tcb = &mut ctx.tcbs[self.tcb as usize];
        let (ts, hops, arrived_at) = self.acks.echo.unwrap_or((tcb.ext.ts, tcb.ext.hops, tcb.arrived_at));
        tcb.ext = Ext { ts, hops, metadata: tcb.ext.metadata.take(), ..blocks };
        tcb.arrived_at = arrived_at;
        tcb.ack = self.next;
        tcb.wnd = wnd;
        tcb.ece = self.ecn.ce;
        tcb.owed = self.acks.pending > 0 || self.acks.deadline != NEVER;
        tcb.open = true;
    }
}
