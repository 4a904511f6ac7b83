//! Successive connections of a flow, one per query. Each begins with fresh state; counters continue.

use super::{Connection, Sender};
use crate::event::packet::Kind;
use crate::map::fabric::FabricMap;
use crate::node::context::{Effects, NodeCtx};

impl Sender {
    /// Replaces the connection by the next one. Returns the former one.
    pub fn reconnect(&mut self, net: &FabricMap) -> Sender {
        let mut next = Sender::new(net, self.ip.flow, self.ip.host);
        next.make_duplex(self.duplex.tcb, self.duplex.passive);
        (next.prediction.acks, next.prediction.output) = (self.prediction.acks, self.prediction.output);
        next.opening = self.opening;
        let mut last = std::mem::replace(self, next);
        self.swap_shared(&mut last);
        self.stats.written += last.app.written;
        self.stats.rtt_min = last.rtt.min().into_iter().chain(self.stats.rtt_min).min();
        last
    }

    /// Exchanges the state that all connections of a flow share: IP layer and counters.
    pub fn swap_shared(&mut self, to: &mut Sender) {
        std::mem::swap(&mut self.ip, &mut to.ip);
        std::mem::swap(&mut self.samples.counted, &mut to.samples.counted);
        std::mem::swap(&mut self.stats, &mut to.stats);
    }

    /// Returns whether connections of the flow follow one another, so that none is its end.
    pub(super) fn reconnects(&self, net: &FabricMap) -> bool {
        net.duplex(self.ip.flow).is_some_and(|duplex| duplex.close.is_some())
    }

    /// Index of the control block of a two-way connection.
    pub fn tcb(&self) -> u32 {
        self.duplex.tcb
    }

    /// Opens a connection after the first.
    pub fn reopen(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        let t = ctx.net.transport(self.transport);
        self.connect(ctx, t);
    }

    /// Makes the next message the last: the FIN rides on it, or follows.
    pub fn close_after(&mut self) {
        self.app.close();
    }

    /// Closes the connection for the application: the FIN follows the written data.
    pub fn close(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        if self.is_up() && self.app.end().is_none() {
            self.app.close();
            self.pump(ctx);
            self.check_finished(ctx);
        }
    }

    /// Resets the connection.
    pub fn abort(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        if self.is_up() {
            self.refuse(ctx);
            self.die();
        }
    }

    /// Answers a packet of a former connection with a reset.
    pub fn refuse(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        self.emit(ctx, Kind::Rst, self.snd.nxt, 0, 0, ctx.net.transport(self.transport).sizes.ack_size);
    }

    /// Returns whether the connection has nothing left to send.
    pub fn is_over(&self) -> bool {
        matches!(self.connection, Connection::Done | Connection::Dead)
    }

    /// Returns whether the connection was reset or given up.
    pub fn is_dead(&self) -> bool {
        self.connection == Connection::Dead
    }
}
