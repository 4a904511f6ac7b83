//! Receiving endpoint: received packets of messages, and the tokens for the current one.

use super::message::Served;
use super::pacer::Tokens;
use super::wire::{ToSender, UsedToken};
use super::{CONTROL, PacketTime};
use crate::event::packet::{Kind, Packet, flag};
use crate::host::nic_queue::Class;
use crate::ids::{FlowId, HostIx};
use crate::map::fabric::FabricMap;
use crate::node::context::{Effects, NodeCtx};
use crate::spec::PHost;
use crate::transport::packet::receiver_base::ReceiverBase;
use crate::transport::packet::segmentation::MessageRange;
use crate::transport::packet::{HostPacers, PacketReceiver, Receivers, has_base, parameters};
use incast_cc::Time;
use std::collections::BTreeMap;

/// pHost receiver.
#[derive(Clone, Debug)]
pub struct Receiver {
    /// Common state of receivers.
    pub base: ReceiverBase,
    /// First incomplete message among the announced ones.
    served: Option<Served>,
    /// Later messages by their first packets: the packet after the last, and the time of the announcement.
    waiting: BTreeMap<u32, (u32, Time)>,
}

impl PacketReceiver for Receiver {
    type Pacer = Tokens;

    has_base!(ReceiverBase);

    fn new(net: &FabricMap, flow: FlowId, host: HostIx) -> Receiver {
        Receiver { base: ReceiverBase::new(net, flow, host), served: None, waiting: BTreeMap::new() }
    }

    fn on_packet(&mut self, ctx: &mut NodeCtx<impl Effects>, pacers: &mut HostPacers<Tokens>, p: &Packet) {
        if p.is(Kind::Rts) {
            self.on_request(ctx, pacers.own, p);
        } else if p.is_trimmed() {
            self.base.ip.count_trimmed(ctx, p);
        } else if self.base.ip.is_whole(ctx, p) {
            self.on_data(ctx, pacers.own, p);
        }
    }

    fn on_pacer(
        ctx: &mut NodeCtx<impl Effects>,
        tokens: &mut Tokens,
        host: HostIx,
        receivers: &mut impl Receivers<Receiver>,
    ) {
        if !tokens.is_due(ctx.now) {
            return;
        }
        if let Some(receiver) = tokens.next(ctx.now).and_then(|flow| receivers.of(flow)) {
            receiver.give_token(ctx, tokens);
        }
        tokens.set_timer(ctx, host);
    }
}

impl Receiver {
    /// Handles the announcement of a message: a new one, a repeated one, or one with an earlier end.
    fn on_request(&mut self, ctx: &mut NodeCtx<impl Effects>, tokens: &mut Tokens, p: &Packet) {
        let range = MessageRange::read(p);
        let t = ctx.net.transport(self.base.transport);
        let (first, end) = (range.first, range.end(0, t.mss));
        match &mut self.served {
            Some(served) if served.first == first => {
                if end < served.end {
                    let one = PacketTime::of(ctx, t, self.base.ip.host);
                    served.shorten(parameters::<PHost>(t), end, &self.base.received, one);
                }
            }
            _ if end > self.base.received.next() => {
                let message = self.waiting.entry(first).or_insert((end, ctx.now));
                message.0 = message.0.min(end);
            }
            _ => {
                self.waiting.remove(&first);
            }
        }
        let has_acked = self.go_on(ctx, None);
        if !has_acked && (p.has(flag::RETX) || end <= self.base.received.next()) {
            self.acknowledge(ctx, end, None);
        }
        self.wait(ctx, tokens);
    }

    fn on_data(&mut self, ctx: &mut NodeCtx<impl Effects>, tokens: &mut Tokens, p: &Packet) {
        let t = ctx.net.transport(self.base.transport);
        let number = p.seq() as u32;
        let is_new = self.base.take(ctx, t, p);
        let Some(served) = self.served.as_mut().filter(|served| served.has(number)) else { return };
        served.use_token(UsedToken::read(p).0);
        if is_new {
            served.count_arrival();
            self.go_on(ctx, (!p.has(flag::RETX)).then(|| p.sent_at()));
        }
        self.wait(ctx, tokens);
    }

    /// Acknowledges a complete message and serves the next. Returns whether one was complete.
    fn go_on(&mut self, ctx: &mut NodeCtx<impl Effects>, sent_at: Option<Time>) -> bool {
        let mut has_acked = false;
        loop {
            match &self.served {
                Some(served) if served.left > 0 => return has_acked,
                Some(served) => {
                    let end = served.end;
                    self.served = None;
                    self.acknowledge(ctx, end, sent_at.filter(|_| !has_acked));
                    has_acked = true;
                }
                None => {
                    let Some((first, (end, since))) = self.waiting.pop_first() else { return has_acked };
                    self.served = Some(self.begin(ctx, (first, end), since));
                }
            }
        }
    }

    fn begin(&self, ctx: &NodeCtx<impl Effects>, packets: (u32, u32), since: Time) -> Served {
        let t = ctx.net.transport(self.base.transport);
        let one = PacketTime::of(ctx, t, self.base.ip.host);
        Served::new(parameters::<PHost>(t), packets, (since, ctx.now), &self.base.received, one)
    }

    /// Acknowledges messages up to the one that ends at packet `end`.
    fn acknowledge(&mut self, ctx: &mut NodeCtx<impl Effects>, end: u32, sent_at: Option<Time>) {
        let message = ToSender::Ack { end, sent_at };
        self.base.send(ctx, Class::Control, message.encode(), 0);
    }

    /// Adds the message to its host's waiting messages, or removes it.
    fn wait(&mut self, ctx: &mut NodeCtx<impl Effects>, tokens: &mut Tokens) {
        let t = ctx.net.transport(self.base.transport);
        let (host, flow) = (self.base.ip.host, self.base.flow);
        let one = PacketTime::of(ctx, t, host);
        let eligibility = self.served.as_ref().map(|served| served.eligibility(parameters::<PHost>(t), flow, one));
        tokens.wait(ctx, host, flow, eligibility);
    }

    /// Gives a token to the message; the next token of the host goes a gap later.
    fn give_token(&mut self, ctx: &mut NodeCtx<impl Effects>, tokens: &mut Tokens) {
        let t = ctx.net.transport(self.base.transport);
        let (own, host) = (parameters::<PHost>(t), self.base.ip.host);
        let one = PacketTime::of(ctx, t, host);
        tokens.give(ctx.now, one.times(own.gap));
        let Some(served) = &mut self.served else { return self.wait(ctx, tokens) };
        let Some((number, token)) = served.give(own, ctx.now, &self.base.received, one) else { return };
        let message = ToSender::Token { number, token, missing: served.left };
        let mut packet = self.base.packet(ctx, message.encode(), 0);
        packet.set_class(CONTROL);
        ctx.emit(host, Class::Control, &packet);
        self.wait(ctx, tokens);
    }
}
