//! Connections that each query opens for itself ([`Close`]). They follow one another on the same two flows, in the same
//! endpoints. A connection not yet closed when the next one begins stays open beside it, with a FIN in flight or lost.

use crate::domain::closing_connections::{ClosingConnection, is_closed};
use crate::domain::endpoints::Endpoints;
use crate::domain::probe::observed_tcp;
use crate::domain::queries::answered;
use crate::event::order::Timer;
use crate::event::packet::{Ext, Kind, Packet, flag};
use crate::host::messages::{Duplex, Tcb};
use crate::ids::{FlowId, SenderIx};
use crate::node::context::{Effects, NodeCtx};
use crate::spec::Close;
use crate::transport::tcp::receiver::Receiver;
use crate::transport::tcp::sender::Sender;
use crate::transport::timer::Task;
use std::mem::swap;

/// Control block of connection `number` at the host that sends `own` and receives `other`.
fn tcb(own: Duplex, other: Duplex, number: u64, wnd: u32) -> Tcb {
    let (ahead, ahead_received) = (own.base(number), other.base(number));
    Tcb { wnd, number, ahead, ahead_received, ..Tcb::default() }
}

impl Endpoints {
    /// Delivers a packet of a connection that a query opened for itself.
    pub(super) fn deliver_per_query<E: Effects>(
        &mut self,
        ctx: &mut NodeCtx<E>,
        packet: &Packet,
        duplex: Duplex,
        ext: Option<&mut Ext>,
    ) {
        let net = ctx.net;
        let back = packet.is_reverse();
        let own = if back { packet.flow } else { duplex.other };
        let Some(other) = net.duplex(duplex.other) else { return };
        let number = duplex.connection(if back { packet.ack } else { packet.seq() });
        let Some(at) = self.tcb(net.ends[own].sender) else { return };
        if number > ctx.tcbs[at].number {
            // nothing precedes SYN
            if back || !packet.is(Kind::Syn) {
                return;
            }
            self.reconnect(ctx, own, number);
        }
        let mut packet = *packet;
        let (seq, mut ack) = (duplex.base(number), duplex.base(number));
        if !back {
            ack = if packet.has(flag::ACK) { other.base(number) } else { 0 };
        }
        packet.shift(seq.wrapping_neg(), ack.wrapping_neg());
        let packet = &packet;
        if number == ctx.tcbs[at].number {
            return self.take_in(ctx, own, packet, duplex, ext);
        }
        match self.closing.iter().position(|l| l.flow == own && l.tcb.number == number) {
            Some(i) => self.visit(ctx, i, |sender, receiver, ctx| exchange(sender, receiver, ctx, packet, ext)),
            None if !back => self.answer_late(ctx, own, packet, (duplex, other), number),
            None => {}
        }
    }

    /// Index of the control block of a sender's connection.
    fn tcb(&mut self, sender: SenderIx) -> Option<usize> {
        self.senders[sender].tcp().map(|tcp| tcp.tcb() as usize)
    }

    /// Delivers a packet of the active connection.
    fn take_in(
        &mut self,
        ctx: &mut NodeCtx<impl Effects>,
        own: FlowId,
        packet: &Packet,
        duplex: Duplex,
        ext: Option<&mut Ext>,
    ) {
        let net = ctx.net;
        let sender = &mut self.senders[net.ends[own].sender];
        if packet.is_reverse() {
            return observed_tcp(&mut self.probes, sender, ctx, |tcp, ctx| {
                tcp.on_packet_of_connection(ctx, packet, ext.as_deref());
            });
        }
        let Some(receiver) = self.receivers[net.ends[packet.flow].receiver].tcp() else { return };
        if let Some(tcp) = sender.tcp().filter(|tcp| tcp.is_dead()) {
            let Tcb { ahead, ahead_received, .. } = ctx.tcbs[tcp.tcb() as usize];
            if receiver.take_late(ctx, packet, (ahead_received, ahead)) {
                tcp.refuse(ctx);
            }
            return;
        }
        observed_tcp(&mut self.probes, sender, ctx, |tcp, ctx| exchange(tcp, receiver, ctx, packet, ext));
        let close = duplex.close;
        while receiver.take_message() {
            if !duplex.response {
                let size = net.duplex(own).map_or(0, |duplex| duplex.size);
                observed_tcp(&mut self.probes, sender, ctx, |tcp, ctx| {
                    if close == Some(Close::Worker) {
                        tcp.close_after();
                    }
                    tcp.on_reply(ctx, size);
                });
                continue;
            }
            match close {
                Some(Close::Root) => observed_tcp(&mut self.probes, sender, ctx, |tcp, ctx| tcp.close(ctx)),
                Some(Close::Reset) => {
                    observed_tcp(&mut self.probes, sender, ctx, |tcp, ctx| tcp.abort(ctx));
                    receiver.abandon();
                }
                _ => {}
            }
            answered(&mut self.queries[net.queries[duplex.query] as usize], ctx);
        }
    }

    /// Replaces the previous connection by connection `number`, at the host that sends `own`.
    pub(super) fn reconnect(&mut self, ctx: &mut NodeCtx<impl Effects>, own: FlowId, number: u64) {
        let net = ctx.net;
        let Some(duplex) = net.duplex(own) else { return };
        let Some(other) = net.duplex(duplex.other) else { return };
        self.close_frames(net.ends[own].sender, ctx.now, ctx.counts.last);
        let Some(sender) = self.senders[net.ends[own].sender].tcp() else { return };
        let Some(receiver) = self.receivers[net.ends[duplex.other].receiver].tcp() else { return };
        let ahead = (other.base(number), duplex.base(number));
        let at = sender.tcb() as usize;
        let (last, (received, wnd)) = (sender.reconnect(net), receiver.reconnect(net, ahead));
        let tcb = std::mem::replace(&mut ctx.tcbs[at], tcb(duplex, other, number, wnd));
        if !is_closed(&last, &received) {
            self.closing.push(Box::new(ClosingConnection { flow: own, sender: last, receiver: received, tcb }));
        }
    }

