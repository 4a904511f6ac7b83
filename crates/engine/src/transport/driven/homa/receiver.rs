//! Receiving endpoint: received and missing parts of messages, and requests to resend.

use super::parameters;
use crate::event::order::Timer;
use crate::event::packet::{Answer, Kind, Packet, flag};
use crate::host::driven::Class;
use crate::host::scheduled::{Message, Rank};
use crate::ids::{FlowId, HostIx};
use crate::map::fabric::FabricMap;
use crate::node::context::{Effects, NodeCtx};
use crate::transport::driven::back::Receiving;
use crate::transport::driven::plan::Plan;
use crate::transport::ip::IpSink;
use incast_cc::Time;
use std::collections::BTreeMap;

/// Homa receiver.
#[derive(Clone, Debug)]
pub struct Receiver {
    /// Common state of receivers.
    pub base: Receiving,
    src: u32,
    /// Latest message; its received bytes, its granted bytes, and the packet after the granted ones.
    plan: Plan,
    came: u64,
    granted: u64,
    edge: u32,
    /// Start of the latest message.
    since: Option<Time>,
    /// Ends (packet after the last) of incomplete messages, and the time at which each last received something.
    ends: BTreeMap<u32, Time>,
    /// Time of the event that checks for missing packets.
    at: Time,
}

impl Receiver {
    /// Receiver of flow `flow` on domain-local host `host`.
    pub fn new(net: &FabricMap, flow: FlowId, host: HostIx) -> Receiver {
        Receiver {
            base: Receiving::new(net, flow, IpSink::new(net, flow, host)),
            src: net.flow(flow).src,
            plan: Plan::default(),
            came: 0,
            granted: 0,
            edge: 0,
            since: None,
            ends: BTreeMap::new(),
            at: Time::NEVER,
        }
    }

    /// Handles a packet.
    pub fn on_packet(&mut self, ctx: &mut NodeCtx<impl Effects>, p: &Packet) {
        if p.is(Kind::Probe) {
            self.hear(ctx, Plan::read(p.ack));
            self.on_probe(ctx, p.seq() as u32);
        } else if p.is_trimmed() {
            self.base.ip.count_trimmed(ctx, p);
            self.hear(ctx, Plan::read(p.ack));
        } else if self.base.ip.is_whole(ctx, p) {
            self.hear(ctx, Plan::read(p.ack));
            self.on_data(ctx, p);
        }
        self.wait_for_grants(ctx);
        self.arm(ctx);
    }

    /// Updates the messages from the plan that every packet carries.
    fn hear(&mut self, ctx: &NodeCtx<impl Effects>, plan: Plan) {
        let t = ctx.net.transport(self.base.transport);
        let unscheduled = parameters(t).unscheduled;
        let end = plan.end(unscheduled, t.mss);
        let news = self.since.is_none() || plan.first > self.plan.first;
        if news {
            if plan.first > self.base.arrived.next() {
                self.ends.entry(plan.first).or_insert(ctx.now);
            }
            (self.since, self.came) = (Some(ctx.now), 0);
        } else if plan.first < self.plan.first || plan.size >= self.plan.size {
            // ends of unknown messages are unknown; this one may be complete
            let lacks = end > self.base.arrived.next();
            if let Some((_, heard)) = self.ends.range_mut(end..).next().filter(|_| lacks) {
                *heard = ctx.now;
            }
            return;
        } else {
            // the sender has given up the rest
            self.ends.remove(&self.plan.end(unscheduled, t.mss));
        }
        self.plan = plan;
        self.granted = if news { unscheduled.min(plan.size as u64) } else { plan.size as u64 };
        self.edge = plan.edge(self.granted, unscheduled, t.mss);
        if end > self.base.arrived.next() {
            self.ends.insert(end, ctx.now);
        }
    }

