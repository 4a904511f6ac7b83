//! The sending endpoint: messages one after the other, each unasked at first and then as far as it is granted.

use super::parameters;
use crate::event::order::Timer;
use crate::event::packet::{Kind, Packet, flag};
use crate::host::driven::Class;
use crate::ids::{FlowId, HostIx};
use crate::map::fabric::FabricMap;
use crate::node::context::{Effects, NodeCtx};
use crate::transport::driven::front::Sending;
use crate::transport::driven::plan::Plan;
use incast_cc::Time;
use incast_record::FlowRecord;
use std::collections::VecDeque;

/// A sender.
#[derive(Debug)]
pub struct Sender {
    /// What every sender has.
    pub base: Sending,
    /// Messages that have not arrived as far as is known; the last may be under way.
    messages: VecDeque<Plan>,
    /// Bytes of the last that have not been sent, and of these such as go unasked.
    left: u64,
    unasked: u64,
    /// Packets before this number are granted, and the priority that grants give.
    granted: u32,
    level: u8,
    /// It waits for its turn at the host's wire.
    waits: bool,
    /// The receiver has said something of the last message.
    known: bool,
    /// When something was sent or heard last.
    quiet: Time,
}

impl Sender {
    /// The sender of flow `flow` on domain-local host `host`.
    pub fn new(net: &FabricMap, flow: FlowId, host: HostIx) -> Sender {
        let homa = parameters(net.transport(net.flow(flow).transport));
        Sender {
            base: Sending::new(net, flow, host),
            messages: VecDeque::new(),
            left: 0,
            unasked: 0,
            granted: 0,
            level: homa.levels - 1,
            waits: false,
            known: false,
            quiet: Time::ZERO,
        }
    }

    /// The flow opens.
    pub fn open(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        self.base.feed.open(ctx);
        self.pump(ctx);
    }

    /// The application may have written.
    pub fn on_backlog(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        self.pump(ctx);
    }

    /// What has been written since the last message was sent is the next.
    fn begin(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        if self.left > 0 || self.base.feed.is_finished() {
            return;
        }
        let size = self.base.feed.backlog(ctx.now).min(u32::MAX as u64);
        if size == 0 {
            return self.base.feed.wait(ctx);
        }
        let unscheduled = parameters(ctx.net.transport(self.base.transport)).unscheduled;
        self.messages.push_back(Plan { first: self.base.sent.next(), size: size as u32 });
        (self.left, self.unasked, self.known) = (size, unscheduled.min(size), false);
    }

    /// A packet may go: one again, or a new one.
    fn may_send(&self) -> bool {
        self.base.sent.has_lost() || self.left > 0 && (self.unasked > 0 || self.base.sent.next() < self.granted)
    }

    /// Sends what may go while the wire is free, or waits for its turn there.
    fn pump(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        self.begin(ctx);
        let (host, flow) = (self.base.ip.host, self.base.ip.flow);
        while !self.waits && self.may_send() {
            self.waits = !ctx.asks_for_wire_by(host, flow, self.left);
            if !self.waits {
                self.send(ctx);
                self.begin(ctx);
            }
        }
        self.arm(ctx);
    }

    /// It is its turn at the wire.
    pub fn on_turn(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        self.waits = false;
        if self.may_send() {
            self.send(ctx);
        }
        self.pump(ctx);
    }

    /// Sends the first packet that is to be sent again, or a new one.
    fn send(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        let t = ctx.net.transport(self.base.transport);
        let homa = parameters(t);
        let (number, len, flags, last) = match self.base.sent.resend(ctx.now) {
            Some((number, sent)) => (number, sent.len as u32, flag::RETX, sent.last),
            None => {
                let most = if self.unasked > 0 { self.unasked } else { self.left };
                let Some((len, last)) = self.base.feed.take_at_most(ctx, most) else { return self.give_up() };
                self.left -= len as u64;
                self.unasked = self.unasked.saturating_sub(len as u64);
                (self.base.sent.push(ctx.now, len, last), len, 0, last)
            }
        };
        let Some(plan) = self.message_of(number) else { return };
        let granted = number >= plan.edge(0, homa.unscheduled, t.mss);
        let level = if granted { self.level } else { homa.level_of(plan.size as u64) };
        let flags = flags | if last { flag::PSH } else { 0 };
        let mut packet = self.base.data(ctx, number, len, flags, t.header + len, 0);
        packet.ack = plan.told();
        if level <= Packet::MOST_CLASS {
            packet.set_class(level);
        }
        self.quiet = ctx.now;
        ctx.launch(self.base.ip.host, &packet);
    }