    /// Answers a retransmission of a connection already gone here: its last ACK, or the reset, was lost.
    fn answer_late(
        &mut self,
        ctx: &mut NodeCtx<impl Effects>,
        own: FlowId,
        packet: &Packet,
        (received, sent): (Duplex, Duplex),
        number: u64,
    ) {
        let Some(receiver) = self.receivers[ctx.net.ends[packet.flow].receiver].tcp() else { return };
        if !receiver.take_late(ctx, packet, (received.base(number), sent.base(number))) {
            return;
        }
        let Some(sender) = self.senders[ctx.net.ends[own].sender].tcp() else { return };
        let at = sender.tcb() as usize;
        let mut gone = tcb(sent, received, number, 0);
        swap(&mut ctx.tcbs[at], &mut gone);
        if received.close == Some(Close::Reset) {
            sender.refuse(ctx);
        } else {
            receiver.answer_late(ctx, received.end());
        }
        swap(&mut ctx.tcbs[at], &mut gone);
    }

    /// Lets closing connection `i` act. Removes it once it is closed.
    fn visit<E: Effects>(
        &mut self,
        ctx: &mut NodeCtx<E>,
        i: usize,
        act: impl FnOnce(&mut Sender, &mut Receiver, &mut NodeCtx<E>),
    ) {
        let net = ctx.net;
        let ClosingConnection { flow, sender, receiver, tcb } = &mut *self.closing[i];
        let Some(duplex) = net.duplex(*flow) else { return };
        let Some(at_work) = self.senders[net.ends[*flow].sender].tcp() else { return };
        let Some(receiving) = self.receivers[net.ends[duplex.other].receiver].tcp() else { return };
        let at = at_work.tcb() as usize;
        swap(&mut ctx.tcbs[at], tcb);
        at_work.swap_shared(sender);
        receiving.swap_shared(receiver);
        act(sender, receiver, ctx);
        receiving.swap_shared(receiver);
        at_work.swap_shared(sender);
        swap(&mut ctx.tcbs[at], tcb);
        if is_closed(sender, receiver) {
            self.closing.remove(i);
        }
    }

    /// Lets the closing connections of the host that sends `flow` act, in their order; with `receives`, of the host
    /// that receives it. The other host's end may be in the same domain.
    fn visit_all<E: Effects>(
        &mut self,
        ctx: &mut NodeCtx<E>,
        (flow, receives): (FlowId, bool),
        act: impl Fn(&mut Sender, &mut Receiver, &mut NodeCtx<E>),
    ) {
        let mut i = 0;
        while i < self.closing.len() {
            let left = self.closing.len();
            let of = self.closing[i].flow;
            let own = if receives { ctx.net.duplex(of).map(|duplex| duplex.other) } else { Some(of) };
            if own == Some(flow) {
                self.visit(ctx, i, &act);
            }
            i += usize::from(self.closing.len() == left);
        }
    }

    /// Handles a timer that a closing connection may have set.
    #[cold]
    pub(super) fn timer_of_closing(&mut self, ctx: &mut NodeCtx<impl Effects>, timer: Timer) {
        match timer {
            Timer::DelayedAck(flow) => {
                self.visit_all(ctx, (flow, true), |_, receiver, ctx| receiver.on_timer(ctx, timer));
            }
            Timer::Retransmit(flow) | Timer::Pace(flow) | Timer::Wake(flow) | Timer::App(flow) => {
                self.visit_all(ctx, (flow, false), |sender, _, ctx| sender.on_timer(ctx, timer));
            }
            _ => {}
        }
    }

    /// Runs a due timer of flow `flow` in its host's run queue, for closing connections as well.
    pub(super) fn run_closing(&mut self, ctx: &mut NodeCtx<impl Effects>, flow: FlowId, delayed_ack: bool) {
        if delayed_ack {
            self.visit_all(ctx, (flow, true), |_, receiver, ctx| receiver.run(ctx, Task::Timer));
        } else {
            self.visit_all(ctx, (flow, false), |sender, _, ctx| sender.run(ctx, Task::Timer));
        }
    }

    /// Called for closing connections of `flow` when the NIC has room.
    pub(super) fn nic_room_for_closing(&mut self, ctx: &mut NodeCtx<impl Effects>, flow: FlowId) {
        self.visit_all(ctx, (flow, false), |sender, _, ctx| {
            sender.begin();
            sender.on_room(ctx);
        });
    }

    /// True if a closing connection of `flow` may wait for the NIC.
    #[inline]
    pub(super) fn has_closing(&self, flow: FlowId) -> bool {
        self.closing.iter().any(|l| l.flow == flow)
    }
}

/// Handles a packet of the data direction, or an acknowledgement: first the acknowledgement, then the data, as a host
/// processes a segment. An end whose peer has closed closes too.
fn exchange(
    sender: &mut Sender,
    receiver: &mut Receiver,
    ctx: &mut NodeCtx<impl Effects>,
    packet: &Packet,
    ext: Option<&mut Ext>,
) {
    sender.on_packet_of_connection(ctx, packet, ext.as_deref());
    if packet.is_reverse() {
        return;
    }
    receiver.on_packet(ctx, packet, ext);
    if receiver.has_ended() {
        sender.close(ctx);
    }
}
