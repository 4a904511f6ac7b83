//! Sending endpoint: a window of packets, in order, again from the first missing one after a loss.

use super::wire::ToSender;
use crate::event::packet::Packet;
use crate::ids::{FlowId, HostIx};
use crate::map::fabric::FabricMap;
use crate::node::context::{Effects, NodeCtx};
use crate::spec::Roce;
use crate::transport::packet::message::first_missing;
use crate::transport::packet::outstanding::Outstanding;
use crate::transport::packet::sender_base::SenderBase;
use crate::transport::packet::{PacketSender, has_base, parameters};
use incast_cc::Time;

/// RoCE sender.
#[derive(Debug)]
pub struct Sender {
    /// Common state of senders.
    pub base: SenderBase,
    /// Packets sent since the last one that asks for an acknowledgement.
    unasked: u32,
    /// Time of the last progress: an acknowledgement of new packets, a NACK, or a packet sent with none in flight.
    progress: Time,
}

impl PacketSender for Sender {
    has_base!(SenderBase);

    fn new(net: &FabricMap, flow: FlowId, host: HostIx) -> Sender {
        let mut base = SenderBase::new(net, flow, host);
        base.outstanding = Outstanding::unordered();
        Sender { base, unasked: 0, progress: Time::ZERO }
    }

    fn on_backlog(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        while !self.base.waits_for_nic && self.may_send(ctx) && self.base.takes_slot(ctx, None) {
            self.send(ctx);
        }
        if self.base.app.backlog(ctx.now) == 0 && !self.base.app.is_finished() {
            self.base.app.wait(ctx);
        }
        self.arm(ctx);
    }

    fn on_packet(&mut self, ctx: &mut NodeCtx<impl Effects>, p: &Packet) {
        let Some(message) = ToSender::decode(p) else { return };
        if self.base.acknowledge(ctx, first_missing(p)) > 0 {
            self.progress = ctx.now;
        }
        match message {
            ToSender::Ack { sent_at } => sent_at.into_iter().for_each(|at| self.base.sample(ctx, ctx.now - at)),
            ToSender::Nack {} => self.go_back(ctx.now),
        }
        self.on_backlog(ctx);
    }

    fn on_tx_ready(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        if self.may_send(ctx) {
            self.send(ctx);
        }
        self.on_backlog(ctx);
    }

    fn deadline(&mut self, ctx: &NodeCtx<impl Effects>) -> Time {
        match self.in_flight() {
            0 => Time::NEVER,
            _ => self.progress.saturating_add(ctx.net.transport(self.base.transport).rto.rto_min),
        }
    }

    #[cold]
    fn expire(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        self.base.timed_out(ctx);
        self.go_back(ctx.now);
        self.on_backlog(ctx);
    }
}

impl Sender {
    /// Packets sent and not acknowledged, since the sender last went back.
    fn in_flight(&self) -> u32 {
        let outstanding = &self.base.outstanding;
        outstanding.next() - outstanding.base() - outstanding.lost() as u32
    }

    fn may_send(&mut self, ctx: &NodeCtx<impl Effects>) -> bool {
        let window = parameters::<Roce>(ctx.net.transport(self.base.transport)).window;
        self.in_flight() < window && (self.base.outstanding.has_lost() || self.base.app.backlog(ctx.now) > 0)
    }

    /// Sends the next packet. The last one that may go for now asks for an acknowledgement: of what is written, of what
    /// the send buffer takes, or of the window.
    fn send(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        let t = ctx.net.transport(self.base.transport);
        let own = parameters::<Roce>(t);
        if self.in_flight() == 0 {
            self.progress = ctx.now;
        }
        let Some(out) = self.base.take(ctx, u64::MAX) else { return };
        self.unasked += 1;
        let asks = out.last || self.unasked >= own.ack_every || !self.may_send(ctx);
        if asks {
            self.unasked = 0;
        }
        let mut packet = self.base.data(ctx, &out, t.sizes.header + out.len, 0);
        packet.ask_for_ack(asks);
        ctx.send_in_slot(self.base.ip.host, &packet);
    }

    /// Goes back to the first missing packet.
    fn go_back(&mut self, now: Time) {
        let outstanding = &mut self.base.outstanding;
        for number in outstanding.base()..outstanding.next() {
            outstanding.mark_lost(number);
        }
        self.progress = now;
    }
}
