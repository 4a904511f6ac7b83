//! Successive connections of a flow, one per query. Each begins with fresh state; counters continue.

use super::window::UNSCALED;
use super::{NEVER, Receiver};
use crate::event::packet::{Kind, Packet, flag};
use crate::host::messages::NO_TCB;
use crate::map::fabric::FabricMap;
use crate::node::context::{Effects, NodeCtx};
use incast_cc::Time;

impl Receiver {
    /// Replaces the connection by the next one, whose numbers on the wire are offset by `ahead`. Returns the former
    /// one, and the window offered now.
    pub fn reconnect(&mut self, net: &FabricMap, ahead: (u64, u64)) -> (Receiver, u32) {
        let mut next = Receiver::new(net, self.flow, self.ip.host);
        let wnd = next.make_duplex(net, self.tcb, self.sink.message_size);
        next.predictable = self.predictable;
        next.sink.stop_planned = self.sink.stop_planned;
        let mut last = std::mem::replace(self, next);
        self.swap_shared(&mut last);
        self.ip.ahead = ahead;
        self.sink.earlier += last.delivered();
        (last, wnd)
    }

    /// Exchanges the state that all connections of a flow share: IP layer and counters.
    pub fn swap_shared(&mut self, to: &mut Receiver) {
        std::mem::swap(&mut self.ip, &mut to.ip);
        std::mem::swap(&mut self.ip.ahead, &mut to.ip.ahead);
        std::mem::swap(&mut self.packets, &mut to.packets);
        std::mem::swap(&mut self.reordering, &mut to.reordering);
        std::mem::swap(&mut self.taken.delivered_m, &mut to.taken.delivered_m);
        std::mem::swap(&mut self.sink.earlier, &mut to.sink.earlier);
    }

    /// Returns whether the peer has closed and all before that has arrived.
    pub fn has_ended(&self) -> bool {
        self.fin_at.is_some_and(|fin| self.next > fin)
    }

    /// Notes that the application has reset the connection: nothing is taken or acknowledged any more.
    pub fn abandon(&mut self) {
        (self.sink.closed, self.in_order) = (true, false);
        self.acks.deadline = NEVER;
    }

    /// Counts a packet of a former connection as arrived, and its data as late unless it is a retransmission. Returns
    /// whether the peer waits for an answer.
    pub fn take_late(&mut self, ctx: &mut NodeCtx<impl Effects>, p: &Packet, ahead: (u64, u64)) -> bool {
        if p.len > p.size && p.is_trimmed() {
            self.ip.count_trimmed(ctx, p);
            return false;
        }
        let kept = std::mem::replace(&mut self.ip.ahead, ahead);
        let whole = self.ip.is_whole(ctx, p);
        self.ip.ahead = kept;
        if whole {
            self.ip.count(ctx, &ctx.net.transport(self.transport).sizes, p);
            if p.len > 0 && p.has(flag::MEASURED) && !p.has(flag::RETX) {
                self.reordering.get_or_insert_default().late += 1;
            }
        }
        whole && p.is(Kind::Data) && (p.len > 0 || p.has(flag::FIN))
    }

    /// Acknowledges repeated data of a former connection: all up to `ack` has arrived (TIME-WAIT).
    pub fn answer_late(&mut self, ctx: &mut NodeCtx<impl Effects>, ack: u64) {
        let size = ctx.net.transport(self.transport).sizes.ack_size;
        let mut packet = self.answer(ctx, Kind::Ack, ack, self.base_flags, size);
        packet.wnd = UNSCALED as u32;
        packet.set_echo(ctx.now, 0, Time::ZERO);
        self.shift(ctx, &mut packet);
        ctx.send(self.ip.host, &packet, None);
    }

    /// Shifts the numbers of a packet to those on the wire, on a two-way connection.
    #[inline(always)]
    pub(super) fn shift(&self, ctx: &NodeCtx<impl Effects>, packet: &mut Packet) {
        if self.tcb != NO_TCB {
            packet.shift(0, ctx.tcbs[self.tcb as usize].ahead_received);
        }
    }

    /// Number of an ACK: one more than the host's next byte.
    #[cold]
    pub(super) fn number(&self, ctx: &NodeCtx<impl Effects>) -> u64 {
        ctx.tcbs[self.tcb as usize].nxt + 1
    }
}