    fn on_data(&mut self, ctx: &mut NodeCtx<impl Effects>, p: &Packet) {
        let t = ctx.net.transport(self.base.transport);
        if !self.base.take(ctx, t, p) {
            return;
        }
        if p.seq() as u32 >= self.plan.first {
            self.came += p.len as u64;
        }
        let next = self.base.arrived.next();
        if self.ends.first_key_value().is_some_and(|(end, _)| *end <= next) {
            self.ends = self.ends.split_off(&(next + 1));
            let echo = if p.has(flag::RETX) { 0 } else { p.sent_at().0 };
            self.answer(ctx, Kind::Ack, Answer { echo, ..Answer::default() });
        }
    }

    /// Responds to a sender that asks what has arrived and has sent packets up to `sent`.
    fn on_probe(&mut self, ctx: &mut NodeCtx<impl Effects>, sent: u32) {
        self.answer(ctx, Kind::Ack, Answer::default());
        if self.base.arrived.next() < sent.min(self.edge) {
            self.ask_again(ctx);
        }
    }

    fn answer(&mut self, ctx: &mut NodeCtx<impl Effects>, kind: Kind, answer: Answer) {
        let answer = Answer { next: self.base.arrived.next(), ..answer };
        self.base.answer(ctx, Class::Control, (kind, 0, answer), 0);
    }

    /// Adds the message to its host's waiting messages, or removes it.
    fn wait_for_grants(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        let (size, host) = (self.plan.size as u64, self.base.ip.host);
        let message = (self.granted < size).then(|| {
            let rank = Rank { left: size - self.came, since: self.since.unwrap_or(ctx.now), flow: self.base.flow };
            Message { rank, src: self.src }
        });
        ctx.schedule(host, self.base.flow, message);
    }

    /// Grants at priority `level`, so that as many bytes as are unscheduled are outstanding. Returns whether the whole
    /// message is granted.
    pub fn grant_up(&mut self, ctx: &mut NodeCtx<impl Effects>, level: u8) -> bool {
        let t = ctx.net.transport(self.base.transport);
        let (unscheduled, size) = (parameters(t).unscheduled, self.plan.size as u64);
        let bytes = (self.came + unscheduled.max(t.mss as u64)).min(size);
        let edge = self.plan.edge(bytes, unscheduled, t.mss);
        if edge > self.edge {
            // a grant restarts the timeout of the latest message
            (self.edge, self.granted) = (edge, bytes);
            if let Some(mut latest) = self.ends.last_entry() {
                latest.insert(ctx.now);
            }
            self.answer(ctx, Kind::Pull, Answer { number: edge, map: level as u64, ..Answer::default() });
            self.arm(ctx);
        }
        self.granted >= size
    }

    /// Asks to resend the first missing packets among the granted ones.
    fn ask_again(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        let from = self.base.arrived.next();
        let to = (from..self.edge).find(|number| self.base.arrived.has(*number)).unwrap_or(self.edge);
        self.answer(ctx, Kind::Nack, Answer { number: from, count: to, ..Answer::default() });
    }

    /// Timeout of the first incomplete message, whatever arrives of others.
    fn deadline(&self, ctx: &NodeCtx<impl Effects>) -> Time {
        match self.ends.first_key_value() {
            Some((_, heard)) if self.base.arrived.next() < self.edge => {
                heard.saturating_add(ctx.net.transport(self.base.transport).rto_min)
            }
            _ => Time::NEVER,
        }
    }

    fn arm(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        let deadline = self.deadline(ctx).max(ctx.now);
        if deadline < self.at {
            self.at = deadline;
            ctx.timer(deadline, Timer::DelayedAck(self.base.flow));
        }
    }

    /// Handles the flow's timer.
    pub fn on_timer(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        if self.at != ctx.now {
            return;
        }
        self.at = Time::NEVER;
        if self.deadline(ctx) <= ctx.now {
            if let Some(mut first) = self.ends.first_entry() {
                first.insert(ctx.now);
            }
            self.ask_again(ctx);
        }
        self.arm(ctx);
    }
}
