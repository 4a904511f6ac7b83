//! Sending endpoint: one message after the other, unscheduled bytes first, then up to the grant.

use super::wire::ToSender;
use crate::event::packet::{Kind, Packet};
use crate::host::nic_queue::Class;
use crate::ids::{FlowId, HostIx};
use crate::map::fabric::FabricMap;
use crate::node::context::{Effects, NodeCtx};
use crate::spec::Homa;
use crate::transport::packet::message::first_missing;
use crate::transport::packet::segmentation::MessageRange;
use crate::transport::packet::sender_base::SenderBase;
use crate::transport::packet::{PacketSender, has_base, parameters};
use incast_cc::Time;
use std::collections::VecDeque;

/// Homa sender.
#[derive(Debug)]
pub struct Sender {
    /// Common state of senders.
    pub base: SenderBase,
    /// Messages not known to have arrived; the last may be under way.
    messages: VecDeque<MessageRange>,
    /// Unsent bytes of the last message, and unscheduled ones among them.
    left: u64,
    unscheduled: u64,
    /// Packet number up to which packets are granted, and their priority.
    granted: u32,
    level: u8,
    /// Set once the receiver has responded to the last message.
    known: bool,
    /// Time of the last packet sent or received.
    last_activity: Time,
}

impl PacketSender for Sender {
    has_base!(SenderBase);

    fn new(net: &FabricMap, flow: FlowId, host: HostIx) -> Sender {
        let homa = parameters::<Homa>(net.transport(net.flow(flow).transport));
        Sender {
            base: SenderBase::new(net, flow, host),
            messages: VecDeque::new(),
            left: 0,
            unscheduled: 0,
            granted: 0,
            level: homa.levels - 1,
            known: false,
            last_activity: Time::ZERO,
        }
    }

    fn on_backlog(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        self.begin(ctx);
        while !self.base.waits_for_nic && self.may_send() && self.base.takes_slot(ctx, Some(self.left)) {
            self.send(ctx);
            self.begin(ctx);
        }
        self.arm(ctx);
    }

    fn on_packet(&mut self, ctx: &mut NodeCtx<impl Effects>, p: &Packet) {
        let Some(message) = ToSender::decode(p) else { return };
        self.last_activity = ctx.now;
        let next = first_missing(p);
        self.base.acknowledge(ctx, next);
        while self.messages.get(1).is_some_and(|range| range.first <= next) {
            self.messages.pop_front();
        }
        let begun = self.messages.back().map_or(0, |range| range.first);
        match message {
            ToSender::Ack { sent_at } => sent_at.into_iter().for_each(|at| self.base.sample(ctx, ctx.now - at)),
            ToSender::Grant { end, level } => {
                self.granted = self.granted.max(end);
                self.level = level;
                self.known |= end > begun;
            }
            ToSender::Resend { from, to } => {
                self.granted = self.granted.max(to);
                self.known |= to > begun;
                let sent = to.min(self.base.outstanding.next());
                let again = (from..sent).filter(|number| self.base.outstanding.mark_lost(*number)).count();
                if again == 0 && !self.base.app.is_finished() {
                    // shorter messages go first, or the requested packets are about to go
                    self.probe_receiver(ctx);
                }
            }
        }
        if !self.base.app.is_finished() {
            self.on_backlog(ctx);
        }
    }

    fn on_tx_ready(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        if self.may_send() {
            self.send(ctx);
        }
        self.on_backlog(ctx);
    }

    /// Timeout of the sender: asks whether the receiver knows the message, or has all of it. In between the receiver
    /// asks for missing packets.
    fn deadline(&mut self, ctx: &NodeCtx<impl Effects>) -> Time {
        let asks = !self.base.outstanding.is_empty() && (!self.known || self.left == 0) && !self.may_send();
        match asks {
            true => self.last_activity.saturating_add(ctx.net.transport(self.base.transport).rto.rto_initial),
            false => Time::NEVER,
        }
    }

    fn expire(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        self.base.timed_out(ctx);
        self.last_activity = ctx.now;
        self.probe_receiver(ctx);
    }

    fn observe(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("pulls", self.granted as f64);
    }
}

impl Sender {
    /// Begins a message with all that has been written since the last one.
    fn begin(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        if self.left > 0 || self.base.app.is_finished() {
            return;
        }
        let size = self.base.app.backlog(ctx.now).min(u32::MAX as u64);
        if size == 0 {
            return self.base.app.wait(ctx);
        }
        let unscheduled = parameters::<Homa>(ctx.net.transport(self.base.transport)).unscheduled;
        self.messages.push_back(MessageRange { first: self.base.outstanding.next(), size: size as u32 });
        (self.left, self.unscheduled, self.known) = (size, unscheduled.min(size), false);
    }

    /// Returns whether a packet may go: a retransmission, or a new one.
    fn may_send(&self) -> bool {
        self.base.outstanding.has_lost()
            || self.left > 0 && (self.unscheduled > 0 || self.base.outstanding.next() < self.granted)
    }

    /// Sends the first packet to be retransmitted, or a new one.
    fn send(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        let t = ctx.net.transport(self.base.transport);
        let homa = parameters::<Homa>(t);
        let max = if self.unscheduled > 0 { self.unscheduled } else { self.left };
        let Some(out) = self.base.take(ctx, max) else { return self.give_up() };
        if !out.again {
            self.left -= out.len as u64;
            self.unscheduled = self.unscheduled.saturating_sub(out.len as u64);
        }
        let Some(range) = self.message_of(out.number) else { return };
        let granted = out.number >= range.granted_end(0, homa.unscheduled, t.sizes.mss);
        let level = if granted { self.level } else { homa.level_of(range.size as u64) };
        let mut packet = self.base.data(ctx, &out, t.sizes.header + out.len, 0);
        range.write(&mut packet);
        if level <= Packet::MAX_CLASS {
            packet.set_class(level);
        }
        self.last_activity = ctx.now;
        ctx.send_in_slot(self.base.ip.host, &packet);
    }

    /// Ends the message with what has been sent, after the application has reset the connection.
    fn give_up(&mut self) {
        if let Some(range) = self.messages.back_mut() {
            range.size -= self.left as u32;
        }
        (self.left, self.unscheduled) = (0, 0);
    }

    fn message_of(&self, number: u32) -> Option<MessageRange> {
        self.messages.iter().rev().find(|range| range.first <= number).copied()
    }

    /// Sends a probe: tells up to where it has sent (at most to the first packet to be retransmitted), and asks what
    /// has arrived.
    fn probe_receiver(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        let Some(range) = self.messages.back().copied() else { return };
        let t = ctx.net.transport(self.base.transport);
        let number = self.base.outstanding.first_lost_number().unwrap_or(self.base.outstanding.next());
        let mut packet = self.base.control(ctx, Kind::Probe, number, t.sizes.ack_size, 0);
        range.write(&mut packet);
        packet.set_class(0);
        ctx.emit(self.base.ip.host, Class::Control, &packet);
    }
}
