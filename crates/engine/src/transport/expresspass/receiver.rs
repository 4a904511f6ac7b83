//! Receiving endpoint: sends credits while the sender asks for them.

use super::CREDITS;
use super::feedback::Control;
use super::wire::{Credit, Request, ToSender};
use crate::event::order::Timer;
use crate::event::packet::{Kind, Packet, flag};
use crate::hash;
use crate::ids::{FlowId, HostIx};
use crate::map::fabric::FabricMap;
use crate::node::context::{Effects, NodeCtx};
use crate::spec::{ExpressPass, TransportSpec};
use crate::transport::packet::receiver_base::ReceiverBase;
use crate::transport::packet::{HostPacers, PacketReceiver, has_base, parameters};
use incast_cc::Time;

/// ExpressPass receiver.
#[derive(Clone, Debug)]
pub struct Receiver {
    /// Common state of receivers.
    pub base: ReceiverBase,
    control: Control,
    /// Session of the latest request.
    session: u32,
    /// Credits sent, and the first one that no data has accounted for.
    credits: u32,
    unknown: u32,
    /// Time of the next credit; [`Time::NEVER`] until a request.
    at: Time,
    /// Time of the next NACK while a packet is missing.
    missing: Time,
}

impl PacketReceiver for Receiver {
    type Pacer = ();

    has_base!(ReceiverBase);

    fn new(net: &FabricMap, flow: FlowId, host: HostIx) -> Receiver {
        Receiver {
            base: ReceiverBase::new(net, flow, host),
            control: Control::new(),
            session: 0,
            credits: 0,
            unknown: 0,
            at: Time::NEVER,
            missing: Time::NEVER,
        }
    }

    fn on_packet(&mut self, ctx: &mut NodeCtx<impl Effects>, _: &mut HostPacers<()>, p: &Packet) {
        if p.is(Kind::Rts) {
            self.on_request(ctx, p);
        } else if self.base.ip.is_whole(ctx, p) {
            self.on_data(ctx, p);
        }
    }

    fn on_timer(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        if self.missing == ctx.now {
            self.ask_again(ctx);
        }
        if self.at == ctx.now {
            self.send_credit(ctx);
        }
    }
}

impl Receiver {
    /// Handles a request for credit, or a stop.
    fn on_request(&mut self, ctx: &mut NodeCtx<impl Effects>, p: &Packet) {
        let request = Request::read(p);
        if request.session < self.session {
            return;
        }
        let is_new = request.session > self.session;
        self.session = request.session;
        if request.packets > 0 {
            if is_new {
                self.base.note_more();
                let own = parameters::<ExpressPass>(ctx.net.transport(self.base.transport));
                self.control.begin(own, ctx.now, request.packets);
                // credits of earlier requests tell nothing about this one
                self.unknown = self.credits;
                self.send_credit(ctx);
            }
            return;
        }
        self.at = Time::NEVER;
        if self.base.received.next() < p.seq() as u32 {
            self.ask_again(ctx);
        } else if p.has(flag::RETX) {
            self.send(ctx, ToSender::Ack { sent_at: None });
        }
    }

    fn on_data(&mut self, ctx: &mut NodeCtx<impl Effects>, p: &Packet) {
        let t = ctx.net.transport(self.base.transport);
        let credit = Credit::read(p);
        let lost = credit.number.wrapping_sub(self.unknown);
        if lost as i32 >= 0 {
            self.control.arrived(ctx.now - credit.sent_at, lost);
            self.unknown = credit.number.wrapping_add(1);
        }
        let next = self.base.received.next();
        let is_new = self.base.take(ctx, t, p);
        if p.seq() > next as u64 {
            if self.missing == Time::NEVER {
                self.ask_again(ctx);
            }
        } else if p.seq() == next as u64 {
            self.missing = Time::NEVER;
        }
        if is_new && self.base.is_complete() {
            let sent_at = (!p.has(flag::RETX)).then(|| p.sent_at());
            self.send(ctx, ToSender::Ack { sent_at });
        }
    }

    /// Sends a NACK with the number of the first missing packet.
    fn ask_again(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        self.send(ctx, ToSender::Nack {});
        self.missing = ctx.now.saturating_add(ctx.net.transport(self.base.transport).rto.rto_min);
        ctx.timer(self.missing, Timer::Receiver(self.base.flow));
    }

    fn send(&mut self, ctx: &mut NodeCtx<impl Effects>, message: ToSender) {
        let packet = self.base.packet(ctx, message.encode(), 0);
        ctx.send(self.base.ip.host, &packet, None);
    }

    /// Time between credits at the maximum rate: that of a credit and of its data packet.
    fn gap(&self, ctx: &NodeCtx<impl Effects>, t: &TransportSpec) -> Time {
        let port = &ctx.ports[ctx.hosts[self.base.ip.host].port];
        port.serialization(parameters::<ExpressPass>(t).mean_credit() as u64)
            + port.serialization((t.sizes.mss + t.sizes.header) as u64)
    }

    /// Sends a credit and sets the time of the next.
    fn send_credit(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        let t = ctx.net.transport(self.base.transport);
        let own = parameters::<ExpressPass>(t);
        let gap = self.gap(ctx, t);
        self.control.change(own, ctx.now, gap);
        let number = self.credits;
        self.credits = self.credits.wrapping_add(1);
        let message = ToSender::Credit { session: self.session, number, sent_at: ctx.now };
        let mut packet = self.base.packet(ctx, message.encode(), 0);
        let draw = |i: u64| {
            hash::uniform(ctx.net.spec.seed, hash::purpose::CREDIT, self.base.flow.0 as u64, 2 * number as u64 + i)
        };
        let sizes = own.credit_max - own.credit_min + 1;
        packet.size = (own.credit_min + (draw(0) * sizes as f64) as u32) as u16;
        packet.set_class(CREDITS);
        let off = 1.0 + own.jitter * (2.0 * draw(1) - 1.0);
        self.at = ctx.now.saturating_add(Time((gap.0 as f64 / self.control.rate() * off) as u64).max(Time::ps(1)));
        ctx.send(self.base.ip.host, &packet, None);
        ctx.timer(self.at, Timer::Receiver(self.base.flow));
    }
}
