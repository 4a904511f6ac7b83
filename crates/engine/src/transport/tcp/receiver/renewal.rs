//! Connections of a flow, one after the other: each query has its own. State is as fresh as that of a first connection;
//! counts go on.

use super::*;

impl Receiver {
    /// The next connection takes its place. The one that was, and the window that is offered now.
    pub fn renew(&mut self, net: &FabricMap) -> (Receiver, u32) {
        let mut next = Receiver::new(net, self.flow, self.ip.host);
        let wnd = next.make_duplex(net, self.side, self.sink.message_size);
        next.predictable = self.predictable;
        next.sink.stop_planned = self.sink.stop_planned;
        let mut last = std::mem::replace(self, next);
        self.lend(&mut last);
        self.sink.earlier += last.delivered();
        (last, wnd)
    }

    /// Exchanges what all connections of a flow share: what is beneath them, and counts.
    pub fn lend(&mut self, to: &mut Receiver) {
        std::mem::swap(&mut self.ip, &mut to.ip);
        std::mem::swap(&mut self.packets, &mut to.packets);
        std::mem::swap(&mut self.reordering, &mut to.reordering);
        std::mem::swap(&mut self.sink.delivered_m, &mut to.sink.delivered_m);
        std::mem::swap(&mut self.sink.earlier, &mut to.sink.earlier);
    }

    /// The peer has closed, and all before that has come.
    pub fn has_ended(&self) -> bool {
        self.fin_at.is_some_and(|fin| self.next > fin)
    }

    /// The application has reset the connection: nothing is taken or acknowledged any more.
    pub fn abandon(&mut self) {
        self.sink.closed = true;
        self.acks.deadline = NEVER;
    }

    /// Answers what comes again of a connection that is gone: all of it has come, up to `ack` (TIME-WAIT).
    pub fn answer_late(&mut self, ctx: &mut NodeCtx<impl Effects>, ack: u64) {
        let size = ctx.net.transport(self.transport).ack_size;
        let mut packet = self.answer(ctx, Kind::Ack, ack, self.base_flags, size);
        packet.wnd = UNSCALED as u32;
        packet.set_echo(ctx.now, 0, Time::ZERO);
        self.shift(ctx, &mut packet);
        ctx.send(self.ip.host, &packet, None);
    }

    /// The numbers of a two-way connection's packet as they are on the wire.
    #[inline(always)]
    pub(super) fn shift(&self, ctx: &NodeCtx<impl Effects>, packet: &mut Packet) {
        if self.side != NO_SIDE {
            packet.shift(0, ctx.sides[self.side as usize].ahead_received);
        }
    }

    /// The number of an ACK: one more than the next byte of its host.
    #[cold]
    pub(super) fn number(&self, ctx: &NodeCtx<impl Effects>) -> u64 {
        ctx.sides[self.side as usize].nxt + 1
    }
}
