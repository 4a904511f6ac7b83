//! Receiving endpoint: received packets of messages, and the tokens for the current one.

use super::rules::{CONTROL, PacketTime, TokenRules};
use super::served::{Limits, Served};
use super::wire::{ToSender, UsedToken};
use crate::event::packet::{Kind, Packet, flag};
use crate::host::nic_queue::Class;
use crate::ids::{FlowId, HostIx};
use crate::map::fabric::FabricMap;
use crate::node::context::{Effects, NodeCtx};
use crate::transport::packet::message::Encoded;
use crate::transport::packet::receiver_base::ReceiverBase;
use crate::transport::packet::segmentation::MessageRange;
use crate::transport::packet::{HostPacers, PacketReceiver, Receivers, has_base};
use incast_cc::Time;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::marker::PhantomData;

/// Service of messages by a transport with tokens.
pub trait Service: TokenRules {
    /// State that a host keeps for all its flows of this transport.
    type Pacer: Debug + Default;

    /// Time after which tokens for missing packets are reissued, if all `free` tokens were initial.
    fn reissue_of_free(&self, free: u32) -> f64;

    /// Time after the last token at which tokens for missing packets are reissued.
    fn reissue(&self) -> f64;

    /// Called when the service of a message begins, of which `free` packets had initial tokens.
    fn begin(&self, _pacer: &mut Self::Pacer, _free: u32) {}

    /// Called when the served message of a flow has changed.
    fn wait(receiver: &Receiver<Self>, ctx: &mut NodeCtx<impl Effects>, pacer: &mut Self::Pacer);

    /// Handles a packet for a sender on `host`, before the sender does.
    fn on_answer(_ctx: &mut NodeCtx<impl Effects>, _pacer: &mut Self::Pacer, _host: HostIx, _p: &Packet) {}

    /// Handles a packet of a sender beside requests and data.
    fn on_control(_receiver: &Receiver<Self>, _ctx: &mut NodeCtx<impl Effects>, _pacer: &mut Self::Pacer, _p: &Packet) {
    }

    /// Called when a pacer of the host is due, perhaps another one.
    fn on_pacer(
        ctx: &mut NodeCtx<impl Effects>,
        pacer: &mut Self::Pacer,
        host: HostIx,
        receivers: &mut impl Receivers<Receiver<Self>>,
    );
}

/// Receiver of a transport with tokens.
#[derive(Clone, Debug)]
pub struct Receiver<R> {
    /// Common state of receivers.
    pub base: ReceiverBase,
    /// First incomplete message among the announced ones.
    served: Option<Served>,
    /// Later messages by their first packets: the packet after the last, and the time of the announcement.
    waiting: BTreeMap<u32, (u32, Time)>,
    rules: PhantomData<R>,
}

impl<R: Service> PacketReceiver for Receiver<R> {
    type Pacer = R::Pacer;

    has_base!(ReceiverBase);

    fn new(net: &FabricMap, flow: FlowId, host: HostIx) -> Receiver<R> {
        let base = ReceiverBase::new(net, flow, host);
        Receiver { base, served: None, waiting: BTreeMap::new(), rules: PhantomData }
    }

    fn on_answer(ctx: &mut NodeCtx<impl Effects>, pacer: &mut R::Pacer, host: HostIx, p: &Packet) {
        R::on_answer(ctx, pacer, host, p);
    }

    fn on_packet(&mut self, ctx: &mut NodeCtx<impl Effects>, pacers: &mut HostPacers<R::Pacer>, p: &Packet) {
        if p.is(Kind::Rts) {
            self.on_request(ctx, pacers.own, p);
        } else if !p.is(Kind::Numbered) {
            R::on_control(self, ctx, pacers.own, p);
        } else if p.is_trimmed() {
            self.base.ip.count_trimmed(ctx, p);
        } else if self.base.ip.is_whole(ctx, p) {
            self.on_data(ctx, pacers.own, p);
        }
    }

    fn on_pacer(
        ctx: &mut NodeCtx<impl Effects>,
        pacer: &mut R::Pacer,
        host: HostIx,
        receivers: &mut impl Receivers<Receiver<R>>,
    ) {
        R::on_pacer(ctx, pacer, host, receivers);
    }
}

