//! Connections of a flow, one after the other: each query has its own. State is as fresh as that of a first connection;
//! counts go on.

use super::*;

impl Sender {
    /// The next connection takes its place. The one that was.
    pub fn renew(&mut self, net: &FabricMap) -> Sender {
        let mut next = Sender::new(net, self.ip.flow, self.ip.host);
        next.make_duplex(self.side, self.passive);
        (next.predictable, next.output_is_plain) = (self.predictable, self.output_is_plain);
        (next.opening, next.probe) = (self.opening, self.probe.take());
        let mut last = std::mem::replace(self, next);
        self.lend(&mut last);
        self.stats.written += last.app.written;
        self.stats.rtt_min = last.rtt.min().into_iter().chain(self.stats.rtt_min).min();
        last
    }

    /// Exchanges what all connections of a flow share: what is beneath them, and counts.
    pub fn lend(&mut self, to: &mut Sender) {
        std::mem::swap(&mut self.ip, &mut to.ip);
        std::mem::swap(&mut self.rtts, &mut to.rtts);
        std::mem::swap(&mut self.stats, &mut to.stats);
    }

    /// Whether connections of the flow follow one another: none is its end.
    pub(super) fn is_renewed(&self, net: &FabricMap) -> bool {
        net.duplex(self.ip.flow).is_some_and(|duplex| duplex.close.is_some())
    }

    /// Its host's side of a two-way connection.
    pub fn side(&self) -> u32 {
        self.side
    }

    /// Opens a connection that is not the first.
    pub fn reopen(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        let t = ctx.net.transport(self.transport);
        self.connect(ctx, t);
    }

    /// The next message is the last: FIN rides on it, or follows.
    pub fn close_after(&mut self) {
        self.app.close();
    }

    /// The application closes: FIN follows what was written.
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

    /// Answers a packet of a connection that is gone.
    pub fn refuse(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        self.emit(ctx, Kind::Rst, self.nxt, 0, 0, ctx.net.transport(self.transport).ack_size);
    }

    /// Nothing of the connection is left to send.
    pub fn is_over(&self) -> bool {
        matches!(self.connection, Connection::Done | Connection::Dead)
    }

    /// The connection was reset, or given up.
    pub fn is_dead(&self) -> bool {
        self.connection == Connection::Dead
    }
}