    /// The application has reset the connection: the message ends with what has been sent.
    fn give_up(&mut self) {
        if let Some(plan) = self.messages.back_mut() {
            plan.size -= self.left as u32;
        }
        (self.left, self.unasked) = (0, 0);
    }

    fn message_of(&self, number: u32) -> Option<Plan> {
        self.messages.iter().rev().find(|plan| plan.first <= number).copied()
    }

    /// A grant, an acknowledgement, or a request to send again arrived.
    pub fn on_packet(&mut self, ctx: &mut NodeCtx<impl Effects>, p: &Packet) {
        let answer = p.answered();
        self.quiet = ctx.now;
        self.base.acknowledge(ctx, answer.next);
        while self.messages.get(1).is_some_and(|plan| plan.first <= answer.next) {
            self.messages.pop_front();
        }
        let begun = self.messages.back().map_or(0, |plan| plan.first);
        match p.kind() {
            Kind::Ack if answer.echo > 0 => self.base.sample(ctx, ctx.now - Time(answer.echo)),
            Kind::Pull => {
                self.granted = self.granted.max(answer.number);
                self.level = answer.map as u8;
                self.known |= answer.number > begun;
            }
            Kind::Nack => {
                self.granted = self.granted.max(answer.count);
                self.known |= answer.count > begun;
                let sent = answer.count.min(self.base.sent.next());
                let again = (answer.number..sent).filter(|number| self.base.sent.lose(*number)).count();
                if again == 0 && !self.base.feed.is_finished() {
                    // shorter messages go first, or what is asked for is about to go
                    self.probe_receiver(ctx);
                }
            }
            _ => {}
        }
        if !self.base.feed.is_finished() {
            self.pump(ctx);
        }
    }

    /// Says how far it has sent, up to what waits to go again, and asks what has come.
    fn probe_receiver(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        let Some(plan) = self.messages.back().copied() else { return };
        let t = ctx.net.transport(self.base.transport);
        let number = self.base.sent.first_lost_number().unwrap_or(self.base.sent.next());
        let mut packet = self.base.control(ctx, Kind::Probe, number, t.ack_size, 0);
        packet.ack = plan.told();
        packet.set_class(0);
        ctx.emit(self.base.ip.host, Class::Control, &packet);
    }

    /// One of its timers fired.
    pub fn on_timer(&mut self, ctx: &mut NodeCtx<impl Effects>, timer: Timer) {
        match timer {
            Timer::Retransmit(_) if self.base.rings(ctx.now) => {
                if self.deadline(ctx) <= ctx.now {
                    self.base.timed_out(ctx);
                    self.quiet = ctx.now;
                    self.probe_receiver(ctx);
                }
                self.arm(ctx);
            }
            Timer::App(_) if self.base.feed.wakes(ctx.now) => self.pump(ctx),
            Timer::Stop(_) => self.base.feed.stop(ctx),
            _ => {}
        }
    }

    /// When it has heard nothing for long: whether the receiver knows of the message, or has all of it. In between
    /// it is the receiver that asks for what is missing.
    fn deadline(&self, ctx: &NodeCtx<impl Effects>) -> Time {
        let asks = !self.base.sent.is_empty() && (!self.known || self.left == 0) && !self.may_send();
        match asks {
            true => self.quiet.saturating_add(ctx.net.transport(self.base.transport).rto_initial),
            false => Time::NEVER,
        }
    }

    fn arm(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        let deadline = self.deadline(ctx);
        self.base.arm(ctx, deadline);
    }

    /// Adds what it knows to the flow's record.
    pub fn record(&self, record: &mut FlowRecord) {
        self.base.record(record);
    }

    /// Shows the state that time series are made of.
    pub fn observe(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        self.base.observe(visit);
        visit("pulls", self.granted as f64);
    }
}