impl<R: Service> Receiver<R> {
    /// First incomplete message among the announced ones.
    pub fn served(&self) -> Option<&Served> {
        self.served.as_ref()
    }

    /// Handles the announcement of a message: a new one, a repeated one, or one with an earlier end.
    fn on_request(&mut self, ctx: &mut NodeCtx<impl Effects>, pacer: &mut R::Pacer, p: &Packet) {
        let range = MessageRange::read(p);
        let t = ctx.net.transport(self.base.transport);
        let (first, end) = (range.first, range.end(0, t.sizes.mss));
        match &mut self.served {
            Some(served) if served.first == first => {
                if end < served.end {
                    let one = PacketTime::of(ctx, t, self.base.ip.host);
                    served.shorten(R::of(t).reissue(), end, &self.base.received, one);
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
        let has_acked = self.go_on(ctx, pacer, None);
        if !has_acked && (p.has(flag::RETX) || end <= self.base.received.next()) {
            self.acknowledge(ctx, end, None);
        }
        R::wait(self, ctx, pacer);
    }

    fn on_data(&mut self, ctx: &mut NodeCtx<impl Effects>, pacer: &mut R::Pacer, p: &Packet) {
        let t = ctx.net.transport(self.base.transport);
        let number = p.seq() as u32;
        let is_new = self.base.take(ctx, t, p);
        let Some(served) = self.served.as_mut().filter(|served| served.has(number)) else { return };
        served.use_token(UsedToken::read(p).0);
        if is_new {
            served.count_arrival();
            self.go_on(ctx, pacer, (!p.has(flag::RETX)).then(|| p.sent_at()));
        }
        R::wait(self, ctx, pacer);
    }

    /// Acknowledges a complete message and serves the next. Returns whether one was complete.
    fn go_on(&mut self, ctx: &mut NodeCtx<impl Effects>, pacer: &mut R::Pacer, sent_at: Option<Time>) -> bool {
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
                    self.served = Some(self.begin(ctx, pacer, (first, end), since));
                }
            }
        }
    }

    fn begin(&self, ctx: &NodeCtx<impl Effects>, pacer: &mut R::Pacer, packets: (u32, u32), since: Time) -> Served {
        let t = ctx.net.transport(self.base.transport);
        let (own, one) = (R::of(t), PacketTime::of(ctx, t, self.base.ip.host));
        let free = own.free_of(packets.1 - packets.0);
        own.begin(pacer, free);
        let reissue = own.reissue_of_free(free);
        Served::new((free, reissue), packets, (since, ctx.now), &self.base.received, one)
    }

    /// Acknowledges messages up to the one that ends at packet `end`.
    fn acknowledge(&mut self, ctx: &mut NodeCtx<impl Effects>, end: u32, sent_at: Option<Time>) {
        let message = ToSender::Ack { end, sent_at };
        self.base.send(ctx, Class::Control, message.encode(), 0);
    }

    /// Gives a token to the served message, with a priority and a time of expiry. Returns whether one was left to give.
    pub fn give_token(&mut self, ctx: &mut NodeCtx<impl Effects>, limits: &Limits, priority: u8, until: Time) -> bool {
        let (t, host) = (ctx.net.transport(self.base.transport), self.base.ip.host);
        let one = PacketTime::of(ctx, t, host);
        let Some(served) = &mut self.served else { return false };
        let Some((number, token)) = served.give(limits, ctx.now, &self.base.received, one) else { return false };
        let missing_priority = (served.left, priority as u32);
        self.send_control(ctx, ToSender::Token { number, token, missing_priority, until }.encode());
        true
    }

    /// Sends a message of class [`CONTROL`].
    pub fn send_control(&mut self, ctx: &mut NodeCtx<impl Effects>, message: Encoded) {
        let mut packet = self.base.packet(ctx, message, 0);
        packet.set_class(CONTROL);
        ctx.emit(self.base.ip.host, Class::Control, &packet);
    }
}
