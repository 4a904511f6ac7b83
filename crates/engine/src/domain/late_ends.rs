//! Ends of connections of jobs: made when they are used first, and let go after their last message.
//!
//! A connection is over when both hosts know of no packet that may still come, so an end that goes would have done
//! nothing more. When all its messages are acknowledged, the sender's host tells the receiver's, and with it the number
//! of packets sent. When so many have arrived, the receiver goes, and its host tells the number of its own packets.
//! When these have arrived, the sender goes. A lost packet is missing in these numbers, so its connection stays.

use crate::domain::endpoints::Endpoints;
use crate::domain::ranks::Closing;
use crate::event::order::{Key, Timer};
use crate::event::outbox::Outbox;
use crate::event::packet::Packet;
use crate::ids::{FlowId, NodeId};
use crate::map::fabric::FabricMap;
use crate::map::jobs::Connection;
use crate::node::context::{Effects, NodeCtx};
use crate::transport::{ReceiveEndpoint, SendEndpoint};
use std::collections::VecDeque;

/// Numbers of messages about the end of a connection: no message of a task has them.
const CLOSING: u32 = u32::MAX;
const CLOSED: u32 = u32::MAX - 1;

/// Sender of a flow.
pub(super) fn sender(net: &FabricMap, flow: FlowId) -> SendEndpoint {
    SendEndpoint::new(net, flow, net.place[net.flow(flow).src as usize].node.of_host())
}

/// Receiver of a flow.
pub(super) fn receiver(net: &FabricMap, flow: FlowId) -> ReceiveEndpoint {
    ReceiveEndpoint::new(net, flow, net.place[net.flow(flow).dst as usize].node.of_host())
}

impl Endpoints {
    /// Sender of a flow, made if it is used for the first time; `None` once it is gone.
    pub(super) fn used_sender(&mut self, net: &FabricMap, flow: FlowId) -> Option<&mut SendEndpoint> {
        let plain = self.plain;
        self.senders.used(net.ends[flow].sender.ix(), || {
            let mut own = sender(net, flow);
            own.tcp().filter(|_| plain).into_iter().for_each(|tcp| tcp.disable_fast_paths());
            own
        })
    }

    /// See [`Endpoints::used_sender`].
    pub(super) fn used_receiver(&mut self, net: &FabricMap, flow: FlowId) -> Option<&mut ReceiveEndpoint> {
        let plain = self.plain;
        self.receivers.used(net.ends[flow].receiver.ix(), || {
            let mut own = receiver(net, flow);
            own.tcp().filter(|_| plain).into_iter().for_each(|tcp| tcp.disable_fast_paths());
            own
        })
    }

    /// Returns whether the end that a packet is for is there. It is made if it is used for the first time.
    pub(super) fn is_there(&mut self, net: &FabricMap, packet: &Packet) -> bool {
        match packet.is_reverse() {
            true => self.used_sender(net, packet.flow).is_some(),
            false => self.used_receiver(net, packet.flow).is_some(),
        }
    }

    /// Tells the receiver's host once all messages of a connection are acknowledged.
    pub(super) fn end_connection(&mut self, ctx: &mut NodeCtx<impl Effects>, number: u32) {
        let net = ctx.net;
        let Connection { pair, flow, messages, .. } = net.jobs.connections[number as usize];
        let pair = &net.jobs.pairs[pair as usize];
        let Some(jobs) = self.jobs.as_mut().filter(|_| !self.plain) else { return };
        let outgoing = &mut jobs.outgoing[pair.outgoing()][pair.place(number)];
        match outgoing.closing {
            Closing::No if outgoing.written == messages && outgoing.messages.is_empty() => {
                outgoing.closing = Closing::Told;
                let Some(sender) = self.senders.at(net.ends[flow].sender.ix()) else { return };
                net.jobs.packets.tell(number, false, sender.packets());
                let key = Key::message(ctx.now.saturating_add(pair.latency), flow, CLOSING);
                self.tell_end(ctx, flow, key, Timer::Closing(flow));
            }
            Closing::Answered => self.close_sender(ctx, number),
            Closing::No | Closing::Told | Closing::Gone => {}
        }
    }

    /// Handles a message about the end of a connection.
    pub(super) fn on_end(&mut self, ctx: &mut NodeCtx<impl Effects>, flow: FlowId, closed: bool) {
        let net = ctx.net;
        let (Some(number), Some(jobs)) = (net.jobs.of_flow(flow), &mut self.jobs) else { return };
        let pair = &net.jobs.pairs[net.jobs.connections[number as usize].pair as usize];
        if closed {
            jobs.outgoing[pair.outgoing()][pair.place(number)].closing = Closing::Answered;
            self.close_sender(ctx, number);
        } else {
            jobs.incoming[pair.incoming()][pair.place(number)].closing = Closing::Told;
            self.close_receiver(ctx, number);
        }
    }

    /// Lets the receiver of a connection go whose end is announced, if all packets have arrived.
    pub(super) fn close_receiver(&mut self, ctx: &mut NodeCtx<impl Effects>, number: u32) {
        let net = ctx.net;
        let Connection { pair, flow, .. } = net.jobs.connections[number as usize];
        let pair = &net.jobs.pairs[pair as usize];
        let Some(jobs) = &mut self.jobs else { return };
        let incoming = &mut jobs.incoming[pair.incoming()][pair.place(number)];
        if incoming.closing != Closing::Told || incoming.arrived != net.jobs.packets.told(number, false) {
            return;
        }
        let at = net.ends[flow].receiver.ix();
        let Some(packets) = self.receivers.at(at).filter(|own| own.is_at_rest()).map(ReceiveEndpoint::packets) else {
            return;
        };
        if !incoming.messages.is_empty() || !self.receivers.let_go(at, ReceiveEndpoint::record) {
            return;
        }
        (incoming.closing, incoming.messages) = (Closing::Gone, VecDeque::new());
        net.jobs.packets.tell(number, true, packets);
        let key = Key::message(ctx.now.saturating_add(pair.latency.max(net.max_latency)), flow, CLOSED);
        self.tell_end(ctx, flow, key, Timer::Closed(flow));
    }

    /// Lets the sender of a connection go whose receiver is gone, if all packets have arrived.
    fn close_sender(&mut self, ctx: &mut NodeCtx<impl Effects>, number: u32) {
        let net = ctx.net;
        let Connection { pair, flow, .. } = net.jobs.connections[number as usize];
        let pair = &net.jobs.pairs[pair as usize];
        let Some(jobs) = &mut self.jobs else { return };
        let outgoing = &mut jobs.outgoing[pair.outgoing()][pair.place(number)];
        let at = net.ends[flow].sender.ix();
        let told = net.jobs.packets.told(number, false);
        let rests = self.senders.at(at).is_some_and(|own| own.is_at_rest() && own.packets() == told);
        if !rests || outgoing.arrived != net.jobs.packets.told(number, true) {
            return;
        }
        if self.senders.let_go(at, SendEndpoint::record) {
            (outgoing.closing, outgoing.messages) = (Closing::Gone, VecDeque::new());
        }
    }

    /// Sends a message about the end of a connection to the other host.
    fn tell_end(&self, ctx: &mut NodeCtx<impl Effects>, flow: FlowId, key: Key, timer: Timer) {
        let (net, own) = (ctx.net, ctx.net.flow(flow));
        let to = if matches!(timer, Timer::Closing(_)) { own.dst } else { own.src };
        let here = net.place[own.src as usize].domain == net.place[own.dst as usize].domain;
        ctx.out.announce((!here).then_some(NodeId(to)), key, timer);
    }
}
